// SPDX-License-Identifier: Apache-2.0
// Holding, letting go and pushing nodes of deformable bodies between steps: arguments are checked here, the
// body's kind does it.
#include "scene/kind.h"

#include "tribo/change.h"

// The place of a body whose nodes can be held; so many of its nodes must exist.
static tbStatus find(tbContext* ctx, const tbWorld* w, tbBodyId id, const int* nodes, int count, int* place)
{
  TB_TRY(tb_body_find(ctx, w, id, place));
  const tbBody* b = &tb_bodies(w)[*place];
  if (!b->kind->push) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is not a deformable body", b->name);
  if (count > 0 && !b->kind->pin)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "%s is a reduced body: its pins cannot change, because its modes depend on them", b->name);
  if (count < 0 || (count > 0 && !nodes))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s has no nodes", b->name);
  int have = tb_nodes_of(b).count;
  for (int i = 0; i < count; i++)
    if (nodes[i] < 0 || nodes[i] >= have)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s holds node %d; it has %d nodes", b->name, nodes[i],
                     have);
  return TB_OK;
}

tbStatus tb_body_pin(tbContext* ctx, tbWorld* w, tbBodyId id, const tbPinDef* pin)
{
  int place;
  TB_TRY(find(ctx, w, id, pin->nodes, pin->node_count, &place));
  return pin->node_count > 0 ? tb_bodies(w)[place].kind->pin(ctx, w, place, pin) : TB_OK;
}

tbStatus tb_body_unpin(tbContext* ctx, tbWorld* w, tbBodyId id, const int* nodes, int node_count)
{
  int place;
  TB_TRY(find(ctx, w, id, nodes, node_count, &place));
  if (node_count > 0) tb_bodies(w)[place].kind->unpin(ctx, w, place, nodes, node_count);
  return TB_OK;
}

tbStatus tb_body_apply_nodes(tbContext* ctx, tbWorld* w, tbBodyId id, const tbVec3* forces)
{
  int place;
  TB_TRY(find(ctx, w, id, NULL, 0, &place));
  tbBody* b = &tb_bodies(w)[place];
  for (int i = 0; i < tb_nodes_of(b).count; i++)
    if (!isfinite(forces[i].x) || !isfinite(forces[i].y) || !isfinite(forces[i].z))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "a force must be finite");
  b->kind->push(b, forces);
  return TB_OK;
}
