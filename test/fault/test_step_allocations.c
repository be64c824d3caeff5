// SPDX-License-Identifier: Apache-2.0
// Every allocation of building and stepping a world made to fail: a status, the world as it was, nothing
// left.
#include "step/heap.h"
#include "step/soft_worlds.h"
#include "test.h"

#include <string.h>

enum {
  BODIES = 12,
  GROWN = 3, // blocks by which a failed step may have made its scratch and its room for records grow
  KEPT = 100 // and a first one what it keeps: surfaces, factors
};

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

// Steps `warm` times, then makes each allocation of the next step fail, until one step needs no more.
static void fail_each(tbContext* ctx, tbFailingAllocator* state, tbWorld* w, const tbStepOptions* o, int warm,
                      long stride, long grown)
{
  w->cache->pool.off = true; // what a step freed before is no help
  for (int i = 0; i < warm; i++) CHECK_OK(ctx, tb_world_step(ctx, w, o, NULL));
  uint64_t before = tb_world_hash(w);
  int64_t steps = tb_world_step_count(w);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 20000; k += stride) {
    state->countdown = k, state->for_good = k % 2;
    long alive = state->alive;
    status = tb_world_step(ctx, w, o, NULL);
    state->countdown = -1;
    if (status == TB_OK) {
      bool keeps = warm > 0 && strcmp(o->scheme, "soft-step") == 0; // all of its memory
      CHECK(keeps || k > 20);
      CHECK(tb_world_step_count(w) == steps + 1);
    } else if (status != TB_ERROR_MEMORY || tb_world_hash(w) != before || tb_world_step_count(w) != steps ||
               state->alive > alive + grown) {
      test_failed(__FILE__, __LINE__, "%s, %s, allocation %ld: %s", o->scheme,
                  tb_stabilization_name(o->stabilization), k, ctx->error.message);
      break;
    }
  }
  CHECK(status == TB_OK);
}

static void fail_heap(const char* scheme, tbStabilization stabilization)
{
  tbFailingAllocator state = {.countdown = -1};
  tbContext ctx = test_failing_context(&state);
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  bool barriers = strcmp(scheme, "ipc") == 0; // meshes of round shapes take longer
  CHECK_OK(&ctx, heap_build(&ctx, w, barriers ? 4 : BODIES));
  tbStepOptions o = tb_default_step_options();
  o.scheme = scheme, o.stabilization = stabilization, o.solver.tolerance = 1e-4;
  fail_each(&ctx, &state, w, &o, barriers ? 4 : 12, barriers ? 53 : test_quick() ? 7 : 1, GROWN);
  tb_world_free(&ctx, w);
  CHECK(state.alive == 0);
}

TEST(a_step_that_fails_leaves_the_world_as_it_was)
{
  for (int i = 0; i < tb_scheme_count(); i++) fail_heap(tb_scheme_at(i)->name, TB_STABILIZE_BAUMGARTE);
  fail_heap("semi-implicit", TB_STABILIZE_PROJECTION);
}

// A body that strikes a plate on its corner: with restitution, so that friction would gain energy and the
// impact is solved for again; without, so fast that its inner sphere has to be held.
static tbStatus blow_build(tbContext* ctx, tbWorld* w, bool bounces)
{
  tbShape plate = tb_shape_box(tb_vec3(9, 9, 0.002)), rod = tb_shape_box(tb_vec3(1, 0.44, 0.04));
  tbBodyDef ground = tb_default_body_def(), body = tb_default_body_def();
  ground.kind = TB_BODY_FIXED, ground.shapes = &plate, ground.shape_count = 1;
  body.shapes = &rod, body.shape_count = 1;
  if (!bounces) rod = tb_shape_box(tb_vec3(0.04, 0.03, 0.02));
  body.orientation = bounces ? tb_quat_exp(tb_vec3(0, 0.69, 0)) : tb_quat_exp(tb_vec3(0.1, 0.7, 0));
  body.position = tb_vec3(0, 0, bounces ? 0.337 : 1);
  body.velocity = bounces ? tb_vec3(-1.5, 0, -2) : tb_vec3(0, 0, -200);
  if (bounces) body.angular_velocity = tb_vec3(0.2, 2.4, -1);
  TB_TRY(tb_world_set_pair(ctx, w, (tbMaterialId){0, 0}, (tbMaterialId){0, 0}, tb_friction(0.6), bounces));
  TB_TRY(tb_world_add_body(ctx, w, &ground, NULL));
  return tb_world_add_body(ctx, w, &body, NULL);
}

TEST(a_step_with_a_blow_that_fails_leaves_the_world_as_it_was)
{
  for (int bounces = 0; bounces < 2; bounces++)
    for (int k = 0; k < 2; k++) {
      tbFailingAllocator state = {.countdown = -1};
      tbContext ctx = test_failing_context(&state);
      tbWorldDef def = tb_default_world_def();
      tbWorld* w = NULL;
      tbStepOptions o = tb_default_step_options();
      tbStepReport report;
      o.scheme = k ? "implicit" : "semi-implicit";
      for (int again = 0; again < 2; again++) { // what it is about happens, with and without failures
        CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
        CHECK_OK(&ctx, blow_build(&ctx, w, bounces));
        if (again) fail_each(&ctx, &state, w, &o, 0, 1, KEPT);
        else CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, &report));
        tbContactView last = tb_world_contact(w, tb_world_contact_count(w) - 1);
        CHECK(bounces ? again || report.changes.damped > 0 : last.rows == 1); // the sphere's has no friction
        tb_world_free(&ctx, w);
      }
      CHECK(state.alive == 0);
    }
}

// From the first step, which makes surfaces and factors, and from one with everything in contact, to the end
// that a world that met no failure reaches.
TEST(a_step_of_soft_bodies_that_fails_leaves_the_world_as_it_was)
{
  static const char* const schemes[] = {"implicit", "pd", "primal"}; // the last in substeps
  for (int k = 0; k < 6; k++) {
    int warm = k % 2 ? 19 : 0;
    uint64_t hash[2];
    for (int failing = 0; failing < 2; failing++) {
      tbFailingAllocator state = {.countdown = -1};
      tbContext ctx = test_failing_context(&state);
      tbWorldDef def = tb_default_world_def();
      tbWorld* w = NULL;
      CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
      CHECK_OK(&ctx, soft_heap(&ctx, w));
      tbStepOptions o = tb_default_step_options();
      o.scheme = schemes[k / 2], o.solver.tolerance = 1e-4;
      if (k >= 4) o.substeps = 2;
      long stride = (k < 4 ? 1 : 8) * (test_quick() ? 23 : 3);
      if (failing) fail_each(&ctx, &state, w, &o, warm, stride, warm ? GROWN : KEPT);
      for (int i = failing ? warm + 1 : 0; i < warm + 3; i++)
        CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
      hash[failing] = tb_world_hash(w);
      tb_world_free(&ctx, w);
      CHECK(state.alive == 0);
    }
    CHECK(hash[0] == hash[1]);
  }
}

TEST(building_soft_bodies_survives_every_failed_allocation)
{
  long total = 1;
  for (long k = -1; k < total; k += k >= 0 && test_quick() ? 11 : 1) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbWorldDef def = tb_default_world_def();
    tbWorld* w = NULL;
    tbStatus status = tb_world_create(&ctx, &def, &w);
    if (status == TB_OK) status = soft_heap(&ctx, w);
    if (k < 0) total = state.total;
    CHECK(status == (k < 0 ? TB_OK : TB_ERROR_MEMORY));
    tb_world_free(&ctx, w);
    CHECK(state.alive == 0);
  }
}
