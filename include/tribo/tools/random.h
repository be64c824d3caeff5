// SPDX-License-Identifier: Apache-2.0
// Small deterministic random numbers (SplitMix64; Steele, Lea, Flood 2014). State belongs to the caller.
#ifndef TRIBO_TOOLS_RANDOM_H
#define TRIBO_TOOLS_RANDOM_H

#include "tribo/api.h"

#include <stdint.h>

TB_API_BEGIN

static inline uint64_t tb_random_bits(uint64_t* state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static inline double tb_random_uniform(uint64_t* state, double lo, double hi)
{
  return lo + (hi - lo) * ((double)(tb_random_bits(state) >> 11) * 0x1p-53);
}

// 0 … n−1, n ≥ 1. The bias of the remainder is below n/2⁶⁴.
static inline int tb_random_below(uint64_t* state, int n)
{
  return (int)(tb_random_bits(state) % (uint64_t)n);
}

TB_API_END
#endif
