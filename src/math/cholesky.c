#include "math/cholesky.h"
#include "base/memory.h"
#include <math.h>
#include <string.h>
struct tbCholesky {
  int n;
  const int *ptr, *idx;
  double* L;
};
tbStatus tb_cholesky_analyze(tbContext* ctx, int n, const int* ptr, const int* idx, const void* options,
                             tbCholesky** out)
{
  (void)options;
  tbCholesky* f = TB_NEW(ctx, tbCholesky, 1);
  if (!f) return TB_ERROR_MEMORY;
  *f = (tbCholesky){n, ptr, idx, TB_NEW(ctx, double, (size_t)n*(size_t)n)};
  if (!f->L) {
    tb_free(ctx, f);
    return TB_ERROR_MEMORY;
  }
  *out = f;
  return TB_OK;
}
tbStatus tb_cholesky_factor(tbContext* ctx, tbCholesky* f, const double* values)
{
  int n = f->n;
  double* L = f->L;
  memset(L, 0, (size_t)n * (size_t)n * 8);
  for (int i = 0; i < n; i++)
    for (int e = f->ptr[i]; e < f->ptr[i + 1]; e++) L[i * n + f->idx[e]] = values[e];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = L[i * n + j];
      for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      if (i == j) {
        if (!(s > 0)) return tb_fail(ctx, TB_ERROR_NUMERIC, "not positive definite: pivot at row %d", i);
        L[i * n + i] = sqrt(s);
      } else
        L[i * n + j] = s / L[j * n + j];
    }
  return TB_OK;
}
size_t tb_cholesky_workspace(const tbCholesky* f, int nrhs) { return (size_t)f->n * (size_t)nrhs; }
void tb_cholesky_solve(const tbCholesky* f, int nrhs, const double* b, double* x, double* w)
{
  (void)w;
  int n = f->n;
  double* L = f->L;
  if (b != x) memcpy(x, b, (size_t)(n * nrhs) * 8);
  for (int r = 0; r < nrhs; r++, x += n) {
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
      x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
      x[i] /= L[i * n + i];
    }
  }
}
void tb_cholesky_free(tbContext* ctx, tbCholesky* f)
{
  if (f) {
    tb_free(ctx, f->L);
    tb_free(ctx, f);
  }
}
