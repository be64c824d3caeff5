// SPDX-License-Identifier: Apache-2.0
// A heap of mixed shapes with joints ends in the same bits on any number of threads, by every scheme and
// stabilisation; and so do soft bodies.
#include "step/heap.h"
#include "step/soft_worlds.h"
#include "test.h"
#include "tribo/io.h"

#include <string.h>

static uint64_t run(const char* scheme, tbStabilization stabilization, int threads, int bodies, int steps)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  CHECK_OK(&ctx, heap_build(&ctx, w, bodies));
  tbStepOptions o = tb_default_step_options();
  o.scheme = scheme, o.stabilization = stabilization, o.solver.tolerance = 1e-4,
  o.solver.max_iterations = 200;
  for (int i = 0; i < steps; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
  CHECK(tb_world_contact_count(w) > bodies / 4);
  uint64_t hash = tb_world_hash(w);
  tb_world_free(&ctx, w);
  tb_threads_destroy(&ctx, ctx.threads);
  return hash;
}

LONG_TEST(a_heap_has_the_same_bits_for_any_number_of_threads)
{
  static const int threads[] = {2, 3, 7};
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++)
    for (int k = 0; k < TB_STABILIZE_COUNT; k++) {
      const char* name = tb_scheme_at(scheme)->name;
      if (scheme > 0 && k > 0) continue;
      bool barriers = strcmp(name, "ipc") == 0; // meshes of round shapes take longer
      int bodies = barriers                  ? 4
                   : k == 0 && !test_quick() ? 54
                                             : 18,
          steps = test_quick() || barriers ? 5 : 10;
      int many = threads[(scheme + k) % 3];
      uint64_t alone = run(name, (tbStabilization)k, 1, bodies, steps);
      if (run(name, (tbStabilization)k, many, bodies, steps) != alone)
        test_failed(__FILE__, __LINE__, "%s, %s: %d threads differ", name,
                    tb_stabilization_name((tbStabilization)k), many);
    }
}

static uint64_t run_soft(const char* scheme, int storm, int threads, int steps)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
  tbWorldDef def = tb_default_world_def();
  tbStepOptions o = tb_default_step_options();
  tbWorld* w = NULL;
  int contacts = 0;
  o.solver.tolerance = 1e-4;
  if (storm) CHECK_OK(&ctx, soft_storm(&ctx, (uint64_t)storm, &w, &o));
  else {
    CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
    CHECK_OK(&ctx, soft_heap(&ctx, w));
  }
  o.scheme = scheme;
  for (int i = 0; i < steps; i++) {
    CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
    contacts += tb_world_contact_count(w);
  }
  CHECK(contacts > 0);
  uint64_t hash = tb_world_hash(w);
  tb_world_free(&ctx, w);
  tb_threads_destroy(&ctx, ctx.threads);
  return hash;
}

LONG_TEST(soft_worlds_have_the_same_bits_for_any_number_of_threads)
{
  static const int threads[] = {2, 3, 7}, storms[] = {0, 4, 11};
  static const char* const scheme[] = {"implicit", "pd"};
  for (int i = 0; i < (test_quick() ? 2 : 6); i++) {
    int k = i / 2, steps = test_quick() ? 10 : 20, many = threads[(i + k) % 3];
    uint64_t alone = run_soft(scheme[i % 2], storms[k], 1, steps);
    if (run_soft(scheme[i % 2], storms[k], many, steps) != alone)
      test_failed(__FILE__, __LINE__, "%s, storm %d: %d threads differ", scheme[i % 2], storms[k], many);
  }
}
