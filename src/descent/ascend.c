// SPDX-License-Identifier: Apache-2.0
#include "descent/ascend.h"

#include "base/stop.h"
#include "math/dense.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

typedef struct {
  tbAscent* a;
  double* response; // A⁻¹Jᵀ, as the problem's jac
  double* W;        // W_kk + R, of a bilateral contact its factor       (d_adr[ncontact])
  double* R;        // (nrow)
  double* v;        // (ndof)
  double* next;     // of Jacobi                                         (nrow)
  int* order;       // contacts by colours
} Loop;

const char* tb_dual_update_name(tbDualUpdate u)
{
  static const char* const names[TB_DUAL_COUNT] = {"linear", "incremental", "restart"};
  return (unsigned)u < TB_DUAL_COUNT ? names[u] : NULL;
}

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

static double compliance_of(const tbAscent* a, int k, int row)
{
  const tbProblem* p = a->relaxed->problem;
  const tbRelaxation* how = &a->relaxed->how;
  double own = p->compliance[p->row_adr[k] + row];
  bool contact = a->relaxed->set[k].kind != TB_SET_NONE || p->law[k] == TB_LAW_NONNEG;
  if (own > 0 || a->rigid || !contact) return own;
  return row == 0 ? 1 / (how->h * how->h * how->contact_stiffness) : 1 / (how->h * how->friction_stiffness);
}

// How many contacts share the mass of a metric block.
static int sharers(const tbRelaxed* r, int b)
{
  int count = 0, last = -1;
  for (int i = r->incidence.ptr[b]; i < r->incidence.ptr[b + 1]; i++) {
    count += r->incidence.contact[i] != last;
    last = r->incidence.contact[i];
  }
  return count > 1 ? count : 1;
}

static bool is_damped(const tbAscent* a) { return a->jacobi && !a->split; }

static void respond(Loop* l, int k)
{
  const tbRelaxed* r = l->a->relaxed;
  const tbProblem* p = r->problem;
  int rows = rows_of(p, k);
  double* W = l->W + r->d_adr[k];
  memset(W, 0, (size_t)(rows * rows) * sizeof *W);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c], b = p->dof_block[p->jac_dof[c]];
    const double* J = p->jac + p->jac_val_adr[c];
    double *X = l->response + p->jac_val_adr[c], share = l->a->split ? sharers(r, b) : 1;
    memcpy(X, J, (size_t)(rows * width) * sizeof *X);
    tb_metric_solve_rows(&p->block[b], rows, X);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++)
        for (int x = 0; x < width; x++) W[i * rows + j] += share * J[i * width + x] * X[j * width + x];
  }
  for (int i = 0; i < rows; i++) {
    double* R = &l->R[p->row_adr[k] + i];
    *R = compliance_of(l->a, k, i), W[i * rows + i] += *R;
  }
  for (int i = 0; i < rows * rows && is_damped(l->a); i++) W[i] /= l->a->length;
  if (p->law[k] == TB_LAW_BILATERAL && tb_dense_cholesky(rows, W, rows) != rows)
    for (int i = 0; i < rows; i++) // redundant rows: each by itself
      for (int j = 0; j < rows; j++)
        W[i * rows + j] = i == j ? sqrt(rows * fmax(W[i * rows + i], 1e-300)) : 0;
}

static tbStatus colour(tbContext* ctx, tbArena* arena, const tbProblem* p, Loop* l)
{
  int colours, *of = TB_TAKE(arena, int, (size_t)p->ncontact), at = 0;
  if (!of) return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_colours(ctx, p, of, &colours));
  for (int c = 0; c < colours; c++)
    for (int k = 0; k < p->ncontact; k++)
      if (of[k] == c) l->order[at++] = k;
  return TB_OK;
}

static tbStatus begin(tbContext* ctx, tbArena* arena, tbAscent* a, Loop* l)
{
  const tbProblem* p = a->relaxed->problem;
  *l = (Loop){.a = a};
  l->response = TB_TAKE(arena, double, p->jac_val_adr[p->ncol]);
  l->W = TB_TAKE(arena, double, (size_t)a->relaxed->d_adr[p->ncontact]);
  l->R = TB_TAKE(arena, double, (size_t)p->nrow), l->next = TB_TAKE(arena, double, (size_t)p->nrow);
  l->v = TB_TAKE(arena, double, (size_t)p->ndof), l->order = TB_TAKE(arena, int, (size_t)p->ncontact);
  if (!l->response || !l->W || !l->R || !l->next || !l->v || !l->order) return TB_ERROR_MEMORY;
  return colour(ctx, arena, p, l);
}

// v += A⁻¹J_kᵀ change
static void push(Loop* l, int k, const double* change)
{
  const tbProblem* p = l->a->relaxed->problem;
  int rows = rows_of(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double* X = l->response + p->jac_val_adr[c];
    double* v = l->v + p->jac_dof[c];
    for (int i = 0; i < rows; i++)
      for (int x = 0; x < width; x++) v[x] += X[i * width + x] * change[i];
  }
}

// u + R λ of a contact at v.
static void measure(const Loop* l, int k, double* u)
{
  const tbProblem* p = l->a->relaxed->problem;
  int rows = rows_of(p, k), at = p->row_adr[k];
  for (int i = 0; i < rows; i++) u[i] = p->bias[at + i] + l->R[at + i] * l->a->lambda[at + i];
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double *J = p->jac + p->jac_val_adr[c], *v = l->v + p->jac_dof[c];
    for (int i = 0; i < rows; i++)
      for (int x = 0; x < width; x++) u[i] += J[i * width + x] * v[x];
  }
}

// Friction moves against the velocity that the normal impulse's change has left, by its own response: the
// largest row sum of W over the friction rows bounds its largest eigenvalue.
static void update_friction(const Loop* l, int k, const double* u, double* next)
{
  const tbRelaxed* r = l->a->relaxed;
  const tbProblem* p = r->problem;
  int rows = rows_of(p, k);
  const double *W = l->W + r->d_adr[k], *now = l->a->lambda + p->row_adr[k];
  double z[TB_MAX_ROWS], left[TB_MAX_ROWS], bound = 0;
  for (int i = 1; i < rows; i++) {
    double sum = 0;
    for (int j = 1; j < rows; j++) sum += fabs(W[i * rows + j]);
    bound = fmax(bound, sum);
  }
  for (int i = 1; i < rows; i++) left[i] = u[i] + W[i * rows] * (next[0] - now[0]);
  tb_friction_turn(&r->set[k], left);
  for (int i = 1; i < rows; i++) z[i - 1] = now[i] - left[i] / bound;
  tb_friction_closest(&r->set[k], next[0], z, next + 1);
}

// Π(λ − P (u + R λ)) of one contact.
static void update(const Loop* l, int k, const double* u, double* next)
{
  const tbRelaxed* r = l->a->relaxed;
  const tbProblem* p = r->problem;
  int rows = rows_of(p, k), at = p->row_adr[k];
  const double *W = l->W + r->d_adr[k], *now = l->a->lambda + at;
  double step[TB_MAX_ROWS], z[TB_MAX_ROWS];
  memcpy(step, u, (size_t)rows * sizeof *step);
  if (r->set[k].kind != TB_SET_NONE) {
    next[0] = fmax(0, now[0] - u[0] / W[0]);
    if (rows > 1) update_friction(l, k, u, next);
    return;
  }
  if (p->law[k] == TB_LAW_BILATERAL) tb_dense_cholesky_solve(rows, W, rows, step);
  else
    for (int i = 0; i < rows; i++) step[i] = u[i] / W[i * rows + i];
  for (int i = 0; i < rows; i++) z[i] = now[i] - step[i];
  tb_friction_clamp_rows(p, k, z, next);
}

// Moves λ_k to `next` and the velocities with it; returns by how much its own velocity changes.
static double take(Loop* l, int k, const double* next)
{
  const tbProblem* p = l->a->relaxed->problem;
  int rows = rows_of(p, k);
  double *now = l->a->lambda + p->row_adr[k], change[TB_MAX_ROWS], most = 0;
  const double* W = l->W + l->a->relaxed->d_adr[k];
  for (int i = 0; i < rows; i++) {
    change[i] = next[i] - now[i], now[i] = next[i];
    double size = fabs(change[i]) * W[i * rows + i];
    if (p->law[k] == TB_LAW_BILATERAL) size *= W[i * rows + i]; // a factor's diagonal
    most = size <= most ? most : size;
  }
  push(l, k, change);
  return most;
}

static double sweep(Loop* l)
{
  const tbProblem* p = l->a->relaxed->problem;
  double u[TB_MAX_ROWS], next[TB_MAX_ROWS], most = 0;
  bool at_once = l->a->split || l->a->jacobi;
  for (int i = 0; i < p->ncontact; i++) {
    int k = l->order[i];
    if (!at_once) {
      measure(l, k, u);
      update(l, k, u, next);
      most = fmax(most, take(l, k, next));
    } else {
      measure(l, k, u);
      update(l, k, u, l->next + p->row_adr[k]);
    }
  }
  for (int k = 0; at_once && k < p->ncontact; k++) most = fmax(most, take(l, k, l->next + p->row_adr[k]));
  return most;
}

// v = v_free + A⁻¹Jᵀλ
static void begin_velocities(Loop* l)
{
  const tbProblem* p = l->a->relaxed->problem;
  memcpy(l->v, p->v_free, (size_t)p->ndof * sizeof *l->v);
  for (int k = 0; k < p->ncontact; k++) push(l, k, l->a->lambda + p->row_adr[k]);
}

// The rows where the velocities lead, and what follows from them.
static void renew(Loop* l)
{
  const tbAscent* a = l->a;
  a->anew(a->user, l->v);
  for (int k = 0; k < a->relaxed->problem->ncontact; k++) respond(l, k);
  if (a->restart) begin_velocities(l);
}

tbStatus tb_ascent_run(tbContext* ctx, tbArena* arena, tbAscent* a)
{
  const tbProblem* p = a->relaxed->problem;
  Loop l;
  TB_TRY(begin(ctx, arena, a, &l));
  for (int k = 0; k < p->ncontact; k++) respond(&l, k);
  begin_velocities(&l);
  if (a->anew) renew(&l);
  double change = INFINITY;
  for (a->used = 0; a->used < a->iterations && change > a->still && !tb_is_late(a->deadline); a->used++) {
    TB_TRY(tb_check_interrupt(ctx));
    change = sweep(&l);
    if (a->anew) renew(&l);
  }
  a->v = l.v;
  return TB_OK;
}
