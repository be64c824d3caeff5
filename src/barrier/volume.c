// SPDX-License-Identifier: Apache-2.0
#include "barrier/volume.h"

#include "math/eig3.h"
#include "math/svd3.h"

#include <string.h>

tbVolume tb_volume_of(const tbVec3 corner[4], double rest)
{
  tbVolume c = {.share = 1 / (6 * rest)};
  for (int k = 0; k < 3; k++) c.e[k] = tb_sub3(corner[k + 1], corner[0]);
  for (int k = 0; k < 3; k++) c.n[k] = tb_scale3(c.share, tb_cross3(c.e[(k + 1) % 3], c.e[(k + 2) % 3]));
  c.J = tb_dot3(c.e[0], c.n[0]);
  return c;
}

static void add_outer(double value, const double q[9], double H[81])
{
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) H[9 * i + j] += value * q[i] * q[j];
}

// With the edges as columns, D = U diag(s) Vᵀ, and changes U X Vᵀ of it,
//
//   J'' = 2 Σ s_k (X_ii X_jj − X_ij X_ji)/(6 V₀)        k: neither i nor j
//
// so that X_ij ± X_ji have the eigenvalues ∓ W' s_k/(6 V₀), and the diagonal of X a matrix of three.
static void positive_part(const tbVolume* c, tbJet w, double H[81])
{
  tbSvd3 D = tb_svd3(tb_mat3_cols(c->e[0], c->e[1], c->e[2]));
  double q[9], g[3];
  tbMat3 A;
  memset(H, 0, 81 * sizeof *H);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double value = -w.first * c->share * D.s[k], sign = value > 0 ? 1 : -1;
    g[k] = c->share * D.s[i] * D.s[j];
    A.m[i][j] = A.m[j][i] = -value;
    A.m[k][k] = 0;
    for (int n = 0; n < 9; n++)
      q[n] = sqrt(0.5) * (D.U.m[n % 3][i] * D.V.m[n / 3][j] + sign * D.U.m[n % 3][j] * D.V.m[n / 3][i]);
    add_outer(fabs(value), q, H);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] += w.second * g[i] * g[j];
  tbEig3 e = tb_eig3(A);
  for (int k = 0; k < 3 && e.s[k] > 0; k++) {
    for (int n = 0; n < 9; n++) {
      q[n] = 0;
      for (int m = 0; m < 3; m++) q[n] += e.V.m[m][k] * D.U.m[n % 3][m] * D.V.m[n / 3][m];
    }
    add_outer(e.s[k], q, H);
  }
}

static void as_it_is(const tbVolume* c, tbJet w, double H[81])
{
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) H[9 * i + j] = w.second * (&c->n[i / 3].x)[i % 3] * (&c->n[j / 3].x)[j % 3];
  for (int k = 0; k < 3; k++) { // ∂n_k by the next edge is −[e of the one after]×
    int next = (k + 1) % 3, last = (k + 2) % 3;
    tbMat3 S = tb_mat3_scale(-c->share * w.first, tb_mat3_skew(c->e[last]));
    for (int r = 0; r < 3; r++)
      for (int s = 0; s < 3; s++) {
        H[9 * (3 * k + r) + 3 * next + s] += S.m[r][s];
        H[9 * (3 * next + s) + 3 * k + r] += S.m[r][s];
      }
  }
}

void tb_volume_hessian(const tbVolume* c, tbJet w, bool positive, double H[81])
{
  if (positive) positive_part(c, w, H);
  else as_it_is(c, w, H);
}
