// SPDX-License-Identifier: Apache-2.0
// With velocities in units of 2ᵃ and W in units of 2ᵉ, impulses are in units of 2ᶜ, c = a − e:
//
//   v' = 2⁻ᵃ v,   W' = 2⁻ᵉ W,   A' = 2ᵉ A,   λ' = 2⁻ᶜ λ.
//
// Powers of two change no digit. Friction coefficients have no unit; bounds of boxed rows are impulses.
#include "solve/units.h"

#include "base/memory.h"
#include "problem/judge.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

static const double SMALL = 1e-40, LARGE = 1e40; // between them squares and cubes are ordinary numbers

typedef struct {
  int velocity, response, impulse; // exponents a, e, c
} Units;

static bool is_odd(double size) { return size > 0 && !(size > SMALL && size < LARGE); }

static double largest(size_t n, const double* x)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

bool tb_units_are_odd(const tbProblem* p)
{
  bool odd = is_odd(fmax(largest((size_t)p->nrow, p->bias), largest((size_t)p->ndof, p->v_free)));
  for (int b = 0; b < p->nblock; b++)
    odd = odd || is_odd(largest(tb_metric_values(&p->block[b]), p->block[b].value));
  return odd || (p->W_ptr && is_odd(largest((size_t)p->W_ptr[p->nrow], p->W_val)));
}

static int exponent_of(double size)
{
  int exponent = 0;
  if (size > 0 && isfinite(size)) frexp(size, &exponent);
  return exponent;
}

// Units from the velocities of contacts without impulses, and the strongest response of a contact.
static Units choose_units(const tbProblem* p, tbJudge* judge, const tbSolveOptions* o, const double* zero)
{
  tbResidual start;
  tb_judge_measure(judge, zero, o->model, o->directions, &start, NULL, NULL);
  double response = largest((size_t)p->ncontact, tb_judge_responses(judge));
  Units u = {.velocity = exponent_of(start.norm_q), .response = exponent_of(response)};
  u.impulse = u.velocity - u.response;
  return u;
}

static const double* scaled(tbArena* arena, size_t n, const double* x, int exponent)
{
  double* y = TB_TAKE(arena, double, n + 1);
  for (size_t i = 0; y && i < n; i++) y[i] = ldexp(x[i], exponent);
  return y;
}

static tbStatus add_block(tbArena* arena, tbBuilder* out, const tbProblem* p, int b, Units u)
{
  const tbMetricBlock* block = &p->block[b];
  const double* A = scaled(arena, tb_metric_values(block), block->value, u.response);
  const double* v = scaled(arena, (size_t)block->size, p->v_free + block->dof, -u.velocity);
  if (!A || !v) return TB_ERROR_MEMORY;
  if (block->kind == TB_METRIC_PARTICLE) return tb_builder_particle(out, block->size, A[0], v, NULL);
  if (block->kind == TB_METRIC_DENSE) return tb_builder_dense(out, block->size, A, v, NULL);
  return tb_builder_sparse(out, block->size, block->ptr, block->col, A, v, NULL);
}

static tbStatus add_contact(tbArena* arena, tbBuilder* out, const tbProblem* p, int k, Units u)
{
  int first = p->row_adr[k], rows = p->row_adr[k + 1] - first, count = p->param_adr[k + 1] - p->param_adr[k];
  const double* param =
      scaled(arena, (size_t)count, p->param + p->param_adr[k], p->law[k] == TB_LAW_BOX ? -u.impulse : 0);
  const double* bias = scaled(arena, (size_t)rows, p->bias + first, -u.velocity);
  const double* compliance = scaled(arena, (size_t)rows, p->compliance + first, -u.response);
  if (!param || !bias || !compliance) return TB_ERROR_MEMORY;
  TB_TRY(tb_builder_contact(out, (tbLaw)p->law[k], rows, param, bias, compliance));
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    TB_TRY(tb_builder_jacobian(out, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]));
  return TB_OK;
}

static tbStatus rescale(tbContext* ctx, tbArena* arena, const tbProblem* p, Units u, tbProblem** out)
{
  tbBuilder* b;
  TB_TRY(tb_builder_create(ctx, p->name, &b));
  tbStatus status = TB_OK;
  for (int i = 0; status == TB_OK && i < p->nblock; i++) status = add_block(arena, b, p, i, u);
  for (int k = 0; status == TB_OK && k < p->ncontact; k++) status = add_contact(arena, b, p, k, u);
  if (status == TB_OK && p->W_ptr) {
    const double* W = scaled(arena, (size_t)p->W_ptr[p->nrow], p->W_val, -u.response);
    status = W ? tb_builder_explicit(b, p->nrow, p->W_ptr, p->W_col, W) : TB_ERROR_MEMORY;
  }
  if (status == TB_OK) return tb_builder_finish(b, out);
  tb_builder_abandon(b);
  return status;
}

// A caller's trace sees iterates and residuals in the problem's own units.
typedef struct {
  const tbSolveOptions* o;
  tbJudge* judge;
  double* lambda;
  int nrow, impulse;
} Trace;

static void trace_back(void* user, const tbTraceEvent* e)
{
  const Trace* t = user;
  tbResidual own;
  for (int i = 0; i < t->nrow; i++) t->lambda[i] = ldexp(e->lambda[i], t->impulse);
  tb_judge_measure(t->judge, t->lambda, t->o->model, t->o->directions, &own, NULL, NULL);
  tbTraceEvent event = *e;
  event.residual = &own, event.lambda = t->lambda;
  t->o->trace(t->o->trace_user, &event);
}

// Solves the problem in units u, to a little more than is asked: the judge looks at it in the old ones.
static tbStatus solve_rescaled(tbContext* ctx, tbArena* arena, const tbProblem* p, const tbSolveOptions* o,
                               Units u, tbSolveFn* solve, tbJudge* judge, double* x, tbSolveResult* result)
{
  tbProblem* q = NULL;
  tbSolveOptions own = *o;
  Trace trace = {o, judge, TB_TAKE(arena, double, (size_t)p->nrow + 1), p->nrow, u.impulse};
  if (!trace.lambda) return TB_ERROR_MEMORY;
  if (o->trace) own.trace = trace_back, own.trace_user = &trace;
  own.watch = NULL; // it would see other units
  own.velocity_tolerance = ldexp(o->velocity_tolerance, -u.velocity);
  if (o->tolerance > 0) {
    double share = 0.1 * o->tolerance; // of velocities, which are near one
    own.tolerance = share;
    own.velocity_tolerance = own.velocity_tolerance > 0 ? fmin(own.velocity_tolerance, share) : share;
  }
  TB_TRY(rescale(ctx, arena, p, u, &q));
  tbStatus status = solve(ctx, q, &own, x, result);
  tb_problem_free(q);
  return status;
}

// An outcome as the judge confirms it in the problem's own units.
static void confirm(tbJudge* judge, const tbSolveOptions* o, const double* lambda, tbSolveResult* result)
{
  tb_judge_measure(judge, lambda, o->model, o->directions, &result->residual, NULL, NULL);
  bool good = tb_residual_excess(&result->residual, o) <= 1;
  if (good) result->outcome = TB_CONVERGED;
  else if (result->outcome == TB_CONVERGED) result->outcome = TB_FAILED;
}

// Impulses in other units, 2^exponent times as large: none where one is beyond all numbers there.
static void convert(int exponent, size_t rows, const double* from, double* to)
{
  bool finite = true;
  for (size_t i = 0; i < rows; i++) to[i] = ldexp(from[i], exponent), finite = finite && isfinite(to[i]);
  if (!finite) memset(to, 0, rows * sizeof *to);
}

tbStatus tb_units_solve(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbSolveFn* solve,
                        double* lambda, tbSolveResult* result, tbJudge** judge)
{
  tbArena arena;
  tbJudge* own = NULL;
  size_t rows = (size_t)p->nrow;
  tb_arena_init(&arena, ctx);
  double* x = TB_TAKE(&arena, double, rows + 1);
  tbStatus status = x ? tb_judge_create(ctx, p, &own) : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    Units u = choose_units(p, own, o, x);
    convert(-u.impulse, rows, lambda, x);
    status = solve_rescaled(ctx, &arena, p, o, u, solve, own, x, result);
    if (status == TB_OK) convert(u.impulse, rows, x, lambda);
  }
  if (status == TB_OK) confirm(own, o, lambda, result);
  if (status == TB_OK && judge) *judge = own;
  else tb_judge_free(ctx, own);
  tb_arena_free(&arena);
  return status;
}
