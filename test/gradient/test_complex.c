// SPDX-License-Identifier: Apache-2.0
// Derivatives of whole runs against complex steps: balls on planes and on each other, stepped by a program of
// its own in complex numbers, d loss/dp = Im loss(p + i e)/e, which has no reach and no rounding. It finds
// contacts, relaxes them to potentials and goes to the minimum as `primal` does, with no code in common.
#include "test.h"
#include "tribo/gradient.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex C;
enum { BALLS = 3, PLANES = 2, DOFS = 6 * BALLS, MOST = 16 };
static const double STEP = 1e-30;

typedef struct {
  C x[3], v[3], w[3], mass;
  double radius;
} Ball;

typedef struct {
  int balls, planes, model;
  double normal[PLANES][3], offset[PLANES], h, k_n, k_f, exponent, time;
  C mu, gravity;
  Ball ball[BALLS];
} World;

// One contact: a along −, b along +; b < 0: a plane.
typedef struct {
  int a, b;
  C n[3], arm_a[3], arm_b[3], bias;
} Touch;

static C dot(const C* a, const C* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static C bias_of(const World* w, C gap) { return gap / w->h; } // stabilisation by all of an overlap

static int find(const World* w, Touch* t)
{
  int count = 0;
  for (int i = 0; i < w->balls; i++)
    for (int k = 0; k < w->planes; k++) { // the ball's own point, against the plane
      Touch* c = &t[count++];
      C gap = -w->offset[k] - w->ball[i].radius;
      *c = (Touch){.a = i, .b = -1};
      for (int d = 0; d < 3; d++) {
        gap += w->normal[k][d] * w->ball[i].x[d];
        c->n[d] = -w->normal[k][d], c->arm_a[d] = -w->ball[i].radius * w->normal[k][d];
      }
      c->bias = bias_of(w, gap);
    }
  for (int i = 0; i < w->balls; i++)
    for (int j = i + 1; j < w->balls; j++) { // half way between the two surfaces
      Touch* c = &t[count++];
      C apart[3], far;
      *c = (Touch){.a = i, .b = j};
      for (int d = 0; d < 3; d++) apart[d] = w->ball[j].x[d] - w->ball[i].x[d];
      far = csqrt(dot(apart, apart));
      C half = 0.5 * (far + w->ball[i].radius - w->ball[j].radius);
      for (int d = 0; d < 3; d++)
        c->n[d] = apart[d] / far, c->arm_a[d] = half * c->n[d], c->arm_b[d] = (half - far) * c->n[d];
      c->bias = bias_of(w, far - w->ball[i].radius - w->ball[j].radius);
    }
  return count;
}

// Friction's force over its speed, and its slopes by speed and by limit.
static void friction(const World* w, C limit, C s, C* turn, C* slope, C* by_limit)
{
  double k = w->h * w->k_f;
  if (w->model == TB_RELAX_STICK_SLIP) {
    bool sticks = k * creal(s) < creal(limit);
    *turn = sticks ? k : limit / s, *slope = sticks ? k : 0, *by_limit = sticks ? 0 : 1;
  } else if (w->model == TB_RELAX_QUINTIC) {
    C t = 8 * k * s / (15 * limit); // the polynomial (15 t − 10 t³ + 3 t⁵)/8 up to t = 1
    bool sticks = creal(t) < 1;
    C q = (15 * t - 10 * t * t * t + 3 * cpow(t, 5)) / 8, dq = 15 * (1 - t * t) * (1 - t * t) / 8;
    *slope = sticks ? dq * 8 * k / 15 : 0, *by_limit = sticks ? q - t * dq : 1;
    *turn = sticks ? limit * q / s : limit / s;
  } else {
    C e = limit / k, r = csqrt(s * s + e * e);
    *turn = limit / r, *slope = limit * e * e / (r * r * r), *by_limit = s * s * s / (r * r * r);
  }
}

// The impulse of a contact on b at the relative velocity u, with its derivative.
static bool impulse(const World* w, const Touch* t, const C* u, C* lambda, C D[3][3])
{
  C normal = dot(u, t->n) + t->bias, sliding[3], s = 0, turn = 0, slope = 0, by_limit = 0;
  memset(lambda, 0, 3 * sizeof(C)), memset(D, 0, 9 * sizeof(C));
  if (!(creal(normal) < 0)) return false;
  double p = w->exponent, h = w->h;
  C deep = cpow(-h * normal, p - 1), push = h * w->k_n * deep;
  C stiff = h * h * w->k_n * (p - 1) * cpow(-h * normal, p - 2);
  for (int i = 0; i < 3; i++) sliding[i] = u[i] - (normal - t->bias) * t->n[i];
  s = csqrt(dot(sliding, sliding));
  if (creal(s) > 0) friction(w, w->mu * push, s, &turn, &slope, &by_limit);
  else turn = slope = h * w->k_f, s = 1;
  for (int i = 0; i < 3; i++) {
    lambda[i] = push * t->n[i] - turn * sliding[i];
    for (int j = 0; j < 3; j++) {
      C across = (i == j) - t->n[i] * t->n[j], along = sliding[i] * sliding[j] / (s * s);
      D[i][j] = stiff * t->n[i] * t->n[j] + turn * across + (slope - turn) * along;
      D[i][j] -= by_limit * w->mu * stiff * sliding[i] / s * t->n[j];
    }
  }
  return true;
}

// Gauss' elimination with pivots.
static void solve(int n, C A[DOFS][DOFS], C* b)
{
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++)
      if (cabs(A[i][k]) > cabs(A[best][k])) best = i;
    for (int j = 0; j < n; j++) {
      C swap = A[k][j];
      A[k][j] = A[best][j], A[best][j] = swap;
    }
    C swap = b[k];
    b[k] = b[best], b[best] = swap;
    for (int i = k + 1; i < n; i++) {
      C factor = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n; k-- > 0;) {
    for (int j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

// The columns of one side of a contact: d u/d(v, ω) = ±[1, −arm×].
static void columns(const C* arm, double sign, C J[3][6])
{
  memset(J, 0, 18 * sizeof(C));
  for (int i = 0; i < 3; i++) J[i][i] = sign;
  J[0][4] = sign * arm[2], J[0][5] = -sign * arm[1], J[1][3] = -sign * arm[2];
  J[1][5] = sign * arm[0], J[2][3] = sign * arm[1], J[2][4] = -sign * arm[0];
}

// F = A (v − v_free) − Jᵀλ and its derivative. pushed: which balls any contact pushes.
static void residual(const World* w, const Touch* touch, int count, const C* v, const C* v_free, C* F,
                     C K[DOFS][DOFS], bool* pushed)
{
  int n = 6 * w->balls;
  memset(K, 0, DOFS * DOFS * sizeof(C)), memset(pushed, 0, BALLS * sizeof(bool));
  for (int i = 0; i < n; i++) {
    const Ball* b = &w->ball[i / 6];
    K[i][i] = i % 6 < 3 ? b->mass : 0.4 * b->mass * b->radius * b->radius;
    F[i] = K[i][i] * (v[i] - v_free[i]);
  }
  for (int k = 0; k < count; k++) {
    const Touch* t = &touch[k];
    int body[2] = {t->a, t->b};
    C J[2][3][6], u[3] = {0}, lambda[3], D[3][3];
    columns(t->arm_a, -1, J[0]), columns(t->arm_b, 1, J[1]);
    for (int side = 0; side < 2; side++)
      for (int i = 0; body[side] >= 0 && i < 3; i++)
        for (int j = 0; j < 6; j++) u[i] += J[side][i][j] * v[6 * body[side] + j];
    if (!impulse(w, t, u, lambda, D)) continue;
    for (int side = 0; side < 2; side++) {
      if (body[side] < 0) continue;
      pushed[body[side]] = true;
      for (int r = 0; r < 6; r++)
        for (int i = 0; i < 3; i++) {
          F[6 * body[side] + r] -= J[side][i][r] * lambda[i];
          for (int other = 0; other < 2; other++)
            for (int j = 0; body[other] >= 0 && j < 3; j++)
              for (int c = 0; c < 6; c++)
                K[6 * body[side] + r][6 * body[other] + c] += J[side][i][r] * D[i][j] * J[other][j][c];
        }
    }
  }
}

// Whether balls that are apart will meet: the library has their normal at that moment, and this program not.
static bool meets(const World* w, const Touch* t)
{
  C apart = 0;
  for (int d = 0; t->b >= 0 && d < 3; d++) apart += (w->ball[t->b].v[d] - w->ball[t->a].v[d]) * t->n[d];
  return t->b >= 0 && creal(t->bias) * w->h > 5e-7 && creal(apart + t->bias) < 0.05;
}

static double size_of(int n, const C* F)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += creal(F[i]) * creal(F[i]);
  return sqrt(sum);
}

// Newton's method, with shorter steps where they lessen F more; three whole ones in the end, for imaginary
// parts follow real ones.
static bool minimise(const World* w, const Touch* touch, int count, const C* v_free, C* v, bool* pushed)
{
  int n = 6 * w->balls, after = 0;
  C F[DOFS], K[DOFS][DOFS], step[DOFS], end[DOFS];
  for (int k = 0; k < 200 && after < 3; k++) {
    residual(w, touch, count, v, v_free, F, K, pushed);
    double before = size_of(n, F), most = 0;
    memcpy(step, F, sizeof step);
    solve(n, K, step);
    for (int i = 0; i < n; i++) most = fmax(most, fabs(creal(step[i])));
    for (double part = 1; part > 1e-3; part *= 0.5) {
      for (int i = 0; i < n; i++) end[i] = v[i] - part * step[i];
      residual(w, touch, count, end, v_free, F, K, pushed);
      if (most < 1e-9 || size_of(n, F) < (1 - 0.1 * part) * before) break;
    }
    memcpy(v, end, (size_t)n * sizeof *v);
    after += most < 1e-11;
  }
  return after == 3;
}

// False: it is none of the steps that this program knows.
static bool advance(World* w)
{
  Touch touch[BALLS * PLANES + BALLS * BALLS];
  int count = find(w, touch), n = 6 * w->balls;
  C v[DOFS], v_free[DOFS];
  bool pushed[BALLS];
  for (int k = 0; k < count; k++)
    if (meets(w, &touch[k])) return false;
  for (int i = 0; i < n; i++) {
    const Ball* b = &w->ball[i / 6];
    v[i] = v_free[i] = i % 6 < 3 ? b->v[i % 6] + (i % 6 == 2 ? w->h * w->gravity : 0) : b->w[i % 6 - 3];
  }
  if (!minimise(w, touch, count, v_free, v, pushed)) return false;
  for (int i = 0; i < n; i++) {
    Ball* b = &w->ball[i / 6];
    if (i % 6 >= 3) b->w[i % 6 - 3] = v[i];
    else b->v[i % 6] = v[i], b->x[i % 6] += w->h * v[i];
  }
  for (int i = 0; i < w->balls; i++) // in flight: a parabola
    if (!pushed[i]) w->ball[i].x[2] -= 0.5 * w->h * w->h * w->gravity;
  return true;
}

// ---- random scenes ----

static World random_world(uint64_t seed)
{
  tbRandom r = test_random(seed);
  double lean = test_uniform(&r, 0, 0.35);
  World w = {.balls = 1 + (int)(seed % BALLS),
             .planes = 1 + (int)(seed / 3 % 2),
             .model = (int)(seed / 2 % TB_RELAX_COUNT),
             .h = 0.01,
             .time = 0.1 * ceil(test_uniform(&r, 1, 4)),
             .mu = test_uniform(&r, 0.1, 0.7),
             .gravity = -9.81};
  w.exponent = w.model == TB_RELAX_STICK_SLIP ? 2 : 2 + (double)(seed % 3);
  w.k_n = w.exponent == 2 ? 2e5 : w.exponent == 3 ? 1e8 : 1e10;
  w.k_f = test_uniform(&r, 200, 3000);
  w.normal[0][0] = sin(lean), w.normal[0][2] = cos(lean);
  w.normal[1][0] = -1, w.offset[1] = -0.9; // a wall
  double along = -0.2, above = w.balls == 1 && seed % 4 ? test_uniform(&r, 0.01, 0.15) : 0;
  double ahead = test_uniform(&r, 0.5, 1.5), slower = test_uniform(&r, 0.05, 0.3);
  for (int i = 0; i < w.balls; i++) { // in a row down the slope, each faster than the next
    Ball *b = &w.ball[i], *last = b - (i > 0);
    b->radius = test_uniform(&r, 0.06, 0.12), b->mass = test_uniform(&r, 0.3, 3);
    double far = b->radius + last->radius - 1e-6, up = b->radius - last->radius;
    if (i > 0) along += sqrt(far * far - up * up);
    b->x[0] = along * cos(lean) + (b->radius + above) * sin(lean);
    b->x[2] = -along * sin(lean) + (b->radius + above) * cos(lean);
    double speed = ahead - slower * i, aside = i ? creal(last->v[1]) : test_uniform(&r, -0.5, 0.5);
    b->v[0] = speed * cos(lean), b->v[1] = aside, b->v[2] = -speed * sin(lean);
    double spin = w.balls == 1 ? 9 : 0.5;
    for (int d = 0; d < 3; d++) b->w[d] = test_uniform(&r, -spin, spin);
    b->w[1] += w.balls > 1 ? speed / b->radius : 0;
  }
  return w;
}

static void write_world(const World* w, char* text, size_t room)
{
  size_t at = (size_t)snprintf(
      text, room,
      "{\"tribo\": 1, \"dt\": %.17g, \"time\": %.17g, \"gravity\": [0, 0, %.17g], \"scheme\": {\"name\": "
      "\"primal\", \"contact_stiffness\": %.17g, \"friction_stiffness\": %.17g, \"contact_exponent\": %.17g, "
      "\"friction_model\": \"%s\", \"stabilization\": {\"kind\": \"baumgarte\", \"fraction\": 1}}, "
      "\"materials\": {\"m\": {\"friction\": %.17g}}, \"bodies\": [",
      w->h, w->time, creal(w->gravity), w->k_n, w->k_f, w->exponent,
      tb_relaxed_friction_name((tbRelaxedFriction)w->model), creal(w->mu));
  for (int k = 0; k < w->planes; k++)
    at += (size_t)snprintf(text + at, room - at,
                           "{\"name\": \"p%d\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": "
                           "\"plane\", \"normal\": [%.17g, 0, %.17g], \"offset\": %.17g}}, ",
                           k, w->normal[k][0], w->normal[k][2], w->offset[k]);
  for (int i = 0; i < w->balls; i++) {
    const Ball* b = &w->ball[i];
    at += (size_t)snprintf(
        text + at, room - at,
        "%s{\"name\": \"b%d\", \"material\": \"m\", \"mass\": %.17g, \"shape\": {\"type\": \"sphere\", "
        "\"radius\": %.17g}, \"position\": [%.17g, %.17g, %.17g], \"velocity\": [%.17g, %.17g, %.17g], "
        "\"angular_velocity\": [%.17g, %.17g, %.17g]}",
        i ? ", " : "", i, creal(b->mass), b->radius, creal(b->x[0]), creal(b->x[1]), creal(b->x[2]),
        creal(b->v[0]), creal(b->v[1]), creal(b->v[2]), creal(b->w[0]), creal(b->w[1]), creal(b->w[2]));
  }
  snprintf(text + at, room - at, "]}");
}

// As many steps as it knows, at most.
static int run(World* w, int steps)
{
  for (int k = 0; k < steps; k++) {
    World before = *w;
    if (advance(w)) continue;
    *w = before;
    return k;
  }
  return steps;
}

// The loss with number i moved to the imaginary side: of the first ball's velocity, spin and mass, friction,
// gravity, and the last ball's place and mass.
static C complex_loss(const World* start, int i, int steps)
{
  World w = *start;
  Ball *a = &w.ball[0], *z = &w.ball[w.balls - 1];
  C* number[] = {&a->v[0], &a->v[1], &a->v[2],   &a->w[0], &a->w[1], &a->w[2],
                 &a->mass, &w.mu,    &w.gravity, &z->x[0], &z->x[2], &z->mass};
  *number[i] += STEP * I;
  CHECK(run(&w, steps) == steps);
  C d[3] = {a->x[0] - 0.5, a->x[1] - 0.1, a->x[2] - 0.2};
  return dot(d, d);
}

// One scene, forward or back. False: the run is not smooth throughout.
static bool check_scene(uint64_t seed, int steps, const World* w, tbGradientMethod method)
{
  enum { FIRST_MASS = 6 };
  char text[3000], wrt[300];
  write_world(w, text, sizeof text);
  int z = w->balls - 1;
  snprintf(wrt, sizeof wrt,
           "b0.velocity,b0.angular_velocity,%sm.friction,gravity.z,b%d.position.x,b%d.position.z,b%d.mass",
           z ? "b0.mass," : "", z, z, z);
  tbContext ctx = tb_default_context();
  tbObjective* o = NULL;
  CHECK_OK(&ctx, tb_objective_parse(&ctx, "balls.json", text, strlen(text), NULL, "b0:0.5,0.1,0.2", wrt, &o));
  if (!o) return false;
  double x[MOST], g[MOST], loss, off = 0, size = 0;
  tbGradientReport report;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, method, x, &loss, g, &report));
  C same = 0;
  for (int i = 0, k = 0; i < tb_objective_size(o); i++, k++) {
    if (!z && k == FIRST_MASS) k++; // of one ball the first is the last
    same = complex_loss(w, k, steps);
    double exact = cimag(same) / STEP;
    off = fmax(off, fabs(g[i] - exact)), size = fmax(size, fabs(exact));
  }
  CHECK_NEAR(loss, creal(same), 1e-10);
  if (report.unstable == 0 && !(off <= 1e-6 * size))
    test_failed(__FILE__, __LINE__, "scene %d, %s: off by %.2g", (int)seed,
                tb_gradient_method_name(report.method), off / size);
  tb_objective_free(&ctx, o);
  return report.unstable == 0;
}

// As many as TRIBO_GRADIENTS says; else a few. A run ends where balls meet that were apart.
TEST(gradients_of_balls_are_those_of_complex_steps)
{
  const char* asked = getenv("TRIBO_GRADIENTS");
  int last = asked ? atoi(asked) : test_quick() ? 3 : 8, smooth = 0, scenes = 0;
  for (int seed = 0; seed < last; seed++) {
    World w = random_world((uint64_t)seed), ahead = w;
    int steps = run(&ahead, (int)ceil(w.time / w.h - 1e-6));
    w.time = w.h * steps;
    for (int method = TB_GRADIENT_TANGENT; steps >= 4 && method <= TB_GRADIENT_ADJOINT; method++, scenes++)
      smooth += check_scene((uint64_t)seed, steps, &w, (tbGradientMethod)method);
  }
  if (5 * smooth < 4 * scenes || scenes < last)
    test_failed(__FILE__, __LINE__, "%d of %d are smooth, of %d scenes", smooth, scenes, last);
}
