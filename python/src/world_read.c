// SPDX-License-Identifier: Apache-2.0
// What a world says of itself, as arrays. All of them are copies: the next step would change what they show,
// and a body that is removed would move it.
#include "native.h"

#include <string.h>

static PyObject* counts(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  return Py_BuildValue("iiii", tb_world_body_count(world), tb_world_joint_count(world),
                       tb_world_material_count(world), tb_world_contact_count(world));
}

typedef void (*Fill)(const tbWorld* world, double* to);
static void fill_positions(const tbWorld* w, double* to) { tb_world_get_poses(w, to, NULL); }
static void fill_orientations(const tbWorld* w, double* to) { tb_world_get_poses(w, NULL, to); }
static void fill_velocities(const tbWorld* w, double* to) { tb_world_get_velocities(w, to, NULL); }
static void fill_angular(const tbWorld* w, double* to) { tb_world_get_velocities(w, NULL, to); }

// One row per body.
static PyObject* bodies_array(World* self, int width, Fill fill)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  PyObject* array;
  double* to = py_new_doubles(&array, 2, tb_world_body_count(world), width);
  if (to) fill(world, to);
  return py_finish(array);
}

static PyObject* positions(World* self, PyObject* unused) { return bodies_array(self, 3, fill_positions); }
static PyObject* orientations(World* self, PyObject* unused)
{
  return bodies_array(self, 4, fill_orientations);
}
static PyObject* velocities(World* self, PyObject* unused) { return bodies_array(self, 3, fill_velocities); }
static PyObject* angular(World* self, PyObject* unused) { return bodies_array(self, 3, fill_angular); }

static PyObject* masses(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  PyObject* array;
  int count = tb_world_body_count(world);
  double* to = py_new_doubles(&array, 1, count, 0);
  for (int i = 0; to && i < count; i++) to[i] = tb_body_mass(world, tb_world_body_at(world, i));
  return py_finish(array);
}

// Ids of all bodies, joints or materials, in order of places.
static PyObject* body_ids(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* list = world ? PyList_New(0) : NULL;
  for (int i = 0; list && i < tb_world_body_count(world); i++) {
    tbBodyId id = tb_world_body_at(world, i);
    PyObject* item = py_id(id.index, id.generation);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject* joint_ids(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* list = world ? PyList_New(0) : NULL;
  for (int i = 0; list && i < tb_world_joint_count(world); i++) {
    tbJointId id = tb_world_joint_at(world, i);
    PyObject* item = py_id(id.index, id.generation);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject* find_body(World* self, PyObject* args)
{
  const char* name;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "s:find_body", &name)) return NULL;
  tbBodyId id = tb_world_find_body(world, name);
  if (id.index >= 0) return py_id(id.index, id.generation);
  Py_RETURN_NONE;
}

static PyObject* find_material(World* self, PyObject* args)
{
  const char* name;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "s:find_material", &name)) return NULL;
  tbMaterialId id = tb_world_find_material(world, name);
  if (id.index >= 0) return py_id(id.index, id.generation);
  Py_RETURN_NONE;
}

static PyObject* find_joint(World* self, PyObject* args)
{
  const char* name;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "s:find_joint", &name)) return NULL;
  tbJointId id = tb_world_find_joint(world, name);
  if (id.index >= 0) return py_id(id.index, id.generation);
  Py_RETURN_NONE;
}

static PyObject* joint_name(World* self, PyObject* args)
{
  tbJointId joint;
  if (!PyArg_ParseTuple(args, "O&:joint_name", py_to_joint, &joint) || !py_world_has_joint(self, joint))
    return NULL;
  return Py_BuildValue("z", tb_joint_def(self->scene.world, joint).name);
}

static PyObject* body_place(World* self, PyObject* args)
{
  tbBodyId body;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "O&:body_place", py_to_body, &body)) return NULL;
  return PyLong_FromLong(tb_body_place(world, body));
}

static PyObject* joint_place(World* self, PyObject* args)
{
  tbJointId joint;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "O&:joint_place", py_to_joint, &joint)) return NULL;
  return PyLong_FromLong(tb_joint_place(world, joint));
}

// One body.

static PyObject* body_name(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_name", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  return PyUnicode_FromString(tb_body_name(self->scene.world, body));
}

static PyObject* body_kind(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_kind", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  return PyUnicode_FromString(tb_body_kind(self->scene.world, body));
}

static PyObject* body_asleep(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_asleep", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  return PyBool_FromLong(tb_body_asleep(self->scene.world, body));
}

static PyObject* body_get_mass(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_mass", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  return PyFloat_FromDouble(tb_body_mass(self->scene.world, body));
}

// which: 0 position, 1 orientation, 2 velocity, 3 angular velocity.
static PyObject* body_state(World* self, PyObject* args)
{
  tbBodyId body;
  int which;
  if (!PyArg_ParseTuple(args, "O&i:body_state", py_to_body, &body, &which) || !py_world_has_body(self, body))
    return NULL;
  tbBodyState state = tb_body_state(self->scene.world, body);
  switch (which) {
  case 0: return py_vec3(state.position);
  case 1: return py_quat(state.orientation);
  case 2: return py_vec3(state.velocity);
  default: return py_vec3(state.angular_velocity);
  }
}

static PyObject* body_nodes(World* self, PyObject* args)
{
  tbBodyId body;
  int moving;
  if (!PyArg_ParseTuple(args, "O&p:body_nodes", py_to_body, &body, &moving) || !py_world_has_body(self, body))
    return NULL;
  int count = tb_body_node_count(self->scene.world, body);
  const tbVec3* from =
      moving ? tb_body_node_velocities(self->scene.world, body) : tb_body_nodes(self->scene.world, body);
  PyObject* array;
  double* to = py_new_doubles(&array, 2, count, 3);
  if (to && count) memcpy(to, from, (size_t)count * sizeof(tbVec3));
  return py_finish(array);
}

static PyObject* body_modes(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_modes", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  int count = tb_body_mode_count(self->scene.world, body);
  PyObject* array;
  double* to = py_new_doubles(&array, 1, count, 0);
  if (to && count) memcpy(to, tb_body_modes(self->scene.world, body), (size_t)count * sizeof(double));
  return py_finish(array);
}

static PyObject* body_triangles(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:body_triangles", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  int count = tb_body_triangle_count(self->scene.world, body);
  PyObject* array;
  int* to = py_new_ints(&array, 2, count, 3);
  if (to && count) memcpy(to, tb_body_triangles(self->scene.world, body), (size_t)count * sizeof(int[3]));
  return py_finish(array);
}

// Joints.

static PyObject* joint_state(World* self, PyObject* args)
{
  tbJointId joint;
  if (!PyArg_ParseTuple(args, "O&:joint_state", py_to_joint, &joint) || !py_world_has_joint(self, joint))
    return NULL;
  tbJointState state = tb_joint_state(self->scene.world, joint);
  PyObject *force = py_vec3(state.force), *torque = py_vec3(state.torque);
  if (force && torque)
    return Py_BuildValue("ddNNd", state.coordinate, state.speed, force, torque, state.drive);
  Py_XDECREF(force), Py_XDECREF(torque);
  return NULL;
}

static PyObject* joint_def(World* self, PyObject* args)
{
  tbJointId joint;
  if (!PyArg_ParseTuple(args, "O&:joint_def", py_to_joint, &joint) || !py_world_has_joint(self, joint))
    return NULL;
  tbJointDef def = tb_joint_def(self->scene.world, joint);
  PyObject *a = py_id(def.a.index, def.a.generation), *b = py_id(def.b.index, def.b.generation);
  if (def.a.index < 0) Py_XDECREF(a), a = Py_NewRef(Py_None);
  if (def.b.index < 0) Py_XDECREF(b), b = Py_NewRef(Py_None);
  PyObject* limits = def.limited ? Py_BuildValue("dd", def.lower, def.upper) : Py_NewRef(Py_None);
  if (a && b && limits)
    return Py_BuildValue("sNNNdddd", tb_joint_type_name(def.type), a, b, limits,
                         def.servoed ? def.servo_target : def.motor_speed, def.effort, def.friction,
                         def.armature);
  Py_XDECREF(a), Py_XDECREF(b), Py_XDECREF(limits);
  return NULL;
}

// xx, yy, zz, xy, xz, yz about the centre of mass, body axes.
static PyObject* body_inertia(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* array;
  if (!PyArg_ParseTuple(args, "O&:body_inertia", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  double* to = py_new_doubles(&array, 1, 6, 0);
  if (to) tb_body_inertia(self->scene.world, body, to);
  return py_finish(array);
}

static PyObject* material_ids(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* list = world ? PyList_New(0) : NULL;
  for (int i = 0; list && i < tb_world_material_count(world); i++) {
    tbMaterialId id = tb_world_material_at(world, i);
    PyObject* item = py_id(id.index, id.generation);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

// which: 0 angles and travels, 1 their rates, 2 what motors and servos bring. One number per joint.
static PyObject* joint_numbers(World* self, PyObject* args)
{
  int which;
  if (!PyArg_ParseTuple(args, "i:joint_numbers", &which)) return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  PyObject* array;
  int count = tb_world_joint_count(world);
  double* to = py_new_doubles(&array, 1, count, 0);
  for (int i = 0; to && i < count; i++) {
    tbJointState state = tb_joint_state(world, tb_world_joint_at(world, i));
    to[i] = which == 0 ? state.coordinate : which == 1 ? state.speed : state.drive;
  }
  return py_finish(array);
}

// Contacts: a tuple of arrays, in the order of Contacts in world.py.

static bool add_array(PyObject* tuple, Py_ssize_t at, PyObject* array)
{
  array = py_finish(array);
  return array && PyTuple_SetItem(tuple, at, array) == 0;
}

static PyObject* contacts(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* tuple = world ? PyTuple_New(10) : NULL;
  if (!tuple) return NULL;
  int count = tb_world_contact_count(world);
  PyObject* array[10] = {0};
  tbContactArrays out = {0};
  double* residual = NULL;
  bool good = (out.a = py_new_ints(&array[0], 1, count, 0)) &&
              (out.b = py_new_ints(&array[1], 1, count, 0)) &&
              (out.position = py_new_doubles(&array[2], 2, count, 3)) &&
              (out.normal = py_new_doubles(&array[3], 2, count, 3)) &&
              (out.tangent = py_new_doubles(&array[4], 2, count, 3)) &&
              (out.gap = py_new_doubles(&array[5], 1, count, 0)) &&
              (out.impulse = py_new_doubles(&array[6], 2, count, 6)) &&
              (out.velocity = py_new_doubles(&array[7], 2, count, 6)) &&
              (out.state = py_new_ints(&array[8], 1, count, 0)) &&
              (residual = py_new_doubles(&array[9], 1, count, 0));
  if (good) tb_world_get_contacts(world, &out);
  for (int i = 0; good && i < count; i++) residual[i] = tb_world_contact(world, i).residual;
  for (int i = 0; i < 10; i++)
    if (good) good = add_array(tuple, i, array[i]);
    else Py_XDECREF(array[i]);
  if (good) return tuple;
  Py_DECREF(tuple);
  return NULL;
}

static PyObject* events(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* list = world ? PyList_New(0) : NULL;
  for (int i = 0; list && i < tb_world_event_count(world); i++) {
    tbContactEvent event = tb_world_event(world, i);
    PyObject* item = Py_BuildValue("NNN", py_id(event.a.index, event.a.generation),
                                   py_id(event.b.index, event.b.generation), PyBool_FromLong(event.begins));
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

// The whole.

static PyObject* whole(World* self, PyObject* args)
{
  const char* what;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "s:whole", &what)) return NULL;
  switch (*what) {
  case 't': return PyFloat_FromDouble(tb_world_time(world));
  case 's': return PyLong_FromLongLong(tb_world_step_count(world));
  case 'g': return py_vec3(tb_world_gravity(world));
  case 'm': return py_vec3(tb_world_momentum(world));
  case 'a': return py_vec3(tb_world_angular_momentum(world));
  case 'h':
    return PyUnicode_FromFormat("%08x%08x", (unsigned)(tb_world_hash(world) >> 32),
                                (unsigned)tb_world_hash(world));
  default: {
    tbEnergy energy = tb_world_energy(world);
    return Py_BuildValue("ddd", energy.kinetic, energy.potential, energy.elastic);
  }
  }
}

PyMethodDef py_world_read_methods[] = {{"_counts", (PyCFunction)counts, METH_NOARGS, NULL},
                                       {"_body_inertia", (PyCFunction)body_inertia, METH_VARARGS, NULL},
                                       {"_material_ids", (PyCFunction)material_ids, METH_NOARGS, NULL},
                                       {"_positions", (PyCFunction)positions, METH_NOARGS, NULL},
                                       {"_orientations", (PyCFunction)orientations, METH_NOARGS, NULL},
                                       {"_velocities", (PyCFunction)velocities, METH_NOARGS, NULL},
                                       {"_angular", (PyCFunction)angular, METH_NOARGS, NULL},
                                       {"_masses", (PyCFunction)masses, METH_NOARGS, NULL},
                                       {"_body_ids", (PyCFunction)body_ids, METH_NOARGS, NULL},
                                       {"_joint_ids", (PyCFunction)joint_ids, METH_NOARGS, NULL},
                                       {"_find_body", (PyCFunction)find_body, METH_VARARGS, NULL},
                                       {"_find_material", (PyCFunction)find_material, METH_VARARGS, NULL},
                                       {"_body_place", (PyCFunction)body_place, METH_VARARGS, NULL},
                                       {"_joint_place", (PyCFunction)joint_place, METH_VARARGS, NULL},
                                       {"_body_name", (PyCFunction)body_name, METH_VARARGS, NULL},
                                       {"_body_kind", (PyCFunction)body_kind, METH_VARARGS, NULL},
                                       {"_body_asleep", (PyCFunction)body_asleep, METH_VARARGS, NULL},
                                       {"_body_get_mass", (PyCFunction)body_get_mass, METH_VARARGS, NULL},
                                       {"_body_state", (PyCFunction)body_state, METH_VARARGS, NULL},
                                       {"_body_nodes", (PyCFunction)body_nodes, METH_VARARGS, NULL},
                                       {"_body_modes", (PyCFunction)body_modes, METH_VARARGS, NULL},
                                       {"_body_triangles", (PyCFunction)body_triangles, METH_VARARGS, NULL},
                                       {"_find_joint", (PyCFunction)find_joint, METH_VARARGS, NULL},
                                       {"_joint_name", (PyCFunction)joint_name, METH_VARARGS, NULL},
                                       {"_joint_state", (PyCFunction)joint_state, METH_VARARGS, NULL},
                                       {"_joint_def", (PyCFunction)joint_def, METH_VARARGS, NULL},
                                       {"_joint_numbers", (PyCFunction)joint_numbers, METH_VARARGS, NULL},
                                       {"_contacts", (PyCFunction)contacts, METH_NOARGS, NULL},
                                       {"_events", (PyCFunction)events, METH_NOARGS, NULL},
                                       {"_whole", (PyCFunction)whole, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
