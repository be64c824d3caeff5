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

// What a dict has there, held: reading it may run Python code that changes the dict. Null: nothing.
static PyObject* member(PyObject* dict, const char* key)
{
  return Py_XNewRef(PyDict_GetItemString(dict, key));
}

static bool read_member(PyObject* dict, const char* key, int* used, double* out)
{
  PyObject* value = member(dict, key);
  if (!value) return true;
  *used += 1;
  *out = PyFloat_AsDouble(value);
  Py_DECREF(value);
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

static bool read_matrix_member(PyObject* dict, const char* key, double* out, bool* there)
{
  PyObject* rows = member(dict, key);
  *there = rows != NULL;
  bool good = !rows || read_matrix(rows, out);
  Py_XDECREF(rows);
  return good;
}

static bool read_direction(PyObject* dict, tbVec3* out, bool* there)
{
  PyObject* direction = member(dict, "direction");
  *there = direction != NULL;
  bool good = !direction || py_to_vec3(direction, out);
  Py_XDECREF(direction);
  return good;
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
// A number that World.add_…() gave; −1, which is refused where it is used: none can be.
static bool read_number_of(PyObject* dict, const char* key, int* used, int* out)
{
  double number = *out;
  bool good = read_member(dict, key, used, &number);
  *out = number >= 0 && number < 1e9 ? (int)number : -1;
  return good;
}

static bool read_mapping(PyObject* dict, int* used, tbFriction* out)
{
  static const char* const names[TB_MAPPING_COUNT] = {"contact", "planar", "box"};
  PyObject* mapping = PyDict_GetItemString(dict, "mapping");
  if (!mapping) return true;
  *used += 1;
  for (int i = 0; i < TB_MAPPING_COUNT; i++)
    if (PyUnicode_Check(mapping) && PyUnicode_CompareWithASCIIString(mapping, names[i]) == 0) {
      out->mapping = (tbMapping)i;
      return true;
    }
  PyErr_Format(PyExc_ValueError, "mapping: 'contact', 'planar' or 'box', not %R", mapping);
  return false;
}

static bool read_extras(PyObject* dict, int* used, tbFriction* out)
{
  double directions = out->directions;
  bool good =
      read_member(dict, "static_ratio", used, &out->static_ratio) &&
      read_member(dict, "stribeck", used, &out->stribeck) &&
      read_member(dict, "tresca", used, &out->tresca) &&
      read_member(dict, "adhesion", used, &out->adhesion) &&
      read_member(dict, "restitution", used, &out->restitution) &&
      read_number_of(dict, "texture", used, &out->texture) && read_member(dict, "scale", used, &out->scale) &&
      read_member(dict, "patch", used, &out->patch) && read_number_of(dict, "field", used, &out->field) &&
      read_number_of(dict, "direction_map", used, &out->direction_map) &&
      read_number_of(dict, "chart", used, &out->chart) && read_mapping(dict, used, out) &&
      read_member(dict, "directions", used, &directions);
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
  bool tensor, directed;
  if (!read_matrix_member(dict, "matrix", out->matrix, &tensor) ||
      !read_matrix_member(dict, "matrix_back", out->matrix_back, &out->asymmetric))
    return 0;
  used += tensor + out->asymmetric;
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
  if (!read_direction(dict, &out->direction, &directed)) return 0;
  used += directed;
  if (elliptic) out->kind = TB_FRICTION_ELLIPTIC;
  if (model >= 0) out->kind = (tbFrictionKind)model;
  else if (tensor || (directed && !elliptic) || (elliptic && PyDict_GetItemString(dict, "mu"))) used = -1;
  if (used == PyDict_Size(dict) && used > 0) return 1;
  PyErr_SetString(
      PyExc_ValueError,
      "friction: a number, {'mu', 'torsion', 'rolling'}, {'mu_t', 'mu_b', 'direction'} with "
      "torsion and rolling, {'model': 'matchstick', 'mu', 'mu_t', 'mu_b', 'direction'}, "
      "{'model': 'tensor', 'matrix', 'matrix_back', 'kappa', 'direction'} or {'model': 'texture', 'texture', "
      "'direction', 'scale', 'patch'}; each with 'static_ratio', 'stribeck', 'tresca', "
      "'adhesion', 'restitution'; those with a direction also 'field', 'direction_map', 'scale', "
      "'mapping', 'chart'");
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

// Adds a number to a dict; false with an exception. Zeros, which are what is left out, are left out.
static bool put(PyObject* dict, const char* key, double number)
{
  if (number == 0) return true;
  PyObject* value = PyFloat_FromDouble(number);
  bool good = value && PyDict_SetItemString(dict, key, value) == 0;
  Py_XDECREF(value);
  return good;
}

static bool put_object(PyObject* dict, const char* key, PyObject* value) // takes the value
{
  bool good = value && PyDict_SetItemString(dict, key, value) == 0;
  Py_XDECREF(value);
  return good;
}

static bool put_number_of(PyObject* dict, const char* key, int number)
{
  return number == 0 || put_object(dict, key, PyLong_FromLong(number));
}

static bool put_extras(PyObject* dict, const tbFriction* f)
{
  static const char* const mapping[TB_MAPPING_COUNT] = {"contact", "planar", "box"};
  return put(dict, "static_ratio", f->static_ratio) && put(dict, "stribeck", f->stribeck) &&
         put(dict, "tresca", f->tresca) && put(dict, "adhesion", f->adhesion) &&
         put(dict, "restitution", f->restitution) && put(dict, "scale", f->scale) &&
         put(dict, "patch", f->patch) && put_number_of(dict, "texture", f->texture) &&
         put_number_of(dict, "directions", f->directions) && put_number_of(dict, "field", f->field) &&
         put_number_of(dict, "direction_map", f->direction_map) && put_number_of(dict, "chart", f->chart) &&
         (f->mapping == TB_MAPPING_CONTACT ||
          put_object(dict, "mapping", PyUnicode_FromString(mapping[f->mapping])));
}

static bool put_own(PyObject* dict, const tbFriction* f)
{
  bool directed = f->kind != TB_FRICTION_ISOTROPIC && f->kind != TB_FRICTION_CONTENSOU;
  bool axes = f->kind == TB_FRICTION_ELLIPTIC || f->kind == TB_FRICTION_MATCHSTICK;
  const double *m = f->matrix, *back = f->matrix_back;
  if (directed &&
      !put_object(dict, "direction", Py_BuildValue("(ddd)", f->direction.x, f->direction.y, f->direction.z)))
    return false;
  if (axes && !(put_object(dict, "mu_t", PyFloat_FromDouble(f->mu_t)) &&
                put_object(dict, "mu_b", PyFloat_FromDouble(f->mu_b))))
    return false;
  if (f->kind == TB_FRICTION_TENSOR)
    return put_object(dict, "matrix", Py_BuildValue("((dd)(dd))", m[0], m[1], m[2], m[3])) &&
           put_object(dict, "kappa", PyFloat_FromDouble(f->kappa)) &&
           (!f->asymmetric ||
            put_object(dict, "matrix_back", Py_BuildValue("((dd)(dd))", back[0], back[1], back[2], back[3])));
  return put_object(dict, "mu", PyFloat_FromDouble(f->mu)) && put(dict, "torsion", f->torsion) &&
         put(dict, "rolling", f->rolling);
}

PyObject* py_friction(tbFriction f)
{
  static const char* const model[] = {"coulomb",    "elliptic", "contensou",
                                      "matchstick", "texture",  "tensor"}; // by tbFrictionKind
  PyObject* dict = Py_BuildValue("{ss}", "model", model[f.kind]);
  if (dict && put_own(dict, &f) && put_extras(dict, &f)) return dict;
  Py_XDECREF(dict);
  return NULL;
}
