// SPDX-License-Identifier: Apache-2.0
// Memory that a call gives back and its next call takes again: an allocator between a context and its own.
//
// A step allocates much the same blocks every time. From the C library they come as pages that the system has
// to clear first, which takes as long as the step's own work. A pool keeps the blocks that are freed during a
// call and hands them out in the next:
//
//   tbContext own = tb_pool_begin(&pool, ctx);     // the same context, its allocator the pool's
//   … work(&own) …
//   tb_pool_end(&pool, &own, ctx);
//
// Every block is one of ctx's allocator and has no header. What was allocated through the pool may outlive
// the call and be freed through ctx, and what was allocated through ctx may be freed through the pool.
#ifndef TB_BASE_POOL_H
#define TB_BASE_POOL_H

#include "tribo/base.h"

typedef struct tbPoolBlock tbPoolBlock;

enum { TB_POOL_CLASSES = 192 }; // of sizes, four to a power of two

typedef struct tbPool {
  bool off;       // every allocation goes to the context's own: for tests that make each of them fail
  tbContext* ctx; // during a call; else null
  tbPoolBlock* block;
  int capacity;              // blocks in use, kept for later, and entries for more
  int spare;                 // first of the unused entries of `block`, linked; −1: none
  int kept[TB_POOL_CLASSES]; // first of the kept blocks of a class, linked; −1: none
  int* slot;                 // a hash table of the blocks in use, by address; −1: empty
  int slots;                 // a power of two, or 0
  unsigned age;              // calls so far
} tbPool;

void tb_pool_init(tbPool* pool);
tbContext tb_pool_begin(tbPool* pool, tbContext* ctx);
// Blocks still in use are no longer the pool's; kept ones that no recent call needed are freed. ctx gets the
// error of the call.
void tb_pool_end(tbPool* pool, const tbContext* own, tbContext* ctx);
void tb_pool_free(tbContext* ctx, tbPool* pool); // everything that is kept

#endif
