// SPDX-License-Identifier: Apache-2.0
#include "descent/cells.h"

#include "base/threads.h"
#include "math/dense.h"

#include <string.h>

enum { GRAIN = 64 };

static int unit_of(const tbMetricBlock* b)
{
  if (b->kind != TB_METRIC_SPARSE) return b->size;
  return b->unit > 1 && b->size % b->unit == 0 ? b->unit : 1;
}

static void own_matrix(const tbMetricBlock* b, int first, int size, double* out)
{
  for (int i = 0; i < size; i++) {
    int row = first + i;
    if (b->kind == TB_METRIC_PARTICLE) out[i * size + i] = b->value[0];
    for (int j = 0; b->kind == TB_METRIC_DENSE && j < size; j++)
      out[i * size + j] = b->value[row * b->size + j];
    for (int e = 0; b->kind == TB_METRIC_SPARSE && e < b->ptr[row + 1] - b->ptr[row]; e++) {
      int at = b->ptr[row] + e, j = b->col[at] - first;
      if (j >= 0 && j < size) out[i * size + j] = b->value[at];
    }
  }
}

static tbStatus list_columns(tbArena* arena, const tbProblem* p, tbCells* c)
{
  int* next = c->ptr = TB_TAKE(arena, int, (size_t)c->count + 2);
  if (!next) return TB_ERROR_MEMORY;
  next++; // counts, then running ends
  int total = 0;
  for (int k = 0; k < p->ncol; k++)
    for (int i = c->of_dof[p->jac_dof[k]]; i <= c->of_dof[p->jac_dof[k] + p->jac_width[k] - 1]; i++)
      next[i + 1]++, total++;
  for (int i = 0; i < c->count; i++) next[i + 1] += next[i];
  c->col = TB_TAKE(arena, int, (size_t)total);
  c->contact = TB_TAKE(arena, int, (size_t)total);
  if (!c->col || !c->contact) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    for (int col = p->jac_adr[k]; col < p->jac_adr[k + 1]; col++)
      for (int i = c->of_dof[p->jac_dof[col]]; i <= c->of_dof[p->jac_dof[col] + p->jac_width[col] - 1]; i++) {
        int at = next[i]++;
        c->col[at] = col, c->contact[at] = k;
      }
  return TB_OK;
}

tbStatus tb_cells_begin(tbArena* arena, const tbProblem* p, tbCells* out)
{
  *out = (tbCells){0};
  for (int b = 0; b < p->nblock; b++) out->count += p->block[b].size / unit_of(&p->block[b]);
  size_t n = (size_t)out->count;
  out->dof = TB_TAKE(arena, int, n + 1), out->of_dof = TB_TAKE(arena, int, (size_t)p->ndof);
  out->block = TB_TAKE(arena, int, n), out->adr = TB_TAKE(arena, int, n + 1);
  if (!out->dof || !out->of_dof || !out->block || !out->adr) return TB_ERROR_MEMORY;
  for (int b = 0, i = 0; b < p->nblock; b++) {
    const tbMetricBlock* m = &p->block[b];
    int unit = unit_of(m);
    for (int at = 0; at < m->size; at += unit, i++) {
      out->dof[i] = m->dof + at, out->dof[i + 1] = m->dof + at + unit, out->block[i] = b;
      out->adr[i + 1] = out->adr[i] + unit * unit;
      out->widest = unit > out->widest ? unit : out->widest;
      for (int k = 0; k < unit; k++) out->of_dof[m->dof + at + k] = i;
    }
  }
  out->own = TB_TAKE(arena, double, (size_t)out->adr[out->count]);
  if (!out->own) return TB_ERROR_MEMORY;
  for (int i = 0; i < out->count; i++) {
    const tbMetricBlock* m = &p->block[out->block[i]];
    own_matrix(m, out->dof[i] - m->dof, tb_cell_size(out, i), out->own + out->adr[i]);
  }
  return list_columns(arena, p, out);
}

void tb_cell_curvature(const tbRelaxed* r, const tbCells* c, int cell, const double* D, double* H)
{
  const tbProblem* p = r->problem;
  int size = tb_cell_size(c, cell), first = c->dof[cell];
  memcpy(H, c->own + c->adr[cell], (size_t)(size * size) * sizeof *H);
  for (int at = c->ptr[cell]; at < c->ptr[cell + 1]; at++) {
    int col = c->col[at], k = c->contact[at], width = p->jac_width[col];
    int rows = p->row_adr[k + 1] - p->row_adr[k];
    const double *J = p->jac + p->jac_val_adr[col], *d = D + r->d_adr[k];
    int skip = first - p->jac_dof[col], lo = skip < 0 ? -skip : 0; // entry i of the cell is column skip + i
    int hi = width - skip < size ? width - skip : size;
    for (int a = 0; a < rows; a++)
      for (int b = 0; b < rows; b++) {
        if (d[a * rows + b] == 0) continue;
        for (int i = lo; i < hi; i++) {
          double x = d[a * rows + b] * J[a * width + skip + i];
          for (int j = lo; j < hi; j++) H[i * size + j] += x * J[b * width + skip + j];
        }
      }
  }
}

typedef struct {
  const tbRelaxed* r;
  const tbCells* cells;
  const double* D;
  bool diagonal;
  double *P, *x;
} Job;

static void keep_diagonal(int size, double* P)
{
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      if (i != j) P[i * size + j] = 0;
}

static void factor(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    int size = tb_cell_size(job->cells, i);
    double* P = job->P + job->cells->adr[i];
    tb_cell_curvature(job->r, job->cells, i, job->D, P);
    if (job->diagonal) keep_diagonal(size, P);
    if (tb_dense_cholesky(size, P, size) == size) continue;
    tb_cell_curvature(job->r, job->cells, i, job->D, P); // positive but for rounding: its diagonal will do
    keep_diagonal(size, P);
    tb_dense_cholesky(size, P, size);
  }
}

void tb_cells_factor(const tbRelaxed* r, const tbCells* c, tbThreads* threads, const double* D, bool diagonal,
                     double* P)
{
  Job job = {.r = r, .cells = c, .D = D, .diagonal = diagonal, .P = P};
  tb_parallel_for(threads, c->count, GRAIN, factor, &job);
}

static void solve(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    int size = tb_cell_size(job->cells, i);
    tb_dense_cholesky_solve(size, job->P + job->cells->adr[i], size, job->x + job->cells->dof[i]);
  }
}

void tb_cells_solve(const tbCells* c, tbThreads* threads, const double* P, double* x)
{
  Job job = {.cells = c, .P = (double*)P, .x = x};
  tb_parallel_for(threads, c->count, GRAIN, solve, &job);
}
