// SPDX-License-Identifier: Apache-2.0
// Replays, frame by frame: what `tribo run --out` and World.record_to have written.
#include "native.h"

#include "tribo/render.h"
#include "tribo/tools/status.h"

#include <limits.h>
#include <string.h>

typedef struct {
  PyObject_HEAD tbContext ctx;
  tbReplay* replay;
  bool busy; // in a call without the interpreter lock
} Replay;

static bool is_free(const Replay* self)
{
  if (self->busy) PyErr_SetString(PyExc_RuntimeError, "the replay is in use by another thread");
  return !self->busy;
}

static PyObject* open_replay(PyObject* module, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:replay", PyUnicode_FSConverter, &path)) return NULL;
  Replay* self = PyObject_New(Replay, py_native.replay);
  if (self) {
    self->ctx = tb_default_context(), self->replay = NULL, self->busy = false;
    if (tb_replay_open(&self->ctx, PyBytes_AsString(path), &self->replay) != TB_OK) {
      py_raise(&self->ctx);
      Py_CLEAR(self);
    }
  }
  Py_DECREF(path);
  return (PyObject*)self;
}

static PyObject* header(Replay* self, PyObject* unused)
{
  return PyUnicode_FromString(tb_replay_header(self->replay));
}

static PyObject* count(Replay* self, PyObject* unused)
{
  return PyLong_FromLongLong(tb_replay_frame_count(self->replay));
}

static PyObject* find(Replay* self, PyObject* args)
{
  double time;
  int64_t frame;
  if (!PyArg_ParseTuple(args, "d:find", &time)) return NULL;
  if (!is_free(self)) return NULL;
  if (tb_replay_find(&self->ctx, self->replay, time, &frame) != TB_OK) return py_raise(&self->ctx);
  return PyLong_FromLongLong(frame);
}

static void put_vec3(double* to, tbVec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static PyObject* poses(const tbReplayFrame* f, int count, bool turns)
{
  PyObject* array;
  double* to = py_new_doubles(&array, 2, count, turns ? 4 : 3);
  for (int i = 0; to && i < count; i++) {
    tbQuat q = f->pose[i].q;
    if (!turns) put_vec3(to + 3 * (size_t)i, f->pose[i].x);
    else memcpy(to + 4 * (size_t)i, (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
  }
  return py_finish(array);
}

static PyObject* nodes(const tbReplayFrame* f, int count)
{
  PyObject* array;
  double* to = py_new_doubles(&array, 2, count, 3);
  for (int i = 0; to && i < count; i++) put_vec3(to + 3 * (size_t)i, f->node[i]);
  return py_finish(array);
}

// Rows of a, b, position, normal, impulse, gap, share, state.
enum { CONTACT = 14 };

static PyObject* contacts(const tbReplayFrame* f)
{
  PyObject* array;
  double* to = py_new_doubles(&array, 2, f->contact_count, CONTACT);
  for (int i = 0; to && i < f->contact_count; i++, to += CONTACT) {
    const tbReplayContact* c = &f->contact[i];
    to[0] = c->a, to[1] = c->b;
    put_vec3(to + 2, c->position), put_vec3(to + 5, c->normal), put_vec3(to + 8, c->impulse);
    to[11] = c->gap, to[12] = c->share, to[13] = c->state;
  }
  return py_finish(array);
}

// (time, step, scalars by the names given, positions, orientations, nodes, contacts)
static PyObject* read_frame(Replay* self, PyObject* args)
{
  long long frame;
  PyObject* names; // list of strings
  tbReplayFrame f;
  if (!PyArg_ParseTuple(args, "LO!:read", &frame, &PyList_Type, &names)) return NULL;
  if (!is_free(self)) return NULL;
  if (tb_replay_read(&self->ctx, self->replay, frame, &f) != TB_OK) return py_raise(&self->ctx);
  PyObject* scalars = PyDict_New();
  for (Py_ssize_t i = 0; scalars && i < PyList_Size(names); i++) {
    PyObject *name = PyList_GetItem(names, i), *number = NULL;
    const char* text = PyUnicode_AsUTF8AndSize(name, NULL);
    int at = text ? tb_replay_scalar(self->replay, text) : -1;
    if (at >= 0) number = PyFloat_FromDouble(f.scalar[at]);
    else if (text) PyErr_Format(PyExc_KeyError, "a replay has no %U", name);
    if (!number || PyDict_SetItem(scalars, name, number) < 0) Py_CLEAR(scalars);
    Py_XDECREF(number);
  }
  int bodies = tb_replay_pose_count(self->replay);
  PyObject* part[] = {
      scalars, scalars ? poses(&f, bodies, false) : NULL, scalars ? poses(&f, bodies, true) : NULL,
      scalars ? nodes(&f, tb_replay_node_count(self->replay)) : NULL, scalars ? contacts(&f) : NULL};
  bool good = true;
  for (int i = 0; i < 5; i++) good = good && part[i];
  if (good)
    return Py_BuildValue("dLNNNNN", f.time, (long long)f.step, part[0], part[1], part[2], part[3], part[4]);
  for (int i = 0; i < 5; i++) Py_XDECREF(part[i]);
  return NULL;
}

// As another kind of recording; last −1: to the end.
static PyObject* export_to(Replay* self, PyObject* args)
{
  const char* kind;
  PyObject* path;
  long long first, last;
  if (!PyArg_ParseTuple(args, "sO&LL:export", &kind, PyUnicode_FSConverter, &path, &first, &last))
    return NULL;
  tbStatus status = TB_OK;
  bool good = is_free(self);
  if (good && !tb_record_kind_find(kind)) status = py_no_kind(&self->ctx, kind);
  else if (good) {
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status =
        tb_replay_export(&self->ctx, self->replay, kind, PyBytes_AsString(path), first, last, NULL, NULL);
    Py_END_ALLOW_THREADS;
    self->busy = false;
  }
  Py_DECREF(path);
  if (!good) return NULL;
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

// Pictures.

static bool read_look(PyObject* args, tbRenderOptions* o, long long* frame, PyObject** path, int* threads)
{
  const char* camera; // fit, orbit or fixed: the package has looked
  int dark, contacts, overlay;
  long long first, last;
  if (!PyArg_ParseTuple(args, "L(LL)iiipppsO&O&iO:image", frame, &first, &last, &o->width, &o->height,
                        &o->samples, &dark, &contacts, &overlay, &camera, py_to_vec3, &o->eye, py_to_vec3,
                        &o->target, threads, path))
    return false;
  o->dark = dark, o->contacts = contacts, o->overlay = overlay, o->first = first, o->last = last;
  o->camera = camera[0] == 'o' ? TB_CAMERA_ORBIT : camera[2] == 'x' ? TB_CAMERA_FIXED : TB_CAMERA_FIT;
  return true;
}

static tbStatus draw(tbContext* ctx, tbReplay* replay, const tbRenderOptions* o, int64_t frame,
                     const char* path, unsigned char* rgb)
{
  tbRenderer* renderer;
  TB_TRY(tb_renderer_create(ctx, replay, *o, &renderer));
  tbStatus status = tb_renderer_draw(ctx, renderer, frame, rgb);
  tb_renderer_free(ctx, renderer);
  if (status == TB_OK && path) status = tb_png_save(ctx, path, o->width, o->height, rgb);
  return status;
}

// A frame as a picture, height × width × 3 bytes one after the other; with a path, a PNG file of it.
static PyObject* image(Replay* self, PyObject* args)
{
  tbRenderOptions o = tb_default_render_options();
  long long frame;
  int threads;
  PyObject *file, *path = NULL, *bytes = NULL;
  if (!read_look(args, &o, &frame, &file, &threads) || !is_free(self)) return NULL;
  if (o.width < 1 || o.height < 1 || o.width > TB_RENDER_SIZE || o.height > TB_RENDER_SIZE)
    return py_raise_as(TB_ERROR_ARGUMENT, "a picture has 16 to 8192 pixels in each direction");
  if (file != Py_None && !PyUnicode_FSConverter(file, &path)) return NULL;
  bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)3 * o.width * o.height);
  if (!bytes || !is_free(self)) { // a path may run Python code
    Py_XDECREF(bytes), Py_XDECREF(path);
    return NULL;
  }
  unsigned char* rgb = (unsigned char*)PyBytes_AsString(bytes);
  const char* name = path ? PyBytes_AsString(path) : NULL;
  tbStatus status = threads > 1 ? tb_threads_create(&self->ctx, threads, &self->ctx.threads) : TB_OK;
  self->busy = true;
  Py_BEGIN_ALLOW_THREADS;
  if (status == TB_OK) status = draw(&self->ctx, self->replay, &o, frame, name, rgb);
  tb_threads_destroy(&self->ctx, self->ctx.threads);
  self->ctx.threads = NULL;
  Py_END_ALLOW_THREADS;
  self->busy = false;
  Py_XDECREF(path);
  if (status == TB_OK) return bytes;
  Py_DECREF(bytes);
  return py_raise(&self->ctx);
}

static void dealloc(PyObject* self)
{
  tb_replay_close(&((Replay*)self)->ctx, ((Replay*)self)->replay);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

bool py_replay_init(PyObject* module)
{
  static PyMethodDef functions[] = {{"replay", open_replay, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
  static PyMethodDef methods[] = {{"_header", (PyCFunction)header, METH_NOARGS, NULL},
                                  {"_count", (PyCFunction)count, METH_NOARGS, NULL},
                                  {"_find", (PyCFunction)find, METH_VARARGS, NULL},
                                  {"_read", (PyCFunction)read_frame, METH_VARARGS, NULL},
                                  {"_export", (PyCFunction)export_to, METH_VARARGS, NULL},
                                  {"_image", (PyCFunction)image, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
  PyType_Slot slots[] = {{Py_tp_dealloc, dealloc}, {Py_tp_methods, methods}, {0, NULL}};
  PyType_Spec spec = {"tribo._native.Replay", sizeof(Replay), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  py_native.replay = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.replay && PyModule_AddObjectRef(module, "Replay", (PyObject*)py_native.replay) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
