// SPDX-License-Identifier: Apache-2.0
// Tetrahedral meshes: what is checked, and what is measured.
#include "fem/tets.h"

#include <string.h>

#define LARGEST 1e30
#define FLAT    1e-10 // six times the volume over the cube of the longest edge

static tbStatus check_nodes(tbContext* ctx, const tbVec3* nodes, int nnode)
{
  for (int i = 0; i < nnode; i++) {
    tbVec3 x = nodes[i];
    if (!isfinite(x.x) || !isfinite(x.y) || !isfinite(x.z))
      return tb_fail(ctx, TB_ERROR_INPUT, "node %d is at (%g, %g, %g); it must be finite", i, x.x, x.y, x.z);
    if (tb_maxabs3(x) > LARGEST)
      return tb_fail(ctx, TB_ERROR_INPUT, "node %d is at (%g, %g, %g), farther than %g", i, x.x, x.y, x.z,
                     LARGEST);
  }
  return TB_OK;
}

static double longest_edge(const tbVec3 x[4])
{
  double longest = 0;
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++) longest = fmax(longest, tb_distance3(x[a], x[b]));
  return longest;
}

static double volume_of(const tbVec3 x[4])
{
  return tb_dot3(tb_cross3(tb_sub3(x[1], x[0]), tb_sub3(x[2], x[0])), tb_sub3(x[3], x[0])) / 6;
}

static void corners(const tbVec3* nodes, const int t[4], tbVec3 x[4])
{
  for (int a = 0; a < 4; a++) x[a] = nodes[t[a]];
}

static tbStatus check_tet(tbContext* ctx, const tbVec3* nodes, int nnode, int index, const int t[4])
{
  for (int a = 0; a < 4; a++)
    if (t[a] < 0 || t[a] >= nnode)
      return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedron %d has node %d; there are %d", index, t[a], nnode);
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++)
      if (t[a] == t[b]) return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedron %d has node %d twice", index, t[a]);
  tbVec3 x[4];
  corners(nodes, t, x);
  double edge = longest_edge(x), volume = volume_of(x);
  if (!(fabs(6 * volume) > FLAT * edge * edge * edge))
    return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedron %d is flat: volume %g with an edge of %g", index,
                   fabs(volume), edge);
  if (volume < 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "tetrahedron %d is inverted: its volume is %g", index, volume);
  return TB_OK;
}

static tbStatus check_used(tbContext* ctx, const tbTetMesh* mesh, tbArena* scratch)
{
  uint8_t* used = TB_TAKE(scratch, uint8_t, (size_t)mesh->nnode);
  if (!used) return TB_ERROR_MEMORY;
  for (int t = 0; t < mesh->ntet; t++)
    for (int a = 0; a < 4; a++) used[mesh->tet[t][a]] = 1;
  for (int i = 0; i < mesh->nnode; i++)
    if (!used[i]) return tb_fail(ctx, TB_ERROR_INPUT, "node %d is in no tetrahedron", i);
  return TB_OK;
}

static tbStatus fill(tbContext* ctx, tbTetMesh* mesh, const tbVec3* nodes, const int (*tets)[4],
                     tbArena* scratch)
{
  size_t nnode = (size_t)mesh->nnode, ntet = (size_t)mesh->ntet;
  mesh->node = TB_TAKE(&mesh->arena, tbVec3, nnode);
  mesh->tet = tb_arena_take(&mesh->arena, ntet, sizeof *mesh->tet);
  mesh->volume = TB_TAKE(&mesh->arena, double, ntet);
  if (!mesh->node || !mesh->tet || !mesh->volume) return TB_ERROR_MEMORY;
  memcpy(mesh->node, nodes, nnode * sizeof *nodes);
  memcpy(mesh->tet, tets, ntet * sizeof *tets);
  for (size_t t = 0; t < ntet; t++) {
    tbVec3 x[4];
    corners(nodes, tets[t], x);
    mesh->volume[t] = volume_of(x);
    mesh->total += mesh->volume[t];
  }
  TB_TRY(check_used(ctx, mesh, scratch));
  return tb_tet_mesh_surface(ctx, mesh, scratch);
}

tbStatus tb_tet_mesh_create(tbContext* ctx, const tbVec3* nodes, int nnode, const int (*tets)[4], int ntet,
                            tbTetMesh** out)
{
  *out = NULL;
  if (nnode < 4 || ntet < 1)
    return tb_fail(ctx, TB_ERROR_INPUT, "%d nodes and %d tetrahedra make no solid", nnode, ntet);
  if (ntet > INT32_MAX / 16)
    return tb_fail(ctx, TB_ERROR_INPUT, "%d tetrahedra; the most is %d", ntet, INT32_MAX / 16);
  TB_TRY(check_nodes(ctx, nodes, nnode));
  for (int t = 0; t < ntet; t++) TB_TRY(check_tet(ctx, nodes, nnode, t, tets[t]));

  tbTetMesh* mesh = TB_NEW(ctx, tbTetMesh, 1);
  if (!mesh) return TB_ERROR_MEMORY;
  mesh->nnode = nnode;
  mesh->ntet = ntet;
  tb_arena_init(&mesh->arena, ctx);
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tbStatus status = fill(ctx, mesh, nodes, tets, &scratch);
  tb_arena_free(&scratch);
  if (status == TB_OK) *out = mesh;
  else tb_tet_mesh_free(ctx, mesh);
  return status;
}

void tb_tet_mesh_free(tbContext* ctx, tbTetMesh* mesh)
{
  if (!mesh) return;
  mesh->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&mesh->arena);
  tb_free(ctx, mesh);
}

// ---- quality ----

// r_in = 3V/area and r_out = √((p+q+r)(p+q−r)(p−q+r)(q+r−p))/(24V) with p, q, r the products of opposite
// edges.
static double radius_ratio(const tbVec3 x[4], double volume)
{
  double area = 0, product[3];
  static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  for (int k = 0; k < 4; k++) {
    const tbVec3 a = x[face[k][0]];
    area += 0.5 * tb_norm3(tb_cross3(tb_sub3(x[face[k][1]], a), tb_sub3(x[face[k][2]], a)));
  }
  for (int k = 1; k < 4; k++)
    product[k - 1] = tb_distance3(x[0], x[k]) * tb_distance3(x[k % 3 + 1], x[(k + 1) % 3 + 1]);
  double p = product[0], q = product[1], r = product[2];
  double circle = sqrt(fmax(0, (p + q + r) * (p + q - r) * (p - q + r) * (q + r - p)));
  return 216 * volume * volume / (area * circle);
}

// Between the faces that meet at edge (a, b): the angle of the opposite corners seen along the edge.
static double least_dihedral(const tbVec3 x[4])
{
  double least = INFINITY;
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++) {
      int c = 0;
      while (c == a || c == b) c++;
      int d = 6 - a - b - c;
      tbVec3 e = tb_sub3(x[b], x[a]);
      tbVec3 m = tb_cross3(e, tb_sub3(x[c], x[a])), n = tb_cross3(e, tb_sub3(x[d], x[a]));
      least = fmin(least, tb_atan2(tb_norm3(tb_cross3(m, n)), tb_dot3(m, n)));
    }
  return least;
}

tbTetQuality tb_tet_mesh_quality(const tbTetMesh* mesh)
{
  tbTetQuality q = {.worst = INFINITY, .least_dihedral = INFINITY};
  double sum = 0;
  for (int t = 0; t < mesh->ntet; t++) {
    tbVec3 x[4];
    corners(mesh->node, mesh->tet[t], x);
    double ratio = radius_ratio(x, mesh->volume[t]);
    sum += ratio;
    if (ratio < q.worst) q.worst = ratio, q.worst_tet = t;
    q.least_dihedral = fmin(q.least_dihedral, least_dihedral(x));
  }
  q.mean = sum / mesh->ntet;
  return q;
}

// ---- mass ----

void tb_tet_mesh_lump(const tbTetMesh* mesh, double density, double* mass)
{
  for (int i = 0; i < mesh->nnode; i++) mass[i] = 0;
  for (int t = 0; t < mesh->ntet; t++)
    for (int a = 0; a < 4; a++) mass[mesh->tet[t][a]] += density * mesh->volume[t] / 4;
}

tbStatus tb_tet_mesh_mass(tbContext* ctx, const tbTetMesh* mesh, double density, tbCsr* out)
{
  *out = (tbCsr){0};
  size_t count = 16 * (size_t)mesh->ntet, k = 0;
  int* row = TB_NEW(ctx, int, count);
  int* col = TB_NEW(ctx, int, count);
  double* val = TB_NEW(ctx, double, count);
  tbStatus status = row && col && val ? TB_OK : TB_ERROR_MEMORY;
  for (int t = 0; status == TB_OK && t < mesh->ntet; t++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++, k++) {
        row[k] = mesh->tet[t][a];
        col[k] = mesh->tet[t][b];
        val[k] = density * mesh->volume[t] / (a == b ? 10 : 20);
      }
  if (status == TB_OK)
    status = tb_csr_from_triplets(ctx, mesh->nnode, mesh->nnode, count, row, col, val, out);
  tb_free(ctx, row);
  tb_free(ctx, col);
  tb_free(ctx, val);
  return status;
}

int tb_tet_mesh_node_count(const tbTetMesh* mesh) { return mesh->nnode; }
int tb_tet_mesh_tet_count(const tbTetMesh* mesh) { return mesh->ntet; }
const tbVec3* tb_tet_mesh_nodes(const tbTetMesh* mesh) { return mesh->node; }

tbTriangleView tb_tet_mesh_triangles(const tbTetMesh* m)
{
  return (tbTriangleView){m->node, (const int(*)[3])m->triangle, m->nnode, m->ntriangle};
}

void tb_tet_mesh_rotate(tbTetMesh* m, tbQuat rotation)
{
  for (int i = 0; i < m->nnode; i++) m->node[i] = tb_quat_rotate(rotation, m->node[i]);
}
