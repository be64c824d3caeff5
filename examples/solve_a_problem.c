// SPDX-License-Identifier: Apache-2.0
// A block on an incline, from nothing to a judged answer: build the problem, solve it, read it.
//
// The block is a particle of 2 kg on a slope of 25°, for one step of 10 ms. With μ = 0.5 > tan 25° it sticks;
// with μ = 0.3 it slides down.
#include "tribo/math.h"
#include "tribo/problem.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdio.h>

// One contact: rows n, t, b; the frame is the slope's, so that J is the identity.
static tbStatus build(tbContext* ctx, double mu, tbProblem** out)
{
  const double mass = 2, dt = 0.01, slope = 25 * TB_PI / 180;
  const double v_free[3] = {-9.81 * dt * cos(slope), 9.81 * dt * sin(slope), 0}; // one step of gravity
  const double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  tbBuilder* b;
  int dof;
  tbStatus status = tb_builder_create(ctx, "block on an incline", &b);
  if (status != TB_OK) return status;
  tb_builder_particle(b, 3, mass, v_free, &dof); // a failed call is remembered: finish reports it
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
  tb_builder_jacobian(b, dof, 3, J);
  return tb_builder_finish(b, out);
}

static tbStatus solve(tbContext* ctx, double mu)
{
  tbProblem* problem = NULL;
  tbJudge* judge = NULL;
  tbSolveResult result;
  double lambda[3] = {0}, u[3]; // impulse and velocity of the contact; a zero start will do
  tbSolveOptions options = tb_default_solve_options();
  options.tolerance = 1e-12;

  tbStatus status = build(ctx, mu, &problem);
  if (status == TB_OK) status = tb_solve(ctx, problem, &options, lambda, &result);
  if (status == TB_OK) status = tb_judge_create(ctx, problem, &judge);
  if (status == TB_OK) {
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 0, &result.residual, u, NULL);
    printf("mu = %.1f: %s after %d iterations, residual %.1e\n", mu, tb_outcome_name(result.outcome),
           result.iterations, result.residual.fclib);
    printf("  impulse  n %8.5f  t %8.5f N·s\n", lambda[0], lambda[1]);
    printf("  velocity n %8.5f  t %8.5f m/s: %s\n", u[0], u[1], fabs(u[1]) < 1e-9 ? "sticks" : "slides");
  }
  tb_judge_free(ctx, judge);
  tb_problem_free(problem);
  return status;
}

int main(void)
{
  tbContext ctx = tb_default_context();
  if (solve(&ctx, 0.5) == TB_OK && solve(&ctx, 0.3) == TB_OK) return 0;
  fprintf(stderr, "%s\n", ctx.error.message);
  return 1;
}
