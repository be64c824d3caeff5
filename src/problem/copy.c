// SPDX-License-Identifier: Apache-2.0
#include "problem/copy.h"

#include "math/cholesky_inverse.h"
#include "problem/metric.h"
#include "problem/owner.h"

#include <string.h>

// ---- copying ----

static void* copy_array(tbArena* arena, const void* from, size_t count, size_t size)
{
  void* to = tb_arena_take(arena, count, size);
  if (to && count) memcpy(to, from, count * size);
  return to;
}
#define COPY(field, count) \
  ((to->field = copy_array(arena, from->field, (size_t)(count), sizeof *from->field)) != NULL)

static tbStatus copy_packed(tbContext* ctx, tbArena* arena, const tbMetricBlock* from, tbMetricBlock* to)
{
  if (!from->packed) return TB_OK;
  TB_TRY(tb_metric_pack(arena, ctx->threads, to));
  if (!to->packed) return TB_OK;
  tbPacked* packed = (tbPacked*)to->packed;
  size_t values = tb_packed_values(packed->pattern);
  if (from->packed->rounded && !(packed->rounded = TB_TAKE(arena, float, values))) return TB_ERROR_MEMORY;
  if (from->packed->inverse && !(packed->inverse = TB_TAKE(arena, double, 2 * (size_t)from->size)))
    return TB_ERROR_MEMORY;
  return TB_OK;
}

// Arrays and symbolic factors; tb_metric_renew computes what follows from the values.
static tbStatus copy_block(tbContext* ctx, tbArena* arena, const tbMetricBlock* from, tbMetricBlock* to)
{
  *to = (tbMetricBlock){.kind = from->kind, .dof = from->dof, .size = from->size, .unit = from->unit};
  size_t n = (size_t)from->size;
  if (!COPY(value, tb_metric_values(from))) return TB_ERROR_MEMORY;
  if (from->kind == TB_METRIC_DENSE) TB_TRY(tb_metric_take_dense(arena, to));
  if (from->kind != TB_METRIC_SPARSE) return TB_OK;
  if (!COPY(ptr, n + 1) || !COPY(col, from->ptr[n])) return TB_ERROR_MEMORY;
  TB_TRY(copy_packed(ctx, arena, from, to));
  if (from->inverse && !(to->inverse = TB_TAKE(arena, tbSelectedInverse, 1))) return TB_ERROR_MEMORY;
  tbCholesky* factor = NULL;
  if (from->factor) TB_TRY(tb_cholesky_analyze(ctx, to->size, to->ptr, to->col, NULL, &factor));
  to->factor = factor;
  return TB_OK;
}

static tbStatus copy(tbContext* ctx, const tbProblem* from, tbProblemOwner* o)
{
  tbProblem* to = &o->problem;
  tbArena* arena = &o->arena;
  size_t contacts = (size_t)from->ncontact, cols = (size_t)from->ncol, blocks = (size_t)from->nblock;
  *to = (tbProblem){.ncontact = from->ncontact,
                    .nrow = from->nrow,
                    .ndof = from->ndof,
                    .nblock = 0, // grows with the blocks that are there
                    .ncol = from->ncol,
                    .owner = o};
  o->block = TB_TAKE(arena, tbMetricBlock, blocks);
  o->kept = TB_TAKE(arena, bool, blocks);
  to->block = o->block;
  bool enough = o->block && o->kept && COPY(name, strlen(from->name) + 1) && COPY(row_adr, contacts + 1) &&
                COPY(law, contacts) && COPY(param_adr, contacts + 1) &&
                COPY(param, from->param_adr[contacts]) && COPY(bias, from->nrow) &&
                COPY(compliance, from->nrow) && COPY(dof_block, from->ndof) && COPY(v_free, from->ndof) &&
                COPY(jac_adr, contacts + 1) && COPY(jac_dof, cols) && COPY(jac_width, cols) &&
                COPY(jac_val_adr, cols + 1) && COPY(jac, from->jac_val_adr[cols]);
  if (enough && from->W_ptr)
    enough = COPY(W_ptr, from->nrow + 1) && COPY(W_col, from->W_ptr[from->nrow]) &&
             COPY(W_val, from->W_ptr[from->nrow]);
  if (!enough) return TB_ERROR_MEMORY;
  for (; to->nblock < from->nblock; to->nblock++)
    TB_TRY(copy_block(ctx, arena, &from->block[to->nblock], &o->block[to->nblock]));
  return TB_OK;
}

// Entries of inverses, which have an arena to themselves: all of them again.
static tbStatus renew_inverses(tbContext* ctx, tbProblemOwner* o)
{
  o->inverses.ctx = ctx;
  tb_arena_reset(&o->inverses);
  for (int b = 0; b < o->problem.nblock; b++) {
    const tbMetricBlock* block = &o->block[b];
    if (block->inverse)
      TB_TRY(tb_selected_inverse(ctx, &o->inverses, block->factor, (tbSelectedInverse*)block->inverse));
  }
  return TB_OK;
}

tbStatus tb_problem_copy(tbContext* ctx, const tbProblem* from, tbProblem** out)
{
  *out = NULL;
  tbProblemOwner* o = TB_NEW(ctx, tbProblemOwner, 1);
  if (!o) return TB_ERROR_MEMORY;
  o->ctx = *ctx;
  tb_arena_init(&o->arena, ctx);
  tb_arena_init(&o->inverses, ctx);
  tbStatus status = copy(ctx, from, o);
  for (int b = 0; status == TB_OK && b < from->nblock; b++) status = tb_metric_renew(ctx, b, &o->block[b]);
  if (status == TB_OK) status = renew_inverses(ctx, o);
  o->arena.ctx = o->inverses.ctx = &o->ctx;
  if (status == TB_OK) *out = &o->problem;
  else tb_problem_free(&o->problem);
  return status;
}

// ---- replacing values ----

typedef struct {
  double* to;
  const double* from; // null: nothing changes
  size_t count;
} Part;

static bool differs(const Part* part)
{
  return part->from && part->count && memcmp(part->to, part->from, part->count * sizeof *part->to) != 0;
}

enum { SIDES = 3, W = 5, FIXED = 6 }; // bias, v_free and parameters; with J, R and W

static void list_parts(const tbProblem* p, const tbProblemValues* v, Part* part)
{
  size_t rows = (size_t)p->nrow;
  Part fixed[FIXED] = {
      {(double*)p->bias, v->bias, rows},
      {(double*)p->v_free, v->v_free, (size_t)p->ndof},
      {(double*)p->param, v->param, (size_t)p->param_adr[p->ncontact]},
      {(double*)p->jac, v->jac, p->jac_val_adr[p->ncol]},
      {(double*)p->compliance, v->compliance, rows},
      {(double*)p->W_val, p->W_ptr ? v->W_val : NULL, p->W_ptr ? (size_t)p->W_ptr[p->nrow] : 0},
  };
  memcpy(part, fixed, sizeof fixed);
  for (int b = 0; b < p->nblock; b++)
    part[FIXED + b] =
        (Part){(double*)p->block[b].value, v->block ? v->block[b] : NULL, tb_metric_values(&p->block[b])};
}

// Exchanges what changes with what is in `other`, where it is to be found the next time.
static void swap_values(Part* part, int count, double* other)
{
  for (int i = 0; i < count; i++) {
    if (!part[i].from) continue;
    for (size_t k = 0; k < part[i].count; k++) {
      double old = part[i].to[k];
      part[i].to[k] = other[k];
      other[k] = old;
    }
    other += part[i].count;
  }
}

static tbStatus renew(tbContext* ctx, tbProblemOwner* o, const Part* part)
{
  bool inverses = false;
  for (int b = 0; b < o->problem.nblock; b++) {
    if (!part[FIXED + b].from) continue;
    TB_TRY(tb_metric_renew(ctx, b, &o->block[b]));
    inverses = inverses || o->block[b].inverse;
  }
  return inverses ? renew_inverses(ctx, o) : TB_OK;
}

static bool moves_zeros(const Part* part)
{
  for (size_t i = 0; part->from && i < part->count; i++)
    if ((part->from[i] != 0) != (part->to[i] != 0)) return true;
  return false;
}

static tbStatus set(tbContext* ctx, tbArena* arena, tbProblemOwner* o, const tbProblemValues* values,
                    tbChanges* changes)
{
  int count = FIXED + o->problem.nblock;
  Part* part = TB_TAKE(arena, Part, (size_t)count);
  if (!part) return TB_ERROR_MEMORY;
  list_parts(&o->problem, values, part);
  size_t total = 0;
  bool sides = false, matrix = false, zeros = moves_zeros(&part[W]);
  for (int i = 0; i < count; i++) {
    if (!changes->lost && !differs(&part[i])) part[i].from = NULL;
    if (!part[i].from) continue;
    total += part[i].count;
    if (i < SIDES) sides = true;
    else matrix = true;
  }
  double *other = TB_TAKE(arena, double, total), *at = other;
  if (!other) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) {
    if (!part[i].from) continue;
    memcpy(at, part[i].from, part[i].count * sizeof *at);
    at += part[i].count;
  }
  swap_values(part, count, other);
  tbStatus status = sides || matrix ? tb_problem_validate(ctx, &o->problem) : TB_OK;
  bool checked = status == TB_OK; // factors are touched from here on
  if (checked) status = renew(ctx, o, part);
  if (status == TB_OK) {
    *changes = (tbChanges){.sides = changes->sides || sides,
                           .matrix = changes->matrix || matrix,
                           .zeros = changes->zeros || zeros};
    return TB_OK;
  }
  swap_values(part, count, other);
  tbContext quiet = *ctx;
  quiet.interrupt = (tbInterrupt){0};
  if (checked && renew(&quiet, o, part) != TB_OK) changes->lost = changes->matrix = true;
  return status;
}

tbStatus tb_problem_set(tbContext* ctx, tbProblem* problem, const tbProblemValues* values, tbChanges* changes)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = set(ctx, &arena, problem->owner, values, changes);
  tb_arena_free(&arena);
  problem->owner->inverses.ctx = &problem->owner->ctx;
  return status;
}

// ---- patterns ----

static bool same(const void* a, const void* b, size_t count, size_t size)
{
  return count == 0 || memcmp(a, b, count * size) == 0;
}

static bool same_block(const tbMetricBlock* a, const tbMetricBlock* b)
{
  if (a->kind != b->kind || a->size != b->size) return false;
  if (a->kind != TB_METRIC_SPARSE) return true;
  size_t n = (size_t)a->size;
  return !a->factor == !b->factor && !a->packed == !b->packed && !a->inverse == !b->inverse &&
         same(a->ptr, b->ptr, n + 1, sizeof *a->ptr) &&
         same(a->col, b->col, (size_t)a->ptr[n], sizeof *a->col);
}

bool tb_problem_same_pattern(const tbProblem* a, const tbProblem* b)
{
  size_t n = (size_t)a->ncontact, cols = (size_t)a->ncol, rows = (size_t)a->nrow;
  bool alike = a->ncontact == b->ncontact && a->nrow == b->nrow && a->ndof == b->ndof &&
               a->nblock == b->nblock && a->ncol == b->ncol && !a->W_ptr == !b->W_ptr &&
               same(a->row_adr, b->row_adr, n + 1, sizeof *a->row_adr) && same(a->law, b->law, n, 1) &&
               same(a->param_adr, b->param_adr, n + 1, sizeof *a->param_adr) &&
               same(a->jac_adr, b->jac_adr, n + 1, sizeof *a->jac_adr) &&
               same(a->jac_dof, b->jac_dof, cols, sizeof *a->jac_dof) &&
               same(a->jac_width, b->jac_width, cols, sizeof *a->jac_width);
  for (int i = 0; alike && i < a->nblock; i++) alike = same_block(&a->block[i], &b->block[i]);
  if (!alike || !a->W_ptr) return alike;
  return same(a->W_ptr, b->W_ptr, rows + 1, sizeof *a->W_ptr) &&
         same(a->W_col, b->W_col, (size_t)a->W_ptr[rows], sizeof *a->W_col);
}
