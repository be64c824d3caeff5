// SPDX-License-Identifier: Apache-2.0
// The module itself, and lists of what Tribo has.
#include "native.h"

#include <string.h>

Native py_native;

static PyObject* append(PyObject* list, PyObject* item) // takes both
{
  if (list && (!item || PyList_Append(list, item) < 0)) Py_CLEAR(list);
  Py_XDECREF(item);
  return list;
}

static PyObject* list_solvers(PyObject* module, PyObject* unused)
{
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    list = append(list, Py_BuildValue("sss", s->name, s->summary, s->reference));
  }
  return list;
}

static PyObject* list_schemes(PyObject* module, PyObject* unused)
{
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < tb_scheme_count(); i++) {
    const tbScheme* s = tb_scheme_at(i);
    list = append(list, Py_BuildValue("sss", s->name, s->summary, s->reference));
  }
  return list;
}

static PyObject* list_options(PyObject* module, PyObject* unused)
{
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    list = append(list, Py_BuildValue("szs", o.key, o.unit, o.text));
  }
  return list;
}

static PyObject* list_gallery(PyObject* module, PyObject* unused)
{
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < tb_gallery_count(); i++) {
    const tbGalleryScene* s = tb_gallery_at(i);
    PyObject* parameters = PyList_New(0);
    for (int k = 0; parameters && k < TB_GALLERY_PARAMETERS && s->parameter[k].name; k++)
      parameters = append(
          parameters, Py_BuildValue("sdddz", s->parameter[k].name, s->parameter[k].value, s->parameter[k].low,
                                    s->parameter[k].high, s->parameter[k].summary));
    list = append(
        list, parameters ? Py_BuildValue("ssNN", s->name, s->summary, parameters, PyBool_FromLong(s->files))
                         : NULL);
  }
  return list;
}

// A scene of the gallery as text, with its usual parameters.
static PyObject* print_gallery(PyObject* module, PyObject* args)
{
  const char* name;
  if (!PyArg_ParseTuple(args, "s:print_gallery", &name)) return NULL;
  tbContext ctx = tb_default_context();
  const tbGalleryScene* scene = tb_gallery_find(name);
  if (!scene) return py_raise_as(TB_ERROR_ARGUMENT, "the gallery has no such scene");
  tbOut out = tb_out_memory(&ctx);
  tbStatus status = tb_gallery_print(&ctx, scene, NULL, NULL, &out);
  PyObject* text =
      status == TB_OK ? PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.length) : py_raise(&ctx);
  tb_out_free(&out);
  return text;
}

static tbImportJoint* read_starts(PyObject* tuple)
{
  Py_ssize_t count = PyTuple_Size(tuple);
  tbImportJoint* joints = PyMem_Calloc((size_t)count + 1, sizeof *joints);
  for (Py_ssize_t i = 0; joints && i < count; i++)
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "sd", &joints[i].name, &joints[i].coordinate)) {
      PyMem_Free(joints);
      return NULL;
    }
  return joints ? joints : (tbImportJoint*)PyErr_NoMemory();
}

// (scene as text, notes)
static PyObject* import_robot(PyObject* module, PyObject* args)
{
  PyObject* path;
  const char* folder;
  const char* key;
  int floating;
  PyObject* starts; // tuple of (name, coordinate)
  if (!PyArg_ParseTuple(args, "O&zpzO!:import_robot", PyUnicode_FSConverter, &path, &folder, &floating, &key,
                        &PyTuple_Type, &starts))
    return NULL;
  tbContext ctx = tb_default_context();
  tbImportJoint* joints = read_starts(starts);
  if (!joints) {
    Py_DECREF(path);
    return NULL;
  }
  tbImportOptions options = {floating, key, joints, (int)PyTuple_Size(starts)};
  tbArray notes = TB_ARRAY(tbImportNote);
  tbOut out = tb_out_memory(&ctx);
  tbStatus status = tb_import_robot(&ctx, PyBytes_AsString(path), folder, &options, &out, &notes);
  Py_DECREF(path);
  PyMem_Free(joints);
  PyObject *list = status == TB_OK ? PyList_New(0) : py_raise(&ctx), *result = NULL;
  for (size_t i = 0; list && i < notes.count; i++) {
    const char* text = ((const tbImportNote*)notes.data)[i].text;
    list = append(list, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
  }
  if (list) result = Py_BuildValue("s#N", out.bytes, (Py_ssize_t)out.length, list);
  tb_out_free(&out);
  tb_array_free(&ctx, &notes);
  return result;
}

// All that is wrong with a scene file, or with a text in its place: (line, column, message) each.
static PyObject* check_scene(PyObject* module, PyObject* args)
{
  PyObject* path;
  const char *text, *folder;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "O&z#z:check_scene", PyUnicode_FSConverter, &path, &text, &length, &folder))
    return NULL;
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  tbSceneErrors errors = tb_scene_errors();
  const char* name = PyBytes_AsString(path);
  tbStatus status = text ? tb_scene_examine_text(&ctx, name, text, (size_t)length, folder, &errors, &scene)
                         : tb_scene_examine(&ctx, name, &errors, &scene);
  Py_DECREF(path);
  PyObject* list = status == TB_OK || status == TB_ERROR_INPUT ? PyList_New(0) : py_raise(&ctx);
  for (size_t i = 0; list && i < errors.list.count; i++) {
    const tbError* e = (const tbError*)errors.list.data + i;
    PyObject* message = PyUnicode_DecodeUTF8(e->message, (Py_ssize_t)strlen(e->message), "replace");
    list = append(list, message ? Py_BuildValue("iiN", e->line, e->column, message) : NULL);
  }
  if (status == TB_OK) tb_scene_free(&ctx, &scene);
  tb_scene_errors_free(&ctx, &errors);
  return list;
}

// The JSON Schema of scene files, as text.
static PyObject* scene_schema(PyObject* module, PyObject* unused)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  PyObject* text = tb_scene_print_schema(&ctx, &out) == TB_OK
                       ? PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.length)
                       : py_raise(&ctx);
  tb_out_free(&out);
  return text;
}

static PyObject* contact_spring(PyObject* module, PyObject* args)
{
  double dt, erp, cfm;
  if (!PyArg_ParseTuple(args, "ddd:contact_spring", &dt, &erp, &cfm)) return NULL;
  if (!(dt > 0) || !(erp > 0 && erp <= 1) || !(cfm > 0))
    return py_raise_as(TB_ERROR_ARGUMENT, "dt and cfm must be positive, erp above 0 and at most 1");
  tbContactSpring spring = tb_contact_spring(dt, erp, cfm);
  return Py_BuildValue("dd", spring.stiffness, spring.damping);
}

// What this build has: vector instructions, the Cholesky factor, orderings of sparse matrices, FCLIB files,
// robots' files.
static PyObject* build(PyObject* module, PyObject* unused)
{
  return Py_BuildValue("{sssssssNsN}", "simd", tb_simd_name(), "cholesky", tb_cholesky_backend_name(),
                       "orderings", tb_orderings_present(), "fclib", PyBool_FromLong(tb_have_fclib()),
                       "robots", PyBool_FromLong(tb_have_import()));
}

static PyObject* version(PyObject* module, PyObject* unused) { return PyUnicode_FromString(tb_version()); }

static PyMethodDef functions[] = {{"list_solvers", list_solvers, METH_NOARGS, NULL},
                                  {"list_schemes", list_schemes, METH_NOARGS, NULL},
                                  {"list_options", list_options, METH_NOARGS, NULL},
                                  {"list_gallery", list_gallery, METH_NOARGS, NULL},
                                  {"print_gallery", print_gallery, METH_VARARGS, NULL},
                                  {"import_robot", import_robot, METH_VARARGS, NULL},
                                  {"check_scene", check_scene, METH_VARARGS, NULL},
                                  {"scene_schema", scene_schema, METH_NOARGS, NULL},
                                  {"contact_spring", contact_spring, METH_VARARGS, NULL},
                                  {"build", build, METH_NOARGS, NULL},
                                  {"version", version, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "tribo._native",
                                        "Tribo's public face in C; use the package tribo.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
  PyObject* module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (py_errors_init(module) && py_array_init(module) && py_reports_init(module) && py_shape_init(module) &&
      py_world_init(module) && py_files_init(module) && py_problem_init(module) &&
      py_workspace_init(module) && py_replay_init(module) && py_ccd_init(module) &&
      PyModule_AddFunctions(module, py_batch_methods) == 0 &&
      PyModule_AddFunctions(module, py_gradient_methods) == 0)
    return module;
  Py_DECREF(module);
  return NULL;
}
