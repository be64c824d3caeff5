// SPDX-License-Identifier: Apache-2.0
#include "property/random_worlds.h"

#include "tribo/math.h"

static tbVec3 anywhere(tbRandom* random, double size)
{
  double x = test_uniform(random, -size, size), y = test_uniform(random, -size, size);
  return tb_vec3(x, y, test_uniform(random, -size, size));
}

// Bodies stand in cells of a grid at the start, so that none overlaps another, and fly towards its middle.
RandomWorld random_world(RandomKind kind, uint64_t seed)
{
  tbRandom random = test_random(seed);
  RandomWorld r = {.friction = test_uniform(&random, 0, 0.8),
                   .restitution = seed % 3 == 0 ? 0.5 : 0,
                   .gravity = kind == RANDOM_CLUSTER ? 0 : 10,
                   .dt = 1.0 / 128,
                   .floor = kind != RANDOM_CLUSTER};
  for (int i = 0; i < RANDOM_BODIES; i++) {
    RandomBody* b = &r.body[i];
    double size = test_uniform(&random, 0.1, 0.25);
    int type = kind == RANDOM_SPHERES ? 0 : test_below(&random, 3);
    if (type == 0) b->shape = tb_shape_sphere(size);
    else if (type == 1) b->shape = tb_shape_box(tb_vec3(size, 1.2 * size, 1.4 * size));
    else b->shape = tb_shape_capsule(0.5 * size, size);
    b->mass = test_uniform(&random, 0.5, 4);
    b->x = tb_vec3(0.55 * (i % 2), 0.55 * (i / 2 % 2), 0.3 + 0.55 * (double)(i / 4));
    b->x = tb_add3(b->x, anywhere(&random, 0.01));
    b->v = tb_add3(tb_scale3(-2, tb_sub3(b->x, tb_vec3(0.275, 0.275, 0.8))), anywhere(&random, 0.3));
    b->w = anywhere(&random, 3);
    tbQuat q = {test_uniform(&random, 0.1, 1), test_uniform(&random, -1, 1), test_uniform(&random, -1, 1),
                test_uniform(&random, -1, 1)};
    b->q = tb_quat_normalize(q);
  }
  return r;
}

static tbShape scaled(tbShape s, double by)
{
  if (s.type == TB_SHAPE_SPHERE) return tb_shape_sphere(by * s.sphere.radius);
  if (s.type == TB_SHAPE_BOX) return tb_shape_box(tb_scale3(2 * by, s.box.half));
  return tb_shape_capsule(by * s.capsule.radius, 2 * by * s.capsule.half);
}

static void add(MadeWorld* m, const RandomWorld* r, int i, Units u)
{
  const RandomBody* b = &r->body[i];
  tbShape shape = scaled(b->shape, u.length);
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.mass = b->mass * u.mass;
  def.position = tb_scale3(u.length, b->x), def.orientation = b->q;
  def.velocity = tb_scale3(u.length / u.time, b->v), def.angular_velocity = tb_scale3(1 / u.time, b->w);
  CHECK_OK(&m->ctx, tb_world_add_body(&m->ctx, m->world, &def, &m->id[i]));
}

static void add_floor(MadeWorld* m)
{
  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_FIXED, def.shapes = &plane, def.shape_count = 1;
  CHECK_OK(&m->ctx, tb_world_add_body(&m->ctx, m->world, &def, NULL));
}

MadeWorld make_world(const RandomWorld* r, const char* scheme, Units u, const int* order, bool floor_first)
{
  MadeWorld m = {.ctx = tb_default_context(), .step = tb_default_step_options()};
  tbWorldDef def = tb_default_world_def();
  def.gravity = tb_vec3(0, 0, -r->gravity * u.length / (u.time * u.time));
  CHECK_OK(&m.ctx, tb_world_create(&m.ctx, &def, &m.world));
  CHECK_OK(&m.ctx, tb_world_set_pair(&m.ctx, m.world, (tbMaterialId){0, 0}, (tbMaterialId){0, 0},
                                     tb_friction(r->friction), r->restitution));
  if (r->floor && floor_first) add_floor(&m);
  for (int i = 0; i < RANDOM_BODIES; i++) add(&m, r, order ? order[i] : i, u);
  if (r->floor && !floor_first) add_floor(&m);
  m.step.scheme = scheme, m.step.dt = r->dt * u.time;
  m.step.slop *= u.length, m.step.margin *= u.length;
  m.step.solver.velocity_tolerance *= u.length / u.time;
  m.step.compliance *= u.time * u.time / u.mass;
  m.step.penalty_stiffness *= u.mass / (u.time * u.time);
  m.step.push_speed *= u.length / u.time, m.step.hertz /= u.time;
  m.step.velocity_threshold *= u.length / u.time, m.step.newton_tolerance *= u.length / u.time;
  return m;
}

void drop_world(MadeWorld* m) { tb_world_free(&m->ctx, m->world); }
