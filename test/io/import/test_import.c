// SPDX-License-Identifier: Apache-2.0
// Robots as scenes: what arrives, what is named, what is refused, and where.
#include "tribo/import.h"
#include "tribo/change.h"
#include "tribo/inspect.h"
#include "tribo/check.h"
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

// Most of what is read, at once.
static const char rich[] =
    "<mujoco><compiler angle='radian' eulerseq='zyx' boundmass='0.01' boundinertia='0.001' "
    "settotalmass='9'/>\n"
    "<default><general ctrlrange='-1 1'/><default class='c'><joint armature='.1' ref='.2'/><geom "
    "condim='6'/></default></default>\n"
    "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' refpos='.1 0 0' refquat='1 0 0 1'/></asset>\n"
    "<worldbody><geom name='g' type='plane' size='1 1 1' contype='2' conaffinity='4'/>\n"
    "<frame pos='0 0 1' euler='.1 .2 .3'><replicate count='3' offset='1 0 0' sep='-'><body name='r' "
    "childclass='c'><joint name='a' type='slide'/><joint name='b'/><geom type='mesh' mesh='m'/>"
    "<body name='s'><joint type='ball' name='o'/><geom type='ellipsoid' size='.1 .2 .3' "
    "contype='0'/></body></body></replicate></frame>\n"
    "<body name='f'><freejoint/><body name='w' zaxis='1 0 0'><geom name='h' size='.1' contype='0' "
    "conaffinity='0'/></body></body></worldbody>\n"
    "<actuator><position joint='b-0' kp='9' dampratio='1'/><general joint='b-1' biastype='affine' biasprm='1 "
    "-2 "
    "-3'/><motor joint='a-2'/></actuator>\n"
    "<contact><pair geom1='g' geom2='h'/><exclude body1='r-0' body2='f'/></contact>\n"
    "<equality><connect body1='r-0' body2='r-1' anchor='0 0 0'/><weld body1='f'/><joint "
    "joint1='a-0'/></equality>\n"
    "<keyframe><key name='k' qpos='.1 .2 1 0 0 0  .1 .2 1 0 0 0  .1 .2 1 0 0 0  0 0 3 1 0 0 0' ctrl='1 2 "
    "3'/></keyframe></mujoco>\n";

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
  tbImportOptions options = {.floating = floating, .key = strstr(text, "<key name='k'") ? "k" : NULL};
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-import-%d.xml", (int)getpid());
  FILE* file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
  i.out = tb_out_memory(&i.ctx);
  i.status = tb_import_robot(&i.ctx, path, NULL, &options, &i.out, &i.notes);
  unlink(path);
  if (i.status == TB_OK) i.status = tb_scene_parse(&i.ctx, "scene", i.out.bytes, i.out.length, ".", &i.scene);
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

static Import import_actuator(const char* geom, const char* actuator)
{
  char text[1000];
  snprintf(text, sizeof text,
           "<mujoco><worldbody><body name='a'><joint name='j'/><geom %s/></body></worldbody>\n"
           "<actuator><general joint='j' %s/></actuator></mujoco>",
           geom, actuator);
  return import_text(text, false);
}

// A general actuator with an affine bias is a servo, and all of it is in the scene: nothing is named. One
// without is a force that the caller applies.
TEST(general_actuators_are_servos_by_their_bias)
{
  if (!tb_have_import()) return;
  Import i = import_actuator("size='.1'",
                             "biastype='affine' gaintype='fixed' gainprm='100 0 0' biasprm='0 -100 -5'");
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_joint_count(i.scene.world) == 1);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 0));
  CHECK(j.servoed && j.servo.stiffness == 100 && j.servo.damping == 5);
  for (size_t k = 0; k < i.notes.count; k++)
    test_failed(__FILE__, __LINE__, "%s", ((const tbImportNote*)i.notes.data)[k].text);
  done(&i);
  i = import_actuator("size='.1'", "biastype='none' gainprm='100' biasprm='0 -100 -5'");
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_joint_count(i.scene.world) == 1);
  CHECK(!tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 0)).servoed);
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
           "0.5'/></geometry></collision></link></robot>",
           path);
  FILE* file = fopen(path, "w");
  fputs(dae, file);
  fclose(file);
  Import i = import_text(text, false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(i.notes.count == 0);
  REQUIRE(i.scene.world && body(&i, "a") && body(&i, "a")->nshape == 1);
  tbHit hit; // corners (2 0 0), (2 1 0), (−2 0 0), (2 0 1.5): the farthest along −x and z
  tbBodyId id = tb_world_find_body(i.scene.world, "a");
  CHECK(tb_body_nearest(i.scene.world, id, tb_vec3(-9, 0, 0), INFINITY, &hit));
  CHECK_NEAR(hit.point.x, -2, 1e-12);
  CHECK(tb_body_nearest(i.scene.world, id, tb_vec3(2, 0, 9), INFINITY, &hit));
  CHECK_NEAR(hit.point.z, 1.5, 1e-12);
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

// contype and conaffinity: which pairs of bodies touch is MuJoCo's rule on their geoms.
TEST(mjcf_contact_bits_become_filters)
{
  if (!tb_have_import()) return;
  static const struct {
    int type, affinity;
  } bits[6] = {{1, 1}, {2, 1}, {0, 2}, {1, 0}, {4, 4}, {0, 1}};
  char text[4096];
  size_t used = (size_t)snprintf(text, sizeof text, "<mujoco><worldbody>");
  for (int k = 0; k < 6; k++)
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "<body name='b%d' pos='%d 0 0'><freejoint/><geom name='g%d' size='0.6' "
                             "contype='%d' conaffinity='%d'/></body>",
                             k, k % 2, k, bits[k].type, bits[k].affinity);
  snprintf(
      text + used, sizeof text - used,
      "<body name='q'><freejoint/><geom name='q' size='0.6' contype='0' conaffinity='0'/></body></worldbody>"
      "<contact><pair geom1='q' geom2='g4'/></contact></mujoco>");
  Import i = import_text(text, false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world);
  for (int a = 0; a < 7; a++)
    for (int b = a + 1; b < 7; b++) {
      char name[2][16] = {"q", "q"};
      if (a < 6) snprintf(name[0], 16, "b%d", a);
      if (b < 6) snprintf(name[1], 16, "b%d", b);
      const tbBody *first = body(&i, name[0]), *second = body(&i, name[1]);
      bool touch = (first->category & second->mask) && (second->category & first->mask);
      bool meant = b == 6 ? a == 4 : (bits[a].type & bits[b].affinity) || (bits[b].type & bits[a].affinity);
      if (touch != meant) test_failed(__FILE__, __LINE__, "%s and %s: %d", name[0], name[1], touch);
    }
  CHECK(body(&i, "q")->nshape == 1);
  done(&i);
}

// Two surfaces have the larger of each number, as in MuJoCo; condim says which count.
TEST(mjcf_frictions_meet_in_the_larger)
{
  if (!tb_have_import()) return;
  Import i =
      import_text("<mujoco><worldbody><geom type='plane' size='1 1 1' friction='0.2'/>"
                  "<body name='a' pos='0 0 1'><freejoint/><geom size='.1' friction='0.7'/></body>"
                  "<body name='b' pos='1 0 1'><freejoint/><geom size='.1' condim='1'/></body>"
                  "<body name='c' pos='2 0 1'><freejoint/><geom size='.1' condim='6' friction='0.1 0.02 "
                  "0.003'/></body></worldbody></mujoco>",
                  false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world);
  const char* text = i.out.bytes;
  CHECK(strstr(text, "{\"a\": \"surface1\", \"b\": \"surface2\", \"friction\": 0.7}"));
  CHECK(strstr(text,
               "{\"a\": \"surface1\", \"b\": \"surface4\", \"friction\": {\"mu\": 0.2, \"torsion\": 0.02, "
               "\"rolling\": 0.003}}"));
  CHECK(strstr(text, "\"surface3\": {\"friction\": 0}"));
  done(&i);
}

// What a file leaves out of a geom's friction is what MuJoCo takes: 1, 0.005 m and 0.0001 m.
TEST(mjcf_frictions_left_out_are_those_of_mujoco)
{
  if (!tb_have_import()) return;
  Import i = import_text(
      "<mujoco><worldbody><geom type='plane' size='1 1 1' friction='0 0 0'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom size='.1' condim='6'/></body>"
      "<body name='b' pos='1 0 1'><freejoint/><geom size='.1' condim='6' friction='0.3'/></body>"
      "<body name='c' pos='2 0 1'><freejoint/><geom size='.1' condim='6' friction='0.4 0.03'/></body>"
      "</worldbody></mujoco>",
      false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world);
  static const char* const friction[] = {"{\"mu\": 1, \"torsion\": 0.005, \"rolling\": 0.0001}",
                                         "{\"mu\": 0.3, \"torsion\": 0.005, \"rolling\": 0.0001}",
                                         "{\"mu\": 0.4, \"torsion\": 0.03, \"rolling\": 0.0001}"};
  for (int k = 0; k < 3; k++)
    if (!strstr(i.out.bytes, friction[k]))
      test_failed(__FILE__, __LINE__, "no %s in\n%s", friction[k], i.out.bytes);
  done(&i);
}

TEST(mjcf_replicates_are_copied_with_numbers)
{
  if (!tb_have_import()) return;
  Import i =
      import_text("<mujoco><worldbody><frame pos='0 0 1'><replicate count='12' offset='0.5 0 0' sep='-' "
                  "euler='0 0 90'><body name='p' pos='0 0 1'><joint name='j' type='slide'/><geom size='.1' "
                  "mass='2'/></body></replicate></frame></worldbody></mujoco>",
                  false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_body_count(i.scene.world) == 12);
  tbVec3 x = tb_body_state(i.scene.world, tb_world_find_body(i.scene.world, "p-02")).position;
  CHECK(tb_distance3(x, tb_vec3(0.5, 0.5, 2)) < 1e-12); // on, a quarter round, and on
  CHECK(tb_world_find_joint(i.scene.world, "j-11").index >= 0);
  done(&i);
}

// Digits for the whole count; angles of a copy are those of one times its number.
// A quarter about z, said in every way there is.
TEST(mjcf_orientations_may_be_said_in_five_ways)
{
  static const char* const way[] = {"quat='1 0 0 1'", "axisangle='0 0 2 90'", "euler='0 0 90'",
                                    "xyaxes='0 1 0 -1 0 0'", "axisangle='0 0 1 90' quat='1 0 0 0'"};
  for (int k = 0; tb_have_import() && k < 5; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body name='a' %s><freejoint/><geom size='1'/></body></worldbody></mujoco>",
             way[k]);
    Import i = import_text(text, false);
    CHECK_OK(&i.ctx, i.status);
    REQUIRE(i.scene.world && body(&i, "a"));
    if (!(fabs(body(&i, "a")->q.w - sqrt(0.5)) < 1e-12 && fabs(body(&i, "a")->q.z - sqrt(0.5)) < 1e-12))
      test_failed(__FILE__, __LINE__, "%s: turned by %g about z", way[k], 2 * asin(body(&i, "a")->q.z));
    done(&i);
  }
}

TEST(mjcf_replicates_turn_by_multiples)
{
  if (!tb_have_import()) return;
  Import i = import_text("<mujoco><worldbody><replicate count='10' offset='1 0 0' euler='90 0 90'><body "
                         "name='p'><freejoint/><geom size='.1'/></body></replicate></worldbody></mujoco>",
                         false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_find_body(i.scene.world, "p09").index >= 0);
  tbBodyState at = tb_body_state(i.scene.world, tb_world_find_body(i.scene.world, "p02"));
  tbVec3 x = tb_quat_rotate(at.orientation, tb_vec3(1, 0, 0)),
         z = tb_quat_rotate(at.orientation, tb_vec3(0, 0, 1));
  CHECK(tb_distance3(x, tb_vec3(-1, 0, 0)) < 1e-12 &&
        tb_distance3(z, tb_vec3(0, 0, -1)) < 1e-12); // a half, twice
  CHECK(tb_distance3(at.position, tb_vec3(1, 0, 1)) < 1e-12);
  done(&i);
}

// Bodies may be kept from the world's geoms, and from those of a world that has none.
TEST(mjcf_excludes_the_world)
{
  if (!tb_have_import()) return;
  for (int k = 0; k < 2; k++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "<mujoco><worldbody>%s<body name='b' pos='0 0 .05'><freejoint/><geom size='.1'/></body></worldbody>"
        "<contact><exclude body1='world' body2='b'/></contact></mujoco>",
        k ? "<geom type='plane' size='1 1 1'/>" : "");
    Import i = import_text(text, false);
    CHECK_OK(&i.ctx, i.status);
    tbStepOptions options = tb_default_step_options();
    tbStepReport report = {0};
    REQUIRE(i.scene.world);
    CHECK_OK(&i.ctx, tb_world_step(&i.ctx, i.scene.world, &options, &report));
    CHECK(report.contacts == 0);
    done(&i);
  }
}

// No end is no limit, one end is one.
TEST(urdf_limits_without_end)
{
  if (!tb_have_import()) return;
  static const char* const limits[] = {"lower='-inf' upper='inf'", "lower='-1e308' upper='1.79769e+308'",
                                       "lower='-1' upper='+inf'"};
  for (int k = 0; k < 3; k++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "<robot><link name='a'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit "
        "%s/></joint><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link></robot>",
        limits[k]);
    Import i = import_text(text, false);
    CHECK_OK(&i.ctx, i.status);
    REQUIRE(i.scene.world && tb_world_joint_count(i.scene.world) == 1);
    tbJointDef j = tb_joint_def(i.scene.world, tb_world_joint_at(i.scene.world, 0));
    CHECK(j.limited == (k == 2) && (k < 2 || (j.lower == -1 && j.upper > 1e15)));
    done(&i);
  }
}

// A damping ratio is that of the inertia the joint moves; two actuators of a joint are one servo; a spring
// adds to what has no largest force.
TEST(mjcf_actuators_become_servos)
{
  if (!tb_have_import()) return;
  Import i = import_text(
      "<mujoco><compiler angle='radian'/><default><general ctrlrange='0.5 1'/></default><worldbody>\n"
      "<body name='a'><joint name='j' axis='0 0 1' armature='0.3' frictionloss='0.6'/><inertial pos='0.5 0 "
      "0' mass='2' "
      "diaginertia='.1 .1 .2'/>\n"
      "<body name='b' pos='1 0 0'><joint name='k' type='slide' stiffness='5' springref='0.4'/><inertial "
      "pos='0 0 "
      "0' mass='3' diaginertia='.1 .1 .1'/></body></body></worldbody>\n"
      "<actuator><position joint='j' kp='50' dampratio='1.5' gear='2'/>\n"
      "<general joint='k' gainprm='20' biastype='affine' biasprm='1 -20 -2'/><velocity joint='k' kv='7'/>\n"
      "<motor joint='j' gear='3'/></actuator></mujoco>",
      false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_joint_count(i.scene.world) == 2);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "j"));
  tbJointDef k = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "k"));
  double inertia = 0.3 + 0.2 + 2 * 0.25 + 0.1 + 3 * 1;
  CHECK_NEAR(j.servo.stiffness, 50 * 4, 1e-12);
  CHECK_NEAR(j.servo.damping, 1.5 * 2 * sqrt(50 * 4 * inertia), 1e-9);
  CHECK_NEAR(j.servo_target, 0.5 / 2, 1e-12); // the control nearest to 0 in its range
  CHECK_NEAR(k.servo.stiffness, 25, 1e-12);
  CHECK_NEAR(k.servo.damping, 9, 1e-12);
  CHECK_NEAR(k.servo_target, (20 * 0.5 + 1 + 7 * 0.5 + 5 * 0.4) / 25, 1e-12);
  CHECK(
      noted(&i, ":6: the <motor> at the joint \"j\" is its effort, 3 for a control of 1: 1.5 in the scene"));
  CHECK(j.effort == 1.5 && k.effort == 0); // of the control nearest to 0, too
  CHECK(j.armature == 0.3 && j.friction == 0.6 && k.armature == 0 && k.friction == 0);
  done(&i);
}

// Controls of inheritrange stay within a share of the joint's range about its middle.
TEST(mjcf_controls_inherit_the_range_of_their_joint)
{
  if (!tb_have_import()) return;
  Import i = import_text(
      "<mujoco><compiler angle='radian'/><default><position inheritrange='0.5'/></default><worldbody>\n"
      "<body><joint name='j' axis='0 0 1' range='1 2' ref='0.25'/><geom size='1'/></body>\n"
      "</worldbody><actuator><position joint='j' kp='50' gear='2'/></actuator></mujoco>",
      false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && tb_world_joint_count(i.scene.world) == 1);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "j"));
  CHECK_NEAR(j.servo_target, 1.25 / 2 - 0.25, 1e-12);
  done(&i);
}

// A fixed tendon of one joint is that joint, by another gear; one of several is named, and so is an actuator
// whose control is no force.
TEST(mjcf_tendons_of_one_joint_are_that_joint)
{
  if (!tb_have_import()) return;
  Import i =
      import_text("<mujoco><worldbody><body name='a'><joint name='j'/><geom size='.1'/>\n"
                  "<body name='b'><joint name='k'/><geom size='.1'/></body></body></worldbody>\n"
                  "<tendon><fixed name='t'><joint joint='j' coef='-0.5'/></fixed>\n"
                  "<fixed name='u'><joint joint='j' coef='1'/><joint joint='k' coef='1'/></fixed></tendon>\n"
                  "<actuator><position tendon='t' kp='30' gear='3'/>\n"
                  "<motor name='m' tendon='u'/>\n"
                  "<muscle joint='k'/></actuator></mujoco>",
                  false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world);
  tbJointDef j = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "j"));
  tbJointDef k = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "k"));
  CHECK_NEAR(j.servo.stiffness, 30 * 1.5 * 1.5, 1e-12);
  CHECK(j.servoed && !k.servoed);
  CHECK(noted(&i, ":4: <fixed> is not in the scene"));
  CHECK(noted(&i, ":6: the <motor> \"m\" acts on a tendon of several joints and is not in the scene"));
  CHECK(noted(&i, ":7: the actuator <muscle> is not in the scene"));
  done(&i);
}

// Links without mass: what is fixed to them takes their joint; of others a little mass is made, or nothing.
TEST(links_without_mass_find_some)
{
  if (!tb_have_import()) return;
  static const char mass[] =
      "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>";
  char text[4096];
  snprintf(
      text, sizeof text,
      "<robot name='r'><link name='base'/><link name='hub'/><link name='arm'>%s</link><link name='virtual'/>"
      "<link name='hand'>%s</link><link name='eye'/>"
      "<joint name='turn' type='continuous'><parent link='base'/><child link='hub'/><origin xyz='0 0 "
      "1'/><axis "
      "xyz='0 0 1'/></joint>"
      "<joint name='fix' type='fixed'><parent link='hub'/><child link='arm'/><origin xyz='1 0 0' rpy='0 0 "
      "1'/></joint>\n"
      "<joint name='x' type='planar'><parent link='arm'/><child link='virtual'/><axis xyz='0 0 1'/></joint>"
      "<joint name='y' type='continuous'><parent link='virtual'/><child link='hand'/></joint>\n"
      "<joint name='look' type='continuous'><parent link='hand'/><child link='eye'/></joint></robot>",
      mass, mass);
  Import i = import_text(text, false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && body(&i, "arm") && body(&i, "virtual") && body(&i, "hand"));
  CHECK(!body(&i, "hub") && !body(&i, "eye"));
  tbJointDef turn = tb_joint_def(i.scene.world, tb_world_find_joint(i.scene.world, "turn"));
  CHECK(tb_distance3(turn.anchor, tb_vec3(0, 0, 1)) < 1e-12 && fabs(turn.axis.z - 1) < 1e-12);
  CHECK_NEAR(body(&i, "virtual")->mass, 2e-3, 1e-12);
  CHECK(tb_world_find_joint(i.scene.world, "x/y").index >= 0 && tb_world_joint_count(i.scene.world) == 5);
  CHECK(noted(&i, "\"eye\" moves, but neither it nor what hangs on it has mass or shape: left out"));
  CHECK(noted(&i, "\"virtual\" moves without mass: it gets a thousandth of that of \"hand\""));
  done(&i);
}

TEST(joints_without_names_stand_in_one_body)
{
  if (!tb_have_import()) return;
  Import i =
      import_text("<mujoco><worldbody><body name='a'><joint/><joint axis='1 0 0'/><joint type='slide'/><geom "
                  "size='.1'/></body></worldbody></mujoco>",
                  false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(body(&i, "a") && body(&i, "a/joint1") && body(&i, "a/joint2"));
  CHECK(tb_world_joint_count(i.scene.world) == 3);
  done(&i);
}

TEST(notes_that_repeat_are_one)
{
  if (!tb_have_import()) return;
  Import i = import_text("<mujoco><worldbody>\n<geom size='1' solref='0.01 1'/>\n<geom size='1' solref='0.01 "
                         "1'/>\n<geom size='1' solref='0.01 1'/></worldbody></mujoco>",
                         false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(i.notes.count == 1 && noted(&i, ":2: solref") && noted(&i, ", here and 2 times more"));
  done(&i);
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
      {"<robot><link name='a'/><link name='b'/>\n<joint name='j' type='screw'><parent link='a'/><child "
       "link='b'/>"
       "</joint></robot>",
       ":2: a joint of type \"screw\" is not supported"},
      {"<robot><link name='a'/>\n<link name='b'><collision><geometry><sphere "
       "radius='1'/></geometry></collision>"
       "</link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>",
       ":2: \"b\" moves, but has no mass"},
      {"<robot><link name='a'/><link name='b'/><link name='c'/><joint name='j' type='fixed'><parent "
       "link='a'/>"
       "<child link='b'/></joint>\n<joint name='j' type='fixed'><parent link='a'/><child "
       "link='c'/></joint></robot>",
       ":2: there are two joints \"j\""},
      {"<robot>\n<link name='a'><collision><geometry><box size='1 2'/></geometry></collision></link></robot>",
       ":2: size of <box>: 2 numbers, not 3"},
      {"<robot>\n<link name='a'><collision><geometry><sphere "
       "radius='nan'/></geometry></collision></link></robot>",
       ":2: radius of <sphere>: not a number"},
      {"<robot>\n<link name='a'>\n</robot>", ":3: mismatched tag"},
      {"<robot xmlns:xacro='http://www.ros.org/wiki/xacro'>\n<xacro:include filename='a'/><link "
       "name='a'/></robot>",
       ":2: <xacro:include> is xacro, a template"},
      {"<robot><link name='a'>\n<inertial><mass value='${m}'/></inertial></link></robot>",
       ":2: <mass> is xacro"},
      {"<sdf/>", ":1: neither URDF"},
      {"<mujoco/>", ":1: there is no <worldbody>"},
      {"<mujoco><worldbody>\n<body name='a'><joint/><geom mass='0' size='1'/></body></worldbody></mujoco>",
       ":2: \"a\" moves, but has no mass"},
      {"<mujoco><worldbody>\n<geom type='cone'/></worldbody></mujoco>", ":2: a geom of type \"cone\""},
      {"<mujoco><worldbody>\n<geom condim='2' size='1'/></worldbody></mujoco>", ":2: condim is 1, 3, 4 or 6"},
      {"<mujoco><worldbody>\n<geom contype='0.5' size='1'/></worldbody></mujoco>",
       ":2: contype is a whole number"},
      {"<mujoco><worldbody><geom name='g' size='1'/></worldbody><contact>\n<pair geom1='g' "
       "geom2='h'/></contact></mujoco>",
       ":2: there is no geom \"h\""},
      {"<mujoco><worldbody><body name='a'><joint name='j'/><geom "
       "size='1'/></body></worldbody><actuator>\n<motor "
       "joint='j' ctrlrange='1 0'/></actuator></mujoco>",
       ":2: a range ends below its beginning"},
      {"<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body>\n<body><joint name='j'/><geom "
       "size='1'/></body></worldbody></mujoco>",
       ":2: there are two joints \"j\""},
      {"<mujoco><asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1 5'/></asset><worldbody><geom "
       "type='mesh' "
       "mesh='m'/></worldbody></mujoco>",
       ":2: vertex of <mesh>: 13 numbers are not triples"},
      {"<mujoco><worldbody>\n<geom class='none' size='1'/></worldbody></mujoco>",
       ":2: there is no default class"},
      {"<mujoco><worldbody>\n<geom type='mesh' mesh='x'/></worldbody></mujoco>",
       ":2: there is no mesh \"x\""},
      {"<mujoco><worldbody>\n<replicate/></worldbody></mujoco>", ":2: <replicate> needs a count"},
      {"<mujoco><worldbody>\n<body name='world'><geom size='1'/></body></worldbody></mujoco>",
       ":2: \"world\" is the world's own name"},
      {"<mujoco><worldbody><body name='a'><freejoint/><geom size='1'/>\n<geom type='plane' size='1 1 "
       "1'/></body></worldbody></mujoco>",
       ":2: \"a\" moves, but is a plane"},
      {"<mujoco><worldbody>\n<composite/></worldbody></mujoco>", ":2: <composite> is not supported"},
      {"<mujoco><worldbody><body name='a'><freejoint/><geom "
       "size='1'/></body></worldbody><equality>\n<connect "
       "body1='x' body2='a' anchor='0 0 0'/></equality></mujoco>",
       ":2: there is no body \"x\""},
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

TEST(rich_models_arrive)
{
  if (!tb_have_import()) return;
  Import i = import_text(rich, false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world && body(&i, "r-2") && body(&i, "w"));
  CHECK(body(&i, "w")->category & body(&i, "worldbody")->category); // the pair's
  double sum = 0;
  for (int k = 0; k < tb_world_body_count(i.scene.world); k++)
    sum += tb_body_mass(i.scene.world, tb_world_body_at(i.scene.world, k));
  CHECK_NEAR(sum, 9, 0.2); // settotalmass, and the light bodies between joints
  done(&i);
}

// The links of an arm reach into the floor, which stays a contact; the last one lies in the first.
TEST(links_that_start_inside_each_other_do_not_touch)
{
  if (!tb_have_import()) return;
  Import i = import_text("<mujoco><worldbody><geom type='plane' size='1 1 1'/>\n"
                         "<body name='a' pos='0 0 .1'><joint name='j'/><geom size='.2'/>"
                         "<body name='b' pos='.3 0 0'><joint name='k' axis='0 1 0'/><geom size='.15'/>\n"
                         "<body name='c' pos='-.2 0 0'><joint name='l' axis='0 1 0'/><geom size='.1'/>"
                         "</body></body></body></worldbody></mujoco>",
                         false);
  CHECK_OK(&i.ctx, i.status);
  CHECK(noted(&i, ":3: \"a\" and \"c\" start 0.2 m inside each other: they do not touch"));
  CHECK(!noted(&i, "\"a\" and \"b\"")); // a joint lets them
  tbArray overlaps = TB_ARRAY(tbOverlap);
  CHECK_OK(&i.ctx, tb_world_overlaps(&i.ctx, i.scene.world, 0.01, &overlaps));
  const tbOverlap* o = overlaps.data;
  CHECK(overlaps.count == 2 && fabs(o[0].depth - 0.1) < 1e-12 && fabs(o[1].depth - 0.05) < 1e-12);
  tb_array_free(&i.ctx, &overlaps);
  done(&i);
}

// What hangs rigidly on one body makes a group: its links do not touch each other, nor those that the group
// hangs on; links of other groups do.
TEST(links_of_a_rigid_group_do_not_touch)
{
  if (!tb_have_import()) return;
  Import i = import_text(
      "<mujoco><worldbody>"
      "<body name='a' pos='0 0 5'><freejoint/><geom size='.2'/>"
      "<body name='b' pos='.201 0 .4'><geom size='.2'/></body>"
      "<body name='c' pos='-.201 0 .4'><geom size='.2'/></body>"
      "</body>"
      "<body name='d' pos='.201 0 5.802'><freejoint/><geom size='.2'/></body></worldbody></mujoco>",
      false);
  CHECK_OK(&i.ctx, i.status);
  REQUIRE(i.scene.world);
  tbStepOptions options = tb_default_step_options();
  tbStepReport report = {0};
  options.margin = 0.01; // gaps are of two millimetres
  CHECK_OK(&i.ctx, tb_world_step(&i.ctx, i.scene.world, &options, &report));
  int between[2] = {0, 0};
  for (int k = 0; k < tb_world_contact_count(i.scene.world); k++) {
    tbContactView c = tb_world_contact(i.scene.world, k);
    const tbBody *first = &tb_bodies(i.scene.world)[c.a.index],
                 *second = &tb_bodies(i.scene.world)[c.b.index];
    between[strcmp(first->name, "d") == 0 || strcmp(second->name, "d") == 0]++;
  }
  CHECK(between[0] == 0 && between[1] == 1);
  done(&i);
}

// Hulls need no triangles, their files may be named by URL, and a free joint may have a name that an actuator
// knows.
TEST(points_alone_are_a_hull_and_actuators_of_free_joints_are_named)
{
  if (!tb_have_import()) return;
  char mesh[64], text[512];
  snprintf(mesh, sizeof mesh, "/var/tmp/tribo-points-%d.obj", (int)getpid()); // not beside the robot
  FILE* file = fopen(mesh, "w");
  for (int k = 0; k < 8; k++) fprintf(file, "v %d %d %d\n", k & 1, k >> 1 & 1, k >> 2);
  fclose(file);
  snprintf(text, sizeof text,
           "<robot name='r'><link name='a'><collision><geometry><mesh filename='file://%s'/></geometry>"
           "</collision></link></robot>",
           mesh);
  Import u = import_text(text, false);
  CHECK_OK(&u.ctx, u.status);
  CHECK(u.notes.count == 0 && tb_world_size(u.scene.world).shapes == 1);
  done(&u);
  snprintf(
      text, sizeof text,
      "<mujoco><asset><mesh name='m' file='%s'/></asset><worldbody>\n"
      "<body name='a'><freejoint name='f'/><geom type='mesh' mesh='m' density='10'/></body></worldbody>\n"
      "<actuator><motor name='push' joint='f'/></actuator></mujoco>",
      mesh);
  Import i = import_text(text, false);
  unlink(mesh);
  CHECK_OK(&i.ctx, i.status);
  CHECK(noted(&i, ":2: ") && noted(&i, "is not closed: its mass is that of its hull"));
  CHECK(noted(&i, ":3: the actuator \"push\" is at a free joint, and not in the scene"));
  CHECK_NEAR(tb_body_mass(i.scene.world, tb_world_body_at(i.scene.world, 0)), 10, 1e-12);
  done(&i);
}

TEST(hostile_robots_do_not_crash)
{
  uint64_t random = 7;
  for (int k = 0; tb_have_import() && k < 800; k++) { // one byte another, or the end cut off
    char text[4096];
    const char* from = k % 4 == 3 ? urdf : k % 4 == 1 ? mjcf : rich;
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
  for (int which = 0; tb_have_import() && which < 3; which++) {
    FILE* file = fopen(path, "w");
    fputs(which == 2 ? rich : which ? mjcf : urdf, file);
    fclose(file);
    tbFailingAllocator all = {.countdown = -1};
    for (long k = -1; k < all.total; k++) {
      tbFailingAllocator state = {.countdown = k};
      tbContext ctx = test_failing_context(&state);
      tbOut out = tb_out_memory(&ctx);
      tbArray notes = TB_ARRAY(tbImportNote);
      tbImportOptions options = {.key = which == 2 ? "k" : NULL};
      tbStatus status = tb_import_robot(&ctx, path, NULL, &options, &out, &notes);
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
