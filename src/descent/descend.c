// SPDX-License-Identifier: Apache-2.0
#include "descent/descend.h"
#include "descent/line_search.h"

#include "base/stop.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { WARM_UP = 4, RECORDS = 3 };
static const double HIGHER = 1.5; // ∇g·P∇g by so much is a record: RECORDS of them shorten plain descent
static const double GROWTH = 1.1; // steps that grow by more have momentum taken
static const double FASTEST = 0.9999; // of Chebyshev's spectral radii

typedef struct {
  tbDescent* d;
  tbThreads* threads;
  double *gradient, *step, *direction, *before, *last_gradient, *trial; // (ndof)
  double *P, *work;
  tbLineSearch search;
  double omega, radius, size; // Chebyshev: ω, the spectral radius, ‖step‖ of the last iteration
  double momentum;            // Nesterov
  double rz;                  // conjugate gradients: ∇g·P∇g of the last iteration; 0: begin anew
  double length, highest;     // plain descent: α, and the highest ∇g·P∇g until now
  int records;                // plain descent: how often it was higher by far
} Loop;

const char* tb_descent_preconditioner_name(tbDescentPreconditioner p)
{
  static const char* const names[TB_DESCENT_PRECONDITIONERS] = {"diagonal", "block", "newton"};
  return (unsigned)p < TB_DESCENT_PRECONDITIONERS ? names[p] : NULL;
}

const char* tb_acceleration_name(tbAcceleration a)
{
  static const char* const names[TB_ACCELERATE_COUNT] = {"none", "chebyshev", "nesterov", "cg"};
  return (unsigned)a < TB_ACCELERATE_COUNT ? names[a] : NULL;
}

tbStatus tb_descent_begin(tbArena* arena, const tbRelaxed* r, const tbCells* cells, tbDescent* out)
{
  const tbProblem* p = r->problem;
  out->relaxed = r, out->cells = cells;
  out->v = TB_TAKE(arena, double, (size_t)p->ndof), out->u = TB_TAKE(arena, double, (size_t)p->nrow);
  out->lambda = TB_TAKE(arena, double, (size_t)p->nrow);
  out->D = TB_TAKE(arena, double, (size_t)r->d_adr[p->ncontact]);
  return out->v && out->u && out->lambda && out->D ? TB_OK : TB_ERROR_MEMORY;
}

double tb_descent_evaluate(const tbDescent* d, tbThreads* threads)
{
  tb_relaxed_velocities(d->relaxed, threads, d->v, d->u);
  return tb_relaxed_impulses(d->relaxed, threads, d->u, NULL, d->lambda, d->D);
}

static tbStatus begin_loop(tbContext* ctx, tbArena* arena, tbDescent* d, Loop* l)
{
  size_t n = (size_t)d->relaxed->problem->ndof;
  *l = (Loop){.d = d, .threads = ctx->threads, .omega = 1, .momentum = 1, .length = d->options.relaxation};
  double** vector[] = {&l->gradient, &l->step, &l->direction, &l->before, &l->last_gradient, &l->trial};
  for (int i = 0; i < 6; i++)
    if (!(*vector[i] = TB_TAKE(arena, double, n))) return TB_ERROR_MEMORY;
  l->P = TB_TAKE(arena, double, (size_t)d->cells->adr[d->cells->count]);
  l->work = TB_TAKE(arena, double, n);
  if (!l->P || !l->work) return TB_ERROR_MEMORY;
  TB_TRY(tb_line_search_begin(arena, d->relaxed->problem, &l->search));
  memcpy(l->before, d->v, n * sizeof *l->before);
  return TB_OK;
}

// step = P ∇g
static tbStatus precondition(tbContext* ctx, Loop* l)
{
  tbDescent* d = l->d;
  size_t n = (size_t)d->relaxed->problem->ndof;
  if (d->options.preconditioner == TB_DESCENT_NEWTON) {
    TB_TRY(tb_hessian_update(ctx, d->hessian, d->D));
    return tb_hessian_solve(ctx, d->hessian, l->gradient, l->step);
  }
  tb_cells_factor(d->relaxed, d->cells, l->threads, d->D, d->options.preconditioner == TB_DESCENT_DIAGONAL,
                  l->P);
  memcpy(l->step, l->gradient, n * sizeof *l->step);
  tb_cells_solve(d->cells, l->threads, l->P, l->step);
  return TB_OK;
}

// ---- one iteration ----

static void move(Loop* l, double a)
{
  int n = l->d->relaxed->problem->ndof;
  for (int i = 0; i < n; i++) l->d->v[i] += a * l->direction[i];
}

// Polak–Ribière, begun anew where the directions have gone stale.
static void conjugate(Loop* l)
{
  int n = l->d->relaxed->problem->ndof;
  double rz = tb_dot_in_order(n, l->gradient, l->step), beta = 0;
  if (l->rz > 0) beta = fmax(0, (rz - tb_dot_in_order(n, l->last_gradient, l->step)) / l->rz);
  for (int i = 0; i < n; i++) l->direction[i] = beta * l->direction[i] - l->step[i];
  if (tb_dot_in_order(n, l->direction, l->gradient) >= 0)
    for (int i = 0; i < n; i++) l->direction[i] = -l->step[i];
  l->rz = rz;
  memcpy(l->last_gradient, l->gradient, (size_t)n * sizeof *l->last_gradient);
}

// v ← ω (v + p − v_before) + v_before (Wang 2015). The spectral radius is what the first iterations shrink
// by; where iterates grow it begins again without.
static void chebyshev(Loop* l, int k)
{
  int n = l->d->relaxed->problem->ndof;
  double size = sqrt(tb_dot_in_order(n, l->direction, l->direction));
  if (k > 0 && k <= WARM_UP && l->size > 0) l->radius = fmin(size / l->size, FASTEST);
  if (k > WARM_UP && size > 2 * l->size) l->omega = 1, l->radius *= 0.9;
  else if (k == WARM_UP) l->omega = 2 / (2 - l->radius * l->radius);
  else if (k > WARM_UP) l->omega = 4 / (4 - l->radius * l->radius * l->omega);
  l->size = size;
  for (int i = 0; i < n; i++) {
    double now = l->d->v[i], next = l->omega * (now + l->direction[i] - l->before[i]) + l->before[i];
    l->before[i] = now, l->d->v[i] = next;
  }
}

// Nesterov's momentum, given up where it points uphill (O'Donoghue and Candès 2015) or steps grow.
static void nesterov(Loop* l)
{
  int n = l->d->relaxed->problem->ndof;
  double uphill = 0;
  for (int i = 0; i < n; i++) { // direction: from the extrapolated point to the next iterate
    double next = l->d->v[i] + l->direction[i];
    uphill += l->gradient[i] * (next - l->before[i]);
    l->trial[i] = next;
  }
  double next = 0.5 * (1 + sqrt(1 + 4 * l->momentum * l->momentum)), beta = (l->momentum - 1) / next;
  double size = sqrt(tb_dot_in_order(n, l->direction, l->direction));
  l->momentum = next;
  if (uphill > 0 || size > GROWTH * l->size) l->momentum = 1, beta = 0;
  l->size = size;
  for (int i = 0; i < n; i++) {
    l->d->v[i] = l->trial[i] + beta * (l->trial[i] - l->before[i]);
    l->before[i] = l->trial[i];
  }
}

// α, halved where iterates grow: ∇g·P∇g was the highest of the step so far, by far, and was so several times.
// Contacts that close raise it once or twice; more is a cycle that feeds itself, as of light nodes under a
// heavy body whose contacts close and open in turn.
static double guarded_length(Loop* l)
{
  double size = tb_dot_in_order(l->d->relaxed->problem->ndof, l->gradient, l->step);
  if (l->highest > 0 && size > HIGHER * l->highest) l->records++;
  if (l->records == RECORDS) l->length *= 0.5, l->records = 0;
  l->highest = fmax(l->highest, size);
  return l->length;
}

static void iterate(Loop* l, int k)
{
  const tbDescent* d = l->d;
  const tbDescentOptions* o = &d->options;
  int n = d->relaxed->problem->ndof;
  bool plain = o->acceleration == TB_ACCELERATE_NONE && o->relaxation > 0;
  double length = plain ? guarded_length(l) : o->relaxation;
  if (o->acceleration == TB_ACCELERATE_CG) conjugate(l);
  else
    for (int i = 0; i < n; i++) l->direction[i] = -l->step[i];
  bool searched = !(o->relaxation > 0) || o->acceleration == TB_ACCELERATE_CG;
  double a = searched ? tb_line_search(d, l->threads, l->gradient, l->direction, &l->search) : length;
  if (o->acceleration == TB_ACCELERATE_CG && a == 0) l->rz = 0;
  for (int i = 0; i < n; i++) l->direction[i] *= a;
  if (o->acceleration == TB_ACCELERATE_CHEBYSHEV) chebyshev(l, k);
  else if (o->acceleration == TB_ACCELERATE_NESTEROV) nesterov(l);
  else move(l, 1);
  for (int i = 0; i < n && a != 0; i++) l->direction[i] /= a;
}

tbStatus tb_descent_run(tbContext* ctx, tbArena* arena, tbDescent* d)
{
  Loop l;
  tbHessian hessian = {0};
  TB_TRY(begin_loop(ctx, arena, d, &l));
  if (d->options.preconditioner == TB_DESCENT_NEWTON) {
    TB_TRY(tb_hessian_begin(ctx, arena, d->relaxed, d->cells, &hessian));
    d->hessian = &hessian;
  }
  tbStatus status = TB_OK;
  tb_descent_evaluate(d, ctx->threads);
  for (d->used = 0; d->used < d->iterations && status == TB_OK && !tb_is_late(d->deadline); d->used++) {
    status = tb_check_interrupt(ctx);
    tb_relaxed_gradient(d->relaxed, ctx->threads, d->v, d->lambda, l.work, l.gradient);
    if (status == TB_OK) status = precondition(ctx, &l);
    if (status != TB_OK || !(tb_relaxed_speed(d->relaxed, 0, d->relaxed->problem->ndof, l.step) > d->still))
      break;
    iterate(&l, d->used);
    tb_descent_evaluate(d, ctx->threads);
  }
  if (d->hessian == &hessian) d->hessian = NULL;
  tb_hessian_end(ctx, &hessian);
  return status;
}
