// SPDX-License-Identifier: Apache-2.0
// The linear system of a Newton step: reduce, solve, refine.
#include "base/threads.h"
#include "math/dense.h"
#include "solve/newton_core.h"

#include <math.h>
#include <string.h>

enum { CONTACTS_PER_PIECE = 64 };

static double pull(const tbNewton* n, int k) { return n->island[n->plan->of[k]].alpha * n->size[k]; }

// y_k = A_k x_k + B_k (w_k + α T x_k)
static void block_rows(const tbNewton* n, int k, const double* x, const double* w, double* y)
{
  int rows = tb_rows(n->run->p, k);
  const double *A = n->A + n->run->W->diag_adr[k], *B = n->B + n->run->W->diag_adr[k];
  double shift = pull(n, k);
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < rows; j++) sum += A[i * rows + j] * x[j] + B[i * rows + j] * (w[j] + shift * x[j]);
    y[i] = sum;
  }
}

// M = A + B(W + αT), block row by block row. Three rows are the common case: constants get unrolled.
static inline __attribute__((always_inline)) void multiply_block(int rows, int cols, const double* B,
                                                                 const double* V, double* M)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += B[i * rows + r] * V[r * cols + j];
      M[i * cols + j] = sum;
    }
}

static void assemble(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbNewton* n = user;
  const tbDelassus* W = n->run->W;
  const int* row = n->run->p->row_adr;
  for (int k = begin; k < end; k++) {
    int rows = row[k + 1] - row[k];
    bool any = false;
    for (int i = row[k]; i < row[k + 1]; i++) any = any || n->active[i];
    if (!any) continue;
    const double *A = n->A + W->diag_adr[k], *B = n->B + W->diag_adr[k];
    double shift = pull(n, k);
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int cols = row[W->col[e] + 1] - row[W->col[e]];
      double* M = n->M + W->val_adr[e];
      if (rows == 3 && cols == 3) multiply_block(3, 3, B, W->val + W->val_adr[e], M);
      else multiply_block(rows, cols, B, W->val + W->val_adr[e], M);
      if (W->col[e] == k)
        for (int i = 0; i < rows * rows; i++) M[i] += A[i] + shift * B[i];
    }
  }
}

// r = −Φ − (A + B(W + αT)) d on the active rows, given W d; 0 elsewhere. Returns ‖r‖².
static double remainder_of(tbNewton* n, double* r)
{
  const tbProblem* p = n->run->p;
  double sum = 0;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = tb_rows(p, k);
    double y[TB_MAX_ROWS];
    block_rows(n, k, n->d + first, n->Wd + first, y);
    for (int i = 0; i < rows; i++) {
      r[first + i] = n->active[first + i] ? -n->phi[first + i] - y[i] : 0;
      sum += r[first + i] * r[first + i];
    }
  }
  return sum;
}

// ---- Krylov ----

static void apply(void* user, const double* x, double* y)
{
  tbNewton* n = user;
  const tbProblem* p = n->run->p;
  tb_delassus_apply(n->run->W, n->run->threads, x, n->other, n->workspace);
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k];
    block_rows(n, k, x + first, n->other + first, y + first);
    for (int i = first; i < p->row_adr[k + 1]; i++)
      if (!n->active[i]) y[i] = x[i];
  }
}

// The inverses of the diagonal blocks A + B(D + αT); identity where a row is not solved for.
static void invert_diagonal(tbNewton* n)
{
  const tbProblem* p = n->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k), swap[TB_MAX_ROWS];
    const size_t at = n->run->W->diag_adr[k];
    double M[TB_MAX_ROWS * TB_MAX_ROWS], unit[TB_MAX_ROWS], column[TB_MAX_ROWS], DX[TB_MAX_ROWS];
    for (int j = 0; j < rows; j++) {
      memset(unit, 0, sizeof unit);
      unit[j] = 1;
      for (int i = 0; i < rows; i++) DX[i] = n->run->W->diag[at + (size_t)(i * rows + j)];
      block_rows(n, k, unit, DX, column);
      for (int i = 0; i < rows; i++) M[i * rows + j] = n->active[p->row_adr[k] + i] ? column[i] : i == j;
    }
    bool regular = tb_dense_lu(rows, M, rows, swap) == rows;
    for (int j = 0; j < rows; j++) {
      memset(unit, 0, sizeof unit);
      unit[j] = 1;
      if (regular) tb_dense_lu_solve(rows, M, rows, swap, unit);
      for (int i = 0; i < rows; i++)
        n->inverse[at + (size_t)(i * rows + j)] = isfinite(unit[i]) ? unit[i] : i == j;
    }
  }
}

static void precondition(void* user, const double* x, double* y)
{
  const tbNewton* n = user;
  const tbProblem* p = n->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], rows = tb_rows(p, k);
    const double* inverse = n->inverse + n->run->W->diag_adr[k];
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int j = 0; j < rows; j++) sum += inverse[i * rows + j] * x[first + j];
      y[first + i] = sum;
    }
  }
}

// ---- velocity space ----

// Three rows at a time, which is the common case: S⁻¹ from its cofactors, after rows are scaled to numbers
// near one; false where S is singular to rounding.
static bool invert_three(const double* S, double* inverse)
{
  double M[9], size[3];
  for (int i = 0; i < 3; i++) {
    size[i] = fmax(fabs(S[3 * i]), fmax(fabs(S[3 * i + 1]), fabs(S[3 * i + 2])));
    if (!(size[i] > 0) || isinf(size[i])) return false;
    for (int j = 0; j < 3; j++) M[3 * i + j] = S[3 * i + j] / size[i];
  }
  double a = M[4] * M[8] - M[5] * M[7], b = M[5] * M[6] - M[3] * M[8], c = M[3] * M[7] - M[4] * M[6];
  double det = M[0] * a + M[1] * b + M[2] * c;
  if (!(fabs(det) > 1e-9)) return false; // few digits of the cofactors are left: with pivots
  double cofactor[9] = {a, M[2] * M[7] - M[1] * M[8], M[1] * M[5] - M[2] * M[4],
                        b, M[0] * M[8] - M[2] * M[6], M[2] * M[3] - M[0] * M[5],
                        c, M[1] * M[6] - M[0] * M[7], M[0] * M[4] - M[1] * M[3]};
  for (int i = 0; i < 9; i++) inverse[i] = cofactor[i] / (det * size[i % 3]);
  return true;
}

static bool eliminate_three(const double* S, const double* B, double* inverse, double* C)
{
  double X[9], Y[9];
  bool finite = true;
  if (!invert_three(S, X)) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      Y[3 * i + j] = X[3 * i] * B[j] + X[3 * i + 1] * B[3 + j] + X[3 * i + 2] * B[6 + j];
  for (int i = 0; i < 9; i++) finite = finite && isfinite(X[i]) && isfinite(Y[i]);
  if (!finite) return false;
  memcpy(inverse, X, sizeof X);
  memcpy(C, Y, sizeof Y);
  return true;
}

// S⁻¹ and C = S⁻¹ B of one contact, S = A + B(R + αT).
static void eliminate_contact(tbNewton* n, int k)
{
  const tbProblem* p = n->run->p;
  int rows = tb_rows(p, k), first = p->row_adr[k], swap[TB_MAX_ROWS];
  size_t at = n->run->W->diag_adr[k];
  const double *A = n->A + at, *B = n->B + at;
  double S[TB_MAX_ROWS * TB_MAX_ROWS], column[TB_MAX_ROWS], shift = pull(n, k);
  bool any = false;
  for (int i = 0; i < rows; i++) any = any || n->active[first + i];
  if (!any) {
    memset(n->inverse + at, 0, (size_t)(rows * rows) * sizeof *S);
    memset(n->C + at, 0, (size_t)(rows * rows) * sizeof *S);
    return;
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++)
      S[i * rows + j] = A[i * rows + j] + B[i * rows + j] * (p->compliance[first + j] + shift);
  if (rows == 3 && eliminate_three(S, B, n->inverse + at, n->C + at)) return;
  bool regular = tb_dense_lu(rows, S, rows, swap) == rows;
  for (int j = 0; j < 2 * rows; j++) {
    for (int i = 0; i < rows; i++) column[i] = j < rows ? i == j : B[i * rows + j - rows];
    if (regular) tb_dense_lu_solve(rows, S, rows, swap, column);
    double* to = j < rows ? n->inverse + at + j : n->C + at + (j - rows);
    for (int i = 0; i < rows; i++) to[i * rows] = regular && isfinite(column[i]) ? column[i] : 0;
  }
}

static void eliminate_contacts(void* user, int begin, int end, int piece)
{
  (void)piece;
  for (int k = begin; k < end; k++) eliminate_contact(user, k);
}

// x_k ← S⁻¹ x_k
static void multiply_inverse(const tbNewton* n, int k, double* x)
{
  int rows = tb_rows(n->run->p, k);
  const double* inverse = n->inverse + n->run->W->diag_adr[k];
  double y[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    y[i] = 0;
    for (int j = 0; j < rows; j++) y[i] += inverse[i * rows + j] * x[j];
  }
  memcpy(x, y, (size_t)rows * sizeof *y);
}

// d = S⁻¹ (−Φ), contact by contact; open contacts have theirs at once.
static void start_by_velocity(tbNewton* n)
{
  const tbProblem* p = n->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], last = p->row_adr[k + 1];
    bool any = false;
    for (int i = first; i < last; i++) n->d[i] = -n->phi[i], any = any || n->active[i];
    if (any) multiply_inverse(n, k, n->d + first);
  }
}

// d −= C J x
static void follow_velocity(tbNewton* n, const double* x)
{
  const tbProblem* p = n->run->p;
  tb_velocity_contacts(n->plan->velocity, x, n->other);
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k), first = p->row_adr[k];
    const double* C = n->C + n->run->W->diag_adr[k];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) n->d[first + i] -= C[i * rows + j] * n->other[first + j];
  }
}

// Share, squared, of a step's momentum by which d and δv may disagree. u moves by J δv until it is computed
// from λ anew, so that this must be well below what the tolerances are of the speeds in play.
static const double AGREED = 1e-20;

// (A + Jᵀ C J) δv = Jᵀ S⁻¹ (−Φ),  d = S⁻¹ (−Φ) − C J δv,  W d = J δv + R d as A δv = Jᵀ d: no product with
// A⁻¹. What rounding leaves of that is solved for again.
static void direction_by_velocity(tbNewton* n)
{
  const tbProblem* p = n->run->p;
  tbVelocity* v = n->plan->velocity;
  double left = INFINITY, momentum;
  tb_parallel_for(n->run->threads, p->ncontact, CONTACTS_PER_PIECE, eliminate_contacts, n);
  tb_velocity_factor(v, n->run->threads, n->C);
  if (tb_run_stops(n->run)) return; // and the factor may be half done
  start_by_velocity(n);
  memset(n->dv, 0, (size_t)p->ndof * sizeof *n->dv);
  for (int round = 0; round < 3; round++) {
    double before = left;
    left = tb_velocity_defect(v, n->d, n->dv, n->defect, &momentum);
    if (round > 0 && (left <= AGREED * momentum || !(left < 0.01 * before))) break;
    tb_velocity_solve(v, n->defect);
    for (int i = 0; i < p->ndof; i++) n->dv[i] += n->defect[i];
    follow_velocity(n, n->defect);
  }
  tb_velocity_contacts(v, n->dv, n->Wd);
  for (int i = 0; i < p->nrow; i++) n->Wd[i] += p->compliance[i] * n->d[i];
}

// ---- the step ----

static void multiply(tbNewton* n) // W d
{
  tb_delassus_apply(n->run->W, n->run->threads, n->d, n->Wd, n->workspace);
}

// rhs ← M⁻¹ rhs on the active rows, by factor or by Krylov.
static void solve_active(tbNewton* n, double* rhs)
{
  const tbProblem* p = n->run->p;
  if (n->plan->lu) {
    tb_lu_solve(n->plan->lu, rhs);
    return;
  }
  tbGmres g = {.n = p->nrow,
               .apply = apply,
               .precondition = precondition,
               .user = n,
               .tolerance = 1e-6,
               .max_products = 400,
               .interrupt = tb_stop_interrupt(n->run->stop)};
  double* b = n->start;
  memcpy(b, rhs, (size_t)p->nrow * sizeof *b);
  memset(rhs, 0, (size_t)p->nrow * sizeof *rhs);
  tb_gmres(&g, b, rhs, n->plan->basis);
}

void tb_newton_direction(tbNewton* n)
{
  const tbProblem* p = n->run->p;
  bool moved = false;
  if (n->plan->velocity) {
    direction_by_velocity(n);
    return;
  }
  for (int i = 0; i < p->nrow; i++) {
    n->d[i] = n->active[i] ? 0 : -n->phi[i];
    moved = moved || n->d[i] != 0;
  }
  if (moved) multiply(n);
  else memset(n->Wd, 0, (size_t)p->nrow * sizeof *n->Wd);
  double target = remainder_of(n, n->rhs), left = target;
  if (n->plan->lu) {
    tb_parallel_for(n->run->threads, p->ncontact, CONTACTS_PER_PIECE, assemble, n);
    tb_lu_factor(n->plan->lu, n->run->threads, n->run->W->val_adr, n->M, n->active, 0);
  } else {
    invert_diagonal(n);
  }
  for (int round = 0; round < (n->plan->lu ? 3 : 1) && left > 1e-20 * target; round++) {
    if (tb_run_stops(n->run)) return; // and the factor may be half done
    solve_active(n, n->rhs);
    for (int i = 0; i < p->nrow; i++)
      if (n->active[i]) n->d[i] += n->rhs[i];
    multiply(n);
    double before = left;
    left = remainder_of(n, n->rhs);
    if (!(left < 0.01 * before)) break;
  }
}
