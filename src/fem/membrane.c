// SPDX-License-Identifier: Apache-2.0
// A triangle of cloth after Baraff and Witkin 1998, as a finite element (Kim 2020).
//
// F = [w_u w_v] maps warp and weft, 3×2. With stretch stiffness k and shear stiffness q, per area,
//
//   Ψ = ψ(|w_u|) + ψ(|w_v|) + ½ q (w_u·w_v)²,   ψ(l) = ½ k (l − 1)² + ½ κ d(l)²
//
// where d is how far l is outside of [1 − s, 1 + s]: the strain limit s, with stiffness κ.
//
// Positive parts, each in closed form:
//   stretch   eigenvalues ψ'' along w and ψ'/|w|, twice, across it: clamped where threads are slack
//   shear     with s = w_u·w_v, in coordinates y = (d_u + d_v)/√2, z = (d_u − d_v)/√2: s across p, −s across
//   r (each
//             twice), where p = (w_u + w_v)/√2, r = (w_v − w_u)/√2, and ½ (I ± √(I² + 12 s²)), I = |w_u|² +
//             |w_v|², in the plane of (p, 0) and (0, r); one of each pair is positive
// The sum of positive parts is positive, if not always the closest to the whole.
#include "fem/sheet.h"

tbMembraneRest tb_membrane_rest(const tbVec3 X[3], tbVec3 warp)
{
  tbVec3 a = tb_sub3(X[1], X[0]), b = tb_sub3(X[2], X[0]), c = tb_sub3(X[2], X[1]), normal = tb_cross3(a, b);
  double twice = tb_norm3(normal);
  tbVec3 n = tb_normalize3(normal), w = tb_normalize3(warp), u = tb_madd3(w, -tb_dot3(w, n), n);
  if (tb_norm3(u) < 0.1) {
    u = tb_dot3(a, a) >= tb_dot3(b, b) ? a : b;
    if (tb_dot3(c, c) > tb_dot3(u, u)) u = c;
  }
  u = tb_normalize3(u);
  tbVec3 v = tb_cross3(n, u);
  double au = tb_dot3(a, u), av = tb_dot3(a, v), bu = tb_dot3(b, u), bv = tb_dot3(b, v);
  return (tbMembraneRest){0.5 * twice, {{bv / twice, -bu / twice}, {-av / twice, au / twice}}};
}

typedef struct {
  tbMat3 uu, uv, vv; // ∂²Ψ/∂F², by columns of F
} Tangent;

// k n nᵀ + c (I − n nᵀ)
static tbMat3 along_across(double k, double c, tbVec3 n)
{
  tbMat3 A = tb_mat3_outer(tb_scale3(k - c, n), n);
  for (int i = 0; i < 3; i++) {
    A.m[i][i] += c;
    for (int j = 0; j < i; j++) A.m[i][j] = A.m[j][i];
  }
  return A;
}

tbMembraneStiffness tb_membrane_stiffness(const tbClothDef* cloth)
{
  double limit = cloth->limit_stiffness > 0 ? cloth->limit_stiffness : 100 * cloth->stretch;
  return (tbMembraneStiffness){cloth->stretch, cloth->shear, cloth->strain_limit,
                               cloth->strain_limit > 0 ? limit : 0};
}

// ψ of a thread and its derivatives by the length.
typedef struct {
  double energy, slope, curvature, across; // across: slope / length
} Thread;

static Thread thread(const tbMembraneStiffness* m, double length)
{
  double c = length - 1, beyond = fmax(c - m->strain_limit, 0) + fmin(c + m->strain_limit, 0);
  return (Thread){0.5 * m->stretch * (c * c) + 0.5 * m->limit * (beyond * beyond),
                  m->stretch * c + m->limit * beyond, m->stretch + (beyond != 0 ? m->limit : 0),
                  m->stretch * (1 - 1 / fmax(length, 1e-12)) + m->limit * (beyond / fmax(length, 1e-12))};
}

static tbMat3 stretch_tangent(Thread t, tbVec3 w, bool positive)
{
  return along_across(t.curvature, positive ? fmax(t.across, 0) : t.across, tb_normalize3(w));
}

static Tangent shear_exact(double q, tbVec3 wu, tbVec3 wv)
{
  double s = tb_dot3(wu, wv);
  Tangent t = {along_across(q * tb_dot3(wv, wv), 0, tb_normalize3(wv)), tb_mat3_outer(tb_scale3(q, wv), wu),
               along_across(q * tb_dot3(wu, wu), 0, tb_normalize3(wu))};
  for (int i = 0; i < 3; i++) t.uv.m[i][i] += q * s;
  return t;
}

static Tangent shear_positive(double q, tbVec3 wu, tbVec3 wv)
{
  const double half = 0.70710678118654752;
  double s = tb_dot3(wu, wv), I = tb_dot3(wu, wu) + tb_dot3(wv, wv);
  tbVec3 p = tb_scale3(half, tb_add3(wu, wv)), r = tb_scale3(half, tb_sub3(wv, wu));
  double pp = tb_dot3(p, p), rr = tb_dot3(r, r), pr = sqrt(pp * rr),
         top = 0.5 * (I + sqrt(I * I + 12 * s * s));
  double c = s >= 0 ? top - (rr - s) : pr, d = s >= 0 ? pr : top - (pp + s), n = c * c + d * d;
  n = n > 0 ? q * top / n : 0;
  p = tb_normalize3(p), r = tb_normalize3(r);
  tbMat3 yy = along_across(n * c * c, q * fmax(s, 0), p), zz = along_across(n * d * d, q * fmax(-s, 0), r);
  Tangent t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double yz = n * (c * d) * ((&p.x)[i] * (&r.x)[j]), zy = n * (c * d) * ((&p.x)[j] * (&r.x)[i]);
      t.uu.m[i][j] = 0.5 * ((yy.m[i][j] + zz.m[i][j]) + (yz + zy));
      t.vv.m[i][j] = 0.5 * ((yy.m[i][j] + zz.m[i][j]) - (yz + zy));
      t.uv.m[i][j] = 0.5 * ((yy.m[i][j] - zz.m[i][j]) + (zy - yz));
    }
  return t;
}

// K_ij = area Σ g_i g_j over the columns of F for corners 1 and 2; corner 0 has minus their sums.
static void blocks(const Tangent* t, const tbMembraneRest* rest, double K[TB_MEMBRANE_BLOCKS][9])
{
  enum { K00, K01, K02, K11, K12, K22 };
  static const int corner[3][3] = {{K11, 0, 0}, {K12, 0, 1}, {K22, 1, 1}};
  for (int n = 0; n < 3; n++) {
    const double *p = rest->g[corner[n][1]], *q = rest->g[corner[n][2]];
    double uu = rest->area * (p[0] * q[0]), vv = rest->area * (p[1] * q[1]);
    double uv = rest->area * (p[0] * q[1]), vu = rest->area * (p[1] * q[0]);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        K[corner[n][0]][3 * i + j] =
            (uu * t->uu.m[i][j] + vv * t->vv.m[i][j]) + (uv * t->uv.m[i][j] + vu * t->uv.m[j][i]);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j, m = 3 * j + i;
      K[K01][k] = -(K[K11][k] + K[K12][m]);
      K[K02][k] = -(K[K12][k] + K[K22][k]);
      K[K00][k] = (K[K11][k] + K[K22][k]) + (K[K12][k] + K[K12][m]);
    }
}

double tb_membrane_evaluate(const tbMembraneStiffness* m, const tbMembraneRest* rest, const tbVec3 x[3],
                            tbTangent tangent, double f[9], double K[TB_MEMBRANE_BLOCKS][9])
{
  const double(*g)[2] = rest->g;
  tbVec3 a = tb_sub3(x[1], x[0]), b = tb_sub3(x[2], x[0]);
  tbVec3 wu = tb_madd3(tb_scale3(g[0][0], a), g[1][0], b), wv = tb_madd3(tb_scale3(g[0][1], a), g[1][1], b);
  Thread u = thread(m, tb_norm3(wu)), v = thread(m, tb_norm3(wv));
  double q = m->shear, s = tb_dot3(wu, wv);
  tbVec3 Pu = tb_madd3(tb_scale3(u.slope, tb_normalize3(wu)), q * s, wv);
  tbVec3 Pv = tb_madd3(tb_scale3(v.slope, tb_normalize3(wv)), q * s, wu);
  tbVec3 f1 = tb_scale3(-rest->area, tb_madd3(tb_scale3(g[0][0], Pu), g[0][1], Pv));
  tbVec3 f2 = tb_scale3(-rest->area, tb_madd3(tb_scale3(g[1][0], Pu), g[1][1], Pv));
  tb_store3(f, tb_neg3(tb_add3(f1, f2)));
  tb_store3(f + 3, f1);
  tb_store3(f + 6, f2);
  if (tangent != TB_TANGENT_NONE) {
    bool positive = tangent == TB_TANGENT_POSITIVE;
    Tangent t = positive ? shear_positive(q, wu, wv) : shear_exact(q, wu, wv);
    t.uu = tb_mat3_add(t.uu, stretch_tangent(u, wu, positive));
    t.vv = tb_mat3_add(t.vv, stretch_tangent(v, wv, positive));
    blocks(&t, rest, K);
  }
  return rest->area * ((u.energy + v.energy) + 0.5 * q * (s * s));
}
