// SPDX-License-Identifier: Apache-2.0
#include "fem/statics.h"

#include "math/cholesky.h"
#include "test.h"

#include <math.h>
#include <string.h>

static double potential(tbFemBody* body, const double* load, const tbVec3* x)
{
  double e = tb_fem_energy(body, x);
  for (int i = 0; load && i < 3 * body->nnode; i++) e -= load[i] * (&x[i / 3].x)[i % 3];
  return e;
}

static void pin(const tbFemBody* body, double* A)
{
  const tbCsr* K = &body->K;
  for (int i = 0; i < K->rows; i++)
    for (int n = K->ptr[i]; n < K->ptr[i + 1]; n++) {
      int j = K->idx[n];
      if (body->pinned[i / 3] || body->pinned[j / 3]) A[n] = i == j;
    }
}

int test_equilibrium(tbContext* ctx, tbFemBody* body, const double* load, double tolerance, int most,
                     tbVec3* x)
{
  size_t n = 3 * (size_t)body->nnode, entries = (size_t)body->K.ptr[n];
  tbCholesky* factor = NULL;
  CHECK_OK(ctx, tb_cholesky_analyze(ctx, (int)n, body->K.ptr, body->K.idx, NULL, &factor));
  double *f = TB_NEW(ctx, double, n), *d = TB_NEW(ctx, double, n), *A = TB_NEW(ctx, double, entries);
  double* scratch = TB_NEW(ctx, double, tb_cholesky_scratch(factor, 1));
  tbVec3* next = TB_NEW(ctx, tbVec3, n / 3);
  int steps = -1;
  for (int step = 0; step <= most; step++) {
    tb_fem_evaluate(body, NULL, x, TB_TANGENT_POSITIVE, f);
    double worst = 0, slope = 0, energy = potential(body, load, x);
    for (size_t i = 0; i < n; i++) {
      if (load) f[i] += load[i];
      if (body->pinned[i / 3]) f[i] = 0;
      worst = fmax(worst, fabs(f[i]));
    }
    if (worst <= tolerance) {
      steps = step;
      break;
    }
    tb_fem_stiffness(body, NULL, A);
    pin(body, A);
    for (double shift = 0;
         tb_cholesky_factor(ctx, factor, A) != TB_OK;) { // a mechanism: singular to rounding
      shift = shift > 0 ? 10 * shift : 1e-9 * A[0];
      for (size_t i = 0; i < n; i++)
        for (int k = body->K.ptr[i]; k < body->K.ptr[i + 1]; k++)
          if (body->K.idx[k] == (int)i) A[k] += shift;
    }
    CHECK_OK(ctx, tb_cholesky_solve(ctx, factor, 1, f, d, scratch));
    for (size_t i = 0; i < n; i++) slope += d[i] * f[i];
    for (double t = 1; t > 1e-9; t /= 2) {
      for (size_t i = 0; i < n; i++) (&next[i / 3].x)[i % 3] = (&x[i / 3].x)[i % 3] + t * d[i];
      double allowed = 1e-13 * fabs(energy);
      if (potential(body, load, next) > energy - 1e-4 * t * slope + allowed) continue;
      memcpy(x, next, n / 3 * sizeof *x);
      break;
    }
  }
  tb_cholesky_free(ctx, factor);
  tb_free(ctx, f);
  tb_free(ctx, d);
  tb_free(ctx, A);
  tb_free(ctx, scratch);
  tb_free(ctx, next);
  return steps;
}
