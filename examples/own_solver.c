// SPDX-License-Identifier: Apache-2.0
// A method from outside of the library: projected gradients, added to a context, budgeted and judged like any
// other.
//
//   λ ← P_K(λ − τ (W λ + q + μ |u_t| n)),      τ = 1 / ‖W‖_∞
//
// The bracket is the velocity with De Saxcé's correction; P_K projects each contact's impulse onto its cone.
// The row below says what the method takes and which form of W it works on; tb_run_done does the rest.
#include "tribo/problem.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// λ of one contact (n, t, b) onto the cone |λ_t| ≤ μ λ_n.
static void project(double mu, double* l)
{
  double t = sqrt(l[1] * l[1] + l[2] * l[2]);
  if (t <= mu * l[0]) return;                     // inside
  double n = (l[0] + mu * t) / (1 + mu * mu);     // foot of the perpendicular on the side
  double share = n > 0 && t > 0 ? mu * n / t : 0; // n ≤ 0: the tip is nearest
  l[0] = n > 0 ? n : 0, l[1] *= share, l[2] *= share;
}

static double largest_row_sum(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  double most = 0;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0; i < 3; i++) {
      double sum = 0;
      for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++)
        for (int j = 0; j < 3; j++) sum += fabs(W->val[W->val_adr[e] + (size_t)(3 * i + j)]);
      most = fmax(most, sum);
    }
  return most;
}

static size_t scratch(const tbDelassus* W, const tbSolveOptions* options)
{
  (void)options;
  return ((size_t)W->problem->nrow + tb_delassus_workspace(W)) * sizeof(double) + 2 * 64;
}

static void solve(tbRun* run, double* lambda)
{
  const tbProblem* p = tb_run_problem(run);
  const tbDelassus* W = tb_run_delassus(run);
  double* u = tb_run_take(run, (size_t)p->nrow * sizeof *u);
  double* room = tb_run_take(run, tb_delassus_workspace(W) * sizeof *room);
  double tau = 1 / largest_row_sum(W);
  for (int iteration = 0; !tb_run_done(run, iteration, lambda); iteration++) {
    tb_delassus_apply(W, tb_run_threads(run), lambda, u, room);
    for (int k = 0; k < p->ncontact; k++) {
      double *l = lambda + p->row_adr[k], *v = u + p->row_adr[k], mu = p->param[p->param_adr[k]];
      for (int i = 0; i < 3; i++) v[i] += W->q[p->row_adr[k] + i];
      v[0] += mu * sqrt(v[1] * v[1] + v[2] * v[2]);
      for (int i = 0; i < 3; i++) l[i] -= tau * v[i];
      project(mu, l);
    }
  }
}

static const tbSolver projected_gradient = {
    .name = "projected-gradient",
    .summary = "projected gradients with De Saxcé's correction",
    .reference = "De Saxcé and Feng 1998",
    .models = 1u << TB_MODEL_CONE,
    .laws = 1u << TB_LAW_COULOMB,
    .needs = TB_FORM_BLOCKS,
    .scratch_bytes = scratch,
    .solve = solve,
};

int main(void)
{
  const tbSolver* const own[] = {&projected_gradient};
  tbContext ctx = tb_default_context();
  ctx.solvers = own, ctx.solver_count = 1;

  tbProblem* problem;
  tbGenerate spec = tb_default_generate(TB_GENERATE_STACK);
  spec.size = 3;
  if (tb_problem_generate(&ctx, &spec, &problem) != TB_OK) return puts(ctx.error.message), 1;
  double* lambda = calloc((size_t)problem->nrow, sizeof *lambda);
  tbSolveOptions options = tb_default_solve_options();
  options.solver = "projected-gradient", options.tolerance = 1e-6, options.max_iterations = 100000;
  tbSolveResult result;
  tbStatus status = tb_solve(&ctx, problem, &options, lambda, &result);
  if (status == TB_OK)
    printf("%s: %s after %d iterations, residual %.1e\n", result.used, tb_outcome_name(result.outcome),
           result.iterations, result.residual.fclib);
  else puts(ctx.error.message);
  free(lambda);
  tb_problem_free(problem);
  return status != TB_OK || result.outcome != TB_CONVERGED;
}
