// SPDX-License-Identifier: Apache-2.0
// Contacts give way by the springs of their materials, rigid bodies and deformable ones.
#include "step/soft_stage.h"

#include <string.h>

static void give_spring(Stage* s, double stiffness, double damping, double coat)
{
  tbMaterialId usual = tb_world_material_at(s->world, 0);
  CHECK_OK(&s->ctx, tb_world_set_pair_spring(&s->ctx, s->world, usual, usual,
                                             (tbContactSpring){stiffness, damping, coat}));
}

// Four corners share the load; stabilisation has no say.
TEST(boxes_sink_by_the_springs_of_their_materials)
{
  const char* const schemes[] = {"semi-implicit", "moreau", "implicit", "penalty",
                                 "primal",        "vbd",    "avbd",     "xpbd"};
  const tbStabilization kinds[] = {TB_STABILIZE_BAUMGARTE, TB_STABILIZE_PROJECTION, TB_STABILIZE_NONE};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
    for (int kind = 0; kind < (i < 2 ? 3 : 1); kind++) {
      Stage s = stage_open(0.5, 0);
      s.step.scheme = schemes[i], s.step.stabilization = kinds[kind];
      if (i == 3) s.step.dt = 1e-3;
      give_spring(&s, 2e4, 400, 0);
      stage_floor(&s, 0, 0);
      tbBodyId box =
          stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.2)), 3, tb_vec3(0, 0, 0.1), tb_quat_identity());
      stage_run_for(&s, 1.5);
      double sink = 3 * 9.81 / 4 / 2e4, off = fabs(0.1 - stage_state(&s, box).position.z - sink);
      if (!(off < 2e-3 * sink))
        test_failed(__FILE__, __LINE__, "%s, stabilisation %d: sinks %g off %g", schemes[i], kind, off, sink);
      stage_close(&s);
    }
}

// A ball that is dropped on a spring: half a period in contact, and what a damper leaves of its speed.
TEST(springs_and_dampers_of_contacts_act_in_time)
{
  double k = 4e4, m = 2, b = 0.1 * 2 * sqrt(k * m), h = 2e-5; // a tenth of critical
  Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
  s.step.dt = h;
  give_spring(&s, k, b, 0);
  stage_floor(&s, 0, 0);
  tbBodyId ball = stage_throw(&s, tb_shape_sphere(0.1), m, tb_vec3(0, 0, 0.1), tb_vec3(0, 0, -1));
  int steps = 0;
  while (steps < 4000 && stage_state(&s, ball).position.z <= 0.1 - 1e-9 * (steps > 0))
    stage_run(&s, 1), steps++;
  // Pushes until the force −kφ − bφ̇ would pull: tan(ωt) = −2ζ√(1−ζ²)/(1−2ζ²), speed e^(−ζω₀t) at that time.
  double zeta = 0.1, w0 = sqrt(k / m), w = w0 * sqrt(1 - zeta * zeta);
  double t = (PI - atan2(2 * zeta * sqrt(1 - zeta * zeta), 1 - 2 * zeta * zeta)) / w;
  CHECK_NEAR(stage_state(&s, ball).velocity.z, exp(-zeta * w0 * t), 5e-3);
  stage_close(&s);
}

static double height_of(const char* scheme, double stiffness, double coat, double* weight)
{
  Stage s = soft_stage(0.5, 0.01);
  s.step.scheme = scheme;
  if (stiffness > 0) give_spring(&s, stiffness, 0.01 * stiffness, coat);
  stage_floor(&s, 0, 0);
  tbBodyId box = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, soft_at(1e8, tb_vec3(0, 0, 0.102), tb_zero3()));
  *weight = tb_body_mass(s.world, box) * 9.81;
  stage_run(&s, 150);
  double z = stage_state(&s, box).position.z;
  CHECK(s.unconverged == 0 || strcmp(scheme, "implicit") != 0); // others relax the law
  stage_close(&s);
  return z;
}

// Nine vertices share the load. Surfaces never pass through each other: the spring ends at the rigid surface.
TEST(soft_bodies_sink_into_the_coats_of_their_materials)
{
  double weight, k = 5e3, coat = 0.005, stands = height_of("implicit", 0, 0, &weight);
  double sink = weight / 9 / k, one = height_of("implicit", k, coat, &weight),
         two = height_of("implicit", 2 * k, coat, &weight);
  CHECK_NEAR(one, stands + coat - sink, 5e-3 * sink);
  CHECK_NEAR(two, stands + coat - sink / 2, 5e-3 * sink);
  const char* const relaxed[] = {"primal", "vbd", "avbd", "pd"};
  for (int i = 0; i < 4; i++) CHECK_NEAR(height_of(relaxed[i], k, coat, &weight), one, 5e-3 * sink);
  double deep = height_of("implicit", k / 10, coat, &weight); // more than the coat holds
  CHECK_NEAR(deep, stands, 0.02 * coat);
}
