// SPDX-License-Identifier: Apache-2.0
// Staggered projections with conjugate residuals for their quadratic programs (Verschoor and Jalba 2019,
// §6.2.3; Kaufman, Sueda, James and Pai 2008).
//
// The sequence is that of staggered.c: contacts with friction held, friction with the normal impulses held.
// Each program is solved on A and J, by the iteration of `cr` with one part of the rows alone: their states
// change inside it, friction within the set λ_n F that does not move meanwhile. Both go on from where the
// other ended, in impulses and in velocities. W is never formed.
//
//   solve contacts for x, f held      e = what all impulses have changed by since friction was last solved
//   solve friction for f, x held      f ← mixed with what it was before
//
// Impulses are measured by the velocity that each gives its own row. e is the error that is left: the
// friction just solved for was right for the impulses before. Programs are solved to a tenth of it, and to a
// hundredth where the sequence is long; the judge is asked where it is small, and if it is not satisfied, all
// is tightened, as in cr.c. Where the sequence is no contraction (large μ) Anderson mixing of f helps.
//
// Cost      an iteration is one of conjugate residuals, in whichever program: a product with A, a few with J
//           and one preconditioning. Hundreds to a few thousand, several times those of `cr`.
// Limits    no proof of convergence. A run that is stopped may end within a friction projection: unlike
//           staggered.c, what it returns may penetrate.
#include "solve/cr.h"
#include "solve/methods.h"

#include <math.h>
#include <string.h>

enum {
  PLAIN = 3, // rounds before mixing begins
  LONG = 8,  // rounds after which programs are solved better: mixing suffers from what they leave
  MEMORY = 5 // of mixing
};
static const double SHARE = 0.1, SMALL_SHARE = 0.01; // of the error, to which programs are solved

typedef struct {
  double* f;      // friction that the contacts were solved with, zero in other rows (nrow)
  double* change; // of it by its own projection (nrow)
  double* solved; // all impulses when friction was last solved; at first, those of the warm start (nrow)
  tbAnderson mixer;
  int rounds;
  double left;  // of the residual, when the program at hand was last thought to be solved
  double error; // e
} Staggered;

static void layout(Staggered* g, tbScratch* scratch, const tbDelassus* W)
{
  size_t n = (size_t)W->problem->nrow;
  g->f = TB_SCRATCH(scratch, double, n);
  g->change = TB_SCRATCH(scratch, double, n);
  g->solved = TB_SCRATCH(scratch, double, n);
  tb_anderson_layout(&g->mixer, scratch, (int)n, MEMORY);
}

size_t tb_staggered_cr_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  tbScratch counting = {.used = tb_cr_scratch(W, o)};
  layout(&(Staggered){0}, &counting, W);
  return counting.used;
}

static bool is_friction(const tbCr* c, int k, int i) { return c->set[k].kind != TB_SET_NONE && i > 0; }

// f ← the friction rows of λ
static void take_friction(const tbCr* c, const double* lambda, double* f)
{
  const tbProblem* p = c->run->p;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0, row = p->row_adr[k]; i < tb_rows(p, k); i++)
      f[row + i] = is_friction(c, k, i) ? lambda[row + i] : 0;
}

static void put_friction(const tbCr* c, const double* f, double* lambda)
{
  const tbProblem* p = c->run->p;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0, row = p->row_adr[k]; i < tb_rows(p, k); i++)
      if (is_friction(c, k, i)) lambda[row + i] = f[row + i];
}

// ‖D (x − y)‖, D: what an impulse moves its own row by
static double distance(const tbCr* c, const double* x, const double* y)
{
  double sum = 0;
  for (int i = 0; i < c->run->p->nrow; i++) {
    double d = c->system.own[i] * (x[i] - y[i]);
    sum += d * d;
  }
  return sqrt(sum);
}

// Rows give way a little around the impulses they had, so that a program is solved where that is small, too,
// or does not get smaller: rows that contradict each other.
static bool is_solved(tbCr* c, Staggered* g)
{
  double r = tb_cr_residual(c);
  bool solved = r <= fmax(c->r_tolerance, c->loose) || r > 0.5 * g->left;
  g->left = solved ? INFINITY : r;
  return solved;
}

static void end_contacts(tbCr* c, Staggered* g)
{
  g->error = distance(c, c->lambda, g->solved);
  c->loose = (g->rounds > LONG ? SMALL_SHARE : SHARE) * g->error;
  if (g->error <= c->r_tolerance) {
    tb_run_judge_next(c->run);
    c->tightening = fmax(0.1 * c->tightening, 1e-8);
  }
  tb_cr_request_check(c, g->error);
  tb_cr_turn_to(c, TB_CR_FRICTION, c->lambda);
}

static void end_friction(tbCr* c, Staggered* g)
{
  int n = c->run->p->nrow;
  memcpy(g->solved, c->lambda, (size_t)n * sizeof *g->solved);
  take_friction(c, c->lambda, g->change);
  for (int i = 0; i < n; i++) g->change[i] -= g->f[i];
  if (g->rounds++ < PLAIN)
    for (int i = 0; i < n; i++) g->f[i] += g->change[i];
  else tb_anderson_step(&g->mixer, g->f, g->change);
  memcpy(g->change, c->lambda, (size_t)n * sizeof *g->change);
  put_friction(c, g->f, g->change);
  tb_cr_turn_to(c, TB_CR_CONTACTS, g->change);
}

void tb_staggered_cr(tbRun* run, double* lambda)
{
  tbCr c = {.part = TB_CR_CONTACTS};
  Staggered g = {.left = INFINITY};
  tb_cr_begin(&c, run, lambda);
  layout(&g, &run->scratch, run->W);
  g.mixer.weight = c.system.own;
  tb_anderson_reset(&g.mixer);
  take_friction(&c, c.lambda, g.f);
  memcpy(g.solved, lambda, (size_t)run->p->nrow * sizeof *lambda);
  c.loose = SHARE * tb_cr_residual(&c);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (k > 0 && run->last_check == k) c.asked = c.requested = g.error;
    if (tb_cr_iterate(&c) && is_solved(&c, &g)) {
      if (c.part == TB_CR_CONTACTS) end_contacts(&c, &g);
      else end_friction(&c, &g);
    }
    tb_cr_states_publish(&c, lambda);
  }
}
