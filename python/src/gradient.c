// SPDX-License-Identifier: Apache-2.0
// Derivatives of runs, and searches with them.
#include "native.h"

#include "tribo/gradient.h"

#include <math.h>
#include <string.h>

// What both functions begin with: a scene as text, the loss, the parameters, and how to run it.
typedef struct {
  tbContext ctx;
  tbObjective* o;
  tbGradientMethod method;
  double* x; // three times the numbers: values, gradient, spare
} Call;

static bool begin(Call* c, const char* text, Py_ssize_t length, const char* folder, const char* loss,
                  const char* wrt, const char* method, PyObject* options)
{
  *c = (Call){.ctx = tb_default_context()};
  if (!tb_gradient_method_from_name(method, &c->method))
    return py_raise_as(TB_ERROR_ARGUMENT, "method is auto, tangent, adjoint or differences"), false;
  if (tb_objective_parse(&c->ctx, "scene", text, (size_t)length, folder, loss, wrt, &c->o) != TB_OK)
    return py_raise(&c->ctx), false;
  if (!py_set_options(&c->ctx, tb_objective_options(c->o), options)) return false;
  c->x = PyMem_Calloc(4 * (size_t)tb_objective_size(c->o), sizeof(double));
  if (!c->x) return PyErr_NoMemory(), false;
  tb_objective_values(c->o, c->x);
  return true;
}

static void end(Call* c)
{
  tb_objective_free(&c->ctx, c->o);
  PyMem_Free(c->x);
}

// {name: number or array}
static PyObject* by_name(const tbObjective* o, const double* values)
{
  PyObject* dict = PyDict_New();
  for (int i = 0; dict && i < tb_objective_parameter_count(o); i++) {
    tbParameter p = tb_objective_parameter(o, i);
    PyObject* item = NULL;
    if (p.scalar) item = PyFloat_FromDouble(values[p.first]);
    else {
      double* to = py_new_doubles(&item, 1, p.count, 0);
      if (to) memcpy(to, values + p.first, (size_t)p.count * sizeof(double));
      item = py_finish(item);
    }
    if (!item || PyDict_SetItemString(dict, p.name, item) < 0) Py_CLEAR(dict);
    Py_XDECREF(item);
  }
  return dict;
}

// (loss, {name: gradient}, method, steps that are not stable, how many, problems that are ambiguous)
static PyObject* gradient(PyObject* module, PyObject* args)
{
  const char *text, *folder, *loss, *wrt, *method;
  Py_ssize_t length;
  PyObject *options, *result = NULL;
  if (!PyArg_ParseTuple(args, "s#zsssO!:gradient", &text, &length, &folder, &loss, &wrt, &method,
                        &PyDict_Type, &options))
    return NULL;
  Call c;
  if (begin(&c, text, length, folder, loss, wrt, method, options)) {
    double *g = c.x + tb_objective_size(c.o), at = 0;
    tbGradientReport report;
    Watch watch;
    c.ctx.interrupt = py_watch(&watch);
    tbStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = tb_objective_gradient(&c.ctx, c.o, c.method, c.x, &at, g, &report);
    Py_END_ALLOW_THREADS;
    PyObject* steps = status == TB_OK ? PyList_New(0) : py_raise(&c.ctx);
    for (int64_t i = 0; steps && i < report.unstable && i < TB_GRADIENT_UNSTABLE; i++) {
      PyObject* number = PyLong_FromLongLong(report.unstable_step[i]);
      if (!number || PyList_Append(steps, number) < 0) Py_CLEAR(steps);
      Py_XDECREF(number);
    }
    PyObject* dict = steps ? by_name(c.o, g) : NULL;
    if (dict)
      result =
          Py_BuildValue("dNsNLLL", at, dict, tb_gradient_method_name(report.method), steps,
                        (long long)report.unstable, (long long)report.nearby, (long long)report.ambiguous);
    else Py_XDECREF(steps);
  }
  end(&c);
  return result;
}

static bool read_bounds(PyObject* bounds, const tbObjective* o, double* lower, double* upper)
{
  for (int i = 0; i < tb_objective_size(o); i++) lower[i] = -INFINITY, upper[i] = INFINITY;
  for (int i = 0; i < tb_objective_parameter_count(o); i++) {
    tbParameter p = tb_objective_parameter(o, i);
    PyObject* pair = Py_XNewRef(PyDict_GetItemString(bounds, p.name));
    if (!pair) continue;
    double of[2];
    bool good = py_read_fixed(pair, "bounds", 2, of);
    Py_DECREF(pair);
    if (!good) return false;
    for (int k = p.first; k < p.first + p.count; k++) lower[k] = of[0], upper[k] = of[1];
  }
  return true;
}

// (loss, {name: values}, arrived or nothing to gain, iterations, scene as text)
static PyObject* optimize(PyObject* module, PyObject* args)
{
  const char *text, *folder, *loss, *wrt, *method;
  Py_ssize_t length;
  PyObject *options, *bounds, *result = NULL;
  tbMinimize how = tb_default_minimize();
  double tolerance;
  if (!PyArg_ParseTuple(args, "s#zsssO!O!id:optimize", &text, &length, &folder, &loss, &wrt, &method,
                        &PyDict_Type, &options, &PyDict_Type, &bounds, &how.iterations, &tolerance))
    return NULL;
  Call c;
  if (begin(&c, text, length, folder, loss, wrt, method, options)) {
    int n = tb_objective_size(c.o);
    double *lower = c.x + n, *upper = lower + n;
    tbMinimum found;
    Watch watch;
    how.method = c.method, how.loss = tolerance * tolerance, how.lower = lower, how.upper = upper;
    if (read_bounds(bounds, c.o, lower, upper)) {
      c.ctx.interrupt = py_watch(&watch);
      tbOut out = tb_out_memory(&c.ctx);
      tbStatus status;
      Py_BEGIN_ALLOW_THREADS;
      status = tb_objective_minimize(&c.ctx, c.o, &how, c.x, &found);
      if (status == TB_OK) status = tb_objective_print(&c.ctx, c.o, c.x, &out);
      Py_END_ALLOW_THREADS;
      PyObject* dict = status == TB_OK ? by_name(c.o, c.x) : py_raise(&c.ctx);
      if (dict)
        result = Py_BuildValue("dNNis#", found.loss, dict, PyBool_FromLong(found.converged), found.iterations,
                               out.bytes, (Py_ssize_t)out.length);
      tb_out_free(&out);
    }
  }
  end(&c);
  return result;
}

PyMethodDef py_gradient_methods[] = {{"gradient", gradient, METH_VARARGS, NULL},
                                     {"optimize", optimize, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
