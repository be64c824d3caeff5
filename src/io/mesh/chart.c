// SPDX-License-Identifier: Apache-2.0
// Texture coordinates of an OBJ file.
#include "base/file.h"
#include "base/memory.h"
#include "io/mesh/mesh_io.h"
#include "io/problem/problem_io.h"

// Corner by corner, as tb_world_add_chart takes them.
static tbStatus spread(tbContext* ctx, tbWorld* world, const tbSoup* soup, tbVec3 scale, int* out)
{
  size_t count = soup->triangle.count;
  const int *vertex = soup->triangle.data, *place = soup->corner_coordinate.data;
  const double* uv = soup->coordinate.data;
  tbVec3* corner = TB_NEW(ctx, tbVec3, count);
  double* coordinate = TB_NEW(ctx, double, 2 * count);
  tbStatus status = corner && coordinate ? TB_OK : TB_ERROR_MEMORY;
  for (size_t i = 0; i < count && status == TB_OK; i++) {
    corner[i] = tb_mul3(scale, ((const tbVec3*)soup->vertex.data)[vertex[i]]);
    for (int k = 0; k < 2; k++) coordinate[2 * i + (size_t)k] = uv[2 * place[i] + k];
  }
  if (status == TB_OK) status = tb_world_add_chart(ctx, world, (int)(count / 3), corner, coordinate, out);
  tb_free(ctx, corner);
  tb_free(ctx, coordinate);
  return status;
}

tbStatus tb_chart_load(tbContext* ctx, const char* path, tbVec3 scale, tbWorld* world, int* out)
{
  tbSoup soup = tb_soup_empty();
  char* bytes = NULL;
  size_t length = 0;
  if (!(tb_maxabs3(scale) < INFINITY) || scale.x * scale.y * scale.z == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: the scale is (%g, %g, %g); it must be finite and not zero",
                   path, scale.x, scale.y, scale.z);
  TB_TRY(tb_read_file(ctx, path, (size_t)TB_MESH_FILE_GIB << 30, &bytes, &length));
  tbStatus status = tb_soup_parse_charted(ctx, path, bytes, length, &soup);
  if (status == TB_OK) status = spread(ctx, world, &soup, scale, out);
  if (status == TB_ERROR_ARGUMENT) status = tb_fail_in(ctx, path, TB_ERROR_INPUT);
  tb_free(ctx, bytes);
  tb_soup_free(ctx, &soup);
  return status;
}
