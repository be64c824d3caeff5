// SPDX-License-Identifier: Apache-2.0
// Values put in the place of a scene file's own, in its tree, before it is read.
#ifndef TB_IO_SCENE_SET_H
#define TB_IO_SCENE_SET_H

#include "base/json.h"

// "KEY=VALUE" each, in order (tribo/io.h says what they look like).
typedef struct tbSceneSettings {
  const char* const* at;
  int count;
} tbSceneSettings;

// *root becomes a tree with the values in it; what they leave alone is shared with the old one. Nodes of a
// value are named after the setting, so that what is wrong with it is said of `soft.*.young=-1:1:1`.
tbStatus tb_scene_set(tbContext* ctx, tbArena* arena, tbSceneSettings settings, const tbJson** root);

#endif
