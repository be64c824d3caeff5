// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "barrier/distance.h"

#include <math.h>
#include <string.h>

static const double five_point[4][2] = {{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}};

static void check_derivatives(tbBarrierKind kind)
{
  const double dhat = 0.3, step = 1e-5;
  for (double d = 0.011; d < 0.4; d += 0.013) {
    double first = 0, second = 0, by_s = 0, by_s2 = 0, s = d * d;
    for (int k = 0; k < 4; k++) {
      first += five_point[k][1] * tb_barrier(kind, d + five_point[k][0] * step, dhat).value / step;
      second += five_point[k][1] * tb_barrier(kind, d + five_point[k][0] * step, dhat).first / step;
      by_s += five_point[k][1] * tb_barrier_of_square(kind, s * (1 + five_point[k][0] * step), dhat).value /
              (s * step);
      by_s2 += five_point[k][1] * tb_barrier_of_square(kind, s * (1 + five_point[k][0] * step), dhat).first /
               (s * step);
    }
    tbJet b = tb_barrier(kind, d, dhat), w = tb_barrier_of_square(kind, s, dhat);
    CHECK_NEAR(b.first, first, 1e-8 * (1 + fabs(first)));
    CHECK_NEAR(b.second, second, 1e-7 * (1 + fabs(second)));
    CHECK_NEAR(w.first, by_s, 1e-7 * (1 + fabs(by_s)));
    CHECK_NEAR(w.second, by_s2, 1e-6 * (1 + fabs(by_s2)));
    CHECK(b.value >= 0 && b.first <= 0 && b.second >= 0);
  }
  CHECK(tb_barrier(kind, 0.3, 0.3).value == 0 && tb_barrier(kind, 0.31, 0.3).first == 0);
  double most = -tb_barrier(kind, 1e-12, 0.3).first;
  if (kind == TB_BARRIER_QUADRATIC) CHECK_NEAR(most, 1, 1e-9);
  else CHECK(most > 1e10); // without bound
}

TEST(barrier_has_the_derivatives_it_says)
{
  for (int kind = 0; kind < TB_BARRIER_COUNT; kind++) check_derivatives((tbBarrierKind)kind);
}

TEST(smooth_friction_reaches_coulombs_at_its_threshold)
{
  const double reach = 0.02, step = 1e-7;
  for (double y = 1e-3; y < 0.05; y += 0.0007) {
    tbJet f = tb_smooth_friction(y, reach), more = tb_smooth_friction(y + step, reach),
          less = tb_smooth_friction(y - step, reach);
    CHECK_NEAR(f.first * y, (more.value - less.value) / (2 * step), 1e-6);
    CHECK_NEAR(f.second, (more.first * (y + step) - less.first * (y - step)) / (2 * step), 1e-3);
    CHECK(f.first * y <= 1 + 1e-15 && f.second >= 0);
    if (y >= reach) CHECK_NEAR(f.first * y, 1, 1e-15);
  }
  CHECK_NEAR(tb_smooth_friction(0, reach).first, 2 / reach, 1e-12);
}

TEST(make_positive_removes_negative_eigenvalues_alone)
{
  tbRandom r = test_random(7);
  for (int n = 1; n <= TB_MOST_POSITIVE; n++) {
    double A[144] = {0}, P[144], Q[144] = {0};
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = test_uniform(&r, -1, 1);
    memcpy(P, A, sizeof A);
    tb_make_positive(n, P);
    for (int i = 0; i < n * n; i++) Q[i] = P[i] - A[i]; // positive too, and P Q = 0: the projection
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double product = 0;
        for (int k = 0; k < n; k++) product += P[i * n + k] * Q[k * n + j];
        CHECK_NEAR(product, 0, 1e-12);
      }
    for (int trial = 0; trial < 50; trial++) {
      double v[TB_MOST_POSITIVE], p = 0, q = 0;
      for (int i = 0; i < n; i++) v[i] = test_uniform(&r, -1, 1);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) p += v[i] * P[i * n + j] * v[j], q += v[i] * Q[i * n + j] * v[j];
      CHECK(p >= -1e-12 && q >= -1e-12);
    }
  }
}

static tbVec3 random_point(tbRandom* r)
{
  return tb_vec3(test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1));
}

// The same closest parts: a step of the differences must not cross from one type to another.
static bool same_parts(const tbDistance* a, const tbDistance* b)
{
  for (int k = 0; k < 4; k++)
    if ((a->c[k] == 0) != (b->c[k] == 0)) return false;
  return true;
}

static double energy(bool face, const tbVec3 x[4], double dhat, double mollify)
{
  tbDistance d = tb_distance_of(face, x);
  return tb_pair_barrier(TB_BARRIER_LOG, face, x, &d, dhat, mollify, true, NULL).value;
}

// Every type of closest features, random ones and ones that are almost parallel.
TEST(pair_barriers_have_the_derivatives_of_their_energy)
{
  tbRandom r = test_random(11);
  const double dhat = 1.5, step = 1e-4;
  int seen[2][3] = {{0}}, mollified = 0;
  for (int trial = 0; trial < 400; trial++) {
    bool face = trial % 2, parallel = trial % 8 == 0;
    tbVec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = random_point(&r);
    if (parallel) x[3] = tb_madd3(tb_add3(x[2], tb_sub3(x[1], x[0])), 0.05, random_point(&r));
    double full = face ? 0 : parallel ? 0.5 : 1e-3;
    tbDistance d = tb_distance_of(face, x);
    if (d.square < 0.01) continue;
    double H[144], exact[144], numeric[144];
    tbPairEnergy e = tb_pair_barrier(TB_BARRIER_LOG, face, x, &d, dhat, full, true, H);
    bool clean = true;
    for (int i = 0; i < 12; i++) {
      double first = 0, column[12] = {0};
      for (int k = 0; k < 4; k++) {
        tbVec3 y[4];
        memcpy(y, x, sizeof x);
        (&y[i / 3].x)[i % 3] += five_point[k][0] * step;
        tbDistance at = tb_distance_of(face, y);
        clean = clean && same_parts(&d, &at);
        first += five_point[k][1] * energy(face, y, dhat, full) / step;
        tbPairEnergy there = tb_pair_barrier(TB_BARRIER_LOG, face, y, &at, dhat, full, true, NULL);
        for (int j = 0; j < 12; j++) column[j] += five_point[k][1] * (&there.gradient[j / 3].x)[j % 3] / step;
      }
      if (!clean) break;
      CHECK_NEAR((&e.gradient[i / 3].x)[i % 3], first, 1e-5 * (1 + fabs(first)));
      for (int j = 0; j < 12; j++) numeric[12 * i + j] = column[j];
    }
    if (!clean) continue;
    seen[face][d.nfree]++;
    tbMollifier m;
    if (!face && tb_mollifier(x, full, false, &m)) mollified++;
    else { // the Hessian before it was projected
      tbJet W = tb_barrier_of_square(TB_BARRIER_LOG, d.square, dhat);
      tb_distance_hessian_exact(&d, x, W.first, W.second, exact);
      for (int i = 0; i < 144; i++) CHECK_NEAR(exact[i], numeric[i], 1e-3 * (1 + fabs(numeric[i])));
    }
    // H − Hessian and H are positive, and H (H − Hessian) = 0: the projection, but for the mollified ones
    for (int k = 0; k < 20; k++) {
      double v[12], p = 0, q = 0, size = 0;
      for (int i = 0; i < 12; i++) v[i] = test_uniform(&r, -1, 1);
      for (int i = 0; i < 144; i++)
        p += v[i / 12] * H[i] * v[i % 12], q += v[i / 12] * (H[i] - numeric[i]) * v[i % 12],
            size += fabs(H[i]);
      CHECK(p >= -1e-10 * (1 + size));
      if (face) CHECK(q >= -1e-3 * (1 + size));
    }
  }
  for (int face = 0; face < 2; face++)
    for (int nfree = 0; nfree < 3; nfree++) CHECK(seen[face][nfree] > 5);
  CHECK(mollified > 10);
}

// Along the way of two edges through being parallel the mollified energy has no jump in its gradient.
TEST(mollified_edges_turn_past_parallel_smoothly)
{
  const double dhat = 0.5, full = 1e-2;
  double before = 0, jump = 0;
  for (int k = -400; k <= 400; k++) {
    double angle = 1e-6 * k, s, c;
    tb_sin_cos(angle, &s, &c);
    tbVec3 x[4] = {tb_vec3(-c, -s, 0.2), tb_vec3(c, s, 0.2), tb_vec3(-0.7, 0, 0), tb_vec3(1.3, 0, 0)};
    tbDistance d = tb_distance_of(false, x);
    tbPairEnergy e = tb_pair_barrier(TB_BARRIER_LOG, false, x, &d, dhat, full, true, NULL);
    double torque = 0;
    for (int i = 0; i < 2; i++) torque += x[i].x * e.gradient[i].y - x[i].y * e.gradient[i].x;
    if (k > -400) jump = fmax(jump, fabs(torque - before));
    before = torque;
  }
  CHECK(jump < 0.02);
}
