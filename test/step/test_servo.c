// SPDX-License-Identifier: Apache-2.0
// Servos hold what their numbers say, and joints can be read: closed forms of statics.
#include "step/joints.h"
#include "tribo/change.h"

#include <string.h>

static const double G = 9.81;

static void run(Stage* s, double dt, int steps)
{
  tbStepOptions o = tb_default_step_options();
  o.dt = dt;
  for (int i = 0; i < steps; i++) CHECK_OK(&s->ctx, tb_world_step(&s->ctx, s->world, &o, NULL));
}

static tbJointDef vertical(tbJointType type)
{
  tbJointDef def = tb_default_joint_def(type);
  def.axis = type == TB_JOINT_SLIDER ? tb_vec3(0, 0, 1) : tb_vec3(0, -1, 0); // turning lifts +x
  return def;
}

// A spring of k under the weight m g gives by m g / k, and bears it.
TEST(a_slider_servo_gives_by_the_weight_over_its_stiffness)
{
  Stage s;
  stage_fresh(&s);
  tbBodyId ball = stage_ball(&s, 0.1, 2, tb_zero3());
  tbJointDef def = vertical(TB_JOINT_SLIDER);
  def.servoed = true, def.servo = (tbServo){400, 60, INFINITY}, def.servo_target = 0.3;
  tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
  run(&s, 0.01, 300);
  tbJointState j = tb_joint_state(s.world, id);
  CHECK_NEAR(j.coordinate, 0.3 - 2 * G / 400, 1e-6);
  CHECK_NEAR(tb_body_state(s.world, ball).position.z, j.coordinate, 1e-9);
  CHECK_NEAR(j.speed, 0, 1e-6);
  CHECK_NEAR(j.drive, 2 * G, 1e-4);
  CHECK_NEAR(j.force.z, 2 * G, 1e-4);
  CHECK_OK(&s.ctx, tb_joint_set_target(&s.ctx, s.world, id, -1));
  run(&s, 0.01, 400);
  CHECK_NEAR(tb_joint_state(s.world, id).coordinate, -1 - 2 * G / 400, 1e-6);

  tbServo weak = {400, 60, 10}; // less than the weight: it falls with what is left
  tbBodyState rest = tb_body_state(s.world, ball);
  CHECK_OK(&s.ctx, tb_joint_set_servo(&s.ctx, s.world, id, &weak, 5));
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, ball, &rest));
  run(&s, 0.01, 10);
  j = tb_joint_state(s.world, id);
  CHECK_NEAR(j.drive, 10, 1e-6);
  CHECK_NEAR(j.speed, -0.1 * (G - 10 / 2.0), 1e-6);
  CHECK_OK(&s.ctx, tb_joint_set_servo(&s.ctx, s.world, id, NULL, 0));
  run(&s, 0.01, 1);
  CHECK(tb_joint_state(s.world, id).drive == 0);
  tb_world_free(&s.ctx, s.world);
}

// An arm of 0.5 m with 2 kg at its end, held level by a very stiff servo: torque m g L about the hinge. The
// same with a weld, and with limits: who bears it is where it is read.
TEST(torques_of_a_level_arm_are_its_weight_times_its_length)
{
  for (int how = 0; how < 3; how++) {
    Stage s;
    stage_fresh(&s);
    tbBodyId ball = stage_ball(&s, 0.1, 2, tb_vec3(0.5, 0, 0));
    tbJointDef def = vertical(how == 0 ? TB_JOINT_WELD : TB_JOINT_HINGE);
    if (how == 1) def.servoed = true, def.servo = (tbServo){1e7, 1e4, INFINITY};
    if (how == 2) def.limited = true, def.lower = def.upper = 0;
    tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
    run(&s, 0.01, 100);
    tbJointState j = tb_joint_state(s.world, id);
    CHECK_NEAR(j.coordinate, 0, 1e-5);
    CHECK_NEAR(j.force.z, 2 * G, 1e-3);
    CHECK_NEAR(j.torque.y, -2 * G * 0.5, 1e-3); // on the arm, about its hinge: up at +x
    CHECK_NEAR(j.torque.x, 0, 1e-3);
    CHECK_NEAR(j.drive, how == 1 ? 2 * G * 0.5 : 0, 1e-3);

    // read from the other side: a body on a, the world on b
    CHECK_OK(&s.ctx, tb_world_remove_joint(&s.ctx, s.world, id));
    tbJointId other = stage_join(&s, def, ball, the_world, tb_zero3());
    run(&s, 0.01, 100);
    tbJointState k = tb_joint_state(s.world, other);
    CHECK_NEAR(k.force.z, -2 * G, 1e-3);
    CHECK_NEAR(k.torque.y, 2 * G * 0.5, 1e-3);
    tb_world_free(&s.ctx, s.world);
  }
}

TEST(a_rope_is_read_taut_and_as_a_spring)
{
  for (int spring = 0; spring < 2; spring++) {
    Stage s;
    stage_fresh(&s);
    tbBodyId ball = stage_ball(&s, 0.1, 2, tb_vec3(0, 0, -1));
    tbVec3 end = tb_vec3(0, 0, -1);
    tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
    def.anchor_b = &end, def.compliance = spring ? 1e-3 : 0, def.damping = spring ? 20 : 0;
    tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
    run(&s, 0.01, 300);
    tbJointState j = tb_joint_state(s.world, id);
    CHECK_NEAR(j.coordinate, spring ? 1 + 2 * G * 1e-3 : 1, 1e-5);
    CHECK_NEAR(j.force.z, 2 * G, 1e-3);
    CHECK_NEAR(j.speed, 0, 1e-5);
    tb_world_free(&s.ctx, s.world);
  }
}

TEST(angles_speeds_motors_and_limits_follow_their_changes)
{
  Stage s;
  stage_fresh(&s);
  no_gravity(&s);
  tbBodyId ball = stage_ball(&s, 0.1, 1, tb_vec3(0.5, 0, 0));
  tbJointId id = stage_join(&s, vertical(TB_JOINT_HINGE), the_world, ball, tb_zero3());
  CHECK_OK(&s.ctx, tb_joint_set_motor(&s.ctx, s.world, id, true, 2, INFINITY));
  run(&s, 0.01, 50);
  tbJointState j = tb_joint_state(s.world, id);
  CHECK_NEAR(j.speed, 2, 1e-5);
  CHECK_NEAR(j.coordinate, 1, 1e-3);
  CHECK_OK(&s.ctx, tb_joint_set_limits(&s.ctx, s.world, id, true, -1, 1.5));
  CHECK_OK(&s.ctx, tb_joint_set_motor(&s.ctx, s.world, id, true, 2, 5));
  run(&s, 0.01, 100);
  CHECK_NEAR(tb_joint_state(s.world, id).coordinate, 1.5, 1e-3);
  CHECK_NEAR(tb_joint_state(s.world, id).drive, 5, 1e-3); // it pushes against its limit
  CHECK_OK(&s.ctx, tb_joint_set_motor(&s.ctx, s.world, id, false, 0, 0));
  CHECK_OK(&s.ctx, tb_joint_set_limits(&s.ctx, s.world, id, false, 0, 0));
  tbServo servo = {200, 30, 50};
  CHECK_OK(&s.ctx, tb_joint_set_servo(&s.ctx, s.world, id, &servo, -3)); // 1.5 → −3 is shorter by way of π
  run(&s, 0.01, 5);
  CHECK(tb_joint_state(s.world, id).speed > 0);
  run(&s, 0.01, 400);
  CHECK_NEAR(tb_joint_state(s.world, id).coordinate, -3, 1e-5);

  // Between limits there is one way only, whichever is shorter: from 2.9 to −2.9 by way of 0.
  CHECK_OK(&s.ctx, tb_joint_set_servo(&s.ctx, s.world, id, &servo, 2.9));
  run(&s, 0.01, 400);
  CHECK_OK(&s.ctx, tb_joint_set_limits(&s.ctx, s.world, id, true, -2.95, 3.05));
  CHECK_OK(&s.ctx, tb_joint_set_servo(&s.ctx, s.world, id, &servo, -2.9));
  run(&s, 0.01, 5);
  CHECK(tb_joint_state(s.world, id).speed < 0);
  run(&s, 0.01, 400);
  CHECK_NEAR(tb_joint_state(s.world, id).coordinate, -2.9, 1e-5);

  tbServo soft = {0, 0, 1}, negative = {-1, 1, 1}, mean = {1, 1, -1};
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &soft, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &negative, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &mean, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_target(&s.ctx, s.world, id, NAN) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_def(s.world, id).servo.stiffness == 200 && tb_joint_def(s.world, id).servo_target == -2.9);
  tbJointDef both = vertical(TB_JOINT_HINGE), ball_servo = tb_default_joint_def(TB_JOINT_BALL);
  both.b = ball_servo.b = ball, both.servoed = both.motor = ball_servo.servoed = true;
  both.servo = ball_servo.servo = servo;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &both, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_joint(&s.ctx, s.world, &ball_servo, NULL) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, s.world);
}

// A target that moves at a steady rate is followed at that rate, behind by what the weight asks for alone.
TEST(a_servo_follows_its_keys_at_their_rate)
{
  static const char* const schemes[] = {"semi-implicit", "soft-step"};
  for (int i = 0; i < 2; i++) {
    Stage s;
    stage_fresh(&s);
    tbBodyId ball = stage_ball(&s, 0.1, 2, tb_zero3());
    tbJointKey keys[] = {{0.5, 0}, {2.5, 1}, {3, 0.5}};
    tbJointDef def = vertical(TB_JOINT_SLIDER);
    def.name = "lift";
    def.servoed = true, def.servo = (tbServo){2000, 100, INFINITY};
    def.drive_keys = keys, def.drive_key_count = 3;
    tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
    CHECK(tb_world_find_joint(s.world, "lift").index == id.index);
    tbStepOptions o = tb_default_step_options();
    o.dt = 0.01, o.scheme = schemes[i];
    double sag = 2 * G / 2000;
    for (int k = 0; k < 200; k++) CHECK_OK(&s.ctx, tb_world_step(&s.ctx, s.world, &o, NULL));
    tbJointState j = tb_joint_state(s.world, id); // at 2 s, half way up
    CHECK_NEAR(j.coordinate, 0.75 - sag, 2e-4);
    CHECK_NEAR(j.speed, 0.5, 1e-3);
    for (int k = 0; k < 200; k++) CHECK_OK(&s.ctx, tb_world_step(&s.ctx, s.world, &o, NULL));
    CHECK_NEAR(tb_joint_state(s.world, id).coordinate, 0.5 - sag, 2e-4);
    tb_world_free(&s.ctx, s.world);
  }
}

TEST(keys_of_servos_are_kept_in_order_and_follow_their_joints)
{
  Stage s;
  stage_fresh(&s);
  tbJointId id[3];
  tbJointKey keys[3][2] = {{{0, 1}, {1, 2}}, {{0, 3}, {1, 4}}, {{0, 5}, {2, 6}}};
  const char* const names[] = {"first", NULL, "last"};
  for (int i = 0; i < 3; i++) {
    tbJointDef def = vertical(TB_JOINT_SLIDER);
    def.name = names[i];
    def.servoed = true, def.servo = (tbServo){100, 10, INFINITY};
    def.drive_keys = keys[i], def.drive_key_count = 2;
    id[i] = stage_join(&s, def, the_world, stage_ball(&s, 0.1, 1, tb_vec3(i, 0, 0)), tb_zero3());
  }
  tbJointDef twice = tb_joint_def(s.world, id[0]);
  twice.b = tb_world_body_at(s.world, 1);
  CHECK(tb_world_add_joint(&s.ctx, s.world, &twice, NULL) == TB_ERROR_ARGUMENT); // the name is taken
  tbJointKey back[] = {{1, 0}, {1, 1}};
  CHECK(tb_joint_set_keys(&s.ctx, s.world, id[0], back, 2) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_keys(&s.ctx, s.world, id[0], keys[2], 1) == TB_OK);
  CHECK_OK(&s.ctx, tb_world_remove_joint(&s.ctx, s.world, id[1]));
  tbJointDef first = tb_joint_def(s.world, id[0]), last = tb_joint_def(s.world, id[2]);
  CHECK(first.drive_key_count == 1 && first.drive_keys[0].value == 5 && !strcmp(first.name, "first"));
  CHECK(last.drive_key_count == 2 && last.drive_keys[1].value == 6 && !strcmp(last.name, "last"));
  CHECK(tb_joint_place(s.world, tb_world_find_joint(s.world, "last")) == 1);
  CHECK_OK(&s.ctx, tb_joint_set_target(&s.ctx, s.world, id[0], 7));
  last = tb_joint_def(s.world, id[2]);
  CHECK(tb_joint_def(s.world, id[0]).drive_key_count == 0 && last.drive_keys[0].value == 5);
  CHECK_OK(&s.ctx, tb_world_remove_joint(&s.ctx, s.world, id[0]));
  CHECK(tb_world_find_joint(s.world, "first").index < 0);
  tb_world_free(&s.ctx, s.world);
}

// A constant effort gives a constant acceleration: force over mass, torque over inertia about the hinge. Both
// bodies feel it, and it is read back.
TEST(an_effort_accelerates_as_newton_says)
{
  static const char* const schemes[] = {"semi-implicit", "soft-step", "moreau", "implicit",
                                        "penalty",       "xpbd",      "vbd",    "primal"};
  for (int i = 0; i < 8; i++)
    for (int turns = 0; turns < 2; turns++) {
      Stage s;
      stage_fresh(&s);
      no_gravity(&s);
      tbBodyId ball = stage_ball(&s, 0.1, 2, tb_vec3(turns ? 0.5 : 0, 0, 0));
      tbJointDef def = vertical(turns ? TB_JOINT_HINGE : TB_JOINT_SLIDER);
      def.effort = 3;
      tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
      tbStepOptions o = tb_default_step_options();
      o.dt = 1e-3, o.scheme = schemes[i];
      for (int k = 0; k < 100; k++) CHECK_OK(&s.ctx, tb_world_step(&s.ctx, s.world, &o, NULL));
      tbJointState j = tb_joint_state(s.world, id);
      double inertia = turns ? 2 * (0.4 * 0.01 + 0.25) : 2;
      CHECK_NEAR(j.speed, 0.1 * 3 / inertia, 2e-3 * 0.1 * 3 / inertia);
      CHECK_NEAR(j.drive, 3, 1e-12);
      CHECK_NEAR(turns ? j.torque.y : j.force.z, turns ? -3 : 3, 1e-2);
      tb_world_free(&s.ctx, s.world);
    }
}

TEST(an_effort_between_two_bodies_keeps_their_momentum)
{
  for (int turns = 0; turns < 2; turns++) {
    Stage s;
    stage_fresh(&s);
    no_gravity(&s);
    tbBodyId a = stage_ball(&s, 0.1, 1, tb_vec3(-0.3, 0.1, 0)),
             b = stage_ball(&s, 0.1, 3, tb_vec3(0.4, 0, 0.2));
    tbJointDef def = vertical(turns ? TB_JOINT_HINGE : TB_JOINT_SLIDER);
    def.effort = -2;
    tbJointId id = stage_join(&s, def, a, b, tb_zero3());
    run(&s, 1e-3, 200);
    CHECK(tb_norm3(tb_world_momentum(s.world)) < 1e-9);
    CHECK(tb_norm3(tb_world_angular_momentum(s.world)) < 1e-5);
    CHECK(tb_joint_state(s.world, id).speed < -0.1);
    CHECK_OK(&s.ctx, tb_joint_set_effort(&s.ctx, s.world, id, 0));
    run(&s, 1e-3, 1);
    CHECK(tb_joint_state(s.world, id).drive == 0);
    CHECK(tb_joint_set_effort(&s.ctx, s.world, id, NAN) == TB_ERROR_ARGUMENT);
    tb_world_free(&s.ctx, s.world);
  }
}

// An impact within the step does not take the step's effort away.
TEST(an_effort_acts_through_an_impact)
{
  double speed[2];
  for (int bounce = 0; bounce < 2; bounce++) {
    Stage s;
    stage_fresh(&s);
    no_gravity(&s);
    tbBodyId ball = stage_ball(&s, 0.1, 2, tb_zero3());
    tbBodyId other = stage_ball(&s, 0.1, 2, tb_vec3(0, bounce ? 0.2005 : 3, 0)); // meets it across the axis
    double e = 1;
    CHECK_OK(&s.ctx, tb_body_set_restitution(&s.ctx, s.world, other, &e));
    tbFriction none = tb_friction(0);
    CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, other, &none));
    tbBodyState state = tb_body_state(s.world, other);
    state.velocity = tb_vec3(0, -1, 0);
    CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, other, &state));
    tbJointDef def = vertical(TB_JOINT_SLIDER);
    def.effort = 100;
    tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
    run(&s, 1e-3, 1);
    CHECK((tb_body_state(s.world, other).velocity.y > 0) == (bounce == 1));
    speed[bounce] = tb_joint_state(s.world, id).speed;
    tb_world_free(&s.ctx, s.world);
  }
  CHECK_NEAR(speed[0], 100 * 1e-3 / 2, 1e-9);
  CHECK_NEAR(speed[1], speed[0], 1e-3); // the two meet a little askew
}

// Speeds of a motor and efforts follow their keys; a snapshot of numbers stays when keys end.
TEST(motors_and_efforts_follow_keys)
{
  Stage s;
  stage_fresh(&s);
  no_gravity(&s);
  tbBodyId ball = stage_ball(&s, 0.1, 2, tb_zero3());
  tbJointKey speeds[] = {{0.1, 0}, {0.3, 1}, {0.4, 1}}, pushes[] = {{0, 0}, {1, 4}};
  tbJointDef def = vertical(TB_JOINT_SLIDER);
  def.motor = true, def.motor_force = INFINITY, def.drive_keys = speeds, def.drive_key_count = 3;
  tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
  run(&s, 0.01, 20);
  CHECK_NEAR(tb_joint_state(s.world, id).speed, 0.5, 1e-9);
  CHECK_OK(&s.ctx, tb_joint_set_keys(&s.ctx, s.world, id, NULL, 0));
  run(&s, 0.01, 20);
  CHECK_NEAR(tb_joint_state(s.world, id).speed, 0.5, 1e-9);
  CHECK_NEAR(tb_joint_def(s.world, id).motor_speed, 0.5, 1e-9);
  CHECK_OK(&s.ctx, tb_joint_set_keys(&s.ctx, s.world, id, speeds, 3));
  CHECK_OK(&s.ctx, tb_joint_set_effort_keys(&s.ctx, s.world, id, pushes, 2));
  CHECK(tb_joint_def(s.world, id).drive_key_count == 3 &&
        tb_joint_def(s.world, id).effort_keys[1].value == 4);
  CHECK_OK(&s.ctx, tb_joint_set_motor(&s.ctx, s.world, id, false, 0, 0));
  CHECK(tb_joint_def(s.world, id).drive_key_count == 0 && tb_joint_def(s.world, id).effort_key_count == 2);
  double before = tb_joint_state(s.world, id).speed; // at 0.4 s; until 0.6 s the effort's mean is 2 N
  run(&s, 0.01, 20);
  CHECK_NEAR(tb_joint_state(s.world, id).speed - before, 0.2 * 2.0 / 2, 1e-9);
  CHECK_OK(&s.ctx, tb_joint_set_effort_keys(&s.ctx, s.world, id, NULL, 0));
  CHECK_NEAR(tb_joint_def(s.world, id).effort, 2.4, 1e-9);

  tbJointDef rod = tb_default_joint_def(TB_JOINT_BALL);
  rod.b = stage_ball(&s, 0.1, 1, tb_vec3(3, 0, 0)), rod.effort = 1;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &rod, NULL) == TB_ERROR_ARGUMENT);
  rod.effort = 0;
  tbJointId other = stage_join(&s, rod, the_world, rod.b, tb_vec3(3, 0, 0));
  CHECK(tb_joint_set_effort_keys(&s.ctx, s.world, other, pushes, 2) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_keys(&s.ctx, s.world, other, pushes, 2) == TB_ERROR_ARGUMENT);
  tbJointKey wild[] = {{0, NAN}};
  CHECK(tb_joint_set_effort_keys(&s.ctx, s.world, id, wild, 1) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, s.world);
}
