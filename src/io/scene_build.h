// A world from what a scene file says. Each part checks what only the whole shows, and says where.
#ifndef TB_IO_SCENE_BUILD_H
#define TB_IO_SCENE_BUILD_H

#include "base/array.h"
#include "io/scene_format.h"
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
  tbArray geometry; // tbSceneGeometry: read from files so far
  tbArray origin;   // const tbJson*: where each body of the world stands in the file
} tbSceneBuild;

tbStatus tb_scene_bodies(tbSceneBuild* b); // scene_body.c
tbStatus tb_scene_joints(tbSceneBuild* b); // scene_joint.c

// The shapes of a body, in the arena; `moves`: it is a dynamic body. scene_shape.c
tbStatus tb_scene_shapes(tbSceneBuild* b, const tbSceneBody* body, bool moves, tbShape** out, int* count);

// The shape's or body's pose; absent parts are taken from *out. scene_part.c
tbStatus tb_scene_pose(tbContext* ctx, const tbJson* node, const tbScenePose* pose, tbTransform* out);
tbStatus tb_scene_friction(tbContext* ctx, const tbSceneFriction* friction, tbFriction* out);
// The material of that name; `key` says where the name stands in the node.
tbStatus tb_scene_material(tbSceneBuild* b, const tbJson* node, const char* key, const char* name,
                           tbMaterialId* out);

static inline bool tb_scene_given(const tbJson* node, const char* key) { return tb_json_find(node, key); }

// The key's value, or the object itself where the key is absent.
static inline const tbJson* tb_scene_place(const tbJson* node, const char* key)
{
  const tbJson* member = tb_json_find(node, key);
  return member ? member : node;
}

// Puts a place before what went wrong below the level of files; running out of memory has none.
tbStatus tb_scene_placed(tbContext* ctx, const tbJson* node, tbStatus status);

// Two keys of which only one may be given.
tbStatus tb_scene_exclude(tbContext* ctx, const tbJson* node, const char* key, const char* other);

#endif
