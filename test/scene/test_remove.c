// SPDX-License-Identifier: Apache-2.0
// Removing things: what stays goes on as if they had never been there, and what was theirs is not found
// again.
#include "io/checkpoint/checkpoint.h"
#include "io/io_test.h"
#include "scene/world.h"
#include "step/heap.h"
#include "step/soft_worlds.h"
#include "test.h"
#include "tribo/change.h"

#include <string.h>

static tbBodyId add(tbContext* ctx, tbWorld* w, const char* name, tbBodyMotion motion, tbShape shape,
                    tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.name = name, def.kind = motion, def.shapes = &shape, def.shape_count = 1, def.position = at;
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, &id));
  return id;
}

// Two shapes, keys, a friction of its own and a joint to a second body, far from everything.
static tbBodyId add_stranger(tbContext* ctx, tbWorld* w, tbMaterialId made_of)
{
  tbShape shapes[2] = {tb_shape_sphere(0.3), tb_shape_box(tb_vec3(1, 1, 1))};
  tbMotionKey keys[3] = {
      {0, {50, 0, 9}, {1, 0, 0, 0}}, {1, {51, 0, 9}, {1, 0, 0, 0}}, {2, {50, 0, 9}, {1, 0, 0, 0}}};
  tbFriction own = tb_friction(0.9);
  tbBodyDef def = tb_default_body_def();
  def.name = "stranger", def.kind = TB_BODY_KINEMATIC, def.shapes = shapes, def.shape_count = 2;
  def.keys = keys, def.key_count = 3, def.friction = &own, def.material = made_of;
  tbBodyId id = {-1, 0};
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, &id));
  return id;
}

static void build(tbContext* ctx, tbWorld* w, bool stranger, tbBodyId* out)
{
  tbMaterialDef strange = tb_default_material_def(), ice = strange;
  strange.name = "strange", ice.name = "ice", ice.friction = tb_friction(0.1);
  tbMaterialId odd = {0, 0}, cold;
  if (stranger) CHECK_OK(ctx, tb_world_add_material(ctx, w, &strange, &odd));
  CHECK_OK(ctx, tb_world_add_material(ctx, w, &ice, &cold));
  if (stranger) CHECK_OK(ctx, tb_world_set_pair(ctx, w, odd, cold, tb_friction(1), 0));
  CHECK_OK(ctx, tb_world_set_pair(ctx, w, cold, (tbMaterialId){0, 0}, tb_friction(0.2), 0.5));
  add(ctx, w, "floor", TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  if (stranger) *out = add_stranger(ctx, w, odd);
  tbFriction rough = tb_friction(0.7);
  tbMotionKey keys[2] = {{0, {-1.2, 0, 0.6}, {1, 0, 0, 0}}, {1, {-0.6, 0, 0.6}, {1, 0, 0, 0}}};
  tbShape box = tb_shape_box(tb_vec3(0.2, 2, 1));
  tbBodyDef wall = tb_default_body_def();
  wall.name = "wall", wall.kind = TB_BODY_KINEMATIC, wall.shapes = &box, wall.shape_count = 1;
  wall.keys = keys, wall.key_count = 2, wall.friction = &rough;
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &wall, NULL));
  tbBodyId last = {-1, 0}, joined = {-1, 0};
  for (int i = 0; i < 6; i++) {
    char name[16];
    snprintf(name, sizeof name, "b%d", i);
    joined = last;
    last = add(ctx, w, name, TB_BODY_DYNAMIC,
               i % 2 ? tb_shape_sphere(0.2) : tb_shape_box(tb_vec3(0.4, 0.3, 0.35)),
               tb_vec3(0.1 * i - 0.5, 0.05 * i, 0.3 + 0.45 * i));
    if (i % 2) CHECK_OK(ctx, tb_body_set_material(ctx, w, last, cold));
  }
  tbBodyId second = tb_world_find_body(w, "b1"), third = tb_world_find_body(w, "b2");
  if (stranger) CHECK_OK(ctx, tb_world_ignore_pair(ctx, w, *out, last, true));
  CHECK_OK(ctx, tb_world_ignore_pair(ctx, w, second, third, true)); // fall into each other
  tbJointDef joint = tb_default_joint_def(TB_JOINT_BALL);
  if (stranger) {
    joint.a = *out, joint.b = joined, joint.anchor = tb_zero3(), joint.type = TB_JOINT_WELD;
    CHECK_OK(ctx, tb_world_add_joint(ctx, w, &joint, NULL)); // goes with the stranger
    joint.type = TB_JOINT_BALL;
  }
  joint.a = joined, joint.b = last, joint.anchor = tb_vec3(-0.1, 0.2, 2.3);
  CHECK_OK(ctx, tb_world_add_joint(ctx, w, &joint, NULL));
}

// Removed before the first step, with its joint, its keys, its material and the pairs of it, a body leaves no
// trace in what the others do.
TEST(a_world_without_a_body_is_one_that_never_had_it)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    uint64_t hash[2];
    for (int removes = 0; removes < 2; removes++) {
      tbContext ctx = tb_default_context();
      tbWorldDef def = tb_default_world_def();
      tbWorld* w;
      tbBodyId stranger;
      CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
      build(&ctx, w, removes, &stranger);
      if (removes) {
        CHECK(tb_world_joint_count(w) == 2);
        CHECK_OK(&ctx, tb_world_remove_body(&ctx, w, stranger));
        CHECK(tb_world_joint_count(w) == 1 && w->key.count == 2 && w->contact_material.count == 1);
        CHECK_OK(&ctx, tb_world_remove_material(&ctx, w, tb_world_find_material(w, "strange")));
        CHECK(w->pair.count == 1 && tb_world_find_material(w, "strange").index == -1);
      }
      tbStepOptions o = tb_default_step_options();
      o.scheme = tb_scheme_at(k)->name;
      int steps = strcmp(o.scheme, "ipc") == 0 ? 25
                  : test_quick()               ? 40
                                               : 60; // ipc: a step takes fifty times as long
      for (int i = 0; i < steps; i++) CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
      hash[removes] = tb_world_hash(w);
      CHECK(tb_world_contact_count(w) > 4);
      tb_world_free(&ctx, w);
    }
    if (hash[0] != hash[1]) test_failed(__FILE__, __LINE__, "%s: other bits", tb_scheme_at(k)->name);
  }
}

// Removed in mid-run, far from the others, it takes none of their warm starts and anchors with it.
LONG_TEST(a_body_that_goes_in_mid_run_leaves_the_impulses_of_others)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    if (strcmp(tb_scheme_at(k)->name, "ipc") == 0) continue; // it starts from no impulses but those of joints
    uint64_t hash[2];
    for (int removes = 0; removes < 2; removes++) {
      tbContext ctx = tb_default_context();
      tbWorldDef def = tb_default_world_def();
      tbWorld* w;
      tbBodyId far = {-1, 0};
      CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
      if (removes) far = add(&ctx, w, "far", TB_BODY_FIXED, tb_shape_sphere(0.2), tb_vec3(90, 0, 0));
      CHECK_OK(&ctx, heap_build(&ctx, w, 9)); // without joints, which name places
      tbStepOptions o = tb_default_step_options();
      o.scheme = tb_scheme_at(k)->name;
      for (int i = 0; i < (test_quick() ? 30 : 50); i++) {
        if (i == 25 && removes) CHECK_OK(&ctx, tb_world_remove_body(&ctx, w, far));
        CHECK_OK(&ctx, tb_world_step(&ctx, w, &o, NULL));
      }
      hash[removes] = tb_world_hash(w);
      tb_world_free(&ctx, w);
    }
    if (hash[0] != hash[1]) test_failed(__FILE__, __LINE__, "%s: other bits", tb_scheme_at(k)->name);
  }
}

static uint64_t step_a_copy(tbContext* ctx, tbScene* scene)
{
  tbOut out = tb_out_memory(ctx);
  tbScene copy = {0};
  CHECK_OK(ctx, tb_checkpoint_print(ctx, &out, scene));
  CHECK_OK(ctx, tb_checkpoint_parse(ctx, "copy", out.bytes, out.length, &copy));
  tb_out_free(&out);
  if (!copy.world) return 0;
  CHECK_OK(ctx, tb_world_step(ctx, copy.world, &copy.step, NULL));
  for (int i = 0; i < tb_world_body_count(scene->world); i++) // ids survive, too
    CHECK(tb_body_place(copy.world, tb_world_body_at(scene->world, i)) == i);
  uint64_t hash = tb_world_hash(copy.world);
  tb_scene_free(ctx, &copy);
  return hash;
}

static void remove_one_by_one(tbScene* scene, tbContext* ctx, uint64_t seed)
{
  tbRandom r = test_random(seed);
  tbWorld* w = scene->world;
  for (int i = 0; i < 12; i++) CHECK_OK(ctx, tb_world_step(ctx, w, &scene->step, NULL));
  while (tb_world_body_count(w) > 0) {
    int count = tb_world_body_count(w), which = test_below(&r, count);
    tbBodyId id = tb_world_body_at(w, which);
    char name[64];
    snprintf(name, sizeof name, "%s", tb_body_name(w, id));
    CHECK_OK(ctx, tb_world_remove_body(ctx, w, id));
    CHECK(tb_world_body_count(w) == count - 1 && tb_body_place(w, id) == -1);
    CHECK(tb_world_find_body(w, name).index == -1 && tb_world_remove_body(ctx, w, id) == TB_ERROR_ARGUMENT);
    for (int k = 0; k < tb_world_contact_count(w); k++) {
      tbContactView c = tb_world_contact(w, k);
      CHECK(tb_body_place(w, c.a) >= 0 && tb_body_place(w, c.b) >= 0);
    }
    uint64_t copied = step_a_copy(ctx, scene);
    CHECK_OK(ctx, tb_world_step(ctx, w, &scene->step, NULL));
    CHECK(tb_world_hash(w) == copied);
  }
  CHECK(w->shape.count + w->owner.count + w->key.count + w->contact_material.count == 0);
}

// Whatever is removed, in any order: a checkpoint taken then goes on to the same bits, until nothing is left.
LONG_TEST(checkpoints_of_worlds_that_lost_bodies_go_on_bit_for_bit)
{
  int stride = test_quick() ? 3 : 1;
  for (int k = tb_scheme_count() % stride; k <= tb_scheme_count(); k += stride) { // the last stands for soft
    if (k < tb_scheme_count() && strcmp(tb_scheme_at(k)->name, "ipc") == 0) continue; // as above
    tbContext ctx = tb_default_context();
    tbWorldDef def = tb_default_world_def();
    tbScene scene = {.step = tb_default_step_options(), .time = 1, .threads = 1};
    scene.name = (char*)"removing";
    CHECK_OK(&ctx, tb_world_create(&ctx, &def, &scene.world));
    bool soft = k == tb_scheme_count();
    scene.step.scheme = soft ? "implicit" : tb_scheme_at(k)->name;
    CHECK_OK(&ctx, soft ? soft_heap(&ctx, scene.world) : heap_build(&ctx, scene.world, 12));
    remove_one_by_one(&scene, &ctx, 7 + (uint64_t)k);
    tb_world_free(&ctx, scene.world);
  }
}

TEST(a_removed_id_is_refused_everywhere_and_names_nothing_new)
{
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  tbBodyId old = add(&ctx, w, NULL, TB_BODY_DYNAMIC, tb_shape_sphere(1), tb_vec3(1, 2, 3));
  tbBodyId other = add(&ctx, w, NULL, TB_BODY_DYNAMIC, tb_shape_sphere(1), tb_vec3(9, 0, 0));
  CHECK_OK(&ctx, tb_world_remove_body(&ctx, w, old));
  tbBodyId new = add(&ctx, w, NULL, TB_BODY_DYNAMIC, tb_shape_sphere(1), tb_vec3(4, 5, 6));
  CHECK(new.index == old.index&& new.generation != old.generation);
  CHECK(strcmp(tb_body_name(w, new), "body/2") == 0 && strcmp(tb_body_name(w, other), "body/1") == 0);
  CHECK(tb_body_place(w, other) == 0 && tb_body_place(w, new) == 1);
  CHECK(tb_body_state(w, other).position.x == 9 && tb_body_state(w, new).position.x == 4);

  tbBodyState state = tb_body_state(w, old);
  tbFriction f = tb_friction(1);
  tbPinDef pin = tb_default_pin_def();
  double e = 0;
  tbStatus refused[] = {tb_body_set_state(&ctx, w, old, &state),
                        tb_body_apply(&ctx, w, old, tb_zero3(), tb_zero3()),
                        tb_body_apply_at(&ctx, w, old, tb_zero3(), tb_zero3()),
                        tb_body_apply_nodes(&ctx, w, old, &state.position),
                        tb_body_set_material(&ctx, w, old, (tbMaterialId){0, 0}),
                        tb_body_set_friction(&ctx, w, old, &f),
                        tb_body_set_restitution(&ctx, w, old, &e),
                        tb_body_set_mass(&ctx, w, old, 1, NULL),
                        tb_body_set_motion(&ctx, w, old, NULL, 0),
                        tb_body_move_to(&ctx, w, old, tb_zero3(), tb_quat_identity(), 1),
                        tb_body_pin(&ctx, w, old, &pin),
                        tb_body_unpin(&ctx, w, old, NULL, 0),
                        tb_world_remove_body(&ctx, w, old)};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) CHECK(refused[i] == TB_ERROR_ARGUMENT);
  CHECK(strstr(ctx.error.message, "removed"));
  CHECK(tb_body_mass(w, old) == 0 && tb_body_name(w, old)[0] == 0 && tb_body_node_count(w, old) == 0);
  tbJointDef joint = tb_default_joint_def(TB_JOINT_BALL);
  joint.a = old, joint.b = other;
  tbJointId hinge = {-1, 0}, second = {-1, 0};
  CHECK(tb_world_add_joint(&ctx, w, &joint, NULL) == TB_ERROR_ARGUMENT);
  joint.a = new, joint.type = TB_JOINT_HINGE;
  CHECK_OK(&ctx, tb_world_add_joint(&ctx, w, &joint, &hinge));
  CHECK_OK(&ctx, tb_world_add_joint(&ctx, w, &joint, &second));
  CHECK_OK(&ctx, tb_world_remove_joint(&ctx, w, hinge));
  CHECK(tb_joint_place(w, hinge) == -1 && tb_joint_place(w, second) == 0);
  CHECK(tb_world_remove_joint(&ctx, w, hinge) == TB_ERROR_ARGUMENT && strstr(ctx.error.message, "removed"));
  CHECK(tb_joint_set_motor(&ctx, w, hinge, true, 1, 1) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_limits(&ctx, w, hinge, true, 0, 1) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_servo(&ctx, w, hinge, NULL, 0) == TB_ERROR_ARGUMENT);
  CHECK(tb_joint_set_target(&ctx, w, hinge, 0) == TB_ERROR_ARGUMENT);

  tbMaterialDef wood = tb_default_material_def();
  wood.name = "wood";
  tbMaterialId material;
  CHECK_OK(&ctx, tb_world_add_material(&ctx, w, &wood, &material));
  CHECK_OK(&ctx, tb_body_set_material(&ctx, w, other, material));
  CHECK(tb_world_remove_material(&ctx, w, material) == TB_ERROR_ARGUMENT &&
        strstr(ctx.error.message, "body/1"));
  CHECK(tb_world_remove_material(&ctx, w, (tbMaterialId){0, 0}) == TB_ERROR_ARGUMENT);
  CHECK_OK(&ctx, tb_body_set_material(&ctx, w, other, (tbMaterialId){0, 0}));
  CHECK_OK(&ctx, tb_world_remove_material(&ctx, w, material));
  CHECK(tb_body_set_material(&ctx, w, other, material) == TB_ERROR_ARGUMENT);
  CHECK(tb_material_set_friction(&ctx, w, material, f) == TB_ERROR_ARGUMENT);
  CHECK(tb_material_set_restitution(&ctx, w, material, 0) == TB_ERROR_ARGUMENT);
  tb_world_free(&ctx, w);
}
