// SPDX-License-Identifier: Apache-2.0
// Joints that sit in the material of reduced bodies.
#include "kind/beams.h"
#include "kind/reduced.h"

#include "tribo/change.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static Stage open_stage(tbVec3 gravity, double dt)
{
  Stage s = stage_open_with(gravity, tb_friction(0.5), 0);
  s.step.scheme = "implicit", s.step.dt = dt, s.step.solver.velocity_tolerance = 1e-10;
  return s;
}

static tbJointId add_joint(Stage* s, tbJointType type, tbBodyId a, tbBodyId b, tbVec3 anchor, tbVec3 axis)
{
  tbJointDef def = tb_default_joint_def(type);
  tbJointId id = {-1, 0};
  def.a = a, def.b = b, def.anchor = anchor, def.axis = axis;
  CHECK_OK(&s->ctx, tb_world_add_joint(&s->ctx, s->world, &def, &id));
  return id;
}

// How often per second a swing passes its middle on the way up, from the first time to the last.
static double frequency_of(const double* x, int n, double dt, double middle)
{
  double first = 0, last = 0;
  int count = 0;
  for (int i = 1; i < n; i++) {
    if (!(x[i - 1] < middle && x[i] >= middle)) continue;
    last = dt * (i - (x[i] - middle) / (x[i] - x[i - 1]));
    first = count++ ? first : last;
  }
  return count > 1 ? (count - 1) / (last - first) : 0;
}

// A stiff beam at a hinge or a ball swings as a rigid one of its mass and inertia: f = √(m g d/I)/2π.
TEST(a_reduced_beam_swings_about_a_joint_as_a_compound_pendulum)
{
  enum { STEPS = 800 };
  static const tbJointType types[] = {TB_JOINT_HINGE, TB_JOINT_BALL};
  for (int k = 0; k < 2; k++) {
    double dt = 4e-3, x[STEPS];
    Stage s = open_stage(tb_vec3(0, 0, -9.81), dt);
    tbBodyId beam = add_beam(&s, tb_vec3(0.1, 0.1, 1), 1, 1, 10, reduced_def(10, 1e9)), world = {-1, 0};
    const tbBody* b = &tb_bodies(s.world)[0];
    add_joint(&s, types[k], k ? world : beam, k ? beam : world, tb_vec3(0, 0, 0.5), tb_vec3(0, 1, 0));
    double I = b->inertia.m[1][1] + b->mass * 0.25, w = 0.1, amplitude = 0;
    tbBodyState state = tb_body_state(s.world, beam);
    state.velocity = tb_vec3(0.5 * -w, 0, 0), state.angular_velocity = tb_vec3(0, w, 0);
    CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, beam, &state));
    for (int i = 0; i < STEPS; i++) {
      stage_run(&s, 1);
      CHECK(s.report.outcome == TB_CONVERGED);
      x[i] = b->x.x, amplitude = fmax(amplitude, fabs(x[i]));
    }
    double f = sqrt(b->mass * 9.81 * 0.5 / I) / (2 * PI);
    CHECK_NEAR(frequency_of(x, STEPS, dt, 0), f, 2e-3 * f);
    CHECK_NEAR(amplitude, 0.5 * w / (2 * PI * f), 0.03 * amplitude);
    stage_close(&s);
  }
}

// Welded to the world at its end, a beam of free modes swings as one of pinned nodes. Free modes have no
// bending moment at their ends, which the weld asks for: with few of them it is too stiff.
LONG_TEST(a_welded_reduced_beam_is_a_cantilever)
{
  enum { STEPS = 600 };
  double f[2], dt = 1e-3, x[STEPS], deepest[2] = {0};
  for (int welded = 0; welded < 2; welded++) {
    Stage s = open_stage(tb_vec3(0, 0, -1), dt);
    tbDeformableDef def = reduced_def(welded ? 40 : 20, 2e8);
    int held[4], n = 0;
    tbPinDef pin = tb_default_pin_def();
    for (int i = 0; i < 44; i += 11) held[n++] = i;
    pin.nodes = held, pin.node_count = n;
    if (!welded) def.pins = &pin, def.pin_count = 1;
    tbBodyId beam = add_beam(&s, tb_vec3(1, 0.1, 0.1), 10, 1, 1, def);
    if (welded) add_joint(&s, TB_JOINT_WELD, (tbBodyId){-1, 0}, beam, tb_vec3(-0.5, 0, 0), tb_vec3(0, 0, 1));
    const tbBody* b = &tb_bodies(s.world)[0];
    double z = b->x.z, mean = 0;
    for (int i = 0; i < STEPS; i++) {
      stage_run(&s, 1);
      x[i] = b->x.z - z, mean += x[i] / STEPS, deepest[welded] = fmax(deepest[welded], -x[i]);
    }
    f[welded] = frequency_of(x, STEPS, dt, mean);
    stage_close(&s);
  }
  CHECK(f[0] > 0);
  CHECK_NEAR(f[1], f[0], 0.06 * f[0]);
  CHECK_NEAR(deepest[1], deepest[0], 0.15 * deepest[0]);
}

// At rest, the joint carries what hangs on it, and its moment.
TEST(a_weld_carries_the_weight_of_a_reduced_beam)
{
  Stage s = open_stage(tb_vec3(0, 0, -9.81), 5e-3);
  tbDeformableDef def = reduced_def(8, 1e8);
  def.soft.stiffness_damping = 0.02, def.soft.mass_damping = 20;
  tbBodyId beam = add_beam(&s, tb_vec3(1, 0.1, 0.1), 10, 1, 1, def);
  tbJointId weld =
      add_joint(&s, TB_JOINT_WELD, (tbBodyId){-1, 0}, beam, tb_vec3(-0.5, 0, 0), tb_vec3(0, 0, 1));
  stage_run(&s, 400);
  tbJointState at = tb_joint_state(s.world, weld);
  const tbBody* b = &tb_bodies(s.world)[0];
  double weight = b->mass * 9.81, arm = b->x.x + 0.5;
  CHECK(tb_distance3(at.force, tb_vec3(0, 0, weight)) < 1e-4 * weight);
  CHECK(tb_distance3(at.torque, tb_vec3(0, -arm * weight, 0)) < 1e-3 * weight);
  CHECK(b->x.z < -1e-4); // it bends
  stage_close(&s);
}

static tbVec3 angular_momentum(const Stage* s)
{
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < 2; i++) {
    const tbBody* b = &tb_bodies(s->world)[i];
    sum = tb_add3(sum, b->kind->angular_momentum(b));
  }
  return sum;
}

// A box at the end of a soft beam: nothing else acts on them.
TEST(joints_of_reduced_bodies_keep_momenta)
{
  static const tbJointType types[] = {TB_JOINT_BALL, TB_JOINT_HINGE, TB_JOINT_SLIDER, TB_JOINT_WELD,
                                      TB_JOINT_DISTANCE};
  for (int k = 0; k < 5; k++) {
    Stage s = open_stage(tb_zero3(), 2e-3);
    tbDeformableDef def = reduced_def(8, 1e6);
    def.velocity = tb_vec3(0, 0.3, 0.1), def.orientation = tb_quat(0.9, 0.1, -0.2, 0.3);
    def.basis = k % 2 ? TB_BASIS_DERIVATIVES : TB_BASIS_LINEAR;
    tbBodyId beam = add_beam(&s, tb_vec3(1, 0.1, 0.1), 8, 1, 1, def);
    tbVec3 end = tb_bodies(s.world)[0].x;
    end = tb_add3(end, tb_quat_rotate(tb_bodies(s.world)[0].q, tb_vec3(0.55, 0.02, 0.01))); // beyond the end
    tbBodyId box = stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 2, tb_add3(end, tb_vec3(0.1, 0, 0)),
                             tb_quat_identity());
    tb_bodies(s.world)[1].w = tb_vec3(0.5, 1, 2);
    add_joint(&s, types[k], k % 2 ? beam : box, k % 2 ? box : beam, end, tb_vec3(0, 1, 1));
    tbVec3 L = angular_momentum(&s), P = tb_world_momentum(s.world);
    stage_run(&s, 300);
    CHECK(tb_distance3(tb_world_momentum(s.world), P) < 1e-10);
    CHECK(tb_distance3(angular_momentum(&s), L) < 1e-6 * tb_norm3(L));
    tbJointPlace at = tb_joint_placed(s.world, NULL, &tb_joints(s.world)[0]);
    double apart = tb_norm3(at.apart);
    if (types[k] == TB_JOINT_DISTANCE) apart -= tb_joints(s.world)[0].length;
    if (types[k] == TB_JOINT_SLIDER) apart = 0;
    CHECK(fabs(apart) < 1e-3);
    stage_close(&s);
  }
}

// A motor of any force turns what it holds at its speed, and the state says so.
TEST(a_motor_turns_a_reduced_body)
{
  Stage s = open_stage(tb_zero3(), 2e-3);
  tbBodyId beam = add_beam(&s, tb_vec3(1, 0.1, 0.1), 8, 1, 1, reduced_def(8, 1e9));
  tbJointDef def = tb_default_joint_def(TB_JOINT_HINGE);
  tbJointId hinge;
  def.b = beam, def.motor = true, def.motor_speed = 2, def.motor_force = INFINITY;
  CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &def, &hinge));
  stage_run(&s, 200);
  CHECK_NEAR(tb_joint_state(s.world, hinge).speed, 2, 1e-3);
  CHECK_NEAR(tb_joint_state(s.world, hinge).coordinate, 0.8, 5e-3);
  CHECK_NEAR(tb_bodies(s.world)[0].w.z, 2, 0.01);
  def.effort = 1, def.motor = false;
  CHECK(tb_world_add_joint(&s.ctx, s.world, &def, NULL) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "effort") != NULL);
  stage_close(&s);
}

// A chain of three, the middle one a beam: saved half way and loaded, it goes on to the same bits.
TEST(joints_of_reduced_bodies_go_through_checkpoints)
{
  const char* path = "reduced_joint_checkpoint.tmp";
  Stage s = open_stage(tb_vec3(0, 0, -9.81), 5e-3);
  tbDeformableDef def = reduced_def(6, 1e6);
  tbBodyId beam = add_beam(&s, tb_vec3(1, 0.1, 0.1), 6, 1, 1, def);
  tbBodyId box =
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 2, tb_vec3(0.62, 0, 0), tb_quat_identity());
  add_joint(&s, TB_JOINT_BALL, (tbBodyId){-1, 0}, beam, tb_vec3(-0.5, 0, 0), tb_vec3(0, 0, 1));
  add_joint(&s, TB_JOINT_WELD, beam, box, tb_vec3(0.52, 0, 0), tb_vec3(0, 0, 1));
  stage_run(&s, 20);
  tbScene saved = {.world = s.world, .step = s.step, .threads = 1}, loaded;
  CHECK_OK(&s.ctx, tb_checkpoint_save(&s.ctx, path, &saved));
  CHECK_OK(&s.ctx, tb_checkpoint_load(&s.ctx, path, &loaded));
  stage_run(&s, 20);
  for (int i = 0; i < 20; i++) CHECK_OK(&s.ctx, tb_world_step(&s.ctx, loaded.world, &s.step, NULL));
  CHECK(tb_world_hash(loaded.world) == tb_world_hash(s.world));
  remove(path);
  tb_scene_free(&s.ctx, &loaded);
  stage_close(&s);
}
