// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "io/recorded.h"
#include "io/replay/replay.h"
#include "render/view.h"
#include "tribo/render.h"

#include <stdlib.h>
#include <string.h>

enum { W = 160, H = 96 };

typedef struct {
  Recorded run;
  char* bytes;
  size_t length;
  tbReplay* replay;
} Shot;

static void shot_begin(Shot* s)
{
  *s = (Shot){.run = recorded_begin()};
  const char* path = recorded_path(&s->run, "run.trp");
  CHECK_OK(&s->run.ctx, recorded_run(&s->run, "replay", path, 30, 60, NULL, NULL));
  s->bytes = recorded_read(recorded_path(&s->run, "run.trp"), &s->length);
  CHECK_OK(&s->run.ctx, tb_replay_open_bytes(&s->run.ctx, "run.trp", s->bytes, s->length, &s->replay));
}

static void shot_end(Shot* s)
{
  tb_replay_close(&s->run.ctx, s->replay);
  free(s->bytes);
  recorded_end(&s->run);
}

static tbRenderOptions small(void)
{
  tbRenderOptions o = tb_default_render_options();
  o.width = W, o.height = H, o.samples = 2;
  return o;
}

static tbStatus draw(tbContext* ctx, tbReplay* replay, tbRenderOptions o, int64_t frame, unsigned char* rgb)
{
  tbRenderer* r;
  TB_TRY(tb_renderer_create(ctx, replay, o, &r));
  tbStatus status = tb_renderer_draw(ctx, r, frame, rgb);
  tb_renderer_free(ctx, r);
  return status;
}

// Pixels that are not as in another picture.
static int differences(const unsigned char* a, const unsigned char* b)
{
  int count = 0;
  for (int i = 0; i < W * H; i++) count += memcmp(a + 3 * i, b + 3 * i, 3) != 0;
  return count;
}

LONG_TEST(pictures_show_what_the_options_say)
{
  Shot s;
  shot_begin(&s);
  tbContext* ctx = &s.run.ctx;
  unsigned char *a = calloc(3, W * H), *b = calloc(3, W * H);
  tbRenderOptions plain = small(), o;
  plain.contacts = plain.overlay = false;
  CHECK_OK(ctx, draw(ctx, s.replay, plain, 5, a));
  int distinct = 0;
  for (int i = 1; i < W * H; i++) distinct += memcmp(a + 3 * i, a + 3 * i - 3, 3) != 0;
  CHECK(distinct > 500);
  o = plain, o.contacts = true;
  CHECK_OK(ctx, draw(ctx, s.replay, o, 10, b));
  CHECK_OK(ctx, draw(ctx, s.replay, plain, 10, a));
  CHECK(differences(a, b) > 2 && differences(a, b) < W * H / 4);
  o = plain, o.overlay = true;
  CHECK_OK(ctx, draw(ctx, s.replay, o, 10, b));
  CHECK(differences(a, b) > 100 && differences(a, b) < W * H / 2);
  o = plain, o.dark = true;
  CHECK_OK(ctx, draw(ctx, s.replay, o, 10, b));
  long light_sum = 0, dark_sum = 0;
  for (int i = 0; i < 3 * W * H; i++) light_sum += a[i], dark_sum += b[i];
  CHECK(2 * dark_sum < light_sum);
  o = plain, o.camera = TB_CAMERA_FIXED, o.eye = tb_vec3(0, 0, 500), o.target = tb_vec3(0, 0, 501);
  CHECK_OK(ctx, draw(ctx, s.replay, o, 10, b)); // straight up, at nothing
  for (int i = 3; i < 3 * W * H; i++)
    if (b[i] != b[i % 3]) {
      CHECK(!"the sky is plain");
      break;
    }
  free(a), free(b);
  shot_end(&s);
}

// A ball behind a wall that is cut away, under a roof that is not: one fixed mesh, the wall's triangles first
// or last.
static void draw_behind_a_wall(bool wall_first, unsigned char* rgb)
{
  static const char mesh[] =
      "v -3 -3 0\nv 3 -3 0\nv 3 -3 4\nv -3 -3 4\nv -3 0 3\nv 3 0 3\nv 3 6 3\nv -3 6 3\n";
  static const char wall[] = "f 1 2 3\nf 1 3 4\n", roof[] = "f 5 6 7\nf 5 7 8\n";
  static const char scene[] =
      "{\"tribo\": 1, \"dt\": 0.01, \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}},"
      " {\"fixed\": true, \"shape\": {\"type\": \"mesh\", \"file\": \"room.obj\"}},"
      " {\"position\": [0, 0, 0.5], \"shape\": {\"type\": \"sphere\", \"radius\": 0.5}}]}";
  Shot s = {.run = recorded_begin_with("{\"tribo\": 1, \"bodies\": []}")};
  FILE* file = fopen(recorded_path(&s.run, "room.obj"), "w");
  fprintf(file, "%s%s%s", mesh, wall_first ? wall : roof, wall_first ? roof : wall);
  fclose(file);
  tbContext* ctx = &s.run.ctx;
  tb_scene_free(ctx, &s.run.scene);
  CHECK_OK(ctx, tb_scene_parse(ctx, "room", scene, sizeof scene - 1, s.run.folder, &s.run.scene));
  CHECK_OK(ctx, recorded_run(&s.run, "replay", recorded_path(&s.run, "run.trp"), 2, 0, NULL, NULL));
  s.bytes = recorded_read(recorded_path(&s.run, "run.trp"), &s.length);
  CHECK_OK(ctx, tb_replay_open_bytes(ctx, "run.trp", s.bytes, s.length, &s.replay));
  tbRenderOptions o = small();
  o.camera = TB_CAMERA_FIXED, o.eye = tb_vec3(0, -7, 2), o.target = tb_vec3(0, 0, 0.5), o.overlay = false;
  CHECK_OK(ctx, draw(ctx, s.replay, o, 1, rgb));
  shot_end(&s);
}

TEST(pictures_do_not_depend_on_the_order_of_a_meshs_triangles)
{
  unsigned char first[3 * W * H], last[3 * W * H];
  draw_behind_a_wall(true, first), draw_behind_a_wall(false, last);
  CHECK(differences(first, last) == 0);
}

// The same replay with its joints under another key, which a reader skips, has another picture.
TEST(pictures_show_joints)
{
  Shot s;
  shot_begin(&s);
  tbRenderOptions o = small();
  unsigned char with[3 * W * H], without[3 * W * H];
  o.camera = TB_CAMERA_FIXED, o.eye = tb_vec3(8, -3, 3), o.target = tb_vec3(8, 0, 3), o.overlay = false;
  CHECK_OK(&s.run.ctx, draw(&s.run.ctx, s.replay, o, 3, with));
  tb_replay_close(&s.run.ctx, s.replay);
  s.replay = NULL;
  size_t at = 0;
  while (at + 8 < s.length && memcmp(s.bytes + at, "\"joints\"", 8) != 0) at++;
  REQUIRE(at + 8 < s.length);
  memcpy(s.bytes + at, "\"jointz\"", 8);
  CHECK_OK(&s.run.ctx, tb_replay_open_bytes(&s.run.ctx, "run.trp", s.bytes, s.length, &s.replay));
  CHECK_OK(&s.run.ctx, draw(&s.run.ctx, s.replay, o, 3, without));
  int changed = differences(with, without);
  CHECK(changed > 20 && changed < W * H / 8);
  shot_end(&s);
}

// Few samples, as in videos, take fewer lights and share the sky's among pixels: the picture stays the same
// but for noise at edges of shadows.
LONG_TEST(few_samples_are_lit_almost_like_many)
{
  Shot s;
  shot_begin(&s);
  tbContext* ctx = &s.run.ctx;
  unsigned char *a = calloc(3, W * H), *b = calloc(3, W * H);
  tbRenderOptions few = small(), many = small();
  few.contacts = many.contacts = few.overlay = many.overlay = false, many.samples = 3;
  for (int dark = 0; dark < 2; dark++) {
    few.dark = many.dark = dark;
    CHECK_OK(ctx, draw(ctx, s.replay, few, 10, a));
    CHECK_OK(ctx, draw(ctx, s.replay, many, 10, b));
    long sum = 0, apart = 0, far = 0;
    for (int i = 0; i < 3 * W * H; i++) {
      int d = a[i] - b[i];
      sum += d, apart += abs(d), far += abs(d) > 24;
    }
    CHECK(labs(sum) < 3 * W * H / 4); // as bright
    CHECK(apart < 2L * 3 * W * H);    // two levels of 255 apart on average
    CHECK(far < 3 * W * H / 50);      // far apart at edges only
  }
  free(a), free(b);
  shot_end(&s);
}

LONG_TEST(pictures_have_the_same_bytes_for_any_number_of_threads)
{
  Shot s;
  shot_begin(&s);
  tbContext* ctx = &s.run.ctx;
  unsigned char *a = calloc(3, W * H), *b = calloc(3, W * H);
  CHECK_OK(ctx, draw(ctx, s.replay, small(), 7, a));
  for (int threads = 2; threads <= 5; threads += 3) {
    CHECK_OK(ctx, tb_threads_create(ctx, threads, &ctx->threads));
    CHECK_OK(ctx, draw(ctx, s.replay, small(), 7, b));
    tb_threads_destroy(ctx, ctx->threads);
    ctx->threads = NULL;
    CHECK(memcmp(a, b, 3 * W * H) == 0);
  }
  // and whatever was drawn before
  tbRenderer* r;
  tbRenderOptions all = small();
  CHECK_OK(ctx, tb_renderer_create(ctx, s.replay, all, &r));
  CHECK_OK(ctx, tb_renderer_draw(ctx, r, 2, b));
  CHECK_OK(ctx, tb_renderer_draw(ctx, r, 7, b));
  tb_renderer_free(ctx, r);
  CHECK(memcmp(a, b, 3 * W * H) == 0);
  free(a), free(b);
  shot_end(&s);
}

TEST(renderer_refuses_what_it_cannot_draw)
{
  Shot s;
  shot_begin(&s);
  tbContext* ctx = &s.run.ctx;
  tbRenderOptions bad[8];
  for (int i = 0; i < 8; i++) bad[i] = small();
  bad[0].width = 15, bad[1].height = TB_RENDER_SIZE + 1, bad[2].samples = 0, bad[3].samples = 5;
  bad[4].camera = TB_CAMERA_FIXED, bad[5].first = 1000, bad[6].first = 5, bad[6].last = 4;
  bad[7].camera = TB_CAMERA_FIXED, bad[7].eye.x = NAN, bad[7].target.x = 1;
  tbRenderer* r = NULL;
  for (int i = 0; i < 8; i++) {
    CHECK(tb_renderer_create(ctx, s.replay, bad[i], &r) == TB_ERROR_ARGUMENT);
    CHECK(r == NULL);
  }
  unsigned char* rgb = calloc(3, W * H);
  CHECK(draw(ctx, s.replay, small(), -1, rgb) == TB_ERROR_ARGUMENT);
  CHECK(draw(ctx, s.replay, small(), 1000, rgb) == TB_ERROR_ARGUMENT);
  free(rgb);
  shot_end(&s);
}

TEST(renderer_survives_every_failed_allocation)
{
  Shot s;
  shot_begin(&s);
  unsigned char* rgb = calloc(3, W * H);
  tbRenderOptions o = small();
  o.width = o.height = 16, o.samples = 1;
  for (long k = 0;; k++) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbReplay* replay;
    tbStatus status = tb_replay_open_bytes(&ctx, "run.trp", s.bytes, s.length, &replay);
    if (status == TB_OK) {
      status = draw(&ctx, replay, o, 3, rgb);
      tb_replay_close(&ctx, replay);
    }
    CHECK(state.alive == 0);
    if (status == TB_OK) break;
    CHECK(status == TB_ERROR_MEMORY);
    REQUIRE(k < 2000);
  }
  free(rgb);
  shot_end(&s);
}

TEST(renderer_draws_or_refuses_replays_with_any_bytes)
{
  Shot s;
  shot_begin(&s);
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(7);
  unsigned char* rgb = calloc(3, W * H);
  tbRenderOptions o = small();
  o.width = o.height = 16, o.samples = 1;
  int drawn = 0, refused = 0;
  for (int i = 0; i < (test_quick() ? 60 : 150); i++) {
    char* bytes = malloc(s.length);
    memcpy(bytes, s.bytes, s.length);
    // mostly in the header and the geometry, where the renderer believes numbers
    for (int k = 0; k < 4; k++) {
      size_t at = k % 2 ? (size_t)test_below(&random, (int)s.length) : 16 + (size_t)test_below(&random, 4000);
      bytes[at] = (char)(at < 4000 && bytes[at] >= '0' && bytes[at] <= '9' ? '0' + test_below(&random, 10)
                                                                           : test_below(&random, 256));
    }
    tbReplay* replay;
    if (tb_replay_open_bytes(&ctx, "any", bytes, s.length, &replay) == TB_OK) {
      tbStatus status = draw(&ctx, replay, o, tb_replay_frame_count(replay) - 1, rgb);
      if (status == TB_OK) drawn++;
      else refused++;
      tb_replay_close(&ctx, replay);
    }
    free(bytes);
  }
  CHECK(drawn > 0 && refused > 0);
  free(rgb);
  shot_end(&s);
}

// What the fit promises, by projecting where bodies are: all of it in the picture, and not much room around
// it.
TEST(the_view_fits_what_moves)
{
  Shot s;
  shot_begin(&s);
  tbContext* ctx = &s.run.ctx;
  tbSubject subject;
  tbScope scope;
  tbRenderOptions o = small();
  CHECK_OK(ctx, tb_subject_create(ctx, s.replay, &subject));
  CHECK_OK(ctx, tb_scope_create(ctx, &subject, s.replay, 0, 5, &scope));
  for (int turn = 0; turn < 6; turn++) {
    tbView v = tb_view_make(&subject, &scope, &o, turn);
    const tbBall* ball = scope.ball.data;
    double left = W, right = 0, top = H, bottom = 0;
    for (size_t i = 0; i < scope.ball.count; i++) {
      double x, y, depth;
      REQUIRE(tb_view_project(&v, ball[i].centre, &x, &y, &depth));
      double r = ball[i].radius * v.focal * depth;
      left = fmin(left, x - r), right = fmax(right, x + r), top = fmin(top, y - r),
      bottom = fmax(bottom, y + r);
    }
    CHECK(left >= 0 && right <= W && top >= 0 && bottom <= H);
    CHECK(right - left > 0.7 * W || bottom - top > 0.6 * H);
  }
  tb_scope_free(ctx, &scope);
  tb_subject_free(&subject);
  shot_end(&s);
}
