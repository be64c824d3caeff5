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
