// SPDX-License-Identifier: Apache-2.0
// Implicit time stepping for deformable bodies, collision free (Verschoor and Jalba 2019, algorithm 1;
// course, chapters 1.10 and 2.2).
//
//   A (v⁺ − v_free) = Jᵀλ,   law(u, λ) with u = J v⁺ + b,   x⁺ = x + h v⁺,      A = M + hB + h²K
//
// for deformable bodies, with rigid ones as in semi_implicit.c beside them in the same problem. Which
// features of which surfaces will touch is not known before the velocities are. So contacts are found in
// rounds:
//
//   solve with the contacts known so far; move every vertex from x to x + h v⁺; whatever meets on the way
//   becomes a contact, linearised at the first moment of impact; again, until nothing meets
//
// Where contacts are is known long before what they do. Where solving is expensive, rounds are solved roughly
// until they find no new one, and from then on as well as asked for.
//
// The search for candidates, boxes that hold three times the motion, is made once, and again only for
// surfaces of which a vertex leaves its box. That nothing meets is proved by continuous collision detection
// that cannot miss: surfaces that were apart are apart after the step. Should the rounds not end, bodies that
// would pass through each other go only a share of the step, and the report says so. What is driven goes
// where it is told: pins pushed into what does not move cross it, and a step that ends with crossings,
// whatever they come from, has failed.
//
// First order. One step of Newton's method for elasticity: K is that of the start; with `newton_steps` as
// many as it takes (implicit_newton.c), each with its rounds, in one of four forms (`formulation`).
// Restitution between rigid bodies only. Cost: a factor of A (or conjugate gradients, for large bodies), and
// a few contact problems per step.
#include "step/count.h"
#include "step/foresee.h"
#include "step/impacts.h"
#include "step/implicit_newton.h"
#include "step/inner.h"
#include "step/relaxed.h"
#include "step/scheme.h"
#include "step/soft_contact.h"
#include "step/trim.h"

#include "base/clock.h"
#include "base/stop.h"
#include "problem/judge.h"

#include <string.h>

static const double ROUGH = 10; // times the tolerance, while contacts are still found

static const double WORSE = 2; // E/‖q‖ of impulses that are worse than none

enum {
  TURNS = 4, // rounds for the sake of normals alone
  ANEW = 20  // and of gaps, where they are those of the end
};

typedef struct {
  tbSurfaces surfaces;
  tbSurfaceCandidates candidates;
  tbBodyStep* step;
  tbArray soft_contacts; // tbSoftContact
  tbArray met;           // tbSurfaceContact
  double clearance;
  double deadline; // of the rounds, on the clock; 0: none
  double ease;     // of the tolerances asked for, that a round is solved to
  bool rough;      // it was, and is nowhere near them
  bool last;       // no round can follow
  bool useless;    // the impulses found are worse than none, and none are taken
} Rounds;

static tbStatus begin_rounds(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             Rounds* r)
{
  TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  return tb_surfaces_ahead(ctx, w, o, work, r->step, &r->surfaces, &r->clearance);
}

static tbStatus find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbTransform* pose,
                     Rounds* r)
{
  double reach = fmax(6 * r->clearance + tb_norm3(w->gravity) * o->dt * o->dt, o->margin);
  reach += tb_soft_contact_coat(w, &r->surfaces);
  TB_TRY(tb_surface_find(ctx, &r->surfaces.scene, reach, TB_SURFACES_AHEAD, &r->candidates));
  return tb_soft_contact_begin(ctx, w, o, &r->surfaces, pose, &r->candidates, r->clearance,
                               &r->soft_contacts);
}

// A solver that was stopped on its way may leave impulses that throw bodies about, through everything: then
// bodies fly freely, as far as they can. E is at most the contacts' velocities, and without impulses these
// are q: a multiple of ‖q‖ says so.
static tbStatus discard(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, Rounds* r,
                        tbStepReport* report)
{
  tbAssembly* a = &work->assembly;
  if (!work->judge || report->outcome == TB_CONVERGED || !(a->residual.natural_map > WORSE)) return TB_OK;
  r->useless = true;
  memset(a->lambda, 0, (size_t)a->problem->nrow * sizeof *a->lambda);
  TB_TRY(tb_assembly_judge(ctx, o, work->judge, a));
  report->residual = tb_worse_residual(&work->impacts, &a->residual);
  return TB_OK;
}

// What a round may spend: the caller's budgets are those of the step, not of a round. Half of what is left,
// and all of it where no other round can follow. False: nothing is left.
static bool budget_left(const tbStepOptions* o, const Rounds* r, const tbStepReport* report,
                        tbSolveOptions* out)
{
  double part = r->last ? 1 : 0.5;
  *out = o->solver;
  out->max_iterations = (int)ceil(part * fmax(o->solver.max_iterations - report->iterations, 0));
  double left = r->deadline - tb_seconds();
  if (r->deadline > 0) out->time_budget_s = fmax(part * left, 1e-6); // 0 would be no budget at all
  return out->max_iterations > 0 && !tb_is_late(r->deadline);
}

static bool is_cancelled(const tbStepOptions* o)
{
  return o->solver.cancelled && o->solver.cancelled(o->solver.cancelled_user);
}

static tbStatus solve_once(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                           tbStepWork* work, Rounds* r, tbStepReport* report)
{
  tbStepOptions own = *o;
  budget_left(o, r, report, &own.solver);
  double clock = tb_seconds();
  tb_step_forget(ctx, work);
  work->constraints.count = (size_t)rigid;
  TB_TRY(tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints));
  TB_TRY(tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     r->step, work->constraints.data, (int)work->constraints.count, &work->assembly));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  work->records.count = 0;
  tbSolveOptions eased = own.solver;
  eased.tolerance *= r->ease, eased.tolerance_q *= r->ease, eased.velocity_tolerance *= r->ease;
  bool deforms = tb_first_deforming(w) >= 0; // and never comes quite to rest
  if (deforms && o->warm_start && !(eased.aim > 0)) eased.aim = 1;
  if (deforms && o->formulation == TB_FORM_PRIMAL) TB_TRY(tb_relaxed_root(ctx, w, &own, work, report));
  else TB_TRY(tb_step_solve(ctx, &own, &eased, !deforms, work, report));
  r->rough = r->ease > 1 && work->assembly.problem->ncontact > 0 && report->outcome != TB_CONVERGED;
  TB_TRY(discard(ctx, o, work, r, report));
  for (int i = 0; i < rigid; i++) {
    tbContactConstraint* t = (tbContactConstraint*)work->constraints.data + i;
    for (int k = 0; k < t->rows; k++)
      t->guess[k] = work->assembly.lambda[work->assembly.problem->row_adr[i] + k];
  }
  tb_soft_contact_learn(&work->assembly, rigid, &r->soft_contacts);
  for (size_t i = 0; r->step && i < w->body.count; i++)
    if (r->step[i].size > 0) r->step[i].v = tb_view_velocity(&work->assembly.view, (int)i);
  return TB_OK;
}

// Solves with the contacts known so far, of which the first `rigid` are between rigid bodies, and again with
// those of inner spheres that would pass through something.
static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int* rigid, tbStepWork* work,
                      Rounds* r, tbStepReport* report)
{
  const tbStepReport before = *report;
  for (int round = 0, added = 1; added > 0; round++) {
    report->outcome = before.outcome, report->residual = before.residual;
    TB_TRY(solve_once(ctx, w, o, *rigid, work, r, report));
    if (round == TB_INNER_ROUNDS || r->useless) break;
    TB_TRY(tb_inner_contacts(ctx, w, o, work, &added));
    *rigid += added;
  }
  for (size_t i = 0; i < w->body.count; i++)
    work->unconstrained[i].lost = 0, work->unconstrained[i].share = 1;
  tb_stop_short(w, o, work);
  return TB_OK;
}

// Whether solving costs more than looking for contacts: a body is too large to factor.
static bool is_expensive(const tbWorld* w, const tbBodyStep* step)
{
  for (size_t i = 0; i < w->body.count; i++)
    if (step[i].expensive) return true;
  return false;
}

// Minima over positions, and roots, have their gaps where the step ends.
static int relinearizations_of(const tbStepOptions* o)
{
  bool at_end = o->formulation == TB_FORM_POSITIONS || o->formulation == TB_FORM_DUAL;
  return at_end && o->relinearizations < ANEW ? ANEW : o->relinearizations;
}

static tbStatus run_rounds(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                           tbStepWork* work, Rounds* r, tbStepReport* report)
{
  tbStepReport before = *report;
  tbSolveOptions left;
  int anew = 0;
  r->last = o->rounds == 1;
  r->ease = r->last || !is_expensive(w, r->step) ? 1 : ROUGH;
  for (int round = 1;; round++) {
    report->outcome = before.outcome, report->residual = before.residual;
    int iterations = report->iterations;
    TB_TRY(solve(ctx, w, o, &rigid, work, r, report));
    bool idle = report->iterations == iterations; // what it started from was good enough
    double clock = tb_seconds();
    tb_surfaces_move(ctx, &work->assembly.view, &r->surfaces);
    TB_TRY(tb_surfaces_look(ctx, &r->surfaces, r->clearance, &r->candidates, &r->met));
    report->rounds = round;
    bool again = false, rough = r->rough;
    bool short_of = report->outcome == TB_MAX_ITERATIONS || report->outcome == TB_TIME;
    if (r->last || is_cancelled(o) || !budget_left(o, r, report, &left)) break;
    if (r->useless && !short_of) break;
    bool gave_up = report->outcome == TB_FAILED && !rough; // on contacts that contradict each other
    if (gave_up) break;                                    // more would not mend them
    if (r->useless) {                                      // from nothing, with all that is left
      r->useless = false, r->last = true, r->ease = 1;
      continue;
    }
    int relinearizations = relinearizations_of(o);
    bool by_gaps = relinearizations > 0;
    if (r->met.count == 0 && anew++ < (by_gaps ? relinearizations : TURNS))
      again = by_gaps ? tb_soft_contact_relinearize(w, &r->surfaces, r->clearance, &r->soft_contacts)
                      : tb_soft_contact_turn(w, &r->surfaces, &r->soft_contacts);
    tbSoftContactMet how = {.rough = rough,
                            .from_impact = o->stick_from_impact,
                            .clearance = r->clearance,
                            .h = o->dt,
                            .slip = idle ? o->solver.velocity_tolerance : 0};
    if (r->met.count > 0)
      TB_TRY(
          tb_soft_contact_absorb(ctx, w, &r->surfaces, work->pose, how, &r->met, &r->soft_contacts, &again));
    tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
    if (!again && !rough && !short_of) break;
    r->last = round + 1 >= o->rounds || (!again && short_of);
    if (!again || r->last) r->ease = 1;
  }
  report->linear_error = tb_soft_contact_linear_error(w, &r->surfaces, &r->soft_contacts);
  return TB_OK;
}

// Rounds with elasticity as it is where the step starts; then, as often as is asked for and needed, as it is
// where they ended.
static tbStatus run_newton(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                           tbStepWork* work, Rounds* r, tbStepReport* report)
{
  tbStepReport before = *report;
  tbImplicitNewton newton;
  tbSolveOptions left;
  if (o->newton_steps > 1)
    TB_TRY(tb_implicit_newton_begin(ctx, work, w, o->formulation, o->dt, r->step, &newton));
  for (int k = 1;; k++) {
    report->outcome = before.outcome, report->residual = before.residual;
    TB_TRY(run_rounds(ctx, w, o, rigid, work, r, report));
    if (o->newton_steps == 1) return TB_OK;
    bool last = k == o->newton_steps || is_cancelled(o) || !budget_left(o, r, report, &left) || r->useless;
    TB_TRY(tb_implicit_newton_next(ctx, &newton, &work->assembly.view, o->newton_tolerance, last, r->step,
                                   &report->newton_change));
    report->newton_missed = !(report->newton_change <= o->newton_tolerance);
    if (last || !report->newton_missed) break;
  }
  if (report->newton_missed && report->outcome == TB_CONVERGED)
    report->outcome = tb_is_late(r->deadline) ? TB_TIME : TB_MAX_ITERATIONS;
  return TB_OK;
}

// Contacts between rigid bodies, and their impacts.
static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  Rounds* r = work->own = TB_TAKE(work->arena, Rounds, 1);
  if (!r) return TB_ERROR_MEMORY;
  *r = (Rounds){.soft_contacts = TB_ARRAY(tbSoftContact), .met = TB_ARRAY(tbSurfaceContact), .ease = 1};
  tb_surface_candidates_init(&r->candidates);
  r->candidates.scratch = work->arena;
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tb_hold_attached(w, work->unconstrained);
  TB_TRY(tb_find_contacts(ctx, work->arena, work->cache, w, o, work->unconstrained, work->pose,
                          &work->constraints));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  tb_constraint_laws(w, o, work->constraints.data, (int)work->constraints.count);
  TB_TRY(tb_resolve_impacts(ctx, w, o, work, report));
  tb_constraint_biases(w, o, work->constraints.data, (int)work->constraints.count);
  report->rounds = 1;
  return TB_OK;
}

// All rounds.
static tbStatus solve_rounds(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             tbStepReport* report)
{
  Rounds* r = work->own;
  double clock = tb_seconds();
  int rigid = (int)work->constraints.count;
  r->deadline = tb_step_deadline(o, work->begun);
  r->last = tb_first_deforming(w) < 0;
  if (r->last) return solve(ctx, w, o, &rigid, work, r, report);
  TB_TRY(begin_rounds(ctx, w, o, work, r));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(find(ctx, w, o, work->pose, r));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  TB_TRY(run_newton(ctx, w, o, rigid, work, r, report));
  if (r->met.count == 0) return TB_OK;
  return tb_surfaces_trim(ctx, w, o, work, r->clearance, &r->surfaces, &r->candidates, &r->met, report);
}

// Velocities of a round are as good as its tolerance needs; what is said of the last is exact.
static void certify(const tbStepOptions* o, tbStepWork* work, tbStepReport* report)
{
  tbAssembly* a = &work->assembly;
  if (!work->judge || !tb_judge_is_rough(work->judge)) return;
  tb_judge_accuracy(work->judge, 0);
  tb_judge_measure(work->judge, a->lambda, o->solver.model, o->solver.directions, &a->residual, a->u, NULL);
  tb_judge_contacts(work->judge, a->part);
  report->residual = tb_worse_residual(&work->impacts, &a->residual);
  tb_step_confirm(o, work, report);
}

static tbStatus solve_step(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           tbStepReport* report)
{
  TB_TRY(solve_rounds(ctx, w, o, work, report));
  double clock = tb_seconds();
  certify(o, work, report);
  if (o->formulation == TB_FORM_PRIMAL) tb_step_confirm(o, work, report); // of what is not solved for
  tb_step_note(work, report);
  TB_TRY(tb_surfaces_report(ctx, &((Rounds*)work->own)->surfaces, report));
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

static void advance(tbContext* ctx, const tbStepOptions* o, tbStepWork* work, tbWorld* w,
                    tbStepReport* report)
{
  tb_integrate(ctx, o, work->unconstrained, &work->assembly, w, report);
  tb_step_keep(work, w);
}

// The contacts of the last round, in a problem with memory of its own.
static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  TB_TRY(solve_rounds(ctx, w, o, work, report));
  Rounds* r = work->own;
  tb_step_forget(ctx, work);
  for (size_t i = 0; r->step && i < w->body.count; i++) r->step[i].lent = false;
  return tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     r->step, work->constraints.data, (int)work->constraints.count, &work->assembly);
}

static void end(tbContext* ctx, tbStepWork* work)
{
  Rounds* r = work->own;
  if (!r) return;
  tb_surface_candidates_free(ctx, &r->candidates);
  tb_array_free(ctx, &r->soft_contacts);
  tb_array_free(ctx, &r->met);
}

const tbSchemeMethod tb_implicit = {
    .prepare = prepare, .solve = solve_step, .advance = advance, .publish = publish, .end = end};
