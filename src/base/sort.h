// Sorting.
#ifndef TB_BASE_SORT_H
#define TB_BASE_SORT_H

#include <stdlib.h>

// As qsort, and takes none at all: an empty array has no address, which qsort must not be given.
static inline void tb_sort(void* items, size_t count, size_t size, int (*compare)(const void*, const void*))
{
  if (count > 1) qsort(items, count, size, compare);
}

#endif
