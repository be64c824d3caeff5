// SPDX-License-Identifier: Apache-2.0
// Vector operations, at every width that this build has and the processor knows.
#include "base/kernels.h"
#include "base/simd_lanes.h"
#include "test.h"

#include <string.h>

#ifdef TB_SIMD_AUTO
#define EACH(name)                        \
  do {                                    \
    void name##_sse2(void);               \
    void name##_avx2(void);               \
    void name##_avx512(void);             \
    name##_sse2();                        \
    if (tb_has_avx2()) name##_avx2();     \
    if (tb_has_avx512()) name##_avx512(); \
  } while (0)
#else
#define EACH(name) name()
#endif

TEST(simd_lanes_round_like_plain_c) { EACH(tb_test_lanes); }

TEST(simd_parts_leave_the_other_lanes_alone) { EACH(tb_test_parts); }

TEST(wide_floats_round_like_plain_c_and_turn_rows_into_columns) { EACH(tb_test_floats); }

TEST(six_floats_are_compared_as_plain_c_does) { EACH(tb_test_six); }

TEST(simd_name_is_one_of_the_table)
{
  static const char* const names[] = {"scalar", "sse2", "avx2", "avx512", "neon", "wasm"};
  int known = 0;
  for (int i = 0; i < 6; i++) known += strcmp(tb_simd_name(), names[i]) == 0;
  CHECK(known == 1);
}
