// SPDX-License-Identifier: Apache-2.0
// Reading a format out of the tree, with errors that say where, which key, and what was expected.
#include "base/json.h"

#include "base/decimal.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { SHOWN = 60, LIST = 200 };

tbStatus tb_json_fail_at(tbContext* ctx, const char* file, uint32_t line, uint32_t column,
                         const char* source_file, int source_line, const char* format, ...)
{
  char what[sizeof ctx->error.message];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  size_t length = strlen(file), longest = 240; // leave room for what is wrong
  const char *shown = length > longest ? file + length - longest : file, *cut = shown == file ? "" : "…";
  while (((unsigned char)*shown & 0xc0) == 0x80) shown++;
  tb_fail_at(ctx, TB_ERROR_INPUT, source_file, source_line, "%s%s:%u:%u: %s", cut, shown, line, column, what);
  ctx->error.line = (int)line, ctx->error.column = (int)column;
  return TB_ERROR_INPUT;
}

// A node in words: an object, the string "box", -2.
typedef struct Words {
  char text[SHOWN + 16];
} Words;

static Words found(const tbJson* node)
{
  static const char* const names[] = {"null", "a boolean", "", "", "an array", "an object"};
  Words w = {""};
  if (node->type == TB_JSON_NUMBER && node->is_integer) {
    snprintf(w.text, sizeof w.text, "%" PRId64, node->integer);
  } else if (node->type == TB_JSON_NUMBER) {
    char number[TB_DOUBLE_TEXT];
    tb_format_double(tb_json_double(node), number);
    snprintf(w.text, sizeof w.text, "%s", number);
  } else if (node->type == TB_JSON_STRING) {
    snprintf(w.text, sizeof w.text, "the string \"%.*s\"", tb_utf8_clip(node->string, SHOWN), node->string);
  } else {
    snprintf(w.text, sizeof w.text, "%s", names[node->type]);
  }
  return w;
}

// ` for "mass"`, or nothing at the root.
static Words purpose(const tbJson* node)
{
  Words w = {""};
  if (node->key)
    snprintf(w.text, sizeof w.text, " for \"%.*s\"", tb_utf8_clip(node->key->text, SHOWN), node->key->text);
  return w;
}

#define EXPECTED(ctx, node, ...) expected(ctx, node, __FILE__, __LINE__, __VA_ARGS__)
__attribute__((format(printf, 5, 6))) static tbStatus expected(tbContext* ctx, const tbJson* node,
                                                               const char* file, int line, const char* format,
                                                               ...)
{
  char what[LIST];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return tb_json_fail_at(ctx, node->file, node->line, node->column, file, line, "expected %s%s, found %s",
                         what, purpose(node).text, found(node).text);
}

tbStatus tb_json_get_type(tbContext* ctx, const tbJson* node, tbJsonType type)
{
  static const char* const names[] = {"null",     "true or false", "a number",
                                      "a string", "an array",      "an object"};
  return node->type == type ? TB_OK : EXPECTED(ctx, node, "%s", names[type]);
}

tbStatus tb_json_get_number(tbContext* ctx, const tbJson* node, tbRange range, double* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_NUMBER));
  double x = tb_json_double(node);
  if (x > range.min || (x == range.min && !range.above))
    if (x <= range.max) {
      *out = x;
      return TB_OK;
    }
  char min[TB_DOUBLE_TEXT], max[TB_DOUBLE_TEXT];
  tb_format_double(range.min, min);
  tb_format_double(range.max, max);
  const char* from = range.above ? "above" : "of at least";
  if (range.max == INFINITY) return EXPECTED(ctx, node, "a number %s %s", from, min);
  if (range.min == -INFINITY) return EXPECTED(ctx, node, "a number of at most %s", max);
  return EXPECTED(ctx, node, "a number %s %s and at most %s", from, min, max);
}

tbStatus tb_json_get_int64(tbContext* ctx, const tbJson* node, int64_t min, int64_t max, int64_t* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_NUMBER));
  double x = tb_json_double(node);
  bool whole = node->is_integer || (x == floor(x) && x >= -0x1p63 && x < 0x1p63); // so are 3.0 and 1e6
  int64_t value = node->is_integer ? node->integer : whole ? (int64_t)x : 0;
  if (whole && value >= min && value <= max) {
    *out = value;
    return TB_OK;
  }
  if (x > (double)max) return EXPECTED(ctx, node, "a whole number of at most %" PRId64, max);
  if (x < (double)min) return EXPECTED(ctx, node, "a whole number of at least %" PRId64, min);
  return EXPECTED(ctx, node, "a whole number");
}

tbStatus tb_json_get_int(tbContext* ctx, const tbJson* node, int min, int max, int* out)
{
  int64_t value = 0;
  TB_TRY(tb_json_get_int64(ctx, node, min, max, &value));
  *out = (int)value;
  return TB_OK;
}

tbStatus tb_json_get_bool(tbContext* ctx, const tbJson* node, bool* out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_BOOL));
  *out = node->boolean;
  return TB_OK;
}

tbStatus tb_json_get_string(tbContext* ctx, const tbJson* node, const char** out)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_STRING));
  *out = node->string;
  return TB_OK;
}

// The names to choose from, in one line.
static void list_names(const char* const* names, char list[LIST])
{
  list[0] = 0;
  for (int i = 0; names[i]; i++) tb_list_append(list, LIST, names[i]);
}

static tbStatus unknown_name(tbContext* ctx, const tbJson* node, const char* const* names)
{
  char list[LIST];
  tbNearest near = tb_nearest(node->string);
  for (int i = 0; names[i]; i++) tb_nearest_offer(&near, names[i]);
  int shown = tb_utf8_clip(node->string, SHOWN);
  if (near.name)
    return tb_json_fail(ctx, node, "unknown name \"%.*s\"%s; did you mean \"%s\"?", shown, node->string,
                        purpose(node).text, near.name);
  list_names(names, list);
  return tb_json_fail(ctx, node, "unknown name \"%.*s\"%s; one of %s", shown, node->string,
                      purpose(node).text, list);
}

tbStatus tb_json_get_choice(tbContext* ctx, const tbJson* node, const char* const* names, int* out)
{
  char list[LIST];
  if (node->type != TB_JSON_STRING) {
    list_names(names, list);
    return EXPECTED(ctx, node, "one of %s", list);
  }
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], node->string) == 0) {
      *out = i;
      return TB_OK;
    }
  return unknown_name(ctx, node, names);
}

tbStatus tb_json_get_numbers(tbContext* ctx, const tbJson* node, int min_count, int max_count, tbRange range,
                             double* out, int* count)
{
  if (node->type != TB_JSON_ARRAY || node->count < (uint32_t)min_count || node->count > (uint32_t)max_count) {
    char counts[40];
    if (min_count == max_count) snprintf(counts, sizeof counts, "%d", min_count);
    else snprintf(counts, sizeof counts, "%d to %d", min_count, max_count);
    if (node->type != TB_JSON_ARRAY) return EXPECTED(ctx, node, "an array of %s numbers", counts);
    return tb_json_fail(ctx, node, "expected %s numbers%s, found %u", counts, purpose(node).text,
                        node->count);
  }
  double x;
  for (uint32_t i = 0; i < node->count; i++) TB_TRY(tb_json_get_number(ctx, &node->items[i], range, &x));
  for (uint32_t i = 0; i < node->count; i++) out[i] = tb_json_double(&node->items[i]);
  if (count) *count = (int)node->count;
  return TB_OK;
}

tbStatus tb_json_require(tbContext* ctx, const tbJson* object, const char* key, const tbJson** out)
{
  TB_TRY(tb_json_get_type(ctx, object, TB_JSON_OBJECT));
  const tbJson* member = tb_json_find(object, key);
  if (!member) return tb_json_fail(ctx, object, "missing key \"%s\"%s", key, purpose(object).text);
  *out = member;
  return TB_OK;
}
