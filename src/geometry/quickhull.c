// SPDX-License-Identifier: Apache-2.0
// Quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron grows, always by the farthest point above one of
// its triangles. The triangles that see the point go, and a cone from the rim of the hole to the point takes
// their place.
//
// Rounding decides only which points are worth adding: those more than `tolerance` above a triangle. Which
// triangles see a point is decided exactly (exact.h), a point in a triangle's very plane not seeing it. The
// triangles seen then always form a disc, no matter how degenerate the points are: moved inwards by a hair,
// the point would be in general position and see the same ones. So the rim is one simple cycle, the cone
// fits, none of its triangles is without area, and the hull of the points added is exact. Normals are exact
// to rounding even for slivers, and heights with them.
//
// Points that waited above a hole are handed to the cone. One that is well below all of the cone is inside
// for good: n of a cone triangle lies between those of the triangles it replaces and keeps, so a point
// outside the new hull that saw a lost triangle sees the cone. One close to the cone's planes is looked at
// again in the end, against every triangle.
//
// Cost      O(n log h) expected for n points with h on the hull; the last look O(close points × triangles).
// Limits    a point may stay out by the tolerance, as measured along normals, at needles by more in distance.
#include "geometry/quickhull.h"
#include "geometry/exact.h"

#include <assert.h>
#include <limits.h>

static const double roundings = 16 * 2.220446049250313e-16; // tolerance per sum of the coordinates' sizes

typedef struct {
  int from, to; // run of the edge as the lost triangle had it
  int beyond;   // the triangle that stays
  int edge;     // its number there
} RimEdge;

typedef struct {
  tbTriangleHull hull;
  int* next;       // list of points: above a triangle, close, or orphans
  int close;       // head of those within the tolerance of some plane
  int* cone_at;    // triangle of the cone whose edge on the rim starts at a vertex
  RimEdge* rim;    // of the hole
  int* seen;       // triangles that see the point
  int spare;       // head of free slots, linked by `next`
  int first, last; // queue of triangles with points outside
  int stamp;
} Quick;

static tbVec3 at(const Quick* q, int point) { return q->hull.point[point]; }

// ---- triangles and their lists ----

static void enqueue(Quick* q, int t)
{
  tbHullTriangle* triangle = q->hull.triangle;
  triangle[t].prev = q->last;
  triangle[t].next = -1;
  if (q->last >= 0) triangle[q->last].next = t;
  else q->first = t;
  q->last = t;
}

static void dequeue(Quick* q, int t)
{
  tbHullTriangle* triangle = q->hull.triangle;
  int prev = triangle[t].prev, next = triangle[t].next;
  if (prev >= 0) triangle[prev].next = next;
  else q->first = next;
  if (next >= 0) triangle[next].prev = prev;
  else q->last = prev;
}

static int new_triangle(Quick* q, int a, int b, int c)
{
  int t = q->spare >= 0 ? q->spare : q->hull.nslot++;
  tbHullTriangle* triangle = &q->hull.triangle[t];
  assert(t < 2 * q->hull.npoint);
  if (q->spare >= 0) q->spare = triangle->next;
  *triangle = (tbHullTriangle){.v = {a, b, c}, .near = {-1, -1, -1}, .outside = -1};
  triangle->normal = tb_normalize3(tb_triangle_normal(at(q, a), at(q, b), at(q, c)));
  return t;
}

static void put_outside(Quick* q, int t, int point, double height)
{
  tbHullTriangle* triangle = &q->hull.triangle[t];
  if (triangle->outside < 0) enqueue(q, t);
  if (triangle->outside < 0 || height > triangle->height) {
    triangle->farthest = point;
    triangle->height = height;
  }
  q->next[point] = triangle->outside;
  triangle->outside = point;
}

static void put_close(Quick* q, int point)
{
  q->next[point] = q->close;
  q->close = point;
}

static bool is_corner(const Quick* q, const tbHullTriangle* triangle, int point)
{
  tbVec3 p = at(q, point);
  for (int i = 0; i < 3; i++) {
    tbVec3 v = at(q, triangle->v[i]);
    if (p.x == v.x && p.y == v.y && p.z == v.z) return true;
  }
  return false;
}

// Hands a point to the first triangle of a list that it is above. Copies of corners are done with.
static void place(Quick* q, int point, const int* list, int count)
{
  double tolerance = q->hull.tolerance;
  bool close = false;
  for (int i = 0; i < count; i++) {
    const tbHullTriangle* triangle = &q->hull.triangle[list[i]];
    double height = tb_hull_height(&q->hull, triangle, at(q, point));
    if (height > tolerance) {
      put_outside(q, list[i], point, height);
      return;
    }
    if (height <= -tolerance) continue;
    if (is_corner(q, triangle, point)) return;
    close = true;
  }
  if (close) put_close(q, point);
}

// ---- growing ----

static bool sees(Quick* q, int t, int point)
{
  const tbHullTriangle* triangle = &q->hull.triangle[t];
  double height = tb_hull_height(&q->hull, triangle, at(q, point));
  if (fabs(height) > q->hull.tolerance) return height > 0;
  return tb_side_of(at(q, triangle->v[0]), at(q, triangle->v[1]), at(q, triangle->v[2]), at(q, point)) > 0;
}

// The triangles that see the point, starting from one, and the rim around them.
static void find_hole(Quick* q, int t, int point, int* seen_count, int* rim_count)
{
  tbHullTriangle* triangle = q->hull.triangle;
  int nseen = 0, nrim = 0, stamp = ++q->stamp;
  triangle[t].stamp = stamp;
  q->seen[nseen++] = t;
  for (int k = 0; k < nseen; k++)
    for (int i = 0; i < 3; i++) {
      const tbHullTriangle* here = &triangle[q->seen[k]];
      int g = here->near[i];
      if (triangle[g].stamp != stamp && triangle[g].stamp != -stamp) {
        triangle[g].stamp = sees(q, g, point) ? stamp : -stamp;
        if (triangle[g].stamp == stamp) q->seen[nseen++] = g;
      }
      if (triangle[g].stamp == stamp) continue;
      int from = here->v[i], to = here->v[(i + 1) % 3], edge = 0;
      while (triangle[g].v[edge] != to) edge++;
      q->rim[nrim++] = (RimEdge){from, to, g, edge};
    }
  *seen_count = nseen;
  *rim_count = nrim;
}

// Takes the hole's triangles away; returns the list of points that waited above them.
static int clear_hole(Quick* q, int nseen)
{
  int orphans = -1;
  for (int k = 0; k < nseen; k++) {
    tbHullTriangle* triangle = &q->hull.triangle[q->seen[k]];
    if (triangle->outside >= 0) dequeue(q, q->seen[k]);
    for (int p = triangle->outside, next; p >= 0; p = next) {
      next = q->next[p];
      q->next[p] = orphans;
      orphans = p;
    }
    triangle->v[0] = -1;
    triangle->next = q->spare;
    q->spare = q->seen[k];
  }
  return orphans;
}

// A cone from the rim to the point; its triangles are left in q->seen.
static void close_hole(Quick* q, int point, int nrim)
{
  tbHullTriangle* triangle = q->hull.triangle;
  for (int k = 0; k < nrim; k++) {
    const RimEdge* e = &q->rim[k];
    int t = new_triangle(q, e->from, e->to, point);
    triangle[t].near[0] = e->beyond;
    triangle[e->beyond].near[e->edge] = t;
    q->cone_at[e->from] = t;
    q->seen[k] = t;
  }
  for (int k = 0; k < nrim; k++) {
    int t = q->cone_at[q->rim[k].from], after = q->cone_at[q->rim[k].to];
    triangle[t].near[1] = after;
    triangle[after].near[2] = t;
  }
}

static void add_point(Quick* q, int t)
{
  int nseen, nrim, point = q->hull.triangle[t].farthest;
  find_hole(q, t, point, &nseen, &nrim);
  int orphans = clear_hole(q, nseen);
  close_hole(q, point, nrim);
  for (int p = orphans, next; p >= 0; p = next) {
    next = q->next[p];
    if (p != point) place(q, p, q->seen, nrim);
  }
}

// Looks at the close points once more, against every triangle.
static void look_again(Quick* q)
{
  int points = q->close;
  q->close = -1;
  for (int p = points, next; p >= 0; p = next) {
    next = q->next[p];
    int highest = -1;
    double most = q->hull.tolerance;
    for (int t = 0; t < q->hull.nslot; t++) {
      const tbHullTriangle* triangle = &q->hull.triangle[t];
      if (triangle->v[0] < 0) continue;
      double height = tb_hull_height(&q->hull, triangle, at(q, p));
      if (height > most) {
        most = height;
        highest = t;
      }
    }
    if (highest >= 0) put_outside(q, highest, p, most);
    else put_close(q, p);
  }
}

// ---- the first tetrahedron ----

static double coordinate(tbVec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static void find_extremes(const Quick* q, int extreme[6])
{
  for (int k = 0; k < 6; k++) extreme[k] = 0;
  for (int i = 1; i < q->hull.npoint; i++)
    for (int axis = 0; axis < 3; axis++) {
      double x = coordinate(at(q, i), axis);
      if (x < coordinate(at(q, extreme[2 * axis]), axis)) extreme[2 * axis] = i;
      if (x > coordinate(at(q, extreme[2 * axis + 1]), axis)) extreme[2 * axis + 1] = i;
    }
}

static double farthest_pair(const Quick* q, const int extreme[6], int pair[2])
{
  double most = -1;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) {
      double d = tb_distance3(at(q, extreme[i]), at(q, extreme[j]));
      if (d > most) {
        most = d;
        pair[0] = extreme[j];
        pair[1] = extreme[i];
      }
    }
  return most;
}

static tbStatus find_tetrahedron(tbContext* ctx, const Quick* q, int v[4])
{
  int extreme[6];
  double least = 4 * q->hull.tolerance, most = -1;
  find_extremes(q, extreme);
  if (farthest_pair(q, extreme, v) <= least)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull needs a solid: all %d points are at one place",
                   q->hull.npoint);
  tbVec3 a = at(q, v[0]), u = tb_normalize3(tb_sub3(at(q, v[1]), a));
  for (int i = 0; i < q->hull.npoint; i++) {
    double d = tb_norm3(tb_cross3(tb_sub3(at(q, i), a), u));
    if (d > most) {
      most = d;
      v[2] = i;
    }
  }
  if (most <= least)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull needs a solid: all %d points lie on one line",
                   q->hull.npoint);
  tbVec3 n = tb_normalize3(tb_triangle_normal(a, at(q, v[1]), at(q, v[2])));
  most = -1;
  for (int i = 0; i < q->hull.npoint; i++) {
    double d = fabs(tb_dot3(n, tb_sub3(at(q, i), a)));
    if (d > most) {
      most = d;
      v[3] = i;
    }
  }
  if (most <= least)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull needs a solid: all %d points lie in one plane",
                   q->hull.npoint);
  if (tb_side_of(a, at(q, v[1]), at(q, v[2]), at(q, v[3])) > 0) { // the fourth belongs below the first three
    int swap = v[1];
    v[1] = v[2];
    v[2] = swap;
  }
  return TB_OK;
}

static void start_from(Quick* q, const int v[4])
{
  // Base 0 1 2, then the sides over its edges 01, 12, 20; side i meets side i+1 along the edge to vertex 3.
  int list[4];
  list[0] = new_triangle(q, v[0], v[1], v[2]);
  for (int i = 0; i < 3; i++) list[1 + i] = new_triangle(q, v[(i + 1) % 3], v[i], v[3]);
  tbHullTriangle* triangle = q->hull.triangle;
  for (int i = 0; i < 3; i++) {
    triangle[list[0]].near[i] = list[1 + i];
    triangle[list[1 + i]].near[0] = list[0];
    triangle[list[1 + i]].near[1] = list[1 + (i + 2) % 3]; // along v[i] → v[3]
    triangle[list[1 + i]].near[2] = list[1 + (i + 1) % 3]; // along v[3] → v[i+1]
  }
  for (int i = 0; i < q->hull.npoint; i++)
    if (i != v[0] && i != v[1] && i != v[2] && i != v[3]) place(q, i, list, 4);
}

tbStatus tb_quickhull(tbContext* ctx, tbArena* arena, const tbVec3* points, int count, tbTriangleHull* out)
{
  if (count < 4)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull needs at least 4 points, not %d",
                   count < 0 ? 0 : count);
  if (count > INT_MAX / 2)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull of %d points is too large", count);
  size_t n = (size_t)count;
  tbVec3 size = tb_zero3();
  for (int i = 0; i < count; i++)
    size = tb_max3(size, tb_vec3(fabs(points[i].x), fabs(points[i].y), fabs(points[i].z)));

  Quick q = {.hull = {.point = points, .npoint = count, .tolerance = roundings * (size.x + size.y + size.z)},
             .close = -1,
             .spare = -1,
             .first = -1,
             .last = -1};
  int v[4];
  TB_TRY(find_tetrahedron(ctx, &q, v));
  // A hull over n points has at most 2n − 4 triangles and n edges around a hole.
  q.hull.triangle = TB_TAKE(arena, tbHullTriangle, 2 * n);
  q.seen = TB_TAKE(arena, int, 2 * n);
  q.next = TB_TAKE(arena, int, n);
  q.cone_at = TB_TAKE(arena, int, n);
  q.rim = TB_TAKE(arena, RimEdge, n);
  if (!q.hull.triangle || !q.seen || !q.next || !q.cone_at || !q.rim) return TB_ERROR_MEMORY;

  start_from(&q, v);
  while (q.first >= 0) {
    while (q.first >= 0) add_point(&q, q.first);
    look_again(&q);
  }
  *out = q.hull;
  return TB_OK;
}
