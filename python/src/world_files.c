// SPDX-License-Identifier: Apache-2.0
// What a world leaves in files and in memory: checkpoints, snapshots, recordings.
#include "native.h"

#include "tribo/tools/status.h"

static PyObject* save_checkpoint(World* self, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:save_checkpoint", PyUnicode_FSConverter, &path)) return NULL;
  tbStatus status = TB_OK;
  bool there = py_world(self);
  if (there) status = tb_checkpoint_save(&self->ctx, PyBytes_AsString(path), &self->scene);
  Py_DECREF(path);
  if (!there) return NULL;
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

static PyObject* to_bytes(World* self, PyObject* unused)
{
  if (!py_world(self)) return NULL;
  tbOut out = tb_out_memory(&self->ctx);
  PyObject* bytes = tb_checkpoint_print(&self->ctx, &out, &self->scene) == TB_OK
                        ? PyBytes_FromStringAndSize(out.bytes, (Py_ssize_t)out.length)
                        : py_raise(&self->ctx);
  tb_out_free(&out);
  return bytes;
}

static PyObject* load_control(World* self, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:load_control", PyUnicode_FSConverter, &path)) return NULL;
  tbStatus status = TB_OK;
  tbWorld* world = py_world(self);
  if (world) status = tb_control_load(&self->ctx, PyBytes_AsString(path), world);
  Py_DECREF(path);
  if (!world) return NULL;
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

// Snapshots.

typedef struct {
  PyObject_HEAD tbSnapshot* snapshot;
  PyObject* world; // of which it is; its geometry stays there
} Snapshot;

static PyObject* take_snapshot(World* self, PyObject* unused)
{
  if (!py_world(self)) return NULL;
  tbSnapshot* snapshot = NULL;
  if (tb_world_snapshot(&self->ctx, self->scene.world, &snapshot) != TB_OK) return py_raise(&self->ctx);
  Snapshot* object = PyObject_New(Snapshot, py_native.snapshot);
  if (object) object->snapshot = snapshot, object->world = Py_NewRef((PyObject*)self);
  else tb_snapshot_free(&self->ctx, snapshot);
  return (PyObject*)object;
}

static PyObject* restore(World* self, PyObject* args)
{
  PyObject* object;
  if (!PyArg_ParseTuple(args, "O!:restore", py_native.snapshot, &object) || !py_world(self)) return NULL;
  if (((Snapshot*)object)->world != (PyObject*)self)
    return py_raise_as(TB_ERROR_ARGUMENT, "the snapshot is of another world");
  if (tb_world_restore(&self->ctx, self->scene.world, ((Snapshot*)object)->snapshot) != TB_OK)
    return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

static void snapshot_dealloc(PyObject* self)
{
  tbContext ctx = tb_default_context();
  tb_snapshot_free(&ctx, ((Snapshot*)self)->snapshot);
  Py_DECREF(((Snapshot*)self)->world);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* snapshot_bytes(PyObject* self, void* closure)
{
  return PyLong_FromSize_t(tb_snapshot_bytes(((Snapshot*)self)->snapshot));
}

static PyGetSetDef snapshot_members[] = {{"nbytes", snapshot_bytes, NULL, "Memory that it takes.", NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};

bool py_files_init(PyObject* module)
{
  PyType_Slot slots[] = {{Py_tp_dealloc, snapshot_dealloc},
                         {Py_tp_getset, snapshot_members},
                         {Py_tp_doc, (void*)"A world at one moment: World.snapshot, World.restore."},
                         {0, NULL}};
  PyType_Spec spec = {"tribo.Snapshot", sizeof(Snapshot), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  py_native.snapshot = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.snapshot && PyModule_AddObjectRef(module, "Snapshot", (PyObject*)py_native.snapshot) == 0;
}

// Recordings.

tbStatus py_no_kind(tbContext* ctx, const char* kind)
{
  char list[200] = "";
  for (int i = 0; i < tb_record_kind_count(); i++)
    tb_list_append(list, sizeof list, tb_record_kind_at(i)->name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no recording of kind \"%.60s\"; there are %s", kind, list);
}

static PyObject* begin_recording(World* self, PyObject* args)
{
  PyObject* path;
  const char* kind;
  tbRecordOptions options = tb_default_record_options();
  if (!PyArg_ParseTuple(args, "sO&d:record_to", &kind, PyUnicode_FSConverter, &path, &options.fps))
    return NULL;
  int at = 0;
  while (at < TB_PY_RECORDINGS && self->recording[at]) at++;
  bool there = py_world(self);
  tbStatus status = TB_OK;
  if (there && at == TB_PY_RECORDINGS)
    status = tb_fail(&self->ctx, TB_ERROR_ARGUMENT, "a world has %d recordings at most", TB_PY_RECORDINGS);
  else if (there && !tb_record_kind_find(kind)) status = py_no_kind(&self->ctx, kind);
  else if (there)
    status = tb_record_begin(&self->ctx, kind, PyBytes_AsString(path), &self->scene, options,
                             &self->recording[at]);
  Py_DECREF(path);
  if (!there) return NULL;
  if (status != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

tbStatus py_feed_recordings(World* self, const tbStepReport* report)
{
  for (int i = 0; i < TB_PY_RECORDINGS; i++)
    if (self->recording[i]) TB_TRY(tb_record_step(&self->ctx, self->recording[i], &self->scene, report));
  return TB_OK;
}

tbStatus py_end_recordings(World* self, tbStatus status)
{
  tbStatus first = TB_OK;
  for (int i = 0; i < TB_PY_RECORDINGS; i++) {
    if (!self->recording[i]) continue;
    tbStatus ended = tb_record_end(&self->ctx, self->recording[i], &self->scene, status);
    self->recording[i] = NULL;
    if (first == TB_OK) first = ended;
  }
  return first;
}

static PyObject* end_recordings(World* self, PyObject* unused)
{
  if (!py_world(self)) return NULL;
  if (py_end_recordings(self, TB_OK) != TB_OK) return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

PyMethodDef py_world_file_methods[] = {
    {"_save_checkpoint", (PyCFunction)save_checkpoint, METH_VARARGS, NULL},
    {"to_bytes", (PyCFunction)to_bytes, METH_NOARGS,
     "to_bytes()\n\nA checkpoint in memory, for World.from_bytes, pickle and copy.deepcopy: goes on bit for "
     "bit. Callbacks and\nrecordings are not part of it."},
    {"snapshot", (PyCFunction)take_snapshot, METH_NOARGS,
     "snapshot()\n\nThe world as it is now, in memory. restore(snapshot) brings it back, and the next steps "
     "have the bits\n"
     "they had; bodies added since are gone."},
    {"restore", (PyCFunction)restore, METH_VARARGS, "restore(snapshot)\n\nBack to a snapshot of this world."},
    {"load_control", (PyCFunction)load_control, METH_VARARGS,
     "load_control(path)\n\nLets joints follow a CSV file from now on: t, then a column per joint; NAME or\n"
     "NAME.target of a servo, NAME.speed of a motor, NAME.effort. `tribo run --control` reads the same."},
    {"_begin_recording", (PyCFunction)begin_recording, METH_VARARGS, NULL},
    {"end_recordings", (PyCFunction)end_recordings, METH_NOARGS,
     "end_recordings()\n\nFinishes the files of record_to; close() does it, too."},
    {NULL, NULL, 0, NULL}};
