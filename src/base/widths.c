// SPDX-License-Identifier: Apache-2.0
// The vector widths of the processor (kernels.h); nothing else is in this file.
#include "base/kernels.h"
#include "tribo/base.h"

#ifdef TB_SIMD_AUTO

bool tb_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool tb_has_avx512(void)
{
  return tb_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

#endif
