// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t round_up(size_t bytes) { return (bytes + TB_ALIGNMENT - 1) & ~(size_t)(TB_ALIGNMENT - 1); }

// count · size rounded up to whole cache lines, or 0 when that does not fit a size_t.
static size_t block_size(size_t count, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return 0;
  return round_up(bytes ? bytes : 1);
}

// Under the address sanitizer what lies behind an array is out of bounds: the rest of its last cache line
// and, in an arena, a line more, so that an array does not end where the next one starts.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { FENCE = TB_ALIGNMENT };
static void close_off(const tbContext* ctx, void* from, size_t bytes)
{
  if (!ctx->allocator.alloc) ASAN_POISON_MEMORY_REGION(from, bytes);
}
static void open_up(void* from, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(from, bytes); }
#else
enum { FENCE = 0 };
static void close_off(const tbContext* ctx, void* from, size_t bytes) { (void)ctx, (void)from, (void)bytes; }
static void open_up(void* from, size_t bytes) { (void)from, (void)bytes; }
#endif

static void* raw_alloc(tbContext* ctx, size_t bytes)
{
  if (ctx->allocator.alloc) return ctx->allocator.alloc(ctx->allocator.user, bytes, TB_ALIGNMENT);
  return aligned_alloc(TB_ALIGNMENT, bytes);
}

static void* alloc_or_fail(tbContext* ctx, size_t bytes, size_t count, size_t size)
{
  void* pointer = bytes ? raw_alloc(ctx, bytes) : NULL;
  if (!pointer) tb_fail(ctx, TB_ERROR_MEMORY, "out of memory: %zu × %zu bytes", count, size);
  return pointer;
}

void* tb_alloc(tbContext* ctx, size_t count, size_t size)
{
  void* pointer = tb_alloc_unset(ctx, count, size);
  return pointer ? memset(pointer, 0, count * size) : NULL;
}

void* tb_alloc_unset(tbContext* ctx, size_t count, size_t size)
{
  size_t bytes = block_size(count, size);
  char* pointer = alloc_or_fail(ctx, bytes, count, size);
  if (pointer) close_off(ctx, pointer + count * size, bytes - count * size);
  return pointer;
}

void tb_free(tbContext* ctx, void* pointer)
{
  if (!pointer) return;
  if (ctx->allocator.alloc) ctx->allocator.free(ctx->allocator.user, pointer);
  else free(pointer);
}

struct tbArenaBlock {
  tbArenaBlock* next;
  size_t size, used; // of the bytes that follow the header
};

enum { HEADER = TB_ALIGNMENT, FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 16 * 1024 * 1024 };

void tb_arena_init(tbArena* arena, tbContext* ctx)
{
  *arena = (tbArena){.ctx = ctx, .block_bytes = FIRST_BLOCK};
}

void* tb_arena_take_unset(tbArena* arena, size_t count, size_t size)
{
  size_t bytes = block_size(count, size);
  if (!bytes) {
    tb_fail(arena->ctx, TB_ERROR_MEMORY, "out of memory: %zu × %zu bytes", count, size);
    return NULL;
  }
  bytes += FENCE;
  tbArenaBlock* block = arena->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t room = bytes > arena->block_bytes ? bytes : arena->block_bytes;
    block = alloc_or_fail(arena->ctx, block_size(1, HEADER + room), count, size);
    if (!block) return NULL;
    *block = (tbArenaBlock){.next = arena->blocks, .size = room}; // what is taken is zeroed then
    arena->blocks = block;
    if (arena->block_bytes < LARGEST_BLOCK) arena->block_bytes *= 2;
  }
  char* pointer = (char*)block + HEADER + block->used;
  block->used += bytes;
  open_up(pointer, count * size);
  close_off(arena->ctx, pointer + count * size, bytes - count * size);
  return pointer;
}

void* tb_arena_take(tbArena* arena, size_t count, size_t size)
{
  void* pointer = tb_arena_take_unset(arena, count, size);
  return pointer ? memset(pointer, 0, count * size) : NULL;
}

static void free_block(tbArena* arena, tbArenaBlock* block)
{
  open_up(block, HEADER + block->size);
  tb_free(arena->ctx, block);
}

void tb_arena_reset(tbArena* arena)
{
  tbArenaBlock* largest = arena->blocks;
  size_t used = 0;
  for (tbArenaBlock* b = arena->blocks; b; b = b->next) {
    used += b->used;
    if (b->size > largest->size) largest = b;
  }
  if (largest && used > largest->size && used > arena->block_bytes) arena->block_bytes = used;
  for (tbArenaBlock *b = arena->blocks, *next; b; b = next) {
    next = b->next;
    if (b != largest) free_block(arena, b);
  }
  arena->blocks = largest;
  if (largest) {
    largest->next = NULL;
    largest->used = 0;
    close_off(arena->ctx, (char*)largest + HEADER, largest->size); // until it is taken again
  }
}

void tb_arena_free(tbArena* arena)
{
  for (tbArenaBlock *b = arena->blocks, *next; b; b = next) {
    next = b->next;
    free_block(arena, b);
  }
  arena->blocks = NULL;
}

void* tb_scratch_take(tbScratch* scratch, size_t count, size_t size)
{
  size_t at = scratch->used;
  scratch->used += round_up(count * size);
  if (!scratch->base) return NULL;
  assert(scratch->used <= scratch->size);
  return scratch->base + at;
}
