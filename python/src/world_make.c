// SPDX-License-Identifier: Apache-2.0
// Making worlds: by hand, from scene files and texts, the gallery, checkpoints.
#include "native.h"

#include <string.h>

static bool take_scene(World* self, tbStatus status, tbScene* scene)
{
  if (status != TB_OK) return py_raise(&self->ctx);
  if (self->made) { // __init__ was called again: ids and snapshots of the first would be taken for the
                    // second's
    tb_scene_free(&self->ctx, scene);
    return py_raise_as(TB_ERROR_ARGUMENT, "the world is made already");
  }
  self->made = true;
  self->scene = *scene;
  return py_world_set_threads(self, scene->threads < 1 ? 1 : scene->threads);
}

// The name of a world made by hand; scenes have theirs from the file.
static PyObject* create(World* self, PyObject* args)
{
  tbWorldDef def = tb_default_world_def();
  unsigned long long seed = def.seed;
  if (!PyArg_ParseTuple(args, "zO&K:create", &def.name, py_to_vec3, &def.gravity, &seed)) return NULL;
  def.seed = seed;
  tbScene scene = {.step = tb_default_step_options(), .time = 1, .threads = 1};
  tbStatus status = tb_world_create(&self->ctx, &def, &scene.world);
  if (!take_scene(self, status, &scene)) return NULL;
  Py_RETURN_NONE;
}

// The strings of a tuple, which keeps them; free the list with PyMem_Free.
static const char** read_texts(PyObject* tuple)
{
  Py_ssize_t count = PyTuple_Size(tuple), length;
  const char** texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
  if (!texts) return (const char**)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++)
    if (!(texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &length))) {
      PyMem_Free(texts);
      return NULL;
    }
  return texts;
}

// (path, "KEY=VALUE" …)
static PyObject* load(World* self, PyObject* args)
{
  PyObject *path, *settings;
  if (!PyArg_ParseTuple(args, "O&O!:load", PyUnicode_FSConverter, &path, &PyTuple_Type, &settings))
    return NULL;
  const char** texts = read_texts(settings);
  tbScene scene = {0};
  bool good = texts && take_scene(self,
                                  tb_scene_load_with(&self->ctx, PyBytes_AsString(path), texts,
                                                     (int)PyTuple_Size(settings), &scene),
                                  &scene);
  PyMem_Free(texts);
  Py_DECREF(path);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject* parse(World* self, PyObject* args)
{
  const char *name, *bytes, *folder;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "ss#z:parse", &name, &bytes, &length, &folder)) return NULL;
  tbScene scene = {0};
  if (!take_scene(self, tb_scene_parse(&self->ctx, name, bytes, (size_t)length, folder, &scene), &scene))
    return NULL;
  Py_RETURN_NONE;
}

static bool set_gallery_value(World* self, const tbGalleryScene* scene, double* values, PyObject* key,
                              PyObject* value)
{
  double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return false;
  const char* name = PyUnicode_AsUTF8AndSize(key, NULL);
  if (!name) return false;
  char assignment[128];
  snprintf(assignment, sizeof assignment, "%.80s=%.17g", name, number);
  return tb_gallery_set(&self->ctx, scene, values, assignment) == TB_OK || py_raise(&self->ctx);
}

static PyObject* gallery(World* self, PyObject* args)
{
  const char *name, *folder;
  PyObject *settings, *key, *value;
  if (!PyArg_ParseTuple(args, "sO!z:gallery", &name, &PyDict_Type, &settings, &folder)) return NULL;
  const tbGalleryScene* row = tb_gallery_find(name);
  if (!row) {
    tbNearest near = tb_nearest(name);
    for (int i = 0; i < tb_gallery_count(); i++) tb_nearest_offer(&near, tb_gallery_at(i)->name);
    if (near.name)
      PyErr_Format(PyExc_ValueError, "the gallery has no scene \"%s\"; did you mean \"%s\"?", name,
                   near.name);
    else PyErr_Format(PyExc_ValueError, "the gallery has no scene \"%s\"; tribo.gallery() lists them", name);
    return NULL;
  }
  double values[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(row, values);
  for (Py_ssize_t at = 0; PyDict_Next(settings, &at, &key, &value);)
    if (!set_gallery_value(self, row, values, key, value)) return NULL;
  tbScene scene = {0};
  if (!take_scene(self, tb_gallery_load(&self->ctx, row, values, folder, &scene), &scene)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* load_checkpoint(World* self, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:load_checkpoint", PyUnicode_FSConverter, &path)) return NULL;
  tbScene scene = {0};
  tbStatus status = tb_checkpoint_load(&self->ctx, PyBytes_AsString(path), &scene);
  Py_DECREF(path);
  if (!take_scene(self, status, &scene)) return NULL;
  Py_RETURN_NONE;
}

// A checkpoint in memory. What it holds is copied before the lock could go.
static PyObject* from_bytes(World* self, PyObject* args)
{
  const char* bytes;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "y#:from_bytes", &bytes, &length)) return NULL;
  tbScene scene = {0};
  tbStatus status = tb_checkpoint_parse(&self->ctx, "checkpoint", bytes, (size_t)length, &scene);
  if (!take_scene(self, status, &scene)) return NULL;
  Py_RETURN_NONE;
}

PyMethodDef py_world_make_methods[] = {{"_create", (PyCFunction)create, METH_VARARGS, NULL},
                                       {"_load", (PyCFunction)load, METH_VARARGS, NULL},
                                       {"_parse", (PyCFunction)parse, METH_VARARGS, NULL},
                                       {"_gallery", (PyCFunction)gallery, METH_VARARGS, NULL},
                                       {"_from_bytes", (PyCFunction)from_bytes, METH_VARARGS, NULL},
                                       {"_load_checkpoint", (PyCFunction)load_checkpoint, METH_VARARGS, NULL},
                                       {NULL, NULL, 0, NULL}};
