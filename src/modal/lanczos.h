// SPDX-License-Identifier: Apache-2.0
// The lowest eigenvectors of  K u = λ M u  by block Lanczos iteration with shift and invert.
//
// The Krylov space of (K + σM)⁻¹M grows by a block of vectors at a time, each orthogonalised twice in the
// inner product of M against all before it, so that eigenvalues of any multiplicity up to the block's width
// are found, and none comes twice. Vectors that are known already (rigid motions) are kept out of the space.
//
// Cost     one factor of K + σM; per vector of the space a solve, and 4 n m multiplications to orthogonalise
//          it against m others. The space ends two to three times as large as what is asked for.
// Memory   all of the space: n (2 … 3) count doubles.
#ifndef TB_MODAL_LANCZOS_H
#define TB_MODAL_LANCZOS_H

#include "fem/body.h"
#include "math/cholesky.h"

// The body at rest. Degrees of freedom of pinned nodes stand still.
typedef struct tbModalSystem {
  const tbFemBody* fem;
  double* K;                 // at rest, in the pattern of fem->K
  double shift;              // σ                                                        1/s²
  struct tbCholesky* factor; // of K + σM
  double* rigid;             // motions without strain, M-orthonormal, one after the other (nrigid · 3 nnode)
  int nrigid;                // 6, or 0 where nodes are pinned
} tbModalSystem;

// K, M and the factor. The shift is a small part of the lowest elastic eigenvalue, by Rayleigh's quotient of
// fields that are quadratic in the coordinates: rigid motions have the eigenvalue σ and not 0.
tbStatus tb_modal_system(tbContext* ctx, tbArena* arena, tbFemBody* fem, tbModalSystem* out);
void tb_modal_system_free(tbContext* ctx, tbModalSystem* system);

void tb_modal_mass(const tbFemBody* fem, const double* u, double* out); // M u, pinned nodes 0
// (K + σM)⁻¹ b for `count` vectors that stand one after the other; out may be b.
tbStatus tb_modal_solve(tbContext* ctx, const tbModalSystem* system, int count, const double* b, double* out);

int tb_modal_count(const tbModalSystem* system); // modes that there are above the rigid ones
// The `count` lowest of them, M-orthonormal, one after the other, ascending; `value` holds λ.
// Of each vector the largest entry is positive. The same bits for any number of threads.
tbStatus tb_modal_lanczos(tbContext* ctx, const tbModalSystem* system, int count, double* vectors,
                          double* value);

#endif
