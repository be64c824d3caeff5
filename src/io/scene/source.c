// SPDX-License-Identifier: Apache-2.0
#include "io/scene/source.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

tbStatus tb_scene_source_read(tbContext* ctx, const char* path, tbSceneSource* out)
{
  *out = (tbSceneSource){0};
  const char* slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (!(out->folder = TB_NEW(ctx, char, length + 1))) return TB_ERROR_MEMORY;
  memcpy(out->folder, path, length);
  return tb_read_input(ctx, path, (size_t)TB_SCENE_FILE_GIB << 30, &out->bytes, &out->length);
}

void tb_scene_source_free(tbContext* ctx, tbSceneSource* source)
{
  tb_free(ctx, source->bytes);
  tb_free(ctx, source->folder);
}
