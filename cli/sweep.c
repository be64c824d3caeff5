// SPDX-License-Identifier: Apache-2.0
// tribo sweep: a scene over a grid of values, on all processors. Rows are written as they come, so that a
// sweep that was stopped goes on where it was; what is there already is not run again.
#include "cli/sweep.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/named.h"
#include "cli/out.h"
#include "tribo/change.h"
#include "tribo/gallery.h"
#include "tribo/tools/clock.h"
#include "tribo/tools/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: tribo sweep SCENE --vary KEY=FROM:TO:COUNT … --out DIR [options]";

typedef struct {
  Sweep* sweep;
  pthread_mutex_t lock; // of all below, and of points being done
  int next, done, begun_with;
  FILE* rows;
  double begun;
  bool quiet, written; // written: every row so far
  tbError failure;     // the first; status TB_OK: none
} Work;

// One point.

static tbStatus set_friction(tbContext* ctx, tbWorld* world, const char* text)
{
  double mu;
  const char* end = text + strlen(text);
  if (tb_read_double(text, end, &mu) != end)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu takes numbers, not \"%s\"", text);
  tbFriction friction = tb_friction(mu);
  for (int i = 0; i < tb_world_body_count(world); i++)
    TB_TRY(tb_body_set_friction(ctx, world, tb_world_body_at(world, i), &friction));
  return TB_OK;
}

static tbStatus set_value(tbContext* ctx, tbScene* scene, const char* key, const char* text)
{
  const char* end = text + strlen(text);
  if (strcmp(key, "mu") == 0) return set_friction(ctx, scene->world, text);
  if (strcmp(key, "time") == 0) {
    bool good = tb_read_double(text, end, &scene->time) == end && scene->time >= 0;
    return good ? TB_OK : tb_fail(ctx, TB_ERROR_ARGUMENT, "time takes seconds, not \"%s\"", text);
  }
  const char* whole = strcmp(key, "solver") == 0   ? "solver.name"
                      : strcmp(key, "scheme") == 0 ? "scheme.name"
                                                   : key;
  return tb_option_set(ctx, &scene->step, whole, text);
}

// Whether a key is a parameter of the scene, which is one of the gallery.
static bool is_parameter(const Sweep* s, const char* key)
{
  const tbGalleryScene* g = is_named_scene(s->scene) ? tb_gallery_find(s->scene) : NULL;
  for (int i = 0; g && i < TB_GALLERY_PARAMETERS && g->parameter[i].name; i++)
    if (strcmp(g->parameter[i].name, key) == 0) return true;
  return false;
}

// Whether a key is set in the scene's file before it is read. The time is set afterwards, so that it can be
// varied beside parameters of the gallery.
static bool is_in_file(const char* key) { return is_scene_key(key) && strcmp(key, "time") != 0; }

static tbStatus load_varied(tbContext* ctx, const Sweep* s, int point, tbScene* out)
{
  const tbGalleryScene* g = tb_gallery_find(s->scene);
  double values[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(g, values);
  for (int i = 0; i < s->axes; i++) {
    char text[2 * SWEEP_TEXT + 2];
    if (!is_parameter(s, s->axis[i].key)) continue;
    snprintf(text, sizeof text, "%s=%s", s->axis[i].key, sweep_value(s, point, i));
    TB_TRY(tb_gallery_set(ctx, g, values, text));
  }
  if (g->files)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "%s has meshes: save it by `tribo scene` first", s->scene);
  return tb_gallery_load(ctx, g, values, NULL, out);
}

// The scene with the values that belong to what it holds.
static tbStatus load_set(tbContext* ctx, const Sweep* s, int point, tbScene* out)
{
  char text[SWEEP_AXES][2 * SWEEP_TEXT + 2];
  Texts settings = {0};
  for (int i = 0; i < s->axes; i++) {
    if (!is_in_file(s->axis[i].key)) continue;
    snprintf(text[i], sizeof text[i], "%s=%s", s->axis[i].key, sweep_value(s, point, i));
    settings.at[settings.count++] = text[i];
  }
  return load_scene_with(ctx, s->scene, &settings, out);
}

static tbStatus load_point(tbContext* ctx, const Sweep* s, int point, tbScene* out)
{
  bool varied = false, set = false;
  for (int i = 0; i < s->axes; i++) {
    bool own = is_parameter(s, s->axis[i].key); // a parameter may be called as a part of a scene is
    varied |= own, set |= !own && is_in_file(s->axis[i].key);
  }
  if (varied && set)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "parameters of %s and values of the scene are not varied together: save it by `tribo "
                   "scene` first",
                   s->scene);
  TB_TRY(varied ? load_varied(ctx, s, point, out) : load_set(ctx, s, point, out));
  tbStatus status = TB_OK;
  for (int i = 0; i < s->axes && status == TB_OK; i++)
    if (!is_parameter(s, s->axis[i].key) && !is_in_file(s->axis[i].key))
      status = set_value(ctx, out, s->axis[i].key, sweep_value(s, point, i));
  if (status != TB_OK) tb_scene_free(ctx, out);
  return status;
}

static tbStatus run_steps(tbContext* ctx, tbScene* scene, SweepPoint* p)
{
  double worst = 0, deepest = 0, iterations = 0, contacts = 0, missed = 0, begun = tb_seconds();
  double wanted = ceil(scene->time / scene->step.dt - 1e-6);
  int64_t steps = wanted < 1 ? 0 : (int64_t)fmin(wanted, 1e12);
  for (int64_t i = 0; i < steps; i++) {
    tbStepReport r = {0};
    if (interrupted(NULL)) return tb_fail(ctx, TB_ERROR_CANCELLED, "interrupted");
    TB_TRY(tb_world_step(ctx, scene->world, &scene->step, &r));
    worst = fmax(worst, r.residual.velocity), deepest = fmax(deepest, r.penetration);
    iterations += r.iterations, contacts += r.contacts, missed += r.outcome != TB_CONVERGED;
  }
  tbEnergy e = tb_world_energy(scene->world);
  double per = steps ? 1 / (double)steps : 0;
  *p = (SweepPoint){.done = true,
                    .metric = {worst, missed, iterations * per, contacts * per, deepest,
                               e.kinetic + e.potential + e.elastic, 1e3 * (tb_seconds() - begun) * per}};
  snprintf(p->hash, sizeof p->hash, "%016" PRIx64, tb_world_hash(scene->world));
  for (int i = 0; i < SWEEP_METRICS; i++)
    if (!isfinite(p->metric[i])) return tb_fail(ctx, TB_ERROR_NUMERIC, "the world is not finite any more");
  return TB_OK;
}

// All of them.

static void show_progress(const Work* w)
{
  if (w->quiet) return;
  int run = w->done - w->begun_with, left = w->sweep->points - w->done;
  double seconds = (tb_seconds() - w->begun) / (run ? run : 1) * left;
  fprintf(stderr, "\r\033[K%d of %d points, about %.0f s left", w->done, w->sweep->points, seconds);
}

// Takes a point's result; called with the lock.
static void take_result(Work* w, int point, SweepPoint result, const tbContext* ctx, tbStatus status)
{
  if (status == TB_ERROR_CANCELLED) return;
  if (status != TB_OK) {
    result = (SweepPoint){.done = true, .failed = true};
    snprintf(result.hash, sizeof result.hash, "%016d", 0);
    if (w->failure.status == TB_OK) w->failure = ctx->error;
  }
  w->sweep->point[point] = result;
  w->done++;
  tbContext own = tb_default_context();
  tbOut row = tb_out_memory(&own);
  sweep_row(&row, w->sweep, point);
  bool good = tb_out_finish(&row) == TB_OK && fwrite(row.bytes, 1, row.length, w->rows) == row.length;
  w->written &= good && fflush(w->rows) == 0;
  tb_out_free(&row);
  show_progress(w);
}

static void* work(void* user)
{
  Work* w = user;
  const Sweep* s = w->sweep;
  pthread_mutex_lock(&w->lock);
  while (w->next < s->points && !interrupted(NULL)) {
    int point = w->next++;
    if (s->point[point].done) continue;
    pthread_mutex_unlock(&w->lock);
    tbContext ctx = tb_default_context();
    ctx.interrupt = (tbInterrupt){.asked = interrupted};
    tbScene scene = {0};
    SweepPoint result = {0};
    tbStatus status = load_point(&ctx, s, point, &scene);
    if (status == TB_OK) status = run_steps(&ctx, &scene, &result);
    if (scene.world) tb_scene_free(&ctx, &scene);
    pthread_mutex_lock(&w->lock);
    take_result(w, point, result, &ctx, status);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

enum { MOST_JOBS = 64 };

static void run_all(Work* w, int jobs)
{
  pthread_t thread[MOST_JOBS];
  int started = 0;
  pthread_mutex_init(&w->lock, NULL);
  while (started < jobs - 1 && pthread_create(&thread[started], NULL, work, w) == 0) started++;
  work(w);
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  pthread_mutex_destroy(&w->lock);
  if (!w->quiet) fprintf(stderr, "\r\033[K");
}

static tbStatus save(tbContext* ctx, const Folder* folder, const Sweep* s)
{
  FolderFile files[] = {{.name = "sweep.csv", .text = tb_out_memory(ctx)},
                        {.name = "sweep.html", .text = tb_out_memory(ctx)}};
  sweep_csv(&files[0].text, s);
  sweep_page(&files[1].text, s);
  tbStatus status = tb_out_finish(&files[0].text);
  if (status == TB_OK) status = tb_out_finish(&files[1].text);
  if (status == TB_OK) status = folder_save(ctx, folder, files, 2);
  for (int i = 0; i < 2; i++) tb_out_free(&files[i].text);
  return status;
}

// The file of rows as it is while the sweep goes on: what is known so far, then what comes.
static tbStatus begin_rows(tbContext* ctx, const char* path, const Folder* folder, const Sweep* s, FILE** out)
{
  TB_TRY(save(ctx, folder, s));
  *out = fopen(path, "a");
  return *out ? TB_OK : tb_fail(ctx, TB_ERROR_IO, "%s: cannot be written", path);
}

// Every value is tried on the scene before anything is run.
static tbStatus try_values(tbContext* ctx, const Sweep* s)
{
  for (int i = 0, stride = 1; i < s->axes; stride *= s->axis[i++].count)
    for (int k = 0; k < s->axis[i].count; k++) {
      tbScene scene;
      TB_TRY(load_point(ctx, s, k * stride, &scene));
      tb_scene_free(ctx, &scene);
    }
  return TB_OK;
}

static tbStatus sweep(tbContext* ctx, Sweep* s, const char* out, int jobs, bool quiet, bool* complete)
{
  char path[PATH_MAX + 16];
  Folder folder;
  Work w = {.sweep = s, .quiet = quiet || !isatty(STDERR_FILENO), .written = true};
  TB_TRY(try_values(ctx, s));
  TB_TRY(folder_make(ctx, out, &folder));
  snprintf(path, sizeof path, "%s/sweep.csv", folder.path);
  TB_TRY(sweep_resume(ctx, path, s, &w.begun_with));
  TB_TRY(begin_rows(ctx, path, &folder, s, &w.rows));
  w.done = w.begun_with, w.begun = tb_seconds();
  interrupt_watch();
  run_all(&w, jobs);
  bool closed = fclose(w.rows) == 0;
  if (!w.written || !closed) return tb_fail(ctx, TB_ERROR_IO, "%s: cannot be written", path);
  TB_TRY(save(ctx, &folder, s));
  *complete = w.done == s->points;
  if (w.failure.status != TB_OK)
    fprintf(stderr, "tribo sweep: some points failed, the first of them: %s\n", w.failure.message);
  if (!quiet)
    printf("%d of %d runs done, %d of them by an earlier sweep\nwrote %s and sweep.html\n", w.done, s->points,
           w.begun_with, path);
  return TB_OK;
}

static void print_help(const Arg* args)
{
  printf(
      "%s\n\n"
      "Runs a scene (a file or a name of the gallery) once for every combination of values, on all\n"
      "processors. KEY is solver, scheme, dt, time, mu (the friction of every body), another option\n"
      "(`tribo list options`), a parameter of the gallery's scene (`tribo scene`), or a value of the scene,\n"
      "as in bodies.top.mass. Writes DIR/sweep.csv, a row per run, and DIR/sweep.html, plots of it. After "
      "an\n"
      "interruption the same command continues and keeps the runs that are done.\n\n",
      usage);
  args_help(args);
  printf("\n  tribo sweep arch --vary thickness=0.08:0.2:7 --vary friction=0.3:0.9:4 --out out\n"
         "  tribo sweep scenes/stack.json --vary dt=0.002,0.005,0.01 --vary solver=bgs,nncg --out out\n");
}

static bool read_axes(const Texts* vary, Sweep* s)
{
  double points = 1;
  if (!vary->count || vary->count > SWEEP_AXES) {
    fprintf(stderr, "tribo sweep: 1 to %d --vary are needed\n", SWEEP_AXES);
    return false;
  }
  for (int i = 0; i < vary->count; i++) {
    s->axes = i + 1;
    if (!sweep_axis_read(vary->at[i], &s->axis[i])) return false;
    for (int k = 0; k < i; k++)
      if (strcmp(s->axis[k].key, s->axis[i].key) == 0) {
        fprintf(stderr, "tribo sweep: %s is varied twice\n", s->axis[i].key);
        return false;
      }
    points *= s->axis[i].count;
  }
  if (points > SWEEP_POINTS) fprintf(stderr, "tribo sweep: %.0f points; at most %d\n", points, SWEEP_POINTS);
  s->points = points > SWEEP_POINTS ? 0 : (int)points;
  return s->points > 0;
}

int command_sweep(int argc, char** argv)
{
  Texts vary = {0};
  const char* out = NULL;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int jobs = processors < 1 ? 1 : processors > MOST_JOBS ? MOST_JOBS : (int)processors;
  bool help = false, quiet = false, complete = false;
  const Arg args[] = {
      {"--vary", ARG_TEXTS, &vary, "K=V", "FROM:TO:COUNT or A,B,…; may come several times"},
      {"--out", ARG_TEXT, &out, "DIR", "where sweep.csv and sweep.html go"},
      {"--jobs", ARG_INT, &jobs, "N", "points at a time (default: one for each processor)"},
      {"--quiet", ARG_FLAG, &quiet, NULL, "no summary, no progress"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("sweep", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1 || !out || jobs < 1 || jobs > MOST_JOBS) {
    fprintf(stderr, "%s; `tribo sweep --help` says more\n", usage);
    return EXIT_USAGE;
  }
  tbContext ctx = tb_default_context();
  Sweep s = {.scene = argv[0]};
  int code = EXIT_USAGE;
  if (read_axes(&vary, &s)) {
    s.point = calloc((size_t)s.points, sizeof *s.point);
    tbStatus status =
        s.point ? sweep(&ctx, &s, out, jobs, quiet, &complete) : tb_fail(&ctx, TB_ERROR_MEMORY, "no memory");
    code = status != TB_OK ? fail_with(&ctx) : complete ? EXIT_DONE : EXIT_INTERRUPTED;
  }
  for (int i = 0; i < s.axes; i++) free(s.axis[i].value);
  free(s.point);
  return code;
}
