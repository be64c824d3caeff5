// SPDX-License-Identifier: Apache-2.0
// A setting is a path into the tree and a value. The nodes on the way are copied, with the value at its end:
// the tree that was read stays as it is.
#include "io/scene/set.h"

#include "base/json_index.h"
#include "base/text.h"

#include <string.h>

typedef struct {
  tbContext* ctx;
  tbArena* arena;
  const char* text;    // of the setting
  const tbJson* value; // its value
} Setting;

// How much of the path a name at this place takes, its dot included; 0: the path goes on otherwise. A name
// may have dots itself.
static size_t matches(const char* path, const char* name)
{
  size_t length = strlen(name);
  if (length == 0 || strncmp(path, name, length) != 0) return 0;
  return path[length] == '.' ? length + 1 : path[length] == '=' ? length : 0;
}

// What an item of an object or array is called: its key, its name, or by_number its place; `*` is every one.
static size_t takes(const tbJson* parent, uint32_t i, bool by_number, const char* path)
{
  const tbJson* item = &parent->items[i];
  char number[16];
  size_t all = matches(path, "*");
  if (all) return all;
  if (parent->type == TB_JSON_OBJECT) return matches(path, item->key->text);
  snprintf(number, sizeof number, "%u", i);
  if (by_number) return matches(path, number);
  const tbJson* name = tb_json_find(item, "name");
  return name && name->type == TB_JSON_STRING ? matches(path, name->string) : 0;
}

static size_t longest(const tbJson* parent, bool by_number, const char* path)
{
  size_t most = 0;
  for (uint32_t i = 0; i < parent->count; i++) {
    size_t taken = takes(parent, i, by_number, path);
    most = taken > most ? taken : most;
  }
  return most;
}

static tbStatus nowhere(const Setting* s, const tbJson* node, const char* path)
{
  const char* equals = strchr(s->text, '=');
  size_t length = strcspn(path, ".=");
  int here = path > s->text ? (int)(path - s->text - 1) : 0;
  const char* what = node->type == TB_JSON_OBJECT  ? "has no such key"
                     : node->type == TB_JSON_ARRAY ? "has no element of that name or number"
                                                   : "has no parts";
  if (here == 0)
    return tb_fail(s->ctx, TB_ERROR_INPUT, "%.*s: the scene has no \"%.*s\"", (int)(equals - s->text),
                   s->text, (int)length, path);
  return tb_fail(s->ctx, TB_ERROR_INPUT, "%.*s: \"%.*s\" %s: \"%.*s\"", (int)(equals - s->text), s->text,
                 here, s->text, what, (int)length, path);
}

// An object with one more member.
static tbStatus add_member(Setting* s, const tbJson* node, const char* path, tbJson* out)
{
  size_t length = strcspn(path, "="), count = (size_t)node->count + 1;
  tbJsonKey* key = tb_arena_take(s->arena, 1, sizeof *key + length + 1);
  tbJson* items = tb_arena_take(s->arena, 1, count * sizeof *items + tb_json_index_bytes(count));
  if (!key || !items) return TB_ERROR_MEMORY;
  *key = (tbJsonKey){s->value->line, s->value->column};
  memcpy(key->text, path, length);
  key->text[length] = 0;
  if (node->count) memcpy(items, node->items, node->count * sizeof *items);
  items[node->count] = *s->value;
  items[node->count].key = key;
  *out = *node;
  out->items = items, out->count = (uint32_t)count;
  const tbJson *again, *before;
  return tb_json_index_keys(s->ctx, out, items + count, &again, &before);
}

static tbStatus put(Setting* s, const tbJson* node, const char* path, tbJson* out);

// The items of an object or array, those on the path with the value in them.
static tbStatus put_below(Setting* s, const tbJson* node, const char* path, tbJson* out, bool* any)
{
  size_t taken = longest(node, false, path);
  bool by_number = taken == 0 && node->type == TB_JSON_ARRAY;
  if (by_number) taken = longest(node, true, path);
  *any = taken > 0;
  if (!*any) return TB_OK;
  size_t index = node->type == TB_JSON_OBJECT ? tb_json_index_bytes(node->count) : 0;
  size_t bytes = node->count * sizeof(tbJson) + index;
  tbJson* items = tb_arena_take(s->arena, 1, bytes);
  if (!items) return TB_ERROR_MEMORY;
  memcpy(items, node->items, bytes);
  for (uint32_t i = 0; i < node->count; i++)
    if (takes(node, i, by_number, path) == taken) TB_TRY(put(s, &node->items[i], path + taken, &items[i]));
  *out = *node;
  out->items = items;
  return TB_OK;
}

static tbStatus put(Setting* s, const tbJson* node, const char* path, tbJson* out)
{
  if (*path == '=') {
    *out = *s->value;
    out->key = node->key;
    return TB_OK;
  }
  bool any = false;
  if (node->type == TB_JSON_OBJECT || node->type == TB_JSON_ARRAY)
    TB_TRY(put_below(s, node, path, out, &any));
  if (any) return TB_OK;
  bool last = path[strcspn(path, ".=")] == '=' && *path != '=' && *path != '*';
  if (node->type == TB_JSON_OBJECT && last) return add_member(s, node, path, out);
  return nowhere(s, node, path);
}

// JSON; a word that is none stands for itself.
static tbStatus read_value(Setting* s, const char* text)
{
  tbContext quiet = *s->ctx;
  const tbJson* value;
  tbStatus status = tb_json_parse(&quiet, s->arena, s->text, text, strlen(text), &value);
  if (status == TB_OK) s->value = value;
  if (status != TB_ERROR_INPUT) return status;
  bool word = *text && !strpbrk(text, "[]{}\",:") && !strchr("-+.0123456789", *text);
  if (!word) {
    s->ctx->error = quiet.error;
    return status;
  }
  tbJson* made = tb_arena_take(s->arena, 1, sizeof *made);
  char* copy = tb_arena_take(s->arena, 1, strlen(text) + 1);
  char* name = tb_arena_take(s->arena, 1, strlen(s->text) + 1);
  if (!made || !copy || !name) return TB_ERROR_MEMORY;
  *made = (tbJson){.string = strcpy(copy, text),
                   .file = strcpy(name, s->text),
                   .line = 1,
                   .column = 1,
                   .count = (uint32_t)strlen(text),
                   .type = TB_JSON_STRING};
  s->value = made;
  return TB_OK;
}

static tbStatus set_one(tbContext* ctx, tbArena* arena, const char* text, const tbJson** root)
{
  const char* equals = strchr(text, '=');
  Setting s = {.ctx = ctx, .arena = arena, .text = text};
  if (!equals || equals == text)
    return tb_fail(ctx, TB_ERROR_INPUT, "a setting is KEY=VALUE, not \"%.60s\"", text);
  TB_TRY(read_value(&s, equals + 1));
  tbJson* made = tb_arena_take(arena, 1, sizeof *made);
  if (!made) return TB_ERROR_MEMORY;
  TB_TRY(put(&s, *root, text, made));
  *root = made;
  return TB_OK;
}

tbStatus tb_scene_set(tbContext* ctx, tbArena* arena, tbSceneSettings settings, const tbJson** root)
{
  for (int i = 0; i < settings.count; i++) TB_TRY(set_one(ctx, arena, settings.at[i], root));
  return TB_OK;
}
