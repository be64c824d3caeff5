// SPDX-License-Identifier: Apache-2.0
// The scheme soft-step: what its relaxation may cost, and what it must not.
#include "known/worlds.h"
#include "scene/world.h"
#include "test.h"
#include "tribo/io.h"

static Stage open_soft(double mu, double restitution)
{
  Stage s = stage_open(mu, restitution);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60;
  return s;
}

static tbBodyId cube(Stage* s, double mass, tbVec3 x)
{
  return stage_add(s, tb_shape_box(tb_vec3(1, 1, 1)), mass, x, tb_quat_identity());
}

// Ten boxes, the topmost so many times as heavy: how far it has come after ten seconds.
static tbVec3 way_of_top(double ratio)
{
  Stage s = open_soft(0.5, 0);
  stage_floor(&s, 0, 0);
  tbBodyId top = {0, 0};
  for (int i = 0; i < 10; i++) top = cube(&s, i < 9 ? 1000 : 1000 * ratio, tb_vec3(0, 0, i + 0.5));
  stage_run_for(&s, 10);
  tbVec3 way = tb_sub3(stage_state(&s, top).position, tb_vec3(0, 0, 9.5));
  stage_close(&s);
  return way;
}

LONG_TEST(stacks_settle_by_millimetres_and_stand)
{
  tbVec3 even = way_of_top(1), heavy = way_of_top(100);
  CHECK(fabs(even.z) < 5e-3 && hypot(even.x, even.y) < 1e-3);
  CHECK(fabs(heavy.z) < 5e-2 && hypot(heavy.x, heavy.y) < 5e-3);
}

// μ 0.5 at tan θ = 0.49 holds, at 0.6 gives way with the acceleration of Coulomb's law: down an edge, down a
// corner, and askew.
TEST(slopes_hold_and_give_way_as_coulomb_says)
{
  for (int askew = 0; askew < 3; askew++) {
    double heading = askew ? 0.785398 : 0, g = 9.81;
    for (int k = 0; k < 2; k++) {
      double slope = atan(k ? 0.6 : 0.49);
      Stage s = open_soft(0.5, 0);
      stage_floor(&s, slope, heading);
      tbQuat q = tb_quat_mul(stage_turn(slope, heading), tb_quat_exp(tb_vec3(0, 0, askew == 2 ? 0.6 : 0)));
      tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1000,
                               tb_scale3(0.5, stage_normal(slope, heading)), q);
      tbVec3 from = stage_state(&s, box).position, down = stage_down(slope, heading);
      stage_run_for(&s, 1);
      double v = tb_dot3(stage_state(&s, box).velocity, down);
      stage_run_for(&s, 1);
      double a = tb_dot3(stage_state(&s, box).velocity, down) - v;
      if (k == 0) CHECK(fabs(tb_dot3(tb_sub3(stage_state(&s, box).position, from), down)) < 4e-6);
      else CHECK_NEAR(a, g * (sin(slope) - 0.5 * cos(slope)), 1e-3 * a);
      stage_close(&s);
    }
  }
}

TEST(nothing_holds_without_friction)
{
  Stage s = open_soft(0, 0);
  stage_floor(&s, 0.3, 0);
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1000, tb_scale3(0.5, stage_normal(0.3, 0)),
                           stage_turn(0.3, 0));
  stage_run_for(&s, 1);
  CHECK_NEAR(tb_dot3(stage_state(&s, box).velocity, stage_down(0.3, 0)), 9.81 * sin(0.3), 1e-4);
  stage_close(&s);
}

// Bodies in the air are where parabolas take them, and one that bounces leaves with its restitution.
TEST(flight_is_exact_and_bounces_keep_their_restitution)
{
  Stage s = open_soft(0, 0.5);
  stage_floor(&s, 0, 0);
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.5), 1, tb_vec3(0, 0, 2.5), tb_quat_identity());
  stage_run(&s, 30);
  CHECK_NEAR(stage_state(&s, ball).position.z, 2.5 - 0.5 * 9.81 * 0.25, 1e-12);
  double fastest = 0, rebound = 0;
  for (int i = 0; i < 30 && !(rebound > 0); i++) {
    double v = stage_state(&s, ball).velocity.z;
    fastest = fmin(fastest, v);
    stage_run(&s, 1);
    if (stage_state(&s, ball).velocity.z > 0) rebound = stage_state(&s, ball).velocity.z;
  }
  CHECK_NEAR(rebound, -0.5 * fastest, 1e-5);
  stage_close(&s);
}

// Four corners that strike at once send a box back as it came: no one of them turns it.
TEST(what_lands_flat_leaves_flat)
{
  for (int k = 0; k < 3; k++) {
    double restitution = 0.3 + 0.25 * k, half = 0.2 + 0.15 * k, fastest = 0;
    Stage s = open_soft(0.3 * k, restitution);
    stage_floor(&s, 0, 0);
    tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.9, 0.5 + 0.4 * k, 2 * half)), 1, tb_vec3(0, 0, 1.5),
                             tb_quat_exp(tb_vec3(0, 0, 0.4 + k)));
    tbBodyState now = stage_state(&s, box);
    for (int i = 0; i < 90 && !(now.velocity.z > 0); i++) {
      fastest = fmin(fastest, now.velocity.z);
      stage_run(&s, 1);
      now = stage_state(&s, box);
    }
    CHECK_NEAR(now.velocity.z, -restitution * fastest, 1e-4);
    CHECK(tb_norm3(now.angular_velocity) < 1e-3);
    stage_close(&s);
  }
}

// What the report says is what the judge finds of the impulses that moved the bodies, and without
// certificates bodies move to the same bits.
TEST(certificates_are_the_judges_and_change_nothing)
{
  Stage a = open_soft(0.5, 0), b = open_soft(0.5, 0);
  b.step.certify = 0;
  Stage* both[2] = {&a, &b};
  for (int k = 0; k < 2; k++) {
    stage_floor(both[k], 0, 0);
    for (int i = 0; i < 12; i++) cube(both[k], 1000, tb_vec3(0.3 * (i % 3), 0.2 * (i % 2), 0.5 + 1.01 * i));
  }
  double worst = 0;
  for (int i = 0; i < 90; i++) {
    stage_run(&a, 1);
    stage_run(&b, 1);
    CHECK(b.report.outcome == TB_UNJUDGED && isnan(b.report.residual.velocity));
    CHECK(
        a.report.outcome ==
        (a.report.residual.velocity <= a.step.solver.velocity_tolerance ? TB_CONVERGED : TB_MAX_ITERATIONS));
    worst = fmax(worst, a.report.residual.velocity);
  }
  CHECK(worst > 1e-3); // it is a relaxation, and says so
  CHECK(tb_world_hash(a.world) == tb_world_hash(b.world));
  stage_close(&a);
  stage_close(&b);
}

// A thousand contacts of one body are more than there are colours.
LONG_TEST(a_body_with_more_neighbours_than_colours_carries_them)
{
  Stage s = open_soft(0.5, 0);
  stage_floor(&s, 0, 0);
  tbBodyId plate =
      stage_add(&s, tb_shape_box(tb_vec3(12, 12, 1)), 1000, tb_vec3(0, 0, 0.5), tb_quat_identity());
  tbBodyId last = plate;
  for (int i = 0; i < 100; i++)
    last = stage_add(&s, tb_shape_box(tb_vec3(0.5, 0.5, 0.5)), 10,
                     tb_vec3(i % 10 - 4.5, (double)(i / 10) - 4.5, 1.25), tb_quat_identity());
  stage_run_for(&s, 2);
  CHECK_NEAR(stage_state(&s, last).position.z, 1.25, 2e-3);
  CHECK_NEAR(tb_norm3(stage_state(&s, last).velocity), 0, 1e-4);
  stage_close(&s);
}

// The deepest overlap while 48 bodies at random attitudes fall on each other in a bin, turning.
static double deepest_in_bin(tbShape shape)
{
  tbRandom r = test_random(15);
  Stage s = open_soft(0.5, 0);
  stage_floor(&s, 0, 0);
  for (int k = 0; k < 4; k++)
    stage_fixed(&s, tb_shape_box(tb_vec3(10, 10, 40)),
                tb_vec3(k == 0   ? -6.75
                        : k == 1 ? 6.75
                                 : 0,
                        k == 2   ? -6.75
                        : k == 3 ? 6.75
                                 : 0,
                        20),
                tb_quat_identity());
  for (int k = 0; k < 48; k++)
    stage_add(
        &s, shape, 1000, tb_vec3(k % 2 ? 0.875 : -0.875, k / 2 % 2 ? 0.875 : -0.875, 1 + 1.75 * (k / 4)),
        tb_quat_exp(tb_vec3(test_uniform(&r, -2, 2), test_uniform(&r, -2, 2), test_uniform(&r, -2, 2))));
  double deepest = 0;
  for (int k = 0; k < 120; k++) {
    stage_run(&s, 1);
    deepest = fmax(deepest, s.report.penetration);
  }
  stage_close(&s);
  return deepest;
}

// Where an edge or an axis is closest at the start of a step is not all that meets in it.
TEST(what_turns_as_it_lands_does_not_sink_into_what_it_meets)
{
  CHECK(deepest_in_bin(tb_shape_box(tb_vec3(1, 1, 1))) < 0.05);
  CHECK(deepest_in_bin(tb_shape_capsule(0.4, 0.9)) < 0.05);
}

// A box flies over the edge of another, its lowest corner 2 cm beside the face that it would be 8 cm below by
// the end of the step; of its edges one is over the face already, 11 cm above it.
TEST(a_corner_that_comes_over_a_face_within_the_step_stays_above_it)
{
  Stage s = stage_open_with(tb_vec3(0, 0, 0), tb_friction(0), 0);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60;
  stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 1)), tb_vec3(0, 0, -0.5), tb_quat_identity());
  tbQuat q = {0.15587616, 0.93645524, -0.03914974, -0.31180363};
  tbVec3 low = tb_vec3(0.09121237, 0.25514118, -0.82254683), at = tb_vec3(0.17, -0.52, 0.04);
  tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_sub3(at, low), q);
  stage_push(&s, box, tb_vec3(1.2, 7.8, -7.3), tb_vec3(0, 0, 0));
  stage_run(&s, 1);
  tbBodyState b = stage_state(&s, box);
  double lowest = INFINITY;
  for (int k = 0; k < 8; k++) {
    tbVec3 corner = tb_vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5);
    lowest = fmin(lowest, tb_add3(b.position, tb_quat_rotate(b.orientation, corner)).z);
  }
  CHECK(b.position.y + low.y > -0.45 && lowest > -0.01);
  stage_close(&s);
}

// Round shapes roll on at their speed and stay on top of the floor: where they touch does not turn with them.
TEST(what_rolls_neither_sinks_nor_slows)
{
  const tbShape round[] = {tb_shape_sphere(0.5), tb_shape_capsule(0.5, 1), tb_shape_cylinder(0.5, 1)};
  for (int k = 0; k < 3; k++) {
    Stage s = open_soft(0.5, 0);
    stage_floor(&s, 0, 0);
    tbBodyId wheel = stage_add(&s, round[k], 1, tb_vec3(0, 0, 0.5), tb_quat_exp(tb_vec3(PI / 2, 0, 0)));
    stage_push(&s, wheel, tb_vec3(10, 0, 0), tb_vec3(0, 20, 0));
    for (int i = 0; i < 60; i++) {
      stage_run(&s, 1);
      CHECK_NEAR(stage_state(&s, wheel).position.z, 0.5, 1e-4);
    }
    CHECK_NEAR(stage_state(&s, wheel).velocity.x, 10, 1e-3);
    stage_close(&s);
  }
}

// A heavy beam turns by a tenth of a radian per step and takes a small ball with it, which slides outwards:
// the normal of its face turns, too.
TEST(a_face_that_turns_carries_what_lies_on_it)
{
  for (int k = 0; k < 2; k++) {
    Stage s = stage_open_with(tb_vec3(0, 0, 0), tb_friction(0), 0);
    s.step.scheme = "soft-step", s.step.dt = 1.0 / 60;
    tbShape beam = tb_shape_box(tb_vec3(6, 1, 0.2)), small = tb_shape_sphere(0.2);
    tbBodyId id[2];
    for (int i = 0; i < 2; i++) // in either order
      id[i == k] = i == k ? stage_add(&s, small, 1, tb_vec3(0.7, 0, 0.3), tb_quat_identity())
                          : stage_add(&s, beam, 1e4, tb_zero3(), tb_quat_identity());
    stage_push(&s, id[0], tb_zero3(), tb_vec3(0, -6, 0));
    double deepest = 0;
    for (int i = 0; i < 12; i++) {
      stage_run(&s, 1);
      deepest = fmax(deepest, s.report.penetration);
    }
    CHECK(deepest < 8e-3);
    stage_close(&s);
  }
}

// The problem of the coming step starts from the last step's impulses, those of torsion and rolling included.
TEST(the_coming_problem_starts_from_all_impulses_of_a_contact)
{
  Stage s = stage_open_with(
      tb_vec3(0, 0, -9.81),
      (tbFriction){.kind = TB_FRICTION_ISOTROPIC, .mu = 0.5, .torsion = 0.05, .rolling = 0.02}, 0);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60;
  stage_floor(&s, 0, 0);
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.5), 1, tb_vec3(0, 0, 0.5), tb_quat_identity());
  stage_push(&s, ball, tb_vec3(1, 0, 0), tb_vec3(0, 2, 3));
  stage_run(&s, 10);
  const tbContactRecord* r = s.world->contact.data;
  tbProblem* p = NULL;
  double* lambda = NULL;
  CHECK_OK(&s.ctx, tb_world_problem(&s.ctx, s.world, &s.step, &p, &lambda));
  REQUIRE(s.world->contact.count == 1 && p->nrow == 6 && r->rows == 6);
  for (int k = 0; k < 6; k++) CHECK_NEAR(lambda[k], r->impulse[k], 1e-4 * r->impulse[0]);
  CHECK(fabs(r->impulse[3]) > 1e-3 && hypot(r->impulse[4], r->impulse[5]) > 1e-3);
  tb_guess_free(&s.ctx, lambda);
  tb_problem_free(p);
  stage_close(&s);
}
