// SPDX-License-Identifier: Apache-2.0
// Collisions in free space: what Newton's law of impact and the conservation laws say of them.
#include "known/worlds.h"
#include "test.h"

static Stage weightless(double mu, double e) { return stage_open_with(tb_zero3(), tb_friction(mu), e); }

// Two spheres head-on: v₁' = v₁ − (1+e) m₂/(m₁+m₂) (v₁−v₂), and its mirror.
LONG_TEST(spheres_meet_head_on_as_newton_says)
{
  static const double mass[][2] = {{1, 1}, {1, 3}, {1e-3, 1}, {1, 1e4}, {1e4, 1e-3}};
  static const double es[] = {0, 0.3, 0.7, 1}, dts[] = {1.0 / 60, 0.004, 0.001};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 4; k++)
      for (int d = 0; d < 3; d++) {
        double m1 = mass[i][0], m2 = mass[i][1], e = es[k], v1 = 2, v2 = -0.5, r1 = 0.2, r2 = 0.05;
        Stage s = weightless(0.4, e);
        s.step.dt = dts[d];
        tbBodyId a = stage_throw(&s, tb_shape_sphere(r1), m1, tb_zero3(), tb_vec3(v1, 0, 0));
        tbBodyId b = stage_throw(&s, tb_shape_sphere(r2), m2, tb_vec3(1, 0, 0), tb_vec3(v2, 0, 0));
        stage_run_for(&s, 1);
        double J = (1 + e) * m1 * m2 / (m1 + m2) * (v1 - v2), w1 = v1 - J / m1, w2 = v2 + J / m2;
        tbBodyState A = stage_state(&s, a), B = stage_state(&s, b);
        double meet = (1 - r1 - r2) / (v1 - v2);
        double tolerance = 1e-9 * (fabs(w1) + fabs(w2) + 1), way = e > 0 ? 1e-9 : s.step.dt * 2.5;
        if (!(fabs(A.velocity.x - w1) < tolerance) || !(fabs(B.velocity.x - w2) < tolerance) ||
            !(fabs(A.position.x - (v1 * meet + w1 * (1 - meet))) < way) ||
            !(fabs(B.position.x - (1 + v2 * meet + w2 * (1 - meet))) < way * 3) ||
            !(tb_norm3(A.angular_velocity) < 1e-9))
          test_failed(__FILE__, __LINE__,
                      "masses %g, %g, e %g, dt %g: %.12g, %.12g for %.12g, %.12g; at %g, %g", m1, m2, e,
                      s.step.dt, A.velocity.x, B.velocity.x, w1, w2, A.position.x, B.position.x);
        stage_close(&s);
      }
}

// Smooth spheres that meet obliquely exchange momentum along the line of centres at the moment they touch.
TEST(smooth_spheres_meet_obliquely_along_the_line_of_centres)
{
  static const double es[] = {0, 0.5, 1}, dts[] = {1.0 / 60, 0.004, 0.001}, offsets[] = {0.1, 0.3, 0.55};
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < 3; i++) {
        double e = es[k], r1 = 0.4, r2 = 0.25, m1 = 2, m2 = 0.7, v = 3, off = offsets[i], sum = r1 + r2;
        Stage s = weightless(0, e);
        s.step.dt = dts[d];
        tbBodyId a = stage_throw(&s, tb_shape_sphere(r1), m1, tb_zero3(), tb_vec3(v, 0, 0));
        tbBodyId b = stage_throw(&s, tb_shape_sphere(r2), m2, tb_vec3(2, off, 0), tb_zero3());
        stage_run_for(&s, 1);
        tbVec3 n = tb_vec3(sqrt(1 - off * off / (sum * sum)), off / sum, 0);
        double J = (1 + e) * m1 * m2 / (m1 + m2) * v * n.x;
        tbVec3 wa = tb_madd3(tb_vec3(v, 0, 0), -J / m1, n), wb = tb_scale3(J / m2, n);
        tbBodyState A = stage_state(&s, a), B = stage_state(&s, b);
        double off_a = tb_distance3(A.velocity, wa), off_b = tb_distance3(B.velocity, wb);
        if (!(fmax(off_a, off_b) < (e > 0 ? 1e-5 : 10 * s.step.dt)))
          test_failed(__FILE__, __LINE__, "e %g dt %g offset %g: velocities off by %g and %g m/s", e,
                      s.step.dt, off, off_a, off_b);
        stage_close(&s);
      }
}

// A row of n equal balls struck by k of them: k fly off at the other end, the rest stand.
TEST(newtons_cradle_passes_on_as_many_balls_as_strike)
{
  static const double gaps[] = {0, 1e-4, 1e-2};
  for (int strikers = 1; strikers <= 3; strikers++)
    for (int g = 0; g < 3; g++)
      for (int d = 0; d < 2; d++) {
        enum { N = 5 };
        double r = 0.05, v = 1, gap = gaps[g];
        tbBodyId ball[N];
        Stage s = weightless(0.2, 1);
        s.step.dt = d ? 1.0 / 60 : 0.002;
        for (int i = 0; i < N; i++) {
          double x = i * (2 * r + gap) - (i < strikers ? 0.1 : 0);
          ball[i] =
              stage_throw(&s, tb_shape_sphere(r), 0.3, tb_vec3(x, 0, 0), tb_vec3(i < strikers ? v : 0, 0, 0));
        }
        stage_run_for(&s, 0.8);
        for (int i = 0; i < N; i++) {
          double out = stage_state(&s, ball[i]).velocity.x, expected = i >= N - strikers ? v : 0;
          if (!(fabs(out - expected) < 1e-6)) // the solver's tolerance
            test_failed(__FILE__, __LINE__, "%d strikers, gap %g, dt %g: ball %d at %g m/s", strikers, gap,
                        s.step.dt, i, out);
        }
        stage_close(&s);
      }
}

static tbShape random_shape(tbRandom* r, int kind)
{
  double a = test_uniform(r, 0.1, 0.4), b = test_uniform(r, 0.1, 0.4), c = test_uniform(r, 0.1, 0.4);
  switch (kind) {
  case 0: return tb_shape_sphere(a);
  case 1: return tb_shape_box(tb_vec3(2 * a, 2 * b, 2 * c));
  case 2: return tb_shape_capsule(a, 2 * b);
  default: return tb_shape_cylinder(a, 2 * b);
  }
}

static tbVec3 random_vec(tbRandom* r, double size)
{
  double x = test_uniform(r, -size, size), y = test_uniform(r, -size, size), z = test_uniform(r, -size, size);
  return tb_vec3(x, y, z);
}

// Six bodies of random shapes thrown at each other.
static Stage cluster(int seed, const char* scheme, double e, double mu)
{
  tbRandom r = test_random((uint64_t)seed);
  Stage s = weightless(mu, e);
  s.step.dt = 0.005 + 0.01 * (seed % 2);
  s.step.scheme = scheme;
  for (int i = 0; i < 6; i++) {
    tbVec3 side = tb_vec3(i & 1 ? 0.9 : -0.9, i & 2 ? 0.9 : -0.9, i & 4 ? 0.9 : -0.9);
    tbQuat q = tb_quat_exp(random_vec(&r, 2));
    double m = test_uniform(&r, 0.2, 5);
    tbBodyId id = stage_add(&s, random_shape(&r, (i + seed) % 4), m, side, q);
    stage_push(&s, id, tb_add3(tb_scale3(-2, side), random_vec(&r, 1)), random_vec(&r, 3));
  }
  return s;
}

// Runs on, and returns the most energy won in a step, as a share of that of the start.
static double most_gained(Stage* s, double seconds)
{
  double energy = stage_energy(s), start = energy, most = 0;
  for (int k = 0; k < (int)(seconds / s->step.dt); k++) {
    stage_run(s, 1);
    double now = stage_energy(s);
    most = fmax(most, (now - energy) / start);
    energy = now;
  }
  return most;
}

// Momentum and angular momentum are kept to rounding, whatever restitution and friction. Energy does not grow
// but for what pushing overlaps out adds.
TEST(thrown_clusters_keep_momentum_and_gain_no_energy)
{
  for (int seed = 1; seed <= (test_quick() ? 10 : 200); seed++) {
    double e = seed % 4 / 3.0, mu = seed % 3 * 0.5;
    Stage s = cluster(seed, seed % 5 == 4 ? "moreau" : "semi-implicit", e, mu);
    bool moreau = seed % 5 == 4, push = seed % 2;
    if (!push) s.step.stabilization = TB_STABILIZE_NONE;
    tbVec3 p = tb_world_momentum(s.world), l = tb_world_angular_momentum(s.world);
    double gain = most_gained(&s, 1.5), limit = push ? 1e-4 : 1e-9;
    if (moreau)
      limit = e > 0 && mu > 0 ? 0.03 : push ? 2e-3 : 1e-9; // Newton's law with friction inside the step
    double dp = tb_distance3(tb_world_momentum(s.world), p),
           dl = tb_distance3(tb_world_angular_momentum(s.world), l);
    if (!(dp < 1e-12 * (1 + tb_norm3(p))) || !(dl < 2e-12 * (1 + tb_norm3(l))) || !(gain < limit) ||
        s.unconverged)
      test_failed(__FILE__, __LINE__,
                  "seed %d, %s, e %g, mu %g, dt %g: momentum %g, angular %g, energy %g, %d unconverged", seed,
                  s.step.scheme, e, mu, s.step.dt, dp, dl, gain, s.unconverged);
    stage_close(&s);
  }
}
