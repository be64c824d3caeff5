// SPDX-License-Identifier: Apache-2.0
#include "solve/subspace.h"
#include "math/dense.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 2000 };
static const double SHIFT = 1e-9, ENOUGH = 1e-6;

// ---- setting up ----

// Entries on and below the diagonal of W's pattern: its factor has no fewer.
static double lower_entries(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  double count = 0;
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++)
      if (W->col[e] <= k) count += (double)tb_rows(p, k) * tb_rows(p, W->col[e]);
  return count;
}

static void take_diagonal(tbSubspace* s)
{
  const tbDelassus* W = s->run->W;
  const tbProblem* p = W->problem;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0, rows = tb_rows(p, k); i < rows; i++) {
      double d = W->diag[W->diag_adr[k] + (size_t)(i * (rows + 1))];
      s->diagonal[p->row_adr[k] + i] = d > 0 ? d : 1;
    }
}

static tbStatus prepare(tbContext* ctx, tbSubspace* s)
{
  const tbDelassus* W = s->run->W;
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow;
  double allowed = s->run->o->factor_bytes > 0 ? s->run->o->factor_bytes : TB_FACTOR_BYTES;
  double **vectors[] = {&s->diagonal, &s->r, &s->Wd}, **more[] = {&s->x, &s->z, &s->p};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!(*vectors[i] = TB_TAKE(&s->arena, double, n))) return TB_ERROR_MEMORY;
  take_diagonal(s);
  s->workspace = TB_TAKE(&s->arena, double, tb_delassus_workspace(W));
  if (!s->workspace) return TB_ERROR_MEMORY;

  double least = lower_entries(W);
  s->product = 4 * least;
  if (least * sizeof(double) <= allowed && 2 * least < INT_MAX) TB_TRY(tb_shifted_create(ctx, W, &s->matrix));
  if (s->matrix && (double)tb_cholesky_stats(s->matrix->factor).bytes <= allowed) return TB_OK;
  tb_shifted_free(ctx, s->matrix);
  s->matrix = NULL;
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (!(*more[i] = TB_TAKE(&s->arena, double, n))) return TB_ERROR_MEMORY;
  s->inverses = TB_TAKE(&s->arena, double, W->diag_adr[p->ncontact]);
  return s->inverses ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_subspace_create(tbContext* ctx, tbRun* run, tbSubspace** out)
{
  tbSubspace* s = *out = TB_NEW(ctx, tbSubspace, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->run = run;
  tb_arena_init(&s->arena, ctx);
  return prepare(ctx, s);
}

void tb_subspace_renew(tbContext* ctx, tbRun* run, tbSubspace* s)
{
  s->run = run;
  take_diagonal(s);
  if (s->matrix) tb_shifted_renew(ctx, s->matrix);
}

void tb_subspace_free(tbContext* ctx, tbSubspace* s)
{
  if (!s) return;
  s->arena.ctx = ctx;
  tb_shifted_free(ctx, s->matrix);
  tb_arena_free(&s->arena);
  tb_free(ctx, s);
}

// ---- by the factor ----

// Two steps, the second for what the first has left.
static bool solve_factored(tbSubspace* s, const bool* fixed, const double* u, double* d)
{
  int n = s->run->p->nrow;
  if (!tb_shifted_factor(s->matrix, SHIFT, s->diagonal, fixed)) return false;
  tbCholeskyStats cost = tb_cholesky_stats(s->matrix->factor);
  s->run->operations += cost.flops + 2 * (s->product + 4 * (double)cost.entries);
  memset(d, 0, (size_t)n * sizeof *d);
  for (int step = 0; step < 2; step++) {
    tb_delassus_apply(s->run->W, s->run->threads, d, s->Wd, s->workspace);
    for (int i = 0; i < n; i++) s->r[i] = fixed[i] ? 0 : -u[i] - s->Wd[i];
    tb_shifted_solve(s->matrix, s->r, s->r);
    for (int i = 0; i < n; i++) d[i] += s->r[i];
  }
  return true;
}

// ---- by conjugate gradients ----

// The diagonal blocks of W_FF, factored; held rows become rows of the identity. A block that is singular
// loses nothing by a tiny shift, and one that is indefinite, as only an unsymmetric W has, counts by its
// diagonal.
static void factor_blocks(tbSubspace* s, const bool* fixed)
{
  const tbProblem* p = s->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k), first = p->row_adr[k];
    const double* D = s->run->W->diag + s->run->W->diag_adr[k];
    double* B = s->inverses + s->run->W->diag_adr[k];
    for (int whole = 1; whole >= 0; whole--) {
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
          bool held = fixed[first + i] || fixed[first + j];
          double symmetric = whole ? 0.5 * (D[i * rows + j] + D[j * rows + i]) : 0;
          B[i * rows + j] = i == j ? (held ? 1 : s->diagonal[first + i] * (1 + 1e-10)) : held ? 0 : symmetric;
        }
      if (tb_dense_cholesky(rows, B, rows) == rows) break;
    }
  }
}

static double precondition(tbSubspace* s)
{
  const tbProblem* p = s->run->p;
  double along = 0;
  memcpy(s->z, s->r, (size_t)p->nrow * sizeof *s->z);
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    tb_dense_cholesky_solve(rows, s->inverses + s->run->W->diag_adr[k], rows, s->z + p->row_adr[k]);
  }
  for (int i = 0; i < p->nrow; i++) along += s->r[i] * s->z[i];
  return along;
}

// Wd ← (W + Wᵀ)/2 p, held rows left out.
static void multiply(tbSubspace* s, const bool* fixed)
{
  const tbDelassus* W = s->run->W;
  const int* row = W->problem->row_adr;
  int n = W->problem->nrow;
  tb_delassus_apply(W, s->run->threads, s->p, s->Wd, s->workspace);
  if (!W->symmetric) {
    for (int i = 0; i < n; i++) s->Wd[i] *= 0.5;
    for (int k = 0; k < W->problem->ncontact; k++)
      for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
        int l = W->col[e], cols = row[l + 1] - row[l];
        const double* V = W->val + W->val_adr[e];
        for (int i = row[k]; i < row[k + 1]; i++, V += cols)
          for (int j = 0; j < cols; j++) s->Wd[row[l] + j] += 0.5 * V[j] * s->p[i];
      }
  }
  for (int i = 0; i < n; i++) s->Wd[i] = fixed[i] ? 0 : s->Wd[i] + SHIFT * s->diagonal[i] * s->p[i];
}

// What is left goes up and down on its way, far up where contacts are redundant: of all d the one that leaves
// least is taken, in the norm of the preconditioner.
static bool solve_iterated(tbSubspace* s, const bool* fixed, const double* u, double* d)
{
  size_t n = (size_t)s->run->p->nrow, bytes = n * sizeof *d;
  factor_blocks(s, fixed);
  for (size_t i = 0; i < n; i++) s->r[i] = fixed[i] ? 0 : -u[i];
  memset(d, 0, bytes);
  memset(s->x, 0, bytes);
  double now = precondition(s), least = now, enough = ENOUGH * ENOUGH * now;
  memcpy(s->p, s->z, bytes);
  for (int k = 0; k < MOST_ITERATIONS && now > enough && !tb_run_stops(s->run); k++) {
    double curvature = 0;
    s->run->operations += s->product + 12.0 * (double)n;
    multiply(s, fixed);
    for (size_t i = 0; i < n; i++) curvature += s->p[i] * s->Wd[i];
    if (!(curvature > 0)) return k > 0; // indefinite: what was gained so far still counts
    for (size_t i = 0; i < n; i++) {
      s->x[i] += now / curvature * s->p[i];
      s->r[i] -= now / curvature * s->Wd[i];
    }
    double before = now;
    now = precondition(s);
    for (size_t i = 0; i < n; i++) s->p[i] = s->z[i] + now / before * s->p[i];
    if (now < least) {
      least = now;
      memcpy(d, s->x, bytes);
    }
  }
  return true;
}

bool tb_subspace_solve(tbSubspace* s, const bool* fixed, const double* u, double* d)
{
  return s->matrix ? solve_factored(s, fixed, u, d) : solve_iterated(s, fixed, u, d);
}
