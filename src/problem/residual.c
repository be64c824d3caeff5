// The judge: how good is λ?
//
//   F_k = λ_k − P_K(λ_k − û_k),   û = u + (σ_F(−u_F), 0…),   E = ‖F‖₂,   u recomputed from λ
//
// De Saxcé's correction σ_F makes the natural map of the convex cone K exact for non-associated friction: F =
// 0 if and only if λ solves the problem. ρ = 1, and the scalings are FCLIB's, so that figures compare with
// the literature (Acary, Brémond, Huber 2018).
//
// Nothing here is shared with a solver. Velocities are recomputed through A and J, and the factor of A is
// checked by what it leaves of A w = Jᵀλ. The projection onto K = {(n, f) : f ∈ nF} is found for every set F
// by one argument: with s = n the squared distance is convex in s, and its derivative
//
//   g(s) = s − z_n − σ_F(z_F − P_sF(z_F))
//
// increases, so a bracketed root finder needs no more of F than its support function and closest point.
#include "base/memory.h"
#include "base/threads.h"
#include "problem/blocks.h"
#include "problem/judge.h"
#include "tribo/math.h"
#include "tribo/problem.h"

#include <float.h>
#include <string.h>

// ---- friction sets ----

typedef enum { SET_ELLIPSOID, SET_BOX, SET_BALLS, SET_POLYGON } SetKind;

typedef struct {
  SetKind kind;
  int dim;                                 // friction rows
  double axis[TB_MAX_ROWS];                // ellipsoid: half axes
  double lo[TB_MAX_ROWS], hi[TB_MAX_ROWS]; // box: lo ≤ 0 ≤ hi
  int balls, ball_dim[3];                  // balls: how many rows each takes, in order
  double radius[3];
  int corners; // polygon: counter-clockwise
  double x[TB_MAX_DIRECTIONS], y[TB_MAX_DIRECTIONS];
} Set;

static void box_from_axes(Set* s)
{
  s->kind = SET_BOX;
  for (int i = 0; i < s->dim; i++) s->lo[i] = -s->axis[i], s->hi[i] = s->axis[i];
}

static void polygon(Set* s, double radius, int corners)
{
  s->kind = SET_POLYGON;
  s->corners = corners;
  for (int i = 0; i < corners; i++) {
    tb_sin_cos(2 * 3.14159265358979323846 * i / corners, &s->y[i], &s->x[i]);
    s->x[i] *= radius, s->y[i] *= radius;
  }
}

// The set of contact k as its law says, seen through the model.
static void friction_set(const tbProblem* p, int k, tbModel model, int directions, Set* s)
{
  const double* param = p->param + p->param_adr[k];
  int dim = p->row_adr[k + 1] - p->row_adr[k] - 1;
  s->kind = SET_ELLIPSOID; // fields of other kinds stay unset: a polygon's corners are many
  s->dim = dim;
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_COULOMB:
    for (int i = 0; i < dim; i++) s->axis[i] = param[0];
    break;
  case TB_LAW_ELLIPTIC:
  case TB_LAW_CONTENSOU:
    for (int i = 0; i < dim; i++) s->axis[i] = param[i];
    break;
  case TB_LAW_ROLLING: {
    s->kind = SET_BALLS;
    s->balls = dim == 5 ? 3 : 2;
    s->ball_dim[0] = 2;
    s->ball_dim[1] = dim == 4 ? 2 : 1;
    s->ball_dim[2] = 2;
    for (int g = 0, i = 0; g < s->balls; g++) {
      s->radius[g] = param[g];
      for (int j = 0; j < s->ball_dim[g]; j++) s->axis[i++] = param[g];
    }
    break;
  }
  case TB_LAW_POLYHEDRAL: polygon(s, param[0], (int)param[1]); break;
  case TB_LAW_DIRECTIONAL:
    s->kind = SET_BOX;
    for (int i = 0; i < dim; i++) s->lo[i] = -param[2 * i], s->hi[i] = param[2 * i + 1];
    break;
  default: break;
  }
  if (model == TB_MODEL_BOX && (s->kind == SET_ELLIPSOID || s->kind == SET_BALLS)) box_from_axes(s);
  if (model == TB_MODEL_POLYHEDRAL && p->law[k] == TB_LAW_COULOMB && dim == 2)
    polygon(s, param[0], directions);
  if (model == TB_MODEL_FRICTIONLESS) {
    memset(s->axis, 0, sizeof s->axis);
    box_from_axes(s);
  }
}

static double norm(int n, const double* x)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// σ_F(d) = max over f ∈ F of f·d
static double support(const Set* s, const double* d)
{
  double sum = 0;
  switch (s->kind) {
  case SET_ELLIPSOID:
    for (int i = 0; i < s->dim; i++) sum += s->axis[i] * d[i] * s->axis[i] * d[i];
    return sqrt(sum);
  case SET_BOX:
    for (int i = 0; i < s->dim; i++) sum += d[i] > 0 ? s->hi[i] * d[i] : s->lo[i] * d[i];
    return sum;
  case SET_BALLS:
    for (int g = 0, i = 0; g < s->balls; i += s->ball_dim[g++])
      sum += s->radius[g] * norm(s->ball_dim[g], d + i);
    return sum;
  case SET_POLYGON:
    sum = -INFINITY;
    for (int i = 0; i < s->corners; i++) sum = fmax(sum, s->x[i] * d[0] + s->y[i] * d[1]);
    return sum;
  }
  return 0;
}

// Closest point of the ellipsoid with half axes a: x_i = a_i² z_i / (a_i² + t) with Σ (a_i z_i / (a_i² + t))²
// = 1. The sum is convex and decreasing in t, so Newton from a t on its left never oversteps the root.
static void closest_on_ellipsoid(int n, const double* a, const double* z, double* x)
{
  double inside = 0, t = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] > 0) inside += (z[i] / a[i]) * (z[i] / a[i]), t = fmax(t, a[i] * (fabs(z[i]) - a[i]));
    else if (z[i] != 0) inside = INFINITY;
  }
  if (inside <= 1) {
    memcpy(x, z, (size_t)n * sizeof *x);
    return;
  }
  for (int iteration = 0; iteration < 100; iteration++) {
    double value = -1, slope = 0;
    for (int i = 0; i < n; i++) {
      if (!(a[i] > 0)) continue;
      double ratio = a[i] * z[i] / (a[i] * a[i] + t);
      value += ratio * ratio;
      slope -= 2 * ratio * ratio / (a[i] * a[i] + t);
    }
    if (!(value > 0) || !(slope < 0)) break;
    double next = t - value / slope;
    if (!(next > t)) break;
    t = next;
  }
  for (int i = 0; i < n; i++) x[i] = a[i] > 0 ? z[i] * (a[i] * a[i] / (a[i] * a[i] + t)) : 0;
}

static void closest_on_polygon(const Set* s, double scale, const double* z, double* x)
{
  bool inside = true;
  double best = INFINITY;
  for (int i = 0; i < s->corners; i++) {
    int j = (i + 1) % s->corners;
    double ax = scale * s->x[i], ay = scale * s->y[i], ex = scale * s->x[j] - ax, ey = scale * s->y[j] - ay;
    double px = z[0] - ax, py = z[1] - ay, ee = ex * ex + ey * ey;
    if (ex * py - ey * px < 0 || ee == 0) inside = false;
    double t = ee > 0 ? fmin(1, fmax(0, (px * ex + py * ey) / ee)) : 0;
    double dx = px - t * ex, dy = py - t * ey, distance = dx * dx + dy * dy;
    if (distance < best) best = distance, x[0] = ax + t * ex, x[1] = ay + t * ey;
  }
  if (inside) x[0] = z[0], x[1] = z[1];
}

// x = P_{scale·F}(z)
static void closest(const Set* s, double scale, const double* z, double* x)
{
  switch (s->kind) {
  case SET_ELLIPSOID: {
    double axis[TB_MAX_ROWS];
    for (int i = 0; i < s->dim; i++) axis[i] = scale * s->axis[i];
    closest_on_ellipsoid(s->dim, axis, z, x);
    break;
  }
  case SET_BOX:
    for (int i = 0; i < s->dim; i++) x[i] = fmin(fmax(z[i], scale * s->lo[i]), scale * s->hi[i]);
    break;
  case SET_BALLS:
    for (int g = 0, i = 0; g < s->balls; i += s->ball_dim[g++]) {
      double length = norm(s->ball_dim[g], z + i), limit = scale * s->radius[g];
      double shrink = length > limit ? limit / length : 1;
      for (int j = 0; j < s->ball_dim[g]; j++) x[i + j] = shrink * z[i + j];
    }
    break;
  case SET_POLYGON: closest_on_polygon(s, scale, z, x); break;
  }
}

// ---- projection onto the cone K over F ----

static double slope(const Set* s, const double* z, double n, double* f)
{
  double rest[TB_MAX_ROWS];
  closest(s, n, z + 1, f);
  for (int i = 0; i < s->dim; i++) rest[i] = z[1 + i] - f[i];
  return n - z[0] - support(s, rest);
}

static bool is_circular(const Set* s)
{
  if (s->dim == 0) return true;
  if (s->kind != SET_ELLIPSOID) return false;
  for (int i = 1; i < s->dim; i++)
    if (s->axis[i] != s->axis[0]) return false;
  return true;
}

static void project_circular(double mu, int dim, const double* z, double* x)
{
  double length = norm(dim, z + 1);
  if (length <= mu * z[0]) {
    memcpy(x, z, (size_t)(dim + 1) * sizeof *x);
    return;
  }
  double n = mu * length <= -z[0] ? 0 : (z[0] + mu * length) / (1 + mu * mu);
  x[0] = n;
  for (int i = 0; i < dim; i++) x[1 + i] = length > 0 ? mu * n * (z[1 + i] / length) : 0;
}

static void project(const Set* s, const double* z, double* x)
{
  if (is_circular(s)) {
    project_circular(s->dim ? s->axis[0] : 0, s->dim, z, x);
    return;
  }
  double lo = fmax(0, z[0]), hi = z[0] + support(s, z + 1);
  memset(x, 0, (size_t)(s->dim + 1) * sizeof *x);
  if (!(hi > 0)) return; // the polar cone: its closest point is the apex
  double g_lo = slope(s, z, lo, x + 1), g_hi;
  x[0] = lo;
  if (g_lo >= 0) return; // f ∈ nF already
  x[0] = hi;
  g_hi = slope(s, z, hi, x + 1);
  // Illinois' regula falsi; where it dawdles, bisection.
  for (int iteration = 0; iteration < 200 && g_hi > 0 && hi - lo > 2 * DBL_EPSILON * hi; iteration++) {
    double mid = iteration % 4 == 3 ? lo + (hi - lo) / 2 : lo - g_lo * ((hi - lo) / (g_hi - g_lo));
    if (!(mid > lo && mid < hi)) mid = lo + (hi - lo) / 2;
    if (!(mid > lo && mid < hi)) break;
    double g = slope(s, z, mid, x + 1);
    x[0] = mid;
    if (g == 0) return;
    if (g < 0) {
      lo = mid, g_lo = g, g_hi /= 2;
    } else {
      hi = mid, g_hi = g, g_lo /= 2;
    }
  }
}

// ---- one contact ----

typedef struct {
  double squares; // Σ F²
  double penetration, cone, complementarity, dissipation;
} Tally;

static void worst(double* so_far, double value)
{
  if (!(value <= *so_far)) *so_far = value; // a NaN stays
}

// Both fill F, the natural map of the contact's rows.

static void judge_rows(tbLaw law, int rows, const double* param, const double* lambda, const double* u,
                       double* F, Tally* t)
{
  for (int i = 0; i < rows; i++) {
    double lo = law == TB_LAW_FREE ? -INFINITY : law == TB_LAW_NONNEG ? 0 : param[i];
    double hi = law == TB_LAW_BOX ? param[rows + i] : INFINITY;
    F[i] = fmax(lambda[i] - hi, fmin(lambda[i] - lo, u[i])); // λ − P(λ − u), without losing u in a large λ
    t->squares += F[i] * F[i];
    worst(&t->cone, fabs(lambda[i] - fmin(fmax(lambda[i], lo), hi)));
    if (law == TB_LAW_NONNEG)
      worst(&t->penetration, -u[i]), worst(&t->complementarity, fabs(lambda[i] * u[i]));
    if (law == TB_LAW_BOX) worst(&t->complementarity, fabs(F[i] * u[i]));
  }
}

static void judge_friction(const Set* s, bool associated, const double* lambda, const double* u, double* F,
                           Tally* t)
{
  int rows = s->dim + 1;
  double against[TB_MAX_ROWS], z[TB_MAX_ROWS], x[TB_MAX_ROWS];
  for (int i = 0; i < s->dim; i++) against[i] = -u[1 + i];
  double sliding = support(s, against);
  double lifted = u[0] + (associated ? 0 : sliding);

  z[0] = lambda[0] - lifted;
  for (int i = 1; i < rows; i++) z[i] = lambda[i] - u[i];
  project(s, z, x);
  bool inside = memcmp(x, z, (size_t)rows * sizeof *x) == 0; // then F = û: λ − z would lose it in a large λ
  for (int i = 0; i < rows; i++) {
    F[i] = !inside ? lambda[i] - x[i] : i == 0 ? lifted : u[i];
    t->squares += F[i] * F[i];
  }

  project(s, lambda, x);
  double away = 0, product = lambda[0] * lifted, power = 0;
  for (int i = 0; i < rows; i++) away += (lambda[i] - x[i]) * (lambda[i] - x[i]);
  for (int i = 1; i < rows; i++) power += lambda[i] * u[i];
  worst(&t->penetration, -u[0]);
  worst(&t->cone, sqrt(away));
  worst(&t->complementarity, fabs(product + power));
  worst(&t->dissipation, lambda[0] * sliding + power);
}

// ---- the whole problem ----

enum { CONTACTS_PER_PIECE = 256 };

struct tbJudge {
  const tbProblem* p;
  tbThreads* threads;
  tbArena arena;
  double *q, *u;     // (nrow)
  double* F;         // the natural map at the λ measured last, of the model asked for  (nrow)
  double *f, *w, *r; // (ndof): Jᵀλ, A⁻¹Jᵀλ, what is left of it
  tbBlocks blocks;   // to solve with
  bool* inverted;    // whether that went well                              (nblock)
  double accuracy;   // of w where there is no factor
  double norm_q;
  double scale;            // that ‖F‖ is measured by; NaN: the λ measured last has infinite residuals
  Tally *exact, *modelled; // per piece
  // of the measurement under way
  const double* lambda;
  tbModel model;
  int directions;
};

static bool has_set(const tbProblem* p, int k) { return p->law[k] > TB_LAW_BOX; }

static void judge_piece(void* user, int begin, int end, int piece)
{
  tbJudge* j = user;
  const tbProblem* p = j->p;
  Tally exact = {0}, modelled = {0};
  for (int k = begin; k < end; k++) {
    const double *lambda = j->lambda + p->row_adr[k], *u = j->u + p->row_adr[k];
    double* F = j->F + p->row_adr[k];
    if (!has_set(p, k)) {
      int rows = p->row_adr[k + 1] - p->row_adr[k];
      judge_rows((tbLaw)p->law[k], rows, p->param + p->param_adr[k], lambda, u, F, &exact);
      if (j->model != TB_MODEL_CONE)
        judge_rows((tbLaw)p->law[k], rows, p->param + p->param_adr[k], lambda, u, F, &modelled);
      continue;
    }
    Set set;
    friction_set(p, k, TB_MODEL_CONE, 0, &set);
    judge_friction(&set, false, lambda, u, F, &exact);
    if (j->model == TB_MODEL_CONE) continue;
    friction_set(p, k, j->model, j->directions, &set);
    judge_friction(&set, j->model == TB_MODEL_CCP, lambda, u, F, &modelled);
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

// f = Jᵀλ
static void gather_impulses(const tbProblem* p, const double* lambda, double* f)
{
  memset(f, 0, (size_t)p->ndof * sizeof *f);
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      const double *J = p->jac + p->jac_val_adr[c], *from = lambda + p->row_adr[k];
      int width = p->jac_width[c], rows = p->row_adr[k + 1] - p->row_adr[k];
      if (width == 6) push_column(J, rows, 6, from, f + p->jac_dof[c]);
      else push_column(J, rows, width, from, f + p->jac_dof[c]);
    }
}

// u_k += J_k w for every contact
static void add_contact_velocity(const tbProblem* p, const double* w, double* u)
{
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      const double *J = p->jac + p->jac_val_adr[c], *from = w + p->jac_dof[c];
      int width = p->jac_width[c], rows = p->row_adr[k + 1] - p->row_adr[k];
      if (width == 6) see_column(J, rows, 6, from, u + p->row_adr[k]);
      else see_column(J, rows, width, from, u + p->row_adr[k]);
    }
}

// Rows of r = A w.
typedef struct {
  const tbMetricBlock* block;
  const double* w;
  double* r;
} Rows;

static void multiply_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Rows* q = user;
  for (int i = begin; i < end; i++) {
    double sum = 0;
    for (int e = q->block->ptr[i]; e < q->block->ptr[i + 1]; e++)
      sum += q->block->value[e] * q->w[q->block->col[e]];
    q->r[i] = sum;
  }
}

static void multiply_block(const tbMetricBlock* block, tbThreads* threads, const double* w, double* r)
{
  if (block->kind == TB_METRIC_SPARSE) {
    tb_parallel_for(threads, block->size, TB_METRIC_PIECE, multiply_rows, &(Rows){block, w, r});
    return;
  }
  memset(r, 0, (size_t)block->size * sizeof *r);
  tb_metric_multiply_add(block, w, r);
}

// Whether A w = f; r ← f − A w.
static bool compare(const tbMetricBlock* block, const double* f, double most, double* r)
{
  double largest = 0, left = 0, size = 0;
  for (int i = 0; i < block->size; i++) largest = fmax(largest, fmax(fabs(f[i]), fabs(r[i])));
  for (int i = 0; i < block->size && largest > DBL_MIN * 0x1p60; i++) { // else they have faded to denormals
    double pushed = f[i] / largest, met = r[i] / largest;
    size += pushed * pushed + met * met;
    left += (pushed - met) * (pushed - met);
  }
  for (int i = 0; i < block->size; i++) r[i] = f[i] - r[i];
  return left <= most * most * size;
}

// w = A⁻¹ f, refined once on dense and sparse blocks; where there is no factor, conjugate gradients have
// looked at f − A w themselves. False: what solves with A does not invert it.
static void solve_block(void* user, int b, tbThreads* threads, double* room)
{
  tbJudge* j = user;
  const tbMetricBlock* block = &j->p->block[b];
  double *w = j->w + block->dof, *r = j->r + block->dof;
  const double* f = j->f + block->dof;
  j->inverted[b] = true;
  if (block->kind == TB_METRIC_SPARSE && !block->factor) {
    tb_metric_cg_from(block, threads, j->accuracy, f, w, room);
    multiply_block(block, threads, w, r);
    j->inverted[b] = compare(block, f, fmax(1e-6, 100 * j->accuracy), r);
    return;
  }
  memcpy(w, f, (size_t)block->size * sizeof *w);
  tb_metric_solve(block, threads, w, room);
  if (block->kind == TB_METRIC_PARTICLE) return;
  for (int pass = 0; pass < 2; pass++) {
    multiply_block(block, threads, w, r);
    j->inverted[b] = compare(block, f, 1e-6, r);
    if (pass == 1) return;
    tb_metric_solve(block, threads, r, room);
    for (int i = 0; i < block->size; i++) w[i] += r[i];
  }
}

static bool solve_dynamics(tbJudge* j)
{
  bool all = true;
  tb_blocks_each(&j->blocks, j->threads, solve_block, j);
  for (int b = 0; b < j->p->nblock; b++) all = all && j->inverted[b];
  return all;
}

static bool contact_velocity(tbJudge* j)
{
  const tbProblem* p = j->p;
  for (int i = 0; i < p->nrow; i++) {
    double sum = 0;
    for (int e = p->W_ptr ? p->W_ptr[i] : 0; p->W_ptr && e < p->W_ptr[i + 1]; e++)
      sum += p->W_val[e] * j->lambda[p->W_col[e]];
    j->u[i] = sum + p->compliance[i] * j->lambda[i];
  }
  if (!p->W_ptr) {
    gather_impulses(p, j->lambda, j->f);
    if (!solve_dynamics(j)) return false;
    add_contact_velocity(p, j->w, j->u);
  }
  for (int i = 0; i < p->nrow; i++) j->u[i] += j->q[i];
  return true;
}

static tbStatus prepare(tbJudge* j)
{
  const tbProblem* p = j->p;
  size_t pieces = (size_t)tb_piece_count(p->ncontact, CONTACTS_PER_PIECE);
  j->q = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->u = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->F = TB_TAKE(&j->arena, double, (size_t)p->nrow);
  j->f = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->w = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->r = TB_TAKE(&j->arena, double, (size_t)p->ndof);
  j->inverted = TB_TAKE(&j->arena, bool, (size_t)p->nblock);
  j->blocks = (tbBlocks){.problem = p,
                         .room_adr = TB_TAKE(&j->arena, size_t, (size_t)p->nblock),
                         .room = TB_TAKE(&j->arena, double, tb_blocks_room(p))};
  j->exact = TB_TAKE(&j->arena, Tally, pieces);
  j->modelled = TB_TAKE(&j->arena, Tally, pieces);
  if (!j->q || !j->u || !j->F || !j->f || !j->w || !j->r || !j->inverted || !j->blocks.room_adr ||
      !j->blocks.room || !j->exact || !j->modelled)
    return TB_ERROR_MEMORY;
  tb_blocks_begin(&j->blocks);
  j->scale = NAN;
  memcpy(j->q, p->bias, (size_t)p->nrow * sizeof *j->q);
  add_contact_velocity(p, p->v_free, j->q);
  j->norm_q = norm(p->nrow, j->q);
  return TB_OK;
}

tbStatus tb_judge_create(tbContext* ctx, const tbProblem* problem, tbJudge** out)
{
  *out = NULL;
  tbJudge* j = TB_NEW(ctx, tbJudge, 1);
  if (!j) return TB_ERROR_MEMORY;
  j->p = problem;
  j->threads = ctx->threads;
  j->accuracy = TB_METRIC_EXACT;
  tb_arena_init(&j->arena, ctx);
  tbStatus status = prepare(j);
  if (status == TB_OK) *out = j;
  else tb_judge_free(ctx, j);
  return status;
}

void tb_judge_believe(tbJudge* j, const double* w)
{
  if (w) memcpy(j->w, w, (size_t)j->p->ndof * sizeof *w);
  else memset(j->w, 0, (size_t)j->p->ndof * sizeof *j->w);
}

bool tb_judge_is_rough(const tbJudge* j)
{
  bool iterated = false;
  for (int b = 0; b < j->p->nblock; b++)
    iterated = iterated || (j->p->block[b].kind == TB_METRIC_SPARSE && !j->p->block[b].factor);
  return iterated && j->accuracy > TB_METRIC_EXACT;
}

void tb_judge_accuracy(tbJudge* j, double accuracy) { j->accuracy = fmax(accuracy, TB_METRIC_EXACT); }

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

static double scaled(double E, double scale) { return scale > 0 ? E / scale : E; }

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

  tb_parallel_for(j->threads, p->ncontact, CONTACTS_PER_PIECE, judge_piece, j);
  Tally exact = {0};
  double modelled = 0;
  for (int i = 0; i < tb_piece_count(p->ncontact, CONTACTS_PER_PIECE); i++) {
    const Tally* t = &j->exact[i];
    exact.squares += t->squares;
    modelled += j->modelled[i].squares;
    worst(&exact.penetration, t->penetration);
    worst(&exact.cone, t->cone);
    worst(&exact.complementarity, t->complementarity);
    worst(&exact.dissipation, t->dissipation);
  }
  double E = sqrt(exact.squares), norm_lambda = norm(p->nrow, lambda), norm_u = norm(p->nrow, j->u);
  double largest = fmax(j->norm_q, fmax(norm_lambda, norm_u));
  if (!isfinite(E) || !isfinite(norm_lambda) || !isfinite(norm_u)) {
    refuse(out);
    return;
  }
  j->scale = largest;
  *out = (tbResidual){
      .fclib = scaled(E, largest),
      .natural_map = scaled(E, j->norm_q),
      .model = scaled(sqrt(modelled), largest),
      .absolute = E,
      .penetration = exact.penetration,
      .cone = exact.cone,
      .complementarity = exact.complementarity,
      .dissipation = exact.dissipation,
      .norm_q = j->norm_q,
      .norm_lambda = norm_lambda,
      .norm_u = norm_u,
  };
}

void tb_judge_contacts(const tbJudge* j, double* part)
{
  const tbProblem* p = j->p;
  for (int k = 0; k < p->ncontact; k++)
    part[k] = isnan(j->scale)
                  ? INFINITY
                  : scaled(norm(p->row_adr[k + 1] - p->row_adr[k], j->F + p->row_adr[k]), j->scale);
}
