// SPDX-License-Identifier: Apache-2.0
// The judge's verdict on random problems: the same in any units, and whatever the order of contacts.
#include "test.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdlib.h>

// The problem in units that make masses `mass` times and velocities `speed` times as large, contact k of it
// being contact order[k] of p; and impulses with it.
static tbProblem* rebuilt(tbContext* ctx, const tbProblem* p, double mass, double speed, const int* order,
                          const double* lambda, double* impulse)
{
  double value[36], v[6], bias[6], compliance[6];
  tbBuilder* b = NULL;
  tbProblem* out = NULL;
  int row = 0;
  CHECK_OK(ctx, tb_builder_create(ctx, "rebuilt", &b));
  for (int i = 0; i < p->nblock; i++) {
    const tbMetricBlock* block = &p->block[i];
    for (int k = 0; k < block->size * block->size; k++) value[k] = mass * block->value[k];
    for (int k = 0; k < block->size; k++) v[k] = speed * p->v_free[block->dof + k];
    tb_builder_dense(b, block->size, value, v, NULL);
  }
  for (int i = 0; i < p->ncontact; i++) {
    int k = order[i], first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
    for (int j = 0; j < rows; j++) {
      bias[j] = speed * p->bias[first + j], compliance[j] = p->compliance[first + j] / mass;
      impulse[row++] = mass * speed * lambda[first + j];
    }
    tb_builder_contact(b, (tbLaw)p->law[k], rows, p->param + p->param_adr[k], bias, compliance);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, p->jac_dof[c], p->jac_width[c], p->jac + p->jac_val_adr[c]);
  }
  CHECK_OK(ctx, tb_builder_finish(b, &out));
  return out;
}

static tbResidual judge(tbContext* ctx, const tbProblem* p, const double* lambda)
{
  tbResidual r = {0};
  tbJudge* judge = NULL;
  CHECK_OK(ctx, tb_judge_create(ctx, p, &judge));
  if (judge) tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
  tb_judge_free(ctx, judge);
  return r;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

TEST(the_judge_knows_neither_units_nor_the_order_of_contacts)
{
  static const double units[][2] = {{1, 1}, {1e6, 1}, {1e-6, 1e3}, {1, 1e100}, {1, 1e-100}, {1e50, 1e-50}};
  for (int seed = 1; seed <= (test_quick() ? 4 : 20); seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    tbRandom random = test_random((uint64_t)seed);
    tbProblem* p = NULL;
    double* lambda = NULL;
    spec.seed = (uint64_t)seed, spec.metric = TB_MAKE_RIGID;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    for (int i = 0; i < p->nrow; i++) lambda[i] += test_uniform(&random, -0.01, 0.01); // not quite the answer
    int* order = calloc((size_t)p->ncontact, sizeof *order);
    double* impulse = calloc((size_t)p->nrow, sizeof *impulse);
    for (int i = 0; i < p->ncontact; i++) order[i] = i;
    for (int i = p->ncontact - 1; i > 0; i--) {
      int k = test_below(&random, i + 1), kept = order[i];
      order[i] = order[k], order[k] = kept;
    }
    tbResidual a = judge(&ctx, p, lambda);
    CHECK(a.velocity > 0 && a.fclib > 0);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
      double mass = units[u][0], speed = units[u][1];
      tbProblem* q = rebuilt(&ctx, p, mass, speed, order, lambda, impulse);
      REQUIRE(q);
      tbResidual b = judge(&ctx, q, impulse);
      if (!near(b.velocity, speed * a.velocity) || !near(b.cone, mass * speed * a.cone) ||
          !near(b.penetration, speed * a.penetration) || (mass == 1 && !near(b.fclib, a.fclib)))
        test_failed(__FILE__, __LINE__,
                    "seed %d, masses × %g, velocities × %g: %g m/s instead of %g, fclib %g of %g", seed, mass,
                    speed, b.velocity, speed * a.velocity, b.fclib, a.fclib);
      tb_problem_free(q);
    }
    free(order), free(impulse);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}
