// SPDX-License-Identifier: Apache-2.0
// Interior point on the second-order cones of Coulomb friction (Nesterov & Todd 1997; Mehrotra 1992; for
// friction Kleinert, Simeon & Obermayr 2014 and Acary, Armand & Nguyen 2023).
//
// Dividing friction row i by the half axis μ_i of its set turns every friction cone into Q = {x₀ ≥ ‖x₁‖},
// which is its own dual. With λ = Dx and z = Dû the law reads
//
//   z = DWD x + Dq + φ(z),     x ∈ Q,  z ∈ Q,  x∘z = 0,      φ(z) = (‖z₁‖, 0…): De Saxcé's term; 0 for CCP
//
// The zero on the right is replaced by τe with τ → 0, and x, z are kept inside. One Newton step, linearised
// in the scaling S of Nesterov and Todd (S z = S⁻¹x = v) and with dz eliminated, is
//
//   [DWD + (I − φ′) S⁻²] dx = (I − φ′) d − r,     d = S⁻¹ (v \ (τe − v∘v − S⁻¹dxᵃ∘S dzᵃ)),   dz = d − S⁻²dx
//
// with r what the first equation misses and dxᵃ, dzᵃ Mehrotra's predictor, the same system with τ = 0. φ′
// couples the normal row of a contact to its own friction rows alone: the matrix has the pattern of W, not
// its symmetry. Keeping φ′ is what lets the iteration end quadratically; with φ frozen it is a fixed point
// that many problems leave. φ makes the problem non-monotone, so nothing proves convergence, and a path may
// turn back before its end.
//
// Islands share nothing, so each has its own τ, its own step length and its own best iterate. When the gap is
// small enough to tell the contacts' states, or when the path is lost, an island is polished by Newton's
// method on the law itself (ipm_polish.c), which ends in a few steps at the level of rounding, or is taken
// back. An island that is solved drops out of the factorisation; one whose path has ended starts again, from
// another point and along another path: x∘z = τ w e with random weights w.
//
// Cost      one sparse LU of W's pattern per iteration; 5 to 30 iterations, hardly more for harder problems.
// Limits    laws whose cones are round; W is assembled and factored, so memory is that of its fill. A warm
// start
//           only serves the polishing, which comes first when there is one.
#include "solve/ipm.h"
#include "base/random.h"
#include "math/scale.h"
#include "solve/methods.h"
#include "tribo/math.h"

#include <string.h>

enum {
  PATIENCE = 12, // iterations without progress on the path
  TRIES = 2,     // … and of the polishing
  STARTS = 7,    // sizes of starting points
};

static const double LN_10 = 2.30258509299404568402;
static const double FIRST_POLISH = 1e-5; // of gap and r, in the island's units

// ---- around the run ----

tbStatus tb_ipm_prepare(tbContext* ctx, tbRun* run)
{
  const tbProblem* p = run->p;
  tbIpmPrepared* s = run->prepared = TB_NEW(ctx, tbIpmPrepared, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->island = TB_NEW(ctx, int, (size_t)p->ncontact);
  if (!s->island) return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, s->island, &s->islands));
  return tb_lu_analyze(ctx, p->ncontact, p->row_adr, run->W->ptr, run->W->col, 0, &s->lu);
}

tbStatus tb_ipm_renew(tbContext* ctx, tbRun* run)
{
  tb_lu_watch(((tbIpmPrepared*)run->prepared)->lu, ctx->interrupt);
  return TB_OK;
}

void tb_ipm_release(tbContext* ctx, tbRun* run)
{
  tbIpmPrepared* s = run->prepared;
  if (!s) return;
  tb_lu_free(ctx, s->lu);
  tb_free(ctx, s->island);
  tb_free(ctx, s);
}

static void layout(tbIpm* s, tbScratch* scratch, const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow, contacts = (size_t)p->ncontact;
  s->cone = TB_SCRATCH(scratch, tbIpmCone, n);
  s->island = TB_SCRATCH(scratch, tbIpmIsland, contacts);
  s->friction = TB_SCRATCH(scratch, tbFrictionSet, contacts);
  double** vectors[] = {&s->to_lambda, &s->to_z, &s->x, &s->z, &s->dx,    &s->dz,       &s->d,
                        &s->r,         &s->rhs,  &s->v, &s->u, &s->trial, &s->residual, &s->kept};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(scratch, double, n);
  s->values = TB_SCRATCH(scratch, double, W->val_adr[W->ptr[contacts]]);
  s->workspace = TB_SCRATCH(scratch, double, tb_delassus_workspace(W));
  s->active = TB_SCRATCH(scratch, uint8_t, n);
}

size_t tb_ipm_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(tbIpm){0}, &counting, W);
  return counting.used;
}

// ---- setting up ----

static void add_cones(tbIpm* s, int k)
{
  const tbProblem* p = s->run->p;
  const tbFrictionSet* f = &s->friction[k];
  int rows = tb_rows(p, k), first = p->row_adr[k], island = s->prepared->island[k];
  if (p->law[k] == TB_LAW_BILATERAL) return;
  if (f->kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++)
      s->cone[s->cones++] =
          (tbIpmCone){.row = first + i, .size = 1, .island = island, .contact = k, .axis = {1}};
    s->island[island].cones += rows;
    return;
  }
  tbIpmCone* c = &s->cone[s->cones++];
  *c = (tbIpmCone){.row = first, .size = rows, .island = island, .contact = k, .axis = {1}};
  for (int i = 1; i < rows; i++) // a box is what frictionless contact leaves
    c->axis[i] = f->kind == TB_SET_BOX ? 0 : f->par[f->kind == TB_SET_BALL ? 0 : i - 1];
  s->island[island].cones++;
}

// D: a friction cone keeps its shape when its rows share a factor; the normal row's diagonal becomes one.
static void choose_units(tbIpm* s)
{
  const tbProblem* p = s->run->p;
  const tbDelassus* W = s->run->W;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    const double* D = W->diag + W->diag_adr[k];
    for (int i = 0; i < rows; i++) {
      double size = D[s->friction[k].kind == TB_SET_NONE ? i * rows + i : 0];
      s->to_z[p->row_adr[k] + i] = size > 0 ? 1 / sqrt(size) : 1;
    }
  }
  for (int c = 0; c < s->cones; c++)
    for (int i = 0; i < s->cone[c].size; i++) s->to_z[s->cone[c].row + i] *= s->cone[c].axis[i];
  double* unit = s->trial; // per island: the largest of Dq becomes one
  memset(unit, 0, (size_t)s->n * sizeof *unit);
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      unit[s->prepared->island[k]] = fmax(unit[s->prepared->island[k]], fabs(s->to_z[i] * W->q[i]));
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) {
      double size = unit[s->prepared->island[k]] > 0 ? unit[s->prepared->island[k]] : 1;
      s->to_lambda[i] = s->to_z[i] * size;
      s->to_z[i] /= size;
    }
}

// Every attempt starts a power of ten further from the first: 1, 10, 1/10, 100, …
static void start_island(tbIpm* s, int which)
{
  const tbProblem* p = s->run->p;
  tbIpmIsland* land = &s->island[which];
  int turn = land->attempt++ % STARTS;
  static const double sizes[STARTS] = {1, 10, 0.1, 100, 0.01, 1000, 0.001};
  double size = sizes[turn];
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; s->prepared->island[k] == which && i < p->row_adr[k + 1]; i++)
      s->x[i] = s->z[i] = 0;
  for (int c = 0; c < s->cones; c++)
    if (s->cone[c].island == which) {
      tbIpmCone* cone = &s->cone[c];
      cone->weight = land->attempt == 1 ? 1 : tb_exp(LN_10 * tb_random_uniform(&s->random, -1, 1));
      s->x[cone->row] = size;
      s->z[cone->row] = size * cone->weight;
    }
  land->state = TB_IPM_PATH;
  land->polish_below = FIRST_POLISH;
  land->stuck = 0;
  land->progress = INFINITY;
}

static void begin(tbIpm* s, tbRun* run)
{
  const tbProblem* p = run->p;
  s->run = run;
  s->random = run->o->seed;
  s->prepared = run->prepared;
  s->n = p->nrow;
  layout(s, &run->scratch, run->W);
  memset(s->island, 0, (size_t)p->ncontact * sizeof *s->island);
  for (int k = 0; k < p->ncontact; k++) {
    s->island[s->prepared->island[k]].rows += tb_rows(p, k);
    tb_friction_make(p, k, run->o->model, run->o->directions, &s->friction[k]);
    add_cones(s, k);
  }
  choose_units(s);
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].best = INFINITY;
  for (int i = 0; i < s->prepared->islands && !tb_run_stops(run); i++) start_island(s, i);
}

// ---- where the iterate stands ----

double tb_ipm_lift(const tbIpm* s, const tbIpmCone* c, double* g)
{
  bool lifts = c->size > 1 && !s->friction[c->contact].associated;
  double length = lifts ? tb_norm(c->size - 1, s->z + c->row + 1) : 0;
  for (int i = 1; i < c->size; i++) g[i - 1] = length > 0 ? s->z[c->row + i] / length : 0;
  return length;
}

// ‖λ_k − P_K(λ_k − û_k)‖²
static double contact_error(const tbIpm* s, int k, const double* lambda, const double* u)
{
  const tbProblem* p = s->run->p;
  const tbFrictionSet* f = &s->friction[k];
  int rows = tb_rows(p, k);
  double z[TB_MAX_ROWS], x[TB_MAX_ROWS], against[TB_MAX_ROWS] = {0}, sum = 0;
  for (int i = 1; i < rows; i++) against[i - 1] = -u[i];
  for (int i = 0; i < rows; i++) z[i] = lambda[i] - u[i];
  if (f->kind == TB_SET_NONE) tb_friction_clamp_rows(p, k, z, x);
  else {
    if (!f->associated) z[0] -= tb_friction_support(f, against, NULL);
    tb_friction_project(f, z, x, NULL);
  }
  for (int i = 0; i < rows; i++) sum += (lambda[i] - x[i]) * (lambda[i] - x[i]);
  return sum;
}

// u of the given impulses, and each island's natural map; keeps in `best` what is better there than before.
static void compare(tbIpm* s, const double* lambda, double* best)
{
  const tbProblem* p = s->run->p;
  double* error = s->residual;
  memset(error, 0, (size_t)s->n * sizeof *error);
  tb_delassus_apply(s->run->W, s->run->threads, lambda, s->u, s->workspace);
  for (int i = 0; i < s->n; i++) s->u[i] += s->run->W->q[i];
  for (int k = 0; k < p->ncontact; k++)
    error[s->prepared->island[k]] += contact_error(s, k, lambda + p->row_adr[k], s->u + p->row_adr[k]);
  for (int k = 0; k < p->ncontact; k++)
    if (error[s->prepared->island[k]] < s->island[s->prepared->island[k]].best)
      memcpy(best + p->row_adr[k], lambda + p->row_adr[k], (size_t)tb_rows(p, k) * sizeof *best);
  for (int i = 0; i < s->prepared->islands; i++) {
    s->island[i].error = error[i];
    s->island[i].best = fmin(s->island[i].best, error[i]);
  }
}

// r, the gaps, and which islands still need work.
static void measure(tbIpm* s, double* best)
{
  const tbProblem* p = s->run->p;
  for (int i = 0; i < s->n; i++) s->trial[i] = s->to_lambda[i] * s->x[i];
  compare(s, s->trial, best);
  for (int i = 0; i < s->n; i++) s->r[i] = s->to_z[i] * s->u[i] - s->z[i];
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].gap = s->island[i].missed = 0;
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    double g[TB_SOC_MAX];
    s->r[cone->row] += tb_ipm_lift(s, cone, g);
    for (int i = cone->row; i < cone->row + cone->size; i++)
      s->island[cone->island].gap += s->x[i] * s->z[i] / cone->weight;
  }
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) {
      tbIpmIsland* land = &s->island[s->prepared->island[k]];
      land->missed = fmax(land->missed, fabs(s->r[i]));
    }
  for (int i = 0; i < s->prepared->islands; i++)
    if (s->island[i].cones > 0) s->island[i].gap /= s->island[i].cones;
}

// A finite iterate strictly inside its cones.
static bool is_inside(const tbIpm* s, int which)
{
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    if (cone->island != which) continue;
    double in_x = tb_soc_det(cone->size, s->x + cone->row), in_z = tb_soc_det(cone->size, s->z + cone->row);
    if (!(in_x > 0 && in_x < INFINITY && in_z > 0 && in_z < INFINITY)) return false;
  }
  return isfinite(s->island[which].missed);
}

static void copy_island(const tbIpm* s, int which, const double* from, double* to)
{
  const tbProblem* p = s->run->p;
  for (int k = 0; k < p->ncontact; k++)
    if (s->prepared->island[k] == which)
      memcpy(to + p->row_adr[k], from + p->row_adr[k], (size_t)tb_rows(p, k) * sizeof *to);
}

static void start_polish(tbIpm* s, int which, bool lost)
{
  tbIpmIsland* land = &s->island[which];
  copy_island(s, which, s->x, s->kept);
  land->state = TB_IPM_POLISH;
  land->lost = lost;
  land->polish_below = 1e-3 * fmin(land->polish_below, land->progress);
  land->stuck = 0;
  land->progress = INFINITY;
}

// Polishing did not help: back to the path, or to another one.
static void end_polish(tbIpm* s, int which)
{
  tbIpmIsland* land = &s->island[which];
  if (land->lost) {
    start_island(s, which);
    return;
  }
  copy_island(s, which, s->kept, s->x);
  land->state = TB_IPM_PATH;
  land->stuck = 0;
  land->progress = INFINITY;
}

// What each island does next: follow the path, polish now and then and when the path is lost, start again.
static bool decide(tbIpm* s)
{
  const tbSolveOptions* o = s->run->o;
  double goal = o->tolerance > 0 ? o->tolerance * tb_norm(s->n, s->run->W->q) : INFINITY;
  if (o->velocity_tolerance > 0) goal = fmin(goal, o->velocity_tolerance);
  goal = isinf(goal) ? 0 : 0.1 * goal;
  bool moved = false;
  for (int i = 0; i < s->prepared->islands && !tb_run_stops(s->run); i++) {
    tbIpmIsland* land = &s->island[i];
    bool polishes = land->state == TB_IPM_POLISH;
    double falls = polishes ? sqrt(land->error) : fmax(land->gap, land->missed);
    land->stuck = falls < 0.9 * land->progress ? 0 : land->stuck + 1;
    land->progress = fmin(land->progress, falls);
    if (land->best <= goal * goal * land->rows / s->n) {
      land->state = TB_IPM_SOLVED;
    } else if (polishes && (land->stuck >= TRIES || !isfinite(land->error))) {
      end_polish(s, i);
      moved = true;
    } else if (!polishes) {
      bool lost = land->stuck >= PATIENCE || !is_inside(s, i);
      if (lost || falls < land->polish_below) start_polish(s, i, lost);
    }
  }
  return moved;
}

// A path cannot begin near its end, but polishing can: islands that are given impulses try that first.
static void use_warm_start(tbIpm* s, const double* lambda)
{
  const tbProblem* p = s->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    tbIpmIsland* land = &s->island[s->prepared->island[k]];
    if (tb_max_abs(tb_rows(p, k), lambda + p->row_adr[k]) > 0) {
      land->state = TB_IPM_POLISH;
      land->lost = true;
      land->attempt = 0;
    }
  }
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      if (s->island[s->prepared->island[k]].state == TB_IPM_POLISH)
        s->x[i] = s->to_lambda[i] > 0 ? lambda[i] / s->to_lambda[i] : 0;
}

// ---- what both kinds of step need ----

bool tb_ipm_activate(tbIpm* s, tbIpmState state)
{
  const tbProblem* p = s->run->p;
  bool any = false;
  for (int k = 0; k < p->ncontact; k++) {
    bool active = s->island[s->prepared->island[k]].state == state;
    memset(s->active + p->row_adr[k], active, (size_t)tb_rows(p, k));
    any = any || active;
  }
  return any;
}

void tb_ipm_scaled_matrix(tbIpm* s, double regularisation)
{
  const tbProblem* p = s->run->p;
  const tbDelassus* W = s->run->W;
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int l = W->col[e], cols = tb_rows(p, l);
      double* block = s->values + W->val_adr[e];
      const double* val = W->val + W->val_adr[e];
      for (int i = 0; i < tb_rows(p, k); i++)
        for (int j = 0; j < cols; j++) {
          int row = p->row_adr[k] + i, col = p->row_adr[l] + j;
          double w = s->to_z[row] * val[i * cols + j] * s->to_lambda[col];
          block[i * cols + j] = row == col ? w + regularisation * fmax(w, 1) : w;
        }
    }
}

double* tb_ipm_diagonal(tbIpm* s, int k)
{
  const tbDelassus* W = s->run->W;
  int e = W->ptr[k];
  while (W->col[e] != k) e++;
  return s->values + W->val_adr[e];
}

void tb_ipm_multiply(tbIpm* s, const double* dx, double* out)
{
  for (int i = 0; i < s->n; i++) s->trial[i] = s->active[i] ? s->to_lambda[i] * dx[i] : 0;
  tb_delassus_apply(s->run->W, s->run->threads, s->trial, out, s->workspace);
  for (int i = 0; i < s->n; i++) out[i] *= s->to_z[i];
}

void tb_ipm(tbRun* run, double* lambda)
{
  tbIpm s = {0};
  begin(&s, run);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (k == 0) {
      compare(&s, lambda, lambda); // what is to be beaten
      use_warm_start(&s, lambda);
      measure(&s, lambda);
    }
    if (tb_ipm_activate(&s, TB_IPM_PATH)) tb_ipm_follow(&s);
    if (tb_ipm_activate(&s, TB_IPM_POLISH)) tb_ipm_polish(&s);
    measure(&s, lambda);
    if (decide(&s)) measure(&s, lambda);
    tb_run_judge_next(run);
  }
}
