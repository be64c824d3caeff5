// SPDX-License-Identifier: Apache-2.0
// Counting sorts, one key at a time: the least significant first, since equal items keep their order.
#ifndef TB_FEM_SORT_H
#define TB_FEM_SORT_H

#include "base/memory.h"

// 0 … count−1, to begin with; null when memory runs out.
static inline int* tb_sort_begin(tbArena* arena, int count)
{
  int* item = TB_TAKE(arena, int, (size_t)count);
  for (int i = 0; item && i < count; i++) item[i] = i;
  return item;
}

// Sorts *item by key[item], each in 0 … keys−1. Linear in count and keys.
static inline tbStatus tb_sort_by(tbArena* arena, int keys, int count, const int* key, int** item)
{
  int* ptr = TB_TAKE(arena, int, (size_t)keys + 1);
  int* sorted = TB_TAKE(arena, int, (size_t)count);
  if (!ptr || !sorted) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) ptr[key[i] + 1]++;
  for (int k = 0; k < keys; k++) ptr[k + 1] += ptr[k];
  for (int i = 0; i < count; i++) sorted[ptr[key[(*item)[i]]]++] = (*item)[i];
  *item = sorted;
  return TB_OK;
}

#endif
