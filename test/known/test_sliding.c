// SPDX-License-Identifier: Apache-2.0
// Blocks that stick and slide: Coulomb's law against its closed forms, for every exact solver.
#include "known/worlds.h"
#include "test.h"

#include <string.h>

static const double g = 9.81;

// A block at rest on a slope of angle θ; how far it has moved down the slope after the time.
typedef struct {
  double size, mass, dt; // edge of the unit block, 0.8 × 0.6 × 0.5 of it
} Block;

static double creep_of(Block block, const char* solver, double slope, double heading, double twist, double mu,
                       double seconds)
{
  Stage s = stage_open(mu, 0);
  s.step.solver.solver = solver;
  s.step.dt = block.dt;
  stage_floor(&s, slope, heading);
  tbQuat turn = tb_quat_mul(stage_turn(slope, heading), tb_quat_exp(tb_vec3(0, 0, twist)));
  tbVec3 start = tb_scale3(0.25 * block.size, stage_normal(slope, heading)), size = tb_vec3(0.8, 0.6, 0.5);
  tbBodyId box = stage_add(&s, tb_shape_box(tb_scale3(block.size, size)), block.mass, start, turn);
  stage_run_for(&s, seconds);
  tbVec3 moved = tb_sub3(stage_state(&s, box).position, start), down = stage_down(slope, heading);
  double along = tb_dot3(moved, down), across = tb_norm3(tb_madd3(moved, -along, down));
  if (!(across < 1e-3 * (1 + fabs(along))))
    test_failed(__FILE__, __LINE__, "%s: left the slope line by %g m", solver, across);
  if (s.unconverged >
      (strcmp(solver, "auto") == 0 ? 0 : 3)) // the first, cold steps at μ > 1 may be too much for one method
    test_failed(__FILE__, __LINE__, "%s slope %g mu %g: %d steps unconverged, worst %g", solver, slope, mu,
                s.unconverged, s.worst);
  stage_close(&s);
  return along;
}

static double creep(const char* solver, double slope, double heading, double twist, double mu, double seconds)
{
  return creep_of((Block){1, 2, 0.01}, solver, slope, heading, twist, mu, seconds);
}

TEST(incline_threshold_is_mu)
{
  static const double slopes[] = {0.2, 0.5, 0.9}, headings[] = {0, PI / 4, 2.0};
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 3; i++) {
      double slope = slopes[i], heading = headings[(i + k) % 3], critical = tan(slope);
      double stays =
          creep(exact_solvers[k], slope, heading, 0.3 * i, 1.002 * critical, test_quick() ? 0.5 : 3);
      if (!(fabs(stays) < 1e-4))
        test_failed(__FILE__, __LINE__, "%s slope %g: crept %g m", exact_solvers[k], slope, stays);
      double t = test_quick() ? 1 : 2,
             moved = creep(exact_solvers[k], slope, heading, 0.3 * i, 0.99 * critical, t);
      double expected = 0.5 * g * 0.01 * sin(slope) * t * t;
      if (!(fabs(moved / expected - 1) < 0.03))
        test_failed(__FILE__, __LINE__, "%s slope %g: slid %g m, expected %g", exact_solvers[k], slope, moved,
                    expected);
    }
}

LONG_TEST(sliding_stops_after_v2_over_2_mu_g_in_every_direction)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 12; i++) {
      double mu = 0.3 + 0.02 * i, v0 = 2 + 0.1 * i, heading = 2 * PI * i / 12 + 0.1;
      Stage s = stage_open(mu, 0);
      s.step.solver.solver = exact_solvers[k];
      s.step.dt = 0.005;
      stage_floor(&s, 0, 0);
      tbBodyId box =
          stage_add(&s, tb_shape_box(tb_vec3(1, 1, 0.1)), 1.5, tb_vec3(0, 0, 0.05), tb_quat_identity());
      stage_push(&s, box, tb_vec3(v0 * cos(heading), v0 * sin(heading), 0), tb_zero3());
      stage_run_for(&s, v0 / (mu * g) + 0.1);
      tbVec3 x = stage_state(&s, box).position;
      double d = sqrt(x.x * x.x + x.y * x.y), expected = v0 * v0 / (2 * mu * g);
      double off = atan2(x.y, x.x) - heading;
      off -= 2 * PI * floor(off / (2 * PI) + 0.5);
      if (!(fabs(d - expected) <= v0 * s.step.dt) || !(fabs(off) <= 1e-4))
        test_failed(__FILE__, __LINE__, "%s heading %g: %g m for %g, off by %g rad", exact_solvers[k],
                    heading, d, expected, off);
      stage_close(&s);
    }
}

// The same threshold for blocks of a centimetre and of ten metres, of a gram and of ten tons, in short and
// long steps.
TEST(incline_threshold_knows_no_scale)
{
  static const double sizes[] = {0.01, 0.1, 10}, masses[] = {1e-3, 1, 1e4}, dts[] = {1.0 / 60, 0.005, 0.001};
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 9; i += test_quick() ? 4 : 1) {
      Block block = {sizes[i % 3], masses[i / 3], dts[(i + i / 3 + k) % 3]};
      double slope = 0.05 + 0.1 * i, heading = 0.8 * i + k, twist = 0.4 * i, critical = tan(slope);
      double stays = creep_of(block, exact_solvers[k], slope, heading, twist, 1.002 * critical, 0.5);
      if (!(fabs(stays) < 1e-5))
        test_failed(__FILE__, __LINE__, "%s size %g mass %g dt %g slope %g: crept %g m", exact_solvers[k],
                    block.size, block.mass, block.dt, slope, stays);
      double t = 0.5, moved = creep_of(block, exact_solvers[k], slope, heading, twist, 0.9 * critical, t);
      double expected = 0.5 * g * 0.1 * sin(slope) * t * (t + block.dt);
      if (!(fabs(moved / expected - 1) < 0.01))
        test_failed(__FILE__, __LINE__, "%s size %g mass %g dt %g slope %g: slid %g m, expected %g",
                    exact_solvers[k], block.size, block.mass, block.dt, slope, moved, expected);
    }
}

// Where an ellipse of friction has half axes μ_t along x and μ_b along y, a block on a slope that falls
// towards (cos φ, sin φ) stays while tan θ √((cos φ/μ_t)² + (sin φ/μ_b)²) ≤ 1, and starts towards (cos
// φ/μ_t², sin φ/μ_b²).
LONG_TEST(elliptic_friction_has_its_thresholds_and_its_way_down)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = 0; i < 6; i++) {
      double mu_t = 0.3, mu_b = 0.6, phi = PI * i / 12 + (i == 5 ? 0.2 : 0), c = cos(phi), d = sin(phi);
      double critical = atan(1 / sqrt(c * c / (mu_t * mu_t) + d * d / (mu_b * mu_b)));
      for (int side = 0; side < 2; side++) {
        double slope = side ? critical * 1.01 : critical * 0.998, heading = 0.9 * i, t = 0.5;
        tbQuat turn = stage_turn(slope, heading);
        tbVec3 grain = tb_quat_rotate(turn, tb_vec3(c, -d, 0)); // the way down lies at φ from it
        Stage s = stage_open_with(
            tb_vec3(0, 0, -g),
            (tbFriction){.kind = TB_FRICTION_ELLIPTIC, .mu_t = mu_t, .mu_b = mu_b, .direction = grain}, 0);
        s.step.solver.solver = exact_solvers[k];
        stage_floor(&s, slope, heading);
        tbVec3 start = tb_scale3(0.05, stage_normal(slope, heading));
        tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.8, 0.6, 0.1)), 2, start, turn);
        stage_run_for(&s, t);
        tbVec3 moved = tb_quat_unrotate(turn, tb_sub3(stage_state(&s, box).position, start));
        double along = moved.x * c - moved.y * d, across = moved.x * d + moved.y * c; // in the ellipse's axes
        double way = atan2(across, along), expected = atan2(d / (mu_b * mu_b), c / (mu_t * mu_t));
        if (side ? !(fabs(way - expected) < 1e-2) || !(tb_norm3(moved) > 1e-3) : !(tb_norm3(moved) < 1e-5))
          test_failed(__FILE__, __LINE__, "%s phi %g: moved %g m towards %g, expected %g", exact_solvers[k],
                      phi, tb_norm3(moved), way, expected);
        stage_close(&s);
      }
    }
}

// On level ground the two components of the velocity die together: u_b/u_b⁰ = (u_t/u_t⁰)^(μ_b²/μ_t²).
LONG_TEST(elliptic_friction_bends_the_path_as_its_law_says)
{
  double mu_t = 0.2, mu_b = 0.4, ut = 2, ub = 1.5;
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride()) {
    tbFriction friction = {
        .kind = TB_FRICTION_ELLIPTIC, .mu_t = mu_t, .mu_b = mu_b, .direction = tb_vec3(1, 0, 0)};
    Stage s = stage_open_with(tb_vec3(0, 0, -g), friction, 0);
    s.step.solver.solver = exact_solvers[k];
    s.step.dt = 0.001;
    stage_floor(&s, 0, 0);
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(1, 1, 0.05)), 1, tb_vec3(0, 0, 0.025), tb_quat_identity());
    stage_push(&s, box, tb_vec3(ut, ub, 0), tb_zero3());
    for (int part = 1; part <= 4; part++) {
      stage_run_for(&s, 0.1);
      tbVec3 u = stage_state(&s, box).velocity;
      double expected = ub * pow(u.x / ut, mu_b * mu_b / (mu_t * mu_t));
      if (!(fabs(u.y - expected) < 5e-3))
        test_failed(__FILE__, __LINE__, "%s: (%g, %g) m/s, expected %g", exact_solvers[k], u.x, u.y,
                    expected);
    }
    stage_close(&s);
  }
}

// A block that friction holds topples once the slope is steeper than its base is wide: tan θ > b/c.
TEST(block_topples_where_its_weight_leaves_its_base)
{
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride())
    for (int i = k % 2; i < 8; i += 2) {
      double slope = 0.2 + 0.1 * i, size = i % 2 ? 0.05 : 1;
      bool stands = (i + k) % 3 > 0;
      double width = size * tan(slope) * (stands ? 1.03 : 0.97);
      Stage s = stage_open(2, 0);
      s.step.solver.solver = exact_solvers[k];
      s.step.dt = 1.0 / 60;
      stage_floor(&s, slope, i);
      tbVec3 n = stage_normal(slope, i);
      tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(width, 0.7 * size, size)), 3, tb_scale3(size / 2, n),
                               stage_turn(slope, i));
      double up = 1; // the least: what has toppled may tumble on, and end on its feet
      for (int part = 0; part < (stands ? 5 : 15); part++) {
        stage_run_for(&s, 0.1);
        up = fmin(up, tb_dot3(tb_quat_rotate(stage_state(&s, box).orientation, tb_vec3(0, 0, 1)), n));
      }
      if (stands ? !(up > 1 - 1e-9) : !(up < 0.9))
        test_failed(__FILE__, __LINE__, "%s slope %g size %g: leans to cos %.9g, should %s", exact_solvers[k],
                    slope, size, up, stands ? "stand" : "topple");
      stage_close(&s);
    }
}
