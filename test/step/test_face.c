// SPDX-License-Identifier: Apache-2.0
// Filters, events, user data, arrays, snapshots and the caller's own threads.
#include "kind/deformable.h"
#include "step/heap.h"
#include "step/joints.h"
#include "step/soft_worlds.h"
#include "tribo/bulk.h"
#include "tribo/change.h"
#include "tribo/io.h"

#include <pthread.h>
#include <string.h>

static Stage fresh(void)
{
  Stage s = {.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
  return s;
}

static tbBodyId put(Stage* s, tbBodyMotion kind, tbShape shape, tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.kind = kind, def.shapes = &shape, def.shape_count = 1, def.position = at;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

static void run(Stage* s, int steps)
{
  tbStepOptions o = tb_default_step_options();
  for (int i = 0; i < steps; i++) CHECK_OK(&s->ctx, tb_world_step(&s->ctx, s->world, &o, NULL));
}

// Balls over a floor: each lies on it or falls through as masks and pairs say.
TEST(filtered_bodies_pass_through_each_other)
{
  Stage s = fresh();
  tbWorld* w = s.world;
  tbBodyId floor = put(&s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3()), ball[4];
  for (int i = 0; i < 4; i++) ball[i] = put(&s, TB_BODY_DYNAMIC, tb_shape_sphere(0.1), tb_vec3(i, 0, 0.1));
  CHECK_OK(&s.ctx, tb_body_set_filter(&s.ctx, w, ball[1], 2, UINT32_MAX)); // seen by the floor's mask
  CHECK_OK(&s.ctx, tb_body_set_filter(&s.ctx, w, ball[2], 1, 2));          // does not see the floor
  CHECK_OK(&s.ctx, tb_world_ignore_pair(&s.ctx, w, ball[3], floor, true));
  run(&s, 30);
  for (int i = 0; i < 4; i++) CHECK((tb_body_state(w, ball[i]).position.z > 0.09) == (i < 2));
  CHECK_OK(&s.ctx, tb_body_set_filter(&s.ctx, w, floor, 1, 1)); // no longer sees the second ball
  tbBodyState up = {tb_vec3(3, 0, 0.1), tb_quat_identity(), tb_zero3(), tb_zero3()};
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, w, ball[3], &up));
  CHECK_OK(&s.ctx, tb_world_remove_body(&s.ctx, w, ball[0])); // the pair moves up with its bodies
  run(&s, 10);
  CHECK(tb_body_state(w, ball[1]).position.z < 0.09 && tb_body_state(w, ball[3]).position.z < 0.09);
  CHECK_OK(&s.ctx, tb_world_ignore_pair(&s.ctx, w, floor, ball[3], false));
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, w, ball[3], &up));
  run(&s, 10);
  CHECK(tb_body_state(w, ball[3]).position.z > 0.09);
  CHECK(tb_world_ignore_pair(&s.ctx, w, floor, floor, true) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_ignore_pair(&s.ctx, w, floor, ball[0], true) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}

TEST(contacts_begin_once_and_end_once)
{
  Stage s = fresh();
  tbWorld* w = s.world;
  tbBodyId floor = put(&s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  tbBodyId box = put(&s, TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), tb_vec3(0, 0, 0.15));
  int begun = 0, ended = 0;
  for (int i = 0; i < 60; i++) {
    if (i == 40) {
      tbBodyState up = {tb_vec3(0, 0, 1), tb_quat_identity(), tb_zero3(), tb_zero3()};
      CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, w, box, &up));
    }
    run(&s, 1);
    for (int k = 0; k < tb_world_event_count(w); k++) {
      tbContactEvent e = tb_world_event(w, k);
      CHECK(e.a.index == floor.index && e.b.index == box.index);
      CHECK(e.begins ? i < 20 : i == 40);
      begun += e.begins, ended += !e.begins;
    }
  }
  CHECK(begun == 1 && ended == 1);
  tb_world_free(&s.ctx, w);
}

TEST(arrays_hold_what_the_getters_say)
{
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  CHECK_OK(&ctx, soft_heap(&ctx, w));
  tbStepOptions o = tb_default_step_options();
  o.scheme = "implicit";
  for (int i = 0; i < 15; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
  enum { MOST = 2000 };
  static double x[3 * MOST], q[4 * MOST], v[3 * MOST], spin[3 * MOST], y[3 * MOST], impulse[6 * MOST],
      gap[MOST];
  static int first[MOST], a[MOST], state[MOST];
  int n = tb_world_body_count(w), nodes = tb_world_node_count(w), contacts = tb_world_contact_count(w);
  REQUIRE(n < MOST && nodes < MOST && nodes > 0 && contacts < MOST && contacts > 0);
  tb_world_get_poses(w, x, q);
  tb_world_get_velocities(w, v, spin);
  for (int i = 0; i < n; i++) {
    tbBodyState s = tb_body_state(w, tb_world_body_at(w, i));
    CHECK(x[3 * i + 1] == s.position.y && q[4 * i] == s.orientation.w && v[3 * i + 2] == s.velocity.z &&
          spin[3 * i] == s.angular_velocity.x);
  }
  tb_world_get_nodes(w, first, y, NULL);
  CHECK(first[n] == nodes);
  for (int i = 0; i < n; i++) {
    const tbVec3* node = tb_body_nodes(w, tb_world_body_at(w, i));
    CHECK(first[i + 1] - first[i] == tb_body_node_count(w, tb_world_body_at(w, i)));
    if (node) CHECK(y[3 * first[i + 1] - 1] == node[first[i + 1] - first[i] - 1].z);
  }
  tb_world_get_contacts(w, &(tbContactArrays){.a = a, .gap = gap, .impulse = impulse, .state = state});
  for (int i = 0; i < contacts; i++) {
    tbContactView c = tb_world_contact(w, i);
    CHECK(a[i] == tb_body_place(w, c.a) && gap[i] == c.gap && impulse[6 * i] == c.impulse[0] &&
          state[i] == (int)c.state);
  }
  tb_world_free(&ctx, w);
}

// Back to a moment, and on: to the same bits; ids of that moment hold again, and later ones never do.
TEST(a_restored_world_goes_on_as_it_did)
{
  for (int soft = 0; soft < 2; soft++) {
    tbContext ctx = tb_default_context();
    tbWorldDef def = tb_default_world_def();
    tbWorld* w;
    CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
    CHECK_OK(&ctx, soft ? soft_heap(&ctx, w) : heap_build(&ctx, w, 12));
    Stage s = {.ctx = ctx, .world = w};
    tbStepOptions o = tb_default_step_options();
    o.scheme = soft ? "implicit" : "penalty"; // which keeps a state of its own
    int tag = 7;
    for (int i = 0; i < 10; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
    tbBodyId kept = tb_world_body_at(w, 1);
    CHECK(tb_body_set_user(w, kept, &tag));
    tb_world_set_user(w, &ctx);
    tbSnapshot* then;
    CHECK_OK(&ctx, tb_world_snapshot(&ctx, w, &then));
    CHECK(tb_snapshot_bytes(then) > 1000);
    uint64_t hash[3];
    tbBodyId later[3];
    for (int again = 0; again < 3; again++) {
      if (again) CHECK_OK(&ctx, tb_world_restore(&ctx, w, then));
      CHECK(tb_world_step_count(w) == 10 && tb_body_user(w, kept) == &tag && tb_world_user(w) == &ctx);
      for (int i = 0; i < 5; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
      hash[again] = tb_world_hash(w);
      later[again] = put(&s, TB_BODY_FIXED, tb_shape_sphere(0.1), tb_vec3(0, 0, 50));
      for (int k = 0; k < again; k++) CHECK(tb_body_place(w, later[k]) == -1);
      CHECK_OK(&ctx, tb_world_remove_body(&ctx, w, kept));
    }
    CHECK(hash[0] == hash[1] && hash[1] == hash[2]);
    tb_snapshot_free(&ctx, then);
    tb_world_free(&ctx, w);
  }
}

TEST(snapshots_survive_every_failed_allocation)
{
  tbStatus status = TB_ERROR_MEMORY;
  for (int k = 0; status != TB_OK && k < 400; k++) {
    tbFailingAllocator state = {.countdown = -1};
    Stage s = {.ctx = test_failing_context(&state)};
    tbWorldDef def = tb_default_world_def();
    CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
    CHECK_OK(&s.ctx, heap_build(&s.ctx, s.world, 3));
    tbSnapshot* then = NULL;
    uint64_t hash = tb_world_hash(s.world);
    state.countdown = k;
    status = tb_world_snapshot(&s.ctx, s.world, &then);
    if (status == TB_OK) status = tb_world_restore(&s.ctx, s.world, then);
    state.countdown = -1;
    CHECK((status == TB_OK || status == TB_ERROR_MEMORY) && tb_world_hash(s.world) == hash);
    run(&s, 1);
    tb_snapshot_free(&s.ctx, then);
    tb_world_free(&s.ctx, s.world);
    CHECK(state.alive == 0);
  }
  CHECK(status == TB_OK);
}

// ---- the caller's own tasks ----

typedef struct {
  void (*task)(void* data, int index);
  void* data;
  int begin, end;
} Share;

static void* work(void* user)
{
  Share* s = user;
  for (int i = s->end - 1; i >= s->begin; i--) s->task(s->data, i); // in an order of its own
  return NULL;
}

static void run_tasks(void* user, int count, void (*task)(void* data, int index), void* data)
{
  ++*(int*)user;
  Share share[2] = {{task, data, 0, count / 2}, {task, data, count / 2, count}};
  pthread_t other;
  bool two = pthread_create(&other, NULL, work, &share[0]) == 0;
  work(&share[1]);
  if (two) pthread_join(other, NULL);
  else work(&share[0]);
}

TEST(steps_on_the_callers_tasks_have_the_same_bits)
{
  uint64_t hash[2];
  int loops = 0;
  for (int own = 0; own < 2; own++) {
    Stage s = fresh();
    tbThreads* threads = NULL;
    tbTasks tasks = {run_tasks, 2, &loops};
    if (own) CHECK_OK(&s.ctx, tb_threads_create_on(&s.ctx, &tasks, &threads));
    s.ctx.threads = threads;
    CHECK(tb_threads_count(threads) == (own ? 2 : 1));
    CHECK_OK(&s.ctx, heap_build(&s.ctx, s.world, 60));
    run(&s, 8);
    hash[own] = tb_world_hash(s.world);
    tb_world_free(&s.ctx, s.world);
    tb_threads_destroy(&s.ctx, threads);
  }
  CHECK(hash[0] == hash[1] && loops > 0);
}
