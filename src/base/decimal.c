// SPDX-License-Identifier: Apache-2.0
// Decimal to double and back.
//
// Method     Both ways need w · 10^q = w · 5^q · 2^q for a 64-bit w. With q = 28 k + r, the product w · 5^r
// is
//            exact in 128 bits; multiplied by 5^(28 k), kept to 128 bits in a table of 26 entries, it gives
//
//                w · 10^q ∈ [Z, Z + SLACK) · 2^e,      2^127 ≤ Z < 2^128.
//
//            A rounding is settled unless a point halfway between two candidates lies in that interval, about
//            once in 2^70 numbers that are not made for it. Then both sides are compared in whole numbers.
// Reference  Clinger, "How to read floating point numbers accurately" (1990), for the plan: extended
// precision
//            with an error bound, and exact arithmetic for the rest.
// Cost       five multiplications; a few microseconds for the exact comparison.
// Limits     the exact comparison looks at 780 digits and whether anything follows. A point halfway between
// two
//            doubles has at most 767, so this is enough for numbers of any length.
#include "base/decimal.h"

#include "base/decimal_big.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;

enum {
  STEP = 28, // of the table of powers
  FIRST = -13,
  SLACK = 4,
  MAX_DIGITS = 780,
};

// 5^(28 k) ∈ [C, C+1) · 2^exponent with C = high · 2^64 + low, for k = −13 … 12.
static const struct {
  uint64_t high, low;
  int exponent;
} coarse[] = {
    {0xe1afa13afbd14d6d, 0x82189c09a3a1ec21, -973}, {0xe3e27a444d8d98b7, 0xfd1b1b2308169b25, -908},
    {0xe61acf033d1a45df, 0x6fb92487298e33bd, -843}, {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, -778},
    {0xea9c227723ee8bcb, 0x465e15a979c1cadc, -713}, {0xece53cec4a314ebd, 0xa4f8bf5635246428, -648},
    {0xef340a98172aace4, 0x86fb897116c87c34, -583}, {0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, -518},
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, -453}, {0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, -388},
    {0xf8a95fcf88747d94, 0x75a44c6397ce912a, -323}, {0xfb158592be068d2e, 0xeed6e2f0f0d56712, -258},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, -193}, {0x8000000000000000, 0x0000000000000000, -127},
    {0x813f3978f8940984, 0x4000000000000000, -62},  {0x82818f1281ed449f, 0xbff8f10e7a8921a4, 3},
    {0x83c7088e1aab65db, 0x792667c6da79e0fa, 68},   {0x850fadc09923329e, 0x03e2cf6bc604ddb0, 133},
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 198},  {0x87aa9aff79042286, 0x90fb44d2f05d0842, 263},
    {0x88fcf317f22241e2, 0x441fece3bdf81f03, 328},  {0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 393},
    {0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 458},  {0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 523},
    {0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 588},  {0x8fcac257558ee4e6, 0x213a4f0aa5e8a7b1, 653},
};

// 5^0 … 5^27, all that fit 63 bits.
static const uint64_t fine[STEP] = {1u,
                                    5u,
                                    25u,
                                    125u,
                                    625u,
                                    3125u,
                                    15625u,
                                    78125u,
                                    390625u,
                                    1953125u,
                                    9765625u,
                                    48828125u,
                                    244140625u,
                                    1220703125u,
                                    6103515625u,
                                    30517578125u,
                                    152587890625u,
                                    762939453125u,
                                    3814697265625u,
                                    19073486328125u,
                                    95367431640625u,
                                    476837158203125u,
                                    2384185791015625u,
                                    11920928955078125u,
                                    59604644775390625u,
                                    298023223876953125u,
                                    1490116119384765625u,
                                    7450580596923828125u};

static u128 multiply_high(u128 a, u128 b)
{
  uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
  u128 p10 = (u128)a1 * b0, p01 = (u128)a0 * b1, p00 = (u128)a0 * b0;
  u128 middle = (p00 >> 64) + (uint64_t)p10 + (uint64_t)p01;
  return (u128)a1 * b1 + (p10 >> 64) + (p01 >> 64) + (middle >> 64);
}

// w · 10^q ∈ [Z, Z + SLACK) · 2^e for w > 0, −364 ≤ q ≤ 363. Truncating the table's entry, the product, and
// doubling to normalise lose less than 1, 1, and as much again.
static u128 scale(uint64_t w, int q, int* e)
{
  int k = (q - FIRST * STEP) / STEP, r = (q - FIRST * STEP) % STEP;
  u128 t = (u128)w * fine[r];
  int shift = t >> 64 ? __builtin_clzll((uint64_t)(t >> 64)) : 64 + __builtin_clzll((uint64_t)t);
  u128 z = multiply_high(t << shift, (u128)coarse[k].high << 64 | coarse[k].low);
  *e = 128 + coarse[k].exponent + q - shift;
  if (z >> 127) return z;
  *e -= 1;
  return z << 1;
}

// m · 2^e is the double at or below a number; `up` says whether the next one is nearer: 1, 0, or −1 unsure.
typedef struct Rounding {
  uint64_t m;
  int e, up;
} Rounding;

static Rounding round_scaled(uint64_t w, int q)
{
  int e;
  u128 z = scale(w, q, &e);
  int drop = 128 - 53, top = e + 127; // 2^top ≤ z · 2^e < 2^(top+1)
  if (top < -1022) drop += -1022 - top;
  if (drop > 129) return (Rounding){0, -1074, 0};
  if (drop == 129) return (Rounding){0, -1074, z > -(u128)SLACK ? -1 : 0};

  u128 half = (u128)1 << (drop - 1);
  u128 rest = drop == 128 ? z : z & ((half << 1) - 1);
  Rounding r = {drop == 128 ? 0 : (uint64_t)(z >> drop), e + drop, -1};
  if (rest > half) r.up = 1;
  if (rest <= half - SLACK) r.up = 0;
  return r;
}

static bool same_rounding(Rounding a, Rounding b)
{
  return a.up >= 0 && b.up >= 0 && a.e == b.e && a.m + (uint64_t)a.up == b.m + (uint64_t)b.up;
}

// Settles r.up by comparing all digits with the halfway point (2 m + 1) · 2^(e−1).
static int round_exactly(const tbDecimal* decimal, Rounding r)
{
  tbBig d = {0};
  int64_t exponent = decimal->exponent;
  if (!decimal->more) {
    d = (tbBig){.count = 1, .limb = {decimal->digits}};
  } else {
    int64_t taken = 0, left_of_19 = 0;
    bool sticky = false;
    for (const char* p = decimal->begin; p < decimal->end; p++) {
      if (*p == '.' || (*p == '0' && taken == 0)) continue;
      if (taken < MAX_DIGITS) {
        tb_big_multiply_add(&d, 10, (uint64_t)(*p - '0'));
        if (taken++ >= 19) left_of_19++;
      } else if (*p != '0') {
        sticky = true;
        break;
      }
    }
    exponent -= left_of_19;
    if (sticky) { // anything between the last digit taken and the next
      tb_big_multiply_add(&d, 10, 1);
      exponent--;
    }
  }
  int sign = tb_big_compare(&d, exponent, 2 * r.m + 1, r.e - 1);
  return sign > 0 || (sign == 0 && (r.m & 1));
}

static double assemble(Rounding r)
{
  uint64_t m = r.m + (uint64_t)r.up, bits = m;
  int e = r.e;
  if (m >> 53) m >>= 1, e++;
  if (m >> 52) bits = e + 52 > 1023 ? 0x7ffull << 52 : (uint64_t)(e + 1075) << 52 | (m & ((1ull << 52) - 1));
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double tb_decimal_value(const tbDecimal* decimal)
{
  double x = 0;
  if (decimal->digits && decimal->exponent > 308) {
    x = INFINITY;
  } else if (decimal->digits && decimal->exponent >= -343) {
    int q = (int)decimal->exponent;
    Rounding r = round_scaled(decimal->digits, q);
    bool sure = r.up >= 0;
    if (decimal->more) sure = same_rounding(r, round_scaled(decimal->digits + 1, q));
    if (!sure) r.up = round_exactly(decimal, r);
    x = assemble(r);
  }
  return decimal->negative ? -x : x;
}

static bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

// For more than 19 digits: takes the first 19 significant ones and notes what follows them.
static void keep_19_digits(tbDecimal* d)
{
  int64_t taken = 0, dropped = 0;
  d->digits = 0;
  for (const char* p = d->begin; p < d->end; p++) {
    if (*p == '.' || (*p == '0' && taken == 0)) continue;
    if (taken < 19) {
      d->digits = 10 * d->digits + (uint64_t)(*p - '0');
      taken++;
    } else {
      dropped++;
      d->more |= *p != '0';
    }
  }
  d->exponent += dropped;
}

const char* tb_decimal_scan(const char* at, const char* end, tbDecimal* out)
{
  tbDecimal d = {0};
  const char* p = at;
  if (p < end && (*p == '-' || *p == '+')) {
    d.negative = *p == '-';
    d.plus = *p++ == '+';
  }
  d.begin = p;
  for (; p < end && is_digit(*p); p++) d.digits = 10 * d.digits + (uint64_t)(*p - '0');
  d.whole = p - d.begin;
  if (p < end && *p == '.') {
    d.point = true;
    const char* fraction = ++p;
    for (; p < end && is_digit(*p); p++) d.digits = 10 * d.digits + (uint64_t)(*p - '0');
    d.fraction = p - fraction;
  }
  d.end = p;
  *out = d;
  if (d.whole + d.fraction == 0) return at;

  if (p < end && (*p == 'e' || *p == 'E')) {
    const char* e = p + 1;
    bool negative = e < end && *e == '-';
    if (e < end && (*e == '-' || *e == '+')) e++;
    if (e < end && is_digit(*e)) {
      d.has_exponent = true;
      for (; e < end && is_digit(*e); e++)
        if (d.exponent < 1000000000000) d.exponent = 10 * d.exponent + (*e - '0');
      if (negative) d.exponent = -d.exponent;
      p = e;
    }
  }
  d.exponent -= d.fraction;
  if (d.whole + d.fraction > 19) keep_19_digits(&d);
  *out = d;
  return p;
}

const char* tb_read_double(const char* at, const char* end, double* value)
{
  tbDecimal d;
  const char* after = tb_decimal_scan(at, end, &d);
  if (after != at) *value = tb_decimal_value(&d);
  return after;
}

// x = m · 2^e scaled to 17 digits before the point: x · 10^q ∈ [z, z + SLACK) / 2^point.
typedef struct Scaled {
  uint64_t m;
  int e, q, point;
  u128 z;
} Scaled;

static const uint64_t TEN_17 = 100000000000000000u;

static Scaled scale_to_17_digits(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int biased = (int)(bits >> 52 & 0x7ff);
  Scaled s = {.m = bits & ((1ull << 52) - 1), .e = biased ? biased - 1075 : -1074};
  if (biased) s.m |= 1ull << 52;

  int log2 = s.e + 63 - __builtin_clzll(s.m);        // floor(log2 x)
  s.q = 16 - (int)floor(log2 * 0.30102999566398120); // floor(log10 x), or one less
  for (;; s.q--) {
    int e;
    s.z = scale(s.m, s.q, &e);
    s.point = -(e + s.e);
    if (s.z >> s.point < TEN_17) return s;
  }
}

// x · 10^q / unit, rounded to a whole number; unit is 1, 10 or 100.
static uint64_t round_to_unit(const Scaled* s, uint64_t unit)
{
  uint64_t whole = (uint64_t)(s->z >> s->point), a = whole / unit;
  u128 fraction = s->z & (((u128)1 << s->point) - 1);
  u128 rest = ((u128)(whole % unit) << s->point) + fraction, half = ((u128)unit << s->point) >> 1;
  if (rest > half) return a + 1;
  if (rest <= half - SLACK) return a;
  tbBig middle = {.count = 1, .limb = {(2 * a + 1) * unit}}; // twice the point halfway
  int sign = tb_big_compare(&middle, -s->q, s->m, s->e + 1);
  return a + (sign < 0 || (sign == 0 && (a & 1)));
}

// digits · 10^exponent as text. Plain between 1e-5 and 1e17, with an exponent beyond.
static char* layout(char* out, uint64_t digits, int exponent)
{
  while (digits % 10 == 0) digits /= 10, exponent++;
  char text[20];
  int count = 0;
  for (uint64_t d = digits; d; d /= 10) text[19 - count++] = (char)('0' + d % 10);
  const char* first = text + 20 - count;
  int top = exponent + count - 1; // the decimal exponent of the first digit

  if (top < -5 || top >= 17) {
    *out++ = *first;
    if (count > 1) *out++ = '.';
    for (int i = 1; i < count; i++) *out++ = first[i];
    *out++ = 'e';
    if (top < 0) *out++ = '-';
    int power = top < 0 ? -top : top;
    if (power >= 100) *out++ = (char)('0' + power / 100);
    if (power >= 10) *out++ = (char)('0' + power / 10 % 10);
    *out++ = (char)('0' + power % 10);
    return out;
  }
  if (top < 0) *out++ = '0', *out++ = '.';
  for (int i = top + 1; i < 0; i++) *out++ = '0';
  for (int i = 0; i < count; i++) {
    if (i == top + 1 && i > 0 && top >= 0) *out++ = '.';
    *out++ = first[i];
  }
  for (int i = 0; i < exponent; i++) *out++ = '0';
  return out;
}

int tb_format_double(double x, char out[TB_DOUBLE_TEXT])
{
  char* at = out;
  if (signbit(x) && !isnan(x)) *at++ = '-';
  x = fabs(x);
  if (!isfinite(x) || x == 0) {
    const char* name = isnan(x) ? "nan" : x > 0 ? "inf" : "0";
    memcpy(at, name, strlen(name) + 1);
    return (int)(at - out + (long)strlen(name));
  }
  Scaled s = scale_to_17_digits(x);
  uint64_t digits = 0;
  int unit_power = 2;
  for (uint64_t unit = 100; unit; unit /= 10, unit_power--) {
    digits = round_to_unit(&s, unit);
    if (unit == 1) break;
    tbDecimal d = {.digits = digits, .exponent = unit_power - s.q};
    if (tb_decimal_value(&d) == x) break;
  }
  at = layout(at, digits, unit_power - s.q);
  *at = 0;
  return (int)(at - out);
}
