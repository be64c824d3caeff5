// SPDX-License-Identifier: Apache-2.0
// Extended position-based dynamics, the dual of primal.c (Macklin, Müller and Chentanez 2016; Macklin et al.
// 2020, section 3.3).
//
// Impulses ascend on the same problem (src/descent/ascend.h), rigid unless stiffnesses are given; with mass
// splitting all at once, else one contact after the other. They are those that move the bodies, whatever the
// number of iterations. Deformable bodies are point masses, and their elements rows with compliance
// (fem/rows.h): converged, the step is that of `implicit`; with `newton_steps` the rows are taken anew where
// the step has ended, and impulses start again from none.
//
// With `update`, contacts and joints of rigid bodies are evaluated anew at every iterate (relaxed_anew.h),
// and the step's problem has the rows of the last. Restarted, velocities are those of its impulses;
// incremental, they have what earlier rows have pushed, and the report says what momentum that is.
//
// Cost      an iteration is linear in contacts.
// Limits    insensitive to ratios of stiffness, not to mass ratios: heavy on light needs as many iterations
//           as the ratio, and stiff or fine meshes as many as a wave needs to cross them.
#include "step/relaxed.h"
#include "step/relaxed_anew.h"

#include "descent/ascend.h"

static tbStatus ascend(tbContext* ctx, tbRelaxedRun* run)
{
  const tbStepOptions* o = run->options;
  tbRelaxed relaxed;
  TB_TRY(
      tb_relaxed_begin(run->arena, run->problem, &run->how, o->solver.model, o->solver.directions, &relaxed));
  tbAscent a = {.relaxed = &relaxed,
                .rigid = !(o->descent.contact_stiffness > 0),
                .split = o->descent.mass_splitting,
                .jacobi = o->descent.jacobi,
                .length = o->descent.relaxation > 0 ? o->descent.relaxation : 1,
                .restart = o->descent.update == TB_DUAL_RESTART,
                .iterations = o->iterations,
                .still = TB_RELAXED_STILL * o->solver.velocity_tolerance,
                .deadline = run->deadline,
                .lambda = run->lambda};
  tbRowsAnew rows;
  if (o->descent.update != TB_DUAL_LINEAR) {
    TB_TRY(tb_rows_anew_begin(run->arena, run->world, o, run->assembly, &rows));
    a.anew = tb_rows_anew, a.user = &rows;
  }
  TB_TRY(tb_ascent_run(ctx, run->arena, &a));
  run->iterations = a.used;
  if (o->descent.update == TB_DUAL_INCREMENTAL) run->v = a.v;
  return TB_OK;
}

static tbStatus prepare(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                        tbStepReport* report)
{
  return tb_relaxed_prepare(ctx, w, o, true, work, report);
}

static tbStatus solve(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                      tbStepReport* report)
{
  return tb_relaxed_solve(ctx, w, o, ascend, "xpbd", work, report);
}

const tbSchemeMethod tb_xpbd = TB_RELAXED_SCHEME(prepare, solve);
