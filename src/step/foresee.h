// SPDX-License-Identifier: Apache-2.0
// Surfaces of deformable bodies and what they touch, before anything of a step is solved.
#ifndef TB_STEP_FORESEE_H
#define TB_STEP_FORESEE_H

#include "step/scheme.h"
#include "step/soft_contact.h"
#include "step/surfaces.h"

// All surfaces, from their start to where they would end as they go, and the clearance they keep.
tbStatus tb_surfaces_ahead(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                           tbStepWork* work, const tbBodyStep* step, tbSurfaces* out, double* clearance);

// Contacts of features that are close, and of those that meet on that way. met: room (tbSurfaceContact).
tbStatus tb_surfaces_contacts(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                              tbStepWork* work, const tbSurfaces* surfaces, double clearance,
                              tbSurfaceCandidates* candidates, tbArray* met, tbArray* soft_contacts);

#endif
