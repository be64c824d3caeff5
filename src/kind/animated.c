// SPDX-License-Identifier: Apache-2.0
#include "kind/animated.h"

#include "kind/rigid.h"

// ---- where vertices are ----

// The frame that time is in or behind, and how far towards the next one.
static int find_frame(const tbAnimated* a, double time, double* share)
{
  int lo = 0, hi = a->nframe - 1;
  while (lo < hi) { // the last frame that has begun
    int mid = lo + (hi - lo + 1) / 2;
    if (a->t[mid] <= time) lo = mid;
    else hi = mid - 1;
  }
  bool between = lo + 1 < a->nframe && time > a->t[lo];
  *share = between ? (time - a->t[lo]) / (a->t[lo + 1] - a->t[lo]) : 0;
  return lo;
}

static tbVec3 place_of(const tbAnimated* a, int frame, double share, int vertex)
{
  const tbVec3* at = a->at + (size_t)frame * (size_t)a->nvertex + vertex;
  return share > 0 ? tb_lerp3(at[0], at[a->nvertex], share) : at[0];
}

// How fast it goes in the body's frame from that time on.
static tbVec3 speed_of(const tbAnimated* a, int frame, double time, int vertex)
{
  const tbVec3* at = a->at + (size_t)frame * (size_t)a->nvertex + vertex;
  if (frame + 1 >= a->nframe || time < a->t[0]) return tb_zero3();
  return tb_scale3(1 / (a->t[frame + 1] - a->t[frame]), tb_sub3(at[a->nvertex], at[0]));
}

static double reach(const tbAnimated* a, tbVec3 from)
{
  double far = 0;
  for (int i = 0; i < a->nvertex; i++) far = fmax(far, tb_distance3(a->x[i], from));
  return far + a->radius;
}

void tb_animated_follow(const tbWorld* w, tbBody* b)
{
  tbAnimated* a = b->own;
  double share, time = w->time;
  int frame = find_frame(a, time, &share);
  for (int i = 0; i < a->nvertex; i++) {
    tbVec3 arm = tb_quat_rotate(b->q, place_of(a, frame, share, i));
    a->x[i] = tb_add3(b->x, arm);
    tbVec3 own = tb_quat_rotate(b->q, speed_of(a, frame, time, i));
    a->v[i] = tb_add3(tb_add3(b->v, tb_cross3(b->w, arm)), own);
  }
  b->radius = reach(a, b->x);
}

static void place(tbWorld* w, int body, const tbBodyState* s)
{
  tb_frame_place(w, body, s);
  tb_animated_follow(w, &tb_bodies(w)[body]);
}

// ---- over a step ----

static void advance(const tbStepView* view, int index, tbBody* b)
{
  tbAnimated* a = b->own;
  double share, h = view->h;
  int frame = find_frame(a, view->world->time + h, &share);
  tb_follow(view->world, b, &view->unconstrained[index], h);
  for (int i = 0; i < a->nvertex; i++) {
    tbVec3 x = tb_add3(b->x, tb_quat_rotate(b->q, place_of(a, frame, share, i)));
    a->v[i] = tb_scale3(1 / h, tb_sub3(x, a->x[i]));
    a->x[i] = x;
  }
  b->radius = reach(a, b->x);
}

static void move_surface(const tbStepView* view, int body, tbVec3* end)
{
  const tbBody* b = &tb_bodies(view->world)[body];
  const tbAnimated* a = b->own;
  double share, then = view->world->time + view->h;
  tbTransform T = tb_motion_at(view->world, b, then);
  int frame = find_frame(a, then, &share);
  for (int k = 0; k < a->surface->nvertex; k++)
    end[k] = tb_transform_point(T, place_of(a, frame, share, a->surface->node[k]));
}

static tbStatus surface(tbArena* arena, const tbBody* body, tbMovingSurface* out)
{
  const tbAnimated* a = body->own;
  tbVec3* start = TB_TAKE(arena, tbVec3, (size_t)a->surface->nvertex);
  if (!start) return TB_ERROR_MEMORY;
  for (int k = 0; k < a->surface->nvertex; k++) start[k] = a->x[a->surface->node[k]];
  *out = (tbMovingSurface){.surface = a->surface, .start = start, .fixed = true, .radius = a->radius};
  return TB_OK;
}

static bool moves_at(const tbBody* body, const int* vertex, int count)
{
  (void)body, (void)vertex, (void)count;
  return false;
}

static double* changes(const tbBody* body, int k, int* count)
{
  const tbAnimated* a = body->own;
  tbVec3* const array[] = {a->x, a->x, a->x, a->v}; // neither forces nor impulses
  *count = k > TB_CHANGES_IMPULSE ? 3 * a->nvertex : 0;
  return k < (int)(sizeof array / sizeof *array) ? &array[k]->x : NULL;
}

// ---- state ----

static int dofs(const tbBody* b)
{
  (void)b;
  return 0;
}

static void release(tbContext* ctx, tbBody* b)
{
  tb_animated_free(ctx, b->own);
  b->own = NULL;
}

static uint64_t hash(uint64_t h, const tbBody* b)
{
  const tbAnimated* a = b->own;
  return tb_hash_numbers(h, &a->x->x, 3 * a->nvertex);
}

static tbNodes nodes(const tbBody* b)
{
  const tbAnimated* a = b->own;
  return (tbNodes){.count = a->nvertex,
                   .x = a->x,
                   .v = a->v,
                   .ntriangle = a->ntriangle,
                   .triangle = (const int(*)[3])a->triangle,
                   .nelement = a->ntriangle,
                   .corners = 3,
                   .element = a->triangle[0]};
}

const tbKind tb_kind_animated = {.name = "animated",
                                 .sheet = true,
                                 .motion = TB_BODY_KINEMATIC,
                                 .dofs = dofs,
                                 .release = release,
                                 .place = place,
                                 .hash = hash,
                                 .code = tb_animated_code,
                                 .nodes = nodes,
                                 .unconstrained = tb_frame_unconstrained,
                                 .changes = changes,
                                 .advance = advance,
                                 .surface = surface,
                                 .expect = move_surface,
                                 .move_surface = move_surface,
                                 .moves_at = moves_at};
