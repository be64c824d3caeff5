// SPDX-License-Identifier: Apache-2.0
// What a workspace saves: solves of one pattern, values changed in between.
//
//   bench_workspace [ITERATIONS]     of every solve, default 10
//
//   built    a builder makes the problem, tb_solve solves it
//   solved   tb_solve alone
//   sides    a workspace with another free motion
//   matrix   a workspace with another A, J and free motion
//
// and how many times longer the first takes than the last two. Times are the best of a few rounds.
#include "bench.h"
#include "tribo/workspace.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  tbContext ctx;
  const tbProblem* p;
  tbWorkspace* space;
  tbSolveOptions o;
  double *lambda, *v_free, *jac;
  double** block;
  int round;
} Run;

static tbProblem* build(tbContext* ctx, const tbProblem* p)
{
  tbBuilder* b = NULL;
  tbProblem* made = NULL;
  if (tb_builder_create(ctx, p->name, &b) != TB_OK) return NULL;
  for (int i = 0; i < p->nblock; i++) {
    const tbMetricBlock* m = &p->block[i];
    if (m->kind == TB_METRIC_DENSE) tb_builder_dense(b, m->size, m->value, p->v_free + m->dof, NULL);
    else tb_builder_sparse(b, m->size, m->ptr, m->col, m->value, p->v_free + m->dof, NULL);
  }
  for (int k = 0; k < p->ncontact; k++) {
    int row = p->row_adr[k];
    tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - row, p->param + p->param_adr[k],
                       p->bias + row, p->compliance + row);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]);
  }
  tb_builder_finish(b, &made);
  return made;
}

static void start(Run* r) { memset(r->lambda, 0, (size_t)r->p->nrow * sizeof *r->lambda); }

static void solve(Run* r, const tbProblem* p)
{
  tbSolveResult result;
  start(r);
  if (tb_solve(&r->ctx, p, &r->o, r->lambda, &result) != TB_OK) printf("%s\n", r->ctx.error.message);
}

static void built(void* user)
{
  Run* r = user;
  tbProblem* p = build(&r->ctx, r->p);
  solve(r, p);
  tb_problem_free(p);
}

static void solved(void* user) { solve(user, ((Run*)user)->p); }

// Two sets of values in turn, so that every update is one.
static void update(Run* r, bool matrix)
{
  const tbProblem* p = r->p;
  double factor = r->round++ % 2 ? 1 : 1.001;
  tbProblemValues values = {.v_free = r->v_free};
  for (int i = 0; i < p->ndof; i++) r->v_free[i] = factor * p->v_free[i];
  for (size_t i = 0; matrix && i < p->jac_val_adr[p->ncol]; i++) r->jac[i] = factor * p->jac[i];
  for (int b = 0; matrix && b < p->nblock; b++) {
    const tbMetricBlock* m = &p->block[b];
    int n = m->kind == TB_METRIC_DENSE ? m->size * m->size : m->ptr[m->size];
    for (int i = 0; i < n; i++) r->block[b][i] = factor * m->value[i];
  }
  if (matrix) values.jac = r->jac, values.block = (const double* const*)r->block;
  tbSolveResult result;
  start(r);
  if (tb_workspace_update(&r->ctx, r->space, &values) != TB_OK ||
      tb_workspace_solve(&r->ctx, r->space, &r->o, r->lambda, &result) != TB_OK)
    printf("%s\n", r->ctx.error.message);
}

static void sides(void* user) { update(user, false); }
static void matrix(void* user) { update(user, true); }

static void race(const tbProblem* p, const char* solver, int iterations)
{
  Run r = {.ctx = tb_default_context(), .p = p, .o = tb_default_solve_options()};
  r.o.solver = solver, r.o.max_iterations = iterations, r.o.tolerance = 1e-12;
  r.lambda = calloc((size_t)p->nrow, sizeof *r.lambda);
  r.v_free = calloc((size_t)p->ndof, sizeof *r.v_free);
  r.jac = calloc(p->jac_val_adr[p->ncol], sizeof *r.jac);
  r.block = calloc((size_t)p->nblock, sizeof *r.block);
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* m = &p->block[b];
    r.block[b] = calloc((size_t)(m->ptr ? m->ptr[m->size] : m->size * m->size), sizeof **r.block);
  }
  if (tb_workspace_create(&r.ctx, p, &r.space) != TB_OK) printf("%s\n", r.ctx.error.message);
  BenchEntry e[4] = {{built, &r, 0}, {solved, &r, 0}, {sides, &r, 0}, {matrix, &r, 0}};
  bench_race(e, 4, 4, 0.3);
  printf("  %-12s %9.3f %9.3f %9.3f %9.3f ms    %5.2f %5.2f times\n", solver, 1e3 * e[0].best,
         1e3 * e[1].best, 1e3 * e[2].best, 1e3 * e[3].best, e[0].best / e[2].best, e[0].best / e[3].best);
  tb_workspace_free(&r.ctx, r.space);
  for (int b = 0; b < p->nblock; b++) free(r.block[b]);
  free(r.block), free(r.lambda), free(r.v_free), free(r.jac);
}

static void table(tbProblem* p, int iterations)
{
  static const char* const solvers[] = {"bgs", "nncg", "prox-newton", "ipm", "admm", "auto"};
  printf("%s: %d contacts, %d degrees of freedom, %d iterations\n  %-12s %9s %9s %9s %9s\n", p->name,
         p->ncontact, p->ndof, iterations, "", "built", "solved", "sides", "matrix");
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) race(p, solvers[i], iterations);
  tb_problem_free(p);
}

int main(int argc, char** argv)
{
  int iterations = argc > 1 ? atoi(argv[1]) : 10;
  tbContext ctx = tb_default_context();
  tbGenerate wall = tb_default_generate(TB_GENERATE_WALL), pile = tb_default_generate(TB_GENERATE_PILE);
  tbManufacture soft = tb_default_manufacture();
  tbProblem* p = NULL;
  double* exact = NULL;
  wall.size = 16, pile.size = 300, soft.contacts = 200, soft.metric = TB_MAKE_SPARSE;
  if (tb_problem_generate(&ctx, &wall, &p) == TB_OK) table(p, iterations);
  if (tb_problem_generate(&ctx, &pile, &p) == TB_OK) table(p, iterations);
  if (tb_problem_manufacture(&ctx, &soft, &p, &exact) == TB_OK) table(p, iterations);
  tb_manufacture_free(&ctx, exact);
  return 0;
}
