// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"

#include "base/utf8.h"

#include <string.h>

tbJsonWriter tb_json_writer(tbOut* out, int indent) { return (tbJsonWriter){.out = out, .indent = indent}; }

static void misused(tbJsonWriter* w, const char* how)
{
  if (!w->misuse) w->misuse = how;
}

// Before a value, and before the end of a level that holds any.
static void break_line(tbJsonWriter* w)
{
  if (w->indent <= 0) return;
  static const char spaces[] = "                                ";
  tb_out_bytes(w->out, "\n", 1);
  for (int left = w->depth * w->indent, n; left > 0; left -= n) {
    n = left < (int)sizeof spaces - 1 ? left : (int)sizeof spaces - 1;
    tb_out_bytes(w->out, spaces, (size_t)n);
  }
}

static bool is_flat(const tbJsonWriter* w) { return w->indent > 0 && w->flat > 0 && w->depth > w->flat; }

// One byte that cannot stand for itself: escaped, or replaced when it is not UTF-8.
static void write_special(tbOut* out, char c)
{
  static const char names[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
  const char* name = strchr(names, c);
  if (name) {
    tb_out_bytes(out, (char[]){'\\', letters[name - names]}, 2);
  } else if ((unsigned char)c < 0x20) {
    char code[8];
    tb_out_bytes(out, code, (size_t)snprintf(code, sizeof code, "\\u%04x", (unsigned char)c));
  } else {
    tb_out_text(out, "\xef\xbf\xbd"); // U+FFFD
  }
}

static void write_string(tbOut* out, const char* text)
{
  tb_out_bytes(out, "\"", 1);
  const char* end = text + strlen(text);
  for (const char *at = text, *plain = text; at <= end;) {
    int length = at < end ? tb_utf8_length(at, end) : 0;
    if (length > 1 || (length == 1 && (unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')) {
      at += length;
      continue;
    }
    tb_out_bytes(out, plain, (size_t)(at - plain));
    if (at == end) break;
    write_special(out, *at++);
    plain = at;
  }
  tb_out_bytes(out, "\"", 1);
}

// What precedes a value: the comma, the line break, the key. False when no value may stand here.
static bool begin_value(tbJsonWriter* w, const char* key)
{
  if (w->misuse) return false;
  if (w->depth == 0) {
    if (w->done) misused(w, "a second value at the root");
    if (key) misused(w, "a key at the root");
    w->done = true;
    return !w->misuse;
  }
  bool object = w->level[w->depth - 1].object;
  if (object && !key) misused(w, "a value without a key in an object");
  if (!object && key) misused(w, "a key in an array");
  if (w->misuse) return false;
  bool flat = is_flat(w);
  if (w->level[w->depth - 1].filled) tb_out_text(w->out, flat ? ", " : ",");
  w->level[w->depth - 1].filled = true;
  if (!flat) break_line(w);
  if (!key) return true;
  write_string(w->out, key);
  tb_out_text(w->out, w->indent > 0 ? ": " : ":");
  return true;
}

static void begin_level(tbJsonWriter* w, const char* key, bool object)
{
  if (w->depth == TB_JSON_DEPTH) misused(w, "too many levels");
  if (!begin_value(w, key)) return;
  tb_out_bytes(w->out, object ? "{" : "[", 1);
  w->level[w->depth].object = object;
  w->level[w->depth].filled = false;
  w->depth++;
}

void tb_put_object(tbJsonWriter* w, const char* key) { begin_level(w, key, true); }
void tb_put_array(tbJsonWriter* w, const char* key) { begin_level(w, key, false); }

void tb_put_end(tbJsonWriter* w)
{
  if (w->depth == 0) misused(w, "an end without a beginning");
  if (w->misuse) return;
  bool flat = is_flat(w);
  w->depth--;
  if (w->level[w->depth].filled && !flat) break_line(w);
  tb_out_bytes(w->out, w->level[w->depth].object ? "}" : "]", 1);
}

void tb_put_null(tbJsonWriter* w, const char* key)
{
  if (begin_value(w, key)) tb_out_text(w->out, "null");
}

void tb_put_bool(tbJsonWriter* w, const char* key, bool value)
{
  if (begin_value(w, key)) tb_out_text(w->out, value ? "true" : "false");
}

void tb_put_int(tbJsonWriter* w, const char* key, int64_t value)
{
  if (begin_value(w, key)) tb_out_int(w->out, value);
}

static void write_number(tbJsonWriter* w, const char* key, double value)
{
  if (isfinite(value)) {
    tb_out_double(w->out, value);
    return;
  }
  tb_out_text(w->out, "null");
  if (w->not_finite) return;
  w->not_finite = true;
  if (!key) key = "an array";
  int length = tb_utf8_clip(key, (int)sizeof w->not_finite_key - 1);
  memcpy(w->not_finite_key, key, (size_t)length);
}

void tb_put_number(tbJsonWriter* w, const char* key, double value)
{
  if (begin_value(w, key)) write_number(w, key, value);
}

void tb_put_string(tbJsonWriter* w, const char* key, const char* value)
{
  if (begin_value(w, key)) write_string(w->out, value);
}

void tb_put_numbers(tbJsonWriter* w, const char* key, const double* values, size_t count)
{
  if (!begin_value(w, key)) return;
  tb_out_bytes(w->out, "[", 1);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tb_out_text(w->out, w->indent > 0 ? ", " : ",");
    write_number(w, key, values[i]);
  }
  tb_out_bytes(w->out, "]", 1);
}

void tb_put_tree(tbJsonWriter* w, const char* key, const tbJson* node)
{
  switch ((tbJsonType)node->type) {
  case TB_JSON_NULL: tb_put_null(w, key); return;
  case TB_JSON_BOOL: tb_put_bool(w, key, node->boolean); return;
  case TB_JSON_STRING: tb_put_string(w, key, node->string); return;
  case TB_JSON_NUMBER:
    if (node->is_integer) tb_put_int(w, key, node->integer);
    else tb_put_number(w, key, node->number);
    return;
  case TB_JSON_ARRAY:
  case TB_JSON_OBJECT: break;
  }
  bool object = node->type == TB_JSON_OBJECT;
  int depth = w->depth;
  begin_level(w, key, object);
  if (w->depth == depth) return;
  for (uint32_t i = 0; i < node->count; i++)
    tb_put_tree(w, object ? node->items[i].key->text : NULL, &node->items[i]);
  tb_put_end(w);
}

tbStatus tb_json_writer_finish(tbJsonWriter* w)
{
  if (!w->misuse && (w->depth > 0 || !w->done)) misused(w, "the text is not complete");
  if (!w->misuse && w->indent > 0) tb_out_bytes(w->out, "\n", 1);
  TB_TRY(tb_out_finish(w->out));
  if (w->misuse) return tb_fail(w->out->ctx, TB_ERROR_ARGUMENT, "cannot write JSON: %s", w->misuse);
  if (w->not_finite)
    return tb_fail(w->out->ctx, TB_ERROR_NUMERIC, "cannot write %s as JSON: not a finite number",
                   w->not_finite_key);
  return TB_OK;
}
