// SPDX-License-Identifier: Apache-2.0
// Derivatives of runs, against closed forms and against differences of whole runs.
#include "gradient/answer.h"
#include "gradient/scenes.h"
#include "test.h"
#include "tribo/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

static tbObjective* open_objective(tbContext* ctx, const char* text, const char* loss, const char* wrt)
{
  tbObjective* o = NULL;
  CHECK_OK(ctx, tb_objective_parse(ctx, "scene.json", text, strlen(text), NULL, loss, wrt, &o));
  return o;
}

// The gradient and the differences, and by how much they are apart, as a share of the larger.
static double apart(tbContext* ctx, const tbObjective* o, double* gradient, tbGradientReport* report)
{
  double x[MOST], d[MOST], differ = 0, size = 0, loss = 0, same = 0;
  tb_objective_values(o, x);
  CHECK_OK(ctx, tb_objective_gradient(ctx, o, TB_GRADIENT_AUTO, x, &loss, gradient, report));
  CHECK_OK(ctx, tb_objective_gradient(ctx, o, TB_GRADIENT_DIFFERENCES, x, &same, d, NULL));
  CHECK_NEAR(loss, same, 1e-12 * (1 + same));
  for (int i = 0; i < tb_objective_size(o); i++) {
    differ = fmax(differ, fabs(gradient[i] - d[i]));
    size = fmax(size, fmax(fabs(gradient[i]), fabs(d[i])));
  }
  return size > 0 ? differ / size : 0;
}

static void check_refused(const char* text, const char* loss, const char* wrt, tbStatus status,
                          const char* said)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = NULL;
  tbStatus is = tb_objective_parse(&ctx, "scene.json", text, strlen(text), NULL, loss, wrt, &o);
  if (is != status || !strstr(ctx.error.message, said))
    test_failed(__FILE__, __LINE__, "%s, %s: %s, \"%s\" without \"%s\"", loss, wrt, tb_status_name(is),
                ctx.error.message, said);
  tb_objective_free(&ctx, o);
}

// As many as TRIBO_GRADIENTS says; else a few. Where a run jumps or bends within the reach of the
// differences, these say nothing: such scenes are told by steps that are reported.
LONG_TEST(gradients_of_random_scenes_are_those_of_differences)
{
  const char* asked = getenv("TRIBO_GRADIENTS");
  int scenes = 0, last = asked ? atoi(asked) : 20, good = 0, smooth = 0;
  for (int seed = 0; seed < last; seed += test_quick() ? 4 : 1, scenes++) {
    GradientScene s = gradient_scene((uint64_t)seed);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, s.text, s.loss, s.wrt);
    REQUIRE(o);
    tb_objective_options(o)->solver.velocity_tolerance = 1e-10; // of runs as the solver makes them
    double gradient[MOST];
    tbGradientReport report;
    double off = apart(&ctx, o, gradient, &report);
    if (off <= 1e-6) good++;
    if (report.unstable == 0) {
      smooth++;
      if (!(off <= 1e-6))
        test_failed(__FILE__, __LINE__, "scene %d, %s: apart by %.2g, and no step is reported", seed, s.kind,
                    off);
    }
    tb_objective_free(&ctx, o);
  }
  if (10 * good < 9 * scenes || 2 * smooth < scenes)
    test_failed(__FILE__, __LINE__, "%d of %d agree, %d are smooth throughout", good, scenes, smooth);
}

// Carried back instead of forward, with no more states than twice the root of the steps.
LONG_TEST(adjoints_are_the_gradients_that_tangents_are)
{
  static const int seeds[] = {0, 5, 7, 8};
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
    CHECK(loss == same && report.checkpoints <= 10 && report.method == TB_GRADIENT_ADJOINT);
    for (int i = 0; i < tb_objective_size(o); i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < tb_objective_size(o); i++)
      if (!(fabs(a[i] - g[i]) <= 1e-7 * size))
        test_failed(__FILE__, __LINE__, "%s, number %d: %.12g, and %.12g by tangents", s.kind, i, a[i], g[i]);
    tb_objective_free(&ctx, o);
  }
}

// A pile of boxes that slide on each other, each with its own velocity.
static void put_pile(int boxes, char* text, size_t room, char* wrt, size_t wrt_room)
{
  size_t at =
      (size_t)snprintf(text, room,
                       "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.05, \"scheme\": \"primal\", \"bodies\": "
                       "[{\"name\": \"g\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}}");
  *wrt = 0;
  for (int i = 0; i < boxes; i++) {
    at += (size_t)snprintf(
        text + at, room - at,
        ", {\"name\": \"b%d\", \"mass\": %g, \"shape\": {\"type\": \"box\", \"size\": [%g, 0.4, "
        "0.2]}, \"position\": [%g, 0, %g], \"velocity\": [%g, 0.05, -0.01]}",
        i, 1 + 0.1 * i, 0.4 - 0.01 * i, 0.003 * i, 0.1 + 0.19999 * i, 0.1 + 0.05 * i);
    snprintf(wrt + strlen(wrt), wrt_room - strlen(wrt), "%sb%d.velocity", i ? "," : "", i);
  }
  snprintf(text + at, room - at, "]}");
}

// Through the minimum that a step of primal ends at: as tangents, and beyond a few bodies no more steps for
// more of them.
TEST(adjoints_through_minima_are_local)
{
  double steps[3];
  for (int k = 0; k < 3; k++) {
    int boxes = 3 << k;
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
  if (!(steps[2] < 1.3 * steps[0]))
    test_failed(__FILE__, __LINE__, "steps for one: %g of 3 boxes, %g of 6, %g of 12", steps[0], steps[1],
                steps[2]);
}

// A thrown body: x = x₀ + v T + ½ g T², so that d|x − p|²/dv = 2 (x − p) T, and /dg = (x − p) T².
TEST(a_thrown_body_has_the_gradient_of_its_parabola)
{
  static const char text[] =
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.5, \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"shape\": "
      "{\"type\": \"box\", \"size\": [0.4, 0.2, 0.1]}, \"velocity\": [1, 2, 3], "
      "\"angular_velocity\": [5, 1, 2]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:1,1,1", "a.velocity,gravity,a.position,a.angular_velocity");
  REQUIRE(o);
  double x[MOST], g[MOST], loss, T = 0.5;
  tb_objective_values(o, x);
  CHECK(tb_objective_size(o) == 12 && x[1] == 2 && x[5] == -9.81 && x[6] == 0);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, &loss, g, NULL));
  double off[3] = {1 * T - 1, 2 * T - 1, 3 * T - 0.5 * 9.81 * T * T - 1};
  CHECK_NEAR(loss, off[0] * off[0] + off[1] * off[1] + off[2] * off[2], 1e-12);
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(g[i], 2 * off[i] * T, 1e-8);
    CHECK_NEAR(g[3 + i], off[i] * T * T, 1e-8);
    CHECK_NEAR(g[6 + i], 2 * off[i], 1e-8);
    CHECK_NEAR(g[9 + i], 0, 1e-8);
  }
  tb_objective_free(&ctx, o);
}

// A ball that ends its fall short of the floor, by less and less: differences that reach into the floor are
// not its derivative, and smaller ones are found that do not.
TEST(a_contact_that_is_close_and_not_there_has_no_part_in_the_gradient)
{
  const double ahead = 0.5 * 9.81 * 1e-4; // contacts look a step ahead, at the velocity at its end
  for (double short_of = 3e-6; short_of > 1e-8; short_of *= 0.1) {
    char text[500];
    snprintf(
        text, sizeof text,
        "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.2, \"bodies\": [{\"name\": \"ground\", \"fixed\": true, "
        "\"shape\": {\"type\": \"plane\"}}, {\"name\": \"a\", \"mass\": 1, \"shape\": {\"type\": \"sphere\", "
        "\"radius\": 0.1}, \"position\": [0, 0, %.17g]}]}",
        0.1 + 0.5 * 9.81 * 0.04 + ahead + short_of);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "a:0,0,1", "a.position,a.velocity");
    REQUIRE(o);
    double x[MOST], g[MOST], loss;
    tbGradientReport report;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, &loss, g, &report));
    CHECK_NEAR(g[2], 2 * (0.1 + ahead - 1), 1e-5);
    CHECK_NEAR(g[5], 2 * (0.1 + ahead - 1) * 0.2, 1e-5);
    CHECK(report.unstable == 0);
    tb_objective_free(&ctx, o);
  }
}

// A box on the floor is lifted or pressed in by a change of its height: two sides that differ in every step.
TEST(where_contacts_change_the_two_sides_are_carried_by_themselves)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.3, \"bodies\": [{\"name\": "
                             "\"ground\", \"fixed\": true, \"shape\": {\"type\": "
                             "\"plane\"}}, {\"name\": \"a\", \"mass\": 1, \"shape\": {\"type\": \"box\", "
                             "\"size\": [0.4, 0.4, 0.2]}, \"position\": "
                             "[0, 0, 0.1], \"velocity\": [2, 0, 0]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:1,0,0.2", "a.position");
  REQUIRE(o);
  double g[MOST];
  tbGradientReport report;
  CHECK(apart(&ctx, o, g, &report) < 1e-6);
  CHECK(report.unstable > 0 && report.unstable_step[0] == 0 && report.method == TB_GRADIENT_TANGENT);
  tb_objective_free(&ctx, o);
}

// A central difference of runs, as `tribo run` makes them, by number i.
static double difference_of_runs(tbContext* ctx, const tbObjective* o, int i, double e, double* x)
{
  double at = x[i], more, less;
  x[i] = at + e;
  CHECK_OK(ctx, tb_objective_loss(ctx, o, x, &more));
  x[i] = at - e;
  CHECK_OK(ctx, tb_objective_loss(ctx, o, x, &less));
  x[i] = at;
  return (more - less) / (2 * e);
}

// By how much the gradient is off from such differences, extrapolated from two reaches.
static double off_from_runs(tbContext* ctx, const tbObjective* o, tbGradientReport* report)
{
  double x[MOST], g[MOST], off = 0, size = 0;
  tb_objective_values(o, x);
  CHECK_OK(ctx, tb_objective_gradient(ctx, o, TB_GRADIENT_AUTO, x, NULL, g, report));
  for (int i = 0; i < tb_objective_size(o); i++) {
    double e = 1e-5 * fmax(fabs(x[i]), 0.1), wide = difference_of_runs(ctx, o, i, e, x);
    double d = (4 * difference_of_runs(ctx, o, i, 0.5 * e, x) - wide) / 3;
    off = fmax(off, fabs(g[i] - d)), size = fmax(size, fmax(fabs(g[i]), fabs(d)));
  }
  return size > 0 ? off / size : 0;
}

// A box that turns as it slides on its four corners: the law leaves open how these share its weight, and with
// it how friction turns it. The gradient is that of runs as the solver makes them.
TEST(where_velocities_are_not_unique_the_solvers_are_differentiated)
{
  static const char* const text[] = {
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.3, \"bodies\": [{\"name\": \"ground\", \"fixed\": true, "
      "\"shape\": {\"type\": \"plane\"}}, {\"name\": \"a\", \"mass\": 1, \"shape\": {\"type\": \"box\", "
      "\"size\": [0.4, 0.3, 0.2]}, \"position\": [0, 0, 0.1], \"velocity\": [2, 0.5, 0], "
      "\"angular_velocity\": [0, 0, 4]}]}",
      "{\"tribo\": 1, \"dt\": 0.0166666, \"time\": 0.48, \"bodies\": [{\"name\": \"ground\", \"fixed\": "
      "true, \"shape\": {\"type\": \"plane\"}}, {\"name\": \"a\", \"friction\": 0.2, \"shape\": "
      "{\"type\": \"box\", \"size\": [0.22, 0.34, 0.24]}, \"position\": [0, 0, 0.12], \"velocity\": "
      "[1.79, -0.8, 0], \"angular_velocity\": [0, 0, 2.62]}]}"};
  for (int i = 0; i < 2; i++) {
    tbContext ctx = tb_default_context();
    tbObjective* o =
        open_objective(&ctx, text[i], "a:1,0,0.2", "a.velocity.x,a.angular_velocity.z,a.friction");
    REQUIRE(o);
    tbGradientReport report;
    double off = off_from_runs(&ctx, o, &report);
    CHECK(report.ambiguous > 0);
    if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "box %d: off by %.2g", i, off);
    tb_objective_free(&ctx, o);
  }
}

// Sliding, a stack, joints with a motor that reaches its limit, cloth: as the steps take them.
TEST(gradients_of_relaxed_schemes_are_those_of_their_runs)
{
  static const char* const schemes[] = {"primal", "vbd", "avbd", "xpbd", "primal"};
  static const int seeds[] = {2, 4, 5, 6, 9};
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 5; i += test_quick() ? 3 : 1) {
      GradientScene s = gradient_scene((uint64_t)seeds[i]);
      bool published = k == 4, dual = k == 3;
      if (dual && seeds[i] == 9) continue;
      tbContext ctx = tb_default_context();
      tbObjective* o = open_objective(&ctx, s.text, s.loss, s.wrt);
      REQUIRE(o);
      tb_objective_options(o)->scheme = schemes[k];
      *tb_objective_time(o) = published && seeds[i] == 9 ? 0.05 : 0.1; // sheets as published are soon thrown
      tb_objective_options(o)->descent.balanced = !published;
      double off = off_from_runs(&ctx, o, NULL);
      if (!(off <= (dual || published ? 1e-5 : 1e-6)))
        test_failed(__FILE__, __LINE__, "%s%s, %s: off by %.2g", schemes[k], published ? " as published" : "",
                    s.kind, off);
      tb_objective_free(&ctx, o);
    }
}

// A sheet over a sphere: most steps have a node that touches, sticks or lets go within a hundred-thousandth
// of the sheet, with little effect each.
TEST(small_changes_within_the_reach_of_differences_are_not_taken_for_slopes)
{
  static const char* const scene[] = {
      "{\"tribo\": 1, \"dt\": 0.002, \"time\": 0.188, \"scheme\": \"implicit\", \"bodies\": [{\"name\": "
      "\"s\", "
      "\"fixed\": true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.3}}], \"cloth\": [{\"name\": \"a\", "
      "\"mesh\": {\"grid\": {\"size\": [0.6, 0.6], \"cells\": [6, 6]}}, \"position\": [-0.0196631489, "
      "0.0087580606, 0.32], \"stretch\": 270.6, \"shear\": 69.2, \"velocity\": [0.05, 0, 0]}]}",
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.15, \"scheme\": \"pd\", \"bodies\": [{\"name\": \"s\", "
      "\"fixed\": true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.3}}], \"cloth\": [{\"name\": \"a\", "
      "\"mesh\": {\"grid\": {\"size\": [0.6, 0.6], \"cells\": [6, 6]}}, \"position\": [0.0159823892, "
      "-0.0073700621, 0.32], \"stretch\": 234.3, \"shear\": 18.8, \"velocity\": [-0.17272, 0, 0]}]}"};
  for (int i = test_quick() ? 1 : 0; i < 2; i++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, scene[i], "a:0.1,0.2,0.3", "a.velocity");
    REQUIRE(o);
    double g[MOST], off;
    tbGradientReport report;
    off = apart(&ctx, o, g, &report);
    if (!(off < (i ? 5e-6 : 1e-6)) || report.unstable) // iterations of pd end with a tolerance
      test_failed(__FILE__, __LINE__, "scene %d: off by %.2g, %d steps unstable", i, off,
                  (int)report.unstable);
    tb_objective_free(&ctx, o);
  }
}

// A flat sheet comes down on a sphere: it is as close to many corners of the sphere's surface, and touches
// the sphere itself, in one place.
TEST(a_flat_sheet_meets_a_sphere_smoothly)
{
  static const char* const schemes[] = {"implicit", "primal", "pd"};
  static const char* const scene =
      "{\"tribo\": 1, \"dt\": 0.005, \"time\": 0.025, \"bodies\": [{\"name\": \"s\", \"fixed\": true, "
      "\"shape\": {\"type\": \"sphere\", \"radius\": 0.235}}], \"cloth\": [{\"name\": \"a\", \"mesh\": "
      "{\"grid\": {\"size\": [0.5, 0.6], \"cells\": [6, 6]}}, \"area_density\": 0.134, \"stretch\": 306, "
      "\"shear\": 73, \"bend\": 9.2e-5, \"thickness\": 0.01, \"position\": [0.0249, -0.0446, 0.2495], "
      "\"velocity\": [-0.121, 0.108, -1.045]}]}";
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, scene, "a:0.3,0,0.2", "a.velocity");
    REQUIRE(o);
    tbGradientReport report;
    tb_objective_options(o)->scheme = schemes[i];
    tb_objective_options(o)->solver.velocity_tolerance = 1e-11;
    double off = off_from_runs(&ctx, o, &report);
    if (!(off <= 1e-6) || report.unstable)
      test_failed(__FILE__, __LINE__, "%s: off by %.2g", schemes[i], off);
    tb_objective_free(&ctx, o);
  }
}

// Bending stiffness of a hundred-thousandth changes little: what rounding leaves of it is not its derivative.
TEST(numbers_that_say_little_are_asked_from_farther_away)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(
      &ctx,
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.1, \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": "
      "{\"size\": [0.4, 0.3], \"cells\": [3, 2]}}, \"bend\": 2e-5, \"pins\": [{\"box\": [[-0.21, -0.2, "
      "-1], [-0.19, 0.2, 1]]}]}]}",
      "a:0,0,-0.1", "a.bend");
  REQUIRE(o);
  double off = 0, g, d[2], x;
  tb_objective_values(o, &x);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, &x, NULL, &g, NULL));
  for (int k = 0; k < 2; k++) d[k] = difference_of_runs(&ctx, o, 0, (2 - k) * 2e-7, &x);
  off = fabs(g / ((4 * d[1] - d[0]) / 3) - 1);
  if (!(off < 1e-7)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
  tb_objective_free(&ctx, o);
}

// A velocity that a hinge forbids is gone after the first step, and so is its tangent; the impulse of the
// hinge is left, and none of it is blown up.
TEST(velocities_that_joints_forbid_have_no_derivative)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(
      &ctx,
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.1, \"bodies\": [{\"name\": \"a\", \"mass\": 1.9, "
      "\"shape\": {\"type\": \"sphere\", \"radius\": 0.08}, \"position\": [0.15, 0, 0], \"velocity\": [0, "
      "-0.17, 0]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"a\", \"anchor\": [0, 0, 0], \"axis\": "
      "[0, 1, 0], \"motor\": {\"speed\": -2.8, \"force\": 50}}]}",
      "a:0.4,0.1,0", "a.velocity.y,joints.0.motor.speed");
  REQUIRE(o);
  tbGradientReport report;
  double g[2], x[2];
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, NULL, g, &report));
  CHECK(fabs(g[0]) <= 1e-9 * fabs(g[1]) && report.unstable == 0 && report.nearby == 0);
  CHECK_NEAR(g[1], difference_of_runs(&ctx, o, 1, 1e-3, x), 1e-6 * fabs(g[1]));
  tb_objective_free(&ctx, o);
}

// A box on an incline whose friction lets it go at a force 1e-7 from what pulls: at the run it sticks, and
// its derivative is none; differences that reach farther see it slide.
TEST(changes_of_contact_near_a_run_are_told)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(
      &ctx,
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.05, \"gravity\": [4.99999, 0, -10], \"materials\": {\"m\": "
      "{\"friction\": 0.5}}, \"bodies\": [{\"name\": \"g\", \"fixed\": true, \"material\": \"m\", "
      "\"shape\": {\"type\": \"plane\"}}, {\"name\": \"a\", \"material\": \"m\", \"shape\": {\"type\": "
      "\"box\", \"size\": [0.2, 0.2, 0.05]}, \"position\": [0, 0, 0.025]}]}",
      "a:1,0,0", "gravity");
  REQUIRE(o);
  double g[3], x[3];
  tbGradientReport report;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, NULL, g, &report));
  CHECK(report.unstable == 0 && report.nearby > 0);
  CHECK_NEAR(g[0], 0, 1e-9);
  x[0] = 4; // far from it
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, NULL, g, &report));
  CHECK(report.unstable == 0 && report.nearby == 0);
  tb_objective_free(&ctx, o);
}

// A tumbling box whose impacts the contact law leaves open: the gradient is of the run that is made.
TEST(where_the_law_has_several_solutions_the_runs_is_differentiated)
{
  GradientScene s = gradient_scene(68);
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, s.text, s.loss, "a.velocity");
  REQUIRE(o);
  double off = off_from_runs(&ctx, o, NULL);
  if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
  tb_objective_free(&ctx, o);
}

TEST(schemes_without_derivatives_say_so)
{
  static const struct {
    const char *scheme, *said;
  } none[] = {{"soft-step", "floats"}, {"penalty", "a state of its own"}};
  for (int i = 0; i < 2; i++)
    for (int method = 0; method < 3; method++) {
      GradientScene s = gradient_scene(2);
      tbContext ctx = tb_default_context();
      tbObjective* o = open_objective(&ctx, s.text, s.loss, "a.velocity");
      REQUIRE(o);
      double x[MOST], g[MOST];
      tb_objective_options(o)->scheme = none[i].scheme, *tb_objective_time(o) = 0.05;
      tb_objective_values(o, x);
      tbStatus status = tb_objective_gradient(&ctx, o, (tbGradientMethod)method, x, NULL, g, NULL);
      if (status != TB_ERROR_UNSUPPORTED || !strstr(ctx.error.message, none[i].said))
        test_failed(__FILE__, __LINE__, "%s: %s, \"%s\"", none[i].scheme, tb_status_name(status),
                    ctx.error.message);
      tb_objective_free(&ctx, o);
    }
}

// A reduced body's coordinates are its state; other modes would be another one's.
TEST(reduced_bodies_are_differentiated_in_their_coordinates)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.15, \"bodies\": [{\"name\": "
                             "\"ground\", \"fixed\": true, \"shape\": {\"type\": "
                             "\"plane\"}}], \"reduced\": [{\"name\": \"a\", \"mesh\": {\"box\": {\"size\": "
                             "[0.4, 0.2, 0.2], \"cells\": [3, 2, 2]}}, "
                             "\"young\": 2e4, \"density\": 500, \"modes\": 4, \"position\": [0, 0, 0.15], "
                             "\"velocity\": [1, 0, -1]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:1,0,0.2", "a.velocity");
  REQUIRE(o);
  double g[MOST];
  CHECK(apart(&ctx, o, g, NULL) < 1e-6);
  tb_objective_free(&ctx, o);
  check_refused(text, "a:0,0,0", "a.young", TB_ERROR_UNSUPPORTED, "modes");
}

// Restitution 1 and friction 0 end what the format allows: derivatives come from the other side.
TEST(numbers_at_the_end_of_their_range_are_differentiated_to_one_side)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.6, \"materials\": {\"m\": "
                             "{\"friction\": 0, \"restitution\": 1}}, \"bodies\": "
                             "[{\"name\": \"ground\", \"material\": \"m\", \"fixed\": true, \"shape\": "
                             "{\"type\": \"plane\"}}, {\"name\": \"a\", \"mass\": "
                             "1, \"material\": \"m\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, "
                             "\"position\": [0, 0, 0.5], \"velocity\": [1, "
                             "0, 0]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:1,0,0.2", "m.restitution,m.friction");
  REQUIRE(o);
  double g[MOST];
  CHECK(apart(&ctx, o, g, NULL) < 1e-5);
  CHECK(fabs(g[0]) > 0.01 && fabs(g[1]) > 0.01);
  tb_objective_free(&ctx, o);
}

static const char small[] = "{\"tribo\": 1, \"time\": 0.05, \"materials\": {\"wood\": {}},\n \"bodies\": "
                            "[{\"name\": \"ball\", \"material\": \"wood\", "
                            "\"density\": 500, \"friction\": {\"mu\": 0.3, \"rolling\": 0.01}, \"shape\": "
                            "{\"type\": \"sphere\", \"radius\": 0.1}},\n  "
                            "{\"name\": \"brick\", \"mass\": 2, \"position\": [0, 0, 4], \"shape\": "
                            "{\"type\": \"box\", \"size\": [1, 1, 1]}, \"repeat\": "
                            "{\"count\": [2, 1, 1], \"spacing\": [2, 0, 0]}}]}";

TEST(what_is_not_there_is_told_with_the_nearest_name)
{
  check_refused(small, "bal:0,0,0", "ball.mass", TB_ERROR_ARGUMENT, "did you mean \"ball\"");
  check_refused(small, "ball:0,0", "ball.mass", TB_ERROR_ARGUMENT, "NAME:x,y,z");
  check_refused(small, "ball", "ball.mass", TB_ERROR_ARGUMENT, "NAME:x,y,z");
  check_refused(small, "ball:0,0,0", "", TB_ERROR_ARGUMENT, "name the parameters");
  check_refused(small, "ball:0,0,0", "bal.velocity", TB_ERROR_ARGUMENT, "did you mean \"ball\"");
  check_refused(small, "ball:0,0,0", "ball.velocty", TB_ERROR_INPUT, "did you mean \"velocity\"");
  check_refused(small, "ball:0,0,0", "ball.velocty", TB_ERROR_INPUT, "scene.json:2:");
  check_refused(small, "ball:0,0,0", "ball.friction", TB_ERROR_INPUT, "mu, rolling");
  check_refused(small, "ball:0,0,0", "ball.velocity.w", TB_ERROR_INPUT, "no number \"w\"");
  check_refused(small, "ball:0,0,0", "brick/1.inertia", TB_ERROR_ARGUMENT, "mass");
  check_refused(small, "ball:0,0,0", "dt", TB_ERROR_ARGUMENT, "no parameter");
  check_refused(small, "ball:0,0,0", "ball.mass,ball.mass", TB_ERROR_ARGUMENT, "same number");
  check_refused(small, "ball:0,0,0", "ball.velocity.x,ball.velocity", TB_ERROR_ARGUMENT, "same number");
}

// Numbers stand where the file has them, or where it would; what is not asked for stays as it is.
TEST(a_scene_is_written_with_other_numbers)
{
  tbContext ctx = tb_default_context();
  tbObjective* o =
      open_objective(&ctx, small, "ball:0,0,0",
                     "ball.velocity.y,ball.mass,wood.restitution,ball.friction.mu,brick/1.velocity");
  REQUIRE(o);
  double x[MOST];
  tb_objective_values(o, x);
  CHECK(tb_objective_size(o) == 7 && x[2] == 0 && x[3] == 0.3);
  CHECK_NEAR(x[1], 500 * 4.0 / 3 * 3.14159265358979 * 0.001, 1e-10);
  x[0] = 2, x[1] = 3, x[2] = 0.25, x[3] = 0.7, x[6] = 5;
  tbScene scene;
  CHECK_OK(&ctx, tb_objective_scene(&ctx, o, x, &scene));
  tbBodyId ball = tb_world_find_body(scene.world, "ball"), brick = tb_world_find_body(scene.world, "brick/1");
  CHECK(tb_body_state(scene.world, ball).velocity.y == 2 && tb_body_mass(scene.world, ball) == 3);
  CHECK(tb_body_state(scene.world, brick).velocity.z == 5 &&
        tb_body_state(scene.world, brick).position.x == 2);
  tb_scene_free(&ctx, &scene);
  tb_objective_free(&ctx, o);
  o = open_objective(&ctx, small, "ball:0,0,0", "ball.mass,brick.position.z");
  tbOut text = tb_out_memory(&ctx);
  tb_objective_values(o, x);
  x[1] = 7;
  CHECK_OK(&ctx, tb_objective_print(&ctx, o, x, &text));
  CHECK(strstr(text.bytes, "[0, 0, 7]") && !strstr(text.bytes, "density") &&
        strstr(text.bytes, "\"rolling\": 0.01"));
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "again.json", text.bytes, text.length, NULL, &scene));
  tb_scene_free(&ctx, &scene);
  tb_out_free(&text);
  tb_objective_free(&ctx, o);
}

// Through two bounces to a point (Macklin et al. 2020, fig. 13), and to the nearest there is within bounds.
TEST(a_search_finds_the_throw_that_hits)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.5, \"materials\": {\"m\": "
                             "{\"friction\": 0.2, \"restitution\": 0.7}}, \"bodies\": "
                             "[{\"name\": \"ground\", \"fixed\": true, \"material\": \"m\", \"shape\": "
                             "{\"type\": \"plane\"}}, {\"name\": \"wall\", "
                             "\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\", "
                             "\"normal\": [-1, 0, 0], \"offset\": -1.5}}, {\"name\": "
                             "\"a\", \"mass\": 0.5, \"material\": \"m\", \"shape\": {\"type\": \"sphere\", "
                             "\"radius\": 0.1}, \"position\": [0, 0, 0.6], "
                             "\"velocity\": [4, 0, -3]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.9,0.05,0.6", "a.velocity");
  REQUIRE(o);
  tbMinimize how = tb_default_minimize();
  tbMinimum found;
  double x[3], lower[3] = {-9, -9, -9}, upper[3] = {4.5, 0.01, 9};
  how.loss = 1e-8;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_minimize(&ctx, o, &how, x, &found));
  CHECK(found.converged && sqrt(found.loss) < 1e-3 && found.first_loss > 0.01 && found.iterations < 40);
  how.lower = lower, how.upper = upper, how.iterations = 15;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_minimize(&ctx, o, &how, x, &found));
  CHECK(x[0] <= 4.5 && x[1] <= 0.01 && found.loss < found.first_loss && found.loss > 1e-4);
  tb_objective_free(&ctx, o);
}

// Problems with known answers, from a start that is off: back to rounding, as the judge has it.
TEST(newtons_method_solves_contact_problems_to_rounding)
{
  for (int i = 0; i < 40; i++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)i, spec.contacts = 2 + i % 9, spec.redundant = i % 4 == 0,
    spec.dimension = 2 + i % 2;
    spec.compliant = i % 5 == 0;
    tbProblem* p;
    double* lambda;
    bool exact = false;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    tbRandom r = test_random((uint64_t)i);
    CHECK(tb_exact_takes(p, TB_MODEL_CONE) && !tb_exact_takes(p, TB_MODEL_BOX));
    for (int k = 0; k < p->nrow; k++) lambda[k] *= 1 + 1e-4 * test_uniform(&r, -1, 1);
    CHECK_OK(&ctx, tb_exact_newton(&ctx, p, TB_MODEL_CONE, lambda, &exact, NULL));
    tbJudge* judge;
    tbResidual residual;
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &residual, NULL, NULL);
    if (!exact || !(residual.fclib < 1e-13))
      test_failed(__FILE__, __LINE__, "problem %d: %s, residual %.2g", i, exact ? "exact" : "rough",
                  residual.fclib);
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
}

// One allocation fails; total: how many there are, of the first run, in which none does.
static void fail_one(const GradientScene* s, const char* scheme, tbGradientMethod method, long k, long* total)
{
  tbFailingAllocator state = {.countdown = k};
  tbContext ctx = test_failing_context(&state);
  tbObjective* o = NULL;
  double x[MOST], g[MOST];
  tbStatus status =
      tb_objective_parse(&ctx, "s", s->text, strlen(s->text), NULL, s->loss, "a.velocity,m.friction", &o);
  if (status == TB_OK) {
    tb_objective_values(o, x);
    tb_objective_options(o)->scheme = scheme, *tb_objective_time(o) = 0.02;
    status = tb_objective_gradient(&ctx, o, method, x, NULL, g, NULL);
  }
  tb_objective_free(&ctx, o);
  if (k < 0) *total = state.total;
  if (status != (k < 0 ? TB_OK : TB_ERROR_MEMORY) || state.alive != 0)
    test_failed(__FILE__, __LINE__, "%s, allocation %ld of %ld: %s, %ld alive", scheme, k, *total,
                tb_status_name(status), state.alive);
}

TEST(gradients_survive_failed_allocations)
{
  static const struct {
    uint64_t seed;
    const char* scheme;
    tbGradientMethod method;
  } ways[] = {{0, "semi-implicit", TB_GRADIENT_TANGENT},
              {0, "semi-implicit", TB_GRADIENT_ADJOINT},
              {2, "primal", TB_GRADIENT_ADJOINT}};
  for (int i = 0; i < 3; i++) {
    GradientScene s = gradient_scene(ways[i].seed);
    long total = 1, stride = test_quick() ? 197 : 47;
    for (long k = -1; k < total; k += k < 0 ? 1 : stride)
      fail_one(&s, ways[i].scheme, ways[i].method, k, &total);
  }
}
