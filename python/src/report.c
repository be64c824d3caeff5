// SPDX-License-Identifier: Apache-2.0
// What a step did and how good it is, as named tuples.
#include "native.h"

static PyStructSequence_Field residual_fields[] = {
    {"velocity", "the worst contact's, in m/s: what steps aim at"},
    {"fclib", "E / max(‖q‖, ‖λ‖, ‖u‖), Siconos' scaling"},
    {"natural_map", "E / ‖q‖, Acary, Brémond and Huber's scaling"},
    {"model", "as fclib, for the model asked for"},
    {"model_velocity", "as velocity, for the model asked for"},
    {"absolute", "E, the norm of the natural map"},
    {"penetration", "worst −u_n over unilateral rows, m/s"},
    {"cone", "worst distance of an impulse to its cone, N·s"},
    {"complementarity", "worst |λ·û|, J"},
    {"dissipation", "worst shortfall from maximum dissipation, J"},
    {"norm_q", "‖q‖"},
    {"norm_lambda", "‖λ‖"},
    {"norm_u", "‖u‖"},
    {NULL, NULL}};

static PyStructSequence_Field report_fields[] = {
    {"outcome", "'converged', 'max_iterations', 'time', 'cancelled', 'failed' or 'unjudged'"},
    {"residual", "the judge's, in m/s: the certificate of the step"},
    {"certificate", "all of the judge's numbers (Residual)"},
    {"used", "the method that finished"},
    {"iterations", "of the solver"},
    {"contacts", "how many; rows of joints not counted"},
    {"penetration", "deepest overlap at the start of the step, m"},
    {"rounds", "scheme implicit: how often contacts were found and solved for"},
    {"trimmed", "scheme implicit: share of the step that was not gone"},
    {"stopped", "bodies that went only a part of the step"},
    {"damped", "impacts with less than their restitution"},
    {"intersections", "pairs of triangles that pass through each other"},
    {"touching", "pairs of triangles that only touch"},
    {"asleep", "scheme soft-step with the option sleep: bodies that were left alone"},
    {"seconds", "of collide, assemble, solve, integrate, judge"},
    {NULL, NULL}};

bool py_reports_init(PyObject* module)
{
  PyStructSequence_Desc residual = {"tribo.Residual",
                                    "The judge's numbers for impulses of a contact problem.", residual_fields,
                                    sizeof residual_fields / sizeof *residual_fields - 1};
  PyStructSequence_Desc report = {"tribo.Report", "What a step did, and its certificate.", report_fields,
                                  sizeof report_fields / sizeof *report_fields - 1};
  py_native.residual = PyStructSequence_NewType(&residual);
  py_native.report = PyStructSequence_NewType(&report);
  return py_native.residual && py_native.report &&
         PyModule_AddObjectRef(module, "Residual", (PyObject*)py_native.residual) == 0 &&
         PyModule_AddObjectRef(module, "Report", (PyObject*)py_native.report) == 0;
}

// Fills a tuple from values, of which any may have failed.
static PyObject* fill(PyTypeObject* type, PyObject** value, int count)
{
  PyObject* tuple = PyStructSequence_New(type);
  bool good = tuple != NULL;
  for (int i = 0; i < count; i++) {
    if (!value[i]) good = false;
    if (tuple) PyStructSequence_SetItem(tuple, i, value[i] ? value[i] : Py_NewRef(Py_None));
    else Py_XDECREF(value[i]);
  }
  if (good) return tuple;
  Py_XDECREF(tuple);
  return NULL;
}

PyObject* py_residual(const tbResidual* r)
{
  double number[] = {r->velocity, r->fclib,       r->natural_map, r->model,           r->model_velocity,
                     r->absolute, r->penetration, r->cone,        r->complementarity, r->dissipation,
                     r->norm_q,   r->norm_lambda, r->norm_u};
  enum { COUNT = sizeof number / sizeof *number };
  PyObject* value[COUNT];
  for (int i = 0; i < COUNT; i++) value[i] = PyFloat_FromDouble(number[i]);
  return fill(py_native.residual, value, COUNT);
}

PyObject* py_report(const tbStepReport* r)
{
  PyObject* value[] = {
      PyUnicode_InternFromString(tb_outcome_name(r->outcome)),
      PyFloat_FromDouble(r->residual.velocity),
      py_residual(&r->residual),
      PyUnicode_FromString(r->used ? r->used : ""),
      PyLong_FromLong(r->iterations),
      PyLong_FromLong(r->contacts),
      PyFloat_FromDouble(r->penetration),
      PyLong_FromLong(r->rounds),
      PyFloat_FromDouble(r->trimmed),
      PyLong_FromLong(r->changes.stopped),
      PyLong_FromLong(r->changes.damped),
      PyLong_FromLongLong(r->intersections),
      PyLong_FromLongLong(r->touching),
      PyLong_FromLong(r->asleep),
      Py_BuildValue("ddddd", r->phase_s[TB_PHASE_COLLIDE], r->phase_s[TB_PHASE_ASSEMBLE],
                    r->phase_s[TB_PHASE_SOLVE], r->phase_s[TB_PHASE_INTEGRATE], r->phase_s[TB_PHASE_JUDGE])};
  return fill(py_native.report, value, sizeof value / sizeof *value);
}
