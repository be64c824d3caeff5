// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of the scene format (draft 2020-12), written from the format's table.
//
// Each record is a definition; its defaults are what `init` puts into its struct. A record with variants is a
// choice of objects, told apart by their tag. What a schema cannot say (names that must exist, keys that
// exclude each other, times that increase) is left to `tribo check`.
#include "io/scene/schema.h"

#include "base/json_write.h"

#include <math.h>
#include <string.h>

// ---- values ----

static void put_range(tbJsonWriter* w, tbRange range)
{
  if (isfinite(range.min)) tb_put_number(w, range.above ? "exclusiveMinimum" : "minimum", range.min);
  if (isfinite(range.max)) tb_put_number(w, "maximum", range.max);
}

static void put_item(tbJsonWriter* w, const char* key, const char* type, tbRange range)
{
  tb_put_object(w, key);
  tb_put_string(w, "type", type);
  put_range(w, range);
  tb_put_end(w);
}

static void put_array(tbJsonWriter* w, int min, int max)
{
  tb_put_string(w, "type", "array");
  tb_put_int(w, "minItems", min);
  tb_put_int(w, "maxItems", max);
}

// An array of numbers, or one number that stands for all of them.
static void put_numbers(tbJsonWriter* w, const tbKey* key)
{
  const char* type = key->kind == TB_KEY_NUMBERS ? "number" : "integer";
  if (key->spread) {
    tb_put_array(w, "anyOf");
    put_item(w, NULL, type, key->range);
    tb_put_object(w, NULL);
  }
  put_array(w, key->min, key->max);
  put_item(w, "items", type, key->range);
  if (key->spread) {
    tb_put_end(w);
    tb_put_end(w);
  }
}

static void put_ref(tbJsonWriter* w, const tbRecord* r)
{
  char ref[64];
  snprintf(ref, sizeof ref, "#/$defs/%s", r->name);
  tb_put_string(w, "$ref", ref);
}

static void put_default(tbJsonWriter* w, const tbKey* key, const void* record)
{
  const void* at = (const char*)record + key->at;
  switch (key->kind) {
  case TB_KEY_NUMBER:
    tb_put_number(w, "default", *(const double*)at / (key->scale != 0 ? key->scale : 1));
    break;
  case TB_KEY_INT: tb_put_int(w, "default", *(const int*)at); break;
  case TB_KEY_INT64: tb_put_int(w, "default", *(const int64_t*)at); break;
  case TB_KEY_BOOL: tb_put_bool(w, "default", *(const bool*)at); break;
  case TB_KEY_CHOICE: tb_put_string(w, "default", key->choice(*(const int*)at)); break;
  case TB_KEY_NAME: tb_put_string(w, "default", *(const char* const*)at); break;
  case TB_KEY_NUMBERS: tb_put_numbers(w, "default", at, (size_t)key->max); break;
  default: break;
  }
}

static void put_type(tbJsonWriter* w, const tbKey* key)
{
  switch (key->kind) {
  case TB_KEY_NUMBER:
    tb_put_string(w, "type", "number");
    put_range(w, key->range);
    break;
  case TB_KEY_INT:
  case TB_KEY_INT64:
    tb_put_string(w, "type", "integer");
    put_range(w, key->range);
    break;
  case TB_KEY_BOOL: tb_put_string(w, "type", "boolean"); break;
  case TB_KEY_STRING:
  case TB_KEY_TAG: tb_put_string(w, "type", "string"); break;
  case TB_KEY_CHOICE:
  case TB_KEY_NAME:
    tb_put_array(w, "enum");
    for (int i = 0; key->choice(i); i++) tb_put_string(w, NULL, key->choice(i));
    tb_put_end(w);
    break;
  case TB_KEY_NUMBERS:
  case TB_KEY_INTS:
  case TB_KEY_INDICES: put_numbers(w, key); break;
  case TB_KEY_POINTS:
  case TB_KEY_MATRIX:
    put_array(w, key->min, key->max);
    tb_put_object(w, "items");
    if (key->kind == TB_KEY_MATRIX) put_array(w, key->max, key->max);
    else put_array(w, 3, 3);
    put_item(w, "items", "number", key->range);
    tb_put_end(w);
    break;
  case TB_KEY_RECORD:
  case TB_KEY_PART: put_ref(w, key->record); break;
  case TB_KEY_RECORDS:
    tb_put_string(w, "type", "array");
    tb_put_object(w, "items");
    put_ref(w, key->record);
    tb_put_end(w);
    break;
  case TB_KEY_NAMED:
    tb_put_string(w, "type", "object");
    tb_put_object(w, "patternProperties");
    tb_put_bool(w, "^_", true);
    tb_put_end(w);
    tb_put_object(w, "additionalProperties");
    put_ref(w, key->record);
    tb_put_end(w);
    break;
  }
}

static void put_key(tbJsonWriter* w, const char* name, const tbKey* key, const void* defaults)
{
  tb_put_object(w, name);
  put_type(w, key);
  if (key->shown) put_default(w, key, defaults);
  char text[400];
  snprintf(text, sizeof text, "%s%s%s%s", key->text, key->unit ? " (" : "", key->unit ? key->unit : "",
           key->unit ? ")" : "");
  tb_put_string(w, "description", text);
  tb_put_end(w);
}

// ---- records ----

static void put_tag(tbJsonWriter* w, const tbKey* key, const tbRecord* variant)
{
  tb_put_object(w, key->name);
  tb_put_string(w, "const", variant->name);
  tb_put_end(w);
}

static void put_required(tbJsonWriter* w, const tbRecord* r)
{
  for (int i = 0; i < r->key_count; i++)
    if (r->keys[i].required) tb_put_string(w, NULL, r->keys[i].name);
}

// The members of an object's schema: a record's own keys and those of one of its variants.
static void put_members(tbJsonWriter* w, const tbRecord* r, const tbRecord* variant, const void* defaults)
{
  tb_put_string(w, "type", "object");
  tb_put_string(w, "description", variant ? variant->text : r->text);
  tb_put_object(w, "properties");
  for (int i = 0; i < tb_record_key_count(r); i++) {
    tbKey key = tb_record_key(r, i);
    if (key.kind == TB_KEY_TAG) put_tag(w, &key, variant);
    else put_key(w, key.name, &key, defaults);
  }
  for (int i = 0; variant && i < variant->key_count; i++)
    put_key(w, variant->keys[i].name, &variant->keys[i], defaults);
  tb_put_end(w);
  tb_put_object(w, "patternProperties");
  tb_put_bool(w, "^_", true);
  tb_put_end(w);
  tb_put_bool(w, "additionalProperties", false);
  tb_put_array(w, "required");
  put_required(w, r);
  if (variant) put_required(w, variant);
  tb_put_end(w);
}

static tbKey bare_key(const tbRecord* r)
{
  for (int i = 0; i < tb_record_key_count(r); i++)
    if (strcmp(tb_record_key(r, i).name, r->bare) == 0) return tb_record_key(r, i);
  for (int i = 0; r->variant_count && i < r->variants[0].key_count; i++)
    if (strcmp(r->variants[0].keys[i].name, r->bare) == 0) return r->variants[0].keys[i];
  return (tbKey){0};
}

static tbStatus put_record(tbContext* ctx, tbJsonWriter* w, const tbRecord* r)
{
  void* defaults = tb_alloc(ctx, 1, r->size);
  if (!defaults) return TB_ERROR_MEMORY;
  tb_record_init(r, defaults);
  if (!r->bare && !r->variant_count) {
    put_members(w, r, NULL, defaults);
  } else {
    tb_put_string(w, "description", r->text);
    tb_put_array(w, "anyOf");
    if (r->bare) {
      tbKey bare = bare_key(r);
      put_key(w, NULL, &bare, defaults);
    }
    for (int v = 0; v < r->variant_count || v == 0; v++) {
      const tbRecord* variant = r->variant_count ? &r->variants[v] : NULL;
      if (variant && !variant->keys) continue;
      tb_put_object(w, NULL);
      put_members(w, r, variant, defaults);
      tb_put_end(w);
    }
    tb_put_end(w);
  }
  tb_free(ctx, defaults);
  return TB_OK;
}

// ---- the whole ----

void tb_record_collect(const tbRecord* r, tbRecordList* all)
{
  for (int i = 0; i < all->count; i++)
    if (all->record[i] == r) return;
  if (r->size && all->count < TB_MAX_RECORDS) all->record[all->count++] = r;
  for (int i = 0; i < r->key_count; i++)
    if (r->keys[i].record) tb_record_collect(r->keys[i].record, all);
  for (int v = 0; v < r->variant_count; v++) tb_record_collect(&r->variants[v], all);
}

tbStatus tb_scene_print_schema(tbContext* ctx, tbOut* out)
{
  tbRecordList all = {{NULL}, 0};
  tb_record_collect(&tb_scene_record, &all);
  tbJsonWriter w = tb_json_writer(out, 2);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
  tb_put_string(&w, "title", "Tribo scene");
  tbStatus status = put_record(ctx, &w, &tb_scene_record);
  tb_put_object(&w, "$defs");
  for (int i = 1; i < all.count && status == TB_OK; i++) {
    tb_put_object(&w, all.record[i]->name);
    status = put_record(ctx, &w, all.record[i]);
    tb_put_end(&w);
  }
  tb_put_end(&w);
  tb_put_end(&w);
  return status == TB_OK ? tb_json_writer_finish(&w) : status;
}
