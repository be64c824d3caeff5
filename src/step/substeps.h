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

// One step of `options`, whose contacts were `before` (null: as the world's records say).
typedef tbStatus tbTakeStep(tbContext* ctx, tbWorld* world, const tbStepOptions* options,
                            const tbTouching* before, tbStepReport* report);

tbStatus tb_substeps_take(tbContext* ctx, tbWorld* world, const tbStepOptions* options, int count,
                          tbTakeStep* take, tbStepReport* report);

#endif
