// Adding bodies and looking at them. A body's state is kept at its centre of mass; the body frame is what
// users see.
#include "kind/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tbBodyDef tb_default_body_def(void)
{
  return (tbBodyDef){
      .kind = TB_BODY_DYNAMIC, .orientation = tb_quat_identity(), .category = 1, .mask = UINT32_MAX};
}

static bool finite3(tbVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static bool unit_from(tbQuat* q) // normalises; false: zero or not finite
{
  double n = fmax(fmax(fabs(q->w), fabs(q->x)), fmax(fabs(q->y), fabs(q->z)));
  if (!(n > 0) || !isfinite(q->w) || !isfinite(q->x) || !isfinite(q->y) || !isfinite(q->z)) return false;
  *q = tb_quat_normalize(*q);
  return true;
}

tbStatus tb_state_check(tbContext* ctx, const char* name, tbVec3 x, tbQuat* q, tbVec3 v, tbVec3 w)
{
  if (!finite3(x)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the position of %s must be finite", name);
  if (!unit_from(q))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the orientation of %s must be finite and not zero", name);
  if (!finite3(v) || !finite3(w))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the velocities of %s must be finite", name);
  return TB_OK;
}

static tbStatus check_shapes(tbContext* ctx, const tbBodyDef* d, const char* name)
{
  if (d->shape_count < 0 || (d->shape_count > 0 && !d->shapes))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no shapes", name);
  for (int i = 0; i < d->shape_count; i++) {
    const tbShape* s = &d->shapes[i];
    TB_TRY(tb_shape_check(ctx, s));
    if (d->kind != TB_BODY_DYNAMIC) continue;
    if (s->type == TB_SHAPE_PLANE)
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "%s is a plane, which cannot move freely; make it fixed or kinematic", name);
    if (s->type == TB_SHAPE_MESH && !tb_mesh_is_solid(s->mesh))
      return tb_fail(
          ctx, TB_ERROR_ARGUMENT,
          "the mesh of %s is not closed and oriented outward, so it has no inside and cannot move freely",
          name);
  }
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

// Mass, centre and inertia, from what the definition gives and the shapes for the rest.
static tbStatus weigh(tbContext* ctx, const tbWorld* w, const tbBodyDef* d, const char* name, tbBody* b)
{
  double density = d->density ? d->density : tb_materials(w)[b->material].density;
  bool own_inertia = false;
  for (int i = 0; i < 6; i++) own_inertia |= d->inertia[i] != 0;
  if (!(d->mass >= 0) || !isfinite(d->mass) || !(density > 0) || !isfinite(density))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "mass and density of %s must be positive", name);

  tbMass total = {0};
  for (int i = 0; i < d->shape_count; i++) total = tb_mass_add(total, tb_shape_mass(&d->shapes[i], density));
  if (d->mass > 0 && total.mass > 0) total.inertia = tb_mat3_scale(d->mass / total.mass, total.inertia);
  if (d->mass > 0) total.mass = d->mass;
  if (own_inertia) total.inertia = tb_inertia_from(d->inertia);

  b->mass = total.mass, b->centre = total.centre, b->inertia = total.inertia;
  if (!(b->mass > 0) || !isfinite(b->mass))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no volume to take its mass from; give it a mass", name);
  TB_TRY(tb_inertia_check(ctx, name, b->inertia));
  b->inertia_inv = tb_mat3_inverse(b->inertia);
  return TB_OK;
}

static tbStatus check_keys(tbContext* ctx, const tbBodyDef* d, const char* name)
{
  if (d->key_count < 0 || (d->key_count > 0 && (!d->keys || d->kind != TB_BODY_KINEMATIC)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a kinematic body (not %s) has motion keys", name);
  return tb_keys_check(ctx, name, d->keys, d->key_count);
}

// The radius about the centre of mass, from the corners of the shapes' boxes in the body frame.
static double reach(const tbBodyDef* d, tbVec3 centre)
{
  double far = 0;
  for (int i = 0; i < d->shape_count; i++) {
    if (d->shapes[i].type == TB_SHAPE_PLANE) return INFINITY;
    tbBox box = tb_shape_box_of(&d->shapes[i], tb_transform_identity());
    tbVec3 lo = tb_sub3(centre, box.lo), hi = tb_sub3(box.hi, centre);
    far = fmax(far, tb_norm3(tb_max3(lo, hi)));
  }
  return far;
}

// Everything that must exist before the body can be added; only then does the world change.
static tbStatus append(tbContext* ctx, tbWorld* w, const tbBodyDef* d, tbBody* b)
{
  tbArray* grown[] = {&w->body, &w->shape, &w->owner, &w->key, &w->contact_material};
  size_t before[5];
  for (int i = 0; i < 5; i++) before[i] = grown[i]->count;
  int index = (int)w->body.count;
  tbStatus status = tb_names_reserve(ctx, &w->names);
  if (status == TB_OK) status = tb_ids_reserve(ctx, &w->body_ids);
  if (status == TB_OK) status = tb_array_push(ctx, &w->shape, d->shapes, (size_t)d->shape_count);
  for (int i = 0; status == TB_OK && i < d->shape_count; i++)
    status = tb_array_push(ctx, &w->owner, &index, 1);
  if (status == TB_OK) status = tb_keys_push(ctx, w, d->keys, d->key_count);
  if (status == TB_OK && b->own_contact_material >= 0) {
    const tbMaterial* material = (const tbMaterial*)w->material.data + b->material;
    tbContactMaterial own = {d->friction ? *d->friction : material->contact_material.friction,
                             d->restitution ? *d->restitution : material->contact_material.restitution,
                             false};
    status = tb_array_push(ctx, &w->contact_material, &own, 1);
  }
  if (status == TB_OK) status = tb_array_push(ctx, &w->body, b, 1);
  if (status != TB_OK)
    for (int i = 0; i < 5; i++) grown[i]->count = before[i];
  return status;
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
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is of no material of this world", *name);
  return friction ? tb_friction_check(ctx, friction) : TB_OK;
}

void tb_body_added(tbWorld* w)
{
  int place = (int)w->body.count - 1;
  tbBody* b = &tb_bodies(w)[place];
  tb_names_add(&w->names, TB_NAME_BODY, b->name, place);
  b->id = tb_ids_add(&w->body_ids, place);
  w->bodies_made++, w->layout++;
}

tbStatus tb_world_add_body(tbContext* ctx, tbWorld* w, const tbBodyDef* d, tbBodyId* out)
{
  char made[32];
  const char* name;
  int material;
  TB_TRY(tb_body_check(ctx, w, d->name, d->material, d->friction, made, &name, &material));
  if ((unsigned)d->kind > TB_BODY_KINEMATIC)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is of no known kind", name);
  tbQuat q = d->orientation;
  TB_TRY(tb_state_check(ctx, name, d->position, &q, d->velocity, d->angular_velocity));
  TB_TRY(check_shapes(ctx, d, name));
  TB_TRY(check_keys(ctx, d, name));
  if (d->restitution) TB_TRY(tb_restitution_check(ctx, *d->restitution));

  tbBody b = {.kind = &tb_kind_rigid,
              .motion = d->kind,
              .bullet = d->bullet,
              .q = q,
              .shape = (int)w->shape.count,
              .nshape = d->shape_count,
              .material = material,
              .category = d->category,
              .mask = d->mask,
              .own_friction = d->friction,
              .own_restitution = d->restitution,
              .own_contact_material = d->friction || d->restitution ? (int)w->contact_material.count : -1,
              .key = (int)w->key.count,
              .nkey = d->key_count};
  if (d->kind == TB_BODY_DYNAMIC) TB_TRY(weigh(ctx, w, d, name, &b));
  tbVec3 arm = tb_quat_rotate(q, b.centre);
  b.x = tb_add3(d->position, arm);
  b.radius = reach(d, b.centre);
  if (d->kind != TB_BODY_FIXED) {
    b.w = d->angular_velocity;
    b.v = tb_add3(d->velocity, tb_cross3(b.w, arm));
  }
  b.initial = tb_motion_start(w, tb_transform(b.q, b.x), b.v, b.w);
  b.name = tb_names_keep(ctx, &w->names, name);
  if (!b.name) return TB_ERROR_MEMORY;
  TB_TRY(append(ctx, w, d, &b));
  int index = (int)w->body.count - 1;
  tb_body_added(w);
  if (d->key_count > 0) {
    tbBody* added = &tb_bodies(w)[index];
    tbTransform T = tb_motion_at(w, added, w->time);
    added->x = T.x, added->q = T.q, added->v = added->w = tb_zero3();
  }
  if (out) *out = tb_world_body_at(w, index);
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
  return TB_OK;
}

tbStatus tb_body_apply(tbContext* ctx, tbWorld* w, tbBodyId id, tbVec3 force, tbVec3 torque)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  if (!finite3(force) || !finite3(torque)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a force must be finite");
  tbBody* b = &tb_bodies(w)[place];
  if (!b->kind->framed && tb_norm3(torque) > 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is deformable: no torque acts on it as a whole", b->name);
  if (b->motion == TB_BODY_FIXED || b->motion == TB_BODY_KINEMATIC)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s does not answer to forces", b->name);
  b->force = tb_add3(b->force, force);
  b->torque = tb_add3(b->torque, torque);
  return TB_OK;
}
