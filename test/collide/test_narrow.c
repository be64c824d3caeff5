// SPDX-License-Identifier: Apache-2.0
#include "collide/contact.h"
#include "collide/distance.h"
#include "collide/narrow.h"
#include "oracle.h"

#include <string.h>

typedef struct {
  tbShape a, b;
  tbTransform Ta, Tb;
} Boxes;

static tbShape random_box(tbRandom* r)
{
  double size = exp(test_uniform(r, -2, 2)), h[3];
  for (int k = 0; k < 3; k++) h[k] = size * test_uniform(r, 0.3, 1);
  if (test_below(r, 4) == 0) h[test_below(r, 3)] *= 1e-3; // a sheet
  if (test_below(r, 6) == 0) h[test_below(r, 3)] *= 1e3;  // a beam
  if (test_below(r, 3) == 0) h[0] = h[1] = h[2] = 0.5;
  return oracle_box(h[0], h[1], h[2]);
}

static tbQuat random_turn(tbRandom* r)
{
  tbQuat q = test_below(r, 3) ? oracle_rotation(r) : oracle_quarter_turn(r);
  if (test_below(r, 4) == 0) { // all but parallel
    tbVec3 w = tb_scale3(pow(10, test_uniform(r, -9, -2)), oracle_direction(r));
    q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(w), q));
  }
  return q;
}

// Boxes whose surfaces are `gap` apart along some direction between their centres, or deep in each other.
static Boxes random_boxes(tbRandom* r, double gap)
{
  Boxes p = {random_box(r), random_box(r), {random_turn(r), tb_zero3()}, {random_turn(r), tb_zero3()}};
  if (test_below(r, 10) == 0) return p; // one centre
  tbVec3 d = test_below(r, 3) ? oracle_direction(r) : tb_quat_rotate(p.Ta.q, tb_vec3(0, 0, 1));
  double lo = 0, hi = 1.5 * (tb_norm3(p.a.box.half) + tb_norm3(p.b.box.half));
  for (int k = 0; k < 20; k++) {
    double x = 0.5 * (lo + hi);
    Body A, B;
    p.Tb.x = tb_scale3(x, d);
    oracle_place(&A, &p.a, p.Ta);
    oracle_place(&B, &p.b, p.Tb);
    if (oracle_gap(&A, &B) > (Real)gap) hi = x;
    else lo = x;
  }
  return p;
}

static void narrow(const Boxes* p, double margin, tbPairHint* hint, tbNarrowManifold* out)
{
  tbNarrowShape a, b;
  tb_narrow_shape(&p->a, p->Ta, &a);
  tb_narrow_shape(&p->b, p->Tb, &b);
  memset(out, 0, sizeof *out);
  CHECK(tb_narrow(&a, &b, margin, TB_NARROW_POINTS, hint, out));
}

static double least_half(const Boxes* p)
{
  tbVec3 m = tb_min3(p->a.box.half, p->b.box.half);
  return fmin(m.x, fmin(m.y, m.z));
}

static double size_of(const Boxes* p) { return tb_norm3(p->a.box.half) + tb_norm3(p->b.box.half); }

static double least_gap(const tbNarrowManifold* m)
{
  double least = INFINITY;
  for (int i = 0; i < m->n; i++) least = fmin(least, m->point[i].gap);
  return least;
}

static bool is_of_edges(const Boxes* p, tbVec3 normal)
{
  double most = 0;
  for (int k = 0; k < 3; k++) {
    tbVec3 e = tb_vec3(k == 0, k == 1, k == 2);
    most = fmax(most, fabs(tb_dot3(normal, tb_quat_rotate(p->Ta.q, e))));
    most = fmax(most, fabs(tb_dot3(normal, tb_quat_rotate(p->Tb.q, e))));
  }
  return most < 1 - 1e-9;
}

// Each point lies between the two surfaces, half the gap from either. Corners of faces that come along with a
// pair of edges do so along the normal of the face: along that of the edges they are off by less than the
// gap.
static void check_points(const Boxes* p, const Body* A, const Body* B, double margin,
                         const tbNarrowManifold* m)
{
  double near = 2e-3 * least_half(p) + 1e-9 * size_of(p), off = 0;
  for (int i = 0; i < m->n; i++) {
    const tbNarrowPoint* q = &m->point[i];
    CHECK(q->gap <= margin);
    Point on_a = oracle_point(tb_madd3(q->position, -0.5 * q->gap, m->normal)),
          on_b = oracle_point(tb_madd3(q->position, 0.5 * q->gap, m->normal));
    double away = fmax((double)oracle_off_surface(A, on_a), (double)oracle_off_surface(B, on_b));
    bool along_with = q->gap > least_gap(m) && is_of_edges(p, m->normal);
    off = fmax(off, along_with ? away - fabs(q->gap) : away);
    for (int k = 0; k < i; k++) CHECK(m->point[k].feature != q->feature);
  }
  CHECK_NEAR(off, 0, near);
  CHECK_NEAR(tb_norm3(m->normal), 1, 1e-12);
  // no axis is wider by more than a tie
  double slab = (double)oracle_slab(A, B, oracle_point(m->normal));
  CHECK(slab >= fmin((double)oracle_depth(A, B), margin) - near);
}

LONG_TEST(box_box_points_lie_between_the_surfaces_along_the_widest_gap)
{
  tbRandom r = test_random(11);
  int points[6] = {0}, trials = test_quick() ? 200 : 800;
  for (int k = 0; k < trials; k++) {
    double margin = test_uniform(&r, 0, 0.05), gap = test_uniform(&r, -0.3, 0.06);
    Boxes p = random_boxes(&r, gap);
    tbPairHint hint = {0};
    tbNarrowManifold m;
    Body A, B;
    oracle_place(&A, &p.a, p.Ta);
    oracle_place(&B, &p.b, p.Tb);
    narrow(&p, margin, &hint, &m);
    double truth = (double)oracle_gap(&A, &B), slop = 1e-9 * size_of(&p);
    REQUIRE(m.n <= TB_NARROW_POINTS);
    points[m.n]++;
    if (truth <= margin - slop) CHECK(m.n > 0);
    if ((double)oracle_depth(&A, &B) > margin + slop) CHECK(m.n == 0);
    if (m.n > 0) check_points(&p, &A, &B, margin, &m);
  }
  for (int n = 0; n <= TB_NARROW_POINTS; n++) CHECK(points[n] > trials / 150);
}

// A cube a little above another one, both leaning the least bit: edges are closest, but all four corners of
// the faces are within the margin and come along, each with a gap close to its height over the face.
TEST(box_box_edges_bring_the_corners_of_their_faces)
{
  int edges = 0;
  for (int k = 0; k < 40; k++) {
    double lean = 0.02 + 0.004 * k;
    Boxes p = {oracle_box(0.5, 0.5, 0.5),
               oracle_box(0.5, 0.5, 0.5),
               {{1, 0, 0, 0}, {0, 0, 0}},
               {tb_quat_exp(tb_vec3(0.8 * lean, lean, 0)), {0.3, 0.2, 1.02 + 0.5 * lean}}};
    p.Tb.q = tb_quat_mul(p.Tb.q, tb_quat_exp(tb_vec3(0, 0, 0.5)));
    tbPairHint hint = {0};
    tbNarrowManifold m;
    narrow(&p, 0.3, &hint, &m);
    if (!is_of_edges(&p, m.normal)) continue;
    edges++;
    CHECK(m.n >= 3);
    for (int i = 0; i < m.n; i++) {
      tbVec3 on_b = tb_madd3(m.point[i].position, 0.5 * m.point[i].gap, m.normal);
      CHECK_NEAR(m.point[i].gap, on_b.z - 0.5, 0.1 * m.point[i].gap + 1e-3);
    }
  }
  CHECK(edges > 5);
}

static bool same(const tbNarrowManifold* a, const tbNarrowManifold* b)
{
  if (a->n != b->n || (a->n && memcmp(&a->normal, &b->normal, sizeof a->normal))) return false;
  for (int i = 0; i < a->n; i++)
    if (memcmp(&a->point[i], &b->point[i], sizeof a->point[i])) return false;
  return true;
}

// A cube over another, turned about the vertical: an octagon. Where all of its corners are asked for, the
// four that hold best come first, as without the others.
TEST(box_box_has_more_corners_behind_the_best_four)
{
  for (int k = 1; k < 15; k++) {
    Boxes p = {oracle_box(0.5, 0.5, 0.5),
               oracle_box(0.5, 0.5, 0.5),
               {{1, 0, 0, 0}, {0, 0, 0}},
               {tb_quat_exp(tb_vec3(0, 0, 0.1 * k)), {0.002 * k, 0.001 * k, 1.01}}};
    tbPairHint hint = {0};
    tbNarrowManifold few, all;
    tbNarrowShape a, b;
    Body A, B;
    oracle_place(&A, &p.a, p.Ta);
    oracle_place(&B, &p.b, p.Tb);
    narrow(&p, 0.1, &hint, &few);
    tb_narrow_shape(&p.a, p.Ta, &a);
    tb_narrow_shape(&p.b, p.Tb, &b);
    memset(&all, 0, sizeof all);
    REQUIRE(tb_narrow(&a, &b, 0.1, TB_NARROW_MOST, &hint, &all));
    CHECK(few.n == 4 && all.n == 8);
    check_points(&p, &A, &B, 0.1, &all);
    for (int i = 0; i < few.n; i++) CHECK(memcmp(&all.point[i], &few.point[i], sizeof *few.point) == 0);
  }
}

LONG_TEST(box_box_hints_change_nothing)
{
  tbRandom r = test_random(12);
  int spared = 0, trials = test_quick() ? 60 : 300;
  for (int k = 0; k < trials; k++) {
    double margin = test_uniform(&r, 0, 0.05);
    Boxes p = random_boxes(&r, test_below(&r, 2) ? margin : test_uniform(&r, -0.1, 0.2));
    tbPairHint none = {0};
    tbNarrowManifold cold, warm;
    narrow(&p, margin, &none, &cold);
    CHECK(!none.axis || cold.n == 0);
    for (int axis = 1; axis <= 16; axis++) {
      tbPairHint hint = {.axis = (tbBoxHint)axis};
      narrow(&p, margin, &hint, &warm);
      CHECK(same(&warm, &cold));
      spared += cold.n == 0 && hint.axis == axis;
    }
  }
  CHECK(spared > trials / 3);
}

LONG_TEST(box_box_is_the_same_from_the_other_side)
{
  tbRandom r = test_random(13);
  for (int k = 0; k < (test_quick() ? 60 : 300); k++) {
    Boxes p = random_boxes(&r, test_uniform(&r, -0.3, 0.05)), q = {p.b, p.a, p.Tb, p.Ta};
    tbPairHint hint_p = {0}, hint_q = {0};
    tbNarrowManifold m, w;
    narrow(&p, 0.05, &hint_p, &m);
    narrow(&q, 0.05, &hint_q, &w);
    w.normal = tb_neg3(w.normal);
    for (int i = 0; i < w.n; i++) w.point[i].feature = w.point[i].feature << 32 | w.point[i].feature >> 32;
    if (memcmp(&p.a, &p.b, sizeof p.a) || tb_maxabs3(p.Tb.x) > 0) CHECK(same(&m, &w));
    narrow(&q, 0.05, &hint_p, &w); // and a hint from there
    CHECK(w.n == m.n);
  }
}

TEST(box_box_far_from_the_origin_is_as_near_it)
{
  tbRandom r = test_random(14);
  tbVec3 away = tb_vec3(0x1p20, -0x1p20, 0x1p20); // about 1e6 m
  for (int k = 0; k < 100; k++) {
    Boxes p = random_boxes(&r, test_uniform(&r, -0.2, 0.04)), q;
    p.Tb.x = tb_scale3(0x1p-30, tb_vec3(nearbyint(p.Tb.x.x * 0x1p30), nearbyint(p.Tb.x.y * 0x1p30),
                                        nearbyint(p.Tb.x.z * 0x1p30))); // exact after the move, too
    q = p;
    q.Ta.x = tb_add3(q.Ta.x, away), q.Tb.x = tb_add3(q.Tb.x, away);
    tbPairHint hint = {0};
    tbNarrowManifold m, w;
    narrow(&p, 0.05, &hint, &m);
    narrow(&q, 0.05, &hint, &w);
    REQUIRE(m.n == w.n);
    for (int i = 0; i < m.n; i++) {
      CHECK(m.point[i].feature == w.point[i].feature);
      CHECK_NEAR(w.point[i].gap, m.point[i].gap, 0);
      CHECK_NEAR(tb_distance3(tb_sub3(w.point[i].position, away), m.point[i].position), 0, 1e-9);
    }
  }
}

// A cube that lies on a plate, creeps and rocks, keeps the names of its points.
TEST(box_box_names_stay_while_a_box_creeps)
{
  Boxes p = {oracle_box(0.5, 0.5, 0.5),
             oracle_box(5, 5, 0.5),
             {{1, 0, 0, 0}, {0.3, 0.2, 1}},
             {{1, 0, 0, 0}, {0, 0, 0}}};
  uint64_t name[4] = {0};
  for (int k = 0; k < 200; k++) {
    tbPairHint hint = {0};
    tbNarrowManifold m;
    p.Ta.x.x += 1e-3;
    p.Ta.x.z = 1 + 1e-4 * sin(k);
    p.Ta.q = tb_quat_normalize(tb_quat_exp(tb_vec3(2e-3 * sin(0.7 * k), 2e-3 * cos(1.3 * k), 0.01 * k)));
    narrow(&p, 0.02, &hint, &m);
    REQUIRE(m.n == 4);
    for (int i = 0; i < 4; i++) {
      bool known = k == 0;
      for (int j = 0; j < 4; j++) known |= name[j] == m.point[i].feature;
      CHECK(known);
    }
    for (int i = 0; k == 0 && i < 4; i++) name[i] = m.point[i].feature;
  }
}

// Every pair of convex types: the points of tb_collide, or four of them; hints change nothing; meshes are
// refused.
TEST(narrow_has_points_of_tb_collide_for_other_shapes)
{
  tbRandom r = test_random(15);
  tbContext ctx = tb_default_context();
  OracleHull hull;
  tbVec3 cloud[10];
  tbArray all = TB_ARRAY(tbContactPoint);
  for (int i = 0; i < 10; i++) cloud[i] = tb_scale3(0.6, oracle_direction(&r));
  oracle_hull(&hull, cloud, 10);
  tbShape shape[] = {oracle_sphere(0.5),        oracle_box(0.5, 0.4, 0.3), oracle_capsule(0.3, 0.5),
                     oracle_cylinder(0.4, 0.5), oracle_convex(&hull),      oracle_plane(tb_vec3(0, 0, 1), 0)};
  int met = 0, spared = 0;
  for (int k = 0; k < 4000; k++) {
    int i = test_below(&r, 5), j = test_below(&r, 6);
    if (i == 1 && j == 1) continue;
    Boxes p = {shape[i], shape[j], {oracle_rotation(&r), tb_zero3()}, {oracle_rotation(&r), tb_zero3()}};
    p.Tb.x = tb_scale3(test_uniform(&r, 0.2, 1.6), oracle_direction(&r));
    tbPairHint hint = {0};
    tbNarrowManifold m, again;
    narrow(&p, 0.05, &hint, &m);
    all.count = 0;
    CHECK_OK(&ctx, tb_collide(&ctx, &p.a, p.Ta, &p.b, p.Tb, 0.05, &all));
    const tbContactPoint* q = all.data;
    CHECK((m.n == 0) == (all.count == 0) && (m.n == (int)all.count || m.n <= TB_NARROW_POINTS));
    double least = INFINITY;
    for (size_t c = 0; c < all.count; c++) least = fmin(least, q[c].gap);
    if (m.n > 0) CHECK_NEAR(least_gap(&m), least, 2e-3);
    narrow(&p, 0.05, &hint, &again);
    CHECK(same(&m, &again));
    hint = (tbPairHint){.known = true, .n = {(float)p.Tb.x.x, (float)p.Tb.x.y, (float)p.Tb.x.z}}; // any
    narrow(&p, 0.05, &hint, &again);
    CHECK(same(&m, &again));
    met += m.n > 0;
    spared += hint.known && m.n == 0;
  }
  CHECK(met > 500 && spared > 200);
  tb_array_free(&ctx, &all);
}

// Apart, the bound is the distance, with a direction that proves it.
TEST(distance_of_two_boxes_is_the_truth)
{
  tbRandom r = test_random(16);
  for (int k = 0; k < (test_quick() ? 60 : 400); k++) {
    Boxes p = random_boxes(&r, test_uniform(&r, -0.02, 0.5));
    Body A, B;
    tbVec3 n;
    oracle_place(&A, &p.a, p.Ta);
    oracle_place(&B, &p.b, p.Tb);
    double truth = (double)oracle_gap(&A, &B), d = tb_distance(&p.a, p.Ta, &p.b, p.Tb, &n),
           slop = 1e-9 * size_of(&p);
    if (truth > slop) {
      CHECK_NEAR(d, truth, slop);
      CHECK((double)oracle_slab(&A, &B, oracle_point(n)) >= d);
    }
    if (truth < -slop) CHECK(d <= 0);
    tbPairHint hint = {0}; // and the axes say apart only where they are
    tbNarrowShape a, b;
    tb_narrow_shape(&p.a, p.Ta, &a);
    tb_narrow_shape(&p.b, p.Tb, &b);
    double margin = test_uniform(&r, 0, 0.4);
    if (tb_narrow_apart(&a, &b, margin, &hint)) CHECK(truth > margin);
    else CHECK((double)oracle_depth(&A, &B) <= margin + slop);
  }
}
