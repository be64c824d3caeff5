// SPDX-License-Identifier: Apache-2.0
// The graph of nodes: who is whose neighbour, and which products of J and C belong to which block.
#include "solve/velocity_graph.h"

#include "solve/run.h"

#include <string.h>

#define KEEP(type, count) TB_TAKE(&v->memory, type, count)

// ---- nodes and parts ----

static int node_size(const tbMetricBlock* b) { return b->kind != TB_METRIC_SPARSE ? b->size : b->unit; }

static tbStatus make_nodes(tbVelocity* v)
{
  const tbProblem* p = v->p;
  v->first = KEEP(int, (size_t)p->ndof + 1);
  v->node_of = KEEP(int, (size_t)p->ndof);
  if (!v->first || !v->node_of) return TB_ERROR_MEMORY;
  for (int b = 0; b < p->nblock; b++)
    for (int i = 0, size = node_size(&p->block[b]); i < p->block[b].size; i += size) {
      v->first[v->nodes++] = p->block[b].dof + i;
      for (int j = 0; j < size; j++) v->node_of[p->block[b].dof + i + j] = v->nodes - 1;
    }
  v->first[v->nodes] = p->ndof;
  return TB_OK;
}

// Cuts the column blocks of J where nodes meet. Counts only while v->part is null.
static int cut_columns(tbVelocity* v, size_t* values)
{
  const tbProblem* p = v->p;
  int count = 0;
  *values = 0;
  for (int k = 0; k < p->ncontact; k++) {
    if (v->part) v->part_ptr[k] = count;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int j = 0, width; j < p->jac_width[c]; j += width) {
        int dof = p->jac_dof[c] + j, node = v->node_of[dof], left = p->jac_width[c] - j;
        width = v->first[node + 1] - dof < left ? v->first[node + 1] - dof : left;
        if (v->part)
          v->part[count] = (tbVelocityPart){.contact = k,
                                            .node = node,
                                            .at = dof - v->first[node],
                                            .width = width,
                                            .stride = p->jac_width[c],
                                            .jac = p->jac_val_adr[c] + (size_t)j,
                                            .CJ = *values};
        count++;
        *values += (size_t)(tb_rows(p, k) * width);
      }
  }
  if (v->part) v->part_ptr[p->ncontact] = count;
  return count;
}

static tbStatus make_parts(tbVelocity* v)
{
  size_t values, count = (size_t)cut_columns(v, &values);
  v->part_ptr = KEEP(int, (size_t)v->p->ncontact + 1);
  v->part = KEEP(tbVelocityPart, count);
  v->CJ = KEEP(double, values);
  v->pushes = KEEP(uint8_t, (size_t)v->p->ncontact);
  if (!v->part_ptr || !v->part || !v->CJ || !v->pushes) return TB_ERROR_MEMORY;
  cut_columns(v, &values);
  return TB_OK;
}

// ---- pattern ----

typedef struct {
  int *of_ptr, *of; // parts by nodes
  int* mark;        // the entry of a neighbour, or −1                (nodes)
} Graph;

static tbStatus parts_by_nodes(const tbVelocity* v, tbArena* temporary, Graph* g)
{
  int count = v->part_ptr[v->p->ncontact];
  g->of_ptr = TB_TAKE(temporary, int, (size_t)v->nodes + 2);
  g->of = TB_TAKE(temporary, int, (size_t)count);
  g->mark = TB_TAKE(temporary, int, (size_t)v->nodes);
  if (!g->of_ptr || !g->of || !g->mark) return TB_ERROR_MEMORY;
  int* next = g->of_ptr + 1; // counts, then running ends
  for (int a = 0; a < count; a++) next[v->part[a].node + 1]++;
  for (int i = 0; i < v->nodes; i++) next[i + 1] += next[i];
  for (int a = 0; a < count; a++) g->of[next[v->part[a].node]++] = a;
  for (int i = 0; i < v->nodes; i++) g->mark[i] = -1;
  return TB_OK;
}

static void add_neighbour(tbVelocity* v, Graph* g, int i, int j, int* used)
{
  if (g->mark[j] >= v->ptr[i]) return;
  g->mark[j] = *used;
  if (v->col) v->col[*used] = j;
  ++*used;
}

// Neighbours of every node: itself, those that A couples it with, those that share a contact with it. Counts
// only while v->col is null.
static int find_neighbours(tbVelocity* v, Graph* g)
{
  const tbProblem* p = v->p;
  int used = 0;
  for (int i = 0; i < v->nodes; i++) g->mark[i] = -1;
  for (int i = 0; i < v->nodes; i++) {
    const tbMetricBlock* b = &p->block[p->dof_block[v->first[i]]];
    v->ptr[i] = used;
    add_neighbour(v, g, i, i, &used);
    for (int r = v->first[i]; b->kind == TB_METRIC_SPARSE && r < v->first[i + 1]; r++)
      for (int e = b->ptr[r - b->dof]; e < b->ptr[r - b->dof + 1]; e++)
        add_neighbour(v, g, i, v->node_of[b->dof + b->col[e]], &used);
    for (int e = g->of_ptr[i]; e < g->of_ptr[i + 1]; e++) {
      int k = v->part[g->of[e]].contact;
      for (int a = v->part_ptr[k]; a < v->part_ptr[k + 1]; a++)
        add_neighbour(v, g, i, v->part[a].node, &used);
    }
  }
  v->ptr[v->nodes] = used;
  return used;
}

static tbStatus make_pattern(tbVelocity* v, Graph* g)
{
  v->ptr = KEEP(int, (size_t)v->nodes + 1);
  if (!v->ptr) return TB_ERROR_MEMORY;
  v->entries = find_neighbours(v, g);
  v->col = KEEP(int, (size_t)v->entries);
  v->val_adr = KEEP(size_t, (size_t)v->entries + 1);
  v->term_ptr = KEEP(int, (size_t)v->entries + 2);
  if (!v->col || !v->val_adr || !v->term_ptr) return TB_ERROR_MEMORY;
  find_neighbours(v, g);
  for (int i = 0, e = 0; i < v->nodes; i++)
    for (; e < v->ptr[i + 1]; e++) {
      int j = v->col[e], rows = v->first[i + 1] - v->first[i], cols = v->first[j + 1] - v->first[j];
      v->val_adr[e + 1] = v->val_adr[e] + (size_t)(rows * cols);
    }
  v->A = KEEP(double, v->val_adr[v->entries]);
  v->val = KEEP(double, v->val_adr[v->entries]);
  v->metric = KEEP(uint8_t, (size_t)v->entries);
  v->live = KEEP(uint8_t, (size_t)v->entries);
  v->analysed = KEEP(uint8_t, (size_t)v->entries);
  v->lu_ptr = KEEP(int, (size_t)v->nodes + 1);
  v->lu_col = KEEP(int, (size_t)v->entries);
  v->lu_adr = KEEP(size_t, (size_t)v->entries);
  return v->A && v->val && v->metric && v->live && v->analysed && v->lu_ptr && v->lu_col && v->lu_adr
             ? TB_OK
             : TB_ERROR_MEMORY;
}

// The values of A in node i's row of blocks; mark: the entry of that row in the column of a node.
static void place_metric(tbVelocity* v, const int* mark, int i)
{
  const tbMetricBlock* b = &v->p->block[v->p->dof_block[v->first[i]]];
  int size = v->first[i + 1] - v->first[i];
  double* diagonal = v->A + v->val_adr[v->ptr[i]];
  v->metric[v->ptr[i]] = 1;
  if (b->kind == TB_METRIC_DENSE) memcpy(diagonal, b->value, (size_t)(size * size) * sizeof *diagonal);
  if (b->kind == TB_METRIC_PARTICLE)
    for (int r = 0; r < size; r++) diagonal[r * (size + 1)] = b->value[0];
  for (int r = 0; b->kind == TB_METRIC_SPARSE && r < size; r++) {
    int row = v->first[i] - b->dof + r;
    for (int e = b->ptr[row]; e < b->ptr[row + 1]; e++) {
      int dof = b->dof + b->col[e], j = v->node_of[dof], cols = v->first[j + 1] - v->first[j];
      v->metric[mark[j]] = 1;
      v->A[v->val_adr[mark[j]] + (size_t)(r * cols + dof - v->first[j])] = b->value[e];
    }
  }
}

// Entry by entry the terms Jᵀ C J adds to it, in the order of the contacts. With v->term null they are
// counted in term_ptr[e + 2].
static void visit_terms(tbVelocity* v, Graph* g)
{
  for (int i = 0; i < v->nodes; i++) {
    for (int e = v->ptr[i]; e < v->ptr[i + 1]; e++) g->mark[v->col[e]] = e;
    if (!v->term) place_metric(v, g->mark, i);
    for (int e = g->of_ptr[i]; e < g->of_ptr[i + 1]; e++) {
      int a = g->of[e], k = v->part[a].contact;
      for (int b = v->part_ptr[k]; b < v->part_ptr[k + 1]; b++) {
        int entry = g->mark[v->part[b].node];
        if (v->term) v->term[v->term_ptr[entry + 1]++] = (tbVelocityTerm){a, b};
        else v->term_ptr[entry + 2]++;
      }
    }
  }
}

static tbStatus make_terms(tbVelocity* v, Graph* g)
{
  visit_terms(v, g);
  for (int e = 0; e < v->entries; e++) v->term_ptr[e + 2] += v->term_ptr[e + 1];
  v->term = KEEP(tbVelocityTerm, (size_t)v->term_ptr[v->entries + 1]);
  if (!v->term) return TB_ERROR_MEMORY;
  visit_terms(v, g);
  return TB_OK;
}

void tb_velocity_metric(tbVelocity* v)
{
  int* mark = v->lu_col; // entries are no fewer than nodes
  for (int i = 0; i < v->nodes; i++) {
    for (int e = v->ptr[i]; e < v->ptr[i + 1]; e++) mark[v->col[e]] = e;
    place_metric(v, mark, i);
  }
}

tbStatus tb_velocity_graph(tbVelocity* v, tbArena* temporary)
{
  Graph g;
  TB_TRY(make_nodes(v));
  TB_TRY(make_parts(v));
  TB_TRY(parts_by_nodes(v, temporary, &g));
  TB_TRY(make_pattern(v, &g));
  return make_terms(v, &g);
}
