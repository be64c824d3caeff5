// SPDX-License-Identifier: Apache-2.0
// What a world is made of: shapes, sizes, frictions, doubts; sums over contacts; all nodes at once.
#include "native.h"

#include "tribo/tools/status.h"

#include <limits.h>

// Rows of three numbers.
static PyObject* vertices_of(const tbVec3* from, int count)
{
  PyObject* array;
  double* to = py_new_doubles(&array, 2, count, 3);
  for (int i = 0; to && i < count; i++)
    to[3 * (size_t)i] = from[i].x, to[3 * (size_t)i + 1] = from[i].y, to[3 * (size_t)i + 2] = from[i].z;
  return py_finish(array);
}

static PyObject* triangles_of(tbTriangleView view)
{
  PyObject* array;
  int* to = py_new_ints(&array, 2, view.ntriangle, 3);
  for (int i = 0; to && i < view.ntriangle; i++)
    for (int k = 0; k < 3; k++) to[3 * (size_t)i + (size_t)k] = view.triangle[i][k];
  return py_finish(array);
}

// A shape's own numbers by the keys of scene files, its triangles as arrays.
static PyObject* numbers_of(const tbShape* s)
{
  switch (s->type) {
  case TB_SHAPE_SPHERE: return Py_BuildValue("{sd}", "radius", s->sphere.radius);
  case TB_SHAPE_BOX: return Py_BuildValue("{sN}", "size", py_vec3(tb_scale3(2, s->box.half)));
  case TB_SHAPE_CAPSULE:
    return Py_BuildValue("{sdsd}", "radius", s->capsule.radius, "length", 2 * s->capsule.half);
  case TB_SHAPE_CYLINDER:
    return Py_BuildValue("{sdsd}", "radius", s->cylinder.radius, "length", 2 * s->cylinder.half);
  case TB_SHAPE_PLANE:
    return Py_BuildValue("{sNsd}", "normal", py_vec3(s->plane.normal), "offset", s->plane.offset);
  case TB_SHAPE_CONVEX: {
    tbHullView hull = tb_hull_faces(s->hull);
    return Py_BuildValue("{sN}", "vertices", vertices_of(hull.vertex, hull.nvertex));
  }
  default: {
    tbTriangleView mesh = tb_mesh_triangles(s->type == TB_SHAPE_SDF ? tb_sdf_mesh(s->sdf) : s->mesh);
    return Py_BuildValue("{sNsN}", "vertices", vertices_of(mesh.vertex, mesh.nvertex), "triangles",
                         triangles_of(mesh));
  }
  }
}

static PyObject* describe(const tbShape* s)
{
  PyObject* dict = numbers_of(s);
  PyObject* pose = dict ? Py_BuildValue("{sssNsN}", "type", tb_shape_type_name(s->type), "position",
                                        py_vec3(s->pose.x), "orientation", py_quat(s->pose.q))
                        : NULL;
  bool good = pose && PyDict_Update(pose, dict) == 0;
  Py_XDECREF(dict);
  if (good) return pose;
  Py_XDECREF(pose);
  return NULL;
}

// Appends and takes the item; the list goes where something fails.
static PyObject* append(PyObject* list, PyObject* item)
{
  if (list && (!item || PyList_Append(list, item) < 0)) Py_CLEAR(list);
  Py_XDECREF(item);
  return list;
}

static PyObject* body_shapes(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:shapes", py_to_body, &body) || !py_world_has_body(self, body)) return NULL;
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < tb_body_shape_count(self->scene.world, body); i++)
    list = append(list, describe(tb_body_shape_at(self->scene.world, body, i)));
  return list;
}

static PyObject* body_dofs(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:dofs", py_to_body, &body) || !py_world_has_body(self, body)) return NULL;
  return PyLong_FromLong(tb_body_dofs(self->scene.world, body));
}

// (elements, corners of each)
static PyObject* body_elements(World* self, PyObject* args)
{
  tbBodyId body;
  int corners = 0;
  if (!PyArg_ParseTuple(args, "O&:elements", py_to_body, &body) || !py_world_has_body(self, body))
    return NULL;
  int count = tb_body_element_count(self->scene.world, tb_body_place(self->scene.world, body), &corners);
  return Py_BuildValue("ii", count, corners);
}

static PyObject* size(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  tbWorldSize s = tb_world_size(world);
  return Py_BuildValue("iiiLLL", s.bodies, s.shapes, s.joints, (long long)s.nodes, (long long)s.tetrahedra,
                       (long long)s.triangles);
}

// What is doubtful about the deformable bodies: (place, place or −1, what) each.
static PyObject* doubts(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  tbArray found = TB_ARRAY(tbDoubt);
  tbStatus status = tb_world_doubts(&self->ctx, world, &found);
  PyObject* list = status == TB_OK ? PyList_New(0) : py_raise(&self->ctx);
  for (size_t i = 0; list && i < found.count; i++) {
    const tbDoubt* d = (const tbDoubt*)found.data + i;
    list = append(list, Py_BuildValue("iis", d->a, d->b, d->what));
  }
  tb_array_free(&self->ctx, &found);
  return list;
}

// Frictions that are written down: of materials, of bodies that have their own, of pairs of materials.

static PyObject* frictions(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  PyObject* list = world ? PyList_New(0) : NULL;
  for (int i = 0; list && i < tb_world_friction_count(world); i++)
    list = append(list, py_friction(tb_world_friction_at(world, i)));
  return list;
}

static PyObject* set_friction_at(World* self, PyObject* args)
{
  int index;
  tbFriction friction;
  if (!PyArg_ParseTuple(args, "iO&:set_friction_at", &index, py_to_friction, &friction)) return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  if (index < 0 || index >= tb_world_friction_count(world)) {
    PyErr_Format(PyExc_IndexError, "friction %d of %d", index, tb_world_friction_count(world));
    return NULL;
  }
  if (tb_world_set_friction_at(&self->ctx, world, index, friction) != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

// Contacts.

// What contacts do to every body: (forces, torques about the bodies' positions, how many act), N and N·m.
static PyObject* contact_sums(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  PyObject* array[3] = {0};
  int count = tb_world_body_count(world), *pushing = NULL;
  double *force = py_new_doubles(&array[0], 2, count, 3), *torque = NULL;
  bool good = force && (torque = py_new_doubles(&array[1], 2, count, 3)) &&
              (pushing = py_new_ints(&array[2], 1, count, 0));
  if (good) tb_world_get_contact_sums(world, force, torque, pushing);
  for (int i = 0; good && i < 3 * count; i++)
    force[i] /= self->scene.step.dt, torque[i] /= self->scene.step.dt;
  for (int i = 0; i < 3; i++)
    if (good) good = (array[i] = py_finish(array[i])) != NULL;
  if (good) return Py_BuildValue("NNN", array[0], array[1], array[2]);
  for (int i = 0; i < 3; i++) Py_XDECREF(array[i]);
  return NULL;
}

// Points around the friction set of a contact.
static PyObject* contact_friction(World* self, PyObject* args)
{
  int contact, count;
  if (!PyArg_ParseTuple(args, "ii:friction_set", &contact, &count)) return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  if (contact < 0 || contact >= tb_world_contact_count(world)) {
    PyErr_Format(PyExc_IndexError, "contact %d of %d", contact, tb_world_contact_count(world));
    return NULL;
  }
  if (count < 3 || count > 100000) return py_raise_as(TB_ERROR_ARGUMENT, "points: 3 to 100000");
  tbVec3* edge = PyMem_Calloc((size_t)count, sizeof *edge);
  if (!edge) return PyErr_NoMemory();
  PyObject* array = vertices_of(edge, tb_world_contact_friction(world, contact, count, edge));
  PyMem_Free(edge);
  return array;
}

// All nodes: (first row of each body, and the end; positions; velocities).
static PyObject* all_nodes(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  PyObject* array[3] = {0};
  int bodies = tb_world_body_count(world), nodes = tb_world_node_count(world);
  int* first = py_new_ints(&array[0], 1, bodies + 1, 0);
  double *x = NULL, *v = NULL;
  bool good =
      first && (x = py_new_doubles(&array[1], 2, nodes, 3)) && (v = py_new_doubles(&array[2], 2, nodes, 3));
  if (good) tb_world_get_nodes(world, first, x, v);
  for (int i = 0; i < 3; i++)
    if (good) good = (array[i] = py_finish(array[i])) != NULL;
  if (good) return Py_BuildValue("NNN", array[0], array[1], array[2]);
  for (int i = 0; i < 3; i++) Py_XDECREF(array[i]);
  return NULL;
}

PyMethodDef py_world_inspect_methods[] = {
    {"_body_shapes", (PyCFunction)body_shapes, METH_VARARGS, NULL},
    {"_body_dofs", (PyCFunction)body_dofs, METH_VARARGS, NULL},
    {"_body_elements", (PyCFunction)body_elements, METH_VARARGS, NULL},
    {"_size", (PyCFunction)size, METH_NOARGS, NULL},
    {"_doubts", (PyCFunction)doubts, METH_NOARGS, NULL},
    {"_frictions", (PyCFunction)frictions, METH_NOARGS, NULL},
    {"_set_friction_at", (PyCFunction)set_friction_at, METH_VARARGS, NULL},
    {"_contact_sums", (PyCFunction)contact_sums, METH_NOARGS, NULL},
    {"_contact_friction", (PyCFunction)contact_friction, METH_VARARGS, NULL},
    {"_all_nodes", (PyCFunction)all_nodes, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
