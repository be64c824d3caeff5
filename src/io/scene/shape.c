// SPDX-License-Identifier: Apache-2.0
// Shapes of scene files. tbSceneGeometry from files is read once for the whole scene, however many shapes
// name it, and belongs to the world.
#include "io/scene/build.h"

#include <string.h>

static const void* find_geometry(const tbSceneBuild* b, const tbSceneGeometry* like)
{
  const tbSceneGeometry* all = b->geometry.data;
  for (size_t i = 0; i < b->geometry.count; i++)
    if (all[i].type == like->type && all[i].scale == like->scale && all[i].resolution == like->resolution &&
        strcmp(all[i].path, like->path) == 0)
      return all[i].made;
  return NULL;
}

static tbStatus make_mesh(tbSceneBuild* b, const tbSceneGeometry* g, const void** out)
{
  tbMesh* mesh = NULL;
  TB_TRY(tb_mesh_load(b->ctx, g->path, tb_vec3(g->scale, g->scale, g->scale), &mesh));
  *out = mesh;
  return tb_world_keep_mesh(b->ctx, b->world, mesh);
}

static tbStatus make_hull(tbSceneBuild* b, const tbSceneGeometry* g, const void** out)
{
  tbHull* hull = NULL;
  TB_TRY(tb_hull_load(b->ctx, g->path, tb_vec3(g->scale, g->scale, g->scale), &hull));
  *out = hull;
  return tb_world_keep_hull(b->ctx, b->world, hull);
}

static tbStatus from_file(tbSceneBuild* b, tbSceneGeometry wanted, const void** out);

static tbStatus make_sdf(tbSceneBuild* b, const tbSceneGeometry* g, const void** out)
{
  const void* mesh;
  tbSdf* sdf = NULL;
  TB_TRY(from_file(b, (tbSceneGeometry){TB_SHAPE_MESH, g->path, g->scale, 0, NULL}, &mesh));
  TB_TRY(tb_sdf_create(b->ctx, mesh, g->resolution, &sdf));
  *out = sdf;
  return tb_world_keep_sdf(b->ctx, b->world, sdf);
}

static tbStatus from_file(tbSceneBuild* b, tbSceneGeometry g, const void** out)
{
  *out = find_geometry(b, &g);
  if (*out) return TB_OK;
  if (g.type == TB_SHAPE_CONVEX) TB_TRY(make_hull(b, &g, out));
  else if (g.type == TB_SHAPE_MESH) TB_TRY(make_mesh(b, &g, out));
  else TB_TRY(make_sdf(b, &g, out));
  g.made = *out;
  return tb_array_push(b->ctx, &b->geometry, &g, 1);
}

static tbStatus read_file(tbSceneBuild* b, const tbSceneShape* s, const void** out)
{
  const tbJson* place = tb_scene_place(s->node, "file");
  const char* path;
  TB_TRY(tb_scene_path(b, place, s->file, &path));
  tbShapeType type = (tbShapeType)s->type;
  tbSceneGeometry wanted = {type, path, s->scale, type == TB_SHAPE_SDF ? s->resolution : 0, NULL};
  return tb_scene_placed(b->ctx, place, from_file(b, wanted, out));
}

static tbStatus read_convex(tbSceneBuild* b, const tbSceneShape* s, const tbHull** out)
{
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "vertices", "file"));
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "vertices", "scale"));
  if (s->file) {
    const void* hull;
    TB_TRY(read_file(b, s, &hull));
    *out = hull;
    return TB_OK;
  }
  if (!s->vertices.xyz)
    return tb_json_fail(b->ctx, s->node, "a convex shape has either \"vertices\" or \"file\"");
  tbVec3* points = TB_TAKE(b->arena, tbVec3, (size_t)s->vertices.count);
  if (!points) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->vertices.count; i++) points[i] = tb_load3(s->vertices.xyz[i]);
  tbHull* hull = NULL;
  TB_TRY(tb_scene_placed(b->ctx, tb_scene_place(s->node, "vertices"),
                         tb_hull_create(b->ctx, points, s->vertices.count, &hull)));
  *out = hull;
  return tb_world_keep_hull(b->ctx, b->world, hull);
}

static tbStatus read_geometry(tbSceneBuild* b, const tbSceneShape* s, tbShape* out)
{
  const void* made = NULL;
  switch ((tbShapeType)s->type) {
  case TB_SHAPE_SPHERE: *out = tb_shape_sphere(s->radius); return TB_OK;
  case TB_SHAPE_BOX: *out = tb_shape_box(tb_load3(s->size)); return TB_OK;
  case TB_SHAPE_CAPSULE: *out = tb_shape_capsule(s->radius, s->length); return TB_OK;
  case TB_SHAPE_CYLINDER: *out = tb_shape_cylinder(s->radius, s->length); return TB_OK;
  case TB_SHAPE_PLANE:
    if (tb_maxabs3(tb_load3(s->normal)) == 0)
      return tb_json_fail(b->ctx, tb_scene_place(s->node, "normal"), "a normal must not be zero");
    *out = tb_shape_plane(tb_load3(s->normal), s->offset);
    return TB_OK;
  case TB_SHAPE_CONVEX: {
    const tbHull* hull = NULL;
    TB_TRY(read_convex(b, s, &hull));
    *out = tb_shape_convex(hull);
    return TB_OK;
  }
  case TB_SHAPE_MESH:
    TB_TRY(read_file(b, s, &made));
    *out = tb_shape_mesh(made);
    return TB_OK;
  case TB_SHAPE_SDF:
    TB_TRY(read_file(b, s, &made));
    *out = tb_shape_sdf(made);
    return TB_OK;
  case TB_SHAPE_COUNT: break;
  }
  return TB_OK;
}

static tbStatus read_shape(tbSceneBuild* b, const tbSceneShape* s, bool moves, tbShape* out)
{
  if (moves && s->type == TB_SHAPE_PLANE)
    return tb_json_fail(b->ctx, s->node, "a plane cannot move freely; make its body fixed or kinematic");
  TB_TRY(read_geometry(b, s, out));
  if (moves && s->type == TB_SHAPE_MESH && !tb_mesh_is_solid(out->mesh))
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "file"),
                        "the mesh is not closed and oriented outward, so it has no inside and cannot move "
                        "freely; make its body fixed or kinematic");
  out->pose = tb_transform_identity();
  TB_TRY(tb_scene_pose(b->ctx, s->node, &s->pose, &out->pose));
  return tb_scene_placed(b->ctx, s->node, tb_shape_check(b->ctx, out));
}

tbStatus tb_scene_shapes(tbSceneBuild* b, const tbSceneBody* body, bool moves, tbShape** out, int* count)
{
  TB_TRY(tb_scene_exclude(b->ctx, body->node, "shape", "shapes"));
  const tbSceneShape* shape = body->shape ? body->shape : body->shapes.items;
  *count = body->shape ? 1 : body->shapes.count;
  bool weighed = tb_scene_given(body->node, "mass") && tb_scene_given(body->node, "inertia");
  bool empty = tb_scene_given(body->node, "shapes"); // and yet there is none in it
  if (!*count && (empty || !(weighed || body->fixed)))
    return tb_json_fail(
        b->ctx, tb_scene_place(body->node, "shapes"),
        "a body needs a \"shape\" or \"shapes\"; one that moves goes without if mass and inertia "
        "are given");
  *out = TB_TAKE(b->arena, tbShape, (size_t)*count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < *count; i++) TB_TRY(tb_scene_note(b, read_shape(b, &shape[i], moves, &(*out)[i])));
  return TB_OK;
}
