// SPDX-License-Identifier: Apache-2.0
#include "collide/oracle.h"

#include <math.h>
#include <string.h>

static Point point(Real x, Real y, Real z) { return (Point){x, y, z}; }
static Point sub(Point a, Point b) { return point(a.x - b.x, a.y - b.y, a.z - b.z); }
static Point add(Point a, Real s, Point b) { return point(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z); }
static Point cross(Point a, Point b)
{
  return point(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static Real norm(Point a) { return sqrtl(oracle_dot(a, a)); }
Point oracle_point(tbVec3 v) { return point(v.x, v.y, v.z); }
Real oracle_dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

tbQuat oracle_rotation(tbRandom* r)
{
  tbQuat q;
  double s;
  do {
    q.w = test_uniform(r, -1, 1); // one by one: the order of arguments is the compiler's
    q.x = test_uniform(r, -1, 1);
    q.y = test_uniform(r, -1, 1);
    q.z = test_uniform(r, -1, 1);
    s = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  } while (s > 1 || s < 0.01);
  return tb_quat_normalize(q);
}

tbQuat oracle_quarter_turn(tbRandom* r)
{
  static const tbQuat turn[3] = {{1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}};
  tbQuat q = tb_quat_identity();
  for (int k = test_below(r, 4); k > 0; k--) q = tb_quat_mul(turn[test_below(r, 3)], q);
  return tb_quat_normalize(q);
}

tbVec3 oracle_direction(tbRandom* r) { return tb_quat_rotate(oracle_rotation(r), tb_vec3(0, 0, 1)); }

tbShape oracle_sphere(double radius)
{
  return (tbShape){.type = TB_SHAPE_SPHERE, .pose = tb_transform_identity(), .sphere = {radius}};
}
tbShape oracle_box(double x, double y, double z)
{
  return (tbShape){.type = TB_SHAPE_BOX, .pose = tb_transform_identity(), .box = {tb_vec3(x, y, z)}};
}
tbShape oracle_capsule(double radius, double half)
{
  return (tbShape){.type = TB_SHAPE_CAPSULE, .pose = tb_transform_identity(), .capsule = {radius, half}};
}
tbShape oracle_cylinder(double radius, double half)
{
  return (tbShape){.type = TB_SHAPE_CYLINDER, .pose = tb_transform_identity(), .cylinder = {radius, half}};
}
tbShape oracle_convex(const OracleHull* hull)
{
  return (tbShape){.type = TB_SHAPE_CONVEX, .pose = tb_transform_identity(), .hull = &hull->hull};
}
tbShape oracle_plane(tbVec3 normal, double offset)
{
  return (tbShape){
      .type = TB_SHAPE_PLANE, .pose = tb_transform_identity(), .plane = {tb_normalize3(normal), offset}};
}

// Corners of the plane n·x = offset, counter-clockwise about n.
static int ring(const tbVec3* p, int count, tbVec3 n, double offset, double near, int* out)
{
  int found = 0;
  double angle[ORACLE_CORNERS];
  tbMat3 frame = tb_mat3_frame(n);
  tbVec3 middle = tb_zero3();
  for (int i = 0; i < count; i++)
    if (fabs(tb_dot3(n, p[i]) - offset) <= near) out[found++] = i;
  for (int k = 0; k < found; k++) middle = tb_madd3(middle, 1.0 / found, p[out[k]]);
  for (int k = 0; k < found; k++) {
    tbVec3 d = tb_mat3_mulv(frame, tb_sub3(p[out[k]], middle));
    int v = out[k], at = k;
    double a = atan2(d.z, d.y);
    for (; at > 0 && angle[at - 1] > a; at--) {
      angle[at] = angle[at - 1];
      out[at] = out[at - 1];
    }
    angle[at] = a;
    out[at] = v;
  }
  return found;
}

static void add_edges(OracleHull* h)
{
  tbHull* hull = &h->hull;
  for (int f = 0; f < hull->nface; f++)
    for (int k = h->face_adr[f], end = h->face_adr[f + 1]; k < end; k++) {
      int v = h->face_vertex[k], w = h->face_vertex[k + 1 < end ? k + 1 : h->face_adr[f]], e = 0;
      while (e < hull->nedge && !(h->edge[e].vertex[0] == w && h->edge[e].vertex[1] == v)) e++;
      if (e < hull->nedge) h->edge[e].face[1] = f;
      else h->edge[hull->nedge++] = (tbHullEdge){{v, w}, {f, -1}};
    }
  int n = 0;
  for (int v = 0; v < hull->nvertex; v++) {
    h->near_adr[v] = n;
    for (int e = 0; e < hull->nedge; e++)
      for (int side = 0; side < 2; side++)
        if (h->edge[e].vertex[side] == v) h->near[n++] = h->edge[e].vertex[1 - side];
  }
  h->near_adr[hull->nvertex] = n;
}

void oracle_hull(OracleHull* out, const tbVec3* p, int count)
{
  memset(out, 0, sizeof *out);
  tbHull* hull = &out->hull;
  double size = 0;
  for (int i = 0; i < count; i++) {
    out->vertex[i] = p[i];
    hull->centre = tb_madd3(hull->centre, 1.0 / count, p[i]);
    size = fmax(size, tb_maxabs3(p[i]));
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      for (int k = 0; k < count; k++) {
        if (i >= j || i >= k || j == k) continue;
        tbVec3 n = tb_cross3(tb_sub3(p[j], p[i]), tb_sub3(p[k], p[i]));
        if (tb_norm3(n) == 0) continue;
        n = tb_normalize3(n);
        double offset = tb_dot3(n, p[i]), most = -INFINITY;
        for (int v = 0; v < count; v++) most = fmax(most, tb_dot3(n, p[v]));
        if (most > offset + 1e-12 * size) continue;
        bool known = false;
        for (int f = 0; f < hull->nface; f++) known |= tb_distance3(n, out->face_normal[f]) < 1e-9;
        if (known) continue;
        int f = hull->nface++;
        out->face_normal[f] = n;
        out->face_offset[f] = most;
        out->face_adr[f + 1] =
            out->face_adr[f] + ring(p, count, n, offset, 1e-12 * size, &out->face_vertex[out->face_adr[f]]);
      }
  hull->nvertex = count;
  add_edges(out);
  for (int i = 0; i < count; i++) hull->radius = fmax(hull->radius, tb_distance3(p[i], hull->centre));
  hull->vertex = out->vertex;
  hull->face_normal = out->face_normal;
  hull->face_offset = out->face_offset;
  hull->face_adr = out->face_adr;
  hull->face_vertex = out->face_vertex;
  hull->edge = out->edge;
  hull->near_adr = out->near_adr;
  hull->near = out->near;
}

// Rotation by a quaternion that is unit only to double precision, made unit in long double.
static Point turn(tbQuat q, Point v)
{
  Real w = q.w, s = w * w + (Real)q.x * q.x + (Real)q.y * q.y + (Real)q.z * q.z;
  Point u = point(q.x, q.y, q.z), t = cross(u, v), uu = cross(u, t);
  return point(v.x + 2 * (w * t.x + uu.x) / s, v.y + 2 * (w * t.y + uu.y) / s,
               v.z + 2 * (w * t.z + uu.z) / s);
}

static Point move(tbTransform T, const tbTransform* pose, Point p)
{
  return add(turn(T.q, add(turn(pose->q, p), 1, oracle_point(pose->x))), 1, oracle_point(T.x));
}

static void place_hull(Body* out, const tbHull* h, const tbShape* shape, tbTransform T)
{
  out->ncorner = h->nvertex;
  out->nedge = h->nedge;
  out->nface = h->nface;
  for (int i = 0; i < h->nvertex; i++) out->corner[i] = move(T, &shape->pose, oracle_point(h->vertex[i]));
  for (int e = 0; e < h->nedge; e++) memcpy(out->edge[e], h->edge[e].vertex, sizeof out->edge[e]);
  memcpy(out->face_adr, h->face_adr, (size_t)(h->nface + 1) * sizeof(int));
  memcpy(out->face_corner, h->face_vertex, (size_t)h->face_adr[h->nface] * sizeof(int));
  for (int f = 0; f < h->nface; f++) {
    // from the corners themselves: they define the solid, the stored normals are rounded
    const int* c = &out->face_corner[out->face_adr[f]];
    Point n = cross(sub(out->corner[c[1]], out->corner[c[0]]), sub(out->corner[c[2]], out->corner[c[0]]));
    out->normal[f] = add(point(0, 0, 0), 1 / norm(n), n);
  }
}

static void collect_ways(Body* out)
{
  for (int e = 0; e < out->nedge; e++) {
    Point d = sub(out->corner[out->edge[e][1]], out->corner[out->edge[e][0]]);
    d = add(point(0, 0, 0), 1 / norm(d), d);
    bool known = false;
    for (int k = 0; k < out->nway && !known; k++) known = norm(cross(d, out->way[k])) < 1e-17L;
    if (!known) out->way[out->nway++] = d;
  }
}

void oracle_place(Body* out, const tbShape* shape, tbTransform T)
{
  memset(out, 0, sizeof *out);
  out->type = shape->type;
  switch (shape->type) {
  case TB_SHAPE_SPHERE:
    out->ncorner = 1;
    out->corner[0] = move(T, &shape->pose, point(0, 0, 0));
    out->radius = shape->sphere.radius;
    break;
  case TB_SHAPE_CAPSULE:
    out->ncorner = 2;
    out->nedge = 1;
    out->edge[0][1] = 1;
    for (int i = 0; i < 2; i++)
      out->corner[i] = move(T, &shape->pose, point(0, 0, i ? shape->capsule.half : -shape->capsule.half));
    out->radius = shape->capsule.radius;
    break;
  case TB_SHAPE_CYLINDER:
    out->centre = move(T, &shape->pose, point(0, 0, 0));
    out->axis = turn(T.q, turn(shape->pose.q, point(0, 0, 1)));
    out->radius = shape->cylinder.radius;
    out->half = shape->cylinder.half;
    break;
  case TB_SHAPE_PLANE:
    out->normal[0] = turn(T.q, turn(shape->pose.q, oracle_point(shape->plane.normal)));
    out->offset = shape->plane.offset + oracle_dot(out->normal[0], move(T, &shape->pose, point(0, 0, 0)));
    break;
  case TB_SHAPE_BOX: {
    OracleHull hull;
    tbVec3 corner[8], h = shape->box.half;
    for (int k = 0; k < 8; k++) corner[k] = tb_vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    memset(&hull, 0, sizeof hull);
    hull.hull = (tbHull){.nvertex = 8,
                         .nface = 6,
                         .vertex = hull.vertex,
                         .edge = hull.edge,
                         .face_adr = hull.face_adr,
                         .face_vertex = hull.face_vertex};
    for (int k = 0; k < 8; k++) hull.vertex[k] = tb_mul3(corner[k], h);
    for (int f = 0; f < 6; f++) {
      memcpy(&hull.face_vertex[4 * f], face[f], sizeof face[f]);
      hull.face_adr[f + 1] = 4 * f + 4;
    }
    add_edges(&hull);
    place_hull(out, &hull.hull, shape, T);
    break;
  }
  case TB_SHAPE_CONVEX: place_hull(out, shape->hull, shape, T); break;
  default: break;
  }
  collect_ways(out);
}

bool oracle_is_polytope(const Body* a) { return a->ncorner > 0; }

// Farthest along n.
static Real reach(const Body* a, Point n)
{
  if (a->type == TB_SHAPE_PLANE) {
    Real c = oracle_dot(n, a->normal[0]);
    return c > 1 - 1e-12L ? a->offset : INFINITY;
  }
  if (a->type == TB_SHAPE_CYLINDER) {
    Real along = oracle_dot(n, a->axis);
    return oracle_dot(n, a->centre) + a->half * fabsl(along) + a->radius * norm(add(n, -along, a->axis));
  }
  Real most = -INFINITY;
  for (int i = 0; i < a->ncorner; i++) most = fmaxl(most, oracle_dot(n, a->corner[i]));
  return most + a->radius;
}

Real oracle_slab(const Body* a, const Body* b, Point n)
{
  return -reach(b, point(-n.x, -n.y, -n.z)) - reach(a, n);
}

static Real clampl(Real x, Real lo, Real hi) { return x < lo ? lo : x > hi ? hi : x; }

static Real point_edge(Point p, Point a, Point b)
{
  Point e = sub(b, a);
  Real ee = oracle_dot(e, e), t = ee > 0 ? clampl(oracle_dot(sub(p, a), e) / ee, 0, 1) : 0;
  return norm(sub(p, add(a, t, e)));
}

static Real edge_edge(Point a, Point b, Point c, Point d)
{
  Real best =
      fminl(fminl(point_edge(a, c, d), point_edge(b, c, d)), fminl(point_edge(c, a, b), point_edge(d, a, b)));
  Point u = sub(b, a), v = sub(d, c), n = cross(u, v), r = sub(c, a);
  Real nn = oracle_dot(n, n);
  if (nn <= 1e-30L * oracle_dot(u, u) * oracle_dot(v, v)) return best;
  Real s = oracle_dot(cross(r, v), n) / nn, t = oracle_dot(cross(r, u), n) / nn;
  return s > 0 && s < 1 && t > 0 && t < 1 ? fminl(best, fabsl(oracle_dot(r, n)) / sqrtl(nn)) : best;
}

// Distance of a point above a face's inside; infinite beside or below it.
static Real point_face(Point p, const Body* b, int f)
{
  Point n = b->normal[f];
  int first = b->face_adr[f], count = b->face_adr[f + 1] - first;
  Real h = oracle_dot(n, sub(p, b->corner[b->face_corner[first]]));
  if (h < 0) return INFINITY;
  for (int k = 0; k < count; k++) {
    Point v = b->corner[b->face_corner[first + k]], w = b->corner[b->face_corner[first + (k + 1) % count]];
    if (oracle_dot(n, cross(sub(w, v), sub(p, v))) < 0) return INFINITY;
  }
  return h;
}

Real oracle_distance(const Body* a, const Body* b)
{
  Real best = INFINITY;
  if (a->ncorner == 1 && b->ncorner == 1) best = norm(sub(a->corner[0], b->corner[0]));
  for (int side = 0; side < 2; side++) {
    const Body *p = side ? a : b, *q = side ? b : a;
    for (int i = 0; i < p->ncorner; i++) {
      for (int f = 0; f < q->nface; f++) best = fminl(best, point_face(p->corner[i], q, f));
      if (p->ncorner > 1) continue;
      for (int e = 0; e < q->nedge; e++)
        best = fminl(best, point_edge(p->corner[i], q->corner[q->edge[e][0]], q->corner[q->edge[e][1]]));
    }
  }
  for (int e = 0; e < a->nedge; e++)
    for (int f = 0; f < b->nedge; f++)
      best = fminl(best, edge_edge(a->corner[a->edge[e][0]], a->corner[a->edge[e][1]],
                                   b->corner[b->edge[f][0]], b->corner[b->edge[f][1]]));
  return best - a->radius - b->radius;
}

Real oracle_depth(const Body* a, const Body* b)
{
  Real best = -INFINITY;
  for (int f = 0; f < a->nface; f++) best = fmaxl(best, oracle_slab(a, b, a->normal[f]));
  for (int f = 0; f < b->nface; f++) {
    Point n = b->normal[f];
    best = fmaxl(best, oracle_slab(a, b, point(-n.x, -n.y, -n.z)));
  }
  for (int e = 0; e < a->nway; e++)
    for (int f = 0; f < b->nway; f++) {
      Point n = cross(a->way[e], b->way[f]);
      Real length = norm(n);
      if (length <= 1e-14L) continue;
      n = add(point(0, 0, 0), 1 / length, n);
      best = fmaxl(best, fmaxl(oracle_slab(a, b, n), oracle_slab(a, b, point(-n.x, -n.y, -n.z))));
    }
  return best;
}

Real oracle_gap(const Body* a, const Body* b)
{
  Real depth = oracle_depth(a, b), radii = a->radius + b->radius;
  bool overlap = a->nface + b->nface > 0 && depth + radii <= 0;
  return overlap ? depth : oracle_distance(a, b);
}

Real oracle_off_surface(const Body* a, Point p)
{
  Real inside = -INFINITY;
  switch (a->type) {
  case TB_SHAPE_PLANE: return fabsl(oracle_dot(p, a->normal[0]) - a->offset);
  case TB_SHAPE_SPHERE: return fabsl(norm(sub(p, a->corner[0])) - a->radius);
  case TB_SHAPE_CAPSULE: return fabsl(point_edge(p, a->corner[0], a->corner[1]) - a->radius);
  case TB_SHAPE_CYLINDER: {
    Point r = sub(p, a->centre);
    Real along = oracle_dot(r, a->axis);
    return fabsl(fmaxl(fabsl(along) - a->half, norm(add(r, -along, a->axis)) - a->radius));
  }
  default:
    for (int f = 0; f < a->nface; f++)
      inside = fmaxl(inside, oracle_dot(a->normal[f], sub(p, a->corner[a->face_corner[a->face_adr[f]]])));
    return fabsl(inside);
  }
}
