// SPDX-License-Identifier: Apache-2.0
// The substeps of soft-step, and what they come to.
#include "step/soft_step_work.h"

#include "base/stop.h"

#include <string.h>

enum { BODIES = 256 };

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

typedef enum { WARM, SOLVE, BOUNCE, ADD } What;

typedef struct {
  tbSoftStepWork* work;
  What what;
  const tbSoftStepPass* pass;
  int first; // batch of the colour
} Sweep;

static void sweep_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sweep* j = user;
  tbSoftStepWork* s = j->work;
  int from = j->first + begin, to = j->first + end;
  if (j->what == WARM) tb_soft_step_warm(s->batch, from, to, s->body, s->moving);
  if (j->what == SOLVE) tb_soft_step_solve(s->batch, from, to, s->body, s->moving, j->pass);
  if (j->what == ADD) tb_soft_step_add(s, from, to);
  if (j->what == BOUNCE) tb_soft_step_bounce(s->batch, from, to, s->body, s->moving, j->pass);
}

// Batches of a colour in a piece: two pieces for each thread, lest one waits for another. A colour of fewer
// than WORTH is done before another thread has heard of it.
enum { WORTH = 16 };
static int grain_of(const tbContext* ctx, int count)
{
  int grain = tb_piece_count(count, 2 * tb_threads_count(ctx->threads));
  return count < WORTH ? count : grain < TB_SOFT_STEP_GRAIN ? grain : TB_SOFT_STEP_GRAIN;
}

// All contacts, colour after colour; those beyond the last one after the other.
static void sweep(tbContext* ctx, tbSoftStepWork* s, What what, const tbSoftStepPass* pass)
{
  Sweep job = {s, what, pass, 0};
  for (int k = 0; k <= TB_SOFT_STEP_COLOURS; k++) {
    int count = s->colour[k + 1] - s->colour[k];
    job.first = s->colour[k];
    if (count > 0)
      tb_parallel_for(ctx->threads, count, k < TB_SOFT_STEP_COLOURS ? grain_of(ctx, count) : count,
                      sweep_piece, &job);
  }
}

typedef struct {
  tbSoftStepWork* work;
  bool first; // substep
  float h;
} Motion;

static void start_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Motion* m = user;
  tb_soft_step_kick(m->work->body, begin, end, m->first ? m->work->kick : NULL, m->work->before);
}

static void move_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Motion* m = user;
  tb_soft_step_move(m->work->body, begin, end, m->h);
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
  Motion motion = {s, true, (float)h};
  for (int i = 0; i < s->substeps; i++, motion.first = false) {
    tb_parallel_for(ctx->threads, s->moving, BODIES, start_bodies, &motion);
    if (i == 0) {
      tb_soft_step_joints_warm(s);
      tb_soft_step_spins_warm(s);
      sweep(ctx, s, WARM, NULL);
    } else {
      tb_soft_step_joints_start(s);
    }
    solve.first = relax.first = i == 0;
    solve.elapsed = (i + 1) * h, relax.elapsed = (i + 2) * h; // bodies have moved when they relax
    tb_soft_step_joints_solve(s, &solve);
    sweep(ctx, s, SOLVE, &solve);
    tb_soft_step_spins_solve(s, &solve);
    tb_parallel_for(ctx->threads, s->bodies, BODIES, move_bodies, &motion);
    tb_soft_step_joints_solve(s, &relax);
    sweep(ctx, s, SOLVE, &relax);
    tb_soft_step_spins_solve(s, &relax);
    TB_TRY(tb_check_interrupt(ctx));
  }
  sweep(ctx, s, BOUNCE, &relax);
  return TB_OK;
}

// In doubles. It fails where impulses are too large for floats.
tbStatus tb_soft_step_add_up(tbContext* ctx, tbSoftStepWork* s)
{
  memset(s->push, 0, (size_t)s->moving * sizeof *s->push);
  sweep(ctx, s, ADD, NULL);
  tb_soft_step_joints_add(s, s->push);
  tb_soft_step_spins_add(s, s->push);
  bool finite = true;
  for (int i = 0; i < s->moving; i++)
    for (int k = 0; k < 6; k++) finite &= isfinite(s->push[i][k]) && isfinite(s->body[i].d[k]);
  if (finite) return TB_OK;
  return tb_fail(ctx, TB_ERROR_NUMERIC, "velocities have outgrown what soft-step can compute");
}

tbStatus tb_soft_step_take(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbSoftStepWork* s)
{
  TB_TRY(take_substeps(ctx, w, o, s));
  return tb_soft_step_add_up(ctx, s);
}
