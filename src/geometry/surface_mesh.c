// SPDX-License-Identifier: Apache-2.0
// Surfaces from triangles: each edge once, with the triangles on either side, and the triangle that owns each
// feature.
//
// The 3n sides are sorted by their two ends, by counting, so that a vertex with a hundred thousand triangles
// costs no more than others; the sides of one edge are then neighbours. A vertex belongs to the first
// triangle that has it, an edge likewise.
//
// Cost      linear in vertices and triangles; the tree n log n.
#include "geometry/surface_mesh.h"
#include "geometry/box.h"
#include "geometry/patches.h"

#include <limits.h>
#include <string.h>

// Side s = 3t + i of triangle t runs from its corner i to the next.
static int end_of(const tbSurfaceMesh* surface, int s, bool upper)
{
  const int* v = surface->triangle[s / 3];
  int a = v[s % 3], b = v[(s % 3 + 1) % 3];
  return upper == (a < b) ? b : a;
}

// By one of their ends, keeping the order of equals. start: nvertex + 1 integers.
static void sort_sides(const tbSurfaceMesh* surface, bool upper, const int* in, int* out, int* start)
{
  int n = 3 * surface->ntriangle;
  memset(start, 0, ((size_t)surface->nvertex + 1) * sizeof *start);
  for (int k = 0; k < n; k++) start[end_of(surface, in[k], upper) + 1]++;
  for (int v = 0; v < surface->nvertex; v++) start[v + 1] += start[v];
  for (int k = 0; k < n; k++) out[start[end_of(surface, in[k], upper)]++] = in[k];
}

// leader[s]: the first side with the same two ends.
static tbStatus find_leaders(const tbSurfaceMesh* surface, tbArena* scratch, int* leader)
{
  size_t n = 3 * (size_t)surface->ntriangle;
  int *a = TB_TAKE(scratch, int, n), *b = TB_TAKE(scratch, int, n),
      *start = TB_TAKE(scratch, int, (size_t)surface->nvertex + 1);
  if (!a || !b || !start) return TB_ERROR_MEMORY;
  for (size_t s = 0; s < n; s++) a[s] = (int)s;
  sort_sides(surface, true, a, b, start);
  sort_sides(surface, false, b, a, start);
  for (size_t k = 0; k < n; k++) {
    bool same = k > 0 && end_of(surface, a[k], false) == end_of(surface, a[k - 1], false) &&
                end_of(surface, a[k], true) == end_of(surface, a[k - 1], true);
    leader[a[k]] = same ? leader[a[k - 1]] : a[k];
  }
  return TB_OK;
}

static tbStatus make_edges(tbSurfaceMesh* surface, tbArena* scratch)
{
  int n = 3 * surface->ntriangle, *leader = TB_TAKE(scratch, int, (size_t)n);
  surface->triangle_edge =
      tb_arena_take(&surface->arena, (size_t)surface->ntriangle, sizeof *surface->triangle_edge);
  if (!leader || !surface->triangle_edge) return TB_ERROR_MEMORY;
  TB_TRY(find_leaders(surface, scratch, leader));
  for (int s = 0; s < n; s++) surface->nedge += leader[s] == s;
  surface->edge = tb_arena_take(&surface->arena, (size_t)surface->nedge, sizeof *surface->edge);
  surface->edge_triangle =
      tb_arena_take(&surface->arena, (size_t)surface->nedge, sizeof *surface->edge_triangle);
  if (!surface->edge || !surface->edge_triangle) return TB_ERROR_MEMORY;
  surface->closed = n > 0;
  for (int s = 0, next = 0; s < n; s++) {
    const int* v = surface->triangle[s / 3];
    int e = leader[s] == s ? next++ : surface->triangle_edge[leader[s] / 3][leader[s] % 3], *two;
    surface->triangle_edge[s / 3][s % 3] = e;
    two = surface->edge_triangle[e];
    if (leader[s] == s) {
      surface->edge[e][0] = v[s % 3], surface->edge[e][1] = v[(s % 3 + 1) % 3];
      two[0] = s / 3, two[1] = -1;
      surface->owns[s / 3] |= (uint8_t)(TB_SURFACE_OWNS_EDGE << s % 3);
    } else {
      if (two[1] >= 0 || v[s % 3] == surface->edge[e][0])
        surface->closed = false; // a third one, or turned over
      if (two[1] < 0) two[1] = s / 3;
    }
  }
  for (int e = 0; e < surface->nedge; e++)
    if (surface->edge_triangle[e][1] < 0) surface->closed = false;
  return TB_OK;
}

// Numbers the points in use, and gives each to the first triangle that has it.
static tbStatus make_vertices(tbSurfaceMesh* surface, tbArena* scratch, const tbVec3* points, int npoint,
                              const int (*triangles)[3])
{
  int* number = TB_TAKE(scratch, int, (size_t)npoint);
  surface->triangle = tb_arena_take(&surface->arena, (size_t)surface->ntriangle, sizeof *surface->triangle);
  surface->owns = TB_TAKE(&surface->arena, uint8_t, (size_t)surface->ntriangle);
  if (!number || !surface->triangle || !surface->owns) return TB_ERROR_MEMORY;
  for (int t = 0; t < surface->ntriangle; t++)
    for (int i = 0; i < 3; i++)
      if (number[triangles[t][i]]++ == 0) surface->owns[t] |= (uint8_t)(TB_SURFACE_OWNS_VERTEX << i);
  for (int p = 0; p < npoint; p++) surface->nvertex += number[p] > 0;
  surface->rest = TB_TAKE(&surface->arena, tbVec3, (size_t)surface->nvertex);
  surface->node = TB_TAKE(&surface->arena, int, (size_t)surface->nvertex);
  if (!surface->rest || !surface->node) return TB_ERROR_MEMORY;
  for (int p = 0, v = 0; p < npoint; p++) {
    if (number[p] == 0) continue;
    surface->rest[v] = points[p];
    surface->node[v] = p;
    number[p] = v++;
  }
  for (int t = 0; t < surface->ntriangle; t++)
    for (int i = 0; i < 3; i++) surface->triangle[t][i] = number[triangles[t][i]];
  return TB_OK;
}

// The triangles of every vertex, in order.
static tbStatus make_stars(tbSurfaceMesh* s)
{
  int *adr = TB_TAKE(&s->arena, int, (size_t)s->nvertex + 1),
      *star = TB_TAKE(&s->arena, int, 3 * (size_t)s->ntriangle);
  if (!adr || !star) return TB_ERROR_MEMORY;
  for (int k = 0; k < 3 * s->ntriangle; k++) adr[s->triangle[k / 3][k % 3]]++;
  for (int v = 0, sum = 0; v <= s->nvertex; v++) sum += adr[v], adr[v] = sum;
  for (int k = 3 * s->ntriangle - 1; k >= 0; k--) star[--adr[s->triangle[k / 3][k % 3]]] = k / 3;
  s->star_adr = adr, s->star = star;
  return TB_OK;
}

static tbStatus make_tree(tbContext* ctx, tbSurfaceMesh* surface, tbArena* scratch)
{
  tbBox* box = TB_TAKE(scratch, tbBox, (size_t)surface->ntriangle);
  if (!box) return TB_ERROR_MEMORY;
  for (int t = 0; t < surface->ntriangle; t++) {
    box[t] = tb_box_empty();
    for (int i = 0; i < 3; i++) box[t] = tb_box_add(box[t], surface->rest[surface->triangle[t][i]]);
  }
  return tb_bvh_build(ctx, &surface->arena, box, surface->ntriangle, &surface->bvh);
}

// Vertices, and triangles by their middles.
static tbStatus make_patches(tbSurfaceMesh* s, tbArena* scratch)
{
  tbVec3* middle = TB_TAKE(scratch, tbVec3, (size_t)s->ntriangle);
  s->triangle_patch = TB_TAKE(&s->arena, int, (size_t)s->ntriangle);
  s->vertex_patch = TB_TAKE(&s->arena, int, (size_t)s->nvertex);
  if (!middle || !s->triangle_patch || !s->vertex_patch) return TB_ERROR_MEMORY;
  for (int t = 0; t < s->ntriangle; t++) {
    const int* v = s->triangle[t];
    middle[t] = tb_scale3(1.0 / 3, tb_add3(tb_add3(s->rest[v[0]], s->rest[v[1]]), s->rest[v[2]]));
    s->triangle_patch[t] = t;
  }
  for (int v = 0; v < s->nvertex; v++) s->vertex_patch[v] = v;
  tb_patches_order(middle, s->triangle_patch, s->ntriangle);
  tb_patches_order(s->rest, s->vertex_patch, s->nvertex);
  return TB_OK;
}

static tbStatus fill(tbContext* ctx, tbSurfaceMesh* surface, const tbVec3* points, int npoint,
                     const int (*triangles)[3])
{
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tbStatus status = make_vertices(surface, &scratch, points, npoint, triangles);
  if (status == TB_OK) status = make_edges(surface, &scratch);
  if (status == TB_OK) status = make_stars(surface);
  if (status == TB_OK) status = make_tree(ctx, surface, &scratch);
  if (status == TB_OK) status = make_patches(surface, &scratch);
  tb_arena_free(&scratch);
  double sum = 0;
  for (int e = 0; status == TB_OK && e < surface->nedge; e++)
    sum += tb_distance3(surface->rest[surface->edge[e][0]], surface->rest[surface->edge[e][1]]);
  surface->edge_length = surface->nedge > 0 ? sum / surface->nedge : 0;
  return status;
}

tbStatus tb_surface_mesh_create(tbContext* ctx, const tbVec3* points, int npoint, const int (*triangles)[3],
                                int ntriangle, tbSurfaceMesh** out)
{
  *out = NULL;
  if (ntriangle > INT_MAX / 6)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a surface of %d triangles is too large", ntriangle);
  tbSurfaceMesh* surface = TB_NEW(ctx, tbSurfaceMesh, 1);
  if (!surface) return TB_ERROR_MEMORY;
  tb_arena_init(&surface->arena, ctx);
  surface->ntriangle = ntriangle;
  tbStatus status = fill(ctx, surface, points, npoint, triangles);
  if (status == TB_OK) *out = surface;
  else tb_surface_mesh_free(ctx, surface);
  return status;
}

void tb_surface_mesh_free(tbContext* ctx, tbSurfaceMesh* surface)
{
  if (!surface) return;
  surface->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&surface->arena);
  tb_free(ctx, surface);
}
