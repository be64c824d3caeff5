// SPDX-License-Identifier: Apache-2.0
// The rows of a step anew where its velocities have led so far, for schemes that evaluate constraints in
// every iteration (Macklin et al. 2020, algorithm 2).
//
// A row measures a coordinate C of two rigid bodies: the distance of two points along a fixed direction, the
// error of a joint, its angle or travel. The start of the step has u = J₀v + b₀ of it. At q = q⁻ + h G v
//
//   u = J(q) v' + b,   b = b₀ + (C(q) − C(q⁻))/h − J(q) v
//
// so that at v itself it is what the coordinate has changed by, and not what J₀ says of that. Directions of
// contacts stay; surfaces that deform, and elements, stay linear.
#ifndef TB_STEP_RELAXED_ANEW_H
#define TB_STEP_RELAXED_ANEW_H

#include "step/integrate.h"

typedef struct tbRowsAnew {
  const tbWorld* world;
  const tbStepOptions* options;
  tbAssembly* assembly;
  tbTransform* centre; // of the centres of mass at q                          (bodies)
  double* bias;        // b₀                                                   (nrow)
  double* start;       // C(q⁻), of joints                                     (nrow)
} tbRowsAnew;

tbStatus tb_rows_anew_begin(tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                            tbAssembly* assembly, tbRowsAnew* out);

// Writes J and b of the assembled problem at the velocities v; anew: a tbRowsAnew.
void tb_rows_anew(void* anew, const double* v);

#endif
