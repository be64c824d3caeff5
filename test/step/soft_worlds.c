// SPDX-License-Identifier: Apache-2.0
#include "step/soft_worlds.h"

#include "base/status.h"
#include "test.h"

static tbStatus add_solid(tbContext* ctx, tbWorld* w, tbTetMesh* mesh, tbDeformableDef def, tbBodyId* out)
{
  def.solid = mesh;
  tbStatus status = tb_world_add_deformable(ctx, w, &def, out);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

static tbStatus add_sheet(tbContext* ctx, tbWorld* w, tbMesh* mesh, tbDeformableDef def, tbBodyId* out)
{
  def.sheet = mesh;
  tbStatus status = tb_world_add_deformable(ctx, w, &def, out);
  tb_mesh_free(ctx, mesh);
  return status;
}

static tbStatus add_rigid(tbContext* ctx, tbWorld* w, tbBodyMotion motion, const tbShape* shapes, int count,
                          tbVec3 at, tbVec3 velocity, tbBodyId* out)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = motion, def.shapes = shapes, def.shape_count = count, def.position = at, def.velocity = velocity;
  return tb_world_add_body(ctx, w, &def, out);
}

static tbStatus heap_of_solids(tbContext* ctx, tbWorld* w)
{
  tbDeformableDef def = tb_default_deformable_def();
  tbTetMesh* mesh;
  int cells[3] = {2, 1, 1};
  def.soft.young = 5e4, def.soft.stiffness_damping = 0.005, def.position = tb_vec3(0, 0, 0.06);
  TB_TRY(tb_tet_box(ctx, tb_vec3(0.2, 0.1, 0.1), cells, 5, &mesh));
  TB_TRY(add_solid(ctx, w, mesh, def, NULL));
  def.position = tb_vec3(0.02, 0.01, 0.18);
  TB_TRY(tb_tet_sphere(ctx, 0.06, 2, &mesh));
  TB_TRY(add_solid(ctx, w, mesh, def, NULL));
  tbShape cross[2] = {tb_shape_box(tb_vec3(0.14, 0.04, 0.04)), tb_shape_box(tb_vec3(0.04, 0.14, 0.04))};
  return add_rigid(ctx, w, TB_BODY_DYNAMIC, cross, 2, tb_vec3(0, 0, 0.27), tb_zero3(), NULL);
}

tbStatus soft_heap(tbContext* ctx, tbWorld* w)
{
  tbShape floor = tb_shape_plane(tb_vec3(0, 0, 1), 0), wall = tb_shape_box(tb_vec3(0.02, 0.3, 0.1)),
          bar = tb_shape_box(tb_vec3(0.3, 0.02, 0.02));
  tbBodyId swing;
  TB_TRY(add_rigid(ctx, w, TB_BODY_FIXED, &floor, 1, tb_zero3(), tb_zero3(), NULL));
  TB_TRY(add_rigid(ctx, w, TB_BODY_KINEMATIC, &wall, 1, tb_vec3(-0.13, 0, 0.1), tb_vec3(0.6, 0, 0), NULL));
  TB_TRY(heap_of_solids(ctx, w));
  TB_TRY(add_rigid(ctx, w, TB_BODY_DYNAMIC, &bar, 1, tb_vec3(0, 0.16, 0.35), tb_zero3(), &swing));
  tbJointDef hinge = tb_default_joint_def(TB_JOINT_HINGE);
  hinge.a.index = -1, hinge.b = swing, hinge.axis = tb_vec3(1, 0, 0), hinge.anchor = tb_vec3(0, 0.16, 0.4);
  TB_TRY(tb_world_add_joint(ctx, w, &hinge, NULL));
  tbMesh* mesh;
  TB_TRY(tb_cloth_grid(ctx, 0.3, 0.3, 4, 4, &mesh));
  int row[2][5] = {{0, 1, 2, 3, 4}, {20, 21, 22, 23, 24}};
  tbPinDef pin[2] = {tb_default_pin_def(), tb_default_pin_def()};
  for (int k = 0; k < 2; k++) pin[k].nodes = row[k], pin[k].node_count = 5;
  pin[0].velocity = tb_vec3(0, 0.05, -0.1), pin[1].body = swing;
  tbDeformableDef def = tb_default_deformable_def();
  def.cloth.thickness = 2e-3, def.cloth.stiffness_damping = 0.005;
  def.pins = pin, def.pin_count = 2, def.position = tb_vec3(0, 0, 0.34);
  return add_sheet(ctx, w, mesh, def, NULL);
}

static tbVec3 anywhere(tbRandom* r, double size)
{
  double x = test_uniform(r, -size, size), y = test_uniform(r, -size, size);
  return tb_vec3(x, y, test_uniform(r, -size, size));
}

static double scale_of(tbRandom* r, double lo, double hi) // evenly in its logarithm, by powers of ten
{
  double x = lo;
  for (int n = test_below(r, 8); n > 0 && 10 * x <= hi; n--) x *= 10;
  return x;
}

static tbStatus storm_solid(tbContext* ctx, tbWorld* w, tbRandom* r, tbDeformableDef def)
{
  tbTetMesh* mesh;
  int cells[3] = {1 + test_below(r, 2), 1 + test_below(r, 3), 1 + test_below(r, 2)};
  def.soft.young = scale_of(r, 1e3, 1e7), def.soft.stiffness_damping = test_below(r, 2) ? 0.01 : 0;
  def.soft.model = (tbElasticModel)(1 + test_below(r, 3));
  def.soft.poisson = test_uniform(r, 0, 0.45);
  def.soft.density = scale_of(r, 10, 1e4);
  switch (test_below(r, 3)) {
  case 0: TB_TRY(tb_tet_box(ctx, tb_vec3(0.12, 0.16, 0.08), cells, 5, &mesh)); break;
  case 1: TB_TRY(tb_tet_sphere(ctx, 0.08, 2, &mesh)); break;
  default: TB_TRY(tb_tet_torus(ctx, 0.065, 0.025, 2, 10, &mesh)); break;
  }
  return add_solid(ctx, w, mesh, def, NULL);
}

static tbStatus storm_cloth(tbContext* ctx, tbWorld* w, tbRandom* r, tbDeformableDef def, tbBodyId rigid)
{
  tbMesh* mesh;
  int n = 2 + test_below(r, 5), last = (n + 1) * (n + 1) - 1, corner[2] = {0, last};
  TB_TRY(tb_cloth_grid(ctx, 0.2, 0.2, n, n, &mesh));
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = corner, pin.node_count = 2;
  switch (test_below(r, 4)) {
  case 0: // not down: what is held is not kept out of the floor
    def.pins = &pin, def.pin_count = 1, pin.velocity = anywhere(r, 1);
    pin.velocity.z = fabs(pin.velocity.z);
    break;
  case 1: def.pins = &pin, def.pin_count = 1, pin.node_count = 1, pin.body = rigid; break;
  default: break;
  }
  def.cloth.thickness = scale_of(r, 1e-4, 1e-2);
  def.cloth.stiffness_damping = test_below(r, 2) ? 0.005 : 0;
  return add_sheet(ctx, w, mesh, def, NULL);
}

static tbStatus storm_rigid(tbContext* ctx, tbWorld* w, tbRandom* r, tbVec3 at, tbVec3 velocity,
                            tbBodyId* out)
{
  tbShape shape[2] = {tb_shape_box(tb_vec3(0.16, 0.04, 0.1)), tb_shape_box(tb_vec3(0.04, 0.16, 0.04))};
  int kind = test_below(r, 5), count = kind == 4 ? 2 : 1;
  if (kind == 0) shape[0] = tb_shape_sphere(0.07);
  if (kind == 1) shape[0] = tb_shape_capsule(0.04, 0.1);
  if (kind == 2) shape[0] = tb_shape_box(tb_vec3(0.18, 0.18, 0.005));
  if (kind == 3) shape[0] = tb_shape_cylinder(0.06, 0.1);
  tbBodyDef def = tb_default_body_def();
  double restitution = 0.5;
  bool driven = test_below(r, 4) == 0;
  def.kind = driven ? TB_BODY_KINEMATIC : TB_BODY_DYNAMIC;
  def.shapes = shape, def.shape_count = count, def.position = at, def.velocity = velocity;
  if (driven) def.velocity = tb_scale3(0.3, velocity);
  def.angular_velocity = anywhere(r, driven ? 2 : 10);
  def.orientation = tb_quat_exp(anywhere(r, 1));
  def.density = scale_of(r, 10, 1e4);
  if (test_below(r, 3) == 0) def.restitution = &restitution;
  return tb_world_add_body(ctx, w, &def, driven ? NULL : out);
}

// Places on a grid, so far apart that nothing touches; everything flies towards the middle.
static tbStatus storm_bodies(tbContext* ctx, tbWorld* w, tbRandom* r)
{
  tbBodyId rigid = {-1, 0};
  int count = 2 + test_below(r, 5);
  double speed = scale_of(r, 0.1, 10) * test_uniform(r, 0.3, 2);
  for (int i = 0; i < count; i++) {
    tbDeformableDef def = tb_default_deformable_def();
    tbVec3 at = tb_vec3(0.3 * (i & 1) - 0.15, 0.3 * (i >> 1 & 1) - 0.15, 0.25 + 0.3 * (i >> 2));
    def.position = at;
    def.velocity = tb_add3(tb_scale3(-speed, tb_sub3(at, tb_vec3(0, 0, 0.3))), anywhere(r, 0.3 * speed));
    def.angular_velocity = anywhere(r, 5), def.orientation = tb_quat_exp(anywhere(r, 1));
    switch (i == 0 ? 0 : test_below(r, 3)) {
    case 0: TB_TRY(storm_solid(ctx, w, r, def)); break;
    case 1: TB_TRY(storm_cloth(ctx, w, r, def, rigid)); break;
    default: TB_TRY(storm_rigid(ctx, w, r, at, def.velocity, &rigid)); break;
    }
  }
  return TB_OK;
}

tbStatus soft_storm(tbContext* ctx, uint64_t seed, tbWorld** out, tbStepOptions* o)
{
  static const double friction[] = {0, 0.3, 1}, dt[] = {1e-3, 5e-3, 0.01, 0.02};
  tbRandom r = test_random(seed);
  tbWorldDef world = tb_default_world_def();
  if (test_below(&r, 4) == 0) world.gravity = tb_zero3();
  *out = NULL;
  TB_TRY(tb_world_create(ctx, &world, out));
  TB_TRY(tb_world_set_pair(ctx, *out, (tbMaterialId){0, 0}, (tbMaterialId){0, 0},
                           tb_friction(friction[test_below(&r, 3)]), 0));
  *o = tb_default_step_options();
  o->scheme = "implicit", o->solver.tolerance = 1e-4, o->dt = dt[test_below(&r, 4)];
  tbShape ground = test_below(&r, 2) ? tb_shape_plane(tb_vec3(0, 0, 1), 0) : tb_shape_box(tb_vec3(3, 3, 0.1));
  tbVec3 at = tb_vec3(0, 0, ground.type == TB_SHAPE_BOX ? -0.05 : 0);
  if (test_below(&r, 4)) TB_TRY(add_rigid(ctx, *out, TB_BODY_FIXED, &ground, 1, at, tb_zero3(), NULL));
  return storm_bodies(ctx, *out, &r);
}
