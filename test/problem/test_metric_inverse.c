// SPDX-License-Identifier: Apache-2.0
// Entries of A⁻¹ that are known beforehand say what solves with the factor say.
#include "problem/judge.h"
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double difference(int n, const double* a, const double* b)
{
  double most = 0, size = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(a[i]));
  return size > 0 ? most / size : most;
}

// The same problem without them.
static tbProblem without(const tbProblem* p, tbMetricBlock* block)
{
  tbProblem q = *p;
  memcpy(block, p->block, (size_t)p->nblock * sizeof *block);
  for (int b = 0; b < p->nblock; b++) block[b].inverse = NULL;
  q.block = block;
  return q;
}

TEST(entries_of_the_inverse_give_the_responses_and_diagonals_of_solves)
{
  tbContext ctx = tb_default_context();
  int known = 0;
  for (int seed = 0; seed < 12; seed++) {
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed, spec.metric = TB_MAKE_SPARSE, spec.contacts = 60 + 20 * seed;
    spec.bodies = 30, spec.all_laws = seed % 2;
    tbProblem* p = NULL;
    double* lambda = NULL;
    CHECK_OK(&ctx, tb_problem_manufacture(&ctx, &spec, &p, &lambda));
    REQUIRE(p);
    tbMetricBlock* block = malloc((size_t)(p->nblock + 1) * sizeof *block);
    tbProblem q = without(p, block);
    for (int b = 0; b < p->nblock; b++) known += p->block[b].inverse != NULL;
    tbJudge* judge[2] = {0};
    tbDelassus* W[2] = {0};
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge[0]));
    CHECK_OK(&ctx, tb_judge_create(&ctx, &q, &judge[1]));
    CHECK_OK(&ctx, tb_delassus_create(&ctx, p, TB_FORM_FREE, &W[0]));
    CHECK_OK(&ctx, tb_delassus_create(&ctx, &q, TB_FORM_FREE, &W[1]));
    double a = difference(p->ncontact, tb_judge_responses(judge[0]), tb_judge_responses(judge[1]));
    double d = difference((int)W[0]->diag_adr[p->ncontact], W[0]->diag, W[1]->diag);
    CHECK_NEAR(a, 0, 1e-12);
    CHECK_NEAR(d, 0, 1e-12);
    for (int i = 0; i < 2; i++) tb_judge_free(&ctx, judge[i]), tb_delassus_free(&ctx, W[i]);
    free(block);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
  CHECK(known >= 6);
}

// Contacts between two sparse blocks, chains of particles, whose columns lie in turn in the one and the
// other.
enum { CHAIN = 8, LINKS = 400 };

static tbProblem* two_chains(tbContext* ctx, tbRandom* r)
{
  enum { N = 3 * CHAIN };
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  int ptr[N + 1], col[9 * N], used = 0;
  double value[9 * N], rest[N] = {0};
  CHECK_OK(ctx, tb_builder_create(ctx, "chains", &b));
  for (int i = 0; i < N; i++) {
    ptr[i] = used;
    for (int j = i / 3 > 0 ? 3 * (i / 3) - 3 : 0; j < N && j < 3 * (i / 3) + 6; j++, used++)
      col[used] = j, value[used] = i == j ? 3 : i % 3 == j % 3 ? -1 : 0;
  }
  ptr[N] = used;
  for (int k = 0; k < 2; k++) CHECK_OK(ctx, tb_builder_sparse(b, N, ptr, col, value, rest, NULL));
  for (int k = 0; k < LINKS; k++) {
    CHECK_OK(ctx, tb_builder_contact(b, TB_LAW_COULOMB, 3, (const double[]){0.5}, rest, rest));
    int node = test_below(r, CHAIN - 1);
    for (int c = 0; c < 4; c++) {
      double J[9];
      for (int i = 0; i < 9; i++) J[i] = test_uniform(r, -1, 1);
      CHECK_OK(ctx, tb_builder_jacobian(b, c % 2 * N + 3 * (node + c / 2), 3, J));
    }
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(columns_of_two_sparse_blocks_may_take_turns)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(8);
  tbProblem* p = two_chains(&ctx, &r);
  REQUIRE(p && p->nblock == 2);
  CHECK(p->block[0].inverse && p->block[1].inverse);
  tbMetricBlock block[3];
  tbProblem q = without(p, block);
  tbJudge* judge[2] = {0};
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge[0]));
  CHECK_OK(&ctx, tb_judge_create(&ctx, &q, &judge[1]));
  CHECK_NEAR(difference(LINKS, tb_judge_responses(judge[0]), tb_judge_responses(judge[1])), 0, 1e-12);
  for (int i = 0; i < 2; i++) tb_judge_free(&ctx, judge[i]);
  tb_problem_free(p);
}

// The same problem with the column blocks of every contact in another order, those of a body not side by
// side.
typedef struct {
  int *dof, *width;
  size_t* val_adr;
  double* jac;
} Columns;

static tbProblem with_columns(const tbProblem* p, tbRandom* r, Columns* c)
{
  size_t n = (size_t)p->ncol, values = p->jac_val_adr[p->ncol], at = 0;
  *c = (Columns){malloc(n * sizeof(int)), malloc(n * sizeof(int)), malloc((n + 1) * sizeof(size_t)),
                 malloc(values * sizeof(double))};
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->jac_adr[k], count = p->jac_adr[k + 1] - first, order[64];
    int rows = p->row_adr[k + 1] - p->row_adr[k];
    CHECK(count <= 64);
    for (int i = 0; i < count; i++) order[i] = first + i;
    for (int i = count - 1; i > 0; i--) {
      int j = test_below(r, i + 1), kept = order[i];
      order[i] = order[j], order[j] = kept;
    }
    for (int i = 0; i < count; i++) {
      size_t size = (size_t)(rows * p->jac_width[order[i]]);
      c->dof[first + i] = p->jac_dof[order[i]], c->width[first + i] = p->jac_width[order[i]];
      c->val_adr[first + i] = at;
      memcpy(c->jac + at, p->jac + p->jac_val_adr[order[i]], size * sizeof(double));
      at += size;
    }
  }
  c->val_adr[n] = at;
  tbProblem q = *p;
  q.jac_dof = c->dof, q.jac_width = c->width, q.jac_val_adr = c->val_adr, q.jac = c->jac;
  return q;
}

TEST(the_order_of_a_contacts_columns_does_not_matter)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(3);
  for (int seed = 0; seed < 8; seed++) {
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)seed, spec.metric = TB_MAKE_SPARSE, spec.contacts = seed < 4 ? 10 : 150;
    spec.bodies = 30, spec.all_laws = seed % 2;
    tbProblem* p = NULL;
    double* lambda = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    Columns c;
    tbProblem q = with_columns(p, &r, &c);
    tbJudge* judge[2] = {0};
    tbDelassus* W[2] = {0};
    tbResidual residual[2];
    for (int i = 0; i < p->nrow; i++) lambda[i] += test_uniform(&r, -0.01, 0.01);
    for (int i = 0; i < 2; i++) {
      CHECK_OK(&ctx, tb_judge_create(&ctx, i ? &q : p, &judge[i]));
      CHECK_OK(&ctx, tb_delassus_create(&ctx, i ? &q : p, TB_FORM_FREE, &W[i]));
      tb_judge_measure(judge[i], lambda, TB_MODEL_CONE, 8, &residual[i], NULL, NULL);
    }
    CHECK_NEAR(difference(p->ncontact, tb_judge_responses(judge[0]), tb_judge_responses(judge[1])), 0, 1e-12);
    CHECK_NEAR(difference((int)W[0]->diag_adr[p->ncontact], W[0]->diag, W[1]->diag), 0, 1e-12);
    CHECK_NEAR(residual[1].velocity / residual[0].velocity, 1, 1e-9);
    for (int i = 0; i < 2; i++) tb_judge_free(&ctx, judge[i]), tb_delassus_free(&ctx, W[i]);
    free(c.dof), free(c.width), free(c.val_adr), free(c.jac);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}
