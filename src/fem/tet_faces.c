// SPDX-License-Identifier: Apache-2.0
// The surface of a tetrahedral mesh: the faces that one tetrahedron has to itself.
//
// Faces are sorted by their nodes, one counting sort for each of the three, so that equal faces stand side by
// side: linear in the number of tetrahedra, whatever the mesh. Edges of the surface are counted the same way.
// The surface comes in the order of the tetrahedra.
#include "fem/sort.h"
#include "fem/tets.h"

// Outward faces of a positive tetrahedron; face k lies opposite to corner k.
static const int face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

typedef struct {
  int low, mid, high; // nodes, ascending
  bool odd;           // the outward order is an odd permutation of that
} Face;

static Face face_of(const tbTetMesh* mesh, int index)
{
  const int *t = mesh->tet[index / 4], *c = face_corner[index % 4];
  int a = t[c[0]], b = t[c[1]], d = t[c[2]], swap;
  bool odd = false;
  if (a > b) swap = a, a = b, b = swap, odd = !odd;
  if (b > d) swap = b, b = d, d = swap, odd = !odd;
  if (a > b) swap = a, a = b, b = swap, odd = !odd;
  return (Face){a, b, d, odd};
}

static bool same_nodes(const int s[4], const int t[4])
{
  for (int a = 0; a < 4; a++)
    if (s[a] != t[0] && s[a] != t[1] && s[a] != t[2] && s[a] != t[3]) return false;
  return true;
}

// Faces i < j on the same nodes.
static tbStatus join(tbContext* ctx, const tbTetMesh* mesh, int i, int j, int* twin)
{
  Face f = face_of(mesh, i), g = face_of(mesh, j);
  int s = i / 4, t = j / 4;
  if (same_nodes(mesh->tet[s], mesh->tet[t]))
    return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedra %d and %d are the same", s, t);
  if (twin[i] >= 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "the face (%d %d %d) has three tetrahedra: %d, %d and %d", f.low,
                   f.mid, f.high, s, twin[i] / 4, t);
  if (f.odd == g.odd)
    return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedra %d and %d lie on the same side of the face (%d %d %d)", s,
                   t, f.low, f.mid, f.high);
  twin[i] = j;
  twin[j] = i;
  return TB_OK;
}

static tbStatus find_twins(tbContext* ctx, const tbTetMesh* mesh, tbArena* scratch, int* twin)
{
  int count = 4 * mesh->ntet;
  int *key = TB_TAKE(scratch, int, (size_t)count), *item = tb_sort_begin(scratch, count);
  if (!key || !item) return TB_ERROR_MEMORY;
  for (int pass = 0; pass < 3; pass++) {
    for (int i = 0; i < count; i++) {
      Face f = face_of(mesh, i);
      key[i] = pass == 0 ? f.high : pass == 1 ? f.mid : f.low;
    }
    TB_TRY(tb_sort_by(scratch, mesh->nnode, count, key, &item));
  }
  for (int i = 0; i < count; i++) twin[i] = -1;
  for (int i = 0, j; i < count; i = j) {
    Face f = face_of(mesh, item[i]);
    for (j = i + 1; j < count; j++) {
      Face g = face_of(mesh, item[j]);
      if (f.low != g.low || f.mid != g.mid || f.high != g.high) break;
      TB_TRY(join(ctx, mesh, item[i], item[j], twin));
    }
  }
  return TB_OK;
}

// Every edge of the surface has two triangles.
static tbStatus check_edges(tbContext* ctx, const tbTetMesh* mesh, tbArena* scratch)
{
  int count = 3 * mesh->ntriangle;
  int *low = TB_TAKE(scratch, int, (size_t)count), *high = TB_TAKE(scratch, int, (size_t)count);
  int* item = tb_sort_begin(scratch, count);
  if (!low || !high || !item) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    int a = mesh->triangle[i / 3][i % 3], b = mesh->triangle[i / 3][(i + 1) % 3];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
  TB_TRY(tb_sort_by(scratch, mesh->nnode, count, high, &item));
  TB_TRY(tb_sort_by(scratch, mesh->nnode, count, low, &item));
  for (int i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count; j++)
      if (low[item[j]] != low[item[i]] || high[item[j]] != high[item[i]]) break;
    if (j - i != 2)
      return tb_fail(ctx, TB_ERROR_INPUT,
                     "%d surface triangles meet at the edge (%d %d): the surface is no manifold there", j - i,
                     low[item[i]], high[item[i]]);
  }
  return TB_OK;
}

tbStatus tb_tet_mesh_surface(tbContext* ctx, tbTetMesh* mesh, tbArena* scratch)
{
  int count = 4 * mesh->ntet, n = 0;
  int* twin = TB_TAKE(scratch, int, (size_t)count);
  if (!twin) return TB_ERROR_MEMORY;
  TB_TRY(find_twins(ctx, mesh, scratch, twin));
  for (int i = 0; i < count; i++) n += twin[i] < 0;
  mesh->triangle = tb_arena_take(&mesh->arena, (size_t)n, sizeof *mesh->triangle);
  mesh->triangle_tet = TB_TAKE(&mesh->arena, int, (size_t)n);
  if (!mesh->triangle || !mesh->triangle_tet) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    if (twin[i] >= 0) continue;
    for (int k = 0; k < 3; k++) mesh->triangle[mesh->ntriangle][k] = mesh->tet[i / 4][face_corner[i % 4][k]];
    mesh->triangle_tet[mesh->ntriangle++] = i / 4;
  }
  return check_edges(ctx, mesh, scratch);
}
