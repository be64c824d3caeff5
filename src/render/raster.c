// SPDX-License-Identifier: Apache-2.0
#include "render/raster.h"

#include "base/simd_float.h"

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

// The samples of a row that lie inside of an edge: narrows begin … end to them. The quotient in doubles is a
// guess, the whole numbers decide.
static void narrow(const Edge* e, double inverse, int count, int* begin, int* end)
{
  double guess = (double)e->at * inverse;
  int x = guess > 0 ? guess < count ? (int)guess : count : 0;
  if (e->right > 0) {
    while (x > 0 && e->at + e->right * (x - 1) >= 0) x--;
    while (x < count && e->at + e->right * x < 0) x++;
    if (x > *begin) *begin = x;
  } else if (e->right < 0) {
    while (x > 0 && e->at + e->right * (x - 1) < 0) x--;
    while (x < count && e->at + e->right * x >= 0) x++;
    if (x < *end) *end = x;
  } else if (e->at < 0) *end = 0;
}

// Without branches, so that compilers take several samples at once.
static void fill_row(float* depth, int* triangle, int number, int begin, int end, double z, double step)
{
  for (int x = begin; x < end && !triangle; x++) {
    float here = (float)(z + step * x);
    depth[x] = here > depth[x] ? here : depth[x];
  }
  for (int x = begin; x < end && triangle; x++) {
    float here = (float)(z + step * x);
    bool front = here > depth[x];
    depth[x] = front ? here : depth[x];
    triangle[x] = front ? number : triangle[x];
  }
}

static void fill_rows(const tbRaster* r, Edge e[3], int number, int left, int right, int top, int bottom,
                      double z, double z_right, double z_down)
{
  double inverse[3];
  for (int k = 0; k < 3; k++) inverse[k] = e[k].right ? -1.0 / (double)e[k].right : 0;
  for (int y = top; y < bottom; y++) {
    int64_t at = (int64_t)y * r->width + left;
    int begin = 0, end = right - left;
    for (int k = 0; k < 3; k++) {
      narrow(&e[k], inverse[k], right - left, &begin, &end);
      e[k].at += e[k].down;
    }
    fill_row(r->depth + at, r->triangle ? r->triangle + at : 0, number, begin, end, z + z_down * (y - top),
             z_right);
  }
}

// Small triangles: every sample of a box around one is tried, eight at once. Edges go in units of a sample,
// which keeps their signs: steps are whole numbers of it, and within SMALL samples floats hold all of them.
enum { SMALL = 60 }; // samples from corner to corner

typedef struct {
  float at[3];             // the edges at the first sample of a row
  float right[3], down[3]; // to the next sample, and to the next row
  double z, z_right, z_down;
} Box;

static bool is_small(const tbRaster* r, const tbScreenTriangle* t, int count)
{
  return (count + TB_FLOATS - 1) / TB_FLOATS * TB_FLOATS <= r->width &&
         max3(t->x) - (int64_t)min3(t->x) <= SMALL * TB_RASTER_UNIT &&
         max3(t->y) - (int64_t)min3(t->y) <= SMALL * TB_RASTER_UNIT;
}

static Box box_of(const Edge e[3], double z, double z_right, double z_down)
{
  Box b = {.z = z, .z_right = z_right, .z_down = z_down};
  for (int k = 0; k < 3; k++) {
    b.at[k] = (float)(e[k].at >> 8);
    b.right[k] = (float)(e[k].right / TB_RASTER_UNIT), b.down[k] = (float)(e[k].down / TB_RASTER_UNIT);
  }
  return b;
}

// Eight columns of the box, row by row.
static void fill_columns(const tbRaster* r, const Box* b, int number, int64_t at, int x, int rows)
{
  const tb8f lane = tb8_load((const float[TB_FLOATS]){0, 1, 2, 3, 4, 5, 6, 7}), zero = tb8_set1(0);
  tb8f z_across = tb8_mul(tb8_set1((float)b->z_right), lane), edge[3], down[3];
  float z = (float)(b->z + b->z_right * x), z_down = (float)b->z_down;
  for (int k = 0; k < 3; k++) {
    edge[k] = tb8_add(tb8_set1(b->at[k] + b->right[k] * (float)x), tb8_mul(tb8_set1(b->right[k]), lane));
    down[k] = tb8_set1(b->down[k]);
  }
  for (int y = 0; y < rows; y++, at += r->width) {
    tb8f here = tb8_add(tb8_set1(z + z_down * (float)y), z_across), old = tb8_load(r->depth + at);
    tb8f inner = tb8_min(edge[0], tb8_min(edge[1], edge[2]));
    tb8f now = tb8_choose(zero, inner, old, tb8_max(here, old));
    for (int k = 0; k < 3; k++) edge[k] = tb8_add(edge[k], down[k]);
    tb8_store(r->depth + at, now);
    if (!r->triangle || !tb8_any_above(now, old)) continue;
    float before[TB_FLOATS], after[TB_FLOATS];
    tb8_store(before, old), tb8_store(after, now);
    for (int i = 0; i < TB_FLOATS; i++)
      if (after[i] > before[i]) r->triangle[at + i] = number;
  }
}

void tb_raster_fill(const tbRaster* r, const tbScreenTriangle* t, int row_begin, int row_end)
{
  int left = first_sample(min3(t->x)), right = first_sample(max3(t->x) + 1);
  int top = tb_raster_top(t), bottom = tb_raster_bottom(r, t);
  left = left > 0 ? left : 0, right = right < r->width ? right : r->width;
  top = top > row_begin ? top : row_begin, bottom = bottom < row_end ? bottom : row_end;
  bool small = is_small(r, t, right - left);
  int count = (right - left + TB_FLOATS - 1) / TB_FLOATS * TB_FLOATS;
  if (small && left > r->width - count) left = r->width - count; // what is beside it is tried in vain
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
  double z = t->z[0] + zx * (double)(px - t->x[0]) + zy * (double)(py - t->y[0]);
  zx *= TB_RASTER_UNIT, zy *= TB_RASTER_UNIT;
  Box box = box_of(e, z, zx, zy);
  for (int x = 0; small && x < count; x += TB_FLOATS)
    fill_columns(r, &box, t->triangle, (int64_t)top * r->width + left + x, x, bottom - top);
  if (!small) fill_rows(r, e, t->triangle, left, right, top, bottom, z, zx, zy);
}
