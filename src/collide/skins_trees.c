// Tree against tree, triangle against triangle, feature against feature.
//
// Of two triangles whose boxes meet, the vertices and edges that one owns are looked at with the face and the
// edges of the other, so that a pair of features comes up once (Curtis, Tamstorf and Manocha 2008). A pair is
// kept unless
//
//   nothing of it can be moved, it is held together, or it shares a vertex;
//   its boxes are apart;
//   or the boxes of its vertices lie apart along the direction between its closest points at the start.
//
// The last test is what keeps a surface from being a candidate to itself all over: neighbours are in each
// other's boxes but seldom within reach.
#include "collide/skins_trees.h"
#include "collide/features.h"

#include <assert.h>

enum { STACK = 256 };

typedef tbSkinLayer Layer;

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

// Whether all of b's boxes stay beyond all of a's, along the way between the closest points at the start.
static bool stays_apart(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  tbVec3 x[4];
  for (int k = 0; k < nb; k++) x[k] = lb->moving->start[b[k]];
  for (int k = 0; k < na; k++) x[nb + k] = la->moving->start[a[k]];
  tbVec3 n = tb_closest_features(na == 3, x).way, m = tb_neg3(n);
  double beyond = INFINITY, behind = INFINITY;
  for (int k = 0; k < nb; k++) beyond = fmin(beyond, tb_box_along(&lb->vertex[b[k]], n, x[0]));
  for (int k = 0; k < na; k++) behind = fmin(behind, tb_box_along(&la->vertex[a[k]], m, x[0]));
  return beyond + behind > (la->grow + lb->grow) * tb_norm3(n);
}

static void add(tbSkinKeys* keys, tbArray* to, int a, int b)
{
  tbSkinKey key = {(uint32_t)a, (uint32_t)b};
  if (keys->status == TB_OK) keys->status = tb_array_push(&keys->ctx, to, &key, 1);
}

// The vertices that triangle u of b owns, with triangle t of a.
static void meet_vertices(const Layer* a, int t, const Layer* b, int u, tbSkinKeys* keys)
{
  const int* face = a->skin->triangle[t];
  for (int k = 0; k < 3; k++) {
    const int* v = &b->skin->triangle[u][k];
    if (!(b->skin->owns[u] & TB_SKIN_OWNS_VERTEX << k) || !may_meet(a, face, 3, b, v, 1)) continue;
    tbBox box = tb_skin_box(b, v, 1);
    if (tb_box_meets(&box, &a->triangle[t]) && !stays_apart(a, face, 3, b, v, 1))
      add(keys, &keys->face_vertex, a->first_triangle + t, b->first_vertex + *v);
  }
}

// The edges that triangle t owns and that meet a box.
static int owned_edges(const Layer* l, int t, const tbBox* with, int edge[3], tbBox box[3])
{
  int n = 0;
  for (int i = 0; i < 3; i++) {
    if (!(l->skin->owns[t] & TB_SKIN_OWNS_EDGE << i)) continue;
    edge[n] = l->skin->triangle_edge[t][i];
    box[n] = tb_skin_box(l, l->skin->edge[edge[n]], 2);
    n += tb_box_meets(&box[n], with);
  }
  return n;
}

static void meet_edges(const Layer* a, int t, const Layer* b, int u, tbSkinKeys* keys)
{
  int d[3], e[3];
  tbBox box_a[3], box_b[3];
  int na = owned_edges(a, t, &b->triangle[u], d, box_a);
  int nb = na > 0 ? owned_edges(b, u, &a->triangle[t], e, box_b) : 0;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) {
      const int *p = a->skin->edge[d[i]], *q = b->skin->edge[e[j]];
      if (!tb_box_meets(&box_a[i], &box_b[j]) || !may_meet(a, p, 2, b, q, 2)) continue;
      if (stays_apart(a, p, 2, b, q, 2)) continue;
      int first = a->first_edge + d[i], second = b->first_edge + e[j];
      if (first < second) add(keys, &keys->edge_edge, first, second);
      else add(keys, &keys->edge_edge, second, first);
    }
}

static void meet_leaves(const Layer* a, const tbBvhNode* p, const Layer* b, const tbBvhNode* q,
                        tbSkinKeys* keys)
{
  for (int i = p->first; i < p->first + p->count; i++)
    for (int j = p == q ? i + 1 : q->first; j < q->first + q->count; j++) {
      int t = a->tree.order[i], u = b->tree.order[j];
      if (!tb_box_meets(&a->triangle[t], &b->triangle[u])) continue;
      meet_vertices(a, t, b, u, keys);
      meet_vertices(b, u, a, t, keys);
      meet_edges(a, t, b, u, keys);
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
