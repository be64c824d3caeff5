#include "solve/velocity.h"

#include "base/memory.h"
#include "base/slab.h"
#include "base/threads.h"
#include "solve/run.h"

#include <math.h>
#include <string.h>

enum { CONTACTS_PER_PIECE = 64, ENTRIES_PER_PIECE = 64 };
static const double FAR_FEWER = 0.8;       // entries than were analysed
static const double WORTH_NARROWING = 1e6; // multiplications and additions of a factorisation
static const double TINY = 1e-100;

// The columns of a contact's J that lie in one node.
typedef struct {
  int contact, node, at; // at: the node's row that the first column stands for
  int width, stride;     // columns; distance of two rows of J
  size_t jac;            // first value in p->jac
  size_t CJ;             // first value in CJ, rows × width
} Part;

// A block of the matrix gets J_aᵀ C J_b.
typedef struct {
  int a, b; // parts
} Term;

struct tbVelocity {
  const tbProblem* p;
  const size_t* diag_adr;
  tbArena memory;
  tbLu *full, *narrow; // over all contacts; over the active ones, in the slab, or null
  int nodes, entries;
  int* first;      // degree of freedom of a node                     (nodes+1)
  int* node_of;    // a degree of freedom                             (ndof)
  int *ptr, *col;  // pattern of the matrix by nodes                  (nodes+1), (entries)
  size_t* val_adr; // (entries+1)
  double *A, *val; // A alone; A + Jᵀ C J
  int* part_ptr;   // parts of a contact                              (ncontact+1)
  Part* part;
  int* term_ptr; // terms of an entry                                 (entries+1)
  Term* term;
  double* CJ;

  // what the narrow one is over
  tbContext slab_ctx;
  tbSlab slab;                       // no memory: there is never a narrow one
  uint8_t *metric, *live, *analysed; // entries that A has; that are not 0; that are in the factor   (entries)
  int live_count;
  int *lu_ptr, *lu_col; // (nodes+1), (entries)
  size_t* lu_adr;       // (entries)
};

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
          v->part[count] = (Part){.contact = k,
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
  v->part = KEEP(Part, count);
  v->CJ = KEEP(double, values);
  if (!v->part_ptr || !v->part || !v->CJ) return TB_ERROR_MEMORY;
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

// The values of A in node i's row of blocks.
static void place_metric(tbVelocity* v, const Graph* g, int i)
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
      v->metric[g->mark[j]] = 1;
      v->A[v->val_adr[g->mark[j]] + (size_t)(r * cols + dof - v->first[j])] = b->value[e];
    }
  }
}

// Entry by entry the terms Jᵀ C J adds to it, in the order of the contacts. With v->term null they are
// counted in term_ptr[e + 2].
static void visit_terms(tbVelocity* v, Graph* g)
{
  for (int i = 0; i < v->nodes; i++) {
    for (int e = v->ptr[i]; e < v->ptr[i + 1]; e++) g->mark[v->col[e]] = e;
    if (!v->term) place_metric(v, g, i);
    for (int e = g->of_ptr[i]; e < g->of_ptr[i + 1]; e++) {
      int a = g->of[e], k = v->part[a].contact;
      for (int b = v->part_ptr[k]; b < v->part_ptr[k + 1]; b++) {
        int entry = g->mark[v->part[b].node];
        if (v->term) v->term[v->term_ptr[entry + 1]++] = (Term){a, b};
        else v->term_ptr[entry + 2]++;
      }
    }
  }
}

static tbStatus make_terms(tbVelocity* v, Graph* g)
{
  visit_terms(v, g);
  for (int e = 0; e < v->entries; e++) v->term_ptr[e + 2] += v->term_ptr[e + 1];
  v->term = KEEP(Term, (size_t)v->term_ptr[v->entries + 1]);
  if (!v->term) return TB_ERROR_MEMORY;
  visit_terms(v, g);
  return TB_OK;
}

// Memory to analyse again in: enough for what is worth it.
static tbStatus make_slab(tbVelocity* v, tbContext* ctx)
{
  tbLuStats stats = tb_lu_stats(v->full);
  if (stats.flops < WORTH_NARROWING) return TB_OK;
  v->slab.size = (size_t)(0.75 * stats.bytes) + 200 * (size_t)(v->nodes + v->entries) + 100000;
  v->slab.base = TB_NEW(ctx, char, v->slab.size);
  v->slab_ctx = tb_slab_context(&v->slab, ctx);
  return v->slab.base ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus build(tbContext* ctx, tbVelocity* v, tbArena* temporary, double max_bytes)
{
  Graph g;
  TB_TRY(make_nodes(v));
  TB_TRY(make_parts(v));
  TB_TRY(parts_by_nodes(v, temporary, &g));
  TB_TRY(make_pattern(v, &g));
  TB_TRY(make_terms(v, &g));
  TB_TRY(tb_lu_analyze(ctx, v->nodes, v->first, v->ptr, v->col, max_bytes, &v->full));
  return make_slab(v, ctx);
}

tbStatus tb_velocity_create(tbContext* ctx, const tbProblem* p, const size_t* diag_adr, double max_bytes,
                            tbVelocity** out)
{
  *out = NULL;
  if (p->W_ptr) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a problem that gives W has no velocities");
  tbVelocity* v = TB_NEW(ctx, tbVelocity, 1);
  if (!v) return TB_ERROR_MEMORY;
  v->p = p, v->diag_adr = diag_adr;
  tb_arena_init(&v->memory, ctx);
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  tbStatus status = build(ctx, v, &temporary, max_bytes);
  tb_arena_free(&temporary);
  if (status == TB_OK) *out = v;
  else tb_velocity_free(ctx, v);
  return status;
}

void tb_velocity_free(tbContext* ctx, tbVelocity* v)
{
  if (!v) return;
  tb_lu_free(ctx, v->full);
  tb_free(ctx, v->slab.base);
  v->memory.ctx = ctx;
  tb_arena_free(&v->memory);
  tb_free(ctx, v);
}

tbLuStats tb_velocity_stats(const tbVelocity* v) { return tb_lu_stats(v->narrow ? v->narrow : v->full); }

// ---- values ----

typedef struct {
  tbVelocity* v;
  const double* C;
} Sum;

// CJ = C_k J, part by part. Three rows and six columns are the common case: constants get unrolled.
static inline __attribute__((always_inline)) void multiply_part(int rows, int width, int stride,
                                                                const double* C, const double* J, double* CJ)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += C[i * rows + r] * J[r * stride + j];
      CJ[i * width + j] = sum;
    }
}

static bool is_zero(const tbVelocity* v, const double* C, int contact)
{
  for (size_t i = v->diag_adr[contact]; i < v->diag_adr[contact + 1]; i++)
    if (C[i] != 0) return false;
  return true;
}

static void multiply_parts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sum* s = user;
  tbVelocity* v = s->v;
  for (int k = begin; k < end; k++) {
    int rows = tb_rows(v->p, k);
    const double* C = s->C + v->diag_adr[k];
    if (is_zero(v, s->C, k)) continue;
    for (int a = v->part_ptr[k]; a < v->part_ptr[k + 1]; a++) {
      const Part* x = &v->part[a];
      const double* J = v->p->jac + x->jac;
      if (rows == 3 && x->width == 6 && x->stride == 6) multiply_part(3, 6, 6, C, J, v->CJ + x->CJ);
      else if (rows == 3 && x->width == 3 && x->stride == 3) multiply_part(3, 3, 3, C, J, v->CJ + x->CJ);
      else multiply_part(rows, x->width, x->stride, C, J, v->CJ + x->CJ);
    }
  }
}

// M += Jᵀ CJ, M with rows `lead` apart.
static inline __attribute__((always_inline)) void add_term(int rows, int height, int stride, const double* J,
                                                           int width, const double* CJ, double* M, int lead)
{
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++) {
      double sum = 0;
      for (int r = 0; r < rows; r++) sum += J[r * stride + i] * CJ[r * width + j];
      M[i * lead + j] += sum;
    }
}

static void sum_entries(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Sum* s = user;
  tbVelocity* v = s->v;
  const tbProblem* p = v->p;
  for (int e = begin; e < end; e++) {
    int cols = v->first[v->col[e] + 1] - v->first[v->col[e]];
    double* M = v->val + v->val_adr[e];
    memcpy(M, v->A + v->val_adr[e], (v->val_adr[e + 1] - v->val_adr[e]) * sizeof *M);
    v->live[e] = v->metric[e];
    for (int t = v->term_ptr[e]; t < v->term_ptr[e + 1]; t++) {
      const Part *a = &v->part[v->term[t].a], *b = &v->part[v->term[t].b];
      int rows = tb_rows(p, a->contact);
      if (is_zero(v, s->C, a->contact)) continue;
      const double *J = p->jac + a->jac, *CJ = v->CJ + b->CJ;
      double* to = M + a->at * cols + b->at;
      bool three = rows == 3 && a->stride == a->width && a->width == b->width;
      if (three && a->width == 6 && cols == 6) add_term(3, 6, 6, J, 6, CJ, to, 6);
      else if (three && a->width == 3 && cols == 3) add_term(3, 3, 3, J, 3, CJ, to, 3);
      else add_term(rows, a->width, a->stride, J, b->width, CJ, to, cols);
      v->live[e] = 1;
    }
  }
}

// Analyses the live entries; without a narrow factor where that takes more memory than the whole.
static void narrow(tbVelocity* v)
{
  int used = 0;
  for (int i = 0, e = 0; i < v->nodes; i++) {
    for (; e < v->ptr[i + 1]; e++)
      if ((v->analysed[e] = v->live[e])) v->lu_col[used] = v->col[e], v->lu_adr[used++] = v->val_adr[e];
    v->lu_ptr[i + 1] = used;
  }
  v->live_count = used;
  tb_slab_reset(&v->slab);
  v->narrow = NULL;
  tb_lu_analyze(&v->slab_ctx, v->nodes, v->first, v->lu_ptr, v->lu_col, 0, &v->narrow);
}

static void follow_contacts(tbVelocity* v)
{
  bool fits = v->narrow;
  int count = 0;
  if (!v->slab.base) return;
  for (int e = 0; e < v->entries; e++) {
    count += v->live[e];
    fits = fits && (v->analysed[e] || !v->live[e]);
  }
  if (count >= FAR_FEWER * v->entries) v->narrow = NULL;
  else if (!fits || count < FAR_FEWER * v->live_count) narrow(v);
}

void tb_velocity_factor(tbVelocity* v, tbThreads* threads, const double* C)
{
  Sum s = {v, C};
  tb_parallel_for(threads, v->p->ncontact, CONTACTS_PER_PIECE, multiply_parts, &s);
  tb_parallel_for(threads, v->entries, ENTRIES_PER_PIECE, sum_entries, &s);
  follow_contacts(v);
  // Pivots are no smaller than the eigenvalues of A, however stiff contacts are beside it: none is replaced.
  if (v->narrow) tb_lu_factor(v->narrow, threads, v->lu_adr, v->val, NULL, TINY);
  else tb_lu_factor(v->full, threads, v->val_adr, v->val, NULL, TINY);
}

void tb_velocity_solve(tbVelocity* v, double* x) { tb_lu_solve(v->narrow ? v->narrow : v->full, x); }

// ---- products with J ----

void tb_velocity_contacts(const tbVelocity* v, const double* x, double* u)
{
  const tbProblem* p = v->p;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    double sum[TB_MAX_ROWS] = {0};
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *y = x + p->jac_dof[c];
      for (int i = 0; i < rows; i++, J += width)
        for (int j = 0; j < width; j++) sum[i] += J[j] * y[j];
    }
    memcpy(u + p->row_adr[k], sum, (size_t)rows * sizeof *sum);
  }
}

void tb_velocity_gather(const tbVelocity* v, const double* lambda, double* x)
{
  const tbProblem* p = v->p;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *y = lambda + p->row_adr[k];
      double* to = x + p->jac_dof[c];
      for (int i = 0; i < tb_rows(p, k); i++, J += width)
        for (int j = 0; j < width; j++) to[j] += J[j] * y[i];
    }
}
