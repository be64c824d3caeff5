// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/statics.h"
#include "math/dense.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbFemBody* make_body(tbContext* ctx, tbTetMesh* mesh, tbSoftDef def)
{
  tbFemBody* body = NULL;
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &body));
  return body;
}

static tbTetMesh* make_box(tbContext* ctx, tbVec3 size, int nx, int ny, int nz, int per)
{
  tbTetMesh* mesh = NULL;
  CHECK_OK(ctx, tb_tet_box(ctx, size, (const int[3]){nx, ny, nz}, per, &mesh));
  return mesh;
}

static void deform(const tbFemBody* body, uint64_t seed, double amount, tbVec3* x)
{
  tbRandom r = test_random(seed);
  for (int i = 0; i < body->nnode; i++) {
    x[i] = body->rest[i];
    for (int k = 0; k < 3; k++) (&x[i].x)[k] += test_uniform(&r, -amount, amount);
  }
}

TEST(assembled_stiffness_is_the_sum_of_the_elements)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = make_box(&ctx, tb_vec3(1, 1, 1), 2, 2, 2, 5);
  tbSoftDef def = tb_soft_def();
  def.young = 1;
  tbFemBody* body = make_body(&ctx, mesh, def);
  REQUIRE(body);
  enum { N = 81 };
  static double dense[N][N], sum[N];
  memset(dense, 0, sizeof dense);
  memset(sum, 0, sizeof sum);
  tbVec3 x[27];
  double f[N];
  deform(body, 5, 0.1, x);
  double energy = 0;
  for (int t = 0; t < mesh->ntet; t++) {
    tbVec3 y[4];
    double g[12], K[TB_TET_BLOCKS][9];
    for (int a = 0; a < 4; a++) y[a] = x[mesh->tet[t][a]];
    energy += tb_tet_evaluate(&body->material, &body->tet[t], y, TB_TANGENT_POSITIVE, g, K);
    for (int a = 0, k = 0; a < 4; a++) {
      for (int i = 0; i < 3; i++) sum[3 * mesh->tet[t][a] + i] += g[3 * a + i];
      for (int b = a; b < 4; b++, k++)
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) {
            int row = 3 * mesh->tet[t][a] + i, col = 3 * mesh->tet[t][b] + j;
            dense[row][col] += K[k][3 * i + j];
            if (a != b) dense[col][row] += K[k][3 * i + j];
          }
    }
  }
  CHECK_NEAR(tb_fem_evaluate(body, NULL, x, TB_TANGENT_POSITIVE, f), energy, 1e-15);
  CHECK_NEAR(tb_fem_energy(body, x), energy, 1e-15);
  double* val = malloc((size_t)body->K.ptr[N] * sizeof *val);
  tb_fem_stiffness(body, NULL, val);
  for (int i = 0; i < N; i++) {
    CHECK_NEAR(f[i], sum[i], 1e-15);
    for (int n = body->K.ptr[i]; n < body->K.ptr[i + 1]; n++) {
      int j = body->K.idx[n];
      CHECK(n == body->K.ptr[i] || j > body->K.idx[n - 1]);
      CHECK_NEAR(val[n], dense[i][j], 1e-15);
      dense[i][j] = 0;
    }
  }
  for (int i = 0; i < N * N; i++) CHECK((&dense[0][0])[i] == 0);
  free(val);
  tb_fem_free(&ctx, body);
  tb_tet_mesh_free(&ctx, mesh);
}

TEST(bodies_have_the_same_bits_for_any_number_of_threads)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = make_box(&ctx, tb_vec3(1, 1, 1), 6, 6, 6, 6);
  tbMesh* grid = NULL;
  CHECK_OK(&ctx, tb_cloth_grid(&ctx, 1, 1, 30, 20, &grid));
  for (int kind = 0; kind < 2; kind++) {
    tbFemBody* body = NULL;
    tbClothDef sheet = tb_cloth_def();
    tbSoftDef soft = tb_soft_def();
    soft.model = TB_ELASTIC_NEO_HOOKEAN;
    if (kind == 0) CHECK_OK(&ctx, tb_fem_soft_create(&ctx, mesh, &soft, (tbFemSprings){0}, &body));
    else CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, grid, &sheet, (tbFemSprings){0}, &body));
    REQUIRE(body);
    static tbVec3 x[1000];
    static double f[3000], A[200000], K[200000], rhs[3000];
    static const tbVec3 v[1000];
    REQUIRE(body->nnode <= 1000 && body->K.ptr[body->K.rows] <= 200000);
    body->pinned[7] = 1;
    deform(body, 6, kind ? 0.01 : 0.08, x);
    uint64_t first = 0;
    for (int count = 1; count <= 7; count += 3) {
      tbThreads* threads = NULL;
      CHECK_OK(&ctx, tb_threads_create(&ctx, count, &threads));
      double energy = tb_fem_evaluate(body, threads, x, TB_TANGENT_POSITIVE, f);
      tb_fem_step(body, threads, 0.01, tb_vec3(0, 0, -9.81), f, v, NULL, A, NULL, rhs);
      tb_fem_stiffness(body, threads, K);
      uint64_t hash = test_hash(&energy, sizeof energy) ^
                      3 * test_hash(f, 3 * (size_t)body->nnode * sizeof *f) ^
                      5 * test_hash(K, (size_t)body->K.ptr[body->K.rows] * sizeof *K) ^
                      7 * test_hash(A, (size_t)body->K.ptr[body->K.rows] * sizeof *A) ^
                      9 * test_hash(rhs, 3 * (size_t)body->nnode * sizeof *rhs);
      if (count == 1) first = hash;
      CHECK(hash == first);
      tb_threads_destroy(&ctx, threads);
    }
    // symmetric to the bit
    for (int i = 0; i < body->K.rows; i++)
      for (int n = body->K.ptr[i]; n < body->K.ptr[i + 1]; n++) {
        int j = body->K.idx[n], m = body->K.ptr[j];
        while (body->K.idx[m] != i) m++;
        CHECK(K[m] == K[n]);
      }
    tb_fem_free(&ctx, body);
  }
  tb_mesh_free(&ctx, grid);
  tb_tet_mesh_free(&ctx, mesh);
}

static bool on_surface(tbVec3 X) { return tb_maxabs3(X) > 0.4999; }

// Moved affinely at the boundary, the inside follows: no net force there, and Newton's method finds it from
// elsewhere.
TEST(patch_test_to_round_off_for_every_model)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = make_box(&ctx, tb_vec3(1, 1, 1), 4, 4, 4, 5);
  const tbMat3 gentle = {{{1.1, 0.2, -0.1}, {0.05, 0.9, 0.1}, {-0.1, 0.1, 1.2}}};
  const tbMat3 turned = tb_mat3_mul(tb_quat_mat3(tb_quat_exp(tb_vec3(0.5, -1, 0.7))), gentle);
  tbRandom r = test_random(9);
  for (int i = 0; i < mesh->nnode; i++) // an irregular inside
    if (!on_surface(mesh->node[i]))
      mesh->node[i] =
          tb_add3(mesh->node[i], tb_vec3(test_uniform(&r, -0.05, 0.05), test_uniform(&r, -0.05, 0.05),
                                         test_uniform(&r, -0.05, 0.05)));
  for (int model = 0; model < TB_ELASTIC_COUNT; model++) {
    tbMat3 F = model == TB_ELASTIC_LINEAR ? gentle : turned;
    tbSoftDef def = tb_soft_def();
    def.model = (tbElasticModel)model;
    def.young = 1;
    def.poisson = 0.4;
    tbFemBody* body = make_body(&ctx, mesh, def);
    REQUIRE(body);
    tbVec3 exact[125], x[125];
    double f[375];
    for (int i = 0; i < body->nnode; i++) exact[i] = tb_mat3_mulv(F, body->rest[i]);
    tb_fem_evaluate(body, NULL, exact, TB_TANGENT_NONE, f);
    for (int i = 0; i < body->nnode; i++)
      if (!on_surface(body->rest[i])) CHECK(tb_norm3(tb_load3(f + 3 * i)) < 1e-15);
    for (int i = 0; i < body->nnode; i++) {
      body->pinned[i] = on_surface(body->rest[i]);
      x[i] = exact[i];
      if (!body->pinned[i]) x[i] = tb_madd3(exact[i], 1, tb_vec3(0.05 * sin(i), 0.05 * cos(3 * i), 0.04));
    }
    CHECK(test_equilibrium(&ctx, body, NULL, 1e-15, 30, x) >= 0);
    for (int i = 0; i < body->nnode; i++) CHECK(tb_distance3(x[i], exact[i]) < 1e-13);
    tb_fem_free(&ctx, body);
  }
  tb_tet_mesh_free(&ctx, mesh);
}

// Tip deflection of a clamped beam under its own weight, relative to Timoshenko's: qL⁴/(8EI) + qL²/(2κGA), κ
// = 5/6.
static double cantilever(tbContext* ctx, int n, int model)
{
  const double L = 8, H = 1, E = 1e6, density = 1000, g = 1e-5;
  tbTetMesh* mesh = make_box(ctx, tb_vec3(L, 0.5, H), 4 * n, 1, n, 5);
  tbSoftDef def = tb_soft_def();
  def.model = (tbElasticModel)model;
  def.young = E;
  def.poisson = 0;
  def.density = density;
  tbFemBody* body = make_body(ctx, mesh, def);
  if (!body) return NAN;
  size_t nnode = (size_t)body->nnode;
  tbVec3* x = TB_NEW(ctx, tbVec3, nnode);
  double* load = TB_NEW(ctx, double, 3 * nnode);
  for (size_t i = 0; i < nnode; i++) {
    x[i] = body->rest[i];
    body->pinned[i] = x[i].x < -L / 2 + 1e-9;
    load[3 * i + 2] = -g * body->mass[i];
  }
  CHECK(test_equilibrium(ctx, body, load, 1e-8, 20, x) >= 0);
  double tip = 0, count = 0, q = density * g * H; // per width
  for (size_t i = 0; i < nnode; i++)
    if (body->rest[i].x > L / 2 - 1e-9) tip += body->rest[i].z - x[i].z, count++;
  double exact = q * L * L * L * L / (8 * E * H * H * H / 12) + q * L * L / (2 * 5.0 / 6 * E / 2 * H);
  tb_free(ctx, x);
  tb_free(ctx, load);
  tb_fem_free(ctx, body);
  tb_tet_mesh_free(ctx, mesh);
  return tip / count / exact;
}

LONG_TEST(cantilever_bends_as_beam_theory_says)
{
  tbContext ctx = tb_default_context();
  double coarse = cantilever(&ctx, 4, TB_ELASTIC_LINEAR), middle = cantilever(&ctx, 8, TB_ELASTIC_LINEAR),
         fine = cantilever(&ctx, 16, TB_ELASTIC_LINEAR);
  CHECK_NEAR(fine, 1, 0.02);
  CHECK(1 - middle > 3 * (1 - fine)); // second order
  CHECK(1 - coarse > 3 * (1 - middle));
  CHECK_NEAR(fine + (fine - middle) / 3, 1, 0.005);
  for (int model = 1; model < TB_ELASTIC_COUNT; model++) CHECK_NEAR(cantilever(&ctx, 8, model), middle, 1e-3);
}

// ---- uniaxial stretch ----

// The sideways stretch t for which the sides are free, and the force per rest area, both from the energy in
// principal stretches written down once more.
static double uniaxial_stress(const tbElastic* m, double s, double t, double* side)
{
  double mu = m->mu, la = m->lambda, axial = 0, J = s * t * t;
  if (m->model <= TB_ELASTIC_COROTATED) {
    double tr = s + 2 * t - 3;
    axial = 2 * mu * (s - 1) + la * tr, *side = 2 * mu * (t - 1) + la * tr;
  } else if (m->model == TB_ELASTIC_STVK) {
    double tr = 0.5 * (s * s + 2 * t * t - 3);
    axial = s * (mu * (s * s - 1) + la * tr), *side = t * (mu * (t * t - 1) + la * tr);
  } else {
    axial = mu * (s - 1 / s) + la * log(J) / s, *side = mu * (t - 1 / t) + la * log(J) / t;
  }
  return axial;
}

TEST(uniaxial_stretch_matches_closed_forms)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = make_box(&ctx, tb_vec3(1, 1, 2), 2, 2, 3, 6);
  const double stretches[] = {0.8, 1.05, 1.5};
  for (int model = 0; model < TB_ELASTIC_COUNT; model++)
    for (int k = 0; k < 3; k++) {
      tbSoftDef def = tb_soft_def();
      def.model = (tbElasticModel)model;
      def.young = 1;
      def.poisson = 0.35;
      tbFemBody* body = make_body(&ctx, mesh, def);
      REQUIRE(body);
      // bisection for the free sideways stretch
      double s = stretches[k], low = 0.5, high = 1.5, side;
      for (int it = 0; it < 100; it++) {
        double t = 0.5 * (low + high);
        uniaxial_stress(&body->material, s, t, &side);
        if (side > 0) high = t;
        else low = t;
      }
      double stress = uniaxial_stress(&body->material, s, low, &side);
      // pull both ends with that stress, as nodal loads of the surface triangles
      tbVec3 x[64];
      double load[192] = {0};
      for (int t = 0; t < mesh->ntriangle; t++) {
        const int* v = mesh->triangle[t];
        tbVec3 a = mesh->node[v[0]], b = mesh->node[v[1]], c = mesh->node[v[2]];
        tbVec3 area = tb_scale3(0.5, tb_cross3(tb_sub3(b, a), tb_sub3(c, a)));
        for (int n = 0; n < 3; n++) load[3 * v[n] + 2] += stress * area.z / 3;
      }
      for (int i = 0; i < body->nnode; i++) x[i] = tb_mul3(tb_vec3(low, low, s), body->rest[i]);
      double f[192];
      tb_fem_evaluate(body, NULL, x, TB_TANGENT_NONE, f);
      for (int i = 0; i < 3 * body->nnode; i++) CHECK_NEAR(f[i] + load[i], 0, 1e-13);
      // Three pinned nodes fix the frame; the others find their way from far off. Under pressure the far end,
      // free to tilt, would not stay.
      tbVec3 found[64];
      for (int i = 0, pins = 0; i < body->nnode; i++) {
        bool low_face = body->rest[i].z < -0.99 && pins < 3 && (i == 0 || i == 2 || i == 6); // three corners
        body->pinned[i] = low_face;
        pins += low_face;
        found[i] = low_face ? x[i] : tb_add3(body->rest[i], tb_vec3(0.02 * sin(i), 0.02 * cos(i), 0));
      }
      CHECK(s < 1 || test_equilibrium(&ctx, body, load, 1e-13, 60, found) >= 0);
      for (int i = 0; s > 1 && i < body->nnode; i++) CHECK(tb_distance3(found[i], x[i]) < 1e-10);
      tb_fem_free(&ctx, body);
    }
  tb_tet_mesh_free(&ctx, mesh);
}
