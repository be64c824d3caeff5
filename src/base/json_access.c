// Reading a format out of the tree, with errors that say where, which key, and what was expected.
#include "base/json.h"

#include "base/decimal.h"
#include "base/utf8.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

enum { SHOWN = 60, LIST = 200 };

// A node in words: "a string", "the number -2".
typedef struct Words {
  char text[SHOWN + 16];
} Words;

static Words found(const tbJson* node)
{
  static const char* const names[] = {"null", "a boolean", "", "", "an array", "an object"};
  Words w = {""};
  if (node->type == TB_JSON_NUMBER) {
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
  bool whole = node->type == TB_JSON_NUMBER && node->is_integer;
  int64_t value = whole ? node->integer : 0;
  if (node->type == TB_JSON_NUMBER && !whole) { // 3.0 and 1e6: whole, and exact in an int64_t
    double x = node->number;
    whole = x == floor(x) && fabs(x) <= 0x1p53;
    if (whole) value = (int64_t)x;
  }
  if (whole && value >= min && value <= max) {
    *out = value;
    return TB_OK;
  }
  if (max == INT64_MAX || max == INT_MAX)
    return EXPECTED(ctx, node, "a whole number of at least %lld", (long long)min);
  return EXPECTED(ctx, node, "a whole number from %lld to %lld", (long long)min, (long long)max);
}

tbStatus tb_json_get_int(tbContext* ctx, const tbJson* node, int min, int max, int* out)
{
  int64_t value;
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

// "a, b, c", cut to fit.
static void append_name(char* list, size_t size, const char* name)
{
  size_t used = strlen(list), need = strlen(name) + 2;
  if (used + need + 6 < size)
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
  else if (used < 4 || strcmp(list + used - 3, "…") != 0)
    snprintf(list + used, size - used, ", …");
}

tbStatus tb_json_get_choice(tbContext* ctx, const tbJson* node, const char* const* names, int* out)
{
  char list[LIST] = "";
  for (int i = 0; names[i]; i++) append_name(list, sizeof list, names[i]);
  if (node->type != TB_JSON_STRING) return EXPECTED(ctx, node, "one of %s", list);
  tbNearest near = tb_nearest(node->string);
  for (int i = 0; names[i]; i++) {
    if (strcmp(names[i], node->string) == 0) {
      *out = i;
      return TB_OK;
    }
    tb_nearest_offer(&near, names[i]);
  }
  int shown = tb_utf8_clip(node->string, SHOWN);
  if (near.name)
    return tb_json_fail(ctx, node, "unknown name \"%.*s\"%s; did you mean \"%s\"?", shown, node->string,
                        purpose(node).text, near.name);
  return tb_json_fail(ctx, node, "unknown name \"%.*s\"%s; one of %s", shown, node->string,
                      purpose(node).text, list);
}

tbStatus tb_json_get_numbers(tbContext* ctx, const tbJson* node, int min_count, int max_count, double* out,
                             int* count)
{
  if (node->type != TB_JSON_ARRAY || node->count < (uint32_t)min_count || node->count > (uint32_t)max_count) {
    char counts[40];
    if (min_count == max_count)
      snprintf(counts, sizeof counts, "%d", min_count);
    else
      snprintf(counts, sizeof counts, "%d to %d", min_count, max_count);
    if (node->type != TB_JSON_ARRAY) return EXPECTED(ctx, node, "an array of %s numbers", counts);
    return tb_json_fail(ctx, node, "expected %s numbers%s, found %u", counts, purpose(node).text,
                        node->count);
  }
  for (uint32_t i = 0; i < node->count; i++) TB_TRY(tb_json_get_type(ctx, &node->items[i], TB_JSON_NUMBER));
  for (uint32_t i = 0; i < node->count; i++) out[i] = tb_json_double(&node->items[i]);
  if (count) *count = (int)node->count;
  return TB_OK;
}

// Where field i of a list is called, for tbJsonField and for plain names alike.
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
    append_name(list, sizeof list, key_name(keys, i));
  }
  char hint[LIST + 32] = "";
  if (near.name)
    snprintf(hint, sizeof hint, "; did you mean \"%s\"?", near.name);
  else if (keys->count)
    snprintf(hint, sizeof hint, "; valid keys: %s", list);
  return tb_json_fail_at(ctx, member->file, member->key->line, member->key->column, __FILE__, __LINE__,
                         "unknown key \"%.*s\"%s", tb_utf8_clip(key, SHOWN), key, hint);
}

static size_t find_key(const Keys* keys, const char* key)
{
  size_t i = 0;
  while (i < keys->count && strcmp(key_name(keys, i), key) != 0) i++;
  return i;
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

tbStatus tb_json_require(tbContext* ctx, const tbJson* object, const char* key, const tbJson** out)
{
  TB_TRY(tb_json_get_type(ctx, object, TB_JSON_OBJECT));
  const tbJson* member = tb_json_find(object, key);
  if (!member) return tb_json_fail(ctx, object, "missing key \"%s\"%s", key, purpose(object).text);
  *out = member;
  return TB_OK;
}

tbStatus tb_json_read_object(tbContext* ctx, const tbJson* node, const tbJsonField* fields, size_t count)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_OBJECT));
  Keys keys = {.fields = fields, .count = count};
  for (uint32_t i = 0; i < node->count; i++) {
    const tbJson* member = &node->items[i];
    size_t k = find_key(&keys, member->key->text);
    if (k < count)
      TB_TRY(fields[k].get(ctx, member, &fields[k]));
    else if (member->key->text[0] != '_')
      return unknown_key(ctx, member, &keys);
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
  return tb_json_get_numbers(ctx, node, (int)f->min, (int)f->max, f->out, f->count);
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
tbJsonField tb_field_numbers(const char* key, double* out, int count)
{
  return tb_field_numbers_between(key, out, count, count, NULL);
}
tbJsonField tb_field_numbers_between(const char* key, double* out, int min_count, int max_count, int* count)
{
  return (tbJsonField){
      .key = key, .get = get_numbers, .out = out, .min = min_count, .max = max_count, .count = count};
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
