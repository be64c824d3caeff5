// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller of two numbers without a call: fmax and fmin ask for more, what becomes of NaN.
#ifndef TB_RENDER_LARGER_H
#define TB_RENDER_LARGER_H

static inline double tb_larger(double a, double b) { return a > b ? a : b; }
static inline double tb_smaller(double a, double b) { return a < b ? a : b; }

#endif
