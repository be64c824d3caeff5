// SPDX-License-Identifier: Apache-2.0
// Which functions of src/step are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "step/soft_step_joint.h"

// soft_step_begin.c
TB_KERNEL(void, tb_soft_step_begin,
          (tbSoftStepBatch * batch, int begin, int end, const tbSoftStepBody* body,
           const tbSoftStepMass* mass),
          (batch, begin, end, body, mass))
TB_KERNEL(void, tb_soft_step_warm,
          (tbSoftStepBatch * batch, int begin, int end, tbSoftStepBody* body, int moving),
          (batch, begin, end, body, moving))
TB_KERNEL(void, tb_soft_step_kick,
          (tbSoftStepBody * body, int begin, int end, float (*kick)[8], float share, float (*before)[8]),
          (body, begin, end, kick, share, before))
TB_KERNEL(void, tb_soft_step_move, (tbSoftStepBody * body, int begin, int end, float h),
          (body, begin, end, h))
// soft_step_solve.c
TB_KERNEL(void, tb_soft_step_solve,
          (tbSoftStepBatch * batch, int begin, int end, tbSoftStepBody* body, int moving,
           const tbSoftStepPass* pass),
          (batch, begin, end, body, moving, pass))
TB_KERNEL(void, tb_soft_step_bounce,
          (tbSoftStepBatch * batch, int begin, int end, tbSoftStepBody* body, int moving,
           const tbSoftStepPass* pass),
          (batch, begin, end, body, moving, pass))
// soft_step_joint_solve.c
TB_KERNEL(void, tb_soft_step_joints_warm, (tbSoftStepWork * soft), (soft))
TB_KERNEL(void, tb_soft_step_joints_solve, (tbSoftStepWork * soft, const tbSoftStepPass* pass), (soft, pass))
// soft_step_record.c
TB_KERNEL(void, tb_soft_step_add, (tbSoftStepWork * soft, int begin, int end), (soft, begin, end))
TB_KERNEL(void, tb_soft_step_record, (const tbSoftStepWork* soft, int begin, int end, tbContactRecord* out),
          (soft, begin, end, out))
