// SPDX-License-Identifier: Apache-2.0
// The exact end of a step of soft-step: the certificate is met, momentum balances, and too small a budget
// loses nothing.
#include "known/worlds.h"
#include "scene/world.h"
#include "tribo/bulk.h"
#include "test.h"

static Stage open_polished(void)
{
  Stage s = stage_open(0.5, 0.3);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60, s.step.polish = true, s.step.certify = 1;
  return s;
}

static tbBodyId cube(Stage* s, double mass, tbVec3 x, double turn)
{
  return stage_add(s, tb_shape_box(tb_vec3(1, 1, 1)), mass, x, tb_quat_exp(tb_vec3(0, 0, turn)));
}

// Six boxes, the topmost so many times as heavy, that land on each other.
static tbBodyId tower(Stage* s, double ratio)
{
  tbBodyId top = {0, 0};
  stage_floor(s, 0, 0);
  for (int i = 0; i < 6; i++)
    top = cube(s, i < 5 ? 10 : 10 * ratio, tb_vec3(0, 0, 1.002 * i + 0.501), 0.1 * i);
  return top;
}

TEST(a_polished_step_is_certified_while_boxes_land)
{
  for (int ratio = 1; ratio <= 100; ratio *= 10) {
    Stage s = open_polished();
    tbBodyId top = tower(&s, ratio);
    for (int i = 0; i < 60; i++) {
      stage_run(&s, 1);
      CHECK(s.report.outcome == TB_CONVERGED);
      CHECK(s.report.residual.velocity <= s.step.solver.velocity_tolerance);
    }
    CHECK_NEAR(stage_state(&s, top).position.z, 5.5, 0.02);
    stage_close(&s);
  }
}

// The change of a body's momentum is what gravity and its contacts' impulses make of it.
TEST(polished_impulses_balance_momentum)
{
  Stage s = open_polished();
  enum { TOP = 6, BODIES = 7 };
  tbBodyId top = tower(&s, 7);
  double worst = 0, impulse[BODIES][3];
  CHECK(tb_world_body_count(s.world) == BODIES);
  for (int i = 0; i < 40; i++) {
    tbVec3 before = stage_state(&s, top).velocity;
    stage_run(&s, 1);
    tb_world_get_contact_sums(s.world, impulse[0], NULL, NULL);
    tbVec3 gained = tb_scale3(70, tb_sub3(stage_state(&s, top).velocity, before));
    tbVec3 given = tb_add3(tb_load3(impulse[TOP]), tb_vec3(0, 0, -70 * 9.81 * s.step.dt));
    worst = fmax(worst, tb_distance3(gained, given));
  }
  CHECK(worst < 1e-13 * 70 * 9.81);
  stage_close(&s);
}

// A chain that hangs in the air and drags a box that twists over the floor: joints, limits and torsion are
// part of the answer.
TEST(a_polished_step_certifies_joints_and_torsion)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -9.81),
                            (tbFriction){.kind = TB_FRICTION_ISOTROPIC, .mu = 0.4, .torsion = 0.05}, 0);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60, s.step.polish = true, s.step.certify = 1;
  stage_floor(&s, 0, 0);
  tbBodyId box = cube(&s, 20, tb_vec3(0, 0, 0.5), 0), last = box;
  stage_push(&s, box, tb_vec3(1, 0.5, 0), tb_vec3(0, 0, 3));
  for (int i = 0; i < 3; i++) {
    tbBodyId link = stage_add(&s, tb_shape_box(tb_vec3(0.5, 0.1, 0.1)), 1, tb_vec3(0.75 + 0.5 * i, 0, 1.2),
                              tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_BALL);
    def.a = last, def.b = link, def.anchor = tb_vec3(0.5 + 0.5 * i, 0, 1.2);
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
    last = link;
  }
  for (int i = 0; i < 60; i++) {
    stage_run(&s, 1);
    CHECK(s.report.outcome == TB_CONVERGED && s.report.residual.velocity <= s.step.solver.velocity_tolerance);
  }
  stage_close(&s);
}

// Links that the substeps cannot hold are held by the velocities of the polish.
TEST(a_long_chain_stays_together_when_it_is_polished)
{
  Stage s = open_polished();
  enum { LINKS = 20 };
  tbBodyId link[LINKS];
  for (int i = 0; i < LINKS; i++) {
    link[i] = stage_add(&s, tb_shape_box(tb_vec3(0.5, 0.1, 0.1)), 1, tb_vec3(0.5 * i + 0.25, 0, 0),
                        tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_BALL);
    def.b = link[i], def.anchor = tb_vec3(0.5 * i, 0, 0);
    if (i > 0) def.a = link[i - 1];
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
  }
  double apart = 0;
  for (int i = 0; i < 120; i++) {
    stage_run(&s, 1);
    for (int k = 1; k < LINKS; k++) {
      tbBodyState a = stage_state(&s, link[k - 1]), b = stage_state(&s, link[k]);
      tbVec3 end = tb_add3(a.position, tb_quat_rotate(a.orientation, tb_vec3(0.25, 0, 0)));
      tbVec3 begin = tb_add3(b.position, tb_quat_rotate(b.orientation, tb_vec3(-0.25, 0, 0)));
      apart = fmax(apart, tb_distance3(begin, end));
    }
  }
  CHECK(apart < 0.15);
  stage_close(&s);
}

// With no time, or one iteration, for the solver, a step from the same state is no worse than without it.
TEST(a_polish_without_a_budget_loses_nothing)
{
  double residual[3];
  for (int k = 0; k < 3; k++) {
    Stage s = open_polished();
    s.step.polish = false;
    tower(&s, 10);
    stage_run(&s, 2);
    s.step.polish = k > 0;
    if (k == 1) s.step.solver.max_iterations = 1;
    if (k == 2) s.step.solver.time_budget_s = 1e-9;
    stage_run(&s, 1);
    residual[k] = s.report.residual.velocity;
    stage_close(&s);
  }
  CHECK(residual[1] <= 1.0001 * residual[0] && residual[2] <= 1.0001 * residual[0]);
}

TEST(polished_steps_have_the_same_bits_for_any_number_of_threads)
{
  uint64_t hash[2];
  for (int t = 0; t < 2; t++) {
    Stage s = open_polished();
    CHECK_OK(&s.ctx, tb_threads_create(&s.ctx, 1 + 3 * t, &s.ctx.threads));
    tower(&s, 10);
    stage_run(&s, 20);
    hash[t] = tb_world_hash(s.world);
    tb_threads_destroy(&s.ctx, s.ctx.threads);
    s.ctx.threads = NULL;
    stage_close(&s);
  }
  CHECK(hash[0] == hash[1]);
}

TEST(a_polished_step_survives_every_failed_allocation)
{
  tbFailingAllocator state = {.countdown = -1};
  Stage s = open_polished();
  tower(&s, 10);
  stage_run(&s, 3);
  tbContext failing = test_failing_context(&state);
  s.world->cache->pool.off = true;
  uint64_t before = tb_world_hash(s.world);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 100000; k += k < 60 ? 1 : k / 12) {
    state.countdown = k, state.for_good = k % 2;
    status = tb_world_step(&failing, s.world, &s.step, NULL);
    state.countdown = -1;
    if (status != TB_OK) CHECK(status == TB_ERROR_MEMORY && tb_world_hash(s.world) == before);
  }
  CHECK(status == TB_OK);
  stage_close(&s);
}
