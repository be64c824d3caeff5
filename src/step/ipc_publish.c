// SPDX-License-Identifier: Apache-2.0
// The end of a step as a contact problem.
//
// Every contact of the end becomes a constraint with the impulse that barrier and friction have given it. Its
// normal row asks for the gap that is left: u_n + bias = d/h, which Coulomb's law wants to be 0 where the
// impulse is not. So the judge's number says how far the barrier's distance, the smoothed friction and its
// lagging are from the law. The bodies' blocks are those of the last linearisation, with free velocities that
// lead, with these impulses, to the velocities found.
//
// Where the step ends with the exact law (ipc_finish.c), the distance that is left counts as touching, and
// bodies that turn freely have their turning friction.
#include "step/ipc.h"

#include "step/friction_state.h"
#include "step/soft_contact.h"

#include <string.h>

static const double SOFTEST = 0.8; // of d̂: where a contact is as soft as it may be
static const double APART = 0.5;   // of d̂: as close as features may come that were farther apart

// One side of a contact at the end of the step: where it touches, and how fast that goes.
typedef struct {
  tbVec3 at, arm_at, velocity, drift; // arm_at: with the body where the step started
} Side;

static Side side_of(const tbIpc* ipc, const tbSurfaceContact* c, int side)
{
  Side out = {0};
  double h = ipc->h;
  if (!side && c->of.kind == TB_SURFACE_PLANE_VERTEX) {
    const tbMovingPlane* p = &ipc->plane[c->of.surface_a];
    const tbBody* b = &tb_bodies(ipc->world)[p->body];
    tbVec3 x = ipc->surface[c->of.surface_b].begin[c->vertex_b[0]];
    out.at = out.arm_at = tb_madd3(ipc->surfaces.end[c->of.surface_b][c->vertex_b[0]], -c->gap, c->normal);
    if (b->motion == TB_BODY_KINEMATIC) {
      double t = ipc->world->time;
      tbTransform now = tb_motion_at(ipc->world, b, t), then = tb_motion_at(ipc->world, b, t + h);
      out.drift = tb_scale3(1 / h, tb_sub3(tb_transform_point(then, tb_transform_unpoint(now, x)), x));
    }
    out.velocity = out.drift;
    return out;
  }
  int surface = side ? c->of.surface_b : c->of.surface_a, count = side ? c->count_b : c->count_a;
  const int* vertex = side ? c->vertex_b : c->vertex_a;
  const double* weight = side ? c->weight_b : c->weight_a;
  const tbIpcSurface* s = &ipc->surface[surface];
  for (int k = 0; k < count; k++) {
    tbVec3 x = ipc->surfaces.end[surface][vertex[k]];
    tbVec3 way = tb_sub3(x, s->begin[vertex[k]]);
    out.at = tb_madd3(out.at, weight[k], x);
    if (s->source != TB_IPC_FRAME) out.velocity = tb_madd3(out.velocity, weight[k] / h, way);
  }
  out.arm_at = out.at;
  if (s->source == TB_IPC_KNOWN) out.drift = out.velocity;
  if (s->source != TB_IPC_FRAME) return out;
  const tbIpcFrame* f = &ipc->frame[s->index];
  tbVec3 arm = tb_sub3(out.at, f->now.x);
  out.arm_at = tb_add3(f->start.x, arm);
  out.velocity = tb_add3(ipc->v[f->block], tb_cross3(ipc->v[f->block + 1], arm));
  return out;
}

static bool is_driven(const tbIpc* ipc, const tbContactConstraint* t)
{
  return tb_bodies(ipc->world)[t->body_a].motion == TB_BODY_KINEMATIC ||
         tb_bodies(ipc->world)[t->body_b].motion == TB_BODY_KINEMATIC;
}

// Of a contact: its impulse on side b in world axes, the distance that counts as touching, and by how much
// that gives way to an impulse.
typedef struct {
  tbVec3 impulse;
  double touching;
  double compliance; // m/s per N·s
} Sent;

static tbContactConstraint constraint_of(const tbIpc* ipc, const tbSurfaceContact* c, const Sent* sent)
{
  const tbSurfaces* s = &ipc->surfaces;
  Side a = side_of(ipc, c, 0), b = side_of(ipc, c, 1);
  tbContactConstraint t = {.shape_a = tb_surfaces_shape(s, &c->of, 0),
                           .shape_b = tb_surfaces_shape(s, &c->of, 1),
                           .body_a = tb_surfaces_body(s, &c->of, 0),
                           .body_b = tb_surfaces_body(s, &c->of, 1),
                           .point = {a.arm_at, b.arm_at, c->normal, c->gap, tb_soft_contact_name(&c->of)},
                           .position = tb_scale3(0.5, tb_add3(a.at, b.at)),
                           .impact = -1,
                           .surface = c,
                           .rest = ipc->options->velocity_threshold,
                           .drift = tb_sub3(b.drift, a.drift)};
  tb_constraint_law(ipc->world, &t);
  if (!ipc->finished || is_driven(ipc, &t)) tb_constraint_drop_turning(&t);
  tb_friction_rows(ipc->world, ipc->options, &t);
  t.bias[0] = (c->gap - sent->touching) / ipc->h - tb_dot3(c->normal, tb_sub3(b.velocity, a.velocity)) -
              sent->compliance * tb_dot3(c->normal, sent->impulse);
  t.compliance[0] = sent->compliance;
  for (int k = 0; k < t.rows && k < 3; k++) {
    double stretch = tb_constraint_stretch(&t, k);
    t.guess[k] = stretch > 0 ? tb_dot3(sent->impulse, tb_mat3_row(t.frame, k)) / stretch : 0;
  }
  return t;
}

// That of the barrier, where it touches.
static double compliance_of(const tbIpc* ipc, const tbIpcContact* c)
{
  double at = fmin(tb_ipc_touching(c), SOFTEST * c->dhat);
  return 1 / (ipc->h * ipc->h * c->kappa * tb_barrier(ipc->options->barrier, at, c->dhat).second);
}

double tb_ipc_touching(const tbIpcContact* c) { return c->at.gap < c->dhat ? c->at.gap : APART * c->dhat; }

// Contacts and the friction that goes with them, both in the order of features.
static tbStatus make_constraints(tbContext* ctx, tbIpc* ipc, tbArray* out)
{
  const tbIpcContact* c = ipc->contact.data;
  const tbIpcFriction* f = ipc->friction.data;
  size_t i = 0, k = 0;
  tbArray sent = TB_ARRAY(Sent);
  ipc->published.count = 0;
  tbStatus status = TB_OK;
  while (status == TB_OK && (i < ipc->contact.count || k < ipc->friction.count)) {
    int order = i == ipc->contact.count    ? 1
                : k == ipc->friction.count ? -1
                                           : tb_surface_features_order(&c[i].at.of, &f[k].at.of);
    tbSurfaceContact at = order <= 0 ? c[i].at : f[k].at;
    Sent own = {0};
    if (order >= 0) own.impulse = tb_scale3(ipc->h, tb_ipc_friction_force(ipc, &f[k]));
    if (order <= 0 && isfinite(c[i].energy.push)) // infinite: time was up before they were parted
      own.impulse = tb_madd3(own.impulse, ipc->h * c[i].energy.push, c[i].at.normal);
    if (order <= 0 && ipc->finished) {
      own.touching = tb_ipc_touching(&c[i]) + c[i].lift;
      own.compliance = compliance_of(ipc, &c[i]);
    }
    status = tb_array_push(ctx, &ipc->published, &at, 1);
    if (status == TB_OK) status = tb_array_push(ctx, &sent, &own, 1);
    i += order <= 0, k += order >= 0;
  }
  if (status == TB_OK) status = tb_array_push(ctx, out, NULL, ipc->published.count);
  for (size_t n = 0; status == TB_OK && n < ipc->published.count; n++)
    ((tbContactConstraint*)out->data)[n] =
        constraint_of(ipc, (const tbSurfaceContact*)ipc->published.data + n, (const Sent*)sent.data + n);
  tb_array_free(ctx, &sent);
  return status;
}

// Jᵀλ of the constraints: on nodes in N·s, on frames with their torque.
static void gather(const tbIpc* ipc, const tbContactConstraint* t, size_t count, tbVec3* push)
{
  memset(push, 0, (size_t)ipc->nblock * sizeof *push);
  for (size_t i = 0; i < count; i++) {
    tbVec3 impulse = tb_zero3();
    for (int k = 0; k < t[i].rows && k < 3; k++)
      impulse =
          tb_madd3(impulse, tb_constraint_stretch(&t[i], k) * t[i].guess[k], tb_mat3_row(t[i].frame, k));
    const tbSurfaceContact* c = t[i].surface;
    for (int side = c->count_a > 0 ? 0 : 1; side < 2; side++) {
      const tbIpcSurface* s = &ipc->surface[side ? c->of.surface_b : c->of.surface_a];
      tbVec3 own = side ? impulse : tb_neg3(impulse);
      if (s->source == TB_IPC_FRAME) {
        const tbIpcFrame* f = &ipc->frame[s->index];
        tbVec3 arm = tb_sub3(side ? t[i].point.b : t[i].point.a, f->start.x);
        push[f->block] = tb_add3(push[f->block], own);
        push[f->block + 1] = tb_add3(push[f->block + 1], tb_cross3(arm, own));
      }
      for (int k = 0; s->source == TB_IPC_NODE && k < (side ? c->count_b : c->count_a); k++) {
        const tbIpcNodes* n = &ipc->nodes[s->index];
        tbVec3* to = &push[n->block + n->of.node[side ? c->vertex_b[k] : c->vertex_a[k]]];
        *to = tb_madd3(*to, side ? c->weight_b[k] : c->weight_a[k], own);
      }
    }
  }
}

// Newton's method leaves a little: what all of a body gets too much or too little of, as a share of its mass.
static tbVec3 shift_of(const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* push)
{
  tbVec3 sum = tb_zero3();
  double mass = 0;
  if (!ipc->converged) return sum; // nodes stay where nothing crosses
  for (int k = 0; k < n->of.fem->nnode; k++) {
    if (ipc->held[n->block + k]) return tb_zero3();
    sum = tb_add3(sum, tb_sub3(push[n->block + k], ipc->gradient[n->block + k]));
    mass += (tb_ipc_share_of_mass(n, k) + ipc->h * n->of.fem->mass_damping) * n->of.fem->mass[k];
  }
  return tb_scale3(1 / mass, sum);
}

static tbStatus linearise(tbContext* ctx, tbIpc* ipc, tbIpcNodes* n, const tbVec3* push)
{
  int count = n->of.fem->nnode;
  tbVec3* miss = TB_TAKE(ipc->arena, tbVec3, (size_t)count);
  tbVec3* v = TB_TAKE(ipc->arena, tbVec3, (size_t)count);
  if (!miss || !v) return TB_ERROR_MEMORY;
  tbVec3 shift = shift_of(ipc, n, push);
  for (int k = 0; k < count; k++) {
    bool held = ipc->held[n->block + k];
    v[k] = held ? n->of.pin[k] : tb_add3(ipc->v[n->block + k], shift);
    miss[k] = held ? tb_zero3() : push[n->block + k];
  }
  return tb_bodies(ipc->world)[n->body].kind->linearise(ctx, &tb_bodies(ipc->world)[n->body], ipc->h, n->x, v,
                                                        miss, false, &ipc->step[n->body]);
}

tbStatus tb_ipc_publish(tbContext* ctx, tbIpc* ipc, tbStepWork* work)
{
  tbVec3* push = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nblock);
  if (!push) return TB_ERROR_MEMORY;
  work->constraints.count = 0;
  TB_TRY(make_constraints(ctx, ipc, &work->constraints));
  gather(ipc, work->constraints.data, work->constraints.count, push);
  tb_ipc_joints_push(ipc, push);
  tb_ipc_bodies_gradient(ctx, ipc, ipc->v, NULL);
  for (int i = 0; i < ipc->nnodes; i++) TB_TRY(linearise(ctx, ipc, &ipc->nodes[i], push));
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tbMat3 inverse = tb_mat3_inverse(f->inertia);
    tbUnconstrained* u = &work->unconstrained[f->body];
    u->at = f->start;
    u->v = f->v_free;
    u->w = tb_sub3(ipc->v[f->block + 1], tb_mat3_mulv(inverse, push[f->block + 1]));
    if (!ipc->converged) // poses stay where nothing crosses
      u->v = tb_madd3(ipc->v[f->block], -1 / tb_bodies(ipc->world)[f->body].mass, push[f->block]);
  }
  return tb_assemble(ctx, ipc->arena, ipc->world, ipc->options, TB_ASSEMBLE_PLAIN, work->unconstrained,
                     work->centre, ipc->step, work->constraints.data, (int)work->constraints.count,
                     &work->assembly);
}

void tb_ipc_guess(const tbIpc* ipc, tbStepWork* work)
{
  const tbAssembly* a = &work->assembly;
  for (int i = 0; i < a->nconstraint; i++)
    memcpy(a->lambda + a->problem->row_adr[i], a->constraint[i].guess,
           (size_t)a->constraint[i].rows * sizeof(double));
  tb_ipc_joints_publish(ipc, &work->assembly);
}

void tb_ipc_restore(const tbIpc* ipc, tbStepWork* work)
{
  tbAssembly* a = &work->assembly;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    int dof = a->place[f->body].dof;
    for (int k = 0; dof >= 0 && k < 2; k++) tb_store3(a->v + dof + 3 * k, ipc->v[f->block + k]);
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    int dof = a->place[n->body].dof;
    for (int k = 0; dof >= 0 && k < n->of.fem->nnode; k++)
      if (!ipc->held[n->block + k]) tb_store3(a->v + dof + 3 * k, ipc->v[n->block + k]);
  }
}

void tb_ipc_arrive(tbContext* ctx, tbIpc* ipc, const tbStepWork* work)
{
  tbSurfaces* s = &ipc->surfaces;
  tb_surfaces_move(ctx, &work->assembly.view, s);
  for (int i = 0; i < s->scene.nsurface; i++) { // nodes that were moved apart
    const tbIpcSurface* m = &ipc->surface[i];
    if (m->source != TB_IPC_NODE || !(ipc->moved > 0)) continue;
    const tbIpcNodes* n = &ipc->nodes[m->index];
    const double* v = tb_view_velocity(&work->assembly.view, n->body);
    for (int k = 0; k < s->surface[i].surface->nvertex; k++)
      s->end[i][k] = tb_madd3(n->start[n->of.node[k]], ipc->h, tb_load3(v + 3 * (size_t)n->of.node[k]));
  }
}
