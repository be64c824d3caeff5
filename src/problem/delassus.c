// SPDX-License-Identifier: Apache-2.0
// Assembling the Delassus operator  W = J A⁻¹ Jᵀ + R.
//
// Particles and dense blocks: A⁻¹Jᵀ is computed once per column block and has J's shape; W_kl is then a sum
// of small products over the metric blocks that k and l share. Sparse blocks go through their factor
// (delassus_sparse.c), or a diagonal stands for them (delassus_lumped.c). Only blocks l ≥ k are computed; the
// others are mirrored, so a derived W is symmetric to the bit.
#include "problem/delassus.h"
#include "base/stop.h"
#include "base/threads.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

// C (m×n) += A (m×p) Bᵀ (n×p)
static void add_product(int m, int n, int p, const double* A, const double* B, double* C, int stride)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < p; k++) sum += A[i * p + k] * B[j * p + k];
      C[i * stride + j] += sum;
    }
}

static void compute_ainv_jac(const tbProblem* p, const double* lumped, double* Y)
{
  memcpy(Y, p->jac, p->jac_val_adr[p->ncol] * sizeof *Y);
  for (int c = 0; c < p->ncol; c++) {
    const tbMetricBlock* b = &p->block[p->dof_block[p->jac_dof[c]]];
    int rows = (int)((p->jac_val_adr[c + 1] - p->jac_val_adr[c]) / (size_t)p->jac_width[c]);
    double* y = Y + p->jac_val_adr[c];
    if (b->kind != TB_METRIC_SPARSE) tb_metric_solve_rows(b, rows, y);
    for (int i = 0; b->kind == TB_METRIC_SPARSE && lumped && i < rows * p->jac_width[c]; i++)
      y[i] /= lumped[p->jac_dof[c] + i % p->jac_width[c]];
  }
}

static int find_block(const tbDelassus* W, int k, int l)
{
  int lo = W->ptr[k], hi = W->ptr[k + 1] - 1;
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (W->col[mid] < l) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

double* tb_delassus_block(const tbDelassus* W, int k, int l)
{
  return (double*)W->val + W->val_adr[find_block(W, k, l)];
}

// Upper blocks of contact k over the particles and dense blocks it touches.
static void assemble_small(const tbDelassusOwner* o, int k)
{
  const tbDelassus* W = &o->W;
  const tbProblem* p = W->problem;
  int rows = tb_contact_rows(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int b = p->dof_block[p->jac_dof[c]];
    if (p->block[b].kind == TB_METRIC_SPARSE) continue;
    for (int e = o->incidence.ptr[b]; e < o->incidence.ptr[b + 1]; e++) {
      int l = o->incidence.contact[e], d = o->incidence.col[e];
      if (l < k) continue;
      int cols = tb_contact_rows(p, l);
      add_product(rows, cols, p->jac_width[c], p->jac + p->jac_val_adr[c], o->ainv_jac + p->jac_val_adr[d],
                  tb_delassus_block(W, k, l), cols);
    }
  }
}

static bool by_factor(const tbDelassusOwner* o, int b)
{
  return o->W.problem->block[b].kind == TB_METRIC_SPARSE && !o->W.lumped;
}

static void assemble_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbDelassusOwner* o = user;
  if (tb_asked(o->interrupt)) return;
  for (int k = begin; k < end; k++) (o->touching.ptr ? tb_delassus_blocks_lumped : assemble_small)(o, k);
}

// Blocks of a given W: a plain copy into place, unsymmetric as it may be.
static void copy_given_row(const tbDelassusOwner* o, int k)
{
  const tbDelassus* W = &o->W;
  const int* row_contact = o->row_contact;
  const tbProblem* p = W->problem;
  for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
    for (int e = p->W_ptr[i], at = W->ptr[k]; e < p->W_ptr[i + 1]; e++) {
      int l = row_contact[p->W_col[e]];
      while (W->col[at] < l) at++;
      double* C = (double*)W->val + W->val_adr[at];
      C[(i - p->row_adr[k]) * tb_contact_rows(p, l) + p->W_col[e] - p->row_adr[l]] = p->W_val[e];
    }
}

static void mirror(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int l = W->col[e], rows = tb_contact_rows(p, k), cols = tb_contact_rows(p, l);
      if (l < k) continue;
      double *upper = (double*)W->val + W->val_adr[e], *lower = tb_delassus_block(W, l, k);
      for (int i = 0; i < rows; i++)
        for (int j = l == k ? i + 1 : 0; j < cols; j++) lower[j * rows + i] = upper[i * cols + j];
    }
}

static void add_compliance(const tbProblem* p, int k, double* diagonal)
{
  int rows = tb_contact_rows(p, k);
  for (int i = 0; i < rows; i++) diagonal[i * rows + i] += p->compliance[p->row_adr[k] + i];
}

static tbStatus fill_blocks(tbContext* ctx, tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  if (p->W_ptr) {
    for (int k = 0; k < p->ncontact; k++) copy_given_row(o, k);
  } else {
    tb_parallel_for(ctx->threads, p->ncontact, 64, assemble_rows, o);
    TB_TRY(tb_check_interrupt(ctx));
    for (int b = 0; b < p->nblock; b++)
      if (by_factor(o, b)) TB_TRY(tb_delassus_by_factor(ctx, o, b, NULL));
    mirror(&o->W);
  }
  for (int k = 0; k < p->ncontact; k++) add_compliance(p, k, tb_delassus_block(&o->W, k, k));
  return TB_OK;
}

// Diagonal blocks alone, when the rest of W is not assembled.
static tbStatus diagonal_only(tbContext* ctx, tbDelassusOwner* o, double* diag)
{
  const tbProblem* p = o->W.problem;
  for (int k = 0; k < p->ncontact; k++) {
    double* D = diag + o->W.diag_adr[k];
    int rows = tb_contact_rows(p, k), first = p->row_adr[k];
    for (int i = 0; p->W_ptr && i < rows; i++)
      for (int e = p->W_ptr[first + i]; e < p->W_ptr[first + i + 1]; e++) {
        int j = p->W_col[e] - first;
        if (j >= 0 && j < rows) D[i * rows + j] = p->W_val[e];
      }
    if (o->touching.ptr) tb_delassus_diagonal_lumped(o, k, D);
    for (int c = p->jac_adr[k]; !o->touching.ptr && c < p->jac_adr[k + 1]; c++)
      if (p->block[p->dof_block[p->jac_dof[c]]].kind != TB_METRIC_SPARSE)
        add_product(rows, rows, p->jac_width[c], p->jac + p->jac_val_adr[c], o->ainv_jac + p->jac_val_adr[c],
                    D, rows);
  }
  for (int b = 0; b < p->nblock; b++)
    if (by_factor(o, b)) TB_TRY(tb_delassus_by_factor(ctx, o, b, diag));
  for (int k = 0; k < p->ncontact; k++) {
    double* D = diag + o->W.diag_adr[k];
    int rows = tb_contact_rows(p, k);
    if (!p->W_ptr)
      for (int i = 0; i < rows; i++)
        for (int j = i + 1; j < rows; j++) D[j * rows + i] = D[i * rows + j];
    add_compliance(p, k, D);
  }
  return TB_OK;
}

static tbStatus fill_diagonal(tbContext* ctx, tbDelassusOwner* o)
{
  const size_t* adr = o->W.diag_adr;
  double* diag = (double*)o->W.diag;
  if (!(o->W.forms & TB_FORM_BLOCKS)) return diagonal_only(ctx, o, diag);
  for (int k = 0; k < o->W.problem->ncontact; k++)
    memcpy(diag + adr[k], tb_delassus_block(&o->W, k, k), (adr[k + 1] - adr[k]) * sizeof *diag);
  return TB_OK;
}

// Spread from the blocks, which are filled first.
static void fill_dense(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  size_t n = (size_t)p->nrow;
  double* dense = (double*)W->dense;
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int l = W->col[e], rows = tb_contact_rows(p, k), cols = tb_contact_rows(p, l);
      for (int i = 0; i < rows; i++)
        memcpy(dense + (size_t)(p->row_adr[k] + i) * n + p->row_adr[l], W->val + W->val_adr[e] + i * cols,
               (size_t)cols * sizeof *dense);
    }
}

static bool given_is_symmetric(const tbProblem* p)
{
  double largest = 0;
  for (int e = 0; e < p->W_ptr[p->nrow]; e++) largest = fmax(largest, fabs(p->W_val[e]));
  for (int i = 0; i < p->nrow; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) {
      int j = p->W_col[e], lo = p->W_ptr[j], hi = p->W_ptr[j + 1];
      while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (p->W_col[mid] < i) lo = mid + 1;
        else hi = mid;
      }
      double other = lo < p->W_ptr[j + 1] && p->W_col[lo] == i ? p->W_val[lo] : 0;
      if (fabs(p->W_val[e] - other) > 1e-12 * largest) return false;
    }
  return true;
}

// q = J v_free + b
static void fill_q(const tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  double* q = (double*)o->W.q;
  memcpy(q, p->bias, (size_t)p->nrow * sizeof *q);
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0, width = p->jac_width[c]; i < tb_contact_rows(p, k); i++)
        for (int j = 0; j < width; j++)
          q[p->row_adr[k] + i] +=
              p->jac[p->jac_val_adr[c] + (size_t)(i * width + j)] * p->v_free[p->jac_dof[c] + j];
}

// What a sweep over the contacts reads: through the bodies two products with J, by blocks a row of W for each
// contact. The first needs A⁻¹Jᵀ, which only small metric blocks keep sparse; the second as much memory as
// there are neighbours, so it is chosen where they are few.
static unsigned resolve_sweep(const tbDelassusOwner* o, unsigned forms)
{
  const tbProblem* p = o->W.problem;
  if (!(forms & TB_FORM_SWEEP)) return forms;
  bool small = !p->W_ptr;
  double blocks = 0, rows = p->ncontact ? (double)p->nrow / p->ncontact : 0;
  for (int b = 0; b < p->nblock; b++) {
    double touching = o->incidence.ptr[b + 1] - o->incidence.ptr[b];
    small = small && !by_factor(o, b);
    blocks += rows * rows * touching * touching;
  }
  bool bodies = small && blocks > 2 * (double)p->jac_val_adr[p->ncol];
  return (forms & ~(unsigned)TB_FORM_SWEEP) | (bodies ? TB_FORM_FREE : TB_FORM_BLOCKS);
}

static tbStatus lay_out_diagonal(tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  size_t* adr = TB_TAKE(&o->arena, size_t, (size_t)p->ncontact + 1);
  if (!adr) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    adr[k + 1] = adr[k] + (size_t)(tb_contact_rows(p, k) * tb_contact_rows(p, k));
  o->W.diag_adr = adr;
  o->W.diag = TB_TAKE(&o->arena, double, adr[p->ncontact]);
  return o->W.diag ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus lay_out_dense(tbContext* ctx, tbDelassusOwner* o)
{
  size_t n = (size_t)o->W.problem->nrow;
  if (n > 46340) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a dense W of %zu rows is too large", n);
  o->W.dense = TB_TAKE(&o->arena, double, n* n);
  o->W.forms |= TB_FORM_DENSE;
  return o->W.dense ? TB_OK : TB_ERROR_MEMORY;
}

// Everything but the values: what the pattern of the problem decides.
static tbStatus lay_out(tbContext* ctx, tbDelassusOwner* o, unsigned forms)
{
  const tbProblem* p = o->W.problem;
  if (!(o->W.q = TB_TAKE(&o->arena, double, (size_t)p->nrow))) return TB_ERROR_MEMORY;
  if (p->W_ptr) {
    if (!(o->row_contact = tb_row_contacts(&o->arena, p))) return TB_ERROR_MEMORY;
  } else {
    if (o->W.inverse != TB_INVERSE_EXACT) TB_TRY(tb_delassus_lump(o));
    if (!(o->ainv_jac = TB_TAKE(&o->arena, double, p->jac_val_adr[p->ncol]))) return TB_ERROR_MEMORY;
    TB_TRY(tb_incidence_build(&o->arena, p, &o->incidence));
  }
  forms = resolve_sweep(o, forms);
  if (forms & (TB_FORM_BLOCKS | TB_FORM_DENSE)) {
    TB_TRY(tb_delassus_pattern(ctx, o));
    o->W.forms |= TB_FORM_BLOCKS;
  }
  TB_TRY(lay_out_diagonal(o));
  if (forms & TB_FORM_DENSE) TB_TRY(lay_out_dense(ctx, o));
  o->W.forms |= forms & TB_FORM_FREE;
  o->W.ainv_jac = o->ainv_jac;
  for (int b = 0; b < p->nblock; b++)
    if (by_factor(o, b)) o->W.ainv_jac = NULL; // its columns are only partly there
  return TB_OK;
}

// The values, in arrays of zeros.
static tbStatus fill(tbContext* ctx, tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  fill_q(o);
  o->W.symmetric = !p->W_ptr || given_is_symmetric(p);
  if (!p->W_ptr) compute_ainv_jac(p, o->W.lumped, o->ainv_jac);
  if (o->W.forms & TB_FORM_BLOCKS) TB_TRY(fill_blocks(ctx, o));
  TB_TRY(fill_diagonal(ctx, o));
  if (o->W.forms & TB_FORM_DENSE) fill_dense(&o->W);
  return TB_OK;
}

tbStatus tb_delassus_renew(tbContext* ctx, tbDelassus* W, bool sides)
{
  tbDelassusOwner* o = W->owner;
  o->interrupt = ctx->interrupt;
  if (sides) {
    fill_q(o);
    return TB_OK;
  }
  int n = W->problem->ncontact;
  memset((double*)W->diag, 0, W->diag_adr[n] * sizeof *W->diag);
  if (W->forms & TB_FORM_BLOCKS) memset((double*)W->val, 0, W->val_adr[W->ptr[n]] * sizeof *W->val);
  if (W->lumped) tb_delassus_lump_values(o, ctx->threads);
  return fill(ctx, o);
}

tbStatus tb_delassus_bytes(tbContext* ctx, const tbProblem* p, double* out)
{
  double entries = p->W_ptr ? p->W_ptr[p->nrow] : 0, *rows = TB_NEW(ctx, double, (size_t)p->nblock);
  if (!rows) return TB_ERROR_MEMORY;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      if (c == p->jac_adr[k] || p->dof_block[p->jac_dof[c]] != p->dof_block[p->jac_dof[c - 1]])
        rows[p->dof_block[p->jac_dof[c]]] += tb_contact_rows(p, k);
  for (int b = 0; b < p->nblock; b++) entries += rows[b] * rows[b];
  *out = sizeof(double) * entries;
  tb_free(ctx, rows);
  return TB_OK;
}

tbStatus tb_delassus_create(tbContext* ctx, const tbProblem* problem, unsigned forms, tbDelassus** out)
{
  return tb_delassus_create_with(ctx, problem, forms, TB_INVERSE_EXACT, out);
}

tbStatus tb_delassus_create_with(tbContext* ctx, const tbProblem* problem, unsigned forms, tbInverse inverse,
                                 tbDelassus** out)
{
  *out = NULL;
  tbDelassusOwner* o = TB_NEW(ctx, tbDelassusOwner, 1);
  if (!o) return TB_ERROR_MEMORY;
  o->W.problem = problem;
  o->W.inverse = inverse;
  o->W.owner = o;
  o->interrupt = ctx->interrupt;
  tb_arena_init(&o->arena, ctx);
  tbStatus status = lay_out(ctx, o, forms);
  if (status == TB_OK) status = fill(ctx, o);
  if (status == TB_OK) *out = &o->W;
  else tb_delassus_free(ctx, &o->W);
  return status;
}

void tb_delassus_free(tbContext* ctx, tbDelassus* W)
{
  if (!W) return;
  tbDelassusOwner* o = W->owner;
  o->arena.ctx = ctx;
  tb_arena_free(&o->arena);
  tb_free(ctx, o);
}
