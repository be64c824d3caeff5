// SPDX-License-Identifier: Apache-2.0
#include "tribo/tools/scene_json.h"

void tb_put_vec3(tbJsonWriter* w, const char* key, tbVec3 v)
{
  tb_put_numbers(w, key, (double[3]){v.x, v.y, v.z}, 3);
}

void tb_put_pose(tbJsonWriter* w, tbTransform T)
{
  tb_put_vec3(w, "position", T.x);
  tb_put_numbers(w, "orientation", (double[4]){T.q.w, T.q.x, T.q.y, T.q.z}, 4);
}

void tb_put_shape(tbJsonWriter* w, const tbShape* s, int mesh)
{
  tb_put_object(w, NULL);
  tb_put_string(w, "type", tb_shape_type_name(s->type));
  switch (s->type) {
  case TB_SHAPE_SPHERE: tb_put_number(w, "radius", s->sphere.radius); break;
  case TB_SHAPE_BOX: tb_put_vec3(w, "size", tb_scale3(2, s->box.half)); break;
  case TB_SHAPE_CAPSULE:
    tb_put_number(w, "radius", s->capsule.radius);
    tb_put_number(w, "length", 2 * s->capsule.half);
    break;
  case TB_SHAPE_CYLINDER:
    tb_put_number(w, "radius", s->cylinder.radius);
    tb_put_number(w, "length", 2 * s->cylinder.half);
    break;
  case TB_SHAPE_PLANE:
    tb_put_vec3(w, "normal", s->plane.normal);
    tb_put_number(w, "offset", s->plane.offset);
    break;
  default: tb_put_int(w, "mesh", mesh);
  }
  tb_put_pose(w, s->pose);
  tb_put_end(w);
}
