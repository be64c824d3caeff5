// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients on a sparse metric block that is too large to factor (Hestenes and Stiefel 1952).
//
//   q = Ap    α = rᵀz / pᵀq    x ← x + αp    r ← r − αq    z = C⁻¹r    β = rᵀz / (rᵀz)_before    p ← z + βp
//
// C are the 3×3 diagonal blocks of A, a node each; where one is nearly singular, its diagonal. r follows a
// recurrence: once it is small, b − Ax is computed afresh, and the iteration goes on from there if that is
// not. The first times products take A rounded to floats, where that is at hand, which halves their cost;
// they are worth the digits that a float has. What is left is measured by √(rᵀC⁻¹r), against that of b. The
// right-hand side is scaled by a power of two, so that neither tiny nor huge ones matter.
//
// Cost      a product with A and three passes over a few vectors per iteration; √κ(C⁻¹A) iterations for each
//           handful of digits. A = M + h²K is the better conditioned the shorter the step.
// Limits    A that is not positive definite stops it where that shows; the caller sees what is left.
#include "base/stop.h"
#include "base/threads.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { AFRESH = 5, ROUGH = 2 };    // times that b − Ax is computed; after iterations with rounded numbers
static const double DIGITS = 1e-6; // of what is left, that these are worth

typedef struct {
  const tbMetricBlock* block;
  tbThreads* threads;
  int n;                 // rounded up to whole triples
  const double* b;       // right-hand side (size)
  double scale;          // of it
  double *x, *r, *p, *q; // q holds z, too, once it is spent (n)
  const double* inverse; // of the diagonal blocks: xx yy zz xy xz yz (2n)
  double* partial;       // sums of the pieces
  double* room;          // for products with the packed half
  const double* from;    // of the product under way
  bool rough;            // products are of rounded numbers
  double alpha, beta;
} Cg;

static int round_up(int n) { return (n + 2) / 3 * 3; }

size_t tb_metric_cg_workspace(const tbMetricBlock* block)
{
  int n = round_up(block->size);
  return 6 * (size_t)n + (size_t)tb_piece_count(n, TB_METRIC_PIECE) +
         (block->packed ? tb_packed_room(block->packed->pattern) : 0);
}

// ---- the preconditioner ----

// Entries (i, first) … (i, first+2), zero where there are none.
static void diagonal_entries(const tbMetricBlock* b, int i, int first, double out[3])
{
  int lo = b->ptr[i], hi = b->ptr[i + 1];
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (b->col[mid] < first) lo = mid + 1;
    else hi = mid;
  }
  out[0] = out[1] = out[2] = 0;
  for (; lo < b->ptr[i + 1] && b->col[lo] < first + 3; lo++) out[b->col[lo] - first] = b->value[lo];
}

typedef struct {
  const tbMetricBlock* block;
  double* inverse;
} Inversion;

static void invert_blocks(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Inversion* s = user;
  for (int i = begin; i < end; i += 3) {
    double a[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, *C = s->inverse + 2 * (size_t)i;
    for (int j = 0; j < 3 && i + j < s->block->size; j++) diagonal_entries(s->block, i + j, i, a[j]);
    double xx = a[1][1] * a[2][2] - a[1][2] * a[1][2], xy = a[0][2] * a[1][2] - a[0][1] * a[2][2],
           xz = a[0][1] * a[1][2] - a[0][2] * a[1][1], yy = a[0][0] * a[2][2] - a[0][2] * a[0][2],
           yz = a[0][1] * a[0][2] - a[0][0] * a[1][2], zz = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    double det = a[0][0] * xx + a[0][1] * xy + a[0][2] * xz;
    memset(C, 0, 6 * sizeof *C);
    if (det > 1e-8 * a[0][0] * a[1][1] * a[2][2] && det < INFINITY && xx > 0 && yy > 0 && zz > 0) {
      C[0] = xx / det, C[1] = yy / det, C[2] = zz / det;
      C[3] = xy / det, C[4] = xz / det, C[5] = yz / det;
    } else {
      for (int j = 0; j < 3; j++) C[j] = 1 / a[j][j];
    }
  }
}

void tb_metric_invert_diagonal(const tbMetricBlock* block, tbThreads* threads, double* inverse)
{
  Inversion job = {block, inverse};
  tb_parallel_for(threads, round_up(block->size), TB_METRIC_PIECE, invert_blocks, &job);
}

// z = C⁻¹r on one triple; rᵀz.
static inline double precondition(const double* restrict C, const double* restrict r, double* restrict z)
{
  z[0] = (C[0] * r[0] + C[3] * r[1]) + C[4] * r[2];
  z[1] = (C[3] * r[0] + C[1] * r[1]) + C[5] * r[2];
  z[2] = (C[4] * r[0] + C[5] * r[1]) + C[2] * r[2];
  return (r[0] * z[0] + r[1] * z[1]) + r[2] * z[2];
}

// ---- passes, cut alike for any number of threads ----

static void rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Cg* s = user;
  int size = s->block->size;
  tb_metric_rows(s->block, begin, end < size ? end : size, s->from, s->q);
}

// q = Ax
static void multiply(Cg* s, const double* x)
{
  s->from = x;
  if (s->block->packed) tb_packed_multiply(s->block->packed, s->rough, s->threads, x, s->q, s->room);
  else tb_parallel_for(s->threads, s->n, TB_METRIC_PIECE, rows, s);
}

// pᵀq
static void meet(void* user, int begin, int end, int piece)
{
  const Cg* s = user;
  double sum[3] = {0};
  for (int i = begin; i < end; i += 3)
    for (int j = 0; j < 3; j++) sum[j] += s->p[i + j] * s->q[i + j];
  s->partial[piece] = (sum[0] + sum[1]) + sum[2];
}

static void advance(void* user, int begin, int end, int piece)
{
  const Cg* s = user;
  double sum = 0;
  for (int i = begin; i < end; i += 3) {
    for (int j = i; j < i + 3; j++) {
      s->x[j] += s->alpha * s->p[j];
      s->r[j] -= s->alpha * s->q[j];
    }
    sum += precondition(s->inverse + 2 * (size_t)i, s->r + i, s->q + i);
  }
  s->partial[piece] = sum;
}

// r = b − q.
static void look_afresh(void* user, int begin, int end, int piece)
{
  const Cg* s = user;
  double sum = 0;
  for (int i = begin; i < end; i += 3) {
    for (int j = i; j < i + 3; j++) s->r[j] = j < s->block->size ? s->scale * s->b[j] - s->q[j] : 0;
    sum += precondition(s->inverse + 2 * (size_t)i, s->r + i, s->q + i);
  }
  s->partial[piece] = sum;
}

static void turn(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Cg* s = user;
  for (int i = begin; i < end; i++) s->p[i] = s->q[i] + s->beta * s->p[i];
}

static double pass(Cg* s, tbRangeFn* body)
{
  double sum = 0;
  tb_parallel_for(s->threads, s->n, TB_METRIC_PIECE, body, s);
  for (int i = 0; i < tb_piece_count(s->n, TB_METRIC_PIECE); i++) sum += s->partial[i];
  return sum;
}

// r = b − Ax, and what is left by it.
static double afresh(Cg* s)
{
  s->rough = false;
  multiply(s, s->x);
  return pass(s, look_afresh);
}

// ---- the iteration ----

static double power_of_two_over(int n, const double* b)
{
  double largest = 0;
  int exponent;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(b[i]));
  frexp(largest, &exponent);
  return largest > 0 && largest < INFINITY ? ldexp(1, exponent < -1000 ? 1000 : -exponent) : 0;
}

// Room for the inverse is handed out.
static double* layout(Cg* s, double* workspace)
{
  size_t n = (size_t)s->n;
  s->x = workspace, s->r = s->x + n, s->p = s->r + n, s->q = s->p + n;
  double* own = s->q + n;
  s->inverse = own, s->room = own + 2 * n;
  s->partial = s->room + (s->block->packed ? tb_packed_room(s->block->packed->pattern) : 0);
  memset(workspace, 0, 4 * n * sizeof *workspace);
  return own;
}

// Where a start leaves less than none does, it is taken.
static double begin(Cg* s, const double* start, double* rz)
{
  double all = *rz = pass(s, look_afresh); // x = 0, q = 0
  if (!start) return all;
  for (int i = 0; i < s->block->size; i++) s->x[i] = s->scale * start[i];
  *rz = afresh(s);
  if (*rz < all) return all;
  memset(s->x, 0, (size_t)s->n * sizeof *s->x);
  *rz = afresh(s);
  return all;
}

static void solve(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads, double tolerance,
                  const double* b, const double* start, double* x, double* workspace)
{
  Cg s = {.block = block, .threads = threads, .n = round_up(block->size), .b = b};
  s.scale = power_of_two_over(block->size, b);
  if (s.scale == 0) { // nothing to do, or no number
    if (x != b) memcpy(x, b, (size_t)block->size * sizeof *x);
    return;
  }
  double* own = layout(&s, workspace);
  if (block->packed && block->packed->inverse) s.inverse = block->packed->inverse;
  else tb_metric_invert_diagonal(block, threads, own);
  double rz, enough = tolerance * tolerance * begin(&s, start, &rz);
  bool rounded = block->packed && block->packed->rounded;
  for (int time = 0; time < AFRESH && rz > enough; time++) {
    s.rough = rounded && time < ROUGH;
    double here = s.rough ? fmax(enough, DIGITS * DIGITS * rz) : enough;
    s.beta = 0;
    tb_parallel_for(threads, s.n, TB_METRIC_PIECE, turn, &s);
    for (int k = 0; k < 2 * s.n + 100 && rz > here && !tb_asked(interrupt); k++) {
      multiply(&s, s.p);
      double curvature = pass(&s, meet), before = rz;
      if (!(curvature > 0)) break;
      s.alpha = rz / curvature;
      rz = pass(&s, advance);
      s.beta = rz / before;
      tb_parallel_for(threads, s.n, TB_METRIC_PIECE, turn, &s);
    }
    rz = afresh(&s);
  }
  for (int i = 0; i < block->size; i++) x[i] = s.x[i] / s.scale;
}

void tb_metric_cg_unless(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads,
                         double tolerance, double* x, double* workspace)
{
  solve(interrupt, block, threads, tolerance, x, NULL, x, workspace);
}

void tb_metric_cg_from(tbInterrupt interrupt, const tbMetricBlock* block, tbThreads* threads,
                       double tolerance, const double* b, double* x, double* workspace)
{
  solve(interrupt, block, threads, tolerance, b, x, x, workspace);
}
