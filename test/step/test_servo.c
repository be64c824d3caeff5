// SPDX-License-Identifier: Apache-2.0
// Servos hold what their numbers say, and joints can be read: closed forms of statics.
#include "step/joints.h"
#include "tribo/change.h"

static const double G = 9.81;

static tbBodyId hung(Stage* s, double mass, tbVec3 at)
{
  tbShape ball = tb_shape_sphere(0.1);
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.shapes = &ball, def.shape_count = 1, def.mass = mass, def.position = at;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

static void fresh(Stage* s)
{
  *s = (Stage){.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&s->ctx, tb_world_create(&s->ctx, &def, &s->world));
}

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
  fresh(&s);
  tbBodyId ball = hung(&s, 2, tb_zero3());
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
    fresh(&s);
    tbBodyId ball = hung(&s, 2, tb_vec3(0.5, 0, 0));
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
    fresh(&s);
    tbBodyId ball = hung(&s, 2, tb_vec3(0, 0, -1));
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
  fresh(&s);
  no_gravity(&s);
  tbBodyId ball = hung(&s, 1, tb_vec3(0.5, 0, 0));
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

  tbServo soft = {0, 0, 1}, negative = {-1, 1, 1}, mean = {1, 1, -1};
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &soft, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &negative, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_servo(&s.ctx, s.world, id, &mean, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_target(&s.ctx, s.world, id, NAN) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_def(s.world, id).servo.stiffness == 200 && tb_joint_def(s.world, id).servo_target == -3);
  tbJointDef both = vertical(TB_JOINT_HINGE), ball_servo = tb_default_joint_def(TB_JOINT_BALL);
  both.b = ball_servo.b = ball, both.servoed = both.motor = ball_servo.servoed = true;
  both.servo = ball_servo.servo = servo;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &both, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_joint(&s.ctx, s.world, &ball_servo, NULL) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, s.world);
}
