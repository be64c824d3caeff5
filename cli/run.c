// SPDX-License-Identifier: Apache-2.0
// tribo run: a scene, from its first step to its last.
#include "cli/doubts.h"
#include "cli/simulate.h"

#include <limits.h>
#include <math.h>

static const char usage[] = "usage: tribo run SCENE [options]";

typedef struct {
  OutputArgs output;
  const char *scheme, *solver, *model;
  double dt, time, tolerance, velocity_tolerance, budget_ms;
  int steps, threads, max_iterations;
  Texts set;
} RunArgs;

// What the command line says instead of the scene. False after one line on standard error.
static bool override(const RunArgs* a, tbScene* scene, int64_t* last)
{
  tbStepOptions* o = &scene->step;
  if (a->scheme) {
    const tbScheme* scheme = scheme_named(a->scheme);
    if (!scheme) return false;
    o->scheme = scheme->name;
  }
  if (a->solver) {
    const tbSolver* solver = solver_named(a->solver);
    if (!solver) return false;
    o->solver.solver = solver->name;
  }
  if (a->model && !model_named(a->model, &o->solver.model)) return false;
  if (!isnan(a->dt)) o->dt = a->dt;
  if (!isnan(a->time)) scene->time = a->time;
  if (!isnan(a->tolerance)) o->solver.tolerance = a->tolerance;
  if (!isnan(a->velocity_tolerance)) o->solver.velocity_tolerance = a->velocity_tolerance;
  if (!isnan(a->budget_ms)) o->budget_s = 1e-3 * a->budget_ms;
  if (a->max_iterations != INT_MIN) o->solver.max_iterations = a->max_iterations;
  Texts options = {0};
  for (int i = 0; i < a->set.count; i++)
    if (!is_scene_key(a->set.at[i])) options.at[options.count++] = a->set.at[i];
  if (!set_options(&options, o)) return false;
  if (a->threads != INT_MIN) scene->threads = a->threads;
  *last = steps_until(scene->time, o->dt);
  if (a->steps == INT_MIN) return true;
  *last = a->steps;
  scene->time = a->steps * o->dt;
  return true;
}

static bool check(const RunArgs* a)
{
  if (!isnan(a->dt) && !(a->dt > 0)) fprintf(stderr, "tribo run: --dt must be positive\n");
  else if (!isnan(a->time) && !(a->time >= 0)) fprintf(stderr, "tribo run: --time must not be negative\n");
  else if (a->steps != INT_MIN && a->steps < 0) fprintf(stderr, "tribo run: --steps must not be negative\n");
  else if (a->steps != INT_MIN && !isnan(a->time))
    fprintf(stderr, "tribo run: --time and --steps both say when to end; give one\n");
  else if (!isnan(a->tolerance) && !(a->tolerance >= 0))
    fprintf(stderr, "tribo run: --tol must not be negative\n");
  else if (!isnan(a->velocity_tolerance) && !(a->velocity_tolerance >= 0))
    fprintf(stderr, "tribo run: --velocity-tol must not be negative\n");
  else if (!isnan(a->budget_ms) && !(a->budget_ms >= 0))
    fprintf(stderr, "tribo run: --budget-ms must not be negative\n");
  else if (a->max_iterations != INT_MIN && a->max_iterations < 0)
    fprintf(stderr, "tribo run: --max-iter must not be negative\n");
  else return output_args_check("run", &a->output);
  return false;
}

static void print_help(const Arg* args)
{
  printf("%s\n\n"
         "Simulates a scene: a file (docs/scene-format.md) or a name of the gallery. Options override the "
         "scene's values.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo run stack --out out && head -3 out/trajectory.csv\n"
         "  tribo run stack --checkpoint stack.ckp --every 100, and after Ctrl-C: tribo resume "
         "stack.ckp\n");
}

static int run_scene(tbContext* ctx, const RunArgs* a, const char* path)
{
  tbScene scene;
  int64_t last = 0;
  if (load_scene_with(ctx, path, &a->set, &scene) != TB_OK) return fail_with(ctx);
  if (!a->output.quiet && warn_of_doubts(ctx, path, scene.world) != TB_OK) {
    tb_scene_free(ctx, &scene);
    return fail_with(ctx);
  }
  int code = EXIT_USAGE;
  if (override(a, &scene, &last))
    code =
        start_threads(ctx, scene.threads) == TB_OK ? simulate(ctx, &scene, last, &a->output) : fail_with(ctx);
  tb_scene_free(ctx, &scene);
  tb_threads_destroy(ctx, ctx->threads);
  return code;
}

int command_run(int argc, char** argv)
{
  RunArgs a = {.output = {.fps = NAN},
               .dt = NAN,
               .time = NAN,
               .tolerance = NAN,
               .velocity_tolerance = NAN,
               .budget_ms = NAN,
               .steps = INT_MIN,
               .threads = INT_MIN,
               .max_iterations = INT_MIN};
  bool help = false;
  const Arg args[] = {
      {"--scheme", ARG_TEXT, &a.scheme, "NAME", "the time-stepping scheme; `tribo list schemes`"},
      {"--solver", ARG_TEXT, &a.solver, "NAME", "the method for the contacts; `tribo list solvers`"},
      {"--dt", ARG_NUMBER, &a.dt, "S", "the time step in seconds"},
      {"--time", ARG_NUMBER, &a.time, "S", "simulated time in seconds (default: the scene's)"},
      {"--steps", ARG_INT, &a.steps, "N", "number of steps, instead of --time"},
      {"--threads", ARG_INT, &a.threads, "N", "threads; the result does not depend on it"},
      {"--tol", ARG_NUMBER, &a.tolerance, "T",
       "tolerance of a step on the judge's residual in FCLIB's scaling, besides --velocity-tol; 0: none"},
      {"--velocity-tol", ARG_NUMBER, &a.velocity_tolerance, "V",
       "tolerance of a step on the judge's residual in m/s (default 1e-5); 0: none"},
      {"--max-iter", ARG_INT, &a.max_iterations, "N", "largest number of solver iterations per step"},
      {"--budget-ms", ARG_NUMBER, &a.budget_ms, "MS",
       "time limit for the solves of a step; then the best impulses so far are used"},
      {"--model", ARG_TEXT, &a.model, "M", "cone, box, polyhedral, ccp or frictionless"},
      {"--set", ARG_TEXTS, &a.set, "K=V",
       "set any other option, as in solver.order=layers (`tribo list options`), or value of the scene, as in "
       "bodies.top.mass=3 or soft.*.young=1e6"},
      OUTPUT_ARGS(a.output),
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("run", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "%s; `tribo run --help` says more\n", usage);
    return EXIT_USAGE;
  }
  if (!check(&a)) return EXIT_USAGE;
  tbContext ctx = tb_default_context();
  return run_scene(&ctx, &a, argv[0]);
}
