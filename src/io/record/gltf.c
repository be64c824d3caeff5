// SPDX-License-Identifier: Apache-2.0
// glTF 2.0 (Khronos), in one binary file: a header, the JSON, the numbers.
//
// Rigid bodies are nodes with translations and rotations over time. Deformable bodies are meshes with a morph
// target per kept frame, of which one has full weight at its time; between frames the weights go over
// linearly, and so do the vertices. Normals of what deforms are left to the viewer, which must make flat ones
// (§3.7.2.1): those stay right while it moves.
//
// Memory      the JSON, and a few megabytes: frames wait in a file (tracks.h).
// Limits      4 GiB in all. At most 512 morph targets: of more frames every 2nd, 3rd, … is kept, because
//             viewers hold targets in texture layers, and have 2048 of them at best.
#include "io/record/gltf.h"

#include <string.h>

typedef struct {
  tbTracks tracks;
  char* name;
} Recorder;

static tbStatus begin(tbContext* ctx, const tbRecordPlan* plan, void** state)
{
  Recorder* r = TB_NEW(ctx, Recorder, 1);
  if (!r) return TB_ERROR_MEMORY;
  const char* name = plan->scene->name ? plan->scene->name : "scene";
  r->name = TB_NEW(ctx, char, strlen(name) + 1);
  tbStatus status =
      r->name ? tb_tracks_begin(ctx, plan->path, plan->scene->world, &r->tracks) : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    strcpy(r->name, name);
    *state = r;
  } else {
    tb_free(ctx, r->name);
    tb_free(ctx, r);
  }
  return status;
}

static tbStatus frame(tbContext* ctx, void* state, const tbFrame* f)
{
  (void)ctx;
  return tb_tracks_add(&((Recorder*)state)->tracks, f);
}

// Measuring.

// The displacements of all vertices of a surface at a key from where they were at the first; of key 0, the
// positions.
static tbStatus get_key(tbContext* ctx, const tbGltf* g, int surface, int64_t key, const float (*base)[3],
                        float (*out)[3])
{
  TB_TRY(tb_tracks_surface(ctx, g->tracks, surface, tb_gltf_frame(g, key), out));
  for (int v = 0; key > 0 && v < tb_draw_surfaces(&g->tracks->drawing)[surface].nvertex; v++)
    for (int k = 0; k < 3; k++) out[v][k] -= base[v][k];
  return TB_OK;
}

// Calls `use` for every key of every surface, in the order of the file.
typedef void UseKey(void* user, int64_t number, const float (*x)[3], int count);

static tbStatus for_surface_keys(tbContext* ctx, const tbGltf* g, UseKey* use, void* user)
{
  const tbDrawing* d = &g->tracks->drawing;
  int most = 0;
  for (size_t i = 0; i < d->surface.count; i++)
    if (tb_draw_surfaces(d)[i].nvertex > most) most = tb_draw_surfaces(d)[i].nvertex;
  float(*x)[3] = tb_alloc(ctx, (size_t)most, 2 * sizeof *x), (*base)[3] = x ? x + most : NULL;
  tbStatus status = x ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; i < (int)d->surface.count; i++)
    for (int64_t k = 0; k < g->keys && status == TB_OK; k++) {
      status = get_key(ctx, g, i, k, (const float(*)[3])base, x);
      int count = tb_draw_surfaces(d)[i].nvertex;
      if (k == 0) memcpy(base, x, (size_t)count * sizeof *x);
      if (status == TB_OK) use(user, (int64_t)i * g->keys + k, (const float(*)[3])x, count);
    }
  tb_free(ctx, x);
  return status;
}

static void measure_key(void* user, int64_t number, const float (*x)[3], int count)
{
  tbGltf* g = user;
  for (int k = 0; k < 3; k++) g->low[number][k] = INFINITY, g->high[number][k] = -INFINITY;
  for (int v = 0; v < count; v++)
    for (int k = 0; k < 3; k++) {
      g->low[number][k] = fminf(g->low[number][k], x[v][k]);
      g->high[number][k] = fmaxf(g->high[number][k], x[v][k]);
    }
}

static tbStatus measure(tbContext* ctx, tbGltf* g)
{
  const tbTracks* t = g->tracks;
  const tbDrawing* d = &t->drawing;
  g->stride = (t->frames - 1 + TB_GLTF_TARGETS - 1) / TB_GLTF_TARGETS;
  if (g->stride < 1) g->stride = 1;
  g->keys = (t->frames - 1) / g->stride + 1;
  TB_TRY(tb_tracks_time(ctx, t, 0, &g->start));
  TB_TRY(tb_tracks_time(ctx, t, t->frames - 1, &g->end));
  TB_TRY(tb_tracks_time(ctx, t, tb_gltf_frame(g, g->keys - 1), &g->last_key));
  size_t bounds = d->surface.count * (size_t)g->keys;
  g->low = tb_alloc(ctx, bounds, sizeof *g->low);
  g->high = tb_alloc(ctx, bounds, sizeof *g->high);
  if (!g->low || !g->high) return TB_ERROR_MEMORY;
  TB_TRY(for_surface_keys(ctx, g, measure_key, g));

  for (size_t i = 0; i < d->mesh.count; i++) {
    const tbDrawMesh* m = &tb_draw_meshes(d)[i];
    g->vertices += 12 * (uint64_t)m->nvertex * (m->normal ? 2 : 1);
    g->indices += 12 * (uint64_t)m->ntriangle;
  }
  for (size_t i = 0; i < d->surface.count; i++) {
    g->vertices += 12 * (uint64_t)tb_draw_surfaces(d)[i].nvertex * (uint64_t)g->keys;
    g->indices += 12 * (uint64_t)tb_draw_surfaces(d)[i].ntriangle;
  }
  if (tb_gltf_moves(g)) g->motion = 4 * (uint64_t)t->frames;
  for (int i = 0; i < t->nmoving && tb_gltf_moves(g); i++)
    g->motion += (uint64_t)t->frames * (12u * t->shifts[i] + 16u * t->turns[i]);
  if (!tb_gltf_morphs(g)) return TB_OK;
  g->motion += 4 * (uint64_t)g->keys;
  g->weights = ((uint64_t)g->keys * (uint64_t)tb_gltf_targets(g) + 3) / 4 * 4;
  return TB_OK;
}

// Writing, in the order of gltf.h.

static void put_key(void* user, int64_t number, const float (*x)[3], int count)
{
  (void)number;
  for (int v = 0; v < count; v++)
    for (int k = 0; k < 3; k++) tb_out_f32(user, x[v][k]);
}

static void put_triangles(tbOut* out, const int (*triangle)[3], int count)
{
  for (int t = 0; t < count; t++)
    for (int k = 0; k < 3; k++) tb_out_u32(out, (uint32_t)triangle[t][k]);
}

static tbStatus put_geometry(tbContext* ctx, const tbGltf* g, tbOut* out)
{
  const tbDrawing* d = &g->tracks->drawing;
  for (size_t i = 0; i < d->mesh.count; i++) {
    const tbDrawMesh* m = &tb_draw_meshes(d)[i];
    for (int v = 0; v < m->nvertex; v++) tb_out_f32x3(out, m->vertex[v]);
    for (int v = 0; v < m->nvertex && m->normal; v++) tb_out_f32x3(out, m->normal[v]);
  }
  TB_TRY(for_surface_keys(ctx, g, put_key, out));
  for (size_t i = 0; i < d->mesh.count; i++)
    put_triangles(out, tb_draw_meshes(d)[i].triangle, tb_draw_meshes(d)[i].ntriangle);
  for (size_t i = 0; i < d->surface.count; i++)
    put_triangles(out, tb_draw_surfaces(d)[i].triangle, tb_draw_surfaces(d)[i].ntriangle);
  return TB_OK;
}

static tbStatus put_times(tbContext* ctx, const tbGltf* g, int64_t count, int64_t stride, tbOut* out)
{
  for (int64_t i = 0; i < count; i++) {
    double time;
    TB_TRY(tb_tracks_time(ctx, g->tracks, i * stride, &time));
    tb_out_f32(out, time - g->start);
  }
  return TB_OK;
}

typedef struct {
  const tbTracks* tracks;
  tbOut* out;
} Put;

static tbStatus put_track(tbContext* ctx, void* user, int i, const float (*pose)[TB_TRACK], int stride)
{
  (void)ctx;
  static const int turn[4] = {4, 5, 6, 3}; // x y z w
  const Put* put = user;
  const tbTracks* t = put->tracks;
  for (int64_t f = 0; f < t->frames && t->shifts[i]; f++)
    for (int k = 0; k < 3; k++) tb_out_f32(put->out, pose[f * stride][k]);
  for (int64_t f = 0; f < t->frames && t->turns[i]; f++)
    for (int k = 0; k < 4; k++) tb_out_f32(put->out, pose[f * stride][turn[k]]);
  return TB_OK;
}

static tbStatus put_motion(tbContext* ctx, const tbGltf* g, tbOut* out)
{
  if (!tb_gltf_moves(g)) return TB_OK;
  TB_TRY(put_times(ctx, g, g->tracks->frames, 1, out));
  if (tb_gltf_morphs(g)) TB_TRY(put_times(ctx, g, g->keys, g->stride, out));
  TB_TRY(tb_tracks_each(ctx, g->tracks, put_track, &(Put){g->tracks, out}));
  if (!tb_gltf_morphs(g)) return TB_OK;
  uint64_t bytes = 0;
  for (int64_t key = 0; key < g->keys; key++)
    for (int64_t target = 1; target < g->keys; target++, bytes++)
      tb_out_bytes(out, key == target ? "\xff" : "", 1);
  tb_out_zeros(out, g->weights - bytes);
  return TB_OK;
}

static tbStatus put_file(tbContext* ctx, const tbGltf* g, tbOut* json, tbOut* out)
{
  while (json->length % 4 && json->status == TB_OK) tb_out_text(json, " ");
  TB_TRY(tb_out_finish(json));
  uint64_t binary = g->vertices + g->indices + g->motion + g->weights;
  uint64_t total = 12 + 8 + json->length + (binary ? 8 + binary : 0);
  if (total > UINT32_MAX)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "a glTF file of %.1f GB, which the format cannot hold; record fewer frames per second",
                   1e-9 * (double)total);
  tb_out_text(out, "glTF");
  tb_out_u32(out, 2);
  tb_out_u32(out, (uint32_t)total);
  tb_out_u32(out, (uint32_t)json->length);
  tb_out_text(out, "JSON");
  tb_out_bytes(out, json->bytes, json->length);
  if (!binary) return TB_OK;
  tb_out_u32(out, (uint32_t)binary);
  tb_out_bytes(out, "BIN", 4);
  TB_TRY(put_geometry(ctx, g, out));
  return put_motion(ctx, g, out);
}

static tbStatus save(tbContext* ctx, Recorder* r)
{
  tbGltf g = {.tracks = &r->tracks, .world = r->tracks.world, .name = r->name};
  tbOut json = tb_out_memory(ctx);
  tbGrowing file;
  tbStatus status = measure(ctx, &g);
  if (status == TB_OK) status = tb_gltf_json(ctx, &g, &json);
  if (status == TB_OK) status = tb_growing_open(ctx, r->tracks.spill.file.path, &file);
  if (status == TB_OK) status = tb_growing_end(ctx, &file, put_file(ctx, &g, &json, &file.out));
  tb_out_free(&json);
  tb_free(ctx, g.low);
  tb_free(ctx, g.high);
  return status;
}

static tbStatus end(tbContext* ctx, void* state, tbStatus status)
{
  Recorder* r = state;
  if (status == TB_OK) status = tb_tracks_complete(ctx, &r->tracks);
  if (status == TB_OK) status = save(ctx, r);
  tb_tracks_free(ctx, &r->tracks);
  tb_free(ctx, r->name);
  tb_free(ctx, r);
  return status;
}

const tbRecorder tb_recorder_gltf = {begin, frame, end, false};
