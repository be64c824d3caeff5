// SPDX-License-Identifier: Apache-2.0
// tribo render: pictures and films of a replay, or of a scene that is simulated on the way.
#include "cli/named.h"
#include "cli/stream.h"
#include "cli/out.h"
#include "cli/render.h"
#include "tribo/tools/decimal.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: tribo render REPLAY|SCENE [options]";

typedef struct {
  const char *out, *frames, *size, *camera;
  double time, fps, speed;
  int threads, samples;
  bool dark, light, no_contacts, no_overlay, quiet;
} RenderArgs;

static bool refuse(const char* what)
{
  fprintf(stderr, "tribo render: %s\n", what);
  return false;
}

bool two_numbers(const char* text, char separator, long long* a, long long* b)
{
  char* end;
  *a = strtoll(text, &end, 10);
  if (end == text || *end != separator) return false;
  const char* second = end + 1;
  *b = strtoll(second, &end, 10);
  return end != second && *end == 0;
}

static bool read_place(const char** at, tbVec3* out)
{
  double v[3];
  for (int i = 0; i < 3; i++) {
    while (**at == ' ' || **at == ',') ++*at;
    const char* end = tb_read_double(*at, *at + strlen(*at), &v[i]);
    if (!end || end == *at || !isfinite(v[i])) return false;
    *at = end;
  }
  while (**at == ' ') ++*at;
  *out = tb_load3(v);
  return true;
}

// "x y z; x y z", auto or orbit.
static bool read_camera(const char* text, tbRenderOptions* o)
{
  if (strcmp(text, "auto") == 0) return true;
  o->camera = TB_CAMERA_ORBIT;
  if (strcmp(text, "orbit") == 0) return true;
  o->camera = TB_CAMERA_FIXED;
  return read_place(&text, &o->eye) && *text++ == ';' && read_place(&text, &o->target) && *text == 0 &&
         tb_distance3(o->eye, o->target) > 0;
}

static bool read_args(const RenderArgs* a, Shooting* s)
{
  long long x, y;
  tbRenderOptions* o = &s->options;
  bool film = tb_film_path(a->out);
  size_t length = strlen(a->out);
  if (!film && !(length > 4 && strcmp(a->out + length - 4, ".png") == 0))
    return refuse("--out takes a file that ends in .png, .mp4 or .webm");
  if (a->dark && a->light) return refuse("--dark and --light exclude each other");
  if (a->frames && !isnan(a->time)) return refuse("--time and --frames both say what to show; give one");
  if (a->frames && (!two_numbers(a->frames, ':', &x, &y) || x < 0 || y < x))
    return refuse("--frames takes the first and the last frame, as in 0:59");
  if (a->frames) s->first = x, s->last = y;
  if (a->size &&
      (!two_numbers(a->size, 'x', &x, &y) || x < 16 || y < 16 || x > TB_RENDER_SIZE || y > TB_RENDER_SIZE))
    return refuse("--size takes pixels across and down, as in 1280x720, 16 to 8192 each");
  if (a->size) o->width = (int)x, o->height = (int)y;
  if (film && (o->width % 2 || o->height % 2)) return refuse("--size of a video must be even");
  if (!isnan(a->fps) && !(a->fps >= 0.1 && a->fps <= 1000))
    return refuse("--fps takes 0.1 to 1000 frames per second");
  if (!isnan(a->speed) && !(a->speed > 0 && a->speed <= 1e6)) return refuse("--speed must be positive");
  if (a->samples != INT_MIN && (a->samples < 1 || a->samples > TB_RENDER_SAMPLES))
    return refuse("--samples takes 1 to 4");
  if (a->camera && !read_camera(a->camera, o))
    return refuse("--camera takes auto, orbit, or two places: \"3 -4 2; 0 0 0.5\"");
  if (!isnan(a->time) && !(a->time >= 0)) return refuse("--time must not be negative");
  if (!isnan(a->fps)) s->fps = a->fps;
  if (!isnan(a->speed)) s->speed = a->speed;
  o->samples = a->samples != INT_MIN ? a->samples : film ? 2 : 3;
  o->dark = a->dark, o->contacts = !a->no_contacts, o->overlay = !a->no_overlay;
  s->quiet = a->quiet;
  return true;
}

// Sources.

// Simulates until a time and records every step as far as frames show it.
static tbStatus record(tbContext* ctx, tbScene* scene, const char* path, double fps, bool quiet)
{
  tbRecordOptions o = tb_default_record_options();
  tbRecording* recording;
  o.fps = fps;
  TB_TRY(tb_record_begin(ctx, "replay", path, scene, o, &recording));
  int64_t last = steps_until(scene->time, scene->step.dt);
  Progress progress = progress_begin(quiet, last);
  ctx->interrupt = (tbInterrupt){.asked = interrupted};
  tbStatus status = TB_OK;
  for (int64_t i = 0; i < last && status == TB_OK && !interrupted(NULL); i++) {
    tbStepReport report = {0};
    status = tb_world_step(ctx, scene->world, &scene->step, &report);
    if (status == TB_OK) status = tb_record_step(ctx, recording, scene, &report);
    progress_show(&progress, i + 1, tb_world_time(scene->world), report.contacts);
  }
  ctx->interrupt = (tbInterrupt){0};
  progress_clear(&progress);
  return tb_record_end(ctx, recording, scene, status);
}

// A file without a name, which goes with the process however that ends. Returns its descriptor.
static tbStatus open_nameless(tbContext* ctx, int* out)
{
  char name[PATH_MAX];
  const char* temporary = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/tribo-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  *out = mkostemp(name, O_CLOEXEC);
  if (*out < 0)
    return tb_fail(ctx, TB_ERROR_IO, "cannot make a temporary file like %s: %s", name, strerror(errno));
  unlink(name);
  return TB_OK;
}

// The replay of a scene.
static tbStatus open_scene(tbContext* ctx, const char* path, const RenderArgs* a, const Shooting* s,
                           tbReplay** out)
{
  tbScene scene;
  char name[40];
  int file;
  TB_TRY(load_scene(ctx, path, &scene));
  if (!isnan(a->time)) scene.time = a->time;
  tbStatus status = open_nameless(ctx, &file);
  if (status == TB_OK) {
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    status = record(ctx, &scene, name, fmax(60, s->fps / s->speed), a->quiet);
    if (status == TB_OK) status = tb_replay_open(ctx, name, out);
    close(file);
  }
  tb_scene_free(ctx, &scene);
  return status;
}

static int render(tbContext* ctx, const char* path, const RenderArgs* a, Shooting* s)
{
  tbReplay* replay;
  if (!is_named_scene(path) && check_scene_input(ctx, path) != TB_OK) return fail_with(ctx);
  if (tb_film_path(a->out) && tb_film_check(ctx) != TB_OK) return fail_with(ctx);
  interrupt_watch();
  bool recorded = is_replay(path);
  tbStatus status = recorded ? tb_replay_open(ctx, path, &replay) : open_scene(ctx, path, a, s, &replay);
  if (status != TB_OK) return fail_with(ctx);
  int64_t frames = tb_replay_frame_count(replay);
  if (s->last >= frames) {
    fprintf(stderr, "tribo render: --frames %s: there are frames 0 to %lld\n", a->frames,
            (long long)(frames - 1));
    tb_replay_close(ctx, replay);
    return EXIT_USAGE;
  }
  if (!isnan(a->time)) status = tb_replay_find(ctx, replay, a->time + 1e-9, &s->last);
  if (status == TB_OK) status = shoot(ctx, replay, a->out, a->frames && !tb_film_path(a->out), s);
  tb_replay_close(ctx, replay);
  if (status != TB_OK) return fail_with(ctx);
  if (!a->quiet) out_wrote(is_standard(a->out), a->out);
  return interrupted(NULL) ? EXIT_INTERRUPTED : EXIT_DONE;
}

static void print_help(const Arg* args)
{
  printf("%s\n\n"
         "Draws a replay (`tribo run --out`), or simulates a scene and draws that: one picture, or a video "
         "made by\n"
         "the ffmpeg command. It needs no display and no graphics card.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo render out/replay.trp --time 0.5 --out half.png\n"
         "  tribo render arch --out arch.mp4 --dark --camera orbit\n");
}

static int processors(void)
{
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count < 64 ? (int)count : 64;
}

int command_render(int argc, char** argv)
{
  RenderArgs a = {.out = "render.png",
                  .time = NAN,
                  .fps = NAN,
                  .speed = NAN,
                  .threads = processors(),
                  .samples = INT_MIN};
  bool help = false;
  const Arg args[] = {
      {"--out", ARG_TEXT, &a.out, "FILE", "a picture (.png, default render.png) or a video (.mp4, .webm)"},
      {"--time", ARG_NUMBER, &a.time, "S",
       "the picture at that time, or the video until then (default: the end)"},
      {"--frames", ARG_TEXT, &a.frames, "A:B", "from frame A to frame B; pictures are numbered"},
      {"--size", ARG_TEXT, &a.size, "WxH", "pixels (default 1280x720)"},
      {"--fps", ARG_NUMBER, &a.fps, "N", "frames per second of a video (default 30)"},
      {"--speed", ARG_NUMBER, &a.speed, "X", "0.1: ten times slower than life (default 1)"},
      {"--camera", ARG_TEXT, &a.camera, "C",
       "auto (default), orbit, or \"eye; target\", as in \"3 -4 2; 0 0 0.5\""},
      {"--dark", ARG_FLAG, &a.dark, NULL, "on a dark ground"},
      {"--light", ARG_FLAG, &a.light, NULL, "on a light ground (default)"},
      {"--no-contacts", ARG_FLAG, &a.no_contacts, NULL, "without contacts, forces and joints"},
      {"--no-overlay", ARG_FLAG, &a.no_overlay, NULL, "without text and the residual's curve"},
      {"--samples", ARG_INT, &a.samples, "N", "N × N samples in a pixel, 1 to 4 (default 3; videos 2)"},
      {"--threads", ARG_INT, &a.threads, "N",
       "threads (default: all processors); the picture does not depend on it"},
      {"--quiet", ARG_FLAG, &a.quiet, NULL, "no progress bar"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("render", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "%s; `tribo render --help` says more\n", usage);
    return EXIT_USAGE;
  }
  Shooting s = shooting_default();
  if (!read_args(&a, &s)) return EXIT_USAGE;
  tbContext ctx = tb_default_context();
  if (start_threads(&ctx, a.threads) != TB_OK) return fail_with(&ctx);
  int code = render(&ctx, argv[0], &a, &s);
  tb_threads_destroy(&ctx, ctx.threads);
  return code;
}
