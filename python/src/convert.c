// SPDX-License-Identifier: Apache-2.0
// Small values between Python and C: vectors, ids, friction.
#include "native.h"

#include <string.h>

int py_to_vec3(PyObject* object, void* out)
{
  double v[3];
  if (!py_read_fixed(object, "a vector", 3, v)) return 0;
  *(tbVec3*)out = tb_vec3(v[0], v[1], v[2]);
  return 1;
}

int py_to_quat(PyObject* object, void* out)
{
  double q[4];
  if (!py_read_fixed(object, "an orientation (w, x, y, z)", 4, q)) return 0;
  *(tbQuat*)out = (tbQuat){q[0], q[1], q[2], q[3]};
  return 1;
}

PyObject* py_vec3(tbVec3 v)
{
  PyObject* array;
  double* at = py_new_doubles(&array, 1, 3, 0);
  if (at) at[0] = v.x, at[1] = v.y, at[2] = v.z;
  return py_finish(array);
}

PyObject* py_quat(tbQuat q)
{
  PyObject* array;
  double* at = py_new_doubles(&array, 1, 4, 0);
  if (at) at[0] = q.w, at[1] = q.x, at[2] = q.y, at[3] = q.z;
  return py_finish(array);
}

int py_to_bits(PyObject* object, void* out)
{
  unsigned long long bits = PyLong_AsUnsignedLongLong(object);
  if (bits == (unsigned long long)-1 && PyErr_Occurred()) return 0;
  if (bits > 0xFFFFFFFFull) PyErr_SetString(PyExc_OverflowError, "categories and masks have 32 bits");
  else *(uint32_t*)out = (uint32_t)bits;
  return bits <= 0xFFFFFFFFull;
}

// Ids are one number in Python: the generation above the index.
PyObject* py_id(int index, uint32_t generation)
{
  return PyLong_FromUnsignedLongLong((unsigned long long)generation << 32 | (uint32_t)index);
}

static int to_id(PyObject* object, int* index, uint32_t* generation)
{
  unsigned long long id = PyLong_AsUnsignedLongLong(object);
  if (id == (unsigned long long)-1 && PyErr_Occurred()) return 0;
  *index = (int)(uint32_t)id, *generation = (uint32_t)(id >> 32);
  return 1;
}

int py_to_body(PyObject* object, void* out)
{
  tbBodyId* id = out;
  *id = (tbBodyId){-1, 0};
  return object == Py_None || to_id(object, &id->index, &id->generation);
}

int py_to_joint(PyObject* object, void* out)
{
  tbJointId* id = out;
  return to_id(object, &id->index, &id->generation);
}

int py_to_material(PyObject* object, void* out)
{
  tbMaterialId* id = out;
  *id = (tbMaterialId){0, 0};
  return object == Py_None || to_id(object, &id->index, &id->generation);
}

// Friction.

static bool read_member(PyObject* dict, const char* key, int* used, double* out)
{
  PyObject* value = PyDict_GetItemString(dict, key); // borrowed
  if (!value) return true;
  *used += 1;
  *out = PyFloat_AsDouble(value);
  return !(*out == -1 && PyErr_Occurred());
}

// {'model': 'tensor', 'matrix': [[…], […]], 'kappa', 'direction'}: four numbers by the sequence protocol.
static int read_matrix(PyObject* rows, double* out)
{
  for (int i = 0; i < 4; i++) {
    PyObject *row = PySequence_GetItem(rows, i / 2), *item = row ? PySequence_GetItem(row, i % 2) : NULL;
    out[i] = item ? PyFloat_AsDouble(item) : -1;
    Py_XDECREF(item);
    Py_XDECREF(row);
    if (PyErr_Occurred()) return 0;
  }
  return 1;
}

// The kind that 'model' names; −1: none does.
static int friction_model(PyObject* dict, int* used)
{
  static const struct {
    const char* name;
    tbFrictionKind kind;
  } models[] = {{"coulomb", TB_FRICTION_ISOTROPIC},   {"elliptic", TB_FRICTION_ELLIPTIC},
                {"contensou", TB_FRICTION_CONTENSOU}, {"matchstick", TB_FRICTION_MATCHSTICK},
                {"tensor", TB_FRICTION_TENSOR},       {"texture", TB_FRICTION_TEXTURE}};
  PyObject* model = PyDict_GetItemString(dict, "model");
  if (!model) return -1;
  *used += 1;
  for (int i = 0; i < (int)(sizeof models / sizeof *models); i++)
    if (PyUnicode_Check(model) && PyUnicode_CompareWithASCIIString(model, models[i].name) == 0)
      return (int)models[i].kind;
  *used = -100; // a name that is none
  return -1;
}

// What every kind may have, and a texture's numbers.
static bool read_extras(PyObject* dict, int* used, tbFriction* out)
{
  double texture = out->texture, directions = out->directions;
  bool good = read_member(dict, "static_ratio", used, &out->static_ratio) &&
              read_member(dict, "stribeck", used, &out->stribeck) &&
              read_member(dict, "tresca", used, &out->tresca) &&
              read_member(dict, "adhesion", used, &out->adhesion) &&
              read_member(dict, "restitution", used, &out->restitution) &&
              read_member(dict, "texture", used, &texture) && read_member(dict, "scale", used, &out->scale) &&
              read_member(dict, "patch", used, &out->patch) &&
              read_member(dict, "directions", used, &directions);
  out->texture = texture >= 0 && texture < 1e9 ? (int)texture : -1; // −1 is refused where it is used
  out->directions = directions >= 0 && directions < 1e9 ? (int)directions : -1;
  return good;
}

static int friction_of_dict(PyObject* dict, tbFriction* out)
{
  int used = 0, before, model = friction_model(dict, &used);
  *out = tb_friction(0.5);
  out->direction = tb_vec3(1, 0, 0);
  out->kappa = 1;
  if (!read_extras(dict, &used, out)) return 0;
  PyObject* matrix = PyDict_GetItemString(dict, "matrix");
  if (matrix && !read_matrix(matrix, out->matrix)) return 0;
  used += matrix != NULL;
  if (!read_member(dict, "kappa", &used, &out->kappa)) return 0;
  if (!read_member(dict, "mu", &used, &out->mu)) return 0;
  before = used;
  if (!read_member(dict, "torsion", &used, &out->torsion) ||
      !read_member(dict, "rolling", &used, &out->rolling))
    return 0;
  if (used > before) out->kind = TB_FRICTION_CONTENSOU;
  before = used;
  if (!read_member(dict, "mu_t", &used, &out->mu_t) || !read_member(dict, "mu_b", &used, &out->mu_b))
    return 0;
  bool elliptic = used > before;
  PyObject* direction = PyDict_GetItemString(dict, "direction");
  if (direction && !py_to_vec3(direction, &out->direction)) return 0;
  used += direction != NULL;
  if (elliptic) out->kind = TB_FRICTION_ELLIPTIC;
  if (model >= 0) out->kind = (tbFrictionKind)model;
  else if (matrix || (direction && !elliptic) || (elliptic && PyDict_GetItemString(dict, "mu"))) used = -1;
  if (used == PyDict_Size(dict) && used > 0) return 1;
  PyErr_SetString(PyExc_ValueError,
                  "friction: a number, {'mu', 'torsion', 'rolling'}, {'mu_t', 'mu_b', 'direction'} with "
                  "torsion and rolling, {'model': 'matchstick', 'mu', 'mu_t', 'mu_b', 'direction'}, "
                  "{'model': 'tensor', 'matrix', 'kappa', 'direction'} or {'model': 'texture', 'texture', "
                  "'direction', 'scale', 'patch'}; each with 'static_ratio', 'stribeck', 'tresca', "
                  "'adhesion', 'restitution'");
  return 0;
}

int py_to_friction(PyObject* object, void* out)
{
  if (PyDict_Check(object)) return friction_of_dict(object, out);
  double mu = PyFloat_AsDouble(object);
  if (mu == -1 && PyErr_Occurred()) return 0;
  *(tbFriction*)out = tb_friction(mu);
  return 1;
}
