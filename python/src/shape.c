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

static PyObject* make_sphere(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"radius", NULL};
  double radius;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "d:sphere", names, &radius)) return NULL;
  return new_shape(tb_shape_sphere(radius), NULL);
}

static PyObject* make_box(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"size", NULL};
  tbVec3 size;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&:box", names, py_to_vec3, &size)) return NULL;
  return new_shape(tb_shape_box(size), NULL);
}

static PyObject* make_capsule(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"radius", "length", NULL};
  double radius, length;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "dd:capsule", names, &radius, &length)) return NULL;
  return new_shape(tb_shape_capsule(radius, length), NULL);
}

static PyObject* make_cylinder(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"radius", "length", NULL};
  double radius, length;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "dd:cylinder", names, &radius, &length)) return NULL;
  return new_shape(tb_shape_cylinder(radius, length), NULL);
}

static PyObject* make_plane(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"normal", "offset", NULL};
  tbVec3 normal = {0, 0, 1};
  double offset = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&d:plane", names, py_to_vec3, &normal, &offset))
    return NULL;
  return new_shape(tb_shape_plane(normal, offset), NULL);
}

static PyObject* finish_hull(tbContext* ctx, tbStatus status, tbHull* hull)
{
  if (status != TB_OK) return py_raise(ctx);
  PyObject* capsule = PyCapsule_New(hull, "hull", free_hull);
  if (!capsule) return NULL;
  return new_shape(tb_shape_convex(hull), capsule);
}

static PyObject* make_convex(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"points", NULL};
  PyObject* object;
  Numbers points;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:convex", names, &object)) return NULL;
  if (!py_read_numbers(object, "points", 2, -1, 3, &points)) return NULL;
  if (points.shape[0] > INT_MAX) points.shape[0] = INT_MAX;
  tbContext ctx = tb_default_context();
  tbHull* hull = NULL;
  tbStatus status = tb_hull_create(&ctx, (const tbVec3*)points.at, (int)points.shape[0], &hull);
  PyMem_Free(points.at);
  return finish_hull(&ctx, status, hull);
}

static PyObject* load_convex(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"path", "scale", NULL};
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O&:load_convex", names, PyUnicode_FSConverter, &path,
                                   py_to_vec3, &scale))
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

static PyObject* make_mesh(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"vertices", "triangles", "resolution", NULL};
  PyObject *first, *second;
  int resolution = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|i:mesh", names, &first, &second, &resolution) ||
      !good_resolution(resolution))
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

static PyObject* load_mesh(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"path", "scale", "resolution", NULL};
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  int resolution = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O&i:load_mesh", names, PyUnicode_FSConverter, &path,
                                   py_to_vec3, &scale, &resolution))
    return NULL;
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  tbStatus status = TB_OK;
  bool good = good_resolution(resolution);
  if (good) status = tb_mesh_load(&ctx, PyBytes_AsString(path), scale, &mesh);
  Py_DECREF(path);
  return good ? finish_mesh(&ctx, status, mesh, resolution) : NULL;
}

static PyObject* make_tube(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"top", "bottom", "length", "around", "along", NULL};
  double top, bottom, length;
  int around, along;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "dddii:tube", names, &top, &bottom, &length, &around,
                                   &along))
    return NULL;
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  tbStatus status = tb_cloth_tube(&ctx, top, bottom, length, around, along, &mesh);
  return finish_mesh(&ctx, status, mesh, 0);
}

static PyObject* shape_save(Shape* self, PyObject* args)
{
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&:save_obj", PyUnicode_FSConverter, &path)) return NULL;
  tbContext ctx = tb_default_context();
  const tbMesh* mesh = self->shape.type == TB_SHAPE_MESH  ? self->shape.mesh
                       : self->shape.type == TB_SHAPE_SDF ? tb_sdf_mesh(self->shape.sdf)
                                                          : NULL;
  tbStatus status = mesh ? tb_mesh_save_obj(&ctx, PyBytes_AsString(path), mesh)
                         : tb_fail(&ctx, TB_ERROR_ARGUMENT, "a %s has no triangles to save",
                                   tb_shape_type_name(self->shape.type));
  Py_DECREF(path);
  if (status != TB_OK) return py_raise(&ctx);
  Py_RETURN_NONE;
}

// Points of a PC2 file: an array of samples × 3 points, which the package gives its shape.
static PyObject* load_points(PyObject* module, PyObject* args)
{
  PyObject *path, *array;
  tbVec3 scale;
  if (!PyArg_ParseTuple(args, "O&O&:load_point_cache", PyUnicode_FSConverter, &path, py_to_vec3, &scale))
    return NULL;
  tbContext ctx = tb_default_context();
  tbPointCache cache = {0};
  tbStatus status = tb_point_cache_load(&ctx, PyBytes_AsString(path), scale, &cache);
  Py_DECREF(path);
  if (status != TB_OK) return py_raise(&ctx);
  size_t count = (size_t)cache.sample_count * (size_t)cache.point_count;
  double* to = py_new_doubles(&array, 2, cache.sample_count, (Py_ssize_t)3 * cache.point_count);
  for (size_t i = 0; to && i < count; i++) tb_store3(to + 3 * i, cache.points[i]);
  tb_point_cache_free(&ctx, &cache);
  return py_finish(array);
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
    {"save_obj", (PyCFunction)shape_save, METH_VARARGS,
     "save_obj(path)\n\nThe triangles of a mesh, in its own frame, as an OBJ file; reads back to the same "
     "bits."},
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

static PyObject* solid_box(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"size", "cells", "tets_per_cell", NULL};
  tbVec3 size;
  int cells[3], tets = 5;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&(iii)|i:solid_box", names, py_to_vec3, &size, &cells[0],
                                   &cells[1], &cells[2], &tets))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_box(&ctx, size, cells, tets, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_sphere(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"radius", "cells", NULL};
  double radius;
  int cells;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "di:solid_sphere", names, &radius, &cells)) return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_sphere(&ctx, radius, cells, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_cylinder(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"radius", "length", "across", "along", NULL};
  double radius, length;
  int across, along;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ddii:solid_cylinder", names, &radius, &length, &across,
                                   &along))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_cylinder(&ctx, radius, length, across, along, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_torus(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"ring", "tube", "across", "around", NULL};
  double ring, tube;
  int across, around;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ddii:solid_torus", names, &ring, &tube, &across, &around))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_torus(&ctx, ring, tube, across, around, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_ring(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"inner", "outer", "height", "cells", NULL};
  double inner, outer, height;
  int cells[3];
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ddd(iii):solid_ring", names, &inner, &outer, &height,
                                   &cells[0], &cells[1], &cells[2]))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_ring(&ctx, inner, outer, height, cells, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_load(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"path", "scale", NULL};
  PyObject* path;
  tbVec3 scale = {1, 1, 1};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O&:solid_load", names, PyUnicode_FSConverter, &path,
                                   py_to_vec3, &scale))
    return NULL;
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_mesh_load(&ctx, PyBytes_AsString(path), scale, &mesh);
  Py_DECREF(path);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_of(PyObject* module, PyObject* args, PyObject* keywords)
{
  static char* names[] = {"nodes", "tetrahedra", NULL};
  PyObject *first, *second;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:solid", names, &first, &second)) return NULL;
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

static PyObject* solid_triangles(Solid* self, void* closure)
{
  PyObject* array;
  tbTriangleView surface = tb_tet_mesh_triangles(self->mesh);
  int* at = py_new_ints(&array, 2, surface.ntriangle, 3);
  for (int i = 0; at && i < 3 * surface.ntriangle; i++) at[i] = surface.triangle[i / 3][i % 3];
  return py_finish(array);
}

static PyObject* solid_count(Solid* self, void* closure)
{
  return PyLong_FromLong(tb_tet_mesh_tet_count(self->mesh));
}

static PyObject* solid_refine(Solid* self, PyObject* unused)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbStatus status = tb_tet_mesh_refine(&ctx, self->mesh, &mesh);
  return finish_solid(&ctx, status, mesh);
}

static PyObject* solid_rotate(Solid* self, PyObject* args)
{
  tbQuat q;
  if (!PyArg_ParseTuple(args, "O&:rotate", py_to_quat, &q)) return NULL;
  if (q.w == 0 && q.x == 0 && q.y == 0 && q.z == 0)
    return py_raise_as(TB_ERROR_ARGUMENT, "an orientation of length 0");
  tb_tet_mesh_rotate(self->mesh, tb_quat_normalize(q));
  Py_RETURN_NONE;
}

static PyMethodDef solid_methods[] = {
    {"rotate", (PyCFunction)solid_rotate, METH_VARARGS,
     "rotate(orientation)\n\nTurns its nodes about the origin; bodies made of it before keep theirs."},
    {"refine", (PyCFunction)solid_refine, METH_NOARGS,
     "refine()\n\nThe same solid with every tetrahedron cut into eight; nodes are numbered anew."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef solid_members[] = {
    {"nodes", (getter)solid_nodes, NULL, "Positions, nodes × 3 (a copy).", NULL},
    {"triangles", (getter)solid_triangles, NULL, "Its surface over its nodes, × 3 indices (a copy).", NULL},
    {"tetrahedra", (getter)solid_count, NULL, "How many tetrahedra.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef functions[] = {
    {"load_points", load_points, METH_VARARGS, NULL},
    {"sphere", (PyCFunction)(void (*)(void))make_sphere, METH_VARARGS | METH_KEYWORDS,
     "sphere($module, radius)\n--\n\nA ball."},
    {"box", (PyCFunction)(void (*)(void))make_box, METH_VARARGS | METH_KEYWORDS,
     "box($module, size)\n--\n\nA box of full edge lengths (x, y, z)."},
    {"capsule", (PyCFunction)(void (*)(void))make_capsule, METH_VARARGS | METH_KEYWORDS,
     "capsule($module, radius, length)\n--\n\nA capsule along z; length is between the centres of its caps."},
    {"cylinder", (PyCFunction)(void (*)(void))make_cylinder, METH_VARARGS | METH_KEYWORDS,
     "cylinder($module, radius, length)\n--\n\nA cylinder along z."},
    {"plane", (PyCFunction)(void (*)(void))make_plane, METH_VARARGS | METH_KEYWORDS,
     "plane($module, normal=(0, 0, 1), offset=0)\n--\n\nThe half-space below a plane; for fixed and "
     "kinematic bodies."},
    {"convex", (PyCFunction)(void (*)(void))make_convex, METH_VARARGS | METH_KEYWORDS,
     "convex($module, points)\n--\n\nThe convex hull of points, n × 3."},
    {"load_convex", (PyCFunction)(void (*)(void))load_convex, METH_VARARGS | METH_KEYWORDS,
     "load_convex($module, path, scale=(1, 1, 1))\n--\n\nThe convex hull of a mesh file."},
    {"mesh", (PyCFunction)(void (*)(void))make_mesh, METH_VARARGS | METH_KEYWORDS,
     "mesh($module, vertices, triangles, resolution=0)\n--\n\nTriangles (n × 3 indices) over vertices (n × "
     "3), counter-clockwise seen\nfrom outside. With a resolution: a grid of signed distances of about so "
     "many cells along its longest side."},
    {"load_mesh", (PyCFunction)(void (*)(void))load_mesh, METH_VARARGS | METH_KEYWORDS,
     "load_mesh($module, path, scale=(1, 1, 1), resolution=0)\n--\n\nThe same from an OBJ, STL or PLY file."},
    {"tube", (PyCFunction)(void (*)(void))make_tube, METH_VARARGS | METH_KEYWORDS,
     "tube($module, top, bottom, length, around, along)\n--\n\nAn open tube of triangles about z for "
     "World.add_cloth: two radii, and cells\naround (3 or more) and along."},
    {"solid", (PyCFunction)(void (*)(void))solid_of, METH_VARARGS | METH_KEYWORDS,
     "solid($module, nodes, tetrahedra)\n--\n\nA solid cut into tetrahedra (n × 4 indices)."},
    {"solid_box", (PyCFunction)(void (*)(void))solid_box, METH_VARARGS | METH_KEYWORDS,
     "solid_box($module, size, cells, tets_per_cell=5)\n--\n\nA box cut into tetrahedra."},
    {"solid_sphere", (PyCFunction)(void (*)(void))solid_sphere, METH_VARARGS | METH_KEYWORDS,
     "solid_sphere($module, radius, cells)\n--\n\nA ball cut into tetrahedra."},
    {"solid_cylinder", (PyCFunction)(void (*)(void))solid_cylinder, METH_VARARGS | METH_KEYWORDS,
     "solid_cylinder($module, radius, length, across, along)\n--\n\nA cylinder along z cut into tetrahedra, "
     "with so many cells across and along."},
    {"solid_torus", (PyCFunction)(void (*)(void))solid_torus, METH_VARARGS | METH_KEYWORDS,
     "solid_torus($module, ring, tube, across, around)\n--\n\nA torus of two radii about z, with so many "
     "cells across the tube and around."},
    {"solid_ring", (PyCFunction)(void (*)(void))solid_ring, METH_VARARGS | METH_KEYWORDS,
     "solid_ring($module, inner, outer, height, cells)\n--\n\nA ring about z, cut into cells: radial, "
     "around, along z."},
    {"solid_load", (PyCFunction)(void (*)(void))solid_load, METH_VARARGS | METH_KEYWORDS,
     "solid_load($module, path, scale=(1, 1, 1))\n--\n\nTetrahedra of a Gmsh or VTK file."},
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
                               {Py_tp_methods, solid_methods},
                               {Py_tp_getset, solid_members},
                               {Py_tp_doc, (void*)"A solid cut into tetrahedra: tribo.solid_box, …"},
                               {0, NULL}};
  py_native.shape = make_type(module, "tribo.Shape", sizeof(Shape), shape_slots);
  py_native.solid = make_type(module, "tribo.Solid", sizeof(Solid), solid_slots);
  return py_native.shape && py_native.solid && PyModule_AddFunctions(module, functions) == 0;
}
