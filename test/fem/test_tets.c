// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/tets.h"
#include "geometry/mesh.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;

// Euler characteristic of the surface, and that it is closed, oriented and encloses the tetrahedra's volume.
static int check_surface(tbContext* ctx, const tbTetMesh* m)
{
  tbMesh* surface = NULL;
  double volume = 0;
  for (int t = 0; t < m->ntriangle; t++) {
    tbVec3 a = m->node[m->triangle[t][0]], b = m->node[m->triangle[t][1]], c = m->node[m->triangle[t][2]];
    volume += tb_dot3(a, tb_cross3(b, c)) / 6;
    const int* tet = m->tet[m->triangle_tet[t]];
    for (int k = 0; k < 3; k++) {
      int found = 0;
      for (int a2 = 0; a2 < 4; a2++) found += tet[a2] == m->triangle[t][k];
      CHECK(found == 1);
    }
  }
  CHECK_NEAR(volume, m->total, 1e-12 * m->total);
  CHECK_OK(ctx, tb_mesh_create(ctx, m->node, m->nnode, m->triangle[0], m->ntriangle, &surface));
  if (!surface) return 0;
  CHECK(tb_mesh_is_solid(surface));
  int euler = surface->nvertex - surface->nedge + surface->ntriangle;
  tb_mesh_free(ctx, surface);
  return euler;
}

TEST(boxes_fill_their_volume_with_the_cells_ordered)
{
  tbContext ctx = tb_default_context();
  const int grids[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 1, 4}, {4, 6, 2}};
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
    for (int per = 5; per <= 6; per++) {
      tbTetMesh* m = NULL;
      const int* n = grids[g];
      CHECK_OK(&ctx, tb_tet_box(&ctx, tb_vec3(1, 2, 3), n, per, &m));
      REQUIRE(m);
      CHECK(m->ntet == per * n[0] * n[1] * n[2]);
      CHECK(m->nnode == (n[0] + 1) * (n[1] + 1) * (n[2] + 1));
      CHECK(m->ntriangle == 4 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]));
      CHECK_NEAR(m->total, 6, 1e-13);
      CHECK(check_surface(&ctx, m) == 2);
      tb_tet_mesh_free(&ctx, m);
    }
}

// With even cells every mirror image of a tetrahedron is a tetrahedron of the mesh: moments of the lumped
// mass and the sums of squared volumes per octant agree.
TEST(even_boxes_are_symmetric)
{
  tbContext ctx = tb_default_context();
  for (int per = 5; per <= 6; per++) {
    tbTetMesh* m = NULL;
    CHECK_OK(&ctx, tb_tet_box(&ctx, tb_vec3(1, 1, 1), (const int[3]){4, 2, 2}, per, &m));
    REQUIRE(m);
    double mass[64] = {0};
    tb_tet_mesh_lump(m, 1, mass);
    for (int i = 0; i < m->nnode; i++)
      for (int j = 0; j < m->nnode; j++) {
        tbVec3 a = m->node[i], b = m->node[j];
        if (fabs(a.x) == fabs(b.x) && fabs(a.y) == fabs(b.y) && fabs(a.z) == fabs(b.z))
          CHECK_NEAR(mass[i], mass[j], 1e-15);
      }
    tb_tet_mesh_free(&ctx, m);
  }
}

TEST(round_meshes_have_their_counts_topology_volume_and_quality)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* m = NULL;
  CHECK_OK(&ctx, tb_tet_sphere(&ctx, 1, 12, &m));
  REQUIRE(m);
  tbTetQuality q = tb_tet_mesh_quality(m);
  CHECK(m->ntet == 6 * 12 * 12 * 12);
  CHECK(check_surface(&ctx, m) == 2);
  CHECK_NEAR(m->total, 4 * PI / 3, 0.03 * 4);
  CHECK(q.worst > 0.1 && q.mean > 0.5 && q.least_dihedral > 0.15);
  tb_tet_mesh_free(&ctx, m);

  CHECK_OK(&ctx, tb_tet_cylinder(&ctx, 1, 4, 8, 16, &m));
  REQUIRE(m);
  q = tb_tet_mesh_quality(m);
  CHECK(m->ntet == 6 * 8 * 8 * 16);
  CHECK(check_surface(&ctx, m) == 2);
  CHECK_NEAR(m->total, 4 * PI, 0.04 * 4 * PI);
  CHECK(q.worst > 0.1);
  tb_tet_mesh_free(&ctx, m);

  CHECK_OK(&ctx, tb_tet_torus(&ctx, 1, 0.4, 4, 25, &m));
  REQUIRE(m);
  q = tb_tet_mesh_quality(m);
  CHECK(m->ntet == 6 * 16 * 25);
  CHECK(check_surface(&ctx, m) == 0);
  CHECK_NEAR(m->total, 2 * PI * PI * 0.16, 0.15 * 2 * PI * PI * 0.16);
  CHECK(q.worst > 0.1);
  tb_tet_mesh_free(&ctx, m);

  // The ring of Verschoor and Jalba: 108 tetrahedra, 144 faces.
  CHECK_OK(&ctx, tb_tet_ring(&ctx, 0.8, 1, 0.2, (const int[3]){1, 18, 1}, &m));
  REQUIRE(m);
  CHECK(m->ntet == 108 && m->ntriangle == 144 && m->nnode == 72);
  CHECK(check_surface(&ctx, m) == 0);
  tb_tet_mesh_free(&ctx, m);
}

TEST(quality_knows_the_regular_tetrahedron)
{
  tbContext ctx = tb_default_context();
  const tbVec3 x[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  const int tet[1][4] = {{0, 2, 1, 3}};
  tbTetMesh* m = NULL;
  CHECK_OK(&ctx, tb_tet_mesh_create(&ctx, x, 4, tet, 1, &m));
  REQUIRE(m);
  tbTetQuality q = tb_tet_mesh_quality(m);
  CHECK_NEAR(q.worst, 1, 1e-14);
  CHECK_NEAR(q.least_dihedral, acos(1.0 / 3), 1e-14);
  CHECK_NEAR(m->total, 8.0 / 3, 1e-14);
  tb_tet_mesh_free(&ctx, m);
}

static void refuse(const char* words, const tbVec3* x, int nnode, const int (*tets)[4], int ntet)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* m = NULL;
  CHECK(tb_tet_mesh_create(&ctx, x, nnode, tets, ntet, &m) == TB_ERROR_INPUT);
  CHECK(m == NULL);
  if (!strstr(ctx.error.message, words))
    test_failed(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", ctx.error.message, words);
}

TEST(broken_meshes_are_refused_with_a_reason)
{
  const tbVec3 x[8] = {{0, 0, 0}, {1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                       {1, 1, 1}, {0, 0, -1}, {-1, 0, 0}, {-1, -1, 0.5}};
  refuse("no solid", x, 4, NULL, 0);
  refuse("inverted", x, 4, (const int[][4]){{0, 2, 1, 3}}, 1);
  refuse("has node 4; there are 4", x, 4, (const int[][4]){{0, 1, 2, 4}}, 1);
  refuse("has node -1", x, 4, (const int[][4]){{0, 1, 2, -1}}, 1);
  refuse("has node 1 twice", x, 4, (const int[][4]){{0, 1, 1, 3}}, 1);
  refuse("node 4 is in no tetrahedron", x, 5, (const int[][4]){{0, 1, 2, 3}}, 1);
  refuse("are the same", x, 4, (const int[][4]){{0, 1, 2, 3}, {1, 2, 0, 3}}, 2);
  refuse("same side", x, 5, (const int[][4]){{0, 1, 2, 3}, {0, 1, 2, 4}}, 2);
  const tbVec3 fan[7] = {{0, 0, 0},  {1, 0, 0},     {0, 1, 0},    {0, 0, 1},
                         {0, 0, -1}, {0.1, 0.1, 2}, {0.1, 0.1, 3}};
  refuse("three tetrahedra", fan, 6, (const int[][4]){{0, 1, 2, 3}, {0, 2, 1, 4}, {0, 1, 2, 5}}, 3);
  // two tetrahedra that share an edge only
  const tbVec3 edge[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  refuse("4 surface triangles meet at the edge (0 1)", edge, 6, (const int[][4]){{0, 2, 3, 1}, {0, 4, 5, 1}},
         2);
  tbVec3 bad[4] = {x[0], x[1], x[2], x[3]};
  bad[2].y = NAN;
  refuse("node 2", bad, 4, (const int[][4]){{0, 1, 2, 3}}, 1);
  bad[2].y = 1e31;
  refuse("farther", bad, 4, (const int[][4]){{0, 1, 2, 3}}, 1);
  bad[2] = tb_vec3(0, 1, 0), bad[3].z = 1e-12;
  refuse("flat", bad, 4, (const int[][4]){{0, 1, 2, 3}}, 1);
}

TEST(consistent_mass_integrates_quadratics_exactly)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* m = NULL;
  tbCsr M = {0};
  CHECK_OK(&ctx, tb_tet_box(&ctx, tb_vec3(1, 2, 3), (const int[3]){2, 3, 2}, 5, &m));
  REQUIRE(m);
  CHECK_OK(&ctx, tb_tet_mesh_mass(&ctx, m, 7, &M));
  double x[64], y[64], sum = 0, mass[64];
  for (int i = 0; i < m->nnode; i++) x[i] = m->node[i].z;
  tb_csr_multiply(&M, x, y);
  for (int i = 0; i < m->nnode; i++) sum += x[i] * y[i];
  CHECK_NEAR(sum, 7 * 6 * 9.0 / 12, 1e-12); // ∫ ρ z²
  tb_tet_mesh_lump(m, 7, mass);
  for (int i = 0; i < m->nnode; i++) x[i] = 1;
  tb_csr_multiply(&M, x, y);
  for (int i = 0; i < m->nnode; i++) CHECK_NEAR(y[i], mass[i], 1e-13);
  tb_csr_free(&ctx, &M);
  tb_tet_mesh_free(&ctx, m);
}

TEST(bad_grids_are_refused)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* m = NULL;
  CHECK(tb_tet_box(&ctx, tb_vec3(1, 1, 1), (const int[3]){0, 1, 1}, 5, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_box(&ctx, tb_vec3(1, 1, 1), (const int[3]){1 << 20, 1 << 20, 1}, 5, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_box(&ctx, tb_vec3(1, -1, 1), (const int[3]){1, 1, 1}, 5, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_box(&ctx, tb_vec3(1, 1, 1), (const int[3]){1, 1, 1}, 4, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_sphere(&ctx, NAN, 4, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_torus(&ctx, 1, 2, 4, 10, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_torus(&ctx, 1, 0.2, 4, 2, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_tet_ring(&ctx, 1, 0.9, 1, (const int[3]){1, 9, 1}, &m) == TB_ERROR_ARGUMENT);
  CHECK(m == NULL);
}

// The larger one's arrays do not fit behind each other: each is an allocation of its own.
TEST(tet_meshes_survive_failed_allocations)
{
  for (int large = 0; large < 2; large++)
    for (long k = 0;; k++) {
      tbFailingAllocator memory = {.countdown = k};
      tbContext ctx = test_failing_context(&memory);
      tbTetMesh* m = NULL;
      tbStatus status = tb_tet_torus(&ctx, 1, 0.3, large ? 8 : 2, large ? 90 : 6, &m);
      CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !m));
      tb_tet_mesh_free(&ctx, m);
      CHECK(memory.alive == 0);
      if (status == TB_OK) break;
    }
}
