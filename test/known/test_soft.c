// Deformable bodies in a world against closed forms.
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

static Stage soft_stage(double mu)
{
  Stage s = stage_open(mu, 0);
  s.step.scheme = "implicit";
  return s;
}

static tbBodyId add_soft(Stage* s, tbTetMesh* mesh, tbDeformableDef def)
{
  def.solid = mesh;
  tbBodyId id = {-1};
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

static tbTetMesh* box_mesh(Stage* s, tbVec3 size, int nx, int ny, int nz)
{
  tbTetMesh* mesh = NULL;
  int cells[3] = {nx, ny, nz};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, size, cells, 5, &mesh));
  return mesh;
}

TEST(free_flight_conserves_momentum)
{
  Stage s = soft_stage(0.5);
  s.step.dt = 2e-3;
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.young = 1e5;
  def.position = tb_vec3(0, 0, 10), def.velocity = tb_vec3(3, -1, 2), def.angular_velocity = tb_vec3(4, 1, 7);
  tbBodyId body = add_soft(&s, box_mesh(&s, tb_vec3(0.2, 0.1, 0.3), 2, 2, 3), def);
  double mass = tb_body_mass(s.world, body);
  for (int i = 0; i < 50; i++) {
    tbVec3 before = tb_world_momentum(s.world);
    stage_run(&s, 1);
    tbVec3 gained = tb_sub3(tb_world_momentum(s.world), before);
    gained.z += mass * g * s.step.dt;
    if (!(tb_norm3(gained) < 1e-12 * mass * 5))
      test_failed(__FILE__, __LINE__, "step %d: momentum changed by %g", i, tb_norm3(gained));
  }
  stage_close(&s);
}

// A block on a slope: how far it has slid.
static double slid(double slope, double mu, double seconds)
{
  Stage s = soft_stage(mu);
  s.step.dt = 5e-3;
  stage_floor(&s, slope, 0.4);
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.young = 2e5, def.soft.stiffness_damping = 0.01;
  def.orientation = stage_turn(slope, 0.4);
  def.position = tb_scale3(0.0501, stage_normal(slope, 0.4));
  tbBodyId body = add_soft(&s, box_mesh(&s, tb_vec3(0.3, 0.3, 0.1), 3, 3, 1), def);
  stage_run_for(&s, seconds);
  tbVec3 moved = tb_sub3(stage_state(&s, body).position, def.position);
  CHECK(s.report.intersections == 0);
  if (s.unconverged) test_failed(__FILE__, __LINE__, "%d steps unconverged", s.unconverged);
  double out = tb_dot3(moved, stage_down(slope, 0.4));
  stage_close(&s);
  return out;
}

TEST(soft_block_sticks_and_slides_at_mu)
{
  double slope = 0.4, mu = tan(slope);
  double stays = slid(slope, 1.02 * mu, 1), goes = slid(slope, 0.9 * mu, 1);
  CHECK(fabs(stays) < 1e-2);
  double expected = 0.5 * g * 0.1 * sin(slope);
  if (!(fabs(goes / expected - 1) < 0.05))
    test_failed(__FILE__, __LINE__, "slid %g m, expected %g", goes, expected);
}

TEST(a_soft_ball_dropped_gains_no_energy)
{
  Stage s = soft_stage(0.5);
  s.step.dt = 1e-3;
  stage_floor(&s, 0, 0);
  tbTetMesh* mesh = NULL;
  CHECK_OK(&s.ctx, tb_tet_sphere(&s.ctx, 0.1, 4, &mesh));
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.young = 1e5, def.position = tb_vec3(0, 0, 0.15);
  add_soft(&s, mesh, def);
  double energy = stage_energy(&s), start = energy;
  for (int i = 0; i < 300; i++) {
    stage_run(&s, 1);
    double now = stage_energy(&s);
    if (!(now <= energy + 1e-6 * start))
      test_failed(__FILE__, __LINE__, "step %d: energy went from %.9g to %.9g", i, energy, now);
    energy = now;
    CHECK(s.report.intersections == 0);
  }
  CHECK(energy < start);
  stage_close(&s);
}
