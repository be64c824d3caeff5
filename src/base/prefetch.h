// SPDX-License-Identifier: Apache-2.0
// Asks for memory that will soon be read, where a loop knows its order and the processor cannot guess it.
#ifndef TB_BASE_PREFETCH_H
#define TB_BASE_PREFETCH_H

#include <stddef.h>

static inline void tb_prefetch(const void* p, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char*)p + i);
}

#endif
