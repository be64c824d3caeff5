// SPDX-License-Identifier: Apache-2.0
// Convex polytopes from points: the points brought to size one, quickhull, polygons, and the features that
// queries need.
#include "geometry/hull.h"
#include "geometry/exact.h"
#include "geometry/hull_merge.h"

#include <assert.h>

// ---- input ----

// Copies points scaled by a power of two to size one; what is below 2⁻¹⁰⁰ becomes zero (see exact.h).
static tbStatus scale_points(tbContext* ctx, tbArena* arena, const tbVec3* points, int count, tbVec3** out)
{
  double most = 0;
  for (int i = 0; i < count; i++) {
    double size = tb_maxabs3(points[i]);
    if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z))
      return tb_fail(ctx, TB_ERROR_INPUT, "point %d of a convex hull is (%g, %g, %g); it must be finite", i,
                     points[i].x, points[i].y, points[i].z);
    if (size > most) most = size;
  }
  if (most > 1e30)
    return tb_fail(ctx, TB_ERROR_INPUT, "a convex hull with a coordinate of %g: beyond 1e30", most);
  int exponent;
  frexp(most, &exponent);
  *out = TB_TAKE(arena, tbVec3, (size_t)count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    double x[3];
    tb_store3(x, points[i]);
    for (int k = 0; k < 3; k++) {
      x[k] = ldexp(x[k], -exponent);
      if (fabs(x[k]) < 0x1p-100) x[k] = 0;
    }
    (*out)[i] = tb_load3(x);
  }
  return TB_OK;
}

// ---- output ----

tbHull* tb_hull_allocate(tbContext* ctx, int nvertex, int nface, int nedge)
{
  tbScratch room = {0};
  tbHull* hull = NULL;
  for (int pass = 0; pass < 2; pass++) { // counted, then laid out
    hull = TB_SCRATCH(&room, tbHull, 1);
    tbHull h = {.nvertex = nvertex, .nface = nface, .nedge = nedge};
    h.vertex = TB_SCRATCH(&room, tbVec3, (size_t)nvertex);
    h.face_normal = TB_SCRATCH(&room, tbVec3, (size_t)nface);
    h.face_offset = TB_SCRATCH(&room, double, (size_t)nface);
    h.face_adr = TB_SCRATCH(&room, int, (size_t)nface + 1);
    h.face_vertex = TB_SCRATCH(&room, int, 2 * (size_t)nedge);
    h.edge = TB_SCRATCH(&room, tbHullEdge, (size_t)nedge);
    h.near_adr = TB_SCRATCH(&room, int, (size_t)nvertex + 1);
    h.near = TB_SCRATCH(&room, int, 2 * (size_t)nedge);
    if (pass == 1) {
      *hull = h;
      break;
    }
    room = (tbScratch){.base = tb_alloc(ctx, room.used, 1), .size = room.used};
    if (!room.base) return NULL;
  }
  return hull;
}

// Each edge once, from the corner list: the run u → v of a face and the run v → u of the face across. Twins
// are looked up among the runs that start at the end with fewer of them, so that an apex with thousands of
// edges costs no more than others.
static tbStatus make_edges(tbArena* arena, tbHull* h, const int* across)
{
  int runs = h->face_adr[h->nface], nedge = 0;
  int *start = TB_TAKE(arena, int, (size_t)h->nvertex + 1), *run = TB_TAKE(arena, int, (size_t)runs),
      *to = TB_TAKE(arena, int, (size_t)runs), *face = TB_TAKE(arena, int, (size_t)runs);
  if (!start || !run || !to || !face) return TB_ERROR_MEMORY;
  for (int f = 0; f < h->nface; f++)
    for (int k = h->face_adr[f]; k < h->face_adr[f + 1]; k++) {
      to[k] = h->face_vertex[k + 1 < h->face_adr[f + 1] ? k + 1 : h->face_adr[f]];
      face[k] = f;
      start[h->face_vertex[k]]++;
    }
  for (int v = 0, sum = 0; v <= h->nvertex; v++) { // ends of the lists, brought back to starts by filling
    sum += start[v];
    start[v] = sum;
  }
  for (int k = runs - 1; k >= 0; k--) run[--start[h->face_vertex[k]]] = k;
  for (int k = 0; k < runs; k++) {
    int u = h->face_vertex[k], v = to[k];
    int at_u = start[u + 1] - start[u], at_v = start[v + 1] - start[v];
    if (at_v > at_u || (at_v == at_u && v < u)) continue; // the twin finds this one
    for (int i = start[v]; i < start[v + 1]; i++)
      if (to[run[i]] == u && face[run[i]] == across[k])
        h->edge[nedge++] = (tbHullEdge){{u, v}, {face[k], across[k]}};
  }
  assert(nedge == h->nedge);
  for (int v = 0; v <= h->nvertex; v++) h->near_adr[v] = start[v];
  for (int i = 0; i < runs; i++) h->near[i] = to[run[i]];
  return TB_OK;
}

// The offset of a face is that of the farthest vertex along its normal, which a climb from a corner finds.
static void make_offsets(tbHull* h)
{
  for (int f = 0; f < h->nface; f++) {
    tbVec3 n = h->face_normal[f];
    double best = -INFINITY;
    int top = 0;
    for (int k = h->face_adr[f]; k < h->face_adr[f + 1]; k++) {
      double x = tb_dot3(n, h->vertex[h->face_vertex[k]]);
      if (x > best) {
        best = x;
        top = h->face_vertex[k];
      }
    }
    for (int from = -1; from != top;) {
      from = top;
      for (int i = h->near_adr[from]; i < h->near_adr[from + 1]; i++) {
        double x = tb_dot3(n, h->vertex[h->near[i]]);
        if (x > best) {
          best = x;
          top = h->near[i];
        }
      }
    }
    h->face_offset[f] = best;
  }
}

// The mean of the centres of tetrahedra from a point inside to the faces, weighted by their volumes. Volumes
// come from exact normals and none is let below zero, so the centre of the thinnest needle lies inside it.
static void make_centre(tbHull* h)
{
  double volume = 0;
  tbVec3 middle = tb_zero3(), sum = tb_zero3();
  for (int i = 0; i < h->nvertex; i++) middle = tb_madd3(middle, 1.0 / h->nvertex, h->vertex[i]);
  for (int f = 0; f < h->nface; f++)
    for (int k = h->face_adr[f] + 1; k + 1 < h->face_adr[f + 1]; k++) {
      tbVec3 a = h->vertex[h->face_vertex[h->face_adr[f]]], b = h->vertex[h->face_vertex[k]],
             c = h->vertex[h->face_vertex[k + 1]];
      double D = fmax(0, tb_dot3(tb_triangle_normal(a, b, c), tb_sub3(a, middle)));
      volume += D;
      sum = tb_madd3(sum, D, tb_add3(tb_sub3(a, middle), tb_add3(tb_sub3(b, middle), tb_sub3(c, middle))));
    }
  h->centre = volume > 0 ? tb_madd3(middle, 0.25 / volume, sum) : middle;
  for (int i = 0; i < h->nvertex; i++) h->radius = fmax(h->radius, tb_distance3(h->centre, h->vertex[i]));
}

static tbStatus finish(tbContext* ctx, tbArena* arena, const tbVec3* points, int count,
                       const tbPolygonHull* polygons, tbHull** out)
{
  int nvertex = 0, *vertex_of = TB_TAKE(arena, int, (size_t)count);
  if (!vertex_of) return TB_ERROR_MEMORY;
  for (int k = 0; k < polygons->ncorner; k++) vertex_of[polygons->corner[k]] = 1;
  for (int i = 0; i < count; i++) // in the order the points came
    vertex_of[i] = vertex_of[i] ? nvertex++ : -1;
  tbHull* h = tb_hull_allocate(ctx, nvertex, polygons->nface, polygons->ncorner / 2);
  if (!h) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++)
    if (vertex_of[i] >= 0) h->vertex[vertex_of[i]] = points[i];
  for (int f = 0; f < h->nface; f++) h->face_normal[f] = polygons->normal[f];
  for (int f = 0; f <= h->nface; f++) h->face_adr[f] = polygons->adr[f];
  for (int k = 0; k < polygons->ncorner; k++) h->face_vertex[k] = vertex_of[polygons->corner[k]];
  if (make_edges(arena, h, polygons->across) != TB_OK) {
    tb_hull_free(ctx, h);
    return TB_ERROR_MEMORY;
  }
  make_offsets(h);
  make_centre(h);
  *out = h;
  return TB_OK;
}

static tbStatus create(tbContext* ctx, tbArena* arena, const tbVec3* points, int count, tbHull** out)
{
  tbVec3* scaled = NULL;
  tbTriangleHull triangles;
  tbPolygonHull polygons;
  TB_TRY(scale_points(ctx, arena, points, count, &scaled));
  TB_TRY(tb_quickhull(ctx, arena, scaled, count, &triangles));
  TB_TRY(tb_hull_merge(ctx, arena, &triangles, &polygons));
  return finish(ctx, arena, points, count, &polygons, out);
}

tbStatus tb_hull_create(tbContext* ctx, const tbVec3* points, int count, tbHull** out)
{
  *out = NULL;
  if (count < 0 || (count > 0 && !points))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a convex hull of no points");
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = create(ctx, &arena, points, count, out);
  tb_arena_free(&arena);
  return status;
}

void tb_hull_free(tbContext* ctx, tbHull* hull) { tb_free(ctx, hull); } // one block, itself at its start

tbHullView tb_hull_faces(const tbHull* h)
{
  return (tbHullView){h->vertex, h->face_adr, h->face_vertex, h->nvertex, h->nface};
}
