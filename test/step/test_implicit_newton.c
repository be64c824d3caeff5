// SPDX-License-Identifier: Apache-2.0
// The scheme implicit with Newton's method on elasticity: steps are those of implicit Euler, however large.
#include "scene/kind.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tbScene open_scene(tbContext* ctx, const char* text, const char* scheme, int newton_steps)
{
  tbScene scene = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "test", text, strlen(text), NULL, &scene));
  scene.step.scheme = scheme, scene.step.newton_steps = newton_steps;
  return scene;
}

static double apart(const tbWorld* a, const tbWorld* b)
{
  double most = 0;
  for (size_t i = 0; i < a->body.count; i++) {
    tbNodes one = tb_nodes_of(&tb_bodies(a)[i]), other = tb_nodes_of(&tb_bodies(b)[i]);
    for (int k = 0; k < one.count; k++) most = fmax(most, tb_distance3(one.x[k], other.x[k]));
  }
  return most;
}

static void beam(const char* model, double dt, double damping, char* text, size_t room)
{
  snprintf(
      text, room,
      "{\"tribo\": 1, \"dt\": %g, \"soft\": [{\"name\": \"beam\", \"mesh\": {\"box\": {\"size\": [1, 0.1, "
      "0.1], \"cells\": [6, 1, 1]}}, \"model\": \"%s\", \"young\": 1e5, \"poisson\": 0.3, \"density\": 1000, "
      "\"damping\": %g, \"pins\": [{\"box\": [[-0.5, -1, -1], [-0.5, 1, 1]]}]}]}",
      dt, model, damping);
}

// A beam that gravity bends by half of its length: without contact ipc minimises the same potential by code
// of its own. One step of Newton's method is far from it.
LONG_TEST(newton_steps_are_implicit_eulers)
{
  static const char* const models[] = {"neo-hookean", "corotated", "stvk"};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 2; k++) {
      tbContext ctx = tb_default_context();
      char text[1024];
      beam(models[m], k ? 0.1 : 0.04, k ? 0.01 : 0, text, sizeof text);
      tbScene s[3] = {open_scene(&ctx, text, "ipc", 1), open_scene(&ctx, text, "implicit", 60),
                      open_scene(&ctx, text, "implicit", 1)};
      for (int i = 0; i < 6; i++)
        for (int scheme = 0; scheme < 3; scheme++) {
          tbStepReport report;
          s[scheme].step.newton_tolerance = 1e-8;
          CHECK_OK(&ctx, tb_world_step(&ctx, s[scheme].world, &s[scheme].step, &report));
          CHECK(!report.newton_missed && (scheme == 0 || report.outcome == TB_CONVERGED));
        }
      CHECK_NEAR(apart(s[0].world, s[1].world), 0, 1e-6);
      CHECK(apart(s[0].world, s[2].world) > 1e-3);
      for (int scheme = 0; scheme < 3; scheme++) tb_scene_free(&ctx, &s[scheme]);
    }
}

// Linear elasticity has nothing to iterate: the same bits as without.
TEST(newton_leaves_linear_elasticity_alone)
{
  tbContext ctx = tb_default_context();
  char text[1024];
  beam("linear", 0.02, 0.01, text, sizeof text);
  tbScene s[2] = {open_scene(&ctx, text, "implicit", 1), open_scene(&ctx, text, "implicit", 20)};
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < 2; k++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, s[k].world, &s[k].step, &report));
      CHECK(!report.newton_missed);
    }
  CHECK(tb_world_hash(s[0].world) == tb_world_hash(s[1].world));
  for (int k = 0; k < 2; k++) tb_scene_free(&ctx, &s[k]);
}

// A cube thrown down, and one pressed by a plate: contacts hold in every step of Newton's method, the judge
// confirms the last, nothing crosses; thrown, energy is never gained.
TEST(newton_steps_have_contacts_inside)
{
  for (int pressed = 0; pressed < 2; pressed++) {
    tbContext ctx = tb_default_context();
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"tribo\": 1, \"dt\": 0.01, \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}}%s], "
        "\"soft\": [{\"mesh\": {\"box\": {\"size\": 0.3, \"cells\": 2}}, \"model\": \"neo-hookean\", "
        "\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000, \"position\": [0, 0, %g], \"velocity\": [0, 0, "
        "%g]}]}",
        pressed ? ", {\"kinematic\": {\"velocity\": [0, 0, -0.5]}, \"position\": [0, 0, 0.36], \"shape\": "
                  "{\"type\": \"box\", \"size\": [0.6, 0.6, 0.1]}}"
                : "",
        pressed ? 0.155 : 0.3, pressed ? 0 : -8.0);
    tbScene s = open_scene(&ctx, text, "implicit", 80);
    double before = INFINITY;
    for (int i = 0; i < 25; i++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
      tbEnergy e = tb_world_energy(s.world);
      double energy = e.kinetic + e.potential + e.elastic;
      CHECK(report.outcome == TB_CONVERGED && !report.newton_missed && report.intersections == 0);
      CHECK(report.newton_change <= s.step.newton_tolerance);
      if (!pressed) CHECK(energy <= before * (1 + 1e-9));
      before = energy;
    }
    tb_scene_free(&ctx, &s);
  }
}

// ---- closed forms of large deformation ----

typedef struct {
  const char* name;
  double mu, lambda;
} Law;

// ψ_i of the stretches (s, t, t) along the axis, or across it: nominal stress.
static double stress(const Law* law, double s, double t, bool axial)
{
  double x = axial ? s : t;
  switch (law->name[0]) {
  case 'c': return 2 * law->mu * (x - 1) + law->lambda * (s + 2 * t - 3);
  case 's': return x * (law->mu * (x * x - 1) + law->lambda * 0.5 * (s * s + 2 * t * t - 3));
  default: return law->mu * (x - 1 / x) + law->lambda * (log(s) + 2 * log(t)) / x;
  }
}

// The stretch of a bar under a nominal stress, its sides free: bisections for t in s.
static double stretch_under(const Law* law, double pull)
{
  double low = 1, high = 4;
  for (int i = 0; i < 60; i++) {
    double s = 0.5 * (low + high), a = 0.2, b = 1.5;
    for (int k = 0; k < 60; k++) {
      double t = 0.5 * (a + b);
      *(stress(law, s, t, false) > 0 ? &b : &a) = t;
    }
    *(stress(law, s, a, true) > pull ? &high : &low) = s;
  }
  return low;
}

// A bar that hangs by one end and stretches under its own weight, by half of its length: every section
// carries what is below it, with its sides free.
LONG_TEST(a_bar_hangs_as_long_as_its_law_says)
{
  const double young = 1.2e4, poisson = 0.3, weight = 1000 * 9.81;
  Law laws[] = {{"corotated", 0, 0}, {"stvk", 0, 0}, {"neo-hookean", 0, 0}};
  for (int m = 0; m < 3; m++) {
    laws[m].mu = young / (2 * (1 + poisson));
    laws[m].lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    double length = 0;
    for (int k = 0; k < 100; k++) length += stretch_under(&laws[m], weight * (k + 0.5) / 100) / 100;
    tbContext ctx = tb_default_context();
    char text[1024];
    snprintf(text, sizeof text,
             "{\"tribo\": 1, \"dt\": 1, \"soft\": [{\"name\": \"bar\", \"mesh\": {\"box\": {\"size\": [0.05, "
             "0.05, 1], \"cells\": [1, 1, 20]}}, \"model\": \"%s\", \"young\": %g, \"poisson\": %g, "
             "\"density\": 1000, \"pins\": [{\"box\": [[-1, -1, 0.499], [1, 1, 1]]}]}]}",
             laws[m].name, young, poisson);
    tbScene s = open_scene(&ctx, text, "implicit", 200);
    for (int i = 0; i < 7; i++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
      CHECK(!report.newton_missed);
    }
    tbNodes nodes = tb_nodes_of(&tb_bodies(s.world)[0]);
    double lowest = 0;
    for (int k = 0; k < nodes.count; k++) lowest = fmin(lowest, nodes.x[k].z);
    CHECK(length > 1.2);
    CHECK_NEAR(0.5 - lowest, length, 0.01 * length);
    tb_scene_free(&ctx, &s);
  }
}
