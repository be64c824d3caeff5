// SPDX-License-Identifier: Apache-2.0
// Actuators of MJCF at hinges and sliders. Those whose force is linear in coordinate and speed become the
// joint's servo; those that only push leave the joint to an effort.
#include "io/import/mjcf.h"

#include <math.h>
#include <string.h>

// force = gain · control + bias[0] + bias[1] · gear · coordinate + bias[2] · gear · speed
typedef struct {
  double gain, bias[3], ratio; // ratio: of damping to the critical one, in place of bias[2]
  bool affine;                 // has a bias
  bool odd, dynamic;           // gains and biases of other kinds, a state of its own
  double gear, control;
  double range[2], force[2];
  bool ranged, limited;
} Law;

static tbStatus apply_general(tbMj* m, tbMjAt at, Law* law)
{
  double gains[10] = {law->gain}, many[10] = {law->bias[0], law->bias[1], law->bias[2]};
  const char *bias = tb_mj_get(at, "biastype"), *gain = tb_mj_get(at, "gaintype"),
             *dynamics = tb_mj_get(at, "dyntype");
  TB_TRY(tb_mj_numbers(m, at, "gainprm", 1, 10, gains, NULL));
  TB_TRY(tb_mj_numbers(m, at, "biasprm", 1, 10, many, NULL));
  law->gain = gains[0];
  for (int i = 0; i < 3; i++) law->bias[i] = many[i];
  if (bias) law->affine = strcmp(bias, "affine") == 0;
  if (gain || bias)
    law->odd = (gain && strcmp(gain, "fixed") != 0) || (bias && !law->affine && strcmp(bias, "none") != 0);
  if (dynamics) law->dynamic = strcmp(dynamics, "none") != 0;
  return TB_OK;
}

static tbStatus apply_position(tbMj* m, tbMjAt at, Law* law)
{
  double kv, ratio;
  int damped, critical;
  TB_TRY(tb_mj_numbers(m, at, "kp", 1, 1, &law->gain, NULL));
  TB_TRY(tb_mj_numbers(m, at, "kv", 1, 1, &kv, &damped));
  TB_TRY(tb_mj_numbers(m, at, "dampratio", 1, 1, &ratio, &critical));
  law->bias[1] = -law->gain, law->affine = true, law->odd = false;
  if (damped) law->bias[2] = -kv;
  if (critical) law->bias[2] = ratio;
  law->dynamic = law->dynamic || strcmp(at.xml->name, "intvelocity") == 0;
  return TB_OK;
}

// What one element says by itself: all kinds of actuators are ways to write one law, so that an element goes
// on from what its classes have made of it.
static tbStatus apply(tbMj* m, tbXml* xml, Law* law)
{
  const tbMjAt at = {.xml = xml};
  const char* kind = xml->name;
  xml->read = true;
  if (strcmp(kind, "general") == 0) return apply_general(m, at, law);
  if (strcmp(kind, "position") == 0 || strcmp(kind, "intvelocity") == 0) return apply_position(m, at, law);
  if (strcmp(kind, "velocity") == 0) {
    TB_TRY(tb_mj_numbers(m, at, "kv", 1, 1, &law->gain, NULL));
    law->bias[0] = law->bias[1] = 0, law->bias[2] = -law->gain;
    law->affine = true;
  } else if (strcmp(kind, "motor") == 0) {
    law->gain = 1, law->affine = false;
  } else {
    law->odd = true;
    return TB_OK;
  }
  law->odd = law->dynamic = false;
  return TB_OK;
}

static tbStatus apply_class(tbMj* m, const tbMjClass* class, Law* law)
{
  if (!class) return TB_OK;
  TB_TRY(apply_class(m, class->parent, law));
  for (tbXml* d = class->at->first; d; d = d->next)
    if (tb_mj_is_actuator(d->name)) TB_TRY(apply(m, d, law));
  return TB_OK;
}

static tbStatus read_law(tbMj* m, tbMjAt at, Law* law)
{
  law->gain = 1;
  TB_TRY(apply_class(m, at.class, law));
  TB_TRY(apply(m, at.xml, law));
  if (!law->affine) law->bias[0] = law->bias[1] = law->bias[2] = 0;
  if (law->bias[2] > 0) law->ratio = law->bias[2], law->bias[2] = 0; // as MuJoCo reads a positive one
  if (law->odd)
    TB_TRY(tb_robot_note(m->r, at.xml, "gains and biases other than fixed and affine are not in the scene"));
  if (law->dynamic) return tb_robot_note(m->r, at.xml, "the dynamics of an actuator are not in the scene");
  return TB_OK;
}

static tbStatus read_ranges(tbMj* m, tbMjAt at, Law* law)
{
  double gear[6] = {1};
  int count;
  TB_TRY(tb_mj_numbers(m, at, "gear", 1, 6, gear, NULL));
  law->gear = gear[0];
  TB_TRY(tb_mj_numbers(m, at, "ctrlrange", 2, 2, law->range, &count));
  TB_TRY(tb_mj_bool(m, at, "ctrllimited", m->auto_limits && count > 0, &law->ranged));
  TB_TRY(tb_mj_numbers(m, at, "forcerange", 2, 2, law->force, &count));
  TB_TRY(tb_mj_bool(m, at, "forcelimited", m->auto_limits && count > 0, &law->limited));
  if ((law->ranged && law->range[0] > law->range[1]) || (law->limited && law->force[0] > law->force[1]))
    return tb_xml_fail(m->r->ctx, at.xml, "a range ends below its beginning");
  return TB_OK;
}

// The inertia that a joint moves, the others held, with all joints at zero.
static double reflected_inertia(const tbRobot* r, const tbRobotBody* body, const tbRobotJoint* j)
{
  double sum = j->armature;
  for (const tbRobotBody* b = r->bodies; b; b = b->next) {
    tbTransform T = tb_transform_identity(); // from b to body
    const tbRobotBody* up = b;
    for (; up && up != body; up = up->parent) T = tb_transform_mul(up->pose, T);
    if (!up || !(b->mass > 0)) continue;
    tbVec3 arm = tb_sub3(tb_transform_point(T, b->centre), j->anchor);
    tbVec3 axis = tb_quat_unrotate(T.q, j->axis), across = tb_cross3(j->axis, arm);
    sum += j->type == TB_JOINT_SLIDER
               ? b->mass
               : tb_dot3(axis, tb_mat3_mulv(b->inertia, axis)) + b->mass * tb_dot3(across, across);
  }
  return sum;
}

static bool is_servo(const Law* law)
{
  return law->gear != 0 && law->bias[1] <= 0 && law->bias[2] <= 0 && (law->bias[1] < 0 || law->bias[2] < 0);
}

// What it brings at the coordinate 0 and at rest, before its gear.
static double push_of(const Law* law)
{
  double control = law->control;
  if (law->ranged) control = fmin(fmax(control, law->range[0]), law->range[1]);
  return law->gain * control + law->bias[0];
}

// Two of them are one, with the sum of their forces.
static tbStatus add_servo(tbMj* m, tbMjAt at, const Law* law, tbRobotJoint* j)
{
  double gear2 = law->gear * law->gear, push = push_of(law) * law->gear;
  tbServo servo = {-law->bias[1] * gear2, -law->bias[2] * gear2, INFINITY};
  if (law->limited) servo.force = fmax(fabs(law->force[0]), fabs(law->force[1])) * fabs(law->gear);
  if (j->servoed) push += j->servo.stiffness * (j->target + j->reference);
  if (j->servoed && (isfinite(servo.force) || isfinite(j->servo.force)))
    TB_TRY(tb_robot_note(m->r, at.xml,
                         "several actuators at the joint \"%.60s\" have one largest force, the sum of theirs",
                         j->name));
  j->servo = (tbServo){j->servo.stiffness + servo.stiffness, j->servo.damping + servo.damping,
                       j->servoed ? j->servo.force + servo.force : servo.force};
  j->servoed = true;
  j->target = j->servo.stiffness > 0 ? push / j->servo.stiffness - j->reference : 0;
  if (!(j->servo.stiffness > 0)) j->effort += push;
  if (law->limited && law->force[0] != -law->force[1])
    return tb_robot_note(m->r, at.xml,
                         "a forcerange that is not symmetric is in the scene by its larger end");
  return TB_OK;
}

static tbRobotBody* body_of(tbRobot* r, const tbRobotJoint* joint)
{
  for (tbRobotBody* b = r->bodies; b; b = b->next)
    for (const tbRobotJoint* j = b->joints; j; j = j->next)
      if (j == joint) return b;
  return NULL;
}

// inheritrange: controls within so much of the joint's own range.
static tbStatus inherit_range(tbMj* m, tbMjAt at, const tbRobotJoint* j, Law* law)
{
  double share = 0;
  TB_TRY(tb_mj_numbers(m, at, "inheritrange", 1, 1, &share, NULL));
  if (!(share > 0) || !(j->lower < j->upper)) return TB_OK;
  double middle = 0.5 * (j->lower + j->upper) + j->reference, reach = 0.5 * share * (j->upper - j->lower);
  law->range[0] = middle - reach, law->range[1] = middle + reach, law->ranged = true;
  return TB_OK;
}

// The joint that a fixed tendon of one joint is, and its length for a coordinate of 1; null where it is of
// several, or goes over sites.
static tbStatus joint_of_tendon(tbMj* m, const char* name, const char** joint, double* coefficient)
{
  *joint = NULL, *coefficient = 1;
  for (tbXml* list = m->root->first; list; list = list->next)
    for (tbXml* t = strcmp(list->name, "tendon") == 0 ? list->first : NULL; t; t = t->next) {
      tbXml* only = t->first;
      if (strcmp(t->name, "fixed") != 0 || !only || only->next || strcmp(only->name, "joint") != 0) continue;
      const char* own = tb_xml_get(t, "name");
      if (!own || strcmp(own, name) != 0) continue;
      list->read = t->read = only->read = true;
      *joint = tb_xml_get(only, "joint");
      return tb_mj_numbers(m, (tbMjAt){.xml = only}, "coef", 1, 1, coefficient, NULL);
    }
  return TB_OK;
}

// Control alone: a constant effort, which a program or a control file changes.
static tbStatus add_effort(tbMj* m, tbMjAt at, const Law* law, tbRobotJoint* j, const char* joint)
{
  double push = push_of(law);
  if (law->limited) push = fmin(fmax(push, law->force[0]), law->force[1]);
  push *= law->gear;
  j->effort += push;
  return tb_robot_note(m->r, at.xml,
                       "the <%s> at the joint \"%.60s\" is its effort, %.4g for a control of 1: %.4g in the "
                       "scene until a program or a control file gives it",
                       at.xml->name, joint, law->gain * law->gear, push);
}

// Those that have a state of their own, or whose control is no force.
static bool is_other(const char* kind)
{
  static const char* const others[] = {"intvelocity", "cylinder", "muscle", "damper", "adhesion", "plugin"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(kind, others[i]) == 0) return true;
  return false;
}

static bool is_free_joint(const tbRobot* r, const char* name)
{
  const tbRobotBody* b = r->bodies;
  while (b && !(b->free_joint && strcmp(b->free_joint, name) == 0)) b = b->next;
  return b != NULL;
}

// What is driven is no joint.
static tbStatus note_other_target(tbMj* m, tbMjAt at, const char* name)
{
  static const char* const what[][2] = {{"tendon", "a tendon of several joints"},
                                        {"site", "a site"},
                                        {"slidersite", "a site"},
                                        {"cranksite", "a site"},
                                        {"body", "a body"}};
  const char* acts_on = "nothing";
  for (int i = 0; i < 5; i++)
    if (tb_xml_get(at.xml, what[i][0])) {
      acts_on = what[i][1];
      break;
    }
  return tb_robot_note(m->r, at.xml, "the <%s>%s%.60s%s acts on %s and is not in the scene", at.xml->name,
                       name ? " \"" : "", name ? name : "", name ? "\"" : "", acts_on);
}

static tbStatus read_actuator(tbMj* m, tbMjAt at, int index)
{
  Law law = {0};
  double coefficient = 1;
  const char *name = tb_xml_get(at.xml, "name"), *joint = tb_mj_get(at, "joint");
  if (is_other(at.xml->name)) {
    for (tbXmlAttribute* a = at.xml->attributes; a; a = a->next) a->read = true;
    return tb_robot_note(m->r, at.xml, "the actuator <%s> is not in the scene", at.xml->name);
  }
  if (!joint) joint = tb_mj_get(at, "jointinparent");
  if (!joint && tb_xml_get(at.xml, "tendon"))
    TB_TRY(joint_of_tendon(m, tb_xml_get(at.xml, "tendon"), &joint, &coefficient));
  TB_TRY(read_law(m, at, &law));
  TB_TRY(read_ranges(m, at, &law));
  law.gear *= coefficient;
  if (!joint) return note_other_target(m, at, name);
  tbRobotJoint* j = tb_robot_joint(m->r, joint);
  if (!j && is_free_joint(m->r, joint))
    return tb_robot_note(m->r, at.xml, "the actuator \"%.60s\" is at a free joint, and not in the scene",
                         name ? name : "");
  if (!j) return tb_xml_fail(m->r->ctx, at.xml, "there is no joint \"%.60s\"", joint);
  if (j->type == TB_JOINT_BALL)
    return tb_robot_note(m->r, at.xml, "an actuator at a ball joint is not in the scene");
  TB_TRY(inherit_range(m, at, j, &law));
  if (index < m->controls) law.control = m->control[index];
  if (law.ratio > 0 && law.bias[1] < 0 && law.gear != 0)
    law.bias[2] -=
        2 * law.ratio * sqrt(-law.bias[1] * reflected_inertia(m->r, body_of(m->r, j), j)) / fabs(law.gear);
  if (is_servo(&law)) return add_servo(m, at, &law, j);
  return add_effort(m, at, &law, j, joint);
}

tbStatus tb_mj_actuators(tbMj* m)
{
  int index = 0;
  for (tbXml* list = tb_xml_child(m->root, "actuator"); list; list = tb_xml_next(list, "actuator"))
    for (tbXml* xml = list->first; xml; xml = xml->next) {
      tbMjAt at;
      xml->read = true;
      TB_TRY(tb_mj_at(m, xml, NULL, &at));
      TB_TRY(read_actuator(m, at, index++));
    }
  return TB_OK;
}
