// SPDX-License-Identifier: Apache-2.0
#include "problem/blocks.h"

#include "base/threads.h"

enum { LARGE = 12000, PIECE = 1500 }; // degrees of freedom of a large block; of a piece of small ones

size_t tb_blocks_room(const tbProblem* p)
{
  size_t sum = 0;
  for (int b = 0; b < p->nblock; b++) sum += tb_metric_workspace(&p->block[b]);
  return sum;
}

void tb_blocks_begin(tbBlocks* s)
{
  size_t at = 0;
  for (int b = 0; b < s->problem->nblock; b++) {
    s->room_adr[b] = at;
    at += tb_metric_workspace(&s->problem->block[b]);
  }
}

typedef struct {
  const tbBlocks* s;
  tbBlockFn* body;
  void* user;
} Job;

static bool is_large(const tbProblem* p, int b)
{
  return p->block[b].kind == TB_METRIC_SPARSE && p->block[b].size > LARGE;
}

static void small_ones(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int b = begin; b < end; b++)
    if (!is_large(job->s->problem, b)) job->body(job->user, b, NULL, job->s->room + job->s->room_adr[b]);
}

void tb_blocks_each(const tbBlocks* s, tbThreads* threads, tbBlockFn* body, void* user)
{
  const tbProblem* p = s->problem;
  if (p->nblock == 0) return;
  int grain = PIECE / (p->ndof / p->nblock + 1) + 1;
  tb_parallel_for(threads, p->nblock, grain, small_ones, &(Job){s, body, user});
  for (int b = 0; b < p->nblock; b++)
    if (is_large(p, b)) body(user, b, threads, s->room + s->room_adr[b]);
}
