// SPDX-License-Identifier: Apache-2.0
// The local half of an iteration: every element projects its shape, every node adds up what its elements
// want.
//
//   rhs = base + h Σ w Sᵀp(x₀ + h v),      base = M (v₀ + h g) + h f − h Σ w SᵀS x₀ − what pins contribute
//
// Elements write vectors of their own, one to a corner, then nodes gather them in the order of the elements:
// the same bits for any number of threads. What is linear in x₀ is P without its diagonal part, which acts on
// differences of nodes; of quadratic hinges nothing else is left.
#include "pd/elements.h"

#include "base/memory.h"
#include "base/threads.h"
#include "math/polar.h"

#include <string.h>

enum { PIECE = 512 };

typedef struct {
  const tbPdStep* step;
  const tbVec3* v;
  tbVec3* out;
} Job;

static void place_nodes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbPdStep* s = job->step;
  for (int i = begin; i < end; i++) s->at[i] = tb_madd3(s->x[i], s->body->h, job->v[i]);
}

static void project_elements(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbPdStep* s = ((const Job*)user)->step;
  if (s->body->fem->cloth) tb_pd_membranes(s->body, begin, end, s->at, s->start, s->push);
  else tb_pd_tets(s->body, begin, end, s->at, (const tbMat3*)s->start, s->push);
}

static void project_hinges(void* user, int begin, int end, int piece)
{
  (void)piece;
  tb_pd_angles(((const Job*)user)->step, begin, end);
}

// A spring's target is as long as it is at rest; damped, as it is at the start, too: L + β/h |d₀|.
static void project_springs(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbPdStep* s = ((const Job*)user)->step;
  const tbPdBody* b = s->body;
  double damping = tb_pd_damping(b->fem, b->h);
  for (int i = begin; i < end; i++) {
    const int* node = b->fem->corner[2] + 2 * (size_t)i;
    tbVec3 d = tb_sub3(s->at[node[1]], s->at[node[0]]), *push = s->push + b->first[2] + 2 * i;
    double length = b->fem->spring[i].length, distance = tb_norm3(d);
    if (damping > 0) length += damping * tb_distance3(s->x[node[0]], s->x[node[1]]);
    push[1] = tb_scale3(distance > 0 ? b->h * b->fem->spring[i].stiffness * length / distance : 0, d);
    push[0] = tb_neg3(push[1]);
  }
}

// What the elements around a node want of it.
static tbVec3 gather(const tbPdStep* s, int node)
{
  const tbPdBody* b = s->body;
  tbVec3 sum = tb_zero3();
  for (int k = b->around_adr[node]; k < b->around_adr[node + 1]; k++)
    sum = tb_add3(sum, s->push[b->around[k]]);
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
  tb_parallel_for(threads, s->body->nnode, PIECE, place_nodes, &job);
  tb_parallel_for(threads, s->body->nelement, PIECE, project_elements, &job);
  tb_parallel_for(threads, s->body->fem->nelement[2], PIECE, project_springs, &job);
  if (tb_pd_has_angles(s->body->fem))
    tb_parallel_for(threads, s->body->fem->nelement[1], PIECE, project_hinges, &job);
  tb_parallel_for(threads, s->body->nnode, PIECE, gather_nodes, &job);
}

// ---- the constant part ----

// What the damped sets are made of: how far an element is stretched at the start.
static void look_at_start(const tbPdStep* s, int e)
{
  const tbPdBody* b = s->body;
  const tbFemBody* fem = b->fem;
  const int* node = fem->corner[0] + (size_t)b->corners * (size_t)e;
  tbVec3 F[3] = {{0}};
  for (int k = 1; k < b->corners; k++) {
    tbVec3 g = tb_pd_gradient(fem, e, k), d = tb_sub3(s->x[node[k]], s->x[node[0]]);
    F[0] = tb_madd3(F[0], g.x, d), F[1] = tb_madd3(F[1], g.y, d), F[2] = tb_madd3(F[2], g.z, d);
  }
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

static void finish_base(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbPdStep* s = ((const Job*)user)->step;
  const tbPdBody* b = s->body;
  for (int i = begin; i < end; i++) {
    tbVec3 stretch = tb_zero3(), pinned = tb_zero3();
    for (int e = b->P.ptr[i]; e < b->P.ptr[i + 1]; e++) {
      int k = b->P.idx[e];
      stretch = tb_madd3(stretch, b->full[e], tb_sub3(s->x[k], s->x[i]));
      if (b->pinned[k] && !b->pinned[i]) pinned = tb_madd3(pinned, b->full[e], s->pin[k]);
      if (k == i && b->pinned[i]) pinned = tb_scale3(b->P.val[e], s->pin[i]);
    }
    tbVec3 sum = tb_madd3(s->base[i], -1 / b->h, stretch);
    sum = tb_madd3(sum, b->fem->mass[i], tb_madd3(s->v[i], b->h, s->gravity));
    sum = tb_madd3(sum, b->h, s->force[i]);
    s->base[i] = b->pinned[i] ? pinned : tb_sub3(sum, pinned);
  }
}

tbStatus tb_pd_begin(tbContext* ctx, tbArena* arena, const tbPdBody* b, tbPdStep* s)
{
  bool damped = b->fem->stiffness_damping > 0;
  size_t kept = b->fem->cloth ? TB_PD_LENGTHS : sizeof(tbMat3) / sizeof(double);
  s->body = b;
  s->base = TB_TAKE(arena, tbVec3, (size_t)b->nnode);
  s->push = TB_TAKE_UNSET(arena, tbVec3, (size_t)b->npush);
  s->at = TB_TAKE_UNSET(arena, tbVec3, (size_t)b->nnode);
  s->start = damped ? TB_TAKE_UNSET(arena, double, kept*(size_t)b->nelement) : NULL;
  bool angles = damped && tb_pd_has_angles(b->fem);
  s->angle = angles ? TB_TAKE_UNSET(arena, double, (size_t)b->fem->nelement[1]) : NULL;
  s->scratch = TB_TAKE_UNSET(arena, double, tb_cholesky_parts_scratch(b->factor, &b->parts));
  if (!s->base || !s->push || !s->at || (damped && !s->start) || (angles && !s->angle) || !s->scratch)
    return TB_ERROR_MEMORY;
  Job job = {.step = s};
  if (damped) tb_parallel_for(ctx->threads, b->nelement, PIECE, look_at_starts, &job);
  tb_pd_begin_hinges(s);
  tb_parallel_for(ctx->threads, b->nnode, PIECE, finish_base, &job);
  return TB_OK;
}
