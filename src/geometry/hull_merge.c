// SPDX-License-Identifier: Apache-2.0
// Triangles of a hull gathered into polygons.
//
// Triangles are taken by falling area. One that belongs to no group yet starts a group and takes in its
// neighbours, and theirs, as long as all their corners lie in its plane to rounding; because the plane stays
// that of the first triangle, groups cannot creep around a gentle curve. Edges inside a group vanish, and so
// do vertices with fewer than three edges left: those in the middle of a face or an edge, which rounding
// alone had put on the hull.
//
// What is left is a polyhedron if every group is bounded by one cycle with at least three corners that is
// convex to rounding, and Euler's formula holds. A group that fails (points that bulge by just about the
// tolerance) is taken apart and may then join exactly coplanar triangles only. Those are true facets of the
// exact hull, so that in the end something always fits.
//
// Cost      O(h log h) for h triangles, times the number of attempts (one, but for made-up cases).
#include "geometry/hull_merge.h"
#include "base/sort.h"
#include "geometry/exact.h"

#include <math.h>

static const double slack = 4; // distance from a group's plane, in tolerances of the hull

typedef struct {
  double area;
  int index;
} Sized;

typedef struct {
  const tbTriangleHull* hull;
  int ntriangle;
  const tbHullTriangle** t; // the triangles in use
  int* number;              // of a slot among them
  Sized* by_area;
  bool* strict; // may join exactly coplanar triangles only
  int* group;   // of a triangle
  int* queue;   // triangles of the group in the making
  int* degree;  // edges left at a point
  tbPolygonHull out;
} Merge;

static tbVec3 at(const Merge* m, int point) { return m->hull->point[point]; }
static int across(const Merge* m, int t, int edge) { return m->number[m->t[t]->near[edge]]; }

static int larger_first(const void* a, const void* b)
{
  const Sized *x = a, *y = b;
  if (x->area != y->area) return x->area > y->area ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

static tbVec3 area_vector(const Merge* m, int t)
{
  const int* v = m->t[t]->v;
  return tb_triangle_normal(at(m, v[0]), at(m, v[1]), at(m, v[2]));
}

// ---- groups ----

static bool fits(const Merge* m, int seed, int t)
{
  const int *s = m->t[seed]->v, *v = m->t[t]->v;
  bool exact = m->strict[seed] || m->strict[t];
  for (int i = 0; i < 3; i++)
    if (exact ? tb_side_of(at(m, s[0]), at(m, s[1]), at(m, s[2]), at(m, v[i])) != 0
              : fabs(tb_hull_height(m->hull, m->t[seed], at(m, v[i]))) > slack * m->hull->tolerance)
      return false;
  return true;
}

static void grow_group(Merge* m, int seed, int group)
{
  int count = 0;
  tbVec3 area = tb_zero3();
  m->group[seed] = group;
  m->queue[count++] = seed;
  for (int k = 0; k < count; k++) {
    area = tb_add3(area, area_vector(m, m->queue[k]));
    for (int i = 0; i < 3; i++) {
      int g = across(m, m->queue[k], i);
      if (m->group[g] >= 0 || !fits(m, seed, g)) continue;
      m->group[g] = group;
      m->queue[count++] = g;
    }
  }
  m->out.normal[group] = tb_normalize3(area);
}

static void make_groups(Merge* m)
{
  for (int t = 0; t < m->ntriangle; t++) m->group[t] = -1;
  m->out.nface = 0;
  for (int k = 0; k < m->ntriangle; k++)
    if (m->group[m->by_area[k].index] < 0) grow_group(m, m->by_area[k].index, m->out.nface++);
  for (int i = 0; i < m->hull->npoint; i++) m->degree[i] = 0;
  for (int t = 0; t < m->ntriangle; t++)
    for (int i = 0; i < 3; i++) m->degree[m->t[t]->v[i]] += m->group[t] != m->group[across(m, t, i)];
}

// ---- polygons ----

// The next edge along the border of a group: from the end of edge (t, i), turn through the group's triangles.
static void next_border(const Merge* m, int* t, int* i)
{
  int group = m->group[*t], end = m->t[*t]->v[(*i + 1) % 3];
  *i = (*i + 1) % 3;
  for (int g; m->group[g = across(m, *t, *i)] == group; *t = g) {
    int k = 0;
    while (m->t[g]->v[k] != end) k++;
    *i = k;
  }
}

// Walks the border that holds edge (t, i) and writes its corners; returns how many edges it has.
static int trace_border(Merge* m, int t, int i)
{
  int edges = 0, t0 = t, i0 = i;
  do {
    int v = m->t[t]->v[i];
    if (m->degree[v] >= 3) {
      m->out.corner[m->out.ncorner] = v;
      m->out.across[m->out.ncorner++] = m->group[across(m, t, i)];
    }
    edges++;
    next_border(m, &t, &i);
  } while ((t != t0 || i != i0) && edges <= 3 * m->ntriangle);
  return edges;
}

// How far a polygon's corners stray from its plane and inwards from being convex, all to rounding.
static bool is_convex_polygon(const Merge* m, int face)
{
  const int* corner = m->out.corner + m->out.adr[face];
  int n = m->out.adr[face + 1] - m->out.adr[face];
  double limit = 2 * slack * m->hull->tolerance;
  tbVec3 normal = m->out.normal[face];
  for (int k = 0; k < n; k++) {
    tbVec3 a = at(m, corner[k]), b = at(m, corner[(k + 1) % n]), c = at(m, corner[(k + 2) % n]);
    tbVec3 ab = tb_sub3(b, a), ac = tb_sub3(c, a);
    double turn = tb_dot3(normal, tb_cross3(ab, ac)), inwards = -turn / tb_norm3(ac);
    if (!(inwards <= limit) || !(fabs(tb_dot3(normal, tb_sub3(a, at(m, corner[0])))) <= limit)) return false;
  }
  return n >= 3;
}

// Fills the polygons of all groups; marks the triangles of groups that make none. False: there were some.
static bool make_polygons(Merge* m)
{
  int *first = m->queue,
      *borders = m->number + m->hull->nslot; // per group: a border edge, how many there are
  tbPolygonHull* out = &m->out;
  for (int f = 0; f < out->nface; f++) first[f] = -1, borders[f] = 0;
  for (int t = 0; t < m->ntriangle; t++)
    for (int i = 0; i < 3; i++)
      if (m->group[t] != m->group[across(m, t, i)]) {
        borders[m->group[t]]++;
        if (first[m->group[t]] < 0) first[m->group[t]] = 3 * t + i;
      }
  bool good = true;
  out->ncorner = 0;
  for (int f = 0; f < out->nface; f++) {
    out->adr[f] = out->adr[f + 1] = out->ncorner;
    bool one = first[f] >= 0 && trace_border(m, first[f] / 3, first[f] % 3) == borders[f];
    out->adr[f + 1] = out->ncorner;
    if (one && is_convex_polygon(m, f)) continue;
    good = false;
    for (int t = 0; t < m->ntriangle; t++) m->strict[t] |= m->group[t] == f;
  }
  if (!good) return false;
  int corners = 0;
  for (int i = 0; i < m->hull->npoint; i++) corners += m->degree[i] >= 3;
  good = out->ncorner % 2 == 0 && corners - out->ncorner / 2 + out->nface == 2;
  for (int t = 0; t < m->ntriangle && !good; t++) m->strict[t] = true;
  return good;
}

// ---- all of it ----

static bool allocate(Merge* m, tbArena* arena)
{
  size_t n = 0, slots = (size_t)m->hull->nslot;
  for (int i = 0; i < m->hull->nslot; i++) n += m->hull->triangle[i].v[0] >= 0;
  m->t = TB_TAKE(arena, const tbHullTriangle*, n);
  m->number = TB_TAKE(arena, int, slots + n);
  m->by_area = TB_TAKE(arena, Sized, n);
  m->strict = TB_TAKE(arena, bool, n);
  m->group = TB_TAKE(arena, int, n);
  m->queue = TB_TAKE(arena, int, n);
  m->degree = TB_TAKE(arena, int, (size_t)m->hull->npoint);
  m->out.normal = TB_TAKE(arena, tbVec3, n);
  m->out.adr = TB_TAKE(arena, int, n + 1);
  m->out.corner = TB_TAKE(arena, int, 3 * n);
  m->out.across = TB_TAKE(arena, int, 3 * n);
  return m->t && m->number && m->by_area && m->strict && m->group && m->queue && m->degree && m->out.normal &&
         m->out.adr && m->out.corner && m->out.across;
}

tbStatus tb_hull_merge(tbContext* ctx, tbArena* arena, const tbTriangleHull* triangles, tbPolygonHull* out)
{
  enum { ATTEMPTS = 16 };
  Merge m = {.hull = triangles};
  if (!allocate(&m, arena)) return TB_ERROR_MEMORY;
  for (int i = 0; i < triangles->nslot; i++) {
    if (triangles->triangle[i].v[0] < 0) continue;
    m.number[i] = m.ntriangle;
    m.t[m.ntriangle++] = &triangles->triangle[i];
  }
  for (int t = 0; t < m.ntriangle; t++) m.by_area[t] = (Sized){tb_norm3(area_vector(&m, t)), t};
  tb_sort(m.by_area, (size_t)m.ntriangle, sizeof *m.by_area, larger_first);
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (int t = 0; t < m.ntriangle && attempt == ATTEMPTS - 1; t++) m.strict[t] = true;
    make_groups(&m);
    if (make_polygons(&m)) {
      *out = m.out;
      return TB_OK;
    }
  }
  return tb_fail(ctx, TB_ERROR_NUMERIC, "no consistent convex hull of %d points was found",
                 triangles->npoint);
}
