// SPDX-License-Identifier: Apache-2.0
// Arrays between Python and C, by the buffer protocol: numpy's headers are not needed, and numpy itself only
// when the first array is asked for.
#include "native.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// Memory with a shape: its own, or a view of an owner's.
typedef struct {
  PyObject_HEAD void* data;
  PyObject* owner; // null: the memory is this object's
  char format[2];
  int ndim;
  Py_ssize_t item, shape[2], stride[2];
} Array;

static Array* new_array(char format, int ndim, Py_ssize_t n0, Py_ssize_t n1)
{
  Array* array = PyObject_New(Array, py_native.array);
  if (!array) return NULL;
  array->data = NULL, array->owner = NULL;
  array->format[0] = format, array->format[1] = 0;
  array->item = format == 'd' ? 8 : format == 'i' ? 4 : 1;
  array->ndim = ndim, array->shape[0] = n0, array->shape[1] = n1;
  array->stride[1] = array->item;
  array->stride[0] = ndim == 2 ? n1 * array->item : array->item;
  return array;
}

static void* new_owned(PyObject** out, char format, int ndim, Py_ssize_t n0, Py_ssize_t n1)
{
  Array* array = new_array(format, ndim, n0, n1);
  *out = (PyObject*)array;
  if (!array) return NULL;
  size_t count = (size_t)n0 * (ndim == 2 ? (size_t)n1 : 1);
  array->data = PyMem_Calloc(count ? count : 1, (size_t)array->item);
  if (array->data) return array->data;
  Py_CLEAR(*out);
  PyErr_NoMemory();
  return NULL;
}

double* py_new_doubles(PyObject** out, int ndim, Py_ssize_t n0, Py_ssize_t n1)
{
  return new_owned(out, 'd', ndim, n0, n1);
}

int* py_new_ints(PyObject** out, int ndim, Py_ssize_t n0, Py_ssize_t n1)
{
  return new_owned(out, 'i', ndim, n0, n1);
}

PyObject* py_view(PyObject* owner, const void* data, char format, Py_ssize_t count)
{
  Array* array = new_array(format, 1, count, 0);
  if (!array) return NULL;
  Py_INCREF(owner);
  array->owner = owner;
  array->data = (void*)data; // read-only in get_buffer
  return py_finish((PyObject*)array);
}

PyObject* py_finish(PyObject* array)
{
  if (!array) return NULL;
  if (!py_native.asarray) {
    PyObject* numpy = PyImport_ImportModule("numpy");
    py_native.asarray = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
    Py_XDECREF(numpy);
    if (!py_native.asarray && PyErr_ExceptionMatches(PyExc_ImportError)) {
      PyErr_Clear();
      py_native.asarray = Py_NewRef(Py_None);
    }
  }
  PyObject* result = NULL;
  if (py_native.asarray == Py_None) result = PyMemoryView_FromObject(array);
  else if (py_native.asarray) result = PyObject_CallFunctionObjArgs(py_native.asarray, array, NULL);
  Py_DECREF(array);
  return result;
}

static int get_buffer(PyObject* self, Py_buffer* view, int flags)
{
  Array* array = (Array*)self;
  bool readonly = array->owner != NULL;
  if (readonly && (flags & PyBUF_WRITABLE)) {
    PyErr_SetString(PyExc_BufferError, "this array is a view of Tribo's memory and read-only");
    view->obj = NULL;
    return -1;
  }
  Py_ssize_t count = array->shape[0] * (array->ndim == 2 ? array->shape[1] : 1);
  static char nothing[8];
  *view = (Py_buffer){.buf = array->data ? array->data : nothing,
                      .obj = Py_NewRef(self),
                      .len = count * array->item,
                      .itemsize = array->item,
                      .readonly = readonly,
                      .ndim = array->ndim,
                      .format = (flags & PyBUF_FORMAT) ? array->format : NULL,
                      .shape = (flags & PyBUF_ND) ? array->shape : NULL,
                      .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->stride : NULL};
  return 0;
}

static void array_dealloc(PyObject* self)
{
  Array* array = (Array*)self;
  if (array->owner) Py_DECREF(array->owner);
  else PyMem_Free(array->data);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

bool py_array_init(PyObject* module)
{
  PyType_Slot slots[] = {{Py_tp_dealloc, array_dealloc},
                         {Py_bf_getbuffer, get_buffer},
                         {Py_tp_doc, (void*)"Numbers in memory; numpy.asarray makes an array of it."},
                         {0, NULL}};
  PyType_Spec spec = {"tribo._native.Array", sizeof(Array), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  py_native.array = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.array && PyModule_AddObjectRef(module, "Array", (PyObject*)py_native.array) == 0;
}

// Numbers in.

static bool bad_length(const char* name, int dimension, Py_ssize_t want, Py_ssize_t got)
{
  PyErr_Format(PyExc_ValueError, "%s: expected %zd along dimension %d, got %zd", name, want, dimension, got);
  return false;
}

static bool check_finite(const char* name, const double* at, Py_ssize_t count)
{
  for (Py_ssize_t i = 0; i < count; i++) {
    if (isfinite(at[i])) continue;
    PyErr_Format(PyExc_ValueError, "%s: number %zd is %s", name, i, isnan(at[i]) ? "nan" : "infinite");
    return false;
  }
  return true;
}

#define LOAD(type)                      \
  do {                                  \
    type value;                         \
    memcpy(&value, from, sizeof value); \
    *to = (double)value;                \
    return true;                        \
  } while (0)

// Bytes of a number of that format; 0: it is none. What long is differs between exporters.
static Py_ssize_t size_of(char format, Py_ssize_t item)
{
  switch (format) {
  case 'd': return sizeof(double);
  case 'f': return sizeof(float);
  case '?':
  case 'B':
  case 'b': return 1;
  case 'h':
  case 'H': return sizeof(short);
  case 'i':
  case 'I': return sizeof(int);
  case 'l':
  case 'L':
  case 'q':
  case 'Q': return item == 4 ? 4 : 8;
  default: return 0;
  }
}

// One number of a buffer; false: of a format that is none.
static bool load(char format, Py_ssize_t item, const char* from, double* to)
{
  switch (format) {
  case 'd': LOAD(double);
  case 'f': LOAD(float);
  case '?':
  case 'B': LOAD(unsigned char);
  case 'b': LOAD(signed char);
  case 'h': LOAD(short);
  case 'H': LOAD(unsigned short);
  case 'i': LOAD(int);
  case 'I': LOAD(unsigned);
  case 'l':
  case 'q':
    if (item == 4) LOAD(int);
    LOAD(int64_t);
  case 'L':
  case 'Q':
    if (item == 4) LOAD(unsigned);
    LOAD(uint64_t);
  default: return false;
  }
}

static bool read_buffer(const Py_buffer* view, const char* name, int ndim, double* to)
{
  const char* format = view->format ? view->format : "B";
  if (*format == '@' || *format == '=' || *format == '<') format++;
  bool plain = format[0] && !format[1];
  Py_ssize_t n1 = ndim == 2 ? view->shape[1] : 1;
  Py_ssize_t stride[2] = {n1 * view->itemsize, view->itemsize}; // ctypes gives none
  for (int i = 0; i < ndim && view->strides; i++) stride[i] = view->strides[i];
  if (!plain || !size_of(*format, view->itemsize) || size_of(*format, view->itemsize) != view->itemsize) {
    PyErr_Format(PyExc_TypeError, "%s: expected real numbers, got an array of format '%s'", name,
                 view->format ? view->format : "");
    return false;
  }
  for (Py_ssize_t i = 0; i < view->shape[0]; i++)
    for (Py_ssize_t j = 0; j < n1; j++) {
      const char* from = (const char*)view->buf + i * stride[0] + (ndim == 2 ? j * stride[1] : 0);
      load(*format, view->itemsize, from, &to[i * n1 + j]);
    }
  return true;
}

static double* new_numbers(Py_ssize_t n0, Py_ssize_t n1)
{
  if (n1 > 0 && n0 > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(double) / n1) return (double*)PyErr_NoMemory();
  size_t count = (size_t)(n0 * n1);
  double* at = PyMem_Calloc(count ? count : 1, sizeof(double));
  if (!at) PyErr_NoMemory();
  return at;
}

static bool is_text(PyObject* object)
{
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

static bool expect_numbers(PyObject* object, const char* name, int ndim)
{
  PyObject* type = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__name__");
  if (type)
    PyErr_Format(PyExc_TypeError, "%s: expected %s, got %U", name, ndim == 2 ? "rows of numbers" : "numbers",
                 type);
  Py_XDECREF(type);
  return false;
}

// Python's complex numbers are no real ones by themselves; numpy's let their real part be taken.
static bool is_complex(PyObject* object)
{
  Py_buffer view;
  if (PyFloat_Check(object) || PyLong_Check(object)) return false;
  if (PyComplex_Check(object)) return true;
  if (!PyObject_CheckBuffer(object)) return false;
  if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return false;
  }
  bool found = view.format && strchr(view.format, 'Z');
  PyBuffer_Release(&view);
  return found;
}

// One row of a sequence: `count` numbers to `to`.
static bool read_row(PyObject* object, const char* name, Py_ssize_t count, double* to)
{
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* item = PySequence_GetItem(object, i);
    if (!item) return false;
    bool failed = is_complex(item) && !expect_numbers(item, name, 1);
    if (!failed) to[i] = PyFloat_AsDouble(item), failed = to[i] == -1 && PyErr_Occurred();
    if (failed && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear(), expect_numbers(item, name, 1);
    Py_DECREF(item);
    if (failed) return false;
  }
  return true;
}

static Py_ssize_t length_of(PyObject* object, const char* name, int ndim)
{
  if (!PySequence_Check(object) || PyDict_Check(object) || is_text(object)) {
    expect_numbers(object, name, ndim);
    return -1;
  }
  return PySequence_Size(object);
}

static bool read_sequence(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1,
                          Numbers* out)
{
  Py_ssize_t count = length_of(object, name, ndim);
  if (count < 0) return false;
  if (n0 >= 0 && count != n0) return bad_length(name, 0, n0, count);
  out->shape[0] = count, out->shape[1] = ndim == 2 ? n1 : 1;
  if (ndim == 1) return (out->at = new_numbers(count, 1)) && read_row(object, name, count, out->at);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* row = PySequence_GetItem(object, i);
    Py_ssize_t width = row ? length_of(row, name, 2) : -1;
    bool good = width >= 0;
    if (good && out->shape[1] < 0) out->shape[1] = width;
    if (good && width != out->shape[1]) good = bad_length(name, 1, out->shape[1], width);
    if (good && !out->at) good = (out->at = new_numbers(count, width)) != NULL;
    if (good) good = read_row(row, name, width, out->at + i * width);
    Py_XDECREF(row);
    if (!good) return false;
  }
  if (out->shape[1] < 0) out->shape[1] = 0;
  if (!out->at) out->at = new_numbers(0, 0);
  return out->at != NULL;
}

static bool read_any(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1, Numbers* out)
{
  if (!PyObject_CheckBuffer(object) || is_text(object)) return read_sequence(object, name, ndim, n0, n1, out);
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    PyErr_Clear(); // arrays of objects, dates and the like
    return expect_numbers(object, name, ndim);
  }
  bool good = view.ndim == ndim;
  if (!good) PyErr_Format(PyExc_ValueError, "%s: expected %d dimensions, got %d", name, ndim, view.ndim);
  if (good && n0 >= 0 && view.shape[0] != n0) good = bad_length(name, 0, n0, view.shape[0]);
  if (good && ndim == 2 && n1 >= 0 && view.shape[1] != n1) good = bad_length(name, 1, n1, view.shape[1]);
  if (good) {
    out->shape[0] = view.shape[0], out->shape[1] = ndim == 2 ? view.shape[1] : 1;
    out->at = new_numbers(out->shape[0], out->shape[1]);
    good = out->at && read_buffer(&view, name, ndim, out->at);
  }
  PyBuffer_Release(&view);
  return good;
}

bool py_read_numbers(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1, Numbers* out)
{
  *out = (Numbers){0};
  if (read_any(object, name, ndim, n0, n1, out) && check_finite(name, out->at, out->shape[0] * out->shape[1]))
    return true;
  PyMem_Free(out->at);
  out->at = NULL;
  return false;
}

bool py_read_ints(PyObject* object, const char* name, int ndim, Py_ssize_t n0, Py_ssize_t n1, int** out,
                  Py_ssize_t* count)
{
  Numbers numbers;
  *out = NULL, *count = 0;
  if (!py_read_numbers(object, name, ndim, n0, n1, &numbers)) return false;
  Py_ssize_t total = numbers.shape[0] * numbers.shape[1];
  int* at = PyMem_Calloc(total ? (size_t)total : 1, sizeof(int));
  if (!at) PyErr_NoMemory();
  for (Py_ssize_t i = 0; at && i < total; i++) {
    double x = numbers.at[i];
    if (x == floor(x) && x >= INT_MIN && x <= INT_MAX) at[i] = (int)x;
    else {
      PyErr_Format(PyExc_ValueError, "%s: number %zd is not an integer of 32 bits", name, i);
      PyMem_Free(at);
      at = NULL;
    }
  }
  PyMem_Free(numbers.at);
  *out = at, *count = numbers.shape[0];
  return at != NULL;
}

bool py_read_fixed(PyObject* object, const char* name, int count, double* out)
{
  if (PyTuple_Check(object) && PyTuple_Size(object) == count) // the common case, without an allocation
    return read_row(object, name, count, out) && check_finite(name, out, count);
  Numbers numbers;
  if (!py_read_numbers(object, name, 1, count, -1, &numbers)) return false;
  memcpy(out, numbers.at, (size_t)count * sizeof(double));
  PyMem_Free(numbers.at);
  return true;
}
