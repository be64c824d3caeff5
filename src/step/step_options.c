// The options of a step: their defaults, and what is asked of them.
#include "step/scheme.h"

#include "base/text.h"

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

// Every body is of a kind that the scheme moves.
static tbStatus check_bodies(tbContext* ctx, const tbWorld* w, const tbScheme* scheme)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    unsigned needed = b->kind->framed ? TB_MOVES_FRAMES : TB_MOVES_NODES;
    if (scheme->moves & needed) continue;
    const char* other = "another scheme";
    for (int k = tb_scheme_count() - 1; k >= 0; k--)
      if (tb_scheme_at(k)->moves & needed) other = tb_scheme_at(k)->name;
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the scheme %s does not move bodies like \"%s\", which needs %s",
                   scheme->name, b->name, other);
  }
  return TB_OK;
}

tbStatus tb_step_check(tbContext* ctx, const tbWorld* w, const tbStepOptions* o)
{
  if (!tb_scheme_find(o->scheme)) {
    tbNearest near = tb_nearest(o->scheme);
    for (int i = 0; i < tb_scheme_count(); i++) tb_nearest_offer(&near, tb_scheme_at(i)->name);
    if (near.name)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no scheme \"%s\"; did you mean \"%s\"?", o->scheme,
                     near.name);
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no scheme \"%s\"", o->scheme);
  }
  TB_TRY(check_bodies(ctx, w, tb_scheme_find(o->scheme)));
  int unframed = tb_first_unframed(w);
  if (unframed >= 0 && o->stabilization == TB_STABILIZE_PROJECTION)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "projection moves rigid bodies only, and would push them into \"%s\"",
                   tb_bodies(w)[unframed].name);
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
