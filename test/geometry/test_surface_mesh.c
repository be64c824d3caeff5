// SPDX-License-Identifier: Apache-2.0
#include "geometry/hull.h"
#include "geometry/sdf.h"
#include "geometry/surface_mesh.h"
#include "test.h"

#include <stdlib.h>

// Every side of every triangle is its edge, every vertex and edge has one owner, which has it.
static void check_features(const tbSurfaceMesh* s)
{
  int* owned = calloc((size_t)(s->nvertex + s->nedge), sizeof *owned);
  REQUIRE(owned);
  int wrong = 0;
  for (int t = 0; t < s->ntriangle; t++)
    for (int i = 0; i < 3; i++) {
      int a = s->triangle[t][i], b = s->triangle[t][(i + 1) % 3], e = s->triangle_edge[t][i];
      const int *end = s->edge[e], *two = s->edge_triangle[e];
      wrong += !((end[0] == a && end[1] == b) || (end[0] == b && end[1] == a));
      wrong += two[0] != t && two[1] != t && two[1] < 0;
      owned[a] += (s->owns[t] & TB_SURFACE_OWNS_VERTEX << i) != 0;
      owned[s->nvertex + e] += (s->owns[t] & TB_SURFACE_OWNS_EDGE << i) != 0;
    }
  for (int k = 0; k < s->nvertex + s->nedge; k++) wrong += owned[k] != 1;
  CHECK(wrong == 0);
  free(owned);
}

static double volume(const tbSurfaceMesh* s)
{
  double sum = 0;
  for (int t = 0; t < s->ntriangle; t++) {
    const int* v = s->triangle[t];
    sum += tb_dot3(s->rest[v[0]], tb_cross3(s->rest[v[1]], s->rest[v[2]])) / 6;
  }
  return sum;
}

// The least of height over longest side: 0.87 for equal sides.
static double worst_shape(const tbSurfaceMesh* s)
{
  double worst = INFINITY;
  for (int t = 0; t < s->ntriangle; t++) {
    const int* v = s->triangle[t];
    double longest = 0;
    for (int i = 0; i < 3; i++) longest = fmax(longest, tb_distance3(s->rest[v[i]], s->rest[v[(i + 1) % 3]]));
    tbVec3 n = tb_cross3(tb_sub3(s->rest[v[1]], s->rest[v[0]]), tb_sub3(s->rest[v[2]], s->rest[v[0]]));
    worst = fmin(worst, tb_norm3(n) / (longest * longest));
  }
  return worst;
}

TEST(surfaces_of_shapes_are_closed_inside_them_and_have_their_volume)
{
  tbContext ctx = tb_default_context();
  tbVec3 corner[14];
  for (int k = 0; k < 8; k++) corner[k] = tb_vec3(k & 1, k & 2, k & 4);
  for (int k = 0; k < 6; k++) corner[8 + k] = tb_vec3(0.1 * k, 3, 0.3); // and a ridge in a line
  tbHull* hull = NULL;
  REQUIRE(tb_hull_create(&ctx, corner, 14, &hull) == TB_OK);
  tbShape shape[] = {tb_shape_sphere(0.7),           tb_shape_capsule(0.3, 1.7), tb_shape_capsule(0.3, 0),
                     tb_shape_cylinder(0.5, 2),      tb_shape_cylinder(1, 0.01), tb_shape_cylinder(0.01, 3),
                     tb_shape_box(tb_vec3(1, 2, 3)), tb_shape_convex(hull)};
  double shapeliness[] = {0.4, 0.3, 0.4, 0.25, 0.05, 0.02, 0.3, 1e-3};
  for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
    shape[i].pose = tb_transform(tb_quat_normalize(tb_quat(1, 0.2, -0.4, 0.1)), tb_vec3(0.3, -2, 5));
    tbSurfaceMesh* surface = NULL;
    REQUIRE(tb_surface_mesh_of_shape(&ctx, &shape[i], &surface) == TB_OK);
    check_features(surface);
    CHECK(surface->closed && !surface->node);
    CHECK(surface->nvertex - surface->nedge + surface->ntriangle == 2);
    double whole = tb_shape_mass(&shape[i], 1).mass, v = volume(surface);
    CHECK(v < whole * (1 + 1e-12) && v > 0.985 * whole);
    if (!(worst_shape(surface) > shapeliness[i]))
      test_failed(__FILE__, __LINE__, "shape %zu: worst triangle %g", i, worst_shape(surface));
    tbBox box = tb_shape_box_of(&shape[i], tb_transform_identity());
    for (int k = 0; k < surface->nvertex; k++) {
      tbVec3 x = surface->rest[k];
      CHECK(x.x > box.lo.x - 1e-12 && x.y > box.lo.y - 1e-12 && x.z > box.lo.z - 1e-12);
      CHECK(x.x < box.hi.x + 1e-12 && x.y < box.hi.y + 1e-12 && x.z < box.hi.z + 1e-12);
    }
    tb_surface_mesh_free(&ctx, surface);
  }
  tb_hull_free(&ctx, hull);
  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbSurfaceMesh* none = (tbSurfaceMesh*)&plane;
  CHECK(tb_surface_mesh_of_shape(&ctx, &plane, &none) == TB_OK && !none);
}

TEST(spheres_have_their_corners_on_the_sphere_and_48_around_the_equator)
{
  tbContext ctx = tb_default_context();
  tbShape shape = tb_shape_sphere(2);
  tbSurfaceMesh* surface = NULL;
  REQUIRE(tb_surface_mesh_of_shape(&ctx, &shape, &surface) == TB_OK);
  int equator = 0;
  for (int k = 0; k < surface->nvertex; k++) {
    CHECK_NEAR(tb_norm3(surface->rest[k]), 2, 1e-14);
    equator += surface->rest[k].z == 0;
  }
  CHECK(equator == 48);
  CHECK_NEAR(surface->edge_length, 2 * 6.283 / 48, 0.1);
  tb_surface_mesh_free(&ctx, surface);
}

TEST(surfaces_of_meshes_and_of_grids_are_the_triangles_of_the_mesh)
{
  tbContext ctx = tb_default_context();
  tbVec3 x[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int t[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  tbMesh* mesh = NULL;
  tbSdf* sdf = NULL;
  REQUIRE(tb_mesh_create(&ctx, x, 4, t, 4, &mesh) == TB_OK);
  REQUIRE(tb_sdf_create(&ctx, mesh, 8, &sdf) == TB_OK);
  tbShape shape[2] = {tb_shape_mesh(mesh), tb_shape_sdf(sdf)};
  for (int i = 0; i < 2; i++) {
    tbSurfaceMesh* surface = NULL;
    REQUIRE(tb_surface_mesh_of_shape(&ctx, &shape[i], &surface) == TB_OK);
    check_features(surface);
    CHECK(surface->nvertex == 4 && surface->nedge == 6 && surface->ntriangle == 4 && surface->closed);
    CHECK_NEAR(volume(surface), 1.0 / 6, 1e-15);
    tb_surface_mesh_free(&ctx, surface);
  }
  tb_sdf_free(&ctx, sdf);
  tb_mesh_free(&ctx, mesh);
}

TEST(surfaces_number_the_points_in_use_and_know_borders_and_crowded_edges)
{
  tbContext ctx = tb_default_context();
  tbVec3 x[8] = {{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {8, 8, 8}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {7, 7, 7}};
  int t[4][3] = {{2, 1, 4}, {1, 2, 5}, {1, 2, 6}, {4, 6, 5}};
  tbSurfaceMesh* s = NULL;
  REQUIRE(tb_surface_mesh_create(&ctx, x, 8, (const int(*)[3])t, 4, &s) == TB_OK);
  check_features(s);
  CHECK(s->nvertex == 5 && s->nedge == 10 && !s->closed);
  int node[5] = {1, 2, 4, 5, 6};
  for (int k = 0; k < 5; k++) CHECK(s->node[k] == node[k] && s->rest[k].x == x[node[k]].x);
  int e = s->triangle_edge[0][0];
  CHECK(s->triangle_edge[1][0] == e && s->triangle_edge[2][0] == e);
  CHECK(s->edge_triangle[e][0] == 0 && s->edge_triangle[e][1] == 1);
  CHECK(s->edge_triangle[s->triangle_edge[3][0]][1] == -1);
  tb_surface_mesh_free(&ctx, s);
  tb_surface_mesh_free(&ctx, NULL);
  REQUIRE(tb_surface_mesh_create(&ctx, x, 8, NULL, 0, &s) == TB_OK);
  CHECK(s->nvertex == 0 && s->nedge == 0 && !s->closed);
  tb_surface_mesh_free(&ctx, s);
}

static int owner_of(const tbSurfaceMesh* s, int bit, const int (*has)[3], int feature)
{
  for (int t = 0; t < s->ntriangle; t++)
    for (int k = 0; k < 3; k++)
      if (has[t][k] == feature && s->owns[t] & bit << k) return t;
  return -1;
}

static bool share(const int* a, int na, const int* b, int nb)
{
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (a[i] == b[j]) return true;
  return false;
}

static int times_listed(const int (*list)[2], int count, int a, int b)
{
  int times = 0;
  for (int k = 0; k < count; k++) times += list[k][0] == a && list[k][1] == b;
  return times;
}

TEST(close_features_are_those_whose_owners_share_a_vertex_and_that_do_not)
{
  tbContext ctx = tb_default_context();
  tbShape shape = tb_shape_box(tb_vec3(1, 2, 3));
  tbSurfaceMesh* s = NULL;
  REQUIRE(tb_surface_mesh_of_shape(&ctx, &shape, &s) == TB_OK && !s->linked && s->ntriangle < 400);
  CHECK_OK(&ctx, tb_surface_mesh_link(&ctx, s));
  REQUIRE(s->linked);
  const int(*corner)[3] = (const int(*)[3])s->triangle, (*side)[3] = (const int(*)[3])s->triangle_edge;
  int wrong = 0, faces = 0, edges = 0;
  for (int t = 0; t < s->ntriangle; t++)
    for (int v = 0; v < s->nvertex; v++) {
      int u = owner_of(s, TB_SURFACE_OWNS_VERTEX, corner, v);
      bool close = share(corner[t], 3, corner[u], 3) && !share(corner[t], 3, &v, 1);
      wrong += times_listed((const int(*)[2])s->close_face, s->nclose_face, t, v) != close;
      faces += close;
    }
  for (int d = 0; d < s->nedge; d++)
    for (int e = d + 1; e < s->nedge; e++) {
      int t = owner_of(s, TB_SURFACE_OWNS_EDGE, side, d), u = owner_of(s, TB_SURFACE_OWNS_EDGE, side, e);
      bool close = share(corner[t], 3, corner[u], 3) && !share(s->edge[d], 2, s->edge[e], 2);
      wrong += times_listed((const int(*)[2])s->close_edge, s->nclose_edge, d, e) != close;
      edges += close;
    }
  CHECK(wrong == 0 && faces == s->nclose_face && edges == s->nclose_edge && faces > 0 && edges > 0);
  tb_surface_mesh_free(&ctx, s);
}

TEST(a_fan_of_very_many_triangles_is_not_linked)
{
  enum { BLADES = 3000 };
  tbContext ctx = tb_default_context();
  tbVec3* x = calloc(BLADES + 2, sizeof *x);
  int(*t)[3] = calloc(BLADES, sizeof *t);
  REQUIRE(x && t);
  for (int i = 0; i <= BLADES; i++) x[i + 1] = tb_vec3(1 + 0.001 * i, 2 - 0.001 * i, 0);
  for (int i = 0; i < BLADES; i++) t[i][1] = i + 1, t[i][2] = i + 2;
  tbSurfaceMesh* s = NULL;
  REQUIRE(tb_surface_mesh_create(&ctx, x, BLADES + 2, (const int(*)[3])t, BLADES, &s) == TB_OK);
  CHECK_OK(&ctx, tb_surface_mesh_link(&ctx, s));
  CHECK(!s->linked && s->nclose_face == 0 && s->nclose_edge == 0);
  tb_surface_mesh_free(&ctx, s);
  free(x);
  free(t);
}

TEST(surfaces_survive_every_failed_allocation)
{
  tbShape shape = tb_shape_cylinder(1, 1);
  tbStatus status = TB_ERROR_MEMORY;
  long k = 0;
  for (; k < 1000 && status != TB_OK; k++) {
    tbFailingAllocator all = {.countdown = k};
    tbContext ctx = test_failing_context(&all);
    tbSurfaceMesh* surface = NULL;
    status = tb_surface_mesh_of_shape(&ctx, &shape, &surface);
    CHECK((status == TB_OK) == (surface != NULL));
    if (status == TB_OK) status = tb_surface_mesh_link(&ctx, surface);
    if (surface) CHECK((status == TB_OK) == surface->linked);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    tb_surface_mesh_free(&ctx, surface);
    CHECK(all.alive == 0);
  }
  CHECK(status == TB_OK && k > 10);
}
