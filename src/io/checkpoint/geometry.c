// SPDX-License-Identifier: Apache-2.0
// Hulls, meshes and distance grids as bytes, each once however many shapes share it.
//
// A mesh is its vertices and triangles, from which the rest follows the same way every time. A hull and a
// grid are kept as they are: the order of a hull's faces names its contacts, and a grid takes long to make.
#include "io/checkpoint/checkpoint.h"

#include "geometry/hull.h"
#include "geometry/sdf.h"
#include "scene/world.h"

#include <limits.h>
#include <string.h>

// Writing: which geometry the shapes use.

static int index_of(const tbArray* list, const void* geometry)
{
  const void* const* item = list->data;
  for (size_t i = list->count; i-- > 0;) // neighbours share more often than not
    if (item[i] == geometry) return (int)i;
  return -1;
}

static const void* geometry_of(const tbShape* s)
{
  switch (s->type) {
  case TB_SHAPE_CONVEX: return s->hull;
  case TB_SHAPE_MESH: return s->mesh;
  case TB_SHAPE_SDF: return s->sdf;
  default: return NULL;
  }
}

static const tbArray* list_of(const tbGeometryTable* table, tbShapeType type)
{
  return type == TB_SHAPE_CONVEX ? &table->hull : type == TB_SHAPE_MESH ? &table->mesh : &table->sdf;
}

static void gather(tbCodec* c, const tbWorld* w, tbGeometryTable* table)
{
  for (size_t i = 0; i < w->shape.count && tb_codec_good(c); i++) {
    const tbShape* s = &tb_shapes(w)[i];
    const void* geometry = geometry_of(s);
    tbArray* list = (tbArray*)list_of(table, s->type);
    if (geometry && index_of(list, geometry) < 0) c->status = tb_array_push(c->ctx, list, &geometry, 1);
  }
}

// Hulls.

static void code_starts(tbCodec* c, int* adr, int count, int total, int least, const char* what)
{
  for (int i = 0; i <= count && tb_codec_good(c); i++) {
    tb_code_int(c, &adr[i], 0, total);
    tb_codec_require(c, i == 0 ? adr[0] == 0 : adr[i] - adr[i - 1] >= least, what);
  }
  tb_codec_require(c, adr[count] == total, what);
}

static void code_hull_arrays(tbCodec* c, tbHull* h)
{
  static const char what[] = "the corners of a hull";
  int corners = 2 * h->nedge;
  for (int i = 0; i < h->nvertex; i++) tb_code_vec3(c, &h->vertex[i]);
  for (int i = 0; i < h->nface; i++) tb_code_vec3(c, &h->face_normal[i]);
  tb_code_numbers(c, h->face_offset, (size_t)h->nface);
  code_starts(c, h->face_adr, h->nface, corners, 3, what);
  for (int i = 0; i < corners; i++) tb_code_int(c, &h->face_vertex[i], 0, h->nvertex - 1);
  for (int i = 0; i < h->nedge; i++)
    for (int k = 0; k < 2; k++) {
      tb_code_int(c, &h->edge[i].vertex[k], 0, h->nvertex - 1);
      tb_code_int(c, &h->edge[i].face[k], 0, h->nface - 1);
    }
  code_starts(c, h->near_adr, h->nvertex, corners, 1, what);
  for (int i = 0; i < corners; i++) tb_code_int(c, &h->near[i], 0, h->nvertex - 1);
  tb_code_vec3(c, &h->centre);
  tb_code_number(c, &h->radius);
}

static void code_hull(tbCodec* c, const tbHull** hull)
{
  tbHull size = tb_codec_reads(c) ? (tbHull){0} : **hull;
  tb_code_count(c, &size.nvertex, 24);
  tb_code_count(c, &size.nface, 32);
  tb_code_count(c, &size.nedge, 64);
  tb_codec_require(c, size.nvertex >= 4 && size.nface >= 4 && size.nedge >= 6 && size.nedge < INT_MAX / 2,
                   "a hull that is not a solid");
  if (!tb_codec_good(c)) return;
  if (tb_codec_reads(c)) *hull = tb_hull_allocate(c->ctx, size.nvertex, size.nface, size.nedge);
  if (*hull) code_hull_arrays(c, (tbHull*)*hull);
  else c->status = TB_ERROR_MEMORY;
}

// Meshes.

static tbStatus make_mesh(tbCodec* c, const tbVec3* vertex, int nvertex, int (*triangle)[3], int ntriangle,
                          tbMesh** out)
{
  tbStatus status = tb_mesh_create(c->ctx, vertex, nvertex, &triangle[0][0], ntriangle, out);
  if (status == TB_ERROR_MEMORY) return status;
  bool same = status == TB_OK && (*out)->nvertex == nvertex && (*out)->ntriangle == ntriangle &&
              memcmp((*out)->vertex, vertex, (size_t)nvertex * sizeof *vertex) == 0 &&
              memcmp((*out)->triangle, triangle, (size_t)ntriangle * sizeof *triangle) == 0;
  if (same) return TB_OK;
  if (status == TB_OK) tb_mesh_free(c->ctx, *out);
  *out = NULL;
  tb_codec_refuse(c, "a mesh that cannot be");
  return c->status;
}

static void code_mesh(tbCodec* c, const tbMesh** mesh)
{
  bool reads = tb_codec_reads(c);
  int nvertex = reads ? 0 : (*mesh)->nvertex, ntriangle = reads ? 0 : (*mesh)->ntriangle;
  tb_code_count(c, &nvertex, 24);
  tb_code_count(c, &ntriangle, 24);
  if (!tb_codec_good(c)) return;
  tbVec3* vertex = reads ? TB_NEW(c->ctx, tbVec3, (size_t)nvertex) : (*mesh)->vertex;
  int(*triangle)[3] = reads ? tb_alloc(c->ctx, (size_t)ntriangle, sizeof *triangle) : (*mesh)->triangle;
  if (!vertex || !triangle) c->status = TB_ERROR_MEMORY;
  for (int i = 0; i < nvertex && tb_codec_good(c); i++) tb_code_vec3(c, &vertex[i]);
  for (int i = 0; i < ntriangle && tb_codec_good(c); i++)
    for (int k = 0; k < 3; k++) tb_code_int(c, &triangle[i][k], 0, nvertex - 1);
  if (!reads) return;
  tbMesh* made = NULL;
  if (tb_codec_good(c)) c->status = make_mesh(c, vertex, nvertex, triangle, ntriangle, &made);
  *mesh = made;
  tb_free(c->ctx, vertex);
  tb_free(c->ctx, triangle);
}

// Grids.

static void code_sdf(tbCodec* c, const tbSdf** sdf)
{
  tbSdf grid = tb_codec_reads(c) ? (tbSdf){0} : **sdf;
  double nodes = 1;
  for (int k = 0; k < 3; k++) {
    tb_code_int(c, &grid.n[k], 2, INT_MAX / 2);
    nodes *= grid.n[k];
  }
  tb_code_vec3(c, &grid.origin);
  tb_code_number(c, &grid.cell);
  tb_code_number(c, &grid.thickness);
  tb_codec_require(c, nodes < INT_MAX && grid.cell > 0, "a grid that cannot be");
  int count = tb_codec_good(c) ? (int)nodes : 0, stored = count;
  tb_code_count(c, &stored, 8);
  tb_codec_require(c, stored == count, "a grid that cannot be");
  if (!tb_codec_good(c)) return;
  if (tb_codec_reads(c)) {
    tbSdf* made = TB_NEW(c->ctx, tbSdf, 1);
    *sdf = made;
    if (made) *made = grid;
    if (made) made->distance = TB_NEW(c->ctx, double, (size_t)count);
    if (!made || !made->distance) c->status = TB_ERROR_MEMORY;
  }
  if (!tb_codec_good(c)) return;
  tb_code_numbers(c, (*sdf)->distance, (size_t)count);
  code_mesh(c, (const tbMesh**)&((tbSdf*)*sdf)->mesh);
}

// The table. What fails half made is freed here; what is whole, the world keeps.

static void code_hulls(tbCodec* c, tbWorld* w, tbArray* list)
{
  tb_code_array(c, list, 24);
  for (size_t i = 0; i < list->count && tb_codec_good(c); i++) {
    const tbHull** hull = (const tbHull**)list->data + i;
    code_hull(c, hull);
    if (!tb_codec_reads(c)) continue;
    if (tb_codec_good(c)) c->status = tb_world_keep_hull(c->ctx, w, (tbHull*)*hull);
    else tb_hull_free(c->ctx, (tbHull*)*hull);
  }
}

static void code_meshes(tbCodec* c, tbWorld* w, tbArray* list)
{
  tb_code_array(c, list, 16);
  for (size_t i = 0; i < list->count && tb_codec_good(c); i++) {
    const tbMesh** mesh = (const tbMesh**)list->data + i;
    code_mesh(c, mesh);
    if (tb_codec_reads(c) && tb_codec_good(c)) c->status = tb_world_keep_mesh(c->ctx, w, (tbMesh*)*mesh);
  }
}

static void code_sdfs(tbCodec* c, tbWorld* w, tbArray* list)
{
  tb_code_array(c, list, 72);
  for (size_t i = 0; i < list->count && tb_codec_good(c); i++) {
    const tbSdf** sdf = (const tbSdf**)list->data + i;
    code_sdf(c, sdf);
    if (!tb_codec_reads(c)) continue;
    if (tb_codec_good(c)) c->status = tb_world_keep_sdf(c->ctx, w, (tbSdf*)*sdf);
    else tb_sdf_free(c->ctx, (tbSdf*)*sdf);
  }
}

void tb_code_geometry(tbCodec* c, tbWorld* w, tbGeometryTable* table)
{
  if (!tb_codec_reads(c)) gather(c, w, table);
  code_hulls(c, w, &table->hull);
  code_meshes(c, w, &table->mesh);
  code_sdfs(c, w, &table->sdf);
}

void tb_code_reference(tbCodec* c, const tbGeometryTable* table, tbShape* s)
{
  const tbArray* list = list_of(table, s->type);
  int index = tb_codec_reads(c) ? 0 : index_of(list, geometry_of(s));
  tb_code_int(c, &index, 0, (int)list->count - 1);
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  if (s->type == TB_SHAPE_CONVEX) s->hull = ((const tbHull**)list->data)[index];
  else if (s->type == TB_SHAPE_MESH) s->mesh = ((const tbMesh**)list->data)[index];
  else s->sdf = ((const tbSdf**)list->data)[index];
}

void tb_geometry_table_free(tbContext* ctx, tbGeometryTable* table)
{
  tb_array_free(ctx, &table->hull);
  tb_array_free(ctx, &table->mesh);
  tb_array_free(ctx, &table->sdf);
}
