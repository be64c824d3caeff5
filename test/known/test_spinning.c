// SPDX-License-Identifier: Apache-2.0
// Tops and tumbling bodies: gyroscopic motion against Euler's equations.
#include "known/worlds.h"
#include "test.h"

// A heavy symmetric top on a ball joint at its tip, released in steady precession: Ω solves
//   (I₁ cos θ) Ω² − I₃ ω₃ Ω + m g l = 0,   I₁ about the tip, ω₃ the whole spin along the axis.
TEST(heavy_top_precesses_at_its_steady_rate)
{
  static const double thetas[] = {0.4, 1.0, PI / 2};
  for (int i = 0; i < 3; i++) {
    double m = 2, R = 0.2, l = 0.25, g = 9.81, theta = thetas[i], spin = 150;
    double I3 = 0.5 * m * R * R, I1 = 0.25 * m * R * R + m * l * l, c = I1 * cos(theta);
    double b = I3 * spin, disc = sqrt(b * b - 4 * c * m * g * l),
           rate = 2 * m * g * l / (b + disc); // the slow root
    Stage s = stage_open(0, 0);
    s.step.dt = 0.001;
    tbVec3 axis = tb_vec3(sin(theta), 0, cos(theta)), place = tb_scale3(l, axis);
    tbShape shape = tb_shape_cylinder(R, 0.001);
    tbBodyDef def = tb_default_body_def();
    def.shapes = &shape, def.shape_count = 1, def.mass = m, def.position = place;
    def.inertia[0] = def.inertia[1] = 0.25 * m * R * R, def.inertia[2] = I3;
    def.orientation = tb_quat_exp(tb_vec3(0, theta, 0));
    tbVec3 precession = tb_vec3(0, 0, rate), w = tb_madd3(precession, spin - rate * cos(theta), axis);
    def.angular_velocity = w, def.velocity = tb_cross3(w, place);
    tbBodyId top = {-1, 0};
    CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &top));
    tbJointDef joint = tb_default_joint_def(TB_JOINT_BALL);
    joint.a.index = -1, joint.b = top, joint.anchor = tb_zero3();
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &joint, NULL));
    double quarter = PI / 2 / rate;
    stage_run_for(&s, quarter);
    tbVec3 x = stage_state(&s, top).position;
    double turned = atan2(x.y, x.x) / (rate * s.step.dt * (double)tb_world_step_count(s.world)),
           leans = acos(x.z / tb_norm3(x));
    if (!(fabs(turned - 1) < 0.01) || !(fabs(leans - theta) < 0.01) || !(fabs(tb_norm3(x) - l) < 1e-4))
      test_failed(__FILE__, __LINE__, "theta %g: turned %g of what it should, leans by %g", theta, turned,
                  leans);
    stage_close(&s);
  }
}

static double elliptic_K(double k2) // by the arithmetic-geometric mean
{
  double a = 1, b = sqrt(1 - k2);
  for (int i = 0; i < 20; i++) {
    double m = 0.5 * (a + b);
    b = sqrt(a * b), a = m;
  }
  return PI / (2 * a);
}

// A body spun about its middle axis turns over with the period 4 K(k)/p of Euler's equations, I₁ < I₂ < I₃:
//   p² = (I₃−I₂)(L²−2TI₁)/(I₁I₂I₃),  k² = (I₂−I₁)(2TI₃−L²)/((I₃−I₂)(L²−2TI₁))   for L² > 2TI₂, else with 1
//   and 3 swapped.
TEST(tumbling_body_turns_over_in_its_period)
{
  static const double dts[] = {0.01, 0.002};
  for (int i = 0; i < 4; i++) {
    double I[3] = {1, 2 + 0.2 * i, 3.5}, w[3] = {i % 2 ? 1e-3 : 0.02, 4, i % 2 ? 0.02 : 1e-3};
    Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
    s.step.dt = dts[i / 2];
    tbShape shape = tb_shape_sphere(1);
    tbBodyDef def = tb_default_body_def();
    def.shapes = &shape, def.shape_count = 1, def.mass = 1;
    for (int k = 0; k < 3; k++) def.inertia[k] = I[k];
    def.angular_velocity = tb_vec3(w[0], w[1], w[2]);
    tbBodyId body = {-1, 0};
    CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &body));
    double T2 = 0, L2 = 0;
    for (int k = 0; k < 3; k++) T2 += I[k] * w[k] * w[k], L2 += I[k] * I[k] * w[k] * w[k];
    double lo = L2 > T2 * I[1] ? I[0] : I[2], hi = L2 > T2 * I[1] ? I[2] : I[0];
    double p = sqrt((hi - I[1]) * (L2 - T2 * lo) / (I[0] * I[1] * I[2]));
    double k2 = (I[1] - lo) * (T2 * hi - L2) / ((hi - I[1]) * (L2 - T2 * lo)),
           period = 4 * elliptic_K(k2) / p;
    double crossing[5], before = w[1];
    int n = 0;
    for (long step = 0; n < 5 && step < 200000; step++) {
      stage_run(&s, 1);
      tbBodyState now = stage_state(&s, body);
      double middle = tb_quat_unrotate(now.orientation, now.angular_velocity).y;
      if (middle * before < 0)
        crossing[n++] = tb_world_time(s.world) - s.step.dt * middle / (middle - before);
      before = middle;
    }
    CHECK(n == 5);
    double measured = (crossing[4] - crossing[0]) / 2;
    if (!(fabs(measured / period - 1) < 5e-3 * (s.step.dt / 0.01)))
      test_failed(__FILE__, __LINE__, "dt %g: turns over in %.9g s, expected %.9g", s.step.dt, measured,
                  period);
    stage_close(&s);
  }
}

// Rods a hundred and three hundred times as long as they are thick, thrown at half a radian and at two
// radians a step: energy and angular momentum stay to rounding. (With the leading term alone of the
// derivative, Newton's method diverged, and the spin along the rod grew twenty times.)
TEST(thin_rods_tumble_and_neither_gain_nor_lose_energy)
{
  for (int i = 0; i < 4; i++) {
    double thin = i % 2 ? 0.002 : 0.006, length = 0.6, speed = i / 2 ? 200 : 50;
    Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
    tbBodyId rod = stage_add(&s, tb_shape_box(tb_vec3(thin, thin, length)), 0.1, tb_zero3(),
                             tb_quat_exp(tb_vec3(0.7, -1.1, 0.4)));
    stage_push(&s, rod, tb_zero3(), tb_scale3(speed, tb_vec3(-0.035, -0.17, 0.98)));
    double before = tb_world_energy(s.world).kinetic;
    tbVec3 L = tb_world_angular_momentum(s.world);
    stage_run(&s, 200);
    double gained = tb_world_energy(s.world).kinetic / before - 1;
    double turned = tb_distance3(tb_world_angular_momentum(s.world), L) / tb_norm3(L);
    if (!(fabs(gained) < 1e-9) || !(turned < 1e-10))
      test_failed(__FILE__, __LINE__,
                  "%g m thick at %g rad/s: energy changed by %.1e of it, momentum by %.1e", thin, speed,
                  gained, turned);
    stage_close(&s);
  }
}
