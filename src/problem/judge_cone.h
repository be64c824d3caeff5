// SPDX-License-Identifier: Apache-2.0
// Friction sets and the cones over them, as the judge computes them. No solver includes this: solvers have
// their own (solve/friction.h, math/cone.h).
#ifndef TB_PROBLEM_JUDGE_CONE_H
#define TB_PROBLEM_JUDGE_CONE_H

#include "tribo/problem.h"

#include <math.h>

typedef enum { TB_JUDGE_ELLIPSOID, TB_JUDGE_BOX, TB_JUDGE_BALLS, TB_JUDGE_POLYGON } tbJudgeSetKind;

typedef struct tbJudgeSet {
  tbJudgeSetKind kind;
  int dim;                                 // friction rows
  double axis[TB_MAX_ROWS];                // ellipsoid: half axes
  double lo[TB_MAX_ROWS], hi[TB_MAX_ROWS]; // box: lo ≤ 0 ≤ hi
  int balls, ball_dim[3];                  // balls: how many rows each takes, in order
  double radius[3];
  int corners; // polygon: counter-clockwise
  double x[TB_MAX_DIRECTIONS], y[TB_MAX_DIRECTIONS];
} tbJudgeSet;

// The set F of contact k as its law says, seen through the model.
void tb_judge_set(const tbProblem* problem, int k, tbModel model, int directions, tbJudgeSet* out);

// What a friction tensor L makes of λ: (λ_n, √det L · L⁻¹ λ_F), which obeys Coulomb's law with μ = √det L.
void tb_judge_tensor(const double* L, const double* lambda, double* out);

// σ_F(d) = max over f ∈ F of f·d
double tb_judge_support(const tbJudgeSet* set, const double* d);

// x = P_K(z), K the cone over F; set->dim + 1 numbers each. Scaling z by a power of two scales x, whatever
// the size of z.
void tb_judge_project(const tbJudgeSet* set, const double* z, double* x);

// ‖x‖₂; no square overflows or underflows. A NaN gives NaN, an infinity ∞.
double tb_judge_norm_scaled(int n, const double* x, double sum); // where the sum of squares does not tell

static inline double tb_judge_norm(int n, const double* x)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum > 1e-270 && sum < 1e300 ? sqrt(sum) : tb_judge_norm_scaled(n, x, sum);
}

#endif
