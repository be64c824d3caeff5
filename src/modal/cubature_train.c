// SPDX-License-Identifier: Apache-2.0
// Choosing elements for cubature (An, Kim and James 2008). A column holds the forces of one element on the
// fields, f_k/ω_k, over all training poses, each pose scaled to a force of one; the sum of all columns is b.
//
//   min ‖b − Σ_e w_e a_e‖,   w ≥ 0
//
// Greedy: of some elements drawn by lot those whose columns point along the residual are taken, weights are
// fitted anew by non-negative least squares (Lawson and Hanson 1974, on the normal equations), what gets no
// weight goes; until the residual is small or the elements are as many as may be. Forces over ω are sizes of
// modes in energy: the slowest count as much as the fastest.
#include "modal/cubature.h"

#include "base/stop.h"
#include "base/threads.h"
#include "math/dense.h"
#include "math/ldu.h"
#include "tribo/tools/random.h"

#include <string.h>

enum { SMALL = 24, LARGE = 40, POSES = SMALL + LARGE, LOTS = 256, GRAIN = 8, PIECES = 32 };
static const double GOOD = 0.01;    // of ‖b‖: this is small
static const double TINY = 1e-5;    // of the body's size: displacements of small poses
static const double FARTHEST = 0.5; // and of large ones

typedef struct {
  const tbFemBody* fem;
  const double* field;
  int r, length;        // length of a column: POSES · r
  double *pose, *share; // q by poses, and 1/ω times the pose's scale                   (POSES · r)
  double* G;            // room, by pieces                                             (9 r each)
  const int* drawn;     // elements whose columns are wanted
  double* column;       // and these
  double *b, *part;     // the sum of all, and its parts by pieces                    (length each)
  int grain;            // elements of a piece
  int count, most;      // chosen
  int* element;
  double *A, *size, *gram, *along, *w; // their columns of length 1, what they were, AᵀA, Aᵀb, weights
  double *residual, *factor, *next;
} Training;

// ---- columns ----

static void column_of(const Training* t, int e, double* G, double* out)
{
  size_t R = (size_t)t->r;
  double volume = t->fem->tet[e].volume, H[9], P[9];
  tb_cubature_gradients(t->fem, e, t->r, t->field, G);
  memset(out, 0, (size_t)t->length * sizeof *out);
  for (size_t p = 0; p < POSES; p++) {
    double* f = out + p * R;
    for (size_t a = 0; a < 9; a++) H[a] = tb_dot(t->r, G + a * R, t->pose + p * R);
    tb_stvk_density(t->fem->material.mu, t->fem->material.lambda, H, P);
    for (size_t a = 0; a < 9; a++)
      for (size_t k = 0; k < R; k++) f[k] += volume * P[a] * G[a * R + k];
    for (size_t k = 0; k < R; k++) f[k] *= t->share[p * R + k];
  }
}

static void columns(void* user, int begin, int end, int piece)
{
  const Training* t = user;
  for (int i = begin; i < end; i++)
    column_of(t, t->drawn[i], t->G + 9 * (size_t)piece * (size_t)t->r,
              t->column + (size_t)i * (size_t)t->length);
}

static void sum_part(void* user, int begin, int end, int piece)
{
  const Training* t = user;
  size_t length = (size_t)t->length;
  double *sum = t->part + 2 * (size_t)piece * length, *own = sum + length;
  memset(sum, 0, length * sizeof *sum);
  for (int e = begin; e < end; e++) {
    column_of(t, e, t->G + 9 * (size_t)piece * (size_t)t->r, own);
    for (size_t i = 0; i < length; i++) sum[i] += own[i];
  }
}

// b, in the same pieces whatever the threads.
static void sum_all(tbContext* ctx, Training* t)
{
  int elements = t->fem->nelement[0];
  t->grain = (elements + PIECES - 1) / PIECES;
  tb_parallel_for(ctx->threads, elements, t->grain, sum_part, t);
  memset(t->b, 0, (size_t)t->length * sizeof *t->b);
  for (int piece = 0; piece < tb_piece_count(elements, t->grain); piece++)
    for (int i = 0; i < t->length; i++) t->b[i] += t->part[2 * piece * (ptrdiff_t)t->length + i];
}

// ---- poses ----

static double normal(uint64_t* random) // about: of six uniform ones
{
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += tb_random_uniform(random, -1, 1);
  return sum / sqrt(2);
}

static double farthest(const Training* t, const double* q)
{
  double most = 0;
  size_t R = (size_t)t->r;
  for (int i = 0; i < t->fem->nnode; i++) {
    const double* row = t->field + 3 * (size_t)i * R;
    tbVec3 u = tb_vec3(tb_dot(t->r, row, q), tb_dot(t->r, row + R, q), tb_dot(t->r, row + 2 * R, q));
    most = fmax(most, tb_norm3(u));
  }
  return most;
}

static double extent(const tbFemBody* fem)
{
  tbVec3 lo = fem->rest[0], hi = lo;
  for (int i = 1; i < fem->nnode; i++) {
    const tbVec3 x = fem->rest[i];
    lo = tb_vec3(fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z));
    hi = tb_vec3(fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z));
  }
  return tb_distance3(lo, hi);
}

// Every mode with as much energy as every other, or every second pose with less the faster it is.
static void draw_poses(Training* t, const double* omega2)
{
  uint64_t random = 2008;
  size_t R = (size_t)t->r;
  double size = extent(t->fem), fastest = 0;
  for (size_t k = 0; k < R; k++) fastest = fmax(fastest, omega2[k]);
  for (size_t p = 0; p < POSES; p++) {
    double* q = t->pose + p * R;
    for (size_t k = 0; k < R; k++) {
      double omega = sqrt(fmax(omega2[k], 1e-12 * fastest));
      q[k] = normal(&random) / (p >= SMALL && p % 2 ? omega * omega : omega);
      t->share[p * R + k] = 1 / omega;
    }
    double far = farthest(t, q), want = p < SMALL ? TINY : tb_random_uniform(&random, 0.05, FARTHEST);
    for (size_t k = 0; far > 0 && k < R; k++) q[k] *= want * size / far;
  }
}

// Every pose's forces of all elements have length one, or, if there are none, do not count.
static void scale_poses(Training* t)
{
  size_t R = (size_t)t->r;
  for (size_t p = 0; p < POSES; p++) {
    double length = sqrt(tb_dot(t->r, t->b + p * R, t->b + p * R)), scale = length > 0 ? 1 / length : 0;
    for (size_t k = 0; k < R; k++) t->b[p * R + k] *= scale, t->share[p * R + k] *= scale;
  }
}

// ---- weights ----

static void drop(Training* t, int gone)
{
  size_t most = (size_t)t->most, length = (size_t)t->length;
  t->count--;
  for (int i = gone; i < t->count; i++) {
    memcpy(t->A + (size_t)i * length, t->A + (size_t)(i + 1) * length, length * sizeof *t->A);
    t->element[i] = t->element[i + 1], t->size[i] = t->size[i + 1];
    t->along[i] = t->along[i + 1], t->w[i] = t->w[i + 1];
    memcpy(t->gram + (size_t)i * most, t->gram + (size_t)(i + 1) * most, most * sizeof *t->gram);
  }
  for (int i = 0; i < t->count; i++)
    memmove(t->gram + (size_t)i * most + gone, t->gram + (size_t)i * most + gone + 1,
            (size_t)(t->count - gone) * sizeof *t->gram);
}

// Weights of least squares over the columns that are in; as far that way as none becomes negative, and those
// that reach zero go.
static void fit(Training* t)
{
  size_t most = (size_t)t->most;
  while (t->count > 0) {
    int n = t->count, done, first = -1;
    for (int i = 0; i < n; i++)
      memcpy(t->factor + (size_t)i * most, t->gram + (size_t)i * most, (size_t)n * sizeof *t->factor);
    done = tb_dense_cholesky(n, t->factor, t->most);
    if (done < n) { // depends on those before it
      drop(t, done);
      continue;
    }
    memcpy(t->next, t->along, (size_t)n * sizeof *t->next);
    tb_dense_cholesky_solve(n, t->factor, t->most, t->next);
    double share = 1;
    for (int i = 0; i < n; i++) {
      if (t->next[i] > 0) continue;
      double way = t->w[i] > 0 ? t->w[i] / (t->w[i] - t->next[i]) : 0;
      if (first < 0 || way < share) share = way, first = i;
    }
    for (int i = 0; i < n; i++) t->w[i] += share * (t->next[i] - t->w[i]);
    if (first < 0) return;
    drop(t, first);
  }
}

static void take_in(Training* t, int element, const double* column, double size)
{
  size_t most = (size_t)t->most, length = (size_t)t->length, n = (size_t)t->count++;
  double* a = t->A + n * length;
  for (size_t i = 0; i < length; i++) a[i] = column[i] / size;
  t->element[n] = element, t->size[n] = size, t->w[n] = 0;
  t->along[n] = tb_dot(t->length, a, t->b);
  for (size_t i = 0; i <= n; i++)
    t->gram[i * most + n] = t->gram[n * most + i] = tb_dot(t->length, a, t->A + i * length);
}

static double look(Training* t) // ‖residual‖/‖b‖
{
  memcpy(t->residual, t->b, (size_t)t->length * sizeof *t->b);
  for (int i = 0; i < t->count; i++)
    tb_dense_subtract(t->length, t->w[i], t->A + (size_t)i * (size_t)t->length, t->residual);
  double whole = tb_dot(t->length, t->b, t->b);
  return whole > 0 ? sqrt(tb_dot(t->length, t->residual, t->residual) / whole) : 0;
}

// ---- elements ----

static bool is_in(const Training* t, int element)
{
  for (int i = 0; i < t->count; i++)
    if (t->element[i] == element) return true;
  return false;
}

// The `count` best of a lot. False: none helps.
static bool add_best(tbContext* ctx, Training* t, uint64_t* random, int count, int* lot)
{
  double score[LOTS], size[LOTS];
  int elements = t->fem->nelement[0], drawn = elements < LOTS ? elements : LOTS;
  for (int i = 0; i < drawn; i++) lot[i] = elements <= LOTS ? i : tb_random_below(random, elements);
  t->drawn = lot;
  tb_parallel_for(ctx->threads, drawn, GRAIN, columns, t);
  for (int i = 0; i < drawn; i++) {
    const double* a = t->column + (size_t)i * (size_t)t->length;
    size[i] = sqrt(tb_dot(t->length, a, a));
    score[i] = size[i] > 0 ? tb_dot(t->length, a, t->residual) / size[i] : 0;
  }
  bool any = false;
  for (int k = 0; k < count && t->count < t->most; k++) {
    int best = -1;
    for (int i = 0; i < drawn; i++)
      if (score[i] > 0 && (best < 0 || score[i] > score[best]) && !is_in(t, lot[i])) best = i;
    if (best < 0) break;
    take_in(t, lot[best], t->column + (size_t)best * (size_t)t->length, size[best]);
    any = true;
  }
  return any;
}

static tbStatus choose(tbContext* ctx, Training* t, int* lot, double* miss)
{
  uint64_t random = 1977;
  *miss = look(t);
  for (int idle = 0; *miss > GOOD && t->count < t->most && idle < 4;) {
    TB_TRY(tb_check_interrupt(ctx));
    double before = *miss;
    bool any = add_best(ctx, t, &random, 1 + t->r / 8, lot);
    fit(t);
    *miss = look(t);
    idle = any && *miss < before ? 0 : idle + 1;
  }
  return TB_OK;
}

// In ascending order, weights of columns of length 1 as factors of the elements' volumes.
static void hand_out(const Training* t, int* count, int* element, double* weight)
{
  *count = t->count;
  for (int i = 0; i < t->count; i++) {
    int at = i;
    double own = t->w[i] / t->size[i] * t->fem->tet[t->element[i]].volume;
    for (; at > 0 && element[at - 1] > t->element[i]; at--)
      element[at] = element[at - 1], weight[at] = weight[at - 1];
    element[at] = t->element[i], weight[at] = own;
  }
}

tbStatus tb_cubature_train(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                           const double* omega2, int most, int* count, int* element, double* weight,
                           double* miss)
{
  size_t R = (size_t)r, length = POSES * R, m = (size_t)most, lots = LOTS;
  Training t = {.fem = fem, .field = field, .r = r, .length = (int)length, .most = most};
  tbArena arena;
  tb_arena_init(&arena, ctx);
  struct {
    double** to;
    size_t count;
  } room[] = {{&t.pose, length},
              {&t.share, length},
              {&t.G, 9 * R * PIECES},
              {&t.b, length},
              {&t.part, 2 * length * PIECES},
              {&t.column, lots * length},
              {&t.A, m * length},
              {&t.size, m},
              {&t.gram, m * m},
              {&t.along, m},
              {&t.w, m},
              {&t.residual, length},
              {&t.factor, m * m},
              {&t.next, m}};
  bool whole = (t.element = TB_TAKE(&arena, int, m)) != NULL;
  int* lot = TB_TAKE(&arena, int, lots);
  for (size_t i = 0; i < sizeof room / sizeof *room; i++)
    whole = (*room[i].to = TB_TAKE(&arena, double, room[i].count)) != NULL && whole;
  tbStatus status = whole && lot ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    draw_poses(&t, omega2);
    sum_all(ctx, &t);
    scale_poses(&t);
    status = choose(ctx, &t, lot, miss);
  }
  if (status == TB_OK) hand_out(&t, count, element, weight);
  tb_arena_free(&arena);
  return status;
}
