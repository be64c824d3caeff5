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

// What the processor knows. By themselves in widths.c, so that a program may bring its own pair of them,
// which a linker takes in their place: the tests do, to walk every width.
bool tb_has_avx2(void);
bool tb_has_avx512(void);

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
