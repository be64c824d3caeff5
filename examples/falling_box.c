// SPDX-License-Identifier: Apache-2.0
// A box falls onto the ground: build a world by hand, step it, look at it.
#include "tribo/step.h"

#include <stdio.h>

static tbStatus build(tbContext* ctx, tbWorld** world, tbBodyId* box)
{
  tbWorldDef world_def = tb_default_world_def();
  tbStatus status = tb_world_create(ctx, &world_def, world);
  if (status != TB_OK) return status;

  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbBodyDef ground = tb_default_body_def();
  ground.name = "ground", ground.kind = TB_BODY_FIXED;
  ground.shapes = &plane, ground.shape_count = 1;
  status = tb_world_add_body(ctx, *world, &ground, NULL);
  if (status != TB_OK) return status;

  tbShape cube = tb_shape_box(tb_vec3(1, 1, 1));
  tbBodyDef def = tb_default_body_def();
  def.name = "box", def.mass = 2;
  def.shapes = &cube, def.shape_count = 1;
  def.position = tb_vec3(0, 0, 1.5);
  def.velocity = tb_vec3(1, 0, 0);
  return tb_world_add_body(ctx, *world, &def, box);
}

static tbStatus run(tbContext* ctx, tbWorld* world, tbBodyId box)
{
  tbStepOptions options = tb_default_step_options();
  printf("    t        x        z   contacts  residual\n");
  for (int i = 1; i <= 100; i++) {
    tbStepReport report;
    tbStatus status = tb_world_step(ctx, world, &options, &report);
    if (status != TB_OK) return status;
    tbVec3 p = tb_body_state(world, box).position;
    if (i % 10 == 0)
      printf("%5.2f %8.4f %8.4f %10d  %.1e\n", tb_world_time(world), p.x, p.z, report.contacts,
             report.residual.fclib);
  }
  return TB_OK;
}

int main(void)
{
  tbContext ctx = tb_default_context();
  tbWorld* world = NULL;
  tbBodyId box;
  tbStatus status = build(&ctx, &world, &box);
  if (status == TB_OK) status = run(&ctx, world, box);
  if (status != TB_OK) fprintf(stderr, "%s\n", ctx.error.message);
  tb_world_free(&ctx, world);
  return status != TB_OK;
}
