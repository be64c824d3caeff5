// SPDX-License-Identifier: Apache-2.0
#include "math/matrices.h"

static tbVec3 random_vec3(tbRandom* r)
{
  return tb_vec3(test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1));
}

static double difference3(tbVec3 a, tbVec3 b) { return tb_maxabs3(tb_sub3(a, b)); }

TEST(vec3_norm_and_direction_survive_every_scale)
{
  for (int e = -1060; e <= 1020; e += 20) {
    tbVec3 a = tb_vec3(ldexp(2, e), ldexp(-3, e), ldexp(6, e));
    CHECK_NEAR(tb_norm3(a) / ldexp(7, e), 1, 3e-16);
    CHECK(difference3(tb_normalize3(a), tb_vec3(2 / 7., -3 / 7., 6 / 7.)) < 3e-16);
  }
  CHECK(tb_norm3(tb_zero3()) == 0);
  CHECK(tb_norm3(tb_vec3(1, -INFINITY, 0)) == INFINITY);
  CHECK(isnan(tb_norm3(tb_vec3(1, NAN, 0))));
  CHECK(difference3(tb_normalize3(tb_zero3()), tb_zero3()) == 0);
}

TEST(vec3_cross_is_the_skew_matrix)
{
  tbRandom r = test_random(41);
  for (int trial = 0; trial < 1000; trial++) {
    tbVec3 a = random_vec3(&r), b = random_vec3(&r), c = tb_cross3(a, b);
    REQUIRE(difference3(c, tb_mat3_mulv(tb_mat3_skew(a), b)) < 1e-16);
    REQUIRE(difference3(tb_neg3(c), tb_mat3_tmulv(tb_mat3_skew(a), b)) < 1e-16);
    REQUIRE(fabs(tb_dot3(a, c)) < 1e-15 && fabs(tb_dot3(b, c)) < 1e-15);
    REQUIRE(fabs(tb_mat3_trace(tb_mat3_outer(a, b)) - tb_dot3(a, b)) < 1e-16);
  }
}

TEST(mat3_inverse_undoes_the_matrix_at_every_scale)
{
  tbRandom r = test_random(42);
  for (int trial = 0; trial < 20000; trial++) {
    tbMat3 A = tb_mat3_add(random_rotation(&r), tb_mat3_scale(0.3, random_mat3(&r)));
    tbMat3 D = tb_mat3_diag(pow(10, test_uniform(&r, -100, 100)), 1, pow(10, test_uniform(&r, -100, 100)));
    A = tb_mat3_mul(D, A);
    tbMat3 E = tb_mat3_sub(tb_mat3_mul(tb_mat3_inverse(A), A), tb_mat3_identity());
    REQUIRE(tb_mat3_maxabs(E) < 2e-14);
  }
  CHECK_NEAR(tb_mat3_det(tb_mat3_diag(2, 3, -4)), -24, 0);
}

TEST(mat3_products_agree)
{
  tbRandom r = test_random(43);
  for (int trial = 0; trial < 1000; trial++) {
    tbMat3 A = random_mat3(&r), B = random_mat3(&r);
    tbVec3 v = random_vec3(&r);
    REQUIRE(difference3(tb_mat3_mulv(tb_mat3_mul(A, B), v), tb_mat3_mulv(A, tb_mat3_mulv(B, v))) < 2e-15);
    REQUIRE(difference3(tb_mat3_mulv(tb_mat3_tmul(A, B), v), tb_mat3_tmulv(A, tb_mat3_mulv(B, v))) < 2e-15);
    REQUIRE(difference3(tb_mat3_mulv(tb_mat3_mult(A, B), v), tb_mat3_mulv(A, tb_mat3_tmulv(B, v))) < 2e-15);
    REQUIRE(fabs(tb_mat3_norm(A) - sqrt(tb_mat3_trace(tb_mat3_tmul(A, A)))) < 1e-15);
  }
}

TEST(frame_is_orthonormal_for_every_normal)
{
  tbRandom r = test_random(44);
  double worst = 0;
  for (int trial = 0; trial < 100000; trial++) {
    tbVec3 n = random_vec3(&r);
    if (trial % 4 == 1) n.x *= 1e-9, n.y *= 1e-9;
    if (trial % 4 == 2) n.z *= 1e-17;
    n = tb_normalize3(n);
    tbMat3 F = tb_mat3_frame(n);
    worst = fmax(worst, rotation_error(F));
    REQUIRE(difference3(tb_mat3_row(F, 0), n) == 0);
  }
  CHECK_NEAR(worst, 0, 1.2e-15);
  for (int s = -1; s <= 1; s += 2) // exact at the poles
    CHECK(rotation_error(tb_mat3_frame(tb_vec3(0, 0, s))) == 0);
}

TEST(quat_and_matrix_are_the_same_rotation)
{
  tbRandom r = test_random(45);
  for (int trial = 0; trial < 20000; trial++) {
    tbQuat p = random_quat(&r), q = random_quat(&r);
    if (trial % 3 == 0) q = tb_quat_normalize(tb_quat(1e-9 * q.w, q.x, 1e-9 * q.y, q.z)); // half turns
    tbVec3 v = random_vec3(&r);
    tbMat3 P = tb_quat_mat3(p), Q = tb_quat_mat3(q);
    REQUIRE(rotation_error(Q) < 2.5e-15);
    REQUIRE(difference3(tb_quat_rotate(q, v), tb_mat3_mulv(Q, v)) < 2e-15);
    REQUIRE(difference3(tb_quat_unrotate(q, tb_quat_rotate(q, v)), v) < 3e-15);
    REQUIRE(tb_mat3_maxabs(tb_mat3_sub(tb_quat_mat3(tb_quat_mul(p, q)), tb_mat3_mul(P, Q))) < 2e-15);
    tbQuat back = tb_quat_from_mat3(Q);
    double dot = back.w * q.w + back.x * q.x + back.y * q.y + back.z * q.z;
    REQUIRE(fabs(fabs(dot) - 1) < 1e-15);
  }
}

TEST(quat_exponential_is_exact_for_tiny_and_large_angles)
{
  tbRandom r = test_random(46);
  for (int trial = 0; trial < 20000; trial++) {
    double angle = pow(10, test_uniform(&r, -20, 0.49));
    tbVec3 axis = tb_normalize3(random_vec3(&r)), v = tb_scale3(angle, axis);
    tbQuat q = tb_quat_exp(v);
    REQUIRE(fabs(q.w - cos(angle / 2)) < 5e-16);
    REQUIRE(difference3(tb_vec3(q.x, q.y, q.z), tb_scale3(sin(angle / 2), axis)) < 6e-16 * sin(angle / 2));
    REQUIRE(difference3(tb_quat_log(q), v) < 2e-15 * angle);
    REQUIRE(difference3(tb_quat_log(tb_quat(-q.w, -q.x, -q.y, -q.z)), v) < 2e-15 * angle);
  }
  CHECK(tb_quat_exp(tb_vec3(5e-324, 0, 0)).w == 1);
  tbQuat turns = tb_quat_exp(tb_vec3(0, 0, 1e6)); // the angle's own rounding is all that is lost
  CHECK_NEAR(turns.w, cos(5e5), 1e-15);
  CHECK_NEAR(turns.z, sin(5e5), 1e-15);
}

TEST(quat_integration_does_not_depend_on_the_step)
{
  tbVec3 omega = tb_vec3(3, -2, 5);
  tbQuat q = tb_quat_normalize(tb_quat(1, 2, 3, 4)), whole = tb_quat_integrate(q, omega, 1), parts = q;
  for (int i = 0; i < 1000; i++) parts = tb_quat_integrate(parts, omega, 1e-3);
  tbMat3 E = tb_mat3_sub(tb_quat_mat3(whole), tb_quat_mat3(parts));
  CHECK_NEAR(tb_mat3_maxabs(E), 0, 1e-13);
}

TEST(transform_round_trips)
{
  tbRandom r = test_random(47);
  for (int trial = 0; trial < 1000; trial++) {
    tbTransform A = tb_transform(random_quat(&r), random_vec3(&r));
    tbTransform B = tb_transform(random_quat(&r), random_vec3(&r));
    tbVec3 p = random_vec3(&r), q = tb_transform_point(A, tb_transform_point(B, p));
    REQUIRE(difference3(tb_transform_point(tb_transform_mul(A, B), p), q) < 5e-15);
    REQUIRE(difference3(tb_transform_unpoint(B, tb_transform_point(tb_transform_inverse(A), q)), p) < 5e-15);
  }
}
