// SPDX-License-Identifier: Apache-2.0
// Rays. A convex shape is what lies behind its flat faces, within its round side, or within a radius: the ray
// is cut to the stretch inside of each.
//
// Round sides are solved from the point of the ray that is nearest to their axis, so that a far origin costs
// no digits. Triangles are decided by the signs of three volumes, which two triangles at an edge compute to
// the same bits: no ray slips between them.
#include "collide/query.h"

tbSubject tb_subject_shape(const tbShape* shape, tbTransform body)
{
  return (tbSubject){.shape = shape, .T = tb_transform_mul(body, shape->pose)};
}

tbSubject tb_subject_triangles(const tbVec3* point, const int (*triangle)[3], int count, bool closed)
{
  return (tbSubject){.T = tb_transform_identity(),
                     .point = point,
                     .triangle = triangle,
                     .ntriangle = count,
                     .closed = closed};
}

// The stretch of a ray that is left, and the outward normal where it begins.
typedef struct {
  double begin, end;
  tbVec3 normal;
} Stretch;

static bool cut(Stretch* s, double begin, double end, tbVec3 normal)
{
  if (begin > s->begin) s->begin = begin, s->normal = normal;
  if (end < s->end) s->end = end;
  return s->begin <= s->end;
}

// Behind the face n·x ≤ offset.
static bool cut_face(Stretch* s, tbVec3 o, tbVec3 d, tbVec3 n, double offset)
{
  double rate = tb_dot3(n, d), above = tb_dot3(n, o) - offset;
  if (rate == 0) return above <= 0;
  double t = -above / rate;
  return rate < 0 ? cut(s, t, INFINITY, n) : cut(s, -INFINITY, t, n);
}

// Within `radius` of a point, or of an axis along z where `along` is 0.
static bool cut_round(Stretch* s, tbVec3 o, tbVec3 d, tbVec3 centre, double radius, double along)
{
  tbVec3 m = tb_sub3(centre, o), e = tb_vec3(d.x, d.y, along * d.z);
  m.z *= along;
  double ee = tb_dot3(e, e);
  if (ee == 0) return tb_dot3(m, m) <= radius * radius;
  double middle = tb_dot3(m, e) / ee;
  tbVec3 off = tb_madd3(m, -middle, e); // from the ray's nearest point to the centre
  double half = radius * radius - tb_dot3(off, off);
  if (half < 0) return false;
  half = sqrt(half / ee);
  tbVec3 out = tb_sub3(tb_scale3(-half, e), off); // at the entry, from the centre
  return cut(s, middle - half, middle + half, tb_scale3(1 / radius, out));
}

static bool ray_convex(const tbShape* shape, tbVec3 o, tbVec3 d, Stretch* s)
{
  for (int i = 0; i < tb_core_face_count(shape); i++) {
    double offset;
    tbVec3 n = tb_core_face_normal(shape, i, &offset);
    if (!cut_face(s, o, d, n, offset)) return false;
  }
  switch (shape->type) {
  case TB_SHAPE_SPHERE: return cut_round(s, o, d, tb_zero3(), shape->sphere.radius, 1);
  case TB_SHAPE_CYLINDER: return cut_round(s, o, d, tb_zero3(), shape->cylinder.radius, 0);
  case TB_SHAPE_PLANE: return cut_face(s, o, d, shape->plane.normal, shape->plane.offset);
  default: return true;
  }
}

// A capsule is its middle and two balls; the ray is in it from the first of them on.
static bool ray_capsule(const tbShape* shape, tbVec3 o, tbVec3 d, Stretch* s)
{
  double r = shape->capsule.radius, h = shape->capsule.half;
  bool met = false;
  Stretch best = *s;
  for (int part = 0; part < 3; part++) {
    Stretch p = *s;
    bool in = part < 2 ? cut_round(&p, o, d, tb_vec3(0, 0, part ? h : -h), r, 1)
                       : cut_round(&p, o, d, tb_zero3(), r, 0) && cut_face(&p, o, d, tb_vec3(0, 0, 1), h) &&
                             cut_face(&p, o, d, tb_vec3(0, 0, -1), h);
    if (in && (!met || p.begin < best.begin)) best = p, met = true;
  }
  *s = best;
  return met;
}

// ---- triangles ----

// Better than *out: nearer. The volumes of the ray with the three sides have one sign where it passes inside.
static bool ray_triangle(const tbVec3 v[3], tbVec3 o, tbVec3 d, double* nearest, tbVec3* normal)
{
  tbVec3 a = tb_sub3(v[0], o), b = tb_sub3(v[1], o), c = tb_sub3(v[2], o);
  double x = tb_dot3(d, tb_cross3(b, c)), y = tb_dot3(d, tb_cross3(c, a)), z = tb_dot3(d, tb_cross3(a, b));
  if ((x < 0 || y < 0 || z < 0) && (x > 0 || y > 0 || z > 0)) return false;
  double sum = x + y + z;
  if (sum == 0) return false; // along its plane
  double t =
      tb_dot3(d, tb_scale3(1 / sum, tb_add3(tb_add3(tb_scale3(x, a), tb_scale3(y, b)), tb_scale3(z, c))));
  if (!(t >= 0 && t <= *nearest)) return false;
  tbVec3 n = tb_normalize3(tb_cross3(tb_sub3(v[1], v[0]), tb_sub3(v[2], v[0])));
  *nearest = t, *normal = tb_dot3(n, d) > 0 ? tb_neg3(n) : n;
  return true;
}

static bool slab(double lo, double hi, double o, double d, double* begin, double* end)
{
  if (d == 0) return lo <= o && o <= hi;
  double a = (lo - o) / d, b = (hi - o) / d;
  *begin = fmax(*begin, fmin(a, b)), *end = fmin(*end, fmax(a, b));
  return true;
}

// Whether a ray may meet a box within `length`; a little wider than it is, for rounding.
static bool ray_box(const tbBox* box, tbVec3 o, tbVec3 d, double length)
{
  double begin = 0, end = length;
  if (!slab(box->lo.x, box->hi.x, o.x, d.x, &begin, &end)) return false;
  if (!slab(box->lo.y, box->hi.y, o.y, d.y, &begin, &end)) return false;
  if (!slab(box->lo.z, box->hi.z, o.z, d.z, &begin, &end)) return false;
  return begin <= end * (1 + 1e-12) + 1e-12 * fabs(begin);
}

static bool ray_mesh(const tbMesh* mesh, tbVec3 o, tbVec3 d, double length, tbMeeting* out)
{
  int stack[64], depth = 0, met = -1;
  stack[depth++] = 0;
  while (depth > 0) {
    const tbBvhNode* node = &mesh->bvh.node[stack[--depth]];
    if (!ray_box(&node->box, o, d, length)) continue;
    if (node->right) {
      stack[depth++] = node->right, stack[depth++] = (int)(node - mesh->bvh.node) + 1;
      continue;
    }
    for (int i = 0; i < node->count; i++) {
      int t = mesh->bvh.order[node->first + i];
      const int* c = mesh->triangle[t];
      tbVec3 v[3] = {mesh->vertex[c[0]], mesh->vertex[c[1]], mesh->vertex[c[2]]};
      if (ray_triangle(v, o, d, &length, &out->normal)) met = t;
    }
  }
  out->distance = length, out->triangle = met;
  return met >= 0;
}

static bool ray_triangles(const tbSubject* s, tbVec3 o, tbVec3 d, double length, tbMeeting* out)
{
  int met = -1;
  for (int t = 0; t < s->ntriangle; t++) {
    const int* c = s->triangle[t];
    tbVec3 v[3] = {s->point[c[0]], s->point[c[1]], s->point[c[2]]};
    if (ray_triangle(v, o, d, &length, &out->normal)) met = t;
  }
  out->distance = length, out->triangle = met;
  return met >= 0;
}

bool tb_subject_ray(const tbSubject* s, tbVec3 from, tbVec3 d, double length, tbMeeting* out)
{
  tbVec3 o = tb_transform_unpoint(s->T, from), e = tb_quat_unrotate(s->T.q, d);
  const tbMesh* mesh = tb_subject_mesh(s);
  bool met;
  if (mesh) met = ray_mesh(mesh, o, e, length, out);
  else if (!s->shape) met = ray_triangles(s, o, e, length, out);
  else {
    Stretch in = {0, length, tb_neg3(e)};
    met = s->shape->type == TB_SHAPE_CAPSULE ? ray_capsule(s->shape, o, e, &in)
                                             : ray_convex(s->shape, o, e, &in);
    *out = (tbMeeting){.distance = in.begin, .normal = in.normal, .triangle = -1};
  }
  if (!met) return false;
  out->normal = tb_normalize3(tb_quat_rotate(s->T.q, out->normal));
  out->point = tb_madd3(from, out->distance, d);
  return true;
}
