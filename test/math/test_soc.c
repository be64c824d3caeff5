// SPDX-License-Identifier: Apache-2.0
// The algebra of second-order cones: identities that must hold for any point inside.
#include "math/soc.h"
#include "test.h"

#include <math.h>

static void inside(tbRandom* r, int size, double margin, double* x)
{
  double sum = 0;
  for (int i = 1; i < size; i++) x[i] = test_uniform(r, -1, 1), sum += x[i] * x[i];
  x[0] = sqrt(sum) * (1 + margin) + margin;
}

TEST(dividing_undoes_the_product)
{
  tbRandom r = test_random(1);
  for (int trial = 0; trial < 400; trial++) {
    int size = 1 + trial % TB_SOC_MAX;
    double v[4], x[4], d[4], back[4];
    inside(&r, size, 0.1, v);
    for (int i = 0; i < size; i++) x[i] = test_uniform(&r, -1, 1);
    tb_soc_product(size, v, x, d);
    tb_soc_divide(size, v, d, back);
    for (int i = 0; i < size; i++) CHECK_NEAR(back[i], x[i], 1e-12);
  }
}

TEST(the_scaling_brings_both_points_together)
{
  tbRandom r = test_random(2);
  for (int trial = 0; trial < 400; trial++) {
    int size = 1 + trial % TB_SOC_MAX;
    double x[4], z[4], a[4], b[4], H[16];
    inside(&r, size, pow(10, test_uniform(&r, -6, 2)), x);
    inside(&r, size, pow(10, test_uniform(&r, -6, 2)), z);
    tbSocScaling s;
    tb_soc_scaling(size, x, z, &s);
    tb_soc_scale(size, &s, z, a);
    tb_soc_unscale(size, &s, x, b);
    double length = 0;
    for (int i = 0; i < size; i++) length += a[i] * a[i];
    for (int i = 0; i < size; i++) CHECK_NEAR(a[i], b[i], 1e-8 * sqrt(length));
    tb_soc_unscale(size, &s, a, a);
    for (int i = 0; i < size; i++) CHECK_NEAR(a[i], z[i], 1e-8 * fabs(z[0]));
    tb_soc_hessian(size, &s, H); // S⁻² x = z
    for (int i = 0; i < size; i++) {
      double sum = 0, terms = 0;
      for (int j = 0; j < size; j++) sum += H[i * size + j] * x[j], terms += fabs(H[i * size + j] * x[j]);
      CHECK_NEAR(sum, z[i], 1e-8 * (terms + fabs(z[0])));
    }
  }
}

TEST(the_longest_step_ends_on_the_boundary)
{
  tbRandom r = test_random(3);
  int unbounded = 0;
  for (int trial = 0; trial < 2000; trial++) {
    int size = 1 + trial % TB_SOC_MAX;
    double x[4], d[4], at[4];
    inside(&r, size, 0.5, x);
    for (int i = 0; i < size; i++) d[i] = test_uniform(&r, -1, 1);
    double t = tb_soc_step(size, x, d);
    CHECK(t > 0);
    if (isinf(t)) { // then d itself is in the cone
      CHECK(d[0] >= 0 && tb_soc_det(size, d) >= 0);
      unbounded++;
      continue;
    }
    for (int i = 0; i < size; i++) at[i] = x[i] + 0.999999 * t * d[i];
    CHECK(at[0] > 0 && tb_soc_det(size, at) > 0);
    for (int i = 0; i < size; i++) at[i] = x[i] + 1.000001 * t * d[i];
    CHECK(at[0] < 0 || tb_soc_det(size, at) < 0 || size == 1);
  }
  CHECK(unbounded > 100);
}

TEST(the_least_eigenvalue_is_the_product_on_the_central_path)
{
  tbRandom r = test_random(4);
  for (int trial = 0; trial < 200; trial++) {
    int size = 1 + trial % TB_SOC_MAX;
    double x[4], z[4];
    inside(&r, size, 0.3, x);
    double det = tb_soc_det(size, x); // z = x⁻¹: x∘z = e
    for (int i = 0; i < size; i++) z[i] = (i == 0 ? x[0] : -x[i]) / det;
    CHECK_NEAR(tb_soc_least(size, x, z), 1, 1e-7);
    z[0] *= 2;
    CHECK(tb_soc_least(size, x, z) > 1);
  }
}
