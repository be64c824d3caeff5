// SPDX-License-Identifier: Apache-2.0
#include "math/soc.h"
#include "math/dot.h"
#include "math/scale.h"

#include <math.h>
#include <string.h>

double tb_soc_det(int size, const double* x)
{
  if (size == 1) return x[0] * x[0];
  double length = tb_norm(size - 1, x + 1);
  return (x[0] - length) * (x[0] + length);
}

void tb_soc_product(int size, const double* x, const double* z, double* xz)
{
  double y[TB_SOC_MAX];
  y[0] = tb_dot_in_order(size, x, z);
  for (int i = 1; i < size; i++) y[i] = x[0] * z[i] + z[0] * x[i];
  memcpy(xz, y, (size_t)size * sizeof *y);
}

void tb_soc_divide(int size, const double* v, const double* d, double* x)
{
  double det = tb_soc_det(size, v), along = tb_dot_in_order(size - 1, v + 1, d + 1), first = d[0];
  x[0] = size == 1 ? first / v[0] : (v[0] * first - along) / det;
  for (int i = 1; i < size; i++) x[i] = (d[i] - x[0] * v[i]) / v[0];
}

// det(x + t d) = a t² + 2 b t + c leaves zero first at the smallest positive root; x₀ + t d₀ ≥ 0 picks the
// right sheet of the cone.
double tb_soc_step(int size, const double* x, const double* d)
{
  double longest = d[0] < 0 ? -x[0] / d[0] : INFINITY;
  if (size == 1) return longest;
  double a = d[0] * d[0] - tb_dot_in_order(size - 1, d + 1, d + 1),
         b = x[0] * d[0] - tb_dot_in_order(size - 1, x + 1, d + 1);
  double c = tb_soc_det(size, x), square = b * b - a * c;
  if (!(square >= 0)) return longest;
  double r = -(b + (b >= 0 ? sqrt(square) : -sqrt(square))), roots[2] = {r / a, c / r};
  for (int i = 0; i < 2; i++)
    if (roots[i] > 0 && roots[i] < longest) longest = roots[i];
  return longest;
}

double tb_soc_least(int size, const double* x, const double* z)
{
  double product = tb_dot_in_order(size, x, z);
  if (size == 1) return product;
  double dets = tb_soc_det(size, x) * tb_soc_det(size, z), square = product * product - dets;
  return dets / (product + sqrt(square > 0 ? square : 0));
}

void tb_soc_scaling(int size, const double* x, const double* z, tbSocScaling* s)
{
  double root_x = sqrt(tb_soc_det(size, x)), root_z = sqrt(tb_soc_det(size, z));
  s->beta = sqrt(root_x / root_z);
  s->w[0] = 1;
  if (size == 1) return;
  double a[TB_SOC_MAX], b[TB_SOC_MAX], squares = 0;
  for (int i = 0; i < size; i++) a[i] = x[i] / root_x, b[i] = z[i] / root_z;
  double gamma = sqrt(0.5 * (1 + tb_dot_in_order(size, a, b)));
  for (int i = 1; i < size; i++) {
    s->w[i] = (a[i] - b[i]) / (2 * gamma);
    squares += s->w[i] * s->w[i];
  }
  s->w[0] = sqrt(1 + squares);
}

static void scale(int size, const tbSocScaling* s, double sign, double beta, const double* z, double* out)
{
  double along = tb_dot_in_order(size - 1, s->w + 1, z + 1), first = z[0];
  double push = sign * first + along / (1 + s->w[0]);
  out[0] = beta * (s->w[0] * first + sign * along);
  for (int i = 1; i < size; i++) out[i] = beta * (z[i] + s->w[i] * push);
}

void tb_soc_scale(int size, const tbSocScaling* s, const double* z, double* out)
{
  scale(size, s, 1, s->beta, z, out);
}

void tb_soc_unscale(int size, const tbSocScaling* s, const double* x, double* out)
{
  scale(size, s, -1, 1 / s->beta, x, out);
}

void tb_soc_hessian(int size, const tbSocScaling* s, double* H)
{
  double inverse = 1 / (s->beta * s->beta), w[TB_SOC_MAX];
  for (int i = 0; i < size; i++) w[i] = i == 0 ? s->w[0] : -s->w[i];
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      H[i * size + j] = inverse * (2 * w[i] * w[j] - (i != j ? 0 : i == 0 ? 1 : -1));
}
