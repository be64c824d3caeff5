// SPDX-License-Identifier: Apache-2.0
// Texture friction (Andrews et al. 2021; course §6.3): the plowing coefficients of a normal map.
//
// A facet with unit normal m, at the angle θ from the surface's normal, resists moving along d by
//
//   μ_d = max(0, m'·d) (2/π) θ,   m' its part in the surface                                     (335)
//
// and the surface by the mean over its facets: all of them, or those in a square about the contact. A map of
// directions is kept as one of facets that lie along them and resist nothing.
#include "scene/world.h"

#include <math.h>

static tbFacet facet_of(tbVec3 m)
{
  double share = 2 / TB_PI * tb_atan2(sqrt(m.x * m.x + m.y * m.y), m.z);
  return (tbFacet){share * m.x, share * m.y};
}

// Pixels of one axis that lie between lo and hi, in pixels, and how much of them does: all, or, where these
// are many, evenly spaced samples.
enum { MOST_PIXELS = 64 };
typedef struct {
  int count, pixel[MOST_PIXELS + 1];
  double share[MOST_PIXELS + 1];
} Span;

static int wrap(double x, int n)
{
  double rest = x - n * floor(x / n);
  return rest > 0 ? (int)rest % n : 0; // also of what is not finite
}

static Span span_of(double lo, double hi, int n)
{
  Span out = {0};
  double first = floor(lo), width = hi - lo;
  if (width > MOST_PIXELS - 1) {
    for (; out.count < MOST_PIXELS; out.count++) {
      out.pixel[out.count] = wrap(floor(lo + (out.count + 0.5) / MOST_PIXELS * width), n);
      out.share[out.count] = 1.0 / MOST_PIXELS;
    }
    return out;
  }
  for (double x = first; x < hi && out.count <= MOST_PIXELS; x++) {
    double inside = fmin(x + 1, hi) - fmax(x, lo);
    out.pixel[out.count] = wrap(x, n), out.share[out.count++] = inside / width;
  }
  return out;
}

double tb_texture_plow(const tbTexturePatch* p, double x, double y)
{
  int w = p->texture->width, h = p->texture->height;
  Span column = span_of((p->at[0] - p->half[0]) * w, (p->at[0] + p->half[0]) * w, w),
       row = span_of((p->at[1] - p->half[1]) * h, (p->at[1] + p->half[1]) * h, h);
  const tbFacet* facet = p->facet + p->texture->first;
  double sum = 0;
  for (int j = 0; j < row.count; j++)
    for (int i = 0; i < column.count; i++) {
      const tbFacet* g = &facet[(size_t)row.pixel[j] * (size_t)w + (size_t)column.pixel[i]];
      sum += row.share[j] * column.share[i] * fmax(0, g->x * x + g->y * y);
    }
  return sum;
}

// Between the middles of four pixels, as lines: the axis of largest Σ w d dᵀ, on the side of Σ w d.
void tb_texture_direction(const tbTexture* map, const tbFacet* facet, const double at[2], double direction[2])
{
  const double x = at[0] * map->width - 0.5, y = at[1] * map->height - 0.5, left = floor(x), top = floor(y);
  double line[2] = {0}, sum[2] = {0}, c, s;
  for (int k = 0; k < 4; k++) {
    int i = k % 2, j = k / 2;
    double weight = (i ? x - left : left + 1 - x) * (j ? y - top : top + 1 - y);
    const tbFacet* g = &facet[map->first + (size_t)wrap(top + j, map->height) * (size_t)map->width +
                              (size_t)wrap(left + i, map->width)];
    line[0] += weight * (g->x * g->x - g->y * g->y), line[1] += 2 * weight * g->x * g->y;
    sum[0] += weight * g->x, sum[1] += weight * g->y;
  }
  tb_sin_cos(0.5 * tb_atan2(line[1], line[0]), &s, &c);
  double side = c * sum[0] + s * sum[1] < 0 ? -1 : 1;
  direction[0] = side * c, direction[1] = side * s;
}

static void add_facet(tbVec3 m, double share, tbTexture* out)
{
  double flat = sqrt(m.x * m.x + m.y * m.y), theta = tb_atan2(flat, m.z);
  for (int i = 0; i < TB_PLOW_DIRECTIONS && flat > 0; i++) {
    double c, s;
    tb_sin_cos(2 * TB_PI * i / TB_PLOW_DIRECTIONS, &s, &c);
    out->plow[i] += share * fmax(0, m.x * c + m.y * s) * (2 / TB_PI) * theta;
  }
}

tbStatus tb_world_add_texture(tbContext* ctx, tbWorld* w, int width, int height, const tbVec3* normals,
                              int* out)
{
  if (width < 1 || height < 1 || width > 1 << 15 || height > 1 << 15)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a texture has 1 to 32768 pixels either way");
  tbTexture t = {.width = width, .height = height, .first = w->facet.count};
  int count = width * height;
  TB_TRY(tb_array_push(ctx, &w->facet, NULL, (size_t)count));
  tbFacet* facet = (tbFacet*)w->facet.data + t.first;
  w->facet.count = t.first; // until it is known to be good
  for (int i = 0; i < count; i++) {
    double size = tb_norm3(normals[i]);
    if (!(size > 0) || !isfinite(size) || !(normals[i].z > 0))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "pixel %d, %d of a normal map does not point out of the surface",
                     i % width, i / width);
    add_facet(tb_scale3(1 / size, normals[i]), 1.0 / count, &t);
    facet[i] = facet_of(tb_scale3(1 / size, normals[i]));
  }
  TB_TRY(tb_array_push(ctx, &w->texture, &t, 1));
  w->facet.count += (size_t)count;
  *out = (int)w->texture.count;
  return TB_OK;
}

tbStatus tb_world_add_direction_map(tbContext* ctx, tbWorld* w, int width, int height,
                                    const double* directions, int* out)
{
  if (width < 1 || height < 1 || width > 1 << 15 || height > 1 << 15)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a map of directions has 1 to 32768 pixels either way");
  tbTexture t = {.width = width, .height = height, .first = w->facet.count};
  size_t count = (size_t)width * (size_t)height;
  TB_TRY(tb_array_push(ctx, &w->facet, NULL, count));
  tbFacet* facet = (tbFacet*)w->facet.data + t.first;
  w->facet.count = t.first; // until it is known to be good
  for (size_t i = 0; i < count; i++) {
    const double *d = directions + 2 * i, size = sqrt(d[0] * d[0] + d[1] * d[1]);
    if (!(size > 0) || !isfinite(size))
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "pixel %d, %d of a map of directions has a direction of length 0",
                     (int)(i % (size_t)width), (int)(i / (size_t)width));
    facet[i] = (tbFacet){d[0] / size, d[1] / size};
  }
  TB_TRY(tb_array_push(ctx, &w->texture, &t, 1));
  w->facet.count += count;
  *out = (int)w->texture.count;
  return TB_OK;
}
