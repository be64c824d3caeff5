// SPDX-License-Identifier: Apache-2.0
// Meshes cut finer.
#include "test.h"

#include "fem/tets.h"

#include <math.h>

TEST(cutting_into_eight_keeps_the_solid_and_its_surface)
{
  tbContext ctx = tb_default_context();
  tbTetMesh *mesh = NULL, *fine = NULL;
  CHECK_OK(&ctx, tb_tet_torus(&ctx, 0.2, 0.07, 2, 12, &mesh));
  REQUIRE(mesh);
  CHECK_OK(&ctx, tb_tet_mesh_refine(&ctx, mesh, &fine));
  REQUIRE(fine);
  CHECK(fine->ntet == 8 * mesh->ntet && fine->ntriangle == 4 * mesh->ntriangle);
  CHECK_NEAR(fine->total, mesh->total, 1e-14);
  for (int t = 0; t < fine->ntet; t++) CHECK(fine->volume[t] > 0);
  // a torus: V − E + F = 0 on its surface, and E = 3F/2
  int* seen = TB_NEW(&ctx, int, (size_t)fine->nnode);
  int vertices = 0;
  for (int k = 0; seen && k < 3 * fine->ntriangle; k++) vertices += !seen[(&fine->triangle[0][0])[k]]++;
  CHECK(2 * vertices == fine->ntriangle);
  // nodes are numbered along the body
  for (int i = 1; i < fine->nnode; i++) CHECK(fine->node[i].x >= fine->node[i - 1].x);
  CHECK(tb_tet_mesh_quality(fine).worst > 0.3 * tb_tet_mesh_quality(mesh).worst);
  tb_free(&ctx, seen);
  tb_tet_mesh_free(&ctx, fine);
  tb_tet_mesh_free(&ctx, mesh);
}
