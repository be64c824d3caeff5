// SPDX-License-Identifier: Apache-2.0
// URDF: links and joints by name, which make one tree.
#include "io/import/robot.h"

#include "base/decimal.h"

#include <math.h>
#include <string.h>

// The vector of an attribute, which stays as it is where the attribute is absent.
static tbStatus read_vector(tbRobot* r, tbXml* at, const char* key, int count, double* out)
{
  const char* text = tb_xml_get(at, key);
  return text ? tb_xml_numbers(r->ctx, at, key, text, count, count, out, NULL) : TB_OK;
}

static tbStatus read_required(tbRobot* r, tbXml* at, const char* key, double* out)
{
  const char* text = tb_xml_get(at, key);
  if (!text) return tb_xml_fail(r->ctx, at, "<%s> has no %s", at->name, key);
  return tb_xml_numbers(r->ctx, at, key, text, 1, 1, out, NULL);
}

// The <origin> of an element.
static tbStatus read_origin(tbRobot* r, tbXml* at, tbTransform* out)
{
  double xyz[3] = {0}, rpy[3] = {0};
  tbXml* origin = tb_xml_child(at, "origin");
  if (origin) TB_TRY(read_vector(r, origin, "xyz", 3, xyz));
  if (origin) TB_TRY(read_vector(r, origin, "rpy", 3, rpy));
  *out = tb_transform(tb_robot_rpy(rpy), tb_load3(xyz));
  return TB_OK;
}

static tbStatus read_inertial(tbRobot* r, tbXml* link, tbRobotBody* body)
{
  static const char* const keys[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  tbXml* at = tb_xml_child(link, "inertial");
  tbTransform T;
  double moment[6] = {0};
  if (!at) return TB_OK;
  tbXml *mass = tb_xml_child(at, "mass"), *inertia = tb_xml_child(at, "inertia");
  if (!mass || !inertia) return tb_xml_fail(r->ctx, at, "<inertial> needs <mass> and <inertia>");
  TB_TRY(read_origin(r, at, &T));
  TB_TRY(read_required(r, mass, "value", &body->mass));
  for (int i = 0; i < 6; i++) TB_TRY(read_required(r, inertia, keys[i], &moment[i]));
  if (body->mass < 0) return tb_xml_fail(r->ctx, mass, "a mass must not be negative");
  tbMat3 R = tb_quat_mat3(T.q),
         I = tb_mat3_rows(tb_vec3(moment[0], moment[3], moment[4]), tb_vec3(moment[3], moment[1], moment[5]),
                          tb_vec3(moment[4], moment[5], moment[2]));
  body->inertia = tb_mat3_mul(R, tb_mat3_mult(I, R));
  body->centre = T.x;
  body->at = inertia;
  return TB_OK;
}

static tbStatus read_mesh(tbRobot* r, tbXml* at, tbRobotShape* shape, bool* good)
{
  double scale[3] = {1, 1, 1};
  const char* name = tb_xml_get(at, "filename");
  if (!name) return tb_xml_fail(r->ctx, at, "<mesh> has no filename");
  TB_TRY(read_vector(r, at, "scale", 3, scale));
  const char* slash = strrchr(r->path, '/');
  const char* folder = tb_robot_text(r, "%.*s", slash ? (int)(slash - r->path) : 0, r->path);
  if (!folder) return TB_ERROR_MEMORY;
  shape->type = TB_SHAPE_CONVEX, shape->scale = tb_load3(scale);
  shape->file = tb_robot_find(r, folder, name);
  *good = false;
  if (!shape->file) return tb_robot_note(r, at, "there is no file %.200s: the shape is left out", name);
  return tb_robot_check_mesh(r, at, shape, good);
}

static tbStatus read_geometry(tbRobot* r, tbXml* at, tbRobotShape* shape, bool* good)
{
  tbXml* kind;
  *good = true;
  if ((kind = tb_xml_child(at, "box"))) {
    shape->type = TB_SHAPE_BOX;
    TB_TRY(read_vector(r, kind, "size", 3, shape->size));
  } else if ((kind = tb_xml_child(at, "sphere"))) {
    shape->type = TB_SHAPE_SPHERE;
    TB_TRY(read_required(r, kind, "radius", &shape->size[0]));
  } else if ((kind = tb_xml_child(at, "cylinder")) || (kind = tb_xml_child(at, "capsule"))) {
    shape->type = kind->name[1] == 'y' ? TB_SHAPE_CYLINDER : TB_SHAPE_CAPSULE;
    TB_TRY(read_required(r, kind, "radius", &shape->size[0]));
    TB_TRY(read_required(r, kind, "length", &shape->size[1]));
  } else if ((kind = tb_xml_child(at, "mesh"))) {
    return read_mesh(r, kind, shape, good);
  } else return tb_xml_fail(r->ctx, at, "a <geometry> is a box, sphere, cylinder, capsule or mesh");
  int sizes = shape->type == TB_SHAPE_BOX ? 3 : shape->type == TB_SHAPE_SPHERE ? 1 : 2;
  for (int i = 0; i < sizes; i++)
    if (!(shape->size[i] > 0))
      return tb_xml_fail(r->ctx, kind, "a size of <%s> must be positive", kind->name);
  return TB_OK;
}

static tbStatus read_collisions(tbRobot* r, tbXml* link, tbRobotBody* body)
{
  for (tbXml* at = tb_xml_child(link, "collision"); at; at = tb_xml_next(at, "collision")) {
    tbRobotShape shape = {.scale = tb_vec3(1, 1, 1), .at = at};
    bool good;
    tb_xml_get(at, "name");
    tbXml* geometry = tb_xml_child(at, "geometry");
    if (!geometry) return tb_xml_fail(r->ctx, at, "<collision> has no <geometry>");
    TB_TRY(read_origin(r, at, &shape.pose));
    TB_TRY(read_geometry(r, geometry, &shape, &good));
    if (good) TB_TRY(tb_robot_shape(r, body, shape));
  }
  return TB_OK;
}

static tbStatus add_link(tbRobot* r, tbXml* link, tbRobotBody* parent, tbRobotBody** out)
{
  const char* name = tb_xml_get(link, "name"); // the scene's own world is called "world"
  *out = tb_robot_add(r, strcmp(name, "world") == 0 ? "world_link" : name, parent, link);
  if (!*out) return TB_ERROR_MEMORY;
  TB_TRY(read_inertial(r, link, *out));
  return read_collisions(r, link, *out);
}

// Joints.

static const char* end_of(tbXml* joint, const char* which)
{
  tbXml* at = tb_xml_child(joint, which);
  return at ? tb_xml_get(at, "link") : NULL;
}

static const double unlimited = 1e16; // rad or m; SDF writes that, others infinities or the largest double

static tbStatus read_limit(tbRobot* r, tbXml* at, const char* key, double* out)
{
  const char *text = tb_xml_get(at, key), *digits = text;
  double value;
  if (!text) return TB_OK;
  if (*digits == '-' || *digits == '+') digits++;
  bool endless = strncmp(digits, "inf", 3) == 0;
  if (!endless && tb_read_double(digits, digits + strlen(digits), &value) > digits)
    endless = value > unlimited;
  if (!endless) return read_vector(r, at, key, 1, out);
  *out = *text == '-' ? -unlimited : unlimited;
  return TB_OK;
}

static tbStatus read_limits(tbRobot* r, tbXml* at, bool needed, tbRobotJoint* joint)
{
  tbXml* limit = tb_xml_child(at, "limit");
  if (!limit && needed) return tb_xml_fail(r->ctx, at, "a joint of this type needs a <limit>");
  if (!limit || !needed) return TB_OK;
  TB_TRY(read_limit(r, limit, "lower", &joint->lower));
  TB_TRY(read_limit(r, limit, "upper", &joint->upper));
  joint->limited = joint->lower > -unlimited || joint->upper < unlimited;
  if (joint->lower > joint->upper)
    return tb_xml_fail(r->ctx, limit, "the lower limit is above the upper one");
  return TB_OK;
}

static tbStatus read_axis(tbRobot* r, tbXml* at, tbVec3* out)
{
  double axis[3] = {1, 0, 0};
  tbXml* direction = tb_xml_child(at, "axis");
  if (direction) TB_TRY(read_vector(r, direction, "xyz", 3, axis));
  *out = tb_load3(axis);
  if (!(tb_norm3(*out) > 0)) return tb_xml_fail(r->ctx, direction, "an axis must not be zero");
  *out = tb_scale3(1 / tb_norm3(*out), *out);
  return TB_OK;
}

// A planar joint: two slides across the axis, and a turn about it.
static tbStatus add_planar(tbRobot* r, tbXml* at, tbRobotBody* body)
{
  static const char* const ends[] = {"/x", "/y", ""};
  tbVec3 axis;
  TB_TRY(read_axis(r, at, &axis));
  tbMat3 frame = tb_mat3_frame(axis); // rows: the axis, and two across
  tbRobotJoint** link = &body->joints;
  const char* name = tb_xml_get(at, "name");
  for (int i = 0; i < 3; i++, link = &(*link)->next) {
    tbRobotJoint* joint = *link = TB_TAKE(r->arena, tbRobotJoint, 1);
    if (!joint) return TB_ERROR_MEMORY;
    *joint = (tbRobotJoint){.type = i < 2 ? TB_JOINT_SLIDER : TB_JOINT_HINGE,
                            .axis = i < 2 ? tb_mat3_row(frame, i + 1) : axis,
                            .name = name ? tb_robot_text(r, "%s%s", name, ends[i]) : NULL,
                            .at = at};
  }
  return TB_OK;
}

static tbStatus add_moving(tbRobot* r, tbXml* at, const char* type, tbRobotBody* body)
{
  tbRobotJoint* joint = TB_TAKE(r->arena, tbRobotJoint, 1);
  if (!joint) return TB_ERROR_MEMORY;
  bool slides = strcmp(type, "prismatic") == 0, turns = strcmp(type, "continuous") == 0;
  *joint = (tbRobotJoint){
      .type = slides ? TB_JOINT_SLIDER : TB_JOINT_HINGE, .name = tb_xml_get(at, "name"), .at = at};
  tbXml* dynamics = tb_xml_child(at, "dynamics");
  TB_TRY(read_axis(r, at, &joint->axis));
  TB_TRY(read_limits(r, at, !turns, joint));
  if (dynamics) TB_TRY(read_vector(r, dynamics, "damping", 1, &joint->damping));
  if (dynamics) TB_TRY(read_vector(r, dynamics, "friction", 1, &joint->friction));
  body->joints = joint;
  return TB_OK;
}

static tbStatus read_joint(tbRobot* r, tbXml* at, tbRobotBody* body)
{
  const char* type = tb_xml_get(at, "type");
  tbXml* mimic = tb_xml_child(at, "mimic");
  if (mimic) return tb_xml_fail(r->ctx, mimic, "a joint that mimics another is not supported");
  if (!type) return tb_xml_fail(r->ctx, at, "<joint> has no type");
  TB_TRY(read_origin(r, at, &body->pose));
  tb_xml_get(at, "name");
  if (strcmp(type, "fixed") == 0) return TB_OK;
  if (strcmp(type, "floating") == 0) {
    body->free = true;
    return TB_OK;
  }
  if (strcmp(type, "planar") == 0) return add_planar(r, at, body);
  if (strcmp(type, "revolute") != 0 && strcmp(type, "continuous") != 0 && strcmp(type, "prismatic") != 0)
    return tb_xml_fail(r->ctx, at, "a joint of type \"%.40s\" is not supported", type);
  return add_moving(r, at, type, body);
}

// The tree.

static tbXml* find_link(tbXml* root, const char* name)
{
  for (tbXml* at = tb_xml_child(root, "link"); at; at = tb_xml_next(at, "link")) {
    const char* own = tb_xml_get(at, "name");
    if (own && strcmp(own, name) == 0) return at;
  }
  return NULL;
}

// The joint that leads to a link; null: it is a root.
static tbXml* joint_to(tbXml* root, const char* link)
{
  for (tbXml* at = tb_xml_child(root, "joint"); at; at = tb_xml_next(at, "joint")) {
    const char* child = end_of(at, "child");
    if (child && strcmp(child, link) == 0) return at;
  }
  return NULL;
}

static tbStatus check_joints(tbRobot* r, tbXml* root)
{
  for (tbXml* at = tb_xml_child(root, "joint"); at; at = tb_xml_next(at, "joint")) {
    const char *parent = end_of(at, "parent"), *child = end_of(at, "child");
    if (!parent || !child) return tb_xml_fail(r->ctx, at, "<joint> needs a <parent link> and a <child link>");
    if (!find_link(root, parent)) return tb_xml_fail(r->ctx, at, "there is no link \"%.60s\"", parent);
    if (!find_link(root, child)) return tb_xml_fail(r->ctx, at, "there is no link \"%.60s\"", child);
    const char* name = tb_xml_get(at, "name");
    for (tbXml* other = tb_xml_next(at, "joint"); name && other; other = tb_xml_next(other, "joint"))
      if (tb_xml_get(other, "name") && strcmp(tb_xml_get(other, "name"), name) == 0)
        return tb_xml_fail(r->ctx, other, "there are two joints \"%.60s\"", name);
    if (joint_to(root, child) != at)
      return tb_xml_fail(r->ctx, at, "the link \"%.60s\" has two parents", child);
  }
  return TB_OK;
}

static tbStatus find_root(tbRobot* r, tbXml* root, tbXml** out)
{
  *out = NULL;
  for (tbXml* at = tb_xml_child(root, "link"); at; at = tb_xml_next(at, "link")) {
    const char* name = tb_xml_get(at, "name");
    if (!name || !*name) return tb_xml_fail(r->ctx, at, "<link> has no name");
    if (find_link(root, name) != at) return tb_xml_fail(r->ctx, at, "there are two links \"%.60s\"", name);
    if (joint_to(root, name)) continue;
    if (*out)
      return tb_xml_fail(r->ctx, at, "the link \"%.60s\" has no parent, and is not the only one", name);
    *out = at;
  }
  return *out ? TB_OK : tb_xml_fail(r->ctx, root, "no link is the root of the others");
}

static tbStatus add_children(tbRobot* r, tbXml* root, const char* name, tbRobotBody* parent)
{
  for (tbXml* at = tb_xml_child(root, "joint"); at; at = tb_xml_next(at, "joint")) {
    const char* child = end_of(at, "child");
    tbRobotBody* body;
    if (strcmp(end_of(at, "parent"), name) != 0) continue;
    TB_TRY(add_link(r, find_link(root, child), parent, &body));
    TB_TRY(read_joint(r, at, body));
    TB_TRY(add_children(r, root, child, body));
  }
  return TB_OK;
}

// A template in place of a robot, wherever it says so.
static tbStatus refuse_xacro(tbRobot* r, const tbXml* at)
{
  bool found = strncmp(at->name, "xacro:", 6) == 0;
  for (const tbXmlAttribute* a = at->attributes; a && !found; a = a->next)
    found = strstr(a->value, "${") || strstr(a->value, "$(");
  if (found)
    return tb_xml_fail(
        r->ctx, at, "<%.60s> is xacro, a template: make URDF of it first (xacro FILE > FILE.urdf)", at->name);
  for (const tbXml* child = at->first; child; child = child->next) TB_TRY(refuse_xacro(r, child));
  return TB_OK;
}

tbStatus tb_import_urdf(tbRobot* r, tbXml* root, const tbImportOptions* options)
{
  tbXml* base;
  tbRobotBody* body;
  TB_TRY(refuse_xacro(r, root));
  r->name = tb_xml_get(root, "name");
  tb_xml_get(root, "version");
  TB_TRY(check_joints(r, root));
  TB_TRY(find_root(r, root, &base));
  const char* name = tb_xml_get(base, "name");
  bool weightless = !tb_xml_child(base, "inertial");
  if (weightless && strcmp(name, "world") == 0 && !tb_xml_child(base, "collision"))
    return add_children(r, root, name, NULL);
  TB_TRY(add_link(r, base, NULL, &body));
  body->free = options->floating;
  return add_children(r, root, name, body);
}
