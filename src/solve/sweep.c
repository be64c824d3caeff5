// SPDX-License-Identifier: Apache-2.0
#include "solve/sweep.h"
#include "base/random.h"
#include "base/simd.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PACK_AT = 3, REFRESH = 32, CONTACTS_PER_PIECE = 64, ASK_EVERY = 64 };

static bool through_bodies(const tbDelassus* W) { return !(W->forms & TB_FORM_BLOCKS); }

size_t tb_sweep_bodies(const tbDelassus* W) { return through_bodies(W) ? (size_t)W->problem->ndof : 0; }

// Blocks of W to pack: all of them, or none.
static size_t packable(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  if (!(W->forms & TB_FORM_BLOCKS) || p->nrow != 3 * p->ncontact) return 0;
  for (int k = 0; k < p->ncontact; k++)
    if (tb_rows(p, k) != 3) return 0;
  return (size_t)W->ptr[p->ncontact];
}

static void pack(tbSweep* s)
{
  const tbDelassus* W = s->run->W;
  for (size_t e = 0, count = packable(W); e < count; e++)
    for (int j = 0; j < 3; j++) {
      double* column = s->packed + 12 * e + 4 * j;
      for (int i = 0; i < 3; i++) column[i] = W->val[9 * e + (size_t)(3 * i + j)];
      column[3] = 0;
    }
  s->by_packed = packable(W) > 0;
  s->round.packed = s->by_packed ? s->packed : NULL;
}

void tb_sweep_layout(tbSweep* s, tbScratch* scratch, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->ncontact;
  s->w = TB_SCRATCH(scratch, double, tb_sweep_bodies(W));
  s->packed = TB_SCRATCH(scratch, double, 12 * packable(W));
  s->visit = TB_SCRATCH(scratch, int, n);
  s->change = TB_SCRATCH(scratch, double, n);
}

// w += A⁻¹J_kᵀ d
static void push_bodies(const tbSweep* s, int k, const double* d)
{
  const tbProblem* p = s->run->p;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double* Y = s->run->W->ainv_jac + p->jac_val_adr[c];
    double* w = s->w + p->jac_dof[c];
    for (int i = 0; i < tb_rows(p, k); i++, Y += width)
      for (int j = 0; j < width; j++) w[j] += Y[j] * d[i];
  }
}

static void refresh(tbSweep* s)
{
  const tbProblem* p = s->run->p;
  s->age = 0;
  if (!through_bodies(s->run->W)) return;
  memset(s->w, 0, (size_t)p->ndof * sizeof *s->w);
  for (int k = 0; k < p->ncontact; k++) push_bodies(s, k, s->lambda + p->row_adr[k]);
}

static void velocity_from_bodies(const tbSweep* s, int k, double* u)
{
  const tbProblem* p = s->run->p;
  int first = p->row_adr[k], rows = tb_rows(p, k);
  for (int i = 0; i < rows; i++)
    u[i] = s->run->W->q[first + i] + p->compliance[first + i] * s->lambda[first + i];
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double *J = p->jac + p->jac_val_adr[c], *w = s->w + p->jac_dof[c];
    for (int i = 0; i < rows; i++, J += width)
      for (int j = 0; j < width; j++) u[i] += J[j] * w[j];
  }
}

// u_k = q_k + Σ V_j x_j, four lanes at a time; a chain of additions per column of the blocks.
static void velocity_from_packed(const tbSweep* s, int k, double* u)
{
  const tbDelassus* W = s->run->W;
  tb4d a = tb4_set1(0), b = tb4_set1(0), c = tb4_set1(0);
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
    const double *V = s->packed + 12 * (size_t)e, *x = s->lambda + 3 * (size_t)W->col[e];
    a = tb4_add(a, tb4_mul(tb4_load(V), tb4_set1(x[0])));
    b = tb4_add(b, tb4_mul(tb4_load(V + 4), tb4_set1(x[1])));
    c = tb4_add(c, tb4_mul(tb4_load(V + 8), tb4_set1(x[2])));
  }
  double sum[4];
  tb4_store(sum, tb4_add(tb4_add(a, b), c));
  for (int i = 0; i < 3; i++) u[i] = W->q[3 * k + i] + sum[i];
}

static void velocity_from_blocks(const tbSweep* s, int k, double* u)
{
  const tbDelassus* W = s->run->W;
  const int* row = s->run->p->row_adr;
  int rows = row[k + 1] - row[k];
  for (int i = 0; i < rows; i++) u[i] = W->q[row[k] + i];
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
    int l = W->col[e], cols = row[l + 1] - row[l];
    const double *V = W->val + W->val_adr[e], *x = s->lambda + row[l];
    if (rows == 3 && cols == 3) {
      for (int i = 0; i < 3; i++) u[i] += V[3 * i] * x[0] + V[3 * i + 1] * x[1] + V[3 * i + 2] * x[2];
      continue;
    }
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) u[i] += V[i * cols + j] * x[j];
  }
}

static void visit(tbSweep* s, int k)
{
  const tbProblem* p = s->run->p;
  const tbDelassus* W = s->run->W;
  int rows = tb_rows(p, k);
  double *lambda = s->lambda + p->row_adr[k], u[TB_MAX_ROWS] = {0}, d[TB_MAX_ROWS];
  if (through_bodies(W)) velocity_from_bodies(s, k, u);
  else if (s->by_packed) velocity_from_packed(s, k, u);
  else velocity_from_blocks(s, k, u);
  for (int i = 0; i < rows; i++) d[i] = -lambda[i];
  s->update(s->user, k, u, lambda);
  bool moved = false;
  for (int i = 0; i < rows; i++) {
    d[i] += lambda[i];
    moved = moved || d[i] != 0;
  }
  if (moved && through_bodies(W)) push_bodies(s, k, d);
  if (s->sequence == TB_ORDER_GREEDY) {
    const double* D = W->diag + W->diag_adr[k];
    double energy = 0;
    for (int i = 0; i < rows; i++) energy += d[i] * d[i] * D[i * rows + i];
    s->change[k] = energy;
  }
}

static void visit_round(tbSweep* s, int begin, int end)
{
  for (int i = begin; i < end && !(i > begin && tb_run_stops(s->run)); i += ASK_EVERY)
    tb_round_sweep(&s->round, s->visit, i, i + ASK_EVERY < end ? i + ASK_EVERY : end, 1);
}

static void visit_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbSweep* s = user;
  if (s->round.rows) {
    visit_round(s, begin, end);
    return;
  }
  for (int i = begin; i < end && !(i % ASK_EVERY == ASK_EVERY - 1 && tb_run_stops(s->run)); i++)
    visit(s, s->visit[i]);
}

// Contacts of one colour share no body and no entry of W: they may move at the same time.
static void sweep_colours(tbSweep* s)
{
  const tbRun* run = s->run;
  int* all = s->visit;
  for (int c = 0; c < run->ngroup; c++) {
    s->visit = all + run->group_ptr[c];
    tb_parallel_for(run->threads, run->group_ptr[c + 1] - run->group_ptr[c], CONTACTS_PER_PIECE, visit_piece,
                    s);
  }
  s->visit = all;
}

static void shuffle(tbSweep* s)
{
  for (int i = s->run->p->ncontact - 1; i > 0; i--) {
    int j = tb_random_below(&s->random, i + 1), t = s->visit[i];
    s->visit[i] = s->visit[j];
    s->visit[j] = t;
  }
}

// Largest change first: a heap sort, because qsort cannot be handed the keys; ties go to the smaller contact.
static bool before(const tbSweep* s, int a, int b)
{
  return s->change[a] != s->change[b] ? s->change[a] > s->change[b] : a < b;
}

static void sift(const tbSweep* s, int at, int count)
{
  int* v = s->visit;
  for (int child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && before(s, v[child], v[child + 1])) child++;
    if (!before(s, v[at], v[child])) return;
    int t = v[at];
    v[at] = v[child];
    v[child] = t;
  }
}

static void sort_by_change(tbSweep* s)
{
  int n = s->run->p->ncontact, *v = s->visit;
  for (int i = n / 2 - 1; i >= 0; i--) sift(s, i, n);
  for (int i = n - 1; i > 0; i--) {
    int t = v[0];
    v[0] = v[i];
    v[i] = t;
    sift(s, 0, i);
  }
}

// For every contact: a product with J_k and one with A⁻¹J_kᵀ, or one with its row of W.
static double count_operations(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  double entries = 0;
  for (int k = 0; k < p->ncontact; k++)
    if (through_bodies(W))
      for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
        entries += 2.0 * tb_rows(p, k) * p->jac_width[c];
    else
      for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++)
        entries += (double)tb_rows(p, k) * tb_rows(p, W->col[e]);
  return 2 * entries;
}

void tb_sweep_begin(tbSweep* s, tbRun* run, tbOrder sequence, double* lambda)
{
  s->run = run;
  s->sequence = sequence;
  s->lambda = lambda;
  s->random = run->o->seed;
  s->by_packed = false;
  s->sweeps = 0;
  s->operations = count_operations(run->W);
  for (int k = 0; k < run->p->ncontact; k++) {
    s->visit[k] = run->group_contact ? run->group_contact[k] : k;
    s->change[k] = 0;
  }
  refresh(s);
}

void tb_sweep_layers(tbSweep* s, int times)
{
  const tbRun* run = s->run;
  int* all = s->visit;
  s->run->operations += times * s->operations;
  if (++s->sweeps == PACK_AT) pack(s);
  if (s->age++ >= REFRESH) refresh(s);
  for (int c = 0; c < run->ngroup && !tb_run_stops(run); c++) {
    s->visit = all + run->group_ptr[c];
    for (int k = 0; k < times; k++) visit_piece(s, 0, run->group_ptr[c + 1] - run->group_ptr[c], 0);
  }
  s->visit = all;
}

void tb_sweep_refresh(tbSweep* s) { refresh(s); }

void tb_sweep(tbSweep* s)
{
  int n = s->run->p->ncontact;
  s->run->operations += (s->sequence == TB_ORDER_SYMMETRIC ? 2 : 1) * s->operations;
  if (++s->sweeps == PACK_AT) pack(s);
  if (s->age++ >= REFRESH) refresh(s); // w has gathered rounding
  if (s->sequence == TB_ORDER_COLOUR) {
    sweep_colours(s);
    return;
  }
  if (s->sequence == TB_ORDER_RANDOM) shuffle(s);
  if (s->sequence == TB_ORDER_GREEDY) sort_by_change(s);
  visit_piece(s, 0, n, 0);
  if (s->sequence == TB_ORDER_SYMMETRIC)
    for (int i = n - 1; i >= 0 && !(i % ASK_EVERY == ASK_EVERY - 1 && tb_run_stops(s->run)); i--)
      visit(s, s->visit[i]);
}
