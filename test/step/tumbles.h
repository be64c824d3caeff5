// Random worlds of rigid bodies that fall, slide, bounce and fly fast, for properties that hold of every
// step.
#ifndef TB_TEST_TUMBLES_H
#define TB_TEST_TUMBLES_H

#include "step/joints.h"

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
  for (size_t i = 0; i < w->deformable.count; i++) {
    const tbDeformable* d = &tb_deformables(w)[i];
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

#endif
