// SPDX-License-Identifier: Apache-2.0
// A world from what a scene file says. Each part checks what only the whole shows, and says where.
#ifndef TB_IO_SCENE_BUILD_H
#define TB_IO_SCENE_BUILD_H

#include "base/array.h"
#include "io/scene/errors.h"
#include "io/scene/format.h"
#include "tribo/io.h"

// What was made of a file, by type, scale and resolution.
typedef struct tbSceneGeometry {
  tbShapeType type; // TB_SHAPE_CONVEX, _MESH or _SDF
  const char* path;
  double scale;
  int resolution; // of a grid
  const void* made;
} tbSceneGeometry;

typedef struct tbSceneBuild {
  tbContext* ctx;
  tbArena* arena; // everything but the world dies with it
  const tbSceneFile* file;
  const char* folder; // of mesh files; null: there are none
  tbWorld* world;
  tbArray geometry;      // tbSceneGeometry: read from files so far
  tbArray origin;        // const tbJson*: where each body of the world stands in the file
  tbSceneErrors* errors; // null: the first error ends it
} tbSceneBuild;

// An error of the file is noted where errors are kept, and TB_OK comes back; else the error itself.
static inline tbStatus tb_scene_note(tbSceneBuild* b, tbStatus status)
{
  return tb_scene_errors_note(b->ctx, b->errors, status);
}
static inline size_t tb_scene_noted(const tbSceneBuild* b) { return tb_scene_errors_count(b->errors); }

// After an attempt to make a record's part of the world: it is marked as bad where it has brought up errors.
tbStatus tb_scene_close(tbSceneBuild* b, const tbJson* record, size_t noted_before);
// Whether a body or a material of that name stands in the file, and was not made for an error of its own.
bool tb_scene_lost_body(const tbSceneBuild* b, const char* name);
bool tb_scene_lost_material(const tbSceneBuild* b, const char* name);

tbStatus tb_scene_bodies(tbSceneBuild* b);      // body.c
tbStatus tb_scene_deformables(tbSceneBuild* b); // soft.c
tbStatus tb_scene_animated(tbSceneBuild* b);    // animated.c
tbStatus tb_scene_joints(tbSceneBuild* b);      // joint.c
tbStatus tb_scene_ignored(tbSceneBuild* b);     // joint.c

// The mesh of a soft body or of a cloth, scaled: the one that is not null. To be freed whatever this returns.
// grid.c
tbStatus tb_scene_mesh(tbSceneBuild* b, const tbSceneDeformable* s, tbTetMesh** solid, tbMesh** sheet);

// The shapes of a body, in the arena; `moves`: it is a dynamic body. shape.c
tbStatus tb_scene_shapes(tbSceneBuild* b, const tbSceneBody* body, bool moves, tbShape** out, int* count);

// The shape's or body's pose; absent parts are taken from *out. part.c
tbStatus tb_scene_pose(tbContext* ctx, const tbJson* node, const tbScenePose* pose, tbTransform* out);
tbStatus tb_scene_friction(tbSceneBuild* b, const tbSceneFriction* friction, tbFriction* out);
// The material of that name; `key` says where the name stands in the node.
tbStatus tb_scene_material(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                           tbMaterialId* out);

// The body of that name, of any kind; index −1: "world", or no name. `key` says where it stands in the node.
tbStatus tb_scene_find_body(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                            tbBodyId* out);
// The path of a file that the place in the scene names, in the arena.
tbStatus tb_scene_path(tbSceneBuild* b, const tbJson* place, const char* file, const char** out);
// The keys of a prescribed motion, in the arena, and how many; what a key leaves out is as in `pose` or in
// the key before.
tbStatus tb_scene_motion(tbSceneBuild* b, const tbSceneMotion* motion, tbTransform pose, tbMotionKey** keys,
                         int* count);

// Copies of a body: how many, and where each stands from the first, x fastest. copies.c
tbStatus tb_scene_count_copies(tbSceneBuild* b, const tbJson* node, const tbSceneRepeat* repeat, int* out);
typedef struct tbSceneCopies {
  const tbSceneRepeat* repeat; // null: the body itself
  const char *stem, *name;     // of the body and of the copy; null: it has none
  char* buffer;
  size_t size;
  uint64_t random;
} tbSceneCopies;
// ordinal: of the body among those of the file, for a stream of random numbers of its own.
tbStatus tb_scene_copies_begin(tbSceneBuild* b, const tbSceneRepeat* repeat, const char* name, int ordinal,
                               tbSceneCopies* out);
tbVec3 tb_scene_copy(tbSceneCopies* copies, int index); // in turn from 0; sets the name
// Names of bodies: sound, and not yet taken. What adds a body pushes its place on `origin`.
tbStatus tb_scene_check_name(tbSceneBuild* b, const tbJson* node, const char* name);
tbStatus tb_scene_check_taken(tbSceneBuild* b, const tbJson* node, const char* name);

static inline bool tb_scene_given(const tbJson* node, const char* key) { return tb_json_find(node, key); }

// The key's value, or the object itself where the key is absent.
static inline const tbJson* tb_scene_place(const tbJson* node, const char* key)
{
  const tbJson* member = tb_json_find(node, key);
  return member ? member : node;
}

// Puts a place before what went wrong below the level of files; running out of memory has none.
tbStatus tb_scene_take_load(tbSceneBuild* b, const tbSceneLoad* load,
                            tbBodyId body); // body_load.c; null: none
tbStatus tb_scene_placed(tbContext* ctx, const tbJson* node, tbStatus status);

// Two keys of which only one may be given.
tbStatus tb_scene_exclude(tbContext* ctx, const tbJson* node, const char* key, const char* other);

#endif
