// SPDX-License-Identifier: Apache-2.0
// Scenes of Macklin et al. 2020. The paper gives masses, stiffnesses and friction, but few sizes.
#include "cli/paper_macklin.h"

#include <math.h>

tbStepOptions macklin_primal(double h, int iterations)
{
  tbStepOptions o = tb_default_step_options();
  o.scheme = "primal", o.dt = h, o.iterations = iterations, o.fraction = 1, o.warm_start = false;
  o.descent.balanced = false, o.descent.preconditioner = TB_DESCENT_DIAGONAL;
  return o;
}

tbStepOptions macklin_dual(double h, int iterations)
{
  tbStepOptions o = macklin_primal(h, iterations);
  o.scheme = "xpbd", o.descent.mass_splitting = true;
  return o;
}

static tbStatus begin(tbContext* ctx, double mu, MacklinScene* s)
{
  tbWorldDef def = tb_default_world_def();
  tbMaterialId plain = {0, 0};
  *s = (MacklinScene){0};
  TB_TRY(tb_world_create(ctx, &def, &s->world));
  return tb_world_set_pair(ctx, s->world, plain, plain, tb_friction(mu), 0);
}

// mass 0: fixed. Those that move are looked at.
static tbStatus add(tbContext* ctx, MacklinScene* s, tbShape shape, double mass, tbVec3 at, tbQuat turn,
                    tbBodyId* out)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id;
  def.shapes = &shape, def.shape_count = 1, def.mass = mass, def.position = at, def.orientation = turn;
  def.kind = mass > 0 ? TB_BODY_DYNAMIC : TB_BODY_FIXED;
  TB_TRY(tb_world_add_body(ctx, s->world, &def, &id));
  if (mass > 0 && s->bodies < 8) s->body[s->bodies++] = id;
  if (out) *out = id;
  return TB_OK;
}

static tbStatus add_floor(tbContext* ctx, MacklinScene* s)
{
  return add(ctx, s, tb_shape_plane(tb_vec3(0, 0, 1), 0), 0, tb_zero3(), tb_quat_identity(), NULL);
}

tbStatus macklin_pendulum(tbContext* ctx, const double k[2], const double m[2], MacklinScene* s)
{
  TB_TRY(begin(ctx, 0, s));
  tbBodyId above = {-1, 0};
  for (int i = 0; i < 2; i++) {
    tbBodyId ball;
    tbVec3 top = tb_vec3(0, 0, -i), bottom = tb_vec3(0, 0, -i - 1);
    TB_TRY(add(ctx, s, tb_shape_sphere(0.1), m[i], bottom, tb_quat_identity(), &ball));
    tbJointDef joint = tb_default_joint_def(TB_JOINT_DISTANCE);
    joint.a = above, joint.b = ball, joint.anchor = top, joint.anchor_b = &bottom,
    joint.compliance = 1 / k[i];
    TB_TRY(tb_world_add_joint(ctx, s->world, &joint, NULL));
    above = ball;
  }
  return TB_OK;
}

tbStatus macklin_stack(tbContext* ctx, int count, double growth, MacklinScene* s)
{
  TB_TRY(begin(ctx, 0.5, s));
  TB_TRY(add_floor(ctx, s));
  double mass = 1;
  for (int i = 0; i < count; i++, mass *= growth)
    TB_TRY(add(ctx, s, tb_shape_cylinder(0.25, 0.2), mass, tb_vec3(0, 0, 0.1 + 0.2 * i), tb_quat_identity(),
               NULL));
  return TB_OK;
}

tbStatus macklin_lean(tbContext* ctx, MacklinScene* s)
{
  TB_TRY(begin(ctx, 0.7, s));
  TB_TRY(add_floor(ctx, s));
  TB_TRY(add(ctx, s, tb_shape_plane(tb_vec3(-1, 0, 0), 0), 0, tb_zero3(), tb_quat_identity(), NULL));
  double r = 0.1, length = 1, lean = 0.35; // from the vertical
  tbVec3 along = tb_vec3(sin(lean), 0, cos(lean)), top = tb_vec3(-r, 0, r + length * cos(lean));
  return add(ctx, s, tb_shape_capsule(r, length), 5, tb_madd3(top, -0.5 * length, along),
             tb_quat_exp(tb_vec3(0, lean, 0)), NULL);
}

tbStatus macklin_grasp(tbContext* ctx, double overlap, MacklinScene* s)
{
  TB_TRY(begin(ctx, 0.8, s));
  double half = 0.03;
  TB_TRY(add(ctx, s, tb_shape_box(tb_vec3(2 * half, 2 * half, 2 * half)), 0.2, tb_zero3(), tb_quat_identity(),
             NULL));
  for (int side = -1; side <= 1; side += 2) {
    tbShape finger = tb_shape_box(tb_vec3(0.02, 0.04, 0.04));
    tbVec3 at = tb_vec3(side * (half + 0.01 - overlap), 0, 0);
    tbMotionKey key[3] = {{.t = 0, .position = at, .orientation = tb_quat_identity()},
                          {.t = 1, .position = tb_vec3(at.x, 0, 0.08), .orientation = tb_quat_identity()},
                          {.t = 60, .position = tb_vec3(at.x, 0, 0.08), .orientation = tb_quat_identity()}};
    tbBodyDef def = tb_default_body_def();
    def.shapes = &finger, def.shape_count = 1, def.kind = TB_BODY_KINEMATIC, def.position = at;
    def.keys = key, def.key_count = 3;
    TB_TRY(tb_world_add_body(ctx, s->world, &def, NULL));
  }
  return TB_OK;
}

tbStatus macklin_plate(tbContext* ctx, int n, MacklinScene* s)
{
  TB_TRY(begin(ctx, 0.3, s));
  for (int i = 0; i < n * n; i++) {
    tbVec3 at = tb_vec3(0.2 * (i % n - 0.5 * (n - 1)), 0.2 * (i / n - 0.5 * (n - 1)), -0.05);
    TB_TRY(add(ctx, s, tb_shape_sphere(0.05), 0, at, tb_quat_identity(), NULL));
  }
  return add(ctx, s, tb_shape_box(tb_vec3(0.2 * n, 0.2 * n, 0.1)), 10, tb_vec3(0, 0, 0.05),
             tb_quat_identity(), NULL);
}

tbStatus macklin_grains(tbContext* ctx, int n, double ratio, MacklinScene* s)
{
  TB_TRY(begin(ctx, 0.3, s));
  TB_TRY(add_floor(ctx, s));
  int side = (int)ceil(sqrt(n / 4.0));
  double r = 0.005, step = 2.02 * r, half = 0.5 * side * step + r, mass = 0.005;
  for (int i = 0; i < 4; i++) {
    double x = i < 2 ? (i ? 1 : -1) : 0, y = i < 2 ? 0 : (i == 3 ? 1 : -1);
    TB_TRY(add(ctx, s, tb_shape_plane(tb_vec3(-x, -y, 0), -half), 0, tb_zero3(), tb_quat_identity(), NULL));
  }
  tbBodyId weight;
  TB_TRY(add(ctx, s, tb_shape_cylinder(0.8 * half, 0.05), ratio * mass, tb_vec3(0, 0, 4.2 * step + 0.03),
             tb_quat_identity(), &weight));
  for (int i = 0; i < n; i++) {
    int layer = i / (side * side), at = i % (side * side);
    double shift = layer % 2 ? 0.2 * r : 0; // not on top of each other
    tbVec3 x = tb_vec3((at % side - 0.5 * (side - 1)) * step + shift,
                       (at / side - 0.5 * (side - 1)) * step + shift, r + layer * step);
    TB_TRY(add(ctx, s, tb_shape_sphere(r), mass, x, tb_quat_identity(), NULL));
  }
  return TB_OK;
}

tbStatus macklin_run(tbContext* ctx, MacklinScene* s, const tbStepOptions* o, double seconds,
                     tbStepReport* last)
{
  for (int i = 0, n = (int)ceil(seconds / o->dt); i < n; i++) TB_TRY(tb_world_step(ctx, s->world, o, last));
  return TB_OK;
}
