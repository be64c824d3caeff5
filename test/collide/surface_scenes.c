// SPDX-License-Identifier: Apache-2.0
#include "surface_scenes.h"
#include "geometry/mesh.h"
#include "tribo/fem.h"

#include <stdlib.h>

SurfaceScene* scene_new(void)
{
  SurfaceScene* s = calloc(1, sizeof *s);
  if (!s) abort();
  s->scene = (tbSurfaceScene){.surface = s->surface, .plane = s->plane};
  tb_surface_candidates_init(&s->candidates);
  return s;
}

void scene_free(SurfaceScene* s)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < s->scene.nsurface; i++) {
    tb_surface_mesh_free(&ctx, (tbSurfaceMesh*)s->surface[i].surface);
    free(s->start[i]);
    free(s->end[i]);
    free(s->holder[i]);
  }
  tb_surface_candidates_free(&ctx, &s->candidates);
  free(s);
}

static int take(SurfaceScene* s, tbSurfaceMesh* surface)
{
  int i = s->scene.nsurface++;
  size_t n = (size_t)surface->nvertex;
  s->start[i] = malloc(n * sizeof(tbVec3));
  s->end[i] = malloc(n * sizeof(tbVec3));
  s->holder[i] = malloc(n * sizeof(int));
  if (!s->start[i] || !s->end[i] || !s->holder[i]) abort();
  for (size_t k = 0; k < n; k++)
    s->start[i][k] = s->end[i][k] = surface->rest[k], s->holder[i][k] = TB_HELD_NOT;
  s->surface[i] = (tbMovingSurface){.surface = surface, .start = s->start[i], .end = s->end[i], .body = i};
  return i;
}

int scene_add(SurfaceScene* s, const tbVec3* points, int npoint, const int (*triangles)[3], int ntriangle)
{
  tbContext ctx = tb_default_context();
  tbSurfaceMesh* surface = NULL;
  if (tb_surface_mesh_create(&ctx, points, npoint, triangles, ntriangle, &surface) != TB_OK) abort();
  if (tb_surface_mesh_link(&ctx, surface) != TB_OK) abort();
  return take(s, surface);
}

int scene_add_shape(SurfaceScene* s, const tbShape* shape)
{
  tbContext ctx = tb_default_context();
  tbSurfaceMesh* surface = NULL;
  if (tb_surface_mesh_of_shape(&ctx, shape, &surface) != TB_OK) abort();
  return take(s, surface);
}

int scene_add_cloth(SurfaceScene* s, double side, int cells)
{
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  if (tb_cloth_grid(&ctx, side, side, cells, cells, &mesh) != TB_OK) abort();
  int i = scene_add(s, mesh->vertex, mesh->nvertex, (const int(*)[3])mesh->triangle, mesh->ntriangle);
  tb_mesh_free(&ctx, mesh);
  return i;
}

void scene_place(SurfaceScene* s, int i, tbTransform start, tbTransform end)
{
  const tbSurfaceMesh* surface = s->surface[i].surface;
  for (int k = 0; k < surface->nvertex; k++) {
    s->start[i][k] = tb_transform_point(start, surface->rest[k]);
    s->end[i][k] = tb_transform_point(end, surface->rest[k]);
  }
}

static tbVec3 jolt(tbRandom* r, double by)
{
  double x = test_uniform(r, -by, by), y = test_uniform(r, -by, by);
  return tb_vec3(x, y, test_uniform(r, -by, by));
}

void scene_shake(SurfaceScene* s, int i, tbRandom* r, double start, double end)
{
  for (int k = 0; k < s->surface[i].surface->nvertex; k++) {
    tbVec3 d = jolt(r, start);
    s->start[i][k] = tb_add3(s->start[i][k], d);
    s->end[i][k] = tb_add3(tb_add3(s->end[i][k], d), jolt(r, end));
  }
}

static int corners(const tbSurfaceScene* s, const tbSurfaceFeatures* f, int side, int out[3])
{
  const tbSurfaceMesh* surface = s->surface[side ? f->surface_b : f->surface_a].surface;
  int k = side ? f->feature_b : f->feature_a;
  if (f->kind == TB_SURFACE_EDGE_EDGE) return out[0] = surface->edge[k][0], out[1] = surface->edge[k][1], 2;
  if (side) return out[0] = k, 1;
  for (int i = 0; i < 3; i++) out[i] = surface->triangle[k][i];
  return 3;
}

bool scene_allowed(const tbSurfaceScene* s, const tbSurfaceFeatures* f)
{
  const tbMovingSurface *a = &s->surface[f->surface_a], *b = &s->surface[f->surface_b];
  int p[3], q[3], na = corners(s, f, 0, p), nb = corners(s, f, 1, q);
  bool moves = false;
  if ((a->rigid && b->rigid) || (a == b && !a->self)) return false;
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (a == b && p[i] == q[j]) return false;
  for (int i = 0; i < na; i++) {
    int h = a->holder ? a->holder[p[i]] : TB_HELD_NOT;
    if (a != b && h == b->body) return false;
    moves |= !a->fixed && h != TB_HELD_FAST;
  }
  for (int i = 0; i < nb; i++) {
    int h = b->holder ? b->holder[q[i]] : TB_HELD_NOT;
    if (a != b && h == a->body) return false;
    moves |= !b->fixed && h != TB_HELD_FAST;
  }
  return moves;
}

bool scene_lists(const tbArray* sorted, const tbSurfaceFeatures* f)
{
  size_t lo = 0, hi = sorted->count;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    int order = tb_surface_features_order((const void*)((const char*)sorted->data + mid * sorted->item), f);
    if (order == 0) return true;
    if (order < 0) lo = mid + 1;
    else hi = mid;
  }
  return false;
}

tbVec3 scene_vertex(const tbSurfaceScene* s, int surface, int vertex, double t)
{
  return tb_lerp3(s->surface[surface].start[vertex], s->surface[surface].end[vertex], t);
}

static tbVec3 way(bool face, const tbVec3 x[4], double u, double v, double w[4])
{
  w[0] = face ? 1 : 1 - u, w[1] = face ? 1 - u - v : u, w[2] = face ? u : 1 - v, w[3] = v;
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < 4; k++) sum = tb_madd3(sum, (k < (face ? 1 : 2) ? 1 : -1) * w[k], x[k]);
  return sum;
}

static double best_v(bool face, const tbVec3 x[4], double u, double* v, double w[4])
{
  double lo = 0, hi = face ? 1 - u : 1;
  for (int i = 0; i < 48; i++) {
    double p = lo + (hi - lo) / 3, q = hi - (hi - lo) / 3;
    if (tb_norm3(way(face, x, u, p, w)) < tb_norm3(way(face, x, u, q, w))) hi = q;
    else lo = p;
  }
  *v = 0.5 * (lo + hi);
  return tb_norm3(way(face, x, u, *v, w));
}

double scene_distance(bool face, const tbVec3 x[4], double w[4])
{
  double lo = 0, hi = 1, v;
  for (int i = 0; i < 48; i++) {
    double p = lo + (hi - lo) / 3, q = hi - (hi - lo) / 3;
    if (best_v(face, x, p, &v, w) < best_v(face, x, q, &v, w)) hi = q;
    else lo = p;
  }
  return best_v(face, x, 0.5 * (lo + hi), &v, w);
}

// Edges inside flat faces of rigid bodies are no features.
static bool inside_a_face(const tbMovingSurface* m, int edge)
{
  return m->rigid && m->surface->flat && m->surface->flat[edge];
}

void scene_all_pairs(const tbSurfaceScene* s, SceneVisit* visit, void* user)
{
  for (int a = 0; a < s->nsurface; a++)
    for (int b = 0; b < s->nsurface; b++) {
      const tbSurfaceMesh *p = s->surface[a].surface, *q = s->surface[b].surface;
      for (int t = 0; t < p->ntriangle; t++)
        for (int v = 0; v < q->nvertex; v++)
          visit(user, &(tbSurfaceFeatures){TB_SURFACE_FACE_VERTEX, a, b, t, v});
      for (int d = 0; a <= b && d < p->nedge; d++)
        for (int e = a == b ? d + 1 : 0; e < q->nedge; e++)
          if (!inside_a_face(&s->surface[a], d) && !inside_a_face(&s->surface[b], e))
            visit(user, &(tbSurfaceFeatures){TB_SURFACE_EDGE_EDGE, a, b, d, e});
    }
}
