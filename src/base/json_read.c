// SPDX-License-Identifier: Apache-2.0
// The JSON reader: one pass over the bytes, recursive to TB_JSON_DEPTH.
//
// Values are pushed on a stack as they are read; when an array or object closes, its items leave the stack
// for the arena in one piece, so they lie side by side. Everything in the arena comes from chunks, since
// single takes are rounded up to cache lines.
//
// Cost    linear, but n log n in the keys of an object: they are sorted once, which finds duplicates and
// later
//         members by key. Numbers take most of the time (decimal.c).
#include "base/json_index.h"

#include "base/decimal.h"
#include "base/file.h"
#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum { CHUNK = 32 * 1024, SHOWN = 60 }; // SHOWN: how much of a name appears in a message

typedef struct Parser {
  tbContext* ctx;
  tbArena* arena;
  const char* file;
  const char *begin, *at, *end;
  const char* line_start;
  uint32_t line;
  size_t continuation; // UTF-8 continuation bytes so far on this line: no columns of their own
  char* chunk;
  size_t chunk_left;
  tbJson* stack;
  size_t stack_count, stack_capacity;
} Parser;

static uint32_t column_of(const Parser* p, const char* at)
{
  return (uint32_t)((size_t)(at - p->line_start) - p->continuation + 1);
}

// Fails at p->at.
#define FAIL(p, ...) \
  tb_json_fail_at((p)->ctx, (p)->file, (p)->line, column_of(p, (p)->at), __FILE__, __LINE__, __VA_ARGS__)

// Memory that lives with the tree, 8-byte aligned.
static void* take(Parser* p, size_t bytes)
{
  bytes = (bytes + 7) & ~(size_t)7;
  if (bytes > CHUNK / 4) return tb_arena_take(p->arena, bytes, 1);
  if (bytes > p->chunk_left) {
    p->chunk = tb_arena_take(p->arena, CHUNK, 1);
    p->chunk_left = p->chunk ? CHUNK : 0;
    if (!p->chunk) return NULL;
  }
  char* taken = p->chunk;
  p->chunk += bytes;
  p->chunk_left -= bytes;
  return taken;
}

static tbStatus push(Parser* p, const tbJson* node)
{
  if (p->stack_count == p->stack_capacity) {
    size_t capacity = p->stack_capacity ? 2 * p->stack_capacity : 256;
    tbJson* stack = TB_NEW(p->ctx, tbJson, capacity);
    if (!stack) return TB_ERROR_MEMORY;
    if (p->stack_count) memcpy(stack, p->stack, p->stack_count * sizeof *stack);
    tb_free(p->ctx, p->stack);
    p->stack = stack;
    p->stack_capacity = capacity;
  }
  p->stack[p->stack_count++] = *node;
  return TB_OK;
}

static void skip_space(Parser* p)
{
  for (; p->at < p->end; p->at++) {
    char c = *p->at;
    if (c == '\n') {
      p->line++;
      p->line_start = p->at + 1;
      p->continuation = 0;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Says what stands where something else should.
static tbStatus unexpected(Parser* p, const char* expected)
{
  if (p->at == p->end) return FAIL(p, "expected %s, but the text ends here", expected);
  unsigned char c = (unsigned char)*p->at;
  if (c == 0) return FAIL(p, "expected %s, found a NUL byte", expected);
  if (c == '/' || c == '#') return FAIL(p, "expected %s, found '%c' (JSON has no comments)", expected, c);
  if (c == '\'') return FAIL(p, "expected %s, found ' (strings take double quotes)", expected);
  if (c < 0x20 || c == 0x7f) return FAIL(p, "expected %s, found the control character 0x%02x", expected, c);
  int length = tb_utf8_length(p->at, p->end);
  if (!length) return FAIL(p, "expected %s, found the byte 0x%02x, which is not UTF-8", expected, c);
  return FAIL(p, "expected %s, found '%.*s'", expected, length, p->at);
}

static tbStatus four_hex_digits(Parser* p, const char* at, uint32_t* code)
{
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = at + i < p->end ? at[i] : 0;
    int digit = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return FAIL(p, "expected four hexadecimal digits after \\u");
    *code = *code << 4 | (uint32_t)digit;
  }
  return TB_OK;
}

// \uXXXX at p->at, or a pair of them for a character above U+FFFF.
static tbStatus unicode_escape(Parser* p, char** to)
{
  uint32_t code, low = 0;
  TB_TRY(four_hex_digits(p, p->at + 2, &code));
  if (code == 0) return FAIL(p, "\\u0000 is not allowed in a string");
  if (code >= 0xdc00 && code <= 0xdfff)
    return FAIL(p, "\\u%04x is the second half of a pair without the first", code);
  int length = 6;
  if (code >= 0xd800 && code <= 0xdbff) {
    const char* next = p->at + 6;
    if (p->end - next >= 2 && next[0] == '\\' && next[1] == 'u') TB_TRY(four_hex_digits(p, next + 2, &low));
    if (low < 0xdc00 || low > 0xdfff)
      return FAIL(p, "\\u%04x is the first half of a pair without the second", code);
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    length = 12;
  }
  *to += tb_utf8_encode(code, *to);
  p->at += length;
  return TB_OK;
}

static tbStatus escape(Parser* p, char** to)
{
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char c = p->at + 1 < p->end ? p->at[1] : 0;
  if (c == 'u') return unicode_escape(p, to);
  const char* letter = c ? strchr(letters, c) : NULL;
  if (!letter) return FAIL(p, "no such escape; \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are valid");
  *(*to)++ = meanings[letter - letters];
  p->at += 2;
  return TB_OK;
}

// The end of the plain ASCII from `at`: what a string may hold as it is.
static const char* skip_plain(const char* at, const char* end)
{
  while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
    at++;
  return at;
}

// The bytes up to the closing quote, escapes and all: an upper bound of what the string needs.
static size_t string_bound(const char* at, const char* end)
{
  const char* p = at;
  for (; p < end && *p != '"' && (unsigned char)*p >= 0x20; p++)
    if (*p == '\\' && p + 1 < end) p++;
  return (size_t)(p - at);
}

// A string whose opening quote is at p->at, stored after `header` bytes of its own.
static tbStatus parse_string(Parser* p, size_t header, char** out, uint32_t* length)
{
  uint32_t line = p->line, column = column_of(p, p->at);
  p->at++;
  char* block = take(p, header + string_bound(p->at, p->end) + 1);
  if (!block) return TB_ERROR_MEMORY;
  char* to = block + header;
  for (;;) {
    const char* plain = skip_plain(p->at, p->end);
    memcpy(to, p->at, (size_t)(plain - p->at));
    to += plain - p->at;
    p->at = plain;
    if (p->at == p->end) return FAIL(p, "the text ends inside the string that starts at %u:%u", line, column);
    unsigned char c = (unsigned char)*p->at;
    if (c == '"') break;
    if (c == '\\') {
      TB_TRY(escape(p, &to));
    } else if (c >= 0x80) {
      int bytes = tb_utf8_length(p->at, p->end);
      if (!bytes) return FAIL(p, "the byte 0x%02x is not UTF-8", c);
      memcpy(to, p->at, (size_t)bytes);
      to += bytes;
      p->at += bytes;
      p->continuation += (size_t)bytes - 1;
    } else if (c == '\n' || c == '\r') {
      return FAIL(p, "the string that starts at %u:%u has no closing quote on its line", line, column);
    } else if (c == 0) {
      return FAIL(p, "a NUL byte in a string");
    } else {
      return FAIL(p, "the control character 0x%02x in a string must be written \\u%04x", c, c);
    }
  }
  p->at++;
  *to = 0;
  *out = block;
  *length = (uint32_t)(to - block - (long)header);
  return TB_OK;
}

static tbStatus parse_number(Parser* p, tbJson* node)
{
  tbDecimal d;
  const char* after = tb_decimal_scan(p->at, p->end, &d);
  const char* start = p->at;
  if (d.plus) return FAIL(p, "a number does not start with '+'");
  if (after == p->at || d.whole == 0) {
    p->at += *p->at == '-';
    if (p->at < p->end && strchr("NnIi", *p->at)) return FAIL(p, "NaN and Infinity are not JSON");
    return unexpected(p, "a digit");
  }
  if (d.whole > 1 && *d.begin == '0') return FAIL(p, "a number does not start with a superfluous 0");
  p->at = after;
  if (d.point && d.fraction == 0) {
    p->at = d.end;
    return unexpected(p, "a digit after the decimal point");
  }
  if (after < p->end && (*after == 'e' || *after == 'E') && !d.has_exponent) {
    p->at += after + 1 < p->end && (after[1] == '-' || after[1] == '+') ? 2 : 1;
    return unexpected(p, "a digit in the exponent");
  }
  uint64_t limit = (uint64_t)INT64_MAX + d.negative;
  bool zero = d.digits == 0;
  node->type = TB_JSON_NUMBER;
  node->is_integer =
      !d.point && !d.has_exponent && d.exponent == 0 && d.digits <= limit && !(zero && d.negative);
  if (node->is_integer) {
    node->integer = d.negative ? (int64_t)(0 - d.digits) : (int64_t)d.digits;
    return TB_OK;
  }
  node->number = tb_decimal_value(&d);
  if (isfinite(node->number)) return TB_OK;
  p->at = start;
  return FAIL(p, "this number is too large for a double");
}

static tbStatus parse_word(Parser* p, tbJson* node)
{
  const char* end = p->at;
  while (end < p->end && (is_letter(*end) || is_digit(*end))) end++;
  int length = (int)(end - p->at < SHOWN ? end - p->at : SHOWN);
  char word[SHOWN + 1] = {0};
  memcpy(word, p->at, (size_t)length);
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
    node->type = TB_JSON_BOOL;
    node->boolean = word[0] == 't';
  } else if (strcmp(word, "null") == 0) {
    node->type = TB_JSON_NULL;
  } else if (strcasecmp(word, "nan") == 0 || strncasecmp(word, "inf", 3) == 0) {
    return FAIL(p, "%s is not JSON", word);
  } else {
    tbNearest near = tb_nearest(strcasecmp(word, "none") == 0 ? "null" : word);
    tb_nearest_offer(&near, "true");
    tb_nearest_offer(&near, "false");
    tb_nearest_offer(&near, "null");
    if (near.name) return FAIL(p, "unknown word %s; did you mean %s?", word, near.name);
    return FAIL(p, "unknown word %s; strings take double quotes", word);
  }
  p->at = end;
  return TB_OK;
}

// Moves what lies on the stack from `first` on into the arena; an object's keys are indexed on the way.
static tbStatus close_items(Parser* p, tbJson* node, size_t first)
{
  size_t count = p->stack_count - first;
  node->count = (uint32_t)count;
  if (count == 0) return TB_OK;
  size_t index = node->type == TB_JSON_OBJECT ? tb_json_index_bytes(count) : 0;
  tbJson* items = take(p, count * sizeof *items + index);
  if (!items) return TB_ERROR_MEMORY;
  memcpy(items, p->stack + first, count * sizeof *items);
  p->stack_count = first;
  node->items = items;
  if (node->type != TB_JSON_OBJECT) return TB_OK;

  const tbJson *again, *before;
  TB_TRY(tb_json_index_keys(p->ctx, node, items + count, &again, &before));
  if (!again) return TB_OK;
  return tb_json_fail_at(p->ctx, p->file, again->key->line, again->key->column, __FILE__, __LINE__,
                         "duplicate key \"%.*s\" (first at %u:%u)", tb_utf8_clip(again->key->text, SHOWN),
                         again->key->text, before->key->line, before->key->column);
}

static tbStatus parse_value(Parser* p, const tbJsonKey* key, int depth, tbJson* out);

static tbStatus parse_key(Parser* p, const tbJsonKey** out)
{
  if (p->at == p->end || *p->at != '"') {
    if (p->at < p->end && is_letter(*p->at)) return FAIL(p, "a key takes double quotes");
    return unexpected(p, "a key in double quotes");
  }
  tbJsonKey position = {p->line, column_of(p, p->at)}, *key;
  char* block;
  uint32_t length;
  TB_TRY(parse_string(p, offsetof(tbJsonKey, text), &block, &length));
  key = (tbJsonKey*)(void*)block;
  key->line = position.line;
  key->column = position.column;
  *out = key;
  skip_space(p);
  if (p->at == p->end || *p->at != ':') return unexpected(p, "':' after this key");
  p->at++;
  skip_space(p);
  return TB_OK;
}

// What follows '[' or '{' up to its other end.
static tbStatus parse_items(Parser* p, tbJson* node, int depth)
{
  bool object = node->type == TB_JSON_OBJECT;
  char close = object ? '}' : ']';
  size_t first = p->stack_count;
  p->at++;
  skip_space(p);
  bool more = p->at == p->end || *p->at != close;
  while (more) {
    if (p->at == p->end)
      return FAIL(p, "the text ends inside the %s that starts at %u:%u", object ? "object" : "array",
                  node->line, node->column);
    if (*p->at == close)
      return FAIL(p, "expected %s, found '%c' (no comma after the last one)", object ? "a key" : "a value",
                  close);
    const tbJsonKey* key = node->key;
    if (object) TB_TRY(parse_key(p, &key));
    tbJson item;
    TB_TRY(parse_value(p, key, depth + 1, &item));
    TB_TRY(push(p, &item));
    skip_space(p);
    if (p->at < p->end && *p->at == ',') {
      p->at++;
      skip_space(p);
    } else if (p->at < p->end && *p->at == close) {
      more = false;
    } else if (p->at < p->end) {
      return unexpected(p, object ? "',' or '}' after this member" : "',' or ']' after this element");
    }
  }
  p->at++;
  return close_items(p, node, first);
}

static tbStatus parse_value(Parser* p, const tbJsonKey* key, int depth, tbJson* out)
{
  tbJson node = {.file = p->file, .key = key, .line = p->line, .column = column_of(p, p->at)};
  tbStatus status;
  char c = p->at < p->end ? *p->at : 0;
  if (c == '[' || c == '{') {
    node.type = c == '[' ? TB_JSON_ARRAY : TB_JSON_OBJECT;
    if (depth >= TB_JSON_DEPTH) return FAIL(p, "nested deeper than %d levels", TB_JSON_DEPTH);
    status = parse_items(p, &node, depth);
  } else if (c == '"') {
    char* text;
    node.type = TB_JSON_STRING;
    status = parse_string(p, 0, &text, &node.count);
    if (status == TB_OK) node.string = text;
  } else if (is_digit(c) || c == '-' || c == '+' || c == '.') {
    status = parse_number(p, &node);
  } else if (is_letter(c)) {
    status = parse_word(p, &node);
  } else {
    status = unexpected(p, "a value");
  }
  if (status == TB_OK) *out = node;
  return status;
}

static bool starts_with(const Parser* p, const char* bytes, size_t count)
{
  return (size_t)(p->end - p->begin) >= count && memcmp(p->begin, bytes, count) == 0;
}

static tbStatus parse_text(Parser* p, tbJson* root)
{
  if (starts_with(p, "\xef\xbb\xbf", 3))
    return FAIL(p, "the text starts with a byte-order mark; save it as UTF-8 without one");
  if (starts_with(p, "\xff\xfe", 2) || starts_with(p, "\xfe\xff", 2))
    return FAIL(p, "the text looks like UTF-16; save it as UTF-8");
  skip_space(p);
  if (p->at == p->end) return FAIL(p, "the text is empty");
  TB_TRY(parse_value(p, NULL, 0, root));
  skip_space(p);
  if (p->at < p->end) return unexpected(p, "nothing after the value");
  return TB_OK;
}

tbStatus tb_json_parse(tbContext* ctx, tbArena* arena, const char* name, const char* bytes, size_t length,
                       const tbJson** root)
{
  if (length >= UINT32_MAX) return tb_fail(ctx, TB_ERROR_INPUT, "%s:1:1: larger than 4 GiB", name);
  Parser p = {.ctx = ctx,
              .arena = arena,
              .begin = bytes,
              .at = bytes,
              .end = bytes + length,
              .line_start = bytes,
              .line = 1};
  size_t name_bytes = strlen(name) + 1;
  char* file = take(&p, name_bytes);
  tbJson* top = take(&p, sizeof *top);
  if (!file || !top) return TB_ERROR_MEMORY;
  p.file = memcpy(file, name, name_bytes);
  tbStatus status = parse_text(&p, top);
  tb_free(ctx, p.stack);
  if (status == TB_OK) *root = top;
  return status;
}

tbStatus tb_json_read_file(tbContext* ctx, tbArena* arena, const char* path, size_t max_bytes,
                           const tbJson** root)
{
  char* bytes;
  size_t length;
  TB_TRY(tb_read_file(ctx, path, max_bytes, &bytes, &length));
  tbStatus status = tb_json_parse(ctx, arena, path, bytes, length, root);
  tb_free(ctx, bytes);
  return status;
}
