// SPDX-License-Identifier: Apache-2.0
// Contacts of a distance grid.
//
// A grid answers how far a point is from the surface and which way is out. Contacts are places on the other
// surface where that distance φ has a local minimum (Macklin et al., "Local optimization for robust signed
// distance field collision", 2020):
//
//   sphere, capsule      points of the sphere, moved against ∇φ around it until they stay; of the capsule's
//                        side, along its axis too
//   cylinder             points of rims and side, moved around the axis; points of the caps as they are
//   box, hull, mesh, grid   vertices; the least along convex edges; descent over faces larger than a cell
//
// and, because a face may rest on several bumps of the grid's own surface at once, the vertices of the mesh
// behind the grid in the distance of the other shape. Normals are φ's gradient, or the other shape's for
// those vertices; edges and vertices obey their normal cones, widened by TILT, for the grid rounds what is
// sharp. Points are then reduced (reduce.c).
//
// Limits    features smaller than a cell are not there; deeper than half a part's thickness the way out may
//           be the wrong one.
#include "collide/meet.h"
#include "collide/mesh_contact.h"
#include "collide/reduce.h"
#include "geometry/box.h"
#include "geometry/sdf.h"

enum { MOVES = 5, EDGE_STEPS = 20, FACE_STEPS = 16, RIM = 16 };

#define TILT 0.3

typedef struct {
  tbContext* ctx;
  const tbSdf* sdf;
  tbTransform T; // of A in the grid's frame
  double margin;
  bool swapped; // A is the grid's owner, B the samples
  tbArray* out;
  tbStatus status;
} Probe;

static double phi(const Probe* p, tbVec3 x, tbVec3* out)
{
  double distance = tb_sdf_distance(p->sdf, x, out);
  if (out) *out = tb_normalize3(*out);
  return distance;
}

// A point of the sampled surface at x, where the grid's distance is `gap` and `g` the way out.
static void add(Probe* p, tbVec3 x, double gap, tbVec3 g, uint32_t feature)
{
  if (!(gap <= p->margin) || p->status != TB_OK || tb_maxabs3(g) == 0) return;
  tbVec3 y = tb_madd3(x, -gap, g);
  tbContactPoint point = {x, y, tb_neg3(g), gap, tb_feature_pair(feature, tb_feature_face(0))};
  if (p->swapped) point = (tbContactPoint){y, x, g, gap, tb_feature_pair(tb_feature_face(0), feature)};
  p->status = tb_array_push(p->ctx, p->out, &point, 1);
}

// No point within `size` of x can be as close to the surface as the margin: a distance changes no faster than
// one moves, but for what the grid rounds off.
static bool is_far(const Probe* p, tbVec3 x, double size)
{
  return phi(p, x, NULL) - size > p->margin + p->sdf->cell;
}

// Points of a sphere; with an axis (unit), only those on its side.
static void sample_sphere(Probe* p, tbVec3 centre, double radius, tbVec3 axis, int feature)
{
  if (is_far(p, centre, radius)) return;
  for (int k = 0; k < 14; k++) {
    int c = k - 6;
    tbVec3 d = k < 6 ? tb_vec3(k == 0   ? 1
                               : k == 1 ? -1
                                        : 0,
                               k == 2   ? 1
                               : k == 3 ? -1
                                        : 0,
                               k == 4   ? 1
                               : k == 5 ? -1
                                        : 0)
                     : tb_normalize3(tb_vec3(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1));
    tbVec3 g;
    double gap = 0;
    for (int i = 0; i <= MOVES; i++) {
      gap = phi(p, tb_madd3(centre, radius, d), &g);
      if (i < MOVES && tb_maxabs3(g) > 0) d = tb_neg3(g);
    }
    if (tb_dot3(d, g) > -0.99 || tb_dot3(d, axis) < -0.01) continue; // still moving, or inside the capsule
    add(p, tb_madd3(centre, radius, d), gap, g, tb_feature_vertex(14 * feature + k));
  }
}

// The capsule's side near height t, moved against ∇φ around the axis and, by shrinking steps, along it.
static void sample_side(Probe* p, double half, double radius, double t, uint32_t feature)
{
  tbVec3 u = tb_quat_rotate(p->T.q, tb_vec3(0, 0, 1)), g, d = tb_zero3(), x = tb_madd3(p->T.x, t, u);
  if (is_far(p, x, radius)) return;
  double gap = phi(p, x, &g), step = half / RIM;
  for (int i = 0; i < MOVES; i++, step *= 0.5) {
    d = tb_normalize3(tb_madd3(tb_neg3(g), tb_dot3(g, u), u));
    x = tb_madd3(tb_madd3(p->T.x, t, u), radius, d);
    gap = phi(p, x, &g);
    t = fmax(-half, fmin(half, t - copysign(step, tb_dot3(g, u))));
  }
  if (tb_dot3(d, g) < -0.95) add(p, x, gap, g, feature);
}

static void sample_capsule(Probe* p, const tbShape* shape)
{
  tbVec3 u = tb_quat_rotate(p->T.q, tb_vec3(0, 0, 1));
  double half = shape->capsule.half, radius = shape->capsule.radius;
  for (int end = -1; end <= 1; end += 2)
    sample_sphere(p, tb_madd3(p->T.x, end * half, u), radius, tb_scale3(end, u), (end + 1) / 2);
  for (int k = 1; k < RIM; k++)
    sample_side(p, half, radius, half * (2.0 * k / RIM - 1), tb_feature_edge(0, k));
}

// A point of a cylinder in its own frame, ρ from the axis toward the unit vector d, at height z. On the side
// and on the rims it is moved around the axis, against ∇φ; on a cap that lies flat it stays.
static void sample_cylinder_at(Probe* p, const tbShape* shape, tbVec3 d, double rho, double z,
                               uint32_t feature)
{
  bool side = rho == shape->cylinder.radius, cap = fabs(z) == shape->cylinder.half;
  tbVec3 g, x, out = tb_zero3(); // out: against ∇φ, in the cylinder's frame
  double gap = 0;
  for (int i = 0; i <= MOVES; i++) {
    double across = sqrt(out.x * out.x + out.y * out.y);
    if (i > 0 && side && across > 0.05) d = tb_vec3(out.x / across, out.y / across, 0);
    x = tb_transform_point(p->T, tb_vec3(rho * d.x, rho * d.y, z));
    gap = phi(p, x, &g);
    out = tb_quat_unrotate(p->T.q, tb_neg3(g));
  }
  double radial = tb_dot3(out, d), axial = out.z * copysign(1, z);
  bool faces = side && cap ? radial > -TILT && axial > -TILT : side ? radial > 0.95 : axial > 0.95;
  if (faces) add(p, x, gap, g, feature);
}

static void sample_cylinder(Probe* p, const tbShape* shape)
{
  const double radius = shape->cylinder.radius, half = shape->cylinder.half;
  if (is_far(p, p->T.x, sqrt(radius * radius + half * half))) return;
  for (int k = 0; k < 9; k++) { // the neighbours of the origin on a 3 × 3 grid, and the origin
    tbVec3 d = tb_normalize3(tb_vec3(k % 3 - 1, k / 3 - 1, 0));
    for (int l = -2; l <= 2; l++)
      if (k != 4) sample_cylinder_at(p, shape, d, radius, 0.5 * l * half, tb_feature_vertex(5 * k + l + 2));
    for (int end = -1; end <= 1; end += 2)
      sample_cylinder_at(p, shape, d, 0.5 * radius, end * half, tb_feature_vertex(50 + 2 * k + (end > 0)));
  }
}

// Least of φ along an edge, where it is not at an end.
static void sample_edge(Probe* p, const tbFeatureSurface* s, int e, tbVec3 a, tbVec3 b)
{
  if (is_far(p, tb_lerp3(a, b, 0.5), 0.5 * tb_distance3(a, b))) return;
  const double ratio = 0.6180339887498949;
  double lo = 0, hi = 1, x = 1 - ratio, y = ratio;
  double fx = phi(p, tb_lerp3(a, b, x), NULL), fy = phi(p, tb_lerp3(a, b, y), NULL);
  for (int k = 0; k < EDGE_STEPS; k++) {
    if (fx <= fy) {
      hi = y;
      y = x;
      fy = fx;
      x = hi - ratio * (hi - lo);
      fx = phi(p, tb_lerp3(a, b, x), NULL);
    } else {
      lo = x;
      x = y;
      fx = fy;
      y = lo + ratio * (hi - lo);
      fy = phi(p, tb_lerp3(a, b, y), NULL);
    }
  }
  double t = 0.5 * (lo + hi);
  if (t < 0.001 || t > 0.999) return;
  tbVec3 g, at = tb_lerp3(a, b, t);
  double gap = phi(p, at, &g);
  if (tb_surface_edge_faces(s, e, tb_neg3(g), TILT)) add(p, at, gap, g, tb_feature_mesh_edge(e));
}

// Least of φ over a face, by descent from the point `from` with steps that shrink when they fail.
static void sample_face(Probe* p, const tbFeatureSurface* s, int t, const tbVec3 corner[3], tbVec3 from,
                        double size)
{
  tbVec3 n = tb_surface_normal(s, t), x, g, h;
  tb_closest_on_triangle(corner, n, from, &x);
  double gap = phi(p, x, &g), step = 0.25 * size;
  int feature = 0;
  for (int k = 0; k < FACE_STEPS && step > 0.01 * p->sdf->cell; k++) {
    tbVec3 along = tb_madd3(g, -tb_dot3(g, n), n), y;
    int f = tb_closest_on_triangle(corner, n, tb_madd3(x, -step, along), &y);
    double next = phi(p, y, &h);
    if (next < gap) {
      x = y;
      g = h;
      gap = next;
      feature = f;
    } else step *= 0.4;
  }
  double facing = tb_dot3(g, n);
  if (feature == 0 && (s->solid ? facing < -0.9 : fabs(facing) > 0.9)) add(p, x, gap, g, tb_feature_face(t));
}

typedef struct {
  Probe* p;
  const tbFeatureSurface* s;
} Sampling;

static bool sample_triangle(void* user, int t)
{
  Probe* p = ((Sampling*)user)->p;
  const tbFeatureSurface* s = ((Sampling*)user)->s;
  const tbMesh* mesh = s->mesh;
  const int* v = mesh->triangle[t];
  tbVec3 c[3] = {tb_surface_vertex(s, v[0]), tb_surface_vertex(s, v[1]), tb_surface_vertex(s, v[2])};
  tbVec3 centre = tb_scale3(1.0 / 3, tb_add3(c[0], tb_add3(c[1], c[2])));
  double size = 0;
  for (int i = 0; i < 3; i++) size = fmax(size, tb_distance3(centre, c[i]));
  if (is_far(p, centre, size)) return true;
  for (int i = 0; i < 3; i++) {
    tbVec3 g;
    if (mesh->vertex_triangle[v[i]] == t && tb_surface_sharp(s, mesh->vertex_sharp[v[i]])) {
      double gap = phi(p, c[i], &g);
      if (gap <= p->margin && tb_surface_vertex_faces(s, v[i], tb_neg3(g), TILT))
        add(p, c[i], gap, g, tb_feature_vertex(v[i]));
    }
    int e = mesh->triangle_edge[t][i];
    if (size > p->sdf->cell && mesh->edge[e].triangle[0] == t && tb_surface_sharp(s, mesh->edge_sharp[e]))
      sample_edge(p, s, e, c[(i + 1) % 3], c[(i + 2) % 3]);
  }
  if (size > p->sdf->cell) {
    tbBox box = p->sdf->mesh->box;
    tbVec3 middle = tb_lerp3(box.lo, box.hi, 0.5);
    double around = tb_distance3(box.hi, middle);
    sample_face(p, s, t, c, centre, fmin(size, around));
    sample_face(p, s, t, c, middle, fmin(size, around));
  }
  return p->status == TB_OK;
}

// The surface s, given in the grid's frame, in the grid.
static void sample_surface(Probe* p, const tbFeatureSurface* s)
{
  Sampling sampling = {p, s};
  if (s->mesh == &s->own) {
    for (int t = 0; t < s->mesh->ntriangle && sample_triangle(&sampling, t); t++) {}
    return;
  }
  tbFeatureSurface grid = {.mesh = p->sdf->mesh, .R = tb_mat3_transpose(s->R)};
  grid.x = tb_neg3(tb_mat3_tmulv(s->R, s->x));
  tb_bvh_query(&s->mesh->bvh, s->mesh->triangle_box, tb_box_grow(tb_surface_box(&grid), p->margin),
               sample_triangle, &sampling);
}

// Vertices of the grid's mesh in the distance of A.
typedef struct {
  Probe* p;
  const tbShape* shape;
  const tbFeatureSurface *a, *b; // in the grid's frame
} Reverse;

// Signed distance of x to A and A's normal there; false where A's closest feature is no face.
static bool distance_to(const Reverse* r, tbVec3 x, double* distance, tbVec3* normal)
{
  if (r->shape->type == TB_SHAPE_CYLINDER) {
    *distance = tb_cylinder_distance(r->shape, tb_transform_unpoint(r->p->T, x), normal);
    *normal = tb_quat_rotate(r->p->T.q, *normal);
    return true;
  }
  tbOutside way, again;
  *distance = tb_surface_distance(r->a, x, &way);
  *normal = way.normal;
  return !r->a->convex || *distance <= 0 ||
         tb_surface_distance(r->a, way.point, &again) < 1e-9 * (1 + tb_maxabs3(x));
}

static bool reverse_triangle(void* user, int t)
{
  const Reverse* r = user;
  const tbMesh* mesh = r->b->mesh;
  for (int i = 0; i < 3; i++) {
    int v = mesh->triangle[t][i];
    if (mesh->vertex_triangle[v] != t || !tb_surface_sharp(r->b, mesh->vertex_sharp[v])) continue;
    tbVec3 x = mesh->vertex[v], n;
    double gap;
    if (!distance_to(r, x, &gap, &n) || gap > r->p->margin || r->p->status != TB_OK) continue;
    if (!tb_surface_vertex_faces(r->b, v, tb_neg3(n), TILT)) continue;
    tbContactPoint point = {tb_madd3(x, -gap, n), x, n, gap,
                            tb_feature_pair(tb_feature_face(0), tb_feature_vertex(v))};
    r->p->status = tb_array_push(r->p->ctx, r->p->out, &point, 1);
  }
  return r->p->status == TB_OK;
}

static void sample_back(Probe* p, const tbShape* shape, const tbFeatureSurface* a)
{
  tbFeatureSurface b = {.mesh = p->sdf->mesh, .corners = 3, .solid = true, .R = tb_mat3_identity()};
  Reverse r = {p, shape, a, &b};
  tbShape here = *shape;
  here.pose = tb_transform_identity();
  tbBox box = tb_box_grow(tb_shape_box_of(&here, p->T), p->margin);
  tb_bvh_query(&b.mesh->bvh, b.mesh->triangle_box, box, reverse_triangle, &r);
}

static tbTransform relative(tbTransform to, tbTransform from)
{
  return (tbTransform){tb_quat_normalize(tb_quat_mul(tb_quat_conj(to.q), from.q)),
                       tb_quat_unrotate(to.q, tb_sub3(from.x, to.x))};
}

// The other way round: B's mesh in A's grid; the points are brought to B's frame.
static void sample_swapped(Probe* p, const tbPlaced* a, const tbPlaced* b, tbArena* arena)
{
  Probe q = {p->ctx, a->shape->sdf, relative(a->T, b->T), p->margin, true, p->out, TB_OK};
  tbFeatureSurface s;
  size_t first = p->out->count;
  q.status = tb_surface_make(arena, b->shape, q.T, &s);
  if (q.status == TB_OK) sample_surface(&q, &s);
  p->status = q.status;
  tb_points_to_world(p->T, p->out, first);
}

tbStatus tb_collide_sdf(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin, tbArray* out)
{
  Probe p = {ctx, b->shape->sdf, relative(b->T, a->T), margin, false, out, TB_OK};
  size_t first = out->count;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbFeatureSurface s;
  switch (a->shape->type) {
  case TB_SHAPE_SPHERE: sample_sphere(&p, p.T.x, a->shape->sphere.radius, tb_zero3(), 0); break;
  case TB_SHAPE_CAPSULE: sample_capsule(&p, a->shape); break;
  case TB_SHAPE_CYLINDER:
    sample_cylinder(&p, a->shape);
    sample_back(&p, a->shape, NULL);
    break;
  default:
    p.status = tb_surface_make(&arena, a->shape, p.T, &s);
    if (p.status != TB_OK) break;
    sample_surface(&p, &s);
    if (a->shape->type == TB_SHAPE_SDF) sample_swapped(&p, a, b, &arena);
    else if (s.solid) sample_back(&p, a->shape, &s);
  }
  tb_arena_free(&arena);
  if (p.status != TB_OK) out->count = first;
  tb_reduce_points(out, first);
  tb_points_to_world(b->T, out, first);
  return p.status;
}
