// SPDX-License-Identifier: Apache-2.0
// Queries as a map F(t, u, v), and answers as a place for a contact. The methods: ccd_inclusion.c,
// ccd_cubic.c, ccd_multivariate.c.
#include "collide/ccd_map.h"
#include "collide/features.h"
#include "geometry/box.h"

#include <string.h>

static const struct {
  const char* name;
  bool (*run)(const tbCcdMap* F, const tbCcdOptions* options, tbCcdRoot* root);
} methods[TB_CCD_METHOD_COUNT] = {
    [TB_CCD_INCLUSION] = {"inclusion", tb_ccd_inclusion},
    [TB_CCD_CUBIC] = {"cubic", tb_ccd_cubic},
    [TB_CCD_MULTIVARIATE] = {"multivariate", tb_ccd_multivariate},
};

const char* tb_ccd_method_name(tbCcdMethod method) { return methods[method].name; }

bool tb_ccd_method_from_name(const char* name, tbCcdMethod* out)
{
  for (int i = 0; i < TB_CCD_METHOD_COUNT; i++)
    if (strcmp(name, methods[i].name) == 0) {
      *out = (tbCcdMethod)i;
      return true;
    }
  return false;
}

tbCcdOptions tb_default_ccd_options(void)
{
  return (tbCcdOptions){.method = TB_CCD_INCLUSION, .time_tolerance = 1e-6, .max_boxes = 2000};
}

static tbVec3 abs3(tbVec3 a) { return tb_vec3(fabs(a.x), fabs(a.y), fabs(a.z)); }

// False: the numbers are not finite, or too large to subtract.
static bool make_map(const tbCcdQuery* q, const tbCcdOptions* o, tbCcdMap* F)
{
  double largest = 0;
  F->triangle = q->kind == TB_CCD_VERTEX_FACE;
  F->size = tb_zero3();
  for (int e = 0; e < 2; e++) {
    const tbVec3* x = e ? q->end : q->start;
    F->C[e] = F->triangle ? tb_sub3(x[0], x[1]) : tb_sub3(x[0], x[2]);
    F->U[e] = F->triangle ? tb_sub3(x[1], x[2]) : tb_sub3(x[1], x[0]);
    F->V[e] = F->triangle ? tb_sub3(x[1], x[3]) : tb_sub3(x[2], x[3]);
    tbVec3 size = tb_add3(tb_add3(abs3(F->C[e]), abs3(F->U[e])), abs3(F->V[e]));
    double sum = size.x + size.y + size.z;
    if (!(sum <= 0x1p1000)) return false; // NaN too
    if (sum > largest) largest = sum;
  }
  int exponent;
  frexp(largest, &exponent);
  double scale = ldexp(1, exponent < -1000 ? 1000 : -exponent);
  for (int e = 0; e < 2; e++) {
    F->C[e] = tb_scale3(scale, F->C[e]);
    F->U[e] = tb_scale3(scale, F->U[e]);
    F->V[e] = tb_scale3(scale, F->V[e]);
    F->size = tb_max3(F->size, tb_add3(tb_add3(abs3(F->C[e]), abs3(F->U[e])), abs3(F->V[e])));
  }
  F->separation = o->separation * scale;
  F->delta = fmax(o->delta * scale, 2e-14);
  return true;
}

// One side of the domain: (u, v) from a by d, for s in [0, 1]. Keeps the closest point so far.
static void closest_on(tbVec3 C, tbVec3 U, tbVec3 V, const double a[2], const double d[2], double best[3])
{
  tbVec3 from = tb_madd3(tb_madd3(C, a[0], U), a[1], V);
  tbVec3 along = tb_madd3(tb_scale3(d[0], U), d[1], V);
  double length = tb_dot3(along, along), s = length > 0 ? -tb_dot3(from, along) / length : 0;
  s = fmin(fmax(s, 0), 1);
  double distance = tb_norm3(tb_madd3(from, s, along));
  if (distance < best[0]) best[0] = distance, best[1] = a[0] + s * d[0], best[2] = a[1] + s * d[1];
}

double tb_ccd_closest(const tbCcdMap* F, double t, double* u, double* v)
{
  static const double begin[4][2] = {{0, 0}, {0, 0}, {1, 0}, {0, 1}};
  static const double square[4][2] = {{1, 0}, {0, 1}, {0, 1}, {1, 0}}, slant[2] = {-1, 1};
  tbVec3 C = tb_lerp3(F->C[0], F->C[1], t), U = tb_lerp3(F->U[0], F->U[1], t),
         V = tb_lerp3(F->V[0], F->V[1], t);
  double best[3] = {INFINITY, 0, 0};
  for (int k = 0; k < (F->triangle ? 3 : 4); k++)
    closest_on(C, U, V, begin[k], F->triangle && k == 2 ? slant : square[k], best);
  double a, b, det = tb_foot_on_plane(C, U, V, &a, &b);
  if (det > 0) { // the plane's closest point, if it lies inside
    double x = a / det, y = b / det;
    double distance = tb_norm3(tb_madd3(tb_madd3(C, x, U), y, V));
    if (x >= 0 && y >= 0 && (F->triangle ? x + y <= 1 : x <= 1 && y <= 1) && distance < best[0])
      best[0] = distance, best[1] = x, best[2] = y;
  }
  *u = best[1], *v = best[2];
  return best[0];
}

// A search ends in a box of (u, v), as wide as it may be for t: over a face of metres that is some hundred
// nanometres, a lean of a thousandth where the gap is a tenth of a millimetre. Where there is a gap at t, the
// closest points say where it is least.
static void sharpen(const tbCcdMap* F, tbCcdRoot* r)
{
  double u, v;
  if (!(F->separation > 4 * F->delta)) return;
  if (tb_ccd_closest(F, r->t, &u, &v) > 0.5 * F->separation) r->u = u, r->v = v;
}

// Unit, along the gap where there is one, otherwise the common normal of what touches; on the side from which
// the features met: that of the gap, else the one they move away from, else the one they started on.
static tbVec3 normal_at(const tbCcdMap* F, const tbCcdRoot* r)
{
  tbVec3 from = tb_ccd_at(F, 0, r->u, r->v), to = tb_ccd_at(F, 1, r->u, r->v);
  tbVec3 gap = tb_lerp3(from, to, r->t), move = tb_sub3(to, from);
  if (tb_norm3(gap) > 0.5 * F->separation && F->separation > 4 * F->delta) return tb_normalize3(gap);
  tbVec3 U = tb_lerp3(F->U[0], F->U[1], r->t), V = tb_lerp3(F->V[0], F->V[1], r->t);
  tbVec3 n = tb_cross3(U, V);
  if (tb_norm3(n) > 1e-9 * tb_norm3(U) * tb_norm3(V)) {
    n = tb_normalize3(n);
    double apart = tb_dot3(n, gap);
    if (fabs(apart) <= 4 * F->delta) apart = -tb_dot3(n, move);
    if (fabs(apart) <= 4 * F->delta) apart = tb_dot3(n, from);
    return apart < 0 ? tb_neg3(n) : n;
  }
  tbVec3 along = tb_normalize3(tb_norm3(U) > tb_norm3(V) ? U : V); // no plane: away from the line
  tbVec3 away = tb_madd3(from, -tb_dot3(from, along), along);
  if (tb_norm3(away) > F->delta) return tb_normalize3(away);
  tbVec3 axis = fabs(along.x) < 0.6 ? tb_vec3(1, 0, 0) : tb_vec3(0, 1, 0);
  return tb_normalize3(tb_madd3(axis, -tb_dot3(axis, along), along));
}

static tbBox swept_box(const tbCcdQuery* q, int begin, int end)
{
  tbBox box = tb_box_empty();
  for (int i = begin; i < end; i++) box = tb_box_add(tb_box_add(box, q->start[i]), q->end[i]);
  return box;
}

// Boxes around the whole motion: most of what a tree of boxes lets through is done with here. A difference
// rounds to 0 only if it is, and may come out larger than it is by its last digit.
static bool swept_apart(const tbCcdQuery* q, double separation)
{
  int first = q->kind == TB_CCD_VERTEX_FACE ? 1 : 2;
  tbBox a = swept_box(q, 0, first), b = swept_box(q, first, 4);
  double s = separation * (1 + 0x1p-50);
  return a.lo.x - b.hi.x > s || b.lo.x - a.hi.x > s || a.lo.y - b.hi.y > s || b.lo.y - a.hi.y > s ||
         a.lo.z - b.hi.z > s || b.lo.z - a.hi.z > s;
}

bool tb_ccd(const tbCcdQuery* query, const tbCcdOptions* options, tbCcdHit* hit)
{
  tbCcdMap F;
  tbCcdRoot r = {0, 0, 0, true, 0};
  bool known = make_map(query, options, &F), found = true;
  if (known && swept_apart(query, options->separation)) r.capped = found = false;
  else if (known) found = methods[options->method].run(&F, options, &r);
  if (!hit) return found;
  *hit = (tbCcdHit){.t = found ? r.t : 1, .capped = r.capped, .boxes = r.boxes};
  if (!found) return false;
  if (known) sharpen(&F, &r);
  double u = r.u, v = r.v;
  double face[4] = {1, fmax(1 - u - v, 0), u, v}, edges[4] = {1 - u, u, 1 - v, v};
  memcpy(hit->weight, query->kind == TB_CCD_VERTEX_FACE ? face : edges, sizeof face);
  hit->normal = known ? normal_at(&F, &r) : tb_vec3(0, 0, 1);
  return true;
}

// Of the places that met, the one of a less the one of b.
static tbVec3 between(const tbCcdQuery* q, const tbVec3 x[4], const double weight[4])
{
  int first = q->kind == TB_CCD_VERTEX_FACE ? 1 : 2;
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < 4; i++) sum = tb_madd3(sum, i < first ? weight[i] : -weight[i], x[i]);
  return sum;
}

bool tb_ccd_backward(const tbCcdQuery* query, double h, const tbCcdOptions* options, tbCcdPast* past)
{
  tbCcdHit hit;
  bool found = tb_ccd(query, options, &hit);
  if (!past) return found;
  *past = (tbCcdPast){.hit = hit};
  if (!found) return false;
  tbVec3 now = between(query, query->end, hit.weight), before = between(query, query->start, hit.weight);
  past->back = (1 - hit.t) * h;
  past->depth = options->separation - tb_dot3(now, hit.normal);
  past->closing = tb_scale3(h > 0 ? 1 / h : 0, tb_sub3(before, now));
  return true;
}

void tb_ccd_before(const tbVec3 now[4], const tbVec3 velocity[4], double h, tbVec3 before[4])
{
  for (int i = 0; i < 4; i++) before[i] = tb_madd3(now[i], -h, velocity[i]);
}
