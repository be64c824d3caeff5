// SPDX-License-Identifier: Apache-2.0
// Bodies that are in others: contacts hold their inner spheres, and nothing is stopped that is in already.
#include "step/joints.h"

// A ball that starts deep in a block, on its way to the other side, goes where its velocity takes it.
TEST(a_body_that_starts_in_another_is_not_held_there)
{
  for (int k = 0; k < 2; k++) {
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
    s.step.scheme = k ? "implicit" : "semi-implicit";
    stage_fixed(&s, tb_shape_box(tb_vec3(10, 10, 10)), tb_zero3(), tb_quat_identity());
    tbBodyId ball = stage_throw(&s, tb_shape_sphere(0.1), 1, tb_vec3(0, 0, 4), tb_vec3(30, 0, 0));
    for (int i = 0; i < 10; i++) {
      tbVec3 before = stage_state(&s, ball).position;
      stage_run(&s, 1);
      tbBodyState now = stage_state(&s, ball);
      CHECK_NEAR(tb_distance3(now.position, tb_madd3(before, s.step.dt, now.velocity)), 0, 1e-12);
      CHECK(s.report.changes.stopped == 0 && s.report.changes.short_of == 0);
    }
    stage_close(&s);
  }
}

// A box that comes down on a corner is held by its corner and by its inner sphere: what is published is a
// solution of the problem with both, and the whole step is gone. So is a hull, of which the origin is a
// corner.
TEST(a_box_on_its_corner_does_not_turn_through_a_plate)
{
  tbContext ctx = tb_default_context();
  tbVec3 corner[8];
  tbHull* hull = NULL;
  for (int k = 0; k < 8; k++) corner[k] = tb_vec3(k & 1 ? 0.04 : 0, k & 2 ? 0.03 : 0, k & 4 ? 0.02 : 0);
  CHECK_OK(&ctx, tb_hull_create(&ctx, corner, 8, &hull));
  for (int i = 0; i < 20; i++) {
    Stage s = stage_open(0.3, 0);
    tbShape shape = i % 2 ? tb_shape_convex(hull) : tb_shape_box(tb_vec3(0.04, 0.03, 0.02));
    if (i % 2) shape.pose.x = tb_vec3(-0.02, -0.015, -0.01);
    s.step.dt = 1.0 / 60;
    stage_fixed(&s, tb_shape_box(tb_vec3(9, 9, 0.002)), tb_zero3(), tb_quat_identity());
    tbBodyId box = stage_add(&s, shape, 1, tb_vec3(0, 0, 1), tb_quat_exp(tb_vec3(0.1 * i, 0.7, 0.3)));
    stage_push(&s, box, tb_vec3(0, 0, -100 - 13 * i), tb_zero3());
    for (int k = 0; k < 8; k++) {
      tbVec3 before = stage_state(&s, box).position;
      stage_run(&s, 1);
      tbBodyState now = stage_state(&s, box);
      double way = tb_distance3(now.position, tb_madd3(before, s.step.dt, now.velocity));
      CHECK(now.position.z > 0);
      CHECK(way <= 0.51 * 9.81 * s.step.dt * s.step.dt); // in flight the parabola's
    }
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
  tb_hull_free(&ctx, hull);
}

// A solver without iterations holds nothing: a body whose contacts fail it is stopped, the report says by how
// much, and it is not stopped for ever.
TEST(what_is_stopped_is_named)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
  s.step.dt = 0.01, s.step.warm_start = false;
  s.step.solver.solver = "jacobi", s.step.solver.max_iterations = 1;
  stage_fixed(&s, tb_shape_box(tb_vec3(9, 9, 0.002)), tb_zero3(), tb_quat_identity());
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1, tb_vec3(0, 0, 1),
                           tb_quat_exp(tb_vec3(0.5, 0.6, 0)));
  stage_push(&s, box, tb_vec3(0, 0, -200), tb_zero3());
  int stopped = 0;
  for (int k = 0; k < 20; k++) {
    tbVec3 before = stage_state(&s, box).position;
    stage_run(&s, 1);
    tbBodyState now = stage_state(&s, box);
    double way = tb_distance3(now.position, tb_madd3(before, s.step.dt, now.velocity));
    stopped += s.report.changes.stopped;
    CHECK_NEAR(way, s.report.changes.short_of, 1e-12);
    CHECK((s.report.changes.stopped > 0) == (s.report.changes.short_of > 0));
  }
  CHECK(stopped >= 1 && stopped <= 4);
  stage_close(&s);
}
