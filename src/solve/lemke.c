// SPDX-License-Identifier: Apache-2.0
// Lemke's method for the linear complementarity problem (Lemke 1965; Cottle, Pang & Stone 1992, §4.4; course
// §3.1.1), on the polyhedral form of contact in lcp.h.
//
//   w = M z + d z₀ + r,   d > 0
//
// z₀ enters and makes w ≥ 0; from there on the complement of whatever left the basis enters it, along a path
// that never returns, until z₀ leaves (solved) or nothing stops the entering variable (a ray). For the
// copositive M of contact problems a ray means that the constraints contradict each other. Where M has no
// such structure a ray says nothing: a path with another covering vector d, or from another complementary
// basis, may end in a solution, so a few are tried.
//
// The dictionary "basic = T · nonbasic" is kept condensed, n × (n + 2), and pivots are exchanges of one row
// with one column. Rows without sign are pivoted in first and never leave. Rows and columns are scaled by
// powers of two. Ties, of which contact problems are full, are broken lexicographically: r is thought of as r
// + (ε, ε², …). Every so often the dictionary is held against u = W λ + q; when rounding has eaten into it,
// it is computed afresh from its basis.
//
// Cost      n² multiplications per pivot, typically one pivot for every two variables; n is contacts times
//           (directions + 2). Memory for n² doubles. A warm start is judged, but does not help.
// Limits    6000 variables. Exponential in the worst case. No curved cones.
#include "solve/lemke.h"

#include "base/random.h"
#include "solve/methods.h"
#include "tribo/math.h"

enum { LARGEST = 6000, PIVOTS_PER_CHECK = 32, SMALL = 200 };

typedef enum { SOLVED, RAY, STOPPED } Ending;

static void layout(tbLemke* s, tbScratch* scratch, const tbDelassus* W, const tbSolveOptions* o)
{
  tb_lcp_layout(&s->lcp, scratch, W, o);
  size_t n = (size_t)s->lcp.n;
  s->n = s->lcp.n;
  s->stride = (s->n + 2 + 7) & ~7;
  s->T = TB_SCRATCH(scratch, double, n*(size_t)s->stride);
  s->basic = TB_SCRATCH(scratch, int, n);
  s->nonbasic = TB_SCRATCH(scratch, int, n + 2);
  s->nonzero = TB_SCRATCH(scratch, int, n + 2);
  s->place = TB_SCRATCH(scratch, int, 2 * n + 1);
  s->tie = TB_SCRATCH(scratch, int, n);
  s->started = TB_SCRATCH(scratch, bool, n);
  s->wanted = TB_SCRATCH(scratch, bool, 2 * n + 1);
  s->entering = TB_SCRATCH(scratch, double, n);
  s->row_scale = TB_SCRATCH(scratch, double, n);
  s->column_scale = TB_SCRATCH(scratch, double, n);
  s->cover = TB_SCRATCH(scratch, double, n);
  s->z = TB_SCRATCH(scratch, double, n);
  s->error = TB_SCRATCH(scratch, double, n);
}

size_t tb_lemke_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  if (tb_lcp_size(W->problem, o) > LARGEST) return TB_SCRATCH_TOO_LARGE;
  tbScratch counting = {0};
  layout(&(tbLemke){0}, &counting, W, o);
  return counting.used;
}

static double value(const tbLemke* s, int variable)
{
  int at = s->place[variable];
  return at >= 0 ? tb_lemke_row(s, at)[0] : 0;
}

static void read_impulse(tbLemke* s)
{
  for (int j = 0; j < s->n; j++) {
    double z = value(s, j) * s->column_scale[j] * s->constant_scale;
    s->z[j] = s->lcp.var[j].free ? z : fmax(z, 0);
  }
  tb_lcp_impulse(&s->lcp, s->z, s->lambda);
}

// The judge divides by the size of λ and u. A z that is large and wrong would look good to it, so it is not
// shown.
static bool is_presentable(const tbLemke* s)
{
  double most = 0;
  for (int j = 0; j < s->n; j++) most = fmax(most, fabs(value(s, j)));
  return most <= 1e3 || (fabs(value(s, 2 * s->n)) <= 1e-6 && s->known_error <= 1e-6);
}

static bool done(tbLemke* s)
{
  if (s->iteration > 0 && is_presentable(s)) read_impulse(s);
  return tb_run_done(s->run, s->iteration++, s->lambda);
}

// error = M z + r − w in the scale of the dictionary, once what z₀ adds is taken out. Returns its largest
// entry beside the terms it is the sum of.
static double find_error(tbLemke* s)
{
  int n = s->n;
  double *z = s->z, *row = s->entering, z0 = value(s, 2 * n), worst = 0;
  for (int j = 0; j < n; j++)
    z[j] = (value(s, j) - (s->started[j] ? s->cover[j] * z0 : 0)) * s->column_scale[j];
  for (int i = 0; i < n; i++) {
    bool covered = !s->started[i] && !s->lcp.var[i].free;
    double w = value(s, n + i) - (covered ? s->cover[i] * z0 : 0);
    double sum = tb_lcp_constant(&s->lcp, i) * s->row_scale[i] / s->constant_scale,
           size = fabs(w) + fabs(sum);
    tb_lcp_matrix_row(&s->lcp, i, row);
    for (int j = 0; j < n; j++) {
      double term = row[j] * s->row_scale[i] * z[j];
      sum += term, size += fabs(term);
    }
    s->error[i] = sum - w;
    worst = fmax(worst, fabs(sum - w) / fmax(size, 1));
  }
  return s->known_error = worst;
}

// The constants answer to r like the dictionary does: by minus its column of w_k, or directly where w_k is
// basic.
static void refine(tbLemke* s)
{
  for (int k = 0; k < s->n; k++)
    if (s->place[s->n + k] >= 0) {
      tb_lemke_row(s, s->place[s->n + k])[0] += s->error[k];
      s->error[k] = 0;
    }
  for (int i = 0; i < s->n; i++) {
    double *row = tb_lemke_row(s, i), sum = 0;
    for (int c = 1; c < s->n + 2; c++) {
      int k = s->nonbasic[c] - s->n;
      if (k >= 0 && k < s->n) sum += row[c] * s->error[k];
    }
    row[0] -= sum;
  }
}

static void check_dictionary(tbLemke* s)
{
  s->since_check = 0;
  if (find_error(s) > s->trusted) {
    tb_lemke_refresh(s);
    s->trusted = fmax(s->trusted, 10 * find_error(s)); // no better is to be had
  }
  refine(s);
}

// How fast row i grows with ε^(k+1) in the constants of the first dictionary,
// per unit of its fall when the entering variable grows.
static double perturbation(const tbLemke* s, int i, int k, int c)
{
  int at = s->place[s->started[k] ? k : s->n + k];
  double slope = at >= 0 ? at == i : -tb_lemke_row(s, i)[~at];
  return slope / -tb_lemke_row(s, i)[c];
}

// Of tied rows, the one whose perturbed ratio is lexicographically least.
static int break_tie(tbLemke* s, int count, int c)
{
  for (int k = 0; k < s->n && count > 1; k++) {
    if (s->lcp.var[k].free) continue;
    double least = INFINITY;
    for (int t = 0; t < count; t++) least = fmin(least, perturbation(s, s->tie[t], k, c));
    double limit = least + 1e-11 * fmax(1, fabs(least));
    int kept = 0;
    for (int t = 0; t < count; t++)
      if (perturbation(s, s->tie[t], k, c) <= limit) s->tie[kept++] = s->tie[t];
    count = kept;
  }
  return s->tie[0];
}

// The row that stops the entering variable first; −1: none does.
static int blocking_row(tbLemke* s, int c)
{
  double column = 0, bound = INFINITY, pivot = 0;
  for (int i = 0; i < s->n; i++)
    if (!tb_lemke_is_free(s, s->basic[i])) column = fmax(column, fabs(tb_lemke_row(s, i)[c]));
  double smallest = 1e-11 * fmax(column, 1e-3);
  for (int i = 0; i < s->n; i++) {
    const double* row = tb_lemke_row(s, i);
    if (row[c] < -smallest && !tb_lemke_is_free(s, s->basic[i]))
      bound = fmin(bound, (fmax(row[0], 0) + s->slack) / -row[c]);
  }
  int count = 0, z0 = s->place[2 * s->n];
  for (int i = 0; i < s->n; i++) {
    const double* row = tb_lemke_row(s, i);
    if (!(row[c] < -smallest) || tb_lemke_is_free(s, s->basic[i]) || fmax(row[0], 0) / -row[c] > bound)
      continue;
    if (i == z0) return i;
    s->tie[count++] = i;
    pivot = fmax(pivot, -row[c]);
  }
  int kept = 0; // what is tied up to rounding is not worth a tiny pivot
  for (int t = 0; t < count; t++)
    if (-tb_lemke_row(s, s->tie[t])[c] >= 1e-6 * pivot) s->tie[kept++] = s->tie[t];
  return kept == 0 ? -1 : break_tie(s, kept, c);
}

static int complement(const tbLemke* s, int variable)
{
  return variable < s->n ? variable + s->n : variable - s->n;
}

static Ending follow(tbLemke* s)
{
  int n = s->n, r = -1;
  double least = 0;
  tb_lemke_start(s);
  for (int i = 0; i < n; i++) {
    if (tb_lemke_is_free(s, s->basic[i])) continue;
    double ratio = tb_lemke_row(s, i)[0] / tb_lemke_row(s, i)[~s->place[2 * n]];
    if (ratio < 0 && ratio <= least) least = ratio, r = i; // of ties the last: lexicographically least
  }
  if (tb_run_stops(s->run)) { // the dictionary may be half done
    tb_run_give_up(s->run);
    return STOPPED;
  }
  if (r < 0) return SOLVED;

  s->since_check = 0;
  for (int entering = 2 * n, pivots = 0; pivots < 50 * n + 100; pivots++) {
    int c = ~s->place[entering], leaving;
    if (pivots > 0 && (r = blocking_row(s, c)) < 0) return RAY;
    leaving = s->basic[r];
    tb_lemke_exchange(s, r, c);
    if (leaving == 2 * n) return SOLVED;
    if (done(s)) return STOPPED;
    if (++s->since_check == PIVOTS_PER_CHECK) check_dictionary(s);
    entering = complement(s, leaving);
  }
  return RAY; // rounding led it round in circles
}

void tb_lemke(tbRun* run, double* lambda)
{
  tbLemke s = {.run = run, .lambda = lambda, .trusted = 1e-9};
  layout(&s, &run->scratch, run->W, run->o);
  if (done(&s)) return;
  tb_lcp_build(&s.lcp, run->o);
  tb_lemke_equilibrate(&s);
  uint64_t random = run->o->seed;
  int attempts = s.n <= SMALL ? 8 : 2;
  for (int attempt = 0; attempt < attempts; attempt++) {
    for (int i = 0; i < s.n; i++)
      s.cover[i] = attempt == 0 ? 1 : tb_exp(tb_random_uniform(&random, -3.5, 3.5));
    s.slack = attempt % 2 ? 1e-13 : 1e-15;
    tb_lemke_choose_start(&s, &random, attempt < 2 ? 0 : 0.5);
    Ending ending = follow(&s);
    if (ending == STOPPED) return;
    for (int pass = 0; pass < (ending == SOLVED ? 2 : 1); pass++) { // as it stands, then afresh
      if (pass > 0) tb_lemke_refresh(&s);
      for (int again = 0; again < 3 && !tb_run_stops(run); again++) find_error(&s), refine(&s);
      tb_run_judge_next(run);
      if (done(&s)) return;
    }
  }
  tb_run_give_up(run);
}
