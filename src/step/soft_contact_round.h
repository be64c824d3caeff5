// SPDX-License-Identifier: Apache-2.0
// Round shapes touch as what they are: the surface says where they are touched, the shape gives normal and
// gap.
#ifndef TB_STEP_SOFT_CONTACT_ROUND_H
#define TB_STEP_SOFT_CONTACT_ROUND_H

#include "step/soft_contact.h"

// The side of a contact that is a round shape; −1: none.
int tb_soft_contact_round_side(const tbWorld* world, const tbSurfaces* surfaces,
                               const tbSurfaceFeatures* features);

// Normal, gap and place of a contact with a round shape: those of the shape itself, at the other side's point
// at the moment of the contact; of a sphere, where the other side is closest to it, too. Other contacts stay
// as they are. pose: of the rigid bodies.
void tb_soft_contact_round_off(const tbWorld* world, const tbSurfaces* surfaces, const tbTransform* pose,
                               double clearance, tbSoftContact* soft_contact);

// Leaves the closest of many contacts that say the same: an edge that lies along a round shape crosses many
// edges of its surface; a vertex of a sheet thicker than its cells is close to many faces of another sheet;
// a sphere touches a triangle, an edge and a corner in one place. fresh: of those with spheres that were just
// met alone.
tbStatus tb_soft_contact_thin(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces, bool fresh,
                              tbArray* soft_contacts);

// Whether it is a sheet thicker than its cells.
static inline bool tb_soft_contact_is_thick(const tbMovingSurface* m)
{
  return !m->rigid && m->radius > m->surface->edge_length;
}

#endif
