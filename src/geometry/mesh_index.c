// SPDX-License-Identifier: Apache-2.0
// What meets at a vertex, and which edges and vertices can be touched at all.
#include "geometry/mesh.h"

static const double flat = 1e-5; // sine of the angle between two faces that count as one

static uint8_t sharpness(const tbMesh* m, const tbMeshEdge* e)
{
  if (e->triangle[0] < 0 || e->triangle[1] < 0) return TB_SHARP_FRONT | TB_SHARP_BACK;
  // height of the second face's far corner over the first face's plane, over its distance from the edge
  tbVec3 n = m->normal[e->triangle[0]], p = m->vertex[e->vertex[0]];
  tbVec3 along = tb_normalize3(tb_sub3(m->vertex[e->vertex[1]], p));
  tbVec3 w = tb_sub3(m->vertex[tb_mesh_opposite(m, e->triangle[1], e)], p);
  w = tb_madd3(w, -tb_dot3(w, along), along);
  double height = tb_dot3(n, w), allowed = flat * tb_norm3(w);
  if (height < -allowed) return TB_SHARP_FRONT;
  if (height > allowed) return TB_SHARP_BACK;
  return tb_dot3(n, m->normal[e->triangle[1]]) < 0 ? TB_SHARP_FRONT | TB_SHARP_BACK : 0; // folded over: flat
}

static tbVec3 direction(const tbMesh* m, int vertex, int e)
{
  const int* ends = m->edge[e].vertex;
  return tb_normalize3(tb_sub3(m->vertex[ends[ends[0] == vertex]], m->vertex[vertex]));
}

// What a vertex has of its edges. One in the middle of a straight edge has nothing that the edge has not.
static uint8_t vertex_sharpness(const tbMesh* m, int v)
{
  uint8_t sharp = 0;
  int found = 0, edge[2] = {0, 0};
  for (int k = m->vertex_edge_adr[v]; k < m->vertex_edge_adr[v + 1]; k++) {
    int e = m->vertex_edge[k];
    sharp |= m->edge_sharp[e];
    if (m->edge_sharp[e]) edge[found++ > 0] = e;
  }
  if (found != 2) return sharp;
  return tb_norm3(tb_add3(direction(m, v, edge[0]), direction(m, v, edge[1]))) < flat ? 0 : sharp;
}

tbStatus tb_mesh_index(tbArena* arena, tbMesh* m)
{
  m->edge_sharp = TB_TAKE(arena, uint8_t, (size_t)m->nedge);
  m->vertex_sharp = TB_TAKE(arena, uint8_t, (size_t)m->nvertex);
  m->vertex_edge_adr = TB_TAKE(arena, int, (size_t)m->nvertex + 1);
  m->vertex_edge = TB_TAKE(arena, int, 2 * (size_t)m->nedge);
  m->vertex_triangle = TB_TAKE(arena, int, (size_t)m->nvertex);
  if (!m->edge_sharp || !m->vertex_sharp || !m->vertex_edge_adr || !m->vertex_edge || !m->vertex_triangle)
    return TB_ERROR_MEMORY;

  for (int t = m->ntriangle - 1; t >= 0; t--)
    for (int i = 0; i < 3; i++) m->vertex_triangle[m->triangle[t][i]] = t;

  // adr[v] is where v's edges end while they are filled in from the back, and where they begin afterwards.
  int* adr = m->vertex_edge_adr;
  for (int e = 0; e < m->nedge; e++) {
    m->edge_sharp[e] = sharpness(m, &m->edge[e]);
    for (int i = 0; i < 2; i++) adr[m->edge[e].vertex[i]]++;
  }
  for (int v = 0; v < m->nvertex; v++) adr[v + 1] += adr[v];
  for (int e = m->nedge - 1; e >= 0; e--)
    for (int i = 0; i < 2; i++) m->vertex_edge[--adr[m->edge[e].vertex[i]]] = e;
  for (int v = 0; v < m->nvertex; v++) m->vertex_sharp[v] = vertex_sharpness(m, v);
  return TB_OK;
}
