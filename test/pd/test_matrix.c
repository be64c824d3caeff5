// SPDX-License-Identifier: Apache-2.0
// Factors of a body in projective form.
#include "test.h"

#include "pd/body.h"

#include <stdlib.h>

static tbPdBody* sheet(tbContext* ctx, tbFemBody** fem)
{
  tbMesh* mesh = NULL;
  tbPdBody* body = NULL;
  tbClothDef def = tb_cloth_def();
  CHECK_OK(ctx, tb_cloth_grid(ctx, 1, 0.7, 6, 5, &mesh));
  CHECK_OK(ctx, tb_fem_cloth_create(ctx, mesh, &def, (tbFemSprings){0}, fem));
  CHECK_OK(ctx, tb_pd_create(ctx, *fem, &body));
  tb_mesh_free(ctx, mesh);
  return body;
}

// The largest difference between solves of all axes at once and of each by P's own factor, and of entries of
// the inverse.
static double difference(tbContext* ctx, const tbPdBody* b)
{
  int n = b->nnode;
  tbRandom r = test_random(3);
  double worst = 0, z;
  double *x = malloc(3 * (size_t)n * sizeof *x), *y = malloc(3 * (size_t)n * sizeof *y);
  double* scratch =
      malloc((tb_cholesky_scratch(b->wide_factor, 1) + tb_cholesky_scratch(b->factor, 3)) * sizeof *scratch);
  for (int i = 0; i < 3 * n; i++) x[i] = test_uniform(&r, -1, 1);
  CHECK_OK(ctx, tb_cholesky_solve(ctx, b->wide_factor, 1, x, y, scratch));
  CHECK_OK(ctx, tb_cholesky_solve(ctx, b->factor, 3, x, x, scratch));
  for (int i = 0; i < 3 * n; i++) worst = fmax(worst, fabs(x[i] - y[i]) / fabs(x[i]));
  for (int i = 0; i < 3 * n; i++) x[i] = i == 4;
  CHECK_OK(ctx, tb_cholesky_solve(ctx, b->wide_factor, 1, x, y, scratch));
  CHECK(tb_selected_inverse_at(&b->wide_inverse, 4, 4, &z));
  worst = fmax(worst, fabs(z / y[4] - 1));
  CHECK(tb_selected_inverse_at(&b->wide_inverse, 4, 3, &z) && z == 0);
  free(x), free(y), free(scratch);
  return worst;
}

TEST(the_wide_factor_solves_all_axes_and_follows_step_and_pins)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem;
  tbPdBody* b = sheet(&ctx, &fem);
  for (int round = 0; round < 3; round++) {
    if (round == 2) fem->pinned[3] = 1;
    CHECK_OK(&ctx, tb_pd_update(&ctx, b, round == 0 ? 0.01 : 0.002));
    CHECK(!b->wide_known); // made when it is asked for
    CHECK_OK(&ctx, tb_pd_factor_wide(&ctx, b));
    REQUIRE(b->wide_factor != NULL && b->wide_known);
    CHECK_NEAR(difference(&ctx, b), 0, 1e-10);
    CHECK_OK(&ctx, tb_pd_update(&ctx, b, b->h));
    CHECK(b->wide_known); // and kept
  }
  CHECK(tb_cholesky_stats(b->wide_factor).entries <= 3 * tb_cholesky_stats(b->factor).entries);
  tb_pd_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}
