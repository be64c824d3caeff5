// SPDX-License-Identifier: Apache-2.0
// Reading an object by a list of its fields.
#include "base/json.h"

#include "base/utf8.h"

#include <string.h>

enum { SHOWN = 60, LIST = 200 };

// The keys an object may have, from a list of fields or of plain names.
typedef struct Keys {
  const tbJsonField* fields; // or null
  const char* const* names;
  size_t count;
} Keys;

static const char* key_name(const Keys* keys, size_t i)
{
  return keys->fields ? keys->fields[i].key : keys->names[i];
}

static tbStatus unknown_key(tbContext* ctx, const tbJson* member, const Keys* keys)
{
  const char* key = member->key->text;
  char list[LIST] = "";
  tbNearest near = tb_nearest(key);
  for (size_t i = 0; i < keys->count; i++) {
    tb_nearest_offer(&near, key_name(keys, i));
    tb_list_append(list, sizeof list, key_name(keys, i));
  }
  char hint[LIST + 32] = "";
  if (near.name) snprintf(hint, sizeof hint, "; did you mean \"%s\"?", near.name);
  else if (keys->count) snprintf(hint, sizeof hint, "; valid keys: %s", list);
  return tb_json_fail_at(ctx, member->file, member->key->line, member->key->column, __FILE__, __LINE__,
                         "unknown key \"%.*s\"%s", tb_utf8_clip(key, SHOWN), key, hint);
}

static size_t find_key(const Keys* keys, const char* key)
{
  size_t i = 0;
  while (i < keys->count && strcmp(key_name(keys, i), key) != 0) i++;
  return i;
}

tbStatus tb_json_unknown_key(tbContext* ctx, const tbJson* member, const char* const* names)
{
  Keys keys = {.names = names};
  while (names[keys.count]) keys.count++;
  return unknown_key(ctx, member, &keys);
}

tbStatus tb_json_check_keys(tbContext* ctx, const tbJson* object, const char* const* names)
{
  TB_TRY(tb_json_get_type(ctx, object, TB_JSON_OBJECT));
  Keys keys = {.names = names};
  while (names[keys.count]) keys.count++;
  for (uint32_t i = 0; i < object->count; i++) {
    const tbJson* member = &object->items[i];
    if (member->key->text[0] != '_' && find_key(&keys, member->key->text) == keys.count)
      return unknown_key(ctx, member, &keys);
  }
  return TB_OK;
}

tbStatus tb_json_read_object(tbContext* ctx, const tbJson* node, const tbJsonField* fields, size_t count)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_OBJECT));
  Keys keys = {.fields = fields, .count = count};
  for (uint32_t i = 0; i < node->count; i++) {
    const tbJson* member = &node->items[i];
    size_t k = find_key(&keys, member->key->text);
    if (k < count) TB_TRY(fields[k].get(ctx, member, &fields[k]));
    else if (member->key->text[0] != '_') return unknown_key(ctx, member, &keys);
  }
  const tbJson* member;
  for (size_t k = 0; k < count; k++)
    if (fields[k].required) TB_TRY(tb_json_require(ctx, node, fields[k].key, &member));
  return TB_OK;
}

static tbStatus get_number(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_number(ctx, node, f->range, f->out);
}
static tbStatus get_int(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_int(ctx, node, (int)f->min, (int)f->max, f->out);
}
static tbStatus get_int64(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_int64(ctx, node, f->min, f->max, f->out);
}
static tbStatus get_bool(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_bool(ctx, node, f->out);
}
static tbStatus get_string(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_string(ctx, node, f->out);
}
static tbStatus get_choice(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_choice(ctx, node, f->names, f->out);
}
static tbStatus get_numbers(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  return tb_json_get_numbers(ctx, node, (int)f->min, (int)f->max, f->range, f->out, f->count);
}
static tbStatus get_any(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  (void)ctx;
  *(const tbJson**)f->out = node;
  return TB_OK;
}
static tbStatus get_typed(tbContext* ctx, const tbJson* node, const tbJsonField* f)
{
  TB_TRY(tb_json_get_type(ctx, node, f->type));
  return get_any(ctx, node, f);
}

tbJsonField tb_field_number(const char* key, double* out, tbRange range)
{
  return (tbJsonField){.key = key, .get = get_number, .out = out, .range = range};
}
tbJsonField tb_field_int(const char* key, int* out, int min, int max)
{
  return (tbJsonField){.key = key, .get = get_int, .out = out, .min = min, .max = max};
}
tbJsonField tb_field_int64(const char* key, int64_t* out, int64_t min, int64_t max)
{
  return (tbJsonField){.key = key, .get = get_int64, .out = out, .min = min, .max = max};
}
tbJsonField tb_field_bool(const char* key, bool* out)
{
  return (tbJsonField){.key = key, .get = get_bool, .out = out};
}
tbJsonField tb_field_string(const char* key, const char** out)
{
  return (tbJsonField){.key = key, .get = get_string, .out = out};
}
tbJsonField tb_field_choice(const char* key, int* out, const char* const* names)
{
  return (tbJsonField){.key = key, .get = get_choice, .out = out, .names = names};
}
tbJsonField tb_field_numbers(const char* key, double* out, int count, tbRange range)
{
  return tb_field_numbers_between(key, out, count, count, NULL, range);
}
tbJsonField tb_field_numbers_between(const char* key, double* out, int min_count, int max_count, int* count,
                                     tbRange range)
{
  return (tbJsonField){.key = key,
                       .get = get_numbers,
                       .out = out,
                       .min = min_count,
                       .max = max_count,
                       .count = count,
                       .range = range};
}
tbJsonField tb_field_object(const char* key, const tbJson** out)
{
  return (tbJsonField){.key = key, .get = get_typed, .out = out, .type = TB_JSON_OBJECT};
}
tbJsonField tb_field_array(const char* key, const tbJson** out)
{
  return (tbJsonField){.key = key, .get = get_typed, .out = out, .type = TB_JSON_ARRAY};
}
tbJsonField tb_field_any(const char* key, const tbJson** out)
{
  return (tbJsonField){.key = key, .get = get_any, .out = out};
}
tbJsonField tb_required(tbJsonField field)
{
  field.required = true;
  return field;
}
