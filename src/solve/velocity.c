// SPDX-License-Identifier: Apache-2.0
#include "solve/velocity_graph.h"

#include "base/threads.h"
#include "solve/run.h"

#include <string.h>

enum { CONTACTS_PER_PIECE = 64, ENTRIES_PER_PIECE = 64 };
static const double FAR_FEWER = 0.8;       // entries than were analysed
static const double WORTH_NARROWING = 1e6; // multiplications and additions of a factorisation
static const double TINY = 1e-100;

// Memory to analyse again in: enough for what is worth it.
static tbStatus make_slab(tbVelocity* v, tbContext* ctx)
{
  tbLuStats stats = tb_lu_stats(v->full);
  if (stats.flops < WORTH_NARROWING) return TB_OK;
  v->slab.size = (size_t)(0.75 * stats.bytes) + 200 * (size_t)(v->nodes + v->entries) + 100000;
  v->slab.base = tb_alloc_unset(ctx, v->slab.size, 1); // what is taken of it is zeroed then
  v->slab_ctx = tb_slab_context(&v->slab, ctx);
  return v->slab.base ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus build(tbContext* ctx, tbVelocity* v, tbArena* temporary, double max_bytes)
{
  TB_TRY(tb_velocity_graph(v, temporary));
  TB_TRY(tb_lu_analyze(ctx, v->nodes, v->first, v->ptr, v->col, max_bytes, &v->full));
  return make_slab(v, ctx);
}

tbStatus tb_velocity_create(tbContext* ctx, const tbProblem* p, const size_t* diag_adr, double max_bytes,
                            tbVelocity** out)
{
  *out = NULL;
  if (p->W_ptr) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a problem that gives W has no velocities");
  tbVelocity* v = TB_NEW(ctx, tbVelocity, 1);
  if (!v) return TB_ERROR_MEMORY;
  v->p = p, v->diag_adr = diag_adr;
  tb_arena_init(&v->memory, ctx);
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  tbStatus status = build(ctx, v, &temporary, max_bytes);
  tb_arena_free(&temporary);
  if (status == TB_OK) *out = v;
  else tb_velocity_free(ctx, v);
  return status;
}

void tb_velocity_renew(tbContext* ctx, tbVelocity* v)
{
  tb_velocity_metric(v);
  tb_lu_watch(v->full, ctx->interrupt);
  if (v->slab.base) v->slab_ctx = tb_slab_context(&v->slab, ctx);
  v->narrow = NULL;
  v->live_count = 0;
}

void tb_velocity_free(tbContext* ctx, tbVelocity* v)
{
  if (!v) return;
  tb_lu_free(ctx, v->full);
  tb_free(ctx, v->slab.base);
  v->memory.ctx = ctx;
  tb_arena_free(&v->memory);
  tb_free(ctx, v);
}

tbLuStats tb_velocity_stats(const tbVelocity* v) { return tb_lu_stats(v->narrow ? v->narrow : v->full); }

// ---- values ----

typedef struct {
  tbVelocity* v;
  const double* C;
} Sum;

// CJ = C_k J, part by part. Three rows and six columns are the common case: constants get unrolled.
static inline __attribute__((always_inline)) void multiply_part(int rows, int width, int stride,
                                                                const double* C, const double* J, double* CJ)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += C[i * rows + r] * J[r * stride + j];
      CJ[i * width + j] = sum;
    }
}

static bool is_zero(const tbVelocity* v, const double* C, int contact)
{
  for (size_t i = v->diag_adr[contact]; i < v->diag_adr[contact + 1]; i++)
    if (C[i] != 0) return false;
  return true;
}

static void multiply_parts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sum* s = user;
  tbVelocity* v = s->v;
  for (int k = begin; k < end; k++) {
    int rows = tb_rows(v->p, k);
    const double* C = s->C + v->diag_adr[k];
    v->pushes[k] = !is_zero(v, s->C, k);
    if (!v->pushes[k]) continue;
    for (int a = v->part_ptr[k]; a < v->part_ptr[k + 1]; a++) {
      const tbVelocityPart* x = &v->part[a];
      const double* J = v->p->jac + x->jac;
      if (rows == 3 && x->width == 6 && x->stride == 6) multiply_part(3, 6, 6, C, J, v->CJ + x->CJ);
      else if (rows == 3 && x->width == 3 && x->stride == 3) multiply_part(3, 3, 3, C, J, v->CJ + x->CJ);
      else multiply_part(rows, x->width, x->stride, C, J, v->CJ + x->CJ);
    }
  }
}

// M += Jᵀ CJ, M with rows `lead` apart.
static void add_term(int rows, int height, int stride, const double* J, int width, const double* CJ,
                     double* M, int lead)
{
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += J[r * stride + i] * CJ[r * width + j];
      M[i * lead + j] += sum;
    }
}

// The same for three rows, a row of M at a time: wide blocks of reduced bodies.
static void add_three(int height, int stride, const double* restrict J, int width, const double* restrict CJ,
                      double* restrict M, int lead)
{
  const double *b = CJ + width, *c = b + width;
  for (int i = 0; i < height; i++, M += lead) {
    double x = J[i], y = J[stride + i], z = J[2 * stride + i];
    for (int j = 0; j < width; j++) M[j] += x * CJ[j] + y * b[j] + z * c[j];
  }
}

// The same for three rows and square blocks without gaps, a row of M at a time.
static inline __attribute__((always_inline)) void add_square(int size, const double* J, const double* CJ,
                                                             double* M)
{
  for (int i = 0; i < size; i++) {
    double sum[6];
    for (int j = 0; j < size; j++) sum[j] = J[i] * CJ[j];
    for (int j = 0; j < size; j++) sum[j] += J[size + i] * CJ[size + j];
    for (int j = 0; j < size; j++) M[i * size + j] += sum[j] + J[2 * size + i] * CJ[2 * size + j];
  }
}

static void sum_entries(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sum* s = user;
  tbVelocity* v = s->v;
  const tbProblem* p = v->p;
  for (int e = begin; e < end; e++) {
    int cols = v->first[v->col[e] + 1] - v->first[v->col[e]];
    double* M = v->val + v->val_adr[e];
    memcpy(M, v->A + v->val_adr[e], (v->val_adr[e + 1] - v->val_adr[e]) * sizeof *M);
    v->live[e] = v->metric[e];
    for (int t = v->term_ptr[e]; t < v->term_ptr[e + 1]; t++) {
      const tbVelocityPart *a = &v->part[v->term[t].a], *b = &v->part[v->term[t].b];
      int rows = tb_rows(p, a->contact);
      if (!v->pushes[a->contact]) continue;
      const double *J = p->jac + a->jac, *CJ = v->CJ + b->CJ;
      double* to = M + a->at * cols + b->at;
      bool three = rows == 3 && a->stride == a->width && a->width == b->width;
      if (three && a->width == 6 && cols == 6) add_square(6, J, CJ, to);
      else if (three && a->width == 3 && cols == 3) add_square(3, J, CJ, to);
      else if (rows == 3) add_three(a->width, a->stride, J, b->width, CJ, to, cols);
      else add_term(rows, a->width, a->stride, J, b->width, CJ, to, cols);
      v->live[e] = 1;
    }
  }
}

// Analyses the live entries; without a narrow factor where that takes more memory than the whole.
static void narrow(tbVelocity* v)
{
  int used = 0;
  for (int i = 0, e = 0; i < v->nodes; i++) {
    for (; e < v->ptr[i + 1]; e++)
      if ((v->analysed[e] = v->live[e])) v->lu_col[used] = v->col[e], v->lu_adr[used++] = v->val_adr[e];
    v->lu_ptr[i + 1] = used;
  }
  v->live_count = used;
  tb_slab_reset(&v->slab);
  v->narrow = NULL;
  tb_lu_analyze(&v->slab_ctx, v->nodes, v->first, v->lu_ptr, v->lu_col, 0, &v->narrow);
}

static void follow_contacts(tbVelocity* v)
{
  bool fits = v->narrow;
  int count = 0;
  if (!v->slab.base) return;
  for (int e = 0; e < v->entries; e++) {
    count += v->live[e];
    fits = fits && (v->analysed[e] || !v->live[e]);
  }
  if (count >= FAR_FEWER * v->entries) v->narrow = NULL;
  else if (!fits || count < FAR_FEWER * v->live_count) narrow(v);
}

void tb_velocity_factor(tbVelocity* v, tbThreads* threads, const double* C)
{
  Sum s = {v, C};
  tb_parallel_for(threads, v->p->ncontact, CONTACTS_PER_PIECE, multiply_parts, &s);
  tb_parallel_for(threads, v->entries, ENTRIES_PER_PIECE, sum_entries, &s);
  follow_contacts(v);
  // Pivots are no smaller than the eigenvalues of A, however stiff contacts are beside it: none is replaced.
  if (v->narrow) tb_lu_factor(v->narrow, threads, v->lu_adr, v->val, NULL, TINY);
  else tb_lu_factor(v->full, threads, v->val_adr, v->val, NULL, TINY);
}

void tb_velocity_solve(tbVelocity* v, double* x) { tb_lu_solve(v->narrow ? v->narrow : v->full, x); }

// ---- products with J ----

void tb_velocity_contacts(const tbVelocity* v, const double* x, double* u)
{
  const tbProblem* p = v->p;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    double sum[TB_MAX_ROWS] = {0};
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *y = x + p->jac_dof[c];
      if (rows == 3)
        for (int j = 0; j < width; j++)
          for (int i = 0; i < 3; i++) sum[i] += J[i * width + j] * y[j];
      else
        for (int i = 0; i < rows; i++, J += width)
          for (int j = 0; j < width; j++) sum[i] += J[j] * y[j];
    }
    memcpy(u + p->row_adr[k], sum, (size_t)rows * sizeof *sum);
  }
}

void tb_velocity_gather(const tbVelocity* v, const double* lambda, double* x)
{
  const tbProblem* p = v->p;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *y = lambda + p->row_adr[k];
      double* to = x + p->jac_dof[c];
      for (int i = 0; i < tb_rows(p, k); i++, J += width)
        for (int j = 0; j < width; j++) to[j] += J[j] * y[i];
    }
}

double tb_velocity_defect(const tbVelocity* v, const double* lambda, const double* x, double* r,
                          double* momentum)
{
  double left = 0, all = 0;
  memset(r, 0, (size_t)v->p->ndof * sizeof *r);
  tb_velocity_gather(v, lambda, r);
  for (int i = 0; i < v->nodes; i++) {
    int rows = v->first[i + 1] - v->first[i];
    const double* diagonal = v->A + v->val_adr[v->ptr[i]]; // a node's first entry is its own
    double* y = r + v->first[i];
    for (int a = 0; a < rows; a++) all += y[a] * y[a] / diagonal[a * (rows + 1)];
    for (int e = v->ptr[i]; e < v->ptr[i + 1]; e++) {
      if (!v->metric[e]) continue;
      int cols = v->first[v->col[e] + 1] - v->first[v->col[e]];
      const double *A = v->A + v->val_adr[e], *z = x + v->first[v->col[e]];
      for (int a = 0; a < rows; a++)
        for (int b = 0; b < cols; b++) y[a] -= A[a * cols + b] * z[b];
    }
    for (int a = 0; a < rows; a++) left += y[a] * y[a] / diagonal[a * (rows + 1)];
  }
  *momentum = all;
  return left;
}
