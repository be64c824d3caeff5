// SPDX-License-Identifier: Apache-2.0
#include "math/polar.h"
#include "math/matrices.h"

static tbMat3 random_general(tbRandom* r, int trial)
{
  double s[3];
  random_spectrum(r, trial % SPECTRUM_KINDS, s);
  tbMat3 D = tb_mat3_diag(s[0], s[1], s[2]);
  return tb_mat3_mul(random_rotation(r), tb_mat3_mul(D, random_rotation(r)));
}

TEST(polar_gives_a_rotation_and_a_symmetric_stretch)
{
  tbRandom r = test_random(31);
  double worst_rotation = 0, worst_rebuild = 0;
  for (int trial = 0; trial < 100000; trial++) {
    tbMat3 A = random_general(&r, trial);
    tbPolar3 p = tb_polar3(A);
    worst_rotation = fmax(worst_rotation, rotation_error(p.R));
    tbMat3 E = tb_mat3_sub(tb_mat3_mul(p.R, p.S), A);
    worst_rebuild = fmax(worst_rebuild, tb_mat3_maxabs(E) / fmax(tb_mat3_maxabs(A), 1e-300));
    for (int i = 0; i < 9; i++) REQUIRE(p.S.m[i / 3][i % 3] == p.S.m[i % 3][i / 3]);
  }
  CHECK_NEAR(worst_rotation, 0, 3e-15);
  CHECK_NEAR(worst_rebuild, 0, 6e-15);
}

TEST(polar_rotation_is_the_closest_one)
{
  tbRandom r = test_random(32);
  for (int trial = 0; trial < 20000; trial++) {
    tbMat3 A = random_general(&r, trial), R = tb_polar3(A).R;
    double angle = pow(10, test_uniform(&r, -6, 0.5));
    tbVec3 axis = tb_vec3(test_uniform(&r, -angle, angle), test_uniform(&r, -angle, angle), angle);
    tbMat3 other = tb_mat3_mul(tb_quat_mat3(tb_quat_exp(axis)), R);
    double best = tb_mat3_trace(tb_mat3_tmul(R, A)), rival = tb_mat3_trace(tb_mat3_tmul(other, A));
    REQUIRE(rival <= best + 1e-15);
  }
}

TEST(polar_of_a_rotation_is_itself)
{
  tbRandom r = test_random(33);
  for (int trial = 0; trial < 10000; trial++) {
    tbMat3 Q = random_rotation(&r);
    tbPolar3 p = tb_polar3(Q);
    REQUIRE(tb_mat3_maxabs(tb_mat3_sub(p.R, Q)) < 3e-15);
    REQUIRE(tb_mat3_maxabs(tb_mat3_sub(p.S, tb_mat3_identity())) < 3e-15);
  }
}
