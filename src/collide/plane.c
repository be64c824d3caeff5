// SPDX-License-Identifier: Apache-2.0
// Everything convex on a plane: the corners within the margin, in the frame of the convex shape A.
//
// The normal of the contact points from A into the plane's solid. Round shapes touch in the lowest points of
// their core's ends; of a cylinder's rim the fixed corners of its cap carry it, and the very lowest point
// with them.
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "geometry/hull.h"

typedef struct {
  tbVec3 n;      // contact normal: down, into the plane
  double offset; // a point p is at height −n·p − offset
} Ground;

static Ground ground_of(const tbShape* plane, tbTransform B)
{
  tbVec3 up = tb_normalize3(tb_quat_rotate(B.q, plane->plane.normal));
  return (Ground){tb_neg3(up), plane->plane.offset + tb_dot3(up, B.x)};
}

static double height(const Ground* g, tbVec3 p) { return -tb_dot3(g->n, p) - g->offset; }

static void add(const Ground* g, tbVec3 p, double margin, uint32_t feature, tbManifold* out)
{
  tb_manifold_add(out, margin, p, g->n, height(g, p), feature, tb_feature_face(0));
}

void tb_collide_sphere_plane(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                             tbManifold* out)
{
  Ground g = ground_of(b, B);
  double r = a->sphere.radius;
  tb_manifold_add(out, margin, tb_scale3(r, g.n), g.n, -g.offset - r, tb_feature_vertex(0),
                  tb_feature_face(0));
}

void tb_collide_box_plane(const tbShape* a, const tbShape* b, tbTransform B, double margin, tbManifold* out)
{
  Ground g = ground_of(b, B);
  tbVec3 h = a->box.half;
  for (int k = 0; k < 8; k++)
    add(&g, tb_vec3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z), margin, tb_feature_vertex(k),
        out);
}

// Both ends; a capsule that stands has one below the other and touches with that alone.
void tb_collide_capsule_plane(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                              tbManifold* out)
{
  Ground g = ground_of(b, B);
  double half = a->capsule.half, r = a->capsule.radius, along = fabs(g.n.z);
  for (int end = 0; end < 2; end++) {
    bool low = (g.n.z >= 0) == (end == 1);
    if (!low && along > 0.9) continue;
    tbVec3 p = tb_vec3(0, 0, end ? half : -half);
    double over = tb_capsule_thickness(r, low ? 0 : 2 * half, along);
    tb_manifold_add(out, margin, tb_madd3(p, over, g.n), g.n, height(&g, p) - over, tb_feature_vertex(end),
                    tb_feature_face(0));
  }
}

void tb_collide_cylinder_plane(const tbShape* a, const tbShape* b, tbTransform B, double margin,
                               tbManifold* out)
{
  Ground g = ground_of(b, B);
  double size = tb_core_reach(a), least = INFINITY;
  tbClipPoint point[TB_CYLINDER_SIDES + 1];
  tbFace face;
  int count = 0, feature;
  tb_core_face(a, g.n, &face);
  for (int k = 0; k < face.n; k++) {
    double gap = height(&g, face.corner[k]);
    least = fmin(least, gap);
    if (gap > margin) continue;
    point[count++] = (tbClipPoint){.a = face.corner[k], .gap = gap, .fa = tb_feature_vertex(face.feature[k])};
  }
  tbVec3 low = tb_core_support(a, g.n, NULL, &feature);
  double gap = height(&g, low);
  if (gap <= margin && gap < least - 1e-10 * size)
    point[count++] = (tbClipPoint){.a = low, .gap = gap, .fa = tb_feature_vertex(feature)};
  for (int k = 0; k < count; k++) {
    point[k].b = tb_madd3(point[k].a, point[k].gap, g.n);
    point[k].fb = tb_feature_face(0);
  }
  tb_manifold_from(point, count, g.n, 1e-6 * size, out);
}

// Seven directions around the normal, one in each quarter of the plane whichever way it is turned: the
// corners of any rectangle are among the extremes.
static void add_extremes(const tbHull* hull, const Ground* g, int deepest, double margin, tbManifold* out)
{
  static const double around[7][2] = {{1, 0},
                                      {0.62348980185873353, 0.78183148246802981},
                                      {-0.22252093395631440, 0.97492791218182361},
                                      {-0.90096886790241913, 0.43388373911755812},
                                      {-0.90096886790241913, -0.43388373911755812},
                                      {-0.22252093395631440, -0.97492791218182361},
                                      {0.62348980185873353, -0.78183148246802981}};
  tbMat3 frame = tb_mat3_frame(g->n);
  int chosen[8] = {deepest}, count = 1;
  for (int k = 0; k < 7; k++) {
    tbVec3 d = tb_add3(tb_scale3(around[k][0], tb_mat3_row(frame, 1)),
                       tb_scale3(around[k][1], tb_mat3_row(frame, 2)));
    int best = deepest;
    for (int v = 0; v < hull->nvertex; v++)
      if (tb_dot3(d, hull->vertex[v]) > tb_dot3(d, hull->vertex[best]) &&
          height(g, hull->vertex[v]) <= margin)
        best = v;
    bool known = false;
    for (int i = 0; i < count; i++) known |= chosen[i] == best;
    if (!known) chosen[count++] = best;
  }
  for (int i = 0; i < count; i++) add(g, hull->vertex[chosen[i]], margin, tb_feature_vertex(chosen[i]), out);
}

void tb_collide_hull_plane(const tbShape* a, const tbShape* b, tbTransform B, double margin, tbManifold* out)
{
  Ground g = ground_of(b, B);
  const tbHull* hull = a->hull;
  if (height(&g, tb_core_support(a, g.n, NULL, NULL)) > margin) return;
  int count = 0, deepest = 0;
  for (int v = 0; v < hull->nvertex; v++) {
    double h = height(&g, hull->vertex[v]);
    if (h < height(&g, hull->vertex[deepest])) deepest = v;
    count += h <= margin;
  }
  if (count > TB_MANIFOLD_POINTS) {
    add_extremes(hull, &g, deepest, margin, out);
    return;
  }
  for (int v = 0; v < hull->nvertex; v++) add(&g, hull->vertex[v], margin, tb_feature_vertex(v), out);
}
