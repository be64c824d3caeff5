// SPDX-License-Identifier: Apache-2.0
#include "step/pd_contacts.h"

#include "problem/metric.h"

#include <math.h>
#include <string.h>

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

// ---- before the iterations ----

static void make_answers(const tbProblem* p, int k, const double* lump, double* answer)
{
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    const tbMetricBlock* block = &p->block[p->dof_block[p->jac_dof[c]]];
    int rows = rows_of(p, k), width = p->jac_width[c];
    const double* J = p->jac + p->jac_val_adr[c];
    double* Y = answer + p->jac_val_adr[c];
    for (int i = 0; i < rows * width; i++)
      Y[i] = block->kind == TB_METRIC_SPARSE ? J[i] / lump[p->jac_dof[c] + i % width] : J[i];
    if (block->kind != TB_METRIC_SPARSE) tb_metric_solve_rows(block, rows, Y);
  }
}

// An entry of J D⁻¹Jᵀ.
static double coupling(const tbProblem* p, int k, const double* answer, int i, int j)
{
  double entry = 0;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    for (int d = 0, width = p->jac_width[c]; d < width; d++)
      entry += p->jac[p->jac_val_adr[c] + (size_t)(i * width + d)] *
               answer[p->jac_val_adr[c] + (size_t)(j * width + d)];
  return entry;
}

// The length that turns angular velocities at a contact into velocities that answer to an impulse as those of
// its normal do, as 1 over it; 1 of a contact that does not turn.
static double turning_scale(const tbProblem* p, int k, const double* answer)
{
  double slides = coupling(p, k, answer, 0, 0), turns = 0;
  for (int i = 3; i < rows_of(p, k); i++) turns = fmax(turns, coupling(p, k, answer, i, i));
  return slides > 0 && turns > 0 ? sqrt(turns / slides) : 1;
}

// Of friction laws all rows together, the largest row sum of J D⁻¹Jᵀ + R, so that no impulse overshoots:
// between nodes that is a multiple of one. Rows of turning are scaled to the others first, and have the
// square of that in their response. Of other laws row by row.
static void make_responses(const tbProblem* p, int k, const double* answer, double* response)
{
  int rows = rows_of(p, k);
  double *own = response + p->row_adr[k], most = 0;
  bool together = p->law[k] > TB_LAW_BOX;
  double turning = together ? turning_scale(p, k, answer) : 1;
  for (int i = 0; i < rows; i++) {
    double sum = p->compliance[p->row_adr[k] + i];
    for (int j = 0; j < rows; j++) {
      double entry = coupling(p, k, answer, i, j) / ((i < 3 ? 1 : turning) * (j < 3 ? 1 : turning));
      sum += i == j ? entry : together ? fabs(entry) : 0;
    }
    own[i] = sum;
    most = fmax(most, sum);
  }
  for (int i = 0; together && i < rows; i++) own[i] = i < 3 ? most : most * turning * turning;
}

// ---- layers ----

typedef struct {
  const tbProblem* p;
  int *adr, *contact; // of the first degree of freedom of a node: its contacts   (ndof+1)
  int* layer;         // of a contact; −1: not yet                                (ncontact)
  int* queue;         // contacts whose layer is known, in that order
  int first, count;
} Layers;

// A contact with something that is no node: what an impulse on it adds up to does not cancel.
static bool is_anchored(const tbProblem* p, int k)
{
  double sum[3] = {0};
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    if (p->block[p->dof_block[p->jac_dof[c]]].kind != TB_METRIC_SPARSE) return true;
    for (int d = 0; d < p->jac_width[c] && d < 3; d++) sum[d] += p->jac[p->jac_val_adr[c] + (size_t)d];
  }
  return fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) > 1e-6;
}

static void take(Layers* l, int k, int layer)
{
  l->layer[k] = layer;
  l->queue[l->count++] = k;
}

static void spread(Layers* l)
{
  const tbProblem* p = l->p;
  for (; l->first < l->count; l->first++) {
    int k = l->queue[l->first];
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int node = p->jac_dof[c];
      if (p->block[p->dof_block[node]].kind != TB_METRIC_SPARSE) continue;
      for (int i = l->adr[node]; i < l->adr[node + 1]; i++)
        if (l->layer[l->contact[i]] < 0) take(l, l->contact[i], l->layer[k] + 1);
    }
  }
}

// Whether one of its nodes is in no other contact: it is at an end of a stack.
static bool is_end(const Layers* l, int k)
{
  for (int c = l->p->jac_adr[k]; c < l->p->jac_adr[k + 1]; c++) {
    int node = l->p->jac_dof[c];
    if (l->adr[node + 1] - l->adr[node] == 1) return true;
  }
  return false;
}

static tbStatus list_contacts(tbArena* arena, Layers* l)
{
  const tbProblem* p = l->p;
  int count = p->jac_adr[p->ncontact];
  l->adr = TB_TAKE(arena, int, (size_t)p->ndof + 1);
  l->contact = TB_TAKE(arena, int, (size_t)count);
  l->layer = TB_TAKE(arena, int, (size_t)p->ncontact);
  int* at = TB_TAKE(arena, int, (size_t)p->ndof);
  if (!l->adr || !l->contact || !l->layer || !at) return TB_ERROR_MEMORY;
  for (int c = 0; c < count; c++) l->adr[p->jac_dof[c] + 1]++;
  for (int i = 0; i < p->ndof; i++) l->adr[i + 1] += l->adr[i], at[i] = l->adr[i];
  for (int k = 0; k < p->ncontact; k++) {
    l->layer[k] = -1;
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) l->contact[at[p->jac_dof[c]]++] = k;
  }
  return TB_OK;
}

// In the order in which contacts are reached, layer is beside layer.
static tbStatus sort_into_layers(tbArena* arena, const tbProblem* p, int* order, int* layers)
{
  Layers l = {.p = p, .queue = order};
  TB_TRY(list_contacts(arena, &l));
  for (int k = 0; k < p->ncontact; k++)
    if (is_anchored(p, k)) take(&l, k, 0);
  spread(&l);
  for (int pass = 0; pass < 2; pass++) // stacks with ends, then closed ones
    for (int k = 0; k < p->ncontact; k++)
      if (l.layer[k] < 0 && (pass == 1 || is_end(&l, k))) take(&l, k, 0), spread(&l);
  for (int k = 0; k < p->ncontact; k++)
    if (l.layer[k] >= *layers) *layers = l.layer[k] + 1;
  return TB_OK;
}

// Contacts that are not of nodes alone have answers and responses by rows.
static tbStatus prepare_others(tbArena* arena, const double* lump, tbPdContacts* s)
{
  const tbProblem* p = s->problem;
  s->answer = TB_TAKE(arena, double, p->jac_val_adr[p->ncol]);
  s->response = TB_TAKE(arena, double, (size_t)p->nrow);
  if (!s->answer || !s->response) return TB_ERROR_MEMORY;
  for (int i = 0; i < p->ncontact; i++) {
    if (s->node[i].count > 0) continue;
    make_answers(p, s->node[i].contact, lump, s->answer);
    make_responses(p, s->node[i].contact, s->answer, s->response);
  }
  return TB_OK;
}

// Of every contact its set, and its nodes if it is of nodes alone; how many are not.
static int take_nodes(const tbProblem* p, const tbSolveOptions* o, const int* order, const double* lump,
                      const tbPdStiff* stiff, tbPdContacts* out)
{
  int others = 0;
  for (int i = 0; i < p->ncontact; i++) {
    tb_friction_make(p, order[i], o->model, o->directions, &out->set[i]);
    bool plain = out->set[i].kind != TB_SET_NONE && out->set[i].dim == 2;
    if (!tb_pd_node_contact(p, order[i], lump, stiff, &out->node[i]) || !plain) out->node[i].count = 0;
    others += out->node[i].count == 0;
  }
  return others;
}

tbStatus tb_pd_contacts_begin(tbArena* arena, const tbProblem* p, const tbSolveOptions* o, const double* lump,
                              const tbPdStiff* stiff, tbPdContacts* out)
{
  int* order = TB_TAKE(arena, int, (size_t)p->ncontact);
  *out = (tbPdContacts){.problem = p,
                        .set = TB_TAKE(arena, tbFrictionSet, (size_t)p->ncontact),
                        .node = TB_TAKE(arena, tbPdNodeContact, (size_t)p->ncontact)};
  if (!order || !out->set || !out->node) return TB_ERROR_MEMORY;
  TB_TRY(sort_into_layers(arena, p, order, &out->layers));
  int others = take_nodes(p, o, order, lump, stiff, out);
  if (others > 0 && stiff->count > 0) take_nodes(p, o, order, lump, NULL, out);
  if (others > 0) return prepare_others(arena, lump, out);
  out->nstiff = stiff->count;
  out->stiff = TB_TAKE(arena, tbVec3, (size_t)stiff->count);
  return out->stiff || stiff->count == 0 ? TB_OK : TB_ERROR_MEMORY;
}

// ---- the law ----

// The three cases: z = r − u/ω is −d/ω, what would stop all motion.
static void follow_friction(const tbFrictionSet* set, const double* z, double* r)
{
  double size = 0;
  memset(r, 0, (size_t)(set->dim + 1) * sizeof *r);
  if (!(z[0] > 0)) return; // takes off
  r[0] = z[0];
  if (set->kind != TB_SET_BALL) {
    tb_friction_closest(set, z[0], z + 1, r + 1);
    return;
  }
  for (int i = 1; i <= set->dim; i++) size += z[i] * z[i];
  size = sqrt(size);
  double most = set->par[0] * z[0], share = size <= most ? 1 : most / size; // sticks, slips
  for (int i = 1; i <= set->dim; i++) r[i] = share * z[i];
}

// u as the set sees it: a friction tensor turns velocities, and *response grows with what it lengthens.
static void turn_velocity(const tbFrictionSet* set, double* u, double* response)
{
  if (set->kind != TB_SET_TENSOR) return;
  double sum = 0;
  for (int i = 1; i <= 4; i++) sum += set->par[i] * set->par[i];
  tb_friction_turn(set, u);
  *response *= fmax(1, sqrt(sum));
}

static double row_velocity(const tbProblem* p, int k, int i, const double* v, const double* r)
{
  int row = p->row_adr[k] + i;
  double u = p->bias[row] + p->compliance[row] * r[row];
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double *J = p->jac + p->jac_val_adr[c] + (size_t)(i * width), *at = v + p->jac_dof[c];
    for (int d = 0; d < width; d++) u += J[d] * at[d];
  }
  return u;
}

static void push_row(const tbPdContacts* s, int k, int i, double change, double* v)
{
  const tbProblem* p = s->problem;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1] && change != 0; c++) {
    int width = p->jac_width[c];
    const double* Y = s->answer + p->jac_val_adr[c] + (size_t)(i * width);
    double* to = v + p->jac_dof[c];
    for (int d = 0; d < width; d++) to[d] += change * Y[d];
  }
}

static void update_rows(const tbPdContacts* s, int k, double* v, double* r)
{
  const tbProblem* p = s->problem;
  int rows = rows_of(p, k), first = p->row_adr[k];
  double z[TB_MAX_ROWS], next[TB_MAX_ROWS];
  for (int i = 0; i < rows; i++) {
    if (!(s->response[first + i] > 0)) continue;
    memcpy(z, r + first, (size_t)rows * sizeof *z);
    z[i] -= row_velocity(p, k, i, v, r) / s->response[first + i];
    tb_friction_clamp_rows(p, k, z, next);
    push_row(s, k, i, next[i] - r[first + i], v);
    r[first + i] = next[i];
  }
}

// The set of a contact that turns, where torques are multiplied by `scale`.
static tbFrictionSet scaled_turning(const tbFrictionSet* set, double scale)
{
  tbFrictionSet out = *set;
  if (set->kind == TB_SET_ELLIPSOID)
    for (int i = 2; i < set->dim; i++) out.par[i] *= scale;
  if (set->kind == TB_SET_BALLS)
    for (int i = 1; i < 3; i++) out.par[i] *= scale;
  return out;
}

static void update_friction(const tbPdContacts* s, const tbFrictionSet* set, int k, double* v, double* r)
{
  const tbProblem* p = s->problem;
  int rows = rows_of(p, k), first = p->row_adr[k];
  double z[TB_MAX_ROWS], next[TB_MAX_ROWS], response = s->response[first];
  if (!(response > 0)) return;
  double turning = rows > 3 ? sqrt(s->response[first + 3] / response) : 1;
  tbFrictionSet own = rows > 3 ? scaled_turning(set, turning) : *set;
  for (int i = 0; i < rows; i++) z[i] = row_velocity(p, k, i, v, r) / (i < 3 ? 1 : turning);
  turn_velocity(set, z, &response);
  for (int i = 0; i < rows; i++) z[i] = r[first + i] * (i < 3 ? 1 : turning) - z[i] / response;
  follow_friction(&own, z, next);
  for (int i = 0; i < rows; i++) {
    next[i] /= i < 3 ? 1 : turning;
    push_row(s, k, i, next[i] - r[first + i], v);
    r[first + i] = next[i];
  }
}

static void update_nodes(const tbPdNodeContact* c, const tbFrictionSet* set, double* v, tbVec3* stiff,
                         double* r)
{
  if (!(c->response > 0)) return;
  tbVec3 u = tb_pd_node_velocity(c, v, stiff);
  double z[3] = {u.x, u.y, u.z}, next[3], response = c->response;
  turn_velocity(set, z, &response);
  for (int i = 0; i < 3; i++) z[i] = r[i] - z[i] / response;
  follow_friction(set, z, next);
  double change[3] = {next[0] - r[0], next[1] - r[1], next[2] - r[2]};
  if (change[0] == 0 && change[1] == 0 && change[2] == 0) return;
  tbVec3 force = tb_pd_node_force(c, change);
  tb_pd_node_add(c, c->answer, force, v);
  tb_pd_node_lift(c, force, stiff);
  for (int i = 0; i < 3; i++) r[i] = next[i];
}

// out += Jᵀr of a contact.
static void add_push(const tbProblem* p, int k, const double* r, double* out)
{
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
    int width = p->jac_width[c];
    const double* J = p->jac + p->jac_val_adr[c];
    for (int i = 0; i < rows_of(p, k); i++, J += width)
      for (int d = 0; d < width; d++) out[p->jac_dof[c] + d] += J[d] * r[p->row_adr[k] + i];
  }
}

void tb_pd_contacts_sweep(const tbPdContacts* s, double* v, double* r, double* push)
{
  memset(push, 0, (size_t)s->problem->ndof * sizeof *push);
  for (int i = 0; i < s->nstiff; i++) s->stiff[i] = tb_zero3();
  for (int i = 0; i < s->problem->ncontact; i++) {
    const tbPdNodeContact* c = &s->node[i];
    if (c->count > 0) {
      update_nodes(c, &s->set[i], v, s->stiff, r + c->row);
      tb_pd_node_add(c, c->weight, tb_pd_node_force(c, r + c->row), push);
      continue;
    }
    if (s->set[i].kind != TB_SET_NONE) update_friction(s, &s->set[i], c->contact, v, r);
    else update_rows(s, c->contact, v, r);
    add_push(s->problem, c->contact, r, push);
  }
}

void tb_pd_contacts_move(const tbPdContacts* s, const double* r, double* v)
{
  const tbProblem* p = s->problem;
  for (int i = 0; i < p->ncontact; i++) {
    const tbPdNodeContact* c = &s->node[i];
    if (c->count > 0) tb_pd_node_add(c, c->answer, tb_pd_node_force(c, r + c->row), v);
    else
      for (int k = 0; k < rows_of(p, c->contact); k++) push_row(s, c->contact, k, r[c->row + k], v);
  }
}

void tb_pd_contacts_push(const tbPdContacts* s, const double* r, double* push)
{
  memset(push, 0, (size_t)s->problem->ndof * sizeof *push);
  for (int i = 0; i < s->problem->ncontact; i++) {
    const tbPdNodeContact* c = &s->node[i];
    if (c->count > 0) tb_pd_node_add(c, c->weight, tb_pd_node_force(c, r + c->row), push);
    else add_push(s->problem, c->contact, r, push);
  }
}
