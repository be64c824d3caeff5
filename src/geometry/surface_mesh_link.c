// SPDX-License-Identifier: Apache-2.0
// Features that lie next to each other: those that share no vertex, but whose owners do.
//
// Their boxes nearly always meet, however a surface moves, so that a tree over them is of no use; and which
// they are never changes. Listed once, they are compared one after the other (collide/surfaces_close.c).
//
// Cost      linear where no vertex has many triangles: a dozen pairs per triangle of an even mesh.
#include "geometry/surface_mesh.h"

#include <limits.h>

enum { MOST = 64 }; // meetings of triangles at vertices, per triangle; beyond that nothing is listed

typedef struct {
  tbSurfaceMesh* surface;
  int* seen; // by triangle: the last one it was compared with
  size_t nface, nedge;
} Link;

static bool has(const int* list, int count, int item)
{
  for (int k = 0; k < count; k++)
    if (list[k] == item) return true;
  return false;
}

// What triangle u owns, with what t is made of; lists it when there is a list.
static void link_pair(Link* l, int t, int u)
{
  tbSurfaceMesh* s = l->surface;
  for (int k = 0; k < 3; k++) {
    int v = s->triangle[u][k];
    if (!(s->owns[u] & TB_SURFACE_OWNS_VERTEX << k) || has(s->triangle[t], 3, v)) continue;
    if (s->close_face) s->close_face[l->nface][0] = t, s->close_face[l->nface][1] = v;
    l->nface++;
  }
  for (int i = 0; t < u && i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int d = s->triangle_edge[t][i], e = s->triangle_edge[u][j];
      if (!(s->owns[t] & TB_SURFACE_OWNS_EDGE << i) || !(s->owns[u] & TB_SURFACE_OWNS_EDGE << j)) continue;
      if (has(s->edge[d], 2, s->edge[e][0]) || has(s->edge[d], 2, s->edge[e][1])) continue;
      if (s->close_edge)
        s->close_edge[l->nedge][0] = d < e ? d : e, s->close_edge[l->nedge][1] = d < e ? e : d;
      l->nedge++;
    }
}

static void link_all(Link* l)
{
  const tbSurfaceMesh* s = l->surface;
  l->nface = l->nedge = 0;
  for (int t = 0; t < s->ntriangle; t++) l->seen[t] = -1;
  for (int t = 0; t < s->ntriangle; t++) {
    l->seen[t] = t;
    for (int k = 0; k < 3; k++)
      for (int i = s->star_adr[s->triangle[t][k]]; i < s->star_adr[s->triangle[t][k] + 1]; i++) {
        int u = s->star[i];
        if (l->seen[u] == t) continue;
        l->seen[u] = t;
        link_pair(l, t, u);
      }
  }
}

// Whether no vertex has too many triangles.
static bool is_even(const tbSurfaceMesh* s)
{
  double meetings = 0;
  for (int v = 0; v < s->nvertex; v++) {
    double count = s->star_adr[v + 1] - s->star_adr[v];
    meetings += count * count;
  }
  return meetings <= (double)MOST * s->ntriangle;
}

static tbStatus fill(tbSurfaceMesh* s, tbArena* scratch)
{
  int* seen = TB_TAKE(scratch, int, (size_t)s->ntriangle);
  if (!seen) return TB_ERROR_MEMORY;
  if (!is_even(s)) return TB_OK;
  Link l = {.surface = s, .seen = seen};
  link_all(&l); // counts
  if (l.nface + l.nedge > INT_MAX / 2) return TB_OK;
  int(*face)[2] = tb_arena_take(&s->arena, l.nface, sizeof *face);
  int(*edge)[2] = tb_arena_take(&s->arena, l.nedge, sizeof *edge);
  if (!face || !edge) return TB_ERROR_MEMORY;
  s->close_face = face, s->close_edge = edge;
  link_all(&l);
  s->nclose_face = (int)l.nface, s->nclose_edge = (int)l.nedge;
  s->linked = true;
  return TB_OK;
}

tbStatus tb_surface_mesh_link(tbContext* ctx, tbSurfaceMesh* surface)
{
  if (surface->linked) return TB_OK;
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  surface->arena.ctx = ctx;
  tbStatus status = fill(surface, &scratch);
  tb_arena_free(&scratch);
  return status;
}
