// SPDX-License-Identifier: Apache-2.0
// A workspace keeps what the pattern decides, and nothing that changes a bit.
#include "tribo/workspace.h"

#include "solving.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tbProblem* make(tbContext* ctx, int metric, int contacts, uint64_t seed)
{
  tbManufacture spec = tb_default_manufacture();
  spec.contacts = contacts, spec.bodies = contacts / 2, spec.metric = metric, spec.seed = seed;
  tbProblem* p = NULL;
  double* exact = NULL;
  CHECK_OK(ctx, tb_problem_manufacture(ctx, &spec, &p, &exact));
  tb_manufacture_free(ctx, exact);
  return p;
}

// The same problem once more, by a builder: nothing of the workspace has a part in it.
static tbProblem* rebuild(tbContext* ctx, const tbProblem* p)
{
  tbBuilder* b = NULL;
  tbProblem* made = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, p->name, &b));
  for (int i = 0; i < p->nblock; i++) {
    const tbMetricBlock* m = &p->block[i];
    const double* v = p->v_free + m->dof;
    if (m->kind == TB_METRIC_PARTICLE) tb_builder_particle(b, m->size, m->value[0], v, NULL);
    else if (m->kind == TB_METRIC_DENSE) tb_builder_dense(b, m->size, m->value, v, NULL);
    else tb_builder_sparse(b, m->size, m->ptr, m->col, m->value, v, NULL);
  }
  if (p->W_ptr) tb_builder_explicit(b, p->nrow, p->W_ptr, p->W_col, p->W_val);
  for (int k = 0; k < p->ncontact; k++) {
    int row = p->row_adr[k];
    tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - row, p->param + p->param_adr[k],
                       p->bias + row, p->compliance + row);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &made));
  return made;
}

static double* scaled(const double* x, size_t n, double factor)
{
  double* y = calloc(n + 1, sizeof *y);
  for (size_t i = 0; i < n; i++) y[i] = factor * x[i] * (1 + 0.01 * (double)(i % 7) / 7);
  return y;
}

// Other biases and free motion; in every second round other masses, columns and entries of W, too.
static void change(tbContext* ctx, tbWorkspace* space, int round)
{
  const tbProblem* p = tb_workspace_problem(space);
  double *bias = scaled(p->bias, (size_t)p->nrow, 1.1), *v = scaled(p->v_free, (size_t)p->ndof, 0.9);
  double *jac = scaled(p->jac, p->jac_val_adr[p->ncol], 0.97), *W = NULL;
  double** block = calloc((size_t)p->nblock + 1, sizeof *block);
  tbProblemValues values = {.bias = bias, .v_free = v};
  if (round % 2 == 1) {
    values.jac = jac;
    for (int b = 0; b < p->nblock; b++) {
      const tbMetricBlock* m = &p->block[b];
      size_t n = m->kind == TB_METRIC_PARTICLE ? 1
                 : m->kind == TB_METRIC_DENSE  ? (size_t)(m->size * m->size)
                                               : (size_t)m->ptr[m->size];
      block[b] = calloc(n, sizeof **block);
      for (size_t i = 0; i < n; i++) block[b][i] = 1.25 * m->value[i];
    }
    values.block = (const double* const*)block;
    if (p->W_ptr) {
      W = calloc((size_t)p->W_ptr[p->nrow], sizeof *W);
      int cut = p->row_adr[p->ncontact / 2]; // rows from here on are let go of, then held from one side
      for (int i = 0; i < p->nrow; i++)
        for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) {
          bool across = (i < cut) != (p->W_col[e] < cut);
          W[e] = across ? (round == 1 ? 0 : i < cut ? 1e-3 : 0) : 0.8 * p->W_val[e];
        }
      values.W_val = W;
    }
  }
  CHECK_OK(ctx, tb_workspace_update(ctx, space, &values));
  CHECK(memcmp(tb_workspace_problem(space)->bias, bias, (size_t)p->nrow * sizeof *bias) == 0);
  for (int b = 0; b < p->nblock; b++) free(block[b]);
  free(block), free(bias), free(v), free(jac), free(W);
}

static void compare(tbContext* ctx, tbWorkspace* space, const tbSolveOptions* o, const char* when)
{
  const tbProblem* p = tb_workspace_problem(space);
  size_t rows = (size_t)p->nrow;
  tbProblem* fresh = rebuild(ctx, p);
  double *a = calloc(rows + 1, sizeof *a), *b = calloc(rows + 1, sizeof *b);
  tbSolveResult kept, own;
  CHECK_OK(ctx, tb_workspace_solve(ctx, space, o, a, &kept));
  CHECK_OK(ctx, tb_solve(ctx, fresh, o, b, &own));
  if (memcmp(a, b, rows * sizeof *a) || kept.iterations != own.iterations || kept.outcome != own.outcome ||
      memcmp(&kept.residual, &own.residual, sizeof own.residual))
    test_failed(__FILE__, __LINE__, "%s, order %s, %s: %s after %d iterations, but %s after %d on its own",
                o->solver, tb_order_name(o->order), when, tb_outcome_name(kept.outcome), kept.iterations,
                tb_outcome_name(own.outcome), own.iterations);
  free(a), free(b);
  tb_problem_free(fresh);
}

TEST(a_workspace_solves_to_the_bits_of_a_fresh_problem)
{
  tbContext ctx = tb_default_context();
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric++) {
    tbProblem* p = make(&ctx, metric, 14, 7 + (uint64_t)metric);
    tbWorkspace* space = NULL;
    CHECK_OK(&ctx, tb_workspace_create(&ctx, p, &space));
    tb_problem_free(p);
    REQUIRE(space);
    for (int round = 0; round < 5; round++) { // all solvers share it
      for (int i = 0; i < tb_solver_count(); i++) {
        tbSolveOptions o = tb_default_solve_options();
        o.solver = tb_solver_at(i)->name, o.max_iterations = 40, o.tolerance = 1e-10;
        o.order = (tbOrder)((i + metric) % TB_ORDER_COUNT);
        o.inverse = metric == TB_MAKE_SPARSE && i % 3 == 2 ? TB_INVERSE_LUMPED : TB_INVERSE_EXACT;
        char when[40];
        snprintf(when, sizeof when, "metric %d, round %d", metric, round);
        if (test_quick() && (i + round) % 2) continue;
        if (test_pick_model(tb_solver_at(i), tb_workspace_problem(space), &o.model))
          compare(&ctx, space, &o, when);
      }
      change(&ctx, space, round);
    }
    tb_workspace_free(&ctx, space);
  }
}

// Copies of one structure beside each other: islands that `auto` solves by themselves, on threads.
static tbProblem* many_islands(tbContext* ctx, int copies)
{
  tbProblem *one = make(ctx, TB_MAKE_RIGID, 12, 3), *all = NULL;
  tbBuilder* b = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "islands", &b));
  for (int c = 0; c < copies; c++)
    for (int i = 0; i < one->nblock; i++)
      tb_builder_dense(b, 6, one->block[i].value, one->v_free + one->block[i].dof, NULL);
  for (int c = 0; c < copies; c++)
    for (int k = 0; k < one->ncontact; k++) {
      int row = one->row_adr[k];
      double bias[TB_MAX_ROWS] = {0};
      for (int i = 0; i < one->row_adr[k + 1] - row; i++) bias[i] = one->bias[row + i] * (1 + 0.01 * c);
      tb_builder_contact(b, (tbLaw)one->law[k], one->row_adr[k + 1] - row, one->param + one->param_adr[k],
                         bias, one->compliance + row);
      for (int j = one->jac_adr[k]; j < one->jac_adr[k + 1]; j++)
        tb_builder_jacobian(b, c * one->ndof + one->jac_dof[j], one->jac_width[j],
                            one->jac + one->jac_val_adr[j]);
    }
  CHECK_OK(ctx, tb_builder_finish(b, &all));
  tb_problem_free(one);
  return all;
}

TEST(a_workspace_keeps_islands_to_the_bits)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = many_islands(&ctx, 40);
  tbWorkspace* space = NULL;
  CHECK_OK(&ctx, tb_threads_create(&ctx, 2, &ctx.threads));
  CHECK_OK(&ctx, tb_workspace_create(&ctx, p, &space));
  tbSolveOptions o = tb_default_solve_options();
  for (int round = 0; round < 4; round++) {
    compare(&ctx, space, &o, "islands");
    change(&ctx, space, round);
  }
  tb_workspace_free(&ctx, space);
  tb_problem_free(p);
  tb_threads_destroy(&ctx, ctx.threads);
}

static long allocations(tbContext* ctx, tbFailingAllocator* count, tbWorkspace* space,
                        const tbSolveOptions* o, int round)
{
  double* lambda = calloc((size_t)tb_workspace_problem(space)->nrow + 1, sizeof *lambda);
  tbSolveResult r;
  change(ctx, space, round);
  long before = count->total;
  CHECK_OK(ctx, tb_workspace_solve(ctx, space, o, lambda, &r));
  free(lambda);
  return count->total - before;
}

LONG_TEST(repeated_solves_in_a_workspace_allocate_nothing)
{
  tbContext plain = tb_default_context();
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_EXPLICIT; metric++) {
    tbProblem* p = make(&plain, metric, 12, 5);
    for (int i = 0; i < tb_solver_count(); i++) {
      tbFailingAllocator count = {.countdown = -1};
      tbContext ctx = test_failing_context(&count);
      tbWorkspace* space = NULL;
      tbSolveOptions o = tb_default_solve_options();
      o.solver = tb_solver_at(i)->name, o.max_iterations = 20, o.order = (tbOrder)(i % TB_ORDER_COUNT);
      if (!test_pick_model(tb_solver_at(i), p, &o.model)) continue;
      CHECK_OK(&ctx, tb_workspace_create(&ctx, p, &space));
      long first = allocations(&ctx, &count, space, &o, 0);
      allocations(&ctx, &count, space, &o, p->W_ptr ? 0 : 1);
      for (int round = 2; round < 7; round += p->W_ptr ? 2 : 1) { // zeros of W stay where they are
        long more = allocations(&ctx, &count, space, &o, round);
        if (more != 0 || first == 0)
          test_failed(__FILE__, __LINE__, "%s, metric %d: %ld allocations at first, %ld in round %d",
                      o.solver, metric, first, more, round);
      }
      tb_workspace_free(&ctx, space);
      CHECK(count.alive == 0);
    }
    tb_problem_free(p);
  }
}

TEST(a_failed_update_leaves_the_workspace_as_it_was)
{
  tbContext ctx = tb_default_context();
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_SPARSE; metric++) {
    tbProblem *p = make(&ctx, metric, 12, 9), *other = make(&ctx, metric, 14, 9);
    tbWorkspace* space = NULL;
    CHECK_OK(&ctx, tb_workspace_create(&ctx, p, &space));
    const tbMetricBlock* last = &p->block[p->nblock - 1];
    size_t n = metric == TB_MAKE_PARTICLES ? 1
               : metric == TB_MAKE_RIGID   ? (size_t)(last->size * last->size)
                                           : (size_t)last->ptr[last->size];
    double *negative = calloc(n, sizeof *negative), *bias = scaled(p->bias, (size_t)p->nrow, 3);
    for (size_t i = 0; i < n; i++) negative[i] = -last->value[i];
    const double** block = calloc((size_t)p->nblock, sizeof *block);
    block[p->nblock - 1] = negative;
    tbProblemValues bad = {.block = block, .bias = bias};
    CHECK(tb_workspace_update(&ctx, space, &bad) != TB_OK && strstr(ctx.error.message, "metric block"));
    bias[1] = INFINITY;
    bad = (tbProblemValues){.bias = bias};
    CHECK(tb_workspace_update(&ctx, space, &bad) == TB_ERROR_INPUT);
    CHECK(tb_workspace_update_like(&ctx, space, other) == TB_ERROR_ARGUMENT);
    CHECK(memcmp(tb_workspace_problem(space)->bias, p->bias, (size_t)p->nrow * sizeof *bias) == 0);
    tbSolveOptions o = tb_default_solve_options();
    o.solver = "bgs", o.max_iterations = 30;
    compare(&ctx, space, &o, "after a failed update");
    CHECK_OK(&ctx, tb_workspace_update_like(&ctx, space, p));
    tb_workspace_free(&ctx, space);
    tb_problem_free(p), tb_problem_free(other);
    free(negative), free(block), free(bias);
  }
}

static tbStatus live(tbContext* ctx, const tbProblem* p, int* next)
{
  tbWorkspace* space = NULL;
  tbStatus status = tb_workspace_create(ctx, p, &space);
  double *lambda = calloc((size_t)p->nrow + 1, sizeof *lambda), *bias = scaled(p->bias, (size_t)p->nrow, 1);
  for (int i = 0; status == TB_OK && i < tb_solver_count(); i++) {
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.solver = tb_solver_at(i)->name, o.max_iterations = 3, o.order = (tbOrder)(i % TB_ORDER_COUNT);
    if (!test_pick_model(tb_solver_at(i), p, &o.model)) continue;
    for (int k = 0; status == TB_OK && k < 2; k++) {
      for (int j = 0; j < p->nrow; j++) bias[j] *= 1.01;
      status = tb_workspace_update(ctx, space, &(tbProblemValues){.bias = bias});
      if (status == TB_OK) status = tb_workspace_solve(ctx, space, &o, lambda, &r);
    }
    *next = i;
  }
  free(lambda), free(bias);
  tb_workspace_free(ctx, space);
  return status;
}

TEST(a_workspace_survives_every_failed_allocation)
{
  tbContext plain = tb_default_context();
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_EXPLICIT; metric++) {
    tbProblem* p = make(&plain, metric, 8, 5);
    tbFailingAllocator all = {.countdown = -1};
    tbContext ctx = test_failing_context(&all);
    int at = 0;
    CHECK_OK(&ctx, live(&ctx, p, &at));
    CHECK(all.alive == 0 && all.total > 50);
    for (long k = 0; k < all.total; k += test_quick() ? 7 : 2) {
      tbFailingAllocator state = {.countdown = k, .for_good = k % 4 < 2};
      ctx = test_failing_context(&state);
      tbStatus status = live(&ctx, p, &at);
      if ((status != TB_ERROR_MEMORY && status != TB_OK) || state.alive != 0)
        test_failed(__FILE__, __LINE__, "metric %d, allocation %ld, at %s: %s, %ld blocks left", metric, k,
                    tb_solver_at(at)->name, tb_status_name(status), state.alive);
    }
    tb_problem_free(p);
  }
}
