// SPDX-License-Identifier: Apache-2.0
// Kernels that are compiled once per vector width, and the choice between them.
//
// A build for any x86-64 (TRIBO_SIMD=auto) compiles a few files three times: for SSE2, for AVX2 with FMA, for
// AVX-512. In each of them the functions that src/*/kernels.c lists are renamed, tb_dot to tb_dot_avx2, by a
// header that CMake makes of these lists; the function of the plain name looks at the processor and calls one
// of the three. All give the same bits (base/simd.h). Every function of such a file that others call must be
// listed. Other builds have one width, and the lists come to nothing.
//
// Cost      a load, two tests and a call: list what runs for microseconds, not what runs for nanoseconds.
#ifndef TB_BASE_KERNELS_H
#define TB_BASE_KERNELS_H

#include <stdbool.h>

#ifdef TB_SIMD_AUTO

static inline bool tb_has_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static inline bool tb_has_avx512(void)
{
  return tb_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

#define TB_KERNEL(result, name, parameters, arguments)   \
  result name##_sse2 parameters;                         \
  result name##_avx2 parameters;                         \
  result name##_avx512 parameters;                       \
  result name parameters                                 \
  {                                                      \
    if (tb_has_avx512()) return name##_avx512 arguments; \
    if (tb_has_avx2()) return name##_avx2 arguments;     \
    return name##_sse2 arguments;                        \
  }

#else
#define TB_KERNEL(result, name, parameters, arguments)
#endif

#endif
