// SPDX-License-Identifier: Apache-2.0
// Through libpng, from Debian or elsewhere, where the build has found it.
#include "io/scene/normal_map.h"

#include "base/memory.h"

#ifdef TB_HAVE_PNG
#include "tribo/limits.h"
#include "tribo/tools/file.h"

#include <png.h>

#include <string.h>

enum { MOST = 1 << 14 }; // pixels either way

// libpng's bytes, three to a pixel: −1 … 1 as 0 … 255. Zero is 127.5, so that a flat pixel (128, 128, 255) is
// off by half a step; it counts as flat.
static double component(png_byte byte) { return byte == 127 || byte == 128 ? 0 : byte / 127.5 - 1; }

static tbStatus add_normals(tbContext* ctx, tbWorld* world, const png_image* image, const png_byte* bytes,
                            int* out)
{
  size_t count = (size_t)image->width * image->height;
  tbVec3* normal = TB_NEW(ctx, tbVec3, count);
  if (!normal) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++)
    normal[i] = tb_vec3(component(bytes[3 * i]), component(bytes[3 * i + 1]), component(bytes[3 * i + 2]));
  tbStatus status = tb_world_add_texture(ctx, world, (int)image->width, (int)image->height, normal, out);
  tb_free(ctx, normal);
  return status;
}

static tbStatus add_directions(tbContext* ctx, tbWorld* world, const png_image* image, const png_byte* bytes,
                               int* out)
{
  size_t count = (size_t)image->width * image->height;
  double* direction = TB_NEW(ctx, double, 2 * count);
  if (!direction) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < 2 * count; i++) direction[i] = component(bytes[3 * (i / 2) + i % 2]);
  tbStatus status =
      tb_world_add_direction_map(ctx, world, (int)image->width, (int)image->height, direction, out);
  tb_free(ctx, direction);
  return status;
}

typedef tbStatus Add(tbContext* ctx, tbWorld* world, const png_image* image, const png_byte* bytes, int* out);

static tbStatus read(tbContext* ctx, tbWorld* world, const char* path, const char* file, size_t length,
                     png_image* image, Add* add, int* out)
{
  if (!png_image_begin_read_from_memory(image, file, length))
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: %s", path, image->message);
  if (image->width > MOST || image->height > MOST)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: a map has at most %d pixels either way", path, MOST);
  image->format = PNG_FORMAT_RGB;
  png_byte* bytes = TB_NEW(ctx, png_byte, 3 * (size_t)image->width * image->height);
  tbStatus status = bytes ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK && !png_image_finish_read(image, NULL, bytes, 0, NULL))
    status = tb_fail(ctx, TB_ERROR_INPUT, "%s: %s", path, image->message);
  if (status == TB_OK) status = add(ctx, world, image, bytes, out);
  tb_free(ctx, bytes);
  return status;
}

static tbStatus load(tbContext* ctx, tbWorld* world, const char* path, Add* add, int* out)
{
  png_image image;
  char* file;
  size_t length;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  TB_TRY(tb_read_file(ctx, path, (size_t)TB_MESH_FILE_GIB << 30, &file, &length));
  tbStatus status = read(ctx, world, path, file, length, &image, add, out);
  png_image_free(&image);
  tb_free(ctx, file);
  return status;
}

tbStatus tb_normal_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture)
{
  return load(ctx, world, path, add_normals, texture);
}

tbStatus tb_direction_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture)
{
  return load(ctx, world, path, add_directions, texture);
}

#else

tbStatus tb_normal_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture)
{
  (void)world, (void)texture;
  return tb_fail(ctx, TB_ERROR_INPUT, "%s: this build has no libpng to read normal maps with", path);
}

tbStatus tb_direction_map_load(tbContext* ctx, tbWorld* world, const char* path, int* texture)
{
  return tb_normal_map_load(ctx, world, path, texture);
}

#endif
