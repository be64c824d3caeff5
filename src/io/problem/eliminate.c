// SPDX-License-Identifier: Apache-2.0
// Component by component of M's pattern: a dense LU factor, x_r = M⁻¹ j_rᵀ for every row r of J that touches
// the component, and a product j_s x_r for every pair of them.
//
// Cost O(size³ + rows · size² + rows² · size) per component of M with its rows of J.
#include "io/problem/eliminate.h"
#include "io/problem/matrix.h"
#include "math/dense.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { LARGEST_COMPONENT = 600 };
static const double most_entries = 4e7; // of W, before those of shared rows are added up

typedef struct {
  int count;              // components
  int *of, *place;        // component of a degree of freedom, its place there       (n)
  int* size;              // degrees of freedom                                       (count)
  int *row_ptr, *row;     // rows of J that touch each                                (count+1), (…)
  int largest, most_rows; // of any component
} Components;

static tbStatus find_components(tbArena* arena, const tbCsr* M, Components* c)
{
  size_t n = (size_t)M->rows;
  int* first = TB_TAKE(arena, int, n);
  c->of = TB_TAKE(arena, int, n);
  c->place = TB_TAKE(arena, int, n);
  c->size = TB_TAKE(arena, int, n);
  if (!first || !c->of || !c->place || !c->size) return TB_ERROR_MEMORY;
  tb_csr_components(M, first);
  for (int d = 0; d < M->rows; d++) {
    c->of[d] = first[d] == d ? c->count++ : c->of[first[d]];
    c->place[d] = c->size[c->of[d]]++;
    if (c->place[d] >= c->largest) c->largest = c->place[d] + 1;
  }
  return TB_OK;
}

// The rows of J at every component, in order. seen: the last row that was counted.
static tbStatus find_rows(tbArena* arena, const tbCsr* J, Components* c)
{
  int* seen = TB_TAKE(arena, int, (size_t)c->count);
  c->row_ptr = TB_TAKE(arena, int, (size_t)c->count + 2);
  c->row = TB_TAKE(arena, int, (size_t)J->ptr[J->rows]);
  if (!seen || !c->row_ptr || !c->row) return TB_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) { // counts, then places, each shifted by what comes before
    memset(seen, 0xff, (size_t)c->count * sizeof *seen);
    for (int r = 0; r < J->rows; r++)
      for (int e = J->ptr[r]; e < J->ptr[r + 1]; e++) {
        int k = c->of[J->idx[e]];
        if (seen[k] == r) continue;
        seen[k] = r;
        if (pass == 0) c->row_ptr[k + 2]++;
        else c->row[c->row_ptr[k + 1]++] = r;
      }
    for (int k = 0; pass == 0 && k < c->count; k++) {
      if (c->row_ptr[k + 2] > c->most_rows) c->most_rows = c->row_ptr[k + 2];
      c->row_ptr[k + 2] += c->row_ptr[k + 1];
    }
  }
  return TB_OK;
}

static double entry(const tbCsr* M, int i, int j)
{
  for (int e = M->ptr[i]; e < M->ptr[i + 1]; e++)
    if (M->idx[e] == j) return M->val[e];
  return 0;
}

// As the metric blocks of a problem are checked (problem/metric.c).
static bool is_symmetric(const tbCsr* M)
{
  for (int i = 0; i < M->rows; i++)
    for (int e = M->ptr[i]; e < M->ptr[i + 1]; e++) {
      int j = M->idx[e];
      double scale = sqrt(fabs(entry(M, i, i) * entry(M, j, j)));
      if (fabs(M->val[e] - entry(M, j, i)) > 1e-9 * scale) return false;
    }
  return true;
}

static double entries_of(const Components* c)
{
  double sum = 0;
  for (int k = 0; k < c->count; k++) {
    double rows = c->row_ptr[k + 1] - c->row_ptr[k];
    sum += rows * rows;
  }
  return sum;
}

tbStatus tb_eliminates(tbArena* arena, const tbCsr* M, const tbCsr* J, bool* yes)
{
  Components c = {0};
  *yes = false;
  TB_TRY(find_components(arena, M, &c));
  if (c.largest > LARGEST_COMPONENT || is_symmetric(M)) return TB_OK;
  TB_TRY(find_rows(arena, J, &c));
  *yes = entries_of(&c) <= most_entries;
  return TB_OK;
}

// ---- one component ----

typedef struct {
  double *M, *j, *x; // factor (size²); rows of J and what M⁻¹ makes of them (rows × size)
  int *swap, *row, *col;
  double* val; // triplets of W
  int count;
} Work;

static void take_rows(const Components* c, int k, const tbCsr* J, double* j)
{
  int size = c->size[k], first = c->row_ptr[k], rows = c->row_ptr[k + 1] - first;
  memset(j, 0, (size_t)rows * (size_t)size * sizeof *j);
  for (int r = 0; r < rows; r++) {
    int row = c->row[first + r];
    for (int e = J->ptr[row]; e < J->ptr[row + 1]; e++)
      if (c->of[J->idx[e]] == k) j[r * size + c->place[J->idx[e]]] = J->val[e];
  }
}

// dof: the component's degrees of freedom. y: room for one of each.
static tbStatus eliminate_component(tbContext* ctx, const Components* c, int k, const int* dof,
                                    const tbCsr* M, const tbCsr* J, const double* f, double* b, double* y,
                                    Work* w)
{
  int n = c->size[k], first = c->row_ptr[k], rows = c->row_ptr[k + 1] - first;
  memset(w->M, 0, (size_t)n * (size_t)n * sizeof *w->M);
  for (int i = 0; i < n; i++) {
    for (int e = M->ptr[dof[i]]; e < M->ptr[dof[i] + 1]; e++) w->M[i * n + c->place[M->idx[e]]] = M->val[e];
    y[i] = f[dof[i]];
  }
  int pivots = tb_dense_lu(n, w->M, n, w->swap);
  if (pivots < n) return tb_fail(ctx, TB_ERROR_NUMERIC, "M is singular at row %d", dof[pivots]);
  tb_dense_lu_solve(n, w->M, n, w->swap, y);
  take_rows(c, k, J, w->j);
  memcpy(w->x, w->j, (size_t)rows * (size_t)n * sizeof *w->x);
  for (int r = 0; r < rows; r++) tb_dense_lu_solve(n, w->M, n, w->swap, w->x + r * n);
  for (int r = 0; r < rows; r++) {
    b[c->row[first + r]] += tb_dot_in_order(n, w->j + r * n, y);
    for (int s = 0; s < rows; s++, w->count++) {
      w->row[w->count] = c->row[first + r], w->col[w->count] = c->row[first + s];
      w->val[w->count] = tb_dot_in_order(n, w->j + r * n, w->x + s * n);
    }
  }
  return TB_OK;
}

tbStatus tb_eliminate(tbArena* arena, const tbCsr* M, const tbCsr* J, const double* f, double* b, tbCsr* W)
{
  Components c = {0};
  TB_TRY(find_components(arena, M, &c));
  TB_TRY(find_rows(arena, J, &c));
  size_t entries = (size_t)entries_of(&c), n = (size_t)c.largest, rows = (size_t)c.most_rows;
  int *dof = TB_TAKE(arena, int, (size_t)M->rows), *start = TB_TAKE(arena, int, (size_t)c.count + 1);
  double* y = TB_TAKE(arena, double, n);
  Work w = {.M = TB_TAKE(arena, double, n* n),
            .j = TB_TAKE(arena, double, rows* n),
            .x = TB_TAKE(arena, double, rows* n),
            .swap = TB_TAKE(arena, int, n),
            .row = TB_TAKE(arena, int, entries),
            .col = TB_TAKE(arena, int, entries),
            .val = TB_TAKE(arena, double, entries)};
  if (!dof || !start || !y || !w.M || !w.j || !w.x || !w.swap || !w.row || !w.col || !w.val)
    return TB_ERROR_MEMORY;
  for (int k = 0; k < c.count; k++) start[k + 1] = start[k] + c.size[k];
  for (int d = 0; d < M->rows; d++) dof[start[c.of[d]] + c.place[d]] = d;
  for (int k = 0; k < c.count; k++)
    TB_TRY(eliminate_component(arena->ctx, &c, k, dof + start[k], M, J, f, b, y, &w));
  for (int e = 0; e < w.count; e++)
    if (!isfinite(w.val[e])) return tb_fail(arena->ctx, TB_ERROR_NUMERIC, "J M⁻¹ Jᵀ is not finite");
  return tb_csr_take_triplets(arena, J->rows, J->rows, w.count, w.row, w.col, w.val, W);
}
