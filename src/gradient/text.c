// SPDX-License-Identifier: Apache-2.0
// A scene file with other numbers in some of its places: the tree written as it is, but for the slots.
#include "gradient/objective.h"

#include <string.h>

typedef struct {
  const tbObjective* o;
  const double* values;
  tbJsonWriter* w;
} Writer;

static void put_slot(const Writer* w, int index)
{
  tbSlot slot = ((const tbSlot*)w->o->slot.data)[index];
  for (size_t i = 0; i < w->o->address.count; i++) {
    const tbAddress* a = &tb_addresses(w->o)[i];
    if (a->slot != index) continue;
    int first = a->element < 0 ? 0 : a->element;
    for (int k = 0; k < a->face.count; k++) slot.value[first + k] = w->values[a->face.first + k];
  }
  if (slot.scalar) tb_put_number(w->w, slot.key, slot.value[0]);
  else tb_put_numbers(w->w, slot.key, slot.value, (size_t)slot.count);
}

static int slot_of(const tbObjective* o, const tbJson* node)
{
  const tbSlot* slot = o->slot.data;
  for (size_t i = 0; i < o->slot.count; i++)
    if (slot[i].node == node) return (int)i;
  return -1;
}

// A mass that is added takes the place of a density.
static bool is_replaced(const tbObjective* o, const tbJson* parent, const tbJson* node)
{
  const tbSlot* slot = o->slot.data;
  for (size_t i = 0; i < o->slot.count; i++)
    if (slot[i].parent == parent && !slot[i].node && strcmp(slot[i].key, "mass") == 0)
      return node->key && strcmp(node->key->text, "density") == 0;
  return false;
}

static bool holds_slot(const tbObjective* o, const tbJson* node)
{
  const tbSlot* slot = o->slot.data;
  for (size_t i = 0; i < o->slot.count; i++)
    if (slot[i].parent == node || slot[i].node == node) return true;
  bool any = false;
  if (node->type == TB_JSON_ARRAY || node->type == TB_JSON_OBJECT)
    for (uint32_t i = 0; i < node->count && !any; i++) any = holds_slot(o, &node->items[i]);
  return any;
}

static void put(const Writer* w, const tbJson* node, const char* key)
{
  int slot = slot_of(w->o, node);
  if (slot >= 0) {
    put_slot(w, slot);
    return;
  }
  if (!holds_slot(w->o, node)) {
    tb_put_tree(w->w, key, node);
    return;
  }
  bool object = node->type == TB_JSON_OBJECT;
  if (object) tb_put_object(w->w, key);
  else tb_put_array(w->w, key);
  for (uint32_t i = 0; i < node->count; i++)
    if (!is_replaced(w->o, node, &node->items[i]))
      put(w, &node->items[i], object ? node->items[i].key->text : NULL);
  const tbSlot* slots = w->o->slot.data;
  for (size_t i = 0; i < w->o->slot.count; i++)
    if (slots[i].parent == node && !slots[i].node) put_slot(w, (int)i);
  tb_put_end(w->w);
}

tbStatus tb_objective_write(const tbObjective* o, const double* values, tbJsonWriter* writer)
{
  put(&(Writer){o, values, writer}, o->root, NULL);
  return tb_json_writer_finish(writer);
}
