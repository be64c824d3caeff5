// SPDX-License-Identifier: Apache-2.0
// TB_UNROLL before a loop of constant length (at most eight) expands it whole, so that small arrays of
// vectors live in registers.
#ifndef TB_BASE_UNROLL_H
#define TB_BASE_UNROLL_H

#ifdef __clang__
#define TB_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TB_UNROLL _Pragma("GCC unroll 8")
#endif

#endif
