// SPDX-License-Identifier: Apache-2.0
// The narrow phase: which function looks at which pair of shapes.
//
// Pairs are brought into a canonical order before anything is computed: by type, then by size, then by pose.
// A function therefore sees each pair in one order only, and swapping the arguments of tb_collide gives the
// same points, bit for bit, with a and b exchanged. Convex pairs work in the frame of the first shape, where
// coordinates are as small as the shapes, so that a scene far from the origin loses nothing but what its own
// coordinates lose.
#include "collide/contact.h"
#include "collide/mesh_contact.h"
#include "collide/pairs.h"
#include "geometry/hull.h"

// One of the two, or neither where the types never meet.
typedef struct {
  tbConvexPair* convex;
  tbOtherPair* other;
} Row;

#define CONVEX(f) \
  {               \
    .convex = f   \
  }
#define OTHER(f) \
  {              \
    .other = f   \
  }

static const Row table[TB_SHAPE_COUNT][TB_SHAPE_COUNT] = {
    [TB_SHAPE_SPHERE] = {[TB_SHAPE_SPHERE] = CONVEX(tb_collide_sphere_sphere),
                         [TB_SHAPE_BOX] = CONVEX(tb_collide_sphere_box),
                         [TB_SHAPE_CAPSULE] = CONVEX(tb_collide_sphere_capsule),
                         [TB_SHAPE_CYLINDER] = CONVEX(tb_collide_sphere_cylinder),
                         [TB_SHAPE_CONVEX] = CONVEX(tb_collide_cores),
                         [TB_SHAPE_PLANE] = CONVEX(tb_collide_sphere_plane),
                         [TB_SHAPE_MESH] = OTHER(tb_collide_mesh),
                         [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_BOX] = {[TB_SHAPE_BOX] = CONVEX(tb_collide_cores),
                      [TB_SHAPE_CAPSULE] = CONVEX(tb_collide_cores),
                      [TB_SHAPE_CYLINDER] = CONVEX(tb_collide_cores),
                      [TB_SHAPE_CONVEX] = CONVEX(tb_collide_cores),
                      [TB_SHAPE_PLANE] = CONVEX(tb_collide_box_plane),
                      [TB_SHAPE_MESH] = OTHER(tb_collide_mesh),
                      [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_CAPSULE] = {[TB_SHAPE_CAPSULE] = CONVEX(tb_collide_capsule_capsule),
                          [TB_SHAPE_CYLINDER] = CONVEX(tb_collide_cores),
                          [TB_SHAPE_CONVEX] = CONVEX(tb_collide_cores),
                          [TB_SHAPE_PLANE] = CONVEX(tb_collide_capsule_plane),
                          [TB_SHAPE_MESH] = OTHER(tb_collide_mesh),
                          [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_CYLINDER] = {[TB_SHAPE_CYLINDER] = CONVEX(tb_collide_cores),
                           [TB_SHAPE_CONVEX] = CONVEX(tb_collide_cores),
                           [TB_SHAPE_PLANE] = CONVEX(tb_collide_cylinder_plane),
                           [TB_SHAPE_MESH] = OTHER(tb_collide_cylinder_mesh),
                           [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_CONVEX] = {[TB_SHAPE_CONVEX] = CONVEX(tb_collide_cores),
                         [TB_SHAPE_PLANE] = CONVEX(tb_collide_hull_plane),
                         [TB_SHAPE_MESH] = OTHER(tb_collide_mesh),
                         [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_PLANE] =
        {[TB_SHAPE_MESH] = OTHER(tb_collide_plane_mesh), [TB_SHAPE_SDF] = OTHER(tb_collide_plane_mesh)},
    [TB_SHAPE_MESH] = {[TB_SHAPE_MESH] = OTHER(tb_collide_mesh), [TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
    [TB_SHAPE_SDF] = {[TB_SHAPE_SDF] = OTHER(tb_collide_sdf)},
};

void tb_manifold_add(tbManifold* m, double margin, tbVec3 a, tbVec3 normal, double gap, uint32_t feature_a,
                     uint32_t feature_b)
{
  if (!(gap <= margin) || m->n == TB_MANIFOLD_POINTS) return;
  m->point[m->n++] = (tbContactPoint){.a = a,
                                      .b = tb_madd3(a, gap, normal),
                                      .normal = normal,
                                      .gap = gap,
                                      .feature = tb_feature_pair(feature_a, feature_b)};
}

// −1, 0, 1: the order of two runs of numbers, the first difference deciding.
static int order(const double* a, const double* b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int order_hulls(const tbHull* a, const tbHull* b)
{
  if (a == b) return 0;
  if (a->nvertex != b->nvertex) return a->nvertex < b->nvertex ? -1 : 1;
  for (int i = 0; i < a->nvertex; i++) {
    int o = order(&a->vertex[i].x, &b->vertex[i].x, 3);
    if (o) return o;
  }
  return 0;
}

// Never by address: the order must be the same on every run.
static int order_shapes(const tbShape* a, const tbShape* b)
{
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  switch (a->type) {
  case TB_SHAPE_BOX: return order(&a->box.half.x, &b->box.half.x, 3);
  case TB_SHAPE_SPHERE: return order(&a->sphere.radius, &b->sphere.radius, 1);
  case TB_SHAPE_CAPSULE: return order(&a->capsule.radius, &b->capsule.radius, 2);
  case TB_SHAPE_CYLINDER: return order(&a->cylinder.radius, &b->cylinder.radius, 2);
  case TB_SHAPE_CONVEX: return order_hulls(a->hull, b->hull);
  default: return 0;
  }
}

// Equal shapes go by where they are, along the axis on which they are farthest apart: which of two stacked
// boxes comes first is not for the noise in the other coordinates to say.
static int order_places(tbTransform a, tbTransform b)
{
  tbVec3 d = tb_sub3(b.x, a.x);
  double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), most = x >= y && x >= z ? d.x : y >= z ? d.y : d.z;
  return most > 0 ? -1 : most < 0 ? 1 : order(&a.q.w, &b.q.w, 4);
}

static bool in_order(const tbPlaced* a, const tbPlaced* b)
{
  int o = order_shapes(a->shape, b->shape);
  return (o ? o : order_places(a->T, b->T)) <= 0;
}

static void swap_points(tbContactPoint* point, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    tbContactPoint p = point[i];
    point[i] = (tbContactPoint){p.b, p.a, tb_neg3(p.normal), p.gap, p.feature << 32 | p.feature >> 32};
  }
}

bool tb_collide_convex(const tbPlaced* a, const tbPlaced* b, double margin, tbManifold* out)
{
  bool swapped = !in_order(a, b);
  const tbPlaced *first = swapped ? b : a, *second = swapped ? a : b;
  tbConvexPair* pair = table[first->shape->type][second->shape->type].convex;
  out->n = 0;
  if (!pair) return false;
  pair(first->shape, second->shape, tb_place_relative(first->T, second->T), margin, out);
  for (int i = 0; i < out->n; i++) {
    tbContactPoint* p = &out->point[i];
    p->a = tb_transform_point(first->T, p->a);
    p->b = tb_transform_point(first->T, p->b);
    p->normal = tb_quat_rotate(first->T.q, p->normal);
  }
  if (swapped) swap_points(out->point, (size_t)out->n);
  return true;
}

static tbStatus collide_other(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin,
                              tbArray* out)
{
  bool swapped = !in_order(a, b);
  const tbPlaced *first = swapped ? b : a, *second = swapped ? a : b;
  tbOtherPair* pair = table[first->shape->type][second->shape->type].other;
  size_t before = out->count;
  if (pair) TB_TRY(pair(ctx, first, second, margin, out));
  if (swapped && out->count > before) swap_points((tbContactPoint*)out->data + before, out->count - before);
  return TB_OK;
}

tbStatus tb_collide(tbContext* ctx, const tbShape* a, tbTransform Ta, const tbShape* b, tbTransform Tb,
                    double margin, tbArray* out)
{
  tbPlaced A = tb_place(a, Ta), B = tb_place(b, Tb);
  tbManifold m;
  if (!tb_collide_convex(&A, &B, margin, &m)) return collide_other(ctx, &A, &B, margin, out);
  return m.n > 0 ? tb_array_push(ctx, out, m.point, (size_t)m.n) : TB_OK;
}
