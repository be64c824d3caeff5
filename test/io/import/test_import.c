// SPDX-License-Identifier: Apache-2.0
// Robots as scenes: what arrives, what is named, what is refused, and where.
#include "tribo/import.h"
#include "tribo/change.h"
#include "tribo/query.h"
#include "scene/world.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char urdf[] =
    "<robot name='arm'>\n"
    " <link name='base'><inertial><mass value='3'/>"
    "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
    " <joint name='turn' type='revolute'><parent link='base'/><child link='upper'/>"
    "<origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/><axis xyz='0 0 2'/><limit lower='-1' upper='2' "
    "effort='5'/>"
    "<dynamics damping='0.5'/></joint>\n"
    " <link name='upper'><inertial><origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
    "<inertia ixx='0.1' iyy='0.2' izz='0.25' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0.5 0 0'/><geometry><box size='1 0.1 "
    "0.2'/></geometry></collision><visual/></link>\n"
    " <joint name='grip' type='fixed'><parent link='upper'/><child link='tool'/><origin xyz='1 0 "
    "0'/></joint>\n"
    " <link name='tool'><collision><geometry><sphere radius='0.1'/></geometry></collision></link>\n"
    "</robot>\n";

static const char mjcf[] =
    "<mujoco model='m'><compiler angle='degree'/><option gravity='0 0 -1' timestep='0.004'/>\n"
    "<default><geom density='10'/><default class='light'><geom density='1'/><joint axis='0 1 0' "
    "damping='2'/></default>"
    "</default>\n"
    "<worldbody><geom type='plane' size='1 1 1'/>\n"
    "<body name='a' pos='0 0 1' euler='0 0 90' childclass='light'><joint name='j' range='-90 45'/>"
    "<geom type='box' size='.5 .5 .5'/>\n"
    " <body name='b' pos='1 0 0'><joint name='s' type='slide' axis='1 0 0' damping='0'/>"
    "<geom class='main' type='capsule' fromto='0 0 0 1 0 0' size='.1'/></body></body>\n"
    "<body name='ball' pos='5 0 1'><freejoint/><geom size='.2' mass='7' contype='0' "
    "conaffinity='0'/></body>\n"
    "</worldbody>\n"
    "<actuator><position joint='s' kp='100' kv='10' forcerange='-4 4'/></actuator>\n"
    "<contact><exclude body1='a' body2='ball'/></contact>\n"
    "<tendon/>\n"
    "</mujoco>\n";

typedef struct {
  tbContext ctx;
  tbOut out;
  tbArray notes;
  tbStatus status;
  tbScene scene;
} Import;

static Import import_text(const char* text, bool floating)
{
  Import i = {.ctx = tb_default_context(), .notes = TB_ARRAY(tbImportNote)};
  tbImportOptions options = {.floating = floating};
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-import-%d.xml", (int)getpid());
  FILE* file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
  i.out = tb_out_memory(&i.ctx);
  i.status = tb_import_robot(&i.ctx, path, NULL, &options, &i.out, &i.notes);
  unlink(path);
  if (i.status == TB_OK)
    i.status = tb_scene_parse(&i.ctx, "scene", i.out.bytes, i.out.length, NULL, &i.scene);
  return i;
}

static void done(Import* i)
{
  tb_scene_free(&i->ctx, &i->scene);
  tb_array_free(&i->ctx, &i->notes);
  i->out.ctx = &i->ctx; // came by value, with the address of a context that is gone
  tb_out_free(&i->out);
}

static bool noted(const Import* i, const char* line)
{
  for (size_t k = 0; k < i->notes.count; k++)
    if (strstr(((const tbImportNote*)i->notes.data)[k].text, line)) return true;
  return false;
}

static const tbBody* body(const Import* i, const char* name)
{
  tbBodyId id = tb_world_find_body(i->scene.world, name);
  return id.index < 0 ? NULL : &tb_bodies(i->scene.world)[tb_body_place(i->scene.world, id)];
}

TEST(urdf_links_and_joints_reach_the_world)
{
  if (!tb_have_import()) return;
  Import i = import_text(urdf, false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && body(&i, "upper"));
  CHECK(tb_world_body_count(i.scene.world) == 2); // the tool has no mass: a part of the upper arm
  const tbBody* upper = body(&i, "upper");
  tbBodyState at = tb_body_state(i.scene.world, tb_world_find_body(i.scene.world, "upper"));
  CHECK_NEAR(at.position.z, 1, 1e-15);
  CHECK_NEAR(at.orientation.z, sqrt(0.5), 1e-15);
  CHECK(upper->mass == 2 && upper->nshape == 2);
  CHECK_NEAR(upper->centre.x, 0.1, 1e-15);
  CHECK_NEAR(upper->inertia.m[0][0], 0.2, 1e-15); // its frame is turned by a quarter
  CHECK_NEAR(upper->inertia.m[1][1], 0.1, 1e-15);
  REQUIRE(tb_world_joint_count(i.scene.world) == 1);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 0));
  CHECK(j.type == TB_JOINT_HINGE && j.limited && j.lower == -1 && j.upper == 2);
  CHECK(j.servoed && j.servo.stiffness == 0 && j.servo.damping == 0.5);
  CHECK_NEAR(j.anchor.z, 1, 1e-15);
  CHECK(noted(&i, ":4: <visual> is not in the scene") &&
        noted(&i, ":3: effort of <limit> is not in the scene"));
  done(&i);
  i = import_text(urdf, true);
  CHECK_OK(&i.ctx, i.status);
  CHECK(body(&i, "base") &&
        strcmp(tb_body_kind(i.scene.world, tb_world_find_body(i.scene.world, "base")), "dynamic") == 0 &&
        body(&i, "base")->mass == 3);
  done(&i);
}

TEST(mjcf_defaults_geoms_and_actuators_reach_the_world)
{
  if (!tb_have_import()) return;
  Import i = import_text(mjcf, false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && body(&i, "a") && body(&i, "b") && body(&i, "ball") && body(&i, "worldbody"));
  CHECK_NEAR(body(&i, "a")->mass, 1, 1e-12); // by the class light
  CHECK_NEAR(body(&i, "b")->mass, 10 * acos(-1) * (0.01 + 4.0 / 3 * 0.001), 1e-12);
  CHECK_NEAR(body(&i, "ball")->mass, 7, 1e-12);
  CHECK(body(&i, "ball")->nshape == 0); // it touches nothing
  tbBodyState b = tb_body_state(i.scene.world, tb_world_find_body(i.scene.world, "b"));
  CHECK_NEAR(b.position.x, 0, 1e-14);
  CHECK_NEAR(b.position.y, 1, 1e-14);
  CHECK(i.scene.step.dt == 0.004 && tb_world_gravity(i.scene.world).z == -1);
  REQUIRE(tb_world_joint_count(i.scene.world) == 2);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 0));
  CHECK_NEAR(j.lower, -acos(-1) / 2, 1e-14);
  CHECK_NEAR(j.axis.x, -1, 1e-14); // y of a body turned by a quarter
  CHECK(j.servoed && j.servo.damping == 2);
  j = tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 1));
  CHECK(j.type == TB_JOINT_SLIDER && j.servoed && j.servo.stiffness == 100 && j.servo.force == 4);
  CHECK(noted(&i, ":10: <tendon> is not in the scene"));
  done(&i);
}

TEST(collada_meshes_are_hulls_of_what_their_scene_shows)
{
  static const char dae[] =
      "<COLLADA><asset><unit meter='0.01'/></asset><library_geometries><geometry id='g'><mesh><source id='p'>"
      "<float_array count='12'>0 0 0 1 0 0\n0 1 0  0 0 1</float_array></source>"
      "<vertices id='v'><input semantic='POSITION' "
      "source='#p'/></vertices></mesh></geometry></library_geometries>"
      "<library_visual_scenes><visual_scene><node><translate>100 0 0</translate><rotate>0 0 1 90</rotate>"
      "<scale>100 200 300</scale><instance_geometry "
      "url='#g'/></node></visual_scene></library_visual_scenes></COLLADA>";
  char path[64], text[300];
  if (!tb_have_import()) return;
  snprintf(path, sizeof path, "/tmp/tribo-import-%d.dae", (int)getpid());
  snprintf(text, sizeof text,
           "<robot><link name='a'><collision><geometry><mesh filename='%s' scale='2 1 "
           "1'/></geometry></collision></link></robot>",
           path);
  FILE* file = fopen(path, "w");
  fputs(dae, file);
  fclose(file);
  Import i = import_text(text, false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(i.notes.count == 0);
  REQUIRE(i.scene.world && body(&i, "a") && body(&i, "a")->nshape == 1);
  tbHit hit; // corners (2 0 0), (2 1 0), (−2 0 0), (2 0 3): the farthest along −x and z
  tbBodyId id = tb_world_find_body(i.scene.world, "a");
  CHECK(tb_body_nearest(i.scene.world, id, tb_vec3(-9, 0, 0), INFINITY, &hit));
  CHECK_NEAR(hit.point.x, -2, 1e-12);
  CHECK(tb_body_nearest(i.scene.world, id, tb_vec3(2, 0, 9), INFINITY, &hit));
  CHECK_NEAR(hit.point.z, 3, 1e-12);
  done(&i);
  file = fopen(path, "w");
  fputs("<COLLADA/>", file);
  fclose(file);
  i = import_text(text, false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(noted(&i, "a COLLADA file without geometry"));
  done(&i);
  unlink(path);
}

TEST(robots_that_cannot_be_are_refused_with_their_line)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"<robot>\n<link name='a'/>\n<link name='a'/></robot>", ":3: there are two links \"a\""},
      {"<robot>\n<link name='a'/>\n<link name='b'/></robot>", ":3: the link \"b\" has no parent"},
      {"<robot><link name='a'/><link name='b'/>\n<joint type='fixed'><parent link='a'/></joint></robot>",
       ":2: <joint> needs"},
      {"<robot><link name='a'/>\n<joint type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
       ":2: there is no link \"c\""},
      {"<robot><link name='a'/><link name='b'/>\n<joint name='j' type='fixed'><parent link='a'/><child "
       "link='b'/>\n"
       "<mimic joint='k'/></joint></robot>",
       ":3: a joint that mimics another is not supported"},
      {"<robot><link name='a'/><link name='b'/>\n<joint name='j' type='planar'><parent link='a'/><child "
       "link='b'/>"
       "</joint></robot>",
       ":2: a joint of type \"planar\" is not supported"},
      {"<robot><link name='a'/>\n<link name='b'/><joint name='j' type='continuous'><parent link='a'/><child "
       "link='b'/>"
       "</joint></robot>",
       ":2: \"b\" moves, but has no mass"},
      {"<robot>\n<link name='a'><collision><geometry><box size='1 2'/></geometry></collision></link></robot>",
       ":2: size of <box>: 2 numbers, not 3"},
      {"<robot>\n<link name='a'><collision><geometry><sphere "
       "radius='nan'/></geometry></collision></link></robot>",
       ":2: radius of <sphere>: not a number"},
      {"<robot>\n<link name='a'>\n</robot>", ":3: mismatched tag"},
      {"<sdf/>", ":1: neither URDF"},
      {"<mujoco/>", ":1: there is no <worldbody>"},
      {"<mujoco><worldbody>\n<body name='a'><joint/></body></worldbody></mujoco>",
       ":2: \"a\" moves, but has no mass"},
      {"<mujoco><worldbody>\n<geom type='hfield'/></worldbody></mujoco>", ":2: a geom of type \"hfield\""},
      {"<mujoco><worldbody>\n<geom class='none' size='1'/></worldbody></mujoco>",
       ":2: there is no default class"},
      {"<mujoco><worldbody>\n<geom type='mesh' mesh='x'/></worldbody></mujoco>",
       ":2: there is no mesh \"x\""},
      {"<mujoco><worldbody>\n<replicate/></worldbody></mujoco>", ":2: <replicate> is not supported"},
      {"<mujoco><include file='nowhere.xml'/></mujoco>", "nowhere.xml"},
      {"", ":1: no element found"},
  };
  for (size_t k = 0; tb_have_import() && k < sizeof cases / sizeof *cases; k++) {
    Import i = import_text(cases[k].text, false);
    if (i.status == TB_OK || !strstr(i.ctx.error.message, cases[k].says))
      test_failed(__FILE__, __LINE__, "case %zu: \"%s\" instead of \"%s\"", k,
                  i.status == TB_OK ? "no error" : i.ctx.error.message, cases[k].says);
    done(&i);
  }
}

TEST(hostile_robots_do_not_crash)
{
  uint64_t random = 7;
  for (int k = 0; tb_have_import() && k < 400; k++) { // one byte another, or the end cut off
    char text[4096];
    const char* from = k % 2 ? urdf : mjcf;
    size_t length = strlen(from);
    memcpy(text, from, length + 1);
    random = random * 6364136223846793005u + 1442695040888963407u;
    text[(random >> 33) % length] = k % 3 ? (char)(32 + (random >> 20) % 95) : 0;
    Import i = import_text(text, k % 5 == 0);
    done(&i);
  }
  char* deep = calloc(1, 40000);
  strcpy(deep, "<mujoco><worldbody>");
  for (int k = 0; k < 3000; k++) strcat(deep, "<body>");
  Import i = import_text(deep, false);
  CHECK(i.status == TB_ERROR_INPUT && strstr(i.ctx.error.message, "nested deeper"));
  done(&i);
  free(deep);
}

TEST(imports_survive_every_failed_allocation)
{
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-import-fault-%d.xml", (int)getpid());
  for (int which = 0; tb_have_import() && which < 2; which++) {
    FILE* file = fopen(path, "w");
    fputs(which ? mjcf : urdf, file);
    fclose(file);
    tbFailingAllocator all = {.countdown = -1};
    for (long k = -1; k < all.total; k++) {
      tbFailingAllocator state = {.countdown = k};
      tbContext ctx = test_failing_context(&state);
      tbOut out = tb_out_memory(&ctx);
      tbArray notes = TB_ARRAY(tbImportNote);
      tbStatus status = tb_import_robot(&ctx, path, NULL, NULL, &out, &notes);
      tb_out_free(&out);
      tb_array_free(&ctx, &notes);
      if (k < 0) all = state;
      if (status != (k < 0 ? TB_OK : TB_ERROR_MEMORY) || state.alive != 0)
        test_failed(__FILE__, __LINE__, "allocation %ld: %s, %ld blocks left", k, tb_status_name(status),
                    state.alive);
    }
    CHECK(all.total > 5);
  }
  unlink(path);
}
