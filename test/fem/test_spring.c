// SPDX-License-Identifier: Apache-2.0
#include "fem/body.h"
#include "fem/spring.h"
#include "test.h"

// Forces are the energy's slope, and the exact tangent theirs, against differences.
TEST(springs_have_the_derivatives_they_say)
{
  tbRandom r = test_random(5);
  for (int n = 0; n < 20; n++) {
    tbSpring s = {test_uniform(&r, 1, 9), test_uniform(&r, 0, 2)};
    tbVec3 x[2];
    for (int i = 0; i < 2; i++)
      x[i] = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
    double f[6], K[TB_SPRING_BLOCKS][9], P[TB_SPRING_BLOCKS][9];
    tb_spring_evaluate(&s, x, TB_TANGENT_EXACT, f, K);
    tb_spring_evaluate(&s, x, TB_TANGENT_POSITIVE, f, P);
    for (int i = 0; i < 6; i++) {
      double low[6], high[6], step = 1e-6, *at = &x[i / 3].x + i % 3, was = *at;
      *at = was + step;
      double up = tb_spring_evaluate(&s, x, TB_TANGENT_NONE, high, NULL);
      *at = was - step;
      double down = tb_spring_evaluate(&s, x, TB_TANGENT_NONE, low, NULL);
      *at = was;
      CHECK_NEAR(f[i], (down - up) / (2 * step), 1e-7);
      for (int j = 0; j < 6; j++) {
        int block = i / 3 + j / 3;
        CHECK_NEAR(K[block][3 * (i % 3) + j % 3], (low[j] - high[j]) / (2 * step), 1e-6);
      }
    }
    tbVec3 d = tb_sub3(x[1], x[0]);
    bool pulled = tb_norm3(d) >= s.length;
    for (int k = 0; pulled && k < 27; k++) CHECK(K[k / 9][k % 9] == P[k / 9][k % 9]);
    for (int t = 0; t < 10; t++) {
      tbVec3 y = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      double sum = 0;
      for (int k = 0; k < 9; k++) sum += (&y.x)[k / 3] * P[0][k] * (&y.x)[k % 3];
      CHECK(sum >= -1e-12);
    }
  }
}

// The energy alone is that which forces come with: of triangles, hinges, tetrahedra and springs, each of them
// stretched by itself.
TEST(the_energy_alone_is_that_of_the_forces)
{
  tbContext ctx = tb_default_context();
  const tbSpringDef def[] = {{{0, 5}, 7, -1}, {{2, 4}, 3, -1}};
  for (int kind = 0; kind < 2; kind++) {
    tbFemBody* fem = NULL;
    tbTetMesh* solid = NULL;
    tbMesh* sheet = NULL;
    tbSoftDef soft = tb_soft_def();
    tbClothDef cloth = tb_cloth_def();
    tbFemSprings springs = {def, 2};
    if (kind == 0) {
      CHECK_OK(&ctx, tb_tet_box(&ctx, tb_vec3(1, 1, 1), (int[3]){1, 1, 1}, 5, &solid));
      CHECK_OK(&ctx, tb_fem_soft_create(&ctx, solid, &soft, springs, &fem));
    } else {
      CHECK_OK(&ctx, tb_cloth_grid(&ctx, 1, 1, 2, 1, &sheet));
      CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, sheet, &cloth, springs, &fem));
    }
    REQUIRE(fem);
    for (int moved = -1; moved < fem->nnode; moved++) {
      tbVec3 x[8];
      REQUIRE(fem->nnode <= 8);
      for (int i = 0; i < fem->nnode; i++) x[i] = fem->rest[i];
      if (moved >= 0) x[moved] = tb_add3(x[moved], tb_vec3(0.1, -0.2, 0.15));
      double with = tb_fem_evaluate(fem, NULL, x, TB_TANGENT_NONE, NULL), alone = tb_fem_energy(fem, x);
      CHECK_NEAR(alone, with, 1e-12 * (1 + with));
      CHECK(moved < 0 ? with < 1e-9 : with > 1e-6);
    }
    tb_fem_free(&ctx, fem);
    tb_tet_mesh_free(&ctx, solid);
    tb_mesh_free(&ctx, sheet);
  }
}
