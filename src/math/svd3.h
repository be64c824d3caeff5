// SPDX-License-Identifier: Apache-2.0
#ifndef TB_MATH_SVD3_H
#define TB_MATH_SVD3_H

#include "tribo/math.h"

// A = U diag(s) Vᵀ with U and V rotations and s[0] ≥ s[1] ≥ |s[2]|; s[2] has the sign of det A. An inverted
// element shows itself as a negative last value, and U Vᵀ is the closest rotation all the same.
typedef struct tbSvd3 {
  tbMat3 U;
  double s[3];
  tbMat3 V;
} tbSvd3;

tbSvd3 tb_svd3(tbMat3 A);

// The same for many matrices at once, several times faster: as accurate, but not to the bit the same as
// tb_svd3. What one matrix gets does not depend on its neighbours or on how wide the machine is.
void tb_svd3_many(int count, const tbMat3* A, tbSvd3* out);

#endif
