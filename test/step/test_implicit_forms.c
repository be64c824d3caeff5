// SPDX-License-Identifier: Apache-2.0
// What a step of the scheme implicit is (course, chapter 4.2): minima over velocities and positions, roots in
// the dual and the primal form. All are implicit Euler's step.
#include "scene/kind.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 5 };

static tbScene open_cube(tbContext* ctx, const char* model, double mu, bool pressed)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"tribo\": 1, \"dt\": 0.05, \"scheme\": {\"name\": \"implicit\", \"newton_steps\": 200, "
           "\"tolerance\": 1e-8}, \"solver\": {\"velocity_tolerance\": 1e-8}, \"materials\": {\"m\": "
           "{\"friction\": %g}}, \"bodies\": [{\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": "
           "\"plane\"}}%s], \"soft\": [{\"mesh\": {\"box\": {\"size\": 0.3, \"cells\": 2}}, \"model\": "
           "\"%s\", \"young\": 2e4, \"poisson\": 0.3, \"density\": 1000, \"position\": [0, 0, 0.155], "
           "\"velocity\": [%g, 0, %g], \"material\": \"m\"}]}",
           mu,
           pressed ? ", {\"kinematic\": {\"velocity\": [0, 0, -0.5]}, \"position\": [0, 0, 0.36], \"shape\": "
                     "{\"type\": \"box\", \"size\": [0.6, 0.6, 0.1]}, \"material\": \"m\"}"
                   : "",
           model, pressed ? 0 : 1.0, pressed ? 0 : -3.0);
  tbScene scene = {0};
  CHECK_OK(ctx, tb_scene_parse(ctx, "test", text, strlen(text), NULL, &scene));
  return scene;
}

static tbNodes soft_of(const tbScene* s)
{
  size_t i = 0;
  while (!tb_bodies(s->world)[i].kind->nodes) i++;
  return tb_nodes_of(&tb_bodies(s->world)[i]);
}

static double height_of(tbNodes n)
{
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < n.count; k++) low = fmin(low, n.x[k].z), high = fmax(high, n.x[k].z);
  return high - low;
}

static tbNodes run(tbContext* ctx, tbScene* s, double* least)
{
  for (int i = 0; i < STEPS; i++) {
    tbStepReport report;
    CHECK_OK(ctx, tb_world_step(ctx, s->world, &s->step, &report));
    CHECK(report.intersections == 0);
    if (s->step.newton_steps > 1) CHECK(!report.newton_missed && report.residual.velocity < 1e-7);
    *least = fmin(*least, height_of(soft_of(s)));
  }
  return soft_of(s);
}

static double apart(tbNodes a, tbNodes b)
{
  double most = 0;
  for (int k = 0; k < a.count; k++) most = fmax(most, tb_distance3(a.x[k], b.x[k]));
  return most;
}

// A cube that lands fast and slides, and one between plates, steps of 50 ms: all four are at the same nodes,
// and one step of Newton's method is far from there.
static void compare(const char* model, double mu, bool pressed)
{
  tbContext ctx = tb_default_context();
  tbScene s[TB_FORM_COUNT + 1];
  tbNodes end[TB_FORM_COUNT + 1];
  double height[TB_FORM_COUNT + 1];
  for (int form = 0; form <= TB_FORM_COUNT; form++) {
    s[form] = open_cube(&ctx, model, mu, pressed);
    if (form < TB_FORM_COUNT) s[form].step.formulation = (tbFormulation)form;
    else s[form].step.newton_steps = 1;
    height[form] = 0.3;
    end[form] = run(&ctx, &s[form], &height[form]);
  }
  CHECK(height[0] < 0.85 * 0.3);
  for (int form = 1; form < TB_FORM_COUNT; form++) CHECK_NEAR(apart(end[0], end[form]), 0, 5e-6);
  CHECK(apart(end[0], end[TB_FORM_COUNT]) > 1e-4);
  for (int form = 0; form <= TB_FORM_COUNT; form++) tb_scene_free(&ctx, &s[form]);
}

TEST(forms_of_a_large_step_agree)
{
  compare("neo-hookean", 0.5, false);
  compare("corotated", 0, true);
}

LONG_TEST(forms_of_large_steps_agree_for_all_models)
{
  static const char* const models[] = {"neo-hookean", "corotated", "stvk"};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 4; k++) compare(models[m], k & 1 ? 0.5 : 0, k & 2);
}

// Two soft blocks, the upper one on edge: gaps turn within the step. A minimum over positions has them where
// the step ends, one over velocities where contacts begin.
LONG_TEST(minima_over_positions_have_the_gaps_of_their_end)
{
  double error[2];
  for (int form = 0; form < 2; form++) {
    tbContext ctx = tb_default_context();
    tbScene s = {0};
    static const char text[] =
        "{\"tribo\": 1, \"dt\": 0.02, \"scheme\": {\"name\": \"implicit\", \"newton_steps\": 60}, "
        "\"bodies\": "
        "[{\"fixed\": true, \"shape\": {\"type\": \"plane\"}}], \"soft\": [{\"mesh\": {\"box\": {\"size\": "
        "0.3, \"cells\": 2}}, \"young\": 1e5, \"position\": [0, 0, 0.152]}, {\"mesh\": {\"box\": {\"size\": "
        "0.2, \"cells\": 2}}, \"young\": 1e5, \"position\": [0.02, 0.01, 0.47], \"orientation_euler_deg\": "
        "[40, 20, 0], \"velocity\": [2, 0, -2], \"angular_velocity\": [0, 6, 0]}]}";
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "test", text, strlen(text), NULL, &s));
    s.step.formulation = form ? TB_FORM_POSITIONS : TB_FORM_VELOCITIES;
    error[form] = 0;
    for (int i = 0; i < 6; i++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
      CHECK(report.intersections == 0);
      error[form] = fmax(error[form], report.linear_error);
    }
    tb_scene_free(&ctx, &s);
  }
  CHECK(error[1] < 0.5 * error[0]);
}
