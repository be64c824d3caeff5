// SPDX-License-Identifier: Apache-2.0
// How a glTF file is laid out: its JSON (gltf_json.c) and its numbers (gltf.c) are made in the same order.
//
//   vertices   per mesh: positions, normals; per surface: positions, then a displacement per morph target
//   indices    per mesh, per surface
//   motion     times; times of the morphs; per moving body: translations if it shifts, rotations if it turns
//   weights    one byte per key and target, shared by all surfaces
#ifndef TB_IO_RECORD_GLTF_H
#define TB_IO_RECORD_GLTF_H

#include "base/json_write.h"
#include "io/record/tracks.h"

enum { TB_GLTF_TARGETS = 512 }; // morph targets at most

typedef struct tbGltf {
  const tbTracks* tracks;
  const tbWorld* world; // the last frame's: names and colours
  const char* name;     // of the scene
  int64_t keys;         // frames kept of deformable bodies: 0, stride, 2 stride, …
  int64_t stride;
  double start, end, last_key;                 // times of the first frame, the last, and the last key
  uint64_t vertices, indices, motion, weights; // bytes; multiples of 4
  float (*low)[3], (*high)[3];                 // of the displacements: surface by surface, target by target
} tbGltf;

static inline int64_t tb_gltf_targets(const tbGltf* g) { return g->keys - 1; }
static inline int64_t tb_gltf_frame(const tbGltf* g, int64_t key) // of a key
{
  return key * g->stride;
}
// Whether there is an animation at all, and of the deformable bodies.
static inline bool tb_gltf_moves(const tbGltf* g) { return g->tracks->frames > 1; }
static inline bool tb_gltf_morphs(const tbGltf* g)
{
  return g->keys > 1 && g->tracks->drawing.surface.count > 0;
}

// The JSON while it is being written: what came first is referred to later by these numbers.
typedef struct tbGltfJson {
  const tbGltf* g;
  const tbDrawing* d;
  tbJsonWriter* w;
  int view[4]; // numbers of the buffer views; −1: empty
  int accessors;
  uint64_t at[4];        // how much of each view is used
  int* mesh_accessor;    // first of a mesh: positions, normals if any, indices
  int* surface_accessor; // first of a surface: positions, indices, targets
  int* mesh_number; // of a mesh in a colour, −1: not used; then of the surfaces    (nmesh · TB_COLORS +
                    // nsurface)
  int material[2 * TB_COLORS];   // of a colour; and of the same on both sides
  int times, key_times, weights; // accessors
} tbGltfJson;

// Buffers, views and accessors: fills in view, mesh_accessor … weights (gltf_accessors.c).
void tb_gltf_put_buffers(tbGltfJson* json);

tbStatus tb_gltf_json(tbContext* ctx, const tbGltf* gltf, tbOut* out);

#endif
