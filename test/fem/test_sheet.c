// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "fem/body.h"
#include "fem/statics.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static const double stretch = 20, shear = 7, bend = 0.3;
static const double five_point[4][2] = {{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}};

static tbVec3 random_point(tbRandom* r, double size)
{
  return tb_vec3(test_uniform(r, -size, size), test_uniform(r, -size, size), test_uniform(r, -size, size));
}

typedef struct {
  int corners;
  double strain_limit;
  tbMembraneRest membrane;
  tbHingeRest hinge;
  tbVec3 x[4];
} Element;

static double evaluate(const Element* e, tbTangent tangent, double f[12], double K[TB_TET_BLOCKS][9])
{
  tbMembraneStiffness m = {stretch, shear, e->strain_limit, e->strain_limit > 0 ? 20 * stretch : 0};
  return e->corners == 3 ? tb_membrane_evaluate(&m, &e->membrane, e->x, tangent, f, K)
                         : tb_hinge_evaluate(bend, &e->hinge, e->x, tangent, f, K);
}

static double triangle_area(tbVec3 a, tbVec3 b, tbVec3 c)
{
  return 0.5 * tb_norm3(tb_cross3(tb_sub3(b, a), tb_sub3(c, a)));
}

static Element random_element(tbRandom* r, int corners)
{
  Element e = {.corners = corners, .strain_limit = corners == 3 && test_below(r, 2) ? 0.2 : 0};
  tbVec3 X[4];
  for (bool sound = false; !sound;) {
    for (int i = 0; i < corners; i++) X[i] = random_point(r, 1), e.x[i] = random_point(r, 1);
    sound = triangle_area(X[0], X[1], X[2]) > 0.3 && triangle_area(e.x[0], e.x[1], e.x[2]) > 0.3;
    if (corners == 4) {
      sound = sound && triangle_area(X[0], X[1], X[3]) > 0.3 && triangle_area(e.x[0], e.x[1], e.x[3]) > 0.3;
      sound = sound && fabs(tb_hinge_angle(e.x)) < 3;
    }
  }
  e.membrane = tb_membrane_rest(X, random_point(r, 1));
  if (corners == 4) e.hinge = tb_hinge_rest(X);
  return e;
}

static void expand(int corners, double K[TB_TET_BLOCKS][9], double A[12][12])
{
  for (int a = 0, k = 0; a < corners; a++)
    for (int b = a; b < corners; b++, k++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * a + i][3 * b + j] = A[3 * b + j][3 * a + i] = K[k][3 * i + j];
}

static double largest(const double* v, int n)
{
  double m = 0;
  for (int i = 0; i < n; i++) m = fmax(m, fabs(v[i]));
  return m;
}

TEST(derivatives_of_cloth_elements_are_right)
{
  tbRandom r = test_random(21);
  for (int corners = 3; corners <= 4; corners++)
    for (int trial = 0; trial < 200; trial++) {
      Element e = random_element(&r, corners);
      int n = 3 * corners;
      double f[12], g[12], K[TB_TET_BLOCKS][9], A[12][12] = {{0}}, step = 2e-4;
      evaluate(&e, TB_TANGENT_EXACT, f, K);
      expand(corners, K, A);
      for (int i = 0; i < n; i++) {
        double slope = 0, row[12] = {0};
        for (int k = 0; k < 4; k++) {
          Element moved = e;
          (&moved.x[i / 3].x)[i % 3] += five_point[k][0] * step;
          slope += five_point[k][1] / step * evaluate(&moved, TB_TANGENT_NONE, g, NULL);
          for (int j = 0; j < n; j++) row[j] -= five_point[k][1] / step * g[j];
        }
        CHECK_NEAR(slope, -f[i], 1e-8 * fmax(1, largest(f, n)));
        for (int j = 0; j < n; j++) CHECK_NEAR(row[j], A[i][j], 1e-8 * largest(&A[0][0], 144));
      }
    }
}

TEST(forces_of_cloth_elements_balance_and_turn_nothing)
{
  tbRandom r = test_random(22);
  for (int corners = 3; corners <= 4; corners++)
    for (int trial = 0; trial < 200; trial++) {
      Element e = random_element(&r, corners), turned = e;
      double f[12];
      double energy = evaluate(&e, TB_TANGENT_NONE, f, NULL);
      tbVec3 sum = tb_zero3(), torque = tb_zero3();
      for (int i = 0; i < corners; i++) {
        sum = tb_add3(sum, tb_load3(f + 3 * i));
        torque = tb_add3(torque, tb_cross3(e.x[i], tb_load3(f + 3 * i)));
      }
      CHECK(tb_norm3(sum) < 1e-14 * largest(f, 12) && tb_norm3(torque) < 1e-13 * largest(f, 12));
      tbQuat q = tb_quat_exp(random_point(&r, 3));
      for (int i = 0; i < corners; i++) turned.x[i] = tb_add3(tb_quat_rotate(q, e.x[i]), tb_vec3(1, 2, 3));
      CHECK_NEAR(evaluate(&turned, TB_TANGENT_NONE, f, NULL), energy, 1e-12 * (1 + energy));
    }
}

TEST(positive_tangents_of_cloth_are_positive_and_exact_where_they_can_be)
{
  tbRandom r = test_random(23);
  int kept = 0;
  for (int corners = 3; corners <= 4; corners++)
    for (int trial = 0; trial < 300; trial++) {
      Element e = random_element(&r, corners);
      if (trial % 3 == 0) // a plain stretch, no shear
        e.membrane = (tbMembraneRest){0.5, {{1, 0}, {0, 1}}}, e.x[0] = tb_zero3(),
        e.x[1] = tb_vec3(1.2, 0, 0), e.x[2] = tb_vec3(0, 1.3, 0);
      if (corners == 4) e.hinge.angle = tb_hinge_angle(e.x);
      double f[12], K[TB_TET_BLOCKS][9], A[12][12] = {{0}}, B[12][12] = {{0}}, difference = 0;
      evaluate(&e, TB_TANGENT_EXACT, f, K);
      expand(corners, K, A);
      evaluate(&e, TB_TANGENT_POSITIVE, f, K);
      expand(corners, K, B);
      int n = 3 * corners;
      double scale = largest(&B[0][0], 144);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) difference = fmax(difference, fabs(A[i][j] - B[i][j]));
      for (int i = 0; i < n; i++) B[i][i] += 1e-12 * scale;
      CHECK(tb_dense_cholesky(n, &B[0][0], 12) == n);
      if (corners == 4 || trial % 3 == 0) CHECK(difference <= 1e-12 * scale);
      kept += difference <= 1e-12 * scale;
    }
  CHECK(kept >= 400 && kept < 500);
}

// The plate's ½ bend κ² area, on a strip rolled around a cylinder.
TEST(bending_energy_is_that_of_a_plate)
{
  tbContext ctx = tb_default_context();
  tbMesh* grid = NULL;
  CHECK_OK(&ctx, tb_cloth_grid(&ctx, 2, 1, 40, 20, &grid));
  tbClothDef def = tb_cloth_def();
  def.bend = 1;
  def.stretch = 1e-9;
  def.shear = 0;
  tbFemBody* body = NULL;
  CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, grid, &def, (tbFemSprings){0}, &body));
  REQUIRE(body);
  static tbVec3 x[861];
  const double R = 1.5;
  REQUIRE(body->nnode == 861);
  for (int direction = 0; direction < 2; direction++) {
    for (int i = 0; i < body->nnode; i++) {
      tbVec3 X = body->rest[i];
      x[i] = direction ? tb_vec3(X.x, R * sin(X.y / R), R * cos(X.y / R))
                       : tb_vec3(R * sin(X.x / R), X.y, R * cos(X.x / R));
    }
    double exact = 0.5 * 2 / (R * R);
    CHECK_NEAR(tb_fem_energy(body, x), exact, 0.06 * exact); // rows at the border do not bend
  }
  tb_fem_free(&ctx, body);
  tb_mesh_free(&ctx, grid);
}

// Half a cone: its area is π (r + R) times its slant, its triangles face outward, its ends are open.
TEST(tubes_of_cloth_are_cones_without_ends)
{
  tbContext ctx = tb_default_context();
  tbMesh* tube = NULL;
  const double top = 0.3, bottom = 0.7, length = 0.5, slant = hypot(bottom - top, length);
  CHECK_OK(&ctx, tb_cloth_tube(&ctx, top, bottom, length, 90, 40, &tube));
  REQUIRE(tube);
  tbTriangleView t = tb_mesh_triangles(tube);
  CHECK(t.nvertex == 90 * 41 && t.ntriangle == 2 * 90 * 40);
  double area = 0, high = -1, low = 1;
  int inward = 0;
  for (int i = 0; i < t.ntriangle; i++) {
    tbVec3 a = t.vertex[t.triangle[i][0]], b = t.vertex[t.triangle[i][1]], c = t.vertex[t.triangle[i][2]];
    tbVec3 n = tb_cross3(tb_sub3(b, a), tb_sub3(c, a));
    area += 0.5 * tb_norm3(n);
    inward += n.x * a.x + n.y * a.y <= 0;
  }
  for (int i = 0; i < t.nvertex; i++) high = fmax(high, t.vertex[i].z), low = fmin(low, t.vertex[i].z);
  CHECK_NEAR(area, TB_PI * (top + bottom) * slant, 1e-3 * area);
  CHECK(inward == 0 && high == 0.5 * length && low == -0.5 * length);
  tb_mesh_free(&ctx, tube);
  CHECK(tb_cloth_tube(&ctx, 1, 1, 1, 2, 1, &tube) == TB_ERROR_ARGUMENT && !tube);
  CHECK(tb_cloth_tube(&ctx, 1, 1, NAN, 3, 1, &tube) == TB_ERROR_ARGUMENT && !tube);
  CHECK(tb_cloth_tube(&ctx, 1, -1, 1, 3, 1, &tube) == TB_ERROR_ARGUMENT && !tube);
}

TEST(cloth_stretches_by_its_weight_over_its_stiffness)
{
  tbContext ctx = tb_default_context();
  tbMesh* grid = NULL;
  CHECK_OK(&ctx, tb_cloth_grid(&ctx, 1, 2, 6, 12, &grid));
  tbClothDef def = tb_cloth_def();
  tbFemBody* body = NULL;
  CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, grid, &def, (tbFemSprings){0}, &body));
  REQUIRE(body);
  static tbVec3 x[91];
  static double load[273];
  REQUIRE(body->nnode == 91);
  const double g = 9.81;
  double mass = 0;
  for (int i = 0; i < body->nnode; i++) {
    x[i] = body->rest[i];
    x[i].y *= 1.2;
    body->pinned[i] = body->rest[i].y > 0.999;
    load[3 * i + 1] = -g * body->mass[i];
    mass += body->mass[i];
  }
  CHECK_NEAR(mass, 0.2 * 2, 1e-14);
  CHECK(test_equilibrium(&ctx, body, load, 1e-10, 50, x) >= 0);
  double low = 0;
  for (int i = 0; i < body->nnode; i++) low = fmin(low, x[i].y);
  double pins = 1.2;                                                                // where the top was put
  CHECK_NEAR(pins - low, 2 + def.area_density * g * 2 * 2 / 2 / def.stretch, 1e-3); // ρgL²/2k more than L
  tb_fem_free(&ctx, body);
  tb_mesh_free(&ctx, grid);
}

TEST(warp_may_be_perpendicular_to_a_triangle)
{
  const tbVec3 X[3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}};
  const tbVec3 warps[] = {{0, 0, 1}, {1, 0, 0}, {0.3, -0.8, 5}};
  for (int k = 0; k < 3; k++) {
    tbMembraneRest m = tb_membrane_rest(X, warps[k]);
    double f[9];
    CHECK_NEAR(m.area, 1, 1e-15);
    CHECK_NEAR(tb_membrane_evaluate(&(tbMembraneStiffness){1, 1, 0.1, 5}, &m, X, TB_TANGENT_NONE, f, NULL), 0,
               1e-30);
  }
}

// Weight and drag balance at area density · g / air damping.
TEST(falling_cloth_reaches_its_terminal_velocity)
{
  tbContext ctx = tb_default_context();
  tbMesh* grid = NULL;
  CHECK_OK(&ctx, tb_cloth_grid(&ctx, 1, 1, 3, 3, &grid));
  tbClothDef def = tb_cloth_def();
  def.air_damping = 0.5;
  tbFemBody* body = NULL;
  CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, grid, &def, (tbFemSprings){0}, &body));
  REQUIRE(body && body->nnode == 16);
  tbVec3 x[16], v[16] = {{0}};
  double f[48], rhs[48];
  static double A[48 * 48];
  for (int i = 0; i < 16; i++) x[i] = body->rest[i];
  for (int k = 0; k < 400; k++) {
    double dense[48][48] = {{0}};
    tb_fem_evaluate(body, NULL, x, TB_TANGENT_POSITIVE, f);
    tb_fem_step(body, NULL, 0.02, tb_vec3(0, 0, -9.81), f, v, NULL, A, NULL, rhs);
    for (int i = 0; i < 48; i++)
      for (int n = body->K.ptr[i]; n < body->K.ptr[i + 1]; n++) dense[i][body->K.idx[n]] = A[n];
    REQUIRE(tb_dense_cholesky(48, &dense[0][0], 48) == 48);
    tb_dense_cholesky_solve(48, &dense[0][0], 48, rhs);
    for (int i = 0; i < 16; i++) v[i] = tb_load3(rhs + 3 * i), x[i] = tb_madd3(x[i], 0.02, v[i]);
  }
  for (int i = 0; i < 16; i++) CHECK(tb_distance3(v[i], tb_vec3(0, 0, -0.2 * 9.81 / 0.5)) < 1e-6);
  tb_fem_free(&ctx, body);
  tb_mesh_free(&ctx, grid);
}

// Folds and slack threads on the way: Newton's method with the positive tangent gets there all the same.
LONG_TEST(a_sheet_hung_by_two_corners_comes_to_rest)
{
  tbContext ctx = tb_default_context();
  tbMesh* grid = NULL;
  CHECK_OK(&ctx, tb_cloth_grid(&ctx, 1, 1, 12, 12, &grid));
  tbClothDef def = tb_cloth_def();
  def.bend = 1e-3;
  tbFemBody* body = NULL;
  CHECK_OK(&ctx, tb_fem_cloth_create(&ctx, grid, &def, (tbFemSprings){0}, &body));
  REQUIRE(body && body->nnode == 169);
  static tbVec3 x[169];
  static double load[507];
  for (int i = 0; i < body->nnode; i++) {
    x[i] = body->rest[i];
    x[i].z = 0.01 * sin(5 * x[i].x + 3 * x[i].y);
    body->pinned[i] = i == 156 || i == 168;
    load[3 * i + 2] = -9.81 * body->mass[i];
  }
  int steps = test_equilibrium(&ctx, body, load, 1e-8, 150, x);
  CHECK(steps >= 0);
  CHECK(x[6].z < -0.8 && fabs(x[6].x) < 0.05); // the middle of the free edge hangs below
  tb_fem_free(&ctx, body);
  tb_mesh_free(&ctx, grid);
}
