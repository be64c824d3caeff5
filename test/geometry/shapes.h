// SPDX-License-Identifier: Apache-2.0
// Point sets and meshes that the geometry tests share.
#ifndef TB_TEST_SHAPES_H
#define TB_TEST_SHAPES_H

#include "geometry/hull.h"
#include "geometry/sdf.h"
#include "test.h"

#include <string.h>

static inline tbVec3 shapes_in_cube(tbRandom* r) // one draw after the other: arguments have no order
{
  double x = test_uniform(r, -1, 1), y = test_uniform(r, -1, 1);
  return tb_vec3(x, y, test_uniform(r, -1, 1));
}

static inline tbVec3 shapes_on_grid(tbRandom* r, int side)
{
  int x = test_below(r, side), y = test_below(r, side);
  return tb_vec3(x, y, test_below(r, side));
}

static inline tbQuat shapes_turn(tbRandom* r)
{
  tbVec3 u = shapes_in_cube(r);
  return tb_quat_normalize(tb_quat(test_uniform(r, -1, 1), u.x, u.y, u.z));
}

static inline tbTransform shapes_pose(tbRandom* r, double reach)
{
  tbVec3 x = tb_scale3(reach, shapes_in_cube(r));
  return tb_transform(shapes_turn(r), x);
}

static inline tbVec3 shapes_on_sphere(tbRandom* r)
{
  tbVec3 p;
  do p = shapes_in_cube(r);
  while (tb_dot3(p, p) > 1 || tb_dot3(p, p) < 0.01);
  return tb_normalize3(p);
}

// A box of the given size as 12 triangles, its corners numbered by the bits of x, y, z.
static inline void shapes_box(tbVec3 size, tbTransform T, tbVec3 vertex[8], int triangle[36])
{
  static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int i = 0; i < 8; i++)
    vertex[i] = tb_transform_point(
        T, tb_vec3(size.x * ((i & 1) - 0.5), size.y * ((i >> 1 & 1) - 0.5), size.z * ((i >> 2 & 1) - 0.5)));
  for (int f = 0; f < 6; f++) {
    const int* c = faces[f];
    const int two[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
    memcpy(triangle + 6 * f, two, sizeof two);
  }
}

static inline tbMesh* shapes_box_mesh(tbContext* ctx, tbVec3 size, tbTransform T)
{
  tbVec3 vertex[8];
  int triangle[36];
  tbMesh* mesh = NULL;
  shapes_box(size, T, vertex, triangle);
  CHECK_OK(ctx, tb_mesh_create(ctx, vertex, 8, triangle, 12, &mesh));
  return mesh;
}

#endif
