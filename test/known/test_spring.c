// SPDX-License-Identifier: Apache-2.0
// A mass on a spring with dry friction: every turning point is 2μmg/k nearer than the one before, until the
// spring can no longer overcome friction.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

LONG_TEST(coulomb_oscillator_loses_two_mu_m_g_over_k_per_half_period)
{
  for (int n = 0; n < EXACT_SOLVERS; n += test_quick() ? 4 : 1)
    for (int i = 0; i < 3; i++) {
      double m = i == 1 ? 50 : 1, k = m * (i == 2 ? 400 : 100), mu = 0.1 + 0.05 * i,
             loss = 2 * mu * m * g / k;
      double amplitude = 5.3 * loss / 2 + 2 * loss, L = 2, heading = i,
             half = PI * sqrt(m / k); // ends inside the dead band
      tbVec3 way = tb_vec3(cos(heading), sin(heading), 0);
      Stage s = stage_open(mu, 0);
      s.step.solver.solver = exact_solvers[n];
      s.step.dt = 0.001;
      stage_floor(&s, 0, 0);
      tbVec3 start = tb_madd3(tb_vec3(0, 0, 0.1), amplitude, way),
             hook = tb_madd3(tb_vec3(0, 0, 0.1), -L, way);
      tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.6, 0.5, 0.2)), m, start, tb_quat_identity());
      tbJointDef joint = tb_default_joint_def(TB_JOINT_DISTANCE);
      joint.a.index = -1, joint.b = box, joint.anchor = hook, joint.anchor_b = &start;
      joint.limited = true, joint.lower = joint.upper = L, joint.compliance = 1 / k;
      CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &joint, NULL));
      double expected = amplitude, worst = 0;
      int turns = 0;
      while (fabs(expected) > loss / 2) {
        expected = copysign(loss, expected) - expected;
        stage_run(&s, (int)(++turns * half / s.step.dt) - (int)tb_world_step_count(s.world));
        worst = fmax(worst, fabs(tb_dot3(stage_state(&s, box).position, way) - expected));
      }
      stage_run_for(&s, 2 * half);
      double rest = tb_dot3(stage_state(&s, box).position, way), v = tb_norm3(stage_state(&s, box).velocity);
      if (!(worst < 0.02 * loss) || !(fabs(rest) <= loss / 2) || !(v < 1e-6) ||
          !(fabs(rest - expected) < 0.02 * loss))
        test_failed(__FILE__, __LINE__, "%s m %g: %d turns off by %g of %g, rests at %g, expected %g, %g m/s",
                    exact_solvers[n], m, turns, worst, loss, rest, expected, v);
      stage_close(&s);
    }
}
