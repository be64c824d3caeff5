// SPDX-License-Identifier: Apache-2.0
// What bodies carry for each other.
//
// A barrier is as stiff as its own two surfaces ask for (ipc_scale.c). A light body between heavy ones passes
// on what presses these together, and a barrier that is a thousand times softer than that gives way to a
// millionth of d̂, where rounding is all that is left of its distance. So what a pair withstands counts, by a
// share, in the pairs next to it: those that come within reach while bodies go on as they start. Loads only
// grow, to the least that satisfy all pairs, whatever their order.
#include "step/ipc.h"

#include "base/sort.h"

static const double PASSED = 0.1;   // of what a pair withstands, that the pairs next to it do
static const double CROWDED = 0.25; // of a way with too many candidates
static const double LEAST = 1e-4;   // share of the step that is looked at in any case

enum { MANY = 20000 }; // candidates of a way, before it is shortened

static int ascending(const void* a, const void* b)
{
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

// Whether any pair could be stiffer than what a surface withstands by itself.
static bool is_even(const tbIpc* ipc)
{
  double least = INFINITY, most = 0, mass = 0, speed = 0;
  for (int i = 0; i < ipc->surfaces.scene.nsurface; i++) {
    const tbIpcSurface* s = &ipc->surface[i];
    speed = fmax(speed, tb_norm3(s->drift) + s->spread);
    if (s->source == TB_IPC_KNOWN) continue;
    least = fmin(least, s->scale), most = fmax(most, s->scale), mass = fmax(mass, s->mass);
  }
  return !(PASSED * fmax(most, 2 * mass * speed / ipc->h) > least);
}

static tbStatus add_pairs(tbContext* ctx, const tbArray* features, tbArray* keys)
{
  const tbSurfaceFeatures* f = features->data;
  for (size_t i = 0; i < features->count; i++) {
    uint64_t key = (uint64_t)f[i].surface_a << 32 | (uint64_t)f[i].surface_b;
    if (keys->count > 0 && ((uint64_t*)keys->data)[keys->count - 1] == key) continue;
    TB_TRY(tb_array_push(ctx, keys, &key, 1));
  }
  return TB_OK;
}

// Raises what the surfaces of a pair withstand. Whether that has changed anything.
static bool pass_on(tbIpc* ipc, uint64_t key, tbSurfacePair kind)
{
  tbSurfaceFeatures of = {.kind = kind, .surface_a = (int)(key >> 32), .surface_b = (int)(key & 0xffffffff)};
  double load = PASSED * tb_ipc_stiffness(ipc, &of);
  bool changed = false;
  for (int side = kind == TB_SURFACE_PLANE_VERTEX ? 1 : 0; side < 2; side++) {
    tbIpcSurface* s = &ipc->surface[side ? of.surface_b : of.surface_a];
    if (s->source == TB_IPC_KNOWN || !(load > fmax(s->scale, s->load))) continue;
    s->load = load, changed = true;
  }
  return changed;
}

static void spread(tbIpc* ipc, tbArray* keys, const tbArray* planes)
{
  uint64_t* k = keys->data;
  tb_sort(k, keys->count, sizeof *k, ascending);
  bool changed = true;
  for (int round = 0; changed && round <= ipc->surfaces.scene.nsurface; round++) {
    changed = false;
    for (size_t i = 0; i < keys->count; i++)
      if (i == 0 || k[i] != k[i - 1]) changed |= pass_on(ipc, k[i], TB_SURFACE_FACE_VERTEX);
    for (size_t i = 0; i < planes->count; i++)
      changed |= pass_on(ipc, ((const uint64_t*)planes->data)[i], TB_SURFACE_PLANE_VERTEX);
  }
}

// Where bodies go in a share of the step if nothing stops them.
static void go_on(tbIpc* ipc, double share)
{
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    ipc->trial[f->block] = tb_scale3(share, f->v_free),
    ipc->trial[f->block + 1] = tb_scale3(share, f->w_free);
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    for (int k = 0; k < n->of.fem->nnode; k++)
      ipc->trial[n->block + k] = tb_scale3(share, tb_madd3(n->of.v[k], ipc->h, n->of.gravity));
  }
  tb_ipc_place(ipc, ipc->trial, share);
}

// What comes within reach: on the first part of the way, where too much does on all of it.
static tbStatus look_ahead(tbContext* ctx, tbIpc* ipc)
{
  bool few = false;
  for (double share = 1; !few; share *= CROWDED) {
    go_on(ipc, share);
    TB_TRY(tb_surface_find_few(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, share > LEAST ? MANY : 0,
                               &ipc->candidates, &few));
  }
  return TB_OK;
}

tbStatus tb_ipc_share_loads(tbContext* ctx, tbIpc* ipc)
{
  if (ipc->options->barrier_stiffness > 0 || is_even(ipc)) return TB_OK;
  tbArray keys = TB_ARRAY(uint64_t), planes = TB_ARRAY(uint64_t);
  double progress = ipc->still ? 0 : ipc->progress;
  tbStatus status = look_ahead(ctx, ipc);
  if (status == TB_OK) status = add_pairs(ctx, &ipc->candidates.face_vertex, &keys);
  if (status == TB_OK) status = add_pairs(ctx, &ipc->candidates.edge_edge, &keys);
  if (status == TB_OK) status = add_pairs(ctx, &ipc->candidates.plane_vertex, &planes);
  if (status == TB_OK) spread(ipc, &keys, &planes);
  tb_array_free(ctx, &keys);
  tb_array_free(ctx, &planes);
  tb_ipc_place(ipc, ipc->v, progress);
  return status;
}
