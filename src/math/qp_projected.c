// SPDX-License-Identifier: Apache-2.0
// Accelerated projected gradients with adaptive restart (Nesterov 1983; O'Donoghue & Candès 2015), and
// conjugate gradients on the face that they have found (after Dostál, "Optimal Quadratic Programming
// Algorithms", 2009).
//
//   x⁺ = P(y − s∇(y)),   y⁺ = x⁺ + β (x⁺ − x),   momentum dropped when it points uphill
//
// Rows that the projection leaves alone are free. When they have been the same for a few steps, conjugate
// gradients on them, the others held, solve the rest of the problem in one go; the outcome is projected and
// kept if it is lower.
//
// Cost      one product with W per step of either kind.
// Limits    linear convergence at a rate set by the condition of W on the face; conjugate gradients take its
// root.
#include "math/qp_projected.h"
#include "math/dot.h"
#include "base/stop.h"

#include <math.h>
#include <string.h>

enum {
  SETTLED = 4,
  POWER_STEPS = 8
}; // steps before a face is tried first, then twice as many where it failed

void tb_qp_projected_layout(tbQpProjected* q, tbScratch* s, int variables)
{
  size_t n = (size_t)variables;
  double** vectors[] = {&q->gradient, &q->ahead, &q->last, &q->trial, &q->product, &q->direction};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, n);
  q->free = TB_SCRATCH(s, uint8_t, n);
}

// A few steps of the power method; what it misses of ‖W‖ the first uphill step shows.
static int find_step(tbQpProjected* q)
{
  double size = 0;
  for (int i = 0; i < q->n; i++) q->trial[i] = 1 + 0.1 * (i * 7 % 11 - 5); // no symmetry to be trapped by
  for (int k = 0; k < POWER_STEPS; k++) {
    double length = sqrt(tb_dot_in_order(q->n, q->trial, q->trial));
    if (!(length > 0)) break;
    for (int i = 0; i < q->n; i++) q->trial[i] /= length;
    q->apply(q->user, q->trial, q->product);
    size = fmax(size, tb_dot_in_order(q->n, q->trial, q->product));
    memcpy(q->trial, q->product, (size_t)q->n * sizeof *q->trial);
  }
  q->step = size > 0 ? 0.9 / size : 1;
  return POWER_STEPS;
}

static double objective(const tbQpProjected* q, const double* x, const double* Wx, const double* g)
{
  double sum = 0;
  for (int i = 0; i < q->n; i++) sum += x[i] * (0.5 * Wx[i] + g[i]);
  return sum;
}

// Conjugate gradients on the free rows from x, whose gradient is at hand; into trial. Returns products used.
static int solve_face(tbQpProjected* q, const double* x, double goal, int products)
{
  int n = q->n, used = 0;
  double *r = q->ahead, *p = q->direction, rr = 0;
  memcpy(q->trial, x, (size_t)n * sizeof *x);
  for (int i = 0; i < n; i++) {
    r[i] = p[i] = q->free[i] ? -q->gradient[i] : 0;
    rr += r[i] * r[i];
  }
  while (used < products && used < n && rr > goal * goal && !tb_asked(q->interrupt)) {
    q->apply(q->user, p, q->product);
    used++;
    double curvature = tb_dot_in_order(n, p, q->product), next = 0;
    if (!(curvature > 1e-14 * tb_dot_in_order(n, p, p) / q->step * 1e-2))
      break; // flat: W is singular along p
    double t = rr / curvature;
    for (int i = 0; i < n; i++) {
      q->trial[i] += t * p[i];
      if (q->free[i]) r[i] -= t * q->product[i];
      next += r[i] * r[i];
    }
    for (int i = 0; i < n; i++) p[i] = r[i] + next / rr * p[i];
    rr = next;
  }
  return used;
}

int tb_qp_projected_solve(tbQpProjected* q, const double* g, double tolerance, int products, double* x)
{
  int n = q->n, used = q->step > 0 ? 0 : find_step(q), settled = 0, patience = SETTLED;
  size_t bytes = (size_t)n * sizeof *x;
  double theta = 1, size = sqrt(tb_dot_in_order(n, g, g)), lowest = INFINITY;
  q->project(q->user, x);
  memcpy(q->ahead, x, bytes);
  memset(q->free, 0, (size_t)n);
  while (used < products && !tb_asked(q->interrupt)) {
    // x⁺ = P(y − s∇(y)), from y = ahead
    q->apply(q->user, q->ahead, q->gradient);
    used++;
    for (int i = 0; i < n; i++) q->gradient[i] += g[i];
    memcpy(q->last, x, bytes);
    for (int i = 0; i < n; i++) q->trial[i] = q->ahead[i] - q->step * q->gradient[i];
    memcpy(x, q->trial, bytes);
    q->project(q->user, x);
    bool same = true;
    double moved = 0, uphill = 0;
    for (int i = 0; i < n; i++) {
      uint8_t is_free = x[i] == q->trial[i];
      same = same && is_free == q->free[i];
      q->free[i] = is_free;
      moved += (x[i] - q->ahead[i]) * (x[i] - q->ahead[i]);
      uphill += (q->ahead[i] - x[i]) * (x[i] - q->last[i]);
    }
    if (sqrt(moved) <= tolerance * q->step * size) break;
    settled = same ? settled + 1 : 0;
    if (settled == patience && used < products) {
      q->apply(q->user, x, q->product);
      double before = objective(q, x, q->product, g);
      if (before > lowest) q->step *= 0.7; // ‖W‖ was underestimated
      for (int i = 0; i < n; i++) q->gradient[i] = q->product[i] + g[i];
      used += 1 + solve_face(q, x, 0.1 * tolerance * size, products - used);
      q->project(q->user, q->trial);
      q->apply(q->user, q->trial, q->product);
      used++;
      double after = objective(q, q->trial, q->product, g);
      lowest = fmin(before, after);
      settled = 0;
      if (after < before) {
        memcpy(x, q->trial, bytes);
        memcpy(q->ahead, x, bytes);
        theta = 1;
        continue;
      }
      patience *= 2;
    }
    double next = 0.5 + sqrt(0.25 + theta * theta), momentum = (theta - 1) / next;
    if (uphill > 0) next = 1, momentum = 0;
    for (int i = 0; i < n; i++) q->ahead[i] = x[i] + momentum * (x[i] - q->last[i]);
    theta = next;
  }
  return used;
}
