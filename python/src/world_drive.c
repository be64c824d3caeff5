// SPDX-License-Identifier: Apache-2.0
// What drives a body for longer than a step: loads by keys, and the grip of a pointer.
#include "native.h"

#include "tribo/grip.h"

static PyObject* done(World* self, tbStatus status)
{
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

// Rows of t, force, torque.
enum { LOAD = 7 };

// By rows, or None and one force and torque.
static PyObject* set_load(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* rows;
  tbLoadKey constant = {0};
  Numbers numbers;
  if (!PyArg_ParseTuple(args, "O&OO&O&:set_load", py_to_body, &body, &rows, py_to_vec3, &constant.force,
                        py_to_vec3, &constant.torque))
    return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  if (rows == Py_None) return done(self, tb_body_set_load(&self->ctx, self->scene.world, body, &constant, 1));
  if (!py_read_numbers(rows, "load", 2, -1, LOAD, &numbers)) return NULL;
  int count = numbers.shape[0] < 1000000000 ? (int)numbers.shape[0] : 1000000000;
  tbLoadKey* keys = PyMem_Calloc((size_t)count + 1, sizeof *keys);
  for (int i = 0; keys && i < count; i++) {
    const double* row = numbers.at + LOAD * (size_t)i;
    keys[i] = (tbLoadKey){row[0], tb_load3(row + 1), tb_load3(row + 4)};
  }
  PyMem_Free(numbers.at);
  if (!keys) return PyErr_NoMemory();
  bool there = py_world_has_body(self, body); // reading sequences may run Python code
  tbStatus status =
      there ? tb_body_set_load(&self->ctx, self->scene.world, body, count ? keys : NULL, count) : TB_OK;
  PyMem_Free(keys);
  return there ? done(self, status) : NULL;
}

static PyObject* get_load(World* self, PyObject* args)
{
  tbBodyId body;
  if (!PyArg_ParseTuple(args, "O&:load", py_to_body, &body) || !py_world_has_body(self, body)) return NULL;
  int count = tb_body_load(self->scene.world, body, NULL);
  tbLoadKey* keys = PyMem_Calloc((size_t)count + 1, sizeof *keys);
  if (!keys) return PyErr_NoMemory();
  tb_body_load(self->scene.world, body, keys);
  PyObject* array;
  double* to = py_new_doubles(&array, 2, count, LOAD);
  for (int i = 0; to && i < count; i++) {
    double* row = to + LOAD * (size_t)i;
    row[0] = keys[i].t, tb_store3(row + 1, keys[i].force), tb_store3(row + 4, keys[i].torque);
  }
  PyMem_Free(keys);
  return py_finish(array);
}

// A grip is a tuple in Python: (node, place in the body's frame).

static PyObject* grip_begin(World* self, PyObject* args)
{
  tbBodyId body;
  tbVec3 point;
  tbGrip grip;
  if (!PyArg_ParseTuple(args, "O&O&:grip", py_to_body, &body, py_to_vec3, &point)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  if (tb_grip_begin(&self->ctx, self->scene.world, body, point, &grip) != TB_OK) return py_raise(&self->ctx);
  return Py_BuildValue("i(ddd)", grip.node, grip.local.x, grip.local.y, grip.local.z);
}

static bool read_grip(World* self, PyObject* args, const char* format, tbGrip* out)
{
  return PyArg_ParseTuple(args, format, py_to_body, &out->body, &out->node, &out->local.x, &out->local.y,
                          &out->local.z, py_to_vec3, &out->target) &&
         py_world_has_body(self, out->body);
}

static PyObject* grip_point(World* self, PyObject* args)
{
  tbGrip grip;
  if (!read_grip(self, args, "O&(i(ddd))O&:point", &grip)) return NULL;
  return py_vec3(tb_grip_point(self->scene.world, &grip));
}

static PyObject* grip_pull(World* self, PyObject* args)
{
  tbGrip grip;
  if (!read_grip(self, args, "O&(i(ddd))O&:pull", &grip)) return NULL;
  return done(self, tb_grip_pull(&self->ctx, self->scene.world, &grip, self->scene.step.dt));
}

PyMethodDef py_world_drive_methods[] = {{"_set_load", (PyCFunction)set_load, METH_VARARGS, NULL},
                                        {"_load_of", (PyCFunction)get_load, METH_VARARGS, NULL},
                                        {"_grip", (PyCFunction)grip_begin, METH_VARARGS, NULL},
                                        {"_grip_point", (PyCFunction)grip_point, METH_VARARGS, NULL},
                                        {"_grip_pull", (PyCFunction)grip_pull, METH_VARARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
