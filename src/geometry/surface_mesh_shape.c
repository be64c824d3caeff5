// SPDX-License-Identifier: Apache-2.0
// Surfaces of shapes. Corners of round shapes lie on them, so that the surface is inside.
//
// A hemisphere is rings of latitude, evenly spaced from the pole, of 0, 4, 8, … vertices, AROUND at the
// equator: sides are 1 to 1.6 times the shortest. A capsule is two of them with a tube between. The caps of a
// cylinder are rings of half as many vertices each, which keeps angles above 20°; a fan would make needles of
// them.
#include "geometry/exact.h"
#include "geometry/hull.h"
#include "geometry/mesh.h"
#include "geometry/sdf.h"
#include "geometry/surface_mesh.h"
#include "base/array.h"

enum {
  QUARTER = 12,         // rings from pole to equator, and vertices along a quarter of it
  AROUND = 4 * QUARTER, // of spheres and capsules
  CYLINDER = 64,        // vertices around
  MOST_ROWS = 128       // of a tube, however long
};

typedef struct {
  tbContext* ctx;
  tbTransform pose;
  tbArray point, triangle;
  tbStatus status; // of the first allocation that failed
} Draft;

static int point_count(const Draft* d) { return (int)d->point.count; }

static void add_point(Draft* d, tbVec3 p)
{
  p = tb_transform_point(d->pose, p);
  if (d->status == TB_OK) d->status = tb_array_push(d->ctx, &d->point, &p, 1);
}

static void add_triangle(Draft* d, int a, int b, int c)
{
  int t[3] = {a, b, c};
  if (d->status == TB_OK) d->status = tb_array_push(d->ctx, &d->triangle, t, 1);
}

static void add_turned(Draft* d, int a, int b, int c, bool turned)
{
  if (turned) add_triangle(d, a, c, b);
  else add_triangle(d, a, b, c);
}

// `count` points of a circle about z, the first above the x axis; returns the first.
static int add_ring(Draft* d, double radius, double z, int count)
{
  int first = point_count(d);
  for (int k = 0; k < count; k++) {
    double s, c;
    tb_sin_cos(2 * TB_PI * k / count, &s, &c);
    add_point(d, tb_vec3(radius * c, radius * s, z));
  }
  return first;
}

// Between two rings of one count, counter-clockwise about z, seen from outside.
static void add_band(Draft* d, int low, int high, int count)
{
  for (int k = 0; k < count; k++) {
    int l = (k + 1) % count;
    if (k % 2) {
      add_triangle(d, low + k, low + l, high + l);
      add_triangle(d, low + k, high + l, high + k);
    } else {
      add_triangle(d, low + k, low + l, high + k);
      add_triangle(d, low + l, high + l, high + k);
    }
  }
}

// Rings from `low`, at the height −half, to a new one at half, which is returned.
static int add_tube(Draft* d, double radius, double half, int low, int count)
{
  double side = 2 * TB_PI * radius / count, rows = ceil(half / side); // cells twice as long as wide
  int nrow = rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : (int)rows;
  for (int r = 1; r <= nrow; r++) {
    int high = add_ring(d, radius, r == nrow ? half : half * (2.0 * r / nrow - 1), count);
    add_band(d, low, high, count);
    low = high;
  }
  return low;
}

// Ring k of 4k vertices within ring k + 1; ring 0 is the pole.
static void stitch_quarters(Draft* d, int inner, int k, int outer, bool below)
{
  int many = 4 * (k + 1), few = k > 0 ? 4 * k : 1;
  for (int q = 0; q < 4; q++)
    for (int j = 0; j <= k; j++) {
      int in = inner + (q * k + j) % few, next = inner + (q * k + j + 1) % few, out = q * (k + 1) + j;
      add_turned(d, in, outer + out, outer + (out + 1) % many, below);
      if (j < k) add_turned(d, in, outer + (out + 1) % many, next, below);
    }
}

// From the equator, a ring of AROUND that is there already, to the pole above or below.
static void add_dome(Draft* d, double radius, double centre, int equator, bool below)
{
  int outer = equator;
  for (int k = QUARTER - 1; k >= 0; k--) {
    double s, c;
    tb_sin_cos(0.5 * TB_PI * k / QUARTER, &s, &c);
    double z = centre + (below ? -radius * c : radius * c);
    int ring = k > 0 ? add_ring(d, radius * s, z, 4 * k) : point_count(d);
    if (k == 0) add_point(d, tb_vec3(0, 0, z));
    stitch_quarters(d, ring, k, outer, below);
    outer = ring;
  }
}

// The disc within a ring of CYLINDER: 32, 16 and 8 vertices, and the centre.
static void add_cap(Draft* d, double radius, double z, int rim, bool below)
{
  static const double share[] = {0.86, 0.62, 0.3};
  int outer = rim, count = CYLINDER;
  for (int r = 0; r < 3; r++) {
    int half = count / 2, ring = add_ring(d, share[r] * radius, z, half);
    for (int j = 0; j < half; j++) {
      int in = ring + j, next = ring + (j + 1) % half, mid = outer + 2 * j + 1;
      add_turned(d, in, outer + 2 * j, mid, below);
      add_turned(d, in, mid, next, below);
      add_turned(d, mid, outer + (2 * j + 2) % count, next, below);
    }
    outer = ring, count = half;
  }
  int centre = point_count(d);
  add_point(d, tb_vec3(0, 0, z));
  for (int j = 0; j < count; j++) add_turned(d, centre, outer + j, outer + (j + 1) % count, below);
}

static void add_box(Draft* d, tbVec3 h)
{
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int k = 0; k < 8; k++)
    add_point(d, tb_vec3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z));
  for (int t = 0; t < 12; t++) add_triangle(d, face[t][0], face[t][1], face[t][2]);
}

// The corner whose fan has the largest smallest triangle: corners in a line have none of their own.
static int fan_corner(const tbHull* hull, const int* corner, int count)
{
  int best = 0;
  double largest = -1;
  for (int a = 0; a < count; a++) {
    double least = INFINITY;
    tbVec3 at = hull->vertex[corner[a]];
    for (int k = 1; k + 1 < count && least > largest; k++) {
      tbVec3 u = tb_sub3(hull->vertex[corner[(a + k) % count]], at),
             v = tb_sub3(hull->vertex[corner[(a + k + 1) % count]], at);
      least = fmin(least, tb_norm3(tb_cross3(u, v)));
    }
    if (least > largest) largest = least, best = a;
  }
  return best;
}

static void add_hull(Draft* d, const tbHull* hull)
{
  for (int v = 0; v < hull->nvertex; v++) add_point(d, hull->vertex[v]);
  for (int f = 0; f < hull->nface; f++) {
    const int* corner = hull->face_vertex + hull->face_adr[f];
    int count = hull->face_adr[f + 1] - hull->face_adr[f], a = fan_corner(hull, corner, count);
    for (int k = 1; k + 1 < count; k++)
      add_triangle(d, corner[a], corner[(a + k) % count], corner[(a + k + 1) % count]);
  }
}

static void add_mesh(Draft* d, const tbMesh* mesh)
{
  for (int v = 0; v < mesh->nvertex; v++) add_point(d, mesh->vertex[v]);
  if (d->status == TB_OK)
    d->status = tb_array_push(d->ctx, &d->triangle, mesh->triangle, (size_t)mesh->ntriangle);
}

static void add_shape(Draft* d, const tbShape* s)
{
  int rim;
  switch (s->type) {
  case TB_SHAPE_SPHERE:
    rim = add_ring(d, s->sphere.radius, 0, AROUND);
    add_dome(d, s->sphere.radius, 0, rim, true);
    add_dome(d, s->sphere.radius, 0, rim, false);
    break;
  case TB_SHAPE_CAPSULE:
    rim = add_ring(d, s->capsule.radius, -s->capsule.half, AROUND);
    add_dome(d, s->capsule.radius, -s->capsule.half, rim, true);
    if (s->capsule.half > 0) rim = add_tube(d, s->capsule.radius, s->capsule.half, rim, AROUND);
    add_dome(d, s->capsule.radius, s->capsule.half, rim, false);
    break;
  case TB_SHAPE_CYLINDER:
    rim = add_ring(d, s->cylinder.radius, -s->cylinder.half, CYLINDER);
    add_cap(d, s->cylinder.radius, -s->cylinder.half, rim, true);
    rim = add_tube(d, s->cylinder.radius, s->cylinder.half, rim, CYLINDER);
    add_cap(d, s->cylinder.radius, s->cylinder.half, rim, false);
    break;
  case TB_SHAPE_BOX: add_box(d, s->box.half); break;
  case TB_SHAPE_CONVEX: add_hull(d, s->hull); break;
  case TB_SHAPE_MESH: add_mesh(d, s->mesh); break;
  case TB_SHAPE_SDF: add_mesh(d, s->sdf->mesh); break;
  case TB_SHAPE_PLANE:
  case TB_SHAPE_COUNT: break;
  }
}

// Whether two triangles lie in one plane, to what rounding leaves of it, facing the same way.
static bool share_plane(const tbSurfaceMesh* s, const int triangle[2], double rounding)
{
  tbVec3 n[2];
  for (int k = 0; k < 2; k++) {
    const int* c = s->triangle[triangle[k]];
    n[k] = tb_normalize3(tb_triangle_normal(s->rest[c[0]], s->rest[c[1]], s->rest[c[2]]));
  }
  if (!(tb_dot3(n[0], n[1]) > 0)) return false;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      const int *of = s->triangle[triangle[k]], *other = s->triangle[triangle[1 - k]];
      if (!(fabs(tb_dot3(n[k], tb_sub3(s->rest[other[i]], s->rest[of[0]]))) <= rounding)) return false;
    }
  return true;
}

static tbStatus mark_flat(tbSurfaceMesh* s)
{
  double size = 0;
  s->flat = TB_TAKE(&s->arena, uint8_t, (size_t)s->nedge);
  if (!s->flat) return TB_ERROR_MEMORY;
  for (int v = 0; v < s->nvertex; v++) size = fmax(size, tb_maxabs3(s->rest[v]));
  for (int k = 0; k < 3 * s->ntriangle; k++) { // how many triangles an edge has, 3 for more
    uint8_t* count = &s->flat[s->triangle_edge[k / 3][k % 3]];
    if (*count < 3) ++*count;
  }
  for (int e = 0; e < s->nedge; e++)
    s->flat[e] = s->flat[e] == 2 && share_plane(s, s->edge_triangle[e], 1e-14 * size);
  return TB_OK;
}

tbStatus tb_surface_mesh_of_shape(tbContext* ctx, const tbShape* shape, tbSurfaceMesh** out)
{
  *out = NULL;
  if (shape->type == TB_SHAPE_PLANE) return TB_OK;
  Draft d = {.ctx = ctx, .pose = shape->pose, .point = TB_ARRAY(tbVec3), .triangle = TB_ARRAY(int[3])};
  add_shape(&d, shape);
  tbStatus status = d.status;
  if (status == TB_OK)
    status = tb_surface_mesh_create(ctx, d.point.data, point_count(&d), d.triangle.data,
                                    (int)d.triangle.count, out);
  if (status == TB_OK) (*out)->node = NULL; // rigid
  if (status == TB_OK) status = mark_flat(*out);
  if (status != TB_OK) tb_surface_mesh_free(ctx, *out), *out = NULL;
  tb_array_free(ctx, &d.point);
  tb_array_free(ctx, &d.triangle);
  return status;
}
