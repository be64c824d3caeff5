// SPDX-License-Identifier: Apache-2.0
// The checks of test_simd.c.
#ifndef TB_TEST_BASE_SIMD_LANES_H
#define TB_TEST_BASE_SIMD_LANES_H

void tb_test_lanes(void);
void tb_test_parts(void);
void tb_test_six(void);
void tb_test_floats(void);

#endif
