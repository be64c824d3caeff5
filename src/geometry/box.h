// SPDX-License-Identifier: Apache-2.0
// Axis-aligned boxes: closed sets, so that boxes that only touch meet. lo > hi on any axis: empty, meets
// nothing.
#ifndef TB_GEOMETRY_BOX_H
#define TB_GEOMETRY_BOX_H

#include "tribo/geometry.h"

static inline tbBox tb_box_empty(void)
{
  return (tbBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static inline bool tb_box_is_empty(const tbBox* b)
{
  return !(b->lo.x <= b->hi.x && b->lo.y <= b->hi.y && b->lo.z <= b->hi.z);
}

static inline bool tb_box_meets(const tbBox* a, const tbBox* b) // neither of them empty; no branches
{
  return (a->lo.x <= b->hi.x) & (b->lo.x <= a->hi.x) & (a->lo.y <= b->hi.y) & (b->lo.y <= a->hi.y) &
         (a->lo.z <= b->hi.z) & (b->lo.z <= a->hi.z);
}

static inline tbBox tb_box_join(tbBox a, tbBox b) // an empty box written as tb_box_empty() adds nothing
{
  return (tbBox){tb_min3(a.lo, b.lo), tb_max3(a.hi, b.hi)};
}

static inline tbBox tb_box_add(tbBox a, tbVec3 p) { return (tbBox){tb_min3(a.lo, p), tb_max3(a.hi, p)}; }

static inline tbBox tb_box_grow(tbBox a, double by)
{
  tbVec3 d = tb_vec3(by, by, by);
  return (tbBox){tb_sub3(a.lo, d), tb_add3(a.hi, d)};
}

#endif
