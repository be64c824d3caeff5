// SPDX-License-Identifier: Apache-2.0
#include "fem/assembly.h"

#include "base/threads.h"
#include "fem/sort.h"

#include <limits.h>
#include <string.h>

enum { GROUP = 2048 }; // elements: 1.5 MB of blocks

// ---- the pattern, once ----

// One entry for every block an element writes: the nodes, smaller first, and where it stands in its group.
typedef struct {
  int *low, *high, *item;
  int* order; // by group, low, high, element
  int count;
} Entries;

static tbStatus list_blocks(tbArena* scratch, const tbFemAssembly* s, const tbStencil* stencil, int count,
                            Entries* out)
{
  *out = (Entries){TB_TAKE(scratch, int, (size_t)count), TB_TAKE(scratch, int, (size_t)count),
                   TB_TAKE(scratch, int, (size_t)count), tb_sort_begin(scratch, count), count};
  if (!out->low || !out->high || !out->item || !out->order) return TB_ERROR_MEMORY;
  int n = 0;
  for (int g = 0; g < s->ngroup; g++) {
    const tbStencil* of = &stencil[s->group[g].kind];
    for (int e = s->group[g].begin, place = 0; e < s->group[g].end; e++) {
      const int* node = of->node + (size_t)e * (size_t)of->corners;
      for (int a = 0; a < of->corners; a++)
        for (int b = a; b < of->corners; b++, n++, place++) {
          bool swapped = node[a] > node[b];
          out->low[n] = swapped ? node[b] : node[a];
          out->high[n] = swapped ? node[a] : node[b];
          out->item[n] = 2 * place + swapped;
        }
    }
  }
  return TB_OK;
}

// The upper blocks, from entries in the order of (low, high): rows and columns, and of each entry which it
// is.
static int number_upper(const Entries* list, const int* order, int* row, int* col, int* upper)
{
  int b = -1;
  for (int i = 0; i < list->count; i++) {
    int e = order[i];
    if (i == 0 || list->low[e] != row[b] || list->high[e] != col[b])
      row[++b] = list->low[e], col[b] = list->high[e];
    upper[e] = b;
  }
  return b + 1;
}

static int count_upper(const Entries* list, const int* order)
{
  int n = list->count > 0;
  for (int i = 1; i < list->count; i++)
    n += list->low[order[i]] != list->low[order[i - 1]] || list->high[order[i]] != list->high[order[i - 1]];
  return n;
}

// Runs of entries of one group and one upper block, from entries in that order.
static tbStatus make_runs(tbArena* arena, tbFemAssembly* s, const Entries* list, const int* order,
                          const int* upper)
{
  int* first = TB_TAKE(arena, int, (size_t)s->ngroup + 1); // entries of a group
  if (!first) return TB_ERROR_MEMORY;
  for (int g = 0; g < s->ngroup; g++)
    first[g + 1] = first[g] + (s->group[g].end - s->group[g].begin) * s->pairs[s->group[g].kind];
  for (int pass = 0; pass < 2; pass++) {
    int run = 0;
    for (int g = 0; g < s->ngroup; g++) {
      s->group[g].run_begin = run;
      for (int i = first[g]; i < first[g + 1]; i++) {
        bool begins = i == first[g] || upper[order[i]] != upper[order[i - 1]];
        if (pass == 1) s->item[i] = list->item[order[i]];
        if (pass == 1 && begins) s->run_upper[run] = upper[order[i]], s->item_adr[run] = i;
        run += begins;
      }
      s->group[g].run_end = run;
    }
    if (pass == 1) {
      s->item_adr[run] = list->count;
      break;
    }
    s->run_upper = TB_TAKE(arena, int, (size_t)run);
    s->item_adr = TB_TAKE(arena, int, (size_t)run + 1);
    s->item = TB_TAKE(arena, int, (size_t)list->count);
    if (!s->run_upper || !s->item_adr || !s->item) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

// Rows of both halves. Upper blocks come in the order of (row, column): the lower ones of a node are those
// upper ones whose column it is, in the order of their rows, and stand before its own.
static tbStatus make_rows(tbArena* arena, tbArena* scratch, tbFemAssembly* s, const int* row, const int* col,
                          int nupper)
{
  size_t nnode = (size_t)s->nnode;
  s->ptr = TB_TAKE(arena, int, nnode + 1);
  s->diag = TB_TAKE(arena, int, nnode);
  s->upper_adr = TB_TAKE(arena, int, nnode + 1);
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
  s->upper_adr[nnode] = nupper;
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

static tbStatus make_pattern(tbArena* arena, tbArena* scratch, int kinds, const tbStencil* stencil, int count,
                             tbFemAssembly* s)
{
  Entries list;
  TB_TRY(list_blocks(scratch, s, stencil, count, &list));
  int *order = list.order, *upper = TB_TAKE(scratch, int, (size_t)count);
  if (!upper) return TB_ERROR_MEMORY;
  TB_TRY(tb_sort_by(scratch, s->nnode, count, list.high, &order));
  TB_TRY(tb_sort_by(scratch, s->nnode, count, list.low, &order));
  int nupper = count_upper(&list, order);
  int *row = TB_TAKE(scratch, int, (size_t)nupper), *col = TB_TAKE(scratch, int, (size_t)nupper);
  int* group = TB_TAKE(scratch, int, (size_t)count);
  if (!row || !col || !group) return TB_ERROR_MEMORY;
  number_upper(&list, order, row, col, upper);
  TB_TRY(make_rows(arena, scratch, s, row, col, nupper));
  for (int g = 0, n = 0; g < s->ngroup; g++)
    for (int k = (s->group[g].end - s->group[g].begin) * s->pairs[s->group[g].kind]; k > 0; k--)
      group[n++] = g;
  TB_TRY(tb_sort_by(scratch, s->ngroup, count, group, &order));
  TB_TRY(make_runs(arena, s, &list, order, upper));
  return make_node_sums(arena, s, kinds, stencil);
}

static tbStatus make_groups(tbArena* arena, int kinds, const tbStencil* stencil, tbFemAssembly* s)
{
  size_t most = 0;
  for (int k = 0; k < kinds; k++) s->ngroup += tb_piece_count(stencil[k].count, GROUP);
  s->group = TB_TAKE(arena, tbFemGroup, (size_t)s->ngroup);
  if (!s->group) return TB_ERROR_MEMORY;
  for (int k = 0, g = 0; k < kinds; k++)
    for (int e = 0; e < stencil[k].count; e += GROUP, g++) {
      int left = stencil[k].count - e, here = left < GROUP ? left : GROUP;
      s->group[g] = (tbFemGroup){.kind = k, .begin = e, .end = e + here};
      if ((size_t)(here * s->pairs[k]) > most) most = (size_t)(here * s->pairs[k]);
    }
  s->block = tb_arena_take(arena, most, sizeof *s->block);
  return s->block ? TB_OK : TB_ERROR_MEMORY;
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
  }
  s->force = tb_arena_take(arena, (size_t)forces, sizeof *s->force);
  if (!s->force) return TB_ERROR_MEMORY;
  TB_TRY(make_groups(arena, kinds, stencil, s));
  tbArena scratch;
  tb_arena_init(&scratch, arena->ctx);
  tbStatus status = make_pattern(arena, &scratch, kinds, stencil, (int)blocks, s);
  tb_arena_free(&scratch);
  return status;
}

tbStatus tb_fem_assembly_pattern(tbArena* arena, const tbFemAssembly* s, tbCsr* out)
{
  int n = 3 * s->nnode;
  *out = (tbCsr){.rows = n,
                 .cols = n,
                 .ptr = TB_TAKE(arena, int, (size_t)n + 1),
                 .idx = TB_TAKE(arena, int, 9 * (size_t)s->ptr[s->nnode])};
  if (!out->ptr || !out->idx) return TB_ERROR_MEMORY;
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
  double (*upper)[9];
  double* out;
  int first; // run
} Job;

static void add_runs(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemAssembly* s = job->s;
  for (int r = job->first + begin; r < job->first + end; r++) {
    double K[9], *to = job->upper[s->run_upper[r]];
    memcpy(K, to, sizeof K);
    for (int n = s->item_adr[r]; n < s->item_adr[r + 1]; n++) {
      const double* from = s->block[s->item[n] >> 1];
      if (s->item[n] & 1)
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++) K[3 * a + b] += from[3 * b + a];
      else
        for (int k = 0; k < 9; k++) K[k] += from[k];
    }
    memcpy(to, K, sizeof K);
  }
}

void tb_fem_assembly_add(const tbFemAssembly* s, tbThreads* threads, int group, double (*upper)[9])
{
  const tbFemGroup* g = &s->group[group];
  Job job = {.s = s, .upper = upper, .first = g->run_begin};
  tb_parallel_for(threads, g->run_end - g->run_begin, 512, add_runs, &job);
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
  Job job = {.s = s, .out = f};
  tb_parallel_for(threads, s->nnode, 512, add_forces, &job);
}
