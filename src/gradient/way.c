// SPDX-License-Identifier: Apache-2.0
// How the contact problems of a run are answered for its derivatives.
//
// Exactly, where the contact law has one answer and it is the run's. Where velocities are not unique, or the
// law has several solutions, a derivative exists of those that a solver finds, from the impulses it starts
// with: then it is the scene's own solver whose steps are differenced, with its answers carried on to
// rounding unless that leads elsewhere. Schemes that relax the law are differentiated as they run.
#include "gradient/objective.h"

#include <math.h>

static const double LEAST_TOLERANCE = 1e-7; // m/s

tbStepOptions tb_way_options(const tbObjective* o, tbWay way)
{
  return way == TB_WAY_AS_RUN ? o->step : tb_objective_tight(o);
}

bool tb_way_is_exact(const tbObjective* o, tbWay way)
{
  return way == TB_WAY_EXACT || (way == TB_WAY_TIGHT && !tb_objective_is_iterated(o));
}

static tbStatus run(tbContext* ctx, const tbObjective* o, const double* values, tbWay way, tbExact* exact,
                    double* loss)
{
  tbScene scene;
  TB_TRY(tb_objective_scene(ctx, o, values, &scene));
  tbStepOptions how = tb_way_options(o, way);
  tbStatus status = TB_OK;
  int64_t steps = tb_objective_steps(o);
  exact->by_solver = way == TB_WAY_TIGHT;
  for (int64_t i = 0; i < steps && status == TB_OK; i++)
    status = tb_objective_step(ctx, &how, tb_way_is_exact(o, way) ? exact : NULL, false, scene.world);
  *loss = tb_objective_measure(o, scene.world);
  tb_scene_free(ctx, &scene);
  return status;
}

// Whether two losses are of one run, but for what the solver's tolerance allows: where the contact law has
// several solutions, exact answers may be others than the solver's.
static bool is_run(const tbObjective* o, double exact, double run)
{
  double far = fmax(o->step.solver.velocity_tolerance, LEAST_TOLERANCE) * o->time;
  return fabs(exact - run) <= far * (far + 2 * sqrt(fmin(exact, run)));
}

static tbStatus choose(tbContext* ctx, const tbObjective* o, const double* values, double as_run,
                       tbExact* exact, tbWay* way, double* loss)
{
  for (; *way < TB_WAY_AS_RUN; ++*way) {
    TB_TRY(run(ctx, o, values, *way, exact, loss));
    bool open = *way == TB_WAY_EXACT && exact->ambiguous > 0;
    if (!open && is_run(o, *loss, as_run)) return TB_OK;
  }
  *loss = as_run;
  return TB_OK;
}

tbStatus tb_objective_way(tbContext* ctx, const tbObjective* o, const double* values, tbWay* way,
                          double* loss, tbGradientReport* report)
{
  tbTape tape;
  tbExact exact;
  double as_run;
  bool relaxed = tb_objective_is_relaxed(o), iterated = tb_objective_is_iterated(o);
  *way = relaxed ? TB_WAY_AS_RUN : iterated ? TB_WAY_TIGHT : TB_WAY_EXACT;
  TB_TRY(tb_objective_loss(ctx, o, values, &as_run));
  tb_tape_init(ctx, &tape);
  tb_exact_init(ctx, &exact, &tape);
  tbStatus status = choose(ctx, o, values, as_run, &exact, way, loss);
  report->problems += exact.count, report->rough += exact.rough, report->ambiguous += exact.ambiguous;
  tb_tape_free(ctx, &tape);
  return status;
}
