// SPDX-License-Identifier: Apache-2.0
// Deformable bodies under the relaxed schemes, against `implicit`, whose step is the same equation.
#include "step/soft_stage.h"

#include "scene/kind.h"
#include "tribo/io.h"

#include <math.h>
#include <string.h>

static const char* const schemes[] = {"primal", "xpbd", "vbd", "avbd"};
enum { SCHEMES = 4 };

typedef struct {
  tbElasticModel model;
  bool cloth;
  int newton_steps;
  double mass_damping;
} Matter;

// A box of tetrahedra, stretched and turned, or a sheet that is pinned at a corner, without contacts.
static Stage open_matter(const char* scheme, Matter m, tbBodyId* body)
{
  Stage s = soft_stage(0.5, 0.01);
  s.step.scheme = scheme, s.step.iterations = 30000, s.step.newton_steps = m.newton_steps;
  s.step.newton_tolerance = 1e-9;
  s.step.solver.velocity_tolerance = 1e-9;
  tbDeformableDef def = soft_at(2e3, tb_vec3(0, 0, 1), tb_vec3(0.3, 0, 0));
  def.soft.model = m.model, def.soft.mass_damping = def.cloth.mass_damping = m.mass_damping;
  // xpbd damps by the stiffness of the last linearisation, not by that of the start
  if (m.newton_steps > 1) def.soft.stiffness_damping = def.cloth.stiffness_damping = 0;
  int corner[1] = {0};
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = corner, pin.node_count = 1;
  def.angular_velocity = tb_vec3(0, 3, 1);
  if (m.cloth) def.pins = &pin, def.pin_count = 1;
  *body = m.cloth ? add_cloth(&s, 0.4, 3, def) : add_box(&s, tb_vec3(0.3, 0.2, 0.2), 1, def);
  if (m.cloth) return s;
  tbNodes n = tb_nodes_of(&tb_bodies(s.world)[body->index]);
  tbVec3 *x = (tbVec3*)n.x, middle = tb_vec3(0, 0, 1);
  for (int i = 0; i < n.count; i++) { // 20 % longer, and sheared
    tbVec3 arm = tb_sub3(x[i], middle);
    x[i] = tb_add3(middle, tb_vec3(1.2 * arm.x, arm.y + 0.1 * arm.x, 0.9 * arm.z));
  }
  return s;
}

// The same nodes after some steps: the element rows of xpbd are the matrix of an implicit step, and Newton's
// method ends where theirs does.
TEST(relaxed_elasticity_is_that_of_an_implicit_step)
{
  static const Matter matter[] = {
      {TB_ELASTIC_COROTATED, false, 1, 0.5},  {TB_ELASTIC_NEO_HOOKEAN, false, 1, 0},
      {TB_ELASTIC_NEO_HOOKEAN, false, 20, 0}, {TB_ELASTIC_STVK, false, 20, 0},
      {TB_ELASTIC_COROTATED, true, 1, 0.5},   {TB_ELASTIC_COROTATED, true, 20, 0}};
  for (size_t m = 0; m < sizeof matter / sizeof *matter; m++)
    for (int k = 0; k < SCHEMES; k++) {
      tbBodyId a, b;
      Stage s = open_matter(schemes[k], matter[m], &a), exact = open_matter("implicit", matter[m], &b);
      stage_run(&s, 3);
      stage_run(&exact, 3);
      tbNodes x = tb_nodes_of(&tb_bodies(s.world)[a.index]),
              y = tb_nodes_of(&tb_bodies(exact.world)[b.index]);
      double off = 0;
      for (int i = 0; i < x.count; i++) off = fmax(off, tb_distance3(x.x[i], y.x[i]));
      if (!(off < 1e-7) || s.report.newton_missed)
        test_failed(__FILE__, __LINE__, "%s, matter %d: nodes are %g m off, Newton %g m/s", schemes[k],
                    (int)m, off, s.report.newton_change);
      stage_close(&s);
      stage_close(&exact);
    }
}

// Whatever the number of iterations, elements push their nodes against each other.
TEST(element_rows_keep_momentum)
{
  Matter m = {TB_ELASTIC_NEO_HOOKEAN, false, 1, 0};
  for (int iterations = 1; iterations < 20; iterations += 9) {
    tbBodyId body;
    Stage s = open_matter("xpbd", m, &body);
    s.step.iterations = iterations;
    tbVec3 before = tb_world_momentum(s.world);
    double mass = tb_bodies(s.world)[body.index].mass;
    stage_run(&s, 10);
    tbVec3 fall = tb_madd3(before, 10 * s.step.dt * mass, s.world->gravity);
    CHECK_NEAR(tb_distance3(tb_world_momentum(s.world), fall), 0, 1e-12 * mass);
    stage_close(&s);
  }
}

// Plain descent, as published, of light nodes under a heavy ball: contacts that close and open in turn feed a
// cycle, and grew beyond 10³ m/s within one step. Steps of descent are shortened there.
TEST(plain_descent_does_not_run_away_from_light_nodes)
{
  static const char* const settings[] = {"scheme.relaxation=0.5", "cloth.cloth.stretch=1e4",
                                         "cloth.cloth.shear=1e4"};
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_load_with(&ctx, TB_SOURCE_FOLDER "/papers/macklin/cloth.json", settings, 3, &s));
  if (!s.world) return;
  tbBodyId ball = tb_world_find_body(s.world, "ball");
  double most = 0;
  for (int i = 0; i < 21; i++) {
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, NULL));
    most = fmax(most, tb_norm3(tb_body_state(s.world, ball).velocity));
  }
  CHECK(most < 10);
  tb_scene_free(&ctx, &s);
}
