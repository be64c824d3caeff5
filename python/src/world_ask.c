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

static PyObject* ray_all(World* self, PyObject* args)
{
  tbVec3 from, direction;
  double length;
  unsigned categories;
  if (!PyArg_ParseTuple(args, "O&O&dO&:ray_all", py_to_vec3, &from, py_to_vec3, &direction, &length,
                        py_to_bits, &categories))
    return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  tbRay asked = tb_ray(from, direction);
  asked.length = length, asked.categories = categories;
  int count = tb_world_ray_all(world, &asked, NULL, 0);
  tbHit* hits = PyMem_Calloc((size_t)count + 1, sizeof *hits);
  if (!hits) return PyErr_NoMemory();
  tb_world_ray_all(world, &asked, hits, count);
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < count; i++) {
    PyObject* item = hit_tuple(&hits[i]);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  PyMem_Free(hits);
  return list;
}

// Many rays at once, by a tree of the bodies' boxes. Rows of distance, place, shape, triangle, point, normal.
enum { RAY = 10 };

static void put_hit(const tbWorld* world, const tbHit* hit, bool met, double* row)
{
  double miss[RAY] = {INFINITY, -1, -1, -1};
  for (int k = 0; k < RAY; k++) row[k] = miss[k];
  if (!met) return;
  row[0] = hit->distance, row[1] = tb_body_place(world, hit->body);
  row[2] = hit->shape, row[3] = hit->triangle;
  row[4] = hit->point.x, row[5] = hit->point.y, row[6] = hit->point.z;
  row[7] = hit->normal.x, row[8] = hit->normal.y, row[9] = hit->normal.z;
}

static PyObject* rays(World* self, PyObject* args)
{
  PyObject *starts, *ways, *array = NULL;
  double length;
  unsigned categories;
  Numbers from, to;
  if (!PyArg_ParseTuple(args, "OOdO&:rays", &starts, &ways, &length, py_to_bits, &categories)) return NULL;
  if (!py_read_numbers(starts, "starts", 2, -1, 3, &from)) return NULL;
  if (!py_read_numbers(ways, "directions", 2, from.shape[0], 3, &to)) {
    PyMem_Free(from.at);
    return NULL;
  }
  tbWorld* world = py_world(self);
  tbQueryTree* tree = NULL;
  bool good = world != NULL;
  if (good && tb_query_tree_create(&self->ctx, world, &tree) != TB_OK) good = py_raise(&self->ctx);
  double* rows = good ? py_new_doubles(&array, 2, from.shape[0], RAY) : NULL;
  for (Py_ssize_t i = 0; rows && i < from.shape[0]; i++) {
    const double *x = from.at + 3 * i, *d = to.at + 3 * i;
    tbRay ray = tb_ray(tb_vec3(x[0], x[1], x[2]), tb_vec3(d[0], d[1], d[2]));
    ray.length = length, ray.categories = categories;
    tbHit hit;
    bool met = tb_query_tree_ray(tree, &ray, &hit);
    put_hit(world, &hit, met, rows + i * RAY);
  }
  tb_query_tree_free(&self->ctx, tree);
  PyMem_Free(from.at), PyMem_Free(to.at);
  return rows ? py_finish(array) : NULL;
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

static PyObject* body_nearest(World* self, PyObject* args)
{
  tbBodyId body;
  tbVec3 point;
  double reach;
  tbHit hit;
  if (!PyArg_ParseTuple(args, "O&O&d:nearest", py_to_body, &body, py_to_vec3, &point, &reach)) return NULL;
  if (!py_world_has_body(self, body)) return NULL;
  if (tb_body_nearest(self->scene.world, body, point, reach, &hit)) return hit_tuple(&hit);
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
  tbVec3 at[2] = {{0, 0, 0}, {0, 0, 0}};
  double apart = tb_body_distance(self->scene.world, a, b, &at[0], &at[1]);
  return Py_BuildValue("dNN", apart, py_vec3(at[0]), py_vec3(at[1]));
}

// Pairs of bodies that overlap by more than a share of the smaller one's size: (place, place, depth) each.
static PyObject* overlaps(World* self, PyObject* args)
{
  double share;
  if (!PyArg_ParseTuple(args, "d:overlaps", &share)) return NULL;
  tbWorld* world = py_world(self); // after the arguments, which may run Python code
  if (!world) return NULL;
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
                                      {"_ray_all", (PyCFunction)ray_all, METH_VARARGS, NULL},
                                      {"_rays", (PyCFunction)rays, METH_VARARGS, NULL},
                                      {"_nearest", (PyCFunction)nearest, METH_VARARGS, NULL},
                                      {"_body_nearest", (PyCFunction)body_nearest, METH_VARARGS, NULL},
                                      {"_overlap", (PyCFunction)overlap, METH_VARARGS, NULL},
                                      {"_distance", (PyCFunction)distance, METH_VARARGS, NULL},
                                      {"_overlaps", (PyCFunction)overlaps, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
