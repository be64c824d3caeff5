// SPDX-License-Identifier: Apache-2.0
// Scene files: every key arrives where it belongs.
#include "io/scene/schema.h"
#include "io/io_test.h"
#include "scene/world.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Every key of the format but those that exclude another one here; `file` has tests of its own.
static const char everything[] =
    "{\"tribo\": 1, \"name\": \"all of it\", \"gravity\": [0, 1, -2], \"dt\": 0.005, \"time\": 3, "
    "\"threads\": 2,"
    " \"seed\": 7, \"_remark\": {\"any\": [\"thing\"]},\n"
    " \"scheme\": {\"name\": \"moreau\", \"penalty_stiffness\": 1e5, \"penalty_damping\": 0.7, "
    "\"stabilization\":"
    "   {\"kind\": \"compliance\", \"erp\": 0.5, \"cfm\": 2, \"slop\": 1e-3, \"stiffness\": 1e4, "
    "\"damping\": 30}},\n"
    " \"solver\": {\"name\": \"prox-gs\", \"iterations\": 77, \"tolerance\": 1e-6, \"tolerance_q\": 1e-5,"
    "   \"velocity_tolerance\": 1e-3,"
    "   \"time_budget\": 0.5, \"budget_ms\": 4, \"warm_start\": false, \"order\": \"random\", "
    "\"relaxation\": 1.25,"
    "   \"r_factor\": \"block\", \"preconditioner\": \"diag\", \"inverse\": \"lumped\", \"factor_bytes\": "
    "1e6},\n"
    " \"contact\": {\"margin\": 0.02, \"model\": \"cone\", \"directions\": 12, \"sliding_tangents\": true, "
    "\"restitution_speed\": "
    "0.25},\n"
    " \"materials\": {\"_note\": 0, \"wood\": {\"density\": 700, \"friction\": 0.6, \"restitution\": 0.1, "
    "\"stiffness\": 3e4, \"damping\": 20, \"coat\": 0.01},\n"
    "   \"fur\": {\"friction\": {\"mu_t\": 0.2, \"mu_b\": 0.8, \"direction\": [0, 2, 0], \"static_ratio\": "
    "1.5, \"stribeck\": 0.1, \"tresca\": 3, \"adhesion\": 2, \"restitution\": 0.3}},\n"
    "   \"slate\": {\"friction\": {\"mu\": 0.5, \"mu_static\": 0.6}},\n"
    "   \"felt\": {\"friction\": {\"model\": \"tensor\", \"matrix\": [[0.3, 0.1], [0, 0.2]], "
    "\"matrix_back\": [[0.1, 0], [0, 0.4]], \"kappa\": "
    "2}},\n"
    "   \"corduroy\": {\"friction\": {\"model\": \"matchstick\", \"mu\": 0.5, \"mu_t\": 0.2, \"mu_b\": "
    "0.7, \"field\": {\"points\": [[0, 0, 0], [1, 0, 0]], \"directions\": [[1, 0, 0], [0, 1, 0]]}}},\n"
    "   \"tyre\": {\"friction\": {\"model\": \"contensou\", \"mu\": 0.9, \"torsion\": 0.01, \"rolling\": "
    "0.02}}},\n"
    " \"pairs\": [{\"a\": \"wood\", \"b\": \"tyre\", \"friction\": 0.3, \"restitution\": 0.4},\n"
    "   {\"a\": \"wood\", \"b\": \"fur\", \"restitution\": 0.9}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\", \"normal\": [0, 0, 2], "
    "\"offset\": -1}},\n"
    "  {\"name\": \"lift\", \"shape\": {\"type\": \"cylinder\", \"radius\": 2, \"length\": 1}, "
    "\"kinematic\": {\"keys\": [\n"
    "    {\"t\": 1, \"position\": [0, 0, 4]}, {\"t\": 2, \"orientation\": [0, 0, 0, 3]},\n"
    "    {\"t\": 3, \"orientation_euler_deg\": [0, 0, 90]}, {\"t\": 4, \"orientation_euler\": [0, 0, "
    "0]}]}},\n"
    "  {\"name\": \"belt\", \"shape\": {\"type\": \"box\", \"size\": [1, 1, 1]}, \"position\": [9, 0, 0],\n"
    "   \"kinematic\": {\"velocity\": [1, 0, 0], \"angular_velocity\": [0, 0, 2]}},\n"
    "  {\"name\": \"block\", \"mass\": 2, \"inertia\": [1, 2, 3, 0.1, 0.2, 0.3], \"material\": \"fur\", "
    "\"bullet\": true, \"category\": 4294967295, \"mask\": 5,\n"
    "   \"friction\": {\"mu\": 0.25}, \"restitution\": 0.75, \"position\": [1, 2, 3], \"orientation\": [0, "
    "2, 0, 0],\n"
    "   \"velocity\": [4, 5, 6], \"angular_velocity\": [7, 8, 9], \"shapes\": [\n"
    "     {\"type\": \"sphere\", \"radius\": 0.5, \"position\": [0, 0, 1], \"orientation\": [1, 0, 0, 0]},\n"
    "     {\"type\": \"capsule\", \"radius\": 0.25, \"length\": 2, \"orientation_euler_deg\": [0, 90, 0]},\n"
    "     {\"type\": \"convex\", \"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "
    "\"orientation_euler\": [0, 0, 0]}]},\n"
    "  {\"name\": \"cube\", \"density\": 500, \"material\": \"wood\", \"shape\": {\"type\": \"box\", "
    "\"size\": [1, 2, 3]},\n"
    "   \"position\": [0, 0, 10], \"orientation_euler_deg\": [90, 0, 0],\n"
    "   \"repeat\": {\"count\": [2, 3, 1], \"spacing\": [2, 4, 8], \"jitter\": 0.1}},\n"
    "  {\"shape\": {\"type\": \"sphere\", \"radius\": 1}, \"orientation_euler\": [0, 0, 1], "
    "\"centre_of_mass\": [0, 0, 0.5]}],\n"
    " \"joints\": [\n"
    "  {\"type\": \"ball\", \"a\": \"block\", \"b\": \"cube/0\", \"anchor\": [1, 0, 0], \"compliance\": 0.01,"
    "   \"damping\": 3, \"collide\": true},\n"
    "  {\"type\": \"hinge\", \"a\": \"world\", \"b\": \"cube/1\", \"anchor\": [2, 0, 0], \"axis\": [0, 2, 0],"
    "   \"limits_deg\": [-90, 180], \"motor\": {\"speed\": -1, \"force\": 50}, "
    "\"effort\": {\"keys\": [{\"t\": 1, \"force\": 7}, {\"t\": 2, \"force\": 8}]}},\n"
    "  {\"type\": \"slider\", \"a\": \"cube/2\", \"axis\": [0, 0, 1], \"limits\": [-1, 1],"
    "   \"effort\": {\"force\": 6}, \"friction\": 0.25, \"armature\": 0.125, \"name\": \"elbow\", \"servo\": "
    "{\"target\": 0.5, \"stiffness\": 10, "
    "\"damping\": 2, \"force\": "
    "3}},\n"
    "  {\"type\": \"weld\", \"a\": \"cube/3\", \"b\": \"cube/4\"},\n"
    "  {\"type\": \"distance\", \"a\": \"block\", \"b\": \"cube/5\", \"anchor\": [1, 2, 3], \"anchor_b\": "
    "[0, 0, 10],"
    "   \"limits\": [1, 2]}],\n"
    " \"ignore\": [{\"a\": \"block\", \"b\": \"belt\"}],\n"
    " \"soft\": [], \"cloth\": [], \"reduced\": []}\n";

static tbStatus parse(tbContext* ctx, const char* text, tbScene* out)
{
  return tb_scene_parse(ctx, "folder/s.json", text, strlen(text), NULL, out);
}

static bool same3(tbVec3 a, double x, double y, double z) { return a.x == x && a.y == y && a.z == z; }

static bool mentions(const char* text, const char* key)
{
  char quoted[80];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  return strstr(text, quoted);
}

TEST(scene_of_everything_names_every_key)
{
  static const char* const elsewhere[] = {
      "fraction", "compliance", "file",  "resolution",  "normal_map",        "patch", "cache", "start",
      "fps",      "mapping",    "image", "coordinates", "coordinates_scale", "load",  "torque"};
  tbRecordList all = {{NULL}, 0};
  tb_record_collect(&tb_scene_record, &all);
  if (all.count != 43) test_failed(__FILE__, __LINE__, "%d records", all.count);
  for (int i = 0; i < all.count; i++)
    for (int v = -1; v < all.record[i]->variant_count; v++) {
      const tbRecord* r = v < 0 ? all.record[i] : &all.record[i]->variants[v];
      for (int k = 0; k < r->key_count; k++) {
        const char* key = r->keys[k].name;
        bool found = mentions(everything, key) || mentions(io_deformable_scene, key);
        for (size_t e = 0; e < sizeof elsewhere / sizeof *elsewhere; e++)
          found |= strcmp(r->keys[k].name, elsewhere[e]) == 0;
        if (!found) test_failed(__FILE__, __LINE__, "%s of %s", r->keys[k].name, r->name);
        CHECK(r->keys[k].text && r->keys[k].text[0]);
      }
    }
}

TEST(scene_options_reach_the_step)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, everything, &s));
  REQUIRE(s.world);
  CHECK(strcmp(s.name, "all of it") == 0 && strcmp(s.world->name, "all of it") == 0);
  CHECK(s.time == 3 && s.threads == 2 && s.world->seed == 7 && same3(s.world->gravity, 0, 1, -2));
  const tbStepOptions* o = &s.step;
  CHECK(strcmp(o->scheme, "moreau") == 0 && o->dt == 0.005 && !o->warm_start);
  CHECK(o->stabilization == TB_STABILIZE_COMPLIANCE && o->fraction == 0.5 && o->slop == 1e-3);
  CHECK_NEAR(o->compliance, 2 * 0.005 * 0.005, 1e-18);
  CHECK(o->stiffness == 1e4 && o->damping == 30 && o->penalty_stiffness == 1e5 && o->penalty_damping == 0.7);
  CHECK(o->margin == 0.02 && o->restitution_speed == 0.25);
  CHECK(strcmp(o->solver.solver, "prox-gs") == 0 && o->solver.max_iterations == 77 &&
        o->solver.tolerance == 1e-6);
  CHECK(o->solver.tolerance_q == 1e-5 && o->solver.velocity_tolerance == 1e-3 &&
        o->solver.time_budget_s == 0.5 && o->budget_s == 1e-3 * 4 && o->solver.order == TB_ORDER_RANDOM);
  CHECK(o->solver.relaxation == 1.25 && o->solver.r_factor == TB_RFACTOR_BLOCK &&
        o->solver.factor_bytes == 1e6);
  CHECK(o->solver.preconditioner == TB_PRECONDITIONER_DIAG && o->solver.inverse == TB_INVERSE_LUMPED);
  CHECK(o->solver.model == TB_MODEL_CONE && o->solver.directions == 12 && o->solver.seed == 7);
  tb_scene_free(&ctx, &s);
  CHECK(!s.world && !s.name);
  tb_scene_free(&ctx, &s);
}

TEST(scene_materials_and_pairs_reach_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, everything, &s));
  REQUIRE(s.world);
  const tbMaterial* m = s.world->material.data;
  int wood = tb_world_find_material(s.world, "wood").index,
      fur = tb_world_find_material(s.world, "fur").index,
      tyre = tb_world_find_material(s.world, "tyre").index;
  REQUIRE(s.world->material.count == 7 && wood > 0 && fur > 0 && tyre > 0);
  CHECK(m[wood].density == 700 && m[wood].contact_material.friction.mu == 0.6 &&
        m[wood].contact_material.restitution == 0.1);
  CHECK(m[fur].density == 1000 && m[fur].contact_material.friction.kind == TB_FRICTION_ELLIPTIC);
  CHECK(m[fur].contact_material.friction.mu_t == 0.2 && m[fur].contact_material.friction.mu_b == 0.8);
  CHECK(same3(m[fur].contact_material.friction.direction, 0, 2, 0));
  const tbFriction* soft = &m[fur].contact_material.friction;
  CHECK(soft->static_ratio == 1.5 && soft->stribeck == 0.1 && soft->tresca == 3 && soft->adhesion == 2 &&
        soft->restitution == 0.3);
  CHECK_NEAR(m[tb_world_find_material(s.world, "slate").index].contact_material.friction.static_ratio, 1.2,
             1e-15);
  const tbFriction *felt = &m[tb_world_find_material(s.world, "felt").index].contact_material.friction,
                   *corduroy =
                       &m[tb_world_find_material(s.world, "corduroy").index].contact_material.friction;
  CHECK(felt->asymmetric && felt->matrix_back[0] == 0.1 && felt->matrix_back[3] == 0.4);
  CHECK(felt->kind == TB_FRICTION_TENSOR && felt->kappa == 2 && same3(felt->direction, 1, 0, 0));
  CHECK(felt->matrix[0] == 0.3 && felt->matrix[1] == 0.1 && felt->matrix[2] == 0 && felt->matrix[3] == 0.2);
  CHECK(corduroy->field == 1 && s.world->field_point.count == 2);
  CHECK(corduroy->kind == TB_FRICTION_MATCHSTICK && corduroy->mu == 0.5 && corduroy->mu_t == 0.2 &&
        corduroy->mu_b == 0.7);
  CHECK(m[tyre].contact_material.friction.kind == TB_FRICTION_CONTENSOU &&
        m[tyre].contact_material.friction.mu == 0.9);
  CHECK(m[tyre].contact_material.friction.torsion == 0.01 &&
        m[tyre].contact_material.friction.rolling == 0.02);
  tbBody a = {.material = wood, .own_contact_material = -1},
         b = {.material = tyre, .own_contact_material = -1},
         c = {.material = fur, .own_contact_material = -1};
  tbFrictionPair ab = tb_world_friction_pair(s.world, &a, &b), ac = tb_world_friction_pair(s.world, &a, &c);
  REQUIRE(ab.a && !ab.b && ac.a && ac.b); // the friction of a rule, and of both materials where it has none
  CHECK(ab.a->kind == TB_FRICTION_ISOTROPIC && ab.a->mu == 0.3 && ab.restitution == 0.4);
  CHECK(ac.restitution == 0.9 && ac.a->mu == 0.6 && ac.b->kind == TB_FRICTION_ELLIPTIC);
  tb_scene_free(&ctx, &s);
}

TEST(scene_bodies_reach_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, everything, &s));
  REQUIRE(s.world && tb_world_body_count(s.world) == 11);
  const tbBody* b = tb_bodies(s.world);
  const tbShape* shape = tb_shapes(s.world);
  CHECK(b[0].motion == TB_BODY_FIXED && shape[0].type == TB_SHAPE_PLANE);
  CHECK(same3(shape[0].plane.normal, 0, 0, 1) && shape[0].plane.offset == -0.5);

  CHECK(b[1].motion == TB_BODY_KINEMATIC && b[1].nkey == 4 && shape[1].cylinder.half == 0.5);
  const tbMotionKey* key = (const tbMotionKey*)s.world->key.data + b[1].key;
  CHECK(key[0].t == 1 && same3(key[0].position, 0, 0, 4) && key[0].orientation.w == 1);
  CHECK(same3(key[1].position, 0, 0, 4) && key[1].orientation.z == 1);
  CHECK(key[2].orientation.w == key[2].orientation.z && key[3].orientation.w == 1);
  CHECK(b[2].motion == TB_BODY_KINEMATIC && b[2].v.x == 1 && b[2].w.z == 2);

  CHECK(b[3].motion == TB_BODY_DYNAMIC && b[3].bullet && b[3].mass == 2 && b[3].nshape == 3);
  CHECK(b[3].category == UINT32_MAX && b[3].mask == 5 && b[4].category == 1 && b[4].mask == UINT32_MAX);
  CHECK(b[3].inertia.m[0][0] == 1 && b[3].inertia.m[2][2] == 3 && b[3].inertia.m[1][2] == 0.3);
  tbBodyState state = tb_body_state(s.world, tb_world_body_at(s.world, 3));
  CHECK_NEAR(tb_distance3(state.position, tb_vec3(1, 2, 3)), 0, 1e-14);
  CHECK_NEAR(tb_distance3(state.velocity, tb_vec3(4, 5, 6)), 0, 1e-14);
  CHECK(state.orientation.x == 1 && same3(state.angular_velocity, 7, 8, 9));
  const tbContactMaterial* own =
      (const tbContactMaterial*)s.world->contact_material.data + b[3].own_contact_material;
  CHECK(own->friction.kind == TB_FRICTION_ISOTROPIC && own->friction.mu == 0.25 && own->restitution == 0.75);
  CHECK(same3(shape[b[3].shape].pose.x, 0, 0, 1) && shape[b[3].shape].sphere.radius == 0.5);
  CHECK(shape[b[3].shape + 1].capsule.half == 1);
  CHECK(shape[b[3].shape + 1].pose.q.w == shape[b[3].shape + 1].pose.q.y);
  CHECK(shape[b[3].shape + 2].type == TB_SHAPE_CONVEX);

  CHECK_NEAR(b[4].mass, 500 * 6, 1e-9);
  CHECK(strcmp(tb_body_name(s.world, tb_world_body_at(s.world, 10)), "body/10") == 0);
  tb_scene_free(&ctx, &s);
}

TEST(scene_repeat_is_a_grid_with_x_fastest_and_jitter_from_the_seed)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0}, other = {0};
  CHECK_OK(&ctx, parse(&ctx, everything, &s));
  char* reseeded = strdup(everything);
  memcpy(strstr(reseeded, "\"seed\": 7"), "\"seed\": 8", 9);
  CHECK_OK(&ctx, parse(&ctx, reseeded, &other));
  free(reseeded);
  REQUIRE(s.world && other.world);
  double most = 0;
  for (int i = 0; i < 6; i++) {
    char name[32];
    snprintf(name, sizeof name, "cube/%d", i);
    tbBodyId id = tb_world_find_body(s.world, name);
    REQUIRE(id.index == 4 + i);
    tbVec3 off = tb_sub3(tb_body_state(s.world, id).position, tb_vec3(2 * (i % 2), 4 * (i / 2), 10));
    CHECK(tb_maxabs3(off) <= 0.1 && tb_maxabs3(off) > 0);
    most = fmax(most, tb_maxabs3(off));
    CHECK(tb_body_state(s.world, id).position.x != tb_body_state(other.world, id).position.x);
  }
  CHECK(most > 0.05);
  tb_scene_free(&ctx, &s);
  tb_scene_free(&ctx, &other);
}

TEST(scene_servos_ignored_pairs_and_centres_of_mass_reach_the_world)
{
  tbContext ctx = tb_default_context();
  static const char text[] =
      "{\"tribo\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
      "{\"name\": \"arm\", \"mass\": 2, \"inertia\": [1, 1, 1], \"centre_of_mass\": [0.5, 0, 0]},"
      "{\"name\": \"a\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}, \"position\": [9, 0, 0]},"
      "{\"name\": \"b\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}, \"position\": [9, 0, 1]}],"
      "\"joints\": [{\"type\": \"hinge\", \"b\": \"arm\", \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1],"
      "\"servo\": {\"target\": 0.25, \"stiffness\": 100, \"damping\": 20}}],"
      "\"ignore\": [{\"a\": \"a\", \"b\": \"b\"}]}";
  tbScene s;
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "text", text, sizeof text - 1, NULL, &s));
  tbJointDef d = tb_joint_def(s.world, tb_world_joint_at(s.world, 0));
  CHECK(d.servoed && d.servo_target == 0.25 && d.servo.stiffness == 100 && d.servo.damping == 20);
  CHECK(isinf(d.servo.force));
  CHECK(tb_bodies(s.world)[0].centre.x == 0.5);
  CHECK(tb_bodies(s.world)[0].x.x == 0.5); // the body's frame is at the origin still
  tbStepReport report;
  for (int i = 0; i < 300; i++) CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
  CHECK_NEAR(tb_joint_state(s.world, tb_world_joint_at(s.world, 0)).coordinate, 0.25, 1e-3);
  CHECK(tb_world_contact_count(s.world) == 0); // the balls overlap
  tb_scene_free(&ctx, &s);
}

TEST(scene_joints_reach_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, everything, &s));
  REQUIRE(s.world && s.world->joint.count == 5);
  const tbJoint* j = tb_joints(s.world);
  CHECK(j[0].def.type == TB_JOINT_BALL && j[0].def.a.index == 3 && j[0].def.b.index == 4 && j[0].def.collide);
  CHECK(same3(j[0].def.anchor, 1, 0, 0) && j[0].def.compliance == 0.01 && j[0].def.damping == 3);
  CHECK(j[1].def.type == TB_JOINT_HINGE && j[1].def.a.index == -1 && j[1].def.b.index == 5 &&
        j[1].def.limited);
  CHECK_NEAR(j[1].def.lower, -acos(-1) / 2, 1e-15);
  CHECK_NEAR(j[1].def.upper, acos(-1), 1e-15);
  CHECK(j[1].def.motor && j[1].def.motor_speed == -1 && j[1].def.motor_force == 50);
  CHECK(j[1].nkey[TB_KEYS_EFFORT] == 2 && tb_joint_effort(s.world, &j[1], 1.5) == 7.5);
  CHECK(j[2].def.effort == 6);
  CHECK(j[2].def.friction == 0.25 && j[2].def.armature == 0.125);
  CHECK(same3(j[1].def.axis, 0, 2, 0) && !j[1].def.collide);
  CHECK(j[2].def.type == TB_JOINT_SLIDER && j[2].def.b.index == -1 && j[2].def.lower == -1 &&
        !j[2].def.motor);
  tbVec3 home = tb_body_state(s.world, tb_world_body_at(s.world, 6)).position;
  CHECK(same3(j[2].def.anchor, home.x, home.y, home.z));
  CHECK(j[3].def.type == TB_JOINT_WELD && !j[3].def.limited);
  CHECK(j[4].def.type == TB_JOINT_DISTANCE && j[4].def.upper == 2);
  CHECK_NEAR(j[4].length, sqrt(1 + 4 + 49), 1e-15);
  tb_scene_free(&ctx, &s);
}

TEST(scene_defaults_are_those_of_the_library)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, "{\"tribo\": 1}", &s));
  REQUIRE(s.world);
  tbStepOptions o = tb_default_step_options();
  CHECK(strcmp(s.name, "s") == 0 && s.time == 1 && s.threads == 1 && s.world->seed == 1);
  CHECK(same3(s.world->gravity, 0, 0, -9.81) && tb_world_body_count(s.world) == 0);
  const tbStepOptions* got = &s.step;
  CHECK(strcmp(got->scheme, o.scheme) == 0 && got->dt == o.dt && got->warm_start == o.warm_start);
  CHECK(got->stabilization == o.stabilization && got->fraction == o.fraction && got->slop == o.slop);
  CHECK(got->compliance == o.compliance && got->stiffness == o.stiffness && got->damping == o.damping);
  CHECK(got->clearance == o.clearance && got->rounds == o.rounds);
  CHECK(got->margin == o.margin && got->restitution_speed == o.restitution_speed);
  CHECK(got->penalty_stiffness == o.penalty_stiffness && got->penalty_damping == o.penalty_damping);
  const tbSolveOptions *x = &got->solver, *y = &o.solver;
  CHECK(strcmp(x->solver, y->solver) == 0 && x->model == y->model && x->directions == y->directions);
  CHECK(x->tolerance == y->tolerance && x->tolerance_q == y->tolerance_q &&
        x->velocity_tolerance == y->velocity_tolerance && x->order == y->order);
  CHECK(x->max_iterations == y->max_iterations && x->time_budget_s == y->time_budget_s);
  CHECK(x->relaxation == y->relaxation && x->r_factor == y->r_factor && x->factor_bytes == y->factor_bytes);
  CHECK(x->preconditioner == y->preconditioner && x->inverse == y->inverse);
  tb_scene_free(&ctx, &s);
}

TEST(scene_takes_bare_names_and_picks_a_model_the_solver_knows)
{
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_solver_count(); i++) {
    char text[200];
    tbScene s = {0};
    snprintf(text, sizeof text,
             "{\"tribo\": 1, \"scheme\": {\"stabilization\": \"projection\"}, \"solver\": \"%s\"}",
             tb_solver_at(i)->name);
    CHECK_OK(&ctx, parse(&ctx, text, &s));
    REQUIRE(s.world);
    CHECK(s.step.solver.solver == tb_solver_at(i)->name && s.step.stabilization == TB_STABILIZE_PROJECTION);
    CHECK(tb_solver_at(i)->models & 1u << s.step.solver.model);
    if (tb_solver_at(i)->models & 1u << TB_MODEL_CONE) CHECK(s.step.solver.model == TB_MODEL_CONE);
    tb_scene_free(&ctx, &s);
  }
}

TEST(scene_euler_angles_turn_about_x_then_y_then_z)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(
      &ctx,
      parse(&ctx,
            "{\"tribo\": 1, \"bodies\": [{\"shape\": {\"type\": \"sphere\", \"radius\": 1}, "
            "\"orientation_euler_deg\": [90, -630, 0]}, {\"shape\": {\"type\": \"sphere\", \"radius\": 1}, "
            "\"orientation_euler_deg\": [10, 20, 30]}, {\"shape\": {\"type\": \"sphere\", \"radius\": 1}, "
            "\"orientation_euler\": [0.17453292519943295, 0.3490658503988659, 0.5235987755982988]}]}",
            &s));
  REQUIRE(s.world);
  tbQuat q = tb_body_state(s.world, tb_world_body_at(s.world, 0)).orientation; // z → −y → −y
  CHECK(tb_distance3(tb_quat_rotate(q, tb_vec3(0, 0, 1)), tb_vec3(0, -1, 0)) < 1e-15);
  CHECK(tb_distance3(tb_quat_rotate(q, tb_vec3(0, 1, 0)), tb_vec3(1, 0, 0)) < 1e-15); // y → z → x
  tbQuat deg = tb_body_state(s.world, tb_world_body_at(s.world, 1)).orientation,
         rad = tb_body_state(s.world, tb_world_body_at(s.world, 2)).orientation;
  CHECK_NEAR(deg.w, rad.w, 1e-15);
  CHECK_NEAR(deg.x, rad.x, 1e-15);
  CHECK_NEAR(deg.y, rad.y, 1e-15);
  CHECK_NEAR(deg.z, rad.z, 1e-15);
  tb_scene_free(&ctx, &s);
}

TEST(scene_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbScene s = {0};
    status = parse(&poor, everything, &s);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !s.world && !s.name));
    tb_scene_free(&poor, &s);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 2000);
  }
  CHECK(k > 20);
}

// Processor time, with generous bounds: what they catch is a cost that grows with the square of the number of
// bodies.
LONG_TEST(scene_of_many_bodies_loads_fast)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  clock_t start = clock();
  CHECK_OK(
      &ctx,
      parse(&ctx,
            "{\"tribo\": 1, \"bodies\": [{\"name\": \"b\", \"shape\": {\"type\": \"box\", \"size\": [1, 1, "
            "1]}, \"repeat\": {\"count\": [20, 20, 20], \"spacing\": [1, 1, 1], \"jitter\": 0.1}}]}",
            &s));
  REQUIRE(s.world && tb_world_body_count(s.world) == 8000);
  CHECK(clock() - start < 1 * CLOCKS_PER_SEC);
  tb_scene_free(&ctx, &s);

  tbOut text = tb_out_memory(&ctx);
  tb_out_text(&text, "{\"tribo\": 1, \"bodies\": [");
  for (int i = 0; i < 20000; i++) {
    char line[200];
    snprintf(line, sizeof line,
             "%s\n{\"name\": \"body number %d\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.5}, "
             "\"position\": [%d, 0, 0]}",
             i ? "," : "", i, i);
    tb_out_text(&text, line);
  }
  tb_out_text(&text, "]}");
  start = clock();
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "many", text.bytes, text.length, NULL, &s));
  CHECK(s.world && tb_world_body_count(s.world) == 20000);
  CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
  tb_scene_free(&ctx, &s);
  tb_out_free(&text);
}
