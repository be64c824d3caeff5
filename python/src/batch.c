// SPDX-License-Identifier: Apache-2.0
// Many worlds at a time: threads that take one world after the other, each stepped by one thread alone, so
// that every world has the bits it has by itself.
#include "native.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct {
  World** world;
  tbStepReport* report;
  tbStatus* status;
  bool* calls;                        // it has functions to be called before its steps
  PyObject *type, *value, *traceback; // the first exception that one of them has raised
  int count, steps;
  atomic_int next;
  atomic_bool stop; // an error or an interrupt: no world is begun anew
} Batch;

static bool stopped(void* user) { return atomic_load(&((Batch*)user)->stop); }

// The callbacks of a world want the interpreter lock, which this thread gets for them alone.
static tbStatus step_with_callbacks(Batch* batch, World* self, tbStepReport* report)
{
  PyGILState_STATE state = PyGILState_Ensure();
  self->lent = PyThread_get_thread_ident(); // other threads still get an exception
  tbStatus status = TB_OK;
  for (Py_ssize_t i = 0; status == TB_OK && i < PyList_Size(self->before); i++) {
    PyObject* function = Py_NewRef(PyList_GetItem(self->before, i));
    PyObject* result = PyObject_CallFunctionObjArgs(function, (PyObject*)self, NULL);
    Py_DECREF(function);
    if (!result) status = TB_ERROR_CANCELLED;
    Py_XDECREF(result);
  }
  if (status == TB_OK && !py_world(self)) status = TB_ERROR_CANCELLED; // a callback has closed it
  self->lent = 0;
  if (PyErr_Occurred() && !batch->type) PyErr_Fetch(&batch->type, &batch->value, &batch->traceback);
  PyErr_Clear();
  PyGILState_Release(state);
  return status == TB_OK ? py_step_bare(self, report) : status;
}

static void* work(void* user)
{
  Batch* batch = user;
  while (!atomic_load(&batch->stop)) {
    int i = atomic_fetch_add(&batch->next, 1);
    if (i >= batch->count) break;
    World* self = batch->world[i];
    for (int k = 0; k < batch->steps && batch->status[i] == TB_OK && !atomic_load(&batch->stop); k++)
      batch->status[i] = batch->calls[i] ? step_with_callbacks(batch, self, &batch->report[i])
                                         : py_step_bare(self, &batch->report[i]);
    if (batch->status[i] != TB_OK) atomic_store(&batch->stop, true);
  }
  return NULL;
}

enum { MOST_THREADS = 256 };

// The calling thread does no work itself: it answers Ctrl-C.
static void await(Batch* batch, pthread_t worker, Watch* watch, tbInterrupt interrupt)
{
  while (true) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 60000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    if (pthread_timedjoin_np(worker, NULL, &until) == 0) return;
    if (interrupt.asked(watch)) atomic_store(&batch->stop, true);
  }
}

static void run(Batch* batch, int threads)
{
  pthread_t worker[MOST_THREADS];
  int started = 0;
  while (started < threads && pthread_create(&worker[started], NULL, work, batch) == 0) started++;
  if (!started) work(batch);
  Watch watch;
  tbInterrupt interrupt = py_watch(&watch);
  for (int i = 0; i < started; i++) await(batch, worker[i], &watch, interrupt);
}

static bool enter(World* self, Batch* batch)
{
  if (!py_world(self)) return false;
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "the world is in a batch already");
    return false;
  }
  if (self->ctx.threads) {
    PyErr_SetString(PyExc_ValueError, "a batch takes worlds of one thread each: set threads to 1");
    return false;
  }
  self->busy = true;
  self->ctx.interrupt = (tbInterrupt){stopped, batch};
  return true;
}

static void leave(World* self)
{
  self->busy = false;
  self->ctx.interrupt = (tbInterrupt){0};
}

static bool collect(PyObject* list, Batch* batch)
{
  for (Py_ssize_t i = 0; i < batch->count; i++) {
    PyObject* item = PySequence_GetItem(list, i);
    if (item && !PyObject_TypeCheck(item, py_native.world)) {
      Py_CLEAR(item);
      PyErr_SetString(PyExc_TypeError, "worlds: expected tribo.World objects");
    }
    batch->world[i] = (World*)item;
    if (!item) return false;
  }
  return true;
}

static PyObject* reports(const Batch* batch)
{
  if (batch->type) PyErr_Restore(batch->type, batch->value, batch->traceback);
  if (PyErr_Occurred()) return NULL;
  for (int i = 0; i < batch->count; i++)
    if (batch->status[i] != TB_OK && batch->status[i] != TB_ERROR_CANCELLED)
      return py_raise(&batch->world[i]->ctx);
  if (atomic_load(&batch->stop)) return py_raise_as(TB_ERROR_CANCELLED, "the batch was stopped");
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < batch->count; i++) {
    PyObject* report = py_report(&batch->report[i]);
    if (!report || PyList_Append(list, report) < 0) Py_CLEAR(list);
    Py_XDECREF(report);
  }
  return list;
}

static PyObject* step_all(Batch* batch, PyObject* list, int threads)
{
  PyObject* result = NULL;
  int entered = 0;
  bool good = collect(list, batch);
  for (int i = 0; good && i < batch->count; i++) batch->calls[i] = PyList_Size(batch->world[i]->before) > 0;
  while (good && entered < batch->count && enter(batch->world[entered], batch))
    entered++; // one given twice is busy
  if (good && entered == batch->count) {
    PyThreadState* released = PyEval_SaveThread();
    run(batch, threads < batch->count ? threads : batch->count);
    PyEval_RestoreThread(released);
  } else good = false;
  for (int i = 0; i < entered; i++) leave(batch->world[i]);
  if (good) result = reports(batch);
  for (int i = 0; i < batch->count; i++) Py_XDECREF((PyObject*)batch->world[i]);
  return result;
}

static PyObject* batch_step(PyObject* module, PyObject* args)
{
  PyObject* list;
  int steps, threads;
  if (!PyArg_ParseTuple(args, "O!ii:batch", &PyList_Type, &list, &steps, &threads)) return NULL;
  Py_ssize_t count = PyList_Size(list);
  if (steps < 1 || threads < 1 || threads > MOST_THREADS || count > 1000000) {
    PyErr_SetString(PyExc_ValueError,
                    "a batch takes 1 to 256 threads, at least one step and up to a million worlds");
    return NULL;
  }
  Batch batch = {.world = PyMem_Calloc((size_t)count + 1, sizeof(World*)),
                 .report = PyMem_Calloc((size_t)count + 1, sizeof(tbStepReport)),
                 .status = PyMem_Calloc((size_t)count + 1, sizeof(tbStatus)),
                 .calls = PyMem_Calloc((size_t)count + 1, sizeof(bool)),
                 .count = (int)count,
                 .steps = steps};
  PyObject* result = NULL;
  if (batch.world && batch.report && batch.status && batch.calls) result = step_all(&batch, list, threads);
  else PyErr_NoMemory();
  PyMem_Free(batch.world), PyMem_Free(batch.report), PyMem_Free(batch.status), PyMem_Free(batch.calls);
  return result;
}

PyMethodDef py_batch_methods[] = {{"batch_step", batch_step, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
