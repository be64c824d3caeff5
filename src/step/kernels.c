// SPDX-License-Identifier: Apache-2.0
// Which functions of src/step are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "step/soft_step.h"

// soft_step_solve.c
TB_KERNEL(void, tb_soft_begin, (tbSoftBatch * batch, int begin, int end, const tbSoftBody* body),
          (batch, begin, end, body))
TB_KERNEL(void, tb_soft_warm, (tbSoftBatch * batch, int begin, int end, tbSoftBody* body, int moving),
          (batch, begin, end, body, moving))
TB_KERNEL(void, tb_soft_solve,
          (tbSoftBatch * batch, int begin, int end, tbSoftBody* body, int moving, const tbSoftPass* pass),
          (batch, begin, end, body, moving, pass))
TB_KERNEL(void, tb_soft_bounce,
          (tbSoftBatch * batch, int begin, int end, tbSoftBody* body, int moving, const tbSoftPass* pass),
          (batch, begin, end, body, moving, pass))
