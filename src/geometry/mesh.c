// SPDX-License-Identifier: Apache-2.0
// Triangle meshes: input cleaned and checked. What lies around each feature is found in mesh_features.c.
//
// Vertices with the same coordinates become one (the sign of zero does not count), which turns the loose
// triangles of an STL file into a surface. Triangles without area, exactly, are flipped away where a
// neighbour allows it (mesh_flat.c) and dropped otherwise, and so are vertices that no triangle uses.
#include "geometry/mesh.h"
#include "base/sort.h"
#include "geometry/box.h"
#include "geometry/mesh_flat.h"

#include <limits.h>

typedef struct {
  double x[3];
  int index;
} Place;

static int compare_places(const void* a, const void* b)
{
  const Place *p = a, *q = b;
  for (int k = 0; k < 3; k++)
    if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
  return p->index < q->index ? -1 : 1;
}

static tbStatus check_input(tbContext* ctx, const tbVec3* vertices, int nvertex, const int* triangles, int n)
{
  if (nvertex < 0 || n < 0 || (nvertex > 0 && !vertices) || (n > 0 && !triangles))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a mesh without vertices or triangles");
  if (n == 0) return tb_fail(ctx, TB_ERROR_INPUT, "the mesh has no triangles");
  if (n > INT_MAX / 3) return tb_fail(ctx, TB_ERROR_INPUT, "a mesh of %d triangles is too large", n);
  for (int i = 0; i < nvertex; i++) {
    tbVec3 v = vertices[i];
    if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z))
      return tb_fail(ctx, TB_ERROR_INPUT, "vertex %d of the mesh is (%g, %g, %g); it must be finite", i, v.x,
                     v.y, v.z);
    if (tb_maxabs3(v) > 1e30)
      return tb_fail(ctx, TB_ERROR_INPUT, "vertex %d of the mesh has a coordinate of %g: beyond 1e30", i,
                     tb_maxabs3(v));
  }
  for (int t = 0; t < n; t++)
    for (int i = 0; i < 3; i++)
      if (triangles[3 * t + i] < 0 || triangles[3 * t + i] >= nvertex)
        return tb_fail(ctx, TB_ERROR_INPUT, "triangle %d of the mesh has the vertex %d; there are %d", t,
                       triangles[3 * t + i], nvertex);
  return TB_OK;
}

// first[i]: the first vertex at the place of vertex i.
static tbStatus weld(tbArena* scratch, const tbVec3* vertices, int count, int** first)
{
  Place* place = TB_TAKE(scratch, Place, (size_t)count);
  *first = TB_TAKE(scratch, int, (size_t)count);
  if (!place || !*first) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++)
    place[i] = (Place){{vertices[i].x + 0.0, vertices[i].y + 0.0, vertices[i].z + 0.0}, i}; // −0 + 0 = 0
  tb_sort(place, (size_t)count, sizeof *place, compare_places);
  for (int i = 0; i < count; i++) {
    bool same = i > 0 && place[i].x[0] == place[i - 1].x[0] && place[i].x[1] == place[i - 1].x[1] &&
                place[i].x[2] == place[i - 1].x[2];
    (*first)[place[i].index] = same ? (*first)[place[i - 1].index] : place[i].index;
  }
  return TB_OK;
}

static tbStatus clean(tbContext* ctx, tbMesh* mesh, tbArena* scratch, const tbVec3* vertices, int nvertex,
                      const int* triangles, int ntriangle)
{
  int *first, *number = TB_TAKE(scratch, int, (size_t)nvertex);
  mesh->triangle = (int(*)[3])tb_arena_take(&mesh->arena, (size_t)ntriangle, sizeof *mesh->triangle);
  if (!number || !mesh->triangle) return TB_ERROR_MEMORY;
  TB_TRY(weld(scratch, vertices, nvertex, &first));
  for (int k = 0; k < 3 * ntriangle; k++) mesh->triangle[k / 3][k % 3] = first[triangles[k]];
  TB_TRY(tb_mesh_flip_flat(scratch, vertices, mesh->triangle, ntriangle));
  for (int t = 0; t < ntriangle; t++) {
    if (tb_triangle_is_flat(vertices, mesh->triangle[t])) continue;
    int* kept = mesh->triangle[mesh->ntriangle++];
    for (int i = 0; i < 3; i++) {
      kept[i] = mesh->triangle[t][i];
      number[kept[i]] = 1;
    }
  }
  if (mesh->ntriangle == 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "none of the mesh's %d triangles has an area", ntriangle);
  for (int i = 0; i < nvertex; i++)
    if (number[i]) number[i] = mesh->nvertex++;
  mesh->vertex = TB_TAKE(&mesh->arena, tbVec3, (size_t)mesh->nvertex);
  if (!mesh->vertex) return TB_ERROR_MEMORY;
  for (int t = 0; t < mesh->ntriangle; t++)
    for (int i = 0; i < 3; i++) {
      int* v = &mesh->triangle[t][i];
      mesh->vertex[number[*v]] = vertices[*v];
      *v = number[*v];
    }
  return TB_OK;
}

static tbStatus make_tree(tbContext* ctx, tbMesh* mesh)
{
  mesh->triangle_box = TB_TAKE(&mesh->arena, tbBox, (size_t)mesh->ntriangle);
  if (!mesh->triangle_box) return TB_ERROR_MEMORY;
  mesh->box = tb_box_empty();
  for (int t = 0; t < mesh->ntriangle; t++) {
    tbBox box = tb_box_empty();
    for (int i = 0; i < 3; i++) box = tb_box_add(box, mesh->vertex[mesh->triangle[t][i]]);
    mesh->triangle_box[t] = box;
    mesh->box = tb_box_join(mesh->box, box);
  }
  return tb_bvh_build(ctx, &mesh->arena, mesh->triangle_box, mesh->ntriangle, &mesh->bvh);
}

tbStatus tb_mesh_create(tbContext* ctx, const tbVec3* vertices, int vertex_count, const int* triangles,
                        int triangle_count, tbMesh** out)
{
  *out = NULL;
  TB_TRY(check_input(ctx, vertices, vertex_count, triangles, triangle_count));
  tbMesh* mesh = TB_NEW(ctx, tbMesh, 1);
  if (!mesh) return TB_ERROR_MEMORY;
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tb_arena_init(&mesh->arena, ctx);
  tbStatus status = clean(ctx, mesh, &scratch, vertices, vertex_count, triangles, triangle_count);
  tb_arena_free(&scratch);
  if (status == TB_OK) status = make_tree(ctx, mesh);
  if (status == TB_OK) status = tb_mesh_make_features(ctx, mesh);
  if (status == TB_OK) *out = mesh;
  else tb_mesh_free(ctx, mesh);
  return status;
}

void tb_mesh_free(tbContext* ctx, tbMesh* mesh)
{
  if (!mesh) return;
  mesh->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&mesh->arena);
  tb_free(ctx, mesh);
}

tbTriangleView tb_mesh_triangles(const tbMesh* m)
{
  return (tbTriangleView){m->vertex, (const int(*)[3])m->triangle, m->nvertex, m->ntriangle};
}

bool tb_mesh_is_solid(const tbMesh* mesh) { return mesh->closed && mesh->oriented && mesh->volume > 0; }
