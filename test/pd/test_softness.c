// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "pd/body.h"

enum { NODES = 27 };

static tbPdBody* cube(tbContext* ctx, double young, double h, int pin, tbFemBody** fem)
{
  tbTetMesh* mesh = NULL;
  tbPdBody* body = NULL;
  tbSoftDef def = tb_soft_def();
  def.young = young;
  CHECK_OK(ctx, tb_tet_box(ctx, tb_vec3(1, 1, 1), (const int[3]){2, 2, 2}, 5, &mesh));
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, fem));
  if (pin >= 0) (*fem)->pinned[pin] = 1;
  CHECK_OK(ctx, tb_pd_create(ctx, *fem, &body));
  CHECK_OK(ctx, tb_pd_update(ctx, body, h));
  tb_tet_mesh_free(ctx, mesh);
  return body;
}

static void drop(tbContext* ctx, tbFemBody* fem, tbPdBody* body)
{
  tb_pd_free(ctx, body);
  tb_fem_free(ctx, fem);
}

// xᵀP⁻¹x against what masses alone would give, (1ᵀx)²/m + β (xᵀD⁻¹x − (1ᵀx)²/m); the largest ratio over
// random x.
static double largest_share(tbContext* ctx, const tbPdBody* b)
{
  static double scratch[64 * 3 * NODES];
  tbRandom r = test_random(7);
  double largest = 0;
  CHECK(tb_cholesky_scratch(b->factor, 1) <= (size_t)(64 * 3 * NODES));
  for (int trial = 0; trial < 200; trial++) {
    double x[NODES], y[NODES], sum = 0, own = 0, all = 0;
    for (int i = 0; i < NODES; i++) {
      x[i] = trial < NODES ? i == trial : test_uniform(&r, -1, 1);
      sum += x[i], own += x[i] * x[i] / b->lump[i];
    }
    CHECK_OK(ctx, tb_cholesky_solve(ctx, b->factor, 1, x, y, scratch));
    for (int i = 0; i < NODES; i++) all += x[i] * y[i];
    double mean = sum * sum / b->mass, share = mean + b->softness * (own - mean);
    largest = all / share > largest ? all / share : largest;
  }
  return largest;
}

TEST(nodes_of_a_solid_give_no_more_than_its_softness_says)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem;
  double last = 1;
  for (double young = 1e6; young < 1e9; young *= 10) {
    tbPdBody* b = cube(&ctx, young, 0.01, -1, &fem);
    CHECK(b->softness < 0.9 * last); // the stiffer, the less
    last = b->softness;
    double share = largest_share(&ctx, b);
    CHECK(share <= 1 + 1e-12 && share > 0.3); // a bound, and no loose one
    drop(&ctx, fem, b);
  }
}

TEST(soft_and_pinned_solids_give_as_masses_do)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem;
  tbPdBody* b = cube(&ctx, 10, 0.001, -1, &fem);
  CHECK(b->softness == 1);
  drop(&ctx, fem, b);
  b = cube(&ctx, 1e8, 0.01, 4, &fem);
  CHECK(b->softness == 1 && b->mass > 0);
  drop(&ctx, fem, b);
}
