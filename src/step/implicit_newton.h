// SPDX-License-Identifier: Apache-2.0
// Newton's method on the elasticity of an implicit step, with contacts inside of each of its steps
// (implicit.c).
#ifndef TB_STEP_IMPLICIT_NEWTON_H
#define TB_STEP_IMPLICIT_NEWTON_H

#include "step/scheme.h"
#include "tribo/step.h"

struct tbNewtonBody;

typedef struct tbImplicitNewton {
  double h;
  tbFormulation form;
  int count;
  struct tbNewtonBody* body; // those whose elasticity can be taken anew                  (count)
} tbImplicitNewton;

// Where bodies start: as `step` has linearised them, at velocities of zero.
tbStatus tb_implicit_newton_begin(tbContext* ctx, const tbStepWork* work, const tbWorld* world,
                                  tbFormulation form, double h, const tbBodyStep* step,
                                  tbImplicitNewton* out);

// From the velocities of the last problem: how much momentum elasticity, as it really is there, leaves
// unbalanced, as a change of velocity of the nodes that have it. Where that is more than the tolerance the
// body is linearised anew, at those velocities or, by a line search, on the way to them.
tbStatus tb_implicit_newton_next(tbContext* ctx, tbImplicitNewton* newton, const tbStepView* view,
                                 double tolerance, bool last, tbBodyStep* step, double* change);

#endif
