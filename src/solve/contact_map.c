// SPDX-License-Identifier: Apache-2.0
// The equations of Newton methods, contact by contact: Alart and Curnier's, the natural map, rows by
// themselves (contact_map_own.c has the others). Every scaling factor ρ comes from the diagonal block: with ρ
// = 1/W_nn a lone contact's kinked line becomes straight and one step solves it (course §3.3.5, figure 23).
#include "solve/contact_map_own.h"
#include "math/dot.h"
#include "math/cone.h"
#include "math/scale.h"

#include <math.h>
#include <string.h>

// ρ_n = 1/D_nn and ρ_F = 1/‖D_FF‖, kept from growing without bound where a row of W is all but empty.
static double factor(const tbContactMap* m, double row) { return 1 / (fmax(row, 1e-6 * m->size) + m->shift); }

double tb_map_normal_factor(const tbContactMap* m) { return factor(m, m->D[0]); }

double tb_map_friction_factor(const tbContactMap* m)
{
  int n = m->rows;
  double size = 0;
  for (int i = 1; i < n; i++) {
    double sum = 0;
    for (int j = 1; j < n; j++) sum += fabs(m->D[i * n + j]);
    size = fmax(size, sum);
  }
  return factor(m, size);
}

double tb_map_common_factor(const tbContactMap* m)
{
  double n = tb_map_normal_factor(m), f = tb_map_friction_factor(m);
  return m->rows > 1 && f < n ? f : n;
}

void tb_map_clear(int rows, tbContactStep* s)
{
  memset(s->A, 0, (size_t)(rows * rows) * sizeof *s->A);
  memset(s->B, 0, (size_t)(rows * rows) * sizeof *s->B);
}

// ---- projections onto sF with derivatives ----

// x = P_{sF}(z) for s > 0, J = its derivative in z. That in s follows from P_{sF}(z) = s P_F(z/s).
static void project(const tbFrictionSet* f, double s, const double* z, double* x, double* J)
{
  int dim = f->dim;
  double lo[TB_MAX_ROWS], hi[TB_MAX_ROWS];
  switch ((tbSetKind)f->kind) {
  case TB_SET_NONE: break;
  case TB_SET_BALL: tb_project_ball(dim, s * f->par[0], z, x, J); break;
  case TB_SET_ELLIPSOID:
    for (int i = 0; i < dim; i++) hi[i] = s * f->par[i];
    tb_project_ellipsoid(dim, hi, z, x, J);
    break;
  case TB_SET_BOX:
    for (int i = 0; i < dim; i++) lo[i] = s * f->par[2 * i], hi[i] = s * f->par[2 * i + 1];
    tb_project_box(dim, lo, hi, z, x, J);
    break;
  case TB_SET_BALLS: {
    int size[3] = {2, dim == 4 ? 2 : 1, 2};
    memset(J, 0, (size_t)(dim * dim) * sizeof *J);
    for (int g = 0, at = 0; at < dim; at += size[g++]) {
      double part[4];
      tb_project_ball(size[g], s * f->par[g], z + at, x + at, part);
      for (int i = 0; i < size[g]; i++)
        for (int j = 0; j < size[g]; j++) J[(at + i) * dim + at + j] = part[i * size[g] + j];
    }
    break;
  }
  case TB_SET_POLYGON: {
    double corner[TB_MAX_DIRECTIONS][2];
    int n = tb_friction_corners(f, corner);
    tb_project_corners(n, (const double(*)[2])corner, s, z, x, J);
    break;
  }
  case TB_SET_TENSOR: {
    double own[3] = {0}, unused[3];
    const double* M = f->par + 1;
    own[1] = M[3] * z[0] - M[1] * z[1], own[2] = M[0] * z[1] - M[2] * z[0];
    tb_project_ball(2, s * f->par[0], own + 1, unused + 1, J);
    memcpy(own + 1, unused + 1, 2 * sizeof *own);
    tb_friction_turn(f, own);
    x[0] = own[1], x[1] = own[2];
    tb_friction_turn_matrix(f, J);
    break;
  }
  }
}

// ---- Alart–Curnier ----

static double alart_curnier(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows, dim = n - 1;
  double rho_n = tb_map_normal_factor(m), rho_f = tb_map_friction_factor(m);
  double zn = lambda[0] - rho_n * u[0], z[TB_MAX_ROWS], x[TB_MAX_ROWS] = {0}, phi[TB_MAX_ROWS];
  double J[TB_MAX_ROWS * TB_MAX_ROWS];
  for (int i = 0; i < dim; i++) z[i] = lambda[1 + i] - rho_f * u[1 + i];
  if (zn > 0 && step) project(m->f, zn, z, x, J);
  else if (zn > 0) tb_friction_closest(m->f, zn, z, x);
  phi[0] = zn > 0 ? rho_n * u[0] : lambda[0];
  for (int i = 0; i < dim; i++) phi[1 + i] = lambda[1 + i] - x[i];
  if (step) {
    tb_map_clear(n, step);
    memcpy(step->phi, phi, (size_t)n * sizeof *phi);
    for (int i = 0; i < n; i++) step->A[i * n + i] = 1;
    if (zn > 0) {
      step->A[0] = 0, step->B[0] = rho_n;
      for (int i = 0; i < dim; i++) {
        double along = (x[i] - tb_dot_in_order(dim, J + i * dim, z)) / zn; // dP/ds
        step->A[(1 + i) * n] = -along;
        step->B[(1 + i) * n] = rho_n * along;
        for (int j = 0; j < dim; j++) {
          step->A[(1 + i) * n + 1 + j] -= J[i * dim + j];
          step->B[(1 + i) * n + 1 + j] = rho_f * J[i * dim + j];
        }
      }
    }
  }
  return tb_dot_in_order(n, phi, phi);
}

// ---- the natural map ----

// lift = σ_F(−u_F) and, through d lift = −far·du_F, its derivative; none for associated friction.
double tb_map_saxce(const tbContactMap* m, const double* u, double* far)
{
  double against[TB_MAX_ROWS];
  for (int i = 0; i < m->rows - 1; i++) against[i] = -u[1 + i], far[i] = 0;
  return m->f->associated ? 0 : tb_friction_support(m->f, against, far);
}

static double natural(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  double rho = tb_map_common_factor(m), z[TB_MAX_ROWS], x[TB_MAX_ROWS], far[TB_MAX_ROWS], phi[TB_MAX_ROWS];
  double P[TB_MAX_ROWS * TB_MAX_ROWS], lift = tb_map_saxce(m, u, far);
  for (int i = 0; i < n; i++) z[i] = lambda[i] - rho * (u[i] + (i == 0 ? lift : 0));
  tb_friction_project(m->f, z, x, step ? P : NULL);
  for (int i = 0; i < n; i++) phi[i] = lambda[i] - x[i];
  if (step) {
    memcpy(step->phi, phi, (size_t)n * sizeof *phi);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        step->A[i * n + j] = (i == j) - P[i * n + j];
        step->B[i * n + j] = rho * (P[i * n + j] - (j > 0 ? P[i * n] * far[j - 1] : 0));
      }
  }
  return tb_dot_in_order(n, phi, phi);
}

// ---- rows by themselves ----

static double by_rows(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  int n = m->rows;
  const double* param = m->p->param + m->p->param_adr[m->k];
  tbLaw law = (tbLaw)m->p->law[m->k];
  double sum = 0;
  if (step) tb_map_clear(n, step);
  for (int i = 0; i < n; i++) {
    double rho = factor(m, m->D[i * n + i]), z = lambda[i] - rho * u[i];
    double lo = law == TB_LAW_BILATERAL ? -INFINITY : law == TB_LAW_NONNEG ? 0 : param[i];
    double hi = law == TB_LAW_BOX ? param[n + i] : INFINITY;
    bool held = !(z > lo && z < hi); // at a bound
    double phi = z <= lo ? lambda[i] - lo : z >= hi ? lambda[i] - hi : rho * u[i];
    double a = held, b = held ? 0 : rho;
    if (m->map == TB_MAP_FB && law == TB_LAW_NONNEG) {
      double y = rho * u[i], r = tb_norm(2, (double[2]){lambda[i], y});
      phi = lambda[i] + y - r;
      a = r > 0 ? 1 - lambda[i] / r : 1;
      b = r > 0 ? rho * (1 - y / r) : 0;
    }
    sum += phi * phi;
    if (step) step->phi[i] = phi, step->A[i * n + i] = a, step->B[i * n + i] = b;
  }
  return sum;
}

// With turned velocities, and B for them; du_F turned are M du_F.
static double tensor(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  double turned[3] = {u[0], u[1], u[2]};
  const double* M = m->f->par + 1;
  tb_friction_turn(m->f, turned);
  double sum =
      m->map == TB_MAP_NATURAL ? natural(m, lambda, turned, step) : alart_curnier(m, lambda, turned, step);
  for (int i = 0; step && i < 3; i++) {
    double *B = step->B + 3 * i, t = B[1], b = B[2];
    B[1] = t * M[0] + b * M[2], B[2] = t * M[1] + b * M[3];
  }
  return sum;
}

double tb_contact_map(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step)
{
  bool own = m->map >= TB_MAP_FB && tb_contact_map_owns(m->map, m->f), tensors = m->f->kind == TB_SET_TENSOR;
  if (m->f->kind == TB_SET_NONE) return by_rows(m, lambda, u, step);
  if (m->map == TB_MAP_FB && own && m->f->kind != TB_SET_POLYGON) return tb_map_fb(m, lambda, u, step);
  if (!tensors && (m->f->associated || m->map == TB_MAP_NATURAL)) return natural(m, lambda, u, step);
  // Equations that jump, as contacts open or change the corner, are measured by those of Alart and Curnier.
  if (own && step) tb_map_jumping(m, lambda, u, step);
  return tensors ? tensor(m, lambda, u, own ? NULL : step) : alart_curnier(m, lambda, u, own ? NULL : step);
}
