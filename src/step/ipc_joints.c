// SPDX-License-Identifier: Apache-2.0
// Joints, and nodes attached to bodies that move freely, in the potential: the rows that other schemes put to
// a solver (joint_rows.c, kind/deformable_rows.c), r = J V + bias with J at the start of the step, as
// potentials of r whose force is that of an augmented Lagrangian,
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

// A body's part of a row, on its v and ω. Returns J M⁻¹ Jᵀ of it.
static double add_frame(const tbIpc* ipc, const tbIpcFrame* f, const double jac[6], tbIpcRow* row)
{
  tbVec3 d = tb_load3(jac), t = tb_load3(jac + 3);
  row->block[row->count] = f->block, row->jac[row->count++] = d;
  row->block[row->count] = f->block + 1, row->jac[row->count++] = t;
  return tb_dot3(d, d) / tb_bodies(ipc->world)[f->body].mass +
         tb_dot3(t, tb_mat3_mulv(tb_mat3_inverse(f->inertia), t));
}

static tbStatus add_block(tbContext* ctx, tbIpc* ipc, const tbStepWork* work, const tbJoint* j,
                          const tbJointBlock* block, const int* frame_of)
{
  int body[2] = {j->a, j->b};
  for (int i = 0; i < block->rows; i++) {
    tbIpcRow row = {.bias = block->bias[i]};
    double inverse = 0;
    bounds_of(block, &row);
    for (int side = 0; side < 2; side++) {
      const double* jac = side ? block->b[i] : block->a[i];
      if (body[side] < 0) continue;
      if (frame_of[body[side]] >= 0) inverse += add_frame(ipc, &ipc->frame[frame_of[body[side]]], jac, &row);
      if (tb_bodies(ipc->world)[body[side]].motion != TB_BODY_KINEMATIC) continue;
      const tbUnconstrained* known = &work->unconstrained[body[side]];
      row.bias += tb_dot3(tb_load3(jac), known->v) + tb_dot3(tb_load3(jac + 3), known->w);
    }
    row.soft = block->compliance[i] > 0;
    row.K = row.soft ? 1 / block->compliance[i] : inverse > 0 ? STIFF / inverse : 0;
    if (!row.soft && ipc->options->warm_start)
      row.lambda = fmin(fmax(j->impulse[block->slot + i], row.low), row.high);
    TB_TRY(tb_array_push(ctx, &ipc->row, &row, 1));
  }
  return TB_OK;
}

// A node moves with the place of a body that it is attached to: what they are apart is closed. `mass`: of the
// node, with what elasticity adds to it.
static tbStatus add_attached(tbContext* ctx, tbIpc* ipc, const tbIpcNodes* n, const tbAttachedNode* at,
                             const tbIpcFrame* f, double mass)
{
  tbVec3 arm = tb_quat_rotate(f->start.q, at->local);
  tbVec3 apart = tb_scale3(1 / ipc->h, tb_sub3(n->start[at->node], tb_add3(f->start.x, arm)));
  for (int k = 0; k < 3; k++) {
    tbVec3 d = tb_vec3(k == 0, k == 1, k == 2);
    tbIpcRow row = {.bias = (&apart.x)[k], .low = -INFINITY, .high = INFINITY};
    double jac[6], inverse = 0;
    if (!ipc->held[n->block + at->node]) {
      row.block[0] = n->block + at->node, row.jac[0] = d, row.count = 1;
      inverse = 1 / mass;
    }
    tb_point_row(d, arm, -1, jac);
    row.K = STIFF / (inverse + add_frame(ipc, f, jac, &row));
    if (ipc->options->warm_start) row.lambda = (&at->pull.x)[k];
    TB_TRY(tb_array_push(ctx, &ipc->row, &row, 1));
  }
  return TB_OK;
}

static tbStatus attach_nodes(tbContext* ctx, tbIpc* ipc, const tbIpcNodes* n, const int* frame_of)
{
  tbFemBody* fem = n->of.fem;
  const tbFemAssembly* s = &fem->assembly;
  if (n->of.nattached > 0) tb_fem_evaluate(fem, ctx->threads, n->start, TB_TANGENT_POSITIVE, n->force);
  for (int i = 0; i < n->of.nattached; i++) {
    const tbAttachedNode* at = &n->of.attached[i];
    int u = tb_fem_assembly_upper(s, at->node, s->diag[at->node]);
    double mass = 0;
    for (int k = 0; k < 9; k += 4) mass += (n->base[u][k] + ipc->h * ipc->h * fem->upper[u][k]) / 3;
    TB_TRY(add_attached(ctx, ipc, n, at, &ipc->frame[frame_of[at->body]], mass));
  }
  return TB_OK;
}

// In the order of the published problem: joints, then what is attached, body by body.
tbStatus tb_ipc_begin_joints(tbContext* ctx, tbIpc* ipc, const tbStepWork* work)
{
  const tbWorld* w = ipc->world;
  ipc->row.count = 0;
  int* frame_of = TB_TAKE(ipc->arena, int, w->body.count);
  if (!frame_of) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) frame_of[i] = -1;
  for (int i = 0; i < ipc->nframe; i++) frame_of[ipc->frame[i].body] = i;
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count =
        tb_joint_blocks(w, ipc->options, TB_JOINT_VELOCITIES, work->unconstrained, work->centre, j, block);
    for (int k = 0; k < count; k++) TB_TRY(add_block(ctx, ipc, work, j, &block[k], frame_of));
  }
  for (int i = 0; i < ipc->nnodes; i++) TB_TRY(attach_nodes(ctx, ipc, &ipc->nodes[i], frame_of));
  return TB_OK;
}

static double rate_of(const tbIpcRow* row, const tbVec3* v)
{
  double r = row->bias;
  for (int k = 0; k < row->count; k++) r += tb_dot3(row->jac[k], v[row->block[k]]);
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

double tb_ipc_joints_work(const tbIpc* ipc)
{
  const tbIpcRow* row = ipc->row.data;
  double sum = 0;
  for (size_t i = 0; i < ipc->row.count; i++)
    sum += row[i].impulse * (rate_of(&row[i], ipc->v) - row[i].bias);
  return sum;
}

void tb_ipc_joints_gradient(tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix)
{
  const tbIpcRow* row = ipc->row.data;
  for (size_t i = 0; i < ipc->row.count; i++) {
    double r = rate_of(&row[i], v), asked = row[i].lambda - row[i].K * r, got = impulse_of(&row[i], r);
    double K = asked == got ? row[i].K : 0;
    for (int a = 0; a < row[i].count; a++) {
      int at = row[i].block[a];
      ipc->gradient[at] = tb_madd3(ipc->gradient[at], -got, row[i].jac[a]);
      for (int b = 0; b < row[i].count && matrix && K > 0; b++) {
        int other = row[i].block[b];
        if (other > at) continue;
        tbMat3 B = tb_mat3_scale(K, tb_mat3_outer(row[i].jac[a], row[i].jac[b]));
        tb_ipc_matrix_add(matrix, at, other, (const double*)&B);
      }
    }
  }
}

tbStatus tb_ipc_joints_couple(tbContext* ctx, const tbIpc* ipc, tbArray* pairs)
{
  const tbIpcRow* row = ipc->row.data;
  for (size_t i = 0; i < ipc->row.count; i++)
    for (int a = 0; a < row[i].count; a++)
      for (int b = 0; b < row[i].count; b++) {
        uint64_t at = (uint64_t)row[i].block[a], other = (uint64_t)row[i].block[b], key = at << 32 | other;
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
  for (size_t i = 0; i < ipc->row.count; i++)
    for (int a = 0; a < row[i].count; a++)
      push[row[i].block[a]] = tb_madd3(push[row[i].block[a]], row[i].impulse, row[i].jac[a]);
}

void tb_ipc_joints_take(tbIpc* ipc, const tbAssembly* a)
{
  tbIpcRow* row = ipc->row.data;
  const double* lambda = a->lambda + a->problem->row_adr[a->nconstraint];
  for (size_t i = 0; i < ipc->row.count; i++) row[i].impulse = lambda[i];
}

void tb_ipc_joints_publish(const tbIpc* ipc, tbAssembly* a)
{
  const tbIpcRow* row = ipc->row.data;
  double* lambda = a->lambda + a->problem->row_adr[a->nconstraint];
  for (size_t i = 0; i < ipc->row.count; i++) lambda[i] = row[i].impulse;
}
