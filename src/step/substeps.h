// SPDX-License-Identifier: Apache-2.0
// A step as several of the same scheme, each a part of it (tbSchemeMethod.substeps).
//
// Every substep finds contacts, solves and moves bodies as a step of dt/n does, with the forces that were
// applied for all of it. From outside it is one step: one tick of the clock, contacts that
// began or ended between its ends, impulses that are the sums of the substeps', reactions that are their
// means, the worst of the judge's numbers; and a substep that fails leaves the world as it was before the
// first.
#ifndef TB_STEP_SUBSTEPS_H
#define TB_STEP_SUBSTEPS_H

#include "step/scheme.h"

// One step of `options`, whose contacts were `before` (null: as the world's records say). `level`: the
// caller's.
typedef tbStatus tbTakeStep(tbContext* ctx, tbWorld* world, const tbStepOptions* options,
                            const tbTouching* before, int level, tbStepReport* report);

// `report` counts what the step has tried before.
tbStatus tb_substeps_take(tbContext* ctx, tbWorld* world, const tbStepOptions* options, int count,
                          const tbTouching* before, tbTakeStep* take, int level, tbStepReport* report);

#endif
