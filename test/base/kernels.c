// SPDX-License-Identifier: Apache-2.0
// The checks of base/simd.h, once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "base/simd_lanes.h"

TB_KERNEL(void, tb_test_lanes, (void), ())
TB_KERNEL(void, tb_test_parts, (void), ())
TB_KERNEL(void, tb_test_six, (void), ())
TB_KERNEL(void, tb_test_floats, (void), ())
