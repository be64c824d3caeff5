// SPDX-License-Identifier: Apache-2.0
// The dictionary of Lemke's method: scaled, made in a basis, pivoted. Rows without sign are pivoted in first
// and never leave.
#include "solve/lemke.h"

#include "base/random.h"
#include "base/threads.h"
#include "math/dense.h"
#include "solve/methods.h"
#include "tribo/math.h"

#include <string.h>

enum { ROWS_PER_PIECE = 64 };

static double power_of_two(double x) // near x; 1 where x has no size
{
  int e = 0;
  if (!(x > 0) || !isfinite(x)) return 1;
  double m = frexp(x, &e);
  return ldexp(1, m < 0.70710678118654752440 ? e - 1 : e);
}

// Scales such that the largest entry of every row and column of M is near 1 (Ruiz 2001).
void tb_lemke_equilibrate(tbLemke* s)
{
  for (int i = 0; i < s->n; i++) s->row_scale[i] = s->column_scale[i] = 1;
  for (int pass = 0; pass < 4; pass++) {
    double* largest = s->z; // of the columns
    memset(largest, 0, (size_t)s->n * sizeof *largest);
    for (int i = 0; i < s->n; i++) {
      double *row = tb_lemke_row(s, i) + 1, most = 0;
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
static void begin(tbLemke* s)
{
  int n = s->n;
  for (int i = 0; i < n; i++) {
    double* row = tb_lemke_row(s, i);
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
  tbLemke* s;
  int row;
} Pivot;

static void eliminate(void* user, int begin, int end, int piece)
{
  const tbLemke* s = ((const Pivot*)user)->s;
  int r = ((const Pivot*)user)->row, columns = s->n + 2;
  const double* source = tb_lemke_row(s, r);
  (void)piece;
  for (int i = begin; i < end; i++) {
    double *row = tb_lemke_row(s, i), factor = s->entering[i];
    if (i == r || factor == 0) continue;
    if (4 * s->nonzeros > columns) tb_dense_subtract(columns, -factor, source, row);
    else // contacts that are far apart have not met yet
      for (int k = 0; k < s->nonzeros; k++) row[s->nonzero[k]] += factor * source[s->nonzero[k]];
  }
}

// Row r leaves the basis, column c enters: x_r = p y_c + … is solved for y_c and put into the other rows.
void tb_lemke_exchange(tbLemke* s, int r, int c)
{
  double *row = tb_lemke_row(s, r), p = row[c];
  for (int i = 0; i < s->n; i++) {
    double* entry = tb_lemke_row(s, i) + c;
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
static void settle_free_rows(tbLemke* s)
{
  double first = 0;
  for (;;) {
    double best = 0;
    int r = -1, c = -1;
    for (int i = 0; i < s->n; i++) {
      if (!tb_lemke_is_free(s, s->basic[i]) || s->basic[i] < s->n) continue;
      for (int j = 1; j < s->n + 2; j++)
        if (s->nonbasic[j] < s->n && tb_lemke_is_free(s, s->nonbasic[j]) &&
            fabs(tb_lemke_row(s, i)[j]) > best)
          best = fabs(tb_lemke_row(s, i)[j]), r = i, c = j;
    }
    if (first == 0) first = best;
    if (!(best > 1e-11 * first) || tb_run_stops(s->run)) break;
    tb_lemke_exchange(s, r, c);
  }
}

// Changes to the basis of the wanted variables: each enters for one that is not wanted, largest pivot of its
// column first.
static void change_basis(tbLemke* s)
{
  for (int v = 0; v <= 2 * s->n && !tb_run_stops(s->run); v++) {
    if (!s->wanted[v] || tb_lemke_is_free(s, v) || s->place[v] >= 0) continue;
    int c = ~s->place[v], r = -1;
    double best = 0;
    for (int i = 0; i < s->n; i++) {
      double size = fabs(tb_lemke_row(s, i)[c]);
      if (!s->wanted[s->basic[i]] && !tb_lemke_is_free(s, s->basic[i]) && size > best) best = size, r = i;
    }
    if (r >= 0) tb_lemke_exchange(s, r, c);
  }
}

// z₀ is introduced with coefficient d in the dictionary as it stands.
static void introduce_cover(tbLemke* s)
{
  int c = ~s->place[2 * s->n];
  for (int i = 0; i < s->n; i++)
    tb_lemke_row(s, i)[c] = tb_lemke_is_free(s, s->basic[i]) ? 0 : s->cover[s->basic[i] % s->n];
}

// A complementary basis to start from: pairs that fall to the lot change places, alone or two by two.
void tb_lemke_choose_start(tbLemke* s, uint64_t* random, double share)
{
  int n = s->n;
  memset(s->started, 0, (size_t)n * sizeof *s->started);
  if (share == 0) return;
  begin(s);
  for (int i = 0; i < n; i++) {
    if (s->lcp.var[i].free || s->started[i] || tb_random_uniform(random, 0, 1) > share) continue;
    const double* row = tb_lemke_row(s, i);
    double best = fabs(row[1 + i]);
    int mate = i;
    for (int j = i + 1; j < n; j++) {
      double both = fmin(fabs(row[1 + j]), fabs(tb_lemke_row(s, j)[1 + i]));
      if (!s->lcp.var[j].free && !s->started[j] && both > best) best = both, mate = j;
    }
    if (best > 0) s->started[i] = s->started[mate] = true;
  }
}

void tb_lemke_start(tbLemke* s)
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
void tb_lemke_refresh(tbLemke* s)
{
  for (int i = 0; i < s->n; i++) s->tie[i] = s->basic[i];
  tb_lemke_start(s);
  memset(s->wanted, 0, (size_t)(2 * s->n + 1) * sizeof *s->wanted);
  for (int i = 0; i < s->n; i++) s->wanted[s->tie[i]] = true;
  change_basis(s);
}
