// SPDX-License-Identifier: Apache-2.0
#include "solve/cones.h"
#include "base/threads.h"

#include <math.h>

enum { CONTACTS_PER_PIECE = 128 };

void tb_cones_layout(tbCones* c, tbScratch* s, const tbProblem* p)
{
  c->friction = TB_SCRATCH(s, tbFrictionSet, (size_t)p->ncontact);
  c->scaled = TB_SCRATCH(s, tbFrictionSet, (size_t)p->ncontact);
  c->R = TB_SCRATCH(s, double, (size_t)p->nrow);
}

void tb_cones_begin(tbCones* c, tbRun* run)
{
  const tbProblem* p = c->p = run->p;
  c->threads = run->threads;
  double largest = 0;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = 0, rows = tb_rows(p, k); i < rows; i++)
      largest = fmax(largest, run->W->diag[run->W->diag_adr[k] + (size_t)(i * rows + i)]);
  double least = largest > 0 ? 1e-12 * largest : 1; // rows that nothing moves
  for (int k = 0; k < p->ncontact; k++) {
    int rows = tb_rows(p, k);
    const double* D = run->W->diag + run->W->diag_adr[k];
    double *R = c->R + p->row_adr[k], mean = 0;
    for (int i = 0; i < rows; i++) R[i] = fmax(D[i * rows + i], least);
    tb_friction_make(p, k, run->o->model, run->o->directions, &c->friction[k]);
    c->scaled[k] = c->friction[k];
    if (c->friction[k].kind == TB_SET_NONE) continue;
    for (int i = 1; i < rows; i++) mean += R[i] / (rows - 1);
    for (int i = 1; i < rows; i++) R[i] = mean;
    for (size_t i = 0; i < sizeof c->scaled->par / sizeof *c->scaled->par; i++)
      c->scaled[k].par[i] *= sqrt(mean / R[0]);
  }
}

typedef struct {
  const tbCones* c;
  const double* in;
  double* out;
} Pass;

static void project_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* s = user;
  const tbProblem* p = s->c->p;
  for (int k = begin; k < end; k++) {
    int first = p->row_adr[k], rows = tb_rows(p, k);
    const double *v = s->in + first, *R = s->c->R + first;
    double *x = s->out + first, y[TB_MAX_ROWS];
    if (s->c->friction[k].kind == TB_SET_NONE) {
      for (int i = 0; i < rows; i++) y[i] = v[i];
      tb_friction_clamp_rows(p, k, y, x);
      continue;
    }
    double normal = sqrt(R[0]), tangent = sqrt(R[1]);
    for (int i = 0; i < rows; i++) y[i] = v[i] * (i == 0 ? normal : tangent);
    tb_friction_project(&s->c->scaled[k], y, y, NULL);
    for (int i = 0; i < rows; i++) x[i] = y[i] / (i == 0 ? normal : tangent);
  }
}

void tb_cones_project(const tbCones* c, const double* v, double* x)
{
  tb_parallel_for(c->threads, c->p->ncontact, CONTACTS_PER_PIECE, project_piece, &(Pass){c, v, x});
}

static void lift_piece(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pass* s = user;
  const tbProblem* p = s->c->p;
  for (int k = begin; k < end; k++) {
    const tbFrictionSet* f = &s->c->friction[k];
    if (f->kind == TB_SET_NONE || f->associated) continue;
    int first = p->row_adr[k];
    double against[TB_MAX_ROWS];
    for (int i = 0; i < f->dim; i++) against[i] = -s->in[first + 1 + i];
    s->out[first] = tb_friction_support(f, against, NULL);
  }
}

void tb_cones_lift(const tbCones* c, const double* u, double* lift)
{
  tb_parallel_for(c->threads, c->p->ncontact, CONTACTS_PER_PIECE, lift_piece, &(Pass){c, u, lift});
}
