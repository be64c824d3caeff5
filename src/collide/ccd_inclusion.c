// SPDX-License-Identifier: Apache-2.0
// Conservative continuous collision detection by boxes of (t, u, v).
//
// Method. For a fixed direction d the number g = d·F(t, u, v) is affine in each of t, u and v, and has no uv
// term: over a box its extremes lie at corners. If g > s|d| at all of them, no point of the box is a contact.
// This is Snyder's inclusion test (1992; for contact: Wang et al. 2021) with freely chosen d instead of the
// axes. Good directions make the search short:
//
//   F at the centre          separates what is merely far away
//   U×V, V×F_t, F_t×U        the rows of the Jacobian's inverse, up to scale: to first order g then varies
//                            with t alone, u alone, v alone, and where it cannot vanish is cut off the box.
//                            This is Newton's method for boxes: it converges quadratically to simple roots
//   n×U, n×V, n×F_t          in the plane, for motion within one plane, where the three above coincide
//   F at the closest points  of a moment, when the others do not decide
//
// What is left is halved along the parameter that moves F most, earlier half first. A place with
// |F| ≤ s + delta, at a centre or among the closest points at its moment, ends the search for later ones;
// from then on time is halved, for only the moment is still in question, and its begin advanced by what the
// direction between the closest points there allows. Boxes that begin less than the time tolerance before a
// contact are not looked at, only counted as possible. When the boxes are used up the answer is the earliest
// begin of a box not ruled out.
//
// Rounding. ε = 2⁻⁵³. C, U, V are differences of coordinates, each rounded once: relative error ε, however
// far away the origin is. With S_k ≥ |C_k| + |U_k| + |V_k| and |d|·S = Σ |d_k| S_k, the computed g at a
// corner has an error below
//
//   1 ε |d|·S    the differences                         3 ε |d|·S   three projections d·C, d·U, d·V
//   3 ε |d|·S    interpolation of each in t              3 ε |d|·S   c + u·U + v·V
//   1 ε |d|·S    the corner 1 − u of the triangle
//
// each with a factor 1 + O(ε): less than 12 ε |d|·S together. 16 ε is used, plus 1e-300 for underflow (the
// largest part of F is scaled to lie in [½, 1)), plus s|d| with 16 ε to spare. Bounds on parameters are moved
// outwards by 2⁻⁵⁰, which is 8 ε, above the 7 ε that a cut in [0, 1] can be off by. No mode of the processor
// is touched.
//
// Cost. About 0.3 µs a box. What is merely near takes 1 to 4 boxes, contacts and grazing near misses 5 to 25,
// motion within one plane up to 60: there contacts are not isolated and Newton's steps do not help.
// Limits. Misses by less than delta are called hits, and so is what uses up the boxes: one in 10⁴ of the
// queries where several degeneracies meet (edges that become one line as they touch, in one plane).
#include "collide/ccd_map.h"

enum {
  STACK = 192, // a halved box leaves one behind; no parameter is halved more than 48 times
  PATIENCE = 4 // boxes before closest points are looked for: most queries are done by then
};

static const double rounding = 16 * 0x1p-53, tiny = 1e-300, pad = 0x1p-50, narrowest = 0x1p-48;

typedef struct {
  double lo[3], hi[3]; // of t, u, v
} Box;

typedef struct {
  double c[2], u[2], v[2]; // d·C, d·U, d·V at t = 0 and 1
  double slack;            // |g| up to this may mean contact
} Slice;

static Slice slice(const tbCcdMap* F, tbVec3 d)
{
  Slice g;
  for (int e = 0; e < 2; e++) {
    g.c[e] = tb_dot3(d, F->C[e]);
    g.u[e] = tb_dot3(d, F->U[e]);
    g.v[e] = tb_dot3(d, F->V[e]);
  }
  g.slack = rounding * (fabs(d.x) * F->size.x + fabs(d.y) * F->size.y + fabs(d.z) * F->size.z) + tiny;
  if (F->separation > 0) g.slack += F->separation * tb_norm3(d) * (1 + rounding);
  return g;
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double lerp(const double ends[2], double t) { return (1 - t) * ends[0] + t * ends[1]; }

typedef struct {
  double lo, hi;
} Range;

static Range hull(double a, double b) { return a < b ? (Range){a, b} : (Range){b, a}; }
static Range join(Range a, Range b) { return (Range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi}; }
static Range plus(Range a, Range b) { return (Range){a.lo + b.lo, a.hi + b.hi}; }
static Range plus1(Range a, double b) { return (Range){a.lo + b, a.hi + b}; }
static bool misses(Range g, double slack) { return g.lo > slack || g.hi < -slack; }

// Cuts off [lo, hi] where the hull of the ranges at its two ends stays clear of zero. False: nothing is left.
static bool cut(double* lo, double* hi, Range at_lo, Range at_hi, double slack)
{
  double begin = *lo, width = *hi - *lo;
  for (int mirror = 0; mirror < 2; mirror++) { // once for g, once for −g
    double a = mirror ? -at_lo.hi : at_lo.lo, b = mirror ? -at_hi.hi : at_hi.lo;
    if (a > slack && b > slack) return false;
    if (a > slack) *lo = most(*lo, begin + width * ((a - slack) / (a - b)) - pad);
    if (b > slack) *hi = least(*hi, begin + width * ((slack - a) / (b - a)) + pad);
  }
  return *lo <= *hi;
}

// Over the part of the box that lies in the domain: false if g cannot vanish; otherwise the box shrinks.
static bool narrow(const tbCcdMap* F, const Slice* g, Box* b)
{
  double c[2], u[2], v[2];
  Range U[2], V[2], at[2], u_end[2], v_end[2];
  for (int e = 0; e < 2; e++) {
    double t = e ? b->hi[0] : b->lo[0];
    c[e] = lerp(g->c, t), u[e] = lerp(g->u, t), v[e] = lerp(g->v, t);
    U[e] = hull(b->lo[1] * u[e], b->hi[1] * u[e]);
    V[e] = hull(b->lo[2] * v[e], b->hi[2] * v[e]);
    at[e] = plus1(plus(U[e], V[e]), c[e]);
  }
  if (misses(join(at[0], at[1]), g->slack)) return false;
  if (F->triangle && b->hi[1] + b->hi[2] > 1) { // the far corner lies outside: two others in its place
    double corner[5][2] = {{b->lo[1], b->lo[2]},
                           {b->hi[1], b->lo[2]},
                           {b->lo[1], b->hi[2]},
                           {b->hi[1], 1 - b->hi[1]},
                           {1 - b->hi[2], b->hi[2]}};
    Range all = {INFINITY, -INFINITY};
    for (int e = 0; e < 2; e++)
      for (int k = 0; k < 5; k++) {
        double x = c[e] + corner[k][0] * u[e] + corner[k][1] * v[e];
        all = join(all, (Range){x, x});
      }
    if (misses(all, g->slack)) return false;
  }
  for (int e = 0; e < 2; e++) {
    double uu = e ? b->hi[1] : b->lo[1], vv = e ? b->hi[2] : b->lo[2];
    u_end[e] = join(plus1(V[0], c[0] + uu * u[0]), plus1(V[1], c[1] + uu * u[1]));
    v_end[e] = join(plus1(U[0], c[0] + vv * v[0]), plus1(U[1], c[1] + vv * v[1]));
  }
  return cut(&b->lo[0], &b->hi[0], at[0], at[1], g->slack) &&
         cut(&b->lo[1], &b->hi[1], u_end[0], u_end[1], g->slack) &&
         cut(&b->lo[2], &b->hi[2], v_end[0], v_end[1], g->slack);
}

// Keeps u + v ≤ 1. False: all of the box is outside.
static bool clip(const tbCcdMap* F, Box* b)
{
  if (!F->triangle) return true;
  if (b->lo[1] + b->lo[2] > 1 + pad) return false;
  b->hi[1] = least(b->hi[1], 1 - b->lo[2] + pad);
  b->hi[2] = least(b->hi[2], 1 - b->lo[1] + pad);
  b->lo[1] = least(b->lo[1], b->hi[1]);
  b->lo[2] = least(b->lo[2], b->hi[2]);
  return true;
}

typedef struct {
  double t, u, v;
  tbVec3 F, Ft, U, V;
} Centre;

static Centre centre_of(const tbCcdMap* F, const Box* b)
{
  Centre c = {
      .t = 0.5 * (b->lo[0] + b->hi[0]), .u = 0.5 * (b->lo[1] + b->hi[1]), .v = 0.5 * (b->lo[2] + b->hi[2])};
  if (F->triangle && c.u + c.v > 1) {
    double sum = c.u + c.v;
    c.u /= sum, c.v /= sum;
  }
  tbVec3 a = tb_madd3(tb_madd3(F->C[0], c.u, F->U[0]), c.v, F->V[0]);
  tbVec3 z = tb_madd3(tb_madd3(F->C[1], c.u, F->U[1]), c.v, F->V[1]);
  c.F = tb_lerp3(a, z, c.t);
  c.Ft = tb_sub3(z, a);
  c.U = tb_lerp3(F->U[0], F->U[1], c.t);
  c.V = tb_lerp3(F->V[0], F->V[1], c.t);
  return c;
}

static bool test(const tbCcdMap* F, tbVec3 d, Box* b)
{
  Slice g = slice(F, d);
  return narrow(F, &g, b);
}

// False: the box holds no contact. Otherwise it may have become smaller.
static bool reduce(const tbCcdMap* F, const Centre* c, Box* b)
{
  if (!test(F, c->F, b)) return false;
  tbVec3 n = tb_cross3(c->U, c->V), p = tb_cross3(c->V, c->Ft), q = tb_cross3(c->Ft, c->U);
  if (!test(F, n, b) || !test(F, p, b) || !test(F, q, b)) return false;
  if (F->triangle && b->hi[1] + b->hi[2] > 1 && !test(F, tb_cross3(c->Ft, tb_sub3(c->U, c->V)), b))
    return false;
  tbVec3 m = n;
  if (tb_dot3(p, p) > tb_dot3(m, m)) m = p;
  if (tb_dot3(q, q) > tb_dot3(m, m)) m = q;
  if (!test(F, tb_cross3(m, c->U), b) || !test(F, tb_cross3(m, c->V), b) || !test(F, tb_cross3(m, c->Ft), b))
    return false;
  if (F->triangle && !test(F, tb_cross3(m, tb_sub3(c->U, c->V)), b)) return false;
  return clip(F, b);
}

// The parameter along which F moves most, time first once a contact is known; −1: the box is as small as they
// get.
static int longest(const Centre* c, const Box* b, bool hurry)
{
  if (hurry && b->hi[0] - b->lo[0] > narrowest) return 0;
  double move[3] = {tb_maxabs3(c->Ft), tb_maxabs3(c->U), tb_maxabs3(c->V)}, best = -1;
  int axis = -1;
  for (int k = 0; k < 3; k++) {
    double w = b->hi[k] - b->lo[k];
    if (w > narrowest && w * move[k] > best) best = w * move[k], axis = k;
  }
  return axis;
}

static double volume(const Box* b)
{
  return (b->hi[0] - b->lo[0]) * (b->hi[1] - b->lo[1]) * (b->hi[2] - b->lo[2]);
}

// A contact found at t: nothing later matters.
static void note(tbCcdRoot* root, double t, double u, double v)
{
  if (t < root->t) root->t = t, root->u = u, root->v = v;
}

// Looks for a contact at one moment: the way to tell a hit early where contacts are not isolated. Where there
// is none, the direction between the closest points is the best there is at that moment. False: the box
// holds no contact.
static bool probe(const tbCcdMap* F, double t, Box* b, tbCcdRoot* root)
{
  double u, v;
  if (tb_ccd_closest(F, t, &u, &v) > F->separation + F->delta) return test(F, tb_ccd_at(F, t, u, v), b);
  note(root, t, u, v);
  return true;
}

// In the middle of the box; and once a contact is known, at its begin, from where time advances as far as
// nothing can touch.
static bool look_closer(const tbCcdMap* F, double middle, Box* b, tbCcdRoot* root)
{
  bool known = root->t < INFINITY;
  if (!probe(F, root->boxes == PATIENCE ? 0 : middle, b, root)) return false;
  return !known || probe(F, b->lo[0], b, root);
}

bool tb_ccd_inclusion(const tbCcdMap* F, const tbCcdOptions* o, tbCcdRoot* root)
{
  Box stack[STACK] = {{{0, 0, 0}, {1, 1, 1}}};
  int depth = 1;
  double possible = INFINITY; // the earliest begin of a box that was passed over
  *root = (tbCcdRoot){.t = INFINITY};
  while (depth > 0) {
    Box* b = &stack[depth - 1];
    if (b->lo[0] >= root->t - o->time_tolerance) {
      possible = least(possible, b->lo[0]);
      depth--;
      continue;
    }
    if (root->boxes >= o->max_boxes) break;
    root->boxes++;
    b->hi[0] = least(b->hi[0], root->t);
    Centre c = centre_of(F, b);
    if (tb_norm3(c.F) <= F->separation + F->delta) note(root, c.t, c.u, c.v);
    double before = volume(b);
    if (!reduce(F, &c, b)) {
      depth--;
      continue;
    }
    if (volume(b) < 0.25 * before) continue;
    if (root->boxes >= PATIENCE && !look_closer(F, c.t, b, root)) {
      depth--;
      continue;
    }
    int axis = longest(&c, b, root->t < INFINITY);
    if (axis < 0) { // cannot be told from a contact
      note(root, b->lo[0], b->lo[1], b->lo[2]);
      depth--;
      continue;
    }
    double middle = 0.5 * (b->lo[axis] + b->hi[axis]);
    stack[depth] = *b;
    stack[depth].hi[axis] = middle;
    b->lo[axis] = middle;
    depth++;
  }
  root->capped = depth > 0;
  for (int k = 0; k < depth; k++)
    if (stack[k].lo[0] < root->t) note(root, stack[k].lo[0], stack[k].lo[1], stack[k].lo[2]);
  root->t = least(root->t, possible);
  return root->t <= 1;
}
