// SPDX-License-Identifier: Apache-2.0
// Every problem of a step: Newton's method from what the tape says or, where there is none yet, from the warm
// start; if that does not end, the solver to a tight tolerance and Newton's method from there. The judge
// measures what comes out like any other answer (tb_assembly_judge).
#include "gradient/answer.h"

#include <math.h>
#include <string.h>

static const double TIGHT = 1e-11;
static const double NEAR = 1e-10; // m/s, of a start for Newton's method
enum { ITERATIONS = 400, ENOUGH = 200 };

// The solver's answer, as good as it can get within a budget that ends.
static tbStatus solve_tightly(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, double* lambda,
                              tbSolveResult* result)
{
  tbSolveOptions tight = *o;
  tight.solver = o->model == TB_MODEL_CONE ? "auto" : o->solver;
  if (tb_solver_refuses(tb_solver_find("auto"), p, o->model)) tight.solver = o->solver;
  tight.tolerance = TIGHT, tight.tolerance_q = 0, tight.velocity_tolerance = 0, tight.aim = 0;
  tight.time_budget_s = 0, tight.time_left_s = NULL;
  tight.max_iterations = ITERATIONS;
  return tb_solve(ctx, p, &tight, lambda, result);
}

// states: null where the tape has none of a problem with as many rows.
static void take_from_tape(tbExact* e, const tbProblem* p, double* lambda, const tbExactStates** states)
{
  const int* rows = e->tape->rows.data;
  *states = NULL;
  if (e->problem < (int)e->tape->rows.count && rows[e->problem] == p->nrow) {
    memcpy(lambda, (const double*)e->tape->lambda.data + e->at, (size_t)p->nrow * sizeof(double));
    *states = (const tbExactStates*)e->tape->states.data + e->problem;
  } else {
    e->strayed = true;
  }
  if (e->problem < (int)e->tape->rows.count) e->at += (size_t)rows[e->problem];
}

static tbStatus write_to_tape(tbContext* ctx, tbExact* e, const tbProblem* p, const double* lambda,
                              const tbExactStates* states)
{
  tbStatus status = tb_array_push(e->memory, &e->tape->rows, &p->nrow, 1);
  if (status == TB_OK) status = tb_array_push(e->memory, &e->tape->lambda, lambda, (size_t)p->nrow);
  if (status == TB_OK) status = tb_array_push(e->memory, &e->tape->states, states, 1);
  if (status != TB_OK) ctx->error = e->memory->error;
  return status;
}

// The solver's answer from the step's own warm start: where the law leaves velocities open, one among many.
static tbStatus begin_by_solver(tbContext* ctx, const tbExact* e, const tbProblem* p, const tbSolveOptions* o,
                                double* lambda, tbSolveResult* result)
{
  tbSolveOptions near = *o;
  if (!e->thorough && near.velocity_tolerance > 0)
    near.velocity_tolerance = fmax(o->velocity_tolerance, NEAR);
  if (!e->thorough && near.max_iterations > ENOUGH) near.max_iterations = ENOUGH;
  return tb_solve(ctx, p, &near, lambda, result);
}

static tbStatus answer(tbContext* ctx, void* user, const tbProblem* p, const tbSolveOptions* o,
                       double* lambda, tbSolveResult* result)
{
  tbExact* e = user;
  bool takes = tb_exact_takes(p, o->model), exact = false, unique = true, open = false;
  const tbExactStates* states = NULL;
  tbExactStates keep = {0}, *kept = e->replay ? NULL : &keep;
  tbArena* arena = &e->tape->arena;
  *result = (tbSolveResult){.outcome = TB_CONVERGED, .used = "newton"};
  if (e->by_solver) TB_TRY(begin_by_solver(ctx, e, p, o, lambda, result));
  else if (e->replay) take_from_tape(e, p, lambda, &states);
  if (takes && states && states->island)
    TB_TRY(tb_exact_follow(ctx, p, o->model, states, lambda, &exact, &open));
  if (takes && !exact) TB_TRY(tb_exact_newton(ctx, p, o->model, lambda, &exact, &unique, arena, kept));
  if (!exact) {
    TB_TRY(solve_tightly(ctx, p, o, lambda, result));
    if (takes) TB_TRY(tb_exact_newton(ctx, p, o->model, lambda, &exact, &unique, arena, kept));
  }
  e->problem++, e->count++, e->rough += !exact, e->open += open;
  e->ambiguous += !unique && !e->by_solver;
  if (!e->replay && !e->by_solver) TB_TRY(write_to_tape(ctx, e, p, lambda, &keep));
  return TB_OK;
}

void tb_tape_init(tbContext* ctx, tbTape* tape)
{
  *tape = (tbTape){.lambda = TB_ARRAY(double), .rows = TB_ARRAY(int), .states = TB_ARRAY(tbExactStates)};
  tb_arena_init(&tape->arena, ctx);
}

void tb_tape_free(tbContext* ctx, tbTape* tape)
{
  tb_array_free(ctx, &tape->lambda);
  tb_array_free(ctx, &tape->rows);
  tb_array_free(ctx, &tape->states);
  tb_arena_free(&tape->arena);
}

void tb_exact_init(tbContext* ctx, tbExact* e, tbTape* tape)
{
  *e = (tbExact){.answers = {answer, e}, .memory = ctx, .tape = tape};
}

void tb_exact_step(tbExact* e, bool replay)
{
  e->replay = replay, e->problem = 0, e->at = 0, e->strayed = false;
  if (replay) return;
  e->tape->lambda.count = e->tape->rows.count = e->tape->states.count = 0;
  tb_arena_reset(&e->tape->arena);
}
