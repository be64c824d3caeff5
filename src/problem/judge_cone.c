// SPDX-License-Identifier: Apache-2.0
// The projection onto K = {(n, f) : f ∈ nF} is found for every set F by one argument: with s = n the squared
// distance is convex in s, and its derivative
//
//   g(s) = s − z_n − σ_F(z_F − P_sF(z_F))
//
// increases, so a bracketed root finder needs no more of F than its support function and closest point.
#include "problem/judge_cone.h"

#include "tribo/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void box_from_axes(tbJudgeSet* s)
{
  s->kind = TB_JUDGE_BOX;
  for (int i = 0; i < s->dim; i++) s->lo[i] = -s->axis[i], s->hi[i] = s->axis[i];
}

static void polygon(tbJudgeSet* s, double a, double b, int corners)
{
  s->kind = TB_JUDGE_POLYGON;
  s->corners = corners;
  for (int i = 0; i < corners; i++) {
    tb_sin_cos(2 * TB_PI * i / corners, &s->y[i], &s->x[i]);
    s->x[i] *= a, s->y[i] *= b;
  }
}

// The convex hull of points (Jarvis' march): from the lowest, each next corner is the one that no other lies
// to the right of; of several on one line the farthest.
static void hull(tbJudgeSet* s, int n, const double* px, const double* py)
{
  int first = 0, at;
  for (int i = 1; i < n; i++)
    if (py[i] < py[first] || (py[i] == py[first] && px[i] > px[first])) first = i;
  s->kind = TB_JUDGE_POLYGON;
  s->corners = 0;
  at = first;
  do {
    s->x[s->corners] = px[at], s->y[s->corners++] = py[at];
    int next = -1;
    for (int i = 0; i < n; i++) {
      double dx = px[i] - px[at], dy = py[i] - py[at];
      if (dx == 0 && dy == 0) continue;
      double ex = next < 0 ? 0 : px[next] - px[at], ey = next < 0 ? 0 : py[next] - py[at];
      double turn = ex * dy - ey * dx;
      if (next < 0 || turn < 0 || (turn == 0 && dx * dx + dy * dy > ex * ex + ey * ey)) next = i;
    }
    if (next < 0) break; // one point
    at = next;
  } while ((px[at] != px[first] || py[at] != py[first]) && s->corners < n);
}

static void hull_of_directions(tbJudgeSet* s, const double* param)
{
  int n = (int)param[0];
  double x[TB_MAX_SIDES] = {0}, y[TB_MAX_SIDES] = {0};
  for (int i = 0; i < n; i++) {
    tb_sin_cos(2 * TB_PI * i / n, &y[i], &x[i]);
    x[i] *= param[1 + i], y[i] *= param[1 + i];
  }
  hull(s, n, x, y);
}

void tb_judge_set(const tbProblem* p, int k, tbModel model, int directions, tbJudgeSet* s)
{
  const double* param = p->param + p->param_adr[k];
  int dim = p->row_adr[k + 1] - p->row_adr[k] - 1;
  s->kind = TB_JUDGE_ELLIPSOID; // fields of other kinds stay unset: a polygon's corners are many
  s->dim = dim;
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_COULOMB:
    for (int i = 0; i < dim; i++) s->axis[i] = param[0];
    break;
  case TB_LAW_ELLIPTIC:
  case TB_LAW_CONTENSOU:
    for (int i = 0; i < dim; i++) s->axis[i] = param[i];
    break;
  case TB_LAW_ROLLING: {
    s->kind = TB_JUDGE_BALLS;
    s->balls = dim == 5 ? 3 : 2;
    s->ball_dim[0] = 2;
    s->ball_dim[1] = dim == 4 ? 2 : 1;
    s->ball_dim[2] = 2;
    for (int g = 0, i = 0; g < s->balls; g++) {
      s->radius[g] = param[g];
      for (int j = 0; j < s->ball_dim[g]; j++) s->axis[i++] = param[g];
    }
    break;
  }
  case TB_LAW_TENSOR: // of what tb_judge_tensor() makes of λ
    for (int i = 0; i < dim; i++) s->axis[i] = sqrt(param[0] * param[3] - param[1] * param[2]);
    break;
  case TB_LAW_POLYHEDRAL: polygon(s, param[0], param[0], (int)param[1]); break;
  case TB_LAW_POLYGON: hull_of_directions(s, param); break;
  case TB_LAW_DIRECTIONAL:
    s->kind = TB_JUDGE_BOX;
    for (int i = 0; i < dim; i++) s->lo[i] = -param[2 * i], s->hi[i] = param[2 * i + 1];
    break;
  default: break;
  }
  if (model == TB_MODEL_BOX && p->law[k] != TB_LAW_TENSOR &&
      (s->kind == TB_JUDGE_ELLIPSOID || s->kind == TB_JUDGE_BALLS))
    box_from_axes(s);
  bool flat = dim == 2 && (p->law[k] == TB_LAW_COULOMB || p->law[k] == TB_LAW_ELLIPTIC);
  if (model == TB_MODEL_POLYHEDRAL && flat) polygon(s, s->axis[0], s->axis[1], directions);
  if (model == TB_MODEL_FRICTIONLESS) {
    memset(s->axis, 0, sizeof s->axis);
    box_from_axes(s);
  }
}

void tb_judge_tensor(const double* L, const double* lambda, double* out)
{
  double det = L[0] * L[3] - L[1] * L[2], root = sqrt(det);
  out[0] = lambda[0];
  out[1] = root * ((L[3] * lambda[1] - L[1] * lambda[2]) / det);
  out[2] = root * ((L[0] * lambda[2] - L[2] * lambda[1]) / det);
}

double tb_judge_norm_scaled(int n, const double* x, double sum)
{
  double largest = 0, down, up;
  for (int i = 0; i < n; i++)
    if (isnan(x[i]) || !(largest >= fabs(x[i]))) largest = fabs(x[i]);
  if (!(largest > 0) || isinf(largest) || isnan(sum)) return isnan(sum) ? NAN : largest;
  bool normal = tb_judge_powers(largest, &down, &up);
  int exponent;
  frexp(largest, &exponent);
  sum = 0;
  for (int i = 0; i < n; i++) {
    double near_one = normal ? x[i] * down : ldexp(x[i], -exponent);
    sum += near_one * near_one;
  }
  return ldexp(sqrt(sum), exponent);
}

double tb_judge_support(const tbJudgeSet* s, const double* d)
{
  double sum = 0, pull[TB_MAX_ROWS];
  switch (s->kind) {
  case TB_JUDGE_ELLIPSOID:
    for (int i = 0; i < s->dim; i++) pull[i] = s->axis[i] * d[i];
    return tb_judge_norm(s->dim, pull);
  case TB_JUDGE_BOX:
    for (int i = 0; i < s->dim; i++) sum += d[i] > 0 ? s->hi[i] * d[i] : s->lo[i] * d[i];
    return sum;
  case TB_JUDGE_BALLS:
    for (int g = 0, i = 0; g < s->balls; i += s->ball_dim[g++])
      sum += s->radius[g] * tb_judge_norm(s->ball_dim[g], d + i);
    return sum;
  case TB_JUDGE_POLYGON:
    sum = -INFINITY;
    for (int i = 0; i < s->corners; i++) sum = fmax(sum, s->x[i] * d[0] + s->y[i] * d[1]);
    return sum;
  }
  return 0;
}

// Closest point of the ellipsoid with half axes a: x_i = a_i² z_i / (a_i² + t) with Σ (a_i z_i / (a_i² + t))²
// = 1. The sum is convex and decreasing in t, so Newton from a t on its left never oversteps the root.
static void closest_on_ellipsoid(int n, const double* a, const double* z, double* x)
{
  double inside = 0, t = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] > 0) inside += (z[i] / a[i]) * (z[i] / a[i]), t = fmax(t, a[i] * (fabs(z[i]) - a[i]));
    else if (z[i] != 0) inside = INFINITY;
  }
  if (inside <= 1) {
    memcpy(x, z, (size_t)n * sizeof *x);
    return;
  }
  for (int iteration = 0; iteration < 100; iteration++) {
    double value = -1, slope = 0;
    for (int i = 0; i < n; i++) {
      if (!(a[i] > 0)) continue;
      double ratio = a[i] * z[i] / (a[i] * a[i] + t);
      value += ratio * ratio;
      slope -= 2 * ratio * ratio / (a[i] * a[i] + t);
    }
    if (!(value > 0) || !(slope < 0)) break;
    double next = t - value / slope;
    if (!(next > t)) break;
    t = next;
  }
  for (int i = 0; i < n; i++) x[i] = a[i] > 0 ? z[i] * (a[i] * a[i] / (a[i] * a[i] + t)) : 0;
}

// Inside: z is on the left of every edge. A polygon without area has no inside.
static void closest_on_polygon(const tbJudgeSet* s, double scale, const double* z, double* x)
{
  double best = INFINITY, area = 0;
  bool inside = true;
  for (int i = 0; i < s->corners; i++) {
    int j = (i + 1) % s->corners;
    double ax = scale * s->x[i], ay = scale * s->y[i], ex = scale * s->x[j] - ax, ey = scale * s->y[j] - ay;
    double px = z[0] - ax, py = z[1] - ay, ee = ex * ex + ey * ey;
    area += s->x[i] * s->y[j] - s->x[j] * s->y[i];
    if (ex * py - ey * px < 0) inside = false;
    double t = ee > 0 ? fmin(1, fmax(0, (px * ex + py * ey) / ee)) : 0;
    double dx = px - t * ex, dy = py - t * ey, distance = dx * dx + dy * dy;
    if (distance < best) best = distance, x[0] = ax + t * ex, x[1] = ay + t * ey;
  }
  if (inside && area * scale > 0) x[0] = z[0], x[1] = z[1];
}

// x = P_{scale·F}(z)
static void closest(const tbJudgeSet* s, double scale, const double* z, double* x)
{
  switch (s->kind) {
  case TB_JUDGE_ELLIPSOID: {
    double axis[TB_MAX_ROWS];
    for (int i = 0; i < s->dim; i++) axis[i] = scale * s->axis[i];
    closest_on_ellipsoid(s->dim, axis, z, x);
    break;
  }
  case TB_JUDGE_BOX:
    for (int i = 0; i < s->dim; i++) x[i] = fmin(fmax(z[i], scale * s->lo[i]), scale * s->hi[i]);
    break;
  case TB_JUDGE_BALLS:
    for (int g = 0, i = 0; g < s->balls; i += s->ball_dim[g++]) {
      double length = tb_judge_norm(s->ball_dim[g], z + i), limit = scale * s->radius[g];
      double shrink = length > limit ? limit / length : 1;
      for (int j = 0; j < s->ball_dim[g]; j++) x[i + j] = shrink * z[i + j];
    }
    break;
  case TB_JUDGE_POLYGON: closest_on_polygon(s, scale, z, x); break;
  }
}

static double slope(const tbJudgeSet* s, const double* z, double n, double* f)
{
  double rest[TB_MAX_ROWS];
  closest(s, n, z + 1, f);
  for (int i = 0; i < s->dim; i++) rest[i] = z[1 + i] - f[i];
  return n - z[0] - tb_judge_support(s, rest);
}

static bool is_circular(const tbJudgeSet* s)
{
  if (s->dim == 0) return true;
  if (s->kind != TB_JUDGE_ELLIPSOID) return false;
  for (int i = 1; i < s->dim; i++)
    if (s->axis[i] != s->axis[0]) return false;
  return true;
}

static void project_ordinary(const tbJudgeSet* s, const double* z, double* x)
{
  if (is_circular(s)) {
    tb_judge_project_circular(s->dim ? s->axis[0] : 0, s->dim, z, x);
    return;
  }
  double lo = fmax(0, z[0]), hi = z[0] + tb_judge_support(s, z + 1);
  memset(x, 0, (size_t)(s->dim + 1) * sizeof *x);
  if (!(hi > 0)) return; // the polar cone: its closest point is the apex
  double g_lo = slope(s, z, lo, x + 1), g_hi;
  x[0] = lo;
  if (g_lo >= 0) return; // f ∈ nF already
  x[0] = hi;
  g_hi = slope(s, z, hi, x + 1);
  // Illinois' regula falsi; where it dawdles, bisection.
  for (int iteration = 0; iteration < 200 && g_hi > 0 && hi - lo > 2 * DBL_EPSILON * hi; iteration++) {
    double mid = iteration % 4 == 3 ? lo + (hi - lo) / 2 : lo - g_lo * ((hi - lo) / (g_hi - g_lo));
    if (!(mid > lo && mid < hi)) mid = lo + (hi - lo) / 2;
    if (!(mid > lo && mid < hi)) break;
    double g = slope(s, z, mid, x + 1);
    x[0] = mid;
    if (g == 0) return;
    if (g < 0) {
      lo = mid, g_lo = g, g_hi /= 2;
    } else {
      hi = mid, g_hi = g, g_lo /= 2;
    }
  }
}

void tb_judge_project(const tbJudgeSet* s, const double* z, double* x)
{
  double largest = tb_judge_largest(s->dim + 1, z), near_one[TB_MAX_ROWS];
  if (tb_judge_is_ordinary(largest)) {
    project_ordinary(s, z, x);
    return;
  }
  int exponent;
  frexp(largest, &exponent);
  for (int i = 0; i <= s->dim; i++) near_one[i] = ldexp(z[i], -exponent);
  project_ordinary(s, near_one, x);
  for (int i = 0; i <= s->dim; i++) x[i] = ldexp(x[i], exponent);
}
