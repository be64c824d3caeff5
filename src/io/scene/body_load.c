// SPDX-License-Identifier: Apache-2.0
#include "io/scene/build.h"

tbStatus tb_scene_take_load(tbSceneBuild* b, const tbSceneLoad* s, tbBodyId body)
{
  if (!s) return TB_OK;
  const tbSceneLoadKey* key = s->keys.items;
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "keys", "force"));
  TB_TRY(tb_scene_exclude(b->ctx, s->node, "keys", "torque"));
  if (tb_scene_given(s->node, "keys") && s->keys.count == 0)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "keys"), "\"keys\" must not be empty");
  int count = s->keys.count > 0 ? s->keys.count : 1;
  tbLoadKey* load = TB_TAKE(b->arena, tbLoadKey, (size_t)count);
  if (!load) return TB_ERROR_MEMORY;
  load[0] = (tbLoadKey){0, tb_load3(s->force), tb_load3(s->torque)};
  for (int i = 0; i < s->keys.count; i++) {
    if (i > 0 && !(key[i].t > key[i - 1].t))
      return tb_json_fail(b->ctx, tb_scene_place(key[i].node, "t"), "the times of keys must increase");
    load[i] = (tbLoadKey){key[i].t, tb_load3(key[i].force), tb_load3(key[i].torque)};
  }
  return tb_scene_placed(b->ctx, s->node, tb_body_set_load(b->ctx, b->world, body, load, count));
}
