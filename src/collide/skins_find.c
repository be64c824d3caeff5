// Candidates: pairs of features that can come close within a step.
//
// Every vertex is given a box that it may move in. Boxes of triangles hold those of their corners, and the
// trees that the skins were made with are filled with them anew. Skins whose boxes meet are compared tree
// against tree, a skin that may touch itself with itself (skins_trees.c), in boxes that go along with it:
// what all of a skin does together brings none of it closer to the rest. Pairs of nodes are taken apart; the
// first thousand, breadth first, are tasks that run side by side. What they find is numbered across all
// skins, a pair to 64 bits, and put in order by two counting sorts.
//
// Cost      linear in vertices, triangles and candidates, n log n in the number of skins: a microsecond per
// triangle
//           where surfaces lie apart, and about another per candidate.
#include "base/shared.h"
#include "base/threads.h"
#include "collide/broad.h"
#include "collide/skins_pair.h"
#include "collide/skins_trees.h"

#include <limits.h>
#include <string.h>

enum { TASKS = 1024, TASK_GRAIN = 8, CLOSE_GRAIN = 8192, SKIN_GRAIN = 4, VERTEX_GRAIN = 1024 };

static const double aside = 0.5;  // of its motion: so far a vertex may leave its way
static const double spare = 0.25; // of the reach: and so far besides
static const double slack = 0.03; // of a mean edge: and so far, however slow it is
static const double bend = 0.1;   // of its whole motion: so far beside the drift of its skin

typedef tbSkinLayer Layer;

// Some of the pairs that a skin lists as close.
typedef struct {
  int layer, begin, end;
} Close;

typedef struct {
  const tbSkinScene* scene;
  double reach, ahead;
  Layer* layer; // of every skin, then of every skin as it sees itself              (2 nskin)
  int nvertex, nedge, ntriangle;
  int *vertex_skin, *edge_skin; // whose they are                        (nvertex, nedge)
  tbBox *box, *own;             // of vertices; and beside the drift of their skin   (nvertex)
  tbVec3* drift;                // of skins                              (nskin)
  tbArray task;                 // tbSkinNodes
  tbArray close;                // Close
  tbShared shared;
  tbSkinKeys* found; // by piece of tasks, then by those of close pairs
  int npiece;        // of tasks
} Find;

// ---- boxes ----

static tbBox place(const Find* w, tbVec3 x, tbVec3 move, double free)
{
  tbBox box = tb_box_add((tbBox){x, x}, tb_madd3(x, w->ahead, move));
  return tb_box_grow(box, spare * w->reach + aside * tb_maxabs3(move) + free);
}

static void place_vertices(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int i = begin; i < end; i++) {
    int s = w->vertex_skin[i];
    const Layer* l = &w->layer[s];
    tbVec3 x = l->moving->start[i - l->first_vertex], move = tb_sub3(l->moving->end[i - l->first_vertex], x);
    double free = l->moving->fixed ? 0 : slack * l->skin->edge_length;
    w->box[i] = place(w, x, move, free);
    w->own[i] = place(w, x, tb_sub3(move, w->drift[s]), free + bend * tb_maxabs3(move));
  }
}

static void bound(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int s = begin; s < end; s++) {
    Layer* l = &w->layer[s];
    l->box = tb_box_empty();
    for (int v = 0; v < l->skin->nvertex; v++) l->box = tb_box_join(l->box, l->vertex[v]);
    if (l->skin->nvertex > 0) l->box = tb_box_grow(l->box, l->grow);
  }
}

static void refit(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Find* w = user;
  for (int s = begin; s < end; s++) {
    Layer* l = &w->layer[s];
    if (!l->wanted) continue;
    for (int t = 0; t < l->skin->ntriangle; t++) l->triangle[t] = tb_skin_box(l, l->skin->triangle[t], 3);
    for (int e = 0; e < l->skin->nedge; e++) l->edge[e] = tb_skin_box(l, l->skin->edge[e], 2);
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
  w->layer = TB_TAKE(arena, Layer, 2 * (size_t)n);
  w->drift = TB_TAKE(arena, tbVec3, (size_t)n);
  if (!w->layer || !w->drift) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const tbMovingSkin* m = &w->scene->skin[s];
    w->layer[s] = (Layer){.moving = m,
                          .skin = m->skin,
                          .first_vertex = w->nvertex,
                          .first_edge = w->nedge,
                          .first_triangle = w->ntriangle,
                          .grow = m->radius + 0.5 * w->reach};
    w->nvertex += m->skin->nvertex, w->nedge += m->skin->nedge, w->ntriangle += m->skin->ntriangle;
    w->drift[s] = tb_skin_drift(m);
  }
  w->vertex_skin = TB_TAKE(arena, int, (size_t)w->nvertex);
  w->edge_skin = TB_TAKE(arena, int, (size_t)w->nedge);
  w->box = TB_TAKE(arena, tbBox, (size_t)w->nvertex);
  w->own = TB_TAKE(arena, tbBox, (size_t)w->nvertex);
  if (!w->vertex_skin || !w->edge_skin || !w->box || !w->own) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    Layer* l = &w->layer[s];
    l->vertex = w->box + l->first_vertex;
    w->layer[n + s] = *l;
    w->layer[n + s].vertex = w->own + l->first_vertex;
    for (int v = 0; v < l->skin->nvertex; v++) w->vertex_skin[l->first_vertex + v] = s;
    for (int e = 0; e < l->skin->nedge; e++) w->edge_skin[l->first_edge + e] = s;
  }
  tb_parallel_for(ctx->threads, w->nvertex, VERTEX_GRAIN, place_vertices, w);
  tb_parallel_for(ctx->threads, n, SKIN_GRAIN, bound, w);
  return TB_OK;
}

static tbStatus make_trees(tbContext* ctx, tbArena* arena, Find* w)
{
  for (int s = 0; s < 2 * w->scene->nskin; s++) {
    Layer* l = &w->layer[s];
    if (!l->wanted) continue;
    l->tree = l->skin->bvh;
    l->tree.node = TB_TAKE(arena, tbBvhNode, (size_t)l->tree.nnode);
    l->triangle = TB_TAKE(arena, tbBox, (size_t)l->skin->ntriangle);
    l->edge = TB_TAKE(arena, tbBox, (size_t)l->skin->nedge);
    if (!l->tree.node || !l->triangle || !l->edge) return TB_ERROR_MEMORY;
    memcpy(l->tree.node, l->skin->bvh.node, (size_t)l->tree.nnode * sizeof *l->tree.node);
  }
  tb_parallel_for(ctx->threads, 2 * w->scene->nskin, SKIN_GRAIN, refit, w);
  return TB_OK;
}

// ---- tasks ----

static tbStatus begin_task(tbContext* ctx, Find* w, int a, int b)
{
  Layer *l = &w->layer[a], *m = &w->layer[b];
  if ((l->moving->rigid && m->moving->rigid) || (l->moving->fixed && m->moving->fixed)) return TB_OK;
  l->wanted = m->wanted = true;
  return tb_array_push(ctx, &w->task, &(tbSkinNodes){a, b, 0, 0}, 1);
}

static tbStatus begin_close(tbContext* ctx, Find* w, int layer)
{
  const tbSkin* s = w->layer[layer].skin;
  int count = s->nclose_face + s->nclose_edge;
  for (int i = 0; i < count; i += CLOSE_GRAIN) {
    int end = count - i < CLOSE_GRAIN ? count : i + CLOSE_GRAIN;
    TB_TRY(tb_array_push(ctx, &w->close, &(Close){layer, i, end}, 1));
  }
  return TB_OK;
}

// Skins whose boxes meet, and those that may touch themselves.
static tbStatus make_tasks(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs)
{
  int n = w->scene->nskin;
  tbBroadItem* item = TB_TAKE(arena, tbBroadItem, (size_t)n);
  if (!item) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const Layer* l = &w->layer[s];
    item[s] = (tbBroadItem){l->box, s, !l->moving->fixed};
    if (!l->moving->self || l->moving->rigid || l->moving->fixed || l->skin->ntriangle == 0) continue;
    TB_TRY(begin_task(ctx, w, n + s, n + s));
    TB_TRY(begin_close(ctx, w, n + s));
  }
  TB_TRY(tb_broad_pairs(ctx, arena, item, n, pairs));
  const tbPair* pair = pairs->data;
  for (size_t i = 0; i < pairs->count; i++) TB_TRY(begin_task(ctx, w, pair[i].a, pair[i].b));
  return TB_OK;
}

// Pairs of nodes are taken apart, oldest first, until there are enough of them.
static tbStatus split_tasks(tbContext* ctx, Find* w)
{
  size_t head = 0, stuck = 0; // those before `head` are taken apart, or leaves that went to the end
  while (w->task.count - head < TASKS && stuck < w->task.count - head) {
    tbSkinNodes t = ((const tbSkinNodes*)w->task.data)[head++], part[3];
    bool leaves;
    int parts = tb_skin_nodes_split(w->layer, t, part, &leaves);
    TB_TRY(leaves ? tb_array_push(ctx, &w->task, &t, 1) : tb_array_push(ctx, &w->task, part, (size_t)parts));
    stuck = leaves ? stuck + 1 : 0;
  }
  w->task.count -= head;
  if (head > 0) memmove(w->task.data, (tbSkinNodes*)w->task.data + head, w->task.count * sizeof(tbSkinNodes));
  return TB_OK;
}

static tbSkinKeys* begin_keys(Find* w, int piece)
{
  tbSkinKeys* keys = &w->found[piece];
  *keys = (tbSkinKeys){tb_shared_context(&w->shared), TB_ARRAY(tbSkinKey), TB_ARRAY(tbSkinKey), TB_OK};
  return keys;
}

static void run_piece(void* user, int begin, int end, int piece)
{
  Find* w = user;
  tbSkinKeys* keys = begin_keys(w, piece);
  for (int i = begin; i < end; i++) tb_skin_nodes_meet(w->layer, ((const tbSkinNodes*)w->task.data)[i], keys);
}

static void run_close(void* user, int begin, int end, int piece)
{
  (void)end, (void)piece;
  Find* w = user;
  const Close* c = (const Close*)w->close.data + begin;
  tb_skin_close_meet(&w->layer[c->layer], c->begin, c->end, begin_keys(w, w->npiece + begin));
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
    if (tb_box_along(box, normal[e], tb_zero3()) - offset[e] <= within * fmax(1, tb_norm3(normal[e])))
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
  if (m->fixed || m->rigid || tb_box_is_empty(&l->box) || !reaches(&l->box, normal, offset, l->grow))
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
static void sort_by(bool by_b, const tbSkinKey* from, tbSkinKey* to, size_t count, int n, size_t* start)
{
  memset(start, 0, ((size_t)n + 1) * sizeof *start);
  for (size_t i = 0; i < count; i++) start[(by_b ? from[i].b : from[i].a) + 1]++;
  for (int k = 0; k < n; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < count; i++) to[start[by_b ? from[i].b : from[i].a]++] = from[i];
}

// All that the pieces found of one kind, in order.
static tbStatus collect(tbArena* arena, const Find* w, bool faces, int npiece, tbSkinKey** out, size_t* count)
{
  int na = faces ? w->ntriangle : w->nedge, nb = faces ? w->nvertex : w->nedge;
  *count = 0;
  for (int p = 0; p < npiece; p++)
    *count += faces ? w->found[p].face_vertex.count : w->found[p].edge_edge.count;
  tbSkinKey *all = TB_TAKE(arena, tbSkinKey, *count), *half = TB_TAKE(arena, tbSkinKey, *count);
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

static void write_features(const Find* w, bool faces, const tbSkinKey* key, size_t count, tbArray* out)
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
  tbSkinKey *faces = NULL, *edges = NULL;
  size_t nface = 0, nedge = 0;
  for (int p = 0; p < npiece; p++)
    if (w->found[p].status != TB_OK) return tb_fail(ctx, w->found[p].status, "out of memory for candidates");
  TB_TRY(collect(arena, w, true, npiece, &faces, &nface));
  TB_TRY(collect(arena, w, false, npiece, &edges, &nedge));
  TB_TRY(reserve(ctx, &out->face_vertex, nface));
  TB_TRY(reserve(ctx, &out->edge_edge, nedge));
  TB_TRY(reserve(ctx, &out->face_way, nface));
  TB_TRY(reserve(ctx, &out->edge_way, nedge));
  TB_TRY(reserve(ctx, &out->plane_vertex, planes->count));
  TB_TRY(reserve(ctx, &out->box, (size_t)w->nvertex));
  TB_TRY(reserve(ctx, &out->own, (size_t)w->nvertex));
  write_features(w, true, faces, nface, &out->face_vertex);
  write_features(w, false, edges, nedge, &out->edge_edge);
  tb_skin_ways(ctx, w->scene, &out->face_vertex, out->face_way.data);
  tb_skin_ways(ctx, w->scene, &out->edge_edge, out->edge_way.data);
  out->face_way.count = nface, out->edge_way.count = nedge;
  out->plane_vertex.count = 0, out->box.count = 0, out->own.count = 0;
  TB_TRY(tb_array_push(ctx, &out->plane_vertex, planes->data, planes->count));
  TB_TRY(tb_array_push(ctx, &out->box, w->box, (size_t)w->nvertex));
  return tb_array_push(ctx, &out->own, w->own, (size_t)w->nvertex);
}

static tbStatus find(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs, tbArray* planes,
                     tbSkinCandidates* out)
{
  TB_TRY(check(ctx, w));
  TB_TRY(make_layers(ctx, arena, w));
  for (int p = 0; p < w->scene->nplane; p++)
    for (int s = 0; s < w->scene->nskin; s++) TB_TRY(meet_plane(ctx, w, p, s, planes));
  TB_TRY(make_tasks(ctx, arena, w, pairs));
  TB_TRY(make_trees(ctx, arena, w));
  TB_TRY(split_tasks(ctx, w));
  int count = (int)w->task.count, nclose = (int)w->close.count;
  w->npiece = tb_piece_count(count, TASK_GRAIN);
  int npiece = w->npiece + nclose;
  w->found = TB_TAKE(arena, tbSkinKeys, (size_t)npiece);
  if (!w->found) return TB_ERROR_MEMORY;
  tb_shared_begin(&w->shared, ctx);
  tb_parallel_for(ctx->threads, count, TASK_GRAIN, run_piece, w);
  tb_parallel_for(ctx->threads, nclose, 1, run_close, w);
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
  Find w = {.scene = scene,
            .reach = reach,
            .ahead = ahead,
            .task = TB_ARRAY(tbSkinNodes),
            .close = TB_ARRAY(Close)};
  tbArray pairs = TB_ARRAY(tbPair), planes = TB_ARRAY(tbSkinFeatures);
  tbStatus status = find(ctx, &arena, &w, &pairs, &planes, candidates);
  tb_array_free(ctx, &w.task);
  tb_array_free(ctx, &w.close);
  tb_array_free(ctx, &pairs);
  tb_array_free(ctx, &planes);
  tb_arena_free(&arena);
  return status;
}
