// SPDX-License-Identifier: Apache-2.0
#include "collide/box_box.h"
#include "oracle.h"
#include "widths.h"

#include <string.h>

static tbPlacedBox random_box(tbRandom* r, tbVec3 at)
{
  tbQuat q = test_below(r, 3) ? oracle_rotation(r) : oracle_quarter_turn(r);
  tbPlacedBox b = {.x = at, .R = tb_quat_mat3(q)};
  for (int k = 0; k < 3; k++) b.half[k] = test_below(r, 2) ? 0.5 : test_uniform(r, 0.1, 1);
  return b;
}

static bool same(const tbBoxAxis* a, const tbBoxAxis* b)
{
  return memcmp(&a->gap, &b->gap, sizeof a->gap) == 0 && a->apart == b->apart && a->face == b->face &&
         a->edges == b->edges;
}

// Up to eight pairs side by side, by every vector width that there is, against each of them alone.
TEST(axes_of_boxes_do_not_depend_on_the_lane_nor_on_what_is_beside)
{
  tbRandom r = test_random(17);
  int apart = 0, faces = 0, edges = 0;
  for (int trial = 0; trial < 300; trial++) {
    int count = 1 + test_below(&r, TB_BOX_LANES);
    tbBoxPairs pairs;
    tbBoxAxis alone[TB_BOX_LANES], together[TB_BOX_LANES];
    tb_box_pairs_begin(&pairs);
    for (int k = 0; k < count; k++) {
      tbBoxPairs one;
      double margin = test_uniform(&r, 0, 0.2);
      tbPlacedBox a = random_box(&r, tb_zero3()),
                  b = random_box(&r, tb_scale3(test_uniform(&r, 0, 2.5), oracle_direction(&r)));
      tb_box_pairs_begin(&one);
      test_take_width(0);
      bool swapped = tb_box_pairs_put(&one, 0, &a, &b, margin);
      tb_box_axes(&one, 1, &alone[k]);
      CHECK(tb_box_pairs_put(&pairs, k, &a, &b, margin) == swapped);
      apart += alone[k].apart > 0, edges += alone[k].edges > 0;
      faces += !alone[k].apart && !alone[k].edges;
      CHECK(alone[k].face >= 1 && alone[k].face <= 6 && !(alone[k].apart && alone[k].edges));
    }
    for (int width = 0; width < test_widths(); width++) {
      test_take_width(width);
      tb_box_axes(&pairs, count, together);
      for (int k = 0; k < count; k++) CHECK(same(&alone[k], &together[k]));
    }
  }
  test_take_width(-1);
  CHECK(apart > 100 && faces > 100 && edges > 100);
}
