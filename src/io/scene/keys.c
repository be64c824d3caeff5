// SPDX-License-Identifier: Apache-2.0
// The keys of the scene format as Markdown, for docs/scene-format.md, written from the format's table.
#include "io/scene/schema.h"

static void say_count(tbOut* out, const tbKey* key)
{
  tb_out_int(out, key->min);
  if (key->max != key->min) {
    tb_out_text(out, " to ");
    tb_out_int(out, key->max);
  }
}

static void say_range(tbOut* out, tbRange range)
{
  if (isfinite(range.min)) {
    tb_out_text(out, range.above ? " > " : " ≥ ");
    tb_out_double(out, range.min);
  }
  if (isfinite(range.max)) {
    tb_out_text(out, isfinite(range.min) ? ", ≤ " : " ≤ ");
    tb_out_double(out, range.max);
  }
}

static void say_record(tbOut* out, const char* before, const tbRecord* r)
{
  tb_out_text(out, before);
  tb_out_text(out, "[");
  tb_out_text(out, r->name);
  tb_out_text(out, "](#");
  tb_out_text(out, r->name);
  tb_out_text(out, ")");
}

// A few names are listed; for many, the text says where to find them.
static void say_choice(tbOut* out, const tbKey* key)
{
  enum { FEW = 6 };
  int count = 0;
  while (count <= FEW && key->choice(count)) count++;
  if (count > FEW) tb_out_text(out, "name");
  for (int i = 0; count <= FEW && i < count; i++) {
    tb_out_text(out, i ? ", " : "");
    tb_out_text(out, key->choice(i));
  }
}

static void say_type(tbOut* out, const tbKey* key)
{
  switch (key->kind) {
  case TB_KEY_NUMBER: tb_out_text(out, "number"), say_range(out, key->range); break;
  case TB_KEY_INT:
  case TB_KEY_INT64: tb_out_text(out, "whole number"), say_range(out, key->range); break;
  case TB_KEY_BOOL: tb_out_text(out, "true or false"); break;
  case TB_KEY_STRING:
  case TB_KEY_TAG: tb_out_text(out, "name"); break;
  case TB_KEY_CHOICE:
  case TB_KEY_NAME: say_choice(out, key); break;
  case TB_KEY_NUMBERS:
  case TB_KEY_INTS:
    say_count(out, key);
    tb_out_text(out, key->kind == TB_KEY_INTS ? " whole numbers" : " numbers");
    if (key->spread) tb_out_text(out, ", or one,");
    say_range(out, key->range);
    break;
  case TB_KEY_INDICES: tb_out_text(out, "whole numbers"), say_range(out, key->range); break;
  case TB_KEY_MATRIX: say_count(out, key), tb_out_text(out, " rows of as many numbers"); break;
  case TB_KEY_POINTS: say_count(out, key), tb_out_text(out, " points"); break;
  case TB_KEY_RECORD:
  case TB_KEY_PART: say_record(out, "", key->record); break;
  case TB_KEY_RECORDS: say_record(out, "array of ", key->record); break;
  case TB_KEY_NAMED: say_record(out, "object of ", key->record); break;
  }
}

static void say_default(tbOut* out, const tbKey* key, const void* record)
{
  const void* at = (const char*)record + key->at;
  switch (key->kind) {
  case TB_KEY_NUMBER: tb_out_double(out, *(const double*)at / (key->scale != 0 ? key->scale : 1)); break;
  case TB_KEY_INT: tb_out_int(out, *(const int*)at); break;
  case TB_KEY_INT64: tb_out_int(out, *(const int64_t*)at); break;
  case TB_KEY_BOOL: tb_out_text(out, *(const bool*)at ? "true" : "false"); break;
  case TB_KEY_CHOICE: tb_out_text(out, key->choice(*(const int*)at)); break;
  case TB_KEY_NAME: tb_out_text(out, *(const char* const*)at); break;
  case TB_KEY_NUMBERS:
    for (int i = 0; i < key->max; i++) {
      tb_out_text(out, i ? ", " : "[");
      tb_out_double(out, ((const double*)at)[i]);
    }
    tb_out_text(out, "]");
    break;
  default: break;
  }
}

static void say_keys(tbOut* out, const tbRecord* r, const void* defaults)
{
  tb_out_text(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < tb_record_key_count(r); i++) {
    tbKey at = tb_record_key(r, i), *key = &at;
    tb_out_text(out, "| `");
    tb_out_text(out, key->name);
    tb_out_text(out, "` | ");
    say_type(out, key);
    if (key->unit) tb_out_text(out, ", "), tb_out_text(out, key->unit);
    tb_out_text(out, " | ");
    if (key->required) tb_out_text(out, "required");
    else if (key->shown) say_default(out, key, defaults);
    tb_out_text(out, " | ");
    tb_out_text(out, key->text);
    tb_out_text(out, " |\n");
  }
}

static tbStatus say_table(tbContext* ctx, tbOut* out, const tbRecord* r)
{
  void* defaults = tb_alloc(ctx, 1, r->size);
  if (!defaults) return TB_ERROR_MEMORY;
  tb_record_init(r, defaults);
  tb_out_text(out, "### ");
  tb_out_text(out, r->name);
  tb_out_text(out, "\n\n");
  tb_out_text(out, r->text);
  tb_out_text(out, "\n\n");
  say_keys(out, r, defaults);
  for (int v = 0; v < r->variant_count; v++) {
    if (!r->variants[v].keys) continue;
    tb_out_text(out, "\n**");
    tb_out_text(out, r->variants[v].name);
    tb_out_text(out, "**: ");
    tb_out_text(out, r->variants[v].text);
    tb_out_text(out, "\n\n");
    say_keys(out, &r->variants[v], defaults);
  }
  tb_free(ctx, defaults);
  return TB_OK;
}

tbStatus tb_scene_print_keys(tbContext* ctx, tbOut* out)
{
  tbRecordList all = {{NULL}, 0};
  tb_record_collect(&tb_scene_record, &all);
  for (int i = 0; i < all.count; i++) {
    if (i) tb_out_text(out, "\n");
    TB_TRY(say_table(ctx, out, all.record[i]));
  }
  return tb_out_finish(out);
}
