// SPDX-License-Identifier: Apache-2.0
// The state of a reduced body: a frame and coordinates of deformation, of which its nodes follow.
#include "kind/reduced.h"

#include "math/polar.h"
#include "tribo/grip.h"

#include <string.h>

int tb_reduced_dofs(const tbBody* b)
{
  const tbReduced* d = b->own;
  return tb_reduced_frame_dofs(d) + d->basis->nmode;
}

void tb_reduced_release(tbContext* ctx, tbBody* b)
{
  tb_reduced_free(ctx, b->own);
  b->own = NULL;
}

void tb_reduced_follow(tbBody* b)
{
  tbReduced* d = b->own;
  const tbReducedState* s = &d->now;
  tbVec3 x = tb_zero3(), v = tb_zero3();
  double far = 0;
  for (int i = 0; i < d->fem->nnode; i++) {
    double share = d->fem->mass[i] / b->mass;
    d->x[i] = tb_reduced_point(d, s, i);
    tbVec3 own = tb_quat_rotate(s->frame.q, tb_modal_at(d->basis, i, s->qd));
    d->v[i] = tb_add3(tb_add3(s->v, own), tb_cross3(s->w, tb_sub3(d->x[i], s->frame.x)));
    x = tb_madd3(x, share, d->x[i]), v = tb_madd3(v, share, d->v[i]);
  }
  if (d->nhold == 0) x = s->frame.x, v = s->v; // the same, to rounding
  for (int i = 0; i < d->fem->nnode; i++) far = fmax(far, tb_distance3(d->x[i], x));
  b->x = x, b->v = v, b->radius = far;
  b->q = s->frame.q, b->w = s->w;
}

// As if it were rigid, deformed as it is. A frame that stands, or moves at constant velocity, goes with its
// pins; keys go on as they did.
void tb_reduced_place(tbWorld* w, int body, const tbBodyState* s)
{
  tbBody* b = &tb_bodies(w)[body];
  tbReduced* d = b->own;
  tbVec3 arm = tb_quat_unrotate(d->now.frame.q, tb_sub3(b->x, d->now.frame.x)); // of the centre of mass
  d->now.frame = tb_transform(s->orientation, tb_sub3(s->position, tb_quat_rotate(s->orientation, arm)));
  memset(d->now.qd, 0, (size_t)d->basis->nmode * sizeof *d->now.qd);
  if (d->nhold == 0) d->now.v = s->velocity, d->now.w = s->angular_velocity;
  else if (d->motion.nkey == 0) {
    tbTransform mesh = tb_transform(s->orientation, tb_transform_point(d->now.frame, tb_neg3(d->centre)));
    d->motion.initial = tb_motion_start(w, mesh, d->motion.v, d->motion.w);
  }
  tb_reduced_follow(b);
}

tbEnergy tb_reduced_energy(const tbWorld* w, const tbBody* b)
{
  const tbReduced* d = b->own;
  double twice = 0;
  for (int i = 0; i < d->fem->nnode; i++) twice += tb_dot3(d->v[i], tb_fem_momentum(d->fem, d->v, i));
  double elastic = tb_modal_energy(d->basis, d->now.q, NULL, NULL, d->work);
  return (tbEnergy){
      .kinetic = 0.5 * twice, .potential = -b->mass * tb_dot3(w->gravity, b->x), .elastic = elastic};
}

tbVec3 tb_reduced_angular_momentum(const tbBody* b)
{
  const tbReduced* d = b->own;
  tbVec3 l = tb_zero3();
  for (int k = 0; k < d->fem->nnode; k++)
    l = tb_add3(l, tb_cross3(d->x[k], tb_fem_momentum(d->fem, d->v, k)));
  return l;
}

uint64_t tb_reduced_hash(uint64_t h, const tbBody* b)
{
  const tbReduced* d = b->own;
  h = tb_hash_numbers(h, d->now.q, d->basis->nmode);
  h = tb_hash_numbers(h, d->now.qd, d->basis->nmode);
  return d->nhold > 0 ? tb_hash_numbers(h, &d->now.frame.x.x, 3) : h;
}

tbNodes tb_reduced_nodes(const tbBody* b)
{
  const tbReduced* d = b->own;
  return (tbNodes){.count = d->fem->nnode,
                   .x = d->x,
                   .v = d->v,
                   .ntriangle = d->surface->ntriangle,
                   .triangle = (const int(*)[3])d->triangle,
                   .nelement = d->fem->nelement[0],
                   .corners = 4,
                   .element = d->fem->corner[0]};
}

// A force on a node: on the frame, and on q what the fields have of it there.
static void push(tbReduced* d, int node, tbVec3 force)
{
  const tbModalBasis* b = d->basis;
  const double* row = b->field + 3 * (size_t)node * (size_t)b->nmode;
  tbVec3 own = tb_quat_unrotate(d->now.frame.q, force);
  tb_store3(d->push, tb_add3(tb_load3(d->push), force));
  tb_store3(d->push + 3,
            tb_add3(tb_load3(d->push + 3), tb_cross3(tb_sub3(d->x[node], d->now.frame.x), force)));
  for (int k = 0; k < b->nmode; k++)
    d->push[6 + k] += own.x * row[k] + own.y * row[b->nmode + k] + own.z * row[2 * b->nmode + k];
}

void tb_reduced_push(tbBody* b, const tbVec3* forces)
{
  tbReduced* d = b->own;
  for (int i = 0; i < d->fem->nnode; i++)
    if (tb_maxabs3(forces[i]) > 0) push(d, i, forces[i]);
}

tbStatus tb_reduced_own_forces(tbArena* arena, tbBody* b)
{
  const tbReduced* shared = b->own;
  size_t n = 6 + (size_t)shared->basis->nmode;
  tbReduced* d = TB_TAKE(arena, tbReduced, 1);
  double* push = TB_TAKE(arena, double, n);
  if (!d || !push) return TB_ERROR_MEMORY;
  *d = *shared, d->push = push, b->own = d;
  memcpy(push, shared->push, n * sizeof *push);
  return TB_OK;
}

// As a rigid body is pulled at the node, its deformation answering; one that is pinned as its mass would be.
void tb_reduced_pull(tbWorld* w, int body, const tbGrip* grip, double h)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbReduced* d = b->own;
  int node = grip->node >= 0 && grip->node < d->fem->nnode ? grip->node : 0;
  tbVec3 kick = tb_grip_kick(d->x[node], d->v[node], grip->target, h);
  tbMat3 K = tb_mat3_scale(1 / b->mass, tb_mat3_identity());
  if (d->nhold == 0) {
    tbReducedInertia at = {.C = NULL};
    tb_reduced_inertia(d->basis, d->now.q, &at);
    tbMat3 R = tb_quat_mat3(d->now.frame.q), X = tb_mat3_skew(tb_sub3(d->x[node], d->now.frame.x));
    tbMat3 inverse = tb_mat3_mul(R, tb_mat3_mult(tb_mat3_inverse(at.I), R));
    K = tb_mat3_sub(K, tb_mat3_mul(X, tb_mat3_mul(inverse, X)));
  }
  push(d, node, tb_scale3(1 / h, tb_mat3_mulv(tb_mat3_inverse(K), kick)));
}

// The fields' part of displacements in the frame: q_k = u_kᵀ M u.
static void project(const tbReduced* d, const tbVec3* u, double* q)
{
  int r = d->basis->nmode;
  memset(q, 0, (size_t)r * sizeof *q);
  for (int i = 0; i < d->fem->nnode; i++) {
    tbVec3 m = tb_fem_momentum(d->fem, u, i);
    const double* row = d->basis->field + 3 * (size_t)i * (size_t)r;
    for (int k = 0; k < r; k++) q[k] += m.x * row[k] + m.y * row[r + k] + m.z * row[2 * r + k];
  }
}

// The closest that frame and fields come to these nodes: the frame to their centre and mean rotation, then
// the rest by the fields. Its own arrays of nodes are the room for that.
void tb_reduced_set_nodes(tbWorld* w, int body, const tbVec3* x, const tbVec3* v)
{
  tbBody* b = &tb_bodies(w)[body];
  tbReduced* d = b->own;
  tbReducedState* s = &d->now;
  int n = d->fem->nnode;
  if (d->nhold == 0) {
    tbMat3 S = tb_mat3_zero();
    s->frame.x = s->v = tb_zero3();
    for (int i = 0; i < n; i++) {
      s->frame.x = tb_madd3(s->frame.x, d->fem->mass[i] / b->mass, x[i]);
      s->v = tb_madd3(s->v, d->fem->mass[i] / b->mass, v[i]);
    }
    for (int i = 0; i < n; i++)
      S = tb_mat3_add(
          S, tb_mat3_scale(d->fem->mass[i], tb_mat3_outer(tb_sub3(x[i], s->frame.x), d->fem->rest[i])));
    s->frame.q = tb_quat_from_mat3(tb_polar3(S).R);
  }
  for (int i = 0; i < n; i++) d->x[i] = tb_sub3(tb_transform_unpoint(s->frame, x[i]), d->fem->rest[i]);
  project(d, d->x, s->q);
  if (d->nhold == 0) { // ω of the angular momentum that the nodes have, as if they were rigid
    tbReducedInertia at = {.C = NULL};
    tb_reduced_inertia(d->basis, s->q, &at);
    tbVec3 L = tb_zero3();
    for (int i = 0; i < n; i++)
      L = tb_madd3(L, d->fem->mass[i], tb_cross3(tb_sub3(x[i], s->frame.x), tb_sub3(v[i], s->v)));
    s->w = tb_quat_rotate(s->frame.q, tb_mat3_mulv(tb_mat3_inverse(at.I), tb_quat_unrotate(s->frame.q, L)));
  }
  for (int i = 0; i < n; i++) {
    tbVec3 rigid = tb_add3(s->v, tb_cross3(s->w, tb_sub3(x[i], s->frame.x)));
    d->v[i] = tb_quat_unrotate(s->frame.q, tb_sub3(v[i], rigid));
  }
  project(d, d->v, s->qd);
  tb_reduced_follow(b);
}

tbMotion* tb_reduced_motion(tbBody* b, int k)
{
  tbReduced* d = b->own;
  return k < d->nhold ? &d->motion : NULL;
}

void tb_reduced_lose(tbContext* ctx, tbWorld* w, int body, int gone)
{
  (void)ctx;
  tbReduced* d = tb_bodies(w)[body].own;
  if (d->body > gone) d->body--;
}

double* tb_reduced_modes(const tbBody* b, int* count)
{
  const tbReduced* d = b->own;
  *count = d->basis->nmode;
  return d->now.q;
}

const double* tb_reduced_mode_rates(const tbBody* b) { return ((const tbReduced*)b->own)->now.qd; }

void tb_reduced_set_modes(tbWorld* w, int body, const double* q, const double* qd)
{
  tbBody* b = &tb_bodies(w)[body];
  tbReduced* d = b->own;
  memcpy(d->now.q, q, (size_t)d->basis->nmode * sizeof *q);
  if (qd) memcpy(d->now.qd, qd, (size_t)d->basis->nmode * sizeof *qd);
  else memset(d->now.qd, 0, (size_t)d->basis->nmode * sizeof *d->now.qd);
  tb_reduced_follow(b);
}
