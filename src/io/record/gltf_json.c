// SPDX-License-Identifier: Apache-2.0
// The JSON of a glTF file.
//
// Node 0 is the world, turned so that what is up points along glTF's y. Below it a node per body; its shapes
// are nodes below that, unless a single one sits in the body's own frame. Meshes are pairs of geometry and
// colour, over accessors they share.
#include "io/record/gltf.h"

#include "scene/world.h"

static void put_float3(tbJsonWriter* w, const char* key, tbVec3 v)
{
  tb_put_numbers(w, key, (double[3]){(float)v.x, (float)v.y, (float)v.z}, 3);
}

static void put_rotation(tbJsonWriter* w, tbQuat q)
{
  tb_put_numbers(w, "rotation", (double[4]){q.x, q.y, q.z, q.w}, 4);
}

// Meshes and materials.

static void put_material(tbGltfJson* j, int color, bool both_sides)
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

static void put_materials(tbGltfJson* j)
{
  int count = 0;
  for (int i = 0; i < j->d->nbody; i++) {
    int both = j->d->body_surface[i] >= 0,
        color = tb_body_color(j->g->world, tb_world_body_at(j->g->world, i));
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

static void put_mesh(tbGltfJson* j, int accessor, bool normals, int material, int64_t targets,
                     const char* name)
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

static void put_meshes(tbGltfJson* j)
{
  const tbDrawing* d = j->d;
  int count = 0, nmesh = (int)d->mesh.count;
  for (int i = 0; i < nmesh * TB_COLORS; i++) j->mesh_number[i] = -1;
  if (d->shape.count + d->surface.count == 0) return;
  tb_put_array(j->w, "meshes");
  for (int i = 0; i < d->nbody; i++) {
    int color = tb_body_color(j->g->world, tb_world_body_at(j->g->world, i)), surface = d->body_surface[i];
    for (int s = d->body_shape[i]; s < d->body_shape[i + 1]; s++) {
      int mesh = tb_draw_shapes(d)[s].mesh, *number = &j->mesh_number[mesh * TB_COLORS + color];
      if (*number >= 0) continue;
      *number = count++;
      put_mesh(j, j->mesh_accessor[mesh], tb_draw_meshes(d)[mesh].normal != NULL, j->material[color], 0,
               NULL);
    }
    if (surface < 0) continue;
    j->mesh_number[nmesh * TB_COLORS + surface] = count++;
    put_mesh(j, j->surface_accessor[surface], false, j->material[TB_COLORS + color],
             tb_gltf_morphs(j->g) ? tb_gltf_targets(j->g) : 0,
             tb_body_name(j->g->world, tb_world_body_at(j->g->world, i)));
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

static void put_scale(tbGltfJson* j, tbVec3 s)
{
  if (s.x != 1 || s.y != 1 || s.z != 1) put_float3(j->w, "scale", s);
}

static void put_shape_node(tbGltfJson* j, int shape, int color)
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
static tbTransform first_pose(const tbGltfJson* j, int body, int* moving)
{
  const tbTracks* t = j->g->tracks;
  if (*moving < t->nmoving && t->moving[*moving] == body) {
    const float* p = t->first[(*moving)++];
    return tb_transform(tb_quat(p[3], p[4], p[5], p[6]), tb_vec3(p[0], p[1], p[2]));
  }
  return tb_body_pose(&tb_bodies(j->g->world)[body]);
}

static void put_body_node(tbGltfJson* j, int body, int* moving, int* next)
{
  const tbDrawing* d = j->d;
  int color = tb_body_color(j->g->world, tb_world_body_at(j->g->world, body)),
      surface = d->body_surface[body];
  tb_put_object(j->w, NULL);
  tb_put_string(j->w, "name", tb_body_name(j->g->world, tb_world_body_at(j->g->world, body)));
  if (surface >= 0) {
    tb_put_int(j->w, "mesh", j->mesh_number[(int)d->mesh.count * TB_COLORS + surface]);
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
static void put_nodes(tbGltfJson* j)
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
      put_shape_node(j, s, tb_body_color(j->g->world, tb_world_body_at(j->g->world, i)));
  }
  tb_put_end(j->w);
}

// The animation: a channel per sampler, in the order of the accessors.

static void put_sampler(tbGltfJson* j, int input, int output)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "input", input);
  tb_put_int(j->w, "output", output);
  tb_put_string(j->w, "interpolation", "LINEAR");
  tb_put_end(j->w);
}

static void put_channel(tbGltfJson* j, int sampler, int node, const char* path)
{
  tb_put_object(j->w, NULL);
  tb_put_int(j->w, "sampler", sampler);
  tb_put_object(j->w, "target");
  tb_put_int(j->w, "node", node);
  tb_put_string(j->w, "path", path);
  tb_put_end(j->w);
  tb_put_end(j->w);
}

static void put_animation(tbGltfJson* j)
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
  for (size_t i = 0; morphs && i < j->d->surface.count; i++)
    put_channel(j, sampler, 1 + tb_draw_surfaces(j->d)[i].body, "weights");
  tb_put_end(j->w);
  tb_put_end(j->w);
  tb_put_end(j->w);
}

static void put_all(tbGltfJson* j)
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
  tb_gltf_put_buffers(j);
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
  size_t nmesh = d->mesh.count, nsurface = d->surface.count;
  tbGltfJson j = {.g = g,
                  .d = d,
                  .w = &w,
                  .mesh_accessor = TB_TAKE(&arena, int, nmesh),
                  .surface_accessor = TB_TAKE(&arena, int, nsurface),
                  .mesh_number = TB_TAKE(&arena, int, nmesh* TB_COLORS + nsurface)};
  for (int i = 0; i < 2 * TB_COLORS; i++) j.material[i] = -1;
  tbStatus status = TB_ERROR_MEMORY;
  if (j.mesh_accessor && j.surface_accessor && j.mesh_number) {
    put_all(&j);
    status = tb_json_writer_finish(&w);
  }
  tb_arena_free(&arena);
  return status;
}
