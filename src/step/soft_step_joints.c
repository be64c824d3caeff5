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
// Joints are few beside contacts, and are solved one after the other before them, in doubles.
#include "step/soft_step_work.h"

#include "math/dense.h"

#include <string.h>

typedef struct tbSoftStepJoint {
  int joint, law, rows;
  int slot[TB_MAX_ROWS];
  int a, b;
  double J[2][TB_MAX_ROWS][6], Y[2][TB_MAX_ROWS][6]; // rows, and A⁻¹ of them
  double inverse[TB_MAX_ROWS * TB_MAX_ROWS];         // of W + R; of rows by themselves: 1/(W_ii + R_i)
  double error[TB_MAX_ROWS];                         // m, rad; of motors: −speed; of rotors: −u₀
  double rate;                                       // of a servo's target: the error falls by it
  double slope[TB_MAX_ROWS];                         // of springs: bias = slope · e
  double give[TB_MAX_ROWS];                          // R; 0: rigid
  double low[TB_MAX_ROWS], high[TB_MAX_ROWS];
  bool drive; // a motor or dry friction: no error
  int rotor;  // its row; −1: none
  double lambda[TB_MAX_ROWS], total[TB_MAX_ROWS];
} tbSoftStepJoint;

enum { HERTZ = 60, DAMPING = 2 }; // of rigid rows

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

// One more row, of a rotor, to be solved with those that hold the joint: heavy rotors on light bodies need
// it.
static void add_rotor(const tbJointBlock* block, tbSoftStepJoint* out)
{
  int i = out->rotor = out->rows++;
  memcpy(out->J[0][i], block->a[0], sizeof block->a[0]);
  memcpy(out->J[1][i], block->b[0], sizeof block->b[0]);
  out->slot[i] = TB_JOINT_ROTOR;
  out->error[i] = block->bias[0], out->give[i] = block->compliance[0];
}

// The blocks are those of a whole step with all of the error as bias, e/h.
static void set_row(const tbJoint* j, const tbJointBlock* block, int i, double h, double substep,
                    tbSoftStepJoint* out)
{
  out->slot[i] = block->slot + i;
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
  double denominator = substep * substep * k + substep * b;
  out->give[i] = 1 / denominator, out->slope[i] = substep * k / denominator;
}

static bool by_rows(const tbSoftStepJoint* j) { return j->law != TB_LAW_BILATERAL || j->rows == 1; }

// (W + R)⁻¹ of all rows, or of each. Rows that repeat each other: a little more on the diagonal.
static void invert(const tbSoftStepWork* s, tbSoftStepJoint* j)
{
  int n = j->rows;
  double W[TB_MAX_ROWS * TB_MAX_ROWS], trace = 0;
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < n; i++) respond(&s->mass[side ? j->b : j->a], j->J[side][i], j->Y[side][i]);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      W[n * i + k] = dot6(j->J[0][i], j->Y[0][k]) + dot6(j->J[1][i], j->Y[1][k]) + (i == k ? j->give[i] : 0);
  for (int i = 0; i < n; i++) trace += W[n * i + i];
  memset(j->inverse, 0, sizeof j->inverse);
  if (by_rows(j)) {
    for (int i = 0; i < n; i++) j->inverse[n * i + i] = W[n * i + i] > 0 ? 1 / W[n * i + i] : 0;
    return;
  }
  for (int i = 0; i < n; i++) W[n * i + i] += 1e-9 * trace / n;
  if (!(trace > 0) || tb_dense_cholesky(n, W, n) < n) return; // neither body moves
  for (int c = 0; c < n; c++) {
    double e[TB_MAX_ROWS] = {0};
    e[c] = 1;
    tb_dense_cholesky_solve(n, W, n, e);
    for (int r = 0; r < n; r++) j->inverse[n * r + c] = e[r];
  }
}

tbStatus tb_soft_step_joints_begin(tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                                   tbSoftStepWork* s)
{
  if (w->joint.count == 0) return TB_OK;
  s->joint = TB_TAKE(arena, tbSoftStepJoint, TB_JOINT_BLOCKS * w->joint.count);
  s->joint_total = tb_arena_take(arena, w->joint.count, sizeof *s->joint_total);
  if (!s->joint || !s->joint_total) return TB_ERROR_MEMORY;
  tbStepOptions whole = *o;
  whole.stabilization = TB_STABILIZE_BAUMGARTE, whole.fraction = 1;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count = tb_joint_blocks(w, &whole, TB_JOINT_VELOCITIES, NULL, s->centre, j, block);
    bool rotor = j->def.armature > 0; // in the last block
    for (int k = 0; k < count - rotor; k++) {
      tbSoftStepJoint* out = &s->joint[s->njoint++];
      out->joint = (int)i, out->law = block[k].law, out->rows = block[k].rows, out->rotor = -1;
      out->a = j->a < 0 ? s->bodies : s->index[j->a], out->b = j->b < 0 ? s->bodies : s->index[j->b];
      memcpy(out->J[0], block[k].a, sizeof block[k].a);
      memcpy(out->J[1], block[k].b, sizeof block[k].b);
      for (int r = 0; r < out->rows; r++) set_row(j, &block[k], r, o->dt, o->dt / s->substeps, out);
      if (rotor && k == 0) add_rotor(&block[count - 1], out);
      for (int r = 0; r < out->rows && o->warm_start; r++)
        out->lambda[r] = j->impulse[out->slot[r]] / s->substeps;
      invert(s, out);
    }
  }
  return TB_OK;
}

static void apply(tbSoftStepWork* s, tbSoftStepJoint* j, int row, double change)
{
  for (int side = 0; side < 2; side++) {
    int at = side ? j->b : j->a;
    if (at >= s->moving) continue;
    for (int k = 0; k < 6; k++) s->body[at].v[k] += (float)(change * j->Y[side][row][k]);
  }
}

void tb_soft_step_joints_warm(tbSoftStepWork* s)
{
  for (int i = 0; i < s->njoint; i++)
    for (int r = 0; r < s->joint[i].rows; r++) apply(s, &s->joint[i], r, s->joint[i].lambda[r]);
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
    for (int k = 0; k < 6; k++) j->error[row] -= j->J[0][row][k] * x[k] + j->J[1][row][k] * y[k];
  }
}

// J x for one of the arrays of the two bodies.
static double along(const tbSoftStepWork* s, const tbSoftStepJoint* j, int row, bool way)
{
  const float *x = way ? s->body[j->a].d : s->body[j->a].v, *y = way ? s->body[j->b].d : s->body[j->b].v;
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += j->J[0][row][k] * x[k] + j->J[1][row][k] * y[k];
  return sum;
}

// The velocity that a row misses by, its softness, and what it gives back.
static double miss(const tbSoftStepWork* s, const tbSoftStepJoint* j, int row, const tbSoftStepPass* pass,
                   const tbSoftness* soft, double* hard, double* yielded)
{
  double u = along(s, j, row, false);
  *hard = 1, *yielded = 0;
  if (j->drive) return u + j->error[row];
  if (row == j->rotor) return u + j->error[row] + j->give[row] * j->lambda[row];
  double e = j->error[row] + along(s, j, row, true) - j->rate * pass->elapsed;
  if (j->give[row] > 0) return u + j->slope[row] * e + j->give[row] * j->lambda[row];
  if (j->law == TB_LAW_NONNEG && e > 0) return u + e * pass->inverse_h;
  if (!pass->push) return u;
  *hard = 1 / (1 + soft->give), *yielded = soft->give * *hard;
  return u + soft->rate * e;
}

static void solve_block(tbSoftStepWork* s, tbSoftStepJoint* j, const tbSoftStepPass* pass,
                        const tbSoftness* soft)
{
  double error[TB_MAX_ROWS], hard[TB_MAX_ROWS], yielded[TB_MAX_ROWS];
  for (int r = 0; r < j->rows; r++) error[r] = miss(s, j, r, pass, soft, &hard[r], &yielded[r]);
  for (int r = 0; r < j->rows; r++) {
    double change = -yielded[r] * j->lambda[r];
    for (int c = 0; c < j->rows; c++) change -= hard[c] * j->inverse[j->rows * r + c] * error[c];
    j->lambda[r] += change;
    apply(s, j, r, change);
  }
}

static void solve_rows(tbSoftStepWork* s, tbSoftStepJoint* j, const tbSoftStepPass* pass,
                       const tbSoftness* soft)
{
  for (int r = 0; r < j->rows; r++) {
    double hard, yielded, error = miss(s, j, r, pass, soft, &hard, &yielded);
    double next = j->lambda[r] - hard * j->inverse[(j->rows + 1) * r] * error - yielded * j->lambda[r];
    next = fmin(fmax(next, j->low[r]), j->high[r]);
    apply(s, j, r, next - j->lambda[r]);
    j->lambda[r] = next;
  }
}

void tb_soft_step_joints_solve(tbSoftStepWork* s, const tbSoftStepPass* pass)
{
  tbSoftness soft = tb_softness(fmin(HERTZ, 0.25 * pass->inverse_h), DAMPING, 1 / pass->inverse_h);
  for (int i = 0; i < s->njoint; i++) {
    tbSoftStepJoint* j = &s->joint[i];
    if (by_rows(j)) solve_rows(s, j, pass, &soft);
    else solve_block(s, j, pass, &soft);
    for (int r = 0; !pass->push && r < j->rows; r++) j->total[r] += j->lambda[r];
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
        for (int k = 0; at < s->moving && k < 6; k++) push[at][k] += j->total[r] * j->J[side][r][k];
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
      tbVec3 f = tb_scale3(share, tb_load3(block->J[on_b][r]));
      tbVec3 moment = tb_scale3(share, tb_load3(block->J[on_b][r] + 3));
      j->force = tb_add3(j->force, f);
      j->torque = tb_add3(j->torque, tb_sub3(moment, tb_cross3(at, f)));
    }
  }
}
