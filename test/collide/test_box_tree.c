// SPDX-License-Identifier: Apache-2.0
#include "collide/box_tree.h"
#include "geometry/box.h"
#include "test.h"

#include <stdlib.h>

enum { BOXES = 700 };

static tbBox random_box(tbRandom* r, double spread, double size)
{
  tbVec3 lo = tb_vec3(test_uniform(r, -spread, spread), test_uniform(r, -spread, spread),
                      test_uniform(r, -spread, spread));
  return (tbBox){
      lo, tb_add3(lo, tb_vec3(test_uniform(r, 0, size), test_uniform(r, 0, size), test_uniform(r, 0, size)))};
}

TEST(fat_box_is_the_smallest_of_floats_around_a_box)
{
  tbRandom r = test_random(41);
  for (int k = 0; k < 2000; k++) {
    tbBox b = random_box(&r, k % 2 ? 1e7 : 1, k % 3 ? 1 : 1e-6);
    tbFatBox f = tb_fat_box(&b);
    const double own[6] = {b.lo.x, b.lo.y, b.lo.z, -b.hi.x, -b.hi.y, -b.hi.z};
    for (int i = 0; i < 6; i++)
      CHECK((double)f.bound[i] <= own[i] && (double)nextafterf(f.bound[i], INFINITY) > own[i]);
  }
  tbBox far = {{-1e300, 0, 0}, {1, INFINITY, 1}}, near = {{0, 0, 0}, {1, 1, 1}};
  tbFatBox f = tb_fat_box(&far), n = tb_fat_box(&near);
  CHECK(!tb_fat_box_is_finite(&f) && tb_fat_box_is_finite(&n));
}

// What a walk finds of the entries is what brute force finds.
static void check_walks(const tbBoxTree* tree, tbRandom* r, double spread)
{
  const tbBoxTreeEntry* entry = tree->entry.data;
  int met = 0;
  for (int k = 0; k < 40; k++) {
    tbBox box = random_box(r, spread, 2);
    tbFatBox fat = tb_fat_box(&box), ask = tb_fat_box_ask(&fat);
    int expected = 0, found = 0;
    for (size_t i = 0; i < tree->entry.count; i++) expected += tb_fat_box_meets(&entry[i].box, &ask);
    tbBoxTreeWalk walk;
    tb_box_tree_walk(tree, &walk);
    for (const tbBoxTreeNode* leaf; (leaf = tb_box_tree_next(&walk, &ask)) != NULL;)
      for (int i = leaf->link; i < leaf->link + leaf->count; i++)
        found += tb_fat_box_meets(&entry[i].box, &ask);
    CHECK(found == expected);
    met += expected;
  }
  CHECK(met > 0 || tree->entry.count < 20);
}

TEST(box_tree_finds_what_brute_force_finds_also_after_boxes_moved)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(42);
  tbBoxTree tree;
  tb_box_tree_init(&tree);
  static const int counts[] = {0, 1, 2, 3, 4, 7, 50, BOXES};
  for (int c = 0; c < 8; c++) {
    tree.entry.count = 0;
    for (int i = 0; i < counts[c]; i++) {
      tbBox box = random_box(&r, 5, i % 60 == 0 ? 50 : 1);
      if (i % 9 == 0) box = (tbBox){{1, 1, 1}, {2, 2, 2}}; // many at one place
      tbBoxTreeEntry e = {.box = tb_fat_box(&box), .item = i};
      CHECK_OK(&ctx, tb_array_push(&ctx, &tree.entry, &e, 1));
    }
    CHECK_OK(&ctx, tb_box_tree_build(&ctx, &tree));
    bool seen[BOXES] = {false};
    for (int i = 0; i < counts[c]; i++) seen[((tbBoxTreeEntry*)tree.entry.data)[i].item] = true;
    for (int i = 0; i < counts[c]; i++) CHECK(seen[i]);
    check_walks(&tree, &r, 5);
    double area = tree.area;
    for (int i = 0; i < counts[c]; i++) {
      tbBox box = random_box(&r, 5, 1);
      ((tbBoxTreeEntry*)tree.entry.data)[i].box = tb_fat_box(&box);
    }
    tb_box_tree_refit(&tree);
    check_walks(&tree, &r, 5);
    if (c == 7) CHECK(tree.area > 1.4 * area); // mixed up: it shows
  }
  tb_box_tree_free(&ctx, &tree);
}
