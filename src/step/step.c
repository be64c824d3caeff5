// Moving a world through time: options are checked, the scheme takes its step, positions are projected if
// asked.
#include "step/scheme.h"

#include "base/clock.h"
#include "base/stop.h"
#include "base/text.h"

#include <string.h>

enum {
  JOINTS = 1 << TB_LAW_BILATERAL | 1 << TB_LAW_NONNEG | 1 << TB_LAW_BOX, // their rows, limits and motors
  CONTACTS = 1 << TB_LAW_NONNEG | 1 << TB_LAW_COULOMB | 1 << TB_LAW_ELLIPTIC | 1 << TB_LAW_CONTENSOU |
             1 << TB_LAW_ROLLING, // as rows.c chooses them
};

static const tbScheme schemes[] = {
    {.name = "semi-implicit",
     .summary = "velocity level, one problem per step; overlaps pushed out or projected",
     .reference = "Stewart and Trinkle 1996; Anitescu and Potra 1997; course §1",
     .step = tb_semi_implicit_step,
     .laws = JOINTS | CONTACTS,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "moreau",
     .summary = "Moreau's midpoint rule, restitution inside the contact law",
     .reference = "Moreau 1988; course, proximal chapter",
     .step = tb_moreau_step,
     .laws = JOINTS | CONTACTS},
    {.name = "penalty",
     .summary =
         "springs and dampers at the contacts, friction by anchors; a solver for joints and impacts alone",
     .reference = "Cundall and Strack 1979; course §2",
     .step = tb_penalty_step,
     .laws = JOINTS,
     .impact_laws = JOINTS | CONTACTS},
    {.name = "implicit",
     .summary = "deformable bodies with rigid ones: implicit elasticity, contacts found until nothing meets",
     .reference = "Verschoor and Jalba 2019; course §1.10, §2.2",
     .step = tb_implicit_step,
     .laws = JOINTS | CONTACTS,
     .impact_laws = JOINTS | CONTACTS,
     .deforms = true},
};

int tb_scheme_count(void) { return (int)(sizeof schemes / sizeof *schemes); }
const tbScheme* tb_scheme_at(int index) { return &schemes[index]; }

const tbScheme* tb_scheme_find(const char* name)
{
  for (int i = 0; i < tb_scheme_count(); i++)
    if (strcmp(schemes[i].name, name) == 0) return &schemes[i];
  return NULL;
}

tbFit tb_scheme_fit(const tbScheme* scheme, const tbSolver* solver)
{
  tbFit fit = {0};
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    if (!(scheme->laws & 1u << law)) continue;
    unsigned models = tb_solver_models(solver, (tbLaw)law);
    if (models & 1u << TB_MODEL_CONE) fit.exact |= 1u << law;
    else if (models) fit.modelled |= 1u << law;
    else fit.refused |= 1u << law;
  }
  return fit;
}

const char* tb_stabilization_name(tbStabilization kind)
{
  static const char* const names[TB_STABILIZE_COUNT] = {"baumgarte", "compliance", "projection", "none"};
  return (unsigned)kind < TB_STABILIZE_COUNT ? names[kind] : "?";
}

tbStepOptions tb_default_step_options(void)
{
  tbSolveOptions solver = tb_default_solve_options();
  solver.tolerance = 0;
  solver.velocity_tolerance = TB_VELOCITY_TOLERANCE;
  return (tbStepOptions){.scheme = "semi-implicit",
                         .dt = 0.01,
                         .solver = solver,
                         .warm_start = true,
                         .stabilization = TB_STABILIZE_BAUMGARTE,
                         .fraction = 0.2,
                         .stiffness = 1e6,
                         .damping = 1e3,
                         .restitution_speed = -1,
                         .penalty_damping = 0.5,
                         .rounds = 30};
}

static bool at_least(double x, double least) { return x >= least && isfinite(x); }

static tbStatus check(tbContext* ctx, const tbWorld* w, const tbStepOptions* o)
{
  if (!tb_scheme_find(o->scheme)) {
    tbNearest near = tb_nearest(o->scheme);
    for (int i = 0; i < tb_scheme_count(); i++) tb_nearest_offer(&near, schemes[i].name);
    if (near.name)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no scheme \"%s\"; did you mean \"%s\"?", o->scheme,
                     near.name);
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no scheme \"%s\"", o->scheme);
  }
  if (w->deformable.count > 0 && !tb_scheme_find(o->scheme)->deforms)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the scheme %s moves rigid bodies only; \"%s\" needs implicit",
                   o->scheme, tb_bodies(w)[tb_deformables(w)[0].body].name);
  if (w->deformable.count > 0 && o->stabilization == TB_STABILIZE_PROJECTION)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "projection moves rigid bodies only, and would push them into \"%s\"",
                   tb_bodies(w)[tb_deformables(w)[0].body].name);
  if (!at_least(o->clearance, 0) || o->rounds < 1)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "clearance must not be negative, and rounds at least 1");
  if (!at_least(o->budget_s, 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the budget of a step must not be negative");
  if (!at_least(o->dt, 1e-12)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "dt must be positive");
  if ((unsigned)o->stabilization >= TB_STABILIZE_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no such stabilization");
  if (!at_least(o->fraction, 0) || o->fraction > 1)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "fraction must be between 0 and 1");
  if (!at_least(o->slop, 0) || !at_least(o->margin, 0) || !at_least(o->compliance, 0))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "slop, margin and compliance must not be negative");
  if (o->stabilization == TB_STABILIZE_COMPLIANCE &&
      (!at_least(o->stiffness, 1e-300) || !at_least(o->damping, 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "stiffness must be positive, and damping not negative");
  if (!at_least(o->penalty_stiffness, 0) || !at_least(o->penalty_damping, 0) || isnan(o->restitution_speed))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "penalty stiffness and damping must not be negative");
  return TB_OK;
}

// A step and the projection after it. Both may fail, and the step has moved the world by then: so they work
// on a copy of what they change, which becomes the world's when all has gone well.
static tbStatus step_and_project(tbContext* ctx, tbWorld* w, const tbStepOptions* o, tbStepReport* report)
{
  double begun = tb_seconds();
  tbWorld next = *w;
  next.body = TB_ARRAY(tbBody), next.joint = TB_ARRAY(tbJoint), next.contact = TB_ARRAY(tbContactRecord);
  tbStatus status = tb_array_push(ctx, &next.body, w->body.data, w->body.count);
  if (status == TB_OK) status = tb_array_push(ctx, &next.joint, w->joint.data, w->joint.count);
  if (status == TB_OK) status = tb_array_push(ctx, &next.contact, w->contact.data, w->contact.count);
  if (status == TB_OK) status = tb_scheme_find(o->scheme)->step(ctx, &next, o, report);
  double clock = tb_seconds();
  if (status == TB_OK) status = tb_project_positions(ctx, &next, o, begun, report);
  tb_step_clock(report, TB_PHASE_INTEGRATE, &clock);
  w->scratch = next.scratch, w->surface = next.surface; // they may have grown either way
  tbWorld old = next;
  if (status == TB_OK) old = *w, *w = next;
  tb_array_free(ctx, &old.body);
  tb_array_free(ctx, &old.joint);
  tb_array_free(ctx, &old.contact);
  return status;
}

static tbStatus take_step(tbContext* ctx, tbWorld* w, const tbStepOptions* o, tbStepReport* report)
{
  TB_TRY(tb_check_interrupt(ctx));
  w->scratch.ctx = ctx;
  tb_arena_reset(&w->scratch);
  if (o->stabilization == TB_STABILIZE_PROJECTION) return step_and_project(ctx, w, o, report);
  return tb_scheme_find(o->scheme)->step(ctx, w, o, report);
}

// The wish to cancel is the whole step's: every phase hears of it through the context, and solves that it
// ends fail instead of answering. The budget is that of all solves together.
tbStatus tb_world_step(tbContext* ctx, tbWorld* w, const tbStepOptions* options, tbStepReport* report)
{
  TB_TRY(check(ctx, w, options));
  tbStepOptions o = *options;
  tbStepReport own = {.outcome = TB_CONVERGED, .used = o.solver.solver};
  double left = o.budget_s;
  tbStop stop;
  tb_stop_begin(&stop, ctx, o.solver.cancelled, o.solver.cancelled_user, 0);
  o.solver.cancelled = NULL;
  if (o.budget_s > 0) o.solver.time_left_s = &left;
  tbInterrupt outer = ctx->interrupt;
  ctx->interrupt = tb_stop_interrupt(&stop);
  tbStatus status = take_step(ctx, w, &o, &own);
  ctx->interrupt = outer;
  if (status == TB_OK && report) *report = own;
  return status;
}

tbStatus tb_world_problem(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbProblem** out,
                          double** lambda)
{
  TB_TRY(check(ctx, w, o));
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStepWork work = {0};
  tbStepReport report = {0};
  tbStatus status;
  if (strcmp(o->scheme, "moreau") == 0) status = tb_moreau_problem(ctx, &arena, w, o, &work, &report);
  else if (strcmp(o->scheme, "implicit") == 0)
    status = tb_implicit_problem(ctx, &arena, w, o, &work, &report);
  else status = tb_semi_implicit_problem(ctx, &arena, w, o, &work, &report);
  if (status == TB_OK && lambda) {
    size_t rows = (size_t)work.assembly.problem->nrow;
    *lambda = TB_NEW(ctx, double, rows);
    if (!*lambda) status = TB_ERROR_MEMORY;
    else memcpy(*lambda, work.assembly.lambda, rows * sizeof(double));
  }
  if (status == TB_OK) {
    *out = work.assembly.problem;
    work.assembly.problem = NULL;
  }
  tb_step_end(ctx, &work);
  tb_arena_free(&arena);
  return status;
}
