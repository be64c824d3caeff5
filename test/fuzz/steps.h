// SPDX-License-Identifier: Apache-2.0
// What the harnesses of scenes and of checkpoints share: what has been read is stepped.
//
// Each step is done, and then counted, with an outcome that its residual does not contradict; or it says why
// not, and the world stays where it was.
#ifndef TB_FUZZ_STEPS_H
#define TB_FUZZ_STEPS_H

#include "fuzz.h"
#include "tribo/io.h"

#include <math.h>

enum { FUZZ_ITERATIONS = 10, FUZZ_ROUNDS = 8 }; // what a file asks for beyond these is its own affair

static inline tbStatus fuzz_steps(tbContext* ctx, tbScene* s, int steps)
{
  tbStepOptions o = s->step;
  if (o.solver.max_iterations > FUZZ_ITERATIONS) o.solver.max_iterations = FUZZ_ITERATIONS;
  if (o.rounds > FUZZ_ROUNDS) o.rounds = FUZZ_ROUNDS;
  o.solver.time_budget_s = o.budget_s = 0; // the same verdict whatever the clock says
  for (int i = 0; i < steps; i++) {
    tbStepReport report = {0};
    int64_t before = tb_world_step_count(s->world);
    tbStatus status = tb_world_step(ctx, s->world, &o, &report);
    CHECK(tb_world_step_count(s->world) == before + (status == TB_OK));
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY || status == TB_ERROR_NUMERIC ||
          status == TB_ERROR_UNSUPPORTED || status == TB_ERROR_ARGUMENT);
    if (status == TB_ERROR_MEMORY) return status;
    if (status != TB_OK) break;
    CHECK(report.outcome != TB_CONVERGED || isfinite(report.residual.fclib));
    CHECK(report.contacts >= 0 && report.iterations >= 0 && report.intersections >= 0);
  }
  return TB_OK;
}

#endif
