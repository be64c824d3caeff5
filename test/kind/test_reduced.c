// SPDX-License-Identifier: Apache-2.0
// Reduced bodies in a world: free flight, beams against the full mesh, contact with every other kind.
#include "kind/beams.h"
#include "kind/reduced.h"

#include "tribo/change.h"
#include "tribo/io.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static const tbReduced* reduced_of(const Stage* s, tbBodyId id)
{
  return tb_bodies(s->world)[tb_body_place(s->world, id)].own;
}

// A soft body that tumbles and vibrates; nothing touches it.
TEST(a_reduced_body_in_flight_keeps_its_momenta)
{
  for (int derivatives = 0; derivatives < 2; derivatives++) {
    Stage s = stage_open_with(tb_vec3(0, 0, -9.81), tb_friction(0.5), 0);
    s.step.scheme = "implicit", s.step.dt = 5e-3;
    tbDeformableDef def = reduced_def(8, 3e4);
    def.basis = derivatives ? TB_BASIS_DERIVATIVES : TB_BASIS_LINEAR;
    def.velocity = tb_vec3(1, -2, 3), def.angular_velocity = tb_vec3(5, 1, 0.5);
    def.orientation = tb_quat(4, 3, 2, 1);
    tbBodyId id = add_beam(&s, tb_vec3(1, 0.3, 0.2), 6, 2, 2, def);
    double q[8] = {0.3, -0.2, 0.1}, deepest = 0;
    CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, q, NULL));
    const tbBody* b = &tb_bodies(s.world)[0];
    tbVec3 l = b->kind->angular_momentum(b), p = b->v, x = b->x;
    l = tb_sub3(l, tb_scale3(b->mass, tb_cross3(b->x, b->v)));
    double energy = stage_energy(&s), swing = 0;
    for (int i = 0; i < 400; i++) {
      stage_run(&s, 1);
      double t = s.world->time;
      tbVec3 own = tb_sub3(b->kind->angular_momentum(b), tb_scale3(b->mass, tb_cross3(b->x, b->v)));
      CHECK(tb_distance3(own, l) < 1e-11 * tb_norm3(l));
      CHECK(tb_distance3(b->v, tb_madd3(p, t, s.world->gravity)) < 1e-12);
      CHECK(tb_distance3(b->x, tb_madd3(tb_madd3(x, t, p), 0.5 * t * t, s.world->gravity)) < 1e-11);
      swing = fmax(swing, fabs(stage_energy(&s) - energy));
      deepest = fmax(deepest, fabs(tb_body_modes(s.world, id)[0]));
    }
    CHECK(deepest > 0.1);
    CHECK(swing < 0.05 * tb_world_energy(s.world).kinetic);
    stage_close(&s);
  }
}

// Turning faster than its slowest mode swings, where linear modes have no equilibrium: momenta stay, and
// energy does not grow, in steps of up to a quarter of a turn.
TEST(a_reduced_body_that_spins_faster_than_it_swings_gains_nothing)
{
  static const double spin[] = {30, 200}, dt[] = {1e-3, 1e-2, 5e-2};
  for (int i = 0; i < 2 * 3 * 2; i++) {
    if (spin[i / 6] * dt[i / 2 % 3] > 2) continue;
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
    s.step.scheme = "implicit", s.step.dt = dt[i / 2 % 3];
    tbDeformableDef def = reduced_def(8, 1e5);
    def.basis = i % 2 ? TB_BASIS_DERIVATIVES : TB_BASIS_LINEAR;
    def.angular_velocity = tb_scale3(spin[i / 6], tb_normalize3(tb_vec3(1, 0.3, 0.2)));
    tbBodyId id = add_beam(&s, tb_vec3(1, 0.3, 0.2), 4, 2, 2, def);
    CHECK(pow(spin[i / 6], 2) > reduced_of(&s, id)->basis->omega2[0]);
    tbVec3 l = tb_world_angular_momentum(s.world);
    double energy = stage_energy(&s);
    for (int k = 0; k < 60; k++) {
      stage_run(&s, 1);
      CHECK(tb_distance3(tb_world_angular_momentum(s.world), l) < 1e-9 * tb_norm3(l));
      CHECK(stage_energy(&s) <= energy * 1.1);
    }
    stage_close(&s);
  }
}

// Bodies that tumble and vibrate at random keep their energy, whatever turns in them: Coriolis' and the
// centrifugal force of velocities half a step old would feed it by (hω)² a step.
TEST(tumbling_reduced_bodies_keep_their_energy)
{
  tbRandom random = test_random(5);
  for (int k = 0; k < 10; k++) {
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
    s.step.scheme = k % 2 ? "semi-implicit" : "implicit", s.step.dt = test_uniform(&random, 3e-3, 9e-3);
    tbDeformableDef def = reduced_def(6 + 2 * k, pow(10, test_uniform(&random, 4.9, 6)));
    def.basis = k % 3 ? TB_BASIS_LINEAR : TB_BASIS_DERIVATIVES;
    def.angular_velocity = tb_vec3(test_uniform(&random, -10, 10), test_uniform(&random, -10, 10), 8);
    tbBodyId id = add_beam(&s, tb_vec3(test_uniform(&random, 0.6, 1.5), 0.3, 0.2), 4, 2, 2, def);
    double q[24] = {0}, qd[24] = {0};
    for (int i = 0; i < def.modes; i++) qd[i] = test_uniform(&random, -1, 1);
    CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, q, qd));
    double energy = stage_energy(&s), most = 0;
    for (int i = 0; i < 300; i++) {
      stage_run(&s, 1);
      most = fmax(most, stage_energy(&s));
    }
    CHECK(most < 1.03 * energy);
    stage_close(&s);
  }
}

// Nor does a frame that is led around, below the beam's lowest frequency, set going what swings in it.
TEST(a_reduced_beam_on_a_turning_hub_swings_no_wider)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.scheme = "implicit", s.step.dt = 5e-3;
  tbDeformableDef def = reduced_def(6, 4e6);
  int held[9];
  tbPinDef pin = tb_default_pin_def();
  for (int i = 0; i < 9; i++) held[i] = 5 * i; // the face at −x
  pin.nodes = held, pin.node_count = 9, pin.angular_velocity = tb_vec3(0, 0, 12), def.pins = &pin;
  def.pin_count = 1;
  tbBodyId id = add_beam(&s, tb_vec3(0.8, 0.1, 0.1), 4, 2, 2, def);
  CHECK(reduced_of(&s, id)->basis->omega2[0] > 2 * 12 * 12);
  CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, (double[6]){0.05, 0.03}, (double[6]){0}));
  double widest[2] = {0};
  for (int i = 0; i < 1200; i++) {
    stage_run(&s, 1);
    for (int k = 0; k < 6; k++) widest[i / 600] = fmax(widest[i / 600], fabs(tb_body_modes(s.world, id)[k]));
  }
  CHECK(widest[1] < 1.05 * widest[0]);
  stage_close(&s);
}

// Spinning steadily, a bar is longer by ρω²L²/12E of its length.
LONG_TEST(a_spinning_reduced_bar_stretches_as_theory_says)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.scheme = "implicit", s.step.dt = 2e-3;
  tbDeformableDef def = reduced_def(60, 4e6);
  def.soft.poisson = 0, def.soft.stiffness_damping = 0.01, def.angular_velocity = tb_vec3(0, 0, 10);
  tbBodyId id = add_beam(&s, tb_vec3(1, 0.1, 0.1), 12, 1, 1, def);
  tbVec3 l = tb_world_angular_momentum(s.world);
  stage_run(&s, 400);
  const tbVec3* x = tb_body_nodes(s.world, id);
  double length = 0;
  for (int i = 0; i < 4; i++) length += tb_distance3(x[13 * i], x[13 * i + 12]) / 4;
  CHECK_NEAR((length - 1) / (1000 * 100 / (12 * 4e6)), 1, 0.03);
  CHECK(tb_distance3(tb_world_angular_momentum(s.world), l) < 1e-11 * tb_norm3(l));
  stage_close(&s);
}

// The lowest the tip gets, and when.
static void swing(int modes, tbReducedBasis basis, tbElasticModel model, double young, double* depth,
                  double* when)
{
  Stage s = soft_stage(0.5, test_quick() ? 2e-3 : 1e-3);
  tbDeformableDef def = reduced_def(modes, young);
  def.soft.model = model, def.basis = basis;
  int held[9];
  tbPinDef pin = tb_default_pin_def();
  for (int i = 0; i < 9; i++) held[i] = 13 * i; // the face at −x
  pin.nodes = held, pin.node_count = 9, def.pins = &pin, def.pin_count = 1;
  tbBodyId id = add_beam(&s, tb_vec3(1, 0.1, 0.1), 12, 2, 2, def);
  CHECK(tb_body_nodes(s.world, id)[26].x < -0.49);
  *depth = 0;
  for (int i = 0; i < 700; i++) {
    stage_run(&s, 1);
    double z = tb_body_nodes(s.world, id)[12].z + 0.05;
    if (z < *depth) *depth = z, *when = s.world->time;
    if (z > 0.9 * *depth && *depth < -0.05) break;
  }
  stage_close(&s);
}

LONG_TEST(a_cantilever_of_twenty_modes_swings_as_the_full_mesh)
{
  double depth[2], when[2];
  swing(0, TB_BASIS_LINEAR, TB_ELASTIC_LINEAR, 2e6, &depth[0], &when[0]);
  swing(20, TB_BASIS_LINEAR, TB_ELASTIC_LINEAR, 2e6, &depth[1], &when[1]);
  CHECK(depth[0] < -0.05);
  CHECK_NEAR(depth[1] / depth[0], 1, 0.05);
  CHECK_NEAR(when[1] / when[0], 1, 0.05);
}

// Bending by 0.6 of its length, where linear modes are half as long again.
LONG_TEST(modal_derivatives_follow_the_full_mesh_into_large_bending)
{
  double depth[3], when[3];
  swing(0, TB_BASIS_LINEAR, TB_ELASTIC_STVK, 4e5, &depth[0], &when[0]);
  swing(20, TB_BASIS_DERIVATIVES, TB_ELASTIC_STVK, 4e5, &depth[1], &when[1]);
  swing(20, TB_BASIS_LINEAR, TB_ELASTIC_LINEAR, 4e5, &depth[2], &when[2]);
  CHECK(depth[0] < -0.5);
  CHECK_NEAR(depth[1] / depth[0], 1, 0.10);
  CHECK_NEAR(when[1] / when[0], 1, 0.10);
  CHECK(fabs(depth[2] / depth[0] - 1) > 0.15);
}

TEST(a_reduced_block_slides_down_an_incline_by_its_friction_alone)
{
  const char* const solvers[] = {"auto", "prox-newton", "newton-ac"};
  for (int i = 0; i < 3; i++)
    for (int slides = 0; slides < 2; slides++) {
      double slope = 0.4, mu = tan(slope) * (slides ? 0.99 : 1.01);
      Stage s = soft_stage(mu, 0.01);
      s.step.solver.solver = solvers[i], s.step.solver.velocity_tolerance = 1e-8, s.step.solver.tolerance = 0;
      stage_floor(&s, slope, 0.3);
      tbDeformableDef def = reduced_def(6, 1e7);
      def.soft.stiffness_damping = 0.01;
      def.orientation = stage_turn(slope, 0.3);
      def.position = tb_scale3(0.0501, stage_normal(slope, 0.3));
      tbBodyId id = add_beam(&s, tb_vec3(0.4, 0.4, 0.1), 2, 2, 1, def);
      stage_run(&s, 20);
      tbVec3 v = stage_state(&s, id).velocity;
      stage_run(&s, 20);
      double gain = tb_dot3(tb_sub3(stage_state(&s, id).velocity, v), stage_down(slope, 0.3));
      double theory = 9.81 * (sin(slope) - mu * cos(slope)) * 0.2;
      if (slides) CHECK_NEAR(gain / theory, 1, 1e-3);
      else CHECK(tb_norm3(stage_state(&s, id).velocity) < 1e-6);
      stage_close(&s);
    }
}

// In one problem, and nothing passes through anything.
LONG_TEST(reduced_bodies_meet_rigid_soft_cloth_and_each_other)
{
  Stage s = soft_stage(0.4, 0.01);
  stage_floor(&s, 0, 0);
  tbDeformableDef def = reduced_def(10, 3e5);
  def.soft.stiffness_damping = 0.01, def.position = tb_vec3(0, 0, 0.06);
  add_beam(&s, tb_vec3(0.6, 0.6, 0.1), 4, 4, 1, def);
  add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, soft_at(3e5, tb_vec3(-0.1, 0, 0.25), tb_zero3()));
  stage_add(&s, tb_shape_box(tb_vec3(0.15, 0.15, 0.15)), 2, tb_vec3(0.15, 0.1, 0.25), tb_quat_identity());
  add_cloth(&s, 0.8, 6, soft_at(0, tb_vec3(0, 0, 0.6), tb_zero3()));
  def.position = tb_vec3(0.02, 0.03, 0.8), def.orientation = tb_quat(0.95, 0.2, 0.1, 0);
  tbBodyId top = add_beam(&s, tb_vec3(0.3, 0.2, 0.1), 3, 2, 1, def);
  for (int i = 0; i < (test_quick() ? 20 : 60); i++) {
    stage_run(&s, 1);
    CHECK(s.report.intersections == 0);
  }
  CHECK(s.unconverged == 0);
  double z = stage_state(&s, top).position.z;
  CHECK(z > 0.2 && z < (test_quick() ? 0.8 : 0.7));
  stage_close(&s);
}

TEST(reduced_bodies_do_not_tunnel)
{
  Stage s = soft_stage(0.4, 0.01);
  stage_fixed(&s, tb_shape_box(tb_vec3(1, 1, 0.02)), tb_zero3(), tb_quat_identity());
  tbDeformableDef def = reduced_def(6, 1e6);
  def.soft.stiffness_damping = 0.01, def.position = tb_vec3(0, 0, 0.5), def.velocity = tb_vec3(0, 0, -50);
  def.orientation = tb_quat(0.9, 0.1, 0.3, 0.2);
  tbBodyId id = add_beam(&s, tb_vec3(0.2, 0.1, 0.1), 2, 1, 1, def);
  for (int i = 0; i < 20; i++) {
    stage_run(&s, 1);
    CHECK(s.report.intersections == 0);
  }
  CHECK(stage_state(&s, id).position.z > 0);
  stage_close(&s);
}

// Pins in prescribed motion carry the frame along, and what is inside it lags behind and follows.
TEST(a_reduced_body_follows_its_pins)
{
  tbVec3 tip[2];
  for (int modes = 0; modes < 2; modes++) {
    Stage s = soft_stage(0.5, 2e-3);
    tbDeformableDef def = reduced_def(modes ? 30 : 0, 2e7);
    def.soft.model = modes ? TB_ELASTIC_LINEAR : TB_ELASTIC_COROTATED, def.soft.stiffness_damping = 0.01;
    int held[4] = {0, 7, 14, 21};
    const tbMotionKey keys[] = {{0, {0, 0, 0}, {1, 0, 0, 0}}, {0.5, {0, 0.5, 0}, {cos(0.5), 0, 0, sin(0.5)}}};
    tbPinDef pin = tb_default_pin_def();
    pin.nodes = held, pin.node_count = 4, pin.keys = keys, pin.key_count = 2;
    def.pins = &pin, def.pin_count = 1;
    tbBodyId id = add_beam(&s, tb_vec3(0.6, 0.1, 0.1), 6, 1, 1, def);
    stage_run(&s, 400);
    const tbVec3* x = tb_body_nodes(s.world, id);
    for (int i = 0; i < 4; i++) {
      tbVec3 rest = tb_vec3(-0.3, i % 2 ? 0.05 : -0.05, i / 2 ? 0.05 : -0.05);
      CHECK(tb_distance3(x[held[i]], tb_transform_point(tb_transform(keys[1].orientation, keys[1].position),
                                                        rest)) < 1e-9);
    }
    tip[modes] = x[6];
    stage_close(&s);
  }
  CHECK(tb_distance3(tip[0], tip[1]) < 0.002);
}

TEST(what_a_reduced_body_cannot_be_is_refused)
{
  Stage s = soft_stage(0.5, 0.01);
  tbTetMesh* mesh;
  tbMesh* sheet;
  CHECK_OK(&s.ctx, tb_tet_box(&s.ctx, tb_vec3(1, 1, 1), (int[3]){1, 1, 1}, 5, &mesh));
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 1, 1, 1, 1, &sheet));
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 1, tb_vec3(3, 0, 0), tb_quat_identity());
  tbDeformableDef def = reduced_def(4, 1e6), bad = def;
  def.solid = mesh;
  bad = def, bad.modes = 19; // of 24 − 6
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "19 modes of a body that has 18"));
  bad = def, bad.modes = 38, bad.basis = TB_BASIS_DERIVATIVES;
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "38 modes, half of them derivatives, of a body that has 18"));
  bad = def, bad.soft.model = TB_ELASTIC_NEO_HOOKEAN;
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  bad = def, bad.solid = NULL, bad.sheet = sheet;
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  int node = 1;
  tbPinDef pin[2] = {tb_default_pin_def(), tb_default_pin_def()};
  pin[0].nodes = pin[1].nodes = &node, pin[0].node_count = pin[1].node_count = 1;
  bad = def, bad.pins = pin, bad.pin_count = 1, pin[0].body = ball;
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  pin[0].body = tb_default_pin_def().body, pin[1].velocity.x = 1, bad.pin_count = 2;
  CHECK(tb_world_add_deformable(&s.ctx, s.world, &bad, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_body_count(s.world) == 1);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
  CHECK(tb_body_pin(&s.ctx, s.world, id, &pin[0]) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_unpin(&s.ctx, s.world, id, &node, 1) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_mode_count(s.world, id) == 4 && tb_body_mode_count(s.world, ball) == 0);
  CHECK(tb_body_set_modes(&s.ctx, s.world, ball, (double[4]){0}, NULL) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_set_modes(&s.ctx, s.world, id, (double[4]){NAN}, NULL) == TB_ERROR_ARGUMENT);
  s.step.scheme = "pd";
  CHECK(tb_world_step(&s.ctx, s.world, &s.step, &s.report) == TB_ERROR_ARGUMENT);
  tb_tet_mesh_free(&s.ctx, mesh);
  tb_mesh_free(&s.ctx, sheet);
  stage_close(&s);
}

// Nodes put anywhere that frame and modes can reach are there afterwards, and as fast.
TEST(set_nodes_finds_the_frame_and_the_modes)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  tbBodyId id = add_beam(&s, tb_vec3(1, 0.4, 0.3), 3, 2, 1, reduced_def(6, 1e5));
  tbBodyState state = {tb_vec3(1, 2, 3), tb_quat_normalize(tb_quat(1, 2, -1, 0.5)), tb_vec3(0.3, 0.2, 0.1),
                       tb_vec3(1, -1, 2)};
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.world, id, &state));
  double q[6] = {0.2, -0.1, 0.1, 0.05, 0, 0.03}, qd[6] = {1, 0, -0.5, 0.2, 0.1, 0};
  CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, q, qd));
  int n = tb_body_node_count(s.world, id);
  tbVec3 x[24], v[24];
  REQUIRE(n <= 24);
  memcpy(x, tb_body_nodes(s.world, id), (size_t)n * sizeof *x);
  memcpy(v, tb_body_node_velocities(s.world, id), (size_t)n * sizeof *v);
  CHECK_OK(&s.ctx, tb_body_set_modes(&s.ctx, s.world, id, (double[6]){0}, NULL));
  for (int i = 0; i < 30; i++) CHECK_OK(&s.ctx, tb_body_set_nodes(&s.ctx, s.world, id, x, v));
  const tbVec3 *at = tb_body_nodes(s.world, id), *speed = tb_body_node_velocities(s.world, id);
  for (int i = 0; i < n; i++) CHECK(tb_distance3(at[i], x[i]) < 1e-2 && tb_distance3(speed[i], v[i]) < 0.15);
  stage_close(&s);
}

TEST(reduced_bodies_are_pulled_and_pushed)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.scheme = "implicit";
  tbBodyId id = add_beam(&s, tb_vec3(1, 0.2, 0.2), 4, 1, 1, reduced_def(5, 1e6));
  int n = tb_body_node_count(s.world, id);
  tbVec3 force[40] = {{0, 0, 0}};
  REQUIRE(n <= 40);
  force[3] = tb_vec3(0, 0, 7);
  CHECK_OK(&s.ctx, tb_body_apply_nodes(&s.ctx, s.world, id, force));
  stage_run(&s, 1);
  const tbReduced* d = reduced_of(&s, id);
  CHECK_NEAR(d->now.v.z, 7 * 0.01 / d->basis->moments.mass, 1e-15);
  CHECK(fabs(d->now.w.y) > 1e-4 && fabs(d->now.qd[0]) + fabs(d->now.qd[1]) > 1e-6);
  stage_close(&s);
}

// Copies of a body have one basis, which goes with the last of them; others have their own.
TEST(copies_of_a_reduced_body_share_their_basis)
{
  Stage s = soft_stage(0.5, 0.01);
  tbDeformableDef def = reduced_def(4, 1e6);
  tbBodyId id[3];
  for (int i = 0; i < 3; i++) {
    def.position = tb_vec3(2.0 * i, 0, 0.2), def.soft.young = i < 2 ? 1e6 : 2e6;
    id[i] = add_beam(&s, tb_vec3(1, 0.2, 0.2), 3, 1, 1, def);
  }
  const tbModalBasis* basis = reduced_of(&s, id[0])->basis;
  CHECK(reduced_of(&s, id[1])->basis == basis && basis->users == 2);
  CHECK(reduced_of(&s, id[2])->basis != basis && reduced_of(&s, id[2])->basis->users == 1);
  tbScene scene = {.world = s.world, .step = s.step, .threads = 1}, loaded;
  tbOut bytes = tb_out_memory(&s.ctx);
  CHECK_OK(&s.ctx, tb_checkpoint_print(&s.ctx, &bytes, &scene));
  CHECK_OK(&s.ctx, tb_checkpoint_parse(&s.ctx, "checkpoint", bytes.bytes, bytes.length, &loaded));
  CHECK(((const tbReduced*)tb_bodies(loaded.world)[1].own)->basis->users == 2);
  tb_out_free(&bytes);
  CHECK_OK(&s.ctx, tb_world_remove_body(&s.ctx, s.world, id[0]));
  CHECK(reduced_of(&s, id[1])->basis == basis && basis->users == 1);
  stage_run(&s, 5);
  tb_scene_free(&s.ctx, &loaded);
  stage_close(&s);
}
