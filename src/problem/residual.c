// SPDX-License-Identifier: Apache-2.0
// The judge: how good is λ?
//
//   F_k = λ_k − P_K(λ_k − û_k),   û = u + (σ_F(−u_F), 0…),   E = ‖F‖₂,   u recomputed from λ
//
// De Saxcé's correction σ_F makes the natural map of the convex cone K exact for non-associated friction: F =
// 0 if and only if λ solves the problem. ρ = 1, and the scalings are FCLIB's, so that figures compare with
// the literature (Acary, Brémond, Huber 2018).
//
// Those scalings are relative to the largest impulse and say little of the smallest body. So there is a
// number in m/s too, the most by which any contact misses its law: with w_k the largest eigenvalue of W_kk,
//
//   max over k of  w_k ‖λ_k − P_K(λ_k − û_k/w_k)‖  =  ‖w_k λ_k − P_K(w_k λ_k − û_k)‖.
//
// Half of this is code that no solver shares: the products with J, the friction sets, cones and projections
// (judge_cone.c), w_k (judge_response.c), the sums. The other half, solving with A (judge_solve.c), uses the
// factor that solvers use, and is verified by what it leaves of A w = Jᵀλ: products with A that are the
// judge's own.
#include "base/memory.h"
#include "base/threads.h"
#include "problem/blocks.h"
#include "problem/judge.h"
#include "problem/judge_cone.h"
#include "problem/judge_response.h"
#include "problem/judge_solve.h"
#include "tribo/problem.h"

#include <math.h>
#include <string.h>

// ---- one contact ----

typedef struct {
  double penetration, cone, complementarity, dissipation, velocity;
} Tally;

static void worst(double* so_far, double value)
{
  if (!(value <= *so_far)) *so_far = value; // a NaN stays
}

// The same of ‖x‖, whose root is not taken where it is clearly less.
static inline __attribute__((always_inline)) void worst_norm(double* so_far, int n, const double* x)
{
  double sum = 0, most = *so_far * *so_far;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  if (!(most > 1e-270 && most < 1e300 && sum <= (1 - 1e-14) * most)) worst(so_far, tb_judge_norm(n, x));
}

// Both fill F, the natural map of the contact's rows; w: its response, for the number in m/s.

static void judge_rows(tbLaw law, int rows, const double* param, double w, const double* lambda,
                       const double* u, double* F, Tally* t)
{
  double G[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    double lo = law == TB_LAW_BILATERAL ? -INFINITY : law == TB_LAW_NONNEG ? 0 : param[i];
    double hi = law == TB_LAW_BOX ? param[rows + i] : INFINITY;
    // λ − P(λ − u), without losing u in a large λ; and w times the same of u/w
    F[i] = fmax(lambda[i] - hi, fmin(lambda[i] - lo, u[i]));
    G[i] = w > 0 ? fmax(w * (lambda[i] - hi), fmin(w * (lambda[i] - lo), u[i])) : F[i];
    worst(&t->cone, fabs(lambda[i] - fmin(fmax(lambda[i], lo), hi)));
    if (law == TB_LAW_NONNEG)
      worst(&t->penetration, -u[i]), worst(&t->complementarity, fabs(lambda[i] * u[i]));
    if (law == TB_LAW_BOX) worst(&t->complementarity, fabs(F[i] * u[i]));
  }
  worst(&t->velocity, tb_judge_norm(rows, G));
}

// Written out by the compiler where `round` and the number of rows are constants, as they are for Coulomb
// friction; every sum has the same order whatever the size.
#define WRITTEN_OUT static inline __attribute__((always_inline))

// As tb_judge_project() does.
WRITTEN_OUT void project(const tbJudgeSet* set, bool round, int rows, const double* z, double* x)
{
  double largest = tb_judge_largest(rows, z), down, up, near_one[TB_MAX_ROWS];
  if (round && tb_judge_is_ordinary(largest)) {
    tb_judge_project_circular(set->axis[0], rows - 1, z, x);
  } else if (round && tb_judge_powers(largest, &down, &up)) {
    for (int i = 0; i < rows; i++) near_one[i] = z[i] * down;
    tb_judge_project_circular(set->axis[0], rows - 1, near_one, x);
    for (int i = 0; i < rows; i++) x[i] *= up;
  } else {
    tb_judge_project(set, z, x);
  }
}

// F = s λ − P_K(s λ − û)
WRITTEN_OUT void natural_map(const tbJudgeSet* set, bool round, int rows, double s, const double* lambda,
                             double lifted, const double* u, double* F)
{
  double z[TB_MAX_ROWS], x[TB_MAX_ROWS];
  z[0] = s * lambda[0] - lifted;
  for (int i = 1; i < rows; i++) z[i] = s * lambda[i] - u[i];
  project(set, round, rows, z, x);
  bool inside = true; // then F = û: sλ − z would lose it in a large λ
  for (int i = 0; i < rows; i++) inside = inside && x[i] == z[i];
  for (int i = 0; i < rows; i++) F[i] = !inside ? s * lambda[i] - x[i] : i == 0 ? lifted : u[i];
}

// round: the set is a ball in all its rows - 1 dimensions.
WRITTEN_OUT void judge_friction(const tbJudgeSet* s, bool round, int rows, bool associated, double w,
                                const double* lambda, const double* u, double* F, Tally* t)
{
  double pull[TB_MAX_ROWS], x[TB_MAX_ROWS], G[TB_MAX_ROWS], sliding;
  for (int i = 0; i < rows - 1; i++) pull[i] = round ? s->axis[0] * -u[1 + i] : -u[1 + i];
  if (round) sliding = tb_judge_norm(rows - 1, pull);
  else sliding = tb_judge_support(s, pull);
  double lifted = u[0] + (associated ? 0 : sliding);
  natural_map(s, round, rows, 1, lambda, lifted, u, F);
  worst(&t->penetration, -u[0]);
  if (tb_judge_largest(rows, lambda) == 0 && w < INFINITY) { // w λ is 0 for every w, λ in K, λ·u = 0
    worst_norm(&t->velocity, rows, F);
    return;
  }
  natural_map(s, round, rows, w, lambda, lifted, u, G);
  worst_norm(&t->velocity, rows, G);

  project(s, round, rows, lambda, x);
  double product = lambda[0] * lifted, power = 0;
  for (int i = 1; i < rows; i++) power += lambda[i] * u[i];
  for (int i = 0; i < rows; i++) x[i] = lambda[i] - x[i];
  worst_norm(&t->cone, rows, x);
  worst(&t->complementarity, fabs(product + power));
  worst(&t->dissipation, lambda[0] * sliding + power);
}

// ---- the whole problem ----

enum { CONTACTS_PER_PIECE = 256 };

struct tbJudge {
  const tbProblem* p;
  tbThreads* threads;
  tbInterrupt interrupt; // the caller's: what it ends has infinite residuals
  tbArena arena;
  double *q, *u; // (nrow)
  double *F, *E; // the natural map at the λ measured last: of another model, and of the law         (nrow)
  tbJudgeResponse response; // w_k
  double *f, *w, *r;        // (ndof): Jᵀλ, A⁻¹Jᵀλ, what is left of it
  tbBlocks blocks;          // to solve with
  bool* inverted;           // whether that went well                              (nblock)
  double accuracy;          // of w
  double norm_q;
  double scale;            // that ‖F‖ is measured by; NaN: the λ measured last has infinite residuals
  Tally *exact, *modelled; // per piece
  double* last;            // λ whose u and w are there, if it is: `known`                   (nrow)
  bool known, direct;      // no block is solved with by iterations
  // of the measurement under way
  const double* lambda;
  tbModel model;
  int directions;
};

static bool has_set(const tbProblem* p, int k) { return p->law[k] > TB_LAW_BOX; }

// What tb_judge_set() makes of Coulomb friction.
WRITTEN_OUT void round_set(double mu, int dim, tbJudgeSet* out)
{
  out->kind = TB_JUDGE_ELLIPSOID, out->dim = dim;
  for (int i = 0; i < dim; i++) out->axis[i] = mu;
}

// One contact under a model; F: its natural map.
static void judge_contact(const tbJudge* j, int k, tbModel model, double* F, Tally* t)
{
  const tbProblem* p = j->p;
  const double *lambda = j->lambda + p->row_adr[k], *u = j->u + p->row_adr[k];
  double w = j->response.response[k];
  if (isnan(w)) w = 1; // the contact carries nothing: any will do
  if (!has_set(p, k)) {
    judge_rows((tbLaw)p->law[k], p->row_adr[k + 1] - p->row_adr[k], p->param + p->param_adr[k], w, lambda, u,
               F, t);
    return;
  }
  tbJudgeSet set;
  double own[3];
  int rows = p->row_adr[k + 1] - p->row_adr[k];
  bool ccp = model == TB_MODEL_CCP,
       round = p->law[k] == TB_LAW_COULOMB && (ccp || model == TB_MODEL_CONE) && (rows == 2 || rows == 3);
  if (round) round_set(p->param[p->param_adr[k]], rows - 1, &set);
  else tb_judge_set(p, k, model, j->directions, &set);
  if (p->law[k] == TB_LAW_TENSOR) {
    tb_judge_tensor(p->param + p->param_adr[k], lambda, own);
    lambda = own;
  }
  if (round && rows == 3) judge_friction(&set, true, 3, ccp, w, lambda, u, F, t);
  else if (round) judge_friction(&set, true, 2, ccp, w, lambda, u, F, t);
  else judge_friction(&set, false, set.dim + 1, ccp, w, lambda, u, F, t);
}

static void judge_piece(void* user, int begin, int end, int piece)
{
  tbJudge* j = user;
  const int* row = j->p->row_adr;
  Tally exact = {0}, modelled = {0};
  for (int k = begin; k < end; k++) {
    judge_contact(j, k, TB_MODEL_CONE, j->E + row[k], &exact);
    if (j->model != TB_MODEL_CONE) judge_contact(j, k, j->model, j->F + row[k], &modelled);
  }
  j->exact[piece] = exact;
  j->modelled[piece] = j->model == TB_MODEL_CONE ? exact : modelled;
}

// One column block: f += Jᵀλ, u += J w. Written out for a rigid body's six columns by giving the width as a
// constant; every sum has the same order whatever the width.
static inline void push_column(const double* restrict J, int rows, int width, const double* restrict lambda,
                               double* restrict f)
{
  for (int i = 0; i < rows; i++, J += width)
    for (int d = 0; d < width; d++) f[d] += J[d] * lambda[i];
}

static inline void see_column(const double* restrict J, int rows, int width, const double* restrict w,
                              double* restrict u)
{
  for (int i = 0; i < rows; i++, J += width) {
    double sum = u[i];
    for (int d = 0; d < width; d++) sum += J[d] * w[d];
    u[i] = sum;
  }
}

// The same for wide blocks: the sums of a contact's rows, each in its own order, do not wait for each other.
static void see_wide_column(const double* restrict J, int width, const double* restrict w, double* restrict u)
{
  double sum[3] = {u[0], u[1], u[2]};
  for (int d = 0; d < width; d++)
    for (int i = 0; i < 3; i++) sum[i] += J[i * width + d] * w[d];
  memcpy(u, sum, sizeof sum);
}

// The same for two contacts side by side.
static void see_two_wide_columns(const double* J, const double* K, int width, const double* v,
                                 const double* w, double* u)
{
  double sum[6];
  memcpy(sum, u, sizeof sum);
  for (int d = 0; d < width; d++)
    for (int i = 0; i < 3; i++) {
      sum[i] += J[i * width + d] * v[d];
      sum[3 + i] += K[i * width + d] * w[d];
    }
  memcpy(u, sum, sizeof sum);
}

// Whether contacts k and k + 1 have three rows and one wide column block each, as those of a surface that
// meets what is fixed.
static bool are_wide_alike(const tbProblem* p, int k)
{
  if (k + 1 >= p->ncontact || p->row_adr[k + 2] - p->row_adr[k] != 6) return false;
  int c = p->jac_adr[k];
  return p->row_adr[k + 1] - p->row_adr[k] == 3 && p->jac_adr[k + 1] == c + 1 && p->jac_adr[k + 2] == c + 2 &&
         p->jac_width[c] > 6 && p->jac_width[c] == p->jac_width[c + 1];
}

// f = Jᵀλ; most contacts may carry nothing.
static void gather_impulses(const tbProblem* p, const double* lambda, double* f)
{
  memset(f, 0, (size_t)p->ndof * sizeof *f);
  for (int k = 0; k < p->ncontact; k++) {
    if (!tb_judge_carries(p, k, lambda)) continue;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      const double *J = p->jac + p->jac_val_adr[c], *from = lambda + p->row_adr[k];
      int width = p->jac_width[c], rows = p->row_adr[k + 1] - p->row_adr[k];
      if (width == 6) push_column(J, rows, 6, from, f + p->jac_dof[c]);
      else push_column(J, rows, width, from, f + p->jac_dof[c]);
    }
  }
}

// u_k += J_k w for every contact
static void add_contact_velocity(const tbProblem* p, const double* w, double* u)
{
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->jac_adr[k];
    if (are_wide_alike(p, k)) {
      see_two_wide_columns(p->jac + p->jac_val_adr[first], p->jac + p->jac_val_adr[first + 1],
                           p->jac_width[first], w + p->jac_dof[first], w + p->jac_dof[first + 1],
                           u + p->row_adr[k]);
      k++;
      continue;
    }
    for (int c = first; c < p->jac_adr[k + 1]; c++) {
      const double *J = p->jac + p->jac_val_adr[c], *from = w + p->jac_dof[c];
      int width = p->jac_width[c], rows = p->row_adr[k + 1] - p->row_adr[k];
      if (width == 6) see_column(J, rows, 6, from, u + p->row_adr[k]);
      else if (rows == 3) see_wide_column(J, width, from, u + p->row_adr[k]);
      else see_column(J, rows, width, from, u + p->row_adr[k]);
    }
  }
}

static void solve_block(void* user, int b, tbThreads* threads, double* room)
{
  tbJudge* j = user;
  int dof = j->p->block[b].dof;
  j->inverted[b] = tb_judge_solve(&j->p->block[b], threads, j->interrupt, j->accuracy, j->f + dof, j->w + dof,
                                  j->r + dof, room);
}

static bool solve_dynamics(tbJudge* j)
{
  bool all = true;
  tb_blocks_each(&j->blocks, j->threads, solve_block, j);
  for (int b = 0; b < j->p->nblock; b++) all = all && j->inverted[b];
  return all;
}

// Entries from `from` on of row i of a given W, times λ: each sum in the order of its entries.
static double rest_of_row(const tbProblem* p, int i, int from, double sum, const double* lambda)
{
  for (int e = from; e < p->W_ptr[i + 1]; e++) sum += p->W_val[e] * lambda[p->W_col[e]];
  return sum;
}

// u = W λ for a W that is given, three rows side by side so that sums do not wait for each other.
static void given_velocity(const tbProblem* p, const double* lambda, double* u)
{
  int i = 0;
  for (; i + 2 < p->nrow; i += 3) {
    const int *ptr = p->W_ptr + i, *col = p->W_col;
    int common = ptr[1] - ptr[0];
    if (ptr[2] - ptr[1] < common) common = ptr[2] - ptr[1];
    if (ptr[3] - ptr[2] < common) common = ptr[3] - ptr[2];
    double a = 0, b = 0, c = 0;
    for (int e = 0; e < common; e++) {
      a += p->W_val[ptr[0] + e] * lambda[col[ptr[0] + e]];
      b += p->W_val[ptr[1] + e] * lambda[col[ptr[1] + e]];
      c += p->W_val[ptr[2] + e] * lambda[col[ptr[2] + e]];
    }
    u[i] = rest_of_row(p, i, ptr[0] + common, a, lambda);
    u[i + 1] = rest_of_row(p, i + 1, ptr[1] + common, b, lambda);
    u[i + 2] = rest_of_row(p, i + 2, ptr[2] + common, c, lambda);
  }
  for (; i < p->nrow; i++) u[i] = rest_of_row(p, i, p->W_ptr[i], 0, lambda);
}

// u and w at λ. Callers often ask about the same λ again, for other numbers.
static bool contact_velocity(tbJudge* j)
{
  const tbProblem* p = j->p;
  size_t bytes = (size_t)p->nrow * sizeof *j->last;
  if (j->known && memcmp(j->last, j->lambda, bytes) == 0) return true;
  j->known = false;
  if (p->W_ptr) given_velocity(p, j->lambda, j->u);
  for (int i = 0; i < p->nrow; i++) {
    double sum = p->W_ptr ? j->u[i] : 0;
    j->u[i] = sum + p->compliance[i] * j->lambda[i];
  }
  if (!p->W_ptr) {
    gather_impulses(p, j->lambda, j->f);
    if (!solve_dynamics(j)) return false;
    add_contact_velocity(p, j->w, j->u);
  }
  for (int i = 0; i < p->nrow; i++) j->u[i] += j->q[i];
  memcpy(j->last, j->lambda, bytes);
  j->known = j->direct;
  return true;
}

static tbStatus prepare(tbJudge* j)
{
  const tbProblem* p = j->p;
  size_t pieces = (size_t)tb_piece_count(p->ncontact, CONTACTS_PER_PIECE);
  j->q = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->u = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->F = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->E = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->last = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->f = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->w = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->r = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->inverted = TB_TAKE(&j->arena, bool, (size_t)p->nblock);
  j->blocks = (tbBlocks){.problem = p,
                         .room_adr = TB_TAKE(&j->arena, size_t, (size_t)p->nblock),
                         .room = TB_TAKE(&j->arena, double, tb_blocks_room(p))};
  j->exact = TB_TAKE(&j->arena, Tally, pieces);
  j->modelled = TB_TAKE(&j->arena, Tally, pieces);
  if (!j->q || !j->u || !j->F || !j->E || !j->last || !j->f || !j->w || !j->r || !j->inverted ||
      !j->blocks.room_adr || !j->blocks.room || !j->exact || !j->modelled)
    return TB_ERROR_MEMORY;
  return tb_judge_response_init(&j->arena, p, &j->response);
}

// What follows from the values of bias and free motion; and, from those of the matrices, the responses.
static tbStatus take_values(tbContext* ctx, tbJudge* j, bool sides)
{
  const tbProblem* p = j->p;
  j->threads = ctx->threads;
  j->interrupt = ctx->interrupt;
  j->accuracy = TB_METRIC_EXACT;
  j->scale = NAN;
  j->known = false, j->direct = true;
  for (int b = 0; b < p->nblock; b++)
    j->direct = j->direct && (p->block[b].kind != TB_METRIC_SPARSE || p->block[b].factor);
  tb_blocks_begin(&j->blocks);
  memcpy(j->q, p->bias, (size_t)p->nrow * sizeof *j->q);
  add_contact_velocity(p, p->v_free, j->q);
  j->norm_q = tb_judge_norm(p->nrow, j->q);
  if (sides) return TB_OK;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = tb_judge_response_begin(&arena, j->threads, &j->response);
  tb_arena_free(&arena);
  return status;
}

tbStatus tb_judge_renew(tbContext* ctx, tbJudge* j, bool sides)
{
  tb_judge_start_from(j, NULL);
  return take_values(ctx, j, sides);
}

tbStatus tb_judge_create(tbContext* ctx, const tbProblem* problem, tbJudge** out)
{
  *out = NULL;
  tbJudge* j = TB_NEW(ctx, tbJudge, 1);
  if (!j) return TB_ERROR_MEMORY;
  j->p = problem;
  tb_arena_init(&j->arena, ctx);
  tbStatus status = prepare(j);
  if (status == TB_OK) status = take_values(ctx, j, false);
  if (status == TB_OK) *out = j;
  else tb_judge_free(ctx, j);
  return status;
}

void tb_judge_start_from(tbJudge* j, const double* w)
{
  if (w) memcpy(j->w, w, (size_t)j->p->ndof * sizeof *w);
  else memset(j->w, 0, (size_t)j->p->ndof * sizeof *j->w);
  j->known = false;
}

bool tb_judge_is_rough(const tbJudge* j) { return !j->direct && j->accuracy > TB_METRIC_EXACT; }

void tb_judge_accuracy(tbJudge* j, double accuracy)
{
  j->accuracy = fmax(accuracy, TB_METRIC_EXACT);
  j->known = false;
}

void tb_judge_free(tbContext* ctx, tbJudge* j)
{
  if (!j) return;
  j->arena.ctx = ctx;
  tb_arena_free(&j->arena);
  tb_free(ctx, j);
}

static void refuse(tbResidual* out)
{
  double* number = (double*)out;
  for (size_t i = 0; i < sizeof *out / sizeof *number; i++) number[i] = INFINITY;
}

// A number that is not finite, wherever it is, is a failure: norms of what overflowed compare as anything.
static bool all_finite(const tbResidual* r)
{
  const double* number = (const double*)r;
  bool finite = true;
  for (size_t i = 0; i < sizeof *r / sizeof *number; i++) finite = finite && isfinite(number[i]);
  return finite;
}

static double scaled(double E, double scale) { return scale > 0 ? E / scale : E; }

// The natural map of the model that was asked for.
static double* model_map(const tbJudge* j) { return j->model == TB_MODEL_CONE ? j->E : j->F; }

// ‖x‖, ‖y‖, ‖z‖: three sums that do not wait for each other.
static void measure_three(int n, const double* x, const double* y, const double* z, double* norm)
{
  double a = 0, b = 0, c = 0;
  for (int i = 0; i < n; i++) a += x[i] * x[i], b += y[i] * y[i], c += z[i] * z[i];
  norm[0] = tb_judge_root(n, x, a), norm[1] = tb_judge_root(n, y, b), norm[2] = tb_judge_root(n, z, c);
}

void tb_judge_measure(tbJudge* j, const double* lambda, tbModel model, int directions, tbResidual* out,
                      double* u, double* v)
{
  const tbProblem* p = j->p;
  bool finite = true;
  for (int i = 0; i < p->nrow; i++) finite = finite && isfinite(lambda[i]);
  j->lambda = lambda;
  j->model = model;
  j->directions = directions;
  j->scale = NAN;
  bool certain = finite && contact_velocity(j);
  for (int i = 0; u && i < p->nrow; i++) u[i] = certain ? j->u[i] : NAN;
  for (int i = 0; v && i < p->ndof; i++) v[i] = certain ? p->v_free[i] + j->w[i] : NAN;
  if (!certain) {
    refuse(out);
    return;
  }

  tb_judge_response_find(j->threads, &j->response, lambda);
  tb_parallel_for(j->threads, p->ncontact, CONTACTS_PER_PIECE, judge_piece, j);
  Tally exact = {0};
  double model_velocity = 0;
  for (int i = 0; i < tb_piece_count(p->ncontact, CONTACTS_PER_PIECE); i++) {
    const Tally* t = &j->exact[i];
    worst(&exact.penetration, t->penetration);
    worst(&exact.cone, t->cone);
    worst(&exact.complementarity, t->complementarity);
    worst(&exact.dissipation, t->dissipation);
    worst(&exact.velocity, t->velocity);
    worst(&model_velocity, j->modelled[i].velocity);
  }
  double norm[3], *map = model_map(j);
  measure_three(p->nrow, j->E, lambda, j->u, norm);
  double E = norm[0], norm_lambda = norm[1], norm_u = norm[2],
         largest = fmax(j->norm_q, fmax(norm_lambda, norm_u));
  *out = (tbResidual){
      .fclib = scaled(E, largest),
      .natural_map = scaled(E, j->norm_q),
      .model = scaled(map == j->E ? E : tb_judge_norm(p->nrow, map), largest),
      .velocity = exact.velocity,
      .model_velocity = model_velocity,
      .absolute = E,
      .penetration = exact.penetration,
      .cone = exact.cone,
      .complementarity = exact.complementarity,
      .dissipation = exact.dissipation,
      .norm_q = j->norm_q,
      .norm_lambda = norm_lambda,
      .norm_u = norm_u,
  };
  if (all_finite(out)) j->scale = largest;
  else refuse(out);
}

const double* tb_judge_responses(tbJudge* j)
{
  tb_judge_response_find(j->threads, &j->response, NULL);
  return j->response.response;
}

void tb_judge_contacts(const tbJudge* j, double* part)
{
  const tbProblem* p = j->p;
  for (int k = 0; k < p->ncontact; k++)
    part[k] = isnan(j->scale)
                  ? INFINITY
                  : scaled(tb_judge_norm(p->row_adr[k + 1] - p->row_adr[k], model_map(j) + p->row_adr[k]),
                           j->scale);
}
