// SPDX-License-Identifier: Apache-2.0
// Vertices close to faces, by a tree of balls in motion.
//
// Thick sheets touch where vertices come close to faces; edges in between are closer by a small part of the
// thickness only. A ball has a centre c, a radius r, a mean motion m and a spread s about it: all that is in
// it stays within r of c at the start and moves by m, give or take s. Of two balls nothing comes closer than
// d as long as
//
//   |c_a − c_b| > d + r_a + r_b + |m_a − m_b| + s_a + s_b
//
// so that what moves together costs nothing, however fast. Triangles are taken in the order of their
// surface's tree, eight to a ball, eight of these to a ball of the next level; vertices in the order of the
// triangles that own them, eight to a ball that goes down the tree. Eight balls are compared at once, in
// floats with what rounding may hide added to d.
//
// Cost      linear in vertices and triangles where few are close; n log n at most for a surface that lies
// flat.
#include "collide/surfaces_balls.h"

#include "base/shared.h"
#include "base/simd_float.h"
#include "base/sort.h"
#include "base/threads.h"
#include "collide/surfaces_pair.h"

enum { EIGHT = 8, PIECE = 32, LEVELS = 11 }; // groups of vertices of a piece; 8^11 > INT_MAX

static const double FARTHEST = 1e12; // m: coordinates beyond are lost to rounding

typedef struct {
  float c[3], r, m[3], s;
} Ball;

// Eight of them, lane by lane. A lane without one is nowhere.
typedef struct {
  float c[3][EIGHT], r[EIGHT], m[3][EIGHT], s[EIGHT];
} Balls;

typedef struct {
  int levels, count[LEVELS]; // of Balls
  Balls* level[LEVELS];      // level[0]: triangles; level[k + 1]: balls around those of level k
  int* vertex;               // in the order of their owners                           (nvertex)
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

static void load(const Balls* of, int lane, Ball* out)
{
  for (int k = 0; k < 3; k++) out->c[k] = of->c[k][lane], out->m[k] = of->m[k][lane];
  out->r = of->r[lane], out->s = of->s[lane];
}

static void store(const Ball* b, Balls* of, int lane)
{
  for (int k = 0; k < 3; k++) of->c[k][lane] = b->c[k], of->m[k][lane] = b->m[k];
  of->r[lane] = b->r, of->s[lane] = b->s;
}

static const Ball NOWHERE = {.c = {INFINITY, INFINITY, INFINITY}};

static float apart(const float a[3], const float b[3])
{
  float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrtf(x * x + y * y + z * z);
}

// Around a few: in the middle of their box, with the middle of their motions.
static Ball around(const Ball* b, int count)
{
  Ball out = {.r = 0};
  for (int k = 0; k < 3; k++) {
    float lo = b[0].c[k], hi = lo, slow = b[0].m[k], fast = slow;
    for (int i = 1; i < count; i++) {
      float c = b[i].c[k], m = b[i].m[k];
      lo = c < lo ? c : lo, hi = c > hi ? c : hi;
      slow = m < slow ? m : slow, fast = m > fast ? m : fast;
    }
    out.c[k] = 0.5f * lo + 0.5f * hi, out.m[k] = 0.5f * slow + 0.5f * fast;
  }
  for (int i = 0; i < count; i++) {
    float r = apart(out.c, b[i].c) + b[i].r, s = apart(out.m, b[i].m) + b[i].s;
    out.r = r > out.r ? r : out.r, out.s = s > out.s ? s : out.s;
  }
  return out;
}

// Which of eight balls something of b may come within d of: bit k for lane k.
static unsigned meets(const Ball* b, const Balls* of, float d)
{
  tb8f way = tb8_set1(0), motion = way;
  for (int k = 0; k < 3; k++) {
    tb8f c = tb8_sub(tb8_set1(b->c[k]), tb8_load(of->c[k])),
         m = tb8_sub(tb8_set1(b->m[k]), tb8_load(of->m[k]));
    way = tb8_add(way, tb8_mul(c, c)), motion = tb8_add(motion, tb8_mul(m, m));
  }
  tb8f own = tb8_set1(b->r + b->s + d),
       reach = tb8_add(tb8_sqrt(motion), tb8_add(tb8_load(of->r), tb8_load(of->s)));
  reach = tb8_add(reach, own);
  return (unsigned)tb8_at_most(way, tb8_mul(reach, reach));
}

static Ball vertex_ball(const Search* s, const tbMovingSurface* m, int vertex)
{
  tbVec3 x = tb_sub3(m->start[vertex], s->origin), way = tb_sub3(m->end[vertex], m->start[vertex]);
  tbVec3 v = tb_scale3(s->ahead, tb_sub3(way, s->drift));
  return (Ball){.c = {(float)x.x, (float)x.y, (float)x.z}, .m = {(float)v.x, (float)v.y, (float)v.z}};
}

// ---- the tree ----

typedef struct {
  const Search* search;
  const tbMovingSurface* surface;
  Tree* tree;
  int level;
} Making;

static void make_triangles(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Making* job = user;
  const tbSurfaceMesh* mesh = job->surface->surface;
  for (int i = begin; i < end; i++)
    for (int lane = 0; lane < EIGHT; lane++) {
      int at = EIGHT * i + lane;
      Ball corner[3], ball = NOWHERE;
      for (int k = 0; at < mesh->ntriangle && k < 3; k++)
        corner[k] = vertex_ball(job->search, job->surface, mesh->triangle[mesh->bvh.order[at]][k]);
      if (at < mesh->ntriangle) ball = around(corner, 3);
      store(&ball, &job->tree->level[0][i], lane);
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
      Ball child[EIGHT], ball = NOWHERE;
      for (int k = 0; at < below && k < EIGHT; k++) {
        load(&job->tree->level[job->level - 1][at], k, &child[count]);
        count += child[count].c[0] < INFINITY;
      }
      if (count > 0) ball = around(child, count);
      store(&ball, &job->tree->level[job->level][i], lane);
    }
}

// Vertices by the triangle that owns them: neighbours follow each other.
static void order_vertices(const tbSurfaceMesh* mesh, int* out)
{
  int count = 0;
  for (int i = 0; i < mesh->ntriangle; i++) {
    int t = mesh->bvh.order[i];
    for (int k = 0; k < 3; k++)
      if (mesh->owns[t] & TB_SURFACE_OWNS_VERTEX << k) out[count++] = mesh->triangle[t][k];
  }
}

static tbStatus make_tree(tbContext* ctx, tbArena* arena, const Search* s, const tbMovingSurface* m,
                          Tree* tree)
{
  Making job = {s, m, tree, 0};
  tree->vertex = TB_TAKE(arena, int, (size_t)m->surface->nvertex);
  if (!tree->vertex) return TB_ERROR_MEMORY;
  order_vertices(m->surface, tree->vertex);
  for (int count = tb_piece_count(m->surface->ntriangle, EIGHT);; job.level++) {
    tree->count[job.level] = count;
    tree->level[job.level] = TB_TAKE(arena, Balls, (size_t)count);
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
  Ball ball[EIGHT], all;
} Group;

static Group group_of(const Search* s, int surface, int index)
{
  const tbMovingSurface* m = &s->scene->surface[surface];
  Group g = {.surface = surface};
  for (int at = EIGHT * index; g.count < EIGHT && at < m->surface->nvertex; at++) {
    g.vertex[g.count] = s->tree[surface].vertex[at];
    g.ball[g.count] = vertex_ball(s, m, g.vertex[g.count]);
    g.count++;
  }
  g.all = around(g.ball, g.count);
  return g;
}

// A group and eight triangles.
static tbStatus look_at(tbContext* ctx, const Search* s, const Group* g, int ia, int index, float d,
                        tbArray* out)
{
  const tbMovingSurface *a = &s->scene->surface[ia], *b = &s->scene->surface[g->surface];
  for (int v = 0; v < g->count; v++)
    for (unsigned hit = meets(&g->ball[v], &s->tree[ia].level[0][index], d); hit; hit &= hit - 1) {
      int t = a->surface->bvh.order[EIGHT * index + __builtin_ctz(hit)];
      tbSurfaceContact found;
      if (!may_touch(a, t, b, g->vertex[v]) || !close(s, ia, t, g->surface, g->vertex[v], &found)) continue;
      TB_TRY(tb_array_push(ctx, out, &found, 1));
    }
  return TB_OK;
}

// A group and all triangles of a surface: down its tree.
static tbStatus look_into(tbContext* ctx, const Search* s, const Group* g, int ia, tbArray* out)
{
  const Tree* tree = &s->tree[ia];
  const tbMovingSurface *a = &s->scene->surface[ia], *b = &s->scene->surface[g->surface];
  if ((a == b && !a->self) || (a != b && a->rigid && b->rigid) || a->surface->ntriangle == 0) return TB_OK;
  if (!tb_surface_may_touch(s->scene, a->body, b->body)) return TB_OK;
  float d = (float)(s->reach + a->radius + b->radius) * (1 + 1e-6f) + s->slack;
  struct {
    int level, index;
  } stack[EIGHT * LEVELS] = {{tree->levels - 1, 0}};
  for (int n = 1; n > 0;) {
    int level = stack[--n].level, index = stack[n].index;
    if (level == 0) {
      TB_TRY(look_at(ctx, s, g, ia, index, d, out));
      continue;
    }
    for (unsigned hit = meets(&g->all, &tree->level[level][index], d); hit; hit &= hit - 1)
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
