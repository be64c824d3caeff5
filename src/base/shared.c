// SPDX-License-Identifier: Apache-2.0
#include "base/shared.h"

static void* locked_alloc(void* user, size_t size, size_t alignment)
{
  tbShared* s = user;
  pthread_mutex_lock(&s->lock);
  void* pointer = s->ctx->allocator.alloc(s->ctx->allocator.user, size, alignment);
  pthread_mutex_unlock(&s->lock);
  return pointer;
}

static void locked_free(void* user, void* pointer)
{
  tbShared* s = user;
  pthread_mutex_lock(&s->lock);
  s->ctx->allocator.free(s->ctx->allocator.user, pointer);
  pthread_mutex_unlock(&s->lock);
}

void tb_shared_begin(tbShared* s, const tbContext* ctx)
{
  s->ctx = ctx;
  pthread_mutex_init(&s->lock, NULL);
}

tbContext tb_shared_context(tbShared* s)
{
  tbContext own = {.threads = s->ctx->threads, .interrupt = s->ctx->interrupt};
  if (s->ctx->allocator.alloc) own.allocator = (tbAllocator){locked_alloc, locked_free, s};
  return own;
}

void tb_shared_end(tbShared* s) { pthread_mutex_destroy(&s->lock); }
