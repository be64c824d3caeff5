// SPDX-License-Identifier: Apache-2.0
// L-BFGS within bounds (Nocedal 1980; bounds by projection, Bertsekas 1982).
//
// Numbers at a bound that the gradient pushes against are held; the two-loop recursion makes a direction for
// the others, whose points are projected onto the bounds. Backtracking by Armijo's rule, with the parabola
// through what is known. Where the direction is none of descent, or the search along it fails, what was
// learned is forgotten and the gradient taken by itself, once.
#include "gradient/objective.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { BACK = 25, MEMORY = 32 };

typedef struct {
  const tbObjective* o;
  const tbMinimize* m;
  int n, kept, pairs; // pairs of the memory; how many it holds
  double *S, *Y;      // (pairs × n) newest first
  double *x, *g, *next, *g_next, *d;
  double loss;
  tbMinimum* result;
} Search;

tbMinimize tb_default_minimize(void)
{
  return (tbMinimize){.iterations = 50, .loss = 1e-10, .change = 1e-9, .memory = 8};
}

static double within(const Search* s, int i, double x)
{
  if (s->m->lower) x = fmax(x, s->m->lower[i]);
  if (s->m->upper) x = fmin(x, s->m->upper[i]);
  return x;
}

// At a bound, with the loss falling beyond it.
static bool is_held(const Search* s, int i)
{
  return (s->m->lower && s->x[i] <= s->m->lower[i] && s->g[i] > 0) ||
         (s->m->upper && s->x[i] >= s->m->upper[i] && s->g[i] < 0);
}

static void direction(Search* s)
{
  double alpha[MEMORY];
  int n = s->n;
  for (int i = 0; i < n; i++) s->d[i] = is_held(s, i) ? 0 : -s->g[i];
  for (int k = 0; k < s->kept; k++) {
    const double *sk = s->S + (size_t)k * n, *yk = s->Y + (size_t)k * n;
    alpha[k] = tb_dot_in_order(n, sk, s->d) / tb_dot_in_order(n, sk, yk);
    for (int i = 0; i < n; i++) s->d[i] -= alpha[k] * yk[i];
  }
  if (s->kept > 0) {
    double scale = tb_dot_in_order(n, s->S, s->Y) / tb_dot_in_order(n, s->Y, s->Y);
    for (int i = 0; i < n; i++) s->d[i] *= scale;
  }
  for (int k = s->kept - 1; k >= 0; k--) {
    const double *sk = s->S + (size_t)k * n, *yk = s->Y + (size_t)k * n;
    double beta = tb_dot_in_order(n, yk, s->d) / tb_dot_in_order(n, sk, yk);
    for (int i = 0; i < n; i++) s->d[i] += (alpha[k] - beta) * sk[i];
  }
  for (int i = 0; i < n; i++)
    if (is_held(s, i)) s->d[i] = 0;
}

// The first step knows no scale: along the gradient to where a loss linear in it would end, which for squared
// distances is twice too far, and no more than the numbers' own size at once.
static double first_length(const Search* s)
{
  double g2 = tb_dot_in_order(s->n, s->g, s->g), size = sqrt(tb_dot_in_order(s->n, s->x, s->x));
  double length = g2 > 0 ? 0.5 * s->loss / g2 : 0, most = fmax(size, 1) / sqrt(g2 > 0 ? g2 : 1);
  return fmin(length, most);
}

// Backtracks from `length` along d; false: nothing was gained.
static tbStatus search(tbContext* ctx, Search* s, double length, bool* found)
{
  *found = false;
  for (int k = 0; k < BACK; k++) {
    double slope = 0, loss;
    for (int i = 0; i < s->n; i++) {
      s->next[i] = within(s, i, s->x[i] + length * s->d[i]);
      slope += s->g[i] * (s->next[i] - s->x[i]);
    }
    if (!(slope < 0)) return TB_OK;
    tbStatus status = tb_objective_loss(ctx, s->o, s->next, &loss);
    s->result->losses++;
    bool outside = status == TB_ERROR_INPUT || status == TB_ERROR_ARGUMENT; // of what the format allows
    if (status != TB_OK && !outside) return status;
    if (!outside && loss <= s->loss + 1e-4 * slope) {
      s->loss = loss;
      *found = true;
      return TB_OK;
    }
    double bend = outside ? 0 : 2 * (loss - s->loss - slope);
    length *= bend > 0 ? fmin(fmax(-slope / bend, 0.1), 0.5) : 0.25;
  }
  return TB_OK;
}

static void learn(Search* s)
{
  int n = s->n;
  size_t row = (size_t)n * sizeof(double);
  if (s->kept == s->pairs) s->kept--;
  memmove(s->S + n, s->S, (size_t)s->kept * row);
  memmove(s->Y + n, s->Y, (size_t)s->kept * row);
  for (int i = 0; i < n; i++) s->S[i] = s->next[i] - s->x[i], s->Y[i] = s->g_next[i] - s->g[i];
  s->kept++;
  double sy = tb_dot_in_order(n, s->S, s->Y);
  if (!(sy > 1e-12 * sqrt(tb_dot_in_order(n, s->S, s->S) *
                          tb_dot_in_order(n, s->Y, s->Y)))) { // it bends the wrong way
    s->kept--;
    memmove(s->S, s->S + n, (size_t)s->kept * row);
    memmove(s->Y, s->Y + n, (size_t)s->kept * row);
  }
}

static bool is_flat(const Search* s)
{
  double most = 0;
  for (int i = 0; i < s->n; i++)
    if (!is_held(s, i)) most = fmax(most, fabs(s->g[i]) * fmax(fabs(s->x[i]), 1));
  return most <= s->m->change * s->loss;
}

static bool watch(const Search* s, int k)
{
  return s->m->watch && s->m->watch(s->m->user, k, s->x, s->loss, s->g);
}

static tbStatus iterate(tbContext* ctx, Search* s)
{
  TB_TRY(tb_objective_loss(ctx, s->o, s->x, &s->loss));
  TB_TRY(tb_objective_gradient(ctx, s->o, s->m->method, s->x, NULL, s->g, NULL));
  s->result->losses++, s->result->gradients++, s->result->first_loss = s->loss;
  bool stop = watch(s, 0);
  for (int k = 1; !stop && k <= s->m->iterations; k++) {
    if (s->loss <= s->m->loss || is_flat(s)) break;
    bool found;
    direction(s);
    TB_TRY(search(ctx, s, s->kept ? 1 : first_length(s), &found));
    if (!found && s->kept) { // what was learned misleads
      s->kept = 0;
      direction(s);
      TB_TRY(search(ctx, s, first_length(s), &found));
    }
    if (!found) break;
    TB_TRY(tb_objective_gradient(ctx, s->o, s->m->method, s->next, NULL, s->g_next, NULL));
    s->result->gradients++, s->result->iterations = k;
    learn(s);
    memcpy(s->x, s->next, (size_t)s->n * sizeof(double));
    memcpy(s->g, s->g_next, (size_t)s->n * sizeof(double));
    stop = watch(s, k);
  }
  s->result->loss = s->loss;
  s->result->converged = s->loss <= s->m->loss || is_flat(s);
  return TB_OK;
}

tbStatus tb_objective_minimize(tbContext* ctx, const tbObjective* o, const tbMinimize* m, double* values,
                               tbMinimum* result)
{
  if (m->memory < 1 || m->memory > MEMORY || m->iterations < 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a search keeps 1 to %d pairs and makes 0 iterations or more",
                   MEMORY);
  size_t n = (size_t)o->size, pairs = (size_t)m->memory;
  for (size_t i = 0; m->lower && m->upper && i < n; i++)
    if (!(m->lower[i] <= m->upper[i]))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the bounds of number %zu are empty: %g to %g", i, m->lower[i],
                     m->upper[i]);
  *result = (tbMinimum){0};
  double* room = TB_NEW(ctx, double, n*(2 * pairs + 5));
  if (!room) return TB_ERROR_MEMORY;
  Search s = {
      .o = o, .m = m, .n = (int)n, .pairs = m->memory, .S = room, .Y = room + n * pairs, .result = result};
  s.x = s.Y + n * pairs, s.g = s.x + n, s.next = s.g + n, s.g_next = s.next + n, s.d = s.g_next + n;
  for (size_t i = 0; i < n; i++) s.x[i] = within(&s, (int)i, values[i]);
  tbStatus status = iterate(ctx, &s);
  if (status == TB_OK) memcpy(values, s.x, n * sizeof(double));
  tb_free(ctx, room);
  return status;
}
