// SPDX-License-Identifier: Apache-2.0
// Tribo's statuses as exceptions, and Ctrl-C inside of Tribo's calls.
#include "native.h"

#include <string.h>
#include <time.h>

typedef struct {
  const char *name, *doc;
  PyObject** beside; // the exception of Python that it is as well; null: none
} Row;

static const Row rows[] = {
    [TB_ERROR_ARGUMENT] = {"tribo.ArgumentError",
                           "An argument that breaks a rule: out of range, or of something gone.",
                           &PyExc_ValueError},
    [TB_ERROR_INPUT] = {"tribo.InputError", "A file or a problem that breaks its format's rules.",
                        &PyExc_ValueError},
    [TB_ERROR_MEMORY] = {"tribo.OutOfMemory", "An allocation failed.", &PyExc_MemoryError},
    [TB_ERROR_IO] = {"tribo.FileError", "Opening, reading or writing a file failed.", &PyExc_OSError},
    [TB_ERROR_NUMERIC] = {"tribo.NumericError", "No answer in this form: an indefinite metric, say.",
                          &PyExc_ArithmeticError},
    [TB_ERROR_UNSUPPORTED] = {"tribo.UnsupportedError", "Valid, but not in this build or not by this method.",
                              &PyExc_NotImplementedError},
    [TB_ERROR_CANCELLED] = {"tribo.Cancelled", "The call was ended from outside.", NULL},
};

static const char error_doc[] =
    "Something that Tribo refuses or cannot do. The text is Tribo's one line.\n\n"
    "status   what kind: 'argument', 'input', 'memory', 'io', 'numeric', 'unsupported', 'cancelled'\n"
    "line, column   the place in a scene or problem file, from 1; 0: not known\n"
    "source   the place in Tribo that raised it, as 'file:line'";

bool py_errors_init(PyObject* module)
{
  py_native.error = PyErr_NewExceptionWithDoc("tribo.Error", error_doc, NULL, NULL);
  if (!py_native.error || PyModule_AddObjectRef(module, "Error", py_native.error) < 0) return false;
  for (int i = TB_ERROR_ARGUMENT; i <= TB_ERROR_CANCELLED; i++) {
    PyObject* bases =
        rows[i].beside ? PyTuple_Pack(2, py_native.error, *rows[i].beside) : PyTuple_Pack(1, py_native.error);
    if (!bases) return false;
    py_native.error_of[i] = PyErr_NewExceptionWithDoc(rows[i].name, rows[i].doc, bases, NULL);
    Py_DECREF(bases);
    if (!py_native.error_of[i]) return false;
    if (PyModule_AddObjectRef(module, rows[i].name + sizeof "tribo." - 1, py_native.error_of[i]) < 0)
      return false;
  }
  return true;
}

static void attach(PyObject* exception, const char* name, PyObject* value) // takes the value
{
  if (!value || PyObject_SetAttrString(exception, name, value) < 0) PyErr_Clear();
  Py_XDECREF(value);
}

static PyObject* raise_error(tbStatus status, const char* message, const tbError* error)
{
  bool known = status >= TB_ERROR_ARGUMENT && status <= TB_ERROR_CANCELLED;
  PyObject* type = known ? py_native.error_of[status] : py_native.error;
  PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  PyObject* exception = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
  Py_XDECREF(text);
  if (!exception) return NULL;
  attach(exception, "status", PyUnicode_FromString(tb_status_name(status)));
  attach(exception, "line", PyLong_FromLong(error ? error->line : 0));
  attach(exception, "column", PyLong_FromLong(error ? error->column : 0));
  attach(exception, "source",
         error && error->source_file ? PyUnicode_FromFormat("%s:%d", error->source_file, error->source_line)
                                     : PyUnicode_FromString(""));
  PyErr_SetObject(type, exception);
  Py_DECREF(exception);
  return NULL;
}

PyObject* py_raise(const tbContext* ctx)
{
  if (PyErr_Occurred()) return NULL;
  return raise_error(ctx->error.status, ctx->error.message, &ctx->error);
}

PyObject* py_raise_as(tbStatus status, const char* message) { return raise_error(status, message, NULL); }

static double now_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Signals are Python's to handle, on its main thread and with its lock, which takes a microsecond; so the
// clock is asked first. Workers of a context never get here past the first line.
static bool asked(void* user)
{
  Watch* watch = user;
  if (PyThread_get_thread_ident() != watch->thread) return false;
  if (watch->raised) return true;
  double now = now_s();
  if (now < watch->next_s) return false;
  watch->next_s = now + 0.05;
  PyGILState_STATE state = PyGILState_Ensure();
  watch->raised = PyErr_CheckSignals() < 0;
  PyGILState_Release(state);
  return watch->raised;
}

tbInterrupt py_watch(Watch* watch)
{
  *watch = (Watch){.thread = PyThread_get_thread_ident(), .next_s = now_s() + 0.05};
  return (tbInterrupt){asked, watch};
}
