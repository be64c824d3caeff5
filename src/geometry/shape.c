// SPDX-License-Identifier: Apache-2.0
// Shapes as values: constructors, names, checks and boxes.
#include "base/status.h"
#include "geometry/box.h"
#include "geometry/hull.h"
#include "geometry/sdf.h"

#include <assert.h>
#include <string.h>

static const char* const names[TB_SHAPE_COUNT] = {
    [TB_SHAPE_SPHERE] = "sphere",     [TB_SHAPE_BOX] = "box",       [TB_SHAPE_CAPSULE] = "capsule",
    [TB_SHAPE_CYLINDER] = "cylinder", [TB_SHAPE_CONVEX] = "convex", [TB_SHAPE_PLANE] = "plane",
    [TB_SHAPE_MESH] = "mesh",         [TB_SHAPE_SDF] = "sdf",
};

const char* tb_shape_type_name(tbShapeType type)
{
  return (unsigned)type < TB_SHAPE_COUNT ? names[type] : "unknown";
}

bool tb_shape_type_from_name(const char* name, tbShapeType* out)
{
  for (int type = 0; type < TB_SHAPE_COUNT; type++)
    if (strcmp(name, names[type]) == 0) {
      *out = (tbShapeType)type;
      return true;
    }
  return false;
}

static tbShape shape_of(tbShapeType type) { return (tbShape){.type = type, .pose = tb_transform_identity()}; }

tbShape tb_shape_sphere(double radius)
{
  tbShape s = shape_of(TB_SHAPE_SPHERE);
  s.sphere.radius = radius;
  return s;
}

tbShape tb_shape_box(tbVec3 size)
{
  tbShape s = shape_of(TB_SHAPE_BOX);
  s.box.half = tb_scale3(0.5, size);
  return s;
}

tbShape tb_shape_capsule(double radius, double length)
{
  tbShape s = shape_of(TB_SHAPE_CAPSULE);
  s.capsule.radius = radius;
  s.capsule.half = 0.5 * length;
  return s;
}

tbShape tb_shape_cylinder(double radius, double length)
{
  tbShape s = shape_of(TB_SHAPE_CYLINDER);
  s.cylinder.radius = radius;
  s.cylinder.half = 0.5 * length;
  return s;
}

tbShape tb_shape_plane(tbVec3 normal, double offset)
{
  tbShape s = shape_of(TB_SHAPE_PLANE);
  double length = tb_norm3(normal);
  s.plane.normal = tb_normalize3(normal);
  s.plane.offset = length > 0 ? offset / length : offset;
  return s;
}

tbShape tb_shape_convex(const tbHull* hull)
{
  tbShape s = shape_of(TB_SHAPE_CONVEX);
  s.hull = hull;
  return s;
}

tbShape tb_shape_mesh(const tbMesh* mesh)
{
  tbShape s = shape_of(TB_SHAPE_MESH);
  s.mesh = mesh;
  return s;
}

tbShape tb_shape_sdf(const tbSdf* sdf)
{
  tbShape s = shape_of(TB_SHAPE_SDF);
  s.sdf = sdf;
  return s;
}

// ---- checks ----

static tbStatus check_size(tbContext* ctx, const char* type, const char* what, double value, bool may_be_zero)
{
  if (isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return TB_OK;
  return tb_fail(ctx, TB_ERROR_INPUT, "the %s of a %s must be %s and finite, not %g", what, type,
                 may_be_zero ? "zero or positive" : "positive", value);
}

// Unit to 1e-9: what a file with ten digits, or a long run of products, leaves.
static bool is_unit(double squared) { return fabs(squared - 1) <= 2e-9; }

static tbStatus check_pose(tbContext* ctx, const char* type, tbTransform T)
{
  tbQuat q = T.q;
  if (!tb_finite3(T.x))
    return tb_fail(ctx, TB_ERROR_INPUT, "the position of a %s is (%g, %g, %g); it must be finite", type,
                   T.x.x, T.x.y, T.x.z);
  if (!is_unit(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z))
    return tb_fail(ctx, TB_ERROR_INPUT,
                   "the rotation of a %s is [%g %g %g %g]; it must be a quaternion of length 1", type, q.w,
                   q.x, q.y, q.z);
  return TB_OK;
}

tbStatus tb_shape_check(tbContext* ctx, const tbShape* s)
{
  if (!s) return tb_fail(ctx, TB_ERROR_ARGUMENT, "no shape");
  if ((unsigned)s->type >= TB_SHAPE_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a shape of unknown type %d", (int)s->type);
  const char* type = names[s->type];
  TB_TRY(check_pose(ctx, type, s->pose));
  switch (s->type) {
  case TB_SHAPE_SPHERE: return check_size(ctx, type, "radius", s->sphere.radius, false);
  case TB_SHAPE_BOX:
    TB_TRY(check_size(ctx, type, "size along x", 2 * s->box.half.x, false));
    TB_TRY(check_size(ctx, type, "size along y", 2 * s->box.half.y, false));
    return check_size(ctx, type, "size along z", 2 * s->box.half.z, false);
  case TB_SHAPE_CAPSULE:
    TB_TRY(check_size(ctx, type, "radius", s->capsule.radius, false));
    return check_size(ctx, type, "length", 2 * s->capsule.half, true);
  case TB_SHAPE_CYLINDER:
    TB_TRY(check_size(ctx, type, "radius", s->cylinder.radius, false));
    return check_size(ctx, type, "length", 2 * s->cylinder.half, false);
  case TB_SHAPE_PLANE:
    if (!isfinite(s->plane.offset))
      return tb_fail(ctx, TB_ERROR_INPUT, "the offset of a plane is %g; it must be finite", s->plane.offset);
    if (!is_unit(tb_dot3(s->plane.normal, s->plane.normal)))
      return tb_fail(ctx, TB_ERROR_INPUT, "the normal of a plane is (%g, %g, %g); it must have length 1",
                     s->plane.normal.x, s->plane.normal.y, s->plane.normal.z);
    return TB_OK;
  case TB_SHAPE_CONVEX:
    return s->hull ? TB_OK : tb_fail(ctx, TB_ERROR_ARGUMENT, "a convex shape without a hull");
  case TB_SHAPE_MESH: return s->mesh ? TB_OK : tb_fail(ctx, TB_ERROR_ARGUMENT, "a mesh shape without a mesh");
  case TB_SHAPE_SDF: return s->sdf ? TB_OK : tb_fail(ctx, TB_ERROR_ARGUMENT, "an sdf shape without a grid");
  case TB_SHAPE_COUNT: break;
  }
  return TB_OK;
}

// ---- boxes ----

static tbBox box_about(tbVec3 centre, tbVec3 half)
{
  return (tbBox){tb_sub3(centre, half), tb_add3(centre, half)};
}

static tbVec3 abs3(tbVec3 v) { return tb_vec3(fabs(v.x), fabs(v.y), fabs(v.z)); }

static tbVec3 box_extent(tbMat3 R, tbVec3 half) // |R| half
{
  return tb_vec3(tb_dot3(abs3(tb_mat3_row(R, 0)), half), tb_dot3(abs3(tb_mat3_row(R, 1)), half),
                 tb_dot3(abs3(tb_mat3_row(R, 2)), half));
}

// A disc of radius r with the unit normal a reaches r sin∠(a, x) along x, and so on.
static tbVec3 disc_extent(double r, tbVec3 a)
{
  return tb_vec3(r * sqrt(a.y * a.y + a.z * a.z), r * sqrt(a.z * a.z + a.x * a.x),
                 r * sqrt(a.x * a.x + a.y * a.y));
}

static tbBox points_box(tbTransform T, const tbVec3* points, int count)
{
  tbMat3 R = tb_quat_mat3(T.q);
  tbBox box = tb_box_empty();
  for (int i = 0; i < count; i++) box = tb_box_add(box, tb_mat3_mulv(R, points[i]));
  return (tbBox){tb_add3(box.lo, T.x), tb_add3(box.hi, T.x)};
}

// The largest d·v over the mesh: a search of its tree that skips boxes which do not reach beyond the best.
static double mesh_reach(const tbMesh* mesh, tbVec3 d)
{
  enum { STACK = 64 };
  const tbBvhNode* node = mesh->bvh.node;
  int stack[STACK], depth = 0;
  double best = -INFINITY;
  stack[depth++] = 0;
  while (depth > 0) {
    int k = stack[--depth];
    tbVec3 lo = node[k].box.lo, hi = node[k].box.hi;
    tbVec3 far = tb_vec3(d.x < 0 ? lo.x : hi.x, d.y < 0 ? lo.y : hi.y, d.z < 0 ? lo.z : hi.z);
    if (tb_dot3(d, far) <= best) continue; // rounding is monotone: no corner inside does better
    for (int i = 0; node[k].right == 0 && i < node[k].count; i++) {
      const int* corner = mesh->triangle[mesh->bvh.order[node[k].first + i]];
      for (int c = 0; c < 3; c++) best = fmax(best, tb_dot3(d, mesh->vertex[corner[c]]));
    }
    if (node[k].right == 0) continue;
    tbVec3 left = tb_add3(node[k + 1].box.lo, node[k + 1].box.hi),
           right = tb_add3(node[node[k].right].box.lo, node[node[k].right].box.hi);
    bool right_first = tb_dot3(d, right) > tb_dot3(d, left);
    assert(depth + 2 <= STACK);
    stack[depth++] = right_first ? k + 1 : node[k].right;
    stack[depth++] = right_first ? node[k].right : k + 1;
  }
  return best;
}

static tbBox mesh_box(tbTransform T, const tbMesh* mesh)
{
  tbMat3 R = tb_quat_mat3(T.q);
  tbVec3 x = tb_mat3_row(R, 0), y = tb_mat3_row(R, 1), z = tb_mat3_row(R, 2);
  tbVec3 hi = tb_vec3(mesh_reach(mesh, x), mesh_reach(mesh, y), mesh_reach(mesh, z));
  tbVec3 lo =
      tb_vec3(-mesh_reach(mesh, tb_neg3(x)), -mesh_reach(mesh, tb_neg3(y)), -mesh_reach(mesh, tb_neg3(z)));
  return (tbBox){tb_add3(lo, T.x), tb_add3(hi, T.x)};
}

tbBox tb_shape_box_of(const tbShape* shape, tbTransform body)
{
  tbTransform T = tb_transform_mul(body, shape->pose);
  tbMat3 R = tb_quat_mat3(T.q);
  tbVec3 axis = tb_mat3_col(R, 2);
  double r = shape->sphere.radius;
  switch (shape->type) {
  case TB_SHAPE_SPHERE: return box_about(T.x, tb_vec3(r, r, r));
  case TB_SHAPE_BOX: return box_about(T.x, box_extent(R, shape->box.half));
  case TB_SHAPE_CAPSULE:
    r = shape->capsule.radius;
    return box_about(T.x, tb_madd3(tb_vec3(r, r, r), shape->capsule.half, abs3(axis)));
  case TB_SHAPE_CYLINDER:
    return box_about(T.x,
                     tb_madd3(disc_extent(shape->cylinder.radius, axis), shape->cylinder.half, abs3(axis)));
  case TB_SHAPE_CONVEX: return points_box(T, shape->hull->vertex, shape->hull->nvertex);
  case TB_SHAPE_MESH: return mesh_box(T, shape->mesh);
  case TB_SHAPE_SDF: return mesh_box(T, shape->sdf->mesh);
  case TB_SHAPE_PLANE:
  case TB_SHAPE_COUNT: break;
  }
  return (tbBox){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
}
