// SPDX-License-Identifier: Apache-2.0
// Tree against tree, triangle against triangle, feature against feature.
//
// Of two triangles whose boxes meet, the vertices and edges that one owns are looked at with the face and the
// edges of the other, so that a pair of features comes up once (Curtis, Tamstorf and Manocha 2008). A pair is
// kept unless
//
//   nothing of it can be moved, it is held together, or it shares a vertex;
//   its boxes are apart;
//   the boxes of its triangles' corners lie apart along the way between the triangles' middles;
//   or those of its vertices along the way between its closest points at the start.
//
// The last test is what keeps a surface from being a candidate to itself all over: neighbours are in each
// other's boxes but seldom within reach. What lies next to each other in one surface, nearly all that its
// tree would find, is listed once for all (tb_surface_mesh_link) and taken from there.
#include "collide/surfaces_trees.h"
#include "base/simd.h"
#include "base/stop.h"
#include "collide/features.h"

#include <assert.h>

enum { STACK = 256, ASK = 64 }; // ASK: pairs of nodes between questions whether to stop

typedef tbSurfaceLayer Layer;

static inline double least(double a, double b) { return b < a ? b : a; }

static bool shares(const int* a, int na, const int* b, int nb)
{
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (a[i] == b[j]) return true;
  return false;
}

static bool can_move(const tbMovingSurface* s, const int* vertex, int count)
{
  if (s->fixed) return false;
  for (int k = 0; s->holder && k < count; k++)
    if (s->holder[vertex[k]] != TB_HELD_FAST) return true;
  return !s->holder;
}

static bool is_held(const tbMovingSurface* s, const int* vertex, int count, int body)
{
  for (int k = 0; s->holder && k < count; k++)
    if (s->holder[vertex[k]] == body) return true;
  return false;
}

static bool may_meet(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  const tbMovingSurface *s = la->moving, *t = lb->moving;
  if (s == t && shares(a, na, b, nb)) return false;
  if (!can_move(s, a, na) && !can_move(t, b, nb)) return false;
  return s == t || (!is_held(s, a, na, t->body) && !is_held(t, b, nb, s->body));
}

// Whether all of b's boxes stay beyond all of a's, along n; o is somewhere near.
static inline bool parted(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb,
                          tbVec3 n, tbVec3 o)
{
  tbVec3 m = tb_neg3(n);
  double beyond = INFINITY, behind = INFINITY, grow = la->grow + lb->grow;
  for (int k = 0; k < nb; k++) beyond = least(beyond, tb_box_along(&lb->vertex[b[k]], n, o));
  for (int k = 0; k < na; k++) behind = least(behind, tb_box_along(&la->vertex[a[k]], m, o));
  double gap = beyond + behind;
  return gap > 0 && gap * gap > grow * grow * tb_dot3(n, n);
}

static inline tbVec3 middle(const Layer* l, const int v[3])
{
  const tbVec3* x = l->moving->start;
  return tb_scale3(1.0 / 3, tb_add3(tb_add3(x[v[0]], x[v[1]]), x[v[2]]));
}

// Triangles, along the way between their middles: which is cheap, and half of what is not close.
static inline bool middles_apart(const Layer* la, const int a[3], const Layer* lb, const int b[3])
{
  tbVec3 o = middle(la, a);
  return parted(la, a, 3, lb, b, 3, tb_sub3(middle(lb, b), o), o);
}

// Along the way between the closest points at the start.
static inline bool stays_apart(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  tbVec3 x[4];
  for (int k = 0; k < nb; k++) x[k] = lb->moving->start[b[k]];
  for (int k = 0; k < na; k++) x[nb + k] = la->moving->start[a[k]];
  return parted(la, a, na, lb, b, nb, tb_closest_features(na == 3, x).way, x[0]);
}

static void add(tbSurfaceKeys* keys, tbArray* to, int a, int b)
{
  tbSurfaceKey key = {(uint32_t)a, (uint32_t)b};
  if (keys->status == TB_OK) keys->status = tb_array_push(&keys->ctx, to, &key, 1);
}

static void meet_vertex(const Layer* a, int t, const Layer* b, int v, tbSurfaceKeys* keys)
{
  const int* face = a->surface->triangle[t];
  tbBox box = tb_surface_box(b, &v, 1);
  if (tb_box_meets(&box, &a->triangle[t]) && may_meet(a, face, 3, b, &v, 1) &&
      !stays_apart(a, face, 3, b, &v, 1))
    add(keys, &keys->face_vertex, a->first_triangle + t, b->first_vertex + v);
}

static void meet_edge(const Layer* a, int d, const Layer* b, int e, tbSurfaceKeys* keys)
{
  const int *p = a->surface->edge[d], *q = b->surface->edge[e];
  if (!tb_box_meets(&a->edge[d], &b->edge[e]) || !may_meet(a, p, 2, b, q, 2)) return;
  if (stays_apart(a, p, 2, b, q, 2)) return;
  int first = a->first_edge + d, second = b->first_edge + e;
  if (first < second) add(keys, &keys->edge_edge, first, second);
  else add(keys, &keys->edge_edge, second, first);
}

// The vertices that triangle u of b owns, with triangle t of a.
static void meet_vertices(const Layer* a, int t, const Layer* b, int u, tbSurfaceKeys* keys)
{
  for (int k = 0; k < 3; k++)
    if (b->surface->owns[u] & TB_SURFACE_OWNS_VERTEX << k)
      meet_vertex(a, t, b, b->surface->triangle[u][k], keys);
}

// The edges that triangle t owns and that meet a box. Edges inside a flat face are none: what comes to such
// an edge from outside comes to the face with a vertex, or over its rim.
static int owned_edges(const Layer* l, int t, const tbBox* with, int edge[3])
{
  int n = 0;
  for (int i = 0; i < 3; i++) {
    if (!(l->surface->owns[t] & TB_SURFACE_OWNS_EDGE << i)) continue;
    edge[n] = l->surface->triangle_edge[t][i];
    if (l->flat && l->flat[edge[n]]) continue;
    n += tb_box_meets(&l->edge[edge[n]], with);
  }
  return n;
}

static void meet_edges(const Layer* a, int t, const Layer* b, int u, tbSurfaceKeys* keys)
{
  int d[3], e[3];
  int na = owned_edges(a, t, &b->triangle[u], d);
  int nb = na > 0 ? owned_edges(b, u, &a->triangle[t], e) : 0;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) meet_edge(a, d[i], b, e[j], keys);
}

void tb_surface_close_meet(const tbSurfaceLayer* l, int begin, int end, tbSurfaceKeys* keys)
{
  const tbSurfaceMesh* s = l->surface;
  for (int i = begin; i < end; i++) {
    const int* edges = i < s->nclose_face ? NULL : s->close_edge[i - s->nclose_face];
    if (edges) meet_edge(l, edges[0], l, edges[1], keys);
    else meet_vertex(l, s->close_face[i][0], l, s->close_face[i][1], keys);
  }
}

// Which of the triangles from place `first` on have boxes that meet this one: a bit for each of four.
static int which_meet(const Layer* l, int first, const tbBox* box)
{
  const double *lo = &box->lo.x, *hi = &box->hi.x;
  int bits = 15;
  for (int k = 0; k < 3; k++)
    bits &= tb4_at_most(tb4_set1(lo[k]), tb4_load(l->side[3 + k] + first)) &
            tb4_at_most(tb4_load(l->side[k] + first), tb4_set1(hi[k]));
  return bits;
}

static void meet_triangles(const Layer* a, int t, const Layer* b, int u, tbSurfaceKeys* keys)
{
  const int *p = a->surface->triangle[t], *q = b->surface->triangle[u];
  if (a == b && a->surface->linked && shares(p, 3, q, 3)) return; // listed
  if (middles_apart(a, p, b, q)) return;
  meet_vertices(a, t, b, u, keys);
  meet_vertices(b, u, a, t, keys);
  meet_edges(a, t, b, u, keys);
}

static void meet_leaves(const Layer* a, const tbBvhNode* p, const Layer* b, const tbBvhNode* q,
                        tbSurfaceKeys* keys)
{
  for (int i = p->first; i < p->first + p->count; i++) {
    int t = a->tree.order[i];
    for (int j = p == q ? i + 1 : q->first, end = q->first + q->count; j < end; j += 4) {
      int bits = which_meet(b, j, &a->triangle[t]) & (end - j < 4 ? (1 << (end - j)) - 1 : 15);
      for (; bits; bits &= bits - 1)
        meet_triangles(a, t, b, b->tree.order[j + __builtin_ctz((unsigned)bits)], keys);
    }
  }
}

static double extent(const tbBox* b)
{
  return (b->hi.x - b->lo.x) + (b->hi.y - b->lo.y) + (b->hi.z - b->lo.z);
}

typedef struct {
  int p, q;
} Nodes;

// Into at most three pairs of nodes whose boxes meet; not for two leaves.
static inline int split(const tbBvhNode* a, const tbBvhNode* b, Nodes at, Nodes out[3])
{
  const tbBvhNode *p = &a[at.p], *q = &b[at.q];
  int kept = 0;
  if (p == q) {
    out[kept++] = (Nodes){at.p + 1, at.p + 1};
    out[kept++] = (Nodes){p->right, p->right};
    out[kept] = (Nodes){at.p + 1, p->right};
    return kept + tb_box_meets(&p[1].box, &a[p->right].box);
  }
  bool first = !q->right || (p->right && extent(&p->box) >= extent(&q->box)); // the larger
  int child[2] = {(first ? at.p : at.q) + 1, first ? p->right : q->right};
  for (int k = 0; k < 2; k++) {
    out[kept] = first ? (Nodes){child[k], at.q} : (Nodes){at.p, child[k]};
    kept += first ? tb_box_meets(&a[child[k]].box, &q->box) : tb_box_meets(&p->box, &b[child[k]].box);
  }
  return kept;
}

int tb_surface_nodes_split(const tbSurfaceLayer* layers, tbSurfaceNodes t, tbSurfaceNodes out[3],
                           bool* leaves)
{
  const tbBvhNode *a = layers[t.a].tree.node, *b = layers[t.b].tree.node;
  Nodes part[3];
  *leaves = !a[t.p].right && !b[t.q].right;
  int count = *leaves ? 0 : split(a, b, (Nodes){t.p, t.q}, part);
  for (int k = 0; k < count; k++) out[k] = (tbSurfaceNodes){t.a, t.b, part[k].p, part[k].q};
  return count;
}

void tb_surface_nodes_meet(const tbSurfaceLayer* layers, tbSurfaceNodes nodes, tbSurfaceKeys* keys)
{
  const Layer *a = &layers[nodes.a], *b = &layers[nodes.b];
  Nodes stack[STACK];
  int depth = 0;
  stack[depth++] = (Nodes){nodes.p, nodes.q};
  for (int i = 0; depth > 0 && keys->status == TB_OK; i++) {
    Nodes at = stack[--depth];
    if (i % ASK == 0 && tb_asked(keys->ctx.interrupt)) keys->status = TB_ERROR_CANCELLED;
    const tbBvhNode *p = &a->tree.node[at.p], *q = &b->tree.node[at.q];
    assert(depth + 3 <= STACK); // a level of either tree leaves two behind
    if (p->right || q->right) depth += split(a->tree.node, b->tree.node, at, stack + depth);
    else meet_leaves(a, p, b, q, keys);
  }
}
