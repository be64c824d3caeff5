// SPDX-License-Identifier: Apache-2.0
// Surfaces of shapes, their normal cones, their insides.
#include "collide/surface.h"
#include "geometry/box.h"
#include "geometry/hull.h"
#include "geometry/sdf.h"

// Hulls: every face is cut into a fan. Edges of the hull come first, the fans' inner edges after them.
static tbStatus take_arrays(tbArena* arena, tbMesh* m)
{
  m->triangle = tb_arena_take(arena, (size_t)m->ntriangle, sizeof *m->triangle);
  m->triangle_edge = tb_arena_take(arena, (size_t)m->ntriangle, sizeof *m->triangle_edge);
  m->normal = TB_TAKE(arena, tbVec3, (size_t)m->ntriangle);
  m->edge = TB_TAKE(arena, tbMeshEdge, (size_t)m->nedge);
  return m->triangle && m->triangle_edge && m->normal && m->edge ? TB_OK : TB_ERROR_MEMORY;
}

static int corner_of(const int* triangle, int vertex)
{
  return triangle[0] == vertex ? 0 : triangle[1] == vertex ? 1 : 2;
}

// Enters triangle t on one side of the edge.
static void join(tbMesh* m, int e, int t)
{
  tbMeshEdge* edge = &m->edge[e];
  int side = edge->triangle[0] < 0 ? 0 : 1;
  edge->triangle[side] = t;
  int i = corner_of(m->triangle[t], edge->vertex[0]), j = corner_of(m->triangle[t], edge->vertex[1]);
  m->triangle_edge[t][3 - i - j] = e;
}

// The triangle of a face's fan that has the side from corner v to corner w.
static int fan_triangle(const tbHull* h, int face, int first_triangle, int v, int w)
{
  const int *corner = h->face_vertex + h->face_adr[face], n = h->face_adr[face + 1] - h->face_adr[face];
  for (int k = 0; k < n; k++) {
    int a = corner[k], b = corner[(k + 1) % n];
    if ((a == v && b == w) || (a == w && b == v))
      return first_triangle + (k == 0 ? 0 : k == n - 1 ? n - 3 : k - 1);
  }
  return first_triangle;
}

static tbStatus mesh_of_hull(tbArena* arena, const tbHull* h, tbMesh* m)
{
  int ncorner = h->face_adr[h->nface], inner = ncorner - 3 * h->nface;
  m->nvertex = h->nvertex;
  m->vertex = h->vertex;
  m->ntriangle = ncorner - 2 * h->nface;
  m->nedge = h->nedge + inner;
  TB_TRY(take_arrays(arena, m));
  m->vertex_normal = TB_TAKE(arena, tbVec3, (size_t)m->nvertex);
  if (!m->vertex_normal) return TB_ERROR_MEMORY;
  for (int e = 0; e < m->nedge; e++) m->edge[e] = (tbMeshEdge){{0, 0}, {-1, -1}, e < h->nedge};

  int t = 0, e = h->nedge;
  for (int f = 0; f < h->nface; f++) {
    const int* corner = h->face_vertex + h->face_adr[f];
    int n = h->face_adr[f + 1] - h->face_adr[f];
    for (int k = 0; k < n; k++)
      m->vertex_normal[corner[k]] = tb_add3(m->vertex_normal[corner[k]], h->face_normal[f]);
    for (int k = 1; k + 1 < n; k++, t++) {
      m->triangle[t][0] = corner[0];
      m->triangle[t][1] = corner[k];
      m->triangle[t][2] = corner[k + 1];
      m->normal[t] = h->face_normal[f];
      if (k > 1) { // the fan's inner edge between this triangle and the one before
        m->edge[e].vertex[0] = corner[0];
        m->edge[e].vertex[1] = corner[k];
        join(m, e, t - 1);
        join(m, e++, t);
      }
    }
  }
  for (e = 0; e < h->nedge; e++)
    for (int i = 0; i < 2; i++) {
      int v = h->edge[e].vertex[0], w = h->edge[e].vertex[1], f = h->edge[e].face[i];
      m->edge[e].vertex[0] = v;
      m->edge[e].vertex[1] = w;
      join(m, e, fan_triangle(h, f, h->face_adr[f] - 2 * f, v, w));
    }
  for (int v = 0; v < m->nvertex; v++) m->vertex_normal[v] = tb_normalize3(m->vertex_normal[v]);
  return tb_mesh_index(arena, m);
}

// Corner c of a box lies at +half along x, y, z where bits 0, 1, 2 of c are set.
static tbStatus mesh_of_box(tbArena* arena, tbVec3 half, tbMesh* m)
{
  static const int face_vertex[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  static const int face_adr[7] = {0, 4, 8, 12, 16, 20, 24};
  static const tbVec3 normal[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
  static const tbHullEdge edge[12] = {
      {{0, 1}, {2, 4}}, {{2, 3}, {3, 4}}, {{4, 5}, {2, 5}}, {{6, 7}, {3, 5}}, // along x
      {{0, 2}, {0, 4}}, {{1, 3}, {1, 4}}, {{4, 6}, {0, 5}}, {{5, 7}, {1, 5}}, // along y
      {{0, 4}, {0, 2}}, {{1, 5}, {1, 2}}, {{2, 6}, {0, 3}}, {{3, 7}, {1, 3}}, // along z
  };
  tbVec3* vertex = TB_TAKE(arena, tbVec3, 8);
  if (!vertex) return TB_ERROR_MEMORY;
  for (int c = 0; c < 8; c++)
    vertex[c] = tb_vec3(c & 1 ? half.x : -half.x, c & 2 ? half.y : -half.y, c & 4 ? half.z : -half.z);
  const tbHull hull = {.nvertex = 8,
                       .nface = 6,
                       .nedge = 12,
                       .vertex = vertex,
                       .face_normal = (tbVec3*)normal,
                       .face_adr = (int*)face_adr,
                       .face_vertex = (int*)face_vertex,
                       .edge = (tbHullEdge*)edge};
  return mesh_of_hull(arena, &hull, m);
}

// A point, or a segment along z: one cell, touched from all sides.
static tbStatus mesh_of_core(tbArena* arena, int corners, double half, tbMesh* m)
{
  m->nvertex = corners;
  m->ntriangle = 1;
  m->nedge = corners - 1;
  TB_TRY(take_arrays(arena, m));
  m->vertex = TB_TAKE(arena, tbVec3, 2);
  if (!m->vertex) return TB_ERROR_MEMORY;
  m->triangle[0][1] = m->triangle[0][2] = corners - 1;
  if (corners == 2) {
    m->vertex[0].z = -half;
    m->vertex[1].z = half;
    m->edge[0] = (tbMeshEdge){{0, 1}, {0, -1}, true};
  }
  TB_TRY(tb_mesh_index(arena, m));
  for (int v = 0; v < corners; v++) m->vertex_sharp[v] = TB_SHARP_FRONT | TB_SHARP_BACK;
  return TB_OK;
}

tbStatus tb_surface_make(tbArena* arena, const tbShape* shape, tbTransform T, tbFeatureSurface* s)
{
  *s = (tbFeatureSurface){.corners = 3, .solid = true, .convex = true, .R = tb_quat_mat3(T.q), .x = T.x};
  s->mesh = &s->own;
  switch (shape->type) {
  case TB_SHAPE_SPHERE:
  case TB_SHAPE_CAPSULE: {
    bool sphere = shape->type == TB_SHAPE_SPHERE;
    s->corners = sphere ? 1 : 2;
    s->radius = sphere ? shape->sphere.radius : shape->capsule.radius;
    s->solid = s->convex = false;
    return mesh_of_core(arena, s->corners, sphere ? 0 : shape->capsule.half, &s->own);
  }
  case TB_SHAPE_BOX: return mesh_of_box(arena, shape->box.half, &s->own);
  case TB_SHAPE_CONVEX: return mesh_of_hull(arena, shape->hull, &s->own);
  default:
    s->mesh = shape->type == TB_SHAPE_SDF ? shape->sdf->mesh : shape->mesh;
    s->solid = tb_mesh_is_solid(s->mesh);
    s->convex = false;
    return TB_OK;
  }
}

static bool leans(tbVec3 d, tbVec3 w, double tilt) // d·w > tilt ‖w‖
{
  double dw = tb_dot3(d, w);
  return dw > 0 && dw * dw > tilt * tilt * tb_dot3(w, w);
}

bool tb_surface_vertex_faces(const tbFeatureSurface* s, int vertex, tbVec3 d, double tilt)
{
  const tbMesh* m = s->mesh;
  d = tb_mat3_tmulv(s->R, d);
  for (int k = m->vertex_edge_adr[vertex]; k < m->vertex_edge_adr[vertex + 1]; k++) {
    const int* ends = m->edge[m->vertex_edge[k]].vertex;
    int other = ends[0] == vertex ? ends[1] : ends[0];
    if (leans(d, tb_sub3(m->vertex[other], m->vertex[vertex]), tilt)) return false;
  }
  return true;
}

bool tb_surface_edge_faces(const tbFeatureSurface* s, int edge, tbVec3 d, double tilt)
{
  if (s->corners < 3) return true;
  const tbMesh* m = s->mesh;
  const tbMeshEdge* e = &m->edge[edge];
  d = tb_mat3_tmulv(s->R, d);
  tbVec3 p = m->vertex[e->vertex[0]], along = tb_sub3(m->vertex[e->vertex[1]], p);
  double length2 = tb_dot3(along, along);
  for (int i = 0; i < 2; i++) {
    if (e->triangle[i] < 0) continue;
    tbVec3 w = tb_sub3(m->vertex[tb_mesh_opposite(m, e->triangle[i], e)], p);
    w = tb_madd3(w, -tb_dot3(w, along) / length2, along); // into the face, square to the edge
    if (leans(d, w, tilt)) return false;
  }
  return true;
}

tbVec3 tb_surface_edge_normal(const tbFeatureSurface* s, int edge, tbVec3 d)
{
  if (s->corners < 3) return d;
  tbVec3 best = d;
  double most = -2;
  for (int i = 0; i < 2; i++) {
    int t = s->mesh->edge[edge].triangle[i];
    if (t < 0) continue;
    tbVec3 n = tb_surface_normal(s, t);
    if (!s->solid && tb_dot3(n, d) < 0) n = tb_neg3(n);
    if (tb_dot3(n, d) > most) {
      most = tb_dot3(n, d);
      best = n;
    }
  }
  return best;
}

// Behind all faces: the closest one is the one least far behind.
static double convex_distance(const tbMesh* m, tbVec3 p, tbOutside* out)
{
  double most = -INFINITY;
  for (int t = 0; t < m->ntriangle; t++) {
    double h = tb_dot3(m->normal[t], tb_sub3(p, m->vertex[m->triangle[t][0]]));
    if (h > most) {
      most = h;
      out->triangle = t;
    }
  }
  out->normal = m->normal[out->triangle];
  out->point = tb_madd3(p, -most, out->normal);
  return most;
}

double tb_surface_distance(const tbFeatureSurface* s, tbVec3 p, tbOutside* out)
{
  tbVec3 q = tb_mat3_tmulv(s->R, tb_sub3(p, s->x));
  double distance;
  if (s->convex) distance = convex_distance(s->mesh, q, out);
  else {
    tbMeshClosest closest;
    distance = tb_mesh_signed_distance(s->mesh, q, &closest);
    out->point = closest.point;
    out->triangle = closest.triangle;
    out->normal = s->mesh->normal[closest.triangle];
    tbVec3 way = tb_sub3(closest.point, q);
    if (closest.feature != 0 && closest.distance > 0)
      out->normal = tb_normalize3(distance < 0 ? way : tb_neg3(way));
  }
  out->point = tb_surface_point(s, out->point);
  out->normal = tb_mat3_mulv(s->R, out->normal);
  return distance;
}

bool tb_above_triangle(const tbVec3 corner[3], tbVec3 n, tbVec3 x)
{
  tbTriangleSides sides = tb_triangle_sides(corner, n);
  return tb_is_within_sides(&sides, corner, x);
}

int tb_closest_on_side(const tbVec3 corner[3], int side, tbVec3 x, tbVec3* q)
{
  int from = (side + 1) % 3, to = (side + 2) % 3;
  tbVec3 along = tb_sub3(corner[to], corner[from]);
  double t = tb_dot3(tb_sub3(x, corner[from]), along), all = tb_dot3(along, along);
  *q = t <= 0 ? corner[from] : t >= all ? corner[to] : tb_madd3(corner[from], t / all, along);
  return t <= 0 ? 4 + from : t >= all ? 4 + to : 1 + side;
}

int tb_closest_on_triangle(const tbVec3 corner[3], tbVec3 n, tbVec3 x, tbVec3* q)
{
  if (tb_above_triangle(corner, n, x)) {
    *q = tb_madd3(x, -tb_dot3(n, tb_sub3(x, corner[0])), n);
    return 0;
  }
  return tb_closest_on_sides(corner, x, q);
}

int tb_closest_on_sides(const tbVec3 corner[3], tbVec3 x, tbVec3* q)
{
  int feature = tb_closest_on_side(corner, 0, x, q);
  for (int side = 1; side < 3; side++) {
    tbVec3 r;
    int f = tb_closest_on_side(corner, side, x, &r);
    tbVec3 d = tb_sub3(x, r), best = tb_sub3(x, *q);
    if (tb_dot3(d, d) < tb_dot3(best, best)) {
      feature = f;
      *q = r;
    }
  }
  return feature;
}

tbBox tb_surface_box(const tbFeatureSurface* s)
{
  tbBox box = tb_box_empty();
  if (s->mesh == &s->own) {
    for (int v = 0; v < s->mesh->nvertex; v++) box = tb_box_add(box, tb_surface_vertex(s, v));
    return box;
  }
  tbBox b = s->mesh->box;
  for (int c = 0; c < 8; c++)
    box = tb_box_add(box, tb_surface_point(s, tb_vec3(c & 1 ? b.hi.x : b.lo.x, c & 2 ? b.hi.y : b.lo.y,
                                                      c & 4 ? b.hi.z : b.lo.z)));
  return box;
}
