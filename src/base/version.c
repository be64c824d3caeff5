// SPDX-License-Identifier: Apache-2.0
// What this library is, for reports.
#include "base/kernels.h"
#include "base/simd.h"
#include "tribo/base.h"

const char* tb_version(void) { return TB_VERSION; }

const char* tb_simd_name(void)
{
#ifdef TB_SIMD_AUTO
  return tb_has_avx512() ? "avx512" : tb_has_avx2() ? "avx2" : "sse2";
#else
  return TB_SIMD_NAME;
#endif
}
