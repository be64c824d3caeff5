// SPDX-License-Identifier: Apache-2.0
// Workspaces: many solves of one pattern, of which one thread at a time makes use.
#include "native.h"

bool py_workspace_enter(Workspace* self)
{
  if (self->busy) PyErr_SetString(PyExc_RuntimeError, "the workspace is in use by another thread");
  else self->busy = true;
  return !PyErr_Occurred();
}

static PyObject* workspace(PyObject* module, PyObject* args)
{
  PyObject* problem;
  tbContext ctx = tb_default_context();
  if (!PyArg_ParseTuple(args, "O!:workspace", py_native.problem, &problem)) return NULL;
  Workspace* self = PyObject_New(Workspace, py_native.workspace);
  if (!self) return NULL;
  self->space = NULL, self->busy = false;
  if (tb_workspace_create(&ctx, ((Problem*)problem)->problem, &self->space) == TB_OK) return (PyObject*)self;
  Py_DECREF(self);
  return py_raise(&ctx);
}

static void workspace_dealloc(PyObject* self)
{
  tbContext ctx = tb_default_context();
  tb_workspace_free(&ctx, ((Workspace*)self)->space);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

enum { VALUES = 4 };

// (bias, v_free, params, compliance), None each for what stays. All are read before any is taken.
static PyObject* update(Workspace* self, PyObject* args)
{
  static const char* const names[VALUES] = {"bias", "v_free", "params", "compliance"};
  const tbProblem* p = tb_workspace_problem(self->space);
  const Py_ssize_t lengths[VALUES] = {p->nrow, p->ndof, p->param_adr[p->ncontact], p->nrow};
  PyObject* given[VALUES];
  Numbers numbers[VALUES] = {{0}};
  tbContext ctx = tb_default_context();
  if (!PyArg_ParseTuple(args, "OOOO:update", &given[0], &given[1], &given[2], &given[3])) return NULL;
  bool good = true;
  for (int i = 0; i < VALUES && good; i++)
    if (given[i] != Py_None) good = py_read_numbers(given[i], names[i], 1, lengths[i], -1, &numbers[i]);
  if (good && (good = py_workspace_enter(self))) { // reading may have run Python code of the arrays' own
    const tbProblemValues values = {
        .bias = numbers[0].at, .v_free = numbers[1].at, .param = numbers[2].at, .compliance = numbers[3].at};
    if (tb_workspace_update(&ctx, self->space, &values) != TB_OK) good = py_raise(&ctx);
    self->busy = false;
  }
  for (int i = 0; i < VALUES; i++) PyMem_Free(numbers[i].at);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject* update_like(Workspace* self, PyObject* args)
{
  PyObject* problem;
  tbContext ctx = tb_default_context();
  if (!PyArg_ParseTuple(args, "O!:update_like", py_native.problem, &problem)) return NULL;
  if (!py_workspace_enter(self)) return NULL;
  tbStatus status = tb_workspace_update_like(&ctx, self->space, ((Problem*)problem)->problem);
  self->busy = false;
  if (status != TB_OK) return py_raise(&ctx);
  Py_RETURN_NONE;
}

static PyObject* get_rows(Workspace* self, void* closure)
{
  return PyLong_FromLong(tb_workspace_problem(self->space)->nrow);
}

static PyObject* get_dofs(Workspace* self, void* closure)
{
  return PyLong_FromLong(tb_workspace_problem(self->space)->ndof);
}

bool py_workspace_init(PyObject* module)
{
  static PyMethodDef functions[] = {{"workspace", workspace, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
  static PyMethodDef methods[] = {{"_update", (PyCFunction)update, METH_VARARGS, NULL},
                                  {"_update_like", (PyCFunction)update_like, METH_VARARGS, NULL},
                                  {"_solve", (PyCFunction)py_workspace_solve, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
  static PyGetSetDef members[] = {
      {"rows", (getter)get_rows, NULL, "Rows of all contacts together.", NULL},
      {"dofs", (getter)get_dofs, NULL, "Degrees of freedom of A; 0 where W is given.", NULL},
      {NULL, NULL, NULL, NULL, NULL}};
  PyType_Slot slots[] = {
      {Py_tp_dealloc, workspace_dealloc}, {Py_tp_methods, methods}, {Py_tp_getset, members}, {0, NULL}};
  PyType_Spec spec = {"tribo._native.Workspace", sizeof(Workspace), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  py_native.workspace = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.workspace &&
         PyModule_AddObjectRef(module, "Workspace", (PyObject*)py_native.workspace) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
