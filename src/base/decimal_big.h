// SPDX-License-Identifier: Apache-2.0
// Whole numbers of up to 4096 bits: as much as exact decimal conversion needs. decimal.c asks for less than
// 2800.
#ifndef TB_BASE_DECIMAL_BIG_H
#define TB_BASE_DECIMAL_BIG_H

#include <stdint.h>

enum { TB_BIG_LIMBS = 64 };

typedef struct tbBig {
  int count;                   // limbs in use, the highest not zero; 0 is the number 0
  uint64_t limb[TB_BIG_LIMBS]; // least first
} tbBig;

void tb_big_multiply_add(tbBig* a, uint64_t factor, uint64_t add); // a ← a · factor + add, factor > 0

// The sign of d · 10^p − m · 2^e, for d, m > 0 that are nearly in that proportion. Uses d up.
int tb_big_compare(tbBig* d, int64_t p, uint64_t m, int64_t e);

#endif
