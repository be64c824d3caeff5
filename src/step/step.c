// SPDX-License-Identifier: Apache-2.0
// One step:
//
//   prepare    contacts are found between bodies that move as if nothing touched them; what strikes bounces;
//              A (v⁺ − v_free) = Jᵀλ,  u = J v⁺ + b  is assembled
//   solve      law(u_k, λ_k) for every contact k; the judge says how well
//   advance    positions follow the velocities
//   project    overlaps are taken out of the positions, if asked
//
// What each phase does is the scheme's (schemes.c). Its time goes to the report, by tb_step_clock. Until a
// phase can no longer fail the world is left alone.
#include "step/events.h"
#include "step/loads.h"
#include "step/scheme.h"
#include "step/substeps.h"

#include "base/clock.h"
#include "base/stop.h"

#include <string.h>

enum { HALVINGS = 4, PATIENCE = 4 };

static const void* state_of(const tbWorld* w, const tbSchemeMethod* method)
{
  return w->state_kind == method->state ? w->state : NULL;
}

static void end_step(tbContext* ctx, const tbSchemeMethod* method, tbStepWork* work)
{
  if (method->end) method->end(ctx, work);
  if (work->next) method->state->free(ctx, work->next);
  tb_step_end(ctx, work);
}

// What this step keeps takes the place of what the last one did.
static void keep_state(tbContext* ctx, const tbSchemeMethod* method, tbStepWork* work, tbWorld* w)
{
  if (w->state_kind && !w->cache->state_lent) w->state_kind->free(ctx, w->state);
  w->cache->state_lent = false;
  w->state_kind = work->next ? method->state : NULL;
  w->state = work->next;
  work->next = NULL;
}

// Projection may fail after bodies have moved: both work on a copy of what they change, which becomes the
// world's when all has gone well.
static tbStatus advance_and_project(tbContext* ctx, const tbSchemeMethod* method, tbWorld* w,
                                    const tbStepOptions* o, tbStepWork* work, tbStepReport* report)
{
  tbWorld next = *w;
  next.body = TB_ARRAY(tbBody), next.joint = TB_ARRAY(tbJoint), next.contact = TB_ARRAY(tbContactRecord);
  tbStatus status = tb_array_push(ctx, &next.body, w->body.data, w->body.count);
  if (status == TB_OK) status = tb_array_push(ctx, &next.joint, w->joint.data, w->joint.count);
  if (status == TB_OK) {
    method->advance(ctx, o, work, &next, report);
    status = tb_project_positions(ctx, &next, o, work->begun, report);
  }
  tbWorld old = next;
  if (status == TB_OK) old = *w, *w = next;
  tb_array_free(ctx, &old.body);
  tb_array_free(ctx, &old.joint);
  tb_array_free(ctx, &old.contact);
  return status;
}

// *too_long, unless null: it misses what it aims at. The world is left alone then.
static tbStatus try_step(tbContext* ctx, tbWorld* w, const tbStepOptions* o, const tbTouching* before,
                         bool* too_long, tbStepReport* report)
{
  TB_TRY(tb_check_interrupt(ctx));
  const tbSchemeMethod* method = tb_scheme_find(o->scheme)->method;
  w->cache->scratch.ctx = ctx;
  tb_arena_reset(&w->cache->scratch);
  tbStepWork work = {.arena = &w->cache->scratch, .cache = w->cache, .state = state_of(w, method)};
  tbStatus status = method->prepare(ctx, w, o, &work, report);
  if (status == TB_OK) status = method->solve(ctx, w, o, &work, report);
  if (status == TB_OK && too_long && work.too_long) {
    *too_long = true;
    end_step(ctx, method, &work);
    return TB_OK;
  }
  report->parts = 1;
  double clock = tb_seconds();
  tbEventSearch events;
  if (before) work.before = *before;
  if (status == TB_OK)
    status = tb_events_begin(ctx, work.arena, w, work.records.count, &work.before, &events);
  if (status == TB_OK && o->stabilization == TB_STABILIZE_PROJECTION && !method->parts)
    status = advance_and_project(ctx, method, w, o, &work, report);
  else if (status == TB_OK) method->advance(ctx, o, &work, w, report);
  if (status == TB_OK) {
    keep_state(ctx, method, &work, w);
    if (work.assembly.problem) tb_joint_reactions(&work.assembly, o, w);
    tb_events_end(&events, w, &work.after);
  }
  tb_step_clock(report, TB_PHASE_INTEGRATE, &clock);
  end_step(ctx, method, &work);
  return status;
}

static tbStatus take_step(tbContext* ctx, tbWorld* w, const tbStepOptions* o, const tbTouching* before,
                          int level, tbStepReport* report)
{
  (void)level;
  return try_step(ctx, w, o, before, NULL, report);
}

// A step that may be halved `level` times. Newton's method is given a share of its iterations where it may.
static tbStatus take_halved(tbContext* ctx, tbWorld* w, const tbStepOptions* o, const tbTouching* before,
                            int level, tbStepReport* report)
{
  if (level == 0) return try_step(ctx, w, o, before, NULL, report);
  tbStepOptions whole = *o;
  whole.newton_iterations = (o->newton_iterations + PATIENCE - 1) / PATIENCE;
  tbStepReport own = *report;
  bool too_long = false;
  TB_TRY(try_step(ctx, w, &whole, before, &too_long, &own));
  if (!too_long) {
    *report = own;
    return TB_OK;
  }
  report->iterations = own.iterations;
  memcpy(report->phase_s, own.phase_s, sizeof report->phase_s);
  return tb_substeps_take(ctx, w, o, 2, before, take_halved, level - 1, report);
}

static int substeps_of(const tbStepOptions* o)
{
  return tb_scheme_find(o->scheme)->method->substeps ? tb_step_substeps(o, 1) : 1;
}

static tbStatus take_substeps(tbContext* ctx, tbWorld* w, const tbStepOptions* o, tbStepReport* report)
{
  int count = substeps_of(o);
  if (tb_scheme_find(o->scheme)->method->halves) return take_halved(ctx, w, o, NULL, HALVINGS, report);
  if (count == 1) return take_step(ctx, w, o, NULL, 0, report);
  return tb_substeps_take(ctx, w, o, count, NULL, take_step, 0, report);
}

// Energies hold squares: with masses and moduli below 1e200 none overflows before a coordinate or a speed is
// beyond 1e50, and only then they are added up.
static bool energy_overflows(const tbWorld* w)
{
  double largest = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    largest = fmax(largest, fmax(tb_dot3(b->x, b->x), fmax(tb_dot3(b->v, b->v), tb_dot3(b->w, b->w))));
  }
  if (largest < 1e100) return false;
  tbEnergy e = tb_world_energy(w);
  return !isfinite(e.kinetic) || !isfinite(e.potential) || !isfinite(e.elastic);
}

static tbStatus take_loaded(tbContext* ctx, tbWorld* w, const tbStepOptions* o, tbStepReport* report)
{
  tbStepLoads loads;
  tbStatus status = tb_step_loads_begin(ctx, w->cache, w, o, &loads);
  if (status == TB_OK) {
    status = take_substeps(ctx, w, o, report);
    if (status == TB_OK) tb_step_loads_done(&loads, o, w);
    else tb_step_loads_restore(&loads, w);
  }
  tb_step_loads_free(ctx, &loads);
  return status;
}

// The wish to cancel is the whole step's: every phase hears of it through the context, and solves that it
// ends fail instead of answering. The budget is that of all solves together.
tbStatus tb_world_step(tbContext* ctx, tbWorld* w, const tbStepOptions* options, tbStepReport* report)
{
  TB_TRY(tb_step_check(ctx, w, options));
  tbStepOptions o = *options;
  tbStepReport own = {.outcome = TB_CONVERGED, .used = o.solver.solver};
  double left = o.budget_s;
  tbStop stop;
  tb_stop_begin(&stop, ctx, o.solver.cancelled, o.solver.cancelled_user, 0);
  o.solver.cancelled = NULL;
  if (o.budget_s > 0) o.solver.time_left_s = &left;
  tbInterrupt outer = ctx->interrupt;
  ctx->interrupt = tb_stop_interrupt(&stop);
  tbCache* cache = w->cache; // the world's own, whatever becomes of the step
  cache->ccd = o.ccd;
  tbContext pooled = tb_pool_begin(&cache->pool, ctx);
  tbStatus status = take_loaded(&pooled, w, &o, &own);
  tb_pool_end(&cache->pool, &pooled, ctx);
  ctx->interrupt = outer;
  if (status == TB_OK && energy_overflows(w)) own.overflow = true, own.outcome = TB_FAILED;
  if (status == TB_OK) tb_step_tell(ctx, w, &own);
  if (status == TB_OK && report) *report = own;
  return status;
}

static tbStatus copy_guess(tbContext* ctx, const tbAssembly* a, double** out)
{
  size_t rows = (size_t)a->problem->nrow;
  *out = TB_NEW(ctx, double, rows);
  if (!*out) return TB_ERROR_MEMORY;
  memcpy(*out, a->lambda, rows * sizeof(double));
  return TB_OK;
}

static tbStatus problem_of(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbProblem** out,
                           double** lambda)
{
  const tbSchemeMethod* method = tb_scheme_find(o->scheme)->method;
  tbCache cache; // the world's is not touched
  tb_cache_init(&cache, ctx);
  cache.ccd = o->ccd, cache.apart = true;
  tbStepWork work = {.arena = &cache.scratch, .cache = &cache, .state = state_of(w, method)};
  tbStepReport report = {0};
  tbStatus status = method->prepare(ctx, w, o, &work, &report);
  if (status == TB_OK && method->publish) status = method->publish(ctx, w, o, &work, &report);
  if (status == TB_OK && lambda) status = copy_guess(ctx, &work.assembly, lambda);
  if (status == TB_OK) {
    *out = work.assembly.problem;
    work.assembly.problem = NULL;
  }
  end_step(ctx, method, &work);
  tb_cache_free(ctx, &cache);
  return status;
}

// A world with the same description and state, whose forces and records may change.
static tbStatus copy_loaded(tbContext* ctx, tbArena* arena, const tbWorld* w, tbWorld* out)
{
  *out = *w;
  out->body = TB_ARRAY(tbBody), out->contact = TB_ARRAY(tbContactRecord);
  TB_TRY(tb_array_push(ctx, &out->body, w->body.data, w->body.count));
  TB_TRY(tb_array_push(ctx, &out->contact, w->contact.data, w->contact.count));
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(out)[i];
    if (b->kind->own_forces) TB_TRY(b->kind->own_forces(arena, b));
  }
  return TB_OK;
}

tbStatus tb_world_problem(tbContext* ctx, const tbWorld* w, const tbStepOptions* options, tbProblem** out,
                          double** lambda)
{
  TB_TRY(tb_step_check(ctx, w, options));
  tbStepOptions first = *options; // of several substeps, the first
  first.dt /= substeps_of(options);
  if (!tb_step_has_loads(w)) return problem_of(ctx, w, &first, out, lambda);
  tbCache cache;
  tb_cache_init(&cache, ctx);
  tbWorld loaded;
  tbStepLoads loads = {0};
  tbStatus status = copy_loaded(ctx, &cache.scratch, w, &loaded);
  if (status == TB_OK) {
    status = tb_step_loads_begin(ctx, &cache, &loaded, options, &loads);
    if (status == TB_OK) status = problem_of(ctx, &loaded, &first, out, lambda);
    tb_step_loads_free(ctx, &loads);
  }
  tb_array_free(ctx, &loaded.body);
  tb_array_free(ctx, &loaded.contact);
  tb_cache_free(ctx, &cache);
  return status;
}
