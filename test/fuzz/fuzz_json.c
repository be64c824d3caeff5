// SPDX-License-Identifier: Apache-2.0
// Any bytes either are refused with a place inside the text, or give a tree that survives being written and
// read again, indented or not. Running out of memory anywhere leaks nothing and is reported as such.
#include "base/json_write.h"
#include "fuzz.h"

#include <string.h>

// 64-bit FNV-1a.
static bool same_tree(const tbJson* a, const tbJson* b)
{
  if (a->type != b->type) return false;
  switch ((tbJsonType)a->type) {
  case TB_JSON_NULL: return true;
  case TB_JSON_BOOL: return a->boolean == b->boolean;
  case TB_JSON_STRING: return a->count == b->count && strcmp(a->string, b->string) == 0;
  case TB_JSON_NUMBER: {
    double x = tb_json_double(a), y = tb_json_double(b);
    if (a->is_integer && !(b->is_integer && a->integer == b->integer)) return false;
    return memcmp(&x, &y, sizeof x) == 0;
  }
  case TB_JSON_ARRAY:
  case TB_JSON_OBJECT: break;
  }
  if (a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    const tbJson *x = &a->items[i], *y = &b->items[i];
    if (a->type == TB_JSON_OBJECT) {
      if (strcmp(x->key->text, y->key->text) != 0) return false;
      if (tb_json_find(a, x->key->text) != x) return false;
    }
    if (!same_tree(x, y)) return false;
  }
  return true;
}

// `fuzz:LINE:COLUMN: …` with a line the text has and a column no further than one past its longest line.
static bool message_has_a_place(const char* message, const uint8_t* bytes, size_t size)
{
  unsigned line, column;
  if (sscanf(message, "fuzz:%u:%u: ", &line, &column) != 2) return false;
  size_t lines = 1;
  for (size_t i = 0; i < size; i++) lines += bytes[i] == '\n';
  return line >= 1 && line <= lines && column >= 1 && column <= size + 1;
}

// Reads every node as everything: each reader either succeeds or says where it did not.
static void read_all_ways(tbContext* ctx, const tbJson* node, const uint8_t* bytes, size_t size)
{
  static const char* const names[] = {"cone", "box", "frictionless", NULL};
  double x, xs[4];
  int i, count;
  int64_t n;
  bool b;
  const char* text;
  const tbJson* member = NULL;
  const tbJsonField fields[] = {tb_required(tb_field_any("a", &member)), tb_field_number("b", &x, TB_UNIT)};
  tbStatus all[] = {tb_json_get_number(ctx, node, TB_POSITIVE, &x),
                    tb_json_get_int(ctx, node, -5, 5, &i),
                    tb_json_get_int64(ctx, node, INT64_MIN, INT64_MAX, &n),
                    tb_json_get_bool(ctx, node, &b),
                    tb_json_get_string(ctx, node, &text),
                    tb_json_get_choice(ctx, node, names, &i),
                    tb_json_get_numbers(ctx, node, 1, 4, TB_ANY, xs, &count),
                    tb_json_read_object(ctx, node, fields, 2)};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) CHECK(all[k] == TB_OK || all[k] == TB_ERROR_INPUT);
  CHECK(message_has_a_place(ctx->error.message, bytes, size)); // no value is of every type
  if (node->type == TB_JSON_ARRAY || node->type == TB_JSON_OBJECT)
    for (uint32_t k = 0; k < node->count; k++) read_all_ways(ctx, &node->items[k], bytes, size);
}

static tbStatus write_and_read(tbContext* ctx, tbArena* arena, const tbJson* tree, int indent,
                               const tbJson** again)
{
  tbOut out = tb_out_memory(ctx);
  tbJsonWriter w = tb_json_writer(&out, indent);
  tb_put_tree(&w, NULL, tree);
  tbStatus status = tb_json_writer_finish(&w);
  if (status == TB_OK) status = tb_json_parse(ctx, arena, "again", out.bytes, out.length, again);
  tb_out_free(&out);
  return status;
}

static tbStatus round_trip(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  const tbJson *tree = NULL, *again = NULL;
  tbStatus status = tb_json_parse(ctx, &arena, "fuzz", (const char*)bytes, size, &tree);
  if (status == TB_OK) read_all_ways(ctx, tree, bytes, size);
  if (status == TB_ERROR_INPUT) CHECK(message_has_a_place(ctx->error.message, bytes, size));
  for (int indent = 0; status == TB_OK && indent <= 2; indent += 2) {
    status = write_and_read(ctx, &arena, tree, indent, &again);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    if (status == TB_OK) CHECK(same_tree(tree, again));
  }
  tb_arena_free(&arena);
  return status;
}

FUZZ(json)
{
  tbStatus status = fuzz_starve(round_trip, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
}
