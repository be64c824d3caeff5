// SPDX-License-Identifier: Apache-2.0
// A block of a joint's rows as soft-step solves it: made by soft_step_joints.c, swept by
// soft_step_joint_solve.c.
#ifndef TB_STEP_SOFT_STEP_JOINT_H
#define TB_STEP_SOFT_STEP_JOINT_H

#include "step/soft_step_work.h"

enum { TB_SOFT_STEP_ROWS = 8 }; // of a block, the last ones zero: two registers of four

typedef double tbSoftStepRow[TB_SOFT_STEP_ROWS];

typedef struct tbSoftStepJoint {
  int joint, law, rows;
  int slot[TB_MAX_ROWS];
  int a, b;
  bool drive;   // a motor or dry friction: no error
  bool follows; // a row that yields: it looks at errors when it relaxes, too
  bool one_by_one;
  bool rigid;                         // all rows are, and solved at once
  int rotor;                          // its row; −1: none
  double rate;                        // of a servo's target: the error falls by it
  tbSoftStepRow J[2][6];              // columns of the rows, on the velocities of a, of b
  double Y[2][TB_MAX_ROWS][8];        // A⁻¹ of each row
  tbSoftStepRow inverse[TB_MAX_ROWS]; // of W + R, column by column; of rows one by one: 1/(W_ii + R_i)
  tbSoftStepRow error;                // m, rad; of motors: −speed; of rotors: −u₀
  tbSoftStepRow slope;                // of springs: bias = slope · e
  tbSoftStepRow give;                 // R; 0: rigid
  tbSoftStepRow low, high;
  tbSoftStepRow lambda, total;
} tbSoftStepJoint;

// Kernels (soft_step_joint_solve.c). Warm: the impulses to start from.
void tb_soft_step_joints_warm(tbSoftStepWork* soft);
void tb_soft_step_joints_solve(tbSoftStepWork* soft, const tbSoftStepPass* pass);

#endif
