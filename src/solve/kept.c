// SPDX-License-Identifier: Apache-2.0
#include "solve/kept.h"

#include "problem/delassus.h"
#include "problem/judge.h"

#include <string.h>

void tb_kept_init(tbSolveKept* k, const tbProblem* problem)
{
  *k = (tbSolveKept){.p = problem, .batches = -1};
}

// ---- freeing ----

static void drop_method(tbContext* ctx, tbSolveKept* k, int i)
{
  tbRun run = {.p = k->p, .prepared = k->method[i].prepared};
  k->method[i].solver->release(ctx, &run);
  k->method[i] = k->method[--k->methods];
}

// And what was prepared for it.
static void drop_operator(tbContext* ctx, tbSolveKept* k, int i)
{
  for (int m = k->methods - 1; m >= 0; m--)
    if (k->method[m].W == k->op[i].W) drop_method(ctx, k, m);
  tb_delassus_free(ctx, k->op[i].W);
  k->op[i] = k->op[--k->operators];
}

static void drop_batches(tbContext* ctx, tbSolveKept* k)
{
  for (int i = 0; i < k->batches; i++) {
    tbKeptBatch* b = &k->batch[i];
    b->arena.ctx = ctx;
    tb_arena_free(&b->arena);
    if (b->kept) tb_kept_free(ctx, b->kept);
    tb_free(ctx, b->kept);
  }
  k->batches = -1;
  k->islands.ctx = ctx;
  tb_arena_free(&k->islands);
}

void tb_kept_free(tbContext* ctx, tbSolveKept* k)
{
  while (k->operators > 0) drop_operator(ctx, k, k->operators - 1);
  tb_judge_free(ctx, k->judge);
  drop_batches(ctx, k);
  k->groups.ctx = ctx;
  tb_arena_free(&k->groups);
  tb_kept_init(k, k->p);
}

// ---- the judge ----

tbStatus tb_run_judge_get(tbContext* ctx, tbRun* run)
{
  tbSolveKept* k = run->kept;
  if (!k || !k->judge) {
    TB_TRY(tb_judge_create(ctx, run->p, &run->judge));
  } else {
    TB_TRY(tb_judge_renew(ctx, k->judge, k->judge_at.matrix == k->now.matrix));
    run->judge = k->judge;
  }
  if (k) k->judge = run->judge, k->judge_at = k->now;
  return TB_OK;
}

void tb_run_judge_done(tbContext* ctx, tbRun* run)
{
  if (!run->kept) tb_judge_free(ctx, run->judge);
}

// ---- operators ----

static tbStatus renew_operator(tbContext* ctx, tbSolveKept* k, int i)
{
  bool sides = k->op[i].at.matrix == k->now.matrix;
  tbStatus status = tb_delassus_renew(ctx, k->op[i].W, sides);
  if (status == TB_OK) k->op[i].at = k->now;
  else drop_operator(ctx, k, i);
  return status;
}

tbStatus tb_run_operator(tbContext* ctx, const tbRun* run, unsigned forms, tbInverse inverse,
                         tbDelassus** out)
{
  tbSolveKept* k = run->kept;
  *out = NULL;
  for (int i = 0; k && i < k->operators; i++)
    if (k->op[i].forms == forms && k->op[i].inverse == inverse) {
      TB_TRY(renew_operator(ctx, k, i));
      *out = k->op[i].W;
      return TB_OK;
    }
  if (k && k->operators == TB_KEPT_OPERATORS) drop_operator(ctx, k, 0);
  TB_TRY(tb_delassus_create_with(ctx, run->p, forms, inverse, out));
  if (!k) return TB_OK;
  int i = k->operators++;
  k->op[i].forms = forms;
  k->op[i].inverse = inverse;
  k->op[i].W = *out;
  k->op[i].at = k->now;
  return TB_OK;
}

void tb_run_operator_done(tbContext* ctx, const tbRun* run, tbDelassus* W)
{
  if (!run->kept) tb_delassus_free(ctx, W);
}

// ---- what methods prepare ----

static int find_method(const tbSolveKept* k, const tbSolver* solver, const tbRun* run)
{
  for (int i = 0; i < k->methods; i++)
    if (k->method[i].solver == solver && k->method[i].W == run->W &&
        k->method[i].factor_bytes == run->o->factor_bytes)
      return i;
  return -1;
}

tbStatus tb_run_prepare(tbContext* ctx, const tbSolver* solver, tbRun* run)
{
  tbSolveKept* k = run->kept;
  if (!solver->prepare) return TB_OK;
  int i = k && solver->renew ? find_method(k, solver, run) : -1;
  if (i >= 0 && (k->method[i].zeros != k->now.zeros || k->method[i].symmetric != run->W->symmetric))
    drop_method(ctx, k, i), i = -1;
  if (i < 0) return solver->prepare(ctx, run);
  run->prepared = k->method[i].prepared;
  return solver->renew(ctx, run);
}

void tb_run_release(tbContext* ctx, const tbSolver* solver, tbRun* run, bool failed)
{
  tbSolveKept* k = run->kept;
  if (!solver->release) return;
  int i = k && solver->renew ? find_method(k, solver, run) : -1;
  bool is_new = i < 0 || k->method[i].prepared != run->prepared;
  if (k && solver->renew && !failed && run->prepared && is_new && k->methods < TB_KEPT_METHODS) {
    i = k->methods++;
    k->method[i].solver = solver;
    k->method[i].W = run->W;
    k->method[i].factor_bytes = run->o->factor_bytes;
    k->method[i].prepared = run->prepared;
    k->method[i].zeros = k->now.zeros;
    k->method[i].symmetric = run->W->symmetric;
  } else if (is_new) {
    solver->release(ctx, run);
  } else if (failed) {
    drop_method(ctx, k, i);
  }
  run->prepared = NULL;
}

// ---- groups of contacts ----

static tbStatus group(tbContext* ctx, tbArena* arena, const tbProblem* p, tbOrder order, int* count,
                      const int** out_ptr, const int** out_contact)
{
  size_t n = (size_t)p->ncontact;
  int *of = TB_TAKE(arena, int, n), *contact = TB_TAKE(arena, int, n);
  if (!of || !contact) return TB_ERROR_MEMORY;
  if (order == TB_ORDER_COLOUR) TB_TRY(tb_problem_colours(ctx, p, of, count));
  else TB_TRY(tb_problem_layers(ctx, p, of, count));
  int* ptr = TB_TAKE(arena, int, (size_t)*count + 2);
  if (!ptr) return TB_ERROR_MEMORY;
  int* next = ptr + 1; // counts, then running ends
  for (size_t k = 0; k < n; k++) next[of[k] + 1]++;
  for (int g = 0; g < *count; g++) next[g + 1] += next[g];
  for (size_t k = 0; k < n; k++) contact[next[of[k]]++] = (int)k;
  *out_ptr = ptr;
  *out_contact = contact;
  return TB_OK;
}

tbStatus tb_run_group(tbContext* ctx, tbArena* arena, tbRun* run)
{
  tbSolveKept* k = run->kept;
  tbOrder order = run->o->order;
  if (k && order == TB_ORDER_LAYERS && run->p->W_ptr) k = NULL; // layers of a given W are in its values
  if (k && !k->group[order].ptr) {
    if (!k->groups.blocks) tb_arena_init(&k->groups, ctx);
    k->groups.ctx = ctx;
    TB_TRY(group(ctx, &k->groups, run->p, order, &k->group[order].count, &k->group[order].ptr,
                 &k->group[order].contact));
  }
  if (!k) return group(ctx, arena, run->p, order, &run->ngroup, &run->group_ptr, &run->group_contact);
  run->ngroup = k->group[order].count;
  run->group_ptr = k->group[order].ptr;
  run->group_contact = k->group[order].contact;
  return TB_OK;
}
