// SPDX-License-Identifier: Apache-2.0
// Triangular solves with the supernodal factor:  L y = P b  and  Lᵀ P x = y.
//
// Right-hand sides are taken 4 or 8 at a time (unused ones are zero) and kept in the order of elimination, as
// the panels want them (cholesky_panels.c).
#include "math/cholesky_factor.h"

#include <string.h>

// Copies sides first … first+sides−1 into rows of `width`, from row order[k] (or k).
static void gather(int n, int width, int nrhs, int first, int sides, const int* order, const double* b,
                   double* y)
{
  for (int k = 0; k < n; k++, y += width) {
    const double* from = b + (size_t)(order ? order[k] : k) * nrhs + first;
    for (int c = 0; c < sides; c++) y[c] = from[c];
    for (int c = sides; c < width; c++) y[c] = 0;
  }
}

static void scatter(int n, int width, int nrhs, int first, int sides, const int* order, const double* y,
                    double* x)
{
  for (int k = 0; k < n; k++, y += width) {
    double* to = x + (size_t)(order ? order[k] : k) * nrhs + first;
    for (int c = 0; c < sides; c++) to[c] = y[c];
  }
}

static int width_for(int nrhs) { return nrhs > 4 ? 8 : 4; }

size_t tb_cholesky_scratch(const tbCholesky* f, int nrhs)
{
  return (size_t)width_for(nrhs) * ((size_t)f->n + (size_t)f->max_rows);
}

static tbCholeskyRun whole(const tbCholesky* f)
{
  return (tbCholeskyRun){.count = f->supernodes, .rows = f->rows};
}

static tbStatus run(tbContext* ctx, const tbCholesky* f, int nrhs, const double* b, double* x,
                    double* scratch, bool down, bool up)
{
  if (!f->factored) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the matrix has not been factored");
  if (nrhs < 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d right-hand sides", nrhs);
  for (int first = 0; first < nrhs;) {
    int width = width_for(nrhs - first), sides = nrhs - first < width ? nrhs - first : width;
    double *y = scratch, *sums = scratch + (size_t)width * f->n;
    gather(f->n, width, nrhs, first, sides, down ? f->perm : NULL, b, y);
    if (down) tb_cholesky_down(f, width, whole(f), y, sums, !up);
    if (up) tb_cholesky_up(f, width, whole(f), y);
    scatter(f->n, width, nrhs, first, sides, up ? f->perm : NULL, y, x);
    first += sides;
  }
  return TB_OK;
}

tbStatus tb_cholesky_solve(tbContext* ctx, const tbCholesky* f, int nrhs, const double* b, double* x,
                           double* scratch)
{
  return run(ctx, f, nrhs, b, x, scratch, true, true);
}

tbStatus tb_cholesky_forward(tbContext* ctx, const tbCholesky* f, int nrhs, const double* b, double* y,
                             double* scratch)
{
  return run(ctx, f, nrhs, b, y, scratch, true, false);
}

tbStatus tb_cholesky_backward(tbContext* ctx, const tbCholesky* f, int nrhs, const double* y, double* x,
                              double* scratch)
{
  return run(ctx, f, nrhs, y, x, scratch, false, true);
}

// A column's way to the root: the first row under a supernode is in its parent.
tbStatus tb_cholesky_reach(tbArena* arena, const tbCholesky* f, int count, const int* rows,
                           tbCholeskyReach* out)
{
  int* column = TB_TAKE(arena, int, (size_t)f->n); // of each row
  int* home = TB_TAKE(arena, int, (size_t)f->n);   // supernode of each column
  bool* reached = TB_TAKE(arena, bool, (size_t)f->supernodes);
  int *place = TB_TAKE(arena, int, (size_t)count), *list = TB_TAKE(arena, int, (size_t)f->supernodes);
  if (!column || !home || !reached || !place || !list) return TB_ERROR_MEMORY;
  for (int k = 0; k < f->n; k++) column[f->perm[k]] = k;
  for (int s = 0; s < f->supernodes; s++)
    for (int k = f->start[s]; k < f->start[s + 1]; k++) home[k] = s;
  for (int i = 0; i < count; i++) {
    place[i] = column[rows[i]];
    for (int s = home[place[i]]; !reached[s];) {
      reached[s] = true;
      if (tb_cholesky_rows(f, s) > 0) s = home[f->rows[f->below[s]]];
    }
  }
  *out = (tbCholeskyReach){.count = count, .place = place, .supernode = list};
  for (int s = 0; s < f->supernodes; s++)
    if (reached[s]) list[out->supernodes++] = s;
  return TB_OK;
}

void tb_cholesky_solve_reach(const tbCholesky* f, const tbCholeskyReach* r, int nrhs, const double* b,
                             double* x, double* scratch)
{
  tbCholeskyRun way = {.count = r->supernodes, .list = r->supernode, .rows = f->rows};
  for (int first = 0; first < nrhs;) {
    int width = width_for(nrhs - first), sides = nrhs - first < width ? nrhs - first : width;
    double *y = scratch, *sums = scratch + (size_t)width * f->n;
    for (int i = 0; i < r->supernodes; i++) {
      int s = r->supernode[i];
      memset(y + (size_t)f->start[s] * width, 0, (size_t)tb_cholesky_cols(f, s) * width * sizeof *y);
    }
    for (int i = 0; i < r->count; i++)
      for (int c = 0; c < sides; c++) y[(size_t)r->place[i] * width + c] = b[(size_t)i * nrhs + first + c];
    tb_cholesky_down(f, width, way, y, sums, true);
    tb_cholesky_up(f, width, way, y);
    for (int i = 0; i < r->count; i++)
      for (int c = 0; c < sides; c++) x[(size_t)i * nrhs + first + c] = y[(size_t)r->place[i] * width + c];
    first += sides;
  }
}
