// SPDX-License-Identifier: Apache-2.0
// Shapes and poses as JSON, for what draws them: replays and the page.
#ifndef TB_IO_SCENE_SHAPE_JSON_H
#define TB_IO_SCENE_SHAPE_JSON_H

#include "base/json_write.h"
#include "tribo/geometry.h"

void tb_put_vec3(tbJsonWriter* w, const char* key, tbVec3 v);
void tb_put_pose(tbJsonWriter* w, tbTransform T); // "position" and "orientation" [w x y z]
// Type, sizes and pose; `mesh` is the number of the triangles of what has no sizes.
void tb_put_shape(tbJsonWriter* w, const tbShape* shape, int mesh);

#endif
