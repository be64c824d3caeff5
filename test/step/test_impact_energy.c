// SPDX-License-Identifier: Apache-2.0
// Impacts in which restitution and friction together would gain energy.
#include "step/joints.h"

typedef struct {
  double gain;      // of energy, as a share
  double slip_miss; // how far friction is from Coulomb's law: μ λ_n against the slip where there is any
  int damped;
} Blow;

// A rod, or a box, strikes a floor with one end, sliding.
static Blow strike(int seed, double mu, double e)
{
  tbRandom r = test_random((uint64_t)seed);
  Stage s = stage_open_with(tb_zero3(), tb_friction(mu), e);
  s.step.stabilization = TB_STABILIZE_NONE, s.step.dt = 0.01;
  s.step.solver.tolerance = 1e-12;
  stage_floor(&s, 0, 0);
  tbVec3 half = tb_vec3(0.5, 0.02 + 0.2 * (seed % 2), 0.02);
  tbQuat q = tb_quat_exp(tb_vec3(0, test_uniform(&r, 0.3, 1.3), 0));
  double low = 0; // of the eight corners
  for (int k = 0; k < 8; k++) {
    tbVec3 c = tb_vec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
    low = fmin(low, tb_quat_rotate(q, c).z);
  }
  tbBodyId rod = stage_add(&s, tb_shape_box(tb_scale3(2, half)), 1, tb_vec3(0, 0, 1e-3 - low), q);
  stage_push(&s, rod, tb_vec3(test_uniform(&r, -3, 3), test_uniform(&r, -0.5, 0.5), -2),
             tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -3, 3), test_uniform(&r, -1, 1)));
  double before = stage_energy(&s);
  stage_run(&s, 1);
  Blow blow = {.gain = stage_energy(&s) / before - 1, .damped = s.report.changes.damped};
  CHECK(s.report.outcome == TB_CONVERGED);
  CHECK((blow.damped > 0) == (s.report.changes.damping > 0) && s.report.changes.damping <= 1);
  for (int i = 0; i < tb_world_contact_count(s.world); i++) {
    tbContactView c = tb_world_contact(s.world, i);
    double slip = hypot(c.velocity[1], c.velocity[2]), most = mu * c.impulse[0];
    if (!(c.impulse[0] > 1e-6) || !(slip > 1e-3)) continue;
    double off =
        hypot(c.impulse[1] + most * c.velocity[1] / slip, c.impulse[2] + most * c.velocity[2] / slip);
    blow.slip_miss = fmax(blow.slip_miss, off / most);
  }
  stage_close(&s);
  return blow;
}

// What is published of a damped impact is a solution of the contact law at a lower restitution: friction
// opposes the slip and is as strong as it may be, and hardly more energy is lost than need be.
TEST(damped_impacts_gain_nothing_and_obey_coulombs_law)
{
  int damped = 0;
  for (int seed = 1; seed <= 150; seed++) {
    Blow blow = strike(seed, 0.2 + 0.2 * (seed % 5), 0.8 + 0.2 * (seed % 2));
    damped += blow.damped > 0;
    if (!(blow.gain < 1e-9) || !(blow.slip_miss < 1e-5))
      test_failed(__FILE__, __LINE__, "seed %d: energy gained %g, friction off by %g, %d damped", seed,
                  blow.gain, blow.slip_miss, blow.damped);
    if (blow.damped && !(blow.gain > -0.02))
      test_failed(__FILE__, __LINE__, "seed %d: %g of the energy taken", seed, -blow.gain);
  }
  CHECK(damped >= 5);
}
