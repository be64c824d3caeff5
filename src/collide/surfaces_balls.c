// SPDX-License-Identifier: Apache-2.0
// Vertices close to faces, by a tree of balls in motion (balls.h).
//
// Thick sheets touch where vertices come close to faces; edges in between are closer by a small part of the
// thickness only. Triangles are taken by patches of their surface at rest, eight to a ball, eight of these to
// a ball of the next level; vertices by patches of theirs, eight to a ball that goes down the tree. Eight
// balls, then eight triangles, are compared with a vertex at once, in floats with what rounding may hide
// added to the distance; what is left is looked at in doubles.
//
// Cost      linear in vertices and triangles where few are close; n log n at most for a surface that lies
// flat.
#include "collide/surfaces_balls.h"

#include "base/memory.h"
#include "base/shared.h"
#include "base/sort.h"
#include "base/threads.h"
#include "collide/balls.h"
#include "collide/surfaces_pair.h"

enum { EIGHT = TB_EIGHT, PIECE = 32, LEVELS = 11 }; // groups of vertices of a piece; 8^11 > INT_MAX

static const double FARTHEST = 1e12; // m: coordinates beyond are lost to rounding

typedef struct {
  int levels, count[LEVELS]; // of tbBalls
  tbBalls* level[LEVELS];    // level[0]: triangles; level[k + 1]: balls around those of level k
  tbTriangles8* triangles;   // those of level[0]
  tbBall* ball;              // of a vertex                                            (nvertex)
} Tree;

typedef struct {
  const tbSurfaceScene* scene;
  double ahead, reach;
  tbVec3 origin, drift;
  float slack;
  Tree* tree;       // of a surface
  int* group;       // of vertices: the first of a surface                         (nsurface+1)
  tbArray* found;   // per piece of groups                                          tbSurfaceContact
  tbStatus* status; // per piece
  tbShared shared;
} Search;

// ---- the tree ----

typedef struct {
  const Search* search;
  const tbMovingSurface* surface;
  Tree* tree;
  int level;
} Making;

static void make_vertices(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Making* job = user;
  const Search* s = job->search;
  const tbMovingSurface* m = job->surface;
  for (int i = begin; i < end; i++) {
    tbVec3 x = tb_sub3(m->start[i], s->origin), way = tb_sub3(m->end[i], m->start[i]);
    tbVec3 v = tb_scale3(s->ahead, tb_sub3(way, s->drift));
    job->tree->ball[i] =
        (tbBall){.c = {(float)x.x, (float)x.y, (float)x.z}, .m = {(float)v.x, (float)v.y, (float)v.z}};
  }
}

// The middle of what three corners have in every lane, and how far they are from it at most.
static void surround(const float corner[3][3][EIGHT], float middle[3][EIGHT], float radius[EIGHT])
{
  const tb8f half = tb8_set1(0.5f);
  tb8f mid[3], most = tb8_set1(0);
  for (int k = 0; k < 3; k++) {
    tb8f a = tb8_load(corner[0][k]), b = tb8_load(corner[1][k]), c = tb8_load(corner[2][k]);
    tb8f lo = tb8_min(tb8_min(a, b), c), hi = tb8_max(tb8_max(a, b), c);
    mid[k] = tb8_add(tb8_mul(half, lo), tb8_mul(half, hi));
    tb8_store(middle[k], mid[k]);
  }
  for (int i = 0; i < 3; i++) {
    tb8f way[3];
    for (int k = 0; k < 3; k++) way[k] = tb8_sub(tb8_load(corner[i][k]), mid[k]);
    most = tb8_max(most, tb8_dot(way, way));
  }
  tb8_store(radius, tb8_sqrt(most));
}

static void make_triangles(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Making* job = user;
  const tbSurfaceMesh* mesh = job->surface->surface;
  for (int i = begin; i < end; i++) {
    float x[3][3][EIGHT] = {0}, m[3][3][EIGHT] = {0};
    tbBalls* out = &job->tree->level[0][i];
    int count = mesh->ntriangle - EIGHT * i < EIGHT ? mesh->ntriangle - EIGHT * i : EIGHT;
    for (int lane = 0; lane < count; lane++) {
      const int* node = mesh->triangle[mesh->triangle_patch[EIGHT * i + lane]];
      for (int c = 0; c < 3; c++) {
        const tbBall* corner = &job->tree->ball[node[c]];
        for (int k = 0; k < 3; k++) x[c][k][lane] = corner->c[k], m[c][k][lane] = corner->m[k];
      }
    }
    surround(x, out->c, out->r);
    surround(m, out->m, out->s);
    tb_triangles8_make(x, &job->tree->triangles[i]);
    for (int lane = count; lane < EIGHT; lane++) tb_ball_store(&TB_NOWHERE, out, lane);
  }
}

static void make_level(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Making* job = user;
  int below = job->tree->count[job->level - 1];
  for (int i = begin; i < end; i++)
    for (int lane = 0; lane < EIGHT; lane++) {
      int at = EIGHT * i + lane, count = 0;
      tbBall child[EIGHT], ball = TB_NOWHERE;
      for (int k = 0; at < below && k < EIGHT; k++) {
        tb_ball_load(&job->tree->level[job->level - 1][at], k, &child[count]);
        count += child[count].c[0] < INFINITY;
      }
      if (count > 0) ball = tb_ball_around(child, count);
      tb_ball_store(&ball, &job->tree->level[job->level][i], lane);
    }
}

static tbStatus make_tree(tbContext* ctx, tbArena* arena, const Search* s, const tbMovingSurface* m,
                          Tree* tree)
{
  Making job = {s, m, tree, 0};
  int count = tb_piece_count(m->surface->ntriangle, EIGHT);
  tree->ball = TB_TAKE_UNSET(arena, tbBall, (size_t)m->surface->nvertex);
  tree->triangles = TB_TAKE_UNSET(arena, tbTriangles8, (size_t)count);
  if (!tree->ball || !tree->triangles) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, m->surface->nvertex, 1024, make_vertices, &job);
  for (;; job.level++) {
    tree->count[job.level] = count;
    tree->level[job.level] = TB_TAKE_UNSET(arena, tbBalls, (size_t)count);
    if (!tree->level[job.level]) return TB_ERROR_MEMORY;
    tb_parallel_for(ctx->threads, count, 64, job.level ? make_level : make_triangles, &job);
    tree->levels = job.level + 1;
    if (count <= 1) return TB_OK;
    count = tb_piece_count(count, EIGHT);
  }
}

// ---- the search ----

static bool may_touch(const tbMovingSurface* a, int triangle, const tbMovingSurface* b, int vertex)
{
  if (a != b) return !(a->rigid && b->rigid);
  const int* corner = a->surface->triangle[triangle];
  return a->self && corner[0] != vertex && corner[1] != vertex && corner[2] != vertex;
}

// Whether no point of the surface beside the closest one of a triangle is closer: where that is on a side,
// the triangle beyond it must turn away, on a corner all sides that end there. `way`: from it to the vertex.
// Otherwise the vertex is in front of another triangle, which says where it will meet the surface.
static bool is_closest_around(const tbMovingSurface* m, int triangle, const double weight[3], tbVec3 way)
{
  const tbSurfaceMesh* mesh = m->surface;
  const int* corner = mesh->triangle[triangle];
  int zeros = 0, zero = 0, end = 0;
  for (int k = 0; k < 3; k++)
    if (weight[k] == 0) zeros++, zero = k;
    else end = k;
  if (zeros == 0) return true;
  tbVec3 from = m->start[corner[end]];
  if (zeros == 2) end = corner[end];
  int edge = mesh->triangle_edge[triangle][(zero + 1) % 3];
  const int* beside = zeros == 1 ? mesh->edge_triangle[edge] : mesh->star + mesh->star_adr[end];
  int count = zeros == 1 ? 2 : mesh->star_adr[end + 1] - mesh->star_adr[end];
  for (int i = 0; i < count; i++)
    for (int k = 0; beside[i] >= 0 && beside[i] != triangle && k < 3; k++) {
      tbVec3 to = tb_sub3(m->start[mesh->triangle[beside[i]][k]], from);
      if (tb_dot3(to, way) > 1e-9 * tb_norm3(to) * tb_norm3(way)) return false;
    }
  return true;
}

// Whether the vertex is close to the triangle, or comes there as it goes.
static bool close(const Search* s, int ia, int triangle, int ib, int vertex, tbSurfaceContact* out)
{
  tbSurfaceFeatures of = {TB_SURFACE_FACE_VERTEX, ia, ib, triangle, vertex};
  const tbMovingSurface *a = &s->scene->surface[ia], *b = &s->scene->surface[ib];
  const int* corner = a->surface->triangle[triangle];
  tbVec3 x[4] = {b->start[vertex], a->start[corner[0]], a->start[corner[1]], a->start[corner[2]]};
  tbClosest closest = tb_closest_features(true, x);
  tbVec3 way = tb_sub3(b->end[vertex], b->start[vertex]);
  double most = tb_norm3(closest.way), keep = s->reach + a->radius + b->radius;
  for (int k = 0; k < 3; k++)
    way = tb_madd3(way, -closest.weight[k + 1], tb_sub3(a->end[corner[k]], a->start[corner[k]]));
  if (most > (keep + s->ahead * tb_norm3(way)) * (1 + 1e-9)) return false;
  if (!tb_surface_reports(s->scene, &of, closest.weight + 1)) return false;
  if (!is_closest_around(a, triangle, closest.weight + 1, closest.way)) return false;
  *out = tb_surface_corners(s->scene, &of);
  tb_surface_weigh(out, closest.weight);
  if (!tb_surface_normal(s->scene, out, x, closest.way, &out->normal)) return false;
  out->gap = tb_dot3(out->normal, closest.way);
  double comes = -tb_dot3(out->normal, way);
  return out->gap - s->ahead * (comes > 0 ? comes : 0) <= keep;
}

// Eight vertices of one surface, or fewer.
typedef struct {
  int surface, count;
  int vertex[EIGHT];
  tbBall ball[EIGHT], all;
  tbBalls balls; // the same
} Group;

static Group group_of(const Search* s, int surface, int index)
{
  const tbMovingSurface* m = &s->scene->surface[surface];
  Group g = {.surface = surface};
  for (int at = EIGHT * index; g.count < EIGHT && at < m->surface->nvertex; at++) {
    g.vertex[g.count] = m->surface->vertex_patch[at];
    g.ball[g.count] = s->tree[surface].ball[g.vertex[g.count]];
    g.count++;
  }
  g.all = tb_ball_around(g.ball, g.count);
  for (int i = 0; i < EIGHT; i++) tb_ball_store(i < g.count ? &g.ball[i] : &TB_NOWHERE, &g.balls, i);
  return g;
}

// A group and eight triangles: vertices that are close to the ball around these, then triangles that are
// close to each of them.
static tbStatus look_at(tbContext* ctx, const Search* s, const Group* g, int ia, int index, float d,
                        tbArray* out)
{
  const tbMovingSurface *a = &s->scene->surface[ia], *b = &s->scene->surface[g->surface];
  const Tree* tree = &s->tree[ia];
  const tbBalls* balls = &tree->level[0][index];
  unsigned near = (1u << g->count) - 1;
  if (tree->levels > 1) {
    tbBall all;
    tb_ball_load(&tree->level[1][index / EIGHT], index % EIGHT, &all);
    near = tb_balls_meet(&all, &g->balls, d);
  }
  for (; near; near &= near - 1) {
    int v = __builtin_ctz(near);
    unsigned hit = tb_balls_meet(&g->ball[v], balls, d);
    if (hit) hit &= tb_triangles8_meet(&g->ball[v], &tree->triangles[index], balls, d, 4 * s->slack);
    for (; hit; hit &= hit - 1) {
      int t = a->surface->triangle_patch[EIGHT * index + __builtin_ctz(hit)];
      tbSurfaceContact found;
      if (!may_touch(a, t, b, g->vertex[v]) || !close(s, ia, t, g->surface, g->vertex[v], &found)) continue;
      TB_TRY(tb_array_push(ctx, out, &found, 1));
    }
  }
  return TB_OK;
}

// A group and all triangles of a surface: down its tree.
static tbStatus look_into(tbContext* ctx, const Search* s, const Group* g, int ia, tbArray* out)
{
  const Tree* tree = &s->tree[ia];
  const tbMovingSurface *a = &s->scene->surface[ia], *b = &s->scene->surface[g->surface];
  if ((a == b && !a->self) || (a != b && a->rigid && b->rigid) || a->surface->ntriangle == 0) return TB_OK;
  if ((a->fixed && b->fixed) || !tb_surface_may_touch(s->scene, a->body, b->body)) return TB_OK;
  float d = (float)fmin(s->reach + a->radius + b->radius, 4 * FARTHEST) * (1 + 1e-6f) + s->slack;
  struct {
    int level, index;
  } stack[EIGHT * LEVELS] = {{tree->levels - 1, 0}};
  for (int n = 1; n > 0;) {
    int level = stack[--n].level, index = stack[n].index;
    if (level == 0) {
      TB_TRY(look_at(ctx, s, g, ia, index, d, out));
      continue;
    }
    for (unsigned hit = tb_balls_meet(&g->all, &tree->level[level][index], d); hit; hit &= hit - 1)
      stack[n].level = level - 1, stack[n++].index = EIGHT * index + __builtin_ctz(hit);
  }
  return TB_OK;
}

static void look(void* user, int begin, int end, int piece)
{
  Search* s = user;
  tbContext own = tb_shared_context(&s->shared);
  for (int i = begin, surface = 0; i < end && s->status[piece] == TB_OK; i++) {
    while (i >= s->group[surface + 1]) surface++;
    Group g = group_of(s, surface, i - s->group[surface]);
    for (int a = 0; a < s->scene->nsurface && s->status[piece] == TB_OK; a++)
      s->status[piece] = look_into(&own, s, &g, a, &s->found[piece]);
  }
}

static int by_features(const void* x, const void* y)
{
  return tb_surface_features_order(&((const tbSurfaceContact*)x)->of, &((const tbSurfaceContact*)y)->of);
}

static tbStatus collect(tbContext* ctx, tbArena* arena, Search* s, tbArray* contacts)
{
  int groups = s->group[s->scene->nsurface], pieces = tb_piece_count(groups, PIECE);
  s->found = TB_TAKE(arena, tbArray, (size_t)pieces);
  s->status = TB_TAKE(arena, tbStatus, (size_t)pieces);
  if (!s->found || !s->status) return TB_ERROR_MEMORY;
  for (int p = 0; p < pieces; p++) s->found[p] = TB_ARRAY(tbSurfaceContact);
  size_t first = contacts->count;
  tbStatus status = TB_OK;
  tb_shared_begin(&s->shared, ctx);
  tb_parallel_for(ctx->threads, groups, PIECE, look, s);
  tb_shared_end(&s->shared);
  for (int p = 0; p < pieces; p++) {
    if (status == TB_OK && s->status[p] != TB_OK) status = tb_surface_fail(ctx, s->status[p]);
    if (status == TB_OK) status = tb_array_push(ctx, contacts, s->found[p].data, s->found[p].count);
    tb_array_free(ctx, &s->found[p]);
  }
  if (status == TB_OK && contacts->count > first)
    tb_sort((tbSurfaceContact*)contacts->data + first, contacts->count - first, sizeof(tbSurfaceContact),
            by_features);
  return status;
}

// The middle of everything, what rounding to floats may hide, and the mean motion.
static bool measure(Search* s)
{
  tbVec3 lo = tb_vec3(INFINITY, INFINITY, INFINITY), hi = tb_neg3(lo), sum = tb_zero3();
  bool finite = true;
  for (int i = 0; i < s->scene->nsurface; i++) {
    const tbMovingSurface* m = &s->scene->surface[i];
    sum = tb_add3(sum, tb_surface_drift(m));
    for (int k = 0; k < m->surface->nvertex; k++) {
      tbVec3 x = m->start[k], y = m->end[k];
      finite &= tb_maxabs3(x) < FARTHEST && tb_maxabs3(y) < FARTHEST;
      lo = tb_vec3(x.x < lo.x ? x.x : lo.x, x.y < lo.y ? x.y : lo.y, x.z < lo.z ? x.z : lo.z);
      hi = tb_vec3(x.x > hi.x ? x.x : hi.x, x.y > hi.y ? x.y : hi.y, x.z > hi.z ? x.z : hi.z);
    }
  }
  s->origin = tb_scale3(0.5, tb_add3(lo, hi)), s->drift = tb_scale3(1.0 / s->scene->nsurface, sum);
  s->slack = (float)(2e-6 * tb_maxabs3(tb_sub3(hi, lo)));
  return finite;
}

tbStatus tb_surface_balls_near(tbContext* ctx, tbArena* arena, const tbSurfaceScene* scene, double reach,
                               double ahead, tbArray* contacts)
{
  Search s = {.scene = scene, .ahead = ahead, .reach = reach};
  if (scene->nsurface == 0) return TB_OK;
  s.tree = TB_TAKE(arena, Tree, (size_t)scene->nsurface);
  s.group = TB_TAKE(arena, int, (size_t)scene->nsurface + 1);
  if (!s.tree || !s.group) return TB_ERROR_MEMORY;
  if (!measure(&s)) return tb_fail(ctx, TB_ERROR_NUMERIC, "vertices of a surface are lost to rounding");
  for (int i = 0; i < scene->nsurface; i++) {
    s.group[i + 1] = s.group[i] + tb_piece_count(scene->surface[i].surface->nvertex, EIGHT);
    TB_TRY(make_tree(ctx, arena, &s, &scene->surface[i], &s.tree[i]));
  }
  return collect(ctx, arena, &s, contacts);
}
