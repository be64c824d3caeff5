// SPDX-License-Identifier: Apache-2.0
// One block of A. Particles divide by their mass, dense blocks carry a Cholesky factor, sparse blocks the
// supernodal factor of src/math, or are solved with by conjugate gradients (metric_cg.c).
#include "problem/metric.h"

#include "math/dense.h"
#include "math/dense_rows.h"

#include <math.h>
#include <string.h>

// |a − b| beyond what rounding leaves of a symmetric matrix.
static bool differ(double a, double b, double scale) { return fabs(a - b) > 1e-9 * scale; }

// L: room for the lower factor, and its transpose above the diagonal.
static tbStatus factor_dense(tbContext* ctx, int index, const tbMetricBlock* block, double* L)
{
  int n = block->size;
  const double* A = block->value;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (!isfinite(A[i * n + j]))
        return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d: entry (%d, %d) is %g", index, i, j,
                       A[i * n + j]);
      if (differ(A[i * n + j], A[j * n + i], sqrt(fabs(A[i * n + i] * A[j * n + j]))))
        return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d is not symmetric at (%d, %d)", index, i, j);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) L[j * n + i] = A[i * n + j];
  for (int k = 0; k < n; k++) { // Lᵀ, row by row: every entry loses its products in the order of k
    double* row = L + (size_t)k * (size_t)n;
    // A pivot lost to rounding is as bad as a negative one: its inverse would be noise.
    if (!(row[k] > 4e-16 * n * A[k * n + k]) || !(A[k * n + k] > 0))
      return tb_fail(ctx, TB_ERROR_NUMERIC, "metric block %d is not positive definite (row %d)", index, k);
    row[k] = sqrt(row[k]);
    for (int j = k + 1; j < n; j++) row[j] /= row[k];
    for (int i = k + 1; i < n; i++) tb_dense_subtract(n - i, row[i], row + i, L + (size_t)i * (size_t)n + i);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) L[i * n + j] = L[j * n + i];
  return TB_OK;
}

tbStatus tb_metric_take_dense(tbArena* arena, tbMetricBlock* block)
{
  size_t n = (size_t)block->size;
  bool inverts = n > 6 && n <= TB_DENSE_MOST;
  block->chol = TB_TAKE(arena, double, n* n);
  if (block->chol && inverts) block->ainv = TB_TAKE(arena, double, n* n);
  return block->chol && (block->ainv || !inverts) ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus find_dense(tbContext* ctx, int index, tbMetricBlock* block)
{
  TB_TRY(factor_dense(ctx, index, block, (double*)block->chol));
  if (block->ainv) tb_dense_invert(block->size, block->chol, (double*)block->ainv);
  return TB_OK;
}

static tbStatus prepare_dense(tbContext* ctx, tbArena* arena, int index, tbMetricBlock* block)
{
  TB_TRY(tb_metric_take_dense(arena, block));
  return find_dense(ctx, index, block);
}

static double entry(const tbMetricBlock* b, int i, int j)
{
  int lo = b->ptr[i], hi = b->ptr[i + 1];
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (b->col[mid] < j) lo = mid + 1;
    else hi = mid;
  }
  return lo < b->ptr[i + 1] && b->col[lo] == j ? b->value[lo] : NAN;
}

static tbStatus check_sparse(tbContext* ctx, int index, const tbMetricBlock* b)
{
  for (int i = 0; i < b->size; i++)
    for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) {
      int j = b->col[e];
      if (j < 0 || j >= b->size)
        return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d, row %d: column %d is out of range (%d)", index,
                       i, j, b->size);
      if (e > b->ptr[i] && j <= b->col[e - 1])
        return tb_fail(ctx, TB_ERROR_INPUT,
                       "metric block %d, row %d: column %d after column %d (unsorted or duplicate)", index, i,
                       j, b->col[e - 1]);
      if (!isfinite(b->value[e]))
        return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d: entry (%d, %d) is %g", index, i, j,
                       b->value[e]);
    }
  for (int i = 0; i < b->size; i++) {
    double diagonal = entry(b, i, i);
    if (!(diagonal > 0))
      return tb_fail(ctx, TB_ERROR_NUMERIC, "metric block %d is not positive definite (row %d)", index, i);
    for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) {
      int j = b->col[e];
      double other = entry(b, j, i), scale = sqrt(diagonal * fabs(entry(b, j, j)));
      if (isnan(other) ? b->value[e] != 0 : differ(b->value[e], other, scale))
        return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d is not symmetric at (%d, %d)", index, i, j);
    }
  }
  return TB_OK;
}

static tbStatus prepare_sparse(tbContext* ctx, int index, tbMetricBlock* b)
{
  TB_TRY(check_sparse(ctx, index, b));
  tbCholesky* factor = NULL;
  TB_TRY(tb_cholesky_analyze(ctx, b->size, b->ptr, b->col, NULL, &factor));
  b->factor = factor;
  return tb_cholesky_factor(ctx, factor, b->value);
}

static tbStatus check_particle(tbContext* ctx, int index, const tbMetricBlock* b)
{
  if (b->value[0] > 0 && b->value[0] < INFINITY) return TB_OK;
  return tb_fail(ctx, TB_ERROR_INPUT, "metric block %d: mass %g; it must be positive and finite", index,
                 b->value[0]);
}

tbStatus tb_metric_prepare(tbContext* ctx, tbArena* arena, int index, tbMetricBlock* b)
{
  switch (b->kind) {
  case TB_METRIC_PARTICLE: return check_particle(ctx, index, b);
  case TB_METRIC_DENSE: return prepare_dense(ctx, arena, index, b);
  case TB_METRIC_SPARSE: return prepare_sparse(ctx, index, b);
  }
  return TB_OK;
}

tbStatus tb_metric_renew(tbContext* ctx, int index, tbMetricBlock* b)
{
  if (b->kind == TB_METRIC_PARTICLE) return check_particle(ctx, index, b);
  if (b->kind == TB_METRIC_DENSE) return find_dense(ctx, index, b);
  TB_TRY(check_sparse(ctx, index, b));
  if (b->packed) {
    const tbPacked* packed = b->packed;
    tb_packed_pack(packed->pattern, ctx->threads, b->ptr, b->value, (double*)packed->value);
    if (packed->rounded)
      tb_packed_round(packed->pattern, ctx->threads, packed->value, (float*)packed->rounded);
    if (packed->inverse) tb_metric_invert_diagonal(b, ctx->threads, (double*)packed->inverse);
  }
  return b->factor ? tb_cholesky_factor(ctx, (tbCholesky*)b->factor, b->value) : TB_OK;
}

size_t tb_metric_values(const tbMetricBlock* b)
{
  size_t n = (size_t)b->size;
  return b->kind == TB_METRIC_PARTICLE ? 1 : b->kind == TB_METRIC_DENSE ? n * n : (size_t)b->ptr[b->size];
}

void tb_metric_release(tbContext* ctx, tbMetricBlock* b)
{
  tb_cholesky_free(ctx, (tbCholesky*)b->factor);
  b->factor = NULL;
}

// Rows 3i, 3i+1, 3i+2 share their columns, which come as 3j, 3j+1, 3j+2.
static bool comes_in_triples(const tbMetricBlock* b)
{
  if (b->size % 3) return false;
  for (int i = 0; i < b->size; i += 3) {
    int first = b->ptr[i], count = b->ptr[i + 1] - first;
    const int* col = b->col + first;
    if (count % 3 || b->ptr[i + 2] != first + 2 * count || b->ptr[i + 3] != first + 3 * count) return false;
    for (int e = 0; e < count; e += 3)
      if (col[e] % 3 || col[e + 1] != col[e] + 1 || col[e + 2] != col[e] + 2) return false;
    if (memcmp(col, col + count, (size_t)count * sizeof *col)) return false;
    if (memcmp(col, col + 2 * count, (size_t)count * sizeof *col)) return false;
  }
  return true;
}

void tb_metric_measure(tbMetricBlock* b)
{
  if (b->kind == TB_METRIC_SPARSE) b->unit = comes_in_triples(b) ? 3 : 1;
}

tbStatus tb_metric_pack(tbArena* arena, tbThreads* threads, tbMetricBlock* b)
{
  if (b->kind != TB_METRIC_SPARSE || b->unit != 3) return TB_OK;
  tbPacked* packed = TB_TAKE(arena, tbPacked, 1);
  tbPackedPattern* pattern = TB_TAKE(arena, tbPackedPattern, 1);
  if (!packed || !pattern) return TB_ERROR_MEMORY;
  TB_TRY(tb_packed_pattern(arena, b->size, b->ptr, b->col, pattern));
  double* value = TB_TAKE(arena, double, tb_packed_values(pattern));
  if (!value) return TB_ERROR_MEMORY;
  tb_packed_pack(pattern, threads, b->ptr, b->value, value);
  *packed = (tbPacked){.pattern = pattern, .value = value};
  b->packed = packed;
  return TB_OK;
}

size_t tb_metric_workspace(const tbMetricBlock* b)
{
  if (b->kind != TB_METRIC_SPARSE) return 0;
  return b->factor ? tb_cholesky_scratch(b->factor, 1) : tb_metric_cg_workspace(b);
}

static inline void solve_dense(int n, const double* restrict L, double* restrict x)
{
  for (int i = 0; i < n; i++) {
    double sum = x[i];
    for (int k = 0; k < i; k++) sum -= L[i * n + k] * x[k];
    x[i] = sum / L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int k = i + 1; k < n; k++) sum -= L[k * n + i] * x[k];
    x[i] = sum / L[i * n + i];
  }
}

// The same for several right-hand sides, n apart: their divisions overlap.
static inline void solve_dense_rows(int n, int rows, const double* restrict L, double* restrict x)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      for (int r = 0; r < rows; r++) x[r * n + i] -= L[i * n + k] * x[r * n + k];
    for (int r = 0; r < rows; r++) x[r * n + i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      for (int r = 0; r < rows; r++) x[r * n + i] -= L[k * n + i] * x[r * n + k];
    for (int r = 0; r < rows; r++) x[r * n + i] /= L[i * n + i];
  }
}

// The block of a reduced body is solved with dozens of times: for every row of its contacts, and for every λ
// that is judged.
static void solve_wide(const tbMetricBlock* b, int rows, double* x)
{
  if (b->ainv) tb_dense_multiply_rows(b->size, rows, b->ainv, x);
  else tb_dense_solve_rows(b->size, rows, b->chol, x);
}

void tb_metric_solve_rows(const tbMetricBlock* b, int rows, double* x)
{
  if (b->kind == TB_METRIC_DENSE && b->size == 6 && rows == 3) {
    solve_dense_rows(6, 3, b->chol, x);
    return;
  }
  if (b->kind == TB_METRIC_DENSE && b->size > 6) {
    solve_wide(b, rows, x);
    return;
  }
  for (int r = 0; r < rows; r++) tb_metric_solve(b, NULL, x + r * b->size, NULL);
}

static inline void multiply_add_dense(int n, const double* restrict A, const double* restrict x,
                                      double* restrict y)
{
  for (int i = 0; i < n; i++) {
    double sum = y[i];
    for (int j = 0; j < n; j++) sum += A[i * n + j] * x[j];
    y[i] = sum;
  }
}

// The same for a wide block, which is symmetric: entries of a row do not wait for each other. Not by the
// kernel that multiplies with A⁻¹, whose solutions the judge verifies by this product.
static void multiply_add_wide(int n, const double* restrict A, const double* restrict x, double* restrict y)
{
  double Ax[TB_DENSE_MOST];
  memset(Ax, 0, (size_t)n * sizeof *Ax);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) Ax[i] += A[k * n + i] * x[k];
  for (int i = 0; i < n; i++) y[i] += Ax[i];
}

void tb_metric_solve(const tbMetricBlock* b, tbThreads* threads, double* x, double* workspace)
{
  tb_metric_solve_unless((tbInterrupt){0}, b, threads, x, workspace);
}

void tb_metric_solve_unless(tbInterrupt interrupt, const tbMetricBlock* b, tbThreads* threads, double* x,
                            double* workspace)
{
  switch (b->kind) {
  case TB_METRIC_PARTICLE:
    for (int i = 0; i < b->size; i++) x[i] /= b->value[0];
    break;
  case TB_METRIC_DENSE:
    if (b->size == 6) solve_dense(6, b->chol, x); // a rigid body: the compiler writes the loops out
    else if (b->size < 6) solve_dense(b->size, b->chol, x);
    else solve_wide(b, 1, x);
    break;
  case TB_METRIC_SPARSE:
    if (b->factor) tb_cholesky_solve(NULL, b->factor, 1, x, x, workspace);
    else tb_metric_cg_unless(interrupt, b, threads, TB_METRIC_EXACT, x, workspace);
    break;
  }
}

void tb_metric_multiply_add(const tbMetricBlock* b, const double* x, double* y)
{
  int n = b->size;
  switch (b->kind) {
  case TB_METRIC_PARTICLE:
    for (int i = 0; i < n; i++) y[i] += b->value[0] * x[i];
    break;
  case TB_METRIC_DENSE:
    if (n == 6) multiply_add_dense(6, b->value, x, y);
    else if (b->ainv) multiply_add_wide(n, b->value, x, y);
    else multiply_add_dense(n, b->value, x, y);
    break;
  case TB_METRIC_SPARSE:
    for (int i = 0; i < n; i++)
      for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) y[i] += b->value[e] * x[b->col[e]];
    break;
  }
}
