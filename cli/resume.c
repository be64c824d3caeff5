// SPDX-License-Identifier: Apache-2.0
// tribo resume: a run that was stopped, from its checkpoint, to the same bits.
#include "cli/simulate.h"

#include <limits.h>
#include <math.h>

static const char usage[] = "usage: tribo resume CHECKPOINT [options]";

typedef struct {
  OutputArgs output;
  double time;
  int steps, threads;
} ResumeArgs;

static bool check(const ResumeArgs* a)
{
  if (!isnan(a->time) && !(a->time >= 0)) fprintf(stderr, "tribo resume: --time must not be negative\n");
  else if (a->steps != INT_MIN && a->steps < 0)
    fprintf(stderr, "tribo resume: --steps must not be negative\n");
  else if (a->steps != INT_MIN && !isnan(a->time))
    fprintf(stderr, "tribo resume: --time and --steps both say when to end; give one\n");
  else return output_args_check("resume", &a->output);
  return false;
}

static void print_help(const Arg* args)
{
  printf("%s\n\n"
         "Continues a run from a checkpoint (`tribo run --checkpoint`) to the run's end, bit for bit as if "
         "it had\n"
         "never stopped. The checkpoint holds the whole scene: no other file is read.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo resume stack.ckp --time 10 --out longer\n");
}

static int resume(tbContext* ctx, const ResumeArgs* a, const char* path)
{
  tbScene scene;
  if (check_readable(ctx, path) != TB_OK || tb_checkpoint_load(ctx, path, &scene) != TB_OK)
    return fail_with(ctx);
  double dt = scene.step.dt;
  if (!isnan(a->time)) scene.time = a->time;
  int64_t last = steps_until(scene.time, dt), done = tb_world_step_count(scene.world);
  if (a->steps != INT_MIN) {
    last = done + a->steps;
    scene.time = (double)last * dt;
  }
  if (last <= done) {
    if (!a->output.quiet)
      fprintf(
          stderr,
          "tribo resume: the run of %s is at its end, %.6g s; use --time or --steps to continue beyond it\n",
          path, tb_world_time(scene.world));
    last = done;
  }
  if (a->threads != INT_MIN) scene.threads = a->threads;
  int code =
      start_threads(ctx, scene.threads) == TB_OK ? simulate(ctx, &scene, last, &a->output) : fail_with(ctx);
  tb_scene_free(ctx, &scene);
  tb_threads_destroy(ctx, ctx->threads);
  return code;
}

int command_resume(int argc, char** argv)
{
  ResumeArgs a = {.output = {.fps = NAN}, .time = NAN, .steps = INT_MIN, .threads = INT_MIN};
  bool help = false;
  const Arg args[] = {
      {"--time", ARG_NUMBER, &a.time, "S", "continue until S seconds are simulated in total"},
      {"--steps", ARG_INT, &a.steps, "N", "continue for N more steps, instead of --time"},
      {"--threads", ARG_INT, &a.threads, "N", "threads; the result does not depend on it"},
      OUTPUT_ARGS(a.output),
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("resume", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "%s; `tribo resume --help` says more\n", usage);
    return EXIT_USAGE;
  }
  if (!check(&a)) return EXIT_USAGE;
  tbContext ctx = tb_default_context();
  return resume(&ctx, &a, argv[0]);
}
