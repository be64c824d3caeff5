// SPDX-License-Identifier: Apache-2.0
// Soft bodies and cloth in scene files: what they say reaches the world, and what is wrong is said where it
// is.
#include "base/file.h"
#include "io/io_test.h"
#include "kind/deformable.h"
#include "tribo/inspect.h"

#include <string.h>

#define JSON(...) #__VA_ARGS__

// clang-format off
const char io_deformable_scene[] = JSON(
{"tribo": 1, "scheme": {"clearance": 0.002, "rounds": 7},
 "materials": {"rubber": {"density": 1100, "friction": 0.8}},
 "bodies": [{"name": "block", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 0, -5]}],
 "soft": [
  {"name": "brick", "mesh": {"box": {"size": [1, 2, 3], "cells": [1, 2, 3], "tets": 6}}, "model": "neo-hookean",
   "young": 2e5, "poisson": 0.4, "density": 900, "damping": {"mass": 0.5, "stiffness": 0.01}, "mass": "consistent",
   "position": [0, 0, 10], "orientation": [2, 0, 0, 0], "scale": [1, 0.5, 2], "velocity": [1, 2, 3],
   "angular_velocity": [0, 0, 0.1], "friction": 0.9, "self_contact": false,
   "pins": [{"box": [[-1, -1, 13], [1, 1, 13]], "velocity": [0, 0, 1], "angular_velocity": [0, 0, 2]},
            {"vertices": [0, 1, 0]}],
   "attach": [{"body": "block", "vertices": [2, 3]}]},
  {"name": "ball", "mesh": {"sphere": {"radius": 0.5, "cells": 2}}, "material": "rubber", "damping": 0.02,
   "orientation_euler_deg": [0, 90, 0],
   "repeat": {"count": [2, 1, 3], "spacing": [2, 2, 2], "jitter": 0.1},
   "pins": [{"box": [[-1, -1, -1], [1, 1, 1]],
             "kinematic": {"keys": [{"t": 0}, {"t": 1, "position": [0, 0, 1], "orientation_euler": [0, 0, 1]}]}}]},
  {"mesh": {"cylinder": {"radius": 0.1, "length": 2, "cells": [2, 8]}}, "position": [20, 0, 0],
   "pins": [{"box": [[19, -1, 1], [21, 1, 1]], "motion": {"velocity": [0, 0, 1]}},
            {"box": [[19, -1, -1], [21, 1, 1]], "keys": [{"t": 0}, {"t": 2, "position": [21, 0, 0]}]}]},
  {"mesh": {"rod": {"radius": 0.1, "length": 2, "cells": 2}, "refine": 0}, "position": [22, 0, 0]},
  {"mesh": {"torus": {"ring": 1, "tube": 0.25, "cells": [2, 12]}}, "position": [24, 0, 0], "model": "stvk"},
  {"mesh": {"ring": {"inner": 0.5, "outer": 1, "height": 0.5, "cells": [1, 10, 2]}}, "position": [28, 0, 0]}],
 "cloth": [
  {"name": "flag", "mesh": {"grid": {"size": [2, 1], "cells": [4, 3]}}, "area_density": 0.3, "stretch": 100,
   "shear": 20, "bend": 1e-4, "bending": "dihedral", "strain_limit": 0.1, "limit_stiffness": 1e4, "thickness": 0.003, "air_damping": 0.1, "damping": 1e-3, "warp": [0, 1, 0],
   "orientation_euler": [0, 0, 0], "position": [0, 10, 0], "scale": 2, "material": "rubber",
   "pins": [{"box": [[-2, 9, 0], [-2, 11, 0]]}], "attach": [{"body": "block", "box": [[2, 9, 0], [2, 11, 0]]}],
   "springs": [{"vertices": [0, 19], "stiffness": 12}, {"vertices": [3, 4], "stiffness": 5, "length": 0.25}]}],
 "reduced": [
  {"name": "tine", "mesh": {"box": {"size": [1, 0.1, 0.1], "cells": [4, 1, 1]}}, "modes": 5, "basis": "modal-derivatives",
   "young": 3e6, "damping": 0.003, "material": "rubber", "position": [0, 0, 30],
   "pins": [{"box": [[-1, -1, 29], [-0.5, 1, 31]], "velocity": [0, 0, 1]}]},
  {"name": "bar", "mesh": {"box": {"size": 1, "cells": 1}}, "modes": 3, "position": [3, 0, 30], "velocity": [1, 0, 0]}],
 "animated": [
  {"name": "wave", "mesh": {"grid": {"size": 2, "cells": 1}}, "scale": [1, 1, 2], "thickness": 0.01, "material": "rubber",
   "position": [40, 0, 0], "orientation_euler": [0, 0, 0], "category": 2, "mask": 3,
   "kinematic": {"velocity": [0, 0, 1]},
   "frames": [{"t": 0, "vertices": [[-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 1, 0]]},
              {"t": 2, "vertices": [[-1, -1, 0], [1, -1, 0], [-1, 1, 1], [1, 1, 1]]}]}]}
);
// clang-format on

static tbStatus parse(tbContext* ctx, const char* text, tbScene* out)
{
  return tb_scene_parse(ctx, "s.json", text, strlen(text), NULL, out);
}

static const tbDeformable* deformable(const tbScene* s, const char* name)
{
  tbBodyId body = tb_world_find_body(s->world, name);
  return body.index >= 0 ? tb_deformable(&tb_bodies(s->world)[body.index]) : NULL;
}

static int held_by(const tbDeformable* d, int hold)
{
  int count = 0;
  for (int i = 0; i < d->fem->nnode; i++) count += d->holder[i] == hold;
  return count;
}

static tbVec3 extent(const tbDeformable* d)
{
  tbVec3 low = d->x[0], high = low;
  for (int i = 0; i < d->fem->nnode; i++) low = tb_min3(low, d->x[i]), high = tb_max3(high, d->x[i]);
  return tb_sub3(high, low);
}

TEST(soft_bodies_of_a_scene_reach_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, io_deformable_scene, &s));
  REQUIRE(s.world && tb_world_body_count(s.world) == 16);
  CHECK(s.step.clearance == 0.002 && s.step.rounds == 7);
  const tbDeformable* d = deformable(&s, "brick");
  REQUIRE(d && d->fem->nnode == 2 * 3 * 4 && d->fem->nelement[0] == 36);
  CHECK(!d->fem->cloth && d->fem->material.model == TB_ELASTIC_NEO_HOOKEAN && d->fem->mass_block);
  CHECK_NEAR(d->fem->material.mu, 2e5 / 2.8, 1e-6);
  CHECK(d->fem->mass_damping == 0.5 && d->fem->stiffness_damping == 0.01 && !d->self_contact);
  CHECK(tb_distance3(extent(d), tb_vec3(1, 1, 6)) < 1e-12);
  tbBodyId body = tb_world_find_body(s.world, "brick");
  CHECK_NEAR(tb_body_mass(s.world, body), 900 * 6, 1e-9);
  CHECK(tb_distance3(tb_body_state(s.world, body).position, tb_vec3(0, 0, 10)) < 1e-12);
  CHECK(tb_bodies(s.world)[body.index].own_contact_material >= 0);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "ball/0")) /
                 tb_body_mass(s.world, tb_world_find_body(s.world, "ball/5")),
             1, 1e-12);
  CHECK(deformable(&s, "ball/3")->fem->stiffness_damping == 0.02 && deformable(&s, "ball/3")->self_contact);
  CHECK(tb_bodies(s.world)[tb_world_find_body(s.world, "ball/3").index].material == 1);
  tb_scene_free(&ctx, &s);
}

TEST(cloth_of_a_scene_reaches_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, io_deformable_scene, &s));
  REQUIRE(s.world);
  const tbDeformable* d = deformable(&s, "flag");
  REQUIRE(d && d->fem->cloth && d->fem->nnode == 20 && d->fem->nelement[0] == 24);
  const tbClothDef* c = &d->fem->sheet;
  REQUIRE(d->fem->nelement[2] == 2);
  CHECK(d->fem->corner[2][0] == 0 && d->fem->corner[2][1] == 19 && d->fem->spring[0].stiffness == 12);
  CHECK_NEAR(d->fem->spring[0].length, sqrt(16 + 4), 1e-12); // 4 m by 2 m at this scale
  CHECK(d->fem->spring[1].stiffness == 5 && d->fem->spring[1].length == 0.25);
  CHECK(c->area_density == 0.3 && c->stretch == 100 && c->shear == 20 && c->bend == 1e-4 &&
        c->bending == TB_BENDING_DIHEDRAL);
  CHECK(c->thickness == 0.003 && c->air_damping == 0.1 && d->fem->stiffness_damping == 1e-3);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "flag")), 0.3 * 4 * 2, 1e-12);
  REQUIRE(d->nhold == 2);
  CHECK(d->hold[0].body == -1 && held_by(d, 0) == 4 && d->hold[1].body == 0 && held_by(d, 1) == 4);
  tb_scene_free(&ctx, &s);
}

TEST(reduced_bodies_of_a_scene_reach_the_world)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, io_deformable_scene, &s));
  REQUIRE(s.world);
  tbBodyId tine = tb_world_find_body(s.world, "tine"), bar = tb_world_find_body(s.world, "bar");
  CHECK(tb_body_mode_count(s.world, tine) == 5 && tb_body_mode_count(s.world, bar) == 3);
  CHECK(tb_body_dofs(s.world, tine) == 11 && tb_body_dofs(s.world, bar) == 9);
  CHECK_NEAR(tb_body_mass(s.world, tine), 11, 1e-12); // rubber's density
  CHECK(tb_distance3(tb_body_state(s.world, bar).position, tb_vec3(3, 0, 30)) < 1e-12);
  CHECK(tb_body_state(s.world, bar).velocity.x == 1 &&
        fabs(tb_body_state(s.world, tine).velocity.z - 1) < 1e-14);
  tb_scene_free(&ctx, &s);
}

TEST(pins_of_a_scene_hold_nodes_once_and_move_as_they_say)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, io_deformable_scene, &s));
  REQUIRE(s.world);
  const tbDeformable* d = deformable(&s, "brick");
  REQUIRE(d && d->nhold == 3);
  CHECK(held_by(d, 0) == 6 && held_by(d, 1) == 2 &&
        held_by(d, 2) == 2); // the top face; nodes 0, 1; nodes 2, 3
  CHECK(d->hold[0].body == -1 && d->hold[0].motion.v.z == 1 && d->hold[0].motion.w.z == 2);
  CHECK(d->hold[2].body == 0);
  const tbMotionKey* key = s.world->key.data;
  const tbDeformable *first = deformable(&s, "ball/0"), *last = deformable(&s, "ball/5");
  REQUIRE(first->nhold == 1 && last->nhold == 1 && last->hold[0].motion.nkey == 2);
  CHECK(held_by(first, 0) == 27 && held_by(last, 0) == 27); // a copy's pins hold what those of the first do
  const tbMotionKey *a = &key[first->hold[0].motion.key], *b = &key[last->hold[0].motion.key];
  tbVec3 apart = tb_sub3(last->x[0], first->x[0]);
  CHECK(tb_distance3(tb_sub3(b[0].position, a[0].position), apart) < 1e-12);
  CHECK(tb_distance3(tb_sub3(b[1].position, b[0].position), tb_vec3(0, 0, 1)) < 1e-12);
  const tbDeformable* rod = deformable(&s, "body/8");
  REQUIRE(rod && rod->nhold == 2);
  CHECK(held_by(rod, 0) == 9 && held_by(rod, 1) == 72 && rod->hold[0].motion.v.z == 1);
  CHECK(key[rod->hold[1].motion.key + 1].position.x == 21);
  tb_scene_free(&ctx, &s);
}

static const char* scheme_of(const char* scheme, const char* parts)
{
  tbContext ctx = tb_default_context();
  char text[400];
  tbScene s = {0};
  snprintf(text, sizeof text, "{\"tribo\": 1, %s %s}", scheme, parts);
  CHECK_OK(&ctx, parse(&ctx, text, &s));
  const char* name = s.step.scheme;
  tb_scene_free(&ctx, &s);
  return name ? name : "";
}

TEST(scenes_that_deform_step_implicitly_unless_they_say_otherwise)
{
  const char* soft = JSON("soft" : [ {"mesh" : {"box" : {"size" : 1, "cells" : 1}}} ]);
  const char* cloth = JSON("cloth" : [ {"mesh" : {"grid" : {"size" : 1, "cells" : 1}}} ]);
  const char* usual = tb_default_step_options().scheme;
  const char* implicit = tb_scheme_find("implicit") ? "implicit" : usual;
  CHECK(strcmp(scheme_of("", soft), implicit) == 0 && strcmp(scheme_of("", cloth), implicit) == 0);
  CHECK(strcmp(scheme_of("\"scheme\": {\"rounds\": 3},", soft), implicit) == 0);
  CHECK(strcmp(scheme_of("\"scheme\": \"penalty\",", soft), "penalty") == 0);
  CHECK(strcmp(scheme_of("\"scheme\": {\"name\": \"moreau\"},", cloth), "moreau") == 0);
  CHECK(strcmp(scheme_of("", "\"soft\": []"), usual) == 0);
}

TEST(soft_meshes_are_cut_finer)
{
  const char* const text[2] = {
      JSON({"tribo" : 1, "soft" : [ {"mesh" : {"box" : {"size" : 1, "cells" : 1}, "refine" : 2}} ]}),
      JSON({"tribo" : 1, "soft" : [ {"mesh" : {"box" : {"size" : 1, "cells" : 1}, "refine" : 9}} ]})};
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, parse(&ctx, text[0], &s));
  CHECK(tb_body_element_count(s.world, 0, NULL) == 5 * 64);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_body_at(s.world, 0)), 1000, 1e-9);
  tb_scene_free(&ctx, &s);
  CHECK(parse(&ctx, text[1], &s) == TB_ERROR_INPUT && !s.world);
  CHECK(strstr(ctx.error.message, "\"refine\""));
}

static void write_text(const char* name, const char* text)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_write_file(&ctx, io_temp(name), text, strlen(text)));
}

static const char tetrahedron[] = "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                                  "POINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 0 1 2 3\n"
                                  "CELL_TYPES 1\n10\n";
static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

TEST(soft_bodies_and_cloth_come_from_files_too)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  write_text("one.vtk", tetrahedron);
  write_text("one.obj", triangle);
  write_text("scene.json", JSON({
               "tribo" : 1,
               "soft" : [ {"name" : "a", "mesh" : {"file" : "one.vtk"}, "scale" : 6} ],
               "cloth" : [ {"name" : "b", "mesh" : "one.obj", "scale" : [ 2, 3, 1 ]} ]
             }));
  CHECK_OK(&ctx, tb_scene_load(&ctx, io_temp("scene.json"), &s));
  REQUIRE(s.world);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "a")), 1000 * 36, 1e-8);
  CHECK_NEAR(tb_body_mass(s.world, tb_world_find_body(s.world, "b")), 0.2 * 3, 1e-12);
  tb_scene_free(&ctx, &s);

  write_text("scene.json", JSON({"tribo" : 1, "soft" : [ {"mesh" : {"file" : "one.obj"}} ]}));
  CHECK(tb_scene_load(&ctx, io_temp("scene.json"), &s) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "scene.json:1:") && strstr(ctx.error.message, "one.obj"));
}

#define BOX "\"mesh\": {\"box\": {\"size\": 1, \"cells\": 1}}"

TEST(scene_errors_of_soft_bodies)
{
  static const IoSceneError cases[] = {
      {"@{}", "missing key \"mesh\" for \"soft\""},
      {"{\"mesh\": @{}}", "the mesh does not say what it is"},
      {"{\"mesh\": @{\"file\": \"a.msh\", \"box\": {\"size\": 1, \"cells\": 1}}}",
       "a mesh is one thing, not 2"},
      {"{\"mesh\": {@\"spere\": 1}}", "unknown key \"spere\"; did you mean \"sphere\"?"},
      {"{\"mesh\": {\"file\": @\"a.msh\"}}", "a scene in memory has no files to read"},
      {"{\"mesh\": @\"a.msh\"}", "a scene in memory has no files to read"},
      {"{\"mesh\": {\"box\": @{\"size\": [1, 1, 1]}}}", "missing key \"cells\" for \"box\""},
      {"{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": @[2, 2]}}}",
       "expected 3 whole numbers for \"cells\", found 2"},
      {"{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": @0}}}",
       "expected a whole number of at least 1 for \"cells\", found 0"},
      {"{\"mesh\": {\"box\": {\"size\": @0, \"cells\": 1}}}",
       "expected a number above 0 for \"size\", found 0"},
      {"{\"mesh\": {\"sphere\": {\"radius\": 1, \"cells\": @1000}}}",
       "1000000000 cells; a mesh has at most 67108864"},
      {"{\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": @[1000, 1000, 1000]}}}",
       "1000000000 cells; a mesh has at most 67108864"},
      {"{\"mesh\": {\"rod\": {\"radius\": 1, \"length\": 1, \"cells\": @[100000, 1]}}}",
       "10000000000 cells; a mesh has at most 67108864"},
      {"{\"mesh\": {\"sphere\": {\"radius\": 1, \"cells\": @[2, 2, 3]}}}",
       "a ball has as many cells along each axis; one number says so"},
      {"{\"mesh\": {\"torus\": @{\"ring\": 1, \"tube\": 2, \"cells\": [2, 9]}}}",
       "a torus with a tube of radius 2 in a ring of radius 1"},
      {"{\"mesh\": {\"ring\": @{\"inner\": 1, \"outer\": 2, \"height\": 1, \"cells\": [1, 2, 1]}}}",
       "2 cells around a ring; it takes 3"},
      {"{" BOX ", \"model\": @\"neohookean\"}",
       "unknown name \"neohookean\" for \"model\"; did you mean \"neo-hookean\"?"},
      {"{" BOX ", \"mass\": @3}", "expected one of lumped, consistent for \"mass\", found 3"},
      {"{" BOX ", \"young\": @0}", "expected a number above 0 for \"young\", found 0"},
      {"{" BOX ", \"poisson\": @0.5}", "Poisson's ratio is 0.5; it must be less than 0.5"},
      {"{" BOX ", \"damping\": @\"much\"}", "expected a number or an object for \"damping\""},
      {"{" BOX ", \"damping\": {@\"mas\": 1}}", "unknown key \"mas\"; did you mean \"mass\"?"},
      {"{" BOX ", \"scale\": @-1}", "expected a number above 0 for \"scale\", found -1"},
      {"{" BOX ", \"material\": @\"gum\"}", "unknown material \"gum\""},
      {"{" BOX ", \"name\": @\"\"}", "a name must not be empty"},
      {"{" BOX ", \"name\": \"x\"},\n{" BOX ", \"name\": @\"x\"}",
       "there is a body \"x\" already, on line 2"},
      {"{" BOX ", \"orientation\": @[0, 0, 0, 0]}", "an orientation must not be zero"},
      {"{" BOX ", \"repeat\": {\"count\": @[1000, 1000, 2], \"spacing\": [1, 1, 1]}}",
       "2000000 bodies; a scene has at most 1000000"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"soft\": [\n", "]}", cases);
}

TEST(scene_errors_of_pins)
{
  static const IoSceneError cases[] = {
      {"\"pins\": [@{}]", "\"box\" or \"vertices\" says which nodes are held"},
      {"\"pins\": [{\"box\": @[[0, 0, 0]]}]", "expected 2 to 2 points for \"box\", found 1"},
      {"\"pins\": [{\"box\": @[[1, 1, 1], [0, 2, 2]]}]",
       "the box ends before it begins: first its low corner, then the high one"},
      {"\"pins\": [{\"box\": @[[2, 2, 2], [3, 3, 3]]}]",
       "no node lies in this box; the body's lie between (-0.5, -0.5, -0.5) and (0.5, 0.5, 0.5)"},
      {"\"pins\": [{\"vertices\": [0, @8]}]", "node 8 of a mesh of 8; they count from 0"},
      {"\"pins\": [{\"vertices\": [@-1]}]",
       "expected a whole number of at least 0 for \"vertices\", found -1"},
      {"\"pins\": [{\"vertices\": @[]}]", "\"vertices\" must not be empty"},
      {"\"pins\": [{\"vertices\": [0], \"box\": @[[0, 0, 0], [1, 1, 1]]}]",
       "\"box\" and \"vertices\" exclude each other"},
      {"\"pins\": [{\"vertices\": [0], \"velocity\": [0, 0, 1], \"keys\": @[{\"t\": 0}]}]",
       "\"keys\" and \"velocity\" exclude each other"},
      {"\"pins\": [{\"vertices\": [0], \"velocity\": [0, 0, 1], \"kinematic\": @{}}]",
       "\"velocity\" and \"kinematic\" exclude each other"},
      {"\"pins\": [{\"vertices\": [0], \"kinematic\": {}, \"motion\": @{}}]",
       "\"motion\" and \"kinematic\" exclude each other"},
      {"\"pins\": [{\"vertices\": [0], \"keys\": [{\"t\": 1}, {\"t\": @1}]}]",
       "the times of keys must increase"},
      {"\"pins\": [{\"vertices\": [0], \"motion\": {\"keys\": @[]}}]", "\"keys\" must not be empty"},
      {"\"springs\": [{\"vertices\": [0, @8], \"stiffness\": 1}]",
       "node 8 of a mesh of 8; they count from 0"},
      {"\"springs\": [{\"vertices\": @[3, 3], \"stiffness\": 1}]", "a spring is between two nodes"},
      {"\"springs\": [@{\"vertices\": [3, 4]}]", "missing key \"stiffness\" for \"springs\""},
      {"\"springs\": [{\"vertices\": [3, 4], \"stiffness\": @0}]",
       "expected a number above 0 for \"stiffness\", found 0"},
      {"\"attach\": [{\"vertices\": [0], \"body\": @\"grond\"}]",
       "unknown body \"grond\"; did you mean \"ground\"?"},
      {"\"attach\": [@{\"vertices\": [0]}]", "missing key \"body\" for \"attach\""},
      {"\"attach\": [{\"vertices\": [0], \"body\": @\"first\"}]",
       "\"first\" is deformable; nodes are attached to rigid bodies"},
  };
  IO_EXPECT_ERRORS(
      "{\"tribo\": 1, \"bodies\": [{\"name\": \"ground\", \"shape\": {\"type\": \"plane\"}, \"fixed\": "
      "true}],\n \"soft\": [{\"name\": \"first\", " BOX "}, {" BOX ",\n",
      "}]}", cases);
}

TEST(scene_errors_of_cloth_and_of_joints_to_it)
{
  static const IoSceneError cases[] = {
      {"{\"mesh\": {@\"box\": {}}}]", "unknown key \"box\"; valid keys: file, grid, tube"},
      {"{\"mesh\": {\"grid\": {\"size\": [1, 1], \"cells\": @[10000, 10000]}}}]",
       "100000000 cells; a mesh has at most 67108864"},
      {"{\"mesh\": {\"grid\": {\"size\": @[1, 1, 1], \"cells\": 1}}}]",
       "expected 2 numbers for \"size\", found 3"},
      {"{\"mesh\": {\"tube\": @{\"radius\": 1, \"length\": 1, \"cells\": [2, 1]}}}]",
       "a cloth of 2 × 1 cells"},
      {"{\"mesh\": {\"tube\": {\"radius\": [1, @0], \"length\": 1, \"cells\": 3}}}]",
       "expected a number above 0 for \"radius\", found 0"},
      {"{\"mesh\": @{\"grid\": {\"size\": 1, \"cells\": 1}, \"tube\": {\"radius\": 1, \"length\": 1, "
       "\"cells\": 3}}}]",
       "a mesh is one thing, not 2"},
      {"{\"mesh\": {\"grid\": {\"size\": 1, \"cells\": 1}}, @\"strech\": 1}]",
       "unknown key \"strech\"; did you mean \"stretch\"?"},
      {"{\"mesh\": {\"grid\": {\"size\": 1, \"cells\": 1}}, \"warp\": @[0, 0, 0]}]",
       "a direction must not be zero"},
      {"{\"name\": \"c\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 1}}}], \"joints\": [{\"type\": "
       "\"weld\", "
       "\"a\": \"world\", \"b\": @\"c\"}]",
       "\"c\" is deformable: its own \"attach\" joins it to rigid bodies"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"cloth\": [\n", "}", cases);
}

TEST(scene_that_deforms_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k += test_quick() ? 7 : 1) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbScene s = {0};
    status = parse(&poor, io_deformable_scene, &s);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !s.world && !s.name));
    tb_scene_free(&poor, &s);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 5000);
  }
  CHECK(k > 100);
}
