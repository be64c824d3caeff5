// SPDX-License-Identifier: Apache-2.0
// The contact law solved to rounding, by Newton's method on its states.
//
// With r = 1/w_k, a contact is closed where λ_n − r u_n > 0. A friction set is made of ellipsoids (a disc, an
// ellipse, a disc and two intervals …), each of rows i with half axes a_i; in y_i = λ_i/a_i and z_i = a_i u_i
// it is a ball of radius ρ = λ_n − r u_n, and it sticks where τ = y − r z is inside. The equations of Alart
// and Curnier (1991) are then
//
//   open   λ = 0        closed   u_n = 0        stick   u_i = 0        slip   y = ρ τ/|τ|
//
// and their derivative, exact on the states at hand, is that of the contact law wherever these do not change:
// implicit differentiation and this iteration share it. Where contacts repeat each other (a box on four
// corners) λ is not unique but v is, and so are its derivatives; the step of least norm is taken.
//
// Cost    per island of m active rows one rank-revealing QR, 2 m³, and two or three of them from a close
// start. Limits  dense: up to MOST rows in all. Boxed, polygonal and directional friction are not ellipsoids.
#include "gradient/answer.h"

#include "base/random.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { MOST = 1800, ITERATIONS = 25, GROUPS = 3 };

typedef struct {
  int first, rows; // of the contact
  double axis[3];
} Group;

typedef enum { OPEN, CLOSED, FREE, LOWER, UPPER } NormalState;

typedef struct {
  const tbProblem* p;
  tbModel model;
  const double *W, *q; // dense
  double* lambda;
  double *u, *r;    // u = W λ + q                                        (nrow); 1/w_k   (ncontact)
  uint8_t* held;    // whether λ_i is given, and no unknown               (nrow)
  double* equation; // what is left of row i's, m/s                       (nrow)
  const int* island;
  int islands;
  // of one island
  int* row;   // its unknowns                                             (nrow)
  int* place; // of a row among them; −1: held, or elsewhere              (nrow)
  double *M, *b, *x, *work, *tau, *scale;
  int* swap;
} Newton;

// The friction set as ellipsoids; false: it is none.
static int groups_of(const tbProblem* p, int k, tbModel model, Group out[GROUPS])
{
  const double* mu = p->param + p->param_adr[k];
  int rows = p->row_adr[k + 1] - p->row_adr[k];
  if (model == TB_MODEL_FRICTIONLESS) return 0;
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_COULOMB: out[0] = (Group){1, rows - 1, {mu[0], mu[0]}}; return 1;
  case TB_LAW_ELLIPTIC: out[0] = (Group){1, 2, {mu[0], mu[1]}}; return 1;
  case TB_LAW_CONTENSOU: out[0] = (Group){1, 3, {mu[0], mu[1], mu[2]}}; return 1;
  case TB_LAW_ROLLING: {
    int n = 0, at = 3;
    out[n++] = (Group){1, 2, {mu[0], mu[0]}};
    if (rows != 5) out[n++] = (Group){at++, 1, {mu[1]}};
    if (rows > 4) out[n++] = (Group){at, 2, {mu[rows - 4], mu[rows - 4]}};
    return n;
  }
  default: return 0;
  }
}

bool tb_exact_takes(const tbProblem* p, tbModel model)
{
  if (p->nrow > MOST || p->W_ptr) return false;
  if (model != TB_MODEL_CONE && model != TB_MODEL_FRICTIONLESS) return false;
  for (int k = 0; k < p->ncontact; k++)
    if (p->law[k] > TB_LAW_ROLLING) return false;
  return true;
}

static void products(Newton* s)
{
  int n = s->p->nrow;
  for (int i = 0; i < n; i++) {
    double sum = s->q[i];
    for (int j = 0; j < n; j++) sum += s->W[(size_t)i * n + j] * s->lambda[j];
    s->u[i] = sum;
  }
}

static void hold(Newton* s, int row, double value) { s->held[row] = 1, s->lambda[row] = value; }

// Which rows have a given λ at the states of now: those of open contacts, of bounds that are reached, and
// friction that the model or a half axis of zero leaves out.
static void hold_rows(Newton* s)
{
  const tbProblem* p = s->p;
  memset(s->held, 0, (size_t)p->nrow);
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
    const double* bound = p->param + p->param_adr[k];
    if (p->law[k] == TB_LAW_BILATERAL) continue;
    for (int i = 0; p->law[k] == TB_LAW_NONNEG && i < rows; i++)
      if (!(s->lambda[first + i] - s->r[k] * s->u[first + i] > 0)) hold(s, first + i, 0);
    for (int i = 0; p->law[k] == TB_LAW_BOX && i < rows; i++) {
      double goal = s->lambda[first + i] - s->r[k] * s->u[first + i];
      if (goal <= bound[i]) hold(s, first + i, bound[i]);
      else if (goal >= bound[rows + i]) hold(s, first + i, bound[rows + i]);
    }
    if (p->law[k] < TB_LAW_COULOMB) continue;
    bool open = !(s->lambda[first] - s->r[k] * s->u[first] > 0);
    Group group[GROUPS];
    int n = groups_of(p, k, s->model, group);
    for (int i = 0; i < rows; i++)
      if (open || (i > 0 && n == 0)) hold(s, first + i, 0);
    for (int g = 0; g < n && !open; g++)
      for (int i = 0; i < group[g].rows; i++)
        if (group[g].axis[i] == 0) hold(s, first + group[g].first + i, 0);
  }
}

// Row `to` of M += factor · W_i, over the unknowns of the island.
static void add_velocity(const Newton* s, int m, int to, int i, double factor)
{
  const double* W = s->W + (size_t)i * s->p->nrow;
  for (int j = 0; j < m; j++) s->M[(size_t)to * m + j] += factor * W[s->row[j]];
}

static void add_impulse(const Newton* s, int m, int to, int i, double factor)
{
  if (s->place[i] >= 0) s->M[(size_t)to * m + s->place[i]] += factor;
}

// Slip: y − ρ τ/|τ| = 0, times w a to be in m/s. False: the group sticks.
static bool slip_rows(Newton* s, int m, int k, const Group* g)
{
  int first = s->p->row_adr[k], at = first + g->first;
  double r = s->r[k], rho = s->lambda[first] - r * s->u[first], tau[3] = {0}, length = 0;
  for (int i = 0; i < g->rows; i++) {
    if (g->axis[i] == 0) continue;
    tau[i] = s->lambda[at + i] / g->axis[i] - r * g->axis[i] * s->u[at + i];
    length += tau[i] * tau[i];
  }
  length = sqrt(length);
  if (!(length > rho)) return false;
  for (int i = 0; i < g->rows; i++) {
    if (g->axis[i] == 0) continue;
    double a = g->axis[i], unit = a / r, t = tau[i] / length;
    s->equation[at + i] = unit * (s->lambda[at + i] / a - rho * t);
    int to = m ? s->place[at + i] : -1;
    if (to < 0) continue;
    add_impulse(s, m, to, at + i, 1 / r);
    add_impulse(s, m, to, first, -unit * t);
    add_velocity(s, m, to, first, unit * t * r);
    for (int j = 0; j < g->rows; j++) {
      if (g->axis[j] == 0) continue;
      double turn = -unit * rho / length * ((i == j) - t * tau[j] / length);
      add_impulse(s, m, to, at + j, turn / g->axis[j]);
      add_velocity(s, m, to, at + j, -turn * r * g->axis[j]);
    }
  }
  return true;
}

// What is left of the equations of a contact and, with m > 0, their derivative.
static void contact_rows(Newton* s, int m, int k)
{
  const tbProblem* p = s->p;
  int first = p->row_adr[k], end = p->row_adr[k + 1];
  Group group[GROUPS];
  int n = p->law[k] >= TB_LAW_COULOMB ? groups_of(p, k, s->model, group) : 0;
  bool slips[6] = {0};
  for (int g = 0; g < n && !s->held[first]; g++)
    if (slip_rows(s, m, k, &group[g]))
      for (int i = 0; i < group[g].rows; i++) slips[group[g].first + i] = true;
  for (int i = first; i < end; i++) {
    if (s->held[i]) s->equation[i] = 0;
    if (s->held[i] || slips[i - first]) continue;
    s->equation[i] = s->u[i];
    if (m && s->place[i] >= 0) add_velocity(s, m, s->place[i], i, 1);
  }
}

// The largest that is left, as a share of the velocities.
static double left(const Newton* s, double scale)
{
  double worst = 0;
  for (int i = 0; i < s->p->nrow; i++) worst = fmax(worst, fabs(s->equation[i]));
  return scale > 0 ? worst / scale : worst;
}

static double velocities(const Newton* s)
{
  double largest = 0;
  for (int i = 0; i < s->p->nrow; i++) largest = fmax(largest, fmax(fabs(s->q[i]), fabs(s->u[i])));
  return largest;
}

// The equations of one island, M Δ = b; rows and columns are scaled by its diagonal of W. Returns the
// unknowns.
static int assemble_island(Newton* s, int island)
{
  const tbProblem* p = s->p;
  int n = p->nrow, m = 0;
  for (int i = 0; i < n; i++) s->place[i] = -1;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; s->island[k] == island && i < p->row_adr[k + 1]; i++)
      if (!s->held[i]) s->place[i] = m, s->row[m++] = i;
  memset(s->M, 0, (size_t)m * (size_t)m * sizeof(double));
  for (int k = 0; k < p->ncontact; k++)
    if (s->island[k] == island) contact_rows(s, m, k);
  for (int i = 0; i < m; i++) {
    double w = s->W[(size_t)s->row[i] * n + s->row[i]];
    s->scale[i] = w > 0 ? 1 / sqrt(w) : 1;
  }
  for (int i = 0; i < m; i++) {
    s->b[i] = -s->scale[i] * s->equation[s->row[i]];
    for (int j = 0; j < m; j++) s->M[(size_t)i * m + j] *= s->scale[i] * s->scale[j];
  }
  return m;
}

static int factor(Newton* s, int m) { return tb_dense_qr(m, m, s->M, m, s->swap, s->tau, 1e-11, s->work); }

// One island's step of least norm.
static void solve_island(Newton* s, int island)
{
  int m = assemble_island(s, island);
  if (m == 0) return;
  int rank = factor(s, m);
  tb_dense_qr_solve(m, m, rank, s->M, m, s->swap, s->tau, s->b, s->x);
  for (int i = 0; i < m; i++) s->lambda[s->row[i]] += s->scale[i] * s->x[i];
}

// Whether velocities follow from the states: a change y of the impulses that the equations do not see, M y =
// 0, must not move anything. One is made of numbers without a pattern, less their part that the equations do
// see.
static bool island_is_unique(Newton* s, int island, double* y)
{
  int m = assemble_island(s, island), n = s->p->nrow;
  uint64_t bits = 1;
  for (int i = 0; i < m; i++) y[i] = tb_random_uniform(&bits, -1, 1);
  for (int i = 0; i < m; i++) {
    s->b[i] = 0;
    for (int j = 0; j < m; j++) s->b[i] += s->M[(size_t)i * m + j] * y[j];
  }
  int rank = m ? factor(s, m) : 0;
  if (rank == m) return true;
  tb_dense_qr_solve(m, m, rank, s->M, m, s->swap, s->tau, s->b, s->x);
  double moves = 0, size = 0;
  for (int i = 0; i < m; i++) y[i] -= s->x[i], size = fmax(size, fabs(y[i]));
  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += s->W[(size_t)s->row[i] * n + s->row[j]] * s->scale[i] * s->scale[j] * y[j];
    moves = fmax(moves, fabs(sum));
  }
  return moves <= 1e-6 * size;
}

static bool is_unique(Newton* s, const double* best, double* y)
{
  memcpy(s->lambda, best, (size_t)s->p->nrow * sizeof(double));
  products(s);
  hold_rows(s);
  bool unique = true;
  for (int i = 0; i < s->islands && unique; i++) unique = island_is_unique(s, i, y);
  return unique;
}

// Iterates until nothing is left but rounding; `best` is the λ with the least left.
static double iterate(Newton* s, double* best)
{
  size_t bytes = (size_t)s->p->nrow * sizeof(double);
  double least = INFINITY;
  for (int k = 0, since = 0; k <= ITERATIONS && since < 4; k++) {
    products(s);
    hold_rows(s);
    products(s); // as those that are held have it
    for (int c = 0; c < s->p->ncontact; c++) contact_rows(s, 0, c);
    double now = left(s, velocities(s));
    if (!(now <= 1e300)) break;
    since = now < 0.5 * least ? 0 : since + 1;
    if (now < least) least = now, memcpy(best, s->lambda, bytes);
    if (now == 0 || (now < 1e-15 && since > 0) || k == ITERATIONS) break;
    for (int i = 0; i < s->islands; i++) solve_island(s, i);
  }
  return least;
}

static tbStatus work(tbContext* ctx, tbArena* arena, const tbDelassus* W, tbModel model, double* lambda,
                     bool* exact, bool* unique)
{
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow, c = (size_t)p->ncontact;
  int* island = TB_TAKE(arena, int, c);
  double *best = TB_TAKE(arena, double, n), *y = TB_TAKE(arena, double, n);
  Newton s = {.p = p,
              .model = model,
              .W = W->dense,
              .q = W->q,
              .lambda = TB_TAKE(arena, double, n),
              .u = TB_TAKE(arena, double, n),
              .r = TB_TAKE(arena, double, c),
              .held = TB_TAKE(arena, uint8_t, n),
              .equation = TB_TAKE(arena, double, n),
              .island = island,
              .row = TB_TAKE(arena, int, n),
              .place = TB_TAKE(arena, int, n),
              .M = TB_TAKE(arena, double, n* n),
              .b = TB_TAKE(arena, double, n),
              .x = TB_TAKE(arena, double, n),
              .work = TB_TAKE(arena, double, n),
              .tau = TB_TAKE(arena, double, 2 * n),
              .scale = TB_TAKE(arena, double, n),
              .swap = TB_TAKE(arena, int, n)};
  if (!best || !y || !s.lambda || !s.u || !s.r || !s.held || !s.equation || !island || !s.row || !s.place ||
      !s.M || !s.b || !s.x || !s.work || !s.tau || !s.scale || !s.swap)
    return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, island, &s.islands));
  for (int k = 0; k < p->ncontact; k++) {
    double w = 0;
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) w = fmax(w, s.W[(size_t)i * n + (size_t)i]);
    s.r[k] = w > 0 ? 1 / w : 1;
  }
  memcpy(s.lambda, lambda, n * sizeof(double));
  memcpy(best, lambda, n * sizeof(double));
  *exact = iterate(&s, best) < 1e-11;
  memcpy(lambda, best, n * sizeof(double));
  if (unique) *unique = is_unique(&s, best, y);
  return TB_OK;
}

tbStatus tb_exact_newton(tbContext* ctx, const tbProblem* p, tbModel model, double* lambda, bool* exact,
                         bool* unique)
{
  tbDelassus* W;
  tbArena arena;
  TB_TRY(tb_delassus_create(ctx, p, TB_FORM_DENSE, &W));
  tb_arena_init(&arena, ctx);
  tbStatus status = work(ctx, &arena, W, model, lambda, exact, unique);
  tb_arena_free(&arena);
  tb_delassus_free(ctx, W);
  return status;
}
