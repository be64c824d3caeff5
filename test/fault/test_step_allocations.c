// Every allocation of building and stepping a world made to fail: a status, the world as it was, nothing
// left.
#include "step/heap.h"
#include "test.h"

enum { BODIES = 12 };

TEST(building_survives_every_failed_allocation)
{
  long total = 1;
  for (long k = -1; k < total; k += k >= 0 && test_quick() ? 5 : 1) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbWorldDef def = tb_default_world_def();
    tbWorld* w = NULL;
    tbStatus status = tb_world_create(&ctx, &def, &w);
    if (status == TB_OK) status = heap_build(&ctx, w, BODIES);
    if (k < 0) total = state.total;
    CHECK(status == (k < 0 ? TB_OK : TB_ERROR_MEMORY));
    if (w && status != TB_OK) { // it goes on as if nothing had happened
      size_t bodies = w->body.count, shapes = w->shape.count;
      CHECK(bodies == shapes && w->owner.count == shapes);
      tbStepOptions o = tb_default_step_options();
      CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
    }
    tb_world_free(&ctx, w);
    CHECK(state.alive == 0);
  }
}

static void fail_each(const char* scheme, tbStabilization stabilization)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  CHECK_OK(&ctx, heap_build(&ctx, w, BODIES));
  tbStepOptions o = tb_default_step_options();
  o.scheme = scheme, o.stabilization = stabilization, o.solver.tolerance = 1e-4;
  for (int i = 0; i < 12; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
  uint64_t before = tb_world_hash(w);
  int64_t steps = tb_world_step_count(w);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 5000; k += test_quick() ? 7 : 1) {
    state.countdown = k, state.for_good = k % 2;
    long alive = state.alive;
    status = tb_world_step(&ctx, w, &o, NULL);
    state.countdown = -1;
    if (status == TB_OK) {
      CHECK(k > 20);
      CHECK(tb_world_step_count(w) == steps + 1);
    } else if (status != TB_ERROR_MEMORY || tb_world_hash(w) != before || tb_world_step_count(w) != steps ||
               state.alive > alive + 2) { // its scratch may have grown by a block or two
      test_failed(__FILE__, __LINE__, "%s, %s, allocation %ld: %s", scheme,
                  tb_stabilization_name(stabilization), k, ctx.error.message);
      break;
    }
  }
  CHECK(status == TB_OK);
  tb_world_free(&ctx, w);
  CHECK(state.alive == 0);
}

TEST(a_step_that_fails_leaves_the_world_as_it_was)
{
  for (int i = 0; i < tb_scheme_count(); i++) fail_each(tb_scheme_at(i)->name, TB_STABILIZE_BAUMGARTE);
  fail_each("semi-implicit", TB_STABILIZE_PROJECTION);
}
