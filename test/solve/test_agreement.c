// SPDX-License-Identifier: Apache-2.0
// Methods of the same model agree on the velocity, as closely as their residuals say they must.
//
// Let E_i bound the natural map of λ_i, d = λ₂ − λ₁, w = u₂ − u₁ = W d, and Λ ≥ ‖W‖, κ ≥ cond W for symmetric
// positive W. The correction û − u = σ_F(−u_F) has a Lipschitz constant m ≤ max μ (√2 of it for boxes, 0
// where the model drops it). Projections are monotone, so
//
//   dᵀw ≤ m ‖w‖ ‖d‖ + (E₁ + E₂) ((1 + m) ‖w‖ + ‖d‖),        dᵀw ≥ c ‖w‖ ‖d‖,   c = 2√κ / (1 + κ)
//   (Kantorovich)
//
// and with ‖w‖ ≤ Λ‖d‖, whenever m < c, the velocity is unique and
//
//   ‖u₂ − u₁‖ ≤ (E₁ + E₂) (1 + (1 + m) Λ) / (c − m).
#include "math/dense.h"
#include "solve/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOLVERS = 64 };

typedef struct {
  double norm, angle; // Λ and c
} Bounds;

// Λ from row sums; the smallest eigenvalue from below by trying to factor W − s I.
static Bounds bounds_of(tbContext* ctx, const tbProblem* p)
{
  tbDelassus* W = NULL;
  Bounds b = {0};
  CHECK_OK(ctx, tb_delassus_create(ctx, p, TB_FORM_DENSE, &W));
  if (!W) return b;
  int n = p->nrow;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += fabs(W->dense[i * n + j]);
    b.norm = fmax(b.norm, sum);
  }
  double *A = malloc((size_t)(n * n) * sizeof *A), least = b.norm;
  for (int rank = -1; rank != n && least > 1e-9 * b.norm; least *= 0.8) {
    memcpy(A, W->dense, (size_t)(n * n) * sizeof *A);
    for (int i = 0; i < n; i++) A[i * n + i] -= 0.8 * least;
    rank = tb_dense_cholesky(n, A, n);
  }
  free(A);
  tb_delassus_free(ctx, W);
  double kappa = b.norm / least;
  b.angle = 2 * sqrt(kappa) / (1 + kappa);
  return b;
}

// E of the model: what the tolerance is a multiple of.
static double error_of(const tbResidual* r)
{
  return r->model * fmax(r->norm_q, fmax(r->norm_lambda, r->norm_u));
}

static double distance(int n, const double* x, const double* y)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

// A share of what the bound allows; the number of solvers that converged.
static int compare_all(const tbProblem* p, tbModel model, const Bounds* b, double m, double* closest)
{
  int n = p->nrow, converged = 0;
  double *u = calloc((size_t)(n * MOST_SOLVERS), sizeof *u), error[MOST_SOLVERS];
  const char* name[MOST_SOLVERS];
  for (int i = 0; i < tb_solver_count() && converged < MOST_SOLVERS; i++) {
    if (tb_solver_refuses(tb_solver_at(i), p, model)) continue;
    tbSolveOptions o = cases_options(tb_solver_at(i)->name, model, 5000);
    o.tolerance = 1e-9;
    tbSolveResult r = cases_solve(p, &o, u + n * converged);
    if (r.outcome != TB_CONVERGED) continue;
    name[converged] = o.solver;
    error[converged] = error_of(&r.residual);
    for (int j = 0; j < converged; j++) {
      double off = distance(n, u + n * j, u + n * converged);
      double rounding = 1e-13 * fmax(r.residual.norm_u, r.residual.norm_q);
      double allowed = (error[j] + error[converged] + rounding) * (1 + (1 + m) * b->norm) / (b->angle - m);
      *closest = fmax(*closest, off / allowed);
      if (!(off <= allowed))
        test_failed(__FILE__, __LINE__, "%s and %s, model %s, %s: velocities %g apart, at most %g", name[j],
                    o.solver, tb_model_name(model), p->name, off, allowed);
    }
    converged++;
  }
  free(u);
  return converged;
}

LONG_TEST(solvers_of_one_model_agree_on_the_velocity)
{
  double closest = 0;
  int most[TB_MODEL_COUNT] = {0}, problems = 0;
  for (int seed = 0; seed < 12; seed += test_quick() ? 2 : 1) {
    Case c;
    tbManufacture spec = cases_mild(seed);
    spec.metric = seed % 4; // symmetric ones
    spec.bodies = 3 * spec.contacts;
    spec.dimension = seed % 5 ? 3 : 2;
    REQUIRE(cases_make(&c, &spec));
    spec.mu_max = bounds_of(&c.ctx, c.p).angle / 2; // W does not depend on it; √2 of it is less than c
    cases_drop(&c);
    REQUIRE(cases_make(&c, &spec));
    Bounds b = bounds_of(&c.ctx, c.p);
    REQUIRE(spec.mu_max * sqrt(2) < b.angle && b.angle > 0);
    problems += b.angle > 0.1;
    for (int model = 0; model < TB_MODEL_COUNT; model++) {
      double m = model == TB_MODEL_CCP || model == TB_MODEL_FRICTIONLESS ? 0 : spec.mu_max;
      if (model == TB_MODEL_BOX) m *= sqrt(2);
      int converged = compare_all(c.p, (tbModel)model, &b, m, &closest);
      if (converged > most[model]) most[model] = converged;
    }
    cases_drop(&c);
  }
  printf("[%d problems with c > 0.1, %.1e of what is allowed] ", problems, closest);
  CHECK(problems >= (test_quick() ? 3 : 6));
  for (int model = 0; model < TB_MODEL_COUNT; model++) {
    int able = 0;
    for (int i = 0; i < tb_solver_count(); i++) able += (tb_solver_at(i)->models >> model) & 1;
    if (most[model] < able * 3 / 4)
      test_failed(__FILE__, __LINE__, "model %s: %d of %d solvers took part", tb_model_name((tbModel)model),
                  most[model], able);
  }
}
