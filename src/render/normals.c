// SPDX-License-Identifier: Apache-2.0
// Normals of surfaces that are given as triangles: smooth where they bend gently, sharp at their edges.
#include "render/subject.h"

#include "base/threads.h"

tbStatus tb_surface_mesh_build(tbArena* arena, const tbSolidMesh* m, tbSubjectSurface* out)
{
  out->corner_adr = TB_TAKE(arena, int, (size_t)m->nvertex + 2);
  out->corner = TB_TAKE(arena, int, 3 * (size_t)m->ntriangle);
  out->face = TB_TAKE(arena, tbVec3, (size_t)m->ntriangle);
  if (!out->corner_adr || !out->corner || !out->face) return TB_ERROR_MEMORY;
  int* next = out->corner_adr + 1; // moves each first corner one place on while it fills
  for (int t = 0; t < m->ntriangle; t++)
    for (int k = 0; k < 3; k++) next[m->triangle[t][k] + 1]++;
  for (int v = 0; v < m->nvertex; v++) next[v + 1] += next[v];
  for (int t = 0; t < m->ntriangle; t++)
    for (int k = 0; k < 3; k++) out->corner[next[m->triangle[t][k]]++] = 3 * t + k;
  return TB_OK;
}

typedef struct {
  const tbSubjectSurface* surface;
  const tbSolidMesh* mesh;
  double cosine;
} Work;

static tbVec3 area_of(const tbSolidMesh* m, int t)
{
  tbVec3 a = m->vertex[m->triangle[t][0]];
  return tb_cross3(tb_sub3(m->vertex[m->triangle[t][1]], a), tb_sub3(m->vertex[m->triangle[t][2]], a));
}

static void find_faces(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Work* w = user;
  for (int t = begin; t < end; t++) w->surface->face[t] = tb_normalize3(area_of(w->mesh, t));
}

static void find_corners(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Work* w = user;
  const tbSubjectSurface* s = w->surface;
  for (int t = begin; t < end; t++)
    for (int k = 0; k < 3; k++) {
      int v = w->mesh->triangle[t][k];
      tbVec3 sum = tb_zero3();
      for (int i = s->corner_adr[v]; i < s->corner_adr[v + 1]; i++) {
        int other = s->corner[i] / 3;
        if (other == t || tb_dot3(s->face[t], s->face[other]) > w->cosine)
          sum = tb_add3(sum, area_of(w->mesh, other));
      }
      w->mesh->normal[3 * t + k] = tb_normalize3(sum);
    }
}

void tb_surface_normals(tbThreads* threads, const tbSubjectSurface* surface, const tbSolidMesh* mesh,
                        double cosine)
{
  Work w = {surface, mesh, cosine};
  tb_parallel_for(threads, mesh->ntriangle, 512, find_faces, &w);
  tb_parallel_for(threads, mesh->ntriangle, 512, find_corners, &w);
}
