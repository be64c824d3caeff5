// SPDX-License-Identifier: Apache-2.0
// Surfaces that start closer than the clearance part at a speed that the step does not decide.
#include "step/soft_stage.h"

// A cube of 1 kg on a floor or a block: the energy that comes from nowhere within ten steps.
static double energy_gained(double dt, double gap, bool plane)
{
  Stage s = soft_stage(0.5, dt);
  if (plane) stage_floor(&s, 0, 0);
  else stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 0.1)), tb_vec3(0, 0, -0.05), tb_quat_identity());
  add_box(&s, tb_vec3(0.1, 0.1, 0.1), 2, soft_at(1e5, tb_vec3(0, 0, 0.05 + gap), tb_zero3()));
  s.step.clearance = 2e-4;
  double before = stage_energy(&s), most = 0;
  for (int i = 0; i < 10; i++) {
    stage_run(&s, 1);
    most = fmax(most, stage_energy(&s) - before);
    CHECK(s.report.intersections == 0 && s.report.trimmed == 0);
  }
  CHECK(s.unconverged == 0);
  stage_close(&s);
  return most;
}

// Lifting it by the clearance takes 2e-3 J, moving at a fiftieth of a metre per second 2e-4 J.
LONG_TEST(closer_than_the_clearance_is_no_spring)
{
  static const double gaps[] = {0, 1e-6, 1e-4}, dts[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 5; i++)
      for (int plane = 0; plane < 2; plane++) {
        double gained = energy_gained(dts[i], gaps[k], plane);
        if (!(gained <= 2.5e-3))
          test_failed(__FILE__, __LINE__, "dt %g, gap %g, plane %d: %g J from nowhere", dts[i], gaps[k],
                      plane, gained);
      }
}

// Overlap that is deep to begin with is left at a bounded speed, too: 20 edges per second.
TEST(deep_overlap_is_left_slowly)
{
  static const double dts[] = {1e-2, 1e-4, 1e-6};
  for (int i = 0; i < 3; i++) {
    Stage s = soft_stage(0.5, dts[i]);
    stage_floor(&s, 0, 0);
    tbBodyId cube = add_box(&s, tb_vec3(0.1, 0.1, 0.1), 2, soft_at(1e5, tb_vec3(0, 0, 0.02), tb_zero3()));
    double fastest = 0;
    for (int k = 0; k < 10; k++) {
      stage_run(&s, 1);
      for (int n = 0; n < tb_body_node_count(s.world, cube); n++)
        fastest = fmax(fastest, tb_norm3(tb_body_node_velocities(s.world, cube)[n]));
    }
    CHECK(fastest > 0.1 && fastest < 2);
    CHECK_NEAR(s.report.penetration, 0.03, 0.03);
    stage_close(&s);
  }
}
