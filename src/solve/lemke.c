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
#include "base/random.h"
#include "base/threads.h"
#include "math/dense.h"
#include "solve/lcp.h"
#include "solve/methods.h"
#include "tribo/math.h"

#include <string.h>

enum { LARGEST = 6000, ROWS_PER_PIECE = 64, PIVOTS_PER_CHECK = 32, SMALL = 200 };

typedef enum { SOLVED, RAY, STOPPED } Ending;

typedef struct {
  tbRun* run;
  tbLcp lcp;
  int n, stride;
  double* T;     // (n × stride); column 0 is the constant
  int* basic;    // variable of a row (n): z_j is j, w_j is n + j, z₀ is 2n
  int* nonbasic; // variable of a column (n + 2)
  int* nonzero;  // columns of the pivot row that are not 0 (n + 2)
  int nonzeros;
  int* place;       // of a variable (2n + 1): its row, or ~column
  bool* started;    // pairs whose z was basic when z₀ was introduced (n)
  bool* wanted;     // variables of the basis to change to (2n + 1)
  double* entering; // column copied for a pivot (n)
  double *row_scale, *column_scale, *cover, *z, *error; // (n)
  int* tie;                                             // rows (n)
  double constant_scale;
  double trusted;     // error of the dictionary that is put up with
  double known_error; // of the dictionary, when it was last looked at
  double slack;       // how far below 0 a basic variable may fall: ties up to rounding
  double* lambda;
  int iteration, since_check;
} Lemke;

static double* row_of(const Lemke* s, int i) { return s->T + (size_t)i * (size_t)s->stride; }
static bool is_free(const Lemke* s, int variable)
{
  return variable < 2 * s->n && s->lcp.var[variable % s->n].free;
}

static void layout(Lemke* s, tbScratch* scratch, const tbDelassus* W, const tbSolveOptions* o)
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
  layout(&(Lemke){0}, &counting, W, o);
  return counting.used;
}

// ---- the dictionary ----

static double power_of_two(double x) // near x; 1 where x has no size
{
  int e = 0;
  if (!(x > 0) || !isfinite(x)) return 1;
  double m = frexp(x, &e);
  return ldexp(1, m < 0.70710678118654752440 ? e - 1 : e);
}

// Scales such that the largest entry of every row and column of M is near 1 (Ruiz 2001).
static void equilibrate(Lemke* s)
{
  for (int i = 0; i < s->n; i++) s->row_scale[i] = s->column_scale[i] = 1;
  for (int pass = 0; pass < 4; pass++) {
    double* largest = s->z; // of the columns
    memset(largest, 0, (size_t)s->n * sizeof *largest);
    for (int i = 0; i < s->n; i++) {
      double *row = row_of(s, i) + 1, most = 0;
      if (pass == 0) tb_lcp_matrix_row(&s->lcp, i, row);
      for (int j = 0; j < s->n; j++) {
        double size = fabs(row[j]) * s->row_scale[i] * s->column_scale[j];
        most = fmax(most, size);
        largest[j] = fmax(largest[j], size);
      }
      s->entering[i] = most;
    }
    for (int i = 0; i < s->n; i++) {
      s->row_scale[i] /= power_of_two(sqrt(s->entering[i]));
      s->column_scale[i] /= power_of_two(sqrt(largest[i]));
    }
  }
  double most = 0;
  for (int i = 0; i < s->n; i++) most = fmax(most, fabs(tb_lcp_constant(&s->lcp, i) * s->row_scale[i]));
  s->constant_scale = power_of_two(most);
}

// basic: every w; nonbasic: every z and z₀.
static void begin(Lemke* s)
{
  int n = s->n;
  for (int i = 0; i < n; i++) {
    double* row = row_of(s, i);
    tb_lcp_matrix_row(&s->lcp, i, row + 1);
    for (int j = 0; j < n; j++) row[1 + j] *= s->row_scale[i] * s->column_scale[j];
    row[0] = tb_lcp_constant(&s->lcp, i) * s->row_scale[i] / s->constant_scale;
    row[n + 1] = 0;
    s->basic[i] = n + i, s->place[n + i] = i;
    s->nonbasic[1 + i] = i, s->place[i] = ~(1 + i);
  }
  s->nonbasic[n + 1] = 2 * n, s->place[2 * n] = ~(n + 1);
}

typedef struct {
  Lemke* s;
  int row;
} Pivot;

static void eliminate(void* user, int begin, int end, int piece)
{
  const Lemke* s = ((const Pivot*)user)->s;
  int r = ((const Pivot*)user)->row, columns = s->n + 2;
  const double* source = row_of(s, r);
  (void)piece;
  for (int i = begin; i < end; i++) {
    double *row = row_of(s, i), factor = s->entering[i];
    if (i == r || factor == 0) continue;
    if (4 * s->nonzeros > columns) tb_dense_subtract(columns, -factor, source, row);
    else // contacts that are far apart have not met yet
      for (int k = 0; k < s->nonzeros; k++) row[s->nonzero[k]] += factor * source[s->nonzero[k]];
  }
}

// Row r leaves the basis, column c enters: x_r = p y_c + … is solved for y_c and put into the other rows.
static void exchange(Lemke* s, int r, int c)
{
  double *row = row_of(s, r), p = row[c];
  for (int i = 0; i < s->n; i++) {
    double* entry = row_of(s, i) + c;
    s->entering[i] = *entry;
    *entry = 0;
  }
  for (int j = 0; j < s->n + 2; j++) row[j] = -row[j] / p;
  row[c] = 1 / p;
  s->nonzeros = 0;
  for (int j = 0; j < s->n + 2; j++)
    if (row[j] != 0) s->nonzero[s->nonzeros++] = j;
  tb_parallel_for(s->run->threads, s->n, ROWS_PER_PIECE, eliminate, &(Pivot){s, r});
  int leaves = s->basic[r], enters = s->nonbasic[c];
  s->basic[r] = enters, s->place[enters] = r;
  s->nonbasic[c] = leaves, s->place[leaves] = ~c;
}

// Rows without sign: u = 0 leaves, λ enters, largest pivot first. What has no pivot is redundant; its λ stays
// 0.
static void settle_free_rows(Lemke* s)
{
  double first = 0;
  for (;;) {
    double best = 0;
    int r = -1, c = -1;
    for (int i = 0; i < s->n; i++) {
      if (!is_free(s, s->basic[i]) || s->basic[i] < s->n) continue;
      for (int j = 1; j < s->n + 2; j++)
        if (s->nonbasic[j] < s->n && is_free(s, s->nonbasic[j]) && fabs(row_of(s, i)[j]) > best)
          best = fabs(row_of(s, i)[j]), r = i, c = j;
    }
    if (first == 0) first = best;
    if (!(best > 1e-11 * first) || tb_run_stops(s->run)) break;
    exchange(s, r, c);
  }
}

// Changes to the basis of the wanted variables: each enters for one that is not wanted, largest pivot of its
// column first.
static void change_basis(Lemke* s)
{
  for (int v = 0; v <= 2 * s->n && !tb_run_stops(s->run); v++) {
    if (!s->wanted[v] || is_free(s, v) || s->place[v] >= 0) continue;
    int c = ~s->place[v], r = -1;
    double best = 0;
    for (int i = 0; i < s->n; i++) {
      double size = fabs(row_of(s, i)[c]);
      if (!s->wanted[s->basic[i]] && !is_free(s, s->basic[i]) && size > best) best = size, r = i;
    }
    if (r >= 0) exchange(s, r, c);
  }
}

// z₀ is introduced with coefficient d in the dictionary as it stands.
static void introduce_cover(Lemke* s)
{
  int c = ~s->place[2 * s->n];
  for (int i = 0; i < s->n; i++) row_of(s, i)[c] = is_free(s, s->basic[i]) ? 0 : s->cover[s->basic[i] % s->n];
}

// A complementary basis to start from: pairs that fall to the lot change places, alone or two by two.
static void choose_start(Lemke* s, uint64_t* random, double share)
{
  int n = s->n;
  memset(s->started, 0, (size_t)n * sizeof *s->started);
  if (share == 0) return;
  begin(s);
  for (int i = 0; i < n; i++) {
    if (s->lcp.var[i].free || s->started[i] || tb_random_uniform(random, 0, 1) > share) continue;
    const double* row = row_of(s, i);
    double best = fabs(row[1 + i]);
    int mate = i;
    for (int j = i + 1; j < n; j++) {
      double both = fmin(fabs(row[1 + j]), fabs(row_of(s, j)[1 + i]));
      if (!s->lcp.var[j].free && !s->started[j] && both > best) best = both, mate = j;
    }
    if (best > 0) s->started[i] = s->started[mate] = true;
  }
}

static void start(Lemke* s)
{
  int n = s->n;
  begin(s);
  settle_free_rows(s);
  for (int i = 0; i < n; i++) s->wanted[i] = s->started[i], s->wanted[n + i] = !s->started[i];
  s->wanted[2 * n] = false;
  change_basis(s);
  for (int i = 0; i < n; i++) s->started[i] = !s->lcp.var[i].free && s->place[i] >= 0;
  introduce_cover(s);
}

// The same basis, computed from M again.
static void refresh(Lemke* s)
{
  for (int i = 0; i < s->n; i++) s->tie[i] = s->basic[i];
  start(s);
  memset(s->wanted, 0, (size_t)(2 * s->n + 1) * sizeof *s->wanted);
  for (int i = 0; i < s->n; i++) s->wanted[s->tie[i]] = true;
  change_basis(s);
}

// ---- the path ----

static double value(const Lemke* s, int variable)
{
  int at = s->place[variable];
  return at >= 0 ? row_of(s, at)[0] : 0;
}

static void read_impulse(Lemke* s)
{
  for (int j = 0; j < s->n; j++) {
    double z = value(s, j) * s->column_scale[j] * s->constant_scale;
    s->z[j] = s->lcp.var[j].free ? z : fmax(z, 0);
  }
  tb_lcp_impulse(&s->lcp, s->z, s->lambda);
}

// The judge divides by the size of λ and u. A z that is large and wrong would look good to it, so it is not
// shown.
static bool is_presentable(const Lemke* s)
{
  double most = 0;
  for (int j = 0; j < s->n; j++) most = fmax(most, fabs(value(s, j)));
  return most <= 1e3 || (fabs(value(s, 2 * s->n)) <= 1e-6 && s->known_error <= 1e-6);
}

static bool done(Lemke* s)
{
  if (s->iteration > 0 && is_presentable(s)) read_impulse(s);
  return tb_run_done(s->run, s->iteration++, s->lambda);
}

// error = M z + r − w in the scale of the dictionary, once what z₀ adds is taken out. Returns its largest
// entry beside the terms it is the sum of.
static double find_error(Lemke* s)
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
static void refine(Lemke* s)
{
  for (int k = 0; k < s->n; k++)
    if (s->place[s->n + k] >= 0) {
      row_of(s, s->place[s->n + k])[0] += s->error[k];
      s->error[k] = 0;
    }
  for (int i = 0; i < s->n; i++) {
    double *row = row_of(s, i), sum = 0;
    for (int c = 1; c < s->n + 2; c++) {
      int k = s->nonbasic[c] - s->n;
      if (k >= 0 && k < s->n) sum += row[c] * s->error[k];
    }
    row[0] -= sum;
  }
}

static void check_dictionary(Lemke* s)
{
  s->since_check = 0;
  if (find_error(s) > s->trusted) {
    refresh(s);
    s->trusted = fmax(s->trusted, 10 * find_error(s)); // no better is to be had
  }
  refine(s);
}

// How fast row i grows with ε^(k+1) in the constants of the first dictionary,
// per unit of its fall when the entering variable grows.
static double perturbation(const Lemke* s, int i, int k, int c)
{
  int at = s->place[s->started[k] ? k : s->n + k];
  double slope = at >= 0 ? at == i : -row_of(s, i)[~at];
  return slope / -row_of(s, i)[c];
}

// Of tied rows, the one whose perturbed ratio is lexicographically least.
static int break_tie(Lemke* s, int count, int c)
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
static int blocking_row(Lemke* s, int c)
{
  double column = 0, bound = INFINITY, pivot = 0;
  for (int i = 0; i < s->n; i++)
    if (!is_free(s, s->basic[i])) column = fmax(column, fabs(row_of(s, i)[c]));
  double smallest = 1e-11 * fmax(column, 1e-3);
  for (int i = 0; i < s->n; i++) {
    const double* row = row_of(s, i);
    if (row[c] < -smallest && !is_free(s, s->basic[i]))
      bound = fmin(bound, (fmax(row[0], 0) + s->slack) / -row[c]);
  }
  int count = 0, z0 = s->place[2 * s->n];
  for (int i = 0; i < s->n; i++) {
    const double* row = row_of(s, i);
    if (!(row[c] < -smallest) || is_free(s, s->basic[i]) || fmax(row[0], 0) / -row[c] > bound) continue;
    if (i == z0) return i;
    s->tie[count++] = i;
    pivot = fmax(pivot, -row[c]);
  }
  int kept = 0; // what is tied up to rounding is not worth a tiny pivot
  for (int t = 0; t < count; t++)
    if (-row_of(s, s->tie[t])[c] >= 1e-6 * pivot) s->tie[kept++] = s->tie[t];
  return kept == 0 ? -1 : break_tie(s, kept, c);
}

static int complement(const Lemke* s, int variable)
{
  return variable < s->n ? variable + s->n : variable - s->n;
}

static Ending follow(Lemke* s)
{
  int n = s->n, r = -1;
  double least = 0;
  start(s);
  for (int i = 0; i < n; i++) {
    if (is_free(s, s->basic[i])) continue;
    double ratio = row_of(s, i)[0] / row_of(s, i)[~s->place[2 * n]];
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
    exchange(s, r, c);
    if (leaving == 2 * n) return SOLVED;
    if (done(s)) return STOPPED;
    if (++s->since_check == PIVOTS_PER_CHECK) check_dictionary(s);
    entering = complement(s, leaving);
  }
  return RAY; // rounding led it round in circles
}

void tb_lemke(tbRun* run, double* lambda)
{
  Lemke s = {.run = run, .lambda = lambda, .trusted = 1e-9};
  layout(&s, &run->scratch, run->W, run->o);
  if (done(&s)) return;
  tb_lcp_build(&s.lcp, run->o);
  equilibrate(&s);
  uint64_t random = run->o->seed;
  int attempts = s.n <= SMALL ? 8 : 2;
  for (int attempt = 0; attempt < attempts; attempt++) {
    for (int i = 0; i < s.n; i++)
      s.cover[i] = attempt == 0 ? 1 : tb_exp(tb_random_uniform(&random, -3.5, 3.5));
    s.slack = attempt % 2 ? 1e-13 : 1e-15;
    choose_start(&s, &random, attempt < 2 ? 0 : 0.5);
    Ending ending = follow(&s);
    if (ending == STOPPED) return;
    for (int pass = 0; pass < (ending == SOLVED ? 2 : 1); pass++) { // as it stands, then afresh
      if (pass > 0) refresh(&s);
      for (int again = 0; again < 3 && !tb_run_stops(run); again++) find_error(&s), refine(&s);
      tb_run_judge_next(run);
      if (done(&s)) return;
    }
  }
  tb_run_give_up(run);
}
