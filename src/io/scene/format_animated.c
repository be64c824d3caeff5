// SPDX-License-Identifier: Apache-2.0
// The table of the scene format, continued: meshes that go where they are told.
#include "io/scene/table.h"
#include "tribo/scene.h"

// clang-format off
static const tbKey frame_keys[] = {
    {"t", TB_KEY_NUMBER, AT(AnimatedFrame, t), ANY, .required = true, .text = "time, s; increasing"},
    {"vertices", TB_KEY_POINTS, AT(AnimatedFrame, vertices), ANY, 3, 100000000,
     .text = "[x, y, z] of all vertices of the mesh, in their order, m"},
    {"file", TB_KEY_STRING, AT(AnimatedFrame, file),
     .text = "or a mesh file with these vertices; relative to the scene file"},
};
static const tbRecord frame_record = {
    "animated_frame", "Where the vertices of a mesh are at a time.", RECORD(AnimatedFrame, NULL, frame_keys)};

static const tbKey cache_keys[] = {
    {"file", TB_KEY_STRING, AT(PointCache, file), .required = true,
     .text = "a point cache (.pc2) of the mesh's vertices; relative to the scene file"},
    {"start", TB_KEY_NUMBER, AT(PointCache, start), ANY, .shown = true, .text = "time of the first sample, s"},
    {"fps", TB_KEY_NUMBER, AT(PointCache, fps), POSITIVE, .required = true, .text = "samples a second"},
};
static const tbRecord cache_record = {
    "point_cache", "Frames from a file, evenly in time.", RECORD(PointCache, NULL, cache_keys)};

static void init_animated(void* out)
{
  tbSceneAnimated* a = out;
  tbAnimatedDef d = tb_default_animated_def();
  a->pose.orientation[0] = 1;
  a->category = d.category, a->mask = d.mask;
  for (int i = 0; i < 3; i++) a->scale[i] = 1;
}

static const tbKey animated_keys[] = {
    {"name", TB_KEY_STRING, AT(Animated, name), .text = "unique among all bodies; absent: body/INDEX"},
    {"mesh", TB_KEY_RECORD, AT(Animated, mesh), .record = &tb_sheet_record, .required = true,
     .text = "its triangles; vertices are those of the file, in their order"},
    {"frames", TB_KEY_RECORDS, AT(Animated, frames), .record = &frame_record,
     .text = "where its vertices are at times: on straight lines between them, at rest before and after"},
    {"cache", TB_KEY_RECORD, AT(Animated, cache), .record = &cache_record, .text = "or frames from a file"},
    {"scale", TB_KEY_NUMBERS, AT(Animated, scale), POSITIVE, 3, 3, .spread = true, .shown = true,
     .text = "of the coordinates of mesh and frames; one number for all three axes"},
    {"thickness", TB_KEY_NUMBER, AT(Animated, thickness), NONNEGATIVE, .shown = true,
     .text = "others keep half of it from the triangles, m"},
    POSE_KEYS(Animated, "of the mesh's origin"),
    {"kinematic", TB_KEY_RECORD, AT(Animated, kinematic), .record = &tb_motion_record,
     .text = "the motion of that frame, beside that of the vertices in it"},
    {"material", TB_KEY_STRING, AT(Animated, material), .text = "absent: friction 0.5"},
    {"friction", TB_KEY_RECORD, AT(Animated, friction), .record = &tb_friction_record,
     .text = "instead of the material's"},
    {"category", TB_KEY_INT64, AT(Animated, category), BITS, .shown = true, .text = TB_CATEGORY_TEXT},
    {"mask", TB_KEY_INT64, AT(Animated, mask), BITS, .shown = true, .text = TB_MASK_TEXT},
};

const tbRecord tb_animated_record = {
    "animated", "A mesh that goes where it is told, vertex by vertex: an obstacle that nothing moves, under schemes that move deformables.",
    RECORD(Animated, init_animated, animated_keys)};
// clang-format on
