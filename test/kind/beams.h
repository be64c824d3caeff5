// SPDX-License-Identifier: Apache-2.0
// Beams of a few modes, for a stage.
#ifndef TB_TEST_KIND_BEAMS_H
#define TB_TEST_KIND_BEAMS_H

#include "step/soft_stage.h"

static inline tbDeformableDef reduced_def(int modes, double young)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.modes = modes, def.soft.model = TB_ELASTIC_LINEAR, def.soft.young = young, def.self_contact = false;
  return def;
}

static inline tbBodyId add_beam(Stage* s, tbVec3 size, int nx, int ny, int nz, tbDeformableDef def)
{
  tbTetMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, size, (int[3]){nx, ny, nz}, 5, &mesh));
  def.solid = mesh;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

#endif
