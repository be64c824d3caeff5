// SPDX-License-Identifier: Apache-2.0
// Random worlds of rigid bodies that fall, slide, bounce and fly fast, for properties that hold of every
// step.
#ifndef TB_TEST_TUMBLES_H
#define TB_TEST_TUMBLES_H

#include "kind/deformables.h"
#include "step/joints.h"

#include <string.h>

static inline tbVec3 tumble_vec(tbRandom* r, double size)
{
  double x = test_uniform(r, -size, size), y = test_uniform(r, -size, size);
  return tb_vec3(x, y, test_uniform(r, -size, size));
}

// Eight bodies over a floor, a plate of a millimetre and a block in prescribed motion; the last two are small
// and shot at the plate. Seeds decide friction, restitution, step and how overlaps go away.
static inline Stage tumble(int seed, const char* scheme)
{
  static const double dts[] = {1.0 / 60, 0.01, 0.002};
  tbRandom r = test_random((uint64_t)seed);
  Stage s = stage_open(seed % 3 * 0.4, seed % 2 ? 0.6 : 0);
  s.step.scheme = scheme, s.step.dt = dts[seed / 2 % 3];
  if (seed % 4 >= 2) s.step.stabilization = TB_STABILIZE_PROJECTION;
  stage_floor(&s, 0, 0);
  stage_fixed(&s, tb_shape_box(tb_vec3(0.001, 4, 4)), tb_vec3(2, 0, 2), tb_quat_identity());
  tbBodyDef block = tb_default_body_def();
  tbShape slab = tb_shape_box(tb_vec3(0.5, 3, 0.4));
  block.kind = TB_BODY_KINEMATIC, block.shapes = &slab, block.shape_count = 1;
  block.position = tb_vec3(-2, 0, 0.5), block.velocity = tb_vec3(1.5, 0, 0);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &block, &id));
  for (int i = 0; i < 6; i++) {
    tbShape shape = i % 3 == 0   ? tb_shape_sphere(0.2)
                    : i % 3 == 1 ? tb_shape_box(tb_vec3(0.4, 0.4, 0.4))
                                 : tb_shape_box(tb_vec3(0.5, 0.3, 0.2));
    tbVec3 at = tb_vec3(0.7 * (i % 2) - 0.3, 0.6 * (i / 2) - 0.6, 0.36 + test_uniform(&r, 0, 0.1));
    tbQuat q = tb_quat_exp(tumble_vec(&r, 1));
    id = stage_add(&s, shape, test_uniform(&r, 0.1, 10), at, q);
    stage_push(&s, id, tumble_vec(&r, 3), tumble_vec(&r, 5));
  }
  for (int i = 0; i < 2; i++) {
    tbVec3 v = tb_add3(tb_vec3(120, 0, 0), tumble_vec(&r, 5));
    id = stage_shoot(&s, i ? tb_shape_box(tb_vec3(0.02, 0.02, 0.02)) : tb_shape_sphere(0.01),
                     tb_vec3(-1, 0.5 - i, 2 + 0.3 * i), v, tumble_vec(&r, 30), false);
  }
  return s;
}

// A copy of the bodies before a step.
enum { TUMBLE_BODIES = 64 };

typedef struct {
  tbBody body[TUMBLE_BODIES];
  int count;
} Before;

static inline Before tumble_before(const tbWorld* w)
{
  Before b = {.count = (int)w->body.count};
  for (int i = 0; i < b.count && i < TUMBLE_BODIES; i++) b.body[i] = tb_bodies(w)[i];
  return b;
}

// Whether pins or attached nodes act on a body, which publish no impulse.
static inline bool is_held(const tbWorld* w, int body)
{
  for (int i = 0; deformable_at(w, i); i++) {
    const tbDeformable* d = deformable_at(w, i);
    if (d->body == body && d->nhold > 0) return true;
    for (int k = 0; k < d->nhold; k++)
      if (d->hold[k].body == body) return true;
  }
  return false;
}

// The impulse of a contact on its second body, world axes.
static inline tbVec3 contact_impulse(const tbContactView* c)
{
  tbVec3 b = tb_cross3(c->normal, c->tangent), sum = tb_scale3(c->impulse[0], c->normal);
  if (c->rows < 3) return sum;
  return tb_add3(sum, tb_add3(tb_scale3(c->impulse[1], c->tangent), tb_scale3(c->impulse[2], b)));
}

// Whether contacts, joints, pins or attached nodes act on a body.
static inline bool is_pushed(const tbWorld* w, int body)
{
  if (is_held(w, body)) return true;
  for (int i = 0; i < tb_world_contact_count(w); i++) {
    tbContactView c = tb_world_contact(w, i);
    if ((c.a.index == body || c.b.index == body) && tb_norm3(contact_impulse(&c)) > 0) return true;
  }
  for (size_t i = 0; i < w->joint.count; i++)
    if (tb_joints(w)[i].a == body || tb_joints(w)[i].b == body) return true;
  return false;
}

// Where a body's velocities take it, by the rule of the scheme that suits best.
//
//   moreau                                   x⁺ = x + h/2 (v + v⁺)
//   ipc, penalty                             x⁺ = x + h v⁺, in flight, too
//   the others, in contact or in joints      x⁺ = x + h v⁺
//   the others, in flight                    x⁺ = x + h v⁺ − h² a/2
//   the others, struck at the moment t       x⁺ = x_t + r v⁺, in flight − r² a/2, with r = h − t and
//                                            x_t = x + t v, in flight + t² a/2
typedef struct {
  tbVec3 x, v, x1, v1, a; // before and after, and the acceleration of flight
  double h;
} Path;

typedef struct {
  double miss;   // m: how far x⁺ is from there
  double t;      // when its velocity changed
  tbVec3 centre; // and where
} PathFit;

// flew, flies: before and after the moment t.
static inline tbVec3 path_at(const Path* p, double t, bool flew)
{
  tbVec3 x = tb_madd3(p->x, t, p->v);
  return flew ? tb_madd3(x, 0.5 * t * t, p->a) : x;
}

static inline tbVec3 path_miss(const Path* p, double t, bool flew, bool flies)
{
  double r = p->h - t;
  tbVec3 x = tb_madd3(path_at(p, t, flew), r, p->v1);
  return tb_sub3(p->x1, flies ? tb_madd3(x, -0.5 * r * r, p->a) : x);
}

// Struck at the moment that suits best: three equations for the one number that is not published.
static inline PathFit path_struck(const Path* p, bool flew, bool flies)
{
  double t = 0;
  for (int k = 0; k < 30; k++) {
    tbVec3 miss = path_miss(p, t, flew, flies), slope = tb_sub3(p->v, p->v1);
    if (flew) slope = tb_madd3(slope, t, p->a);
    if (flies) slope = tb_madd3(slope, p->h - t, p->a);
    double size = tb_dot3(slope, slope);
    if (size > 0) t = fmin(fmax(t + tb_dot3(miss, slope) / size, 0), p->h);
  }
  return (PathFit){tb_norm3(path_miss(p, t, flew, flies)), t, path_at(p, t, flew)};
}

static inline PathFit path_fit(const Path* p, const char* scheme, bool pushed, bool bounces)
{
  double half = 0.5 * p->h;
  tbVec3 middle = tb_madd3(p->x, half, p->v);
  if (scheme[0] == 'm') return (PathFit){tb_distance3(p->x1, tb_madd3(middle, half, p->v1)), half, middle};
  if (strcmp(scheme, "ipc") == 0) pushed = true, bounces = false; // no restitution
  if (strcmp(scheme, "penalty") == 0) pushed = true;
  PathFit best = {tb_norm3(path_miss(p, 0, false, !pushed)), 0, p->x};
  if (strcmp(scheme, "soft-step") == 0) return best; // the levers of a step are those of its start
  for (int k = 0; bounces && k < 4; k++) {
    PathFit fit = path_struck(p, k & 1, k & 2);
    if (fit.miss < best.miss - 1e-14 * tb_norm3(p->x1)) best = fit;
  }
  return best;
}

#endif
