// SPDX-License-Identifier: Apache-2.0
#include "solve/newton_pairs.h"

#include "problem/judge.h"
#include "base/threads.h"
#include "math/cholesky.h"
#include "problem/delassus.h"

#include <math.h>
#include <string.h>

enum {
  CONTACTS_PER_PIECE = 64,
  REFRESH = 8, // steps after which u has gathered enough rounding
  LATER = 4,   // iterations after which the judge comes by again while the method is far from the tolerance
};
static const double FAR_OFF = 100; // of the tolerance in m/s

// ---- before the loop ----

static double factor_bytes(const tbSolveOptions* o)
{
  return o->factor_bytes > 0 ? o->factor_bytes : TB_FACTOR_BYTES;
}

// Whether a factor in velocity space costs less than one in contact space. Without sparse metric blocks it
// does where there are more rows of contacts than velocities. A sparse block costs about twice its Cholesky
// factor there, while in contact space it makes W dense.
bool tb_newton_by_velocity(const tbProblem* p, const tbSolveOptions* o)
{
  double flops = 0, columns = 0, bytes = 0, rows = p->nrow;
  bool sparse = false;
  if (p->W_ptr || p->ndof == 0 || o->inverse != TB_INVERSE_EXACT) return false;
  for (int b = 0; b < p->nblock; b++) {
    if (p->block[b].kind != TB_METRIC_SPARSE) continue;
    sparse = true;
    if (!p->block[b].factor) return false;
    tbCholeskyStats stats = tb_cholesky_stats(p->block[b].factor);
    flops += 2 * stats.flops;
    columns += 0.5 * (double)stats.entries;
    bytes += 2 * (double)stats.bytes;
  }
  if (bytes > factor_bytes(o)) return false;
  return sparse ? flops < rows * (rows * rows / 3 + columns) : rows >= p->ndof;
}

bool tb_has_wide_blocks(const tbProblem* p)
{
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind == TB_METRIC_DENSE && p->block[b].size > 6) return true;
  return false;
}

// Blocks of W, for a factor in contact space; products alone where the blocks are too large.
static tbStatus contact_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out)
{
  double bytes;
  TB_TRY(tb_delassus_bytes(ctx, p, &bytes));
  *out = bytes > factor_bytes(o) ? TB_FORM_FREE : TB_FORM_BLOCKS;
  return TB_OK;
}

// … or where a sparse metric block makes W dense.
tbStatus tb_newton_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out)
{
  *out = TB_FORM_FREE;
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind == TB_METRIC_SPARSE) return TB_OK;
  return contact_form(ctx, p, o, out);
}

// … or for velocity space.
tbStatus tb_prox_newton_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out)
{
  *out = TB_FORM_FREE;
  return tb_newton_by_velocity(p, o) ? TB_OK : contact_form(ctx, p, o, out);
}

static bool has_blocks(const tbDelassus* W) { return W->forms & TB_FORM_BLOCKS; }

static tbStatus group_islands(tbContext* ctx, tbNewtonPlan* plan, const tbProblem* p)
{
  size_t n = (size_t)p->ncontact;
  plan->of = TB_TAKE(&plan->memory, int, n);
  plan->contact = TB_TAKE(&plan->memory, int, n);
  if (!plan->of || !plan->contact) return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, plan->of, &plan->islands));
  plan->island_ptr = TB_TAKE(&plan->memory, int, (size_t)plan->islands + 2);
  if (!plan->island_ptr) return TB_ERROR_MEMORY;
  int* next = plan->island_ptr + 1; // counts, then running ends
  for (size_t k = 0; k < n; k++) next[plan->of[k] + 1]++;
  for (int i = 0; i < plan->islands; i++) next[i + 1] += next[i];
  for (size_t k = 0; k < n; k++) plan->contact[next[plan->of[k]]++] = (int)k;
  return TB_OK;
}

static tbStatus prepare(tbContext* ctx, tbRun* run, bool by_velocity)
{
  const tbDelassus* W = run->W;
  tbNewtonPlan* plan = run->prepared = TB_NEW(ctx, tbNewtonPlan, 1);
  if (!plan) return TB_ERROR_MEMORY;
  tb_arena_init(&plan->memory, ctx);
  TB_TRY(group_islands(ctx, plan, run->p));
  if (by_velocity) {
    tbStatus status = tb_velocity_create(ctx, run->p, W->diag_adr, factor_bytes(run->o), &plan->velocity);
    if (status == TB_OK) status = tb_newton_pairs_find(plan, run->p);
    if (status != TB_ERROR_UNSUPPORTED) return status;
  }
  if (has_blocks(W)) {
    tbStatus status = tb_lu_analyze(ctx, run->p->ncontact, run->p->row_adr, W->ptr, W->col,
                                    factor_bytes(run->o), &plan->lu);
    if (status != TB_ERROR_UNSUPPORTED) return status;
  }
  plan->basis = TB_TAKE(&plan->memory, double, tb_gmres_workspace(run->p->nrow));
  return plan->basis ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_newton_prepare(tbContext* ctx, tbRun* run) { return prepare(ctx, run, false); }

tbStatus tb_prox_newton_prepare(tbContext* ctx, tbRun* run)
{
  return prepare(ctx, run, tb_newton_by_velocity(run->p, run->o));
}

tbStatus tb_newton_renew(tbContext* ctx, tbRun* run)
{
  tbNewtonPlan* plan = run->prepared;
  if (plan->velocity) tb_velocity_renew(ctx, plan->velocity);
  tb_lu_watch(plan->lu, ctx->interrupt);
  return TB_OK;
}

void tb_newton_release(tbContext* ctx, tbRun* run)
{
  tbNewtonPlan* plan = run->prepared;
  if (!plan) return;
  plan->memory.ctx = ctx;
  tb_velocity_free(ctx, plan->velocity);
  tb_lu_free(ctx, plan->lu);
  tb_arena_free(&plan->memory);
  tb_free(ctx, plan);
}

void tb_newton_layout(tbNewton* n, tbScratch* s, const tbDelassus* W)
{
  size_t contacts = (size_t)W->problem->ncontact, rows = (size_t)W->problem->nrow;
  size_t diagonal = W->diag_adr[contacts], blocks = has_blocks(W) ? W->val_adr[W->ptr[contacts]] : 0;
  n->friction = TB_SCRATCH(s, tbFrictionSet, contacts);
  n->island = TB_SCRATCH(s, tbNewtonIsland, contacts);
  double** vectors[] = {&n->u, &n->d, &n->Wd, &n->phi, &n->rhs, &n->other, &n->start};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(s, double, rows);
  n->size = TB_SCRATCH(s, double, contacts);
  n->merit = TB_SCRATCH(s, double, contacts);
  n->A = TB_SCRATCH(s, double, diagonal);
  n->B = TB_SCRATCH(s, double, diagonal);
  n->inverse = TB_SCRATCH(s, double, diagonal);
  n->C = TB_SCRATCH(s, double, diagonal);
  n->dv = TB_SCRATCH(s, double, (size_t)W->problem->ndof);
  n->defect = TB_SCRATCH(s, double, (size_t)W->problem->ndof);
  n->active = TB_SCRATCH(s, uint8_t, rows);
  n->M = TB_SCRATCH(s, double, blocks);
  n->workspace = TB_SCRATCH(s, double, tb_delassus_workspace(W));
}

void tb_newton_begin(tbNewton* n, tbRun* run, tbMap map, double* lambda)
{
  const tbProblem* p = run->p;
  n->run = run, n->plan = run->prepared, n->lambda = lambda, n->anchor = NULL, n->room = 0.7,
  n->age = REFRESH;
  double sum = 0;
  n->response = tb_judge_responses(run->judge);
  n->later = n->plan->velocity || tb_has_wide_blocks(p);
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    const double* D = run->W->diag + run->W->diag_adr[k];
    tb_friction_make(p, k, run->o->model, run->o->directions, &n->friction[k]);
    n->size[k] = 0;
    for (int i = 0; i < rows; i++) n->size[k] += fmax(0, D[i * rows + i]) / rows;
    sum += n->size[k];
  }
  // A contact between bodies that cannot move is as stiff as the average one.
  for (int k = 0; k < p->ncontact; k++)
    if (!(n->size[k] > 0)) n->size[k] = sum > 0 ? sum / p->ncontact : 1;
  for (int i = 0; i < n->plan->islands; i++) n->island[i] = (tbNewtonIsland){.map = map};
  if (has_blocks(run->W)) memset(n->M, 0, run->W->val_adr[run->W->ptr[p->ncontact]] * sizeof *n->M);
}

// ---- equations ----

tbContactMap tb_newton_map(const tbNewton* n, int k, tbMap map, double alpha)
{
  const tbDelassus* W = n->run->W;
  return (tbContactMap){.p = n->run->p,
                        .f = &n->friction[k],
                        .k = k,
                        .rows = tb_rows(n->run->p, k),
                        .map = map,
                        .D = W->diag + W->diag_adr[k],
                        .size = n->size[k],
                        .shift = alpha * n->size[k]};
}

static tbContactMap map_of(const tbNewton* n, int k)
{
  const tbNewtonIsland* island = &n->island[n->plan->of[k]];
  return tb_newton_map(n, k, island->map, island->alpha);
}

// λ and the velocity that contact k's equation sees at λ + t d.
static void point(const tbNewton* n, int k, double t, double* lambda, double* u)
{
  const tbProblem* p = n->run->p;
  double pull = n->island[n->plan->of[k]].alpha * n->size[k];
  for (int i = 0, r = p->row_adr[k]; r < p->row_adr[k + 1]; i++, r++) {
    lambda[i] = n->lambda[r] + (t > 0 ? t * n->d[r] : 0);
    u[i] = n->u[r] + (t > 0 ? t * n->Wd[r] : 0);
    if (n->anchor) u[i] += pull * (lambda[i] - n->anchor[r]);
  }
}

// Σ T_k ‖Φ_k‖² of island i at λ + t d.
static double merit_at(const tbNewton* n, int i, double t)
{
  double sum = 0;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    double lambda[TB_MAX_ROWS], u[TB_MAX_ROWS];
    tbContactMap m = map_of(n, k);
    point(n, k, t, lambda, u);
    sum += n->size[k] * tb_contact_map(&m, lambda, u, NULL);
  }
  return sum;
}

// A row that is solved for: its equation is not simply dλ_i = −Φ_i.
static bool couples(int rows, int i, const double* A, const double* B)
{
  for (int j = 0; j < rows; j++)
    if (B[i * rows + j] != 0 || A[i * rows + j] != (i == j)) return true;
  return false;
}

static void linearise(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbNewton* n = user;
  const tbProblem* p = n->run->p;
  for (int k = begin; k < end; k++) {
    int rows = tb_rows(p, k), first = p->row_adr[k];
    double *A = n->A + n->run->W->diag_adr[k], *B = n->B + n->run->W->diag_adr[k];
    if (n->island[n->plan->of[k]].resting) {
      for (int i = 0; i < rows; i++) n->active[first + i] = 0, n->phi[first + i] = 0;
      continue;
    }
    double lambda[TB_MAX_ROWS], u[TB_MAX_ROWS];
    tbContactMap m = map_of(n, k);
    tbContactStep step;
    point(n, k, 0, lambda, u);
    n->merit[k] = n->size[k] * tb_contact_map(&m, lambda, u, &step);
    memcpy(A, step.A, (size_t)(rows * rows) * sizeof *A);
    memcpy(B, step.B, (size_t)(rows * rows) * sizeof *B);
    memcpy(n->phi + first, step.phi, (size_t)rows * sizeof *step.phi);
    for (int i = 0; i < rows; i++) n->active[first + i] = couples(rows, i, A, B);
  }
}

void tb_newton_follow(tbNewton* n)
{
  if (n->age++ >= REFRESH) tb_newton_linearise(n);
  else tb_newton_relinearise(n);
}

void tb_newton_linearise(tbNewton* n)
{
  n->age = 0;
  tb_delassus_apply(n->run->W, n->run->threads, n->lambda, n->u, n->workspace);
  for (int i = 0; i < n->run->p->nrow; i++) n->u[i] += n->run->W->q[i];
  tb_newton_relinearise(n);
}

void tb_newton_relinearise(tbNewton* n)
{
  tb_parallel_for(n->run->threads, n->run->p->ncontact, CONTACTS_PER_PIECE, linearise, n);
  for (int i = 0; i < n->plan->islands; i++) {
    if (n->island[i].resting) continue;
    n->island[i].merit = 0;
    for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++)
      n->island[i].merit += n->merit[n->plan->contact[e]];
  }
}

// ---- step length ----

// Grippo, Lampariello and Lucidi 1986: sufficient decrease below the worst of the last few merits.
bool tb_newton_search(tbNewton* n, int i, double allowance)
{
  tbNewtonIsland* s = &n->island[i];
  double worst = s->merit;
  for (int h = 0; h < s->seen && h < TB_NEWTON_HISTORY; h++) worst = fmax(worst, s->history[h]);
  // Two steps ago the merit was the same: full steps go to and fro between two states.
  bool cycles =
      s->seen >= 2 && fabs(s->history[(s->seen - 2) % TB_NEWTON_HISTORY] - s->merit) < 0.1 * s->merit;
  s->history[s->seen++ % TB_NEWTON_HISTORY] = s->merit;
  s->length = 0;
  for (double t = cycles ? 0.5 : 1; t > 1e-4; t /= 2) {
    double merit = merit_at(n, i, t);
    if (!(merit <= allowance * worst - 2e-4 * t * s->merit)) continue;
    s->length = t;
    s->merit = merit;
    for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
      int k = n->plan->contact[e];
      for (int r = n->run->p->row_adr[k]; r < n->run->p->row_adr[k + 1]; r++) {
        n->lambda[r] += t * n->d[r];
        n->u[r] += t * n->Wd[r];
      }
    }
    return true;
  }
  return false;
}

// ---- when to rest ----

// w² ‖λ_k − P_K(λ_k − û_k/w)‖²
static double natural_map_at(const tbNewton* n, int k, double w, const double* lambda, const double* velocity)
{
  const tbProblem* p = n->run->p;
  double u[TB_MAX_ROWS], z[TB_MAX_ROWS], x[TB_MAX_ROWS], against[TB_MAX_ROWS], sum = 0;
  int rows = tb_rows(p, k);
  memcpy(u, velocity, (size_t)rows * sizeof *u);
  tb_friction_turn(&n->friction[k], u);
  for (int r = 0; r < rows; r++) z[r] = lambda[r] - u[r] / w, against[r] = r + 1 < rows ? -u[r + 1] / w : 0;
  const tbFrictionSet* f = &n->friction[k];
  if (f->kind == TB_SET_NONE) {
    tb_friction_clamp_rows(p, k, z, x);
  } else {
    if (!f->associated) z[0] -= tb_friction_support(f, against, NULL);
    tb_friction_project(f, z, x, NULL);
  }
  for (int r = 0; r < rows; r++) sum += w * (lambda[r] - x[r]) * (w * (lambda[r] - x[r]));
  return sum;
}

static double natural_map(const tbNewton* n, int k, double w)
{
  return natural_map_at(n, k, w, n->lambda + n->run->p->row_adr[k], n->u + n->run->p->row_adr[k]);
}

static double response_of(const tbNewton* n, int k) { return n->response[k] > 0 ? n->response[k] : 1; }

double tb_newton_excess(const tbNewton* n, int k, const double* lambda, const double* u)
{
  double most = 0;
  if (n->slow > 0) most = natural_map_at(n, k, response_of(n, k), lambda, u) / (n->slow * n->slow);
  if (isinf(n->limit)) return most;
  return fmax(most, natural_map_at(n, k, 1, lambda, u) * n->run->p->ncontact / n->limit);
}

double tb_newton_residual(const tbNewton* n, int i)
{
  double sum = 0;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++)
    sum += natural_map(n, n->plan->contact[e], 1);
  return sum;
}

// Whether every contact of island i misses its law by no more than `most` in m/s, as the judge measures it.
static bool is_slow(const tbNewton* n, int i, double most)
{
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    if (!(natural_map(n, k, response_of(n, k)) <= most * most)) return false;
  }
  return true;
}

// The most that Σ ‖F‖² of one island may be for the tolerances relative to norms.
static double residual_limit(const tbNewton* n)
{
  const tbProblem* p = n->run->p;
  const tbSolveOptions* o = n->run->o;
  double q = 0, lambda = 0, u = 0, aim = tb_run_aim(n->run) * n->room, limit = INFINITY;
  for (int i = 0; i < p->nrow; i++) {
    q += n->run->W->q[i] * n->run->W->q[i];
    lambda += n->lambda[i] * n->lambda[i];
    u += n->u[i] * n->u[i];
  }
  if (o->tolerance > 0) limit = o->tolerance * o->tolerance * fmax(q, fmax(lambda, u));
  if (o->tolerance_q > 0) limit = fmin(limit, o->tolerance_q * o->tolerance_q * q);
  if (isinf(limit) && !(o->velocity_tolerance > 0))
    limit = 0; // nothing is asked: only an exact answer is good
  return limit * aim * aim / fmax(1, n->plan->islands);
}

void tb_newton_rest(tbNewton* n)
{
  bool all = true, all_rested = true, woken = false, far = false;
  for (int i = 0; i < n->plan->islands; i++) all_rested = all_rested && n->island[i].resting;
  if (all_rested) n->room *= 0.1;
  double limit = residual_limit(n), slow = n->run->o->velocity_tolerance * tb_run_aim(n->run) * n->room;
  n->limit = limit, n->slow = slow;
  for (int i = 0; i < n->plan->islands; i++) {
    bool rested = n->island[i].resting;
    bool rests = (slow == 0 || is_slow(n, i, slow)) && (isinf(limit) || tb_newton_residual(n, i) <= limit);
    n->island[i].resting = rests;
    all = all && rests;
    woken = woken || (rested && !rests);
    far = far || (!rests && n->later && slow > 0 && !is_slow(n, i, FAR_OFF * slow));
  }
  if (far) tb_run_judge_later(n->run, LATER);
  if (all) tb_run_judge_next(n->run);
  if (woken) tb_newton_linearise(n);
}
