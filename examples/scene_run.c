// SPDX-License-Identifier: Apache-2.0
// A scene from a file, run to its end, with a checkpoint half way that the second half starts from.
//
//   scene_run SCENE.json
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>

static tbStatus run_until(tbContext* ctx, const tbScene* scene, int64_t last)
{
  tbStepReport report;
  while (tb_world_step_count(scene->world) < last) {
    tbStatus status = tb_world_step(ctx, scene->world, &scene->step, &report);
    if (status != TB_OK) return status;
    if (report.outcome != TB_CONVERGED)
      printf("t = %g: residual %.1e\n", tb_world_time(scene->world), report.residual.fclib);
  }
  return TB_OK;
}

static tbStatus run(tbContext* ctx, const char* path)
{
  static const char checkpoint[] = "scene_run.ckp";
  tbScene scene = {0}, resumed = {0};
  tbStatus status = tb_scene_load(ctx, path, &scene);
  int64_t last = status == TB_OK ? llround(scene.time / scene.step.dt) : 0;
  if (status == TB_OK) status = run_until(ctx, &scene, last / 2);
  if (status == TB_OK) status = tb_checkpoint_save(ctx, checkpoint, &scene);
  if (status == TB_OK) status = tb_checkpoint_load(ctx, checkpoint, &resumed);
  if (status == TB_OK) status = run_until(ctx, &scene, last);
  if (status == TB_OK) status = run_until(ctx, &resumed, last);
  if (status == TB_OK)
    printf("%s: %lld steps, state %016llx, and %016llx from the checkpoint\n", scene.name, (long long)last,
           (unsigned long long)tb_world_hash(scene.world), (unsigned long long)tb_world_hash(resumed.world));
  tb_scene_free(ctx, &scene);
  tb_scene_free(ctx, &resumed);
  remove(checkpoint);
  return status;
}

int main(int argc, char** argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: scene_run SCENE.json\n");
    return 2;
  }
  tbContext ctx = tb_default_context();
  tbStatus status = run(&ctx, argv[1]);
  if (status != TB_OK) fprintf(stderr, "%s\n", ctx.error.message);
  return status != TB_OK;
}
