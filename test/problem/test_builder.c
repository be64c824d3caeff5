// SPDX-License-Identifier: Apache-2.0
// Building by hand: what is accepted, and that every refusal names the place.
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <string.h>

static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, still[6] = {0}, half = 0.5;

// Finishes and checks that it fails with the status and a message that contains `part`.
#define REFUSES(b, expected, part)                                                              \
  do {                                                                                          \
    tbProblem* made = (tbProblem*)1;                                                            \
    tbStatus status = tb_builder_finish(b, &made);                                              \
    if (status != expected || made || !strstr(ctx.error.message, part))                         \
      test_failed(__FILE__, __LINE__, "%s: \"%s\"", tb_status_name(status), ctx.error.message); \
  } while (0)

static tbBuilder* start(tbContext* ctx)
{
  tbBuilder* b = NULL;
  CHECK_OK(ctx, tb_builder_create(ctx, "test", &b));
  return b;
}

TEST(builder_makes_a_block_on_the_ground)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = start(&ctx);
  double v[6] = {0, 0, -0.0981, 0, 0, 0}, J[18] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  int dof = -1;
  tb_builder_rigid(b, 2, unit, v, &dof);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &half, NULL, NULL);
  tb_builder_jacobian(b, dof, 6, J);
  tbProblem* p = NULL;
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  CHECK(p->ncontact == 1 && p->nrow == 3 && p->ndof == 6 && p->nblock == 1 && p->ncol == 1 && dof == 0);
  CHECK(p->block[0].value[0] == 2 && p->block[0].value[35] == 1 && strcmp(p->name, "test") == 0);
  tbJudge* judge = NULL;
  CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
  double rest[3] = {0.1962, 0, 0}, u[3];
  tbResidual r;
  tb_judge_measure(judge, rest, TB_MODEL_CONE, 8, &r, u, NULL);
  CHECK(r.fclib < 1e-15 && fabs(u[0]) < 1e-16);
  tb_judge_free(&ctx, judge);
  tb_problem_free(p);
}

TEST(partial_columns_on_one_body_add_up)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = start(&ctx);
  double n[1] = {1}, two[2] = {3, 4};
  tb_builder_rigid(b, 1, unit, still, NULL);
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 2, 1, n);
  tb_builder_jacobian(b, 2, 2, two);
  tbProblem* p = NULL;
  CHECK_OK(&ctx, tb_builder_finish(b, &p));
  REQUIRE(p);
  CHECK(p->ncol == 1 && p->jac_width[0] == 6 && p->jac[2] == 4 && p->jac[3] == 4 && p->jac[0] == 0);
  tb_problem_free(p);
}

TEST(builder_names_the_bad_metric_block)
{
  tbContext ctx = tb_default_context();
  tbBuilder* b = start(&ctx);
  tb_builder_particle(b, 3, 1, still, NULL);
  tb_builder_particle(b, 3, -2, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 1: mass -2");

  b = start(&ctx);
  double indefinite[4] = {1, 2, 2, 1};
  tb_builder_dense(b, 2, indefinite, still, NULL);
  REFUSES(b, TB_ERROR_NUMERIC, "metric block 0 is not positive definite");

  b = start(&ctx);
  double skew[4] = {1, 0.5, -0.5, 1};
  tb_builder_dense(b, 2, skew, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0 is not symmetric at (0, 1)");

  b = start(&ctx);
  int ptr[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
  double bad[] = {1, 3, 3, 1};
  tb_builder_sparse(b, 2, ptr, col, bad, still, NULL);
  REFUSES(b, TB_ERROR_NUMERIC, "positive definite");

  b = start(&ctx);
  int unsorted[] = {1, 0, 0, 1};
  tb_builder_sparse(b, 2, ptr, unsorted, bad, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "row 0: column 0 after column 1");

  b = start(&ctx);
  int outside[] = {0, 7, 0, 1};
  tb_builder_sparse(b, 2, ptr, outside, bad, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "column 7 is out of range");

  b = start(&ctx);
  tb_builder_dense(b, 0, unit, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0");

  b = start(&ctx);
  tb_builder_particle(b, 4, 1, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "a particle has 1 to 3 degrees of freedom, not 4");
  b = start(&ctx);
  tb_builder_particle(b, 0, 1, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0 has an impossible size, 0");
  b = start(&ctx);
  double gone[4] = {1, 0, NAN, 1};
  tb_builder_dense(b, 2, gone, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0: entry (1, 0) is");
  b = start(&ctx);
  tb_builder_sparse(b, 2, ptr, col, gone, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0: entry (1, 0) is");
  b = start(&ctx);
  tb_builder_sparse(b, 2, ptr, col, skew, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "metric block 0 is not symmetric at (0, 1)");
  b = start(&ctx);
  double flat[4] = {1, 0, 0, 0};
  tb_builder_sparse(b, 2, ptr, col, flat, still, NULL);
  REFUSES(b, TB_ERROR_NUMERIC, "metric block 0 is not positive definite (row 1)");
}

TEST(builder_names_the_bad_contact)
{
  tbContext ctx = tb_default_context();
  double J[3] = {0, 0, 1}, nan[3] = {0, NAN, 0}, negative = -0.1, minus[3] = {0, -1, 0}, bounds[2] = {1, -1},
         many[2] = {0.5, 100};

  tbBuilder* b = start(&ctx);
  tb_builder_contact(b, TB_LAW_COULOMB, 4, &half, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "contact 0: law coulomb does not take 4 rows");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, NULL, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "contact 0: law coulomb needs 1 parameters");
  b = start(&ctx);
  tb_builder_contact(b, (tbLaw)77, 3, &half, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "unknown law 77");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &negative, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "contact 0: parameter 0 of law coulomb is -0.1");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_BOX, 1, bounds, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "box bounds [1, -1] are empty");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_POLYHEDRAL, 3, many, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "100 directions");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &half, nan, NULL);
  REFUSES(b, TB_ERROR_INPUT, "bias[1]");
  b = start(&ctx);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &half, NULL, minus);
  REFUSES(b, TB_ERROR_INPUT, "compliance[1] is -1");
  b = start(&ctx);
  tb_builder_particle(b, 3, 1, still, NULL);
  tb_builder_particle(b, 3, 1, still, NULL);
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 2, 3, J);
  REFUSES(b, TB_ERROR_INPUT, "contact 0: column block 2…4 crosses");
  b = start(&ctx);
  tb_builder_particle(b, 3, 1, still, NULL);
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 1, 3, J);
  REFUSES(b, TB_ERROR_INPUT, "lies outside the 3 degrees of freedom");
  b = start(&ctx);
  tb_builder_particle(b, 3, 1, still, NULL);
  tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, NULL, NULL);
  tb_builder_jacobian(b, 0, 3, nan);
  REFUSES(b, TB_ERROR_INPUT, "contact 0: its Jacobian");
}

TEST(builder_names_the_bad_entry_of_a_given_W)
{
  tbContext ctx = tb_default_context();
  int ptr[] = {0, 1, 2, 3}, col[] = {0, 1, 2}, backwards[] = {0, 2, 1, 3}, outside[] = {0, 1, 3};
  double val[] = {1, 1, 1}, nan[] = {1, NAN, 1};

  tbBuilder* b = start(&ctx);
  tb_builder_explicit(b, 3, backwards, col, val);
  REFUSES(b, TB_ERROR_INPUT, "row starts decrease after row 1");
  b = start(&ctx);
  tb_builder_explicit(b, 3, ptr, outside, val);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &half, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "W, row 2: column 3 is out of range (3 rows)");
  b = start(&ctx);
  tb_builder_explicit(b, 3, ptr, col, nan);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &half, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "W[1][1]");
  b = start(&ctx);
  tb_builder_explicit(b, 3, ptr, col, val);
  tb_builder_contact(b, TB_LAW_COULOMB, 2, &half, NULL, NULL);
  REFUSES(b, TB_ERROR_INPUT, "W has 3 rows, but the contacts have 2");
  b = start(&ctx);
  tb_builder_explicit(b, 3, ptr, col, val);
  tb_builder_particle(b, 3, 1, still, NULL);
  REFUSES(b, TB_ERROR_INPUT, "W is given");
}

TEST(laws_have_names)
{
  for (int i = 0; i < TB_LAW_COUNT; i++) {
    tbLaw law = TB_LAW_COUNT;
    CHECK(tb_law_from_name(tb_law_name((tbLaw)i), &law) && law == (tbLaw)i);
  }
  tbLaw law = TB_LAW_COUNT;
  CHECK(!tb_law_from_name("amontons", &law) && law == TB_LAW_COUNT);
}
