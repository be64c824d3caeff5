// SPDX-License-Identifier: Apache-2.0
#include "barrier/distance.h"

#include "collide/features.h"

#include <string.h>

tbDistance tb_distance_of(bool face, const tbVec3 x[4])
{
  tbClosest closest = tb_closest_features(face, x);
  const double* w = closest.weight;
  tbDistance d = {.way = closest.way, .square = tb_dot3(closest.way, closest.way)};
  int of_b = face ? 1 : 2;
  for (int k = 0; k < 4; k++) d.c[k] = k < of_b ? w[k] : -w[k];
  if (face) { // the corners of the face that take part, against the first of them
    int first = -1;
    for (int k = 1; k < 4; k++) {
      if (w[k] == 0) continue;
      if (first < 0) first = k;
      else d.dc[d.nfree][k] = -1, d.dc[d.nfree++][first] = 1;
    }
    return d;
  }
  for (int k = 0; k < 4; k += 2)
    if (w[k] != 0 && w[k + 1] != 0) d.dc[d.nfree][k] = -1, d.dc[d.nfree++][k + 1] = 1;
  return d;
}

static tbVec3 combine(const double c[4], const tbVec3 x[4])
{
  tbVec3 sum = tb_zero3(); // differences from the first corner: the coefficients add up to 0
  for (int k = 1; k < 4; k++) sum = tb_madd3(sum, c[k], tb_sub3(x[k], x[0]));
  return sum;
}

// (f_ββ)⁻¹ of the parameters, whose directions are e.
static void invert(int n, const tbVec3 e[2], double G[2][2])
{
  double a = n > 0 ? 2 * tb_dot3(e[0], e[0]) : 1, c = n > 1 ? 2 * tb_dot3(e[1], e[1]) : 1,
         b = n > 1 ? 2 * tb_dot3(e[0], e[1]) : 0, det = a * c - b * b;
  bool regular = det > 0;
  G[0][0] = regular ? c / det : 0, G[1][1] = regular ? a / det : 0;
  G[0][1] = G[1][0] = regular ? -b / det : 0;
}

void tb_distance_hessian_exact(const tbDistance* d, const tbVec3 x[4], double first, double second,
                               double H[144])
{
  tbVec3 e[2] = {combine(d->dc[0], x), combine(d->dc[1], x)}, mixed[2][4];
  double G[2][2];
  invert(d->nfree, e, G);
  for (int m = 0; m < d->nfree; m++)
    for (int k = 0; k < 4; k++)
      mixed[m][k] = tb_scale3(2, tb_madd3(tb_scale3(d->dc[m][k], d->way), d->c[k], e[m]));
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double cc = d->c[i / 3] * d->c[j / 3], sum = 0;
      double gi = (&d->way.x)[i % 3], gj = (&d->way.x)[j % 3];
      for (int m = 0; m < d->nfree; m++)
        for (int n = 0; n < d->nfree; n++)
          sum += (&mixed[m][i / 3].x)[i % 3] * G[m][n] * (&mixed[n][j / 3].x)[j % 3];
      H[12 * i + j] = second * 4 * cc * gi * gj + first * ((i % 3 == j % 3 ? 2 * cc : 0) - sum);
    }
}

// An orthonormal basis of c and dc: c = r[0] q0, dc_m = Σ r[1+m] q.
static void orthonormal(const tbDistance* d, double q[3][4], double r[3][3])
{
  for (int m = 0; m < 1 + d->nfree; m++) {
    const double* from = m ? d->dc[m - 1] : d->c;
    memcpy(q[m], from, 4 * sizeof(double));
    for (int k = 0; k < m; k++) {
      r[m][k] = 0;
      for (int i = 0; i < 4; i++) r[m][k] += q[k][i] * from[i];
      for (int i = 0; i < 4; i++) q[m][i] -= r[m][k] * q[k][i];
    }
    double size = 0;
    for (int i = 0; i < 4; i++) size += q[m][i] * q[m][i];
    r[m][m] = sqrt(size);
    for (int i = 0; i < 4; i++) q[m][i] = size > 0 ? q[m][i] / r[m][m] : 0;
  }
}

// In the basis q0⊗n, q0⊗t, q0⊗b, q1⊗n, q2⊗n.
static void reduced(const tbDistance* d, const tbVec3 x[4], const tbVec3 frame[3], double r[3][3],
                    double first, double second, int size, double* S)
{
  tbVec3 e[2] = {combine(d->dc[0], x), combine(d->dc[1], x)};
  double G[2][2], mixed[2][5] = {0}, length = sqrt(d->square), c2 = r[0][0] * r[0][0];
  invert(d->nfree, e, G);
  for (int m = 0; m < d->nfree; m++) {
    for (int k = 0; k < 3; k++) mixed[m][k] = 2 * r[0][0] * tb_dot3(e[m], frame[k]);
    mixed[m][0] += 2 * length * r[1 + m][0];
    for (int k = 1; k <= m + 1; k++) mixed[m][2 + k] = 2 * length * r[1 + m][k];
  }
  memset(S, 0, (size_t)(size * size) * sizeof *S);
  for (int k = 0; k < 3; k++) S[k * size + k] = first * 2 * c2;
  S[0] += second * 4 * d->square * c2;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      for (int m = 0; m < d->nfree; m++)
        for (int n = 0; n < d->nfree; n++) S[i * size + j] -= first * mixed[m][i] * G[m][n] * mixed[n][j];
}

// q ⊗ a: the four vertices' shares of direction a.
static void spread(const double q[4], tbVec3 a, double U[12])
{
  for (int i = 0; i < 4; i++) U[3 * i] = q[i] * a.x, U[3 * i + 1] = q[i] * a.y, U[3 * i + 2] = q[i] * a.z;
}

void tb_distance_hessian(const tbDistance* d, const tbVec3 x[4], double first, double second, double H[144])
{
  double q[3][4] = {{0}}, r[3][3] = {{0}}, S[25], U[5][12];
  int size = 3 + d->nfree;
  tbVec3 n = tb_normalize3(d->way);
  tbMat3 axes = tb_mat3_frame(n);
  tbVec3 frame[3] = {n, tb_mat3_row(axes, 1), tb_mat3_row(axes, 2)};
  orthonormal(d, q, r);
  reduced(d, x, frame, r, first, second, size, S);
  tb_make_positive(size, S);
  for (int k = 0; k < size; k++) spread(k < 3 ? q[0] : q[k - 2], k < 3 ? frame[k] : n, U[k]);
  memset(H, 0, 144 * sizeof *H);
  for (int k = 0; k < size; k++)
    for (int l = 0; l < size; l++) {
      double s = S[k * size + l];
      if (s == 0) continue;
      for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) H[12 * i + j] += s * U[k][i] * U[l][j];
    }
}

// ---- edges that are almost parallel ----

// c = |u|²|v|² − (u·v)², u = x1 − x0, v = x3 − x2, by u and v: gradient and the blocks of its Hessian.
typedef struct {
  double value;
  tbVec3 by[2];
  tbMat3 uu, uv, vv;
} Cross;

static Cross cross_of(tbVec3 u, tbVec3 v)
{
  tbVec3 n = tb_cross3(u, v);
  double uu = tb_dot3(u, u), vv = tb_dot3(v, v), uv = tb_dot3(u, v);
  tbMat3 I = tb_mat3_identity();
  Cross c = {.value = tb_dot3(n, n)};
  c.by[0] = tb_scale3(2, tb_madd3(tb_scale3(vv, u), -uv, v));
  c.by[1] = tb_scale3(2, tb_madd3(tb_scale3(uu, v), -uv, u));
  c.uu = tb_mat3_scale(2, tb_mat3_sub(tb_mat3_scale(vv, I), tb_mat3_outer(v, v)));
  c.vv = tb_mat3_scale(2, tb_mat3_sub(tb_mat3_scale(uu, I), tb_mat3_outer(u, u)));
  c.uv = tb_mat3_sub(tb_mat3_scale(4, tb_mat3_outer(u, v)), tb_mat3_scale(2, tb_mat3_outer(v, u)));
  c.uv = tb_mat3_sub(c.uv, tb_mat3_scale(2 * uv, I));
  return c;
}

bool tb_mollifier(const tbVec3 x[4], double full, bool derivatives, tbMollifier* out)
{
  static const double sign[4] = {-1, 1, -1, 1};
  Cross c = cross_of(tb_sub3(x[1], x[0]), tb_sub3(x[3], x[2]));
  if (!(c.value < full)) return false;
  double y = c.value / full, first = 2 * (1 - y) / full, second = -2 / (full * full);
  out->value = y * (2 - y);
  for (int k = 0; k < 4; k++) out->gradient[k] = tb_scale3(sign[k] * first, c.by[k / 2]);
  for (int i = 0; derivatives && i < 12; i++)
    for (int j = 0; j < 12; j++) {
      int k = i / 3, l = j / 3, a = i % 3, b = j % 3;
      double h = k / 2 == l / 2 ? (k < 2 ? c.uu : c.vv).m[a][b] : k < 2 ? c.uv.m[a][b] : c.uv.m[b][a];
      double by = (&c.by[k / 2].x)[a] * (&c.by[l / 2].x)[b];
      out->hessian[12 * i + j] = sign[k] * sign[l] * (first * h + second * by);
    }
  return true;
}

// ---- the barrier of a pair ----

// Energies do not change when all corners move alike: positive on the corners but the first is positive.
static void make_positive_12(double H[144])
{
  double A[81];
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) A[9 * i + j] = 0.5 * (H[12 * (i + 3) + j + 3] + H[12 * (j + 3) + i + 3]);
  tb_make_positive(9, A);
  memset(H, 0, 144 * sizeof *H);
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) {
      double a = A[9 * i + j];
      H[12 * (i + 3) + j + 3] = a;
      H[12 * (i % 3) + j + 3] -= a, H[12 * (i + 3) + j % 3] -= a;
      H[12 * (i % 3) + j % 3] += a;
    }
}

tbPairEnergy tb_pair_barrier(tbBarrierKind kind, bool face, const tbVec3 x[4], const tbDistance* d,
                             double dhat, double mollify, bool positive, double H[144])
{
  tbPairEnergy out = {0};
  if (!(d->square < dhat * dhat)) {
    if (H) memset(H, 0, 144 * sizeof *H);
    return out;
  }
  tbJet W = tb_barrier_of_square(kind, d->square, dhat);
  tbVec3 ds[4];
  for (int k = 0; k < 4; k++) ds[k] = tb_scale3(2 * d->c[k], d->way);
  tbMollifier m;
  bool soft = !face && mollify > 0 && tb_mollifier(x, mollify, H != NULL, &m);
  double e = soft ? m.value : 1;
  out.value = e * W.value;
  out.push = -e * W.first * 2 * sqrt(d->square);
  for (int k = 0; k < 4; k++) {
    out.gradient[k] = tb_scale3(e * W.first, ds[k]);
    if (soft) out.gradient[k] = tb_madd3(out.gradient[k], W.value, m.gradient[k]);
  }
  if (H && !soft && positive) tb_distance_hessian(d, x, W.first, W.second, H);
  if (H && !soft && !positive) tb_distance_hessian_exact(d, x, W.first, W.second, H);
  if (!H || !soft) return out;
  tb_distance_hessian_exact(d, x, e * W.first, e * W.second, H);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double si = (&ds[i / 3].x)[i % 3], sj = (&ds[j / 3].x)[j % 3];
      double ei = (&m.gradient[i / 3].x)[i % 3], ej = (&m.gradient[j / 3].x)[j % 3];
      H[12 * i + j] += W.first * (si * ej + ei * sj) + W.value * m.hessian[12 * i + j];
    }
  if (positive) make_positive_12(H);
  return out;
}
