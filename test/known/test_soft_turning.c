// SPDX-License-Identifier: Apache-2.0
// Torsion and rolling friction where one of the two surfaces is soft, against closed forms.
#include "step/soft_stage.h"

#include <string.h>

// `pd` goes on iterating, `ipc` ends with the exact law.
static Stage stage_of(tbFriction friction, const char* scheme)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -9.81), friction, 0);
  s.step.scheme = scheme, s.step.dt = 0.005, s.step.solver.tolerance = 1e-8;
  s.step.exact_friction = strcmp(scheme, "ipc") == 0;
  stage_floor(&s, 0, 0);
  return s;
}

static tbFriction turning(double mu, double torsion, double rolling)
{
  return (tbFriction){.kind = TB_FRICTION_CONTENSOU, .mu = mu, .torsion = torsion, .rolling = rolling};
}

// How fast a box spins about the vertical, of nodes that turn as one.
static double spin_of(const Stage* s, tbBodyId body)
{
  const tbVec3 *x = tb_body_nodes(s->world, body), *v = tb_body_node_velocities(s->world, body);
  int n = tb_body_node_count(s->world, body);
  tbVec3 centre = tb_zero3();
  double turn = 0, inertia = 0;
  for (int i = 0; i < n; i++) centre = tb_madd3(centre, 1.0 / n, x[i]);
  for (int i = 0; i < n; i++) {
    tbVec3 r = tb_sub3(x[i], centre);
    turn += r.x * v[i].y - r.y * v[i].x, inertia += r.x * r.x + r.y * r.y;
  }
  return turn / inertia;
}

// The moment of inertia of its nodes' masses, by the energy of its spin.
static double spin(Stage* s, tbBodyId box, double speed)
{
  int n = tb_body_node_count(s->world, box);
  tbVec3 x[27], v[27];
  for (int i = 0; i < n && i < 27; i++)
    x[i] = tb_body_nodes(s->world, box)[i], v[i] = tb_cross3(tb_vec3(0, 0, speed), x[i]);
  CHECK_OK(&s->ctx, tb_body_set_nodes(&s->ctx, s->world, box, x, v));
  return 2 * tb_world_energy(s->world).kinetic / (speed * speed);
}

static double slowing(const char* scheme, double torsion, double* expected)
{
  Stage s = stage_of(turning(0, torsion, 0), scheme);
  s.step.dt = 0.001;
  tbDeformableDef def = soft_at(1e7, tb_vec3(0, 0, 0.1001), tb_zero3());
  def.soft.stiffness_damping = 0;
  tbBodyId box = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, def);
  double inertia = spin(&s, box, 0.5);
  stage_run(&s, 20);
  double before = spin_of(&s, box);
  stage_run(&s, 60);
  *expected = torsion * tb_body_mass(s.world, box) * 9.81 / inertia;
  double after = spin_of(&s, box);
  CHECK(s.unconverged == 0 || strcmp(scheme, "pd") == 0);
  stage_close(&s);
  return (before - after) / 0.06;
}

// Without friction against sliding, torsion alone slows a stiff box: I α = −torsion m g.
TEST(torsion_slows_a_soft_box_that_spins)
{
  static const char* const schemes[] = {"implicit", "pd", "ipc"};
  for (int i = 0; i < 3; i++) {
    double expected, without = slowing(schemes[i], 0, &expected);
    for (int k = 0; k < 2; k++) {
      double slowed = slowing(schemes[i], k ? 0.004 : 0.0015, &expected) - without;
      if (!(fabs(slowed - expected) < 0.02 * expected))
        test_failed(__FILE__, __LINE__, "%s: %g rad/s², expected %g", schemes[i], slowed, expected);
    }
    CHECK(without < 0.02 * expected);
  }
}

// A rigid ball of 0.5 kg that turns on a soft block: the torque about its axis that brakes it, over what
// presses it on, which its falling says.
static double braking(const char* scheme, tbFriction friction, tbVec3 axis)
{
  double h = 0.002, inertia = 0.4 * 0.5 * 0.01, torque = 0, pressed = 0;
  Stage s = stage_of(friction, scheme);
  s.step.dt = h;
  add_box(&s, tb_vec3(0.4, 0.4, 0.1), 2, soft_at(1e8, tb_vec3(0, 0, 0.0501), tb_zero3()));
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 0.5, tb_vec3(-0.09, 0.03, 0.2003), tb_quat_identity());
  stage_push(&s, ball, tb_zero3(), tb_scale3(8, axis));
  for (int i = 0; i < 100; i++) {
    tbBodyState before = stage_state(&s, ball);
    stage_run(&s, 1);
    tbBodyState after = stage_state(&s, ball);
    torque += inertia * tb_dot3(axis, tb_sub3(before.angular_velocity, after.angular_velocity)) / h;
    pressed += 0.5 * (9.81 + (after.velocity.z - before.velocity.z) / h);
  }
  CHECK(tb_dot3(stage_state(&s, ball).angular_velocity, axis) < 7.2);
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return torque / pressed;
}

// Torsion about the normal; rolling about any axis across it, without friction against sliding; and torsion
// beside an ellipse of friction.
LONG_TEST(torsion_and_rolling_on_a_soft_block_brake_a_ball_as_their_lengths_say)
{
  tbFriction ellipse = {
      .kind = TB_FRICTION_ELLIPTIC, .mu_t = 0.2, .mu_b = 0.6, .direction = {1, 0, 0}, .torsion = 0.003};
  static const char* const schemes[] = {"implicit", "pd", "ipc"}; // under ipc balls have facets, which roll
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(braking(schemes[i], turning(0.8, 0.003, 0), tb_vec3(0, 0, 1)), 0.003, 0.005 * 0.003);
    if (i < 2)
      CHECK_NEAR(braking(schemes[i], turning(0, 0, 0.002), tb_vec3(0.6, 0.8, 0)), 0.002, 0.005 * 0.002);
    CHECK_NEAR(braking(schemes[i], ellipse, tb_vec3(0, 0, 1)), 0.003, 0.005 * 0.003);
  }
}

// What turns a soft surface is a couple: a spinning ball and the soft box that it stands on, alone in the
// world, keep their angular momentum.
TEST(torsion_takes_from_a_ball_what_it_gives_to_a_soft_box)
{
  Stage s = stage_open_with(tb_zero3(), turning(0.5, 0.02, 0.005), 0);
  s.step.scheme = "implicit", s.step.dt = 0.001, s.step.solver.tolerance = 1e-10;
  add_box(&s, tb_vec3(0.2, 0.2, 0.1), 2, soft_at(1e6, tb_zero3(), tb_zero3()));
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.05), 0.5, tb_vec3(0.01, 0.02, 0.1005), tb_quat_identity());
  stage_push(&s, ball, tb_vec3(0, 0, -1), tb_vec3(0, 0, 20));
  double inertia = 0.4 * 0.5 * 0.05 * 0.05;
  stage_run(&s, 20);
  double lost = inertia * (20 - stage_state(&s, ball).angular_velocity.z);
  CHECK(lost > 1e-3 * inertia * 20);
  tbVec3 momentum = tb_world_angular_momentum(s.world);
  CHECK_NEAR(momentum.z, inertia * 20, 0.01 * lost); // elasticity is linear in a step
  stage_close(&s);
}

// Every vertex of a soft box withstands so much, whatever it carries.
TEST(trescas_limit_holds_a_soft_box_by_its_vertices)
{
  static const char* const schemes[] = {"implicit", "pd", "primal", "vbd"};
  for (int i = 0; i < 4; i++) {
    tbFriction friction = tb_friction(0.5);
    friction.tresca = 0.4;
    Stage s = stage_of(friction, schemes[i]);
    tbDeformableDef def = soft_at(1e7, tb_vec3(0, 0, 0.1001), tb_vec3(2, 0.5, 0));
    tbBodyId box = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, def);
    stage_run(&s, 10);
    tbVec3 before = stage_state(&s, box).velocity;
    stage_run(&s, 40);
    tbVec3 slowed = tb_sub3(before, stage_state(&s, box).velocity);
    double force = tb_body_mass(s.world, box) * tb_norm3(slowed) / 0.2;
    if (!(fabs(force - 9 * 0.4) < 1e-3))
      test_failed(__FILE__, __LINE__, "%s: %g N of 3.6", schemes[i], force);
    if (!(fabs(slowed.y / slowed.x - 0.25) < 1e-3)) // against the sliding
      test_failed(__FILE__, __LINE__, "%s: along %g", schemes[i], slowed.y / slowed.x);
    stage_close(&s);
  }
}

static double spun_down(double static_ratio)
{
  tbFriction friction = tb_friction(0.3);
  friction.static_ratio = static_ratio;
  Stage s = stage_of(friction, "implicit");
  s.step.dt = 0.002;
  tbBodyId box = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, soft_at(1e7, tb_vec3(0, 0, 0.1001), tb_zero3()));
  spin(&s, box, 12);
  stage_run(&s, 40);
  double left = spin_of(&s, box);
  stage_close(&s);
  return left;
}

// A soft box that spins where it stands slides, though its centre is at rest: friction is that of sliding.
TEST(friction_at_rest_is_that_of_the_nodes_that_touch)
{
  double one = spun_down(1), two = spun_down(2);
  CHECK(one > 3 && one < 11);
  CHECK_NEAR(two, one, 0.15); // but for the vertex on the axis
}
