// SPDX-License-Identifier: Apache-2.0
// The meshes of soft bodies and cloth in scene files: read from a file, or made by rule and scaled.
#include "geometry/mesh.h"
#include "io/scene/build.h"
#include "io/mesh/tets_io.h"

// The one thing that the mesh is; null: a file.
static tbStatus pick(tbSceneBuild* b, const tbSceneMesh* m, const tbSceneGrid** out)
{
  const tbSceneGrid* const grid[] = {m->box,   m->sphere, m->cylinder, m->rod,
                                     m->torus, m->ring,   m->grid,     m->tube};
  int count = m->file != NULL;
  *out = NULL;
  for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
    if (grid[i]) *out = grid[i], count++;
  if (count == 0) return tb_json_fail(b->ctx, m->node, "the mesh does not say what it is");
  if (count > 1) return tb_json_fail(b->ctx, m->node, "a mesh is one thing, not %d", count);
  return TB_OK;
}

static tbStatus check_cells(tbSceneBuild* b, const tbSceneMesh* m, const tbSceneGrid* g)
{
  const int* n = g->cells;
  double cells = (double)n[0] * n[1]; // of a sheet of cloth
  if (m->box || m->sphere || m->ring) cells *= n[2];
  if (m->cylinder || m->rod || m->torus) cells *= n[0];
  if (cells > TB_TET_CELLS_MAX)
    return tb_json_fail(b->ctx, tb_scene_place(g->node, "cells"), "%.0f cells; a mesh has at most %d", cells,
                        TB_TET_CELLS_MAX);
  if (m->sphere && (n[0] != n[1] || n[0] != n[2]))
    return tb_json_fail(b->ctx, tb_scene_place(g->node, "cells"),
                        "a ball has as many cells along each axis; one number says so");
  return TB_OK;
}

static tbStatus make_solid(tbContext* ctx, const tbSceneMesh* m, const tbSceneGrid* g, tbTetMesh** out)
{
  const int* n = g->cells;
  if (m->box) return tb_tet_box(ctx, tb_load3(g->size), n, g->tets, out);
  if (m->sphere) return tb_tet_sphere(ctx, g->radius, n[0], out);
  if (m->torus) return tb_tet_torus(ctx, g->ring, g->tube, n[0], n[1], out);
  if (m->ring) return tb_tet_ring(ctx, g->inner, g->outer, g->height, n, out);
  return tb_tet_cylinder(ctx, g->radius, g->length, n[0], n[1], out);
}

static tbStatus make_sheet(tbContext* ctx, const tbSceneMesh* m, const tbSceneGrid* g, tbMesh** out)
{
  const int* n = g->cells;
  if (m->tube) return tb_cloth_tube(ctx, g->size[0], g->size[1], g->length, n[0], n[1], out);
  return tb_cloth_grid(ctx, g->size[0], g->size[1], n[0], n[1], out);
}

static tbVec3* scaled(tbContext* ctx, const tbVec3* node, int count, tbVec3 scale)
{
  tbVec3* to = TB_NEW(ctx, tbVec3, (size_t)count);
  for (int i = 0; to && i < count; i++) to[i] = tb_mul3(scale, node[i]);
  return to;
}

static tbStatus scale_solid(tbContext* ctx, tbVec3 scale, tbTetMesh** mesh)
{
  tbTetMesh *old = *mesh, *made = NULL;
  tbVec3* node = scaled(ctx, old->node, old->nnode, scale);
  if (!node) return TB_ERROR_MEMORY;
  tbStatus status = tb_tet_mesh_create(ctx, node, old->nnode, (const int(*)[4])old->tet, old->ntet, &made);
  tb_free(ctx, node);
  if (status != TB_OK) return status;
  tb_tet_mesh_free(ctx, old);
  *mesh = made;
  return TB_OK;
}

static tbStatus scale_sheet(tbContext* ctx, tbVec3 scale, tbMesh** mesh)
{
  tbMesh *old = *mesh, *made = NULL;
  tbVec3* vertex = scaled(ctx, old->vertex, old->nvertex, scale);
  if (!vertex) return TB_ERROR_MEMORY;
  tbStatus status = tb_mesh_create(ctx, vertex, old->nvertex, old->triangle[0], old->ntriangle, &made);
  tb_free(ctx, vertex);
  if (status != TB_OK) return status;
  tb_mesh_free(ctx, old);
  *mesh = made;
  return TB_OK;
}

// Exactly one of `solid` and `sheet` is wanted; the other is null.
static tbStatus load(tbSceneBuild* b, const tbSceneMesh* m, tbVec3 scale, tbTetMesh** solid, tbMesh** sheet)
{
  const tbJson* place = tb_scene_place(m->node, "file");
  const char* path;
  TB_TRY(tb_scene_path(b, place, m->file, &path));
  tbStatus status =
      solid ? tb_tet_mesh_load(b->ctx, path, scale, solid) : tb_mesh_load(b->ctx, path, scale, sheet);
  return tb_scene_placed(b->ctx, place, status);
}

static tbStatus make(tbContext* ctx, const tbSceneMesh* m, const tbSceneGrid* g, tbVec3 scale,
                     tbTetMesh** solid, tbMesh** sheet)
{
  bool same = scale.x == 1 && scale.y == 1 && scale.z == 1;
  if (solid) {
    TB_TRY(make_solid(ctx, m, g, solid));
    return same ? TB_OK : scale_solid(ctx, scale, solid);
  }
  TB_TRY(make_sheet(ctx, m, g, sheet));
  return same ? TB_OK : scale_sheet(ctx, scale, sheet);
}

static tbStatus refine(tbContext* ctx, tbTetMesh** mesh)
{
  tbTetMesh* finer;
  TB_TRY(tb_tet_mesh_refine(ctx, *mesh, &finer));
  tb_tet_mesh_free(ctx, *mesh);
  *mesh = finer;
  return TB_OK;
}

tbStatus tb_scene_mesh(tbSceneBuild* b, const tbSceneDeformable* s, tbTetMesh** solid, tbMesh** sheet)
{
  const tbSceneGrid* grid;
  TB_TRY(pick(b, s->mesh, &grid));
  tbVec3 scale = tb_load3(s->scale);
  if (!grid) TB_TRY(load(b, s->mesh, scale, solid, sheet));
  else {
    TB_TRY(check_cells(b, s->mesh, grid));
    TB_TRY(tb_scene_placed(b->ctx, grid->node, make(b->ctx, s->mesh, grid, scale, solid, sheet)));
  }
  for (int i = 0; i < s->mesh->refine; i++)
    TB_TRY(tb_scene_placed(b->ctx, tb_scene_place(s->mesh->node, "refine"), refine(b->ctx, solid)));
  return TB_OK;
}
