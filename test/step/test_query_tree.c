// SPDX-License-Identifier: Apache-2.0
// A tree's answers are those of a world that is asked body by body.
#include "scene/world.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/query.h"

#include <string.h>

enum { BODIES = 120 };

static tbVec3 anywhere(tbRandom* r, double most)
{
  return tb_vec3(test_uniform(r, -most, most), test_uniform(r, -most, most), test_uniform(r, -most, most));
}

static tbBodyId add(tbContext* ctx, tbWorld* w, tbRandom* r, const tbShape* shapes, int count)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id;
  def.kind = TB_BODY_FIXED;
  def.shapes = shapes, def.shape_count = count;
  def.position = anywhere(r, 8);
  def.category = 1u << test_below(r, 3);
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, &id));
  return id;
}

// Boxes, spheres and capsules, two of which share a place, bodies of two shapes, one of none, a plane.
static tbWorld* make_world(tbContext* ctx, tbRandom* r, int count)
{
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  CHECK_OK(ctx, tb_world_create(ctx, &def, &w));
  for (int i = 0; i < count; i++) {
    tbShape shape[2] = {tb_shape_box(tb_vec3(1, 0.5, 2)), tb_shape_sphere(0.4)};
    if (i % 3 == 1) shape[0] = tb_shape_capsule(0.3, 1);
    shape[1].pose.x = tb_vec3(1, 0, 0);
    if (i == 5) shape[0] = tb_shape_plane(tb_vec3(0, 0, 1), -6);
    add(ctx, w, r, shape, i == 5 ? 1 : i == 9 ? 0 : 1 + i % 2);
    if (i % 7 == 6) tb_bodies(w)[i].x = tb_bodies(w)[i - 3].x; // two alike at one place
  }
  return w;
}

static bool same_hit(const tbHit* a, const tbHit* b)
{
  return a->body.index == b->body.index && a->shape == b->shape && a->distance == b->distance &&
         !memcmp(&a->point, &b->point, sizeof a->point) && !memcmp(&a->normal, &b->normal, sizeof a->normal);
}

static void compare(const tbWorld* w, const tbQueryTree* tree, tbRandom* r, int* found)
{
  tbRay ray = tb_ray(anywhere(r, 9), anywhere(r, 1));
  if (test_below(r, 2)) ray.length = test_uniform(r, 0, 10), ray.categories = 3;
  tbHit a, b, all_a[5], all_b[5];
  bool met = tb_world_ray(w, &ray, &a);
  CHECK(tb_query_tree_ray(tree, &ray, &b) == met && (!met || same_hit(&a, &b)));
  int capacity = test_below(r, 6), count = tb_world_ray_all(w, &ray, all_a, capacity);
  CHECK(tb_query_tree_ray_all(tree, &ray, all_b, capacity) == count);
  for (int i = 0; i < count && i < capacity; i++) CHECK(same_hit(&all_a[i], &all_b[i]));

  tbVec3 p = anywhere(r, 9), size = anywhere(r, 5);
  tbBox box = {p, tb_add3(p, tb_max3(size, tb_neg3(size)))};
  tbBodyId bodies_a[5], bodies_b[5];
  int overlaps = tb_world_overlap(w, box, 5, bodies_a, capacity);
  CHECK(tb_query_tree_overlap(tree, box, 5, bodies_b, capacity) == overlaps);
  for (int i = 0; i < overlaps && i < capacity; i++) CHECK(bodies_a[i].index == bodies_b[i].index);

  double reach = test_below(r, 2) ? INFINITY : test_uniform(r, 0, 2);
  bool near = tb_world_nearest(w, p, reach, 6, &a);
  CHECK(tb_query_tree_nearest(tree, p, reach, 6, &b) == near && (!near || same_hit(&a, &b)));
  found[0] += met, found[1] += count > 1, found[2] += overlaps > 0, found[3] += near;
}

TEST(query_tree_answers_as_the_world_does)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  tbWorld* w = make_world(&ctx, &r, BODIES);
  tbQueryTree* tree;
  int found[4] = {0};
  CHECK_OK(&ctx, tb_query_tree_create(&ctx, w, &tree));
  for (int step = 0; step < 12; step++) {
    for (int k = 0; k < 60; k++) compare(w, tree, &r, found);
    for (int i = 0; i < (int)w->body.count; i++)
      if (test_below(&r, 3) == 0) tb_bodies(w)[i].x = tb_add3(tb_bodies(w)[i].x, anywhere(&r, 1));
    if (step % 4 == 3) CHECK_OK(&ctx, tb_world_remove_body(&ctx, w, tb_world_body_at(w, test_below(&r, 90))));
    if (step == 5) {
      tbShape shape = tb_shape_sphere(0.5);
      add(&ctx, w, &r, &shape, 1);
    }
    CHECK_OK(&ctx, tb_query_tree_update(&ctx, tree));
  }
  for (int k = 0; k < 4; k++) CHECK(found[k] > 30);
  tb_query_tree_free(&ctx, tree);
  tb_world_free(&ctx, w);
}

// Of bodies that hold a point the one that holds it most deeply is nearest, in either order.
TEST(nearest_is_the_body_that_holds_the_point_most_deeply)
{
  for (int order = 0; order < 2; order++) {
    tbContext ctx = tb_default_context();
    tbRandom r = test_random(32);
    tbWorldDef def = tb_default_world_def();
    tbWorld* w;
    tbHit hit;
    CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
    for (int i = 0; i < 2; i++) {
      tbShape shape = tb_shape_sphere(i == order ? 1 : 3);
      add(&ctx, w, &r, &shape, 1);
      tb_bodies(w)[i].x = tb_zero3();
    }
    CHECK(tb_world_nearest(w, tb_vec3(0.5, 0, 0), INFINITY, TB_ALL_CATEGORIES, &hit));
    CHECK_NEAR(hit.distance, -2.5, 1e-12);
    tb_world_free(&ctx, w);
  }
}

TEST(query_tree_survives_every_failed_allocation)
{
  tbContext plain = tb_default_context();
  tbRandom r = test_random(33);
  tbWorld* w = make_world(&plain, &r, 40);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 100; k++) {
    tbFailingAllocator failing = {.countdown = k};
    tbContext ctx = test_failing_context(&failing);
    tbQueryTree* tree;
    status = tb_query_tree_create(&ctx, w, &tree);
    CHECK((status == TB_OK) == (tree != NULL));
    tb_query_tree_free(&ctx, tree);
    CHECK(failing.alive == 0);
  }
  CHECK(status == TB_OK);
  tb_world_free(&plain, w);
}
