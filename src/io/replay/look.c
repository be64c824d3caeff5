// SPDX-License-Identifier: Apache-2.0
#include "io/replay/look.h"

#include <limits.h>

static const tbRange anywhere = {-1e30, 1e30, false}, size = {0, 1e30, false};

tbStatus tb_replay_vec3(tbContext* ctx, const tbJson* node, const char* key, tbVec3* out)
{
  const tbJson* value = tb_json_find(node, key);
  double v[3];
  if (!value) return TB_OK;
  TB_TRY(tb_json_get_numbers(ctx, value, 3, 3, anywhere, v, NULL));
  *out = tb_load3(v);
  return TB_OK;
}

tbStatus tb_replay_pose(tbContext* ctx, const tbJson* node, tbTransform* out)
{
  *out = tb_transform_identity();
  TB_TRY(tb_replay_vec3(ctx, node, "position", &out->x));
  const tbJson* value = tb_json_find(node, "orientation");
  double q[4];
  if (!value) return TB_OK;
  TB_TRY(tb_json_get_numbers(ctx, value, 4, 4, anywhere, q, NULL));
  if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) return tb_json_fail(ctx, value, "not a rotation");
  out->q = tb_quat_normalize(tb_quat(q[0], q[1], q[2], q[3]));
  return TB_OK;
}

tbStatus tb_replay_kind(tbContext* ctx, const tbJson* body, const tbKind** kind, tbBodyMotion* motion)
{
  const tbJson* node;
  const char* word;
  TB_TRY(tb_json_require(ctx, body, "kind", &node));
  TB_TRY(tb_json_get_string(ctx, node, &word));
  return tb_kind_of_word(word, kind, motion) ? TB_OK : tb_json_fail(ctx, node, "no kind of body");
}

static tbStatus get_size(tbContext* ctx, const tbJson* node, const char* key, double* out)
{
  const tbJson* value;
  TB_TRY(tb_json_require(ctx, node, key, &value));
  return tb_json_get_number(ctx, value, size, out);
}

static tbStatus get_plane(tbContext* ctx, const tbJson* node, tbShape* out)
{
  const tbJson* offset = tb_json_find(node, "offset");
  tbVec3 normal = tb_vec3(0, 0, 1);
  double at = 0;
  TB_TRY(tb_replay_vec3(ctx, node, "normal", &normal));
  if (offset) TB_TRY(tb_json_get_number(ctx, offset, anywhere, &at));
  *out = tb_shape_plane(normal, at);
  return TB_OK;
}

tbStatus tb_replay_shape(tbContext* ctx, const tbJson* node, int meshes, tbShape* out, int* mesh)
{
  const char* names[TB_SHAPE_COUNT + 1] = {0};
  const tbJson *type_node, *mesh_node;
  int type;
  double radius, length = 0;
  tbVec3 edges = tb_zero3();
  tbTransform pose;
  for (int i = 0; i < TB_SHAPE_COUNT; i++) names[i] = tb_shape_type_name((tbShapeType)i);
  TB_TRY(tb_json_require(ctx, node, "type", &type_node));
  TB_TRY(tb_json_get_choice(ctx, type_node, names, &type));
  TB_TRY(tb_replay_pose(ctx, node, &pose));
  *mesh = -1;
  switch ((tbShapeType)type) {
  case TB_SHAPE_SPHERE:
  case TB_SHAPE_CAPSULE:
  case TB_SHAPE_CYLINDER:
    TB_TRY(get_size(ctx, node, "radius", &radius));
    if (type != TB_SHAPE_SPHERE) TB_TRY(get_size(ctx, node, "length", &length));
    *out = type == TB_SHAPE_SPHERE    ? tb_shape_sphere(radius)
           : type == TB_SHAPE_CAPSULE ? tb_shape_capsule(radius, length)
                                      : tb_shape_cylinder(radius, length);
    break;
  case TB_SHAPE_BOX:
    TB_TRY(tb_replay_vec3(ctx, node, "size", &edges));
    *out = tb_shape_box(edges);
    break;
  case TB_SHAPE_PLANE: TB_TRY(get_plane(ctx, node, out)); break;
  default:
    TB_TRY(tb_json_require(ctx, node, "mesh", &mesh_node));
    TB_TRY(tb_json_get_int(ctx, mesh_node, 0, meshes - 1, mesh));
    *out = (tbShape){.type = (tbShapeType)type};
  }
  out->pose = pose;
  return TB_OK;
}

tbStatus tb_replay_mesh(tbContext* ctx, const tbReplay* r, const tbJson* node, tbArena* arena,
                        tbReplayMesh* out)
{
  int64_t at[2], geometry;
  int nv, nt;
  unsigned char bytes[12];
  TB_TRY(tb_json_get_int64(ctx, tb_json_find(r->root, "geometry_bytes"), 0, INT64_MAX, &geometry));
  TB_TRY(tb_json_get_int(ctx, tb_json_find(node, "vertices"), 0, INT_MAX, &nv)); // checked when it was opened
  TB_TRY(tb_json_get_int(ctx, tb_json_find(node, "triangles"), 0, INT_MAX / 3, &nt));
  TB_TRY(tb_json_get_int64(ctx, tb_json_find(node, "vertices_at"), 0, INT64_MAX, &at[0]));
  TB_TRY(tb_json_get_int64(ctx, tb_json_find(node, "triangles_at"), 0, INT64_MAX, &at[1]));
  *out = (tbReplayMesh){nv, nt, TB_TAKE(arena, tbVec3, (size_t)nv),
                        tb_arena_take(arena, (size_t)nt, sizeof *out->triangle)};
  if (!out->vertex || !out->triangle) return TB_ERROR_MEMORY;
  uint64_t start = r->frames_at - (uint64_t)geometry;
  for (int i = 0; i < nv; i++) {
    TB_TRY(tb_replay_bytes(ctx, r, start + (uint64_t)at[0] + 12 * (uint64_t)i, bytes, 12));
    out->vertex[i] = tb_get_f32x3(bytes);
    if (!(tb_maxabs3(out->vertex[i]) < 1e30))
      return tb_replay_damaged(ctx, r, "a mesh with a vertex nowhere");
  }
  for (int i = 0; i < nt; i++) {
    TB_TRY(tb_replay_bytes(ctx, r, start + (uint64_t)at[1] + 12 * (uint64_t)i, bytes, 12));
    for (int k = 0; k < 3; k++) {
      uint32_t v = tb_get_u32(bytes + 4 * k);
      if (v >= (uint32_t)nv) return tb_replay_damaged(ctx, r, "a triangle of no vertex");
      out->triangle[i][k] = (int)v;
    }
  }
  return TB_OK;
}
