// SPDX-License-Identifier: Apache-2.0
// Shapes, poses and joints as JSON, for what draws them: replays and the page.
#ifndef TRIBO_TOOLS_SCENE_JSON_H
#define TRIBO_TOOLS_SCENE_JSON_H

#include "tribo/scene.h"
#include "tribo/tools/json_write.h"

TB_API_BEGIN

void tb_put_vec3(tbJsonWriter* w, const char* key, tbVec3 v);
void tb_put_pose(tbJsonWriter* w, tbTransform T); // "position" and "orientation" [w x y z]
// Type, sizes and pose; `mesh` is the number of the triangles of what has no sizes.
void tb_put_shape(tbJsonWriter* w, const tbShape* shape, int mesh);
// "joints": [{"type", "a", "b", "anchor_a", "anchor_b", "axis", "limits"}]. a and b: numbers of bodies; −1:
// the world. Each anchor in the frame of its body, the axis of a hinge or slider in that of a; limits where
// it has any that are finite, null for none on a side.
void tb_put_joints(tbJsonWriter* w, const tbWorld* world);

TB_API_END
#endif
