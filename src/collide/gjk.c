// SPDX-License-Identifier: Apache-2.0
// Distance of convex sets by the Gilbert–Johnson–Keerthi algorithm (1988).
//
// The set B − A is approached by simplices of its support points: from the point v of the simplex closest to
// the origin, the farthest support point against v is added and the corners that v does not need are dropped.
// The slab v·w/‖v‖ of each support point bounds the distance from below, ‖v‖ from above.
//
// The closest point of a simplex is searched among its features rather than decided by signs alone: each
// candidate is computed and the smallest taken, so that a needle-shaped simplex whose signs are noise costs
// a little accuracy and never a wrong region (compare Montanari, Petrinic, Barbieri, "Improving the GJK
// algorithm for faster and more reliable distance queries", 2017). On a triangle v is taken along its normal,
// on an edge it is made orthogonal to it: directions stay accurate when v is short. The origin counts
// as inside a tetrahedron only where all four volumes are beyond their rounding errors. Every step must
// shorten v; the first that does not ends the search.
//
// Cost      3 to 6 iterations between small polytopes, more with curved sides, each two support points.
// Limits    distances below 1e-14 of the size of the sets are overlap.
#include "collide/gjk.h"

#include <string.h>

enum { ITERATIONS = 64 };

tbCore tb_core_at_origin(const tbShape* shape) { return (tbCore){.shape = shape}; }

tbCore tb_core_moved(const tbShape* shape, tbTransform T)
{
  return (tbCore){.shape = shape, .moved = true, .R = tb_quat_mat3(T.q), .x = T.x};
}

tbCore tb_core_of_points(const tbVec3* point, int count) { return (tbCore){.point = point, .count = count}; }

tbVec3 tb_core_farthest(const tbCore* core, tbVec3 d, int* hint, int* feature)
{
  if (!core->shape) {
    int best = 0;
    for (int i = 1; i < core->count; i++)
      if (tb_dot3(core->point[i], d) > tb_dot3(core->point[best], d)) best = i;
    if (feature) *feature = best;
    return core->point[best];
  }
  if (!core->moved) return tb_core_support(core->shape, d, hint, feature);
  tbVec3 p = tb_core_support(core->shape, tb_mat3_tmulv(core->R, d), hint, feature);
  return tb_add3(tb_mat3_mulv(core->R, p), core->x);
}

tbVec3 tb_core_middle(const tbCore* core)
{
  if (!core->shape) return core->point[0];
  tbVec3 c = tb_core_centre(core->shape);
  return core->moved ? tb_add3(tb_mat3_mulv(core->R, c), core->x) : c;
}

// The closest point of a simplex to the origin: which corners, their weights, the point.
typedef struct {
  int n, corner[4];
  double weight[4];
  tbVec3 v;
  double square; // ‖v‖²
} Closest;

static Closest closest_on_edge(const tbGjkVertex* w, int i, int j)
{
  tbVec3 a = w[i].w, e = tb_sub3(w[j].w, a);
  double ee = tb_dot3(e, e), along = -tb_dot3(a, e);
  Closest c = {.n = 1, .corner = {i}, .weight = {1}, .v = a};
  if (along >= ee) {
    c.corner[0] = j;
    c.v = w[j].w;
  } else if (along > 0) {
    double t = along / ee;
    c = (Closest){.n = 2, .corner = {i, j}, .weight = {1 - t, t}};
    c.v = t < 0.5 ? tb_madd3(a, t, e) : tb_madd3(w[j].w, t - 1, e);
    c.v = tb_madd3(c.v, -tb_dot3(c.v, e) / ee, e);
  }
  c.square = tb_dot3(c.v, c.v);
  return c;
}

static Closest nearer(Closest a, Closest b) { return b.square < a.square ? b : a; }

static Closest closest_on_triangle(const tbGjkVertex* w, int i, int j, int k)
{
  tbVec3 a = w[i].w, b = w[j].w, c = w[k].w;
  tbVec3 ab = tb_sub3(b, a), ac = tb_sub3(c, a), bc = tb_sub3(c, b), N = tb_cross3(ab, ac);
  double NN = tb_dot3(N, N), reach = tb_dot3(N, a);
  if (NN > 0) {
    // Areas of the triangles the origin's shadow makes with the edges, measured from a corner of the edge.
    tbVec3 v = tb_scale3(reach / NN, N), pa = tb_sub3(v, a), pb = tb_sub3(v, b);
    double wc = tb_dot3(N, tb_cross3(ab, pa)), wa = tb_dot3(N, tb_cross3(bc, pb)),
           wb = tb_dot3(N, tb_cross3(pa, ac)), sum = wa + wb + wc;
    if (wa > 0 && wb > 0 && wc > 0)
      return (Closest){.n = 3,
                       .corner = {i, j, k},
                       .weight = {wa / sum, wb / sum, wc / sum},
                       .v = v,
                       .square = tb_dot3(v, v)};
  }
  return nearer(nearer(closest_on_edge(w, i, k), closest_on_edge(w, j, k)), closest_on_edge(w, i, j));
}

// Is the origin on the same side of the plane of a, b, c as d, beyond rounding?
static bool same_side(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 d, double scale)
{
  tbVec3 N = tb_cross3(tb_sub3(b, a), tb_sub3(c, a));
  double far = tb_dot3(N, tb_sub3(d, a)), origin = -tb_dot3(N, a), noise = 1e-15 * scale * tb_norm3(N);
  return fabs(far) > noise && fabs(origin) > noise && (far > 0) == (origin > 0);
}

// The newest corner is the last one; the face without it was the previous simplex.
static Closest closest_on_tetrahedron(const tbGjkVertex* w, double scale)
{
  tbVec3 a = w[0].w, b = w[1].w, c = w[2].w, d = w[3].w;
  if (same_side(a, b, c, d, scale) && same_side(b, c, d, a, scale) && same_side(c, d, a, b, scale) &&
      same_side(d, a, b, c, scale))
    return (Closest){.n = 4, .corner = {0, 1, 2, 3}};
  Closest best = closest_on_triangle(w, 0, 1, 3);
  best = nearer(best, closest_on_triangle(w, 1, 2, 3));
  return nearer(best, closest_on_triangle(w, 0, 2, 3));
}

static Closest closest_on_simplex(const tbGjkVertex* w, int n, double scale)
{
  switch (n) {
  case 1: return (Closest){.n = 1, .weight = {1}, .v = w[0].w, .square = tb_dot3(w[0].w, w[0].w)};
  case 2: return closest_on_edge(w, 0, 1);
  case 3: return closest_on_triangle(w, 0, 1, 2);
  default: return closest_on_tetrahedron(w, scale);
  }
}

static void keep(tbGjk* g, const Closest* c)
{
  tbGjkVertex kept[4];
  for (int i = 0; i < c->n; i++) {
    kept[i] = g->v[c->corner[i]];
    kept[i].weight = c->weight[i];
  }
  memcpy(g->v, kept, (size_t)c->n * sizeof *kept);
  g->n = c->n;
}

static bool has(const tbGjk* g, tbVec3 w)
{
  for (int i = 0; i < g->n; i++)
    if (g->v[i].w.x == w.x && g->v[i].w.y == w.y && g->v[i].w.z == w.z) return true;
  return false;
}

static void finish(tbGjk* g, tbVec3 v, bool overlap)
{
  g->a = g->b = tb_zero3();
  for (int i = 0; i < g->n; i++) {
    g->a = tb_madd3(g->a, g->v[i].weight, g->v[i].a);
    g->b = tb_madd3(g->b, g->v[i].weight, g->v[i].b);
  }
  g->overlap = overlap;
  g->distance = overlap ? 0 : tb_norm3(v);
  g->normal = overlap ? tb_zero3() : tb_normalize3(v);
  g->bound = overlap ? 0 : fmin(g->bound, g->distance);
}

void tb_gjk(const tbCore* a, const tbCore* b, double enough, tbGjk* out)
{
  int hint_a = 0, hint_b = 0;
  double scale = 0, square = INFINITY;
  tbVec3 v = tb_sub3(tb_core_middle(b), tb_core_middle(a));
  if (tb_maxabs3(v) == 0) v = tb_vec3(1, 0, 0);
  out->n = 0;
  out->bound = 0;
  for (int k = 0; k < ITERATIONS; k++) {
    tbGjkVertex s = {.weight = 1};
    s.a = tb_core_farthest(a, v, &hint_a, &s.fa);
    s.b = tb_core_farthest(b, tb_neg3(v), &hint_b, &s.fb);
    s.w = tb_sub3(s.b, s.a);
    scale = fmax(scale, fmax(tb_maxabs3(s.a), tb_maxabs3(s.b)));

    // The slab between the two support planes; done when it is as wide as v is long.
    double slab = tb_dot3(v, s.w) / tb_norm3(v);
    out->bound = fmax(out->bound, slab);
    if (out->n > 0 && (slab > enough || square - tb_dot3(v, s.w) <= 2e-15 * square || has(out, s.w))) break;

    tbGjk old = *out;
    out->v[out->n++] = s;
    Closest c = closest_on_simplex(out->v, out->n, scale);
    if (c.n < 4 && c.square >= square) { // the floor of rounding
      *out = old;
      break;
    }
    keep(out, &c);
    if (c.n == 4 || c.square <= 1e-28 * scale * scale) {
      finish(out, tb_zero3(), true);
      return;
    }
    v = c.v;
    square = c.square;
  }
  finish(out, v, false);
}
