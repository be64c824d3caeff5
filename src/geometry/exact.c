// SPDX-License-Identifier: Apache-2.0
// Expansion arithmetic (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
// predicates", 1997): a number is kept as a sum of doubles that do not overlap, smallest first, and sums and
// products are exact. Only what plain arithmetic cannot decide comes here; a determinant then takes some
// thousand operations.
#include "geometry/exact.h"

#include <math.h>

typedef struct {
  int n;
  double term[200]; // 6 products of three two-term numbers, 4 terms for each of 8 partial products: 192
} Sum;

// x + y = s + e exactly (Knuth).
static double two_sum(double x, double y, double* e)
{
  double s = x + y, v = s - x;
  *e = (x - (s - v)) + (y - v);
  return s;
}

static void add(Sum* sum, double x)
{
  int kept = 0;
  for (int i = 0; i < sum->n; i++) {
    double e;
    x = two_sum(x, sum->term[i], &e);
    if (e != 0) sum->term[kept++] = e;
  }
  if (x != 0) sum->term[kept++] = x;
  sum->n = kept;
}

static double value(const Sum* sum)
{
  double x = 0;
  for (int i = 0; i < sum->n; i++) x += sum->term[i];
  return x;
}

static void add_product2(Sum* sum, double x, double y)
{
  double p = x * y;
  add(sum, fma(x, y, -p));
  add(sum, p);
}

static void add_product3(Sum* sum, double x, double y, double z)
{
  double p = x * y;
  add_product2(sum, fma(x, y, -p), z);
  add_product2(sum, p, z);
}

typedef struct {
  double hi, lo;
} Two;

static Two difference(double x, double y)
{
  Two d;
  d.hi = two_sum(x, -y, &d.lo);
  return d;
}

static void difference3(tbVec3 x, tbVec3 y, Two out[3])
{
  out[0] = difference(x.x, y.x);
  out[1] = difference(x.y, y.y);
  out[2] = difference(x.z, y.z);
}

// sum += sign · x y z
static void add_triple(Sum* sum, double sign, Two x, Two y, Two z)
{
  for (int k = 0; k < 8; k++) {
    double a = k & 1 ? x.lo : x.hi, b = k & 2 ? y.lo : y.hi, c = k & 4 ? z.lo : z.hi;
    if (a != 0 && b != 0 && c != 0) add_product3(sum, sign * a, b, c);
  }
}

static int exact_side(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p)
{
  Two u[3], v[3], w[3];
  difference3(b, a, u);
  difference3(c, a, v);
  difference3(p, a, w);
  Sum det = {.n = 0};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    add_triple(&det, 1, u[i], v[j], w[k]);
    add_triple(&det, -1, u[k], v[j], w[i]);
  }
  double largest = det.n ? det.term[det.n - 1] : 0;
  return (largest > 0) - (largest < 0);
}

int tb_side_of_surely(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p)
{
  tbVec3 u = tb_sub3(b, a), v = tb_sub3(c, a), w = tb_sub3(p, a);
  double xy = u.x * v.y, yx = u.y * v.x, yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x, xz = u.x * v.z;
  double det = w.x * (yz - zy) + w.y * (zx - xz) + w.z * (xy - yx);
  double size = fabs(w.x) * (fabs(yz) + fabs(zy)) + fabs(w.y) * (fabs(zx) + fabs(xz)) +
                fabs(w.z) * (fabs(xy) + fabs(yx));
  double bound = 9e-16 * size; // (7 + 56ε) ε size, ε = 2⁻⁵³ (Shewchuk, table 4), with room
  return det > bound ? 1 : det < -bound ? -1 : 0;
}

int tb_side_of(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p)
{
  int side = tb_side_of_surely(a, b, c, p);
  return side != 0 ? side : exact_side(a, b, c, p);
}

static double exact_minor(Two a, Two b, Two c, Two d) // a d − b c
{
  Sum sum = {.n = 0};
  for (int k = 0; k < 4; k++) {
    add_product2(&sum, k & 1 ? a.lo : a.hi, k & 2 ? d.lo : d.hi);
    add_product2(&sum, k & 1 ? -b.lo : -b.hi, k & 2 ? c.lo : c.hi);
  }
  return value(&sum);
}

// a d − b c: plainly where hardly a digit cancels, exactly otherwise.
static double minor(Two a, Two b, Two c, Two d)
{
  double ad = a.hi * d.hi, bc = b.hi * c.hi, m = ad - bc;
  if (fabs(m) > 0.5 * (fabs(ad) + fabs(bc))) return m;
  return exact_minor(a, b, c, d);
}

tbVec3 tb_triangle_normal(tbVec3 a, tbVec3 b, tbVec3 c)
{
  Two u[3], v[3];
  difference3(b, a, u);
  difference3(c, a, v);
  return tb_vec3(minor(u[1], u[2], v[1], v[2]), minor(u[2], u[0], v[2], v[0]), minor(u[0], u[1], v[0], v[1]));
}
