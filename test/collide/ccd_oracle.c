// SPDX-License-Identifier: Apache-2.0
// The corner curves of F are vectors linear in t, and a contact is a moment when the origin lies in their
// hull: a triangle X Y Z, or the two triangles of a parallelogram. With f = det[X, Y, Z](t):
//
//   f ≢ 0   a contact is a root of f at which the signs of some polynomials say that the origin is inside;
//   f ≡ 0   the origin stays in the triangle's plane: it is inside at t = 0, or comes in through a side.
//
// Roots are isolated by halving the interval until Descartes' rule finds one sign change (Collins & Akritas
// 1976), and halving goes on until every polynomial that matters keeps its sign over the interval. What still
// does not after a while is asked by a greatest common divisor whether it shares the root; multiple roots are
// divided out. All of it in integers.
#include "ccd_oracle.h"
#include "ccd_big.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 2, POLYNOMIALS = 10, PATIENCE = 8, DEEPEST = 600 };

typedef int Predicate(const int* sign); // 0, 1 or UNKNOWN; signs may be UNKNOWN

typedef struct {
  Poly f, q[POLYNOMIALS];
  int nq;
  bool asked[POLYNOMIALS]; // shares no root with f, or is zero by now
  bool square_free;
} System;

typedef struct {
  Poly c[3];
} Curve;

// One system for each depth, kept for the next query: they are large.
static System* room(int depth)
{
  static System* kept[DEEPEST];
  if (depth >= DEEPEST) abort();
  if (!kept[depth]) kept[depth] = malloc(sizeof(System));
  if (!kept[depth]) abort();
  return kept[depth];
}

static int sign_inside(const Poly* q)
{
  if (poly_is_zero(q)) return 0;
  if (poly_changes(q) > 0) return UNKNOWN;
  for (int i = 0;; i++)
    if (q->a[i].sign) return q->a[i].sign;
}

static int sign_at_end(const Poly* q, int end) { return q->degree < 0 ? 0 : q->a[end ? q->degree : 0].sign; }

static bool holds_at_end(const System* s, int end, Predicate* holds)
{
  int sign[POLYNOMIALS];
  for (int i = 0; i < s->nq; i++) sign[i] = sign_at_end(&s->q[i], end);
  return holds(sign) == 1;
}

static void make_square_free(System* s)
{
  Poly slope, common, f = s->f;
  poly_open(&f);
  s->square_free = true;
  if (f.degree < 2) return;
  slope.degree = -1;
  for (int i = 1; i <= f.degree; i++) { // d/dz Σ a_i zⁱ
    Poly term = {.degree = 0}, factor = {.degree = 0}, product;
    term.a[0] = f.a[i];
    big_set(&factor.a[0], i);
    poly_mul(&product, &term, &factor);
    slope.a[i - 1] = product.a[0];
    slope.degree = i - 1;
  }
  poly_gcd(&f, &slope, &common);
  if (common.degree > 0) poly_divide(&f, &common, &s->f);
}

// f has one root in the interval: is it one of q_i?
static void ask(System* s, int i)
{
  Poly f = s->f, q = s->q[i], common;
  s->asked[i] = true;
  poly_open(&f);
  poly_open(&q);
  if (q.degree < 1) return;
  poly_gcd(&f, &q, &common);
  if (common.degree > 0 && poly_changes(&common) % 2 == 1) s->q[i].degree = -1;
}

static bool search(System* s, int depth, Predicate* holds);

static bool search_halves(System* s, int depth, Predicate* holds)
{
  System* half = room(depth + 1);
  bool found = false;
  for (int right = 0; right < 2 && !found; right++) {
    poly_half(&s->f, right, &half->f);
    bool middle = !right && sign_at_end(&half->f, 1) == 0;
    if (!middle && poly_changes(&half->f) == 0) continue;
    half->nq = s->nq;
    half->square_free = s->square_free;
    memcpy(half->asked, s->asked, sizeof s->asked);
    for (int i = 0; i < s->nq; i++) {
      int sign = sign_inside(&s->q[i]);
      half->q[i].degree = 0;
      if (sign == UNKNOWN) poly_half(&s->q[i], right, &half->q[i]);
      else big_set(&half->q[i].a[0], sign); // as good as a constant from here on
    }
    found = (middle && holds_at_end(half, 1, holds)) || search(half, depth + 1, holds);
  }
  return found;
}

// A root in the open interval at which the predicate holds?
static bool search(System* s, int depth, Predicate* holds)
{
  if (depth >= PATIENCE && !s->square_free) make_square_free(s);
  int changes = poly_changes(&s->f);
  if (changes == 0) return false;
  if (changes > 1) return search_halves(s, depth, holds);
  int sign[POLYNOMIALS];
  for (int i = 0; i < s->nq; i++) {
    sign[i] = sign_inside(&s->q[i]);
    if (sign[i] == UNKNOWN && depth >= PATIENCE && !s->asked[i]) {
      ask(s, i);
      sign[i] = sign_inside(&s->q[i]);
    }
  }
  int verdict = holds(sign);
  return verdict == UNKNOWN ? search_halves(s, depth, holds) : verdict == 1;
}

// A root of f ≢ 0 in [0, 1] at which the predicate holds?
static bool root_exists(System* s, Predicate* holds)
{
  for (int end = 0; end < 2; end++)
    if (sign_at_end(&s->f, end) == 0 && holds_at_end(s, end, holds)) return true;
  return search(s, 0, holds);
}

static void dot(Poly* r, const Curve* a, const Curve* b)
{
  Poly product;
  r->degree = -1;
  for (int k = 0; k < 3; k++) {
    poly_mul(&product, &a->c[k], &b->c[k]);
    poly_add(r, r, &product, 1);
  }
}

static void cross(Curve* r, const Curve* a, const Curve* b)
{
  for (int k = 0; k < 3; k++) {
    Poly x, y;
    poly_mul(&x, &a->c[(k + 1) % 3], &b->c[(k + 2) % 3]);
    poly_mul(&y, &a->c[(k + 2) % 3], &b->c[(k + 1) % 3]);
    poly_add(&r->c[k], &x, &y, -1);
  }
}

static int always(const int* sign) { return (void)sign, 1; }

// Signs of w = X×Y by component and of X·Y: is the origin between X and Y?
static int between(const int* sign)
{
  for (int k = 0; k < 3; k++)
    if (sign[k] == 1 || sign[k] == -1) return 0;
  if (sign[3] == 1) return 0;
  for (int k = 0; k < 4; k++)
    if (sign[k] == UNKNOWN) return UNKNOWN;
  return 1;
}

static bool side_hit(System* s, const Curve* X, const Curve* Y)
{
  Curve w;
  memset(s->asked, 0, sizeof s->asked);
  s->square_free = false;
  cross(&w, X, Y);
  dot(&s->q[3], X, Y);
  for (int k = 0; k < 3; k++) s->q[k] = w.c[k];
  for (int k = 0; k < 3; k++)
    if (!poly_is_zero(&w.c[k])) {
      s->f = w.c[k];
      s->nq = 4;
      return root_exists(s, between);
    }
  if (sign_at_end(&s->q[3], 0) <= 0 || sign_at_end(&s->q[3], 1) <= 0) return true;
  s->f = s->q[3];
  s->nq = 0;
  return root_exists(s, always);
}

// Signs of |n|², then of n·(X×Y) …, then |X×Y|² and X·Y … of the sides: is the origin, which lies in the
// plane of the triangle, inside?
static int inside(const int* sign)
{
  bool open = sign[0] == UNKNOWN;
  if (sign[0] == 1) {
    for (int k = 1; k < 4; k++)
      if (sign[k] == -1) return 0;
    for (int k = 1; k < 4; k++) open |= sign[k] == UNKNOWN;
    return open ? UNKNOWN : 1;
  }
  for (int k = 4; k < 10; k += 2) {
    if (sign[0] == 0 && sign[k] == 0 && (sign[k + 1] == 0 || sign[k + 1] == -1)) return 1;
    open |= sign[k] == UNKNOWN || sign[k + 1] == UNKNOWN;
  }
  return open ? UNKNOWN : 0;
}

static bool triangle_hit(System* s, const Curve corner[3])
{
  Curve side[3], n;
  for (int k = 0; k < 3; k++) cross(&side[k], &corner[k], &corner[(k + 1) % 3]);
  dot(&s->f, &corner[0], &side[1]);
  bool flat = poly_is_zero(&s->f);
  if (!flat && sign_at_end(&s->f, 0) && sign_at_end(&s->f, 1) && poly_changes(&s->f) == 0) return false;
  for (int k = 0; k < 3; k++) {
    poly_add(&n.c[k], &side[0].c[k], &side[1].c[k], 1);
    poly_add(&n.c[k], &n.c[k], &side[2].c[k], 1);
  }
  dot(&s->q[0], &n, &n);
  for (int k = 0; k < 3; k++) dot(&s->q[1 + k], &n, &side[k]);
  bool always_area = sign_inside(&s->q[0]) == 1 && sign_at_end(&s->q[0], 0) && sign_at_end(&s->q[0], 1);
  for (int k = 0; k < 3 && !always_area; k++) {
    dot(&s->q[4 + 2 * k], &side[k], &side[k]);
    dot(&s->q[5 + 2 * k], &corner[k], &corner[(k + 1) % 3]);
  }
  s->nq = always_area ? 4 : POLYNOMIALS; // the sides matter only where the triangle has no area
  s->square_free = false;
  memset(s->asked, 0, sizeof s->asked);
  if (!flat) return root_exists(s, inside);
  if (holds_at_end(s, 0, inside)) return true;
  for (int k = 0; k < 3; k++)
    if (side_hit(s, &corner[k], &corner[(k + 1) % 3])) return true;
  return false;
}

// The corner i of the first feature less the corner j of the second, over [0, last / 2²⁰].
static void corner_curve(Curve* r, const ExactQuery* q, int i, int j, int64_t last)
{
  for (int k = 0; k < 3; k++) {
    int64_t a = q->x[0][i][k] - q->x[0][j][k], b = q->x[1][i][k] - q->x[1][j][k];
    if (last == EXACT_STEPS) {
      poly_linear(&r->c[k], a, b);
      continue;
    }
    Poly whole = {.degree = 0}, begin = {.degree = 0}, end = {.degree = 0}, x, y;
    big_set(&whole.a[0], EXACT_STEPS);
    big_set(&begin.a[0], a);
    poly_mul(&x, &whole, &begin);
    big_set(&whole.a[0], EXACT_STEPS - last);
    poly_mul(&end, &whole, &begin);
    big_set(&whole.a[0], last);
    big_set(&begin.a[0], b);
    poly_mul(&y, &whole, &begin);
    poly_add(&end, &end, &y, 1);
    r->c[k].degree = 1;
    r->c[k].a[0] = x.a[0];
    r->c[k].a[1] = end.a[0];
  }
}

typedef __int128 Wide;

// Most queries are never in one plane: all coefficients of f, over the whole step, have one sign.
static bool plainly_apart(const ExactQuery* q)
{
  static const int face[3][2] = {{0, 1}, {0, 2}, {0, 3}}, edges[3][2] = {{0, 2}, {1, 2}, {1, 3}};
  const int(*pair)[2] = q->kind == TB_CCD_VERTEX_FACE ? face : edges;
  Wide x[2][3][3], f[4] = {0};
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        x[e][i][k] = q->x[e][pair[i][0]][k] - q->x[e][pair[i][1]][k];
        if (x[e][i][k] > (Wide)1 << 40 || x[e][i][k] < -((Wide)1 << 40)) return false; // six products: 2¹²³
      }
  for (int m = 0; m < 8; m++) {
    const Wide *a = x[m & 1][0], *b = x[m >> 1 & 1][1], *c = x[m >> 2][2];
    f[(m & 1) + (m >> 1 & 1) + (m >> 2)] += a[0] * (b[1] * c[2] - b[2] * c[1]) +
                                            a[1] * (b[2] * c[0] - b[0] * c[2]) +
                                            a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return (f[0] > 0 && f[1] > 0 && f[2] > 0 && f[3] > 0) || (f[0] < 0 && f[1] < 0 && f[2] < 0 && f[3] < 0);
}

bool exact_collides(const ExactQuery* q, int64_t last)
{
  if (plainly_apart(q)) return false;
  System* s = room(0);
  Curve corner[4];
  bool hit;
  if (q->kind == TB_CCD_VERTEX_FACE) {
    for (int k = 0; k < 3; k++) corner_curve(&corner[k], q, 0, 1 + k, last);
    hit = triangle_hit(s, corner);
  } else {
    static const int around[4][2] = {{0, 2}, {1, 2}, {1, 3}, {0, 3}};
    for (int k = 0; k < 4; k++) corner_curve(&corner[k], q, around[k][0], around[k][1], last);
    hit = triangle_hit(s, corner);
    corner[1] = corner[0]; // now 0 2 3
    hit = hit || triangle_hit(s, corner + 1);
  }
  return hit;
}
