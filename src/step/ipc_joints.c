// SPDX-License-Identifier: Apache-2.0
// Joints in the potential: the rows that other schemes put to a solver (joint_rows.c), r = J V + bias with J
// at the start of the step, as potentials of r whose force is that of an augmented Lagrangian,
//
//   impulse = λ − K r, within the bounds of the row        φ(r) with φ'(r) = −impulse
//
// λ is the last estimate of the impulse, and becomes `impulse` whenever Newton's method has ended, until that
// changes nothing: r then is what the row asks for, however stiff K is. Rows with a compliance c have K = 1/c
// and no λ, and are right at once.
#include "step/ipc.h"

#include "step/joint_rows.h"

#include <string.h>

static const double STIFF = 1e4; // K, times the mass along a row

static void bounds_of(const tbJointBlock* block, tbIpcRow* row)
{
  row->low = block->law == TB_LAW_BOX ? block->param[0] : block->law == TB_LAW_NONNEG ? 0 : -INFINITY;
  row->high = block->law == TB_LAW_BOX ? block->param[1] : INFINITY;
}

// J M⁻¹ Jᵀ of one row.
static double inverse_mass(const tbIpc* ipc, const tbIpcRow* row, const int frame[2])
{
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (frame[side] < 0) continue;
    const tbIpcFrame* f = &ipc->frame[frame[side]];
    tbVec3 d = tb_load3(row->jac[side]), t = tb_load3(row->jac[side] + 3);
    sum += tb_dot3(d, d) / tb_bodies(ipc->world)[f->body].mass;
    sum += tb_dot3(t, tb_mat3_mulv(tb_mat3_inverse(f->inertia), t));
  }
  return sum;
}

static tbStatus add_block(tbContext* ctx, tbIpc* ipc, const tbStepWork* work, const tbJoint* j,
                          const tbJointBlock* block, const int* frame_of)
{
  int body[2] = {j->a, j->b}, frame[2];
  for (int side = 0; side < 2; side++) frame[side] = body[side] < 0 ? -1 : frame_of[body[side]];
  for (int i = 0; i < block->rows; i++) {
    tbIpcRow row = {.bias = block->bias[i]};
    memcpy(row.jac[0], block->a[i], sizeof row.jac[0]);
    memcpy(row.jac[1], block->b[i], sizeof row.jac[1]);
    bounds_of(block, &row);
    for (int side = 0; side < 2; side++) {
      row.block[side] = frame[side] < 0 ? -1 : ipc->frame[frame[side]].block;
      if (body[side] < 0 || tb_bodies(ipc->world)[body[side]].motion != TB_BODY_KINEMATIC) continue;
      const tbUnconstrained* known = &work->unconstrained[body[side]];
      row.bias += tb_dot3(tb_load3(row.jac[side]), known->v) + tb_dot3(tb_load3(row.jac[side] + 3), known->w);
    }
    double inverse = inverse_mass(ipc, &row, frame);
    row.soft = block->compliance[i] > 0;
    row.K = row.soft ? 1 / block->compliance[i] : inverse > 0 ? STIFF / inverse : 0;
    if (!row.soft && ipc->options->warm_start)
      row.lambda = fmin(fmax(j->impulse[block->slot + i], row.low), row.high);
    TB_TRY(tb_array_push(ctx, &ipc->row, &row, 1));
  }
  return TB_OK;
}

tbStatus tb_ipc_begin_joints(tbContext* ctx, tbIpc* ipc, const tbStepWork* work)
{
  const tbWorld* w = ipc->world;
  ipc->row.count = 0;
  if (w->joint.count == 0) return TB_OK;
  int* frame_of = TB_TAKE(ipc->arena, int, w->body.count);
  if (!frame_of) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) frame_of[i] = -1;
  for (int i = 0; i < ipc->nframe; i++) frame_of[ipc->frame[i].body] = i;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count = tb_joint_blocks(w, ipc->options, false, work->centre, j, block);
    for (int k = 0; k < count; k++) TB_TRY(add_block(ctx, ipc, work, j, &block[k], frame_of));
  }
  return TB_OK;
}

static double rate_of(const tbIpcRow* row, const tbVec3* v)
{
  double r = row->bias;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 2 && row->block[side] >= 0; k++)
      r += tb_dot3(tb_load3(row->jac[side] + 3 * k), v[row->block[side] + k]);
  return r;
}

static double impulse_of(const tbIpcRow* row, double r)
{
  return fmin(fmax(row->lambda - row->K * r, row->low), row->high);
}

double tb_ipc_joints_energy(const tbIpc* ipc, const tbVec3* v)
{
  const tbIpcRow* row = ipc->row.data;
  double sum = 0;
  for (size_t i = 0; i < ipc->row.count; i++) {
    if (!(row[i].K > 0)) continue;
    double r = rate_of(&row[i], v), asked = row[i].lambda - row[i].K * r, got = impulse_of(&row[i], r);
    sum += got * (asked - 0.5 * got) / row[i].K;
  }
  return sum;
}

void tb_ipc_joints_gradient(tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix)
{
  const tbIpcRow* row = ipc->row.data;
  for (size_t i = 0; i < ipc->row.count; i++) {
    double r = rate_of(&row[i], v), asked = row[i].lambda - row[i].K * r, got = impulse_of(&row[i], r);
    double K = asked == got ? row[i].K : 0;
    for (int a = 0; a < 4; a++) {
      if (row[i].block[a / 2] < 0) continue;
      int at = row[i].block[a / 2] + a % 2;
      tbVec3 d = tb_load3(row[i].jac[a / 2] + 3 * (a % 2));
      ipc->gradient[at] = tb_madd3(ipc->gradient[at], -got, d);
      for (int b = 0; b < 4 && matrix && K > 0; b++) {
        int other = row[i].block[b / 2] < 0 ? -1 : row[i].block[b / 2] + b % 2;
        if (other < 0 || other > at) continue;
        tbMat3 B = tb_mat3_scale(K, tb_mat3_outer(d, tb_load3(row[i].jac[b / 2] + 3 * (b % 2))));
        tb_ipc_matrix_add(matrix, at, other, (const double*)&B);
      }
    }
  }
}

tbStatus tb_ipc_joints_couple(tbContext* ctx, const tbIpc* ipc, tbArray* pairs)
{
  const tbIpcRow* row = ipc->row.data;
  for (size_t i = 0; i < ipc->row.count; i++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) {
        if (row[i].block[a / 2] < 0 || row[i].block[b / 2] < 0) continue;
        uint64_t at = (uint64_t)(row[i].block[a / 2] + a % 2),
                 other = (uint64_t)(row[i].block[b / 2] + b % 2);
        uint64_t key = at << 32 | other;
        if (at > other) TB_TRY(tb_array_push(ctx, pairs, &key, 1));
      }
  return TB_OK;
}

bool tb_ipc_joints_learn(tbIpc* ipc)
{
  tbIpcRow* row = ipc->row.data;
  bool again = false;
  for (size_t i = 0; i < ipc->row.count; i++) {
    row[i].impulse = impulse_of(&row[i], rate_of(&row[i], ipc->v));
    if (row[i].soft || !(row[i].K > 0)) continue;
    double change = fabs(row[i].impulse - row[i].lambda);
    again = again || change > 0.1 * row[i].K * ipc->options->newton_tolerance;
    row[i].lambda = row[i].impulse;
  }
  return again;
}

void tb_ipc_joints_push(const tbIpc* ipc, tbVec3* push)
{
  const tbIpcRow* row = ipc->row.data;
  for (size_t i = 0; i < ipc->row.count; i++) {
    double got = row[i].impulse;
    for (int a = 0; a < 4; a++)
      if (row[i].block[a / 2] >= 0) {
        tbVec3* to = &push[row[i].block[a / 2] + a % 2];
        *to = tb_madd3(*to, got, tb_load3(row[i].jac[a / 2] + 3 * (a % 2)));
      }
  }
}

void tb_ipc_joints_publish(const tbIpc* ipc, tbAssembly* a)
{
  const tbIpcRow* row = ipc->row.data;
  double* lambda = a->lambda + a->problem->row_adr[a->nconstraint];
  for (size_t i = 0; i < ipc->row.count; i++) lambda[i] = row[i].impulse;
}
