// SPDX-License-Identifier: Apache-2.0
// Table 4: what stands for A⁻¹ in the Delassus operator of soft bodies, on one step of a soft cube between
// plates. W_M has lumped masses, W_A the inverse by a sparse Cholesky factor, built by solves or used without
// W (partial evaluation), W_D the diagonal, once and as a splitting (ICA).
#include "cli/paper_course.h"

#include "tribo/step.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { SWEEPS = 2000, APPLIES = 20 };
static const double wanted = 1e-4;

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// One row of the table.
typedef struct {
  double build, solve; // ms
  long blocks;         // of W
  int iterations;
  double residual; // by the judge, which knows A
} Row;

static tbStatus problem_of(const Paper* p, int steps, tbProblem** out)
{
  tbScene s;
  TB_TRY(paper_scene(p, "barrier-press", &s, "soft.cube.mesh.box.cells=%d", p->quick ? 4 : 10));
  tbStatus status = tb_option_set(p->ctx, &s.step, "scheme.name", "implicit");
  for (int i = 0; i < steps && status == TB_OK; i++) status = tb_world_step(p->ctx, s.world, &s.step, NULL);
  double* guess = NULL;
  if (status == TB_OK) status = tb_world_problem(p->ctx, s.world, &s.step, out, &guess);
  tb_guess_free(p->ctx, guess);
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus build(const Paper* p, const tbProblem* problem, tbInverse inverse, Row* row)
{
  tbDelassus* W = NULL;
  double begun = seconds();
  TB_TRY(tb_delassus_create_with(p->ctx, problem, TB_FORM_BLOCKS, inverse, &W));
  row->build = 1e3 * (seconds() - begun), row->blocks = W->ptr[problem->ncontact];
  tb_delassus_free(p->ctx, W);
  return TB_OK;
}

static tbStatus solve(const Paper* p, const tbProblem* problem, const char* solver, tbInverse inverse,
                      Row* row)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result;
  double* lambda = TB_NEW(p->ctx, double, (size_t)problem->nrow);
  if (!lambda) return TB_ERROR_MEMORY;
  o.solver = solver, o.inverse = inverse, o.tolerance = wanted, o.max_iterations = SWEEPS;
  tbStatus status = tb_solve(p->ctx, problem, &o, lambda, &result);
  tb_free(p->ctx, lambda);
  if (status != TB_OK) return status;
  row->solve = 1e3 * result.time_s, row->iterations = result.iterations;
  row->residual = result.residual.fclib;
  return TB_OK;
}

// ms of one product with W that is never built: a solve with the factor, which partial evaluation needs once
// per contact and sweep.
static tbStatus time_partial(const Paper* p, const tbProblem* problem, double* out)
{
  tbDelassus* W = NULL;
  size_t rows = (size_t)problem->nrow;
  TB_TRY(tb_delassus_create_with(p->ctx, problem, TB_FORM_FREE, TB_INVERSE_EXACT, &W));
  double* x = TB_NEW(p->ctx, double, 2 * rows + tb_delassus_workspace(W));
  if (x) {
    x[0] = 1;
    double begun = seconds();
    for (int i = 0; i < APPLIES; i++) tb_delassus_apply(W, p->ctx->threads, x, x + rows, x + 2 * rows);
    *out = 1e3 * (seconds() - begun) / APPLIES;
  }
  tb_free(p->ctx, x);
  tb_delassus_free(p->ctx, W);
  return x ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus measure(Paper* p, const tbProblem* problem)
{
  Row mass = {0}, full = {0}, diagonal = {0}, splitting = {0};
  double partial = 0;
  TB_TRY(build(p, problem, TB_INVERSE_LUMPED, &mass));
  TB_TRY(build(p, problem, TB_INVERSE_EXACT, &full));
  TB_TRY(build(p, problem, TB_INVERSE_DIAGONAL, &diagonal));
  TB_TRY(solve(p, problem, "bgs", TB_INVERSE_LUMPED, &mass));
  TB_TRY(solve(p, problem, "bgs", TB_INVERSE_EXACT, &full));
  TB_TRY(solve(p, problem, "bgs", TB_INVERSE_DIAGONAL, &diagonal));
  TB_TRY(solve(p, problem, "ica", TB_INVERSE_EXACT, &splitting));
  TB_TRY(time_partial(p, problem, &partial));
  int n = problem->ncontact;
  tbOut* table =
      paper_table(p, "table-4.csv", "case,method,build_ms,blocks_of_W,iterations,solve_ms,sweep_ms,residual");
  const struct {
    const char *name, *method;
    const Row* row;
  } rows[] = {{"W_M", "bgs", &mass},
              {"W_A by LDLT", "bgs", &full},
              {"W_D once", "bgs", &diagonal},
              {"W_D splitting", "ica", &splitting}};
  for (int i = 0; i < 4; i++) {
    const Row* r = rows[i].row;
    out_format(table, "%s,%s,%.3f,%ld,%d,%.3f,%.4f,%.2e\n", rows[i].name, rows[i].method, r->build, r->blocks,
               r->iterations, r->solve, r->solve / fmax(r->iterations, 1), r->residual);
  }
  out_format(table, "LDLT without W,bgs (partial evaluation),0,0,%d,%.3f,%.4f,%.2e\n", full.iterations,
             full.iterations * n * partial, n * partial, full.residual);
  paper_claim(p, mass.blocks * 3 < full.blocks && mass.residual > 1e-3, "W_M: weak nodal couplings",
              "%ld of %ld blocks, and an answer that is off by %.1e", mass.blocks, full.blocks,
              mass.residual);
  paper_claim(p, full.residual <= wanted, "W_A: large time steps, strong couplings", "%.1e after %d sweeps",
              full.residual, full.iterations);
  paper_claim(p, (long)full.iterations * n > problem->nrow, "partial evaluation is too expensive",
              "%ld solves with the factor in %d sweeps over %d contacts; %d build W",
              (long)full.iterations * n, full.iterations, n, problem->nrow);
  paper_claim(p, splitting.residual < 0.5 * diagonal.residual && splitting.iterations > full.iterations,
              "W_D: a sequence of complementarity problems, linear convergence",
              "%.1e after %d of them, %.1e after one", splitting.residual, splitting.iterations,
              diagonal.residual);
  return TB_OK;
}

tbStatus course_table_4(Paper* p)
{
  tbProblem* problem = NULL;
  paper_section(p, "Table 4: what stands for A⁻¹",
                "One step of a soft cube between plates, from zero impulses to 1e-4 by block Gauss–Seidel. "
                "Residuals are the judge's, which knows A. Without W a sweep is a solve with the factor for "
                "every contact; its time is that of one times their number.");
  tbStatus status = problem_of(p, 6, &problem);
  if (status == TB_OK) status = measure(p, problem);
  tb_problem_free(problem);
  paper_section_end(p);
  return status;
}
