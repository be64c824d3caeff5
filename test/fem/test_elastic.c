// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/elastic.h"
#include "math/dense.h"
#include "math/svd3.h"

#include <math.h>
#include <string.h>

static tbElastic material(int model, double poisson)
{
  tbContext ctx = tb_default_context();
  tbElastic m = {0};
  CHECK_OK(&ctx, tb_elastic_create(&ctx, (tbElasticModel)model, 1, poisson, &m));
  return m;
}

static tbMat3 random_rotation(tbRandom* r)
{
  tbQuat q =
      tb_quat(test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1));
  return tb_quat_mat3(tb_quat_normalize(q));
}

static tbVec3 random_point(tbRandom* r, double size)
{
  return tb_vec3(test_uniform(r, -size, size), test_uniform(r, -size, size), test_uniform(r, -size, size));
}

// Stretches of one kind between random rotations; the kinds are what elements suffer.
enum { GENTLE, EQUAL, SQUEEZED, FLAT, INVERTED, LARGE, KINDS };
static const char* const kind_names[] = {"gentle", "equal", "squeezed", "flat", "inverted", "large"};

static tbMat3 random_gradient(tbRandom* r, int kind)
{
  double s[3];
  for (int i = 0; i < 3; i++) {
    if (kind == GENTLE) s[i] = test_uniform(r, 0.75, 1.3);
    if (kind == EQUAL) s[i] = i == 0 ? test_uniform(r, 0.8, 1.2) : s[0];
    if (kind == SQUEEZED) s[i] = test_uniform(r, 0.1, 0.65);
    if (kind == FLAT) s[i] = i == 2 ? test_uniform(r, -1e-6, 1e-6) : test_uniform(r, 0.8, 1.2);
    if (kind == INVERTED) s[i] = i == 2 ? -test_uniform(r, 0.1, 0.4) : test_uniform(r, 0.8, 1.2);
    if (kind == LARGE) s[i] = test_uniform(r, 20, 200);
  }
  tbMat3 D = tb_mat3_diag(s[0], s[1], s[2]);
  return tb_mat3_mul(random_rotation(r), tb_mat3_mul(D, random_rotation(r)));
}

typedef struct {
  tbTetRest rest;
  tbVec3 x[4];
} Element;

static Element random_element(tbRandom* r, int kind)
{
  Element e;
  tbVec3 X[4];
  do {
    for (int i = 0; i < 4; i++) X[i] = random_point(r, 1);
    e.rest = tb_tet_rest(X);
  } while (e.rest.volume < 0.05);
  tbMat3 F = random_gradient(r, kind);
  tbVec3 t = random_point(r, 3);
  for (int i = 0; i < 4; i++) e.x[i] = tb_add3(t, tb_mat3_mulv(F, X[i]));
  return e;
}

// The symmetric 12×12 matrix of the blocks.
static void expand(double K[TB_TET_BLOCKS][9], double A[12][12])
{
  for (int a = 0, k = 0; a < 4; a++)
    for (int b = a; b < 4; b++, k++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * a + i][3 * b + j] = A[3 * b + j][3 * a + i] = K[k][3 * i + j];
}

static double largest(const double* v, int n)
{
  double m = 0;
  for (int i = 0; i < n; i++) m = fmax(m, fabs(v[i]));
  return m;
}

static const double five_point[4][2] = {{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}};

TEST(forces_are_the_derivative_of_the_energy)
{
  tbRandom r = test_random(1);
  for (int model = 0; model < TB_ELASTIC_COUNT; model++)
    for (int kind = 0; kind < KINDS; kind++) {
      tbElastic m = material(model, 0.3);
      for (int trial = 0; trial < 40; trial++) {
        Element e = random_element(&r, kind);
        double f[12], step = kind == LARGE ? 1e-2 : 1e-4, worst = 0;
        tb_tet_evaluate(&m, &e.rest, e.x, TB_TANGENT_NONE, f, NULL);
        for (int i = 0; i < 12; i++) {
          double slope = 0;
          for (int k = 0; k < 4; k++) {
            Element moved = e;
            (&moved.x[i / 3].x)[i % 3] += five_point[k][0] * step;
            slope += five_point[k][1] / step * tb_tet_energy(&m, &moved.rest, moved.x);
          }
          worst = fmax(worst, fabs(slope + f[i]));
        }
        double scale = fmax(largest(f, 12), 1);
        if (!(worst <= 1e-7 * scale))
          test_failed(__FILE__, __LINE__, "%s, %s: %g of %g", tb_elastic_name(model), kind_names[kind], worst,
                      scale);
      }
    }
}

TEST(stiffness_is_the_derivative_of_the_forces)
{
  tbRandom r = test_random(2);
  for (int model = 0; model < TB_ELASTIC_COUNT; model++)
    for (int kind = 0; kind < KINDS; kind++) {
      tbElastic m = material(model, 0.3);
      for (int trial = 0; trial < 40; trial++) {
        Element e = random_element(&r, kind);
        double f[12], K[TB_TET_BLOCKS][9], A[12][12], step = kind == LARGE ? 1e-2 : 1e-4, worst = 0;
        tb_tet_evaluate(&m, &e.rest, e.x, TB_TANGENT_EXACT, f, K);
        expand(K, A);
        for (int i = 0; i < 12; i++) {
          double slope[12] = {0};
          for (int k = 0; k < 4; k++) {
            Element moved = e;
            (&moved.x[i / 3].x)[i % 3] += five_point[k][0] * step;
            tb_tet_evaluate(&m, &moved.rest, moved.x, TB_TANGENT_NONE, f, NULL);
            for (int j = 0; j < 12; j++) slope[j] += five_point[k][1] / step * f[j];
          }
          for (int j = 0; j < 12; j++) worst = fmax(worst, fabs(slope[j] + A[i][j]));
        }
        double scale = largest(&A[0][0], 144);
        if (!(worst <= 1e-7 * scale))
          test_failed(__FILE__, __LINE__, "%s, %s: %g of %g", tb_elastic_name(model), kind_names[kind], worst,
                      scale);
      }
    }
}

TEST(forces_balance_and_turn_nothing)
{
  tbRandom r = test_random(3);
  for (int model = 1; model < TB_ELASTIC_COUNT; model++)
    for (int kind = 0; kind < KINDS; kind++) {
      tbElastic m = material(model, 0.4);
      for (int trial = 0; trial < 50; trial++) {
        Element e = random_element(&r, kind);
        double f[12], size = 0;
        tb_tet_evaluate(&m, &e.rest, e.x, TB_TANGENT_NONE, f, NULL);
        tbVec3 sum = tb_zero3(), torque = tb_zero3();
        for (int i = 0; i < 4; i++) {
          tbVec3 force = tb_load3(f + 3 * i);
          sum = tb_add3(sum, force);
          torque = tb_add3(torque, tb_cross3(tb_sub3(e.x[i], e.x[0]), force));
          size = fmax(size, tb_norm3(tb_sub3(e.x[i], e.x[0])));
        }
        double scale = largest(f, 12);
        CHECK(tb_norm3(sum) <= 1e-14 * scale);
        CHECK(tb_norm3(torque) <= 1e-13 * scale * size);
      }
    }
}

TEST(energy_does_not_see_rotations)
{
  tbRandom r = test_random(4);
  for (int model = 1; model < TB_ELASTIC_COUNT; model++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int trial = 0; trial < 50; trial++) {
        tbElastic m = material(model, 0.25);
        tbMat3 F = random_gradient(&r, kind), R = random_rotation(&r);
        double e = tb_elastic_energy(&m, F);
        CHECK_NEAR(tb_elastic_energy(&m, tb_mat3_mul(R, F)), e, 1e-12 * (1 + e));
        CHECK_NEAR(tb_elastic_energy(&m, tb_mat3_mul(F, R)), e, 1e-12 * (1 + e));
        CHECK_NEAR(tb_elastic_energy(&m, R), 0, 1e-14);
      }
}

// All models have the stiffness of linear elasticity at rest.
TEST(models_agree_at_rest)
{
  tbRandom r = test_random(5);
  Element e = random_element(&r, GENTLE);
  tbVec3 X[4] = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1, 0}, {0, 0.3, 0.8}};
  e.rest = tb_tet_rest(X);
  double f[12], K[TB_TET_BLOCKS][9], L[TB_TET_BLOCKS][9];
  for (int model = 0; model < TB_ELASTIC_COUNT; model++) {
    tbElastic m = material(model, 0.3);
    tb_tet_evaluate(&m, &e.rest, X, TB_TANGENT_EXACT, f, model == 0 ? L : K);
    CHECK(largest(f, 12) < 1e-15);
    for (int k = 0; model > 0 && k < TB_TET_BLOCKS; k++)
      for (int i = 0; i < 9; i++) CHECK_NEAR(K[k][i], L[k][i], 1e-14);
  }
}

TEST(projected_stiffness_is_positive_and_else_the_same)
{
  tbRandom r = test_random(6);
  int changed = 0, kept = 0;
  for (int model = 0; model < TB_ELASTIC_COUNT; model++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int trial = 0; trial < 40; trial++) {
        tbElastic m = material(model, 0.45);
        Element e = random_element(&r, kind);
        double f[12], K[TB_TET_BLOCKS][9], P[TB_TET_BLOCKS][9], A[12][12], B[12][12];
        tb_tet_evaluate(&m, &e.rest, e.x, TB_TANGENT_EXACT, f, K);
        tb_tet_evaluate(&m, &e.rest, e.x, TB_TANGENT_POSITIVE, f, P);
        expand(K, A);
        expand(P, B);
        double difference = 0, scale = largest(&B[0][0], 144);
        for (int i = 0; i < 12; i++)
          for (int j = 0; j < 12; j++) difference = fmax(difference, fabs(A[i][j] - B[i][j]));
        for (int i = 0; i < 12; i++) A[i][i] += 1e-12 * scale, B[i][i] += 1e-12 * scale;
        CHECK(tb_dense_cholesky(12, B[0], 12) == 12);
        bool positive = tb_dense_cholesky(12, A[0], 12) == 12;
        if (positive) CHECK(difference <= 1e-9 * scale);
        kept += positive;
        changed += !positive;
      }
  CHECK(kept > 200 && changed > 200);
}

// One element let go: Newton's method with the projected stiffness and backtracking, shifted because nothing
// holds the element in place.
static double relax(const tbElastic* m, Element* e, int steps)
{
  for (int step = 0; step < steps; step++) {
    double f[12], K[TB_TET_BLOCKS][9], A[12][12];
    double energy = tb_tet_evaluate(m, &e->rest, e->x, TB_TANGENT_POSITIVE, f, K), descent = 0;
    if (largest(f, 12) < 1e-12) break;
    expand(K, A);
    for (int i = 0; i < 12; i++) A[i][i] += 1e-2;
    tb_dense_cholesky(12, A[0], 12);
    double d[12];
    memcpy(d, f, sizeof d);
    tb_dense_cholesky_solve(12, A[0], 12, d);
    for (int i = 0; i < 12; i++) descent += d[i] * f[i];
    for (double t = 1; t > 1e-12; t /= 2) {
      Element next = *e;
      for (int i = 0; i < 12; i++) (&next.x[i / 3].x)[i % 3] += t * d[i];
      if (tb_tet_energy(m, &next.rest, next.x) > energy - 1e-4 * t * descent && t > 1e-10) continue;
      *e = next;
      break;
    }
  }
  return tb_tet_energy(m, &e->rest, e->x);
}

// Where no stretch and no volume is below 70 %, both continuations are the same model; where the volume is
// there but one stretch is small, only that of stretches has begun.
TEST(neo_hookean_goes_on_below_a_stretch_or_below_a_volume)
{
  tbElastic a = material(TB_ELASTIC_NEO_HOOKEAN, 0.3), b = material(TB_ELASTIC_NEO_HOOKEAN_VOLUME, 0.3);
  tbMat3 F = tb_mat3_identity();
  F.m[0][0] = 0.9, F.m[1][1] = 1.2, F.m[2][2] = 0.8, F.m[0][1] = 0.1;
  CHECK_NEAR(tb_elastic_energy(&a, F), tb_elastic_energy(&b, F), 1e-12 * tb_elastic_energy(&a, F));
  F.m[0][1] = 0, F.m[2][2] = 0.4, F.m[0][0] = 2;
  double mu = b.mu, lambda = b.lambda, J = 2 * 1.2 * 0.4;
  double exact = 0.5 * mu * (4 + 1.44 + 0.16 - 3 - 2 * log(J)) + 0.5 * lambda * log(J) * log(J);
  CHECK_NEAR(tb_elastic_energy(&b, F), exact, 1e-12 * exact);
  CHECK(tb_elastic_energy(&a, F) < exact);
  F.m[0][0] = 1, F.m[2][2] = 0.1; // below: the force grows linearly with the volume, no faster
  double at[3];
  for (int i = 0; i < 3; i++) {
    tbStress s;
    F.m[2][2] = 0.3 - 0.15 * i;
    tb_elastic_stress(&b, F, TB_TANGENT_NONE, &s);
    at[i] = s.P.m[2][2];
  }
  CHECK_NEAR(at[0] - at[1], at[1] - at[2], 1e-9 * fabs(at[2]));
}

TEST(inverted_and_collapsed_elements_recover)
{
  tbRandom r = test_random(7);
  for (int model = 1; model < TB_ELASTIC_COUNT; model++)
    for (int trial = 0; trial < 30; trial++) {
      tbElastic m = material(model, trial % 2 ? 0.2 : 0.45);
      Element e = random_element(&r, INVERTED);
      tbVec3 start[4];
      memcpy(start, e.x, sizeof start);
      for (int how = 0; how < 5; how++) {
        bool stuck = how >= 1 && how <= 3; // where cofactors vanish, all of them or all but one
        if (model == TB_ELASTIC_NEO_HOOKEAN_VOLUME && stuck) continue;
        for (int i = 0; i < 4; i++) {
          tbVec3 x = start[i];
          if (how == 1) x.z = 0;                                 // flat
          if (how == 2) x = tb_zero3();                          // a point
          if (how == 3) x = tb_vec3(x.x, 0, 0);                  // a line
          if (how == 4) x = tb_vec3(-2 * x.x, 2 * x.y, 2 * x.z); // right way round and large, or mirrored
          e.x[i] = x;
        }
        double left = relax(&m, &e, 100);
        if (!(left < 1e-12))
          test_failed(__FILE__, __LINE__, "%s, start %d: %g left", tb_elastic_name(model), how, left);
      }
    }
}

TEST(a_mirrored_element_recovers)
{
  const tbVec3 X[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int model = 1; model < TB_ELASTIC_COUNT; model++) {
    tbElastic m = material(model, 0.3);
    Element e = {tb_tet_rest(X), {X[0], X[1], X[2], {0, 0, -1}}};
    CHECK(relax(&m, &e, 100) < 1e-12);
    CHECK(tb_mat3_det(tb_tet_gradient(&e.rest, e.x)) > 0.99);
  }
}

TEST(bad_materials_are_refused)
{
  tbContext ctx = tb_default_context();
  tbElastic m;
  CHECK(tb_elastic_create(&ctx, TB_ELASTIC_STVK, 0, 0.3, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_elastic_create(&ctx, TB_ELASTIC_STVK, NAN, 0.3, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_elastic_create(&ctx, TB_ELASTIC_STVK, 1, 0.5, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_elastic_create(&ctx, TB_ELASTIC_STVK, 1, -1, &m) == TB_ERROR_ARGUMENT);
  CHECK(tb_elastic_create(&ctx, TB_ELASTIC_COUNT, 1, 0.3, &m) == TB_ERROR_ARGUMENT);
  tbElasticModel model;
  CHECK(tb_elastic_from_name("neo-hookean", &model) && model == TB_ELASTIC_NEO_HOOKEAN);
  CHECK(!tb_elastic_from_name("rubber", &model));
}

// Ψ = μ (½ (s² − 1) − log s) + … is second order at rest: no digits may be lost to the two terms.
TEST(neo_hookean_energy_keeps_its_digits_near_rest)
{
  tbElastic m = material(TB_ELASTIC_NEO_HOOKEAN, 0);
  for (double d = 1e-1; d > 1e-12; d /= 3) {
    volatile double stretched = 1 + d; // what the element sees
    double e = stretched - 1, exact = m.mu * (e * e - e * e * e * (1.0 / 3 - e * (0.25 - e * (0.2 - e / 6))));
    CHECK_NEAR(tb_elastic_energy(&m, tb_mat3_diag(stretched, 1, 1)), exact,
               (1e-13 + d * d * d * d * d) * exact);
  }
}
