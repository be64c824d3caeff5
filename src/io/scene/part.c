// SPDX-License-Identifier: Apache-2.0
// What several parts of a scene share: places, paths, poses, motions, friction, materials and bodies by name.
#include "io/scene/build.h"
#include "io/scene/normal_map.h"
#include "scene/world.h"

#include <string.h>

enum { OFFERED = 10000 }; // names looked at for the nearest one

tbStatus tb_scene_placed(tbContext* ctx, const tbJson* node, tbStatus status)
{
  if (status == TB_OK || status == TB_ERROR_MEMORY) return status;
  tbError below = ctx->error;
  return tb_json_fail_at(ctx, node->file, node->line, node->column, below.source_file, below.source_line,
                         "%s", below.message);
}

tbStatus tb_scene_close(tbSceneBuild* b, const tbJson* record, size_t noted_before)
{
  return tb_scene_noted(b) > noted_before ? tb_scene_errors_mark(b->ctx, b->errors, record) : TB_OK;
}

// The name of the record itself, or of one of its copies: name/0, name/1, …
static bool is_called(const char* record, const char* name)
{
  size_t length = record ? strlen(record) : 0;
  return length > 0 && strncmp(record, name, length) == 0 && (name[length] == 0 || name[length] == '/');
}

bool tb_scene_lost_body(const tbSceneBuild* b, const char* name)
{
  const tbSceneBody* body = b->file->bodies.items;
  const tbSceneDeformable *soft = b->file->soft.items, *cloth = b->file->cloth.items,
                          *reduced = b->file->reduced.items;
  if (!name || !tb_scene_noted(b)) return false;
  for (int i = 0; i < b->file->bodies.count; i++)
    if (is_called(body[i].name, name) && tb_scene_errors_bad(b->errors, body[i].node)) return true;
  for (int i = 0; i < b->file->soft.count; i++)
    if (is_called(soft[i].name, name) && tb_scene_errors_bad(b->errors, soft[i].node)) return true;
  for (int i = 0; i < b->file->cloth.count; i++)
    if (is_called(cloth[i].name, name) && tb_scene_errors_bad(b->errors, cloth[i].node)) return true;
  for (int i = 0; i < b->file->reduced.count; i++)
    if (is_called(reduced[i].name, name) && tb_scene_errors_bad(b->errors, reduced[i].node)) return true;
  const tbSceneAnimated* animated = b->file->animated.items;
  for (int i = 0; i < b->file->animated.count; i++)
    if (is_called(animated[i].name, name) && tb_scene_errors_bad(b->errors, animated[i].node)) return true;
  return false;
}

bool tb_scene_lost_material(const tbSceneBuild* b, const char* name)
{
  const tbSceneMaterial* m = b->file->materials.items;
  if (!name || !tb_scene_noted(b)) return false;
  for (int i = 0; i < b->file->materials.count; i++)
    if (strcmp(m[i].node->key->text, name) == 0 && tb_scene_errors_bad(b->errors, m[i].node)) return true;
  return false;
}

tbStatus tb_scene_exclude(tbContext* ctx, const tbJson* node, const char* key, const char* other)
{
  const tbJson *a = tb_json_find(node, key), *b = tb_json_find(node, other);
  if (!a || !b) return TB_OK;
  return tb_json_fail(ctx, a > b ? a : b, "\"%s\" and \"%s\" exclude each other", key, other);
}

// Cosine and sine of half an angle in degrees; exact at multiples of 90.
static void half_angle_deg(double deg, double* c, double* s)
{
  static const double root = 0.70710678118654752440;
  const double cosine[8] = {1, root, 0, -root, -1, -root, 0, root};
  double turns = fmod(deg, 720), eighths = turns / 90;
  if (eighths == floor(eighths)) {
    int i = ((int)eighths + 8) % 8;
    *c = cosine[i], *s = cosine[(i + 6) % 8];
    return;
  }
  tb_sin_cos(turns * (TB_PI / 360), s, c);
}

// Turned about the fixed axes x, then y, then z.
static tbQuat from_euler(const double angle[3], bool degrees)
{
  tbQuat q = tb_quat_identity();
  for (int axis = 0; axis < 3; axis++) {
    double c, s;
    if (degrees) half_angle_deg(angle[axis], &c, &s);
    else tb_sin_cos(0.5 * angle[axis], &s, &c);
    q = tb_quat_mul(tb_quat(c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0), q);
  }
  return tb_quat_normalize(q);
}

tbStatus tb_scene_pose(tbContext* ctx, const tbJson* node, const tbScenePose* pose, tbTransform* out)
{
  TB_TRY(tb_scene_exclude(ctx, node, "orientation", "orientation_euler"));
  TB_TRY(tb_scene_exclude(ctx, node, "orientation", "orientation_euler_deg"));
  TB_TRY(tb_scene_exclude(ctx, node, "orientation_euler", "orientation_euler_deg"));
  const double* q = pose->orientation;
  if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0)
    return tb_json_fail(ctx, tb_scene_place(node, "orientation"), "an orientation must not be zero");
  if (tb_scene_given(node, "position")) out->x = tb_load3(pose->position);
  if (tb_scene_given(node, "orientation")) out->q = tb_quat_normalize(tb_quat(q[0], q[1], q[2], q[3]));
  if (tb_scene_given(node, "orientation_euler")) out->q = from_euler(pose->euler, false);
  if (tb_scene_given(node, "orientation_euler_deg")) out->q = from_euler(pose->euler_deg, true);
  return TB_OK;
}

static tbStatus check_motion(tbSceneBuild* b, const tbSceneMotion* m)
{
  TB_TRY(tb_scene_exclude(b->ctx, m->node, "keys", "velocity"));
  TB_TRY(tb_scene_exclude(b->ctx, m->node, "keys", "angular_velocity"));
  if (tb_scene_given(m->node, "keys") && m->keys.count == 0)
    return tb_json_fail(b->ctx, tb_scene_place(m->node, "keys"), "\"keys\" must not be empty");
  return TB_OK;
}

tbStatus tb_scene_motion(tbSceneBuild* b, const tbSceneMotion* m, tbTransform pose, tbMotionKey** keys,
                         int* count)
{
  const tbSceneMotionKey* key = m->keys.items;
  TB_TRY(check_motion(b, m));
  *count = m->keys.count;
  *keys = TB_TAKE(b->arena, tbMotionKey, (size_t)*count);
  if (!*keys) return TB_ERROR_MEMORY;
  for (int i = 0; i < *count; i++) {
    TB_TRY(tb_scene_pose(b->ctx, key[i].node, &key[i].pose, &pose));
    if (i > 0 && !(key[i].t > key[i - 1].t))
      return tb_json_fail(b->ctx, tb_scene_place(key[i].node, "t"), "the times of keys must increase");
    (*keys)[i] = (tbMotionKey){key[i].t, pose.x, pose.q};
  }
  return TB_OK;
}

static tbStatus add_map(tbSceneBuild* b, const tbJson* node, const tbSceneMap* m, tbFriction* out)
{
  const tbJson* place = tb_scene_place(node, "coordinates");
  const char* path;
  out->scale = m->scale, out->mapping = (tbMapping)m->mapping;
  if (!m->coordinates) return TB_OK;
  double size = m->coordinates_scale;
  TB_TRY(tb_scene_exclude(b->ctx, node, "coordinates", "mapping"));
  TB_TRY(tb_scene_path(b, place, m->coordinates, &path));
  return tb_scene_placed(b->ctx, place,
                         tb_chart_load(b->ctx, path, tb_vec3(size, size, size), b->world, &out->chart));
}

static tbStatus add_texture(tbSceneBuild* b, const tbSceneFriction* f, tbFriction* out)
{
  const tbJson* place = tb_scene_place(f->node, "normal_map");
  const char* path;
  if (f->directions % 2 != 0)
    return tb_json_fail(b->ctx, tb_scene_place(f->node, "directions"),
                        "expected an even number of directions");
  out->directions = f->directions, out->patch = f->patch;
  TB_TRY(add_map(b, f->node, &f->map, out));
  TB_TRY(tb_scene_path(b, place, f->normal_map, &path));
  return tb_scene_placed(b->ctx, place, tb_normal_map_load(b->ctx, b->world, path, &out->texture));
}

// Directions by pixels. A texture's own map is where they lie, too.
static tbStatus add_image(tbSceneBuild* b, const tbSceneField* f, tbFriction* out)
{
  const tbJson* place = tb_scene_place(f->node, "image");
  const char* path;
  TB_TRY(tb_scene_exclude(b->ctx, f->node, "image", "points"));
  TB_TRY(tb_scene_exclude(b->ctx, f->node, "image", "directions"));
  if (out->kind != TB_FRICTION_TEXTURE) TB_TRY(add_map(b, f->node, &f->map, out));
  TB_TRY(tb_scene_path(b, place, f->image, &path));
  return tb_scene_placed(b->ctx, place, tb_direction_map_load(b->ctx, b->world, path, &out->direction_map));
}

static tbStatus add_field(tbSceneBuild* b, const tbSceneField* f, tbFriction* out)
{
  if (f->image) return add_image(b, f, out);
  if (f->points.count == 0)
    return tb_json_fail(b->ctx, f->node, "a field has \"points\" with \"directions\", or an \"image\"");
  if (f->points.count != f->directions.count)
    return tb_json_fail(b->ctx, tb_scene_place(f->node, "directions"), "%d points have %d directions",
                        f->points.count, f->directions.count);
  tbVec3* at = TB_TAKE(b->arena, tbVec3, 2 * (size_t)f->points.count);
  if (!at) return TB_ERROR_MEMORY;
  for (int i = 0; i < f->points.count; i++) {
    at[i] = tb_load3(f->points.xyz[i]);
    at[f->points.count + i] = tb_load3(f->directions.xyz[i]);
  }
  return tb_scene_placed(
      b->ctx, tb_scene_place(f->node, "directions"),
      tb_world_add_field(b->ctx, b->world, f->points.count, at, at + f->points.count, &out->field));
}

tbStatus tb_scene_friction(tbSceneBuild* b, const tbSceneFriction* f, tbFriction* out)
{
  tbContext* ctx = b->ctx;
  static const tbFrictionKind kind[] = {
      [TB_FRICTION_MODEL_COULOMB] = TB_FRICTION_ISOTROPIC,
      [TB_FRICTION_MODEL_ELLIPTIC] = TB_FRICTION_ELLIPTIC,
      [TB_FRICTION_MODEL_CONTENSOU] = TB_FRICTION_CONTENSOU,
      [TB_FRICTION_MODEL_MATCHSTICK] = TB_FRICTION_MATCHSTICK,
      [TB_FRICTION_MODEL_TENSOR] = TB_FRICTION_TENSOR,
      [TB_FRICTION_MODEL_TEXTURE] = TB_FRICTION_TEXTURE,
  };
  *out = tb_friction(f->mu);
  out->kind = kind[f->model];
  out->torsion = f->torsion, out->rolling = f->rolling;
  if (out->kind == TB_FRICTION_CONTENSOU && !(f->torsion > 0 || f->rolling > 0))
    out->kind = TB_FRICTION_ISOTROPIC;
  out->mu_t = f->mu_t, out->mu_b = f->mu_b, out->kappa = f->kappa;
  out->direction = tb_load3(f->direction);
  if (f->model == TB_FRICTION_MODEL_ELLIPTIC && !f->field && !tb_json_find(f->node, "direction"))
    return tb_json_fail(ctx, f->node, "missing key \"direction\" for \"friction\"");
  if (tb_maxabs3(out->direction) == 0)
    return tb_json_fail(ctx, tb_scene_place(f->node, "direction"), "a direction must not be zero");
  for (int i = 0; i < 4; i++) out->matrix[i] = f->matrix[i], out->matrix_back[i] = f->matrix_back[i];
  out->asymmetric = tb_json_find(f->node, "matrix_back") != NULL;
  out->static_ratio = f->static_ratio, out->stribeck = f->stribeck, out->tresca = f->tresca;
  out->adhesion = f->adhesion, out->restitution = f->restitution;
  if (f->mu_static > 0 && f->mu > 0) out->static_ratio = f->mu_static / f->mu;
  if (f->mu_static > 0 && f->mu_static < f->mu)
    return tb_json_fail(ctx, tb_scene_place(f->node, "mu_static"), "friction at rest must not be below mu");
  if (out->kind == TB_FRICTION_TEXTURE) TB_TRY(add_texture(b, f, out));
  if (f->field) TB_TRY(add_field(b, f->field, out));
  return tb_scene_placed(ctx, tb_scene_place(f->node, "matrix"), tb_friction_check(ctx, out));
}

tbStatus tb_scene_material(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                           tbMaterialId* out)
{
  *out = tb_world_find_material(b->world, name);
  if (out->index >= 0) return TB_OK;
  *out = (tbMaterialId){0, 0}; // reading goes on after an error: no index may point at nothing
  if (tb_scene_lost_material(b, name)) return TB_OK; // which has been told; the world is not going to be used
  tbNearest near = tb_nearest(name);
  const tbSceneMaterial* m = b->file->materials.items;
  for (int i = 0; i < b->file->materials.count; i++) tb_nearest_offer(&near, m[i].node->key->text);
  return tb_json_fail(b->ctx, tb_scene_place(node, key), "unknown material \"%.60s\"%s%s%s", name,
                      near.name ? "; did you mean \"" : "", near.name ? near.name : "",
                      near.name ? "\"?" : "");
}

tbStatus tb_scene_find_body(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                            tbBodyId* out)
{
  *out = (tbBodyId){-1, 0};
  if (!name || strcmp(name, "world") == 0) return TB_OK;
  *out = tb_world_find_body(b->world, name);
  if (out->index >= 0) return TB_OK;
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < tb_world_body_count(b->world) && i < OFFERED; i++)
    tb_nearest_offer(&near, tb_body_name(b->world, tb_world_body_at(b->world, i)));
  return tb_json_fail(b->ctx, tb_scene_place(node, key), "unknown body \"%.60s\"%s%.60s%s", name,
                      near.name ? "; did you mean \"" : "", near.name ? near.name : "",
                      near.name ? "\"?" : "");
}

tbStatus tb_scene_path(tbSceneBuild* b, const tbJson* place, const char* file, const char** out)
{
  if (!b->folder) return tb_json_fail(b->ctx, place, "a scene in memory has no files to read");
  size_t folder = file[0] == '/' ? 0 : strlen(b->folder), length = strlen(file);
  char* path = TB_TAKE(b->arena, char, folder + length + 2);
  if (!path) return TB_ERROR_MEMORY;
  memcpy(path, b->folder, folder);
  if (folder && path[folder - 1] != '/') path[folder++] = '/';
  memcpy(path + folder, file, length + 1);
  *out = path;
  return TB_OK;
}
