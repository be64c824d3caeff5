// SPDX-License-Identifier: Apache-2.0
// How long things stand: scenes at rest for minutes of their own time, and how far they drift.
//
//   bench_standing [MINUTES [SOLVER…]]      of cards, arch, stack and heavy-top; 10 minutes, auto and
//   staggered
//
// A budget of 120 s of the clock for each scene and solver: what was reached by then is printed.
#include "bench.h"
#include "tribo/io.h"

#include <stdlib.h>

static void stand(const char* name, const char* solver, double minutes)
{
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  char path[200];
  snprintf(path, sizeof path, "scenes/%s.json", name);
  if (tb_scene_load(&ctx, path, &scene) != TB_OK) {
    printf("%s\n", ctx.error.message);
    return;
  }
  scene.step.solver.solver = solver;
  int count = tb_world_body_count(scene.world), unconverged = 0;
  tbVec3* start = calloc((size_t)count, sizeof *start);
  if (!start) exit(1);
  for (int i = 0; i < count; i++)
    start[i] = tb_body_state(scene.world, tb_world_body_at(scene.world, i)).position;
  double began = bench_now(), drift = 0;
  while (tb_world_time(scene.world) < 60 * minutes && bench_now() - began < 120) {
    tbStepReport report;
    if (tb_world_step(&ctx, scene.world, &scene.step, &report) != TB_OK) {
      printf("%s: %s\n", name, ctx.error.message);
      break;
    }
    unconverged += report.outcome != TB_CONVERGED;
  }
  for (int i = 0; i < count; i++)
    drift = fmax(
        drift, tb_distance3(tb_body_state(scene.world, tb_world_body_at(scene.world, i)).position, start[i]));
  int64_t steps = tb_world_step_count(scene.world);
  printf("%-10s %-10s %8.1f s  drift %.2e m  %d of %lld steps unconverged  %.3f ms a step\n", name, solver,
         tb_world_time(scene.world), drift, unconverged, (long long)steps,
         1e3 * (bench_now() - began) / (double)steps);
  fflush(stdout);
  free(start);
  tb_scene_free(&ctx, &scene);
}

int main(int argc, char** argv)
{
  static const char* const names[] = {"cards", "arch", "stack", "heavy-top"};
  double minutes = argc > 1 ? atof(argv[1]) : 10;
  for (int i = 0; i < 4; i++) {
    if (argc < 3) stand(names[i], "auto", minutes), stand(names[i], "staggered", minutes);
    for (int k = 2; k < argc; k++) stand(names[i], argv[k], minutes);
  }
  return 0;
}
