// SPDX-License-Identifier: Apache-2.0
// The local half of an iteration: every element projects its shape, every node adds up what its elements
// want.
//
//   rhs = base + h Σ w Sᵀp(x₀ + h v),      base = M (v₀ + h g) + h f − h Σ w SᵀS x₀ − what pins contribute
//
// Elements write vectors of their own, then nodes gather them in the order of the elements: the same bits for
// any number of threads. Hinges appear in base alone.
#include "pd/elements.h"

#include "base/threads.h"
#include "math/polar.h"

#include <string.h>

enum { PIECE = 512 };

typedef struct {
  const tbPdStep* step;
  const tbVec3* v;
  tbVec3* out;
  double scale; // of what is gathered
} Job;

static void project_elements(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbPdStep* s = job->step;
  const tbPdBody* b = s->body;
  if (b->fem->cloth) tb_pd_membranes(b->fem, b->h, begin, end, s->x, job->v, s->start, s->push);
  else tb_pd_tets(b->fem, b->h, begin, end, s->x, job->v, (const tbMat3*)s->start, s->push);
}

// Σ Sᵀ push of the elements around a node.
static tbVec3 gather(const tbPdStep* s, int node)
{
  const tbPdBody* b = s->body;
  tbVec3 sum = tb_zero3();
  for (int k = b->around_adr[node]; k < b->around_adr[node + 1]; k++) {
    const tbVec3* push = s->push + b->around[k];
    const double* g = b->slope + (size_t)b->columns * (size_t)k;
    sum = tb_madd3(tb_madd3(sum, g[0], push[0]), g[1], push[1]);
    if (b->columns == 3) sum = tb_madd3(sum, g[2], push[2]);
  }
  return sum;
}

static void gather_nodes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbPdStep* s = job->step;
  const tbPdBody* b = s->body;
  for (int i = begin; i < end; i++) {
    if (b->pinned[i]) job->out[i] = s->base[i];
    else job->out[i] = tb_add3(s->base[i], gather(s, i));
    if (s->touched && s->touched[i] && b->fem->drag && !b->pinned[i])
      job->out[i] = tb_madd3(job->out[i], b->h * b->fem->drag[i], job->v[i]);
  }
}

void tb_pd_project(tbThreads* threads, const tbPdStep* s, const tbVec3* v, tbVec3* rhs)
{
  Job job = {.step = s, .v = v, .out = rhs};
  tb_parallel_for(threads, s->body->nelement, PIECE, project_elements, &job);
  tb_parallel_for(threads, s->body->nnode, PIECE, gather_nodes, &job);
}

// ---- the constant part ----

// F of the start, and with damping what the damped sets are made of.
static void look_at_start(const tbPdStep* s, int e)
{
  const tbPdBody* b = s->body;
  const tbFemBody* fem = b->fem;
  tbPdWeights w = tb_pd_weights(fem, e);
  const int* node = fem->corner[0] + (size_t)b->corners * (size_t)e;
  double damping = tb_pd_damping(fem, b->h), pull = b->h * ((w.first + w.second) * (1 + damping) + w.limit);
  tbVec3 F[3] = {{0}};
  for (int k = 1; k < b->corners; k++) {
    tbVec3 g = tb_pd_gradient(fem, e, k), d = tb_sub3(s->x[node[k]], s->x[node[0]]);
    F[0] = tb_madd3(F[0], g.x, d), F[1] = tb_madd3(F[1], g.y, d), F[2] = tb_madd3(F[2], g.z, d);
  }
  for (int k = 0; k < b->columns; k++) s->push[b->columns * e + k] = tb_scale3(-pull, F[k]);
  if (!s->start) return;
  if (!fem->cloth) {
    ((tbMat3*)s->start)[e] = tb_polar3(tb_mat3_cols(F[0], F[1], F[2])).S;
    return;
  }
  const double half = 0.70710678118654752;
  double* length = s->start + TB_PD_LENGTHS * (size_t)e;
  length[0] = tb_norm3(F[0]), length[1] = tb_norm3(F[1]);
  length[2] = half * tb_norm3(tb_add3(F[0], F[1])), length[3] = half * tb_norm3(tb_sub3(F[1], F[0]));
}

static void look_at_starts(void* user, int begin, int end, int piece)
{
  (void)piece;
  for (int e = begin; e < end; e++) look_at_start(((const Job*)user)->step, e);
}

// Towards p = 0 where hinges are flat at rest, else towards the angle they had, on the side they had it:
// along the normal of the start of the step, which turns with the cloth from step to step.
static void resist_bending(const tbPdStep* s)
{
  const tbPdBody* b = s->body;
  for (int i = 0; b->fem->cloth && b->fem->sheet.bend > 0 && i < b->fem->nelement[1]; i++) {
    const int* node = b->fem->corner[1] + 4 * (size_t)i;
    tbVec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = s->x[node[k]];
    tbVec3 bent = tb_pd_hinge(b, i, x);
    if (b->angle[i] != 0) bent = tb_madd3(bent, -b->angle[i], tb_pd_hinge_normal(x));
    tbVec3 push = tb_scale3(-b->h * tb_pd_hinge_weight(b->fem, i), bent);
    for (int k = 0; k < 4; k++) s->base[node[k]] = tb_madd3(s->base[node[k]], b->hinge[i][k], push);
  }
}

static void finish_base(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbPdStep* s = ((const Job*)user)->step;
  const tbPdBody* b = s->body;
  for (int i = begin; i < end; i++) {
    tbVec3 sum = tb_add3(s->base[i], gather(s, i));
    sum = tb_madd3(sum, b->fem->mass[i], tb_madd3(s->v[i], b->h, s->gravity));
    sum = tb_madd3(sum, b->h, s->force[i]);
    for (int e = b->P.ptr[i]; e < b->P.ptr[i + 1]; e++) {
      int k = b->P.idx[e];
      if (b->pinned[k] && !b->pinned[i]) sum = tb_madd3(sum, -b->full[e], s->pin[k]);
      if (k == i && b->pinned[i]) sum = tb_scale3(b->P.val[e], s->pin[i]);
    }
    s->base[i] = sum;
  }
}

tbStatus tb_pd_begin(tbContext* ctx, tbArena* arena, const tbPdBody* b, tbPdStep* s)
{
  bool damped = b->fem->stiffness_damping > 0;
  size_t kept = b->fem->cloth ? TB_PD_LENGTHS : sizeof(tbMat3) / sizeof(double);
  s->body = b;
  s->base = TB_TAKE(arena, tbVec3, (size_t)b->nnode);
  s->push = TB_TAKE(arena, tbVec3, (size_t)b->nelement * (size_t)b->columns);
  s->start = damped ? TB_TAKE(arena, double, kept*(size_t)b->nelement) : NULL;
  s->scratch = TB_TAKE(arena, double, tb_cholesky_parts_scratch(b->factor, &b->parts));
  if (!s->base || !s->push || (damped && !s->start) || !s->scratch) return TB_ERROR_MEMORY;
  Job job = {.step = s};
  tb_parallel_for(ctx->threads, b->nelement, PIECE, look_at_starts, &job);
  resist_bending(s);
  tb_parallel_for(ctx->threads, b->nnode, PIECE, finish_base, &job);
  return TB_OK;
}
