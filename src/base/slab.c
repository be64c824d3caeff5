// SPDX-License-Identifier: Apache-2.0
#include "base/slab.h"

static void* take(void* user, size_t size, size_t alignment)
{
  tbSlab* slab = user;
  size_t at = (slab->used + alignment - 1) / alignment * alignment;
  if (at > slab->size || size > slab->size - at) return NULL;
  slab->used = at + size;
  return slab->base + at;
}

static void leave(void* user, void* pointer) { (void)user, (void)pointer; }

tbContext tb_slab_context(tbSlab* slab, const tbContext* like)
{
  tbContext ctx = tb_default_context();
  ctx.allocator = (tbAllocator){.alloc = take, .free = leave, .user = slab};
  ctx.threads = like->threads;
  ctx.interrupt = like->interrupt;
  return ctx;
}

void tb_slab_reset(tbSlab* slab) { slab->used = 0; }
