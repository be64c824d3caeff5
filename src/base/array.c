// SPDX-License-Identifier: Apache-2.0
#include "base/array.h"

#include "base/memory.h"

#include <string.h>

tbStatus tb_array_push(tbContext* ctx, tbArray* a, const void* values, size_t count)
{
  if (count == 0) return TB_OK;
  if (a->capacity - a->count < count) {
    size_t wanted = a->count + count;
    if (wanted < a->count) return tb_fail(ctx, TB_ERROR_MEMORY, "an array of too many values");
    size_t capacity = a->capacity * 2 > wanted ? a->capacity * 2 : wanted + 8;
    void* data = tb_alloc_unset(ctx, capacity, a->item); // what is appended is written then
    if (!data) return TB_ERROR_MEMORY;
    if (a->count) memcpy(data, a->data, a->count * a->item);
    tb_free(ctx, a->data);
    a->data = data;
    a->capacity = capacity;
  }
  char* end = (char*)a->data + a->count * a->item;
  if (values) memcpy(end, values, count * a->item);
  else memset(end, 0, count * a->item);
  a->count += count;
  return TB_OK;
}

void tb_array_free(tbContext* ctx, tbArray* a)
{
  tb_free(ctx, a->data);
  *a = (tbArray){.item = a->item};
}
