// SPDX-License-Identifier: Apache-2.0
#include "solve/round_sweep.h"

#include "base/simd.h"
#include "solve/local_ball_solve.h"

#define WRITTEN_OUT static inline __attribute__((always_inline))

// u = q_k + Σ V_j x_j over the blocks of row k of W. Packed: four lanes at a time, a chain of additions per
// column of the blocks; single numbers of λ are loaded, as the last visit stored them.
WRITTEN_OUT void velocity(const tbRoundSweep* s, int rows, int k, double* u)
{
  const tbDelassus* W = s->W;
  for (int i = 0; i < rows; i++) u[i] = W->q[rows * k + i];
  if (rows == 3 && s->packed) {
    tb4d a = tb4_set1(0), b = tb4_set1(0), c = tb4_set1(0);
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      const double *V = s->packed + 12 * (size_t)e, *x = s->lambda + 3 * (size_t)W->col[e];
      a = tb4_add(a, tb4_mul(tb4_load(V), tb4_set1(x[0])));
      b = tb4_add(b, tb4_mul(tb4_load(V + 4), tb4_set1(x[1])));
      c = tb4_add(c, tb4_mul(tb4_load(V + 8), tb4_set1(x[2])));
    }
    double sum[4];
    tb4_store(sum, tb4_add(tb4_add(a, b), c));
    for (int i = 0; i < 3; i++) u[i] += sum[i];
    return;
  }
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
    const double *V = W->val + (size_t)(rows * rows) * (size_t)e, *x = s->lambda + rows * W->col[e];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) u[i] += V[rows * i + j] * x[j];
  }
}

// The contact by itself, exactly.
WRITTEN_OUT void solve(const tbRoundSweep* s, int rows, int k, const double* u, double* lambda)
{
  tbLocal* c = &s->local[k];
  double q[3];
  if (u[0] >= 0 && lambda[0] == 0) { // open, and stays so
    bool zero = true;
    for (int i = 1; i < rows; i++) zero = zero && lambda[i] == 0;
    if (zero) return;
  }
  if (!c->prepared) tb_local_prepare_ball(c);
  for (int i = 0; i < rows && c->symmetric; i++) {
    q[i] = u[i];
    for (int j = 0; j < rows; j++) q[i] -= c->even[rows * i + j] * lambda[j];
  }
  if (!c->symmetric || !tb_ball_solve_rows(rows - 1, &c->ball, q, u, lambda))
    s->otherwise(s->user, k, u, lambda);
}

// Row by row: the normal impulse, then friction, projected onto its disc. Squares that overflow or underflow
// are left to the general update.
WRITTEN_OUT void move_rows(const tbRoundSweep* s, int rows, int k, const double* u, double* lambda)
{
  const double* D = s->W->diag + (size_t)(rows * rows) * (size_t)k;
  const tbRoundRows* r = &s->row[k];
  double next = lambda[0] - r->normal * u[0], squares = 0, z[3];
  next = next > 0 ? next : 0;
  double change = next - lambda[0], radius = r->mu * next, shrink = 1;
  bool zero = true;
  for (int i = 1; i < rows; i++) {
    z[i] = lambda[i] - r->friction * (u[i] + D[rows * i] * change);
    squares += z[i] * z[i];
    zero = zero && z[i] == 0;
  }
  if (!zero && !(squares > 1e-270 && squares < 1e300)) {
    s->otherwise(s->user, k, u, lambda);
    return;
  }
  if (squares > radius * radius) shrink = radius / sqrt(squares);
  lambda[0] = next;
  for (int i = 1; i < rows; i++) lambda[i] = shrink * z[i];
}

WRITTEN_OUT void sweep(const tbRoundSweep* s, int rows, const int* visit, int begin, int end, int step)
{
  for (int i = begin; i != end; i += step) {
    int k = visit[i];
    double u[3], *lambda = s->lambda + rows * k;
    velocity(s, rows, k, u);
    if (s->local) solve(s, rows, k, u, lambda);
    else move_rows(s, rows, k, u, lambda);
  }
}

void tb_round_sweep(const tbRoundSweep* s, const int* visit, int begin, int end, int step)
{
  if (s->rows == 3) sweep(s, 3, visit, begin, end, step);
  else sweep(s, 2, visit, begin, end, step);
}
