// SPDX-License-Identifier: Apache-2.0
// Bending at an edge between two triangles: discrete shells (Grinspun et al. 2003), E = ½ bend |e|²/(A + B)
// (θ − θ̄)². That weight gives the plate's ½ bend ∫ κ² on equilateral triangles in every direction (Seung and
// Nelson 1988) and on grids along their axes; along the diagonals of a grid the sheet is half as stiff again,
// since a sum over hinges has no more symmetry than its mesh.
//
// With e along the edge and a, b to the opposite corners, all from corner 0, the angle between the normals is
// the difference of two azimuths around e, θ = φ(e, b) − φ(e, a), so that all its derivatives are those of φ.
// With N = e × a, l = |e| and t = a·e/l², the foot of a on the edge,
//
//   ∂φ/∂a = G = l N/|N|²                          ∂φ/∂e = −t G
//   ∂²φ/∂a∂a = l Q [e]×/|N|²                      Q = I − 2 N Nᵀ/|N|²
//   ∂²φ/∂a∂e = N eᵀ/(l |N|²) − l Q [a]×/|N|²      ∂²φ/∂e∂e = −G (a − 2te)ᵀ/l² − t ∂²φ/∂a∂e
//
// The second derivative of E is bend·weight·(∇θ ∇θᵀ + (θ − θ̄) ∇²θ); the first term alone is the positive
// tangent (Gauss–Newton), exact at the angle of rest. A triangle that collapses would bend with infinite
// force: its squared normal is kept above a millionth of that at rest.
#include "fem/sheet.h"

#include <string.h>

static const char* const bendings[TB_BENDING_COUNT] = {"quadratic", "dihedral"};

const char* tb_bending_name(tbBending bending)
{
  return bending >= 0 && bending < TB_BENDING_COUNT ? bendings[bending] : "?";
}

bool tb_bending_from_name(const char* name, tbBending* out)
{
  for (int k = 0; k < TB_BENDING_COUNT; k++)
    if (strcmp(name, bendings[k]) == 0) return *out = (tbBending)k, true;
  return false;
}

double tb_hinge_angle(const tbVec3 x[4])
{
  tbVec3 e = tb_sub3(x[1], x[0]), a = tb_sub3(x[2], x[0]), b = tb_sub3(x[3], x[0]);
  tbVec3 A = tb_cross3(e, a), B = tb_cross3(b, e);
  return tb_atan2(tb_dot3(tb_cross3(A, B), tb_normalize3(e)), tb_dot3(A, B));
}

tbHingeRest tb_hinge_rest(const tbVec3 X[4])
{
  tbVec3 e = tb_sub3(X[1], X[0]), A = tb_cross3(e, tb_sub3(X[2], X[0])),
         B = tb_cross3(tb_sub3(X[3], X[0]), e);
  double twice = tb_norm3(A) + tb_norm3(B);
  return (tbHingeRest){2 * tb_dot3(e, e) / twice, tb_hinge_angle(X),
                       1e-6 * fmin(tb_dot3(A, A), tb_dot3(B, B))};
}

typedef struct {
  tbVec3 a, e;       // ∂φ/∂a, ∂φ/∂e
  tbMat3 aa, ae, ee; // second derivatives, ae with rows for a
} Azimuth;

static Azimuth azimuth(tbVec3 e, tbVec3 a, double least, bool second)
{
  Azimuth r = {0};
  tbVec3 N = tb_cross3(e, a);
  double ll = tb_dot3(e, e), l = sqrt(ll), NN = fmax(tb_dot3(N, N), least),
         t = ll > 0 ? tb_dot3(a, e) / ll : 0;
  r.a = tb_scale3(l / NN, N);
  r.e = tb_scale3(-t, r.a);
  if (!second || !(ll > 0)) return r;
  tbMat3 Q = tb_mat3_sub(tb_mat3_identity(), tb_mat3_outer(tb_scale3(2 / NN, N), N));
  r.aa = tb_mat3_scale(l / NN, tb_mat3_mul(Q, tb_mat3_skew(e)));
  r.ae = tb_mat3_sub(tb_mat3_outer(tb_scale3(1 / (l * NN), N), e),
                     tb_mat3_scale(l / NN, tb_mat3_mul(Q, tb_mat3_skew(a))));
  tbVec3 dt = tb_scale3(1 / ll, tb_madd3(a, -2 * t, e));
  r.ee = tb_mat3_sub(tb_mat3_outer(tb_neg3(r.a), dt), tb_mat3_scale(t, r.ae));
  return r;
}

static double entry(const tbMat3* A, int i, int j, bool symmetric)
{
  return symmetric ? 0.5 * (A->m[i][j] + A->m[j][i]) : A->m[i][j];
}

// (θ − θ̄) ∇²θ added to the blocks of corners 1 (e), 2 (a) and 3 (b).
static void add_second(double scale, const Azimuth* A, const Azimuth* B, double K[TB_TET_BLOCKS][9])
{
  enum { K11 = 4, K12, K13, K22, K23, K33 };
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j;
      K[K11][k] += scale * (entry(&B->ee, i, j, true) - entry(&A->ee, i, j, true));
      K[K12][k] -= scale * A->ae.m[j][i];
      K[K13][k] += scale * B->ae.m[j][i];
      K[K22][k] -= scale * entry(&A->aa, i, j, true);
      K[K33][k] += scale * entry(&B->aa, i, j, true);
    }
}

double tb_hinge_evaluate(double bend, const tbHingeRest* rest, const tbVec3 x[4], tbTangent tangent,
                         double f[12], double K[TB_TET_BLOCKS][9])
{
  tbVec3 e = tb_sub3(x[1], x[0]), a = tb_sub3(x[2], x[0]), b = tb_sub3(x[3], x[0]);
  bool exact = tangent == TB_TANGENT_EXACT;
  Azimuth A = azimuth(e, a, rest->least, exact), B = azimuth(e, b, rest->least, exact);
  double c = bend * rest->weight, bent = tb_hinge_angle(x) - rest->angle, g[3][3]; // ∇θ by e, a, b
  tb_store3(g[0], tb_sub3(B.e, A.e));
  tb_store3(g[1], tb_neg3(A.a));
  tb_store3(g[2], B.a);
  for (int i = 0; i < 3; i++) {
    for (int n = 0; n < 3; n++) f[3 * (n + 1) + i] = -c * bent * g[n][i];
    f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
  }
  if (tangent != TB_TANGENT_NONE) {
    for (int m = 0, k = 4; m < 3; m++)
      for (int n = m; n < 3; n++, k++)
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) K[k][3 * i + j] = c * (g[m][i] * g[n][j]);
    if (exact) add_second(c * bent, &A, &B, K);
    tb_tet_complete(K);
  }
  return 0.5 * c * bent * bent;
}
