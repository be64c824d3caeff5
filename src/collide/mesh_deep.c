// SPDX-License-Identifier: Apache-2.0
// Vertices inside the other surface.
//
// A vertex behind a triangle is inside a solid where the signed distance says so. It leaves by the closest
// point of the surface, if its own normal cone allows that direction; else by the nearest triangle behind
// which it lies squarely and whose direction the cone allows, unless that is farther than twice that and the
// margin (a corner of a box near the rim of a table leaves upwards, although the side may be closer). From
// the vertices found, the search goes on along edges as long as vertices are inside, however deep.
//
// An open surface has no inside. A vertex has gone through it where, going in from the vertex to where the
// surface is, one is about as deep inside its body; the centre of a convex one must still be in front.
//
// Where all that leaves no contact, bodies may be entangled: the same again, with no cones to obey. When
// still nothing touches, one surface may be inside the other altogether: it leaves along the way out of its
// centre.
//
// Cost      one signed distance per vertex inside, and for their neighbours.
#include "base/sort.h"
#include "collide/meet.h"
#include "geometry/box.h"

static int compare_deep(const void* a, const void* b)
{
  const tbDeep *p = a, *q = b;
  if (p->side != q->side) return p->side < q->side ? -1 : 1;
  if (p->vertex != q->vertex) return p->vertex < q->vertex ? -1 : 1;
  if (p->allowed != q->allowed) return p->allowed ? -1 : 1;
  if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
  if (p->triangle != q->triangle) return p->triangle < q->triangle ? -1 : 1;
  return p->sign < q->sign ? -1 : p->sign > q->sign;
}

static void leave_by_face(tbMeet* m, const tbDeep* deep, tbVec3 x)
{
  tbVec3 n = tb_scale3(deep->sign, tb_surface_normal(&m->s[1 - deep->side], deep->triangle));
  tb_meet_add(m, deep->side, x, tb_madd3(x, deep->depth, n), tb_neg3(n), tb_feature_vertex(deep->vertex),
              tb_feature_face(deep->triangle));
}

// `free`: whatever direction it is.
static bool leave_by_closest(tbMeet* m, int side, int v, tbVec3 x, const tbOutside* way, bool free)
{
  const tbFeatureSurface* s = &m->s[side];
  tbVec3 d = tb_neg3(way->normal);
  if (!free &&
      !(tb_surface_sharp(s, s->mesh->vertex_sharp[v]) && tb_surface_vertex_faces(s, v, d, TB_MEET_TILT)))
    return false;
  tb_meet_add(m, side, x, way->point, d, tb_feature_vertex(v), tb_feature_face(way->triangle));
  return true;
}

static tbVec3 middle(tbBox b) { return tb_madd3(tb_scale3(0.5, b.lo), 0.5, b.hi); }

// Whether a vertex at x came through an open surface from its front, whose normal is n.
static bool came_through(const tbFeatureSurface* s, const tbDeep* deep, tbVec3 x, tbVec3 n)
{
  if (s->convex && tb_dot3(n, tb_sub3(middle(tb_surface_box(s)), x)) < deep->depth) return false;
  tbVec3 inward = tb_neg3(tb_mat3_mulv(s->R, s->mesh->vertex_normal[deep->vertex]));
  double slope = tb_dot3(inward, n);
  tbOutside way;
  return slope > 0.1 &&
         deep->depth <=
             -TB_MEET_TRUST * tb_surface_distance(s, tb_madd3(x, deep->depth / slope, inward), &way);
}

// The candidates of one vertex, allowed ones first, nearest first. True when it is inside a solid.
static bool leave(tbMeet* m, const tbDeep* deep, int count, bool free)
{
  int side = deep->side;
  const tbFeatureSurface *s = &m->s[side], *o = &m->s[1 - side];
  tbVec3 x = tb_surface_vertex(s, deep->vertex);
  tbOutside way;
  for (int i = 0; i < count && deep[i].allowed && !o->solid; i++) {
    tbVec3 n = tb_scale3(deep[i].sign, tb_surface_normal(o, deep[i].triangle));
    if (!came_through(s, &deep[i], x, n)) continue;
    leave_by_face(m, &deep[i], x);
    break;
  }
  if (!o->solid) return false;
  double depth = -tb_surface_distance(o, x, &way);
  if (depth <= 0) return false;
  if (deep->allowed && deep->depth <= depth + m->eps) leave_by_face(m, deep, x);
  else if (!leave_by_closest(m, side, deep->vertex, x, &way, free) &&
           deep->depth <= fmax(TB_MEET_TRUST * depth, m->margin))
    leave_by_face(m, deep, x);
  return true;
}

// A search through the vertices of one surface that are inside the other.
typedef struct {
  int side;
  bool free, *seen;
  int *stack, depth;
} Flood;

static void look_at(tbMeet* m, Flood* f, int v)
{
  if (f->seen[v]) return;
  f->seen[v] = true;
  tbVec3 x = tb_surface_vertex(&m->s[f->side], v);
  tbOutside way;
  if (tb_surface_distance(&m->s[1 - f->side], x, &way) >= 0) return;
  leave_by_closest(m, f->side, v, x, &way, f->free);
  f->stack[f->depth++] = v;
}

// From the vertices known to be inside to all that hang together with them inside. Boxes and hulls have few
// vertices, and far apart: all are looked at.
static void flood(tbMeet* m, Flood* f)
{
  const tbFeatureSurface* s = &m->s[f->side];
  const tbMesh* mesh = s->mesh;
  for (int v = 0; v < mesh->nvertex && mesh == &s->own; v++) look_at(m, f, v);
  while (f->depth > 0) {
    int v = f->stack[--f->depth];
    for (int k = mesh->vertex_edge_adr[v]; k < mesh->vertex_edge_adr[v + 1]; k++) {
      const int* ends = mesh->edge[mesh->vertex_edge[k]].vertex;
      look_at(m, f, ends[ends[0] == v]);
    }
  }
}

static void leave_side(tbMeet* m, int side, const tbDeep* deep, int count, bool free)
{
  size_t n = (size_t)m->s[side].mesh->nvertex;
  Flood f = {side, free, TB_TAKE(&m->arena, bool, n), TB_TAKE(&m->arena, int, n), 0};
  if (!f.seen || !f.stack) {
    m->status = TB_ERROR_MEMORY;
    return;
  }
  for (int i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && deep[end].vertex == deep[i].vertex; end++) {}
    if (!free && !deep[i].allowed) continue;
    f.seen[deep[i].vertex] = true;
    if (leave(m, deep + i, end - i, free)) f.stack[f.depth++] = deep[i].vertex;
  }
  if (m->s[1 - side].solid) flood(m, &f);
}

// A place inside a surface, or on it where it has no inside.
static tbVec3 inner_point(const tbFeatureSurface* s, tbBox box)
{
  if (s->mesh == &s->own) return middle(box);
  double step = 1e-6 * tb_maxabs3(tb_sub3(box.hi, box.lo));
  return tb_surface_point(s, tb_madd3(s->mesh->vertex[0], s->solid ? -step : 0, s->mesh->vertex_normal[0]));
}

// All of surface `side` is inside the other one: every vertex leaves the way its centre does.
static void leave_altogether(tbMeet* m, int side)
{
  const tbFeatureSurface *s = &m->s[side], *o = &m->s[1 - side];
  tbOutside way;
  if (!o->solid) return;
  tbBox box = tb_surface_box(s), other = tb_surface_box(o);
  if (!tb_box_meets(&box, &other) || tb_surface_distance(o, inner_point(s, box), &way) >= 0) return;
  tbOutside centre;
  if (tb_surface_distance(o, middle(box), &centre) < 0) way = centre;
  for (int v = 0; v < s->mesh->nvertex; v++) {
    tbVec3 x = tb_surface_vertex(s, v);
    double gap = tb_dot3(way.normal, tb_sub3(x, way.point));
    tb_meet_add(m, side, x, tb_madd3(x, -gap, way.normal), tb_neg3(way.normal), tb_feature_vertex(v),
                tb_feature_face(way.triangle));
  }
}

void tb_meet_deep(tbMeet* m)
{
  tbDeep* deep = m->deep.data;
  int count = (int)m->deep.count, split = 0;
  if (count > 0) {
    tb_sort(deep, (size_t)count, sizeof *deep, compare_deep);
    while (split < count && deep[split].side == 0) split++;
  }
  for (int free = 0; free < 2; free++) { // first by the rules, then any way out
    if (free && m->out->count > m->first) break;
    if (split > 0) leave_side(m, 0, deep, split, free);
    if (split < count) leave_side(m, 1, deep + split, count - split, free);
  }
  for (int side = 0; side < 2 && m->out->count == m->first && m->status == TB_OK; side++)
    leave_altogether(m, side);
}
