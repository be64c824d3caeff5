// SPDX-License-Identifier: Apache-2.0
// Springs of the scheme penalty on soft bodies and cloth, where a step starts and where it ends.
#include "scene/world.h"
#include "step/soft_stage.h"

static const tbPenaltyTime times[] = {TB_PENALTY_EXPLICIT, TB_PENALTY_IMPLICIT};

static Stage penalty_stage(double mu, tbPenaltyTime time)
{
  Stage s = soft_stage(mu, time == TB_PENALTY_EXPLICIT ? 1e-3 : 0.01);
  s.step.scheme = "penalty", s.step.penalty_time = time;
  return s;
}

static tbVec3 pushed(const Stage* s)
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < tb_world_contact_count(s->world); i++) {
    tbContactView c = tb_world_contact(s->world, i);
    tbVec3 b = tb_cross3(c.normal, c.tangent);
    sum = tb_add3(sum, tb_scale3(c.impulse[0], c.normal));
    sum = tb_add3(sum, tb_add3(tb_scale3(c.impulse[1], c.tangent), tb_scale3(c.impulse[2], b)));
  }
  return sum;
}

// A cube of jelly on a slab: every step's impulses are its change of momentum, and at rest they are its
// weight.
TEST(springs_carry_soft_bodies_and_balance_their_momentum)
{
  for (int i = 0; i < 2; i++) {
    Stage s = penalty_stage(0.5, times[i]);
    stage_fixed(&s, tb_shape_box(tb_vec3(2, 2, 0.2)), tb_vec3(0, 0, -0.1), tb_quat_identity());
    tbBodyId cube = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, soft_at(1e5, tb_vec3(0, 0, 0.12), tb_zero3()));
    double mass = 0.2 * 0.2 * 0.2 * 1000, h = s.step.dt;
    for (int k = 0; k < (int)(1.0 / h); k++) {
      tbVec3 before = tb_world_momentum(s.world);
      stage_run(&s, 1);
      tbVec3 gained = tb_sub3(tb_world_momentum(s.world), before);
      tbVec3 given = tb_madd3(pushed(&s), mass * h, tb_vec3(0, 0, -9.81));
      CHECK_NEAR(tb_distance3(gained, given), 0, 1e-9);
      CHECK(s.report.intersections == 0);
    }
    CHECK_NEAR(pushed(&s).z / (h * mass * 9.81), 1, i ? 1e-3 : 0.02);
    CHECK(tb_norm3(stage_state(&s, cube).velocity) < (i ? 1e-4 : 1e-2));
    stage_close(&s);
  }
}

// On a slope of tan θ = 1/2: less friction slides as the law says, more holds.
TEST(springs_hold_soft_bodies_on_slopes)
{
  static const double mu[] = {0.25, 0.8};
  const double g = 9.81, c = 2 / sqrt(5), t = 0.4;
  for (int i = 0; i < 4; i++) {
    Stage s = penalty_stage(mu[i % 2], times[i / 2]);
    stage_floor(&s, 0, 0);
    tbBodyId cube = add_box(&s, tb_vec3(0.2, 0.2, 0.1), 1, soft_at(1e6, tb_vec3(0, 0, 0.05), tb_zero3()));
    s.world->gravity = tb_vec3(0, 0, -g * c);
    stage_run_for(&s, 0.3);
    double start = stage_state(&s, cube).position.x;
    s.world->gravity = tb_vec3(0.5 * g * c, 0, -g * c);
    stage_run_for(&s, t);
    double a = fmax(g * c * (0.5 - mu[i % 2]), 0), way = stage_state(&s, cube).position.x - start;
    CHECK_NEAR(way, 0.5 * a * t * t, a > 0 ? 0.05 * a * t * t : 2e-3);
    stage_close(&s);
  }
}

// A cloth falls over a ball and stays: without crossings, and no energy is gained.
LONG_TEST(springs_catch_cloth)
{
  Stage s = penalty_stage(0.5, TB_PENALTY_AUTO);
  s.step.dt = 0.01;
  stage_fixed(&s, tb_shape_sphere(0.2), tb_vec3(0, 0, 0.2), tb_quat_identity());
  add_cloth(&s, 0.6, 8, soft_at(1, tb_vec3(0, 0, 0.45), tb_zero3()));
  double gained = 0;
  int64_t crossed = 0;
  for (int i = 0; i < 60; i++) {
    tbEnergy e = tb_world_energy(s.world);
    stage_run(&s, 1);
    tbEnergy f = tb_world_energy(s.world);
    gained = fmax(gained, f.kinetic + f.potential + f.elastic - e.kinetic - e.potential - e.elastic);
    crossed += s.report.intersections;
  }
  CHECK(crossed == 0);
  CHECK(gained < 1e-4);
  CHECK(tb_world_contact_count(s.world) > 4);
  stage_close(&s);
}

// A ball on an implicit spring of k: it sinks by m g/k, and by the root of that where the force is k δ²/L.
TEST(implicit_springs_give_way_as_their_formulas_say)
{
  for (int p = 1; p < 3; p++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = "penalty", s.step.penalty_time = TB_PENALTY_IMPLICIT;
    s.step.penalty_stiffness = 5000, s.step.penalty_exponent = p, s.step.penalty_length = 0.01;
    stage_floor(&s, 0, 0);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 2, tb_vec3(0, 0, 0.1), tb_quat_identity());
    stage_run_for(&s, 2);
    double sunk = 2 * 9.81 / 5000, depth = p == 1 ? sunk : sqrt(sunk * 0.01);
    CHECK_NEAR(stage_state(&s, ball).position.z, 0.1 - depth, 0.01 * depth);
    stage_close(&s);
  }
}

// How high a ball rises after 40 bounces that fell from 0.15 m, on springs without damping.
static double height_after_bounces(tbPenaltySpring spring, double stiffness, double length, double* deepest)
{
  Stage s = stage_open(0, 0);
  s.step.scheme = "penalty", s.step.dt = 2e-4;
  s.step.penalty_spring = spring, s.step.penalty_length = length;
  s.step.penalty_stiffness = stiffness, s.step.penalty_damping = 0;
  s.step.penalty_time = TB_PENALTY_EXPLICIT;
  stage_floor(&s, 0, 0);
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(0, 0, 0.15), tb_quat_identity());
  double highest = *deepest = 0;
  int bounces = 0;
  bool rises = false;
  for (int i = 0; i < 60000 && bounces < 40; i++) {
    stage_run(&s, 1);
    tbBodyState b = stage_state(&s, ball);
    if (rises && b.velocity.z <= 0) bounces++, highest = b.position.z;
    rises = b.velocity.z > 0;
    *deepest = fmax(*deepest, 0.1 - b.position.z);
  }
  CHECK(bounces == 40);
  stage_close(&s);
  return highest;
}

// Springs evaluated where a step starts are those of a symplectic rule: after 40 bounces a ball rises as high
// as it fell from. So do nested layers, which one spring of their first stiffness alone would let it through
// (2.5 cm against their 2).
TEST(undamped_springs_keep_the_energy_of_a_long_run)
{
  double deepest;
  CHECK_NEAR(height_after_bounces(TB_SPRING_POWER, 2e4, 0, &deepest), 0.15, 1e-3);
  CHECK_NEAR(height_after_bounces(TB_SPRING_POWER, 2e3, 0, &deepest), 0.15, 1e-3);
  CHECK(deepest > 0.02);
  CHECK_NEAR(height_after_bounces(TB_SPRING_LAYERS, 2e3, 0.02, &deepest), 0.15, 1e-3);
  CHECK(deepest > 0.005 && deepest < 0.01);
}
