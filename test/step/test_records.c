// SPDX-License-Identifier: Apache-2.0
// Contact records of the last step, which a step starts from and a file may have made up.
#include "io/checkpoint/checkpoint.h"
#include "scene/world.h"
#include "step/soft_worlds.h"
#include "test.h"
#include "tribo/io.h"

static tbOut heap_in_contact(tbContext* ctx)
{
  tbWorldDef def = tb_default_world_def();
  tbScene scene = {.step = tb_default_step_options(), .time = 1, .threads = 1};
  scene.step.scheme = "implicit";
  scene.name = TB_NEW(ctx, char, 1);
  tbOut bytes = tb_out_memory(ctx);
  CHECK_OK(ctx, tb_world_create(ctx, &def, &scene.world));
  CHECK_OK(ctx, soft_heap(ctx, scene.world));
  for (int i = 0; i < 12; i++) {
    tbStepReport report;
    CHECK_OK(ctx, tb_world_step(ctx, scene.world, &scene.step, &report));
  }
  CHECK_OK(ctx, tb_checkpoint_print(ctx, &bytes, &scene));
  tb_scene_free(ctx, &scene);
  return bytes;
}

// One step from the checkpoint, with one more record, which claims that a large impulse acted at the feature;
// null: none. Returns the hash of the state; 0: there is no contact of a deformable body.
static uint64_t step_with(tbContext* ctx, const tbOut* bytes, const uint64_t* feature)
{
  tbScene scene;
  tbStepReport report;
  if (tb_checkpoint_parse(ctx, "heap", bytes->bytes, bytes->length, &scene) != TB_OK) return 0;
  tbWorld* w = scene.world;
  tbContactRecord record = ((tbContactRecord*)w->contact.data)[w->contact.count - 1];
  bool soft = record.shape_b < 0 || record.shape_a < 0;
  if (feature) {
    record.feature = *feature, record.impulse[0] = 10;
    CHECK_OK(ctx, tb_array_push(ctx, &w->contact, &record, 1));
  }
  CHECK_OK(ctx, tb_world_step(ctx, w, &scene.step, &report));
  uint64_t hash = tb_world_hash(w);
  tb_scene_free(ctx, &scene);
  return soft ? hash : 0;
}

TEST(records_of_features_that_do_not_exist_are_passed_over)
{
  static const uint64_t most = 0x7fffffff;
  const uint64_t names[] = {3ull << 62,                     // no kind of pair
                            0ull << 62 | most << 31 | most, // neither of its features
                            0ull << 62 | 0ull << 31 | most, // a vertex that is not there
                            0ull << 62 | most << 31 | 0ull, // a triangle that is not there
                            1ull << 62 | most << 31 | 0ull, // the first edge, the second
                            1ull << 62 | 0ull << 31 | most, //
                            2ull << 62 | 0ull << 31 | most, // a vertex on a plane
                            3ull << 62 | most << 31 | most};
  tbContext ctx = tb_default_context();
  tbOut bytes = heap_in_contact(&ctx);
  uint64_t hash = step_with(&ctx, &bytes, NULL);
  REQUIRE(hash != 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (step_with(&ctx, &bytes, &names[i]) != hash)
      test_failed(__FILE__, __LINE__, "a record of feature %llx moves the world",
                  (unsigned long long)names[i]);
  tb_out_free(&bytes);
}
