// SPDX-License-Identifier: Apache-2.0
// tribo gradient: the derivative of where a body ends by numbers of the scene.
#include "cli/gradient.h"
#include "cli/interrupt.h"
#include "cli/out.h"
#include "tribo/tools/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: tribo gradient SCENE --loss NAME:x,y,z --wrt NAME.KEY[,…] [options]";

static void teach(const Arg* args)
{
  printf(
      "%s\n\n"
      "Computes the gradient of a loss with respect to numbers of the scene. The loss is the squared "
      "distance\n"
      "of NAME's position from a point at the end of the run:\n\n"
      "  tribo gradient throw.json --loss ball:1,0,0.2 --wrt ball.velocity,floor.friction --json\n\n"
      "NAME.KEY is a number or an array of numbers of a body, a deformable body or a material, or a path "
      "from\n"
      "the root of the file, such as joints.0.motor.speed. The contact law is differentiated implicitly for\n"
      "the contact states of the run; steps in which these are about to change are counted and reported.\n"
      "--check compares with finite differences of whole runs.\n\n",
      usage);
  args_help(args);
}

bool method_named(const char* name, tbGradientMethod* out)
{
  if (!name || tb_gradient_method_from_name(name, out)) return true;
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < TB_GRADIENT_METHODS; i++)
    tb_nearest_offer(&near, tb_gradient_method_name((tbGradientMethod)i));
  fprintf(stderr, "tribo: no method \"%s\"; %s%s%s\n", name,
          near.name ? "did you mean \"" : "there are auto, tangent, adjoint and ",
          near.name ? near.name : "differences", near.name ? "\"?" : "");
  return false;
}

// `named` is to be removed afterwards.
static tbStatus load_objective(tbContext* ctx, const char* path, const char* loss, const char* wrt,
                               NamedScene* named, tbObjective** out)
{
  *named = (NamedScene){0};
  if (is_named_scene(path)) {
    TB_TRY(named_scene_write(ctx, path, named));
    path = named->path;
  } else {
    TB_TRY(check_scene_input(ctx, path));
  }
  return tb_objective_load(ctx, path, loss, wrt, out);
}

// False after one line on standard error.
static bool objective_settings(const ObjectiveArgs* a, tbObjective* o)
{
  tbStepOptions* step = tb_objective_options(o);
  const tbScheme* scheme = a->scheme ? scheme_named(a->scheme) : NULL;
  if (a->scheme && !scheme) return false;
  if (scheme) step->scheme = scheme->name;
  if (!isnan(a->time) && !(a->time >= 0)) {
    fprintf(stderr, "tribo: --time takes seconds\n");
    return false;
  }
  if (!isnan(a->time)) *tb_objective_time(o) = a->time;
  return set_options(&a->set, step);
}

int with_objective(const char* scene, const char* loss, const char* wrt, const ObjectiveArgs* settings,
                   ObjectiveWork* work, void* user)
{
  tbContext ctx = tb_default_context();
  interrupt_watch();
  ctx.interrupt.asked = interrupted;
  NamedScene named;
  tbObjective* o = NULL;
  int code = EXIT_USAGE;
  if (load_objective(&ctx, scene, loss, wrt, &named, &o) != TB_OK) code = fail_with(&ctx);
  else if (objective_settings(settings, o)) code = work(&ctx, o, user);
  tb_objective_free(&ctx, o);
  named_scene_remove(&named);
  return code;
}

void put_gradient(tbJsonWriter* w, const char* key, const tbObjective* o, const double* values)
{
  tb_put_object(w, key);
  for (int i = 0; i < tb_objective_parameter_count(o); i++) {
    tbParameter p = tb_objective_parameter(o, i);
    if (p.scalar) tb_put_number(w, p.name, values[p.first]);
    else tb_put_numbers(w, p.name, values + p.first, (size_t)p.count);
  }
  tb_put_end(w);
}

// ‖a − b‖ over the larger of the two.
static double apart(int n, const double* a, const double* b)
{
  double d = 0, x = 0, y = 0;
  for (int i = 0; i < n; i++) d += (a[i] - b[i]) * (a[i] - b[i]), x += a[i] * a[i], y += b[i] * b[i];
  double size = sqrt(fmax(x, y));
  return size > 0 ? sqrt(d) / size : 0;
}

// What was computed, and how far it can be relied upon.
typedef struct {
  double loss, verified;
  const double *gradient, *check; // check null: not asked for
  tbGradientReport report;
} Answer;

// No contact changes at the run or close to it, and runs beside it have the slope that the gradient says.
static bool is_smooth(const Answer* a)
{
  const tbGradientReport* r = &a->report;
  return r->unstable == 0 && r->nearby == 0 && a->verified <= TB_GRADIENT_AGREES;
}

static void put_json(tbOut* out, const char* scene, tbObjective* o, const Answer* a)
{
  const tbGradientReport* r = &a->report;
  const double *gradient = a->gradient, *check = a->check;
  tbJsonWriter w = tb_json_writer(out, 0);
  tb_put_object(&w, NULL);
  tb_put_number(&w, "loss", a->loss);
  put_gradient(&w, "gradient", o, gradient);
  tb_put_bool(&w, "smooth", is_smooth(a));
  tb_put_number(&w, "verified", a->verified);
  tb_put_string(&w, "scene", scene);
  tb_put_string(&w, "scheme", tb_objective_options(o)->scheme);
  tb_put_string(&w, "method", tb_gradient_method_name(r->method));
  tb_put_int(&w, "steps", r->steps);
  tb_put_int(&w, "steps_run", r->runs);
  tb_put_int(&w, "problems", r->problems);
  tb_put_int(&w, "rough_problems", r->rough);
  tb_put_int(&w, "ambiguous_problems", r->ambiguous);
  tb_put_int(&w, "unstable", r->unstable);
  tb_put_array(&w, "unstable_steps");
  for (int64_t i = 0; i < r->unstable && i < TB_GRADIENT_UNSTABLE; i++)
    tb_put_int(&w, NULL, r->unstable_step[i]);
  tb_put_end(&w);
  if (r->method == TB_GRADIENT_TANGENT) tb_put_int(&w, "nearby", r->nearby);
  if (r->checkpoints) tb_put_int(&w, "checkpoints", r->checkpoints);
  if (check) {
    put_gradient(&w, "differences", o, check);
    tb_put_number(&w, "apart", apart(tb_objective_size(o), gradient, check));
  }
  tb_put_end(&w);
  tb_json_writer_finish(&w);
  tb_out_text(out, "\n");
}

static void put_text(tbOut* out, const tbObjective* o, const Answer* a)
{
  const tbGradientReport* r = &a->report;
  const double *gradient = a->gradient, *check = a->check, loss = a->loss;
  tbVec3 target = tb_objective_target(o);
  out_format(out, "loss %.9g m²: ", loss);
  out_terminal(out, tb_objective_body(o));
  out_format(out, " ends %.6g m from (%g, %g, %g)\n", sqrt(loss), target.x, target.y, target.z);
  for (int i = 0; i < tb_objective_parameter_count(o); i++) {
    tbParameter p = tb_objective_parameter(o, i);
    tb_out_text(out, "  ");
    out_terminal(out, p.name);
    bool moves = false;
    for (int k = 0; k < p.count; k++) out_format(out, "  %.9g", gradient[p.first + k]);
    for (int k = 0; k < p.count; k++) moves = moves || gradient[p.first + k] != 0;
    tb_out_text(out, moves ? "\n" : "  (it has no effect)\n");
    if (!check) continue;
    tb_out_text(out, "    by differences");
    for (int k = 0; k < p.count; k++) out_format(out, "  %.9g", check[p.first + k]);
    tb_out_text(out, "\n");
  }
  out_format(out, "%s, %" PRId64 " steps", tb_gradient_method_name(r->method), r->steps);
  if (r->unstable)
    out_format(out, "; at %" PRId64 " of them contacts change, the first is step %" PRId64, r->unstable,
               r->unstable_step[0]);
  if (r->nearby)
    out_format(out, "; within 10⁻⁵ of %" PRId64 " of them contacts change: differences may see another slope",
               r->nearby);
  if (r->rough)
    out_format(out, "; %" PRId64 " of %" PRId64 " problems not solved to rounding", r->rough, r->problems);
  if (a->verified <= TB_GRADIENT_AGREES) tb_out_text(out, "; verified by runs beside it");
  else out_format(out, "; not smooth: runs beside it have another slope, by a share of %.2g", a->verified);
  if (check)
    out_format(out, "; apart from differences by %.2g", apart(tb_objective_size(o), gradient, check));
  tb_out_text(out, "\n");
}

typedef struct {
  const char* path;
  tbGradientMethod method;
  bool check, json;
} Question;

static int compute(tbContext* ctx, tbObjective* o, void* user)
{
  const Question* q = user;
  int n = tb_objective_size(o);
  double *x = malloc(3 * (size_t)n * sizeof *x), *g = x + n, *d = g + n;
  if (!x) {
    tb_fail(ctx, TB_ERROR_MEMORY, "out of memory");
    return fail_with(ctx);
  }
  Answer a = {.gradient = g, .check = q->check ? d : NULL};
  tb_objective_values(o, x);
  tbStatus status = tb_objective_gradient(ctx, o, q->method, x, &a.loss, g, &a.report);
  if (status == TB_OK) status = tb_objective_verify(ctx, o, x, g, &a.verified);
  if (status == TB_OK && q->check)
    status = tb_objective_gradient(ctx, o, TB_GRADIENT_DIFFERENCES, x, NULL, d, NULL);
  tbOut out = out_standard(ctx);
  if (status == TB_OK && q->json) put_json(&out, q->path, o, &a);
  else if (status == TB_OK) put_text(&out, o, &a);
  if (status == TB_OK) status = tb_out_finish(&out);
  tb_out_free(&out);
  free(x);
  return status == TB_OK ? EXIT_DONE : fail_with(ctx);
}

int command_gradient(int argc, char** argv)
{
  const char *loss = NULL, *wrt = NULL, *method_name = NULL;
  bool help = false;
  Question q = {.method = TB_GRADIENT_AUTO};
  ObjectiveArgs settings = {.time = NAN};
  const Arg args[] = {
      {"--loss", ARG_TEXT, &loss, "NAME:x,y,z", "whose position, and the point it should end at"},
      {"--wrt", ARG_TEXT, &wrt, "A,B,…", "numbers of the scene: NAME.velocity, MATERIAL.friction, …"},
      {"--method", ARG_TEXT, &method_name, "M", "auto (default), tangent, adjoint or differences"},
      {"--check", ARG_FLAG, &q.check, NULL, "compare with central differences of whole runs"},
      OBJECTIVE_ARGS(settings),
      {"--json", ARG_FLAG, &q.json, NULL, "one JSON object"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {NULL, ARG_FLAG, NULL, NULL, NULL}};
  int count = args_parse("gradient", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) return teach(args), EXIT_DONE;
  if (!method_named(method_name, &q.method)) return EXIT_USAGE;
  if (count != 1 || !loss || !wrt) {
    fprintf(stderr, "%s\n", usage);
    return EXIT_USAGE;
  }
  q.path = argv[0];
  return with_objective(argv[0], loss, wrt, &settings, compute, &q);
}
