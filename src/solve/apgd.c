// SPDX-License-Identifier: Apache-2.0
// Accelerated projected gradient descent (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015).
//
// For associated friction the problem is convex, min ½ xᵀWx + xᵀq over the cones, and one iteration is
//
//   x⁺ = P(y − (LR)⁻¹ g),   g = Wy + q          P: projection in the metric R (cones.h)
//   y⁺ = x⁺ + β (x⁺ − x)                        Nesterov's momentum
//
// L bounds W in the metric R: it is raised until dᵀWd ≤ L ‖d‖²_R for the step d = x⁺ − y just made, and let
// shrink a little every iteration. Momentum is dropped when it points uphill, g·(x⁺ − x) > 0 (O'Donoghue and
// Candès 2015). With Wx and Wy carried along, an iteration costs one product with W.
//
// Coulomb's law adds s = σ_F(−u_F) to g (De Saxcé and Feng 1998), a fixed point around the convex problem
// (Cadoux 2009). Solving the convex problem for each s takes several times as many iterations as the limit of
// inexact solution, s from the newest velocity at every step, which is what is done. There momentum can drive
// s around in circles; so where a stretch of iterations gets no closer than an earlier one did, the number of
// steps before momentum is dropped is halved, and it grows again where things go well.
//
// Cost      one product with W and one projection per iteration; nothing is factored.
// Limits    iterations grow with the square root of the condition of W in the metric R; on the Coulomb
// problem
//           there is no proof of convergence. Where W is not symmetric the objective does not exist, and a
//           skew part that is not small can make it diverge.
#include "solve/cones.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 64, SHORTEST_RUN = 5, FIRST_RUN = 256, LONGEST_RUN = 1024, REFRESH = 64 };

typedef struct {
  tbRun* run;
  tbCones cones;
  int n;
  double *x, *y, *Wx, *Wy;
  double *next, *d, *Wd; // x⁺, x⁺ − y and W times that
  double *g, *s;
  double L, theta;
  double longest, closest, earlier; // of steps with momentum; ‖LRd‖ of this stretch and before
  int steps;                        // with momentum so far
  double* workspace;
} Apgd;

static void layout(Apgd* a, tbScratch* scratch, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  tb_cones_layout(&a->cones, scratch, W->problem);
  double** vectors[] = {&a->y, &a->Wx, &a->Wy, &a->next, &a->d, &a->Wd, &a->g, &a->s};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(scratch, double, n);
  a->workspace = TB_SCRATCH(scratch, double, tb_delassus_workspace(W));
}

size_t tb_apgd_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Apgd){0}, &counting, W);
  return counting.used;
}

static void apply(const Apgd* a, const double* x, double* y)
{
  tb_delassus_apply(a->run->W, a->run->threads, x, y, a->workspace);
}

static void gradient(Apgd* a)
{
  for (int i = 0; i < a->n; i++) a->g[i] = a->Wy[i] + a->run->W->q[i];
  tb_cones_lift(&a->cones, a->g, a->s);
  for (int i = 0; i < a->n; i++) a->g[i] += a->s[i];
}

// The step from y, with L raised as needed. Returns ‖LRd‖ in the dual metric, the size of the gradient map.
static double step(Apgd* a)
{
  const double* R = a->cones.R;
  for (;;) {
    double dRd = 0, dWd = 0;
    for (int i = 0; i < a->n; i++) a->next[i] = a->y[i] - a->g[i] / (a->L * R[i]);
    tb_cones_project(&a->cones, a->next, a->next);
    for (int i = 0; i < a->n; i++) {
      a->d[i] = a->next[i] - a->y[i];
      dRd += R[i] * a->d[i] * a->d[i];
    }
    apply(a, a->d, a->Wd);
    for (int i = 0; i < a->n; i++) dWd += a->d[i] * a->Wd[i];
    if (!(dWd > a->L * dRd * (1 + 1e-12)) || tb_run_stops(a->run)) return a->L * sqrt(dRd);
    a->L = fmax(1.5 * a->L, 1.1 * dWd / dRd);
  }
}

// How long momentum may last: see the head of the file.
static void watch(Apgd* a, int iteration, double size)
{
  a->closest = fmin(a->closest, size);
  if ((iteration + 1) % STRETCH != 0 || a->run->o->model == TB_MODEL_CCP) return;
  a->longest =
      a->closest > a->earlier ? fmax(SHORTEST_RUN, 0.5 * a->longest) : fmin(LONGEST_RUN, 1.5 * a->longest);
  a->earlier = fmin(a->earlier, a->closest);
  a->closest = INFINITY;
}

static void extrapolate(Apgd* a)
{
  double uphill = 0, theta = a->theta;
  for (int i = 0; i < a->n; i++) uphill += a->g[i] * (a->next[i] - a->x[i]);
  a->theta = 0.5 * theta * (sqrt(theta * theta + 4) - theta);
  double beta = theta * (1 - theta) / (theta * theta + a->theta);
  if (uphill > 0 || ++a->steps >= a->longest) {
    beta = a->steps = 0;
    a->theta = 1;
  }
  for (int i = 0; i < a->n; i++) {
    double W_next = a->Wy[i] + a->Wd[i];
    a->y[i] = a->next[i] + beta * (a->next[i] - a->x[i]);
    a->Wy[i] = W_next + beta * (W_next - a->Wx[i]);
    a->x[i] = a->next[i];
    a->Wx[i] = W_next;
  }
}

void tb_apgd(tbRun* run, double* lambda)
{
  Apgd a = {.run = run, .n = run->p->nrow, .x = lambda, .L = 1, .theta = 1};
  a.longest = FIRST_RUN;
  a.closest = a.earlier = INFINITY;
  layout(&a, &run->scratch, run->W);
  tb_cones_begin(&a.cones, run);
  memset(a.s, 0, (size_t)a.n * sizeof *a.s);
  memcpy(a.y, a.x, (size_t)a.n * sizeof *a.y);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (k % REFRESH == 0) { // Wx and Wy have gathered rounding
      apply(&a, a.x, a.Wx);
      apply(&a, a.y, a.Wy);
    }
    gradient(&a);
    watch(&a, k, step(&a));
    extrapolate(&a);
    a.L *= 0.95;
  }
}
