// SPDX-License-Identifier: Apache-2.0
#include "cli/control.h"
#include "tribo/change.h"
#include "tribo/tools/array.h"
#include "tribo/tools/decimal.h"
#include "tribo/tools/file.h"
#include "tribo/tools/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 1000, NAME = 256 };
static const size_t max_bytes = (size_t)1 << 30;

typedef struct {
  tbContext* ctx;
  tbWorld* world;
  const char *path, *at, *end, *line_begin;
  long line;
  int columns; // of joints
  tbJointId joint[COLUMNS];
  tbArray keys[COLUMNS]; // tbServoKey
} Reader;

static tbStatus wrong(const Reader* r, const char* where, const char* what, const char* of)
{
  return tb_fail(r->ctx, TB_ERROR_INPUT, "%s:%ld:%ld: %s%s", r->path, r->line,
                 (long)(where - r->line_begin) + 1, what, of);
}

static void skip_blanks(Reader* r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

static bool at_line_end(const Reader* r) { return r->at == r->end || *r->at == '\n' || *r->at == '\r'; }

static void next_line(Reader* r)
{
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at == '\n') r->at++;
  r->line++;
  r->line_begin = r->at;
}

// Up to the next comma or the end of the line, without blanks around it or quotes.
static tbStatus read_name(Reader* r, char name[NAME])
{
  skip_blanks(r);
  const char* begin = r->at;
  bool quoted = r->at < r->end && *r->at == '"';
  size_t length = 0;
  if (quoted) r->at++;
  while (r->at < r->end && *r->at != '\n' && *r->at != '\r' && (quoted ? *r->at != '"' : *r->at != ',')) {
    if (length + 1 >= NAME) return wrong(r, begin, "a name of 256 characters or more", "");
    name[length++] = *r->at++;
  }
  if (quoted && (r->at == r->end || *r->at != '"')) return wrong(r, begin, "a quote that does not end", "");
  if (quoted) r->at++;
  while (!quoted && length > 0 && (name[length - 1] == ' ' || name[length - 1] == '\t')) length--;
  name[length] = 0;
  skip_blanks(r);
  return TB_OK;
}

static tbStatus unknown(const Reader* r, const char* where, const char* name)
{
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < tb_world_joint_count(r->world); i++) {
    const char* other = tb_joint_def(r->world, tb_world_joint_at(r->world, i)).name;
    if (other) tb_nearest_offer(&near, other);
  }
  char what[2 * NAME + 80];
  snprintf(what, sizeof what, "no joint is called \"%.200s\"%s%.200s%s", name,
           near.name ? "; did you mean \"" : "", near.name ? near.name : "", near.name ? "\"?" : "");
  return wrong(r, where, what, "");
}

static tbStatus find_joint(Reader* r, const char* where, const char* name, tbJointId* out)
{
  *out = tb_world_find_joint(r->world, name);
  int number = 0;
  bool digits = *name != 0;
  for (const char* c = name; *c; c++) {
    digits = digits && isdigit((unsigned char)*c) && number < 100000000;
    number = digits ? 10 * number + (*c - '0') : 0;
  }
  if (out->index < 0 && digits) *out = tb_world_joint_at(r->world, number);
  if (out->index < 0) return unknown(r, where, name);
  if (!tb_joint_def(r->world, *out).servoed) return wrong(r, where, "no servo moves the joint ", name);
  for (int i = 0; i < r->columns; i++)
    if (r->joint[i].index == out->index) return wrong(r, where, "two columns are of the joint ", name);
  return TB_OK;
}

static tbStatus read_header(Reader* r)
{
  char name[NAME];
  TB_TRY(read_name(r, name));
  if (strcmp(name, "t") != 0) return wrong(r, r->line_begin, "the first column must be t", "");
  while (r->at < r->end && *r->at == ',') {
    r->at++;
    const char* where = r->at;
    TB_TRY(read_name(r, name));
    if (r->columns == COLUMNS) return wrong(r, where, "more than 1000 joints", "");
    TB_TRY(find_joint(r, where, name, &r->joint[r->columns]));
    r->keys[r->columns++] = TB_ARRAY(tbServoKey);
  }
  if (!at_line_end(r)) return wrong(r, r->at, "expected a comma", "");
  next_line(r);
  return TB_OK;
}

static tbStatus read_number(Reader* r, double* out, bool* there)
{
  skip_blanks(r);
  const char* begin = r->at;
  r->at = tb_read_double(begin, r->end, out);
  *there = r->at > begin;
  if (*there && !isfinite(*out)) return wrong(r, begin, "a number too large", "");
  skip_blanks(r);
  if (!at_line_end(r) && *r->at != ',') return wrong(r, r->at, "expected a number", "");
  return TB_OK;
}

static tbStatus read_row(Reader* r, double* last)
{
  double t;
  bool there;
  TB_TRY(read_number(r, &t, &there));
  if (!there) return wrong(r, r->line_begin, "a row without a time", "");
  if (!(t > *last)) return wrong(r, r->line_begin, "times must increase", "");
  *last = t;
  for (int i = 0; i < r->columns; i++) {
    tbServoKey key = {.t = t};
    if (at_line_end(r)) return wrong(r, r->at, "fewer columns than the first line has", "");
    r->at++;
    TB_TRY(read_number(r, &key.target, &there));
    if (there) TB_TRY(tb_array_push(r->ctx, &r->keys[i], &key, 1));
  }
  if (!at_line_end(r)) return wrong(r, r->at, "more columns than the first line has", "");
  next_line(r);
  return TB_OK;
}

static tbStatus read_all(Reader* r)
{
  double last = -INFINITY;
  TB_TRY(read_header(r));
  while (r->at < r->end) {
    if (at_line_end(r)) next_line(r); // an empty line
    else TB_TRY(read_row(r, &last));
  }
  for (int i = 0; i < r->columns; i++)
    if (r->keys[i].count > 0)
      TB_TRY(tb_joint_set_keys(r->ctx, r->world, r->joint[i], r->keys[i].data, (int)r->keys[i].count));
  return TB_OK;
}

tbStatus control_read(tbContext* ctx, const char* path, tbWorld* world)
{
  char* bytes;
  size_t length;
  TB_TRY(tb_read_input(ctx, path, max_bytes, &bytes, &length));
  Reader r = {ctx, world, path, bytes, bytes + length, bytes, 1, 0, {{0}}, {{0}}};
  tbStatus status = read_all(&r);
  for (int i = 0; i < r.columns; i++) tb_array_free(ctx, &r.keys[i]);
  tb_free(ctx, bytes);
  return status;
}
