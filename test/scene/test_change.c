// SPDX-License-Identifier: Apache-2.0
// Worlds that are changed between steps do what their new numbers say.
#include "kind/deformable.h"
#include "step/joints.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/inspect.h"

#include <string.h>

static tbBodyId drop(Stage* s, tbBodyMotion motion, tbShape shape, tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.kind = motion, def.shapes = &shape, def.shape_count = 1, def.position = at;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

static void run(Stage* s, double dt, int steps)
{
  tbStepOptions o = tb_default_step_options();
  o.dt = dt;
  for (int i = 0; i < steps; i++) CHECK_OK(&s->ctx, tb_world_step(&s->ctx, s->world, &o, NULL));
}

static tbWorld* fresh(Stage* s)
{
  *s = (Stage){.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&s->ctx, tb_world_create(&s->ctx, &def, &s->world));
  return s->world;
}

TEST(mass_inertia_and_gravity_act_from_the_next_step)
{
  Stage s;
  tbWorld* w = fresh(&s);
  tbBodyId ball = drop(&s, TB_BODY_DYNAMIC, tb_shape_sphere(0.5), tb_zero3());
  CHECK_OK(&s.ctx, tb_world_set_gravity(&s.ctx, w, tb_zero3()));
  const double inertia[6] = {2, 3, 4, 0, 0, 0};
  CHECK_OK(&s.ctx, tb_body_set_mass(&s.ctx, w, ball, 4, inertia));
  CHECK(tb_body_mass(w, ball) == 4);
  CHECK_OK(&s.ctx, tb_body_apply_at(&s.ctx, w, ball, tb_vec3(8, 0, 0), tb_vec3(0, 0.25, 0)));
  run(&s, 0.01, 1);
  tbBodyState state = tb_body_state(w, ball);
  CHECK_NEAR(state.velocity.x, 0.01 * 8 / 4, 1e-15);
  CHECK_NEAR(state.angular_velocity.z, 0.01 * -0.25 * 8 / 4, 1e-9); // r × F
  CHECK_OK(&s.ctx, tb_body_set_mass(&s.ctx, w, ball, 8, NULL));     // the inertia goes with it
  CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, w, ball, tb_zero3(), tb_vec3(0, 0, 8)));
  CHECK_OK(&s.ctx, tb_world_set_gravity(&s.ctx, w, tb_vec3(0, 3, 0)));
  run(&s, 0.01, 1);
  CHECK_NEAR(tb_body_state(w, ball).angular_velocity.z, state.angular_velocity.z + 0.01 * 8 / 8, 1e-6);
  CHECK_NEAR(tb_body_state(w, ball).velocity.y, 0.03, 1e-12);

  uint64_t hash = tb_world_hash(w);
  const double bad[6] = {1, 1, -1, 0, 0, 0};
  tbBodyId wall = drop(&s, TB_BODY_FIXED, tb_shape_sphere(1), tb_vec3(9, 9, 9));
  hash = tb_world_hash(w);
  CHECK(tb_body_set_mass(&s.ctx, w, ball, 0, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_set_mass(&s.ctx, w, ball, 1, bad) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_set_mass(&s.ctx, w, wall, 1, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_apply_at(&s.ctx, w, wall, tb_zero3(), tb_zero3()) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_apply_at(&s.ctx, w, ball, tb_zero3(), tb_vec3(NAN, 0, 0)) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_set_gravity(&s.ctx, w, tb_vec3(NAN, 0, 0)) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_hash(w) == hash && tb_body_mass(w, ball) == 8 && tb_world_gravity(w).y == 3);
  tb_world_free(&s.ctx, w);
}

// From rest, the speed along the slope after a tenth of a second.
static double slide(Stage* s, tbBodyId block, tbBodyState rest)
{
  CHECK_OK(&s->ctx, tb_body_set_state(&s->ctx, s->world, block, &rest));
  run(s, 0.01, 10);
  return tb_body_state(s->world, block).velocity.x;
}

// A block on a slope of 30°, tan 30° = 0.577: it sticks or slides as the friction of the moment says, whether
// it is the material's or the block's own.
TEST(friction_and_restitution_are_those_of_the_moment)
{
  Stage s;
  tbWorld* w = fresh(&s);
  CHECK_OK(&s.ctx, tb_world_set_gravity(&s.ctx, w, tb_vec3(9.81 * 0.5, 0, -9.81 * 0.8660254)));
  drop(&s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  tbBodyId block = drop(&s, TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(1, 1, 0.2)), tb_vec3(0, 0, 0.1));
  tbMaterialId plain = {0, 0};
  tbFriction sticky = tb_friction(5), smooth = tb_friction(0);
  double none = 0;
  tbBodyState rest = tb_body_state(w, block);
  double free = 0.1 * 9.81 * 0.5;
  CHECK_OK(&s.ctx, tb_material_set_friction(&s.ctx, w, plain, tb_friction(0.6)));
  CHECK_NEAR(slide(&s, block, rest), 0, 1e-4);
  CHECK_OK(&s.ctx, tb_material_set_friction(&s.ctx, w, plain, tb_friction(0.5)));
  CHECK_NEAR(slide(&s, block, rest), free - 0.1 * 9.81 * 0.5 * 0.8660254, 1e-4);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, w, block, &sticky));
  CHECK_NEAR(slide(&s, block, rest), 0, 1e-4);
  CHECK_OK(&s.ctx, tb_body_set_restitution(&s.ctx, w, block, &none));
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, w, block, &smooth));
  CHECK_NEAR(slide(&s, block, rest), free, 1e-4);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, w, block, NULL));
  CHECK(w->contact_material.count == 1);
  CHECK_OK(&s.ctx, tb_body_set_restitution(&s.ctx, w, block, NULL));
  CHECK(w->contact_material.count == 0);
  CHECK_NEAR(slide(&s, block, rest), free - 0.1 * 9.81 * 0.5 * 0.8660254, 1e-4);
  CHECK(tb_body_set_restitution(&s.ctx, w, block, &(double){2}) == TB_ERROR_ARGUMENT);
  CHECK(tb_material_set_restitution(&s.ctx, w, plain, -1) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}

// A body with a friction of its own has its material's restitution, also when that changes later.
TEST(what_is_not_a_bodys_own_stays_its_materials)
{
  Stage s;
  tbWorld* w = fresh(&s);
  drop(&s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  tbBodyId ball = drop(&s, TB_BODY_DYNAMIC, tb_shape_sphere(0.1), tb_vec3(0, 0, 0.15));
  tbFriction own = tb_friction(0.2);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, w, ball, &own));
  CHECK_OK(&s.ctx, tb_material_set_restitution(&s.ctx, w, (tbMaterialId){0, 0}, 1));
  tbBodyState fall = tb_body_state(w, ball);
  fall.velocity.z = -5;
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, w, ball, &fall));
  run(&s, 0.001, 40);
  CHECK(tb_body_state(w, ball).velocity.z > 4);
  tb_world_free(&s.ctx, w);
}

TEST(a_kinematic_body_goes_where_it_is_sent)
{
  Stage s;
  tbWorld* w = fresh(&s);
  tbBodyId lift = drop(&s, TB_BODY_KINEMATIC, tb_shape_box(tb_vec3(1, 1, 1)), tb_zero3());
  tbBodyId after = drop(&s, TB_BODY_KINEMATIC, tb_shape_box(tb_vec3(1, 1, 1)), tb_vec3(9, 0, 0));
  CHECK_OK(&s.ctx, tb_body_move_to(&s.ctx, w, after, tb_vec3(9, 0, 3), tb_quat_identity(), 0.3));
  run(&s, 0.01, 10);
  tbQuat turned = tb_quat_exp(tb_vec3(0, 0, 0.5));
  CHECK_OK(&s.ctx, tb_body_move_to(&s.ctx, w, lift, tb_vec3(0, 0, 2), turned, 0.2));
  run(&s, 0.01, 10);
  CHECK_NEAR(tb_body_state(w, lift).position.z, 1, 1e-12);
  CHECK_NEAR(tb_body_state(w, lift).velocity.z, 10, 1e-9);
  CHECK_NEAR(tb_body_state(w, after).position.z, 2, 1e-12); // its keys have moved up in the world's
  run(&s, 0.01, 15);
  CHECK_NEAR(tb_body_state(w, lift).position.z, 2, 1e-12);
  CHECK_NEAR(tb_body_state(w, lift).orientation.z, turned.z, 1e-12);
  CHECK_NEAR(tb_body_state(w, lift).velocity.z, 0, 1e-9);
  CHECK_OK(&s.ctx, tb_body_set_motion(&s.ctx, w, lift, NULL, 0));
  tbBodyState state = tb_body_state(w, lift);
  state.velocity = tb_vec3(1, 0, 0);
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, w, lift, &state));
  run(&s, 0.01, 10);
  CHECK_NEAR(tb_body_state(w, lift).position.x, 0.1, 1e-12);
  CHECK(tb_body_move_to(&s.ctx, w, lift, tb_zero3(), turned, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_set_motion(&s.ctx, w, lift, NULL, 1) == TB_ERROR_ARGUMENT);
  tbBodyId free = drop(&s, TB_BODY_DYNAMIC, tb_shape_sphere(1), tb_vec3(99, 0, 0));
  CHECK(tb_body_move_to(&s.ctx, w, free, tb_zero3(), turned, 1) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}

// ---- nodes ----

static tbBodyId soft_cube(Stage* s)
{
  tbTetMesh* mesh;
  int cells[3] = {1, 1, 1};
  tbDeformableDef def = tb_default_deformable_def();
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, tb_vec3(0.1, 0.1, 0.1), cells, 5, &mesh));
  def.solid = mesh;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

static void run_soft(Stage* s, int steps)
{
  tbStepOptions o = tb_default_step_options();
  o.scheme = "implicit";
  for (int i = 0; i < steps; i++) CHECK_OK(&s->ctx, tb_world_step(&s->ctx, s->world, &o, NULL));
}

TEST(nodes_are_pinned_moved_and_let_go)
{
  Stage s;
  tbWorld* w = fresh(&s);
  tbBodyId cube = soft_cube(&s), bar = drop(&s, TB_BODY_KINEMATIC, tb_shape_sphere(0.01), tb_vec3(0, 0, 1));
  int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = all, pin.node_count = 8;
  CHECK_OK(&s.ctx, tb_body_pin(&s.ctx, w, cube, &pin));
  run_soft(&s, 5);
  CHECK_NEAR(tb_body_state(w, cube).position.z, 0, 1e-15); // held where it was
  pin.velocity = tb_vec3(1, 0, 0);
  CHECK_OK(&s.ctx, tb_body_pin(&s.ctx, w, cube, &pin));
  CHECK(tb_deformable(tb_bodies(w))->nhold == 1); // the hold it had is used again
  run_soft(&s, 10);
  CHECK_NEAR(tb_body_state(w, cube).position.x, 0.1, 1e-12);
  tbPinDef on_bar = tb_default_pin_def();
  on_bar.nodes = all, on_bar.node_count = 2, on_bar.body = bar;
  CHECK_OK(&s.ctx, tb_body_pin(&s.ctx, w, cube, &on_bar));
  CHECK(tb_deformable(tb_bodies(w))->nhold == 2);
  tbMotionKey keys[2] = {
      {w->time, tb_body_state(w, cube).position, tb_quat_identity()},
      {w->time + 0.1, tb_add3(tb_body_state(w, cube).position, tb_vec3(0, 0.2, 0)), tb_quat_identity()}};
  pin.keys = keys, pin.key_count = 2, pin.nodes = all + 2, pin.node_count = 6, pin.velocity = tb_zero3();
  CHECK_OK(&s.ctx, tb_body_pin(&s.ctx, w, cube, &pin));
  CHECK_OK(&s.ctx, tb_body_move_to(&s.ctx, w, bar, tb_vec3(0, 0.2, 1), tb_quat_identity(), 0.1));
  run_soft(&s, 12);
  CHECK_NEAR(tb_body_state(w, cube).position.y, 0.2, 1e-12); // keys and the bar went the same way
  CHECK_OK(&s.ctx, tb_world_remove_body(&s.ctx, w, bar));    // which lets its nodes go
  CHECK(tb_deformable(tb_bodies(w))->holder[0] == -1 && tb_deformable(tb_bodies(w))->holder[2] >= 0 &&
        w->key.count == 2);
  CHECK_OK(&s.ctx, tb_body_unpin(&s.ctx, w, cube, all, 8));
  CHECK(w->key.count == 0);
  double z = tb_body_state(w, cube).position.z;
  run_soft(&s, 10);
  CHECK_NEAR(tb_body_state(w, cube).position.z, z - 9.81 * 0.01 * 0.01 * 55, 1e-6); // it falls
  int none[1] = {8};
  CHECK(tb_body_unpin(&s.ctx, w, cube, none, 1) == TB_ERROR_ARGUMENT);
  pin.nodes = none, pin.node_count = 1;
  CHECK(tb_body_pin(&s.ctx, w, cube, &pin) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}

TEST(forces_on_nodes_act_for_one_step)
{
  Stage s;
  tbWorld* w = fresh(&s);
  CHECK_OK(&s.ctx, tb_world_set_gravity(&s.ctx, w, tb_zero3()));
  tbBodyId cube = soft_cube(&s);
  tbVec3 force[8] = {{0}};
  force[3] = tb_vec3(2, 0, 0), force[5] = tb_vec3(1, 0, 0);
  CHECK_OK(&s.ctx, tb_body_apply_nodes(&s.ctx, w, cube, force));
  run_soft(&s, 1);
  CHECK_NEAR(tb_world_momentum(w).x, 3 * 0.01, 1e-12);
  run_soft(&s, 3);
  CHECK_NEAR(tb_world_momentum(w).x, 3 * 0.01, 1e-12);
  force[0].y = INFINITY;
  CHECK(tb_body_apply_nodes(&s.ctx, w, cube, force) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}

// ---- failures ----

static tbStatus change_all(tbContext* ctx, tbWorld* w, tbBodyId wall, tbBodyId cube)
{
  tbMotionKey keys[3] = {
      {0, {0, 0, 0}, {1, 0, 0, 0}}, {1, {1, 0, 0}, {1, 0, 0, 0}}, {2, {0, 0, 0}, {1, 0, 0, 0}}};
  tbFriction f = tb_friction(0.3);
  int nodes[2] = {0, 1};
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = nodes, pin.node_count = 2, pin.keys = keys, pin.key_count = 3;
  TB_TRY(tb_body_set_motion(ctx, w, wall, keys, 3));
  TB_TRY(tb_body_set_friction(ctx, w, wall, &f));
  TB_TRY(tb_body_pin(ctx, w, cube, &pin));
  return tb_world_remove_body(ctx, w, cube);
}

TEST(changes_survive_every_failed_allocation)
{
  tbStatus status = TB_ERROR_MEMORY;
  for (int k = 0; status != TB_OK && k < 50; k++) {
    tbFailingAllocator state = {.countdown = -1};
    Stage s = {.ctx = test_failing_context(&state)};
    tbWorldDef def = tb_default_world_def();
    CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
    tbBodyId wall = drop(&s, TB_BODY_KINEMATIC, tb_shape_sphere(0.1), tb_vec3(0, 0, 1)), cube = soft_cube(&s);
    state.countdown = k;
    status = change_all(&s.ctx, s.world, wall, cube);
    state.countdown = -1;
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    run_soft(&s, 2); // whatever was done, the world goes on
    tb_world_free(&s.ctx, s.world);
    CHECK(state.alive == 0);
  }
  CHECK(status == TB_OK);
}

// ---- the log ----

static void listen(void* user, tbLogLevel level, const char* message)
{
  char* text = user;
  if (level == TB_LOG_WARNING && !text[0]) snprintf(text, 200, "%s", message);
}

TEST(steps_that_miss_their_tolerance_tell_the_log)
{
  Stage s;
  char text[200] = "";
  tbWorld* w = fresh(&s);
  s.ctx.log = (tbLog){listen, text};
  drop(&s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  for (int i = 0; i < 5; i++)
    drop(&s, TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(1, 1, 1)), tb_vec3(0, 0, 0.5 + i));
  run(&s, 0.01, 2);
  CHECK(text[0] == 0);
  tbStepOptions o = tb_default_step_options();
  o.solver.solver = "pgs", o.solver.max_iterations = 1, o.warm_start = false;
  CHECK_OK(&s.ctx, tb_world_step(&s.ctx, w, &o, NULL));
  CHECK(strncmp(text, "step 3: pgs ends with max_iterations", 36) == 0);
  tb_world_free(&s.ctx, w);
}

TEST(what_a_world_is_made_of_can_be_read)
{
  Stage s;
  tbWorld* w = fresh(&s);
  tbBodyId ball = drop(&s, TB_BODY_DYNAMIC, tb_shape_sphere(0.5), tb_zero3());
  tbBodyId wall = drop(&s, TB_BODY_FIXED, tb_shape_box(tb_vec3(1, 2, 3)), tb_vec3(9, 0, 0));
  CHECK(tb_body_shape_count(w, ball) == 1 && tb_body_shape_at(w, ball, 0)->type == TB_SHAPE_SPHERE);
  CHECK(tb_body_shape_at(w, wall, 0)->type == TB_SHAPE_BOX && !tb_body_shape_at(w, wall, 1));
  double inertia[6], still[6];
  tb_body_inertia(w, ball, inertia), tb_body_inertia(w, wall, still);
  CHECK_NEAR(inertia[0], 0.4 * tb_body_mass(w, ball) * 0.25, 1e-9);
  CHECK(still[0] == 0 && inertia[3] == 0);

  tbMaterialDef ice = tb_default_material_def();
  tbMaterialId material;
  ice.name = "ice", ice.friction = tb_friction(0.1);
  CHECK_OK(&s.ctx, tb_world_add_material(&s.ctx, w, &ice, &material));
  tbFriction own = tb_friction(0.7);
  CHECK_OK(&s.ctx, tb_body_set_friction(&s.ctx, w, ball, &own));
  CHECK_OK(&s.ctx, tb_world_set_pair(&s.ctx, w, material, (tbMaterialId){0}, tb_friction(0.3), 0));
  double mu[] = {0.5, 0.1, 0.7, 0.3}; // the default material, ice, the ball, the pair
  REQUIRE(tb_world_friction_count(w) == 4);
  for (int i = 0; i < 4; i++) {
    CHECK(tb_world_friction_at(w, i).mu == mu[i]);
    CHECK_OK(&s.ctx, tb_world_set_friction_at(&s.ctx, w, i, tb_friction(2 * mu[i])));
  }
  for (int i = 0; i < 4; i++) CHECK(tb_world_friction_at(w, i).mu == 2 * mu[i]);
  CHECK(tb_world_set_friction_at(&s.ctx, w, 4, tb_friction(1)) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_set_friction_at(&s.ctx, w, 0, tb_friction(-1)) == TB_ERROR_ARGUMENT);
  tb_world_free(&s.ctx, w);
}
