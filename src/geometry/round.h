// SPDX-License-Identifier: Apache-2.0
// Round shapes as they are, beside the triangles that stand for them (surface_mesh.h).
#ifndef TB_GEOMETRY_ROUND_H
#define TB_GEOMETRY_ROUND_H

#include "tribo/geometry.h"

static inline bool tb_shape_is_round(const tbShape* s)
{
  return s->type == TB_SHAPE_SPHERE || s->type == TB_SHAPE_CAPSULE || s->type == TB_SHAPE_CYLINDER;
}

// Signed distance of a point from a round shape, in the shape's own frame; the gradient may be null.
double tb_round_distance(const tbShape* shape, tbVec3 p, tbVec3* gradient);
double tb_cylinder_distance(const tbShape* cylinder, tbVec3 p, tbVec3* gradient);

// How far its surface may lie within it. 0: not round.
double tb_round_depth(const tbShape* shape);

#endif
