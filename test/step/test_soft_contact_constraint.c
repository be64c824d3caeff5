// SPDX-License-Identifier: Apache-2.0
#include "step/soft_contact.h"
#include "step/soft_stage.h"

// A soft block on a soft block on a fixed box, and a cloth over all: contacts are published where the
// surfaces are, at the height of the interface and under the block above.
TEST(contacts_of_soft_bodies_are_where_the_surfaces_meet)
{
  Stage s = soft_stage(0.5, 0.005);
  stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 0.4)), tb_vec3(0.3, -0.2, 0.8), tb_quat_identity());
  tbBodyId low = add_box(&s, tb_vec3(0.4, 0.4, 0.2), 2, soft_at(1e6, tb_vec3(0.3, -0.2, 1.102), tb_zero3()));
  tbBodyId high =
      add_box(&s, tb_vec3(0.3, 0.3, 0.2), 2, soft_at(1e6, tb_vec3(0.32, -0.18, 1.304), tb_zero3()));
  int seen[2] = {0};
  for (int i = 0; i < 20; i++) {
    stage_run(&s, 1);
    for (int k = 0; k < tb_world_contact_count(s.world); k++) {
      tbContactView c = tb_world_contact(s.world, k);
      bool upper = c.a.index == high.index || c.b.index == high.index;
      CHECK(upper || c.a.index == low.index || c.b.index == low.index);
      CHECK_NEAR(c.position.z, upper ? 1.202 : 1.001, 0.01);
      CHECK(fabs(c.position.x - 0.31) < 0.22 && fabs(c.position.y + 0.19) < 0.22);
      seen[upper]++;
    }
  }
  CHECK(seen[0] > 40 && seen[1] > 40);
  stage_close(&s);
}

// What has not come close yet and what does not come closer: the step knows of them, and nothing else
// changes.
TEST(a_margin_takes_in_contacts_of_surfaces_that_are_open)
{
  tbVec3 at[2];
  for (int i = 0; i < 2; i++) {
    Stage s = soft_stage(0.5, 0.005);
    stage_floor(&s, 0, 0);
    s.step.margin = i ? 0.004 : 0;
    tbBodyId block = add_box(&s, tb_vec3(0.4, 0.4, 0.2), 2, soft_at(1e6, tb_vec3(0, 0, 0.103), tb_zero3()));
    stage_run(&s, 2);
    CHECK(tb_world_contact_count(s.world) == (i ? 9 : 0));
    at[i] = stage_state(&s, block).position;
    stage_close(&s);
  }
  CHECK_NEAR(tb_norm3(tb_sub3(at[0], at[1])), 0, 1e-12);
}

// A contact that met although it is there asks for more distance; where the solver may leave so much undone
// that it would answer as before, for so much that it may not.
TEST(contacts_that_met_again_ask_for_more_than_a_solver_may_leave)
{
  Stage s = soft_stage(0.5, 0.001);
  stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 0.4)), tb_vec3(0, 0, -0.2), tb_quat_identity());
  add_box(&s, tb_vec3(0.4, 0.4, 0.2), 2, soft_at(1e6, tb_vec3(0, 0, 0.1 + 5e-6), tb_zero3()));
  tbArena arena;
  tb_arena_init(&arena, &s.ctx);
  tbSurfaces surfaces;
  tbTransform pose[2] = {tb_transform_identity(), tb_transform_identity()};
  pose[0].x = tb_vec3(0, 0, -0.2);
  CHECK_OK(&s.ctx, tb_surfaces_begin(&s.ctx, &arena, s.world->cache, s.world, pose, &surfaces));
  tbSoftContact p = {.contact = {.of = {.kind = TB_SURFACE_FACE_VERTEX, .surface_a = 1, .surface_b = 0},
                                 .normal = tb_vec3(0, 0, 1),
                                 .gap = 5e-6}};
  // a row whose contact keeps d where 5e-6 m are left asks for 20 d a second
  tbSoftContactMet how = {.clearance = 5e-6, .h = 0.001};
  const double slip[4] = {0, 1e-5, 0.001, 0.025};
  const int want[4] = {1, 1, 4, 8};
  for (int i = 0; i < 4; i++) {
    how.slip = slip[i];
    CHECK(tb_soft_contact_next_miss(s.world, &surfaces, &p, how) == want[i]);
  }
  p.misses = 2, how.slip = 0.001; // from 0.0004 m/s on
  CHECK(tb_soft_contact_next_miss(s.world, &surfaces, &p, how) == 4);
  how.slip = 1e3; // which no contact asks for
  CHECK(tb_soft_contact_next_miss(s.world, &surfaces, &p, how) == 9);
  tb_arena_free(&arena);
  stage_close(&s);
}
