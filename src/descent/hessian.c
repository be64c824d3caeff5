// SPDX-License-Identifier: Apache-2.0
#include "descent/hessian.h"

#include "base/array.h"
#include "base/sort.h"
#include "base/stop.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

static const size_t MOST_BYTES = (size_t)1 << 30; // of the factor
static const double CG_TOLERANCE = 1e-13;

typedef struct {
  int row, col;
} Pair;

static int by_place(const void* a, const void* b)
{
  const Pair *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->col > y->col) - (x->col < y->col);
}

static tbStatus push_pair(tbContext* ctx, tbArray* pairs, int a, int b)
{
  Pair pair = {a > b ? a : b, a > b ? b : a};
  return tb_array_push(ctx, pairs, &pair, 1);
}

// Cells of sparse blocks that A couples, and every cell with itself.
static tbStatus couple_metric(tbContext* ctx, const tbProblem* p, const tbCells* c, tbArray* pairs)
{
  for (int i = 0; i < c->count; i++) {
    const tbMetricBlock* m = &p->block[c->block[i]];
    TB_TRY(push_pair(ctx, pairs, i, i));
    if (m->kind != TB_METRIC_SPARSE) continue;
    int row = c->dof[i] - m->dof, last = -1;
    for (int e = m->ptr[row]; e < m->ptr[row + 1]; e++) {
      int other = c->of_dof[m->dof + m->col[e]];
      if (other < i && other != last) TB_TRY(push_pair(ctx, pairs, i, other));
      last = other;
    }
  }
  return TB_OK;
}

static tbStatus couple_contacts(tbContext* ctx, const tbProblem* p, const tbCells* c, tbArray* pairs)
{
  for (int k = 0; k < p->ncontact; k++)
    for (int x = p->jac_adr[k]; x < p->jac_adr[k + 1]; x++)
      for (int y = p->jac_adr[k]; y <= x; y++) {
        int a0 = c->of_dof[p->jac_dof[x]], a1 = c->of_dof[p->jac_dof[x] + p->jac_width[x] - 1];
        int b0 = c->of_dof[p->jac_dof[y]], b1 = c->of_dof[p->jac_dof[y] + p->jac_width[y] - 1];
        for (int a = a0; a <= a1; a++)
          for (int b = b0; b <= b1; b++)
            if (a != b) TB_TRY(push_pair(ctx, pairs, a, b));
      }
  return TB_OK;
}

// The pattern from pairs in order, each once.
static tbStatus lay_out(tbArena* arena, const tbProblem* p, const Pair* pair, size_t count, tbHessian* h)
{
  const tbCells* c = h->cells;
  h->ptr = TB_TAKE(arena, int, (size_t)c->count + 1);
  h->col = TB_TAKE(arena, int, count), h->at = TB_TAKE(arena, int, count);
  h->row_ptr = TB_TAKE(arena, int, (size_t)p->ndof + 1);
  if (!h->ptr || !h->col || !h->at || !h->row_ptr) return TB_ERROR_MEMORY;
  size_t e = 0, total = 0;
  for (int i = 0; i < c->count; i++) {
    int width = 0;
    for (; e < count && pair[e].row == i; e++) {
      h->col[e] = pair[e].col, h->at[e] = width;
      width += tb_cell_size(c, pair[e].col);
    }
    h->ptr[i + 1] = (int)e;
    for (int d = c->dof[i]; d < c->dof[i + 1]; d++) h->row_ptr[d + 1] = (int)(total += (size_t)width);
  }
  h->row_idx = TB_TAKE(arena, int, total), h->value = TB_TAKE(arena, double, total);
  if (!h->row_idx || !h->value) return TB_ERROR_MEMORY;
  for (int i = 0; i < c->count; i++)
    for (int d = c->dof[i]; d < c->dof[i + 1]; d++)
      for (int k = h->ptr[i], at = h->row_ptr[d]; k < h->ptr[i + 1]; k++)
        for (int x = c->dof[h->col[k]]; x < c->dof[h->col[k] + 1]; x++) h->row_idx[at++] = x;
  return TB_OK;
}

static tbStatus find_pattern(tbContext* ctx, tbArena* arena, const tbProblem* p, tbHessian* h)
{
  tbArray pairs = TB_ARRAY(Pair);
  tbStatus status = couple_metric(ctx, p, h->cells, &pairs);
  if (status == TB_OK) status = couple_contacts(ctx, p, h->cells, &pairs);
  if (status == TB_OK) {
    Pair* pair = pairs.data;
    size_t kept = 0;
    tb_sort(pair, pairs.count, sizeof *pair, by_place);
    for (size_t i = 0; i < pairs.count; i++)
      if (kept == 0 || by_place(&pair[kept - 1], &pair[i]) != 0) pair[kept++] = pair[i];
    status = lay_out(arena, p, pair, kept, h);
  }
  tb_array_free(ctx, &pairs);
  return status;
}

tbStatus tb_hessian_begin(tbContext* ctx, tbArena* arena, const tbRelaxed* r, const tbCells* cells,
                          tbHessian* out)
{
  const tbProblem* p = r->problem;
  *out = (tbHessian){.relaxed = r, .cells = cells};
  TB_TRY(find_pattern(ctx, arena, p, out));
  tbCholeskyOptions how = {.ordering = TB_ORDERING_DEGREE, .most_bytes = MOST_BYTES};
  TB_TRY(tb_cholesky_analyze(ctx, p->ndof, out->row_ptr, out->row_idx, &how, &out->factor));
  size_t room = (size_t)p->nrow + 6 * (size_t)p->ndof;
  if (out->factor && tb_cholesky_scratch(out->factor, 1) > room) room = tb_cholesky_scratch(out->factor, 1);
  out->P = TB_TAKE(arena, double, (size_t)cells->adr[cells->count]);
  out->work = TB_TAKE(arena, double, room);
  if (out->P && out->work) return TB_OK;
  tb_hessian_end(ctx, out);
  return TB_ERROR_MEMORY;
}

void tb_hessian_end(tbContext* ctx, tbHessian* h)
{
  tb_cholesky_free(ctx, h->factor);
  h->factor = NULL;
}

// Where block (row, col) of cells begins within the rows of `row`.
static int place_of(const tbHessian* h, int row, int col)
{
  int lo = h->ptr[row], hi = h->ptr[row + 1] - 1;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (h->col[mid] < col) lo = mid + 1;
    else hi = mid;
  }
  return h->at[lo];
}

static void add_metric(const tbProblem* p, tbHessian* h)
{
  const tbCells* c = h->cells;
  for (int i = 0; i < c->count; i++) {
    const tbMetricBlock* m = &p->block[c->block[i]];
    int size = tb_cell_size(c, i);
    for (int a = 0; a < size; a++) {
      double* row = h->value + h->row_ptr[c->dof[i] + a];
      if (m->kind != TB_METRIC_SPARSE) {
        double* to = row + place_of(h, i, i);
        for (int b = 0; b < size; b++) to[b] += c->own[c->adr[i] + a * size + b];
        continue;
      }
      int own = c->dof[i] + a - m->dof;
      for (int e = m->ptr[own]; e < m->ptr[own + 1]; e++) {
        int dof = m->dof + m->col[e], other = c->of_dof[dof];
        if (other <= i) row[place_of(h, i, other) + dof - c->dof[other]] += m->value[e];
      }
    }
  }
}

// Σ J_xᵀ D J_y over two column blocks of one contact, where it lies in the lower half.
static void add_columns(const tbProblem* p, const double* D, int rows, int x, int y, tbHessian* h)
{
  const tbCells* c = h->cells;
  const double *X = p->jac + p->jac_val_adr[x], *Y = p->jac + p->jac_val_adr[y];
  int wx = p->jac_width[x], wy = p->jac_width[y];
  for (int j = 0; j < wy; j++) {
    double DY[TB_MAX_ROWS] = {0}, any = 0;
    for (int a = 0; a < rows; a++)
      for (int b = 0; b < rows; b++) DY[a] += D[a * rows + b] * Y[b * wy + j];
    for (int a = 0; a < rows; a++) any += fabs(DY[a]);
    if (any == 0) continue;
    int dof_j = p->jac_dof[y] + j, cell_j = c->of_dof[dof_j];
    for (int i = 0; i < wx; i++) {
      int dof_i = p->jac_dof[x] + i, cell_i = c->of_dof[dof_i];
      if (cell_i < cell_j) continue;
      double sum = 0;
      for (int a = 0; a < rows; a++) sum += X[a * wx + i] * DY[a];
      h->value[h->row_ptr[dof_i] + place_of(h, cell_i, cell_j) + dof_j - c->dof[cell_j]] += sum;
    }
  }
}

tbStatus tb_hessian_update(tbContext* ctx, tbHessian* h, const double* D)
{
  const tbProblem* p = h->relaxed->problem;
  h->D = D, h->factored = false;
  if (h->factor) {
    memset(h->value, 0, (size_t)h->row_ptr[p->ndof] * sizeof *h->value);
    add_metric(p, h);
    for (int k = 0; k < p->ncontact; k++)
      for (int x = p->jac_adr[k]; x < p->jac_adr[k + 1]; x++)
        for (int y = p->jac_adr[k]; y < p->jac_adr[k + 1]; y++)
          add_columns(p, D + h->relaxed->d_adr[k], p->row_adr[k + 1] - p->row_adr[k], x, y, h);
    tbStatus status = tb_cholesky_factor(ctx, h->factor, h->value);
    h->factored = status == TB_OK;
    if (status != TB_OK && status != TB_ERROR_NUMERIC) return status; // rounding: conjugate gradients
  }
  if (!h->factored) tb_cells_factor(h->relaxed, h->cells, ctx->threads, D, false, h->P);
  return TB_OK;
}

static tbStatus conjugate_gradients(tbContext* ctx, tbHessian* h, const double* b, double* x)
{
  const tbProblem* p = h->relaxed->problem;
  int n = p->ndof;
  double *r = h->work, *z = r + n, *d = z + n, *Hd = d + n, *y = Hd + n, *work = y + n;
  memcpy(r, b, (size_t)n * sizeof *r);
  memset(y, 0, (size_t)n * sizeof *y);
  memcpy(z, r, (size_t)n * sizeof *z);
  tb_cells_solve(h->cells, ctx->threads, h->P, z);
  memcpy(d, z, (size_t)n * sizeof *d);
  double rz = tb_dot_in_order(n, r, z), enough = CG_TOLERANCE * CG_TOLERANCE * rz;
  for (int k = 0; k < 4 * n + 100 && rz > enough; k++) {
    TB_TRY(tb_check_interrupt(ctx));
    tb_relaxed_multiply(h->relaxed, ctx->threads, h->D, d, work, Hd);
    double curvature = tb_dot_in_order(n, d, Hd);
    if (!(curvature > 0)) break;
    double step = rz / curvature;
    for (int i = 0; i < n; i++) y[i] += step * d[i], r[i] -= step * Hd[i];
    memcpy(z, r, (size_t)n * sizeof *z);
    tb_cells_solve(h->cells, ctx->threads, h->P, z);
    double next = tb_dot_in_order(n, r, z), beta = next / rz;
    rz = next;
    for (int i = 0; i < n; i++) d[i] = z[i] + beta * d[i];
  }
  memcpy(x, y, (size_t)n * sizeof *x);
  return TB_OK;
}

tbStatus tb_hessian_solve(tbContext* ctx, tbHessian* h, const double* b, double* x)
{
  if (h->factored) return tb_cholesky_solve(ctx, h->factor, 1, b, x, h->work);
  return conjugate_gradients(ctx, h, b, x);
}
