// SPDX-License-Identifier: Apache-2.0
// Gradients by adjoints, against those by tangents and by differences.
#include "gradient/objectives.h"
#include "gradient/scenes.h"

#include <stdlib.h>

// Carried back instead of forward, with no more states than twice the root of the steps.
LONG_TEST(adjoints_are_the_gradients_that_tangents_are)
{
  static const int seeds[] = {0, 5, 7, 8};
  int reverse = 0;
  for (int k = 0; k < 4; k += test_quick() ? 2 : 1) {
    GradientScene s = gradient_scene((uint64_t)seeds[k]);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, s.text, s.loss, s.wrt);
    REQUIRE(o);
    *tb_objective_time(o) = test_quick() ? 0.12 : 0.25;
    double x[MOST], g[MOST], a[MOST], loss, same, size = 0;
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, &loss, g, NULL));
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, &same, a, &report));
    CHECK(loss == same && report.checkpoints <= 10);
    reverse += report.method == TB_GRADIENT_ADJOINT;
    for (int i = 0; i < tb_objective_size(o); i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < tb_objective_size(o); i++)
      if (!(fabs(a[i] - g[i]) <= 1e-7 * size))
        test_failed(__FILE__, __LINE__, "%s, number %d: %.12g, and %.12g by tangents", s.kind, i, a[i], g[i]);
    tb_objective_free(&ctx, o);
  }
  CHECK(reverse > 0);
}

// A pile of boxes that slide on each other, each with its own velocity.
static void put_pile(int boxes, char* text, size_t room, char* wrt, size_t wrt_room)
{
  size_t at =
      (size_t)snprintf(text, room,
                       "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.03, \"scheme\": \"primal\", \"bodies\": "
                       "[{\"name\": \"g\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}}");
  *wrt = 0;
  for (int i = 0; i < boxes; i++) {
    at += (size_t)snprintf(
        text + at, room - at,
        ", {\"name\": \"b%d\", \"mass\": %g, \"shape\": {\"type\": \"box\", \"size\": [%g, 0.4, "
        "0.2]}, \"position\": [%g, 0, %g], \"velocity\": [%g, 0.05, -0.01]}",
        i, 1 + 0.1 * i, 0.4 - 0.01 * i, 0.003 * i, 0.09999 + 0.19999 * i, 0.1 + 0.05 * i);
    snprintf(wrt + strlen(wrt), wrt_room - strlen(wrt), "%sb%d.velocity", i ? "," : "", i);
  }
  snprintf(text + at, room - at, "]}");
}

// Through the minimum that a step of primal ends at: as tangents, and beyond a few bodies no more steps for
// more of them.
LONG_TEST(adjoints_through_minima_are_local)
{
  double steps[2];
  for (int k = 0; k < 2; k++) {
    int boxes = k ? 8 : 3;
    char text[4096], wrt[256], loss[32];
    put_pile(boxes, text, sizeof text, wrt, sizeof wrt);
    snprintf(loss, sizeof loss, "b%d:1,0,0.3", boxes - 1);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, loss, wrt);
    REQUIRE(o);
    double x[36], g[36], a[36], size = 0;
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, NULL, a, &report));
    steps[k] = (double)report.runs / (double)report.steps;
    if (k == 0) {
      CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, NULL, g, NULL));
      for (int i = 0; i < tb_objective_size(o); i++) size = fmax(size, fabs(g[i]));
      for (int i = 0; i < tb_objective_size(o); i++)
        if (!(fabs(a[i] - g[i]) <= 1e-6 * size))
          test_failed(__FILE__, __LINE__, "number %d: %.12g, and %.12g by tangents", i, a[i], g[i]);
    }
    tb_objective_free(&ctx, o);
  }
  if (!(steps[1] < 1.3 * steps[0]))
    test_failed(__FILE__, __LINE__, "steps for one: %g of 3 boxes, %g of 8", steps[0], steps[1]);
}

// Links that swing, one of them driven; a sheet that slides over a sphere, whose elements are at rest and
// bend to either side, so that tangents take over; a solid that slides on the floor.
static const char* const linked[] = {
    "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.1, \"scheme\": \"primal\", \"bodies\": [{\"name\": \"x\", "
    "\"shape\": {\"type\": \"box\", \"size\": [0.2, 0.1, 0.1]}, \"position\": [0.1, 0, 0]}, {\"name\": "
    "\"y\", "
    "\"shape\": {\"type\": \"capsule\", \"radius\": 0.03, \"length\": 0.1}, \"position\": [0.3, 0, 0], "
    "\"orientation\": [1, 0, 1, 0]}, {\"name\": \"a\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.08}, "
    "\"position\": [0.5, 0, 0], \"velocity\": [0, 0.3, 0.2]}], \"joints\": [{\"type\": \"hinge\", \"b\": "
    "\"x\", "
    "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"motor\": {\"speed\": 2, \"force\": 400}}, {\"type\": "
    "\"ball\", "
    "\"a\": \"x\", \"b\": \"y\", \"anchor\": [0.2, 0, 0]}, {\"type\": \"ball\", \"a\": \"y\", \"b\": \"a\", "
    "\"anchor\": [0.4, 0, 0]}]}",
    "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.03, \"scheme\": \"primal\", \"bodies\": [{\"name\": \"s\", "
    "\"fixed\": true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.3}}], \"cloth\": [{\"name\": \"a\", "
    "\"mesh\": {\"grid\": {\"size\": [0.4, 0.3], \"cells\": [3, 2]}}, \"area_density\": 0.2, \"stretch\": "
    "200, "
    "\"shear\": 50, \"bend\": 0.001, \"thickness\": 0.01, \"position\": [0.02, 0.01, 0.3056], \"velocity\": "
    "[0.3, "
    "0.1, -0.01]}]}",
    "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.03, \"scheme\": \"primal\", \"bodies\": [{\"name\": \"g\", "
    "\"fixed\": true, \"shape\": {\"type\": \"plane\"}}], \"soft\": [{\"name\": \"a\", \"mesh\": {\"box\": "
    "{\"size\": [0.2, 0.2, 0.2], \"cells\": [1, 1, 1]}}, \"young\": 1e5, \"density\": 500, \"position\": [0, "
    "0, "
    "0.1001], \"velocity\": [0.5, 0.1, -0.1]}]}"};

TEST(adjoints_through_minima_take_joints_and_what_deforms)
{
  for (int k = 0; k < 3; k++) {
    tbContext ctx = tb_default_context();
    tbObjective* o =
        open_objective(&ctx, linked[k], "a:1,0.2,0.3", k ? "a.velocity" : "a.velocity,joints.0.motor.speed");
    REQUIRE(o);
    double x[MOST], g[MOST], a[MOST], size = 0;
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, NULL, g, NULL));
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, NULL, a, &report));
    CHECK(k == 1 || (report.method == TB_GRADIENT_ADJOINT && report.unstable == 0));
    for (int i = 0; i < tb_objective_size(o); i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < tb_objective_size(o); i++)
      if (!(fabs(a[i] - g[i]) <= 1e-6 * size))
        test_failed(__FILE__, __LINE__, "scene %d, number %d: %.12g, and %.12g by tangents", k, i, a[i],
                    g[i]);
    tb_objective_free(&ctx, o);
  }
}

// A bar that hangs, short and long: nodes that are far from each other share a difference.
TEST(adjoints_of_long_bars_take_no_more_steps)
{
  int64_t runs[2];
  for (int k = 0; k < 2; k++) {
    char text[700];
    snprintf(
        text, sizeof text,
        "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.02, \"scheme\": \"primal\", \"soft\": [{\"name\": \"a\", "
        "\"mesh\": {\"box\": {\"size\": [%g, 0.1, 0.1], \"cells\": [%d, 1, 1]}}, \"model\": \"linear\", "
        "\"young\": 1e5, "
        "\"density\": 500, \"pins\": [{\"vertices\": [0, 1]}]}]}",
        k ? 1.6 : 0.8, k ? 16 : 8);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "a:1,0.2,0.3", "a.velocity");
    REQUIRE(o);
    double x[MOST], g[MOST];
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, NULL, g, &report));
    CHECK(report.method == TB_GRADIENT_ADJOINT);
    runs[k] = report.runs;
    tb_objective_free(&ctx, o);
  }
  if (!((double)runs[1] <= 1.2 * (double)runs[0]))
    test_failed(__FILE__, __LINE__, "%lld steps for the short one, %lld for the long one", (long long)runs[0],
                (long long)runs[1]);
}

// What a number does beside the state: the origin of a body stands by its centre of mass, which is a number;
// and a body that is led is where its keys have it when the run ends. By the closed form.
TEST(numbers_that_place_the_origin_are_differentiated_at_the_end)
{
  static const char led[] =
      "{\"name\": \"a\", \"kinematic\": {\"keys\": [{\"t\": 0, \"position\": [0, 0, 0]}, {\"t\": 0.4, "
      "\"position\": [0.3, 0, 0]}]}, \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}}";
  static const char turned[] =
      "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"centre_of_mass\": [0.02, 0.03, 0], "
      "\"angular_velocity\": [0, 0, 3], \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}}";
  for (int method = TB_GRADIENT_TANGENT; method <= TB_GRADIENT_ADJOINT; method++)
    for (int k = 0; k < 2; k++) {
      char text[900];
      put_text("\"time\": 0.2, \"gravity\": [0, 0, 0]", k ? turned : led, text, sizeof text);
      tbContext ctx = tb_default_context();
      tbObjective* o = open_objective(&ctx, text, "a:0.5,0.1,0",
                                      k ? "a.centre_of_mass" : "bodies.0.kinematic.keys.1.position.x");
      REQUIRE(o);
      double x[3], g[3] = {0}, loss;
      tb_objective_values(o, x);
      CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, (tbGradientMethod)method, x, &loss, g, NULL));
      if (!k) { // half of the way: x = p/2
        CHECK_NEAR(g[0], (0.15 - 0.5) * 1, 1e-9);
      } else { // the centre c goes on with ω × c, which turns about it: o = c + T ω × c − R c, R by T ω
        double w = 3, T = 0.2, s = sin(w * T), co = cos(w * T),
               ox = x[0] - T * w * x[1] - co * x[0] + s * x[1];
        double oy = x[1] + T * w * x[0] - s * x[0] - co * x[1];
        CHECK_NEAR(loss, (ox - 0.5) * (ox - 0.5) + (oy - 0.1) * (oy - 0.1), 1e-9);
        CHECK_NEAR(g[0], 2 * (ox - 0.5) * (1 - co) + 2 * (oy - 0.1) * (T * w - s), 1e-8);
        CHECK_NEAR(g[1], 2 * (ox - 0.5) * (s - T * w) + 2 * (oy - 0.1) * (1 - co), 1e-8);
      }
      tb_objective_free(&ctx, o);
    }
}

// A sheet that lands on an animated flap that tilts under it, and slides: obstacles go back with the state
// that a step is tried from again.
TEST(animated_obstacles_are_where_the_state_is)
{
  static const char text[] =
      "{\"tribo\": 1, \"dt\": 0.005, \"time\": 0.1, \"scheme\": \"implicit\", \"animated\": [{\"name\": "
      "\"f\", "
      "\"mesh\": {\"grid\": {\"size\": 1, \"cells\": 1}}, \"frames\": [{\"t\": 0, \"vertices\": [[-0.5, "
      "-0.5, 0], "
      "[0.5, -0.5, 0], [-0.5, 0.5, 0], [0.5, 0.5, 0]]}, {\"t\": 0.2, \"vertices\": [[-0.5, -0.5, 0], [0.5, "
      "-0.5, "
      "0.05], [-0.5, 0.5, 0], [0.5, 0.5, 0.05]]}]}], \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": "
      "{\"size\": 0.3, \"cells\": 2}}, \"stretch\": 100, \"shear\": 40, \"bend\": 0.001, \"thickness\": "
      "0.005, "
      "\"position\": [-0.013, 0.021, 0.02], \"orientation\": [1, 0.01, -0.005, 0], \"velocity\": [0.3, -0.1, "
      "-0.3]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.1,0,0", "a.velocity,animated.0.frames.1.t");
  REQUIRE(o);
  double g[MOST];
  tbGradientReport report;
  tb_objective_options(o)->solver.velocity_tolerance = 1e-11;
  double off = apart(&ctx, o, g, &report);
  if (!(off <= 1e-5)) test_failed(__FILE__, __LINE__, "apart by %.2g", off);
  tb_objective_free(&ctx, o);
}

// Restitution that begins: whatever bounces, however little, jumps. Steps are told, by whatever method, and
// what is given is bounded: what the run does on its side of the jump.
TEST(jumps_are_told_and_do_not_multiply)
{
  char text[900];
  put_text(
      "\"time\": 0.3, \"materials\": {\"m\": {\"restitution\": 0}}",
      "{\"name\": \"g\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, "
      "{\"name\": \"a\", \"material\": \"m\", \"mass\": 1.2, \"shape\": {\"type\": \"box\", \"size\": [0.2, "
      "0.3, 0.1]}, \"position\": [0, 0, 0.3], \"orientation\": [1, 0.3, 0.1, 0], \"velocity\": [1, 0, "
      "-1], \"angular_velocity\": [1, 2, 0]}",
      text, sizeof text);
  for (int method = TB_GRADIENT_TANGENT; method <= TB_GRADIENT_ADJOINT; method++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "a:0.5,0,0", "m.restitution");
    REQUIRE(o);
    double x, g;
    tbGradientReport report;
    tb_objective_values(o, &x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, (tbGradientMethod)method, &x, NULL, &g, &report));
    CHECK(report.unstable > 0);
    if (!(fabs(g) < 10))
      test_failed(__FILE__, __LINE__, "%g by %s", g, tb_gradient_method_name(report.method));
    tb_objective_free(&ctx, o);
  }
}

// Under pd a step remembers impulses; and a sheet between a pin that is led and a weight bends to either side
// where it is at rest. Adjoints are the tangents within 1e-6 all the same, or tell a step.
LONG_TEST(adjoints_know_what_they_leave_out)
{
  static const char pd[] =
      "{\"tribo\": 1, \"dt\": 0.005, \"time\": 0.06, \"scheme\": \"pd\", \"bodies\": [{\"name\": \"s\", "
      "\"fixed\": "
      "true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.25}}], \"cloth\": [{\"name\": \"a\", \"mesh\": "
      "{\"grid\": {\"size\": [0.5, 0.45], \"cells\": [3, 3]}}, \"stretch\": 150, \"shear\": 60, \"bend\": "
      "0.001, "
      "\"thickness\": 0.01, \"position\": [0.03, 0.02, 0.28], \"velocity\": [0.3, 0, -1]}]}";
  static const char led[] =
      "{\"tribo\": 1, \"dt\": 0.005, \"time\": 0.08, \"scheme\": \"primal\", \"bodies\": [{\"name\": \"w\", "
      "\"shape\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}, \"mass\": 0.5, \"position\": [0.25, 0, "
      "-0.06]}], \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": [0.5, 0.3], \"cells\": [3, "
      "1]}}, "
      "\"stretch\": 200, \"shear\": 60, \"bend\": 0.0005, \"pins\": [{\"vertices\": [0, 4], \"keys\": "
      "[{\"t\": 0, "
      "\"position\": [0, 0, 0]}, {\"t\": 0.1, \"position\": [-0.02, 0, 0.03]}]}], \"attach\": [{\"body\": "
      "\"w\", \"vertices\": [3, 7]}]}]}";
  for (int k = 0; k < 2; k++) {
    tbContext ctx = tb_default_context();
    tbObjective* o =
        open_objective(&ctx, k ? led : pd, "a:0.1,0.1,0.1",
                       k ? "cloth.0.pins.0.keys.1.position,a.stretch" : "a.velocity,a.thickness");
    REQUIRE(o);
    double x[MOST], g[MOST], a[MOST], size = 0, differ = 0;
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, NULL, g, NULL));
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, NULL, a, &report));
    for (int i = 0; i < tb_objective_size(o); i++)
      size = fmax(size, fabs(g[i])), differ = fmax(differ, fabs(a[i] - g[i]));
    if (!(differ <= 2e-6 * size || report.unstable > 0))
      test_failed(__FILE__, __LINE__, "scene %d: apart by %.2g, and no step is told", k, differ / size);
    tb_objective_free(&ctx, o);
  }
}
