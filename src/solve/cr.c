// SPDX-License-Identifier: Apache-2.0
// Conjugate residuals on the mixed contact problem (Verschoor and Jalba 2019; Luenberger 1970, 1973).
//
// For contacts in given states, the problem is linear, symmetric and indefinite, B y = d (cr_system.h), and
//
//   α = (Bp)ᵀC⁻¹r / (Bp)ᵀC⁻¹Bp        y ← y + αp,   r ← r − αBp
//   β = (B C⁻¹r)ᵀC⁻¹Bp / (Bp)ᵀC⁻¹Bp   p ← C⁻¹r − βp
//
// reduces rᵀC⁻¹r as far as each direction allows. The states change inside the iteration (cr_states.c), at
// intervals of max(1, ⌊log²(‖r‖/ε₁)/3⌋) iterations: seldom while the residual is large, at every iteration
// when it is small. Looking only at convergence would be an active set method, and could cycle; looking
// always, steepest descent, so that the interval grows with the restarts since the linear problem was last
// solved. Looks are skipped after a step with α < 0, which Full, being indefinite, can take.
//
// A change of states starts the recurrence anew. What it changes in the residual follows from the impulses it
// moved, so that this costs no product with A. Converged: ‖r‖ < ε₁, or B C⁻¹r vanishes, which it
// does at the least-squares solution of rows that contradict each other. Then every contact is looked at
// thoroughly, and when nothing changes the judge is asked; if it is not satisfied, ε₁ and ε₂ are tightened.
// It is asked before that where its last answer, with what has been gained since, may be enough. While states
// or sliding friction change, ε₁ is a third of the velocity that the last change was worth; not so in one
// part of the rows (staggered_cr.c) where states change at one convergence after the other.
//
// Cost      one product with A, a few with J and one preconditioning per iteration; W is never formed. Schur:
//           a factor of S, as large as contacts share nodes, at every change of states.
// Limits    no proof of convergence. Sliding friction is a fixed point around the linear problem: large
//           coefficients slow it down or make it cycle.
#include "solve/cr.h"
#include "base/simd.h"
#include "base/threads.h"
#include "solve/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SLIGHT = 1e-8; // squared cosine of a direction that is not worth a step
static const double HOPE = 7;      // times ε₁, where the judge may be satisfied
static const double LIKELY = 0.7;  // of the tolerances: where the judge should be
static const double LOST = 10;     // times what a recurrence says: it drifted
static const double FLAT = 0.01;   // ‖B C⁻¹r‖ over ε₁ where r cannot be reduced

enum {
  PATIENCE = 8, // restarts until looks become rarer
  RENEW = 50,   // restarts until A w is computed afresh
  MIXED = 14,   // steps of sliding friction that Anderson mixes
  PIECE = 4096, // entries of vectors
  SUMS = 3      // of a pass over them, at most
};

static void layout(tbCr* c, tbScratch* scratch, const tbDelassus* W, const tbSolveOptions* o)
{
  size_t rows = (size_t)W->problem->nrow, dofs = (size_t)W->problem->ndof;
  size_t contacts = (size_t)W->problem->ncontact;
  tb_cr_system_layout(&c->system, scratch, W);
  tb_anderson_layout(&c->mixer, scratch, (int)rows, MIXED);
  c->contact = TB_SCRATCH(scratch, tbCrContact, contacts);
  c->group = TB_SCRATCH(scratch, tbCrGroup, rows);
  c->set = TB_SCRATCH(scratch, tbFrictionSet, contacts);
  double** of_rows[] = {&c->lambda, &c->u, &c->seen, &c->before, &c->moved, &c->last_lambda, &c->last_u};
  double** of_both[] = {&c->r, &c->s, &c->Bs, &c->p, &c->Bp, &c->t, &c->weight};
  for (int i = 0; i < 7; i++) *of_rows[i] = TB_SCRATCH(scratch, double, rows);
  for (int i = 0; i < 7; i++) *of_both[i] = TB_SCRATCH(scratch, double, dofs + rows);
  c->w = TB_SCRATCH(scratch, double, dofs);
  if (o->krylov == TB_KRYLOV_MINRES) tb_minres_layout(&c->minres, scratch, dofs + rows);
  c->partial = TB_SCRATCH(scratch, double, SUMS*(size_t)tb_piece_count((int)(dofs + rows), PIECE));
}

// S as a whole, unless bodies or nodes have so many contacts that it would take more memory than a factor
// may.
tbStatus tb_cr_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out)
{
  double bytes, most = o->factor_bytes > 0 ? o->factor_bytes : TB_FACTOR_BYTES;
  *out = 0;
  if (tb_cr_preconditioner(o) != TB_PRECONDITIONER_SCHUR) return TB_OK;
  TB_TRY(tb_cr_schur_bytes(ctx, p, &bytes));
  if (bytes <= most) *out = TB_FORM_BLOCKS;
  return TB_OK;
}

tbStatus tb_cr_prepare(tbContext* ctx, tbRun* run)
{
  if (!(run->W->forms & TB_FORM_BLOCKS)) return TB_OK;
  return tb_shifted_create(ctx, run->W, (tbShifted**)&run->prepared);
}

tbStatus tb_cr_renew(tbContext* ctx, tbRun* run)
{
  tb_shifted_renew(ctx, run->prepared);
  return TB_OK;
}

void tb_cr_release(tbContext* ctx, tbRun* run) { tb_shifted_free(ctx, run->prepared); }

size_t tb_cr_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  tbScratch counting = {0};
  layout(&(tbCr){0}, &counting, W, o);
  return counting.used;
}

// ---- passes over all vectors, cut alike for any number of threads ----

static inline double dot(int n, const double* x, const double* y)
{
  tb4d sum = tb4_set1(0);
  int i = 0;
  for (; i + 4 <= n; i += 4) sum = tb4_add(sum, tb4_mul(tb4_load(x + i), tb4_load(y + i)));
  double rest = 0;
  for (; i < n; i++) rest += x[i] * y[i];
  return tb4_sum(sum) + rest;
}

// ‖weight ∘ x‖²
static inline double weighed(int n, const double* x, const double* weight)
{
  tb4d sum = tb4_set1(0);
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    tb4d a = tb4_mul(tb4_load(x + i), tb4_load(weight + i));
    sum = tb4_add(sum, tb4_mul(a, a));
  }
  double rest = 0;
  for (; i < n; i++) rest += (x[i] * weight[i]) * (x[i] * weight[i]);
  return tb4_sum(sum) + rest;
}

static void pass(tbCr* c, tbRangeFn* body, double sum[SUMS])
{
  int n = c->run->p->ndof + c->run->p->nrow;
  tb_parallel_for(c->run->threads, n, PIECE, body, c);
  for (int j = 0; sum && j < SUMS; j++) {
    sum[j] = 0;
    for (int i = 0; i < tb_piece_count(n, PIECE); i++) sum[j] += c->partial[SUMS * i + j];
  }
}

// (Bp)ᵀC⁻¹Bp, (Bp)ᵀC⁻¹r, rᵀC⁻¹r
static void measure(void* user, int begin, int end, int piece)
{
  tbCr* c = user;
  double* sum = c->partial + SUMS * piece;
  int n = end - begin;
  sum[0] = dot(n, c->Bp + begin, c->t + begin);
  sum[1] = dot(n, c->Bp + begin, c->s + begin);
  sum[2] = dot(n, c->r + begin, c->s + begin);
}

// y ← y + αp, r ← r − αBp, C⁻¹r ← C⁻¹r − αC⁻¹Bp
static void advance(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbCr* c = user;
  int dofs = c->run->p->ndof, middle = end < dofs ? end : begin > dofs ? begin : dofs;
  const double* restrict p = c->p, * restrict Bp = c->Bp, * restrict t = c->t;
  double* restrict w = c->w, * restrict lambda = c->lambda, * restrict r = c->r, * restrict s = c->s;
  double alpha = c->alpha;
  for (int i = begin; i < middle; i++) w[i] += alpha * p[i];
  for (int i = middle; i < end; i++) lambda[i - dofs] -= alpha * p[i];
  for (int i = begin; i < end; i++) {
    r[i] -= alpha * Bp[i];
    s[i] -= alpha * t[i];
  }
}

// (B C⁻¹r)ᵀC⁻¹Bp and ‖B C⁻¹r‖²
static void meet(void* user, int begin, int end, int piece)
{
  tbCr* c = user;
  double* sum = c->partial + SUMS * piece;
  sum[0] = dot(end - begin, c->Bs + begin, c->t + begin);
  sum[1] = weighed(end - begin, c->Bs + begin, c->weight + begin);
}

// p ← C⁻¹r − βp, Bp ← B C⁻¹r − βBp
static void turn(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbCr* c = user;
  const double* restrict s = c->s, * restrict Bs = c->Bs;
  double* restrict p = c->p, * restrict Bp = c->Bp, beta = c->beta;
  for (int i = begin; i < end; i++) {
    p[i] = s[i] - beta * p[i];
    Bp[i] = Bs[i] - beta * Bp[i];
  }
}

// ---- the linear problem ----

// The row sums of a stiff block are its masses, far below its diagonal: a residual that is smooth moves the
// whole body.
static void weigh_dofs(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbCr* c = user;
  const tbProblem* p = c->run->p;
  for (int dof = begin; dof < end; dof++) {
    const tbMetricBlock* k = &p->block[p->dof_block[dof]];
    int i = dof - k->dof;
    double D = k->kind == TB_METRIC_PARTICLE ? k->value[0]
               : k->kind == TB_METRIC_DENSE  ? k->value[i * k->size + i]
                                             : c->system.W->lumped[dof];
    double rows = 0;
    for (int e = k->ptr ? k->ptr[i] : 0; k->ptr && e < k->ptr[i + 1]; e++) rows += k->value[e];
    c->weight[dof] = 1 / (rows > 1e-6 * D ? rows : D);
  }
}

static void weigh(tbCr* c)
{
  const tbProblem* p = c->run->p;
  tb_parallel_for(c->run->threads, p->ndof, PIECE, weigh_dofs, c);
  for (int i = 0; i < p->nrow; i++) c->weight[p->ndof + i] = 1;
}

static void velocities(tbCr* c)
{
  const tbProblem* p = c->run->p;
  tb_cr_spread(&c->system, c->w, c->u);
  for (int i = 0; i < p->nrow; i++) c->u[i] += c->system.W->q[i] + p->compliance[i] * c->lambda[i];
}

// The residual as contacts feel it, in velocities: momentum that is missing by the mass that it would move.
// What is missing far away, inside of bodies, does not matter to them.
double tb_cr_residual(tbCr* c)
{
  const tbProblem* p = c->run->p;
  const double* r = c->r + p->ndof;
  tb_cr_weighted_product(&c->system, c->weight, c->r, c->moved);
  return sqrt(dot(p->nrow, c->moved, c->moved) + dot(p->nrow, r, r));
}

static bool is_minres(const tbCr* c) { return c->run->o->krylov == TB_KRYLOV_MINRES; }

// The residual of the constraints from u, and the first direction: p = C⁻¹r.
static void point(tbCr* c)
{
  const tbProblem* p = c->run->p;
  double sum[SUMS];
  for (int i = 0; i < p->nrow; i++) c->r[p->ndof + i] = c->system.solved[i] ? -c->u[i] : 0;
  tb_cr_precondition(&c->system, c->r, c->s);
  tb_cr_apply(&c->system, c->s, c->Bs);
  c->beta = 0;
  pass(c, turn, NULL);
  tb_cr_precondition(&c->system, c->Bp, c->t);
  pass(c, meet, sum);
  c->slope = sqrt(sum[1]);
  if (is_minres(c)) tb_minres_begin(c);
}

// After a look that changed states: r moves by Jᵀ times what the impulses have moved by, u hardly.
static void restart(tbCr* c)
{
  const tbProblem* p = c->run->p;
  for (int i = 0; i < p->nrow; i++) {
    c->moved[i] = c->lambda[i] - c->seen[i];
    c->u[i] += p->compliance[i] * c->moved[i];
  }
  tb_cr_gather(&c->system, c->moved, c->r);
  point(c);
}

// The residual Jᵀλ − Aw as it is, without the recurrence. Where that had lost it, products were too rough.
static void refresh(tbCr* c)
{
  double believed = c->size;
  tb_cr_multiply_metric(&c->system, c->w, c->r);
  for (int i = 0; i < c->run->p->ndof; i++) c->r[i] = -c->r[i];
  tb_cr_gather(&c->system, c->lambda, c->r);
  velocities(c);
  point(c);
  c->size = tb_cr_residual(c);
  if (believed > 0 && c->size > LOST * fmax(believed, c->r_tolerance)) c->system.exact = true;
}

// Tolerances in velocities, from the scale the judge measures by.
static void aim(tbCr* c)
{
  const tbProblem* p = c->run->p;
  double scale = dot(p->nrow, c->system.W->q, c->system.W->q);
  scale = fmax(scale, dot(p->nrow, c->lambda, c->lambda));
  scale = sqrt(fmax(scale, dot(p->nrow, c->u, c->u)));
  const tbSolveOptions* o = c->run->o;
  double share = 0.1 * c->tightening, goal = o->tolerance > 0 ? share * o->tolerance * scale : INFINITY;
  if (o->velocity_tolerance > 0) goal = fmin(goal, share * o->velocity_tolerance * sqrt(p->ncontact));
  if (isinf(goal)) goal = 0;
  c->r_tolerance = fmax(goal, 4 * DBL_EPSILON * scale) + DBL_MIN;
  c->u_tolerance = 0.1 * fmax(c->r_tolerance, c->loose);
}

static int interval(double r, double tolerance)
{
  int exponent;
  frexp(fmin(r / tolerance, DBL_MAX), &exponent);
  double log10 = 0.30103 * exponent;
  return r > tolerance ? (int)fmax(1, log10 * log10 / 3) : 1;
}

// A direction that gains nothing, (Bp)ᵀC⁻¹r = 0 although r can still be reduced, as happens where B is
// indefinite and A w = Jᵀλ holds exactly, is half of what Luenberger calls a hyperbolic pair: p ← C⁻¹Bp − γp
// is the other.
static void pair(tbCr* c)
{
  double sum[SUMS], *s = c->s;
  tb_cr_apply(&c->system, c->t, c->Bs);
  pass(c, meet, sum);
  c->beta = c->steep != 0 ? sum[0] / c->steep : 0;
  c->s = c->t;
  pass(c, turn, NULL);
  c->s = s;
  tb_cr_precondition(&c->system, c->Bp, c->t);
}

// One step along p. False: there is nothing to gain.
static bool step(tbCr* c)
{
  if (is_minres(c)) {
    bool moved = tb_minres_step(c);
    c->size = tb_cr_residual(c);
    return moved;
  }
  double sum[SUMS];
  pass(c, measure, sum);
  double gain = sum[1], left = sum[2];
  c->steep = sum[0];
  bool worth_it = gain * gain > SLIGHT * fabs(left * c->steep) && c->steep != 0;
  c->alpha = worth_it ? gain / c->steep : 0;
  if (worth_it) pass(c, advance, NULL);
  c->size = tb_cr_residual(c);
  return worth_it;
}

// The next direction, conjugate to the last.
static void conjugate(tbCr* c)
{
  double sum[SUMS];
  if (is_minres(c)) { // which has its own: here for ‖B C⁻¹r‖
    if (!tb_minres_slope_due(c)) return;
    tb_cr_precondition(&c->system, c->r, c->s);
    tb_cr_apply(&c->system, c->s, c->Bs);
    pass(c, meet, sum);
    c->slope = sqrt(sum[1]);
    return;
  }
  tb_cr_apply(&c->system, c->s, c->Bs);
  pass(c, meet, sum);
  c->slope = sqrt(sum[1]);
  c->beta = c->steep != 0 ? sum[0] / c->steep : 0;
  pass(c, turn, NULL);
  tb_cr_precondition(&c->system, c->Bp, c->t);
}

void tb_cr_begin(tbCr* c, tbRun* run, const double* lambda)
{
  const tbProblem* p = run->p;
  c->run = run;
  layout(c, &run->scratch, run->W, run->o);
  run->w = c->w;
  tb_cr_system_begin(&c->system, run);
  weigh(c);
  c->gain = c->tightening = 1;
  c->requested = INFINITY;
  c->mixer.weight = c->system.own;
  tb_anderson_reset(&c->mixer);
  memcpy(c->lambda, lambda, (size_t)p->nrow * sizeof *lambda);
  tb_cr_states_begin(c);
  tb_cr_approach(&c->system, c->lambda, run->w_guess, c->w);
  velocities(c);
  aim(c);
  tb_cr_states_look(c, true);
  refresh(c);
}

static bool look(tbCr* c, bool thorough)
{
  velocities(c);
  memcpy(c->seen, c->lambda, (size_t)c->run->p->nrow * sizeof *c->seen);
  return tb_cr_states_look(c, thorough) != TB_CR_SAME;
}

// Where the next look is due: true when it changed something.
static bool look_on_the_way(tbCr* c)
{
  if (c->run->o->state_changes == TB_STATES_CONVERGED) return false;
  if (++c->wait < interval(c->size, c->r_tolerance) * (1 + c->restarts / PATIENCE)) return false;
  c->wait = 0;
  bool changed = look(c, false);
  c->restarts += changed;
  return changed;
}

typedef enum { GO_ON, RESTART, SOLVED } Next;

// At convergence, or where r cannot be reduced: the same; else all that was asked for is done.
static Next look_at_the_end(tbCr* c, double enough)
{
  bool stuck = c->contradicted = c->size > enough, changed = look(c, true);
  c->contradicted = false;
  c->wait = c->restarts = 0;
  aim(c);
  if (c->restless > 0) c->loose *= 0.5; // states that change for want of accuracy must not go on for ever
  if (changed) return RESTART;
  return c->size <= fmax(c->r_tolerance, c->loose) || stuck ? SOLVED : GO_ON;
}

bool tb_cr_iterate(tbCr* c)
{
  double enough = fmax(c->r_tolerance, c->loose);
  if (c->part == TB_CR_ALL || c->restless < PATIENCE) enough = fmax(enough, 0.3 * c->change);
  bool moved = step(c);
  if (!moved && !is_minres(c) && c->slope > FLAT * enough) {
    pair(c);
    moved = step(c);
  }
  Next next = GO_ON;
  if (c->alpha > 0 && look_on_the_way(c)) next = RESTART;
  else if (c->size <= enough || !moved) next = look_at_the_end(c, enough);
  if (next == GO_ON && moved) {
    conjugate(c);
    if (c->slope <= FLAT * enough) next = look_at_the_end(c, enough);
  }
  if (next == SOLVED || (next == RESTART && ++c->changes % RENEW == 0)) refresh(c);
  else if (next == RESTART) restart(c);
  return next == SOLVED;
}

void tb_cr_turn_to(tbCr* c, tbCrPart part, const double* impulses)
{
  size_t bytes = (size_t)c->run->p->nrow * sizeof *impulses;
  velocities(c);
  memcpy(c->seen, c->lambda, bytes);
  memcpy(c->lambda, impulses, bytes);
  c->part = part;
  c->wait = c->restarts = c->restless = c->quiet = 0;
  c->change = c->unrest = 0;
  c->settled = false;
  tb_anderson_reset(&c->mixer);
  tb_cr_states_enter(c);
  tb_cr_system_follow(&c->system);
  restart(c);
  aim(c);
}

// ε₁ is on the safe side, the more so the stiffer the bodies: a residual is taken to move their masses. Where
// the last answer of the judge, with what has been gained since, would do, or r and the changes at the last
// look are small anyway, the judge may be satisfied already.
void tb_cr_request_check(tbCr* c, double error)
{
  double expected = c->asked > 0 ? c->run->last_number * error / c->asked : INFINITY;
  bool near = error <= HOPE * c->r_tolerance || expected <= LIKELY;
  if (!near || !(error <= 0.5 * c->requested)) return;
  c->requested = error;
  tb_run_judge_next(c->run);
}

// What contacts are given only when it is looked at.
typedef struct {
  const tbCr* c;
  double* lambda;
} Publisher;

static void publish(void* user)
{
  const Publisher* p = user;
  tb_cr_states_publish(p->c, p->lambda);
}

void tb_cr(tbRun* run, double* lambda)
{
  tbCr c = {0};
  Publisher publisher = {&c, lambda};
  double error = 0;
  tb_cr_begin(&c, run, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    run->publish = publish, run->publisher = &publisher; // from the first iteration on
    if (k > 0 && run->last_check == k) c.asked = c.requested = error;
    if (tb_cr_iterate(&c)) {
      tb_run_judge_next(run);
      c.tightening = fmax(0.1 * c.tightening, 1e-8);
    }
    error = sqrt(c.size * c.size + c.unrest);
    tb_cr_request_check(&c, error);
  }
  run->publish = NULL;
}
