// SPDX-License-Identifier: Apache-2.0
// What islands cost and gain: generated structures side by side, solved by `auto`.
//
//   bench_islands [COPIES] [KIND] [SIZE] [SPREAD]     default 1000 stacks of 5 boxes
//
// With a spread their sizes run from SIZE − SPREAD to SIZE + SPREAD.
//
// Wall time of tb_solve from λ = 0, and from a warm start, the answer of a step with 1 % less gravity, as a
// simulator has it; on one thread and on two.
#include "bench.h"
#include "tribo/solver.h"

#include <stdlib.h>
#include <string.h>

// `copies` structures, taken from `kinds` in turn, gravity scaled. Contacts are taken from each copy in turn:
// islands are not contiguous.
static tbProblem* repeat(tbContext* ctx, tbProblem* const* structure, int kinds, int copies, double gravity)
{
  tbBuilder* b = NULL;
  tbProblem* made = NULL;
  int *first = calloc((size_t)copies + 1, sizeof *first), most = 0; // degree of freedom of each copy
  if (tb_builder_create(ctx, "islands", &b) != TB_OK) return NULL;
  for (int c = 0; c < copies; c++) {
    const tbProblem* p = structure[c % kinds];
    first[c + 1] = first[c] + p->ndof;
    if (p->ncontact > most) most = p->ncontact;
    for (int i = 0; i < p->nblock; i++) {
      double v[6] = {0};
      for (int d = 0; d < 6; d++) v[d] = gravity * p->v_free[p->block[i].dof + d];
      tb_builder_dense(b, p->block[i].size, p->block[i].value, v, NULL);
    }
  }
  for (int k = 0; k < most; k++)
    for (int c = 0; c < copies; c++) {
      const tbProblem* p = structure[c % kinds];
      if (k >= p->ncontact) continue;
      int row = p->row_adr[k];
      tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - row, p->param + p->param_adr[k],
                         p->bias + row, p->compliance + row);
      for (int j = p->jac_adr[k]; j < p->jac_adr[k + 1]; j++)
        tb_builder_jacobian(b, first[c] + p->jac_dof[j], p->jac_width[j], p->jac + p->jac_val_adr[j]);
    }
  tb_builder_finish(b, &made);
  free(first);
  return made;
}

typedef struct {
  tbContext ctx;
  const tbProblem* p;
  const double* start; // null: zeros
  double* lambda;
  tbSolveResult result;
} Run;

static void solve(void* user)
{
  Run* s = user;
  tbSolveOptions o = tb_default_solve_options();
  size_t bytes = (size_t)s->p->nrow * sizeof *s->lambda;
  if (s->start) memcpy(s->lambda, s->start, bytes);
  else memset(s->lambda, 0, bytes);
  o.tolerance = 1e-6;
  if (tb_solve(&s->ctx, s->p, &o, s->lambda, &s->result) != TB_OK) printf("%s\n", s->ctx.error.message);
}

int main(int argc, char** argv)
{
  int copies = argc > 1 ? atoi(argv[1]) : 1000;
  tbGenerateKind kind = TB_GENERATE_STACK;
  tbContext ctx = tb_default_context();
  if (argc > 2 && !tb_generate_from_name(argv[2], &kind)) return printf("no structure %s\n", argv[2]), 1;
  tbGenerate spec = tb_default_generate(kind);
  int size = argc > 3 ? atoi(argv[3]) : 5, spread = argc > 4 ? atoi(argv[4]) : 0, kinds = 0;
  tbProblem *structure[100] = {0}, *p = NULL, *before = NULL;
  for (spec.size = size - spread; spec.size <= size + spread && kinds < 100; spec.size++)
    if (tb_problem_generate(&ctx, &spec, &structure[kinds++]) != TB_OK)
      return printf("%s\n", ctx.error.message), 1;
  if (!(p = repeat(&ctx, structure, kinds, copies, 1)) ||
      !(before = repeat(&ctx, structure, kinds, copies, 0.99)))
    return printf("%s\n", ctx.error.message), 1;
  double *lambda = calloc((size_t)p->nrow + 1, sizeof *lambda),
         *warm = calloc((size_t)p->nrow + 1, sizeof *warm);
  Run last = {.ctx = ctx, .p = before, .lambda = warm};
  solve(&last);

  printf("%d × %s of %d ± %d, %d contacts, E/max ≤ 1e-6\n", copies, tb_generate_name(kind), size, spread,
         p->ncontact);
  Run runs[4];
  BenchEntry entries[4];
  for (int i = 0; i < 4; i++) {
    runs[i] = (Run){.ctx = ctx, .p = p, .start = i % 2 ? warm : NULL, .lambda = lambda};
    if (i >= 2 && tb_threads_create(&ctx, 2, &runs[i].ctx.threads) != TB_OK) return 1;
    entries[i] = (BenchEntry){.run = solve, .user = &runs[i]};
  }
  bench_race(entries, 4, 3, 1);
  for (int i = 0; i < 4; i++) {
    const tbSolveResult* r = &runs[i].result;
    printf("  %-4s  threads %d  %10.3f ms  %s by %s, %d iterations, residual %.1e\n", i % 2 ? "warm" : "cold",
           i / 2 + 1, 1e3 * entries[i].best, tb_outcome_name(r->outcome), r->used, r->iterations,
           r->residual.fclib);
    tb_threads_destroy(&ctx, runs[i].ctx.threads);
  }
  for (int i = 0; i < kinds; i++) tb_problem_free(structure[i]);
  tb_problem_free(p), tb_problem_free(before);
  free(lambda), free(warm);
  return 0;
}
