// SPDX-License-Identifier: Apache-2.0
// What a replay's header says of how things look: kinds, poses, shapes, meshes. For drawing a replay
// and for exporting it. Nothing is taken as given that could ask for too much memory or reach beyond the
// file.
#ifndef TB_IO_REPLAY_LOOK_H
#define TB_IO_REPLAY_LOOK_H

#include "io/replay/open.h"
#include "kind/table.h"

// The value of a key as it is, or what *out was if there is none.
tbStatus tb_replay_vec3(tbContext* ctx, const tbJson* node, const char* key, tbVec3* out);
tbStatus tb_replay_pose(tbContext* ctx, const tbJson* node, tbTransform* out); // "position", "orientation"
tbStatus tb_replay_kind(tbContext* ctx, const tbJson* body, const tbKind** kind, tbBodyMotion* motion);

// One of a body's "shapes": type, sizes and pose. *mesh: the number of its mesh, of `meshes`, where it has no
// sizes (its pointer is null then); else −1.
tbStatus tb_replay_shape(tbContext* ctx, const tbJson* node, int meshes, tbShape* out, int* mesh);

typedef struct tbReplayMesh {
  int nvertex, ntriangle;
  tbVec3* vertex;
  int (*triangle)[3];
} tbReplayMesh;

// A mesh of the header, read into the arena.
tbStatus tb_replay_mesh(tbContext* ctx, const tbReplay* replay, const tbJson* node, tbArena* arena,
                        tbReplayMesh* out);

#endif
