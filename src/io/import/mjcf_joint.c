// SPDX-License-Identifier: Apache-2.0
// Joints of MJCF, and bodies that are held together beside the tree.
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
  j->rest = (j->rest - zero) * unit, j->reference = zero * unit;
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
  const char* name;
  TB_TRY(tb_mj_name(m, at.xml, &name));
  if (name && tb_robot_joint(m->r, name))
    return tb_xml_fail(m->r->ctx, at.xml, "there are two joints \"%.60s\"", name);
  if (strcmp(at.xml->name, "freejoint") == 0 || (kind && strcmp(kind, "free") == 0)) {
    body->free = true, body->free_joint = name;
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
                      .turn = tb_quat_identity(),
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
  j->friction = number[0], number[0] = 0;
  TB_TRY(tb_mj_numbers(m, at, "armature", 1, 1, number, NULL));
  j->armature = number[0];
  if (ball && (j->stiffness > 0 || j->damping > 0 || j->friction > 0 || j->armature > 0))
    TB_TRY(tb_robot_note(m->r, at.xml,
                         "spring, damping, friction and armature of a ball joint are not in the scene"));
  while (*link) link = &(*link)->next;
  *link = j;
  return TB_OK;
}

// Pairs.

tbStatus tb_mj_add_pair(tbMj* m, tbRobotPair pair)
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
  xml->read = true;
  if (!weld && strcmp(xml->name, "connect") != 0) {
    for (tbXmlAttribute* a = xml->attributes; a; a = a->next) a->read = true;
    return tb_robot_note(m->r, xml, "the <%s> of <equality> is not in the scene", xml->name);
  }
  TB_TRY(tb_mj_at(m, xml, NULL, &at));
  tb_xml_get(xml, "name");
  const char *a = tb_xml_get(xml, "body1"), *b = tb_xml_get(xml, "body2");
  TB_TRY(tb_mj_numbers(m, at, "anchor", 3, 3, anchor, NULL));
  TB_TRY(tb_mj_bool(m, at, "active", true, &active));
  if (!active) return tb_robot_note(m->r, xml, "a <%s> that is not active is not in the scene", xml->name);
  if (!a) return tb_robot_note(m->r, xml, "a <%s> of sites is not in the scene", xml->name);
  return tb_mj_add_pair(m, (tbRobotPair){.kind = weld ? TB_PAIR_WELD : TB_PAIR_BALL,
                                         .a = world_or(a),
                                         .b = world_or(b),
                                         .anchor = tb_load3(anchor),
                                         .at = xml});
}

tbStatus tb_mj_equalities(tbMj* m)
{
  for (tbXml* list = tb_xml_child(m->root, "equality"); list; list = tb_xml_next(list, "equality"))
    for (tbXml* xml = list->first; xml; xml = xml->next) TB_TRY(read_equality(m, xml));
  return TB_OK;
}
