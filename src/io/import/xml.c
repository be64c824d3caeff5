// SPDX-License-Identifier: Apache-2.0
#include "io/import/xml.h"

#include "base/decimal.h"
#include "base/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

tbStatus tb_xml_fail(tbContext* ctx, const tbXml* at, const char* format, ...)
{
  char text[300];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  tbStatus status = tb_fail(ctx, TB_ERROR_INPUT, "%.150s:%d: %s", at->file, at->line, text);
  ctx->error.line = at->line;
  return status;
}

tbXml* tb_xml_next(tbXml* at, const char* name)
{
  for (at = at->next; at; at = at->next)
    if (strcmp(at->name, name) == 0) return at->read = true, at;
  return NULL;
}

tbXml* tb_xml_child(tbXml* parent, const char* name)
{
  tbXml* at = parent->first;
  if (!at || strcmp(at->name, name) != 0) return at ? tb_xml_next(at, name) : NULL;
  at->read = true;
  return at;
}

const char* tb_xml_get(tbXml* at, const char* key)
{
  for (tbXmlAttribute* a = at->attributes; a; a = a->next)
    if (strcmp(a->name, key) == 0) return a->read = true, a->value;
  return NULL;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

tbStatus tb_xml_numbers(tbContext* ctx, const tbXml* at, const char* key, const char* text, int least,
                        int most, double* out, int* count)
{
  const char* end = text + strlen(text);
  int found = 0;
  while (true) {
    while (text < end && is_space(*text)) text++;
    if (text == end) break;
    double value;
    const char* after = tb_read_double(text, end, &value);
    if (after == text || (after < end && !is_space(*after)) || !isfinite(value) || fabs(value) > 1e30)
      return tb_xml_fail(ctx, at, "%s of <%s>: not a number: \"%.40s\"", key, at->name, text);
    if (found == most) return tb_xml_fail(ctx, at, "%s of <%s>: more than %d numbers", key, at->name, most);
    out[found++] = value;
    text = after;
  }
  if (found < least)
    return tb_xml_fail(ctx, at, "%s of <%s>: %d numbers, not %d", key, at->name, found, least);
  if (count) *count = found;
  return TB_OK;
}

#ifdef TB_HAVE_EXPAT
#include <expat.h>

typedef struct {
  tbContext* ctx;
  tbArena* arena;
  XML_Parser parser;
  const char* file;
  tbXml *root, *open; // the element that is being read
  tbArray text;       // char: since the last tag
  int depth;
  tbStatus status;
} Reader;

static char* keep(Reader* r, const char* text)
{
  size_t size = strlen(text) + 1;
  char* copy = TB_TAKE(r->arena, char, size);
  if (copy) memcpy(copy, text, size);
  else r->status = TB_ERROR_MEMORY;
  return copy;
}

static void stop(Reader* r, tbStatus status)
{
  r->status = status;
  XML_StopParser(r->parser, XML_FALSE);
}

static tbXml* add(Reader* r, const char* name)
{
  tbXml* at = TB_TAKE(r->arena, tbXml, 1);
  if (!at) return NULL;
  *at = (tbXml){.name = keep(r, name),
                .file = r->file,
                .line = (int)XML_GetCurrentLineNumber(r->parser),
                .parent = r->open};
  if (!r->open) r->root = at;
  else if (r->open->last) r->open->last->next = at;
  else r->open->first = at;
  if (r->open) r->open->last = at;
  return at;
}

static void XMLCALL begin(void* user, const XML_Char* name, const XML_Char** pairs)
{
  Reader* r = user;
  if (r->status != TB_OK) return;
  r->text.count = 0;
  tbXml* at = add(r, name);
  if (!at || !at->name) {
    stop(r, TB_ERROR_MEMORY);
    return;
  }
  r->open = at;
  if (++r->depth > TB_XML_DEPTH) {
    stop(r, tb_xml_fail(r->ctx, at, "elements are nested deeper than %d", TB_XML_DEPTH));
    return;
  }
  tbXmlAttribute** link = &at->attributes;
  for (; *pairs; pairs += 2) {
    tbXmlAttribute* a = TB_TAKE(r->arena, tbXmlAttribute, 1);
    if (!a) {
      stop(r, TB_ERROR_MEMORY);
      return;
    }
    a->name = keep(r, pairs[0]), a->value = keep(r, pairs[1]);
    *link = a, link = &a->next;
  }
}

static void XMLCALL end(void* user, const XML_Char* name)
{
  Reader* r = user;
  (void)name;
  if (r->status != TB_OK || !r->open) return;
  if (r->text.count > 0) {
    char* copy = TB_TAKE(r->arena, char, r->text.count + 1);
    if (copy) memcpy(copy, r->text.data, r->text.count);
    else stop(r, TB_ERROR_MEMORY);
    r->open->text = copy;
  }
  r->text.count = 0;
  r->open = r->open->parent, r->depth--;
}

static void XMLCALL letters(void* user, const XML_Char* text, int length)
{
  Reader* r = user;
  bool space = true;
  for (int i = 0; i < length && space; i++) space = is_space(text[i]);
  if (r->status != TB_OK || (space && r->text.count == 0)) return;
  tbStatus status = tb_array_push(r->ctx, &r->text, text, (size_t)length);
  if (status != TB_OK) stop(r, status);
}

tbStatus tb_xml_load(tbContext* ctx, tbArena* arena, const char* path, tbXml** out)
{
  char* bytes;
  size_t length;
  TB_TRY(tb_read_file(ctx, path, MOST_BYTES, &bytes, &length));
  Reader r = {.ctx = ctx, .arena = arena, .parser = XML_ParserCreate(NULL), .text = TB_ARRAY(char)};
  if (r.parser) r.file = keep(&r, path);
  else r.status = tb_fail(ctx, TB_ERROR_MEMORY, "no memory to read %.100s", path);
  if (r.status == TB_OK) {
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, begin, end);
    XML_SetCharacterDataHandler(r.parser, letters);
    enum XML_Status good = XML_Parse(r.parser, bytes, (int)length, XML_TRUE);
    if (r.status == TB_OK && good != XML_STATUS_OK)
      r.status = tb_fail(ctx, TB_ERROR_INPUT, "%.150s:%d: %s", path, (int)XML_GetCurrentLineNumber(r.parser),
                         XML_ErrorString(XML_GetErrorCode(r.parser)));
  }
  if (r.parser) XML_ParserFree(r.parser);
  tb_free(ctx, bytes);
  tb_array_free(ctx, &r.text);
  *out = r.root;
  if (r.status == TB_OK && !r.root) return tb_fail(ctx, TB_ERROR_INPUT, "%.150s: is empty", path);
  return r.status;
}
#else
tbStatus tb_xml_load(tbContext* ctx, tbArena* arena, const char* path, tbXml** out)
{
  (void)arena, (void)path, (void)out;
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "built without expat, which reads XML (Debian: libexpat1-dev)");
}
#endif
