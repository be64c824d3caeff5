// SPDX-License-Identifier: Apache-2.0
// Removing bodies, joints and materials. Things stand in their arrays without holes: what is behind moves up,
// and every place that names it follows.
#include "scene/kind.h"

#include "tribo/change.h"

#include <string.h>

static void erase(tbArray* array, int first, int count)
{
  size_t behind = array->count - (size_t)(first + count);
  char* at = (char*)array->data + (size_t)first * array->item;
  if (count > 0 && behind > 0) memmove(at, at + (size_t)count * array->item, behind * array->item);
  array->count -= (size_t)count;
}

static void follow(int* place, int removed) // of something else than what is removed
{
  if (*place > removed) --*place;
}

static void remove_joint(tbContext* ctx, tbWorld* w, int place)
{
  const char* name = tb_joints(w)[place].def.name;
  tb_joint_changed(w, &tb_joints(w)[place]);
  for (int of = 0; of < TB_KEYS_COUNT; of++)
    tb_joint_keys_replace(ctx, w, place, of, NULL, 0); // needs no memory
  if (name) {
    tb_names_remove(&w->names, TB_NAME_JOINT, name);
    tb_names_drop(ctx, &w->names, name);
  } else tb_names_move_up(&w->names, TB_NAME_JOINT, place);
  tb_ids_remove(&w->joint_ids, tb_joints(w)[place].id);
  erase(&w->joint, place, 1);
}

static void remove_joints(tbContext* ctx, tbWorld* w, int body)
{
  for (int i = (int)w->joint.count - 1; i >= 0; i--) {
    tbJoint* j = &tb_joints(w)[i];
    if (j->a == body || j->b == body) remove_joint(ctx, w, i);
    else follow(&j->a, body), follow(&j->b, body);
  }
}

// What it held is free from now on.
static void remove_holds(tbContext* ctx, tbWorld* w, int body)
{
  for (int i = 0; i < (int)w->body.count; i++) {
    const tbKind* kind = tb_bodies(w)[i].kind;
    if (i != body && kind->lose) kind->lose(ctx, w, i, body);
  }
}

static void remove_contacts(tbWorld* w, int body)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbContactRecord* record = w->contact.data;
  size_t kept = 0;
  if (w->state && w->state_kind->remove) w->state_kind->remove(w->state, w, body);
  for (size_t i = 0; i < w->contact.count; i++) {
    tbContactRecord r = record[i];
    if (r.body_a == body || r.body_b == body) continue;
    follow(&r.body_a, body), follow(&r.body_b, body);
    if (r.shape_a >= b->shape) r.shape_a -= b->nshape;
    if (r.shape_b >= b->shape) r.shape_b -= b->nshape;
    record[kept++] = r;
  }
  w->contact.count = kept;
}

static void remove_pairs(tbWorld* w, int body)
{
  tbBodyPair* pair = w->ignored.data;
  size_t kept = 0;
  for (size_t i = 0; i < w->ignored.count; i++) {
    if (pair[i].a == body || pair[i].b == body) continue;
    follow(&pair[i].a, body), follow(&pair[i].b, body);
    pair[kept++] = pair[i];
  }
  w->ignored.count = kept;
}

static void remove_shapes(tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  for (size_t i = (size_t)body + 1; i < w->body.count; i++) tb_bodies(w)[i].shape -= b->nshape;
  erase(&w->shape, b->shape, b->nshape);
  erase(&w->owner, b->shape, b->nshape);
  for (size_t i = 0; i < w->owner.count; i++) follow((int*)w->owner.data + i, body);
}

// Fewer keys need no memory.
static void remove_keys(tbContext* ctx, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  int motions = 0;
  while (b->kind->motion_of && b->kind->motion_of(b, motions)) motions++;
  for (int k = motions - 1; k >= -1; k--) tb_keys_replace(ctx, w, body, k, NULL, 0);
}

void tb_own_contact_material_remove(tbWorld* w, int body)
{
  int own = tb_bodies(w)[body].own_contact_material;
  if (own < 0) return;
  tb_bodies(w)[body].own_contact_material = -1;
  erase(&w->contact_material, own, 1);
  for (size_t i = 0; i < w->body.count; i++) follow(&tb_bodies(w)[i].own_contact_material, own);
}

tbStatus tb_world_remove_body(tbContext* ctx, tbWorld* w, tbBodyId id)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  remove_joints(ctx, w, place);
  remove_holds(ctx, w, place);
  remove_contacts(w, place);
  remove_pairs(w, place);
  remove_shapes(w, place);
  remove_keys(ctx, w, place);
  tb_loads_remove(w, place);
  tb_own_contact_material_remove(w, place);
  tb_cache_clear(ctx, w->cache);

  tbBody* b = &tb_bodies(w)[place];
  if (b->kind->release) b->kind->release(ctx, b);
  const char* name = b->name;
  tb_log(ctx, TB_LOG_DEBUG, "body %s is removed", name);
  tb_names_remove(&w->names, TB_NAME_BODY, name);
  tb_names_drop(ctx, &w->names, name);
  tb_ids_remove(&w->body_ids, id.index);
  erase(&w->body, place, 1);
  w->layout++;
  return TB_OK;
}

tbStatus tb_world_remove_joint(tbContext* ctx, tbWorld* w, tbJointId id)
{
  int place;
  TB_TRY(tb_joint_find(ctx, w, id, &place));
  remove_joint(ctx, w, place);
  return TB_OK;
}

tbStatus tb_world_remove_material(tbContext* ctx, tbWorld* w, tbMaterialId id)
{
  int place;
  TB_TRY(tb_material_find(ctx, w, id, &place));
  if (place == 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "the default material cannot be removed");
  const char* name = tb_materials(w)[place].name;
  for (size_t i = 0; i < w->body.count; i++)
    if (tb_bodies(w)[i].material == place)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s cannot be removed: %s is made of it", name,
                     tb_bodies(w)[i].name);
  for (size_t i = 0; i < w->body.count; i++) follow(&tb_bodies(w)[i].material, place);
  for (int i = (int)w->pair.count - 1; i >= 0; i--) {
    tbPairRule* rule = (tbPairRule*)w->pair.data + i;
    if (rule->a == place || rule->b == place) erase(&w->pair, i, 1);
    else follow(&rule->a, place), follow(&rule->b, place);
  }
  tb_names_remove(&w->names, TB_NAME_MATERIAL, name);
  tb_names_drop(ctx, &w->names, name);
  tb_ids_remove(&w->material_ids, id.index);
  erase(&w->material, place, 1);
  return TB_OK;
}
