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
//
// With one friction row the contact slips one way or the other, against c, and λ_n follows at once.
//
// Cost      about as much as the velocity of the contact. Sticking takes no division and no root.
// Limits    of an unsymmetric D only the symmetric part is used.
#ifndef TB_SOLVE_LOCAL_BALL_SOLVE_H
#define TB_SOLVE_LOCAL_BALL_SOLVE_H

#include "solve/local_ball.h"

#include <float.h>
#include <math.h>

// |g| as a share of λ_n from which one more step of Newton, which squares it, is enough: at a first visit;
// and at later ones, where neighbours will change more than that
#define TB_BALL_CLOSE       1e-8
#define TB_BALL_CLOSE_AGAIN 1e-2

// c in the eigenvectors of S. Returns ‖c‖².
static inline double tb_ball_turn_sliding(int m, const tbBall* s, const double* q, double* c)
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
  return squares;
}

// n = λ_n and x in the eigenvectors of S, where (σ + α)⁻¹ is `inverse`. Returns ‖x‖².
static inline double tb_ball_impulse(int m, const tbBall* s, const double* c, double qn,
                                     const double* inverse, double* n, double* x)
{
  double squares = 0, pull = qn;
  for (int i = 0; i < m; i++) {
    x[i] = c[i] == 0 ? 0 : -c[i] * inverse[i];
    squares += x[i] * x[i], pull += s->nF[i] * x[i];
  }
  *n = -pull * s->inverse_nn;
  return squares;
}

// g(α) = ‖x‖ − n, with x = −(σ + α)⁻¹ c and n = λ_n. step gets Newton's step to the root of n/‖x‖ − 1, which
// is nearly straight in α (as ‖x‖⁻¹ is, Moré and Sorensen 1983) where g itself is a hyperbola.
static inline double tb_ball_gap(int m, const tbBall* s, const double* c, double qn, double alpha, double* n,
                                 double* x, double* step)
{
  double inverse[3], d_squares = 0, d_pull = 0;
  for (int i = 0; i < m; i++) inverse[i] = 1 / (s->sigma[i] + alpha);
  double squares = tb_ball_impulse(m, s, c, qn, inverse, n, x), length = sqrt(squares);
  for (int i = 0; i < m; i++) {
    double dx = c[i] == 0 ? 0 : -x[i] * inverse[i];
    d_squares += x[i] * dx, d_pull += s->nF[i] * dx;
  }
  *step = (length - *n) * squares / (d_pull * s->inverse_nn * squares + *n * d_squares);
  return length - *n;
}

// Slip: the root of g beyond lo, where g > 0, from the guess alpha.
static inline bool tb_ball_slip(int m, const tbBall* s, const double* c, double qn, double lo, double alpha,
                                double close, double* n, double* x)
{
  double hi = INFINITY, step;
  for (int iteration = 0; iteration < 200; iteration++) {
    double g = tb_ball_gap(m, s, c, qn, alpha, n, x, &step);
    if (fabs(g) <= 4 * DBL_EPSILON * fabs(*n)) return *n > 0;
    if (g > 0) lo = alpha;
    else hi = alpha;
    double next = alpha - step;
    if (fabs(g) <= close * *n && next > lo && next < hi) {
      double inverse[3];
      for (int i = 0; i < m; i++) inverse[i] = 1 / (s->sigma[i] + next);
      (void)tb_ball_impulse(m, s, c, qn, inverse, n, x);
      return *n > 0;
    }
    if (!(next > lo && next < hi))
      next = isinf(hi) ? 4 * lo : lo < hi / 64 ? fmax(hi / 16, sqrt(lo) * sqrt(hi)) : lo + 0.5 * (hi - lo);
    if (next == alpha || (hi < INFINITY && !(hi - lo > 2 * DBL_EPSILON * hi))) return *n > 0;
    if (!(next > 0 && next < INFINITY)) return false;
    alpha = next;
  }
  return *n > 0;
}

// Slip, from where the last impulse says, with λ_n and x on the cone to the last bit.
static inline bool tb_ball_slide(int m, const tbBall* s, const double* c, double length, double qn,
                                 double speck, const double* u, const double* lambda, double* n, double* x)
{
  double power = 0, norm = 0;
  if (!(length > 0)) return false;
  for (int i = 1; i <= m; i++) power -= u[i] * lambda[i]; // α λ_n² while it slips
  double guess = lambda[0] > 0 ? power / (lambda[0] * lambda[0]) : 0;
  bool again = guess > speck && guess < INFINITY;
  if (!again) guess = length * s->nn / -qn;
  if (!(guess > speck)) guess = 2 * speck;
  if (!tb_ball_slip(m, s, c, qn, speck, guess, again ? TB_BALL_CLOSE_AGAIN : TB_BALL_CLOSE, n, x))
    return false;
  for (int i = 0; i < m; i++) norm += x[i] * x[i];
  if (!(norm > 0)) return false;
  double onto = *n / sqrt(norm);
  for (int i = 0; i < m; i++) x[i] *= onto;
  return true;
}

// One friction row: x = ∓λ_n, against c.
static inline bool tb_ball_slide_straight(const tbBall* s, double c, double qn, double* n, double* x)
{
  double way = c > 0 ? -1 : 1, pull = s->nn + way * s->nF[0];
  if (c == 0 || !(pull > 0)) return false;
  *n = -qn / pull;
  *x = way * *n;
  return *n > 0;
}

// See tb_ball_solve. Inline, so that callers who know the number of friction rows get it written out.
static inline bool tb_ball_solve_rows(int m, const tbBall* s, const double* q, const double* u,
                                      double* lambda)
{
  double c[3] = {0}, x[3], n, step, speck = 0;
  if (q[0] >= 0) { // open
    for (int i = 0; i <= m; i++) lambda[i] = 0;
    return true;
  }
  if (!(s->nn > 0)) return false; // pushed together, and nothing this contact does can part it
  double squares = tb_ball_turn_sliding(m, s, q, c);
  // Where S is singular and c is not in its range, rounding is to blame as a rule: a speck of α decides.
  for (int i = 0; i < m; i++)
    if (s->sigma[i] == 0 && c[i] != 0) speck = 1e-13 * s->size;
  bool sticks;
  if (speck > 0) {
    sticks = tb_ball_gap(m, s, c, q[0], speck, &n, x, &step) <= 0;
  } else {
    double friction = tb_ball_impulse(m, s, c, q[0], s->inverse_sigma, &n, x);
    sticks = n >= 0 && friction <= n * n;
  }
  if (!sticks && m == 1 && speck == 0) {
    if (!tb_ball_slide_straight(s, c[0], q[0], &n, x)) return false;
  } else if (!sticks && !tb_ball_slide(m, s, c, sqrt(squares), q[0], speck, u, lambda, &n, x)) return false;
  lambda[0] = n;
  for (int i = 0; i < m; i++) {
    double f = 0;
    for (int k = 0; k < m; k++) f += s->V[i * m + k] * x[k];
    lambda[1 + i] = s->scale[i] * f;
  }
  return true;
}

#endif
