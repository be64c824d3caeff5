// SPDX-License-Identifier: Apache-2.0
// The course's tutorial (Andrews, Erleben and Ferguson 2022, appendix A): a rigid body simulator with
// frictional contact from nothing but vectors. docs/tutorial.md goes through it step by step.
//
//   tutorial 1    bodies move                          balls fall through the box
//   tutorial 2    contacts are found                   where they would touch it, and the normals
//   tutorial 3    contact Jacobians                    the pattern of A = J M⁻¹ Jᵀ
//   tutorial 4    boxed LCP by blocked Gauss–Seidel    balls land, roll and come to rest
//   tutorial 5    Tribo's judge                        how good 1, 2, 4 … sweeps are
//
// Each prints an SVG picture; numbers go to standard error.
#include <tribo/math.h>
#include <tribo/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 6, MOST = 32 };

typedef struct {
  bool fixed;
  double radius; // of a ball
  tbVec3 half;   // of a box
  double m, I;   // of a ball, the same about every axis
  tbVec3 x, v, w;
  tbQuat q;
} Body;

typedef struct {
  int a, b;
  tbVec3 p, n; // n from a to b
  double depth;
  double JA[3][6], JB[3][6], JAMinv[3][6], JBMinv[3][6]; // rows n, t, b
  double rhs[3], lambda[3];
} Contact;

typedef struct {
  Body body[BODIES];
  Contact contact[MOST];
  int contacts;
} System;

static const double h = 0.01, mu = 0.4, g = 9.81;

// A pyramid of four balls above a box, and a fifth one that comes rolling.
static System start(void)
{
  const double r = 0.4, m = 1;
  System s = {.contacts = 0};
  s.body[0] =
      (Body){.fixed = true, .half = tb_vec3(3, 2, 0.5), .x = tb_vec3(0, 0, -0.5), .q = tb_quat_identity()};
  for (int i = 1; i < BODIES; i++) {
    double angle = 2 * TB_PI * i / 3, out = i < 4 ? 2 * r / sqrt(3) : 0;
    s.body[i] = (Body){.radius = r, .m = m, .I = 0.4 * m * r * r, .q = tb_quat_identity()};
    s.body[i].x = tb_vec3(out * cos(angle), out * sin(angle), i < 4 ? 0.6 : 1.6);
  }
  s.body[5].x = tb_vec3(-2.6, 0, r), s.body[5].v = tb_vec3(3, 0, 0);
  return s;
}

// ---- step 1: numerical integration ----

static void accelerate(System* s) // forces: gravity alone; a ball has no gyroscopic torque
{
  for (int i = 0; i < BODIES; i++)
    if (!s->body[i].fixed) s->body[i].v.z -= h * g;
}

// x += h v; q += h/2 H(q) ω, normalised. H(q) ω is the product of the quaternions (0, ω) and q.
static void move(System* s)
{
  for (int i = 0; i < BODIES; i++) {
    Body* b = &s->body[i];
    if (b->fixed) continue;
    tbQuat spin = tb_quat_mul((tbQuat){.w = 0, .x = b->w.x, .y = b->w.y, .z = b->w.z}, b->q);
    b->x = tb_madd3(b->x, h, b->v);
    b->q.w += 0.5 * h * spin.w, b->q.x += 0.5 * h * spin.x;
    b->q.y += 0.5 * h * spin.y, b->q.z += 0.5 * h * spin.z;
    b->q = tb_quat_normalize(b->q);
  }
}

// ---- step 2: collision detection ----

static void add_contact(System* s, int a, int b, tbVec3 p, tbVec3 n, double depth)
{
  if (s->contacts < MOST)
    s->contact[s->contacts++] = (Contact){.a = a, .b = b, .p = p, .n = n, .depth = depth};
}

static void ball_ball(System* s, int a, int b)
{
  const Body *A = &s->body[a], *B = &s->body[b];
  tbVec3 d = tb_sub3(B->x, A->x);
  double depth = A->radius + B->radius - tb_norm3(d);
  tbVec3 n = tb_normalize3(d);
  if (depth > 0) add_contact(s, a, b, tb_madd3(A->x, A->radius - depth / 2, n), n, depth);
}

// In the box's own axes: the point of the box closest to the ball's centre; inside, the face that is nearest.
static void box_ball(System* s, int a, int b)
{
  const Body *A = &s->body[a], *B = &s->body[b];
  tbVec3 c = tb_quat_unrotate(A->q, tb_sub3(B->x, A->x)), k = A->half;
  tbVec3 at = tb_vec3(fmin(fmax(c.x, -k.x), k.x), fmin(fmax(c.y, -k.y), k.y), fmin(fmax(c.z, -k.z), k.z));
  tbVec3 d = tb_sub3(c, at), n = tb_vec3(0, 0, 1);
  double distance = tb_norm3(d);
  if (distance > 0) n = tb_scale3(1 / distance, d);
  else distance = c.z - k.z, at.z = k.z; // its centre is in the box: out through the top
  if (distance < B->radius)
    add_contact(s, a, b, tb_add3(A->x, tb_quat_rotate(A->q, at)), tb_quat_rotate(A->q, n),
                B->radius - distance);
}

static void collide(System* s)
{
  s->contacts = 0;
  for (int b = 1; b < BODIES; b++) {
    box_ball(s, 0, b);
    for (int a = 1; a < b; a++) ball_ball(s, a, b);
  }
}

// ---- step 3: the contact Jacobian ----

static void fill_rows(const Body* body, tbVec3 p, const tbVec3 direction[3], double sign, double J[3][6],
                      double JMinv[3][6])
{
  for (int i = 0; i < 3; i++) {
    tbVec3 e = tb_scale3(sign, direction[i]), turn = tb_cross3(tb_sub3(p, body->x), e);
    double row[6] = {e.x, e.y, e.z, turn.x, turn.y, turn.z};
    for (int j = 0; j < 6; j++) {
      J[i][j] = row[j];
      JMinv[i][j] = body->fixed ? 0 : row[j] / (j < 3 ? body->m : body->I);
    }
  }
}

// Rows along n and two tangents t, b: u = J v is how fast b moves against a. Overlap goes by a fifth per
// step.
static void compute_jacobian(System* s, Contact* c)
{
  tbVec3 axis = fabs(c->n.x) < 0.9 ? tb_vec3(1, 0, 0) : tb_vec3(0, 1, 0),
         t = tb_normalize3(tb_cross3(c->n, axis));
  const tbVec3 direction[3] = {c->n, t, tb_cross3(c->n, t)};
  const Body *A = &s->body[c->a], *B = &s->body[c->b];
  fill_rows(A, c->p, direction, -1, c->JA, c->JAMinv);
  fill_rows(B, c->p, direction, 1, c->JB, c->JBMinv);
  double va[6] = {A->v.x, A->v.y, A->v.z, A->w.x, A->w.y, A->w.z},
         vb[6] = {B->v.x, B->v.y, B->v.z, B->w.x, B->w.y, B->w.z};
  for (int i = 0; i < 3; i++) {
    c->rhs[i] = i == 0 ? 0.2 * c->depth / h : 0;
    for (int j = 0; j < 6; j++) c->rhs[i] -= c->JA[i][j] * va[j] + c->JB[i][j] * vb[j];
  }
}

// x += scale · JMinv Jᵀ y, 3×3
static void add_product(const double JMinv[3][6], const double J[3][6], const double y[3], double scale,
                        double x[3])
{
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 6; j++) x[i] += scale * JMinv[i][j] * J[k][j] * y[k];
}

// Block (i, j) of A = J M⁻¹ Jᵀ times y: through every body that contacts i and j share.
static void add_block(const Contact* i, const Contact* j, const double y[3], double scale, double x[3])
{
  if (i->a == j->a) add_product(i->JAMinv, j->JA, y, scale, x);
  if (i->a == j->b) add_product(i->JAMinv, j->JB, y, scale, x);
  if (i->b == j->a) add_product(i->JBMinv, j->JA, y, scale, x);
  if (i->b == j->b) add_product(i->JBMinv, j->JB, y, scale, x);
}

// ---- step 4: blocked projected Gauss–Seidel ----

// Solves its 3×3 system, then clamps: λ_n ≥ 0, friction to ±μ λ_n.
static void solve_contact(Contact* c, const double x[3])
{
  tbMat3 A;
  for (int j = 0; j < 3; j++) {
    double column[3] = {0}, e[3] = {j == 0, j == 1, j == 2};
    add_block(c, c, e, 1, column);
    for (int i = 0; i < 3; i++) A.m[i][j] = column[i];
  }
  tbVec3 y = tb_mat3_mulv(tb_mat3_inverse(A), tb_vec3(x[0], x[1], x[2]));
  c->lambda[0] = fmax(0, y.x);
  c->lambda[1] = fmin(fmax(y.y, -mu * c->lambda[0]), mu * c->lambda[0]);
  c->lambda[2] = fmin(fmax(y.z, -mu * c->lambda[0]), mu * c->lambda[0]);
}

static void solve(System* s, int sweeps)
{
  for (int k = 0; k < sweeps; k++)
    for (int i = 0; i < s->contacts; i++) {
      double x[3];
      memcpy(x, s->contact[i].rhs, sizeof x);
      for (int j = 0; j < s->contacts; j++)
        if (j != i) add_block(&s->contact[i], &s->contact[j], s->contact[j].lambda, -1, x);
      solve_contact(&s->contact[i], x);
    }
}

static void push(Body* b, const double JMinv[3][6], const double lambda[3])
{
  for (int i = 0; i < 3; i++) {
    b->v = tb_madd3(b->v, lambda[i], tb_vec3(JMinv[i][0], JMinv[i][1], JMinv[i][2]));
    b->w = tb_madd3(b->w, lambda[i], tb_vec3(JMinv[i][3], JMinv[i][4], JMinv[i][5]));
  }
}

static void step(System* s, int chapter, int sweeps)
{
  accelerate(s);
  if (chapter > 1) collide(s);
  for (int i = 0; i < s->contacts; i++) compute_jacobian(s, &s->contact[i]);
  if (chapter > 3) solve(s, sweeps);
  for (int i = 0; i < s->contacts; i++) {
    push(&s->body[s->contact[i].a], s->contact[i].JAMinv, s->contact[i].lambda);
    push(&s->body[s->contact[i].b], s->contact[i].JBMinv, s->contact[i].lambda);
  }
  move(s);
}

// ---- step 5: what Tribo says of it ----

// The same contact problem, with Coulomb's cones, which the judge also reads as boxes.
static tbStatus hand_over(tbContext* ctx, const System* s, tbProblem** out)
{
  tbBuilder* b = NULL;
  int dof[BODIES] = {0};
  tbStatus status = tb_builder_create(ctx, "tutorial", &b);
  if (status != TB_OK) return status;
  for (int i = 1; i < BODIES; i++) {
    const Body* B = &s->body[i];
    double v[6] = {B->v.x, B->v.y, B->v.z, B->w.x, B->w.y, B->w.z},
           I[9] = {B->I, 0, 0, 0, B->I, 0, 0, 0, B->I};
    tb_builder_rigid(b, B->m, I, v, &dof[i]);
  }
  for (int i = 0; i < s->contacts; i++) {
    const Contact* c = &s->contact[i];
    double bias[3] = {-0.2 * c->depth / h, 0, 0};
    tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
    if (c->a > 0) tb_builder_jacobian(b, dof[c->a], 6, c->JA[0]);
    tb_builder_jacobian(b, dof[c->b], 6, c->JB[0]);
  }
  return tb_builder_finish(b, out); // says what went wrong on the way
}

// ---- pictures ----

static double across(tbVec3 p) { return 400 + 110 * p.x; }
static double down(tbVec3 p) { return 420 - 110 * p.z; }

static void draw(const System* s, double opacity)
{
  const Body* box = &s->body[0];
  printf(
      "<rect x='-330' y='-55' width='660' height='110' fill='#b9bfc9' transform='translate(%.1f %.1f)'/>\n",
      across(box->x), down(box->x));
  for (int i = 1; i < BODIES; i++) {
    const Body* b = &s->body[i];
    tbVec3 mark = tb_madd3(b->x, b->radius, tb_quat_rotate(b->q, tb_vec3(1, 0, 0)));
    printf("<g opacity='%.2f'><circle cx='%.1f' cy='%.1f' r='%.1f' fill='#a9bcd0' stroke='#456'/>"
           "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#456'/></g>\n",
           opacity, across(b->x), down(b->x), 110 * b->radius, across(b->x), down(b->x), across(mark),
           down(mark));
  }
  for (int i = 0; i < s->contacts; i++) {
    tbVec3 p = s->contact[i].p, tip = tb_madd3(p, 0.4, s->contact[i].n);
    printf("<circle cx='%.1f' cy='%.1f' r='5' fill='#e06c00'/>"
           "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#e06c00' stroke-width='3'/>\n",
           across(p), down(p), across(p), down(p), across(tip), down(tip));
  }
}

// A square for every 3×3 block of A that is not zero.
static void draw_pattern(const System* s)
{
  for (int i = 0; i < s->contacts; i++)
    for (int j = 0; j < s->contacts; j++) {
      double x[3] = {0}, ones[3] = {1, 1, 1};
      add_block(&s->contact[i], &s->contact[j], ones, 1, x);
      bool zero = x[0] == 0 && x[1] == 0 && x[2] == 0;
      printf("<rect x='%d' y='%d' width='56' height='56' fill='%s' stroke='#456'/>\n", 100 + 60 * j,
             60 + 60 * i,
             zero     ? "#fff"
             : i == j ? "#2563eb"
                      : "#a9bcd0");
    }
}

static int judge(System* s)
{
  tbContext ctx = tb_default_context();
  tbProblem* problem = NULL;
  if (hand_over(&ctx, s, &problem) != TB_OK) {
    fprintf(stderr, "%s\n", ctx.error.message);
    return 1;
  }
  double lambda[3 * MOST], last = 420;
  fprintf(stderr, "sweeps  boxed model  Coulomb's cone   (the judge's residual)\n");
  for (int k = 0, sweeps = 1; k < 10; k++, sweeps *= 2) {
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    for (int i = 0; i < s->contacts; i++) memset(s->contact[i].lambda, 0, sizeof s->contact[i].lambda);
    solve(s, sweeps);
    for (int i = 0; i < s->contacts; i++)
      memcpy(lambda + 3 * i, s->contact[i].lambda, sizeof s->contact[i].lambda);
    o.solver = "bgs", o.model = TB_MODEL_BOX, o.max_iterations = 0; // looks, and does nothing
    if (tb_solve(&ctx, problem, &o, lambda, &r) != TB_OK) return 1;
    fprintf(stderr, "%6d  %11.1e  %14.1e\n", sweeps, r.residual.model, r.residual.fclib);
    double y = 60 - 22 * log10(fmax(r.residual.model, 1e-14));
    if (k > 0)
      printf("<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#2563eb' stroke-width='3'/>\n", 40 + 70 * k,
             last, 110 + 70 * k, y);
    last = y;
  }
  tb_problem_free(problem);
  return 0;
}

int main(int argc, char** argv)
{
  int chapter = argc == 2 ? atoi(argv[1]) : 0, status = 0;
  if (chapter < 1 || chapter > 5) {
    fprintf(stderr, "usage: tutorial 1|2|3|4|5 > picture.svg\n");
    return 2;
  }
  System s = start();
  int steps = chapter == 1 ? 40 : chapter == 2 ? 25 : chapter == 4 ? 160 : 40;
  printf("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 800 500' font-family='sans-serif'>\n"
         "<rect width='800' height='500' fill='#f3f4f6'/>\n");
  for (int i = 0; i < steps; i++) {
    if (i % 20 == 0 && (chapter == 1 || chapter == 4)) {
      System bodies = s;
      bodies.contacts = 0;
      draw(&bodies, 0.25);
    }
    step(&s, chapter == 3 || chapter == 5 ? 4 : chapter, 30);
  }
  if (chapter == 3 || chapter == 5) { // the problem of the coming step
    accelerate(&s), collide(&s);
    for (int i = 0; i < s.contacts; i++) compute_jacobian(&s, &s.contact[i]);
  }
  fprintf(stderr, "%d contacts after %d steps\n", s.contacts, steps);
  if (chapter == 3) draw_pattern(&s);
  else if (chapter == 5) status = judge(&s);
  else draw(&s, 1);
  printf("</svg>\n");
  return status;
}
