// SPDX-License-Identifier: Apache-2.0
// Projections in closed form, or by finitely many linear pieces.
//
// Box and ball cones. With s the normal component of the projection, each part f_j is cut to length μ_j s,
// and optimality in s reads  s = n + Σ μ_j (‖f_j‖ − μ_j s)₊.  The right side minus s is convex, piecewise
// linear and falling, so Newton from s = 0 climbs to the root without overshoot, a part that drops out never
// returns, and after at most parts + 1 steps the root is exact: breakpoints without sorting.
//
// Polygon cone. The cone has the symmetries of the k-gon, and projections keep to the symmetry sector of
// their argument. So the one nearest face, its one nearest edge, and the apex are all that can be hit:
// constant cost for any k.
#include "math/cone.h"

#include "math/scale.h"
#include "tribo/math.h"

#include <stdbool.h>
#include <string.h>

static void fill_diagonal(int n, double value, double* jac)
{
  if (!jac) return;
  memset(jac, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n; i++) jac[i * n + i] = value;
}

static void answer_self(int n, const double* z, double* x, double* jac)
{
  if (x != z) memcpy(x, z, sizeof(double) * (size_t)n);
  fill_diagonal(n, 1, jac);
}

static void answer_zero(int n, double* x, double* jac)
{
  memset(x, 0, sizeof(double) * (size_t)n);
  fill_diagonal(n, 0, jac);
}

static void add_outer(int n, double s, const double* v, double* jac) // jac += s v vᵀ
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) jac[i * n + j] += s * (v[i] * v[j]);
}

void tb_project_nonneg(int n, const double* z, double* x, double* jac)
{
  fill_diagonal(n, 1, jac);
  for (int i = 0; i < n; i++) {
    if (jac && z[i] < 0) jac[i * n + i] = 0;
    x[i] = z[i] < 0 ? 0 : z[i];
  }
}

void tb_project_box(int n, const double* lo, const double* hi, const double* z, double* x, double* jac)
{
  fill_diagonal(n, 1, jac);
  for (int i = 0; i < n; i++) {
    if (jac && (z[i] < lo[i] || z[i] > hi[i] || lo[i] == hi[i])) jac[i * n + i] = 0;
    x[i] = z[i] < lo[i] ? lo[i] : z[i] > hi[i] ? hi[i] : z[i];
  }
}

void tb_project_ball(int n, double radius, const double* z, double* x, double* jac)
{
  double length = tb_norm(n, z), ratio = radius / length;
  if (radius <= 0) {
    answer_zero(n, x, jac);
  } else if (length <= radius) {
    answer_self(n, z, x, jac);
  } else {
    for (int i = 0; i < n; i++) x[i] = z[i] / length;
    fill_diagonal(n, ratio, jac); // (r/‖z‖)(I − ẑẑᵀ)
    if (jac) add_outer(n, -ratio, x, jac);
    for (int i = 0; i < n; i++) x[i] *= radius;
  }
}

void tb_project_soc(int size, double mu, const double* z, double* x, double* jac)
{
  // The cone's generator in the half-plane (n, ‖f‖) is (c, s); its outward normal is (−s, c).
  double c = mu > 1 ? 1 / mu / sqrt(1 / mu / mu + 1) : 1 / sqrt(1 + mu * mu);
  double s = mu > 1 ? 1 / sqrt(1 / mu / mu + 1) : mu * c;
  int m = size - 1;
  double n = z[0], T = tb_norm(m, z + 1), along = c * n + s * T;
  if (n >= 0 && c * T <= s * n) {
    answer_self(size, z, x, jac);
    for (int i = 1; jac && s == 0 && i < size; i++) jac[i * size + i] = 0;
  } else if (along <= 0 && c > 0) {
    answer_zero(size, x, jac);
  } else if (T == 0) { // a half-space: c = 0 and n < 0
    fill_diagonal(size, 1, jac);
    if (jac) jac[0] = 0;
    memset(x, 0, sizeof(double) * (size_t)size);
  } else { // x = along · e, e = (c, s f̂)
    double bend = s * along < T ? s * along / T : 1;
    if (jac) { // e eᵀ, and bend (I − f̂f̂ᵀ) across the ray
      fill_diagonal(size, bend, jac);
      for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
          double fi = i ? z[i] / T : 0, fj = j ? z[j] / T : 0;
          double ei = i ? s * fi : c, ej = j ? s * fj : c;
          jac[i * size + j] += ei * ej - bend * (fi * fj);
        }
      jac[0] = c * c;
    }
    for (int i = 1; i < size; i++) x[i] = s * along * (z[i] / T);
    x[0] = c * along;
  }
}

// The root of s = n + Σ mu_j (T_j − mu_j s)₊, or 0 where it is not positive; tells which parts are cut there.
// Part j is, if the right side is below s at the breakpoint s = T_j/mu_j.
static double normal_part(int parts, double n, const double* mu, const double* T, bool* cut)
{
  double top = n, bottom = 1;
  for (int j = 0; j < parts; j++) {
    double s = T[j] / mu[j], excess = n - s;
    for (int i = 0; i < parts; i++)
      if (T[i] > mu[i] * s && i != j) excess += mu[i] * (T[i] - mu[i] * s);
    cut[j] = excess < 0 || mu[j] == 0;
    if (cut[j]) top += mu[j] * T[j], bottom += mu[j] * mu[j];
  }
  return top > 0 ? top / bottom : top == top ? 0 : top;
}

// The projection itself, mu within [0, TB_SLOPE_MAX]. Its derivative is g gᵀ/‖g‖², with g = (1, μ_j f̂_j on
// the parts that are cut), plus (μ_j s/T_j)(I − f̂f̂ᵀ) on those parts and the identity on the others.
static void radial_cone(int parts, const int* part_size, const double* mu, const double* z, double* x,
                        double* jac)
{
  double w[TB_CONE_MAX], g[TB_CONE_MAX] = {1}, T[TB_CONE_MAX];
  int size = 1;
  for (int j = 0; j < parts; j++) size += part_size[j];
  memcpy(w, z, sizeof(double) * (size_t)size);
  int e = tb_scale_exponent(tb_max_abs(size, w));
  tb_scale_by(-e, size, w);

  bool inside = w[0] >= 0, cut[TB_CONE_MAX];
  for (int j = 0, row = 1; j < parts; row += part_size[j++]) {
    T[j] = tb_norm(part_size[j], w + row);
    cut[j] = mu[j] == 0;
    inside = inside && T[j] <= mu[j] * w[0];
  }
  double s = inside ? w[0] : normal_part(parts, w[0], mu, T, cut), gg = 1;
  if (s == 0 && !inside) {
    answer_zero(size, x, jac);
    return;
  }
  fill_diagonal(size, 1, jac);
  for (int j = 0, row = 1; j < parts; row += part_size[j++]) {
    if (!cut[j]) continue;
    double length = T[j] > 0 ? T[j] : 1, bend = mu[j] * s / length;
    gg += mu[j] * mu[j];
    for (int i = row; i < row + part_size[j]; i++) {
      g[i] = mu[j] * (w[i] / length);
      for (int k = row; jac && k < row + part_size[j]; k++)
        jac[i * size + k] = bend * ((i == k) - w[i] / length * (w[k] / length));
    }
    for (int i = row; i < row + part_size[j]; i++) w[i] = s * g[i];
  }
  if (jac) jac[0] = 0, add_outer(size, 1 / gg, g, jac);
  w[0] = s;
  tb_scale_by(e, size, w);
  memcpy(x, w, sizeof(double) * (size_t)size);
}

void tb_project_ball_cone(int parts, const int* part_size, const double* mu, const double* z, double* x,
                          double* jac)
{
  double slope[TB_CONE_MAX];
  for (int j = 0; j < parts; j++) slope[j] = tb_clamp_slope(mu[j]);
  radial_cone(parts, part_size, slope, z, x, jac);
}

void tb_project_box_cone(int size, const double* lo, const double* hi, const double* z, double* x,
                         double* jac)
{
  static const int one[TB_CONE_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
  double slope[TB_CONE_MAX];
  for (int i = 0; i < size - 1; i++) { // the bound on the side of f_i; at zero, the wider one
    double f = z[i + 1] != 0 ? z[i + 1] : hi[i] + lo[i];
    slope[i] = tb_clamp_slope(f < 0 ? -lo[i] : hi[i]);
  }
  radial_cone(size - 1, one, slope, z, x, jac);
}

void tb_project_polygon_cone(int k, double mu, const double* z, double* x, double* jac)
{
  mu = tb_clamp_slope(mu);
  double w[3] = {z[0], z[1], z[2]};
  int e = tb_scale_exponent(tb_max_abs(3, w));
  tb_scale_by(-e, 3, w);

  // The nearest edge of the polygon at n = 1: outward normal d, tangent (−d1, d0), distance r, half-length h.
  double middle = (2 * floor(tb_atan2(w[2], w[1]) * k / (2 * TB_PI)) + 1) * (TB_PI / k), d[2], r, h;
  tb_sin_cos(middle, &d[1], &d[0]);
  tb_sin_cos(TB_PI / k, &h, &r);
  r *= mu, h *= mu;
  double n = w[0], p = d[0] * w[1] + d[1] * w[2], q = d[0] * w[2] - d[1] * w[1];
  double face = (n + r * p) / (1 + r * r), edge = (n + r * p + h * fabs(q)) / (1 + mu * mu);
  if (n >= 0 && p <= r * n && (mu > 0 || (w[1] == 0 && w[2] == 0))) {
    answer_self(3, z, x, jac);
    if (jac && mu == 0) jac[4] = jac[8] = 0;
  } else if (mu > 0 && face > 0 && fabs(q) <= h * face) { // onto the face: drop the part along its normal
    double a = r * face, size = sqrt(1 + r * r), normal[3] = {-r / size, d[0] / size, d[1] / size};
    x[0] = face, x[1] = a * d[0] - q * d[1], x[2] = a * d[1] + q * d[0];
    fill_diagonal(3, 1, jac);
    if (jac) add_outer(3, -1, normal, jac);
    tb_scale_by(e, 3, x);
  } else if (!(edge <= 0)) { // onto the ray over the nearest corner
    double side = copysign(h, q), ray[3] = {1, r * d[0] - side * d[1], r * d[1] + side * d[0]};
    for (int i = 0; i < 3; i++) x[i] = edge * ray[i];
    fill_diagonal(3, 0, jac);
    if (jac) add_outer(3, 1 / (1 + mu * mu), ray, jac);
    tb_scale_by(e, 3, x);
  } else {
    answer_zero(3, x, jac);
  }
}
