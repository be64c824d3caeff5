// SPDX-License-Identifier: Apache-2.0
// Barriers and the smoothed friction of incremental potential contact (Li et al. 2020; course §5.2, §5.3).
//
//   log         b(d) = −d̂ (1 − d/d̂)² ln(d/d̂)           for 0 < d < d̂,   0 beyond
//   quadratic   b(d) = (d̂ − d)²/(2 d̂)
//   layers      b(d) = Σ_l 8^l (d̂/2^l − d)²/(2 d̂)        over the layers l = 0, 1, … that d is in
//
// Times a stiffness κ in newtons it is an energy. The force κ |b'| of the logarithm grows without bound as d
// goes to 0, is about κ where d = 0.54 d̂, and goes to 0 with two continuous derivatives at d̂. That of the
// layers grows without bound, too, and is continuous; Harmon et al. (2009) have l³ and l^(−1/4) for 8^l and
// 2^−l, which at a tenth of d̂ are ten thousand layers. The quadratic one is κ at most: a penalty.
#ifndef TB_BARRIER_BARRIER_H
#define TB_BARRIER_BARRIER_H

#include "tribo/math.h"
#include "tribo/step.h"

// Value and two derivatives.
typedef struct tbJet {
  double value, first, second;
} tbJet;

tbJet tb_barrier(tbBarrierKind kind, double distance, double dhat); // by the distance, which is above 0

// The same of a distance whose square is s, by s.
tbJet tb_barrier_of_square(tbBarrierKind kind, double s, double dhat);

// Friction's potential by the length y of the sliding, and its force as a share of the whole: below `reach`
// it grows smoothly from 0 (course, equations 296 to 298).
//   value f0(y),  first f1(y)/y,  second f1'(y)
tbJet tb_smooth_friction(double y, double reach);

// A ← A with its negative eigenvalues replaced by 0; symmetric, n × n, n at most 12. Cyclic Jacobi rotations.
enum { TB_MOST_POSITIVE = 12 };
void tb_make_positive(int n, double* A);

#endif
