// SPDX-License-Identifier: Apache-2.0
#include "solve/merit.h"

#include "problem/judge.h"
#include "solve/contact_map.h"

#include <math.h>
#include <string.h>

static double largest(const double* x, int n)
{
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

// A contact as the equations of Newton's methods see it.
typedef struct {
  tbFrictionSet set;
  tbContactMap map;
} Contact;

static void look_at(const tbRun* run, int k, tbMap map, Contact* c)
{
  const double* D = run->W->diag + run->W->diag_adr[k];
  int rows = tb_rows(run->p, k);
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += D[i * (rows + 1)];
  tb_friction_make(run->p, k, run->o->model, run->o->directions, &c->set);
  c->map = (tbContactMap){
      .p = run->p, .f = &c->set, .k = k, .rows = rows, .map = map, .D = D, .size = sum > 0 ? sum / rows : 1};
}

static double by_map(const tbRun* run, tbMap map, const double* lambda, const double* u)
{
  double sum = 0;
  Contact c;
  for (int k = 0; k < run->p->ncontact; k++) {
    int at = run->p->row_adr[k];
    look_at(run, k, map, &c);
    sum += tb_contact_map(&c.map, lambda + at, u + at, NULL);
  }
  return sqrt(sum);
}

// The energy u²/D of the velocity that λ_n ≥ 0 forbids.
static double forbidden(double u, double size) { return fmin(u, 0) * fmin(u, 0) / size; }

// *product gets λ·û of a law with a friction set, or λ_i u_i of λ_i ≥ 0; returned is what velocities violate
// by themselves. Of bounds, free rows and friction tensors, of which λ·û is no complementarity: the energy of
// what a step along the velocity would change, D (λ − P(λ − u/D))².
static double look_beside(const Contact* c, const double* lambda, const double* u, double* product)
{
  const tbProblem* p = c->map.p;
  int k = c->map.k, rows = c->map.rows;
  double d[TB_MAX_ROWS], z[TB_MAX_ROWS], clamped[TB_MAX_ROWS], size[TB_MAX_ROWS], beside = 0;
  for (int i = 0; i < rows; i++) {
    double own = c->map.D[i * (rows + 1)];
    size[i] = own > 0 ? own : c->map.size, d[i] = -u[i], z[i] = lambda[i] - u[i] / size[i];
  }
  if (c->set.kind == TB_SET_TENSOR) return c->map.size * tb_contact_map(&c->map, lambda, u, NULL);
  if (c->set.kind != TB_SET_NONE) {
    double saxce = c->set.associated ? 0 : tb_friction_support(&c->set, d + 1, NULL);
    *product += lambda[0] * saxce;
    for (int i = 0; i < rows; i++) *product += lambda[i] * u[i];
    return forbidden(u[0], size[0]);
  }
  tb_friction_clamp_rows(p, k, z, clamped);
  for (int i = 0; i < rows; i++) {
    double left = lambda[i] - clamped[i];
    if (p->law[k] == TB_LAW_NONNEG) *product += lambda[i] * u[i], beside += forbidden(u[i], size[i]);
    else beside += size[i] * left * left;
  }
  return beside;
}

static double complementarity(const tbRun* run, const double* lambda, const double* u)
{
  double product = 0, beside = 0;
  Contact c;
  for (int k = 0; k < run->p->ncontact; k++) {
    int at = run->p->row_adr[k];
    look_at(run, k, TB_MAP_NATURAL, &c);
    beside += look_beside(&c, lambda + at, u + at, &product);
  }
  return fabs(product) + beside;
}

double tb_merit(const tbRun* run, const double* lambda, double* u)
{
  static const tbMap maps[] = {[TB_MERIT_MINIMUM_MAP] = TB_MAP_AC,
                               [TB_MERIT_NATURAL_MAP] = TB_MAP_NATURAL,
                               [TB_MERIT_FISCHER_BURMEISTER] = TB_MAP_FB};
  const tbSolveOptions* o = run->o;
  tbResidual residual;
  if (o->merit == TB_MERIT_ITERATE) return largest(lambda, run->p->nrow);
  tb_judge_measure(run->judge, lambda, o->model, o->directions, &residual, u, NULL);
  if (o->merit == TB_MERIT_JUDGE) return residual.absolute;
  if (o->merit == TB_MERIT_COMPLEMENTARITY) return complementarity(run, lambda, u);
  return by_map(run, maps[o->merit], lambda, u);
}

tbMeritRule tb_merit_rule(const tbSolveOptions* o, double last, double merit)
{
  if (o->merit_growth > 0 && merit > o->merit_growth * last) return TB_MERIT_DIVERGES;
  if (o->merit != TB_MERIT_ITERATE && o->merit_tolerance > 0 && merit <= o->merit_tolerance)
    return TB_MERIT_ENDS;
  return o->merit_change > 0 && isfinite(last) && fabs(merit - last) <= o->merit_change * last
             ? TB_MERIT_ENDS
             : TB_MERIT_GO_ON;
}

const char* tb_merit_name(tbMerit merit)
{
  static const char* const names[TB_MERIT_COUNT] = {"judge",       "iterate",     "complementarity",
                                                    "minimum-map", "natural-map", "fischer-burmeister"};
  return (unsigned)merit < TB_MERIT_COUNT ? names[merit] : "unknown";
}
