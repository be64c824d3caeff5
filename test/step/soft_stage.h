// SPDX-License-Identifier: Apache-2.0
// A stage for the scheme `implicit`, and deformable bodies to put on it.
#ifndef TB_TEST_SOFT_STAGE_H
#define TB_TEST_SOFT_STAGE_H

#include "known/worlds.h"
#include "test.h"

static inline tbDeformableDef soft_at(double young, tbVec3 at, tbVec3 velocity)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.young = young, def.soft.stiffness_damping = 0.005;
  def.cloth.stiffness_damping = 0.005;
  def.position = at, def.velocity = velocity;
  return def;
}

static inline Stage soft_stage(double mu, double dt)
{
  Stage s = stage_open(mu, 0);
  s.step.scheme = "implicit", s.step.dt = dt, s.step.solver.tolerance = 1e-6;
  return s;
}

static inline tbBodyId add_box(Stage* s, tbVec3 size, int cells, tbDeformableDef def)
{
  tbTetMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  int n[3] = {cells, cells, cells};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, size, n, 5, &mesh));
  def.solid = mesh;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

static inline tbBodyId add_cloth(Stage* s, double size, int cells, tbDeformableDef def)
{
  tbMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_cloth_grid(&s->ctx, size, size, cells, cells, &mesh));
  def.sheet = mesh;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_mesh_free(&s->ctx, mesh);
  return id;
}

#endif
