// SPDX-License-Identifier: Apache-2.0
#include "base/slab.h"
#include "base/memory.h"
#include "test.h"

TEST(a_slab_hands_out_what_it_has_and_no_more)
{
  _Alignas(TB_ALIGNMENT) char memory[4 * TB_ALIGNMENT];
  tbSlab slab = {.base = memory, .size = sizeof memory};
  tbContext like = tb_default_context(), ctx = tb_slab_context(&slab, &like);
  for (int round = 0; round < 2; round++) {
    char *a = TB_NEW(&ctx, char, TB_ALIGNMENT + 1), *b = TB_NEW(&ctx, char, 2 * TB_ALIGNMENT);
    CHECK(a == memory && b == memory + 2 * TB_ALIGNMENT);
    tb_free(&ctx, b); // is lost
    CHECK(!TB_NEW(&ctx, char, 1) && ctx.error.status == TB_ERROR_MEMORY);
    tb_slab_reset(&slab);
  }
}
