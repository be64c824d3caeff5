// SPDX-License-Identifier: Apache-2.0
// The linear tetrahedron: F is constant in it, F = Σ (x_i − x₀) g_iᵀ, and with it stress and energy density.
//
//   f_i = −V P g_i          K_ij = V ∂(P g_i)/∂x_j = V U K̂_ij Uᵀ
//
// In the frame where the derivative of the stress is diagonal (tbStress) and with ĝ = Vᵀ g, the block K̂_ij is
//
//   K̂[a][a] = diag_aa ĝ_ia ĝ_ja + Σ_{c≠a} ½(sym + skew)_ac ĝ_ic ĝ_jc
//   K̂[a][b] = diag_ab ĝ_ia ĝ_jb + ½(sym − skew)_ab ĝ_ib ĝ_ja
//
// Six blocks are computed for corners 1, 2, 3, as many elements side by side as the machine is wide; those of
// corner 0 are minus their sums, since g₀ = −Σ g_i.
#include "fem/elastic.h"

#include "base/simd.h"

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

void tb_tet_complete(double K[TB_TET_BLOCKS][9])
{
  enum { K00, K01, K02, K03, K11, K12, K13, K22, K23, K33 };
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      int k = 3 * a + b, t = 3 * b + a;
      K[K01][k] = -(K[K11][k] + K[K12][t] + K[K13][t]);
      K[K02][k] = -(K[K12][k] + K[K22][k] + K[K23][t]);
      K[K03][k] = -(K[K13][k] + K[K23][k] + K[K33][k]);
      K[K00][k] = K[K11][k] + K[K22][k] + K[K33][k] + (K[K12][k] + K[K12][t]) + (K[K13][k] + K[K13][t]) +
                  (K[K23][k] + K[K23][t]);
    }
}

// What K̂ is made of, TB_WIDE elements side by side; coefficients are scaled by the volume.
typedef struct {
  tbwd U[3][3], g[3][3]; // g: corner, axis
  tbwd diag[3][3], same[3][3], cross[3][3];
} Frame;

// The numbers of one element, in the order of Frame.
static void unpack(const tbStress* s, const tbTetRest* rest, double out[45])
{
  double g[3];
  for (int a = 0; a < 3; a++) {
    tb_store3(g, tb_mat3_tmulv(s->V, rest->g[a]));
    for (int b = 0; b < 3; b++) {
      int k = 3 * a + b, c = 3 - a - b;
      out[k] = s->U.m[a][b];
      out[9 + k] = g[b];
      out[18 + k] = rest->volume * s->diag[a][b];
      out[27 + k] = a == b ? 0 : 0.5 * rest->volume * (s->sym[c] + s->skew[c]);
      out[36 + k] = a == b ? 0 : 0.5 * rest->volume * (s->sym[c] - s->skew[c]);
    }
  }
}

static tbwd mul_add(tbwd a, tbwd b, tbwd c, tbwd d) { return tbw_add(tbw_mul(a, b), tbw_mul(c, d)); }

// U K̂ Uᵀ for the gradients p, q of two corners; symmetric to the bit when they are the same corner.
static void block(const Frame* f, const tbwd p[3], const tbwd q[3], bool same, double (*K)[TB_WIDE])
{
  tbwd H[3][3], T[3];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      int d = (a + 1) % 3, e = (a + 2) % 3;
      H[a][b] =
          a != b ? mul_add(f->diag[a][b], tbw_mul(p[a], q[b]), f->cross[a][b], tbw_mul(p[b], q[a]))
                 : tbw_add(tbw_mul(f->diag[a][a], tbw_mul(p[a], q[a])),
                           mul_add(f->same[a][d], tbw_mul(p[d], q[d]), f->same[a][e], tbw_mul(p[e], q[e])));
    }
  for (int a = 0; a < 3; a++) {
    const tbwd* u = f->U[a];
    for (int b = 0; b < 3; b++) T[b] = tbw_add(mul_add(u[0], H[0][b], u[1], H[1][b]), tbw_mul(u[2], H[2][b]));
    for (int b = same ? a : 0; b < 3; b++) {
      const tbwd* v = f->U[b];
      tbwd entry = tbw_add(mul_add(T[0], v[0], T[1], v[1]), tbw_mul(T[2], v[2]));
      tbw_store(K[3 * a + b], entry);
      if (same) tbw_store(K[3 * b + a], entry);
    }
  }
}

static void stiffness(int count, const tbStress* s, const tbTetRest* rest, double (*K)[9])
{
  enum { K11 = 4, BLOCKS = 6, NUMBERS = sizeof(Frame) / sizeof(tbwd) };
  static const int corner[BLOCKS][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  double lane[NUMBERS][TB_WIDE] = {{0}}, wide[BLOCKS][9][TB_WIDE];
  for (int e = 0; e < count; e++) {
    double number[NUMBERS];
    unpack(&s[e], &rest[e], number);
    for (int n = 0; n < NUMBERS; n++) lane[n][e] = number[n];
  }
  Frame f;
  for (int n = 0; n < NUMBERS; n++) (&f.U[0][0])[n] = tbw_load(lane[n]);
  for (int k = 0; k < BLOCKS; k++)
    block(&f, f.g[corner[k][0]], f.g[corner[k][1]], corner[k][0] == corner[k][1], wide[k]);
  for (int e = 0; e < count; e++) {
    double(*to)[9] = K + TB_TET_BLOCKS * e;
    for (int k = 0; k < BLOCKS; k++)
      for (int n = 0; n < 9; n++) to[K11 + k][n] = wide[k][n][e];
    tb_tet_complete(to);
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
  if (tangent != TB_TANGENT_NONE) stiffness(1, &s, rest, K);
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
    if (f) forces(&s[e], &rest[e], f + 12 * e);
  }
  for (int e = 0; f && tangent != TB_TANGENT_NONE && e < count; e += TB_WIDE)
    stiffness(count - e < TB_WIDE ? count - e : TB_WIDE, &s[e], &rest[e], K + TB_TET_BLOCKS * e);
}
