// SPDX-License-Identifier: Apache-2.0
// Springs and frictions of the scheme penalty, against what their formulas say.
#include "known/worlds.h"
#include "scene/world.h"
#include "step/friction_pair.h"
#include "test.h"

static Stage open_penalty(double mu, double dt)
{
  Stage s = stage_open(mu, 0);
  s.step.scheme = "penalty", s.step.dt = dt;
  stage_floor(&s, 0, 0);
  return s;
}

// A ball at rest sinks in until its spring carries it.
LONG_TEST(springs_carry_a_ball_where_their_formulas_say)
{
  static const struct {
    tbPenaltySpring kind;
    double p, k, length, mass;
  } at[] = {{TB_SPRING_POWER, 1, 5e3, 0, 2},           {TB_SPRING_POWER, 2, 2e3, 0.01, 1},
            {TB_SPRING_POWER, 3, 2e3, 0.01, 1},        {TB_SPRING_POWER, 1.5, 4e4, 0.002, 10},
            {TB_SPRING_EXPONENTIAL, 1, 1e3, 0.005, 1}, {TB_SPRING_EXPONENTIAL, 1, 3e4, 0.001, 20}};
  for (int i = 0; i < 6; i++) {
    Stage s = open_penalty(0, 1e-3);
    s.step.penalty_spring = at[i].kind, s.step.penalty_exponent = at[i].p;
    s.step.penalty_stiffness = at[i].k, s.step.penalty_length = at[i].length;
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.2), at[i].mass, tb_vec3(0, 0, 0.2), tb_quat_identity());
    stage_run_for(&s, 3);
    double share = at[i].mass * 9.81 / (at[i].k * at[i].length), depth = at[i].mass * 9.81 / at[i].k;
    if (at[i].p != 1) depth = at[i].length * pow(share, 1 / at[i].p);
    if (at[i].kind == TB_SPRING_EXPONENTIAL) depth = at[i].length * log(1 + share);
    CHECK_NEAR(0.2 - stage_state(&s, ball).position.z, depth, 1e-3 * depth);
    stage_close(&s);
  }
}

// However stiff a spring is, a ball leaves it no faster than it came.
TEST(springs_stiffer_than_the_step_gain_no_speed)
{
  static const double k[] = {1e5, 1e8, 1e12};
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < TB_SPRING_COUNT; kind++) {
      Stage s = open_penalty(0, 0.01);
      s.world->gravity = tb_zero3();
      s.step.penalty_stiffness = k[i], s.step.penalty_spring = (tbPenaltySpring)kind,
      s.step.penalty_length = 1e-3;
      tbBodyId ball = stage_add(&s, tb_shape_sphere(0.2), 1, tb_vec3(0, 0, 0.203), tb_quat_identity());
      stage_push(&s, ball, tb_vec3(0, 0, -1), tb_zero3());
      stage_run(&s, 20);
      double v = stage_state(&s, ball).velocity.z;
      CHECK(v > 0 && v <= 1);
      stage_close(&s);
    }
}

// On a slope: below the threshold all three slide as Coulomb's law says; above it anchors hold, damping
// creeps by what gravity adds in a step, relaxed friction with the load over its stiffness.
TEST(frictions_of_springs_slide_and_hold)
{
  for (int kind = 0; kind < TB_PENALTY_FRICTION_COUNT; kind++)
    for (int holds = 0; holds < 2; holds++) {
      Stage s = open_penalty(holds ? 0.8 : 0.2, 1e-3);
      s.world->gravity = tb_vec3(4, 0, -8);
      s.step.penalty_friction = (tbPenaltyFriction)kind, s.step.descent.friction_stiffness = 200;
      tbBodyId block =
          stage_add(&s, tb_shape_box(tb_vec3(0.5, 0.5, 0.1)), 2, tb_vec3(0, 0, 0.0499), tb_quat_identity());
      stage_run_for(&s, 1);
      tbVec3 before = stage_state(&s, block).velocity;
      double x = stage_state(&s, block).position.x;
      stage_run_for(&s, 0.5);
      double a = (stage_state(&s, block).velocity.x - before.x) / 0.5;
      double creep = (stage_state(&s, block).position.x - x) / 0.5;
      if (!holds) CHECK_NEAR(a, 4 - 0.2 * 8, 0.02);
      else if (kind == TB_PENALTY_ANCHORS) CHECK_NEAR(creep, 0, 1e-6);
      else if (kind == TB_PENALTY_DAMPING) CHECK(creep > 0 && creep < 4 * 4e-3);
      else CHECK_NEAR(creep, 2 * 4 / (4 * 200.0), 1e-3 * creep); // four corners share it
      stage_close(&s);
    }
}

// Springs as nobody has chosen them: a block slides below the threshold and holds above it, whatever the
// step.
TEST(springs_left_open_slide_as_the_law_says)
{
  static const double dt[] = {1e-3, 4e-3, 0.02};
  for (int k = 0; k < 3; k++)
    for (int holds = 0; holds < 2; holds++) {
      Stage s = open_penalty(holds ? 0.51 : 0.49, dt[k]);
      s.world->gravity = tb_vec3(4, 0, -8);
      tbBodyId block =
          stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 2, tb_vec3(0, 0, 0.1), tb_quat_identity());
      stage_run_for(&s, 1);
      tbVec3 at = stage_state(&s, block).position;
      CHECK_NEAR(at.x, holds ? 0 : 0.5 * (4 - 0.49 * 8) * (1 + dt[k]), 1e-5);
      CHECK_NEAR(at.z, 0.1, 1e-6);
      stage_close(&s);
    }
}

// A ball that spins about the normal loses ω by τ m g/I; one that rolls loses speed by 5/7 ρ g/r.
TEST(springs_brake_spinning_and_rolling)
{
  double r = 0.2, m = 3, g = 9.81, torsion = 0.01, rolling = 0.004;
  for (int kind = 0; kind < 3; kind++) { // torsion alone, rolling alone, both
    tbFriction f = {.mu = 0.6, .torsion = kind == 1 ? 0 : torsion, .rolling = kind == 0 ? 0 : rolling};
    Stage s = stage_open_with(tb_vec3(0, 0, -g), f, 0);
    s.step.scheme = "penalty", s.step.dt = 1e-3;
    stage_floor(&s, 0, 0);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(r), m, tb_vec3(0, 0, r - 1e-4), tb_quat_identity());
    bool rolls = kind != 0;
    stage_push(&s, ball, tb_vec3(rolls ? 2 : 0, 0, 0), tb_vec3(0, rolls ? 2 / r : 0, kind == 1 ? 0 : 20));
    stage_run_for(&s, 0.5);
    tbBodyState before = stage_state(&s, ball);
    stage_run_for(&s, 0.25);
    tbBodyState after = stage_state(&s, ball);
    double spin = (before.angular_velocity.z - after.angular_velocity.z) / 0.25;
    double slower = (before.velocity.x - after.velocity.x) / 0.25;
    if (kind != 1) CHECK_NEAR(spin, torsion * m * g / (0.4 * m * r * r), 0.01 * spin);
    if (rolls) CHECK_NEAR(slower, rolling * g / r * 5 / 7, 0.02 * slower);
    stage_close(&s);
  }
}

// Friction has two components, of each law: what stands behind them is left alone.
TEST(friction_against_a_velocity_is_a_vector_of_two)
{
  static const double box[] = {0, -2, -3, 9, 2, 3}, directional[] = {0.2, 0.3, 0.4, 0.5}, disc[] = {0.5, 0.5};
  static const struct {
    tbLaw law;
    const double* param;
    double f[2]; // at 10 N, against a velocity along (1, −1)
  } at[] = {{TB_LAW_BOX, box, {-2, 3}},
            {TB_LAW_DIRECTIONAL, directional, {-2, 5}},
            {TB_LAW_ELLIPTIC, disc, {-3.5355339059327378, 3.5355339059327378}}};
  for (int i = 0; i < 3; i++) {
    double f[3] = {NAN, NAN, 7}, u[3] = {1, -1, 1};
    tb_friction_against(at[i].law, at[i].param, 10, u, f);
    CHECK_NEAR(f[0], at[i].f[0], 1e-14);
    CHECK_NEAR(f[1], at[i].f[1], 1e-14);
    CHECK(f[2] == 7);
  }
}
