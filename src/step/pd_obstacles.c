// SPDX-License-Identifier: Apache-2.0
#include "step/pd_obstacles.h"

#include "base/threads.h"
#include "geometry/round.h"
#include "step/friction_state.h"
#include "step/rows.h"
#include "step/soft_contact.h"

#include <string.h>

static const double SAG = 0.25; // of half the thickness: how deep a straight edge may lie in a round shape
static const uint64_t NAME = (uint64_t)3 << 62; // of such a contact: no pair of features of surfaces

enum { PIECE = 1024 };

// The smallest radius of curvature, but for the rims of cylinders, which have none.
static double radius_of(const tbShape* s)
{
  if (s->type == TB_SHAPE_SPHERE) return s->sphere.radius;
  return s->type == TB_SHAPE_CAPSULE ? s->capsule.radius : 0;
}

bool tb_pd_obstacles_are_smooth(const tbWorld* w, const tbSurfaces* s)
{
  for (size_t i = 0; i < w->shape.count; i++) {
    const tbShape* shape = &tb_shapes(w)[i];
    if (shape->type == TB_SHAPE_PLANE) continue;
    for (int k = 0; k < s->scene.nsurface && s->shape[k] < 0; k++) {
      if (s->surface[k].fixed) { // a mesh in motion: what moves freely touches it with its features
        if (tb_bodies(w)[((const int*)w->owner.data)[i]].motion == TB_BODY_DYNAMIC) return false;
        continue;
      }
      double edge = s->surface[k].surface->edge_length, sag = edge * edge / (8 * radius_of(shape));
      if (!(sag <= SAG * s->surface[k].radius)) return false;
    }
  }
  return true;
}

// A shape and a surface, and what is the same for all their contacts.
typedef struct {
  const tbStepOptions* options;
  const tbShape* shape;
  int number, body;             // of the shape
  tbTransform at, centre, then; // of the shape; of its body, now and after the step
  tbVec3 v, w;                  // of its body, where it moves freely
  bool driven, dynamic;
  const tbMovingSurface* surface;
  tbContactConstraint like;
  const int* last; // record of a vertex; −1: none
  const tbContactRecord* record;
  double h, keep, ahead, reach, edge;
  tbContactSpring spring;
  double* gap; // found: INFINITY: not close                                (vertices)
  tbVec3* normal;
} Pair;

static double distance(const Pair* p, tbVec3 x, tbVec3* normal)
{
  tbVec3 local = tb_transform_unpoint(p->at, x), n;
  double d;
  if (p->shape->type == TB_SHAPE_PLANE) {
    n = p->shape->plane.normal;
    d = tb_dot3(n, local) - p->shape->plane.offset;
  } else {
    d = tb_round_distance(p->shape, local, &n);
  }
  *normal = tb_quat_rotate(p->at.q, n);
  return d;
}

// The velocity of the shape at a point.
static tbVec3 velocity(const Pair* p, tbVec3 x)
{
  if (p->dynamic) return tb_add3(p->v, tb_cross3(p->w, tb_sub3(x, p->centre.x)));
  if (!p->driven) return tb_zero3();
  tbVec3 moved = tb_transform_point(p->then, tb_transform_unpoint(p->centre, x));
  return tb_scale3(1 / p->h, tb_sub3(moved, x));
}

static bool is_held(const Pair* p, int vertex)
{
  const int* holder = p->surface->holder;
  return holder && (holder[vertex] == TB_HELD_FAST || holder[vertex] == p->body);
}

static void look(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Pair* p = user;
  const tbMovingSurface* m = p->surface;
  for (int k = begin; k < end; k++) {
    tbVec3 x = m->start[k], way = tb_sub3(m->end[k], x);
    double d = p->gap[k] = distance(p, x, &p->normal[k]);
    double comes =
        p->h * tb_dot3(p->normal[k], velocity(p, tb_madd3(x, -d, p->normal[k]))) - tb_dot3(p->normal[k], way);
    if (d - p->ahead * fmax(comes, 0) > p->keep + p->reach || is_held(p, k)) p->gap[k] = INFINITY;
  }
}

static void take_impulse(const Pair* p, int vertex, tbContactConstraint* t)
{
  const tbContactRecord* r = p->last[vertex] < 0 ? NULL : &p->record[p->last[vertex]];
  if (!r || tb_dot3(r->normal, t->point.normal) < 0.7) return;
  tbVec3 b = tb_cross3(r->normal, r->tangent);
  tbVec3 drag = tb_add3(tb_scale3(r->impulse[1], r->tangent), tb_scale3(r->impulse[2], b));
  t->guess[0] = r->impulse[0];
  for (int i = 1; i < t->rows && i < 3; i++) t->guess[i] = tb_dot3(drag, tb_mat3_row(t->frame, i));
  for (int i = 3; i < t->rows && r->rows == t->rows; i++) t->guess[i] = r->impulse[i];
}

static tbContactConstraint constraint_of(const Pair* p, const tbWorld* w, int vertex,
                                         const tbSurfaceContact* c)
{
  tbContactConstraint t = p->like;
  tbVec3 x = p->surface->start[vertex], foot = tb_madd3(x, -c->gap, c->normal);
  t.point = (tbContactPoint){foot, x, c->normal, c->gap, NAME | (uint64_t)vertex};
  t.position = tb_scale3(0.5, tb_add3(foot, x));
  t.surface = c;
  if (p->driven) t.drift = tb_neg3(velocity(p, foot));
  if (t.directed) tb_constraint_law(w, &t);
  else t.frame = tb_mat3_frame(c->normal);
  tb_friction_rows(w, p->options, &t);
  double slack = c->gap - p->keep;
  t.bias[0] = tb_soft_contact_bias(slack, p->keep, p->edge, p->h);
  tb_soft_contact_give_way(p->spring, slack, p->h, &t);
  take_impulse(p, vertex, &t);
  return t;
}

static tbStatus emit(tbContext* ctx, tbArena* arena, const tbWorld* w, const Pair* p, tbArray* constraints)
{
  int n = p->surface->surface->nvertex, count = 0;
  for (int k = 0; k < n; k++) count += p->gap[k] < INFINITY;
  tbSurfaceContact* c = TB_TAKE(arena, tbSurfaceContact, (size_t)count);
  if (!c) return TB_ERROR_MEMORY;
  size_t first = constraints->count;
  TB_TRY(tb_array_push(ctx, constraints, NULL, (size_t)count));
  tbContactConstraint* t = (tbContactConstraint*)constraints->data + first;
  for (int k = 0; k < n; k++) {
    if (!(p->gap[k] < INFINITY)) continue;
    *c = (tbSurfaceContact){.of.kind = TB_SURFACE_PLANE_VERTEX,
                            .count_b = 1,
                            .vertex_b = {k},
                            .weight_b = {1},
                            .normal = p->normal[k],
                            .gap = p->gap[k]};
    *t++ = constraint_of(p, w, k, c++);
  }
  return TB_OK;
}

// Which record of the last step is a vertex's with this shape.
static void find_records(const tbWorld* w, const Pair* p, bool warm, int* last)
{
  for (int k = 0; k < p->surface->surface->nvertex; k++) last[k] = -1;
  for (size_t i = 0; warm && i < w->contact.count; i++) {
    const tbContactRecord* r = (const tbContactRecord*)w->contact.data + i;
    uint64_t vertex = r->feature & 0x7fffffff;
    if (r->shape_a == p->number && r->shape_b < 0 && r->body_b == p->surface->body &&
        r->feature >> 62 == NAME >> 62 && vertex < (uint64_t)p->surface->surface->nvertex)
      last[vertex] = (int)i;
  }
}

static Pair begin_pair(const tbWorld* w, const tbStepOptions* o, const tbStepView* view,
                       const tbTransform* pose, int shape, const tbMovingSurface* m, double rest)
{
  int body = ((const int*)w->owner.data)[shape];
  const tbBody* b = &tb_bodies(w)[body];
  Pair p = {
      .shape = &tb_shapes(w)[shape],
      .number = shape,
      .body = body,
      .options = o,
      .at = tb_transform_mul(pose[body], tb_shapes(w)[shape].pose),
      .centre = view->centre[body],
      .v = view->unconstrained[body].v,
      .w = view->unconstrained[body].w,
      .driven = b->motion == TB_BODY_KINEMATIC,
      .dynamic = b->motion == TB_BODY_DYNAMIC,
      .surface = m,
      .record = w->contact.data,
      .h = view->h,
      .edge = m->surface->edge_length,
      .like = {
          .shape_a = shape, .shape_b = -1, .body_a = body, .body_b = m->body, .impact = -1, .rest = rest}};
  if (p.driven) p.centre = tb_motion_at(w, b, w->time), p.then = tb_motion_at(w, b, w->time + view->h);
  p.like.point.normal = tb_vec3(0, 0, 1);
  tb_constraint_law(w, &p.like);
  p.spring = tb_soft_contact_coated(p.like.contact_material.spring, p.edge);
  return p;
}

tbStatus tb_pd_obstacles_find(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepView* view,
                              const tbTransform* pose, const tbSurfaces* s, double clearance, double ahead,
                              double reach, const tbStepOptions* o, tbArray* constraints)
{
  for (int i = 0; i < s->scene.nsurface && s->shape[i] < 0; i++) {
    const tbMovingSurface* m = &s->surface[i];
    if (m->fixed) continue;
    size_t n = (size_t)m->surface->nvertex;
    double* gap = TB_TAKE(arena, double, n);
    tbVec3* normal = TB_TAKE(arena, tbVec3, n);
    int* last = TB_TAKE(arena, int, n);
    if (!gap || !normal || !last) return TB_ERROR_MEMORY;
    for (int shape = 0; shape < (int)w->shape.count; shape++) {
      if (!tb_world_may_touch(w, ((const int*)w->owner.data)[shape], m->body)) continue;
      Pair p = begin_pair(w, o, view, pose, shape, m, s->rest);
      p.gap = gap, p.normal = normal, p.last = last;
      p.keep = m->radius + clearance, p.ahead = ahead, p.reach = reach;
      if (p.spring.stiffness > 0) p.reach += p.spring.coat;
      find_records(w, &p, o->warm_start, last);
      tb_parallel_for(ctx->threads, (int)n, PIECE, look, &p);
      TB_TRY(emit(ctx, arena, w, &p, constraints));
    }
  }
  return TB_OK;
}
