// SPDX-License-Identifier: Apache-2.0
// Problems with a known answer.
//
// Choose the bodies, the contacts and, for every contact, a state with a consistent pair (u*, λ*): open,
// stick, or slip along the corner of F that dissipates most. Then the bias is whatever makes it true:
//
//   b = u* − J v_free − W λ*
//
// so λ* solves the problem to round-off, whatever the masses, the friction and the rank of W.
#include "base/array.h"
#include "base/random.h"
#include "problem/owner.h"
#include "tribo/math.h"

#include <string.h>

tbManufacture tb_default_manufacture(void)
{
  return (tbManufacture){
      .seed = 1, .contacts = 20, .dimension = 3, .mass_ratio = 1, .mu_max = 1, .open = 0.3, .slip = 0.3};
}

typedef struct {
  const tbManufacture* spec;
  uint64_t random;
  tbBuilder* builder;
  int bodies, body_dof; // degrees of freedom of one body
  tbArray u, lambda;    // double: the answer, row by row

  int last_rows, last_body; // where the last contact sits, for repeating it
  double last_J[TB_MAX_ROWS * 6];
} Maker;

static double uniform(Maker* m, double lo, double hi) { return tb_random_uniform(&m->random, lo, hi); }
static bool chance(Maker* m, double share) { return uniform(m, 0, 1) < share; }

static tbStatus add_bodies(tbContext* ctx, Maker* m)
{
  int dim = m->spec->dimension, dof = m->body_dof;
  bool sparse = m->spec->metric == TB_MAKE_SPARSE, particles = m->spec->metric == TB_MAKE_PARTICLES;
  size_t n = (size_t)m->bodies * (size_t)dof;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  double *mass = TB_TAKE(&arena, double, (size_t)m->bodies), *v = TB_TAKE(&arena, double, n);
  int *ptr = TB_TAKE(&arena, int, n + 1), *col = TB_TAKE(&arena, int, 3 * n);
  double* val = TB_TAKE(&arena, double, 3 * n);
  tbStatus status = mass && v && ptr && col && val ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < m->bodies; i++) {
    double ratio = m->spec->mass_ratio;
    mass[i] = i == 0 ? 1 : i == 1 ? ratio : tb_exp(uniform(m, 0, 1) * tb_ln(ratio));
    for (int d = 0; d < dof; d++) v[i * dof + d] = uniform(m, -1, 1);
    if (sparse) continue;
    if (particles) {
      status = tb_builder_particle(m->builder, dof, mass[i], v + i * dof, NULL);
    } else if (dim == 2) {
      double A[9] = {mass[i], 0, 0, 0, mass[i], 0, 0, 0, mass[i] * uniform(m, 0.1, 1)};
      status = tb_builder_dense(m->builder, 3, A, v + i * dof, NULL);
    } else {
      double a = uniform(m, 0.2, 1), b = uniform(m, 0.2, 1), c = uniform(m, 0.2, 1), s = 0.1 * mass[i];
      double inertia[9] = {mass[i] * a, s, 0, s, mass[i] * b, -s, 0, -s, mass[i] * c};
      status = tb_builder_rigid(m->builder, mass[i], inertia, v + i * dof, NULL);
    }
  }
  if (status == TB_OK && sparse) { // a chain of particles held by springs
    int nnz = 0;
    for (int i = 0; i < (int)n; i++) {
      double k_before = i >= dof ? mass[i / dof - 1] : 0, k_after = i + dof < (int)n ? mass[i / dof] : 0;
      if (k_before > 0) col[nnz] = i - dof, val[nnz++] = -k_before;
      col[nnz] = i, val[nnz++] = mass[i / dof] + k_before + k_after;
      if (k_after > 0) col[nnz] = i + dof, val[nnz++] = -k_after;
      ptr[i + 1] = nnz;
    }
    status = tb_builder_sparse(m->builder, (int)n, ptr, col, val, v, NULL);
  }
  tb_arena_free(&arena);
  return status;
}

static void random_frame(Maker* m, double d[9])
{
  double n[3], length = 0;
  while (!(length > 0.1)) {
    for (int i = 0; i < 3; i++) n[i] = uniform(m, -1, 1);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  }
  for (int i = 0; i < 3; i++) n[i] /= length;
  int axis = fabs(n[0]) < 0.6 ? 0 : 1;
  double e[3] = {axis == 0, axis == 1, 0};
  double t[3] = {n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0]};
  length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
  for (int i = 0; i < 3; i++) d[i] = n[i], d[3 + i] = t[i] /= length;
  d[6] = n[1] * t[2] - n[2] * t[1], d[7] = n[2] * t[0] - n[0] * t[2], d[8] = n[0] * t[1] - n[1] * t[0];
}

// Rows of one body: translation along the frame, the lever arm, and for torsion and rolling the frame itself.
static void body_rows(Maker* m, double sign, int rows, const double d[9], double* J)
{
  int dim = m->spec->dimension, dof = m->body_dof;
  bool spins = dof > dim;
  double r[3] = {uniform(m, -1, 1), uniform(m, -1, 1), uniform(m, -1, 1)};
  static const int spin_axis[3] = {0, 1, 2}; // torsion about n, rolling about t and b
  memset(J, 0, (size_t)(rows * dof) * sizeof *J);
  for (int i = 0; i < rows; i++) {
    double* row = J + i * dof;
    if (dim == 2) {
      double x = i == 0 ? d[0] : -d[1], y = i == 0 ? d[1] : d[0];
      row[0] = sign * x, row[1] = sign * y;
      if (spins) row[2] = sign * (r[0] * y - r[1] * x);
    } else if (i < 3) {
      const double* e = d + 3 * i;
      for (int j = 0; j < 3; j++) row[j] = sign * e[j];
      if (spins) {
        row[3] = sign * (r[1] * e[2] - r[2] * e[1]);
        row[4] = sign * (r[2] * e[0] - r[0] * e[2]);
        row[5] = sign * (r[0] * e[1] - r[1] * e[0]);
      }
    } else {
      const double* e = d + 3 * spin_axis[rows == 5 ? i - 2 : i - 3];
      for (int j = 0; j < 3; j++) row[(spins ? 3 : 0) + j] = sign * e[j] * (spins ? 1 : 0.5 + i);
    }
  }
}

static double coefficient(Maker* m) { return chance(m, 0.1) ? 0 : uniform(m, 0, m->spec->mu_max); }

// κ(S + skew), S symmetric with eigenvalues from [0.2, 1] mu_max, in any direction.
static void random_tensor(Maker* m, double* L)
{
  double most = fmax(m->spec->mu_max, 1e-3), a = most * uniform(m, 0.2, 1), b = most * uniform(m, 0.2, 1), c,
         s;
  double skew = 0.5 * fmin(a, b) * uniform(m, -1, 1);
  tb_sin_cos(uniform(m, 0, TB_PI), &s, &c);
  L[0] = a * c * c + b * s * s, L[3] = a * s * s + b * c * c;
  L[1] = (a - b) * c * s - skew, L[2] = (a - b) * c * s + skew;
}

static int choose_law(Maker* m, int k, tbLaw* law, double* param)
{
  bool planar = m->spec->dimension == 2;
  static const tbLaw in_2d[] = {TB_LAW_COULOMB, TB_LAW_BILATERAL, TB_LAW_NONNEG, TB_LAW_BOX,
                                TB_LAW_DIRECTIONAL};
  bool tensors = m->spec->tensors && !planar, polygons = m->spec->polygons && !planar;
  tbLaw in_3d[TB_LAW_COUNT];
  int turns = 0;
  for (int l = 0; l < TB_LAW_COUNT; l++)
    if ((l != TB_LAW_TENSOR || tensors) && (l != TB_LAW_POLYGON || polygons)) in_3d[turns++] = (tbLaw)l;
  if (m->spec->all_laws) *law = planar ? in_2d[k % 5] : in_3d[k % turns];
  else *law = polygons && (!tensors || k % 2) ? TB_LAW_POLYGON : tensors ? TB_LAW_TENSOR : TB_LAW_COULOMB;
  int rows = planar ? 2 : 3;
  if (*law == TB_LAW_CONTENSOU) rows = 4;
  if (*law == TB_LAW_ROLLING) rows = 4 + k / turns % 3;
  for (int i = 0; i < tb_law_params(*law, rows); i++) param[i] = coefficient(m);
  if (*law == TB_LAW_BOX)
    for (int i = 0; i < rows; i++) {
      param[i] = chance(m, 0.2) ? -INFINITY : -uniform(m, 0, 1);
      param[rows + i] = chance(m, 0.2) ? INFINITY : uniform(m, 0, 1);
    }
  if (*law == TB_LAW_TENSOR) random_tensor(m, param);
  if (*law == TB_LAW_POLYGON) param[0] = 4 + 2 * tb_random_below(&m->random, TB_MAX_SIDES / 2 - 1);
  if (*law == TB_LAW_POLYHEDRAL) param[1] = 3 + tb_random_below(&m->random, 10);
  return rows;
}

// The point of F that is farthest along d: the friction that dissipates most against the velocity −d. Of a
// tensor, the friction against it.
static void farthest(tbLaw law, int dim, const double* param, const double* d, double* f)
{
  double axis[TB_MAX_ROWS], length = 0;
  switch (law) {
  case TB_LAW_ROLLING:
    for (int g = 0, i = 0; i < dim; g++) {
      int size = g == 1 && dim != 4 ? 1 : 2;
      length = size == 1 ? fabs(d[i]) : sqrt(d[i] * d[i] + d[i + 1] * d[i + 1]);
      for (int j = 0; j < size; j++, i++) f[i] = param[g] * d[i] / length;
    }
    return;
  case TB_LAW_POLYHEDRAL: {
    double best = -INFINITY;
    for (int i = 0; i < (int)param[1]; i++) {
      double x, y;
      tb_sin_cos(2 * TB_PI * i / param[1], &y, &x);
      x *= param[0], y *= param[0];
      if (x * d[0] + y * d[1] > best) best = x * d[0] + y * d[1], f[0] = x, f[1] = y;
    }
    return;
  }
  case TB_LAW_POLYGON: {
    double best = -INFINITY;
    for (int i = 0; i < (int)param[0]; i++) {
      double x, y;
      tb_sin_cos(2 * TB_PI * i / param[0], &y, &x);
      x *= param[1 + i], y *= param[1 + i];
      if (x * d[0] + y * d[1] > best) best = x * d[0] + y * d[1], f[0] = x, f[1] = y;
    }
    return;
  }
  case TB_LAW_TENSOR:
    length = sqrt(d[0] * d[0] + d[1] * d[1]);
    for (int i = 0; i < 2; i++) f[i] = (param[2 * i] * d[0] + param[2 * i + 1] * d[1]) / length;
    return;
  case TB_LAW_DIRECTIONAL:
    for (int i = 0; i < dim; i++) f[i] = d[i] > 0 ? param[2 * i + 1] : -param[2 * i];
    return;
  default:
    for (int i = 0; i < dim; i++) {
      axis[i] = law == TB_LAW_COULOMB ? param[0] : param[i];
      length += axis[i] * d[i] * axis[i] * d[i];
    }
    length = sqrt(length);
    for (int i = 0; i < dim; i++) f[i] = length > 0 ? axis[i] * axis[i] * d[i] / length : 0;
  }
}

static void choose_friction_state(Maker* m, tbLaw law, int rows, const double* param, double* u,
                                  double* lambda)
{
  int dim = rows - 1;
  double d[TB_MAX_ROWS], f[TB_MAX_ROWS], pick = uniform(m, 0, 1);
  for (int i = 0; i < dim; i++) d[i] = uniform(m, -1, 1);
  farthest(law, dim, param, d, f);
  memset(u, 0, (size_t)rows * sizeof *u);
  memset(lambda, 0, (size_t)rows * sizeof *lambda);
  if (pick < m->spec->open) { // open: apart, moving anyhow
    u[0] = uniform(m, 0.01, 1);
    for (int i = 0; i < dim; i++) u[1 + i] = d[i];
    return;
  }
  lambda[0] = uniform(m, 0.01, 1);
  bool slips = pick < m->spec->open + m->spec->slip;
  double inside = slips ? 1 : uniform(m, 0, 0.95);
  for (int i = 0; i < dim; i++) {
    lambda[1 + i] = inside * lambda[0] * f[i];
    if (slips) u[1 + i] = -d[i];
  }
}

static void choose_row_state(Maker* m, tbLaw law, double lo, double hi, double* u, double* lambda)
{
  *u = 0;
  if (law == TB_LAW_BILATERAL) {
    *lambda = uniform(m, -1, 1);
  } else if (law == TB_LAW_NONNEG) {
    bool open = chance(m, 0.5);
    *lambda = open ? 0 : uniform(m, 0.01, 1);
    *u = open ? uniform(m, 0.01, 1) : 0;
  } else { // box: at a bound it has, or between
    double pick = uniform(m, 0, 1);
    if (pick < 0.3 && isfinite(lo)) *lambda = lo, *u = uniform(m, 0.01, 1);
    else if (pick < 0.6 && isfinite(hi)) *lambda = hi, *u = -uniform(m, 0.01, 1);
    else *lambda = uniform(m, fmax(lo, -1), fmin(hi, 1));
  }
}

// The rows of contact k: on one body against the ground, or between two. A redundant problem has every second
// contact at the very place of the one before.
static tbStatus place_contact(Maker* m, int k, int rows)
{
  int dof = m->body_dof;
  int a = tb_random_below(&m->random, m->bodies),
      b = k < m->bodies ? k : tb_random_below(&m->random, m->bodies);
  double frame[9], other[TB_MAX_ROWS * 6];
  random_frame(m, frame);
  bool repeat = m->spec->redundant && k % 2 == 1 && rows == m->last_rows;
  if (!repeat) {
    body_rows(m, 1, rows, frame, m->last_J);
    m->last_body = b;
    m->last_rows = rows;
  }
  TB_TRY(tb_builder_jacobian(m->builder, m->last_body * dof, dof, m->last_J));
  if (m->spec->redundant || a == b) return TB_OK;
  body_rows(m, -1, rows, frame, other);
  return tb_builder_jacobian(m->builder, a * dof, dof, other);
}

static tbStatus add_contact(tbContext* ctx, Maker* m, int k)
{
  double param[1 + TB_MAX_SIDES] = {0}, u[TB_MAX_ROWS], lambda[TB_MAX_ROWS], compliance[TB_MAX_ROWS] = {0};
  tbLaw law;
  int rows = choose_law(m, k, &law, param);
  if (law > TB_LAW_BOX) choose_friction_state(m, law, rows, param, u, lambda);
  for (int i = 0; law <= TB_LAW_BOX && i < rows; i++) {
    bool box = law == TB_LAW_BOX;
    choose_row_state(m, law, box ? param[i] : 0, box ? param[rows + i] : 0, &u[i], &lambda[i]);
  }
  for (int i = 0; m->spec->compliant && i < rows; i++)
    compliance[i] = chance(m, 0.5) ? uniform(m, 0, 0.1) : 0;
  TB_TRY(tb_builder_contact(m->builder, law, rows, param, NULL, compliance));
  TB_TRY(place_contact(m, k, rows));
  TB_TRY(tb_array_push(ctx, &m->u, u, (size_t)rows));
  return tb_array_push(ctx, &m->lambda, lambda, (size_t)rows);
}

// b ← u* − q − W λ*, written into the finished problem.
static tbStatus settle_bias(tbContext* ctx, tbProblem* p, const double* u, const double* lambda)
{
  tbDelassus* W = NULL;
  TB_TRY(tb_delassus_create(ctx, p, TB_FORM_FREE, &W));
  double *Wl = TB_NEW(ctx, double, (size_t)p->nrow), *room = TB_NEW(ctx, double, tb_delassus_workspace(W));
  tbStatus status = Wl && room ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    tb_delassus_apply(W, NULL, lambda, Wl, room);
    double* bias = (double*)p->bias; // ours until it is handed out
    for (int i = 0; i < p->nrow; i++) bias[i] += u[i] - W->q[i] - Wl[i];
  }
  tb_free(ctx, Wl);
  tb_free(ctx, room);
  tb_delassus_free(ctx, W);
  return status;
}

// The same contacts with W given: taken from the problem, and made unsymmetric by a share of 1e-3 if asked.
static tbStatus make_explicit(tbContext* ctx, Maker* m, const tbProblem* from, tbProblem** out)
{
  *out = NULL;
  tbDelassus* W = NULL;
  tbBuilder* b = NULL;
  int n = from->nrow;
  tbArray col = TB_ARRAY(int), val = TB_ARRAY(double);
  int* ptr = TB_NEW(ctx, int, (size_t)n + 1);
  tbStatus status = ptr ? tb_delassus_create(ctx, from, TB_FORM_DENSE, &W) : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < n; i++) {
    for (int j = 0; status == TB_OK && j < n; j++) {
      double w = W->dense[(size_t)i * (size_t)n + (size_t)j];
      if (w == 0) continue;
      if (m->spec->metric == TB_MAKE_UNSYMMETRIC && i < j) w *= 1 + 1e-3 * uniform(m, -1, 1);
      status = tb_array_push(ctx, &col, &j, 1);
      if (status == TB_OK) status = tb_array_push(ctx, &val, &w, 1);
    }
    ptr[i + 1] = (int)col.count;
  }
  if (status == TB_OK) status = tb_builder_create(ctx, from->name, &b);
  if (status == TB_OK) {
    tb_builder_explicit(b, n, ptr, col.data ? col.data : ptr, val.data ? val.data : (double*)from->bias);
    for (int k = 0; k < from->ncontact; k++)
      tb_builder_contact(b, (tbLaw)from->law[k], from->row_adr[k + 1] - from->row_adr[k],
                         from->param + from->param_adr[k], NULL, NULL);
    status = tb_builder_finish(b, out);
  }
  tb_delassus_free(ctx, W);
  tb_array_free(ctx, &col);
  tb_array_free(ctx, &val);
  tb_free(ctx, ptr);
  return status;
}

static tbStatus check_spec(tbContext* ctx, const tbManufacture* s)
{
  if (s->contacts < 1 || s->contacts > 10000000)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "contacts must be 1 to 10000000, not %d", s->contacts);
  if (s->dimension != 2 && s->dimension != 3)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "dimension must be 2 or 3, not %d", s->dimension);
  if (!(s->mass_ratio >= 1 && s->mass_ratio <= 1e12))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "mass_ratio must be 1 to 1e12, not %g", s->mass_ratio);
  if (!(s->mu_max >= 0 && s->mu_max <= 1e6))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu_max must be 0 to 1e6, not %g", s->mu_max);
  if (!(s->open >= 0 && s->slip >= 0 && s->open + s->slip <= 1))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "open and slip are shares that add up to at most 1");
  if (s->bodies < 0) return tb_fail(ctx, TB_ERROR_ARGUMENT, "bodies must not be negative");
  return TB_OK;
}

static tbStatus make(tbContext* ctx, Maker* m, tbProblem** out)
{
  TB_TRY(add_bodies(ctx, m));
  for (int k = 0; k < m->spec->contacts; k++) TB_TRY(add_contact(ctx, m, k));
  tbProblem* p = NULL;
  tbStatus status = tb_builder_finish(m->builder, &p);
  m->builder = NULL;
  if (status == TB_OK && m->spec->metric >= TB_MAKE_EXPLICIT) {
    tbProblem* with_W = NULL;
    status = make_explicit(ctx, m, p, &with_W);
    tb_problem_free(p);
    p = with_W;
  }
  if (status == TB_OK) status = settle_bias(ctx, p, m->u.data, m->lambda.data);
  if (status != TB_OK) tb_problem_free(p);
  else *out = p;
  return status;
}

tbStatus tb_problem_manufacture(tbContext* ctx, const tbManufacture* spec, tbProblem** out, double** lambda)
{
  *out = NULL;
  *lambda = NULL;
  TB_TRY(check_spec(ctx, spec));
  Maker m = {.spec = spec, .random = spec->seed, .u = TB_ARRAY(double), .lambda = TB_ARRAY(double)};
  m.bodies = spec->bodies ? spec->bodies : (spec->contacts + 1) / 2;
  m.body_dof = spec->metric == TB_MAKE_PARTICLES || spec->metric == TB_MAKE_SPARSE ? spec->dimension
               : spec->dimension == 2                                              ? 3
                                                                                   : 6;
  tbStatus status = tb_builder_create(ctx, "manufactured", &m.builder);
  if (status == TB_OK) status = make(ctx, &m, out);
  tb_builder_abandon(m.builder);
  tb_array_free(ctx, &m.u);
  if (status == TB_OK) *lambda = m.lambda.data;
  else tb_array_free(ctx, &m.lambda);
  return status;
}

void tb_manufacture_free(tbContext* ctx, double* lambda) { tb_free(ctx, lambda); }
