// SPDX-License-Identifier: Apache-2.0
// Sheets to order: a rectangle of cells cut along alternating diagonals, and a tube of rows of triangles.
#include "fem/body.h"

#include <string.h>

static tbStatus check_length(tbContext* ctx, const char* what, double value)
{
  if (isfinite(value) && value > 0) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "the %s of a cloth is %g; it must be positive", what, value);
}

static tbStatus check_cells(tbContext* ctx, int across, int along, int least)
{
  if (across >= least && along >= 1 && (double)across * along <= TB_TET_CELLS_MAX) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "a cloth of %d × %d cells", across, along);
}

// Frees both arrays, whatever the status.
static tbStatus finish(tbContext* ctx, tbStatus status, tbVec3* vertex, int nvertex, int (*triangle)[3],
                       int ntriangle, tbMesh** out)
{
  if (status == TB_OK) status = tb_mesh_create(ctx, vertex, nvertex, triangle[0], ntriangle, out);
  tb_free(ctx, vertex);
  tb_free(ctx, triangle);
  return status;
}

tbStatus tb_cloth_grid(tbContext* ctx, double width, double height, int across, int along, tbMesh** out)
{
  *out = NULL;
  TB_TRY(check_length(ctx, "width", width));
  TB_TRY(check_length(ctx, "height", height));
  TB_TRY(check_cells(ctx, across, along, 1));
  int columns = across + 1, nvertex = columns * (along + 1), ntriangle = 2 * across * along;
  tbVec3* vertex = TB_NEW(ctx, tbVec3, (size_t)nvertex);
  int(*triangle)[3] = tb_alloc(ctx, (size_t)ntriangle, sizeof *triangle);
  tbStatus status = vertex && triangle ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < nvertex; i++) {
    int x = 2 * (i % columns) - across, y = 2 * (i / columns) - along;
    vertex[i] = tb_vec3(0.5 * width * x / across, 0.5 * height * y / along, 0);
  }
  for (int c = 0; status == TB_OK && c < across * along; c++) {
    int x = c % across, y = c / across, a = y * columns + x, b = a + 1, d = a + columns, e = d + 1;
    const int rising[6] = {a, b, e, a, e, d}, falling[6] = {a, b, d, b, e, d};
    memcpy(triangle[2 * c], (x + y) % 2 ? falling : rising, sizeof rising);
  }
  return finish(ctx, status, vertex, nvertex, triangle, ntriangle, out);
}

// Every other row is turned by half a cell, so that triangles are about equilateral where cells are.
static tbVec3 tube_vertex(double top, double bottom, double length, int around, int along, int i)
{
  int row = i / around;
  double down = (double)row / along, radius = top + (bottom - top) * down, sine, cosine;
  tb_sin_cos(2 * TB_PI * (i % around + 0.5 * (row % 2)) / around, &sine, &cosine);
  return tb_vec3(radius * cosine, radius * sine, length * (0.5 - down));
}

tbStatus tb_cloth_tube(tbContext* ctx, double top, double bottom, double length, int around, int along,
                       tbMesh** out)
{
  *out = NULL;
  TB_TRY(check_length(ctx, "upper radius", top));
  TB_TRY(check_length(ctx, "lower radius", bottom));
  TB_TRY(check_length(ctx, "length", length));
  TB_TRY(check_cells(ctx, around, along, 3));
  int nvertex = around * (along + 1), ntriangle = 2 * around * along, n = 0;
  tbVec3* vertex = TB_NEW(ctx, tbVec3, (size_t)nvertex);
  int(*triangle)[3] = tb_alloc(ctx, (size_t)ntriangle, sizeof *triangle);
  tbStatus status = vertex && triangle ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < nvertex; i++)
    vertex[i] = tube_vertex(top, bottom, length, around, along, i);
  for (int c = 0; status == TB_OK && c < around * along; c++, n += 2) {
    int row = c / around, k = c % around, a = c, b = row * around + (k + 1) % around;
    int d = a + around, e = b + around;
    const int even[6] = {a, d, b, b, d, e}, odd[6] = {a, d, e, a, e, b};
    memcpy(triangle[n], row % 2 ? odd : even, sizeof even);
  }
  return finish(ctx, status, vertex, nvertex, triangle, ntriangle, out);
}
