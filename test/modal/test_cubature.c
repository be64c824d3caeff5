// SPDX-License-Identifier: Apache-2.0
// Elastic energy from few elements, against all of them.
#include "kind/beams.h"
#include "kind/reduced.h"

#include "math/eigen.h"

#include <math.h>

static tbFemBody* beam(tbContext* ctx, tbVec3 size, int nx, int ny, int nz, double young)
{
  tbTetMesh* mesh;
  tbFemBody* fem;
  tbSoftDef def = tb_soft_def();
  def.model = TB_ELASTIC_STVK, def.young = young, def.poisson = 0.3;
  CHECK_OK(ctx, tb_tet_box(ctx, size, (int[3]){nx, ny, nz}, 5, &mesh));
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &fem));
  tb_tet_mesh_free(ctx, mesh);
  for (int i = 0; i < fem->nnode; i++) fem->pinned[i] = fem->rest[i].x < -0.499 * size.x;
  return fem;
}

// Slow modes bend far, fast ones little.
static void draw_pose(tbRandom* random, const tbModalBasis* b, double far, double* q)
{
  for (int k = 0; k < b->nmode; k++) q[k] = test_uniform(random, -far, far) * b->omega2[0] / b->omega2[k];
}

// A mesh of few elements is taken whole: what comes out is the polynomial to rounding.
TEST(cubature_over_all_elements_is_the_polynomial)
{
  enum { R = 14 };
  tbContext ctx = tb_default_context();
  tbFemBody* fem = beam(&ctx, tb_vec3(1, 0.2, 0.3), 8, 1, 1, 1e5);
  REQUIRE(fem->nelement[0] <= 3 * R);
  tbModalBasis* b;
  tbCubature* c;
  CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, R, true, true, &b));
  REQUIRE(b->nmode == R && b->polynomial);
  CHECK_OK(&ctx, tb_cubature_create(&ctx, fem, R, b->field, b->omega2, &c));
  CHECK(c->count == fem->nelement[0] && c->miss == 0);
  tbRandom random = test_random(7);
  double q[R], f[R], g[R], K[R * R], L[R * R], work[3 * R * (R + 1) / 2];
  for (int pose = 0; pose < 5; pose++) {
    draw_pose(&random, b, 2, q);
    double energy = tb_polynomial_evaluate(b->polynomial, q, f, K, work), most = 0, stiff = 0;
    CHECK_NEAR(tb_cubature_evaluate(c, q, g, L, work) / energy, 1, 1e-10);
    for (int k = 0; k < R; k++) most = fmax(most, fabs(f[k]));
    for (int k = 0; k < R * R; k++) stiff = fmax(stiff, fabs(K[k]));
    for (int k = 0; k < R; k++) CHECK_NEAR(f[k], g[k], 1e-10 * most);
    for (int k = 0; k < R * R; k++) CHECK_NEAR(K[k], L[k], 1e-10 * stiff);
  }
  tb_cubature_free(&ctx, c);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}

static double worst_miss(const tbModalBasis* b, const tbCubature* c, int poses)
{
  enum { MOST = 32 };
  tbRandom random = test_random(11);
  double q[MOST], f[MOST], g[MOST], work[3 * MOST * (MOST + 1) / 2], worst = 0;
  for (int pose = 0; pose < poses; pose++) {
    double miss = 0, whole = 0;
    draw_pose(&random, b, 0.5 + pose % 5, q);
    double energy = tb_polynomial_evaluate(b->polynomial, q, f, NULL, work);
    CHECK_NEAR(tb_cubature_evaluate(c, q, g, NULL, work) / energy, 1, 0.02);
    for (int k = 0; k < b->nmode; k++) {
      miss += (f[k] - g[k]) * (f[k] - g[k]) / b->omega2[k];
      whole += f[k] * f[k] / b->omega2[k];
    }
    worst = fmax(worst, sqrt(miss / whole));
  }
  return worst;
}

// Of poses that it has not seen, as far as the body is long; and what it would vibrate at.
TEST(trained_cubature_has_the_forces_and_frequencies_of_the_mesh)
{
  enum { R = 16 };
  tbContext ctx = tb_default_context();
  tbFemBody* fem = beam(&ctx, tb_vec3(1, 0.15, 0.15), 12, 3, 3, 3e4);
  tbModalBasis* b;
  tbCubature* c;
  CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, R, true, true, &b));
  REQUIRE(b->nmode == R && b->polynomial);
  CHECK_OK(&ctx, tb_cubature_create(&ctx, fem, R, b->field, b->omega2, &c));
  CHECK(c->count <= 5 * R && c->count < fem->nelement[0] / 4);
  double volume = 0, zero[R] = {0}, g[R], K[R * R], value[R], work[9 * R];
  for (int i = 0; i < c->count; i++) {
    CHECK(c->weight[i] > 0);
    CHECK(i == 0 || c->element[i] > c->element[i - 1]);
    volume += c->weight[i];
  }
  CHECK_NEAR(volume / (0.15 * 0.15), 1, 0.02);
  CHECK(c->miss < 0.03 && worst_miss(b, c, 40) < 0.02);
  CHECK(tb_cubature_evaluate(c, zero, g, K, work) == 0);
  for (int k = 0; k < R; k++) CHECK(g[k] == 0);
  CHECK(tb_dense_eigen(R, K, value, work));
  for (int k = 0; k < R; k++) CHECK_NEAR(sqrt(value[k] / b->omega2[k]), 1, 0.015);
  tb_cubature_free(&ctx, c);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}

TEST(many_fields_or_many_elements_are_sampled)
{
  CHECK(!tb_cubature_pays(1000, 29) && !tb_cubature_pays(1000, 50) && !tb_cubature_pays(50000, 30));
  CHECK(tb_cubature_pays(1000, 64) && tb_cubature_pays(50000, 60) && tb_cubature_pays(100, 64));
}

// The lowest the tip of a cantilever gets, and when: the full mesh, for 0 modes.
static void swing(int modes, double* depth, double* when, double* sampled)
{
  enum { NX = 20, FACE = 16 };
  Stage s = soft_stage(0.5, 2e-3);
  tbDeformableDef def = reduced_def(modes, 4e5);
  def.soft.model = TB_ELASTIC_STVK, def.basis = TB_BASIS_DERIVATIVES;
  int held[FACE];
  tbPinDef pin = tb_default_pin_def();
  for (int i = 0; i < FACE; i++) held[i] = (NX + 1) * i; // the face at −x
  pin.nodes = held, pin.node_count = FACE, def.pins = &pin, def.pin_count = 1;
  tbBodyId id = add_beam(&s, tb_vec3(1, 0.1, 0.1), NX, 3, 3, def);
  CHECK(tb_body_nodes(s.world, id)[(NX + 1) * (FACE - 1)].x < -0.49);
  const tbReduced* d = modes > 0 ? tb_bodies(s.world)[0].own : NULL;
  *sampled = d && d->basis->cubature ? (double)d->basis->cubature->count / d->fem->nelement[0] : 0;
  *depth = 0;
  for (int i = 0; i < 350; i++) {
    stage_run(&s, 1);
    double z = tb_body_nodes(s.world, id)[NX].z + 0.05;
    if (z < *depth) *depth = z, *when = s.world->time;
    if (z > 0.9 * *depth && *depth < -0.05) break;
  }
  stage_close(&s);
}

// By 0.6 of its length.
LONG_TEST(a_body_of_seventy_fields_bends_as_the_full_mesh)
{
  double depth[2], when[2], sampled[2];
  swing(0, &depth[0], &when[0], &sampled[0]);
  swing(70, &depth[1], &when[1], &sampled[1]);
  CHECK(sampled[1] > 0 && sampled[1] < 0.5);
  CHECK(depth[0] < -0.4);
  CHECK_NEAR(depth[1] / depth[0], 1, 0.05);
  CHECK_NEAR(when[1] / when[0], 1, 0.05);
}
