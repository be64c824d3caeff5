// SPDX-License-Identifier: Apache-2.0
// A block of memory as the allocator of a context of its own: for code that allocates, called where nothing
// may be allocated. What is freed is lost until the slab is reset; a slab that is full is out of memory.
#ifndef TB_BASE_SLAB_H
#define TB_BASE_SLAB_H

#include "tribo/base.h"

typedef struct tbSlab {
  char* base; // the caller's, aligned to a cache line
  size_t size, used;
} tbSlab;

tbContext tb_slab_context(tbSlab* slab,
                          const tbContext* like); // its threads and its interrupt are those of `like`
void tb_slab_reset(tbSlab* slab);

#endif
