// SPDX-License-Identifier: Apache-2.0
// The order of layers: what the layers are, and what they are good for.
#include "base/random.h"
#include "solve/cases.h"

#include <stdlib.h>
#include <string.h>

// The problem with its contacts in another order: contact k of the copy is perm[k] of p.
static tbProblem* reorder(tbContext* ctx, const tbProblem* p, const int* perm)
{
  tbBuilder* b = NULL;
  tbProblem* out = NULL;
  if (tb_builder_create(ctx, p->name, &b) != TB_OK) return NULL;
  for (int i = 0; i < p->nblock; i++)
    tb_builder_dense(b, p->block[i].size, p->block[i].value, p->v_free + p->block[i].dof, NULL);
  for (int i = 0; i < p->ncontact; i++) {
    int k = perm[i], row = p->row_adr[k];
    tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - row, p->param + p->param_adr[k],
                       p->bias + row, p->compliance + row);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &out));
  return out;
}

// The same problem as W and q alone.
static tbProblem* forget_bodies(tbContext* ctx, const tbProblem* p)
{
  int n = p->nrow, *ptr = calloc((size_t)n + 1, sizeof *ptr), *col = calloc((size_t)(n * n), sizeof *col);
  double* val = calloc((size_t)(n * n), sizeof *val);
  tbDelassus* W = NULL;
  tbBuilder* b = NULL;
  tbProblem* out = NULL;
  CHECK_OK(ctx, tb_delassus_create(ctx, p, TB_FORM_DENSE, &W));
  for (int i = 0; i < n; i++) {
    ptr[i + 1] = ptr[i];
    for (int j = 0; j < n; j++)
      if (W->dense[i * n + j] != 0) col[ptr[i + 1]] = j, val[ptr[i + 1]++] = W->dense[i * n + j];
  }
  CHECK_OK(ctx, tb_builder_create(ctx, p->name, &b));
  tb_builder_explicit(b, n, ptr, col, val);
  for (int k = 0; k < p->ncontact; k++)
    tb_builder_contact(b, (tbLaw)p->law[k], p->row_adr[k + 1] - p->row_adr[k], p->param + p->param_adr[k],
                       W->q + p->row_adr[k], NULL);
  CHECK_OK(ctx, tb_builder_finish(b, &out));
  tb_delassus_free(ctx, W);
  free(ptr), free(col), free(val);
  return out;
}

enum { BOXES = 10, CORNERS = 4, CONTACTS = BOXES * CORNERS };

static tbProblem* make_stack(tbContext* ctx, uint64_t seed, int* perm)
{
  tbGenerate spec = tb_default_generate(TB_GENERATE_STACK);
  spec.size = BOXES;
  tbProblem *stack = NULL, *out = NULL;
  CHECK_OK(ctx, tb_problem_generate(ctx, &spec, &stack));
  for (int k = 0; k < CONTACTS; k++) perm[k] = k;
  for (int k = CONTACTS - 1; k > 0; k--) {
    int j = tb_random_below(&seed, k + 1), t = perm[k];
    perm[k] = perm[j], perm[j] = t;
  }
  if (stack && stack->ncontact == CONTACTS) out = reorder(ctx, stack, perm);
  tb_problem_free(stack);
  return out;
}

TEST(layers_of_a_stack_are_its_storeys)
{
  tbContext ctx = tb_default_context();
  int perm[CONTACTS], layer[CONTACTS], count = 0;
  tbProblem* p = make_stack(&ctx, 3, perm);
  REQUIRE(p);
  tbProblem* bare = forget_bodies(&ctx, p);
  REQUIRE(bare);
  for (int given = 0; given < 2; given++) {
    CHECK_OK(&ctx, tb_problem_layers(&ctx, given ? bare : p, layer, &count));
    CHECK(count == BOXES);
    for (int k = 0; k < CONTACTS; k++) CHECK(layer[k] == perm[k] / CORNERS);
  }
  tb_problem_free(bare);
  tb_problem_free(p);
}

// Particles on a line, 1 kg each; −1 stands for the world.
static tbProblem* make_chain(tbContext* ctx, int bodies, int contacts, const int (*pair)[2])
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  if (tb_builder_create(ctx, "chain", &b) != TB_OK) return NULL;
  for (int i = 0; i < bodies; i++) tb_builder_particle(b, 1, 1, (double[]){i % 3 - 1.5}, NULL);
  for (int k = 0; k < contacts; k++) {
    tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
    for (int side = 0; side < 2; side++)
      if (pair[k][side] >= 0) tb_builder_jacobian(b, pair[k][side], 1, (double[]){side ? 1 : -1});
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(layers_start_anew_in_every_island)
{
  // two towers, one held from both ends; a pair that floats; a lonely body on the ground
  static const int pair[][2] = {{1, 2}, {0, 1},  {-1, 0}, {5, -1}, {4, 5},
                                {3, 4}, {-1, 3}, {6, 7},  {7, 8},  {-1, 9}};
  static const int expected[] = {2, 1, 0, 0, 1, 1, 0, 0, 0, 0};
  tbContext ctx = tb_default_context();
  tbProblem* p = make_chain(&ctx, 10, 10, pair);
  REQUIRE(p);
  int layer[10], count = 0;
  CHECK_OK(&ctx, tb_problem_layers(&ctx, p, layer, &count));
  CHECK(count == 3);
  for (int k = 0; k < 10; k++) CHECK(layer[k] == expected[k]);
  tb_problem_free(p);
}

TEST(layers_are_the_given_order_where_nothing_is_held)
{
  static const int pair[][2] = {{3, 4}, {0, 1}, {2, 3}, {1, 2}, {5, 6}, {4, 5}};
  static const char* const solvers[] = {"pgs", "psor", "spgs", "bgs", "nncg"};
  tbContext ctx = tb_default_context();
  tbProblem* p = make_chain(&ctx, 7, 6, pair);
  REQUIRE(p);
  for (int i = 0; i < 5; i++) {
    double lambda[2][6] = {{0}};
    for (int layers = 0; layers < 2; layers++) {
      tbSolveOptions o = tb_default_solve_options();
      tbSolveResult r;
      o.solver = solvers[i];
      o.order = layers ? TB_ORDER_LAYERS : TB_ORDER_GIVEN;
      o.max_iterations = 3;
      CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda[layers], &r));
    }
    CHECK(memcmp(lambda[0], lambda[1], sizeof lambda[0]) == 0);
  }
  tb_problem_free(p);
}

static void note_first(void* user, const tbTraceEvent* e)
{
  int* first = user;
  if (*first == 0 && e->residual->fclib <= 0.05) *first = e->iteration;
}

static int sweeps_to_hold(const tbProblem* p, const char* solver, tbOrder order, uint64_t seed)
{
  int first = 0;
  tbSolveOptions o = tb_default_solve_options();
  o.solver = solver;
  o.order = order;
  o.seed = seed;
  o.tolerance = 0;
  o.max_iterations = 200;
  o.trace = note_first;
  o.trace_user = &first;
  cases_solve(p, &o, NULL);
  return first;
}

// The first sweeps count where there are few: what the ground takes reaches the top in one.
TEST(layers_hold_a_stack_in_fewer_sweeps_than_chance)
{
  static const char* const solvers[] = {"pgs", "psor", "bgs"};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    tbContext ctx = tb_default_context();
    int perm[CONTACTS];
    tbProblem* p = make_stack(&ctx, seed, perm);
    REQUIRE(p);
    for (int i = 0; i < 3; i++) {
      int layers = sweeps_to_hold(p, solvers[i], TB_ORDER_LAYERS, 1);
      int given = sweeps_to_hold(p, solvers[i], TB_ORDER_GIVEN, 1);
      int random = sweeps_to_hold(p, solvers[i], TB_ORDER_RANDOM, seed);
      printf("[%s %d %d %d] ", solvers[i], layers, given, random);
      CHECK(layers > 0 && layers < given && layers < 0.9 * random);
    }
    tb_problem_free(p);
  }
}
