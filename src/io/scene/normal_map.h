// SPDX-License-Identifier: Apache-2.0
// Images of surfaces, from PNG files.
#ifndef TB_IO_SCENE_NORMAL_MAP_H
#define TB_IO_SCENE_NORMAL_MAP_H

#include "tribo/scene.h"

// Adds a map of normals, or of directions (red and green alone), to the world's textures. Without libpng an
// error that says so.
tbStatus tb_normal_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture);
tbStatus tb_direction_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture);

#endif
