#include "fem/assembly.h"

#include "base/threads.h"
#include "fem/sort.h"

#include <limits.h>
#include <string.h>

// ---- the pattern, once ----

// One entry for every block an element writes: the nodes, smaller first, and where it stands.
typedef struct {
  int *low, *high, *item;
  int count;
} Entries;

static tbStatus list_blocks(tbArena* scratch, int kinds, const tbStencil* stencil, int count, Entries* out)
{
  *out = (Entries){TB_TAKE(scratch, int, (size_t)count), TB_TAKE(scratch, int, (size_t)count),
                   TB_TAKE(scratch, int, (size_t)count), count};
  if (!out->low || !out->high || !out->item) return TB_ERROR_MEMORY;
  int n = 0;
  for (int k = 0; k < kinds; k++)
    for (int e = 0; e < stencil[k].count; e++) {
      const int* node = stencil[k].node + (size_t)e * (size_t)stencil[k].corners;
      for (int a = 0; a < stencil[k].corners; a++)
        for (int b = a; b < stencil[k].corners; b++, n++) {
          bool swapped = node[a] > node[b];
          out->low[n] = swapped ? node[b] : node[a];
          out->high[n] = swapped ? node[a] : node[b];
          out->item[n] = 2 * n + swapped;
        }
    }
  return TB_OK;
}

// The upper blocks with their sums, from entries in the order of (low, high, element).
static tbStatus make_upper(tbArena* arena, tbFemAssembly* s, const Entries* list, const int* order,
                           int* upper_row, int* upper_col, int nupper)
{
  s->sum_adr = TB_TAKE(arena, int, (size_t)nupper + 1);
  s->sum = TB_TAKE(arena, int, (size_t)list->count);
  if (!s->sum_adr || !s->sum) return TB_ERROR_MEMORY;
  int b = -1;
  for (int i = 0; i < list->count; i++) {
    int e = order[i];
    if (i == 0 || list->low[e] != upper_row[b] || list->high[e] != upper_col[b]) {
      s->sum_adr[++b] = i;
      upper_row[b] = list->low[e];
      upper_col[b] = list->high[e];
    }
    s->sum[i] = list->item[e];
  }
  s->sum_adr[nupper] = list->count;
  return TB_OK;
}

static int count_upper(const Entries* list, const int* order)
{
  int n = list->count > 0;
  for (int i = 1; i < list->count; i++)
    n += list->low[order[i]] != list->low[order[i - 1]] || list->high[order[i]] != list->high[order[i - 1]];
  return n;
}

// Rows of both halves. Upper blocks come in the order of (row, column): the lower ones of a node are those
// upper ones whose column it is, in the order of their rows, and stand before its own.
static tbStatus make_rows(tbArena* arena, tbArena* scratch, tbFemAssembly* s, const int* row, const int* col,
                          int nupper)
{
  size_t nnode = (size_t)s->nnode;
  s->ptr = TB_TAKE(arena, int, nnode + 1);
  s->diag = TB_TAKE(arena, int, nnode);
  s->upper_adr = TB_TAKE(arena, int, nnode);
  int* fill = TB_TAKE(scratch, int, nnode);
  if (!s->ptr || !s->diag || !s->upper_adr || !fill) return TB_ERROR_MEMORY;
  for (int b = 0; b < nupper; b++) {
    s->ptr[row[b] + 1]++;
    if (row[b] != col[b]) s->ptr[col[b] + 1]++;
  }
  for (int i = 0; i < s->nnode; i++) s->ptr[i + 1] += s->ptr[i], fill[i] = s->ptr[i];
  int total = s->ptr[s->nnode];
  if (total > INT_MAX / 9)
    return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a body whose matrix has %d blocks of 9 entries", total);
  s->col = TB_TAKE(arena, int, (size_t)total);
  s->mirror = TB_TAKE(arena, int, (size_t)total);
  if (!s->col || !s->mirror) return TB_ERROR_MEMORY;
  // A node's lower blocks come from smaller rows, so that they are placed before its own.
  for (int b = 0; b < nupper; b++) {
    int i = row[b], j = col[b], here = fill[i]++;
    s->col[here] = j;
    if (i == j) {
      s->diag[i] = s->mirror[here] = here;
      s->upper_adr[i] = b;
      continue;
    }
    int there = fill[j]++;
    s->col[there] = i;
    s->mirror[here] = there;
    s->mirror[there] = here;
  }
  return TB_OK;
}

static tbStatus make_node_sums(tbArena* arena, tbFemAssembly* s, int kinds, const tbStencil* stencil)
{
  s->node_adr = TB_TAKE(arena, int, (size_t)s->nnode + 1);
  s->node_sum = TB_TAKE(arena, int, (size_t)s->force_adr[kinds]);
  if (!s->node_adr || !s->node_sum) return TB_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0, n = 0; k < kinds; k++)
      for (int i = 0; i < stencil[k].count * stencil[k].corners; i++, n++) {
        int node = stencil[k].node[i];
        if (pass == 0) s->node_adr[node + 1]++;
        else s->node_sum[s->node_adr[node]++] = n;
      }
    if (pass == 0)
      for (int i = 0; i < s->nnode; i++) s->node_adr[i + 1] += s->node_adr[i];
  }
  for (int i = s->nnode; i > 0; i--) s->node_adr[i] = s->node_adr[i - 1];
  s->node_adr[0] = 0;
  return TB_OK;
}

static tbStatus make_pattern(tbArena* arena, tbArena* scratch, int kinds, const tbStencil* stencil,
                             tbFemAssembly* s)
{
  Entries list;
  TB_TRY(list_blocks(scratch, kinds, stencil, s->block_adr[kinds], &list));
  int* order = tb_sort_begin(scratch, list.count);
  if (!order) return TB_ERROR_MEMORY;
  TB_TRY(tb_sort_by(scratch, s->nnode, list.count, list.high, &order));
  TB_TRY(tb_sort_by(scratch, s->nnode, list.count, list.low, &order));
  int nupper = count_upper(&list, order);
  int *row = TB_TAKE(scratch, int, (size_t)nupper), *col = TB_TAKE(scratch, int, (size_t)nupper);
  if (!row || !col) return TB_ERROR_MEMORY;
  TB_TRY(make_upper(arena, s, &list, order, row, col, nupper));
  TB_TRY(make_rows(arena, scratch, s, row, col, nupper));
  return make_node_sums(arena, s, kinds, stencil);
}

tbStatus tb_fem_assembly_init(tbArena* arena, int nnode, int kinds, const tbStencil* stencil,
                              tbFemAssembly* s)
{
  *s = (tbFemAssembly){.nnode = nnode};
  int64_t forces = 0, blocks = 0;
  for (int k = 0; k < kinds; k++) {
    s->pairs[k] = stencil[k].corners * (stencil[k].corners + 1) / 2;
    forces += (int64_t)stencil[k].count * stencil[k].corners;
    blocks += (int64_t)stencil[k].count * s->pairs[k];
    if (blocks > INT_MAX / 2)
      return tb_fail(arena->ctx, TB_ERROR_UNSUPPORTED, "a body of %d elements is too large",
                     stencil[k].count);
    s->force_adr[k + 1] = (int)forces;
    s->block_adr[k + 1] = (int)blocks;
  }
  s->force = tb_arena_take(arena, (size_t)forces, sizeof *s->force);
  s->block = tb_arena_take(arena, (size_t)blocks, sizeof *s->block);
  if (!s->force || !s->block) return TB_ERROR_MEMORY;
  tbArena scratch;
  tb_arena_init(&scratch, arena->ctx);
  tbStatus status = make_pattern(arena, &scratch, kinds, stencil, s);
  tb_arena_free(&scratch);
  return status;
}

tbStatus tb_fem_assembly_take_matrix(tbArena* arena, const tbFemAssembly* s, tbCsr* out)
{
  TB_TRY(tb_csr_take(arena, 3 * s->nnode, 3 * s->nnode, 9 * s->ptr[s->nnode], out));
  for (int i = 0; i < s->nnode; i++)
    for (int axis = 0; axis < 3; axis++) {
      int at = tb_fem_assembly_row(s, i, axis);
      out->ptr[3 * i + axis] = at;
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
        for (int c = 0; c < 3; c++) out->idx[at++] = 3 * s->col[b] + c;
      out->ptr[3 * i + axis + 1] = at;
    }
  return TB_OK;
}

// ---- the sums, every time ----

typedef struct {
  const tbFemAssembly* s;
  double* out;
} Job;

static void store(const tbFemAssembly* s, int node, int b, const double K[9], bool transposed, double* val)
{
  for (int axis = 0; axis < 3; axis++) {
    double* to = val + tb_fem_assembly_row(s, node, axis) + 3 * (b - s->ptr[node]);
    for (int c = 0; c < 3; c++) to[c] = transposed ? K[3 * c + axis] : K[3 * axis + c];
  }
}

static void add_blocks(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemAssembly* s = job->s;
  for (int i = begin; i < end; i++) {
    for (int b = s->diag[i]; b < s->ptr[i + 1]; b++) {
      int u = s->upper_adr[i] + (b - s->diag[i]);
      double K[9] = {0};
      for (int n = s->sum_adr[u]; n < s->sum_adr[u + 1]; n++) {
        const double* from = s->block[s->sum[n] >> 1];
        if (s->sum[n] & 1)
          for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) K[3 * r + c] += from[3 * c + r];
        else
          for (int k = 0; k < 9; k++) K[k] += from[k];
      }
      store(s, i, b, K, false, job->out);
      if (b > s->diag[i]) store(s, s->col[b], s->mirror[b], K, true, job->out);
    }
  }
}

void tb_fem_assembly_matrix(const tbFemAssembly* s, tbThreads* threads, double* val)
{
  Job job = {s, val};
  tb_parallel_for(threads, s->nnode, 128, add_blocks, &job);
}

static void add_forces(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemAssembly* s = job->s;
  for (int i = begin; i < end; i++) {
    double f[3] = {0};
    for (int n = s->node_adr[i]; n < s->node_adr[i + 1]; n++)
      for (int k = 0; k < 3; k++) f[k] += s->force[s->node_sum[n]][k];
    memcpy(job->out + 3 * (size_t)i, f, sizeof f);
  }
}

void tb_fem_assembly_forces(const tbFemAssembly* s, tbThreads* threads, double* f)
{
  Job job = {s, f};
  tb_parallel_for(threads, s->nnode, 512, add_forces, &job);
}
