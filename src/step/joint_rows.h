// SPDX-License-Identifier: Apache-2.0
// What joints say to the problem.
#ifndef TB_STEP_JOINT_ROWS_H
#define TB_STEP_JOINT_ROWS_H

#include "step/rows.h"

enum { TB_JOINT_BLOCKS = 5 }; // at most: the joint itself, its limits, its motor or servo, friction, rotor

// One block of rows over the two bodies; a row of a body is [linear, angular].
typedef struct tbJointBlock {
  int law, rows;
  int slot; // of its impulses in tbJoint.impulse
  double param[2];
  double a[TB_MAX_ROWS][6], b[TB_MAX_ROWS][6];
  double bias[TB_MAX_ROWS], compliance[TB_MAX_ROWS];
  double rate; // of a servo's target, which the bias is about at the end of the step    rad/s, m/s
} tbJointBlock;

// What the rows ask for.
typedef enum tbJointWay {
  TB_JOINT_VELOCITIES,  // of the end of the step
  TB_JOINT_IMPACT,      // velocities after an impact, to which no finite force adds anything
  TB_JOINT_POSITIONS,   // displacements that undo the whole error; what is soft or driven has none
  TB_JOINT_COORDINATES, // nothing: the rows of velocities, with what they are rates of in the bias
} tbJointWay;

// The blocks of a joint with its bodies' centres of mass at the poses given (one per body); returns how many.
// unconstrained: what impacts have done by now; null: nothing.
int tb_joint_blocks(const tbWorld* world, const tbStepOptions* options, tbJointWay way,
                    const tbUnconstrained* unconstrained, const tbTransform* centre, const tbJoint* joint,
                    tbJointBlock out[TB_JOINT_BLOCKS]);

// Efforts, and springs that the step is short enough to follow, act as forces: added to the free velocities
// here, and left out of the blocks above. Marks every body with a joint as held.
void tb_joint_forces(const tbWorld* world, const tbStepOptions* options, const tbTransform* centre,
                     tbUnconstrained* unconstrained);

// Fills tbJoint.force, .torque and .effort with what acts as a force; middle: the time half way through the
// step.
void tb_joint_forces_keep(const tbWorld* world, const tbStepOptions* options, const tbTransform* centre,
                          double middle, tbJoint* joint);

// The force and torque of every joint on its second body, from what the step's problem says of it: fills
// tbJoint.force and .torque.
struct tbAssembly;
void tb_joint_reactions(const struct tbAssembly* assembly, const tbStepOptions* options, tbWorld* world);

#endif
