// SPDX-License-Identifier: Apache-2.0
// Replays as other kinds of recordings, without running again.
//
// A recorder looks at a world. So a world is made that looks as the replay says, its bodies are put where
// each frame has them, and the recorder is shown that. What looks the same is not the same: masses, joints
// and what solids are made of are not in a replay, nor are the nodes inside them, and every rigid body is led
// here, whatever moved it.
//
// Velocities are those that lead from the frame before to this one. How fast contacts slip is not known.
#include "geometry/mesh.h"
#include "io/replay/look.h"
#include "scene/world.h"

#include <limits.h>

typedef struct {
  tbContext* ctx;
  tbReplay* replay;
  tbScene scene;
  tbMesh** mesh; // of the header; null: not made yet                       (nmesh)
  int nmesh;
  int64_t stride; // steps per frame
  double fps;
  int* body_pose;          // number of a body's pose in a frame; −1: none         (nbody)
  int* body_node;          // and of its first node; −1: rigid                     (nbody)
  tbTransform* pose;       // of the frame shown last                              (poses)
  tbVec3 *node, *velocity; //                                                (nodes)
  double time;
  bool shown; // there was one
  tbArena arena;
} Export;

// The world.

static const tbJson* at(const Export* e, const char* list, int index)
{
  return &tb_json_find(e->replay->root, list)->items[index];
}

static tbStatus make_mesh(Export* e, int index, tbMesh** out)
{
  tbReplayMesh m;
  tbArena arena;
  tb_arena_init(&arena, e->ctx);
  tbStatus status = tb_replay_mesh(e->ctx, e->replay, at(e, "meshes", index), &arena, &m);
  if (status == TB_OK)
    status = tb_mesh_create(e->ctx, m.vertex, m.nvertex, (const int*)m.triangle, m.ntriangle, out);
  tb_arena_free(&arena);
  return status;
}

// Hulls and distance grids are drawn as the triangles they have in the replay.
static tbStatus find_mesh(Export* e, int index, const tbMesh** out)
{
  if (!e->mesh[index]) {
    tbMesh* made;
    TB_TRY(make_mesh(e, index, &made));
    TB_TRY(tb_world_keep_mesh(e->ctx, e->scene.world, made));
    e->mesh[index] = made;
  }
  *out = e->mesh[index];
  return TB_OK;
}

static tbStatus add_rigid(Export* e, const tbJson* node, const char* name, tbBodyMotion motion)
{
  tbContext* ctx = e->ctx;
  const tbJson* shapes;
  tbBodyDef def = tb_default_body_def();
  tbTransform pose;
  TB_TRY(tb_json_require(ctx, node, "shapes", &shapes));
  TB_TRY(tb_json_get_type(ctx, shapes, TB_JSON_ARRAY));
  tbShape* shape = TB_TAKE(&e->arena, tbShape, shapes->count);
  if (!shape) return TB_ERROR_MEMORY;
  for (uint32_t i = 0; i < shapes->count; i++) {
    int mesh;
    TB_TRY(tb_replay_shape(ctx, &shapes->items[i], e->nmesh, &shape[i], &mesh));
    if (mesh < 0) continue;
    shape[i].type = TB_SHAPE_MESH;
    TB_TRY(find_mesh(e, mesh, &shape[i].mesh));
  }
  TB_TRY(tb_replay_pose(ctx, node, &pose));
  def.name = name, def.kind = motion == TB_BODY_FIXED ? motion : TB_BODY_KINEMATIC;
  def.shapes = shape, def.shape_count = (int)shapes->count;
  def.position = pose.x, def.orientation = pose.q;
  return tb_world_add_body(ctx, e->scene.world, &def, NULL);
}

// Solids, too, are a sheet here: their surface.
static tbStatus add_sheet(Export* e, const tbJson* node, const char* name, int surfaces)
{
  tbMesh* sheet;
  int surface;
  TB_TRY(tb_json_get_int(e->ctx, tb_json_find(node, "skin"), 0, e->nmesh - 1,
                         &surface)); // there: checked when opened
  TB_TRY(make_mesh(e, surface, &sheet));
  tbDeformableDef def = tb_default_deformable_def();
  def.name = name, def.sheet = sheet;
  tbStatus status = TB_OK;
  if (sheet->nvertex != e->replay->surface_nodes[surfaces])
    status = tb_fail(e->ctx, TB_ERROR_UNSUPPORTED, "%s: parts of %s fall together at the start",
                     e->replay->name, name);
  if (status == TB_OK) status = tb_world_add_deformable(e->ctx, e->scene.world, &def, NULL);
  tb_mesh_free(e->ctx, sheet);
  return status;
}

static tbStatus add_bodies(Export* e)
{
  int poses = 0, nodes = 0, surfaces = 0;
  for (int i = 0; i < e->replay->nbody; i++) {
    const tbJson *node = at(e, "bodies", i), *name_node;
    const char* name;
    const tbKind* kind;
    tbBodyMotion motion;
    TB_TRY(tb_json_require(e->ctx, node, "name", &name_node));
    TB_TRY(tb_json_get_string(e->ctx, name_node, &name));
    TB_TRY(tb_replay_kind(e->ctx, node, &kind, &motion));
    bool moves = tb_json_find(node, "pose"), deforms = tb_json_find(node, "nodes");
    if (moves == (motion == TB_BODY_FIXED || deforms) || deforms != (kind->nodes != NULL))
      return tb_json_fail(e->ctx, node, "a body that does not move as its kind does");
    TB_TRY(deforms ? add_sheet(e, node, name, surfaces++) : add_rigid(e, node, name, motion));
    e->body_pose[i] = moves ? poses++ : -1;
    e->body_node[i] = deforms ? nodes : -1;
    nodes += tb_body_node_count(e->scene.world, tb_world_body_at(e->scene.world, i));
  }
  return TB_OK;
}

static tbStatus get_positive(tbContext* ctx, const tbJson* root, const char* key, double* out)
{
  const tbJson* node;
  TB_TRY(tb_json_require(ctx, root, key, &node));
  return tb_json_get_number(ctx, node, TB_POSITIVE, out);
}

static tbStatus build(Export* e)
{
  tbContext* ctx = e->ctx;
  const tbReplay* r = e->replay;
  const tbJson *name = tb_json_find(r->root, "scene"), *stride;
  tbWorldDef def = tb_default_world_def();
  const char* title = "";
  def.gravity = tb_zero3();
  TB_TRY(tb_replay_vec3(ctx, r->root, "gravity", &def.gravity));
  if (name) TB_TRY(tb_json_get_string(ctx, name, &title));
  TB_TRY(get_positive(ctx, r->root, "fps", &e->fps));
  TB_TRY(get_positive(ctx, r->root, "dt", &e->scene.step.dt));
  TB_TRY(tb_json_require(ctx, r->root, "steps_per_frame", &stride));
  TB_TRY(tb_json_get_int64(ctx, stride, 1, INT64_MAX, &e->stride));
  e->nmesh = (int)tb_json_find(r->root, "meshes")->count;
  e->mesh = TB_TAKE(&e->arena, tbMesh*, (size_t)e->nmesh);
  e->body_pose = TB_TAKE(&e->arena, int, (size_t)r->nbody);
  e->body_node = TB_TAKE(&e->arena, int, (size_t)r->nbody);
  e->pose = TB_TAKE(&e->arena, tbTransform, (size_t)r->npose);
  e->node = TB_TAKE(&e->arena, tbVec3, (size_t)r->nnode);
  e->velocity = TB_TAKE(&e->arena, tbVec3, (size_t)r->nnode);
  if (!e->mesh || !e->body_pose || !e->body_node || !e->pose || !e->node || !e->velocity)
    return TB_ERROR_MEMORY;
  e->scene.name = (char*)title;
  TB_TRY(tb_world_create(ctx, &def, &e->scene.world));
  return add_bodies(e);
}

// A frame.

static tbStatus show_bodies(Export* e, const tbReplayFrame* f)
{
  double rate = e->shown && f->time > e->time ? 1 / (f->time - e->time) : 0;
  for (int i = 0; i < e->replay->nnode; i++) {
    e->velocity[i] = tb_scale3(rate, tb_sub3(f->node[i], e->node[i]));
    e->node[i] = f->node[i];
  }
  for (int i = 0; i < e->replay->nbody; i++) {
    int p = e->body_pose[i], n = e->body_node[i];
    if (n >= 0)
      TB_TRY(tb_body_set_nodes(e->ctx, e->scene.world, tb_world_body_at(e->scene.world, i), e->node + n,
                               e->velocity + n));
    if (p < 0) continue;
    tbTransform now = f->pose[p], last = e->shown ? e->pose[p] : now;
    tbVec3 turn = tb_quat_log(tb_quat_mul(now.q, tb_quat_conj(last.q)));
    tbBodyState s = {now.x, now.q, tb_scale3(rate, tb_sub3(now.x, last.x)), tb_scale3(rate, turn)};
    TB_TRY(tb_body_set_state(e->ctx, e->scene.world, tb_world_body_at(e->scene.world, i), &s));
    e->pose[p] = now;
  }
  e->time = f->time, e->shown = true;
  return TB_OK;
}

static tbStatus show_contacts(Export* e, const tbReplayFrame* f)
{
  tbArray* contacts = &e->scene.world->contact;
  contacts->count = 0;
  for (int i = 0; i < f->contact_count; i++) {
    const tbReplayContact* c = &f->contact[i];
    tbMat3 F = tb_mat3_frame(c->normal);
    tbContactRecord record = {.body_a = c->a,
                              .body_b = c->b,
                              .shape_a = -1,
                              .shape_b = -1,
                              .position = c->position,
                              .normal = c->normal,
                              .tangent = tb_mat3_row(F, 1),
                              .gap = c->gap,
                              .rows = 3,
                              .state = c->state};
    for (int k = 0; k < 3; k++) record.impulse[k] = tb_dot3(tb_mat3_row(F, k), c->impulse);
    TB_TRY(tb_array_push(e->ctx, contacts, &record, 1));
  }
  return TB_OK;
}

// In frames, not steps, goes the count of what has every step: a frame is a step here.
static tbStatus show(Export* e, int64_t index, tbReplayFrame* f)
{
  tbWorld* w = e->scene.world;
  TB_TRY(tb_replay_read(e->ctx, e->replay, index, f));
  w->time = f->time, w->steps = f->step / e->stride;
  TB_TRY(show_bodies(e, f));
  return show_contacts(e, f);
}

// Point caches have their samples at equal times: a last frame that comes sooner has no place there.
static bool has_place(const Export* e, const tbRecorder* recorder, const tbReplayFrame* f, int64_t first_step)
{
  return !recorder->every_step || (f->step - first_step) % e->stride == 0;
}

static tbStatus record(Export* e, const tbRecorder* recorder, const char* path, int64_t first, int64_t last,
                       bool (*cancelled)(void*), void* user)
{
  tbReplayFrame f;
  void* state;
  TB_TRY(show(e, first, &f));
  int64_t first_step = f.step;
  tbRecordPlan plan = {&e->scene, path, e->stride, e->fps, INT_MAX};
  TB_TRY(recorder->begin(e->ctx, &plan, &state));
  tbStatus status = TB_OK;
  for (int64_t i = first; i <= last && status == TB_OK && !(cancelled && cancelled(user)); i++) {
    if (i > first) status = show(e, i, &f);
    if (status != TB_OK || !has_place(e, recorder, &f, first_step)) continue;
    tbFrame frame = {.world = e->scene.world,
                     .index = i - first,
                     .step = f.step,
                     .time = f.time,
                     .dt = e->scene.step.dt,
                     .replayed = true};
    status = recorder->frame(e->ctx, state, &frame);
  }
  return recorder->end(e->ctx, state, status);
}

tbStatus tb_replay_export(tbContext* ctx, tbReplay* replay, const char* kind, const char* path, int64_t first,
                          int64_t last, bool (*cancelled)(void*), void* user)
{
  const tbRecordKind* k = tb_record_kind_find(kind);
  if (last < 0) last = replay->frames - 1;
  if (!k || k->recorder == &tb_recorder_replay)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "replays are not exported as \"%.60s\"", kind);
  if (first < 0 || first > last || last >= replay->frames)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has frames 0 to %lld", replay->name,
                   (long long)(replay->frames - 1));
  Export e = {.ctx = ctx, .replay = replay};
  tb_arena_init(&e.arena, ctx);
  tbStatus status = build(&e);
  if (status == TB_OK) status = record(&e, k->recorder, path, first, last, cancelled, user);
  tb_world_free(ctx, e.scene.world);
  tb_arena_free(&e.arena);
  return status;
}
