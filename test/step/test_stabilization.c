// How overlaps go away, and what that does to everything else.
#include "known/worlds.h"

#include "test.h"

static const double g = 9.81;

static Stage sunk_box(tbStabilization kind, double depth, tbBodyId* box)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = kind;
  stage_floor(&s, 0, 0);
  *box = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 4, tb_vec3(0, 0, 0.5 - depth), tb_quat_identity());
  return s;
}

static double depth_of(const Stage* s, tbBodyId box) { return 0.5 - stage_state(s, box).position.z; }

TEST(baumgarte_takes_its_fraction_each_step)
{
  tbBodyId box;
  Stage s = sunk_box(TB_STABILIZE_BAUMGARTE, 0.01, &box);
  s.step.fraction = 0.3, s.step.slop = 0.002;
  double depth = 0.01;
  for (int i = 0; i < 10; i++) {
    stage_run(&s, 1);
    depth -= 0.3 * (depth - 0.002);
    CHECK_NEAR(depth_of(&s, box), depth, 1e-7);
  }
  stage_run(&s, 100);
  CHECK_NEAR(depth_of(&s, box), 0.002, 2e-6);
  stage_close(&s);
}

TEST(no_stabilization_leaves_an_overlap_as_it_is)
{
  tbBodyId box;
  Stage s = sunk_box(TB_STABILIZE_NONE, 0.01, &box);
  stage_run(&s, 200);
  CHECK_NEAR(depth_of(&s, box), 0.01, 1e-6);
  CHECK_NEAR(tb_norm3(stage_state(&s, box).velocity), 0, 1e-7);
  stage_close(&s);
}

TEST(springs_under_a_box_share_its_weight)
{
  for (int i = 0; i < 3; i++) {
    tbBodyId box;
    Stage s = sunk_box(TB_STABILIZE_COMPLIANCE, 0, &box);
    s.step.stiffness = (double[]){1e3, 1e4, 1e5}[i];
    s.step.damping = sqrt(s.step.stiffness);
    stage_run_for(&s, 6);
    CHECK_NEAR(depth_of(&s, box) / (4 * g / (4 * s.step.stiffness)), 1, 1e-3);
    CHECK(s.unconverged == 0);
    stage_close(&s);
  }
}

TEST(projection_parts_bodies_and_touches_no_velocity)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  tbBodyId ball[4];
  for (int i = 0; i < 4; i++)
    ball[i] = stage_add(&s, tb_shape_sphere(0.5), 1 + i, tb_vec3(0.9 * i, 0.01 * i, 0), tb_quat_identity());
  tbVec3 drift = tb_vec3(30, 0, 0); // fast, and all together: no impacts
  for (int i = 0; i < 4; i++) stage_push(&s, ball[i], drift, tb_zero3());
  stage_run(&s, 1);
  for (int i = 1; i < 4; i++) {
    tbVec3 d = tb_sub3(stage_state(&s, ball[i]).position, stage_state(&s, ball[i - 1]).position);
    CHECK(tb_norm3(d) > 1 - 1e-7);
  }
  for (int i = 0; i < 4; i++) CHECK_NEAR(tb_distance3(stage_state(&s, ball[i]).velocity, drift), 0, 1e-9);
  stage_close(&s);
}

// Dropped into each other, pushed apart: no step may leave more energy than it found but what lifting costs.
TEST(projection_gains_no_energy_and_leaves_no_overlap)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  stage_floor(&s, 0, 0);
  tbBodyId box[3];
  for (int i = 0; i < 3; i++)
    box[i] = stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_vec3(0.1 * i, 0, 0.45 + 0.97 * i),
                       tb_quat_identity());
  double most = 0;
  for (int i = 0; i < 100; i++) {
    stage_run(&s, 1);
    most = fmax(most, tb_world_energy(s.world).kinetic);
  }
  CHECK(most < 1e-3); // nothing flew apart
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(stage_state(&s, box[i]).position.z, 0.5 + i, 1e-6);
    CHECK_NEAR(tb_norm3(stage_state(&s, box[i]).velocity), 0, 1e-6);
  }
  stage_close(&s);
}

TEST(projection_mends_joints)
{
  Stage s = stage_open(0.5, 0);
  s.step.stabilization = TB_STABILIZE_PROJECTION;
  int before = -1;
  for (int i = 0; i < 5; i++) {
    tbBodyId b = stage_add(&s, tb_shape_capsule(0.05, 0.4), 1, tb_vec3(0.25 + 0.5 * i, 0, 0),
                           tb_quat_exp(tb_vec3(0, PI / 2, 0)));
    tbJointDef def = tb_default_joint_def(i % 2 ? TB_JOINT_BALL : TB_JOINT_HINGE);
    def.a.index = before, def.b = b, def.anchor = tb_vec3(0.5 * i, 0, 0), def.axis = tb_vec3(0, 1, 0);
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, NULL));
    before = b.index;
  }
  double start = stage_energy(&s), torn = 0;
  for (int i = 0; i < 200; i++) {
    stage_run(&s, 1);
    for (int k = 1; k < 5; k++) {
      tbBodyState a = stage_state(&s, (tbBodyId){k - 1}), b = stage_state(&s, (tbBodyId){k});
      tbVec3 end = tb_add3(a.position, tb_quat_rotate(a.orientation, tb_vec3(0, 0, 0.25)));
      tbVec3 top = tb_add3(b.position, tb_quat_rotate(b.orientation, tb_vec3(0, 0, -0.25)));
      torn = fmax(torn, tb_distance3(end, top));
    }
    CHECK(stage_energy(&s) < start + 0.05 * 5 * g);
  }
  CHECK(torn < 1e-8);
  stage_close(&s);
}
