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

#endif
