// SPDX-License-Identifier: Apache-2.0
#include "solve/friction.h"
#include "math/cone.h"
#include "tribo/math.h"

#include <string.h>

// A polygon without width is the box around it.
static void make_flat(int corners, tbFrictionSet* f)
{
  double a = f->par[0], b = f->par[1], most[4] = {0}; // of the corners towards −t, t, −b, b
  for (int i = 0; i < corners; i++) {
    double x, y;
    tb_sin_cos(2 * TB_PI * i / corners, &y, &x);
    most[0] = fmin(most[0], a * x), most[1] = fmax(most[1], a * x);
    most[2] = fmin(most[2], b * y), most[3] = fmax(most[3], b * y);
  }
  f->kind = TB_SET_BOX;
  memcpy(f->par, most, sizeof most);
}

// The hull has an inside: directions without friction get 1e-12 of the largest.
static void make_hull(const double* param, tbFrictionSet* f)
{
  double most = 0, corner[TB_MAX_DIRECTIONS][2];
  int n = (int)param[0];
  memcpy(f->par, param + 1, (size_t)n * sizeof *f->par);
  for (int i = 0; i < n; i++) most = fmax(most, f->par[i]);
  f->kind = most > 0 ? TB_SET_POLYGON : TB_SET_BOX;
  if (!(most > 0)) return;
  for (int i = 0; i < n; i++) f->par[i] = fmax(f->par[i], 1e-12 * most);
  f->hull = (uint8_t)n;
  f->corners = (uint8_t)tb_friction_corners(f, corner);
}

// Whether a point does not lie outside of the line from the corner before it to the one after it.
static bool is_hidden(const double* before, const double* at, const double* after)
{
  double ex = after[0] - before[0], ey = after[1] - before[1], px = at[0] - before[0], py = at[1] - before[1];
  return ex * py - ey * px >= 0;
}

int tb_friction_corners(const tbFrictionSet* f, double (*corner)[2])
{
  int n = f->hull ? f->hull : f->corners;
  for (int i = 0; i < n; i++) {
    tb_sin_cos(2 * TB_PI * i / n, &corner[i][1], &corner[i][0]);
    corner[i][0] *= f->par[f->hull ? i : 0], corner[i][1] *= f->par[f->hull ? i : 1];
  }
  // They stand in order of angle around 0: leaving out what is hidden until nothing is gives the hull.
  for (bool again = f->hull; again && n > 3;) {
    again = false;
    for (int i = 0; i < n && n > 3; i++) {
      if (!is_hidden(corner[(i + n - 1) % n], corner[i], corner[(i + 1) % n])) continue;
      memmove(corner + i, corner + i + 1, (size_t)(n - i - 1) * sizeof *corner);
      n--, i--, again = true;
    }
  }
  return n;
}

void tb_friction_make(const tbProblem* p, int k, tbModel model, int directions, tbFrictionSet* f)
{
  int rows = p->row_adr[k + 1] - p->row_adr[k], count = p->param_adr[k + 1] - p->param_adr[k];
  tb_friction_make_from((tbLaw)p->law[k], rows, p->param + p->param_adr[k], count, model, directions, f);
}

void tb_friction_make_from(tbLaw law, int rows, const double* param, int count, tbModel model, int directions,
                           tbFrictionSet* f)
{
  int dim = rows - 1;
  if (law == TB_LAW_COULOMB && model == TB_MODEL_CONE) { // most of all; nothing else of it is read
    f->kind = TB_SET_BALL, f->dim = (uint8_t)dim, f->corners = f->hull = 0, f->associated = false;
    f->par[0] = param[0];
    return;
  }
  *f = (tbFrictionSet){.dim = (uint8_t)dim, .associated = model == TB_MODEL_CCP};
  if (law <= TB_LAW_BOX) return;
  if (model == TB_MODEL_FRICTIONLESS) {
    f->kind = TB_SET_BOX;
    return;
  }
  for (int i = 0; i < count && law != TB_LAW_POLYGON; i++) f->par[i] = param[i];
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
    f->par[1] = param[0];
    break;
  case TB_LAW_POLYGON: make_hull(param, f); break;
  default: // directional
    f->kind = TB_SET_BOX;
    for (int i = 0; i < dim; i++) f->par[2 * i] = -param[2 * i];
  }
  bool round = f->kind == TB_SET_BALL || f->kind == TB_SET_ELLIPSOID;
  if (model == TB_MODEL_POLYHEDRAL && round && dim == 2) {
    double a = param[0], b = f->kind == TB_SET_BALL ? a : param[1];
    f->kind = TB_SET_POLYGON;
    f->corners = (uint8_t)directions;
    f->par[0] = a, f->par[1] = b;
    if (a != b && fmin(a, b) <= 1e-12 * fmax(a, b)) make_flat(directions, f);
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

static bool is_regular(const tbFrictionSet* f) { return !f->hull && f->par[0] == f->par[1]; }

static double support_of_corners(const tbFrictionSet* f, const double* d, double* farthest)
{
  double corner[TB_MAX_DIRECTIONS][2], most = -INFINITY;
  int n = tb_friction_corners(f, corner);
  for (int i = 0; i < n; i++) {
    double along = corner[i][0] * d[0] + corner[i][1] * d[1];
    if (along > most) most = along, farthest[0] = corner[i][0], farthest[1] = corner[i][1];
  }
  return most;
}

static void closest_on_corners(const tbFrictionSet* f, double scale, const double* z, double* x)
{
  double corner[TB_MAX_DIRECTIONS][2];
  int n = tb_friction_corners(f, corner);
  tb_project_corners(n, (const double(*)[2])corner, scale, z, x, NULL);
}

static void project_on_corners(const tbFrictionSet* f, const double* z, double* x, double* jacobian)
{
  double corner[TB_MAX_DIRECTIONS][2];
  int n = tb_friction_corners(f, corner);
  tb_project_corner_cone(n, (const double(*)[2])corner, z, x, jacobian);
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
    if (!is_regular(f)) {
      sum = support_of_corners(f, d, x);
      break;
    }
    double angle = tb_atan2(d[1], d[0]),
           corner = 2 * TB_PI / f->corners * rint(angle * f->corners / (2 * TB_PI));
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
  double step = 2 * TB_PI / corners, sector = floor(tb_atan2(z[1], z[0]) / step), ax, ay, ex, ey;
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
    if (!is_regular(f)) closest_on_corners(f, scale, z, x);
    else if (scale * f->par[0] > 0) closest_on_polygon(f->corners, scale * f->par[0], z, x);
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
  case TB_SET_POLYGON:
    if (is_regular(f)) tb_project_polygon_cone(f->corners, f->par[0], z, x, jacobian);
    else project_on_corners(f, z, x, jacobian);
    break;
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
