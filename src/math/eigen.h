// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and vectors of a dense symmetric matrix: Householder's reduction to a tridiagonal one, then QL
// iterations with implicit shifts (Bowdler, Martin, Reinsch and Wilkinson 1968; EISPACK's tred2 and tql2).
//
// Cost     some 9 n³ multiplications, most of them on the vectors. No allocation.
#ifndef TB_MATH_EIGEN_H
#define TB_MATH_EIGEN_H

#include <stdbool.h>

// A (n × n, row-major; both triangles are read) becomes the eigenvectors, one per row, and `value` the
// eigenvalues, ascending. work: n. False: NaN came in, or iterations did not end.
bool tb_dense_eigen(int n, double* A, double* value, double* work);

#endif
