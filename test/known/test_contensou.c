// SPDX-License-Identifier: Apache-2.0
// A ball that slides along a floor and spins about the normal: sliding friction f and torsion τ share the
// ellipsoid (f/μ)² + (τ/μ_τ)² = N² as Contensou's law says,
//
//   f = N μ² u/s      τ = N μ_τ² ω/s      s² = (μ u)² + (μ_τ ω)²
//
// so that spin makes a ball slide farther. Integrated here with steps a hundred times finer. m v' = −f; the
// point that touches, which f turns backwards, loses u' = −f (1/m + r²/I).
#include "known/worlds.h"
#include "test.h"
#include "base/random.h"
#include "tribo/change.h"

#include <math.h>

static const double g = 9.81;

TEST(sliding_and_spinning_share_contensous_ellipsoid_under_every_scheme)
{
  static const char* const schemes[] = {"semi-implicit", "moreau", "implicit", "soft-step", "pd",
                                        "primal",        "xpbd",   "vbd",      "avbd",      "penalty"};
  enum { SCHEMES = sizeof schemes / sizeof *schemes, STEPS = 100 };
  uint64_t seed = 7;
  for (int i = 0; i < 2 * SCHEMES; i++) {
    double mu = tb_random_uniform(&seed, 0.1, 0.5), torsion = tb_random_uniform(&seed, 0.005, 0.03),
           m = tb_random_uniform(&seed, 0.5, 4), r = 0.1, I = 0.4 * m * r * r,
           spin = tb_random_uniform(&seed, 10, 30), v = tb_random_uniform(&seed, 1, 3),
           heading = tb_random_uniform(&seed, -3, 3), h = 1e-3;
    // every second one an ellipse, along whose first axis it slides
    tbFriction f = {.kind = TB_FRICTION_CONTENSOU, .mu = mu, .torsion = torsion};
    if (i / SCHEMES)
      f = (tbFriction){.kind = TB_FRICTION_ELLIPTIC, .mu_t = mu, .mu_b = 0.7 * mu, .torsion = torsion};
    tbFriction own = tb_friction(mu); // the ball's
    f.direction = tb_vec3(cos(heading), sin(heading), 0);
    Stage s = stage_open(mu, 0);
    s.step.scheme = schemes[i % SCHEMES], s.step.dt = h;
    tbBodyId floor =
        stage_fixed(&s, tb_shape_box(tb_vec3(40, 40, 1)), tb_vec3(0, 0, -0.5), tb_quat_identity());
    tbBodyId ball = stage_add(&s, tb_shape_sphere(r), m, tb_vec3(0, 0, r), tb_quat_identity());
    CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, floor, &f));
    CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, s.world, ball, &own));
    stage_push(&s, ball, tb_scale3(v, f.direction), tb_vec3(0, 0, spin));
    stage_run(&s, STEPS);
    double u = v, w = spin, now = v, fine = h / 100;
    for (int k = 0; k < 100 * STEPS; k++) {
      double size = hypot(mu * u, torsion * w), push = m * g * mu * mu * u / size;
      w -= fine * m * g * torsion * torsion * w / (size * I);
      now -= fine * push / m, u = fmax(u - fine * push * (1 / m + r * r / I), 0);
    }
    tbBodyState at = stage_state(&s, ball);
    double slower = (v - tb_dot3(at.velocity, f.direction)) / (v - now) - 1,
           spun = (spin - at.angular_velocity.z) / (spin - w) - 1;
    if (!(fabs(slower) < 0.01 && fabs(spun) < 0.01))
      test_failed(__FILE__, __LINE__, "%s, case %d: off by %.4f of the speed lost, %.4f of the spin",
                  schemes[i % SCHEMES], i, slower, spun);
    stage_close(&s);
  }
}
