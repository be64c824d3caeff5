// SPDX-License-Identifier: Apache-2.0
#include "descent/coupled.h"
#include "descent/line_search.h"
#include "problem/metric.h"

#include "base/stop.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 60, LEAST_ROUNDS = 4, PATIENCE = 20 }; // PATIENCE: without getting closer
static const int CHEAP = 6000; // contacts in all rounds: many contacts get fewer rounds
static const double STEP_TOLERANCE = 1e-6;
static const double MOST_OF_IT = 0.5; // of a step: the next may heed how friction follows normal impulses
static const double SHRINK = 0.9;     // by which a whole step must lessen the next for it to be taken

typedef struct {
  tbRelaxed relaxed; // near the solution with the curvatures of turning directions
  tbDescent at;
  tbHessian hessian;
  tbCoupled coupled;
  double *gradient, *step, *fall, *end, *left, *change, *work; // (ndof) each
  double *u, *lambda, *raw, *clipped, *best;                   // (nrow) each
  double* space;
  double least;   // m/s: what clipping added to the best impulses
  double closest; // ∇g·∇²g⁻¹∇g
  bool near;      // the last step went well
  tbLineSearch search;
} Rounds;

static tbStatus begin_rounds(tbContext* ctx, tbArena* arena, const tbDescent* d, Rounds* r)
{
  const tbProblem* p = d->relaxed->problem;
  size_t n = (size_t)p->ndof, rows = (size_t)p->nrow, room = 0;
  for (int b = 0; b < p->nblock; b++) room += tb_metric_workspace(&p->block[b]);
  *r = (Rounds){.relaxed = *d->relaxed, .at = *d, .least = INFINITY, .closest = INFINITY, .near = true};
  r->at.relaxed = &r->relaxed;
  double** vector[] = {&r->gradient, &r->step, &r->fall, &r->end, &r->left, &r->change, &r->work};
  for (int i = 0; i < 7; i++)
    if (!(*vector[i] = TB_TAKE(arena, double, n))) return TB_ERROR_MEMORY;
  double** by_row[] = {&r->u, &r->lambda, &r->raw, &r->clipped, &r->best};
  for (int i = 0; i < 5; i++)
    if (!(*by_row[i] = TB_TAKE(arena, double, rows))) return TB_ERROR_MEMORY;
  if (!(r->space = TB_TAKE(arena, double, room))) return TB_ERROR_MEMORY;
  TB_TRY(tb_line_search_begin(arena, p, &r->search));
  TB_TRY(tb_hessian_begin(ctx, arena, &r->relaxed, d->cells, &r->hessian));
  tbStatus status = tb_coupled_begin(arena, &r->hessian, STEP_TOLERANCE, &r->coupled);
  if (status != TB_OK) tb_hessian_end(ctx, &r->hessian);
  r->coupled.deadline = d->deadline;
  return status;
}

// raw = λ − (D + E) J δ, or without E.
static void linear_impulses(Rounds* r, tbThreads* threads, const double* lambda, const double* step,
                            bool coupled)
{
  const tbProblem* p = r->relaxed.problem;
  double* turn = r->search.turn;
  tb_relaxed_turns(&r->relaxed, threads, step, turn);
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k], rows = p->row_adr[k + 1] - at;
    const double* D = r->at.D + r->relaxed.d_adr[k];
    for (int i = 0; i < rows; i++) {
      double sum = lambda[at + i] - (coupled ? r->coupled.E[at + i] * turn[at] : 0);
      for (int j = 0; j < rows; j++) sum -= D[i * rows + j] * turn[at + j];
      r->raw[at + i] = sum;
    }
  }
}

// The largest entry of A⁻¹Jᵀ(raw − clipped), m/s; raw is overwritten.
static double clip(Rounds* r, tbThreads* threads)
{
  const tbProblem* p = r->relaxed.problem;
  double* w = r->change;
  memcpy(r->clipped, r->raw, (size_t)p->nrow * sizeof *r->raw);
  tb_relaxed_clip(&r->relaxed, r->clipped);
  for (int i = 0; i < p->nrow; i++) r->raw[i] -= r->clipped[i];
  tb_relaxed_gradient(&r->relaxed, threads, p->v_free, r->raw, r->work, w);
  for (int b = 0; b < p->nblock; b++) tb_metric_solve(&p->block[b], threads, w + p->block[b].dof, r->space);
  return tb_relaxed_speed(&r->relaxed, 0, p->ndof, w);
}

// The whole step: fall = ∇²g⁻¹∇g, step = −K⁻¹∇g or, far from the solution, −fall; and left = ∇g where it
// ends.
static tbStatus try_step(tbContext* ctx, Rounds* r)
{
  const tbProblem* p = r->relaxed.problem;
  tbDescent* d = &r->at;
  r->relaxed.how.turning = r->near;
  tb_relaxed_velocities(&r->relaxed, ctx->threads, d->v, d->u);
  tb_coupled_evaluate(&r->coupled, d->u, d->lambda, d->D);
  tb_relaxed_gradient(&r->relaxed, ctx->threads, d->v, d->lambda, r->work, r->gradient);
  TB_TRY(tb_hessian_update(ctx, &r->hessian, d->D));
  TB_TRY(tb_hessian_solve(ctx, &r->hessian, r->gradient, r->fall));
  if (r->near) TB_TRY(tb_coupled_solve(ctx, &r->coupled, false, r->gradient, r->step));
  else memcpy(r->step, r->fall, (size_t)p->ndof * sizeof *r->step);
  for (int i = 0; i < p->ndof; i++) r->step[i] = -r->step[i], r->end[i] = d->v[i] + r->step[i];
  tb_relaxed_velocities(&r->relaxed, ctx->threads, r->end, r->u);
  tb_relaxed_impulses(&r->relaxed, ctx->threads, r->u, NULL, r->lambda, NULL);
  tb_relaxed_gradient(&r->relaxed, ctx->threads, r->end, r->lambda, r->work, r->left);
  return TB_OK;
}

// The impulses at the end of a step that was the last: a small step more, from there and with the matrix as
// it is, rounds them no worse than their bodies' velocities. Those of a large step are rounded like its
// stiffness times its length.
static tbStatus refine(tbContext* ctx, Rounds* r)
{
  int n = r->relaxed.problem->ndof;
  TB_TRY(tb_coupled_solve(ctx, &r->coupled, false, r->work, r->fall));
  for (int i = 0; i < n; i++) r->fall[i] = -r->fall[i];
  linear_impulses(r, ctx->threads, r->lambda, r->fall, true);
  r->at.off = clip(r, ctx->threads);
  memcpy(r->best, r->clipped, (size_t)r->relaxed.problem->nrow * sizeof *r->best);
  return TB_OK;
}

// One round; closer: than all before.
static tbStatus balance_once(tbContext* ctx, Rounds* r, bool* closer, bool* enough)
{
  int n = r->relaxed.problem->ndof;
  tbDescent* d = &r->at;
  TB_TRY(try_step(ctx, r));
  linear_impulses(r, ctx->threads, d->lambda, r->step, r->near);
  double before = tb_dot_in_order(n, r->gradient, r->fall), added = clip(r, ctx->threads);
  memcpy(r->work, r->left, (size_t)n * sizeof *r->left);
  TB_TRY(tb_hessian_solve(ctx, &r->hessian, r->left, r->left));
  double after = tb_dot_in_order(n, r->work, r->left),
         off = fmax(added, tb_relaxed_speed(&r->relaxed, 0, n, r->left));
  *closer = added < r->least || before < r->closest;
  r->closest = fmin(r->closest, before);
  if (added < r->least) {
    r->least = added, d->off = off;
    memcpy(r->best, r->clipped, (size_t)r->relaxed.problem->nrow * sizeof *r->best);
  }
  *enough = off <= d->still;
  if (*enough) return refine(ctx, r);
  r->near = after <= SHRINK * SHRINK * before;
  if (r->near) {
    memcpy(d->v, r->end, (size_t)n * sizeof *d->v);
    return TB_OK;
  }
  for (int i = 0; i < n; i++) r->fall[i] = -r->fall[i];
  double a = tb_line_minimum(d, ctx->threads, r->gradient, r->fall, &r->search);
  for (int i = 0; i < n; i++) d->v[i] += a * r->fall[i];
  r->near = a > MOST_OF_IT;
  if (a == 0) *enough = true;
  return TB_OK;
}

static int rounds_for(const tbProblem* p)
{
  int rounds = p->ncontact > 0 ? CHEAP / p->ncontact : MOST_ROUNDS;
  return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
}

tbStatus tb_descent_balance(tbContext* ctx, tbArena* arena, tbDescent* d)
{
  Rounds r;
  TB_TRY(begin_rounds(ctx, arena, d, &r));
  tbStatus status = TB_OK;
  bool enough = false;
  int rounds = rounds_for(d->relaxed->problem);
  for (int k = 0, since = 0;
       k < rounds && status == TB_OK && !enough && since < PATIENCE && (k == 0 || !tb_is_late(d->deadline));
       k++) {
    bool closer = false;
    status = tb_check_interrupt(ctx);
    if (status == TB_OK) status = balance_once(ctx, &r, &closer, &enough);
    since = closer ? 0 : since + 1;
  }
  d->off = r.at.off;
  if (status == TB_OK && r.least < INFINITY)
    memcpy(d->lambda, r.best, (size_t)d->relaxed->problem->nrow * sizeof *r.best);
  tb_hessian_end(ctx, &r.hessian);
  return status;
}
