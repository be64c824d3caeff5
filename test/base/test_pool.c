// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"
#include "base/memory.h"
#include "test.h"

#include <string.h>

TEST(a_second_call_takes_what_the_first_gave_back)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbPool pool;
  tb_pool_init(&pool);
  long total[3];
  for (int call = 0; call < 3; call++) {
    tbContext own = tb_pool_begin(&pool, &ctx);
    char* block[300];
    for (int i = 0; i < 300; i++) {
      size_t size = (size_t)(1 + i * i * 7 % 5000);
      REQUIRE((block[i] = TB_NEW(&own, char, size)) != NULL);
      CHECK((uintptr_t)block[i] % TB_ALIGNMENT == 0 && block[i][0] == 0 && block[i][size - 1] == 0);
      memset(block[i], 1 + call, size);
    }
    for (int i = 0; i < 300; i++) { // in another order
      int k = i * 7 % 300;
      CHECK(block[k][0] == 1 + call);
      tb_free(&own, block[k]);
    }
    tb_pool_end(&pool, &own, &ctx);
    total[call] = state.total;
  }
  CHECK(total[0] >= 300);
  CHECK(total[1] == total[0] && total[2] == total[0]);
  tb_pool_free(&ctx, &pool);
  CHECK(state.alive == 0);
}

TEST(blocks_pass_between_a_pool_and_its_context)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbPool pool;
  tb_pool_init(&pool);
  char* before = TB_NEW(&ctx, char, 5000);
  tbContext own = tb_pool_begin(&pool, &ctx);
  tb_free(&own, before);
  char* after = TB_NEW(&own, char, 5000);
  tb_pool_end(&pool, &own, &ctx);
  tb_free(&ctx, after);
  own = tb_pool_begin(&pool, &ctx);
  char* again = TB_NEW(&own, char, 5000); // at the same address or not, it is in use once
  REQUIRE(again);
  tb_free(&own, again);
  tb_pool_end(&pool, &own, &ctx);
  tb_pool_free(&ctx, &pool);
  CHECK(state.alive == 0);
}

TEST(what_no_call_needs_any_more_is_freed)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbPool pool;
  tb_pool_init(&pool);
  long alive = 0;
  for (int call = 0; call < 200; call++) {
    tbContext own = tb_pool_begin(&pool, &ctx);
    char *large = call == 0 ? TB_NEW(&own, char, 1 << 20) : NULL, *small = TB_NEW(&own, char, 100);
    tb_free(&own, small);
    tb_free(&own, large);
    tb_pool_end(&pool, &own, &ctx);
    if (call == 0) alive = state.alive;
  }
  CHECK(state.alive == alive - 1);
  tb_pool_free(&ctx, &pool);
  CHECK(state.alive == 0);
}

TEST(a_pool_says_where_memory_ends)
{
  for (int fails = 0; fails < 8; fails++) {
    tbFailingAllocator state = {.countdown = fails};
    tbContext ctx = test_failing_context(&state);
    tbPool pool;
    tb_pool_init(&pool);
    tbContext own = tb_pool_begin(&pool, &ctx);
    char* block[6];
    for (int i = 0; i < 6; i++) block[i] = TB_NEW(&own, char, 1000);
    bool failed = false;
    for (int i = 0; i < 6; i++) failed = failed || !block[i];
    CHECK(failed == (own.error.status == TB_ERROR_MEMORY));
    for (int i = 0; i < 6; i++) tb_free(&own, block[i]);
    tb_pool_end(&pool, &own, &ctx);
    CHECK(ctx.error.status == own.error.status);
    tb_pool_free(&ctx, &pool);
    CHECK(state.alive == 0);
  }
}
