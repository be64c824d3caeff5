// SPDX-License-Identifier: Apache-2.0
#include "solve/shifted.h"

#include <limits.h>
#include <string.h>

// Block (k, l) of W, or null where nothing is stored.
static const double* find_block(const tbDelassus* W, int k, int l)
{
  int lo = W->ptr[k], hi = W->ptr[k + 1];
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (W->col[mid] < l) lo = mid + 1;
    else hi = mid;
  }
  return lo < W->ptr[k + 1] && W->col[lo] == l ? W->val + W->val_adr[lo] : NULL;
}

// Calls visit for every pair k ≥ l of contacts of which W stores a block on either side: as a rule both, but
// a given W need not.
typedef void VisitFn(tbShifted* s, int* width, int k, int l);

static void each_pair(tbShifted* s, int* width, VisitFn* visit)
{
  const tbDelassus* W = s->W;
  for (int k = 0; k < W->problem->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int l = W->col[e];
      if (l <= k) visit(s, width, k, l);
      else if (!W->symmetric && !find_block(W, l, k)) visit(s, width, l, k);
    }
}

// width: columns left of the diagonal block, by contact.
static void count_pair(tbShifted* s, int* width, int k, int l)
{
  if (k != l) width[k] += tb_rows(s->W->problem, l);
}

static void fill_pair(tbShifted* s, int* width, int k, int l)
{
  const tbProblem* p = s->W->problem;
  int rows = tb_rows(p, k), cols = tb_rows(p, l), first = p->row_adr[k];
  int at = k == l ? s->ptr[first + 1] - s->ptr[first] - 1 : width[k]; // the diagonal block comes last
  const double *lower = find_block(s->W, k, l), *upper = s->W->symmetric ? NULL : find_block(s->W, l, k);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < (k == l ? i + 1 : cols); j++) {
      int e = s->ptr[first + i] + at + j;
      double a = lower ? lower[i * cols + j] : 0, b = upper ? upper[j * rows + i] : 0;
      s->col[e] = p->row_adr[l] + j;
      s->symmetric[e] = s->skew ? 0.5 * (a + b) : a;
      if (s->skew) s->skew[e] = 0.5 * (a - b);
    }
  if (k != l) width[k] += cols;
}

static void fill(tbShifted* s)
{
  memset(s->width, 0, (size_t)s->W->problem->ncontact * sizeof *s->width);
  each_pair(s, s->width, fill_pair);
}

static tbStatus build(tbContext* ctx, tbShifted* s)
{
  const tbProblem* p = s->W->problem;
  size_t n = (size_t)p->nrow, count = 0;
  int* width = TB_TAKE(&s->arena, int, (size_t)p->ncontact);
  s->ptr = TB_TAKE(&s->arena, int, n + 1);
  if (!width || !s->ptr) return TB_ERROR_MEMORY;
  each_pair(s, width, count_pair);
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0; i < tb_rows(p, k); i++) {
      count += (size_t)(width[k] + i + 1);
      if (count > INT_MAX) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "W has too many entries to be factored");
      s->ptr[p->row_adr[k] + i + 1] = (int)count;
    }
  s->col = TB_TAKE(&s->arena, int, count);
  s->symmetric = TB_TAKE(&s->arena, double, count);
  s->shifted = TB_TAKE(&s->arena, double, count);
  if (!s->W->symmetric && !(s->skew = TB_TAKE(&s->arena, double, count))) return TB_ERROR_MEMORY;
  if (!s->col || !s->symmetric || !s->shifted) return TB_ERROR_MEMORY;
  s->width = width;
  fill(s);
  tbCholeskyOptions own = {.ordering = TB_ORDERING_DEGREE}; // the same bits whatever is installed
  TB_TRY(tb_cholesky_analyze(ctx, p->nrow, s->ptr, s->col, &own, &s->factor));
  s->workspace = TB_TAKE(&s->arena, double, tb_cholesky_scratch(s->factor, 1));
  return s->workspace ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_shifted_create(tbContext* ctx, const tbDelassus* W, tbShifted** out)
{
  tbShifted* s = *out = TB_NEW(ctx, tbShifted, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->quiet = *ctx;
  s->W = W;
  tb_arena_init(&s->arena, ctx);
  return build(ctx, s);
}

void tb_shifted_renew(tbContext* ctx, tbShifted* s)
{
  s->quiet = *ctx;
  fill(s);
}

void tb_shifted_free(tbContext* ctx, tbShifted* s)
{
  if (!s) return;
  s->arena.ctx = ctx;
  tb_cholesky_free(ctx, s->factor);
  tb_arena_free(&s->arena);
  tb_free(ctx, s);
}

bool tb_shifted_factor(tbShifted* s, double rho, const double* R, const bool* fixed)
{
  int n = s->W->problem->nrow;
  for (int i = 0; i < n; i++) {
    for (int e = s->ptr[i]; e < s->ptr[i + 1]; e++)
      s->shifted[e] = fixed && (fixed[i] || fixed[s->col[e]]) ? 0 : s->symmetric[e];
    s->shifted[s->ptr[i + 1] - 1] += fixed && fixed[i] ? 1 : rho * R[i];
  }
  return tb_cholesky_factor(&s->quiet, s->factor, s->shifted) == TB_OK;
}

void tb_shifted_solve(tbShifted* s, const double* b, double* x)
{
  tb_cholesky_solve(&s->quiet, s->factor, 1, b, x, s->workspace);
}

void tb_shifted_skew(const tbShifted* s, double factor, const double* x, double* y)
{
  if (!s->skew) return;
  for (int i = 0; i < s->W->problem->nrow; i++)
    for (int e = s->ptr[i]; e < s->ptr[i + 1]; e++) {
      int j = s->col[e];
      y[i] += factor * s->skew[e] * x[j];
      y[j] -= factor * s->skew[e] * x[i];
    }
}
