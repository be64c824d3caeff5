// SPDX-License-Identifier: Apache-2.0
#include "math/ldu.h"
#include "base/simd.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

double tb_dot(int n, const double* a, const double* b)
{
  tb4d s = tb4_set1(0), t = tb4_set1(0);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    s = tb4_add(s, tb4_mul(tb4_load(a + i), tb4_load(b + i)));
    t = tb4_add(t, tb4_mul(tb4_load(a + i + 4), tb4_load(b + i + 4)));
  }
  double sum = tb4_sum(tb4_add(s, t));
  for (; i < n; i++) sum += a[i] * b[i];
  return sum;
}

void tb_ldu_layout(tbLdu* f, tbScratch* s, int capacity, bool symmetric)
{
  size_t n = (size_t)capacity;
  f->n = 0;
  f->stride = capacity;
  f->L = TB_SCRATCH(s, double, n* n);
  f->V = symmetric ? f->L : TB_SCRATCH(s, double, n* n);
  f->d = TB_SCRATCH(s, double, n);
  f->l = TB_SCRATCH(s, double, n);
  f->v = TB_SCRATCH(s, double, n);
  f->l_step = TB_SCRATCH(s, double, n);
  f->v_step = TB_SCRATCH(s, double, n);
}

static double* row_at(double* T, const tbLdu* f, int i) { return T + (size_t)i * (size_t)f->stride; }

// x ← T⁻¹ x for the unit lower triangle T.
static void forward(const tbLdu* f, double* T, double* x)
{
  for (int k = 1; k < f->n; k++) x[k] -= tb_dot(k, row_at(T, f, k), x);
}

double tb_ldu_append(tbLdu* f, double* column, double* row, double diagonal, double smallest)
{
  bool symmetric = f->V == f->L;
  int n = f->n;
  forward(f, f->L, column); // D times the new row of V
  if (!symmetric) forward(f, f->V, row);
  const double* other = symmetric ? column : row;
  double pivot = diagonal;
  for (int i = 0; i < n; i++) pivot -= column[i] * other[i] / f->d[i];
  if (!(fabs(pivot) > smallest)) return pivot;
  double *l = row_at(f->L, f, n), *v = row_at(f->V, f, n);
  for (int i = 0; i < n; i++) l[i] = other[i] / f->d[i];
  if (!symmetric)
    for (int i = 0; i < n; i++) v[i] = column[i] / f->d[i];
  f->d[n] = pivot;
  f->n++;
  return pivot;
}

// Takes column k out of the rows below it and moves them up by one; returns what stood there in `out`.
static void close_gap(const tbLdu* f, double* T, int k, double* out)
{
  for (int i = k + 1; i < f->n; i++) {
    double *from = row_at(T, f, i), *to = row_at(T, f, i - 1);
    out[i - 1] = from[k];
    memmove(to, from, (size_t)k * sizeof *to);
    memmove(to + k, from + k + 1, (size_t)(i - k - 1) * sizeof *to);
  }
}

// Row i of T takes its share of the update: passed[j] is what the update was at column j when it came by.
static double update_row(double* row, int k, int i, const double* passed, const double* step, double x)
{
  for (int j = k; j < i; j++) {
    x -= passed[j] * row[j];
    row[j] += step[j] * x;
  }
  return x;
}

void tb_ldu_remove(tbLdu* f, int k)
{
  bool symmetric = f->V == f->L;
  double sigma = f->d[k], *l = f->l, *v = symmetric ? f->l : f->v;
  close_gap(f, f->L, k, f->l);
  if (!symmetric) close_gap(f, f->V, k, f->v);
  f->n--;
  for (int i = k; i < f->n; i++) {
    double old = f->d[i + 1];
    l[i] = update_row(row_at(f->L, f, i), k, i, l, f->l_step, l[i]);
    if (!symmetric) v[i] = update_row(row_at(f->V, f, i), k, i, v, f->v_step, v[i]);
    f->d[i] = old + sigma * l[i] * v[i];
    f->l_step[i] = sigma * v[i] / f->d[i];
    f->v_step[i] = sigma * l[i] / f->d[i];
    sigma *= old / f->d[i];
  }
}

void tb_ldu_solve(const tbLdu* f, double* b)
{
  forward(f, f->L, b);
  for (int i = 0; i < f->n; i++) b[i] /= f->d[i];
  for (int k = f->n - 1; k > 0; k--) tb_dense_subtract(k, b[k], row_at(f->V, f, k), b);
}
