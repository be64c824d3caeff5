// SPDX-License-Identifier: Apache-2.0
// Adding rigid bodies: shapes, and masses from them or as given.
#include "kind/rigid.h"

tbBodyDef tb_default_body_def(void)
{
  return (tbBodyDef){
      .kind = TB_BODY_DYNAMIC, .orientation = tb_quat_identity(), .category = 1, .mask = UINT32_MAX};
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
  if (d->centre) total.centre = *d->centre;
  if (!isfinite(total.centre.x + total.centre.y + total.centre.z))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the centre of mass of %s is not finite", name);

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
  tbBodyParts parts = {d->shapes, d->shape_count, d->friction, d->restitution,
                       d->keys,   d->key_count,   NULL,        0};
  TB_TRY(tb_body_append(ctx, w, &parts, &b));
  int index = (int)w->body.count - 1;
  if (d->key_count > 0) {
    tbBody* added = &tb_bodies(w)[index];
    tbTransform T = tb_motion_at(w, added, w->time);
    added->x = T.x, added->q = T.q, added->v = added->w = tb_zero3();
  }
  if (out) *out = tb_world_body_at(w, index);
  return TB_OK;
}
