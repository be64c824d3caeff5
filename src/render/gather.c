// SPDX-License-Identifier: Apache-2.0
// Which surfaces a pixel shows, and how much of each. Samples beside another body, or beyond an edge, are a
// little darker, which draws the outlines of bodies and the edges of boxes finer than a pixel.
#include "render/shade.h"

static const double same_face = 0.9, sharp_edge = 0.8; // cosines
static const double outline = 0.42;                    // how much darker

static tbFace face_of(const tbStage* s, int triangle)
{
  if (triangle < 0) return (tbFace){.surface = TB_NO_SURFACE, .triangle = TB_NO_SURFACE};
  const tbFacet* f = &s->facet[triangle];
  return (tbFace){s->subject->instance[f->instance].body, f->normal, triangle};
}

// Sample by sample.

static int sample_at(const tbStage* s, int x, int y)
{
  bool inside = x >= 0 && y >= 0 && x < s->raster.width && y < s->raster.height;
  return inside ? s->raster.triangle[(int64_t)y * s->raster.width + x] : INT32_MIN;
}

static bool is_edge(const tbStage* s, const tbFace* a, int other)
{
  if (other == a->triangle || other == INT32_MIN) return false;
  if (other < 0) return true;
  tbFace b = face_of(s, other);
  return b.surface != a->surface || tb_dot3(b.normal, a->normal) < sharp_edge;
}

static bool on_edge(const tbStage* s, const tbFace* a, int x, int y)
{
  return is_edge(s, a, sample_at(s, x + 1, y)) || is_edge(s, a, sample_at(s, x, y + 1)) ||
         is_edge(s, a, sample_at(s, x - 1, y)) || is_edge(s, a, sample_at(s, x, y - 1));
}

// The plane that is in front of `depth` at a place in the picture.
static int plane_at(const tbStage* s, double x, double y, double* depth)
{
  int found = TB_NO_SURFACE;
  for (int k = 0; k < s->subject->nplane; k++) {
    const tbScreenPlane* p = &s->plane[k];
    double here = tb_linear_at(&p->inverse, x, y);
    if (!p->shown || !(here * (1 - 3e-4) > *depth)) continue; // what lies on it is in front of it
    *depth = here;
    found = TB_FIRST_PLANE - k;
  }
  return found;
}

// Whether the plane that the middle of some pixels across shows is alone in all of them.
static bool alone(const tbStage* s, double x, double y, int pixels, int surface, double front)
{
  double low = surface == TB_NO_SURFACE ? 0 : front - pixels * s->plane[TB_FIRST_PLANE - surface].sway;
  for (int k = 0; k < s->subject->nplane; k++) {
    const tbScreenPlane* p = &s->plane[k];
    if (p->shown && surface != TB_FIRST_PLANE - k &&
        !(tb_linear_at(&p->inverse, x, y) + pixels * p->sway < (1 - 1e-3) * low))
      return false;
  }
  return surface == TB_NO_SURFACE || low > 0;
}

// A pixel without triangles, and with one plane alone or none; false: something else is in it.
static inline bool gather_empty(const tbStage* s, int px, int py, int n, tbFaceGroup* group, float* nearest)
{
  for (int j = 0; j < n; j++) {
    const int* triangle = s->raster.triangle + (int64_t)(py * n + j) * s->raster.width + px * n;
    for (int i = 0; i < n; i++)
      if (triangle[i] >= 0) return false;
  }
  double x = px + 0.5, y = py + 0.5, depth = 0;
  int surface = plane_at(s, x, y, &depth);
  if (!alone(s, x, y, 1, surface, depth)) return false;
  *nearest = surface == TB_NO_SURFACE ? 0 : (float)(depth + s->plane[TB_FIRST_PLANE - surface].sway);
  group[0] = (tbFaceGroup){{.surface = surface, .triangle = TB_NO_SURFACE}, x, y, 1};
  return true;
}

// A pixel in which all samples, and those around them, show the same triangle; false: they do not.
static inline bool gather_whole(const tbStage* s, int px, int py, int n, tbFaceGroup* group, float* nearest)
{
  int left = px * n, top = py * n, width = s->raster.width;
  if (left == 0 || top == 0 || left + n >= width || top + n >= s->raster.height) return false;
  const int64_t corner = (int64_t)top * width + left;
  int triangle = s->raster.triangle[corner], other = 0;
  if (triangle < 0) return false;
  for (int j = -1; j <= n; j++)
    for (int i = -1; i <= n; i++) other |= s->raster.triangle[corner + (int64_t)j * width + i] ^ triangle;
  if (other) return false;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      float here = s->raster.depth[corner + (int64_t)j * width + i];
      double depth = (double)here;
      if (plane_at(s, s->at[left + i], s->at[top + j], &depth) != TB_NO_SURFACE) return false;
      *nearest = here > *nearest ? here : *nearest;
    }
  group[0] = (tbFaceGroup){face_of(s, triangle), s->at[left], s->at[top], 1};
  return true;
}

static inline int gather_pixel(const tbStage* s, int px, int py, int n, tbFaceGroup* group, float* nearest)
{
  if (gather_empty(s, px, py, n, group, nearest) || gather_whole(s, px, py, n, group, nearest)) return 1;
  *nearest = 0;
  int count = 0;
  double share = 1.0 / (n * n);
  tbFace last = {.surface = TB_NO_SURFACE, .triangle = TB_NO_SURFACE};
  for (int i = 0; i < n * n; i++) {
    int sx = px * n + i % n, sy = py * n + i / n;
    double x = s->at[sx], y = s->at[sy];
    int triangle = sample_at(s, sx, sy);
    double depth = (double)s->raster.depth[(int64_t)sy * s->raster.width + sx];
    if (triangle != last.triangle) last = face_of(s, triangle);
    tbFace face = last;
    int plane = plane_at(s, x, y, &depth);
    if (plane != TB_NO_SURFACE) face = (tbFace){.surface = plane, .triangle = TB_NO_SURFACE};
    *nearest = (float)depth > *nearest ? (float)depth : *nearest;
    double weight = face.surface >= 0 && on_edge(s, &face, sx, sy) ? share * (1 - outline) : share;
    int g = 0;
    while (g < count && !(group[g].face.surface == face.surface &&
                          (face.surface < 0 || tb_dot3(group[g].face.normal, face.normal) > same_face)))
      g++;
    if (g == count) group[count++] = (tbFaceGroup){face, x, y, 0};
    group[g].weight += weight;
  }
  return count;
}

// With the usual number of samples known, so that loops over them have a fixed length.
int tb_gather_pixel(const tbStage* s, int px, int py, tbFaceGroup group[TB_SHADE_GROUPS], float* nearest)
{
  if (s->samples == 2) return gather_pixel(s, px, py, 2, group, nearest);
  return gather_pixel(s, px, py, s->samples, group, nearest);
}

// Whether all samples of a square show what its first one shows.
static inline bool shows_one(const tbStage* s, int left, int top, int across)
{
  const int* row = s->raster.triangle + (int64_t)top * s->raster.width + left;
  int first = row[0];
  for (int j = 0; j < across; j++, row += s->raster.width) {
    int other = 0;
    for (int i = 0; i < across; i++) other |= row[i] ^ first;
    if (other) return false;
  }
  return true;
}

// The nearest samples of its pixels.
static inline void nearest_of(const tbStage* s, int left, int top, int samples, int square, float* nearest)
{
  for (int i = 0; i < square * square; i++) nearest[i] = 0;
  for (int j = 0; j < samples * square; j++) {
    const float* row = s->raster.depth + (int64_t)(top + j) * s->raster.width + left;
    float* pixel = nearest + j / samples * square;
    for (int i = 0; i < samples * square; i++)
      pixel[i / samples] = row[i] > pixel[i / samples] ? row[i] : pixel[i / samples];
  }
}

// Whether a plane is in front of a triangle in a square: 1/distance is linear in both, its corners decide.
static bool behind_plane(const tbStage* s, int left, int top, int across)
{
  for (int i = 0; i < 4 && s->subject->nplane; i++) {
    int x = left + (i & 1 ? across - 1 : 0), y = top + (i & 2 ? across - 1 : 0);
    double depth = (double)s->raster.depth[(int64_t)y * s->raster.width + x];
    if (plane_at(s, s->at[x], s->at[y], &depth) != TB_NO_SURFACE) return true;
  }
  return false;
}

static inline bool gather_square(const tbStage* s, int x, int y, int n, int square, tbFace* out,
                                 float* nearest)
{
  int left = x * n, top = y * n, across = n * square;
  bool inside = left > 0 && top > 0 && left + across < s->raster.width && top + across < s->raster.height;
  if (!inside || !shows_one(s, left, top, across)) return false;
  int triangle = s->raster.triangle[(int64_t)top * s->raster.width + left];
  if (triangle >= 0) {
    if (!shows_one(s, left - 1, top - 1, across + 2) || behind_plane(s, left, top, across)) return false;
    *out = face_of(s, triangle);
    nearest_of(s, left, top, n, square, nearest);
    return true;
  }
  double middle_x = x + 0.5 * square, middle_y = y + 0.5 * square, depth = 0;
  int plane = plane_at(s, middle_x, middle_y, &depth);
  *out = (tbFace){.surface = plane, .triangle = TB_NO_SURFACE};
  if (!alone(s, middle_x, middle_y, square, plane, depth)) return false;
  float near = plane == TB_NO_SURFACE ? 0 : (float)(depth + square * s->plane[TB_FIRST_PLANE - plane].sway);
  for (int i = 0; i < square * square; i++) nearest[i] = near;
  return true;
}

bool tb_gather_square(const tbStage* s, int x, int y, tbFace* out, float* nearest)
{
  if (s->samples == 2 && s->square == 2) return gather_square(s, x, y, 2, 2, out, nearest);
  return gather_square(s, x, y, s->samples, s->square, out, nearest);
}
