// SPDX-License-Identifier: Apache-2.0
// The end of an interior-point run: Newton on the law itself (Alart & Curnier 1991).
//
// Near the boundary of the cones rounding keeps the path from going further, and where a solution is not
// strictly complementary the path comes near only with the root of the gap. The states of the contacts are
// then known as a rule. With w = D(Wλ + q), each cone contributes one of
//
//   open     x₀ ≤ w₀                  x = 0
//   stick    ‖x₁ − ρw₁‖ ≤ x₀ − w₀     w = 0
//   slip     else                     w₀ = 0,  x₁ = x₀ y/‖y‖,  y = x₁ − ρw₁
//
// or, for associated friction, x = P_Q(x − w). A speck of the unit matrix is added: redundant contacts keep
// the impulses they have.
//
// Cost      one sparse LU of W's pattern.
#include "math/cone.h"
#include "math/scale.h"
#include "solve/ipm.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SPECK = 1e-11;

// A (rows of DWD) dx + B dx = b for one cone.
typedef struct {
  double A[TB_SOC_MAX * TB_SOC_MAX], B[TB_SOC_MAX * TB_SOC_MAX], b[TB_SOC_MAX];
} Equations;

static void take_state(int size, const double* x, const double* w, bool open, Equations* q)
{
  for (int i = 0; i < size; i++) {
    (open ? q->B : q->A)[i * size + i] = 1;
    q->b[i] = open ? -x[i] : -w[i];
  }
}

static void slip(int size, double rho, const double* x, const double* w, const double* y, double length,
                 Equations* q)
{
  double share = fmax(x[0], 0) / length; // of the friction that is free to turn
  q->A[0] = 1;
  q->b[0] = -w[0];
  for (int i = 1; i < size; i++) {
    q->B[i * size] = -y[i - 1] / length;
    q->b[i] = x[0] * y[i - 1] / length - x[i];
    for (int j = 1; j < size; j++) {
      double turn = share * ((i == j) - y[i - 1] * y[j - 1] / (length * length));
      q->A[i * size + j] = rho * turn;
      q->B[i * size + j] = (i == j) - turn;
    }
  }
}

static void linearise(const tbIpm* s, const tbIpmCone* c, double rho, Equations* q)
{
  int size = c->size;
  const double* x = s->x + c->row;
  double w[TB_SOC_MAX], y[TB_SOC_MAX], at[TB_SOC_MAX];
  *q = (Equations){0};
  for (int i = 0; i < size; i++) w[i] = s->to_z[c->row + i] * s->u[c->row + i];
  if (size > 1 && s->friction[c->contact].associated) {
    for (int i = 0; i < size; i++) y[i] = x[i] - w[i];
    tb_project_soc(size, 1, y, at, q->A);
    for (int i = 0; i < size; i++) {
      q->b[i] = at[i] - x[i];
      for (int j = 0; j < size; j++) q->B[i * size + j] = (i == j) - q->A[i * size + j];
    }
    return;
  }
  for (int i = 1; i < size; i++) y[i - 1] = x[i] - rho * w[i];
  double room = x[0] - w[0], length = tb_norm(size - 1, y);
  if (room <= 0 || length <= room) take_state(size, x, w, room <= 0, q);
  else slip(size, rho, x, w, y, length, q);
}

// The factor ρ of a cone: one over the largest diagonal entry of its friction rows.
static double friction_factor(tbIpm* s, const tbIpmCone* c)
{
  const tbProblem* p = s->run->p;
  int rows = tb_rows(p, c->contact);
  const double* D = s->run->W->diag + s->run->W->diag_adr[c->contact];
  double largest = 0;
  for (int i = 1; i < c->size; i++)
    largest = fmax(largest, s->to_z[c->row + i] * D[i * rows + i] * s->to_lambda[c->row + i]);
  return largest > 0 ? 1 / largest : 1;
}

// Rows of the cone in every block of its contact ← A × rows; B onto the diagonal.
static void combine_rows(tbIpm* s, const tbIpmCone* c, const Equations* q)
{
  const tbProblem* p = s->run->p;
  const tbDelassus* W = s->run->W;
  int k = c->contact, size = c->size, rows = tb_rows(p, k), at = c->row - p->row_adr[k];
  for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
    int cols = tb_rows(p, W->col[e]);
    double *block = s->values + W->val_adr[e] + (size_t)(at * cols), mixed[TB_SOC_MAX * TB_MAX_ROWS] = {0};
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++)
        for (int col = 0; col < cols; col++)
          mixed[i * cols + col] += q->A[i * size + j] * block[j * cols + col];
    memcpy(block, mixed, (size_t)(size * cols) * sizeof *block);
  }
  double* block = tb_ipm_diagonal(s, k);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      block[(at + i) * rows + at + j] += q->B[i * size + j] + (i == j ? SPECK : 0);
}

void tb_ipm_polish(tbIpm* s)
{
  tb_ipm_scaled_matrix(s, 0);
  for (int i = 0; i < s->n; i++) s->dx[i] = s->active[i] ? -s->to_z[i] * s->u[i] : 0; // free rows keep this
  for (int c = 0; c < s->cones; c++) {
    const tbIpmCone* cone = &s->cone[c];
    if (!s->active[cone->row]) continue;
    Equations q;
    linearise(s, cone, friction_factor(s, cone), &q);
    combine_rows(s, cone, &q);
    memcpy(s->dx + cone->row, q.b, (size_t)cone->size * sizeof *q.b);
  }
  tb_lu_factor(s->prepared->lu, s->run->threads, s->run->W->val_adr, s->values, s->active, DBL_MIN);
  if (tb_run_stops(s->run)) return; // and the factor may be half done
  tb_lu_solve(s->prepared->lu, s->dx);
  for (int i = 0; i < s->n; i++)
    if (s->active[i]) s->x[i] += s->dx[i];
}
