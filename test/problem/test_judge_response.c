// SPDX-License-Identifier: Apache-2.0
// The judge finds the response of a contact when it matters: what it says does not depend on when that was.
#include "problem/judge.h"
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <string.h>

enum { WIDE = 15, CONTACTS = 40 };

// Contacts of every law between two dense blocks of 6 and of 15 velocities.
static tbProblem* two_blocks(tbContext* ctx, tbRandom* r)
{
  static const tbLaw laws[] = {TB_LAW_COULOMB, TB_LAW_NONNEG, TB_LAW_BOX, TB_LAW_BILATERAL};
  tbBuilder* b;
  tbProblem* p = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "wide", &b));
  for (int n = 6; n <= WIDE; n += WIDE - 6) {
    double A[WIDE * WIDE] = {0}, v[WIDE];
    for (int i = 0; i < n; i++) {
      v[i] = test_uniform(r, -1, 1);
      for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i] = test_uniform(r, -0.1, 0.1);
      A[i * n + i] = test_uniform(r, 2, 3);
    }
    tb_builder_dense(b, n, A, v, NULL);
  }
  for (int k = 0; k < CONTACTS; k++) {
    tbLaw law = laws[k % 4];
    double param[6] = {0.5, -1, -1, 1, 1, 1}, bias[3] = {0.1, 0, 0}, R[3] = {0}, J[3 * WIDE];
    if (law == TB_LAW_BOX) param[0] = -1;
    for (int i = 0; i < 3 * WIDE; i++) J[i] = test_uniform(r, -1, 1);
    CHECK_OK(ctx, tb_builder_contact(b, law, 3, param, bias, R));
    CHECK_OK(ctx, tb_builder_jacobian(b, 0, 6, J));
    CHECK_OK(ctx, tb_builder_jacobian(b, 6, WIDE, J));
  }
  CHECK_OK(ctx, tb_builder_finish(b, &p));
  return p;
}

TEST(the_judge_says_the_same_whatever_it_was_asked_before)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  for (int trial = 0; trial < 20; trial++) {
    tbProblem* p = two_blocks(&ctx, &r);
    REQUIRE(p);
    double lambda[2][3 * CONTACTS];
    tbResidual out[5];
    tbJudge *fresh, *all, *asked;
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &fresh));
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &all));
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &asked));
    for (int k = 0; k < CONTACTS; k++)
      for (int i = 0; i < 3; i++) {
        lambda[0][3 * k + i] = test_below(&r, 3) ? 0 : test_uniform(&r, -0.2, 1);
        lambda[1][3 * k + i] = test_uniform(&r, -0.2, 1);
      }
    for (int k = 0; k < CONTACTS; k += 2) memset(lambda[0] + 3 * k, 0, 3 * sizeof **lambda); // half are open
    tb_judge_responses(all);
    tb_judge_measure(asked, lambda[0], TB_MODEL_CONE, 8, &out[3], NULL, NULL);
    tb_judge_measure(asked, lambda[1], TB_MODEL_CONE, 8, &out[3], NULL, NULL);
    double u[2][3 * CONTACTS];
    tb_judge_measure(fresh, lambda[0], TB_MODEL_CONE, 8, &out[0], u[0], NULL);
    tb_judge_measure(all, lambda[0], TB_MODEL_CONE, 8, &out[1], NULL, NULL);
    tb_judge_measure(asked, lambda[0], TB_MODEL_CONE, 8, &out[2], NULL, NULL);
    tb_judge_measure(asked, lambda[0], TB_MODEL_POLYHEDRAL, 8, &out[3], u[1], NULL); // the same once more
    out[3].model = out[0].model, out[3].model_velocity = out[0].model_velocity;
    CHECK(memcmp(&out[0], &out[1], sizeof *out) == 0);
    CHECK(memcmp(&out[0], &out[2], sizeof *out) == 0);
    CHECK(memcmp(&out[0], &out[3], sizeof *out) == 0);
    CHECK(memcmp(u[0], u[1], sizeof *u) == 0);
    lambda[0][1] += 1e-9; // and another λ is another
    tb_judge_measure(fresh, lambda[0], TB_MODEL_CONE, 8, &out[4], NULL, NULL);
    CHECK(memcmp(&out[0], &out[4], sizeof *out) != 0);
    tb_judge_free(&ctx, fresh), tb_judge_free(&ctx, all), tb_judge_free(&ctx, asked);
    tb_problem_free(p);
  }
}
