// SPDX-License-Identifier: Apache-2.0
// Which blocks of W there are: pairs of contacts that share a metric block, or degrees of freedom where a
// diagonal stands for it, or an entry of a given W.
#include "base/sort.h"
#include "base/stop.h"
#include "problem/delassus.h"

#include <limits.h>
#include <string.h>

enum { ASK_EVERY = 64 }; // contacts, whether to go on

static int compare_ints(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

typedef struct {
  const tbProblem* p;
  const tbIncidence* incidence;
  const tbTouching* touching;
  const int* row_contact; // when W is given
  int* mark;              // contact → last contact that listed it
  int* list;              // neighbours of the contact at hand
} Pattern;

static int add_neighbour(Pattern* s, int k, int l, int count)
{
  if (s->mark[l] == k + 1) return count;
  s->mark[l] = k + 1;
  s->list[count] = l;
  return count + 1;
}

// Neighbours of k, itself included, sorted.
static int neighbours(Pattern* s, int k)
{
  const tbProblem* p = s->p;
  int count = add_neighbour(s, k, k, 0);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int b = p->dof_block[p->jac_dof[c]], first = p->jac_dof[c];
    const tbTouching* t = s->touching;
    for (int e = t->ptr ? t->ptr[first] : 0; t->ptr && e < t->ptr[first + p->jac_width[c]]; e++)
      count = add_neighbour(s, k, t->contact[e], count);
    for (int e = s->incidence->ptr[b]; !t->ptr && e < s->incidence->ptr[b + 1]; e++)
      count = add_neighbour(s, k, s->incidence->contact[e], count);
  }
  for (int i = p->row_adr[k]; p->W_ptr && i < p->row_adr[k + 1]; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++)
      count = add_neighbour(s, k, s->row_contact[p->W_col[e]], count);
  tb_sort(s->list, (size_t)count, sizeof(int), compare_ints);
  return count;
}

tbStatus tb_delassus_pattern(tbContext* ctx, tbDelassusOwner* o)
{
  const tbProblem* p = o->W.problem;
  size_t n = (size_t)p->ncontact;
  int* ptr = TB_TAKE(&o->arena, int, n + 1);
  Pattern s = {p,
               &o->incidence,
               &o->touching,
               p->W_ptr ? tb_row_contacts(&o->arena, p) : NULL,
               TB_TAKE(&o->arena, int, n),
               TB_TAKE(&o->arena, int, n)};
  if (!ptr || !s.mark || !s.list || (p->W_ptr && !s.row_contact)) return TB_ERROR_MEMORY;
  size_t total = 0;
  for (int k = 0; k < p->ncontact; k++) {
    if (k % ASK_EVERY == 0) TB_TRY(tb_check_interrupt(ctx));
    total += (size_t)neighbours(&s, k);
    if (total > INT_MAX)
      return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "W has more than %d blocks; use a matrix-free solver",
                     INT_MAX);
    ptr[k + 1] = (int)total;
  }
  int* col = TB_TAKE(&o->arena, int, total);
  size_t* val_adr = TB_TAKE(&o->arena, size_t, total + 1);
  if (!col || !val_adr) return TB_ERROR_MEMORY;
  memset(s.mark, 0, n * sizeof(int));
  for (int k = 0; k < p->ncontact; k++) {
    if (k % ASK_EVERY == 0) TB_TRY(tb_check_interrupt(ctx));
    int count = neighbours(&s, k);
    memcpy(col + ptr[k], s.list, (size_t)count * sizeof(int));
    for (int e = ptr[k]; e < ptr[k + 1]; e++)
      val_adr[e + 1] = val_adr[e] + (size_t)tb_contact_rows(p, k) * (size_t)tb_contact_rows(p, col[e]);
  }
  double* val = TB_TAKE(&o->arena, double, val_adr[total]);
  if (!val) return TB_ERROR_MEMORY;
  o->W.ptr = ptr, o->W.col = col, o->W.val_adr = val_adr, o->W.val = val;
  return TB_OK;
}
