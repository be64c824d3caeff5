// SPDX-License-Identifier: Apache-2.0
// Changing what is in a world: tribo/change.h, call by call.
#include "native.h"

#include <limits.h>
#include <math.h>

// Ends a call that has changed something.
static PyObject* done(World* self, tbStatus status)
{
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

static PyObject* remove_body(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:remove_body", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  return done(self, tb_world_remove_body(&self->ctx, self->scene.world, body));
}

static PyObject* remove_joint(World* self, PyObject* args)
{
  tbJointId joint;
  if (!PyArg_ParseTuple(args, "O&:remove_joint", py_to_joint, &joint) || !py_world_has_joint(self, joint))
    return NULL;
  return done(self, tb_world_remove_joint(&self->ctx, self->scene.world, joint));
}

static PyObject* remove_material(World* self, PyObject* args)
{
  tbMaterialId material;
  if (!PyArg_ParseTuple(args, "O&:remove_material", py_to_material, &material) || !py_world(self))
    return NULL;
  return done(self, tb_world_remove_material(&self->ctx, self->scene.world, material));
}

static PyObject* set_gravity(World* self, PyObject* args)
{
  tbVec3 gravity;
  if (!PyArg_ParseTuple(args, "O&:set_gravity", py_to_vec3, &gravity) || !py_world(self)) return NULL;
  return done(self, tb_world_set_gravity(&self->ctx, self->scene.world, gravity));
}

static PyObject* material_friction(World* self, PyObject* args)
{
  tbMaterialId material;
  tbFriction friction;
  if (!PyArg_ParseTuple(args, "O&O&:set_friction", py_to_material, &material, py_to_friction, &friction))
    return NULL;
  if (!py_world(self)) return NULL;
  return done(self, tb_material_set_friction(&self->ctx, self->scene.world, material, friction));
}

static PyObject* material_restitution(World* self, PyObject* args)
{
  tbMaterialId material;
  double restitution;
  if (!PyArg_ParseTuple(args, "O&d:set_restitution", py_to_material, &material, &restitution)) return NULL;
  if (!py_world(self)) return NULL;
  return done(self, tb_material_set_restitution(&self->ctx, self->scene.world, material, restitution));
}

static PyObject* material_spring(World* self, PyObject* args)
{
  tbMaterialId material;
  tbContactSpring spring;
  if (!PyArg_ParseTuple(args, "O&ddd:set_spring", py_to_material, &material, &spring.stiffness,
                        &spring.damping, &spring.coat))
    return NULL;
  if (!py_world(self)) return NULL;
  return done(self, tb_material_set_spring(&self->ctx, self->scene.world, material, spring));
}

static PyObject* set_pair_spring(World* self, PyObject* args)
{
  tbMaterialId a, b;
  tbContactSpring spring;
  if (!PyArg_ParseTuple(args, "O&O&ddd:set_pair_spring", py_to_material, &a, py_to_material, &b,
                        &spring.stiffness, &spring.damping, &spring.coat))
    return NULL;
  if (!py_world(self)) return NULL;
  return done(self, tb_world_set_pair_spring(&self->ctx, self->scene.world, a, b, spring));
}

static PyObject* set_pair(World* self, PyObject* args)
{
  tbMaterialId a, b;
  tbFriction friction;
  double restitution;
  if (!PyArg_ParseTuple(args, "O&O&O&d:set_pair", py_to_material, &a, py_to_material, &b, py_to_friction,
                        &friction, &restitution))
    return NULL;
  if (!py_world(self)) return NULL;
  return done(self, tb_world_set_pair(&self->ctx, self->scene.world, a, b, friction, restitution));
}

static PyObject* set_state(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject *position, *orientation, *velocity, *angular;
  if (!PyArg_ParseTuple(args, "O&OOOO:set_state", py_to_body, &body, &position, &orientation, &velocity,
                        &angular))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  tbBodyState state = tb_body_state(self->scene.world, body);
  if (position != Py_None && !py_to_vec3(position, &state.position)) return NULL;
  if (orientation != Py_None && !py_to_quat(orientation, &state.orientation)) return NULL;
  if (velocity != Py_None && !py_to_vec3(velocity, &state.velocity)) return NULL;
  if (angular != Py_None && !py_to_vec3(angular, &state.angular_velocity)) return NULL;
  if (!py_world_has_body(self, body)) return NULL; // reading sequences may run Python code
  return done(self, tb_body_set_state(&self->ctx, self->scene.world, body, &state));
}

static PyObject* set_nodes(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject *positions, *velocities;
  if (!PyArg_ParseTuple(args, "O&OO:set_nodes", py_to_body, &body, &positions, &velocities)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  int count = tb_body_node_count(self->scene.world, body);
  Numbers x, v;
  if (!py_read_numbers(positions, "positions", 2, count, 3, &x)) return NULL;
  if (!py_read_numbers(velocities, "velocities", 2, count, 3, &v)) {
    PyMem_Free(x.at);
    return NULL;
  }
  tbStatus status = TB_OK;
  bool there = py_world_has_body(self, body);
  if (there)
    status = tb_body_set_nodes(&self->ctx, self->scene.world, body, (const tbVec3*)x.at, (const tbVec3*)v.at);
  PyMem_Free(x.at), PyMem_Free(v.at);
  return there ? done(self, status) : NULL;
}

static PyObject* apply(World* self, PyObject* args)
{
  tbBodyId body;
  tbVec3 force, torque;
  if (!PyArg_ParseTuple(args, "O&O&O&:apply", py_to_body, &body, py_to_vec3, &force, py_to_vec3, &torque))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(self, tb_body_apply(&self->ctx, self->scene.world, body, force, torque));
}

static PyObject* apply_at(World* self, PyObject* args)
{
  tbBodyId body;
  tbVec3 force, point;
  if (!PyArg_ParseTuple(args, "O&O&O&:apply_at", py_to_body, &body, py_to_vec3, &force, py_to_vec3, &point))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(self, tb_body_apply_at(&self->ctx, self->scene.world, body, force, point));
}

static PyObject* apply_nodes(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* forces;
  Numbers f;
  if (!PyArg_ParseTuple(args, "O&O:apply_nodes", py_to_body, &body, &forces)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  if (!py_read_numbers(forces, "forces", 2, tb_body_node_count(self->scene.world, body), 3, &f)) return NULL;
  bool there = py_world_has_body(self, body);
  tbStatus status =
      there ? tb_body_apply_nodes(&self->ctx, self->scene.world, body, (const tbVec3*)f.at) : TB_OK;
  PyMem_Free(f.at);
  return there ? done(self, status) : NULL;
}

static PyObject* unpin(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* list;
  int* nodes;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "O&O:unpin", py_to_body, &body, &list)) return NULL;
  if (!py_read_ints(list, "nodes", 1, -1, -1, &nodes, &count)) return NULL;
  bool there = py_world_has_body(self, body);
  tbStatus status = there ? tb_body_unpin(&self->ctx, self->scene.world, body, nodes, (int)count) : TB_OK;
  PyMem_Free(nodes);
  return there ? done(self, status) : NULL;
}

static PyObject* body_material(World* self, PyObject* args)
{
  tbBodyId body;
  tbMaterialId material;
  if (!PyArg_ParseTuple(args, "O&O&:set_material", py_to_body, &body, py_to_material, &material)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(self, tb_body_set_material(&self->ctx, self->scene.world, body, material));
}

static PyObject* body_friction(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* object;
  tbFriction friction;
  if (!PyArg_ParseTuple(args, "O&O:set_friction", py_to_body, &body, &object)) return NULL;
  if (object != Py_None && !py_to_friction(object, &friction)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(
      self, tb_body_set_friction(&self->ctx, self->scene.world, body, object == Py_None ? NULL : &friction));
}

static PyObject* body_restitution(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* object;
  double value = 0;
  if (!PyArg_ParseTuple(args, "O&O:set_restitution", py_to_body, &body, &object)) return NULL;
  if (object != Py_None) value = PyFloat_AsDouble(object);
  if ((value == -1 && PyErr_Occurred()) || !py_world_has_body(self, body)) return NULL;
  return done(
      self, tb_body_set_restitution(&self->ctx, self->scene.world, body, object == Py_None ? NULL : &value));
}

static PyObject* body_mass(World* self, PyObject* args)
{
  tbBodyId body;
  double mass, inertia[6];
  PyObject* object;
  if (!PyArg_ParseTuple(args, "O&dO:set_mass", py_to_body, &body, &mass, &object)) return NULL;
  if (object != Py_None && !py_read_fixed(object, "inertia (xx, yy, zz, xy, xz, yz)", 6, inertia))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(
      self, tb_body_set_mass(&self->ctx, self->scene.world, body, mass, object == Py_None ? NULL : inertia));
}

static PyObject* move_to(World* self, PyObject* args)
{
  tbBodyId body;
  tbVec3 position;
  tbQuat orientation;
  double seconds;
  if (!PyArg_ParseTuple(args, "O&O&O&d:move_to", py_to_body, &body, py_to_vec3, &position, py_to_quat,
                        &orientation, &seconds))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(self, tb_body_move_to(&self->ctx, self->scene.world, body, position, orientation, seconds));
}

static PyObject* set_filter(World* self, PyObject* args)
{
  tbBodyId body;
  uint32_t category, mask;
  if (!PyArg_ParseTuple(args, "O&O&O&:set_filter", py_to_body, &body, py_to_bits, &category, py_to_bits,
                        &mask))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  return done(self, tb_body_set_filter(&self->ctx, self->scene.world, body, category, mask));
}

// Coordinates of a reduced body, and their rates or None.
static PyObject* set_modes(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject *coordinates, *rates;
  Numbers q = {0}, speed = {0};
  if (!PyArg_ParseTuple(args, "O&OO:set_modes", py_to_body, &body, &coordinates, &rates)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  int count = tb_body_mode_count(self->scene.world, body);
  if (!py_read_numbers(coordinates, "coordinates", 1, count, -1, &q)) return NULL;
  bool good = rates == Py_None || py_read_numbers(rates, "rates", 1, count, -1, &speed);
  good = good && py_world_has_body(self, body); // reading may run Python code of its own
  PyObject* result = !good ? NULL
                           : done(self, tb_body_set_modes(&self->ctx, self->scene.world, body, q.at,
                                                          rates == Py_None ? NULL : speed.at));
  PyMem_Free(q.at), PyMem_Free(speed.at);
  return result;
}

static PyObject* ignore_pair(World* self, PyObject* args)
{
  tbBodyId a, b;
  int ignore;
  if (!PyArg_ParseTuple(args, "O&O&p:ignore_pair", py_to_body, &a, py_to_body, &b, &ignore)) return NULL;
  if (!py_world_has_body(self, a) || !py_world_has_body(self, b)) return NULL;
  return done(self, tb_world_ignore_pair(&self->ctx, self->scene.world, a, b, ignore));
}

static PyObject* set_motor(World* self, PyObject* args)
{
  tbJointId joint;
  int on;
  double speed, force;
  if (!PyArg_ParseTuple(args, "O&pdd:set_motor", py_to_joint, &joint, &on, &speed, &force)) return NULL;
  if (!py_world_has_joint(self, joint)) return NULL;
  return done(self, tb_joint_set_motor(&self->ctx, self->scene.world, joint, on, speed, force));
}

static PyObject* set_servo(World* self, PyObject* args)
{
  tbJointId joint;
  int on;
  tbServo servo;
  double target;
  if (!PyArg_ParseTuple(args, "O&pdddd:set_servo", py_to_joint, &joint, &on, &target, &servo.stiffness,
                        &servo.damping, &servo.force))
    return NULL;
  if (!py_world_has_joint(self, joint)) return NULL;
  return done(self, tb_joint_set_servo(&self->ctx, self->scene.world, joint, on ? &servo : NULL, target));
}

static PyObject* set_target(World* self, PyObject* args)
{
  tbJointId joint;
  double target;
  if (!PyArg_ParseTuple(args, "O&d:set_target", py_to_joint, &joint, &target)) return NULL;
  if (!py_world_has_joint(self, joint)) return NULL;
  return done(self, tb_joint_set_target(&self->ctx, self->scene.world, joint, target));
}

typedef tbStatus (*SetNumber)(tbContext*, tbWorld*, tbJointId, double);

static PyObject* set_number(World* self, PyObject* args, SetNumber set)
{
  tbJointId joint;
  double value;
  if (!PyArg_ParseTuple(args, "O&d", py_to_joint, &joint, &value)) return NULL;
  if (!py_world_has_joint(self, joint)) return NULL;
  return done(self, set(&self->ctx, self->scene.world, joint, value));
}

static PyObject* set_effort(World* self, PyObject* args)
{
  return set_number(self, args, tb_joint_set_effort);
}

static PyObject* set_friction(World* self, PyObject* args)
{
  return set_number(self, args, tb_joint_set_friction);
}

static PyObject* set_armature(World* self, PyObject* args)
{
  return set_number(self, args, tb_joint_set_armature);
}

// Rows of a time and a target, speed or, where the first argument is true, effort.
static PyObject* set_keys(World* self, PyObject* args)
{
  tbJointId joint;
  PyObject* rows;
  Numbers numbers;
  int efforts;
  if (!PyArg_ParseTuple(args, "pO&O:set_keys", &efforts, py_to_joint, &joint, &rows)) return NULL;
  if (!py_world_has_joint(self, joint) || !py_read_numbers(rows, "keys", 2, -1, 2, &numbers)) return NULL;
  int count = numbers.shape[0] < INT_MAX ? (int)numbers.shape[0] : INT_MAX;
  tbJointKey* keys = PyMem_Malloc(((size_t)count + 1) * sizeof *keys);
  for (int i = 0; keys && i < count; i++)
    keys[i] = (tbJointKey){numbers.at[2 * (size_t)i], numbers.at[2 * (size_t)i + 1]};
  PyMem_Free(numbers.at);
  if (!keys) return PyErr_NoMemory();
  tbStatus status = TB_OK;
  bool there = py_world_has_joint(self, joint); // reading sequences may run Python code
  if (there)
    status = (efforts ? tb_joint_set_effort_keys : tb_joint_set_keys)(&self->ctx, self->scene.world, joint,
                                                                      keys, count);
  PyMem_Free(keys);
  return there ? done(self, status) : NULL;
}

PyMethodDef py_world_change_methods[] = {
    {"_remove_body", (PyCFunction)remove_body, METH_VARARGS, NULL},
    {"_remove_joint", (PyCFunction)remove_joint, METH_VARARGS, NULL},
    {"_remove_material", (PyCFunction)remove_material, METH_VARARGS, NULL},
    {"_set_gravity", (PyCFunction)set_gravity, METH_VARARGS, NULL},
    {"_material_friction", (PyCFunction)material_friction, METH_VARARGS, NULL},
    {"_material_spring", (PyCFunction)material_spring, METH_VARARGS, NULL},
    {"_set_pair_spring", (PyCFunction)set_pair_spring, METH_VARARGS, NULL},
    {"_material_restitution", (PyCFunction)material_restitution, METH_VARARGS, NULL},
    {"_set_pair", (PyCFunction)set_pair, METH_VARARGS, NULL},
    {"_set_state", (PyCFunction)set_state, METH_VARARGS, NULL},
    {"_set_nodes", (PyCFunction)set_nodes, METH_VARARGS, NULL},
    {"_apply", (PyCFunction)apply, METH_VARARGS, NULL},
    {"_apply_at", (PyCFunction)apply_at, METH_VARARGS, NULL},
    {"_apply_nodes", (PyCFunction)apply_nodes, METH_VARARGS, NULL},
    {"_unpin", (PyCFunction)unpin, METH_VARARGS, NULL},
    {"_body_material", (PyCFunction)body_material, METH_VARARGS, NULL},
    {"_body_friction", (PyCFunction)body_friction, METH_VARARGS, NULL},
    {"_body_restitution", (PyCFunction)body_restitution, METH_VARARGS, NULL},
    {"_body_mass", (PyCFunction)body_mass, METH_VARARGS, NULL},
    {"_move_to", (PyCFunction)move_to, METH_VARARGS, NULL},
    {"_set_filter", (PyCFunction)set_filter, METH_VARARGS, NULL},
    {"_ignore_pair", (PyCFunction)ignore_pair, METH_VARARGS, NULL},
    {"_set_motor", (PyCFunction)set_motor, METH_VARARGS, NULL},
    {"_set_servo", (PyCFunction)set_servo, METH_VARARGS, NULL},
    {"_set_target", (PyCFunction)set_target, METH_VARARGS, NULL},
    {"_set_effort", (PyCFunction)set_effort, METH_VARARGS, NULL},
    {"_set_joint_friction", (PyCFunction)set_friction, METH_VARARGS, NULL},
    {"_set_armature", (PyCFunction)set_armature, METH_VARARGS, NULL},
    {"_set_keys", (PyCFunction)set_keys, METH_VARARGS, NULL},
    {"_set_modes", (PyCFunction)set_modes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
