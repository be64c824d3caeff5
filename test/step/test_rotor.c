// SPDX-License-Identifier: Apache-2.0
// Armature and dry friction of joints under every scheme: closed forms.
#include "step/joints.h"
#include "tribo/change.h"

static const double G = 9.81, RADIUS = 0.1, ARM = 0.5;

static void run(Stage* s, int scheme, double dt, int steps)
{
  tbStepOptions o = tb_default_step_options();
  o.dt = dt, o.scheme = tb_scheme_at(scheme)->name;
  for (int i = 0; i < steps; i++) CHECK_OK(&s->ctx, tb_world_step(&s->ctx, s->world, &o, NULL));
}

static tbJointDef joint_of(bool turns)
{
  tbJointDef def = tb_default_joint_def(turns ? TB_JOINT_HINGE : TB_JOINT_SLIDER);
  def.axis = turns ? tb_vec3(0, -1, 0) : tb_vec3(0, 0, 1); // turning lifts +x
  return def;
}

// A weight of 2 kg in a guide, or at the end of an arm.
static double inertia_of(bool turns) { return turns ? 2 * (0.4 * RADIUS * RADIUS + ARM * ARM) : 2; }
static tbVec3 place_of(bool turns) { return tb_vec3(turns ? ARM : 0, 0, 0); }

// What falls with a rotor on its joint falls at F/(m + I).
TEST(an_armature_is_inertia_under_every_scheme)
{
  for (int k = 0; k < 2 * tb_scheme_count(); k++) {
    bool turns = k % 2;
    Stage s;
    stage_fresh(&s);
    tbJointDef def = joint_of(turns);
    def.armature = 0.7;
    tbJointId id = stage_join(&s, def, the_world, stage_ball(&s, RADIUS, 2, place_of(turns)), tb_zero3());
    run(&s, k / 2, 1e-3, 30);
    double expected = -0.03 * 2 * G * (turns ? ARM : 1) / (inertia_of(turns) + 0.7);
    tbJointState j = tb_joint_state(s.world, id);
    CHECK_NEAR(j.speed, expected, 2e-3 * fabs(expected));
    CHECK_NEAR(tb_world_energy(s.world).kinetic, 0.5 * (inertia_of(turns) + 0.7) * j.speed * j.speed, 1e-5);
    tb_world_free(&s.ctx, s.world);
  }
}

// Between two bodies it pushes one as it pushes the other: nothing outside takes part.
TEST(an_armature_between_two_bodies_keeps_their_momentum)
{
  for (int k = 0; k < 2 * tb_scheme_count(); k++) {
    bool turns = k % 2;
    Stage s;
    stage_fresh(&s);
    no_gravity(&s);
    tbJointDef def = joint_of(turns);
    def.effort = 2, def.armature = 0.5;
    tbBodyId a = stage_ball(&s, RADIUS, 1, tb_zero3()),
             b = stage_ball(&s, RADIUS, 3, tb_vec3(0, turns ? 0.5 : 0, turns ? 0 : 0.5));
    tbJointId id = stage_join(&s, def, a, b, tb_zero3());
    run(&s, k / 2, 1e-3, 50);
    double own = turns ? 0.4 * RADIUS * RADIUS : 1,
           reduced = own * 3 / 4 + 0.5; // of 1 and 3 against each other
    CHECK_NEAR(tb_joint_state(s.world, id).speed, 0.05 * 2 / reduced, 2e-3 * 0.05 * 2 / reduced);
    CHECK(tb_norm3(tb_world_momentum(s.world)) < 1e-6);
    CHECK(tb_norm3(tb_world_angular_momentum(s.world)) < 1e-6);
    tb_world_free(&s.ctx, s.world);
  }
}

// An elastic impact on m with a rotor I is one on m + I, and keeps the energy of all three.
TEST(an_armature_is_inertia_in_an_impact)
{
  Stage s;
  stage_fresh(&s);
  no_gravity(&s);
  tbBodyId struck = stage_ball(&s, RADIUS, 2, tb_zero3()),
           other = stage_ball(&s, RADIUS, 1, tb_vec3(0, 0, 0.2005));
  double e = 1, mass = 2 + 0.7;
  CHECK_OK(&s.ctx, tb_body_set_restitution(&s.ctx, s.world, other, &e));
  tbBodyState state = tb_body_state(s.world, other);
  state.velocity = tb_vec3(0, 0, -1);
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, other, &state));
  tbJointDef def = joint_of(false);
  def.armature = 0.7;
  tbJointId id = stage_join(&s, def, the_world, struck, tb_zero3());
  run(&s, 0, 1e-3, 2);
  CHECK_NEAR(tb_joint_state(s.world, id).speed, -2 / (1 + mass), 1e-6);
  CHECK_NEAR(tb_body_state(s.world, other).velocity.z, (mass - 1) / (mass + 1), 1e-6);
  CHECK_NEAR(tb_world_energy(s.world).kinetic, 0.5, 1e-6);
  tb_world_free(&s.ctx, s.world);
}

// Beside a servo: it stays where spring and weight differ by less than the friction, and beyond that moves
// with what is left of them.
TEST(dry_friction_holds_beside_a_servo_under_every_scheme)
{
  for (int k = 0; k < 4 * tb_scheme_count(); k++) {
    bool turns = k % 2, held = k / 2 % 2;
    double load = 2 * G * (turns ? ARM : 1), surplus = held ? 3 : 8, friction = 5;
    Stage s;
    stage_fresh(&s);
    tbJointDef def = joint_of(turns);
    def.servoed = true, def.servo = (tbServo){10, 0, INFINITY}, def.servo_target = (load + surplus) / 10;
    def.friction = friction;
    tbJointId id = stage_join(&s, def, the_world, stage_ball(&s, RADIUS, 2, place_of(turns)), tb_zero3());
    run(&s, k / 4, 1e-3, 20);
    double expected = held ? 0 : 0.02 * (surplus - friction) / inertia_of(turns);
    CHECK_NEAR(tb_joint_state(s.world, id).speed, expected, held ? 2e-5 : 0.01 * expected);
    tb_world_free(&s.ctx, s.world);
  }
}

TEST(friction_and_armature_are_changed_and_refused)
{
  Stage s;
  stage_fresh(&s);
  tbBodyId ball = stage_ball(&s, RADIUS, 2, tb_zero3());
  tbJointDef def = joint_of(false), bad = def;
  bad.a = the_world, bad.b = ball, bad.friction = -1;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  bad.friction = 0, bad.armature = INFINITY;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  bad.armature = 1, bad.type = TB_JOINT_BALL;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  tbJointId id = stage_join(&s, def, the_world, ball, tb_zero3());
  CHECK_OK(&s.ctx, tb_joint_set_friction(&s.ctx, s.world, id, 30));
  run(&s, 0, 0.01, 10);
  CHECK_NEAR(tb_joint_state(s.world, id).coordinate, 0, 1e-9);
  CHECK_OK(&s.ctx, tb_joint_set_friction(&s.ctx, s.world, id, 0));
  CHECK_OK(&s.ctx, tb_joint_set_armature(&s.ctx, s.world, id, 2));
  run(&s, 0, 0.01, 10);
  CHECK_NEAR(tb_joint_state(s.world, id).speed, -0.1 * G / 2, 1e-6);
  CHECK(tb_joint_set_armature(&s.ctx, s.world, id, NAN) == TB_ERROR_ARGUMENT);
  CHECK_NEAR(tb_joint_def(s.world, id).armature, 2, 0);
  tb_world_free(&s.ctx, s.world);
}
