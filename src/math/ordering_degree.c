// SPDX-License-Identifier: Apache-2.0
// Approximate minimum degree (Amestoy, Davis and Duff, "An approximate minimum degree ordering algorithm",
// SIAM J. Matrix Anal. Appl. 17(4), 1996).
//
// Elimination is played on a quotient graph, which never needs more room than the matrix. A node is a
// variable (a row not yet eliminated) or an element (an eliminated one, standing for the clique it left). A
// variable i keeps a list: first the elements E_i it touches, then the variables A_i it still meets directly.
// An element e keeps the variables L_e of its clique. Eliminating the variable p of least degree makes it an
// element with
//
//   L_p = (A_p ∪ ⋃_{e ∈ E_p} L_e) \ {p},
//
// which swallows the elements in E_p. The exact degree of a variable of L_p would cost a union of cliques;
// the bound used instead, |A_i| + |L_p \ i| + Σ_{e ∈ E_i \ p} |L_e \ L_p|, costs one pass over the lists.
// Rows with equal lists are merged and eliminated together (supervariables); a variable whose only neighbour
// is p goes with it (mass elimination); an element inside L_p is dropped (aggressive absorption). Rows so
// full that they meet nearly everything only slow the rest down, and are put last.
//
// Cost      about that of a sparse product with the factor's pattern; memory, the pattern and ten n.
// Limits    greedy: on big 3-D meshes nested dissection fills two to four times less.
#include "math/ordering.h"
#include "base/memory.h"
#include "base/stop.h"

#include <math.h>
#include <string.h>

enum { NONE = -1, ASK_EVERY = 256 }; // pivots, whether to go on

typedef enum { VARIABLE, ELEMENT, GONE } Kind; // GONE: merged, absorbed or put last

typedef struct {
  int n, left; // rows; those not yet eliminated
  Kind* kind;
  int* list;              // every list of the graph
  int64_t size, free;     // its length; first place never used
  int64_t* begin;         // list of node i
  int *length, *elements; // entries in it; of a variable, how many of them are elements (they come first)
  int* weight;            // rows a variable stands for; negated while it is in L_p
  int* degree;            // of a variable, the bound; of an element, |L_e| in rows
  int *head, *next, *previous; // variables of a degree, doubly linked
  int least;                   // no variable has a smaller degree
  int *member, *last_member;   // rows merged into a variable, in order
  int *mark, stamp;            // of an element: mark − stamp = |L_e \ L_p| once seen from L_p
  unsigned* hash;
  int *bucket, *bucket_next; // variables of L_p by hash
  int *perm, done;
} Graph;

static void link_degree(Graph* g, int i)
{
  int d = g->degree[i], old = g->head[d];
  g->next[i] = old;
  g->previous[i] = NONE;
  if (old != NONE) g->previous[old] = i;
  g->head[d] = i;
  if (d < g->least) g->least = d;
}

static void unlink_degree(Graph* g, int i)
{
  if (g->previous[i] != NONE) g->next[g->previous[i]] = g->next[i];
  else g->head[g->degree[i]] = g->next[i];
  if (g->next[i] != NONE) g->previous[g->next[i]] = g->previous[i];
}

// Moves the live lists to the front of the store, in the order they lie there: the first entry of each is
// swapped for a tag of its owner, so that one pass over the store finds them. Entries are never negative.
static void compact(Graph* g)
{
  for (int i = 0; i < g->n; i++)
    if (g->kind[i] != GONE && g->length[i] > 0) {
      int64_t at = g->begin[i];
      g->begin[i] = g->list[at];
      g->list[at] = -2 - i;
    }
  int64_t to = 0;
  for (int64_t from = 0; from < g->free;) {
    if (g->list[from] > NONE) {
      from++;
      continue;
    }
    int i = -2 - g->list[from], length = g->length[i];
    g->list[to] = (int)g->begin[i];
    g->begin[i] = to;
    for (int k = 1; k < length; k++) g->list[to + k] = g->list[from + k];
    to += length;
    from += length;
  }
  g->free = to;
}

// Puts the rows merged into i next in the ordering.
static void eliminate_members(Graph* g, int i)
{
  for (int k = i; k != NONE; k = g->member[k]) g->perm[g->done++] = k;
}

static void take_into_element(Graph* g, int i, int* rows)
{
  if (g->kind[i] != VARIABLE || g->weight[i] <= 0) return; // gone, or taken already
  *rows += g->weight[i];
  g->weight[i] = -g->weight[i];
  unlink_degree(g, i);
  g->list[g->free++] = i;
}

// Makes p an element: forms L_p at the end of the store and drops the elements p touched.
static void form_element(Graph* g, int p)
{
  int64_t need = 0;
  for (int k = 0; k < g->length[p]; k++) {
    int node = g->list[g->begin[p] + k];
    need += k < g->elements[p] ? g->length[node] : 1;
  }
  if (need > g->left) need = g->left;
  if (g->size - g->free < need) compact(g);

  int64_t begin = g->free;
  int rows = 0, own = g->weight[p];
  g->left -= own;
  g->weight[p] = 0; // not to be found in its own clique
  for (int k = 0; k < g->length[p]; k++) {
    int node = g->list[g->begin[p] + k];
    if (k >= g->elements[p]) {
      take_into_element(g, node, &rows);
      continue;
    }
    for (int v = 0; v < g->length[node]; v++) take_into_element(g, g->list[g->begin[node] + v], &rows);
    g->kind[node] = GONE;
  }
  g->kind[p] = ELEMENT;
  g->begin[p] = begin;
  g->length[p] = (int)(g->free - begin);
  g->degree[p] = rows;
  eliminate_members(g, p);
}

// Finds |L_e \ L_p| for every element e that touches L_p.
static void measure_overlaps(Graph* g, int p)
{
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->list[g->begin[p] + k];
    for (int m = 0; m < g->elements[i]; m++) {
      int e = g->list[g->begin[i] + m];
      if (g->kind[e] != ELEMENT) continue;
      if (g->mark[e] < g->stamp) g->mark[e] = g->stamp + g->degree[e];
      g->mark[e] += g->weight[i]; // negative: i is in L_p
    }
  }
}

// Rewrites the list of i ∈ L_p without what p has made redundant, with p in front, and bounds its degree.
// Returns false when nothing but p is left.
static bool update_variable(Graph* g, int i, int p)
{
  int* list = g->list + g->begin[i];
  int length = g->length[i], elements = g->elements[i], kept = 0, bound = 0;
  unsigned hash = (unsigned)p;
  // Something left the list when p joined L_p's cliques (p itself, or an element of E_p), so there is room to
  // put p in front: the survivors are first packed, then moved one up.
  for (int k = 0; k < elements; k++) {
    int e = list[k];
    if (g->kind[e] != ELEMENT) continue;
    int outside = g->mark[e] - g->stamp;
    if (outside == 0) {
      g->kind[e] = GONE; // L_e ⊂ L_p
      continue;
    }
    bound += outside;
    hash += (unsigned)e;
    list[kept++] = e;
  }
  int new_elements = kept;
  for (int k = elements; k < length; k++) {
    int j = list[k];
    if (g->kind[j] != VARIABLE || g->weight[j] <= 0) continue; // gone, or reached through p
    bound += g->weight[j];
    hash += (unsigned)j;
    list[kept++] = j;
  }
  // Order within the two parts is free: the first variable makes room for the first element, and that for p.
  list[kept] = list[new_elements];
  list[new_elements] = list[0];
  list[0] = p;
  g->elements[i] = new_elements + 1;
  g->length[i] = kept + 1;
  g->hash[i] = hash % (unsigned)g->n;
  if (bound < g->degree[i]) g->degree[i] = bound;
  return bound > 0;
}

static void absorb(Graph* g, int into, int i)
{
  g->weight[into] += g->weight[i];
  g->weight[i] = 0;
  g->kind[i] = GONE;
  g->member[g->last_member[into]] = i;
  g->last_member[into] = g->last_member[i];
}

// Merges the variables of one bucket that have equal lists. The mark array, stamped anew, holds one list.
static void merge_equals(Graph* g, int first)
{
  for (int i = first; i != NONE && g->bucket_next[i] != NONE; i = g->bucket_next[i]) {
    g->stamp++;
    for (int k = 1; k < g->length[i]; k++) g->mark[g->list[g->begin[i] + k]] = g->stamp;
    for (int before = i, j; (j = g->bucket_next[before]) != NONE;) {
      bool equal = g->length[j] == g->length[i] && g->elements[j] == g->elements[i];
      for (int k = 1; equal && k < g->length[j]; k++) equal = g->mark[g->list[g->begin[j] + k]] == g->stamp;
      if (equal) {
        absorb(g, i, j);
        g->bucket_next[before] = g->bucket_next[j];
      } else {
        before = j;
      }
    }
  }
}

static void merge_supervariables(Graph* g, int p)
{
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->list[g->begin[p] + k];
    if (g->kind[i] != VARIABLE) continue;
    g->bucket_next[i] = g->bucket[g->hash[i]];
    g->bucket[g->hash[i]] = i;
  }
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->list[g->begin[p] + k], first = g->bucket[g->hash[i]];
    if (first == NONE) continue;
    g->bucket[g->hash[i]] = NONE;
    merge_equals(g, first);
  }
}

static void eliminate(Graph* g, int p)
{
  unlink_degree(g, p);
  form_element(g, p);
  if (g->stamp > INT32_MAX - 3 * g->n - 3) { // marks stay below stamp + n
    memset(g->mark, 0, (size_t)g->n * sizeof *g->mark);
    g->stamp = 1;
  }
  measure_overlaps(g, p);
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->list[g->begin[p] + k];
    if (update_variable(g, i, p)) continue;
    g->left += g->weight[i]; // weight is negative here
    g->degree[p] += g->weight[i];
    g->kind[i] = GONE;
    eliminate_members(g, i);
  }
  g->stamp += g->n + 1;
  merge_supervariables(g, p);
  g->stamp++;

  // Keep what is left of L_p, and give each of its variables its new degree.
  int kept = 0;
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->list[g->begin[p] + k];
    if (g->kind[i] != VARIABLE) continue;
    int weight = g->weight[i] = -g->weight[i];
    int bound = g->degree[i] + g->degree[p] - weight;
    g->degree[i] = bound < g->left - weight ? bound : g->left - weight;
    link_degree(g, i);
    g->list[g->begin[p] + kept++] = i;
  }
  g->free = g->begin[p] + kept; // L_p is the last list in the store
  g->length[p] = kept;
  if (kept == 0) g->kind[p] = GONE;
}

static bool allocate(Graph* g, tbArena* arena, int n, const int* ptr)
{
  size_t m = (size_t)n;
  g->n = g->left = g->least = n;
  g->size = (int64_t)ptr[n] + ptr[n] / 5 + 2 * (int64_t)n + 1;
  g->list = TB_TAKE(arena, int, (size_t)g->size);
  g->begin = TB_TAKE(arena, int64_t, m);
  g->kind = TB_TAKE(arena, Kind, m);
  int** arrays[] = {&g->length,   &g->elements, &g->weight,      &g->degree, &g->head,   &g->next,
                    &g->previous, &g->member,   &g->last_member, &g->mark,   &g->bucket, &g->bucket_next};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    if (!(*arrays[k] = TB_TAKE(arena, int, m))) return false;
  g->hash = TB_TAKE(arena, unsigned, m);
  g->stamp = 1;
  return g->list && g->begin && g->kind && g->hash;
}

// Reads the pattern. Rows fuller than 10 √n are taken out of the graph and put at the end of the ordering.
static void build(Graph* g, const int* ptr, const int* idx)
{
  double full = fmax(16, 10 * sqrt(g->n));
  for (int i = 0; i < g->n; i++) {
    g->head[i] = g->bucket[i] = g->member[i] = NONE;
    g->last_member[i] = i;
    g->weight[i] = 1;
    if (ptr[i + 1] - ptr[i] <= full) continue;
    g->kind[i] = GONE;
    g->weight[i] = 0;
    g->left--;
  }
  for (int i = 0, last = g->left; i < g->n; i++) {
    if (g->kind[i] == GONE) {
      g->perm[last++] = i;
      continue;
    }
    g->begin[i] = g->free;
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] != i && g->kind[idx[p]] != GONE) g->list[g->free++] = idx[p];
    g->length[i] = g->degree[i] = (int)(g->free - g->begin[i]);
    link_degree(g, i);
  }
}

tbStatus tb_order_by_degree(tbContext* ctx, int n, const int* ptr, const int* idx, int* perm)
{
  tbArena arena;
  Graph g = {.perm = perm};
  tb_arena_init(&arena, ctx);
  tbStatus status = allocate(&g, &arena, n, ptr) ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    build(&g, ptr, idx);
    for (int pivots = 1; g.left > 0 && status == TB_OK; pivots++) {
      if (pivots % ASK_EVERY == 0) status = tb_check_interrupt(ctx);
      while (g.head[g.least] == NONE) g.least++;
      eliminate(&g, g.head[g.least]);
    }
  }
  tb_arena_free(&arena);
  return status;
}
