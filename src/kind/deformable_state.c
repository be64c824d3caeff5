// SPDX-License-Identifier: Apache-2.0
// The state of a deformable body: its nodes, of which its place and velocity in the world's list follow.
#include "kind/deformable.h"

int tb_deformable_dofs(const tbBody* b)
{
  const tbDeformable* d = b->own;
  return 3 * d->fem->nnode;
}

void tb_deformable_release(tbContext* ctx, tbBody* b)
{
  tb_deformable_free(ctx, b->own);
  b->own = NULL;
}

// Lumped or not, the nodes' masses weigh x and v alike: the rows of M add up to them.
void tb_deformable_follow(tbBody* b)
{
  const tbDeformable* d = b->own;
  const tbFemBody* fem = d->fem;
  tbVec3 x = tb_zero3(), v = tb_zero3();
  double far = 0;
  for (int i = 0; i < fem->nnode; i++) {
    double share = fem->mass[i] / b->mass;
    x = tb_madd3(x, share, d->x[i]);
    v = tb_madd3(v, share, d->v[i]);
  }
  for (int i = 0; i < fem->nnode; i++) far = fmax(far, tb_distance3(d->x[i], x));
  b->x = x, b->v = v, b->radius = far + d->radius;
}

// As if it were rigid: its centre of mass to the position, turned about it by the orientation. World frames
// that nodes are held in at constant velocity move with them, as a kinematic body's motion starts anew from
// where it is put; keys and bodies go on as they did, and take their nodes back.
void tb_deformable_place(tbWorld* w, int body, const tbBodyState* s)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  tbVec3 centre = tb_bodies(w)[body].x;
  for (int i = 0; i < d->nhold; i++) {
    tbMotion* m = &d->hold[i].motion;
    if (d->hold[i].body >= 0 || m->nkey > 0) continue;
    tbTransform now = tb_motion_pose(w, m, w->time);
    now.x = tb_add3(s->position, tb_quat_rotate(s->orientation, tb_sub3(now.x, centre)));
    now.q = tb_quat_normalize(tb_quat_mul(s->orientation, now.q));
    m->initial = tb_motion_start(w, now, m->v, m->w);
  }
  for (int i = 0; i < d->fem->nnode; i++) {
    tbVec3 arm = tb_quat_rotate(s->orientation, tb_sub3(d->x[i], centre));
    d->x[i] = tb_add3(s->position, arm);
    d->v[i] = tb_add3(s->velocity, tb_cross3(s->angular_velocity, arm));
  }
  tb_deformable_follow(&tb_bodies(w)[body]);
}

void tb_deformable_set_nodes(tbWorld* w, int body, const tbVec3* x, const tbVec3* v)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  for (int i = 0; i < d->fem->nnode; i++) d->x[i] = x[i], d->v[i] = v[i];
  tb_deformable_follow(&tb_bodies(w)[body]);
}

tbVec3* tb_deformable_pulls(tbBody* body, int* count)
{
  tbDeformable* d = body->own;
  *count = d->nhold > 0 ? d->fem->nnode : 0;
  return d->pull;
}

tbEnergy tb_deformable_energy(const tbWorld* w, const tbBody* b)
{
  const tbDeformable* d = b->own;
  double sum = 0; // vᵀ M v
  for (int i = 0; i < d->fem->nnode; i++) sum += tb_dot3(d->v[i], tb_fem_momentum(d->fem, d->v, i));
  return (tbEnergy){.kinetic = 0.5 * sum,
                    .potential = -b->mass * tb_dot3(w->gravity, b->x),
                    .elastic = tb_fem_energy(d->fem, d->x)};
}

tbVec3 tb_deformable_angular_momentum(const tbBody* b)
{
  const tbDeformable* d = b->own;
  tbVec3 l = tb_zero3();
  for (int k = 0; k < d->fem->nnode; k++)
    l = tb_add3(l, tb_cross3(d->x[k], tb_fem_momentum(d->fem, d->v, k)));
  return l;
}

uint64_t tb_deformable_hash(uint64_t h, const tbBody* b)
{
  const tbDeformable* d = b->own;
  h = tb_hash_numbers(h, &d->x->x, 3 * d->fem->nnode);
  h = tb_hash_numbers(h, &d->v->x, 3 * d->fem->nnode);
  return d->nhold > 0 ? tb_hash_numbers(h, &d->pull->x, 3 * d->fem->nnode) : h;
}

tbNodes tb_deformable_nodes(const tbBody* b)
{
  const tbDeformable* d = b->own;
  bool sheet = b->kind->sheet;
  return (tbNodes){.count = d->fem->nnode,
                   .x = d->x,
                   .v = d->v,
                   .ntriangle = d->surface->ntriangle,
                   .triangle = (const int(*)[3])d->triangle,
                   .nelement = sheet ? d->surface->ntriangle : d->fem->nelement[0],
                   .corners = sheet ? 3 : 4,
                   .element = sheet ? d->triangle[0] : d->fem->corner[0]};
}
