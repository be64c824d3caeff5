// SPDX-License-Identifier: Apache-2.0
// Lemke's dictionary by itself: what exchanges made of M and what is computed from M again in the same basis
// are one linear map.
#include "base/stop.h"
#include "solve/lemke.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { N = 7, STRIDE = 16 };

// M = W: one variable per row. Some columns have one large negative entry beside others that rounding left: a
// pivot that is taken for anything but its size loses every digit.
typedef struct {
  double W[N * N], drift[N], product[N], T[N * STRIDE], numbers[6][N];
  tbLcpVariable var[N];
  int basic[N], nonbasic[N + 2], nonzero[N + 2], place[2 * N + 1], tie[N];
  bool started[N], wanted[2 * N + 1];
  tbProblem problem;
  tbDelassus delassus;
  tbStop stop;
  tbRun run;
  tbLemke s;
} Case;

static void open_case(Case* c, uint64_t seed)
{
  memset(c, 0, sizeof *c);
  tbRandom r = test_random(seed);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c->W[i * N + j] = (j == (i + 3) % N ? -2 : test_below(&r, 2) ? 1 : 1e-13) * test_uniform(&r, 0.3, 0.4);
  for (int i = 0; i < N * STRIDE; i++) c->T[i] = 3; // behind the columns too, where nothing may look
  for (int i = 0; i < N; i++) {
    c->drift[i] = test_uniform(&r, -1, 1);
    c->var[i] = (tbLcpVariable){{i, -1}, {1, 0}, -1, -1, 0, false};
  }
  c->problem.nrow = N;
  c->delassus.problem = &c->problem, c->delassus.dense = c->W;
  c->stop.deadline = INFINITY;
  c->run.stop = &c->stop;
  tbLcp lcp = {&c->delassus, N, c->var, NULL, c->drift, c->product};
  c->s = (tbLemke){.run = &c->run, .lcp = lcp, .n = N, .stride = STRIDE, .T = c->T, .basic = c->basic};
  c->s.nonbasic = c->nonbasic, c->s.nonzero = c->nonzero, c->s.place = c->place, c->s.tie = c->tie;
  c->s.started = c->started, c->s.wanted = c->wanted, c->s.entering = c->numbers[0];
  c->s.row_scale = c->numbers[1], c->s.column_scale = c->numbers[2], c->s.cover = c->numbers[3];
  c->s.z = c->numbers[4], c->s.error = c->numbers[5];
  for (int i = 0; i < N; i++) c->s.cover[i] = test_uniform(&r, 0.5, 2);
  tb_lemke_equilibrate(&c->s);
}

// Row i of M z + r − w + d z₀ for values of the variables, in the units of the dictionary.
static double left_over(const Case* c, int i, const double* value)
{
  const tbLemke* s = &c->s;
  double sum = c->drift[i] * s->row_scale[i] / s->constant_scale - value[N + i] + s->cover[i] * value[2 * N];
  for (int j = 0; j < N; j++) sum += c->W[i * N + j] * s->row_scale[i] * s->column_scale[j] * value[j];
  return sum;
}

// The dictionary gives the basic variables of any nonbasic ones: with them M z + r = w − d z₀.
static double worst_row(const Case* c, uint64_t seed)
{
  double value[2 * N + 1], worst = 0;
  tbRandom r = test_random(seed);
  for (int j = 1; j < N + 2; j++) value[c->nonbasic[j]] = test_uniform(&r, -1, 1);
  for (int i = 0; i < N; i++) {
    const double* row = tb_lemke_row(&c->s, i);
    value[c->basic[i]] = row[0];
    for (int j = 1; j < N + 2; j++) value[c->basic[i]] += row[j] * value[c->nonbasic[j]];
  }
  for (int i = 0; i < N; i++) worst = fmax(worst, fabs(left_over(c, i, value)));
  return worst;
}

// The largest entry whose variables may change places: a w or z₀ with any.
static void exchange_somewhere(Case* c, tbRandom* r)
{
  int column = 1 + test_below(r, N + 1), row = 0;
  for (int i = 1; i < N; i++)
    if (fabs(tb_lemke_row(&c->s, i)[column]) > fabs(tb_lemke_row(&c->s, row)[column])) row = i;
  tb_lemke_exchange(&c->s, row, column);
}

TEST(a_refreshed_dictionary_has_the_basis_and_says_what_m_says)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    Case c;
    open_case(&c, seed);
    tbRandom r = test_random(1000 + seed);
    tb_lemke_start(&c.s);
    CHECK(worst_row(&c, seed) < 1e-13);
    bool basic[2 * N + 1] = {false};
    for (int k = 0; k < 12; k++) exchange_somewhere(&c, &r);
    for (int i = 0; i < N; i++) basic[c.basic[i]] = true;
    double exchanged = worst_row(&c, seed);
    tb_lemke_refresh(&c.s);
    for (int i = 0; i < N; i++)
      if (!basic[c.basic[i]])
        test_failed(__FILE__, __LINE__, "seed %d: variable %d was not basic", (int)seed, c.basic[i]);
    double fresh = worst_row(&c, seed);
    if (!(exchanged < 1e-9 && fresh < 1e-9))
      test_failed(__FILE__, __LINE__, "seed %d: rows off by %g, afresh by %g", (int)seed, exchanged, fresh);
  }
}
