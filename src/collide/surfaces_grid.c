// SPDX-License-Identifier: Apache-2.0
// Vertices close to faces, by a grid.
//
// Thick sheets touch where vertices come close to faces; edges in between are closer by a small part of the
// thickness only. Every triangle is entered into the cells of a grid that its box touches, where the box
// holds what it may sweep and half of the reach; every vertex looks into the cells of its own box. Motion is
// taken beside the mean of all surfaces, so that what falls together stays small. Cells are buckets of a hash
// table that is filled by counting: the same contacts in the same order, whatever the number of threads.
//
// Cost      some ten boxes compared per vertex, and a closest point for the few that meet; memory for a few
// cells
//           per triangle. Motion beyond a few cells in a step is cut off: what comes from farther is not
//           seen.
#include "collide/surfaces_grid.h"

#include "base/shared.h"
#include "base/sort.h"
#include "base/threads.h"
#include "collide/surfaces_pair.h"

#include <string.h>

static const double CELL = 1.25; // mean edges: of a cell
static const double FAR = 2;     // cells that are swept at most

enum { PIECE = 512 };

typedef struct {
  float lo[3], hi[3];
} Box;

typedef struct {
  const tbSurfaceScene* scene;
  double ahead, reach, cell;
  tbVec3 drift;
  int ntriangle;    // of all surfaces
  int* first;       // triangle of a surface                                    (nsurface+1)
  Box* box;         // of a triangle                                            (ntriangle)
  unsigned buckets; // a power of two
  int *adr, *entry; // triangles of a bucket                                    (buckets+1)
  tbArray* found;   // per piece of vertices                                    tbSurfaceContact
  tbShared shared;
  tbStatus* status;  // per piece
  int* vertex_first; // vertex of a surface                                     (nsurface+1)
} Grid;

static double mean_edge(const tbSurfaceScene* s)
{
  double least = INFINITY;
  for (int i = 0; i < s->nsurface; i++) least = fmin(least, s->surface[i].surface->edge_length);
  return least;
}

static tbVec3 mean_motion(const tbSurfaceScene* s)
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < s->nsurface; i++) sum = tb_add3(sum, tb_surface_drift(&s->surface[i]));
  return s->nsurface > 0 ? tb_scale3(1.0 / s->nsurface, sum) : sum;
}

// What a vertex may sweep, beside the drift.
static tbVec3 sweep(const Grid* g, const tbMovingSurface* m, int vertex)
{
  tbVec3 way = tb_sub3(tb_sub3(m->end[vertex], m->start[vertex]), g->drift);
  double size = g->ahead * tb_maxabs3(way), most = FAR * g->cell;
  return tb_scale3(size > most ? most / size * g->ahead : g->ahead, way);
}

static void extend(Box* b, tbVec3 x, double by)
{
  const double at[3] = {x.x, x.y, x.z};
  for (int k = 0; k < 3; k++) {
    // floats that surely hold the numbers
    float lo = (float)(at[k] - by), hi = (float)(at[k] + by), spare = 1e-6f * (fabsf(lo) + fabsf(hi));
    b->lo[k] = fminf(b->lo[k], lo - spare), b->hi[k] = fmaxf(b->hi[k], hi + spare);
  }
}

static Box empty_box(void)
{
  Box b;
  for (int k = 0; k < 3; k++) b.lo[k] = INFINITY, b.hi[k] = -INFINITY;
  return b;
}

static Box triangle_box(const Grid* g, const tbMovingSurface* m, int triangle)
{
  Box b = empty_box();
  for (int k = 0; k < 3; k++) {
    int vertex = m->surface->triangle[triangle][k];
    extend(&b, m->start[vertex], m->radius + g->reach);
    extend(&b, tb_add3(m->start[vertex], sweep(g, m, vertex)), m->radius + g->reach);
  }
  return b;
}

static Box vertex_box(const Grid* g, const tbMovingSurface* m, int vertex)
{
  Box b = empty_box();
  extend(&b, m->start[vertex], m->radius);
  extend(&b, tb_add3(m->start[vertex], sweep(g, m, vertex)), m->radius);
  return b;
}

static bool overlap(const Box* a, const Box* b)
{
  return a->lo[0] <= b->hi[0] && b->lo[0] <= a->hi[0] && a->lo[1] <= b->hi[1] && b->lo[1] <= a->hi[1] &&
         a->lo[2] <= b->hi[2] && b->lo[2] <= a->hi[2];
}

typedef struct {
  int lo[3], hi[3];
} Cells;

static int cell_at(const Grid* g, double x) { return (int)fmin(fmax(floor(x / g->cell), -1e9), 1e9); }

static Cells cells_of(const Grid* g, const Box* b)
{
  Cells c;
  for (int k = 0; k < 3; k++) c.lo[k] = cell_at(g, b->lo[k]), c.hi[k] = cell_at(g, b->hi[k]);
  return c;
}

static unsigned bucket(const Grid* g, int x, int y, int z)
{
  unsigned h = (unsigned)x * 73856093u ^ (unsigned)y * 19349663u ^ (unsigned)z * 83492791u;
  h ^= h >> 15;
  return h & (g->buckets - 1);
}

#define EACH_CELL(c)                             \
  for (int z = (c).lo[2]; z <= (c).hi[2]; z++)   \
    for (int y = (c).lo[1]; y <= (c).hi[1]; y++) \
      for (int x = (c).lo[0]; x <= (c).hi[0]; x++)

static int surface_of(const Grid* g, int triangle)
{
  int i = 0;
  while (triangle >= g->first[i + 1]) i++;
  return i;
}

static void make_boxes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Grid* g = user;
  for (int t = begin, i = surface_of(g, begin); t < end; t++) {
    while (t >= g->first[i + 1]) i++;
    g->box[t] = triangle_box(g, &g->scene->surface[i], t - g->first[i]);
  }
}

static tbStatus fill(tbArena* arena, Grid* g)
{
  g->buckets = 1024;
  while (g->buckets < 4u * (unsigned)g->ntriangle && g->buckets < 1u << 28) g->buckets *= 2;
  g->adr = TB_TAKE(arena, int, (size_t)g->buckets + 1);
  if (!g->adr) return TB_ERROR_MEMORY;
  for (int t = 0; t < g->ntriangle; t++) {
    Cells c = cells_of(g, &g->box[t]);
    EACH_CELL(c) g->adr[bucket(g, x, y, z) + 1]++;
  }
  for (unsigned i = 0; i < g->buckets; i++) g->adr[i + 1] += g->adr[i];
  g->entry = TB_TAKE(arena, int, (size_t)g->adr[g->buckets]);
  if (!g->entry) return TB_ERROR_MEMORY;
  for (int t = g->ntriangle - 1; t >= 0; t--) { // from behind: addresses end where they were
    Cells c = cells_of(g, &g->box[t]);
    EACH_CELL(c) g->entry[--g->adr[bucket(g, x, y, z) + 1]] = t;
  }
  memmove(g->adr, g->adr + 1, (size_t)g->buckets * sizeof *g->adr);
  return TB_OK;
}

static bool may_touch(const tbMovingSurface* a, int triangle, const tbMovingSurface* b, int vertex)
{
  if (a != b) return !(a->rigid && b->rigid);
  const int* corner = a->surface->triangle[triangle];
  return a->self && corner[0] != vertex && corner[1] != vertex && corner[2] != vertex;
}

// Whether the vertex is close to the triangle, or comes there as it goes.
static bool close(const Grid* g, int ia, int triangle, int ib, int vertex, tbSurfaceContact* out)
{
  tbSurfaceFeatures of = {TB_SURFACE_FACE_VERTEX, ia, ib, triangle, vertex};
  const tbMovingSurface *a = &g->scene->surface[ia], *b = &g->scene->surface[ib];
  tbVec3 x[4], way;
  *out = tb_surface_corners(g->scene, &of);
  tb_surface_places(g->scene, out, false, x);
  tbClosest closest = tb_closest_features(true, x);
  if (!tb_surface_reports(g->scene, &of, closest.weight + 1)) return false;
  tb_surface_weigh(out, closest.weight);
  if (!tb_surface_normal(g->scene, out, x, closest.way, &out->normal)) return false;
  out->gap = tb_dot3(out->normal, closest.way);
  way = tb_sub3(b->end[vertex], b->start[vertex]);
  for (int k = 0; k < 3; k++)
    way = tb_madd3(way, -out->weight_a[k], tb_sub3(a->end[out->vertex_a[k]], a->start[out->vertex_a[k]]));
  double comes = -tb_dot3(out->normal, way);
  return out->gap - g->ahead * fmax(comes, 0) <= g->reach + a->radius + b->radius;
}

// A pair is looked at in the first cell that both boxes touch.
static tbStatus look_around(tbContext* ctx, const Grid* g, int ib, int vertex, tbArray* out)
{
  const tbMovingSurface* b = &g->scene->surface[ib];
  Box box = vertex_box(g, b, vertex);
  Cells c = cells_of(g, &box);
  EACH_CELL(c)
  {
    unsigned at = bucket(g, x, y, z);
    for (int e = g->adr[at]; e < g->adr[at + 1]; e++) {
      int t = g->entry[e];
      const Box* other = &g->box[t];
      if (!overlap(&box, other)) continue;
      int cell[3] = {x, y, z};
      bool first = true;
      for (int k = 0; k < 3; k++) first = first && cell[k] == cell_at(g, fmaxf(box.lo[k], other->lo[k]));
      if (!first || (e > g->adr[at] && g->entry[e - 1] == t))
        continue; // or entered twice by two cells of one bucket
      int ia = surface_of(g, t);
      tbSurfaceContact found;
      if (!may_touch(&g->scene->surface[ia], t - g->first[ia], b, vertex)) continue;
      if (!close(g, ia, t - g->first[ia], ib, vertex, &found)) continue;
      TB_TRY(tb_array_push(ctx, out, &found, 1));
    }
  }
  return TB_OK;
}

static void look(void* user, int begin, int end, int piece)
{
  Grid* g = user;
  tbContext own = tb_shared_context(&g->shared);
  int i = 0;
  for (int v = begin; v < end && g->status[piece] == TB_OK; v++) {
    while (v >= g->vertex_first[i + 1]) i++;
    g->status[piece] = look_around(&own, g, i, v - g->vertex_first[i], &g->found[piece]);
  }
}

static int by_features(const void* x, const void* y)
{
  return tb_surface_features_order(&((const tbSurfaceContact*)x)->of, &((const tbSurfaceContact*)y)->of);
}

static tbStatus collect(tbContext* ctx, tbArena* arena, Grid* g, tbArray* contacts)
{
  int vertices = g->vertex_first[g->scene->nsurface], pieces = tb_piece_count(vertices, PIECE);
  g->found = TB_TAKE(arena, tbArray, (size_t)pieces);
  g->status = TB_TAKE(arena, tbStatus, (size_t)pieces);
  if (!g->found || !g->status) return TB_ERROR_MEMORY;
  for (int p = 0; p < pieces; p++) g->found[p] = TB_ARRAY(tbSurfaceContact);
  size_t first = contacts->count;
  tbStatus status = TB_OK;
  tb_shared_begin(&g->shared, ctx);
  tb_parallel_for(ctx->threads, vertices, PIECE, look, g);
  tb_shared_end(&g->shared);
  for (int p = 0; p < pieces; p++) {
    if (status == TB_OK && g->status[p] != TB_OK) status = tb_surface_fail(ctx, g->status[p]);
    if (status == TB_OK) status = tb_array_push(ctx, contacts, g->found[p].data, g->found[p].count);
    tb_array_free(ctx, &g->found[p]);
  }
  if (status == TB_OK && contacts->count > first)
    tb_sort((tbSurfaceContact*)contacts->data + first, contacts->count - first, sizeof(tbSurfaceContact),
            by_features);
  return status;
}

tbStatus tb_surface_grid_near(tbContext* ctx, tbArena* arena, const tbSurfaceScene* scene, double reach,
                              double ahead, tbArray* contacts)
{
  Grid g = {.scene = scene, .ahead = ahead, .reach = reach, .drift = mean_motion(scene)};
  if (scene->nsurface == 0) return TB_OK;
  g.first = TB_TAKE(arena, int, (size_t)scene->nsurface + 1);
  g.vertex_first = TB_TAKE(arena, int, (size_t)scene->nsurface + 1);
  if (!g.first || !g.vertex_first) return TB_ERROR_MEMORY;
  double radius = 0;
  for (int i = 0; i < scene->nsurface; i++) {
    g.first[i + 1] = g.first[i] + scene->surface[i].surface->ntriangle;
    g.vertex_first[i + 1] = g.vertex_first[i] + scene->surface[i].surface->nvertex;
    radius = fmax(radius, scene->surface[i].radius);
  }
  g.ntriangle = g.first[scene->nsurface];
  g.cell = fmax(CELL * mean_edge(scene), 2 * (radius + reach));
  g.box = TB_TAKE(arena, Box, (size_t)g.ntriangle);
  if (!g.box) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, g.ntriangle, 1024, make_boxes, &g);
  for (int t = 0; t < g.ntriangle; t++)
    if (!(g.box[t].lo[0] < INFINITY && g.box[t].hi[0] - g.box[t].lo[0] < 1e6 * g.cell))
      return tb_fail(ctx, TB_ERROR_NUMERIC, "vertices of a surface are lost to rounding");
  TB_TRY(fill(arena, &g));
  return collect(ctx, arena, &g, contacts);
}
