// SPDX-License-Identifier: Apache-2.0
// A step is no better than the worst problem that was solved in it.
#include "step/count.h"
#include "step/joints.h"

#include <string.h>
#include <time.h>

// A ball strikes three others at once: the impacts need iterations, and after them everything flies apart, so
// that the step's own problem is solved by no impulses at all.
TEST(impacts_that_are_not_solved_are_not_converged)
{
  static const char* const schemes[] = {"semi-implicit", "penalty", "implicit"};
  for (int k = 0; k < 6; k++) {
    bool few = k % 2;
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0.5);
    s.step.scheme = schemes[k / 2];
    s.step.solver.solver = "bgs", s.step.solver.tolerance = 1e-10;
    s.step.solver.max_iterations = few ? 1 : 10000;
    double r = 0.2, away = 2 * r + 1e-3;
    stage_throw(&s, tb_shape_sphere(r), 3, tb_zero3(), tb_vec3(2, 0, 0));
    for (int i = 0; i < 3; i++) {
      double angle = -0.9 + 0.9 * i * 1.2;
      stage_throw(&s, tb_shape_sphere(r), 1 + i, tb_vec3(away * cos(angle), away * sin(angle), 0),
                  tb_zero3());
    }
    stage_run(&s, 1);
    CHECK(tb_world_contact_count(s.world) > 0);
    CHECK((s.report.outcome == TB_CONVERGED) == !few);
    CHECK((s.report.residual.fclib > 1e-10) == few);
    stage_close(&s);
  }
}

// Balls at rest that overlap: their velocities need no impulse, and only the projection has work to do.
TEST(a_projection_that_is_not_solved_is_not_converged)
{
  static const char* const schemes[] = {"semi-implicit", "moreau", "penalty", "implicit"};
  for (int k = 0; k < 8; k++) {
    bool few = k % 2;
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
    s.step.scheme = schemes[k / 2];
    s.step.stabilization = TB_STABILIZE_PROJECTION;
    s.step.penalty_stiffness = 1e-12;
    s.step.solver.max_iterations = few ? 1 : 10000;
    for (int i = 0; i < 6; i++)
      stage_add(&s, tb_shape_sphere(0.5), 1 + i, tb_vec3(0.8 * i, 0.01 * i * i, 0), tb_quat_identity());
    stage_run(&s, 1);
    if (strcmp(s.step.scheme, "penalty") == 0) CHECK(few ? s.report.outcome != TB_CONVERGED : true);
    else CHECK((s.report.outcome == TB_CONVERGED) == !few);
    CHECK(s.report.iterations > 0);
    stage_close(&s);
  }
}

// Joints under the scheme penalty are a problem of their own.
TEST(joints_that_are_not_solved_are_not_converged)
{
  for (int few = 0; few < 2; few++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = "penalty";
    s.step.solver.solver = "bgs", s.step.solver.max_iterations = few ? 1 : 10000,
    s.step.solver.tolerance = 1e-8;
    tbBodyId last = the_world;
    for (int i = 0; i < 5; i++) {
      tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1 + i, tb_vec3(i + 1, 0, 5), tb_quat_identity());
      stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), last, ball, tb_vec3(i, 0, 5));
      last = ball;
    }
    stage_run(&s, 1);
    CHECK((s.report.outcome == TB_CONVERGED) == !few);
    CHECK(s.report.iterations == (few ? 1 : 2));
    stage_close(&s);
  }
}

// A cluster of balls that fall onto each other and bounce, with a tolerance that is never reached: impacts,
// round by round, the step's own problem and the projection share one time budget.
TEST(the_problems_of_a_step_share_its_time)
{
  for (int k = 0; k < 2 * tb_scheme_count(); k++) {
    Stage s = stage_open(0.5, 0.5);
    s.step.scheme = tb_scheme_at(k / 2)->name;
    if (strcmp(s.step.scheme, "ipc") == 0) { // the meshes of 64 spheres take longer: it has a test of its own
      stage_close(&s);
      continue;
    }
    if (k % 2) s.step.stabilization = TB_STABILIZE_PROJECTION;
    s.step.solver.tolerance = 1e-200, s.step.solver.velocity_tolerance = 0;
    s.step.solver.solver = "bgs", s.step.solver.max_iterations = 1000000000;
    s.step.solver.time_budget_s = 0.02;
    stage_floor(&s, 0, 0);
    for (int i = 0; i < 64; i++) {
      tbVec3 at = tb_vec3(0.2 * (i % 4), 0.2 * (i / 4 % 4), 0.1 + 0.2 * (i / 16));
      stage_throw(&s, tb_shape_sphere(0.101), 1 + i % 5, at, tb_vec3(0.3 - 0.2 * (i % 4), 0.1 * (i % 3), -2));
    }
    clock_t begun = clock();
    stage_run(&s, 1);
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    CHECK(s.report.outcome != TB_CONVERGED);
#ifdef TB_SANITIZED
    seconds *= 0.3; // a round of any method takes several times as long
#endif
    if (!(seconds < 0.15)) test_failed(__FILE__, __LINE__, "%s: %g s", s.step.scheme, seconds);
    stage_close(&s);
  }
}

TEST(the_worse_of_two_residuals_is_so_in_every_number)
{
  tbResidual a = {.fclib = 1, .natural_map = 5, .cone = NAN},
             b = {.fclib = 2, .natural_map = 3, .model = NAN};
  tbResidual ab = tb_worse_residual(&a, &b), ba = tb_worse_residual(&b, &a);
  CHECK(ab.fclib == 2 && ab.natural_map == 5 && ba.fclib == 2 && ba.natural_map == 5);
  CHECK(isnan(ab.cone) && isnan(ba.cone) && isnan(ab.model) && isnan(ba.model));
}
