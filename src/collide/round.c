// SPDX-License-Identifier: Apache-2.0
// Closed forms between round shapes, in the frame of A.
//
// Each finds the closest points p of A's core and q of B's. Where they coincide, or the core lies inside a
// solid, the shortest way out gives the direction instead; ties go to the first axis.
#include "collide/pairs.h"
#include "geometry/convex.h"

// Distances below this part of the size are rounding: the direction between two points that close is noise.
static const double noise = 1e-14;

void tb_collide_sphere_sphere(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                              tbManifold* out)
{
  double ra = a->sphere.radius, rb = b->sphere.radius, d = tb_norm3(B.x);
  tbVec3 n = d > noise * (ra + rb) ? tb_normalize3(B.x) : tb_vec3(0, 0, 1);
  tb_manifold_add(out, margin, tb_scale3(ra, n), n, d - (ra + rb), tb_feature_vertex(0),
                  tb_feature_vertex(0));
}

// A sphere and a point q of B's surface or core in B's frame, the sphere's centre being c there: the gap is
// ‖q − c‖ − radii, or along `out_of`, from the surface to the centre's way out, when they coincide.
static void sphere_and_point(double radius, double other, tbVec3 c, tbVec3 q, double size, tbVec3 out_of,
                             tbTransform B, double margin, uint32_t feature, tbManifold* out)
{
  tbVec3 r = tb_sub3(q, c);
  double d = tb_norm3(r);
  tbVec3 n = tb_quat_rotate(B.q, d > noise * size ? tb_normalize3(r) : tb_neg3(out_of));
  tb_manifold_add(out, margin, tb_scale3(radius, n), n, d - radius - other, tb_feature_vertex(0), feature);
}

static double clamp(double x, double h) { return x < -h ? -h : x > h ? h : x; }

// The feature of a box that a point clamped to it lies on; `at` says where: −1, 0 (between), 1 along each
// axis.
static uint32_t feature_of_box(const int at[3])
{
  int corner = (at[0] > 0) | (at[1] > 0) << 1 | (at[2] > 0) << 2, sides = 0, side = 0, between = 0;
  for (int i = 0; i < 3; i++)
    if (at[i]) sides++, side = i;
    else between = i;
  if (sides == 3) return tb_feature_vertex(corner);
  if (sides == 2) return tb_feature_edge(corner, corner | 1 << between);
  return tb_feature_face(2 * side + (at[side] > 0));
}

void tb_collide_sphere_box(const tbShape* a, const tbShape* b, tbTransform B, double margin, tbManifold* out)
{
  tbVec3 centre = tb_transform_unpoint(B, tb_zero3()), half = b->box.half;
  double c[3], h[3], q[3], way[3] = {0}, radius = a->sphere.radius;
  int at[3];
  bool inside = true;
  tb_store3(c, centre);
  tb_store3(h, half);
  for (int i = 0; i < 3; i++) {
    q[i] = clamp(c[i], h[i]);
    at[i] = c[i] > h[i] ? 1 : c[i] < -h[i] ? -1 : 0;
    inside &= at[i] == 0;
  }
  if (!inside) {
    // A centre on the surface itself looks out through the side it is beyond.
    for (int i = 2; i >= 0; i--)
      if (at[i]) way[0] = way[1] = way[2] = 0, way[i] = at[i];
    sphere_and_point(radius, 0, centre, tb_load3(q), tb_norm3(half), tb_load3(way), B, margin,
                     feature_of_box(at), out);
    return;
  }
  int axis = 0;
  for (int i = 1; i < 3; i++)
    if (h[i] - fabs(c[i]) < h[axis] - fabs(c[axis])) axis = i;
  at[axis] = c[axis] < 0 ? -1 : 1;
  way[axis] = -at[axis];
  tbVec3 n = tb_quat_rotate(B.q, tb_load3(way));
  tb_manifold_add(out, margin, tb_scale3(radius, n), n, fabs(c[axis]) - h[axis] - radius,
                  tb_feature_vertex(0), feature_of_box(at));
}

void tb_collide_sphere_capsule(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                               tbManifold* out)
{
  tbVec3 c = tb_transform_unpoint(B, tb_zero3());
  double half = b->capsule.half;
  uint32_t feature = c.z >= half    ? tb_feature_vertex(1)
                     : c.z <= -half ? tb_feature_vertex(0)
                                    : tb_feature_edge(0, 1);
  sphere_and_point(a->sphere.radius, b->capsule.radius, c, tb_vec3(0, 0, clamp(c.z, half)),
                   b->capsule.radius + half, tb_vec3(1, 0, 0), B, margin, feature, out);
}

void tb_collide_sphere_cylinder(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                                tbManifold* out)
{
  tbVec3 c = tb_transform_unpoint(B, tb_zero3());
  double R = b->cylinder.radius, half = b->cylinder.half, radius = a->sphere.radius, up = c.z < 0 ? -1 : 1;
  double rho = tb_norm3(tb_vec3(c.x, c.y, 0)), height = fabs(c.z) - half, side = rho - R;
  tbVec3 outward = rho > noise * R ? tb_vec3(c.x / rho, c.y / rho, 0) : tb_vec3(1, 0, 0);
  uint32_t cap = tb_feature_face(up > 0), rim = tb_feature_vertex(up > 0), wall = tb_feature_face(2);
  if (height > 0 || side > 0) {
    tbVec3 q = side > 0 ? tb_scale3(R, outward) : tb_vec3(c.x, c.y, 0);
    q.z = clamp(c.z, half);
    sphere_and_point(radius, 0, c, q, R + half, side > 0 ? outward : tb_vec3(0, 0, up), B, margin,
                     height <= 0 ? wall
                     : side > 0  ? rim
                                 : cap,
                     out);
    return;
  }
  bool by_side = side > height;
  tbVec3 n = tb_quat_rotate(B.q, by_side ? tb_neg3(outward) : tb_vec3(0, 0, -up));
  tb_manifold_add(out, margin, tb_scale3(radius, n), n, (by_side ? side : height) - radius,
                  tb_feature_vertex(0), by_side ? wall : cap);
}

// Two segments: A's s·(0, 0, 1), |s| ≤ ha; B's c + t·e, |t| ≤ hb.
typedef struct {
  double ha, hb;
  tbVec3 c, e;
  double s, t, square; // closest so far
} Segments;

static void try_points(Segments* g, double s, double t)
{
  tbVec3 r = tb_sub3(tb_madd3(g->c, t, g->e), tb_vec3(0, 0, s));
  double square = tb_dot3(r, r);
  if (!(square < g->square)) return;
  g->square = square;
  g->s = s;
  g->t = t;
}

// The lines' closest points if they lie on the segments, otherwise an end of one and the other segment.
static void closest_points(Segments* g)
{
  double cosine = g->e.z, along = tb_dot3(g->c, g->e), sine2 = g->e.x * g->e.x + g->e.y * g->e.y;
  g->square = INFINITY;
  if (sine2 > 1e-12) {
    double s = (g->c.z - cosine * along) / sine2, t = s * cosine - along;
    if (fabs(s) <= g->ha && fabs(t) <= g->hb) try_points(g, s, t);
  }
  for (int end = -1; end <= 1; end += 2) {
    try_points(g, end * g->ha, clamp(end * g->ha * cosine - along, g->hb));
    try_points(g, clamp(g->c.z + end * g->hb * cosine, g->ha), end * g->hb);
  }
}

static uint32_t feature_of_segment(double s, double half)
{
  return s >= half ? tb_feature_vertex(1) : s <= -half ? tb_feature_vertex(0) : tb_feature_edge(0, 1);
}

static void add_at(const Segments* g, double ra, double rb, double s, double t, tbVec3 n, double margin,
                   tbManifold* out)
{
  tbVec3 a = tb_vec3(0, 0, s), b = tb_madd3(g->c, t, g->e);
  double na = n.z, nb = -tb_dot3(n, g->e);
  double over = tb_capsule_thickness(ra, g->ha - (na < 0 ? -s : s), fabs(na));
  double under = tb_capsule_thickness(rb, g->hb - (nb < 0 ? -t : t), fabs(nb));
  double gap = tb_dot3(n, tb_sub3(b, a)) - over - under;
  if (!(gap <= margin)) return;
  out->point[out->n++] = (tbContactPoint){
      .a = tb_madd3(a, over, n),
      .b = tb_madd3(b, -under, n),
      .normal = n,
      .gap = gap,
      .feature = tb_feature_pair(feature_of_segment(s, g->ha), feature_of_segment(t, g->hb))};
}

// Segments that run side by side to a thousandth touch along a stretch: its two ends carry it. The closest
// points are kept when they are closer than both.
static void add_stretch(const Segments* g, double ra, double rb, tbVec3 n, double margin, tbManifold* out)
{
  double cosine = g->e.z, reach = g->hb * fabs(cosine);
  double lo = fmax(-g->ha, g->c.z - reach), hi = fmin(g->ha, g->c.z + reach);
  if (g->e.x * g->e.x + g->e.y * g->e.y > 1e-6 || hi - lo <= 1e-6 * (g->ha + g->hb)) return;
  add_at(g, ra, rb, lo, clamp((lo - g->c.z) / cosine, g->hb), n, margin, out);
  add_at(g, ra, rb, hi, clamp((hi - g->c.z) / cosine, g->hb), n, margin, out);
}

void tb_collide_capsule_capsule(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                                tbManifold* out)
{
  double ra = a->capsule.radius, rb = b->capsule.radius;
  Segments g = {.ha = a->capsule.half, .hb = b->capsule.half, .c = B.x};
  g.e = tb_quat_rotate(B.q, tb_vec3(0, 0, 1));
  closest_points(&g);
  tbVec3 r = tb_sub3(tb_madd3(g.c, g.t, g.e), tb_vec3(0, 0, g.s));
  double d = tb_norm3(r), size = ra + rb + g.ha + g.hb;
  if (d - ra - rb > margin) return;
  tbVec3 n = tb_normalize3(r);
  if (d <= noise * size) { // crossing axes: their common normal, on the side of B's centre
    tbVec3 across = tb_vec3(-g.e.y, g.e.x, 0);
    n = tb_maxabs3(across) > noise ? tb_normalize3(across) : tb_vec3(1, 0, 0);
    if (tb_dot3(n, g.c) < 0) n = tb_neg3(n);
  }
  tbManifold stretch;
  stretch.n = 0;
  add_stretch(&g, ra, rb, n, margin, &stretch);
  double least = INFINITY;
  for (int i = 0; i < stretch.n; i++) least = fmin(least, stretch.point[i].gap);
  if (least > d - ra - rb + 1e-10 * size) add_at(&g, ra, rb, g.s, g.t, n, margin, out);
  for (int i = 0; i < stretch.n; i++)
    if (out->n == 0 || stretch.point[i].feature != out->point[0].feature)
      out->point[out->n++] = stretch.point[i];
}
