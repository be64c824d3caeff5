// SPDX-License-Identifier: Apache-2.0
// Reduced bodies under every scheme: those that move them agree, the others say so.
#include "kind/beams.h"
#include "kind/reduced.h"

#include "tribo/change.h"
#include "tribo/io.h"

#include <math.h>
#include <string.h>

static bool moves_modes(const tbScheme* s) { return (s->moves & TB_MOVES_MODES) != 0; }

// A block that lies on a slope, with a box of its own on it.
static tbBodyId block_on_slope(Stage* s, double slope, double mu)
{
  *s = stage_open(mu, 0);
  s->step.dt = 5e-3, s->step.solver.velocity_tolerance = 1e-7;
  stage_floor(s, slope, 0);
  tbDeformableDef def = reduced_def(6, 5e6);
  def.soft.stiffness_damping = 5e-3;
  def.orientation = stage_turn(slope, 0), def.position = tb_scale3(0.1001, stage_normal(slope, 0));
  return add_beam(s, tb_vec3(0.4, 0.3, 0.2), 4, 3, 2, def);
}

static double slid(const Stage* s, tbBodyId id, double slope)
{
  return tb_dot3(stage_state(s, id).velocity, stage_down(slope, 0));
}

TEST(schemes_move_reduced_bodies_alike_or_say_that_they_do_not)
{
  const double slope = 0.4, mu = 0.2, seconds = 0.25, g = 9.81;
  int moving = 0;
  for (int k = 0; k < tb_scheme_count(); k++) {
    Stage s;
    tbBodyId id = block_on_slope(&s, slope, mu);
    s.step.scheme = tb_scheme_at(k)->name;
    if (!moves_modes(tb_scheme_at(k))) {
      CHECK(tb_world_step(&s.ctx, s.world, &s.step, &s.report) == TB_ERROR_ARGUMENT);
      CHECK(strstr(s.ctx.error.message, "reduced") && strstr(s.ctx.error.message, "implicit"));
    } else {
      moving++;
      stage_run(&s, (int)lround(seconds / s.step.dt));
      double expected = g * (sin(slope) - mu * cos(slope)) * s.world->time;
      CHECK_NEAR(slid(&s, id, slope) / expected, 1, 0.03);
    }
    stage_close(&s);
  }
  CHECK(moving == 6);
}

// Where a file names no scheme: one that finds contacts until nothing meets.
TEST(files_with_reduced_bodies_are_implicit_unless_they_say)
{
  tbContext ctx = tb_default_context();
  const char* text = "{\"tribo\": 1, \"reduced\": [{\"name\": \"block\", \"modes\": 3, "
                     "\"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}}]}";
  tbScene scene;
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "text", text, strlen(text), NULL, &scene));
  CHECK(strcmp(scene.step.scheme, "implicit") == 0);
  tb_scene_free(&ctx, &scene);
}

TEST(explicit_springs_refuse_reduced_bodies)
{
  Stage s;
  block_on_slope(&s, 0.4, 0.2);
  s.step.scheme = "penalty", s.step.penalty_time = TB_PENALTY_EXPLICIT;
  CHECK(tb_world_step(&s.ctx, s.world, &s.step, &s.report) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "reduced"));
  stage_close(&s);
}

// Above the threshold of friction it stands, whatever the scheme that solves the exact law.
TEST(reduced_blocks_stand_on_slopes_under_exact_schemes)
{
  static const char* const schemes[] = {"semi-implicit", "implicit"};
  for (int k = 0; k < 2; k++) {
    Stage s;
    tbBodyId id = block_on_slope(&s, 0.4, 1.01 * tan(0.4));
    s.step.scheme = schemes[k];
    stage_run(&s, 100);
    CHECK(fabs(slid(&s, id, 0.4)) < 1e-4);
    stage_close(&s);
  }
}

TEST(momenta_of_reduced_bodies_in_flight_stay_under_every_scheme)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    if (!moves_modes(tb_scheme_at(k))) continue;
    Stage s = stage_open_with(tb_vec3(0, 0, -9.81), tb_friction(0.5), 0);
    s.step.scheme = tb_scheme_at(k)->name, s.step.dt = 5e-3;
    tbDeformableDef def = reduced_def(8, 3e4);
    def.velocity = tb_vec3(1, -2, 3), def.angular_velocity = tb_vec3(5, 1, 0.5);
    tbBodyId id = add_beam(&s, tb_vec3(1, 0.3, 0.2), 4, 2, 2, def);
    CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, (double[8]){0.3, -0.2, 0.1}, NULL));
    const tbBody* b = &tb_bodies(s.world)[0];
    tbVec3 p = b->v, l = tb_sub3(b->kind->angular_momentum(b), tb_scale3(b->mass, tb_cross3(b->x, b->v)));
    stage_run(&s, 40);
    tbVec3 own = tb_sub3(b->kind->angular_momentum(b), tb_scale3(b->mass, tb_cross3(b->x, b->v)));
    CHECK(tb_distance3(own, l) < 1e-11 * tb_norm3(l));
    CHECK(tb_distance3(b->v, tb_madd3(p, s.world->time, s.world->gravity)) < 1e-12);
    stage_close(&s);
  }
}

// What a step is cut into are steps; what acts on nodes acts in all of them; a step that fails leaves
// everything as it was.
TEST(substeps_of_reduced_bodies_are_steps)
{
  tbVec3 at[2], v[2];
  double q[2];
  for (int cut = 0; cut < 2; cut++) {
    Stage s;
    tbBodyId id = block_on_slope(&s, 0.4, 0.2);
    s.step.scheme = "primal", s.step.substeps = cut ? 4 : 1, s.step.dt = cut ? 0.02 : 0.005;
    int n = tb_body_node_count(s.world, id);
    tbVec3* force = TB_NEW(&s.ctx, tbVec3, (size_t)n);
    force[n - 1] = tb_vec3(5, 40, 3);
    for (int i = 0; i < (cut ? 3 : 12); i++) {
      CHECK_OK(&s.ctx, tb_body_apply_nodes(&s.ctx, s.world, id, force));
      stage_run(&s, 1);
    }
    at[cut] = stage_state(&s, id).position, v[cut] = stage_state(&s, id).velocity;
    q[cut] = tb_body_modes(s.world, id)[0];
    uint64_t before = tb_world_hash(s.world);
    Countdown soon = {.after = cut ? 6 : 0};
    s.ctx.interrupt = (tbInterrupt){.asked = count_down, .user = &soon};
    CHECK(tb_world_step(&s.ctx, s.world, &s.step, &s.report) == TB_ERROR_CANCELLED);
    CHECK(tb_world_hash(s.world) == before);
    tb_free(&s.ctx, force);
    stage_close(&s);
  }
  CHECK(tb_distance3(at[0], at[1]) < 1e-5 && tb_distance3(v[0], v[1]) < 1e-3);
  CHECK_NEAR(q[0], q[1], 1e-2 * fabs(q[0]));
}

// What meets although no contact was foreseen stops short of it.
TEST(nothing_passes_through_reduced_bodies_under_semi_implicit)
{
  for (int i = 0; i < 4; i++) {
    Stage s = stage_open(0.3, 0);
    stage_floor(&s, 0, 0);
    s.step.scheme = "semi-implicit", s.step.dt = i % 2 ? 0.01 : 0.002;
    tbDeformableDef def = reduced_def(8, 2e5);
    def.position = tb_vec3(0, 0, 0.11);
    add_beam(&s, tb_vec3(0.6, 0.6, 0.2), 4, 4, 2, def);
    tbVec3 velocity = tb_vec3(i < 2 ? 0 : 4, 1, i < 2 ? -30 : -8);
    tbBodyId ball = stage_throw(&s, tb_shape_sphere(0.04), 0.5, tb_vec3(0.05, 0.02, 0.6), velocity);
    for (int k = 0; k < 60; k++) {
      CHECK_OK(&s.ctx, tb_world_step(&s.ctx, s.world, &s.step, &s.report));
      CHECK(s.report.intersections == 0);
    }
    CHECK(stage_state(&s, ball).position.z > 0.03);
    stage_close(&s);
  }
}
