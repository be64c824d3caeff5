// SPDX-License-Identifier: Apache-2.0
// Geoms of MJCF: what bodies touch with, and where their mass comes from when it is not given.
#include "io/import/mjcf.h"

#include "geometry/hull.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char* kind;
  tbRobotShape shape;
  bool ellipsoid;
  double density, mass; // mass negative: from the density
  tbRobotFriction friction;
  uint32_t type, affinity; // contype and conaffinity
  bool touches, weighed;
  tbMjAt mesh; // asset
  tbMjMeshRule rule;
} Geom;

static tbStatus find_mesh(tbMj* m, tbXml* at, const char* name, Geom* g)
{
  for (tbXml* asset = tb_xml_child(m->root, "asset"); asset; asset = tb_xml_next(asset, "asset"))
    for (tbXml* mesh = tb_xml_child(asset, "mesh"); mesh; mesh = tb_xml_next(mesh, "mesh")) {
      const char *own = tb_xml_get(mesh, "name"), *file = tb_xml_get(mesh, "file");
      const char* slash = file ? strrchr(file, '/') : NULL;
      const char* stem = slash ? slash + 1 : file;
      const char* dot = stem ? strrchr(stem, '.') : NULL;
      size_t length = stem ? (dot ? (size_t)(dot - stem) : strlen(stem)) : 0;
      bool same =
          own ? strcmp(own, name) == 0 : stem && strlen(name) == length && strncmp(stem, name, length) == 0;
      if (same) return tb_mj_at(m, mesh, NULL, &g->mesh);
    }
  return tb_xml_fail(m->r->ctx, at, "there is no mesh \"%.60s\"", name);
}

// The file of a mesh: beside the file that names it, or beside the main one.
static tbStatus find_file(tbMj* m, tbXml* at, const char* file, const char** out)
{
  const char* homes[2] = {at->file, m->root->file};
  const char* slash = strrchr(file, '/');
  if (m->strip_path && slash) file = slash + 1;
  *out = NULL;
  for (int i = 0; i < 2 && !*out; i++) {
    slash = strrchr(homes[i], '/');
    const char* base = tb_robot_text(m->r, "%.*s%s%s", slash ? (int)(slash - homes[i]) : 1,
                                     slash ? homes[i] : ".", *m->mesh_folder ? "/" : "", m->mesh_folder);
    if (!base) return TB_ERROR_MEMORY;
    *out = tb_robot_find(m->r, m->mesh_folder[0] == '/' ? m->mesh_folder : base, file);
  }
  return TB_OK;
}

// Corners that stand in the file itself.
static tbStatus read_vertices(tbMj* m, tbXml* at, const char* text, const double scale[3],
                              tbRobotShape* shape)
{
  int most = (int)strlen(text) / 2 + 1, count;
  double* x = TB_TAKE(m->r->arena, double, (size_t)most);
  tbVec3* point = TB_TAKE(m->r->arena, tbVec3, (size_t)most / 3 + 1);
  if (!x || !point) return TB_ERROR_MEMORY;
  TB_TRY(tb_xml_numbers(m->r->ctx, at, "vertex", text, 12, most, x, &count));
  if (count % 3) return tb_xml_fail(m->r->ctx, at, "vertex of <mesh>: %d numbers are not triples", count);
  for (int i = 0; i < count / 3; i++)
    point[i] = tb_vec3(scale[0] * x[3 * i], scale[1] * x[3 * i + 1], scale[2] * x[3 * i + 2]);
  return tb_robot_hull(m->r, at, point, count / 3, shape);
}

static tbStatus read_rule(tbMj* m, tbMjAt at, tbMjMeshRule* out)
{
  static const char* const names[] = {"legacy", "exact", "convex", "shell"};
  const char* text = tb_mj_get(at, "inertia");
  *out = m->exact_meshes ? TB_MJ_MESH_EXACT : TB_MJ_MESH_LEGACY;
  for (int i = 0; i < 4 && text; i++)
    if (strcmp(text, names[i]) == 0) return *out = (tbMjMeshRule)i, TB_OK;
  if (text) return tb_xml_fail(m->r->ctx, at.xml, "inertia of <mesh>: legacy, exact, convex or shell");
  return TB_OK;
}

// A mesh is moved to its reference, turned, and then scaled: S Rᵀ (x − p) is Rᵀ S' (x − p) with S' = R S Rᵀ,
// which is a scale, too, where the turn keeps the axes or all factors are one. False: it is not.
static bool turn_scale(tbQuat turn, double scale[3])
{
  tbMat3 R = tb_quat_mat3(turn),
         S = tb_mat3_mul(R, tb_mat3_mult(tb_mat3_diag(scale[0], scale[1], scale[2]), R));
  double largest = fmax(fabs(scale[0]), fmax(fabs(scale[1]), fabs(scale[2])));
  for (int i = 0; i < 9; i++)
    if (i % 4 && fabs(S.m[i / 3][i % 3]) > 1e-9 * largest) return false;
  for (int i = 0; i < 3; i++) scale[i] = S.m[i][i];
  return true;
}

// A mesh of a geom: its file or corners, and its scale; *good false after a note.
static tbStatus read_mesh(tbMj* m, tbMjAt at, const char* name, Geom* g, bool* good)
{
  double scale[3] = {1, 1, 1}, place[3] = {0}, turn[4] = {1};
  TB_TRY(find_mesh(m, at.xml, name, g));
  TB_TRY(tb_mj_numbers(m, g->mesh, "scale", 3, 3, scale, NULL));
  TB_TRY(tb_mj_numbers(m, g->mesh, "refpos", 3, 3, place, NULL));
  TB_TRY(tb_mj_numbers(m, g->mesh, "refquat", 4, 4, turn, NULL));
  const char *file = tb_mj_get(g->mesh, "file"), *vertex = tb_mj_get(g->mesh, "vertex");
  tbQuat turned;
  if (!(fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) + fabs(turn[3]) > 0))
    return tb_xml_fail(m->r->ctx, g->mesh.xml, "refquat of <mesh>: a quaternion of zeros");
  turned = tb_quat_normalize(tb_quat(turn[0], turn[1], turn[2], turn[3]));
  *good = scale[0] == scale[1] && scale[1] == scale[2] ? true : turn_scale(turned, scale);
  if (!*good)
    return tb_robot_note(m->r, g->mesh.xml,
                         "a scale that differs along axes which refquat turns by no right angle is not "
                         "supported: the shapes of the mesh are left out");
  tbTransform reference =
      tb_transform(turned, tb_vec3(place[0] * scale[0], place[1] * scale[1], place[2] * scale[2]));
  g->shape.type = TB_SHAPE_CONVEX, g->shape.scale = tb_load3(scale);
  g->shape.pose = tb_transform_mul(g->shape.pose, tb_transform_inverse(reference));
  TB_TRY(read_rule(m, g->mesh, &g->rule));
  if (vertex) return read_vertices(m, g->mesh.xml, vertex, scale, &g->shape);
  *good = false;
  if (!file)
    return tb_robot_note(m->r, g->mesh.xml,
                         "a mesh without a file and vertices is not supported: its shapes are left out");
  TB_TRY(find_file(m, g->mesh.xml, file, &g->shape.file));
  if (!g->shape.file)
    return tb_robot_note(m->r, g->mesh.xml, "there is no file %.200s: the shape is left out", file);
  return tb_robot_check_mesh(m->r, g->mesh.xml, &g->shape, good);
}

// From one point to another along z, in place of a pose and a half length.
static tbStatus read_ends(tbMj* m, tbMjAt at, Geom* g, double* half, bool* given)
{
  double v[6];
  int count;
  TB_TRY(tb_mj_numbers(m, at, "fromto", 6, 6, v, &count));
  *given = count > 0;
  if (!count) return TB_OK;
  tbVec3 from = tb_load3(v), to = tb_load3(v + 3),
         z = tb_sub3(from, to); // as MuJoCo has it: z from the second end
  double length = tb_norm3(z);
  if (!(length > 0)) return tb_xml_fail(m->r->ctx, at.xml, "fromto: the two ends are the same");
  z = tb_scale3(1 / length, z);
  g->shape.pose.x = tb_scale3(0.5, tb_add3(from, to));
  g->shape.pose.q =
      z.z < -1 + 1e-14 ? tb_quat(0, 1, 0, 0) : tb_quat_normalize(tb_quat(1 + z.z, -z.y, z.x, 0));
  *half = 0.5 * length;
  return TB_OK;
}

static tbStatus read_sizes(tbMj* m, tbMjAt at, Geom* g)
{
  double size[3] = {0}, half = 0;
  bool ends;
  int count, needed = 1;
  TB_TRY(tb_mj_numbers(m, at, "size", 1, 3, size, &count));
  TB_TRY(read_ends(m, at, g, &half, &ends));
  tbRobotShape* s = &g->shape;
  if (strcmp(g->kind, "sphere") == 0) {
    s->type = TB_SHAPE_SPHERE, s->size[0] = size[0];
  } else if (strcmp(g->kind, "capsule") == 0 || strcmp(g->kind, "cylinder") == 0) {
    s->type = g->kind[1] == 'a' ? TB_SHAPE_CAPSULE : TB_SHAPE_CYLINDER;
    s->size[0] = size[0], s->size[1] = 2 * (ends ? half : size[1]);
    needed = 2;
  } else if (strcmp(g->kind, "box") == 0 || strcmp(g->kind, "ellipsoid") == 0) {
    s->type = TB_SHAPE_BOX, g->ellipsoid = g->kind[0] == 'e', needed = 3;
    for (int i = 0; i < 3; i++) s->size[i] = 2 * (ends ? (i < 2 ? size[0] : half) : size[i]);
  } else if (strcmp(g->kind, "plane") == 0) {
    s->type = TB_SHAPE_PLANE, needed = 0;
  } else {
    return tb_xml_fail(m->r->ctx, at.xml, "a geom of type \"%.40s\" is not supported", g->kind);
  }
  for (int i = 0; i < needed; i++)
    if (!(s->size[i] > 0))
      return tb_xml_fail(m->r->ctx, at.xml, "a size of the %s must be positive", g->kind);
  return TB_OK;
}

// solref as a spring and a damper of a mass of 1 kg, which Tribo has for the whole scene only.
static tbStatus note_stiffness(tbMj* m, tbMjAt at)
{
  double ref[2] = {0.02, 1}, imp[5] = {0.9, 0.95, 0.001, 0.5, 2};
  int count, given;
  TB_TRY(tb_mj_numbers(m, at, "solref", 1, 2, ref, &count));
  TB_TRY(tb_mj_numbers(m, at, "solimp", 1, 5, imp, &given));
  if (!count && !given) return TB_OK;
  double d = fmin(fmax(imp[1], 1e-4), 0.9999);
  double b = ref[0] > 0 ? 2 / (d * ref[0]) : -ref[1];
  double k = ref[0] > 0 ? 1 / (d * d * ref[0] * ref[0] * ref[1] * ref[1]) : -ref[0];
  return tb_robot_note(
      m->r, at.xml,
      "solref and solimp, k = %.4g 1/s² and b = %.4g 1/s of a mass, are not in the scene: its contacts are "
      "rigid unless scheme.stabilization says otherwise",
      k, b);
}

static tbStatus read_bits(tbMj* m, tbMjAt at, const char* key, uint32_t* out)
{
  double value = 1;
  TB_TRY(tb_mj_numbers(m, at, key, 1, 1, &value, NULL));
  if (value != rint(value) || fabs(value) > 4294967295.0)
    return tb_xml_fail(m->r->ctx, at.xml, "%s is a whole number of 32 bits", key);
  *out = (uint32_t)(int64_t)value;
  return TB_OK;
}

static tbStatus read_contact(tbMj* m, tbMjAt at, const char* name, Geom* g)
{
  double rows = 3, group = 0;
  tbRobotFriction* f = &g->friction;
  memcpy(f->length, (double[]){1, 0.005, 0.0001}, sizeof f->length);
  TB_TRY(read_bits(m, at, "contype", &g->type));
  TB_TRY(read_bits(m, at, "conaffinity", &g->affinity));
  TB_TRY(tb_mj_numbers(m, at, "friction", 1, 3, f->length, NULL));
  TB_TRY(tb_mj_numbers(m, at, "condim", 1, 1, &rows, NULL));
  TB_TRY(tb_mj_numbers(m, at, "group", 1, 1, &group, NULL));
  if (rows != 1 && rows != 3 && rows != 4 && rows != 6)
    return tb_xml_fail(m->r->ctx, at.xml, "condim is 1, 3, 4 or 6");
  if (!(f->length[0] >= 0) || !(f->length[1] >= 0) || !(f->length[2] >= 0))
    return tb_xml_fail(m->r->ctx, at.xml, "friction must not be negative");
  f->rows = (int)rows;
  g->touches = g->type || g->affinity || tb_mj_in_pair(m, name);
  g->weighed = group >= m->groups[0] && group <= m->groups[1];
  return g->touches ? note_stiffness(m, at) : TB_OK;
}

// What the geom brings to its body's surface: the larger of each number.
static tbStatus add_surface(tbMj* m, tbMjAt at, const char* name, const Geom* g, tbRobotBody* body)
{
  tbMjTouch* t = TB_TAKE(m->r->arena, tbMjTouch, 1);
  tbRobotFriction *f = &body->friction, before = *f;
  if (!t) return TB_ERROR_MEMORY;
  *t = (tbMjTouch){name, body, g->type, g->affinity, at.xml, m->touches};
  m->touches = t;
  f->rows = f->rows > g->friction.rows ? f->rows : g->friction.rows;
  bool other = before.rows && before.rows != g->friction.rows;
  for (int k = 0; k < 3; k++) {
    f->length[k] = fmax(f->length[k], g->friction.length[k]);
    other |= before.rows && before.length[k] != g->friction.length[k] && (k == 0 || f->rows > 3);
  }
  if (!other) return TB_OK;
  return tb_robot_note(m->r, at.xml, "the geoms of \"%.60s\" have several frictions: the largest is taken",
                       body->name);
}

// Mass properties of the geom in its body.
static tbStatus weigh(tbMj* m, tbMjAt at, const Geom* g, tbMass* out)
{
  const tbRobotShape* s = &g->shape;
  tbShape shape;
  tbContext *ctx = m->r->ctx, quiet = *ctx;
  tbStatus status;
  tbMesh* mesh = NULL;
  tbHull* hull = NULL;
  double density = g->mass >= 0 ? 1 : g->density;
  *out = (tbMass){0};
  if (g->mass == 0 || density == 0) return TB_OK;
  switch (s->type) {
  case TB_SHAPE_SPHERE: shape = tb_shape_sphere(s->size[0]); break;
  case TB_SHAPE_BOX: shape = tb_shape_box(tb_load3(s->size)); break;
  case TB_SHAPE_CAPSULE: shape = tb_shape_capsule(s->size[0], s->size[1]); break;
  case TB_SHAPE_CYLINDER: shape = tb_shape_cylinder(s->size[0], s->size[1]); break;
  case TB_SHAPE_CONVEX:
    if (s->point) {
      if (g->rule == TB_MJ_MESH_SHELL)
        TB_TRY(tb_robot_note(m->r, at.xml,
                             "the mass of a mesh of vertices is that of its hull, not of a shell"));
      TB_TRY(tb_hull_create(ctx, s->point, s->points, &hull));
      shape = tb_shape_convex(hull);
      break;
    }
    status = tb_mesh_load(&quiet, s->file, s->scale, &mesh); // fails where the file has points alone
    if (status == TB_ERROR_MEMORY) return tb_fail(ctx, status, "no memory for a mesh");
    if (status == TB_OK) shape = tb_shape_mesh(mesh);
    if (status == TB_OK && g->rule != TB_MJ_MESH_CONVEX &&
        (g->rule != TB_MJ_MESH_EXACT || tb_mesh_is_solid(mesh)))
      break;
    tb_mesh_free(ctx, mesh), mesh = NULL;
    if (g->rule != TB_MJ_MESH_CONVEX)
      TB_TRY(tb_robot_note(m->r, at.xml, "%.200s is not closed: its mass is that of its hull", s->file));
    TB_TRY(tb_hull_load(ctx, s->file, s->scale, &hull));
    shape = tb_shape_convex(hull);
    break;
  default: return TB_OK;
  }
  shape.pose = s->pose;
  if (mesh && g->rule != TB_MJ_MESH_EXACT) *out = tb_mj_mesh_mass(mesh, s->pose, density, g->rule);
  else *out = tb_shape_mass(&shape, density);
  tb_mesh_free(ctx, mesh);
  tb_hull_free(ctx, hull);
  if (g->ellipsoid) { // of a box of its size: volume π/6, moments of its axes 3/5 of the box's
    out->mass *= TB_PI / 6;
    out->inertia = tb_mat3_scale(TB_PI / 6 * 0.6, out->inertia);
  }
  if (g->mass > 0 && out->mass > 0) {
    out->inertia = tb_mat3_scale(g->mass / out->mass, out->inertia);
    out->mass = g->mass;
  }
  return TB_OK;
}

tbStatus tb_mj_geom(tbMj* m, tbMjAt at, tbTransform frame, tbRobotBody* body, tbMass* sum)
{
  Geom g = {.density = 1000, .mass = -1, .shape = {.scale = tb_vec3(1, 1, 1), .at = at.xml}};
  tbMass mass;
  bool good = true, shell = false;
  const char *kind = tb_mj_get(at, "type"), *mesh = tb_mj_get(at, "mesh"), *name;
  g.kind = kind ? kind : "sphere";
  TB_TRY(tb_mj_name(m, at.xml, &name));
  TB_TRY(read_contact(m, at, name, &g));
  TB_TRY(tb_mj_numbers(m, at, "density", 1, 1, &g.density, NULL));
  TB_TRY(tb_mj_numbers(m, at, "mass", 1, 1, &g.mass, NULL));
  TB_TRY(tb_mj_pose(m, at, &g.shape.pose));
  if (strcmp(g.kind, "hfield") == 0 || strcmp(g.kind, "sdf") == 0)
    return tb_robot_note(m->r, at.xml, "a geom of type %s is not in the scene", g.kind);
  bool fitted = mesh && strcmp(g.kind, "mesh") != 0;
  if (fitted && (g.touches || (sum && g.weighed)))
    TB_TRY(tb_robot_note(m->r, at.xml, "a %s fitted to a mesh is the hull of the mesh in the scene", g.kind));
  if (mesh && !g.touches && !(sum && g.weighed && g.mass != 0)) return TB_OK; // to look at alone
  if (mesh) TB_TRY(read_mesh(m, at, mesh, &g, &good));
  else if (strcmp(g.kind, "mesh") == 0)
    return tb_xml_fail(m->r->ctx, at.xml, "a geom of type mesh needs a mesh");
  else TB_TRY(read_sizes(m, at, &g));
  if (!good) return TB_OK;
  if (mesh && tb_mj_get(at, "shellinertia")) {
    TB_TRY(tb_mj_bool(m, at, "shellinertia", false, &shell));
    if (shell) g.rule = TB_MJ_MESH_SHELL;
  }
  g.shape.pose = tb_transform_mul(frame, g.shape.pose);
  if (sum && g.weighed) {
    TB_TRY(weigh(m, at, &g, &mass));
    *sum = tb_mass_add(*sum, mass);
  }
  if (!g.touches) return TB_OK;
  if (g.ellipsoid)
    return tb_robot_note(m->r, at.xml,
                         "an ellipsoid is not a shape of Tribo's: it has its mass, but touches nothing");
  TB_TRY(add_surface(m, at, name, &g, body));
  return tb_robot_shape(m->r, body, g.shape);
}
