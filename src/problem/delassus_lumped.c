// SPDX-License-Identifier: Apache-2.0
// The Delassus operator with a diagonal in place of sparse metric blocks (course §4.3).
//
//   W_M   row sums of A. In M + hB + h²K stiffness and damping have none: lumped masses remain, as if elastic
//         forces were explicit. Contacts feel each other through shared nodes alone.
//   W_D   the diagonal of A: what Jacobi's splitting solves with (ica.c) and what preconditions (cr.c).
//
// D⁻¹Jᵀ has J's shape, so W is as sparse as contacts that share degrees of freedom make it. What these
// matrices get wrong is for the judge to say: it knows A.
#include "problem/delassus.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { DOFS_PER_PIECE = 4096 };

static const char* const names[TB_INVERSE_COUNT] = {
    [TB_INVERSE_EXACT] = "exact",
    [TB_INVERSE_LUMPED] = "lumped",
    [TB_INVERSE_DIAGONAL] = "diagonal",
    [TB_INVERSE_JACOBI] = "jacobi",
};

const char* tb_form_name(tbForm form)
{
  return form == TB_FORM_DENSE    ? "dense"
         : form == TB_FORM_BLOCKS ? "blocks"
         : form == TB_FORM_SWEEP  ? "sweep"
                                  : "free";
}

const char* tb_inverse_name(tbInverse inverse)
{
  return (unsigned)inverse < TB_INVERSE_COUNT ? names[inverse] : "unknown";
}

bool tb_inverse_from_name(const char* name, tbInverse* out)
{
  for (int i = 0; i < TB_INVERSE_COUNT; i++)
    if (strcmp(name, names[i]) == 0) {
      *out = (tbInverse)i;
      return true;
    }
  return false;
}

// A row sum that is not positive, as no mass is, gives way to the diagonal.
static double row_diagonal(const tbMetricBlock* b, int i, tbInverse inverse)
{
  double diagonal = 0, sum = 0, moduli = 0;
  for (int e = b->ptr[i]; e < b->ptr[i + 1]; e++) {
    if (b->col[e] == i) diagonal = b->value[e];
    sum += b->value[e];
    moduli += fabs(b->value[e]);
  }
  if (inverse == TB_INVERSE_LUMPED) return sum > 1e-12 * diagonal ? sum : diagonal;
  return inverse == TB_INVERSE_JACOBI ? fmax(diagonal, 0.5 * moduli) : diagonal;
}

typedef struct {
  const tbProblem* p;
  tbInverse inverse;
  double* D;
} Job;

static void diagonals(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    const tbMetricBlock* b = &job->p->block[job->p->dof_block[i]];
    if (b->kind == TB_METRIC_SPARSE) job->D[i] = row_diagonal(b, i - b->dof, job->inverse);
  }
}

static tbStatus build_touching(tbArena* arena, const tbProblem* p, tbTouching* t)
{
  size_t total = 0;
  for (int c = 0; c < p->ncol; c++) total += (size_t)p->jac_width[c];
  int* ptr = TB_TAKE(arena, int, (size_t)p->ndof + 2);
  t->col = TB_TAKE(arena, int, total);
  t->contact = TB_TAKE(arena, int, total);
  if (!ptr || !t->col || !t->contact) return TB_ERROR_MEMORY;
  int* next = ptr + 1; // counts, then running ends
  for (int c = 0; c < p->ncol; c++)
    for (int i = 0; i < p->jac_width[c]; i++) next[p->jac_dof[c] + i + 1]++;
  for (int i = 0; i < p->ndof; i++) next[i + 1] += next[i];
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int i = 0; i < p->jac_width[c]; i++) {
        int at = next[p->jac_dof[c] + i]++;
        t->col[at] = c;
        t->contact[at] = k;
      }
  t->ptr = ptr;
  return TB_OK;
}

tbStatus tb_delassus_lump(tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  bool any = false;
  for (int b = 0; b < p->nblock; b++) any = any || p->block[b].kind == TB_METRIC_SPARSE;
  if (!any) return TB_OK;
  double* D = TB_TAKE(&o->arena, double, (size_t)p->ndof);
  if (!D) return TB_ERROR_MEMORY;
  o->W.lumped = D;
  tb_delassus_lump_values(o, o->arena.ctx->threads);
  return build_touching(&o->arena, p, &o->touching);
}

void tb_delassus_lump_values(tbDelassusOwner* o, tbThreads* threads)
{
  const tbProblem* p = o->W.problem;
  Job job = {p, o->W.inverse, (double*)o->W.lumped};
  tb_parallel_for(threads, p->ndof, DOFS_PER_PIECE, diagonals, &job);
}

// C (rows of c × rows of d) += J_c D⁻¹ J_dᵀ over the degrees of freedom that both column blocks span.
static void add_overlap(const tbDelassusOwner* o, int c, int rows, int d, int cols, double* C)
{
  const tbProblem* p = o->W.problem;
  int a = p->jac_dof[c], b = p->jac_dof[d], m = p->jac_width[c], n = p->jac_width[d];
  int first = a > b ? a : b, end = a + m < b + n ? a + m : b + n;
  const double *J = p->jac + p->jac_val_adr[c], *Y = o->W.ainv_jac + p->jac_val_adr[d];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      double sum = 0;
      for (int x = first; x < end; x++) sum += J[i * m + x - a] * Y[j * n + x - b];
      C[i * cols + j] += sum;
    }
}

void tb_delassus_blocks_lumped(const tbDelassusOwner* o, int k)
{
  const tbProblem* p = o->W.problem;
  const tbTouching* t = &o->touching;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    for (int x = p->jac_dof[c]; x < p->jac_dof[c] + p->jac_width[c]; x++)
      for (int e = t->ptr[x]; e < t->ptr[x + 1]; e++) {
        int l = t->contact[e], d = t->col[e];
        bool met_before = x > p->jac_dof[c] && x > p->jac_dof[d]; // at the first shared one
        if (l < k || met_before) continue;
        add_overlap(o, c, tb_contact_rows(p, k), d, tb_contact_rows(p, l), tb_delassus_block(&o->W, k, l));
      }
}

void tb_delassus_diagonal_lumped(const tbDelassusOwner* o, int k, double* D)
{
  const tbProblem* p = o->W.problem;
  int rows = tb_contact_rows(p, k);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    for (int d = p->jac_adr[k]; d < p->jac_adr[k + 1]; d++) add_overlap(o, c, rows, d, rows, D);
}
