// SPDX-License-Identifier: Apache-2.0
// A copy of the factor for solves that are made thousands of times (cholesky_stream.c).
#ifndef TB_MATH_CHOLESKY_STREAM_H
#define TB_MATH_CHOLESKY_STREAM_H

#include "math/cholesky_factor.h"

// Entries that a supernode takes, and those of supernode s, once the factor has values.
size_t tb_cholesky_stream_size(int cols, int rows);
void tb_cholesky_stream_fill(const tbCholesky* factor, int s, double* out);

// y ← L⁻¹y and y ← L⁻ᵀy, four sides to a row.
void tb_cholesky_stream_down(const tbCholesky* factor, const tbCholeskyStream* stream, tbCholeskyRun run,
                             double* y);
void tb_cholesky_stream_up(const tbCholesky* factor, const tbCholeskyStream* stream, tbCholeskyRun run,
                           double* y);

#endif
