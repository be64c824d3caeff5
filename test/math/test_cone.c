// SPDX-License-Identifier: Apache-2.0
// Every projection against the conditions that define it, over random and degenerate sets and points:
// x lies in the set, and z − x in the normal cone at x. Conditions are evaluated in long double.
#include "math/cone.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { NONNEG, BOX, BALL, ELLIPSOID, SOC, ELLIPSOID_CONE, BOX_CONE, BALL_CONE, POLYGON_CONE, KINDS };

typedef struct Set {
  int kind, size, k, parts, part_size[3];
  double mu, a[TB_CONE_MAX], lo[TB_CONE_MAX], hi[TB_CONE_MAX];
} Set;

static void project(const Set* s, const double* z, double* x, double* jac)
{
  switch (s->kind) {
  case NONNEG: tb_project_nonneg(s->size, z, x, jac); break;
  case BOX: tb_project_box(s->size, s->lo, s->hi, z, x, jac); break;
  case BALL: tb_project_ball(s->size, s->mu, z, x, jac); break;
  case ELLIPSOID: tb_project_ellipsoid(s->size, s->a, z, x, jac); break;
  case SOC: tb_project_soc(s->size, s->mu, z, x, jac); break;
  case ELLIPSOID_CONE: tb_project_ellipsoid_cone(s->size, s->a, z, x, jac); break;
  case BOX_CONE: tb_project_box_cone(s->size, s->lo, s->hi, z, x, jac); break;
  case BALL_CONE: tb_project_ball_cone(s->parts, s->part_size, s->a, z, x, jac); break;
  case POLYGON_CONE: tb_project_polygon_cone(s->k, s->mu, z, x, jac); break;
  default: break;
  }
}

typedef long double real;

static real rnorm(int n, const real* v)
{
  real s = 0;
  for (int i = 0; i < n; i++) s += v[i] * v[i];
  return sqrtl(s);
}

static real rmax(real a, real b) { return a > b ? a : b; }

// How far y is outside n E, as a length: exact zero inside, within a factor of the true distance outside.
static real outside_base(const Set* s, real n, const real* y)
{
  int m = s->kind >= SOC ? s->size - 1 : s->size;
  real worst = 0, g[TB_CONE_MAX], sum = 0;
  switch (s->kind) {
  case NONNEG:
    for (int i = 0; i < m; i++) worst = rmax(worst, -y[i]);
    return worst;
  case BOX:
  case BOX_CONE:
    for (int i = 0; i < m; i++) {
      real lo = isinf(s->lo[i]) ? s->lo[i] : s->lo[i] * n, hi = isinf(s->hi[i]) ? s->hi[i] : s->hi[i] * n;
      worst = rmax(worst, rmax(lo - y[i], y[i] - hi));
    }
    return worst;
  case BALL:
  case SOC: return rmax(0, rnorm(m, y) - n * s->mu);
  case ELLIPSOID:
  case ELLIPSOID_CONE: // first-order distance (‖y/a‖ − n)/‖gradient‖
    for (int i = 0; i < m; i++) {
      if (s->a[i] == 0) worst = rmax(worst, fabsl(y[i]));
      g[i] = s->a[i] == 0 ? 0 : y[i] / s->a[i], sum += g[i] * g[i];
    }
    sum = sqrtl(sum);
    if (sum <= n || sum == 0) return worst;
    for (int i = 0; i < m; i++) g[i] = s->a[i] == 0 ? 0 : g[i] / (sum * s->a[i]);
    return rmax(worst, (sum - n) / rnorm(m, g));
  case BALL_CONE:
    for (int j = 0, row = 0; j < s->parts; row += s->part_size[j++])
      worst = rmax(worst, rnorm(s->part_size[j], y + row) - n * s->a[j]);
    return worst;
  default: // the polygon: distances to the lines of its edges
    for (int i = 0; i < s->k; i++) {
      real angle = (2 * i + 1) * (3.14159265358979323846264338327950288L / s->k);
      real inner = s->mu * cosl(3.14159265358979323846264338327950288L / s->k);
      worst = rmax(worst, y[0] * cosl(angle) + y[1] * sinl(angle) - n * inner);
    }
    return worst;
  }
}

// sup of w·y over the base E, and the largest slope in it.
static real support(const Set* s, const real* w, real* slope)
{
  int m = s->kind >= SOC ? s->size - 1 : s->size;
  real sum = 0, best = 0, g[TB_CONE_MAX];
  *slope = s->mu;
  switch (s->kind) {
  case BOX:
  case BOX_CONE:
    *slope = 0;
    for (int i = 0; i < m; i++) {
      real side = w[i] > 0 ? s->hi[i] : s->lo[i];
      if (w[i] != 0) sum += side * w[i];
      *slope = rmax(*slope, rmax(-s->lo[i], s->hi[i]));
    }
    return sum;
  case BALL:
  case SOC: return s->mu * rnorm(m, w);
  case ELLIPSOID:
  case ELLIPSOID_CONE:
    *slope = 0;
    for (int i = 0; i < m; i++) g[i] = s->a[i] * w[i], *slope = rmax(*slope, s->a[i]);
    return rnorm(m, g);
  case BALL_CONE:
    *slope = 0;
    for (int j = 0, row = 0; j < s->parts; row += s->part_size[j++]) {
      sum += s->a[j] * rnorm(s->part_size[j], w + row);
      *slope = rmax(*slope, s->a[j]);
    }
    return sum;
  default:
    for (int i = 0; i < s->k; i++) {
      real angle = 2 * i * (3.14159265358979323846264338327950288L / s->k);
      best = rmax(best, s->mu * (w[0] * cosl(angle) + w[1] * sinl(angle)));
    }
    return best;
  }
}

// The largest violation of the optimality conditions, relative to ‖z‖.
static double violation(const Set* s, const double* z, const double* x)
{
  real y[TB_CONE_MAX], w[TB_CONE_MAX], v[TB_CONE_MAX], dot = 0, slope;
  for (int i = 0; i < s->size; i++) {
    if (isnan(x[i])) return INFINITY;
    y[i] = x[i], v[i] = z[i], w[i] = (real)z[i] - x[i], dot += w[i] * y[i];
  }
  real scale = rnorm(s->size, v), worst;
  if (scale == 0) return (double)rnorm(s->size, y);
  scale = rmax(scale, 1e-290L); // nothing is relative among subnormal numbers
  if (s->kind >= SOC) {
    real polar = w[0] + support(s, w + 1, &slope);
    worst = rmax(outside_base(s, y[0], y + 1) / scale, -y[0] / scale);
    worst = rmax(worst, polar / hypotl(1, slope) / scale);
    worst = rmax(worst, fabsl(dot) / scale / scale);
  } else if (s->kind == NONNEG) {
    worst = rmax(outside_base(s, 1, y) / scale, fabsl(dot) / scale / scale);
    for (int i = 0; i < s->size; i++) worst = rmax(worst, w[i] / scale);
  } else {
    real gap = fabsl(support(s, w, &slope) - dot); // an error δ of x moves it by δ·slope
    worst = rmax(outside_base(s, 1, y) / scale, gap / scale / rmax(scale, isinf(slope) ? 0 : slope));
  }
  return (double)worst;
}

static double random_slope(tbRandom* r)
{
  switch (test_below(r, 6)) {
  case 0: return 0;
  case 1: return 1;
  case 2: return pow(10, test_uniform(r, -6, 6));
  case 3: return pow(10, test_uniform(r, -12, 12));
  default: return test_uniform(r, 0, 2);
  }
}

// Lengths and slopes; `unit` is the scale of the points, which bounded sets share.
static Set random_set(tbRandom* r, int kind, double unit)
{
  Set s = {.kind = kind};
  s.size = kind == BALL || kind == ELLIPSOID ? 1 + test_below(r, 3) : 2 + test_below(r, 3);
  if (kind >= SOC) unit = 1;
  s.mu = random_slope(r) * unit;
  for (int i = 0; i < TB_CONE_MAX; i++) {
    s.a[i] = random_slope(r) * unit;
    s.lo[i] = -random_slope(r) * unit, s.hi[i] = random_slope(r) * unit;
    if (kind == BOX && test_below(r, 4) == 0) s.lo[i] = -INFINITY;
    if (kind == BOX && test_below(r, 4) == 0) s.hi[i] = INFINITY;
  }
  s.k = 3 + test_below(r, 6);
  if (kind == POLYGON_CONE) s.size = 3;
  if (kind == BALL_CONE) {
    s.parts = 1 + test_below(r, 3), s.size = 1;
    for (int j = 0; j < s.parts; j++) s.size += s.part_size[j] = 1 + test_below(r, 2);
  }
  return s;
}

// Random points, with zeros, ties, tiny components, and points next to the set's boundary.
static void random_point(tbRandom* r, const Set* s, double unit, double* z)
{
  int way = test_below(r, 8);
  double base = test_uniform(r, -2, 2);
  for (int i = 0; i < s->size; i++) {
    z[i] = test_uniform(r, -2, 2);
    if (way == 1 && test_below(r, 2)) z[i] = 0;
    if (way == 2) z[i] *= pow(10, test_uniform(r, -20, 0));
    if (way == 3) z[i] = test_below(r, 2) ? base : -base;
    if (way == 4) z[i] *= random_slope(r);
    z[i] *= unit;
  }
  if (s->kind >= SOC && way >= 6) { // near the boundary, from the edge and from the side
    double x[TB_CONE_MAX];
    project(s, z, x, NULL);
    for (int i = 0; i < s->size; i++) z[i] = x[i] + (way == 6 ? 1e-15 : 1e-9) * (z[i] - x[i]);
  }
}

static const double units[] = {1, 1, 1, 1e-280, 1e280, 1e-100, 1e100};

static void check_optimality(int kind, int trials, double tolerance)
{
  tbRandom r = test_random(100 + (uint64_t)kind);
  double worst = 0;
  for (int trial = 0; trial < trials; trial++) {
    double unit = units[trial % 7], z[TB_CONE_MAX], x[TB_CONE_MAX], y[TB_CONE_MAX];
    Set s = random_set(&r, kind, unit);
    random_point(&r, &s, unit, z);
    project(&s, z, x, NULL);
    double v = violation(&s, z, x);
    if (v > worst) worst = v;

    // Idempotent, also in place.
    memcpy(y, x, sizeof y);
    project(&s, y, y, NULL);
    real far = 0, size = 1e-290L;
    for (int i = 0; i < s.size; i++)
      far = rmax(far, fabsl((real)y[i] - x[i])), size = rmax(size, fabsl(x[i]));
    if (far / size > worst) worst = (double)(far / size);

    // Nonexpansive.
    double z2[TB_CONE_MAX], dz = 0, dx = 0;
    random_point(&r, &s, unit, z2);
    project(&s, z2, y, NULL);
    double most = 0;
    for (int i = 0; i < s.size; i++) most = fmax(most, fmax(fabs(z[i]), fabs(z2[i])));
    if (most < 1e-290) continue;
    for (int i = 0; i < s.size; i++) dz = hypot(dz, z[i] / most - z2[i] / most);
    for (int i = 0; i < s.size; i++) dx = hypot(dx, x[i] / most - y[i] / most);
    if (dx - dz > worst) worst = dx - dz;
  }
  CHECK_NEAR(worst, 0, tolerance);
}

TEST(projection_nonneg_is_optimal) { check_optimality(NONNEG, 100000, 0); }
TEST(projection_box_is_optimal) { check_optimality(BOX, 100000, 1e-15); }
TEST(projection_ball_is_optimal) { check_optimality(BALL, 100000, 1e-14); }
TEST(projection_ellipsoid_is_optimal) { check_optimality(ELLIPSOID, 100000, 1e-14); }
TEST(projection_soc_is_optimal) { check_optimality(SOC, 100000, 1e-14); }
TEST(projection_ellipsoid_cone_is_optimal) { check_optimality(ELLIPSOID_CONE, 100000, 1e-14); }
TEST(projection_box_cone_is_optimal) { check_optimality(BOX_CONE, 100000, 1e-14); }
TEST(projection_ball_cone_is_optimal) { check_optimality(BALL_CONE, 100000, 1e-14); }
LONG_TEST(projection_polygon_cone_is_optimal) { check_optimality(POLYGON_CONE, 100000, 1e-14); }

// Eigenvalues of a small symmetric matrix by Jacobi rotations: the least and the largest.
static void extreme_eigenvalues(int n, double* A, double* least, double* most)
{
  for (int sweep = 0; sweep < 12; sweep++)
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        if (fabs(A[p * n + q]) < 1e-18) continue;
        double zeta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
        double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta)), c = 1 / hypot(1, t), s = t * c;
        for (int k = 0; k < n; k++) {
          double a = A[k * n + p], b = A[k * n + q];
          A[k * n + p] = c * a - s * b, A[k * n + q] = s * a + c * b;
        }
        for (int k = 0; k < n; k++) {
          double a = A[p * n + k], b = A[q * n + k];
          A[p * n + k] = c * a - s * b, A[q * n + k] = s * a + c * b;
        }
      }
  *least = INFINITY, *most = -INFINITY;
  for (int i = 0; i < n; i++) *least = fmin(*least, A[i * n + i]), *most = fmax(*most, A[i * n + i]);
}

static double difference(int n, const double* a, const double* b)
{
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fabs(a[i] - b[i]) <= worst ? worst : fabs(a[i] - b[i]);
  return worst;
}

static void moderate_slopes(tbRandom* r, Set* s)
{
  const double slopes[] = {0, 0.2, 0.5, 1, 2, 5};
  s->mu = slopes[test_below(r, 6)];
  for (int i = 0; i < TB_CONE_MAX; i++) {
    s->a[i] = slopes[test_below(r, 6)];
    s->lo[i] = -slopes[test_below(r, 6)], s->hi[i] = slopes[test_below(r, 6)];
  }
}

#define MAX_JAC (TB_CONE_MAX * TB_CONE_MAX)

TEST(projection_derivatives_are_symmetric_between_0_and_1)
{
  tbRandom r = test_random(200);
  for (int trial = 0; trial < 60000; trial++) {
    double unit = units[trial % 7], z[TB_CONE_MAX], x[TB_CONE_MAX], J[MAX_JAC], least, most;
    Set s = random_set(&r, trial % KINDS, unit);
    random_point(&r, &s, unit, z);
    project(&s, z, x, J);
    for (int i = 0; i < s.size; i++)
      for (int j = 0; j < s.size; j++) {
        REQUIRE(isfinite(J[i * s.size + j]));
        REQUIRE(fabs(J[i * s.size + j] - J[j * s.size + i]) < 1e-15);
      }
    extreme_eigenvalues(s.size, J, &least, &most);
    REQUIRE(least >= -1e-14 && most <= 1 + 1e-14);
  }
}

// A central difference is the mean of the derivative over its interval, so it may differ from the derivative
// at the middle by no more than that varies.
TEST(projection_derivatives_match_differences)
{
  tbRandom r = test_random(201);
  const double h = 1e-5;
  int smooth[KINDS] = {0};
  for (int trial = 0; trial < 60000; trial++) {
    int kind = trial % KINDS, n;
    double z[TB_CONE_MAX], x[TB_CONE_MAX], J[MAX_JAC], Jm[MAX_JAC], Jp[MAX_JAC], m[TB_CONE_MAX],
        p[TB_CONE_MAX];
    Set s = random_set(&r, kind, 1);
    n = s.size;
    moderate_slopes(&r, &s);
    for (int i = 0; i < n; i++) z[i] = test_uniform(&r, -2, 2);
    project(&s, z, x, J);
    for (int j = 0; j < n; j++) {
      double zj = z[j];
      z[j] = zj + h, project(&s, z, p, Jp);
      z[j] = zj - h, project(&s, z, m, Jm);
      double width = zj + h - z[j];
      z[j] = zj;
      double varies = fmax(difference(n * n, J, Jp), difference(n * n, J, Jm));
      if (varies < 1e-3) smooth[kind]++;
      for (int i = 0; i < n; i++) REQUIRE(fabs((p[i] - m[i]) / width - J[i * n + j]) <= 1.5 * varies + 1e-9);
    }
  }
  for (int kind = 0; kind < KINDS; kind++) CHECK(smooth[kind] > 5000);
}

// At the apex, on the surface, on an edge: some point next to z has nearly the derivative given at z.
TEST(projection_derivatives_on_kinks_are_limits)
{
  tbRandom r = test_random(202);
  for (int trial = 0; trial < 3000; trial++) {
    double z[TB_CONE_MAX] = {0}, y[TB_CONE_MAX], x[TB_CONE_MAX], J[MAX_JAC], near[MAX_JAC], best = INFINITY;
    Set s = random_set(&r, trial % KINDS, 1);
    moderate_slopes(&r, &s);
    for (int i = 0; i < s.size && trial % 3; i++) z[i] = test_below(&r, 5) - 2;
    if (trial % 3 == 2) project(&s, z, z, NULL);
    project(&s, z, x, J);
    for (int k = 0; k < 20000 && best > 1e-5; k++) {
      for (int i = 0; i < s.size; i++) y[i] = z[i] + test_uniform(&r, -1e-7, 1e-7);
      project(&s, y, x, near);
      best = fmin(best, difference(s.size * s.size, J, near));
    }
    REQUIRE(best <= 1e-5);
  }
}

// A power of two passes through every projection, from 1e-300 to 1e300, without touching a bit.
TEST(projection_commutes_with_scaling)
{
  tbRandom r = test_random(203);
  for (int trial = 0; trial < 60000; trial++) {
    double z[TB_CONE_MAX], x[TB_CONE_MAX], y[TB_CONE_MAX], J[MAX_JAC], K[MAX_JAC];
    Set s = random_set(&r, trial % KINDS, 1);
    if (s.mu > 4 || s.mu < 0.1) s.mu = 1;
    for (int i = 0; i < s.size; i++) {
      z[i] = test_uniform(&r, -1, 1), s.a[i] = test_uniform(&r, 0.1, 2);
      s.lo[i] = -test_uniform(&r, 0.1, 2), s.hi[i] = test_uniform(&r, 0.1, 2);
    }
    project(&s, z, x, J);
    int e = (trial & 1 ? 1 : -1) * (60 + test_below(&r, 930));
    for (int i = 0; i < s.size; i++) {
      z[i] = ldexp(z[i], e);
      if (s.kind < SOC) s.a[i] = ldexp(s.a[i], e), s.lo[i] = ldexp(s.lo[i], e), s.hi[i] = ldexp(s.hi[i], e);
    }
    if (s.kind < SOC) s.mu = ldexp(s.mu, e);
    project(&s, z, y, K);
    for (int i = 0; i < s.size; i++) REQUIRE(y[i] == ldexp(x[i], e));
    REQUIRE(difference(s.size * s.size, J, K) == 0);
  }
}

// The same points by bisection in long double, with axes up to 1e12 apart: the projection is nonexpansive, so
// a good one is within rounding of ‖z‖.
static void reference_ellipsoid(int n, const double* a, const double* z, real* x)
{
  real lo = 0, hi = 0, sum = 0;
  for (int i = 0; i < n; i++) hi += a[i] * fabsl(z[i]), sum += (z[i] / (real)a[i]) * (z[i] / (real)a[i]);
  for (int k = 0; k < 400; k++) {
    real t = lo > 0 && hi > 2 * lo ? sqrtl(lo * hi) : k < 40 ? hi * 0.5L * expl(-(real)k) : (lo + hi) / 2;
    if (sum <= 1) t = 0;
    real g = 0;
    for (int i = 0; i < n; i++) {
      real d = (real)a[i] * a[i] + t;
      x[i] = a[i] * (real)a[i] * z[i] / d, g += (x[i] / a[i]) * (x[i] / a[i]);
    }
    if (sum <= 1) return;
    *(g > 1 ? &lo : &hi) = t;
  }
}

static void reference_cone(int m, const double* a, const double* z, real* x)
{
  real lo = 0, hi = 1, n = z[0];
  for (int k = 0; k < 200; k++) { // (1 − 2w)‖a f/(a²(1 − w) + w)‖ falls in w = t/(1 + t)
    real w = lo == 0 && k < 100 ? hi / 4 : (lo + hi) / 2, q = 0;
    for (int i = 0; i < m; i++) {
      real d = a[i] * (real)a[i] * (1 - w) + w;
      x[i + 1] = (1 - w) * a[i] * (real)a[i] * z[i + 1] / d,
            q += (a[i] * z[i + 1] / d) * (a[i] * z[i + 1] / d);
    }
    x[0] = (1 - w) * sqrtl(q);
    *((1 - 2 * w) * sqrtl(q) > n ? &lo : &hi) = w;
  }
}

TEST(projection_onto_needles_and_plates_matches_long_double)
{
  tbRandom r = test_random(204);
  double worst = 0, worst_cone = 0;
  for (int trial = 0; trial < 3000; trial++) {
    double a[3], z[4], y[4];
    real x[4], scale = 0;
    for (int i = 0; i < 4; i++) z[i] = test_uniform(&r, -1, 1) * pow(10, test_uniform(&r, -6, 0));
    for (int i = 0; i < 3; i++) a[i] = pow(10, test_uniform(&r, -12, 0));
    for (int i = 0; i < 4; i++) scale = rmax(scale, fabsl(z[i]));

    reference_ellipsoid(3, a, z, x);
    tb_project_ellipsoid(3, a, z, y, NULL);
    for (int i = 0; i < 3; i++) worst = fmax(worst, (double)(fabsl(x[i] - y[i]) / scale));

    for (int i = 0; i < 3; i++) a[i] = pow(10, test_uniform(&r, -6, 6));
    reference_cone(3, a, z, x);
    tb_project_ellipsoid_cone(4, a, z, y, NULL);
    Set s = {.kind = ELLIPSOID_CONE, .size = 4, .a = {a[0], a[1], a[2]}};
    if (memcmp(y, z, sizeof y) == 0) continue; // inside: the reference only knows the surface
    for (int i = 0; i < 4; i++) worst_cone = fmax(worst_cone, (double)(fabsl(x[i] - y[i]) / scale));
    REQUIRE(violation(&s, z, y) < 1e-14);
  }
  CHECK_NEAR(worst, 0, 1e-15);
  CHECK_NEAR(worst_cone, 0, 2e-14); // slopes 1e12 apart cost some digits
}

TEST(projection_special_points)
{
  double x[4], z[4] = {3, 4, 0, 0}, a[3] = {2, 1, 0}, J[16];
  tb_project_ball(2, 1, z, x, NULL);
  CHECK(x[0] == 3 / 5. && x[1] == 4 / 5.);
  tb_project_ellipsoid(3, a, (double[]){5, 0, 7}, x, J); // on the long axis, above a flat ellipsoid
  CHECK(x[0] == 2 && x[1] == 0 && x[2] == 0);
  CHECK_NEAR(J[4], 1 / 7., 1e-15); // the curvature a/b² = 2 there, at a distance of 3
  tb_project_ellipsoid(2, a, (double[]){0, 3}, x, NULL);
  CHECK(x[0] == 0 && x[1] == 1);
  tb_project_soc(3, INFINITY, (double[]){-1, 2, 3}, x, J);
  CHECK(x[0] == 0 && x[1] == 2 && x[2] == 3 && J[0] == 0 && J[4] == 1 && J[8] == 1);
  tb_project_soc(4, 1, (double[]){0, 0, 0, 2}, x, NULL);
  CHECK_NEAR(x[0], 1, 1e-15);
  CHECK_NEAR(x[3], 1, 1e-15);
  tb_project_polygon_cone(4, 1, (double[]){0, 2, 0}, x, NULL); // onto the ray over a corner
  CHECK_NEAR(x[0], 1, 1e-15);
  CHECK_NEAR(x[1], 1, 1e-15);
  CHECK_NEAR(x[2], 0, 1e-15);
}

TEST(projections_end_on_nan_and_infinity)
{
  tbRandom r = test_random(205);
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int trial = 0; trial < 20000; trial++) {
    double z[TB_CONE_MAX], x[TB_CONE_MAX], J[MAX_JAC];
    Set s = random_set(&r, trial % KINDS, 1);
    random_point(&r, &s, 1, z);
    for (int i = 0; i < s.size; i++)
      if (test_below(&r, 2)) z[i] = bad[test_below(&r, 3)];
    if (test_below(&r, 4) == 0) s.mu = s.a[0] = bad[test_below(&r, 2)];
    project(&s, z, x, J);
  }
}
