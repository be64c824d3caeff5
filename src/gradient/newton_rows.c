// SPDX-License-Identifier: Apache-2.0
// The equations of contacts on their states, and their derivatives (newton.c).
#include "gradient/newton.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 3 };

typedef struct {
  int first, rows; // of the contact
  double axis[3];
} Group;

// The friction set as ellipsoids; false: it is none.
static int groups_of(const tbProblem* p, int k, tbModel model, Group out[GROUPS])
{
  const double* mu = p->param + p->param_adr[k];
  int rows = p->row_adr[k + 1] - p->row_adr[k];
  if (model == TB_MODEL_FRICTIONLESS) return 0;
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_COULOMB: out[0] = (Group){1, rows - 1, {mu[0], mu[0]}}; return 1;
  case TB_LAW_ELLIPTIC: out[0] = (Group){1, 2, {mu[0], mu[1]}}; return 1;
  case TB_LAW_CONTENSOU: out[0] = (Group){1, 3, {mu[0], mu[1], mu[2]}}; return 1;
  case TB_LAW_ROLLING: {
    int n = 0, at = 3;
    out[n++] = (Group){1, 2, {mu[0], mu[0]}};
    if (rows != 5) out[n++] = (Group){at++, 1, {mu[1]}};
    if (rows > 4) out[n++] = (Group){at, 2, {mu[rows - 4], mu[rows - 4]}};
    return n;
  }
  default: return 0;
  }
}

// Where λ − r u says that row i is: HELD at the lower end of what it may be (or at 0), at the upper, or FREE
// between. *past: how far beyond the border to FREE, or to the nearest border, m/s.
static tbHeld end_of(const tbNewton* s, int k, int i, double* value, double* past)
{
  const tbProblem* p = s->p;
  int first = p->row_adr[k], rows = p->row_adr[k + 1] - first;
  const double* bound = p->param + p->param_adr[k];
  double r = s->r[k], goal = s->lambda[i] - r * s->u[i];
  bool boxed = p->law[k] == TB_LAW_BOX;
  double low = boxed ? bound[i - first] : 0, high = boxed ? bound[rows + i - first] : INFINITY;
  tbHeld state = goal >= high ? TB_HELD_HIGH : goal <= low || !(goal == goal) ? TB_HELD : TB_FREE;
  *value = state == TB_HELD_HIGH ? high : low;
  *past = fmin(fabs(goal - low), fabs(goal - high)) / r;
  return state;
}

// Friction that the model or a half axis of zero leaves out.
static bool is_left_out(const tbNewton* s, int k, int row)
{
  Group group[GROUPS];
  int n = groups_of(s->p, k, s->model, group);
  for (int g = 0; g < n; g++)
    if (row >= group[g].first && row < group[g].first + group[g].rows)
      return group[g].axis[row - group[g].first] == 0;
  return row > 0;
}

// Rows whose state is decided by their own λ − r u: all of a law of rows, the normal row of friction.
static int decided_rows(const tbProblem* p, int k)
{
  if (p->law[k] == TB_LAW_BILATERAL) return 0;
  return p->law[k] < TB_LAW_COULOMB ? p->row_adr[k + 1] - p->row_adr[k] : 1;
}

static bool hold(tbNewton* s, int row, tbHeld state, double value)
{
  double was = s->lambda[row];
  s->held[row] = (uint8_t)state;
  if (state != TB_FREE) s->lambda[row] = value;
  return s->lambda[row] != was;
}

static bool hold_friction(tbNewton* s, int k)
{
  int first = s->p->row_adr[k];
  bool moved = false;
  for (int i = first + 1; s->p->law[k] >= TB_LAW_COULOMB && i < s->p->row_adr[k + 1]; i++)
    moved |= hold(s, i, s->held[first] || is_left_out(s, k, i - first) ? TB_HELD : TB_FREE, 0);
  return moved;
}

bool tb_newton_hold(tbNewton* s)
{
  bool moved = false;
  for (int k = 0; k < s->p->ncontact; k++) {
    int first = s->p->row_adr[k], decided = decided_rows(s->p, k);
    double value, past;
    for (int i = first; i < first + decided; i++) {
      tbHeld state = end_of(s, k, i, &value, &past);
      moved |= hold(s, i, state, value);
    }
    moved |= hold_friction(s, k);
  }
  return moved;
}

void tb_newton_hold_as(tbNewton* s, const uint8_t* held)
{
  memcpy(s->held, held, (size_t)s->p->nrow);
  for (int k = 0; k < s->p->ncontact; k++) {
    int first = s->p->row_adr[k], rows = s->p->row_adr[k + 1] - first;
    const double* bound = s->p->param + s->p->param_adr[k];
    bool boxed = s->p->law[k] == TB_LAW_BOX;
    for (int i = 0; i < rows; i++)
      if (held[first + i])
        s->lambda[first + i] = !boxed ? 0 : bound[held[first + i] == TB_HELD_HIGH ? rows + i : i];
  }
}

double tb_newton_velocities(const tbNewton* s)
{
  double largest = 0;
  for (int i = 0; i < s->p->nrow; i++) largest = fmax(largest, fmax(fabs(s->q[i]), fabs(s->u[i])));
  return largest;
}

double tb_newton_past(const tbNewton* s)
{
  double most = 0;
  for (int k = 0; k < s->p->ncontact; k++) {
    int first = s->p->row_adr[k], decided = decided_rows(s->p, k);
    for (int i = first; i < first + decided; i++) {
      double value, past;
      if (end_of(s, k, i, &value, &past) != (tbHeld)s->held[i]) most = fmax(most, past);
    }
  }
  double scale = tb_newton_velocities(s);
  return scale > 0 ? most / scale : most;
}

// Row `to` of M += factor · W_i, over the unknowns of the island.
static void add_velocity(const tbNewton* s, int m, int to, int i, double factor)
{
  const double* W = s->W + (size_t)i * s->p->nrow;
  for (int j = 0; j < m; j++) s->M[(size_t)to * m + j] += factor * W[s->row[j]];
}

static void add_impulse(const tbNewton* s, int m, int to, int i, double factor)
{
  if (s->place[i] >= 0) s->M[(size_t)to * m + s->place[i]] += factor;
}

// Slip: y − ρ τ/|τ| = 0, times w a to be in m/s. False: the group sticks.
static bool slip_rows(tbNewton* s, int m, int k, const Group* g)
{
  int first = s->p->row_adr[k], at = first + g->first;
  double r = s->r[k], rho = s->lambda[first] - r * s->u[first], tau[3] = {0}, length = 0;
  for (int i = 0; i < g->rows; i++) {
    if (g->axis[i] == 0) continue;
    tau[i] = s->lambda[at + i] / g->axis[i] - r * g->axis[i] * s->u[at + i];
    length += tau[i] * tau[i];
  }
  length = sqrt(length);
  if (!(length > rho)) return false;
  for (int i = 0; i < g->rows; i++) {
    if (g->axis[i] == 0) continue;
    double a = g->axis[i], unit = a / r, t = tau[i] / length;
    s->equation[at + i] = unit * (s->lambda[at + i] / a - rho * t);
    int to = m ? s->place[at + i] : -1;
    if (to < 0) continue;
    add_impulse(s, m, to, at + i, 1 / r);
    add_impulse(s, m, to, first, -unit * t);
    add_velocity(s, m, to, first, unit * t * r);
    for (int j = 0; j < g->rows; j++) {
      if (g->axis[j] == 0) continue;
      double turn = -unit * rho / length * ((i == j) - t * tau[j] / length);
      add_impulse(s, m, to, at + j, turn / g->axis[j]);
      add_velocity(s, m, to, at + j, -turn * r * g->axis[j]);
    }
  }
  return true;
}

void tb_newton_rows(tbNewton* s, int m, int k)
{
  const tbProblem* p = s->p;
  int first = p->row_adr[k], end = p->row_adr[k + 1];
  Group group[GROUPS];
  int n = p->law[k] >= TB_LAW_COULOMB ? groups_of(p, k, s->model, group) : 0;
  bool slips[6] = {0};
  for (int g = 0; g < n && !s->held[first]; g++)
    if (slip_rows(s, m, k, &group[g]))
      for (int i = 0; i < group[g].rows; i++) slips[group[g].first + i] = true;
  for (int i = first; i < end; i++) {
    if (s->held[i]) s->equation[i] = 0;
    if (s->held[i] || slips[i - first]) continue;
    s->equation[i] = s->u[i];
    if (m && s->place[i] >= 0) add_velocity(s, m, s->place[i], i, 1);
  }
}

double tb_newton_left(tbNewton* s)
{
  double worst = 0, scale = tb_newton_velocities(s);
  for (int c = 0; c < s->p->ncontact; c++) tb_newton_rows(s, 0, c);
  for (int i = 0; i < s->p->nrow; i++) worst = fmax(worst, fabs(s->equation[i]));
  return scale > 0 ? worst / scale : worst;
}
