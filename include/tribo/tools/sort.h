// SPDX-License-Identifier: Apache-2.0
// Sorting.
#ifndef TRIBO_TOOLS_SORT_H
#define TRIBO_TOOLS_SORT_H

#include "tribo/api.h"

#include <stdlib.h>

TB_API_BEGIN

// As qsort, and takes none at all: an empty array has no address, which qsort must not be given.
static inline void tb_sort(void* items, size_t count, size_t size, int (*compare)(const void*, const void*))
{
  if (count > 1) qsort(items, count, size, compare);
}

TB_API_END
#endif
