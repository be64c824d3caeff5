// SPDX-License-Identifier: Apache-2.0
// The closest point of a mesh, and the signed distance.
//
// The tree is searched depth first, the nearer child first, leaving out boxes beyond the best found so far.
// The closest point of a triangle is the foot of the perpendicular where that lies inside all three sides,
// else the closest point of one of the sides. Unlike the usual cascade of Voronoi regions this divides by
// nothing that a sliver makes small.
#include "geometry/mesh.h"

#include <assert.h>

enum { STACK = 64 };

typedef struct {
  tbVec3 point;
  double squared;
  int feature;
} Foot;

static double squared_distance(tbVec3 a, tbVec3 b)
{
  tbVec3 d = tb_sub3(a, b);
  return tb_dot3(d, d);
}

// Feature of the side opposite to `corner`, from its ends' and its own.
static Foot foot_on_side(tbVec3 p, const tbVec3 v[3], int corner)
{
  int from = (corner + 1) % 3, to = (corner + 2) % 3;
  tbVec3 along = tb_sub3(v[to], v[from]);
  double t = tb_dot3(tb_sub3(p, v[from]), along), all = tb_dot3(along, along);
  Foot foot = {.point = v[from], .feature = 4 + from};
  if (t >= all) foot = (Foot){.point = v[to], .feature = 4 + to};
  else if (t > 0) foot = (Foot){.point = tb_madd3(v[from], t / all, along), .feature = 1 + corner};
  foot.squared = squared_distance(p, foot.point);
  return foot;
}

// The foot on a triangle; anything farther than √bound where its plane alone lies beyond that.
static Foot foot_on_triangle(const tbMesh* mesh, int t, tbVec3 p, double bound)
{
  const int* corner = mesh->triangle[t];
  tbVec3 v[3] = {mesh->vertex[corner[0]], mesh->vertex[corner[1]], mesh->vertex[corner[2]]};
  tbVec3 n = mesh->normal[t];
  double height = tb_dot3(n, tb_sub3(p, v[0]));
  if (height * height > bound) return (Foot){.squared = INFINITY};
  bool inside = true;
  for (int i = 0; i < 3 && inside; i++) {
    tbVec3 along = tb_sub3(v[(i + 1) % 3], v[i]);
    inside = tb_dot3(tb_cross3(n, along), tb_sub3(p, v[i])) > 0;
  }
  if (inside) return (Foot){.point = tb_madd3(p, -height, n), .squared = height * height, .feature = 0};
  Foot best = foot_on_side(p, v, 0);
  for (int i = 1; i < 3; i++) {
    Foot foot = foot_on_side(p, v, i);
    if (foot.squared < best.squared) best = foot;
  }
  return best;
}

static double outside(double x, double lo, double hi) { return x < lo ? lo - x : x > hi ? x - hi : 0; }

static double box_squared_distance(const tbBox* box, tbVec3 p)
{
  double x = outside(p.x, box->lo.x, box->hi.x), y = outside(p.y, box->lo.y, box->hi.y),
         z = outside(p.z, box->lo.z, box->hi.z);
  return x * x + y * y + z * z;
}

typedef struct {
  int node;
  double squared;
} Waiting;

// Improves on `best`, the foot on triangle *triangle (or a mere bound), where a triangle is nearer.
static void search(const tbMesh* mesh, tbVec3 p, Foot* best, int* triangle)
{
  const tbBvhNode* node = mesh->bvh.node;
  Waiting stack[STACK];
  int depth = 0;
  stack[depth++] = (Waiting){0, box_squared_distance(&node[0].box, p)};
  while (depth > 0) {
    Waiting w = stack[--depth];
    if (w.squared > best->squared) continue;
    const tbBvhNode* here = &node[w.node];
    if (here->right) {
      Waiting a = {w.node + 1, box_squared_distance(&here[1].box, p)};
      Waiting b = {here->right, box_squared_distance(&node[here->right].box, p)};
      assert(depth + 2 <= STACK);
      stack[depth++] = a.squared <= b.squared ? b : a;
      stack[depth++] = a.squared <= b.squared ? a : b;
      continue;
    }
    for (int i = 0; i < here->count; i++) {
      int t = mesh->bvh.order[here->first + i];
      Foot foot = foot_on_triangle(mesh, t, p, best->squared);
      if (foot.squared < best->squared || (*triangle < 0 && foot.squared <= best->squared)) {
        *best = foot;
        *triangle = t;
      }
    }
  }
}

bool tb_mesh_closest(const tbMesh* mesh, tbVec3 p, double reach, tbMeshClosest* out)
{
  Foot best = {.squared = reach * reach};
  int triangle = -1;
  if (reach >= 0) search(mesh, p, &best, &triangle);
  *out = (tbMeshClosest){best.point, sqrt(best.squared), triangle, best.feature};
  return triangle >= 0;
}

void tb_mesh_closest_from(const tbMesh* mesh, tbVec3 p, int triangle, tbMeshClosest* out)
{
  Foot best = foot_on_triangle(mesh, triangle, p, INFINITY);
  search(mesh, p, &best, &triangle);
  *out = (tbMeshClosest){best.point, sqrt(best.squared), triangle, best.feature};
}

double tb_mesh_sign(const tbMesh* mesh, tbVec3 p, const tbMeshClosest* c)
{
  if (box_squared_distance(&mesh->box, p) > 0)
    return 1; // so far out that all triangles are equally close, too
  tbVec3 n = mesh->normal[c->triangle];
  if (c->feature >= 4) n = mesh->vertex_normal[mesh->triangle[c->triangle][c->feature - 4]];
  else if (c->feature >= 1) n = mesh->edge_normal[mesh->triangle_edge[c->triangle][c->feature - 1]];
  return tb_dot3(n, tb_sub3(p, c->point)) < 0 ? -1 : 1;
}

double tb_mesh_signed_distance(const tbMesh* mesh, tbVec3 p, tbMeshClosest* closest)
{
  tbMeshClosest found;
  bool any = tb_mesh_closest(mesh, p, INFINITY, &found);
  if (closest) *closest = found;
  if (!any) return NAN;
  return tb_mesh_sign(mesh, p, &found) * found.distance;
}
