// SPDX-License-Identifier: Apache-2.0
// Texture coordinates of a surface: triangles in the frame of a body or its mesh, with (u, v) at their
// corners.
//
// Where a contact is on the map follows from the closest triangle: on it x is linear in (u, v), so that ∂x/∂u
// and ∂x/∂v are the map's axes and say how many metres a repeat has.
//
// Cost      log of the number of triangles: they are kept in the order of a tree, the one in the middle of a
// range
//           parting the rest by its centre along x, y and z in turns, with a box around each range.
#include "base/sort.h"
#include "geometry/box.h"
#include "scene/world.h"

#include <math.h>

static double centre(const tbChartTriangle* t, int axis)
{
  return (&t->corner[0].x)[axis] + (&t->corner[1].x)[axis] + (&t->corner[2].x)[axis];
}

static int by_axis(const void* a, const void* b, int axis)
{
  double x = centre(a, axis), y = centre(b, axis);
  return (x > y) - (x < y);
}
static int by_x(const void* a, const void* b) { return by_axis(a, b, 0); }
static int by_y(const void* a, const void* b) { return by_axis(a, b, 1); }
static int by_z(const void* a, const void* b) { return by_axis(a, b, 2); }

static void plant(tbChartTriangle* t, size_t count, int axis)
{
  static int (*const by[3])(const void*, const void*) = {by_x, by_y, by_z};
  if (count < 2) return;
  tb_sort(t, count, sizeof *t, by[axis]);
  plant(t, count / 2, (axis + 1) % 3);
  plant(t + count / 2 + 1, count - count / 2 - 1, (axis + 1) % 3);
}

tbBox tb_chart_boxes(tbChartTriangle* t, size_t count)
{
  if (count == 0) return tb_box_empty();
  tbChartTriangle* middle = t + count / 2;
  tbBox box = tb_box_join(tb_chart_boxes(t, count / 2), tb_chart_boxes(middle + 1, count - count / 2 - 1));
  for (int i = 0; i < 3; i++) box = tb_box_add(box, middle->corner[i]);
  return middle->box = box;
}

// ∂x/∂u, ∂x/∂v of a triangle. False: they are not defined.
static bool slopes(const tbChartTriangle* t, tbVec3* by_u, tbVec3* by_v)
{
  tbVec3 e = tb_sub3(t->corner[1], t->corner[0]), f = tb_sub3(t->corner[2], t->corner[0]);
  double eu = t->uv[1][0] - t->uv[0][0], ev = t->uv[1][1] - t->uv[0][1];
  double fu = t->uv[2][0] - t->uv[0][0], fv = t->uv[2][1] - t->uv[0][1], det = eu * fv - fu * ev;
  double size = fabs(eu * fv) + fabs(fu * ev), area = tb_norm3(tb_cross3(e, f));
  if (!(fabs(det) > 1e-12 * size) || !(area > 1e-12 * tb_norm3(e) * tb_norm3(f))) return false;
  *by_u = tb_scale3(1 / det, tb_sub3(tb_scale3(fv, e), tb_scale3(ev, f)));
  *by_v = tb_scale3(1 / det, tb_sub3(tb_scale3(eu, f), tb_scale3(fu, e)));
  return tb_maxabs3(*by_u) < INFINITY && tb_maxabs3(*by_v) < INFINITY;
}

// ---- the closest triangle ----

typedef struct {
  tbVec3 at;
  const tbChartTriangle* triangle;
  double square, weight[3]; // of its corners
} Search;

static void offer_point(Search* s, const tbChartTriangle* t, const double weight[3])
{
  tbVec3 p = tb_zero3();
  for (int i = 0; i < 3; i++) p = tb_madd3(p, weight[i], t->corner[i]);
  tbVec3 way = tb_sub3(p, s->at);
  double square = tb_dot3(way, way);
  if (s->triangle && !(square < s->square)) return;
  s->triangle = t, s->square = square;
  for (int i = 0; i < 3; i++) s->weight[i] = weight[i];
}

// The foot of the perpendicular where that is inside, and the closest point of each side.
static void offer(Search* s, const tbChartTriangle* t)
{
  const tbVec3* x = t->corner;
  tbVec3 n = tb_cross3(tb_sub3(x[1], x[0]), tb_sub3(x[2], x[0]));
  double foot[3], area = tb_dot3(n, n);
  bool inside = area > 0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    foot[i] = tb_dot3(tb_cross3(tb_sub3(x[k], x[j]), tb_sub3(s->at, x[j])), n) / area;
    inside &= foot[i] >= 0;
  }
  if (inside) offer_point(s, t, foot);
  for (int i = 0; i < 3 && !inside; i++) {
    int j = (i + 1) % 3;
    tbVec3 along = tb_sub3(x[j], x[i]);
    double all = tb_dot3(along, along), part = tb_dot3(tb_sub3(s->at, x[i]), along);
    double share = all > 0 ? fmin(fmax(part / all, 0), 1) : 0, weight[3] = {0};
    weight[i] = 1 - share, weight[j] = share;
    offer_point(s, t, weight);
  }
}

static double beyond(const tbBox* box, tbVec3 p)
{
  tbVec3 d = tb_max3(tb_max3(tb_sub3(box->lo, p), tb_sub3(p, box->hi)), tb_zero3());
  return tb_dot3(d, d);
}

static void search(Search* s, const tbChartTriangle* t, size_t count)
{
  if (count == 0) return;
  const tbChartTriangle* middle = t + count / 2;
  if (s->triangle && !(beyond(&middle->box, s->at) < s->square)) return;
  offer(s, middle);
  search(s, t, count / 2);
  search(s, middle + 1, count - count / 2 - 1);
}

bool tb_chart_find(const tbWorld* w, int number, tbVec3 at, tbChartPlace* out)
{
  if (number < 1 || (size_t)number > w->chart.count) return false;
  const tbChart* chart = (const tbChart*)w->chart.data + (number - 1);
  Search s = {.at = at};
  search(&s, (const tbChartTriangle*)w->chart_triangle.data + chart->first, chart->count);
  for (int k = 0; k < 2; k++) {
    out->at[k] = 0;
    for (int i = 0; i < 3; i++) out->at[k] += s.weight[i] * s.triangle->uv[i][k];
  }
  return slopes(s.triangle, &out->by_u, &out->by_v);
}

// ---- from outside ----

tbStatus tb_world_add_chart(tbContext* ctx, tbWorld* w, int triangles, const tbVec3* corners,
                            const double* coordinates, int* out)
{
  if (triangles < 1) return tb_fail(ctx, TB_ERROR_ARGUMENT, "texture coordinates have one triangle or more");
  tbChart chart = {w->chart_triangle.count, 0};
  TB_TRY(tb_array_push(ctx, &w->chart_triangle, NULL, (size_t)triangles));
  w->chart_triangle.count = chart.first; // until they are known to be good
  tbChartTriangle* t = (tbChartTriangle*)w->chart_triangle.data + chart.first;
  for (int i = 0; i < triangles; i++) {
    tbVec3 by_u, by_v;
    tbChartTriangle* next = &t[chart.count];
    for (int k = 0; k < 3; k++) {
      const double* uv = coordinates + 2 * (3 * (size_t)i + (size_t)k);
      next->corner[k] = corners[3 * (size_t)i + (size_t)k];
      next->uv[k][0] = uv[0], next->uv[k][1] = uv[1];
      if (!(tb_maxabs3(next->corner[k]) < INFINITY) || !isfinite(uv[0]) || !isfinite(uv[1]))
        return tb_fail(ctx, TB_ERROR_ARGUMENT, "triangle %d of texture coordinates is not finite", i);
    }
    chart.count += slopes(next, &by_u, &by_v);
  }
  if (chart.count == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no triangle has an area in space and on the texture");
  plant(t, chart.count, 0);
  tb_chart_boxes(t, chart.count);
  TB_TRY(tb_array_push(ctx, &w->chart, &chart, 1));
  w->chart_triangle.count += chart.count;
  *out = (int)w->chart.count;
  return TB_OK;
}
