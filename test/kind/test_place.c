// SPDX-License-Identifier: Apache-2.0
// Where bodies are in a problem, and what looking at them leaves as it was.
#include "kind/deformables.h"
#include "step/soft_stage.h"
#include "step/assemble.h"
#include "step/unconstrained.h"

// A block with two corners attached to a ball, and a ball that nothing touches.
static Stage block_on_ball(tbBodyId* block, tbBodyId* ball, tbBodyId* alone)
{
  Stage s = soft_stage(0.4, 0.01);
  static const int corner[2] = {0, 1};
  *alone = stage_throw(&s, tb_shape_sphere(0.05), 1, tb_vec3(5, 0, 5), tb_zero3());
  *ball = stage_throw(&s, tb_shape_sphere(0.05), 2, tb_vec3(-1, 0, 1), tb_zero3());
  static tbPinDef pin;
  pin = tb_default_pin_def();
  pin.nodes = corner, pin.node_count = 2, pin.body = *ball;
  tbDeformableDef def = soft_at(1e5, tb_vec3(0, 0, 1), tb_vec3(0, 0, 1));
  def.pins = &pin, def.pin_count = 1;
  *block = add_box(&s, tb_vec3(0.4, 0.3, 0.2), 2, def);
  return s;
}

TEST(a_body_is_at_an_offset_in_a_block_of_the_metric)
{
  tbBodyId block, ball, alone;
  Stage s = block_on_ball(&block, &ball, &alone);
  tbArena arena;
  tb_arena_init(&arena, &s.ctx);
  size_t n = s.world->body.count;
  tbUnconstrained* unconstrained = TB_TAKE(&arena, tbUnconstrained, n);
  tbTransform* centre = TB_TAKE(&arena, tbTransform, n);
  tb_free_motion(s.world, s.step.dt, 0, (int)s.world->body.count, unconstrained);
  for (size_t i = 0; i < n; i++) centre[i] = unconstrained[i].at;
  tbBodyStep* step;
  tbAssembly a;
  CHECK_OK(&s.ctx, tb_free_motion_solved(&s.ctx, &arena, s.world->cache, s.world, &s.step, &step));
  CHECK_OK(&s.ctx,
           tb_assemble(&s.ctx, &arena, s.world, &s.step, false, unconstrained, centre, step, NULL, 0, &a));
  int size = 0;
  for (size_t i = 0; i < n; i++) {
    const tbPlace* p = &a.place[i];
    if (p->dof < 0) continue;
    REQUIRE(p->block >= 0 && p->block < a.problem->nblock);
    const tbMetricBlock* b = &a.problem->block[p->block];
    CHECK(b->dof + p->offset == p->dof && p->offset < b->size);
    size += b->size;
  }
  CHECK(a.place[alone.index].dof == -1); // nothing touches it
  CHECK(a.place[ball.index].dof == 0 && a.place[block.index].dof == 6 && size == a.problem->ndof);
  CHECK(tb_body_dofs(s.world, block) == 3 * tb_body_node_count(s.world, block) &&
        tb_body_dofs(s.world, ball) == 6);
  CHECK(a.problem->ndof == 6 + 3 * tb_body_node_count(s.world, block));
  CHECK(a.problem->ncontact == 2); // the two corners
  tb_assembly_free(&a);
  tb_arena_free(&arena);
  stage_close(&s);
}

// Energies are asked of a constant world, by several threads at once: no result may be kept in it.
TEST(energies_write_nothing)
{
  tbBodyId block, ball, alone;
  Stage s = block_on_ball(&block, &ball, &alone);
  stage_run(&s, 3);
  const tbFemBody* fem = deformable_at(s.world, 0)->fem;
  double before = tb_world_energy(s.world).elastic;
  CHECK(before > 0);
  for (int e = 0; e < fem->nelement[0]; e++) fem->energy[e] = -1;
  CHECK(tb_world_energy(s.world).elastic == before);
  for (int e = 0; e < fem->nelement[0]; e++) CHECK(fem->energy[e] == -1);
  stage_close(&s);
}
