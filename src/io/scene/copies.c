// SPDX-License-Identifier: Apache-2.0
// Names and copies of the bodies of scene files, whatever they are made of.
#include "base/random.h"
#include "io/scene/build.h"

#include <string.h>

tbStatus tb_scene_check_name(tbSceneBuild* b, const tbJson* node, const char* name)
{
  const tbJson* place = tb_scene_place(node, "name");
  if (name && !name[0]) return tb_json_fail(b->ctx, place, "a name must not be empty");
  if (name && strcmp(name, "world") == 0)
    return tb_json_fail(b->ctx, place, "\"world\" stands for the world in joints; no body is called so");
  return TB_OK;
}

tbStatus tb_scene_check_taken(tbSceneBuild* b, const tbJson* node, const char* name)
{
  int taken = name ? tb_world_find_body(b->world, name).index : -1;
  if (taken < 0) return TB_OK;
  return tb_json_fail(b->ctx, tb_scene_place(node, "name"), "there is a body \"%.60s\" already, on line %u",
                      name, ((const tbJson**)b->origin.data)[taken]->line);
}

tbStatus tb_scene_count_copies(tbSceneBuild* b, const tbJson* node, const tbSceneRepeat* repeat, int* out)
{
  int have = tb_world_body_count(b->world);
  double wanted = 1;
  for (int i = 0; repeat && i < 3; i++) wanted *= repeat->count[i];
  if (have + wanted > TB_MAX_SCENE_BODIES)
    return tb_json_fail(b->ctx, repeat ? tb_scene_place(repeat->node, "count") : node,
                        "%.0f bodies; a scene has at most %d", have + wanted, TB_MAX_SCENE_BODIES);
  *out = (int)wanted;
  return TB_OK;
}

tbStatus tb_scene_copies_begin(tbSceneBuild* b, const tbSceneRepeat* repeat, const char* name, int ordinal,
                               tbSceneCopies* out)
{
  *out = (tbSceneCopies){.repeat = repeat, .stem = name, .name = name};
  if (!repeat) return TB_OK;
  uint64_t random = (uint64_t)b->file->seed;
  out->random = tb_random_bits(&random) + (uint64_t)ordinal;
  out->size = name ? strlen(name) + 16 : 0;
  out->buffer = TB_TAKE(b->arena, char, out->size);
  return out->buffer ? TB_OK : TB_ERROR_MEMORY;
}

tbVec3 tb_scene_copy(tbSceneCopies* c, int index)
{
  const tbSceneRepeat* r = c->repeat;
  if (!r) return tb_vec3(0, 0, 0);
  if (c->stem) snprintf(c->buffer, c->size, "%s/%d", c->stem, index), c->name = c->buffer;
  int nx = r->count[0], ny = r->count[1];
  double at[3] = {index % nx, index / nx % ny, index / nx / ny};
  for (int i = 0; i < 3; i++) {
    at[i] *= r->spacing[i];
    if (r->jitter > 0) at[i] += tb_random_uniform(&c->random, -r->jitter, r->jitter);
  }
  return tb_load3(at);
}
