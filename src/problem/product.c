// SPDX-License-Identifier: Apache-2.0
#include "problem/product.h"

#include "base/threads.h"

#include <string.h>

enum { SMALL_BLOCKS = 256 }; // in a run

static int pieces_of(const tbMetricBlock* b)
{
  return b->packed ? b->packed->pattern->pieces : tb_piece_count(b->size, TB_METRIC_PIECE);
}

// Counts the items; fills those of the first or the second kind, from `at` on, unless the list is null.
static int list(const tbProblem* p, bool shared, int at, tbProductItem* item)
{
  for (int i = 0; i < p->nblock; i++) {
    const tbMetricBlock* b = &p->block[i];
    if (b->kind != TB_METRIC_SPARSE) {
      int end = i + 1;
      while (end < p->nblock && end - i < SMALL_BLOCKS && p->block[end].kind != TB_METRIC_SPARSE) end++;
      if (!shared) {
        if (item) item[at] = (tbProductItem){i, -1, end};
        at++;
      }
      i = end - 1;
      continue;
    }
    int pieces = pieces_of(b);
    if (shared != (b->packed && pieces > 1)) continue;
    for (int k = 0; k < pieces; k++, at++)
      if (item && b->packed) item[at] = (tbProductItem){i, k, 0};
      else if (item)
        item[at] =
            (tbProductItem){i, k * TB_METRIC_PIECE, k + 1 < pieces ? (k + 1) * TB_METRIC_PIECE : b->size};
  }
  return at;
}

void tb_product_layout(tbProduct* s, tbScratch* scratch, const tbProblem* p)
{
  size_t room = 0;
  for (int i = 0; i < p->nblock; i++)
    if (p->block[i].packed) room += tb_packed_room(p->block[i].packed->pattern);
  s->problem = p;
  s->shared = list(p, true, 0, NULL);
  s->count = list(p, false, s->shared, NULL);
  s->item = TB_SCRATCH(scratch, tbProductItem, (size_t)s->count);
  s->room_adr = TB_SCRATCH(scratch, size_t, (size_t)p->nblock);
  s->room = TB_SCRATCH(scratch, double, room);
}

void tb_product_begin(tbProduct* s)
{
  const tbProblem* p = s->problem;
  list(p, false, list(p, true, 0, s->item), s->item);
  size_t at = 0;
  for (int i = 0; i < p->nblock; i++) {
    s->room_adr[i] = at;
    if (p->block[i].packed) at += tb_packed_room(p->block[i].packed->pattern);
  }
}

typedef struct {
  const tbProduct* s;
  bool rough;
  const double* x;
  double* y;
} Job;

static void first(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbProduct* s = job->s;
  for (int n = begin; n < end; n++) {
    const tbProductItem* item = &s->item[n];
    const tbMetricBlock* b = &s->problem->block[item->block];
    double* room = s->room + s->room_adr[item->block];
    if (item->piece < 0) {
      for (const tbMetricBlock* last = &s->problem->block[item->end]; b < last; b++) {
        memset(job->y + b->dof, 0, (size_t)b->size * sizeof *job->y);
        tb_metric_multiply_add(b, job->x + b->dof, job->y + b->dof);
      }
    } else if (b->packed) {
      tb_packed_spread(b->packed, job->rough, item->piece, job->x + b->dof, room);
      if (n >= s->shared) tb_packed_collect(b->packed, item->piece, room, job->y + b->dof);
    } else {
      tb_metric_rows(b, item->piece, item->end, job->x + b->dof, job->y + b->dof);
    }
  }
}

static void second(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int n = begin; n < end; n++) {
    const tbProductItem* item = &job->s->item[n];
    const tbMetricBlock* b = &job->s->problem->block[item->block];
    tb_packed_collect(b->packed, item->piece, job->s->room + job->s->room_adr[item->block], job->y + b->dof);
  }
}

void tb_product_multiply(const tbProduct* s, tbThreads* threads, bool rough, const double* x, double* y)
{
  Job job = {s, rough, x, y};
  tb_parallel_for(threads, s->count, 1, first, &job);
  tb_parallel_for(threads, s->shared, 1, second, &job);
}
