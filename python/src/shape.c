// SPDX-License-Identifier: Apache-2.0
// Shapes of rigid bodies and solids of tetrahedra. Hulls, meshes and grids lie in capsules, which the shapes
// that use them and the worlds that hold such shapes keep alive.
#include "native.h"

#include "tribo/tools/status.h"

#include <limits.h>
#include <string.h>

static void free_hull(PyObject* capsule)
{
  tbContext ctx = tb_default_context();
  tb_hull_free(&ctx, PyCapsule_GetPointer(capsule, "hull"));
}

static void free_mesh(PyObject* capsule)
{
  tbContext ctx = tb_default_context();
  tb_mesh_free(&ctx, PyCapsule_GetPointer(capsule, "mesh"));
}

static void free_sdf(PyObject* capsule)
{
  tbContext ctx = tb_default_context();
  tb_sdf_free(&ctx, PyCapsule_GetPointer(capsule, "sdf"));
}

static PyObject* new_shape(tbShape shape, PyObject* geometry) // takes the geometry
{
  tbContext ctx = tb_default_context();
  if (tb_shape_check(&ctx, &shape) != TB_OK) {
    Py_XDECREF(geometry);
    return py_raise(&ctx);
  }
  Shape* self = PyObject_New(Shape, py_native.shape);
  if (!self) {
    Py_XDECREF(geometry);
    return NULL;
  }
  self->shape = shape, self->geometry = geometry;
  return (PyObject*)self;
}

static PyObject* make_sphere(PyObject* module, PyObject* args)
{
  double radius;
  if (!PyArg_ParseTuple(args, "d:sphere", &radius)) return NULL;
  return new_shape(tb_shape_sphere(radius), NULL);
}

static PyObject* make_box(PyObject* module, PyObject* args)
{
  tbVec3 size;
  if (!PyArg_ParseTuple(args, "O&:box", py_to_vec3, &size)) return NULL;
  return new_shape(tb_shape_box(size), NULL);
}

static PyObject* make_capsule(PyObject* module, PyObject* args)
{
  double radius, length;
  if (!PyArg_ParseTuple(args, "dd:capsule", &radius, &length)) return NULL;
  return new_shape(tb_shape_capsule(radius, length), NULL);
}

static PyObject* make_cylinder(PyObject* module, PyObject* args)
{
  double radius, length;
  if (!PyArg_ParseTuple(args, "dd:cylinder", &radius, &length)) return NULL;
  return new_shape(tb_shape_cylinder(radius, length), NULL);
}

static PyObject* make_plane(PyObject* module, PyObject* args)
{
  tbVec3 normal = {0, 0, 1};
  double offset = 0;
  if (!PyArg_ParseTuple(args, "|O&d:plane", py_to_vec3, &normal, &offset)) return NULL;
  return new_shape(tb_shape_plane(normal, offset), NULL);
}

static PyObject* finish_hull(tbContext* ctx, tbStatus status, tbHull* hull)
{
  if (status != TB_OK) return py_raise(ctx);
  PyObject* capsule = PyCapsule_New(hull, "hull", free_hull);
  if (!capsule) return NULL;
  return new_shape(tb_shape_convex(hull), capsule);
}

static PyObject* make_convex(PyObject* module, PyObject* args)
{
  PyObject* object;
  Numbers points;
  if (!PyArg_ParseTuple(args, "O:convex", &object)) return NULL;
  if (!py_read_numbers(object, "points", 2, -1, 3, &points)) return NULL;
  if (points.shape[0] > INT_MAX) points.shape[0] = INT_MAX;
  tbContext ctx = tb_default_context();
  tbHull* hull = NULL;
  tbStatus status = tb_hull_create(&ctx, (const tbVec3*)points.at, (int)points.shape[0], &hull);
  PyMem_Free(points.at);
  return finish_hull(&ctx, status, hull);
}

static PyObject* load_convex(PyObject* module, PyObject* args)
{
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  if (!PyArg_ParseTuple(args, "O&|O&:load_convex", PyUnicode_FSConverter, &path, py_to_vec3, &scale))
    return NULL;
  tbContext ctx = tb_default_context();
  tbHull* hull = NULL;
  tbStatus status = tb_hull_load(&ctx, PyBytes_AsString(path), scale, &hull);
  Py_DECREF(path);
  return finish_hull(&ctx, status, hull);
}

// Triangles, as they are or, with a resolution, as a grid of distances.
static PyObject* finish_mesh(tbContext* ctx, tbStatus status, tbMesh* mesh, int resolution)
{
  if (status != TB_OK) return py_raise(ctx);
  PyObject* capsule = PyCapsule_New(mesh, "mesh", free_mesh);
  if (!capsule) return NULL;
  if (resolution == 0) return new_shape(tb_shape_mesh(mesh), capsule);
  tbSdf* sdf = NULL;
  status = tb_sdf_create(ctx, mesh, resolution, &sdf); // copies the mesh
  Py_DECREF(capsule);
  if (status != TB_OK) return py_raise(ctx);
  capsule = PyCapsule_New(sdf, "sdf", free_sdf);
  if (!capsule) return NULL;
  return new_shape(tb_shape_sdf(sdf), capsule);
}

static bool good_resolution(int resolution)
{
  if (resolution >= 0) return true;
  PyErr_SetString(PyExc_ValueError, "resolution: at least 1");
  return false;
}

static PyObject* make_mesh(PyObject* module, PyObject* args)
{
  PyObject *first, *second;
  int resolution = 0;
  if (!PyArg_ParseTuple(args, "OO|i:mesh", &first, &second, &resolution) || !good_resolution(resolution))
    return NULL;
  Numbers vertices;
  int* triangles;
  Py_ssize_t count;
  if (!py_read_numbers(first, "vertices", 2, -1, 3, &vertices)) return NULL;
  if (!py_read_ints(second, "triangles", 2, -1, 3, &triangles, &count)) {
    PyMem_Free(vertices.at);
    return NULL;
  }
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  tbStatus status = vertices.shape[0] <= INT_MAX && count <= INT_MAX
                        ? tb_mesh_create(&ctx, (const tbVec3*)vertices.at, (int)vertices.shape[0], triangles,
                                         (int)count, &mesh)
                        : tb_fail(&ctx, TB_ERROR_ARGUMENT, "a mesh of so many triangles");
  PyMem_Free(vertices.at), PyMem_Free(triangles);
  return finish_mesh(&ctx, status, mesh, resolution);
}

static PyObject* load_mesh(PyObject* module, PyObject* args)
{
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  int resolution = 0;
  if (!PyArg_ParseTuple(args, "O&|O&i:load_mesh", PyUnicode_FSConverter, &path, py_to_vec3, &scale,
                        &resolution))
    return NULL;
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  tbStatus status = TB_OK;
  bool good = good_resolution(resolution);
  if (good) status = tb_mesh_load(&ctx, PyBytes_AsString(path), scale, &mesh);
  Py_DECREF(path);
  return good ? finish_mesh(&ctx, status, mesh, resolution) : NULL;
}

// Shape objects.

static PyObject* shape_at(Shape* self, PyObject* args)
{
  tbShape shape = self->shape;
  tbTransform pose = {{1, 0, 0, 0}, {0, 0, 0}};
  if (!PyArg_ParseTuple(args, "O&|O&:at", py_to_vec3, &pose.x, py_to_quat, &pose.q)) return NULL;
  if (pose.q.w == 0 && pose.q.x == 0 && pose.q.y == 0 && pose.q.z == 0)
    return py_raise_as(TB_ERROR_ARGUMENT, "an orientation of length 0");
  pose.q = tb_quat_normalize(pose.q);
  shape.pose = tb_transform_mul(pose, shape.pose);
  Py_XINCREF(self->geometry);
  return new_shape(shape, self->geometry);
}

static PyObject* shape_mass(Shape* self, PyObject* args)
{
  double density = 1000;
  if (!PyArg_ParseTuple(args, "|d:mass", &density)) return NULL;
  tbMass mass = tb_shape_mass(&self->shape, density);
  PyObject *centre = py_vec3(mass.centre), *inertia;
  double* at = py_new_doubles(&inertia, 2, 3, 3);
  for (int i = 0; at && i < 9; i++) at[i] = mass.inertia.m[i / 3][i % 3];
  inertia = py_finish(inertia);
  if (!centre || !inertia) {
    Py_XDECREF(centre), Py_XDECREF(inertia);
    return NULL;
  }
  return Py_BuildValue("dNN", mass.mass, centre, inertia);
}

static PyObject* shape_repr(Shape* self)
{
  return PyUnicode_FromFormat("<tribo.Shape: %s>", tb_shape_type_name(self->shape.type));
}

static PyObject* shape_type(Shape* self, void* closure)
{
  return PyUnicode_FromString(tb_shape_type_name(self->shape.type));
}

static void shape_dealloc(PyObject* self)
{
  Py_XDECREF(((Shape*)self)->geometry);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyMethodDef shape_methods[] = {
    {"at", (PyCFunction)shape_at, METH_VARARGS,
     "at(position, orientation=(1, 0, 0, 0))\n\nThe same shape, moved to a pose in its body's frame."},
    {"mass", (PyCFunction)shape_mass, METH_VARARGS,
     "mass(density=1000)\n\nMass in kg, centre of mass, and inertia about it in kg·m², in the body's frame."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef shape_members[] = {
    {"type", (getter)shape_type, NULL, "What it is: 'sphere', 'box', …", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

// Solids.

static PyObject* finish_solid(tbContext* ctx, tbStatus status, tbTetMesh* mesh)
{
  if (status != TB_OK) return py_raise(ctx);
  Solid* self = PyObject_New(Solid, py_native.solid);
  if (!self) tb_tet_mesh_free(ctx, mesh);
  else self->mesh = mesh;
  return (PyObject*)self;
}

static PyObject* solid_box(PyObject* module, PyObject* args)
{
  tbVec3 size;
  int cells[3], tets = 5;
  if (!PyArg_ParseTuple(args, "O&(iii)|i:solid_box", py_to_vec3, &size, &cells[0], &cells[1], &cells[2],
                        &tets))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_box(&ctx, size, cells, tets, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_sphere(PyObject* module, PyObject* args)
{
  double radius;
  int cells;
  if (!PyArg_ParseTuple(args, "di:solid_sphere", &radius, &cells)) return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_sphere(&ctx, radius, cells, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_load(PyObject* module, PyObject* args)
{
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  if (!PyArg_ParseTuple(args, "O&|O&:solid_load", PyUnicode_FSConverter, &path, py_to_vec3, &scale))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_mesh_load(&ctx, PyBytes_AsString(path), scale, &mesh);
  Py_DECREF(path);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_of(PyObject* module, PyObject* args)
{
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO:solid", &first, &second)) return NULL;
  Numbers nodes;
  int* tets;
  Py_ssize_t count;
  if (!py_read_numbers(first, "nodes", 2, -1, 3, &nodes)) return NULL;
  if (!py_read_ints(second, "tetrahedra", 2, -1, 4, &tets, &count)) {
    PyMem_Free(nodes.at);
    return NULL;
  }
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = nodes.shape[0] <= INT_MAX && count <= INT_MAX
                        ? tb_tet_mesh_create(&ctx, (const tbVec3*)nodes.at, (int)nodes.shape[0],
                                             (const int(*)[4])tets, (int)count, &mesh)
                        : tb_fail(&ctx, TB_ERROR_ARGUMENT, "a solid of so many tetrahedra");
  PyMem_Free(nodes.at), PyMem_Free(tets);
  return finish_solid(&ctx, status, mesh);
}

static void solid_dealloc(PyObject* self)
{
  tbContext ctx = tb_default_context();
  tb_tet_mesh_free(&ctx, ((Solid*)self)->mesh);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* solid_nodes(Solid* self, void* closure)
{
  PyObject* array;
  int count = tb_tet_mesh_node_count(self->mesh);
  double* at = py_new_doubles(&array, 2, count, 3);
  const tbVec3* from = tb_tet_mesh_nodes(self->mesh);
  for (int i = 0; at && i < count; i++)
    at[3 * i] = from[i].x, at[3 * i + 1] = from[i].y, at[3 * i + 2] = from[i].z;
  return py_finish(array);
}

static PyGetSetDef solid_members[] = {
    {"nodes", (getter)solid_nodes, NULL, "Positions, nodes × 3 (a copy).", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef functions[] = {
    {"sphere", make_sphere, METH_VARARGS, "sphere(radius)\n\nA ball."},
    {"box", make_box, METH_VARARGS, "box(size)\n\nA box of full edge lengths (x, y, z)."},
    {"capsule", make_capsule, METH_VARARGS,
     "capsule(radius, length)\n\nA capsule along z; length is between the centres of its caps."},
    {"cylinder", make_cylinder, METH_VARARGS, "cylinder(radius, length)\n\nA cylinder along z."},
    {"plane", make_plane, METH_VARARGS,
     "plane(normal=(0, 0, 1), offset=0)\n\nThe half-space below a plane; for fixed and kinematic bodies."},
    {"convex", make_convex, METH_VARARGS, "convex(points)\n\nThe convex hull of points, n × 3."},
    {"load_convex", load_convex, METH_VARARGS,
     "load_convex(path, scale=(1, 1, 1))\n\nThe convex hull of a mesh file."},
    {"mesh", make_mesh, METH_VARARGS,
     "mesh(vertices, triangles, resolution=0)\n\nTriangles (n × 3 indices) over vertices (n × 3), "
     "counter-clockwise seen\n"
     "from outside. With a resolution: a grid of signed distances of about so many cells along its longest "
     "side."},
    {"load_mesh", load_mesh, METH_VARARGS,
     "load_mesh(path, scale=(1, 1, 1), resolution=0)\n\nThe same from an OBJ, STL or PLY file."},
    {"solid", solid_of, METH_VARARGS,
     "solid(nodes, tetrahedra)\n\nA solid cut into tetrahedra (n × 4 indices)."},
    {"solid_box", solid_box, METH_VARARGS,
     "solid_box(size, cells, tets_per_cell=5)\n\nA box cut into tetrahedra."},
    {"solid_sphere", solid_sphere, METH_VARARGS,
     "solid_sphere(radius, cells)\n\nA ball cut into tetrahedra."},
    {"solid_load", solid_load, METH_VARARGS,
     "solid_load(path, scale=(1, 1, 1))\n\nTetrahedra of a Gmsh or VTK file."},
    {NULL, NULL, 0, NULL}};

static PyTypeObject* make_type(PyObject* module, const char* name, int size, PyType_Slot* slots)
{
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, type) < 0) Py_CLEAR(type);
  return (PyTypeObject*)type;
}

bool py_shape_init(PyObject* module)
{
  PyType_Slot shape_slots[] = {{Py_tp_dealloc, shape_dealloc},
                               {Py_tp_repr, shape_repr},
                               {Py_tp_methods, shape_methods},
                               {Py_tp_getset, shape_members},
                               {Py_tp_doc, (void*)"What a rigid body is made of: tribo.box, tribo.sphere, …"},
                               {0, NULL}};
  PyType_Slot solid_slots[] = {{Py_tp_dealloc, solid_dealloc},
                               {Py_tp_getset, solid_members},
                               {Py_tp_doc, (void*)"A solid cut into tetrahedra: tribo.solid_box, …"},
                               {0, NULL}};
  py_native.shape = make_type(module, "tribo.Shape", sizeof(Shape), shape_slots);
  py_native.solid = make_type(module, "tribo.Solid", sizeof(Solid), solid_slots);
  return py_native.shape && py_native.solid && PyModule_AddFunctions(module, functions) == 0;
}
