// Joints under a load too great for the step.
#ifndef TB_STEP_TENSION_H
#define TB_STEP_TENSION_H

#include "step/free.h"
#include "tribo/step.h"

// Rotational inertia to add to every body of a velocity problem (kg·m², one per body; zero where the step
// follows the motion).
void tb_tension_inertia(const tbWorld* world, double dt, double* out);

// The free angular velocity that goes with the inertia I + added: forces meet the greater inertia too.
tbVec3 tb_tension_free(const tbBody* body, const tbFree* free, double added);

#endif
