// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a world against closed forms.
#include "fem/tets.h"
#include "known/worlds.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

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
  tbBodyId id = {-1, 0};
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

LONG_TEST(soft_block_sticks_and_slides_at_mu)
{
  double slope = 0.4, mu = tan(slope);
  double stays = slid(slope, 1.02 * mu, 1), goes = slid(slope, 0.9 * mu, 1);
  CHECK(fabs(stays) < 1e-2);
  double expected = 0.5 * g * 0.1 * sin(slope);
  if (!(fabs(goes / expected - 1) < 0.05))
    test_failed(__FILE__, __LINE__, "slid %g m, expected %g", goes, expected);
}

LONG_TEST(a_soft_ball_dropped_gains_no_energy)
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
  for (int i = 0; i < (test_quick() ? 130 : 300); i++) {
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

// A ribbon over a fixed cylinder, a weight on either end: how much heavier one may be than the other before
// it slides, found by pulling slowly.
typedef struct {
  Stage s;
  tbBodyId heavy, light;
} Capstan;

enum { ACROSS = 1, ARC = 20, DOWN = 6 };

static tbMesh* ribbon(tbContext* ctx, double radius, double width, double down)
{
  enum { ROWS = ARC + 2 * DOWN + 1, COLUMNS = ACROSS + 1 };
  tbVec3 at[ROWS * COLUMNS];
  int triangle[(ROWS - 1) * ACROSS * 2][3], n = 0;
  for (int i = 0; i < ROWS; i++) {
    double x, z, along = i < DOWN ? (double)(DOWN - i) / DOWN * down : 0;
    if (i >= DOWN + ARC) along = (double)(i - DOWN - ARC) / DOWN * down;
    double angle = PI * (1 - fmin(fmax((double)(i - DOWN) / ARC, 0), 1));
    x = radius * cos(angle), z = radius * sin(angle) - along;
    for (int k = 0; k < COLUMNS; k++) at[i * COLUMNS + k] = tb_vec3(x, width * ((double)k / ACROSS - 0.5), z);
  }
  for (int i = 0; i + 1 < ROWS; i++)
    for (int k = 0; k < ACROSS; k++) {
      int a = i * COLUMNS + k, b = a + 1, c = a + COLUMNS, d = c + 1;
      triangle[n][0] = a, triangle[n][1] = b, triangle[n++][2] = c;
      triangle[n][0] = b, triangle[n][1] = d, triangle[n++][2] = c;
    }
  tbMesh* mesh = NULL;
  CHECK_OK(ctx, tb_mesh_create(ctx, at, ROWS * COLUMNS, &triangle[0][0], n, &mesh));
  return mesh;
}

static Capstan capstan(double mu)
{
  double radius = 0.1, width = 0.02, down = 0.06;
  Capstan c = {.s = soft_stage(mu)};
  Stage* s = &c.s;
  s->step.dt = 5e-3;
  stage_fixed(s, tb_shape_cylinder(radius, 0.1), tb_zero3(), tb_quat_exp(tb_vec3(PI / 2, 0, 0)));
  tbMesh* mesh = ribbon(&s->ctx, radius + 8e-4, width, down);
  tbShape weight = tb_shape_box(tb_vec3(0.02, 0.02, 0.02));
  tbVec3 end = tb_vec3(radius + 8e-4, 0, -down - 0.01);
  c.heavy = stage_add(s, weight, 0.1, end, tb_quat_identity());
  end.x = -end.x;
  c.light = stage_add(s, weight, 0.1, end, tb_quat_identity());
  tbDeformableDef def = tb_default_deformable_def();
  int last = (ARC + 2 * DOWN + 1) * (ACROSS + 1);
  int nodes[2][2] = {{last - 2, last - 1}, {0, 1}};
  tbPinDef pin[2] = {tb_default_pin_def(), tb_default_pin_def()};
  for (int k = 0; k < 2; k++)
    pin[k].nodes = nodes[k], pin[k].node_count = 2, pin[k].body = k ? c.light : c.heavy;
  def.sheet = mesh, def.pins = pin, def.pin_count = 2;
  def.cloth.area_density = 0.01, def.cloth.stretch = 2e3, def.cloth.shear = 5e2, def.cloth.bend = 1e-6;
  def.cloth.thickness = 5e-4, def.cloth.warp = tb_vec3(1, 0, 0.1), def.cloth.stiffness_damping = 2e-3;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, NULL));
  tb_mesh_free(&s->ctx, mesh);
  return c;
}

LONG_TEST(cloth_over_a_cylinder_holds_e_to_the_mu_theta)
{
  double mu = 0.3, weight = 0.1 * g, limit = exp(mu * PI);
  Capstan c = capstan(mu);
  double slid_at = 0, start = stage_state(&c.s, c.light).position.z;
  int rest = test_quick() ? 6 : 30, fast = rest + (test_quick() ? 3 : 60), end = test_quick() ? 12 : 240;
  for (int i = 0; i < end && slid_at == 0; i++) { // quickly to 0.95 of the limit, slowly to 1.05
    double share = 1 / limit;
    if (i >= rest) share += (0.95 - 1 / limit) * (i - rest) / (fast - rest);
    if (i >= fast) share = 0.95 + 0.1 * (i - fast) / (end - fast);
    double pull = share * limit * weight - weight;
    tb_body_apply(&c.s.ctx, c.s.world, c.heavy, tb_vec3(0, 0, -pull), tb_zero3());
    stage_run(&c.s, 1);
    if (i == 20) c.s.unconverged = 0; // it has landed
    if (i > fast && stage_state(&c.s, c.light).velocity.z > 0.002) slid_at = (pull + weight) / weight;
  }
  double rose = stage_state(&c.s, c.light).position.z - start;
  if (!(fabs(slid_at / limit - 1) < 0.02) && !test_quick())
    test_failed(__FILE__, __LINE__, "slid at %g of the weight, expected %g; rose %g m", slid_at, limit, rose);
  CHECK(c.s.unconverged == 0 || test_quick()); // which ends before it has landed
  stage_close(&c.s);
}

// Hertz, with Tatara's correction for a sphere between two plates: what the far load adds to the depth. By
// symmetry half a sphere will do, whose equator slides on a plate.

// A node of the ball drawn towards its lower pole and its surface, where elements should be small.
static tbVec3 drawn(tbVec3 x, double radius)
{
  double r = tb_norm3(x), flat = hypot(x.x, x.y), share = atan2(flat, -x.z) / (PI / 2);
  double angle = share * (0.6 + 0.4 * share * share) * PI / 2;
  r *= 1 + 0.3 * (1 - r / radius);
  if (!(flat > 0)) return tb_vec3(0, 0, -r);
  return tb_vec3(r * sin(angle) * x.x / flat, r * sin(angle) * x.y / flat, -r * cos(angle));
}

static tbTetMesh* half_ball(tbContext* ctx, double radius, int cells)
{
  tbTetMesh *whole = NULL, *half = NULL;
  CHECK_OK(ctx, tb_tet_sphere(ctx, radius, cells, &whole));
  int* name = calloc((size_t)whole->nnode, sizeof *name);
  int nnode = 0, ntet = 0;
  for (int i = 0; i < whole->nnode; i++) {
    bool below = whole->node[i].z < 1e-9;
    name[i] = below ? nnode : -1;
    if (below) whole->node[nnode++] = drawn(whole->node[i], radius);
  }
  for (int t = 0; t < whole->ntet; t++) {
    int corner[4], kept = 0;
    for (int k = 0; k < 4; k++) corner[k] = name[whole->tet[t][k]], kept += corner[k] >= 0;
    if (kept == 4) memcpy(whole->tet[ntet++], corner, sizeof corner);
  }
  CHECK_OK(ctx, tb_tet_mesh_create(ctx, whole->node, nnode, (const int(*)[4])whole->tet, ntet, &half));
  free(name);
  tb_tet_mesh_free(ctx, whole);
  return half;
}

static double hertz(double young, double poisson, double radius, double depth)
{
  double a = sqrt(radius * depth), force = 0;
  for (int i = 0; i < 50; i++) { // the radius a of the contact
    force = 4.0 / 3 * young / (1 - poisson * poisson) * a * a * a / radius;
    double far = a * a + 4 * radius * radius,
           f = 2 * (1 + poisson) * radius * radius / pow(far, 1.5) + (1 - poisson * poisson) / sqrt(far);
    a = sqrt(radius * (depth + force * f / (PI * young)));
  }
  return force;
}

// Pressed further and further; the force is right all the way, and on the whole better than at every depth,
// where the area that touches grows by whole triangles.
LONG_TEST(a_pressed_sphere_pushes_back_as_hertz_says)
{
  double radius = 0.1, depth = 6e-3, young = 1e6, poisson = 0.3, clearance = 1e-6, mean = 0;
  int steps = test_quick() ? 6 : 24, counted = steps * 2 / 3;
  Stage s = stage_open_with(tb_zero3(), tb_friction(0), 0);
  s.step.scheme = "implicit", s.step.dt = 0.1, s.step.clearance = clearance;
  stage_floor(&s, 0, 0);
  tbVec3 from = tb_vec3(0, 0, radius + 0.01 + 4 * clearance), to = tb_sub3(from, tb_vec3(0, 0, depth));
  tbMotionKey keys[2] = {{0, from, tb_quat_identity()}, {steps * s.step.dt, to, tb_quat_identity()}};
  tbBodyDef press = tb_default_body_def();
  tbShape plate = tb_shape_box(tb_vec3(0.4, 0.4, 0.02));
  press.kind = TB_BODY_KINEMATIC, press.shapes = &plate, press.shape_count = 1;
  press.keys = keys, press.key_count = 2;
  CHECK_OK(&s.ctx, tb_world_add_body(&s.ctx, s.world, &press, NULL));
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.young = young, def.soft.poisson = poisson;
  def.position = tb_vec3(0, 0, radius + 2 * clearance);
  add_soft(&s, half_ball(&s.ctx, radius, 8), def);
  for (int k = 1; k <= steps; k++) {
    stage_run(&s, 1);
    double pushed = 0, expected = hertz(young, poisson, radius, depth * k / steps);
    for (int i = 0; i < tb_world_contact_count(s.world); i++) {
      tbContactView c = tb_world_contact(s.world, i);
      if (c.a.index == 0) pushed += c.impulse[0] / s.step.dt;
    }
    if (k <= steps - counted) continue;
    if (!(fabs(pushed / expected - 1) < 0.06))
      test_failed(__FILE__, __LINE__, "pushes with %g N, expected %g", pushed, expected);
    mean += pushed / expected / counted;
  }
  CHECK_NEAR(mean, 1, 0.03);
  CHECK(s.unconverged == 0);
  stage_close(&s);
}
