// The linear tetrahedron: F is constant in it, F = Σ (x_i − x₀) g_iᵀ, and with it stress and energy density.
//
//   f_i = −V P g_i          K_ij = V ∂(P g_i)/∂x_j = V U K̂_ij Uᵀ
//
// In the frame where the derivative of the stress is diagonal (tbStress) and with ĝ = Vᵀ g, the block K̂_ij is
//
//   K̂[a][a] = diag_aa ĝ_ia ĝ_ja + Σ_{c≠a} ½(sym + skew)_ac ĝ_ic ĝ_jc
//   K̂[a][b] = diag_ab ĝ_ia ĝ_jb + ½(sym − skew)_ab ĝ_ib ĝ_ja
//
// Six blocks are computed for corners 1, 2, 3; those of corner 0 are minus their sums, since g₀ = −Σ g_i.
#include "fem/elastic.h"

tbTetRest tb_tet_rest(const tbVec3 X[4])
{
  tbVec3 a = tb_sub3(X[1], X[0]), b = tb_sub3(X[2], X[0]), c = tb_sub3(X[3], X[0]);
  double volume = tb_dot3(tb_cross3(a, b), c) / 6;
  tbMat3 inverse = tb_mat3_inverse(tb_mat3_cols(a, b, c)); // its rows are the gradients
  return (tbTetRest){volume, {tb_mat3_row(inverse, 0), tb_mat3_row(inverse, 1), tb_mat3_row(inverse, 2)}};
}

tbMat3 tb_tet_gradient(const tbTetRest* rest, const tbVec3 x[4])
{
  tbMat3 D = tb_mat3_cols(tb_sub3(x[1], x[0]), tb_sub3(x[2], x[0]), tb_sub3(x[3], x[0]));
  return tb_mat3_mul(D, tb_mat3_rows(rest->g[0], rest->g[1], rest->g[2]));
}

double tb_tet_energy(const tbElastic* m, const tbTetRest* rest, const tbVec3 x[4])
{
  return rest->volume * tb_elastic_energy(m, tb_tet_gradient(rest, x));
}

// The coefficients of K̂, scaled by the volume.
typedef struct {
  double diag[3][3], same[3][3], cross[3][3];
} Frame;

static Frame frame_of(const tbStress* s, double volume)
{
  Frame f;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      int c = 3 - a - b;
      f.diag[a][b] = volume * s->diag[a][b];
      f.same[a][b] = a == b ? 0 : 0.5 * volume * (s->sym[c] + s->skew[c]);
      f.cross[a][b] = a == b ? 0 : 0.5 * volume * (s->sym[c] - s->skew[c]);
    }
  return f;
}

// U K̂ Uᵀ for the gradients p, q of two corners; symmetric to the bit when they are the same corner.
static void block(const Frame* f, tbMat3 U, const double p[3], const double q[3], bool same, double K[9])
{
  tbMat3 H, T;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) H.m[a][b] = f->diag[a][b] * (p[a] * q[b]) + f->cross[a][b] * (p[b] * q[a]);
  for (int a = 0; a < 3; a++) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    H.m[a][a] += f->same[a][b] * (p[b] * q[b]) + f->same[a][c] * (p[c] * q[c]);
  }
  T = tb_mat3_mul(U, H);
  for (int a = 0; a < 3; a++)
    for (int b = same ? a : 0; b < 3; b++) {
      K[3 * a + b] = T.m[a][0] * U.m[b][0] + T.m[a][1] * U.m[b][1] + T.m[a][2] * U.m[b][2];
      if (same) K[3 * b + a] = K[3 * a + b];
    }
}

static void stiffness(const tbStress* s, const tbTetRest* rest, double K[TB_TET_BLOCKS][9])
{
  enum { K00, K01, K02, K03, K11, K12, K13, K22, K23, K33 };
  Frame f = frame_of(s, rest->volume);
  double g[3][3];
  for (int i = 0; i < 3; i++) tb_store3(g[i], tb_mat3_tmulv(s->V, rest->g[i]));
  block(&f, s->U, g[0], g[0], true, K[K11]);
  block(&f, s->U, g[0], g[1], false, K[K12]);
  block(&f, s->U, g[0], g[2], false, K[K13]);
  block(&f, s->U, g[1], g[1], true, K[K22]);
  block(&f, s->U, g[1], g[2], false, K[K23]);
  block(&f, s->U, g[2], g[2], true, K[K33]);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      int k = 3 * a + b, t = 3 * b + a;
      K[K01][k] = -(K[K11][k] + K[K12][t] + K[K13][t]);
      K[K02][k] = -(K[K12][k] + K[K22][k] + K[K23][t]);
      K[K03][k] = -(K[K13][k] + K[K23][k] + K[K33][k]);
    }
  for (int a = 0; a < 3; a++)
    for (int b = a; b < 3; b++) {
      int k = 3 * a + b, t = 3 * b + a;
      K[K00][k] = K[K00][t] = K[K11][k] + K[K22][k] + K[K33][k] + (K[K12][k] + K[K12][t]) +
                              (K[K13][k] + K[K13][t]) + (K[K23][k] + K[K23][t]);
    }
}

static void forces(const tbStress* s, const tbTetRest* rest, double f[12])
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < 3; i++) {
    tbVec3 force = tb_scale3(-rest->volume, tb_mat3_mulv(s->P, rest->g[i]));
    tb_store3(f + 3 * (i + 1), force);
    sum = tb_add3(sum, force);
  }
  tb_store3(f, tb_neg3(sum));
}

double tb_tet_evaluate(const tbElastic* m, const tbTetRest* rest, const tbVec3 x[4], tbTangent tangent,
                       double f[12], double K[TB_TET_BLOCKS][9])
{
  tbStress s;
  tb_elastic_stress(m, tb_tet_gradient(rest, x), tangent, &s);
  forces(&s, rest, f);
  if (tangent != TB_TANGENT_NONE) stiffness(&s, rest, K);
  return rest->volume * s.energy;
}

void tb_tets_evaluate(const tbElastic* m, int count, const tbTetRest* rest, const tbVec3 (*x)[4],
                      tbTangent tangent, double* energy, double* f, double (*K)[9])
{
  tbMat3 F[TB_ELASTIC_MANY] = {0};
  tbStress s[TB_ELASTIC_MANY];
  for (int e = 0; e < count; e++) F[e] = tb_tet_gradient(&rest[e], x[e]);
  if (f) tb_elastic_stress_many(m, count, F, tangent, s);
  else tb_elastic_energy_many(m, count, F, energy);
  for (int e = 0; e < count; e++) {
    energy[e] = rest[e].volume * (f ? s[e].energy : energy[e]);
    if (!f) continue;
    forces(&s[e], &rest[e], f + 12 * e);
    if (tangent != TB_TANGENT_NONE) stiffness(&s[e], &rest[e], K + TB_TET_BLOCKS * e);
  }
}
