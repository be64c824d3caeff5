// SPDX-License-Identifier: Apache-2.0
// Makes contact problems and saves them: this is how the files in problems/ are made.
//
//   make_problems FOLDER
//
// Three are structures that Tribo generates; two are built by hand. Each is one step of 0.01 s under gravity,
// bodies touching without a gap. z is up; units are SI.
#include <tribo/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double dt = 0.01, g = 9.81;
static const double upwards[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; // the frame [n t b] of a level face

// Rows of a body about x at point p: [e, (p − x) × e] for the directions e = n, t, b.
static void add_rows(tbBuilder* b, int dof, const double x[3], const double p[3])
{
  double J[18], r[3];
  for (int i = 0; i < 3; i++) r[i] = p[i] - x[i];
  for (int i = 0; i < 3; i++) {
    const double* e = upwards + 3 * i;
    double row[6] = {
        e[0], e[1], e[2], r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]};
    for (int j = 0; j < 6; j++) J[6 * i + j] = row[j] + 0.0; // no −0
  }
  tb_builder_jacobian(b, dof, 6, J);
}

// A block on a slope of 0.499 with friction 0.5, the way down at 45° to both tangents: it sticks, barely.
static void make_incline(tbBuilder* b)
{
  double slope = atan(0.499), down = g * dt * sin(slope) * sqrt(0.5), a = 1, h = 0.4, m = 1, mu = 0.5;
  double v[6] = {down, down, -g * dt * cos(slope), 0, 0, 0}, x[3] = {0, 0, h / 2};
  double I[9] = {m * (a * a + h * h) / 12, 0, 0, 0, m * (a * a + h * h) / 12, 0, 0, 0, m * a * a / 6};
  int dof;
  tb_builder_rigid(b, m, I, v, &dof);
  for (int i = 0; i < 4; i++) {
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    add_rows(b, dof, x, (double[3]){i % 2 ? a / 2 : -a / 2, i / 2 ? a / 2 : -a / 2, 0});
  }
}

// A bar of 6 × 2 × 2 particles joined by springs, A = M + dt² K, with a heavy box on its end.
static void make_bar(tbBuilder* b)
{
  enum { NX = 6, N = NX * 4, DOFS = 3 * N };
  static double A[DOFS][DOFS], v[DOFS], val[DOFS * DOFS];
  static int ptr[DOFS + 1], col[DOFS * DOFS];
  const double space = 0.25, mass = 0.05, stiffness = 1e4;
  memset(A, 0, sizeof A);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) { // neighbours along edges and diagonals
      double d[3] = {i / 4 - j / 4, i / 2 % 2 - j / 2 % 2, i % 2 - j % 2},
             dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      for (int e = 0; e < 9 && fabs(d[0]) <= 1; e++) {
        double k = dt * dt * stiffness * d[e / 3] * d[e % 3] / (dd * sqrt(dd));
        A[3 * i + e / 3][3 * i + e % 3] += k, A[3 * j + e / 3][3 * j + e % 3] += k;
        A[3 * i + e / 3][3 * j + e % 3] -= k, A[3 * j + e / 3][3 * i + e % 3] -= k;
      }
    }
    for (int e = 0; e < 3; e++) A[3 * i + e][3 * i + e] += mass;
    v[3 * i] = 0.2, v[3 * i + 2] = -g * dt; // it slides
  }
  for (int i = 0, used = 0; i < DOFS; i++) {
    for (int j = 0; j < DOFS; j++)
      if (A[i][j] != 0) col[used] = j, val[used++] = A[i][j];
    ptr[i + 1] = used;
  }
  tb_builder_sparse(b, DOFS, ptr, col, val, v, NULL);
  const double edge[3] = {space, space, 0.5}, x[3] = {4.5 * space, 0, 0.5},
               fall[6] = {0, 0, -g * dt, 0, 0, 0};
  const double m = 160 * edge[0] * edge[1] * edge[2], mu = 0.6,
               I[3] = {m * (edge[1] * edge[1] + edge[2] * edge[2]) / 12,
                       m * (edge[0] * edge[0] + edge[2] * edge[2]) / 12,
                       m * (edge[0] * edge[0] + edge[1] * edge[1]) / 12};
  int box;
  tb_builder_rigid(b, m, (double[9]){I[0], 0, -0.0, 0, I[1], 0, -0.0, 0, I[2]}, fall, &box);
  for (int i = 0; i < N; i++) {
    bool top = i % 2;
    if (top && i / 4 < NX - 2) continue;
    double p[3] = {space * (i / 4), space * (i / 2 % 2 - 0.5), top ? space : 0}, J[9];
    for (int e = 0; e < 9; e++) J[e] = top ? -upwards[e] + 0.0 : upwards[e];
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 3 * i, 3, J);
    if (top) add_rows(b, box, x, p);
  }
}

static tbStatus by_hand(tbContext* ctx, const char* name, void (*make)(tbBuilder* b), tbProblem** out)
{
  tbBuilder* b;
  tbStatus status = tb_builder_create(ctx, name, &b);
  if (status != TB_OK) return status;
  make(b);
  return tb_builder_finish(b, out);
}

static tbStatus generated(tbContext* ctx, tbGenerateKind kind, double mass_ratio, tbProblem** out)
{
  tbGenerate structure = tb_default_generate(kind);
  structure.mass_ratio = mass_ratio;
  return tb_problem_generate(ctx, &structure, out);
}

static bool save(tbContext* ctx, const char* folder, tbStatus made, tbProblem* p)
{
  char path[1000];
  if (made == TB_OK) snprintf(path, sizeof path, "%s/%s.json", folder, p->name);
  bool saved = made == TB_OK && tb_problem_save_json(ctx, path, p, NULL) == TB_OK;
  if (saved) printf("%s: %d contacts, %d degrees of freedom\n", path, p->ncontact, p->ndof);
  else fprintf(stderr, "%s\n", ctx->error.message);
  tb_problem_free(p);
  return saved;
}

int main(int argc, char** argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: make_problems FOLDER\n");
    return 1;
  }
  tbContext ctx = tb_default_context();
  tbProblem* p[5] = {NULL};
  tbStatus made[5] = {
      generated(&ctx, TB_GENERATE_STACK, 100, &p[0]), // the last a hundred times as heavy
      generated(&ctx, TB_GENERATE_PYRAMID, 1, &p[1]), generated(&ctx, TB_GENERATE_ARCH, 1, &p[2]),
      by_hand(&ctx, "incline", make_incline, &p[3]),  by_hand(&ctx, "bar", make_bar, &p[4]),
  };
  bool good = true;
  for (int i = 0; i < 5; i++) good &= save(&ctx, argv[1], made[i], p[i]);
  return !good;
}
