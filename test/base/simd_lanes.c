// SPDX-License-Identifier: Apache-2.0
// Every vector operation against plain C, bit for bit, on ordinary and special values. Compiled once per
// vector width.
#include "base/simd_lanes.h"

#include "base/simd_float.h"
#include "test.h"

#include <string.h>

static double value(tbRandom* r)
{
  static const double special[] = {0, -0.0, 1, -1, 1e308, -1e308, 5e-324, 1e-300, INFINITY};
  int pick = test_below(r, 4);
  if (pick == 0) return special[test_below(r, 9)];
  return ldexp(test_uniform(r, -1, 1), test_below(r, 80) - 40);
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, 8) == 0; }

void tb_test_lanes(void)
{
  tbRandom r = test_random(1);
  for (int trial = 0; trial < 20000; trial++) {
    double a[8], b[8], c[8], out[8];
    for (int i = 0; i < 8; i++) a[i] = value(&r), b[i] = value(&r), c[i] = value(&r);
    tb4d x = tb4_load(a), y = tb4_load(b);
    tb4_store(out, tb4_add(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] + b[i]));
    tb4_store(out, tb4_sub(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] - b[i]));
    tb4_store(out, tb4_mul(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] * b[i]));
    tb4_store(out, tb4_abs(x));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], fabs(a[i])));
    tb4_store(out, tb4_div(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] / b[i]));
    tb4_store(out, tb4_max(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] > b[i] ? a[i] : b[i]));
    tb4_store(out, tb4_min(x, y));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] < b[i] ? a[i] : b[i]));
    tb4_store(out, tb4_choose(x, y, tb4_load(c), x));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i] > b[i] ? c[i] : a[i]));
    tb4_store(out, tb4_turn(x));
    for (int i = 0; i < 4; i++) REQUIRE(same(out[i], a[i < 3 ? (i + 1) % 3 : 3]));
    REQUIRE(same(tb4_sum(x), (a[0] + a[1]) + (a[2] + a[3])));
    if (trial % 2) b[trial % 4] = trial % 3 ? a[trial % 4] : NAN;
    int bits = tb4_at_most(x, tb4_load(b));
    for (int i = 0; i < 4; i++) REQUIRE((bits >> i & 1) == (a[i] <= b[i]));
    tb4_store(b, y);

    tbwd u = tbw_load(a), v = tbw_load(b);
    tbw_store(out, tbw_sub(u, tbw_mul(v, tbw_set1(c[0]))));
    for (int i = 0; i < TB_WIDE; i++) REQUIRE(same(out[i], a[i] - b[i] * c[0]));
    tbw_store(out, tbw_add(u, v));
    for (int i = 0; i < TB_WIDE; i++) REQUIRE(same(out[i], a[i] + b[i]));
    tbw_store(out, tbw_div(u, v));
    for (int i = 0; i < TB_WIDE; i++) REQUIRE(same(out[i], a[i] / b[i]));
    tbw_store(out, tbw_sqrt(tbw_abs(u)));
    for (int i = 0; i < TB_WIDE; i++) REQUIRE(same(out[i], sqrt(fabs(a[i]))));
    tbw_store(out, tbw_choose(u, v, tbw_load(c), u));
    bool above = false;
    for (int i = 0; i < TB_WIDE; i++) {
      REQUIRE(same(out[i], a[i] > b[i] ? c[i] : a[i]));
      above |= a[i] > b[i];
    }
    REQUIRE(tbw_any_above(u, v) == above);
    tbw_store(out, tbw_copysign(u, v));
    for (int i = 0; i < TB_WIDE; i++) REQUIRE(same(out[i], copysign(a[i], b[i])));
  }
}

void tb_test_parts(void)
{
  double in[TB_WIDE], out[TB_WIDE], full[TB_WIDE];
  for (int count = 1; count <= TB_WIDE; count++) {
    for (int i = 0; i < TB_WIDE; i++) in[i] = 1 + i, out[i] = -1;
    tbwd part = tbw_load_part(in, count);
    tbw_store(full, part);
    for (int i = 0; i < TB_WIDE; i++) CHECK(full[i] == (i < count ? 1 + i : 0));
    tbw_store_part(out, part, count);
    for (int i = 0; i < TB_WIDE; i++) CHECK(out[i] == (i < count ? 1 + i : -1));
  }
}

void tb_test_six(void)
{
  tbRandom r = test_random(3);
  int agreed[2] = {0};
  for (int trial = 0; trial < 5000; trial++) {
    float a[6], b[6];
    for (int i = 0; i < 6; i++) a[i] = (float)test_below(&r, 4), b[i] = (float)(1 + test_below(&r, 3));
    if (trial % 7 == 0) a[trial % 6] = -INFINITY, b[(trial + 1) % 6] = INFINITY;
    if (trial % 50 == 0) (trial % 100 ? a : b)[trial % 6] = NAN;
    int all = 1;
    for (int i = 0; i < 6; i++) all &= a[i] <= b[i];
    REQUIRE(!tb6f_at_most(a, b) == !all);
    agreed[all]++;
  }
  CHECK(agreed[0] > 500 && agreed[1] > 500);
}

static bool same_float(float a, float b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, 4) == 0; }

void tb_test_floats(void)
{
  enum { WIDE = TB_WIDE_FLOATS };
  tbRandom r = test_random(4);
  for (int trial = 0; trial < 5000; trial++) {
    float a[WIDE], b[WIDE], c[WIDE], out[WIDE], rows[WIDE][8];
    bool above = false;
    for (int i = 0; i < WIDE; i++) {
      a[i] = (float)value(&r), b[i] = trial % 3 ? (float)value(&r) : a[i], c[i] = (float)value(&r);
      if (trial % 5 == 0 && i == trial % WIDE) b[i] = NAN;
      above |= a[i] > b[i];
      for (int k = 0; k < 8; k++) rows[i][k] = (float)(8 * i + k);
    }
    tbwf x = tbwf_load(a), y = tbwf_load(b), z = tbwf_load(c);
    const struct {
      tbwf all;
      int what;
    } done[] = {{tbwf_add(x, y), 0}, {tbwf_sub(x, y), 1}, {tbwf_mul(x, y), 2}, {tbwf_div(x, y), 3},
                {tbwf_max(x, y), 4}, {tbwf_min(x, y), 5}, {tbwf_sqrt(y), 6},   {tbwf_choose(x, y, z, x), 7}};
    for (int d = 0; d < 8; d++) {
      tbwf_store(out, done[d].all);
      for (int i = 0; i < WIDE; i++) {
        const float plain[8] = {a[i] + b[i],
                                a[i] - b[i],
                                a[i] * b[i],
                                a[i] / b[i],
                                a[i] > b[i] ? a[i] : b[i],
                                a[i] < b[i] ? a[i] : b[i],
                                sqrtf(b[i]),
                                a[i] > b[i] ? c[i] : a[i]};
        REQUIRE(same_float(out[i], plain[done[d].what]));
      }
    }
    REQUIRE(tbwf_any_above(x, y) == above);
    const float* from[WIDE];
    tbwf column[8];
    tb8f back[WIDE];
    for (int i = 0; i < WIDE; i++) from[i] = rows[(i + trial) % WIDE];
    tbwf_columns(from, column);
    for (int k = 0; k < 6; k++) {
      tbwf_store(out, column[k]);
      for (int i = 0; i < WIDE; i++) REQUIRE(out[i] == from[i][k]);
    }
    tbwf_rows(column, back);
    for (int i = 0; i < WIDE; i++) {
      float row[8];
      tb8_store(row, back[i]);
      REQUIRE(memcmp(row, from[i], sizeof row) == 0);
    }
  }
}
