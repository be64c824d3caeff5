// SPDX-License-Identifier: Apache-2.0
// Do surfaces that touch rest on each other, or pass through each other at vertices and edges?
//
// They rest where one of them can be moved out of the way a little: a solid inwards, a sheet to one of its
// sides, every vertex along its normal. They pass through each other where whatever is moved, triangles that
// touched still meet. That is asked of one place at a time, for a sheet may be touched on one side here and
// on the other there: pairs belong to one place when they have a corner of either side in common, and what
// that connects.
//
// The moves are real ones, by 1e-8 of the triangles' size, and what they lead to is looked at exactly. Two
// solids both move: if they lie within each other and have a face in common, it stays one.
//
// Cost   sorting nine pairs of corners for each pair of triangles that touch; at most four tests for each.
// Limits the first 2¹⁷ pairs that touch; others are left as they are.
#include "collide/intersect_touch.h"
#include "base/memory.h"
#include "base/sort.h"
#include "geometry/exact.h"

enum { MOST = 1 << 17 };

// Two corners, numbered across surfaces, the lower first, that a pair of triangles has on its two sides.
typedef struct {
  int low, high, pair;
  bool flip; // the lower one belongs to u
} Corners;

typedef struct {
  const tbTriangles* surface;
  tbTrianglePair** pair; // that touch                                                      (count)
  size_t count;
  int* first;      // of a surface: its first vertex, across surfaces                       (surfaces)
  tbVec3** normal; // of the vertices of surfaces that touch; null: not needed yet           (surfaces)
  int* root;       // of pairs in the same place: a pair that stands for them                (count)
  bool* flip;      // the sides are the other way around than those of root[i]               (count)
} Touch;

// ---- places ----

static int find_root(Touch* t, int i, bool* flip)
{
  *flip = false;
  while (t->root[i] != i) {
    int up = t->root[i];
    t->flip[i] ^= t->flip[up], t->root[i] = t->root[up]; // halve the way
    *flip ^= t->flip[i];
    i = t->root[i];
  }
  return i;
}

static void join(Touch* t, int i, int k, bool flip)
{
  bool fi, fk;
  int a = find_root(t, i, &fi), b = find_root(t, k, &fk);
  if (a == b) return;
  if (a > b) {
    int c = a;
    a = b, b = c;
  }
  t->root[b] = a, t->flip[b] = fi ^ fk ^ flip;
}

static int by_corners(const void* x, const void* y)
{
  const Corners *a = x, *b = y;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->pair > b->pair) - (a->pair < b->pair);
}

static tbStatus join_places(tbArena* arena, Touch* t)
{
  Corners* c = TB_TAKE(arena, Corners, 9 * t->count);
  if (!c) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < t->count; i++) {
    const tbTrianglePair* p = t->pair[i];
    for (int k = 0; k < 9; k++) {
      int x = t->first[p->a] + t->surface[p->a].triangle[p->t][k / 3],
          y = t->first[p->b] + t->surface[p->b].triangle[p->u][k % 3];
      c[9 * i + (size_t)k] = (Corners){x < y ? x : y, x < y ? y : x, (int)i, x > y};
    }
  }
  tb_sort(c, 9 * t->count, sizeof *c, by_corners);
  for (size_t i = 1; i < 9 * t->count; i++)
    if (c[i].low == c[i - 1].low && c[i].high == c[i - 1].high)
      join(t, c[i - 1].pair, c[i].pair, c[i].flip != c[i - 1].flip);
  return TB_OK;
}

// ---- moves ----

static tbStatus need_normals(tbArena* arena, Touch* t, int surface)
{
  const tbTriangles* s = &t->surface[surface];
  if (t->normal[surface]) return TB_OK;
  tbVec3* n = TB_TAKE(arena, tbVec3, (size_t)s->nvertex);
  if (!n) return TB_ERROR_MEMORY;
  for (int k = 0; k < s->ntriangle; k++) {
    const int* v = s->triangle[k];
    tbVec3 up = tb_normalize3(tb_triangle_normal(s->vertex[v[0]], s->vertex[v[1]], s->vertex[v[2]]));
    for (int c = 0; c < 3; c++) n[v[c]] = tb_add3(n[v[c]], up);
  }
  for (int v = 0; v < s->nvertex; v++) n[v] = tb_normalize3(n[v]);
  t->normal[surface] = n;
  return TB_OK;
}

static void move(const Touch* t, int surface, int triangle, double by, tbVec3 x[3])
{
  const tbTriangles* s = &t->surface[surface];
  for (int k = 0; k < 3; k++) {
    int v = s->triangle[triangle][k];
    x[k] = tb_madd3(s->vertex[v], by, t->normal[surface][v]);
  }
}

// Whether a pair still meets when its sides are moved along their normals; flip: the other way around.
static bool meets(const Touch* t, const tbTrianglePair* p, double first, double second)
{
  tbVec3 x[3], y[3];
  double size = 0, far = 0;
  move(t, p->a, p->t, 0, x);
  move(t, p->b, p->u, 0, y);
  for (int k = 0; k < 3; k++) {
    size = fmax(size, fmax(tb_distance3(x[k], x[(k + 1) % 3]), tb_distance3(y[k], y[(k + 1) % 3])));
    far = fmax(far, fmax(tb_maxabs3(x[k]), tb_maxabs3(y[k])));
  }
  double by = fmax(1e-8 * size, 0x1p-46 * far);
  move(t, p->a, p->t, first * by, x);
  move(t, p->b, p->u, second * by, y);
  return tb_triangles_meet(x, y) != TB_APART;
}

static bool any_meets(Touch* t, const int* member, int count, const double way[2])
{
  for (int i = 0; i < count; i++) {
    bool flip;
    find_root(t, member[i], &flip);
    const tbTrianglePair* p = t->pair[member[i]];
    if (meets(t, p, way[flip], way[!flip])) return true;
  }
  return false;
}

// Whether the surfaces pass through each other where these pairs touch.
static bool passes(Touch* t, const int* member, int count)
{
  static const double sheets[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  const tbTrianglePair* p = t->pair[member[0]];
  const tbTriangles *a = &t->surface[p->a], *b = &t->surface[p->b];
  if (a->closed || b->closed) return any_meets(t, member, count, (double[2]){-a->closed, -b->closed});
  for (int k = 0; k < 4; k++)
    if (!any_meets(t, member, count, sheets[k])) return false;
  return true;
}

// ---- the whole ----

static tbStatus tell(tbArena* arena, Touch* t)
{
  TB_TRY(join_places(arena, t));
  for (size_t i = 0; i < t->count; i++) {
    TB_TRY(need_normals(arena, t, t->pair[i]->a));
    TB_TRY(need_normals(arena, t, t->pair[i]->b));
  }
  int *adr = TB_TAKE(arena, int, t->count + 1), *member = TB_TAKE(arena, int, t->count);
  if (!adr || !member) return TB_ERROR_MEMORY;
  bool flip;
  for (size_t i = 0; i < t->count; i++) adr[find_root(t, (int)i, &flip)]++;
  for (size_t i = 0, sum = 0; i <= t->count; i++) sum += (size_t)adr[i], adr[i] = (int)sum;
  for (size_t i = t->count; i-- > 0;) member[--adr[find_root(t, (int)i, &flip)]] = (int)i;
  for (size_t i = 0; i < t->count; i++) {
    int count = adr[i + 1] - adr[i];
    if (count == 0 || !passes(t, member + adr[i], count)) continue;
    for (int k = adr[i]; k < adr[i + 1]; k++) t->pair[member[k]]->meeting = TB_CROSSING;
  }
  return TB_OK;
}

tbStatus tb_tell_touching(tbContext* ctx, const tbTriangles* surfaces, int count, tbTrianglePair* pairs,
                          size_t npair)
{
  Touch t = {.surface = surfaces};
  for (size_t i = 0; i < npair; i++) t.count += pairs[i].meeting != TB_CROSSING;
  if (t.count == 0) return TB_OK;
  if (t.count > MOST) t.count = MOST;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  t.pair = TB_TAKE(&arena, tbTrianglePair*, t.count);
  t.root = TB_TAKE(&arena, int, t.count);
  t.flip = TB_TAKE(&arena, bool, t.count);
  t.first = TB_TAKE(&arena, int, (size_t)count);
  t.normal = TB_TAKE(&arena, tbVec3*, (size_t)count);
  tbStatus status = TB_ERROR_MEMORY;
  if (t.pair && t.root && t.flip && t.first && t.normal) {
    for (size_t i = 0, n = 0; i < npair && n < t.count; i++)
      if (pairs[i].meeting != TB_CROSSING) t.root[n] = (int)n, t.pair[n++] = &pairs[i];
    for (int s = 1; s < count; s++) t.first[s] = t.first[s - 1] + surfaces[s - 1].nvertex;
    status = tell(&arena, &t);
  }
  tb_arena_free(&arena);
  return status;
}
