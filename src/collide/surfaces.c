// SPDX-License-Identifier: Apache-2.0
#include "collide/surfaces.h"
#include "base/shared.h"
#include "base/stop.h"
#include "base/threads.h"
#include "collide/ccd.h"
#include "collide/surfaces_pair.h"
#include "geometry/box.h"

enum { GRAIN = 1024, ASK = 128 }; // candidates in a piece, and between questions whether to stop

static const double NOTHING = 1e-9; // a weight that rounding leaves

void tb_surface_candidates_init(tbSurfaceCandidates* c)
{
  *c = (tbSurfaceCandidates){TB_ARRAY(tbSurfaceFeatures),
                             TB_ARRAY(tbSurfaceFeatures),
                             TB_ARRAY(tbSurfaceFeatures),
                             TB_ARRAY(tbSurfaceWay),
                             TB_ARRAY(tbSurfaceWay),
                             TB_ARRAY(tbBox),
                             TB_ARRAY(tbBox),
                             NULL};
}

void tb_surface_candidates_free(tbContext* ctx, tbSurfaceCandidates* c)
{
  tb_array_free(ctx, &c->face_vertex);
  tb_array_free(ctx, &c->edge_edge);
  tb_array_free(ctx, &c->plane_vertex);
  tb_array_free(ctx, &c->face_way);
  tb_array_free(ctx, &c->edge_way);
  tb_array_free(ctx, &c->box);
  tb_array_free(ctx, &c->own);
}

int tb_surface_features_order(const tbSurfaceFeatures* a, const tbSurfaceFeatures* b)
{
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->surface_a != b->surface_a) return a->surface_a < b->surface_a ? -1 : 1;
  if (a->feature_a != b->feature_a) return a->feature_a < b->feature_a ? -1 : 1;
  if (a->surface_b != b->surface_b) return a->surface_b < b->surface_b ? -1 : 1;
  return (a->feature_b > b->feature_b) - (a->feature_b < b->feature_b);
}

tbVec3 tb_surface_drift(const tbMovingSurface* m)
{
  tbVec3 sum = tb_zero3();
  for (int v = 0; v < m->surface->nvertex; v++) sum = tb_add3(sum, tb_sub3(m->end[v], m->start[v]));
  return tb_scale3(1.0 / (m->surface->nvertex > 0 ? m->surface->nvertex : 1), sum);
}

bool tb_surface_is_inside(const tbMovingSurface* m, const tbBox* box, const tbBox* own)
{
  tbVec3 drift = tb_surface_drift(m);
  for (int v = 0; v < m->surface->nvertex; v++) {
    tbVec3 p = m->end[v], q = tb_sub3(p, drift);
    if (!tb_box_meets(&box[v], &(tbBox){p, p})) return false;
    if (m->self && !tb_box_meets(&own[v], &(tbBox){q, q})) return false;
  }
  return true;
}

bool tb_surface_inside(const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates)
{
  const tbBox *box = candidates->box.data, *own = candidates->own.data;
  size_t n = 0;
  for (int s = 0; s < scene->nsurface; s++) {
    size_t count = (size_t)scene->surface[s].surface->nvertex;
    if (n + count > candidates->box.count) return false;
    if (!tb_surface_is_inside(&scene->surface[s], box + n, own + n)) return false;
    n += count;
  }
  return n == candidates->box.count;
}

tbSurfaceContact tb_surface_corners(const tbSurfaceScene* scene, const tbSurfaceFeatures* f)
{
  tbSurfaceContact c = {.of = *f, .count_a = 0, .count_b = 1, .vertex_b = {f->feature_b}};
  if (f->kind == TB_SURFACE_FACE_VERTEX) {
    const int* v = scene->surface[f->surface_a].surface->triangle[f->feature_a];
    c.count_a = 3;
    for (int k = 0; k < 3; k++) c.vertex_a[k] = v[k];
  } else if (f->kind == TB_SURFACE_EDGE_EDGE) {
    const int *a = scene->surface[f->surface_a].surface->edge[f->feature_a],
              *b = scene->surface[f->surface_b].surface->edge[f->feature_b];
    c.count_a = c.count_b = 2;
    for (int k = 0; k < 2; k++) c.vertex_a[k] = a[k], c.vertex_b[k] = b[k];
  }
  return c;
}

// A surface where it is the mean of some vertices: all faces that hold those.
typedef struct {
  tbVec3 outward; // of a closed surface: of these faces. Unit, or zero
  tbVec3 lean;    // of an open one: the mean of their corners from there
} Around;

static Around around(const tbMovingSurface* s, const int* vertex, const double* weight, int count)
{
  Around out = {tb_zero3(), tb_zero3()};
  tbVec3 at = tb_zero3();
  int first = 0, corners = 0;
  for (int k = 0; k < count; k++) at = tb_madd3(at, weight[k], s->start[vertex[k]]);
  while (first + 1 < count && !(weight[first] > NOTHING)) first++;
  for (int i = s->surface->star_adr[vertex[first]]; i < s->surface->star_adr[vertex[first] + 1]; i++) {
    const int* v = s->surface->triangle[s->surface->star[i]];
    bool holds = true;
    for (int k = 0; k < count && holds; k++)
      holds = !(weight[k] > NOTHING) || v[0] == vertex[k] || v[1] == vertex[k] || v[2] == vertex[k];
    if (!holds) continue;
    tbVec3 x[4] = {tb_zero3(), s->start[v[0]], s->start[v[1]], s->start[v[2]]};
    out.outward = tb_add3(out.outward, tb_normal_of_features(true, x));
    for (int k = 1; k < 4; k++, corners++) out.lean = tb_add3(out.lean, tb_sub3(x[k], at));
  }
  out.outward = s->surface->closed ? tb_normalize3(out.outward) : tb_zero3();
  out.lean = tb_scale3(s->surface->closed || corners == 0 ? 0 : 1.0 / corners, out.lean);
  return out;
}

// Features that touch in a point, with n along their normal: the side of a that b is on. Out of what is
// solid; else where the rest of the two surfaces is, as far as it leans out of the plane. 0: that tells
// nothing, as of sheets in the same place.
static int side_by_surfaces(const tbSurfaceScene* scene, const tbSurfaceContact* c, tbVec3 n, double size,
                            tbVec3* out)
{
  Around a = around(&scene->surface[c->of.surface_a], c->vertex_a, c->weight_a, c->count_a),
         b = around(&scene->surface[c->of.surface_b], c->vertex_b, c->weight_b, c->count_b);
  *out = tb_sub3(a.outward, b.outward);
  double solid = tb_dot3(n, *out), lean = tb_dot3(n, tb_sub3(b.lean, a.lean));
  if (fabs(solid) > 1e-3) return solid < 0 ? -1 : 1;
  if (fabs(lean) > 1e-6 * size) return lean < 0 ? -1 : 1;
  return 0;
}

bool tb_surface_is_behind(const tbSurfaceScene* scene, const tbSurfaceContact* c)
{
  const double plainly = 0.1; // cosine: the faces around a sharp corner lean far from their mean
  if (c->of.kind == TB_SURFACE_PLANE_VERTEX || c->of.surface_a == c->of.surface_b) return false;
  const tbMovingSurface *a = &scene->surface[c->of.surface_a], *b = &scene->surface[c->of.surface_b];
  if (!a->solid || !b->solid) return false;
  return tb_dot3(c->normal, around(a, c->vertex_a, c->weight_a, c->count_a).outward) < -plainly &&
         tb_dot3(c->normal, around(b, c->vertex_b, c->weight_b, c->count_b).outward) > plainly;
}

bool tb_surface_normal(const tbSurfaceScene* scene, const tbSurfaceContact* c, const tbVec3 x[4], tbVec3 way,
                       tbVec3* normal)
{
  bool face = c->of.kind == TB_SURFACE_FACE_VERTEX;
  double size = 0, distance = tb_norm3(way);
  for (int k = 1; k < 4; k++) size = fmax(size, tb_maxabs3(tb_sub3(x[k], x[0])));
  *normal = tb_normalize3(way);
  if (distance > 1e-9 * size) return true;
  tbVec3 n = tb_normal_of_features(face, x);
  int side = distance > 1e-12 * size ? tb_side_of_features(face, x) : 0;
  if (side == 0) { // they touch, to what rounding can tell
    tbVec3 out;
    side = side_by_surfaces(scene, c, n, size, &out);
    bool inside = tb_maxabs3(n) > 0;
    for (int k = 0; k < c->count_a; k++) inside = inside && c->weight_a[k] > NOTHING;
    for (int k = 0; k < c->count_b; k++) inside = inside && c->weight_b[k] > NOTHING;
    if (!inside && tb_norm3(out) > 0.1) { // a corner on a corner, say: neither feature knows
      *normal = tb_normalize3(out);
      return true;
    }
    if (side == 0) return false;
  }
  if (tb_maxabs3(n) == 0) return distance > 0;
  *normal = side < 0 ? tb_neg3(n) : n;
  return true;
}

int tb_surface_closer_beyond(const tbMovingSurface* s, int triangle, const double weight[3], tbVec3 point,
                             double t, tbVec3* way)
{
  const int* own = s->surface->triangle[triangle];
  int first = 0, closer = -1;
  if (weight[0] > 0 && weight[1] > 0 && weight[2] > 0) return -1;
  while (first < 2 && !(weight[first] > 0)) first++;
  double least = tb_dot3(*way, *way) * (1 - 1e-9);
  for (int i = s->surface->star_adr[own[first]]; i < s->surface->star_adr[own[first] + 1]; i++) {
    const int* v = s->surface->triangle[s->surface->star[i]];
    bool holds = s->surface->star[i] != triangle;
    for (int k = 0; k < 3; k++)
      holds = holds && (!(weight[k] > 0) || v[0] == own[k] || v[1] == own[k] || v[2] == own[k]);
    if (!holds) continue;
    tbVec3 x[4] = {point};
    for (int k = 0; k < 3; k++) x[k + 1] = tb_lerp3(s->start[v[k]], s->end[v[k]], t);
    tbVec3 there = tb_closest_features(true, x).way;
    if (!(tb_dot3(there, there) < least)) continue;
    least = tb_dot3(there, there), *way = there, closer = s->surface->star[i];
  }
  return closer;
}

// Whether features that were apart at the start have passed through each other by the moment t.
static bool passed_through(bool face, const tbVec3 start[4], const tbVec3 x[4])
{
  int before = tb_side_of_features(face, start), after = tb_side_of_features(face, x);
  if (before * after >= 0) return false;
  tbCcdQuery query = {.kind = face ? TB_CCD_VERTEX_FACE : TB_CCD_EDGE_EDGE};
  for (int k = 0; k < 4; k++) query.start[k] = start[k], query.end[k] = x[k];
  tbCcdOptions options = tb_default_ccd_options();
  return tb_ccd(&query, &options, NULL);
}

bool tb_surface_contact_at(const tbSurfaceScene* scene, const tbSurfaceFeatures* features, double t,
                           tbSurfaceContact* out)
{
  tbSurfaceContact c = tb_surface_corners(scene, features);
  c.t = t;
  if (features->kind == TB_SURFACE_PLANE_VERTEX) {
    const tbMovingPlane* plane = &scene->plane[features->surface_a];
    c.weight_b[0] = 1;
    c.normal = tb_normalize3(tb_lerp3(plane->normal[0], plane->normal[1], t));
    c.gap = tb_surface_height(scene, features, false);
    *out = c;
    return true;
  }
  bool face = features->kind == TB_SURFACE_FACE_VERTEX;
  tbVec3 start[4], end[4], x[4];
  tb_surface_places(scene, &c, false, start);
  tb_surface_places(scene, &c, true, end);
  for (int k = 0; k < 4; k++) x[k] = tb_lerp3(start[k], end[k], t);
  tbClosest closest = tb_closest_features(face, x);
  tb_surface_weigh(&c, closest.weight);
  if (face && !closest.inside)
    tb_surface_closer_beyond(&scene->surface[features->surface_a], features->feature_a, c.weight_a, x[0], t,
                             &closest.way);
  if (tb_maxabs3(closest.way) == 0 || !tb_surface_normal(scene, &c, x, closest.way, &c.normal)) return false;
  if (closest.inside && passed_through(face, start, x)) c.normal = tb_neg3(c.normal);
  c.gap = tb_dot3(c.normal, tb_surface_way(start, &c));
  *out = c;
  return true;
}

// Candidates one after the other, by pieces of GRAIN.
typedef struct {
  const tbSurfaceScene* scene;
  const tbSurfaceFeatures* features;
  const tbSurfaceWay* way; // null for planes
  tbSurfaceTest* test;
  double distance;
  tbShared shared;
  tbArray* found; // tbSurfaceContact, by piece
  tbStatus* status;
} Gather;

static void gather_piece(void* user, int begin, int end, int piece)
{
  Gather* g = user;
  tbContext own = tb_shared_context(&g->shared);
  g->found[piece] = TB_ARRAY(tbSurfaceContact);
  for (int i = begin; i < end && g->status[piece] == TB_OK; i++) {
    tbSurfaceContact c;
    if (i % ASK == 0 && tb_asked(own.interrupt)) g->status[piece] = TB_ERROR_CANCELLED;
    else if (g->test(g->scene, &g->features[i], g->way ? &g->way[i] : NULL, g->distance, &c))
      g->status[piece] = tb_array_push(&own, &g->found[piece], &c, 1);
  }
}

tbStatus tb_surface_fail(tbContext* ctx, tbStatus status)
{
  return tb_fail(ctx, status, status == TB_ERROR_CANCELLED ? "cancelled" : "out of memory for contacts");
}

static tbStatus gather_kind(tbContext* ctx, Gather* g, const tbArray* candidates, const tbArray* ways,
                            tbArray* contacts)
{
  int count = (int)candidates->count, pieces = tb_piece_count(count, GRAIN);
  tbArena arena;
  tb_arena_init(&arena, ctx);
  g->features = candidates->data;
  g->way = ways ? ways->data : NULL;
  g->found = TB_TAKE(&arena, tbArray, (size_t)pieces);
  g->status = TB_TAKE(&arena, tbStatus, (size_t)pieces);
  tbStatus status = g->found && g->status ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    tb_shared_begin(&g->shared, ctx);
    tb_parallel_for(ctx->threads, count, GRAIN, gather_piece, g);
    tb_shared_end(&g->shared);
    for (int p = 0; p < pieces && status == TB_OK; p++)
      status = g->status[p] == TB_OK ? tb_array_push(ctx, contacts, g->found[p].data, g->found[p].count)
                                     : tb_surface_fail(ctx, g->status[p]);
    for (int p = 0; p < pieces; p++) tb_array_free(ctx, &g->found[p]);
  }
  tb_arena_free(&arena);
  return status;
}

tbStatus tb_surface_gather(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                           tbSurfaceTest* test, double distance, tbArray* contacts)
{
  const tbArray* kind[3] = {&candidates->face_vertex, &candidates->edge_edge, &candidates->plane_vertex};
  const tbArray* ways[3] = {&candidates->face_way, &candidates->edge_way, NULL};
  size_t before = contacts->count;
  Gather g = {.scene = scene, .test = test, .distance = distance};
  tbStatus status = TB_OK;
  for (int k = 0; k < 3 && status == TB_OK; k++) status = gather_kind(ctx, &g, kind[k], ways[k], contacts);
  if (status != TB_OK) contacts->count = before;
  return status;
}
