// SPDX-License-Identifier: Apache-2.0
// Candidates: pairs of features that can come close within a step.
//
// Every vertex is given a box that it may move in (surfaces_boxes.c). Boxes of triangles hold those of their
// corners, and the trees that the surfaces were made with are filled with them anew. Surfaces whose boxes
// meet are compared tree against tree, a surface that may touch itself with itself (surfaces_trees.c), in
// boxes that go along with it: what all of a surface does together brings none of it closer to the rest.
// Pairs of nodes are taken apart; the first thousand, breadth first, are tasks that run side by side. What
// they find is numbered across all surfaces, a pair to 64 bits, and put in order by two counting sorts. Where
// boxes still hold, what was found with them is taken over.
//
// Cost      linear in vertices, triangles and candidates, n log n in the number of surfaces: half a
// microsecond
//           per triangle where surfaces lie apart, and about another per candidate.
#include "base/threads.h"
#include "collide/broad.h"
#include "collide/surfaces_find.h"
#include "collide/surfaces_pair.h"

#include <assert.h>
#include <string.h>

enum { TASKS = 1024, TASK_GRAIN = 8, CLOSE_GRAIN = 8192 };

typedef tbSurfaceLayer Layer;
typedef tbSurfaceSearch Find;

// Some of the pairs that a surface lists as close.
typedef struct {
  int layer, begin, end;
} Close;

// ---- tasks ----

// Nothing new can be found between the two.
static bool is_known(const Find* w, int a, int b)
{
  int n = w->scene->nsurface;
  return w->fresh && w->fresh[a % n] && w->fresh[b % n];
}

static tbStatus begin_task(tbContext* ctx, Find* w, int a, int b)
{
  Layer *l = &w->layer[a], *m = &w->layer[b];
  if (is_known(w, a, b)) return TB_OK;
  bool rigid = l->moving->rigid && m->moving->rigid;
  if (rigid && (!w->scene->rigid_pairs || l->moving->body == m->moving->body)) return TB_OK;
  if (l->moving->fixed && m->moving->fixed) return TB_OK;
  if (!tb_surface_may_touch(w->scene, l->moving->body, m->moving->body)) return TB_OK;
  l->wanted = m->wanted = true;
  return tb_array_push(ctx, &w->task, &(tbSurfaceNodes){a, b, 0, 0}, 1);
}

static tbStatus begin_close(tbContext* ctx, Find* w, int layer)
{
  const tbSurfaceMesh* s = w->layer[layer].surface;
  int count = s->nclose_face + s->nclose_edge;
  for (int i = 0; i < count; i += CLOSE_GRAIN) {
    int end = count - i < CLOSE_GRAIN ? count : i + CLOSE_GRAIN;
    TB_TRY(tb_array_push(ctx, &w->close, &(Close){layer, i, end}, 1));
  }
  return TB_OK;
}

// Surfaces whose boxes meet, and those that may touch themselves.
static tbStatus make_tasks(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs)
{
  int n = w->scene->nsurface;
  tbBroadItem* item = TB_TAKE(arena, tbBroadItem, (size_t)n);
  if (!item) return TB_ERROR_MEMORY;
  for (int s = 0; s < n; s++) {
    const Layer* l = &w->layer[s];
    item[s] = (tbBroadItem){l->box, s, !l->moving->fixed};
    if (!l->moving->self || l->moving->rigid || l->moving->fixed || l->surface->ntriangle == 0) continue;
    if (is_known(w, s, s)) continue;
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
    tbSurfaceNodes t = ((const tbSurfaceNodes*)w->task.data)[head++], part[3];
    bool leaves;
    int parts = tb_surface_nodes_split(w->layer, t, part, &leaves);
    TB_TRY(leaves ? tb_array_push(ctx, &w->task, &t, 1) : tb_array_push(ctx, &w->task, part, (size_t)parts));
    stuck = leaves ? stuck + 1 : 0;
  }
  w->task.count -= head;
  if (head > 0)
    memmove(w->task.data, (tbSurfaceNodes*)w->task.data + head, w->task.count * sizeof(tbSurfaceNodes));
  return TB_OK;
}

static tbSurfaceKeys* begin_keys(Find* w, int piece)
{
  tbSurfaceKeys* keys = &w->found[piece];
  *keys =
      (tbSurfaceKeys){tb_shared_context(&w->shared), TB_ARRAY(tbSurfaceKey), TB_ARRAY(tbSurfaceKey), TB_OK};
  return keys;
}

// Whether there are too many, once these are counted, too: of all tasks, in whatever order they run.
static bool is_crowded(Find* w, size_t more)
{
  if (w->most == 0) return false;
  pthread_mutex_lock(&w->shared.lock);
  w->total += more;
  bool crowded = w->total > w->most;
  pthread_mutex_unlock(&w->shared.lock);
  return crowded;
}

static void run_piece(void* user, int begin, int end, int piece)
{
  Find* w = user;
  tbSurfaceKeys* keys = begin_keys(w, piece);
  size_t counted = 0;
  for (int i = begin; i < end && !is_crowded(w, keys->face_vertex.count + keys->edge_edge.count - counted);
       i++) {
    counted = keys->face_vertex.count + keys->edge_edge.count;
    tb_surface_nodes_meet(w->layer, ((const tbSurfaceNodes*)w->task.data)[i], keys);
  }
  is_crowded(w, keys->face_vertex.count + keys->edge_edge.count - counted);
}

static void run_close(void* user, int begin, int end, int piece)
{
  (void)end, (void)piece;
  Find* w = user;
  const Close* c = (const Close*)w->close.data + begin;
  tb_surface_close_meet(&w->layer[c->layer], c->begin, c->end, begin_keys(w, w->npiece + begin));
}

// What is known of surfaces whose boxes still hold.
static void keep_known(Find* w, tbSurfaceKeys* keys)
{
  for (int k = 0; w->fresh && k < 2; k++) {
    const tbArray* old = k == 0 ? &w->old->face_vertex : &w->old->edge_edge;
    for (size_t i = 0; keys->status == TB_OK && i < old->count; i++) {
      const tbSurfaceFeatures* f = (const tbSurfaceFeatures*)old->data + i;
      if (!is_known(w, f->surface_a, f->surface_b)) continue;
      const Layer *a = &w->layer[f->surface_a], *b = &w->layer[f->surface_b];
      tbSurfaceKey key = {(uint32_t)((k == 0 ? a->first_triangle : a->first_edge) + f->feature_a),
                          (uint32_t)((k == 0 ? b->first_vertex : b->first_edge) + f->feature_b)};
      keys->status = tb_array_push(&keys->ctx, k == 0 ? &keys->face_vertex : &keys->edge_edge, &key, 1);
    }
  }
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
  const tbMovingSurface* m = &w->scene->surface[s];
  const Layer* l = &w->layer[s];
  int body = w->scene->plane[plane].body;
  tbVec3 normal[2];
  double offset[2];
  if (!tb_surface_may_touch(w->scene, body, m->body)) return TB_OK;
  plane_ahead(w, &w->scene->plane[plane], normal, offset);
  if (m->fixed || (m->rigid && !w->scene->rigid_pairs) || tb_box_is_empty(&l->box) ||
      !reaches(&l->box, normal, offset, l->grow))
    return TB_OK;
  for (int v = 0; v < m->surface->nvertex; v++) {
    if (m->holder && (m->holder[v] == TB_HELD_FAST || m->holder[v] == body)) continue;
    if (!reaches(&l->vertex[v], normal, offset, w->reach + m->radius)) continue;
    tbSurfaceFeatures f = {TB_SURFACE_PLANE_VERTEX, plane, s, 0, v};
    TB_TRY(tb_array_push(ctx, found, &f, 1));
  }
  return TB_OK;
}

// ---- the whole ----

// A stable counting sort by one of the two numbers, of which there are n.
static void sort_by(bool by_b, const tbSurfaceKey* from, tbSurfaceKey* to, size_t count, int n, size_t* start)
{
  memset(start, 0, ((size_t)n + 1) * sizeof *start);
  for (size_t i = 0; i < count; i++) start[(by_b ? from[i].b : from[i].a) + 1]++;
  for (int k = 0; k < n; k++) start[k + 1] += start[k];
  for (size_t i = 0; i < count; i++) to[start[by_b ? from[i].b : from[i].a]++] = from[i];
}

// All that the pieces found of one kind, in order.
static tbStatus collect(tbArena* arena, const Find* w, bool faces, int npiece, tbSurfaceKey** out,
                        size_t* count)
{
  int na = faces ? w->ntriangle : w->nedge, nb = faces ? w->nvertex : w->nedge;
  *count = 0;
  for (int p = 0; p < npiece; p++)
    *count += faces ? w->found[p].face_vertex.count : w->found[p].edge_edge.count;
  tbSurfaceKey *all = TB_TAKE(arena, tbSurfaceKey, *count), *half = TB_TAKE(arena, tbSurfaceKey, *count);
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

static void write_features(const Find* w, bool faces, const tbSurfaceKey* key, size_t count, tbArray* out)
{
  tbSurfaceFeatures* f = out->data;
  int s = 0;
  for (size_t i = 0; i < count; i++) {
    int a = (int)key[i].a, b = (int)key[i].b, t = faces ? w->vertex_surface[b] : w->edge_surface[b];
    if (!faces) s = w->edge_surface[a];
    while (faces && a >= w->layer[s].first_triangle + w->layer[s].surface->ntriangle) s++;
    f[i].kind = faces ? TB_SURFACE_FACE_VERTEX : TB_SURFACE_EDGE_EDGE;
    f[i].surface_a = s, f[i].surface_b = t;
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
                       tbSurfaceCandidates* out)
{
  tbSurfaceKey *faces = NULL, *edges = NULL;
  size_t nface = 0, nedge = 0;
  for (int p = 0; p < npiece; p++)
    if (w->found[p].status != TB_OK) return tb_surface_fail(ctx, w->found[p].status);
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
  tb_surface_ways(ctx, w->scene, &out->face_vertex, out->face_way.data);
  tb_surface_ways(ctx, w->scene, &out->edge_edge, out->edge_way.data);
  out->face_way.count = nface, out->edge_way.count = nedge;
  out->plane_vertex.count = 0, out->box.count = 0, out->own.count = 0;
  TB_TRY(tb_array_push(ctx, &out->plane_vertex, planes->data, planes->count));
  TB_TRY(tb_array_push(ctx, &out->box, w->box, (size_t)w->nvertex));
  return tb_array_push(ctx, &out->own, w->own, (size_t)w->nvertex);
}

static tbStatus find(tbContext* ctx, tbArena* arena, Find* w, tbArray* pairs, tbArray* planes,
                     tbSurfaceCandidates* out)
{
  TB_TRY(tb_surface_search_layers(ctx, arena, w));
  for (int p = 0; p < w->scene->nplane; p++)
    for (int s = 0; s < w->scene->nsurface; s++) TB_TRY(meet_plane(ctx, w, p, s, planes));
  TB_TRY(make_tasks(ctx, arena, w, pairs));
  TB_TRY(tb_surface_search_trees(ctx, arena, w));
  TB_TRY(split_tasks(ctx, w));
  int count = (int)w->task.count, nclose = (int)w->close.count;
  w->npiece = tb_piece_count(count, TASK_GRAIN);
  int npiece = w->npiece + nclose + 1;
  w->found = TB_TAKE(arena, tbSurfaceKeys, (size_t)npiece);
  if (!w->found) return TB_ERROR_MEMORY;
  tb_shared_begin(&w->shared, ctx);
  tb_parallel_for(ctx->threads, count, TASK_GRAIN, run_piece, w);
  tb_parallel_for(ctx->threads, nclose, 1, run_close, w);
  keep_known(w, begin_keys(w, npiece - 1));
  tb_shared_end(&w->shared);
  tbStatus status = TB_OK;
  if (w->most == 0 || w->total <= w->most) status = finish(ctx, arena, w, npiece, planes, out);
  for (int p = 0; p < npiece; p++) {
    tb_array_free(ctx, &w->found[p].face_vertex);
    tb_array_free(ctx, &w->found[p].edge_edge);
  }
  return status;
}

static tbStatus mark_fresh(tbArena* arena, Find* w)
{
  const tbBox *box = w->old->box.data, *own = w->old->own.data;
  w->fresh = TB_TAKE(arena, bool, (size_t)w->scene->nsurface);
  if (!w->fresh) return TB_ERROR_MEMORY;
  size_t n = 0;
  for (int s = 0; s < w->scene->nsurface; s++) {
    w->fresh[s] = tb_surface_is_inside(&w->scene->surface[s], box + n, own + n);
    n += (size_t)w->scene->surface[s].surface->nvertex;
  }
  assert(n == w->old->box.count); // of the same scene
  return TB_OK;
}

static tbStatus run(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                    tbSurfaceCandidates* candidates, bool renew, size_t most, bool* few)
{
  tbArena own, *arena = renew || !candidates->scratch ? &own : candidates->scratch;
  tb_arena_init(&own, ctx);
  Find w = {.scene = scene,
            .reach = reach,
            .ahead = ahead,
            .task = TB_ARRAY(tbSurfaceNodes),
            .close = TB_ARRAY(Close),
            .most = most};
  tbArray pairs = TB_ARRAY(tbPair), planes = TB_ARRAY(tbSurfaceFeatures);
  w.old = candidates;
  tbStatus status = renew ? mark_fresh(arena, &w) : TB_OK;
  if (status == TB_OK) status = find(ctx, arena, &w, &pairs, &planes, candidates);
  *few = most == 0 || w.total <= most;
  tb_array_free(ctx, &w.task);
  tb_array_free(ctx, &w.close);
  tb_array_free(ctx, &pairs);
  tb_array_free(ctx, &planes);
  tb_arena_free(&own);
  return status;
}

tbStatus tb_surface_find(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                         tbSurfaceCandidates* candidates)
{
  bool few;
  return run(ctx, scene, reach, ahead, candidates, false, 0, &few);
}

tbStatus tb_surface_find_few(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                             size_t most, tbSurfaceCandidates* candidates, bool* few)
{
  return run(ctx, scene, reach, ahead, candidates, false, most, few);
}

tbStatus tb_surface_mesh_renew(tbContext* ctx, const tbSurfaceScene* scene, double reach, double ahead,
                               tbSurfaceCandidates* candidates)
{
  bool few;
  return run(ctx, scene, reach, ahead, candidates, true, 0, &few);
}
