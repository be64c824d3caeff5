// SPDX-License-Identifier: Apache-2.0
#include "collide/ccd.h"
#include "ccd_oracle.h"
#include "test.h"

#include <math.h>
#include <string.h>

static bool ask(const tbCcdQuery* q, double separation, tbCcdHit* hit)
{
  tbCcdOptions o = tb_default_ccd_options();
  o.separation = separation;
  return tb_ccd(q, &o, hit);
}

static tbVec3 point(const tbCcdQuery* q, int corner, double t)
{
  return tb_lerp3(q->start[corner], q->end[corner], t);
}

// From the face, or the edge b, to the vertex, or the edge a.
static tbVec3 gap_at(const tbCcdQuery* q, double t, const double w[4])
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < 4; i++) {
    bool first = q->kind == TB_CCD_VERTEX_FACE ? i == 0 : i < 2;
    sum = tb_madd3(sum, first ? w[i] : -w[i], point(q, i, t));
  }
  return sum;
}

static const tbCcdQuery falling_vertex = {TB_CCD_VERTEX_FACE,
                                          {{0.25, 0.5, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                                          {{0.25, 0.5, -1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
static const tbCcdQuery falling_edge = {TB_CCD_EDGE_EDGE,
                                        {{-1, 0, 3}, {3, 0, 3}, {0, -1, 0}, {0, 1, 0}},
                                        {{-1, 0, -1}, {3, 0, -1}, {0, -1, 0}, {0, 1, 0}}};

TEST(every_method_finds_moment_place_and_normal)
{
  for (int m = 0; m < TB_CCD_METHOD_COUNT; m++) {
    tbCcdOptions o = tb_default_ccd_options();
    tbCcdMethod method;
    CHECK(tb_ccd_method_from_name(tb_ccd_method_name((tbCcdMethod)m), &method) && method == (tbCcdMethod)m);
    o.method = method;
    tbCcdHit h;
    REQUIRE(tb_ccd(&falling_vertex, &o, &h));
    CHECK_NEAR(h.t, 0.5, 1e-6);
    double face[4] = {1, 0.25, 0.25, 0.5};
    for (int k = 0; k < 4; k++) CHECK_NEAR(h.weight[k], face[k], 1e-9);
    CHECK_NEAR(h.normal.z, 1, 1e-12);
    REQUIRE(tb_ccd(&falling_edge, &o, &h));
    CHECK_NEAR(h.t, 0.75, 1e-6);
    double edges[4] = {0.75, 0.25, 0.5, 0.5};
    for (int k = 0; k < 4; k++) CHECK_NEAR(h.weight[k], edges[k], 1e-9);
    CHECK_NEAR(h.normal.z, 1, 1e-12);
  }
  tbCcdMethod method;
  CHECK(!tb_ccd_method_from_name("guess", &method));
}

TEST(separation_moves_the_moment_forward)
{
  tbCcdHit h;
  REQUIRE(ask(&falling_vertex, 0.25, &h));
  CHECK(h.t <= 0.375);
  CHECK_NEAR(h.t, 0.375, 2e-6);
  CHECK_NEAR(h.normal.z, 1, 1e-6);
  tbCcdQuery beside = falling_vertex; // passes the slanted edge at a distance of √½
  beside.start[0].x = beside.end[0].x = 1;
  beside.start[0].y = beside.end[0].y = 1;
  CHECK(!ask(&beside, 0.7071, &h));
  REQUIRE(ask(&beside, 0.7072, &h));
  CHECK(h.t < 0.5 && h.t > 0.49);
  CHECK_NEAR(h.normal.x, sqrt(0.5), 0.02);
}

TEST(no_contact_is_missed_or_reported_late)
{
  uint64_t random = 2024;
  int each = test_quick() ? 60 : 400, wrong = 0, late = 0, alarms = 0, contacts = 0, early = 0;
  for (int family = 0; family < EXACT_FAMILIES; family++)
    for (int i = 0; i < each; i++) {
      ExactQuery q = exact_query(&random, family);
      tbCcdQuery query = exact_to_query(&q);
      tbCcdHit h;
      bool found = ask(&query, 0, &h), truth = exact_collides(&q, EXACT_STEPS);
      int64_t before = (int64_t)floor(h.t * EXACT_STEPS) - 1;
      contacts += truth;
      early += h.capped && h.boxes < tb_default_ccd_options().max_boxes;
      wrong += truth && !found;
      alarms += found && !truth;
      late += found && truth && before > 0 && exact_collides(&q, before);
    }
  CHECK(wrong == 0);
  CHECK(late == 0);
  CHECK(early == 0); // searches that gave up with boxes left
  CHECK(alarms <= each / 20);
  CHECK(contacts > 4 * each);
}

TEST(the_oracle_knows_what_was_planted)
{
  uint64_t random = 5;
  for (int i = 0; i < 200; i++) {
    ExactQuery q = exact_query(&random, 2); // one known root, at a quarter of the step
    REQUIRE(exact_collides(&q, EXACT_STEPS));
  }
  ExactQuery miss = {
      .x = {{{1, 2, 4}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, {{1, 2, 1}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}}};
  CHECK(!exact_collides(&miss, EXACT_STEPS));
  miss.x[1][0][2] = -4; // now it falls through at ½
  CHECK(exact_collides(&miss, EXACT_STEPS) && exact_collides(&miss, EXACT_STEPS / 2));
  CHECK(!exact_collides(&miss, EXACT_STEPS / 2 - 1));
  miss.x[0][0][0] = miss.x[1][0][0] = 3; // beyond the slanted edge
  CHECK(!exact_collides(&miss, EXACT_STEPS));
}

// Random queries with a separation, against samples of the distance.
TEST(nothing_comes_closer_than_the_separation_before_the_moment)
{
  tbRandom r = test_random(11);
  int hits = 0, misses = 0, wrong = 0, n = 12;
  for (int i = 0; i < (test_quick() ? 300 : 2000); i++) {
    tbCcdQuery q = {.kind = i & 1 ? TB_CCD_EDGE_EDGE : TB_CCD_VERTEX_FACE};
    for (int k = 0; k < 8; k++)
      *(k < 4 ? &q.start[k] : &q.end[k - 4]) =
          tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
    double s = test_uniform(&r, 0, 0.3);
    tbCcdHit h;
    bool found = ask(&q, s, &h);
    hits += found, misses += !found;
    for (int a = 0; a <= n; a++)
      for (int b = 0; b <= n; b++)
        for (int c = 0; c <= n; c++) {
          double t = (double)a / n * (found ? h.t * (1 - 1e-12) : 1), u = (double)b / n, v = (double)c / n;
          if (q.kind == TB_CCD_VERTEX_FACE && u + v > 1) continue;
          double face[4] = {1, 1 - u - v, u, v}, edges[4] = {1 - u, u, 1 - v, v};
          if (found && h.t == 0) continue;
          wrong += tb_norm3(gap_at(&q, t, q.kind == TB_CCD_VERTEX_FACE ? face : edges)) < s;
        }
    CHECK(!h.capped);
    if (!found) continue;
    double gap = tb_norm3(gap_at(&q, h.t, h.weight));
    CHECK(gap <= s + 1e-4);
    CHECK_NEAR(tb_norm3(h.normal), 1, 1e-12);
  }
  CHECK(wrong == 0);
  CHECK(hits > 100 && misses > 100);
}

TEST(the_origin_and_the_unit_do_not_matter)
{
  uint64_t random = 3;
  for (int i = 0; i < 400; i++) {
    ExactQuery q = exact_query(&random, i % (EXACT_FAMILIES - 1));
    q.shift = 0;
    tbCcdQuery a = exact_to_query(&q);
    q.shift = 200;
    for (int e = 0; e < 8; e++) q.x[e / 4][e % 4][1] += (int64_t)1 << 40;
    tbCcdQuery b = exact_to_query(&q);
    tbCcdHit ha, hb;
    bool same = ask(&a, 0, &ha) == ask(&b, 0, &hb);
    CHECK(same && ha.t == hb.t && ha.boxes == hb.boxes && !ha.capped && !hb.capped);
  }
}

TEST(work_that_runs_out_is_a_hit_no_later_than_the_truth)
{
  tbCcdOptions o = tb_default_ccd_options();
  tbCcdHit h, full;
  uint64_t random = 9;
  for (int i = 0; i < 300; i++) {
    ExactQuery q = exact_query(&random, 2);
    tbCcdQuery query = exact_to_query(&q);
    o.max_boxes = 1 + i % 6;
    REQUIRE(tb_ccd(&query, &o, &h));
    REQUIRE(ask(&query, 0, &full));
    CHECK(h.t <= full.t + 1e-6);
    CHECK(h.boxes <= o.max_boxes);
  }
}

TEST(numbers_that_are_none_are_hits_at_once)
{
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1.7e308};
  for (int k = 0; k < 4; k++) {
    tbCcdQuery q = falling_vertex;
    q.end[2].y = bad[k];
    q.start[0].y = -bad[k];
    tbCcdHit h;
    CHECK(ask(&q, 0, &h) && h.capped && h.t == 0);
  }
  tbCcdQuery tiny = falling_edge, point = {.kind = TB_CCD_VERTEX_FACE};
  for (int k = 0; k < 4; k++) {
    tiny.start[k] = tb_scale3(0x1p-1060, tiny.start[k]);
    tiny.end[k] = tb_scale3(0x1p-1060, tiny.end[k]);
  }
  tbCcdHit h;
  CHECK(ask(&tiny, 0, &h));
  CHECK(ask(&point, 0, &h) && h.t == 0);
  CHECK_NEAR(tb_norm3(h.normal), 1, 1e-12);
}

TEST(normals_point_to_the_side_the_features_came_from)
{
  tbRandom r = test_random(4);
  int hits = 0;
  for (int i = 0; i < 3000; i++) {
    tbCcdQuery q = {.kind = i & 1 ? TB_CCD_EDGE_EDGE : TB_CCD_VERTEX_FACE};
    for (int k = 0; k < 4; k++) {
      q.start[k] = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      tbVec3 by = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      q.end[k] = tb_add3(q.start[k], by);
    }
    tbCcdHit h;
    if (!ask(&q, 0, &h) || h.t < 1e-3) continue;
    hits++;
    // A moment before the contact, the closest features lie on that side.
    CHECK(tb_dot3(h.normal, gap_at(&q, h.t * (1 - 1e-3), h.weight)) > -1e-9);
  }
  CHECK(hits > 100);
}

// A search is content with a box of (u, v): over a face of metres, and a gap of a quarter of a millimetre, a
// normal from there leaned by half a milliradian.
TEST(normals_over_a_large_face_are_its_own)
{
  const tbVec3 a = {25.556263511399251, -10.21157219338787, 6.5269586083528246},
               c = {-11.632861916653763, -24.941438109157129, 6.5269586083528246};
  const tbCcdQuery q = {
      TB_CCD_VERTEX_FACE,
      {{0.22860810284343328, -0.10207511660568588, 0.062424908703563008}, a, tb_neg3(a), c},
      {{0.22804559391637846, -0.10065492614628044, 0.061559862444962345}, a, tb_neg3(a), c}};
  tbCcdOptions o = tb_default_ccd_options();
  o.separation = 0.00027994739278384414, o.delta = o.separation / 64, o.time_tolerance = 1e-4;
  tbCcdHit hit;
  REQUIRE(tb_ccd(&q, &o, &hit));
  tbVec3 n = tb_normalize3(tb_cross3(tb_sub3(c, a), a));
  if (!(tb_distance3(hit.normal, n) < 1e-9))
    test_failed(__FILE__, __LINE__, "the normal leans by %g", tb_distance3(hit.normal, n));
}

TEST(ccd_gives_the_same_bits_everywhere)
{
  uint64_t random = 77, hash = 0;
  for (int i = 0; i < 3000; i++) {
    ExactQuery q = exact_query(&random, i % EXACT_FAMILIES);
    tbCcdQuery query = exact_to_query(&q);
    tbCcdHit h;
    memset(&h, 0, sizeof h);
    ask(&query, i % 3 == 0 ? ldexp(1, q.shift) : 0, &h);
    double numbers[9] = {h.t,        h.weight[0], h.weight[1], h.weight[2], h.weight[3],
                         h.normal.x, h.normal.y,  h.normal.z,  h.boxes};
    for (int k = 0; k < 9; k++) numbers[k] += 0.0; // −0 and 0 are one
    hash = hash * 31 + test_hash(numbers, sizeof numbers);
  }
  if (hash != 0x6720459a7f8e81f8ull) test_failed(__FILE__, __LINE__, "hash %#llx", (unsigned long long)hash);
}

// Looking back from where corners are: the same moment, the places together when rewound to it, the overlap
// since.
TEST(looking_back_finds_when_corners_met_and_how_deep_they_are)
{
  tbCcdOptions o = tb_default_ccd_options();
  tbCcdPast past;
  REQUIRE(tb_ccd_backward(&falling_vertex, 0.02, &o, &past)); // from 1 to −1 in 0.02 s
  CHECK_NEAR(past.back, 0.01, 1e-7);
  CHECK_NEAR(past.depth, 1, 1e-12);
  CHECK_NEAR(past.closing.z, 100, 1e-9); // the face towards the vertex
  REQUIRE(tb_ccd_backward(&falling_edge, 0.02, &o, &past));
  CHECK_NEAR(past.back, 0.005, 1e-7);
  CHECK_NEAR(past.depth, 1, 1e-12);
  tbCcdQuery away = falling_vertex; // it was in the plane, and has left
  away.start[0].z = 0, away.end[0].z = 1;
  REQUIRE(tb_ccd_backward(&away, 1, &o, &past));
  CHECK(past.back == 1);
  away.start[0].z = 0.5;
  CHECK(!tb_ccd_backward(&away, 1, &o, &past) && !tb_ccd_backward(&away, 1, &o, NULL));

  tbRandom r = test_random(31);
  int met = 0;
  for (int trial = 0; trial < 400; trial++) { // from velocities, forward's answer to rounding
    tbCcdQuery q = {.kind = trial % 2 ? TB_CCD_VERTEX_FACE : TB_CCD_EDGE_EDGE};
    tbVec3 velocity[4];
    double h = test_uniform(&r, 0.001, 0.1);
    for (int i = 0; i < 4; i++) {
      q.end[i] = tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
      velocity[i] = tb_scale3(
          1 / h, tb_vec3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1)));
    }
    tb_ccd_before(q.end, velocity, h, q.start);
    tbCcdHit forward;
    bool found = tb_ccd(&q, &o, &forward);
    CHECK(tb_ccd_backward(&q, h, &o, &past) == found);
    if (!found) continue;
    met++;
    tbVec3 x[4], gap = tb_zero3();
    for (int i = 0; i < 4; i++) { // rewound by its velocities
      x[i] = tb_madd3(q.end[i], -past.back, velocity[i]);
      bool first = q.kind == TB_CCD_VERTEX_FACE ? i == 0 : i < 2;
      gap = tb_madd3(gap, first ? past.hit.weight[i] : -past.hit.weight[i], x[i]);
    }
    CHECK(tb_norm3(gap) < 1e-5 && past.hit.t == forward.t && past.back <= h);
    CHECK_NEAR(past.depth, past.back * tb_dot3(past.closing, past.hit.normal), 1e-5);
  }
  CHECK(met > 20);
}
