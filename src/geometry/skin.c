// Skins from triangles: each edge once, with the triangles on either side, and who owns what.
//
// The 3n sides are sorted by their two ends, by counting, so that a vertex with a hundred thousand triangles
// costs no more than others; the sides of one edge are then neighbours. A vertex belongs to the first
// triangle that has it, an edge likewise.
//
// Cost      linear in vertices and triangles; the tree n log n.
#include "geometry/skin.h"
#include "geometry/box.h"

#include <limits.h>
#include <string.h>

// Side s = 3t + i of triangle t runs from its corner i to the next.
static int end_of(const tbSkin* skin, int s, bool upper)
{
  const int* v = skin->triangle[s / 3];
  int a = v[s % 3], b = v[(s % 3 + 1) % 3];
  return upper == (a < b) ? b : a;
}

// By one of their ends, keeping the order of equals. start: nvertex + 1 integers.
static void sort_sides(const tbSkin* skin, bool upper, const int* in, int* out, int* start)
{
  int n = 3 * skin->ntriangle;
  memset(start, 0, ((size_t)skin->nvertex + 1) * sizeof *start);
  for (int k = 0; k < n; k++) start[end_of(skin, in[k], upper) + 1]++;
  for (int v = 0; v < skin->nvertex; v++) start[v + 1] += start[v];
  for (int k = 0; k < n; k++) out[start[end_of(skin, in[k], upper)]++] = in[k];
}

// leader[s]: the first side with the same two ends.
static tbStatus find_leaders(const tbSkin* skin, tbArena* scratch, int* leader)
{
  size_t n = 3 * (size_t)skin->ntriangle;
  int *a = TB_TAKE(scratch, int, n), *b = TB_TAKE(scratch, int, n),
      *start = TB_TAKE(scratch, int, (size_t)skin->nvertex + 1);
  if (!a || !b || !start) return TB_ERROR_MEMORY;
  for (size_t s = 0; s < n; s++) a[s] = (int)s;
  sort_sides(skin, true, a, b, start);
  sort_sides(skin, false, b, a, start);
  for (size_t k = 0; k < n; k++) {
    bool same = k > 0 && end_of(skin, a[k], false) == end_of(skin, a[k - 1], false) &&
                end_of(skin, a[k], true) == end_of(skin, a[k - 1], true);
    leader[a[k]] = same ? leader[a[k - 1]] : a[k];
  }
  return TB_OK;
}

static tbStatus make_edges(tbSkin* skin, tbArena* scratch)
{
  int n = 3 * skin->ntriangle, *leader = TB_TAKE(scratch, int, (size_t)n);
  skin->triangle_edge = tb_arena_take(&skin->arena, (size_t)skin->ntriangle, sizeof *skin->triangle_edge);
  if (!leader || !skin->triangle_edge) return TB_ERROR_MEMORY;
  TB_TRY(find_leaders(skin, scratch, leader));
  for (int s = 0; s < n; s++) skin->nedge += leader[s] == s;
  skin->edge = tb_arena_take(&skin->arena, (size_t)skin->nedge, sizeof *skin->edge);
  skin->edge_triangle = tb_arena_take(&skin->arena, (size_t)skin->nedge, sizeof *skin->edge_triangle);
  if (!skin->edge || !skin->edge_triangle) return TB_ERROR_MEMORY;
  skin->closed = n > 0;
  for (int s = 0, next = 0; s < n; s++) {
    const int* v = skin->triangle[s / 3];
    int e = leader[s] == s ? next++ : skin->triangle_edge[leader[s] / 3][leader[s] % 3], *two;
    skin->triangle_edge[s / 3][s % 3] = e;
    two = skin->edge_triangle[e];
    if (leader[s] == s) {
      skin->edge[e][0] = v[s % 3], skin->edge[e][1] = v[(s % 3 + 1) % 3];
      two[0] = s / 3, two[1] = -1;
      skin->owns[s / 3] |= (uint8_t)(TB_SKIN_OWNS_EDGE << s % 3);
    } else {
      if (two[1] >= 0 || v[s % 3] == skin->edge[e][0]) skin->closed = false; // a third one, or turned over
      if (two[1] < 0) two[1] = s / 3;
    }
  }
  for (int e = 0; e < skin->nedge; e++)
    if (skin->edge_triangle[e][1] < 0) skin->closed = false;
  return TB_OK;
}

// Numbers the points in use, and gives each to the first triangle that has it.
static tbStatus make_vertices(tbSkin* skin, tbArena* scratch, const tbVec3* points, int npoint,
                              const int (*triangles)[3])
{
  int* number = TB_TAKE(scratch, int, (size_t)npoint);
  skin->triangle = tb_arena_take(&skin->arena, (size_t)skin->ntriangle, sizeof *skin->triangle);
  skin->owns = TB_TAKE(&skin->arena, uint8_t, (size_t)skin->ntriangle);
  if (!number || !skin->triangle || !skin->owns) return TB_ERROR_MEMORY;
  for (int t = 0; t < skin->ntriangle; t++)
    for (int i = 0; i < 3; i++)
      if (number[triangles[t][i]]++ == 0) skin->owns[t] |= (uint8_t)(TB_SKIN_OWNS_VERTEX << i);
  for (int p = 0; p < npoint; p++) skin->nvertex += number[p] > 0;
  skin->rest = TB_TAKE(&skin->arena, tbVec3, (size_t)skin->nvertex);
  skin->node = TB_TAKE(&skin->arena, int, (size_t)skin->nvertex);
  if (!skin->rest || !skin->node) return TB_ERROR_MEMORY;
  for (int p = 0, v = 0; p < npoint; p++) {
    if (number[p] == 0) continue;
    skin->rest[v] = points[p];
    skin->node[v] = p;
    number[p] = v++;
  }
  for (int t = 0; t < skin->ntriangle; t++)
    for (int i = 0; i < 3; i++) skin->triangle[t][i] = number[triangles[t][i]];
  return TB_OK;
}

// The triangles of every vertex, in order.
static tbStatus make_stars(tbSkin* s)
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

static tbStatus make_tree(tbContext* ctx, tbSkin* skin, tbArena* scratch)
{
  tbBox* box = TB_TAKE(scratch, tbBox, (size_t)skin->ntriangle);
  if (!box) return TB_ERROR_MEMORY;
  for (int t = 0; t < skin->ntriangle; t++) {
    box[t] = tb_box_empty();
    for (int i = 0; i < 3; i++) box[t] = tb_box_add(box[t], skin->rest[skin->triangle[t][i]]);
  }
  return tb_bvh_build(ctx, &skin->arena, box, skin->ntriangle, &skin->bvh);
}

static tbStatus fill(tbContext* ctx, tbSkin* skin, const tbVec3* points, int npoint,
                     const int (*triangles)[3])
{
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tbStatus status = make_vertices(skin, &scratch, points, npoint, triangles);
  if (status == TB_OK) status = make_edges(skin, &scratch);
  if (status == TB_OK) status = make_stars(skin);
  if (status == TB_OK) status = make_tree(ctx, skin, &scratch);
  tb_arena_free(&scratch);
  double sum = 0;
  for (int e = 0; status == TB_OK && e < skin->nedge; e++)
    sum += tb_distance3(skin->rest[skin->edge[e][0]], skin->rest[skin->edge[e][1]]);
  skin->edge_length = skin->nedge > 0 ? sum / skin->nedge : 0;
  return status;
}

tbStatus tb_skin_create(tbContext* ctx, const tbVec3* points, int npoint, const int (*triangles)[3],
                        int ntriangle, tbSkin** out)
{
  *out = NULL;
  if (ntriangle > INT_MAX / 6)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a surface of %d triangles is too large", ntriangle);
  tbSkin* skin = TB_NEW(ctx, tbSkin, 1);
  if (!skin) return TB_ERROR_MEMORY;
  tb_arena_init(&skin->arena, ctx);
  skin->ntriangle = ntriangle;
  tbStatus status = fill(ctx, skin, points, npoint, triangles);
  if (status == TB_OK) *out = skin;
  else tb_skin_free(ctx, skin);
  return status;
}

void tb_skin_free(tbContext* ctx, tbSkin* skin)
{
  if (!skin) return;
  skin->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&skin->arena);
  tb_free(ctx, skin);
}
