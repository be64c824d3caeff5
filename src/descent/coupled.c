// SPDX-License-Identifier: Apache-2.0
#include "descent/coupled.h"

#include "base/stop.h"
#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { DIRECTIONS = 40, RESTARTS = 3 };

tbStatus tb_coupled_begin(tbArena* arena, tbHessian* h, double tolerance, tbCoupled* out)
{
  const tbProblem* p = h->relaxed->problem;
  size_t n = (size_t)p->ndof, rows = (size_t)p->nrow;
  *out = (tbCoupled){.hessian = h, .tolerance = tolerance};
  out->E = TB_TAKE(arena, double, rows), out->u = TB_TAKE(arena, double, rows);
  out->e = TB_TAKE(arena, double, rows);
  out->x = TB_TAKE(arena, double, n), out->wk = TB_TAKE(arena, double, n);
  return out->E && out->u && out->e && out->x && out->wk ? TB_OK : TB_ERROR_MEMORY;
}

void tb_coupled_evaluate(tbCoupled* c, const double* u, double* lambda, double* D)
{
  const tbRelaxed* r = c->hessian->relaxed;
  const tbProblem* p = r->problem;
  c->any = false;
  for (int k = 0; k < p->ncontact; k++) {
    int at = p->row_adr[k], rows = p->row_adr[k + 1] - at;
    double *own = D + r->d_adr[k], share[TB_MAX_ROWS];
    tb_relaxed_contact(r, k, u + at, -1, lambda + at, own, share);
    c->E[at] = 0;
    for (int i = 1; i < rows; i++) {
      c->E[at + i] = share[i] * own[0];
      c->any = c->any || c->E[at + i] != 0;
    }
  }
}

// y = x + ∇²g⁻¹ Jᵀ E J x, or with Eᵀ.
static tbStatus apply(tbContext* ctx, tbCoupled* c, bool transposed, const double* x, double* y)
{
  const tbRelaxed* r = c->hessian->relaxed;
  const tbProblem* p = r->problem;
  tb_relaxed_turns(r, ctx->threads, x, c->u);
  for (int k = 0; k < p->ncontact; k++) {
    int first = p->row_adr[k], end = p->row_adr[k + 1];
    double normal = c->u[first], sum = 0;
    for (int i = first + 1; i < end; i++) {
      sum += c->E[i] * c->u[i];
      c->e[i] = transposed ? 0 : -c->E[i] * normal;
    }
    c->e[first] = transposed ? -sum : 0;
  }
  tb_relaxed_gradient(r, ctx->threads, p->v_free, c->e, c->wk, y); // −Jᵀe
  TB_TRY(tb_hessian_solve(ctx, c->hessian, y, y));
  for (int i = 0; i < p->ndof; i++) y[i] += x[i];
  return TB_OK;
}

// The triangular system that Givens' rotations leave of Arnoldi's.
typedef struct {
  double R[DIRECTIONS][DIRECTIONS + 1], rhs[DIRECTIONS + 1], c[DIRECTIONS], s[DIRECTIONS];
} Rotated;

// Column j, of which h[0 … j + 1] was found. Returns what is left.
static double rotate(Rotated* q, int j, double* h)
{
  for (int i = 0; i < j; i++) {
    double x = q->c[i] * h[i] + q->s[i] * h[i + 1];
    h[i + 1] = -q->s[i] * h[i] + q->c[i] * h[i + 1], h[i] = x;
  }
  double length = sqrt(h[j] * h[j] + h[j + 1] * h[j + 1]);
  q->c[j] = length > 0 ? h[j] / length : 1, q->s[j] = length > 0 ? h[j + 1] / length : 0;
  h[j] = length;
  q->rhs[j + 1] = -q->s[j] * q->rhs[j], q->rhs[j] *= q->c[j];
  memcpy(q->R[j], h, (size_t)(j + 1) * sizeof *h);
  return fabs(q->rhs[j + 1]);
}

static void add_directions(const tbCoupled* c, const Rotated* q, int count, int n, double* x)
{
  double y[DIRECTIONS];
  for (int i = count - 1; i >= 0; i--) {
    y[i] = q->rhs[i];
    for (int j = i + 1; j < count; j++) y[i] -= q->R[j][i] * y[j];
    y[i] = q->R[i][i] != 0 ? y[i] / q->R[i][i] : 0;
  }
  for (int j = 0; j < count; j++)
    for (int i = 0; i < n; i++) x[i] += y[j] * c->basis[(size_t)j * (size_t)n + (size_t)i];
}

// One cycle from the residual in the first direction; left: of it.
static tbStatus cycle(tbContext* ctx, tbCoupled* c, bool transposed, double goal, double* x, double* left)
{
  int n = c->hessian->relaxed->problem->ndof, j = 0;
  Rotated q;
  double *v = c->basis, size = sqrt(tb_dot_in_order(n, v, v));
  q.rhs[0] = *left = size;
  for (int i = 0; i < n; i++) v[i] /= size;
  for (; j<DIRECTIONS&& * left> goal && !(j > 0 && tb_is_late(c->deadline)); j++) {
    double h[DIRECTIONS + 1], *next = c->basis + (size_t)(j + 1) * (size_t)n;
    TB_TRY(apply(ctx, c, transposed, c->basis + (size_t)j * (size_t)n, next));
    for (int i = 0; i <= j; i++) {
      const double* b = c->basis + (size_t)i * (size_t)n;
      h[i] = tb_dot_in_order(n, next, b);
      for (int k = 0; k < n; k++) next[k] -= h[i] * b[k];
    }
    h[j + 1] = sqrt(tb_dot_in_order(n, next, next));
    for (int k = 0; k < n && h[j + 1] > 0; k++) next[k] /= h[j + 1];
    *left = rotate(&q, j, h);
  }
  add_directions(c, &q, j, n, x);
  return TB_OK;
}

static tbStatus gmres(tbContext* ctx, tbCoupled* c, bool transposed, double* x)
{
  int n = c->hessian->relaxed->problem->ndof;
  double *b = c->x, goal = c->tolerance * sqrt(tb_dot_in_order(n, b, b)), left = INFINITY;
  memset(x, 0, (size_t)n * sizeof *x);
  memcpy(c->basis, b, (size_t)n * sizeof *b);
  for (int k = 0; k < RESTARTS && left > goal && (k == 0 || !tb_is_late(c->deadline)); k++) {
    if (k > 0) {
      TB_TRY(apply(ctx, c, transposed, x, c->basis));
      for (int i = 0; i < n; i++) c->basis[i] = b[i] - c->basis[i];
    }
    if (!(tb_dot_in_order(n, c->basis, c->basis) > 0)) break;
    TB_TRY(cycle(ctx, c, transposed, goal, x, &left));
  }
  return TB_OK;
}

tbStatus tb_coupled_solve(tbContext* ctx, tbCoupled* c, bool transposed, const double* b, double* x)
{
  size_t n = (size_t)c->hessian->relaxed->problem->ndof;
  if (!c->any) return tb_hessian_solve(ctx, c->hessian, b, x);
  TB_TRY(tb_hessian_solve(ctx, c->hessian, b, c->x));
  if (!(c->basis = TB_NEW(ctx, double, (DIRECTIONS + 1) * n))) return TB_ERROR_MEMORY;
  tbStatus status = gmres(ctx, c, transposed, x);
  tb_free(ctx, c->basis);
  c->basis = NULL;
  return status;
}
