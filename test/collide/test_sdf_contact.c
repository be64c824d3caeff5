// SPDX-License-Identifier: Apache-2.0
#include "collide/contact.h"
#include "geometry/sdf.h"
#include "meshes.h"
#include "test.h"

#include <string.h>

static tbArray collide(const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb, double margin)
{
  tbContext ctx = tb_default_context();
  tbArray out = TB_ARRAY(tbContactPoint);
  CHECK_OK(&ctx, tb_collide(&ctx, a, Ta, b, Tb, margin, &out));
  return out;
}

static void done(tbArray* points)
{
  tbContext ctx = tb_default_context();
  tb_array_free(&ctx, points);
}

static tbSdf* grid_of(tbMesh* mesh, int resolution)
{
  tbContext ctx = tb_default_context();
  tbSdf* sdf = NULL;
  CHECK_OK(&ctx, tb_sdf_create(&ctx, mesh, resolution, &sdf));
  mesh_done(mesh);
  return sdf;
}

static void grid_done(tbSdf* sdf)
{
  tbContext ctx = tb_default_context();
  tb_sdf_free(&ctx, sdf);
}

static tbTransform at(double x, double y, double z)
{
  return tb_transform(tb_quat_identity(), tb_vec3(x, y, z));
}

static double least_gap(const tbArray* points)
{
  double least = INFINITY;
  const tbContactPoint* p = points->data;
  for (size_t i = 0; i < points->count; i++) least = fmin(least, p[i].gap);
  return least;
}

// Largest distance of two points across z.
static double spread(const tbArray* points)
{
  const tbContactPoint* p = points->data;
  double most = 0;
  for (size_t i = 0; i < points->count; i++)
    for (size_t j = 0; j < i; j++) {
      tbVec3 d = tb_sub3(p[i].a, p[j].a);
      most = fmax(most, sqrt(d.x * d.x + d.y * d.y));
    }
  return most;
}

TEST(shapes_rest_on_a_grid_as_on_a_plane)
{
  tbSdf* slab = grid_of(box_mesh(tb_vec3(4, 4, 1), 4), 40);
  tbMesh* block = box_mesh(tb_vec3(0.6, 0.6, 0.4), 2);
  tbShape grid = tb_shape_sdf(slab);
  double quarter = 1.5707963267948966;
  struct {
    tbShape shape;
    double turn, bottom, spread;
    size_t points;
  } rest[6] = {{tb_shape_sphere(0.3), 0, 0.3, 0, 1},
               {tb_shape_box(tb_vec3(0.6, 0.6, 0.4)), 0, 0.2, 0.84, 4},
               {tb_shape_capsule(0.2, 0.6), quarter, 0.2, 0.59, 2},
               {tb_shape_cylinder(0.3, 0.8), 0, 0.4, 0.59, 4},
               {tb_shape_cylinder(0.3, 0.8), quarter, 0.3, 0.79, 2},
               {tb_shape_mesh(block), 0, 0.2, 0.84, 4}};
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < 10; i++) {
      double depth = 0.002 * (i - 5);
      tbQuat q = tb_quat_mul(tb_quat_exp(tb_vec3(0, 0, 0.3 * i)), tb_quat_exp(tb_vec3(rest[k].turn, 0, 0)));
      tbTransform T = {q, tb_vec3(0.07 * i - 0.5, 0.3, 0.5 + rest[k].bottom + depth)};
      tbArray points = collide(&rest[k].shape, T, &grid, tb_transform_identity(), 0.02);
      const tbContactPoint* p = points.data;
      CHECK(points.count >= rest[k].points && points.count <= TB_MANIFOLD_POINTS);
      CHECK_NEAR(least_gap(&points), depth, 1e-6);
      CHECK(spread(&points) >= rest[k].spread);
      for (size_t c = 0; c < points.count; c++) CHECK(p[c].normal.z < -0.999);
      done(&points);
    }
  mesh_done(block);
  grid_done(slab);
}

// A face that touches a round grid between its own edges does so where the grid comes closest to it, wherever
// on the face that is; and points of one contact have names of their own.
LONG_TEST(a_face_touches_a_round_grid_at_its_closest_point)
{
  tbSdf* ball = grid_of(ball_mesh(0.5, 32, 48), 40);
  tbMesh* slab = box_mesh(tb_vec3(4, 4, 0.4), 1);
  tbShape grid = tb_shape_sdf(ball), flat[2] = {tb_shape_box(tb_vec3(4, 4, 0.4)), tb_shape_mesh(slab)};
  tbRandom r = test_random(5);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 20; i++) {
      double depth = 0.01 * test_uniform(&r, -1, 1), x = test_uniform(&r, -1.2, 1.2),
             y = test_uniform(&r, -1.2, 1.2);
      tbArray points = collide(&flat[k], at(0, 0, 0), &grid, at(x, y, 0.7 + depth), 0.02);
      const tbContactPoint* p = points.data;
      CHECK_NEAR(least_gap(&points), depth, 3e-3); // what the triangles lack of the sphere
      for (size_t c = 0; c < points.count; c++) {
        CHECK(p[c].gap > depth + 3e-3 || hypot(p[c].a.x - x, p[c].a.y - y) < 0.12);
        for (size_t d = 0; d < c; d++) CHECK(p[c].feature != p[d].feature);
      }
      done(&points);
    }
  tbShape capsule = tb_shape_capsule(0.1, 0.3);
  tbArray points =
      collide(&capsule, (tbTransform){tb_quat_exp(tb_vec3(1.5707963267948966, 0, 0)), tb_vec3(0, 0, 0.6)},
              &grid, tb_transform_identity(), 0.2);
  const tbContactPoint* p = points.data;
  for (size_t c = 0; c < points.count; c++)
    for (size_t d = 0; d < c; d++) CHECK(p[c].feature != p[d].feature);
  CHECK(points.count > 1);
  done(&points);
  mesh_done(slab);
  grid_done(ball);
}

// Its vertices carry what is wider than the grid.
TEST(what_is_wider_than_a_grid_rests_on_its_corners)
{
  tbSdf* post = grid_of(box_mesh(tb_vec3(0.2, 0.3, 1), 1), 20);
  tbMesh* slab = box_mesh(tb_vec3(2, 2, 0.4), 1);
  tbShape grid = tb_shape_sdf(post),
          wide[3] = {tb_shape_cylinder(0.8, 0.4), tb_shape_box(tb_vec3(2, 2, 0.4)), tb_shape_mesh(slab)};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 5; i++) {
      double depth = 0.002 * (i - 2);
      tbTransform T = {tb_quat_exp(tb_vec3(0, 0, 0.3 * i)), tb_vec3(0.07 * i - 0.1, 0.05, 0.7 + depth)};
      tbArray points = collide(&wide[k], T, &grid, tb_transform_identity(), 0.02);
      const tbContactPoint* p = points.data;
      CHECK(points.count >= 4);
      CHECK_NEAR(spread(&points), sqrt(0.13), 1e-6);
      for (size_t c = 0; c < points.count; c++) {
        CHECK_NEAR(p[c].gap, depth, 1e-6);
        CHECK_NEAR(p[c].normal.z, -1, 1e-9);
        CHECK_NEAR(p[c].b.z, 0.5, 1e-6);
      }
      done(&points);
    }
  mesh_done(slab);
  grid_done(post);
}

TEST(a_grid_of_a_torus_has_a_hole_and_rests_on_its_ring)
{
  tbSdf* ring = grid_of(torus_mesh(1, 0.3, 32, 16), 48);
  tbMesh* slab = box_mesh(tb_vec3(6, 6, 1), 1);
  tbShape torus = tb_shape_sdf(ring), capsule = tb_shape_capsule(0.2, 4), rod = tb_shape_cylinder(0.2, 4),
          floor = tb_shape_box(tb_vec3(6, 6, 1)), mesh = tb_shape_mesh(slab),
          plane = tb_shape_plane(tb_vec3(0, 0, 1), 0.5);
  tbArray points = collide(&capsule, tb_transform_identity(), &torus, tb_transform_identity(), 0.2);
  CHECK(points.count == 0);
  done(&points);
  points = collide(&rod, tb_transform_identity(), &torus, tb_transform_identity(), 0.2);
  CHECK(points.count == 0);
  done(&points);
  const tbShape* under[3] = {&floor, &mesh, &plane};
  for (int k = 0; k < 3; k++) {
    points = collide(under[k], tb_transform_identity(), &torus, at(0.3, 0.2, 0.799), 0.005);
    const tbContactPoint* p = points.data;
    CHECK(points.count >= 4 && points.count <= TB_MANIFOLD_POINTS);
    CHECK_NEAR(least_gap(&points), -0.001, 1e-3);
    CHECK(spread(&points) > 1.8); // all around, not at one place
    for (size_t i = 0; i < points.count; i++) CHECK(p[i].normal.z > 0.99);
    done(&points);
  }
  mesh_done(slab);
  grid_done(ring);
}

LONG_TEST(two_grids_touch_where_their_meshes_do)
{
  tbMesh* ball = ball_mesh(0.5, 16, 24);
  tbShape exact = tb_shape_mesh(ball);
  tbSdf* sdf = grid_of(ball_mesh(0.5, 16, 24), 32);
  tbShape grid = tb_shape_sdf(sdf);
  tbRandom r = test_random(21);
  for (int k = 0; k < 30; k++) {
    tbVec3 d =
        tb_normalize3(tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1)));
    tbTransform T = {tb_quat_exp(tb_vec3(0.1 * k, 0.3, 0.2)), tb_scale3(0.97 + 0.001 * k, d)};
    tbArray one = collide(&exact, tb_transform_identity(), &exact, T, 0.05),
            two = collide(&grid, tb_transform_identity(), &grid, T, 0.05),
            back = collide(&grid, T, &grid, tb_transform_identity(), 0.05);
    const tbContactPoint *p = two.data, *q = back.data;
    CHECK(two.count > 0 && two.count == back.count);
    CHECK_NEAR(least_gap(&two), least_gap(&one), 0.01);
    for (size_t i = 0; i < two.count && i < back.count; i++) {
      CHECK(tb_dot3(p[i].normal, d) > 0.9);
      CHECK(memcmp(&p[i].a, &q[i].b, sizeof p[i].a) == 0 && p[i].gap == q[i].gap);
      CHECK_NEAR(tb_dot3(tb_sub3(p[i].b, p[i].a), p[i].normal), p[i].gap, 1e-12);
    }
    done(&one);
    done(&two);
    done(&back);
  }
  mesh_done(ball);
  grid_done(sdf);
}

// A small grid in the middle of a face of a large one, where that has no vertex: whichever is named first.
TEST(a_small_grid_lies_on_the_face_of_a_large_one)
{
  tbSdf *slab = grid_of(box_mesh(tb_vec3(2, 2, 0.5), 1), 24),
        *block = grid_of(box_mesh(tb_vec3(0.3, 0.3, 0.3), 1), 24);
  tbShape large = tb_shape_sdf(slab), small = tb_shape_sdf(block);
  tbTransform on = at(0.2, 0.1, 0.25 + 0.15 - 0.002);
  tbArray one = collide(&large, tb_transform_identity(), &small, on, 0.01),
          other = collide(&small, on, &large, tb_transform_identity(), 0.01);
  const tbContactPoint *p = one.data, *q = other.data;
  CHECK(one.count >= 4 && other.count == one.count);
  for (size_t i = 0; i < one.count && i < other.count; i++) {
    CHECK(p[i].normal.z > 0.999 && q[i].normal.z < -0.999);
    CHECK_NEAR(p[i].gap, -0.002, 1e-3);
  }
  CHECK(spread(&one) > 0.4 && spread(&other) > 0.4);
  done(&one), done(&other);
  grid_done(slab), grid_done(block);
}
