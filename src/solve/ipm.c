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
// that many problems leave. φ makes the problem non-monotone, so nothing proves convergence; a neighbourhood
// of the central path, kept wide enough to be left slowly, does what a proof would.
//
// Islands share nothing, so each has its own τ, its own step length and its own best iterate; an island that
// is solved drops out of the factorisation, one that is stuck starts again from another point.
//
// Cost      one sparse LU of W's pattern per iteration; 10 to 30 iterations, hardly more for harder problems.
// Limits    laws whose cones are round; W is assembled and factored, so memory is that of its fill. A warm
// start
//           is of no use to it. Where a solution is not strictly complementary, accuracy is the root of the
//           gap's.
#include "base/random.h"
#include "math/lu_sparse.h"
#include "math/scale.h"
#include "math/soc.h"
#include "solve/friction.h"
#include "solve/methods.h"
#include "solve/run.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
  tbLu* lu;
  int* island; // of each contact
  int islands;
} Prepared;

typedef struct {
  int row, size, island, contact;
  double axis[TB_SOC_MAX]; // friction row i is divided by it
  double weight;           // its share of the gap on the path that is followed
  tbSocScaling scaling;
} Cone;

typedef struct {
  int cones, rows;
  bool solved;
  int attempt;     // starts tried
  int stuck;       // iterations without progress
  double progress; // best of the measure that must fall
  double gap, sigma, alpha, correction;
  double best; // ‖natural map‖² of the best iterate
  double missed;
} Island;

typedef struct {
  tbRun* run;
  const Prepared* prepared;
  int n, cones;
  Cone* cone;
  Island* island;
  uint64_t random;
  tbFriction* friction;         // (ncontact)
  double *to_lambda, *to_z;     // λ_i = to_lambda_i x_i,  z_i = to_z_i u_i
  double *x, *z, *dx, *dz, *d;  // iterate, direction, and the d of the equations above
  double *r, *rhs, *v;          // what the dynamics misses, right-hand side, the scaled point
  double *u, *trial, *residual; // velocities, and room for products
  double *values, *workspace;   // the matrix, in the layout of W->val
  uint8_t* active;              // rows of unsolved islands
} Ipm;

enum { PATIENCE = 15, STARTS = 7, REFINEMENTS = 2 };

static const double CENTRED = 0.1;          // least eigenvalue over the mean that a step may leave
static const double LAG = 0.3;              // of the gap behind what the dynamics misses
static const double REGULARISATION = 1e-13; // of the factored diagonal; refinement takes it out again

// ---- around the run ----

tbStatus tb_ipm_prepare(tbContext* ctx, tbRun* run)
{
  const tbProblem* p = run->p;
  Prepared* s = run->prepared = TB_NEW(ctx, Prepared, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->island = TB_NEW(ctx, int, (size_t)p->ncontact);
  if (!s->island) return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, s->island, &s->islands));
  return tb_lu_analyze(ctx, p->ncontact, p->row_adr, run->W->ptr, run->W->col, 0, &s->lu);
}

void tb_ipm_release(tbContext* ctx, tbRun* run)
{
  Prepared* s = run->prepared;
  if (!s) return;
  tb_lu_free(ctx, s->lu);
  tb_free(ctx, s->island);
  tb_free(ctx, s);
}

static void layout(Ipm* s, tbScratch* scratch, const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow, contacts = (size_t)p->ncontact;
  s->cone = TB_SCRATCH(scratch, Cone, n);
  s->island = TB_SCRATCH(scratch, Island, contacts);
  s->friction = TB_SCRATCH(scratch, tbFriction, contacts);
  double** vectors[] = {&s->to_lambda, &s->to_z, &s->x, &s->z, &s->dx,    &s->dz,      &s->d,
                        &s->r,         &s->rhs,  &s->v, &s->u, &s->trial, &s->residual};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = TB_SCRATCH(scratch, double, n);
  s->values = TB_SCRATCH(scratch, double, W->val_adr[W->ptr[contacts]]);
  s->workspace = TB_SCRATCH(scratch, double, tb_delassus_workspace(W));
  s->active = TB_SCRATCH(scratch, uint8_t, n);
}

size_t tb_ipm_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Ipm){0}, &counting, W);
  return counting.used;
}

// ---- setting up ----

static void add_cones(Ipm* s, int k)
{
  const tbProblem* p = s->run->p;
  const tbFriction* f = &s->friction[k];
  int rows = tb_rows(p, k), first = p->row_adr[k], island = s->prepared->island[k];
  if (p->law[k] == TB_LAW_FREE) return;
  if (f->kind == TB_SET_NONE) {
    for (int i = 0; i < rows; i++)
      s->cone[s->cones++] = (Cone){.row = first + i, .size = 1, .island = island, .contact = k, .axis = {1}};
    s->island[island].cones += rows;
    return;
  }
  Cone* c = &s->cone[s->cones++];
  *c = (Cone){.row = first, .size = rows, .island = island, .contact = k, .axis = {1}};
  for (int i = 1; i < rows; i++) // a box is what frictionless contact leaves
    c->axis[i] = f->kind == TB_SET_BOX ? 0 : f->par[f->kind == TB_SET_BALL ? 0 : i - 1];
  s->island[island].cones++;
}

// D: a friction cone keeps its shape when its rows share a factor; the normal row's diagonal becomes one.
static void choose_units(Ipm* s)
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
static void start_island(Ipm* s, int which)
{
  const tbProblem* p = s->run->p;
  Island* land = &s->island[which];
  int turn = land->attempt++ % STARTS;
  double size = pow(10, turn % 2 ? (turn + 1) / 2 : -(turn / 2));
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; s->prepared->island[k] == which && i < p->row_adr[k + 1]; i++)
      s->x[i] = s->z[i] = 0;
  for (int c = 0; c < s->cones; c++)
    if (s->cone[c].island == which) {
      Cone* cone = &s->cone[c];
      cone->weight = land->attempt == 1 ? 1 : pow(10, tb_random_uniform(&s->random, -1, 1));
      s->x[cone->row] = size;
      s->z[cone->row] = size * cone->weight;
    }
  land->stuck = 0;
  land->progress = INFINITY;
}

static void begin(Ipm* s, tbRun* run)
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
  for (int i = 0; i < s->prepared->islands; i++) {
    s->island[i].best = INFINITY;
    start_island(s, i);
  }
}

// ---- where the iterate stands ----

static bool lifts(const Ipm* s, const Cone* c) { return c->size > 1 && !s->friction[c->contact].associated; }

// φ′ is the row (0, gᵀ): g = z₁/‖z₁‖, or 0. Returns ‖z₁‖.
static double lift_slope(const Ipm* s, const Cone* c, double* g)
{
  double length = lifts(s, c) ? tb_norm(c->size - 1, s->z + c->row + 1) : 0;
  for (int i = 1; i < c->size; i++) g[i - 1] = length > 0 ? s->z[c->row + i] / length : 0;
  return length;
}

// ‖λ_k − P_K(λ_k − û_k)‖²
static double contact_error(const Ipm* s, int k, const double* lambda, const double* u)
{
  const tbProblem* p = s->run->p;
  const tbFriction* f = &s->friction[k];
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
static void compare(Ipm* s, const double* lambda, double* best)
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
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].best = fmin(s->island[i].best, error[i]);
}

// r, the gaps, and which islands still need work.
static void measure(Ipm* s, double* best)
{
  const tbProblem* p = s->run->p;
  for (int i = 0; i < s->n; i++) s->trial[i] = s->to_lambda[i] * s->x[i];
  compare(s, s->trial, best);
  for (int i = 0; i < s->n; i++) s->r[i] = s->to_z[i] * s->u[i] - s->z[i];
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].gap = s->island[i].missed = 0;
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    double g[TB_SOC_MAX];
    s->r[cone->row] += lift_slope(s, cone, g);
    for (int i = cone->row; i < cone->row + cone->size; i++)
      s->island[cone->island].gap += s->x[i] * s->z[i] / cone->weight;
  }
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) {
      Island* land = &s->island[s->prepared->island[k]];
      land->missed = fmax(land->missed, fabs(s->r[i]));
    }
}

static void choose_islands(Ipm* s)
{
  const tbProblem* p = s->run->p;
  double norm_q = tb_norm(s->n, s->run->W->q), goal = 0.1 * s->run->o->tolerance * norm_q;
  for (int i = 0; i < s->prepared->islands; i++) {
    Island* land = &s->island[i];
    if (land->cones > 0) land->gap /= land->cones;
    land->solved = land->best <= goal * goal * land->rows / s->n;
    double measure = fmax(land->gap, land->missed);
    if (measure < 0.9 * land->progress) land->progress = measure, land->stuck = 0;
    else land->stuck++;
  }
  for (int k = 0; k < p->ncontact; k++)
    memset(s->active + p->row_adr[k], !s->island[s->prepared->island[k]].solved, (size_t)tb_rows(p, k));
}

// ---- one step ----

static void factor(Ipm* s)
{
  const tbProblem* p = s->run->p;
  const tbDelassus* W = s->run->W;
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int l = W->col[e], cols = tb_rows(p, l);
      double* block = s->values + W->val_adr[e];
      for (int i = 0; i < tb_rows(p, k); i++)
        for (int j = 0; j < cols; j++) {
          int row = p->row_adr[k] + i, col = p->row_adr[l] + j;
          double w = s->to_z[row] * W->val[W->val_adr[e] + (size_t)(i * cols + j)] * s->to_lambda[col];
          block[i * cols + j] = row == col ? w + REGULARISATION * fmax(w, 1) : w;
        }
    }
  for (int c = 0; c < s->cones; c++) {
    Cone* cone = &s->cone[c];
    int k = cone->contact, rows = tb_rows(p, k), at = cone->row - p->row_adr[k], e = W->ptr[k];
    if (s->island[cone->island].solved) continue;
    while (W->col[e] != k) e++;
    double *block = s->values + W->val_adr[e], H[TB_SOC_MAX * TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_scaling(cone->size, s->x + cone->row, s->z + cone->row, &cone->scaling);
    tb_soc_scale(cone->size, &cone->scaling, s->z + cone->row, s->v + cone->row);
    tb_soc_hessian(cone->size, &cone->scaling, H);
    lift_slope(s, cone, g);
    for (int j = 0; j < cone->size; j++)
      for (int i = 1; i < cone->size; i++) H[j] -= g[i - 1] * H[i * cone->size + j];
    for (int i = 0; i < cone->size; i++)
      for (int j = 0; j < cone->size; j++) block[(at + i) * rows + at + j] += H[i * cone->size + j];
  }
  tb_lu_factor(s->prepared->lu, s->run->threads, W->val_adr, s->values, s->active, DBL_MIN);
}

// residual = rhs − [DWD + (I − φ′) S⁻²] dx, on active rows
static double remainder_of(Ipm* s, double* residual)
{
  for (int i = 0; i < s->n; i++) s->trial[i] = s->to_lambda[i] * s->dx[i];
  tb_delassus_apply(s->run->W, s->run->threads, s->trial, residual, s->workspace);
  for (int i = 0; i < s->n; i++) residual[i] = s->active[i] ? s->rhs[i] - s->to_z[i] * residual[i] : 0;
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    if (s->island[cone->island].solved) continue;
    double t[TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_unscale(cone->size, &cone->scaling, s->dx + cone->row, t);
    tb_soc_unscale(cone->size, &cone->scaling, t, t);
    lift_slope(s, cone, g);
    for (int i = 1; i < cone->size; i++) t[0] -= g[i - 1] * t[i];
    for (int i = 0; i < cone->size; i++) residual[cone->row + i] -= t[i];
  }
  return tb_max_abs(s->n, residual);
}

// The direction for the centring and correction that every island has chosen.
static void find_direction(Ipm* s)
{
  for (int i = 0; i < s->n; i++) s->rhs[i] = s->active[i] ? -s->r[i] : 0;
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    const Island* land = &s->island[cone->island];
    if (land->solved) continue;
    int row = cone->row, size = cone->size;
    double a[TB_SOC_MAX], b[TB_SOC_MAX], t[TB_SOC_MAX], g[TB_SOC_MAX];
    tb_soc_product(size, s->v + row, s->v + row, t);
    for (int i = 0; i < size; i++) t[i] = -t[i];
    t[0] += land->sigma * land->gap * cone->weight;
    if (land->correction > 0) {
      tb_soc_unscale(size, &cone->scaling, s->dx + row, a);
      tb_soc_scale(size, &cone->scaling, s->dz + row, b);
      tb_soc_product(size, a, b, a);
      for (int i = 0; i < size; i++) t[i] -= land->correction * a[i];
    }
    tb_soc_divide(size, s->v + row, t, t);
    tb_soc_unscale(size, &cone->scaling, t, s->d + row);
    lift_slope(s, cone, g);
    for (int i = 0; i < size; i++) s->rhs[row + i] += s->d[row + i];
    for (int i = 1; i < size; i++) s->rhs[row] -= g[i - 1] * s->d[row + i];
  }
  memcpy(s->dx, s->rhs, (size_t)s->n * sizeof *s->dx);
  tb_lu_solve(s->prepared->lu, s->dx);
  for (int i = 0; i < REFINEMENTS; i++) {
    remainder_of(s, s->residual);
    tb_lu_solve(s->prepared->lu, s->residual);
    for (int j = 0; j < s->n; j++) s->dx[j] += s->residual[j];
  }
  for (int c = 0; c < s->cones; c++) { // dz = d − S⁻² dx
    const Cone* cone = &s->cone[c];
    if (s->island[cone->island].solved) continue;
    double t[TB_SOC_MAX];
    tb_soc_unscale(cone->size, &cone->scaling, s->dx + cone->row, t);
    tb_soc_unscale(cone->size, &cone->scaling, t, t);
    for (int i = 0; i < cone->size; i++) s->dz[cone->row + i] = s->d[cone->row + i] - t[i];
  }
}

// The longest step of each island inside its cones.
static void find_lengths(Ipm* s)
{
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].alpha = INFINITY;
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    double* alpha = &s->island[cone->island].alpha;
    if (s->island[cone->island].solved) continue;
    *alpha = fmin(*alpha, tb_soc_step(cone->size, s->x + cone->row, s->dx + cone->row));
    *alpha = fmin(*alpha, tb_soc_step(cone->size, s->z + cone->row, s->dz + cone->row));
  }
}

// Gap after the step (into room, per island), and the least eigenvalue over it (into least, when wanted).
static void look_ahead(const Ipm* s, double* gap, double* least)
{
  for (int i = 0; i < s->prepared->islands; i++) gap[i] = 0, least[i] = INFINITY;
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    const Island* land = &s->island[cone->island];
    if (land->solved) continue;
    double x[TB_SOC_MAX], z[TB_SOC_MAX];
    for (int i = 0; i < cone->size; i++) {
      x[i] = s->x[cone->row + i] + land->alpha * s->dx[cone->row + i];
      z[i] = s->z[cone->row + i] + land->alpha * s->dz[cone->row + i];
      gap[cone->island] += x[i] * z[i] / (land->cones * cone->weight);
    }
    least[cone->island] = fmin(least[cone->island], tb_soc_least(cone->size, x, z) / cone->weight);
  }
}

// Mehrotra's choice, where the predictor got anywhere; else back towards the central path.
static void choose_centring(Ipm* s)
{
  double *gap = s->trial, *least = s->residual;
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].alpha = fmin(1, s->island[i].alpha);
  look_ahead(s, gap, least);
  for (int i = 0; i < s->prepared->islands; i++) {
    Island* land = &s->island[i];
    double ratio = land->gap > 0 ? fmin(1, fmax(0, gap[i] / land->gap)) : 0;
    land->sigma = ratio * ratio * ratio;
    land->correction = land->alpha >= 0.5 ? 1 : land->alpha * land->alpha;
    if (land->alpha < 0.1) land->correction = 0, land->sigma = fmax(land->sigma, 0.5);
    // The gap must not run ahead of what the dynamics still misses, or the cones block every step that mends
    // it.
    if (land->gap > 0)
      land->sigma = fmax(land->sigma, fmin(1, LAG * (1 - land->alpha) * land->missed / land->gap));
  }
}

// Short of the boundary, then shorter until no cone is left far behind the others.
static void shorten(Ipm* s)
{
  double *gap = s->trial, *least = s->residual, back[12];
  for (int i = 0; i < 12; i++) back[i] = i < 6 ? 1 - 0.02 * (1 << i) : 0.5; // 0.98 … 0.36, then halves
  for (int i = 0; i < s->prepared->islands; i++) {
    Island* land = &s->island[i];
    land->sigma = land->alpha; // the longest step, from here on
    land->alpha = fmin(1, fmax(0.99, 1 - land->gap) * land->alpha);
  }
  for (int tries = 0; tries < 12; tries++) {
    look_ahead(s, gap, least);
    bool fine = true;
    for (int i = 0; i < s->prepared->islands; i++)
      if (!s->island[i].solved && least[i] < CENTRED * gap[i]) {
        double longest = fmin(1, s->island[i].sigma);
        s->island[i].alpha = tries < 6 ? longest * back[tries] : s->island[i].alpha * back[tries];
        fine = false;
      }
    if (fine) break;
  }
}

static void move(Ipm* s)
{
  const tbProblem* p = s->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    const Island* land = &s->island[s->prepared->island[k]];
    for (int i = p->row_adr[k]; !land->solved && i < p->row_adr[k + 1]; i++) {
      s->x[i] += land->alpha * s->dx[i];
      if (p->law[k] != TB_LAW_FREE) s->z[i] += land->alpha * s->dz[i];
    }
  }
  for (int c = 0; c < s->cones; c++) {
    const Cone* cone = &s->cone[c];
    Island* land = &s->island[cone->island];
    if (!(tb_soc_det(cone->size, s->x + cone->row) > 0 && tb_soc_det(cone->size, s->z + cone->row) > 0))
      land->stuck = PATIENCE; // rounding has won
  }
  for (int i = 0; i < s->prepared->islands; i++)
    if (!s->island[i].solved && s->island[i].stuck >= PATIENCE) start_island(s, i);
}

static void step(Ipm* s)
{
  choose_islands(s);
  factor(s);
  for (int i = 0; i < s->prepared->islands; i++) s->island[i].sigma = s->island[i].correction = 0;
  find_direction(s); // the predictor
  find_lengths(s);
  choose_centring(s);
  find_direction(s);
  find_lengths(s);
  shorten(s);
#ifdef IPM_DEBUG
  {
    double g = 0, m = 0, b = 0, a = 1;
    int un = 0, w = 0;
    for (int i = 0; i < s->prepared->islands; i++) {
      Island* l = &s->island[i];
      if (l->solved) continue;
      un++;
      if (l->gap > g) w = i;
      g = fmax(g, l->gap);
      m = fmax(m, l->missed);
      b += l->best;
      a = fmin(a, l->alpha);
    }
    printf("    gap %.2e miss %.2e E %.2e alpha %.3f left %d stuck %d try %d\n", g, m,
           sqrt(b) / tb_norm(s->n, s->run->W->q), a, un, s->island[w].stuck, s->island[w].attempt);
  }
#endif
  move(s);
}

void tb_ipm(tbRun* run, double* lambda)
{
  Ipm s = {0};
  begin(&s, run);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (k == 0) {
      compare(&s, lambda, lambda); // what is to be beaten
      measure(&s, lambda);
    }
    step(&s);
    measure(&s, lambda);
    tb_run_judge_next(run);
  }
}
