// SPDX-License-Identifier: Apache-2.0
// Adding deformable bodies. In the world's list they are bodies without shapes, whose
// place and velocity are those of their nodes together.
#include "kind/deformable.h"

#include "kind/reduced.h"

tbPinDef tb_default_pin_def(void) { return (tbPinDef){.body = {-1, 0}}; }

tbDeformableDef tb_default_deformable_def(void)
{
  return (tbDeformableDef){.soft = tb_soft_def(),
                           .cloth = tb_cloth_def(),
                           .orientation = tb_quat_identity(),
                           .self_contact = true,
                           .category = 1,
                           .mask = UINT32_MAX};
}

tbStatus tb_pin_check(tbContext* ctx, const tbWorld* w, const char* name, const tbPinDef* p)
{
  if (p->node_count < 0 || (p->node_count > 0 && !p->nodes))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s has no nodes", name);
  if (p->key_count < 0 || (p->key_count > 0 && !p->keys))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s has no motion keys", name);
  if (!tb_finite3(p->velocity) || !tb_finite3(p->angular_velocity))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the velocities of a pin of %s must be finite", name);
  bool moves = p->key_count > 0 || tb_maxabs3(p->velocity) > 0 || tb_maxabs3(p->angular_velocity) > 0;
  if (p->body.index == -1) return tb_keys_check(ctx, name, p->keys, p->key_count);
  int place = tb_body_place(w, p->body);
  if (place < 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is attached to body %d, which does not exist", name,
                   p->body.index);
  const char* holder = tb_bodies(w)[place].name;
  if (!tb_bodies(w)[place].kind->framed)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is attached to %s, which is deformable; it must be rigid",
                   name, holder);
  if (moves)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "a pin of %s is attached to %s and cannot have a motion of its own", name, holder);
  return TB_OK;
}

static tbStatus check(tbContext* ctx, const tbWorld* w, const char* name, const tbDeformableDef* d, tbQuat* q)
{
  if (!d->solid == !d->sheet)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s must be either a solid or a sheet", name);
  TB_TRY(tb_state_check(ctx, name, d->position, q, d->velocity, d->angular_velocity));
  if (d->pin_count < 0 || (d->pin_count > 0 && !d->pins))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no pins", name);
  for (int i = 0; i < d->pin_count; i++) TB_TRY(tb_pin_check(ctx, w, name, &d->pins[i]));
  if (d->spring_count < 0 || (d->spring_count > 0 && !d->springs))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no springs", name);
  if (d->spring_count > 0 && d->modes > 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "%s is a reduced body: it cannot have springs, which its modes do not include", name);
  return TB_OK;
}

// The mesh where the pose puts it.
static tbStatus make(tbContext* ctx, const tbDeformableDef* d, tbTransform pose, const char* name,
                     tbDeformable** out)
{
  const tbVec3* node = d->solid ? d->solid->node : d->sheet->vertex;
  tbMatter m = {.nnode = d->solid ? d->solid->nnode : d->sheet->nvertex,
                .corner = d->solid ? d->solid->tet[0] : d->sheet->triangle[0],
                .nelement = d->solid ? d->solid->ntet : d->sheet->ntriangle,
                .cloth = d->sheet,
                .soft = d->soft,
                .sheet = d->cloth,
                .springs = {d->springs, d->spring_count}};
  m.sheet.warp = tb_quat_rotate(pose.q, d->cloth.warp);
  tbVec3* rest = TB_NEW(ctx, tbVec3, (size_t)m.nnode);
  if (!rest) return TB_ERROR_MEMORY;
  for (int i = 0; i < m.nnode; i++) rest[i] = tb_transform_point(pose, node[i]);
  m.rest = rest;
  tbStatus status = tb_deformable_make(ctx, &m, d->pin_count, out);
  tb_free(ctx, rest);
  if (status == TB_OK || status == TB_ERROR_MEMORY) return status;
  tbError said = ctx->error;
  return tb_fail(ctx, status, "%s: %s", name, said.message);
}

// Where held nodes are in what holds them.
static tbStatus hold(tbContext* ctx, const tbWorld* w, const tbDeformableDef* d, tbTransform pose,
                     const char* name, tbDeformable* f)
{
  const tbVec3* node = d->solid ? d->solid->node : d->sheet->vertex;
  int key = (int)w->key.count;
  for (int k = 0; k < d->pin_count; k++) {
    const tbPinDef* p = &d->pins[k];
    tbHold* h = &f->hold[k];
    h->body = tb_body_place(w, p->body);
    h->motion = (tbMotion){.key = key, .nkey = p->key_count, .initial = tb_transform_identity()};
    if (p->key_count == 0) {
      h->motion.v = p->velocity, h->motion.w = p->angular_velocity;
      h->motion.initial = tb_motion_start(w, pose, p->velocity, p->angular_velocity);
    }
    key += p->key_count;
    const tbBody* holder = h->body < 0 ? NULL : &tb_bodies(w)[h->body];
    for (int n = 0; n < p->node_count; n++) {
      int i = p->nodes[n];
      if (i < 0 || i >= f->fem->nnode)
        return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s holds node %d; it has %d nodes", name, i,
                       f->fem->nnode);
      if (f->holder[i] >= 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "node %d of %s is held twice", i, name);
      f->holder[i] = k;
      f->local[i] = holder ? tb_transform_unpoint(tb_transform(holder->q, holder->x), f->x[i]) : node[i];
      f->fem->pinned[i] = !holder || holder->motion != TB_BODY_DYNAMIC;
    }
  }
  return TB_OK;
}

// Velocities at the start, and held nodes where, and as fast as, what holds them is.
static void start(const tbWorld* w, const tbDeformableDef* d, tbDeformable* f)
{
  for (int i = 0; i < f->fem->nnode; i++) {
    tbVec3 v = d->velocity, spin = d->angular_velocity, from = d->position;
    if (f->holder[i] >= 0) {
      const tbHold* h = &f->hold[f->holder[i]];
      tbBodyState s = tb_hold_state(w, h);
      v = s.velocity, spin = s.angular_velocity, from = s.position;
      if (h->body < 0) f->x[i] = tb_transform_point(tb_transform(s.orientation, s.position), f->local[i]);
    }
    f->v[i] = tb_add3(v, tb_cross3(spin, tb_sub3(f->x[i], from)));
  }
}

// Total mass, and the inertia about the centre of mass at rest.
static void weigh(const tbFemBody* fem, tbBody* b)
{
  tbVec3 centre = tb_zero3();
  for (int i = 0; i < fem->nnode; i++) b->mass += fem->mass[i];
  for (int i = 0; i < fem->nnode; i++) centre = tb_madd3(centre, fem->mass[i] / b->mass, fem->rest[i]);
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 r = tb_sub3(fem->rest[i], centre);
    tbMat3 point = tb_mat3_sub(tb_mat3_scale(tb_dot3(r, r), tb_mat3_identity()), tb_mat3_outer(r, r));
    b->inertia = tb_mat3_add(b->inertia, tb_mat3_scale(fem->mass[i], point));
  }
}

static tbStatus add(tbContext* ctx, tbWorld* w, const tbDeformableDef* d, tbTransform pose, const char* name,
                    int material, tbDeformable* f)
{
  tbBody b = {.kind = d->sheet ? &tb_kind_cloth : &tb_kind_soft,
              .own = f,
              .motion = TB_BODY_DYNAMIC,
              .q = tb_quat_identity(),
              .initial = pose, // from the frame its mesh was given in to its rest
              .shape = (int)w->shape.count,
              .material = material,
              .category = d->category,
              .mask = d->mask,
              .own_friction = d->friction,
              .own_contact_material = d->friction ? (int)w->contact_material.count : -1,
              .key = (int)w->key.count};
  f->body = (int)w->body.count;
  f->self_contact = d->self_contact;
  weigh(f->fem, &b);
  TB_TRY(hold(ctx, w, d, pose, name, f));
  b.name = tb_names_keep(ctx, &w->names, name);
  if (!b.name) return TB_ERROR_MEMORY;
  tbBodyParts parts = {.friction = d->friction, .pins = d->pins, .pin_count = d->pin_count};
  TB_TRY(tb_body_append(ctx, w, &parts, &b));
  start(w, d, f);
  tb_deformable_follow(&tb_bodies(w)[f->body]);
  return TB_OK;
}

tbStatus tb_world_add_deformable(tbContext* ctx, tbWorld* w, const tbDeformableDef* d, tbBodyId* out)
{
  char made[32];
  const char* name;
  int material;
  tbTransform pose = {d->orientation, d->position};
  TB_TRY(tb_body_check(ctx, w, d->name, d->material, d->friction, made, &name, &material));
  TB_TRY(check(ctx, w, name, d, &pose.q));
  if (d->modes > 0) return tb_reduced_add(ctx, w, d, name, material, pose, out);
  tbDeformable* f;
  TB_TRY(make(ctx, d, pose, name, &f));
  tbStatus status = add(ctx, w, d, pose, name, material, f);
  if (status != TB_OK) tb_deformable_free(ctx, f);
  else if (out) *out = tb_world_body_at(w, f->body);
  return status;
}
