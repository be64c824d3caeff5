// SPDX-License-Identifier: Apache-2.0
// A definition that breaks a rule is refused with a message and leaves the world as it was.
#include "scene/world.h"
#include "step/heap.h"
#include "test.h"

static tbShape sphere, plane;

typedef struct {
  tbContext ctx;
  tbWorld* w;
  size_t bodies, shapes, keys, joints, surfaces;
  uint64_t hash;
} Watched;

static Watched watch(void)
{
  Watched x = {.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&x.ctx, tb_world_create(&x.ctx, &def, &x.w));
  CHECK_OK(&x.ctx, heap_build(&x.ctx, x.w, 12));
  x.bodies = x.w->body.count, x.shapes = x.w->shape.count, x.keys = x.w->key.count;
  x.joints = x.w->joint.count, x.surfaces = x.w->contact_material.count, x.hash = tb_world_hash(x.w);
  return x;
}

static void refused(Watched* x, tbStatus status, const char* what)
{
  bool same = x->bodies == x->w->body.count && x->shapes == x->w->shape.count && x->keys == x->w->key.count &&
              x->joints == x->w->joint.count && x->surfaces == x->w->contact_material.count &&
              x->hash == tb_world_hash(x->w);
  if ((status != TB_ERROR_ARGUMENT && status != TB_ERROR_INPUT) || !same || !x->ctx.error.message[0])
    test_failed(__FILE__, __LINE__, "%s: %s, the world is %s", what, tb_status_name(status),
                same ? "as it was" : "changed");
  x->ctx.error.message[0] = 0;
}

#define BODY(change)                                                \
  do {                                                              \
    tbBodyDef d = tb_default_body_def();                            \
    d.shapes = &sphere, d.shape_count = 1;                          \
    change;                                                         \
    refused(&x, tb_world_add_body(&x.ctx, x.w, &d, NULL), #change); \
  } while (0)

TEST(bad_bodies_are_refused)
{
  Watched x = watch();
  sphere = tb_shape_sphere(0.1), plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbShape bad = tb_shape_sphere(-1);
  tbFriction sticky = tb_friction(-1);
  double restitution = 1.5;
  tbMotionKey keys[2] = {{1, {0, 0, 0}, tb_quat_identity()}, {1, {1, 0, 0}, tb_quat_identity()}};
  BODY(d.mass = -1);
  BODY(d.mass = NAN);
  BODY(d.density = -5);
  BODY(d.position.x = NAN);
  BODY(d.orientation = tb_quat(0, 0, 0, 0));
  BODY(d.velocity.y = INFINITY);
  BODY(d.angular_velocity.z = NAN);
  BODY(d.shapes = &bad);
  BODY(d.shapes = &plane);
  BODY(d.shapes = NULL);
  BODY(d.shape_count = 0);
  BODY(d.shape_count = -1);
  BODY(d.material.index = 7);
  BODY(d.friction = &sticky);
  BODY(d.restitution = &restitution);
  BODY((d.inertia[0] = 1, d.inertia[1] = -1, d.inertia[2] = 1));
  BODY((d.keys = keys, d.key_count = 1));
  BODY((d.kind = TB_BODY_KINEMATIC, d.keys = keys, d.key_count = 2));
  BODY((d.kind = (tbBodyMotion)3));
  BODY(d.name = "body/3");
  tbMesh* sheet;
  CHECK_OK(&x.ctx, tb_cloth_grid(&x.ctx, 1, 1, 2, 2, &sheet));
  tbShape open = tb_shape_mesh(sheet);
  BODY(d.shapes = &open);
  tb_mesh_free(&x.ctx, sheet);
  tb_world_free(&x.ctx, x.w);
}

#define JOINT(kind, change)                                          \
  do {                                                               \
    tbJointDef d = tb_default_joint_def(kind);                       \
    d.a.index = 2, d.b.index = 3;                                    \
    change;                                                          \
    refused(&x, tb_world_add_joint(&x.ctx, x.w, &d, NULL), #change); \
  } while (0)

TEST(bad_joints_are_refused)
{
  Watched x = watch();
  tbVec3 same = tb_zero3();
  JOINT(TB_JOINT_COUNT, (void)d);
  JOINT(TB_JOINT_BALL, d.b.index = 2);
  JOINT(TB_JOINT_BALL, d.b.index = 99);
  JOINT(TB_JOINT_BALL, d.a.index = -2);
  JOINT(TB_JOINT_BALL, (d.a.index = 0, d.b.index = 1));
  JOINT(TB_JOINT_BALL, (d.a.index = -1, d.b.index = -1));
  JOINT(TB_JOINT_BALL, d.anchor.x = NAN);
  JOINT(TB_JOINT_BALL, d.limited = true);
  JOINT(TB_JOINT_WELD, d.motor = true);
  JOINT(TB_JOINT_BALL, d.compliance = -1);
  JOINT(TB_JOINT_BALL, d.damping = INFINITY);
  JOINT(TB_JOINT_BALL, d.anchor_b = &same);
  JOINT(TB_JOINT_HINGE, d.axis = same);
  JOINT(TB_JOINT_HINGE, (d.limited = true, d.lower = 1, d.upper = 0));
  JOINT(TB_JOINT_HINGE, (d.limited = true, d.lower = NAN));
  JOINT(TB_JOINT_HINGE, (d.limited = true, d.lower = INFINITY, d.upper = INFINITY));
  JOINT(TB_JOINT_SLIDER, (d.limited = true, d.lower = -INFINITY, d.upper = -INFINITY));
  JOINT(TB_JOINT_SLIDER, (d.motor = true, d.motor_speed = INFINITY));
  JOINT(TB_JOINT_SLIDER, (d.motor = true, d.motor_force = -1));
  JOINT(TB_JOINT_DISTANCE, d.anchor_b = &same);
  JOINT(TB_JOINT_DISTANCE, d.b.index = -1);
  tb_world_free(&x.ctx, x.w);
}

#define MATERIAL(change)                                                \
  do {                                                                  \
    tbMaterialDef d = tb_default_material_def();                        \
    d.name = "new";                                                     \
    change;                                                             \
    refused(&x, tb_world_add_material(&x.ctx, x.w, &d, NULL), #change); \
    CHECK(tb_world_find_material(x.w, "new").index < 0);                \
  } while (0)

TEST(bad_materials_of_worlds_are_refused)
{
  Watched x = watch();
  MATERIAL(d.name = NULL);
  MATERIAL(d.name = "default");
  MATERIAL(d.density = 0);
  MATERIAL(d.density = INFINITY);
  MATERIAL(d.restitution = -0.1);
  MATERIAL(d.restitution = 1.1);
  MATERIAL(d.friction = tb_friction(-1));
  MATERIAL(d.friction = tb_friction(1.1e6));
  MATERIAL((d.friction =
                (tbFriction){.kind = TB_FRICTION_ELLIPTIC, .mu_t = -1, .mu_b = 1, .direction = {1, 0, 0}}));
  MATERIAL((d.friction =
                (tbFriction){.kind = TB_FRICTION_ELLIPTIC, .mu_t = 1, .mu_b = NAN, .direction = {1, 0, 0}}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_ELLIPTIC, .mu_t = 1, .mu_b = 1}));
  MATERIAL((d.friction = (tbFriction){
                .kind = TB_FRICTION_ELLIPTIC, .mu_t = 1, .mu_b = 1, .direction = {0, INFINITY, 0}}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_CONTENSOU, .mu = -1}));
  MATERIAL((d.friction = (tbFriction){
                .kind = TB_FRICTION_MATCHSTICK, .mu = -1, .mu_t = 1, .mu_b = 1, .direction = {1, 0, 0}}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_MATCHSTICK, .mu = 1, .mu_t = 1, .mu_b = 1}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_TENSOR, .matrix = {1, 0, 0, 1}, .kappa = 1}));
  MATERIAL((d.friction = (tbFriction){// symmetric part with the eigenvalue −0.1
                                      .kind = TB_FRICTION_TENSOR,
                                      .matrix = {0.3, 0.8, 0, 0.3},
                                      .kappa = 1,
                                      .direction = {1, 0, 0}}));
  MATERIAL((d.friction = (tbFriction){
                .kind = TB_FRICTION_TENSOR, .matrix = {1, 0, 0, 1}, .kappa = -1, .direction = {1, 0, 0}}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_CONTENSOU, .torsion = -1}));
  MATERIAL((d.friction = (tbFriction){.kind = TB_FRICTION_CONTENSOU, .rolling = -1}));
  MATERIAL(d.friction.kind = (tbFrictionKind)9);
  tbMaterialId none = {-1, 0}, plain = tb_world_find_material(x.w, "default"),
               beyond = {(int)x.w->material.count, 0};
  refused(&x, tb_world_set_pair(&x.ctx, x.w, none, plain, tb_friction(1), 0), "a pair with no material");
  refused(&x, tb_world_set_pair(&x.ctx, x.w, plain, beyond, tb_friction(1), 0), "a pair beyond the last");
  refused(&x, tb_world_set_pair(&x.ctx, x.w, plain, plain, tb_friction(-1), 0), "its friction");
  refused(&x, tb_world_set_pair(&x.ctx, x.w, plain, plain, tb_friction(1), 2), "its restitution");
  CHECK(x.w->pair.count == 0);
  tb_world_free(&x.ctx, x.w);
}

// Every number of a friction has an end of its range on either side; what lies in it is taken.
TEST(numbers_of_friction_out_of_their_ranges_are_refused)
{
  static const double bad[] = {-1e-9, INFINITY, NAN};
  Watched x = watch();
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < 3; i++) {
      tbFriction f = tb_friction(0.5);
      double* number[] = {&f.mu,       &f.torsion, &f.rolling,  &f.static_ratio,
                          &f.stribeck, &f.tresca,  &f.adhesion, &f.restitution};
      *number[k] = 1;
      CHECK_OK(&x.ctx, tb_friction_check(&x.ctx, &f));
      *number[k] = 0;
      CHECK_OK(&x.ctx, tb_friction_check(&x.ctx, &f));
      *number[k] = bad[i];
      char what[32];
      snprintf(what, sizeof what, "number %d = %g", k, bad[i]);
      refused(&x, tb_friction_check(&x.ctx, &f), what);
    }
  tb_world_free(&x.ctx, x.w);
}

// Of many rules, each pair has its own, whichever is named first; the last one said counts.
TEST(pairs_of_materials_have_their_own_friction)
{
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  tbMaterialId id[5];
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  for (int i = 0; i < 5; i++) {
    char name[2] = {(char)('a' + i), 0};
    tbMaterialDef d = tb_default_material_def();
    d.name = name, d.friction = tb_friction(1e6),
    d.restitution = i % 2; // both at the edge of what is allowed
    CHECK_OK(&ctx, tb_world_add_material(&ctx, w, &d, &id[i]));
  }
  for (int time = 0; time < 2; time++)
    for (int i = 4; i >= 0; i--)
      for (int k = 0; k <= i; k++) {
        bool swap = (i + k + time) % 2;
        CHECK_OK(&ctx, tb_world_set_pair(&ctx, w, id[swap ? k : i], id[swap ? i : k],
                                         tb_friction(i + 0.1 * k + time), 0.1 * k));
      }
  CHECK(w->pair.count == 15);
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 5; k++) {
      tbBody a = {.material = id[i].index, .own_contact_material = -1},
             b = {.material = id[k].index, .own_contact_material = -1};
      tbFrictionPair both = tb_world_friction_pair(w, &a, &b);
      int high = i > k ? i : k, low = i > k ? k : i;
      const tbFriction* rule = both.a ? both.a : both.b;
      CHECK(!both.a != !both.b && rule->mu == high + 0.1 * low + 1 && both.restitution == 0.1 * low);
    }
  tb_world_free(&ctx, w);
}

TEST(bad_steps_and_states_are_refused)
{
  Watched x = watch();
#define STEP(change)                                            \
  do {                                                          \
    tbStepOptions o = tb_default_step_options();                \
    change;                                                     \
    refused(&x, tb_world_step(&x.ctx, x.w, &o, NULL), #change); \
  } while (0)
  STEP(o.dt = 0);
  STEP(o.dt = NAN);
  STEP(o.dt = INFINITY);
  STEP(o.scheme = "semi-implict");
  STEP(o.solver.solver = "none");
  STEP(o.solver.tolerance = NAN);
  STEP(o.fraction = 2);
  STEP(o.slop = -1);
  STEP(o.margin = INFINITY);
  STEP((o.stabilization = TB_STABILIZE_COMPLIANCE, o.stiffness = 0));
  STEP(o.restitution_speed = NAN);
  STEP(o.penalty_damping = -1);
  STEP(o.penalty_stiffness = -1);
  STEP(o.scheme = "an unheard-of one");
  STEP(o.stabilization = TB_STABILIZE_COUNT);
  STEP(o.fraction = -0.1);
  STEP(o.compliance = -1);
  STEP(o.clearance = -1);
  STEP(o.rounds = 0);
  STEP(o.budget_s = -1);
  STEP((o.stabilization = TB_STABILIZE_COMPLIANCE, o.stiffness = 1, o.damping = -1));
  tbBodyState state = tb_body_state(x.w, tb_world_body_at(x.w, 4)), bad = state;
  bad.velocity.x = NAN;
  refused(&x, tb_body_set_state(&x.ctx, x.w, tb_world_body_at(x.w, 4), &bad), "velocity");
  refused(&x, tb_body_set_state(&x.ctx, x.w, tb_world_body_at(x.w, 400), &state), "no body");
  refused(&x, tb_body_apply(&x.ctx, x.w, tb_world_body_at(x.w, 0), tb_vec3(1, 0, 0), tb_zero3()),
          "a fixed body");
  refused(&x, tb_body_apply(&x.ctx, x.w, tb_world_body_at(x.w, 4), tb_vec3(NAN, 0, 0), tb_zero3()),
          "no number");
  tb_world_free(&x.ctx, x.w);
}
