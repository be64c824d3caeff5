// A rigid body's block of the metric is diag(m 1, R I Rᵀ), its degrees of freedom the velocity of its centre
// of mass and its angular velocity in world axes. A contact at p with frame rows d = n, t, b gives the rows
//
//   [−d, −(p − x_a) × d]  on A,   [d, (p − x_b) × d]  on B        sliding
//   [0, −d]  on A,   [0, d]  on B                                 torsion (d = n), rolling (d = t, b)
//
// What fixed and kinematic bodies contribute to the relative velocity is known: it goes into the bias.
//
// A deformable body's block is A = M + hB + h²K, its degrees of freedom the velocities of its nodes. Touched
// where its surface is the mean Σ w_i x_i of some nodes, a contact has the rows ±w_i d on each of them. Nodes
// attached to a rigid body have three rows each that hold them there.
#include "step/assemble.h"

#include "problem/borrowed.h"
#include "step/geometric.h"

#include <string.h>

static void point_row(tbVec3 d, tbVec3 arm, double sign, double* row)
{
  tb_store3(row, tb_scale3(sign, d));
  tb_store3(row + 3, tb_scale3(sign, tb_cross3(arm, d)));
}

static void spin_row(tbVec3 d, double sign, double* row)
{
  tb_store3(row, tb_zero3());
  tb_store3(row + 3, tb_scale3(sign, d));
}

// Directions of a contact's rows beyond the three of sliding, as the law orders them.
static tbVec3 spin_direction(const tbContactConstraint* t, int row)
{
  bool torsion = t->rows != 5;
  int axis = torsion ? row - 3 : row - 2;
  return tb_mat3_row(t->frame, axis);
}

static void contact_rows(const tbContactConstraint* t, tbVec3 centre, double sign,
                         double jac[TB_MAX_ROWS * 6])
{
  tbVec3 arm = tb_sub3(t->position, centre);
  for (int i = 0; i < t->rows; i++) {
    if (i < 3) point_row(tb_mat3_row(t->frame, i), arm, sign, jac + 6 * i);
    else spin_row(spin_direction(t, i), sign, jac + 6 * i);
  }
}

// What a block of rows says of one body: columns if it moves freely, else its velocity in the bias.
static void known_velocity(const double* jac, int rows, const tbUnconstrained* f, double* bias)
{
  double v[6];
  tb_store3(v, f->v);
  tb_store3(v + 3, f->w);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < 6; k++) bias[i] += jac[6 * i + k] * v[k];
}

// One side of a contact between surfaces: on the nodes of a deformable body, or at a point of a rigid one.
static void add_surface_side(tbBuilder* b, const tbWorld* w, const tbTransform* centre, const int* dof,
                             const tbContactConstraint* t, int side)
{
  int body = side ? t->body_b : t->body_a;
  if (dof[body] < 0) return;
  double sign = side ? 1 : -1, jac[TB_MAX_ROWS * 6];
  if (tb_bodies(w)[body].kind->framed) {
    tbVec3 arm = tb_sub3(side ? t->point.b : t->point.a, centre[body].x);
    for (int i = 0; i < t->rows; i++) point_row(tb_mat3_row(t->frame, i), arm, sign, jac + 6 * i);
    tb_builder_jacobian(b, dof[body], 6, jac);
    return;
  }
  const tbSurfaceContact* c = t->surface;
  const int *vertex = side ? c->vertex_b : c->vertex_a,
            *node = tb_deformable(&tb_bodies(w)[body])->surface->node;
  const double* weight = side ? c->weight_b : c->weight_a;
  for (int k = 0; k < (side ? c->count_b : c->count_a); k++) {
    for (int i = 0; i < t->rows; i++)
      tb_store3(jac + 3 * i, tb_scale3(sign * weight[k], tb_mat3_row(t->frame, i)));
    tb_builder_jacobian(b, dof[body] + 3 * node[vertex[k]], 3, jac);
  }
}

static void add_surface_touch(tbBuilder* b, const tbWorld* w, const tbTransform* centre, const int* dof,
                              const tbContactConstraint* t)
{
  double bias[TB_MAX_ROWS];
  for (int i = 0; i < t->rows; i++) bias[i] = t->bias[i] + tb_dot3(tb_mat3_row(t->frame, i), t->drift);
  tb_builder_contact(b, (tbLaw)t->law, t->rows, t->param, bias, t->compliance);
  for (int side = 0; side < 2; side++) add_surface_side(b, w, centre, dof, t, side);
}

static void add_touch(tbBuilder* b, const tbWorld* w, const tbUnconstrained* unconstrained,
                      const tbTransform* centre, const int* dof, const tbContactConstraint* t)
{
  if (t->surface) {
    add_surface_touch(b, w, centre, dof, t);
    return;
  }
  double jac[2][TB_MAX_ROWS * 6], bias[TB_MAX_ROWS];
  int body[2] = {t->body_a, t->body_b};
  memcpy(bias, t->bias, sizeof bias);
  for (int side = 0; side < 2; side++) {
    contact_rows(t, centre[body[side]].x, side ? 1 : -1, jac[side]);
    if (dof[body[side]] < 0 && tb_bodies(w)[body[side]].motion == TB_BODY_KINEMATIC)
      known_velocity(jac[side], t->rows, &unconstrained[body[side]], bias);
  }
  tb_builder_contact(b, (tbLaw)t->law, t->rows, t->param, bias, t->compliance);
  for (int side = 0; side < 2; side++)
    if (dof[body[side]] >= 0) tb_builder_jacobian(b, dof[body[side]], 6, jac[side]);
}

static void add_joint(tbBuilder* b, const tbWorld* w, const tbUnconstrained* unconstrained, const int* dof,
                      const tbJoint* j, tbJointBlock* block)
{
  int body[2] = {j->def.a.index, j->def.b.index};
  const double* jac[2] = {&block->a[0][0], &block->b[0][0]};
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0 && dof[body[side]] < 0 && tb_bodies(w)[body[side]].motion == TB_BODY_KINEMATIC)
      known_velocity(jac[side], block->rows, &unconstrained[body[side]], block->bias);
  tb_builder_contact(b, (tbLaw)block->law, block->rows, block->param, block->bias, block->compliance);
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0 && dof[body[side]] >= 0) tb_builder_jacobian(b, dof[body[side]], 6, jac[side]);
}

static tbMat3 symmetric(tbMat3 A) // to the bit
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < r; c++) A.m[r][c] = A.m[c][r];
  return A;
}

// A body whose joints pull hard: (M + h²K) v⁺ = M v_free + …
static void add_stiffened(tbBuilder* b, double mass, tbMat3 I, const tbGeometric* g, const double v[6],
                          int* dof)
{
  tbMat3 own[2] = {tb_mat3_diag(mass, mass, mass), I};
  tbMat3 whole[2] = {symmetric(tb_mat3_add(own[0], g->mass)), symmetric(tb_mat3_add(own[1], g->inertia))};
  double A[36] = {0}, slowed[6];
  for (int k = 0; k < 2; k++) {
    tbVec3 momentum = tb_mat3_mulv(own[k], tb_load3(v + 3 * k));
    tb_store3(slowed + 3 * k, tb_mat3_mulv(tb_mat3_inverse(whole[k]), momentum));
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) A[6 * (3 * k + r) + 3 * k + c] = whole[k].m[r][c];
  }
  tb_builder_dense(b, 6, A, slowed, dof);
}

// stiff: of every body, or null.
static void add_bodies(tbBuilder* b, const tbWorld* w, const tbUnconstrained* unconstrained,
                       const tbTransform* centre, const tbGeometric* stiff, int* dof)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* body = &tb_bodies(w)[i];
    if (dof[i] < 0 || !body->kind->framed) continue;
    double v[6];
    tb_store3(v, unconstrained[i].v);
    tb_store3(v + 3, unconstrained[i].w);
    tbMat3 R = tb_quat_mat3(centre[i].q), I = symmetric(tb_mat3_mul(R, tb_mat3_mult(body->inertia, R)));
    bool slack = !stiff || (tb_mat3_trace(stiff[i].mass) == 0 && tb_mat3_trace(stiff[i].inertia) == 0);
    if (slack) tb_builder_rigid(b, body->mass, (const double*)&I, v, &dof[i]);
    else add_stiffened(b, body->mass, I, &stiff[i], v, &dof[i]);
  }
}

static void add_deformables(tbBuilder* b, const tbWorld* w, const tbSoftStep* soft, int* dof)
{
  for (size_t i = 0; soft && i < w->body.count; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    if (!d || dof[i] < 0) continue;
    const tbCsr* K = &d->fem->K;
    int n = 3 * d->fem->nnode, *at = &dof[d->body];
    if (soft[i].lent)
      tb_builder_borrowed(b, n, K->ptr, K->idx, soft[i].A, soft[i].v_free, soft[i].factor, &soft[i].packed,
                          at);
    else tb_builder_sparse(b, n, K->ptr, K->idx, soft[i].A, soft[i].v_free, at);
  }
}

static bool attached(const tbWorld* w, const tbDeformable* d, int node, int* body)
{
  *body = d->holder[node] < 0 ? -1 : d->hold[d->holder[node]].body;
  return *body >= 0 && tb_bodies(w)[*body].motion == TB_BODY_DYNAMIC;
}

// Nodes attached to bodies that move freely: u = v_node − v_point, and what they are apart is closed.
static tbStatus add_attached(tbContext* ctx, tbBuilder* b, const tbWorld* w, const tbStepOptions* o,
                             const tbTransform* centre, const int* dof, tbArray* guess)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    if (!d) continue;
    for (int n = 0, body; d->nhold > 0 && n < d->fem->nnode; n++) {
      if (!attached(w, d, n, &body)) continue;
      tbVec3 arm = tb_quat_rotate(centre[body].q, d->local[n]),
             apart = tb_sub3(d->x[n], tb_add3(centre[body].x, arm));
      double own[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, other[18], bias[3];
      tb_store3(bias, tb_scale3(1 / o->dt, apart));
      for (int k = 0; k < 3; k++) point_row(tb_load3(own + 3 * k), arm, -1, other + 6 * k);
      tb_builder_contact(b, TB_LAW_BILATERAL, 3, NULL, bias, NULL);
      tb_builder_jacobian(b, dof[d->body] + 3 * n, 3, own);
      tb_builder_jacobian(b, dof[body], 6, other);
      TB_TRY(tb_array_push(ctx, guess, &d->pull[n], 3));
    }
  }
  return TB_OK;
}

// Bodies that something touches get a place: dof 0 until they have their own.
static void mark_bodies(const tbWorld* w, const tbContactConstraint* constraints, int count, bool soft,
                        int* dof)
{
  const tbBody* body = tb_bodies(w);
  for (size_t i = 0; i < w->body.count; i++) dof[i] = -1;
  for (int i = 0; i < count; i++) {
    int pair[2] = {constraints[i].body_a, constraints[i].body_b};
    for (int k = 0; k < 2; k++)
      if (body[pair[k]].motion == TB_BODY_DYNAMIC) dof[pair[k]] = 0;
  }
  for (size_t i = 0; soft && i < w->body.count; i++) {
    const tbDeformable* d = tb_deformable(&body[i]);
    for (int k = 0; d && k < d->nhold; k++)
      if (d->hold[k].body >= 0 && body[d->hold[k].body].motion == TB_BODY_DYNAMIC)
        dof[d->body] = dof[d->hold[k].body] = 0;
  }
  for (size_t i = 0; i < w->joint.count; i++) {
    int a = tb_joints(w)[i].def.a.index, b = tb_joints(w)[i].def.b.index;
    if (a >= 0 && body[a].motion == TB_BODY_DYNAMIC) dof[a] = 0;
    if (b >= 0 && body[b].motion == TB_BODY_DYNAMIC) dof[b] = 0;
  }
}

// Joints' blocks go through `block` one joint at a time; their warm start follows the contacts'.
static tbStatus add_joints(tbContext* ctx, tbBuilder* b, const tbWorld* w, const tbStepOptions* o,
                           bool positions, const tbUnconstrained* unconstrained, const tbTransform* centre,
                           tbAssembly* out, tbArray* guess)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count = tb_joint_blocks(w, o, positions, centre, j, block);
    out->nblock[i] = (uint8_t)count;
    for (int k = 0; k < count; k++) {
      out->slot[TB_JOINT_BLOCKS * i + (size_t)k] = (uint8_t)block[k].slot;
      add_joint(b, w, unconstrained, out->dof, j, &block[k]);
      TB_TRY(tb_array_push(ctx, guess, j->impulse + block[k].slot, (size_t)block[k].rows));
    }
  }
  return TB_OK;
}

static tbStatus fill(tbContext* ctx, tbBuilder* b, const tbWorld* w, const tbStepOptions* o, bool positions,
                     const tbUnconstrained* unconstrained, const tbTransform* centre, const tbSoftStep* soft,
                     const tbGeometric* stiff, tbAssembly* out, tbArray* guess)
{
  add_bodies(b, w, unconstrained, centre, stiff, out->dof);
  add_deformables(b, w, soft, out->dof);
  for (int i = 0; i < out->nconstraint; i++) {
    add_touch(b, w, unconstrained, centre, out->dof, &out->constraint[i]);
    TB_TRY(tb_array_push(ctx, guess, out->constraint[i].guess, (size_t)out->constraint[i].rows));
  }
  TB_TRY(add_joints(ctx, b, w, o, positions, unconstrained, centre, out, guess));
  return soft ? add_attached(ctx, b, w, o, centre, out->dof, guess) : TB_OK;
}

// Of bodies too large to factor: from the velocities known so far.
static tbStatus believe(tbArena* arena, const tbWorld* w, const tbSoftStep* soft, tbAssembly* out)
{
  for (size_t i = 0; soft && i < w->body.count; i++) {
    const tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    int dof = out->dof[i];
    if (!d || dof < 0 || soft[i].factor) continue;
    if (!out->w) out->w = TB_TAKE(arena, double, (size_t)out->problem->ndof);
    if (!out->w) return TB_ERROR_MEMORY;
    for (int k = 0; k < 3 * d->fem->nnode; k++) out->w[dof + k] = soft[i].v[k] - soft[i].v_free[k];
  }
  return TB_OK;
}

tbStatus tb_assemble(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o, bool positions,
                     const tbUnconstrained* unconstrained, const tbTransform* centre, const tbSoftStep* soft,
                     const tbContactConstraint* constraints, int count, tbAssembly* out)
{
  *out = (tbAssembly){.constraint = constraints,
                      .centre = centre,
                      .nconstraint = count,
                      .dof = TB_TAKE(arena, int, w->body.count),
                      .pushed = TB_TAKE(arena, bool, w->body.count),
                      .nblock = TB_TAKE(arena, uint8_t, w->joint.count),
                      .slot = TB_TAKE(arena, uint8_t, TB_JOINT_BLOCKS * w->joint.count)};
  if (!out->dof || !out->pushed || !out->nblock || !out->slot) return TB_ERROR_MEMORY;
  mark_bodies(w, constraints, count, soft != NULL, out->dof);
  tbGeometric* stiff = NULL;
  if (w->joint.count > 0 && !positions) {
    stiff = TB_TAKE(arena, tbGeometric, w->body.count);
    if (!stiff) return TB_ERROR_MEMORY;
    tb_geometric_stiffness(w, o->dt, centre, stiff);
  }
  tbBuilder* b;
  TB_TRY(tb_builder_create(ctx, w->name, &b));
  tbArray guess = TB_ARRAY(double);
  tbStatus status = fill(ctx, b, w, o, positions, unconstrained, centre, soft, stiff, out, &guess);
  if (status == TB_OK) status = tb_builder_finish(b, &out->problem);
  else tb_builder_abandon(b);
  if (status == TB_ERROR_INPUT) { // no file is to blame: a world's numbers have outgrown what can be computed
    tbError below = ctx->error;
    status = tb_fail(ctx, TB_ERROR_NUMERIC, "the step has no contact problem: %s", below.message);
  }
  if (status == TB_OK) {
    out->lambda = TB_TAKE(arena, double, guess.count);
    out->u = TB_TAKE(arena, double, guess.count);
    out->v = TB_TAKE(arena, double, (size_t)out->problem->ndof);
    out->part = TB_TAKE(arena, double, (size_t)out->problem->ncontact);
    if (!out->lambda || !out->u || !out->v || !out->part) status = TB_ERROR_MEMORY;
    else if (o->warm_start && guess.count) memcpy(out->lambda, guess.data, guess.count * sizeof(double));
    if (status == TB_OK && o->warm_start) status = believe(arena, w, soft, out);
  }
  tb_array_free(ctx, &guess);
  if (status != TB_OK) tb_assembly_free(out);
  return status;
}

void tb_assembly_free(tbAssembly* a)
{
  tb_problem_free(a->problem);
  a->problem = NULL;
}

tbStatus tb_assembly_judge(tbContext* ctx, const tbStepOptions* o, tbJudge* asked, tbAssembly* a)
{
  tbJudge* judge = asked;
  if (!asked) TB_TRY(tb_judge_create(ctx, a->problem, &judge));
  tb_judge_measure(judge, a->lambda, o->solver.model, o->solver.directions, &a->residual, a->u, a->v);
  tb_judge_contacts(judge, a->part);
  if (!asked) tb_judge_free(ctx, judge);
  for (int i = 0; i < a->problem->ndof; i++)
    if (!isfinite(a->v[i]))
      return tb_fail(ctx, TB_ERROR_NUMERIC,
                     "the contact problem is too ill conditioned: velocities are lost to rounding");
  for (int k = 0; k < a->nconstraint; k++)
    a->pushed[a->constraint[k].body_a] = a->pushed[a->constraint[k].body_b] = false;
  for (int k = 0; k < a->nconstraint; k++) {
    double any = 0;
    for (int i = a->problem->row_adr[k]; i < a->problem->row_adr[k + 1]; i++) any += fabs(a->lambda[i]);
    if (any > 0) a->pushed[a->constraint[k].body_a] = a->pushed[a->constraint[k].body_b] = true;
  }
  return TB_OK;
}

void tb_assembly_velocity(const tbAssembly* a, const tbUnconstrained* unconstrained, int body, tbVec3* v,
                          tbVec3* w)
{
  int dof = a->dof[body];
  *v = dof < 0 ? unconstrained[body].v : tb_load3(a->v + dof);
  *w = dof < 0 ? unconstrained[body].w : tb_load3(a->v + dof + 3);
}

// Open: no impulse. Slip: on the edge of the friction set, and moving.
static tbContactState state_of(const tbContactConstraint* t, const double* lambda, const double* u)
{
  if (!(lambda[0] > 0)) return TB_CONTACT_OPEN;
  if (t->rows < 3) return TB_CONTACT_SLIP; // nothing holds it
  double mu_t = t->param[0], mu_b = t->law == TB_LAW_ELLIPTIC ? t->param[1] : mu_t;
  double x = mu_t > 0 ? lambda[1] / (mu_t * lambda[0]) : 0, y = mu_b > 0 ? lambda[2] / (mu_b * lambda[0]) : 0;
  double sliding = sqrt(u[1] * u[1] + u[2] * u[2]);
  return sqrt(x * x + y * y) >= 1 - 1e-6 && sliding > 1e-9 ? TB_CONTACT_SLIP : TB_CONTACT_STICK;
}

void tb_assembly_record(const tbAssembly* a, tbWorld* w, tbContactRecord* record)
{
  const tbProblem* p = a->problem;
  for (int i = 0; i < a->nconstraint; i++) {
    const tbContactConstraint* t = &a->constraint[i];
    const double *lambda = a->lambda + p->row_adr[i], *u = a->u + p->row_adr[i];
    record[i] = (tbContactRecord){
        .shape_a = t->shape_a,
        .shape_b = t->shape_b,
        .body_a = t->body_a,
        .body_b = t->body_b,
        .feature = t->point.feature,
        .position = t->position,
        .normal = tb_mat3_row(t->frame, 0),
        .tangent = tb_mat3_row(t->frame, 1),
        .local = tb_quat_unrotate(a->centre[t->body_a].q, tb_sub3(t->position, a->centre[t->body_a].x)),
        .gap = t->point.gap,
        .residual = a->part[i],
        .rows = t->rows,
        .state = state_of(t, lambda, u)};
    for (int k = 0; k < t->rows; k++) {
      record[i].impulse[k] = lambda[k] + t->struck[k];
      record[i].velocity[k] =
          u[k] - t->bias[k] - t->compliance[k] * lambda[k]; // the true one, without the bias
    }
  }
  // The joints' impulses stand behind the contacts', in the order the blocks were added.
  int block_at = a->nconstraint;
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* j = &tb_joints(w)[i];
    memset(j->impulse, 0, sizeof j->impulse);
    for (int k = 0; k < a->nblock[i]; k++, block_at++)
      memcpy(j->impulse + a->slot[TB_JOINT_BLOCKS * i + (size_t)k], a->lambda + p->row_adr[block_at],
             (size_t)(p->row_adr[block_at + 1] - p->row_adr[block_at]) * sizeof(double));
  }
  // and behind these the attached nodes', where deformable bodies took part
  for (size_t i = 0; block_at < p->ncontact && i < w->body.count; i++) {
    tbDeformable* d = tb_deformable(&tb_bodies(w)[i]);
    for (int n = 0, body; d && d->nhold > 0 && n < d->fem->nnode; n++)
      if (attached(w, d, n, &body)) d->pull[n] = tb_load3(a->lambda + p->row_adr[block_at++]);
  }
}
