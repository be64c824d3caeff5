// SPDX-License-Identifier: Apache-2.0
// Bodies of scene files: one, or a grid of copies.
#include "io/scene/build.h"

#include <string.h>

static tbStatus check_motion(tbSceneBuild* b, const tbSceneBody* s)
{
  static const char* const velocities[] = {"velocity", "angular_velocity"};
  tbContext* ctx = b->ctx;
  if (s->fixed && s->kinematic)
    return tb_json_fail(ctx, tb_scene_place(s->node, "kinematic"), "a body is either fixed or kinematic");
  for (int i = 0; i < 2 && (s->fixed || s->kinematic); i++) {
    double zero[3] = {0}, *v = (double*)(i ? s->angular_velocity : s->velocity);
    if (memcmp(v, zero, sizeof zero) == 0) continue;
    return tb_json_fail(
        ctx, tb_scene_place(s->node, velocities[i]),
        s->fixed ? "a fixed body has no \"%s\"" : "the \"%s\" of a kinematic body belongs in \"kinematic\"",
        velocities[i]);
  }
  return TB_OK;
}

static tbStatus check_mass(tbSceneBuild* b, const tbSceneBody* s)
{
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "mass", "density"));
  const tbJson* inertia = tb_json_find(s->node, "inertia");
  if (!inertia) return TB_OK;
  if (s->inertia_count != 3 && s->inertia_count != 6)
    return tb_json_fail(b->ctx, inertia, "expected 3 or 6 numbers for \"inertia\", found %d",
                        s->inertia_count);
  for (int i = 0; i < 3; i++)
    if (!(s->inertia[i] > 0))
      return tb_json_fail(b->ctx, &inertia->items[i], "a moment of inertia must be positive");
  return TB_OK;
}

static tbStatus read_body(tbSceneBuild* b, const tbSceneBody* s, tbBodyDef* d, tbFriction* friction)
{
  tbShape* shapes;
  tbMotionKey* keys = NULL;
  tbTransform pose = tb_transform_identity();
  *d = tb_default_body_def();
  size_t noted = tb_scene_noted(b);
  TB_TRY(tb_scene_note(b, tb_scene_check_name(b, s->node, s->name)));
  TB_TRY(tb_scene_note(b, check_motion(b, s)));
  TB_TRY(tb_scene_note(b, check_mass(b, s)));
  d->kind = s->fixed ? TB_BODY_FIXED : s->kinematic ? TB_BODY_KINEMATIC : TB_BODY_DYNAMIC;
  TB_TRY(tb_scene_note(b, tb_scene_shapes(b, s, d->kind == TB_BODY_DYNAMIC, &shapes, &d->shape_count)));
  TB_TRY(tb_scene_note(b, tb_scene_pose(b->ctx, s->node, &s->pose, &pose)));
  if (s->material)
    TB_TRY(tb_scene_note(b, tb_scene_material(b, s->node, "material", s->material, &d->material)));
  if (s->friction) TB_TRY(tb_scene_note(b, tb_scene_friction(b, s->friction, friction)));
  if (s->kinematic) TB_TRY(tb_scene_note(b, tb_scene_motion(b, s->kinematic, pose, &keys, &d->key_count)));
  if (tb_scene_noted(b) > noted) return TB_OK;
  d->shapes = shapes;
  d->mass = s->mass, d->density = s->density;
  memcpy(d->inertia, s->inertia, sizeof d->inertia);
  d->position = pose.x, d->orientation = pose.q;
  d->velocity = tb_load3(s->kinematic ? s->kinematic->velocity : s->velocity);
  d->angular_velocity = tb_load3(s->kinematic ? s->kinematic->angular_velocity : s->angular_velocity);
  d->friction = s->friction ? friction : NULL;
  d->restitution = tb_scene_given(s->node, "restitution") ? &s->restitution : NULL;
  d->keys = keys;
  d->bullet = s->bullet;
  d->category = (uint32_t)s->category, d->mask = (uint32_t)s->mask;
  if (tb_scene_given(s->node, "centre_of_mass")) {
    tbVec3* centre = TB_TAKE(b->arena, tbVec3, 1);
    if (!centre) return TB_ERROR_MEMORY;
    *centre = tb_load3(s->centre);
    d->centre = centre;
  }
  return TB_OK;
}

static tbStatus add(tbSceneBuild* b, const tbSceneBody* s, const tbBodyDef* d)
{
  TB_TRY(tb_scene_check_taken(b, s->node, d->name));
  tbBodyId id;
  TB_TRY(tb_scene_placed(b->ctx, s->node, tb_world_add_body(b->ctx, b->world, d, &id)));
  TB_TRY(tb_scene_take_load(b, s->load, id));
  return tb_array_push(b->ctx, &b->origin, &s->node, 1);
}

// Each copy's prescribed motion is as far from the first one's as the copy itself.
static tbStatus add_copies(tbSceneBuild* b, const tbSceneBody* s, const tbBodyDef* first, int count,
                           int ordinal)
{
  tbBodyDef d = *first;
  tbSceneCopies copies;
  tbMotionKey* keys = TB_TAKE(b->arena, tbMotionKey, (size_t)d.key_count);
  if (!keys) return TB_ERROR_MEMORY;
  TB_TRY(tb_scene_copies_begin(b, s->repeat, s->name, ordinal, &copies));
  d.keys = keys;
  for (int i = 0; i < count; i++) {
    tbVec3 offset = tb_scene_copy(&copies, i);
    d.name = copies.name;
    d.position = tb_add3(first->position, offset);
    for (int k = 0; k < d.key_count; k++) {
      keys[k] = first->keys[k];
      keys[k].position = tb_add3(keys[k].position, offset);
    }
    TB_TRY(add(b, s, &d));
  }
  return TB_OK;
}

tbStatus tb_scene_bodies(tbSceneBuild* b)
{
  const tbSceneBody* bodies = b->file->bodies.items;
  for (int i = 0; i < b->file->bodies.count; i++) {
    tbBodyDef d;
    tbFriction friction;
    int copies = 1;
    if (tb_scene_errors_bad(b->errors, bodies[i].node)) continue;
    size_t noted = tb_scene_noted(b);
    TB_TRY(tb_scene_note(b, tb_scene_count_copies(b, bodies[i].node, bodies[i].repeat, &copies)));
    TB_TRY(tb_scene_note(b, read_body(b, &bodies[i], &d, &friction)));
    if (tb_scene_noted(b) == noted) TB_TRY(tb_scene_note(b, add_copies(b, &bodies[i], &d, copies, i)));
    TB_TRY(tb_scene_close(b, bodies[i].node, noted));
  }
  return TB_OK;
}
