// SPDX-License-Identifier: Apache-2.0
// The minimum map, Fischer–Burmeister and the limit surface for every friction set.
//
//   ball, ellipsoid   scaled to the second-order cone; a tensor is a ball for M⁻¹λ_F and u_F
//   balls             sliding, torsion, rolling: one cone for each, with the normal impulse in common and
//   ‖u_g‖
//                     in place of the normal velocity; of a cone's d + 1 equations the d of its group are
//                     kept
//   box               row by row, l λ_n ≤ λ_i ≤ h λ_n against u_i: λ_i − mid(lλ_n, λ_i − ρu_i, hλ_n), and
//                     ψ(λ_i − lλ_n, −ψ(hλ_n − λ_i, −ρu_i)) (Billups 1995)
//   polygon           a facet i holds λ_F back by 0 ≤ γ_i ⟂ b_i λ_n − a_i·λ_F ≥ 0, and u_F = −Σ γ_i a_i. Only
//   the
//                     two facets of one corner can: their γ follow from u_F, and are two equations (course
//                     §6.1.5, with the facets as its implicit surface)
//
// ψ(a, b) = a + b − (a² + b²)^½. The limit surface has it where the minimum map has min(a, b), on curved sets
// and polygons.
#include "solve/contact_map_own.h"

#include "math/dot.h"
#include "math/scale.h"

#include <math.h>
#include <string.h>

static const double NONE = 1e-12; // half axes that are none

// The largest of them.
static double half_axes(const tbFrictionSet* f, double* a)
{
  double most = 0;
  for (int i = 0; i < f->dim; i++) {
    a[i] = f->par[f->kind == TB_SET_ELLIPSOID ? i : 0];
    most = fmax(most, a[i]);
  }
  return most;
}

// ---- one complementarity, 0 ≤ a ⟂ b ≥ 0 ----

typedef struct {
  double value, by_a, by_b;
} Complement;

static Complement complement(tbMap map, double a, double b)
{
  if (map == TB_MAP_MIN) return a <= b ? (Complement){a, 1, 0} : (Complement){b, 0, 1};
  double r = tb_norm(2, (double[2]){a, b});
  if (!(r > 0)) return (Complement){0, 1, 0};
  return (Complement){a + b - r, 1 - a / r, 1 - b / r};
}

// ---- Fischer–Burmeister on the second-order cone ----

// phi = x + y − z, z = (x² + y²)^½ in the Jordan algebra of the cone; X, Y (may be null): its derivatives,
// from dz = L_z⁻¹(L_x dx + L_y dy) with the arrow matrices L.
static void fb_cone(int n, const double* x, const double* y, double* phi, double* X, double* Y)
{
  double z[TB_MAX_ROWS], w[TB_MAX_ROWS], length = 0;
  for (int i = 1; i < n; i++) {
    w[i] = 2 * (x[0] * x[i] + y[0] * y[i]);
    length += w[i] * w[i];
  }
  w[0] = tb_dot_in_order(n, x, x) + tb_dot_in_order(n, y, y);
  length = sqrt(length);
  // Eigenvalues of w; the smaller one is kept off zero, where the root has no derivative.
  double small = sqrt(fmax(w[0] - length, 1e-24 * w[0])), large = sqrt(w[0] + length);
  z[0] = 0.5 * (large + small);
  for (int i = 1; i < n; i++) z[i] = length > 0 ? 0.5 * (large - small) * w[i] / length : 0;
  for (int i = 0; i < n; i++) phi[i] = x[i] + y[i] - z[i];
  double det = small * large;
  for (int side = 0; X && side < 2; side++)
    for (int j = 0; j < n; j++) {
      const double* v = side ? y : x;
      double t[TB_MAX_ROWS], r[TB_MAX_ROWS] = {0};
      if (j == 0) memcpy(r, v, (size_t)n * sizeof *r);
      else r[0] = v[j], r[j] = v[0];
      t[0] = det > 0 ? (z[0] * r[0] - tb_dot_in_order(n - 1, z + 1, r + 1)) / det : 0;
      for (int i = 1; i < n; i++) t[i] = z[0] > 0 ? (r[i] - z[i] * t[0]) / z[0] : 0;
      for (int i = 0; i < n; i++) (side ? Y : X)[i * n + j] = (i == j) - t[i];
    }
}

// With x = (λ_n, λ_F/a) and y = ρ(û_n, a u_F), a the half axes (μ of a ball), the law is  SOC ∋ x ⟂ y ∈ SOC.
static double fb_ellipsoid(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  double rho = tb_map_common_factor(m), far[TB_MAX_ROWS], lift = tb_map_saxce(m, u, far);
  double a[TB_MAX_ROWS], x[TB_MAX_ROWS], y[TB_MAX_ROWS], phi[TB_MAX_ROWS];
  half_axes(m->f, a + 1);
  x[0] = lambda[0], y[0] = rho * (u[0] + lift);
  for (int i = 1; i < n; i++) x[i] = lambda[i] / a[i], y[i] = rho * a[i] * u[i];
  fb_cone(n, x, y, phi, step ? step->A : NULL, step ? step->B : NULL);
  if (step) {
    memcpy(step->phi, phi, (size_t)n * sizeof *phi);
    for (int i = 0; i < n; i++) { // back from x, y to λ, u; û_n moves with u_F
      double first = rho * step->B[i * n];
      step->B[i * n] = first;
      for (int j = 1; j < n; j++) {
        step->A[i * n + j] /= a[j];
        step->B[i * n + j] = rho * a[j] * step->B[i * n + j] - first * far[j - 1];
      }
    }
  }
  return tb_dot_in_order(n, phi, phi);
}

// The normal row by itself.
static double fb_normal(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  double rho = tb_map_normal_factor(m);
  Complement c = complement(TB_MAP_FB, lambda[0], rho * u[0]);
  if (step) step->phi[0] = c.value, step->A[0] = c.by_a, step->B[0] = rho * c.by_b;
  return c.value * c.value;
}

// Rows at … at + size − 1: SOC ∋ (r λ_n, λ_g) ⟂ ρ(‖u_g‖, u_g) ∈ SOC, of which the first row is left out.
static double fb_group(const tbContactMap* m, int at, int size, double radius, const double* lambda,
                       const double* u, tbContactStep* step)
{
  int n = m->rows, wide = size + 1;
  double rho = tb_map_friction_factor(m), x[4], y[4], phi[4], X[16], Y[16], sum = 0;
  double speed = tb_norm(size, u + at);
  x[0] = radius * lambda[0], y[0] = rho * speed;
  for (int i = 0; i < size; i++) x[1 + i] = lambda[at + i], y[1 + i] = rho * u[at + i];
  if (radius > NONE) fb_cone(wide, x, y, phi, step ? X : NULL, step ? Y : NULL);
  for (int i = 0; i < size; i++) {
    double value = radius > NONE ? phi[1 + i] : lambda[at + i];
    sum += value * value;
    if (!step) continue;
    double *A = step->A + (at + i) * n, *B = step->B + (at + i) * n;
    step->phi[at + i] = value;
    if (!(radius > NONE)) {
      A[at + i] = 1;
      continue;
    }
    A[0] = radius * X[(1 + i) * wide];
    for (int j = 0; j < size; j++) {
      double turn = speed > 0 ? u[at + j] / speed : 0;
      A[at + j] = X[(1 + i) * wide + 1 + j];
      B[at + j] = rho * (Y[(1 + i) * wide + 1 + j] + Y[(1 + i) * wide] * turn);
    }
  }
  return sum;
}

static double fb_balls(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int size[3] = {2, m->f->dim == 4 ? 2 : 1, 2};
  double sum = fb_normal(m, lambda, u, step);
  for (int g = 0, at = 1; at < m->rows; at += size[g++])
    sum += fb_group(m, at, size[g], m->f->par[g], lambda, u, step);
  return sum;
}

static double fb_box(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  double rho = tb_map_friction_factor(m), sum = fb_normal(m, lambda, u, step);
  for (int i = 1; i < n; i++) {
    double lo = m->f->par[2 * i - 2], hi = m->f->par[2 * i - 1];
    Complement upper = complement(TB_MAP_FB, hi * lambda[0] - lambda[i], -rho * u[i]);
    Complement both = complement(TB_MAP_FB, lambda[i] - lo * lambda[0], -upper.value);
    sum += both.value * both.value;
    if (!step) continue;
    step->phi[i] = both.value;
    step->A[i * n] = -both.by_a * lo - both.by_b * upper.by_a * hi;
    step->A[i * n + i] = both.by_a + both.by_b * upper.by_a;
    step->B[i * n + i] = both.by_b * upper.by_b * rho;
  }
  return sum;
}

// ---- sliding along the gradient of the limit surface, with a slack ----

// Rows at … at + dim − 1, with half axes a. Sliding is u_F + γe = 0 with e = λ_F/‖λ_F‖, the gradient of the
// limit surface η = ‖λ_F‖ − μλ_n, and a slack 0 ≤ γ ⟂ −η ≥ 0 (course §6.1.5, where β is 1/γ). The slack
// enters linearly, so that the part of the first equation along e gives it, γ = −e·u_F, and leaves the part
// across e:
//
//   −ψ(ργ, −η) e + ρ(u_F + γe) = 0
//
// With the minimum for ψ this is u_F = 0 while it sticks, ργ ≤ −η; and while it slides η = 0 along e.
//
// An ellipsoid with half axes a is a ball of radius μ = max a for λ_F/s and s u_F, s = a/μ: these stand for
// λ_F and u_F, and the equations are scaled back by s.
static void slide(const tbContactMap* m, int at, int dim, const double* a, const double* lambda_in,
                  const double* u_in, tbContactStep* step)
{
  int n = m->rows;
  double s[TB_MAX_ROWS], lambda[TB_MAX_ROWS], u[TB_MAX_ROWS], e[TB_MAX_ROWS], mu = 0;
  double rho = tb_map_friction_factor(m);
  for (int i = 0; i < dim; i++) mu = fmax(mu, a[i]);
  for (int i = 0; i < dim; i++) {
    s[i] = mu > NONE ? a[i] / mu : 1;
    lambda[i] = lambda_in[at + i] / s[i], u[i] = s[i] * u_in[at + i];
  }
  double length = sqrt(tb_dot_in_order(dim, lambda, lambda)), speed = sqrt(tb_dot_in_order(dim, u, u));
  for (int i = 0; i < dim; i++) e[i] = length > 0 ? lambda[i] / length : speed > 0 ? -u[i] / speed : i == 0;
  double gamma = -tb_dot_in_order(dim, e, u), room = mu * lambda_in[0] - length;
  Complement c = complement(m->map, rho * gamma, room);
  bool turns = c.by_b > 0 && length > 0 && gamma > 0;
  double bend = turns ? rho * gamma / length : 0; // derivative of γe across e
  for (int i = 0; i < dim; i++) {
    double *A = step->A + (at + i) * n, *B = step->B + (at + i) * n;
    if (!(mu > NONE)) { // no friction in this group
      step->phi[at + i] = lambda_in[at + i], A[at + i] = 1;
      continue;
    }
    step->phi[at + i] = s[i] * (rho * u[i] + (rho * gamma - c.value) * e[i]);
    A[0] = -c.by_b * mu * e[i] * s[i];
    for (int j = 0; j < dim; j++) {
      double along = e[i] * e[j];
      A[at + j] = (bend * ((i == j) - along) + c.by_b * along) * (s[i] / s[j]);
      B[at + j] = rho * ((i == j) - (1 - c.by_a) * along) * (s[i] * s[j]);
    }
  }
}

static void slide_balls(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int size[3] = {2, m->f->dim == 4 ? 2 : 1, 2};
  for (int g = 0, at = 1; at < m->rows; at += size[g++]) {
    double a[2] = {m->f->par[g], m->f->par[g]};
    slide(m, at, size[g], a, lambda, u, step);
  }
}

static void min_box(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  double rho = tb_map_friction_factor(m);
  for (int i = 1; i < n; i++) {
    double lo = m->f->par[2 * i - 2], hi = m->f->par[2 * i - 1], z = lambda[i] - rho * u[i];
    bool low = z <= lo * lambda[0], high = z >= hi * lambda[0];
    double bound = low ? lo : hi;
    step->phi[i] = low || high ? lambda[i] - bound * lambda[0] : rho * u[i];
    if (low || high) step->A[i * n] = -bound, step->A[i * n + i] = 1;
    else step->B[i * n + i] = rho;
  }
}

// ---- polygons ----

// Outward normals a and distances b from 0 of the two facets at a corner. False: they are one line.
static bool facets_at(int count, const double (*corner)[2], int at, double a[2][2], double b[2])
{
  for (int k = 0; k < 2; k++) {
    const double *from = corner[(at + count - 1 + k) % count], *to = corner[(at + k) % count];
    double x = to[0] - from[0], y = to[1] - from[1], length = sqrt(x * x + y * y);
    if (!(length > 1e-9)) return false;
    a[k][0] = y / length, a[k][1] = -x / length;
    b[k] = a[k][0] * from[0] + a[k][1] * from[1];
  }
  return a[0][0] * a[1][1] - a[0][1] * a[1][0] > 1e-6;
}

// The corner whose facets hold λ_F: that nearest to the point of λ_n F closest to λ_F − ρu_F, or, of the
// empty set, that farthest along it.
static int corner_for(const tbContactMap* m, int count, const double (*corner)[2], const double* lambda,
                      const double* u)
{
  double rho = tb_map_friction_factor(m), z[2], x[2], best = -INFINITY, size = fmax(lambda[0], 0);
  int at = 0;
  for (int i = 0; i < 2; i++) z[i] = lambda[1 + i] - rho * u[1 + i];
  tb_friction_closest(m->f, size, z, x);
  for (int k = 0; k < count; k++) {
    double p = x[0] - size * corner[k][0], q = x[1] - size * corner[k][1];
    double score = size > 0 ? -(p * p + q * q) : z[0] * corner[k][0] + z[1] * corner[k][1];
    if (score > best) best = score, at = k;
  }
  return at;
}

static void by_facets(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  double corner[TB_MAX_DIRECTIONS][2], a[2][2], b[2], rho = tb_map_friction_factor(m);
  int count = tb_friction_corners(m->f, corner),
      at = corner_for(m, count, (const double(*)[2])corner, lambda, u);
  facets_at(count, (const double(*)[2])corner, at, a, b);
  double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
  for (int k = 0; k < 2; k++) { // γ_k = g·u_F from u_F = −γ₀ a₀ − γ₁ a₁
    const double* other = a[1 - k];
    double side = k ? 1 : -1, g[2] = {side * other[1] / det, -side * other[0] / det};
    double gamma = g[0] * u[1] + g[1] * u[2],
           room = b[k] * lambda[0] - a[k][0] * lambda[1] - a[k][1] * lambda[2];
    Complement c = complement(m->map, rho * gamma, room);
    int row = 3 * (1 + k);
    step->phi[1 + k] = c.value;
    step->A[row] = c.by_b * b[k];
    for (int j = 0; j < 2; j++) {
      step->A[row + 1 + j] = -c.by_b * a[k][j];
      step->B[row + 1 + j] = c.by_a * rho * g[j];
    }
  }
}

// ---- tensors ----

// The contact with M⁻¹λ_F in place of λ_F, and a ball.
static tbContactMap through_tensor(const tbContactMap* m, const double* lambda, tbFrictionSet* ball,
                                   double own[3])
{
  const double* M = m->f->par + 1;
  *ball = *m->f;
  ball->kind = TB_SET_BALL;
  tbContactMap out = *m;
  out.f = ball;
  own[0] = lambda[0];
  own[1] = M[3] * lambda[1] - M[1] * lambda[2], own[2] = M[0] * lambda[2] - M[2] * lambda[1];
  return out;
}

// The equations back: rows of friction times M, columns of λ_F times M⁻¹.
static void from_tensor(const tbFrictionSet* f, tbContactStep* step)
{
  const double* M = f->par + 1;
  for (int j = 0; j < 3; j++) {
    double p = step->A[3 + j], q = step->A[6 + j], r = step->B[3 + j], t = step->B[6 + j];
    step->A[3 + j] = M[0] * p + M[1] * q, step->A[6 + j] = M[2] * p + M[3] * q;
    step->B[3 + j] = M[0] * r + M[1] * t, step->B[6 + j] = M[2] * r + M[3] * t;
  }
  for (int i = 0; i < 3; i++) {
    double p = step->A[3 * i + 1], q = step->A[3 * i + 2];
    step->A[3 * i + 1] = p * M[3] - q * M[2], step->A[3 * i + 2] = q * M[0] - p * M[1];
  }
  tb_friction_turn(f, step->phi);
}

// ---- the whole ----

bool tb_contact_map_owns(tbMap map, const tbFrictionSet* f)
{
  double corner[TB_MAX_DIRECTIONS][2], a[TB_MAX_ROWS], normal[2][2], b[2];
  if (map == TB_MAP_AC || map == TB_MAP_NATURAL || f->kind == TB_SET_NONE) return true;
  switch ((tbSetKind)f->kind) {
  case TB_SET_BALL:
  case TB_SET_ELLIPSOID:
    half_axes(f, a);
    for (int i = 0; i < f->dim; i++)
      if (!(a[i] > NONE)) return false;
    return map == TB_MAP_FB || !f->associated;
  case TB_SET_POLYGON: {
    int count = tb_friction_corners(f, corner);
    for (int k = 0; k < count; k++)
      if (!facets_at(count, (const double(*)[2])corner, k, normal, b)) return false;
    return count > 2 && !f->associated;
  }
  case TB_SET_TENSOR: return f->par[0] > NONE;
  default: return !f->associated;
  }
}

double tb_map_fb(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  if (step) tb_map_clear(m->rows, step);
  if (m->f->kind == TB_SET_BOX) return fb_box(m, lambda, u, step);
  if (m->f->kind == TB_SET_BALLS) return fb_balls(m, lambda, u, step);
  if (m->f->kind != TB_SET_TENSOR) return fb_ellipsoid(m, lambda, u, step);
  tbFrictionSet ball;
  double own[3];
  tbContactMap round = through_tensor(m, lambda, &ball, own);
  double sum = fb_ellipsoid(&round, own, u, step);
  if (step) from_tensor(m->f, step);
  return sum;
}

void tb_map_jumping(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  double rho = tb_map_normal_factor(m), a[TB_MAX_ROWS], own[3];
  tbFrictionSet ball;
  tb_map_clear(n, step);
  if (m->map == TB_MAP_FB) {
    fb_normal(m, lambda, u, step);
    by_facets(m, lambda, u, step);
    return;
  }
  if (lambda[0] <= rho * u[0]) { // open: no impulse at all; the conditions on γ need μλ_n > 0
    for (int i = 0; i < n; i++) step->phi[i] = lambda[i], step->A[i * n + i] = 1;
    return;
  }
  step->phi[0] = rho * u[0], step->B[0] = rho;
  switch ((tbSetKind)m->f->kind) {
  case TB_SET_BOX: min_box(m, lambda, u, step); break;
  case TB_SET_BALLS: slide_balls(m, lambda, u, step); break;
  case TB_SET_POLYGON: by_facets(m, lambda, u, step); break;
  case TB_SET_TENSOR: {
    tbContactMap round = through_tensor(m, lambda, &ball, own);
    half_axes(&ball, a);
    slide(&round, 1, 2, a, own, u, step);
    from_tensor(m->f, step);
    break;
  }
  default: half_axes(m->f, a); slide(m, 1, n - 1, a, lambda, u, step);
  }
}
