// SPDX-License-Identifier: Apache-2.0
// The exact solution of one contact with Coulomb friction, isotropic or elliptic.
//
// Scaling friction row i by the half axis a_i makes F the unit ball, so one method serves all, in any number
// of friction rows:
//
//   open    q_n ≥ 0:  λ = 0
//   stick   u = 0 with λ = −D⁻¹q inside the cone
//   slip    u_n = 0 and u_F = −α λ_F for some α > 0. Eliminating λ_n leaves
//             (S + αI) λ_F = −c,   S = D_FF − D_Fn D_nF / D_nn,   c = q_F − D_Fn q_n / D_nn,
//           and α is the root of g(α) = ‖λ_F(α)‖ − λ_n(α). For D positive definite g is positive at 0 (else
//           the contact sticks) and negative at infinity, so a bracket always exists: Newton inside it, from
//           the α of the last visit. In the eigenvectors of S, which never change, an evaluation is a few
//           divisions; a singular S shows as a zero that is left out, which picks the impulse of least norm.
//
// Cost      about as much as the velocity of the contact.
// Limits    of an unsymmetric D only the symmetric part is used.
#include "solve/local_ball.h"

#include <float.h>
#include <math.h>

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
void tb_ball_prepare(const tbFrictionSet* f, const double* D, tbBall* s)
{
  int m = s->m = f->dim, rows = m + 1;
  double S[9], coupling[3]; // of the symmetric part of D
  s->nn = D[0];
  s->size = 0;
  for (int i = 0; i < m; i++) {
    s->scale[i] = f->par[f->kind == TB_SET_BALL ? 0 : i];
    coupling[i] = 0.5 * s->scale[i] * (D[(i + 1) * rows] + D[i + 1]);
    s->down[i] = s->nn > 0 ? coupling[i] / s->nn : 0;
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double d = 0.5 * (D[(i + 1) * rows + j + 1] + D[(j + 1) * rows + i + 1]) * s->scale[i] * s->scale[j];
      S[i * m + j] = d - s->down[i] * coupling[j];
      if (i == j) s->size = fmax(s->size, fabs(d));
    }
  diagonalise(m, S, s->V);
  for (int i = 0; i < m; i++) {
    s->sigma[i] = S[i * m + i] > 4e-15 * s->size ? S[i * m + i] : 0;
    s->nF[i] = 0;
    for (int k = 0; k < m; k++) s->nF[i] += s->V[k * m + i] * coupling[k];
  }
}

// c in the eigenvectors of S. Returns ‖c‖.
static inline double turn_sliding(int m, const tbBall* s, const double* q, double* c)
{
  double plain[3], speed = 0, squares = 0;
  for (int i = 0; i < m; i++) {
    double own = s->scale[i] * q[i + 1], pulled = s->down[i] * q[0], sum = fabs(own) + fabs(pulled);
    plain[i] = own - pulled;
    if (sum > speed) speed = sum;
  }
  for (int i = 0; i < m; i++) {
    c[i] = 0;
    for (int k = 0; k < m; k++) c[i] += s->V[k * m + i] * plain[k];
    if (s->sigma[i] == 0 && fabs(c[i]) <= 1e-14 * speed) c[i] = 0;
    squares += c[i] * c[i];
  }
  return sqrt(squares);
}

// g(α) = ‖x‖ − n, with x = −(σ + α)⁻¹ c and n = λ_n. step gets Newton's step to the root of n/‖x‖ − 1, which
// is nearly straight in α (as ‖x‖⁻¹ is, Moré and Sorensen 1983) where g itself is a hyperbola.
static inline double gap(int m, const tbBall* s, const double* c, double qn, double alpha, double* n,
                         double* x, double* step)
{
  double squares = 0, pull = qn, d_squares = 0, d_pull = 0;
  for (int i = 0; i < m; i++) {
    double inverse = c[i] == 0 ? 0 : 1 / (s->sigma[i] + alpha), dx = c[i] * inverse * inverse;
    x[i] = -c[i] * inverse;
    squares += x[i] * x[i], pull += s->nF[i] * x[i];
    d_squares += x[i] * dx, d_pull += s->nF[i] * dx;
  }
  double length = sqrt(squares);
  *n = -pull / s->nn;
  *step = (length - *n) * squares / (d_pull / s->nn * squares + *n * d_squares);
  return length - *n;
}

// Slip: the root of g beyond lo, where g > 0, from the guess alpha.
static inline bool slip(int m, const tbBall* s, const double* c, double qn, double lo, double alpha,
                        double* n, double* x)
{
  double hi = INFINITY, step;
  for (int iteration = 0; iteration < 200; iteration++) {
    double g = gap(m, s, c, qn, alpha, n, x, &step);
    if (fabs(g) <= 4 * DBL_EPSILON * fabs(*n)) return *n > 0;
    if (g > 0) lo = alpha;
    else hi = alpha;
    double next = alpha - step;
    if (!(next > lo && next < hi))
      next = isinf(hi) ? 4 * lo : lo < hi / 64 ? fmax(hi / 16, sqrt(lo) * sqrt(hi)) : lo + 0.5 * (hi - lo);
    if (next == alpha || (hi < INFINITY && !(hi - lo > 2 * DBL_EPSILON * hi))) return *n > 0;
    if (!(next > 0 && next < INFINITY)) return false;
    alpha = next;
  }
  return *n > 0;
}

static inline bool solve(int m, const tbBall* s, const double* q, const double* u, double* lambda)
{
  double c[3] = {0}, x[3], n, step, speck = 0;
  if (q[0] >= 0) { // open
    for (int i = 0; i <= m; i++) lambda[i] = 0;
    return true;
  }
  if (!(s->nn > 0)) return false; // pushed together, and nothing this contact does can part it
  double length = turn_sliding(m, s, q, c);
  // Where S is singular and c is not in its range, rounding is to blame as a rule: a speck of α decides.
  for (int i = 0; i < m; i++)
    if (s->sigma[i] == 0 && c[i] != 0) speck = 1e-13 * s->size;
  if (!(gap(m, s, c, q[0], speck, &n, x, &step) <= 0)) {
    if (!(length > 0)) return false;
    double power = 0;
    for (int i = 1; i <= m; i++) power -= u[i] * lambda[i]; // α λ_n² while it slips
    double guess = lambda[0] > 0 ? power / (lambda[0] * lambda[0]) : 0;
    if (!(guess > speck && guess < INFINITY)) guess = length * s->nn / -q[0];
    if (!(guess > speck)) guess = 2 * speck;
    if (!slip(m, s, c, q[0], speck, guess, &n, x)) return false;
    double norm = 0;
    for (int i = 0; i < m; i++) norm += x[i] * x[i];
    if (!(norm > 0)) return false;
    for (int i = 0; i < m; i++) x[i] *= n / sqrt(norm); // onto the cone to the last bit
  }
  lambda[0] = n;
  for (int i = 0; i < m; i++) {
    double f = 0;
    for (int k = 0; k < m; k++) f += s->V[i * m + k] * x[k];
    lambda[1 + i] = s->scale[i] * f;
  }
  return true;
}

// Two friction rows, as nearly all contacts have, are compiled for themselves.
bool tb_ball_solve(const tbBall* s, const double* q, const double* u, double* lambda)
{
  return s->m == 2 ? solve(2, s, q, u, lambda) : solve(s->m, s, q, u, lambda);
}
