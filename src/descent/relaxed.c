// SPDX-License-Identifier: Apache-2.0
// Friction on balls and ellipsoids F with radii r_i is radial in σ = ‖r ∘ u_F‖/r₀, the support function's
// norm, with r₀ the largest radius of sliding: ψ = U(σ), limit r₀ λ_n, λ_F = −U'(σ)/σ (r_i/r₀)² u_i. On the
// edge that is the point of λ_n F that dissipates most. Other sets: λ_F is the point of λ_n F closest to −k
// u.
#include "descent/relaxed.h"

#include "base/threads.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 128 }; // contacts, or metric blocks, in a piece of work

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

// Of turns and modes, which dense blocks have after their first three; others move in metres.
static void measure_lengths(const tbProblem* p, double* length)
{
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    for (int i = 0; i < block->size; i++) {
      bool turns = block->kind == TB_METRIC_DENSE && i >= 3;
      length[block->dof + i] = turns ? sqrt(block->value[i * block->size + i] / block->value[0]) : 1;
    }
  }
}

double tb_relaxed_speed(const tbRelaxed* r, int first, int count, const double* x)
{
  double most = 0;
  for (int i = 0; i < count; i++) {
    double speed = fabs(x[i]) * r->length[first + i];
    most = speed <= most ? most : speed; // a NaN stays
  }
  return most;
}

tbStatus tb_relaxed_begin(tbArena* arena, const tbProblem* p, const tbRelaxation* how, tbModel model,
                          int directions, tbRelaxed* out)
{
  *out = (tbRelaxed){.problem = p, .how = *how};
  out->set = TB_TAKE(arena, tbFrictionSet, (size_t)p->ncontact);
  out->d_adr = TB_TAKE(arena, int, (size_t)p->ncontact + 1);
  out->length = TB_TAKE(arena, double, (size_t)p->ndof);
  if (!out->set || !out->d_adr || !out->length) return TB_ERROR_MEMORY;
  measure_lengths(p, out->length);
  for (int k = 0; k < p->ncontact; k++) {
    int rows = rows_of(p, k);
    tb_friction_make(p, k, model, directions, &out->set[k]);
    out->d_adr[k + 1] = out->d_adr[k] + rows * rows;
  }
  return tb_incidence_build(arena, p, &out->incidence);
}

// ---- one contact ----

// A row that pulls with κ, its impulse between two bounds: ψ = −λu − λ²/2κ is its envelope.
static double spring_row(double kappa, double lower, double upper, double u, double* lambda, double* D)
{
  tbPotential x = tb_quadratic_potential(kappa, u);
  bool bound = -x.slope <= lower || -x.slope >= upper;
  *lambda = fmin(fmax(-x.slope, lower), upper);
  if (D) *D = bound ? 0 : x.curvature;
  return bound ? -*lambda * u - *lambda * *lambda / (2 * kappa) : x.value;
}

// Of a contact with a compliance of its own: that spring.
static double gap_row(const tbRelaxed* r, int row, double u, double* lambda, double* D)
{
  const tbRelaxation* how = &r->how;
  double own = r->problem->compliance[row];
  if (own > 0) return spring_row(1 / own, 0, INFINITY, u, lambda, D);
  tbPotential x = tb_contact_potential(how->contact_stiffness, how->exponent, how->h * u);
  *lambda = -how->h * x.slope;
  if (D) *D = how->h * how->h * x.curvature;
  return x.value;
}

static double plain_rows(const tbRelaxed* r, int k, const double* u, double* lambda, double* D)
{
  const tbProblem* p = r->problem;
  const tbRelaxation* how = &r->how;
  int rows = rows_of(p, k);
  const double* param = p->param + p->param_adr[k];
  const double* compliance = p->compliance + p->row_adr[k];
  double sum = 0;
  for (int i = 0; i < rows; i++) {
    double* d = D ? D + i * rows + i : NULL;
    bool soft = compliance[i] > 0;
    double kappa = soft ? 1 / compliance[i] : how->h * how->h * how->joint_stiffness;
    switch ((tbLaw)p->law[k]) {
    case TB_LAW_NONNEG: sum += gap_row(r, p->row_adr[k] + i, u[i], &lambda[i], d); break;
    case TB_LAW_BOX: sum += spring_row(kappa, param[i], param[rows + i], u[i], &lambda[i], d); break;
    default: sum += spring_row(kappa, -INFINITY, INFINITY, u[i], &lambda[i], d);
    }
  }
  return sum;
}

// Rows begin … begin + count − 1 of friction, with radii `radius` of F, of which `largest` is r₀.
static double radial(const tbRelaxed* r, int rows, int begin, int count, const double* radius, double largest,
                     double normal, const double* u, double* lambda, double* D, double* coupling)
{
  double s[TB_MAX_ROWS], w[TB_MAX_ROWS], sigma = 0;
  for (int i = 0; i < count; i++) {
    double share = largest > 0 ? radius[i] / largest : 0;
    s[i] = share * share, w[i] = s[i] * u[begin + i];
    sigma += w[i] * u[begin + i];
  }
  sigma = sqrt(sigma);
  double k = r->how.h * r->how.friction_stiffness;
  tbFrictionPotential x = tb_friction_potential(r->how.model, k, largest * normal, sigma);
  double inverse = sigma > 0 ? 1 / sigma : 0, bend = r->how.turning ? x.curvature - x.turn : 0;
  for (int i = 0; i < count; i++) {
    lambda[begin + i] = -x.turn * w[i];
    if (coupling) coupling[begin + i] = -x.by_limit * largest * w[i] * inverse;
    for (int j = 0; D && j < count; j++)
      D[(begin + i) * rows + begin + j] =
          (i == j ? x.turn * s[i] : 0) + bend * w[i] * w[j] * inverse * inverse;
  }
  return x.value;
}

static double balls(const tbRelaxed* r, const tbFrictionSet* f, double normal, const double* u,
                    double* lambda, double* D, double* coupling)
{
  int rows = f->dim + 1, size[3] = {2, f->dim == 4 ? 2 : 1, 2};
  double sum = 0;
  for (int g = 0, at = 1; at < rows; at += size[g++]) {
    double radius[2] = {f->par[g], f->par[g]};
    sum += radial(r, rows, at, size[g], radius, f->par[g], normal, u, lambda, D, coupling);
  }
  return sum;
}

// Any set: the point of λ_n F closest to −k u, and of D the scalar |λ_F|/|u_F|.
static double closest(const tbRelaxed* r, const tbFrictionSet* f, double normal, const double* u,
                      double* lambda, double* D, double* coupling)
{
  double k = r->how.h * r->how.friction_stiffness, z[TB_MAX_ROWS];
  int rows = f->dim + 1;
  double asked = 0, given = 0, work = 0, turned[TB_MAX_ROWS];
  memcpy(turned, u, (size_t)rows * sizeof *turned);
  tb_friction_turn(f, turned);
  for (int i = 0; i < f->dim; i++) z[i] = -k * turned[1 + i];
  tb_friction_closest(f, normal, z, lambda + 1);
  for (int i = 0; i < f->dim; i++) {
    asked += z[i] * z[i], given += lambda[1 + i] * lambda[1 + i], work -= lambda[1 + i] * u[1 + i];
  }
  double share = asked > 0 ? sqrt(given / asked) : 1;
  for (int i = 0; i < f->dim; i++) {
    if (D) D[(1 + i) * rows + 1 + i] = share * k;
    if (coupling) coupling[1 + i] = share < 1 - 1e-12 && normal > 0 ? lambda[1 + i] / normal : 0;
  }
  return work - given / (2 * k);
}

static bool is_zero(const tbFrictionSet* f)
{
  for (int i = 0; i < 10; i++)
    if (f->par[i] != 0) return false;
  return true;
}

double tb_relaxed_contact(const tbRelaxed* r, int k, const double* u, double frozen, double* lambda,
                          double* D, double* coupling)
{
  const tbFrictionSet* f = &r->set[k];
  int rows = rows_of(r->problem, k);
  if (D) memset(D, 0, (size_t)(rows * rows) * sizeof *D);
  if (coupling) memset(coupling, 0, (size_t)rows * sizeof *coupling);
  if (f->kind == TB_SET_NONE) return plain_rows(r, k, u, lambda, D);
  double sum = gap_row(r, r->problem->row_adr[k], u[0], &lambda[0], D),
         normal = frozen >= 0 ? frozen : lambda[0];
  for (int i = 1; i < rows; i++) lambda[i] = 0;
  if (is_zero(f) || (f->kind == TB_SET_BOX && !(normal > 0))) return sum;
  switch ((tbSetKind)f->kind) {
  case TB_SET_BALL: {
    double radius[TB_MAX_ROWS];
    for (int i = 0; i < f->dim; i++) radius[i] = f->par[0];
    return sum + radial(r, rows, 1, f->dim, radius, f->par[0], normal, u, lambda, D, coupling);
  }
  case TB_SET_ELLIPSOID: {
    double largest = f->dim > 1 ? fmax(f->par[0], f->par[1]) : f->par[0];
    return sum + radial(r, rows, 1, f->dim, f->par, largest, normal, u, lambda, D, coupling);
  }
  case TB_SET_BALLS: return sum + balls(r, f, normal, u, lambda, D, coupling);
  default: return sum + closest(r, f, normal, u, lambda, D, coupling);
  }
}

double tb_relaxed_stiffness(const tbRelaxed* r, int k, int row)
{
  const tbRelaxation* how = &r->how;
  double own = r->problem->compliance[r->problem->row_adr[k] + row], h = how->h;
  if (own > 0) return 1 / own;
  if (r->set[k].kind == TB_SET_NONE && r->problem->law[k] != TB_LAW_NONNEG)
    return h * h * how->joint_stiffness;
  return row == 0 || r->set[k].kind == TB_SET_NONE ? h * h * how->contact_stiffness
                                                   : h * how->friction_stiffness;
}

// ---- all contacts ----

typedef struct {
  const tbRelaxed* r;
  const double *v, *in, *frozen, *D, *lambda;
  double *u, *out, *curvature, *sum, *work;
} Job;

// y = J_k x (rows)
static void times_jacobian(const tbProblem* p, int k, const double* x, double* y)
{
  int rows = rows_of(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    const double *J = p->jac + p->jac_val_adr[c], *from = x + p->jac_dof[c];
    int width = p->jac_width[c];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < width; j++) y[i] += J[i * width + j] * from[j];
  }
}

static void velocities(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbProblem* p = job->r->problem;
  for (int k = begin; k < end; k++) {
    double* u = job->u + p->row_adr[k];
    for (int i = 0; i < rows_of(p, k); i++) u[i] = job->in ? job->in[p->row_adr[k] + i] : 0;
    times_jacobian(p, k, job->v, u);
  }
}

void tb_relaxed_velocities(const tbRelaxed* r, tbThreads* threads, const double* v, double* u)
{
  Job job = {.r = r, .v = v, .in = r->problem->bias, .u = u};
  tb_parallel_for(threads, r->problem->ncontact, GRAIN, velocities, &job);
}

void tb_relaxed_turns(const tbRelaxed* r, tbThreads* threads, const double* x, double* y)
{
  Job job = {.r = r, .v = x, .u = y};
  tb_parallel_for(threads, r->problem->ncontact, GRAIN, velocities, &job);
}

double tb_relaxed_impulses(const tbRelaxed* r, tbThreads* threads, const double* u, const double* frozen,
                           double* lambda, double* D)
{
  (void)threads; // a contact costs some tens of operations: less than waking a thread for most problems
  const tbProblem* p = r->problem;
  double sum = 0;
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k];
    sum += tb_relaxed_contact(r, k, u + at, frozen ? fmax(frozen[at], 0) : -1, lambda + at,
                              D ? D + r->d_adr[k] : NULL, NULL);
  }
  return sum;
}

// y −= Jᵀλ on one metric block, in the order of the contacts.
static void take_pushes(const tbRelaxed* r, int b, const double* lambda, double sign, double* y)
{
  const tbProblem* p = r->problem;
  for (int i = r->incidence.ptr[b]; i < r->incidence.ptr[b + 1]; i++) {
    int c = r->incidence.col[i], k = r->incidence.contact[i], width = p->jac_width[c];
    const double *J = p->jac + p->jac_val_adr[c], *l = lambda + p->row_adr[k];
    double* to = y + p->jac_dof[c];
    for (int row = 0; row < rows_of(p, k); row++)
      for (int j = 0; j < width; j++) to[j] += sign * J[row * width + j] * l[row];
  }
}

static void gradient(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbProblem* p = job->r->problem;
  for (int b = begin; b < end; b++) {
    const tbMetricBlock* m = &p->block[b];
    for (int i = m->dof; i < m->dof + m->size; i++)
      job->work[i] = job->v[i] - (job->in ? job->in[i] : 0), job->out[i] = 0;
    tb_metric_multiply_add(m, job->work + m->dof, job->out + m->dof);
    if (job->lambda) take_pushes(job->r, b, job->lambda, job->in ? -1 : 1, job->out);
  }
}

void tb_relaxed_gradient(const tbRelaxed* r, tbThreads* threads, const double* v, const double* lambda,
                         double* work, double* d)
{
  Job job = {.r = r, .v = v, .in = r->problem->v_free, .lambda = lambda, .work = work, .out = d};
  tb_parallel_for(threads, r->problem->nblock, GRAIN, gradient, &job);
}

double tb_relaxed_inertia(const tbRelaxed* r, tbThreads* threads, const double* v, double* work)
{
  int n = r->problem->ndof;
  Job job = {.r = r, .v = v, .in = r->problem->v_free, .work = work, .out = work + n};
  tb_parallel_for(threads, r->problem->nblock, GRAIN, gradient, &job);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += work[i] * work[n + i];
  return 0.5 * sum;
}

static void bend(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbProblem* p = job->r->problem;
  for (int k = begin; k < end; k++) {
    int rows = rows_of(p, k);
    const double* D = job->D + job->r->d_adr[k];
    double u[TB_MAX_ROWS] = {0}, *to = job->u + p->row_adr[k];
    times_jacobian(p, k, job->v, u);
    for (int i = 0; i < rows; i++) {
      to[i] = 0;
      for (int j = 0; j < rows; j++) to[i] += D[i * rows + j] * u[j];
    }
  }
}

void tb_relaxed_multiply(const tbRelaxed* r, tbThreads* threads, const double* D, const double* x,
                         double* work, double* y)
{
  Job job = {.r = r, .v = x, .D = D, .u = work, .lambda = work, .work = work + r->problem->nrow, .out = y};
  tb_parallel_for(threads, r->problem->ncontact, GRAIN, bend, &job);
  tb_parallel_for(threads, r->problem->nblock, GRAIN, gradient, &job);
}

void tb_relaxed_clip(const tbRelaxed* r, double* lambda)
{
  const tbProblem* p = r->problem;
  for (int k = 0; k < p->ncontact; k++) {
    double *l = lambda + p->row_adr[k], z[TB_MAX_ROWS];
    const tbFrictionSet* f = &r->set[k];
    memcpy(z, l, (size_t)rows_of(p, k) * sizeof *z);
    if (f->kind == TB_SET_NONE) {
      tb_friction_clamp_rows(p, k, z, l);
      continue;
    }
    l[0] = fmax(z[0], 0);
    if (f->dim > 0) tb_friction_closest(f, l[0], z + 1, l + 1);
  }
}
