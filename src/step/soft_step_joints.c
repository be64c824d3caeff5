// SPDX-License-Identifier: Apache-2.0
// Joints of soft-step: the rows of joint_rows.c at the start of the step, followed to first order.
//
//   e = e₀ + J d          the error, from what the bodies have moved since
//   rigid rows            the joint's own block at once: λ ← λ − hard W⁻¹(J v + rate e) − yielded λ
//   springs, servos       implicit: λ ← λ − (W + R)⁻¹(J v + bias(e) + R λ), R and bias of a substep
//   limits                as contacts: an open one may close within the substep
//   motors, friction      λ within ± force · substep
//   rotors                one more row of the joint's block: J v − u₀ + λ/I, u₀ = J v of the substep's start
//
// Joints are few beside contacts, and are solved one after the other before them (soft_step_joint_solve.c),
// sorted by how many of those before them they wait for: a block comes after all with which it shares a body,
// as in the order in which joints were made, and so to the same result.
#include "step/soft_step_joint.h"

#include "base/memory.h"

#include <string.h>

static void respond(const tbSoftStepMass* m, const double row[6], double out[6])
{
  const float* I = m->inertia;
  for (int k = 0; k < 3; k++) out[k] = m->mass * row[k];
  out[3] = I[0] * row[3] + I[1] * row[4] + I[2] * row[5];
  out[4] = I[1] * row[3] + I[3] * row[4] + I[4] * row[5];
  out[5] = I[2] * row[3] + I[4] * row[4] + I[5] * row[5];
}

static double dot6(const double x[6], const double y[6])
{
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += x[k] * y[k];
  return sum;
}

// Stiffness and damping of a row that has a compliance, from the joint it is of.
static void spring_of(const tbJoint* j, const tbJointBlock* block, int row, double h, double* k, double* b)
{
  bool servo = block->slot == TB_JOINT_DRIVE;
  *k = servo ? j->def.servo.stiffness : 1 / j->def.compliance;
  *b = servo ? j->def.servo.damping : j->def.damping;
  bool only_damper = !servo && *b > 0 && block->compliance[row] == 1 / (h * *b); // its spring is a force
  if (only_damper) *k = 0;
}

static void put_row(const tbJointBlock* block, int row, tbSoftStepJoint* out, int i)
{
  for (int k = 0; k < 6; k++) out->J[0][k][i] = block->a[row][k], out->J[1][k][i] = block->b[row][k];
}

// One more row, of a rotor, to be solved with those that hold the joint: heavy rotors on light bodies need
// it.
static void add_rotor(const tbJointBlock* block, tbSoftStepJoint* out)
{
  int i = out->rotor = out->rows++;
  put_row(block, 0, out, i);
  out->slot[i] = TB_JOINT_ROTOR;
  out->error[i] = block->bias[0], out->give[i] = block->compliance[0];
}

// The blocks are those of a whole step with all of the error as bias, e/h.
static void set_row(const tbJoint* j, const tbJointBlock* block, int i, double h, double substep,
                    tbSoftStepJoint* out)
{
  out->slot[i] = block->slot + i;
  put_row(block, i, out, i);
  out->drive =
      block->slot == TB_JOINT_FRICTION || (block->slot == TB_JOINT_DRIVE && !(block->compliance[i] > 0));
  out->error[i] = out->drive ? block->bias[i] : h * block->bias[i];
  out->low[i] = block->law == TB_LAW_NONNEG ? 0 : -INFINITY, out->high[i] = INFINITY;
  if (block->law == TB_LAW_BOX)
    out->low[i] = block->param[0] * substep / h, out->high[i] = block->param[1] * substep / h;
  if (!(block->compliance[i] > 0)) return;
  double k, b;
  spring_of(j, block, i, h, &k, &b);
  out->error[i] = k > 0 ? block->bias[i] * (h * k + b) / k + h * block->rate : 0;
  out->rate = block->rate;
  out->follows = true;
  double denominator = substep * substep * k + substep * b;
  out->give[i] = 1 / denominator, out->slope[i] = substep * k / denominator;
}

// X ← W⁻¹, column by column, by Cholesky's factor, which overwrites W; false: W is not positive definite. All
// columns go through it side by side.
static bool invert_block(int n, double W[TB_MAX_ROWS][TB_MAX_ROWS], tbSoftStepRow X[TB_MAX_ROWS])
{
  tbSoftStepRow Y[TB_MAX_ROWS] = {{0}}; // row by row
  int wide = n > 4 ? TB_SOFT_STEP_ROWS : 4;
  for (int k = 0; k < n; k++) {
    if (!(W[k][k] > 0)) return false;
    double pivot = sqrt(W[k][k]);
    for (int i = k; i < n; i++) W[k][i] /= pivot;
    for (int i = k + 1; i < n; i++)
      for (int j = i; j < n; j++) W[i][j] -= W[k][i] * W[k][j];
    Y[k][k] = 1;
  }
  for (int k = 0; k < n; k++) {
    for (int c = 0; c < wide; c++) Y[k][c] /= W[k][k];
    for (int i = k + 1; i < n; i++)
      for (int c = 0; c < wide; c++) Y[i][c] -= W[k][i] * Y[k][c];
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int i = k + 1; i < n; i++)
      for (int c = 0; c < wide; c++) Y[k][c] -= W[k][i] * Y[i][c];
    for (int c = 0; c < wide; c++) Y[k][c] /= W[k][k];
  }
  for (int c = 0; c < n; c++)
    for (int k = 0; k < n; k++) X[c][k] = Y[k][c];
  return true;
}

// (W + R)⁻¹ of all rows, or of each. Rows that repeat each other: a little more on the diagonal. Where
// neither body moves, nothing.
static void invert(const tbSoftStepWork* s, tbSoftStepJoint* j)
{
  int n = j->rows;
  double W[TB_MAX_ROWS][TB_MAX_ROWS], row[2][TB_MAX_ROWS][6], trace = 0;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 6; k++) row[side][i][k] = j->J[side][k][i];
      respond(&s->mass[side ? j->b : j->a], row[side][i], j->Y[side][i]);
    }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++)
      W[i][k] = dot6(row[0][i], j->Y[0][k]) + dot6(row[1][i], j->Y[1][k]) + (i == k ? j->give[i] : 0);
    trace += W[i][i];
  }
  if (j->one_by_one) {
    for (int i = 0; i < n; i++) j->inverse[i][i] = W[i][i] > 0 ? 1 / W[i][i] : 0;
    return;
  }
  for (int i = 0; i < n; i++) W[i][i] += 1e-9 * trace / n;
  if (trace > 0 && !invert_block(n, W, j->inverse)) memset(j->inverse, 0, sizeof j->inverse);
}

// The order of the sweeps: first the blocks that wait for none, then those that wait for one of these, and so
// on.
static tbStatus put_in_order(tbArena* arena, tbSoftStepWork* s)
{
  int n = s->njoint;
  int* after = TB_TAKE(arena, int, (size_t)s->moving); // the last block of a body: so many come before it
  int* level = TB_TAKE_UNSET(arena, int, (size_t)n);
  int* first = TB_TAKE(arena, int, (size_t)n + 2);
  s->joint_order = TB_TAKE_UNSET(arena, int, (size_t)n);
  if (!after || !level || !first || !s->joint_order) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    int a = s->joint[i].a, b = s->joint[i].b, most = 0;
    if (a < s->moving) most = after[a];
    if (b < s->moving && after[b] > most) most = after[b];
    level[i] = most;
    if (a < s->moving) after[a] = most + 1;
    if (b < s->moving) after[b] = most + 1;
    first[most + 1]++;
  }
  for (int k = 0; k < n; k++) first[k + 1] += first[k];
  for (int i = 0; i < n; i++) s->joint_order[first[level[i]]++] = i;
  return TB_OK;
}

// Its bodies sleep: it keeps what it had.
static bool is_still(const tbSoftStepWork* s, const tbJoint* j)
{
  return s->still && (j->a < 0 || s->still[j->a]) && (j->b < 0 || s->still[j->b]);
}

tbStatus tb_soft_step_joints_begin(tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                                   tbSoftStepWork* s)
{
  if (w->joint.count == 0) return TB_OK;
  s->joint = TB_TAKE_UNSET(arena, tbSoftStepJoint, TB_JOINT_BLOCKS * w->joint.count);
  s->joint_total = tb_arena_take(arena, w->joint.count, sizeof *s->joint_total);
  if (!s->joint || !s->joint_total) return TB_ERROR_MEMORY;
  tbStepOptions whole = *o;
  whole.stabilization = TB_STABILIZE_BAUMGARTE, whole.fraction = 1;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    if (is_still(s, j)) continue;
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count = tb_joint_blocks(w, &whole, TB_JOINT_VELOCITIES, NULL, s->centre, j, block);
    bool rotor = j->def.armature > 0; // in the last block
    for (int k = 0; k < count - rotor; k++) {
      tbSoftStepJoint* out = &s->joint[s->njoint++];
      *out = (tbSoftStepJoint){.joint = (int)i, .law = block[k].law, .rows = block[k].rows, .rotor = -1};
      out->a = j->a < 0 ? s->bodies : s->index[j->a], out->b = j->b < 0 ? s->bodies : s->index[j->b];
      for (int r = 0; r < out->rows; r++) set_row(j, &block[k], r, o->dt, o->dt / s->substeps, out);
      if (rotor && k == 0) add_rotor(&block[count - 1], out);
      out->one_by_one = out->law != TB_LAW_BILATERAL || out->rows == 1;
      out->follows |= out->law == TB_LAW_NONNEG;
      out->rigid = !out->one_by_one && !out->drive && !out->follows && out->rotor < 0;
      for (int r = 0; r < out->rows && o->warm_start; r++)
        out->lambda[r] = j->impulse[out->slot[r]] / s->substeps;
      invert(s, out);
    }
  }
  return put_in_order(arena, s);
}

void tb_soft_step_joints_start(tbSoftStepWork* s)
{
  for (int i = 0; i < s->njoint; i++) {
    tbSoftStepJoint* j = &s->joint[i];
    int row = j->rotor;
    if (row < 0) continue;
    const float *x = j->a < s->moving ? s->before[j->a] : s->body[j->a].v,
                *y = j->b < s->moving ? s->before[j->b] : s->body[j->b].v;
    j->error[row] = 0;
    for (int k = 0; k < 6; k++) j->error[row] -= j->J[0][k][row] * x[k] + j->J[1][k][row] * y[k];
  }
}

void tb_soft_step_joints_add(const tbSoftStepWork* s, double (*push)[6])
{
  for (int i = 0; i < s->njoint; i++) {
    const tbSoftStepJoint* j = &s->joint[i];
    for (int r = 0; r < j->rows; r++) {
      s->joint_total[j->joint][j->slot[r]] = j->total[r];
      for (int side = 0; side < 2; side++) {
        int at = side ? j->b : j->a;
        for (int k = 0; at < s->moving && k < 6; k++) push[at][k] += j->total[r] * j->J[side][k][r];
      }
    }
  }
}

void tb_soft_step_joints_take(tbSoftStepWork* s)
{
  for (int i = 0; i < s->njoint; i++) {
    tbSoftStepJoint* j = &s->joint[i];
    for (int r = 0; r < j->rows; r++) j->total[r] = s->joint_total[j->joint][j->slot[r]];
  }
}

void tb_soft_step_joints_keep(const tbSoftStepWork* s, const tbStepOptions* o, tbWorld* w)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* j = &tb_joints(w)[i];
    if (is_still(s, j)) continue;
    memcpy(j->impulse, s->joint_total[i], sizeof j->impulse);
    tb_joint_forces_keep(w, o, s->centre, w->time + 0.5 * o->dt, j);
  }
  for (int i = 0; i < s->njoint; i++) { // on b at its anchor; for the world, what a feels turned around
    const tbSoftStepJoint* block = &s->joint[i];
    tbJoint* j = &tb_joints(w)[block->joint];
    tbJointPlace place = tb_joint_placed(w, s->centre, j);
    bool on_b = block->b < s->moving;
    tbVec3 at = on_b ? place.arm_b : tb_add3(place.arm_a, place.apart);
    for (int r = 0; r < block->rows; r++) {
      double share = (on_b ? 1 : -1) * block->total[r] / o->dt;
      const tbSoftStepRow* J = block->J[on_b];
      tbVec3 f = tb_scale3(share, tb_vec3(J[0][r], J[1][r], J[2][r]));
      tbVec3 moment = tb_scale3(share, tb_vec3(J[3][r], J[4][r], J[5][r]));
      j->force = tb_add3(j->force, f);
      j->torque = tb_add3(j->torque, tb_sub3(moment, tb_cross3(at, f)));
    }
  }
}
