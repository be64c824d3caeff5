// SPDX-License-Identifier: Apache-2.0
// The seam served by CHOLMOD (Chen, Davis, Hager and Rajamanickam, ACM TOMS 35(3), 2008).
//
// CHOLMOD analyses, with Tribo's ordering, and factors. Its supernodal L has the layout of Tribo's own,
// panels of columns with their rows, so Tribo's solves run on it as it stands: they need no allocation and
// may run side by side, which CHOLMOD's do not offer. CHOLMOD takes its memory from the C library.
#ifdef TB_USE_CHOLMOD
#include "math/cholesky_factor.h"

#include <cholmod.h>
#include <math.h>
#include <string.h>

typedef struct {
  cholmod_common common;
  cholmod_sparse A; // upper triangle by columns, which is the lower by rows
  cholmod_factor* L;
} Cholmod;

static tbStatus failed(tbContext* ctx, const Cholmod* c, const char* what)
{
  if (c->common.status == CHOLMOD_OUT_OF_MEMORY)
    return tb_fail(ctx, TB_ERROR_MEMORY, "CHOLMOD ran out of memory");
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "CHOLMOD failed to %s (code %d)", what, c->common.status);
}

// Copies the lower triangle's pattern; entry_source remembers where its values are.
static tbStatus keep_matrix(tbCholesky* f, Cholmod* c, const int* ptr, const int* idx)
{
  size_t n = (size_t)f->n, entries = 0;
  for (int i = 0; i < f->n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++) entries += idx[p] <= i;
  f->entry_ptr = TB_KEEP(f, int, n + 1);
  f->entry_row = TB_KEEP(f, int, entries);
  f->entry_source = TB_KEEP(f, int, entries);
  double* values = TB_KEEP(f, double, entries);
  if (!f->entry_ptr || !f->entry_row || !f->entry_source || !values) return TB_ERROR_MEMORY;
  int end = 0;
  for (int i = 0; i < f->n; i++) {
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] <= i) {
        f->entry_row[end] = idx[p];
        f->entry_source[end++] = p;
      }
    f->entry_ptr[i + 1] = end;
  }
  c->A = (cholmod_sparse){.nrow = n,
                          .ncol = n,
                          .nzmax = entries,
                          .p = f->entry_ptr,
                          .i = f->entry_row,
                          .x = values,
                          .stype = 1,
                          .itype = CHOLMOD_INT,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 0,
                          .packed = 1};
  return TB_OK;
}

// Describes CHOLMOD's supernodes in the terms of the solves.
static tbStatus describe(tbCholesky* f, const cholmod_factor* L)
{
  const int *super = L->super, *pi = L->pi, *px = L->px, *s = L->s;
  size_t count = L->nsuper;
  f->supernodes = (int)count;
  f->start = TB_KEEP(f, int, count + 1);
  f->below = TB_KEEP(f, size_t, count + 1);
  f->panel = TB_KEEP(f, size_t, count);
  f->lead = TB_KEEP(f, int, count);
  if (!f->start || !f->below || !f->panel || !f->lead) return TB_ERROR_MEMORY;
  for (size_t k = 0; k < count; k++) {
    int cols = super[k + 1] - super[k], front = pi[k + 1] - pi[k];
    f->start[k + 1] = super[k + 1];
    f->below[k + 1] = f->below[k] + (size_t)(front - cols);
    f->panel[k] = (size_t)px[k];
    f->lead[k] = front;
    if (front - cols > f->max_rows) f->max_rows = front - cols;
    f->stats.entries += (int64_t)cols * front - (int64_t)cols * (cols - 1) / 2;
    for (int j = 0; j < cols; j++) f->stats.flops += (double)(front - j) * (front - j);
  }
  f->rows = TB_KEEP(f, int, f->below[count]);
  if (!f->rows) return TB_ERROR_MEMORY;
  for (size_t k = 0; k < count; k++)
    memcpy(f->rows + f->below[k], s + pi[k] + (super[k + 1] - super[k]),
           (f->below[k + 1] - f->below[k]) * sizeof *f->rows);
  memcpy(f->perm, L->Perm, (size_t)f->n * sizeof *f->perm);
  f->outgrown = f->most_bytes > 0 && L->xsize * sizeof(double) > f->most_bytes;
  f->stats.bytes += L->xsize * sizeof(double) + (L->ssize + 4 * count) * sizeof(int);
  return TB_OK;
}

tbStatus tb_cholmod_analyze(tbContext* ctx, tbCholesky* f, const int* ptr, const int* idx)
{
  Cholmod* c = TB_KEEP(f, Cholmod, 1);
  if (!c) return TB_ERROR_MEMORY;
  TB_TRY(keep_matrix(f, c, ptr, idx));
  if (f->n == 0) {
    f->start = TB_KEEP(f, int, 1);
    return f->start ? TB_OK : TB_ERROR_MEMORY;
  }
  cholmod_start(&c->common);
  f->cholmod = c;
  c->common.print = 0;
  c->common.supernodal = CHOLMOD_SUPERNODAL;
  c->common.nmethods = 1;
  c->common.method[0].ordering = CHOLMOD_GIVEN;
  c->common.postorder = 1;
  c->L = cholmod_analyze_p(&c->A, f->perm, NULL, 0, &c->common);
  if (!c->L || c->common.status < CHOLMOD_OK) return failed(ctx, c, "analyse the pattern");
  return describe(f, c->L);
}

tbStatus tb_cholmod_factor(tbContext* ctx, tbCholesky* f, const double* values)
{
  Cholmod* c = f->cholmod;
  if (!c) return TB_OK; // no rows
  for (int e = 0; e < f->entry_ptr[f->n]; e++) ((double*)c->A.x)[e] = values[f->entry_source[e]];
  if (!cholmod_factorize(&c->A, c->L, &c->common) || c->common.status < CHOLMOD_OK)
    return failed(ctx, c, "factor");
  f->L = c->L->x;
  // Where CHOLMOD gave up, or let through a pivot that is not a number.
  int bad = c->common.status == CHOLMOD_NOT_POSDEF ? (int)c->L->minor : f->n;
  for (int s = 0; s < f->supernodes; s++)
    for (int k = 0; k < tb_cholesky_cols(f, s) && f->start[s] + k < bad; k++) {
      double pivot = f->L[f->panel[s] + (size_t)k * (size_t)(f->lead[s] + 1)];
      if (!(pivot > 0 && pivot < INFINITY)) bad = f->start[s] + k;
      f->inverse_diagonal[f->start[s] + k] = 1 / pivot;
    }
  if (bad < f->n)
    return tb_fail(ctx, TB_ERROR_NUMERIC, "not positive definite: pivot at row %d", f->perm[bad]);
  return TB_OK;
}

void tb_cholmod_free(tbCholesky* f)
{
  Cholmod* c = f->cholmod;
  if (!c) return;
  cholmod_free_factor(&c->L, &c->common);
  cholmod_finish(&c->common);
}
#endif
