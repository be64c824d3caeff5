// SPDX-License-Identifier: Apache-2.0
#include "collide/features.h"
#include "geometry/exact.h"
#include "surface_scenes.h"

static tbVec3 any(tbRandom* r)
{
  double x = test_uniform(r, -1, 1), y = test_uniform(r, -1, 1);
  return tb_vec3(x, y, test_uniform(r, -1, 1));
}

// Random corners; on a small lattice; thin; nearly parallel; a face or an edge shrunk to a point.
static void draw(tbRandom* r, int family, tbVec3 x[4])
{
  for (int k = 0; k < 4; k++) x[k] = any(r);
  if (family == 1)
    for (int k = 0; k < 4; k++) x[k] = tb_vec3(test_below(r, 3), test_below(r, 3), test_below(r, 3));
  if (family == 2) x[3] = tb_madd3(tb_lerp3(x[1], x[2], 0.3), 1e-3, any(r));
  if (family == 3) { // crossing in the middle at an angle of 1e-5 … 1
    double angle = 1;
    for (int k = test_below(r, 6); k > 0; k--) angle /= 10;
    x[3] = tb_add3(x[2], tb_madd3(tb_sub3(x[1], x[0]), angle, any(r)));
    tbVec3 n = tb_normalize3(tb_cross3(tb_sub3(x[1], x[0]), tb_sub3(x[3], x[2])));
    tbVec3 apart = tb_sub3(tb_madd3(tb_lerp3(x[0], x[1], 0.4), 0.1, n), tb_lerp3(x[2], x[3], 0.3));
    x[2] = tb_add3(x[2], apart), x[3] = tb_add3(x[3], apart);
  }
  if (family == 4) x[3] = x[2], x[1] = test_below(r, 2) ? x[2] : x[1];
}

LONG_TEST(closest_points_of_features_are_those_of_a_nested_search)
{
  tbRandom r = test_random(3);
  int wrong = 0, outside = 0, inside = 0, parallel = 0;
  for (int i = 0; i < (test_quick() ? 500 : 3000); i++) {
    bool face = i % 2;
    tbVec3 x[4];
    draw(&r, i / 2 % 5, x);
    double w[4], distance = scene_distance(face, x, w), least = 1;
    tbClosest c = tb_closest_features(face, x);
    wrong += !(fabs(tb_norm3(c.way) - distance) < 1e-7);
    tbVec3 way = tb_zero3();
    double sum = 0;
    for (int k = 0; k < 4; k++) {
      way = tb_madd3(way, (k < (face ? 1 : 2) ? 1 : -1) * c.weight[k], x[k]);
      outside += !(c.weight[k] >= 0 && c.weight[k] <= 1);
      least = fmin(least, c.weight[k]), sum += c.weight[k];
    }
    outside += fabs(sum - 2) > 1e-14 || c.inside != (least > 0);
    wrong += !(tb_distance3(way, c.way) < 1e-14);
    inside += c.inside;
    tbVec3 u = tb_sub3(x[1], x[0]), v = tb_sub3(x[3], x[2]), n = tb_cross3(u, v);
    double sine = tb_norm3(n) / (tb_norm3(u) * tb_norm3(v));
    double s = tb_dot3(tb_cross3(tb_sub3(x[2], x[0]), v), n) / tb_dot3(n, n),
           t = tb_dot3(tb_cross3(tb_sub3(x[2], x[0]), u), n) / tb_dot3(n, n); // where lines are closest
    bool crossing = !face && sine > 1e-6 && s > 1e-3 && s < 0.999 && t > 1e-3 && t < 0.999;
    outside += crossing && !c.inside;
    parallel += crossing && sine < 1e-3;
  }
  CHECK(wrong == 0 && outside == 0);
  CHECK(inside > 50 && parallel > 10);
}

TEST(sides_of_features_agree_with_their_normals_and_closest_points)
{
  tbRandom r = test_random(4);
  int wrong = 0;
  for (int i = 0; i < 2000; i++) {
    bool face = i % 2;
    tbVec3 x[4];
    draw(&r, i % 4, x);
    int side = tb_side_of_features(face, x);
    tbVec3 n = tb_normal_of_features(face, x);
    double along = tb_dot3(n, tb_sub3(x[0], face ? x[1] : x[2]));
    wrong += fabs(along) > 1e-12 && (along > 0) != (side > 0);
    tbClosest c = tb_closest_features(face, x);
    if (c.inside && tb_norm3(c.way) > 1e-6) wrong += !(side * tb_dot3(tb_normalize3(c.way), n) > 1 - 1e-6);
  }
  CHECK(wrong == 0);
}

// Two edges at angles of 2e-6 … 1e-2, as far from each other as the angle takes them apart: their way is the
// gap, to a millionth, and lies across both.
TEST(closest_points_of_nearly_parallel_edges_are_across_them)
{
  tbRandom r = test_random(5);
  int inside = 0;
  double worst = 0;
  for (int i = 0; i < 2000; i++) {
    double angle = 2e-6 * tb_exp(test_uniform(&r, 0, 8.5)), gap = angle * test_uniform(&r, 0.1, 1);
    tbMat3 frame = tb_mat3_frame(tb_normalize3(any(&r)));
    tbVec3 along = tb_mat3_row(frame, 0), across = tb_mat3_row(frame, 1), n = tb_mat3_row(frame, 2), x[4];
    double s = test_uniform(&r, 0.1, 0.9), t = test_uniform(&r, 0.1, 0.9);
    tbVec3 other = tb_madd3(along, angle, across), at = any(&r);
    for (int k = 0; k < 2; k++) {
      x[k] = tb_madd3(tb_madd3(at, k - s, along), gap, n);
      x[2 + k] = tb_madd3(at, k - t, other);
    }
    tbClosest c = tb_closest_features(false, x);
    inside += c.inside;
    worst = fmax(worst, fabs(tb_norm3(c.way) - gap) / gap);
  }
  CHECK(inside > 1900 && worst < 1e-6);
}
