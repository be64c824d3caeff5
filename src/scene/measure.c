// What can be said of a whole world: energy, momentum, a hash of its state, its contacts.
#include "scene/world.h"

#include <string.h>

static double joint_energy(const tbWorld* w, const tbJoint* j);

// ½ vᵀ M v
static double node_energy(const tbDeformable* d)
{
  double sum = 0;
  for (int i = 0; i < d->fem->nnode; i++) sum += tb_dot3(d->v[i], tb_fem_momentum(d->fem, d->v, i));
  return 0.5 * sum;
}

tbEnergy tb_world_energy(const tbWorld* w)
{
  tbEnergy e = {0};
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->kind != TB_BODY_DYNAMIC) continue;
    tbVec3 wl = tb_quat_unrotate(b->q, b->w);
    e.kinetic += 0.5 * b->mass * tb_dot3(b->v, b->v) + 0.5 * tb_dot3(wl, tb_mat3_mulv(b->inertia, wl));
    e.potential -= b->mass * tb_dot3(w->gravity, b->x);
  }
  for (size_t i = 0; i < w->deformable.count; i++) {
    const tbDeformable* d = &tb_deformables(w)[i];
    const tbBody* b = &tb_bodies(w)[d->body];
    e.kinetic += node_energy(d);
    e.potential -= b->mass * tb_dot3(w->gravity, b->x);
    e.elastic += tb_fem_energy(d->fem, NULL, d->x);
  }
  for (size_t i = 0; i < w->joint.count; i++) e.elastic += joint_energy(w, &tb_joints(w)[i]);
  return e;
}

// ½ error²/compliance of the anchors of a compliant joint.
static double joint_energy(const tbWorld* w, const tbJoint* j)
{
  if (!(j->def.compliance > 0)) return 0;
  tbVec3 p[2];
  for (int side = 0; side < 2; side++) {
    int i = side ? j->def.b.index : j->def.a.index;
    tbVec3 local = side ? j->anchor_b : j->anchor_a;
    p[side] = i < 0 ? local : tb_add3(tb_bodies(w)[i].x, tb_quat_rotate(tb_bodies(w)[i].q, local));
  }
  double error = tb_distance3(p[0], p[1]);
  if (j->def.type == TB_JOINT_DISTANCE) {
    if (!j->def.limited) error -= j->length;
    else
      error = error < j->def.lower ? error - j->def.lower : error > j->def.upper ? error - j->def.upper : 0;
  }
  if (j->def.type == TB_JOINT_SLIDER) return 0; // its anchors travel freely
  return 0.5 * error * error / j->def.compliance;
}

tbVec3 tb_world_momentum(const tbWorld* w)
{
  tbVec3 p = tb_zero3();
  for (size_t i = 0; i < w->body.count; i++) p = tb_madd3(p, tb_bodies(w)[i].mass, tb_bodies(w)[i].v);
  return p;
}

tbVec3 tb_world_angular_momentum(const tbWorld* w)
{
  tbVec3 l = tb_zero3();
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->kind != TB_BODY_DYNAMIC) continue;
    tbVec3 spin = tb_quat_rotate(b->q, tb_mat3_mulv(b->inertia, tb_quat_unrotate(b->q, b->w)));
    l = tb_add3(l, tb_add3(spin, tb_scale3(b->mass, tb_cross3(b->x, b->v))));
  }
  for (size_t i = 0; i < w->deformable.count; i++) {
    const tbDeformable* d = &tb_deformables(w)[i];
    for (int k = 0; k < d->fem->nnode; k++)
      l = tb_add3(l, tb_cross3(d->x[k], tb_fem_momentum(d->fem, d->v, k)));
  }
  return l;
}

uint64_t tb_hash_numbers(uint64_t h, const double* x, int n) // FNV-1a, a number at a time
{
  for (int i = 0; i < n; i++) {
    double value = x[i] + 0.0; // −0 counts as 0
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * 0x100000001b3u;
    h ^= h >> 29;
  }
  return h;
}

uint64_t tb_world_hash(const tbWorld* w)
{
  uint64_t h = tb_hash_numbers(0xcbf29ce484222325u, &w->time, 1);
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    h = tb_hash_numbers(h, &b->x.x, 3), h = tb_hash_numbers(h, &b->q.w, 4),
    h = tb_hash_numbers(h, &b->v.x, 3), h = tb_hash_numbers(h, &b->w.x, 3);
  }
  for (size_t i = 0; i < w->deformable.count; i++) {
    const tbDeformable* d = &tb_deformables(w)[i];
    h = tb_hash_numbers(h, &d->x->x, 3 * d->fem->nnode), h = tb_hash_numbers(h, &d->v->x, 3 * d->fem->nnode);
    if (d->nhold > 0) h = tb_hash_numbers(h, &d->pull->x, 3 * d->fem->nnode);
  }
  for (size_t i = 0; i < w->contact.count; i++) {
    const tbContactRecord* c = (const tbContactRecord*)w->contact.data + i;
    h = tb_hash_numbers(h, c->impulse, c->rows);
    h = (h ^ c->feature) * 0x100000001b3u;
  }
  for (size_t i = 0; i < w->joint.count; i++)
    h = tb_hash_numbers(h, tb_joints(w)[i].impulse, TB_JOINT_IMPULSES);
  return w->state_kind ? w->state_kind->hash(h, w->state) : h;
}

int tb_world_contact_count(const tbWorld* w) { return (int)w->contact.count; }

tbContactView tb_world_contact(const tbWorld* w, int index)
{
  const tbContactRecord* c = (const tbContactRecord*)w->contact.data + index;
  tbContactView view = {.a = {c->body_a},
                        .b = {c->body_b},
                        .position = c->position,
                        .normal = c->normal,
                        .tangent = c->tangent,
                        .gap = c->gap,
                        .residual = c->residual,
                        .rows = c->rows,
                        .state = c->state};
  memcpy(view.impulse, c->impulse, sizeof view.impulse);
  memcpy(view.velocity, c->velocity, sizeof view.velocity);
  return view;
}
