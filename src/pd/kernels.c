// SPDX-License-Identifier: Apache-2.0
// Which functions of src/pd are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "pd/elements.h"

// membrane.c
TB_KERNEL(void, tb_pd_membranes,
          (const tbPdBody* body, int begin, int end, const tbVec3* x, const double* lengths, tbVec3* push),
          (body, begin, end, x, lengths, push))
