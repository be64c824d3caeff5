// SPDX-License-Identifier: Apache-2.0
// The substeps of soft-step, and what they come to.
#include "step/rows.h"
#include "step/soft_step_joint.h"

#include "base/stop.h"

#include <string.h>

// Contacts as stiff as so many oscillations per substep: stiffer ones shake tall stacks, softer ones let them
// sag. At most FASTEST of them.
static const double HERTZ = 0.177, FASTEST = 0.25;

// A contact whose impulse of a substep is worth so many times what gravity does in it is as soft as that;
// lighter ones are stiffer, down to a quarter.
static const double HEAVY = 5;

tbSoftness tb_softness(double hertz, double damping_ratio, double h)
{
  double omega = 6.283185307179586 * hertz, a1 = 2 * damping_ratio + h * omega, a2 = h * omega * a1;
  return omega > 0 ? (tbSoftness){(float)(omega / a1), (float)(1 / a2)} : (tbSoftness){0, 0};
}

tbSoftStepSpring tb_soft_step_spring(const tbContactSpring* spring, double h)
{
  if (!(spring->stiffness > 0)) return (tbSoftStepSpring){0, 0};
  tbSoftRow row = tb_soft_row(h, spring->stiffness, spring->damping, 1);
  return (tbSoftStepSpring){row.bias, row.compliance};
}

typedef enum { NOTHING, WARM, SOLVE, BOUNCE, ADD } What;
typedef enum { STAY, KICK, MOVE } Bodies;

typedef struct {
  tbSoftStepWork* work;
  What what;
  const tbSoftStepPass* pass;
  Bodies bodies; // of a region, before its contacts
  bool begins;   // the step
  float h;
  int first; // group of the level
} Sweep;

static void take_bodies(const Sweep* j, int region)
{
  tbSoftStepWork* s = j->work;
  int from = s->region[region], to = s->region[region + 1];
  if (j->bodies == MOVE) tb_soft_step_move(s->body, from, to, j->h);
  if (j->bodies == KICK)
    tb_soft_step_kick(s->body, from, to, j->begins ? s->kick : NULL, 1 / (float)s->substeps, s->before);
}

static void sweep_groups(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sweep* j = user;
  tbSoftStepWork* s = j->work;
  for (int k = begin; k < end; k++) {
    int from = s->group[j->first + k], to = s->group[j->first + k + 1];
    if (j->first == 0) take_bodies(j, k);
    if (j->what == WARM) tb_soft_step_warm(s->batch, from, to, s->body, s->moving);
    if (j->what == SOLVE) tb_soft_step_solve(s->batch, from, to, s->body, s->moving, j->pass);
    if (j->what == ADD) tb_soft_step_add(s, from, to);
    if (j->what == BOUNCE) tb_soft_step_bounce(s->batch, from, to, s->body, s->moving, j->pass);
  }
}

// All contacts, level after level.
static void sweep(tbContext* ctx, Sweep* j, What what, const tbSoftStepPass* pass)
{
  j->what = what, j->pass = pass;
  if (j->bodies == MOVE)
    tb_soft_step_move(j->work->body, j->work->moving, j->work->bodies, j->h); // driven ones
  for (int level = 0; level <= (what == NOTHING ? 0 : j->work->levels); level++) {
    j->first = tb_soft_step_group(j->work, level);
    tb_parallel_for(ctx->threads, 1 << (j->work->levels - level), 1, sweep_groups, j);
    j->bodies = STAY;
  }
}

// Joints look at bodies before contacts do: then all of these have to be moved first.
static void before_joints(tbContext* ctx, Sweep* j)
{
  if (j->work->njoint > 0) sweep(ctx, j, NOTHING, NULL);
}

static tbStatus take_substeps(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbSoftStepWork* s)
{
  double h = o->dt / s->substeps, hertz = o->hertz > 0 ? fmin(o->hertz, FASTEST / h) : HERTZ / h;
  tbSoftStepPass solve = {.push = true,
                          .inverse_h = (float)(1 / h),
                          .push_speed = (float)o->push_speed,
                          .bounce_speed = (float)tb_bounce_speed(w, o),
                          .softness = tb_softness(hertz, o->damping_ratio, h)};
  double g = tb_norm3(w->gravity);
  solve.heavy = g > 0 ? (float)(1 / (HEAVY * g * h)) : 1e30f;
  tbSoftStepPass relax = solve;
  relax.push = false;
  Sweep j = {.work = s, .begins = true, .h = (float)h};
  for (int i = 0; i < s->substeps; i++, j.begins = false) {
    j.bodies = KICK;
    if (i == 0) sweep(ctx, &j, NOTHING, NULL);
    else before_joints(ctx, &j);
    if (i == 0) {
      tb_soft_step_joints_warm(s);
      tb_soft_step_spins_warm(s);
      sweep(ctx, &j, WARM, NULL);
    } else {
      tb_soft_step_joints_start(s);
    }
    solve.first = relax.first = i == 0;
    solve.elapsed = (i + 1) * h, relax.elapsed = (i + 2) * h; // bodies have moved when they relax
    tb_soft_step_joints_solve(s, &solve);
    sweep(ctx, &j, SOLVE, &solve);
    tb_soft_step_spins_solve(s, &solve);
    j.bodies = MOVE;
    before_joints(ctx, &j);
    tb_soft_step_joints_solve(s, &relax);
    sweep(ctx, &j, SOLVE, &relax);
    tb_soft_step_spins_solve(s, &relax);
    TB_TRY(tb_check_interrupt(ctx));
  }
  sweep(ctx, &j, BOUNCE, &relax);
  return TB_OK;
}

// In doubles. It fails where impulses are too large for floats.
tbStatus tb_soft_step_add_up(tbContext* ctx, tbSoftStepWork* s)
{
  memset(s->push, 0, (size_t)s->moving * sizeof *s->push);
  sweep(ctx, &(Sweep){.work = s}, ADD, NULL);
  tb_soft_step_joints_add(s, s->push);
  tb_soft_step_spins_add(s, s->push);
  bool finite = true;
  for (int i = 0; i < s->moving; i++)
    for (int k = 0; k < 6; k++) finite &= isfinite(s->push[i][k]) && isfinite(s->body[i].d[k]);
  if (finite) return TB_OK;
  return tb_fail(ctx, TB_ERROR_NUMERIC, "velocities have become too large for soft-step");
}

tbStatus tb_soft_step_take(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbSoftStepWork* s)
{
  TB_TRY(take_substeps(ctx, w, o, s));
  return tb_soft_step_add_up(ctx, s);
}
