// SPDX-License-Identifier: Apache-2.0
// Holding a body by one of its points, as a pointer does.
//
//   tbGrip grip;
//   tb_grip_begin(&ctx, world, body, point, &grip);
//   grip.target = …;                                   wherever the pointer goes
//   tb_grip_pull(&ctx, world, &grip, options.dt);      before every step
//
// The point is pulled as by a critically damped spring of its own weight there, taken implicitly, so that it
// is as firm for a feather as for a house and stable for every step; it accelerates nothing by more than 500
// m/s².
#ifndef TRIBO_GRIP_H
#define TRIBO_GRIP_H

#include "tribo/scene.h"

TB_API_BEGIN

typedef struct tbGrip {
  tbBodyId body;
  tbVec3 target; // world
  int node;      // of a body of nodes
  tbVec3 local;  // of others: in the frame of the centre of mass
} tbGrip;

// Of a body that moves freely: at a point of it, or at the node nearest to the point. The target is the
// point.
tbStatus tb_grip_begin(tbContext* ctx, const tbWorld* world, tbBodyId body, tbVec3 point, tbGrip* out);
tbVec3 tb_grip_point(const tbWorld* world, const tbGrip* grip); // where it is now
tbStatus tb_grip_pull(tbContext* ctx, tbWorld* world, const tbGrip* grip, double dt);

TB_API_END

#endif
