// SPDX-License-Identifier: Apache-2.0
// States of contacts inside the conjugate residual iteration (Verschoor and Jalba 2019, §3.1–3.2, algorithms
// 2 and 3).
//
// A row is solved for (u = 0) or held (λ given), and changes over when both its velocity and its impulse say
// so:
//
//   normal     solved → held at 0 when u ≥ 0 and λ ≤ 0: it would pull.    held → solved when u ≤ 0
//   bounds     the same at either bound
//   friction   sticks → slides when its impulse leaves the friction set and does not drive the motion
//              slides → sticks when the motion no longer opposes the impulse
//
// At a least-squares solution, where solved rows contradict each other, those that move are let go.
//
// Sliding friction is held at μ λ' δ: λ' is the mean of λ_n at this look and the last, δ turns towards the
// direction against the motion, in steps. There the paper turns a hundredth of the way; here it is as far as
// a proximal step of length 1/S_d goes, which is less where the motion is slow, and less still for contacts
// that turn to and fro. Inside the iteration an angle below 1.2° is left; at convergence none. Once states
// are settled, friction moves at convergence alone: a smooth fixed point, which Anderson mixing accelerates,
// with steps by the response that its moves have had.
//
// A change that moves the contact by less than ε₂ is not made: states that do not matter do not cycle. Where
// states change at one convergence after the other, fewer contacts may change at once; and with Schur, a
// contact that has changed too often gives way more.
#include "solve/cr.h"

#include <math.h>
#include <string.h>

enum {
  TIRED = 20, // changes of a contact's state, after which it gives way more
  QUIET = 3,  // looks without a change of states, after which friction moves at convergence alone
  RESTLESS =
      16 // thorough looks with one, after which only every second contact is looked at; then every third
};
static const double COS_MISALIGNED = 0.99978068; // 1.2°

// ---- groups ----

static void add_group(tbCr* c, int k, int row, int rows, const double* a, bool interval)
{
  tbCrContact* contact = &c->contact[k];
  tbCrGroup* g = &c->group[contact->group + contact->groups++];
  *g = (tbCrGroup){.row = row, .rows = rows, .interval = interval, .slides = true, .step = 1};
  for (int i = 0; i < (interval ? 2 : rows); i++) g->a[i] = a[i];
}

static void make_groups(tbCr* c, int k)
{
  const tbFrictionSet* f = &c->set[k];
  int first = c->run->p->row_adr[k] + 1, dim = f->dim;
  double axes[TB_MAX_ROWS];
  switch ((tbSetKind)f->kind) {
  case TB_SET_BALL:
    for (int i = 0; i < dim; i++) axes[i] = f->par[0];
    add_group(c, k, first, dim, axes, false);
    break;
  case TB_SET_ELLIPSOID: add_group(c, k, first, dim, f->par, false); break;
  case TB_SET_BOX:
    for (int i = 0; i < dim; i++) add_group(c, k, first + i, 1, f->par + 2 * i, true);
    break;
  case TB_SET_BALLS: // 2 | 1, 2 | 2 or 2 | 1 | 2 rows
    for (int g = 0, at = 0; at < dim; g++) {
      int size = g == 1 && dim != 4 ? 1 : 2;
      for (int i = 0; i < size; i++) axes[i] = f->par[g];
      add_group(c, k, first + at, size, axes, false);
      at += size;
    }
    break;
  default: break;
  }
}

static bool has_friction(const tbCrGroup* g)
{
  if (g->interval) return g->a[0] < 0 || g->a[1] > 0;
  for (int i = 0; i < g->rows; i++)
    if (g->a[i] > 0) return true;
  return false;
}

// The impulse of row i of the group at the edge of the set, for a normal impulse n.
static double edge(const tbCrGroup* g, double n, int i)
{
  if (g->interval) return n * (g->direction[0] > 0 ? g->a[1] : g->a[0]);
  return n * g->a[i] * g->direction[i];
}

// direction ← the one that dissipates most against u; false where nothing moves.
static bool oppose(const tbCrGroup* g, const double* u, double* direction)
{
  double sum = 0;
  for (int i = 0; i < g->rows; i++) {
    direction[i] = g->interval ? -u[i] : -g->a[i] * u[i];
    sum += direction[i] * direction[i];
  }
  for (int i = 0; i < g->rows; i++) direction[i] = sum > 0 ? direction[i] / sqrt(sum) : 0;
  return sum > 0;
}

// How far the impulse is out, 1 at the edge; and where it leaves, as a direction.
static double reach(const tbCrGroup* g, double n, const double* f, double* direction)
{
  double sum = 0;
  if (g->interval) {
    double limit = n * (f[0] > 0 ? g->a[1] : -g->a[0]);
    direction[0] = f[0] > 0 ? 1 : -1;
    return limit > 0 ? fabs(f[0]) / limit : f[0] != 0 ? INFINITY : 0;
  }
  for (int i = 0; i < g->rows; i++) {
    direction[i] = g->a[i] > 0 ? f[i] / g->a[i] : 0;
    sum += direction[i] * direction[i];
  }
  sum = sqrt(sum);
  for (int i = 0; i < g->rows; i++) direction[i] = sum > 0 ? direction[i] / sum : 0;
  return n > 0 ? sum / n : sum > 0 ? INFINITY : 0;
}

static void set_slides(tbCr* c, tbCrGroup* g, bool slides)
{
  g->slides = slides;
  for (int i = 0; i < g->rows; i++) c->system.solved[g->row + i] = !slides && (g->interval || g->a[i] > 0);
}

// ---- looking ----

// A change by d of row's impulse, as the velocity it is worth.
static void note(tbCr* c, double worth)
{
  c->change = fmax(c->change, worth);
  c->unrest += worth * worth;
}

// A row with bounds. True when it changed over.
static bool look_at_row(tbCr* c, int row, double lo, double hi)
{
  double *lambda = &c->lambda[row], u = c->u[row], own = c->system.own[row], eps = c->u_tolerance;
  bool* solved = &c->system.solved[row];
  if (*solved) {
    bool low = *lambda <= lo && u >= -eps, high = *lambda >= hi && u <= eps;
    double bound = low ? lo : hi, worth = own * fabs(*lambda - bound);
    if (c->contradicted && fabs(u) > eps) {
      low = u > 0 && isfinite(lo), high = u < 0 && isfinite(hi);
      bound = low ? lo : hi, worth = fabs(u);
    }
    if ((!low && !high) || !(worth > eps)) return false;
    note(c, worth);
    *lambda = bound;
    *solved = false;
    return true;
  }
  if (lo == hi) return false;
  bool inward = (*lambda <= lo && u < -eps) || (*lambda >= hi && u > eps);
  if (inward) note(c, fabs(u));
  *solved = inward;
  return inward;
}

// δ turned towards the direction against the motion (algorithm 3).
static void turn(tbCr* c, tbCrGroup* g, double n, bool thorough, double* direction)
{
  const double* u = c->u + g->row;
  double against[3], cosine = 0, size = 0, speed = 0, z[3], norm = 0, fro = 0;
  memcpy(direction, g->direction, sizeof g->direction);
  if (g->interval || g->rows == 1 || !oppose(g, u, against)) return;
  for (int i = 0; i < g->rows; i++) {
    cosine += against[i] * g->direction[i];
    double S = c->settled ? c->gain * c->system.own[g->row + i] : c->system.S[g->row + i];
    size = fmax(size, g->a[i] * g->a[i] * S);
    speed += g->a[i] * g->a[i] * u[i] * u[i];
  }
  if (!thorough && cosine > COS_MISALIGNED) return;
  double rho = n * size > 0 ? g->step * sqrt(speed) / (n * size) : INFINITY;
  for (int i = 0; i < g->rows; i++) {
    z[i] = isfinite(rho) ? g->direction[i] + rho * against[i] : against[i];
    norm += z[i] * z[i];
  }
  if (!(norm > 0)) return;
  for (int i = 0; i < g->rows; i++) {
    direction[i] = z[i] / sqrt(norm);
    double d = direction[i] - g->direction[i];
    fro += d * g->turn[i];
    g->turn[i] = d;
  }
  g->step = fro < 0 ? fmax(0.5 * g->step, 1e-3) : fmin(1.1 * g->step, 1);
}

// Friction rows that slide follow λ' and δ. True when they moved.
static tbCrLook look_at_sliding(tbCr* c, int k, tbCrGroup* g, bool thorough)
{
  const double* u = c->u + g->row;
  tbCrContact* contact = &c->contact[k];
  double direction[3], worth = 0, opposed = 0, fastest = 0, eps = c->u_tolerance;
  bool fresh = true;
  for (int i = 0; i < g->rows; i++) fresh = fresh && g->direction[i] == 0;
  if (fresh && !oppose(g, u, g->direction)) { // nothing moves: it sticks
    set_slides(c, g, false);
    return TB_CR_SWITCHED;
  }
  for (int i = 0; i < g->rows; i++) {
    double a = g->interval ? 1 : g->a[i];
    opposed -= a * u[i] * g->direction[i];
    fastest = fmax(fastest, fabs(u[i]));
  }
  if (opposed <= 0 && fastest > eps) { // the motion follows the impulse: too much friction
    note(c, fastest);
    set_slides(c, g, false);
    return TB_CR_SWITCHED;
  }
  if (c->settled && !thorough) return TB_CR_SAME;
  turn(c, g, contact->average, thorough, direction);
  tbCrGroup next = *g;
  memcpy(next.direction, direction, sizeof direction);
  for (int i = 0; i < g->rows; i++) {
    double d = edge(&next, contact->average, i) - c->lambda[g->row + i];
    worth = fmax(worth, c->gain * c->system.own[g->row + i] * fabs(d));
  }
  if (!(worth > eps)) return TB_CR_SAME;
  note(c, worth);
  *g = next;
  for (int i = 0; i < g->rows; i++) c->lambda[g->row + i] = edge(g, contact->average, i);
  return TB_CR_MOVED;
}

static bool look_at_sticking(tbCr* c, int k, tbCrGroup* g)
{
  double n = fmax(c->lambda[c->run->p->row_adr[k]], 0), direction[3], driving = 0, worth = 0;
  double out = reach(g, n, c->lambda + g->row, direction), eps = c->u_tolerance;
  bool torn = false;
  for (int i = 0; c->contradicted && i < g->rows; i++) torn = torn || fabs(c->u[g->row + i]) > eps;
  if (!(out > 1) && !torn) return false;
  tbCrGroup next = *g;
  memcpy(next.direction, direction, sizeof direction);
  for (int i = 0; i < g->rows; i++) {
    driving += (g->interval ? 1 : g->a[i]) * c->u[g->row + i] * direction[i];
    double excess = c->lambda[g->row + i] - edge(&next, n, i);
    worth = fmax(worth, c->system.own[g->row + i] * fabs(excess));
  }
  if (torn) oppose(g, c->u + g->row, next.direction);
  else if (driving > eps || !(worth > eps)) return false;
  note(c, worth);
  *g = next;
  g->step = 1;
  memset(g->turn, 0, sizeof g->turn);
  set_slides(c, g, true);
  // as large as it was: λ' = ‖γ‖/μ, and the average takes it from there
  c->contact[k].recent = isfinite(out) ? out * n : n;
  return true;
}

static void release_friction(tbCr* c, int k)
{
  tbCrContact* contact = &c->contact[k];
  contact->recent = contact->average = 0;
  for (int g = contact->group; g < contact->group + contact->groups; g++) {
    tbCrGroup* group = &c->group[g];
    memset(group->direction, 0, sizeof group->direction);
    memset(group->turn, 0, sizeof group->turn);
    group->step = 1;
    set_slides(c, group, true);
    for (int i = 0; i < group->rows; i++) c->lambda[group->row + i] = 0;
  }
}

// Whether friction has something to hold on to.
static bool is_closed(const tbCr* c, int k)
{
  int normal = c->run->p->row_adr[k];
  return c->part == TB_CR_FRICTION ? c->lambda[normal] > 0 : c->system.solved[normal];
}

static tbCrLook look_at_friction(tbCr* c, int k, bool thorough)
{
  tbCrContact* contact = &c->contact[k];
  int normal = c->run->p->row_adr[k], end = contact->group + contact->groups;
  bool held = c->part == TB_CR_FRICTION;
  tbCrLook seen = !held && look_at_row(c, normal, 0, INFINITY) ? TB_CR_SWITCHED : TB_CR_SAME;
  if (c->part == TB_CR_CONTACTS) return seen;
  if (!is_closed(c, k)) {
    if (seen == TB_CR_SWITCHED) release_friction(c, k);
    return seen;
  }
  double n = fmax(c->lambda[normal], 0);
  for (int g = contact->group; g < end; g++)
    if (!c->group[g].slides && look_at_sticking(c, k, &c->group[g])) seen = TB_CR_SWITCHED;
  contact->average = c->settled || held ? n : 0.5 * (n + contact->recent);
  for (int g = contact->group; g < end; g++) {
    if (!c->group[g].slides || !has_friction(&c->group[g])) continue;
    tbCrLook sliding = look_at_sliding(c, k, &c->group[g], thorough);
    if (sliding > seen) seen = sliding;
  }
  contact->recent = n;
  return seen;
}

// Where states are settled, sliding friction is a smooth fixed point: f ← what the look makes of it.
static void mix(tbCr* c)
{
  const tbProblem* p = c->run->p;
  for (int i = 0; i < p->nrow; i++) {
    c->moved[i] = c->lambda[i] - c->before[i];
    if (c->system.solved[i]) c->before[i] = 0;
  }
  tb_anderson_step(&c->mixer, c->before, c->moved);
  for (int k = 0; k < p->ncontact; k++)
    for (int g = c->contact[k].group; g < c->contact[k].group + c->contact[k].groups; g++) {
      tbCrGroup* group = &c->group[g];
      if (!group->slides || !has_friction(group) || !is_closed(c, k)) continue;
      memcpy(c->lambda + group->row, c->before + group->row, (size_t)group->rows * sizeof *c->lambda);
      if (!group->interval) reach(group, 1, c->lambda + group->row, group->direction);
    }
}

// How much more than their diagonals say the friction impulses of the last look have moved the contacts, all
// together and with the bodies' stiffness: Δfᵀ Δu over Δfᵀ S Δf, and no less than 1.
static void measure_gain(tbCr* c)
{
  double response = 0, size = 0;
  for (int i = 0; i < c->run->p->nrow; i++) {
    double f = c->system.solved[i] ? 0 : c->lambda[i] - c->last_lambda[i];
    response += f * (c->u[i] - c->last_u[i]);
    size += c->system.own[i] * f * f;
  }
  if (c->settled && size > 0) c->gain = fmax(fmax(1, response / size), 0.7 * c->gain);
  memcpy(c->last_lambda, c->before, (size_t)c->run->p->nrow * sizeof *c->before);
  memcpy(c->last_u, c->u, (size_t)c->run->p->nrow * sizeof *c->u);
}

static tbCrLook look_at(tbCr* c, int k, bool thorough)
{
  const tbProblem* p = c->run->p;
  if (c->set[k].kind != TB_SET_NONE) return look_at_friction(c, k, thorough);
  if (c->part == TB_CR_FRICTION) return TB_CR_SAME;
  const double* param = p->param + p->param_adr[k];
  tbCrLook seen = TB_CR_SAME;
  for (int i = 0, rows = tb_rows(p, k); i < rows && p->law[k] != TB_LAW_BILATERAL; i++) {
    bool box = p->law[k] == TB_LAW_BOX;
    if (look_at_row(c, p->row_adr[k] + i, box ? param[i] : 0, box ? param[rows + i] : INFINITY))
      seen = TB_CR_SWITCHED;
  }
  return seen;
}

// A contact that goes on changing its state gives way more: it takes smaller steps, and cycles end.
static void tire(tbCr* c, int k)
{
  const tbProblem* p = c->run->p;
  if (++c->contact[k].switches <= TIRED) return;
  for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
    c->system.give[i] = fmin(2 * c->system.give[i], c->system.S[i]);
}

tbCrLook tb_cr_states_look(tbCr* c, bool thorough)
{
  const tbProblem* p = c->run->p;
  tbCrLook seen = TB_CR_SAME;
  double last = c->change;
  int parts = 1 + c->restless / RESTLESS;
  c->change = c->unrest = 0;
  c->looks++;
  memcpy(c->before, c->lambda, (size_t)p->nrow * sizeof *c->before);
  if (thorough && c->part != TB_CR_CONTACTS) measure_gain(c);
  for (int part = 0; part < parts && part < p->ncontact && seen == TB_CR_SAME; part++)
    for (int k = (c->looks + part) % parts; k < p->ncontact; k += parts) {
      tbCrLook contact = look_at(c, k, thorough);
      if (contact == TB_CR_SWITCHED) tire(c, k);
      if (contact > seen) seen = contact;
    }
  if (seen == TB_CR_SWITCHED || !c->settled) tb_anderson_reset(&c->mixer);
  else if (seen == TB_CR_MOVED) mix(c);
  if (seen == TB_CR_SAME && !thorough) c->change = last;
  c->quiet = seen == TB_CR_SWITCHED ? 0 : c->quiet + 1;
  c->settled = c->quiet >= (thorough ? 1 : QUIET) || (c->settled && c->quiet > 0);
  if (seen == TB_CR_SWITCHED || !c->system.factored) tb_cr_system_follow(&c->system);
  if (thorough) c->restless = seen == TB_CR_SWITCHED ? c->restless + 1 : 0;
  return seen;
}

// ---- start and end ----

// Rows of a law without friction that are solved for: those inside their bounds.
static void enter_rows(tbCr* c, int k)
{
  const tbProblem* p = c->run->p;
  const double* param = p->param + p->param_adr[k];
  int first = p->row_adr[k], rows = tb_rows(p, k);
  double* lambda = c->lambda + first;
  tb_friction_clamp_rows(p, k, lambda, lambda);
  for (int i = 0; i < rows; i++)
    c->system.solved[first + i] =
        c->part != TB_CR_FRICTION &&
        (p->law[k] == TB_LAW_BILATERAL || (p->law[k] == TB_LAW_NONNEG && lambda[i] > 0) ||
         (p->law[k] == TB_LAW_BOX && param[i] < lambda[i] && lambda[i] < param[rows + i]));
}

static void enter_friction(tbCr* c, int k)
{
  tbCrContact* contact = &c->contact[k];
  int first = c->run->p->row_adr[k];
  double *lambda = c->lambda + first, f[TB_MAX_ROWS];
  contact->switches = 0;
  lambda[0] = fmax(lambda[0], 0);
  c->system.solved[first] = c->part != TB_CR_FRICTION && lambda[0] > 0;
  if (c->part == TB_CR_CONTACTS) { // friction is held as it is
    for (int i = 0; i < c->set[k].dim; i++) c->system.solved[first + 1 + i] = false;
    return;
  }
  if (!(lambda[0] > 0)) {
    release_friction(c, k);
    return;
  }
  memcpy(f, lambda + 1, (size_t)c->set[k].dim * sizeof *f);
  tb_friction_closest(&c->set[k], lambda[0], f, lambda + 1);
  contact->recent = lambda[0];
  for (int i = contact->group; i < contact->group + contact->groups; i++) {
    tbCrGroup* g = &c->group[i];
    set_slides(c, g, !has_friction(g) || reach(g, lambda[0], c->lambda + g->row, g->direction) >= 1 - 1e-9);
  }
}

void tb_cr_states_enter(tbCr* c)
{
  for (int k = 0; k < c->run->p->ncontact; k++)
    if (c->set[k].kind == TB_SET_NONE) enter_rows(c, k);
    else enter_friction(c, k);
}

void tb_cr_states_begin(tbCr* c)
{
  const tbProblem* p = c->run->p;
  int groups = 0;
  for (int k = 0; k < p->ncontact; k++) {
    tb_friction_make(p, k, c->run->o->model, c->run->o->directions, &c->set[k]);
    c->contact[k] = (tbCrContact){.group = groups};
    make_groups(c, k);
    groups += c->contact[k].groups;
  }
  tb_cr_states_enter(c);
}

void tb_cr_states_publish(const tbCr* c, double* lambda)
{
  const tbProblem* p = c->run->p;
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k];
    const double* from = c->lambda + first;
    double* to = lambda + first;
    if (c->set[k].kind == TB_SET_NONE) {
      tb_friction_clamp_rows(p, k, from, to);
      continue;
    }
    double n = fmax(from[0], 0), f[TB_MAX_ROWS];
    memcpy(f, from + 1, (size_t)c->set[k].dim * sizeof *f);
    for (int i = c->contact[k].group; i < c->contact[k].group + c->contact[k].groups; i++) {
      const tbCrGroup* g = &c->group[i];
      bool follows = g->slides && c->part != TB_CR_CONTACTS;
      for (int j = 0; follows && j < g->rows; j++) f[g->row - first - 1 + j] = edge(g, n, j);
    }
    to[0] = n;
    tb_friction_closest(&c->set[k], n, f, to + 1);
  }
}
