// Tree against tree, triangle against triangle, feature against feature.
//
// Of two triangles whose boxes meet, the vertices and edges that one owns are looked at with the face and the
// edges of the other, so that a pair of features comes up once (Curtis, Tamstorf and Manocha 2008). A pair is
// kept unless
//
//   nothing of it can be moved, it is held together, or it shares a vertex;
//   its boxes are apart;
//   or the boxes of its vertices lie apart along the way between its middles, or its closest points at the
//   start.
//
// The last test is what keeps a surface from being a candidate to itself all over: neighbours are in each
// other's boxes but seldom within reach. What lies next to each other in one surface, nearly all that its
// tree would find, is listed once for all (tb_skin_link) and taken from there.
#include "collide/skins_trees.h"
#include "collide/features.h"

#include <assert.h>

enum { STACK = 256 };

typedef tbSkinLayer Layer;

static inline double least(double a, double b) { return b < a ? b : a; }

static bool shares(const int* a, int na, const int* b, int nb)
{
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (a[i] == b[j]) return true;
  return false;
}

static bool can_move(const tbMovingSkin* s, const int* vertex, int count)
{
  if (s->fixed) return false;
  for (int k = 0; s->holder && k < count; k++)
    if (s->holder[vertex[k]] != TB_HELD_FAST) return true;
  return !s->holder;
}

static bool is_held(const tbMovingSkin* s, const int* vertex, int count, int body)
{
  for (int k = 0; s->holder && k < count; k++)
    if (s->holder[vertex[k]] == body) return true;
  return false;
}

static bool may_meet(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  const tbMovingSkin *s = la->moving, *t = lb->moving;
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

static inline tbVec3 mean(const Layer* l, const int* vertex, int count)
{
  tbVec3 sum = l->moving->start[vertex[0]];
  for (int k = 1; k < count; k++) sum = tb_add3(sum, l->moving->start[vertex[k]]);
  return tb_scale3(1.0 / count, sum);
}

// Along the way between their middles, which is cheap and parts most of what is not close.
static inline bool middles_apart(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  tbVec3 o = mean(la, a, na);
  return parted(la, a, na, lb, b, nb, tb_sub3(mean(lb, b, nb), o), o);
}

// Along the way between the closest points at the start.
static inline bool stays_apart(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  if (middles_apart(la, a, na, lb, b, nb)) return true;
  tbVec3 x[4];
  for (int k = 0; k < nb; k++) x[k] = lb->moving->start[b[k]];
  for (int k = 0; k < na; k++) x[nb + k] = la->moving->start[a[k]];
  return parted(la, a, na, lb, b, nb, tb_closest_features(na == 3, x).way, x[0]);
}

static void add(tbSkinKeys* keys, tbArray* to, int a, int b)
{
  tbSkinKey key = {(uint32_t)a, (uint32_t)b};
  if (keys->status == TB_OK) keys->status = tb_array_push(&keys->ctx, to, &key, 1);
}

static void meet_vertex(const Layer* a, int t, const Layer* b, int v, tbSkinKeys* keys)
{
  const int* face = a->skin->triangle[t];
  tbBox box = tb_skin_box(b, &v, 1);
  if (tb_box_meets(&box, &a->triangle[t]) && may_meet(a, face, 3, b, &v, 1) &&
      !stays_apart(a, face, 3, b, &v, 1))
    add(keys, &keys->face_vertex, a->first_triangle + t, b->first_vertex + v);
}

static void meet_edge(const Layer* a, int d, const Layer* b, int e, tbSkinKeys* keys)
{
  const int *p = a->skin->edge[d], *q = b->skin->edge[e];
  if (!tb_box_meets(&a->edge[d], &b->edge[e]) || !may_meet(a, p, 2, b, q, 2)) return;
  if (stays_apart(a, p, 2, b, q, 2)) return;
  int first = a->first_edge + d, second = b->first_edge + e;
  if (first < second) add(keys, &keys->edge_edge, first, second);
  else add(keys, &keys->edge_edge, second, first);
}

// The vertices that triangle u of b owns, with triangle t of a.
static void meet_vertices(const Layer* a, int t, const Layer* b, int u, tbSkinKeys* keys)
{
  for (int k = 0; k < 3; k++)
    if (b->skin->owns[u] & TB_SKIN_OWNS_VERTEX << k) meet_vertex(a, t, b, b->skin->triangle[u][k], keys);
}

// The edges that triangle t owns and that meet a box.
static int owned_edges(const Layer* l, int t, const tbBox* with, int edge[3])
{
  int n = 0;
  for (int i = 0; i < 3; i++) {
    if (!(l->skin->owns[t] & TB_SKIN_OWNS_EDGE << i)) continue;
    edge[n] = l->skin->triangle_edge[t][i];
    n += tb_box_meets(&l->edge[edge[n]], with);
  }
  return n;
}

static void meet_edges(const Layer* a, int t, const Layer* b, int u, tbSkinKeys* keys)
{
  int d[3], e[3];
  int na = owned_edges(a, t, &b->triangle[u], d);
  int nb = na > 0 ? owned_edges(b, u, &a->triangle[t], e) : 0;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) meet_edge(a, d[i], b, e[j], keys);
}

void tb_skin_close_meet(const tbSkinLayer* l, int begin, int end, tbSkinKeys* keys)
{
  const tbSkin* s = l->skin;
  for (int i = begin; i < end; i++) {
    const int* edges = i < s->nclose_face ? NULL : s->close_edge[i - s->nclose_face];
    if (edges) meet_edge(l, edges[0], l, edges[1], keys);
    else meet_vertex(l, s->close_face[i][0], l, s->close_face[i][1], keys);
  }
}

static void meet_leaves(const Layer* a, const tbBvhNode* p, const Layer* b, const tbBvhNode* q,
                        tbSkinKeys* keys)
{
  bool listed = a == b && a->skin->linked; // what shares a vertex
  for (int i = p->first; i < p->first + p->count; i++) {
    int t = a->tree.order[i];
    if (!tb_box_meets(&a->triangle[t], &q->box)) continue;
    for (int j = p == q ? i + 1 : q->first; j < q->first + q->count; j++) {
      int u = b->tree.order[j];
      if (!tb_box_meets(&a->triangle[t], &b->triangle[u])) continue;
      if (listed && shares(a->skin->triangle[t], 3, b->skin->triangle[u], 3)) continue;
      if (middles_apart(a, a->skin->triangle[t], 3, b, b->skin->triangle[u], 3)) continue;
      meet_vertices(a, t, b, u, keys);
      meet_vertices(b, u, a, t, keys);
      meet_edges(a, t, b, u, keys);
    }
  }
}

static double extent(const tbBox* b)
{
  return (b->hi.x - b->lo.x) + (b->hi.y - b->lo.y) + (b->hi.z - b->lo.z);
}

static const tbBvhNode* first_node(const Layer* l, const tbSkinNodes* t) { return &l[t->a].tree.node[t->p]; }
static const tbBvhNode* second_node(const Layer* l, const tbSkinNodes* t) { return &l[t->b].tree.node[t->q]; }

int tb_skin_nodes_split(const tbSkinLayer* layers, tbSkinNodes t, tbSkinNodes out[3], bool* leaves)
{
  const tbBvhNode *p = first_node(layers, &t), *q = second_node(layers, &t);
  tbSkinNodes part[3] = {t, t, t};
  int n = 2, kept = 0;
  *leaves = !p->right && !q->right;
  if (*leaves) return 0;
  if (p == q) {
    n = 3;
    part[0].p = part[0].q = part[2].p = t.p + 1;
    part[1].p = part[1].q = part[2].q = p->right;
  } else if (!q->right || (p->right && extent(&p->box) >= extent(&q->box))) { // the larger
    part[0].p = t.p + 1;
    part[1].p = p->right;
  } else {
    part[0].q = t.q + 1;
    part[1].q = q->right;
  }
  for (int k = 0; k < n; k++)
    if (tb_box_meets(&first_node(layers, &part[k])->box, &second_node(layers, &part[k])->box))
      out[kept++] = part[k];
  return kept;
}

void tb_skin_nodes_meet(const tbSkinLayer* layers, tbSkinNodes nodes, tbSkinKeys* keys)
{
  tbSkinNodes stack[STACK];
  int depth = 0;
  stack[depth++] = nodes;
  while (depth > 0) {
    tbSkinNodes t = stack[--depth];
    bool leaves;
    assert(depth + 3 <= STACK); // a level of either tree leaves two behind
    depth += tb_skin_nodes_split(layers, t, stack + depth, &leaves);
    if (leaves)
      meet_leaves(&layers[t.a], first_node(layers, &t), &layers[t.b], second_node(layers, &t), keys);
  }
}
