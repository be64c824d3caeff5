// SPDX-License-Identifier: Apache-2.0
#include "solve/friction.h"
#include "math/cone.h"
#include "tribo/math.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

void tb_friction_make(const tbProblem* p, int k, tbModel model, int directions, tbFrictionSet* f)
{
  const double* param = p->param + p->param_adr[k];
  tbLaw law = (tbLaw)p->law[k];
  int dim = p->row_adr[k + 1] - p->row_adr[k] - 1, count = p->param_adr[k + 1] - p->param_adr[k];
  *f = (tbFrictionSet){.dim = (uint8_t)dim, .associated = model == TB_MODEL_CCP};
  if (law <= TB_LAW_BOX) return;
  if (model == TB_MODEL_FRICTIONLESS) {
    f->kind = TB_SET_BOX;
    return;
  }
  for (int i = 0; i < count; i++) f->par[i] = param[i];
  switch (law) {
  case TB_LAW_COULOMB: f->kind = TB_SET_BALL; break;
  case TB_LAW_ELLIPTIC:
  case TB_LAW_CONTENSOU: f->kind = TB_SET_ELLIPSOID; break;
  case TB_LAW_ROLLING: f->kind = TB_SET_BALLS; break;
  case TB_LAW_TENSOR:
    f->kind = TB_SET_TENSOR;
    f->associated = false;
    f->par[0] = sqrt(param[0] * param[3] - param[1] * param[2]);
    for (int i = 0; i < 4; i++) f->par[1 + i] = param[i] / f->par[0];
    return; // whatever the model
  case TB_LAW_POLYHEDRAL:
    f->kind = TB_SET_POLYGON;
    f->corners = (uint8_t)param[1];
    break;
  default: // directional
    f->kind = TB_SET_BOX;
    for (int i = 0; i < dim; i++) f->par[2 * i] = -param[2 * i];
  }
  if (model == TB_MODEL_POLYHEDRAL && f->kind == TB_SET_BALL && dim == 2) {
    f->kind = TB_SET_POLYGON;
    f->corners = (uint8_t)directions;
  }
  if (model == TB_MODEL_BOX && f->kind != TB_SET_BOX && f->kind != TB_SET_POLYGON) {
    double axis[TB_MAX_ROWS];
    for (int i = 0; i < dim; i++) {
      int group = i < 2 ? 0 : dim == 4 || i == 2 ? 1 : 2;
      axis[i] = f->kind == TB_SET_BALL ? param[0] : f->kind == TB_SET_BALLS ? param[group] : param[i];
    }
    for (int i = 0; i < dim; i++) f->par[2 * i] = -axis[i], f->par[2 * i + 1] = axis[i];
    f->kind = TB_SET_BOX;
  }
}

void tb_friction_turn(const tbFrictionSet* f, double* u)
{
  if (f->kind != TB_SET_TENSOR) return;
  double t = u[1], b = u[2];
  u[1] = f->par[1] * t + f->par[2] * b, u[2] = f->par[3] * t + f->par[4] * b;
}

void tb_friction_turn_rows(const tbFrictionSet* f, int columns, double* D)
{
  for (int j = 0; f->kind == TB_SET_TENSOR && j < columns; j++) {
    double u[3] = {0, D[columns + j], D[2 * columns + j]};
    tb_friction_turn(f, u);
    D[columns + j] = u[1], D[2 * columns + j] = u[2];
  }
}

// M⁻¹ x, det M = 1
static void turn_back(const tbFrictionSet* f, const double* x, double* out)
{
  double t = x[0], b = x[1];
  out[0] = f->par[4] * t - f->par[2] * b, out[1] = f->par[1] * b - f->par[3] * t;
}

// M J M⁻¹ of the last two rows and columns of an n×n matrix, and M, M⁻¹ on what couples them with the others.
static void turn_matrix(const tbFrictionSet* f, int n, double* J)
{
  const double *M = f->par + 1, back[4] = {M[3], -M[1], -M[2], M[0]};
  int a = n - 2, b = n - 1;
  for (int j = 0; j < n; j++) { // rows
    double t = J[a * n + j], s = J[b * n + j];
    J[a * n + j] = M[0] * t + M[1] * s, J[b * n + j] = M[2] * t + M[3] * s;
  }
  for (int i = 0; i < n; i++) { // columns
    double t = J[i * n + a], s = J[i * n + b];
    J[i * n + a] = t * back[0] + s * back[2], J[i * n + b] = t * back[1] + s * back[3];
  }
}

void tb_friction_clamp_rows(const tbProblem* p, int k, const double* z, double* lambda)
{
  int rows = p->row_adr[k + 1] - p->row_adr[k];
  const double* param = p->param + p->param_adr[k];
  switch ((tbLaw)p->law[k]) {
  case TB_LAW_NONNEG: tb_project_nonneg(rows, z, lambda, NULL); break;
  case TB_LAW_BOX: tb_project_box(rows, param, param + rows, z, lambda, NULL); break;
  default: memcpy(lambda, z, (size_t)rows * sizeof *z);
  }
}

// The balls of a rolling law: 2 | 1 (torsion alone), 2 | 2 (rolling), 2 | 1 | 2.
static int ball_sizes(int dim, int size[3])
{
  size[0] = 2;
  size[1] = dim == 4 ? 2 : 1;
  size[2] = 2;
  return dim == 5 ? 3 : 2;
}

static double norm(int n, const double* x)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

double tb_friction_support(const tbFrictionSet* f, const double* d, double* farthest)
{
  double sum = 0, x[TB_MAX_ROWS] = {0};
  int dim = f->dim, size[3];
  switch ((tbSetKind)f->kind) {
  case TB_SET_NONE: break;
  case TB_SET_BALL:
    sum = norm(dim, d);
    for (int i = 0; i < dim; i++) x[i] = sum > 0 ? f->par[0] * d[i] / sum : 0;
    sum *= f->par[0];
    break;
  case TB_SET_ELLIPSOID:
    for (int i = 0; i < dim; i++) x[i] = f->par[i] * d[i];
    sum = norm(dim, x);
    for (int i = 0; i < dim; i++) x[i] = sum > 0 ? f->par[i] * x[i] / sum : 0;
    break;
  case TB_SET_BOX:
    for (int i = 0; i < dim; i++) {
      x[i] = f->par[2 * i + (d[i] > 0)];
      sum += x[i] * d[i];
    }
    break;
  case TB_SET_BALLS:
    for (int g = 0, at = 0, groups = ball_sizes(dim, size); g < groups; at += size[g++]) {
      double length = norm(size[g], d + at);
      for (int i = 0; i < size[g]; i++) x[at + i] = length > 0 ? f->par[g] * d[at + i] / length : 0;
      sum += f->par[g] * length;
    }
    break;
  case TB_SET_TENSOR: { // s ‖M⁻¹d‖ and its gradient s M⁻ᵀ M⁻¹d/‖M⁻¹d‖
    double e[2];
    turn_back(f, d, e);
    sum = norm(2, e);
    double t = sum > 0 ? f->par[0] * e[0] / sum : 0, b = sum > 0 ? f->par[0] * e[1] / sum : 0;
    x[0] = f->par[4] * t - f->par[3] * b, x[1] = f->par[1] * b - f->par[2] * t;
    sum *= f->par[0];
    break;
  }
  case TB_SET_POLYGON: {
    double angle = tb_atan2(d[1], d[0]), corner = 2 * PI / f->corners * rint(angle * f->corners / (2 * PI));
    tb_sin_cos(corner, &x[1], &x[0]);
    x[0] *= f->par[0], x[1] *= f->par[0];
    sum = x[0] * d[0] + x[1] * d[1];
    break;
  }
  }
  if (farthest) memcpy(farthest, x, (size_t)dim * sizeof *x);
  return sum;
}

void tb_friction_turn_matrix(const tbFrictionSet* f, double* J) { turn_matrix(f, 2, J); }

// A regular polygon: only the edge in z's own sector can be closest.
static void closest_on_polygon(int corners, double radius, const double* z, double* x)
{
  double step = 2 * PI / corners, sector = floor(tb_atan2(z[1], z[0]) / step), ax, ay, ex, ey;
  tb_sin_cos(sector * step, &ay, &ax);
  tb_sin_cos((sector + 1) * step, &ey, &ex);
  ax *= radius, ay *= radius, ex = radius * ex - ax, ey = radius * ey - ay;
  double px = z[0] - ax, py = z[1] - ay;
  if (ex * py - ey * px >= 0) {
    x[0] = z[0], x[1] = z[1];
    return;
  }
  double t = fmin(1, fmax(0, (px * ex + py * ey) / (ex * ex + ey * ey)));
  x[0] = ax + t * ex, x[1] = ay + t * ey;
}

void tb_friction_closest(const tbFrictionSet* f, double scale, const double* z, double* x)
{
  int dim = f->dim, size[3];
  double lo[TB_MAX_ROWS], hi[TB_MAX_ROWS];
  switch ((tbSetKind)f->kind) {
  case TB_SET_NONE: break;
  case TB_SET_BALL: tb_project_ball(dim, scale * f->par[0], z, x, NULL); break;
  case TB_SET_ELLIPSOID:
    for (int i = 0; i < dim; i++) hi[i] = scale * f->par[i];
    tb_project_ellipsoid(dim, hi, z, x, NULL);
    break;
  case TB_SET_BOX:
    for (int i = 0; i < dim; i++) lo[i] = scale * f->par[2 * i], hi[i] = scale * f->par[2 * i + 1];
    tb_project_box(dim, lo, hi, z, x, NULL);
    break;
  case TB_SET_BALLS:
    for (int g = 0, at = 0, groups = ball_sizes(dim, size); g < groups; at += size[g++])
      tb_project_ball(size[g], scale * f->par[g], z + at, x + at, NULL);
    break;
  case TB_SET_TENSOR: {
    double own[3] = {0};
    turn_back(f, z, own + 1);
    tb_project_ball(2, scale * f->par[0], own + 1, own + 1, NULL);
    tb_friction_turn(f, own);
    x[0] = own[1], x[1] = own[2];
    break;
  }
  case TB_SET_POLYGON:
    if (scale * f->par[0] > 0) closest_on_polygon(f->corners, scale * f->par[0], z, x);
    else x[0] = x[1] = 0;
    break;
  }
}

void tb_friction_project(const tbFrictionSet* f, const double* z, double* x, double* jacobian)
{
  int rows = f->dim + 1, size[3], groups;
  double lo[TB_MAX_ROWS], hi[TB_MAX_ROWS];
  switch ((tbSetKind)f->kind) {
  case TB_SET_NONE: break;
  case TB_SET_BALL: tb_project_soc(rows, f->par[0], z, x, jacobian); break;
  case TB_SET_ELLIPSOID: tb_project_ellipsoid_cone(rows, f->par, z, x, jacobian); break;
  case TB_SET_BOX:
    for (int i = 0; i < f->dim; i++) lo[i] = f->par[2 * i], hi[i] = f->par[2 * i + 1];
    tb_project_box_cone(rows, lo, hi, z, x, jacobian);
    break;
  case TB_SET_BALLS:
    groups = ball_sizes(f->dim, size);
    tb_project_ball_cone(groups, size, f->par, z, x, jacobian);
    break;
  case TB_SET_POLYGON: tb_project_polygon_cone(f->corners, f->par[0], z, x, jacobian); break;
  case TB_SET_TENSOR: {
    double own[3] = {z[0]};
    turn_back(f, z + 1, own + 1);
    tb_project_soc(3, f->par[0], own, x, jacobian);
    tb_friction_turn(f, x);
    if (jacobian) turn_matrix(f, 3, jacobian);
    break;
  }
  }
}
