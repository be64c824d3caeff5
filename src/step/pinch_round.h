// Round shapes touch as what they are: the skin says where they are touched, the shape gives normal and gap.
#ifndef TB_STEP_PINCH_ROUND_H
#define TB_STEP_PINCH_ROUND_H

#include "step/pinch.h"

// The side of a contact that is a round shape; −1: none.
int tb_pinch_round_side(const tbWorld* world, const tbSurfaces* surfaces, const tbSkinFeatures* features);

// Normal, gap and place of a contact with a round shape: those of the shape itself, at the other side's point
// at the moment of the contact. Other contacts stay as they are. pose: of the rigid bodies.
void tb_pinch_round_off(const tbWorld* world, const tbSurfaces* surfaces, const tbTransform* pose,
                        tbPinch* pinch);

// Leaves the closest of many contacts that say the same: an edge that lies along a round shape crosses many
// edges of its skin; a vertex of a sheet thicker than its cells is close to many faces of another sheet.
tbStatus tb_pinch_thin(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces, tbArray* pinches);

// Whether it is a sheet thicker than its cells.
static inline bool tb_pinch_is_thick(const tbMovingSkin* m)
{
  return !m->rigid && m->radius > m->skin->edge_length;
}

#endif
