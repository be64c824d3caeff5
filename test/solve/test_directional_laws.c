// SPDX-License-Identifier: Apache-2.0
// Friction tensors, the one law that says by itself which way friction points; polygons of directions; and
// the polyhedral model of an ellipse.
#include "solve/cases.h"
#include "solving.h"

#include <math.h>
#include <string.h>

static tbManufacture spec_for(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 3 + seed % 12;
  s.bodies = s.contacts;
  s.mu_max = 0.6;
  s.metric = seed % 5;
  s.tensors = true;
  s.all_laws = seed % 2;
  return s;
}

TEST(solvers_that_claim_tensors_solve_them) { CHECK(cases_claim(TB_LAW_TENSOR, spec_for, true) >= 12); }

// One particle on a plane by hand: u = λ/m + q, q = (−1, qt, qb).
static tbProblem* particle(tbContext* ctx, tbLaw law, const double* param, double qt, double qb)
{
  double mass = 2, v[3] = {0}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, bias[3] = {-1, qt, qb};
  tbBuilder* b;
  tbProblem* p = NULL;
  int dof;
  if (tb_builder_create(ctx, "particle", &b) != TB_OK) return NULL;
  tb_builder_particle(b, 3, mass, v, &dof);
  tb_builder_contact(b, law, 3, param, bias, NULL);
  tb_builder_jacobian(b, dof, 3, J);
  tb_builder_finish(b, &p);
  return p;
}

static tbManufacture polygons(int seed)
{
  tbManufacture s = spec_for(seed);
  s.tensors = false, s.polygons = true;
  return s;
}

TEST(solvers_that_claim_polygons_of_eight_directions_solve_them)
{
  CHECK(cases_claim(TB_LAW_POLYGON, polygons, false) >= 18);
}

// An anisotropic cone cut into facets (course §6.1.4): Lemke solves the k-gon inscribed in the ellipse, which
// the judge knows by itself, and the answer comes closer to the cone's with the square of the facets.
TEST(lemke_takes_the_polyhedral_lcp_of_an_elliptic_cone)
{
  tbContext ctx = tb_default_context();
  double mu[2] = {0.3, 0.7}, far[2] = {0};
  tbProblem* p = particle(&ctx, TB_LAW_ELLIPTIC, mu, 1.1, 0.9);
  REQUIRE(p);
  double exact[3] = {0}, polygon[3];
  tbSolveOptions o = cases_options("bgs", TB_MODEL_CONE, 1000);
  CHECK(cases_solve_from(p, &o, exact, NULL).outcome == TB_CONVERGED);
  for (int i = 0; i < 2; i++) {
    memset(polygon, 0, sizeof polygon);
    o = cases_options("lemke", TB_MODEL_POLYHEDRAL, 1000);
    o.directions = i ? 64 : 16;
    tbSolveResult r = cases_solve_from(p, &o, polygon, NULL);
    CHECK(r.outcome == TB_CONVERGED && r.residual.model < 1e-12 && r.residual.fclib > 1e-6);
    far[i] = hypot(polygon[1] - exact[1], polygon[2] - exact[2]) / polygon[0];
  }
  CHECK(far[0] < 0.15 && far[1] < 0.04);
  tb_problem_free(p);
  for (int seed = 0; seed < 20; seed++) { // among other laws, and where the ellipse has lost an axis
    Case w;
    tbManufacture spec = spec_for(2 * seed + 1);
    spec.tensors = false;
    REQUIRE(cases_make(&w, &spec));
    o = cases_options("lemke", TB_MODEL_POLYHEDRAL, 5000);
    tbSolveOptions other = cases_options("bgs", TB_MODEL_POLYHEDRAL, 5000);
    bool refused =
        tb_solver_refuses(tb_solver_find("lemke"), w.p, o.model); // torsion and rolling stay curved
    if (!refused) CHECK(cases_solve_from(w.p, &o, w.lambda, NULL).outcome == TB_CONVERGED);
    memset(w.lambda, 0, (size_t)w.p->nrow * sizeof *w.lambda);
    CHECK(cases_solve_from(w.p, &other, w.lambda, NULL).outcome == TB_CONVERGED);
    cases_drop(&w);
  }
}

static double judged(tbContext* ctx, const tbProblem* p, const double* lambda, tbResidual* r)
{
  tbJudge* judge = NULL;
  if (tb_judge_create(ctx, p, &judge) != TB_OK) return NAN;
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, r, NULL, NULL);
  tb_judge_free(ctx, judge);
  return r->absolute;
}

// Sliding at v̂ with λ_n = 2: λ_F = −2 L v̂, and the particle keeps v = q + λ_F/2 ∥ v̂. Any other direction, and
// the friction of maximal dissipation among them, is an error.
TEST(judge_knows_the_force_of_a_tensor_by_hand)
{
  tbContext ctx = tb_default_context();
  double L[4] = {0.4, 0.3, -0.1, 0.2}, v[2] = {0.6, 0.8},
         Lv[2] = {0.4 * 0.6 + 0.3 * 0.8, -0.1 * 0.6 + 0.2 * 0.8};
  double q[2] = {3 * v[0] + Lv[0], 3 * v[1] + Lv[1]}, lambda[3] = {2, -2 * Lv[0], -2 * Lv[1]};
  tbProblem* p = particle(&ctx, TB_LAW_TENSOR, L, q[0], q[1]);
  tbResidual r;
  REQUIRE(p);
  CHECK_NEAR(judged(&ctx, p, lambda, &r), 0, 1e-15);
  CHECK_NEAR(r.dissipation, 0, 1e-14);
  // the friction of maximal dissipation, −λ_n L Lᵀv/‖Lᵀv‖, is in the set and is not it
  double Lt[2] = {L[0] * v[0] + L[2] * v[1], L[1] * v[0] + L[3] * v[1]}, size = hypot(Lt[0], Lt[1]);
  double most[3] = {2, -2 * (L[0] * Lt[0] + L[1] * Lt[1]) / size, -2 * (L[2] * Lt[0] + L[3] * Lt[1]) / size};
  CHECK(judged(&ctx, p, most, &r) > 0.1 && r.cone < 1e-15);
  tb_problem_free(p);
}

TEST(a_tensor_that_is_a_number_is_coulombs_law)
{
  tbContext ctx = tb_default_context();
  double L[4] = {0.5, 0, 0, 0.5}, mu = 0.5;
  tbProblem *tensor = particle(&ctx, TB_LAW_TENSOR, L, 1, 2),
            *coulomb = particle(&ctx, TB_LAW_COULOMB, &mu, 1, 2);
  REQUIRE(tensor && coulomb);
  for (int i = 0; i < 20; i++) {
    double lambda[3] = {0.1 * i, 0.2 * i - 1, 0.7 - 0.3 * i};
    tbResidual a, b;
    judged(&ctx, tensor, lambda, &a), judged(&ctx, coulomb, lambda, &b);
    CHECK_NEAR(a.absolute, b.absolute, 1e-15 * (1 + b.absolute));
    CHECK_NEAR(a.velocity, b.velocity, 1e-15 * (1 + b.velocity));
    CHECK_NEAR(a.dissipation, b.dissipation, 1e-15 * (1 + fabs(b.dissipation)));
  }
  tb_problem_free(tensor);
  tb_problem_free(coulomb);
}

TEST(tensors_that_would_add_energy_or_are_singular_are_refused)
{
  static const struct {
    double L[4];
    const char* says;
  } bad[] = {{{0.1, 0.5, 0, 0.1}, "would add energy"},
             {{-1, 0, 0, 1}, "would add energy"},
             {{1, 0, 0, 0}, "singular"},
             {{0, 0, 0, 0}, "singular"},
             {{NAN, 0, 0, 1}, "friction tensor"},
             {{INFINITY, 0, 0, 1}, "friction tensor"}};
  for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = particle(&ctx, TB_LAW_TENSOR, bad[i].L, 0, 0);
    CHECK(!p);
    if (!strstr(ctx.error.message, bad[i].says))
      test_failed(__FILE__, __LINE__, "tensor %d: %s", i, ctx.error.message);
    tb_problem_free(p);
  }
}

TEST(tensors_have_the_cone_model_alone)
{
  tbContext ctx = tb_default_context();
  double L[4] = {0.4, 0.3, -0.1, 0.2};
  tbProblem* p = particle(&ctx, TB_LAW_TENSOR, L, 1, 1);
  REQUIRE(p);
  for (int i = 0; i < tb_solver_count(); i++)
    for (int m = 0; m < TB_MODEL_COUNT; m++)
      if (m != TB_MODEL_CONE && m != TB_MODEL_FRICTIONLESS)
        CHECK(tb_solver_refuses(tb_solver_at(i), p, (tbModel)m));
  tb_problem_free(p);
}
