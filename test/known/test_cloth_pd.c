// SPDX-License-Identifier: Apache-2.0
// Cloth by projective dynamics against closed forms (Ly et al. 2020, section 5.2).
#include "known/worlds.h"
#include "test.h"

static const double g = 9.81;

static Stage pd_stage(double mu, int iterations)
{
  Stage s = stage_open(mu, 0);
  s.step.scheme = "pd";
  s.step.iterations = iterations;
  s.step.dt = 5e-3;
  return s;
}

static tbBodyId add_sheet(Stage* s, tbDeformableDef def, double size, int cells)
{
  tbMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_cloth_grid(&s->ctx, size, size, cells, cells, &mesh));
  def.sheet = mesh;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_mesh_free(&s->ctx, mesh);
  return id;
}

// A sheet parallel to a slope, so high above it, thrown along it.
static tbBodyId sheet_over_slope(Stage* s, double slope, double heading, double height, double speed)
{
  stage_floor(s, slope, heading);
  tbDeformableDef def = tb_default_deformable_def();
  def.orientation = stage_turn(slope, heading);
  def.position = tb_scale3(height, stage_normal(slope, heading));
  def.velocity = tb_scale3(speed, stage_down(slope, heading));
  return add_sheet(s, def, 0.5, 6);
}

// All nodes move alike, so that elasticity has no part in it: one iteration is all it takes.
LONG_TEST(a_sheet_falls_onto_a_slope_and_slides_as_the_closed_form_says)
{
  static const double slope[] = {0.2, 0.5, 0.9}, mu[] = {0, 0.1, 0.2}, heading[] = {0, 0.7, 2.5};
  for (int i = 0; i < 9; i++) {
    double a = slope[i % 3], f = mu[i / 3], way = heading[(i + i / 3) % 3];
    if (f >= tan(a)) continue;
    Stage s = pd_stage(f, 1);
    tbBodyId id = sheet_over_slope(&s, a, way, 0.01, 0);
    stage_run(&s, 40); // it has landed
    tbVec3 down = stage_down(a, way), normal = stage_normal(a, way);
    double v0 = tb_dot3(stage_state(&s, id).velocity, down);
    for (int k = 0; k < 20; k++) {
      stage_run(&s, 1);
      if (!(s.report.residual.velocity < 1e-12))
        test_failed(__FILE__, __LINE__, "μ %g, slope %g: error %g m/s after one iteration", f, a,
                    s.report.residual.velocity);
    }
    double gained = tb_dot3(stage_state(&s, id).velocity, down) - v0;
    double expected = 20 * s.step.dt * g * (sin(a) - f * cos(a));
    if (!(fabs(gained / expected - 1) < 1e-9))
      test_failed(__FILE__, __LINE__, "μ %g, slope %g: gained %.12g m/s, not %.12g", f, a, gained, expected);
    CHECK(fabs(tb_dot3(stage_state(&s, id).velocity, normal)) < 1e-12);
    CHECK(s.unconverged == 0 && s.report.contacts > 0);
    stage_close(&s);
  }
}

LONG_TEST(a_sheet_thrown_over_a_table_stops_where_friction_says)
{
  static const double mu[] = {0.2, 0.6}, speed[] = {2, 1.5};
  for (int i = 0; i < 2; i++) {
    Stage s = pd_stage(mu[i], 5);
    s.step.dt = 1e-3;
    tbBodyId id = sheet_over_slope(&s, 0, 0, 6e-4, speed[i]);
    tbVec3 from = stage_state(&s, id).position, along = stage_down(0, 0);
    stage_run_for(&s, 1.2 * speed[i] / (mu[i] * g));
    double way = tb_dot3(tb_sub3(stage_state(&s, id).position, from), along);
    double expected = 0.5 * speed[i] * speed[i] / (mu[i] * g);
    if (!(fabs(way / expected - 1) < 5e-3))
      test_failed(__FILE__, __LINE__, "μ %g: stopped after %g m, not %g", mu[i], way, expected);
    CHECK(tb_norm3(stage_state(&s, id).velocity) < 1e-12);
    stage_close(&s);
  }
}

LONG_TEST(a_sheet_holds_without_creep_above_the_angle_of_friction)
{
  static const int iterations[] = {5, 20};
  for (int i = 0; i < 2; i++) {
    double slope = 0.4;
    Stage s = pd_stage(1.01 * tan(slope), iterations[i]);
    tbBodyId id = sheet_over_slope(&s, slope, 0.3, 6e-4, 0);
    stage_run(&s, 20);
    tbVec3 from = stage_state(&s, id).position;
    stage_run(&s, 200);
    double crept = tb_norm3(tb_sub3(stage_state(&s, id).position, from));
    if (!(crept < 1e-12)) test_failed(__FILE__, __LINE__, "%d iterations: crept %g m", iterations[i], crept);
    stage_close(&s);
  }
}

TEST(a_sheet_in_free_flight_keeps_its_momentum)
{
  Stage s = pd_stage(0.5, 10);
  tbDeformableDef def = tb_default_deformable_def();
  def.velocity = tb_vec3(1, -2, 3), def.angular_velocity = tb_vec3(3, 1, 0);
  def.cloth.stiffness_damping = 0.01;
  tbBodyId id = add_sheet(&s, def, 0.5, 6);
  double mass = tb_body_mass(s.world, id);
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

// Implicit Euler adds Δv at the end of the way: Σ m (x + h v⁺) × Δv = 0 takes h² ω² of the angular momentum
// of what turns in each step, however many iterations there are. One iteration adds little to that.
TEST(a_turning_sheet_loses_what_implicit_euler_does)
{
  static const int iterations[] = {1, 5, 50};
  const double h = 0.005, turning = 4;
  for (int i = 0; i < 3; i++) {
    Stage s = pd_stage(0.5, iterations[i]);
    s.step.dt = h;
    tbDeformableDef def = tb_default_deformable_def();
    def.angular_velocity = tb_vec3(0, 0, turning);
    add_sheet(&s, def, 0.5, 6);
    double before = tb_norm3(tb_world_angular_momentum(s.world)), kept = 1;
    for (int k = 0; k < 40; k++) kept *= 1 - h * h * turning * turning;
    stage_run(&s, 40);
    double now = tb_norm3(tb_world_angular_momentum(s.world)) / before;
    if (!(fabs(now - kept) < 0.05 * (1 - kept)))
      test_failed(__FILE__, __LINE__, "%d iterations: %g of the angular momentum is left, not %g",
                  iterations[i], now, kept);
    stage_close(&s);
  }
}

// How far the lower end of a strip of six cells, hung by the upper, has come down on average.
static double hang(const char* scheme, tbClothDef cloth, int steps)
{
  Stage s = pd_stage(0.5, 60);
  s.step.scheme = scheme;
  s.step.dt = 0.01;
  tbDeformableDef def = tb_default_deformable_def();
  def.cloth = cloth;
  def.orientation = tb_quat(sqrt(0.5), 0, sqrt(0.5), 0); // x to −z
  int pinned[7];
  for (int i = 0; i < 7; i++) pinned[i] = 7 * i;
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = pinned, pin.node_count = 7;
  def.pins = &pin, def.pin_count = 1;
  tbBodyId id = add_sheet(&s, def, 0.5, 6);
  stage_run(&s, steps);
  const tbVec3* x = tb_body_nodes(s.world, id);
  double low = 0;
  for (int i = 0; i < 7; i++) low -= x[7 * i + 6].z / 7;
  stage_close(&s);
  return low - 0.25;
}

// A strip hung by one end stretches by m g L/(2 k W) under its own weight.
LONG_TEST(a_hanging_sheet_stretches_by_its_weight)
{
  tbClothDef cloth = tb_cloth_def();
  cloth.area_density = 0.5, cloth.stretch = 50, cloth.shear = 20, cloth.stiffness_damping = 0.05;
  double stretched = hang("pd", cloth, 400), expected = 0.5 * 0.5 * g * 0.5 * 0.5 / 50; // ½ ρ g L²/k
  if (!(fabs(stretched / expected - 1) < 0.05))
    test_failed(__FILE__, __LINE__, "stretched by %g m, not %g", stretched, expected);
}

// A thread that bears N is longer by N/k up to the limit s, and by (N + κ s)/(k + κ) beyond it. Each row of
// cells bears what hangs below its middle.
LONG_TEST(a_hanging_sheet_stretches_to_its_limit_of_strain)
{
  static const char* const schemes[] = {"pd", "implicit"};
  static const double limits[][2] = {{0.1, 0}, {0.2, 500}, {0.3, 2000}};
  for (int i = 0; i < 6; i++) {
    tbClothDef cloth = tb_cloth_def();
    cloth.area_density = 5, cloth.stretch = 50, cloth.shear = 20, cloth.stiffness_damping = 0.05;
    cloth.strain_limit = limits[i / 2][0], cloth.limit_stiffness = limits[i / 2][1];
    double k = cloth.stretch, limit = cloth.strain_limit, expected = 0, cell = 0.5 / 6;
    double hard = cloth.limit_stiffness > 0 ? cloth.limit_stiffness : 100 * k;
    for (int row = 0; row < 6; row++) {
      double bears = cloth.area_density * g * (row + 0.5) * cell;
      expected += cell * (bears < k * limit ? bears / k : (bears + hard * limit) / (k + hard));
    }
    double stretched = hang(schemes[i % 2], cloth, 300);
    if (!(fabs(stretched / expected - 1) < 0.01))
      test_failed(__FILE__, __LINE__, "%s, limit %g: stretched by %g m, not %g", schemes[i % 2], limit,
                  stretched, expected);
  }
}

// A bar of tetrahedra hung by its top stretches by ρgL²/2E under its own weight, as the scheme implicit has
// it.
LONG_TEST(a_hanging_bar_stretches_as_the_scheme_implicit_says)
{
  double stretched[2];
  for (int k = 0; k < 2; k++) {
    Stage s = pd_stage(0.5, 200);
    s.step.scheme = k ? "pd" : "implicit", s.step.dt = 0.02;
    tbTetMesh* mesh = NULL;
    int cells[3] = {2, 2, 8}, top[9], count = 0;
    CHECK_OK(&s.ctx, tb_tet_box(&s.ctx, tb_vec3(0.1, 0.1, 0.4), cells, 5, &mesh));
    for (int i = 0; i < tb_tet_mesh_node_count(mesh); i++)
      if (tb_tet_mesh_nodes(mesh)[i].z > 0.199) top[count++] = i;
    tbPinDef pin = tb_default_pin_def();
    pin.nodes = top, pin.node_count = count;
    tbDeformableDef def = tb_default_deformable_def();
    def.solid = mesh, def.pins = &pin, def.pin_count = 1;
    def.soft.young = 5e4, def.soft.poisson = 0.3, def.soft.stiffness_damping = 0.05;
    tbBodyId id;
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
    tb_tet_mesh_free(&s.ctx, mesh);
    stage_run(&s, 100);
    const tbVec3* x = tb_body_nodes(s.world, id);
    double low = 0;
    for (int i = 0; i < tb_body_node_count(s.world, id); i++) low = fmin(low, x[i].z);
    stretched[k] = -low - 0.2;
    stage_close(&s);
  }
  CHECK_NEAR(stretched[0], 0.5 * 1000 * g * 0.4 * 0.4 / 5e4, 2e-3);
  if (!(fabs(stretched[1] / stretched[0] - 1) < 0.05))
    test_failed(__FILE__, __LINE__, "stretched by %g m, under implicit by %g", stretched[1], stretched[0]);
}

// How far the free end of a strip hangs down that is held at the other, after it has come to rest.
static double sag(const char* scheme, tbBending bending, double bend)
{
  Stage s = pd_stage(0.5, 1000);
  s.step.scheme = scheme, s.step.dt = 0.02;
  tbMesh* mesh = NULL;
  int held[6], count = 0;
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 0.2, 0.04, 10, 2, &mesh));
  for (int i = 0; i < 33; i++)
    if (i % 11 < 2) held[count++] = i;
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = held, pin.node_count = count;
  tbDeformableDef def = tb_default_deformable_def();
  def.sheet = mesh, def.pins = &pin, def.pin_count = 1, def.self_contact = false;
  def.cloth.area_density = 0.2, def.cloth.stretch = 1000, def.cloth.shear = 300, def.cloth.bend = bend;
  def.cloth.bending = bending;
  def.cloth.mass_damping = 3, def.cloth.stiffness_damping = 0.02;
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
  tb_mesh_free(&s.ctx, mesh);
  stage_run(&s, 150);
  double out = -tb_body_nodes(s.world, id)[10].z;
  stage_close(&s);
  return out;
}

// By the angle it bends as much as there, by 2 sin(θ/2) nearly as much.
LONG_TEST(a_strip_bends_under_its_weight_as_the_scheme_implicit_says)
{
  static const double within[TB_BENDING_COUNT] = {5e-3, 2e-4};
  double implicit = sag("implicit", TB_BENDING_QUADRATIC, 4e-3);
  for (int k = 0; k < TB_BENDING_COUNT; k++) {
    double soft = sag("pd", (tbBending)k, 1e-4), stiff = sag("pd", (tbBending)k, 4e-3);
    if (!(soft > 2 * stiff && fabs(stiff / implicit - 1) < within[k]))
      test_failed(__FILE__, __LINE__, "%s: sags by %g m, softer by %g; under implicit by %g",
                  tb_bending_name((tbBending)k), stiff, soft, implicit);
  }
}

typedef struct {
  double rest, now, damping; // how it is bent at rest and at the start, rad
  tbBending bending;
} Roof;

static tbBodyId add_roof(Stage* s, Roof roof)
{
  tbVec3 x[4] = {{0, -0.05, 0},
                 {0, 0.06, 0},
                 {-0.1 * cos(roof.rest / 2), 0, -0.1 * sin(roof.rest / 2)},
                 {0.08 * cos(roof.rest / 2), 0.01, -0.08 * sin(roof.rest / 2)}};
  const int t[6] = {0, 1, 2, 1, 0, 3};
  tbMesh* mesh = NULL;
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_mesh_create(&s->ctx, x, 4, t, 2, &mesh));
  tbDeformableDef def = tb_default_deformable_def();
  def.sheet = mesh, def.angular_velocity = tb_vec3(1, 2, 0.5), def.self_contact = false;
  def.cloth.bend = 1e-3, def.cloth.bending = roof.bending, def.cloth.stretch = 500, def.cloth.shear = 200;
  def.cloth.stiffness_damping = roof.damping;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_mesh_free(&s->ctx, mesh);
  x[2] = tb_vec3(-0.1 * cos(roof.now / 2), 0, -0.1 * sin(roof.now / 2));
  x[3] = tb_vec3(0.08 * cos(roof.now / 2), 0.01, -0.08 * sin(roof.now / 2));
  CHECK_OK(&s->ctx, tb_body_set_nodes(&s->ctx, s->world, id, x, tb_body_node_velocities(s->world, id)));
  return id;
}

// Folded nearly flat, or bent the other way, a fold opens by its angle as under implicit, which has the same
// energy and, with Newton's method, the same step; damping is linear there. By 2 sin(θ/2) its torque is less
// by sin θ/θ.
TEST(folds_open_by_their_angle_as_under_implicit)
{
  static const double at[][2] = {{0, 3}, {0, -2.6}, {1.2, -0.8}, {-0.7, 2}};
  for (int i = 0; i < 8; i++) {
    double opened[3], rest = at[i % 4][0], now = at[i % 4][1], damping = i < 4 ? 0 : 1e-3;
    for (int k = 0; k < 3; k++) {
      Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
      s.step.scheme = k == 0 ? "implicit" : "pd", s.step.dt = 2e-3, s.step.newton_steps = 50;
      s.step.iterations = 2000;
      tbBending bending = k == 1 ? TB_BENDING_DIHEDRAL : TB_BENDING_QUADRATIC;
      tbBodyId id = add_roof(&s, (Roof){rest, now, damping, bending});
      double before = tb_distance3(tb_body_nodes(s.world, id)[2], tb_body_nodes(s.world, id)[3]);
      stage_run(&s, 8);
      opened[k] = tb_distance3(tb_body_nodes(s.world, id)[2], tb_body_nodes(s.world, id)[3]) - before;
      stage_close(&s);
    }
    if (!(fabs(opened[1] / opened[0] - 1) < (damping > 0 ? 2e-2 : 1e-5)))
      test_failed(__FILE__, __LINE__, "%g of %g, damping %g: opens by %g m, under implicit by %g", now, rest,
                  damping, opened[1], opened[0]);
    if (rest == 0 && !(opened[2] < 0.5 * opened[1]))
      test_failed(__FILE__, __LINE__, "at %g: quadratic opens by %g m", now, opened[2]);
  }
}

// A roof that is bent at rest keeps its angle in free flight.
TEST(what_is_bent_at_rest_stays_bent)
{
  for (int k = 0; k < TB_BENDING_COUNT; k++) {
    Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
    s.step.scheme = "pd", s.step.dt = 5e-3;
    const tbVec3 x[4] = {{0, -0.05, 0}, {0, 0.05, 0}, {-0.1, 0, -0.05}, {0.1, 0, -0.05}};
    const int t[6] = {0, 1, 2, 1, 0, 3};
    tbMesh* mesh = NULL;
    CHECK_OK(&s.ctx, tb_mesh_create(&s.ctx, x, 4, t, 2, &mesh));
    tbDeformableDef def = tb_default_deformable_def();
    def.sheet = mesh, def.cloth.bend = 1e-2, def.cloth.bending = (tbBending)k,
    def.angular_velocity = tb_vec3(1, 2, 0);
    tbBodyId id;
    CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
    tb_mesh_free(&s.ctx, mesh);
    double before = tb_distance3(x[2], x[3]);
    stage_run(&s, 100);
    const tbVec3* now = tb_body_nodes(s.world, id);
    CHECK_NEAR(tb_distance3(now[2], now[3]) / before, 1, 0.02);
    stage_close(&s);
  }
}
