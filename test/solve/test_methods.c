// SPDX-License-Identifier: Apache-2.0
// What each method must at least do: one contact by hand, and its share of the manufactured problems.
#include "solve/cases.h"

TEST(one_contact_by_hand_by_every_solver)
{
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* solver = tb_solver_at(i);
    bool round = solver->models & 1u << TB_MODEL_CONE && solver->sets == TB_SETS_ALL;
    tbSolveOptions o = cases_options(solver->name, TB_MODEL_CONE, 5000);
    if (round) cases_one_contact(&o);
  }
}

// At most so many of the first `count` seeds may fail.
static void demand(const char* solver, tbModel model, int iterations, CasesSpec* spec, int count, int most)
{
  tbSolveOptions o = cases_options(solver, model, iterations);
  int failed = cases_failed(&o, spec, count);
  if (failed > most)
    test_failed(__FILE__, __LINE__, "%s, model %s: %d are not solved, not %d at most", solver,
                tb_model_name(model), failed, most);
}

LONG_TEST(first_order_methods_solve_manufactured_problems)
{
  demand("admm", TB_MODEL_CONE, 3000, cases_mild_laws, 300, 6);
  demand("admm", TB_MODEL_CCP, 3000, cases_mild, 300, 6);
  demand("apgd", TB_MODEL_CONE, 3000, cases_mild_laws, 300, 15);
  demand("apgd", TB_MODEL_CCP, 3000, cases_mild, 300, 15);
  demand("nncg", TB_MODEL_CONE, 5000, cases_mild_laws, 300, 6);
  demand("nncg", TB_MODEL_BOX, 5000, cases_mild, 100, 2);
  demand("nncg", TB_MODEL_CCP, 5000, cases_mild, 100, 2);
  demand("pgs-sm", TB_MODEL_CONE, 1000, cases_mild_laws, 100, 2);
  demand("pgs-sm", TB_MODEL_BOX, 1000, cases_mild, 300, 6);
}

LONG_TEST(second_order_methods_solve_manufactured_problems)
{
  demand("newton-ac", TB_MODEL_CONE, 300, cases_harsh_laws, 300, 15);
  demand("newton-fb", TB_MODEL_CONE, 300, cases_harsh_laws, 300, 15);
  demand("newton-min", TB_MODEL_CONE, 300, cases_harsh_laws, 300, 20);
  demand("newton-surface", TB_MODEL_CONE, 300, cases_harsh_laws, 300, 20);
  demand("prox-newton", TB_MODEL_CONE, 300, cases_harsh_laws, 300, 1);
  demand("ipm", TB_MODEL_CONE, 300, cases_harsh, 300, 6);
  demand("ipm", TB_MODEL_CCP, 300, cases_harsh, 60,
         7); // λ runs away on some, which does not count as solved
  demand("ipm", TB_MODEL_FRICTIONLESS, 300, cases_harsh, 60, 4);
}

static tbManufacture symmetric(int seed)
{
  tbManufacture s = cases_harsh(seed);
  s.mu_max = seed % 7 == 0 ? 0 : 0.8;
  s.metric = seed % 4;
  s.mass_ratio = 1;
  s.compliant = false;
  s.all_laws = seed % 5 == 4;
  return s;
}

LONG_TEST(staggered_projections_solve_manufactured_problems)
{
  demand("staggered", TB_MODEL_CONE, 400, symmetric, 300, 15);
}
