// SPDX-License-Identifier: Apache-2.0
// Joints as rows of the contact problem.
//
// With the anchors' difference e = (x_b + r_b) − (x_a + r_a) and the frames' relative rotation:
//
//   ball      e = 0                                      3 rows, free
//   hinge     ball, and the axes parallel                5 rows, free
//   slider    e across the axis and the rotation = 0     5 rows, free
//   weld      e = 0 and the rotation = 0                 6 rows, free
//   distance  |e| = L, or between two lengths            1 row, free, or 2 rows, nonneg
//   limits    on angle or travel                         2 rows, nonneg
//   motor     drives angle or travel at a speed          1 row, box ± force·h
//   servo     a spring and damper to an angle or travel  1 compliant row, box ± force·h
//   friction  dry, of the bearing                        1 row, box ± force·h
//   armature  I of a rotor: λ = −I (u − u of before)     1 compliant row, 1/I
//   effort    a force along the axis, or a torque        none: it is part of the free motion
//
// Errors go away as the stabilisation says: a fraction per step, or a spring and damper where the joint has
// a compliance.
//
// Soft springs. An implicit spring loses energy at the rate ω²h/2, which a slow, wanted oscillation must not.
// A distance joint with compliance whose frequency the step resolves (h²k w ≤ 1, with w the inverse mass
// along the row) is therefore applied as a force from the start of the step; with x⁺ = x + h v⁺ that is the
// symplectic Euler method, which keeps the energy of an oscillator bounded for ever. Stiffer ones are
// implicit.
#include "step/joint_rows.h"

#include "scene/kind.h"

#include <string.h>

typedef struct {
  tbVec3 ra, rb, e; // arms from the centres of mass to the anchors, and from anchor a to anchor b
  tbQuat qa, qb;    // the joint's frame on either body
  double ma, mb;    // inverse masses
  tbMat3 Ia, Ib;    // inverse inertias, world axes
} Pose;

// Of a body that deforms, infinite: springs on it are implicit.
static void inverse_mass(const tbWorld* w, const tbTransform* centre, int body, double* m, tbMat3* I)
{
  *m = 0, *I = tb_mat3_zero();
  if (body < 0 || tb_bodies(w)[body].motion != TB_BODY_DYNAMIC) return;
  const tbBody* b = &tb_bodies(w)[body];
  *m = b->kind->material_frame ? INFINITY : 1 / b->mass;
  if (b->kind->material_frame) return;
  tbMat3 R = tb_quat_mat3(centre[body].q);
  *I = tb_mat3_mul(R, tb_mat3_mult(b->inertia_inv, R));
}

static Pose pose_of(const tbWorld* w, const tbTransform* centre, const tbJoint* j)
{
  tbJointPlace at = tb_joint_placed(w, centre, j);
  return (Pose){.ra = at.arm_a, .rb = at.arm_b, .e = at.apart, .qa = at.frame_a, .qb = at.frame_b};
}

// The same with the masses.
static Pose heavy_pose_of(const tbWorld* w, const tbTransform* centre, const tbJoint* j)
{
  Pose p = pose_of(w, centre, j);
  inverse_mass(w, centre, j->a, &p.ma, &p.Ia);
  inverse_mass(w, centre, j->b, &p.mb, &p.Ib);
  return p;
}

// A row that measures the relative velocity of the anchors along d; d turns with body a.
static void linear_row(tbJointBlock* block, const Pose* p, tbVec3 d, double error)
{
  int i = block->rows++;
  tb_store3(block->a[i], tb_neg3(d));
  tb_store3(block->a[i] + 3, tb_neg3(tb_cross3(tb_add3(p->ra, p->e), d)));
  tb_store3(block->b[i], d);
  tb_store3(block->b[i] + 3, tb_cross3(p->rb, d));
  block->bias[i] = error;
}

static void angular_row(tbJointBlock* block, tbVec3 d, double error)
{
  int i = block->rows++;
  tb_store3(block->a[i] + 3, tb_neg3(d));
  tb_store3(block->b[i] + 3, d);
  block->bias[i] = error;
}

// Turns the errors that wait in `bias` into what the stabilisation makes of them.
static void stabilise(const tbStepOptions* o, const tbJoint* j, tbJointBlock* block)
{
  double h = o->dt, share = o->stabilization == TB_STABILIZE_BAUMGARTE ? o->fraction : 0;
  if (o->stabilization == TB_STABILIZE_COMPLIANCE) share = 0.2;
  for (int i = 0; i < block->rows; i++) {
    double error = block->bias[i];
    block->bias[i] = share * error / h;
    if (j->def.compliance > 0) {
      tbSoftRow soft = tb_soft_row(h, 1 / j->def.compliance, j->def.damping, error);
      block->bias[i] = soft.bias, block->compliance[i] = soft.compliance;
    }
    if (block->law == TB_LAW_NONNEG && error >= 0) block->bias[i] = error / h;
  }
}

// A block with the row that measures a coordinate's rate becomes its limits: gaps that must stay positive. A
// side at infinity has no row. False: neither has.
static bool limit_rows(tbJointBlock* block, const tbJoint* j, double value)
{
  bool lower = isfinite(j->def.lower), upper = isfinite(j->def.upper);
  int up = lower ? 1 : 0;
  block->law = TB_LAW_NONNEG;
  block->rows = lower + upper;
  if (upper) {
    for (int k = 0; k < 6; k++) block->a[up][k] = -block->a[0][k], block->b[up][k] = -block->b[0][k];
    block->bias[up] = j->def.upper - value;
  }
  if (lower) block->bias[0] = value - j->def.lower;
  else block->slot++;
  return block->rows > 0;
}

static void equality(const tbJoint* j, const Pose* p, tbJointBlock* block)
{
  tbJointType type = j->def.type;
  tbMat3 A = tb_quat_mat3(p->qa), B = tb_quat_mat3(p->qb);
  block->law = TB_LAW_BILATERAL;
  if (type == TB_JOINT_SLIDER) {
    for (int i = 1; i < 3; i++) linear_row(block, p, tb_mat3_col(A, i), tb_dot3(p->e, tb_mat3_col(A, i)));
  } else {
    linear_row(block, p, tb_vec3(1, 0, 0), p->e.x);
    linear_row(block, p, tb_vec3(0, 1, 0), p->e.y);
    linear_row(block, p, tb_vec3(0, 0, 1), p->e.z);
  }
  if (type == TB_JOINT_HINGE) {
    tbVec3 bend = tb_cross3(tb_mat3_col(A, 0), tb_mat3_col(B, 0));
    for (int i = 1; i < 3; i++) angular_row(block, tb_mat3_col(A, i), tb_dot3(bend, tb_mat3_col(A, i)));
  }
  if (type == TB_JOINT_WELD || type == TB_JOINT_SLIDER) {
    tbVec3 turn = tb_quat_log(tb_quat_mul(p->qb, tb_quat_conj(p->qa)));
    angular_row(block, tb_vec3(1, 0, 0), turn.x);
    angular_row(block, tb_vec3(0, 1, 0), turn.y);
    angular_row(block, tb_vec3(0, 0, 1), turn.z);
  }
}

// The coordinate of a slider or a hinge, and the row that measures its rate.
static double coordinate(const tbJoint* j, const Pose* p, tbJointBlock* block)
{
  tbVec3 axis = tb_mat3_col(tb_quat_mat3(p->qa), 0);
  if (j->def.type == TB_JOINT_SLIDER) linear_row(block, p, axis, 0);
  else angular_row(block, axis, 0);
  tbJointPlace place = {p->ra, p->rb, p->e, p->qa, p->qb};
  return tb_joint_coordinate(j, &place);
}

// A row of a drive: any force, or one within bounds.
static void drive_row(tbJointBlock* block, double force, double h)
{
  block->slot = TB_JOINT_DRIVE;
  block->law = isfinite(force) ? TB_LAW_BOX : TB_LAW_BILATERAL; // of any force: a row like the joint's
  if (block->law == TB_LAW_BOX) block->param[0] = -force * h, block->param[1] = force * h;
}

static void motor_block(const tbWorld* w, const tbStepOptions* o, const tbJoint* j, const Pose* p,
                        tbJointBlock* block)
{
  coordinate(j, p, block);
  drive_row(block, j->def.motor_force, o->dt);
  block->bias[0] = -tb_motor_speed(w, j, w->time + o->dt);
}

// λ = −h (k (error + h u) + d (u − rate)): the spring and damper of the end of the step.
static void servo_block(const tbWorld* w, const tbStepOptions* o, const tbJoint* j, const Pose* p,
                        tbJointBlock* block)
{
  double rate, target = tb_servo_target(w, j, w->time + o->dt, o->dt, &rate);
  double error = coordinate(j, p, block) - target, round = 6.283185307179586;
  bool bounded = j->def.limited && j->def.upper - j->def.lower <= round; // no other way leads there
  if (j->def.type == TB_JOINT_HINGE && !bounded) error -= round * rint(error / round); // the short way
  drive_row(block, j->def.servo.force, o->dt);
  tbSoftRow soft = tb_soft_row(o->dt, j->def.servo.stiffness, j->def.servo.damping, error);
  block->bias[0] = soft.bias - o->dt * j->def.servo.damping * rate * soft.compliance;
  block->compliance[0] = soft.compliance, block->rate = rate;
}

static void friction_block(const tbStepOptions* o, const tbJoint* j, const Pose* p, tbJointBlock* block)
{
  coordinate(j, p, block);
  drive_row(block, j->def.friction, o->dt);
  block->slot = TB_JOINT_FRICTION;
}

// The rotor takes the impulse I (u − u₀) to go from the rate u₀ that the joint had to u, as M + Jᵀ I J in
// place of the masses would have it.
static void rotor_block(const tbWorld* w, tbJointWay way, const tbUnconstrained* unconstrained,
                        const tbJoint* j, const Pose* p, tbJointBlock* block)
{
  bool impact = way == TB_JOINT_IMPACT;
  tbVec3 v[2] = {tb_zero3(), tb_zero3()}, spin[2] = {v[0], v[0]};
  for (int side = 0; side < 2 && unconstrained; side++) {
    int i = side ? j->b : j->a;
    const tbUnconstrained* f = &unconstrained[i < 0 ? 0 : i];
    if (i >= 0) v[side] = impact ? f->v : f->jumped, spin[side] = impact ? f->w : f->spun;
  }
  coordinate(j, p, block);
  tbJointPlace place = {p->ra, p->rb, p->e, p->qa, p->qb};
  block->law = TB_LAW_BILATERAL, block->slot = TB_JOINT_ROTOR;
  block->bias[0] = -tb_joint_rate(j, &place, v, spin) - (impact ? 0 : tb_joint_speed(w, j));
  block->compliance[0] = 1 / j->def.armature;
}

// A distance joint: its direction, the inverse mass along it, and how far it is from where it should be.
typedef struct {
  tbVec3 d;
  double inverse_mass, length, error;
  bool one_sided; // between two lengths
} Rod;

static Rod rod_of(const tbJoint* j, const Pose* p)
{
  Rod rod = {.length = tb_norm3(p->e), .one_sided = j->def.limited && j->def.lower < j->def.upper};
  rod.d = rod.length > 0 ? tb_normalize3(p->e) : tb_vec3(0, 0, 1);
  tbVec3 ta = tb_cross3(p->ra, rod.d), tb = tb_cross3(p->rb, rod.d);
  rod.inverse_mass =
      p->ma + p->mb + tb_dot3(ta, tb_mat3_mulv(p->Ia, ta)) + tb_dot3(tb, tb_mat3_mulv(p->Ib, tb));
  double lower = j->def.limited ? j->def.lower : j->length, upper = j->def.limited ? j->def.upper : j->length;
  rod.error = rod.length < lower ? rod.length - lower : rod.length > upper ? rod.length - upper : 0;
  return rod;
}

static bool resolved(const tbStepOptions* o, const tbJoint* j, const Rod* rod)
{
  return j->def.compliance > 0 && o->dt * o->dt * rod->inverse_mass <= j->def.compliance;
}

static int distance_blocks(const tbStepOptions* o, tbJointWay way, const tbJoint* j, const Pose* p,
                           tbJointBlock* block)
{
  Rod rod = rod_of(j, p);
  block->law = TB_LAW_BILATERAL;
  linear_row(block, p, rod.d, way == TB_JOINT_COORDINATES ? rod.length : rod.error);
  if (resolved(o, j, &rod)) { // the spring is a force; its damper remains
    if (!(j->def.damping > 0) || (rod.one_sided && rod.error == 0)) return 0; // nothing, or slack
    if (way == TB_JOINT_COORDINATES) return 1;
    block->bias[0] = 0;
    block->compliance[0] = 1 / (o->dt * j->def.damping);
    return 1;
  }
  if (rod.one_sided && !limit_rows(block, j, rod.length)) return 0;
  if (way != TB_JOINT_COORDINATES) stabilise(o, j, block);
  return 1;
}

static int limit_block(const tbStepOptions* o, tbJointWay way, const tbJoint* j, const Pose* p,
                       tbJointBlock* block)
{
  tbJoint rigid = *j;
  rigid.def.compliance = 0;
  block->slot = TB_JOINT_LIMITS;
  if (!limit_rows(block, j, coordinate(j, p, block))) {
    memset(block, 0, sizeof *block);
    return 0;
  }
  if (way != TB_JOINT_COORDINATES) stabilise(o, &rigid, block);
  return 1;
}

// What drives, and what resists it, from `first` on: rows of the coordinate's rate.
static int drive_blocks(const tbWorld* w, const tbStepOptions* o, tbJointWay way,
                        const tbUnconstrained* unconstrained, const tbJoint* j, const Pose* p, int first,
                        tbJointBlock out[TB_JOINT_BLOCKS])
{
  bool forces = way == TB_JOINT_VELOCITIES || way == TB_JOINT_COORDINATES;
  int count = first;
  if (j->def.motor && forces) motor_block(w, o, j, p, &out[count++]);
  if (j->def.servoed && forces) servo_block(w, o, j, p, &out[count++]);
  if (j->def.friction > 0 && forces) friction_block(o, j, p, &out[count++]);
  if (j->def.armature > 0 && way != TB_JOINT_POSITIONS)
    rotor_block(w, way, unconstrained, j, p, &out[count++]);
  tbJointPlace place = {p->ra, p->rb, p->e, p->qa, p->qb};
  for (int i = first; i < count && way == TB_JOINT_COORDINATES; i++)
    out[i].bias[0] = tb_joint_coordinate(j, &place);
  return count;
}

int tb_joint_blocks(const tbWorld* w, const tbStepOptions* o, tbJointWay way,
                    const tbUnconstrained* unconstrained, const tbTransform* centre, const tbJoint* j,
                    tbJointBlock out[TB_JOINT_BLOCKS])
{
  bool forces = way == TB_JOINT_VELOCITIES || way == TB_JOINT_COORDINATES;
  bool yields = !forces && j->def.compliance > 0, rotor = way != TB_JOINT_POSITIONS && j->def.armature > 0;
  memset(out, 0, TB_JOINT_BLOCKS * sizeof *out);
  if (yields && !rotor) return 0;
  if (j->def.type == TB_JOINT_DISTANCE) {
    Pose heavy = heavy_pose_of(w, centre, j);
    return distance_blocks(o, way, j, &heavy, &out[0]);
  }
  Pose p = pose_of(w, centre, j);
  int count = 0;
  if (!yields) {
    equality(j, &p, &out[count++]);
    if (way != TB_JOINT_COORDINATES) stabilise(o, j, &out[0]);
  }
  if (j->def.limited && !yields) count += limit_block(o, way, j, &p, &out[count]);
  return drive_blocks(w, o, way, unconstrained, j, &p, count, out);
}

// An impulse and a moment about the centre of mass.
static void push(const tbWorld* w, int body, tbVec3 impulse, tbVec3 moment, const tbMat3* I,
                 tbUnconstrained* unconstrained)
{
  if (body < 0 || tb_bodies(w)[body].motion != TB_BODY_DYNAMIC) return;
  tbUnconstrained* f = &unconstrained[body];
  tbVec3 v = tb_scale3(1 / tb_bodies(w)[body].mass, impulse), turn = tb_mat3_mulv(*I, moment);
  f->v = tb_add3(f->v, v), f->w = tb_add3(f->w, turn);
  f->pushed = tb_add3(f->pushed, v), f->turned = tb_add3(f->turned, turn);
}

// Along the axis at anchor b, or about it.
static void push_effort(const tbWorld* w, const tbStepOptions* o, const tbJoint* j, const Pose* p,
                        tbUnconstrained* unconstrained)
{
  double effort = tb_joint_effort(w, j, w->time + 0.5 * o->dt); // the mean over the step
  tbVec3 impulse = tb_scale3(o->dt * effort, tb_mat3_col(tb_quat_mat3(p->qa), 0)), moment = impulse;
  tbVec3 on_a = tb_neg3(impulse), on_b = impulse;
  if (j->def.type == TB_JOINT_SLIDER) {
    on_a = tb_cross3(tb_add3(p->ra, p->e), on_a), on_b = tb_cross3(p->rb, on_b);
    push(w, j->b, impulse, on_b, &p->Ib, unconstrained);
    push(w, j->a, tb_neg3(moment), on_a, &p->Ia, unconstrained);
  } else {
    push(w, j->b, tb_zero3(), on_b, &p->Ib, unconstrained);
    push(w, j->a, tb_zero3(), on_a, &p->Ia, unconstrained);
  }
}

static bool has_effort(const tbJoint* j) { return j->def.effort != 0 || j->nkey[TB_KEYS_EFFORT] > 0; }

static void push_spring(const tbWorld* w, const tbStepOptions* o, const tbJoint* j, const Pose* p,
                        tbUnconstrained* unconstrained)
{
  Rod rod = rod_of(j, p);
  if (!resolved(o, j, &rod)) return;
  tbVec3 impulse = tb_scale3(-o->dt * rod.error / j->def.compliance, rod.d), back = tb_neg3(impulse); // on b
  push(w, j->b, impulse, tb_cross3(p->rb, impulse), &p->Ib, unconstrained);
  push(w, j->a, back, tb_cross3(p->ra, back), &p->Ia, unconstrained);
}

void tb_joint_forces(const tbWorld* w, const tbStepOptions* o, const tbTransform* centre,
                     tbUnconstrained* unconstrained)
{
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    int a = j->a, b = j->b;
    if (a >= 0) unconstrained[a].held = true;
    if (b >= 0) unconstrained[b].held = true;
    bool spring = j->def.type == TB_JOINT_DISTANCE && j->def.compliance > 0;
    if (!spring && !has_effort(j)) continue;
    Pose p = heavy_pose_of(w, centre, j);
    if (spring) push_spring(w, o, j, &p, unconstrained);
    else push_effort(w, o, j, &p, unconstrained);
  }
}

void tb_joint_forces_keep(const tbWorld* w, const tbStepOptions* o, const tbTransform* centre, double middle,
                          tbJoint* j)
{
  bool spring = j->def.type == TB_JOINT_DISTANCE && j->def.compliance > 0;
  j->force = j->torque = tb_zero3(), j->effort = 0;
  if (!spring && !has_effort(j)) return;
  Pose p = heavy_pose_of(w, centre, j);
  if (spring) {
    Rod rod = rod_of(j, &p);
    if (resolved(o, j, &rod)) j->force = tb_scale3(-rod.error / j->def.compliance, rod.d);
    return;
  }
  j->effort = tb_joint_effort(w, j, middle);
  *(j->def.type == TB_JOINT_SLIDER ? &j->force : &j->torque) =
      tb_scale3(j->effort, tb_mat3_col(tb_quat_mat3(p.qa), 0));
}
