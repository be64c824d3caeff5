// Candidates: pairs of features that can come close within a step.
//
// Every vertex is given a box that it may move in. Boxes of triangles hold those of their corners, and the
// trees that the skins were made with are filled with them anew. Skins whose boxes meet are compared tree
// against tree, a skin that may touch itself with itself; of two triangles whose boxes meet, the vertices and
// edges that one owns are looked at with the face and the edges of the other, so that a pair of features
// comes up once (Curtis, Tamstorf and Manocha 2008). A pair is kept unless
//
//   nothing of it can be moved, it is held together, or it shares a vertex;
//   its boxes are apart;
//   or the boxes of its vertices lie apart along the direction between its closest points at the start.
//
// The last test is what keeps a surface from being a candidate to itself all over: neighbours are in each
// other's boxes but seldom within reach.
//
// Pairs of nodes are taken apart, the larger first; the first thousand, breadth first, are tasks that run
// side by side. What they find is numbered across all skins, a pair to 64 bits, and put in order by two
// counting sorts.
//
// Cost      linear in vertices, triangles and candidates, n log n for the skins. On surfaces that are close
// to
//           themselves or others some 0.5 µs per triangle.
#include "collide/skins.h"
#include "base/shared.h"
#include "base/threads.h"
#include "collide/broad.h"
#include "collide/features.h"
#include "geometry/box.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { TASKS = 1024, TASK_GRAIN = 8, SKIN_GRAIN = 4, VERTEX_GRAIN = 1024, STACK = 256 };

static const double aside = 0.5;  // of its motion: so far a vertex may leave its way
static const double spare = 0.25; // of the reach: and so far besides

typedef struct {
  const tbMovingSkin* moving;
  const tbSkin* skin;
  int first_vertex, first_edge, first_triangle; // in the numbers across all skins
  double grow;                                  // radius and half the reach
  tbBox* vertex;                                // where they may move
  tbBox* triangle;                              // of their vertices, grown
  tbBvh tree;
} Layer;

typedef struct {
  int a, b; // layers
  int p, q; // nodes
} Task;

typedef struct {
  uint32_t a, b; // numbers across all skins
} Key;

typedef struct {
  tbContext ctx;
  tbArray face_vertex, edge_edge; // Key
  tbStatus status;
} Found;

typedef struct {
  const tbSkinScene* scene;
  double reach, ahead;
  Layer* layer;
  int nvertex, nedge, ntriangle;
  int *vertex_skin, *edge_skin; // whose they are                        (nvertex, nedge)
  tbBox* box;                   // of vertices                           (nvertex)
  tbArray task;                 // Task
  tbShared shared;
  Found* found; // by piece of tasks
} Find;

// ---- features ----

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

static tbBox box_of(const Layer* l, const int* vertex, int count)
{
  tbBox box = l->vertex[vertex[0]];
  for (int k = 1; k < count; k++) box = tb_box_join(box, l->vertex[vertex[k]]);
  return tb_box_grow(box, l->grow);
}

// How far the box reaches along n, from the origin o.
static double least_along(const tbBox* b, tbVec3 n, tbVec3 o)
{
  return n.x * ((n.x > 0 ? b->lo.x : b->hi.x) - o.x) + n.y * ((n.y > 0 ? b->lo.y : b->hi.y) - o.y) +
         n.z * ((n.z > 0 ? b->lo.z : b->hi.z) - o.z);
}

// Whether all of b's boxes stay beyond all of a's, along the way between the closest points at the start.
static bool stays_apart(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  tbVec3 x[4];
  for (int k = 0; k < nb; k++) x[k] = lb->moving->start[b[k]];
  for (int k = 0; k < na; k++) x[nb + k] = la->moving->start[a[k]];
  tbVec3 n = tb_closest_features(na == 3, x).way, m = tb_neg3(n);
  double beyond = INFINITY, behind = INFINITY;
  for (int k = 0; k < nb; k++) beyond = fmin(beyond, least_along(&lb->vertex[b[k]], n, x[0]));
  for (int k = 0; k < na; k++) behind = fmin(behind, least_along(&la->vertex[a[k]], m, x[0]));
  return beyond + behind > (la->grow + lb->grow) * tb_norm3(n);
}

static bool close_together(const Layer* la, const int* a, int na, const Layer* lb, const int* b, int nb)
{
  tbBox box_a = box_of(la, a, na), box_b = box_of(lb, b, nb);
  return tb_box_meets(&box_a, &box_b) && !stays_apart(la, a, na, lb, b, nb);
}

static void add(Found* f, tbArray* keys, int a, int b)
{
  Key key = {(uint32_t)a, (uint32_t)b};
  if (f->status == TB_OK) f->status = tb_array_push(&f->ctx, keys, &key, 1);
}

// The vertices that triangle u of b owns, with triangle t of a.
static void meet_vertices(const Layer* a, int t, const Layer* b, int u, Found* f)
{
  const int* face = a->skin->triangle[t];
  for (int k = 0; k < 3; k++) {
    const int* v = &b->skin->triangle[u][k];
    if (!(b->skin->owns[u] & TB_SKIN_OWNS_VERTEX << k) || !may_meet(a, face, 3, b, v, 1)) continue;
    if (close_together(a, face, 3, b, v, 1))
      add(f, &f->face_vertex, a->first_triangle + t, b->first_vertex + *v);
  }
}

static void meet_edges(const Layer* a, int t, const Layer* b, int u, Found* f)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      if (!(a->skin->owns[t] & TB_SKIN_OWNS_EDGE << i) || !(b->skin->owns[u] & TB_SKIN_OWNS_EDGE << j))
        continue;
      const Layer *l = a, *m = b;
      int d = a->skin->triangle_edge[t][i], e = b->skin->triangle_edge[u][j];
      if (l->first_edge + d > m->first_edge + e) {
        int swap = d;
        d = e, e = swap, l = b, m = a;
      }
      const int *p = l->skin->edge[d], *q = m->skin->edge[e];
      if (may_meet(l, p, 2, m, q, 2) && close_together(l, p, 2, m, q, 2))
        add(f, &f->edge_edge, l->first_edge + d, m->first_edge + e);
    }
}

static void meet_leaves(const Layer* a, const tbBvhNode* p, const Layer* b, const tbBvhNode* q, Found* f)
{
  for (int i = p->first; i < p->first + p->count; i++)
    for (int j = p == q ? i + 1 : q->first; j < q->first + q->count; j++) {
      int t = a->tree.order[i], u = b->tree.order[j];
      if (!tb_box_meets(&a->triangle[t], &b->triangle[u])) continue;
      if (b->skin->owns[u]) meet_vertices(a, t, b, u, f);
      if (a->skin->owns[t]) meet_vertices(b, u, a, t, f);
      meet_edges(a, t, b, u, f);
    }
}

// ---- pairs of nodes ----

static const tbBvhNode* first_node(const Find* w, const Task* t) { return &w->layer[t->a].tree.node[t->p]; }
static const tbBvhNode* second_node(const Find* w, const Task* t) { return &w->layer[t->b].tree.node[t->q]; }

static double extent(const tbBox* b)
{
  return (b->hi.x - b->lo.x) + (b->hi.y - b->lo.y) + (b->hi.z - b->lo.z);
}

// Into at most three pairs whose boxes meet; *leaves: there are two leaves and nothing to take apart.
static int take_apart(const Find* w, Task t, Task out[3], bool* leaves)
{
  const tbBvhNode *p = first_node(w, &t), *q = second_node(w, &t);
  Task part[3] = {t, t, t};
  int n = 2, kept = 0;
  *leaves = !p->right && !q->right;
  if (*leaves) return 0;
  if (p == q) {
    n = 3;
    part[0].p = part[0].q = part[2].p = t.p + 1;
    part[1].p = part[1].q = part[2].q = p->right;
  } else if (!q->right || (p->right && extent(&p->box) >= extent(&q->box))) {
    part[0].p = t.p + 1;
    part[1].p = p->right;
  } else {
    part[0].q = t.q + 1;
    part[1].q = q->right;
  }
  for (int k = 0; k < n; k++)
    if (tb_box_meets(&first_node(w, &part[k])->box, &second_node(w, &part[k])->box)) out[kept++] = part[k];
  return kept;
}

static void run_task(const Find* w, Task task, Found* f)
{
  Task stack[STACK];
  int depth = 0;
  stack[depth++] = task;
  while (depth > 0) {
    Task t = stack[--depth];
    bool leaves;
    assert(depth + 3 <= STACK); // a level of either tree leaves two behind
    depth += take_apart(w, t, stack + depth, &leaves);
    if (leaves) meet_leaves(&w->layer[t.a], first_node(w, &t), &w->layer[t.b], second_node(w, &t), f);
  }
}

static void run_piece(void* user, int begin, int end, int piece)
{
  Find* w = user;
  Found* f = &w->found[piece];
  *f = (Found){tb_shared_context(&w->shared), TB_ARRAY(Key), TB_ARRAY(Key), TB_OK};
  for (int i = begin; i < end; i++) run_task(w, ((const Task*)w->task.data)[i], f);
}

static tbStatus begin_task(tbContext* ctx, Find* w, int a, int b)
{
  const tbMovingSkin *s = w->layer[a].moving, *t = w->layer[b].moving;
  if ((s->rigid && t->rigid) || (s->fixed && t->fixed)) return TB_OK;
  return tb_array_push(ctx, &w->task, &(Task){a, b, 0, 0}, 1);
}

// Skins whose boxes meet; then pairs of nodes are taken apart, oldest first, until there are enough of them.
static tbStatus make_tasks(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs)
{
  int n = w->scene->nskin;
  tbBroadItem* item = TB_TAKE(arena, tbBroadItem, (size_t)n);
  if (!item) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const Layer* l = &w->layer[s];
    item[s] = (tbBroadItem){l->tree.nnode > 0 ? l->tree.node[0].box : tb_box_empty(), s, !l->moving->fixed};
    if (l->moving->self && l->tree.nnode > 0) TB_TRY(begin_task(ctx, w, s, s));
  }
  TB_TRY(tb_broad_pairs(ctx, arena, item, n, pairs));
  const tbPair* pair = pairs->data;
  for (size_t i = 0; i < pairs->count; i++) TB_TRY(begin_task(ctx, w, pair[i].a, pair[i].b));

  size_t head = 0, stuck = 0; // those before `head` are taken apart, or leaves that went to the end
  while (w->task.count - head < TASKS && stuck < w->task.count - head) {
    Task t = ((const Task*)w->task.data)[head++], part[3];
    bool leaves;
    int parts = take_apart(w, t, part, &leaves);
    TB_TRY(leaves ? tb_array_push(ctx, &w->task, &t, 1) : tb_array_push(ctx, &w->task, part, (size_t)parts));
    stuck = leaves ? stuck + 1 : 0;
  }
  w->task.count -= head;
  memmove(w->task.data, (Task*)w->task.data + head, w->task.count * sizeof(Task));
  return TB_OK;
}

// ---- boxes ----

static void place_vertices(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int i = begin; i < end; i++) {
    const Layer* l = &w->layer[w->vertex_skin[i]];
    tbVec3 x = l->moving->start[i - l->first_vertex], move = tb_sub3(l->moving->end[i - l->first_vertex], x);
    tbBox box = tb_box_add((tbBox){x, x}, tb_madd3(x, w->ahead, move));
    w->box[i] = tb_box_grow(box, spare * w->reach + aside * tb_maxabs3(move));
  }
}

static void refit(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int s = begin; s < end; s++) {
    Layer* l = &w->layer[s];
    for (int t = 0; t < l->skin->ntriangle; t++) l->triangle[t] = box_of(l, l->skin->triangle[t], 3);
    tb_bvh_refit(&l->tree, l->triangle);
  }
}

static tbStatus check(tbContext* ctx, const Find* w)
{
  if (!(w->reach > 0) || !(w->ahead >= 1) || !(w->reach < INFINITY) || !(w->ahead < INFINITY))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a reach of %g and boxes %g times as long as the motion", w->reach,
                   w->ahead);
  int64_t nvertex = 0, nedge = 0;
  for (int s = 0; s < w->scene->nskin; s++) {
    const tbMovingSkin* m = &w->scene->skin[s];
    for (int v = 0; v < m->skin->nvertex; v++) {
      tbVec3 move = tb_sub3(m->end[v], m->start[v]);
      if (!(fabs(move.x) + fabs(move.y) + fabs(move.z) < 1e100)) // NaN too
        return tb_fail(ctx, TB_ERROR_NUMERIC, "vertex %d of surface %d is not finite, or leaves for 1e100 m",
                       v, s);
    }
    nvertex += m->skin->nvertex, nedge += m->skin->nedge;
  }
  if (nvertex > INT_MAX / 4 || nedge > INT_MAX / 4)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "surfaces of more than 2^29 vertices or edges");
  return TB_OK;
}

static tbStatus make_layers(tbContext* ctx, tbArena* arena, Find* w)
{
  int n = w->scene->nskin;
  w->layer = TB_TAKE(arena, Layer, (size_t)n);
  if (!w->layer) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const tbMovingSkin* m = &w->scene->skin[s];
    w->layer[s] = (Layer){.moving = m,
                          .skin = m->skin,
                          .first_vertex = w->nvertex,
                          .first_edge = w->nedge,
                          .first_triangle = w->ntriangle,
                          .grow = m->radius + 0.5 * w->reach};
    w->nvertex += m->skin->nvertex, w->nedge += m->skin->nedge, w->ntriangle += m->skin->ntriangle;
  }
  w->vertex_skin = TB_TAKE(arena, int, (size_t)w->nvertex);
  w->edge_skin = TB_TAKE(arena, int, (size_t)w->nedge);
  w->box = TB_TAKE(arena, tbBox, (size_t)w->nvertex);
  tbBox* triangle = TB_TAKE(arena, tbBox, (size_t)w->ntriangle);
  if (!w->vertex_skin || !w->edge_skin || !w->box || !triangle) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    Layer* l = &w->layer[s];
    l->vertex = w->box + l->first_vertex;
    l->triangle = triangle + l->first_triangle;
    l->tree = l->skin->bvh;
    l->tree.node = TB_TAKE(arena, tbBvhNode, (size_t)l->tree.nnode);
    if (!l->tree.node) return TB_ERROR_MEMORY;
    if (l->tree.nnode > 0)
      memcpy(l->tree.node, l->skin->bvh.node, (size_t)l->tree.nnode * sizeof *l->tree.node);
    for (int v = 0; v < l->skin->nvertex; v++) w->vertex_skin[l->first_vertex + v] = s;
    for (int e = 0; e < l->skin->nedge; e++) w->edge_skin[l->first_edge + e] = s;
  }
  tb_parallel_for(ctx->threads, w->nvertex, VERTEX_GRAIN, place_vertices, w);
  tb_parallel_for(ctx->threads, n, SKIN_GRAIN, refit, w);
  return TB_OK;
}

// ---- planes ----

// Where the plane is after `ahead` steps, in proportion; n·x − offset is linear in time for every x.
static void plane_ahead(const Find* w, const tbMovingPlane* p, tbVec3 normal[2], double offset[2])
{
  normal[0] = p->normal[0], offset[0] = p->offset[0];
  normal[1] = tb_madd3(p->normal[0], w->ahead, tb_sub3(p->normal[1], p->normal[0]));
  offset[1] = p->offset[0] + w->ahead * (p->offset[1] - p->offset[0]);
}

static bool reaches(const tbBox* box, const tbVec3 normal[2], const double offset[2], double within)
{
  for (int e = 0; e < 2; e++)
    if (least_along(box, normal[e], tb_zero3()) - offset[e] <= within * fmax(1, tb_norm3(normal[e])))
      return true;
  return false;
}

static tbStatus meet_plane(tbContext* ctx, const Find* w, int plane, int s, tbArray* found)
{
  const tbMovingSkin* m = &w->scene->skin[s];
  const Layer* l = &w->layer[s];
  int body = w->scene->plane[plane].body;
  tbVec3 normal[2];
  double offset[2];
  plane_ahead(w, &w->scene->plane[plane], normal, offset);
  if (m->fixed || m->rigid || l->tree.nnode == 0 || !reaches(&l->tree.node[0].box, normal, offset, l->grow))
    return TB_OK;
  for (int v = 0; v < m->skin->nvertex; v++) {
    if (m->holder && (m->holder[v] == TB_HELD_FAST || m->holder[v] == body)) continue;
    if (!reaches(&l->vertex[v], normal, offset, w->reach + m->radius)) continue;
    tbSkinFeatures f = {TB_SKIN_PLANE_VERTEX, plane, s, 0, v};
    TB_TRY(tb_array_push(ctx, found, &f, 1));
  }
  return TB_OK;
}

// ---- the whole ----

// A stable counting sort by one of the two numbers, of which there are n.
static void sort_by(bool by_b, const Key* from, Key* to, size_t count, int n, size_t* start)
{
  memset(start, 0, ((size_t)n + 1) * sizeof *start);
  for (size_t i = 0; i < count; i++) start[(by_b ? from[i].b : from[i].a) + 1]++;
  for (int k = 0; k < n; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < count; i++) to[start[by_b ? from[i].b : from[i].a]++] = from[i];
}

// All that the pieces found of one kind, in order.
static tbStatus collect(tbArena* arena, const Find* w, bool faces, int npiece, Key** out, size_t* count)
{
  int na = faces ? w->ntriangle : w->nedge, nb = faces ? w->nvertex : w->nedge;
  *count = 0;
  for (int p = 0; p < npiece; p++)
    *count += faces ? w->found[p].face_vertex.count : w->found[p].edge_edge.count;
  Key *all = TB_TAKE(arena, Key, *count), *half = TB_TAKE(arena, Key, *count);
  size_t* start = TB_TAKE(arena, size_t, (size_t)(na > nb ? na : nb) + 1);
  if (!all || !half || !start) return TB_ERROR_MEMORY;
  for (int p = 0, n = 0; p < npiece; p++) {
    const tbArray* keys = faces ? &w->found[p].face_vertex : &w->found[p].edge_edge;
    if (keys->count > 0) memcpy(all + n, keys->data, keys->count * sizeof *all);
    n += (int)keys->count;
  }
  sort_by(true, all, half, *count, nb, start);
  sort_by(false, half, all, *count, na, start);
  *out = all;
  return TB_OK;
}

static void write_features(const Find* w, bool faces, const Key* key, size_t count, tbArray* out)
{
  tbSkinFeatures* f = out->data;
  int s = 0;
  for (size_t i = 0; i < count; i++) {
    int a = (int)key[i].a, b = (int)key[i].b, t = faces ? w->vertex_skin[b] : w->edge_skin[b];
    if (!faces) s = w->edge_skin[a];
    while (faces && a >= w->layer[s].first_triangle + w->layer[s].skin->ntriangle) s++;
    f[i].kind = faces ? TB_SKIN_FACE_VERTEX : TB_SKIN_EDGE_EDGE;
    f[i].skin_a = s, f[i].skin_b = t;
    f[i].feature_a = a - (faces ? w->layer[s].first_triangle : w->layer[s].first_edge);
    f[i].feature_b = b - (faces ? w->layer[t].first_vertex : w->layer[t].first_edge);
  }
  out->count = count;
}

// Room for so many in all; what is there stays.
static tbStatus reserve(tbContext* ctx, tbArray* array, size_t count)
{
  if (array->capacity >= count) return TB_OK;
  size_t before = array->count;
  TB_TRY(tb_array_push(ctx, array, NULL, count - before));
  array->count = before;
  return TB_OK;
}

// Nothing of the old candidates is touched before there is room for all of the new ones.
static tbStatus finish(tbContext* ctx, tbArena* arena, const Find* w, int npiece, const tbArray* planes,
                       tbSkinCandidates* out)
{
  Key *faces = NULL, *edges = NULL;
  size_t nface = 0, nedge = 0;
  for (int p = 0; p < npiece; p++)
    if (w->found[p].status != TB_OK) return tb_fail(ctx, w->found[p].status, "out of memory for candidates");
  TB_TRY(collect(arena, w, true, npiece, &faces, &nface));
  TB_TRY(collect(arena, w, false, npiece, &edges, &nedge));
  TB_TRY(reserve(ctx, &out->face_vertex, nface));
  TB_TRY(reserve(ctx, &out->edge_edge, nedge));
  TB_TRY(reserve(ctx, &out->plane_vertex, planes->count));
  TB_TRY(reserve(ctx, &out->box, (size_t)w->nvertex));
  write_features(w, true, faces, nface, &out->face_vertex);
  write_features(w, false, edges, nedge, &out->edge_edge);
  out->plane_vertex.count = 0, out->box.count = 0;
  TB_TRY(tb_array_push(ctx, &out->plane_vertex, planes->data, planes->count));
  return tb_array_push(ctx, &out->box, w->box, (size_t)w->nvertex);
}

static tbStatus find(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs, tbArray* planes,
                     tbSkinCandidates* out)
{
  TB_TRY(check(ctx, w));
  TB_TRY(make_layers(ctx, arena, w));
  for (int p = 0; p < w->scene->nplane; p++)
    for (int s = 0; s < w->scene->nskin; s++) TB_TRY(meet_plane(ctx, w, p, s, planes));
  TB_TRY(make_tasks(ctx, arena, w, pairs));
  int count = (int)w->task.count, npiece = tb_piece_count(count, TASK_GRAIN);
  w->found = TB_TAKE(arena, Found, (size_t)npiece);
  if (!w->found) return TB_ERROR_MEMORY;
  tb_shared_begin(&w->shared, ctx);
  tb_parallel_for(ctx->threads, count, TASK_GRAIN, run_piece, w);
  tb_shared_end(&w->shared);
  tbStatus status = finish(ctx, arena, w, npiece, planes, out);
  for (int p = 0; p < npiece; p++) {
    tb_array_free(ctx, &w->found[p].face_vertex);
    tb_array_free(ctx, &w->found[p].edge_edge);
  }
  return status;
}

tbStatus tb_skin_find(tbContext* ctx, const tbSkinScene* scene, double reach, double ahead,
                      tbSkinCandidates* candidates)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  Find w = {.scene = scene, .reach = reach, .ahead = ahead, .task = TB_ARRAY(Task)};
  tbArray pairs = TB_ARRAY(tbPair), planes = TB_ARRAY(tbSkinFeatures);
  tbStatus status = find(ctx, &arena, &w, &pairs, &planes, candidates);
  tb_array_free(ctx, &w.task);
  tb_array_free(ctx, &pairs);
  tb_array_free(ctx, &planes);
  tb_arena_free(&arena);
  return status;
}
