// SPDX-License-Identifier: Apache-2.0
// Elements as rows with compliance, for schemes that know point masses and constraints alone.
//
// At nodes x that velocities V lead to, an element's forces are f and its stiffness K ≥ 0. With K = Σ κ gᵀg
// (a pivoted Cholesky factor: as many rows g, of unit length, as K has rank) and f = Σ y gᵀ + rest, an
// implicit step of h gives the element the impulses gᵀλ of
//
//   g v + b + R λ = 0      R = 1/((h² + hβ) κ)      b = −R (h y + h²κ g V)
//
// which at V = 0 is λ = h y − (h² + hβ) κ g v: what M + hB + h²K says of it. Momentum is kept by every row,
// since an element's forces add up to nothing.
#ifndef TB_FEM_ROWS_H
#define TB_FEM_ROWS_H

#include "fem/body.h"

enum { TB_ELEMENT_ROWS = 12 };

typedef struct tbElementRows {
  int count, corners, width; // width: 3 corners, of a row
  const int* node;           // (corners)
  double row[TB_ELEMENT_ROWS][12];
  double bias[TB_ELEMENT_ROWS]; // m/s
  double compliance[TB_ELEMENT_ROWS];
  double rest[12]; // of the forces: what K does not act on    N
} tbElementRows;

// Those of one element. V: what led to x; null: nothing has.
void tb_fem_element_rows(const tbFemBody* body, int element, double h, const tbVec3* x, const tbVec3* V,
                         tbElementRows* out);

#endif
