// SPDX-License-Identifier: Apache-2.0
// Meshes in motion of scene files: triangles, frames from the file itself, from mesh files or a point cache.
#include "geometry/mesh.h"
#include "io/mesh/mesh_io.h"
#include "io/scene/build.h"
#include "scene/world.h"

#include <string.h>

// ---- files ----

// Vertices as a file has them, in their order, into the arena; and how many.
static tbStatus load_vertices(tbSceneBuild* b, const tbJson* place, const char* file, tbVec3 scale,
                              tbVec3** out, int* count, tbArray* triangles)
{
  const char* path;
  tbSoup soup = tb_soup_empty();
  TB_TRY(tb_scene_path(b, place, file, &path));
  tbStatus status = tb_scene_placed(b->ctx, place, tb_soup_load(b->ctx, path, &soup));
  if (status == TB_OK) {
    *count = (int)soup.vertex.count;
    *out = TB_TAKE(b->arena, tbVec3, soup.vertex.count);
    if (!*out) status = TB_ERROR_MEMORY;
  }
  for (int i = 0; status == TB_OK && i < *count; i++)
    (*out)[i] = tb_mul3(scale, ((const tbVec3*)soup.vertex.data)[i]);
  if (status == TB_OK && triangles)
    status = tb_array_push(b->ctx, triangles, soup.triangle.data, soup.triangle.count);
  tb_soup_free(b->ctx, &soup);
  return status;
}

// ---- triangles ----

static tbStatus make_triangles(tbSceneBuild* b, const tbSceneAnimated* s, tbAnimatedDef* d)
{
  tbSceneDeformable like = {.node = s->node, .mesh = s->mesh};
  tbMesh* mesh = NULL;
  memcpy(like.scale, s->scale, sizeof like.scale);
  tbStatus status = tb_scene_mesh(b, &like, NULL, &mesh);
  if (status == TB_OK) {
    int(*triangle)[3] = tb_arena_take(b->arena, (size_t)mesh->ntriangle, sizeof *triangle);
    if (triangle) memcpy(triangle, mesh->triangle, (size_t)mesh->ntriangle * sizeof *triangle);
    else status = TB_ERROR_MEMORY;
    d->triangles = (const int(*)[3])triangle;
    d->triangle_count = mesh->ntriangle, d->vertex_count = mesh->nvertex;
  }
  tb_mesh_free(b->ctx, mesh);
  return status;
}

// Those of a file as they stand there: frames have the same vertices.
static tbStatus load_triangles(tbSceneBuild* b, const tbSceneAnimated* s, tbAnimatedDef* d)
{
  tbVec3* vertex;
  tbArray list = TB_ARRAY(int);
  const tbJson* place = tb_scene_place(s->mesh->node, "file");
  tbStatus status =
      load_vertices(b, place, s->mesh->file, tb_load3(s->scale), &vertex, &d->vertex_count, &list);
  d->triangle_count = (int)(list.count / 3);
  int(*triangle)[3] = tb_arena_take(b->arena, (size_t)d->triangle_count, sizeof *triangle);
  if (status == TB_OK && !triangle) status = TB_ERROR_MEMORY;
  if (status == TB_OK && list.count) memcpy(triangle, list.data, list.count * sizeof(int));
  d->triangles = (const int(*)[3])triangle;
  tb_array_free(b->ctx, &list);
  return status;
}

// ---- frames ----

static tbStatus check_count(tbSceneBuild* b, const tbJson* place, int found, int wanted)
{
  if (found == wanted) return TB_OK;
  return tb_json_fail(b->ctx, place, "%d vertices of a mesh that has %d", found, wanted);
}

static tbStatus read_frame(tbSceneBuild* b, const tbSceneAnimatedFrame* f, tbVec3 scale, int nvertex,
                           tbVec3* out)
{
  TB_TRY(tb_scene_exclude(b->ctx, f->node, "vertices", "file"));
  if (!f->vertices.xyz && !f->file)
    return tb_json_fail(b->ctx, f->node, "\"vertices\" or \"file\" says where the vertices are");
  const tbJson* place = tb_scene_place(f->node, f->file ? "file" : "vertices");
  if (!f->file) {
    TB_TRY(check_count(b, place, f->vertices.count, nvertex));
    for (int i = 0; i < nvertex; i++) out[i] = tb_mul3(scale, tb_load3(f->vertices.xyz[i]));
    return TB_OK;
  }
  tbVec3* vertex;
  int count;
  TB_TRY(load_vertices(b, place, f->file, scale, &vertex, &count, NULL));
  TB_TRY(check_count(b, place, count, nvertex));
  memcpy(out, vertex, (size_t)nvertex * sizeof *out);
  return TB_OK;
}

static tbStatus read_frames(tbSceneBuild* b, const tbSceneAnimated* s, tbAnimatedDef* d)
{
  const tbSceneAnimatedFrame* frame = s->frames.items;
  size_t n = (size_t)s->frames.count, nvertex = (size_t)d->vertex_count;
  double* t = TB_TAKE(b->arena, double, n);
  tbVec3* at = TB_TAKE(b->arena, tbVec3, n * nvertex);
  if (!t || !at) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) {
    t[i] = frame[i].t;
    if (i > 0 && !(t[i] > t[i - 1]))
      return tb_json_fail(b->ctx, tb_scene_place(frame[i].node, "t"), "the times of frames must increase");
    TB_TRY(read_frame(b, &frame[i], tb_load3(s->scale), d->vertex_count, at + i * nvertex));
  }
  d->times = t, d->vertices = at, d->frame_count = s->frames.count;
  return TB_OK;
}

// The cache is to be freed whatever this returns.
static tbStatus read_cache(tbSceneBuild* b, const tbSceneAnimated* s, tbPointCache* cache, tbAnimatedDef* d)
{
  const tbJson* place = tb_scene_place(s->cache->node, "file");
  const char* path;
  TB_TRY(tb_scene_path(b, place, s->cache->file, &path));
  TB_TRY(tb_scene_placed(b->ctx, place, tb_point_cache_load(b->ctx, path, tb_load3(s->scale), cache)));
  TB_TRY(check_count(b, place, cache->point_count, d->vertex_count));
  double* t = TB_TAKE(b->arena, double, (size_t)cache->sample_count);
  if (!t) return TB_ERROR_MEMORY;
  for (int i = 0; i < cache->sample_count; i++) t[i] = s->cache->start + i / s->cache->fps;
  d->times = t, d->vertices = cache->points, d->frame_count = cache->sample_count;
  return TB_OK;
}

// ---- bodies ----

static tbStatus read_rest(tbSceneBuild* b, const tbSceneAnimated* s, tbFriction* friction, tbAnimatedDef* d)
{
  tbTransform pose = tb_transform_identity();
  tbMotionKey* keys = NULL;
  TB_TRY(tb_scene_check_name(b, s->node, s->name));
  TB_TRY(tb_scene_pose(b->ctx, s->node, &s->pose, &pose));
  if (s->material) TB_TRY(tb_scene_material(b, s->node, "material", s->material, &d->material));
  if (s->friction) TB_TRY(tb_scene_friction(b, s->friction, friction));
  if (s->kinematic) TB_TRY(tb_scene_motion(b, s->kinematic, pose, &keys, &d->key_count));
  d->name = s->name, d->thickness = s->thickness, d->keys = keys;
  d->position = pose.x, d->orientation = pose.q;
  if (s->kinematic) d->velocity = tb_load3(s->kinematic->velocity);
  if (s->kinematic) d->angular_velocity = tb_load3(s->kinematic->angular_velocity);
  d->friction = s->friction ? friction : NULL;
  d->category = (uint32_t)s->category, d->mask = (uint32_t)s->mask;
  return tb_scene_exclude(b->ctx, s->node, "frames", "cache");
}

static tbStatus read(tbSceneBuild* b, const tbSceneAnimated* s, tbPointCache* cache)
{
  tbFriction friction;
  tbAnimatedDef d = tb_default_animated_def();
  TB_TRY(read_rest(b, s, &friction, &d));
  TB_TRY(s->mesh->file ? load_triangles(b, s, &d) : make_triangles(b, s, &d));
  if (!s->cache && s->frames.count == 0)
    return tb_json_fail(b->ctx, s->node, "\"frames\" or \"cache\" says where the vertices go");
  TB_TRY(s->cache ? read_cache(b, s, cache, &d) : read_frames(b, s, &d));
  TB_TRY(tb_scene_check_taken(b, s->node, d.name));
  TB_TRY(tb_scene_placed(b->ctx, s->node, tb_world_add_animated(b->ctx, b->world, &d, NULL)));
  return tb_array_push(b->ctx, &b->origin, &s->node, 1);
}

tbStatus tb_scene_animated(tbSceneBuild* b)
{
  const tbSceneAnimated* all = b->file->animated.items;
  for (int i = 0; i < b->file->animated.count; i++) {
    tbPointCache cache = {0};
    if (tb_scene_errors_bad(b->errors, all[i].node)) continue;
    size_t noted = tb_scene_noted(b);
    tbStatus status = tb_scene_note(b, read(b, &all[i], &cache));
    tb_point_cache_free(b->ctx, &cache);
    if (status == TB_OK) status = tb_scene_close(b, all[i].node, noted);
    if (status != TB_OK) return status;
  }
  return TB_OK;
}
