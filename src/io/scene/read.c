// SPDX-License-Identifier: Apache-2.0
// Reads objects by the table of the format, into plain structs.
#include "io/scene/errors.h"
#include "io/scene/format.h"

#include <limits.h>
#include <string.h>

enum { MAX_NAMES = 64 };

static void* member(void* record, size_t at) { return (char*)record + at; }

void tb_record_init(const tbRecord* r, void* out)
{
  memset(out, 0, r->size);
  if (r->init) r->init(out);
  for (int i = 0; i < r->key_count; i++)
    if (r->keys[i].kind == TB_KEY_PART) tb_record_init(r->keys[i].record, member(out, r->keys[i].at));
}

// ---- values ----

static bool is_spread(const tbJson* node, const tbKey* key)
{
  return key->spread && node->type == TB_JSON_NUMBER;
}

static tbStatus read_numbers(tbContext* ctx, const tbJson* node, const tbKey* key, double* out, int* count)
{
  if (!is_spread(node, key))
    return tb_json_get_numbers(ctx, node, key->min, key->max, key->range, out, count);
  double x;
  TB_TRY(tb_json_get_number(ctx, node, key->range, &x));
  for (int i = 0; i < key->max; i++) out[i] = x;
  if (count) *count = key->max;
  return TB_OK;
}

static tbStatus read_int(tbContext* ctx, const tbJson* node, const tbKey* key, int* out)
{
  return tb_json_get_int(ctx, node, (int)key->range.min, (int)key->range.max, out);
}

static tbStatus read_ints(tbContext* ctx, const tbJson* node, const tbKey* key, int* out)
{
  bool spread = is_spread(node, key);
  if (!spread) TB_TRY(tb_json_get_type(ctx, node, TB_JSON_ARRAY));
  if (!spread && node->count != (uint32_t)key->max)
    return tb_json_fail(ctx, node, "expected %d whole numbers for \"%s\", found %u", key->max, key->name,
                        node->count);
  for (int i = 0; i < key->max; i++) TB_TRY(read_int(ctx, spread ? node : &node->items[i], key, &out[i]));
  return TB_OK;
}

static tbStatus read_indices(tbContext* ctx, tbArena* arena, const tbJson* node, const tbKey* key,
                             tbSceneIndices* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_ARRAY));
  if (node->count < (uint32_t)key->min || node->count > (uint32_t)key->max)
    return tb_json_fail(ctx, node, "expected %d to %d whole numbers for \"%s\", found %u", key->min, key->max,
                        key->name, node->count);
  int* index = TB_TAKE(arena, int, node->count);
  if (!index) return TB_ERROR_MEMORY;
  for (uint32_t i = 0; i < node->count; i++) TB_TRY(read_int(ctx, &node->items[i], key, &index[i]));
  *out = (tbSceneIndices){index, (int)node->count};
  return TB_OK;
}

static tbStatus read_points(tbContext* ctx, tbArena* arena, const tbJson* node, const tbKey* key,
                            tbScenePoints* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_ARRAY));
  if (node->count < (uint32_t)key->min || node->count > (uint32_t)key->max)
    return tb_json_fail(ctx, node, "expected %d to %d points for \"%s\", found %u", key->min, key->max,
                        key->name, node->count);
  double(*xyz)[3] = tb_arena_take(arena, node->count, sizeof *xyz);
  if (!xyz) return TB_ERROR_MEMORY;
  for (uint32_t i = 0; i < node->count; i++)
    TB_TRY(tb_json_get_numbers(ctx, &node->items[i], 3, 3, key->range, xyz[i], NULL));
  *out = (tbScenePoints){xyz, (int)node->count};
  return TB_OK;
}

static tbStatus read_number(tbContext* ctx, const tbJson* node, const tbKey* key, double* out)
{
  TB_TRY(tb_json_get_number(ctx, node, key->range, out));
  if (key->scale != 0) *out *= key->scale;
  return TB_OK;
}

static tbStatus read_choice(tbContext* ctx, const tbJson* node, const char* (*choice)(int), int* out)
{
  const char* names[MAX_NAMES + 1] = {NULL};
  for (int i = 0; i < MAX_NAMES && choice(i); i++) names[i] = choice(i);
  return tb_json_get_choice(ctx, node, names, out);
}

static tbStatus read_name(tbContext* ctx, const tbJson* node, const char* (*choice)(int), const char** out)
{
  int index;
  TB_TRY(read_choice(ctx, node, choice, &index));
  *out = choice(index);
  return TB_OK;
}

static tbStatus read_matrix(tbContext* ctx, const tbJson* node, const tbKey* key, double* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_ARRAY));
  if (node->count != (uint32_t)key->max)
    return tb_json_fail(ctx, node, "expected %d rows in \"%s\", found %u", key->max, key->name, node->count);
  for (int i = 0, count; i < key->max; i++)
    TB_TRY(tb_json_get_numbers(ctx, &node->items[i], key->max, key->max, key->range, out + i * key->max,
                               &count));
  return TB_OK;
}

static tbStatus read_tag(tbContext* ctx, const tbJson* node, const tbRecord* r, int* out)
{
  const char* names[MAX_NAMES + 1] = {NULL};
  for (int i = 0; i < r->variant_count && i < MAX_NAMES; i++) names[i] = r->variants[i].name;
  TB_TRY(tb_json_get_choice(ctx, node, names, out));
  if (!r->variants[*out].keys)
    return tb_json_fail(ctx, node, "%s \"%s\" is not supported yet", r->name, r->variants[*out].name);
  return TB_OK;
}

// A record of a list that has an error in it is marked, and so left out of the world.
static tbStatus read_item(const tbRecordReader* in, const tbRecord* r, const tbJson* node, void* out)
{
  size_t before = tb_scene_errors_count(in->errors), in_lists = in->errors ? in->errors->in_lists : 0;
  TB_TRY(tb_scene_errors_note(in->ctx, in->errors, tb_record_read(in, r, node, out)));
  size_t found = tb_scene_errors_count(in->errors) - before;
  if (!found) return TB_OK;
  in->errors->in_lists = in_lists + found; // those of lists within it counted once
  return tb_scene_errors_mark(in->ctx, in->errors, node);
}

static tbStatus read_list(const tbRecordReader* in, const tbJson* node, const tbKey* key, tbSceneList* out)
{
  const tbRecord* r = key->record;
  TB_TRY(tb_json_get_type(in->ctx, node, key->kind == TB_KEY_NAMED ? TB_JSON_OBJECT : TB_JSON_ARRAY));
  if (node->count > INT_MAX) return tb_json_fail(in->ctx, node, "too many values for \"%s\"", key->name);
  char* items = tb_arena_take(in->arena, node->count, r->size);
  if (!items) return TB_ERROR_MEMORY;
  int count = 0;
  for (uint32_t i = 0; i < node->count; i++) {
    if (key->kind == TB_KEY_NAMED && node->items[i].key->text[0] == '_') continue;
    TB_TRY(read_item(in, r, &node->items[i], items + (size_t)count++ * r->size));
  }
  *out = (tbSceneList){items, count};
  return TB_OK;
}

static tbStatus read_value(const tbRecordReader* in, const tbJson* node, const tbRecord* r, const tbKey* key,
                           void* record)
{
  tbContext* ctx = in->ctx;
  tbArena* arena = in->arena;
  void* out = member(record, key->at);
  switch (key->kind) {
  case TB_KEY_NUMBER: return read_number(ctx, node, key, out);
  case TB_KEY_INT: return read_int(ctx, node, key, out);
  case TB_KEY_INT64:
    return tb_json_get_int64(ctx, node, (int64_t)key->range.min, (int64_t)key->range.max, out);
  case TB_KEY_BOOL: return tb_json_get_bool(ctx, node, out);
  case TB_KEY_STRING: return tb_json_get_string(ctx, node, out);
  case TB_KEY_CHOICE: return read_choice(ctx, node, key->choice, out);
  case TB_KEY_NAME: return read_name(ctx, node, key->choice, out);
  case TB_KEY_TAG: return read_tag(ctx, node, r, out);
  case TB_KEY_NUMBERS:
    return read_numbers(ctx, node, key, out, key->count_at ? member(record, key->count_at) : NULL);
  case TB_KEY_INTS: return read_ints(ctx, node, key, out);
  case TB_KEY_INDICES: return read_indices(ctx, arena, node, key, out);
  case TB_KEY_POINTS: return read_points(ctx, arena, node, key, out);
  case TB_KEY_MATRIX: return read_matrix(ctx, node, key, out);
  case TB_KEY_RECORD: {
    void* part = tb_arena_take(arena, 1, key->record->size);
    if (!part) return TB_ERROR_MEMORY;
    *(void**)out = part;
    return tb_record_read(in, key->record, node, part);
  }
  case TB_KEY_PART: return tb_record_read(in, key->record, node, out);
  case TB_KEY_RECORDS:
  case TB_KEY_NAMED: return read_list(in, node, key, out);
  }
  return TB_OK;
}

// ---- objects ----

static bool find_in(const tbRecord* r, const char* name, tbKey* out)
{
  for (int i = 0; i < tb_record_key_count(r); i++) {
    *out = tb_record_key(r, i);
    if (strcmp(out->name, name) == 0) return true;
  }
  return false;
}

static bool find_key(const tbRecord* r, const tbRecord* variant, const char* name, tbKey* out)
{
  return find_in(r, name, out) || (variant && find_in(variant, name, out));
}

// The first variant among those that know most of the object's keys.
static int likely_variant(const tbRecord* r, const tbJson* node)
{
  int best = 0, best_known = -1;
  for (int v = 0; v < r->variant_count; v++) {
    int known = 0;
    tbKey key;
    if (r->variants[v].by_tag) continue;
    for (uint32_t i = 0; i < node->count; i++)
      known += find_in(&r->variants[v], node->items[i].key->text, &key);
    if (known > best_known) best = v, best_known = known;
  }
  return best;
}

static tbStatus pick_variant(tbContext* ctx, const tbRecord* r, const tbJson* node, void* out,
                             const tbRecord** variant)
{
  if (!r->variant_count) return TB_OK;
  const tbKey* tag = &r->keys[0];
  const tbJson* given = tb_json_find(node, tag->name);
  int* index = member(out, tag->at);
  if (given) TB_TRY(read_tag(ctx, given, r, index));
  else if (tag->required) TB_TRY(tb_json_require(ctx, node, tag->name, &given));
  else *index = likely_variant(r, node);
  *variant = &r->variants[*index];
  return TB_OK;
}

static int offer(const tbRecord* r, const char** names, int count)
{
  for (int i = 0; i < tb_record_key_count(r) && count < MAX_NAMES; i++)
    names[count++] = tb_record_key(r, i).name;
  return count;
}

// Where no tag says which variant was meant, the keys of all are near.
static tbStatus unknown_key(tbContext* ctx, const tbJson* node, const tbJson* value, const tbRecord* r,
                            const tbRecord* variant)
{
  const char* names[MAX_NAMES + 1] = {NULL};
  int count = offer(r, names, 0);
  if (variant) count = offer(variant, names, count);
  tbNearest near = tb_nearest(value->key->text);
  for (int v = 0; v < r->variant_count && !tb_json_find(node, r->keys[0].name); v++)
    for (int i = 0; i < r->variants[v].key_count; i++) tb_nearest_offer(&near, r->variants[v].keys[i].name);
  if (near.name && near.distance == 0)
    return tb_json_fail_at(ctx, value->file, value->key->line, value->key->column, __FILE__, __LINE__,
                           "the key \"%s\" does not go with the others of this %s", near.name, r->name);
  if (near.name && count < MAX_NAMES) names[count++] = near.name;
  return tb_json_unknown_key(ctx, value, names);
}

// Whether a key that the record does not know may be meant for this one: the object then has one error, not
// two.
static bool misspelt(const tbJson* node, const tbRecord* r, const tbRecord* variant, const char* key)
{
  for (uint32_t i = 0; i < node->count; i++) {
    tbNearest near = tb_nearest(node->items[i].key->text);
    tbKey known;
    tb_nearest_offer(&near, key);
    if (near.name && !find_key(r, variant, node->items[i].key->text, &known)) return true;
  }
  return false;
}

static tbStatus check_required(const tbRecordReader* in, const tbJson* node, const tbRecord* r,
                               const tbRecord* variant)
{
  const tbRecord* of = variant ? variant : r;
  const tbJson* found;
  for (int i = 0; i < of->key_count; i++)
    if (of->keys[i].required && !tb_json_find(node, of->keys[i].name) &&
        !misspelt(node, r, variant, of->keys[i].name))
      TB_TRY(tb_scene_errors_note(in->ctx, in->errors,
                                  tb_json_require(in->ctx, node, of->keys[i].name, &found)));
  return TB_OK;
}

// A bare value where an object could stand: {"friction": 0.3}.
static tbStatus read_bare(const tbRecordReader* in, const tbJson* node, const tbRecord* r, void* out)
{
  const tbRecord* variant = r->variant_count ? &r->variants[0] : NULL;
  tbKey key = {0};
  find_key(r, variant, r->bare, &key);
  bool number = key.kind == TB_KEY_NUMBER;
  if (node->type != (number ? TB_JSON_NUMBER : TB_JSON_STRING))
    return tb_json_fail(in->ctx, node, "expected %s or an object for \"%s\"", number ? "a number" : "a name",
                        node->key ? node->key->text : r->name);
  return read_value(in, node, r, &key, out);
}

tbStatus tb_record_read(const tbRecordReader* in, const tbRecord* r, const tbJson* node, void* out)
{
  tbContext* ctx = in->ctx;
  tb_record_init(r, out);
  *(const tbJson**)out = node;
  if (r->bare && node->type != TB_JSON_OBJECT) return read_bare(in, node, r, out);
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_OBJECT));
  const tbRecord* variant = NULL;
  TB_TRY(pick_variant(ctx, r, node, out, &variant)); // which keys there may be depends on it
  for (uint32_t i = 0; i < node->count; i++) {
    const tbJson* value = &node->items[i];
    tbKey key;
    tbStatus status = TB_OK;
    if (find_key(r, variant, value->key->text, &key)) status = read_value(in, value, r, &key, out);
    else if (value->key->text[0] != '_') status = unknown_key(ctx, node, value, r, variant);
    TB_TRY(tb_scene_errors_note(ctx, in->errors, status));
  }
  TB_TRY(check_required(in, node, r, NULL));
  return variant ? check_required(in, node, r, variant) : TB_OK;
}
