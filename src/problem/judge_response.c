// SPDX-License-Identifier: Apache-2.0
// W_kk is added up over the metric blocks that contact k touches:
//
//   particles, dense blocks   J (A⁻¹Jᵀ), the factor of the block solving for each row
//   sparse blocks             J A⁻¹ Jᵀ from entries of A⁻¹, where they are known; else YᵀY with Y = L⁻¹PJᵀ:
//                             the forward half of a solve with the factor
//   sparse, not factored      J D⁻¹ Jᵀ with D the row sums of A
//
// Its largest eigenvalue is found by Jacobi's rotations. Every block is scaled to numbers near one first, so
// that no unit of mass or length overflows.
//
// Cost    per contact a few hundred operations; on wide dense blocks, and on sparse ones, a solve per row, or
//         few thousand where entries of A⁻¹ are known. So on dense blocks a response is found when it
//         matters: where a contact carries nothing, w ‖λ − P_K(λ − û/w)‖ = ‖P_K(−û)‖ whatever w is. Of
//         surfaces that are sampled finely most contacts never carry anything.
#include "problem/judge_response.h"

#include "base/threads.h"
#include "math/cholesky_inverse.h"
#include "problem/judge_cone.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { PIECES = 16 }; // each has room for dense columns

typedef struct {
  const tbProblem* p;
  double* response;
  const int* contact;    // whose are asked for
  const double* row_sum; // of sparse blocks without a factor: D                            (ndof)
  double* room;          // per piece: right-hand sides of one contact, then a solver's workspace
  size_t room_per_piece;
} Job;

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

// Functions that are inlined with a constant size get written out: three rows and six columns are the common
// case. Every sum has the same order whatever the size.
#define WRITTEN_OUT static inline __attribute__((always_inline))

// D += J yᵀ
WRITTEN_OUT void add_product(int rows, int width, const double* J, const double* y, double* D)
{
  for (int i = 0; i < rows; i++)
    for (int r = 0; r < rows; r++) {
      double sum = 0;
      for (int d = 0; d < width; d++) sum += J[r * width + d] * y[i * width + d];
      D[r * rows + i] += sum;
    }
}

// The same for wide blocks: the sums of a contact's rows do not wait for each other.
static void add_wide_product(int rows, int width, const double* J, const double* y, double* D)
{
  double sum[TB_MAX_ROWS * TB_MAX_ROWS] = {0};
  for (int d = 0; d < width; d++)
    for (int i = 0; i < rows; i++)
      for (int r = 0; r < rows; r++) sum[r * rows + i] += J[r * width + d] * y[i * width + d];
  for (int i = 0; i < rows * rows; i++) D[i] += sum[i];
}

// D += J A⁻¹ Jᵀ over a particle or a dense block, which one column block spans.
static void add_small(const tbMetricBlock* block, const double* J, int rows, double* y, double* D)
{
  int width = block->size;
  memcpy(y, J, (size_t)(rows * width) * sizeof *y);
  tb_metric_solve_rows(block, rows, y);
  if (rows == 3 && width == 6) add_product(3, 6, J, y, D);
  else if (width <= 6) add_product(rows, width, J, y, D);
  else add_wide_product(rows, width, J, y, D);
}

// D += J_k A⁻¹ J_kᵀ from entries of the inverse; the column blocks of contact k from c on that lie in block
// b. False, and D as it was, where one of the entries is not known.
static bool add_selected(const tbProblem* p, int k, int c, int b, double* D)
{
  const tbMetricBlock* block = &p->block[b];
  int rows = rows_of(p, k);
  double sum[TB_MAX_ROWS * TB_MAX_ROWS] = {0};
  if (!block->inverse) return false;
  for (int d = c; d < p->jac_adr[k + 1]; d++)
    for (int e = c; e < p->jac_adr[k + 1] && p->dof_block[p->jac_dof[d]] == b; e++) {
      if (p->dof_block[p->jac_dof[e]] != b) continue;
      const double *J = p->jac + p->jac_val_adr[d], *K = p->jac + p->jac_val_adr[e];
      int m = p->jac_width[d], n = p->jac_width[e];
      for (int x = 0; x < m; x++)
        for (int y = 0; y < n; y++) {
          double z;
          if (!tb_selected_inverse_at(block->inverse, p->jac_dof[d] - block->dof + x,
                                      p->jac_dof[e] - block->dof + y, &z))
            return false;
          for (int i = 0; i < rows; i++)
            for (int r = 0; r < rows; r++) sum[i * rows + r] += J[i * m + x] * z * K[r * n + y];
        }
    }
  for (int i = 0; i < rows * rows; i++) D[i] += sum[i];
  return true;
}

// D += YᵀY with Y = L⁻¹PJ_kᵀ; the column blocks of contact k from c on that lie in block b.
static void add_factored(const tbProblem* p, int k, int c, int b, double* Y, double* D)
{
  const tbMetricBlock* block = &p->block[b];
  int rows = rows_of(p, k);
  size_t n = (size_t)block->size * (size_t)rows;
  memset(Y, 0, n * sizeof *Y);
  for (; c < p->jac_adr[k + 1]; c++) {
    if (p->dof_block[p->jac_dof[c]] != b) continue;
    const double* J = p->jac + p->jac_val_adr[c];
    double* y = Y + (size_t)(p->jac_dof[c] - block->dof) * (size_t)rows;
    for (int d = 0, width = p->jac_width[c]; d < width; d++)
      for (int r = 0; r < rows; r++) y[d * rows + r] += J[r * width + d];
  }
  tb_cholesky_forward(NULL, block->factor, rows, Y, Y, Y + n);
  for (int t = 0; t < block->size; t++) {
    const double* y = Y + (size_t)t * (size_t)rows;
    for (int r = 0; r < rows; r++)
      for (int i = 0; i < rows && y[r] != 0; i++) D[r * rows + i] += y[r] * y[i];
  }
}

// D += J diag(row sums)⁻¹ Jᵀ over the degrees of freedom that column blocks c and d share.
static void add_row_sums(const tbProblem* p, const double* row_sum, int c, int d, int rows, double* D)
{
  int a = p->jac_dof[c], b = p->jac_dof[d], m = p->jac_width[c], n = p->jac_width[d];
  int first = a > b ? a : b, end = a + m < b + n ? a + m : b + n;
  const double *J = p->jac + p->jac_val_adr[c], *K = p->jac + p->jac_val_adr[d];
  for (int x = first; x < end; x++)
    for (int i = 0; i < rows; i++)
      for (int r = 0; r < rows; r++) D[i * rows + r] += J[i * m + x - a] * K[r * n + x - b] / row_sum[x];
}

// D = W_kk
static void diagonal_block(const Job* job, int k, double* room, double* D)
{
  const tbProblem* p = job->p;
  int rows = rows_of(p, k), first = p->row_adr[k];
  memset(D, 0, (size_t)(rows * rows) * sizeof *D);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int b = p->dof_block[p->jac_dof[c]];
    const tbMetricBlock* block = &p->block[b];
    bool seen = false;
    for (int d = p->jac_adr[k]; d < c; d++) seen = seen || p->dof_block[p->jac_dof[d]] == b;
    if (block->kind != TB_METRIC_SPARSE) add_small(block, p->jac + p->jac_val_adr[c], rows, room, D);
    else if (block->factor && !seen && !add_selected(p, k, c, b, D)) add_factored(p, k, c, b, room, D);
    for (int d = p->jac_adr[k]; block->kind == TB_METRIC_SPARSE && !block->factor && d < p->jac_adr[k + 1];
         d++)
      add_row_sums(p, job->row_sum, c, d, rows, D);
  }
  for (int i = 0; p->W_ptr && i < rows; i++)
    for (int e = p->W_ptr[first + i]; e < p->W_ptr[first + i + 1]; e++) {
      int j = p->W_col[e] - first;
      if (j >= 0 && j < rows) D[i * rows + j] += p->W_val[e];
    }
  for (int i = 0; i < rows; i++) D[i * rows + i] += p->compliance[first + i];
}

// One of Jacobi's rotations: makes S_pq zero.
WRITTEN_OUT void rotate(int n, double* S, int p, int q)
{
  double apq = S[p * n + q];
  if (apq == 0) return;
  double theta = (S[q * n + q] - S[p * n + p]) / (2 * apq);
  double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)); // θ² = ∞: t = 0
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int i = 0; i < n; i++) {
    double x = S[i * n + p], y = S[i * n + q];
    S[i * n + p] = c * x - s * y, S[i * n + q] = s * x + c * y;
  }
  for (int i = 0; i < n; i++) {
    double x = S[p * n + i], y = S[q * n + i];
    S[p * n + i] = c * x - s * y, S[q * n + i] = s * x + c * y;
  }
  S[p * n + q] = S[q * n + p] = 0;
}

// x 2^exponent, as ldexp gives it: a factor that can be represented has the same bits.
static inline double shifted(double x, int exponent, bool normal, double factor)
{
  return normal ? x * factor : ldexp(x, exponent);
}

// The largest eigenvalue of D's symmetric part; not finite where D is not.
WRITTEN_OUT double largest_eigenvalue(int n, double* D)
{
  double size = 0, largest = -INFINITY, down = 1, up = 1;
  int exponent = 0;
  for (int i = 0; i < n * n; i++) {
    if (!isfinite(D[i])) return INFINITY;
    size = fabs(D[i]) > size ? fabs(D[i]) : size;
  }
  if (size == 0) return 0;
  bool normal = tb_judge_powers(size, &down, &up);
  if (!normal) frexp(size, &exponent);
  for (int i = 0; i < n * n; i++) D[i] = shifted(D[i], -exponent, normal, down);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) D[i * n + j] = D[j * n + i] = (D[i * n + j] + D[j * n + i]) / 2;
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) off += D[i * n + j] * D[i * n + j];
    if (off <= 1e-28) break;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) rotate(n, D, i, j);
  }
  for (int i = 0; i < n; i++) largest = D[i * n + i] > largest ? D[i * n + i] : largest;
  return shifted(largest > 0 ? largest : 0, exponent, normal, up);
}

static void respond(void* user, int begin, int end, int piece)
{
  const Job* job = user;
  double D[TB_MAX_ROWS * TB_MAX_ROWS], *room = job->room + (size_t)piece * job->room_per_piece;
  for (int i = begin; i < end; i++) {
    int k = job->contact[i], rows = rows_of(job->p, k);
    diagonal_block(job, k, room, D);
    if (rows == 3) job->response[k] = largest_eigenvalue(3, D);
    else job->response[k] = rows == 2 ? largest_eigenvalue(2, D) : largest_eigenvalue(rows, D);
  }
}

// A row sum that is not positive, as no mass is, gives way to the diagonal.
static void sum_rows(const tbMetricBlock* b, double* row_sum)
{
  for (int i = 0; i < b->size; i++) {
    double sum = 0, diagonal = 0;
    for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) {
      sum += b->value[e];
      if (b->col[e] == i) diagonal = b->value[e];
    }
    row_sum[b->dof + i] = sum > 1e-12 * diagonal ? sum : diagonal;
  }
}

static void find(tbThreads* threads, Job* job, int count)
{
  if (count > 0) tb_parallel_for(threads, count, tb_piece_count(count, PIECES), respond, job);
}

// ---- those that are asked for at once ----

// Where λ_k = 0 the map is P_K(−û), whatever w is; but of bounds that are not 0.
bool tb_judge_response_waits(const tbProblem* p, int k)
{
  if (p->law[k] == TB_LAW_BOX || p->W_ptr) return false;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    if (p->block[p->dof_block[p->jac_dof[c]]].kind == TB_METRIC_SPARSE) return false;
  return true;
}

static tbStatus find_now(tbArena* temporary, tbThreads* threads, tbJudgeResponse* r)
{
  const tbProblem* p = r->p;
  Job job = {.p = p, .response = r->response};
  double* row_sum = NULL;
  int count = 0, *contact = TB_TAKE(temporary, int, (size_t)p->ncontact);
  if (!contact) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    if (!tb_judge_response_waits(p, k)) contact[count++] = k;
  if (count == 0) return TB_OK;
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    size_t room = (size_t)block->size * TB_MAX_ROWS;
    if (block->kind == TB_METRIC_SPARSE && block->factor)
      room += tb_cholesky_scratch(block->factor, TB_MAX_ROWS);
    if (room > job.room_per_piece) job.room_per_piece = room;
    if (block->kind != TB_METRIC_SPARSE || block->factor) continue;
    if (!row_sum && !(row_sum = TB_TAKE(temporary, double, (size_t)p->ndof))) return TB_ERROR_MEMORY;
    sum_rows(block, row_sum);
  }
  job.contact = contact, job.row_sum = row_sum;
  job.room = TB_TAKE(temporary, double, PIECES* job.room_per_piece);
  if (!job.room) return TB_ERROR_MEMORY;
  find(threads, &job, count);
  return TB_OK;
}

tbStatus tb_judge_response_init(tbArena* arena, const tbProblem* p, tbJudgeResponse* out)
{
  *out = (tbJudgeResponse){.p = p};
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind != TB_METRIC_SPARSE && p->block[b].size > out->widest)
      out->widest = p->block[b].size;
  out->response = TB_TAKE(arena, double, (size_t)p->ncontact);
  out->contact = TB_TAKE(arena, int, (size_t)p->ncontact);
  out->room = TB_TAKE(arena, double, PIECES* TB_MAX_ROWS*(size_t)out->widest);
  return out->response && out->contact && out->room ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_judge_response_begin(tbArena* temporary, tbThreads* threads, tbJudgeResponse* r)
{
  r->waiting = 0;
  for (int k = 0; k < r->p->ncontact; k++)
    if (tb_judge_response_waits(r->p, k)) r->response[k] = NAN, r->waiting++;
  return find_now(temporary, threads, r);
}

// ---- those that wait ----

bool tb_judge_carries(const tbProblem* p, int k, const double* lambda)
{
  for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
    if (lambda[i] != 0) return true;
  return false;
}

void tb_judge_response_find(tbThreads* threads, tbJudgeResponse* r, const double* lambda)
{
  const tbProblem* p = r->p;
  Job job = {.p = p,
             .response = r->response,
             .contact = r->contact,
             .room = r->room,
             .room_per_piece = TB_MAX_ROWS * (size_t)r->widest};
  int count = 0;
  if (r->waiting == 0) return;
  for (int k = 0; k < p->ncontact; k++)
    if (isnan(r->response[k]) && (!lambda || tb_judge_carries(p, k, lambda))) r->contact[count++] = k;
  find(threads, &job, count);
  r->waiting -= count;
}
