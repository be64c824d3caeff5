// SPDX-License-Identifier: Apache-2.0
#include "modal/lanczos.h"

#include "base/random.h"
#include "base/stop.h"
#include "base/threads.h"
#include "math/eigen.h"
#include "math/ldu.h"

#include <string.h>

enum { BLOCK = 8, GRAIN = 4 };
static const double TOLERANCE = 1e-9; // of what is left of an eigenpair of the inverse, to its eigenvalue
static const double GONE = 1e-10;     // of a vector, after what lies in the space was taken from it

typedef struct {
  const tbModalSystem* system;
  tbThreads* threads;
  int n, most, m; // degrees of freedom, vectors there is room for, vectors so far
  double* V;      // the space                                                        (most · n)
  double* T;      // Vᵀ M (K + σM)⁻¹ M V                                              (most · most)
  double *S, *theta, *work;   // its eigenvectors, one per row, eigenvalues, room
  double* next;               // images of the last block, then the block that follows  (BLOCK · n)
  double* Mx;                 // M times a vector                                       (n)
  double* c;                  // coefficients                                           (most)
  double left[BLOCK * BLOCK]; // what the last block's images have along the next
  uint64_t random;
} Space;

typedef struct {
  const Space* s;
  double* x;
} Job;

// c = VᵀM x, a coefficient per vector of the space.
static void project(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const Space* s = job->s;
  for (int i = begin; i < end; i++) s->c[i] = tb_dot(s->n, s->V + (size_t)i * (size_t)s->n, s->Mx);
}

// x −= V c, by ranges of x.
static void subtract(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const Space* s = job->s;
  double* x = job->x;
  for (int k = 0; k < s->m; k++) {
    const double *v = s->V + (size_t)k * (size_t)s->n, c = s->c[k];
    for (int i = begin; i < end; i++) x[i] -= c * v[i];
  }
}

// Takes from x what lies in the space, and what is rigid; adds the coefficients to `sum` unless null.
static void reduce(Space* s, double* x, double* sum)
{
  const tbModalSystem* of = s->system;
  Job job = {s, x};
  tb_modal_mass(of->fem, x, s->Mx);
  tb_parallel_for(s->threads, s->m, GRAIN, project, &job);
  tb_parallel_for(s->threads, s->n, 4096, subtract, &job);
  for (int k = 0; sum && k < s->m; k++) sum[k] += s->c[k];
  if (of->nrigid == 0) return;
  for (int k = 0; k < of->nrigid; k++) {
    const double* r = of->rigid + (size_t)k * (size_t)s->n;
    double c = tb_dot(s->n, r, s->Mx);
    for (int i = 0; i < s->n; i++) x[i] -= c * r[i];
  }
}

static double size_of(const Space* s, const double* x)
{
  tb_modal_mass(s->system->fem, x, s->Mx);
  return sqrt(fmax(tb_dot(s->n, x, s->Mx), 0));
}

static void randomise(Space* s, double* x)
{
  for (int i = 0; i < s->n; i++)
    x[i] = s->system->fem->pinned[i / 3] ? 0 : tb_random_uniform(&s->random, -1, 1);
}

// Adds x to the space, M-normal; false: all of it lies in there already.
static bool append(Space* s, double* x, double before)
{
  if (!(size_of(s, x) > GONE * before)) return false;
  reduce(s, x, NULL); // what rounding brought back
  double size = size_of(s, x);
  for (int i = 0; i < s->n; i++) x[i] /= size;
  memcpy(s->V + (size_t)s->m * (size_t)s->n, x, (size_t)s->n * sizeof *x);
  s->m++;
  return true;
}

// The images of the last `width` vectors: their products with the space, and what they have outside of it.
static tbStatus expand(tbContext* ctx, Space* s, int width)
{
  size_t n = (size_t)s->n, first = (size_t)(s->m - width);
  for (int b = 0; b < width; b++)
    tb_modal_mass(s->system->fem, s->V + (first + (size_t)b) * n, s->next + (size_t)b * n);
  TB_TRY(tb_modal_solve(ctx, s->system, width, s->next, s->next));
  for (int b = 0; b < width; b++) {
    double *x = s->next + (size_t)b * n, *row = s->T + (first + (size_t)b) * (size_t)s->most;
    memset(row, 0, (size_t)s->m * sizeof *row);
    reduce(s, x, row);
    reduce(s, x, row);
  }
  return tb_check_interrupt(ctx);
}

// The block that follows, of what the images have outside of the space; random vectors in place of those
// that have nothing there. Returns its width, 0 at the end of the room.
static int follow(Space* s, int width)
{
  int first = s->m, most = s->n - s->system->nrigid;
  for (int i = 0; i < s->n / 3; i++) most -= 3 * s->system->fem->pinned[i];
  memset(s->left, 0, sizeof s->left);
  for (int b = 0; b < width && s->m < s->most && s->m < most; b++) {
    double* x = s->next + (size_t)b * (size_t)s->n;
    double before = fabs(s->T[(size_t)(first - width + b) * (size_t)s->most + (size_t)(first - width + b)]);
    for (int pass = 0; pass < 2 && s->m > first; pass++) { // against the block's own
      tb_modal_mass(s->system->fem, x, s->Mx);
      for (int k = first; k < s->m; k++) {
        const double* v = s->V + (size_t)k * (size_t)s->n;
        double c = tb_dot(s->n, v, s->Mx);
        s->left[(k - first) * BLOCK + b] += c;
        for (int i = 0; i < s->n; i++) x[i] -= c * v[i];
      }
    }
    s->left[(s->m - first) * BLOCK + b] = size_of(s, x);
    bool added = append(s, x, before);
    for (int tries = 0; !added && tries < 4; tries++) {
      randomise(s, x);
      reduce(s, x, NULL);
      added = append(s, x, 1e-6);
    }
  }
  return s->m - first;
}

// How many of the largest eigenpairs of T are exact, of those asked for. `width`: of the last block.
static int settled(Space* s, int count, int known, int width)
{
  size_t m = (size_t)known;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m;
         j++) { // rows hold what was known when they were made: the later half is complete
      size_t high = i > j ? i : j, low = i > j ? j : i;
      s->S[i * m + j] = s->T[high * (size_t)s->most + low];
    }
  if (!tb_dense_eigen(known, s->S, s->theta, s->work)) return -1;
  int good = 0;
  for (; good < count; good++) {
    const double* v = s->S + (m - 1 - (size_t)good) * m + (m - (size_t)width);
    double sum = 0;
    for (int r = 0; r < BLOCK; r++) {
      double part = 0;
      for (int c = 0; c < width; c++) part += s->left[r * BLOCK + c] * v[c];
      sum += part * part;
    }
    if (!(sqrt(sum) <= TOLERANCE * s->theta[m - 1 - (size_t)good])) break;
  }
  return good;
}

// u_k = Σ_j S_kj v_j, of the largest entry positive.
static void lift(const Space* s, int known, int count, double* vectors, double* value)
{
  size_t m = (size_t)known, n = (size_t)s->n;
  for (int k = 0; k < count; k++) {
    double* u = vectors + (size_t)k * n;
    const double* row = s->S + (m - 1 - (size_t)k) * m;
    memset(u, 0, n * sizeof *u);
    for (size_t j = 0; j < m; j++) {
      const double *v = s->V + j * n, c = row[j];
      for (size_t i = 0; i < n; i++) u[i] += c * v[i];
    }
    size_t largest = 0;
    for (size_t i = 0; i < n; i++)
      if (fabs(u[i]) > 1.0001 * fabs(u[largest])) largest = i; // not by a rounding
    double sign = u[largest] < 0 ? -1 : 1;
    for (size_t i = 0; i < n; i++) u[i] *= sign;
    value[k] = 1 / s->theta[m - 1 - (size_t)k] - s->system->shift;
  }
}

static tbStatus run(tbContext* ctx, Space* s, int count, double* vectors, double* value)
{
  int width = 0;
  for (int b = 0; b < BLOCK && s->m < s->most; b++) {
    randomise(s, s->next);
    reduce(s, s->next, NULL);
    width += append(s, s->next, 1e-6);
  }
  for (int check = count + BLOCK;;) {
    TB_TRY(expand(ctx, s, width));
    int known = s->m, last = width;
    width = follow(s, width);
    if (known < check && width > 0) continue;
    int good = settled(s, count, known, last);
    if (good < 0) return tb_fail(ctx, TB_ERROR_NUMERIC, "the modes of the body are not finite");
    if (good == count || (width == 0 && known >= count)) {
      lift(s, known, count, vectors, value);
      if (good == count || s->m < s->most) return TB_OK;
    }
    if (width == 0)
      return tb_fail(ctx, TB_ERROR_NUMERIC, "%d of %d modes of the body were found", good, count);
    check = known + (known / 8 > BLOCK ? known / 8 : BLOCK);
  }
}

int tb_modal_count(const tbModalSystem* system)
{
  int count = 3 * system->fem->nnode - system->nrigid;
  for (int i = 0; i < system->fem->nnode; i++) count -= 3 * system->fem->pinned[i];
  return count;
}

tbStatus tb_modal_lanczos(tbContext* ctx, const tbModalSystem* system, int count, double* vectors,
                          double* value)
{
  int n = 3 * system->fem->nnode, free = tb_modal_count(system);
  int most = 5 * count + 10 * BLOCK;
  if (most > free) most = free;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  size_t room = (size_t)most + BLOCK;
  Space s = {.system = system,
             .threads = ctx->threads,
             .n = n,
             .most = most,
             .V = TB_TAKE(&arena, double, room*(size_t)n),
             .T = TB_TAKE(&arena, double, (size_t)most*(size_t)most),
             .S = TB_TAKE(&arena, double, (size_t)most*(size_t)most),
             .theta = TB_TAKE(&arena, double, (size_t)most),
             .work = TB_TAKE(&arena, double, (size_t)most),
             .Mx = TB_TAKE(&arena, double, (size_t)n),
             .next = TB_TAKE(&arena, double, BLOCK*(size_t)n),
             .c = TB_TAKE(&arena, double, room),
             .random = 1};
  tbStatus status = TB_ERROR_MEMORY;
  if (s.V && s.Mx && s.T && s.S && s.theta && s.work && s.next && s.c)
    status = run(ctx, &s, count, vectors, value);
  tb_arena_free(&arena);
  return status;
}
