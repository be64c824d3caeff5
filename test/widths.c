// SPDX-License-Identifier: Apache-2.0
#include "widths.h"

#include "tribo/base.h"

#ifdef TB_SIMD_AUTO
#include "base/kernels.h"

static int most = 2;

static bool knows_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static bool knows_avx512(void)
{
  return knows_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

// In the place of the library's own.
bool tb_has_avx2(void) { return most >= 1 && knows_avx2(); }
bool tb_has_avx512(void) { return most >= 2 && knows_avx512(); }

int test_widths(void) { return knows_avx512() ? 3 : knows_avx2() ? 2 : 1; }
void test_take_width(int width) { most = width < 0 ? 2 : width; }
const char* test_width_name(int width) { return width == 0 ? "sse2" : width == 1 ? "avx2" : "avx512"; }

#else

int test_widths(void) { return 1; }
void test_take_width(int width) { (void)width; }
const char* test_width_name(int width)
{
  (void)width;
  return tb_simd_name();
}

#endif
