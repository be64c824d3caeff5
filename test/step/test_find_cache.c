// SPDX-License-Identifier: Apache-2.0
#include "scene/cache.h"
#include "scene/world.h"
#include "step/find.h"
#include "step/find_cache.h"
#include "test.h"

#include <string.h>

enum { BODIES = 60 };

static tbVec3 anywhere(tbRandom* r, double most)
{
  return tb_vec3(test_uniform(r, -most, most), test_uniform(r, -most, most), test_uniform(r, -most, most));
}

// A crowd of convex shapes in a box-shaped pit with a plane and a bullet.
static tbWorld* make_world(tbContext* ctx, tbRandom* r, tbHull** hull)
{
  tbVec3 cloud[12];
  for (int i = 0; i < 12; i++) cloud[i] = tb_normalize3(anywhere(r, 0.5));
  for (int i = 0; i < 12; i++) cloud[i] = tb_scale3(0.5, cloud[i]);
  CHECK_OK(ctx, tb_hull_create(ctx, cloud, 12, hull));
  const tbShape shape[] = {tb_shape_box(tb_vec3(1, 1, 1)), tb_shape_box(tb_vec3(0.6, 0.8, 0.4)),
                           tb_shape_sphere(0.5),           tb_shape_capsule(0.3, 0.6),
                           tb_shape_cylinder(0.4, 0.8),    tb_shape_convex(*hull)};
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  CHECK_OK(ctx, tb_world_create(ctx, &def, &w));
  for (int i = 0; i < BODIES; i++) {
    tbShape s = i == 0   ? tb_shape_plane(tb_vec3(0, 0, 1), -3)
                : i == 1 ? tb_shape_box(tb_vec3(20, 20, 1))
                         : shape[i % 2 ? 0 : i / 2 % 6];
    tbBodyDef body = tb_default_body_def();
    body.shapes = &s, body.shape_count = 1;
    body.kind = i < 2 ? TB_BODY_FIXED : TB_BODY_DYNAMIC;
    body.bullet = i == 7;
    body.position = i < 2 ? tb_vec3(0, 0, -2.5) : anywhere(r, 2.2);
    CHECK_OK(ctx, tb_world_add_body(ctx, w, &body, NULL));
  }
  return w;
}

static void move(tbWorld* w, tbRandom* r, double dt)
{
  for (int i = 2; i < BODIES; i++) {
    tbBody* b = &tb_bodies(w)[i];
    if (test_below(r, 20) == 0) b->v = anywhere(r, test_below(r, 4) ? 1 : 60), b->w = anywhere(r, 3);
    b->x = tb_madd3(b->x, dt, b->v);
    if (tb_maxabs3(b->x) > 3) b->v = tb_scale3(-0.5, b->x);
    b->q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(dt, b->w)), b->q));
  }
}

static void find(tbContext* ctx, tbCache* cache, const tbWorld* w, const tbStepOptions* o, tbArray* out)
{
  static tbUnconstrained unconstrained[BODIES];
  static tbTransform pose[BODIES];
  tbArena arena;
  tb_arena_init(&arena, ctx);
  for (int i = 0; i < BODIES; i++) pose[i] = tb_body_pose(&tb_bodies(w)[i]);
  tb_free_motion(w, o->dt, 0, (int)w->body.count, unconstrained);
  CHECK_OK(ctx, tb_find_contacts(ctx, &arena, cache, w, o, unconstrained, pose, out));
  tb_arena_free(&arena);
}

static bool same(const tbArray* x, const tbArray* y)
{
  if (x->count != y->count) return false;
  const tbContactConstraint *a = x->data, *b = y->data;
  for (size_t i = 0; i < x->count; i++)
    if (a[i].shape_a != b[i].shape_a || a[i].shape_b != b[i].shape_b || a[i].swept != b[i].swept ||
        memcmp(&a[i].point, &b[i].point, sizeof a->point) ||
        memcmp(&a[i].position, &b[i].position, sizeof a->position))
      return false;
  return true;
}

LONG_TEST(contacts_found_with_a_cache_are_those_found_without)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(21);
  tbHull* hull;
  tbWorld* w = make_world(&ctx, &r, &hull);
  tbStepOptions o = tb_default_step_options();
  tbCache cache;
  tbArray cold = TB_ARRAY(tbContactConstraint), warm = TB_ARRAY(tbContactConstraint);
  size_t contacts = 0;
  int different = 0;
  tb_cache_init(&cache, &ctx);
  for (int step = 0; step < 120; step++) {
    find(&ctx, NULL, w, &o, &cold);
    find(&ctx, &cache, w, &o, &warm);
    different += !same(&cold, &warm);
    contacts += cold.count;
    move(w, &r, o.dt);
  }
  CHECK(different == 0);
  CHECK(contacts > 120 * BODIES / 2);
  tb_array_free(&ctx, &cold);
  tb_array_free(&ctx, &warm);
  tb_cache_free(&ctx, &cache);
  tb_world_free(&ctx, w);
  tb_hull_free(&ctx, hull);
}

TEST(hints_stay_with_their_pairs)
{
  tbContext ctx = tb_default_context();
  tbCache cache;
  tb_cache_init(&cache, &ctx);
  const tbPair first[] = {{0, 3}, {1, 2}, {1, 5}, {4, 6}},
               second[] = {{0, 2}, {1, 2}, {1, 4}, {1, 5}, {5, 6}};
  tbPairHint* hint;
  CHECK_OK(&ctx, tb_find_hints(&ctx, &cache, first, 4, &hint));
  for (int i = 0; i < 4; i++) {
    CHECK(hint[i].axis == 0);
    hint[i].axis = (tbBoxHint)(i + 1);
  }
  CHECK_OK(&ctx, tb_find_hints(&ctx, &cache, second, 5, &hint));
  static const int expected[] = {0, 2, 0, 3, 0};
  for (int i = 0; i < 5; i++) CHECK(hint[i].axis == expected[i]);
  CHECK_OK(&ctx, tb_find_hints(&ctx, &cache, NULL, 0, &hint));
  CHECK_OK(&ctx, tb_find_hints(&ctx, &cache, second, 5, &hint));
  for (int i = 0; i < 5; i++) CHECK(hint[i].axis == 0);
  CHECK_OK(&ctx, tb_find_hints(&ctx, NULL, second, 5, &hint));
  CHECK(hint == NULL);
  tb_cache_free(&ctx, &cache);
}
