// SPDX-License-Identifier: Apache-2.0
// A robot as a scene. Bodies that are fixed to the world stand; what is fixed to a moving body is welded to
// it, or, where it has no mass, becomes a part of it; a body with several joints gets light bodies between
// them.
#include "io/import/robot.h"

#include "base/json_write.h"
#include "geometry/hull.h"
#include "scene/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double helper_share = 1e-3; // of a body's mass, for those between its joints

static void put_vec3(tbJsonWriter* w, const char* key, tbVec3 v)
{
  tb_put_numbers(w, key, (double[]){v.x, v.y, v.z}, 3);
}

static void put_pose(tbJsonWriter* w, tbTransform T)
{
  put_vec3(w, "position", T.x);
  tb_put_numbers(w, "orientation", (double[]){T.q.w, T.q.x, T.q.y, T.q.z}, 4);
}

// Shapes.

static void put_points(tbJsonWriter* w, const tbVec3* point, int count)
{
  tb_put_array(w, "vertices");
  for (int i = 0; i < count; i++) put_vec3(w, NULL, point[i]);
  tb_put_end(w);
}

static tbStatus put_hull(tbRobot* r, tbJsonWriter* w, const tbRobotShape* s)
{
  if (s->point) {
    put_points(w, s->point, s->points);
    return TB_OK;
  }
  bool uniform = s->scale.x == s->scale.y && s->scale.y == s->scale.z && s->scale.x > 0;
  if (uniform) {
    const char* path;
    TB_TRY(tb_robot_relative(r, s->file, &path));
    tb_put_string(w, "file", path);
    if (s->scale.x != 1) tb_put_number(w, "scale", s->scale.x);
    return TB_OK;
  }
  tbHull* hull;
  TB_TRY(tb_hull_load(r->ctx, s->file, s->scale, &hull));
  put_points(w, hull->vertex, hull->nvertex);
  tb_hull_free(r->ctx, hull);
  return TB_OK;
}

static tbStatus put_shape(tbRobot* r, tbJsonWriter* w, const tbRobotShape* s, tbTransform offset)
{
  tbStatus status = TB_OK;
  tb_put_object(w, NULL);
  tb_put_string(w, "type", tb_shape_type_name(s->type));
  switch (s->type) {
  case TB_SHAPE_SPHERE: tb_put_number(w, "radius", s->size[0]); break;
  case TB_SHAPE_BOX: tb_put_numbers(w, "size", s->size, 3); break;
  case TB_SHAPE_CONVEX: status = put_hull(r, w, s); break;
  case TB_SHAPE_PLANE: break;
  default: tb_put_number(w, "radius", s->size[0]), tb_put_number(w, "length", s->size[1]);
  }
  put_pose(w, tb_transform_mul(offset, s->pose));
  tb_put_end(w);
  return status;
}

static bool has_shapes(const tbRobot* r, const tbRobotBody* body)
{
  for (const tbRobotBody* b = r->bodies; b; b = b->next)
    if (b->carrier == body && b->shapes) return true;
  return false;
}

static tbStatus put_shapes(tbRobot* r, tbJsonWriter* w, const tbRobotBody* body)
{
  if (!has_shapes(r, body)) return TB_OK;
  tb_put_array(w, "shapes");
  for (const tbRobotBody* b = r->bodies; b; b = b->next) {
    if (b->carrier != body) continue;
    tbTransform offset =
        b == body ? tb_transform_identity() : tb_transform_mul(tb_transform_inverse(body->place), b->place);
    for (const tbRobotShape* s = b->shapes; s; s = s->next) TB_TRY(put_shape(r, w, s, offset));
  }
  tb_put_end(w);
  return TB_OK;
}

// Materials, one for each friction, and what two of them do together: the larger of each number, as MuJoCo
// has it.

static bool same_friction(tbRobotFriction a, tbRobotFriction b)
{
  return a.rows == b.rows && a.length[0] == b.length[0] && a.length[1] == b.length[1] &&
         a.length[2] == b.length[2];
}

// The body that has the friction of another first.
static const tbRobotBody* first_like(const tbRobot* r, const tbRobotBody* body)
{
  const tbRobotBody* b = r->bodies;
  while (b != body && !(b->friction.rows && same_friction(b->friction, body->friction))) b = b->next;
  return b;
}

static const char* material_name(const tbRobot* r, const tbRobotBody* body, char name[24])
{
  int count = 1;
  const tbRobotBody* first = first_like(r, body);
  for (const tbRobotBody* b = r->bodies; b != first; b = b->next)
    if (b->friction.rows && first_like(r, b) == b) count++;
  snprintf(name, 24, "surface%d", count);
  return name;
}

static void put_friction(tbJsonWriter* w, tbRobotFriction f)
{
  double mu = f.rows >= 3 ? f.length[0] : 0;
  if (f.rows < 4) {
    tb_put_number(w, "friction", mu);
    return;
  }
  tb_put_object(w, "friction");
  tb_put_number(w, "mu", mu);
  tb_put_number(w, "torsion", f.length[1]);
  tb_put_number(w, "rolling", f.rows == 6 ? f.length[2] : 0);
  tb_put_end(w);
}

static void put_materials(tbRobot* r, tbJsonWriter* w)
{
  int count = 0;
  for (const tbRobotBody* b = r->bodies; b; b = b->next)
    if (b->friction.rows && first_like(r, b) == b) count++;
  if (!count) return;
  tb_put_object(w, "materials");
  for (const tbRobotBody* b = r->bodies; b; b = b->next) {
    if (!b->friction.rows || first_like(r, b) != b) continue;
    tb_put_object(w, material_name(r, b, (char[24]){0}));
    put_friction(w, b->friction);
    tb_put_end(w);
  }
  tb_put_end(w);
  if (count == 1) return;
  tb_put_array(w, "pairs");
  for (const tbRobotBody* a = r->bodies; a; a = a->next)
    for (const tbRobotBody* b = a->next; b && a->friction.rows && first_like(r, a) == a; b = b->next) {
      if (!b->friction.rows || first_like(r, b) != b) continue;
      tbRobotFriction f = {.rows = a->friction.rows > b->friction.rows ? a->friction.rows : b->friction.rows};
      for (int k = 0; k < 3; k++) f.length[k] = fmax(a->friction.length[k], b->friction.length[k]);
      tb_put_object(w, NULL);
      tb_put_string(w, "a", material_name(r, a, (char[24]){0}));
      tb_put_string(w, "b", material_name(r, b, (char[24]){0}));
      put_friction(w, f);
      tb_put_end(w);
    }
  tb_put_end(w);
}

// Bodies.

static void put_mass(tbJsonWriter* w, const tbRobotBody* b, double share)
{
  const double(*I)[3] = b->inertia.m;
  double moment[6] = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
  for (int i = 0; i < 6; i++) moment[i] *= share;
  tb_put_number(w, "mass", share * b->mass);
  tb_put_numbers(w, "inertia", moment, 6);
  put_vec3(w, "centre_of_mass", b->centre);
}

static const char* helper_name(tbRobot* r, const tbRobotBody* b, const tbRobotJoint* j)
{
  int number = 1;
  for (const tbRobotJoint* other = b->joints; other != j; other = other->next) number++;
  return j->name ? tb_robot_text(r, "%s/%s", b->name, j->name)
                 : tb_robot_text(r, "%s/joint%d", b->name, number);
}

// Between the joints of a body: one for every joint but the last.
static tbStatus put_helpers(tbRobot* r, tbJsonWriter* w, const tbRobotBody* b)
{
  for (const tbRobotJoint* j = b->joints; j && j->next; j = j->next) {
    const char* name = helper_name(r, b, j);
    if (!name) return TB_ERROR_MEMORY;
    tb_put_object(w, NULL);
    tb_put_string(w, "name", name);
    put_mass(w, b, helper_share);
    put_pose(w, j->next->place);
    tb_put_end(w);
    TB_TRY(tb_robot_note(
        r, j->at, "\"%.60s\" has several joints: a body of a thousandth of its mass stands between them",
        b->name));
  }
  return TB_OK;
}

static tbStatus put_body(tbRobot* r, tbJsonWriter* w, const tbRobotBody* b)
{
  tb_put_object(w, NULL);
  tb_put_string(w, "name", b->name);
  if (b->stands) tb_put_bool(w, "fixed", true);
  tbContext quiet = *r->ctx;
  if (b->mass > 0 && tb_inertia_check(&quiet, b->name, b->inertia) == TB_OK) put_mass(w, b, 1);
  put_pose(w, b->place);
  if (b->friction.rows) tb_put_string(w, "material", material_name(r, b, (char[24]){0}));
  if (b->category) tb_put_int(w, "category", b->category), tb_put_int(w, "mask", b->mask);
  TB_TRY(put_shapes(r, w, b));
  tb_put_end(w);
  return put_helpers(r, w, b);
}

// Joints.

static tbStatus put_drive(tbRobot* r, tbJsonWriter* w, const tbRobotJoint* j)
{
  bool spring = j->stiffness > 0 || j->damping > 0;
  if (j->servoed || spring) {
    bool joined = j->servoed && !isfinite(j->servo.force); // two springs of any force are one
    double own = j->servoed ? j->servo.stiffness : 0, more = joined || !j->servoed ? j->stiffness : 0;
    double sum = own + more, target = sum > 0 ? (own * j->target + more * j->rest) / sum : 0;
    bool bounded = j->limited && j->upper - j->lower <= 2 * TB_PI;
    if (sum > 0 && j->type == TB_JOINT_HINGE && !bounded && fabs(target - j->start) > TB_PI)
      TB_TRY(
          tb_robot_note(r, j->at,
                        "the target of the joint \"%.60s\" is more than half a turn away: without limits it "
                        "goes the short way",
                        j->name ? j->name : ""));
    tb_put_object(w, "servo");
    tb_put_number(w, "target", sum > 0 ? target - j->start : 0);
    tb_put_number(w, "stiffness", sum);
    tb_put_number(w, "damping", (j->servoed ? j->servo.damping : 0) + j->damping);
    if (j->servoed && !joined) tb_put_number(w, "force", j->servo.force);
    tb_put_end(w);
    if (j->servoed && !joined && j->stiffness > 0)
      TB_TRY(tb_robot_note(r, j->at,
                           "the spring of a joint whose actuator has a largest force is not in the scene"));
  }
  if (j->effort != 0) {
    tb_put_object(w, "effort");
    tb_put_number(w, "force", j->effort);
    tb_put_end(w);
  }
  if (j->friction > 0) tb_put_number(w, "friction", j->friction);
  if (j->armature > 0) tb_put_number(w, "armature", j->armature);
  return TB_OK;
}

static const char* carrier_name(const tbRobotBody* b) { return b ? b->carrier->name : NULL; }

static tbStatus put_joint(tbRobot* r, tbJsonWriter* w, const char* a, const char* b, const tbRobotBody* body,
                          const tbRobotJoint* j)
{
  tb_put_object(w, NULL);
  if (j && j->name) tb_put_string(w, "name", j->name);
  tb_put_string(w, "type", j ? tb_joint_type_name(j->type) : "weld");
  if (a) tb_put_string(w, "a", a);
  tb_put_string(w, "b", b);
  tbTransform T = j ? j->place : body->place;
  put_vec3(w, "anchor", tb_transform_point(T, j ? j->anchor : tb_zero3()));
  if (j && j->type != TB_JOINT_BALL) {
    put_vec3(w, "axis", tb_quat_rotate(T.q, j->axis));
    if (j->limited) tb_put_numbers(w, "limits", (double[]){j->lower - j->start, j->upper - j->start}, 2);
    if (j->limited && (j->lower > j->start || j->upper < j->start))
      TB_TRY(tb_robot_note(r, j->at, "the joint \"%.60s\" starts outside of its limits",
                           j->name ? j->name : ""));
    TB_TRY(put_drive(r, w, j));
  }
  tb_put_end(w);
  return TB_OK;
}

static tbStatus put_joints_of(tbRobot* r, tbJsonWriter* w, const tbRobotBody* b)
{
  const char* a = carrier_name(b->parent);
  if (b->stands || b->carrier != b || b->free) return TB_OK;
  if (!b->joints) return put_joint(r, w, a, b->name, b, NULL);
  for (const tbRobotJoint* j = b->joints; j; j = j->next) {
    const char* to = j->next ? helper_name(r, b, j) : b->name;
    if (!to) return TB_ERROR_MEMORY;
    TB_TRY(put_joint(r, w, a, to, b, j));
    a = to;
  }
  return TB_OK;
}

static tbStatus put_pair(tbRobot* r, tbJsonWriter* w, const tbRobotPair* p)
{
  const tbRobotBody *a = p->a ? tb_robot_body(r, p->a) : NULL, *b = p->b ? tb_robot_body(r, p->b) : NULL;
  if ((p->a && !a) || (p->b && !b))
    return tb_xml_fail(r->ctx, p->at, "there is no body \"%.60s\"", p->a && !a ? p->a : p->b);
  tb_put_object(w, NULL);
  tb_put_string(w, "type", p->kind == TB_PAIR_BALL ? "ball" : "weld");
  if (a) tb_put_string(w, "a", a->carrier->name);
  if (b) tb_put_string(w, "b", b->carrier->name);
  put_vec3(w, "anchor", a ? tb_transform_point(a->place, p->anchor) : p->anchor);
  tb_put_end(w);
  return TB_OK;
}

// Pairs that do not touch: those of a rigid group, and a group and the one it hangs on, besides those that a
// joint joins; and those that the file names.

static bool are_joined(const tbRobotBody* a, const tbRobotBody* b)
{
  return (b->parent && b->parent->carrier == a && !(b->joints && b->joints->next)) ||
         (a->parent && a->parent->carrier == b && !(a->joints && a->joints->next));
}

static bool are_near(const tbRobotBody* a, const tbRobotBody* b)
{
  const tbRobotBody *above_a = a->group ? a->group->parent : NULL,
                    *above_b = b->group ? b->group->parent : NULL;
  if (!a->group || !b->group) return false;
  return a->group == b->group || (above_b && above_b->group == a->group) ||
         (above_a && above_a->group == b->group);
}

static void put_ignored(tbJsonWriter* w, const char* a, const char* b)
{
  tb_put_object(w, NULL);
  tb_put_string(w, "a", a);
  tb_put_string(w, "b", b);
  tb_put_end(w);
}

static bool is_empty_world(const char* name, const tbRobotBody* body)
{
  return !body && strcmp(name, "worldbody") == 0;
}

static tbStatus put_ignores(tbRobot* r, tbJsonWriter* w)
{
  tb_put_array(w, "ignore");
  for (const tbRobotBody* a = r->bodies; a; a = a->next)
    for (const tbRobotBody* b = a->next; b; b = b->next)
      if (a->carrier == a && b->carrier == b && has_shapes(r, a) && has_shapes(r, b) && are_near(a, b) &&
          !are_joined(a, b))
        put_ignored(w, a->name, b->name);
  for (const tbRobotPair* p = r->pairs; p; p = p->next) {
    if (p->kind != TB_PAIR_IGNORE) continue;
    const tbRobotBody *a = tb_robot_body(r, p->a), *b = tb_robot_body(r, p->b);
    if (is_empty_world(p->a, a) || is_empty_world(p->b, b)) continue; // it has nothing to touch
    if (!a || !b) return tb_xml_fail(r->ctx, p->at, "there is no body \"%.60s\"", a ? p->b : p->a);
    if (a->carrier != b->carrier && (!a->stands || !b->stands))
      put_ignored(w, a->carrier->name, b->carrier->name);
  }
  tb_put_end(w);
  return TB_OK;
}

static tbStatus put_all(tbRobot* r, tbJsonWriter* w)
{
  tb_put_object(w, NULL);
  tb_put_int(w, "tribo", 1);
  if (r->name && *r->name) tb_put_string(w, "name", r->name);
  put_vec3(w, "gravity", r->gravity);
  tb_put_number(w, "dt", r->dt);
  tb_put_number(w, "time", 5);
  put_materials(r, w);
  tb_put_array(w, "bodies");
  for (const tbRobotBody* b = r->bodies; b; b = b->next)
    if (b->carrier == b) TB_TRY(put_body(r, w, b));
  tb_put_end(w);
  tb_put_array(w, "joints");
  for (const tbRobotBody* b = r->bodies; b; b = b->next) TB_TRY(put_joints_of(r, w, b));
  for (const tbRobotPair* p = r->pairs; p; p = p->next)
    if (p->kind != TB_PAIR_IGNORE) TB_TRY(put_pair(r, w, p));
  tb_put_end(w);
  TB_TRY(put_ignores(r, w));
  tb_put_end(w);
  return TB_OK;
}

tbStatus tb_robot_write(tbRobot* r, tbOut* out)
{
  tbJsonWriter w = tb_json_writer(out, 2);
  w.flat = 2;
  TB_TRY(put_all(r, &w));
  return tb_json_writer_finish(&w);
}
