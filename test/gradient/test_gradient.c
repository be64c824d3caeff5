// SPDX-License-Identifier: Apache-2.0
// Derivatives of runs, against closed forms and against differences of whole runs.
#include "gradient/answer.h"
#include "gradient/objectives.h"
#include "gradient/scenes.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

// A block that slides down an incline, stepped in complex numbers: along it v⁺ = v + h (g sin θ − μ g cos θ)
// and x⁺ = x + h v⁺, and the loss |x t + n/2 − p|². Of the tilt, too, by the plane's normal.
static double complex slid(double complex v, double complex mu, double complex g, double tilt)
{
  double complex x = 0, h = 0.01;
  for (int k = 0; k < 30; k++) v += h * g * (sin(tilt) - mu * cos(tilt)), x += h * v;
  double complex along = x * cos(tilt) + 0.1 * sin(tilt) - 0.5, down = -x * sin(tilt) + 0.1 * cos(tilt) - 0.2;
  return along * along + 0.01 + down * down;
}

TEST(gradients_of_a_sliding_block_are_those_of_complex_steps)
{
  static const char* const schemes[] = {"semi-implicit", "primal", "vbd", "avbd"};
  double tilt = 0.2, speed = 1.5, mu = 0.3, g = 9.81, e = 1e-30;
  double exact[3] = {cimag(slid(speed + e * I, mu, g, tilt)) / e, cimag(slid(speed, mu + e * I, g, tilt)) / e,
                     cimag(slid(speed, mu, g + e * I, tilt)) / e};
  char text[700];
  snprintf(text, sizeof text,
           "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.3, \"gravity\": [0, 0, -9.81], \"materials\": {\"m\": "
           "{\"friction\": %.17g}}, \"bodies\": [{\"name\": \"g\", \"fixed\": true, \"material\": \"m\", "
           "\"shape\": "
           "{\"type\": \"plane\", \"normal\": [%.17g, 0, %.17g]}}, {\"name\": \"a\", \"material\": \"m\", "
           "\"mass\": 1, "
           "\"shape\": {\"type\": \"box\", \"size\": [0.4, 0.4, 0.2]}, \"position\": [%.17g, 0, %.17g], "
           "\"orientation\": "
           "[%.17g, 0, %.17g, 0], \"velocity\": [%.17g, 0, %.17g]}]}",
           mu, sin(tilt), cos(tilt), 0.1 * sin(tilt), 0.1 * cos(tilt), cos(tilt / 2), sin(tilt / 2),
           speed * cos(tilt), -speed * sin(tilt));
  for (int k = 0; k < 4; k++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "a:0.5,0.1,0.2", "a.velocity,m.friction,gravity.z");
    REQUIRE(o);
    tb_objective_options(o)->scheme = schemes[k];
    double x[MOST], d[MOST], size = fabs(exact[0]);
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, NULL, d, NULL));
    double along = d[0] * cos(tilt) - d[2] * sin(tilt); // of the speed down the incline
    double near = k ? 1e-5 : 1e-9; // relaxed: a box sinks in by the springs of its contacts
    CHECK_NEAR(along, exact[0], near * size);
    CHECK_NEAR(d[3], exact[1], near * fabs(exact[1]));
    CHECK_NEAR(-d[4], exact[2], near * size);
    tb_objective_free(&ctx, o);
  }
}

// Controls: x = x₀ + F T²/2m of a constant force; of a key at the end of a line from 0, h²/m times the sum of
// shares so far; a motor's speed and a servo's target, against differences, forward and back.
TEST(forces_speeds_and_targets_are_parameters)
{
  static const char pushed[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.2, \"gravity\": [0, 0, 0], "
                               "\"bodies\": [{\"name\": \"a\", \"mass\": 2, "
                               "\"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"load\": {\"keys\": "
                               "[{\"t\": 0}, {\"t\": 0.2, \"force\": [5, "
                               "0, 0]}]}}]}";
  static const char driven[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.12, \"bodies\": [{\"name\": \"x\", "
                               "\"mass\": 1, \"shape\": {\"type\": "
                               "\"box\", \"size\": [0.3, 0.1, 0.1]}, \"position\": [0.15, 0, 0]}, {\"name\": "
                               "\"a\", \"mass\": 0.5, \"shape\": "
                               "{\"type\": \"box\", \"size\": [0.3, 0.1, 0.1]}, \"position\": [0.45, 0, 0], "
                               "\"load\": {\"force\": [0, 0, 1]}}], "
                               "\"joints\": [{\"name\": \"s\", \"type\": \"hinge\", \"b\": \"x\", "
                               "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], "
                               "\"motor\": {\"speed\": 1, \"force\": 30}}, {\"name\": \"e\", \"type\": "
                               "\"hinge\", \"a\": \"x\", \"b\": \"a\", "
                               "\"anchor\": [0.3, 0, 0], \"axis\": [0, 1, 0], \"servo\": {\"target\": 0.5, "
                               "\"stiffness\": 20, \"damping\": 0.5}, "
                               "\"effort\": {\"force\": 0.3}}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, pushed, "a:1,1,1", "a.load.keys.1.force");
  REQUIRE(o);
  double x[MOST], g[MOST], loss, reach = 0, speed = 0;
  tb_objective_values(o, x);
  CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, &loss, g, NULL));
  for (int k = 0; k < 20; k++) {
    double gained = 0.01 / 2 * (k + 0.5) / 20;
    reach += 0.01 * (speed + 0.5 * gained), speed += gained;
  }
  CHECK_NEAR(g[0], 2 * (5 * reach - 1) * reach, 1e-9);
  CHECK_NEAR(g[1], -2 * reach, 1e-9);
  tb_objective_free(&ctx, o);
  for (int k = 0; k < 2; k++) {
    o = open_objective(&ctx, driven, "a:0.3,0,0.3",
                       "a.load.force,s.motor.speed,e.servo.target,e.servo.stiffness,e.effort.force");
    REQUIRE(o);
    tb_objective_options(o)->scheme = k ? "primal" : "semi-implicit";
    tb_objective_options(o)->solver.velocity_tolerance = 1e-11;
    double off = off_from_runs(&ctx, o, NULL), a[MOST], size = 0;
    if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_TANGENT, x, NULL, g, NULL));
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_ADJOINT, x, NULL, a, NULL));
    for (int i = 0; i < tb_objective_size(o); i++) size = fmax(size, fabs(g[i]));
    for (int i = 0; i < tb_objective_size(o); i++)
      if (!(fabs(a[i] - g[i]) <= 1e-6 * size))
        test_failed(__FILE__, __LINE__, "number %d: %.12g, and %.12g by tangents", i, a[i], g[i]);
    tb_objective_free(&ctx, o);
  }
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

// Boxes that slide on boxes and are about to turn: as they do not yet, how corners share the weight matters
// to no velocity, and the law leaves it open; the derivative by the turning speed depends on it.
TEST(where_derivatives_are_not_unique_the_solvers_are_taken)
{
  static const char text[] =
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.2, \"materials\": {\"m\": {\"friction\": 0.3}}, \"bodies\": "
      "[{\"name\": \"ground\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, "
      "{\"name\": "
      "\"x\", \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": [0.5, 0.45, 0.12]}, \"mass\": "
      "1.5, "
      "\"position\": [0.01, -0.008, 0.06]}, {\"name\": \"a\", \"material\": \"m\", \"shape\": {\"type\": "
      "\"box\", "
      "\"size\": [0.42, 0.38, 0.15]}, \"mass\": 2.1, \"position\": [-0.007, 0.012, 0.195], \"velocity\": "
      "[0.9, "
      "0.2, 0]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.5,0.4,0.1", "a.angular_velocity.z");
  REQUIRE(o);
  tb_objective_options(o)->solver.velocity_tolerance = 1e-12;
  tbGradientReport report;
  double off = off_from_runs(&ctx, o, &report);
  CHECK(report.ambiguous > 0);
  if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
  tb_objective_free(&ctx, o);
}

// A box on the edge of a sheet: xpbd and pd begin a step with the impulses by which nodes held on to it.
TEST(impulses_of_attached_nodes_go_on)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.1, \"bodies\": [{\"name\": \"b\", "
                             "\"mass\": 0.3, \"shape\": {\"type\": "
                             "\"box\", \"size\": [0.1, 0.1, 0.1]}, \"position\": [0.25, 0, 0.5], "
                             "\"velocity\": [0, 0.42, 0]}], \"cloth\": "
                             "[{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": [0.4, 0.2], \"cells\": [4, "
                             "2]}}, \"area_density\": 0.2, "
                             "\"stretch\": 300, \"shear\": 100, \"bend\": 1e-4, \"position\": [0, 0, 0.5], "
                             "\"pins\": [{\"box\": [[-0.2, -0.1, "
                             "0.5], [-0.2, 0.1, 0.5]]}], \"attach\": [{\"body\": \"b\", \"box\": [[0.2, "
                             "-0.1, 0.5], [0.2, 0.1, 0.5]]}]}]}";
  static const char* const schemes[] = {"xpbd", "pd"};
  for (int k = 0; k < 2; k++) {
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, text, "b:0.6,0.3,0", "b.velocity");
    REQUIRE(o);
    tb_objective_options(o)->scheme = schemes[k];
    tbGradientReport report;
    double off = off_from_runs(&ctx, o, &report);
    CHECK(report.unstable == 0);
    if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "%s: off by %.2g", schemes[k], off);
    tb_objective_free(&ctx, o);
  }
}

// What is verified is verified, and a gradient with one entry off by a hundred-thousandth is not.
TEST(a_gradient_that_runs_do_not_have_is_told)
{
  for (int seed = 0; seed < GRADIENT_KINDS; seed += 4) {
    GradientScene s = gradient_scene((uint64_t)seed);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, s.text, s.loss, s.wrt);
    REQUIRE(o);
    double x[MOST], g[MOST], apart;
    int most = 0;
    tb_objective_values(o, x);
    CHECK_OK(&ctx, tb_objective_gradient(&ctx, o, TB_GRADIENT_AUTO, x, NULL, g, NULL));
    CHECK_OK(&ctx, tb_objective_verify(&ctx, o, x, g, &apart));
    if (!(apart <= TB_GRADIENT_AGREES)) test_failed(__FILE__, __LINE__, "%s: apart by %.2g", s.kind, apart);
    for (int i = 0; i < tb_objective_size(o); i++)
      if (fabs(g[i]) > fabs(g[most])) most = i;
    g[most] *= 1 + 1e-5;
    CHECK_OK(&ctx, tb_objective_verify(&ctx, o, x, g, &apart));
    if (!(apart > TB_GRADIENT_AGREES)) test_failed(__FILE__, __LINE__, "%s: apart by %.2g", s.kind, apart);
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
      if (!(off <= (published ? 1e-5 : 1e-6)))
        test_failed(__FILE__, __LINE__, "%s%s, %s: off by %.2g", schemes[k], published ? " as published" : "",
                    s.kind, off);
      tb_objective_free(&ctx, o);
    }
}

// Anchors of friction, and the energy of barriers, go on from step to step.
// A box that turns as it slides with friction by its own axes: how its corners share the weight is what the
// last step has left, as vectors, and the axes turn with the box.
TEST(impulses_go_on_as_vectors_where_axes_of_friction_turn)
{
  static const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.2, \"gravity\": [0.437, -0.125, "
                             "-10.39], \"materials\": {\"m\": "
                             "{\"friction\": {\"mu_t\": 0.5, \"mu_b\": 0.23, \"direction\": [1, 0.3, 0]}}}, "
                             "\"bodies\": [{\"name\": \"g\", "
                             "\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\", "
                             "\"normal\": [0.18291873701289707, 0, "
                             "0.9831280362443168]}}, {\"name\": \"a\", \"material\": \"m\", \"mass\": 1.6, "
                             "\"shape\": {\"type\": \"box\", "
                             "\"size\": [0.3, 0.24, 0.2]}, \"position\": [0.018291873701289707, 0, "
                             "0.09831280362443168], \"orientation\": "
                             "[0.995773075616206, 0, 0.09184760137228203, 0], \"velocity\": [1.4747, -0.826, "
                             "-0.27438], \"load\": {\"keys\": "
                             "[{\"t\": 0, \"force\": [1.65, 0, 0]}, {\"t\": 0.2, \"force\": [0, -1.57, 0], "
                             "\"torque\": [0, 0, 0.075]}]}}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.5,0.2,0.1", "bodies.1.load.keys.1.torque");
  REQUIRE(o);
  tb_objective_options(o)->solver.velocity_tolerance = 1e-11;
  double off = off_from_runs(&ctx, o, NULL);
  if (!(off <= 1e-5)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
  tb_objective_free(&ctx, o);
}

// Boxes that a ball strikes and tilts, under xpbd: a step starts from friction as a vector, and the planes in
// which it lies tilt along with the bodies.
TEST(impulses_go_on_as_vectors_where_planes_of_contact_tilt)
{
  static const char text[] =
      "{\"tribo\": 1, \"dt\": 0.004873, \"time\": 0.0975, \"scheme\": {\"name\": \"xpbd\", \"itera"
      "tions\": 5, \"stabilization\": {\"kind\": \"compliance\", \"stiffness\": 333656, \"dampi"
      "ng\": 1949}}, \"solver\": {\"velocity_tolerance\": 1e-11}, \"materials\": {\"m\": {\"fri"
      "ction\": {\"mu_t\": 0.36, \"mu_b\": 0.32, \"direction\": [1, 0, 0]}}}, \"bodies\": [{\"n"
      "ame\": \"ground\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, {"
      "\"name\": \"a\", \"mass\": 1.77, \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": ["
      "0.2117, 0.2157, 0.2469]}, \"position\": [0.0103, 0.0093, 0.12345]}, {\"name\": \"b\""
      ", \"mass\": 4.47, \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": [0.2147, 0.3"
      "236, 0.1231]}, \"position\": [-0.028, 0.0113, 0.30845]}, {\"name\": \"c\", \"mass\": 3"
      ".29, \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": [0.378, 0.3083, 0.1983]"
      "}, \"position\": [-0.0203, 0.0089, 0.46915]}, {\"name\": \"hit\", \"mass\": 0.57, \"mat"
      "erial\": \"m\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.08}, \"position\": [-0.5, -"
      "0.0347, 0.2428], \"velocity\": [4.78, 0.129, 0.283]}]}";
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "hit:-0.5,0,0.3", "hit.velocity.z");
  REQUIRE(o);
  double off = off_from_runs(&ctx, o, NULL);
  if (!(off <= 1e-7)) test_failed(__FILE__, __LINE__, "off by %.2g", off);
  tb_objective_free(&ctx, o);
}

// A number that says little is asked from farther away, and no farther than the format allows.
TEST(numbers_close_to_the_end_of_their_range_are_differentiated)
{
  char text[900];
  put_text("\"time\": 0.3, \"materials\": {\"m\": {\"restitution\": 0.9999}}",
           "{\"name\": \"g\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, "
           "{\"name\": \"a\", \"material\": \"m\", \"mass\": 1, \"shape\": {\"type\": \"sphere\", "
           "\"radius\": 0.1}, "
           "\"position\": [0, 0, 0.5], \"velocity\": [1, 0, -1]}",
           text, sizeof text);
  tbContext ctx = tb_default_context();
  tbObjective* o = open_objective(&ctx, text, "a:0.5,0,0", "m.restitution");
  REQUIRE(o);
  double g;
  CHECK(apart(&ctx, o, &g, NULL) <= 1e-6);
  tb_objective_free(&ctx, o);
}

TEST(steps_that_leave_a_state_are_differentiated)
{
  static const struct {
    const char* scheme;
    int seed;
  } run[] = {{"penalty", 2}, {"penalty", 3}, {"ipc", 2}};
  for (int k = 0; k < 3; k++) {
    GradientScene s = gradient_scene((uint64_t)run[k].seed);
    tbContext ctx = tb_default_context();
    tbObjective* o = open_objective(&ctx, s.text, s.loss, "a.velocity.x,a.velocity.y,m.friction");
    REQUIRE(o);
    tb_objective_options(o)->scheme = run[k].scheme, *tb_objective_time(o) = 0.08;
    tb_objective_options(o)->newton_tolerance = 1e-10;
    double off = off_from_runs(&ctx, o, NULL);
    if (!(off <= 1e-6)) test_failed(__FILE__, __LINE__, "%s, %s: off by %.2g", run[k].scheme, s.kind, off);
    tb_objective_free(&ctx, o);
  }
}

// A sheet over a sphere: most steps have a node that touches, sticks or lets go within a hundred-thousandth
// of the sheet, with little effect each.
LONG_TEST(small_changes_within_the_reach_of_differences_are_not_taken_for_slopes)
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
LONG_TEST(a_flat_sheet_meets_a_sphere_smoothly)
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
  } none[] = {{"soft-step", "floats"}};
  for (int i = 0; i < 1; i++)
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
    CHECK_OK(&ctx, tb_exact_newton(&ctx, p, TB_MODEL_CONE, lambda, &exact, NULL, NULL, NULL));
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

// Ellipsoids of friction with an axis of zero: what slides there has no part, and the others go on.
TEST(newtons_method_leaves_out_axes_without_friction)
{
  int slipping = 0;
  for (int i = 0; i < 12; i++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.seed = (uint64_t)i, spec.contacts = 6, spec.all_laws = true, spec.slip = 0.8, spec.open = 0;
    tbProblem* p;
    double* lambda;
    bool exact = false;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    for (int k = 0; k < p->ncontact; k++)
      if (p->law[k] == TB_LAW_CONTENSOU) ((double*)p->param)[p->param_adr[k] + i % 3] = 0;
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult result;
    o.velocity_tolerance = 1e-7, o.max_iterations = 100000;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &result));
    CHECK_OK(&ctx, tb_exact_newton(&ctx, p, TB_MODEL_CONE, lambda, &exact, NULL, NULL, NULL));
    tbJudge* judge;
    tbResidual residual;
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &residual, NULL, NULL);
    for (int k = 0; k < p->ncontact; k++) {
      const double *mu = p->param + p->param_adr[k], *r = lambda + p->row_adr[k];
      if (p->law[k] != TB_LAW_CONTENSOU || !(r[0] > 0)) continue;
      double size = 0;
      for (int j = 0; j < 3; j++) size += mu[j] > 0 ? pow(r[1 + j] / (mu[j] * r[0]), 2) : 0;
      slipping += size > 1 - 1e-9;
      CHECK(r[1 + i % 3] == 0);
    }
    if (!exact || !(residual.fclib < 1e-13))
      test_failed(__FILE__, __LINE__, "problem %d: %s, residual %.2g", i, exact ? "exact" : "rough",
                  residual.fclib);
    tb_judge_free(&ctx, judge);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
  }
  CHECK(slipping > 5);
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
