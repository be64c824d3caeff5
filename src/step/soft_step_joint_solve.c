// SPDX-License-Identifier: Apache-2.0
// Sweeps over the joints of soft-step, block after block, in doubles: the rows of a block side by side.
// Blocks go as they depend on each other (soft_step_joints.c), those that share no body in a row: a processor
// begins with the next ones while the one before is still on its way through it. Compiled once per vector
// width.
#include "step/soft_step_joint.h"

#include "base/simd.h"

enum { HERTZ = 60, DAMPING = 2 }; // of rigid rows

// Rows of a block, four to a register; the second one only where there are so many.
typedef struct {
  tb4d lo, hi;
} Rows;

static inline Rows add_scaled(Rows sum, double s, const double* x, bool many)
{
  tb4d by = tb4_set1(s);
  sum.lo = tb4_add(sum.lo, tb4_mul(by, tb4_load(x)));
  if (many) sum.hi = tb4_add(sum.hi, tb4_mul(by, tb4_load(x + 4)));
  return sum;
}

// J x of the velocities, or of the ways, of the two bodies.
static inline Rows along(const tbSoftStepJoint* j, const float* x, const float* y, bool many)
{
  Rows sum = {tb4_set1(0), tb4_set1(0)};
  for (int k = 0; k < 6; k++) sum = add_scaled(sum, x[k], j->J[0][k], many);
  for (int k = 0; k < 6; k++) sum = add_scaled(sum, y[k], j->J[1][k], many);
  return sum;
}

static inline void store_rows(double* x, Rows rows)
{
  tb4_store(x, rows.lo);
  tb4_store(x + 4, rows.hi);
}

// v ← v + Y change, of rows first … last.
static inline void apply(tbSoftStepWork* s, const tbSoftStepJoint* j, int first, int last,
                         const double* change)
{
  for (int side = 0; side < 2; side++) {
    int at = side ? j->b : j->a;
    if (at >= s->moving) continue;
    Rows sum = {tb4_set1(0), tb4_set1(0)};
    double dv[8];
    for (int r = first; r <= last; r++) sum = add_scaled(sum, change[r], j->Y[side][r], true);
    store_rows(dv, sum);
    float* v = s->body[at].v; // the last two stay 0, as they are in Y
    for (int k = 0; k < 8; k++) v[k] = (float)(v[k] + dv[k]);
  }
}

void tb_soft_step_joints_warm(tbSoftStepWork* s)
{
  for (int i = 0; i < s->njoint; i++) apply(s, &s->joint[i], 0, s->joint[i].rows - 1, s->joint[i].lambda);
}

// The velocity u that a row misses by, with its error e; its softness, and what it gives back.
static inline double miss(const tbSoftStepJoint* j, int row, double u, double e, const tbSoftStepPass* pass,
                          const tbSoftness* soft, double* hard, double* yielded)
{
  *hard = 1, *yielded = 0;
  if (j->drive) return u + j->error[row];
  if (row == j->rotor) return u + j->error[row] + j->give[row] * j->lambda[row];
  if (j->give[row] > 0) return u + j->slope[row] * e + j->give[row] * j->lambda[row];
  if (j->law == TB_LAW_NONNEG && e > 0) return u + e * pass->inverse_h;
  if (!pass->push) return u;
  *hard = 1 / (1 + soft->give), *yielded = soft->give * *hard;
  return u + soft->rate * e;
}

// Errors as far as the bodies have come; where no row asks for them, they are not looked at.
static inline void errors_of(const tbSoftStepWork* s, const tbSoftStepJoint* j, const tbSoftStepPass* pass,
                             double e[TB_SOFT_STEP_ROWS])
{
  if (j->drive || !(pass->push || j->follows)) {
    for (int r = 0; r < j->rows; r++) e[r] = 0;
    return;
  }
  store_rows(e, along(j, s->body[j->a].d, s->body[j->b].d, j->rows > 4));
  for (int r = 0; r < j->rows; r++) e[r] += j->error[r] - j->rate * pass->elapsed;
}

static inline void solve_block(tbSoftStepWork* s, tbSoftStepJoint* j, const tbSoftStepPass* pass,
                               const tbSoftness* soft)
{
  double u[TB_SOFT_STEP_ROWS], e[TB_SOFT_STEP_ROWS], change[TB_SOFT_STEP_ROWS], yielded[TB_SOFT_STEP_ROWS];
  bool many = j->rows > 4;
  store_rows(u, along(j, s->body[j->a].v, s->body[j->b].v, many));
  errors_of(s, j, pass, e);
  Rows sum = {tb4_set1(0), tb4_set1(0)};
  for (int c = 0; c < j->rows; c++) {
    double hard, error = miss(j, c, u[c], e[c], pass, soft, &hard, &yielded[c]);
    sum = add_scaled(sum, -hard * error, j->inverse[c], many);
  }
  store_rows(change, sum);
  for (int r = 0; r < j->rows; r++) change[r] -= yielded[r] * j->lambda[r], j->lambda[r] += change[r];
  apply(s, j, 0, j->rows - 1, change);
}

// The same, where all rows are rigid.
static inline void solve_rigid(tbSoftStepWork* s, tbSoftStepJoint* j, const tbSoftStepPass* pass,
                               const tbSoftness* soft, bool many)
{
  double error[TB_SOFT_STEP_ROWS], change[TB_SOFT_STEP_ROWS];
  double hard = pass->push ? 1 / (1 + soft->give) : 1, yielded = pass->push ? soft->give * hard : 0;
  Rows miss = along(j, s->body[j->a].v, s->body[j->b].v, many);
  if (pass->push) {
    Rows e = along(j, s->body[j->a].d, s->body[j->b].d, many);
    tb4d rate = tb4_set1(soft->rate);
    miss.lo = tb4_add(miss.lo, tb4_mul(rate, tb4_add(e.lo, tb4_load(j->error))));
    if (many) miss.hi = tb4_add(miss.hi, tb4_mul(rate, tb4_add(e.hi, tb4_load(j->error + 4))));
  }
  store_rows(error, miss);
  Rows sum = {tb4_set1(0), tb4_set1(0)};
  for (int c = 0; c < j->rows; c++) sum = add_scaled(sum, -hard * error[c], j->inverse[c], many);
  tb4d give = tb4_set1(yielded), now[2] = {tb4_load(j->lambda), tb4_load(j->lambda + 4)};
  sum = (Rows){tb4_sub(sum.lo, tb4_mul(give, now[0])), tb4_sub(sum.hi, tb4_mul(give, now[1]))};
  store_rows(change, sum);
  store_rows(j->lambda, (Rows){tb4_add(now[0], sum.lo), tb4_add(now[1], sum.hi)});
  apply(s, j, 0, j->rows - 1, change);
}

static inline void solve_rows(tbSoftStepWork* s, tbSoftStepJoint* j, const tbSoftStepPass* pass,
                              const tbSoftness* soft)
{
  double u[TB_SOFT_STEP_ROWS], e[TB_SOFT_STEP_ROWS], change[TB_SOFT_STEP_ROWS];
  errors_of(s, j, pass, e);
  for (int r = 0; r < j->rows; r++) {
    store_rows(u, along(j, s->body[j->a].v, s->body[j->b].v, j->rows > 4));
    double hard, yielded, error = miss(j, r, u[r], e[r], pass, soft, &hard, &yielded);
    double next = j->lambda[r] - hard * j->inverse[r][r] * error - yielded * j->lambda[r];
    next = fmin(fmax(next, j->low[r]), j->high[r]);
    change[r] = next - j->lambda[r], j->lambda[r] = next;
    if (change[r] != 0) apply(s, j, r, r, change);
  }
}

void tb_soft_step_joints_solve(tbSoftStepWork* s, const tbSoftStepPass* pass)
{
  tbSoftness soft = tb_softness(fmin(HERTZ, 0.25 * pass->inverse_h), DAMPING, 1 / pass->inverse_h);
  for (int i = 0; i < s->njoint; i++) {
    tbSoftStepJoint* j = &s->joint[s->joint_order[i]];
    if (j->one_by_one) solve_rows(s, j, pass, &soft);
    else if (j->rigid && j->rows <= 4) solve_rigid(s, j, pass, &soft, false);
    else if (j->rigid) solve_rigid(s, j, pass, &soft, true);
    else solve_block(s, j, pass, &soft);
    for (int r = 0; !pass->push && r < TB_SOFT_STEP_ROWS; r++) j->total[r] += j->lambda[r];
  }
}
