// SPDX-License-Identifier: Apache-2.0
// Rays, nearest points, boxes, distances; what is doubtful about a world before it runs.
#include "native.h"

#include "tribo/tools/array.h"

#include <math.h>

static PyObject* hit_tuple(const tbHit* hit)
{
  PyObject *point = py_vec3(hit->point), *normal = py_vec3(hit->normal);
  if (point && normal)
    return Py_BuildValue("NiiNNd", py_id(hit->body.index, hit->body.generation), hit->shape, hit->triangle,
                         point, normal, hit->distance);
  Py_XDECREF(point), Py_XDECREF(normal);
  return NULL;
}

static PyObject* ray(World* self, PyObject* args)
{
  tbVec3 from, direction;
  double length;
  unsigned categories;
  if (!PyArg_ParseTuple(args, "O&O&dO&:ray", py_to_vec3, &from, py_to_vec3, &direction, &length, py_to_bits,
                        &categories))
    return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  tbRay asked = tb_ray(from, direction);
  asked.length = length, asked.categories = categories;
  tbHit hit;
  if (tb_world_ray(world, &asked, &hit)) return hit_tuple(&hit);
  Py_RETURN_NONE;
}

static PyObject* nearest(World* self, PyObject* args)
{
  tbVec3 point;
  double reach;
  unsigned categories;
  if (!PyArg_ParseTuple(args, "O&dO&:nearest", py_to_vec3, &point, &reach, py_to_bits, &categories))
    return NULL;
  tbWorld* world = py_world(self);
  tbHit hit;
  if (!world) return NULL;
  if (tb_world_nearest(world, point, reach, categories, &hit)) return hit_tuple(&hit);
  Py_RETURN_NONE;
}

static PyObject* overlap(World* self, PyObject* args)
{
  tbBox box;
  unsigned categories;
  if (!PyArg_ParseTuple(args, "O&O&O&:overlap", py_to_vec3, &box.lo, py_to_vec3, &box.hi, py_to_bits,
                        &categories))
    return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  int count = tb_world_overlap(world, box, categories, NULL, 0);
  tbBodyId* ids = PyMem_Calloc((size_t)count + 1, sizeof(tbBodyId));
  if (!ids) return PyErr_NoMemory();
  tb_world_overlap(world, box, categories, ids, count);
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < count; i++) {
    PyObject* item = py_id(ids[i].index, ids[i].generation);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  PyMem_Free(ids);
  return list;
}

static PyObject* distance(World* self, PyObject* args)
{
  tbBodyId a, b;
  if (!PyArg_ParseTuple(args, "O&O&:distance", py_to_body, &a, py_to_body, &b)) return NULL;
  if (!py_world_has_body(self, a) || !py_world_has_body(self, b)) return NULL;
  return PyFloat_FromDouble(tb_body_distance(self->scene.world, a, b, NULL, NULL));
}

// Pairs of bodies that overlap by more than a share of the smaller one's size: (place, place, depth) each.
static PyObject* overlaps(World* self, PyObject* args)
{
  double share;
  tbWorld* world = py_world(self);
  if (!world || !PyArg_ParseTuple(args, "d:overlaps", &share)) return NULL;
  tbArray found = TB_ARRAY(tbOverlap);
  tbStatus status = tb_world_overlaps(&self->ctx, world, share, &found);
  PyObject* list = status == TB_OK ? PyList_New(0) : py_raise(&self->ctx);
  for (size_t i = 0; list && i < found.count; i++) {
    const tbOverlap* pair = (const tbOverlap*)found.data + i;
    PyObject* item = Py_BuildValue("iid", pair->a, pair->b, pair->depth);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  tb_array_free(&self->ctx, &found);
  return list;
}

PyMethodDef py_world_ask_methods[] = {{"_ray", (PyCFunction)ray, METH_VARARGS, NULL},
                                      {"_nearest", (PyCFunction)nearest, METH_VARARGS, NULL},
                                      {"_overlap", (PyCFunction)overlap, METH_VARARGS, NULL},
                                      {"_distance", (PyCFunction)distance, METH_VARARGS, NULL},
                                      {"_overlaps", (PyCFunction)overlaps, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
