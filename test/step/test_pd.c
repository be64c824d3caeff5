// SPDX-License-Identifier: Apache-2.0
// The scheme pd: what it publishes, what it reports, what its iterations come to.
#include "step/soft_worlds.h"
#include "known/worlds.h"
#include "test.h"
#include "tribo/io.h"

#include <stdlib.h>
#include <string.h>

// A cloth falls on a ball, at a step with everything in contact.
static Stage draped(int iterations, bool accelerated, int steps)
{
  Stage s = stage_open(0.3, 0);
  s.step.scheme = "pd", s.step.dt = 5e-3;
  stage_floor(&s, 0, 0);
  stage_fixed(&s, tb_shape_sphere(0.2), tb_vec3(0, 0, 0.2), tb_quat_identity());
  tbMesh* mesh = NULL;
  tbDeformableDef def = tb_default_deformable_def();
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.6, 0.6, 12, 12, &mesh));
  def.sheet = mesh, def.position = tb_vec3(0.02, 0.01, 0.41);
  def.cloth.stiffness_damping = 2e-3, def.cloth.air_damping = 0.05;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
  tb_mesh_free(&s.ctx, mesh);
  stage_run(&s, steps);
  s.step.iterations = iterations, s.step.accelerated = accelerated;
  return s;
}

LONG_TEST(what_pd_reports_is_what_the_judge_says_of_what_it_publishes)
{
  Stage s = draped(10, true, 40);
  tbProblem* p = NULL;
  CHECK_OK(&s.ctx, tb_world_problem(&s.ctx, s.world, &s.step, &p, NULL));
  stage_run(&s, 1);
  REQUIRE(p != NULL && p->ncontact == s.report.contacts && p->ncontact > 20);
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  for (int k = 0; k < p->ncontact; k++) {
    tbContactView c = tb_world_contact(s.world, k);
    memcpy(lambda + p->row_adr[k], c.impulse, (size_t)c.rows * sizeof *lambda);
  }
  tbResidual r;
  tbJudge* judge = NULL;
  CHECK_OK(&s.ctx, tb_judge_create(&s.ctx, p, &judge));
  tb_judge_measure(judge, lambda, TB_MODEL_CONE, 0, &r, NULL, NULL);
  tb_judge_free(&s.ctx, judge);
  CHECK(r.fclib > 1e-6); // ten iterations do not solve it
  CHECK_NEAR(r.fclib / s.report.residual.fclib, 1, 1e-6);
  CHECK(s.report.residual.velocity >= r.velocity * (1 - 1e-6)); // measured by masses, it is never too small
  CHECK(s.report.outcome == TB_MAX_ITERATIONS && strcmp(s.report.used, "pd") == 0);
  free(lambda);
  tb_problem_free(p);
  stage_close(&s);
}

// The paper's figure 6: the error falls, and does not explode; momentum makes it fall faster.
LONG_TEST(more_iterations_come_closer_and_momentum_needs_fewer)
{
  double error[2][3];
  for (int fast = 0; fast < 2; fast++)
    for (int k = 0; k < 3; k++) {
      static const int iterations[] = {5, 20, 1000};
      Stage s = draped(iterations[k], fast, 42);
      s.step.rounds = 1;
      stage_run(&s, 1);
      error[fast][k] = s.report.residual.velocity;
      if (fast && k == 2) CHECK(s.report.residual.velocity < s.step.solver.velocity_tolerance);
      CHECK(s.report.iterations <= iterations[k]);
      stage_close(&s);
    }
  for (int fast = 0; fast < 2; fast++)
    if (!(error[fast][1] < error[fast][0] && error[fast][2] < 0.3 * error[fast][1]))
      test_failed(__FILE__, __LINE__, "momentum %d: errors %g, %g, %g m/s", fast, error[fast][0],
                  error[fast][1], error[fast][2]);
  if (!(error[1][1] < 0.7 * error[0][1] && error[1][2] < 0.1 * error[0][2]))
    test_failed(__FILE__, __LINE__, "with momentum %g, %g m/s, without %g, %g", error[1][1], error[1][2],
                error[0][1], error[0][2]);
}

// A fine cloth over round shapes, which it touches as what they are and not as triangles: fixed, and lifting
// it. It stays outside of them by half its thickness, is pushed along their normals and carries its weight
// there.
LONG_TEST(fine_cloth_lies_on_round_shapes_as_on_what_they_are)
{
  enum { NODES = 11 * 11 };
  for (int k = 0; k < 4; k++) {
    bool capsule = k % 2, lifted = k / 2;
    Stage s = stage_open(0.3, 0);
    s.step.scheme = "pd", s.step.dt = 4e-3, s.step.iterations = 60;
    tbShape shape = capsule ? tb_shape_capsule(0.5, 1) : tb_shape_sphere(0.5);
    tbQuat q = tb_quat_exp(tb_vec3(1.5707963267948966, 0, 0)); // the capsule lies along y
    tbBodyDef round = tb_default_body_def();
    round.kind = lifted ? TB_BODY_KINEMATIC : TB_BODY_FIXED;
    round.shapes = &shape, round.shape_count = 1, round.orientation = q;
    if (lifted) round.velocity = tb_vec3(0, 0, 0.2);
    tbBodyId under;
    CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &round, &under));
    tbMesh* mesh = NULL;
    tbDeformableDef def = tb_default_deformable_def();
    CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.2, 0.2, 10, 10, &mesh));
    def.sheet = mesh, def.position = tb_vec3(0, 0, 0.504), def.cloth.thickness = 4e-3;
    def.cloth.stiffness_damping = 0.02;
    tbBodyId cloth;
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &cloth));
    tb_mesh_free(&s.ctx, mesh);
    stage_run(&s, 40);
    tbVec3 at = stage_state(&s, under).position;
    const tbVec3* x = tb_body_nodes(s.world, cloth);
    REQUIRE(tb_body_node_count(s.world, cloth) == NODES);
    double lowest = INFINITY, carried = 0;
    for (int i = 0; i < NODES; i++) {
      tbVec3 d = tb_sub3(x[i], at);
      if (capsule) d.y = 0;
      lowest = fmin(lowest, tb_norm3(d) - 0.5);
    }
    CHECK_NEAR(lowest, 2e-3, 5e-4);
    CHECK(s.report.contacts > 20);
    for (int i = 0; i < tb_world_contact_count(s.world); i++) {
      tbContactView c = tb_world_contact(s.world, i);
      tbVec3 d = tb_sub3(c.position, at);
      if (capsule) d.y = 0;
      CHECK_NEAR(fabs(tb_dot3(c.normal, tb_normalize3(d))), 1, 1e-6);
      carried += c.impulse[0] * fabs(c.normal.z);
    }
    double weight = 0.2 * 0.2 * 0.2 * 9.81 * s.step.dt; // 0.2 kg/m²
    if (!(fabs(carried / weight - 1) < 0.1))
      test_failed(__FILE__, __LINE__, "case %d: %g of the weight is carried", k, carried / weight);
    stage_close(&s);
  }
}

// A heap of soft, rigid, attached and driven bodies: a solver finishes what has rigid bodies in it.
LONG_TEST(pd_moves_worlds_of_all_kinds)
{
  Stage s = stage_open(0.5, 0);
  CHECK_OK(&s.ctx, soft_heap(&s.ctx, s.world));
  s.step.scheme = "pd", s.step.solver.tolerance = 1e-4;
  for (int i = 0; i < 40; i++) {
    stage_run(&s, 1);
    for (int b = 0; b < tb_world_body_count(s.world); b++) {
      tbVec3 v = tb_body_state(s.world, tb_world_body_at(s.world, b)).velocity;
      if (!(tb_norm3(v) < 20))
        test_failed(__FILE__, __LINE__, "step %d: body %d has %g m/s", i, b, tb_norm3(v));
    }
  }
  stage_close(&s);
}

// A sheet held at its corners, and another that flies into it, edge first.
static Stage struck(void)
{
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "pd", s.step.dt = 5e-3;
  for (int k = 0; k < 2; k++) {
    static const int corners[] = {0, 8, 72, 80};
    tbMesh* mesh = NULL;
    tbDeformableDef def = tb_default_deformable_def();
    tbPinDef pin = tb_default_pin_def();
    pin.nodes = corners, pin.node_count = 4;
    CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, k ? 0.3 : 0.6, k ? 0.3 : 0.6, k ? 4 : 8, k ? 4 : 8, &mesh));
    def.sheet = mesh;
    if (k == 0) def.pins = &pin, def.pin_count = 1;
    if (k == 1) {
      def.position = tb_vec3(0.02, 0.01, 0.2), def.velocity = tb_vec3(0, 0, -6);
      def.orientation = tb_quat_exp(tb_vec3(1.2, 0.3, 0));
    }
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
    tb_mesh_free(&s.ctx, mesh);
  }
  return s;
}

TEST(certified_steps_end_without_crossings)
{
  int64_t crossed[2] = {0};
  double slowest = INFINITY;
  for (int certified = 0; certified < 2; certified++) {
    Stage s = struck();
    s.step.certified = certified;
    for (int i = 0; i < 30; i++) {
      stage_run(&s, 1);
      crossed[certified] += s.report.intersections;
      if (certified) slowest = fmin(slowest, 1 - s.report.trimmed);
    }
    stage_close(&s);
  }
  if (crossed[0] == 0 || crossed[1] > 0)
    test_failed(__FILE__, __LINE__, "%d pairs cross, %d in certified steps", (int)crossed[0],
                (int)crossed[1]);
  CHECK(slowest > 0.01);
}

// A sheet of default thickness falls over a shape, turned, whose edges it bends around; or a box, free to
// move, onto a sheet that is held all around.
static Stage cornered(tbShape shape, bool moves)
{
  Stage s = stage_open(0.4, 0);
  s.step.scheme = "pd", s.step.dt = 4e-3;
  tbQuat turned = tb_quat_exp(tb_vec3(0, 0, 0.3));
  enum { CELLS = 10, SIDE = CELLS + 1 };
  int rim[SIDE * SIDE], count = 0;
  for (int i = 0; i < SIDE * SIDE; i++) {
    int x = i % SIDE, y = i / SIDE;
    if (x == 0 || y == 0 || x == CELLS || y == CELLS) rim[count++] = i;
  }
  tbMesh* mesh = NULL;
  tbDeformableDef def = tb_default_deformable_def();
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = rim, pin.node_count = count;
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.8, 0.8, CELLS, CELLS, &mesh));
  def.sheet = mesh, def.cloth.stiffness_damping = 0.01;
  if (moves) {
    def.pins = &pin, def.pin_count = 1;
    stage_add(&s, shape, 0.3, tb_vec3(0, 0, 0.1), turned);
  } else {
    def.position = tb_vec3(0.03, 0.02, 0.3);
    stage_fixed(&s, shape, tb_zero3(), turned);
  }
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
  tb_mesh_free(&s.ctx, mesh);
  return s;
}

// Where surfaces have edges and corners, what meets on the way is found without being asked for.
TEST(cloth_does_not_pass_through_corners)
{
  const tbShape shapes[] = {tb_shape_box(tb_vec3(0.3, 0.3, 0.3)), tb_shape_sphere(0.2),
                            tb_shape_cylinder(0.15, 0.3), tb_shape_box(tb_vec3(0.15, 0.12, 0.1))};
  for (int k = 0; k < 4; k++) {
    Stage s = cornered(shapes[k], k == 3);
    int64_t crossed = 0, contacts = 0;
    for (int i = 0; i < 80; i++) {
      stage_run(&s, 1);
      crossed += s.report.intersections, contacts += s.report.contacts;
    }
    if (crossed > 0 || contacts < 100)
      test_failed(__FILE__, __LINE__, "shape %d: %d pairs cross, %d contacts", k, (int)crossed,
                  (int)contacts);
    stage_close(&s);
  }
}

// A box that turns in the air, driven, through a stiff sheet that falls onto it: a single iteration is too
// little for contacts between them, and rounds after the first have more.
TEST(certified_steps_end_without_crossings_with_a_single_iteration)
{
  Stage s = stage_open(0.5, 0);
  s.step.scheme = "pd", s.step.dt = 1.0 / 60, s.step.iterations = 1, s.step.certified = true;
  tbShape box = tb_shape_box(tb_vec3(0.2, 0.2, 0.3));
  tbBodyDef driven = tb_default_body_def();
  driven.kind = TB_BODY_KINEMATIC, driven.shapes = &box, driven.shape_count = 1;
  driven.velocity = tb_vec3(-0.2, 0, 2), driven.angular_velocity = tb_vec3(-7, -2, -1);
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &driven, NULL));
  tbMesh* mesh = NULL;
  tbDeformableDef def = tb_default_deformable_def();
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.6, 0.6, 8, 8, &mesh));
  def.sheet = mesh, def.position = tb_vec3(0.03, 0.02, 0.3);
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
  tb_mesh_free(&s.ctx, mesh);
  int64_t crossed = 0, contacts = 0;
  for (int i = 0; i < 15; i++) {
    stage_run(&s, 1);
    crossed += s.report.intersections, contacts += s.report.contacts;
  }
  if (crossed > 0 || contacts < 50)
    test_failed(__FILE__, __LINE__, "%d pairs cross, %d contacts", (int)crossed, (int)contacts);
  stage_close(&s);
}

// Thick sheets that land on each other are pressed together in more places than contacts are kept for; those
// about to land have some all the same, and what meets beyond them does not pass.
TEST(thick_sheets_land_on_each_other_without_crossing)
{
  Stage s = stage_open(0.3, 0);
  s.step.scheme = "pd", s.step.dt = 0.01, s.step.certified = true;
  stage_fixed(&s, tb_shape_box(tb_vec3(2, 2, 0.2)), tb_vec3(0, 0, -0.1), tb_quat_identity());
  tbMesh* mesh = NULL;
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.4, 0.4, 8, 8, &mesh));
  for (int i = 0; i < 4; i++) {
    tbDeformableDef def = tb_default_deformable_def();
    def.sheet = mesh, def.cloth.thickness = 5e-3, def.cloth.area_density = 0.3;
    def.position = tb_vec3(0.01 * i, 0.007 * i, 3.7e-3 + 6.2e-3 * i);
    def.orientation = tb_quat_exp(tb_vec3(0, 0, 0.2 * i));
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
  }
  tb_mesh_free(&s.ctx, mesh);
  int64_t crossed = 0;
  for (int i = 0; i < 12; i++) {
    stage_run(&s, 1);
    crossed += s.report.intersections;
  }
  if (crossed > 0) test_failed(__FILE__, __LINE__, "%d pairs cross", (int)crossed);
  stage_close(&s);
}

// Few iterations leave contacts open; with `polish` a solver closes them, and steps stay free of crossings.
TEST(polished_steps_meet_the_tolerance)
{
  int missed[2] = {0};
  int64_t crossed = 0;
  for (int polish = 0; polish < 2; polish++) {
    Stage s = draped(5, true, 0);
    s.step.certified = true, s.step.polish = polish;
    s.step.solver.tolerance = 0, s.step.solver.velocity_tolerance = 1e-5;
    for (int i = 0; i < 30; i++) {
      stage_run(&s, 1);
      missed[polish] += s.report.outcome != TB_CONVERGED;
      if (!polish) continue;
      CHECK(s.report.residual.velocity <= 1e-5);
      crossed += s.report.intersections;
    }
    stage_close(&s);
  }
  if (missed[0] < 15 || missed[1] > 0 || crossed > 0)
    test_failed(__FILE__, __LINE__, "%d steps missed, %d polished ones, %d pairs cross", missed[0], missed[1],
                (int)crossed);
}

// However thick, a sheet keeps no more from itself than its cells allow.
TEST(sheets_of_any_thickness_move)
{
  static const double thickness[] = {0, 1e-300, 1, 1e30, 1e308};
  for (int i = 0; i < 5; i++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = "pd";
    tbMesh* mesh = NULL;
    tbDeformableDef def = tb_default_deformable_def();
    CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.5, 0.5, 3, 3, &mesh));
    def.sheet = mesh, def.cloth.thickness = thickness[i];
    tbBodyId id;
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
    tb_mesh_free(&s.ctx, mesh);
    stage_run(&s, 3);
    CHECK_NEAR(stage_state(&s, id).velocity.z, -0.03 * 9.81, 1e-9);
    stage_close(&s);
  }
}

// A sheet wraps around a ball that strikes it: faces turn into the ball beside the place where they are
// closest. None of it is stopped, which would take momentum.
LONG_TEST(a_sheet_that_wraps_around_a_ball_takes_no_momentum)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.scheme = "pd", s.step.dt = 2e-3;
  tbBodyId ball = stage_add(&s, tb_shape_sphere(0.1), 0.48, tb_vec3(0.03, 0.05, 0.11), tb_quat_identity());
  stage_push(&s, ball, tb_vec3(0, 0.2, -3), tb_vec3(5, -3, 2));
  tbMesh* mesh = NULL;
  tbDeformableDef def = tb_default_deformable_def();
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.5, 0.5, 8, 8, &mesh));
  def.sheet = mesh, def.cloth.area_density = 0.3, def.cloth.stretch = 300, def.cloth.shear = 100;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, NULL));
  tb_mesh_free(&s.ctx, mesh);
  tbVec3 before = tb_world_momentum(s.world);
  double trimmed = 0;
  for (int k = 0; k < 100; k++) {
    stage_run(&s, 1);
    trimmed = fmax(trimmed, s.report.trimmed);
    CHECK(s.report.intersections == 0);
  }
  double lost = tb_norm3(tb_sub3(tb_world_momentum(s.world), before));
  if (!(trimmed == 0 && lost < 1e-10 * tb_norm3(before)))
    test_failed(__FILE__, __LINE__, "%g of a step was not gone, %g N s are lost", trimmed, lost);
  stage_close(&s);
}
