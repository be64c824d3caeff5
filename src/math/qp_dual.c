// SPDX-License-Identifier: Apache-2.0
// Goldfarb & Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
// Mathematical Programming 27, 1983.
//
// Start at the minimum without constraints. Take the most violated constraint and move along the direction
// that keeps the active ones tight, until it is met or until the multiplier of an active one vanishes; that
// one is dropped and the move goes on. Every iterate is the minimum over its active set, whose normals are
// always independent: a constraint that depends on them is either met by exchange or shows that none can meet
// it.
//
// With H = L⁻¹ and J = Hᵀ turned by rotations Q, the active normals are N = J₁⁻ᵀR. Adding one rotates its
// last entries away, dropping one restores the triangle: both cost n rotations of two rows of J.
//
// Cost      n³/3 for the factor, then n² per constraint added or dropped.
// Limits    dense; a few hundred variables.
#include "math/qp_dual.h"
#include "math/dot.h"
#include "math/dense.h"
#include "math/scale.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-14;     // violations that are none
static const double CONTRADICTION = 1e-9; // those that rounding does not explain

void tb_qp_dual_layout(tbQpDual* q, tbScratch* s, int variables, int constraints)
{
  size_t n = (size_t)variables, m = (size_t)constraints;
  q->room = variables;
  q->inverse_root = TB_SCRATCH(s, double, n* n);
  q->J = TB_SCRATCH(s, double, n* n);
  q->R = TB_SCRATCH(s, double, n* n);
  q->d = TB_SCRATCH(s, double, n);
  q->z = TB_SCRATCH(s, double, n);
  q->r = TB_SCRATCH(s, double, n);
  q->slack = TB_SCRATCH(s, double, m);
  q->multiplier = TB_SCRATCH(s, double, n + 1);
  q->constraint = TB_SCRATCH(s, int, n + 1);
  q->is_active = TB_SCRATCH(s, bool, m);
}

bool tb_qp_dual_factor(tbQpDual* q, int n, const double* G, int stride)
{
  size_t size = (size_t)n;
  double *U = q->J, *H = q->inverse_root;
  q->n = n;
  for (size_t i = 0; i < size; i++) memcpy(U + i * size, G + i * (size_t)stride, size * sizeof *U);
  if (tb_dense_cholesky(n, U, n) < n) return false;
  // U = Lᵀ; row k of H = L⁻¹ by forward substitution, one row from those above it
  memset(H, 0, size * size * sizeof *H);
  for (size_t k = 0; k < size; k++) {
    double* row = H + k * size;
    row[k] = 1;
    for (size_t i = 0; i < k; i++) tb_dense_subtract((int)i + 1, U[i * size + k], H + i * size, row);
    for (size_t j = 0; j <= k; j++) row[j] /= U[k * size + k];
  }
  return true;
}

static double row_dot(const tbQpRows* rows, int i, const double* x)
{
  double sum = 0;
  for (int e = rows->ptr[i]; e < rows->ptr[i + 1]; e++) sum += rows->val[e] * x[rows->col[e]];
  return sum;
}

// d = Jᵀ normal; z = the move in x, r = what it does to the multipliers.
static void find_direction(tbQpDual* q, const tbQpRows* rows, int p)
{
  int n = q->n;
  for (int k = 0; k < n; k++) q->d[k] = row_dot(rows, p, q->J + (size_t)k * (size_t)n);
  memset(q->z, 0, (size_t)n * sizeof *q->z);
  for (int k = q->active; k < n; k++) tb_dense_subtract(n, -q->d[k], q->J + (size_t)k * (size_t)n, q->z);
  memcpy(q->r, q->d, (size_t)q->active * sizeof *q->r);
  for (int k = q->active - 1; k >= 0; k--) { // R r = d₁, by columns
    const double* column = q->R + (size_t)k * (size_t)n;
    q->r[k] /= column[k];
    tb_dense_subtract(k, q->r[k], column, q->r);
  }
}

// √(a² + b²) without overflow; every step rounds correctly, which hypot need not.
static double length_of(double a, double b)
{
  double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b)), ratio = most > 0 ? least / most : 0;
  return most * sqrt(1 + ratio * ratio);
}

// (x, y) ← (c x + s y, c y − s x), the difference as a sum: gcc fuses pairs of a sum and a difference into
// one instruction that rounds otherwise, whatever it is told (test/house/run looks for it).
static void turn(double c, double s, double minus_s, double* x, double* y)
{
  double a = *x, b = *y;
  *x = c * a + s * b;
  *y = c * b + minus_s * a;
}

// Turns rows i and i+1 of J so that the second of the pair (a, b) becomes zero; returns the first.
static double rotate(tbQpDual* q, int i, double a, double b, double* cosine, double* sine)
{
  size_t n = (size_t)q->n;
  double length = length_of(a, b), c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
  double *first = q->J + (size_t)i * n, *second = first + n;
  for (size_t k = 0; k < n; k++) turn(c, s, -s, first + k, second + k);
  *cosine = c, *sine = s;
  return length;
}

// Appends constraint p, whose d is at hand. False when its normal depends on the active ones.
static bool add(tbQpDual* q, int p, double scale)
{
  int n = q->n;
  double c, s;
  for (int i = n - 2; i >= q->active; i--) {
    q->d[i] = rotate(q, i, q->d[i], q->d[i + 1], &c, &s);
    q->d[i + 1] = 0;
  }
  if (fabs(q->d[q->active]) <= scale) return false;
  memcpy(q->R + (size_t)q->active * (size_t)n, q->d, (size_t)(q->active + 1) * sizeof *q->d);
  q->constraint[q->active++] = p;
  q->is_active[p] = true;
  return true;
}

static void drop(tbQpDual* q, int at)
{
  size_t n = (size_t)q->n;
  q->is_active[q->constraint[at]] = false;
  for (int k = at; k + 1 < q->active; k++) {
    q->constraint[k] = q->constraint[k + 1];
    q->multiplier[k] = q->multiplier[k + 1];
    memcpy(q->R + (size_t)k * n, q->R + (size_t)(k + 1) * n, (size_t)(k + 2) * sizeof *q->R);
  }
  q->multiplier[q->active - 1] = q->multiplier[q->active];
  q->active--;
  for (int k = at; k < q->active; k++) { // column k has one entry below the diagonal
    double c, s, *column = q->R + (size_t)k * n;
    column[k] = rotate(q, k, column[k], column[k + 1], &c, &s);
    for (int j = k + 1; j < q->active; j++) {
      double* other = q->R + (size_t)j * n;
      turn(c, s, -s, other + k, other + k + 1);
    }
  }
}

// How far x misses constraint i, relative to the terms that make it up; below rounding it counts as met.
static double violation(const tbQpRows* rows, int i, const double* x, double size_x)
{
  double sum = 0, terms = fabs(rows->bound[i]);
  for (int e = rows->ptr[i]; e < rows->ptr[i + 1]; e++) {
    sum += rows->val[e] * x[rows->col[e]];
    terms += fabs(rows->val[e]) * size_x;
  }
  double missing = rows->bound[i] - sum;
  return missing > ROUNDING * terms ? missing / terms : 0;
}

// The most violated constraint, or −1.
static int most_violated(const tbQpDual* q, const tbQpRows* rows, const double* x, const bool* given_up,
                         double* most)
{
  int worst = -1;
  double size_x = tb_max_abs(q->n, x);
  *most = 0;
  for (int i = 0; i < rows->count; i++) {
    if (q->is_active[i] || given_up[i]) continue;
    double missing = violation(rows, i, x, size_x);
    if (missing > *most) *most = missing, worst = i;
  }
  return worst;
}

static void start(tbQpDual* q, const double* g, int constraints, double* x)
{
  size_t n = (size_t)q->n;
  memcpy(q->J, q->inverse_root, n * n * sizeof *q->J);
  memset(q->is_active, 0, (size_t)constraints * sizeof *q->is_active);
  q->active = 0;
  memset(x, 0, n * sizeof *x); // x = −G⁻¹g = −Hᵀ(H g)
  for (size_t k = 0; k < n; k++)
    tb_dense_subtract((int)n, tb_dot_in_order((int)n, q->J + k * n, g), q->J + k * n, x);
}

// Meets constraint p. False when nothing can, the active ones standing.
static bool meet(tbQpDual* q, const tbQpRows* rows, int p, double* x)
{
  int n = q->n;
  q->multiplier[q->active] = 0;
  for (;;) {
    find_direction(q, rows, p);
    double all = tb_dot_in_order(n, q->d, q->d),
           free = tb_dot_in_order(n - q->active, q->d + q->active, q->d + q->active);
    bool moves = free > 1e-22 * all && q->active < n;
    double full = moves ? (rows->bound[p] - row_dot(rows, p, x)) / free : INFINITY, partial = INFINITY;
    int leaves = -1;
    double noise = 1e-11 * tb_max_abs(q->active, q->r);
    for (int k = 0; k < q->active; k++)
      if (q->r[k] > noise && q->multiplier[k] / q->r[k] < partial)
        partial = q->multiplier[k] / q->r[k], leaves = k;
    double t = fmin(full, partial);
    if (isinf(t)) return false;
    if (moves) tb_dense_subtract(n, -t, q->z, x);
    for (int k = 0; k < q->active; k++) q->multiplier[k] = fmax(0, q->multiplier[k] - t * q->r[k]);
    q->multiplier[q->active] += t;
    if (full <= partial) return add(q, p, 1e-14 * sqrt(all));
    drop(q, leaves);
  }
}

tbQpOutcome tb_qp_dual_solve(tbQpDual* q, const double* g, const tbQpRows* rows, double* x, double* y)
{
  bool* given_up = (bool*)q->slack; // as many bytes as there are constraints are there
  memset(given_up, 0, (size_t)rows->count * sizeof *given_up);
  start(q, g, rows->count, x);
  tbQpOutcome outcome = TB_QP_SOLVED;
  int p = -1, budget = 20 * (q->n + rows->count) + 100;
  double most = 0;
  while ((p = most_violated(q, rows, x, given_up, &most)) >= 0) {
    if (budget-- == 0) {
      outcome = TB_QP_UNFINISHED;
      break;
    }
    if (meet(q, rows, p, x)) continue;
    given_up[p] = true;
    if (most > CONTRADICTION) outcome = TB_QP_INFEASIBLE;
  }
  memset(y, 0, (size_t)rows->count * sizeof *y);
  for (int k = 0; k < q->active; k++) y[q->constraint[k]] = q->multiplier[k];
  return outcome;
}

// With ρ = ∇ − Nᵀy what is left of the gradient and e of the constraints,
//   dx = −J₂J₂ᵀρ + J₁R⁻ᵀe,   dy = R⁻¹(J₁ᵀρ + R⁻ᵀe).
void tb_qp_dual_refine(tbQpDual* q, const double* gradient, const tbQpRows* rows, double* x, double* y)
{
  int n = q->n;
  double *rho = q->z, *t = q->d, *dy = q->r;
  memcpy(rho, gradient, (size_t)n * sizeof *rho);
  for (int k = 0; k < q->active; k++) {
    int c = q->constraint[k];
    for (int e = rows->ptr[c]; e < rows->ptr[c + 1]; e++) rho[rows->col[e]] -= y[c] * rows->val[e];
    t[k] = rows->bound[c] - row_dot(rows, c, x);
  }
  for (int k = 0; k < q->active; k++) { // Rᵀ t = e
    const double* column = q->R + (size_t)k * (size_t)n;
    t[k] = (t[k] - tb_dot_in_order(k, column, t)) / column[k];
    dy[k] = t[k] + tb_dot_in_order(n, q->J + (size_t)k * (size_t)n, rho);
  }
  for (int k = q->active; k < n; k++) t[k] = -tb_dot_in_order(n, q->J + (size_t)k * (size_t)n, rho);
  for (int k = 0; k < n; k++) tb_dense_subtract(n, -t[k], q->J + (size_t)k * (size_t)n, x);
  for (int k = q->active - 1; k >= 0; k--) { // R dy = …
    const double* column = q->R + (size_t)k * (size_t)n;
    dy[k] /= column[k];
    tb_dense_subtract(k, dy[k], column, dy);
  }
  for (int k = 0; k < q->active; k++) y[q->constraint[k]] += dy[k];
}
