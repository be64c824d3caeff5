// SPDX-License-Identifier: Apache-2.0
// Options by name, from Python's values, and the tables of what there is.
#include "native.h"

#include <string.h>

bool py_set_option(tbContext* ctx, tbStepOptions* options, const char* key, PyObject* value)
{
  tbStatus status;
  if (PyBool_Check(value)) status = tb_option_set(ctx, options, key, value == Py_True ? "true" : "false");
  else if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8AndSize(value, NULL);
    if (!text) return false;
    status = tb_option_set(ctx, options, key, text);
  } else {
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) return false;
    status = tb_option_set_number(ctx, options, key, number);
  }
  return status == TB_OK || py_raise(ctx);
}

bool py_set_options(tbContext* ctx, tbStepOptions* options, PyObject* dict)
{
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    Py_INCREF(key), Py_INCREF(value); // a number may run Python code that changes the dict
    const char* name = PyUnicode_AsUTF8AndSize(key, NULL);
    bool good = name && py_set_option(ctx, options, name, value);
    Py_DECREF(key), Py_DECREF(value);
    if (!good) return false;
  }
  return true;
}

bool py_to_model(const char* name, tbModel* out)
{
  if (tb_model_from_name(name, out)) return true;
  PyErr_Format(PyExc_ValueError, "model: 'cone', 'box', 'polyhedral', 'ccp' or 'frictionless', not '%s'",
               name);
  return false;
}

PyMethodDef* py_join_methods(PyMethodDef* const* tables, int count)
{
  size_t total = 1, used = 0;
  for (int i = 0; i < count; i++)
    for (const PyMethodDef* m = tables[i]; m->ml_name; m++) total++;
  PyMethodDef* all = PyMem_Calloc(total, sizeof(PyMethodDef));
  if (!all) return (PyMethodDef*)PyErr_NoMemory();
  for (int i = 0; i < count; i++)
    for (const PyMethodDef* m = tables[i]; m->ml_name; m++) all[used++] = *m;
  return all;
}
