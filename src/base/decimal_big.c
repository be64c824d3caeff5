// SPDX-License-Identifier: Apache-2.0
#include "base/decimal_big.h"

#include <assert.h>
#include <string.h>

typedef unsigned __int128 u128;

void tb_big_multiply_add(tbBig* a, uint64_t factor, uint64_t add)
{
  u128 carry = add;
  for (int i = 0; i < a->count; i++) {
    carry += (u128)a->limb[i] * factor;
    a->limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  if (!carry) return;
  assert(a->count < TB_BIG_LIMBS);
  a->limb[a->count++] = (uint64_t)carry;
}

static void multiply_pow5(tbBig* a, int64_t power)
{
  for (; power >= 27; power -= 27)
    tb_big_multiply_add(a, 7450580596923828125u, 0); // 5^27, the last in 64 bits
  for (; power > 0; power--) tb_big_multiply_add(a, 5, 0);
}

static void shift_left(tbBig* a, int64_t bits)
{
  int words = (int)(bits / 64), rest = (int)(bits % 64);
  tb_big_multiply_add(a, (uint64_t)1 << rest, 0);
  assert(a->count + words <= TB_BIG_LIMBS);
  memmove(a->limb + words, a->limb, (size_t)a->count * sizeof a->limb[0]);
  memset(a->limb, 0, (size_t)words * sizeof a->limb[0]);
  a->count += words;
}

static int compare(const tbBig* a, const tbBig* b)
{
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int i = a->count - 1; i >= 0; i--)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

// The powers of five go to whichever side keeps them whole, and what is left of the powers of two to the
// other or the same; what the two sides then are has the proportion of the numbers compared.
int tb_big_compare(tbBig* d, int64_t p, uint64_t m, int64_t e)
{
  tbBig b = {.count = 1, .limb = {m}};
  multiply_pow5(p < 0 ? &b : d, p < 0 ? -p : p);
  if (p >= e) shift_left(d, p - e);
  else shift_left(&b, e - p);
  return compare(d, &b);
}
