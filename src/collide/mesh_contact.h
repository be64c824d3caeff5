// SPDX-License-Identifier: Apache-2.0
// Contacts of meshes and distance grids: rows of the table in collide.c.
#ifndef TB_COLLIDE_MESH_CONTACT_H
#define TB_COLLIDE_MESH_CONTACT_H

#include "collide/pairs.h"

tbOtherPair tb_collide_mesh;          // A: sphere, capsule, box, hull or mesh; B: mesh
tbOtherPair tb_collide_plane_mesh;    // A: plane; B: mesh or grid
tbOtherPair tb_collide_cylinder_mesh; // A: cylinder; B: mesh
tbOtherPair tb_collide_sdf;           // A: anything but a plane; B: grid

// Takes the points from `first` on from the frame T to the world.
static inline void tb_points_to_world(tbTransform T, tbArray* points, size_t first)
{
  tbContactPoint* p = (tbContactPoint*)points->data;
  for (size_t i = first; i < points->count; i++) {
    p[i].a = tb_transform_point(T, p[i].a);
    p[i].b = tb_transform_point(T, p[i].b);
    p[i].normal = tb_normalize3(tb_quat_rotate(T.q, p[i].normal));
  }
}

#endif
