// SPDX-License-Identifier: Apache-2.0
// Where the bodies of a robot are when its scene begins, and what becomes of those that have no mass.
#include "io/import/robot.h"

#include "scene/world.h"

#include <math.h>
#include <string.h>

// ---- masses ----

// Inertias that no body can have (zeros in URDF files, mostly) are raised by equal moments, as little as it
// takes.
static tbStatus mend_inertia(tbRobot* r, tbRobotBody* b)
{
  tbContext quiet = *r->ctx;
  if (tb_inertia_check(&quiet, b->name, b->inertia) == TB_OK) return TB_OK;
  double trace = tb_mat3_trace(b->inertia), more = trace > 0 ? 1e-4 * trace : 1e-6 * b->mass;
  tbMat3 given = b->inertia;
  for (int i = 0; i < 40; i++, more *= 2) {
    b->inertia = tb_mat3_add(given, tb_mat3_diag(more, more, more));
    if (tb_inertia_check(&quiet, b->name, b->inertia) == TB_OK)
      return tb_robot_note(
          r, b->at, "the inertia of \"%.60s\" is not positive definite: %.3g kg·m² is added to its moments",
          b->name, more);
  }
  return tb_xml_fail(r->ctx, b->at, "the inertia of \"%.60s\" is not positive definite", b->name);
}

static bool is_fixed(const tbRobotBody* b) { return !b->joints && !b->free; }

static void unlink_body(tbRobot* r, tbRobotBody* body)
{
  tbRobotBody** link = &r->bodies;
  while (*link != body) link = &(*link)->next;
  *link = body->next;
  if (r->last != body) return;
  r->last = NULL;
  for (tbRobotBody* b = r->bodies; b; b = b->next) r->last = b;
}

// A child with mass that is fixed to a moving body without takes its place: the joints, and the body as a
// part of it.
static void lead(tbRobot* r, tbRobotBody* body, tbRobotBody* child)
{
  tbTransform to = tb_transform_inverse(child->pose); // from the body's frame to the child's
  for (tbRobotJoint* j = body->joints; j; j = j->next) {
    j->anchor = tb_transform_point(to, j->anchor);
    j->axis = tb_quat_rotate(to.q, j->axis);
    j->turn = tb_quat_mul(to.q, tb_quat_mul(j->turn, tb_quat_conj(to.q)));
  }
  unlink_body(r, child);
  tbRobotBody** link = &r->bodies;
  while (*link != body) link = &(*link)->next;
  *link = child, child->next = body;
  child->pose = tb_transform_mul(body->pose, child->pose);
  child->parent = body->parent, child->joints = body->joints, child->free = body->free;
  body->parent = child, body->pose = to, body->joints = NULL, body->free = false;
}

static bool hangs_on(const tbRobotBody* b, const tbRobotBody* body)
{
  while (b && b != body) b = b->parent;
  return b != NULL;
}

// What a moving body without mass gets: the place of a fixed child, a little of the mass that hangs on it, or
// none.
static tbStatus give_mass(tbRobot* r, tbRobotBody* body, bool* gone)
{
  const tbRobotBody* heavy = NULL;
  bool touches = false;
  *gone = false;
  for (tbRobotBody* b = body->next; b; b = b->next) {
    if (b->parent == body && is_fixed(b) && b->mass > 0) return lead(r, body, b), TB_OK;
    if (hangs_on(b, body) && b->mass > 0 && !heavy) heavy = b;
  }
  for (tbRobotBody* b = body; b; b = b->next) touches = touches || (hangs_on(b, body) && b->shapes);
  if (!heavy && touches)
    return tb_xml_fail(r->ctx, body->at, "\"%.60s\" moves, but has no mass: give it an inertial", body->name);
  if (!heavy) {
    *gone = true;
    return tb_robot_note(r, body->at,
                         "\"%.60s\" moves, but neither it nor what hangs on it has mass or shape: left out",
                         body->name);
  }
  body->mass = 1e-3 * heavy->mass, body->inertia = tb_mat3_scale(1e-3, heavy->inertia);
  body->centre = body->joints ? body->joints->anchor : tb_zero3();
  return tb_robot_note(r, body->at, "\"%.60s\" moves without mass: it gets a thousandth of that of \"%.60s\"",
                       body->name, heavy->name);
}

static bool moves_with(const tbRobotBody* b) // whether it is not fixed to the world
{
  while (b && is_fixed(b)) b = b->parent;
  return b != NULL;
}

static tbStatus give_masses(tbRobot* r)
{
  for (tbRobotBody *b = r->bodies, *next; b; b = next) {
    bool gone = false;
    next = b->next;
    if (is_fixed(b) || b->mass > 0) continue;
    TB_TRY(give_mass(r, b, &gone));
    next = b->next;
    if (!gone) continue;
    for (tbRobotBody *c = b->next, *after; c; c = after) {
      after = c->next;
      if (hangs_on(c, b)) unlink_body(r, c);
    }
    next = b->next;
    unlink_body(r, b);
  }
  return TB_OK;
}

// ---- places ----

tbStatus tb_robot_start(tbRobot* r, const tbImportOptions* options)
{
  for (int i = 0; i < options->joint_count; i++) {
    const tbImportJoint* asked = &options->joints[i];
    tbRobotJoint* j = asked->name ? tb_robot_joint(r, asked->name) : NULL;
    if (!j || j->type == TB_JOINT_BALL)
      return tb_fail(r->ctx, TB_ERROR_ARGUMENT, "%.200s: there is no hinge or slider \"%.60s\"", r->path,
                     asked->name ? asked->name : "");
    if (!isfinite(asked->coordinate))
      return tb_fail(r->ctx, TB_ERROR_ARGUMENT, "the coordinate of \"%.60s\" must be finite", asked->name);
    j->start = asked->coordinate - j->reference;
  }
  return TB_OK;
}

// From the body's frame before the joint moves to that after.
static tbTransform motion_of(const tbRobotJoint* j)
{
  tbQuat turn = tb_quat_identity();
  tbVec3 slide = tb_zero3();
  if (j->type == TB_JOINT_BALL) turn = j->turn;
  if (j->type == TB_JOINT_SLIDER) slide = tb_scale3(j->start, j->axis);
  if (j->type == TB_JOINT_HINGE) {
    double s, c;
    tb_sin_cos(0.5 * j->start, &s, &c);
    turn = tb_quat(c, s * j->axis.x, s * j->axis.y, s * j->axis.z);
  }
  tbVec3 stays = tb_sub3(j->anchor, tb_quat_rotate(turn, j->anchor));
  return tb_transform(turn, tb_add3(stays, slide));
}

static void place(tbRobotBody* b)
{
  b->place = b->parent ? tb_transform_mul(b->parent->place, b->pose) : b->pose;
  for (tbRobotJoint* j = b->joints; j; j = j->next) {
    j->place = b->place;
    b->place = tb_transform_mul(b->place, motion_of(j));
  }
}

tbStatus tb_robot_arrange(tbRobot* r)
{
  TB_TRY(give_masses(r));
  for (tbRobotBody* b = r->bodies; b; b = b->next) {
    const tbRobotBody* p = b->parent;
    bool fixed = is_fixed(b);
    place(b);
    b->stands = !moves_with(b);
    b->group = b->stands ? NULL : fixed ? p->group : b;
    b->carrier = b->stands || b->mass > 0 ? b : p->carrier;
    if (b->free && p && !p->stands)
      return tb_xml_fail(r->ctx, b->at, "\"%.60s\" moves freely, but its parent moves as well", b->name);
    if (b->mass > 0 && !b->stands) TB_TRY(mend_inertia(r, b));
    for (const tbRobotShape* s = b->shapes; s && !b->stands; s = s->next)
      if (s->type == TB_SHAPE_PLANE)
        return tb_xml_fail(r->ctx, s->at, "\"%.60s\" moves, but is a plane", b->name);
  }
  return TB_OK;
}
