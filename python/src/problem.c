// SPDX-License-Identifier: Apache-2.0
// Contact problems: from files, rules and frozen steps; their arrays. A problem never changes once it is
// made, so its plain arrays are read-only views of Tribo's memory that keep the problem alive; what has to be
// computed is a copy.
#include "native.h"

#include "tribo/tools/memory.h"

PyObject* py_problem(tbProblem* problem, double* guess)
{
  tbContext ctx = tb_default_context();
  Problem* self = PyObject_New(Problem, py_native.problem);
  if (self) {
    self->problem = problem, self->guess = guess;
    return (PyObject*)self;
  }
  tb_problem_free(problem);
  tb_guess_free(&ctx, guess);
  return NULL;
}

static void problem_dealloc(PyObject* self)
{
  tbContext ctx = tb_default_context();
  tb_problem_free(((Problem*)self)->problem);
  tb_guess_free(&ctx, ((Problem*)self)->guess);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Making.

static PyObject* problem_load(PyObject* module, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:problem_load", PyUnicode_FSConverter, &path)) return NULL;
  tbContext ctx = tb_default_context();
  tbProblem* problem = NULL;
  double* guess = NULL;
  tbStatus status = tb_problem_load(&ctx, PyBytes_AsString(path), &problem, &guess);
  Py_DECREF(path);
  return status == TB_OK ? py_problem(problem, guess) : py_raise(&ctx);
}

static PyObject* problem_generate(PyObject* module, PyObject* args)
{
  const char* name;
  int size;
  double friction, mass_ratio;
  unsigned long long seed;
  tbGenerateKind kind;
  if (!PyArg_ParseTuple(args, "siddK:problem_generate", &name, &size, &friction, &mass_ratio, &seed))
    return NULL;
  if (!tb_generate_from_name(name, &kind)) {
    PyErr_Format(PyExc_ValueError,
                 "a structure is 'stack', 'wall', 'pyramid', 'arch', 'cards' or 'pile', not '%s'", name);
    return NULL;
  }
  tbGenerate spec = tb_default_generate(kind);
  if (size > 0) spec.size = size;
  if (friction >= 0) spec.friction = friction;
  if (mass_ratio > 0) spec.mass_ratio = mass_ratio;
  spec.seed = seed;
  tbContext ctx = tb_default_context();
  tbProblem* problem = NULL;
  return tb_problem_generate(&ctx, &spec, &problem) == TB_OK ? py_problem(problem, NULL) : py_raise(&ctx);
}

// The answer comes as the guess of the problem; problem.py takes it out.
static PyObject* problem_manufacture(PyObject* module, PyObject* args)
{
  tbManufacture spec = tb_default_manufacture();
  unsigned long long seed;
  int all_laws;
  if (!PyArg_ParseTuple(args, "Kidddp:problem_manufacture", &seed, &spec.contacts, &spec.mass_ratio,
                        &spec.mu_max, &spec.slip, &all_laws))
    return NULL;
  spec.seed = seed, spec.all_laws = all_laws;
  tbContext ctx = tb_default_context();
  tbProblem* problem = NULL;
  double* answer = NULL;
  return tb_problem_manufacture(&ctx, &spec, &problem, &answer) == TB_OK ? py_problem(problem, answer)
                                                                         : py_raise(&ctx);
}

static PyObject* problem_save(Problem* self, PyObject* args)
{
  PyObject* path;
  int fclib;
  if (!PyArg_ParseTuple(args, "O&p:save", PyUnicode_FSConverter, &path, &fclib)) return NULL;
  tbContext ctx = tb_default_context();
  tbStatus status = fclib ? tb_problem_save_fclib(&ctx, PyBytes_AsString(path), self->problem, self->guess)
                          : tb_problem_save_json(&ctx, PyBytes_AsString(path), self->problem, self->guess);
  Py_DECREF(path);
  if (status != TB_OK) return py_raise(&ctx);
  Py_RETURN_NONE;
}

// The same as JSON text, and back.

static PyObject* problem_to_json(Problem* self, PyObject* unused)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  PyObject* text = tb_problem_print_json(&ctx, &out, self->problem, self->guess) == TB_OK
                       ? PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.length)
                       : py_raise(&ctx);
  tb_out_free(&out);
  return text;
}

static PyObject* problem_parse(PyObject* module, PyObject* args)
{
  const char* bytes;
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "s#:problem_parse", &bytes, &length)) return NULL;
  tbContext ctx = tb_default_context();
  tbProblem* problem = NULL;
  double* guess = NULL;
  tbStatus status = tb_problem_parse(&ctx, "problem", bytes, (size_t)length, &problem, &guess);
  return status == TB_OK ? py_problem(problem, guess) : py_raise(&ctx);
}

// Members.

static PyObject* get_name(Problem* self, void* closure) { return PyUnicode_FromString(self->problem->name); }
static PyObject* get_contacts(Problem* self, void* closure)
{
  return PyLong_FromLong(self->problem->ncontact);
}
static PyObject* get_rows(Problem* self, void* closure) { return PyLong_FromLong(self->problem->nrow); }
static PyObject* get_dofs(Problem* self, void* closure) { return PyLong_FromLong(self->problem->ndof); }

static PyObject* get_bias(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->bias, 'd', self->problem->nrow);
}

static PyObject* get_compliance(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->compliance, 'd', self->problem->nrow);
}

static PyObject* get_v_free(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->v_free, 'd', self->problem->ndof);
}

static PyObject* get_row_adr(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->row_adr, 'i', (Py_ssize_t)self->problem->ncontact + 1);
}

static PyObject* get_param_adr(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->param_adr, 'i', (Py_ssize_t)self->problem->ncontact + 1);
}

static PyObject* get_param(Problem* self, void* closure)
{
  return py_view((PyObject*)self, self->problem->param, 'd',
                 self->problem->param_adr[self->problem->ncontact]);
}

static PyObject* get_guess(Problem* self, void* closure)
{
  if (!self->guess) Py_RETURN_NONE;
  return py_view((PyObject*)self, self->guess, 'd', self->problem->nrow);
}

static PyObject* get_laws(Problem* self, void* closure)
{
  PyObject* list = PyList_New(0);
  for (int i = 0; list && i < self->problem->ncontact; i++) {
    PyObject* name = PyUnicode_InternFromString(tb_law_name((tbLaw)self->problem->law[i]));
    if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyGetSetDef members[] = {
    {"name", (getter)get_name, NULL, "For reports.", NULL},
    {"contacts", (getter)get_contacts, NULL, "How many contacts.", NULL},
    {"rows", (getter)get_rows, NULL, "Rows of all contacts together.", NULL},
    {"dofs", (getter)get_dofs, NULL, "Degrees of freedom of A; 0 where W is given.", NULL},
    {"bias", (getter)get_bias, NULL, "b, or q where W is given, m/s (rows; a view).", NULL},
    {"compliance", (getter)get_compliance, NULL, "R, diagonal (rows; a view).", NULL},
    {"v_free", (getter)get_v_free, NULL, "Velocity if there were no contact (dofs; a view).", NULL},
    {"row_start", (getter)get_row_adr, NULL, "First row of each contact (contacts + 1; a view).", NULL},
    {"param_start", (getter)get_param_adr, NULL, "First parameter of each contact (contacts + 1; a view).",
     NULL},
    {"params", (getter)get_param, NULL, "The laws' parameters; for Coulomb's, μ of each contact (a view).",
     NULL},
    {"guess", (getter)get_guess, NULL, "Impulses to start from (rows; a view), or None.", NULL},
    {"laws", (getter)get_laws, NULL, "The law of each contact, by name.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef own_methods[] = {{"_save", (PyCFunction)problem_save, METH_VARARGS, NULL},
                                    {"_to_json", (PyCFunction)problem_to_json, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};

static PyMethodDef functions[] = {{"problem_load", problem_load, METH_VARARGS, NULL},
                                  {"problem_parse", problem_parse, METH_VARARGS, NULL},
                                  {"problem_generate", problem_generate, METH_VARARGS, NULL},
                                  {"problem_manufacture", problem_manufacture, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

bool py_problem_init(PyObject* module)
{
  PyMethodDef* const tables[] = {own_methods, py_problem_read_methods, py_problem_solve_methods};
  PyMethodDef* methods = py_join_methods(tables, 3); // lives as long as the type
  PyType_Slot slots[] = {
      {Py_tp_dealloc, problem_dealloc}, {Py_tp_methods, methods}, {Py_tp_getset, members}, {0, NULL}};
  PyType_Spec spec = {"tribo._native.Problem", sizeof(Problem), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  if (!methods) return false;
  py_native.problem = (PyTypeObject*)PyType_FromSpec(&spec);
  return py_native.problem && PyModule_AddObjectRef(module, "Problem", (PyObject*)py_native.problem) == 0 &&
         PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddFunctions(module, py_problem_build_methods) == 0;
}
