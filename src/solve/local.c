// The exact contact solver of blocked Gauss–Seidel.
//
// Ball and ellipsoid (Coulomb, elliptic, Contensou). Scaling friction row i by the half axis a_i makes F the
// unit ball, so one method serves them all, in any number of friction rows:
//
//   open    q_n ≥ 0:  λ = 0
//   stick   u = 0 with λ = −D⁻¹q inside the cone
//   slip    u_n = 0 and u_F = −α λ_F for some α > 0. Eliminating λ_n leaves
//             (S + αI) λ_F = −c,   S = D_FF − D_Fn D_nF / D_nn,   c = q_F − D_Fn q_n / D_nn,
//           and α is the root of g(α) = ‖λ_F(α)‖ − λ_n(α). For D positive definite g is positive at 0 (else
//           the contact sticks) and negative at infinity, so a bracket always exists: Newton inside it. In
//           the eigenvectors of S an evaluation costs a few divisions, and a singular S shows as a zero that
//           is left out, which picks the impulse of least norm.
//
// Other sets: semismooth Newton on the natural map of the cone; where it is lost, a bracket on λ_n with
// friction following. An unsymmetric D starts Newton from the solution for its symmetric part.
#include "solve/local.h"

#include <float.h>
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

static double dot(int n, const double* a, const double* b)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void velocity(int n, const double* D, const double* q, const double* lambda, double* u)
{
  for (int i = 0; i < n; i++) u[i] = q[i] + dot(n, D + i * n, lambda);
}

// ---- ball in scaled coordinates ----

// The contact with λ_n eliminated and S diagonal: λ_F = V x, x_i = −c_i / (σ_i + α).
typedef struct {
  int m;                 // friction rows, at most 3
  double sigma[3], V[9]; // S = V diag(σ) Vᵀ; vectors in columns
  double c[3], nF[3];    // Vᵀc, VᵀD_Fn
  double nn, qn, size;   // D_nn, q_n, largest diagonal of D_FF
} Schur;

// Eigenvectors of the symmetric S by Jacobi rotations; S ends up diagonal. One rotation is exact for m = 2.
static void diagonalise(int m, double* S, double* V)
{
  for (int i = 0; i < m * m; i++) V[i] = i % (m + 1) == 0;
  for (int sweep = 0; sweep < (m == 3 ? 8 : 1); sweep++)
    for (int p = 0; p < m; p++)
      for (int q = p + 1; q < m; q++) {
        double off = S[p * m + q];
        if (off == 0) continue;
        double theta = (S[q * m + q] - S[p * m + p]) / (2 * off);
        double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
               s = t * c;
        S[p * m + p] -= t * off;
        S[q * m + q] += t * off;
        S[p * m + q] = S[q * m + p] = 0;
        for (int k = 0; k < m; k++) {
          double vp = V[k * m + p], vq = V[k * m + q];
          V[k * m + p] = c * vp - s * vq, V[k * m + q] = s * vp + c * vq;
          if (k == p || k == q) continue;
          double sp = S[k * m + p], sq = S[k * m + q];
          S[k * m + p] = S[p * m + k] = c * sp - s * sq;
          S[k * m + q] = S[q * m + k] = s * sp + c * sq;
        }
      }
}

// What elimination leaves by cancellation alone is set to zero: the rank of S is then a fact, not noise.
static void eliminate_normal(int rows, const double* D, const double* q, Schur* s)
{
  int m = s->m = rows - 1;
  double S[9], c[3], size = 0, speed = 0;
  s->nn = D[0], s->qn = q[0];
  for (int i = 0; i < m; i++) {
    double down = D[(i + 1) * rows] / s->nn;
    for (int j = 0; j < m; j++) {
      double across = D[(j + 1) * rows] / s->nn; // symmetric part of D
      S[i * m + j] = 0.5 * (D[(i + 1) * rows + j + 1] + D[(j + 1) * rows + i + 1]) -
                     0.5 * (down * D[j + 1] + across * D[i + 1]);
    }
    c[i] = q[i + 1] - down * q[0];
    size = fmax(size, fabs(D[(i + 1) * rows + i + 1]));
    speed = fmax(speed, fabs(q[i + 1]) + fabs(down * q[0]));
  }
  s->size = size;
  diagonalise(m, S, s->V);
  for (int i = 0; i < m; i++) {
    s->sigma[i] = S[i * m + i] > 4e-15 * size ? S[i * m + i] : 0;
    s->c[i] = s->nF[i] = 0;
    for (int k = 0; k < m; k++) s->c[i] += s->V[k * m + i] * c[k], s->nF[i] += s->V[k * m + i] * D[k + 1];
    if (s->sigma[i] == 0 && fabs(s->c[i]) <= 1e-14 * speed) s->c[i] = 0;
  }
}

// g(α) = ‖x‖ − λ_n with x and λ_n into lambda; slope (may be null) gets g′(α).
static double ball_gap(const Schur* s, double alpha, double* lambda, double* slope)
{
  double squares = 0, pull = s->qn, d_squares = 0, d_pull = 0;
  for (int i = 0; i < s->m; i++) {
    double x = s->c[i] == 0 ? 0 : -s->c[i] / (s->sigma[i] + alpha),
           dx = x == 0 ? 0 : -x / (s->sigma[i] + alpha);
    lambda[1 + i] = x;
    squares += x * x, pull += s->nF[i] * x;
    d_squares += x * dx, d_pull += s->nF[i] * dx;
  }
  double length = sqrt(squares);
  lambda[0] = -pull / s->nn;
  if (slope) *slope = (length > 0 ? d_squares / length : 0) + d_pull / s->nn;
  return length - lambda[0];
}

// Slip: the root of g between lo (g > 0) and hi (g < 0), by Newton inside a shrinking bracket.
static void slip_root(const Schur* s, double lo, double hi, double* lambda)
{
  double alpha = hi;
  for (int iteration = 0; iteration < 100; iteration++) {
    double slope = -1, g = ball_gap(s, alpha, lambda, &slope);
    if (fabs(g) <= 2 * DBL_EPSILON * fabs(lambda[0])) return;
    if (g > 0)
      lo = alpha;
    else
      hi = alpha;
    double next = alpha - g / slope;
    if (!(next > lo && next < hi))
      next = lo == 0 ? hi / 16 : lo < 0.1 * hi ? sqrt(lo * hi) : lo + 0.5 * (hi - lo);
    if (next == alpha || !(hi - lo > 2 * DBL_EPSILON * hi)) return;
    alpha = next;
  }
}

// The contact with F the unit ball: D and q scaled already. False when no consistent state was found.
static bool solve_ball(int rows, const double* D, const double* q, double* lambda)
{
  if (q[0] >= 0) { // open
    memset(lambda, 0, (size_t)rows * sizeof *lambda);
    return true;
  }
  if (!(D[0] > 0)) return false; // pushed together, and nothing this contact does can part it
  Schur s;
  double x[TB_MAX_ROWS], hi = 0;
  eliminate_normal(rows, D, q, &s);
  // Where S is singular and c is not in its range, rounding is to blame as a rule: a speck of α decides.
  double speck = 0;
  for (int i = 0; i < s.m; i++) {
    if (s.sigma[i] == 0 && s.c[i] != 0) speck = 1e-13 * s.size;
    hi += s.c[i] * s.c[i];
  }
  bool sticks = ball_gap(&s, speck, x, NULL) <= 0;
  if (!sticks) {
    hi = sqrt(hi) * s.nn / -s.qn; // ‖c‖ over the impulse of a contact without friction
    if (!(hi > 0)) return false;
    for (int widening = 0; ball_gap(&s, hi, x, NULL) >= 0; widening++, hi *= 4)
      if (widening == 500 || isinf(hi)) return false;
    slip_root(&s, speck, hi, x);
    double length = sqrt(dot(s.m, x + 1, x + 1));
    if (!(length > 0) || !(x[0] > 0)) return false;
    for (int i = 1; i < rows; i++) x[i] *= x[0] / length; // onto the cone to the last bit
  }
  lambda[0] = x[0];
  for (int i = 0; i < s.m; i++) lambda[1 + i] = dot(s.m, s.V + i * s.m, x + 1);
  return true;
}

static bool is_symmetric(int rows, const double* D)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < i; j++)
      if (fabs(D[i * rows + j] - D[j * rows + i]) > 1e-14 * (fabs(D[i * rows + i]) + fabs(D[j * rows + j])))
        return false;
  return true;
}

// ---- the natural map of any set ----

typedef struct {
  const tbLocal* c;
  int rows;
  double rho; // 1 / ‖D‖
} Map;

// G = λ − P_K(λ − ρ û), and its derivative if wanted. Returns ‖G‖².
static double natural_map(const Map* m, const double* lambda, double* G, double* dG)
{
  const tbFriction* f = m->c->f;
  const double* D = m->c->D;
  int n = m->rows;
  double u[TB_MAX_ROWS], against[TB_MAX_ROWS] = {0}, far[TB_MAX_ROWS], z[TB_MAX_ROWS], x[TB_MAX_ROWS],
      P[TB_MAX_ROWS * TB_MAX_ROWS];
  velocity(n, D, m->c->q, lambda, u);
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
  return dot(n, G, G);
}

static bool is_solved(const Map* m, double merit, const double* lambda)
{
  const double* q = m->c->q;
  return merit <= 4e-30 * (dot(m->rows, lambda, lambda) + m->rho * m->rho * dot(m->rows, q, q));
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
  const double *D = m->c->D, *q = m->c->q;
  double z[TB_MAX_ROWS], y[TB_MAX_ROWS], last[TB_MAX_ROWS], theta = 1;
  tb_friction_closest(m->c->f, s, f, y);
  memcpy(f, y, (size_t)(n - 1) * sizeof *f);
  for (int iteration = 0; iteration < 400; iteration++) {
    memcpy(last, f, (size_t)(n - 1) * sizeof *f);
    for (int i = 1; i < n; i++)
      z[i - 1] = y[i - 1] - m->rho * (q[i] + D[i * n] * s + dot(n - 1, D + i * n + 1, y));
    tb_friction_closest(m->c->f, s, z, f);
    double next = 0.5 + sqrt(0.25 + theta * theta), along = 0, change = 0;
    for (int i = 0; i < n - 1; i++)
      along += (y[i] - f[i]) * (f[i] - last[i]), change = fmax(change, fabs(f[i] - last[i]));
    if (along > 0) theta = next = 1; // momentum points uphill: start over
    for (int i = 0; i < n - 1; i++) y[i] = f[i] + (theta - 1) / next * (f[i] - last[i]);
    theta = next;
    if (change <= 1e-14 * s) break;
  }
  return D[0] * s + dot(n - 1, D + 1, f) + q[0];
}

// When Newton is lost: u_n as a function of λ_n alone, friction following, changes sign where the contact is
// solved. A bracket around it brings Newton close enough.
static void solve_by_bracket(const Map* m, double* lambda)
{
  const double *D = m->c->D, *q = m->c->q;
  memset(lambda, 0, (size_t)m->rows * sizeof *lambda);
  if (q[0] >= 0 || !(D[0] > 0)) return;
  double lo = 0, hi = -q[0] / D[0];
  for (int i = 0; i < 60 && normal_velocity(m, hi, lambda + 1) < 0; i++) lo = hi, hi *= 2;
  for (int i = 0; i < 40; i++) {
    double mid = lo + 0.5 * (hi - lo);
    if (normal_velocity(m, mid, lambda + 1) < 0)
      lo = mid;
    else
      hi = mid;
  }
  lambda[0] = hi;
  normal_velocity(m, hi, lambda + 1);
}

static void solve_any_set(const tbLocal* c, int rows, double* lambda)
{
  double size = 0, first[TB_MAX_ROWS], G[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < rows; j++) sum += fabs(c->D[i * rows + j]);
    size = fmax(size, sum);
  }
  if (!(size > 0)) return;
  Map m = {c, rows, 1 / size};
  if (newton(&m, lambda) || c->f->associated) return;
  memcpy(first, lambda, (size_t)rows * sizeof *first);
  solve_by_bracket(&m, lambda);
  newton(&m, lambda);
  if (natural_map(&m, first, G, NULL) < natural_map(&m, lambda, G, NULL))
    memcpy(lambda, first, (size_t)rows * sizeof *first);
}

// ---- laws without friction ----

// Free rows: u = 0. Moved from where λ is, so that a singular block keeps what it cannot determine.
static void solve_free(int rows, const double* D, const double* q, double* lambda)
{
  double A[TB_MAX_ROWS * TB_MAX_ROWS], u[TB_MAX_ROWS], d[TB_MAX_ROWS];
  memcpy(A, D, (size_t)(rows * rows) * sizeof *A);
  velocity(rows, D, q, lambda, u);
  for (int i = 0; i < rows; i++) u[i] = -u[i];
  eliminate(rows, A, u, d);
  for (int i = 0; i < rows; i++) lambda[i] += d[i];
}

// Bounded rows: projected Gauss–Seidel on at most six rows, until it stands still. One row is exact at once.
static void solve_rows(const tbLocal* c, int rows, double* lambda)
{
  double u[TB_MAX_ROWS], z[TB_MAX_ROWS], next[TB_MAX_ROWS];
  for (int sweep = 0; sweep < 200; sweep++) {
    double change = 0, size = 0;
    for (int i = 0; i < rows; i++) {
      double d = c->D[i * rows + i];
      velocity(rows, c->D, c->q, lambda, u);
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

void tb_local_solve(const tbLocal* c, double* lambda)
{
  const tbFriction* f = c->f;
  int rows = c->p->row_adr[c->k + 1] - c->p->row_adr[c->k];
  if (c->p->law[c->k] == TB_LAW_FREE) {
    solve_free(rows, c->D, c->q, lambda);
    return;
  }
  if (f->kind == TB_SET_NONE) {
    solve_rows(c, rows, lambda);
    return;
  }
  if ((f->kind == TB_SET_BALL || f->kind == TB_SET_ELLIPSOID) && !f->associated) {
    double scale[TB_MAX_ROWS] = {1}, D[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, q[TB_MAX_ROWS] = {0}, x[TB_MAX_ROWS];
    for (int i = 1; i < rows; i++) scale[i] = f->par[f->kind == TB_SET_BALL ? 0 : i - 1];
    for (int i = 0; i < rows; i++) {
      q[i] = scale[i] * c->q[i];
      for (int j = 0; j < rows; j++) D[i * rows + j] = scale[i] * c->D[i * rows + j] * scale[j];
    }
    if (solve_ball(rows, D, q, x)) {
      for (int i = 0; i < rows; i++) lambda[i] = scale[i] * x[i];
      if (is_symmetric(rows, D)) return;
    }
  }
  solve_any_set(c, rows, lambda);
}
