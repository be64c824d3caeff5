// The motion bodies would have over a step if nothing touched them.
#ifndef TB_STEP_FREE_H
#define TB_STEP_FREE_H

#include "scene/world.h"

typedef struct tbFree {
  tbVec3 v, w;   // velocities at the end of the step
  tbVec3 a;      // linear acceleration, constant over the step
  tbQuat q;      // orientation at the end
  bool held;     // a joint acts on it: its path is no parabola
  double struck; // when an impact changed its velocity to v; negative: none did
} tbFree;

// One per body. Fixed bodies rest; kinematic ones have the velocities that take them to where they must be.
void tb_free_motion(const tbWorld* world, double dt, tbThreads* threads, tbFree* out);

#endif
