// SPDX-License-Identifier: Apache-2.0
#include "collide/contact.h"
#include "meshes.h"
#include "test.h"

#include <string.h>

static tbContext context;

static tbArray collide(const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb, double margin)
{
  context = tb_default_context();
  tbArray out = TB_ARRAY(tbContactPoint);
  CHECK_OK(&context, tb_collide(&context, a, Ta, b, Tb, margin, &out));
  return out;
}

static tbTransform at(double x, double y, double z)
{
  return tb_transform(tb_quat_identity(), tb_vec3(x, y, z));
}

static tbQuat random_turn(tbRandom* r)
{
  return tb_quat_normalize(tb_quat(test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1),
                                   test_uniform(r, -1, 1)));
}

static double least_gap(const tbArray* points)
{
  double least = INFINITY;
  const tbContactPoint* p = points->data;
  for (size_t i = 0; i < points->count; i++) least = fmin(least, p[i].gap);
  return least;
}

// Every point: unit normal, gap consistent with its ends, at most `margin`, all finite.
static void check_points(const tbArray* points, double margin, double scale)
{
  const tbContactPoint* p = points->data;
  for (size_t i = 0; i < points->count; i++) {
    CHECK_NEAR(tb_norm3(p[i].normal), 1, 1e-12);
    CHECK_NEAR(tb_dot3(tb_sub3(p[i].b, p[i].a), p[i].normal), p[i].gap, 1e-9 * scale);
    CHECK(p[i].gap <= margin * (1 + 1e-12) + 1e-12 * scale);
  }
}

TEST(a_sphere_is_as_far_from_a_mesh_as_brute_force_says)
{
  tbMesh* torus = torus_mesh(1, 0.4, 24, 12);
  tbShape mesh = tb_shape_mesh(torus), sphere = tb_shape_sphere(0.2);
  tbRandom r = test_random(11);
  int touched = 0;
  for (int k = 0; k < 300; k++) {
    tbTransform T = {random_turn(&r), tb_vec3(3, -2, 1)};
    tbVec3 c = tb_vec3(test_uniform(&r, -2, 2), test_uniform(&r, -2, 2), test_uniform(&r, -1, 1));
    double margin = 0.3, distance = tb_mesh_signed_distance(torus, c, NULL);
    tbArray points =
        collide(&sphere, tb_transform(random_turn(&r), tb_transform_point(T, c)), &mesh, T, margin);
    check_points(&points, margin, 1);
    if (distance - 0.2 <= margin) {
      touched++;
      CHECK_NEAR(least_gap(&points), distance - 0.2, 1e-12);
    } else CHECK(points.count == 0);
    tb_array_free(&context, &points);
  }
  CHECK(touched > 50);
  mesh_done(torus);
}

// A shape slides over a flat floor of many triangles and feels one plane.
static void slide(const tbShape* shape, const tbMesh* floor, double floor_top, double bottom, double turn,
                  int least)
{
  tbShape mesh = tb_shape_mesh(floor);
  for (int k = 0; k < 200; k++) {
    double x = -0.7 + 0.007 * k, y = 0.013 * k - 1.1, depth = (k % 5 - 2) * 1e-3;
    tbQuat q = tb_quat_mul(tb_quat_exp(tb_vec3(0, 0, 0.031 * k)), tb_quat_exp(tb_vec3(turn, 0, 0)));
    tbArray points = collide(shape, tb_transform(q, tb_vec3(x, y, floor_top + bottom + depth)), &mesh,
                             tb_transform_identity(), 0.01);
    const tbContactPoint* p = points.data;
    CHECK((int)points.count >= least && points.count <= TB_MANIFOLD_POINTS);
    CHECK_NEAR(least_gap(&points), depth, 1e-12);
    for (size_t i = 0; i < points.count; i++) {
      CHECK(p[i].normal.x == 0 && p[i].normal.y == 0 && p[i].normal.z == -1);
      CHECK_NEAR(p[i].b.z, floor_top, 1e-12);
    }
    tb_array_free(&context, &points);
  }
}

TEST(what_slides_over_a_flat_floor_of_triangles_feels_one_plane)
{
  tbMesh *sheet = floor_mesh(6, 24), *slab = box_mesh(tb_vec3(6, 6, 1), 16);
  tbShape box = tb_shape_box(tb_vec3(0.6, 0.5, 0.4)), sphere = tb_shape_sphere(0.3),
          capsule = tb_shape_capsule(0.2, 0.6), cylinder = tb_shape_cylinder(0.3, 0.8);
  double quarter = 1.5707963267948966;
  for (int k = 0; k < 2; k++) {
    const tbMesh* floor = k ? slab : sheet;
    double top = k ? 0.5 : 0;
    slide(&sphere, floor, top, 0.3, 0.4, 1);
    slide(&box, floor, top, 0.2, 0, 4);
    slide(&capsule, floor, top, 0.2, quarter, 2);
    slide(&cylinder, floor, top, 0.4, 0, 4);
    slide(&cylinder, floor, top, 0.3, quarter, 2);
  }
  tbMesh* block = box_mesh(tb_vec3(0.6, 0.5, 0.4), 3);
  tbShape mesh = tb_shape_mesh(block);
  slide(&mesh, slab, 0.5, 0.2, 0, 4);
  slide(&mesh, sheet, 0, 0.2, 0, 4);
  mesh_done(block);
  mesh_done(slab);
  mesh_done(sheet);
}

// The least gap of p against a list of points along nearly the same normal, at nearly the same place.
static bool has_point(const tbArray* points, const tbContactPoint* want, double tolerance)
{
  const tbContactPoint* p = points->data;
  for (size_t i = 0; i < points->count; i++)
    if (tb_distance3(p[i].a, want->a) < tolerance && tb_distance3(p[i].normal, want->normal) < tolerance &&
        fabs(p[i].gap - want->gap) < tolerance)
      return true;
  return false;
}

TEST(a_box_of_triangles_touches_like_a_box)
{
  tbVec3 size = tb_vec3(1, 0.8, 0.6);
  tbShape box = tb_shape_box(size), other = tb_shape_box(tb_vec3(0.7, 1.5, 0.4));
  tbRandom r = test_random(12);
  for (int n = 1; n <= 4; n++) {
    tbMesh* triangles = box_mesh(size, n);
    CHECK(tb_mesh_is_solid(triangles));
    tbShape mesh = tb_shape_mesh(triangles);
    for (int k = 0; k < 40; k++) {
      tbTransform frame = {random_turn(&r), tb_vec3(1, 2, 3)};
      tbTransform on_top = {tb_quat_exp(tb_vec3(0, 0, test_uniform(&r, 0, 3))),
                            tb_vec3(test_uniform(&r, -0.5, 0.5), test_uniform(&r, -0.5, 0.5),
                                    0.5 + test_uniform(&r, -0.004, 0.008))};
      tbTransform T = tb_transform_mul(frame, on_top);
      tbArray one = collide(&box, frame, &other, T, 0.01), two = collide(&mesh, frame, &other, T, 0.01);
      const tbContactPoint* p = one.data;
      CHECK(one.count > 0 && two.count <= TB_MANIFOLD_POINTS);
      for (size_t i = 0; i < one.count; i++) CHECK(has_point(&two, &p[i], 1e-3)); // nearer ones may be one
      tb_array_free(&context, &one);
      tb_array_free(&context, &two);
    }
    mesh_done(triangles);
  }
}

TEST(a_torus_has_a_hole)
{
  tbMesh* torus = torus_mesh(1, 0.3, 32, 16);
  tbShape mesh = tb_shape_mesh(torus), capsule = tb_shape_capsule(0.2, 4), rod = tb_shape_cylinder(0.2, 4),
          bar = tb_shape_box(tb_vec3(0.3, 0.3, 4));
  const tbShape* through[3] = {&capsule, &rod, &bar};
  for (int k = 0; k < 3; k++) {
    tbArray points = collide(through[k], tb_transform_identity(), &mesh, tb_transform_identity(), 0.2);
    CHECK(points.count == 0);
    tb_array_free(&context, &points);
    points = collide(through[k], at(0.45, 0, 0), &mesh, tb_transform_identity(), 0.2); // against the ring
    CHECK(points.count > 0);
    CHECK_NEAR(least_gap(&points), k == 2 ? 0.084 : 0.05, 0.01);
    const tbContactPoint* p = points.data;
    for (size_t i = 0; i < points.count; i++) CHECK(p[i].normal.x > 0.5);
    tb_array_free(&context, &points);
  }
  mesh_done(torus);
}

TEST(swapping_the_shapes_swaps_the_points)
{
  tbMesh *torus = torus_mesh(1, 0.4, 16, 10), *ball = ball_mesh(0.5, 8, 12);
  tbShape shapes[5] = {tb_shape_mesh(torus), tb_shape_mesh(ball), tb_shape_box(tb_vec3(1, 1, 1)),
                       tb_shape_sphere(0.4), tb_shape_cylinder(0.3, 1)};
  tbRandom r = test_random(13);
  int touched = 0;
  for (int k = 0; k < 100; k++) {
    const tbShape *a = &shapes[k % 2], *b = &shapes[k % 5];
    tbTransform Ta = {random_turn(&r), tb_zero3()},
                Tb = {random_turn(&r), tb_vec3(test_uniform(&r, -1, 1), 1, test_uniform(&r, -1, 1))};
    tbArray one = collide(a, Ta, b, Tb, 0.05), two = collide(b, Tb, a, Ta, 0.05);
    REQUIRE(one.count == two.count);
    const tbContactPoint *p = one.data, *q = two.data;
    touched += one.count > 0;
    for (size_t i = 0; i < one.count; i++) {
      CHECK(memcmp(&p[i].a, &q[i].b, sizeof p[i].a) == 0 && p[i].gap == q[i].gap);
      CHECK(p[i].feature == (q[i].feature << 32 | q[i].feature >> 32));
    }
    tb_array_free(&context, &one);
    tb_array_free(&context, &two);
  }
  CHECK(touched > 30);
  mesh_done(torus);
  mesh_done(ball);
}

TEST(a_shape_deep_inside_a_solid_is_pushed_out_the_nearest_way)
{
  tbMesh *block = box_mesh(tb_vec3(4, 4, 2), 4), *small = ball_mesh(0.2, 6, 8);
  tbShape mesh = tb_shape_mesh(block);
  tbShape inner[5] = {tb_shape_sphere(0.2), tb_shape_box(tb_vec3(0.3, 0.3, 0.3)), tb_shape_capsule(0.1, 0.3),
                      tb_shape_cylinder(0.1, 0.3), tb_shape_mesh(small)};
  static const double depth[5] = {0.8, 0.75, 0.85, 0.75, 0.8}; // of the lowest point below the top
  for (int k = 0; k < 5; k++) {
    tbArray points = collide(&inner[k], at(0.1, 0.2, 0.4), &mesh, tb_transform_identity(), 0.01);
    const tbContactPoint* p = points.data;
    CHECK(points.count > 0 && points.count <= TB_MANIFOLD_POINTS);
    for (size_t i = 0; i < points.count; i++) CHECK_NEAR(p[i].normal.z, -1, 1e-9);
    CHECK_NEAR(least_gap(&points), -depth[k], 1e-9);
    check_points(&points, 0.01, 1);
    for (size_t i = 0; i < points.count; i++) CHECK_NEAR(p[i].b.z, 1, 1e-9); // on the top of the block
    tb_array_free(&context, &points);
    points = collide(&inner[k], at(0.1, 0.2, 1.5), &mesh, tb_transform_identity(), 0.01);
    CHECK(points.count == 0); // above it
    tb_array_free(&context, &points);
  }
  mesh_done(block);
  mesh_done(small);
}

// Where surfaces cross only the rim of what is inside is near the other surface; the search goes on from
// there.
TEST(the_deepest_vertex_of_a_sunk_ball_is_among_its_contacts)
{
  tbMesh *block = box_mesh(tb_vec3(4, 4, 2), 4), *ball = ball_mesh(0.5, 16, 24);
  tbShape mesh = tb_shape_mesh(block), sunk = tb_shape_mesh(ball);
  for (int k = 1; k < 8; k++) {
    double depth = 0.05 * k;
    tbArray points = collide(&sunk, at(0.1, 0.2, 1.5 - depth), &mesh, tb_transform_identity(), 0.01);
    CHECK_NEAR(least_gap(&points), -depth, 1e-9);
    tb_array_free(&context, &points);
  }
  mesh_done(block);
  mesh_done(ball);
}

TEST(meshes_take_hostile_places_and_sizes)
{
  static const double scales[4] = {1e-6, 1, 1e3, 1e6};
  tbRandom r = test_random(14);
  for (int k = 0; k < 4; k++) {
    double s = scales[k];
    tbMesh* torus = torus_mesh(s, 0.4 * s, 12, 8);
    tbMesh* block = box_mesh(tb_vec3(s, s, s), 2);
    tbShape a = tb_shape_mesh(torus), b = tb_shape_mesh(block), box = tb_shape_box(tb_vec3(s, s, s));
    const tbShape* pair[5][2] = {{&a, &a}, {&b, &b}, {&a, &b}, {&box, &b}, {&box, &a}};
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 4; j++) {
        tbTransform T = {j % 2 ? random_turn(&r) : tb_quat_identity(), tb_vec3(j > 1 ? s : 0, 0, 0)};
        tbArray points = collide(pair[i][0], tb_transform_identity(), pair[i][1], T, j % 3 ? 0.01 * s : 0);
        CHECK(points.count > 0 || (j > 1 && i < 5));
        check_points(&points, 0.01 * s, s);
        tb_array_free(&context, &points);
      }
    mesh_done(torus);
    mesh_done(block);
  }
}

TEST(a_thin_plate_and_a_box_at_its_rim_part_upwards)
{
  // The box has sunk 1 mm into a table, its corner 0.1 mm from the table's side: up is the way, not sideways.
  tbMesh* table = box_mesh(tb_vec3(2, 2, 0.1), 3);
  tbShape mesh = tb_shape_mesh(table), box = tb_shape_box(tb_vec3(1, 1, 0.4));
  tbArray points = collide(&box, at(0.4999, 0, 0.25 - 0.001), &mesh, tb_transform_identity(), 0.01);
  const tbContactPoint* p = points.data;
  CHECK(points.count >= 4);
  for (size_t i = 0; i < points.count; i++) CHECK(p[i].normal.z == -1 && fabs(p[i].gap + 0.001) < 1e-12);
  tb_array_free(&context, &points);
  mesh_done(table);
}

TEST(a_ball_in_a_corner_touches_both_walls_and_the_floor)
{
  MeshDraft* d = calloc(1, sizeof *d);
  draft_grid(d, tb_vec3(0, 0, 0), tb_vec3(2, 0, 0), tb_vec3(0, 2, 0), 4);
  draft_grid(d, tb_vec3(0, 0, 0), tb_vec3(0, 2, 0), tb_vec3(0, 0, 2), 4);
  draft_grid(d, tb_vec3(0, 0, 0), tb_vec3(0, 0, 2), tb_vec3(2, 0, 0), 4);
  tbMesh* corner = draft_finish(d);
  tbShape mesh = tb_shape_mesh(corner), sphere = tb_shape_sphere(0.5);
  tbArray points = collide(&sphere, at(0.499, 0.5, 0.501), &mesh, tb_transform_identity(), 0.01);
  const tbContactPoint* p = points.data;
  CHECK(points.count == 3);
  double sum = 0;
  for (size_t i = 0; i < points.count; i++) {
    CHECK_NEAR(tb_maxabs3(p[i].normal), 1, 1e-12);
    sum += p[i].gap;
  }
  CHECK_NEAR(sum, 0, 1e-12);
  tb_array_free(&context, &points);
  mesh_done(corner);
}

TEST(a_peak_touches_a_face_a_capsule_and_a_cylinder_between_their_ends)
{
  MeshDraft* d = calloc(1, sizeof *d);
  int top = draft_vertex(d, tb_vec3(0, 0, 1)), v[4];
  for (int i = 0; i < 4; i++) v[i] = draft_vertex(d, circle(0.5, i, 4));
  for (int i = 0; i < 4; i++) draft_triangle(d, top, v[i], v[(i + 1) % 4]);
  draft_quad(d, v[3], v[2], v[1], v[0]);
  tbMesh* pyramid = draft_finish(d);
  CHECK(tb_mesh_is_solid(pyramid));
  tbShape mesh = tb_shape_mesh(pyramid);
  tbShape above[3] = {tb_shape_box(tb_vec3(2, 2, 0.4)), tb_shape_capsule(0.2, 3), tb_shape_cylinder(0.2, 3)};
  for (int k = 0; k < 3; k++)
    for (int i = -1; i <= 1; i++) {
      tbTransform T = {k ? tb_quat_exp(tb_vec3(1.5707963267948966, 0, 0)) : tb_quat_identity(),
                       tb_vec3(0, 0, 1.2 + 0.001 * i)};
      tbArray points = collide(&above[k], T, &mesh, tb_transform_identity(), 0.01);
      const tbContactPoint* p = points.data;
      CHECK_NEAR(least_gap(&points), 0.001 * i, 1e-9);
      for (size_t c = 0; c < points.count; c++) CHECK(p[c].normal.z < -0.99 && fabs(p[c].b.x) < 0.01);
      tb_array_free(&context, &points);
    }
  mesh_done(pyramid);
}

TEST(mesh_contacts_survive_every_failed_allocation)
{
  tbMesh *torus = torus_mesh(1, 0.4, 12, 8), *block = box_mesh(tb_vec3(1, 1, 1), 2);
  tbShape shapes[4] = {tb_shape_mesh(torus), tb_shape_mesh(block), tb_shape_box(tb_vec3(1, 1, 1)),
                       tb_shape_cylinder(0.5, 1)};
  for (int s = 0; s < 4; s++) {
    tbStatus status = TB_ERROR_MEMORY;
    for (long k = 0; status != TB_OK && k < 200; k++) {
      tbFailingAllocator failing = {.countdown = k};
      tbContext ctx = test_failing_context(&failing);
      tbArray points = TB_ARRAY(tbContactPoint);
      status =
          tb_collide(&ctx, &shapes[s], at(1, 0.1, 0.2), &shapes[0], tb_transform_identity(), 0.1, &points);
      CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && points.count == 0));
      tb_array_free(&ctx, &points);
      CHECK(failing.alive == 0);
    }
    CHECK(status == TB_OK);
  }
  mesh_done(torus);
  mesh_done(block);
}

TEST(an_open_mesh_is_touched_from_either_side)
{
  tbMesh *sheet = floor_mesh(4, 9), *block = box_mesh(tb_vec3(0.6, 0.6, 0.4), 2);
  tbShape mesh = tb_shape_mesh(sheet);
  tbShape shapes[5] = {tb_shape_sphere(0.2), tb_shape_box(tb_vec3(0.6, 0.6, 0.4)),
                       tb_shape_capsule(0.2, 0.001), tb_shape_cylinder(0.3, 0.4), tb_shape_mesh(block)};
  for (int k = 0; k < 5; k++)
    for (int side = -1; side <= 1; side += 2)
      for (int i = -2; i <= 2; i++) {
        double gap = 0.001 * i, up = k == 2 ? 0.2005 : 0.2;
        tbArray points = collide(&shapes[k], at(0.1, 0.05 * i, side * (up + gap)), &mesh, at(0, 0, 0), 0.01);
        const tbContactPoint* p = points.data;
        CHECK(points.count > 0);
        CHECK_NEAR(least_gap(&points), gap, 1e-12);
        for (size_t c = 0; c < points.count; c++) CHECK(p[c].normal.z == -side);
        tb_array_free(&context, &points);
      }
  mesh_done(sheet);
  mesh_done(block);
}

TEST(a_hull_touches_a_mesh_like_the_box_it_is)
{
  tbContext ctx = tb_default_context();
  tbVec3 corner[8];
  for (int c = 0; c < 8; c++) corner[c] = tb_vec3(c & 1 ? 0.4 : -0.4, c & 2 ? 0.3 : -0.3, c & 4 ? 0.2 : -0.2);
  tbHull* hull = NULL;
  CHECK_OK(&ctx, tb_hull_create(&ctx, corner, 8, &hull));
  tbMesh* torus = torus_mesh(1, 0.4, 24, 12);
  tbShape mesh = tb_shape_mesh(torus), box = tb_shape_box(tb_vec3(0.8, 0.6, 0.4)),
          convex = tb_shape_convex(hull);
  tbRandom r = test_random(15);
  int touched = 0;
  for (int k = 0; k < 100; k++) {
    tbTransform T = {random_turn(&r), circle(1 + 0.05 * (k % 7), k, 100)};
    tbMat3 R = tb_quat_mat3(T.q);
    double reach = 0.4 * fabs(R.m[2][0]) + 0.3 * fabs(R.m[2][1]) + 0.2 * fabs(R.m[2][2]);
    T.x.z = 0.4 + reach + test_uniform(&r, -0.02, 0.015);
    tbArray one = collide(&box, T, &mesh, tb_transform_identity(), 0.02),
            two = collide(&convex, T, &mesh, tb_transform_identity(), 0.02);
    touched += one.count > 0;
    CHECK(one.count == two.count);
    if (one.count > 0) CHECK_NEAR(least_gap(&one), least_gap(&two), 1e-9);
    tb_array_free(&context, &one);
    tb_array_free(&context, &two);
  }
  CHECK(touched > 30);
  tb_hull_free(&ctx, hull);
  mesh_done(torus);
}
