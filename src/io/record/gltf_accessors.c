// SPDX-License-Identifier: Apache-2.0
// Where the numbers of a glTF file are: its buffer, the views of it, and the accessors, in the order of
// gltf.h.
#include "io/record/gltf.h"

enum { FLOAT = 5126, UNSIGNED_INT = 5125, UNSIGNED_BYTE = 5121, ARRAY_BUFFER = 34962, INDEX_BUFFER = 34963 };
enum { VERTICES, INDICES, MOTION, WEIGHTS };

// Accessors. Each takes the next bytes of its view.

static int put_accessor(tbGltfJson* j, int view, int type, const char* shape, uint64_t count, uint64_t bytes)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "bufferView", j->view[view]);
  if (j->at[view]) tb_put_int(j->w, "byteOffset", (int64_t)j->at[view]);
  tb_put_int(j->w, "componentType", type);
  if (type == UNSIGNED_BYTE) tb_put_bool(j->w, "normalized", true);
  tb_put_int(j->w, "count", (int64_t)count);
  tb_put_string(j->w, "type", shape);
  j->at[view] += bytes;
  return j->accessors++;
}

static void put_bounds(tbGltfJson* j, const float* low, const float* high, int count)
{
  double bound[2][3];
  for (int i = 0; i < count; i++) bound[0][i] = low[i], bound[1][i] = high[i];
  tb_put_numbers(j->w, "min", bound[0], (size_t)count);
  tb_put_numbers(j->w, "max", bound[1], (size_t)count);
}

static int put_positions(tbGltfJson* j, int count, const tbVec3* x, const int* node)
{
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < count; i++) {
    tbVec3 p = x[node ? node[i] : i];
    const float at[3] = {(float)p.x, (float)p.y, (float)p.z};
    for (int k = 0; k < 3; k++) low[k] = fminf(low[k], at[k]), high[k] = fmaxf(high[k], at[k]);
  }
  int accessor = put_accessor(j, VERTICES, FLOAT, "VEC3", (uint64_t)count, 12 * (uint64_t)count);
  put_bounds(j, low, high, 3);
  tb_put_end(j->w);
  return accessor;
}

static void put_indices(tbGltfJson* j, int ntriangle)
{
  put_accessor(j, INDICES, UNSIGNED_INT, "SCALAR", 3 * (uint64_t)ntriangle, 12 * (uint64_t)ntriangle);
  tb_put_end(j->w);
}

static void put_mesh_accessors(tbGltfJson* j)
{
  const tbDrawMesh* m = tb_draw_meshes(j->d);
  for (size_t i = 0; i < j->d->mesh.count; i++) {
    j->mesh_accessor[i] = put_positions(j, m[i].nvertex, m[i].vertex, NULL);
    if (m[i].normal) {
      put_accessor(j, VERTICES, FLOAT, "VEC3", (uint64_t)m[i].nvertex, 12 * (uint64_t)m[i].nvertex);
      tb_put_end(j->w);
    }
    put_indices(j, m[i].ntriangle);
  }
}

static void put_surface_accessors(tbGltfJson* j)
{
  const tbGltf* g = j->g;
  const tbDrawSurface* s = tb_draw_surfaces(j->d);
  int64_t targets = tb_gltf_targets(g);
  for (size_t i = 0; i < j->d->surface.count; i++) {
    uint64_t count = (uint64_t)s[i].nvertex;
    int64_t bound = (int64_t)i * g->keys; // of key 0: the positions themselves
    j->surface_accessor[i] = put_accessor(j, VERTICES, FLOAT, "VEC3", count, 12 * count);
    put_bounds(j, g->low[bound], g->high[bound], 3);
    tb_put_end(j->w);
    put_indices(j, s[i].ntriangle);
    for (int64_t k = 1; k <= targets; k++) {
      put_accessor(j, VERTICES, FLOAT, "VEC3", count, 12 * count);
      put_bounds(j, g->low[bound + k], g->high[bound + k], 3);
      tb_put_end(j->w);
    }
  }
}

static int put_times(tbGltfJson* j, int64_t count, double last)
{
  int accessor = put_accessor(j, MOTION, FLOAT, "SCALAR", (uint64_t)count, 4 * (uint64_t)count);
  put_bounds(j, &(float){0}, &(float){(float)last}, 1);
  tb_put_end(j->w);
  return accessor;
}

static void put_motion_accessors(tbGltfJson* j)
{
  const tbTracks* t = j->g->tracks;
  uint64_t frames = (uint64_t)t->frames;
  if (!tb_gltf_moves(j->g)) return;
  j->times = put_times(j, t->frames, j->g->end - j->g->start);
  if (tb_gltf_morphs(j->g)) j->key_times = put_times(j, j->g->keys, j->g->last_key - j->g->start);
  for (int i = 0; i < t->nmoving; i++) {
    if (t->shifts[i]) put_accessor(j, MOTION, FLOAT, "VEC3", frames, 12 * frames), tb_put_end(j->w);
    if (t->turns[i]) put_accessor(j, MOTION, FLOAT, "VEC4", frames, 16 * frames), tb_put_end(j->w);
  }
  if (!tb_gltf_morphs(j->g)) return;
  uint64_t count = (uint64_t)j->g->keys * (uint64_t)tb_gltf_targets(j->g);
  j->weights = put_accessor(j, WEIGHTS, UNSIGNED_BYTE, "SCALAR", count, count);
  tb_put_end(j->w);
}

static void put_accessors(tbGltfJson* j)
{
  if (j->view[VERTICES] < 0 && j->view[MOTION] < 0) return;
  tb_put_array(j->w, "accessors");
  put_mesh_accessors(j);
  put_surface_accessors(j);
  put_motion_accessors(j);
  tb_put_end(j->w);
}

static void put_buffer(tbGltfJson* j)
{
  const uint64_t bytes[4] = {j->g->vertices, j->g->indices, j->g->motion, j->g->weights};
  const int targets[4] = {ARRAY_BUFFER, INDEX_BUFFER, 0, 0};
  uint64_t total = 0;
  for (int i = 0, count = 0; i < 4; i++) {
    j->view[i] = bytes[i] ? count++ : -1;
    total += bytes[i];
  }
  if (!total) return;
  tb_put_array(j->w, "buffers");
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "byteLength", (int64_t)total);
  tb_put_end(j->w);
  tb_put_end(j->w);
  tb_put_array(j->w, "bufferViews");
  for (int i = 0; i < 4; i++) {
    if (!bytes[i]) continue;
    tb_put_object(j->w, NULL);
    tb_put_int(j->w, "buffer", 0);
    uint64_t at = 0;
    for (int k = 0; k < i; k++) at += bytes[k];
    if (at) tb_put_int(j->w, "byteOffset", (int64_t)at);
    tb_put_int(j->w, "byteLength", (int64_t)bytes[i]);
    if (i == VERTICES) tb_put_int(j->w, "byteStride", 12);
    if (targets[i]) tb_put_int(j->w, "target", targets[i]);
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
}

void tb_gltf_put_buffers(tbGltfJson* j)
{
  put_buffer(j);
  put_accessors(j);
}
