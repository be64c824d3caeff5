// SPDX-License-Identifier: Apache-2.0
// tribo optimize: numbers of a scene that bring a body to a point, by L-BFGS on the gradient of `tribo
// gradient`. A folder gets the scene that was found, the curve of the search, and a replay of every iterate.
#include "cli/folder.h"
#include "cli/gradient.h"
#include "cli/interrupt.h"
#include "cli/out.h"
#include "cli/plot.h"
#include "tribo/tools/array.h"
#include "tribo/tools/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: tribo optimize SCENE --for NAME.KEY[,…] --target NAME:x,y,z [--out DIR] [options]";

static void teach(const Arg* args)
{
  printf(
      "%s\n\n"
      "Searches, from the values in the scene, for values of the numbers in --for with which NAME ends the "
      "run\n"
      "at a point:\n\n"
      "  tribo optimize throw.json --for ball.velocity --target ball:1,0,0.2 --out out\n"
      "  tribo optimize throw.json --for ball.velocity,floor.friction --target ball:1,0,0.2 \\\n"
      "      --bounds ball.velocity=-5:5 --bounds floor.friction=0.1:1\n\n"
      "Writes into DIR: optimized.json (the scene with the values found), convergence.csv and .svg, and a\n"
      "replay of every iterate (iterate-000.trp, …), which `tribo view` plays.\n\n",
      usage);
  args_help(args);
}

typedef struct {
  tbContext* ctx;
  const tbObjective* o;
  const Folder* folder;       // null: no files
  tbArray loss;               // double, per iterate
  tbArray values;             // double, per iterate
  bool quiet, replays, moves; // moves: a number has had an effect
  tbStatus status;
} Watch;

// The run with an iterate's numbers, as a replay.
static tbStatus record(tbContext* ctx, const tbObjective* o, const double* values, const char* path)
{
  tbScene scene;
  tbRecording* recording;
  TB_TRY(tb_objective_scene(ctx, o, values, &scene));
  tbStatus status = tb_record_begin(ctx, "replay", path, &scene, tb_default_record_options(), &recording);
  if (status == TB_OK) {
    int64_t steps = tb_objective_steps(o);
    for (int64_t i = 0; i < steps && status == TB_OK; i++) {
      tbStepReport report = {0};
      status = tb_world_step(ctx, scene.world, &scene.step, &report);
      if (status == TB_OK) status = tb_record_step(ctx, recording, &scene, &report);
    }
    status = tb_record_end(ctx, recording, &scene, status);
  }
  tb_scene_free(ctx, &scene);
  return status;
}

static bool watch(void* user, int iteration, const double* values, double loss, const double* gradient)
{
  Watch* w = user;
  int n = tb_objective_size(w->o);
  for (int i = 0; i < n; i++) w->moves = w->moves || gradient[i] != 0;
  if (!w->quiet) fprintf(stderr, "%3d  %.6g m from the target\n", iteration, sqrt(loss));
  w->status = tb_array_push(w->ctx, &w->loss, &loss, 1);
  if (w->status == TB_OK) w->status = tb_array_push(w->ctx, &w->values, values, (size_t)n);
  if (w->status == TB_OK && w->folder && w->replays) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/iterate-%03d.trp", w->folder->path, iteration);
    w->status = record(w->ctx, w->o, values, path);
  }
  return w->status != TB_OK;
}

static void put_csv(tbOut* out, const Watch* w)
{
  int n = tb_objective_size(w->o);
  tb_out_text(out, "iteration,loss,distance");
  for (int i = 0; i < tb_objective_parameter_count(w->o); i++) {
    tbParameter p = tb_objective_parameter(w->o, i);
    for (int k = 0; k < p.count; k++) {
      char name[256];
      if (p.scalar) snprintf(name, sizeof name, "%s", p.name);
      else snprintf(name, sizeof name, "%s.%d", p.name, k);
      tb_out_text(out, ",");
      out_csv(out, name);
    }
  }
  tb_out_text(out, "\n");
  const double *loss = w->loss.data, *values = w->values.data;
  for (size_t i = 0; i < w->loss.count; i++) {
    tb_out_int(out, (int64_t)i);
    tb_out_text(out, ",");
    tb_out_double(out, loss[i]);
    tb_out_text(out, ",");
    tb_out_double(out, sqrt(loss[i]));
    for (int k = 0; k < n; k++) {
      tb_out_text(out, ",");
      tb_out_double(out, values[i * (size_t)n + (size_t)k]);
    }
    tb_out_text(out, "\n");
  }
}

static tbStatus put_plot(tbContext* ctx, tbOut* out, const Watch* w, double tolerance, bool arrived)
{
  tbArray points = TB_ARRAY(PlotPoint);
  const double* loss = w->loss.data;
  tbStatus status = TB_OK;
  for (size_t i = 0; i < w->loss.count && status == TB_OK; i++)
    status = tb_array_push(ctx, &points, &(PlotPoint){(double)i, fmax(sqrt(loss[i]), 1e-12)}, 1);
  PlotCurve curve = {.name = "L-BFGS", .point = points.data, .points = (int)points.count, .arrived = arrived};
  Plot plot = {.axis = PLOT_COUNT,
               .x_name = "iterations",
               .y_name = "distance from the target, m",
               .tolerance = tolerance,
               .curve = &curve,
               .curves = 1};
  if (status == TB_OK) plot_file(out, &plot);
  tb_array_free(ctx, &points);
  return status;
}

// ---- bounds ----

// KEY=LOWER:UPPER, for all numbers of a parameter. False after one line on standard error.
static bool read_bounds(const tbObjective* o, const Texts* bounds, double* lower, double* upper)
{
  for (int i = 0; i < tb_objective_size(o); i++) lower[i] = -INFINITY, upper[i] = INFINITY;
  for (int i = 0; i < bounds->count; i++) {
    const char *text = bounds->at[i], *equals = strrchr(text, '='), *end = text + strlen(text);
    const char* colon = equals ? strchr(equals, ':') : NULL;
    double from = -INFINITY, to = INFINITY;
    bool good = colon && equals > text;
    if (good && colon > equals + 1) good = tb_read_double(equals + 1, colon, &from) == colon;
    if (good && colon + 1 < end) good = tb_read_double(colon + 1, end, &to) == end;
    if (!good || !(from <= to)) {
      fprintf(stderr, "tribo: --bounds takes KEY=LOWER:UPPER, not \"%s\"\n", text);
      return false;
    }
    bool found = false;
    tbNearest near = {0};
    char key[256];
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    near = tb_nearest(key);
    for (int k = 0; k < tb_objective_parameter_count(o); k++) {
      tbParameter p = tb_objective_parameter(o, k);
      tb_nearest_offer(&near, p.name);
      if (strcmp(p.name, key) != 0) continue;
      for (int j = p.first; j < p.first + p.count; j++) lower[j] = from, upper[j] = to;
      found = true;
    }
    if (found) continue;
    fprintf(stderr, "tribo: --bounds: \"%s\" is not among --for%s%s%s\n", key,
            near.name ? "; did you mean \"" : "", near.name ? near.name : "", near.name ? "\"?" : "");
    return false;
  }
  return true;
}

// ---- results ----

static tbStatus save(tbContext* ctx, const Folder* folder, const Watch* w, const double* x, double tolerance,
                     bool arrived)
{
  FolderFile files[] = {{"optimized.json", tb_out_memory(ctx)},
                        {"convergence.csv", tb_out_memory(ctx)},
                        {"convergence.svg", tb_out_memory(ctx)}};
  tbStatus status = tb_objective_print(ctx, w->o, x, &files[0].text);
  tb_out_text(&files[0].text, "\n");
  put_csv(&files[1].text, w);
  if (status == TB_OK) status = put_plot(ctx, &files[2].text, w, tolerance, arrived);
  if (status == TB_OK) status = folder_save(ctx, folder, files, 3);
  else
    for (int i = 0; i < 3; i++) tb_out_free(&files[i].text);
  return status;
}

static void put_result(tbOut* out, bool json, tbObjective* o, const double* x, const tbMinimum* m,
                       bool arrived, bool moves)
{
  if (json) {
    tbJsonWriter w = tb_json_writer(out, 0);
    tb_put_object(&w, NULL);
    tb_put_number(&w, "loss", m->loss);
    tb_put_number(&w, "distance", sqrt(m->loss));
    tb_put_bool(&w, "arrived", arrived);
    tb_put_bool(&w, "converged", m->converged);
    tb_put_int(&w, "iterations", m->iterations);
    tb_put_int(&w, "gradients", m->gradients);
    tb_put_int(&w, "losses", m->losses);
    tb_put_number(&w, "first_loss", m->first_loss);
    put_gradient(&w, "values", o, x);
    tb_put_string(&w, "scheme", tb_objective_options(o)->scheme);
    tb_put_end(&w);
    tb_json_writer_finish(&w);
    tb_out_text(out, "\n");
    return;
  }
  out_terminal(out, tb_objective_body(o));
  out_format(out, " ends %.6g m from the target, %.6g m before; %d iterations, %d gradients, %d more runs\n",
             sqrt(m->loss), sqrt(m->first_loss), m->iterations, m->gradients, m->losses);
  for (int i = 0; i < tb_objective_parameter_count(o); i++) {
    tbParameter p = tb_objective_parameter(o, i);
    tb_out_text(out, "  ");
    out_terminal(out, p.name);
    for (int k = 0; k < p.count; k++) out_format(out, "  %.12g", x[p.first + k]);
    tb_out_text(out, "\n");
  }
  if (!arrived && !moves) tb_out_text(out, "  none of them has an effect on where it ends\n");
}

typedef struct {
  tbMinimize minimize;
  double tolerance; // m
  Texts bounds;
  const char* out;
  bool json, quiet, no_replays, strict;
} Search;

static int search(tbContext* ctx, tbObjective* o, void* user)
{
  Search* s = user;
  int n = tb_objective_size(o), code = EXIT_DONE;
  double *x = malloc(3 * (size_t)n * sizeof *x), *lower = x + n, *upper = lower + n;
  Folder folder = {0};
  if (!x) return tb_fail(ctx, TB_ERROR_MEMORY, "out of memory"), fail_with(ctx);
  if (!read_bounds(o, &s->bounds, lower, upper)) return free(x), EXIT_USAGE;
  tbStatus status = s->out ? folder_make(ctx, s->out, &folder) : TB_OK;
  Watch w = {.ctx = ctx,
             .o = o,
             .folder = s->out ? &folder : NULL,
             .loss = TB_ARRAY(double),
             .values = TB_ARRAY(double),
             .quiet = s->quiet || s->json,
             .replays = !s->no_replays};
  tbMinimum m;
  s->minimize.loss = s->tolerance * s->tolerance;
  s->minimize.lower = lower, s->minimize.upper = upper;
  s->minimize.watch = watch, s->minimize.user = &w;
  tb_objective_values(o, x);
  if (status == TB_OK) status = tb_objective_minimize(ctx, o, &s->minimize, x, &m);
  if (status == TB_OK) status = w.status;
  bool arrived = status == TB_OK && m.loss <= s->minimize.loss;
  if (status == TB_OK && s->out) status = save(ctx, &folder, &w, x, s->tolerance, arrived);
  if (status == TB_OK) {
    tbOut out = out_standard(ctx);
    put_result(&out, s->json, o, x, &m, arrived, w.moves);
    status = tb_out_finish(&out);
    tb_out_free(&out);
    if (s->out && !s->json) out_wrote(false, s->out);
    code = arrived || !s->strict ? EXIT_DONE : EXIT_UNCONVERGED;
  }
  if (status != TB_OK) code = fail_with(ctx);
  if (status != TB_OK && s->out) folder_unmake(&folder);
  tb_array_free(ctx, &w.loss);
  tb_array_free(ctx, &w.values);
  free(x);
  return code;
}

int command_optimize(int argc, char** argv)
{
  const char *target = NULL, *wrt = NULL, *method = NULL;
  bool help = false;
  ObjectiveArgs settings = {.time = NAN};
  Search s = {.minimize = tb_default_minimize(), .tolerance = 1e-4};
  const Arg args[] = {{"--for", ARG_TEXT, &wrt, "A,B,…",
                       "numbers of the scene to search for: NAME.velocity, MATERIAL.friction, …"},
                      {"--target", ARG_TEXT, &target, "NAME:x,y,z", "which body should end where"},
                      {"--bounds", ARG_TEXTS, &s.bounds, "K=LO:HI",
                       "keep what --for names within; either side may be left out"},
                      {"--tolerance", ARG_NUMBER, &s.tolerance, "M",
                       "metres from the target that are good enough (default 1e-4)"},
                      {"--iterations", ARG_INT, &s.minimize.iterations, "N", "at most (default 50)"},
                      {"--method", ARG_TEXT, &method, "M",
                       "of the gradient: auto (default), tangent, adjoint or differences"},
                      {"--out", ARG_TEXT, &s.out, "DIR",
                       "the scene that was found, the curve of the search, replays of iterates"},
                      {"--no-replays", ARG_FLAG, &s.no_replays, NULL, "without the replays"},
                      OBJECTIVE_ARGS(settings),
                      {"--strict", ARG_FLAG, &s.strict, NULL, "exit with 1 when the target was not reached"},
                      {"--json", ARG_FLAG, &s.json, NULL, "one JSON object"},
                      {"--quiet", ARG_FLAG, &s.quiet, NULL, "no line per iterate"},
                      {"--help", ARG_FLAG, &help, NULL, "this text"},
                      {NULL, ARG_FLAG, NULL, NULL, NULL}};
  int count = args_parse("optimize", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) return teach(args), EXIT_DONE;
  if (!method_named(method, &s.minimize.method)) return EXIT_USAGE;
  if (count != 1 || !target || !wrt || !(s.tolerance > 0)) {
    fprintf(stderr, "%s\n", usage);
    return EXIT_USAGE;
  }
  return with_objective(argv[0], target, wrt, &settings, search, &s);
}
