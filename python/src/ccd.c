// SPDX-License-Identifier: Apache-2.0
// Continuous collision detection of a vertex and a triangle, or of two edges.
#include "native.h"

#include "tribo/ccd.h"

static bool read_corners(PyObject* object, const char* name, tbVec3 out[4])
{
  Numbers numbers;
  if (!py_read_numbers(object, name, 2, 4, 3, &numbers)) return false;
  for (int i = 0; i < 4; i++) out[i] = tb_load3(numbers.at + 3 * i);
  PyMem_Free(numbers.at);
  return true;
}

// (hit?, t, weights, normal, capped, back, depth, closing); the last three are zero where nothing was asked
// of the past.
static PyObject* answer(bool met, const tbCcdPast* past)
{
  const tbCcdHit* h = &past->hit;
  if (!met) Py_RETURN_NONE;
  return Py_BuildValue("d(dddd)NNddN", h->t, h->weight[0], h->weight[1], h->weight[2], h->weight[3],
                       py_vec3(h->normal), PyBool_FromLong(h->capped), past->back, past->depth,
                       py_vec3(past->closing));
}

static PyObject* ccd(PyObject* module, PyObject* args)
{
  PyObject *start, *end;
  const char* method;
  int edges;
  double seconds; // 0: forward
  tbCcdOptions options = tb_default_ccd_options();
  tbCcdQuery query = {0};
  tbCcdPast past = {0};
  if (!PyArg_ParseTuple(args, "pOOsddd:ccd", &edges, &start, &end, &method, &options.separation,
                        &options.delta, &seconds))
    return NULL;
  query.kind = edges ? TB_CCD_EDGE_EDGE : TB_CCD_VERTEX_FACE;
  if (!read_corners(start, "start", query.start) || !read_corners(end, "end", query.end)) return NULL;
  if (!tb_ccd_method_from_name(method, &options.method)) {
    PyErr_Format(PyExc_ValueError, "method: 'inclusion', 'cubic' or 'multivariate', not '%s'", method);
    return NULL;
  }
  if (!(options.separation >= 0 && options.separation < 1e30) || !(options.delta >= 0) || !(seconds >= 0))
    return py_raise_as(TB_ERROR_ARGUMENT, "separation, delta and seconds must not be negative");
  bool met;
  Py_BEGIN_ALLOW_THREADS;
  met = seconds > 0 ? tb_ccd_backward(&query, seconds, &options, &past) : tb_ccd(&query, &options, &past.hit);
  Py_END_ALLOW_THREADS;
  return answer(met, &past);
}

bool py_ccd_init(PyObject* module)
{
  static PyMethodDef functions[] = {{"ccd", ccd, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
  return PyModule_AddFunctions(module, functions) == 0;
}
