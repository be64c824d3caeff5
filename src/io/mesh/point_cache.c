// SPDX-License-Identifier: Apache-2.0
// Point caches: 32 bytes of header, then the samples' points, x, y and z in single precision, little-endian.
#include "base/file.h"
#include "io/replay/open.h"
#include "tribo/limits.h"

#include <string.h>

enum { HEADER = 32, POINT = 12 };

static tbStatus read(tbContext* ctx, const char* path, const unsigned char* bytes, size_t length,
                     tbVec3 scale, tbPointCache* out)
{
  if (length < HEADER || memcmp(bytes, "POINTCACHE2", 12) != 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: no point cache (PC2)", path);
  uint64_t points = tb_get_u32(bytes + 16), samples = tb_get_u32(bytes + 28);
  if (tb_get_u32(bytes + 12) != 1)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: a point cache of an unknown version", path);
  if (points == 0 || samples == 0 || points > INT32_MAX || samples > INT32_MAX)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: a point cache without points", path);
  if (points > (length - HEADER) / POINT / samples)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: the file ends before the last of its %llu samples", path,
                   (unsigned long long)samples);
  size_t count = (size_t)(points * samples);
  tbVec3* at = TB_NEW(ctx, tbVec3, count);
  if (!at) return TB_ERROR_MEMORY;
  *out = (tbPointCache){(int)points, (int)samples, at};
  for (size_t i = 0; i < count; i++) {
    at[i] = tb_mul3(scale, tb_get_f32x3(bytes + HEADER + POINT * i));
    if (!tb_finite3(at[i]) || tb_maxabs3(at[i]) >= 1e30)
      return tb_fail(ctx, TB_ERROR_INPUT, "%s: point %zu of sample %zu is not finite, or beyond 1e30", path,
                     i % (size_t)points, i / (size_t)points);
  }
  return TB_OK;
}

tbStatus tb_point_cache_load(tbContext* ctx, const char* path, tbVec3 scale, tbPointCache* out)
{
  char* bytes = NULL;
  size_t length = 0;
  *out = (tbPointCache){0};
  TB_TRY(tb_read_file(ctx, path, (size_t)TB_MESH_FILE_GIB << 30, &bytes, &length));
  tbPointCache cache = {0};
  tbStatus status = read(ctx, path, (const unsigned char*)bytes, length, scale, &cache);
  tb_free(ctx, bytes);
  if (status == TB_OK) *out = cache;
  else tb_point_cache_free(ctx, &cache);
  return status;
}

void tb_point_cache_free(tbContext* ctx, tbPointCache* cache)
{
  tb_free(ctx, cache->points);
  *cache = (tbPointCache){0};
}
