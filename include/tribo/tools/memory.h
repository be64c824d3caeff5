// SPDX-License-Identifier: Apache-2.0
// Allocation, arenas, scratch.
//
// Three lifetimes, three tools:
//   TB_NEW / tb_free   one block with an owner of its own
//   tbArena            many blocks that die together: a problem's arrays, a step's temporaries
//   tbScratch          a solver's working memory, sized beforehand, handed to it by the caller
#ifndef TRIBO_TOOLS_MEMORY_H
#define TRIBO_TOOLS_MEMORY_H

#include "tribo/tools/status.h"

TB_API_BEGIN

#define TB_ALIGNMENT 64 // a cache line; every block Tribo hands out starts on one

// Zeroed memory for count objects; null on failure or overflow, with ctx->error set. A count of 0 gives a
// valid pointer. Free with tb_free.
void* tb_alloc(tbContext* ctx, size_t count, size_t size);
void tb_free(tbContext* ctx, void* pointer); // takes null
#define TB_NEW(ctx, type, count) ((type*)tb_alloc(ctx, count, sizeof(type)))

// A bump allocator that grows by blocks. A failed take leaves ctx->error set and the arena usable.
typedef struct tbArenaBlock tbArenaBlock;
typedef struct tbArena {
  tbContext* ctx;
  tbArenaBlock* blocks; // newest first
  size_t block_bytes;   // size of the next ordinary block
} tbArena;

void tb_arena_init(tbArena* arena, tbContext* ctx);
void* tb_arena_take(tbArena* arena, size_t count, size_t size); // zeroed; null on failure
void tb_arena_reset(
    tbArena* arena); // forget everything, keep the largest block; the next is to hold all of it
void tb_arena_free(tbArena* arena);
#define TB_TAKE(arena, type, count) ((type*)tb_arena_take(arena, count, sizeof(type)))

// A solver's working memory. Lay it out twice with the same code: once over a null base, which only counts
// the bytes, and once over the real block.
typedef struct tbScratch {
  char* base; // null while counting
  size_t size, used;
} tbScratch;

void* tb_scratch_take(tbScratch* scratch, size_t count, size_t size); // not zeroed
#define TB_SCRATCH(scratch, type, count) ((type*)tb_scratch_take(scratch, count, sizeof(type)))

TB_API_END
#endif
