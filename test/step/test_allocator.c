// SPDX-License-Identifier: Apache-2.0
// A caller's allocator need not be thread safe: any thread of a context may call it, never two at once.
#include "step/heap.h"
#include "test.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
  atomic_int inside, met, calls;
} Watch;

static void enter(Watch* w)
{
  if (atomic_fetch_add(&w->inside, 1) > 0) atomic_fetch_add(&w->met, 1);
  atomic_fetch_add(&w->calls, 1);
  sched_yield(); // give another thread every chance to come in
}

static void* watched_alloc(void* user, size_t size, size_t alignment)
{
  enter(user);
  void* pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  atomic_fetch_sub(&((Watch*)user)->inside, 1);
  return pointer;
}

static void watched_free(void* user, void* pointer)
{
  enter(user);
  free(pointer);
  atomic_fetch_sub(&((Watch*)user)->inside, 1);
}

TEST(a_step_on_threads_never_enters_the_allocator_twice)
{
  Watch watch = {0};
  tbContext ctx = tb_default_context();
  ctx.allocator = (tbAllocator){watched_alloc, watched_free, &watch};
  CHECK_OK(&ctx, tb_threads_create(&ctx, 4, &ctx.threads));
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  REQUIRE(tb_world_create(&ctx, &def, &w) == TB_OK);
  CHECK_OK(&ctx, heap_build(&ctx, w, 90));
  tbStepOptions o = tb_default_step_options();
  o.solver.tolerance = 1e-4, o.solver.max_iterations = 100;
  for (int i = 0; i < 10; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
  CHECK(atomic_load(&watch.calls) > 100);
  CHECK(atomic_load(&watch.met) == 0);
  tb_world_free(&ctx, w);
  tb_threads_destroy(&ctx, ctx.threads);
}

TEST(steps_of_a_world_at_rest_allocate_nothing)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  REQUIRE(tb_world_create(&ctx, &def, &w) == TB_OK);
  tbMaterialDef material = tb_default_material_def();
  tbMaterialId m;
  material.name = "box";
  CHECK_OK(&ctx, tb_world_add_material(&ctx, w, &material, &m));
  tbShape box = tb_shape_box(tb_vec3(1, 1, 1));
  for (int i = 0; i < 6; i++) {
    tbBodyDef body = tb_default_body_def();
    body.shapes = &box, body.shape_count = 1, body.material = m;
    body.kind = i == 0 ? TB_BODY_FIXED : TB_BODY_DYNAMIC;
    body.position = tb_vec3(100, 0, 10 + i);
    CHECK_OK(&ctx, tb_world_add_body(&ctx, w, &body, NULL));
  }
  tbStepOptions o = tb_default_step_options();
  tbStepReport report;
  for (int i = 0; i < 40; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, &report));
  CHECK(report.contacts >= 20);
  long before = state.total;
  for (int i = 0; i < 20; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, &report));
  CHECK(state.total == before);
  tb_world_free(&ctx, w);
  CHECK(state.alive == 0);
}
