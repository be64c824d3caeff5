// The JSON of a glTF file.
//
// Node 0 is the world, turned so that what is up points along glTF's y. Below it a node per body; its shapes
// are nodes below that, unless a single one sits in the body's own frame. Meshes are pairs of geometry and
// colour, over accessors they share.
#include "io/gltf.h"

#include "base/json_write.h"
#include "scene/world.h"

enum { FLOAT = 5126, UNSIGNED_INT = 5125, UNSIGNED_BYTE = 5121, ARRAY_BUFFER = 34962, INDEX_BUFFER = 34963 };

typedef struct {
  const tbGltf* g;
  const tbDrawing* d;
  tbJsonWriter* w;
  int view[4]; // numbers of the buffer views; −1: empty
  int accessors;
  uint64_t at[4];     // how much of each view is used
  int* mesh_accessor; // first of a mesh: positions, normals if any, indices
  int* skin_accessor; // first of a skin: positions, indices, targets
  int* mesh_number; // of a mesh in a colour, −1: not used; then of the skins    (nmesh · TB_COLORS + nskin)
  int* body_node;   // of a body
  int material[2 * TB_COLORS];   // of a colour; and of the same on both sides
  int times, key_times, weights; // accessors
} Json;

enum { VERTICES, INDICES, MOTION, WEIGHTS };

static void put_float3(tbJsonWriter* w, const char* key, tbVec3 v)
{
  tb_put_numbers(w, key, (double[3]){(float)v.x, (float)v.y, (float)v.z}, 3);
}

static void put_rotation(tbJsonWriter* w, tbQuat q)
{
  tb_put_numbers(w, "rotation", (double[4]){q.x, q.y, q.z, q.w}, 4);
}

// Accessors. Each takes the next bytes of its view.

static int put_accessor(Json* j, int view, int type, const char* shape, uint64_t count, uint64_t bytes)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "bufferView", j->view[view]);
  if (j->at[view]) tb_put_int(j->w, "byteOffset", (int64_t)j->at[view]);
  tb_put_int(j->w, "componentType", type);
  if (type == UNSIGNED_BYTE) tb_put_bool(j->w, "normalized", true);
  tb_put_int(j->w, "count", (int64_t)count);
  tb_put_string(j->w, "type", shape);
  j->at[view] += bytes;
  return j->accessors++;
}

static void put_bounds(Json* j, const float* low, const float* high, int count)
{
  double bound[2][3];
  for (int i = 0; i < count; i++) bound[0][i] = low[i], bound[1][i] = high[i];
  tb_put_numbers(j->w, "min", bound[0], (size_t)count);
  tb_put_numbers(j->w, "max", bound[1], (size_t)count);
}

static int put_positions(Json* j, int count, const tbVec3* x, const int* node)
{
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < count; i++) {
    tbVec3 p = x[node ? node[i] : i];
    const float at[3] = {(float)p.x, (float)p.y, (float)p.z};
    for (int k = 0; k < 3; k++) low[k] = fminf(low[k], at[k]), high[k] = fmaxf(high[k], at[k]);
  }
  int accessor = put_accessor(j, VERTICES, FLOAT, "VEC3", (uint64_t)count, 12 * (uint64_t)count);
  put_bounds(j, low, high, 3);
  tb_put_end(j->w);
  return accessor;
}

static void put_indices(Json* j, int ntriangle)
{
  put_accessor(j, INDICES, UNSIGNED_INT, "SCALAR", 3 * (uint64_t)ntriangle, 12 * (uint64_t)ntriangle);
  tb_put_end(j->w);
}

static void put_mesh_accessors(Json* j)
{
  const tbDrawMesh* m = tb_draw_meshes(j->d);
  for (size_t i = 0; i < j->d->mesh.count; i++) {
    j->mesh_accessor[i] = put_positions(j, m[i].nvertex, m[i].vertex, NULL);
    if (m[i].normal) {
      put_accessor(j, VERTICES, FLOAT, "VEC3", (uint64_t)m[i].nvertex, 12 * (uint64_t)m[i].nvertex);
      tb_put_end(j->w);
    }
    put_indices(j, m[i].ntriangle);
  }
}

static void put_skin_accessors(Json* j)
{
  const tbGltf* g = j->g;
  const tbDrawSkin* s = tb_draw_skins(j->d);
  int64_t targets = tb_gltf_targets(g);
  for (size_t i = 0; i < j->d->skin.count; i++) {
    uint64_t count = (uint64_t)s[i].nvertex;
    int64_t bound = (int64_t)i * g->keys; // of key 0: the positions themselves
    j->skin_accessor[i] = put_accessor(j, VERTICES, FLOAT, "VEC3", count, 12 * count);
    put_bounds(j, g->low[bound], g->high[bound], 3);
    tb_put_end(j->w);
    put_indices(j, s[i].ntriangle);
    for (int64_t k = 1; k <= targets; k++) {
      put_accessor(j, VERTICES, FLOAT, "VEC3", count, 12 * count);
      put_bounds(j, g->low[bound + k], g->high[bound + k], 3);
      tb_put_end(j->w);
    }
  }
}

static int put_times(Json* j, int64_t count, double last)
{
  int accessor = put_accessor(j, MOTION, FLOAT, "SCALAR", (uint64_t)count, 4 * (uint64_t)count);
  put_bounds(j, &(float){0}, &(float){(float)last}, 1);
  tb_put_end(j->w);
  return accessor;
}

static void put_motion_accessors(Json* j)
{
  const tbTracks* t = j->g->tracks;
  uint64_t frames = (uint64_t)t->frames;
  if (!tb_gltf_moves(j->g)) return;
  j->times = put_times(j, t->frames, j->g->end - j->g->start);
  if (tb_gltf_morphs(j->g)) j->key_times = put_times(j, j->g->keys, j->g->last_key - j->g->start);
  for (int i = 0; i < t->nmoving; i++) {
    if (t->shifts[i]) put_accessor(j, MOTION, FLOAT, "VEC3", frames, 12 * frames), tb_put_end(j->w);
    if (t->turns[i]) put_accessor(j, MOTION, FLOAT, "VEC4", frames, 16 * frames), tb_put_end(j->w);
  }
  if (!tb_gltf_morphs(j->g)) return;
  uint64_t count = (uint64_t)j->g->keys * (uint64_t)tb_gltf_targets(j->g);
  j->weights = put_accessor(j, WEIGHTS, UNSIGNED_BYTE, "SCALAR", count, count);
  tb_put_end(j->w);
}

static void put_accessors(Json* j)
{
  if (j->view[VERTICES] < 0 && j->view[MOTION] < 0) return;
  tb_put_array(j->w, "accessors");
  put_mesh_accessors(j);
  put_skin_accessors(j);
  put_motion_accessors(j);
  tb_put_end(j->w);
}

static void put_buffer(Json* j)
{
  const uint64_t bytes[4] = {j->g->vertices, j->g->indices, j->g->motion, j->g->weights};
  const int targets[4] = {ARRAY_BUFFER, INDEX_BUFFER, 0, 0};
  uint64_t total = 0;
  for (int i = 0, count = 0; i < 4; i++) {
    j->view[i] = bytes[i] ? count++ : -1;
    total += bytes[i];
  }
  if (!total) return;
  tb_put_array(j->w, "buffers");
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "byteLength", (int64_t)total);
  tb_put_end(j->w);
  tb_put_end(j->w);
  tb_put_array(j->w, "bufferViews");
  for (int i = 0; i < 4; i++) {
    if (!bytes[i]) continue;
    tb_put_object(j->w, NULL);
    tb_put_int(j->w, "buffer", 0);
    uint64_t at = 0;
    for (int k = 0; k < i; k++) at += bytes[k];
    if (at) tb_put_int(j->w, "byteOffset", (int64_t)at);
    tb_put_int(j->w, "byteLength", (int64_t)bytes[i]);
    if (i == VERTICES) tb_put_int(j->w, "byteStride", 12);
    if (targets[i]) tb_put_int(j->w, "target", targets[i]);
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
}

// Meshes and materials.

static void put_material(Json* j, int color, bool both_sides)
{
  double rgb[4] = {0, 0, 0, 1};
  tb_color_linear(tb_color(color), rgb);
  tb_put_object(j->w, NULL);
  tb_put_object(j->w, "pbrMetallicRoughness");
  tb_put_numbers(j->w, "baseColorFactor", rgb, 4);
  tb_put_number(j->w, "metallicFactor", 0);
  tb_put_number(j->w, "roughnessFactor", 0.7);
  tb_put_end(j->w);
  if (both_sides) tb_put_bool(j->w, "doubleSided", true);
  tb_put_end(j->w);
}

static void put_materials(Json* j)
{
  int count = 0;
  for (int i = 0; i < j->d->nbody; i++) {
    int both = j->d->body_skin[i] >= 0, color = tb_body_color(j->g->world, (tbBodyId){i});
    if (both || j->d->body_shape[i + 1] > j->d->body_shape[i]) j->material[both * TB_COLORS + color] = 0;
  }
  for (int i = 0; i < 2 * TB_COLORS; i++)
    if (j->material[i] == 0) j->material[i] = count++;
  if (!count) return;
  tb_put_array(j->w, "materials");
  for (int i = 0; i < 2 * TB_COLORS; i++)
    if (j->material[i] >= 0) put_material(j, i % TB_COLORS, i >= TB_COLORS);
  tb_put_end(j->w);
}

static void put_mesh(Json* j, int accessor, bool normals, int material, int64_t targets, const char* name)
{
  int indices = accessor + 1 + normals;
  tb_put_object(j->w, NULL);
  if (name) tb_put_string(j->w, "name", name);
  tb_put_array(j->w, "primitives");
  tb_put_object(j->w, NULL);
  tb_put_object(j->w, "attributes");
  tb_put_int(j->w, "POSITION", accessor);
  if (normals) tb_put_int(j->w, "NORMAL", accessor + 1);
  tb_put_end(j->w);
  tb_put_int(j->w, "indices", indices);
  tb_put_int(j->w, "material", material);
  if (targets > 0) {
    tb_put_array(j->w, "targets");
    for (int64_t k = 1; k <= targets; k++) {
      tb_put_object(j->w, NULL);
      tb_put_int(j->w, "POSITION", indices + k);
      tb_put_end(j->w);
    }
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
  tb_put_end(j->w);
  if (targets > 0) {
    tb_put_array(j->w, "weights");
    for (int64_t k = 0; k < targets; k++) tb_put_int(j->w, NULL, 0);
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
}

static void put_meshes(Json* j)
{
  const tbDrawing* d = j->d;
  int count = 0, nmesh = (int)d->mesh.count;
  for (int i = 0; i < nmesh * TB_COLORS; i++) j->mesh_number[i] = -1;
  if (d->shape.count + d->skin.count == 0) return;
  tb_put_array(j->w, "meshes");
  for (int i = 0; i < d->nbody; i++) {
    int color = tb_body_color(j->g->world, (tbBodyId){i}), skin = d->body_skin[i];
    for (int s = d->body_shape[i]; s < d->body_shape[i + 1]; s++) {
      int mesh = tb_draw_shapes(d)[s].mesh, *number = &j->mesh_number[mesh * TB_COLORS + color];
      if (*number >= 0) continue;
      *number = count++;
      put_mesh(j, j->mesh_accessor[mesh], tb_draw_meshes(d)[mesh].normal != NULL, j->material[color], 0,
               NULL);
    }
    if (skin < 0) continue;
    j->mesh_number[nmesh * TB_COLORS + skin] = count++;
    put_mesh(j, j->skin_accessor[skin], false, j->material[TB_COLORS + color],
             tb_gltf_morphs(j->g) ? tb_gltf_targets(j->g) : 0, tb_body_name(j->g->world, (tbBodyId){i}));
  }
  tb_put_end(j->w);
}

// Nodes.

static bool in_body_frame(const tbDrawShape* s)
{
  return s->pose.x.x == 0 && s->pose.x.y == 0 && s->pose.x.z == 0 && s->pose.q.w == 1;
}

// Whether the body's only shape is drawn by the body's node itself.
static bool by_itself(const tbDrawing* d, int body)
{
  int shape = d->body_shape[body];
  return d->body_shape[body + 1] == shape + 1 && in_body_frame(&tb_draw_shapes(d)[shape]);
}

static void put_scale(Json* j, tbVec3 s)
{
  if (s.x != 1 || s.y != 1 || s.z != 1) put_float3(j->w, "scale", s);
}

static void put_shape_node(Json* j, int shape, int color)
{
  const tbDrawShape* s = &tb_draw_shapes(j->d)[shape];
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "mesh", j->mesh_number[s->mesh * TB_COLORS + color]);
  put_float3(j->w, "translation", s->pose.x);
  put_rotation(j->w, tb_quat_normalize(s->pose.q));
  put_scale(j, s->scale);
  tb_put_end(j->w);
}

// The pose a body has in the first frame; a fixed one for good.
static tbTransform first_pose(const Json* j, int body, int* moving)
{
  const tbTracks* t = j->g->tracks;
  if (*moving < t->nmoving && t->moving[*moving] == body) {
    const float* p = t->first[(*moving)++];
    return tb_transform(tb_quat(p[3], p[4], p[5], p[6]), tb_vec3(p[0], p[1], p[2]));
  }
  return tb_body_pose(&tb_bodies(j->g->world)[body]);
}

static void put_body_node(Json* j, int body, int* moving, int* next)
{
  const tbDrawing* d = j->d;
  int color = tb_body_color(j->g->world, (tbBodyId){body}), skin = d->body_skin[body];
  tb_put_object(j->w, NULL);
  tb_put_string(j->w, "name", tb_body_name(j->g->world, (tbBodyId){body}));
  if (skin >= 0) {
    tb_put_int(j->w, "mesh", j->mesh_number[(int)d->mesh.count * TB_COLORS + skin]);
    tb_put_end(j->w);
    return;
  }
  tbTransform pose = first_pose(j, body, moving);
  put_float3(j->w, "translation", pose.x);
  put_rotation(j->w, pose.q);
  int first = d->body_shape[body], last = d->body_shape[body + 1];
  if (by_itself(d, body)) {
    const tbDrawShape* s = &tb_draw_shapes(d)[first];
    tb_put_int(j->w, "mesh", j->mesh_number[s->mesh * TB_COLORS + color]);
    put_scale(j, s->scale);
  } else if (last > first) {
    tb_put_array(j->w, "children");
    for (int s = first; s < last; s++) tb_put_int(j->w, NULL, (*next)++);
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
}

// Bodies are nodes 1 … nbody, their shapes follow.
static void put_nodes(Json* j)
{
  static const tbQuat turns[3] = {{0.7071067811865476, 0, 0, 0.7071067811865476},
                                  {1, 0, 0, 0},
                                  {0.7071067811865476, -0.7071067811865476, 0, 0}};
  const tbDrawing* d = j->d;
  int moving = 0, next = 1 + d->nbody;
  tb_put_array(j->w, "nodes");
  tb_put_object(j->w, NULL);
  tb_put_string(j->w, "name", j->g->name);
  put_rotation(j->w, turns[tb_world_up(j->g->world)]);
  if (d->nbody > 0) {
    tb_put_array(j->w, "children");
    for (int i = 0; i < d->nbody; i++) tb_put_int(j->w, NULL, i + 1);
    tb_put_end(j->w);
  }
  tb_put_end(j->w);
  for (int i = 0; i < d->nbody; i++) put_body_node(j, i, &moving, &next);
  for (int i = 0; i < d->nbody; i++) {
    if (by_itself(d, i)) continue;
    for (int s = d->body_shape[i]; s < d->body_shape[i + 1]; s++)
      put_shape_node(j, s, tb_body_color(j->g->world, (tbBodyId){i}));
  }
  tb_put_end(j->w);
}

// The animation: a channel per sampler, in the order of the accessors.

static void put_sampler(Json* j, int input, int output)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "input", input);
  tb_put_int(j->w, "output", output);
  tb_put_string(j->w, "interpolation", "LINEAR");
  tb_put_end(j->w);
}

static void put_channel(Json* j, int sampler, int node, const char* path)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "sampler", sampler);
  tb_put_object(j->w, "target");
  tb_put_int(j->w, "node", node);
  tb_put_string(j->w, "path", path);
  tb_put_end(j->w);
  tb_put_end(j->w);
}

static void put_animation(Json* j)
{
  const tbTracks* t = j->g->tracks;
  bool morphs = tb_gltf_morphs(j->g), any = morphs;
  for (int i = 0; i < t->nmoving; i++) any |= t->shifts[i] || t->turns[i];
  if (!tb_gltf_moves(j->g) || !any) return;
  tb_put_array(j->w, "animations");
  tb_put_object(j->w, NULL);
  tb_put_string(j->w, "name", j->g->name);
  tb_put_array(j->w, "samplers");
  int accessor = j->times + 1 + morphs, sampler = 0;
  for (int i = 0; i < t->nmoving; i++)
    for (int k = t->shifts[i] + t->turns[i]; k > 0; k--) put_sampler(j, j->times, accessor++);
  if (morphs) put_sampler(j, j->key_times, j->weights);
  tb_put_end(j->w);
  tb_put_array(j->w, "channels");
  for (int i = 0; i < t->nmoving; i++) {
    if (t->shifts[i]) put_channel(j, sampler++, 1 + t->moving[i], "translation");
    if (t->turns[i]) put_channel(j, sampler++, 1 + t->moving[i], "rotation");
  }
  for (size_t i = 0; morphs && i < j->d->skin.count; i++)
    put_channel(j, sampler, 1 + tb_draw_skins(j->d)[i].body, "weights");
  tb_put_end(j->w);
  tb_put_end(j->w);
  tb_put_end(j->w);
}

static void put_all(Json* j)
{
  tb_put_object(j->w, NULL);
  tb_put_object(j->w, "asset");
  tb_put_string(j->w, "version", "2.0");
  tb_put_string(j->w, "generator", "tribo " TB_VERSION);
  tb_put_end(j->w);
  tb_put_int(j->w, "scene", 0);
  tb_put_array(j->w, "scenes");
  tb_put_object(j->w, NULL);
  tb_put_array(j->w, "nodes");
  tb_put_int(j->w, NULL, 0);
  tb_put_end(j->w);
  tb_put_end(j->w);
  tb_put_end(j->w);
  put_buffer(j);
  put_accessors(j);
  put_materials(j);
  put_meshes(j);
  put_nodes(j);
  put_animation(j);
  tb_put_end(j->w);
}

tbStatus tb_gltf_json(tbContext* ctx, const tbGltf* g, tbOut* out)
{
  const tbDrawing* d = &g->tracks->drawing;
  tbJsonWriter w = tb_json_writer(out, 0);
  tbArena arena;
  tb_arena_init(&arena, ctx);
  size_t nmesh = d->mesh.count, nskin = d->skin.count;
  Json j = {.g = g,
            .d = d,
            .w = &w,
            .mesh_accessor = TB_TAKE(&arena, int, nmesh),
            .skin_accessor = TB_TAKE(&arena, int, nskin),
            .mesh_number = TB_TAKE(&arena, int, nmesh* TB_COLORS + nskin)};
  for (int i = 0; i < 2 * TB_COLORS; i++) j.material[i] = -1;
  tbStatus status = TB_ERROR_MEMORY;
  if (j.mesh_accessor && j.skin_accessor && j.mesh_number) {
    put_all(&j);
    status = tb_json_writer_finish(&w);
  }
  tb_arena_free(&arena);
  return status;
}
