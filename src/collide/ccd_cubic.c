// SPDX-License-Identifier: Apache-2.0
// Coplanarity (Provot 1997; course §2.2.2–3): four points meet only when they lie in one plane, that is at a
// root of the cubic  f(t) = det[C, U, V](t).
//
// The roots of the derivative cut [0, 1] into pieces on which f is monotone; each piece with a change of sign
// holds one root, found by bisection with Newton steps. Ends of pieces where f vanishes to rounding, double
// roots among them, are candidates as well. At each candidate, earliest first, the closest points of the
// features are compared with the separation, with 1e-10 of the query's extent to spare for rounding.
//
// Cost. Two evaluations of a cubic per step, some ten steps a root; below 0.5 µs.
// Limits. Motion within one plane (f = 0 for all t) is only looked at where pieces end. Near a multiple root
// t is known to 1e-5 only, and contacts are missed. A separation counts at coplanar moments alone.
#include "collide/ccd_map.h"

typedef struct {
  double a[4]; // Σ a_k t^k
  double noise;
} Cubic;

static double value(const Cubic* f, double t)
{
  return ((f->a[3] * t + f->a[2]) * t + f->a[1]) * t + f->a[0];
}
static double slope(const Cubic* f, double t) { return (3 * f->a[3] * t + 2 * f->a[2]) * t + f->a[1]; }

static Cubic coplanarity(const tbCcdMap* F)
{
  tbVec3 c = F->C[0], u = F->U[0], v = F->V[0];
  tbVec3 dc = tb_sub3(F->C[1], c), du = tb_sub3(F->U[1], u), dv = tb_sub3(F->V[1], v);
  tbVec3 n0 = tb_cross3(u, v), n1 = tb_add3(tb_cross3(du, v), tb_cross3(u, dv)), n2 = tb_cross3(du, dv);
  Cubic f = {
      {tb_dot3(c, n0), tb_dot3(dc, n0) + tb_dot3(c, n1), tb_dot3(dc, n1) + tb_dot3(c, n2), tb_dot3(dc, n2)},
      0};
  f.noise = 64 * 0x1p-53 * (fabs(f.a[0]) + fabs(f.a[1]) + fabs(f.a[2]) + fabs(f.a[3])) + 1e-18;
  return f;
}

// Roots of the derivative in (0, 1), ascending.
static int turning_points(const Cubic* f, double out[2])
{
  double a = 3 * f->a[3], b = f->a[2], c = f->a[1], disc = b * b - a * c; // a t² + 2 b t + c
  if (disc < 0) return 0;
  double q = -(b + copysign(sqrt(disc), b)), root[2] = {q / a, c / q};
  int n = 0;
  for (int k = 0; k < 2; k++)
    if (root[k] > 0 && root[k] < 1) out[n++] = root[k]; // false for NaN and infinities
  if (n == 2 && out[0] > out[1]) {
    double first = out[1];
    out[1] = out[0], out[0] = first;
  }
  return n;
}

// f changes sign between lo and hi and is monotone.
static double root_between(const Cubic* f, double lo, double hi)
{
  double sign = value(f, lo) < 0 ? 1 : -1, t = 0.5 * (lo + hi);
  for (int k = 0; k < 80 && hi - lo > 0x1p-52; k++) {
    double y = sign * value(f, t);
    if (y < 0) lo = t;
    else hi = t;
    double next = t - y / (sign * slope(f, t));
    bool inside = next > lo && next < hi && k % 4 != 3; // every fourth step halves, whatever Newton says
    if (!inside) next = 0.5 * (lo + hi);
    if (fabs(next - t) < 0x1p-53) break;
    t = next;
  }
  return t;
}

bool tb_ccd_cubic(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root)
{
  (void)options;
  Cubic f = coplanarity(F);
  double cut[4] = {0}, candidate[7];
  int cuts = 1 + turning_points(&f, cut + 1), candidates = 0;
  cut[cuts++] = 1;
  for (int k = 0; k < cuts; k++) {
    if (fabs(value(&f, cut[k])) <= f.noise) candidate[candidates++] = cut[k];
    else if (k + 1 < cuts && value(&f, cut[k]) * value(&f, cut[k + 1]) < 0)
      candidate[candidates++] = root_between(&f, cut[k], cut[k + 1]);
  }
  *root = (tbCcdRoot){.boxes = candidates};
  double reach = F->separation + fmax(F->delta, 1e-10);
  for (int k = 0; k < candidates; k++) {
    root->t = candidate[k];
    if (tb_ccd_closest(F, root->t, &root->u, &root->v) <= reach) return true;
  }
  return false;
}
