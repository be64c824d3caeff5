// SPDX-License-Identifier: Apache-2.0
// The dense kernels of the supernodal factor, on column-major panels.
//
// Every entry of a result is summed over k in one fixed order, with fused multiply-adds; vector lanes and
// threads only share out the entries. The bits therefore depend neither on the vector width nor on the
// number of threads.
#ifndef TB_MATH_CHOLESKY_DENSE_H
#define TB_MATH_CHOLESKY_DENSE_H

#include "tribo/base.h"

// Doubles of packing room that a front with `cols` pivots needs.
size_t tb_dense_pack_size(int front, int cols);

// Factors the first `cols` columns of a front in place: on return the panel holds L₁₁ over L₂₁ and
// inverse_diagonal 1/L_kk. Returns the first column whose pivot is not a positive finite number, or −1.
// Entries above the diagonal are overwritten with leftovers. When it is interrupted the rest of the work is
// left out, here and in tb_dense_schur: the caller asks again, and has no use for what it finds.
int tb_dense_factor(tbThreads* threads, tbInterrupt interrupt, int front, int cols, double* panel, int lead,
                    double* inverse_diagonal, double* pack);

// U = −L₂₁ L₂₁ᵀ, lower triangle; U is rows × rows with rows = front − cols. Above its diagonal, leftovers.
void tb_dense_schur(tbThreads* threads, tbInterrupt interrupt, int front, int cols, const double* panel,
                    int lead, double* U, double* pack);

#endif
