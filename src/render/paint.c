// SPDX-License-Identifier: Apache-2.0
// A pixel is covered as far as its middle lies inside the edge: coverage = ½ − distance, cut at 0 and 1.
#include "render/paint.h"

#include "render/larger.h"

static void blend(const tbCanvas* c, int x, int y, double coverage, const tbInk* ink)
{
  if (!(coverage > 0)) return;
  int64_t i = (int64_t)y * c->width + x;
  double alpha = ink->depth < (double)c->depth[i] ? ink->hidden : ink->alpha;
  float a = (float)(alpha * (coverage < 1 ? coverage : 1));
  for (int k = 0; k < 3; k++) c->rgb[3 * i + k] += a * (ink->rgb[k] - c->rgb[3 * i + k]);
}

typedef struct {
  int left, right, top, bottom; // right and bottom: one behind
} Area;

static Area area_of(const tbCanvas* c, const tbPoint* p, int count, double margin)
{
  double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
  for (int i = 0; i < count; i++) {
    left = tb_smaller(left, p[i].x), right = tb_larger(right, p[i].x);
    top = tb_smaller(top, p[i].y), bottom = tb_larger(bottom, p[i].y);
  }
  return (Area){(int)tb_smaller(tb_larger(floor(left - margin), 0), c->width),
                (int)tb_smaller(tb_larger(ceil(right + margin), 0), c->width),
                (int)tb_smaller(tb_larger(floor(top - margin), c->top), c->bottom),
                (int)tb_smaller(tb_larger(ceil(bottom + margin), c->top), c->bottom)};
}

void tb_paint_polygon(const tbCanvas* canvas, const tbPoint* p, int count, const tbInk* ink)
{
  enum { CORNERS = 32 };
  double nx[CORNERS], ny[CORNERS], away[CORNERS], area = 0;
  if (count > CORNERS) return;
  for (int i = 0; i < count; i++) {
    const tbPoint *a = &p[i], *b = &p[(i + 1) % count];
    area += a->x * b->y - a->y * b->x;
  }
  if (!(fabs(area) > 0)) return;
  double sign = area > 0 ? 1 : -1;
  for (int i = 0; i < count; i++) {
    const tbPoint *a = &p[i], *b = &p[(i + 1) % count];
    double dx = b->x - a->x, dy = b->y - a->y, length = sqrt(dx * dx + dy * dy);
    nx[i] = length > 0 ? sign * dy / length : 0, ny[i] = length > 0 ? -sign * dx / length : 0;
    away[i] = length > 0 ? -(nx[i] * a->x + ny[i] * a->y) : -INFINITY;
  }
  Area r = area_of(canvas, p, count, 1);
  for (int y = r.top; y < r.bottom; y++)
    for (int x = r.left; x < r.right; x++) {
      double d = -INFINITY;
      for (int i = 0; i < count && d < 0.5; i++) // beyond, the pixel is not covered
        d = tb_larger(d, nx[i] * (x + 0.5) + ny[i] * (y + 0.5) + away[i]);
      blend(canvas, x, y, 0.5 - d, ink);
    }
}

void tb_paint_line(const tbCanvas* canvas, tbPoint a, tbPoint b, double width, const tbInk* ink)
{
  double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  Area r = area_of(canvas, (tbPoint[2]){a, b}, 2, 0.5 * width + 1);
  for (int y = r.top; y < r.bottom; y++)
    for (int x = r.left; x < r.right; x++) {
      double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
      double t = square > 0 ? tb_smaller(tb_larger((px * dx + py * dy) / square, 0), 1) : 0;
      double ex = px - t * dx, ey = py - t * dy;
      blend(canvas, x, y, 0.5 * width + 0.5 - sqrt(ex * ex + ey * ey), ink);
    }
}
