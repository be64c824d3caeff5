// SPDX-License-Identifier: Apache-2.0
// Proximal points, each found by Newton's method (Rockafellar 1976; as a solver of frictional contact: Acary,
// Brémond and Huber, "On solving contact problems with Coulomb friction: formulations and numerical
// comparisons", 2018).
//
// With an anchor a, the problem with u + αT(λ − a) in place of u is better behaved the larger α is: W + αT is
// regular whatever W is, and Newton converges. Its solution becomes the next anchor; a fixed point solves the
// problem itself. α is steered island by island: down when Newton is quick, up and back to the anchor when it
// fails, with a floor that remembers where it failed and forgets slowly.
//
// Where contacts are redundant W is singular, and proximal points go the same way again and again, each as
// far as α lets it, until a contact opens or slips. So the anchor goes on along the way of its last moves;
// and it need not wait for the exact proximal point, whose digits are lost with the next move: one that is
// rough will do, with an α that falls no further than Newton's steps stay short enough to be of use.
// (Measured on steps of a pile of 1000 boxes: a third fewer factorisations.)
//
// Most of that redundancy is between points of one pair of bodies. So pairs that miss the tolerances are
// solved by themselves where a proximal point is found (newton_pairs.h) and most contacts meet them already,
// as long as fewer miss them each time, else every second time: the last few contacts are better left to
// Newton, which the pairs disturb. (Measured on the same steps: half of the time.)
//
// Inside, Newton takes full steps: on piecewise smooth equations the merit must be allowed to rise while the
// contacts settle into their states, and a search that insists on descent gets caught at kinks. Only when the
// steps have not settled after a few is their length searched. A proximal point is good enough when its
// remaining error is no more than what the pull αT(λ − a) is.
//
// Cost      one sparse factorisation per Newton step; ten to a hundred steps on problems that Gauss–Seidel
//           cannot solve in a hundred thousand sweeps.
// Limits    friction makes the problem nonmonotone, so convergence is not proven; it is merely what happens.
#include "solve/newton_pairs.h"

#include <math.h>
#include <string.h>

static const double FIRST = 0.3, MOST = 1e3;       // of α
static const double FAR_OFF = 1e5, NEAREST = 1e-5; // multiples of the tolerances; least share of the first α
static const double NEAR = 1e3;  // multiple of the tolerances: exact proximal points are there in a few moves
static const double ALONG = 0.5; // cosine of two moves of the anchor that go the same way
static const double FURTHER = 4; // moves by which it goes on at most
static const double FEWER = 0.7; // of the contacts that missed the tolerances when pairs were last visited
static const double MANY =
    0.3; // share of the contacts beyond which pairs by themselves are not worth their time
static const double FAR = 1e12; // squared residuals beyond that multiple of the best are a failure
enum {
  FREE_STEPS = 5,  // full steps before the merit counts
  QUICK = 4,       // steps of a quick Newton
  SLOW = 6,        // … of a slow one, and when to give up if nothing was gained
  SHORT = 3,       // short steps that make a failure
  FIRST_MOVES = 3, // of the anchor that say nothing of the way: what is near is there by then
  ATTEMPT = 6,     // failures between attempts with the least α
  FIRST_VISIT = 1, // move of the anchor at which pairs are first solved by themselves
};

// How proximal points follow each other.
typedef struct {
  double rough; // squared error that a proximal point may have, in multiples of its squared pull
  double quick; // by which α falls after a single step
  double least; // α, as it falls
} Manner;

static const double LEAST = 1e-9; // of any α
static const Manner EXACT = {1, 0.1, 1e-9}, ROUGH = {3e3, 0.5, 1e-4};
enum { TURN = 64, ROUGH_MOVES = 48 }; // moves of the anchor; those of every turn that are to rough points

typedef struct {
  tbNewton n;
  bool near;             // the start is
  double *anchor, *best; // (nrow)
  double* moved;         // the last move of the anchor                (nrow)
} Prox;

static void layout(Prox* x, tbScratch* s, const tbDelassus* W)
{
  tb_newton_layout(&x->n, s, W);
  x->anchor = TB_SCRATCH(s, double, (size_t)W->problem->nrow);
  x->best = TB_SCRATCH(s, double, (size_t)W->problem->nrow);
  x->moved = TB_SCRATCH(s, double, (size_t)W->problem->nrow);
}

size_t tb_prox_newton_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(Prox){0}, &counting, W);
  return counting.used;
}

static void copy_island(const tbNewton* n, int i, const double* from, double* to)
{
  const tbProblem* p = n->run->p;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++) to[r] = from[r];
  }
}

// What the pull adds to Φ, in the measure of the merit: about α/(1+α) (λ − anchor) with ρ = 1/(W_ii + αT).
static double pull(const Prox* x, int i)
{
  const tbNewton* n = &x->n;
  const tbProblem* p = n->run->p;
  double part = n->island[i].alpha / (1 + n->island[i].alpha), sum = 0;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++) {
      double d = n->lambda[r] - x->anchor[r];
      sum += n->size[k] * d * d;
    }
  }
  return part * part * sum;
}

// How far to go on beyond λ, in multiples of λ − anchor: moves that shrink by a factor r each lead r/(1 − r)
// further in all (Aitken).
static double beyond(const Prox* x, int i)
{
  const tbNewton* n = &x->n;
  const tbProblem* p = n->run->p;
  double now = 0, before = 0, both = 0;
  if (!n->plan->velocity) return 0; // contacts are fewer than velocities: few of them are redundant
  if (n->island[i].moves < FIRST_MOVES) return 0;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++) {
      double d = n->lambda[r] - x->anchor[r];
      now += n->size[k] * d * d;
      before += n->size[k] * x->moved[r] * x->moved[r];
      both += n->size[k] * d * x->moved[r];
    }
  }
  if (!(both > 0) || !(both * both > ALONG * ALONG * now * before)) return 0;
  return both < before ? fmin(FURTHER, both / (before - both)) : FURTHER;
}

// λ as the pairs have it that miss the tolerances, if it is their turn; true where it is another.
static bool visit_pairs(Prox* x, int i)
{
  tbNewton* n = &x->n;
  tbNewtonIsland* s = &n->island[i];
  int off = 0;
  if (!n->plan->pair_ptr || s->moves < FIRST_VISIT) return false;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e], row = n->run->p->row_adr[k];
    off += tb_newton_excess(n, k, n->lambda + row, n->u + row) > 1;
  }
  if (off > MANY * (n->plan->island_ptr[i + 1] - n->plan->island_ptr[i])) return false;
  s->visited = !s->visited || off < FEWER * s->off;
  if (!s->visited) return false;
  s->off = off;
  return off > 0 && tb_newton_pairs_visit(n, i);
}

// The anchor moves to λ, and `more` times as far beyond.
static void move_anchor(Prox* x, int i, double more)
{
  const tbNewton* n = &x->n;
  const tbProblem* p = n->run->p;
  x->n.island[i].moves++;
  for (int e = n->plan->island_ptr[i]; e < n->plan->island_ptr[i + 1]; e++) {
    int k = n->plan->contact[e];
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++) {
      double d = n->lambda[r] - x->anchor[r];
      x->moved[r] = (1 + more) * d;
      x->anchor[r] = n->lambda[r] + more * d;
    }
  }
}

// Systems are in velocity space where contacts outnumber velocities, so that many are redundant. What neither
// manner gets done the other may.
static const Manner* manner_of(const Prox* x, int i)
{
  int first = x->near ? ROUGH_MOVES : 0; // exact points first
  bool rough = x->n.plan->velocity && (x->n.island[i].moves + first) % TURN < ROUGH_MOVES;
  return rough ? &ROUGH : &EXACT;
}

typedef enum { SAME, EQUATIONS, POINT } Change; // none; a new anchor or α; λ as well

// The proximal point is found: the anchor moves there, and α follows how quick Newton was.
static Change accept(Prox* x, int i)
{
  tbNewtonIsland* s = &x->n.island[i];
  const Manner* manner = manner_of(x, i);
  double residual = tb_newton_residual(&x->n, i);
  if (residual < s->best) {
    s->best = residual;
    copy_island(&x->n, i, x->n.lambda, x->best);
  }
  bool elsewhere = visit_pairs(x, i);
  move_anchor(x, i, elsewhere ? 0 : beyond(x, i));
  s->alpha *= s->steps == 1 ? manner->quick : s->steps <= QUICK ? 0.25 : s->steps <= SLOW ? 1 : 2;
  s->alpha = fmin(MOST, fmax(s->floor, s->alpha));
  s->floor = fmax(manner->least, s->floor / (1 + 0.5 / (1 + 0.1 * s->failures)));
  s->next_alpha = 0;
  return elsewhere ? POINT : EQUATIONS;
}

// Newton is lost: back to the anchor with more regularisation. Other equations fail elsewhere, so they take
// turns. And since a W that is not quite positive repels proximal points where α is about its negative part,
// now and then the best anchor is tried with hardly any.
static void back_off(Prox* x, int i)
{
  tbNewtonIsland* s = &x->n.island[i];
  bool attempted = s->next_alpha > 0;
  s->failures++;
  s->map = s->failures / 2 % 2 ? TB_MAP_NATURAL : TB_MAP_AC;
  if (!attempted) s->floor = 2 * s->alpha;
  s->alpha = attempted ? s->next_alpha : fmin(MOST, 4 * s->alpha);
  s->next_alpha = 0;
  if (s->failures % ATTEMPT == 0 && s->best < INFINITY) {
    s->next_alpha = s->alpha;
    s->alpha = LEAST;
    copy_island(&x->n, i, x->best, x->anchor);
  }
  copy_island(&x->n, i, x->anchor, x->n.lambda);
}

// Looks at where Newton stands on island i.
static Change steer(Prox* x, int i)
{
  tbNewtonIsland* s = &x->n.island[i];
  Change change = POINT;
  if (s->steps == 0) return SAME;
  if (s->length < 0.1) s->short_steps++;
  if (s->merit <= manner_of(x, i)->rough * pull(x, i) && tb_newton_residual(&x->n, i) <= FAR * s->best) {
    change = accept(x, i);
  } else if (s->length == 0 || s->short_steps >= SHORT ||
             (s->steps >= SLOW && !(s->merit <= s->first_merit))) {
    back_off(x, i);
  } else {
    if (s->steps >= SLOW) s->first_merit *= 0.1; // go on while each step gains a decade
    return SAME;
  }
  s->steps = s->short_steps = s->seen = 0;
  return change;
}

// The first α: less where the start is near, so that the anchor holds Newton back no more than it has to.
static double first_alpha(const tbRun* run)
{
  return FIRST * fmin(1, fmax(NEAREST, run->best_number / FAR_OFF));
}

void tb_prox_newton(tbRun* run, double* lambda)
{
  Prox x = {0};
  tbNewton* n = &x.n;
  layout(&x, &run->scratch, run->W);
  tb_newton_begin(n, run, TB_MAP_AC, lambda);
  memcpy(x.anchor, lambda, (size_t)run->p->nrow * sizeof *x.anchor);
  memset(x.moved, 0, (size_t)run->p->nrow * sizeof *x.moved);
  n->anchor = x.anchor;
  x.near = run->best_number <= NEAR;
  for (int i = 0; i < n->plan->islands; i++) {
    n->island[i].alpha = first_alpha(run);
    n->island[i].floor = manner_of(&x, i)->least;
    n->island[i].best = INFINITY;
  }

  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    if (n->plan->velocity) tb_newton_follow(n);
    else tb_newton_linearise(n);
    tb_newton_rest(n);
    Change most = SAME;
    for (int i = 0; i < n->plan->islands; i++) {
      Change change = n->island[i].resting ? SAME : steer(&x, i);
      if (change > most) most = change;
    }
    if (most == POINT) tb_newton_linearise(n);
    else if (most == EQUATIONS) tb_newton_relinearise(n);
    tb_newton_direction(n);
    if (tb_run_stops(run)) continue;
    for (int i = 0; i < n->plan->islands; i++) {
      tbNewtonIsland* s = &n->island[i];
      if (s->resting) continue;
      if (s->steps == 0) s->first_merit = s->merit;
      tb_newton_search(n, i, s->steps++ < FREE_STEPS ? 1e4 : 1);
    }
  }
}
