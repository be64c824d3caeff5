// SPDX-License-Identifier: Apache-2.0
// What surfaces meet on their way through a step, and stopping short of it.
#ifndef TB_STEP_TRIM_H
#define TB_STEP_TRIM_H

#include "step/scheme.h"
#include "step/surfaces.h"

#define TB_SURFACES_AHEAD 3 // vertices may go so many times as far as expected before boxes are renewed

// Every pair that meets on the way; candidates are found anew for surfaces that went farther than foreseen.
// None: what was apart at the start is at the end (tb_surface_meet). Where steps may end with surfaces in
// each other, what comes out of a solid meets nothing.
tbStatus tb_surfaces_look(tbContext* ctx, const tbSurfaces* surfaces, double clearance,
                          tbSurfaceCandidates* candidates, tbArray* met);

// Bodies that still meet go less far, until none does, or those that meet cannot be stopped: first a share of
// the way to where they meet, in the end not at all. met: as tb_surfaces_look left it, not empty.
tbStatus tb_surfaces_trim(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                          tbStepWork* work, double clearance, tbSurfaces* surfaces,
                          tbSurfaceCandidates* candidates, tbArray* met, tbStepReport* report);

#endif
