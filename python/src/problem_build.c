// SPDX-License-Identifier: Apache-2.0
// Contact problems from arrays: W and q, or A, J, v_free and b, with a law per contact. Matrices come in
// compressed rows, which problem.py makes of numpy's and scipy's.
#include "native.h"

#include <limits.h>
#include <stdlib.h>

// A matrix in compressed rows, copied and checked: row starts that grow, columns in range.
typedef struct {
  int rows, columns;
  int *ptr, *col;
  double* val;
} Csr;

static void csr_free(Csr* m) { PyMem_Free(m->ptr), PyMem_Free(m->col), PyMem_Free(m->val); }

static bool csr_check(const Csr* m, const char* name, Py_ssize_t count)
{
  bool good = m->ptr[0] == 0 && m->ptr[m->rows] == count;
  for (int i = 0; good && i < m->rows; i++) good = m->ptr[i] <= m->ptr[i + 1];
  for (Py_ssize_t i = 0; good && i < count; i++) good = m->col[i] >= 0 && m->col[i] < m->columns;
  if (!good) PyErr_Format(PyExc_ValueError, "%s: row starts or columns out of range", name);
  return good;
}

// From a tuple (rows, columns, indptr, indices, data).
static bool csr_read(PyObject* tuple, const char* name, Csr* m)
{
  PyObject *ptr, *col, *val;
  Py_ssize_t starts, columns;
  Numbers values = {0};
  *m = (Csr){0};
  if (!PyArg_ParseTuple(tuple, "iiOOO", &m->rows, &m->columns, &ptr, &col, &val)) return false;
  if (m->rows < 0 || m->columns < 0 || m->rows == INT_MAX) {
    PyErr_Format(PyExc_ValueError, "%s: a matrix of such a shape", name);
    return false;
  }
  bool good = py_read_ints(ptr, name, 1, (Py_ssize_t)m->rows + 1, -1, &m->ptr, &starts) &&
              py_read_ints(col, name, 1, -1, -1, &m->col, &columns) &&
              py_read_numbers(val, name, 1, columns, -1, &values);
  m->val = values.at;
  if (good && csr_check(m, name, columns)) return true;
  csr_free(m);
  *m = (Csr){0};
  return false;
}

// What the contacts are: laws by number, rows, parameters, bias and compliance, one after the other.
typedef struct {
  int count;
  int *law, *rows;
  Numbers param, bias, compliance;
} Contacts;

static void contacts_free(Contacts* c)
{
  PyMem_Free(c->law), PyMem_Free(c->rows);
  PyMem_Free(c->param.at), PyMem_Free(c->bias.at), PyMem_Free(c->compliance.at);
}

static bool contacts_check(const Contacts* c)
{
  Py_ssize_t rows = 0, params = 0;
  for (int i = 0; i < c->count; i++) {
    bool known = c->law[i] >= 0 && c->law[i] < TB_LAW_COUNT && c->rows[i] >= 1 && c->rows[i] <= TB_MAX_ROWS;
    int needs = known ? tb_law_params((tbLaw)c->law[i], c->rows[i]) : -1;
    if (needs < 0) {
      PyErr_Format(PyExc_ValueError, "contact %d: %s does not take %d rows", i,
                   known ? tb_law_name((tbLaw)c->law[i]) : "an unknown law", c->rows[i]);
      return false;
    }
    rows += c->rows[i], params += needs;
  }
  if (rows == c->bias.shape[0] && params == c->param.shape[0]) return true;
  PyErr_Format(PyExc_ValueError, "the contacts have %zd rows and %zd parameters, not %zd and %zd", rows,
               params, c->bias.shape[0], c->param.shape[0]);
  return false;
}

static bool contacts_read(PyObject* tuple, Contacts* c)
{
  PyObject *law, *rows, *param, *bias, *compliance;
  Py_ssize_t count, same;
  *c = (Contacts){0};
  if (!PyArg_ParseTuple(tuple, "OOOOO", &law, &rows, &param, &bias, &compliance)) return false;
  bool good = py_read_ints(law, "law", 1, -1, -1, &c->law, &count) &&
              py_read_ints(rows, "rows", 1, count, -1, &c->rows, &same) &&
              py_read_numbers(param, "params", 1, -1, -1, &c->param) &&
              py_read_numbers(bias, "b", 1, -1, -1, &c->bias) &&
              py_read_numbers(compliance, "compliance", 1, c->bias.shape[0], -1, &c->compliance);
  c->count = (int)count;
  if (good && contacts_check(c)) return true;
  contacts_free(c);
  *c = (Contacts){0};
  return false;
}

static int compare_ints(const void* a, const void* b)
{
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}

// The columns of a contact's rows, each once and in order.
static int gather_columns(const Csr* J, int first, int rows, int* to)
{
  int count = 0, kept = 0;
  for (int i = J->ptr[first]; i < J->ptr[first + rows]; i++) to[count++] = J->col[i];
  if (count > 1) qsort(to, (size_t)count, sizeof(int), compare_ints);
  for (int i = 0; i < count; i++)
    if (i == 0 || to[i] != to[kept - 1]) to[kept++] = to[i];
  return kept;
}

// One column block: rows first … first+rows of columns dof … dof+width as a dense piece.
static void add_block(tbBuilder* b, const Csr* J, int first, int rows, int dof, int width, double* dense)
{
  for (int i = 0; i < rows * width; i++) dense[i] = 0;
  for (int r = 0; r < rows; r++)
    for (int i = J->ptr[first + r]; i < J->ptr[first + r + 1]; i++)
      if (J->col[i] >= dof && J->col[i] < dof + width) dense[r * width + J->col[i] - dof] += J->val[i];
  tb_builder_jacobian(b, dof, width, dense);
}

// A contact's part of J, cut into runs of columns that stay inside of one metric block.
static bool add_rows(tbBuilder* b, const Csr* J, const int* block, int first, int rows)
{
  int total = J->ptr[first + rows] - J->ptr[first];
  int* column = PyMem_Calloc((size_t)total + 1, sizeof(int));
  double* dense = PyMem_Calloc((size_t)total * (size_t)rows + 1, sizeof(double));
  int count = column && dense ? gather_columns(J, first, rows, column) : 0;
  for (int i = 0, next; i < count; i = next) {
    for (next = i + 1;
         next < count && column[next] == column[next - 1] + 1 && block[column[next]] == block[column[i]];)
      next++;
    add_block(b, J, first, rows, column[i], next - i, dense);
  }
  bool good = column && dense;
  PyMem_Free(column), PyMem_Free(dense);
  if (!good) PyErr_NoMemory();
  return good;
}

// J null: W is given.
static bool add_contacts(tbBuilder* b, const Contacts* c, const Csr* J, const int* block)
{
  const double *param = c->param.at, *bias = c->bias.at, *compliance = c->compliance.at;
  for (int i = 0, first = 0; i < c->count; i++) {
    int rows = c->rows[i];
    tb_builder_contact(b, (tbLaw)c->law[i], rows, param, bias, compliance);
    if (J && !add_rows(b, J, block, first, rows)) return false;
    param += tb_law_params((tbLaw)c->law[i], rows);
    bias += rows, compliance += rows, first += rows;
  }
  return true;
}

static PyObject* finish(tbContext* ctx, tbBuilder* b, bool good)
{
  tbProblem* problem = NULL;
  if (!good) {
    tb_builder_abandon(b);
    return NULL;
  }
  return tb_builder_finish(b, &problem) == TB_OK ? py_problem(problem, NULL) : py_raise(ctx);
}

static PyObject* from_W(PyObject* module, PyObject* args)
{
  const char* name;
  PyObject *matrix, *tuple;
  Csr W = {0};
  Contacts c = {0};
  if (!PyArg_ParseTuple(args, "sO!O!:from_W", &name, &PyTuple_Type, &matrix, &PyTuple_Type, &tuple))
    return NULL;
  tbContext ctx = tb_default_context();
  tbBuilder* b = NULL;
  PyObject* result = NULL;
  bool good = contacts_read(tuple, &c) && csr_read(matrix, "W", &W);
  if (good && (W.rows != W.columns || W.rows != c.bias.shape[0])) {
    PyErr_Format(PyExc_ValueError, "W: expected %zd × %zd, got %d × %d", c.bias.shape[0], c.bias.shape[0],
                 W.rows, W.columns);
    good = false;
  }
  if (good && tb_builder_create(&ctx, name, &b) != TB_OK) good = py_raise(&ctx);
  if (good) {
    tb_builder_explicit(b, W.rows, W.ptr, W.col, W.val);
    result = finish(&ctx, b, add_contacts(b, &c, NULL, NULL));
  }
  csr_free(&W), contacts_free(&c);
  return result;
}

// One block of A: a square dense array, or compressed rows.
static bool add_metric(tbBuilder* b, PyObject* block, const double* v_free, int left, int* size)
{
  bool good = false;
  if (PyTuple_Check(block)) {
    Csr A;
    if (!csr_read(block, "A", &A)) return false;
    good = A.rows == A.columns && A.rows <= left;
    *size = A.rows;
    if (good) tb_builder_sparse(b, A.rows, A.ptr, A.col, A.val, v_free, NULL);
    csr_free(&A);
  } else {
    Numbers A;
    if (!py_read_numbers(block, "A", 2, -1, -1, &A)) return false;
    good = A.shape[0] == A.shape[1] && A.shape[0] <= left;
    *size = good ? (int)A.shape[0] : 0;
    if (good) tb_builder_dense(b, *size, A.at, v_free, NULL);
    PyMem_Free(A.at);
  }
  if (!good) PyErr_SetString(PyExc_ValueError, "A: blocks are square, and together as long as v_free");
  return good;
}

// All blocks of A; block: which one a degree of freedom is in.
static bool add_metrics(tbBuilder* b, PyObject* blocks, const Numbers* v_free, int* block)
{
  int dof = 0, total = (int)v_free->shape[0];
  for (Py_ssize_t i = 0; i < PyList_Size(blocks); i++) {
    int size = 0;
    if (!add_metric(b, PyList_GetItem(blocks, i), v_free->at + dof, total - dof, &size)) return false;
    for (int k = 0; k < size; k++) block[dof + k] = (int)i;
    dof += size;
  }
  if (dof == total) return true;
  PyErr_Format(PyExc_ValueError, "A has %d rows and v_free %d", dof, total);
  return false;
}

static PyObject* from_A(PyObject* module, PyObject* args)
{
  const char* name;
  PyObject *blocks, *matrix, *free, *tuple;
  if (!PyArg_ParseTuple(args, "sO!O!OO!:from_A", &name, &PyList_Type, &blocks, &PyTuple_Type, &matrix, &free,
                        &PyTuple_Type, &tuple))
    return NULL;
  tbContext ctx = tb_default_context();
  Csr J = {0};
  Contacts c = {0};
  Numbers v_free = {0};
  tbBuilder* b = NULL;
  PyObject* result = NULL;
  bool good = contacts_read(tuple, &c) && csr_read(matrix, "J", &J) &&
              py_read_numbers(free, "v_free", 1, J.columns, -1, &v_free);
  if (good && J.rows != c.bias.shape[0]) {
    PyErr_Format(PyExc_ValueError, "J: expected %zd rows, got %d", c.bias.shape[0], J.rows);
    good = false;
  }
  int* block = good ? PyMem_Calloc((size_t)J.columns + 1, sizeof(int)) : NULL;
  if (good && !block) PyErr_NoMemory(), good = false;
  if (good && tb_builder_create(&ctx, name, &b) != TB_OK) good = py_raise(&ctx);
  if (good)
    result = finish(&ctx, b, add_metrics(b, blocks, &v_free, block) && add_contacts(b, &c, &J, block));
  csr_free(&J), contacts_free(&c);
  PyMem_Free(v_free.at), PyMem_Free(block);
  return result;
}

static PyObject* law_index(PyObject* module, PyObject* args)
{
  const char* name;
  tbLaw law;
  if (!PyArg_ParseTuple(args, "s:law_index", &name)) return NULL;
  if (tb_law_from_name(name, &law)) return PyLong_FromLong(law);
  char list[300] = "";
  for (int i = 0; i < TB_LAW_COUNT; i++) tb_list_append(list, sizeof list, tb_law_name((tbLaw)i));
  PyErr_Format(PyExc_ValueError, "there is no law '%s'; there are %s", name, list);
  return NULL;
}

PyMethodDef py_problem_build_methods[] = {{"problem_from_W", from_W, METH_VARARGS, NULL},
                                          {"problem_from_A", from_A, METH_VARARGS, NULL},
                                          {"law_index", law_index, METH_VARARGS, NULL},
                                          {NULL, NULL, 0, NULL}};
