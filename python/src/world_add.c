// SPDX-License-Identifier: Apache-2.0
// Adding to a world: materials, bodies, deformable bodies, joints.
#include "native.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static PyObject* add_material(World* self, PyObject* args)
{
  tbMaterialDef def = tb_default_material_def();
  tbMaterialId id;
  if (!PyArg_ParseTuple(args, "sdO&d:add_material", &def.name, &def.density, py_to_friction, &def.friction,
                        &def.restitution))
    return NULL;
  tbWorld* world = py_world(self);
  if (!world) return NULL;
  if (tb_world_add_material(&self->ctx, world, &def, &id) != TB_OK) return py_raise(&self->ctx);
  return py_id(id.index, id.generation);
}

// Width, height, and rows of normals.
static PyObject* add_texture(World* self, PyObject* args)
{
  int width, height, texture;
  PyObject* rows;
  Numbers normals;
  if (!PyArg_ParseTuple(args, "iiO:add_texture", &width, &height, &rows)) return NULL;
  if (!py_read_numbers(rows, "normals", 2, -1, 3, &normals)) return NULL;
  tbWorld* world = py_world(self);
  tbStatus status = TB_OK;
  bool fits = (long long)width * height == (long long)normals.shape[0];
  if (world && fits)
    status = tb_world_add_texture(&self->ctx, world, width, height, (const tbVec3*)normals.at, &texture);
  PyMem_Free(normals.at);
  if (!world) return NULL;
  if (!fits) return py_raise_as(TB_ERROR_ARGUMENT, "a texture has height times width normals");
  return status == TB_OK ? PyLong_FromLong(texture) : py_raise(&self->ctx);
}

static PyObject* number_of(World* self, tbWorld* world, bool fits, tbStatus status, int number,
                           const char* wrong)
{
  if (!world) return NULL;
  if (!fits) return py_raise_as(TB_ERROR_ARGUMENT, wrong);
  return status == TB_OK ? PyLong_FromLong(number) : py_raise(&self->ctx);
}

static PyObject* add_field(World* self, PyObject* args)
{
  PyObject *places, *rows;
  Numbers points, directions;
  int field = 0;
  if (!PyArg_ParseTuple(args, "OO:add_field", &places, &rows)) return NULL;
  if (!py_read_numbers(places, "points", 2, -1, 3, &points)) return NULL;
  if (!py_read_numbers(rows, "directions", 2, -1, 3, &directions)) {
    PyMem_Free(points.at);
    return NULL;
  }
  tbWorld* world = py_world(self);
  tbStatus status = TB_OK;
  bool fits = points.shape[0] == directions.shape[0] && points.shape[0] < INT_MAX;
  if (world && fits)
    status = tb_world_add_field(&self->ctx, world, (int)points.shape[0], (const tbVec3*)points.at,
                                (const tbVec3*)directions.at, &field);
  PyMem_Free(points.at);
  PyMem_Free(directions.at);
  return number_of(self, world, fits, status, field, "a field has one direction for each of its points");
}

static PyObject* add_direction_map(World* self, PyObject* args)
{
  int width, height, map = 0;
  PyObject* rows;
  Numbers directions;
  if (!PyArg_ParseTuple(args, "iiO:add_direction_map", &width, &height, &rows)) return NULL;
  if (!py_read_numbers(rows, "directions", 2, -1, 2, &directions)) return NULL;
  tbWorld* world = py_world(self);
  tbStatus status = TB_OK;
  bool fits = (long long)width * height == (long long)directions.shape[0];
  if (world && fits)
    status = tb_world_add_direction_map(&self->ctx, world, width, height, directions.at, &map);
  PyMem_Free(directions.at);
  return number_of(self, world, fits, status, map, "a map has height times width directions");
}

static PyObject* add_chart(World* self, PyObject* args)
{
  PyObject *places, *rows;
  Numbers corners, coordinates;
  int chart = 0;
  if (!PyArg_ParseTuple(args, "OO:add_chart", &places, &rows)) return NULL;
  if (!py_read_numbers(places, "corners", 2, -1, 3, &corners)) return NULL;
  if (!py_read_numbers(rows, "coordinates", 2, -1, 2, &coordinates)) {
    PyMem_Free(corners.at);
    return NULL;
  }
  tbWorld* world = py_world(self);
  tbStatus status = TB_OK;
  bool fits =
      corners.shape[0] == coordinates.shape[0] && corners.shape[0] % 3 == 0 && corners.shape[0] < INT_MAX;
  if (world && fits)
    status = tb_world_add_chart(&self->ctx, world, (int)(corners.shape[0] / 3), (const tbVec3*)corners.at,
                                coordinates.at, &chart);
  PyMem_Free(corners.at);
  PyMem_Free(coordinates.at);
  return number_of(self, world, fits, status, chart,
                   "texture coordinates have three corners for each triangle, and (u, v) for each of these");
}

static PyObject* load_chart(World* self, PyObject* args)
{
  const char* path;
  tbVec3 scale;
  int chart = 0;
  if (!PyArg_ParseTuple(args, "sO&:load_chart", &path, py_to_vec3, &scale)) return NULL;
  tbWorld* world = py_world(self);
  tbStatus status = world ? tb_chart_load(&self->ctx, path, scale, world, &chart) : TB_OK;
  return number_of(self, world, true, status, chart, "");
}

// Keys of a motion, rows of t, position, orientation. None: none.
typedef struct {
  tbMotionKey* at;
  int count;
} Keys;

static bool read_keys(PyObject* object, Keys* out)
{
  *out = (Keys){0};
  if (object == Py_None) return true;
  Numbers rows;
  if (!py_read_numbers(object, "keys (t, x, y, z, qw, qx, qy, qz)", 2, -1, 8, &rows)) return false;
  out->count = rows.shape[0] < INT_MAX ? (int)rows.shape[0] : INT_MAX;
  out->at = PyMem_Calloc((size_t)out->count + 1, sizeof(tbMotionKey));
  for (int i = 0; out->at && i < out->count; i++) {
    const double* r = rows.at + (size_t)i * 8;
    out->at[i] = (tbMotionKey){r[0], {r[1], r[2], r[3]}, {r[4], r[5], r[6], r[7]}};
  }
  PyMem_Free(rows.at);
  if (!out->at) PyErr_NoMemory();
  return out->at != NULL;
}

// Shapes of a sequence; their geometry goes to the world's list first, so that it outlives whatever uses it.
static tbShape* read_shapes(World* self, PyObject* list, int* count)
{
  Py_ssize_t n = PySequence_Size(list);
  if (n < 0) return NULL;
  tbShape* shapes = PyMem_Calloc((size_t)n + 1, sizeof(tbShape));
  if (!shapes) return (tbShape*)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = PySequence_GetItem(list, i);
    bool good = item && PyObject_TypeCheck(item, py_native.shape);
    if (item && !good)
      PyErr_SetString(PyExc_TypeError, "shapes: expected tribo.Shape objects (tribo.box, …)");
    if (good) {
      Shape* shape = (Shape*)item;
      shapes[i] = shape->shape;
      if (shape->geometry) good = PyList_Append(self->kept, shape->geometry) == 0;
    }
    Py_XDECREF(item);
    if (good) continue;
    PyMem_Free(shapes);
    return NULL;
  }
  *count = (int)n;
  return shapes;
}

static bool read_motion(const char* name, tbBodyMotion* out)
{
  static const char* const names[] = {
      [TB_BODY_DYNAMIC] = "dynamic", [TB_BODY_FIXED] = "fixed", [TB_BODY_KINEMATIC] = "kinematic"};
  for (int i = 0; i < 3; i++)
    if (strcmp(name, names[i]) == 0) return *out = (tbBodyMotion)i, true;
  PyErr_Format(PyExc_ValueError, "motion: 'dynamic', 'fixed' or 'kinematic', not '%s'", name);
  return false;
}

static PyObject* add_body(World* self, PyObject* args)
{
  tbBodyDef def = tb_default_body_def();
  const char* motion;
  PyObject *shapes, *inertia, *friction, *restitution, *keys, *centre;
  tbVec3 middle;
  int bullet;
  if (!PyArg_ParseTuple(args, "zsOO&ddOO&O&O&O&OOOpO&O&O:add_body", &def.name, &motion, &shapes,
                        py_to_material, &def.material, &def.mass, &def.density, &inertia, py_to_vec3,
                        &def.position, py_to_quat, &def.orientation, py_to_vec3, &def.velocity, py_to_vec3,
                        &def.angular_velocity, &friction, &restitution, &keys, &bullet, py_to_bits,
                        &def.category, py_to_bits, &def.mask, &centre))
    return NULL;
  if (centre != Py_None && !py_to_vec3(centre, &middle)) return NULL;
  if (centre != Py_None) def.centre = &middle;
  tbWorld* world = py_world(self);
  tbFriction own;
  double bounce;
  if (!world || !read_motion(motion, &def.kind)) return NULL;
  if (inertia != Py_None && !py_read_fixed(inertia, "inertia (xx, yy, zz, xy, xz, yz)", 6, def.inertia))
    return NULL;
  if (friction != Py_None && !py_to_friction(friction, &own)) return NULL;
  if (friction != Py_None) def.friction = &own;
  if (restitution != Py_None) {
    bounce = PyFloat_AsDouble(restitution);
    if (bounce == -1 && PyErr_Occurred()) return NULL;
    def.restitution = &bounce;
  }
  def.bullet = bullet;
  Keys led;
  if (!read_keys(keys, &led)) return NULL;
  def.keys = led.at, def.key_count = led.count;
  tbShape* copies = read_shapes(self, shapes, &def.shape_count);
  def.shapes = copies;
  tbBodyId id = {-1, 0};
  world = copies ? py_world(self) : NULL; // sequences may run Python code of their own
  tbStatus status = world ? tb_world_add_body(&self->ctx, world, &def, &id) : TB_OK;
  PyMem_Free(copies), PyMem_Free(led.at);
  if (!world) return NULL;
  return status == TB_OK ? py_id(id.index, id.generation) : py_raise(&self->ctx);
}

// Pins: (nodes, body or None, velocity, angular velocity, keys or None) each.
static void free_pins(tbPinDef* pins, int count)
{
  for (int i = 0; pins && i < count; i++) PyMem_Free((void*)pins[i].nodes), PyMem_Free((void*)pins[i].keys);
  PyMem_Free(pins);
}

static bool read_pin(PyObject* tuple, tbPinDef* pin)
{
  PyObject *nodes, *keys;
  *pin = tb_default_pin_def();
  if (!PyArg_ParseTuple(tuple, "OO&O&O&O:pin", &nodes, py_to_body, &pin->body, py_to_vec3, &pin->velocity,
                        py_to_vec3, &pin->angular_velocity, &keys))
    return false;
  Keys led;
  int* list;
  Py_ssize_t count;
  if (!read_keys(keys, &led)) return false;
  pin->keys = led.at, pin->key_count = led.count;
  if (!py_read_ints(nodes, "nodes", 1, -1, -1, &list, &count)) return false;
  pin->nodes = list, pin->node_count = (int)count;
  return true;
}

static bool read_pins(PyObject* list, tbPinDef** out, int* count)
{
  Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
  if (n < 0) PyErr_SetString(PyExc_TypeError, "pins: expected a tuple");
  *out = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof(tbPinDef));
  *count = (int)n;
  if (n < 0 || !*out) return false;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!read_pin(PyTuple_GetItem(list, i), *out + i)) {
      free_pins(*out, *count);
      *out = NULL;
      return false;
    }
  return true;
}

// Springs: (node, node, stiffness, length) each.
static bool read_springs(PyObject* list, tbSpringDef** out, int* count)
{
  Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
  if (n < 0) PyErr_SetString(PyExc_TypeError, "springs: expected a tuple");
  *out = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof(tbSpringDef));
  *count = (int)n;
  bool good = n >= 0 && *out;
  for (Py_ssize_t i = 0; good && i < n; i++) {
    tbSpringDef* s = *out + i;
    good = PyArg_ParseTuple(PyTuple_GetItem(list, i), "iidd:spring", &s->nodes[0], &s->nodes[1],
                            &s->stiffness, &s->length);
  }
  if (!good) PyMem_Free(*out);
  return good;
}

static PyObject* add_deformable(World* self, tbDeformableDef* def, PyObject* friction, PyObject* pins,
                                PyObject* springs)
{
  tbFriction own;
  tbPinDef* list;
  tbSpringDef* spring;
  if (friction != Py_None && !py_to_friction(friction, &own)) return NULL;
  if (friction != Py_None) def->friction = &own;
  if (!read_pins(pins, &list, &def->pin_count)) return NULL;
  def->pins = list;
  if (!read_springs(springs, &spring, &def->spring_count)) {
    free_pins(list, def->pin_count);
    return NULL;
  }
  def->springs = spring;
  tbBodyId id = {-1, 0};
  tbWorld* world = py_world(self);
  tbStatus status = world ? tb_world_add_deformable(&self->ctx, world, def, &id) : TB_OK;
  free_pins(list, def->pin_count);
  PyMem_Free(spring);
  if (!world) return NULL;
  return status == TB_OK ? py_id(id.index, id.generation) : py_raise(&self->ctx);
}

static bool read_basis(const char* name, tbReducedBasis* out)
{
  for (int i = 0; i < TB_BASIS_COUNT; i++)
    if (strcmp(name, tb_basis_name((tbReducedBasis)i)) == 0) return *out = (tbReducedBasis)i, true;
  PyErr_Format(PyExc_ValueError, "basis: 'linear' or 'modal-derivatives', not '%s'", name);
  return false;
}

static PyObject* add_soft(World* self, PyObject* args)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.soft = tb_soft_def();
  const char *model, *basis;
  PyObject *solid, *friction, *pins, *springs;
  int self_contact;
  if (!PyArg_ParseTuple(args, "zO!sdddddO&OO&O&O&O&OOpiszO&O&:add_soft", &def.name, py_native.solid, &solid,
                        &model, &def.soft.young, &def.soft.poisson, &def.soft.density, &def.soft.mass_damping,
                        &def.soft.stiffness_damping, py_to_material, &def.material, &friction, py_to_vec3,
                        &def.position, py_to_quat, &def.orientation, py_to_vec3, &def.velocity, py_to_vec3,
                        &def.angular_velocity, &pins, &springs, &self_contact, &def.modes, &basis,
                        &def.basis_file, py_to_bits, &def.category, py_to_bits, &def.mask))
    return NULL;
  if (!read_basis(basis, &def.basis)) return NULL;
  if (!tb_elastic_from_name(model, &def.soft.model)) {
    PyErr_Format(PyExc_ValueError, "model: 'linear', 'corotated', 'stvk' or 'neo-hookean', not '%s'", model);
    return NULL;
  }
  def.solid = ((Solid*)solid)->mesh;
  def.self_contact = self_contact;
  return add_deformable(self, &def, friction, pins, springs);
}

static PyObject* add_cloth(World* self, PyObject* args)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.cloth = tb_cloth_def();
  PyObject *sheet, *friction, *pins, *springs;
  const char* bending;
  int self_contact, cells[2] = {0};
  double size[2] = {0};
  if (!PyArg_ParseTuple(args, "zOddiiddddsddddO&OO&O&O&O&OOpO&O&:add_cloth", &def.name, &sheet, &size[0],
                        &size[1], &cells[0], &cells[1], &def.cloth.area_density, &def.cloth.stretch,
                        &def.cloth.shear, &def.cloth.bend, &bending, &def.cloth.strain_limit,
                        &def.cloth.limit_stiffness, &def.cloth.thickness, &def.cloth.air_damping,
                        py_to_material, &def.material, &friction, py_to_vec3, &def.position, py_to_quat,
                        &def.orientation, py_to_vec3, &def.velocity, py_to_vec3, &def.angular_velocity, &pins,
                        &springs, &self_contact, py_to_bits, &def.category, py_to_bits, &def.mask))
    return NULL;
  if (!tb_bending_from_name(bending, &def.cloth.bending)) {
    PyErr_Format(PyExc_ValueError, "bending: 'quadratic' or 'dihedral', not '%s'", bending);
    return NULL;
  }
  def.self_contact = self_contact;
  if (PyObject_TypeCheck(sheet, py_native.shape) && ((Shape*)sheet)->shape.type == TB_SHAPE_MESH) {
    def.sheet = ((Shape*)sheet)->shape.mesh; // copied
    return add_deformable(self, &def, friction, pins, springs);
  }
  if (sheet != Py_None) {
    PyErr_SetString(PyExc_TypeError, "sheet: expected tribo.mesh(…), or a size and cells");
    return NULL;
  }
  tbMesh* grid = NULL;
  if (tb_cloth_grid(&self->ctx, size[0], size[1], cells[0], cells[1], &grid) != TB_OK)
    return py_raise(&self->ctx);
  def.sheet = grid;
  PyObject* result = add_deformable(self, &def, friction, pins, springs);
  tb_mesh_free(&self->ctx, grid);
  return result;
}

// Frames of an animated mesh: times, and a row of coordinates for each. To be freed with PyMem_Free.
typedef struct {
  Numbers times, rows;
  int vertices;
} Frames;

static bool read_frames(PyObject* times, PyObject* vertices, Frames* out)
{
  if (!py_read_numbers(times, "times", 1, -1, -1, &out->times)) return false;
  if (py_read_numbers(vertices, "vertices (frames, 3 times vertices)", 2, out->times.shape[0], -1,
                      &out->rows)) {
    out->vertices =
        out->rows.shape[1] % 3 == 0 && out->rows.shape[1] / 3 < INT_MAX ? (int)(out->rows.shape[1] / 3) : 0;
    if (out->vertices > 0 && out->times.shape[0] <= INT_MAX) return true;
    PyMem_Free(out->rows.at);
    PyErr_SetString(PyExc_ValueError, "vertices: expected (frames, vertices, 3) numbers");
  }
  PyMem_Free(out->times.at);
  return false;
}

static PyObject* add_animated(World* self, PyObject* args)
{
  tbAnimatedDef def = tb_default_animated_def();
  PyObject *triangles, *times, *vertices, *friction, *keys;
  tbFriction own;
  Keys led = {0};
  Frames frames;
  int* corners = NULL;
  Py_ssize_t count = 0;
  if (!PyArg_ParseTuple(args, "zOOOdO&OO&O&O&O&OO&O&:add_animated", &def.name, &triangles, &times, &vertices,
                        &def.thickness, py_to_material, &def.material, &friction, py_to_vec3, &def.position,
                        py_to_quat, &def.orientation, py_to_vec3, &def.velocity, py_to_vec3,
                        &def.angular_velocity, &keys, py_to_bits, &def.category, py_to_bits, &def.mask))
    return NULL;
  if (friction != Py_None && !py_to_friction(friction, &own)) return NULL;
  if (friction != Py_None) def.friction = &own;
  if (!read_frames(times, vertices, &frames)) return NULL;
  bool good = py_read_ints(triangles, "triangles", 2, -1, 3, &corners, &count) && read_keys(keys, &led);
  def.triangles = (const int(*)[3])corners, def.triangle_count = (int)count;
  def.times = frames.times.at, def.frame_count = (int)frames.times.shape[0];
  def.vertices = (const tbVec3*)frames.rows.at, def.vertex_count = frames.vertices;
  def.keys = led.at, def.key_count = led.count;
  tbBodyId id = {-1, 0};
  tbWorld* world = good ? py_world(self) : NULL; // sequences may run Python code of their own
  tbStatus status = world ? tb_world_add_animated(&self->ctx, world, &def, &id) : TB_OK;
  PyMem_Free(frames.times.at), PyMem_Free(frames.rows.at), PyMem_Free(corners), PyMem_Free(led.at);
  if (!world) return NULL;
  return status == TB_OK ? py_id(id.index, id.generation) : py_raise(&self->ctx);
}

static PyObject* set_frames(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject *times, *vertices;
  Frames f;
  if (!PyArg_ParseTuple(args, "O&OO:set_frames", py_to_body, &body, &times, &vertices) ||
      !read_frames(times, vertices, &f))
    return NULL;
  bool good = py_world_has_body(self, body);
  if (good && f.vertices != tb_body_node_count(self->scene.world, body)) {
    PyErr_SetString(PyExc_ValueError, "vertices: as many as the mesh has in every frame");
    good = false;
  }
  if (good && tb_body_set_frames(&self->ctx, self->scene.world, body, f.times.at, (const tbVec3*)f.rows.at,
                                 (int)f.times.shape[0]) != TB_OK)
    good = py_raise(&self->ctx);
  PyMem_Free(f.times.at), PyMem_Free(f.rows.at);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

// A pair of limits, each a number, ±inf or None; None for no limits.
static bool read_limits(PyObject* object, bool* limited, double* lower, double* upper)
{
  *limited = object != Py_None;
  if (!*limited) return true;
  double* to[2] = {lower, upper};
  if (!PySequence_Check(object) || PySequence_Size(object) != 2) {
    PyErr_SetString(PyExc_ValueError, "limits: expected (lower, upper)");
    return false;
  }
  for (int i = 0; i < 2; i++) {
    PyObject* item = PySequence_GetItem(object, i);
    if (!item) return false;
    *to[i] = item == Py_None ? (i ? INFINITY : -INFINITY) : PyFloat_AsDouble(item);
    Py_DECREF(item);
    if (*to[i] == -1 && PyErr_Occurred()) return false;
  }
  return true;
}

static bool read_type(const char* name, tbJointType* out)
{
  for (int i = 0; i < TB_JOINT_COUNT; i++)
    if (strcmp(name, tb_joint_type_name((tbJointType)i)) == 0) return *out = (tbJointType)i, true;
  PyErr_Format(PyExc_ValueError, "a joint is 'ball', 'hinge', 'slider', 'weld' or 'distance', not '%s'",
               name);
  return false;
}

static PyObject* add_joint(World* self, PyObject* args)
{
  const char* name;
  PyObject *anchor_b, *limits, *motor, *servo;
  tbVec3 second; // anchor
  tbJointDef def = tb_default_joint_def(TB_JOINT_BALL);
  int collide;
  if (!PyArg_ParseTuple(args, "sO&O&O&OO&OOOdddddpz:add_joint", &name, py_to_body, &def.a, py_to_body, &def.b,
                        py_to_vec3, &def.anchor, &anchor_b, py_to_vec3, &def.axis, &limits, &motor, &servo,
                        &def.effort, &def.friction, &def.armature, &def.compliance, &def.damping, &collide,
                        &def.name))
    return NULL;
  if (!read_type(name, &def.type) || !read_limits(limits, &def.limited, &def.lower, &def.upper)) return NULL;
  if (anchor_b != Py_None) {
    if (!py_to_vec3(anchor_b, &second)) return NULL;
    def.anchor_b = &second;
  }
  def.collide = collide;
  def.motor = motor != Py_None, def.servoed = servo != Py_None;
  if (def.motor && !PyArg_ParseTuple(motor, "dd;motor: (speed, force)", &def.motor_speed, &def.motor_force))
    return NULL;
  if (def.servoed &&
      !PyArg_ParseTuple(servo, "dddd;servo: (target, stiffness, damping, force)", &def.servo_target,
                        &def.servo.stiffness, &def.servo.damping, &def.servo.force))
    return NULL;
  tbWorld* world = py_world(self);
  tbJointId id;
  if (!world) return NULL;
  if (tb_world_add_joint(&self->ctx, world, &def, &id) != TB_OK) return py_raise(&self->ctx);
  return py_id(id.index, id.generation);
}

static PyObject* pin_nodes(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* tuple;
  tbPinDef pin;
  if (!PyArg_ParseTuple(args, "O&O!:pin", py_to_body, &body, &PyTuple_Type, &tuple)) return NULL;
  bool good = read_pin(tuple, &pin) && py_world_has_body(self, body);
  if (good && tb_body_pin(&self->ctx, self->scene.world, body, &pin) != TB_OK) good = py_raise(&self->ctx);
  PyMem_Free((void*)pin.nodes), PyMem_Free((void*)pin.keys);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject* set_motion(World* self, PyObject* args)
{
  tbBodyId body;
  PyObject* keys;
  Keys led;
  if (!PyArg_ParseTuple(args, "O&O:set_motion", py_to_body, &body, &keys) || !read_keys(keys, &led))
    return NULL;
  bool good = py_world_has_body(self, body);
  if (good && tb_body_set_motion(&self->ctx, self->scene.world, body, led.at, led.count) != TB_OK)
    good = py_raise(&self->ctx);
  PyMem_Free(led.at);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject* set_limits(World* self, PyObject* args)
{
  tbJointId joint;
  PyObject* limits;
  bool limited;
  double lower = -INFINITY, upper = INFINITY;
  if (!PyArg_ParseTuple(args, "O&O:set_limits", py_to_joint, &joint, &limits)) return NULL;
  if (!read_limits(limits, &limited, &lower, &upper) || !py_world_has_joint(self, joint)) return NULL;
  if (tb_joint_set_limits(&self->ctx, self->scene.world, joint, limited, lower, upper) != TB_OK)
    return py_raise(&self->ctx);
  Py_RETURN_NONE;
}

PyMethodDef py_world_add_methods[] = {
    {"_add_texture", (PyCFunction)add_texture, METH_VARARGS, NULL},
    {"_add_field", (PyCFunction)add_field, METH_VARARGS, NULL},
    {"_add_direction_map", (PyCFunction)add_direction_map, METH_VARARGS, NULL},
    {"_add_chart", (PyCFunction)add_chart, METH_VARARGS, NULL},
    {"_load_chart", (PyCFunction)load_chart, METH_VARARGS, NULL},
    {"_add_material", (PyCFunction)add_material, METH_VARARGS, NULL},
    {"_add_body", (PyCFunction)add_body, METH_VARARGS, NULL},
    {"_add_soft", (PyCFunction)add_soft, METH_VARARGS, NULL},
    {"_add_cloth", (PyCFunction)add_cloth, METH_VARARGS, NULL},
    {"_add_animated", (PyCFunction)add_animated, METH_VARARGS, NULL},
    {"_set_frames", (PyCFunction)set_frames, METH_VARARGS, NULL},
    {"_add_joint", (PyCFunction)add_joint, METH_VARARGS, NULL},
    {"_pin", (PyCFunction)pin_nodes, METH_VARARGS, NULL},
    {"_set_motion", (PyCFunction)set_motion, METH_VARARGS, NULL},
    {"_set_limits", (PyCFunction)set_limits, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
