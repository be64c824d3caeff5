// SPDX-License-Identifier: Apache-2.0
// Worlds: stepping, options, closing.
#include "native.h"

#include "tribo/tools/status.h"

#include <string.h>

static bool in_use(const World* self) { return self->busy && self->lent != PyThread_get_thread_ident(); }

tbWorld* py_world(World* self)
{
  if (in_use(self)) PyErr_SetString(PyExc_RuntimeError, "the world is in use by another thread");
  else if (!self->scene.world) py_raise_as(TB_ERROR_ARGUMENT, "the world is closed");
  else return self->scene.world;
  return NULL;
}

bool py_world_has_body(World* self, tbBodyId body)
{
  tbWorld* world = py_world(self);
  if (!world) return false;
  if (tb_body_place(world, body) >= 0) return true;
  py_raise_as(TB_ERROR_ARGUMENT, "the body was removed, or is of another world");
  return false;
}

bool py_world_has_joint(World* self, tbJointId joint)
{
  tbWorld* world = py_world(self);
  if (!world) return false;
  if (tb_joint_place(world, joint) >= 0) return true;
  py_raise_as(TB_ERROR_ARGUMENT, "the joint was removed, or is of another world");
  return false;
}

static PyObject* world_new(PyTypeObject* type, PyObject* args, PyObject* keywords)
{
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  World* self = (World*)alloc(type, 0); // zeroed
  if (!self) return NULL;
  self->ctx = tb_default_context();
  self->kept = PyList_New(0), self->before = PyList_New(0);
  if (self->kept && self->before) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

bool py_world_set_threads(World* self, int count)
{
  tbThreads* threads = NULL;
  if (count != 1 && tb_threads_create(&self->ctx, count, &threads) != TB_OK) return py_raise(&self->ctx);
  tb_threads_destroy(&self->ctx, self->ctx.threads);
  self->ctx.threads = threads;
  self->scene.threads = count;
  return true;
}

// Closing.

static void release(World* self)
{
  py_end_recordings(self, TB_ERROR_CANCELLED); // those that were not ended leave nothing behind
  tb_scene_free(&self->ctx, &self->scene);
  memset(&self->scene, 0, sizeof self->scene);
  tb_threads_destroy(&self->ctx, self->ctx.threads);
  self->ctx.threads = NULL;
}

static PyObject* world_close(World* self, PyObject* unused)
{
  if (in_use(self)) return (PyObject*)py_world(self);
  tbStatus status = py_end_recordings(self, TB_OK);
  release(self);
  if (self->before) PyList_SetSlice(self->before, 0, PyList_Size(self->before), NULL);
  if (self->kept) PyList_SetSlice(self->kept, 0, PyList_Size(self->kept), NULL);
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

static int world_traverse(World* self, visitproc visit, void* arg)
{
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->kept);
  Py_VISIT(self->before);
  return 0;
}

static int world_clear(World* self)
{
  Py_CLEAR(self->before);
  return 0;
}

static void world_dealloc(World* self)
{
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  PyObject_GC_UnTrack(self);
  release(self);
  Py_CLEAR(self->before);
  Py_CLEAR(self->kept); // after the world, whose shapes point to it
  freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
  free_it(self);
  Py_DECREF(type);
}

// Stepping.

static bool call_before(World* self)
{
  for (Py_ssize_t i = 0; self->before && i < PyList_Size(self->before); i++) {
    PyObject* function = Py_NewRef(PyList_GetItem(self->before, i));
    PyObject* result = PyObject_CallFunctionObjArgs(function, (PyObject*)self, NULL);
    Py_DECREF(function);
    if (!result) return false;
    Py_DECREF(result);
  }
  return true;
}

// Steps until `count` are done or something stops them, with the interpreter lock released; rows: null, or
// what write_row writes after every step.
enum { ROW = 9 };

static void write_row(const World* self, const tbStepReport* report, double* row)
{
  tbEnergy energy = tb_world_energy(self->scene.world);
  double numbers[ROW] = {tb_world_time(self->scene.world),
                         report->residual.velocity,
                         report->outcome == TB_CONVERGED,
                         report->iterations,
                         report->contacts,
                         report->penetration,
                         energy.kinetic,
                         energy.potential,
                         energy.elastic};
  memcpy(row, numbers, sizeof numbers);
}

tbStatus py_step_bare(World* self, tbStepReport* report)
{
  tbStatus status = tb_world_step(&self->ctx, self->scene.world, &self->scene.step, report);
  return status == TB_OK ? py_feed_recordings(self, report) : status;
}

static tbStatus step_released(World* self, int count, tbStepReport* report, double* rows)
{
  Watch watch;
  const bool busy = self->busy; // a batch that calls its functions steps it in one of them
  const unsigned long lent = self->lent;
  const tbInterrupt interrupt = self->ctx.interrupt;
  self->ctx.interrupt = py_watch(&watch);
  self->busy = true, self->lent = 0;
  tbStatus status = TB_OK;
  PyThreadState* released = PyEval_SaveThread();
  for (int i = 0; i < count && status == TB_OK; i++) {
    status = py_step_bare(self, report);
    if (status == TB_OK && rows) write_row(self, report, rows + (size_t)i * ROW);
    if (status == TB_OK && self->ctx.interrupt.asked(&watch))
      status = TB_ERROR_CANCELLED; // between short steps
  }
  PyEval_RestoreThread(released);
  self->busy = busy, self->lent = lent;
  self->ctx.interrupt = interrupt;
  return status;
}

bool py_world_advance(World* self, tbStepReport* report)
{
  if (!py_world(self) || !call_before(self) || !py_world(self)) return false;
  return step_released(self, 1, report, NULL) == TB_OK || py_raise(&self->ctx);
}

static bool advance(World* self, int count, tbStepReport* report, double* rows)
{
  if (!py_world(self)) return false;
  if (self->before && PyList_Size(self->before) == 0)
    return step_released(self, count, report, rows) == TB_OK || py_raise(&self->ctx);
  for (int i = 0; i < count; i++) {
    if (!py_world_advance(self, report)) return false;
    if (rows) write_row(self, report, rows + (size_t)i * ROW);
  }
  return true;
}

static PyObject* world_step(World* self, PyObject* args)
{
  int count = 1;
  tbStepReport report = {0};
  if (!PyArg_ParseTuple(args, "|i:step", &count)) return NULL;
  if (count < 1) return py_raise_as(TB_ERROR_ARGUMENT, "steps: at least 1");
  return advance(self, count, &report, NULL) ? py_report(&report) : NULL;
}

static PyObject* world_record(World* self, PyObject* args)
{
  int count;
  if (!PyArg_ParseTuple(args, "i:record", &count)) return NULL;
  if (count < 1) return py_raise_as(TB_ERROR_ARGUMENT, "steps: at least 1");
  PyObject* array;
  tbStepReport report = {0};
  double* rows = py_new_doubles(&array, 2, count, ROW);
  if (!rows) return NULL;
  if (advance(self, count, &report, rows)) return py_finish(array);
  Py_DECREF(array);
  return NULL;
}

static PyObject* callbacks(World* self, PyObject* unused) { return Py_XNewRef(self->before); }

static PyObject* frozen_problem(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  tbProblem* problem = NULL;
  double* guess = NULL;
  if (tb_world_problem(&self->ctx, world, &self->scene.step, &problem, &guess) != TB_OK)
    return py_raise(&self->ctx);
  return py_problem(problem, guess);
}

// Options.

static PyObject* set_option(World* self, PyObject* args)
{
  const char* key;
  PyObject* value;
  if (!PyArg_ParseTuple(args, "sO:set_option", &key, &value) || !py_world(self)) return NULL;
  if (!py_set_option(&self->ctx, &self->scene.step, key, value)) return NULL;
  Py_RETURN_NONE;
}

// With what deforms, one whose steps go on until nothing meets.
static bool suits(const tbScheme* scheme, unsigned moves)
{
  return (scheme->moves & moves) == moves && (moves == TB_MOVES_FRAMES || scheme->until_apart);
}

// The first scheme that moves all bodies, as a scene file without one has it; one that suits stays.
static PyObject* fit_scheme(World* self, PyObject* unused)
{
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  unsigned moves = TB_MOVES_FRAMES;
  for (int i = 0; i < tb_world_body_count(world); i++) {
    tbBodyId body = tb_world_body_at(world, i);
    if (tb_body_mode_count(world, body) > 0) moves |= TB_MOVES_MODES;
    else if (tb_body_node_count(world, body) > 0) moves |= TB_MOVES_NODES;
  }
  const tbScheme* now = tb_scheme_find(self->scene.step.scheme);
  for (int i = 0; i < tb_scheme_count() && !suits(now, moves); i++)
    if (suits(tb_scheme_at(i), moves)) now = tb_scheme_at(i);
  self->scene.step.scheme = now->name;
  Py_RETURN_NONE;
}

static PyObject* get_option(World* self, PyObject* args)
{
  const char* key;
  tbOption option;
  if (!PyArg_ParseTuple(args, "s:get_option", &key) || !py_world(self)) return NULL;
  if (tb_option_find(&self->ctx, key, &option) != TB_OK) return py_raise(&self->ctx);
  const char* name = tb_option_get_name(&self->scene.step, &option);
  if (name) return PyUnicode_FromString(name);
  double number = tb_option_get_number(&self->scene.step, &option);
  if (option.type == TB_OPTION_BOOL) return PyBool_FromLong(number != 0);
  if (option.type == TB_OPTION_INT) return PyLong_FromDouble(number);
  return PyFloat_FromDouble(number);
}

static PyObject* get_threads(World* self, void* closure)
{
  return py_world(self) ? PyLong_FromLong(tb_threads_count(self->ctx.threads)) : NULL;
}

static int put_threads(World* self, PyObject* value, void* closure)
{
  long count = value ? PyLong_AsLong(value) : 0;
  if (count == -1 && PyErr_Occurred()) return -1;
  if (!py_world(self)) return -1;
  return py_world_set_threads(self, count < 0 || count > 100000 ? 0 : (int)count) ? 0 : -1;
}

static PyObject* get_name(World* self, void* closure)
{
  if (!py_world(self)) return NULL;
  return PyUnicode_FromString(self->scene.name ? self->scene.name : "");
}

static PyObject* get_duration(World* self, void* closure)
{
  return py_world(self) ? PyFloat_FromDouble(self->scene.time) : NULL;
}

static PyObject* get_closed(World* self, void* closure)
{
  return PyBool_FromLong(self->scene.world == NULL && !in_use(self));
}

static PyGetSetDef members[] = {
    {"threads", (getter)get_threads, (setter)put_threads, "Threads of a step; results do not depend on it.",
     NULL},
    {"name", (getter)get_name, NULL, "The scene's name.", NULL},
    {"duration", (getter)get_duration, NULL, "How long the scene file says to run, s.", NULL},
    {"closed", (getter)get_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyMethodDef py_world_methods[] = {
    {"close", (PyCFunction)world_close, METH_NOARGS,
     "close()\n\nFrees the world now. Everything asked of it later raises tribo.ArgumentError."},
    {"step", (PyCFunction)world_step, METH_VARARGS,
     "step(count=1)\n\nMoves the world by so many steps of `dt` and returns the Report of the last. The "
     "interpreter lock\n"
     "is released meanwhile. Functions given to before_step are called before each. A step that misses its "
     "tolerance\n"
     "is done all the same: its report says so."},
    {"_record", (PyCFunction)world_record, METH_VARARGS, NULL},
    {"_callbacks", (PyCFunction)callbacks, METH_NOARGS, NULL},
    {"_problem", (PyCFunction)frozen_problem, METH_NOARGS, NULL},
    {"_set_option", (PyCFunction)set_option, METH_VARARGS, NULL},
    {"_get_option", (PyCFunction)get_option, METH_VARARGS, NULL},
    {"_fit_scheme", (PyCFunction)fit_scheme, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

bool py_world_init(PyObject* module)
{
  PyMethodDef* const tables[] = {py_world_methods,         py_world_make_methods,  py_world_add_methods,
                                 py_world_change_methods,  py_world_read_methods,  py_world_ask_methods,
                                 py_world_inspect_methods, py_world_drive_methods, py_world_file_methods};
  PyMethodDef* methods = py_join_methods(tables, sizeof tables / sizeof *tables); // lives as long as the type
  PyType_Slot slots[] = {{Py_tp_new, world_new},
                         {Py_tp_dealloc, world_dealloc},
                         {Py_tp_traverse, world_traverse},
                         {Py_tp_clear, world_clear},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, members},
                         {0, NULL}};
  PyType_Spec spec = {"tribo._native.World", sizeof(World), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  if (!methods) return false;
  py_native.world = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.world && PyModule_AddObjectRef(module, "World", (PyObject*)py_native.world) == 0;
}
