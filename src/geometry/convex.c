// SPDX-License-Identifier: Apache-2.0
// Support points and faces of the convex shapes, in the shape's own frame.
//
// Corners are numbered once and for all, so that contacts keep their names from step to step:
//   box        bit 0, 1, 2 of the index: x, y, z positive. Faces −x +x −y +y −z +z: 0 … 5
//   capsule    0 at −z, 1 at +z
//   cylinder   k on the lower rim, TB_CYLINDER_SIDES + k on the upper one, at fixed angles; then the lower
//              and the upper end of the line where the side touches, and any point of either rim
//   convex     the hull's vertices and faces
//
// Hulls of many vertices are climbed along their edges (a corner that no neighbour beats is the farthest,
// by convexity); few vertices are scanned, which is faster and has no path to depend on.
#include "geometry/convex.h"
#include "geometry/hull.h"

enum { SCAN = 32, SIDES = TB_CYLINDER_SIDES, LINE = 2 * SIDES, RIM = LINE + 2 };

static tbVec3 support_box(tbVec3 half, tbVec3 d, int* feature)
{
  *feature = (d.x >= 0) | (d.y >= 0) << 1 | (d.z >= 0) << 2;
  return tb_vec3(d.x >= 0 ? half.x : -half.x, d.y >= 0 ? half.y : -half.y, d.z >= 0 ? half.z : -half.z);
}

static tbVec3 support_cylinder(double radius, double half, tbVec3 d, int* feature)
{
  double z = d.z >= 0 ? half : -half;
  double big = fabs(d.x) > fabs(d.y) ? fabs(d.x) : fabs(d.y);
  *feature = RIM + (d.z >= 0);
  if (big == 0) return tb_vec3(radius, 0, z);
  double x = d.x / big, y = d.y / big, s = radius / sqrt(x * x + y * y);
  return tb_vec3(s * x, s * y, z);
}

static int climb(const tbHull* hull, tbVec3 d, int from)
{
  int best = from;
  double reach = tb_dot3(hull->vertex[best], d);
  for (bool better = true; better;) {
    better = false;
    for (int k = hull->near_adr[best], end = hull->near_adr[best + 1]; k < end; k++) {
      double r = tb_dot3(hull->vertex[hull->near[k]], d);
      if (r > reach) {
        reach = r;
        best = hull->near[k];
        better = true;
        break;
      }
    }
  }
  return best;
}

static int support_hull(const tbHull* hull, tbVec3 d, int* hint)
{
  if (hull->nvertex > SCAN) {
    int best = climb(hull, d, hint ? *hint : 0);
    if (hint) *hint = best;
    return best;
  }
  int best = 0;
  double reach = tb_dot3(hull->vertex[0], d);
  for (int i = 1; i < hull->nvertex; i++) {
    double r = tb_dot3(hull->vertex[i], d);
    if (r > reach) {
      reach = r;
      best = i;
    }
  }
  return best;
}

tbVec3 tb_core_support(const tbShape* shape, tbVec3 d, int* hint, int* feature)
{
  int ignored;
  if (!feature) feature = &ignored;
  switch (shape->type) {
  case TB_SHAPE_BOX: return support_box(shape->box.half, d, feature);
  case TB_SHAPE_CAPSULE: *feature = d.z >= 0; return tb_vec3(0, 0, copysign(shape->capsule.half, d.z));
  case TB_SHAPE_CYLINDER: return support_cylinder(shape->cylinder.radius, shape->cylinder.half, d, feature);
  case TB_SHAPE_CONVEX: *feature = support_hull(shape->hull, d, hint); return shape->hull->vertex[*feature];
  default: *feature = 0; return tb_zero3();
  }
}

double tb_core_radius(const tbShape* shape)
{
  if (shape->type == TB_SHAPE_SPHERE) return shape->sphere.radius;
  return shape->type == TB_SHAPE_CAPSULE ? shape->capsule.radius : 0;
}

tbVec3 tb_core_centre(const tbShape* shape)
{
  return shape->type == TB_SHAPE_CONVEX ? shape->hull->centre : tb_zero3();
}

double tb_core_reach(const tbShape* shape)
{
  switch (shape->type) {
  case TB_SHAPE_BOX: return tb_norm3(shape->box.half);
  case TB_SHAPE_CAPSULE: return shape->capsule.half;
  case TB_SHAPE_CYLINDER: return tb_norm3(tb_vec3(shape->cylinder.radius, 0, shape->cylinder.half));
  case TB_SHAPE_CONVEX: return tb_norm3(shape->hull->centre) + shape->hull->radius;
  default: return 0;
  }
}

double tb_capsule_thickness(double radius, double rest, double along)
{
  double across = sqrt(fmax(0, 1 - along * along));
  if (rest < 0) rest = 0;
  if (across > 0 && radius * along / across <= rest) return radius / across;
  return rest * along + sqrt(fmax(0, radius * radius - rest * rest * across * across));
}

int tb_core_face_count(const tbShape* shape)
{
  switch (shape->type) {
  case TB_SHAPE_BOX: return 6;
  case TB_SHAPE_CYLINDER: return 2;
  case TB_SHAPE_CONVEX: return shape->hull->nface;
  default: return 0;
  }
}

tbVec3 tb_core_face_normal(const tbShape* shape, int face, double* offset)
{
  if (shape->type == TB_SHAPE_CONVEX) {
    *offset = shape->hull->face_offset[face];
    return shape->hull->face_normal[face];
  }
  double sign = face & 1 ? 1 : -1;
  if (shape->type == TB_SHAPE_CYLINDER) {
    *offset = shape->cylinder.half;
    return tb_vec3(0, 0, sign);
  }
  const tbVec3 half = shape->box.half;
  *offset = face < 2 ? half.x : face < 4 ? half.y : half.z;
  return tb_vec3(face < 2 ? sign : 0, face >> 1 == 1 ? sign : 0, face >= 4 ? sign : 0);
}

static void corner(tbFace* out, tbVec3 p, int feature)
{
  out->corner[out->n] = p;
  out->feature[out->n++] = feature;
}

// Two axes u, v of the face span it so that u × v points outward.
static void face_of_box(tbVec3 half, int face, tbFace* out)
{
  int axis = face >> 1, u = (axis + 1) % 3, v = (axis + 2) % 3, side = face & 1;
  for (int k = 0; k < 4; k++) {
    int turn = side ? k : 3 - k; // clockwise on the negative side
    int bits = side << axis | (turn == 1 || turn == 2) << u | (turn >= 2) << v;
    corner(out,
           tb_vec3(bits & 1 ? half.x : -half.x, bits & 2 ? half.y : -half.y, bits & 4 ? half.z : -half.z),
           bits);
  }
}

static void face_of_hull(const tbHull* hull, int face, tbFace* out)
{
  int first = hull->face_adr[face], count = hull->face_adr[face + 1] - first;
  int kept = count < TB_FACE_CORNERS ? count : TB_FACE_CORNERS;
  for (int k = 0; k < kept; k++) {
    int v = hull->face_vertex[first + (int)((long)k * count / kept)];
    corner(out, hull->vertex[v], v);
  }
}

// The rim at multiples of 45°, by exact halves of 1 and √½.
static void face_of_cap(double radius, double half, int cap, tbFace* out)
{
  static const signed char at[8][2] = {{2, 0}, {1, 1}, {0, 2}, {-1, 1}, {-2, 0}, {-1, -1}, {0, -2}, {1, -1}};
  _Static_assert(SIDES == 8, "the rim's corners are tabled");
  const double diagonal = radius * 0.70710678118654752440;
  for (int k = 0; k < SIDES; k++) {
    int i = cap ? k : SIDES - 1 - k;
    double r = i & 1 ? diagonal : 0.5 * radius;
    corner(out, tb_vec3(r * at[i][0], r * at[i][1], cap ? half : -half), cap * SIDES + i);
  }
}

void tb_core_face_at(const tbShape* shape, int face, tbFace* out)
{
  double offset;
  out->n = 0;
  out->index = face;
  out->normal = tb_core_face_normal(shape, face, &offset);
  switch (shape->type) {
  case TB_SHAPE_BOX: face_of_box(shape->box.half, face, out); break;
  case TB_SHAPE_CYLINDER: face_of_cap(shape->cylinder.radius, shape->cylinder.half, face, out); break;
  case TB_SHAPE_CONVEX: face_of_hull(shape->hull, face, out); break;
  default: break;
  }
}

// Of the faces that meet in the farthest corner, the one turned most to d. A face elsewhere may face d even
// more, but the shape is not touched there.
static int facing_of_hull(const tbHull* hull, tbVec3 d)
{
  tbVec3 top = hull->vertex[support_hull(hull, d, NULL)];
  double near = 1e-9 * hull->radius, most = -INFINITY;
  int best = 0;
  for (int f = 0; f < hull->nface; f++) {
    double facing = tb_dot3(hull->face_normal[f], d);
    if (facing <= most || hull->face_offset[f] - tb_dot3(hull->face_normal[f], top) > near) continue;
    most = facing;
    best = f;
  }
  return best;
}

static void segment(tbFace* out, tbVec3 lower, int lower_feature, tbVec3 upper, int upper_feature)
{
  corner(out, lower, lower_feature);
  corner(out, upper, upper_feature);
}

void tb_core_face(const tbShape* shape, tbVec3 d, tbFace* out)
{
  out->n = 0;
  out->index = 0;
  out->normal = tb_zero3();
  double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), across = sqrt(d.x * d.x + d.y * d.y);
  switch (shape->type) {
  case TB_SHAPE_BOX:
    if (x >= y && x >= z) tb_core_face_at(shape, d.x > 0, out);
    else tb_core_face_at(shape, y >= z ? 2 + (d.y > 0) : 4 + (d.z > 0), out);
    break;
  case TB_SHAPE_CONVEX: tb_core_face_at(shape, facing_of_hull(shape->hull, d), out); break;
  case TB_SHAPE_CYLINDER: {
    if (z > across) {
      tb_core_face_at(shape, d.z > 0, out);
      break;
    }
    tbVec3 p = tb_core_support(shape, tb_vec3(d.x, d.y, 0), NULL, NULL);
    out->index = 2;
    segment(out, tb_vec3(p.x, p.y, -shape->cylinder.half), LINE, tb_vec3(p.x, p.y, shape->cylinder.half),
            LINE + 1);
    break;
  }
  case TB_SHAPE_CAPSULE: {
    tbVec3 top = tb_vec3(0, 0, shape->capsule.half);
    if (z > 2 * across) corner(out, d.z > 0 ? top : tb_neg3(top), d.z > 0);
    else segment(out, tb_neg3(top), 0, top, 1);
    break;
  }
  default: corner(out, tb_zero3(), 0); break;
  }
}
