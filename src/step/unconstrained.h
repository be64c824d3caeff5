// The motion bodies would have over a step if nothing touched them.
#ifndef TB_STEP_UNCONSTRAINED_H
#define TB_STEP_UNCONSTRAINED_H

#include "scene/kind.h"

typedef struct tbUnconstrained {
  tbVec3 v, w;    // velocities after the step's forces; contacts change these
  tbVec3 a;       // linear acceleration, constant over the step
  tbTransform at; // pose of the centre of mass when they do: at the start of the step, or when it was struck
  bool held;      // a joint acts on it: its path is no parabola
  double struck;  // when an impact changed its velocity to v; negative: none did
  double lost; // time at the end of the step that it stands still, lest it pass through something (inner.c)
} tbUnconstrained;

// One per body. Fixed bodies rest; kinematic ones have the velocities that take them to where they must be.
void tb_free_motion(const tbWorld* world, double dt, tbThreads* threads, tbUnconstrained* out);

// The angular velocity that its torque adds to a body at the orientation q in a time.
tbVec3 tb_spin_up(const tbBody* body, tbQuat q, double time);

// Turns a body freely for a time: neither its angular momentum nor its energy changes. w: world axes.
void tb_turn_freely(const tbBody* body, double time, tbQuat* q, tbVec3* w);

#endif
