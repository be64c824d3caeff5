// SPDX-License-Identifier: Apache-2.0
// Masses of meshes by MuJoCo's rules. The usual one ("legacy") adds up tetrahedra from a point inside to
// every triangle and counts each as positive, whatever way its triangle faces: that of a convex mesh is
// exact, that of another too large, and one that is not closed has a mass, too. "shell" adds up the triangles
// themselves.
#include "io/import/mjcf.h"

#include "geometry/mesh.h"

#include <math.h>

typedef struct {
  double volume;
  tbVec3 first;  // ∫ x
  tbMat3 second; // ∫ x xᵀ
} Moments;

static tbMat3 outer(tbVec3 a) { return tb_mat3_outer(a, a); }

// Of the tetrahedron of the origin and a triangle, or of the triangle: the mean of x xᵀ over a simplex of n
// corners is (Σ c cᵀ + s sᵀ) / (n (n + 1)), s the sum of all corners.
static void add(Moments* m, double volume, const tbVec3 corner[3], int corners)
{
  tbVec3 sum = tb_add3(tb_add3(corner[0], corner[1]), corner[2]);
  tbMat3 squares = outer(sum);
  for (int k = 0; k < 3; k++) squares = tb_mat3_add(squares, outer(corner[k]));
  m->volume += volume;
  m->first = tb_madd3(m->first, volume / corners, sum);
  m->second = tb_mat3_add(m->second, tb_mat3_scale(volume / (corners * (corners + 1)), squares));
}

static Moments moments_about(const tbMesh* mesh, tbVec3 origin, tbMjMeshRule rule)
{
  Moments m = {0};
  for (int t = 0; t < mesh->ntriangle; t++) {
    tbVec3 c[3];
    for (int k = 0; k < 3; k++) c[k] = tb_sub3(mesh->vertex[mesh->triangle[t][k]], origin);
    tbVec3 face = tb_cross3(tb_sub3(c[1], c[0]), tb_sub3(c[2], c[0])); // twice the area
    if (rule == TB_MJ_MESH_SHELL) add(&m, 0.5 * tb_norm3(face), c, 3);
    else add(&m, fabs(tb_dot3(c[0], face)) / 6, c, 4);
  }
  return m;
}

static tbVec3 centre_of(Moments m, tbVec3 origin)
{
  return m.volume > 0 ? tb_madd3(origin, 1 / m.volume, m.first) : origin;
}

// From the centre of the surface to that of mass; from there volume and moments.
tbMass tb_mj_mesh_mass(const tbMesh* mesh, tbTransform pose, double density, tbMjMeshRule rule)
{
  tbVec3 surface = centre_of(moments_about(mesh, tb_zero3(), TB_MJ_MESH_SHELL), tb_zero3());
  tbVec3 centre = centre_of(moments_about(mesh, surface, rule), surface);
  Moments m = moments_about(mesh, centre, rule);
  double trace = tb_mat3_trace(m.second);
  tbMat3 inertia = tb_mat3_add(tb_mat3_diag(trace, trace, trace), tb_mat3_scale(-1, m.second));
  tbMat3 R = tb_quat_mat3(pose.q);
  return (tbMass){.mass = density * m.volume,
                  .centre = tb_transform_point(pose, centre),
                  .inertia = tb_mat3_scale(density, tb_mat3_mul(R, tb_mat3_mult(inertia, R)))};
}
