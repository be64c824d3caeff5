// SPDX-License-Identifier: Apache-2.0
// Bodies that pass through others where a run starts: close features of surfaces that cross do not say how
// deep, and opening them would tangle what deforms. Bodies of nodes go before that, and rigid ones, whose
// shapes know what is inside, where it was not enough. Each is moved as a whole, along faces, edges and
// corners of a cube, farther and farther, until it is free of all others on one of them; then back, by
// halves, to where it only just is. The last bodies of a world move first: the others may have made way then.
#include "step/ipc_moves.h"

#include "base/clock.h"
#include "base/stop.h"

#include <string.h>

static const double WIDER = 1.6; // times the last distance that was too short

enum { TIMES = 40, REFINE = 5 };

static bool is_joined(const tbWorld* w, int body)
{
  for (size_t i = 0; i < w->joint.count; i++)
    if (tb_joints(w)[i].a == body || tb_joints(w)[i].b == body) return true;
  return false;
}

// A frame, or a body of nodes, in this order, that nothing holds.
static bool is_movable(const tbIpc* ipc, int unit)
{
  if (unit < ipc->nframe) return !is_joined(ipc->world, ipc->frame[unit].body);
  const tbIpcNodes* n = &ipc->nodes[unit - ipc->nframe];
  return !tb_ipc_is_held(ipc, n) && n->of.nattached == 0;
}

static int body_of(const tbIpc* ipc, int unit)
{
  return unit < ipc->nframe ? ipc->frame[unit].body : ipc->nodes[unit - ipc->nframe].body;
}

// How many pairs of triangles of a body, moved so far, cross those of others.
static tbStatus count_crossings(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, int unit,
                                tbVec3 move, int64_t* count)
{
  tbArray met = TB_ARRAY(tbSurfacesMeet);
  const tbIpcNodes* n = unit < ipc->nframe ? NULL : &ipc->nodes[unit - ipc->nframe];
  int first = n ? n->block : unit, last = n ? first + n->of.fem->nnode : unit + 1, body = body_of(ipc, unit);
  tbVec3* at = n ? m->node : m->frame;
  memset(m->frame, 0, (size_t)ipc->nframe * sizeof *m->frame);
  memset(m->turn, 0, (size_t)ipc->nframe * sizeof *m->turn);
  memset(m->node, 0, (size_t)ipc->nblock * sizeof *m->node);
  for (int k = first; k < last; k++) at[k] = move;
  tb_ipc_apply(work, ipc, m);
  tbStatus status = tb_surfaces_list(ctx, &ipc->surfaces, &met);
  *count = 0;
  for (size_t i = 0; i < met.count; i++) {
    const tbSurfacesMeet* with = (const tbSurfacesMeet*)met.data + i;
    if (with->a != with->b && (with->a == body || with->b == body))
      *count += with->count.crossing + with->count.overlapping;
  }
  tb_array_free(ctx, &met);
  return status;
}

// The same, and back again.
static tbStatus try_move(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, int unit, tbVec3 move,
                         int64_t* count)
{
  TB_TRY(count_crossings(ctx, work, ipc, m, unit, move, count));
  tb_ipc_take_back(work, ipc, m);
  return TB_OK;
}

// Faces, edges and corners of a cube.
static tbVec3 direction_at(int i)
{
  int k = i < 13 ? i : i + 1; // without (0, 0, 0)
  return tb_normalize3(tb_vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
}

// The shortest move along one direction that is within `high` and free, given that `high` is and `low` is
// not.
static tbStatus refine(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, int unit, tbVec3 along,
                       double low, double* high)
{
  for (int i = 0; i < REFINE; i++) {
    double middle = 0.5 * (low + *high);
    int64_t count;
    TB_TRY(try_move(ctx, work, ipc, m, unit, tb_scale3(middle, along), &count));
    if (count == 0) *high = middle;
    else low = middle;
  }
  return TB_OK;
}

static tbStatus free_unit(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, int unit, bool* freed)
{
  int64_t count;
  double low = 0, best = INFINITY;
  tbVec3 move = tb_zero3();
  TB_TRY(try_move(ctx, work, ipc, m, unit, move, &count));
  if (count == 0) return TB_OK;
  for (int k = 0; k < TIMES && !(best < INFINITY); k++) {
    double high = low > 0 ? WIDER * low : TB_IPC_ASKED * ipc->dhat;
    for (int i = 0; i < 26; i++) {
      TB_TRY(tb_check_interrupt(ctx));
      if (tb_seconds() > ipc->deadline) return TB_OK;
      double far = high;
      TB_TRY(try_move(ctx, work, ipc, m, unit, tb_scale3(high, direction_at(i)), &count));
      if (count > 0) continue;
      TB_TRY(refine(ctx, work, ipc, m, unit, direction_at(i), low, &far));
      if (far < best) best = far, move = tb_scale3(far, direction_at(i));
    }
    low = high;
  }
  if (!(best < INFINITY)) return TB_OK;
  *freed = true;
  tbVec3 farther = tb_scale3(1 + ipc->most_dhat / best, move); // out of the barriers, too, if that is free
  TB_TRY(try_move(ctx, work, ipc, m, unit, farther, &count));
  if (count == 0) move = farther;
  return count_crossings(ctx, work, ipc, m, unit, move, &count);
}

tbStatus tb_ipc_free(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, bool frames, bool* freed)
{
  tbIntersections met;
  *freed = false;
  TB_TRY(tb_surfaces_count(ctx, &ipc->surfaces, &met));
  bool any = met.crossing + met.overlapping > 0;
  for (int unit = ipc->nframe + ipc->nnodes - 1; any && unit >= (frames ? 0 : ipc->nframe); unit--)
    if (is_movable(ipc, unit)) TB_TRY(free_unit(ctx, work, ipc, m, unit, freed));
  return TB_OK;
}
