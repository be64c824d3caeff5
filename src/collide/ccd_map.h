// SPDX-License-Identifier: Apache-2.0
// What every method works on: F(t, u, v) = C(t) + u U(t) + v V(t), scaled so that its largest part is near 1.
#ifndef TB_COLLIDE_CCD_MAP_H
#define TB_COLLIDE_CCD_MAP_H

#include "collide/ccd.h"

typedef struct tbCcdMap {
  tbVec3 C[2], U[2], V[2]; // at t = 0 and t = 1
  tbVec3 size;             // |C| + |U| + |V| by component, the larger of the two ends
  double separation, delta;
  bool triangle; // u + v ≤ 1; otherwise a square
} tbCcdMap;

static inline tbVec3 tb_ccd_at(const tbCcdMap* F, double t, double u, double v)
{
  tbVec3 a = tb_madd3(tb_madd3(F->C[0], u, F->U[0]), v, F->V[0]);
  tbVec3 b = tb_madd3(tb_madd3(F->C[1], u, F->U[1]), v, F->V[1]);
  return tb_lerp3(a, b, t);
}

// The place of the domain where |F| is least at a given moment, to rounding; returns |F| there.
double tb_ccd_closest(const tbCcdMap* F, double t, double* u, double* v);

// A place in the domain, as the methods find it.
typedef struct tbCcdRoot {
  double t, u, v;
  bool capped;
  int boxes;
} tbCcdRoot;

bool tb_ccd_inclusion(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root);
bool tb_ccd_cubic(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root);
bool tb_ccd_multivariate(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root);

#endif
