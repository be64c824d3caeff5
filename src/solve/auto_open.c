// SPDX-License-Identifier: Apache-2.0
// `auto` without the contacts that stay open.
//
// A contact without impulse whose bodies do not approach there, u_n ≥ 0, obeys its law, and what the others
// do is as if it were not there: impulses that solve the problem of some contacts solve the whole one
// wherever the rest stays open. So the contacts in play are solved for first: those that push in the warm
// start or approach at its velocities, and what is no unilateral contact. Contacts that approach afterwards
// come into play, and again. Surfaces that are sampled finely have many more contacts than push, nearly
// dependent on each other; and what is connected only by contacts that are open falls apart into islands
// (auto_islands.c) that are smaller than those of the problem.
//
// The judge is asked about the whole each time. Where rounds do not end it, `auto` goes on with all contacts
// from their end.
#include "base/sort.h"
#include "problem/judge.h"
#include "problem/part.h"
#include "solve/auto.h"
#include "solve/kept.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

enum {
  WORTH_IT = 24, // contacts; fewer are solved sooner together
  ROUNDS = 6
};
static const double ALIKE = 0.9; // cosine of two normal rows that do nearly the same
static const double FEW = 0.4;   // of the contacts: what may be in play for the rest to be worth leaving out

typedef struct {
  double u;
  int contact;
} Approach;

typedef struct {
  tbRun* run;
  tbArena arena;
  tbPartMaps maps;
  bool* in_play;      // (ncontact)
  int* contact;       // those in play, ascending                                          (ncontact)
  double* u;          // of all of them                                                       (nrow)
  Approach* approach; // not in play, by their velocities                               (ncontact)
  int *head, *next;   // those that come into play in a round, by metric blocks         (nblock), (ncontact)
  int count;
  double* lambda;
} Open;

static bool ask(void* user) { return tb_run_stops(((Open*)user)->run); }

static bool pushes(const tbProblem* p, int k, const double* lambda)
{
  for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
    if (lambda[i] != 0) return true;
  return false;
}

static bool is_unilateral(const tbProblem* p, int k)
{
  return p->law[k] != TB_LAW_BILATERAL && p->law[k] != TB_LAW_BOX;
}

// The normal row alone, but of limits each one.
static bool approaches(const tbProblem* p, int k, const double* u)
{
  int end = p->law[k] == TB_LAW_NONNEG ? p->row_adr[k + 1] : p->row_adr[k] + 1;
  for (int i = p->row_adr[k]; i < end; i++)
    if (!(u[i] >= 0)) return true;
  return false;
}

// ---- which contacts come into play ----

static double metric_entry(const tbMetricBlock* b, int i)
{
  return b->kind == TB_METRIC_PARTICLE ? b->value[0] : b->value[i * b->size + i];
}

// What the normal rows of contacts on the same bodies have in common, by A's diagonal: J_k D⁻¹ J_lᵀ.
static double coupling(const tbProblem* p, int k, int l)
{
  double sum = 0;
  for (int c = p->jac_adr[k], e = p->jac_adr[l]; c < p->jac_adr[k + 1] && e < p->jac_adr[l + 1]; c++, e++) {
    if (p->jac_dof[c] != p->jac_dof[e] || p->jac_width[c] != p->jac_width[e]) continue;
    const tbMetricBlock* b = &p->block[p->dof_block[p->jac_dof[c]]];
    const double *x = p->jac + p->jac_val_adr[c], *y = p->jac + p->jac_val_adr[e];
    for (int i = 0, at = p->jac_dof[c] - b->dof; i < p->jac_width[c]; i++)
      sum += x[i] * y[i] / metric_entry(b, at + i);
  }
  return sum;
}

// Whether a contact of this round on the same bodies does nearly what k would.
static bool is_alike(const Open* s, int head, int k)
{
  const tbProblem* p = s->run->p;
  double own = coupling(p, k, k);
  for (int l = head; l > 0; l = s->next[l - 1]) {
    double both = coupling(p, k, l - 1);
    if (both > 0 && both * both > ALIKE * ALIKE * own * coupling(p, l - 1, l - 1)) return true;
  }
  return false;
}

static int by_speed(const void* x, const void* y)
{
  const Approach *a = x, *b = y;
  if (a->u != b->u) return a->u < b->u ? -1 : 1;
  return a->contact - b->contact;
}

// Of the contacts that approach at λ's velocities, the fastest first, those that differ from each other.
static void bring_approaching(Open* s)
{
  const tbProblem* p = s->run->p;
  int count = 0;
  for (int k = 0; k < p->ncontact; k++)
    if (!s->in_play[k] && approaches(p, k, s->u)) s->approach[count++] = (Approach){s->u[p->row_adr[k]], k};
  tb_sort(s->approach, (size_t)count, sizeof *s->approach, by_speed);
  memset(s->head, 0, (size_t)p->nblock * sizeof *s->head);
  for (int i = 0; i < count; i++) {
    int k = s->approach[i].contact, last = p->jac_adr[k + 1] - 1;
    if (last < p->jac_adr[k]) continue;
    int* head = &s->head[p->dof_block[p->jac_dof[last]]]; // the first contact + 1 of this round there
    if (is_alike(s, *head, k)) continue;
    s->in_play[k] = true;
    s->next[k] = *head, *head = k + 1;
  }
}

// Contacts that λ, and the velocities it leads to, bring into play; true: there are new ones.
static bool bring_into_play(Open* s, const double* lambda)
{
  const tbProblem* p = s->run->p;
  const tbSolveOptions* o = s->run->o;
  tbResidual ignored;
  int before = s->count;
  tb_judge_measure(s->run->judge, lambda, o->model, o->directions, &ignored, s->u, NULL);
  for (int k = 0; k < p->ncontact; k++)
    s->in_play[k] = s->in_play[k] || !is_unilateral(p, k) || pushes(p, k, lambda);
  bring_approaching(s);
  s->count = 0;
  for (int k = 0; k < p->ncontact; k++)
    if (s->in_play[k]) s->contact[s->count++] = k;
  return s->count > before;
}

// ---- rounds ----

// Between λ of the whole and of the part.
static void copy_rows(const Open* s, bool back, double* part)
{
  const tbProblem* p = s->run->p;
  for (int i = 0; i < s->count; i++)
    for (int r = p->row_adr[s->contact[i]]; r < p->row_adr[s->contact[i] + 1]; r++, part++)
      if (back) s->lambda[r] = *part;
      else *part = s->lambda[r];
}

static tbStatus solve_part(tbContext* ctx, Open* s, int iterations, tbSolveResult* r)
{
  tbProblem part;
  tbSolveOptions o = *s->run->o;
  o.max_iterations -= iterations;
  o.time_budget_s = 0, o.time_left_s = NULL;
  o.trace = o.watch = NULL;
  o.cancelled = ask, o.cancelled_user = s;
  TB_TRY(tb_problem_part(&s->arena, s->run->p, s->contact, s->count, &s->maps, &part));
  double* lambda = TB_TAKE(&s->arena, double, (size_t)part.nrow);
  if (!lambda) return TB_ERROR_MEMORY;
  copy_rows(s, false, lambda);
  tbContext own = *ctx;
  own.interrupt = (tbInterrupt){0}; // a part that is stopped answers all the same
  tbStatus status = tb_solve_part(&own, &part, &o, TB_PART_IN_PLAY, 0, NULL, lambda, r);
  if (status != TB_OK) ctx->error = own.error;
  else copy_rows(s, true, lambda);
  return status;
}

static tbStatus play(tbContext* ctx, Open* s, bool* over)
{
  tbRun* run = s->run;
  int n = run->p->ncontact, iterations = 0;
  memcpy(s->lambda, run->best, (size_t)run->p->nrow * sizeof *s->lambda);
  bring_into_play(s, s->lambda);
  tb_run_begin(run);
  for (int round = 0; round < ROUNDS && s->count > 0 && s->count <= FEW * n; round++) {
    tbSolveResult r;
    TB_TRY(solve_part(ctx, s, iterations, &r));
    iterations += r.iterations;
    if (r.iterations > 0) run->used = r.used;
    run->start_known = false;
    tb_run_judge_next(run);
    *over = tb_run_done(run, iterations, s->lambda);
    run->start_known = true;
    if (*over || r.outcome != TB_CONVERGED || !bring_into_play(s, s->lambda)) break;
  }
  return TB_OK;
}

// Whether judging is cheap, velocities are what Coulomb's law asks about, and a warm start says that there is
// something to leave out. Reduced bodies need none: with contacts at every vertex of a surface, few of them
// push.
static bool suits(const tbRun* run)
{
  const tbProblem* p = run->p;
  int pushing = 0, others = 0;
  if (run->part != TB_PART_WHOLE || p->W_ptr || p->ncontact < WORTH_IT || run->o->model != TB_MODEL_CONE)
    return false;
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind == TB_METRIC_SPARSE) return false;
  for (int k = 0; k < p->ncontact; k++) {
    if (!is_unilateral(p, k)) others++;
    else pushing += pushes(p, k, run->best);
  }
  return (pushing > 0 || tb_has_wide_blocks(p)) && pushing + others <= FEW * p->ncontact;
}

tbStatus tb_auto_open(tbContext* ctx, tbRun* run, double* lambda, bool* over)
{
  *over = false;
  if (!suits(run)) return TB_OK;
  Open s = {.run = run, .lambda = lambda};
  tb_arena_init(&s.arena, ctx);
  s.in_play = TB_TAKE(&s.arena, bool, (size_t)run->p->ncontact);
  s.contact = TB_TAKE(&s.arena, int, (size_t)run->p->ncontact);
  s.u = TB_TAKE(&s.arena, double, (size_t)run->p->nrow);
  s.approach = TB_TAKE(&s.arena, Approach, (size_t)run->p->ncontact);
  s.head = TB_TAKE(&s.arena, int, (size_t)run->p->nblock);
  s.next = TB_TAKE(&s.arena, int, (size_t)run->p->ncontact);
  bool room = s.in_play && s.contact && s.u && s.approach && s.head && s.next;
  tbStatus status = room ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) status = tb_part_maps_make(&s.arena, run->p, &s.maps);
  if (status == TB_OK) status = play(ctx, &s, over);
  tb_arena_free(&s.arena);
  return status;
}
