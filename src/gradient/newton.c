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
// Cost    per island of m active rows one rank-revealing QR, 2 m² times its rank, and two or three of them
//         from a close start; close to an answer none, but solves with that answer's factor.
// Limits  dense: up to MOST rows in all. Boxed, polygonal and directional friction are not ellipsoids.
#include "gradient/newton.h"

#include "base/random.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { MOST = 1800, ITERATIONS = 25 };
static const double ROUNDED = 1e-12; // where no further progress is rounding
static const double FOUND = 1e-14;   // what may be left close to an answer
static const double CLOSE = 0.5;     // of what is left, at most, with every iteration there
static const double OPEN = 1e-6;     // of it: by which velocities may depend on impulses that are not unique
static const double SECOND = 1e-6;   // of the way from the answer: what is of second order in it

bool tb_exact_takes(const tbProblem* p, tbModel model)
{
  if (p->nrow > MOST || p->W_ptr) return false;
  if (model != TB_MODEL_CONE && model != TB_MODEL_FRICTIONLESS) return false;
  for (int k = 0; k < p->ncontact; k++)
    if (p->law[k] > TB_LAW_ROLLING) return false;
  return true;
}

static void products(tbNewton* s) // W is symmetric
{
  int n = s->p->nrow;
  memcpy(s->u, s->q, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++)
    if (s->lambda[j] != 0) tb_dense_subtract(n, -s->lambda[j], s->W + (size_t)j * n, s->u);
}

// The equations of one island, M Δ = b; rows and columns are scaled by its diagonal of W. Returns the
// unknowns.
static int assemble_island(tbNewton* s, int island)
{
  const tbProblem* p = s->p;
  int n = p->nrow, m = 0;
  for (int i = 0; i < n; i++) s->place[i] = -1;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; s->island[k] == island && i < p->row_adr[k + 1]; i++)
      if (!s->held[i]) s->place[i] = m, s->row[m++] = i;
  memset(s->M, 0, (size_t)m * (size_t)m * sizeof(double));
  for (int k = 0; k < p->ncontact; k++)
    if (s->island[k] == island) tb_newton_rows(s, m, k);
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

static int factor(tbNewton* s, int m) { return tb_dense_qr(m, m, s->M, m, s->swap, s->tau, 1e-11, s->work); }

// One island's step of least norm.
static void solve_island(tbNewton* s, int island)
{
  int m = assemble_island(s, island);
  if (m == 0) return;
  int rank = factor(s, m);
  tb_dense_qr_solve(m, m, rank, s->M, m, s->swap, s->tau, s->b, s->x);
  for (int i = 0; i < m; i++) s->lambda[s->row[i]] += s->scale[i] * s->x[i];
}

static const double* copy(tbArena* arena, const double* from, size_t count)
{
  double* to = TB_TAKE_UNSET(arena, double, count);
  return to ? memcpy(to, from, count * sizeof(double)) : NULL;
}

static const int* copy_indices(tbArena* arena, const int* from, size_t count)
{
  int* to = TB_TAKE_UNSET(arena, int, count);
  return to ? memcpy(to, from, count * sizeof(int)) : NULL;
}

static tbStatus keep_island(const tbNewton* s, int m, int rank, tbArena* arena, tbExactIsland* out)
{
  size_t n = (size_t)m;
  *out = (tbExactIsland){.rows = m,
                         .rank = rank,
                         .row = copy_indices(arena, s->row, n),
                         .swap = copy_indices(arena, s->swap, n),
                         .scale = copy(arena, s->scale, n),
                         .tau = copy(arena, s->tau, 2 * n),
                         .M = copy(arena, s->M, n * n)};
  return out->row && out->swap && out->scale && out->tau && out->M ? TB_OK : TB_ERROR_MEMORY;
}

// y as impulses that would change velocities by as much as they are, one by one.
static tbStatus keep_unseen(const tbNewton* s, int m, const double* y, double size, tbArena* arena,
                            tbExactIsland* out)
{
  double *unseen = TB_TAKE_UNSET(arena, double, m), velocity = tb_newton_velocities(s);
  if (!unseen) return TB_ERROR_MEMORY;
  for (int i = 0; i < m; i++) unseen[i] = size > 0 ? velocity * s->scale[i] * s->scale[i] * y[i] / size : 0;
  out->unseen = unseen;
  return TB_OK;
}

// Whether velocities follow from the states: a change y of the impulses that the equations do not see, M y =
// 0, must not move anything. One is made of numbers without a pattern, less their part that the equations do
// see. The factor is kept.
static tbStatus check_island(tbNewton* s, int island, double* y, tbArena* arena, tbExactIsland* keep,
                             bool* unique)
{
  int m = assemble_island(s, island), n = s->p->nrow;
  uint64_t bits = 1;
  for (int i = 0; i < m; i++) y[i] = tb_random_uniform(&bits, -1, 1);
  for (int i = 0; i < m; i++) {
    s->b[i] = 0;
    for (int j = 0; j < m; j++) s->b[i] += s->M[(size_t)i * m + j] * y[j];
  }
  int rank = m ? factor(s, m) : 0;
  if (m) TB_TRY(keep_island(s, m, rank, arena, keep));
  if (rank == m) return TB_OK;
  tb_dense_qr_solve(m, m, rank, s->M, m, s->swap, s->tau, s->b, s->x);
  double moves = 0, size = 0;
  for (int i = 0; i < m; i++) y[i] -= s->x[i], size = fmax(size, fabs(y[i]));
  TB_TRY(keep_unseen(s, m, y, size, arena, keep));
  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += s->W[(size_t)s->row[i] * n + s->row[j]] * s->scale[i] * s->scale[j] * y[j];
    moves = fmax(moves, fabs(sum));
  }
  *unique = *unique && moves <= 1e-6 * size;
  return TB_OK;
}

// The states of an exact answer, and whether they leave no velocity open.
static tbStatus check_states(tbNewton* s, const double* best, double* y, tbArena* arena, tbExactStates* out,
                             bool* unique)
{
  size_t n = (size_t)s->p->nrow, c = (size_t)s->p->ncontact;
  tbExactIsland* island = TB_TAKE(arena, tbExactIsland, s->islands);
  uint8_t* held = TB_TAKE(arena, uint8_t, n);
  memcpy(s->lambda, best, n * sizeof(double));
  products(s);
  tb_newton_hold(s);
  *out = (tbExactStates){.islands = s->islands, .held = held, .r = copy(arena, s->r, c)};
  if (!island || !held || !out->r) return TB_ERROR_MEMORY;
  memcpy(held, s->held, n);
  for (int i = 0; i < s->islands; i++) TB_TRY(check_island(s, i, y, arena, &island[i], unique));
  out->island = island;
  return TB_OK;
}

// Counts the iterations without progress, and tells whether to go on.
typedef struct {
  double least;
  int since;
} Progress;

static bool goes_on(Progress* progress, double now, const double* lambda, double* best, size_t bytes)
{
  if (!(now <= 1e300)) return false;
  progress->since = now < 0.5 * progress->least ? 0 : progress->since + 1;
  if (now < progress->least) progress->least = now, memcpy(best, lambda, bytes);
  return now > 0 && progress->since < (now < ROUNDED ? 1 : 4);
}

// Iterates until nothing is left but rounding; `best` is the λ with the least left.
static double iterate(tbNewton* s, double* best)
{
  Progress progress = {INFINITY, 0};
  for (int k = 0; k <= ITERATIONS; k++) {
    products(s);
    if (tb_newton_hold(s)) products(s); // as those that are held have it
    if (!goes_on(&progress, tb_newton_left(s), s->lambda, best, (size_t)s->p->nrow * sizeof(double))) break;
    for (int i = 0; i < s->islands && k < ITERATIONS; i++) solve_island(s, i);
  }
  return progress.least;
}

// What all iterations need.
static bool take_common(tbArena* arena, const tbDelassus* W, tbModel model, const double* lambda, tbNewton* s)
{
  size_t n = (size_t)W->problem->nrow;
  *s = (tbNewton){.p = W->problem,
                  .model = model,
                  .W = W->dense,
                  .q = W->q,
                  .lambda = TB_TAKE(arena, double, n),
                  .u = TB_TAKE(arena, double, n),
                  .held = TB_TAKE(arena, uint8_t, n),
                  .equation = TB_TAKE(arena, double, n),
                  .b = TB_TAKE(arena, double, n),
                  .x = TB_TAKE(arena, double, n)};
  if (!s->lambda || !s->u || !s->held || !s->equation || !s->b || !s->x) return false;
  memcpy(s->lambda, lambda, n * sizeof(double));
  return true;
}

static tbStatus work(tbContext* ctx, tbArena* arena, const tbDelassus* W, tbModel model, double* lambda,
                     bool* exact, bool* unique, tbArena* memory, tbExactStates* keep)
{
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow, c = (size_t)p->ncontact;
  tbNewton s;
  if (!take_common(arena, W, model, lambda, &s)) return TB_ERROR_MEMORY;
  int* island = TB_TAKE(arena, int, c);
  double *best = TB_TAKE(arena, double, n), *y = TB_TAKE(arena, double, n), *r = TB_TAKE(arena, double, c);
  s.island = island, s.r = r;
  s.row = TB_TAKE(arena, int, n), s.place = TB_TAKE(arena, int, n), s.swap = TB_TAKE(arena, int, n);
  s.M = TB_TAKE(arena, double, n* n), s.work = TB_TAKE(arena, double, n);
  s.tau = TB_TAKE(arena, double, 2 * n), s.scale = TB_TAKE(arena, double, n);
  if (!best || !y || !r || !island || !s.row || !s.place || !s.swap || !s.M || !s.work || !s.tau || !s.scale)
    return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, island, &s.islands));
  for (int k = 0; k < p->ncontact; k++) {
    double w = 0;
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) w = fmax(w, s.W[(size_t)i * n + (size_t)i]);
    r[k] = w > 0 ? 1 / w : 1;
  }
  memcpy(best, lambda, n * sizeof(double));
  *exact = iterate(&s, best) < 1e-11;
  memcpy(lambda, best, n * sizeof(double));
  if (!keep) return TB_OK;
  *unique = true;
  tbStatus status = check_states(&s, best, y, memory, keep, unique);
  if (!*exact || status != TB_OK) *keep = (tbExactStates){0};
  if (status != TB_OK) ctx->error = memory->ctx->error;
  return status;
}

tbStatus tb_exact_newton(tbContext* ctx, const tbProblem* p, tbModel model, double* lambda, bool* exact,
                         bool* unique, tbArena* memory, tbExactStates* keep)
{
  tbDelassus* W;
  tbArena arena;
  TB_TRY(tb_delassus_create(ctx, p, TB_FORM_DENSE, &W));
  tb_arena_init(&arena, ctx);
  tbStatus status = work(ctx, &arena, W, model, lambda, exact, unique, memory, keep);
  tb_arena_free(&arena);
  tb_delassus_free(ctx, W);
  return status;
}

// ---- close to an answer ----

static void follow_island(tbNewton* s, const tbExactIsland* island)
{
  int m = island->rows;
  for (int i = 0; i < m; i++) s->b[i] = -island->scale[i] * s->equation[island->row[i]];
  tb_dense_qr_solve(m, m, island->rank, island->M, m, island->swap, island->tau, s->b, s->x);
  for (int i = 0; i < m; i++) s->lambda[island->row[i]] += island->scale[i] * s->x[i];
}

// By how much velocities change, as a share, where impulses that the answer's equations did not see are
// added: what their friction has of other directions here.
static double unseen_moves(tbNewton* s, const tbDelassus* W, const tbExactStates* states, double* before,
                           double* room)
{
  const double share = 1e-3;
  size_t n = (size_t)s->p->nrow;
  double most = 0, scale = share * tb_newton_velocities(s);
  tb_newton_left(s);
  memcpy(before, s->equation, n * sizeof(double));
  for (int i = 0; i < states->islands; i++)
    for (int k = 0; states->island[i].unseen && k < states->island[i].rows; k++)
      s->lambda[states->island[i].row[k]] += share * states->island[i].unseen[k];
  tb_newton_left(s);
  for (int c = 0; c < s->p->ncontact; c++)
    for (int i = s->p->row_adr[c]; i < s->p->row_adr[c + 1]; i++)
      s->lambda[i] = s->r[c] * (s->equation[i] - before[i]);
  tb_delassus_apply(W, NULL, s->lambda, s->u, room);
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(s->u[i]));
  return scale > 0 ? most / scale : 0;
}

// The states must still hold at the end, but for what is of second order in the way from the answer.
static tbStatus follow(tbArena* arena, const tbDelassus* W, tbModel model, const tbExactStates* states,
                       double* lambda, bool* exact, bool* open)
{
  size_t n = (size_t)W->problem->nrow;
  double *best = TB_TAKE(arena, double, n), *room = TB_TAKE(arena, double, tb_delassus_workspace(W) + 1);
  Progress progress = {INFINITY, 0};
  double change = 0, last = INFINITY;
  tbNewton s;
  if (!take_common(arena, W, model, lambda, &s) || !best || !room) return TB_ERROR_MEMORY;
  s.r = states->r;
  tb_newton_hold_as(&s, states->held);
  for (int k = 0; k <= ITERATIONS; k++) {
    tb_delassus_apply(W, NULL, s.lambda, s.u, room);
    for (size_t i = 0; i < n; i++) s.u[i] += s.q[i];
    double now = tb_newton_left(&s);
    if (k == 0) change = now;
    if (now > fmax(CLOSE * last, FOUND)) return TB_OK; // another problem than the one that was answered
    if (!goes_on(&progress, now, s.lambda, best, n * sizeof(double))) break;
    for (int i = 0; i < states->islands && k < ITERATIONS; i++) follow_island(&s, &states->island[i]);
    last = now;
  }
  *exact = progress.least < FOUND && tb_newton_past(&s) <= fmax(SECOND * change, FOUND);
  if (!*exact) return TB_OK;
  memcpy(lambda, best, n * sizeof(double));
  *open = unseen_moves(&s, W, states, best, room) > change * fmax(OPEN, 10 * change);
  return TB_OK;
}

// By the factor of the answer's own equations: what is left becomes as many times less with each iteration as
// the two problems are close.
tbStatus tb_exact_follow(tbContext* ctx, const tbProblem* p, tbModel model, const tbExactStates* states,
                         double* lambda, bool* exact, bool* open)
{
  tbDelassus* W;
  tbArena arena;
  *exact = false;
  TB_TRY(tb_delassus_create(ctx, p, TB_FORM_FREE, &W));
  tb_arena_init(&arena, ctx);
  tbStatus status = follow(&arena, W, model, states, lambda, exact, open);
  tb_arena_free(&arena);
  tb_delassus_free(ctx, W);
  return status;
}
