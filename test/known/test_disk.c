// SPDX-License-Identifier: Apache-2.0
// A disk that slides and spins on its rim (Farkas, Bartels, Unger and Wolf, "Frictional coupling between
// sliding and spinning motion", 2003).
//
// With ε = v/(Rω), and pressure spread evenly over the rim, friction is μmg F(ε) and its torque μmgR T(ε),
//
//   F = ⟨(ε − sin φ)/w⟩,   T = ⟨(1 − ε sin φ)/w⟩,   w² = 1 + ε² − 2ε sin φ.
//
// Since F(1) = T(1), a hoop (I = mR²) tends to ε = 1 from either side and comes to rest sliding and spinning
// alike. Friction is spread over both motions: a disk slides farther while it spins. How the rim's points
// share the weight is not determined; ε = 1 attracts whatever they do.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

typedef struct {
  double slide_stops, spin_stops; // s
  double ratio;                   // v/(Rω) when 5 % of the energy is left
  double distance;
} Ride;

static Ride ride(const char* solver, double share, double R, double mu, double v, double w, double heading)
{
  Stage s = stage_open(mu, 0);
  s.step.solver.solver = solver;
  s.step.dt = 0.002;
  stage_floor(&s, 0, 0);
  tbShape shape = tb_shape_cylinder(R, 0.01 * R);
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.mass = 1, def.position = tb_vec3(0, 0, 0.005 * R);
  def.velocity = tb_vec3(v * cos(heading), v * sin(heading), 0), def.angular_velocity = tb_vec3(0, 0, w);
  def.inertia[0] = def.inertia[1] = 0.5 * share * R * R, def.inertia[2] = share * R * R;
  tbBodyId disk = {-1, 0};
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &def, &disk));
  Ride r = {0};
  double start = tb_world_energy(s.world).kinetic;
  for (int k = 0; k < 5000 && (r.slide_stops == 0 || r.spin_stops == 0); k++) {
    stage_run(&s, 1);
    tbBodyState now = stage_state(&s, disk);
    double speed = tb_norm3(now.velocity), spin = fabs(now.angular_velocity.z);
    if (tb_world_energy(s.world).kinetic > 0.05 * start) r.ratio = speed / (R * spin);
    if (r.slide_stops == 0 && speed < 1e-3 * v) r.slide_stops = tb_world_time(s.world);
    if (r.spin_stops == 0 && spin < 1e-3 * w) r.spin_stops = tb_world_time(s.world);
    r.distance = tb_norm3(now.position);
  }
  stage_close(&s);
  return r;
}

LONG_TEST(hoop_comes_to_rest_sliding_and_spinning_alike)
{
  static const double ratios[] = {0.3, 0.8, 2.5};
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 3; i++) {
      double R = i == 1 ? 0.02 : 0.3, mu = 0.2 + 0.2 * i, v = 2 * sqrt(R), w = v / (R * ratios[i]);
      Ride r = ride(exact_solvers[k], 1, R, mu, v, w, 0.4 + i);
      double alone = v * v / (2 * mu * g);
      if (!(fabs(r.slide_stops - r.spin_stops) < 0.0065) || !(fabs(r.ratio - 1) < fabs(ratios[i] - 1)) ||
          !(r.distance > alone))
        test_failed(__FILE__, __LINE__,
                    "%s from %g: slides for %g s, spins for %g s, ratio %g, %g m (%g without spin)",
                    exact_solvers[k], ratios[i], r.slide_stops, r.spin_stops, r.ratio, r.distance, alone);
    }
}

TEST(disk_stops_sliding_and_spinning_at_once)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 3; i++) {
      double R = 0.1, mu = 0.3, v = 0.6, w = v / R * (0.5 + i);
      Ride r = ride(exact_solvers[k], 0.5, R, mu, v, w, i);
      if (!(fabs(r.slide_stops - r.spin_stops) < 0.0065))
        test_failed(__FILE__, __LINE__, "%s: slides for %g s, spins for %g s", exact_solvers[k],
                    r.slide_stops, r.spin_stops);
    }
}
