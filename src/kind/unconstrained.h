// SPDX-License-Identifier: Apache-2.0
// The motion bodies would have over a step if nothing touched them.
#ifndef TB_KIND_UNCONSTRAINED_H
#define TB_KIND_UNCONSTRAINED_H

#include "scene/kind.h"

typedef struct tbUnconstrained {
  tbVec3 v, w;    // velocities after the step's forces; contacts change these
  tbVec3 a;       // linear acceleration, constant over the step
  tbTransform at; // pose of the centre of mass when they do: at the start of the step, or when it was struck
  tbVec3 pushed, turned; // the part of v and w that springs and efforts of joints bring
  tbVec3 jumped, spun;   // what impacts changed its velocities by, before this step's forces
  bool held;             // a joint acts on it: its path is no parabola
  double struck;         // when an impact changed its velocity to v; negative: none did
  int pieces;            // that its rotation is cut in; 0: as many as its angular velocity asks for
  double share;          // of the step, that nodes go (step/implicit.c); 1: all of it
  double lost; // time at the end of the step that it stands still, lest it pass through something (inner.c)
} tbUnconstrained;

// At rest where it is.
static inline void tb_be_unmoved(const tbBody* b, tbUnconstrained* out) // field by field: it is long
{
  out->v = out->w = out->a = out->pushed = out->turned = out->jumped = out->spun = tb_zero3();
  out->at = tb_transform(b->q, b->x);
  out->held = false, out->struck = -1, out->pieces = 0, out->share = 1, out->lost = 0;
}

// Of a frame. Fixed ones rest; kinematic ones have the velocities that take them to where they must be.
void tb_frame_unconstrained(const tbWorld* world, const tbBody* body, double dt, tbUnconstrained* out);

// A frame in prescribed motion, to where it is at the end of the step.
void tb_follow(const tbWorld* world, tbBody* body, const tbUnconstrained* unconstrained, double dt);

// The angular velocity that its torque adds to a body at the orientation q in a time.
tbVec3 tb_spin_up(const tbBody* body, tbQuat q, double time);

// Whether all axes through the centre of mass are alike: such a body keeps its angular velocity.
bool tb_turns_evenly(const tbBody* body);

// Turns a body freely for a time: neither its angular momentum nor its energy changes. w: world axes.
void tb_turn_freely(const tbBody* body, double time, tbQuat* q, tbVec3* w);

// The same in a given number of pieces, which makes it a smooth function of w; and how many it takes to turn
// by an angle.
void tb_turn_in_pieces(const tbBody* body, double time, int pieces, tbQuat* q, tbVec3* w);
int tb_turn_pieces(double angle);

#endif
