// Compliant joints: what they give under a load, and how they swing.
#include "known/worlds.h"

#include "test.h"

static tbVec3 end_at; // of the spring, as tbJointDef wants an address

// A ball on a spring of natural length 1 from the origin down, stretched by `pull`.
static Stage spring(double compliance, double damping, double pull, double gravity, tbBodyId* ball)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -gravity), tb_friction(0), 0);
  end_at = tb_vec3(0, 0, -1);
  *ball = stage_add(&s, tb_shape_sphere(0.1), 2, end_at, tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
  def.b = *ball, def.anchor_b = &end_at, def.compliance = compliance, def.damping = damping;
  CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
  tbBodyState state = stage_state(&s, *ball);
  state.position.z -= pull;
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, *ball, &state));
  return s;
}

static double stretch_of(const Stage* s, tbBodyId ball) { return -1 - stage_state(s, ball).position.z; }

TEST(spring_gives_by_load_times_compliance)
{
  static const double compliance[] = {1e-2, 1e-3, 1e-5, 1e-8};
  for (int i = 0; i < 4; i++) {
    tbBodyId ball;
    Stage s = spring(compliance[i], 2 * sqrt(2 / compliance[i]), 0, 9.81, &ball);
    stage_run_for(&s, 4);
    double give = 2 * 9.81 * compliance[i];
    CHECK_NEAR(stretch_of(&s, ball) / give, 1, 1e-3);
    CHECK_NEAR(stage_state(&s, ball).velocity.z, 0, 1e-4 * give + 1e-8);
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
}

TEST(soft_spring_keeps_its_amplitude_and_its_time)
{
  tbBodyId ball;
  double k = 50, m = 2, pull = 0.2, omega = sqrt(k / m);
  Stage s = spring(1 / k, 0, pull, 0, &ball);
  double most = 0, start = stage_energy(&s), worst = 0, before = pull, last = 0, first = 0;
  int passes = 0;
  for (int i = 0; i < 10000; i++) {
    stage_run(&s, 1);
    double x = stretch_of(&s, ball);
    if (i >= 9000) most = fmax(most, fabs(x));
    worst = fmax(worst, fabs(stage_energy(&s) - start));
    if (before < 0 && x >= 0) {
      last = tb_world_time(s.world) - s.step.dt * x / (x - before);
      if (passes++ == 0) first = last;
    }
    before = x;
  }
  CHECK_NEAR(most / pull, 1, 0.03); // a hundred seconds on
  CHECK(worst < 0.06 * start);
  CHECK_NEAR((last - first) / (passes - 1) * omega / (2 * PI), 1, 2e-3);
  stage_close(&s);
}

TEST(damped_spring_dies_away_at_its_rate)
{
  tbBodyId ball;
  double k = 200, m = 2, b = 1, pull = 0.2, t = 4;
  Stage s = spring(1 / k, b, pull, 0, &ball);
  s.step.dt = 0.002;
  stage_run_for(&s, t);
  tbEnergy e = tb_world_energy(s.world);
  double expected = 0.5 * k * pull * pull * exp(-b / m * t);
  CHECK_NEAR((e.kinetic + e.elastic) / expected, 1, 0.05);
  stage_close(&s);
}

TEST(stiff_spring_stays_put)
{
  static const double compliance[] = {1e-6, 1e-9, 1e-12};
  for (int i = 0; i < 3; i++) {
    tbBodyId ball;
    Stage s = spring(compliance[i], 0, 1e-3, 9.81, &ball);
    double start = stage_energy(&s);
    for (int k = 0; k < 300; k++) {
      stage_run(&s, 1);
      CHECK(stage_energy(&s) <= start + 1e-9);
    }
    CHECK_NEAR(stretch_of(&s, ball), 2 * 9.81 * compliance[i], 1e-7);
    stage_close(&s);
  }
}

TEST(soft_rope_hangs_as_a_spring_does_and_is_slack_below_its_length)
{
  static const double compliance[] = {1e-3, 1e-5, 1e-7};
  for (int i = 0; i < 3; i++) {
    Stage s = stage_open(0, 0);
    tbVec3 at = tb_vec3(0, 0, -0.5);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 2, at, tb_quat_identity());
    tbJointDef def = tb_default_joint_def(TB_JOINT_DISTANCE);
    def.b = ball, def.anchor_b = &at, def.limited = true, def.upper = 1;
    def.compliance = compliance[i], def.damping = sqrt(2 / compliance[i]);
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
    stage_run_for(&s, 0.2);
    double t = 0.2;
    CHECK_NEAR(stage_state(&s, ball).position.z, -0.5 - 0.5 * 9.81 * t * (t + s.step.dt), 1e-9);
    stage_run_for(&s, 4);
    CHECK_NEAR(stage_state(&s, ball).position.z, -1 - 2 * 9.81 * compliance[i],
               0.01 * 2 * 9.81 * compliance[i]);
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
}

TEST(compliant_weld_bends_by_its_compliance)
{
  Stage s = stage_open(0, 0);
  double c = 1e-4, m = 1, arm = 0.5;
  tbBodyId beam =
      stage_add(&s, tb_shape_box(tb_vec3(1, 0.1, 0.1)), m, tb_vec3(arm, 0, 0), tb_quat_identity());
  tbJointDef def = tb_default_joint_def(TB_JOINT_WELD);
  def.b = beam, def.compliance = c, def.damping = 50;
  CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
  stage_run_for(&s, 5);
  double turn = m * 9.81 * arm * c;
  CHECK_NEAR(2 * stage_state(&s, beam).orientation.y, turn, 0.01 * turn);
  CHECK_NEAR(stage_state(&s, beam).position.z, -m * 9.81 * c - arm * turn, 0.01 * arm * turn);
  stage_close(&s);
}
