// SPDX-License-Identifier: Apache-2.0
// What can be said of a whole world: energy, momentum, a hash of its state, its contacts.
#include "scene/kind.h"

#include <string.h>

// ½ error²/compliance of the anchors of a compliant joint.
static double joint_energy(const tbWorld* w, const tbJoint* j)
{
  if (!(j->def.compliance > 0)) return 0;
  double error = tb_norm3(tb_joint_placed(w, NULL, j).apart);
  if (j->def.type == TB_JOINT_DISTANCE) {
    if (!j->def.limited) error -= j->length;
    else
      error = error < j->def.lower ? error - j->def.lower : error > j->def.upper ? error - j->def.upper : 0;
  }
  if (j->def.type == TB_JOINT_SLIDER) return 0; // its anchors travel freely
  return 0.5 * error * error / j->def.compliance;
}

static double rotor_energy(const tbWorld* w, const tbJoint* j)
{
  if (!(j->def.armature > 0)) return 0;
  double speed = tb_joint_speed(w, j);
  return 0.5 * j->def.armature * speed * speed;
}

tbEnergy tb_world_energy(const tbWorld* w)
{
  tbEnergy e = {0};
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    tbEnergy own = b->kind->energy(w, b);
    e.kinetic += own.kinetic, e.potential += own.potential, e.elastic += own.elastic;
  }
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    e.elastic += joint_energy(w, j), e.kinetic += rotor_energy(w, j);
  }
  return e;
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
    if (b->motion == TB_BODY_DYNAMIC) l = tb_add3(l, b->kind->angular_momentum(b));
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
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->kind->hash) h = b->kind->hash(h, b);
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
  tbContactView view = {.a = tb_world_body_at(w, c->body_a),
                        .b = tb_world_body_at(w, c->body_b),
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

int tb_world_event_count(const tbWorld* w) { return (int)w->event.count; }

tbContactEvent tb_world_event(const tbWorld* w, int index)
{
  return ((const tbContactEvent*)w->event.data)[index];
}
