// SPDX-License-Identifier: Apache-2.0
// Preconditioners (Verschoor and Jalba 2019, §3.4). With the block inverse of B in mind,
//
//   Full   C⁻¹ = ⎡ A_d⁻¹ − A_d⁻¹Lᵀ S_d⁻¹ L A_d⁻¹   (S_d⁻¹ L A_d⁻¹)ᵀ ⎤        Diag   ⎡ A_d⁻¹       ⎤
//               ⎣ S_d⁻¹ L A_d⁻¹                   −S_d⁻¹            ⎦               ⎣        S_d⁻¹ ⎦
//
// A_d is the diagonal of sparse metric blocks and all of small ones. `Factor` is Full with A itself, whose
// factor the problem holds: w then follows λ exactly, and what is left is a problem in λ preconditioned by
// S_d. Blocks without a factor have their diagonal there, too.
//
// Rows that repeat or contradict each other make B singular. So rows give way a little, by G, around the
// impulses at the last change of states: a proximal term, which vanishes with the changes.
//
// `Schur` is Full with S = L A_d⁻¹ Lᵀ + R + G as a whole. It is as sparse as contacts that share nodes make
// it, and its factor costs less than a product with A. C⁻¹ is the exact inverse of B with A_d for A, and what
// is left to iterate on is A_d⁻¹A where the rows hold: as quick as conjugate gradients without contacts.
//
// S_d = diag(Z L A_d⁻¹ Lᵀ) + R. Rows that repeat each other would be counted once each; Z counts how many
// there are: contacts between the same small blocks, all of them; contacts on the nodes of sparse blocks,
// weighed by how alike their weights w at the nodes they share are, Π (1 − |w_a − w_b|).
#include "solve/cr_system.h"
#include "base/threads.h"
#include "problem/delassus.h"
#include "problem/metric.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CONTACTS_PER_PIECE = 256, BLOCKS_PER_PIECE = 256, DOFS_PER_PIECE = 4096 };
static const double GIVE = 1e-2;     // of what an impulse moves its own row by
static const double APPROACH = 1e-3; // of a warm start, without a factor: the iteration does the rest

void tb_cr_system_layout(tbCrSystem* s, tbScratch* scratch, const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  size_t rows = (size_t)p->nrow;
  s->solved = TB_SCRATCH(scratch, bool, rows);
  s->S = TB_SCRATCH(scratch, double, rows);
  s->own = TB_SCRATCH(scratch, double, rows);
  s->give = TB_SCRATCH(scratch, double, rows);
  s->held = TB_SCRATCH(scratch, bool, rows);
  s->diagonal = TB_SCRATCH(scratch, double, (size_t)p->ndof);
  s->room = TB_SCRATCH(scratch, double, (size_t)p->ndof);
  s->nodal = TB_SCRATCH(scratch, bool, (size_t)p->ncontact);
  s->scale = TB_SCRATCH(scratch, double, (size_t)(p->jac_adr ? p->jac_adr[p->ncontact] : 0));
  s->turned = TB_SCRATCH(scratch, double, rows);
  s->blocks.problem = p;
  s->blocks.room_adr = TB_SCRATCH(scratch, size_t, (size_t)p->nblock);
  s->blocks.room = TB_SCRATCH(scratch, double, tb_blocks_room(p));
  tb_product_layout(&s->product, scratch, p);
}

// A_d is the diagonal there.
static bool is_diagonal(const tbCrSystem* s, const tbMetricBlock* block)
{
  return block->kind == TB_METRIC_SPARSE && !(s->kind == TB_PRECONDITIONER_FACTOR && block->factor);
}

// Every pair of contacts on a node of a sparse block, or on a small block.
tbStatus tb_cr_schur_bytes(tbContext* ctx, const tbProblem* p, double* out)
{
  double* rows = TB_NEW(ctx, double, (size_t)p->ndof);
  if (!rows) return TB_ERROR_MEMORY;
  *out = 0;
  for (int k = 0; k < p->ncontact; k++)
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      const tbMetricBlock* b = &p->block[p->dof_block[p->jac_dof[c]]];
      rows[b->kind == TB_METRIC_SPARSE ? p->jac_dof[c] : b->dof] += tb_rows(p, k);
    }
  for (int i = 0; i < p->ndof; i++) *out += sizeof(double) * rows[i] * rows[i];
  tb_free(ctx, rows);
  return TB_OK;
}

// ---- duplicates ----

static double weight_of(const tbProblem* p, int c)
{
  double sum = 0;
  const double* J = p->jac + p->jac_val_adr[c];
  for (int j = 0; j < p->jac_width[c]; j++) sum += J[j] * J[j];
  return sqrt(sum);
}

static bool is_sparse(const tbProblem* p, int c)
{
  return p->block[p->dof_block[p->jac_dof[c]]].kind == TB_METRIC_SPARSE;
}

// How far contacts k and l repeat each other, 0 … 1. Small blocks: where they hold the same bodies.
static double likeness(const tbProblem* p, int k, int l)
{
  double product = 1;
  int shared = 0, small_k = 0, small_l = 0;
  for (int d = p->jac_adr[l]; d < p->jac_adr[l + 1]; d++) small_l += !is_sparse(p, d);
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    bool small = !is_sparse(p, c), met = false;
    small_k += small;
    for (int d = p->jac_adr[l]; d < p->jac_adr[l + 1]; d++) {
      if (p->jac_dof[c] != p->jac_dof[d]) continue;
      met = true;
      if (!small) product *= fmax(0, 1 - fabs(weight_of(p, c) - weight_of(p, d)));
    }
    shared += met;
    if (small && !met) return 0;
  }
  return shared > 0 && small_k == small_l ? product : 0;
}

// Σ over the contacts that share a node, or a small block, with k; each met at the first they share.
static double count_duplicates(const tbProblem* p, const tbDelassusOwner* o, int k)
{
  double sum = p->jac_adr[k] == p->jac_adr[k + 1]; // itself, where it touches nothing
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int b = p->dof_block[p->jac_dof[c]], x = p->jac_dof[c];
    bool nodes = o->touching.ptr;
    int begin = nodes ? o->touching.ptr[x] : o->incidence.ptr[b];
    int end = nodes ? o->touching.ptr[x + 1] : o->incidence.ptr[b + 1];
    for (int e = begin; e < end; e++) {
      int l = nodes ? o->touching.contact[e] : o->incidence.contact[e];
      bool met_before = false;
      for (int d = p->jac_adr[k]; !met_before && d < c; d++)
        for (int g = p->jac_adr[l]; g < p->jac_adr[l + 1]; g++)
          met_before = met_before || p->jac_dof[d] == p->jac_dof[g];
      if (!met_before) sum += likeness(p, k, l);
    }
  }
  return fmax(1, sum);
}

// Bodies that hold each other at many points would be compared pair by pair: beyond so many, the count on the
// block stands for it.
enum { MANY = 256 };

static bool is_crowded(const tbProblem* p, const tbDelassusOwner* o, int k, double* count)
{
  *count = INFINITY;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int b = p->dof_block[p->jac_dof[c]], x = p->jac_dof[c];
    double here = o->touching.ptr ? o->touching.ptr[x + 1] - o->touching.ptr[x]
                                  : o->incidence.ptr[b + 1] - o->incidence.ptr[b];
    *count = fmin(*count, here);
  }
  return isfinite(*count) && *count > MANY;
}

// ---- contacts of nodes ----

// Whether J of column block c is a multiple of the 3×3 numbers F, to rounding; the factor.
static bool is_multiple(const double* J, const double* F, double size, double* scale)
{
  double along = 0, largest = 0;
  for (int i = 0; i < 9; i++) along += J[i] * F[i], largest = fmax(largest, fabs(J[i]));
  *scale = along / size;
  bool same = true;
  for (int i = 0; i < 9; i++) same &= fabs(J[i] - *scale * F[i]) <= 4 * DBL_EPSILON * largest;
  return same;
}

// Corners of faces and edges move a contact by their weights: every block of J is the contact's frame times
// one of them, and a product takes a third of the numbers.
static bool find_scales(const tbProblem* p, int k, double* scale)
{
  int begin = p->jac_adr[k], end = p->jac_adr[k + 1];
  double size = 0;
  if (begin == end || tb_rows(p, k) != 3) return false;
  for (int c = begin; c < end; c++)
    if (p->jac_width[c] != 3) return false;
  const double* F = p->jac + p->jac_val_adr[begin];
  for (int i = 0; i < 9; i++) size += F[i] * F[i];
  bool all = size > 0;
  for (int c = begin; c < end; c++) all = all && is_multiple(p->jac + p->jac_val_adr[c], F, size, &scale[c]);
  return all;
}

void tb_cr_system_begin(tbCrSystem* s, tbRun* run)
{
  const tbProblem* p = s->p = run->p;
  const tbDelassus* W = s->W = run->W;
  s->threads = run->threads;
  s->kind = tb_cr_preconditioner(run->o);
  s->schur = run->prepared;
  tb_product_begin(&s->product);
  tb_blocks_begin(&s->blocks);
  for (int k = 0; k < p->ncontact; k++) s->nodal[k] = find_scales(p, k, s->scale);
  double largest = 0;
  for (int i = 0; i < p->ndof; i++)
    s->diagonal[i] = is_diagonal(s, &p->block[p->dof_block[i]]) ? 1 / W->lumped[i] : 1;
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k), first = p->row_adr[k];
    double copies;
    if (!is_crowded(p, W->owner, k, &copies)) copies = count_duplicates(p, W->owner, k);
    for (int i = 0; i < rows; i++) {
      double D = W->diag[W->diag_adr[k] + (size_t)(i * rows + i)], R = p->compliance[first + i];
      s->own[first + i] = D;
      s->S[first + i] = copies * (D - R) + R;
      largest = fmax(largest, D);
    }
  }
  for (int i = 0; i < p->nrow; i++) { // rows that nothing moves
    s->S[i] = fmax(s->S[i], largest > 0 ? 1e-14 * largest : 1);
    s->own[i] = fmax(s->own[i], largest > 0 ? 1e-14 * largest : 1);
    s->give[i] = GIVE * s->own[i];
  }
}

void tb_cr_system_follow(tbCrSystem* s)
{
  if (!s->schur) return;
  for (int i = 0; i < s->p->nrow; i++) s->held[i] = !s->solved[i];
  s->factored = tb_shifted_factor(s->schur, 1, s->give, s->held);
}

// ---- products ----

typedef struct {
  const tbCrSystem* s;
  const double* x;
  double* y;
  const double* weight; // of the entries of x; null: one
} Pass;

void tb_cr_multiply_metric(const tbCrSystem* s, const double* w, double* Aw)
{
  tb_product_multiply(&s->product, s->threads, false, w, Aw);
}

// ---- J and its transpose ----

// One column block: f += Jᵀx, x += J w; every sum has the same order whatever the sizes.
static inline void push(const double* restrict J, int rows, int width, const double* restrict x,
                        double* restrict f)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) f[j] += J[i * width + j] * x[i];
}

static inline void pull(const double* restrict J, int rows, int width, const double* restrict w,
                        double* restrict x)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) x[i] += J[i * width + j] * w[j];
}

static inline void push_node(double scale, const double* restrict g, double* restrict f)
{
  for (int j = 0; j < 3; j++) f[j] += scale * g[j];
}

static inline void pull_weighed(const double* restrict J, int rows, int width, const double* restrict weight,
                                const double* restrict w, double* restrict x)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) x[i] += J[i * width + j] * (weight[j] * w[j]);
}

// Fᵀx of the contacts of nodes, F their first blocks.
static void turn_contacts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* q = user;
  const tbProblem* p = q->s->p;
  for (int k = begin; k < end; k++) {
    if (!q->s->nodal[k]) continue;
    const double *F = p->jac + p->jac_val_adr[p->jac_adr[k]], *x = q->x + p->row_adr[k];
    double* y = q->y + p->row_adr[k];
    for (int j = 0; j < 3; j++) y[j] = F[j] * x[0] + F[3 + j] * x[1] + F[6 + j] * x[2];
  }
}

static void turn_rows(const tbCrSystem* s, const double* x)
{
  tb_parallel_for(s->threads, s->p->ncontact, CONTACTS_PER_PIECE, turn_contacts,
                  &(Pass){s, x, s->turned, NULL});
}

// After turn_rows() of the same x.
static void push_columns(const tbCrSystem* s, int b, const double* x, double* f)
{
  const tbProblem* p = s->p;
  const tbIncidence* in = &s->W->owner->incidence;
  for (int e = in->ptr[b]; e < in->ptr[b + 1]; e++) {
    int c = in->col[e], k = in->contact[e], width = p->jac_width[c], rows = tb_rows(p, k);
    const double* J = p->jac + p->jac_val_adr[c];
    if (s->nodal[k]) push_node(s->scale[c], s->turned + p->row_adr[k], f + p->jac_dof[c]);
    else push(J, rows, width, x + p->row_adr[k], f + p->jac_dof[c]);
  }
}

static void gather_blocks(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* q = user;
  for (int b = begin; b < end; b++) push_columns(q->s, b, q->x, q->y);
}

void tb_cr_gather(const tbCrSystem* s, const double* x, double* f)
{
  turn_rows(s, x);
  tb_parallel_for(s->threads, s->p->nblock, BLOCKS_PER_PIECE, gather_blocks, &(Pass){s, x, f, NULL});
}

// y = F Σ scale_c x_c over the blocks of a contact of nodes.
static void pull_nodes(const Pass* q, int k, double* restrict y)
{
  const tbProblem* p = q->s->p;
  const double* F = p->jac + p->jac_val_adr[p->jac_adr[k]];
  double sum[3] = {0};
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    const double *x = q->x + p->jac_dof[c], *weight = q->weight ? q->weight + p->jac_dof[c] : NULL;
    double scale = q->s->scale[c];
    for (int j = 0; j < 3; j++) sum[j] += scale * (weight ? weight[j] * x[j] : x[j]);
  }
  for (int i = 0; i < 3; i++) y[i] = F[3 * i] * sum[0] + F[3 * i + 1] * sum[1] + F[3 * i + 2] * sum[2];
}

static void spread_contacts(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* q = user;
  const tbProblem* p = q->s->p;
  for (int k = begin; k < end; k++) {
    int rows = tb_rows(p, k);
    double* y = q->y + p->row_adr[k];
    if (q->s->nodal[k]) {
      pull_nodes(q, k, y);
      continue;
    }
    for (int i = 0; i < rows; i++) y[i] = 0;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int width = p->jac_width[c];
      const double *J = p->jac + p->jac_val_adr[c], *x = q->x + p->jac_dof[c];
      if (q->weight) pull_weighed(J, rows, width, q->weight + p->jac_dof[c], x, y);
      else pull(J, rows, width, x, y);
    }
  }
}

void tb_cr_spread(const tbCrSystem* s, const double* w, double* x)
{
  tb_parallel_for(s->threads, s->p->ncontact, CONTACTS_PER_PIECE, spread_contacts, &(Pass){s, w, x, NULL});
}

void tb_cr_weighted_product(const tbCrSystem* s, const double* weight, const double* r, double* x)
{
  tb_parallel_for(s->threads, s->p->ncontact, CONTACTS_PER_PIECE, spread_contacts, &(Pass){s, r, x, weight});
}

typedef struct {
  const tbCrSystem* s;
  const double *f, *start;
  double* w;
} Approach;

static void approach(void* user, int b, tbThreads* threads, double* room)
{
  const Approach* q = user;
  const tbMetricBlock* block = &q->s->p->block[b];
  size_t bytes = (size_t)block->size * sizeof(double);
  double* w = q->w + block->dof;
  const double* f = q->f + block->dof;
  bool iterates = block->kind == TB_METRIC_SPARSE && !block->factor;
  tbInterrupt stop = q->s->W->owner->interrupt;
  memcpy(w, iterates && q->start ? q->start + block->dof : f, bytes);
  if (!iterates) tb_metric_solve(block, threads, w, room);
  else if (q->start) tb_metric_cg_from(stop, block, threads, APPROACH, f, w, room);
  else tb_metric_cg_unless(stop, block, threads, APPROACH, w, room);
}

void tb_cr_approach(const tbCrSystem* s, const double* lambda, const double* start, double* w)
{
  memset(s->room, 0, (size_t)s->p->ndof * sizeof *s->room);
  tb_cr_gather(s, lambda, s->room);
  tb_blocks_each(&s->blocks, s->threads, approach, &(Approach){s, s->room, start, w});
}

void tb_cr_apply(const tbCrSystem* s, const double* x, double* Bx)
{
  const tbProblem* p = s->p;
  tb_product_multiply(&s->product, s->threads, !s->exact, x, Bx);
  tb_cr_gather(s, x + p->ndof, Bx);
  tb_cr_spread(s, x, Bx + p->ndof);
  for (int i = 0; i < p->nrow; i++) {
    double row = Bx[p->ndof + i] - (p->compliance[i] + s->give[i]) * x[p->ndof + i];
    Bx[p->ndof + i] = s->solved[i] ? row : 0;
  }
}

// ---- preconditioning ----

static void solve_diagonal(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* q = user;
  const double* restrict x = q->x, * restrict D = q->s->diagonal;
  double* restrict y = q->y;
  for (int i = begin; i < end; i++) y[i] = D[i] * x[i];
}

// y ← A_d⁻¹y on the blocks that are solved with as a whole.
static void solve_block(void* user, int b, tbThreads* threads, double* room)
{
  const Pass* q = user;
  const tbMetricBlock* block = &q->s->p->block[b];
  if (!is_diagonal(q->s, block)) tb_metric_solve(block, threads, q->y + block->dof, room);
}

// y −= A_d⁻¹Lᵀe. Where A_d is diagonal, only degrees of freedom that are touched change.
static void react(const tbCrSystem* s, const double* e, double* y)
{
  const tbProblem* p = s->p;
  const tbIncidence* in = &s->W->owner->incidence;
  turn_rows(s, e);
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    if (in->ptr[b] == in->ptr[b + 1]) continue;
    bool diagonal = is_diagonal(s, block);
    for (int i = in->ptr[b]; diagonal && i < in->ptr[b + 1]; i++) {
      int c = in->col[i], k = in->contact[i], width = p->jac_width[c], first = p->jac_dof[c];
      const double *J = p->jac + p->jac_val_adr[c], *D = s->diagonal + first;
      if (s->nodal[k]) {
        const double* g = s->turned + p->row_adr[k];
        for (int j = 0; j < 3; j++) y[first + j] -= D[j] * (s->scale[c] * g[j]);
        continue;
      }
      for (int j = 0; j < width; j++) {
        double f = 0;
        for (int r = 0; r < tb_rows(p, k); r++) f += J[r * width + j] * e[p->row_adr[k] + r];
        y[first + j] -= D[j] * f;
      }
    }
    if (diagonal) continue;
    double* f = s->room + block->dof;
    memset(f, 0, (size_t)block->size * sizeof *f);
    push_columns(s, b, e, s->room);
    tb_metric_solve(block, s->threads, f, s->blocks.room + s->blocks.room_adr[b]);
    for (int i = 0; i < block->size; i++) y[block->dof + i] -= f[i];
  }
}

void tb_cr_precondition(const tbCrSystem* s, const double* x, double* y)
{
  const tbProblem* p = s->p;
  const double* c = x + p->ndof;
  double* e = y + p->ndof;
  tb_parallel_for(s->threads, p->ndof, DOFS_PER_PIECE, solve_diagonal, &(Pass){s, x, y, NULL});
  tb_blocks_each(&s->blocks, s->threads, solve_block, &(Pass){s, x, y, NULL}); // t = A_d⁻¹x_w
  if (s->kind == TB_PRECONDITIONER_DIAG) {
    for (int i = 0; i < p->nrow; i++) e[i] = s->solved[i] ? c[i] / s->S[i] : 0;
    return;
  }
  tb_cr_spread(s, y, e); // e = S⁻¹(L t − x_z)
  for (int i = 0; i < p->nrow; i++) e[i] = s->solved[i] ? e[i] - c[i] : 0;
  if (s->factored) tb_shifted_solve(s->schur, e, e);
  else
    for (int i = 0; i < p->nrow; i++) e[i] /= s->S[i];
  react(s, e, y); // y_w = t − A_d⁻¹Lᵀe
}
