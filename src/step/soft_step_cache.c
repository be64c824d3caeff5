// SPDX-License-Identifier: Apache-2.0
// What soft-step keeps to save time.
#include "step/soft_step_work.h"

#include "base/memory.h"

static void free_cache(tbContext* ctx, void* data)
{
  tbSoftStepCache* c = data;
  tb_pair_cache_free(ctx, c->pairs);
  tb_array_free(ctx, &c->remembered[0]);
  tb_array_free(ctx, &c->remembered[1]);
  tb_array_free(ctx, &c->shape);
  tb_array_free(ctx, &c->item);
  tb_array_free(ctx, &c->contact);
  tb_array_free(ctx, &c->special);
  tb_array_free(ctx, &c->touching[0]);
  tb_array_free(ctx, &c->touching[1]);
  tb_array_free(ctx, &c->batch);
  tb_free(ctx, c);
}

tbStatus tb_soft_step_cache(tbContext* ctx, tbCache* cache, tbSoftStepCache** out)
{
  if (!cache->soft_step.data) {
    tbSoftStepCache* c = TB_NEW(ctx, tbSoftStepCache, 1);
    if (!c) return TB_ERROR_MEMORY;
    c->steps = -1;
    cache->soft_step = (tbKept){c, free_cache};
  }
  *out = cache->soft_step.data;
  return (*out)->pairs ? TB_OK : tb_pair_cache_create(ctx, &(*out)->pairs);
}

void* tb_soft_step_room(tbContext* ctx, tbArray* array, size_t item, size_t count)
{
  if (array->item != item || array->capacity < count || !array->data) {
    size_t capacity = count + count / 2 + 1; // most of the time of growing goes into pages that are new
    tb_free(ctx, array->data);
    array->data = tb_alloc_unset(ctx, capacity, item);
    array->capacity = array->data ? capacity : 0;
  }
  array->item = item, array->count = 0;
  return array->data;
}
