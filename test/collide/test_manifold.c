// SPDX-License-Identifier: Apache-2.0
// Manifolds: how many points, where, under which names.
#include "collide/contact.h"
#include "collide/manifold.h"
#include "collide/oracle.h"

#include <math.h>

typedef struct {
  tbContext ctx;
  tbArray array;
  const tbContactPoint* p;
  size_t n;
} Contacts;

static Contacts open_contacts(void)
{
  return (Contacts){.ctx = tb_default_context(), .array = TB_ARRAY(tbContactPoint)};
}

static void collide(Contacts* c, tbShape a, tbTransform Ta, tbShape b, tbTransform Tb, double margin)
{
  c->array.count = 0;
  CHECK_OK(&c->ctx, tb_collide(&c->ctx, &a, Ta, &b, Tb, margin, &c->array));
  c->p = c->array.data;
  c->n = c->array.count;
}

static void close_contacts(Contacts* c) { tb_array_free(&c->ctx, &c->array); }

static tbTransform at(double x, double y, double z)
{
  return tb_transform(tb_quat_identity(), tb_vec3(x, y, z));
}

static tbTransform turned(tbVec3 axis, double angle, tbVec3 x)
{
  return tb_transform(tb_quat_exp(tb_scale3(angle, tb_normalize3(axis))), x);
}

static bool has_point(const Contacts* c, tbVec3 a)
{
  for (size_t i = 0; i < c->n; i++)
    if (tb_distance3(c->p[i].a, a) == 0) return true;
  return false;
}

TEST(stacked_boxes_touch_at_the_exact_corners_of_the_overlap)
{
  Contacts c = open_contacts();
  tbShape a = oracle_box(1, 1, 0.5), b = oracle_box(0.5, 2, 0.25);
  collide(&c, a, at(0, 0, 0), b, at(0.75, 0.5, 0.875), 0.25);
  CHECK(c.n == 4);
  for (size_t i = 0; i < c.n; i++) {
    CHECK(c.p[i].gap == 0.125 && c.p[i].normal.z == 1);
    CHECK(c.p[i].a.z == 0.5 && c.p[i].b.z == 0.625);
  }
  CHECK(has_point(&c, tb_vec3(1, 1, 0.5)) && has_point(&c, tb_vec3(1, -1, 0.5)));
  CHECK(has_point(&c, tb_vec3(0.25, 1, 0.5)) && has_point(&c, tb_vec3(0.25, -1, 0.5)));
  collide(&c, a, at(0, 0, 0), oracle_box(1, 1, 1), turned(tb_vec3(0, 0, 1), atan(1), tb_vec3(0, 0, 1.5)), 0);
  CHECK(c.n == 8); // two squares, one turned by 45°
  close_contacts(&c);
}

// A pose moved by rounding noise, of body B.
static tbTransform shaken(tbTransform T, tbRandom* r, double noise)
{
  T.x = tb_madd3(T.x, noise, oracle_direction(r));
  T.q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(noise, oracle_direction(r))), T.q));
  return T;
}

static void keeps_its_points(tbShape a, tbTransform Ta, tbShape b, tbTransform Tb, double margin,
                             double noise, size_t expected)
{
  Contacts c = open_contacts();
  tbRandom r = test_random(5);
  uint64_t feature[TB_MANIFOLD_POINTS];
  collide(&c, a, Ta, b, Tb, margin);
  CHECK_NEAR((double)c.n, (double)expected, 0);
  size_t n = c.n;
  for (size_t i = 0; i < n; i++) feature[i] = c.p[i].feature;
  for (int k = 0; k < 300; k++) {
    collide(&c, a, shaken(Ta, &r, noise), b, shaken(Tb, &r, noise), margin);
    CHECK(c.n == n);
    for (size_t i = 0; i < c.n && i < n; i++) CHECK(c.p[i].feature == feature[i]);
  }
  close_contacts(&c);
}

TEST(resting_shapes_neither_lose_nor_gain_points_by_noise)
{
  OracleHull cube;
  tbVec3 corner[8];
  for (int k = 0; k < 8; k++) corner[k] = tb_vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
  oracle_hull(&cube, corner, 8);
  tbShape box = oracle_box(1, 1, 1), wide = oracle_box(2, 3, 1), hull = oracle_convex(&cube);
  tbShape plane = oracle_plane(tb_vec3(0, 0, 1), 0), capsule = oracle_capsule(0.5, 1),
          cylinder = oracle_cylinder(1, 1);
  tbTransform origin = tb_transform_identity(), up = at(0, 0, 2),
              lying = turned(tb_vec3(1, 0, 0), 2 * atan(1), tb_vec3(0, 0, 1.5));
  tbTransform rolled = lying;
  rolled.x.z = 2;
  for (int sign = -1; sign <= 1; sign++) {
    double gap = sign * 1e-4, margin = 0.01;
    tbTransform over = up, beside = up;
    over.x.z += gap;
    beside.x = tb_vec3(1, 0, 2 + gap);
    lying.x.z = 1.5 + gap;
    rolled.x.z = 2 + gap;
    keeps_its_points(box, origin, box, over, margin, 1e-12, 4);   // corner on corner
    keeps_its_points(box, origin, box, beside, margin, 1e-12, 4); // two shared sides
    keeps_its_points(wide, origin, box, over, margin, 1e-12, 4);  // well inside
    keeps_its_points(hull, origin, box, over, margin, 1e-12, 4);
    keeps_its_points(hull, origin, hull, over, margin, 1e-12, 4);
    keeps_its_points(wide, origin, cylinder, over, margin, 1e-12, 8);
    keeps_its_points(wide, origin, capsule, lying, margin, 1e-12, 2);
    keeps_its_points(wide, origin, cylinder, rolled, margin, 1e-12, 2);
    keeps_its_points(hull, origin, cylinder, rolled, margin, 1e-12, 2);
    keeps_its_points(plane, origin, box, at(0, 0, 1 + gap), margin, 1e-12, 4);
    keeps_its_points(plane, origin, hull, at(0, 0, 1 + gap), margin, 1e-12, 4);
    keeps_its_points(plane, origin, cylinder, at(0, 0, 1 + gap), margin, 1e-12, 8);
    keeps_its_points(plane, origin, cylinder, turned(tb_vec3(1, 0, 0), 2 * atan(1), tb_vec3(0, 0, 1 + gap)),
                     margin, 1e-12, 2);
    keeps_its_points(plane, origin, capsule, turned(tb_vec3(1, 0, 0), 2 * atan(1), tb_vec3(0, 0, 0.5 + gap)),
                     margin, 1e-12, 2);
  }
}

TEST(names_survive_sliding_and_tilting)
{
  tbShape wide = oracle_box(4, 4, 1), box = oracle_box(1, 1, 1), cylinder = oracle_cylinder(1, 1),
          capsule = oracle_capsule(0.5, 1);
  tbTransform origin = tb_transform_identity();
  keeps_its_points(wide, origin, box, at(0.3, 0.2, 2), 0.1, 5e-3, 4);
  keeps_its_points(wide, origin, box, turned(tb_vec3(0, 0, 1), 0.4, tb_vec3(0.3, 0.2, 1.97)), 0.1, 5e-3, 4);
  keeps_its_points(wide, origin, cylinder, at(0.3, 0.2, 2.05), 0.1, 0, 8);
  keeps_its_points(wide, origin, capsule, turned(tb_vec3(1, 0, 0), 2 * atan(1), tb_vec3(0, 0, 1.5)), 0.1,
                   5e-3, 2);
}

TEST(parallel_round_shapes_touch_in_two_points)
{
  Contacts c = open_contacts();
  tbShape capsule = oracle_capsule(0.5, 1), cylinder = oracle_cylinder(0.5, 1);
  collide(&c, capsule, at(0, 0, 0), capsule, at(1, 0, 0.5), 0.01);
  CHECK(c.n == 2);
  collide(&c, cylinder, at(0, 0, 0), cylinder, at(0.999, 0, 0.5), 0.01);
  CHECK(c.n == 2);
  collide(&c, cylinder, at(0, 0, 0), capsule, at(0.6, 0.81, 0.5), 0.02);
  CHECK(c.n == 2);
  for (size_t i = 0; i < c.n; i++) CHECK_NEAR(c.p[i].gap, sqrt(0.6 * 0.6 + 0.81 * 0.81) - 1, 1e-9);
  collide(&c, capsule, at(0, 0, 0), capsule, turned(tb_vec3(1, 0, 0), 1, tb_vec3(0.9, 0, 0)), 0.01);
  CHECK(c.n == 1); // crossing
  close_contacts(&c);
}

TEST(edges_that_cross_touch_in_a_point_under_their_own_names)
{
  Contacts c = open_contacts();
  tbShape box = oracle_box(1, 1, 1);
  tbTransform A = turned(tb_vec3(1, 0, 0), atan(1), tb_zero3()); // an edge up, along x
  tbTransform B =
      turned(tb_vec3(0, 1, 0), atan(1), tb_vec3(0, 0, 2 * sqrt(2) - 0.01)); // an edge down, along y
  collide(&c, box, A, box, B, 0);
  CHECK(c.n == 1);
  CHECK_NEAR(c.p[0].gap, -0.01, 1e-12);
  CHECK_NEAR(c.p[0].normal.z, 1, 1e-12);
  CHECK(c.p[0].feature >> 62 == 1 && (c.p[0].feature >> 30 & 3) == 1); // edge, edge
  CHECK_NEAR(tb_norm3(tb_vec3(c.p[0].a.x, c.p[0].a.y, 0)), 0, 1e-12);
  close_contacts(&c);
}

TEST(coincident_shapes_are_pushed_apart_along_their_shortest_side)
{
  Contacts c = open_contacts();
  tbTransform origin = tb_transform_identity();
  const struct {
    tbShape shape;
    double depth;
  } cases[] = {{oracle_sphere(1), 2},
               {oracle_box(1, 2, 0.5), 1},
               {oracle_capsule(0.5, 1), 1},
               {oracle_cylinder(1, 0.25), 0.5},
               {oracle_cylinder(0.25, 1), 0.5}};
  for (int k = 0; k < 5; k++) {
    collide(&c, cases[k].shape, origin, cases[k].shape, origin, 0);
    CHECK(c.n > 0);
    for (size_t i = 0; i < c.n; i++) CHECK_NEAR(tb_norm3(c.p[i].normal), 1, 1e-12);
    double least = 0;
    for (size_t i = 0; i < c.n; i++) least = fmin(least, c.p[i].gap);
    CHECK_NEAR(least, -cases[k].depth, 1e-9);
  }
  close_contacts(&c);
}

static double hull_slab(const tbHull* a, tbTransform Ta, const tbHull* b, tbTransform Tb, tbVec3 n)
{
  double most = -INFINITY, least = INFINITY;
  for (int i = 0; i < a->nvertex; i++) most = fmax(most, tb_dot3(n, tb_transform_point(Ta, a->vertex[i])));
  for (int i = 0; i < b->nvertex; i++) least = fmin(least, tb_dot3(n, tb_transform_point(Tb, b->vertex[i])));
  return least - most;
}

// The widest slab over the normals of the faces and directions around n.
static double best_slab(const tbHull* a, tbTransform Ta, const tbHull* b, tbTransform Tb, tbVec3 n,
                        tbRandom* r)
{
  double best = -INFINITY;
  for (int f = 0; f < a->nface; f++)
    best = fmax(best, hull_slab(a, Ta, b, Tb, tb_quat_rotate(Ta.q, a->face_normal[f])));
  for (int f = 0; f < b->nface; f++)
    best = fmax(best, hull_slab(a, Ta, b, Tb, tb_neg3(tb_quat_rotate(Tb.q, b->face_normal[f]))));
  for (double step = 1; step > 1e-6; step *= 0.5)
    best = fmax(best, hull_slab(a, Ta, b, Tb, tb_normalize3(tb_madd3(n, step, oracle_direction(r)))));
  return best;
}

TEST(hulls_of_many_faces_meet_along_the_widest_slab)
{
  Contacts c = open_contacts();
  tbRandom r = test_random(11);
  tbHull* hull[2] = {0};
  tbVec3 cloud[120];
  int trials = test_quick() ? 20 : 300, apart = 0, deep = 0;
  for (int h = 0; h < 2; h++) {
    for (int i = 0; i < 120; i++) cloud[i] = tb_mul3(oracle_direction(&r), tb_vec3(1, 0.8, 0.5));
    CHECK_OK(&c.ctx, tb_hull_create(&c.ctx, cloud, 120, &hull[h]));
  }
  for (int k = 0; k < trials && hull[1]; k++) {
    tbTransform A = tb_transform(oracle_rotation(&r), tb_zero3()),
                B = tb_transform(oracle_rotation(&r),
                                 tb_scale3(test_uniform(&r, 0, 2), oracle_direction(&r)));
    collide(&c, tb_shape_convex(hull[0]), A, tb_shape_convex(hull[1]), B, 0.3);
    if (c.n == 0) continue;
    double least = INFINITY;
    for (size_t i = 0; i < c.n; i++) least = fmin(least, c.p[i].gap);
    CHECK_NEAR(hull_slab(hull[0], A, hull[1], B, c.p[0].normal), least, 1e-9);
    CHECK(best_slab(hull[0], A, hull[1], B, c.p[0].normal, &r) <= least + 1e-9);
    if (least > 0) apart++;
    if (least < -0.1) deep++;
  }
  CHECK(apart > trials / 30 && deep > trials / 5);
  tb_hull_free(&c.ctx, hull[0]);
  tb_hull_free(&c.ctx, hull[1]);
  close_contacts(&c);
}

// Of two points at one place, as deep as each other, the one at a corner gives the name, whichever comes
// first and whosever corner it is; of two that are not, the deeper one.
TEST(of_points_at_one_place_the_corner_gives_the_name)
{
  enum { CORNER = 5, EDGE = 1 << 30 | 6, OTHER = 1 << 30 | 7 };
  for (int order = 0; order < 2; order++)
    for (int whose = 0; whose < 2; whose++)
      for (int deeper = 0; deeper < 2; deeper++) {
        tbClipPoint corner = {.fa = whose ? EDGE : CORNER, .fb = whose ? CORNER : EDGE},
                    crossing = {.gap = deeper ? -1e-3 : 0, .fa = OTHER, .fb = OTHER};
        tbClipPoint point[2] = {order ? crossing : corner, order ? corner : crossing};
        tbManifold m;
        tb_manifold_from(point, 2, tb_vec3(0, 0, 1), 1e-6, &m);
        const tbClipPoint* want = deeper ? &crossing : &corner;
        CHECK(m.n == 1 && m.point[0].feature == tb_feature_pair(want->fa, want->fb) &&
              m.point[0].gap == want->gap);
      }
}

TEST(a_failed_push_leaves_the_points_as_they_were)
{
  tbFailingAllocator state = {.countdown = 0, .for_good = true};
  tbContext ctx = test_failing_context(&state);
  tbArray out = TB_ARRAY(tbContactPoint);
  tbShape box = oracle_box(1, 1, 1);
  CHECK(tb_collide(&ctx, &box, at(0, 0, 0), &box, at(0, 0, 2), 0.1, &out) == TB_ERROR_MEMORY);
  CHECK(out.count == 0 && state.alive == 0);
  state.countdown = 1;
  CHECK(tb_collide(&ctx, &box, at(0, 0, 0), &box, at(0, 0, 2), 0.1, &out) == TB_OK);
  CHECK(out.count == 4 && state.total == 1); // one allocation: the array's own
  tb_array_free(&ctx, &out);
}
