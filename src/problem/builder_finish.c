// SPDX-License-Identifier: Apache-2.0
// From what a builder has gathered to a problem: one compact copy, one check of everything, metric blocks
// ready for use.
#include "problem/builder.h"

#include "problem/metric.h"
#include "problem/owner.h"

#include <string.h>

static const void* keep(tbArena* arena, const tbArray* a, size_t extra)
{
  char* copy = tb_arena_take_unset(arena, a->count + extra, a->item);
  size_t bytes = a->count * a->item;
  if (copy && a->count) memcpy(copy, a->data, bytes);
  if (copy) memset(copy + bytes, 0, extra * a->item);
  return copy;
}

static tbStatus gather(tbBuilder* b, tbProblemOwner* owner)
{
  tbArena* arena = &owner->arena;
  tbProblem* p = &owner->problem;
  p->owner = owner;
  p->ncontact = (int)b->law.count;
  p->nrow = (int)b->bias.count;
  p->ndof = (int)b->v_free.count;
  p->nblock = (int)b->block.count;
  p->ncol = (int)b->jac_dof.count;

  char* name = TB_TAKE(arena, char, sizeof b->name);
  int *row_adr = (int*)keep(arena, &b->row_adr, 1), *param_adr = (int*)keep(arena, &b->param_adr, 1);
  int* jac_adr = (int*)keep(arena, &b->jac_adr, 1);
  size_t* jac_val_adr = (size_t*)keep(arena, &b->jac_val_adr, 1);
  const double* number = keep(arena, &b->number, 0);
  const int* index = keep(arena, &b->index, 0);
  tbMetricBlock* block = TB_TAKE(arena, tbMetricBlock, b->block.count);
  bool* kept = TB_TAKE(arena, bool, b->block.count);
  int* dof_block = TB_TAKE(arena, int, b->v_free.count);
  p->law = keep(arena, &b->law, 0);
  p->param = keep(arena, &b->param, 0);
  p->bias = keep(arena, &b->bias, 0);
  p->compliance = keep(arena, &b->compliance, 0);
  p->v_free = keep(arena, &b->v_free, 0);
  p->jac_dof = keep(arena, &b->jac_dof, 0);
  p->jac_width = keep(arena, &b->jac_width, 0);
  p->jac = keep(arena, &b->jac, 0);
  if (!name || !row_adr || !param_adr || !jac_adr || !jac_val_adr || !number || !index || !block || !kept ||
      !dof_block || !p->law || !p->param || !p->bias || !p->compliance || !p->v_free || !p->jac_dof ||
      !p->jac_width || !p->jac)
    return TB_ERROR_MEMORY;

  memcpy(name, b->name, sizeof b->name);
  row_adr[p->ncontact] = p->nrow;
  param_adr[p->ncontact] = (int)b->param.count;
  jac_adr[p->ncontact] = p->ncol;
  jac_val_adr[p->ncol] = b->jac.count;
  p->name = name, p->row_adr = row_adr, p->param_adr = param_adr, p->jac_adr = jac_adr;
  p->jac_val_adr = jac_val_adr, p->block = block, p->dof_block = dof_block;
  owner->block = block, owner->kept = kept;

  for (int i = 0; i < p->nblock; i++) {
    const tbPendingBlock* from = (const tbPendingBlock*)b->block.data + i;
    block[i] = (tbMetricBlock){
        .kind = from->kind, .dof = from->dof, .size = from->size, .value = number + from->value};
    if (from->kind == TB_METRIC_SPARSE) block[i].ptr = index + from->ptr, block[i].col = index + from->col;
    if (from->kept) block[i] = from->as_is;
    kept[i] = from->kept;
    for (int d = 0; d < from->size; d++) dof_block[from->dof + d] = i;
  }
  if (b->explicit_W) {
    p->W_ptr = index;
    p->W_col = index + b->W_rows + 1;
    p->W_val = number;
    if (b->W_rows != p->nrow)
      return tb_fail(b->ctx, TB_ERROR_INPUT, "W has %d rows, but the contacts have %d", b->W_rows, p->nrow);
  }
  return TB_OK;
}

// Rows of contacts that touch block b.
static int rows_on(const tbProblem* p, int b)
{
  int rows = 0;
  for (int k = 0; k < p->ncontact; k++) {
    bool on = false;
    for (int c = p->jac_adr[k]; !on && c < p->jac_adr[k + 1]; c++) on = p->dof_block[p->jac_dof[c]] == b;
    rows += on ? p->row_adr[k + 1] - p->row_adr[k] : 0;
  }
  return rows;
}

static tbStatus prepare_block(tbContext* ctx, tbProblemOwner* owner, int i)
{
  tbMetricBlock* block = &owner->block[i];
  if (!owner->kept[i]) TB_TRY(tb_metric_prepare(ctx, &owner->arena, i, block));
  if (!block->packed) tb_metric_measure(block);
  if (!owner->kept[i]) TB_TRY(tb_metric_pack(&owner->arena, ctx->threads, block));
  if (block->kind != TB_METRIC_SPARSE || !block->factor || block->inverse) return TB_OK;
  return tb_metric_invert(ctx, &owner->arena, rows_on(&owner->problem, i), block);
}

tbStatus tb_builder_finish(tbBuilder* b, tbProblem** out)
{
  *out = NULL;
  tbContext* ctx = b->ctx;
  tbStatus status = b->status;
  if (status != TB_OK) ctx->error = b->error;

  tbProblemOwner* owner = NULL;
  if (status == TB_OK) {
    owner = TB_NEW(ctx, tbProblemOwner, 1);
    if (!owner) status = TB_ERROR_MEMORY;
  }
  if (owner) {
    owner->ctx = *ctx; // the allocator outlives the caller's context
    tb_arena_init(&owner->arena, ctx);
    status = gather(b, owner);
    if (status == TB_OK) status = tb_problem_validate(ctx, &owner->problem);
    for (int i = 0; status == TB_OK && i < owner->problem.nblock; i++) status = prepare_block(ctx, owner, i);
    owner->arena.ctx = &owner->ctx;
    if (status == TB_OK) *out = &owner->problem;
    else tb_problem_free(&owner->problem);
  }
  tb_builder_abandon(b);
  return status;
}

void tb_problem_free(tbProblem* problem)
{
  if (!problem) return;
  tbProblemOwner* owner = problem->owner;
  tbContext ctx = owner->ctx;
  for (int i = 0; owner->block && i < problem->nblock; i++)
    if (!owner->kept[i]) tb_metric_release(&ctx, &owner->block[i]);
  owner->arena.ctx = owner->inverses.ctx = &ctx;
  tb_arena_free(&owner->inverses);
  tb_arena_free(&owner->arena);
  tb_free(&ctx, owner);
}
