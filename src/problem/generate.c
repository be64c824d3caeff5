// SPDX-License-Identifier: Apache-2.0
// Structures of boxes as contact problems: one step of 0.01 s under gravity, every face touching without a
// gap.
//
//   stack     boxes on top of each other
//   wall      bricks in running bond, as many courses as bricks in a course
//   pyramid   a row of boxes, one fewer on top of their gaps, and so on up to one
//   arch      a half-circle of stones between two abutments, its thickness a fifth of its radius
//   cards     leaning pairs of cards with a flat card from tip to tip, storey on storey
//   pile      boxes of random plan dropped at random places, each onto what lies highest below it
//
// z is up, the structures stand along x, units are SI. A face touches at its four corners, an edge at its two
// ends, so most of these problems have more contacts than the bodies have freedoms: W is singular, and the
// impulses are not unique though the velocities are.
//
// Cost      linear in the contacts; the pile looks at all pairs of boxes.
// Limits    boxes stand straight (cards lean in the xz plane), and a step begins at rest.
#include "base/memory.h"
#include "base/random.h"
#include "tribo/math.h"
#include "tribo/problem.h"

#include <string.h>

static const double dt = 0.01, g = 9.81, density = 2;

typedef struct {
  int dof; // −1: the ground
  double x[3];
} Body;

static const Body ground = {-1, {0, 0, 0}};

typedef struct {
  const tbGenerate* spec;
  tbBuilder* builder; // remembers its first failure, so that calls need not be checked one by one
  Body* body;         // in the order they were added
  int bodies;
} Maker;

// A box about x with edges a, turned by an angle about y.
static Body* add_box(Maker* m, double weight, const double a[3], const double x[3], double angle)
{
  Body* body = &m->body[m->bodies++];
  *body = (Body){0, {x[0], x[1], x[2]}};
  double mass = weight * a[0] * a[1] * a[2], c, s, v[6] = {0, 0, -g * dt, 0, 0, 0};
  tb_sin_cos(angle, &s, &c);
  double I[3] = {mass * (a[1] * a[1] + a[2] * a[2]) / 12, mass * (a[0] * a[0] + a[2] * a[2]) / 12,
                 mass * (a[0] * a[0] + a[1] * a[1]) / 12};
  double inertia[9] = {c * c * I[0] + s * s * I[2], 0, c * s * (I[2] - I[0]),      0, I[1], 0,
                       c * s * (I[2] - I[0]),       0, s * s * I[0] + c * c * I[2]};
  tb_builder_rigid(m->builder, mass, inertia, v, &body->dof);
  return body;
}

// Rows of one body at point p: ±[e, (p − x) × e] for the directions e = n, t, b.
static void add_rows(Maker* m, double sign, const Body* body, const double p[3], const double frame[9])
{
  double J[18], r[3];
  if (body->dof < 0) return;
  for (int i = 0; i < 3; i++) r[i] = p[i] - body->x[i];
  for (int i = 0; i < 3; i++) {
    const double* e = frame + 3 * i;
    double row[6] = {
        e[0], e[1], e[2], r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]};
    for (int j = 0; j < 6; j++) J[6 * i + j] = sign * row[j] + 0.0; // no −0
  }
  tb_builder_jacobian(m->builder, body->dof, 6, J);
}

// Body `above` touches `below` at p, with the normal in the xz plane from below to above.
static void add_contact(Maker* m, const Body* below, const Body* above, const double p[3], double nx,
                        double nz)
{
  double frame[9] = {nx, 0, nz, nz, 0, -nx, 0, 1, 0};
  tb_builder_contact(m->builder, TB_LAW_COULOMB, 3, &m->spec->friction, NULL, NULL);
  add_rows(m, -1, below, p, frame);
  add_rows(m, 1, above, p, frame);
}

// The four corners of the rectangle [x0, x1] × [y0, y1] at height z.
static void add_face(Maker* m, const Body* below, const Body* above, const double x[2], const double y[2],
                     double z)
{
  for (int i = 0; i < 4; i++) add_contact(m, below, above, (double[3]){x[i % 2], y[i / 2], z}, 0, 1);
}

// The two ends, at y = ±half, of an edge along y through (x, z).
static void add_edge(Maker* m, const Body* below, const Body* above, double x, double z, double packed,
                     double nx, double nz)
{
  for (int i = 0; i < 2; i++) add_contact(m, below, above, (double[3]){x, i ? packed : -packed, z}, nx, nz);
}

static const double unit[2] = {-0.5, 0.5};

static void make_stack(Maker* m)
{
  int n = m->spec->size;
  for (int i = 0; i < n; i++)
    add_box(m, i == n - 1 ? density * m->spec->mass_ratio : density, (double[3]){1, 1, 0.5},
            (double[3]){0, 0, 0.25 + 0.5 * i}, 0);
  for (int i = 0; i < n; i++) add_face(m, i ? &m->body[i - 1] : &ground, &m->body[i], unit, unit, 0.5 * i);
}

// Bricks of a course: whole ones in even courses; in odd courses halves at both ends.
static int bricks(int size, int course) { return course % 2 ? size + 1 : size; }

static void brick_ends(int size, int course, int i, double x[2])
{
  double shift = course % 2 ? 0.5 : 0;
  x[0] = fmax(i - shift, 0);
  x[1] = fmin(i + 1 - shift, size);
}

static void make_wall(Maker* m)
{
  int n = m->spec->size, below = 0;
  const double height = 0.4, deep[2] = {-0.25, 0.25};
  double x[2], under[2];
  for (int course = 0; course < n; course++)
    for (int i = 0; i < bricks(n, course); i++) {
      brick_ends(n, course, i, x);
      add_box(m, course == n - 1 ? density * m->spec->mass_ratio : density,
              (double[3]){x[1] - x[0], deep[1] - deep[0], height},
              (double[3]){(x[0] + x[1]) / 2, 0, height * (course + 0.5)}, 0);
    }
  for (int i = 0; i < n; i++) {
    brick_ends(n, 0, i, x);
    add_face(m, &ground, &m->body[i], x, deep, 0);
  }
  for (int course = 1; course < n; course++) {
    int above = below + bricks(n, course - 1);
    for (int i = 0; i < bricks(n, course); i++)
      for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < bricks(n, course - 1); j++) {
        brick_ends(n, course, i, x);
        brick_ends(n, course - 1, j, under);
        double shared[2] = {fmax(x[0], under[0]), fmin(x[1], under[1])};
        if (shared[0] < shared[1])
          add_face(m, &m->body[below + j], &m->body[above + i], shared, deep, height * course);
      }
    below = above;
  }
}

static void make_pyramid(Maker* m)
{
  const double edge[3] = {1, 1, 0.5}, pitch = 1.1;
  int n = m->spec->size, below = 0, first = 0;
  for (int row = 0; row < n; row++)
    for (int i = 0; i < n - row; i++)
      add_box(m, row == n - 1 ? density * m->spec->mass_ratio : density, edge,
              (double[3]){pitch * (i + 0.5 * row), 0, 0.25 + 0.5 * row}, 0);
  for (int row = 0; row < n; row++) {
    for (int i = 0; i < n - row; i++) {
      const Body *box = &m->body[first + i], *left = &m->body[below + i];
      double x = box->x[0], z = 0.5 * row;
      if (row == 0) {
        add_face(m, &ground, box, (double[2]){x - 0.5, x + 0.5}, unit, 0);
        continue;
      }
      add_face(m, left, box, (double[2]){x - 0.5, x - pitch / 2 + 0.5}, unit, z);
      add_face(m, left + 1, box, (double[2]){x + pitch / 2 - 0.5, x + 0.5}, unit, z);
    }
    below = first;
    first += n - row;
  }
}

static void make_arch(Maker* m)
{
  const double R = 5, t = 1;
  int n = m->spec->size;
  double step = TB_PI / n, c, s;
  tb_sin_cos(step / 2, &s, &c);
  const double edge[3] = {t, 1, 2 * R * s / c};
  for (int i = 0; i < n; i++) {
    double angle = (i + 0.5) * step; // from the right abutment, over the top
    bool key = i == n / 2;
    tb_sin_cos(angle, &s, &c);
    const double x[3] = {R * c, 0, R * s};
    add_box(m, key ? density * m->spec->mass_ratio : density, edge, x, -angle);
  }
  for (int joint = 0; joint <= n; joint++) {
    tb_sin_cos(joint * step, &s, &c);
    const Body *before = joint ? &m->body[joint - 1] : &ground,
               *after = joint < n ? &m->body[joint] : &ground;
    for (int i = 0; i < 4; i++) {
      double radius = i % 2 ? R + t / 2 : R - t / 2;
      add_contact(m, before, after, (double[3]){radius * c, unit[i / 2], radius * s}, -s, c);
    }
  }
}

// A storey of n pairs has 2n leaning cards, then n − 1 flat ones that bear the next storey. Cards are thin:
// contacts lie in their middle planes.
static void make_cards(Maker* m)
{
  const double length = 1, width = 0.7, thick = 0.01, lean = 0.35, pitch = 1; // lean: sine of the angle to z
  double upright = sqrt(1 - lean * lean), angle = tb_atan2(lean, upright), rise = length * upright,
         packed = width / 2, foot = length * lean;
  int n = m->spec->size;
  const Body* floor = NULL; // the flat cards of the storey below
  for (int storey = 0; storey < n; storey++) {
    double weight = storey == n - 1 ? density * m->spec->mass_ratio : density, z = storey * rise;
    int pairs = n - storey;
    for (int i = 0; i < 2 * pairs; i++) {
      double side = i % 2 ? 1 : -1, tip = pitch * (i / 2 + 0.5 * storey);
      add_box(m, weight, (double[3]){thick, width, length},
              (double[3]){tip + side * foot / 2, 0, z + rise / 2}, -side * angle);
    }
    for (int i = 0; i + 1 < pairs; i++)
      add_box(m, weight, (double[3]){pitch, width, thick},
              (double[3]){pitch * (i + 0.5 + 0.5 * storey), 0, z + rise}, 0);
  }
  const Body* card = m->body;
  for (int storey = 0; storey < n; storey++) {
    int pairs = n - storey;
    const Body* flat = card + 2 * pairs;
    for (int i = 0; i < pairs; i++) {
      double tip = pitch * (i + 0.5 * storey), z = storey * rise;
      const Body *left = card + 2 * i, *right = left + 1, *under = floor ? floor + i : &ground;
      add_edge(m, under, left, tip - foot, z, packed, 0, 1);
      add_edge(m, under, right, tip + foot, z, packed, 0, 1);
      add_edge(m, left, right, tip, z + rise, packed, 1, 0);
      if (i > 0) add_edge(m, left, flat + i - 1, tip, z + rise, packed, 0, 1);
      if (i + 1 < pairs) add_edge(m, right, flat + i, tip, z + rise, packed, 0, 1);
    }
    floor = flat;
    card = flat + pairs - 1;
  }
}

typedef struct {
  double x[2], y[2];
  int layer;
} Plan;

static bool overlap(const Plan* a, const Plan* b, double x[2], double y[2])
{
  x[0] = fmax(a->x[0], b->x[0]), x[1] = fmin(a->x[1], b->x[1]);
  y[0] = fmax(a->y[0], b->y[0]), y[1] = fmin(a->y[1], b->y[1]);
  return x[0] < x[1] && y[0] < y[1];
}

// All boxes are equally high, so that one may lie on several.
static tbStatus make_pile(tbContext* ctx, Maker* m)
{
  int n = m->spec->size;
  uint64_t random = m->spec->seed;
  double side = 0.7 * sqrt(n) + 0.5, height = 0.5, x[2], y[2];
  Plan* plan = TB_NEW(ctx, Plan, (size_t)n);
  if (!plan) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    double at[2], edge[2], share = tb_random_uniform(&random, 0, 1);
    for (int e = 0; e < 2; e++) {
      at[e] = tb_random_uniform(&random, 0, side);
      edge[e] = tb_random_uniform(&random, 0.6, 1.6);
    }
    plan[i] =
        (Plan){{at[0] - edge[0] / 2, at[0] + edge[0] / 2}, {at[1] - edge[1] / 2, at[1] + edge[1] / 2}, 0};
    for (int j = 0; j < i; j++)
      if (plan[j].layer >= plan[i].layer && overlap(&plan[i], &plan[j], x, y))
        plan[i].layer = plan[j].layer + 1;
    add_box(m, density * tb_exp(share * tb_ln(m->spec->mass_ratio)), (double[3]){edge[0], edge[1], height},
            (double[3]){at[0], at[1], height * (plan[i].layer + 0.5)}, 0);
  }
  for (int i = 0; i < n; i++) {
    if (plan[i].layer == 0) add_face(m, &ground, &m->body[i], plan[i].x, plan[i].y, 0);
    for (int j = 0; j < i; j++)
      if (plan[j].layer == plan[i].layer - 1 && overlap(&plan[i], &plan[j], x, y))
        add_face(m, &m->body[j], &m->body[i], x, y, height * plan[i].layer);
  }
  tb_free(ctx, plan);
  return TB_OK;
}

static int one_each(int n) { return n; }
static int wall_bricks(int n) { return n * n + n / 2; }
static int triangle(int n) { return n * (n + 1) / 2; }
static int house_cards(int n) { return n * (n + 1) + n * (n - 1) / 2; }

static const struct {
  const char *name, *summary;
  int size, least, most;
  double friction;
  int (*bodies)(int size);
  void (*make)(Maker* m); // null for the pile, which needs memory of its own
} kinds[TB_GENERATE_COUNT] = {
    [TB_GENERATE_STACK] = {"stack", "boxes on top of each other", 10, 1, 100000, 0.5, one_each, make_stack},
    [TB_GENERATE_WALL] = {"wall", "bricks in running bond, as high as wide", 8, 1, 300, 0.5, wall_bricks,
                          make_wall},
    [TB_GENERATE_PYRAMID] = {"pyramid", "a row of boxes, one fewer on top, up to one", 5, 1, 400, 0.4,
                             triangle, make_pyramid},
    [TB_GENERATE_ARCH] = {"arch", "a half-circle of stones between abutments", 15, 2, 100000, 0.6, one_each,
                          make_arch},
    [TB_GENERATE_CARDS] = {"cards", "a house of cards", 4, 1, 200, 0.8, house_cards, make_cards},
    [TB_GENERATE_PILE] = {"pile", "boxes dropped at random places", 60, 1, 10000, 0.5, one_each, NULL},
};

const char* tb_generate_name(tbGenerateKind kind)
{
  return (unsigned)kind < TB_GENERATE_COUNT ? kinds[kind].name : "unknown";
}

const char* tb_generate_summary(tbGenerateKind kind)
{
  return (unsigned)kind < TB_GENERATE_COUNT ? kinds[kind].summary : "unknown";
}

bool tb_generate_from_name(const char* name, tbGenerateKind* out)
{
  for (int i = 0; i < TB_GENERATE_COUNT; i++)
    if (strcmp(name, kinds[i].name) == 0) {
      *out = (tbGenerateKind)i;
      return true;
    }
  return false;
}

tbGenerate tb_default_generate(tbGenerateKind kind)
{
  bool known = (unsigned)kind < TB_GENERATE_COUNT;
  return (tbGenerate){.kind = kind,
                      .size = known ? kinds[kind].size : 0,
                      .friction = known ? kinds[kind].friction : 0,
                      .mass_ratio = 1,
                      .seed = 1};
}

static tbStatus check_spec(tbContext* ctx, const tbGenerate* s)
{
  if ((unsigned)s->kind >= TB_GENERATE_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no structure %d", (int)s->kind);
  if (s->size < kinds[s->kind].least || s->size > kinds[s->kind].most)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the size of a %s must be %d to %d, not %d", kinds[s->kind].name,
                   kinds[s->kind].least, kinds[s->kind].most, s->size);
  if (!(s->friction >= 0 && s->friction <= 1e6))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "friction must be 0 to 1e6, not %g", s->friction);
  if (!(s->mass_ratio >= 1e-12 && s->mass_ratio <= 1e12))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the mass ratio must be 1e-12 to 1e12, not %g", s->mass_ratio);
  return TB_OK;
}

tbStatus tb_problem_generate(tbContext* ctx, const tbGenerate* spec, tbProblem** out)
{
  *out = NULL;
  TB_TRY(check_spec(ctx, spec));
  Maker m = {.spec = spec, .body = TB_NEW(ctx, Body, (size_t)kinds[spec->kind].bodies(spec->size))};
  tbStatus status = m.body ? tb_builder_create(ctx, kinds[spec->kind].name, &m.builder) : TB_ERROR_MEMORY;
  if (status == TB_OK && kinds[spec->kind].make) kinds[spec->kind].make(&m);
  else if (status == TB_OK) status = make_pile(ctx, &m);
  if (status == TB_OK) status = tb_builder_finish(m.builder, out);
  else tb_builder_abandon(m.builder);
  tb_free(ctx, m.body);
  return status;
}
