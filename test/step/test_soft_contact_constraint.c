// SPDX-License-Identifier: Apache-2.0
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
