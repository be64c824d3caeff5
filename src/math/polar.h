// SPDX-License-Identifier: Apache-2.0
#ifndef TB_MATH_POLAR_H
#define TB_MATH_POLAR_H

#include "tribo/math.h"

// A = R S with R the rotation closest to A in the Frobenius norm and S symmetric. For det A > 0, S is
// positive definite; for an inverted A, R is a rotation all the same and the smallest eigenvalue of S is
// negative.
typedef struct tbPolar3 {
  tbMat3 R, S;
} tbPolar3;

tbPolar3 tb_polar3(tbMat3 A);

#endif
