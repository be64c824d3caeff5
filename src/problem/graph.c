// SPDX-License-Identifier: Apache-2.0
// The graph of a problem: islands, colours and layers.
//
// Two contacts are neighbours when they share a metric block, or when W is given and couples them. A metric
// block makes a clique of its contacts, so nothing here ever lists the pairs: union-find, first fit and
// breadth first run through the blocks in time proportional to the column blocks of J (or the nonzeros of W).
#include "problem/graph.h"

#include <string.h>

int* tb_row_contacts(tbArena* arena, const tbProblem* p)
{
  int* contact = TB_TAKE(arena, int, (size_t)p->nrow);
  for (int k = 0; contact && k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) contact[i] = k;
  return contact;
}

tbStatus tb_incidence_build(tbArena* arena, const tbProblem* p, tbIncidence* out)
{
  out->ptr = TB_TAKE(arena, int, (size_t)p->nblock + 2);
  out->col = TB_TAKE(arena, int, (size_t)p->ncol);
  out->contact = TB_TAKE(arena, int, (size_t)p->ncol);
  if (!out->ptr || !out->col || !out->contact) return TB_ERROR_MEMORY;
  int* next = out->ptr + 1; // counts, then running ends: shifted by one so that no copy is needed
  for (int c = 0; c < p->ncol; c++) next[p->dof_block[p->jac_dof[c]] + 1]++;
  for (int b = 0; b < p->nblock; b++) next[b + 1] += next[b];
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int at = next[p->dof_block[p->jac_dof[c]]]++;
      out->col[at] = c;
      out->contact[at] = k;
    }
  return TB_OK;
}

static int root_of(int* parent, int k)
{
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static void join(int* parent, int a, int b)
{
  a = root_of(parent, a);
  b = root_of(parent, b);
  if (a < b) parent[b] = a; // the smallest contact is the root, whatever the order of joins
  else parent[a] = b;
}

tbStatus tb_problem_islands(tbContext* ctx, const tbProblem* p, int* island, int* count)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  int* parent = TB_TAKE(&arena, int, (size_t)p->ncontact);
  int* first = TB_TAKE(&arena, int, (size_t)p->nblock); // first contact + 1 on a metric block
  int* row_contact = p->W_ptr ? tb_row_contacts(&arena, p) : parent;
  if (!parent || !first || !row_contact) {
    tb_arena_free(&arena);
    return TB_ERROR_MEMORY;
  }
  for (int k = 0; k < p->ncontact; k++) parent[k] = k;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int* seen = &first[p->dof_block[p->jac_dof[c]]];
      if (*seen) join(parent, *seen - 1, k);
      else *seen = k + 1;
    }
  for (int i = 0; p->W_ptr && i < p->nrow; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++)
      if (p->W_val[e] != 0) join(parent, row_contact[i], row_contact[p->W_col[e]]);

  *count = 0;
  for (int k = 0; k < p->ncontact; k++) {
    int root = root_of(parent, k);
    island[k] = root == k ? (*count)++ : island[root]; // roots come first: numbered in contact order
  }
  tb_arena_free(&arena);
  return TB_OK;
}

// First fit over the pattern of W: colours of already coloured neighbours are marked with the contact's
// number. W may be unsymmetric, so its transpose's pattern is walked too.
static tbStatus colour_by_W(tbArena* arena, const tbProblem* p, int* colour, int* count)
{
  int nnz = p->W_ptr[p->nrow];
  int* row_contact = tb_row_contacts(arena, p);
  int* mark = TB_TAKE(arena, int, (size_t)p->ncontact + 1);
  int* t_ptr = TB_TAKE(arena, int, (size_t)p->nrow + 2);
  int* t_row = TB_TAKE(arena, int, (size_t)nnz);
  if (!row_contact || !mark || !t_ptr || !t_row) return TB_ERROR_MEMORY;
  int* next = t_ptr + 1;
  for (int e = 0; e < nnz; e++) next[p->W_col[e] + 1]++;
  for (int i = 0; i < p->nrow; i++) next[i + 1] += next[i];
  for (int i = 0; i < p->nrow; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) t_row[next[p->W_col[e]]++] = i;

  for (int k = 0; k < p->ncontact; k++) {
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) {
      for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) {
        int l = row_contact[p->W_col[e]];
        if (l < k) mark[colour[l]] = k + 1;
      }
      for (int e = t_ptr[i]; e < t_ptr[i + 1]; e++) {
        int l = row_contact[t_row[e]];
        if (l < k) mark[colour[l]] = k + 1;
      }
    }
    int c = 0;
    while (mark[c] == k + 1) c++;
    colour[k] = c;
    if (c + 1 > *count) *count = c + 1;
  }
  return TB_OK;
}

// First fit through the metric blocks: a contact takes the smallest colour none of its blocks has seen. The
// colours a block has seen live in a bit set that grows with the number of its contacts.
static tbStatus colour_by_blocks(tbArena* arena, const tbProblem* p, int* colour, int* count)
{
  tbIncidence incidence;
  TB_TRY(tb_incidence_build(arena, p, &incidence));
  size_t* seen_adr = TB_TAKE(arena, size_t, (size_t)p->nblock + 1);
  if (!seen_adr) return TB_ERROR_MEMORY;
  for (int b = 0; b < p->nblock; b++) {
    // A contact's colour is at most its number of neighbours, which its busiest block alone may not bound.
    seen_adr[b + 1] = seen_adr[b] + (size_t)(incidence.ptr[b + 1] - incidence.ptr[b]) / 64 + 2;
  }
  uint64_t** words = TB_TAKE(arena, uint64_t*, (size_t)p->nblock);
  size_t* capacity = TB_TAKE(arena, size_t, (size_t)p->nblock);
  uint64_t* pool = TB_TAKE(arena, uint64_t, seen_adr[p->nblock]);
  if (!words || !capacity || !pool) return TB_ERROR_MEMORY;
  for (int b = 0; b < p->nblock; b++)
    words[b] = pool + seen_adr[b], capacity[b] = seen_adr[b + 1] - seen_adr[b];

  for (int k = 0; k < p->ncontact; k++) {
    int c = -1;
    for (size_t w = 0; c < 0; w++) {
      uint64_t taken = 0;
      for (int j = p->jac_adr[k]; j < p->jac_adr[k + 1]; j++) {
        int b = p->dof_block[p->jac_dof[j]];
        if (w < capacity[b]) taken |= words[b][w];
      }
      if (~taken) c = (int)(64 * w) + __builtin_ctzll(~taken);
    }
    size_t word = (size_t)c / 64;
    for (int j = p->jac_adr[k]; j < p->jac_adr[k + 1]; j++) {
      int b = p->dof_block[p->jac_dof[j]];
      if (word >= capacity[b]) { // pushed past its own contacts by a busier neighbour
        uint64_t* wider = TB_TAKE(arena, uint64_t, 2 * (word + 1));
        if (!wider) return TB_ERROR_MEMORY;
        memcpy(wider, words[b], capacity[b] * sizeof *wider);
        words[b] = wider;
        capacity[b] = 2 * (word + 1);
      }
      words[b][word] |= 1ull << (c % 64);
    }
    colour[k] = c;
    if (c + 1 > *count) *count = c + 1;
  }
  return TB_OK;
}

tbStatus tb_problem_colours(tbContext* ctx, const tbProblem* p, int* colour, int* count)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  *count = 0;
  tbStatus status =
      p->W_ptr ? colour_by_W(&arena, p, colour, count) : colour_by_blocks(&arena, p, colour, count);
  tb_arena_free(&arena);
  return status;
}

// ---- layers ----

// A contact is grounded when it holds one metric block against the world, which is all a contact with nothing
// on its other side, or with the same block on both, can do. Where W is given there are no blocks to count.
// But what falls freely falls together: from rest the free motion closes those contacts alone whose other
// side does not fall. So those count that close at least half as fast as the fastest.
static bool is_grounded(const tbProblem* p, int k, double fastest)
{
  if (p->W_ptr) return fastest < 0 && p->bias[p->row_adr[k]] <= 0.5 * fastest;
  for (int c = p->jac_adr[k] + 1; c < p->jac_adr[k + 1]; c++)
    if (p->dof_block[p->jac_dof[c]] != p->dof_block[p->jac_dof[c - 1]]) return false;
  return true;
}

static int reach(int k, int from, int* layer, int* queue, int tail)
{
  if (layer[k] >= 0) return tail;
  layer[k] = layer[from] + 1;
  queue[tail] = k;
  return tail + 1;
}

// Breadth first from the contacts in the queue. A block's contacts are reached all at once, so that each
// block is looked at once. layer is −1 where nothing leads.
static tbStatus flood(tbArena* arena, const tbProblem* p, int* layer, int* queue, int tail)
{
  tbIncidence on = {0};
  TB_TRY(tb_incidence_build(arena, p, &on));
  bool* seen = TB_TAKE(arena, bool, (size_t)p->nblock);
  int* row_contact = tb_row_contacts(arena, p);
  if (!seen || !row_contact) return TB_ERROR_MEMORY;
  for (int head = 0; head < tail; head++) {
    int k = queue[head];
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int b = p->dof_block[p->jac_dof[c]];
      for (int i = on.ptr[b]; !seen[b] && i < on.ptr[b + 1]; i++)
        tail = reach(on.contact[i], k, layer, queue, tail);
      seen[b] = true;
    }
    for (int i = p->row_adr[k]; p->W_ptr && i < p->row_adr[k + 1]; i++)
      for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++)
        if (p->W_val[e] != 0) tail = reach(row_contact[p->W_col[e]], k, layer, queue, tail);
  }
  return TB_OK;
}

tbStatus tb_problem_layers(tbContext* ctx, const tbProblem* p, int* layer, int* count)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  int *queue = TB_TAKE(&arena, int, (size_t)p->ncontact), tail = 0;
  double fastest = 0;
  for (int k = 0; p->W_ptr && k < p->ncontact; k++)
    if (p->bias[p->row_adr[k]] < fastest) fastest = p->bias[p->row_adr[k]];
  for (int k = 0; queue && k < p->ncontact; k++) {
    layer[k] = is_grounded(p, k, fastest) ? 0 : -1;
    if (layer[k] == 0) queue[tail++] = k;
  }
  tbStatus status = queue ? flood(&arena, p, layer, queue, tail) : TB_ERROR_MEMORY;
  *count = p->ncontact > 0 ? 1 : 0;
  for (int k = 0; status == TB_OK && k < p->ncontact; k++) {
    if (layer[k] < 0) layer[k] = 0; // an island that floats: all of it in one layer
    if (layer[k] >= *count) *count = layer[k] + 1;
  }
  tb_arena_free(&arena);
  return status;
}
