// SPDX-License-Identifier: Apache-2.0
// Conservative advancement: never late, and hardly early.
#include "collide/advance.h"
#include "collide/distance.h"
#include "collide/meshes.h"
#include "collide/oracle.h"

#include <math.h>

static tbSweep sweep(tbTransform start, tbVec3 v, tbVec3 w) { return (tbSweep){start, start.x, v, w}; }

TEST(a_falling_sphere_meets_the_plane_on_time)
{
  tbShape sphere = oracle_sphere(0.5), plane = oracle_plane(tb_vec3(0, 0, 1), 0);
  tbSweep s = sweep(tb_transform(tb_quat_identity(), tb_vec3(1, 2, 3)), tb_vec3(5, 0, -10), tb_vec3(3, 1, 2));
  tbSweep p = sweep(tb_transform_identity(), tb_zero3(), tb_zero3());
  double t = tb_time_of_impact(&sphere, &s, &plane, &p, 1, 1e-3), truth = (2.5 - 1e-3) / 10;
  CHECK(t <= truth);
  CHECK_NEAR(t, truth, 1e-6);
  CHECK_NEAR(tb_time_of_impact(&plane, &p, &sphere, &s, 1, 1e-3), t, 1e-12);
  s.v.z = 10;
  CHECK(tb_time_of_impact(&sphere, &s, &plane, &p, 1, 1e-3) == 1);
}

TEST(a_body_turns_about_its_centre_of_mass)
{
  tbSweep s = {tb_transform(tb_quat_identity(), tb_vec3(1, 0, 0)), tb_vec3(2, 0, 0), tb_vec3(0, 0, 1),
               tb_vec3(0, 0, 4 * atan(1))};
  tbTransform T = tb_sweep_at(&s, 1); // half a turn about (2, 0, 0), one up
  CHECK_NEAR(tb_distance3(T.x, tb_vec3(3, 0, 1)), 0, 1e-14);
}

// The gap at a time, by brute force.
static double gap_at(const tbShape* a, const tbSweep* sa, const tbShape* b, const tbSweep* sb, double t)
{
  Body A, B;
  oracle_place(&A, a, tb_sweep_at(sa, t));
  oracle_place(&B, b, tb_sweep_at(sb, t));
  if (b->type != TB_SHAPE_PLANE) return (double)oracle_gap(&A, &B);
  Point down = {-B.normal[0].x, -B.normal[0].y, -B.normal[0].z};
  return (double)oracle_slab(&A, &B, down);
}

TEST(no_sampled_moment_touches_before_the_time_of_impact)
{
  tbRandom r = test_random(3);
  int hits = 0, trials = test_quick() ? 20 : 90, late = 0;
  for (int k = 0; k < trials; k++) {
    tbShape a = oracle_box(1, 0.05, 0.3), b = k % 3 == 0   ? oracle_plane(tb_vec3(0, 0, 1), 0)
                                              : k % 3 == 1 ? oracle_capsule(0.1, 0.8)
                                                           : oracle_box(0.02, 1, 0.5);
    tbVec3 way = oracle_direction(&r);
    if (k % 3 == 0) way.z = 1; // above the plane
    tbSweep sa = sweep(tb_transform(oracle_rotation(&r), tb_scale3(3, way)),
                       tb_scale3(-test_uniform(&r, 1, 4), way), tb_scale3(6, oracle_direction(&r)));
    tbSweep sb = sweep(tb_transform_identity(), tb_zero3(), tb_scale3(k % 2 ? 0.2 : 0, oracle_direction(&r)));
    double target = 1e-2, t = tb_time_of_impact(&a, &sa, &b, &sb, 1, target);
    CHECK_NEAR(tb_time_of_impact(&b, &sb, &a, &sa, 1, target), t, 1e-4); // whichever is asked for first
    for (int i = 0; i < 60; i++) late += gap_at(&a, &sa, &b, &sb, t * i / 60) < target * (1 - 1e-9);
    if (t == 1) continue;
    hits++;
    CHECK_NEAR(gap_at(&a, &sa, &b, &sb, t), target, 1.01e-3 * target);
  }
  CHECK(late == 0);
  CHECK(hits > trials / 8);
  CHECK(hits < trials);
}

// The same boxes as convex shapes, as meshes and as grids meet at the same moment, whichever is asked for
// first.
LONG_TEST(meshes_and_grids_meet_when_the_solids_do)
{
  tbContext ctx = tb_default_context();
  tbVec3 size_a = tb_vec3(1, 0.1, 0.3), size_b = tb_vec3(0.05, 1, 0.5);
  tbMesh *mesh_a = box_mesh(size_a, 3), *mesh_b = box_mesh(size_b, 2);
  tbSdf *grid_a = NULL, *grid_b = NULL;
  CHECK_OK(&ctx, tb_sdf_create(&ctx, mesh_a, 4, &grid_a));
  CHECK_OK(&ctx, tb_sdf_create(&ctx, mesh_b, 4, &grid_b));
  tbShape a[3] = {tb_shape_box(size_a), tb_shape_mesh(mesh_a), tb_shape_sdf(grid_a)},
          b[3] = {tb_shape_box(size_b), tb_shape_mesh(mesh_b), tb_shape_sdf(grid_b)};
  tbRandom r = test_random(5);
  int hits = 0;
  for (int k = 0; k < 24; k++) {
    tbVec3 way = oracle_direction(&r);
    double spin = k % 3;
    tbSweep sa = sweep(tb_transform(oracle_rotation(&r), tb_scale3(3, way)),
                       tb_scale3(-test_uniform(&r, 2, 5), way), tb_scale3(spin, oracle_direction(&r)));
    tbSweep sb = sweep(tb_transform(oracle_rotation(&r), tb_zero3()), tb_zero3(),
                       tb_scale3(k % 2 ? spin : 0, oracle_direction(&r)));
    double t = tb_time_of_impact(&a[0], &sa, &b[0], &sb, 1, 1e-2);
    hits += t < 1;
    for (int i = 1; i < 9; i++) {
      CHECK(tb_can_sweep(&a[i / 3], &b[i % 3]));
      CHECK_NEAR(tb_time_of_impact(&a[i / 3], &sa, &b[i % 3], &sb, 1, 1e-2), t, 2e-5);
      CHECK_NEAR(tb_time_of_impact(&b[i % 3], &sb, &a[i / 3], &sa, 1, 1e-2), t, 2e-5);
    }
  }
  CHECK(hits > 5 && hits < 24);
  tb_sdf_free(&ctx, grid_a);
  tb_sdf_free(&ctx, grid_b);
  mesh_done(mesh_a);
  mesh_done(mesh_b);
}

TEST(distance_is_a_slab_that_holds)
{
  tbRandom r = test_random(4);
  for (int k = 0; k < 1000; k++) {
    tbShape a = k & 1 ? oracle_box(1, 0.2, 0.4) : oracle_cylinder(0.4, 1),
            b = k & 2 ? oracle_capsule(0.2, 1) : oracle_sphere(0.3);
    tbTransform Ta = tb_transform(oracle_rotation(&r), tb_zero3()),
                Tb = tb_transform(oracle_rotation(&r), tb_scale3(3, oracle_direction(&r)));
    Body A, B;
    tbVec3 n;
    double gap = tb_distance(&a, Ta, &b, Tb, &n);
    oracle_place(&A, &a, Ta);
    oracle_place(&B, &b, Tb);
    CHECK(gap <= oracle_slab(&A, &B, oracle_point(n)) + 1e-14L);
    CHECK_NEAR(gap, (double)oracle_slab(&A, &B, oracle_point(n)), 1e-13);
    CHECK_NEAR(tb_norm3(n), 1, 1e-12);
  }
}
