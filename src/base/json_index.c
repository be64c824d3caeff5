// SPDX-License-Identifier: Apache-2.0
#include "base/json_index.h"

#include <string.h>

enum { FEW = 16 };

size_t tb_json_index_bytes(size_t count) { return count > FEW ? count * sizeof(uint32_t) : 0; }

// Bottom-up merge sort: stable, so that of equal keys the earlier member stays first; n log n for any input.
static void sort_by_key(const tbJson* items, uint32_t* order, uint32_t* other, size_t count)
{
  uint32_t *from = order, *to = other;
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      size_t middle = low + width < count ? low + width : count;
      size_t high = low + 2 * width < count ? low + 2 * width : count;
      for (size_t i = low, j = middle, k = low; k < high; k++) {
        bool left =
            j == high || (i < middle && strcmp(items[from[i]].key->text, items[from[j]].key->text) <= 0);
        to[k] = left ? from[i++] : from[j++];
      }
    }
    uint32_t* swap = from;
    from = to;
    to = swap;
  }
  if (from != order) memcpy(order, from, count * sizeof *order);
}

static void find_repeat_among_few(const tbJson* object, const tbJson** again, const tbJson** before)
{
  const tbJson* items = object->items;
  for (uint32_t i = 1; i < object->count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(items[i].key->text, items[j].key->text) == 0) {
        *again = items + i;
        *before = items + j;
        return;
      }
}

tbStatus tb_json_index_keys(tbContext* ctx, const tbJson* object, void* index, const tbJson** again,
                            const tbJson** before)
{
  *again = *before = NULL;
  if (object->count <= FEW) {
    find_repeat_among_few(object, again, before);
    return TB_OK;
  }
  uint32_t *order = index, *other = TB_NEW(ctx, uint32_t, object->count);
  if (!other) return TB_ERROR_MEMORY;
  for (uint32_t i = 0; i < object->count; i++) order[i] = i;
  sort_by_key(object->items, order, other, object->count);
  tb_free(ctx, other);

  const tbJson* items = object->items;
  for (uint32_t i = 1, first = 0; i < object->count; i++) {
    if (strcmp(items[order[i]].key->text, items[order[first]].key->text) != 0) {
      first = i;
    } else if (!*again || items + order[i] < *again) {
      *again = items + order[i];
      *before = items + order[first];
    }
  }
  return TB_OK;
}

const tbJson* tb_json_find(const tbJson* object, const char* key)
{
  if (object->type != TB_JSON_OBJECT) return NULL;
  const tbJson* items = object->items;
  if (object->count <= FEW) {
    for (uint32_t i = 0; i < object->count; i++)
      if (strcmp(items[i].key->text, key) == 0) return items + i;
    return NULL;
  }
  const uint32_t* order = (const uint32_t*)(const void*)(items + object->count);
  uint32_t low = 0, high = object->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int sign = strcmp(key, items[order[middle]].key->text);
    if (sign == 0) return items + order[middle];
    if (sign < 0) high = middle;
    else low = middle + 1;
  }
  return NULL;
}
