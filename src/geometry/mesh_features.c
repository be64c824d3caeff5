// SPDX-License-Identifier: Apache-2.0
// What lies around each feature of a mesh: edges and their triangles, normals, pseudonormals, the volume.
//
// The 3n triangle sides are sorted by their two vertices (two passes of counting sort, so that a vertex with
// a hundred thousand triangles costs no more than others); sides of one edge are then neighbours.
//
// Pseudonormals: at a vertex, face normals weighted by the angle of the face there; at an edge, their plain
// sum. With these the sign of the distance follows from the closest point alone, whatever feature that lies
// on (Bærentzen & Aanæs, "Signed distance computation using the angle weighted pseudonormal", 2005).
#include "geometry/exact.h"
#include "geometry/mesh.h"

// Side s = 3t + i of triangle t lies opposite to its corner i.
static void side_ends(const tbMesh* mesh, int s, int* from, int* to)
{
  const int* v = mesh->triangle[s / 3];
  *from = v[(s % 3 + 1) % 3];
  *to = v[(s % 3 + 2) % 3];
}

static int lower_end(const tbMesh* mesh, int s)
{
  int from, to;
  side_ends(mesh, s, &from, &to);
  return from < to ? from : to;
}

static int upper_end(const tbMesh* mesh, int s)
{
  int from, to;
  side_ends(mesh, s, &from, &to);
  return from < to ? to : from;
}

// Sorts sides by one of their ends, keeping the order of equals. count: nvertex + 1 integers.
static void sort_by_end(const tbMesh* mesh, int (*end)(const tbMesh*, int), const int* in, int* out,
                        int* count)
{
  int n = 3 * mesh->ntriangle;
  for (int v = 0; v <= mesh->nvertex; v++) count[v] = 0;
  for (int k = 0; k < n; k++) count[end(mesh, in[k]) + 1]++;
  for (int v = 0; v < mesh->nvertex; v++) count[v + 1] += count[v];
  for (int k = 0; k < n; k++) out[count[end(mesh, in[k])]++] = in[k];
}

// leader[s]: the first side that has the same two ends as side s.
static tbStatus find_leaders(const tbMesh* mesh, tbArena* scratch, int* leader)
{
  size_t n = 3 * (size_t)mesh->ntriangle;
  int *a = TB_TAKE(scratch, int, n), *b = TB_TAKE(scratch, int, n),
      *count = TB_TAKE(scratch, int, (size_t)mesh->nvertex + 1);
  if (!a || !b || !count) return TB_ERROR_MEMORY;
  for (size_t s = 0; s < n; s++) a[s] = (int)s;
  sort_by_end(mesh, upper_end, a, b, count);
  sort_by_end(mesh, lower_end, b, a, count);
  for (size_t k = 0; k < n; k++) {
    bool same = k > 0 && lower_end(mesh, a[k]) == lower_end(mesh, a[k - 1]) &&
                upper_end(mesh, a[k]) == upper_end(mesh, a[k - 1]);
    leader[a[k]] = same ? leader[a[k - 1]] : a[k];
  }
  return TB_OK;
}

static void add_side(tbMesh* mesh, int edge, int s)
{
  tbMeshEdge* e = &mesh->edge[edge];
  int from, to;
  side_ends(mesh, s, &from, &to);
  if (e->triangle[1] >= 0) mesh->closed = false; // a third one
  else e->triangle[1] = s / 3;
  if (from == e->vertex[0]) mesh->oriented = false;
}

static tbStatus make_edges(tbMesh* mesh, tbArena* scratch)
{
  int n = 3 * mesh->ntriangle, *leader = TB_TAKE(scratch, int, (size_t)n);
  mesh->triangle_edge =
      (int(*)[3])tb_arena_take(&mesh->arena, (size_t)mesh->ntriangle, sizeof *mesh->triangle_edge);
  if (!leader || !mesh->triangle_edge) return TB_ERROR_MEMORY;
  TB_TRY(find_leaders(mesh, scratch, leader));
  for (int s = 0; s < n; s++) mesh->nedge += leader[s] == s;
  mesh->edge = TB_TAKE(&mesh->arena, tbMeshEdge, (size_t)mesh->nedge);
  if (!mesh->edge) return TB_ERROR_MEMORY;
  mesh->closed = mesh->oriented = true;
  int next = 0;
  for (int s = 0; s < n; s++) {
    int first = leader[s], *edge = &mesh->triangle_edge[s / 3][s % 3];
    if (first == s) {
      *edge = next++;
      mesh->edge[*edge] = (tbMeshEdge){.triangle = {s / 3, -1}};
      side_ends(mesh, s, &mesh->edge[*edge].vertex[0], &mesh->edge[*edge].vertex[1]);
    } else {
      *edge = mesh->triangle_edge[first / 3][first % 3];
      add_side(mesh, *edge, s);
    }
  }
  for (int e = 0; e < mesh->nedge; e++)
    if (mesh->edge[e].triangle[1] < 0) mesh->closed = false;
  return TB_OK;
}

// With both normals seen along the edge: sin of the bend is positive where the surface turns away. A blade
// folded onto itself counts as convex.
static bool is_convex(const tbMesh* mesh, const tbMeshEdge* e)
{
  if (e->triangle[1] < 0) return true;
  tbVec3 n0 = mesh->normal[e->triangle[0]], n1 = mesh->normal[e->triangle[1]];
  tbVec3 along = tb_normalize3(tb_sub3(mesh->vertex[e->vertex[1]], mesh->vertex[e->vertex[0]]));
  double sine = tb_dot3(tb_cross3(n0, n1), along), flat = 1e-9;
  return sine > flat || (sine > -flat && tb_dot3(n0, n1) < 0);
}

static double corner_angle(tbVec3 at, tbVec3 to, tbVec3 other)
{
  tbVec3 u = tb_normalize3(tb_sub3(to, at)), v = tb_normalize3(tb_sub3(other, at));
  return tb_atan2(tb_norm3(tb_cross3(u, v)), tb_dot3(u, v));
}

static tbStatus make_normals(tbMesh* mesh)
{
  mesh->normal = TB_TAKE(&mesh->arena, tbVec3, (size_t)mesh->ntriangle);
  mesh->vertex_normal = TB_TAKE(&mesh->arena, tbVec3, (size_t)mesh->nvertex);
  mesh->edge_normal = TB_TAKE(&mesh->arena, tbVec3, (size_t)mesh->nedge);
  if (!mesh->normal || !mesh->vertex_normal || !mesh->edge_normal) return TB_ERROR_MEMORY;
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    tbVec3 p[3] = {mesh->vertex[v[0]], mesh->vertex[v[1]], mesh->vertex[v[2]]};
    tbVec3 n = mesh->normal[t] = tb_normalize3(tb_triangle_normal(p[0], p[1], p[2]));
    for (int i = 0; i < 3; i++) {
      tbVec3* sum = &mesh->vertex_normal[v[i]];
      *sum = tb_madd3(*sum, corner_angle(p[i], p[(i + 1) % 3], p[(i + 2) % 3]), n);
    }
  }
  for (int i = 0; i < mesh->nvertex; i++) mesh->vertex_normal[i] = tb_normalize3(mesh->vertex_normal[i]);
  for (int k = 0; k < mesh->nedge; k++) {
    tbMeshEdge* e = &mesh->edge[k];
    mesh->edge_normal[k] = mesh->normal[e->triangle[0]];
    if (e->triangle[1] >= 0)
      mesh->edge_normal[k] = tb_add3(mesh->edge_normal[k], mesh->normal[e->triangle[1]]);
    e->convex = is_convex(mesh, e);
  }
  return TB_OK;
}

// Signed tetrahedra about the middle of the box.
static double volume_of(const tbMesh* mesh)
{
  tbVec3 middle = tb_madd3(tb_scale3(0.5, mesh->box.lo), 0.5, mesh->box.hi);
  double sum = 0;
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    tbVec3 a = mesh->vertex[v[0]], b = mesh->vertex[v[1]], c = mesh->vertex[v[2]];
    sum += tb_dot3(tb_triangle_normal(a, b, c), tb_sub3(a, middle));
  }
  return sum / 6;
}

tbStatus tb_mesh_make_features(tbContext* ctx, tbMesh* mesh)
{
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tbStatus status = make_edges(mesh, &scratch);
  tb_arena_free(&scratch);
  TB_TRY(status);
  TB_TRY(make_normals(mesh));
  mesh->volume = volume_of(mesh);
  return tb_mesh_index(&mesh->arena, mesh);
}
