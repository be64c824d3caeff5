// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FORGET = 64, FIRST = 256 }; // calls after which an unused block is freed; entries to begin with

struct tbPoolBlock {
  void* address; // null: an unused entry
  int next;      // of the kept blocks of its class, or of the unused entries
  int class;
  bool used;    // in use, and in the hash table
  unsigned age; // call that used it last
};

// ---- classes of sizes: 4, 5, 6, 7 times a power of two ----

static int class_of(size_t bytes)
{
  int power = 0;
  size_t unit = bytes > 256 ? bytes : 256;
  while (unit >> power > 7) power++;
  int step = (int)(unit >> power) - 4;
  if (((unit >> power) << power) < unit) step++;
  return 4 * (power - 6) + step;
}

static size_t size_of(int class) { return (size_t)(4 + class % 4) << (6 + class / 4); }

// ---- blocks in use, by address: open addressing ----

static int home_of(const tbPool* p, const void* address)
{
  uint64_t key = (uint64_t)(uintptr_t)address >> 4;
  return (int)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (unsigned)(p->slots - 1));
}

static int find(const tbPool* p, const void* address)
{
  for (int i = p->slots ? home_of(p, address) : 0; p->slots; i = (i + 1) & (p->slots - 1)) {
    if (p->slot[i] < 0) return -1;
    if (p->block[p->slot[i]].address == address) return i;
  }
  return -1;
}

static void insert(tbPool* p, int block)
{
  int i = home_of(p, p->block[block].address);
  while (p->slot[i] >= 0) i = (i + 1) & (p->slots - 1);
  p->slot[i] = block;
}

// Takes entry i out and moves back those behind it that it was in the way of.
static void erase(tbPool* p, int i)
{
  int mask = p->slots - 1;
  for (int k = (i + 1) & mask; p->slot[k] >= 0; k = (k + 1) & mask) {
    int home = home_of(p, p->block[p->slot[k]].address);
    if (((k - home) & mask) < ((k - i) & mask)) continue;
    p->slot[i] = p->slot[k];
    i = k;
  }
  p->slot[i] = -1;
}

// ---- entries ----

// Room for twice as many.
static bool grow(tbPool* p)
{
  int capacity = p->capacity ? 2 * p->capacity : FIRST, slots = 2 * capacity;
  tbContext quiet = *p->ctx; // the caller of the allocation says that memory is out
  tbPoolBlock* block = TB_NEW(&quiet, tbPoolBlock, (size_t)capacity);
  int* slot = TB_NEW(&quiet, int, (size_t)slots);
  if (!block || !slot) {
    tb_free(&quiet, block);
    tb_free(&quiet, slot);
    return false;
  }
  if (p->capacity) memcpy(block, p->block, (size_t)p->capacity * sizeof *block);
  tb_free(&quiet, p->block);
  tb_free(&quiet, p->slot);
  p->block = block, p->slot = slot, p->slots = slots;
  for (int i = 0; i < slots; i++) slot[i] = -1;
  for (int i = 0; i < p->capacity; i++)
    if (block[i].used) insert(p, i);
  for (int i = capacity - 1; i >= p->capacity; i--) block[i].next = p->spare, p->spare = i;
  p->capacity = capacity;
  return true;
}

static void forget(tbPool* p, int i)
{
  p->block[i] = (tbPoolBlock){.next = p->spare};
  p->spare = i;
}

// ---- the allocator ----

static void* below(tbPool* p, size_t bytes, size_t alignment)
{
  const tbAllocator* a = &p->ctx->allocator;
  if (a->alloc) return a->alloc(a->user, bytes, alignment);
  return aligned_alloc(alignment, bytes);
}

static void* take(void* user, size_t bytes, size_t alignment)
{
  tbPool* p = user;
  int class = bytes <= SIZE_MAX / 4 && alignment <= TB_ALIGNMENT ? class_of(bytes) : TB_POOL_CLASSES;
  if (class >= TB_POOL_CLASSES) return below(p, bytes, alignment);
  int i = p->kept[class];
  if (i >= 0) {
    p->kept[class] = p->block[i].next;
  } else {
    void* address = below(p, size_of(class), TB_ALIGNMENT);
    if (!address) return NULL;
    if (p->spare < 0 && !grow(p)) {
      tb_free(p->ctx, address);
      return NULL;
    }
    i = p->spare;
    p->spare = p->block[i].next;
    p->block[i] = (tbPoolBlock){.address = address, .class = class};
  }
  p->block[i].used = true;
  p->block[i].age = p->age;
  insert(p, i);
  return p->block[i].address;
}

static void give(void* user, void* address)
{
  tbPool* p = user;
  int at = find(p, address);
  if (at < 0) { // not the pool's
    tb_free(p->ctx, address);
    return;
  }
  int i = p->slot[at];
  erase(p, at);
  p->block[i].used = false;
  p->block[i].next = p->kept[p->block[i].class];
  p->kept[p->block[i].class] = i;
}

// ---- calls ----

void tb_pool_init(tbPool* p)
{
  *p = (tbPool){.spare = -1};
  for (int i = 0; i < TB_POOL_CLASSES; i++) p->kept[i] = -1;
}

tbContext tb_pool_begin(tbPool* p, tbContext* ctx)
{
  tbContext own = *ctx;
  if (p->off) return own;
  p->ctx = ctx;
  p->age++;
  own.allocator = (tbAllocator){.alloc = take, .free = give, .user = p};
  return own;
}

// Frees the kept blocks that no call of the last `calls` used.
static void drop(tbPool* p, tbContext* ctx, unsigned calls)
{
  for (int class = 0; class < TB_POOL_CLASSES; class ++)
    for (int *link = &p->kept[class], i; (i = *link) >= 0;) {
      if (p->age - p->block[i].age < calls) {
        link = &p->block[i].next;
        continue;
      }
      *link = p->block[i].next;
      tb_free(ctx, p->block[i].address);
      forget(p, i);
    }
}

void tb_pool_end(tbPool* p, const tbContext* own, tbContext* ctx)
{
  ctx->error = own->error;
  for (int i = 0; i < p->slots; i++) {
    if (p->slot[i] < 0) continue;
    forget(p, p->slot[i]);
    p->slot[i] = -1;
  }
  drop(p, ctx, FORGET);
  p->ctx = NULL;
}

void tb_pool_free(tbContext* ctx, tbPool* p)
{
  drop(p, ctx, 0);
  tb_free(ctx, p->block);
  tb_free(ctx, p->slot);
  tb_pool_init(p);
}
