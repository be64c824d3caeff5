// SPDX-License-Identifier: Apache-2.0
// soft-step, the real-time lane: substeps with soft contacts that are relaxed (Macklin et al. 2019, "Small
// steps in physics simulation"; Catto 2024, "Solver2D"; the family of Box2D 3).
//
//   contacts are found once, at the start of the step; then, substep by substep, h_s = h/substeps:
//     v ← v + h_s a + what contacts did in the last substep       one sum per body: A and J stay
//     solve    every contact in turn, overlaps pushed out softly
//     x ← x + h_s v
//     relax    every contact in turn, velocities alone: the push goes no further
//   and what came fast bounces.
//
// One sweep each, batch after batch (soft_step_pack.c), in floats about the start of the step; positions are
// doubles. The velocities at the end are summed anew in doubles from the impulses, so that momentum balances
// to rounding. Nothing is kept from step to step but what every scheme keeps, the contacts' impulses, and
// where bodies may sleep, for how long each has been slow (soft_step_sleep.c).
//
// Cost      linear in contacts; no memory is made once the arrays have grown to their size.
// Limits    a stack settles to its weight over steps, and chains of heavy on light bodies sag: the residual
//           of the judge says by how much.
#include "step/soft_step_work.h"

#include "base/clock.h"
#include "step/count.h"

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  double clock = tb_seconds();
  TB_TRY(tb_step_begin(ctx, w, o, 0, work));
  tbSoftStepWork* s = work->own = TB_TAKE(work->arena, tbSoftStepWork, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->centre = work->centre;
  TB_TRY(tb_soft_step_cache(ctx, work->cache, &s->cache));
  TB_TRY(tb_soft_step_sleep_begin(work->arena, w, o, work, s));
  TB_TRY(tb_soft_step_bodies(ctx, work->arena, w, o->dt, work->unconstrained, s));
  TB_TRY(tb_soft_step_find(ctx, w, o, work, s));
  if (s->woke) TB_TRY(tb_soft_step_bodies(ctx, work->arena, w, o->dt, work->unconstrained, s));
  tb_step_clock(report, TB_PHASE_COLLIDE, &clock);
  report->contacts = s->npoint + s->nkept_record;
  report->penetration = fmax(report->penetration, s->deepest);
  return TB_OK;
}

static tbStatus publish(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  (void)report;
  return tb_soft_step_publish(ctx, w, o, work, work->own, false);
}

static tbStatus judge(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  double clock = tb_seconds();
  if (!work->assembly.problem) TB_TRY(tb_soft_step_publish(ctx, w, o, work, work->own, true));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(tb_assembly_judge(ctx, o, work->judge, &work->assembly));
  report->residual = work->assembly.residual;
  bool ended = report->outcome == TB_CONVERGED; // of a polish that did not: why
  tb_step_confirm(o, work, report);
  if (ended && report->outcome != TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
  tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  return TB_OK;
}

static tbResidual nothing_known(void)
{
  return (tbResidual){.fclib = NAN, .natural_map = NAN, .model = NAN, .velocity = NAN, .model_velocity = NAN};
}

enum { SUBSTEPS = 8 }; // where the options do not say

bool tb_soft_step_uneven(double a, double b)
{
  const double heavier = 30;
  return a > 0 && b > 0 && (a > heavier * b || b > heavier * a);
}

// Heavy bodies on light ones need smaller steps.
static int count_substeps(const tbWorld* w, const tbStepOptions* o, const tbSoftStepWork* s)
{
  bool uneven = s->uneven;
  for (size_t i = 0; i < w->joint.count && !uneven; i++) {
    int a = tb_joints(w)[i].a, b = tb_joints(w)[i].b;
    uneven = a >= 0 && b >= 0 && tb_soft_step_uneven(tb_bodies(w)[a].mass, tb_bodies(w)[b].mass);
  }
  int substeps = tb_step_substeps(o, SUBSTEPS);
  return uneven ? 2 * substeps : substeps;
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  double clock = tb_seconds();
  tbSoftStepWork* s = work->own;
  s->substeps = count_substeps(w, o, s), s->h = o->dt / s->substeps;
  TB_TRY(tb_soft_step_joints_begin(work->arena, w, o, s));
  TB_TRY(tb_soft_step_pack(ctx, work->arena, s));
  TB_TRY(tb_soft_step_spins_begin(work->arena, s));
  tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
  TB_TRY(tb_soft_step_take(ctx, w, o, s));
  report->used = "soft-step", report->iterations = 2 * s->substeps;
  bool any = s->npoint + s->njoint > 0;
  if (o->polish && any) TB_TRY(tb_soft_step_polish(ctx, w, o, work, s, report));
  tb_step_clock(report, TB_PHASE_SOLVE, &clock);
  bool asked = o->certify > 0 && (w->steps + 1) % o->certify == 0;
  if (asked) TB_TRY(judge(ctx, w, o, work, report));
  else if (any) report->outcome = TB_UNJUDGED, report->residual = nothing_known();
  size_t records = (size_t)s->npoint + (size_t)s->nkept_record;
  if (tb_soft_step_records_move(w, s) &&
      !tb_soft_step_room(ctx, &work->records, sizeof(tbContactRecord), records))
    return TB_ERROR_MEMORY;
  work->records.count = records;
  if (!tb_soft_step_room(ctx, &s->cache->touching[0], sizeof(tbBodyPair),
                         (size_t)s->ncontact + (size_t)s->nkept))
    return TB_ERROR_MEMORY;
  return tb_soft_step_sleep_next(ctx, w, s, &work->next);
}

const tbSchemeMethod tb_soft_step = {.prepare = prepare,
                                     .solve = solve,
                                     .advance = tb_soft_step_advance,
                                     .publish = publish,
                                     .parts = true,
                                     .state = &tb_soft_step_state};
