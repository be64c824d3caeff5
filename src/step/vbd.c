// SPDX-License-Identifier: Apache-2.0
// Vertex block descent (Chen, Liu, Yang and Yuksel 2024) and augmented vertex block descent (Giles, Diaz and
// Yuksel 2025) on the objective of primal.c: one body or node after the other, colour by colour, each with
// its own block of the Hessian (src/descent/coordinate.h).
//
// vbd has potentials alone. avbd has multipliers beside them, which start from the last step's impulses and
// take the load off the potentials: contacts and joints end hard at a finite stiffness.
//
// Cost      a pass evaluates every contact once for each of its cells, and solves with every cell once.
// Limits    as primal; a long chain of bodies needs as many passes as it has links. Where multipliers have
//           not settled, the potentials of the last iterate say what the impulses are.
#include "step/relaxed.h"

#include "descent/coordinate.h"

#include <string.h>

static tbStatus descend(tbContext* ctx, tbRelaxedRun* run, bool augmented)
{
  tbRelaxedDescent r;
  double* multipliers = NULL;
  size_t rows = (size_t)run->problem->nrow;
  TB_TRY(tb_relaxed_descent_begin(ctx, run, &r));
  if (augmented) {
    multipliers = TB_TAKE(run->arena, double, rows);
    if (!multipliers) return TB_ERROR_MEMORY;
    memcpy(multipliers, run->lambda, rows * sizeof *multipliers);
  }
  TB_TRY(tb_coordinate_run(ctx, run->arena, &r.descent, multipliers));
  return tb_relaxed_descent_end(ctx, run, &r);
}

static tbStatus plain(tbContext* ctx, tbRelaxedRun* run) { return descend(ctx, run, false); }
static tbStatus augmented(tbContext* ctx, tbRelaxedRun* run) { return descend(ctx, run, true); }

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  return tb_relaxed_prepare(ctx, w, o, false, work, report);
}

static tbStatus solve_plain(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbStepReport* report)
{
  return tb_relaxed_solve(ctx, w, o, plain, "vbd", work, report);
}

static tbStatus solve_augmented(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                                tbStepReport* report)
{
  return tb_relaxed_solve(ctx, w, o, augmented, "avbd", work, report);
}

const tbSchemeMethod tb_vbd = TB_RELAXED_SCHEME(prepare, solve_plain);
const tbSchemeMethod tb_avbd = TB_RELAXED_SCHEME(prepare, solve_augmented);
