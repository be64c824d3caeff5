// SPDX-License-Identifier: Apache-2.0
// Mass properties against closed forms, and polyhedra against boxes.
#include "shapes.h"

static const double pi = 3.14159265358979323846;

static void check_mass(const char* file, int line, tbMass a, tbMass b, double rel)
{
  double size = tb_mat3_maxabs(b.inertia), span = sqrt(size / b.mass);
  double dm = fabs(a.mass - b.mass) / b.mass, dc = tb_distance3(a.centre, b.centre) / span,
         di = tb_mat3_maxabs(tb_mat3_sub(a.inertia, b.inertia)) / size;
  if (!(dm <= rel && dc <= rel && di <= rel))
    test_failed(file, line, "mass off by %g, centre by %g, inertia by %g", dm, dc, di);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++)
      if (a.inertia.m[i][j] != a.inertia.m[j][i]) test_failed(file, line, "inertia not symmetric");
}
#define SAME_MASS(a, b, rel) check_mass(__FILE__, __LINE__, a, b, rel)

static tbMass mass_of(double mass, tbVec3 centre, double x, double y, double z)
{
  return (tbMass){mass, centre, tb_mat3_diag(x, y, z)};
}

TEST(mass_of_simple_shapes_is_the_closed_form)
{
  tbShape ball = tb_shape_sphere(0.3), box = tb_shape_box(tb_vec3(1, 2, 3)), rod = tb_shape_cylinder(0.5, 4);
  double m = 7 * 4 * pi / 3 * 0.027;
  SAME_MASS(tb_shape_mass(&ball, 7), mass_of(m, tb_zero3(), m * 0.036, m * 0.036, m * 0.036), 1e-15);
  m = 2 * 6;
  SAME_MASS(tb_shape_mass(&box, 2), mass_of(m, tb_zero3(), m * 13 / 12, m * 10 / 12, m * 5 / 12), 1e-15);
  m = 3 * pi * 0.25 * 4;
  SAME_MASS(tb_shape_mass(&rod, 3), mass_of(m, tb_zero3(), m * (0.75 + 16) / 12, m * (0.75 + 16) / 12, m / 8),
            1e-15);
  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 2), 4);
  CHECK(tb_shape_mass(&plane, 1).mass == 0 && plane.plane.normal.z == 1 && plane.plane.offset == 2);
}

// ∫ over slices of the body of revolution: Simpson's rule is exact for the polynomials of each part.
TEST(mass_of_a_capsule_is_the_sum_of_its_slices)
{
  double r = 0.4, half = 0.7, V = 0, across = 0, along = 0;
  for (int part = 0; part < 3; part++) {
    double from = part == 0 ? -half - r : part == 1 ? -half : half, length = part == 1 ? 2 * half : r;
    enum { N = 200 };
    for (int i = 0; i < N; i++)
      for (int k = 0; k < 3; k++) {
        double z = from + length * (i + 0.5 * k) / N, over = fmax(0, fabs(z) - half),
               rr = r * r - over * over;
        double w = (k == 1 ? 4.0 : 1.0) / 6 * length / N * pi * rr;
        V += w;
        along += w * rr / 2;
        across += w * (rr / 4 + z * z);
      }
  }
  tbShape s = tb_shape_capsule(r, 2 * half), ball = tb_shape_capsule(0.4, 0), same = tb_shape_sphere(0.4);
  SAME_MASS(tb_shape_mass(&s, 1), mass_of(V, tb_zero3(), across, across, along), 1e-11);
  SAME_MASS(tb_shape_mass(&ball, 1), tb_shape_mass(&same, 1), 1e-15);
}

TEST(mass_of_a_box_as_a_mesh_and_as_a_hull_is_that_of_the_box)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(11);
  static const double places[] = {0, 1, 1e3, 1e6, 1e9};
  for (int k = 0; k < 60; k++) {
    double scale = pow(10, test_uniform(&r, -6, 6)), place = places[k % 5];
    // Sizes and places that are exact in binary, so that the corners carry no error of their own.
    tbVec3 size = tb_add3(tb_vec3(1, 1, 1), shapes_on_grid(&r, 8));
    size = tb_scale3(ldexp(1, (int)log2(scale)), size);
    tbTransform T = {tb_quat_identity(), tb_scale3(ldexp(floor(place), (int)log2(scale)), tb_vec3(1, -3, 2))};
    tbVec3 vertex[8];
    int triangle[36];
    tbMesh* mesh = NULL;
    tbHull* hull = NULL;
    shapes_box(size, T, vertex, triangle);
    CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 12, &mesh));
    CHECK_OK(&ctx, tb_hull_create(&ctx, vertex, 8, &hull));
    REQUIRE(mesh && hull);
    tbShape box = tb_shape_box(size), as_mesh = tb_shape_mesh(mesh), as_hull = tb_shape_convex(hull);
    box.pose = T;
    tbMass m = tb_shape_mass(&box, 3);
    SAME_MASS(tb_shape_mass(&as_mesh, 3), m, 1e-14);
    SAME_MASS(tb_shape_mass(&as_hull, 3), m, 1e-14);
    tb_mesh_free(&ctx, mesh);
    tb_hull_free(&ctx, hull);
  }
}

// A slanting needle: each moment is right to the corners' own rounding, also the smallest.
TEST(mass_of_a_turned_needle_keeps_its_thin_side)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(12);
  for (int k = 0; k < 30; k++) {
    double thin = pow(10, -k % 6);
    tbVec3 size = tb_vec3(1, thin, 2 * thin);
    tbTransform T = {shapes_turn(&r), tb_zero3()};
    tbMesh* mesh = shapes_box_mesh(&ctx, size, T);
    REQUIRE(mesh);
    tbShape box = tb_shape_box(size), as_mesh = tb_shape_mesh(mesh);
    tbMass m = tb_shape_mass(&as_mesh, 1), exact = tb_shape_mass(&box, 1);
    CHECK_NEAR(m.mass / exact.mass, 1, 1e-14 / thin);
    tbMat3 R = tb_quat_mat3(T.q), I = tb_mat3_mul(tb_mat3_tmul(R, m.inertia), R);
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(I.m[i][i], exact.inertia.m[i][i],
                 1e-14 / thin * exact.inertia.m[i][i] + 1e-15 * tb_mat3_maxabs(exact.inertia));
    tb_mesh_free(&ctx, mesh);
  }
}

// Boxes glued together make a box, wherever they are cut.
TEST(mass_of_parts_adds_up_to_the_whole)
{
  tbRandom r = test_random(13);
  for (int k = 0; k < 50; k++) {
    tbTransform T = shapes_pose(&r, pow(10, k % 4));
    double cut = test_uniform(&r, 0.1, 2.9);
    tbShape whole = tb_shape_box(tb_vec3(1, 2, 3)), below = tb_shape_box(tb_vec3(1, 2, cut)),
            above = tb_shape_box(tb_vec3(1, 2, 3 - cut));
    whole.pose = T;
    below.pose = tb_transform_mul(T, tb_transform(tb_quat_identity(), tb_vec3(0, 0, cut / 2 - 1.5)));
    above.pose = tb_transform_mul(T, tb_transform(tb_quat_identity(), tb_vec3(0, 0, cut / 2)));
    tbMass sum = tb_mass_add(tb_shape_mass(&below, 5), tb_shape_mass(&above, 5));
    SAME_MASS(sum, tb_shape_mass(&whole, 5), 1e-14 * pow(10, k % 4) + 1e-14);
    SAME_MASS(tb_mass_add(sum, (tbMass){0}), sum, 0);
  }
}

TEST(mass_of_a_mesh_that_is_not_solid_is_zero)
{
  tbContext ctx = tb_default_context();
  tbVec3 vertex[8];
  int triangle[36];
  tbMesh *open = NULL, *inside_out = NULL;
  shapes_box(tb_vec3(1, 1, 1), tb_transform_identity(), vertex, triangle);
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 11, &open));
  for (int t = 0; t < 12; t++) {
    int swap = triangle[3 * t];
    triangle[3 * t] = triangle[3 * t + 1];
    triangle[3 * t + 1] = swap;
  }
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 12, &inside_out));
  REQUIRE(open && inside_out);
  tbShape a = tb_shape_mesh(open), b = tb_shape_mesh(inside_out);
  CHECK(!tb_mesh_is_solid(open) && tb_shape_mass(&a, 1).mass == 0);
  CHECK(!tb_mesh_is_solid(inside_out) && tb_shape_mass(&b, 1).mass == 0 && inside_out->volume < 0);
  tb_mesh_free(&ctx, open);
  tb_mesh_free(&ctx, inside_out);
}

TEST(mass_of_a_solid_too_small_for_a_volume_is_zero)
{
  tbContext ctx = tb_default_context();
  tbVec3 vertex[8];
  int triangle[36];
  tbHull* hull = NULL;
  shapes_box(tb_vec3(1e-120, 2e-120, 1e-120), tb_transform_identity(), vertex, triangle);
  CHECK_OK(&ctx, tb_hull_create(&ctx, vertex, 8, &hull));
  REQUIRE(hull);
  tbShape s = tb_shape_convex(hull);
  tbMass m = tb_shape_mass(&s, 1000);
  CHECK(hull->nface == 6 && m.mass == 0 && tb_mat3_maxabs(m.inertia) == 0 && tb_maxabs3(m.centre) < 1e-120);
  tb_hull_free(&ctx, hull);
}
