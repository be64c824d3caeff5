// SPDX-License-Identifier: Apache-2.0
// Fast bodies of every shape, and meshes: nothing passes a thin plate or a sheet of triangles, nor stops at
// one that it misses.
#include "collide/meshes.h"
#include "step/joints.h"

static tbShape missile(int kind)
{
  return kind == 0   ? tb_shape_sphere(0.005)
         : kind == 1 ? tb_shape_box(tb_vec3(0.02, 0.01, 0.01))
         : kind == 2 ? tb_shape_capsule(0.004, 0.02)
                     : tb_shape_cylinder(0.006, 0.01);
}

TEST(no_fast_body_passes_a_mesh_or_a_plate)
{
  tbMesh *sheet = floor_mesh(20, 8), *plate = box_mesh(tb_vec3(20, 20, 0.002), 4);
  for (int i = 0; i < 72; i++) {
    bool bullet = i / 4 % 2;
    Stage s = stage_open(0.3, 0);
    s.step.scheme = i % 7 == 6 ? "implicit" : "semi-implicit";
    s.step.dt = 1.0 / 60;
    tbShape target = i < 24 ? tb_shape_mesh(plate) : tb_shape_mesh(sheet);
    if (i >= 48) target = tb_shape_box(tb_vec3(20, 20, 0.002));
    stage_fixed(&s, target, tb_zero3(), tb_quat_identity());
    tbVec3 from = tb_vec3(0.09 * i - 3, 0.07 * i - 2, 5 + 0.13 * i);
    tbVec3 v = tb_vec3(1.5 * (i - 24), 20 - i, i % 5 ? -500 : -900), w = tb_vec3(i % 3 ? 5 * i : 0, 3, 0);
    tbBodyId body = stage_shoot(&s, missile(i % 4), from, v, w, bullet);
    for (int k = 0; k < 8; k++) {
      stage_run(&s, 1);
      tbVec3 x = stage_state(&s, body).position;
      CHECK(x.z > 0 || fmax(fabs(x.x), fabs(x.y)) > 10); // beyond the edge they may fall
      CHECK(s.report.changes.stopped == 0);              // their contacts hold them: all go the whole step
    }
    if (i % 4 == 0)
      CHECK_NEAR(stage_state(&s, body).position.z, i < 24 || i >= 48 ? 0.006 : 0.005,
                 1e-5); // it came down to it
    stage_close(&s);
  }
  mesh_done(sheet);
  mesh_done(plate);
}

// A body of random shape, speed and spin, at a plate that stands, or that flies freely; with and without
// bounce.
static Stage shot(int seed, tbBodyId* plate, tbBodyId* body)
{
  tbRandom r = test_random((uint64_t)seed);
  bool loose = seed % 3 == 2;
  Stage s = stage_open(test_uniform(&r, 0, 1), seed % 4 == 3 ? 0.5 : 0);
  s.step.scheme = seed % 5 == 4 ? "implicit" : "semi-implicit";
  s.step.dt = seed % 2 ? 1.0 / 60 : 0.01;
  if (loose) no_gravity(&s);
  tbShape board = tb_shape_box(tb_vec3(20, 20, loose ? 0.01 : 0.002));
  *plate = loose ? stage_add(&s, board, 100, tb_zero3(), tb_quat_identity())
                 : stage_fixed(&s, board, tb_zero3(), tb_quat_identity());
  double a = test_uniform(&r, 0.01, 0.1), b = test_uniform(&r, 0.01, 0.1), c = test_uniform(&r, 0.01, 0.1);
  tbShape shape = seed % 7 == 0   ? tb_shape_sphere(a)
                  : seed % 7 == 1 ? tb_shape_capsule(a, b)
                  : seed % 7 == 2 ? tb_shape_cylinder(a, b)
                                  : tb_shape_box(tb_vec3(a, b, c));
  tbVec3 v = tb_vec3(test_uniform(&r, -50, 50), 0, -test_uniform(&r, 20, 600));
  tbVec3 w = tb_vec3(test_uniform(&r, -100, 100), test_uniform(&r, -100, 100), 0);
  *body = stage_shoot(&s, shape, tb_vec3(0, 0, test_uniform(&r, 1, 6)), v, w, seed % 11 == 0);
  return s;
}

LONG_TEST(random_shots_pass_no_plate)
{
  int stopped = 0;
  for (int seed = 0; seed < 300; seed++) {
    tbBodyId plate, body;
    Stage s = shot(seed, &plate, &body);
    for (int k = 0; k < 8; k++) {
      stage_run(&s, 1);
      stopped += s.report.changes.stopped;
      tbBodyState p = stage_state(&s, plate);
      tbVec3 x = tb_quat_unrotate(p.orientation, tb_sub3(stage_state(&s, body).position, p.position));
      if (fmax(fabs(x.x), fabs(x.y)) > 10) break; // beyond the edge
      if (x.z > 0) continue;
      test_failed(__FILE__, __LINE__, "seed %d, step %d: %g m behind the plate", seed, k, -x.z);
      break;
    }
    stage_close(&s);
  }
  CHECK(stopped <= 5);
}

// Meshes and grids in flight, at boxes, planes, meshes, grids and sheets: they come down to what is in their
// way, and do not stop at what they fly past.
TEST(no_mesh_or_grid_in_flight_passes_a_body)
{
  tbContext ctx = tb_default_context();
  tbMesh *crate = box_mesh(tb_vec3(0.1, 0.1, 0.1), 2), *plate = box_mesh(tb_vec3(1, 1, 0.002), 4),
         *sheet = floor_mesh(4, 4);
  tbSdf* grid = NULL;
  CHECK_OK(&ctx, tb_sdf_create(&ctx, crate, 16, &grid));
  tbShape wall[] = {tb_shape_box(tb_vec3(4, 4, 0.001)),
                    tb_shape_plane(tb_vec3(0, 0, 1), 0),
                    tb_shape_mesh(crate),
                    tb_shape_sdf(grid),
                    tb_shape_mesh(plate),
                    tb_shape_mesh(sheet)};
  double top[] = {0.0005, 0, 0.05, 0.05, 0.001, 0};
  for (int i = 0; i < 6; i++)
    for (int past = 0; past < (i == 2 || i == 3 ? 2 : 1); past++)
      for (int k = 0; k < 3; k++) {
        Stage s = stage_open(0.3, 0);
        no_gravity(&s);
        s.step.dt = 1.0 / 60;
        stage_fixed(&s, wall[i], tb_zero3(), tb_quat_identity());
        tbShape missile = k == 0 ? tb_shape_mesh(crate) : k == 1 ? tb_shape_sdf(grid) : tb_shape_sphere(0.05);
        tbVec3 v = tb_vec3(0, 0, -200);
        tbBodyId body = stage_shoot(&s, missile, tb_vec3(past ? 0.13 : 0.01, 0, 3), v, tb_zero3(), false);
        stage_run(&s, 6);
        tbBodyState now = stage_state(&s, body);
        bool well = past ? tb_distance3(now.velocity, v) < 1e-9 && fabs(now.position.z - 3 + 20) < 1e-9
                         : fabs(now.position.z - top[i] - 0.05) < 2e-3 && tb_norm3(now.velocity) < 1e-3;
        if (!well)
          test_failed(__FILE__, __LINE__, "missile %d, wall %d, past %d: z %g, %g %g %g m/s, turning %g", k,
                      i, past, now.position.z, now.velocity.x, now.velocity.y, now.velocity.z,
                      tb_norm3(now.angular_velocity));
        stage_close(&s);
      }
  tb_sdf_free(&ctx, grid);
  mesh_done(crate);
  mesh_done(plate);
  mesh_done(sheet);
}

TEST(a_fast_ball_through_a_ring_is_not_stopped)
{
  tbMesh* ring = torus_mesh(0.5, 0.1, 32, 12);
  for (int bullet = 0; bullet < 2; bullet++) {
    Stage s = stage_open(0.5, 0);
    no_gravity(&s);
    s.step.dt = 1.0 / 60;
    stage_fixed(&s, tb_shape_mesh(ring), tb_zero3(), tb_quat_identity());
    tbVec3 v = tb_vec3(0, 0, -300);
    tbBodyId ball = stage_shoot(&s, tb_shape_sphere(0.1), tb_vec3(0.1, 0.05, 7), v, tb_zero3(), bullet);
    stage_run(&s, 4);
    CHECK_NEAR(tb_distance3(stage_state(&s, ball).velocity, v), 0, 1e-9);
    CHECK_NEAR(stage_state(&s, ball).position.z, 7 - 20, 1e-9);
    stage_close(&s);
  }
  mesh_done(ring);
}

// A ball that rolls fast over a mesh floor is carried by it, and stopped by a wall of the same mesh.
TEST(a_fast_ball_on_a_mesh_meets_its_walls)
{
  MeshDraft* d = calloc(1, sizeof *d);
  draft_grid(d, tb_vec3(-10, -2, 0), tb_vec3(20, 0, 0), tb_vec3(0, 4, 0), 20);
  draft_grid(d, tb_vec3(10, 2, 0), tb_vec3(0, -4, 0), tb_vec3(0, 0, 4), 4); // faces −x
  tbMesh* mesh = draft_finish(d);
  for (int bullet = 0; bullet < 2; bullet++) {
    Stage s = stage_open(0.2, 0);
    s.step.dt = 1.0 / 60;
    stage_fixed(&s, tb_shape_mesh(mesh), tb_zero3(), tb_quat_identity());
    double r = 0.1, v = 30;
    tbBodyId ball = stage_shoot(&s, tb_shape_sphere(r), tb_vec3(-9, 0.13, r), tb_vec3(v, 0.3, 0),
                                tb_vec3(-0.3 / r, v / r, 0), bullet);
    double low = r, high = r;
    for (int i = 0; i < 30; i++) {
      stage_run(&s, 1);
      low = fmin(low, stage_state(&s, ball).position.z), high = fmax(high, stage_state(&s, ball).position.z);
    }
    CHECK_NEAR(stage_state(&s, ball).velocity.x, v, 1e-3); // it rolls on: no edge catches it
    CHECK_NEAR(low, r, 1e-5);
    CHECK_NEAR(high, r, 1e-5);
    for (int i = 0; i < 60; i++) {
      stage_run(&s, 1);
      CHECK(stage_state(&s, ball).position.x < 10 - r + 1e-3);
    }
    stage_close(&s);
  }
  mesh_done(mesh);
}
