// SPDX-License-Identifier: Apache-2.0
// Every pair of convex types against brute force: 100,000 placements, random and degenerate, of every size.
#include "collide/contact.h"
#include "collide/distance.h"
#include "collide/oracle.h"

#include <math.h>
#include <string.h>

typedef struct {
  tbContext ctx;
  tbRandom random;
  tbArray points, swapped;
  OracleHull hull[2];
  double worst; // error over allowed
  int touching;
} Trial;

typedef struct {
  tbShape a, b;
  tbTransform Ta, Tb;
  double size, margin;
  double tolerance; // of gaps and places, in metres
} Scene;

// Shapes of every proportion; `needle` makes them long or flat by up to 1 : 10⁴.
static double length(tbRandom* r, bool needle, int axis)
{
  double l = test_uniform(r, 0.3, 1.5);
  return needle && axis == 0 ? l * 1e-4 : l;
}

static void random_hull(OracleHull* out, tbRandom* r, bool needle)
{
  tbVec3 p[12];
  int kind = test_below(r, 3), count = kind == 0 ? 8 : kind == 1 ? 4 : 6 + test_below(r, 5);
  double x = length(r, needle, 0), y = length(r, false, 1), z = length(r, false, 2);
  if (needle) kind = 0, count = 8;
  for (int i = 0; i < count; i++) {
    tbVec3 unit = oracle_direction(r);
    if (kind == 0) unit = tb_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    if (kind == 1) unit = tb_vec3(i == 0, i == 1, i == 2);
    p[i] = tb_mul3(unit, tb_vec3(x, y, z));
  }
  if (kind == 1)
    for (int i = 0; i < 4; i++) p[i] = tb_sub3(p[i], tb_vec3(0.2, 0.2, 0.2));
  oracle_hull(out, p, count);
}

static tbShape random_shape(Trial* t, tbShapeType type, int which, bool needle)
{
  tbRandom* r = &t->random;
  switch (type) {
  case TB_SHAPE_SPHERE: return oracle_sphere(length(r, false, 0));
  case TB_SHAPE_BOX: {
    double x = length(r, needle, 0), y = length(r, false, 1), z = length(r, false, 2);
    return test_below(r, 2) ? oracle_box(x, y, z) : oracle_box(z, y, x);
  }
  case TB_SHAPE_CAPSULE: {
    double radius = length(r, needle, 0);
    return oracle_capsule(radius, length(r, false, 1));
  }
  case TB_SHAPE_CYLINDER: {
    double radius = length(r, needle && test_below(r, 2), 0), half = length(r, needle, 0);
    return oracle_cylinder(radius, half);
  }
  case TB_SHAPE_PLANE: return oracle_plane(oracle_direction(r), test_uniform(r, -1, 1));
  default: random_hull(&t->hull[which], r, needle); return oracle_convex(&t->hull[which]);
  }
}

static void scale_shape(tbShape* s, OracleHull* hull, double k)
{
  s->pose.x = tb_scale3(k, s->pose.x);
  switch (s->type) {
  case TB_SHAPE_SPHERE: s->sphere.radius *= k; break;
  case TB_SHAPE_BOX: s->box.half = tb_scale3(k, s->box.half); break;
  case TB_SHAPE_CAPSULE: s->capsule.radius *= k, s->capsule.half *= k; break;
  case TB_SHAPE_CYLINDER: s->cylinder.radius *= k, s->cylinder.half *= k; break;
  case TB_SHAPE_PLANE: s->plane.offset *= k; break;
  default:
    for (int i = 0; i < hull->hull.nvertex; i++) hull->vertex[i] = tb_scale3(k, hull->vertex[i]);
    for (int f = 0; f < hull->hull.nface; f++) hull->face_offset[f] *= k;
    hull->hull.centre = tb_scale3(k, hull->hull.centre);
    hull->hull.radius *= k;
  }
}

// Moves B along d until the slab along d has the width `gap`.
static void bring_together(Scene* s, tbVec3 d, double gap)
{
  Body a, b;
  oracle_place(&a, &s->a, s->Ta);
  oracle_place(&b, &s->b, s->Tb);
  Real slab = oracle_slab(&a, &b, oracle_point(d));
  if (isfinite((double)slab)) s->Tb.x = tb_madd3(s->Tb.x, gap - (double)slab, d);
}

static double little(tbRandom* r) // 0, rounding, or small, of either sign
{
  static const double sizes[] = {0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 0.1};
  double s = sizes[test_below(r, 8)];
  return test_below(r, 2) ? s : -s;
}

static Scene random_scene(Trial* t, tbShapeType type_a, tbShapeType type_b)
{
  tbRandom* r = &t->random;
  int kind = test_below(r, 8);
  bool needle = kind == 5;
  Scene s = {.a = random_shape(t, type_a, 0, needle), .b = random_shape(t, type_b, 1, needle)};
  if (kind == 4 && type_a == type_b && type_a != TB_SHAPE_CONVEX) s.b = s.a; // identical shapes
  if (test_below(r, 4) == 0) s.a.pose = tb_transform(oracle_rotation(r), tb_scale3(0.3, oracle_direction(r)));
  bool aligned = kind == 1 || kind == 4 || kind == 6;
  s.Ta = tb_transform(aligned ? oracle_quarter_turn(r) : oracle_rotation(r), tb_zero3());
  s.Tb = tb_transform(aligned ? oracle_quarter_turn(r) : oracle_rotation(r), tb_zero3());
  tbVec3 d = oracle_direction(r);
  if (aligned) d = tb_vec3(test_below(r, 3) - 1, test_below(r, 3) - 1, test_below(r, 3) - 1);
  if (tb_maxabs3(d) == 0) d = tb_vec3(0, 0, 1);
  d = tb_normalize3(d);
  if (kind == 6) { // nearly aligned
    tbVec3 tilt = tb_scale3(fabs(little(r)), oracle_direction(r));
    s.Tb.q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(tilt), s.Tb.q));
  }
  if (kind == 2) s.Tb.x = tb_scale3(test_uniform(r, 0, 2.5), d); // anywhere
  else if (kind != 3)                                            // kind 3: centres coincide
    bring_together(&s, d, kind == 0 ? test_uniform(r, -0.5, 0.3) : little(r));
  if (kind == 1 && test_below(r, 2)) // and aside, by halves: corners over edges and corners
    s.Tb.x = tb_madd3(s.Tb.x, 0.5 * test_below(r, 4), tb_vec3(d.y, d.z, d.x));

  double k = pow(10, test_below(r, 3) ? 0 : test_uniform(r, -6, 6)), far = test_below(r, 4) ? 0 : 1e3;
  scale_shape(&s.a, &t->hull[0], k);
  scale_shape(&s.b, &t->hull[1], k);
  tbVec3 away = tb_scale3(k * far, oracle_direction(r));
  s.Ta.x = tb_madd3(away, k, s.Ta.x);
  s.Tb.x = tb_madd3(away, k, s.Tb.x);
  s.size = k;
  s.margin = test_below(r, 3) ? k * test_uniform(r, 0, 0.3) : 0;
  bool curved = type_a == TB_SHAPE_CYLINDER || type_b == TB_SHAPE_CYLINDER;
  s.tolerance = k * ((curved ? 1e-7 : 1e-9) + 1e-15 * far);
  return s;
}

static void note(Trial* t, double error, double allowed)
{
  if (!(error <= allowed * t->worst)) t->worst = error / allowed;
}

// Points that must hold whatever the pair: unit normal, gap along it, both ends on their surfaces, names.
static void check_points(Trial* t, const Scene* s, const Body* a, const Body* b)
{
  const tbContactPoint* p = t->points.data;
  CHECK(t->points.count <= TB_MANIFOLD_POINTS);
  for (size_t i = 0; i < t->points.count; i++) {
    note(t, fabs(tb_norm3(p[i].normal) - 1), 1e-12);
    note(t, fabs(tb_dot3(tb_sub3(p[i].b, p[i].a), p[i].normal) - p[i].gap), s->tolerance);
    note(t, (double)oracle_off_surface(a, oracle_point(p[i].a)), 3 * s->tolerance);
    note(t, (double)oracle_off_surface(b, oracle_point(p[i].b)), 3 * s->tolerance);
    note(t, tb_distance3(p[i].normal, p[0].normal), 1e-15);
    CHECK(p[i].gap <= s->margin);
    for (size_t k = 0; k < i; k++) {
      CHECK(p[i].feature != p[k].feature);
      CHECK(tb_distance3(p[i].a, p[k].a) > 1e-8 * s->size);
    }
  }
}

// Swapping the shapes swaps everything, bit for bit.
static void check_swap(Trial* t, const Scene* s)
{
  t->swapped.count = 0;
  CHECK_OK(&t->ctx, tb_collide(&t->ctx, &s->b, s->Tb, &s->a, s->Ta, s->margin, &t->swapped));
  CHECK(t->swapped.count == t->points.count);
  for (size_t i = 0; i < t->points.count && i < t->swapped.count; i++) {
    tbContactPoint p = ((tbContactPoint*)t->points.data)[i], q = ((tbContactPoint*)t->swapped.data)[i];
    q = (tbContactPoint){q.b, q.a, tb_neg3(q.normal), q.gap, q.feature << 32 | q.feature >> 32};
    CHECK(p.gap == q.gap && p.feature == q.feature && tb_distance3(p.a, q.a) == 0 &&
          tb_distance3(p.b, q.b) == 0 && tb_distance3(p.normal, q.normal) == 0);
  }
}

static double least_gap(const tbArray* points)
{
  double least = INFINITY;
  for (size_t i = 0; i < points->count; i++)
    least = fmin(least, ((const tbContactPoint*)points->data)[i].gap);
  return least;
}

// Is there a direction near n along which the shapes overlap less? (cylinders: no finite list of axes)
static double best_nearby(Trial* t, const Body* a, const Body* b, tbVec3 n, double slab)
{
  for (double step = 1; step > 1e-6; step *= 0.3)
    for (int k = 0; k < 12; k++) {
      tbVec3 m = tb_normalize3(tb_madd3(n, step, oracle_direction(&t->random)));
      slab = fmax(slab, (double)oracle_slab(a, b, oracle_point(m)));
    }
  return slab;
}

// Moving both alike moves the answer.
static void check_motion(Trial* t, const Scene* s, double least)
{
  tbTransform M = tb_transform(oracle_rotation(&t->random), tb_scale3(s->size, oracle_direction(&t->random)));
  tbVec3 n = t->points.count ? ((tbContactPoint*)t->points.data)->normal : tb_zero3();
  t->swapped.count = 0;
  CHECK_OK(&t->ctx, tb_collide(&t->ctx, &s->a, tb_transform_mul(M, s->Ta), &s->b, tb_transform_mul(M, s->Tb),
                               s->margin, &t->swapped));
  double moved = least_gap(&t->swapped);
  if (fmin(least, moved) < s->margin - s->tolerance) note(t, fabs(moved - least), s->tolerance);
  if (least > 1e-3 * s->size && t->points.count > 0 &&
      t->swapped.count > 0) // where one direction is the best
    note(t, tb_distance3(tb_quat_rotate(M.q, n), ((tbContactPoint*)t->swapped.data)->normal), 2e-3);
}

static void check_scene(Trial* t, const Scene* s)
{
  Body a, b;
  oracle_place(&a, &s->a, s->Ta);
  oracle_place(&b, &s->b, s->Tb);
  t->points.count = 0;
  CHECK_OK(&t->ctx, tb_collide(&t->ctx, &s->a, s->Ta, &s->b, s->Tb, s->margin, &t->points));
  check_points(t, s, &a, &b);
  check_swap(t, s);

  double least = least_gap(&t->points), tolerance = s->tolerance;
  if (oracle_is_polytope(&a) && oracle_is_polytope(&b)) {
    double truth = (double)oracle_gap(&a, &b);
    if (truth < s->margin - tolerance) note(t, fabs(least - truth), tolerance);
    if (truth > s->margin + tolerance) CHECK(t->points.count == 0);
  }
  check_motion(t, s, least);
  if (t->points.count == 0) { // a direction proves it
    tbVec3 n;
    tb_distance(&s->a, s->Ta, &s->b, s->Tb, &n);
    if (s->b.type != TB_SHAPE_PLANE) CHECK(oracle_slab(&a, &b, oracle_point(n)) > s->margin - tolerance);
    return;
  }
  t->touching++;
  // The slab along the normal is a lower bound of the distance and an upper bound of the depth; the
  // points attain it.
  tbVec3 n = ((tbContactPoint*)t->points.data)->normal;
  if (s->b.type == TB_SHAPE_PLANE) { // exact, but only along the plane's own normal
    Point m = {-b.normal[0].x, -b.normal[0].y, -b.normal[0].z};
    note(t, fabs((double)oracle_slab(&a, &b, m) - least), tolerance);
    note(t, tb_distance3(n, tb_vec3((double)m.x, (double)m.y, (double)m.z)), 1e-12);
    return;
  }
  double slab = (double)oracle_slab(&a, &b, oracle_point(n));
  note(t, fabs(slab - least), tolerance);
  if (least < 0) note(t, best_nearby(t, &a, &b, n, slab) - least, 2 * tolerance);
}

static void run(tbShapeType a, tbShapeType b, int trials, uint64_t seed)
{
  Trial t = {.ctx = tb_default_context(), .random = test_random(seed)};
  t.points = t.swapped = TB_ARRAY(tbContactPoint);
  if (test_quick()) trials /= 20;
  for (int i = 0; i < trials; i++) {
    double before = t.worst;
    Scene s = random_scene(&t, a, b);
    check_scene(&t, &s);
    if (t.worst > 1 && t.worst > before)
      test_failed(__FILE__, __LINE__, "trial %d: error %.3g × allowed", i, t.worst);
  }
  CHECK(t.touching > trials / 4);
  CHECK(t.touching < trials);
  tb_array_free(&t.ctx, &t.points);
  tb_array_free(&t.ctx, &t.swapped);
}

TEST(sphere_sphere_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_SPHERE, 4000, 1); }
TEST(sphere_box_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_BOX, 6000, 2); }
TEST(sphere_capsule_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_CAPSULE, 4000, 3); }
TEST(sphere_cylinder_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_CYLINDER, 4000, 4); }
TEST(sphere_hull_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_CONVEX, 4000, 5); }
TEST(sphere_plane_meets_the_truth) { run(TB_SHAPE_SPHERE, TB_SHAPE_PLANE, 3000, 6); }
TEST(box_box_meets_the_truth) { run(TB_SHAPE_BOX, TB_SHAPE_BOX, 12000, 7); }
TEST(box_capsule_meets_the_truth) { run(TB_SHAPE_BOX, TB_SHAPE_CAPSULE, 8000, 8); }
TEST(box_cylinder_meets_the_truth) { run(TB_SHAPE_BOX, TB_SHAPE_CYLINDER, 6000, 9); }
TEST(box_hull_meets_the_truth) { run(TB_SHAPE_BOX, TB_SHAPE_CONVEX, 8000, 10); }
TEST(box_plane_meets_the_truth) { run(TB_SHAPE_BOX, TB_SHAPE_PLANE, 4000, 11); }
TEST(capsule_capsule_meets_the_truth) { run(TB_SHAPE_CAPSULE, TB_SHAPE_CAPSULE, 6000, 12); }
TEST(capsule_cylinder_meets_the_truth) { run(TB_SHAPE_CAPSULE, TB_SHAPE_CYLINDER, 5000, 13); }
TEST(capsule_hull_meets_the_truth) { run(TB_SHAPE_CAPSULE, TB_SHAPE_CONVEX, 5000, 14); }
TEST(capsule_plane_meets_the_truth) { run(TB_SHAPE_CAPSULE, TB_SHAPE_PLANE, 3000, 15); }
TEST(cylinder_cylinder_meets_the_truth) { run(TB_SHAPE_CYLINDER, TB_SHAPE_CYLINDER, 5000, 16); }
TEST(cylinder_hull_meets_the_truth) { run(TB_SHAPE_CYLINDER, TB_SHAPE_CONVEX, 4000, 17); }
TEST(cylinder_plane_meets_the_truth) { run(TB_SHAPE_CYLINDER, TB_SHAPE_PLANE, 4000, 18); }
TEST(hull_hull_meets_the_truth) { run(TB_SHAPE_CONVEX, TB_SHAPE_CONVEX, 6000, 19); }
TEST(hull_plane_meets_the_truth) { run(TB_SHAPE_CONVEX, TB_SHAPE_PLANE, 3000, 20); }
