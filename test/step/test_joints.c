// SPDX-License-Identifier: Apache-2.0
// Ball, hinge, slider and weld against closed forms.
#include "step/joints.h"

// Period of a pendulum of a body at distance L with inertia I about its centre, to fourth order in θ.
static double period(double m, double I, double L, double theta)
{
  double t2 = theta * theta;
  return 2 * PI * sqrt((I + m * L * L) / (m * 9.81 * L)) * (1 + t2 / 16 + 11 * t2 * t2 / 3072);
}

// A ball on a rod of length 1 at angle θ from below, in the plane y = 0.
static tbBodyId bob(Stage* s, double theta)
{
  return stage_add(s, tb_shape_sphere(0.1), 2, tb_vec3(sin(theta), 0, -cos(theta)), tb_quat_identity());
}

static double measured_period(Stage* s, tbBodyId body, int swings)
{
  double first = 0, last = 0, before = stage_state(s, body).position.x;
  int seen = 0;
  for (int i = 0; seen <= swings && i < 100000; i++) {
    stage_run(s, 1);
    double now = stage_state(s, body).position.x;
    if (before > 0 && now <= 0) {
      last = tb_world_time(s->world) - s->step.dt * now / (now - before);
      if (seen++ == 0) first = last;
    }
    before = now;
  }
  return (last - first) / swings;
}

LONG_TEST(a_ball_pendulum_keeps_its_period_and_its_energy)
{
  Stage s = stage_open(0, 0);
  s.step.dt = 1e-3;
  double theta = 0.5;
  tbBodyId body = bob(&s, theta);
  tbJointId pivot = stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), the_world, body, tb_zero3());
  double start = stage_energy(&s), swing = 2 * 9.81 * (1 - cos(theta)), worst = 0, gap = 0;
  double expected = period(2, 0.4 * 2 * 0.01, 1, theta);
  CHECK_NEAR(measured_period(&s, body, 4), expected, 2e-3 * expected);
  for (int i = 0; i < 4000; i++) {
    stage_run(&s, 1);
    worst = fmax(worst, fabs(stage_energy(&s) - start));
    gap = fmax(gap, joint_gap(&s, pivot));
  }
  CHECK(worst < 0.02 * swing);
  CHECK(gap < 1e-4);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(a_motor_speeds_a_hinge_up_at_its_torque_and_holds_its_speed)
{
  Stage s = stage_open(0, 0);
  no_gravity(&s);
  tbBodyId wheel = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 0.2)), 6, tb_zero3(), tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_HINGE);
  def.motor = true, def.motor_speed = 4, def.motor_force = 2; // I = m (a² + b²)/12 = 1
  tbJointId hinge = stage_join(&s, def, the_world, wheel, tb_zero3());
  stage_run(&s, 100);
  CHECK_NEAR(stage_state(&s, wheel).angular_velocity.z, 2, 1e-9);
  CHECK_NEAR(stage_joint(&s, hinge)->impulse[8], 2 * s.step.dt, 1e-9);
  stage_run(&s, 200);
  CHECK_NEAR(stage_state(&s, wheel).angular_velocity.z, 4, 1e-9);
  CHECK_NEAR(stage_joint(&s, hinge)->impulse[8], 0, 1e-9);
  stage_close(&s);
}

// An arm is raised from below by a motor too weak for the horizontal: m g L sin φ = τ.
TEST(a_weak_motor_stalls_where_gravity_balances_its_torque)
{
  Stage s = stage_open(0, 0);
  tbBodyId arm = bob(&s, 0);
  tbJointDef def = tb_default_joint_def(TB_JOINT_HINGE);
  double torque = 0.5 * 2 * 9.81;
  def.axis = tb_vec3(0, -1, 0), def.motor = true, def.motor_speed = 0.2, def.motor_force = torque;
  tbJointId hinge = stage_join(&s, def, the_world, arm, tb_zero3());
  stage_run_for(&s, 6);
  tbVec3 x = stage_state(&s, arm).position;
  CHECK_NEAR(atan2(x.x, -x.z), PI / 6, 0.06);
  CHECK(stage_joint(&s, hinge)->impulse[8] <= torque * s.step.dt * (1 + 1e-9));
  stage_close(&s);
}

TEST(a_hinge_stops_at_its_limits)
{
  for (int far = 0; far < 2; far++) { // the second past half a turn
    Stage s = stage_open(0, 0);
    no_gravity(&s);
    tbBodyId door =
        stage_add(&s, tb_shape_box(tb_vec3(1, 0.1, 1)), 1, tb_vec3(0.5, 0, 0), tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_HINGE);
    double lower = -0.5, upper = far ? 4.5 : 1.2;
    def.limited = true, def.lower = lower, def.upper = upper;
    stage_join(&s, def, the_world, door, tb_zero3());
    for (int back = 0; back < 2; back++) {
      double w = back ? -1 : 1;
      stage_push(&s, door, tb_vec3(0, 0, 0), tb_vec3(0, 0, w));
      tbBodyState state = stage_state(&s, door);
      stage_push(&s, door, tb_cross3(tb_vec3(0, 0, w), state.position), tb_vec3(0, 0, w));
      stage_run_for(&s, 8);
      state = stage_state(&s, door);
      double angle = 2 * atan2(state.orientation.z, state.orientation.w), end = back ? lower : upper;
      CHECK_NEAR(remainder(angle - end, 2 * PI), 0, 1e-4);
      CHECK_NEAR(state.angular_velocity.z, 0, 1e-5);
    }
    stage_close(&s);
  }
}

TEST(a_slider_falls_along_its_axis_and_stops_at_its_limit)
{
  Stage s = stage_open(0, 0);
  tbBodyId bead =
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.1, 0.3)), 1, tb_vec3(1, 2, 3), tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_SLIDER);
  def.axis = tb_vec3(3, 0, -4), def.limited = true, def.lower = -1, def.upper = 2.5;
  stage_join(&s, def, the_world, bead, tb_vec3(1, 2.5, 3)); // off its centre: it must not turn
  int n = 50;
  stage_run(&s, n);
  double g = 0.8 * 9.81, h = s.step.dt, way = 0.5 * g * h * h * n * (n + 1);
  tbBodyState state = stage_state(&s, bead);
  CHECK_NEAR(state.position.x, 1 + 0.6 * way, 1e-7);
  CHECK_NEAR(state.position.z, 3 - 0.8 * way, 1e-7);
  CHECK_NEAR(state.position.y, 2, 1e-7);
  CHECK_NEAR(fabs(state.orientation.w), 1, 1e-9);
  stage_run(&s, 100);
  state = stage_state(&s, bead);
  CHECK_NEAR(state.position.x, 1 + 0.6 * 2.5, 1e-6);
  CHECK_NEAR(tb_norm3(state.velocity), 0, 1e-5);
  stage_close(&s);
}

TEST(a_slider_motor_lifts_what_it_can_bear)
{
  for (int strong = 0; strong < 2; strong++) {
    Stage s = stage_open(0, 0);
    tbBodyId load = stage_add(&s, tb_shape_sphere(0.1), 10, tb_zero3(), tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_SLIDER);
    def.motor = true, def.motor_speed = 0.5, def.motor_force = strong ? 99 : 97; // weight 98.1
    stage_join(&s, def, the_world, load, tb_zero3());
    stage_run_for(&s, 10);
    double v = stage_state(&s, load).velocity.z;
    if (strong) CHECK_NEAR(v, 0.5, 1e-7);
    else CHECK_NEAR(v, -(98.1 - 97) / 10 * 10, 1e-6);
    stage_close(&s);
  }
}

// Five boxes welded end to end out of a wall: the root carries their weight and its moment.
TEST(welds_carry_a_cantilever)
{
  enum { N = 5 };
  Stage s = stage_open(0, 0);
  tbBodyId before = the_world;
  tbJointId joint[N];
  for (int i = 0; i < N; i++) {
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(1, 0.3, 0.2)), 2, tb_vec3(i + 0.5, 0, 0), tb_quat_identity());
    joint[i] = stage_join(&s, tb_default_joint_def(TB_JOINT_WELD), before, box, tb_vec3(i, 0, 0));
    before = box;
  }
  stage_run(&s, 300);
  double h = s.step.dt, weight = 2 * 9.81;
  for (int i = 0; i < N; i++) {
    int n = N - i;
    const double* impulse = stage_joint(&s, joint[i])->impulse;
    CHECK_NEAR(impulse[2], n * weight * h, 1e-6 * weight);
    CHECK_NEAR(impulse[4], -0.5 * n * n * weight * h, 1e-5 * weight); // about y, at the weld
    CHECK(joint_gap(&s, joint[i]) < 1e-6);
  }
  CHECK_NEAR(stage_state(&s, before).position.z, 0, 1e-6);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(infinite_limits_bind_nothing_and_an_infinite_motor_holds_its_speed)
{
  Stage s = stage_open(0, 0);
  tbBodyId a = stage_add(&s, tb_shape_sphere(0.1), 1, tb_zero3(), tb_quat_identity());
  tbBodyId b = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(1, 0, 0), tb_quat_identity());
  tbBodyId c = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(3, 0, 0), tb_quat_identity());
  tbJointDef slider = tb_default_joint_def(TB_JOINT_SLIDER);
  slider.limited = true, slider.lower = -0.5, slider.upper = INFINITY;
  stage_join(&s, slider, the_world, a, tb_zero3());
  slider.lower = -INFINITY, slider.motor = true, slider.motor_speed = 0.25, slider.motor_force = INFINITY;
  stage_join(&s, slider, the_world, b, tb_vec3(1, 0, 0));
  tbJointDef rope = tb_default_joint_def(TB_JOINT_DISTANCE);
  rope.limited = true, rope.lower = -INFINITY, rope.upper = INFINITY;
  stage_join(&s, rope, the_world, c, tb_zero3());
  stage_run(&s, 100);
  CHECK_NEAR(stage_state(&s, a).position.z, -0.5, 1e-6);
  CHECK_NEAR(stage_state(&s, b).velocity.z, 0.25, 1e-9);
  CHECK_NEAR(stage_state(&s, c).velocity.z, -9.81, 1e-9);
  for (int stabilization = 0; stabilization < TB_STABILIZE_COUNT; stabilization++) {
    s.step.stabilization = (tbStabilization)stabilization;
    stage_run(&s, 3);
  }
  stage_close(&s);
}

TEST(joints_hold_on_to_kinematic_bodies)
{
  Stage s = stage_open(0, 0);
  tbShape shape = tb_shape_sphere(0.05);
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
  def.velocity = tb_vec3(1, 0, 0), def.angular_velocity = tb_vec3(0, 0, 2);
  tbBodyId hook;
  REQUIRE(tb_world_add_body(&s.ctx, s.world, &def, &hook) == TB_OK);
  tbBodyId load =
      stage_add(&s, tb_shape_box(tb_vec3(0.1, 0.2, 0.3)), 1, tb_vec3(0, 0, -1), tb_quat_identity());
  stage_push(&s, load, tb_vec3(1, 0, 0), tb_vec3(0, 0, 2));
  tbJointId weld = stage_join(&s, tb_default_joint_def(TB_JOINT_WELD), hook, load, tb_zero3());
  stage_run_for(&s, 1);
  tbBodyState state = stage_state(&s, load);
  CHECK_NEAR(state.position.x, 1, 1e-6);
  CHECK_NEAR(state.position.z, -1, 1e-6);
  CHECK_NEAR(state.angular_velocity.z, 2, 1e-8);
  CHECK_NEAR(stage_joint(&s, weld)->impulse[2], 9.81 * s.step.dt, 1e-8);
  stage_close(&s);
}
