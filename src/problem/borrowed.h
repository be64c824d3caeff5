// SPDX-License-Identifier: Apache-2.0
// A sparse metric block whose arrays are borrowed.
//
// A deformable body keeps its matrix A = M + hB + h²K, and perhaps its factor, from one problem to the next:
// within a step contacts are found several times while A stays.
#ifndef TB_PROBLEM_BORROWED_H
#define TB_PROBLEM_BORROWED_H

#include "math/cholesky.h"
#include "math/packed.h"
#include "tribo/problem.h"

// As tb_builder_sparse, but the arrays of A are borrowed: neither copied nor checked, and they must outlive
// the problem. `factor` holds the factor of these values, and is borrowed too; null: A is too large to
// factor, and is solved with by conjugate gradients. `packed` is the upper half of A, borrowed; null where
// rows do not come in triples, or it was not made. `inverse` holds entries of A⁻¹, borrowed; null: computed
// where many contacts ask for them. v_free is copied.
tbStatus tb_builder_borrowed(tbBuilder* b, int size, const int* ptr, const int* col, const double* val,
                             const double* v_free, const tbCholesky* factor, const tbPacked* packed,
                             const struct tbSelectedInverse* inverse, int* dof);

#endif
