// SPDX-License-Identifier: Apache-2.0
// Where a contact is on its two surfaces, and how their structures lie there.
#ifndef TB_STEP_FRICTION_PLACE_H
#define TB_STEP_FRICTION_PLACE_H

#include "step/find.h"
#include "step/friction_pair.h"

// The axes of a surface's friction at a contact, in the world, and of a texture its coefficients: *patch has
// those of the square about the contact where side->patch points to it. side->friction is set by the caller;
// f is it, or where that is null what the other surface brings for both.
void tb_friction_place(const tbWorld* world, const tbContactConstraint* constraint, int side,
                       const tbFriction* f, tbSurfaceSide* out, tbTexturePatch* patch);

#endif
