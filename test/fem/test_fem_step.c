// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/body.h"
#include "fem/rows.h"
#include "math/cholesky.h"
#include "math/dense.h"
#include "tribo/problem.h"
#include "tribo/scene.h"

#include <math.h>
#include <string.h>

enum { NODES = 27, N = 3 * NODES };

static tbFemBody* cube(tbContext* ctx, tbSoftDef def)
{
  tbTetMesh* mesh = NULL;
  tbFemBody* body = NULL;
  CHECK_OK(ctx, tb_tet_box(ctx, tb_vec3(1, 1, 1), (const int[3]){2, 2, 2}, 5, &mesh));
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &body));
  tb_tet_mesh_free(ctx, mesh);
  return body;
}

typedef struct {
  double A[8192], rhs[N], f[N], next[N], scratch[64 * N];
  tbVec3 x[NODES], v[NODES];
  tbCholesky* factor;
} State;

static void begin(tbContext* ctx, const tbFemBody* body, State* s)
{
  memset(s, 0, sizeof *s);
  for (int i = 0; i < NODES; i++) s->x[i] = body->rest[i];
  CHECK_OK(ctx, tb_cholesky_analyze(ctx, N, body->K.ptr, body->K.idx, NULL, &s->factor));
  CHECK(body->K.ptr[N] <= 8192 && tb_cholesky_scratch(s->factor, 1) <= 64 * N);
}

static void end(tbContext* ctx, tbFemBody* body, State* s)
{
  tb_cholesky_free(ctx, s->factor);
  tb_fem_free(ctx, body);
}

// One implicit step: v⁺ = A⁻¹ rhs, x⁺ = x + h v⁺. Returns the elastic energy before it.
static double step(tbContext* ctx, tbFemBody* body, double h, tbVec3 gravity, const tbVec3* pin, State* s)
{
  double energy = tb_fem_evaluate(body, NULL, s->x, TB_TANGENT_POSITIVE, s->f);
  tb_fem_step(body, NULL, h, gravity, s->f, s->v, pin, s->A, NULL, s->rhs);
  CHECK_OK(ctx, tb_cholesky_factor(ctx, s->factor, s->A));
  CHECK_OK(ctx, tb_cholesky_solve(ctx, s->factor, 1, s->rhs, s->next, s->scratch));
  for (int i = 0; i < NODES; i++) {
    s->v[i] = tb_load3(s->next + 3 * i);
    s->x[i] = tb_madd3(s->x[i], h, s->v[i]);
  }
  return energy;
}

// Rows with compliance resist as the elements do that they are made of: f = −Σ κ g (g·d) of linear
// elasticity.
TEST(elements_as_rows_resist_as_the_elements)
{
  tbContext ctx = tb_default_context();
  tbSoftDef def = tb_default_deformable_def().soft;
  def.model = TB_ELASTIC_LINEAR, def.stiffness_damping = 0.01;
  tbFemBody* body = cube(&ctx, def);
  tbRandom r = test_random(5);
  const double h = 0.02, stiff = h * h + h * def.stiffness_damping;
  tbVec3 x[NODES];
  double f[N], sum[N] = {0}, most = 0, off = 0;
  for (int i = 0; i < N; i++)
    (&x[i / 3].x)[i % 3] = (&body->rest[i / 3].x)[i % 3] + test_uniform(&r, -0.1, 0.1);
  tb_fem_evaluate(body, NULL, x, TB_TANGENT_NONE, f);
  for (int e = 0; e < tb_fem_element_count(body); e++) {
    tbElementRows rows;
    tb_fem_element_rows(body, e, h, body->rest, NULL, &rows);
    CHECK(rows.width == 12 && rows.count == 6);
    for (int m = 0; m < rows.count; m++) {
      double along = 0, kappa = 1 / (stiff * rows.compliance[m]);
      for (int i = 0; i < rows.width; i++) {
        int at = rows.node[i / 3];
        along += rows.row[m][i] * ((&x[at].x)[i % 3] - (&body->rest[at].x)[i % 3]);
      }
      for (int i = 0; i < rows.width; i++)
        sum[3 * rows.node[i / 3] + i % 3] -= kappa * along * rows.row[m][i];
    }
  }
  for (int i = 0; i < N; i++) most = fmax(most, fabs(f[i])), off = fmax(off, fabs(f[i] - sum[i]));
  CHECK(off < 1e-10 * most);
  tb_fem_free(&ctx, body);
}

TEST(a_body_at_rest_falls_freely)
{
  tbContext ctx = tb_default_context();
  for (int consistent = 0; consistent < 2; consistent++) {
    tbSoftDef def = tb_soft_def();
    def.consistent_mass = consistent;
    def.stiffness_damping = 0.01;
    tbFemBody* body = cube(&ctx, def);
    REQUIRE(body);
    static State s;
    begin(&ctx, body, &s);
    for (int k = 0; k < 5; k++) step(&ctx, body, 0.01, tb_vec3(0, 0, -10), NULL, &s);
    for (int i = 0; i < NODES; i++) CHECK(tb_distance3(s.v[i], tb_vec3(0, 0, -0.5)) < 1e-10);
    end(&ctx, body, &s);
  }
}

TEST(pinned_nodes_move_as_told_and_the_rest_feels_them)
{
  tbContext ctx = tb_default_context();
  tbSoftDef def = tb_soft_def();
  def.stiffness_damping = 0.1;
  tbFemBody* body = cube(&ctx, def);
  REQUIRE(body);
  static State s;
  begin(&ctx, body, &s);
  tbVec3 pin[NODES];
  for (int i = 0; i < NODES; i++) {
    body->pinned[i] = body->rest[i].z > 0.4;
    pin[i] = tb_vec3(0.3, -0.2, 0.1);
  }
  for (int k = 0; k < 400; k++) step(&ctx, body, 0.01, tb_zero3(), pin, &s);
  for (int i = 0; i < NODES; i++) // dragged along, oscillations damped by implicit Euler
    CHECK(tb_distance3(s.v[i], pin[i]) < (body->pinned[i] ? 1e-15 : 1e-6));
  end(&ctx, body, &s);
}

TEST(implicit_steps_lose_energy_and_keep_momentum)
{
  tbContext ctx = tb_default_context();
  for (int model = 1; model < TB_ELASTIC_COUNT; model++) {
    tbSoftDef def = tb_soft_def();
    def.model = (tbElasticModel)model;
    tbFemBody* body = cube(&ctx, def);
    REQUIRE(body);
    static State s;
    begin(&ctx, body, &s);
    tbRandom r = test_random(11);
    tbVec3 before = tb_zero3(), after = tb_zero3();
    for (int i = 0; i < NODES; i++) {
      s.x[i] = tb_mul3(tb_vec3(1.2, 0.9, 1), s.x[i]);
      s.v[i] = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), 1);
      before = tb_madd3(before, body->mass[i], s.v[i]);
    }
    double energy = INFINITY;
    for (int k = 0; k < 100; k++) {
      double e = step(&ctx, body, 0.005, tb_zero3(), NULL, &s);
      if (k == 0) energy = e;
      after = tb_zero3();
      for (int i = 0; i < NODES; i++) after = tb_madd3(after, body->mass[i], s.v[i]);
      CHECK(tb_distance3(after, before) < 1e-9 * tb_norm3(before));
    }
    CHECK(tb_fem_energy(body, s.x) < 0.01 * energy);
    end(&ctx, body, &s);
  }
}

// A turned inside out cube, every element inverted, finds its shape again.
TEST(a_cube_turned_inside_out_recovers)
{
  tbContext ctx = tb_default_context();
  for (int model = 1; model < TB_ELASTIC_COUNT; model++)
    for (int how = model == TB_ELASTIC_NEO_HOOKEAN_VOLUME; how < 3;
         how++) { // which mirrored ones get stuck in
      tbSoftDef def = tb_soft_def();
      def.model = (tbElasticModel)model;
      def.stiffness_damping = 0.01;
      tbFemBody* body = cube(&ctx, def);
      REQUIRE(body);
      static State s;
      begin(&ctx, body, &s);
      tbRandom r = test_random(12);
      for (int i = 0; i < NODES; i++) {
        tbVec3* x = &s.x[i];
        if (how == 0) x->z = -x->z; // mirrored
        if (how == 1) x->z = 0;     // flat
        if (how == 2) *x = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      }
      double start = tb_fem_energy(body, s.x), left = start;
      for (int k = 0; k < 1500 && left > 1e-6 * start; k++)
        left = step(&ctx, body, 0.01, tb_zero3(), NULL, &s);
      if (!(left <= 1e-6 * start))
        test_failed(__FILE__, __LINE__, "%s, %d: %g of %g left", tb_elastic_name(model), how, left, start);
      end(&ctx, body, &s);
    }
}

TEST(a_step_becomes_a_contact_problem)
{
  tbContext ctx = tb_default_context();
  tbFemBody* body = cube(&ctx, tb_soft_def());
  REQUIRE(body);
  static State s;
  begin(&ctx, body, &s);
  body->pinned[0] = 1;
  step(&ctx, body, 0.01, tb_vec3(0, 0, -9.81), NULL, &s);
  tbBuilder* b = NULL;
  tbProblem* problem = NULL;
  const double mu = 0.5, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  int dof;
  CHECK_OK(&ctx, tb_builder_create(&ctx, "soft cube", &b));
  tb_builder_sparse(b, N, body->K.ptr, body->K.idx, s.A, s.next, &dof);
  for (int i = 0; i < 9; i++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, dof + 3 * i, 3, J);
  }
  CHECK_OK(&ctx, tb_builder_finish(b, &problem));
  REQUIRE(problem);
  CHECK(problem->ndof == N && problem->ncontact == 9);
  tbDelassus* W = NULL;
  CHECK_OK(&ctx, tb_delassus_create(&ctx, problem, TB_FORM_DENSE, &W));
  REQUIRE(W);
  CHECK(W->dense[0] > 0 && W->dense[0] < 1e-9 * W->dense[3 * (size_t)problem->nrow + 3]); // the pin holds
  tb_delassus_free(&ctx, W);
  tb_problem_free(problem);
  end(&ctx, body, &s);
}

TEST(bodies_survive_failed_allocations_and_refuse_nonsense)
{
  tbContext plain = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbMesh* grid = NULL;
  CHECK_OK(&plain, tb_tet_box(&plain, tb_vec3(1, 1, 1), (const int[3]){2, 1, 1}, 6, &mesh));
  CHECK_OK(&plain, tb_cloth_grid(&plain, 1, 1, 3, 2, &grid));
  tbSoftDef soft = tb_soft_def();
  tbClothDef sheet = tb_cloth_def();
  soft.consistent_mass = true;
  sheet.air_damping = 1;
  for (int kind = 0; kind < 2; kind++)
    for (long k = 0;; k++) {
      tbFailingAllocator memory = {.countdown = k};
      tbContext ctx = test_failing_context(&memory);
      tbFemBody* body = NULL;
      tbStatus status = kind ? tb_fem_cloth_create(&ctx, grid, &sheet, (tbFemSprings){0}, &body)
                             : tb_fem_soft_create(&ctx, mesh, &soft, (tbFemSprings){0}, &body);
      CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !body));
      tb_fem_free(&ctx, body);
      CHECK(memory.alive == 0);
      if (status == TB_OK) break;
    }
  tbFemBody* body = NULL;
  soft.density = 0;
  CHECK(tb_fem_soft_create(&plain, mesh, &soft, (tbFemSprings){0}, &body) == TB_ERROR_ARGUMENT && !body);
  soft = tb_soft_def(), soft.mass_damping = -1;
  CHECK(tb_fem_soft_create(&plain, mesh, &soft, (tbFemSprings){0}, &body) == TB_ERROR_ARGUMENT && !body);
  sheet.stretch = NAN;
  CHECK(tb_fem_cloth_create(&plain, grid, &sheet, (tbFemSprings){0}, &body) == TB_ERROR_ARGUMENT && !body);
  sheet = tb_cloth_def(), sheet.warp = tb_zero3();
  CHECK(tb_fem_cloth_create(&plain, grid, &sheet, (tbFemSprings){0}, &body) == TB_ERROR_ARGUMENT && !body);
  tb_mesh_free(&plain, grid);
  tb_tet_mesh_free(&plain, mesh);
}
