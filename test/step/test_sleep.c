// SPDX-License-Identifier: Apache-2.0
// Sleep in soft-step: islands are left alone while nothing can move them, and no longer.
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/grip.h"
#include "tribo/io.h"

#include <string.h>

enum { FLOOR, TABLE, TOWER, TOWERS = 2, HIGH = 3, BODIES = TOWER + TOWERS * HIGH };

// Two towers of three boxes, one on a floor and one on a table, three metres apart.
static Stage open_towers(double sleep)
{
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "soft-step", s.step.dt = 1.0 / 60, s.step.sleep = sleep, s.step.certify = 0;
  stage_floor(&s, 0, 0);
  stage_fixed(&s, tb_shape_box(tb_vec3(2, 2, 0.2)), tb_vec3(3, 0, 0.1), tb_quat_identity());
  for (int t = 0; t < TOWERS; t++)
    for (int i = 0; i < HIGH; i++)
      stage_add(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1000, tb_vec3(3 * t, 0, 0.2 * t + i + 0.501),
                tb_quat_identity());
  return s;
}

static tbBodyId body(const Stage* s, int place) { return tb_world_body_at(s->world, place); }

static bool sleeps(const Stage* s, int tower)
{
  int count = 0;
  for (int i = 0; i < HIGH; i++) count += tb_body_asleep(s->world, body(s, TOWER + tower * HIGH + i));
  CHECK(count == 0 || count == HIGH);
  return count == HIGH;
}

static Stage asleep(void)
{
  Stage s = open_towers(0.3);
  stage_run_for(&s, 1);
  CHECK(sleeps(&s, 0) && sleeps(&s, 1) && s.report.asleep == TOWERS * HIGH);
  return s;
}

static bool is_zero(tbVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

// Poses, contacts and impulses stay to the bit, nothing begins or ends to touch; and without the option
// nothing ever sleeps.
TEST(what_rests_falls_asleep_and_stays_as_it_was)
{
  Stage s = asleep(), never = open_towers(0);
  tbBodyState before = stage_state(&s, body(&s, BODIES - 1));
  int contacts = tb_world_contact_count(s.world), events = 0;
  double impulse = tb_world_contact(s.world, contacts - 1).impulse[0];
  CHECK(contacts == 4 * TOWERS * HIGH && s.report.contacts == contacts && impulse > 0);
  for (int i = 0; i < 30; i++) {
    stage_run(&s, 1);
    events += tb_world_event_count(s.world);
  }
  tbBodyState after = stage_state(&s, body(&s, BODIES - 1));
  CHECK(memcmp(&before, &after, sizeof before) == 0 && is_zero(after.velocity) && events == 0);
  CHECK(tb_world_contact_count(s.world) == contacts);
  CHECK(tb_world_contact(s.world, contacts - 1).impulse[0] == impulse);
  stage_run_for(&never, 1);
  CHECK(!sleeps(&never, 0) && never.report.asleep == 0);
  stage_close(&s);
  stage_close(&never);
}

// A box that lands on one tower is carried as by one that never slept; the other tower sleeps on. What falls
// beside a tower does not wake it.
TEST(a_touch_wakes_an_island_before_the_touch_is_solved)
{
  Stage s = asleep(), never = open_towers(0);
  stage_run_for(&never, 1);
  stage_throw(&s, tb_shape_box(tb_vec3(0.5, 0.5, 0.5)), 500, tb_vec3(1.2, 0, 4), tb_zero3());
  stage_run_for(&s, 0.5);
  CHECK(sleeps(&s, 0) && sleeps(&s, 1));
  Stage* both[2] = {&s, &never};
  double height[2], fastest[2] = {0};
  for (int k = 0; k < 2; k++) {
    stage_throw(both[k], tb_shape_box(tb_vec3(1, 1, 1)), 1000, tb_vec3(0.2, 0, 4.2), tb_zero3());
    for (int i = 0; i < 30; i++) {
      stage_run(both[k], 1);
      fastest[k] = fmin(fastest[k], stage_state(both[k], body(both[k], TOWER + HIGH - 1)).velocity.z);
      if (k == 0) CHECK(sleeps(&s, 1) && sleeps(&s, 0) == (fastest[0] == 0));
    }
    height[k] = stage_state(both[k], body(both[k], TOWER + HIGH - 1)).position.z;
  }
  CHECK(fastest[1] < -1e-3);
  CHECK_NEAR(fastest[0], fastest[1], 0.02 * -fastest[1]);
  CHECK_NEAR(height[0], height[1], 1e-4);
  stage_run_for(&s, 1.5);
  CHECK(s.report.asleep == TOWERS * HIGH + 2);
  stage_close(&s);
  stage_close(&never);
}

// ---- what wakes the first tower, by itself ----

static void push(Stage* s)
{
  CHECK_OK(&s->ctx, tb_body_apply(&s->ctx, s->world, body(s, TOWER), tb_vec3(1, 0, 0), tb_zero3()));
}
static void turn(Stage* s)
{
  CHECK_OK(&s->ctx, tb_body_apply(&s->ctx, s->world, body(s, TOWER), tb_zero3(), tb_vec3(0, 0, 1)));
}
static void kick(Stage* s) { stage_push(s, body(s, TOWER + 1), tb_vec3(0, 0, 0.5), tb_zero3()); }
static void move(Stage* s)
{
  tbBodyState state = stage_state(s, body(s, TOWER + 2));
  state.position.x += 0.1;
  CHECK_OK(&s->ctx, tb_body_set_state(&s->ctx, s->world, body(s, TOWER + 2), &state));
}
static void pull(Stage* s)
{
  tbGrip grip;
  CHECK_OK(&s->ctx, tb_grip_begin(&s->ctx, s->world, body(s, TOWER + 2), tb_vec3(0, 0, 3), &grip));
  grip.target.z += 0.1;
  CHECK_OK(&s->ctx, tb_grip_pull(&s->ctx, s->world, &grip, s->step.dt));
}
static void mass(Stage* s)
{
  CHECK_OK(&s->ctx, tb_body_set_mass(&s->ctx, s->world, body(s, TOWER), 500, NULL));
}
static void surface(Stage* s)
{
  tbFriction f = tb_friction(0.1);
  CHECK_OK(&s->ctx, tb_body_set_friction(&s->ctx, s->world, body(s, TOWER), &f));
}
static void bounce(Stage* s)
{
  double e = 0.5;
  CHECK_OK(&s->ctx, tb_body_set_restitution(&s->ctx, s->world, body(s, TOWER), &e));
}
static void filter(Stage* s)
{
  CHECK_OK(&s->ctx, tb_body_set_filter(&s->ctx, s->world, body(s, TOWER), 1, 0));
}
static void ignore(Stage* s)
{
  CHECK_OK(&s->ctx, tb_world_ignore_pair(&s->ctx, s->world, body(s, TOWER), body(s, TOWER + 1), true));
}
static void remove_lowest(Stage* s)
{
  CHECK_OK(&s->ctx, tb_world_remove_body(&s->ctx, s->world, body(s, TOWER)));
}
static void add_joint(Stage* s)
{
  tbJointDef d = tb_default_joint_def(TB_JOINT_BALL);
  d.b = body(s, TOWER), d.anchor = tb_vec3(0, 0, 1);
  CHECK_OK(&s->ctx, tb_world_add_joint(&s->ctx, s->world, &d, NULL));
}
static void load(Stage* s)
{
  tbLoadKey key = {0, tb_vec3(0, 0, 20), tb_zero3()};
  CHECK_OK(&s->ctx, tb_body_set_load(&s->ctx, s->world, body(s, TOWER), &key, 1));
}
static void intrude(Stage* s)
{
  stage_fixed(s, tb_shape_box(tb_vec3(1, 1, 1)), tb_vec3(-0.95, 0, 0.5), tb_quat_identity());
}
static void drive(Stage* s)
{
  tbShape box = tb_shape_box(tb_vec3(1, 1, 1));
  tbBodyDef d = tb_default_body_def();
  d.kind = TB_BODY_KINEMATIC, d.shapes = &box, d.shape_count = 1;
  d.position = tb_vec3(-1.01, 0, 0.5), d.velocity = tb_vec3(0.6, 0, 0);
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &d, NULL));
}

// Both towers.
static void gravity(Stage* s)
{
  CHECK_OK(&s->ctx, tb_world_set_gravity(&s->ctx, s->world, tb_vec3(1, 0, -9)));
}
static void material(Stage* s)
{
  CHECK_OK(&s->ctx, tb_material_set_friction(&s->ctx, s->world, (tbMaterialId){0, 0}, tb_friction(0.1)));
}
static void elastic(Stage* s)
{
  CHECK_OK(&s->ctx, tb_material_set_restitution(&s->ctx, s->world, (tbMaterialId){0, 0}, 0.5));
}
static void rule(Stage* s)
{
  tbMaterialId m = {0, 0};
  CHECK_OK(&s->ctx, tb_world_set_pair(&s->ctx, s->world, m, m, tb_friction(0.1), 0));
}

TEST(every_change_wakes_what_it_may_move_and_nothing_else)
{
  static const struct {
    const char* name;
    void (*change)(Stage* s);
    bool all;
  } changes[] = {
      {"force", push, false},          {"torque", turn, false},        {"velocity", kick, false},
      {"place", move, false},          {"pull", pull, false},          {"mass", mass, false},
      {"friction", surface, false},    {"restitution", bounce, false}, {"filter", filter, false},
      {"ignored pair", ignore, false}, {"joint", add_joint, false},    {"load", load, false},
      {"fixed body", intrude, false},  {"driven body", drive, false},  {"gravity", gravity, true},
      {"material", material, true},    {"bouncing", elastic, true},    {"rule of a pair", rule, true}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    Stage s = asleep();
    changes[i].change(&s);
    stage_run(&s, 1);
    if (sleeps(&s, 0) || sleeps(&s, 1) == changes[i].all)
      test_failed(__FILE__, __LINE__, "%s: the towers %s, %s", changes[i].name,
                  sleeps(&s, 0) ? "sleeps" : "is awake", sleeps(&s, 1) ? "sleeps" : "is awake");
    stage_close(&s);
  }
}

// What stood on a body that goes, falls; and so does what a table held that is moved away.
TEST(what_has_lost_its_support_falls)
{
  Stage s = asleep();
  double top = stage_state(&s, body(&s, BODIES - 1)).position.z;
  remove_lowest(&s);
  CHECK(!tb_body_asleep(s.world, body(&s, TOWER)) && tb_body_asleep(s.world, body(&s, BODIES - 2)));
  stage_run(&s, 6);
  CHECK(stage_state(&s, body(&s, TOWER + 1)).velocity.z < -0.9);
  CHECK(stage_state(&s, body(&s, BODIES - 2)).position.z == top);
  tbBodyState table = stage_state(&s, body(&s, TABLE));
  table.position.y = 10;
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, body(&s, TABLE), &table));
  stage_run(&s, 6);
  CHECK(stage_state(&s, body(&s, BODIES - 2)).velocity.z < -0.9);
  stage_close(&s);
}

// A motor's keys that begin later, a servo's new target, a joint that goes: they wake, and what hangs from
// it.
TEST(joints_sleep_with_their_bodies_and_wake_them)
{
  for (int k = 0; k < 3; k++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = "soft-step", s.step.dt = 1.0 / 60, s.step.sleep = 0.3, s.step.certify = k == 1;
    tbBodyId arm =
        stage_add(&s, tb_shape_box(tb_vec3(1, 0.1, 0.1)), 1, tb_vec3(0.5, 0, 0), tb_quat_identity());
    tbJointDef d = tb_default_joint_def(TB_JOINT_HINGE);
    tbJointKey keys[2] = {{2, 0}, {3, 1}};
    tbJointId hinge;
    d.b = arm, d.axis = tb_vec3(0, 1, 0);
    d.servoed = true, d.servo = (tbServo){1000, 100, INFINITY};
    if (k == 0) d.drive_keys = keys, d.drive_key_count = 2;
    CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &d, &hinge));
    stage_run_for(&s, 1.5);
    CHECK(tb_body_asleep(s.world, arm) == (k > 0));
    double held = tb_joint_state(s.world, hinge).drive;
    if (k > 0) CHECK_NEAR(fabs(held), 9.81 * 0.5, 0.05);
    if (k == 1) CHECK_OK(&s.ctx, tb_joint_set_target(&s.ctx, s.world, hinge, 0.5));
    if (k == 2) CHECK_OK(&s.ctx, tb_world_remove_joint(&s.ctx, s.world, hinge));
    stage_run_for(&s, 0.2);
    CHECK(!tb_body_asleep(s.world, arm));
    stage_run_for(&s, 2.8);
    if (k == 2) CHECK(stage_state(&s, arm).position.z < -20);
    else CHECK_NEAR(fabs(tb_joint_state(s.world, hinge).coordinate), k == 0 ? 1 : 0.5, 0.01);
    if (k < 2) CHECK(tb_body_asleep(s.world, arm));
    stage_close(&s);
  }
}

// Certificates of steps in which some sleep are of those that do not: as they are where nothing sleeps, whose
// other tower stands still.
TEST(what_sleeps_is_no_part_of_the_problem)
{
  Stage s = asleep(), never = open_towers(0);
  stage_run_for(&never, 1);
  Stage* both[2] = {&s, &never};
  double worst[2] = {0};
  for (int k = 0; k < 2; k++) {
    both[k]->step.certify = 1;
    stage_throw(both[k], tb_shape_box(tb_vec3(1, 1, 1)), 1000, tb_vec3(0, 0, 3.51), tb_zero3());
    for (int i = 0; i < 40; i++) {
      stage_run(both[k], 1);
      if (k == 0) CHECK(s.report.asleep >= HIGH);
      worst[k] = fmax(worst[k], both[k]->report.residual.velocity);
    }
  }
  CHECK(worst[1] > 1e-3 && sleeps(&s, 1));
  CHECK_NEAR(worst[0], worst[1], 0.1 * worst[1]);
  stage_close(&s);
  stage_close(&never);
}

// A run of boxes that fall on one another by and by, some asleep at any time, written down in between and
// read again, on one thread and on three.
TEST(a_run_with_sleepers_resumes_in_the_same_bits)
{
  Stage s = asleep();
  for (int i = 0; i < 3; i++)
    stage_throw(&s, tb_shape_box(tb_vec3(0.6, 0.6, 0.6)), 200, tb_vec3(0.3, 0, 4 + 6 * i * i), tb_zero3());
  tbScene scene = {.world = s.world, .step = s.step, .time = 1, .threads = 1, .name = NULL};
  char name[] = "towers";
  scene.name = name;
  int mixed = 0, woken = 0, before = 0;
  for (int i = 0; i < 8; i++) {
    tbOut bytes = tb_out_memory(&s.ctx);
    tbScene again = {0};
    CHECK_OK(&s.ctx, tb_checkpoint_print(&s.ctx, &bytes, &scene));
    CHECK_OK(&s.ctx, tb_checkpoint_parse(&s.ctx, "towers", bytes.bytes, bytes.length, &again));
    REQUIRE(again.world != NULL);
    CHECK(tb_world_hash(again.world) == tb_world_hash(s.world));
    CHECK_OK(&s.ctx, tb_threads_create(&s.ctx, 3, &s.ctx.threads));
    for (int k = 0; k < 25; k++) CHECK_OK(&s.ctx, tb_world_step(&s.ctx, again.world, &again.step, NULL));
    tb_threads_destroy(&s.ctx, s.ctx.threads);
    s.ctx.threads = NULL;
    for (int k = 0; k < 25; k++) {
      stage_run(&s, 1);
      mixed += s.report.asleep > 0 && s.report.asleep < TOWERS * HIGH + 3;
      woken += s.report.asleep < before;
      before = s.report.asleep;
    }
    CHECK(tb_world_hash(again.world) == tb_world_hash(s.world));
    tb_out_free(&bytes);
    tb_scene_free(&s.ctx, &again);
  }
  CHECK(mixed > 50 && woken >= 2);
  scene.world = NULL;
  stage_close(&s);
}
