// SPDX-License-Identifier: Apache-2.0
// A context for code that allocates inside a parallel loop.
//
// A context serves one thread at a time, and a caller's allocator is never called by two at once. Each piece
// of such a loop therefore gets a context of its own, whose allocator takes a lock around the caller's; the C
// library's needs none.
//
//   tbShared shared;
//   tb_shared_begin(&shared, ctx);
//   … in the loop: tbContext own = tb_shared_context(&shared);
//   tb_shared_end(&shared);
#ifndef TB_BASE_SHARED_H
#define TB_BASE_SHARED_H

#include "tribo/base.h"

#include <pthread.h>

typedef struct tbShared {
  const tbContext* ctx;
  pthread_mutex_t lock; // free for the loop's other needs, too
} tbShared;

void tb_shared_begin(tbShared* shared, const tbContext* ctx);
tbContext tb_shared_context(tbShared* shared); // loops inside the loop run inline
void tb_shared_end(tbShared* shared);

#endif
