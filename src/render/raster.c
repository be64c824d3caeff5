// SPDX-License-Identifier: Apache-2.0
#include "render/raster.h"

#include <math.h>

static int32_t min3(const int32_t v[3])
{
  int32_t m = v[0] < v[1] ? v[0] : v[1];
  return m < v[2] ? m : v[2];
}

static int32_t max3(const int32_t v[3])
{
  int32_t m = v[0] > v[1] ? v[0] : v[1];
  return m > v[2] ? m : v[2];
}

// Samples lie in the middle of their cells: the first at or behind a coordinate.
static int first_sample(int32_t x) { return (x + TB_RASTER_UNIT / 2 - 1) >> 8; }

int32_t tb_raster_grid(double x)
{
  double grid = floor(x * TB_RASTER_UNIT + 0.5);
  return grid > -TB_RASTER_FAR ? grid < TB_RASTER_FAR ? (int32_t)grid : TB_RASTER_FAR : -TB_RASTER_FAR;
}

int tb_raster_top(const tbScreenTriangle* t)
{
  int top = first_sample(min3(t->y));
  return top > 0 ? top : 0;
}

int tb_raster_bottom(const tbRaster* r, const tbScreenTriangle* t)
{
  int bottom = first_sample(max3(t->y) + 1);
  return bottom < r->height ? bottom : r->height;
}

static int64_t area_of(const tbScreenTriangle* t)
{
  int64_t bx = t->x[1] - (int64_t)t->x[0], by = t->y[1] - (int64_t)t->y[0];
  int64_t cx = t->x[2] - (int64_t)t->x[0], cy = t->y[2] - (int64_t)t->y[0];
  return bx * cy - by * cx;
}

bool tb_raster_accept(const tbRaster* r, tbScreenTriangle* t, bool both)
{
  int64_t area = area_of(t);
  if (area == 0 || (area < 0 && !both)) return false;
  if (area < 0) {
    int32_t x = t->x[1], y = t->y[1];
    float z = t->z[1];
    t->x[1] = t->x[2], t->y[1] = t->y[2], t->z[1] = t->z[2];
    t->x[2] = x, t->y[2] = y, t->z[2] = z;
  }
  int left = first_sample(min3(t->x)), right = first_sample(max3(t->x) + 1);
  return left < right && left < r->width && right > 0 && tb_raster_top(t) < tb_raster_bottom(r, t);
}

// Twice the area of the triangle of an edge and a point, counted down by one on edges that are the
// neighbour's.
typedef struct {
  int64_t at, right, down;
} Edge;

static Edge edge_of(int64_t ax, int64_t ay, int64_t bx, int64_t by, int64_t px, int64_t py)
{
  int64_t dx = bx - ax, dy = by - ay;
  bool ours = dy > 0 || (dy == 0 && dx > 0);
  return (Edge){dx * (py - ay) - dy * (px - ax) - !ours, -dy * TB_RASTER_UNIT, dx * TB_RASTER_UNIT};
}

void tb_raster_fill(const tbRaster* r, const tbScreenTriangle* t, int row_begin, int row_end)
{
  int left = first_sample(min3(t->x)), right = first_sample(max3(t->x) + 1);
  int top = tb_raster_top(t), bottom = tb_raster_bottom(r, t);
  left = left > 0 ? left : 0, right = right < r->width ? right : r->width;
  top = top > row_begin ? top : row_begin, bottom = bottom < row_end ? bottom : row_end;
  int64_t px = (int64_t)left * TB_RASTER_UNIT + TB_RASTER_UNIT / 2,
          py = (int64_t)top * TB_RASTER_UNIT + TB_RASTER_UNIT / 2;
  Edge e[3];
  for (int k = 0; k < 3; k++) {
    int n = (k + 1) % 3;
    e[k] = edge_of(t->x[k], t->y[k], t->x[n], t->y[n], px, py);
  }
  // z over the plane of the three corners
  double bx = t->x[1] - (double)t->x[0], by = t->y[1] - (double)t->y[0], bz = (double)t->z[1] - t->z[0];
  double cx = t->x[2] - (double)t->x[0], cy = t->y[2] - (double)t->y[0], cz = (double)t->z[2] - t->z[0];
  double scale = 1 / (bx * cy - by * cx), zx = (bz * cy - cz * by) * scale, zy = (cz * bx - bz * cx) * scale;
  for (int y = top; y < bottom; y++) {
    int64_t w0 = e[0].at, w1 = e[1].at, w2 = e[2].at;
    double z = t->z[0] + zx * (double)(px - t->x[0]) +
               zy * (double)((int64_t)y * TB_RASTER_UNIT + TB_RASTER_UNIT / 2 - t->y[0]);
    float* depth = r->depth + (int64_t)y * r->width;
    int* triangle = r->triangle ? r->triangle + (int64_t)y * r->width : 0;
    bool entered = false;
    for (int x = left; x < right; x++, w0 += e[0].right, w1 += e[1].right, w2 += e[2].right) {
      if ((w0 | w1 | w2) < 0) {
        if (entered) break;
        continue;
      }
      entered = true;
      float here = (float)(z + zx * TB_RASTER_UNIT * (x - left));
      if (!(here > depth[x])) continue;
      depth[x] = here;
      if (triangle) triangle[x] = t->triangle;
    }
    for (int k = 0; k < 3; k++) e[k].at += e[k].down;
  }
}
