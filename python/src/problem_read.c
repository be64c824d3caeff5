// SPDX-License-Identifier: Apache-2.0
// The matrices and the structure of a contact problem: W, J, A; islands, colours, layers.
#include "native.h"

#include <string.h>

// Compressed rows as (indptr, indices, data); takes the arrays.
static PyObject* csr_tuple(PyObject* ptr, PyObject* col, PyObject* val)
{
  ptr = py_finish(ptr), col = py_finish(col), val = py_finish(val);
  if (ptr && col && val) return Py_BuildValue("NNN", ptr, col, val);
  Py_XDECREF(ptr), Py_XDECREF(col), Py_XDECREF(val);
  return NULL;
}

static PyObject* blocks_csr(const tbDelassus* W)
{
  const tbProblem* p = W->problem;
  PyObject *ptrs, *cols = NULL, *vals = NULL;
  int* ptr = py_new_ints(&ptrs, 1, (Py_ssize_t)p->nrow + 1, 0);
  size_t total = W->val_adr[W->ptr[p->ncontact]];
  if (total > INT32_MAX) {
    Py_XDECREF(ptrs);
    return py_raise_as(TB_ERROR_UNSUPPORTED, "W has too many numbers for indices of 32 bits");
  }
  int* col = ptr ? py_new_ints(&cols, 1, (Py_ssize_t)total, 0) : NULL;
  double* val = col ? py_new_doubles(&vals, 1, (Py_ssize_t)total, 0) : NULL;
  int at = 0;
  for (int k = 0; val && k < p->ncontact; k++)
    for (int r = 0; r < p->row_adr[k + 1] - p->row_adr[k]; r++) {
      for (int i = W->ptr[k]; i < W->ptr[k + 1]; i++) {
        int first = p->row_adr[W->col[i]], width = p->row_adr[W->col[i] + 1] - first;
        for (int c = 0; c < width; c++)
          col[at] = first + c, val[at++] = W->val[W->val_adr[i] + (size_t)(r * width + c)];
      }
      ptr[p->row_adr[k] + r + 1] = at;
    }
  return csr_tuple(ptrs, cols, vals);
}

static PyObject* delassus(Problem* self, PyObject* args)
{
  int sparse;
  if (!PyArg_ParseTuple(args, "p:delassus", &sparse)) return NULL;
  tbContext ctx = tb_default_context();
  tbDelassus* W = NULL;
  tbStatus status;
  Watch watch;
  ctx.interrupt = py_watch(&watch);
  PyThreadState* released = PyEval_SaveThread();
  status = tb_delassus_create(&ctx, self->problem, sparse ? TB_FORM_BLOCKS : TB_FORM_DENSE, &W);
  PyEval_RestoreThread(released);
  if (status != TB_OK) return py_raise(&ctx);
  PyObject* result = NULL;
  if (sparse) result = blocks_csr(W);
  else {
    Py_ssize_t n = self->problem->nrow;
    double* to = py_new_doubles(&result, 2, n, n);
    if (to && n) memcpy(to, W->dense, (size_t)(n * n) * sizeof(double));
    result = py_finish(result);
  }
  tb_delassus_free(&ctx, W);
  return result;
}

static PyObject* get_q(Problem* self, PyObject* unused)
{
  tbContext ctx = tb_default_context();
  tbDelassus* W = NULL;
  if (tb_delassus_create(&ctx, self->problem, 0, &W) != TB_OK) return py_raise(&ctx);
  PyObject* array;
  double* to = py_new_doubles(&array, 1, self->problem->nrow, 0);
  if (to && self->problem->nrow) memcpy(to, W->q, (size_t)self->problem->nrow * sizeof(double));
  tb_delassus_free(&ctx, W);
  return py_finish(array);
}

// J as (rows, columns, values); what stands there twice adds up.
static PyObject* jacobian(Problem* self, PyObject* unused)
{
  const tbProblem* p = self->problem;
  Py_ssize_t total = p->ncol && p->ndof ? (Py_ssize_t)p->jac_val_adr[p->ncol] : 0, at = 0;
  PyObject *rows, *cols = NULL, *vals = NULL;
  int* row = py_new_ints(&rows, 1, total, 0);
  int* col = row ? py_new_ints(&cols, 1, total, 0) : NULL;
  double* val = col ? py_new_doubles(&vals, 1, total, 0) : NULL;
  for (int k = 0; val && total && k < p->ncontact; k++)
    for (int i = p->jac_adr[k]; i < p->jac_adr[k + 1]; i++)
      for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++)
        for (int c = 0; c < p->jac_width[i]; c++) {
          row[at] = r, col[at] = p->jac_dof[i] + c;
          val[at++] = p->jac[p->jac_val_adr[i] + (size_t)((r - p->row_adr[k]) * p->jac_width[i] + c)];
        }
  return csr_tuple(rows, cols, vals);
}

static Py_ssize_t metric_entries(const tbMetricBlock* b)
{
  if (b->kind == TB_METRIC_PARTICLE) return b->size;
  return b->kind == TB_METRIC_DENSE ? (Py_ssize_t)b->size * b->size : b->ptr[b->size];
}

static Py_ssize_t put_metric(const tbMetricBlock* b, int* row, int* col, double* val)
{
  Py_ssize_t at = 0;
  for (int r = 0; r < b->size; r++) {
    int first = b->kind == TB_METRIC_SPARSE ? b->ptr[r] : b->kind == TB_METRIC_DENSE ? 0 : r;
    int last = b->kind == TB_METRIC_SPARSE ? b->ptr[r + 1] : b->kind == TB_METRIC_DENSE ? b->size : r + 1;
    for (int i = first; i < last; i++) {
      row[at] = b->dof + r;
      col[at] = b->dof + (b->kind == TB_METRIC_SPARSE ? b->col[i] : i);
      val[at++] = b->kind == TB_METRIC_SPARSE  ? b->value[i]
                  : b->kind == TB_METRIC_DENSE ? b->value[(size_t)r * (size_t)b->size + (size_t)i]
                                               : b->value[0];
    }
  }
  return at;
}

static PyObject* metric(Problem* self, PyObject* unused)
{
  const tbProblem* p = self->problem;
  Py_ssize_t total = 0, at = 0;
  for (int i = 0; i < p->nblock; i++) total += metric_entries(&p->block[i]);
  PyObject *rows, *cols = NULL, *vals = NULL;
  int* row = py_new_ints(&rows, 1, total, 0);
  int* col = row ? py_new_ints(&cols, 1, total, 0) : NULL;
  double* val = col ? py_new_doubles(&vals, 1, total, 0) : NULL;
  for (int i = 0; val && i < p->nblock; i++) at += put_metric(&p->block[i], row + at, col + at, val + at);
  return csr_tuple(rows, cols, vals);
}

static PyObject* structure(Problem* self, PyObject* args)
{
  const char* what;
  if (!PyArg_ParseTuple(args, "s:structure", &what)) return NULL;
  tbContext ctx = tb_default_context();
  int count;
  PyObject* array;
  int* to = py_new_ints(&array, 1, self->problem->ncontact, 0);
  if (!to) return NULL;
  tbStatus status = *what == 'i'   ? tb_problem_islands(&ctx, self->problem, to, &count)
                    : *what == 'c' ? tb_problem_colours(&ctx, self->problem, to, &count)
                                   : tb_problem_layers(&ctx, self->problem, to, &count);
  if (status == TB_OK) return py_finish(array);
  Py_DECREF(array);
  return py_raise(&ctx);
}

PyMethodDef py_problem_read_methods[] = {{"_delassus", (PyCFunction)delassus, METH_VARARGS, NULL},
                                         {"_q", (PyCFunction)get_q, METH_NOARGS, NULL},
                                         {"_jacobian", (PyCFunction)jacobian, METH_NOARGS, NULL},
                                         {"_metric", (PyCFunction)metric, METH_NOARGS, NULL},
                                         {"_structure", (PyCFunction)structure, METH_VARARGS, NULL},
                                         {NULL, NULL, 0, NULL}};
