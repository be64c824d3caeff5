// SPDX-License-Identifier: Apache-2.0
// Records a falling stack of boxes as a glTF file that any viewer plays.
//
//   build/record_a_run stack.glb
#include "tribo/io.h"

#include <stdio.h>

static tbStatus add_box(tbContext* ctx, tbWorld* world, const char* name, tbVec3 size, tbVec3 at, bool fixed)
{
  tbShape box = tb_shape_box(size);
  tbBodyDef def = tb_default_body_def();
  def.name = name, def.shapes = &box, def.shape_count = 1, def.position = at;
  if (fixed) def.kind = TB_BODY_FIXED;
  return tb_world_add_body(ctx, world, &def, NULL);
}

static tbStatus build(tbContext* ctx, tbWorld* world)
{
  static const char* const names[] = {"first", "second", "third"};
  tbStatus status = add_box(ctx, world, "floor", tb_vec3(6, 6, 0.2), tb_vec3(0, 0, -0.1), true);
  for (int i = 0; i < 3 && status == TB_OK; i++)
    status = add_box(ctx, world, names[i], tb_vec3(1, 1, 1), tb_vec3(0.4 * i, 0.1 * i, 0.6 + 1.3 * i), false);
  return status;
}

static tbStatus run(tbContext* ctx, tbScene* scene, const char* path)
{
  tbRecording* recording;
  tbStatus status = tb_record_begin(ctx, "gltf", path, scene, tb_default_record_options(), &recording);
  if (status != TB_OK) return status;
  for (int i = 0; i < 200 && status == TB_OK; i++) {
    tbStepReport report;
    status = tb_world_step(ctx, scene->world, &scene->step, &report);
    if (status == TB_OK) status = tb_record_step(ctx, recording, scene, &report);
  }
  return tb_record_end(ctx, recording, scene, status); // frees it; keeps the file when all went well
}

int main(int argc, char** argv)
{
  const char* path = argc > 1 ? argv[1] : "stack.glb";
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbScene scene = {.step = tb_default_step_options()};
  tbStatus status = tb_world_create(&ctx, &def, &scene.world);
  if (status == TB_OK) status = build(&ctx, scene.world);
  if (status == TB_OK) status = run(&ctx, &scene, path);
  if (status == TB_OK) printf("%s holds %g s\n", path, tb_world_time(scene.world));
  else fprintf(stderr, "%s\n", ctx.error.message);
  tb_world_free(&ctx, scene.world);
  return status == TB_OK ? 0 : 1;
}
