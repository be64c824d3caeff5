// SPDX-License-Identifier: Apache-2.0
#include "solve/local_ball_solve.h"

// Eigenvectors of the symmetric S by Jacobi rotations; S ends up diagonal. One rotation is exact for m = 2.
static inline void diagonalise(int m, double* S, double* V)
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
static inline void prepare(int m, const tbFrictionSet* f, const double* D, tbBall* s)
{
  int rows = m + 1;
  double S[9], coupling[3]; // of the symmetric part of D
  s->m = m;
  s->nn = D[0];
  s->inverse_nn = s->nn > 0 ? 1 / s->nn : 0;
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
      if (i == j && fabs(d) > s->size) s->size = fabs(d);
    }
  diagonalise(m, S, s->V);
  for (int i = 0; i < m; i++) {
    s->sigma[i] = S[i * m + i] > 4e-15 * s->size ? S[i * m + i] : 0;
    s->inverse_sigma[i] = s->sigma[i] > 0 ? 1 / s->sigma[i] : 0;
    s->nF[i] = 0;
    for (int k = 0; k < m; k++) s->nF[i] += s->V[k * m + i] * coupling[k];
  }
}

// Two friction rows, as nearly all contacts have, and one are compiled for themselves.
void tb_ball_prepare(const tbFrictionSet* f, const double* D, tbBall* s)
{
  if (f->dim == 2) prepare(2, f, D, s);
  else if (f->dim == 1) prepare(1, f, D, s);
  else prepare(f->dim, f, D, s);
}

bool tb_ball_solve(const tbBall* s, const double* q, const double* u, double* lambda)
{
  if (s->m == 2) return tb_ball_solve_rows(2, s, q, u, lambda);
  return s->m == 1 ? tb_ball_solve_rows(1, s, q, u, lambda) : tb_ball_solve_rows(s->m, s, q, u, lambda);
}
