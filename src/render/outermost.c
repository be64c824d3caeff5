// SPDX-License-Identifier: Apache-2.0
// The balls on the outside of many. A ball with others as large beyond it in all eight octants lies in their
// convex hull: whatever half-space contains a part of it contains a part of one of them. Octants are looked
// at cell by cell of a grid, which drops no ball of the hull and keeps few others.
//
// Cost      two passes over the balls and eight over the grid.
#include "render/view.h"

enum { SIDE = 32, CELLS = SIDE * SIDE * SIDE };

typedef struct {
  double lo[3], scale[3]; // of cells per metre
} Grid;

static Grid grid_over(const tbBall* ball, size_t count)
{
  tbVec3 lo = ball[0].centre, hi = lo;
  double low[3], high[3];
  Grid g;
  for (size_t i = 1; i < count; i++) lo = tb_min3(lo, ball[i].centre), hi = tb_max3(hi, ball[i].centre);
  tb_store3(low, lo), tb_store3(high, hi);
  for (int k = 0; k < 3; k++) g.lo[k] = low[k], g.scale[k] = high[k] > low[k] ? SIDE / (high[k] - low[k]) : 0;
  return g;
}

static void cell_of(const Grid* g, tbVec3 place, int cell[3])
{
  double x[3];
  tb_store3(x, place);
  for (int k = 0; k < 3; k++) {
    double at = (x[k] - g->lo[k]) * g->scale[k];
    cell[k] = at > 0 ? at < SIDE ? (int)at : SIDE - 1 : 0;
  }
}

static int number_of(const int cell[3]) { return (cell[0] * SIDE + cell[1]) * SIDE + cell[2]; }

// The largest radius in a cell and all beyond it in an octant, for every cell, from the far corner on.
static void sweep(const double* largest, const int sign[3], double* beyond)
{
  for (int i = 0; i < CELLS; i++) {
    int cell[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
    for (int k = 0; k < 3; k++) cell[k] = sign[k] > 0 ? SIDE - 1 - cell[k] : cell[k];
    double most = largest[number_of(cell)];
    for (int k = 0; k < 3; k++) {
      int next[3] = {cell[0], cell[1], cell[2]};
      next[k] += sign[k];
      if (next[k] < 0 || next[k] >= SIDE) continue;
      double there = beyond[number_of(next)];
      most = there > most ? there : most;
    }
    beyond[number_of(cell)] = most;
  }
}

// Lowers `inner` of each cell to what lies beyond it in one octant, on all three axes.
static void lower(const int sign[3], const double* beyond, double* inner)
{
  for (int i = 0; i < CELLS; i++) {
    int next[3] = {i / (SIDE * SIDE) + sign[0], i / SIDE % SIDE + sign[1], i % SIDE + sign[2]};
    bool inside = true;
    for (int k = 0; k < 3; k++) inside &= next[k] >= 0 && next[k] < SIDE;
    double there = inside ? beyond[number_of(next)] : -1;
    if (there < inner[i]) inner[i] = there;
  }
}

tbStatus tb_outermost_balls(tbContext* ctx, const tbBall* ball, size_t count, tbArray* out)
{
  int cell[3];
  if (!count) return TB_OK;
  double* largest = TB_NEW(ctx, double, 3 * CELLS);
  if (!largest) return TB_ERROR_MEMORY;
  double *beyond = largest + CELLS, *inner = beyond + CELLS;
  Grid g = grid_over(ball, count);
  for (int i = 0; i < CELLS; i++) largest[i] = -1, inner[i] = INFINITY;
  for (size_t i = 0; i < count; i++) {
    cell_of(&g, ball[i].centre, cell);
    double* most = &largest[number_of(cell)];
    *most = ball[i].radius > *most ? ball[i].radius : *most;
  }
  for (int octant = 0; octant < 8; octant++) {
    int sign[3] = {octant & 1 ? 1 : -1, octant & 2 ? 1 : -1, octant & 4 ? 1 : -1};
    sweep(largest, sign, beyond);
    lower(sign, beyond, inner);
  }
  tbStatus status = TB_OK;
  for (size_t i = 0; i < count && status == TB_OK; i++) {
    cell_of(&g, ball[i].centre, cell);
    if (!(ball[i].radius <= inner[number_of(cell)])) status = tb_array_push(ctx, out, &ball[i], 1);
  }
  tb_free(ctx, largest);
  return status;
}
