// SPDX-License-Identifier: Apache-2.0
#include "known/worlds.h"

#include "test.h"

const char* const exact_solvers[] = {"bgs",       "nncg",      "prox-gs", "newton-min", "newton-fb",
                                     "newton-ac", "staggered", "apgd",    "auto"};

Stage stage_open_with(tbVec3 gravity, tbFriction friction, double restitution)
{
  Stage s = {.ctx = tb_default_context(), .step = tb_default_step_options()};
  tbWorldDef def = tb_default_world_def();
  def.gravity = gravity;
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.world));
  tbMaterialId plain = {0, 0};
  CHECK_OK(&s.ctx, tb_world_set_pair(&s.ctx, s.world, plain, plain, friction, restitution));
  s.step.certify = 1;
  return s;
}

int exact_stride(void) { return test_quick() ? 4 : 1; }

Stage stage_open(double mu, double restitution)
{
  return stage_open_with(tb_vec3(0, 0, -9.81), tb_friction(mu), restitution);
}

void stage_close(Stage* s) { tb_world_free(&s->ctx, s->world); }

tbVec3 stage_normal(double slope, double heading)
{
  return tb_vec3(sin(slope) * cos(heading), sin(slope) * sin(heading), cos(slope));
}

tbVec3 stage_down(double slope, double heading)
{
  return tb_vec3(cos(slope) * cos(heading), cos(slope) * sin(heading), -sin(slope));
}

tbQuat stage_turn(double slope, double heading)
{
  tbVec3 n = stage_normal(slope, heading), d = stage_down(slope, heading);
  return tb_quat_from_mat3(tb_mat3_cols(d, tb_cross3(n, d), n));
}

tbBodyId stage_fixed(Stage* s, tbShape shape, tbVec3 position, tbQuat orientation)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_FIXED, def.shapes = &shape, def.shape_count = 1;
  def.position = position, def.orientation = orientation;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

tbBodyId stage_floor(Stage* s, double slope, double heading)
{
  return stage_fixed(s, tb_shape_plane(stage_normal(slope, heading), 0), tb_zero3(), tb_quat_identity());
}

tbBodyId stage_add(Stage* s, tbShape shape, double mass, tbVec3 position, tbQuat orientation)
{
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.mass = mass;
  def.position = position, def.orientation = orientation;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

tbBodyId stage_throw(Stage* s, tbShape shape, double mass, tbVec3 position, tbVec3 velocity)
{
  tbBodyId id = stage_add(s, shape, mass, position, tb_quat_identity());
  stage_push(s, id, velocity, tb_zero3());
  return id;
}

tbBodyId stage_shoot(Stage* s, tbShape shape, tbVec3 x, tbVec3 v, tbVec3 w, bool bullet)
{
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.position = x, def.velocity = v, def.angular_velocity = w;
  def.bullet = bullet;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

void stage_push(Stage* s, tbBodyId body, tbVec3 velocity, tbVec3 angular_velocity)
{
  tbBodyState state = tb_body_state(s->world, body);
  state.velocity = velocity, state.angular_velocity = angular_velocity;
  CHECK_OK(&s->ctx, tb_body_set_state(&s->ctx, s->world, body, &state));
}

tbBodyState stage_state(const Stage* s, tbBodyId body) { return tb_body_state(s->world, body); }

void stage_run(Stage* s, int steps)
{
  for (int i = 0; i < steps; i++) {
    if (tb_world_step(&s->ctx, s->world, &s->step, &s->report) != TB_OK) {
      test_failed(__FILE__, __LINE__, "step %d: %s", i, s->ctx.error.message);
      return;
    }
    s->unconverged += s->report.outcome != TB_CONVERGED;
    s->worst = fmax(s->worst, s->report.residual.fclib);
  }
}

void stage_run_for(Stage* s, double seconds) { stage_run(s, (int)floor(seconds / s->step.dt + 0.5)); }

double stage_energy(const Stage* s)
{
  tbEnergy e = tb_world_energy(s->world);
  return e.kinetic + e.potential + e.elastic;
}
