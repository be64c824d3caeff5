// Joints against closed forms: what they hold, what they let go, and what they drive.
#include "known/worlds.h"

#include "test.h"

static tbJointDef joint(tbJointType type, int a, int b, tbVec3 anchor)
{
  tbJointDef def = tb_default_joint_def(type);
  def.a.index = a, def.b.index = b, def.anchor = anchor;
  return def;
}

static void join(Stage* s, const tbJointDef* def)
{
  CHECK_OK(&s->ctx, tb_world_add_joint(&s->ctx, s->world, def, NULL));
}

static double height_of(const Stage* s, tbBodyId b) { return stage_state(s, b).position.z; }

static double angle_about_y(const Stage* s, tbBodyId b)
{
  tbQuat q = stage_state(s, b).orientation;
  return 2 * atan2(q.y, q.w);
}

// A ball of radius r at the end of a massless rod of length L, let go at an angle.
static Stage pendulum(double length, double radius, double angle, tbBodyId* ball)
{
  Stage s = stage_open(0, 0);
  tbVec3 at = tb_vec3(length * sin(angle), 0, -length * cos(angle));
  *ball = stage_add(&s, tb_shape_sphere(radius), 2, at, tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_BALL, -1, ball->index, tb_zero3());
  join(&s, &def);
  return s;
}

TEST(ball_pendulum_keeps_time_and_energy)
{
  tbBodyId ball;
  double L = 1, r = 0.1, g = 9.81, a = 0.1;
  Stage s = pendulum(L, r, a, &ball);
  s.step.dt = 0.002;
  double inertia = L * L + 0.4 * r * r; // per mass
  double period = 2 * PI * sqrt(inertia / (g * L)) * (1 + a * a / 16);
  double top = 2 * g * L * (1 - cos(a)), start = stage_energy(&s), worst = 0, drift = 0;
  double first = 0, last = 0, before = stage_state(&s, ball).position.x;
  int passes = 0;
  for (int i = 0; i < 10 * period / s.step.dt; i++) {
    stage_run(&s, 1);
    tbVec3 p = stage_state(&s, ball).position;
    if (before < 0 && p.x >= 0) {
      last = tb_world_time(s.world) - s.step.dt * p.x / (p.x - before);
      if (passes++ == 0) first = last;
    }
    before = p.x;
    worst = fmax(worst, fabs(stage_energy(&s) - start));
    drift = fmax(drift, fabs(tb_norm3(p) - L));
  }
  REQUIRE(passes >= 9);
  CHECK_NEAR((last - first) / (passes - 1) / period, 1, 1e-4);
  CHECK(worst < 0.02 * top);
  CHECK(drift < 1e-5);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(motor_reaches_its_speed_and_no_more_than_its_torque)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
  tbBodyId wheel = stage_add(&s, tb_shape_cylinder(0.5, 0.2), 4, tb_zero3(), tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_HINGE, -1, wheel.index, tb_zero3());
  def.motor = true, def.motor_speed = 6, def.motor_force = 2;
  join(&s, &def);
  double inertia = 0.5 * 4 * 0.25;
  stage_run_for(&s, 0.5);
  CHECK_NEAR(stage_state(&s, wheel).angular_velocity.z, 0.5 * 2 / inertia, 1e-6); // torque-limited
  stage_run_for(&s, 2);
  CHECK_NEAR(stage_state(&s, wheel).angular_velocity.z, 6, 1e-6);
  stage_close(&s);
}

// A beam on a horizontal hinge with a motor that would hold it level: it does when the torque suffices.
static double tip_after(double share)
{
  Stage s = stage_open(0, 0);
  double m = 3, L = 1, g = 9.81;
  tbBodyId beam =
      stage_add(&s, tb_shape_box(tb_vec3(L, 0.1, 0.1)), m, tb_vec3(L / 2, 0, 0), tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_HINGE, -1, beam.index, tb_zero3());
  def.axis = tb_vec3(0, 1, 0);
  def.motor = true, def.motor_speed = 0, def.motor_force = share * m * g * L / 2;
  join(&s, &def);
  stage_run_for(&s, 0.5);
  double tip = height_of(&s, beam);
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return tip;
}

TEST(motor_stalls_at_the_torque_of_its_load)
{
  CHECK_NEAR(tip_after(1.01), 0, 1e-7);
  CHECK_NEAR(tip_after(INFINITY), 0, 1e-7);
  CHECK(tip_after(0.99) < -1e-3);
}

TEST(hinge_stops_at_its_limits)
{
  Stage s = stage_open(0, 0);
  tbBodyId beam =
      stage_add(&s, tb_shape_box(tb_vec3(1, 0.1, 0.1)), 3, tb_vec3(0.5, 0, 0), tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_HINGE, -1, beam.index, tb_zero3());
  def.axis = tb_vec3(0, 1, 0), def.limited = true, def.lower = -0.2, def.upper = 0.7;
  join(&s, &def);
  double most = 0;
  for (int i = 0; i < 200; i++) {
    stage_run(&s, 1);
    most = fmax(most, angle_about_y(&s, beam)); // the beam falls: y × x = −z
  }
  CHECK_NEAR(angle_about_y(&s, beam), 0.7, 1e-6);
  CHECK(most < 0.7 + 1e-6);
  CHECK_NEAR(tb_norm3(stage_state(&s, beam).angular_velocity), 0, 1e-6);
  stage_close(&s);
}

TEST(infinite_limits_are_none)
{
  static const double lower[] = {-INFINITY, -INFINITY, -0.3}, upper[] = {INFINITY, 0.3, INFINITY};
  for (int i = 0; i < 3; i++) {
    Stage s = stage_open(0, 0);
    tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1, tb_zero3(), tb_quat_identity());
    tbJointDef def = joint(TB_JOINT_SLIDER, -1, box.index, tb_zero3());
    def.axis = tb_vec3(0, 0, -1), def.limited = true, def.lower = lower[i], def.upper = upper[i];
    join(&s, &def);
    stage_run_for(&s, 1);
    double fallen = -height_of(&s, box), free_fall = 0.5 * 9.81 * (1 + s.step.dt);
    CHECK_NEAR(fallen, i == 1 ? 0.3 : free_fall, 1e-6);
    stage_close(&s);
  }
  Stage s = stage_open(0, 0);
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0, 0, -0.5), tb_quat_identity());
  tbVec3 centre = tb_vec3(0, 0, -0.5);
  tbJointDef rope = joint(TB_JOINT_DISTANCE, -1, ball.index, tb_zero3());
  rope.anchor_b = &centre, rope.limited = true, rope.lower = -INFINITY, rope.upper = 1;
  join(&s, &rope);
  stage_run_for(&s, 1);
  CHECK_NEAR(height_of(&s, ball), -1, 1e-6);
  stage_close(&s);
}

TEST(slider_falls_along_its_axis_alone)
{
  Stage s = stage_open(0, 0);
  double lean = 0.6;
  tbVec3 axis = tb_vec3(sin(lean), 0, -cos(lean));
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.3, 0.4)), 2, tb_vec3(1, 2, 3), tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_SLIDER, -1, box.index, tb_vec3(0.5, 2, 3)); // beside its centre
  def.axis = axis, def.limited = true, def.lower = -1, def.upper = 1.5;
  join(&s, &def);
  double a = 9.81 * cos(lean), t = 0.4;
  stage_run_for(&s, t);
  tbVec3 way = tb_sub3(stage_state(&s, box).position, tb_vec3(1, 2, 3));
  CHECK_NEAR(tb_dot3(way, axis), 0.5 * a * t * (t + s.step.dt), 1e-6);
  CHECK_NEAR(tb_norm3(tb_cross3(way, axis)), 0, 1e-7);
  stage_run_for(&s, 1);
  way = tb_sub3(stage_state(&s, box).position, tb_vec3(1, 2, 3));
  CHECK_NEAR(tb_dot3(way, axis), 1.5, 1e-6);
  CHECK_NEAR(tb_norm3(tb_cross3(way, axis)), 0, 1e-6);
  CHECK_NEAR(stage_state(&s, box).orientation.w, 1, 1e-9);
  stage_close(&s);
}

TEST(slider_motor_lifts_a_load_at_its_speed)
{
  Stage s = stage_open(0, 0);
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 2, tb_zero3(), tb_quat_identity());
  tbJointDef def = joint(TB_JOINT_SLIDER, -1, box.index, tb_zero3());
  def.motor = true, def.motor_speed = 0.5, def.motor_force = INFINITY;
  join(&s, &def);
  stage_run_for(&s, 2);
  CHECK_NEAR(height_of(&s, box), 1, 1e-6);
  stage_close(&s);
}

TEST(weld_carries_a_cantilever)
{
  Stage s = stage_open(0, 0);
  int before = -1;
  tbBodyId last = {-1};
  for (int i = 0; i < 5; i++) {
    last = stage_add(&s, tb_shape_box(tb_vec3(1, 0.2, 0.2)), 1, tb_vec3(i + 0.5, 0, 0), tb_quat_identity());
    tbJointDef def = joint(TB_JOINT_WELD, before, last.index, tb_vec3(i, 0, 0));
    join(&s, &def);
    before = last.index;
  }
  stage_run_for(&s, 2);
  CHECK_NEAR(height_of(&s, last), 0, 1e-5);
  CHECK_NEAR(tb_norm3(stage_state(&s, last).velocity), 0, 1e-5);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(rod_keeps_its_length_and_rope_only_pulls)
{
  tbVec3 end = tb_vec3(1, 0, 0);
  for (int rope = 0; rope < 2; rope++) {
    Stage s = stage_open(0, 0);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, end, tb_quat_identity());
    tbJointDef def = joint(TB_JOINT_DISTANCE, -1, ball.index, tb_zero3());
    def.anchor_b = &end, def.limited = rope, def.lower = 0, def.upper = 1;
    join(&s, &def);
    stage_push(&s, ball, tb_vec3(-2, 0, 0), tb_zero3()); // towards the anchor
    double least = 1, most = 0;
    for (int i = 0; i < 300; i++) {
      stage_run(&s, 1);
      double length = tb_norm3(stage_state(&s, ball).position);
      least = fmin(least, length), most = fmax(most, length);
    }
    CHECK(most < 1 + 6e-3); // (v h)²/2 per step, a fifth of it taken back
    CHECK(rope ? least < 0.7 : least > 1 - 6e-3);
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
}

TEST(chain_holds_a_thousand_times_its_links)
{
  Stage s = stage_open(0, 0);
  int before = -1, n = 20;
  tbBodyId body = {-1};
  for (int i = 0; i < n; i++) {
    double mass = i + 1 < n ? 1 : 1000;
    body =
        stage_add(&s, tb_shape_capsule(0.05, 0.4), mass, tb_vec3(0, 0, -0.25 - 0.5 * i), tb_quat_identity());
    tbJointDef def = joint(TB_JOINT_BALL, before, body.index, tb_vec3(0, 0, -0.5 * i));
    join(&s, &def);
    before = body.index;
  }
  stage_push(&s, body, tb_vec3(2, 0, 0), tb_zero3());
  double start = stage_energy(&s), most = start, torn = 0;
  for (int i = 0; i < 200; i++) {
    stage_run(&s, 1);
    most = fmax(most, stage_energy(&s));
    for (int k = 1; k < n; k++) {
      tbBodyState a = stage_state(&s, (tbBodyId){k - 1}), b = stage_state(&s, (tbBodyId){k});
      tbVec3 low = tb_add3(a.position, tb_quat_rotate(a.orientation, tb_vec3(0, 0, -0.25)));
      tbVec3 top = tb_add3(b.position, tb_quat_rotate(b.orientation, tb_vec3(0, 0, 0.25)));
      torn = fmax(torn, tb_distance3(low, top));
    }
  }
  CHECK(torn < 2e-3);
  CHECK(most - start < 0.01 * 2000);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(four_bar_loop_turns_round)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
  tbVec3 y = tb_vec3(0, 1, 0), corner[4] = {{0, 0, 0}, {0, 0, 1}, {2, 0, 1}, {2, 0, 0}};
  tbBodyId bar[3];
  for (int i = 0; i < 3; i++) {
    tbVec3 along = tb_sub3(corner[i + 1], corner[i]);
    tbVec3 size = tb_vec3(fabs(along.x) + 0.1, 0.1, fabs(along.z) + 0.1);
    bar[i] =
        stage_add(&s, tb_shape_box(size), 1, tb_lerp3(corner[i], corner[i + 1], 0.5), tb_quat_identity());
  }
  for (int i = 0; i < 4; i++) { // four hinges where one less in space would do: redundant
    tbJointDef def = joint(TB_JOINT_HINGE, i ? bar[i - 1].index : -1, i < 3 ? bar[i].index : -1, corner[i]);
    def.axis = y;
    if (i == 0) def.motor = true, def.motor_speed = 1, def.motor_force = INFINITY;
    join(&s, &def);
  }
  stage_run_for(&s, 1);
  double a = angle_about_y(&s, bar[0]);
  CHECK_NEAR(a, 1, 1e-3);
  CHECK_NEAR(angle_about_y(&s, bar[2]), a, 1e-3); // a parallelogram
  CHECK_NEAR(angle_about_y(&s, bar[1]), 0, 1e-3);
  CHECK_NEAR(stage_state(&s, bar[1]).position.y, 0, 1e-6);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}

TEST(joint_to_a_kinematic_body_follows_it)
{
  Stage s = stage_open(0, 0);
  tbBodyDef def = tb_default_body_def();
  tbShape shape = tb_shape_sphere(0.1);
  def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
  def.velocity = tb_vec3(1, 0, 0), def.angular_velocity = tb_vec3(0, 0, 3);
  tbBodyId hand, box;
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &hand));
  box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 5, tb_vec3(0.5, 0, 0), tb_quat_identity());
  tbJointDef weld = joint(TB_JOINT_WELD, hand.index, box.index, tb_zero3());
  join(&s, &weld);
  stage_run_for(&s, 2);
  double turn = 6;
  tbBodyState b = stage_state(&s, box);
  CHECK_NEAR(b.position.x, 2 + 0.5 * cos(turn), 0.01);
  CHECK_NEAR(b.position.y, 0.5 * sin(turn), 0.01);
  CHECK_NEAR(b.position.z, 0, 1e-4);
  CHECK_NEAR(b.angular_velocity.z, 3, 1e-3);
  stage_close(&s);
}
