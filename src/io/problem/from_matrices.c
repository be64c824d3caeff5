// SPDX-License-Identifier: Apache-2.0
// M v = Jᵀ λ + f  →  metric blocks, column blocks, v_free.
//
// FCLIB's M is any sparse SPD matrix. Its connected components become the metric blocks: small ones dense,
// multiples of the identity particles, the others sparse. A builder's block covers consecutive degrees of
// freedom, so these are renumbered, block after block; rows and contacts stay as they are.
//
// Components can be too fine: a rigid body with a diagonal inertia falls into six. Neighbouring degrees of
// freedom are then put together in twos, threes or sixes if that makes J cheaper, where a column block costs
// its width and a few words more. Bodies, whose contacts touch all six, come out as sixes; particles as
// threes.
//
// Cost O(nnz(M) + nnz(J)) beside the factors of M.
#include "io/problem/from_matrices.h"
#include "base/sort.h"
#include "io/problem/matrix.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum { DENSE_UP_TO = 12, COLUMN_OVERHEAD = 4 };

typedef struct {
  const tbContactList* list;
  const tbCsr *M, *J;
  const double* f;

  int *low, *high; // smallest and largest degree of freedom of the component of d       (n)
  int* block_of;   // the block of d                                                      (n)
  int blocks;
  int *start, *kind; // first place of a block (blocks+1), its tbMetricKind (blocks)
  int *place, *dof;  // where d goes, and what goes there                                   (n)
} Split;

static int contact_count(const tbContactList* list) { return list->contacts + list->free; }
static int first_row(const tbContactList* list, int k)
{
  int tied = k < list->contacts ? k : list->contacts;
  return tied * list->rows + (k - tied);
}

static void add_contact(tbBuilder* b, const tbContactList* list, int k)
{
  const double* bias = list->bias + first_row(list, k);
  if (k >= list->contacts) {
    tb_builder_contact(b, TB_LAW_BILATERAL, 1, NULL, bias, NULL);
    return;
  }
  double param[2] = {list->mu[k], list->mu_r ? list->mu_r[k] : 0};
  tb_builder_contact(b, list->law, list->rows, param, bias, NULL);
}

tbStatus tb_assemble_local(tbContext* ctx, const char* name, const tbContactList* list, const tbCsr* W,
                           tbProblem** out)
{
  tbBuilder* b;
  TB_TRY(tb_builder_create(ctx, name, &b));
  tb_builder_explicit(b, W->rows, W->ptr, W->idx, W->val);
  for (int k = 0; k < contact_count(list); k++) add_contact(b, list, k);
  return tb_builder_finish(b, out);
}

// ---- blocks ----

static void find_components(Split* s)
{
  int n = s->M->rows;
  tb_csr_components(s->M, s->low);
  for (int d = n - 1; d >= 0; d--) // the first member met from above is the largest
    if (!s->high[s->low[d]]) s->high[s->low[d]] = d;
  for (int d = 0; d < n; d++) s->high[d] = s->high[s->low[d]];
}

// Groups of g consecutive degrees of freedom wherever no component reaches across; block_of[d] is then the
// first one of the group, else of the component.
static void group_by(Split* s, int g)
{
  int n = s->M->rows;
  for (int d = 0; d < n;) {
    bool whole = d + g <= n;
    for (int e = d; whole && e < d + g; e++) whole = s->low[e] >= d && s->high[e] < d + g;
    for (int e = d; e < d + (whole ? g : 1); e++) s->block_of[e] = whole ? d : s->low[e];
    d += whole ? g : 1;
  }
}

// What J costs with the blocks as they are grouped. size and seen: (n), zeros.
static double cost_of_columns(const Split* s, int* size, int* seen)
{
  int n = s->M->rows;
  double cost = 0;
  memset(size, 0, (size_t)n * sizeof *size);
  memset(seen, 0, (size_t)n * sizeof *seen);
  for (int d = 0; d < n; d++) size[s->block_of[d]]++;
  for (int k = 0; k < contact_count(s->list); k++)
    for (int e = s->J->ptr[first_row(s->list, k)]; e < s->J->ptr[first_row(s->list, k + 1)]; e++) {
      int b = s->block_of[s->J->idx[e]];
      if (seen[b] != k + 1 && size[b] <= DENSE_UP_TO) cost += size[b] + COLUMN_OVERHEAD;
      seen[b] = k + 1;
    }
  return cost;
}

// Numbers the blocks by their first member and lays the degrees of freedom out, block after block.
static void lay_out(Split* s, int* number)
{
  int n = s->M->rows;
  s->blocks = 0;
  for (int d = 0; d < n; d++)
    if (s->block_of[d] == d) number[d] = s->blocks++;
  for (int d = 0; d < n; d++) s->block_of[d] = number[s->block_of[d]];
  memset(s->start, 0, ((size_t)n + 1) * sizeof *s->start);
  for (int d = 0; d < n; d++) s->start[s->block_of[d] + 1]++;
  for (int b = 0; b < s->blocks; b++) s->start[b + 1] += s->start[b];
  for (int d = 0; d < n; d++) s->place[d] = s->start[s->block_of[d]]++;
  for (int b = s->blocks; b > 0; b--) s->start[b] = s->start[b - 1];
  s->start[0] = 0;
  for (int d = 0; d < n; d++) s->dof[s->place[d]] = d;
}

static bool is_multiple_of_identity(const Split* s, int b)
{
  const tbCsr* M = s->M;
  for (int p = s->start[b]; p < s->start[b + 1]; p++) {
    int d = s->dof[p];
    if (M->ptr[d + 1] - M->ptr[d] != 1 || M->idx[M->ptr[d]] != d) return false;
    if (M->val[M->ptr[d]] != M->val[M->ptr[s->dof[s->start[b]]]]) return false;
  }
  return true;
}

static void split_by_pattern(Split* s, int* work, int* more_work)
{
  static const int sizes[] = {1, 2, 3, 6};
  find_components(s);
  int best = 1;
  double least = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    group_by(s, sizes[i]);
    double cost = cost_of_columns(s, work, more_work);
    if (i == 0 || cost < least) best = sizes[i], least = cost;
  }
  group_by(s, best);
  lay_out(s, work);
  for (int b = 0; b < s->blocks; b++) {
    int size = s->start[b + 1] - s->start[b];
    s->kind[b] = size <= 3 && is_multiple_of_identity(s, b) ? TB_METRIC_PARTICLE
                 : size <= DENSE_UP_TO                      ? TB_METRIC_DENSE
                                                            : TB_METRIC_SPARSE;
  }
}

static tbStatus split_as_given(tbContext* ctx, Split* s, const tbBlockList* given)
{
  int n = s->M->rows, at = 0;
  for (int b = 0; b < given->count; b++) {
    int kind = given->kind[b], size = given->size[b];
    int most = kind == TB_METRIC_PARTICLE ? 3 : kind == TB_METRIC_DENSE ? 4096 : n;
    if (kind < TB_METRIC_PARTICLE || kind > TB_METRIC_SPARSE || size < 1 || size > most || size > n - at)
      return tb_fail(ctx, TB_ERROR_INPUT, "/tribo/blocks: entry %d, kind %d of size %d, does not fit", b,
                     kind, size);
    for (int d = at; d < at + size; d++) s->block_of[d] = b, s->place[d] = s->dof[d] = d;
    s->start[b] = at;
    s->kind[b] = kind;
    at += size;
  }
  if (at != n)
    return tb_fail(ctx, TB_ERROR_INPUT, "/tribo/blocks: the sizes add up to %d, but M has %d rows", at, n);
  s->blocks = given->count;
  s->start[s->blocks] = n;
  for (int i = 0; i < n; i++)
    for (int e = s->M->ptr[i]; e < s->M->ptr[i + 1]; e++)
      if (s->block_of[s->M->idx[e]] != s->block_of[i])
        return tb_fail(ctx, TB_ERROR_INPUT, "/tribo/blocks: M has an entry at (%d, %d), between two blocks",
                       i, s->M->idx[e]);
  for (int b = 0; b < s->blocks; b++)
    if (s->kind[b] == TB_METRIC_PARTICLE && !is_multiple_of_identity(s, b))
      return tb_fail(ctx, TB_ERROR_INPUT,
                     "/tribo/blocks: entry %d is a particle, but M is no multiple of the "
                     "identity there",
                     b);
  return TB_OK;
}

// ---- into the builder ----

static tbStatus add_block(tbBuilder* builder, tbArena* arena, const Split* s, int b, const double* f)
{
  const tbCsr* M = s->M;
  int first = s->start[b], size = s->start[b + 1] - first, count = 0;
  f += first;
  if (s->kind[b] == TB_METRIC_PARTICLE) {
    int d = s->dof[first];
    return tb_builder_particle(builder, size, M->val[M->ptr[d]], f, NULL);
  }
  bool dense = s->kind[b] == TB_METRIC_DENSE;
  for (int i = 0; i < size; i++) count += M->ptr[s->dof[first + i] + 1] - M->ptr[s->dof[first + i]];
  int *ptr = TB_TAKE(arena, int, (size_t)size + 1), *col = TB_TAKE(arena, int, (size_t)count);
  double* val = TB_TAKE(arena, double, dense ? (size_t)size*(size_t)size : (size_t)count);
  if (!ptr || !col || !val) return TB_ERROR_MEMORY;
  for (int i = 0, used = 0; i < size; i++) {
    int d = s->dof[first + i];
    for (int e = M->ptr[d]; e < M->ptr[d + 1]; e++, used++) {
      int j = s->place[M->idx[e]] - first; // increasing, as places are within a block
      col[used] = j;
      val[dense ? i * size + j : used] = M->val[e];
    }
    ptr[i + 1] = used;
  }
  if (dense) return tb_builder_dense(builder, size, val, f, NULL);
  return tb_builder_sparse(builder, size, ptr, col, val, f, NULL);
}

static int compare_ints(const void* a, const void* b)
{
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

// The column blocks of contact k: whole metric blocks, or on sparse ones runs of consecutive places.
// places: room for the contact's entries; values: for rows × the widest column.
static tbStatus add_columns(tbBuilder* builder, const Split* s, int k, int* places, double* values)
{
  const tbCsr* J = s->J;
  int row = first_row(s->list, k), rows = first_row(s->list, k + 1) - row, count = 0;
  for (int e = J->ptr[row]; e < J->ptr[row + rows]; e++) places[count++] = s->place[J->idx[e]];
  tb_sort(places, (size_t)count, sizeof *places, compare_ints);
  for (int i = 0; i < count;) {
    int b = s->block_of[s->dof[places[i]]], first = places[i], end = first + 1;
    if (s->kind[b] != TB_METRIC_SPARSE) first = s->start[b], end = s->start[b + 1];
    for (i++; i < count && places[i] <= end && places[i] < s->start[b + 1]; i++)
      if (places[i] == end) end++;
    int width = end - first;
    memset(values, 0, (size_t)(rows * width) * sizeof *values);
    for (int r = 0; r < rows; r++)
      for (int e = J->ptr[row + r]; e < J->ptr[row + r + 1]; e++) {
        int p = s->place[J->idx[e]];
        if (p >= first && p < end) values[r * width + p - first] = J->val[e];
      }
    TB_TRY(tb_builder_jacobian(builder, first, width, values));
  }
  return TB_OK;
}

static tbStatus add_contacts(tbBuilder* builder, tbArena* arena, const Split* s)
{
  int most = 0, widest = 0;
  for (int k = 0; k < contact_count(s->list); k++) {
    int count = s->J->ptr[first_row(s->list, k + 1)] - s->J->ptr[first_row(s->list, k)];
    if (count > most) most = count;
  }
  for (int b = 0; b < s->blocks; b++)
    if (s->kind[b] != TB_METRIC_SPARSE && s->start[b + 1] - s->start[b] > widest)
      widest = s->start[b + 1] - s->start[b];
  int* places = TB_TAKE(arena, int, (size_t)most);
  double* values = TB_TAKE(arena, double, TB_MAX_ROWS*(size_t)(most > widest ? most : widest));
  if (!places || !values) return TB_ERROR_MEMORY;
  for (int k = 0; k < contact_count(s->list); k++) {
    add_contact(builder, s->list, k);
    TB_TRY(add_columns(builder, s, k, places, values));
  }
  return TB_OK;
}

// v_free = M⁻¹ f, refined once. On entry the problem's v_free holds f. v: velocities the file gives, kept if
// they give f to the bit.
static tbStatus settle_free_motion(tbArena* arena, tbProblem* p, const double* v)
{
  double* x = (double*)p->v_free; // ours until the problem is handed out
  size_t n = (size_t)p->ndof, workspace = 0;
  for (int b = 0; b < p->nblock; b++)
    if (tb_metric_workspace(&p->block[b]) > workspace) workspace = tb_metric_workspace(&p->block[b]);
  double *f = TB_TAKE(arena, double, n), *r = TB_TAKE(arena, double, n),
         *room = TB_TAKE(arena, double, workspace);
  if (!f || !r || !room) return TB_ERROR_MEMORY;
  memcpy(f, x, n * sizeof *f);

  for (int b = 0; v && b < p->nblock; b++)
    tb_metric_multiply_add(&p->block[b], v + p->block[b].dof, r + p->block[b].dof);
  bool same = v != NULL;
  for (size_t i = 0; same && i < n; i++) same = r[i] == f[i];
  if (same) {
    memcpy(x, v, n * sizeof *x);
    return TB_OK;
  }
  memset(r, 0, n * sizeof *r);
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    int at = block->dof;
    tb_metric_solve(block, NULL, x + at, room);
    if (block->kind == TB_METRIC_PARTICLE) continue;
    tb_metric_multiply_add(block, x + at, r + at);
    for (int i = at; i < at + block->size; i++) r[i] = f[i] - r[i];
    tb_metric_solve(block, NULL, r + at, room);
    for (int i = at; i < at + block->size; i++) x[i] += r[i];
  }
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return tb_fail(arena->ctx, TB_ERROR_NUMERIC, "M v = f has no finite solution");
  return TB_OK;
}

static tbStatus assemble(tbContext* ctx, tbArena* arena, tbBuilder* builder, Split* s,
                         const tbBlockList* blocks)
{
  size_t n = (size_t)s->M->rows;
  s->low = TB_TAKE(arena, int, n);
  s->high = TB_TAKE(arena, int, n);
  s->block_of = TB_TAKE(arena, int, n);
  s->start = TB_TAKE(arena, int, n + 1);
  s->kind = TB_TAKE(arena, int, n);
  s->place = TB_TAKE(arena, int, n);
  s->dof = TB_TAKE(arena, int, n);
  int *work = TB_TAKE(arena, int, n), *more_work = TB_TAKE(arena, int, n);
  double* f = TB_TAKE(arena, double, n);
  if (!s->low || !s->high || !s->block_of || !s->start || !s->kind || !s->place || !s->dof || !work ||
      !more_work || !f)
    return TB_ERROR_MEMORY;
  if (blocks->count) TB_TRY(split_as_given(ctx, s, blocks));
  else split_by_pattern(s, work, more_work);
  for (size_t p = 0; p < n; p++) f[p] = s->f[s->dof[p]];
  for (int b = 0; b < s->blocks; b++) TB_TRY(add_block(builder, arena, s, b, f));
  return add_contacts(builder, arena, s);
}

tbStatus tb_assemble_global(tbContext* ctx, const char* name, const tbContactList* list, const tbCsr* M,
                            const tbCsr* J, const double* f, const tbBlockList* blocks, tbProblem** out)
{
  tbBuilder* builder;
  tbArena arena;
  TB_TRY(tb_builder_create(ctx, name, &builder));
  tb_arena_init(&arena, ctx);
  Split s = {.list = list, .M = M, .J = J, .f = f};
  tbProblem* p = NULL;
  tbStatus status = assemble(ctx, &arena, builder, &s, blocks);
  if (status == TB_OK) status = tb_builder_finish(builder, &p);
  else tb_builder_abandon(builder);
  if (status == TB_OK) status = settle_free_motion(&arena, p, blocks->v_free);
  if (status != TB_OK) {
    tb_problem_free(p);
    p = NULL;
  }
  *out = p;
  tb_arena_free(&arena);
  return status;
}
