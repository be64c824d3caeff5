// SPDX-License-Identifier: Apache-2.0
// A mesh on a plane: the vertices that come near it, found by the tree.
#include "collide/mesh_contact.h"
#include "collide/reduce.h"
#include "geometry/sdf.h"

#include <assert.h>

enum { STACK = 64 };

// The least of n·x over a box.
static double lowest(const tbBox* b, tbVec3 n)
{
  return n.x * (n.x > 0 ? b->lo.x : b->hi.x) + n.y * (n.y > 0 ? b->lo.y : b->hi.y) +
         n.z * (n.z > 0 ? b->lo.z : b->hi.z);
}

tbStatus tb_collide_plane_mesh(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin,
                               tbArray* out)
{
  // The plane in the frame of the mesh: n·x = offset.
  const tbMesh* mesh = b->shape->type == TB_SHAPE_SDF ? b->shape->sdf->mesh : b->shape->mesh;
  tbVec3 n = tb_quat_rotate(a->T.q, a->shape->plane.normal);
  double offset = a->shape->plane.offset - tb_dot3(n, tb_sub3(b->T.x, a->T.x));
  n = tb_quat_unrotate(b->T.q, n);
  size_t first = out->count;
  int stack[STACK], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const tbBvhNode* node = &mesh->bvh.node[stack[--depth]];
    if (lowest(&node->box, n) - offset > margin) continue;
    if (node->right) {
      assert(depth + 2 <= STACK);
      stack[depth++] = node->right;
      stack[depth++] = (int)(node - mesh->bvh.node) + 1;
      continue;
    }
    for (int i = 0; i < 3 * node->count; i++) {
      int t = mesh->bvh.order[node->first + i / 3], v = mesh->triangle[t][i % 3];
      tbVec3 x = mesh->vertex[v];
      double gap = tb_dot3(n, x) - offset;
      if (mesh->vertex_triangle[v] != t || !(gap <= margin)) continue;
      tbContactPoint point = {tb_madd3(x, -gap, n), x, n, gap,
                              tb_feature_pair(tb_feature_face(0), tb_feature_vertex(v))};
      tbStatus status = tb_array_push(ctx, out, &point, 1);
      if (status != TB_OK) {
        out->count = first;
        return status;
      }
    }
  }
  tb_reduce_points(out, first);
  tb_points_to_world(b->T, out, first);
  return TB_OK;
}
