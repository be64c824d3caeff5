// SPDX-License-Identifier: Apache-2.0
// Scene files: what is wrong is said where it is wrong.
#include "io/scene/errors.h"
#include "io/io_test.h"
#include "scene/world.h"

#include <stdlib.h>
#include <string.h>

TEST(scene_errors_of_the_whole)
{
  static const IoSceneError cases[] = {
      {"{\"tribo\": 1,@}", "expected a key, found '}' (no comma after the last one)"},
      {"@[]", "expected an object, found an array"},
      {"@{\"gravity\": [0, 0, 0]}", "not a Tribo scene: the key \"tribo\" is missing"},
      {"@{\"tribo_problem\": 1}", "a contact problem, not a scene; `tribo solve` takes it"},
      {"{\"tribo\": @2}", "expected a whole number of at most 1 for \"tribo\", found 2"},
      {"{\"tribo\": 1, @\"gravty\": 0}", "unknown key \"gravty\"; did you mean \"gravity\"?"},
      {"{\"tribo\": 1, \"gravity\": @[0, 0]}", "expected 3 numbers for \"gravity\", found 2"},
      {"{\"tribo\": 1, \"dt\": @0}", "expected a number of at least 1e-12 for \"dt\", found 0"},
      {"{\"tribo\": 1, \"dt\": @-0.01}", "expected a number of at least 1e-12 for \"dt\", found -0.01"},
      {"{\"tribo\": 1, \"dt\": @\"fast\"}", "expected a number for \"dt\", found the string \"fast\""},
      {"{\"tribo\": 1, \"time\": @-1}", "expected a number of at least 0 for \"time\", found -1"},
      {"{\"tribo\": 1, \"threads\": @0}", "expected a whole number of at least 1 for \"threads\", found 0"},
      {"{\"tribo\": 1, \"seed\": @1.5}", "expected a whole number for \"seed\", found 1.5"},
      {"{\"tribo\": 1, \"name\": @3}", "expected a string for \"name\", found 3"},
      {"{\"tribo\": 1,\n \"reduced\": [ @1]}", "expected an object for \"reduced\", found 1"},
      {"{\"tribo\": 1, \"reduced\": @{}}", "expected an array for \"reduced\", found an object"},
      {"{\"tribo\": 1, \"scheme\": @\"semi-implict\"}",
       "unknown name \"semi-implict\" for \"scheme\"; did you mean \"semi-implicit\"?"},
      {"{\"tribo\": 1, \"scheme\": @3}", "expected a name or an object for \"scheme\""},
      {"{\"tribo\": 1, \"scheme\": {\"stabilization\": {\"fraction\": @2}}}",
       "expected a number of at least 0 and at most 1 for \"fraction\", found 2"},
      {"{\"tribo\": 1, \"scheme\": {\"stabilization\": {\"fraction\": 0.1, \"erp\": @0.2}}}",
       "\"fraction\" and \"erp\" exclude each other"},
      {"{\"tribo\": 1, \"scheme\": {\"stabilization\": {\"cfm\": 0.1, \"compliance\": @0.2}}}",
       "\"compliance\" and \"cfm\" exclude each other"},
      {"{\"tribo\": 1, \"solver\": @\"bsg\"}", "unknown name \"bsg\" for \"solver\"; did you mean \"bgs\"?"},
      {"{\"tribo\": 1, \"solver\": {@\"nam\": \"bgs\"}}", "unknown key \"nam\"; did you mean \"name\"?"},
      {"{\"tribo\": 1, \"solver\": {\"order\": @\"gven\"}}",
       "unknown name \"gven\" for \"order\"; did you mean \"given\"?"},
      {"{\"tribo\": 1, \"solver\": \"dantzig\", \"contact\": {\"model\": @\"ccp\"}}",
       "solver dantzig does not know the model ccp; it knows cone, box, frictionless"},
      {"{\"tribo\": 1, \"contact\": {\"directions\": @65}}",
       "expected a whole number of at most 64 for \"directions\", found 65"},
  };
  IO_EXPECT_ERRORS("", "", cases);
}

TEST(scene_errors_of_materials)
{
  static const IoSceneError cases[] = {
      {"{\"wood\": {@\"densty\": 1}}, \"bodies\": []", "unknown key \"densty\"; did you mean \"density\"?"},
      {"{\"wood\": @3}", "expected an object for \"wood\", found 3"},
      {"{\"wood\": {\"density\": @0}}", "expected a number above 0 for \"density\", found 0"},
      {"{\"wood\": {\"restitution\": @1.1}}",
       "expected a number of at least 0 and at most 1 for \"restitution\", found 1.1"},
      {"{\"wood\": {\"friction\": @-1}}",
       "expected a number of at least 0 and at most 1000000 for \"friction\", found -1"},
      {"{\"wood\": {\"friction\": @\"much\"}}", "expected a number or an object for \"friction\""},
      {"{\"wood\": {\"friction\": @{}}}", "missing key \"mu\" for \"friction\""},
      {"{\"wood\": {\"friction\": @{\"mu_t\": 1}}}", "missing key \"mu_b\" for \"friction\""},
      {"{\"wood\": {\"friction\": @{\"mu_t\": 1, \"mu_b\": 1}}}",
       "missing key \"direction\" for \"friction\""},
      {"{\"wood\": {\"friction\": {\"mu_t\": 1, \"mu_b\": 1, \"direction\": @[0, 0, 0]}}}",
       "a direction must not be zero"},
      {"{\"wood\": {\"friction\": {\"mu\": 1, @\"torsoin\": 1}}}",
       "unknown key \"torsoin\"; did you mean \"torsion\"?"},
      {"{\"wood\": {\"friction\": {\"mu\": 1, @\"mu_t\": 1}}}",
       "the key \"mu_t\" does not go with the others of this friction"},
      {"{\"wood\": {\"friction\": {\"mu\": 0.5, \"mu_static\": @0.4}}}",
       "friction at rest must not be below mu"},
      {"{\"wood\": {\"friction\": {\"model\": \"matchstick\", \"mu\": 1, \"mu_t\": 1, \"mu_b\": 1, "
       "\"direction\": @[0, 0, 0]}}}",
       "a direction must not be zero"},
      {"{\"wood\": {\"friction\": {\"model\": \"tensor\", \"matrix\": [[1, 0], [0, 1]], \"field\": "
       "{\"points\": [[0, 0, 0], [1, 0, 0]], \"directions\": @[[1, 0, 0]]}}}}",
       "2 points have 1 directions"},
      {"{\"wood\": {\"friction\": {\"model\": \"tensor\", \"matrix\": [[1, 0], [0, 1]], \"field\": "
       "{\"points\": [[0, 0, 0]], \"directions\": @[[0, 0, 0]]}}}}",
       "direction 0 of a field must not be zero"},
      {"{\"wood\": {\"friction\": {\"model\": \"tensor\", \"matrix\": @[[1, 3], [0, 1]]}}}",
       "the friction tensor would add energy: its symmetric part has the eigenvalue -0.5"},
      {"{\"wood\": {\"friction\": {\"matrix\": @[[1, 3], [0, 1]], \"direction\": [1, 0, 0]}}}", // of a tensor
                                                                                                // alone
       "the friction tensor would add energy: its symmetric part has the eigenvalue -0.5"},
      {"{\"wood\": {\"friction\": {\"model\": \"tensor\", \"matrix\": @[1, 0, 0, 1]}}}",
       "expected 2 rows in \"matrix\", found 4"},
      {"{\"wood\": {\"friction\": {\"model\": \"texture\", \"normal_map\": @\"a.png\", \"scale\": 1}}}",
       "a scene in memory has no files to read"},
      {"{\"wood\": {\"friction\": {\"model\": \"texture\", \"normal_map\": \"a.png\", \"directions\": @5}}}",
       "expected an even number of directions"},
      {"{\"wood\": {\"friction\": {\"model\": @\"columb\", \"mu\": 1}}}",
       "unknown name \"columb\" for \"model\"; did you mean \"coulomb\"?"},
      {"{\"wood\": {}, \"default\": @{}}", "there is a material \"default\" already"},
      {"{\"wood\": {}}, \"pairs\": [{\"a\": \"wood\", \"b\": @\"wod\"}]",
       "unknown material \"wod\"; did you mean \"wood\"?"},
      {"{\"wood\": {\"erp\": @0.2}}", "a contact's erp, above 0, and its cfm belong together"},
      {"{\"wood\": {\"erp\": @0, \"cfm\": 1}}", "a contact's erp, above 0, and its cfm belong together"},
      {"{\"wood\": @{\"damping\": 3}}", "damping and coat of contacts need a stiffness"},
      {"{\"wood\": {}}, \"pairs\": [@{\"a\": \"wood\"}]", "missing key \"b\" for \"pairs\""},
      {"{}, \"bodies\": [{\"material\": @\"wood\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}}]",
       "unknown material \"wood\""},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"materials\":\n", "}", cases);
}

#define BALL "\"shape\": {\"type\": \"sphere\", \"radius\": 1}"

TEST(scene_errors_of_shapes)
{
  static const IoSceneError cases[] = {
      {"{\"type\": @\"spere\", \"radius\": 1}",
       "unknown name \"spere\" for \"type\"; did you mean \"sphere\"?"},
      {"@{\"radius\": 1}", "missing key \"type\" for \"shape\""},
      {"@{\"type\": \"sphere\"}", "missing key \"radius\" for \"shape\""},
      {"{\"type\": \"sphere\", @\"raduis\": 1}", "unknown key \"raduis\"; did you mean \"radius\"?"},
      {"{\"type\": \"sphere\", \"radius\": @0}", "expected a number above 0 for \"radius\", found 0"},
      {"{\"type\": \"sphere\", @\"size\": [1, 1, 1]}",
       "unknown key \"size\"; valid keys: type, position, orientation, orientation_euler, "
       "orientation_euler_deg, radius"},
      {"{\"type\": \"box\", \"size\": [1, 1, @-1]}", "expected a number above 0 for \"size\", found -1"},
      {"@{\"type\": \"plane\"}", "a plane cannot move freely; make its body fixed or kinematic"},
      {"{\"type\": \"plane\", \"normal\": @[0, 0, 0]}, \"fixed\": true", "a normal must not be zero"},
      {"@{\"type\": \"convex\"}", "a convex shape has either \"vertices\" or \"file\""},
      {"{\"type\": \"convex\", \"vertices\": @[[0, 0, 0]]}",
       "expected 4 to 1000000 points for \"vertices\", found 1"},
      {"{\"type\": \"convex\", \"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], @[1, 1]]}",
       "expected 3 numbers for \"vertices\", found 2"},
      {"{\"type\": \"convex\", \"file\": \"a.obj\", \"vertices\": @[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, "
       "1]]}",
       "\"vertices\" and \"file\" exclude each other"},
      {"{\"type\": \"mesh\", \"file\": @\"a.obj\"}", "a scene in memory has no files to read"},
      {"@{\"type\": \"mesh\", \"scale\": 2}", "missing key \"file\" for \"shape\""},
      {"{\"type\": \"sdf\", \"file\": \"a.obj\", \"resolution\": @1000}",
       "expected a whole number of at most 512 for \"resolution\", found 1000"},
      {"{\"type\": \"sphere\", \"radius\": 1, \"orientation\": @[0, 0, 0, 0]}",
       "an orientation must not be zero"},
      {"{\"type\": \"sphere\", \"radius\": 1, \"orientation\": [1, 0, 0, 0], \"orientation_euler_deg\": @[0, "
       "0, 0]}",
       "\"orientation\" and \"orientation_euler_deg\" exclude each other"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"bodies\": [{\"shape\":\n", "}]}", cases);
}

TEST(scene_errors_of_bodies)
{
  static const IoSceneError cases[] = {
      {"@{}",
       "a body needs a \"shape\" or \"shapes\"; one that moves goes without if mass and inertia are given"},
      {"{\"shapes\": @[]}",
       "a body needs a \"shape\" or \"shapes\"; one that moves goes without if mass and inertia are given"},
      {"@{\"mass\": 1}",
       "a body needs a \"shape\" or \"shapes\"; one that moves goes without if mass and inertia are given"},
      {"{" BALL ", \"shapes\": @[]}", "\"shape\" and \"shapes\" exclude each other"},
      {"{" BALL ", \"mass\": @0}", "expected a number above 0 for \"mass\", found 0"},
      {"{" BALL ", \"mass\": 1, \"density\": @2}", "\"mass\" and \"density\" exclude each other"},
      {"{" BALL ", \"inertia\": @[1, 1]}", "expected 3 to 6 numbers for \"inertia\", found 2"},
      {"{" BALL ", \"inertia\": @[1, 1, 1, 0]}", "expected 3 or 6 numbers for \"inertia\", found 4"},
      {"{" BALL ", \"inertia\": [1, @0, 1]}", "a moment of inertia must be positive"},
      {"@{\"name\": \"x\", " BALL ", \"inertia\": [1, 1, 1, 2, 0, 0]}",
       "the inertia of x is not positive definite"},
      {"{\"name\": @\"\", " BALL "}", "a name must not be empty"},
      {"{\"name\": @\"world\", " BALL "}", "\"world\" stands for the world in joints; no body is called so"},
      {"{\"name\": \"x\", " BALL "},\n {\"name\": @\"x\", " BALL "}",
       "there is a body \"x\" already, on line 2"},
      {"{\"name\": \"x/1\", " BALL "},\n{\"name\": @\"x\", " BALL
       ", \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [1, 1, 1]}}",
       "there is a body \"x/1\" already, on line 2"},
      {"{" BALL ", \"fixed\": true, \"kinematic\": @{}}", "a body is either fixed or kinematic"},
      {"{" BALL ", \"fixed\": true, \"velocity\": @[1, 0, 0]}", "a fixed body has no \"velocity\""},
      {"{" BALL ", \"kinematic\": {}, \"angular_velocity\": @[1, 0, 0]}",
       "the \"angular_velocity\" of a kinematic body belongs in \"kinematic\""},
      {"{" BALL ", \"kinematic\": {\"velocity\": [1, 0, 0], \"keys\": @[{\"t\": 0}]}}",
       "\"keys\" and \"velocity\" exclude each other"},
      {"{" BALL ", \"kinematic\": {\"keys\": @[]}}", "\"keys\" must not be empty"},
      {"{" BALL ", \"kinematic\": {\"keys\": [{\"t\": 0},\n{\"t\": @0}]}}",
       "the times of keys must increase"},
      {"{" BALL ", \"repeat\": {\"count\": @[1000, 1000, 1000], \"spacing\": [1, 1, 1]}}",
       "1000000000 bodies; a scene has at most 1000000"},
      {"{" BALL ", \"repeat\": {\"count\": [@1000000000, 1, 1], \"spacing\": [1, 1, 1]}}",
       "expected a whole number of at most 1000000 for \"count\", found 1000000000"},
      {"{" BALL ", \"repeat\": {\"count\": [@0, 1, 1], \"spacing\": [1, 1, 1]}}",
       "expected a whole number of at least 1 for \"count\", found 0"},
      {"{" BALL ", \"repeat\": {\"count\": @[1, 1], \"spacing\": [1, 1, 1]}}",
       "expected 3 whole numbers for \"count\", found 2"},
      {"{" BALL ", @\"bullett\": true}", "unknown key \"bullett\"; did you mean \"bullet\"?"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"bodies\": [\n", "]}", cases);
}

TEST(scene_errors_of_joints)
{
  static const IoSceneError cases[] = {
      {"@{\"a\": \"x\"}", "missing key \"type\" for \"joints\""},
      {"{\"type\": @\"bal\", \"a\": \"x\"}", "unknown name \"bal\" for \"type\"; did you mean \"ball\"?"},
      {"@{\"type\": \"weld\"}", "a joint needs a body"},
      {"{\"type\": \"weld\", \"a\": \"world\", \"b\": @\"world\"}", "a joint needs a body"},
      {"{\"type\": \"weld\", \"a\": \"x\", \"b\": @\"x\"}", "a joint of a body with itself"},
      {"{\"type\": \"weld\", \"a\": @\"blokc\"}", "unknown body \"blokc\"; did you mean \"block\"?"},
      {"{\"type\": \"weld\", \"a\": \"x\", \"b\": @\"nothing like it\"}", "unknown body \"nothing like it\""},
      {"@{\"type\": \"weld\", \"a\": \"f\"}", "neither body of the joint can move freely"},
      {"@{\"type\": \"ball\", \"a\": \"x\"}", "missing key \"anchor\" for \"joints\""},
      {"{\"type\": \"ball\", \"a\": \"x\", \"anchor\": [0, 0, 0], @\"limits\": [0, 1]}",
       "unknown key \"limits\"; valid keys: type, name, a, b, compliance, damping, collide, anchor"},
      {"{\"type\": \"hinge\", \"a\": \"x\", \"anchor\": [0, 0, 0], \"axis\": @[0, 0, 0]}",
       "an axis must not be zero"},
      {"{\"type\": \"slider\", \"a\": \"x\", \"axis\": [0, 0, 1], \"limits\": @[2, 1]}",
       "the lower limit is above the upper one"},
      {"{\"type\": \"hinge\", \"a\": \"x\", \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1], \"limits\": [0, 1], "
       "\"limits_deg\": @[0, 1]}",
       "\"limits\" and \"limits_deg\" exclude each other"},
      {"{\"type\": \"slider\", \"a\": \"x\", \"axis\": [0, 0, 1], \"motor\": @{\"speed\": 1}}",
       "missing key \"force\" for \"motor\""},
      {"@{\"type\": \"distance\", \"a\": \"x\", \"anchor\": [0, 0, 0], \"anchor_b\": [0, 0, 0]}",
       "the two anchors of a distance joint are at the same place"},
      {"{\"type\": \"weld\", \"a\": \"x\", \"compliance\": @-1}",
       "expected a number of at least 0 for \"compliance\", found -1"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"bodies\": [{\"name\": \"x\", " BALL "}, {\"name\": \"block\", " BALL
                   "}, {\"name\": \"f\", \"fixed\": true, " BALL "}], \"joints\": [\n",
                   "]}", cases);
}

TEST(scene_errors_of_filters)
{
  static const IoSceneError pairs[] = {
      {"{\"a\": \"x\", \"b\": @\"blokc\"}", "unknown body \"blokc\"; did you mean \"block\"?"},
      {"@{\"a\": \"x\", \"b\": \"x\"}", "a pair needs two different bodies"},
      {"@{\"a\": \"x\"}", "missing key \"b\" for \"ignore\""},
      {"@{\"a\": \"x\", \"b\": \"world\"}", "the world has no shape to ignore"},
      {"@{\"a\": \"world\", \"b\": \"x\"}", "the world has no shape to ignore"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"bodies\": [{\"name\": \"x\", " BALL "}, {\"name\": \"block\", " BALL
                   "}], \"ignore\": [\n",
                   "]}", pairs);
  static const IoSceneError bits[] = {
      {"{" BALL ", \"mask\": @4294967296}",
       "expected a whole number of at most 4294967295 for \"mask\", found 4294967296"},
      {"{" BALL ", \"category\": @-1}", "expected a whole number of at least 0 for \"category\", found -1"},
  };
  IO_EXPECT_ERRORS("{\"tribo\": 1, \"bodies\": [\n", "]}", bits);
}

// Mistakes of every kind, one on each line but the first; lines that stand for a consequence of another
// mistake must not be blamed.
static const char many_mistakes[] =
    "{\"tribo\": 1, \"name\": \"what can go wrong\",\n"
    " \"dt\": -1,\n"
    " \"solver\": {\"name\": \"bsg\"},\n"
    " \"contact\": {\"modl\": \"ccp\"},\n"
    " \"materials\": {\"wood\": {\"friction\": \"x\"}, \"ice\": {},\n"
    "  \"ebony\": {\"frction\": 0.1}},\n"
    " \"pairs\": [{\"a\": \"ice\", \"b\": \"icce\"},\n"
    "  {\"a\": \"ice\"}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"a\", \"material\": \"wod\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}},\n"
    "  {\"name\": \"b\", \"material\": \"wood\", \"shape\": {\"type\": \"sphere\", \"raduis\": 1}},\n"
    "  {\"name\": \"c\", \"shape\": {\"type\": \"box\"}},\n"
    "  {\"name\": \"d\", \"mass\": 1, \"density\": 1, \"shape\": {\"type\": \"sphere\", \"radius\": 1}},\n"
    "  {\"name\": \"e\", \"shapes\": [{\"type\": \"sphere\", \"radius\": 1},\n"
    "    {\"type\": \"plane\"},\n"
    "    {\"type\": \"mesh\", \"file\": \"none.obj\"}]},\n"
    "  {\"name\": \"f\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}}, {\"name\": \"g\",\n"
    "   \"position\": [0, 0], \"shape\": {\"type\": \"sphere\", \"radius\": 1}},\n"
    "  7,\n"
    "  {\"name\": \"f\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}}],\n"
    " \"joints\": [{\"type\": \"weld\", \"a\": \"f\", \"b\": \"g\"}, {\"type\": \"weld\", \"a\": \"b\"},"
    "  {\"type\": \"weld\", \"a\": \"f\", \"b\": \"d\"}, {\"type\": \"weld\", \"a\": \"e\"},\n"
    "  {\"type\": \"weld\", \"a\": \"nobody\"},\n"
    "  {\"type\": \"wield\", \"a\": \"f\"}],\n"
    " \"soft\": [{\"mesh\": {\"box\": {\"size\": 1, \"cells\": 1}}, \"attach\": [{\"body\": \"c\", "
    "\"vertices\": [0]}],\n"
    "   \"pins\": [{\"vertices\": [99]},\n"
    "    {\"box\": [[9, 9, 9], [10, 10, 10]]}],\n"
    "   \"poisson\": 0.5}],\n"
    " \"cloths\": []}\n";
static const int mistaken_lines[] = {2,  3,  4,  5,  6,  7,  8,  10, 11, 12, 13,
                                     15, 16, 18, 19, 20, 22, 23, 25, 26, 27, 28};
enum { MISTAKES = sizeof mistaken_lines / sizeof *mistaken_lines };

TEST(every_error_of_a_scene_is_told_once_and_in_order)
{
  tbContext ctx = tb_default_context();
  tbSceneErrors errors = tb_scene_errors();
  tbScene s = {0};
  CHECK(tb_scene_examine_text(&ctx, "s", many_mistakes, sizeof many_mistakes - 1, ".", &errors, &s) ==
        TB_ERROR_INPUT);
  CHECK(!s.world && errors.list.count == MISTAKES);
  const tbError* e = errors.list.data;
  for (size_t i = 0; i < errors.list.count; i++) {
    char place[32];
    snprintf(place, sizeof place, "s:%d:%d: ", e[i].line, e[i].column);
    if (i >= MISTAKES || e[i].line != mistaken_lines[i] || strncmp(e[i].message, place, strlen(place)) != 0)
      test_failed(__FILE__, __LINE__, "%s", e[i].message);
  }
  CHECK(e && strcmp(ctx.error.message, e[0].message) == 0);
  tb_scene_errors_free(&ctx, &errors);
}

// What refers to a body that has a mistake of its own is not blamed, of whatever kind the body is.
TEST(bodies_with_mistakes_are_told_and_not_those_who_name_them)
{
  static const char* const broken[] = {
      "\"bodies\": [{\"name\": \"x\", \"mas\": 1, " BALL "}]",
      "\"bodies\": [], \"soft\": [{\"name\": \"x\", \"mesh\": {\"box\": {\"size\": 1, \"cells\": 1}}, "
      "\"yuong\": 1}]",
      "\"bodies\": [], \"cloth\": [{\"name\": \"x\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 1}}, "
      "\"strech\": 1}]",
      "\"bodies\": [], \"reduced\": [{\"name\": \"x\", \"mesh\": {\"box\": {\"size\": 1, \"cells\": 1}}, "
      "\"yuong\": 1}]",
  };
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    tbContext ctx = tb_default_context();
    tbSceneErrors errors = tb_scene_errors();
    tbScene s = {0};
    char text[400];
    snprintf(text, sizeof text, "{\"tribo\": 1, %s,\n \"joints\": [{\"type\": \"weld\", \"a\": \"x\"}]}",
             broken[i]);
    CHECK(tb_scene_examine_text(&ctx, "s", text, strlen(text), NULL, &errors, &s) == TB_ERROR_INPUT);
    const tbError* e = errors.list.data;
    if (errors.list.count != 1 || e->line != 1)
      test_failed(__FILE__, __LINE__, "kind %zu: %zu errors, the last: %s", i, errors.list.count,
                  errors.list.count ? e[errors.list.count - 1].message : "");
    tb_scene_errors_free(&ctx, &errors);
  }
}

TEST(a_scene_without_errors_is_examined_to_the_same_world)
{
  static const char text[] =
      "{\"tribo\": 1, \"bodies\": [{\"name\": \"a\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}}]}";
  tbContext ctx = tb_default_context();
  tbSceneErrors errors = tb_scene_errors();
  tbScene s = {0}, t = {0};
  CHECK_OK(&ctx, tb_scene_examine_text(&ctx, "s", text, sizeof text - 1, NULL, &errors, &s));
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "s", text, sizeof text - 1, NULL, &t));
  REQUIRE(s.world && t.world);
  CHECK(errors.list.count == 0 && tb_world_hash(s.world) == tb_world_hash(t.world));
  tb_scene_free(&ctx, &s), tb_scene_free(&ctx, &t);
  tb_scene_errors_free(&ctx, &errors);
}

TEST(the_list_of_errors_has_an_end)
{
  tbContext ctx = tb_default_context();
  tbSceneErrors errors = tb_scene_errors();
  tbScene s = {0};
  char text[4000] = "{\"tribo\": 1, \"bodies\": [0";
  for (int i = 0; i < 1000; i++) strcat(text, ",0");
  strcat(text, "]}");
  CHECK(tb_scene_examine_text(&ctx, "s", text, strlen(text), NULL, &errors, &s) == TB_ERROR_INPUT);
  CHECK(errors.list.count == TB_SCENE_MOST_ERRORS);
  tb_scene_errors_free(&ctx, &errors);
}

TEST(examining_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status == TB_ERROR_MEMORY; k += test_quick() ? 7 : 1) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbSceneErrors errors = tb_scene_errors();
    tbScene s = {0};
    status = tb_scene_examine_text(&poor, "s", many_mistakes, sizeof many_mistakes - 1, ".", &errors, &s);
    CHECK((status == TB_ERROR_MEMORY || status == TB_ERROR_INPUT) && !s.world);
    tb_scene_errors_free(&poor, &errors);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 5000);
  }
  CHECK(k > 10);
}
