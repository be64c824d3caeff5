// SPDX-License-Identifier: Apache-2.0
// Looking at the nodes of bodies that have some.
#include "scene/kind.h"

static tbNodes find(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? (tbNodes){0} : tb_nodes_of(&tb_bodies(w)[place]);
}

int tb_body_node_count(const tbWorld* w, tbBodyId id) { return find(w, id).count; }
const tbVec3* tb_body_nodes(const tbWorld* w, tbBodyId id) { return find(w, id).x; }
const tbVec3* tb_body_node_velocities(const tbWorld* w, tbBodyId id) { return find(w, id).v; }
int tb_body_triangle_count(const tbWorld* w, tbBodyId id) { return find(w, id).ntriangle; }
const int (*tb_body_triangles(const tbWorld* w, tbBodyId id))[3] { return find(w, id).triangle; }

tbStatus tb_body_set_nodes(tbContext* ctx, tbWorld* w, tbBodyId id, const tbVec3* positions,
                           const tbVec3* velocities)
{
  int count = find(w, id).count;
  if (count == 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is not a deformable body", tb_body_name(w, id));
  for (int i = 0; i < count; i++)
    if (!tb_finite3(positions[i]) || !tb_finite3(velocities[i]))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "node %d of %s must be finite", i, tb_body_name(w, id));
  int place = tb_body_place(w, id);
  if (!tb_bodies(w)[place].kind->set_nodes)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "%s is an animated mesh: its nodes follow its frames and cannot be set",
                   tb_body_name(w, id));
  tb_bodies(w)[place].kind->set_nodes(w, place, positions, velocities);
  return TB_OK;
}

int tb_body_mode_count(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id), count = 0;
  if (place >= 0 && tb_bodies(w)[place].kind->modes)
    tb_bodies(w)[place].kind->modes(&tb_bodies(w)[place], &count);
  return count;
}

const double* tb_body_modes(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id), count;
  const tbBody* b = place < 0 ? NULL : &tb_bodies(w)[place];
  return b && b->kind->modes ? b->kind->modes(b, &count) : NULL;
}

tbStatus tb_body_set_modes(tbContext* ctx, tbWorld* w, tbBodyId id, const double* q, const double* qd)
{
  int count = tb_body_mode_count(w, id);
  if (count == 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is not a reduced body", tb_body_name(w, id));
  for (int k = 0; k < count; k++)
    if (!isfinite(q[k]) || (qd && !isfinite(qd[k])))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "mode %d of %s must be finite", k, tb_body_name(w, id));
  int place = tb_body_place(w, id);
  tb_bodies(w)[place].kind->set_modes(w, place, q, qd);
  return TB_OK;
}
