// SPDX-License-Identifier: Apache-2.0
#include "solve/newton_pairs.h"

#include "math/dense.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

enum {
  ROWS = 36,    // of a pair at most
  SIZE = 6,     // degrees of freedom of a body at most
  STEPS = 40,   // of Newton on one pair
  QUICK = 4,    // steps of a quick proximal point
  TOO_MANY = 8, // … and those after which it is given up
};
static const double FIRST = 0.1, LEAST = 1e-9, MOST = 1e3; // of α
static const double DEEP = 1e-2; // squared share of the tolerances that a pair is solved to

bool tb_contact_bodies(const tbProblem* p, int k, int bodies[2])
{
  int first = p->jac_adr[k], last = p->jac_adr[k + 1] - 1;
  if (last < first) return false;
  bodies[0] = p->dof_block[p->jac_dof[first]], bodies[1] = p->dof_block[p->jac_dof[last]];
  for (int c = first + 1; c < last; c++) {
    int body = p->dof_block[p->jac_dof[c]];
    if (body != bodies[0] && body != bodies[1]) return false;
  }
  return true;
}

static bool is_small(const tbMetricBlock* b) { return b->kind != TB_METRIC_SPARSE && b->size <= SIZE; }

tbStatus tb_newton_pairs_find(tbNewtonPlan* plan, const tbProblem* p)
{
  for (int b = 0; b < p->nblock; b++)
    if (!is_small(&p->block[b])) return TB_OK;
  plan->pair_ptr = TB_TAKE(&plan->memory, int, (size_t)p->ncontact + 1);
  plan->island_pair = TB_TAKE(&plan->memory, int, (size_t)plan->islands + 1);
  if (!plan->pair_ptr || !plan->island_pair) return TB_ERROR_MEMORY;
  int before[2] = {-1, -1}, bodies[2];
  for (int i = 0; i < plan->islands; i++) {
    plan->island_pair[i] = plan->pairs;
    for (int e = plan->island_ptr[i]; e < plan->island_ptr[i + 1]; e++) {
      bool known = tb_contact_bodies(p, plan->contact[e], bodies);
      bool same = known && e > plan->island_ptr[i] && bodies[0] == before[0] && bodies[1] == before[1];
      if (!same) plan->pair_ptr[plan->pairs++] = e;
      before[0] = known ? bodies[0] : -1, before[1] = known ? bodies[1] : -1;
    }
  }
  plan->island_pair[plan->islands] = plan->pairs;
  plan->pair_ptr[plan->pairs] = p->ncontact;
  return TB_OK;
}

// ---- one pair ----

typedef struct {
  tbNewton* n;
  int contacts, rows, bodies, body[2];
  const int* contact;
  double J[2][ROWS * SIZE], X[2][ROWS * SIZE]; // rows of J, and of J A⁻¹, body by body
  double W[ROWS * ROWS];
  double lambda[ROWS], u[ROWS], anchor[ROWS], phi[ROWS], d[ROWS];
  double A[ROWS * TB_MAX_ROWS], B[ROWS * TB_MAX_ROWS], M[ROWS * ROWS];
  double alpha;
} Pair;

static void gather(Pair* s)
{
  const tbProblem* p = s->n->run->p;
  tb_contact_bodies(p, s->contact[0], s->body);
  s->bodies = s->body[0] == s->body[1] ? 1 : 2;
  memset(s->W, 0, (size_t)(s->rows * s->rows) * sizeof *s->W);
  for (int b = 0; b < s->bodies; b++) {
    const tbMetricBlock* block = &p->block[s->body[b]];
    int size = block->size, row = 0;
    memset(s->J[b], 0, (size_t)(s->rows * size) * sizeof **s->J);
    for (int i = 0; i < s->contacts; row += tb_rows(p, s->contact[i++]))
      for (int c = p->jac_adr[s->contact[i]]; c < p->jac_adr[s->contact[i] + 1]; c++) {
        if (p->dof_block[p->jac_dof[c]] != s->body[b]) continue;
        int at = p->jac_dof[c] - block->dof, width = p->jac_width[c];
        const double* J = p->jac + p->jac_val_adr[c];
        for (int r = 0; r < tb_rows(p, s->contact[i]); r++)
          for (int j = 0; j < width; j++) s->J[b][(row + r) * size + at + j] += J[r * width + j];
      }
    memcpy(s->X[b], s->J[b], (size_t)(s->rows * size) * sizeof **s->J);
    tb_metric_solve_rows(block, s->rows, s->X[b]);
    for (int i = 0; i < s->rows; i++)
      for (int j = 0; j < s->rows; j++)
        for (int c = 0; c < size; c++) s->W[i * s->rows + j] += s->X[b][i * size + c] * s->J[b][j * size + c];
  }
  for (int i = 0, row = 0; i < s->contacts; row += tb_rows(p, s->contact[i++]))
    for (int r = 0; r < tb_rows(p, s->contact[i]); r++)
      s->W[(row + r) * (s->rows + 1)] += p->compliance[p->row_adr[s->contact[i]] + r];
}

// The most by which a contact of the pair misses the tolerances, in squares.
static double excess(const Pair* s)
{
  double most = 0;
  for (int i = 0, row = 0; i < s->contacts; row += tb_rows(s->n->run->p, s->contact[i++]))
    most = fmax(most, tb_newton_excess(s->n, s->contact[i], s->lambda + row, s->u + row));
  return most;
}

// Φ and its derivatives. Returns the merit, as in newton_core.h; *pull gets what the anchor adds to it.
static double linearise(Pair* s, double* pull)
{
  const tbProblem* p = s->n->run->p;
  double merit = 0, part = s->alpha / (1 + s->alpha);
  *pull = 0;
  for (int i = 0, row = 0; i < s->contacts; i++) {
    int k = s->contact[i], rows = tb_rows(p, k);
    double T = s->n->size[k], y[TB_MAX_ROWS];
    tbContactMap m = tb_newton_map(s->n, k, TB_MAP_AC, s->alpha);
    tbContactStep step;
    for (int r = 0; r < rows; r++) {
      double d = s->lambda[row + r] - s->anchor[row + r];
      y[r] = s->u[row + r] + s->alpha * T * d;
      *pull += part * part * T * d * d;
    }
    merit += T * tb_contact_map(&m, s->lambda + row, y, &step);
    memcpy(s->phi + row, step.phi, (size_t)rows * sizeof *step.phi);
    memcpy(s->A + row * TB_MAX_ROWS, step.A, (size_t)(rows * rows) * sizeof *step.A);
    memcpy(s->B + row * TB_MAX_ROWS, step.B, (size_t)(rows * rows) * sizeof *step.B);
    row += rows;
  }
  return merit;
}

// λ and u move by a full step:  (A + B(W + αT)) d = −Φ.  False where the matrix is singular.
static bool move(Pair* s)
{
  const tbProblem* p = s->n->run->p;
  int n = s->rows, swap[ROWS];
  for (int i = 0, row = 0; i < s->contacts; i++) {
    int k = s->contact[i], rows = tb_rows(p, k);
    const double *A = s->A + row * TB_MAX_ROWS, *B = s->B + row * TB_MAX_ROWS;
    double shift = s->alpha * s->n->size[k];
    for (int r = 0; r < rows; r++) {
      double* M = s->M + (row + r) * n;
      memset(M, 0, (size_t)n * sizeof *M);
      for (int c = 0; c < rows; c++) {
        tb_dense_subtract(n, -B[r * rows + c], s->W + (row + c) * n, M);
        M[row + c] += A[r * rows + c] + shift * B[r * rows + c];
      }
      s->d[row + r] = -s->phi[row + r];
    }
    row += rows;
  }
  if (tb_dense_lu(n, s->M, n, swap) < n) return false;
  tb_dense_lu_solve(n, s->M, n, swap, s->d);
  for (int i = 0; i < n; i++) {
    s->lambda[i] += s->d[i];
    tb_dense_subtract(n, -s->d[i], s->W + i * n, s->u); // W is symmetric
  }
  return true;
}

// Proximal points by Newton, as prox_newton.c has them for the whole. λ becomes the best that was met; false
// where that is the start.
static bool solve(Pair* s)
{
  size_t bytes = (size_t)s->rows * sizeof(double);
  double best[ROWS], u_anchor[ROWS], least = excess(s), pull;
  int steps = 0;
  bool better = false;
  memcpy(best, s->lambda, bytes);
  memcpy(s->anchor, s->lambda, bytes);
  memcpy(u_anchor, s->u, bytes);
  s->alpha = FIRST;
  for (int k = 0; k < STEPS && least > DEEP; k++) {
    double merit = linearise(s, &pull);
    if (steps > 0 && merit <= pull) { // a proximal point
      memcpy(s->anchor, s->lambda, bytes);
      memcpy(u_anchor, s->u, bytes);
      s->alpha = fmax(LEAST, s->alpha * (steps == 1 ? 0.1 : steps <= QUICK ? 0.25 : 1));
      steps = 0;
      linearise(s, &pull);
    } else if (steps >= TOO_MANY || !isfinite(merit)) { // Newton is lost
      memcpy(s->lambda, s->anchor, bytes);
      memcpy(s->u, u_anchor, bytes);
      s->alpha = fmin(MOST, 8 * s->alpha);
      steps = 0;
      linearise(s, &pull);
    }
    if (!move(s)) break;
    steps++;
    double now = excess(s);
    if (now < least) {
      least = now, better = true;
      memcpy(best, s->lambda, bytes);
    }
  }
  memcpy(s->lambda, best, bytes);
  return better;
}

// ---- all of them ----

// u of the pair's contacts, w being what has changed of the bodies' velocities; λ.
static void take(Pair* s, const double* w)
{
  const tbProblem* p = s->n->run->p;
  s->rows = 0;
  for (int i = 0; i < s->contacts; i++) {
    int k = s->contact[i], rows = tb_rows(p, k);
    for (int r = 0; r < rows; r++) {
      s->lambda[s->rows + r] = s->n->lambda[p->row_adr[k] + r];
      s->u[s->rows + r] = s->n->u[p->row_adr[k] + r];
    }
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      const double *J = p->jac + p->jac_val_adr[c], *v = w + p->jac_dof[c];
      for (int r = 0; r < rows; r++, J += p->jac_width[c])
        for (int j = 0; j < p->jac_width[c]; j++) s->u[s->rows + r] += J[j] * v[j];
    }
    s->rows += rows;
  }
}

static void give(Pair* s, double* w)
{
  const tbProblem* p = s->n->run->p;
  for (int i = 0, row = 0; i < s->contacts; i++)
    for (int r = p->row_adr[s->contact[i]]; r < p->row_adr[s->contact[i] + 1]; r++, row++) {
      double d = s->lambda[row] - s->n->lambda[r];
      s->n->lambda[r] = s->lambda[row];
      for (int b = 0; b < s->bodies; b++) {
        const tbMetricBlock* block = &p->block[s->body[b]];
        tb_dense_subtract(block->size, -d, s->X[b] + row * block->size, w + block->dof);
      }
    }
}

bool tb_newton_pairs_visit(tbNewton* n, int i)
{
  const tbNewtonPlan* plan = n->plan;
  const tbProblem* p = n->run->p;
  double* w = n->dv;
  bool any = false;
  Pair s;
  if (!plan->pair_ptr) return false;
  memset(w, 0, (size_t)p->ndof * sizeof *w);
  s.n = n;
  for (int q = plan->island_pair[i]; q < plan->island_pair[i + 1]; q++) {
    int rows = 0;
    s.contact = plan->contact + plan->pair_ptr[q];
    s.contacts = plan->pair_ptr[q + 1] - plan->pair_ptr[q];
    for (int k = 0; k < s.contacts; k++) rows += tb_rows(p, s.contact[k]);
    if (rows > ROWS || p->jac_adr[s.contact[0] + 1] == p->jac_adr[s.contact[0]]) continue;
    take(&s, w);
    if (!(excess(&s) > 1)) continue;
    if (tb_run_stops(n->run)) break;
    gather(&s);
    if (!solve(&s)) continue;
    give(&s, w);
    any = true;
  }
  return any;
}
