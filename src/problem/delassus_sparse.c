// SPDX-License-Identifier: Apache-2.0
// J A⁻¹ Jᵀ over a sparse metric block, through its factor (course §4.3.4; Daviet, Bertails and Boissieux
// 2011).
//
// Only the degrees of freedom T that contacts touch matter: right-hand sides are zero elsewhere and solutions
// are read nowhere else, so both triangular solves run over the part of L between T and the root alone
// (tb_cholesky_reach). Columns are solved several at a time, which reads that part once for all of them, and
// batches run in parallel. Solved for is whichever is fewer:
//
//   rows of contacts   X = A⁻¹J_kᵀ on T, met with every J_l
//   T                  G = A⁻¹ on T × T; then X = G J_kᵀ, which costs no solve: contacts share nodes
//
// Diagonal blocks alone need the forward half only: D_k = YᵀY, Y = L⁻¹PJ_kᵀ; or no solve, where the block's
// entries of A⁻¹ are known (tbMetricBlock.inverse) and hold what the contact touches.
//
// A block without a factor is solved with by conjugate gradients, column by column over all of it: what a
// method that cannot do without W must then pay.
//
// Cost      a solve per column, over the reached part of L; per contact one product with every neighbour.
// Memory    W itself, |T|² where G is built, and a few dense columns per batch.
#include "base/stop.h"
#include "base/threads.h"
#include "math/cholesky.h"
#include "math/cholesky_inverse.h"
#include "problem/delassus.h"
#include "problem/metric.h"

#include <string.h>

// The same pieces for every number of threads; few, because each needs room for dense columns.
enum { PIECES = 16, SIDES = 24, PASS = 8 };

typedef struct {
  tbDelassusOwner* o;
  int b, touched;
  int* touching;   // the degrees of freedom of the block that are touched, in order
  int* contact;    // on the block, in order
  int count, rows; // contacts; their rows in all
  int* place;      // of a degree of freedom of the block among those touched
  double* G;       // null: solve for the contacts' rows
  double* diag;    // when only the diagonal blocks are wanted
  tbCholeskyReach reach;
  double* room; // per piece: right-hand sides, then solver workspace
  size_t room_per_piece;
} Columns;

static const tbMetricBlock* block_of(const Columns* s) { return &s->o->W.problem->block[s->b]; }

// X (touched × stride, columns from `at` on) += J_kᵀ, or G J_kᵀ.
static void add_jacobian(const Columns* s, int k, double* X, int stride, int at)
{
  const tbProblem* p = s->o->W.problem;
  int rows = tb_contact_rows(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    if (p->dof_block[p->jac_dof[c]] != s->b) continue;
    int width = p->jac_width[c], first = s->place[p->jac_dof[c] - block_of(s)->dof];
    const double* J = p->jac + p->jac_val_adr[c];
    for (int j = 0; !s->G && j < width; j++)
      for (int i = 0; i < rows; i++) X[(first + j) * stride + at + i] += J[i * width + j];
    for (int t = 0; s->G && t < s->touched; t++) {
      const double* g = s->G + (size_t)t * (size_t)s->touched + first;
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++) X[t * stride + at + i] += g[j] * J[i * width + j];
    }
  }
}

// X ← A⁻¹X on the degrees of freedom that are touched.
static void solve(const Columns* s, int sides, double* X, double* workspace)
{
  const tbMetricBlock* block = block_of(s);
  if (block->factor) {
    tb_cholesky_solve_reach(block->factor, &s->reach, sides, X, X, workspace);
    return;
  }
  double *x = workspace, *room = workspace + block->size;
  for (int side = 0; side < sides; side++) {
    memset(x, 0, (size_t)block->size * sizeof *x);
    for (int t = 0; t < s->touched; t++) x[s->touching[t]] = X[(size_t)t * (size_t)sides + (size_t)side];
    tb_metric_cg_unless(s->o->interrupt, block, NULL, TB_METRIC_EXACT, x, room);
    for (int t = 0; t < s->touched; t++) X[(size_t)t * (size_t)sides + (size_t)side] = x[s->touching[t]];
  }
}

// Upper blocks of contact k, or its diagonal block, from X = A⁻¹J_kᵀ.
static void meet(const Columns* s, int k, const double* X, int stride, int at)
{
  const tbDelassus* W = &s->o->W;
  const tbProblem* p = W->problem;
  const tbIncidence* in = &s->o->incidence;
  int rows = tb_contact_rows(p, k);
  for (int e = in->ptr[s->b]; e < in->ptr[s->b + 1]; e++) {
    int l = in->contact[e], c = in->col[e], width = p->jac_width[c], cols = tb_contact_rows(p, l);
    if (s->diag ? l != k : l < k) continue;
    const double *J = p->jac + p->jac_val_adr[c],
                 *x = X + (size_t)s->place[p->jac_dof[c] - block_of(s)->dof] * (size_t)stride + at;
    double* C = s->diag ? s->diag + W->diag_adr[k] : tb_delassus_block(W, k, l);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) {
        double sum = 0;
        for (int d = 0; d < width; d++) sum += x[d * stride + i] * J[j * width + d];
        C[i * cols + j] += sum;
      }
  }
}

// Contacts begin … end−1, as many at a time as have SIDES rows together.
static void by_contacts(void* user, int begin, int end, int piece)
{
  const Columns* s = user;
  const tbProblem* p = s->o->W.problem;
  double *X = s->room + (size_t)piece * s->room_per_piece, *workspace = X + (size_t)s->touched * SIDES;
  for (int next; begin < end && !tb_asked(s->o->interrupt); begin = next) {
    int sides = 0;
    for (next = begin; next < end && sides + tb_contact_rows(p, s->contact[next]) <= SIDES; next++)
      sides += tb_contact_rows(p, s->contact[next]);
    memset(X, 0, (size_t)s->touched * (size_t)sides * sizeof *X);
    for (int i = begin, at = 0; i < next; at += tb_contact_rows(p, s->contact[i++]))
      add_jacobian(s, s->contact[i], X, sides, at);
    if (!s->G) solve(s, sides, X, workspace);
    for (int i = begin, at = 0; i < next; at += tb_contact_rows(p, s->contact[i++]))
      meet(s, s->contact[i], X, sides, at);
  }
}

// Columns begin … end−1 of G.
static void invert(void* user, int begin, int end, int piece)
{
  const Columns* s = user;
  double *X = s->room + (size_t)piece * s->room_per_piece, *workspace = X + (size_t)s->touched * SIDES;
  for (; begin < end && !tb_asked(s->o->interrupt); begin += SIDES) {
    int sides = end - begin < SIDES ? end - begin : SIDES;
    memset(X, 0, (size_t)s->touched * (size_t)sides * sizeof *X);
    for (int i = 0; i < sides; i++) X[(size_t)(begin + i) * (size_t)sides + (size_t)i] = 1;
    solve(s, sides, X, workspace);
    for (int t = 0; t < s->touched; t++)
      memcpy(s->G + (size_t)t * (size_t)s->touched + begin, X + (size_t)t * (size_t)sides,
             (size_t)sides * sizeof *X);
  }
}

// Y (size × stride, columns from `at` on) += J_kᵀ
static void put_jacobian(const Columns* s, int k, double* Y, int stride, int at)
{
  const tbProblem* p = s->o->W.problem;
  int rows = tb_contact_rows(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    if (p->dof_block[p->jac_dof[c]] != s->b) continue;
    const double* J = p->jac + p->jac_val_adr[c];
    double* y = Y + (size_t)(p->jac_dof[c] - block_of(s)->dof) * (size_t)stride + at;
    for (int r = 0, width = p->jac_width[c]; r < rows; r++)
      for (int j = 0; j < width; j++) y[j * stride + r] += J[r * width + j];
  }
}

// D_k += J_k A⁻¹ J_kᵀ from the entries of the inverse; false where one of them is not known.
static bool diagonal_selected(const Columns* s, int k)
{
  const tbProblem* p = s->o->W.problem;
  const tbMetricBlock* block = block_of(s);
  int rows = tb_contact_rows(p, k);
  double sum[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, *D = s->diag + s->o->W.diag_adr[k];
  if (!block->inverse) return false;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    if (p->dof_block[p->jac_dof[c]] != s->b) continue;
    const double* J = p->jac + p->jac_val_adr[c];
    for (int x = 0; x < p->jac_width[c]; x++) {
      double row[TB_MAX_ROWS] = {0}; // of A⁻¹J_kᵀ
      for (int d = p->jac_adr[k]; d < p->jac_adr[k + 1]; d++) {
        if (p->dof_block[p->jac_dof[d]] != s->b) continue;
        int width = p->jac_width[d];
        for (int y = 0; y < width; y++) {
          double z;
          if (!tb_selected_inverse_at(block->inverse, p->jac_dof[c] - block->dof + x,
                                      p->jac_dof[d] - block->dof + y, &z))
            return false;
          for (int r = 0; r < rows; r++) row[r] += z * p->jac[p->jac_val_adr[d] + (size_t)(r * width + y)];
        }
      }
      for (int i = 0; i < rows; i++)
        for (int r = i; r < rows; r++) sum[i * rows + r] += J[i * p->jac_width[c] + x] * row[r];
    }
  }
  for (int j = 0; j < rows * rows; j++) D[j] += sum[j];
  return true;
}

// D_k = YᵀY by the factor, for as many contacts at a time as a solve takes sides in one pass.
static void diagonals(void* user, int begin, int end, int piece)
{
  const Columns* s = user;
  const tbDelassus* W = &s->o->W;
  const tbProblem* p = W->problem;
  const tbMetricBlock* block = block_of(s);
  double* Y = s->room + (size_t)piece * s->room_per_piece;
  double* workspace = Y + (size_t)block->size * PASS;
  for (int next; begin < end && !tb_asked(s->o->interrupt); begin = next) {
    int sides = 0;
    next = begin + 1;
    if (diagonal_selected(s, s->contact[begin])) continue;
    for (next = begin; next < end && sides + tb_contact_rows(p, s->contact[next]) <= PASS; next++)
      sides += tb_contact_rows(p, s->contact[next]);
    memset(Y, 0, (size_t)block->size * (size_t)sides * sizeof *Y);
    for (int i = begin, at = 0; i < next; at += tb_contact_rows(p, s->contact[i++]))
      put_jacobian(s, s->contact[i], Y, sides, at);
    tb_cholesky_forward(NULL, block->factor, sides, Y, Y, workspace);
    for (int i = begin, at = 0; i < next; at += tb_contact_rows(p, s->contact[i++])) {
      int rows = tb_contact_rows(p, s->contact[i]);
      double sum[TB_MAX_ROWS * TB_MAX_ROWS] = {0}, *D = s->diag + W->diag_adr[s->contact[i]];
      for (int t = 0; t < block->size; t++) {
        const double* y = Y + (size_t)t * (size_t)sides + at;
        for (int r = 0; r < rows; r++)
          for (int j = r; j < rows && y[r] != 0; j++) sum[r * rows + j] += y[r] * y[j];
      }
      for (int j = 0; j < rows * rows; j++) D[j] += sum[j];
    }
  }
}

// The contacts on the block, and the degrees of freedom they touch.
static tbStatus survey(tbArena* arena, Columns* s)
{
  const tbProblem* p = s->o->W.problem;
  const tbIncidence* in = &s->o->incidence;
  const tbMetricBlock* block = block_of(s);
  int first = in->ptr[s->b], end = in->ptr[s->b + 1];
  s->touching = TB_TAKE(arena, int, (size_t)block->size);
  s->contact = TB_TAKE(arena, int, (size_t)(end - first));
  s->place = TB_TAKE(arena, int, (size_t)block->size);
  if (!s->touching || !s->contact || !s->place) return TB_ERROR_MEMORY;
  for (int e = first; e < end; e++) {
    for (int j = 0, c = in->col[e]; j < p->jac_width[c]; j++) s->place[p->jac_dof[c] - block->dof + j] = 1;
    if (e > first && in->contact[e] == in->contact[e - 1]) continue;
    s->contact[s->count++] = in->contact[e];
    s->rows += tb_contact_rows(p, in->contact[e]);
  }
  for (int i = 0; i < block->size; i++) {
    if (!s->place[i]) continue;
    s->place[i] = s->touched;
    s->touching[s->touched++] = i;
  }
  if (!block->factor) return TB_OK;
  return tb_cholesky_reach(arena, block->factor, s->touched, s->touching, &s->reach);
}

static tbStatus assemble(tbContext* ctx, tbArena* arena, Columns* s)
{
  const tbMetricBlock* block = block_of(s);
  TB_TRY(survey(arena, s));
  bool halves = s->diag && block->factor;
  size_t columns = halves ? (size_t)block->size * PASS : (size_t)s->touched * SIDES;
  s->room_per_piece = columns + (block->factor ? tb_cholesky_scratch(block->factor, SIDES)
                                               : (size_t)block->size + tb_metric_cg_workspace(block));
  s->room = TB_TAKE(arena, double, PIECES * s->room_per_piece);
  if (!s->room) return TB_ERROR_MEMORY;
  int grain = tb_piece_count(s->count, PIECES);
  if (halves) {
    tb_parallel_for(ctx->threads, s->count, grain, diagonals, s);
    return tb_check_interrupt(ctx);
  }
  if (!s->diag && s->touched < s->rows) {
    size_t n = (size_t)s->touched;
    double* G = TB_TAKE(arena, double, n* n);
    if (!G) return TB_ERROR_MEMORY;
    s->G = G;
    tb_parallel_for(ctx->threads, s->touched, tb_piece_count(s->touched, PIECES), invert, s);
  }
  tb_parallel_for(ctx->threads, s->count, grain, by_contacts, s);
  return tb_check_interrupt(ctx);
}

tbStatus tb_delassus_by_factor(tbContext* ctx, tbDelassusOwner* o, int b, double* diag)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  Columns s = {.o = o, .b = b, .diag = diag};
  tbStatus status = o->incidence.ptr[b] < o->incidence.ptr[b + 1] ? assemble(ctx, &arena, &s) : TB_OK;
  tb_arena_free(&arena);
  return status;
}
