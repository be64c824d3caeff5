// SPDX-License-Identifier: Apache-2.0
// Geometry without rounding: on which side of a plane a point lies, and normals that are right for the
// thinnest triangle.
//
// Coordinates must lie within 2⁻¹⁰⁰ … 2¹⁰⁰ in size or be zero, so that no product on the way overflows or
// loses bits below the smallest double.
#ifndef TB_GEOMETRY_EXACT_H
#define TB_GEOMETRY_EXACT_H

#include "tribo/math.h"

// +1: p lies on the side from which a, b, c turn counter-clockwise; −1: on the other; 0: in the plane. Exact.
int tb_side_of(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p);
// The same where plain arithmetic can tell; 0 where it cannot.
int tb_side_of_surely(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p);

// (b − a) × (c − a), every component to a few roundings of itself; zero only if it is.
tbVec3 tb_triangle_normal(tbVec3 a, tbVec3 b, tbVec3 c);

#endif
