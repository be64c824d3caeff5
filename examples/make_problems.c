// Builds contact problems by hand and saves them: this is how the files in problems/ are made.
//
//   make_problems FOLDER
//
// Each is one step of 0.01 s under gravity, bodies touching without a gap. z is up; units are SI.
#include <tribo/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double dt = 0.01, g = 9.81;

typedef struct {
  int dof; // −1: the ground
  double x[3];
} Body;

static Body ground(void) { return (Body){-1, {0, 0, 0}}; }

// A box about x with edges a, turned by an angle about y.
static Body add_box(tbBuilder* b, double density, const double a[3], const double x[3], double angle)
{
  Body body = {0, {x[0], x[1], x[2]}};
  double m = density * a[0] * a[1] * a[2], c = cos(angle), s = sin(angle), v[6] = {0, 0, -g * dt, 0, 0, 0};
  double I[3] = {m * (a[1] * a[1] + a[2] * a[2]) / 12, m * (a[0] * a[0] + a[2] * a[2]) / 12,
                 m * (a[0] * a[0] + a[1] * a[1]) / 12};
  double inertia[9] = {c * c * I[0] + s * s * I[2], 0, c * s * (I[2] - I[0]),      0, I[1], 0,
                       c * s * (I[2] - I[0]),       0, s * s * I[0] + c * c * I[2]};
  tb_builder_rigid(b, m, inertia, v, &body.dof);
  return body;
}

// Rows of one body at point p: ±[e, (p − x) × e] for the directions e = n, t, b.
static void add_rows(tbBuilder* b, double sign, const Body* body, const double p[3], const double frame[9])
{
  double J[18], r[3];
  if (body->dof < 0) return;
  for (int i = 0; i < 3; i++) r[i] = p[i] - body->x[i];
  for (int i = 0; i < 3; i++) {
    const double* e = frame + 3 * i;
    double row[6] = {
        e[0], e[1], e[2], r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]};
    for (int j = 0; j < 6; j++) J[6 * i + j] = sign * row[j] + 0.0;
  }
  tb_builder_jacobian(b, body->dof, 6, J);
}

// Body `above` touches `below` at p, with the normal in the xz plane from below to above.
static void add_contact(tbBuilder* b, double mu, Body below, Body above, const double p[3], double nx,
                        double nz)
{
  double frame[9] = {nx, 0, nz, nz, 0, -nx, 0, 1, 0};
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
  add_rows(b, -1, &below, p, frame);
  add_rows(b, 1, &above, p, frame);
}

// The four corners of the rectangle [x0, x1] × [y0, y1] at height z.
static void add_face(tbBuilder* b, double mu, Body below, Body above, double x0, double x1, double y,
                     double z)
{
  for (int i = 0; i < 4; i++)
    add_contact(b, mu, below, above, (double[3]){i % 2 ? x1 : x0, i / 2 ? y : -y, z}, 0, 1);
}

// Ten boxes on top of each other, the last a hundred times as heavy.
static void make_stack(tbBuilder* b)
{
  Body box[10];
  for (int i = 0; i < 10; i++)
    box[i] = add_box(b, i == 9 ? 200 : 2, (double[3]){1, 1, 0.5}, (double[3]){0, 0, 0.25 + 0.5 * i}, 0);
  for (int i = 0; i < 10; i++) add_face(b, 0.5, i ? box[i - 1] : ground(), box[i], -0.5, 0.5, 0.5, 0.5 * i);
}

// Five boxes in a row, four on top of their gaps, and so on up to one.
static void make_pyramid(tbBuilder* b)
{
  enum { BASE = 5 };
  const double edge[3] = {1, 1, 0.5}, pitch = 1.1;
  Body box[BASE][BASE];
  for (int row = 0; row < BASE; row++)
    for (int i = 0; i < BASE - row; i++)
      box[row][i] = add_box(b, 2, edge, (double[3]){pitch * (i + 0.5 * row), 0, 0.25 + 0.5 * row}, 0);
  for (int row = 0; row < BASE; row++)
    for (int i = 0; i < BASE - row; i++) {
      double x = box[row][i].x[0], z = 0.5 * row;
      if (row == 0) add_face(b, 0.4, ground(), box[0][i], x - 0.5, x + 0.5, 0.5, 0);
      if (row == 0) continue;
      add_face(b, 0.4, box[row - 1][i], box[row][i], x - 0.5, x - pitch / 2 + 0.5, 0.5, z);
      add_face(b, 0.4, box[row - 1][i + 1], box[row][i], x + pitch / 2 - 0.5, x + 0.5, 0.5, z);
    }
}

// A block on a slope of 0.499 with friction 0.5, the way down at 45° to both tangents: it sticks, barely.
static void make_incline(tbBuilder* b)
{
  double slope = atan(0.499), down = g * dt * sin(slope) * sqrt(0.5), a = 1, h = 0.4, m = 1;
  double v[6] = {down, down, -g * dt * cos(slope), 0, 0, 0};
  double I[9] = {m * (a * a + h * h) / 12, 0, 0, 0, m * (a * a + h * h) / 12, 0, 0, 0, m * a * a / 6};
  Body block = {0, {0, 0, h / 2}};
  tb_builder_rigid(b, m, I, v, &block.dof);
  add_face(b, 0.5, ground(), block, -a / 2, a / 2, a / 2, 0);
}

// A half-circle of 15 stones between two abutments, its thickness a fifth of its radius.
static void make_arch(tbBuilder* b)
{
  enum { STONES = 15 };
  const double pi = 3.14159265358979323846, R = 5, t = 1, step = pi / STONES;
  Body stone[STONES];
  for (int i = 0; i < STONES; i++) {
    double angle = (i + 0.5) * step; // from the right abutment, over the top
    const double edge[3] = {t, 1, 2 * R * tan(step / 2)}, x[3] = {R * cos(angle), 0, R * sin(angle)};
    stone[i] = add_box(b, 2, edge, x, -angle);
  }
  for (int joint = 0; joint <= STONES; joint++) {
    double c = cos(joint * step), s = sin(joint * step);
    Body before = joint ? stone[joint - 1] : ground(), after = joint < STONES ? stone[joint] : ground();
    for (int i = 0; i < 4; i++) {
      double radius = i % 2 ? R + t / 2 : R - t / 2;
      add_contact(b, 0.6, before, after, (double[3]){radius * c, i / 2 ? 0.5 : -0.5, radius * s}, -s, c);
    }
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
  Body box = add_box(b, 160, (double[3]){space, space, 0.5}, (double[3]){4.5 * space, 0, 0.5}, 0);
  const double frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, mu = 0.6;
  for (int i = 0; i < N; i++) {
    bool top = i % 2;
    if (top && i / 4 < NX - 2) continue;
    double p[3] = {space * (i / 4), space * (i / 2 % 2 - 0.5), top ? space : 0}, J[9];
    for (int e = 0; e < 9; e++) J[e] = top ? -frame[e] + 0.0 : frame[e];
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
    tb_builder_jacobian(b, 3 * i, 3, J);
    if (top) add_rows(b, 1, &box, p, frame);
  }
}

int main(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*make)(tbBuilder* b);
  } kinds[] = {{"stack", make_stack},
               {"pyramid", make_pyramid},
               {"incline", make_incline},
               {"arch", make_arch},
               {"bar", make_bar}};
  for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; i++) {
    tbContext ctx = tb_default_context();
    tbBuilder* b;
    tbProblem* p = NULL;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.json", argv[1], kinds[i].name);
    if (tb_builder_create(&ctx, kinds[i].name, &b) != TB_OK) return 1;
    kinds[i].make(b);
    if (tb_builder_finish(b, &p) != TB_OK || tb_problem_save_json(&ctx, path, p, NULL) != TB_OK) {
      fprintf(stderr, "%s\n", ctx.error.message);
      return 1;
    }
    printf("%s: %d contacts, %d degrees of freedom\n", path, p->ncontact, p->ndof);
    tb_problem_free(p);
  }
  if (argc != 2) fprintf(stderr, "usage: make_problems FOLDER\n");
  return argc != 2;
}
