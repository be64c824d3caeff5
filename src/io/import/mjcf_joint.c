// SPDX-License-Identifier: Apache-2.0
// Joints of MJCF, what drives them, and pairs of bodies beside the tree.
#include "io/import/mjcf.h"

#include <math.h>
#include <string.h>

static tbStatus read_limits(tbMj* m, tbMjAt at, tbRobotJoint* j)
{
  double range[2] = {0}, zero = 0, unit = j->type == TB_JOINT_SLIDER ? 1 : m->degree;
  int count;
  TB_TRY(tb_mj_numbers(m, at, "range", 2, 2, range, &count));
  TB_TRY(tb_mj_numbers(m, at, "ref", 1, 1, &zero, NULL));
  TB_TRY(tb_mj_numbers(m, at, "springref", 1, 1, &j->rest, NULL));
  TB_TRY(tb_mj_bool(m, at, "limited", m->auto_limits && count > 0, &j->limited));
  j->lower = (range[0] - zero) * unit, j->upper = (range[1] - zero) * unit;
  j->rest = (j->rest - zero) * unit;
  if (j->limited && j->lower > j->upper)
    return tb_xml_fail(m->r->ctx, at.xml, "the lower limit is above the upper one");
  if (j->limited && j->type == TB_JOINT_BALL)
    return tb_robot_note(m->r, at.xml, "the range of a ball joint is not in the scene");
  return TB_OK;
}

tbStatus tb_mj_joint(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body)
{
  double pos[3] = {0}, axis[3] = {0, 0, 1}, number[3];
  const char* kind = tb_mj_get(at, "type");
  const char* name = tb_xml_get(at.xml, "name");
  if (strcmp(at.xml->name, "freejoint") == 0 || (kind && strcmp(kind, "free") == 0)) {
    body->free = true;
    return TB_OK;
  }
  tbRobotJoint* j = TB_TAKE(m->r->arena, tbRobotJoint, 1);
  tbRobotJoint** link = &body->joints;
  if (!j) return TB_ERROR_MEMORY;
  bool slides = kind && strcmp(kind, "slide") == 0, ball = kind && strcmp(kind, "ball") == 0;
  if (kind && !slides && !ball && strcmp(kind, "hinge") != 0)
    return tb_xml_fail(m->r->ctx, at.xml, "a joint of type \"%.40s\" is not supported", kind);
  *j = (tbRobotJoint){.type = slides ? TB_JOINT_SLIDER
                              : ball ? TB_JOINT_BALL
                                     : TB_JOINT_HINGE,
                      .name = name,
                      .at = at.xml};
  TB_TRY(tb_mj_numbers(m, at, "pos", 3, 3, pos, NULL));
  TB_TRY(tb_mj_numbers(m, at, "axis", 3, 3, axis, NULL));
  j->anchor = tb_transform_point(frame, tb_load3(pos));
  j->axis = tb_quat_rotate(frame.q, tb_load3(axis));
  if (!(tb_norm3(j->axis) > 0)) return tb_xml_fail(m->r->ctx, at.xml, "an axis must not be zero");
  j->axis = tb_scale3(1 / tb_norm3(j->axis), j->axis);
  TB_TRY(read_limits(m, at, j));
  number[0] = 0;
  TB_TRY(tb_mj_numbers(m, at, "stiffness", 1, 3, number, NULL));
  j->stiffness = number[0], number[0] = 0;
  TB_TRY(tb_mj_numbers(m, at, "damping", 1, 3, number, NULL));
  j->damping = number[0], number[0] = 0;
  TB_TRY(tb_mj_numbers(m, at, "frictionloss", 1, 3, number, NULL));
  j->friction = number[0];
  if (ball && (j->stiffness > 0 || j->damping > 0 || j->friction > 0))
    TB_TRY(tb_robot_note(m->r, at.xml, "spring, damping and friction of a ball joint are not in the scene"));
  while (*link) link = &(*link)->next;
  *link = j;
  return TB_OK;
}

// Actuators.

static tbRobotJoint* find_joint(tbRobot* r, const char* name)
{
  for (tbRobotBody* b = r->bodies; b; b = b->next)
    for (tbRobotJoint* j = b->joints; j; j = j->next)
      if (j->name && strcmp(j->name, name) == 0) return j;
  return NULL;
}

// force = gain · control + bias[0] + bias[1] · coordinate + bias[2] · speed, in the control's units; control
// is 0.
static tbStatus read_law(tbMj* m, tbMjAt at, double bias[3], bool* servo)
{
  double kp = 1, kv = 0, many[10] = {0};
  const char *kind = at.xml->name, *type;
  int count;
  *servo = true;
  if (strcmp(kind, "position") == 0) {
    TB_TRY(tb_mj_numbers(m, at, "kp", 1, 1, &kp, NULL));
    TB_TRY(tb_mj_numbers(m, at, "kv", 1, 1, &kv, NULL));
    bias[1] = -kp, bias[2] = -kv;
    if (tb_mj_get(at, "dampratio"))
      TB_TRY(
          tb_robot_note(m->r, at.xml, "dampratio is not in the scene: the servo has no damping of its own"));
  } else if (strcmp(kind, "velocity") == 0) {
    kv = 1;
    TB_TRY(tb_mj_numbers(m, at, "kv", 1, 1, &kv, NULL));
    bias[2] = -kv;
  } else if (strcmp(kind, "general") == 0) {
    type = tb_mj_get(at, "biastype");
    tb_mj_get(at, "gaintype");
    tb_mj_get(at, "gainprm");
    TB_TRY(tb_mj_numbers(m, at, "biasprm", 1, 10, many, &count));
    *servo = type && strcmp(type, "affine") == 0 && (many[1] != 0 || many[2] != 0);
    for (int i = 0; i < 3; i++) bias[i] = many[i];
  } else *servo = false;
  return TB_OK;
}

static tbStatus read_actuator(tbMj* m, tbMjAt at)
{
  double bias[3] = {0}, gear[6] = {1}, range[2] = {0};
  bool servo, limited;
  int count;
  const char *name = tb_xml_get(at.xml, "name"), *joint = tb_xml_get(at.xml, "joint");
  TB_TRY(read_law(m, at, bias, &servo));
  TB_TRY(tb_mj_numbers(m, at, "gear", 1, 6, gear, NULL));
  TB_TRY(tb_mj_numbers(m, at, "forcerange", 2, 2, range, &count));
  TB_TRY(tb_mj_bool(m, at, "forcelimited", m->auto_limits && count > 0, &limited));
  if (!joint)
    return tb_robot_note(m->r, at.xml, "the actuator \"%.60s\" is not at a joint, and not in the scene",
                         name ? name : "");
  tbRobotJoint* j = find_joint(m->r, joint);
  if (!j) return tb_xml_fail(m->r->ctx, at.xml, "there is no joint \"%.60s\"", joint);
  if (!servo || j->type == TB_JOINT_BALL || j->servoed || gear[0] == 0 || bias[1] > 0 || bias[2] > 0)
    return tb_robot_note(m->r, at.xml,
                         "the <%s> at the joint \"%.60s\" is no servo of the scene: it drives nothing%s",
                         at.xml->name, joint, j->servoed ? ", another does" : " until a program does");
  j->servoed = true;
  j->servo = (tbServo){-bias[1] * gear[0] * gear[0], -bias[2] * gear[0] * gear[0], INFINITY};
  if (limited) j->servo.force = fmax(fabs(range[0]), fabs(range[1])) * fabs(gear[0]);
  j->target = bias[1] < 0 ? bias[0] / (-bias[1] * gear[0]) : 0;
  if (limited && range[0] != -range[1])
    return tb_robot_note(m->r, at.xml,
                         "a forcerange that is not symmetric is in the scene by its larger end");
  return TB_OK;
}

tbStatus tb_mj_actuators(tbMj* m)
{
  for (tbXml* list = tb_xml_child(m->root, "actuator"); list; list = tb_xml_next(list, "actuator"))
    for (tbXml* xml = list->first; xml; xml = xml->next) {
      tbMjAt at;
      xml->read = true;
      TB_TRY(tb_mj_at(m, xml, NULL, &at));
      TB_TRY(read_actuator(m, at));
    }
  return TB_OK;
}

// Pairs.

static tbStatus add_pair(tbMj* m, tbRobotPair pair)
{
  tbRobotPair* copy = TB_TAKE(m->r->arena, tbRobotPair, 1);
  tbRobotPair** link = &m->r->pairs;
  if (!copy) return TB_ERROR_MEMORY;
  while (*link) link = &(*link)->next;
  *copy = pair;
  *link = copy;
  return TB_OK;
}

static const char* world_or(const char* name) { return name && strcmp(name, "world") == 0 ? NULL : name; }

static tbStatus read_equality(tbMj* m, tbXml* xml)
{
  tbMjAt at;
  double anchor[3] = {0};
  bool active;
  bool weld = strcmp(xml->name, "weld") == 0;
  if (!weld && strcmp(xml->name, "connect") != 0) return TB_OK; // named as not read
  TB_TRY(tb_mj_at(m, xml, NULL, &at));
  xml->read = true;
  tb_xml_get(xml, "name");
  const char *a = tb_xml_get(xml, "body1"), *b = tb_xml_get(xml, "body2");
  TB_TRY(tb_mj_numbers(m, at, "anchor", 3, 3, anchor, NULL));
  TB_TRY(tb_mj_bool(m, at, "active", true, &active));
  if (!active) return tb_robot_note(m->r, xml, "a <%s> that is not active is not in the scene", xml->name);
  if (!a) return tb_robot_note(m->r, xml, "a <%s> of sites is not in the scene", xml->name);
  return add_pair(m, (tbRobotPair){.kind = weld ? TB_PAIR_WELD : TB_PAIR_BALL,
                                   .a = world_or(a),
                                   .b = world_or(b),
                                   .anchor = tb_load3(anchor),
                                   .at = xml});
}

tbStatus tb_mj_pairs(tbMj* m)
{
  for (tbXml* list = tb_xml_child(m->root, "equality"); list; list = tb_xml_next(list, "equality"))
    for (tbXml* xml = list->first; xml; xml = xml->next) TB_TRY(read_equality(m, xml));
  for (tbXml* list = tb_xml_child(m->root, "contact"); list; list = tb_xml_next(list, "contact"))
    for (tbXml* xml = tb_xml_child(list, "exclude"); xml; xml = tb_xml_next(xml, "exclude")) {
      tbRobotPair pair = {
          .kind = TB_PAIR_IGNORE, .a = tb_xml_get(xml, "body1"), .b = tb_xml_get(xml, "body2"), .at = xml};
      tb_xml_get(xml, "name");
      if (!pair.a || !pair.b) return tb_xml_fail(m->r->ctx, xml, "<exclude> needs body1 and body2");
      TB_TRY(add_pair(m, pair));
    }
  return TB_OK;
}
