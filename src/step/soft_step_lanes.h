// SPDX-License-Identifier: Apache-2.0
// What the kernels of soft-step compute with: eight pairs side by side, vectors of eight lanes, the motion of
// two bodies against each other, and the frame of a contact.
#ifndef TB_STEP_SOFT_STEP_LANES_H
#define TB_STEP_SOFT_STEP_LANES_H

#include "step/soft_step.h"

#include "base/simd_float.h"

typedef struct {
  tb8f x, y, z;
} V3;

static inline V3 load3(const tbSoftStepLane p[3])
{
  return (V3){tb8_load(p[0]), tb8_load(p[1]), tb8_load(p[2])};
}
static inline void store3(tbSoftStepLane p[3], V3 a)
{
  tb8_store(p[0], a.x);
  tb8_store(p[1], a.y);
  tb8_store(p[2], a.z);
}
static inline V3 add3(V3 a, V3 b) { return (V3){tb8_add(a.x, b.x), tb8_add(a.y, b.y), tb8_add(a.z, b.z)}; }
static inline V3 sub3(V3 a, V3 b) { return (V3){tb8_sub(a.x, b.x), tb8_sub(a.y, b.y), tb8_sub(a.z, b.z)}; }
static inline V3 scale3(tb8f s, V3 a) { return (V3){tb8_mul(s, a.x), tb8_mul(s, a.y), tb8_mul(s, a.z)}; }
static inline tb8f dot3(V3 a, V3 b)
{
  return tb8_add(tb8_add(tb8_mul(a.x, b.x), tb8_mul(a.y, b.y)), tb8_mul(a.z, b.z));
}
static inline V3 cross3(V3 a, V3 b)
{
  return (V3){tb8_sub(tb8_mul(a.y, b.z), tb8_mul(a.z, b.y)), tb8_sub(tb8_mul(a.z, b.x), tb8_mul(a.x, b.z)),
              tb8_sub(tb8_mul(a.x, b.y), tb8_mul(a.y, b.x))};
}

typedef struct {
  tb8f xx, xy, xz, yy, yz, zz;
} S3;
static inline S3 load_symmetric(const tbSoftStepLane p[6])
{
  return (S3){tb8_load(p[0]), tb8_load(p[1]), tb8_load(p[2]), tb8_load(p[3]), tb8_load(p[4]), tb8_load(p[5])};
}
static inline V3 times(const S3* A, V3 x)
{
  return (V3){tb8_add(tb8_add(tb8_mul(A->xx, x.x), tb8_mul(A->xy, x.y)), tb8_mul(A->xz, x.z)),
              tb8_add(tb8_add(tb8_mul(A->xy, x.x), tb8_mul(A->yy, x.y)), tb8_mul(A->yz, x.z)),
              tb8_add(tb8_add(tb8_mul(A->xz, x.x), tb8_mul(A->yz, x.y)), tb8_mul(A->zz, x.z))};
}

typedef struct {
  V3 linear, angular;
} Motion;

// Rows of eight bodies become six columns.
static inline Motion gather(const tbSoftStepBody* body, const int at[TB_SOFT_STEP_LANES], bool way)
{
  tb8f x[8];
  for (int i = 0; i < 8; i++) x[i] = tb8_load(way ? body[at[i]].d : body[at[i]].v);
  tb8_transpose(x);
  return (Motion){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static inline void scatter(tbSoftStepBody* body, const int at[TB_SOFT_STEP_LANES], int moving, Motion m)
{
  tb8f zero = tb8_set1(0);
  tb8f x[8] = {m.linear.x, m.linear.y, m.linear.z, m.angular.x, m.angular.y, m.angular.z, zero, zero};
  tb8_transpose(x);
  for (int i = 0; i < 8; i++)
    if (at[i] < moving) tb8_store(body[at[i]].v, x[i]);
}
// What a batch is to all of its points.
typedef struct {
  V3 n, t, b, across;
  tb8f mass_a, mass_b;
  S3 inertia_a, inertia_b;
} Pair;

static inline Pair pair_of(const tbSoftStepBatch* batch)
{
  Pair p = {.n = load3(batch->normal), .t = load3(batch->tangent), .across = load3(batch->across)};
  p.b = cross3(p.n, p.t);
  p.mass_a = tb8_load(batch->mass_a), p.mass_b = tb8_load(batch->mass_b);
  p.inertia_a = load_symmetric(batch->inertia_a), p.inertia_b = load_symmetric(batch->inertia_b);
  return p;
}

// B's motion against A's, as the velocity of the points: u = linear + angular × (arm from the centre of a).
static inline Motion against(const Pair* p, const Motion* a, const Motion* b)
{
  V3 at_a = add3(sub3(b->linear, a->linear), cross3(b->angular, p->across));
  return (Motion){at_a, sub3(b->angular, a->angular)};
}

// An impulse on b, and its moment about the centre of a.
static inline void push(const Pair* p, V3 impulse, V3 moment, Motion* a, Motion* b)
{
  a->linear = sub3(a->linear, scale3(p->mass_a, impulse));
  a->angular = sub3(a->angular, times(&p->inertia_a, moment));
  b->linear = add3(b->linear, scale3(p->mass_b, impulse));
  b->angular = add3(b->angular, times(&p->inertia_b, add3(moment, cross3(p->across, impulse))));
}

// Components along the normal, the tangent and normal × tangent, and back.
static inline V3 into_frame(const Pair* p, V3 x) { return (V3){dot3(p->n, x), dot3(p->t, x), dot3(p->b, x)}; }
static inline V3 from_frame(const Pair* p, V3 x)
{
  return add3(scale3(x.x, p->n), add3(scale3(x.y, p->t), scale3(x.z, p->b)));
}

// The change of `against` by an impulse and its moment about the centre of a; all of it in the frame.
static inline Motion response(const Pair* p, V3 impulse, V3 moment)
{
  impulse = from_frame(p, impulse), moment = from_frame(p, moment);
  V3 by_a = times(&p->inertia_a, moment);
  V3 by_b = times(&p->inertia_b, add3(moment, cross3(p->across, impulse)));
  V3 linear = add3(scale3(tb8_add(p->mass_a, p->mass_b), impulse), cross3(by_b, p->across));
  return (Motion){into_frame(p, linear), into_frame(p, add3(by_a, by_b))};
}

// B's motion against A's now, in the frame.
static inline Motion in_frame(const Pair* p, const Motion* a, const Motion* b)
{
  Motion u = against(p, a, b);
  return (Motion){into_frame(p, u.linear), into_frame(p, u.angular)};
}
static inline V3 at_arm(const Motion* u, V3 arm) { return add3(u->linear, cross3(u->angular, arm)); }

static inline tb8f inverse_or_zero(tb8f x)
{
  tb8f zero = tb8_set1(0);
  return tb8_choose(x, zero, tb8_div(tb8_set1(1), x), zero);
}

#endif
