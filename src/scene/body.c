// SPDX-License-Identifier: Apache-2.0
// What bodies of every kind share: their names, their place in the world, looking at them. A body's state is
// kept at its centre of mass; the body frame is what users see.
#include "scene/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool unit_from(tbQuat* q) // normalises; false: zero or not finite
{
  double n = fmax(fmax(fabs(q->w), fabs(q->x)), fmax(fabs(q->y), fabs(q->z)));
  if (!(n > 0) || !isfinite(q->w) || !isfinite(q->x) || !isfinite(q->y) || !isfinite(q->z)) return false;
  *q = tb_quat_normalize(*q);
  return true;
}

tbStatus tb_state_check(tbContext* ctx, const char* name, tbVec3 x, tbQuat* q, tbVec3 v, tbVec3 w)
{
  if (!tb_finite3(x)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the position of %s must be finite", name);
  if (!unit_from(q))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the orientation of %s must be finite and not zero", name);
  if (!tb_finite3(v) || !tb_finite3(w))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the velocities of %s must be finite", name);
  return TB_OK;
}

tbMat3 tb_inertia_from(const double i[6])
{
  return tb_mat3_rows(tb_vec3(i[0], i[3], i[4]), tb_vec3(i[3], i[1], i[5]), tb_vec3(i[4], i[5], i[2]));
}

static bool positive_definite(tbMat3 A) // by its leading minors, each relative to what it is made of
{
  double a = A.m[0][0], b = A.m[1][1], c = A.m[2][2], minor = a * b - A.m[0][1] * A.m[1][0];
  return a > 0 && b > 0 && c > 0 && isfinite(a * b * c) && minor > 1e-13 * a * b &&
         tb_mat3_det(A) > 1e-13 * minor * c;
}

tbStatus tb_inertia_check(tbContext* ctx, const char* name, tbMat3 inertia)
{
  if (positive_definite(inertia)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "the inertia of %s is not positive definite", name);
}

tbStatus tb_body_check(tbContext* ctx, const tbWorld* w, const char* wanted, tbMaterialId material,
                       const tbFriction* friction, char made[32], const char** name, int* material_place)
{
  snprintf(made, 32, "body/%" PRId64, w->bodies_made);
  *name = wanted ? wanted : made;
  if (tb_names_find(&w->names, TB_NAME_BODY, *name) >= 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is a body \"%s\" already", *name);
  if (w->body.count >= (size_t)1 << 27) return tb_fail(ctx, TB_ERROR_ARGUMENT, "too many bodies");
  *material_place = tb_material_place(w, material);
  if (*material_place < 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the material of %s is not one of this world", *name);
  return friction ? tb_friction_check(ctx, friction) : TB_OK;
}

static tbStatus push_material(tbContext* ctx, tbWorld* w, const tbBodyParts* p, const tbBody* b)
{
  if (b->own_contact_material < 0) return TB_OK;
  tbContactMaterial own = {.friction = tb_materials(w)[b->material].contact_material.friction,
                           .restitution = tb_materials(w)[b->material].contact_material.restitution};
  if (p->friction) own.friction = *p->friction;
  if (p->restitution) own.restitution = *p->restitution;
  return tb_array_push(ctx, &w->contact_material, &own, 1);
}

// Everything that must exist before the body can be added; only then does the world change.
tbStatus tb_body_append(tbContext* ctx, tbWorld* w, const tbBodyParts* p, const tbBody* b)
{
  tbArray* grown[] = {&w->body, &w->shape, &w->owner, &w->key, &w->contact_material};
  size_t before[5];
  for (int i = 0; i < 5; i++) before[i] = grown[i]->count;
  int place = (int)w->body.count;
  tbStatus status = tb_names_reserve(ctx, &w->names);
  if (status == TB_OK) status = tb_ids_reserve(ctx, &w->body_ids);
  if (status == TB_OK) status = tb_array_push(ctx, &w->shape, p->shapes, (size_t)p->shape_count);
  for (int i = 0; status == TB_OK && i < p->shape_count; i++)
    status = tb_array_push(ctx, &w->owner, &place, 1);
  if (status == TB_OK) status = tb_keys_push(ctx, w, p->keys, p->key_count);
  for (int k = 0; status == TB_OK && k < p->pin_count; k++)
    status = tb_keys_push(ctx, w, p->pins[k].keys, p->pins[k].key_count);
  if (status == TB_OK) status = push_material(ctx, w, p, b);
  if (status == TB_OK) status = tb_array_push(ctx, &w->body, b, 1);
  if (status != TB_OK) {
    for (int i = 0; i < 5; i++) grown[i]->count = before[i];
    return status;
  }
  tb_names_add(&w->names, TB_NAME_BODY, b->name, place);
  tb_bodies(w)[place].id = tb_ids_add(&w->body_ids, place);
  w->bodies_made++, w->layout++;
  return TB_OK;
}

int tb_world_body_count(const tbWorld* w) { return (int)w->body.count; }

tbBodyId tb_world_find_body(const tbWorld* w, const char* name)
{
  return tb_world_body_at(w, tb_names_find(&w->names, TB_NAME_BODY, name));
}

tbBodyId tb_world_body_at(const tbWorld* w, int place)
{
  if (place < 0 || (size_t)place >= w->body.count) return (tbBodyId){-1, 0};
  int id = tb_bodies(w)[place].id;
  return (tbBodyId){id, tb_ids_generation(&w->body_ids, id)};
}

int tb_body_place(const tbWorld* w, tbBodyId id)
{
  return tb_ids_find(&w->body_ids, id.index, id.generation);
}

tbStatus tb_body_find(tbContext* ctx, const tbWorld* w, tbBodyId id, int* place)
{
  *place = tb_body_place(w, id);
  if (*place >= 0) return TB_OK;
  bool removed = id.index >= 0 && (size_t)id.index < w->body_ids.entry.count;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, removed ? "this body has been removed" : "no such body");
}

const char* tb_body_name(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? "" : tb_bodies(w)[place].name;
}

double tb_body_mass(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? 0 : tb_bodies(w)[place].mass;
}

bool tb_body_asleep(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  if (place < 0 || !w->state || !w->state_kind->asleep) return false;
  return tb_bodies(w)[place].motion == TB_BODY_DYNAMIC && w->state_kind->asleep(w->state, place);
}

tbBodyState tb_body_state(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  if (place < 0) return (tbBodyState){.orientation = tb_quat_identity()};
  const tbBody* b = &tb_bodies(w)[place];
  tbVec3 arm = tb_quat_rotate(b->q, b->centre);
  return (tbBodyState){tb_sub3(b->x, arm), b->q, tb_sub3(b->v, tb_cross3(b->w, arm)), b->w};
}

tbStatus tb_body_set_state(tbContext* ctx, tbWorld* w, tbBodyId id, const tbBodyState* s)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  tbBody* b = &tb_bodies(w)[place];
  tbQuat q = s->orientation;
  TB_TRY(tb_state_check(ctx, b->name, s->position, &q, s->velocity, s->angular_velocity));
  tbBodyState state = {s->position, q, s->velocity, s->angular_velocity};
  b->kind->place(w, place, &state);
  tb_world_changed(w, place);
  return TB_OK;
}

tbStatus tb_body_apply(tbContext* ctx, tbWorld* w, tbBodyId id, tbVec3 force, tbVec3 torque)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  if (!tb_finite3(force) || !tb_finite3(torque))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a force must be finite");
  tbBody* b = &tb_bodies(w)[place];
  if (!b->kind->framed && tb_norm3(torque) > 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is deformable: no torque can act on it", b->name);
  if (b->motion == TB_BODY_FIXED || b->motion == TB_BODY_KINEMATIC)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s does not move freely: no force can act on it", b->name);
  b->force = tb_add3(b->force, force);
  b->torque = tb_add3(b->torque, torque);
  return TB_OK;
}
