// SPDX-License-Identifier: Apache-2.0
#include "solve/anderson.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

void tb_anderson_layout(tbAnderson* a, tbScratch* scratch, int n, int memory)
{
  size_t size = (size_t)n;
  a->n = n;
  a->memory = memory;
  a->dx = TB_SCRATCH(scratch, double, size*(size_t)memory);
  a->df = TB_SCRATCH(scratch, double, size*(size_t)memory);
  a->last_x = TB_SCRATCH(scratch, double, size);
  a->last_f = TB_SCRATCH(scratch, double, size);
}

void tb_anderson_reset(tbAnderson* a)
{
  a->count = a->next = a->plain = 0;
  a->mixed = a->started = false;
  a->best = INFINITY;
}

static double dot(const tbAnderson* a, const double* x, const double* y)
{
  double sum = 0;
  if (a->weight)
    for (int i = 0; i < a->n; i++) sum += a->weight[i] * x[i] * y[i];
  else
    for (int i = 0; i < a->n; i++) sum += x[i] * y[i];
  return sum;
}

static void remember(tbAnderson* a, const double* x, const double* f)
{
  int at = a->next, m = a->memory;
  double *dx = a->dx + (size_t)at * (size_t)a->n, *df = a->df + (size_t)at * (size_t)a->n;
  for (int i = 0; i < a->n; i++) {
    df[i] = f[i] - a->last_f[i];
    dx[i] = x[i] - a->last_x[i] + df[i];
  }
  a->next = (at + 1) % m;
  if (a->count < m) a->count++;
  for (int j = 0; j < a->count; j++)
    a->gram[at * m + j] = a->gram[j * m + at] = dot(a, df, a->df + (size_t)j * (size_t)a->n);
}

// x += f − Σ γ_j dx_j with γ the least-squares fit of f by the df_j, regularised a little.
static void mix(const tbAnderson* a, double* x, const double* f)
{
  int m = a->count;
  double A[TB_ANDERSON_MAX * TB_ANDERSON_MAX], gamma[TB_ANDERSON_MAX], trace = 0;
  for (int i = 0; i < m; i++) trace += a->gram[i * a->memory + i];
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) A[i * m + j] = a->gram[i * a->memory + j] + (i == j ? 1e-10 * trace : 0);
    gamma[i] = dot(a, a->df + (size_t)i * (size_t)a->n, f);
  }
  for (int i = 0; i < a->n; i++) x[i] += f[i];
  if (!(trace > 0) || tb_dense_cholesky(m, A, m) < m) return;
  tb_dense_cholesky_solve(m, A, m, gamma);
  for (int j = 0; j < m; j++) tb_dense_subtract(a->n, gamma[j], a->dx + (size_t)j * (size_t)a->n, x);
}

bool tb_anderson_step(tbAnderson* a, double* x, const double* f)
{
  double size = sqrt(dot(a, f, f));
  if (a->mixed && !(size <= a->best)) {
    for (int i = 0; i < a->n; i++) x[i] = a->last_x[i] + a->last_f[i];
    a->mixed = false;
    a->plain = a->memory - 1;
    return false;
  }
  a->best = fmin(a->best, size);
  if (a->started) remember(a, x, f);
  memcpy(a->last_x, x, (size_t)a->n * sizeof *x);
  memcpy(a->last_f, f, (size_t)a->n * sizeof *f);
  a->started = true;
  a->mixed = a->plain == 0 && a->count > 0;
  if (a->plain > 0) a->plain--;
  if (a->mixed) mix(a, x, f);
  else
    for (int i = 0; i < a->n; i++) x[i] += f[i];
  return true;
}
