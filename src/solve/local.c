// SPDX-License-Identifier: Apache-2.0
// The contact solver of blocked Gauss–Seidel.
//
// Balls and ellipsoids are solved exactly (local_ball.c); a nearly symmetric D counts as its symmetric part,
// with the rest taken from the last visit. Other sets, and blocks far from symmetric: semismooth Newton on
// the natural map of the cone; where it is lost, a bracket on λ_n with friction following. Laws without
// friction: elimination, or projected Gauss–Seidel on the contact's own rows.
#include "solve/local.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

// Solves A x = b (n ≤ 6) by elimination with complete pivoting; directions in which A is singular to rounding
// get x = 0. A and b are destroyed. Returns the rank.
static int eliminate(int n, double* A, double* b, double* x)
{
  int column[TB_MAX_ROWS], rank = 0;
  double first = 0;
  for (int i = 0; i < n; i++) column[i] = i;
  for (; rank < n; rank++) {
    int pi = rank, pj = rank;
    for (int i = rank; i < n; i++)
      for (int j = rank; j < n; j++)
        if (fabs(A[i * n + j]) > fabs(A[pi * n + pj])) pi = i, pj = j;
    double pivot = A[pi * n + pj];
    if (rank == 0) first = fabs(pivot);
    if (!(fabs(pivot) > 1e-13 * first)) break;
    for (int j = 0; j < n; j++) {
      double t = A[pi * n + j];
      A[pi * n + j] = A[rank * n + j], A[rank * n + j] = t;
    }
    for (int i = 0; i < n; i++) {
      double t = A[i * n + pj];
      A[i * n + pj] = A[i * n + rank], A[i * n + rank] = t;
    }
    int tc = column[pj];
    double tb = b[pi];
    column[pj] = column[rank], column[rank] = tc;
    b[pi] = b[rank], b[rank] = tb;
    for (int i = rank + 1; i < n; i++) {
      double factor = A[i * n + rank] / pivot;
      for (int j = rank; j < n; j++) A[i * n + j] -= factor * A[rank * n + j];
      b[i] -= factor * b[rank];
    }
  }
  for (int i = 0; i < n; i++) x[i] = 0;
  for (int i = rank - 1; i >= 0; i--) {
    double sum = b[i];
    for (int j = i + 1; j < rank; j++) sum -= A[i * n + j] * x[column[j]];
    x[column[i]] = sum / A[i * n + i];
  }
  return rank;
}

static void velocity(int n, const double* D, const double* q, const double* lambda, double* u)
{
  for (int i = 0; i < n; i++) u[i] = q[i] + tb_dot_in_order(n, D + i * n, lambda);
}

// ---- the natural map of any set ----

typedef struct {
  const tbLocal* c;
  int rows;
  const double* q; // the velocity without the contact's own impulse
  double rho;      // 1 / ‖D‖
} Map;

// G = λ − P_K(λ − ρ û), and its derivative if wanted. Returns ‖G‖².
static double natural_map(const Map* m, const double* lambda, double* G, double* dG)
{
  const tbFrictionSet* f = m->c->f;
  const double* D = m->c->D;
  int n = m->rows;
  double u[TB_MAX_ROWS], against[TB_MAX_ROWS] = {0}, far[TB_MAX_ROWS], z[TB_MAX_ROWS], x[TB_MAX_ROWS],
                         P[TB_MAX_ROWS * TB_MAX_ROWS];
  velocity(n, D, m->q, lambda, u);
  for (int i = 1; i < n; i++) against[i - 1] = -u[i];
  double lift = tb_friction_support(f, against, far);
  for (int i = 0; i < n; i++) z[i] = lambda[i] - m->rho * (u[i] + (i == 0 && !f->associated ? lift : 0));
  tb_friction_project(f, z, x, dG ? P : NULL);
  for (int i = 0; i < n; i++) G[i] = lambda[i] - x[i];
  if (dG) { // I − P (I − ρ (D − e_n farᵀ D_F))
    double B[TB_MAX_ROWS * TB_MAX_ROWS];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double d = D[i * n + j];
        if (i == 0 && !f->associated)
          for (int r = 1; r < n; r++) d -= far[r - 1] * D[r * n + j];
        B[i * n + j] = (i == j) - m->rho * d;
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = i == j;
        for (int r = 0; r < n; r++) sum -= P[i * n + r] * B[r * n + j];
        dG[i * n + j] = sum;
      }
  }
  return tb_dot_in_order(n, G, G);
}

static bool is_solved(const Map* m, double merit, const double* lambda)
{
  const double* q = m->q;
  return merit <= 4e-30 * (tb_dot_in_order(m->rows, lambda, lambda) +
                           m->rho * m->rho * tb_dot_in_order(m->rows, q, q));
}

// Newton with backtracking; where that does not help, a projected step. True when the map vanishes to
// rounding.
static bool newton(const Map* m, double* lambda)
{
  int n = m->rows;
  double G[TB_MAX_ROWS], dG[TB_MAX_ROWS * TB_MAX_ROWS], b[TB_MAX_ROWS], d[TB_MAX_ROWS], trial[TB_MAX_ROWS];
  for (int iteration = 0; iteration < 30; iteration++) {
    double merit = natural_map(m, lambda, G, dG);
    if (is_solved(m, merit, lambda)) return true;
    for (int i = 0; i < n; i++) b[i] = -G[i];
    eliminate(n, dG, b, d);
    bool moved = false;
    for (double t = 1; t > 1e-3 && !moved; t /= 2) {
      for (int i = 0; i < n; i++) trial[i] = lambda[i] + t * d[i];
      moved = natural_map(m, trial, b, NULL) < (1 - 1e-4 * t) * merit;
    }
    for (int i = 0; i < n; i++) lambda[i] = moved ? trial[i] : lambda[i] - G[i];
  }
  return false;
}

// For a fixed normal impulse s friction is a convex problem over sF; solve it by accelerated projected
// gradient from where f is, and return the normal velocity it leaves.
static double normal_velocity(const Map* m, double s, double* f)
{
  int n = m->rows;
  const double *D = m->c->D, *q = m->q;
  double z[TB_MAX_ROWS], y[TB_MAX_ROWS], last[TB_MAX_ROWS], theta = 1;
  tb_friction_closest(m->c->f, s, f, y);
  memcpy(f, y, (size_t)(n - 1) * sizeof *f);
  for (int iteration = 0; iteration < 400; iteration++) {
    memcpy(last, f, (size_t)(n - 1) * sizeof *f);
    for (int i = 1; i < n; i++)
      z[i - 1] = y[i - 1] - m->rho * (q[i] + D[i * n] * s + tb_dot_in_order(n - 1, D + i * n + 1, y));
    tb_friction_closest(m->c->f, s, z, f);
    double next = 0.5 + sqrt(0.25 + theta * theta), along = 0, change = 0;
    for (int i = 0; i < n - 1; i++)
      along += (y[i] - f[i]) * (f[i] - last[i]), change = fmax(change, fabs(f[i] - last[i]));
    if (along > 0) theta = next = 1; // momentum points uphill: start over
    for (int i = 0; i < n - 1; i++) y[i] = f[i] + (theta - 1) / next * (f[i] - last[i]);
    theta = next;
    if (change <= 1e-14 * s) break;
  }
  return D[0] * s + tb_dot_in_order(n - 1, D + 1, f) + q[0];
}

// When Newton is lost: u_n as a function of λ_n alone, friction following, changes sign where the contact is
// solved. A bracket around it brings Newton close enough.
static void solve_by_bracket(const Map* m, double* lambda)
{
  const double *D = m->c->D, *q = m->q;
  memset(lambda, 0, (size_t)m->rows * sizeof *lambda);
  if (q[0] >= 0 || !(D[0] > 0)) return;
  double lo = 0, hi = -q[0] / D[0];
  for (int i = 0; i < 60 && normal_velocity(m, hi, lambda + 1) < 0; i++) lo = hi, hi *= 2;
  for (int i = 0; i < 40; i++) {
    double mid = lo + 0.5 * (hi - lo);
    if (normal_velocity(m, mid, lambda + 1) < 0) lo = mid;
    else hi = mid;
  }
  lambda[0] = hi;
  normal_velocity(m, hi, lambda + 1);
}

static void solve_any_set(const tbLocal* c, int rows, const double* q, double* lambda);

// A friction tensor: with turned velocities it is a set like others.
static void solve_tensor(const tbLocal* c, int rows, const double* q, double* lambda)
{
  double D[TB_MAX_ROWS * TB_MAX_ROWS], turned_q[TB_MAX_ROWS];
  memcpy(D, c->D, (size_t)(rows * rows) * sizeof *D);
  memcpy(turned_q, q, (size_t)rows * sizeof *q);
  tb_friction_turn_rows(c->f, rows, D);
  tb_friction_turn(c->f, turned_q);
  tbLocal turned = *c;
  turned.D = D;
  solve_any_set(&turned, rows, turned_q, lambda);
}

static void solve_any_set(const tbLocal* c, int rows, const double* q, double* lambda)
{
  double size = 0, first[TB_MAX_ROWS], G[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < rows; j++) sum += fabs(c->D[i * rows + j]);
    size = fmax(size, sum);
  }
  if (!(size > 0)) return;
  Map m = {c, rows, q, 1 / size};
  if (newton(&m, lambda) || c->f->associated) return;
  memcpy(first, lambda, (size_t)rows * sizeof *first);
  solve_by_bracket(&m, lambda);
  newton(&m, lambda);
  if (natural_map(&m, first, G, NULL) < natural_map(&m, lambda, G, NULL))
    memcpy(lambda, first, (size_t)rows * sizeof *first);
}

// ---- laws without friction ----

// Free rows: u = 0. Moved from where λ is, so that a singular block keeps what it cannot determine.
static void solve_free(int rows, const double* D, const double* u, double* lambda)
{
  double A[TB_MAX_ROWS * TB_MAX_ROWS], b[TB_MAX_ROWS], d[TB_MAX_ROWS];
  memcpy(A, D, (size_t)(rows * rows) * sizeof *A);
  for (int i = 0; i < rows; i++) b[i] = -u[i];
  eliminate(rows, A, b, d);
  for (int i = 0; i < rows; i++) lambda[i] += d[i];
}

// Bounded rows: projected Gauss–Seidel on at most six rows, until it stands still. One row is exact at once.
static void solve_rows(const tbLocal* c, int rows, const double* q, double* lambda)
{
  double u[TB_MAX_ROWS], z[TB_MAX_ROWS], next[TB_MAX_ROWS];
  for (int sweep = 0; sweep < 200; sweep++) {
    double change = 0, size = 0;
    for (int i = 0; i < rows; i++) {
      double d = c->D[i * rows + i];
      velocity(rows, c->D, q, lambda, u);
      memcpy(z, lambda, (size_t)rows * sizeof *z);
      if (d > 0) z[i] -= u[i] / d;
      tb_friction_clamp_rows(c->p, c->k, z, next);
      change = fmax(change, fabs(next[i] - lambda[i]));
      size = fmax(size, fabs(next[i]));
      lambda[i] = next[i];
    }
    if (rows == 1 || change <= 1e-16 * size) return;
  }
}

// |D − Dᵀ| is less than `share` of the diagonal.
static bool is_symmetric(int rows, const double* D, double share)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < i; j++) {
      double size = fabs(D[i * rows + i]) + fabs(D[j * rows + j]);
      if (!(fabs(D[i * rows + j] - D[j * rows + i]) < share * size) && size > 0) return false;
    }
  return true;
}

static bool is_zero(int n, const double* x)
{
  for (int i = 0; i < n; i++)
    if (x[i] != 0) return false;
  return true;
}

void tb_local_prepare(const tbProblem* p, int k, const tbFrictionSet* f, const double* D, tbLocal* c)
{
  c->p = p;
  c->k = k;
  c->f = f;
  c->D = D;
  c->is_ball = (f->kind == TB_SET_BALL || f->kind == TB_SET_ELLIPSOID) && !f->associated;
  c->prepared = false;
}

// A⁻¹ of a 3×3 matrix by its cofactors; false where it is singular, or nearly.
static bool invert(const double* A, double* inverse)
{
  double size = 0;
  for (int i = 0; i < 9; i++) {
    int a = (i / 3 + 1) % 3, b = (i / 3 + 2) % 3, c = (i % 3 + 1) % 3, d = (i % 3 + 2) % 3;
    inverse[i % 3 * 3 + i / 3] = A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c];
    size = fabs(A[i]) > size ? fabs(A[i]) : size;
  }
  double det = A[0] * inverse[0] + A[1] * inverse[3] + A[2] * inverse[6];
  for (int i = 0; i < 9; i++) inverse[i] /= det;
  return fabs(det) > 1e-6 * size * size * size;
}

// Sticks: u = 0 with λ = −D⁻¹q inside the cone.
static bool solve_sticking(const tbLocal* c, const double* q, double* lambda)
{
  double x[3], reach;
  for (int i = 0; i < 3; i++) x[i] = -tb_dot_in_order(3, c->even + 3 * i, q);
  reach = c->f->par[0] * x[0];
  if (c->f->kind != TB_SET_BALL || !(x[0] >= 0 && x[1] * x[1] + x[2] * x[2] <= reach * reach)) return false;
  memcpy(lambda, x, sizeof x);
  return true;
}

void tb_local_prepare_ball(tbLocal* c)
{
  int rows = c->p->row_adr[c->k + 1] - c->p->row_adr[c->k];
  c->prepared = true;
  c->symmetric = is_symmetric(rows, c->D, 0.02);
  c->regular = !c->symmetric && rows == 3 && invert(c->D, c->even);
  if (!c->symmetric) return;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) c->even[i * rows + j] = 0.5 * (c->D[i * rows + j] + c->D[j * rows + i]);
  tb_ball_prepare(c->f, c->D, &c->ball);
}

void tb_local_solve(tbLocal* c, const double* u, double* lambda)
{
  int rows = c->p->row_adr[c->k + 1] - c->p->row_adr[c->k];
  const double* D = c->D;
  double q[TB_MAX_ROWS] = {0};
  if (c->is_ball && u[0] >= 0 && is_zero(rows, lambda)) return; // open, and stays so
  if (c->is_ball && !c->prepared) tb_local_prepare_ball(c);
  if (c->is_ball && c->symmetric) {
    // The symmetric part of D is solved for; what is skew acts through u, and is right once λ stands still.
    for (int i = 0; i < rows; i++) {
      q[i] = u[i];
      for (int j = 0; j < rows; j++) q[i] -= c->even[i * rows + j] * lambda[j];
    }
    if (tb_ball_solve(&c->ball, q, u, lambda)) return;
  }
  for (int i = 0; i < rows; i++) q[i] = u[i] - tb_dot_in_order(rows, D + i * rows, lambda);
  if (c->is_ball && c->regular && solve_sticking(c, q, lambda)) return;
  if (c->p->law[c->k] == TB_LAW_BILATERAL) solve_free(rows, D, u, lambda);
  else if (c->f->kind == TB_SET_NONE) solve_rows(c, rows, q, lambda);
  else if (c->f->kind == TB_SET_TENSOR) solve_tensor(c, rows, q, lambda);
  else solve_any_set(c, rows, q, lambda);
}
