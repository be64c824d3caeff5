// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "test.h"

#include <string.h>

TEST(alloc_refuses_sizes_that_overflow)
{
  tbContext ctx = tb_default_context();
  CHECK(tb_alloc(&ctx, SIZE_MAX / 2, 8) == NULL);
  CHECK(ctx.error.status == TB_ERROR_MEMORY);
  CHECK(ctx.error.source_line > 0 && strstr(ctx.error.source_file, "memory.c"));
}

TEST(arena_blocks_are_zeroed_aligned_and_apart)
{
  tbContext ctx = tb_default_context();
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  char* last = NULL;
  for (int i = 0; i < 2000; i++) {
    size_t size = (size_t)(i * 37 % 1000);
    char* p = TB_TAKE(&arena, char, size);
    REQUIRE(p);
    CHECK((uintptr_t)p % TB_ALIGNMENT == 0 && p != last);
    for (size_t k = 0; k < size; k++) REQUIRE(p[k] == 0);
    memset(p, 1, size);
    last = p;
  }
  tb_arena_reset(&arena);
  char* again = TB_TAKE(&arena, char, 100);
  CHECK(again && again[0] == 0 && again[99] == 0);
  tb_arena_free(&arena);
}

TEST(arena_survives_a_failed_take)
{
  tbFailingAllocator state = {.countdown = 1};
  tbContext ctx = test_failing_context(&state);
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  char* first = TB_TAKE(&arena, char, 10);
  REQUIRE(first);
  first[9] = 7;
  CHECK(TB_TAKE(&arena, char, 1 << 20) == NULL);
  CHECK(ctx.error.status == TB_ERROR_MEMORY);
  CHECK(first[9] == 7 && TB_TAKE(&arena, char, 10) != NULL);
  tb_arena_free(&arena);
  CHECK(state.alive == 0);
}

TEST(error_messages_stay_on_one_line)
{
  tbContext ctx = tb_default_context();
  tb_fail(&ctx, TB_ERROR_INPUT, "a\nb\x01%s", "c\t");
  CHECK(strcmp(ctx.error.message, "a?b?c?") == 0);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

// One past the end of an array belongs to no array, whether the next array follows in the arena or not; nor
// does an array of an arena that was reset.
TEST(arrays_are_fenced_under_the_sanitizer)
{
  tbContext ctx = tb_default_context();
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  for (size_t count = 0; count < 20; count++) {
    double *a = TB_TAKE(&arena, double, count), *b = TB_TAKE(&arena, double, 8);
    double* c = TB_NEW(&ctx, double, count);
    CHECK(__asan_address_is_poisoned(a + count) && __asan_address_is_poisoned(c + count));
    CHECK(count == 0 ||
          (!__asan_address_is_poisoned(a + count - 1) && !__asan_address_is_poisoned(c + count - 1)));
    CHECK(!__asan_address_is_poisoned(b) && !__asan_address_is_poisoned(b + 7) &&
          __asan_address_is_poisoned(b + 8));
    tb_free(&ctx, c);
    if (count % 7 != 6) continue;
    tb_arena_reset(&arena);
    CHECK(__asan_address_is_poisoned(b));
  }
  tb_arena_free(&arena);
}
#endif
