// SPDX-License-Identifier: Apache-2.0
// The vector widths that kernels take (base/kernels.h), of those this build and this processor have.
#ifndef TB_TEST_WIDTHS_H
#define TB_TEST_WIDTHS_H

// How many there are: the narrowest first.
int test_widths(void);
const char* test_width_name(int width);
// From now on kernels are those of this width; −1: of the widest, as at the start.
void test_take_width(int width);

#endif
