// SPDX-License-Identifier: Apache-2.0
// Contacts of meshes with spheres, capsules, boxes, hulls and meshes, from pairs of features.
//
// Two polyhedral surfaces that touch or are about to do so at a vertex and a face, at two edges, or, while
// still apart, at a vertex and an edge or two vertices. A pair of features is a contact where the direction
// between them lies in the normal cones of both, that is, where their distance is a local minimum over both
// surfaces. That is what keeps bodies from catching on the edges inside a flat or hollow part of a mesh:
// those have an empty cone or one normal only, and the faces beside them speak for them. A box that lies on
// a mesh touches with all four corners although it is never quite parallel, so cones are widened by
// TB_MEET_TILT; the normal of a contact at an edge is then brought back to the edge's nearest face.
//
//   vertex–face      normal of the face; behind the face: a candidate for mesh_deep.c
//   edge–edge        both convex; the common perpendicular. Crossed edges count where each goes into the
//                    other body at least as far as they are deep
//   vertex–edge, vertex–vertex   the line between them, in both cones
//
// Triangles that come near each other are found by the mesh's tree, of a shape with few of its own all at
// once, so that they are read and measured once. A vertex and an edge belong to the first
// of their triangles, so that no pair of features is looked at twice (Curtis et al. 2008, representative
// triangles). Surfaces without an inside are touched from both sides.
//
// All is computed in the frame of the mesh B, then reduced (reduce.c) and taken to the world.
//
// Limits    open meshes remember no side: what passes through a sheet within a step is on the other side of
//           it. Edges that are parallel to 1e-4 rad leave the contact to their ends.
#include "collide/meet.h"
#include "collide/mesh_contact.h"
#include "collide/reduce.h"
#include "geometry/box.h"

static const double strict = 1e-3; // how far cones are widened where nothing but the cone decides

void tb_meet_add(tbMeet* m, int side, tbVec3 p, tbVec3 q, tbVec3 n, uint32_t feature_p, uint32_t feature_q)
{
  double rp = m->s[side].radius, rq = m->s[1 - side].radius, gap = tb_dot3(tb_sub3(q, p), n) - rp - rq;
  if (!(gap <= m->margin) || m->status != TB_OK) return;
  p = tb_madd3(p, rp, n);
  q = tb_madd3(q, -rq, n);
  tbContactPoint point = {p, q, n, gap, tb_feature_pair(feature_p, feature_q)};
  if (side == 1) point = (tbContactPoint){q, p, tb_neg3(n), gap, tb_feature_pair(feature_q, feature_p)};
  m->status = tb_array_push(m->ctx, m->out, &point, 1);
}

// A triangle, segment or point and where its corners are.
typedef struct {
  int index;
  tbVec3 corner[3], normal;
  tbTriangleSides sides;
} Cell;

static Cell cell_of(const tbFeatureSurface* s, int index)
{
  Cell c = {.index = index};
  for (int i = 0; i < 3; i++) c.corner[i] = tb_surface_vertex(s, s->mesh->triangle[index][i]);
  if (s->corners < 3) return c;
  c.normal = tb_surface_normal(s, index), c.sides = tb_triangle_sides(c.corner, c.normal);
  return c;
}

static bool is_above(const tbFeatureSurface* s, const Cell* c, tbVec3 x)
{
  return s->corners == 3 && tb_is_within_sides(&c->sides, c->corner, x);
}

// Of a vertex that is not above the cell.
static int closest_on_border(const tbFeatureSurface* s, const Cell* c, tbVec3 x, tbVec3* q)
{
  *q = c->corner[0];
  if (s->corners == 1) return 4;
  return s->corners == 2 ? tb_closest_on_side(c->corner, 2, x, q) : tb_closest_on_sides(c->corner, x, q);
}

static void vertex_face(tbMeet* m, int side, int v, tbVec3 x, const Cell* c)
{
  const tbFeatureSurface *s = &m->s[side], *o = &m->s[1 - side];
  tbVec3 n = c->normal;
  double height = tb_dot3(n, tb_sub3(x, c->corner[0]));
  bool sharp = tb_surface_sharp(s, s->mesh->vertex_sharp[v]);
  for (int sign = 1; sign >= (o->solid ? 1 : -1); sign -= 2) {
    tbVec3 d = tb_scale3(-sign, n); // from the vertex's body to the other
    double gap = sign * height;
    if (gap > m->reach) continue;
    bool allowed = sharp && tb_surface_vertex_faces(s, v, d, TB_MEET_TILT);
    if (gap < -m->eps) {
      tbDeep deep = {side, v, c->index, sign, -gap, allowed};
      if ((s->solid || o->solid) && m->status == TB_OK) m->status = tb_array_push(m->ctx, &m->deep, &deep, 1);
    } else if (allowed)
      tb_meet_add(m, side, x, tb_madd3(x, gap, d), d, tb_feature_vertex(v), tb_feature_face(c->index));
  }
}

// A vertex that is closest to an edge or a corner of the cell, apart from it.
static void vertex_border(tbMeet* m, int side, int v, tbVec3 x, const Cell* c)
{
  const tbFeatureSurface *s = &m->s[side], *o = &m->s[1 - side];
  if (!tb_surface_sharp(s, s->mesh->vertex_sharp[v])) return;
  double height = fabs(tb_dot3(c->normal, tb_sub3(x, c->corner[0])));
  if (height > (1 + 1e-9) * m->reach + m->eps) return; // of its plane: farther than that from its border
  tbVec3 q;
  int feature = closest_on_border(o, c, x, &q);
  tbVec3 d = tb_sub3(q, x);
  double distance = tb_norm3(d);
  if (distance > m->reach || distance <= m->eps) return;
  d = tb_vec3(d.x / distance, d.y / distance, d.z / distance);
  uint32_t name;
  if (feature < 4) {
    int e = o->mesh->triangle_edge[c->index][feature - 1];
    if (o->mesh->edge[e].triangle[0] != c->index || !tb_surface_sharp(o, o->mesh->edge_sharp[e])) return;
    if (!tb_surface_edge_faces(o, e, tb_neg3(d), strict)) return;
    name = tb_feature_mesh_edge(e);
  } else {
    int w = o->mesh->triangle[c->index][feature - 4];
    if (side == 1 || o->mesh->vertex_triangle[w] != c->index) return; // two vertices: once
    if (!tb_surface_sharp(o, o->mesh->vertex_sharp[w])) return;
    if (!tb_surface_vertex_faces(o, w, tb_neg3(d), strict)) return;
    name = tb_feature_vertex(w);
  }
  if (tb_surface_vertex_faces(s, v, d, strict)) tb_meet_add(m, side, x, q, d, tb_feature_vertex(v), name);
}

static void vertices_cell(tbMeet* m, int side, const Cell* of, const Cell* other)
{
  const tbFeatureSurface *s = &m->s[side], *o = &m->s[1 - side];
  for (int i = 0; i < s->corners; i++) {
    int v = s->mesh->triangle[of->index][i];
    if (s->mesh->vertex_triangle[v] != of->index) continue;
    if (is_above(o, other, of->corner[i])) vertex_face(m, side, v, of->corner[i], other);
    else vertex_border(m, side, v, of->corner[i], other);
  }
}

// An edge of surface `side`, cut at p, which is `depth` deep in the other body: believed where one of its
// parts goes in as far as it is deep. (A table's rim crosses the upright edges of a box on it far inside,
// sideways, but those go in no farther than the box has sunk.)
static bool goes_in(const tbMeet* m, int side, const tbVec3 end[2], tbVec3 p, double depth)
{
  const tbFeatureSurface* o = &m->s[1 - side];
  if (!o->solid) return true;
  for (int i = 0; i < 2; i++) {
    tbVec3 along = tb_sub3(end[i], p);
    double length = tb_norm3(along);
    tbOutside way;
    if (length >= depth &&
        tb_surface_distance(o, tb_madd3(p, 0.5 * depth / length, along), &way) < -1e-3 * depth)
      return true;
  }
  return false;
}

static void edge_edge(tbMeet* m, int ea, const tbVec3 a[2], int eb, const tbVec3 b[2])
{
  // Closest points a₀ + s u and b₀ + t w of the two lines.
  tbVec3 u = tb_sub3(a[1], a[0]), w = tb_sub3(b[1], b[0]), r = tb_sub3(b[0], a[0]), n = tb_cross3(u, w);
  double uu = tb_dot3(u, u), ww = tb_dot3(w, w), nn = tb_dot3(n, n);
  if (nn <= 1e-8 * uu * ww) return;
  double s = tb_dot3(tb_cross3(r, w), n) / nn, t = tb_dot3(tb_cross3(r, u), n) / nn;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return;
  tbVec3 pa = tb_madd3(a[0], s, u), pb = tb_madd3(b[0], t, w), d = tb_sub3(pb, pa);
  n = tb_normalize3(n);
  bool either_solid = m->s[0].solid || m->s[1].solid;
  for (int sign = -1; sign <= 1; sign += 2) {
    tbVec3 toward = tb_scale3(sign, n);
    if (tb_dot3(d, toward) > m->reach) continue;
    if (!tb_surface_edge_faces(&m->s[0], ea, toward, TB_MEET_TILT) ||
        !tb_surface_edge_faces(&m->s[1], eb, tb_neg3(toward), TB_MEET_TILT))
      continue;
    if (!tb_surface_edge_faces(&m->s[1], eb, tb_neg3(toward), 1e-6))
      toward = tb_neg3(tb_surface_edge_normal(&m->s[1], eb, tb_neg3(toward)));
    else if (!tb_surface_edge_faces(&m->s[0], ea, toward, 1e-6))
      toward = tb_surface_edge_normal(&m->s[0], ea, toward);
    double gap = tb_dot3(d, toward);
    if (gap < -m->eps && !(either_solid && goes_in(m, 0, a, pa, -gap) && goes_in(m, 1, b, pb, -gap)))
      continue;
    tb_meet_add(m, 0, pa, pb, toward, tb_feature_mesh_edge(ea), tb_feature_mesh_edge(eb));
  }
}

// The edges that belong to a cell and can be touched: their numbers and ends.
static int own_edges(const tbFeatureSurface* s, const Cell* c, int edge[3], tbVec3 end[3][2])
{
  int n = 0;
  for (int i = s->corners == 3 ? 0 : 2; i < 3 && s->corners > 1; i++) {
    int e = s->mesh->triangle_edge[c->index][i];
    if (s->mesh->edge[e].triangle[0] != c->index || !tb_surface_sharp(s, s->mesh->edge_sharp[e])) continue;
    edge[n] = e;
    end[n][0] = c->corner[(i + 1) % 3];
    end[n++][1] = c->corner[(i + 2) % 3];
  }
  return n;
}

typedef struct {
  tbMeet* m;
  Cell a;
  int nedge, edge[3];
  tbVec3 end[3][2];
} Visit;

// What two cells come to.
static void meet_cells(const Visit* visit, const Cell* b)
{
  tbMeet* m = visit->m;
  vertices_cell(m, 0, &visit->a, b);
  vertices_cell(m, 1, b, &visit->a);
  int edge[3];
  tbVec3 end[3][2];
  int n = visit->nedge ? own_edges(&m->s[1], b, edge, end) : 0;
  for (int i = 0; i < visit->nedge; i++)
    for (int j = 0; j < n; j++) edge_edge(m, visit->edge[i], visit->end[i], edge[j], end[j]);
}

static bool visit_b(void* user, int t)
{
  const Visit* visit = user;
  Cell b = cell_of(&visit->m->s[1], t);
  meet_cells(visit, &b);
  return visit->m->status == TB_OK;
}

// A cell of A, and the box of what it may meet.
static Visit start_visit(tbMeet* m, int t, tbBox* box)
{
  Visit visit = {.m = m, .a = cell_of(&m->s[0], t)};
  visit.nedge = own_edges(&m->s[0], &visit.a, visit.edge, visit.end);
  *box = tb_box_empty();
  for (int i = 0; i < 3; i++) *box = tb_box_add(*box, visit.a.corner[i]);
  *box = tb_box_grow(*box, m->reach);
  return visit;
}

static bool visit_a(void* user, int t)
{
  tbMeet* m = user;
  tbBox box;
  Visit visit = start_visit(m, t, &box);
  tb_bvh_query(&m->s[1].mesh->bvh, m->s[1].mesh->triangle_box, box, visit_b, &visit);
  return m->status == TB_OK;
}

static bool list_cell(void* user, int t)
{
  tbMeet* m = user;
  Cell b = cell_of(&m->s[1], t);
  m->status = tb_array_push(m->ctx, &m->near, &b, 1);
  return m->status == TB_OK;
}

// Cells of a shape that has no tree, against those of B that come near any of them, in the order of B's tree.
static void compare_few(tbMeet* m, tbBox all)
{
  const tbMesh *a = m->s[0].mesh, *b = m->s[1].mesh;
  tb_bvh_query(&b->bvh, b->triangle_box, tb_box_grow(all, m->reach), list_cell, m);
  const Cell* cell = m->near.data;
  for (int t = 0; t < a->ntriangle && m->near.count > 0; t++) {
    tbBox box;
    Visit visit = start_visit(m, t, &box);
    for (size_t k = 0; k < m->near.count && m->status == TB_OK; k++)
      if (tb_box_meets(&b->triangle_box[cell[k].index], &box)) meet_cells(&visit, &cell[k]);
  }
}

// The box of B's mesh in the frame of A's.
static tbBox box_seen_from(const tbFeatureSurface* a, tbBox b)
{
  tbBox box = tb_box_empty();
  for (int c = 0; c < 8; c++) {
    tbVec3 p = tb_vec3(c & 1 ? b.hi.x : b.lo.x, c & 2 ? b.hi.y : b.lo.y, c & 4 ? b.hi.z : b.lo.z);
    box = tb_box_add(box, tb_mat3_tmulv(a->R, tb_sub3(p, a->x)));
  }
  return box;
}

static void compare(tbMeet* m)
{
  const tbMesh *a = m->s[0].mesh, *b = m->s[1].mesh;
  tbBox near_b = tb_box_grow(b->box, m->reach), box = tb_surface_box(&m->s[0]);
  if (!tb_box_meets(&near_b, &box)) return;
  if (a->bvh.nnode > 0) tb_bvh_query(&a->bvh, a->triangle_box, box_seen_from(&m->s[0], near_b), visit_a, m);
  else compare_few(m, box);
  if (m->status == TB_OK) tb_meet_deep(m);
}

static double size_of(tbBox b) { return tb_maxabs3(tb_sub3(b.hi, b.lo)) + tb_maxabs3(b.lo); }

tbStatus tb_collide_mesh(tbContext* ctx, const tbPlaced* a, const tbPlaced* b, double margin, tbArray* out)
{
  tbMeet m = {.ctx = ctx, .margin = margin, .out = out, .first = out->count, .deep = TB_ARRAY(tbDeep)};
  m.near = TB_ARRAY(Cell);
  tb_arena_init(&m.arena, ctx);
  tbTransform A = {tb_quat_normalize(tb_quat_mul(tb_quat_conj(b->T.q), a->T.q)),
                   tb_quat_unrotate(b->T.q, tb_sub3(a->T.x, b->T.x))};
  m.status = tb_surface_make(&m.arena, a->shape, A, &m.s[0]);
  if (m.status == TB_OK) m.status = tb_surface_make(&m.arena, b->shape, tb_transform_identity(), &m.s[1]);
  if (m.status == TB_OK) {
    m.reach = margin + m.s[0].radius + m.s[1].radius;
    m.eps = 1e-12 * (size_of(m.s[1].mesh->box) + size_of(tb_surface_box(&m.s[0])));
    compare(&m);
  }
  tb_array_free(ctx, &m.deep);
  tb_array_free(ctx, &m.near);
  tb_arena_free(&m.arena);
  if (m.status != TB_OK) out->count = m.first;
  tb_reduce_points(out, m.first);
  tb_points_to_world(b->T, out, m.first);
  return m.status;
}
