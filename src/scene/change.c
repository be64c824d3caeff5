// SPDX-License-Identifier: Apache-2.0
// Other numbers for what is there: gravity, materials, bodies. Everything is checked, and memory for it
// taken, before anything changes.
#include "scene/kind.h"

#include "tribo/change.h"

void tb_world_changed(tbWorld* w, int body)
{
  if (w->state && w->state_kind->change) w->state_kind->change(w->state, body);
}

void tb_joint_changed(tbWorld* w, const tbJoint* joint)
{
  if (joint->a >= 0) tb_world_changed(w, joint->a);
  if (joint->b >= 0) tb_world_changed(w, joint->b);
}

tbVec3 tb_world_gravity(const tbWorld* w) { return w->gravity; }

tbStatus tb_world_set_gravity(tbContext* ctx, tbWorld* w, tbVec3 gravity)
{
  if (!tb_finite3(gravity)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "gravity must be finite");
  w->gravity = gravity;
  tb_world_changed(w, -1);
  return TB_OK;
}

tbStatus tb_material_set_friction(tbContext* ctx, tbWorld* w, tbMaterialId id, tbFriction friction)
{
  int place;
  TB_TRY(tb_material_find(ctx, w, id, &place));
  TB_TRY(tb_friction_check(ctx, &friction));
  tb_materials(w)[place].contact_material.friction = friction;
  tb_world_changed(w, -1);
  return TB_OK;
}

tbStatus tb_material_set_restitution(tbContext* ctx, tbWorld* w, tbMaterialId id, double restitution)
{
  int place;
  TB_TRY(tb_material_find(ctx, w, id, &place));
  TB_TRY(tb_restitution_check(ctx, restitution));
  tb_materials(w)[place].contact_material.restitution = restitution;
  tb_world_changed(w, -1);
  return TB_OK;
}

tbStatus tb_material_set_spring(tbContext* ctx, tbWorld* w, tbMaterialId id, tbContactSpring spring)
{
  int place;
  TB_TRY(tb_material_find(ctx, w, id, &place));
  TB_TRY(tb_contact_spring_check(ctx, &spring));
  tb_materials(w)[place].contact_material.spring = spring;
  tb_world_changed(w, -1);
  return TB_OK;
}

tbStatus tb_body_set_material(tbContext* ctx, tbWorld* w, tbBodyId id, tbMaterialId material)
{
  int place, of;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  TB_TRY(tb_material_find(ctx, w, material, &of));
  tb_bodies(w)[place].material = of;
  tb_world_changed(w, place);
  return TB_OK;
}

// An entry of its own for a body's friction and restitution, or none where both are the material's.
static tbStatus own(tbContext* ctx, tbWorld* w, int place, bool friction, bool restitution,
                    tbContactMaterial** out)
{
  tbBody* b = &tb_bodies(w)[place];
  *out = NULL;
  tb_world_changed(w, place);
  if (!friction && !restitution) tb_own_contact_material_remove(w, place);
  else if (b->own_contact_material < 0) {
    tbContactMaterial start = {.friction = tb_friction(0)};
    TB_TRY(tb_array_push(ctx, &w->contact_material, &start, 1));
    b->own_contact_material = (int)w->contact_material.count - 1;
  }
  b->own_friction = friction, b->own_restitution = restitution;
  if (friction || restitution) *out = (tbContactMaterial*)w->contact_material.data + b->own_contact_material;
  return TB_OK;
}

tbStatus tb_body_set_friction(tbContext* ctx, tbWorld* w, tbBodyId id, const tbFriction* friction)
{
  int place;
  tbContactMaterial* its;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  if (friction) TB_TRY(tb_friction_check(ctx, friction));
  TB_TRY(own(ctx, w, place, friction != NULL, tb_bodies(w)[place].own_restitution, &its));
  if (friction) its->friction = *friction;
  return TB_OK;
}

tbStatus tb_body_set_restitution(tbContext* ctx, tbWorld* w, tbBodyId id, const double* restitution)
{
  int place;
  tbContactMaterial* its;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  if (restitution) TB_TRY(tb_restitution_check(ctx, *restitution));
  TB_TRY(own(ctx, w, place, tb_bodies(w)[place].own_friction, restitution != NULL, &its));
  if (restitution) its->restitution = *restitution;
  return TB_OK;
}

static tbStatus find_dynamic(tbContext* ctx, const tbWorld* w, tbBodyId id, int* place)
{
  TB_TRY(tb_body_find(ctx, w, id, place));
  const tbBody* b = &tb_bodies(w)[*place];
  if (b->kind->framed && b->motion == TB_BODY_DYNAMIC) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is not a rigid body that moves freely", b->name);
}

tbStatus tb_body_set_mass(tbContext* ctx, tbWorld* w, tbBodyId id, double mass, const double inertia[6])
{
  int place;
  TB_TRY(find_dynamic(ctx, w, id, &place));
  tbBody* b = &tb_bodies(w)[place];
  if (!(mass > 0) || !isfinite(mass))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the mass of %s must be positive", b->name);
  tbMat3 I = inertia ? tb_inertia_from(inertia) : tb_mat3_scale(mass / b->mass, b->inertia);
  TB_TRY(tb_inertia_check(ctx, b->name, I));
  b->mass = mass, b->inertia = I, b->inertia_inv = tb_mat3_inverse(I);
  tb_world_changed(w, place);
  return TB_OK;
}

tbStatus tb_body_set_motion(tbContext* ctx, tbWorld* w, tbBodyId id, const tbMotionKey* keys, int key_count)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  tbBody* b = &tb_bodies(w)[place];
  if (b->motion != TB_BODY_KINEMATIC || key_count < 0 || (key_count > 0 && !keys))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a kinematic body (not %s) has motion keys", b->name);
  TB_TRY(tb_keys_check(ctx, b->name, keys, key_count));
  TB_TRY(tb_keys_replace(ctx, w, place, -1, keys, key_count));
  b->initial = tb_motion_start(w, tb_transform(b->q, b->x), b->v, b->w);
  tb_world_changed(w, place);
  return TB_OK;
}

tbStatus tb_body_move_to(tbContext* ctx, tbWorld* w, tbBodyId id, tbVec3 position, tbQuat orientation,
                         double seconds)
{
  tbBodyState now = tb_body_state(w, id);
  if (!(seconds > 0) || !isfinite(seconds))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the time of a motion must be positive");
  tbMotionKey keys[2] = {{w->time, now.position, now.orientation},
                         {w->time + seconds, position, orientation}};
  return tb_body_set_motion(ctx, w, id, keys, 2);
}

tbStatus tb_body_apply_at(tbContext* ctx, tbWorld* w, tbBodyId id, tbVec3 force, tbVec3 point)
{
  int place;
  TB_TRY(find_dynamic(ctx, w, id, &place));
  if (!tb_finite3(point)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the point of a force must be finite");
  return tb_body_apply(ctx, w, id, force, tb_cross3(tb_sub3(point, tb_bodies(w)[place].x), force));
}
