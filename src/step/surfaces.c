// SPDX-License-Identifier: Apache-2.0
#include "step/surfaces.h"

#include "base/stop.h"
#include "base/threads.h"
#include "geometry/round.h"
#include "step/find.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 16 };

static tbStatus make_surfaces(tbContext* ctx, const tbWorld* w, tbCache* cache)
{
  while (cache->surface.count < w->shape.count) {
    tbSurfaceMesh* surface;
    TB_TRY(tb_check_interrupt(ctx));
    TB_TRY(tb_surface_mesh_of_shape(ctx, &tb_shapes(w)[cache->surface.count], &surface));
    tbStatus status = tb_array_push(ctx, &cache->surface, &surface, 1);
    if (status == TB_OK) continue;
    tb_surface_mesh_free(ctx, surface);
    return status;
  }
  return TB_OK;
}

static tbStatus begin_own(tbArena* arena, const tbWorld* w, int body, tbSurfaces* s)
{
  const tbBody* b = &tb_bodies(w)[body];
  int i = s->scene.nsurface++;
  tbMovingSurface* m = &s->surface[i];
  TB_TRY(b->kind->surface(arena, b, m));
  size_t n = (size_t)m->surface->nvertex;
  tbVec3* end = TB_TAKE(arena, tbVec3, n);
  if (!end) return TB_ERROR_MEMORY;
  memcpy(end, m->start, n * sizeof *end);
  m->end = s->end[i] = end, m->body = body;
  s->shape[i] = -1, s->of_body[body] = i;
  return TB_OK;
}

static tbStatus begin_shape(tbArena* arena, const tbCache* cache, const tbWorld* w, int shape,
                            const tbTransform* pose, tbSurfaces* s)
{
  const tbSurfaceMesh* surface = ((tbSurfaceMesh* const*)cache->surface.data)[shape];
  int body = ((const int*)w->owner.data)[shape];
  tbVec3 *start = TB_TAKE(arena, tbVec3, (size_t)surface->nvertex),
         *end = TB_TAKE(arena, tbVec3, (size_t)surface->nvertex);
  if (!start || !end) return TB_ERROR_MEMORY;
  for (int k = 0; k < surface->nvertex; k++)
    start[k] = end[k] = tb_transform_point(pose[body], surface->rest[k]);
  int i = s->scene.nsurface++;
  s->surface[i] = (tbMovingSurface){.surface = surface,
                                    .start = start,
                                    .end = end,
                                    .body = body,
                                    .fixed = tb_bodies(w)[body].motion != TB_BODY_DYNAMIC,
                                    .rigid = true,
                                    .solid = tb_shapes(w)[shape].type != TB_SHAPE_MESH, // which may be a room
                                    .radius = tb_round_depth(&tb_shapes(w)[shape])};
  s->end[i] = end;
  s->shape[i] = shape;
  s->of_shape[shape] = i;
  return TB_OK;
}

static void place_plane(const tbShape* shape, tbTransform T, tbVec3* normal, double* offset)
{
  tbTransform at = tb_transform_mul(T, shape->pose);
  *normal = tb_quat_rotate(at.q, shape->plane.normal);
  *offset = shape->plane.offset + tb_dot3(*normal, at.x);
}

static void begin_plane(const tbWorld* w, int shape, const tbTransform* pose, tbSurfaces* s)
{
  int body = ((const int*)w->owner.data)[shape], i = s->scene.nplane++;
  tbMovingPlane* plane = &s->plane[i];
  plane->body = body;
  place_plane(&tb_shapes(w)[shape], pose[body], &plane->normal[0], &plane->offset[0]);
  plane->normal[1] = plane->normal[0], plane->offset[1] = plane->offset[0];
  s->plane_shape[i] = shape;
  s->of_shape[shape] = i;
}

typedef struct {
  const tbWorld* world;
  const tbPair* joined;
  int njoined;
} Filter;

// Bodies that a joint holds together touch only where the joint says so.
static bool may_touch(const void* user, int a, int b)
{
  const Filter* f = user;
  return tb_world_may_touch(f->world, a, b) && !tb_is_joined(f->joined, f->njoined, a, b);
}

tbStatus tb_surfaces_begin(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* w,
                           const tbTransform* pose, tbSurfaces* out)
{
  TB_TRY(make_surfaces(ctx, w, cache));
  size_t most = w->body.count + w->shape.count;
  tbSurfaces s = {.surface = TB_TAKE(arena, tbMovingSurface, most),
                  .end = TB_TAKE(arena, tbVec3*, most),
                  .shape = TB_TAKE(arena, int, most),
                  .plane = TB_TAKE(arena, tbMovingPlane, w->shape.count),
                  .plane_shape = TB_TAKE(arena, int, w->shape.count),
                  .of_body = TB_TAKE(arena, int, w->body.count),
                  .of_shape = TB_TAKE(arena, int, w->shape.count)};
  if (!s.surface || !s.end || !s.shape || !s.plane || !s.plane_shape || !s.of_body || !s.of_shape)
    return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) {
    s.of_body[i] = -1;
    if (tb_bodies(w)[i].kind->surface) TB_TRY(begin_own(arena, w, (int)i, &s));
  }
  for (int i = 0; i < (int)w->shape.count; i++) {
    if (tb_shapes(w)[i].type == TB_SHAPE_PLANE) begin_plane(w, i, pose, &s);
    else TB_TRY(begin_shape(arena, cache, w, i, pose, &s));
  }
  Filter* filter = TB_TAKE(arena, Filter, 1);
  if (!filter) return TB_ERROR_MEMORY;
  filter->world = w, filter->joined = tb_joined_bodies(arena, w, &filter->njoined);
  if (!filter->joined) return TB_ERROR_MEMORY;
  s.scene.surface = s.surface, s.scene.plane = s.plane;
  s.scene.may_touch = may_touch, s.scene.user = filter, s.scene.ccd = cache->ccd;
  *out = s;
  return TB_OK;
}

void tb_surfaces_lead(const tbStepView* view, tbSurfaces* s)
{
  const tbWorld* w = view->world;
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbMovingSurface* m = &s->surface[i];
    if (tb_bodies(w)[m->body].motion != TB_BODY_KINEMATIC) continue;
    if (s->shape[i] < 0) {
      tb_bodies(w)[m->body].kind->expect(view, m->body, s->end[i]);
      continue;
    }
    tbBody after = tb_body_after(view, m->body);
    for (int k = 0; k < m->surface->nvertex; k++)
      s->end[i][k] = tb_transform_point(tb_body_pose(&after), m->surface->rest[k]);
  }
  for (int i = 0; i < s->scene.nplane; i++) {
    tbMovingPlane* plane = &s->plane[i];
    tbBody after = tb_body_after(view, plane->body);
    place_plane(&tb_shapes(w)[s->plane_shape[i]], tb_body_pose(&after), &plane->normal[1], &plane->offset[1]);
  }
}

typedef struct {
  const tbStepView* view;
  tbSurfaces* surfaces;
} Job;

static void move_shape(const Job* job, int i)
{
  const tbMovingSurface* m = &job->surfaces->surface[i];
  tbBody after = tb_body_after(job->view, m->body);
  tbTransform T = tb_body_pose(&after);
  for (int k = 0; k < m->surface->nvertex; k++)
    job->surfaces->end[i][k] = tb_transform_point(T, m->surface->rest[k]);
}

static void move_surfaces(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    const tbMovingSurface* m = &job->surfaces->surface[i];
    const tbKind* kind = tb_bodies(job->view->world)[m->body].kind;
    if (m->fixed) continue;
    if (job->surfaces->shape[i] < 0) kind->move_surface(job->view, m->body, job->surfaces->end[i]);
    else move_shape(job, i);
  }
}

void tb_surfaces_move(tbContext* ctx, const tbStepView* view, tbSurfaces* s)
{
  Job job = {view, s};
  tb_parallel_for(ctx->threads, s->scene.nsurface, GRAIN, move_surfaces, &job);
}

// Vertices of deformable bodies behind a plane, and in it; of rigid ones where these meet planes. What no
// impulse moves may lie anywhere.
static tbIntersections count_behind(const tbSurfaces* s, const tbMovingPlane* plane, const tbMovingSurface* m)
{
  tbIntersections found = {0};
  bool counts = !m->fixed && (!m->rigid || s->scene.rigid_pairs);
  for (int k = 0; counts && k < m->surface->nvertex; k++) {
    if (m->holder && (m->holder[k] == TB_HELD_FAST || m->holder[k] == plane->body)) continue;
    double height = tb_dot3(plane->normal[1], m->end[k]) - plane->offset[1];
    found.crossing += height < 0;
    found.touching += height == 0;
  }
  return found;
}

// In bodies rather than surfaces, the lower first.
static tbSurfacesMeet of_bodies(int a, int b, tbIntersections count)
{
  return a <= b ? (tbSurfacesMeet){a, b, count} : (tbSurfacesMeet){b, a, count};
}

static tbStatus list_planes(tbContext* ctx, const tbSurfaces* s, tbArray* out)
{
  for (int p = 0; p < s->scene.nplane; p++)
    for (int i = 0; i < s->scene.nsurface; i++) {
      if (!tb_surface_may_touch(&s->scene, s->plane[p].body, s->surface[i].body)) continue;
      tbIntersections behind = count_behind(s, &s->plane[p], &s->surface[i]);
      tbSurfacesMeet meet = of_bodies(s->plane[p].body, s->surface[i].body, behind);
      if (behind.crossing + behind.touching > 0) TB_TRY(tb_array_push(ctx, out, &meet, 1));
    }
  return TB_OK;
}

tbStatus tb_surfaces_list(tbContext* ctx, const tbSurfaces* s, tbArray* out)
{
  tbTriangles* all = TB_NEW(ctx, tbTriangles, (size_t)s->scene.nsurface);
  if (!all) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbMovingSurface* m = &s->surface[i];
    all[i] = (tbTriangles){.vertex = m->end,
                           .nvertex = m->surface->nvertex,
                           .triangle = (const int(*)[3])m->surface->triangle,
                           .ntriangle = m->surface->ntriangle,
                           .body = m->body,
                           .rigid = m->rigid,
                           .alert = s->scene.rigid_pairs && !m->fixed,
                           .closed = m->surface->closed,
                           .tree = &m->surface->bvh,
                           .holder = m->holder};
  }
  size_t first = out->count;
  tbStatus status = tb_list_intersections(ctx, all, s->scene.nsurface, out);
  tb_free(ctx, all);
  size_t kept = first; // bodies that ignore each other may pass through each other
  for (size_t i = first; status == TB_OK && i < out->count; i++) {
    tbSurfacesMeet* m = (tbSurfacesMeet*)out->data + i;
    int a = s->surface[m->a].body, b = s->surface[m->b].body;
    if (s->surface[m->a].fixed && s->surface[m->b].fixed) continue;
    if (tb_surface_may_touch(&s->scene, a, b))
      ((tbSurfacesMeet*)out->data)[kept++] = of_bodies(a, b, m->count);
  }
  if (status == TB_OK) out->count = kept;
  return status == TB_OK ? list_planes(ctx, s, out) : status;
}

tbStatus tb_surfaces_count(tbContext* ctx, const tbSurfaces* s, tbIntersections* out)
{
  tbArray list = TB_ARRAY(tbSurfacesMeet);
  tbStatus status = tb_surfaces_list(ctx, s, &list);
  *out = tb_sum_intersections(&list);
  tb_array_free(ctx, &list);
  return status;
}

tbStatus tb_surfaces_report(tbContext* ctx, const tbSurfaces* s, tbStepReport* report)
{
  tbIntersections met;
  TB_TRY(tb_surfaces_count(ctx, s, &met));
  report->intersections = met.crossing, report->touching = met.touching;
  if (met.crossing + met.overlapping > 0 && report->outcome == TB_CONVERGED) report->outcome = TB_FAILED;
  return TB_OK;
}

double tb_surfaces_edge(const tbSurfaces* s)
{
  double least[2] = {INFINITY, INFINITY}; // of what moves freely; where nothing does, of what is led
  for (int i = 0; i < s->scene.nsurface; i++)
    if (s->shape[i] < 0) {
      double* of = &least[s->surface[i].fixed];
      *of = fmin(*of, s->surface[i].surface->edge_length);
    }
  return least[0] < INFINITY ? least[0] : least[1];
}

double tb_surfaces_clearance(const tbSurfaces* s, double asked)
{
  double edge = tb_surfaces_edge(s);
  if (asked > 0) return asked;
  return edge < INFINITY ? 1e-3 * edge : 0;
}

void tb_surfaces_expect(const tbStepView* view, tbSurfaces* s)
{
  tb_surfaces_lead(view, s);
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbMovingSurface* m = &s->surface[i];
    if (m->fixed) continue;
    if (s->shape[i] < 0) {
      tb_bodies(view->world)[m->body].kind->expect(view, m->body, s->end[i]);
      continue;
    }
    const tbUnconstrained* f = &view->unconstrained[m->body];
    for (int k = 0; k < m->surface->nvertex; k++) {
      tbVec3 arm = tb_sub3(m->start[k], view->centre[m->body].x);
      s->end[i][k] = tb_madd3(m->start[k], view->h, tb_add3(f->v, tb_cross3(f->w, arm)));
    }
  }
}
