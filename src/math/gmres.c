// SPDX-License-Identifier: Apache-2.0
#include "math/gmres.h"
#include "math/dot.h"
#include "base/stop.h"
#include "math/scale.h"

#include <string.h>

size_t tb_gmres_workspace(int n) { return (size_t)n * (TB_GMRES_BASIS + 3); }

// x += P (V y) with y from the triangular system H y = g.
static void add_combination(const tbGmres* s, int count, double H[][TB_GMRES_BASIS], double* g,
                            const double* V, double* x, double* sum, double* z)
{
  size_t n = (size_t)s->n;
  for (int j = count - 1; j >= 0; j--) {
    for (int k = j + 1; k < count; k++) g[j] -= H[j][k] * g[k];
    g[j] = H[j][j] != 0 ? g[j] / H[j][j] : 0;
  }
  memset(sum, 0, n * sizeof *sum);
  for (int j = 0; j < count; j++)
    for (size_t i = 0; i < n; i++) sum[i] += g[j] * V[(size_t)j * n + i];
  if (s->precondition) s->precondition(s->user, sum, z);
  else memcpy(z, sum, n * sizeof *z);
  for (size_t i = 0; i < n; i++) x[i] += z[i];
}

double tb_gmres(const tbGmres* s, const double* b, double* x, double* workspace)
{
  size_t n = (size_t)s->n;
  double *V = workspace, *w = V + n * (TB_GMRES_BASIS + 1), *z = w + n;
  double H[TB_GMRES_BASIS + 1][TB_GMRES_BASIS], g[TB_GMRES_BASIS + 1], c[TB_GMRES_BASIS], sn[TB_GMRES_BASIS];
  double target = sqrt(tb_dot_in_order(s->n, b, b)), left = target;
  if (!(target > 0)) {
    memset(x, 0, n * sizeof *x);
    return 0;
  }
  for (int products = 0; products < s->max_products && !tb_asked(s->interrupt);) {
    s->apply(s->user, x, w);
    products++;
    for (size_t i = 0; i < n; i++) V[i] = b[i] - w[i];
    double length = left = sqrt(tb_dot_in_order(s->n, V, V));
    if (!(left > s->tolerance * target)) break;
    for (size_t i = 0; i < n; i++) V[i] /= length;
    g[0] = length;
    int j = 0;
    for (; j < TB_GMRES_BASIS && products < s->max_products && !tb_asked(s->interrupt); j++, products++) {
      double *v = V + (size_t)j * n, *next = v + n;
      if (s->precondition) s->precondition(s->user, v, z);
      s->apply(s->user, s->precondition ? z : v, next);
      for (int i = 0; i <= j; i++) {
        H[i][j] = tb_dot_in_order(s->n, next, V + (size_t)i * n);
        for (size_t k = 0; k < n; k++) next[k] -= H[i][j] * V[(size_t)i * n + k];
      }
      double norm = H[j + 1][j] = sqrt(tb_dot_in_order(s->n, next, next));
      for (size_t k = 0; norm > 0 && k < n; k++) next[k] /= norm;
      for (int i = 0; i < j; i++) {
        double t = c[i] * H[i][j] + sn[i] * H[i + 1][j];
        H[i + 1][j] = c[i] * H[i + 1][j] - sn[i] * H[i][j];
        H[i][j] = t;
      }
      double r = tb_norm(2, (double[2]){H[j][j], H[j + 1][j]});
      if (!(r > 0)) break; // singular: this direction leads nowhere, and there is no other
      c[j] = H[j][j] / r, sn[j] = H[j + 1][j] / r;
      H[j][j] = r;
      g[j + 1] = -sn[j] * g[j];
      g[j] *= c[j];
      left = fabs(g[j + 1]);
      if (!(left > s->tolerance * target) || norm == 0) {
        j++;
        break;
      }
    }
    add_combination(s, j, H, g, V, x, w, z);
    if (j == 0 || !(left > s->tolerance * target)) break;
  }
  return left / target;
}
