// SPDX-License-Identifier: Apache-2.0
// What a world is made of, for other programs.
#include "tribo/inspect.h"

#include "kind/table.h"

#include <string.h>

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

int tb_body_shape_count(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? 0 : tb_bodies(w)[place].nshape;
}

const tbShape* tb_body_shape_at(const tbWorld* w, tbBodyId id, int index)
{
  if (index < 0 || index >= tb_body_shape_count(w, id)) return NULL;
  return &tb_shapes(w)[tb_bodies(w)[tb_body_place(w, id)].shape + index];
}

void tb_body_inertia(const tbWorld* w, tbBodyId id, double inertia[6])
{
  int place = tb_body_place(w, id);
  tbMat3 I = {0};
  if (place >= 0 && tb_bodies(w)[place].motion == TB_BODY_DYNAMIC && tb_bodies(w)[place].kind->framed)
    I = tb_bodies(w)[place].inertia;
  double six[6] = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]};
  memcpy(inertia, six, sizeof six);
}

int tb_world_friction_count(const tbWorld* w)
{
  return (int)(w->material.count + w->contact_material.count + w->pair.count);
}

static tbFriction* friction_at(const tbWorld* w, int index)
{
  size_t i = (size_t)index;
  if (index < 0) return NULL;
  if (i < w->material.count) return &((tbMaterial*)w->material.data)[i].contact_material.friction;
  i -= w->material.count;
  if (i < w->contact_material.count) return &((tbContactMaterial*)w->contact_material.data)[i].friction;
  i -= w->contact_material.count;
  return i < w->pair.count ? &((tbPairRule*)w->pair.data)[i].contact_material.friction : NULL;
}

tbFriction tb_world_friction_at(const tbWorld* w, int index)
{
  const tbFriction* f = friction_at(w, index);
  return f ? *f : tb_friction(0);
}

tbStatus tb_world_set_friction_at(tbContext* ctx, tbWorld* w, int index, tbFriction friction)
{
  tbFriction* f = friction_at(w, index);
  if (!f) return tb_fail(ctx, TB_ERROR_ARGUMENT, "friction %d of %d", index, tb_world_friction_count(w));
  TB_TRY(tb_friction_check(ctx, &friction));
  *f = friction;
  tb_world_changed(w, -1);
  return TB_OK;
}
