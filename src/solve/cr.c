// Conjugate residuals on the mixed contact problem (Verschoor and Jalba 2019; Luenberger 1970, 1973).
//
// For contacts in given states, the problem is linear, symmetric and indefinite, B y = d (cr_system.h), and
//
//   α = (Bp)ᵀC⁻¹r / (Bp)ᵀC⁻¹Bp        y ← y + αp,   r ← r − αBp
//   β = (B C⁻¹r)ᵀC⁻¹Bp / (Bp)ᵀC⁻¹Bp   p ← C⁻¹r − βp
//
// reduces rᵀC⁻¹r as far as each direction allows. The states change inside the iteration (cr_states.c), at
// intervals of max(1, ⌊log²(‖r‖/ε₁)/3⌋) iterations: seldom while the residual is large, at every iteration
// when it is small. Looking only at convergence would be an active set method, and could cycle; looking
// always, steepest descent, so that the interval grows with the restarts since the linear problem was last
// solved. Looks are skipped after a step with α < 0, which Full, being indefinite, can take.
//
// A change of states starts the recurrence anew. The residual is kept in two parts, −Aw and what impulses and
// constraints add, so that this costs no product with A. Converged: ‖r‖ < ε₁, or B C⁻¹r vanishes, which it
// does at the least-squares solution of rows that contradict each other. Then every contact is looked at
// thoroughly, and when nothing changes the judge is asked; if it is not satisfied, ε₁ and ε₂ are tightened.
// While states or sliding friction change, ε₁ is a third of the velocity that the last change was worth.
//
// Cost      one product with A, a few with J and one preconditioning per iteration; W is never formed.
// Limits    no proof of convergence. Sliding friction is a fixed point around the linear problem: large
//           coefficients slow it down or make it cycle.
#include "solve/cr.h"
#include "solve/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SLIGHT = 1e-8; // squared cosine of a direction that is not worth a step
static const double FLAT = 0.01;   // ‖B C⁻¹r‖ over ε₁ where r cannot be reduced

enum {
  PATIENCE = 8, // restarts until looks become rarer
  REFRESH = 50, // restarts until A w is computed afresh
  MIXED = 14    // steps of sliding friction that Anderson mixes
};

static void layout(tbCr* c, tbScratch* scratch, const tbDelassus* W)
{
  size_t rows = (size_t)W->problem->nrow, dofs = (size_t)W->problem->ndof;
  size_t contacts = (size_t)W->problem->ncontact;
  tb_cr_system_layout(&c->system, scratch, W);
  tb_anderson_layout(&c->mixer, scratch, (int)rows, MIXED);
  c->contact = TB_SCRATCH(scratch, tbCrContact, contacts);
  c->group = TB_SCRATCH(scratch, tbCrGroup, rows);
  c->set = TB_SCRATCH(scratch, tbFrictionSet, contacts);
  double **of_rows[] = {&c->lambda, &c->u, &c->before, &c->moved, &c->last_lambda, &c->last_u},
         **of_dofs[] = {&c->w, &c->Aw, &c->As, &c->Ap, &c->mass};
  double** of_both[] = {&c->r, &c->s, &c->Bs, &c->p, &c->Bp, &c->t};
  for (int i = 0; i < 6; i++) *of_rows[i] = TB_SCRATCH(scratch, double, rows);
  for (int i = 0; i < 5; i++) *of_dofs[i] = TB_SCRATCH(scratch, double, dofs);
  for (int i = 0; i < 6; i++) *of_both[i] = TB_SCRATCH(scratch, double, dofs + rows);
}

size_t tb_cr_scratch(const tbDelassus* W, const tbSolveOptions* o)
{
  (void)o;
  tbScratch counting = {0};
  layout(&(tbCr){0}, &counting, W);
  return counting.used;
}

static double dot(int n, const double* x, const double* y)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

// In velocities: momentum that is missing counts by the mass it would move. The row sums of a stiff block are
// its masses, far below its diagonal: a residual that is smooth moves the whole body.
static double norm(const tbCr* c, const double* r)
{
  const tbProblem* p = c->run->p;
  double sum = dot(p->nrow, r + p->ndof, r + p->ndof);
  for (int i = 0; i < p->ndof; i++) sum += (r[i] / c->mass[i]) * (r[i] / c->mass[i]);
  return sqrt(sum);
}

static void weigh(tbCr* c)
{
  const tbProblem* p = c->run->p;
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* k = &p->block[b];
    for (int i = 0; i < k->size; i++) {
      double D = k->kind == TB_METRIC_PARTICLE ? k->value[0]
                 : k->kind == TB_METRIC_DENSE  ? k->value[i * k->size + i]
                                               : c->system.W->lumped[k->dof + i];
      double rows = 0;
      for (int e = k->ptr ? k->ptr[i] : 0; k->ptr && e < k->ptr[i + 1]; e++) rows += k->value[e];
      c->mass[k->dof + i] = rows > 1e-6 * D ? rows : D;
    }
  }
}

static void velocities(tbCr* c)
{
  const tbProblem* p = c->run->p;
  tb_cr_spread(&c->system, c->w, c->u);
  for (int i = 0; i < p->nrow; i++) c->u[i] += c->system.W->q[i] + p->compliance[i] * c->lambda[i];
}

// p ← s: the first direction after a change of states.
static void point(tbCr* c)
{
  const tbProblem* p = c->run->p;
  size_t n = (size_t)(p->ndof + p->nrow);
  tb_cr_apply(&c->system, c->s, c->Bs, c->As);
  memcpy(c->p, c->s, n * sizeof *c->p);
  memcpy(c->Bp, c->Bs, n * sizeof *c->Bp);
  memcpy(c->Ap, c->As, (size_t)p->ndof * sizeof *c->Ap);
  tb_cr_precondition(&c->system, c->Bp, c->t);
}

// The residual from −Aw, the impulses and u.
static void restart(tbCr* c)
{
  const tbProblem* p = c->run->p;
  velocities(c);
  tb_cr_gather(&c->system, c->lambda, c->r);
  for (int i = 0; i < p->ndof; i++) c->r[i] -= c->Aw[i];
  for (int i = 0; i < p->nrow; i++) c->r[p->ndof + i] = c->system.solved[i] ? -c->u[i] : 0;
  tb_cr_precondition(&c->system, c->r, c->s);
  point(c);
}

// Tolerances in velocities, from the scale the judge measures by.
static void aim(tbCr* c)
{
  const tbProblem* p = c->run->p;
  double scale = dot(p->nrow, c->system.W->q, c->system.W->q);
  scale = fmax(scale, dot(p->nrow, c->lambda, c->lambda));
  scale = sqrt(fmax(scale, dot(p->nrow, c->u, c->u)));
  c->r_tolerance = fmax(0.1 * c->tightening * c->run->o->tolerance, 4 * DBL_EPSILON) * scale + DBL_MIN;
  c->u_tolerance = 0.1 * c->r_tolerance;
}

static int interval(double r, double tolerance)
{
  int exponent;
  frexp(fmin(r / tolerance, DBL_MAX), &exponent);
  double log10 = 0.30103 * exponent;
  return r > tolerance ? (int)fmax(1, log10 * log10 / 3) : 1;
}

// A direction that gains nothing, (Bp)ᵀC⁻¹r = 0 although r can still be reduced, as happens where B is
// indefinite and A w = Jᵀλ holds exactly, is half of what Luenberger calls a hyperbolic pair: p ← C⁻¹Bp − γp
// is the other.
static void pair(tbCr* c)
{
  const tbProblem* p = c->run->p;
  int n = p->ndof + p->nrow;
  double steep = dot(n, c->Bp, c->t);
  tb_cr_apply(&c->system, c->t, c->Bs, c->As);
  double gamma = steep != 0 ? dot(n, c->Bs, c->t) / steep : 0;
  for (int i = 0; i < n; i++) {
    c->p[i] = c->t[i] - gamma * c->p[i];
    c->Bp[i] = c->Bs[i] - gamma * c->Bp[i];
  }
  for (int i = 0; i < p->ndof; i++) c->Ap[i] = c->As[i] - gamma * c->Ap[i];
  tb_cr_precondition(&c->system, c->Bp, c->t);
}

// One step along p; α, or 0 where there is nothing to gain.
static double step(tbCr* c)
{
  const tbProblem* p = c->run->p;
  int n = p->ndof + p->nrow;
  double steep = dot(n, c->Bp, c->t), gain = dot(n, c->Bp, c->s), left = dot(n, c->r, c->s);
  if (!(gain * gain > SLIGHT * fabs(left * steep)) || steep == 0) return 0;
  double alpha = gain / steep;
  for (int i = 0; i < p->ndof; i++) {
    c->w[i] += alpha * c->p[i];
    c->Aw[i] += alpha * c->Ap[i];
  }
  for (int i = 0; i < p->nrow; i++) c->lambda[i] -= alpha * c->p[p->ndof + i];
  for (int i = 0; i < n; i++) {
    c->r[i] -= alpha * c->Bp[i];
    c->s[i] -= alpha * c->t[i];
  }
  return alpha;
}

// The next direction, conjugate to the last.
static void conjugate(tbCr* c)
{
  const tbProblem* p = c->run->p;
  int n = p->ndof + p->nrow;
  double steep = dot(n, c->Bp, c->t);
  double beta = steep != 0 ? dot(n, c->Bs, c->t) / steep : 0;
  for (int i = 0; i < n; i++) {
    c->p[i] = c->s[i] - beta * c->p[i];
    c->Bp[i] = c->Bs[i] - beta * c->Bp[i];
  }
  for (int i = 0; i < p->ndof; i++) c->Ap[i] = c->As[i] - beta * c->Ap[i];
  tb_cr_precondition(&c->system, c->Bp, c->t);
}

static void refresh(tbCr* c)
{
  tb_cr_multiply_metric(&c->system, c->w, c->Aw);
  restart(c);
}

static void begin(tbCr* c, tbRun* run, const double* lambda)
{
  const tbProblem* p = run->p;
  c->run = run;
  layout(c, &run->scratch, run->W);
  tb_cr_system_begin(&c->system, run);
  weigh(c);
  c->gain = c->tightening = 1;
  c->mixer.weight = c->system.own;
  tb_anderson_reset(&c->mixer);
  memcpy(c->lambda, lambda, (size_t)p->nrow * sizeof *lambda);
  tb_cr_states_begin(c);
  tb_cr_gather(&c->system, c->lambda, c->w); // A w = Jᵀλ
  tb_cr_approach_metric(&c->system, c->w);
  tb_cr_multiply_metric(&c->system, c->w, c->Aw);
  velocities(c);
  aim(c);
  tb_cr_states_look(c, true);
  restart(c);
}

// Where the next look is due: true when it changed something.
static bool look_on_the_way(tbCr* c, double r)
{
  if (++c->wait < interval(r, c->r_tolerance) * (1 + c->restarts / PATIENCE)) return false;
  c->wait = 0;
  velocities(c);
  bool changed = tb_cr_states_look(c, false) != TB_CR_SAME;
  c->restarts += changed;
  return changed;
}

// At convergence, or where r cannot be reduced: the same; else the judge is asked, and more is aimed for.
static bool look_at_the_end(tbCr* c, double r, double enough)
{
  velocities(c);
  c->contradicted = r > enough;
  bool changed = tb_cr_states_look(c, true) != TB_CR_SAME, stuck = c->contradicted;
  c->contradicted = false;
  c->wait = c->restarts = 0;
  aim(c);
  if (changed || !(r <= c->r_tolerance || stuck)) return changed;
  tb_run_judge_next(c->run);
  c->tightening = fmax(0.1 * c->tightening, 1e-8);
  refresh(c);
  return false;
}

void tb_cr(tbRun* run, double* lambda)
{
  tbCr c = {0};
  int changes = 0;
  begin(&c, run, lambda);
  for (int k = 0; !tb_run_done(run, k, lambda); k++) {
    double enough = fmax(c.r_tolerance, 0.3 * c.change), slope = norm(&c, c.Bs), alpha = step(&c);
    if (alpha == 0 && slope > FLAT * enough) {
      pair(&c);
      alpha = step(&c);
    }
    double r = norm(&c, c.r);
    bool changed = alpha > 0 && look_on_the_way(&c, r);
    if (!changed && alpha != 0) {
      tb_cr_apply(&c.system, c.s, c.Bs, c.As);
      conjugate(&c);
    }
    if (!changed && (r <= enough || alpha == 0 || norm(&c, c.Bs) <= FLAT * enough))
      changed = look_at_the_end(&c, r, enough);
    if (changed && ++changes % REFRESH == 0) refresh(&c);
    else if (changed) restart(&c);
    tb_cr_states_publish(&c, lambda);
  }
}
