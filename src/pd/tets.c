// SPDX-License-Identifier: Apache-2.0
// Tetrahedra project F = U diag(s) Vᵀ.
//
//   strain    R = U Vᵀ, the closest rotation
//   volume    G = U diag(g) Vᵀ, g the closest to s whose product is one
//   damping   R S₀, as stretched as at the start of the step (F₀ = R₀ S₀): what turns is not damped
#include "math/svd3.h"
#include "pd/elements.h"

enum { MANY = 32, NEWTON = 8 };

// min ‖g − s‖ with g₁g₂g₃ = 1: Newton's steps onto the linearised constraint, from s (Bouaziz et al. 2014).
static void keep_volume(const double s[3], double g[3])
{
  double d[3] = {0};
  for (int round = 0; round < NEWTON; round++) {
    for (int k = 0; k < 3; k++) g[k] = s[k] + d[k];
    double slope[3] = {g[1] * g[2], g[0] * g[2], g[0] * g[1]}, square = 0, along = 0;
    for (int k = 0; k < 3; k++) square += slope[k] * slope[k], along += slope[k] * d[k];
    double miss = g[0] * g[1] * g[2] - 1;
    if (fabs(miss) < 1e-12 || !(square > 1e-12)) break;
    for (int k = 0; k < 3; k++) d[k] = (along - miss) / square * slope[k];
  }
  for (int k = 0; k < 3; k++) g[k] = s[k] + d[k];
}

static tbMat3 gradient(const tbFemBody* fem, int e, const tbVec3* x)
{
  const int* node = fem->corner[0] + 4 * (size_t)e;
  tbVec3 at[4];
  for (int k = 0; k < 4; k++) at[k] = x[node[k]];
  return tb_tet_gradient(&fem->tet[e], at);
}

void tb_pd_tets(const tbPdBody* b, int begin, int end, const tbVec3* x, const tbMat3* stretch, tbVec3* push)
{
  const tbFemBody* fem = b->fem;
  tbMat3 F[MANY];
  tbSvd3 svd[MANY];
  double damping = tb_pd_damping(fem, b->h);
  for (int first = begin; first < end; first += MANY) {
    int count = end - first < MANY ? end - first : MANY;
    for (int i = 0; i < count; i++) F[i] = gradient(fem, first + i, x);
    tb_svd3_many(count, F, svd);
    for (int i = 0; i < count; i++) {
      tbPdWeights w = tb_pd_weights(fem, first + i);
      double g[3], mixed[3];
      keep_volume(svd[i].s, g);
      for (int k = 0; k < 3; k++) mixed[k] = b->h * (w.first + w.second * g[k]);
      tbMat3 U = tb_mat3_mul(svd[i].U, tb_mat3_diag(mixed[0], mixed[1], mixed[2]));
      tbMat3 target = tb_mat3_mult(U, svd[i].V);
      if (stretch) {
        tbMat3 R = tb_mat3_mult(svd[i].U, svd[i].V), S = stretch[first + i];
        target = tb_mat3_add(target, tb_mat3_scale(b->h * damping * (w.first + w.second), tb_mat3_mul(R, S)));
      }
      tbVec3* to = push + 4 * (size_t)(first + i);
      for (int c = 1; c < 4; c++) to[c] = tb_mat3_mulv(target, tb_pd_gradient(fem, first + i, c));
      to[0] = tb_neg3(tb_add3(tb_add3(to[1], to[2]), to[3]));
    }
  }
}
