// Bodies of scene files: one, or a grid of copies.
#include "base/random.h"
#include "io/scene_build.h"

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
  if (!s->kinematic) return TB_OK;
  TB_TRY(tb_scene_exclude(ctx, s->kinematic->node, "keys", "velocity"));
  TB_TRY(tb_scene_exclude(ctx, s->kinematic->node, "keys", "angular_velocity"));
  if (tb_scene_given(s->kinematic->node, "keys") && s->kinematic->keys.count == 0)
    return tb_json_fail(ctx, tb_scene_place(s->kinematic->node, "keys"), "\"keys\" must not be empty");
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

static tbStatus check_name(tbSceneBuild* b, const tbSceneBody* s)
{
  const tbJson* place = tb_scene_place(s->node, "name");
  if (s->name && !s->name[0]) return tb_json_fail(b->ctx, place, "a name must not be empty");
  if (s->name && strcmp(s->name, "world") == 0)
    return tb_json_fail(b->ctx, place, "\"world\" stands for the world in joints; no body is called so");
  return TB_OK;
}

static tbStatus count_copies(tbSceneBuild* b, const tbSceneBody* s, int* copies)
{
  int have = tb_world_body_count(b->world);
  double wanted = 1;
  for (int i = 0; s->repeat && i < 3; i++) wanted *= s->repeat->count[i];
  if (have + wanted > TB_SCENE_MAX_BODIES)
    return tb_json_fail(b->ctx, s->repeat ? tb_scene_place(s->repeat->node, "count") : s->node,
                        "%.0f bodies; a scene has at most %d", have + wanted, TB_SCENE_MAX_BODIES);
  *copies = (int)wanted;
  return TB_OK;
}

// A key without a position or an orientation keeps the one before.
static tbStatus read_keys(tbSceneBuild* b, const tbSceneBody* s, tbTransform pose, tbMotionKey** out)
{
  const tbSceneMotionKey* key = s->kinematic->keys.items;
  int count = s->kinematic->keys.count;
  *out = TB_TAKE(b->arena, tbMotionKey, (size_t)count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    TB_TRY(tb_scene_pose(b->ctx, key[i].node, &key[i].pose, &pose));
    if (i > 0 && !(key[i].t > key[i - 1].t))
      return tb_json_fail(b->ctx, tb_scene_place(key[i].node, "t"), "the times of keys must increase");
    (*out)[i] = (tbMotionKey){key[i].t, pose.x, pose.q};
  }
  return TB_OK;
}

static tbStatus read_body(tbSceneBuild* b, const tbSceneBody* s, tbBodyDef* d, tbFriction* friction)
{
  tbShape* shapes;
  tbMotionKey* keys = NULL;
  tbTransform pose = tb_transform_identity();
  *d = tb_default_body_def();
  TB_TRY(check_name(b, s));
  TB_TRY(check_motion(b, s));
  TB_TRY(check_mass(b, s));
  d->kind = s->fixed ? TB_BODY_FIXED : s->kinematic ? TB_BODY_KINEMATIC : TB_BODY_DYNAMIC;
  TB_TRY(tb_scene_shapes(b, s, d->kind == TB_BODY_DYNAMIC, &shapes, &d->shape_count));
  TB_TRY(tb_scene_pose(b->ctx, s->node, &s->pose, &pose));
  if (s->material) TB_TRY(tb_scene_material(b, s->node, "material", s->material, &d->material));
  if (s->friction) TB_TRY(tb_scene_friction(b->ctx, s->friction, friction));
  if (s->kinematic) TB_TRY(read_keys(b, s, pose, &keys));
  d->shapes = shapes;
  d->mass = s->mass, d->density = s->density;
  memcpy(d->inertia, s->inertia, sizeof d->inertia);
  d->position = pose.x, d->orientation = pose.q;
  d->velocity = tb_load3(s->kinematic ? s->kinematic->velocity : s->velocity);
  d->angular_velocity = tb_load3(s->kinematic ? s->kinematic->angular_velocity : s->angular_velocity);
  d->friction = s->friction ? friction : NULL;
  d->restitution = tb_scene_given(s->node, "restitution") ? &s->restitution : NULL;
  d->keys = keys;
  d->key_count = s->kinematic ? s->kinematic->keys.count : 0;
  d->bullet = s->bullet;
  return TB_OK;
}

static tbStatus add(tbSceneBuild* b, const tbSceneBody* s, const tbBodyDef* d)
{
  int taken = d->name ? tb_world_find_body(b->world, d->name).index : -1;
  if (taken >= 0)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "name"),
                        "there is a body \"%.60s\" already, on line %u", d->name,
                        ((const tbJson**)b->origin.data)[taken]->line);
  TB_TRY(tb_scene_placed(b->ctx, s->node, tb_world_add_body(b->ctx, b->world, d, NULL)));
  return tb_array_push(b->ctx, &b->origin, &s->node, 1);
}

// Where copy number `copy` stands from the first, x fastest.
static tbVec3 offset_of(const tbSceneRepeat* r, int copy, uint64_t* random)
{
  int nx = r->count[0], ny = r->count[1];
  double at[3] = {copy % nx, copy / nx % ny, copy / nx / ny};
  for (int i = 0; i < 3; i++) {
    at[i] *= r->spacing[i];
    if (r->jitter > 0) at[i] += tb_random_uniform(random, -r->jitter, r->jitter);
  }
  return tb_load3(at);
}

static tbStatus add_copies(tbSceneBuild* b, const tbSceneBody* s, tbBodyDef d, int copies, uint64_t random)
{
  size_t size = s->name ? strlen(s->name) + 16 : 0;
  char* name = TB_TAKE(b->arena, char, size);
  tbMotionKey* keys = TB_TAKE(b->arena, tbMotionKey, (size_t)d.key_count);
  if (!name || !keys) return TB_ERROR_MEMORY;
  tbBodyDef first = d;
  for (int i = 0; i < copies; i++) {
    tbVec3 offset = offset_of(s->repeat, i, &random);
    if (s->name) snprintf(name, size, "%s/%d", s->name, i), d.name = name;
    d.position = tb_add3(first.position, offset);
    for (int k = 0; k < d.key_count; k++) {
      keys[k] = first.keys[k];
      keys[k].position = tb_add3(keys[k].position, offset);
    }
    d.keys = keys;
    TB_TRY(add(b, s, &d));
  }
  return TB_OK;
}

tbStatus tb_scene_bodies(tbSceneBuild* b)
{
  const tbSceneBody* bodies = b->file->bodies.items;
  for (int i = 0; i < b->file->bodies.count; i++) {
    const tbSceneBody* s = &bodies[i];
    tbBodyDef d;
    tbFriction friction;
    int copies = 1;
    TB_TRY(count_copies(b, s, &copies));
    TB_TRY(read_body(b, s, &d, &friction));
    d.name = s->name;
    if (!s->repeat) {
      TB_TRY(add(b, s, &d));
      continue;
    }
    uint64_t random = (uint64_t)b->file->seed; // a stream of its own for every body of the file
    random = tb_random_bits(&random) + (uint64_t)i;
    TB_TRY(add_copies(b, s, d, copies, random));
  }
  return TB_OK;
}
