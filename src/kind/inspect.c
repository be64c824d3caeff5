// SPDX-License-Identifier: Apache-2.0
// What a world is made of, for other programs.
#include "tribo/inspect.h"

#include "kind/table.h"

int tb_body_kind_count(void) { return tb_kind_count(); }
const char* tb_body_kind_name(int index) { return tb_kind_at(index)->name; }

tbWorldSize tb_world_size(const tbWorld* w)
{
  tbWorldSize size = {
      .bodies = (int)w->body.count, .shapes = (int)w->shape.count, .joints = (int)w->joint.count};
  for (int i = 0; i < size.bodies; i++) {
    tbNodes n = tb_nodes_of(&tb_bodies(w)[i]);
    size.nodes += n.count;
    *(n.corners == 3 ? &size.triangles : &size.tetrahedra) += n.nelement;
  }
  return size;
}

int tb_body_element_count(const tbWorld* w, int body, int* corners)
{
  tbNodes n = tb_nodes_of(&tb_bodies(w)[body]);
  if (corners) *corners = n.corners;
  return n.nelement;
}
