// SPDX-License-Identifier: Apache-2.0
// Joints as JSON, for what draws them: replays and the page.
#ifndef TB_IO_SCENE_JOINT_JSON_H
#define TB_IO_SCENE_JOINT_JSON_H

#include "base/json_write.h"
#include "tribo/scene.h"

// "joints": [{"type", "a", "b", "anchor_a", "anchor_b", "axis", "limits"}]. a and b: numbers of bodies; −1:
// the world. Each anchor in the frame of its body, the axis of a hinge or slider in that of a; limits where
// it has any that are finite, null for none on a side.
void tb_put_joints(tbJsonWriter* w, const tbWorld* world);

#endif
