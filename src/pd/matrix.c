// SPDX-License-Identifier: Apache-2.0
// P = (1 + hα) M + h drag + (h² + hβ) Σ w SᵀS, its pattern, its values and its factor.
#include "pd/elements.h"

#include "base/threads.h"
#include "tribo/limits.h"

#include <string.h>

enum { LARGE = 4000 }; // nodes: then the ordering is a library's, else the same whatever is installed

typedef struct {
  int count;
  int *row, *col;
  double* value;
} Triplets;

static void put(Triplets* t, int row, int col, double value)
{
  t->row[t->count] = row, t->col[t->count] = col;
  t->value[t->count++] = value;
}

// Σ w SᵀS with w times h² + hβ (what is not damped: h²), and zeros on the diagonal for what it has to hold.
static void fill(const tbPdBody* b, double h, Triplets* t)
{
  const tbFemBody* fem = b->fem;
  double scale = h * h + h * fem->stiffness_damping;
  t->count = 0;
  for (int e = 0; e < b->nelement; e++) {
    tbPdWeights w = tb_pd_weights(fem, e);
    const int* node = fem->corner[0] + (size_t)b->corners * (size_t)e;
    for (int i = 0; i < b->corners; i++)
      for (int k = 0; k < b->corners; k++)
        put(t, node[i], node[k],
            (scale * (w.first + w.second) + h * h * w.limit) *
                tb_dot3(tb_pd_gradient(fem, e, i), tb_pd_gradient(fem, e, k)));
  }
  bool apart = tb_pd_has_angles(fem); // then the corners opposite to each other are not coupled
  for (int e = 0; tb_pd_has_hinges(fem) && e < fem->nelement[1]; e++) {
    const int* node = fem->corner[1] + 4 * (size_t)e;
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 4; k++)
        if (!apart || i + k != 5) put(t, node[i], node[k], tb_pd_hinge_entry(b, scale, e, i, k));
  }
  for (int e = 0; e < fem->nelement[2]; e++) {
    const int* node = fem->corner[2] + 2 * (size_t)e;
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 2; k++)
        put(t, node[i], node[k], scale * (i == k ? fem->spring[e].stiffness : -fem->spring[e].stiffness));
  }
  for (int i = 0; i < b->nnode; i++) put(t, i, i, 0);
}

static tbStatus take_triplets(const tbPdBody* b, tbArena* arena, Triplets* out)
{
  size_t n = (size_t)b->nelement * (size_t)(b->corners * b->corners) + (size_t)b->nnode;
  if (tb_pd_has_hinges(b->fem)) n += 16 * (size_t)b->fem->nelement[1];
  n += 4 * (size_t)b->fem->nelement[2];
  *out = (Triplets){
      .row = TB_TAKE(arena, int, n), .col = TB_TAKE(arena, int, n), .value = TB_TAKE(arena, double, n)};
  return out->row && out->col && out->value ? TB_OK : TB_ERROR_MEMORY;
}

// Row 3i + a of the wide matrix is row i of P on axis a.
static tbStatus widen_pattern(tbPdBody* b)
{
  const tbCsr* P = &b->P;
  TB_TRY(tb_csr_take(&b->arena, 3 * b->nnode, 3 * b->nnode, 3 * P->ptr[b->nnode], &b->wide));
  int at = 0;
  for (int i = 0; i < b->nnode; i++)
    for (int a = 0; a < 3; a++) {
      for (int e = P->ptr[i]; e < P->ptr[i + 1]; e++) b->wide.idx[at++] = 3 * P->idx[e] + a;
      b->wide.ptr[3 * i + a + 1] = at;
    }
  return TB_OK;
}

tbStatus tb_pd_pattern(tbPdBody* b)
{
  tbArena scratch;
  tb_arena_init(&scratch, b->arena.ctx);
  Triplets t;
  tbStatus status = take_triplets(b, &scratch, &t);
  if (status == TB_OK) {
    fill(b, 1, &t);
    status = tb_csr_take_triplets(&b->arena, b->nnode, b->nnode, t.count, t.row, t.col, t.value, &b->P);
  }
  tb_arena_free(&scratch);
  if (status != TB_OK) return status;
  b->full = TB_TAKE(&b->arena, double, (size_t)b->P.ptr[b->nnode]);
  return b->full ? widen_pattern(b) : TB_ERROR_MEMORY;
}

static int find(const tbCsr* A, int row, int col)
{
  int lo = A->ptr[row], hi = A->ptr[row + 1] - 1;
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (A->idx[mid] < col) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static void add_diagonal(tbPdBody* b, double h)
{
  const tbFemBody* fem = b->fem;
  for (int i = 0; i < b->nnode; i++) {
    b->lump[i] = (1 + h * fem->mass_damping) * fem->mass[i] + (fem->drag ? h * fem->drag[i] : 0);
    b->full[find(&b->P, i, i)] += b->lump[i];
  }
}

static void take_out_pins(tbPdBody* b)
{
  const uint8_t* pinned = b->pinned;
  for (int i = 0; i < b->nnode; i++)
    for (int e = b->P.ptr[i]; e < b->P.ptr[i + 1]; e++) {
      int k = b->P.idx[e];
      b->P.val[e] = i == k && pinned[i] ? TB_FEM_PIN * b->full[e] : pinned[i] || pinned[k] ? 0 : b->full[e];
    }
  for (int i = 0, at = 0; i < b->nnode; i++)
    for (int a = 0; a < 3; a++)
      for (int e = b->P.ptr[i]; e < b->P.ptr[i + 1]; e++) b->wide.val[at++] = b->P.val[e];
}

static tbStatus make_values(tbContext* ctx, tbPdBody* b, double h)
{
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  Triplets t;
  tbStatus status = take_triplets(b, &scratch, &t);
  if (status == TB_OK) {
    fill(b, h, &t);
    memset(b->full, 0, (size_t)b->P.ptr[b->nnode] * sizeof *b->full);
    for (int k = 0; k < t.count; k++) b->full[find(&b->P, t.row[k], t.col[k])] += t.value[k];
    add_diagonal(b, h);
    tb_pd_fill_triangles(b, h);
    memcpy(b->pinned, b->fem->pinned, (size_t)b->nnode);
    take_out_pins(b);
  }
  tb_arena_free(&scratch);
  return status;
}

tbStatus tb_pd_update(tbContext* ctx, tbPdBody* b, double h)
{
  if (h == b->h && memcmp(b->pinned, b->fem->pinned, (size_t)b->nnode) == 0) return TB_OK;
  b->h = 0; // until all of it is there
  b->wide_known = false;
  b->arena.ctx = ctx;
  TB_TRY(make_values(ctx, b, h));
  tbCholeskyOptions how = {.ordering = b->nnode > LARGE ? TB_ORDERING_AUTO : TB_ORDERING_DEGREE};
  if (!b->factor) TB_TRY(tb_cholesky_analyze(ctx, b->nnode, b->P.ptr, b->P.idx, &how, &b->factor));
  if (!b->parts.rows) TB_TRY(tb_cholesky_cut(&b->arena, b->factor, &b->parts));
  TB_TRY(tb_cholesky_factor(ctx, b->factor, b->P.val));
  tb_cholesky_load_parts(ctx->threads, b->factor, &b->parts);
  TB_TRY(tb_pd_measure_softness(ctx, b));
  b->h = h;
  return TB_OK;
}

// The order of elimination of P, one axis after the other: supernodes are those of P's own factor.
static tbStatus analyse_wide(tbContext* ctx, tbPdBody* b)
{
  int* order = TB_NEW(ctx, int, 3 * (size_t)b->nnode);
  if (!order) return TB_ERROR_MEMORY;
  const int* perm = tb_cholesky_permutation(b->factor);
  for (int a = 0, at = 0; a < 3; a++)
    for (int k = 0; k < b->nnode; k++) order[at++] = 3 * perm[k] + a;
  tbCholeskyOptions how = {.order = order, .most_bytes = TB_FACTOR_BYTES};
  tbStatus status = tb_cholesky_analyze(ctx, 3 * b->nnode, b->wide.ptr, b->wide.idx, &how, &b->wide_factor);
  tb_free(ctx, order);
  b->wide_analysed = status == TB_OK;
  return status;
}

tbStatus tb_pd_factor_wide(tbContext* ctx, tbPdBody* b)
{
  if (!b->wide_analysed) TB_TRY(analyse_wide(ctx, b));
  if (b->wide_known || !b->wide_factor) return TB_OK;
  TB_TRY(tb_cholesky_factor(ctx, b->wide_factor, b->wide.val));
  b->inverses.ctx = ctx;
  tb_arena_reset(&b->inverses);
  TB_TRY(tb_selected_inverse(ctx, &b->inverses, b->wide_factor, &b->wide_inverse));
  b->wide_known = true;
  return TB_OK;
}

// ---- what a step asks of it ----

void tb_pd_solve(tbThreads* threads, const tbPdStep* s, const tbVec3* rhs, tbVec3* v)
{
  tb_cholesky_solve_parts(threads, s->body->factor, &s->body->parts, 3, &rhs->x, &v->x, s->scratch);
}

typedef struct {
  const tbPdBody* body;
  const tbVec3* v;
  tbVec3* out;
} Product;

static void multiply(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Product* p = user;
  const tbCsr* P = &p->body->P;
  for (int i = begin; i < end; i++) {
    tbVec3 sum = tb_zero3();
    for (int e = P->ptr[i]; e < P->ptr[i + 1]; e++) sum = tb_madd3(sum, P->val[e], p->v[P->idx[e]]);
    p->out[i] = sum;
  }
}

void tb_pd_multiply(tbThreads* threads, const tbPdStep* s, const tbVec3* v, tbVec3* out)
{
  Product p = {s->body, v, out};
  tb_parallel_for(threads, s->body->nnode, 1024, multiply, &p);
}
