// SPDX-License-Identifier: Apache-2.0
// Pictures, byte for byte as they were when golden.txt was written: of every kind of body, joint, mark and
// camera. `make golden` writes the file anew; the commit that does so says why. With TRIBO_PICTURES=FOLDER
// the test leaves them there as PNG files, to be looked at.
#include "io/recorded.h"
#include "tribo/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = TB_SOURCE_FOLDER "/test/render/golden.txt";
enum { W = 240, H = 136 };

// clang-format off
#define SCENE(gravity, bodies, more) "{\"tribo\": 1, \"gravity\": [0, 0, " gravity "], \"bodies\": [" bodies "]" more "}"
#define AT(x, y, z) "\"position\": [" #x ", " #y ", " #z "]"
#define BOX(x, y, z) "\"shape\": {\"type\": \"box\", \"size\": [" #x ", " #y ", " #z "]}"
#define CUBE(name, x) "{\"name\": \"" name "\", " BOX(0.4, 0.3, 0.5) ", " AT(x, 0, 1) "}"
#define BALL(x, y, z) "{\"shape\": {\"type\": \"sphere\", \"radius\": 0.3}, " AT(x, y, z) ", \"velocity\": [0.5, 0, 0]}"
#define WALL(x, y, sx, sy) "{\"fixed\": true, " BOX(sx, sy, 2) ", " AT(x, y, 1) "}"
#define JOINT(type, a, b, x, z, more) \
  "{\"type\": \"" type "\", \"a\": \"" a "\"" b ", \"anchor\": [" #x ", 0, " #z "]" more "}"

static const char joints[] = SCENE("0",
    CUBE("a", 0) "," CUBE("b", 1) "," CUBE("c", 2) "," CUBE("d", 3) "," CUBE("e", 4),
    ", \"joints\": ["
    JOINT("ball", "a", "", 0, 1.4, "") ","
    JOINT("hinge", "a", ", \"b\": \"b\"", 0.5, 1, ", \"axis\": [0, 0, 1]") ","
    JOINT("slider", "c", "", 2, 1.3, ", \"axis\": [1, 0, 0], \"limits\": [-0.2, 0.4]") ","
    JOINT("slider", "b", "", 1, 0.6, ", \"axis\": [1, 0, 1]") ","
    JOINT("weld", "c", ", \"b\": \"d\"", 2.5, 1, "") ","
    JOINT("distance", "d", ", \"b\": \"e\"", 3, 1.2, ", \"anchor_b\": [4, 0, 1.3]") "]");

static const char walls[] = SCENE("0",
    WALL(0, -2, 4, 0.2) "," WALL(0, 2, 4, 0.2) "," WALL(-2, 0, 0.2, 4) "," WALL(2, 0, 0.2, 4) ","
    BALL(0, 0, 0.4) "," BALL(-1, 0.5, 0.4) "," BALL(0.5, -1, 1), "");

// A tube between the eye and what moves.
static const char screen[] = SCENE("0",
    "{\"fixed\": true, \"shape\": {\"type\": \"cylinder\", \"radius\": 1, \"length\": 4}, " AT(1.3, -2.4, 1) "},"
    BALL(0, 0.2, 0.6) "," BALL(0.7, -0.2, 0.9), "");

static const char slope[] = SCENE("-9.81",
    "{\"fixed\": true, \"shape\": {\"type\": \"plane\", \"normal\": [0.3, 0.1, 1]}},"
    "{" BOX(1, 0.6, 0.4) ", " AT(0, 0, 0.5) ", \"orientation_euler_deg\": [5, -16, 0]},"
    "{\"shape\": {\"type\": \"capsule\", \"radius\": 0.2, \"length\": 0.6}, " AT(1, 0.5, 0.6) "}", "");

static const char soft[] = SCENE("-9.81",
    "{\"fixed\": true, \"shape\": {\"type\": \"plane\"}},"
    "{\"shape\": {\"type\": \"convex\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}, " AT(0.6, 0, 0.5) "}",
    ", \"soft\": [{\"mesh\": {\"box\": {\"size\": 0.6, \"cells\": 2}}, " AT(-0.7, 0, 0.5) "}],"
    " \"cloth\": [{\"mesh\": {\"grid\": {\"size\": 1, \"cells\": 5}}, " AT(0, 1, 1) "}]");

static const char still[] = SCENE("-9.81", WALL(0, 0, 1, 1) "," WALL(2, 1, 1, 0.5), "");

// A floor that reaches behind the eye.
static const char inside[] = SCENE("0",
    "{\"fixed\": true, " BOX(90, 90, 1) ", " AT(0, 0, -0.5) "}," BALL(0, 3, 0.5) "," BALL(1, 5, 1), "");
// clang-format on

static const struct {
  const char *name, *scene;
  int steps;
  bool dark, contacts, overlay;
  tbCameraKind camera;
  tbVec3 eye, target;
  int samples; // 0: two, as videos have them
} pictures[] = {
    {"joints", joints, 0, .contacts = true, .camera = TB_CAMERA_FIXED, .eye = {2, -5.5, 1.6},
     .target = {2, 0, 1}, .samples = 3},
    {"walls", walls, 1, .overlay = true},
    {"walls-orbit", walls, 90, .dark = true, .camera = TB_CAMERA_ORBIT},
    {"screen", screen, 1, .dark = false},
    {"slope", slope, 3, .contacts = true, .overlay = true},
    {"slope-above", slope, 3, .contacts = true, .camera = TB_CAMERA_FIXED, .eye = {0.2, 0.1, 6},
     .target = {0.2, 0.1, 0}},
    {"soft", soft, 0, .dark = true, .overlay = true},
    {"soft-fine", soft, 0, .overlay = true, .samples = 3},
    {"still", still, 1, .dark = false},
    {"inside", inside, 0, .camera = TB_CAMERA_FIXED, .eye = {0, 0, 1}, .target = {0, 3, 0.5}},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static void leave(tbContext* ctx, const char* name, const unsigned char* rgb)
{
  char file[600];
  if (!getenv("TRIBO_PICTURES")) return;
  snprintf(file, sizeof file, "%s/%s.png", getenv("TRIBO_PICTURES"), name);
  CHECK_OK(ctx, tb_png_save(ctx, file, W, H, rgb));
}

// Of the last frame.
static uint64_t hash_of(int k)
{
  Recorded run = recorded_begin_with(pictures[k].scene);
  tbContext* ctx = &run.ctx;
  tbReplay* replay = NULL;
  tbRenderer* renderer = NULL;
  unsigned char* rgb = calloc(3, W * H);
  tbRenderOptions o = tb_default_render_options();
  o.width = W, o.height = H, o.samples = pictures[k].samples ? pictures[k].samples : 2,
  o.dark = pictures[k].dark, o.contacts = pictures[k].contacts;
  o.overlay = pictures[k].overlay, o.camera = pictures[k].camera;
  o.eye = pictures[k].eye, o.target = pictures[k].target;
  CHECK_OK(ctx, recorded_run(&run, "replay", recorded_path(&run, "a.trp"), pictures[k].steps, 0, NULL, NULL));
  CHECK_OK(ctx, tb_replay_open(ctx, recorded_path(&run, "a.trp"), &replay));
  CHECK_OK(ctx, tb_renderer_create(ctx, replay, o, &renderer));
  if (renderer) CHECK_OK(ctx, tb_renderer_draw(ctx, renderer, tb_replay_frame_count(replay) - 1, rgb));
  leave(ctx, pictures[k].name, rgb);
  uint64_t hash = test_hash(rgb, 3 * W * H);
  tb_renderer_free(ctx, renderer);
  tb_replay_close(ctx, replay);
  free(rgb);
  recorded_end(&run);
  return hash;
}

static void write_anew(void)
{
  FILE* file = fopen(path, "w");
  REQUIRE(file);
  fprintf(file, "# picture, hash of its bytes; written by make golden\n");
  for (int k = 0; k < PICTURES; k++) fprintf(file, "%s %016" PRIx64 "\n", pictures[k].name, hash_of(k));
  fclose(file);
}

TEST(pictures_are_those_that_are_written_down)
{
  if (getenv("TRIBO_WRITE_GOLDEN")) write_anew();
  char line[200], name[64];
  uint64_t golden;
  int k = 0;
  FILE* file = fopen(path, "r");
  REQUIRE(file);
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    REQUIRE(k < PICTURES && sscanf(line, "%63s %" SCNx64, name, &golden) == 2);
    CHECK(strcmp(name, pictures[k].name) == 0);
    uint64_t hash = hash_of(k++);
    if (hash != golden)
      test_failed(__FILE__, __LINE__, "%s: %016" PRIx64 " instead of %016" PRIx64, name, hash, golden);
  }
  fclose(file);
  CHECK(k == PICTURES);
}
