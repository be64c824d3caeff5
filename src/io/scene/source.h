// SPDX-License-Identifier: Apache-2.0
// The bytes of a scene file, and the folder that names of files in it are relative to.
#ifndef TB_IO_SCENE_SOURCE_H
#define TB_IO_SCENE_SOURCE_H

#include "tribo/limits.h"
#include "tribo/base.h"

typedef struct tbSceneSource {
  char *bytes, *folder; // the folder with its slash; empty: this one
  size_t length;
} tbSceneSource;

tbStatus tb_scene_source_read(tbContext* ctx, const char* path, tbSceneSource* out);
void tb_scene_source_free(tbContext* ctx, tbSceneSource* source);

#endif
