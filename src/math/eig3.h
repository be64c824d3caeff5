// SPDX-License-Identifier: Apache-2.0
#ifndef TB_MATH_EIG3_H
#define TB_MATH_EIG3_H

#include "tribo/math.h"

// A = V diag(s) Vᵀ with s[0] ≥ s[1] ≥ s[2]; the columns of V are the eigenvectors, V is a rotation.
typedef struct tbEig3 {
  double s[3];
  tbMat3 V;
} tbEig3;

tbEig3 tb_eig3(tbMat3 A); // A symmetric; only its upper triangle is read

#endif
