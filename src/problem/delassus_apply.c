// SPDX-License-Identifier: Apache-2.0
// y = W x, by whichever form is built: blocks first, then dense, then matrix-free.
//
// Every output row is owned by one piece of the work and summed in one order, so threads do not show.
#include "base/threads.h"
#include "problem/delassus.h"
#include "problem/metric.h"

#include <string.h>

typedef struct {
  const tbDelassus* W;
  tbThreads* threads;
  const double* x;
  double* y;
  double* w; // matrix-free: A⁻¹ Jᵀ x (ndof), then room for the sparse solves
} Product;

enum { CONTACTS_PER_PIECE = 256, BLOCKS_PER_PIECE = 256, ROWS_PER_PIECE = 64 };

static void by_blocks(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* s = user;
  const tbDelassus* W = s->W;
  const int* row = W->problem->row_adr;
  for (int k = begin; k < end; k++) {
    int rows = row[k + 1] - row[k];
    double y[TB_MAX_ROWS] = {0};
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int cols = row[W->col[e] + 1] - row[W->col[e]];
      const double *V = W->val + W->val_adr[e], *x = s->x + row[W->col[e]];
      if (rows == 3 && cols == 3) {
        y[0] += V[0] * x[0] + V[1] * x[1] + V[2] * x[2];
        y[1] += V[3] * x[0] + V[4] * x[1] + V[5] * x[2];
        y[2] += V[6] * x[0] + V[7] * x[1] + V[8] * x[2];
        continue;
      }
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) y[i] += V[i * cols + j] * x[j];
    }
    memcpy(s->y + row[k], y, (size_t)rows * sizeof *y);
  }
}

static void given_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* s = user;
  const tbProblem* p = s->W->problem;
  for (int i = begin; i < end; i++) {
    double sum = p->compliance[i] * s->x[i];
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) sum += p->W_val[e] * s->x[p->W_col[e]];
    s->y[i] = sum;
  }
}

// w = A⁻¹ Jᵀ x, gathered by metric block.
static void block_velocity(const Product* s, int b)
{
  const tbProblem* p = s->W->problem;
  const tbIncidence* in = &s->W->owner->incidence;
  const tbMetricBlock* block = &p->block[b];
  memset(s->w + block->dof, 0, (size_t)block->size * sizeof *s->w);
  for (int e = in->ptr[b]; e < in->ptr[b + 1]; e++) {
    int c = in->col[e], k = in->contact[e], width = p->jac_width[c];
    const double *J = p->jac + p->jac_val_adr[c], *x = s->x + p->row_adr[k];
    double* w = s->w + p->jac_dof[c];
    for (int i = 0; i < tb_contact_rows(p, k); i++)
      for (int j = 0; j < width; j++) w[j] += J[i * width + j] * x[i];
  }
  bool lumped = block->kind == TB_METRIC_SPARSE && s->W->lumped;
  for (int i = block->dof; lumped && i < block->dof + block->size; i++) s->w[i] /= s->W->lumped[i];
  if (!lumped)
    tb_metric_solve_unless(s->W->owner->interrupt, block, s->threads, s->w + block->dof, s->w + p->ndof);
}

static void small_blocks(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* s = user;
  for (int b = begin; b < end; b++)
    if (s->W->problem->block[b].kind != TB_METRIC_SPARSE) block_velocity(s, b);
}

static void contact_velocity(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* s = user;
  const tbProblem* p = s->W->problem;
  for (int k = begin; k < end; k++) {
    int first = p->row_adr[k], rows = tb_contact_rows(p, k);
    double y[TB_MAX_ROWS];
    for (int i = 0; i < rows; i++) y[i] = p->compliance[first + i] * s->x[first + i];
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *w = s->w + p->jac_dof[c];
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++) y[i] += J[i * width + j] * w[j];
    }
    memcpy(s->y + first, y, (size_t)rows * sizeof *y);
  }
}

size_t tb_delassus_workspace(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  if (p->W_ptr || (W->forms & TB_FORM_BLOCKS)) return 0;
  size_t room = 0;
  for (int b = 0; b < p->nblock; b++) {
    size_t need = tb_metric_workspace(&p->block[b]);
    if (need > room) room = need;
  }
  return (size_t)p->ndof + room;
}

void tb_delassus_apply(const tbDelassus* W, tbThreads* threads, const double* x, double* y, double* workspace)
{
  const tbProblem* p = W->problem;
  Product s = {W, threads, x, y, workspace};
  if (W->forms & TB_FORM_BLOCKS) {
    tb_parallel_for(threads, p->ncontact, CONTACTS_PER_PIECE, by_blocks, &s);
  } else if (p->W_ptr) {
    tb_parallel_for(threads, p->nrow, ROWS_PER_PIECE, given_rows, &s);
  } else {
    tb_parallel_for(threads, p->nblock, BLOCKS_PER_PIECE, small_blocks, &s);
    for (int b = 0; b < p->nblock; b++)
      if (p->block[b].kind == TB_METRIC_SPARSE) block_velocity(&s, b);
    tb_parallel_for(threads, p->ncontact, CONTACTS_PER_PIECE, contact_velocity, &s);
  }
}
