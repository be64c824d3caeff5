// SPDX-License-Identifier: Apache-2.0
// To the end of a step: momenta are kept on the way (reduced_motion.c). In flight the origin follows a
// parabola.
#include "kind/reduced.h"

#include <string.h>

static bool is_left_alone(const tbBody* body)
{
  const tbReduced* d = body->own;
  double sum = 0;
  for (int k = 0; k < 6 + d->basis->nmode; k++) sum += fabs(d->push[k]);
  return sum == 0;
}

// Where velocities lead in a step; a body that goes a share of it is as much slower.
static void go(const tbStepView* view, int body, const double* velocity, bool flies, tbReducedState* out)
{
  const tbReduced* d = tb_bodies(view->world)[body].own;
  const tbReducedStep* s = view->step[body].own;
  size_t r = (size_t)d->basis->nmode, first = (size_t)tb_reduced_frame_dofs(d);
  double h = view->h, share = view->unconstrained[body].share;
  out->frame = d->now.frame, out->v = out->w = tb_zero3();
  for (size_t k = 0; k < r; k++) out->q[k] = d->now.q[k], out->qd[k] = share * velocity[first + k];
  if (d->nhold > 0) {
    for (size_t k = 0; k < r; k++) out->q[k] += h * out->qd[k];
    if (!first) return;
    out->frame = s->led, out->v = tb_load3(velocity), out->w = tb_load3(velocity + 3);
    return;
  }
  out->v = tb_scale3(share, tb_load3(velocity)), out->w = tb_scale3(share, tb_load3(velocity + 3));
  tb_reduced_drift(d, h, &s->start, out, s->work);
  if (flies && share == 1 && is_left_alone(&tb_bodies(view->world)[body]))
    tb_reduced_hold_energy(d, h, out, s->work);
  if (flies) // x⁺ = x + h v⁺ − a h²/2
    out->frame.x = tb_madd3(out->frame.x, -0.5 * h * share, tb_sub3(tb_load3(velocity), d->now.v));
}

static bool is_flying(const tbStepView* view, int body)
{
  return !view->unconstrained[body].held && (view->place[body].dof < 0 || !view->pushed[body]);
}

double* tb_reduced_changes(const tbBody* b, int k, int* count)
{
  tbReduced* d = b->own;
  int r = d->basis->nmode, n = d->fem->nnode;
  const struct {
    double* x;
    int count;
  } array[] = {{d->push, 6 + r},       {d->push, 0}, // no impulses
               {&d->now.frame.x.x, 3}, {&d->now.frame.q.w, 4}, {&d->now.v.x, 3},  {&d->now.w.x, 3},
               {d->now.q, r},          {d->now.qd, r},         {&d->x->x, 3 * n}, {&d->v->x, 3 * n}};
  if (k >= (int)(sizeof array / sizeof *array)) return NULL;
  *count = array[k].count;
  return array[k].x;
}

void tb_reduced_advance(const tbStepView* view, int index, tbBody* b)
{
  tbReduced* d = b->own;
  tbReducedStep* s = view->step[index].own;
  size_t r = (size_t)d->basis->nmode;
  go(view, index, tb_view_velocity(view, index), is_flying(view, index), &s->end);
  d->now.frame = s->end.frame, d->now.v = s->end.v, d->now.w = s->end.w;
  memcpy(d->now.q, s->end.q, r * sizeof *d->now.q);
  memcpy(d->now.qd, s->end.qd, r * sizeof *d->now.qd);
  memset(d->push, 0, (6 + r) * sizeof *d->push);
  tb_reduced_follow(b);
}

// What a share of the step takes of its momentum no contact did.
void tb_reduced_note(const tbStepView* view, int index, tbStepReport* report)
{
  const tbReduced* d = tb_bodies(view->world)[index].own;
  const double* v = tb_view_velocity(view, index);
  double share = view->unconstrained[index].share;
  if (share == 1) return;
  double size = 0; // of the momentum, as if all of it went one way
  int first = tb_reduced_frame_dofs(d);
  if (first) size = tb_norm3(tb_load3(v)) * d->basis->moments.mass;
  for (int k = 0; k < d->basis->nmode; k++) size += fabs(v[first + k]) * tb_norm3(d->basis->moments.shift[k]);
  report->changes.slowed = fmax(report->changes.slowed, (1 - share) * size);
}

tbStatus tb_reduced_surface(tbArena* arena, const tbBody* body, tbMovingSurface* out)
{
  const tbReduced* d = body->own;
  size_t n = (size_t)d->surface->nvertex;
  tbVec3* start = TB_TAKE(arena, tbVec3, n);
  int* holder = TB_TAKE(arena, int, n);
  if (!start || !holder) return TB_ERROR_MEMORY;
  for (size_t k = 0; k < n; k++) {
    int node = d->surface->node[k];
    start[k] = d->x[node];
    holder[k] = d->fem->pinned[node] ? TB_HELD_FAST : TB_HELD_NOT;
  }
  *out = (tbMovingSurface){.surface = d->surface,
                           .start = start,
                           .holder = d->nhold > 0 ? holder : NULL,
                           .body = d->body,
                           .self = d->self_contact,
                           .solid = true};
  return TB_OK;
}

static void put(const tbReduced* d, const tbReducedState* s, tbVec3* end)
{
  for (int k = 0; k < d->surface->nvertex; k++) end[k] = tb_reduced_point(d, s, d->surface->node[k]);
}

void tb_reduced_expect(const tbStepView* view, int body, tbVec3* end)
{
  const tbReduced* d = tb_bodies(view->world)[body].own;
  tbReducedStep* s = view->step[body].own;
  go(view, body, view->step[body].v_free, false, &s->end);
  put(d, &s->end, end);
}

void tb_reduced_move_surface(const tbStepView* view, int body, tbVec3* end)
{
  const tbReduced* d = tb_bodies(view->world)[body].own;
  tbReducedStep* s = view->step[body].own;
  go(view, body, tb_view_velocity(view, body), is_flying(view, body), &s->end);
  put(d, &s->end, end);
}

bool tb_reduced_moves_at(const tbBody* body, const int* vertex, int count)
{
  const tbReduced* d = body->own;
  for (int k = 0; k < count; k++)
    if (!d->fem->pinned[d->surface->node[vertex[k]]]) return true;
  return false;
}
