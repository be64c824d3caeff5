// SPDX-License-Identifier: Apache-2.0
// Solving and judging contact problems. The interpreter lock is released while a method runs; a problem never
// changes, so any number of threads may solve it at a time. A workspace is of one thread at a time.
#include "native.h"

#include "tribo/tools/array.h"

#include <string.h>

typedef struct {
  tbContext* ctx;
  tbArray rows; // of TRACE doubles
  bool failed;
} Trace;

enum { TRACE = 4 };

static void write_trace(void* user, const tbTraceEvent* event)
{
  Trace* trace = user;
  double row[TRACE] = {event->iteration, event->time_s, event->residual->fclib, event->residual->velocity};
  if (!trace->failed) trace->failed = tb_array_push(trace->ctx, &trace->rows, row, TRACE) != TB_OK;
}

// What a call solves, and what it holds until it ends.
typedef struct {
  const tbProblem* problem;
  tbWorkspace* space; // null: the problem by itself
  tbContext ctx;
  tbStepOptions step; // of which the solver's part counts
  Numbers lambda;
  Trace trace;
  tbSolveResult result;
  Watch watch;
} Call;

static bool prepare(PyObject* options, PyObject* start, int threads, Call* call)
{
  call->ctx = tb_default_context();
  call->step = tb_default_step_options();
  call->step.solver = tb_default_solve_options();
  if (!py_set_options(&call->ctx, &call->step, options)) return false;
  if (!py_read_numbers(start, "start", 1, call->problem->nrow, -1, &call->lambda)) return false;
  if (threads == 1 || tb_threads_create(&call->ctx, threads, &call->ctx.threads) == TB_OK) return true;
  return py_raise(&call->ctx);
}

static tbStatus run(Call* call, bool traced)
{
  call->trace = (Trace){.ctx = &call->ctx, .rows = TB_ARRAY(double)};
  if (traced) call->step.solver.trace = write_trace, call->step.solver.trace_user = &call->trace;
  call->ctx.interrupt = py_watch(&call->watch);
  PyThreadState* released = PyEval_SaveThread();
  const tbSolveOptions* options = &call->step.solver;
  tbStatus status = call->space
                        ? tb_workspace_solve(&call->ctx, call->space, options, call->lambda.at, &call->result)
                        : tb_solve(&call->ctx, call->problem, options, call->lambda.at, &call->result);
  PyEval_RestoreThread(released);
  return status;
}

static PyObject* solution(Call* call)
{
  PyObject *lambda, *trace;
  double* to = py_new_doubles(&lambda, 1, call->problem->nrow, 0);
  if (to) memcpy(to, call->lambda.at, (size_t)call->problem->nrow * sizeof(double));
  lambda = py_finish(lambda);
  to = py_new_doubles(&trace, 2, (Py_ssize_t)(call->trace.rows.count / TRACE), TRACE);
  if (to && call->trace.rows.count)
    memcpy(to, call->trace.rows.data, call->trace.rows.count * sizeof(double));
  trace = py_finish(trace);
  PyObject* residual = py_residual(&call->result.residual);
  const tbSolveResult* r = &call->result;
  if (lambda && trace && residual)
    return Py_BuildValue("sNNsiddN", tb_outcome_name(r->outcome), lambda, residual, r->used ? r->used : "",
                         r->iterations, r->time_s, r->setup_s, trace);
  Py_XDECREF(lambda), Py_XDECREF(trace), Py_XDECREF(residual);
  return NULL;
}

// (options, start, traced, threads)
static PyObject* solve_with(Call* call, PyObject* args)
{
  PyObject *options, *start, *result = NULL;
  int traced, threads;
  if (!PyArg_ParseTuple(args, "O!Opi:solve", &PyDict_Type, &options, &start, &traced, &threads)) return NULL;
  if (prepare(options, start, threads, call)) {
    if (run(call, traced) == TB_OK) result = solution(call);
    else py_raise(&call->ctx);
  }
  tb_array_free(&call->ctx, &call->trace.rows);
  tb_threads_destroy(&call->ctx, call->ctx.threads);
  PyMem_Free(call->lambda.at);
  return result;
}

static PyObject* solve(Problem* self, PyObject* args)
{
  return solve_with(&(Call){.problem = self->problem}, args);
}

PyObject* py_workspace_solve(Workspace* self, PyObject* args)
{
  if (!py_workspace_enter(self)) return NULL;
  PyObject* result =
      solve_with(&(Call){.problem = tb_workspace_problem(self->space), .space = self->space}, args);
  self->busy = false;
  return result;
}

// Null, or why a solver does not take the problem.
static PyObject* refuses(Problem* self, PyObject* args)
{
  const char *name, *model_name;
  tbModel model;
  if (!PyArg_ParseTuple(args, "ss:refuses", &name, &model_name) || !py_to_model(model_name, &model))
    return NULL;
  const tbSolver* solver = tb_solver_find(name);
  if (!solver) {
    PyErr_Format(PyExc_ValueError, "there is no solver '%s'; tribo.solvers() lists them", name);
    return NULL;
  }
  const char* why = tb_solver_refuses(solver, self->problem, model);
  if (why) return PyUnicode_FromString(why);
  Py_RETURN_NONE;
}

// The judge: (Residual, u, v, part of each contact).
static PyObject* judge(Problem* self, PyObject* args)
{
  PyObject *object, *arrays[3] = {0};
  const char* model_name;
  int directions;
  tbModel model;
  Numbers lambda;
  const tbProblem* p = self->problem;
  if (!PyArg_ParseTuple(args, "Osi:judge", &object, &model_name, &directions) ||
      !py_to_model(model_name, &model))
    return NULL;
  if (directions < 3 || directions > TB_MAX_DIRECTIONS)
    return py_raise_as(TB_ERROR_ARGUMENT, "directions: 3 … 64");
  if (!py_read_numbers(object, "impulses", 1, p->nrow, -1, &lambda)) return NULL;
  tbContext ctx = tb_default_context();
  tbJudge* judged = NULL;
  tbResidual residual;
  double* u = py_new_doubles(&arrays[0], 1, p->nrow, 0);
  double* v = py_new_doubles(&arrays[1], 1, p->ndof, 0);
  double* part = py_new_doubles(&arrays[2], 1, p->ncontact, 0);
  bool good = u && v && part;
  if (good && tb_judge_create(&ctx, p, &judged) != TB_OK) good = py_raise(&ctx);
  if (good) tb_judge_measure(judged, lambda.at, model, directions, &residual, u, p->ndof ? v : NULL);
  if (good) tb_judge_contacts(judged, part);
  tb_judge_free(&ctx, judged);
  PyMem_Free(lambda.at);
  PyObject* first = good ? py_residual(&residual) : NULL;
  for (int i = 0; i < 3; i++) arrays[i] = py_finish(arrays[i]), good = good && arrays[i];
  if (good && first) return Py_BuildValue("NNNN", first, arrays[0], arrays[1], arrays[2]);
  Py_XDECREF(first);
  for (int i = 0; i < 3; i++) Py_XDECREF(arrays[i]);
  return NULL;
}

PyMethodDef py_problem_solve_methods[] = {{"_solve", (PyCFunction)solve, METH_VARARGS, NULL},
                                          {"_refuses", (PyCFunction)refuses, METH_VARARGS, NULL},
                                          {"_judge", (PyCFunction)judge, METH_VARARGS, NULL},
                                          {NULL, NULL, 0, NULL}};
