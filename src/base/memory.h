// SPDX-License-Identifier: Apache-2.0
#ifndef TB_BASE_MEMORY_H
#define TB_BASE_MEMORY_H

#include "tribo/tools/memory.h"

// As tb_alloc, for memory that is written before it is read: not zeroed.
void* tb_alloc_unset(tbContext* ctx, size_t count, size_t size);
void* tb_arena_take_unset(tbArena* arena, size_t count, size_t size); // and as tb_arena_take
#define TB_TAKE_UNSET(arena, type, count) ((type*)tb_arena_take_unset(arena, count, sizeof(type)))

#endif
