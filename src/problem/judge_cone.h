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

static inline double tb_judge_root(int n, const double* x, double sum) // sum: of the squares, in their order
{
  if (sum > 1e-270 && sum < 1e300) return sqrt(sum);
  bool zero = sum == 0;
  for (int i = 0; zero && i < n; i++) zero = x[i] == 0;
  return zero ? 0 : tb_judge_norm_scaled(n, x, sum);
}

static inline double tb_judge_norm(int n, const double* x)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return tb_judge_root(n, x, sum);
}

// x = P_K(z) for the circular cone ‖f‖ ≤ μ n, where z needs no scaling. Inline, so that callers who know
// `dim` get it written out.
// Points that are clearly within the cone, or the cone that projects to its tip, need no root.
static inline void tb_judge_project_circular(double mu, int dim, const double* z, double* x)
{
  const double least = 1e-270, clearly = 1 - 1e-14;
  double square = 0, own = z[0] * z[0], reach = mu * mu * own;
  for (int i = 1; i <= dim; i++) square += z[i] * z[i];
  bool in = z[0] > 0 && reach > least && square <= clearly * reach;
  if (in || (z[0] < 0 && own > least && mu * mu * square <= clearly * own)) {
    for (int i = 0; i <= dim; i++) x[i] = in ? z[i] : 0;
    return;
  }
  double length = tb_judge_norm(dim, z + 1);
  if (length <= mu * z[0]) {
    for (int i = 0; i <= dim; i++) x[i] = z[i];
    return;
  }
  double n = mu * length <= -z[0] ? 0 : (z[0] + mu * length) / (1 + mu * mu);
  x[0] = n;
  for (int i = 0; i < dim; i++) x[1 + i] = length > 0 ? mu * n * (z[1 + i] / length) : 0;
}

// The largest of n absolute values; a NaN is passed over.
static inline double tb_judge_largest(int n, const double* z)
{
  double largest = 0;
  for (int i = 0; i < n; i++)
    if (fabs(z[i]) > largest) largest = fabs(z[i]);
  return largest;
}

// Whether squares of such numbers neither overflow nor underflow, or no scaling helps.
static inline bool tb_judge_is_ordinary(double largest)
{
  return (largest > 0x1p-60 && largest < 0x1p60) || !(largest > 0) || isinf(largest);
}

// 2^-e and 2^e for a number of size 2^e, as frexp() counts. False where one of them is no normal number.
static inline bool tb_judge_powers(double largest, double* down, double* up)
{
  union {
    double number;
    uint64_t bits;
  } u = {largest};
  int e = (int)(u.bits >> 52 & 2047) - 1022;
  if (e < -1000 || e > 1000) return false;
  u.bits = (uint64_t)(1023 - e) << 52;
  *down = u.number;
  u.bits = (uint64_t)(1023 + e) << 52;
  *up = u.number;
  return true;
}

#endif
