// SPDX-License-Identifier: Apache-2.0
// Bodies whose motion is prescribed.
#include "step/joints.h"

#include <string.h>

static tbBodyId mover(Stage* s, tbShape shape, tbVec3 x, tbVec3 v, tbVec3 w)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
  def.position = x, def.velocity = v, def.angular_velocity = w;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

LONG_TEST(a_belt_drags_a_box_up_to_its_speed)
{
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = tb_scheme_at(scheme)->name;
    bool penalty = strcmp(tb_scheme_at(scheme)->name, "penalty") == 0;
    if (penalty) s.step.dt = 1e-3;
    mover(&s, tb_shape_box(tb_vec3(20, 2, 0.2)), tb_vec3(0, 0, -0.1), tb_vec3(1, 0, 0), tb_zero3());
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.2)), 2, tb_vec3(0, 0, 0.1), tb_quat_identity());
    double slip = 0.8 / (0.4 * 9.81);
    stage_run_for(&s, 0.8 * slip);
    CHECK_NEAR(stage_state(&s, box).velocity.x, 0.4 * 9.81 * tb_world_time(s.world), penalty ? 0.1 : 0.03);
    stage_run_for(&s, 1);
    CHECK_NEAR(stage_state(&s, box).velocity.x, 1, penalty ? 1e-2 : 1e-5);
    stage_close(&s);
  }
}

// Which of two bodies in contact comes first does not matter to how the motion of one is known to the other.
LONG_TEST(a_belt_drags_a_box_that_is_listed_before_it)
{
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = tb_scheme_at(scheme)->name;
    bool penalty = strcmp(tb_scheme_at(scheme)->name, "penalty") == 0;
    if (penalty) s.step.dt = 1e-3;
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.2)), 2, tb_vec3(0, 0, 0.1), tb_quat_identity());
    mover(&s, tb_shape_box(tb_vec3(20, 2, 0.2)), tb_vec3(0, 0, -0.1), tb_vec3(1, 0, 0), tb_zero3());
    stage_run_for(&s, 0.16);
    CHECK_NEAR(stage_state(&s, box).velocity.x, 0.4 * 9.81 * tb_world_time(s.world), penalty ? 0.1 : 0.03);
    stage_close(&s);
  }
}

TEST(a_turning_platform_carries_what_friction_can_hold)
{
  for (int fast = 0; fast < 2; fast++) { // ω² r against μ g
    Stage s = stage_open(0.5, 0);
    double omega = fast ? 2.5 : 1.9, r = 1;
    mover(&s, tb_shape_cylinder(3, 0.2), tb_vec3(0, 0, -0.1), tb_zero3(), tb_vec3(0, 0, omega));
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.1)), 1, tb_vec3(r, 0, 0.05), tb_quat_identity());
    stage_push(&s, box, tb_vec3(0, omega * r, 0), tb_vec3(0, 0, omega));
    s.step.dt = 2e-3;
    stage_run_for(&s, 0.8);
    tbVec3 x = stage_state(&s, box).position;
    double out = sqrt(x.x * x.x + x.y * x.y) - r;
    CHECK(fast ? out > 0.05 : fabs(out) < 0.02);
    stage_close(&s);
  }
}

TEST(keys_are_met_exactly)
{
  tbQuat quarter = tb_quat(1, 0, 0, 1);
  const tbMotionKey keys[] = {{0.1, {0, 0, 1}, tb_quat(1, 0, 0, 0)},
                              {0.35, {1, 0, 1}, quarter},
                              {0.5, {1, 2, 1}, tb_quat(0, 0, 0, 1)}};
  static const double steps[] = {0.01, 0.05, 1.0 / 120};
  for (int i = 0; i < 3; i++) {
    Stage s = stage_open(0, 0);
    s.step.dt = steps[i];
    tbShape shape = tb_shape_sphere(0.1);
    tbBodyDef def = tb_default_body_def();
    def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1, def.keys = keys,
    def.key_count = 3;
    tbBodyId id;
    REQUIRE(tb_world_add_body(&s.ctx, s.world, &def, &id) == TB_OK);
    while (tb_world_time(s.world) < 0.35 - 1e-9) stage_run(&s, 1);
    tbBodyState state = stage_state(&s, id);
    CHECK_NEAR(tb_distance3(state.position, keys[1].position), 0, 1e-12);
    CHECK_NEAR(state.orientation.z, sqrt(0.5), 1e-12);
    CHECK_NEAR(tb_norm3(state.velocity), 4, 1e-9);
    CHECK_NEAR(state.angular_velocity.z, PI / 2 / 0.25, 1e-9);
    while (tb_world_time(s.world) < 0.7) stage_run(&s, 1);
    state = stage_state(&s, id);
    CHECK_NEAR(tb_distance3(state.position, keys[2].position), 0, 1e-12);
    CHECK_NEAR(tb_norm3(state.velocity), 0, 1e-12);
    stage_close(&s);
  }
}

// In the wall's frame the ball leaves as fast as it came times e: v⁺ = V + e (V − v).
TEST(a_ball_rebounds_from_a_moving_wall_at_the_walls_speed_too)
{
  static const double restitutions[] = {0, 0.5, 1};
  for (int i = 0; i < 3; i++)
    for (int scheme = 0; scheme < 2; scheme++) {
      Stage s = stage_open(0, restitutions[i]);
      no_gravity(&s);
      s.step.scheme = tb_scheme_at(scheme)->name;
      s.step.stabilization = TB_STABILIZE_NONE; // Moreau's rule meets the wall inside: nothing pushes out
      mover(&s, tb_shape_box(tb_vec3(0.5, 2, 2)), tb_vec3(-1, 0, 0), tb_vec3(1.5, 0, 0), tb_zero3());
      tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0.5, 0, 0), tb_quat_identity());
      stage_push(&s, ball, tb_vec3(-2, 0, 0), tb_zero3());
      stage_run_for(&s, 0.6);
      CHECK_NEAR(stage_state(&s, ball).velocity.x, 1.5 + restitutions[i] * 3.5, 1e-6);
      stage_close(&s);
    }
}

TEST(a_body_added_later_starts_where_it_is_put)
{
  Stage s = stage_open(0, 0);
  stage_run(&s, 50);
  tbBodyId late = mover(&s, tb_shape_sphere(0.1), tb_vec3(1, 2, 3), tb_vec3(1, 0, 0), tb_vec3(0, 0, 1));
  CHECK_NEAR(stage_state(&s, late).position.x, 1, 1e-12);
  stage_run(&s, 50);
  CHECK_NEAR(stage_state(&s, late).position.x, 1.5, 1e-12);
  CHECK_NEAR(2 * atan2(stage_state(&s, late).orientation.z, stage_state(&s, late).orientation.w), 0.5, 1e-12);
  stage_close(&s);
}

TEST(a_lift_with_keys_carries_what_stands_on_it)
{
  tbMotionKey keys[3] = {{0.2, {0, 0, -0.1}, tb_quat_identity()},
                         {1.2, {0, 0, 0.9}, tb_quat_identity()},
                         {2.2, {0.5, 0, 0.9}, tb_quat_identity()}};
  Stage s = stage_open(0.9, 0);
  tbShape shape = tb_shape_box(tb_vec3(4, 2, 0.2));
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
  def.keys = keys, def.key_count = 3;
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, NULL));
  tbBodyId box =
      stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.4)), 1, tb_vec3(0, 0, 0.2), tb_quat_identity());
  stage_run_for(&s, 1.1);
  CHECK_NEAR(stage_state(&s, box).velocity.z, 1, 1e-5);
  CHECK_NEAR(stage_state(&s, box).position.z, 1.1, 1e-5);
  stage_run_for(&s, 3);
  CHECK_NEAR(stage_state(&s, box).position.z, 1.2, 1e-3); // it hops where the lift stops, and lands again
  CHECK_NEAR(tb_norm3(stage_state(&s, box).velocity), 0, 1e-5);
  stage_close(&s);
}
