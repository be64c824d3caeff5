// SPDX-License-Identifier: Apache-2.0
// From a replay's header to meshes. Nothing in a file is believed: sizes and indices are checked here.
#include "render/subject.h"

#include "io/replay/look.h"

#include <limits.h>

// Cosines of the largest angles that are not edges, of what is rigid and of what deforms.
static const double hard = 0.766, soft = 0.5;

enum { SPHERE, CYLINDER, BOX, UNITS };

typedef struct {
  tbContext* ctx;
  const tbReplay* replay;
  tbSubject* m;
  int ngiven;      // meshes of the header, which come first
  int unit[UNITS]; // meshes of sphere, cylinder and box; −1: not yet
  int segments;
  tbArray mesh, instance, plane, joint, surface, capsule;
} Reader;

// Meshes.

static tbStatus push_mesh(Reader* r, tbSolidMesh mesh, int* out)
{
  mesh.lo = tb_vec3(INFINITY, INFINITY, INFINITY), mesh.hi = tb_neg3(mesh.lo);
  for (int v = 0; v < mesh.nvertex; v++) {
    mesh.reach = fmax(mesh.reach, tb_norm3(mesh.vertex[v]));
    mesh.lo = tb_min3(mesh.lo, mesh.vertex[v]), mesh.hi = tb_max3(mesh.hi, mesh.vertex[v]);
  }
  *out = (int)r->mesh.count;
  if (mesh.nvertex > r->m->max_vertex) r->m->max_vertex = mesh.nvertex;
  return tb_array_push(r->ctx, &r->mesh, &mesh, 1);
}

static tbStatus read_given(Reader* r, const tbJson* node)
{
  tbReplayMesh given;
  int index;
  TB_TRY(tb_replay_mesh(r->ctx, r->replay, node, &r->m->arena, &given));
  tbVec3* normal = TB_TAKE(&r->m->arena, tbVec3, 3 * (size_t)given.ntriangle);
  if (!normal) return TB_ERROR_MEMORY;
  tbSolidMesh mesh = {given.nvertex, given.ntriangle, given.vertex, (const int(*)[3])given.triangle,
                      normal,        .reach = 0};
  tbSubjectSurface surface = {0};
  tbArena arena;
  tb_arena_init(&arena, r->ctx);
  tbStatus status = tb_surface_mesh_build(&arena, &mesh, &surface);
  if (status == TB_OK) tb_surface_normals(NULL, &surface, &mesh, hard);
  tb_arena_free(&arena);
  return status == TB_OK ? push_mesh(r, mesh, &index) : status;
}

// Round shapes are scaled alike in x and y, and their normals are smooth; those of a box are its faces'.
static tbStatus add_drawn(Reader* r, const tbDrawMesh* d, int* out)
{
  tbVec3* vertex = TB_TAKE(&r->m->arena, tbVec3, (size_t)d->nvertex);
  tbVec3* normal = TB_TAKE(&r->m->arena, tbVec3, 3 * (size_t)d->ntriangle);
  if (!vertex || !normal) return TB_ERROR_MEMORY;
  for (int v = 0; v < d->nvertex; v++) vertex[v] = d->vertex[v];
  for (int t = 0; t < d->ntriangle; t++) {
    const int* v = d->triangle[t];
    tbVec3 face =
        tb_normalize3(tb_cross3(tb_sub3(vertex[v[1]], vertex[v[0]]), tb_sub3(vertex[v[2]], vertex[v[0]])));
    for (int k = 0; k < 3; k++) normal[3 * t + k] = d->normal ? d->normal[v[k]] : face;
  }
  return push_mesh(r, (tbSolidMesh){d->nvertex, d->ntriangle, vertex, d->triangle, normal, .reach = 0}, out);
}

static tbStatus make_unit(Reader* r, int unit, int* out)
{
  if (r->unit[unit] < 0) {
    tbArena* arena = &r->m->arena;
    tbDrawMesh d;
    if (unit == SPHERE) TB_TRY(tb_draw_sphere(arena, r->segments, &d));
    else if (unit == CYLINDER) TB_TRY(tb_draw_cylinder(arena, r->segments, &d));
    else TB_TRY(tb_draw_box(arena, &d));
    TB_TRY(add_drawn(r, &d, &r->unit[unit]));
  }
  *out = r->unit[unit];
  return TB_OK;
}

typedef struct {
  double ratio; // half length over radius
  int mesh;
} Capsule;

static tbStatus make_capsule(Reader* r, double radius, double half, int* out)
{
  Capsule made = {radius > 0 ? half / radius : 0, 0};
  const Capsule* old = r->capsule.data;
  for (size_t i = 0; i < r->capsule.count; i++)
    if (old[i].ratio == made.ratio) {
      *out = old[i].mesh;
      return TB_OK;
    }
  tbDrawMesh d;
  TB_TRY(tb_draw_capsule(&r->m->arena, r->segments, made.ratio, &d));
  TB_TRY(add_drawn(r, &d, &made.mesh));
  *out = made.mesh;
  return tb_array_push(r->ctx, &r->capsule, &made, 1);
}

// Bodies.

static tbStatus add_plane(Reader* r, const tbShape* s, int body)
{
  tbSubjectPlane plane = {.body = body, .normal = tb_normalize3(tb_quat_rotate(s->pose.q, s->plane.normal))};
  plane.offset = s->plane.offset + tb_dot3(plane.normal, s->pose.x);
  return tb_array_push(r->ctx, &r->plane, &plane, 1);
}

static tbStatus read_shape(Reader* r, const tbJson* node, int body)
{
  tbShape s;
  tbInstance in = {.body = body, .scale = tb_vec3(1, 1, 1)};
  TB_TRY(tb_replay_shape(r->ctx, node, r->ngiven, &s, &in.mesh));
  in.pose = s.pose;
  switch (s.type) {
  case TB_SHAPE_PLANE: return add_plane(r, &s, body);
  case TB_SHAPE_SPHERE:
    in.scale = tb_vec3(s.sphere.radius, s.sphere.radius, s.sphere.radius);
    TB_TRY(make_unit(r, SPHERE, &in.mesh));
    break;
  case TB_SHAPE_CAPSULE:
    in.scale = tb_vec3(s.capsule.radius, s.capsule.radius, s.capsule.radius);
    TB_TRY(make_capsule(r, s.capsule.radius, s.capsule.half, &in.mesh));
    break;
  case TB_SHAPE_CYLINDER:
    in.scale = tb_vec3(s.cylinder.radius, s.cylinder.radius, s.cylinder.half);
    TB_TRY(make_unit(r, CYLINDER, &in.mesh));
    break;
  case TB_SHAPE_BOX:
    in.scale = s.box.half;
    TB_TRY(make_unit(r, BOX, &in.mesh));
    break;
  default: break;
  }
  tbSubjectBody* b = &r->m->body[body];
  double far = ((tbSolidMesh*)r->mesh.data)[in.mesh].reach * tb_maxabs3(in.scale);
  if (s.type == TB_SHAPE_BOX) far = tb_norm3(in.scale);
  b->reach = fmax(b->reach, tb_norm3(in.pose.x) + far);
  return tb_array_push(r->ctx, &r->instance, &in, 1);
}

static tbStatus read_body(Reader* r, const tbJson* node, int index, int* poses, int* nodes)
{
  tbContext* ctx = r->ctx;
  tbSubjectBody* b = &r->m->body[index];
  const tbJson *shapes = tb_json_find(node, "shapes"), *surface = tb_json_find(node, "skin");
  const tbKind* kind;
  TB_TRY(tb_replay_kind(ctx, node, &kind, &b->motion));
  b->sheet = kind->sheet;
  TB_TRY(tb_replay_pose(ctx, node, &b->pose));
  b->pose_index = tb_json_find(node, "pose") ? (*poses)++ : -1;
  b->first = (int)r->instance.count;
  if (shapes) TB_TRY(tb_json_get_type(ctx, shapes, TB_JSON_ARRAY));
  for (uint32_t i = 0; shapes && i < shapes->count; i++) TB_TRY(read_shape(r, &shapes->items[i], index));
  if (tb_json_find(node, "nodes")) {
    tbInstance in = {.body = index, .pose = tb_transform_identity(), .scale = tb_vec3(1, 1, 1)};
    TB_TRY(tb_json_get_int(ctx, surface, 0, r->ngiven - 1, &in.mesh));
    tbSubjectSurface made = {.body = index, .mesh = in.mesh};
    const tbSolidMesh* mesh = &((tbSolidMesh*)r->mesh.data)[in.mesh];
    TB_TRY(tb_surface_mesh_build(&r->m->arena, mesh, &made));
    TB_TRY(tb_array_push(ctx, &r->surface, &made, 1));
    TB_TRY(tb_array_push(ctx, &r->instance, &in, 1));
    b->node = *nodes;
    *nodes += mesh->nvertex;
  }
  b->count = (int)r->instance.count - b->first;
  return TB_OK;
}

// Joints.

static tbStatus get_limit(tbContext* ctx, const tbJson* node, double* out)
{
  if (node->type == TB_JSON_NULL) return TB_OK;
  return tb_json_get_number(ctx, node, (tbRange){-1e30, 1e30, false}, out);
}

static tbStatus read_joint(Reader* r, const tbJson* node)
{
  tbContext* ctx = r->ctx;
  const tbJson *type, *a, *b, *limits = tb_json_find(node, "limits");
  const char* name;
  tbSubjectJoint j = {.axis = tb_vec3(0, 0, 1), .lower = -INFINITY, .upper = INFINITY};
  TB_TRY(tb_json_require(ctx, node, "type", &type));
  TB_TRY(tb_json_get_string(ctx, type, &name));
  while (j.type < TB_JOINT_COUNT && strcmp(name, tb_joint_type_name(j.type)) != 0) j.type++;
  if (j.type == TB_JOINT_COUNT) return TB_OK; // of a later build
  TB_TRY(tb_json_require(ctx, node, "a", &a));
  TB_TRY(tb_json_require(ctx, node, "b", &b));
  TB_TRY(tb_json_get_int(ctx, a, -1, r->m->nbody - 1, &j.a));
  TB_TRY(tb_json_get_int(ctx, b, -1, r->m->nbody - 1, &j.b));
  TB_TRY(tb_replay_vec3(ctx, node, "anchor_a", &j.anchor_a));
  TB_TRY(tb_replay_vec3(ctx, node, "anchor_b", &j.anchor_b));
  TB_TRY(tb_replay_vec3(ctx, node, "axis", &j.axis));
  if (limits) {
    TB_TRY(tb_json_get_type(ctx, limits, TB_JSON_ARRAY));
    if (limits->count != 2) return tb_json_fail(ctx, limits, "not two limits");
    TB_TRY(get_limit(ctx, &limits->items[0], &j.lower));
    TB_TRY(get_limit(ctx, &limits->items[1], &j.upper));
  }
  return tb_array_push(ctx, &r->joint, &j, 1);
}

static tbStatus read_joints(Reader* r, const tbJson* joints)
{
  if (!joints) return TB_OK;
  TB_TRY(tb_json_get_type(r->ctx, joints, TB_JSON_ARRAY));
  for (uint32_t i = 0; i < joints->count; i++) {
    TB_TRY(tb_json_get_type(r->ctx, &joints->items[i], TB_JSON_OBJECT));
    TB_TRY(read_joint(r, &joints->items[i]));
  }
  return TB_OK;
}

static tbStatus read_run(Reader* r, const tbJson* root)
{
  tbContext* ctx = r->ctx;
  const tbJson *name = tb_json_find(root, "scene"), *dt = tb_json_find(root, "dt"),
               *tolerance = tb_json_find(root, "tolerance"),
               *velocity = tb_json_find(root, "velocity_tolerance");
  tbVec3 gravity = tb_zero3();
  TB_TRY(tb_replay_vec3(ctx, root, "gravity", &gravity));
  r->m->up = tb_maxabs3(gravity) > 0 ? tb_normalize3(tb_neg3(gravity)) : tb_vec3(0, 0, 1);
  r->m->name = "";
  if (name) TB_TRY(tb_json_get_string(ctx, name, &r->m->name));
  if (dt) TB_TRY(tb_json_get_number(ctx, dt, TB_NONNEGATIVE, &r->m->dt));
  if (tolerance) TB_TRY(tb_json_get_number(ctx, tolerance, TB_NONNEGATIVE, &r->m->tolerance));
  if (velocity) TB_TRY(tb_json_get_number(ctx, velocity, TB_NONNEGATIVE, &r->m->velocity_tolerance));
  return TB_OK;
}

// An array's values into the arena.
static void* keep(Reader* r, const tbArray* array)
{
  char* copy = tb_arena_take(&r->m->arena, array->count, array->item);
  if (copy && array->count) memcpy(copy, array->data, array->count * array->item);
  return copy;
}

// How close the faces of a mesh come to its origin.
static double inner_radius(const tbSolidMesh* mesh)
{
  double least = INFINITY;
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    tbVec3 a = mesh->vertex[v[0]];
    tbVec3 n = tb_cross3(tb_sub3(mesh->vertex[v[1]], a), tb_sub3(mesh->vertex[v[2]], a));
    double area = tb_norm3(n);
    if (area > 0) least = fmin(least, fabs(tb_dot3(n, a)) / area);
  }
  return least;
}

static tbStatus read_all(Reader* r)
{
  const tbJson *root = r->replay->root, *meshes = tb_json_find(root, "meshes"),
               *bodies = tb_json_find(root, "bodies");
  tbSubject* m = r->m;
  int poses = 0, nodes = 0;
  r->segments = bodies->count > 2000 ? 16 : bodies->count > 200 ? 24 : bodies->count > 40 ? 40 : 64;
  TB_TRY(read_run(r, root));
  for (uint32_t i = 0; i < meshes->count; i++) TB_TRY(read_given(r, &meshes->items[i]));
  r->ngiven = (int)meshes->count;
  m->nbody = (int)bodies->count;
  m->body = TB_TAKE(&m->arena, tbSubjectBody, (size_t)m->nbody);
  m->now = TB_TAKE(&m->arena, tbTransform, (size_t)m->nbody);
  if (!m->body || !m->now) return TB_ERROR_MEMORY;
  for (int i = 0; i < m->nbody; i++) TB_TRY(read_body(r, &bodies->items[i], i, &poses, &nodes));
  TB_TRY(read_joints(r, tb_json_find(root, "joints")));
  m->mesh = keep(r, &r->mesh), m->nmesh = (int)r->mesh.count;
  m->instance = keep(r, &r->instance), m->ninstance = (int)r->instance.count;
  m->plane = keep(r, &r->plane), m->nplane = (int)r->plane.count;
  m->joint = keep(r, &r->joint), m->njoint = (int)r->joint.count;
  m->surface = keep(r, &r->surface), m->nsurface = (int)r->surface.count;
  if (!m->mesh || !m->instance || !m->plane || !m->joint || !m->surface) return TB_ERROR_MEMORY;
  int64_t total = 0;
  for (int i = 0; i < m->ninstance; i++) {
    m->instance[i].triangle = (int)total;
    total += m->mesh[m->instance[i].mesh].ntriangle;
    if (total > INT_MAX / 4) return tb_fail(r->ctx, TB_ERROR_UNSUPPORTED, "too many triangles for a picture");
  }
  m->ntriangle = (int)total, m->box = r->unit[BOX], m->sphere = r->unit[SPHERE];
  m->inner = m->sphere < 0 ? 1 : inner_radius(&m->mesh[m->sphere]);
  m->cut = TB_TAKE(&m->arena, unsigned char, (size_t)m->ninstance);
  return m->cut ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_subject_create(tbContext* ctx, const tbReplay* replay, tbSubject* out)
{
  tbSubject subject = {0};
  tb_arena_init(&subject.arena, ctx);
  Reader r = {.ctx = ctx,
              .replay = replay,
              .m = &subject,
              .unit = {-1, -1, -1},
              .mesh = TB_ARRAY(tbSolidMesh),
              .instance = TB_ARRAY(tbInstance),
              .plane = TB_ARRAY(tbSubjectPlane),
              .joint = TB_ARRAY(tbSubjectJoint),
              .surface = TB_ARRAY(tbSubjectSurface),
              .capsule = TB_ARRAY(Capsule)};
  tbStatus status = read_all(&r);
  tbArray* const arrays[] = {&r.mesh, &r.instance, &r.plane, &r.joint, &r.surface, &r.capsule};
  for (int i = 0; i < 6; i++) tb_array_free(ctx, arrays[i]);
  if (status == TB_OK) *out = subject;
  else tb_subject_free(&subject);
  return status;
}

void tb_subject_free(tbSubject* m)
{
  if (m->arena.ctx) tb_arena_free(&m->arena);
  *m = (tbSubject){0};
}

void tb_subject_pose(const tbSubject* m, const tbReplayFrame* frame)
{
  for (int i = 0; i < m->nbody; i++)
    m->now[i] = m->body[i].pose_index >= 0 ? frame->pose[m->body[i].pose_index] : m->body[i].pose;
}

void tb_subject_show(tbThreads* threads, const tbSubject* m, const tbReplayFrame* frame)
{
  tb_subject_pose(m, frame);
  for (int i = 0; i < m->nsurface; i++) {
    const tbSubjectSurface* s = &m->surface[i];
    tbSolidMesh* mesh = &m->mesh[s->mesh];
    for (int v = 0; v < mesh->nvertex; v++) mesh->vertex[v] = frame->node[m->body[s->body].node + v];
    tb_surface_normals(threads, s, mesh, soft);
    m->now[s->body] = tb_transform_identity();
  }
}
