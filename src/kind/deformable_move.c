// SPDX-License-Identifier: Apache-2.0
// A deformable body and its surface, from the start of a step to its end.
#include "kind/deformable_step.h"

// A body that goes a share of the step is as much slower at its end: its nodes go where their velocities say.
void tb_deformable_advance(const tbStepView* view, int index, tbBody* b)
{
  tbDeformable* d = b->own;
  const double* v = tb_view_velocity(view, index);
  double share = view->unconstrained[index].share;
  for (int n = 0; n < d->fem->nnode; n++) {
    d->v[n] = tb_scale3(share, tb_load3(v + 3 * (size_t)n));
    d->x[n] = tb_madd3(d->x[n], view->h, d->v[n]);
    d->force[n] = tb_zero3();
  }
  tb_deformable_follow(b);
}

double* tb_deformable_changes(const tbBody* body, int k, int* count)
{
  const tbDeformable* d = body->own;
  tbVec3* const array[] = {d->force, d->pull, d->x, d->v};
  *count = 3 * d->fem->nnode;
  return k < (int)(sizeof array / sizeof *array) ? &array[k]->x : NULL;
}

// What that takes of its momentum no contact did.
void tb_deformable_note(const tbStepView* view, int index, tbStepReport* report)
{
  const tbDeformable* d = tb_bodies(view->world)[index].own;
  const tbVec3* v = (const tbVec3*)tb_view_velocity(view, index);
  double share = view->unconstrained[index].share;
  if (share == 1) return;
  tbVec3 momentum = tb_zero3();
  for (int n = 0; n < d->fem->nnode; n++) momentum = tb_add3(momentum, tb_fem_momentum(d->fem, v, n));
  report->changes.slowed = fmax(report->changes.slowed, (1 - share) * tb_norm3(momentum));
}

tbStatus tb_deformable_surface(tbArena* arena, const tbBody* body, tbMovingSurface* out)
{
  const tbDeformable* d = body->own;
  size_t n = (size_t)d->surface->nvertex;
  tbVec3* start = TB_TAKE(arena, tbVec3, n);
  int* holder = TB_TAKE(arena, int, n);
  if (!start || !holder) return TB_ERROR_MEMORY;
  for (size_t k = 0; k < n; k++) {
    int node = d->surface->node[k], hold = d->holder[node], by = hold < 0 ? -1 : d->hold[hold].body;
    start[k] = d->x[node];
    holder[k] = hold < 0 ? TB_HELD_NOT : by < 0 ? TB_HELD_FAST : by;
  }
  *out = (tbMovingSurface){.surface = d->surface,
                           .start = start,
                           .holder = d->nhold > 0 ? holder : NULL,
                           .body = d->body,
                           .self = d->self_contact,
                           .solid = !body->kind->sheet,
                           .radius = d->radius};
  return TB_OK;
}

// Vertices are taken to go on as they go, and fall; where held ones go is known.
void tb_deformable_expect(const tbStepView* view, int body, tbVec3* end)
{
  const tbDeformable* d = tb_bodies(view->world)[body].own;
  const tbDeformableStep* s = view->step[body].own;
  double h = view->h;
  for (int k = 0; k < d->surface->nvertex; k++) {
    int node = d->surface->node[k];
    tbVec3 v = d->fem->pinned[node] ? s->pin[node] : tb_madd3(d->v[node], h, view->world->gravity);
    end[k] = tb_madd3(d->x[node], h, v);
  }
}

void tb_deformable_move_surface(const tbStepView* view, int body, tbVec3* end)
{
  const tbDeformable* d = tb_bodies(view->world)[body].own;
  const double* v = tb_view_velocity(view, body);
  double h = view->h * view->unconstrained[body].share;
  for (int k = 0; k < d->surface->nvertex; k++) {
    int node = d->surface->node[k];
    end[k] = tb_madd3(d->x[node], h, tb_load3(v + 3 * (size_t)node));
  }
}

bool tb_deformable_moves_at(const tbBody* body, const int* vertex, int count)
{
  const tbDeformable* d = body->own;
  for (int k = 0; k < count; k++)
    if (!d->fem->pinned[d->surface->node[vertex[k]]]) return true;
  return false;
}

// The triangle takes its sides and its unit normal at rest to those it has now; whatever lies in its plane
// is a sum of the sides.
static tbVec3 carried(const tbDeformable* d, int triangle, tbVec3 direction)
{
  const int* corner = d->surface->triangle[triangle];
  const tbVec3* rest = d->surface->rest;
  tbVec3 x[3];
  for (int i = 0; i < 3; i++) x[i] = d->x[d->surface->node[corner[i]]];
  tbVec3 E = tb_sub3(rest[corner[1]], rest[corner[0]]), F = tb_sub3(rest[corner[2]], rest[corner[0]]);
  tbVec3 e = tb_sub3(x[1], x[0]), f = tb_sub3(x[2], x[0]), N = tb_cross3(E, F), n = tb_cross3(e, f);
  double area = tb_dot3(N, N);
  if (!(area > 0)) return tb_zero3();
  double along_e = tb_dot3(tb_cross3(direction, F), N) / area,
         along_f = tb_dot3(tb_cross3(E, direction), N) / area;
  tbVec3 in_plane = tb_add3(tb_scale3(along_e, e), tb_scale3(along_f, f));
  double out_of_plane = tb_dot3(direction, N) / sqrt(area), size = tb_norm3(n);
  return size > 0 ? tb_madd3(in_plane, out_of_plane / size, n) : in_plane;
}

// The mean over the triangles around the vertices, by the vertices' weights.
tbVec3 tb_deformable_direction(const tbBody* body, const int* vertex, const double* weight, int count,
                               tbVec3 direction)
{
  const tbDeformable* d = body->own;
  tbVec3 rest = tb_quat_rotate(body->initial.q, direction), sum = tb_zero3();
  for (int k = 0; k < count; k++) {
    int begin = d->surface->star_adr[vertex[k]], end = d->surface->star_adr[vertex[k] + 1];
    for (int i = begin; i < end; i++)
      sum = tb_madd3(sum, weight[k] / (end - begin), carried(d, d->surface->star[i], rest));
  }
  return tb_norm3(sum) > 0 ? tb_normalize3(sum) : rest;
}

tbVec3 tb_deformable_at_rest(const tbBody* body, const int* vertex, const double* weight, int count)
{
  const tbDeformable* d = body->own;
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < count; k++) sum = tb_madd3(sum, weight[k], d->surface->rest[vertex[k]]);
  return tb_transform_unpoint(body->initial, sum);
}

tbVec3 tb_deformable_speed_at(const tbBody* body, const int* vertex, const double* weight, int count)
{
  const tbDeformable* d = body->own;
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < count; k++) sum = tb_madd3(sum, weight[k], d->v[d->surface->node[vertex[k]]]);
  return sum;
}
