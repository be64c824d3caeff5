// SPDX-License-Identifier: Apache-2.0
// What the kernels of soft-step compute with: as many pairs side by side as the machine likes, a batch or
// half of one from `lane` on; vectors of them, the motion of two bodies against each other, and the frame of
// a contact.
#ifndef TB_STEP_SOFT_STEP_LANES_H
#define TB_STEP_SOFT_STEP_LANES_H

#include "step/soft_step.h"

#include "base/simd_float.h"

typedef struct {
  tbwf x, y, z;
} V3;

static inline tbwf load(const tbSoftStepLane p, int lane) { return tbwf_load(p + lane); }
static inline void store(tbSoftStepLane p, int lane, tbwf a) { tbwf_store(p + lane, a); }
static inline V3 load3(const tbSoftStepLane p[3], int lane)
{
  return (V3){load(p[0], lane), load(p[1], lane), load(p[2], lane)};
}
static inline void store3(tbSoftStepLane p[3], int lane, V3 a)
{
  store(p[0], lane, a.x);
  store(p[1], lane, a.y);
  store(p[2], lane, a.z);
}
static inline V3 add3(V3 a, V3 b) { return (V3){tbwf_add(a.x, b.x), tbwf_add(a.y, b.y), tbwf_add(a.z, b.z)}; }
static inline V3 sub3(V3 a, V3 b) { return (V3){tbwf_sub(a.x, b.x), tbwf_sub(a.y, b.y), tbwf_sub(a.z, b.z)}; }
static inline V3 scale3(tbwf s, V3 a) { return (V3){tbwf_mul(s, a.x), tbwf_mul(s, a.y), tbwf_mul(s, a.z)}; }
static inline tbwf dot3(V3 a, V3 b)
{
  return tbwf_add(tbwf_add(tbwf_mul(a.x, b.x), tbwf_mul(a.y, b.y)), tbwf_mul(a.z, b.z));
}
static inline V3 cross3(V3 a, V3 b)
{
  return (V3){tbwf_sub(tbwf_mul(a.y, b.z), tbwf_mul(a.z, b.y)),
              tbwf_sub(tbwf_mul(a.z, b.x), tbwf_mul(a.x, b.z)),
              tbwf_sub(tbwf_mul(a.x, b.y), tbwf_mul(a.y, b.x))};
}

typedef struct {
  tbwf xx, xy, xz, yy, yz, zz;
} S3;
static inline S3 load_symmetric(const tbSoftStepLane p[6], int lane)
{
  return (S3){load(p[0], lane), load(p[1], lane), load(p[2], lane),
              load(p[3], lane), load(p[4], lane), load(p[5], lane)};
}
static inline V3 times(const S3* A, V3 x)
{
  return (V3){tbwf_add(tbwf_add(tbwf_mul(A->xx, x.x), tbwf_mul(A->xy, x.y)), tbwf_mul(A->xz, x.z)),
              tbwf_add(tbwf_add(tbwf_mul(A->xy, x.x), tbwf_mul(A->yy, x.y)), tbwf_mul(A->yz, x.z)),
              tbwf_add(tbwf_add(tbwf_mul(A->xz, x.x), tbwf_mul(A->yz, x.y)), tbwf_mul(A->zz, x.z))};
}

typedef struct {
  V3 linear, angular;
} Motion;

// Velocities of the bodies `at`, or how far they have come.
static inline Motion gather(const tbSoftStepBody* body, const int* at, bool way)
{
  const float* row[TB_WIDE_FLOATS];
  tbwf x[8];
  for (int i = 0; i < TB_WIDE_FLOATS; i++) row[i] = way ? body[at[i]].d : body[at[i]].v;
  tbwf_columns(row, x);
  return (Motion){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static inline void scatter(tbSoftStepBody* body, const int* at, int moving, Motion m)
{
  tbwf zero = tbwf_set1(0);
  tbwf x[8] = {m.linear.x, m.linear.y, m.linear.z, m.angular.x, m.angular.y, m.angular.z, zero, zero};
  tb8f row[TB_WIDE_FLOATS];
  tbwf_rows(x, row);
  for (int i = 0; i < TB_WIDE_FLOATS; i++)
    if (at[i] < moving) tb8_store(body[at[i]].v, row[i]);
}

// What a batch is to all of its points.
typedef struct {
  V3 n, t, b, across;
  tbwf mass_a, mass_b;
  S3 inertia_a, inertia_b;
} Pair;

static inline Pair pair_of(const tbSoftStepBatch* batch, int lane)
{
  Pair p = {.n = load3(batch->normal, lane),
            .t = load3(batch->tangent, lane),
            .across = load3(batch->across, lane)};
  p.b = cross3(p.n, p.t);
  p.mass_a = load(batch->mass_a, lane), p.mass_b = load(batch->mass_b, lane);
  p.inertia_a = load_symmetric(batch->inertia_a, lane), p.inertia_b = load_symmetric(batch->inertia_b, lane);
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
  V3 linear = add3(scale3(tbwf_add(p->mass_a, p->mass_b), impulse), cross3(by_b, p->across));
  return (Motion){into_frame(p, linear), into_frame(p, add3(by_a, by_b))};
}

// B's motion against A's now, in the frame.
static inline Motion in_frame(const Pair* p, const Motion* a, const Motion* b)
{
  Motion u = against(p, a, b);
  return (Motion){into_frame(p, u.linear), into_frame(p, u.angular)};
}
static inline V3 at_arm(const Motion* u, V3 arm) { return add3(u->linear, cross3(u->angular, arm)); }

static inline tbwf inverse_or_zero(tbwf x)
{
  tbwf zero = tbwf_set1(0);
  return tbwf_choose(x, zero, tbwf_div(tbwf_set1(1), x), zero);
}

#endif
