// SPDX-License-Identifier: Apache-2.0
// Implicit springs: a step is the minimum of masses, elasticity and the potential of its springs where it
// ends (src/descent/relaxed.h), found by Newton's method. What deformable surfaces run into on the way there
// becomes a contact, and the minimum is found again.
#include "step/penalty.h"
#include "step/trim.h"

#include "base/stop.h"

static const double LENGTH = 1e-3; // m: L of springs that are not linear, where it is not given

enum { ROUNDS = 8 }; // of looking for what meets on the way

// Linear springs whose stiffness is left to be chosen (without joints, which explicit steps keep rigid).
// Explicit ones that a step resolves give way to the weight by ten times what it falls in one, and blocks
// slide through that.
static bool is_left_open(const tbStepOptions* o)
{
  bool holds = o->penalty_friction == TB_PENALTY_ANCHORS && !(o->descent.friction_stiffness > 0);
  return !(o->penalty_stiffness > 0) && (holds || o->penalty_friction == TB_PENALTY_RELAXED) &&
         o->penalty_spring == TB_SPRING_POWER && o->penalty_exponent == 1 && o->penalty_recede == 1;
}

bool tb_penalty_is_implicit(const tbWorld* w, const tbStepOptions* o)
{
  if (o->penalty_time != TB_PENALTY_AUTO) return o->penalty_time == TB_PENALTY_IMPLICIT;
  return tb_first_deforming(w) >= 0 || (is_left_open(o) && w->joint.count == 0);
}

// The potential of the springs, pressed as they are where the step ends, for the descent of primal: all of a
// gap counts, friction is relaxed, and Newton's method goes to its minimum.
static tbStepOptions implicit_of(const tbStepOptions* o)
{
  tbStepOptions own = *o;
  double k = o->penalty_stiffness, p = o->penalty_exponent,
         length = o->penalty_length > 0 ? o->penalty_length : LENGTH;
  own.descent.preconditioner = TB_DESCENT_NEWTON;
  own.descent.relaxation = 0, own.descent.acceleration = TB_ACCELERATE_NONE;
  own.descent.balanced = true;
  own.descent.contact_exponent = p + 1;
  own.descent.contact_stiffness = k;
  if (k > 0 && p > 1) own.descent.contact_stiffness = k * tb_exp((1 - p) * tb_ln(length));
  return own;
}

// All of a gap, and of an overlap, counts at the end of the step.
void tb_penalty_take_gaps(const tbStepOptions* o, tbArray* constraints)
{
  tbContactConstraint* t = constraints->data;
  for (size_t i = 0; i < constraints->count; i++)
    if (t[i].impact < 0 && !(t[i].compliance[0] > 0))
      t[i].bias[0] = t[i].left > 0 ? t[i].gap_left / t[i].left : t[i].point.gap / o->dt;
}

// Constraints of the deformable surfaces of an implicit step: all of their gaps count, too.
static tbStatus soft_constraints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  tbRelaxedSoft* soft = work->own;
  size_t first = work->constraints.count;
  TB_TRY(tb_soft_contact_constraints(ctx, w, o, &soft->surfaces, soft->clearance, &soft->soft_contacts,
                                     &work->constraints));
  for (size_t i = first; i < work->constraints.count; i++) {
    tbContactConstraint* t = (tbContactConstraint*)work->constraints.data + i;
    tbSoftContactDistance keep = tb_soft_contact_distance(&soft->surfaces, t->surface, soft->clearance);
    if (!(t->compliance[0] > 0)) t->bias[0] = (t->point.gap - keep.radius - keep.clearance) / o->dt;
  }
  return TB_OK;
}

tbStatus tb_penalty_assemble(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  const tbRelaxedSoft* soft = work->own;
  return tb_assemble(ctx, work->arena, w, o, TB_ASSEMBLE_VELOCITIES, work->unconstrained, work->centre,
                     soft->step, work->constraints.data, (int)work->constraints.count, &work->assembly);
}

tbStatus tb_penalty_implicit_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  size_t first = work->constraints.count;
  TB_TRY(tb_relaxed_soft_begin(ctx, w, o, work, work->own));
  work->constraints.count = first;
  return soft_constraints(ctx, w, o, work);
}

static tbStatus descend(tbContext* ctx, tbRelaxedRun* run)
{
  tbRelaxedDescent r;
  TB_TRY(tb_relaxed_descent_begin(ctx, run, &r));
  TB_TRY(tb_descent_run(ctx, run->arena, &r.descent));
  return tb_relaxed_descent_end(ctx, run, &r);
}

// Takes what meets on the way as contacts, too. *again: there is something new.
static tbStatus look(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, int rigid,
                     bool* again)
{
  tbRelaxedSoft* soft = work->own;
  *again = false;
  bool as_before = work->constraints.count == (size_t)rigid + soft->soft_contacts.count;
  if (!soft->step || !as_before) return TB_OK;
  TB_TRY(tb_surfaces_look(ctx, &soft->surfaces, soft->clearance, &soft->candidates, &soft->met));
  if (soft->met.count == 0) return TB_OK;
  tb_soft_contact_learn(&work->assembly, rigid, &soft->soft_contacts);
  TB_TRY(tb_soft_contact_absorb(ctx, w, &soft->surfaces, work->pose,
                                (tbSoftContactMet){.clearance = soft->clearance}, &soft->met,
                                &soft->soft_contacts, again));
  if (!*again) return TB_OK;
  tb_step_forget(ctx, work);
  work->constraints.count = (size_t)rigid, work->records.count = 0;
  TB_TRY(soft_constraints(ctx, w, o, work));
  return tb_penalty_assemble(ctx, w, o, work);
}

// The minimum, and again with what it runs into, a few times, while there is time.
tbStatus tb_penalty_minimise(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int rigid,
                             tbStepWork* work, tbStepReport* report)
{
  const tbStepReport before = *report;
  tbStepOptions own = implicit_of(o);
  double deadline = tb_step_deadline(o, work->begun);
  bool again = true;
  for (int round = 0; again; round++) {
    report->outcome = before.outcome, report->residual = before.residual;
    TB_TRY(tb_relaxed_solve(ctx, w, &own, descend, "penalty", work, report));
    if (round == ROUNDS || tb_is_late(deadline)) break;
    TB_TRY(look(ctx, w, o, work, rigid, &again));
  }
  return TB_OK;
}
