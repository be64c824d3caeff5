// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"
#include "test.h"

static int ascending(const void* a, const void* b)
{
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

TEST(nothing_at_all_can_be_sorted)
{
  int items[] = {3, 1, 2};
  tb_sort(items, 3, sizeof *items, ascending);
  CHECK(items[0] == 1 && items[1] == 2 && items[2] == 3);
  tb_sort(NULL, 0, sizeof *items, ascending); // the sanitizers watch
}
