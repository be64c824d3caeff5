// SPDX-License-Identifier: Apache-2.0
// Control from a CSV file: the first column is t, each other one what a joint is driven by.
#include "base/array.h"
#include "base/decimal.h"
#include "base/file.h"
#include "base/text.h"
#include "tribo/change.h"
#include "tribo/io.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 1000, NAME = 256 };
static const size_t max_bytes = (size_t)1 << 30;

typedef enum { OF_DRIVE, OF_EFFORT } What;

typedef struct {
  tbJointId joint;
  What what;
  tbArray keys; // tbJointKey
} Column;

typedef struct {
  tbContext* ctx;
  tbWorld* world;
  const char *path, *at, *end, *line_begin;
  long line;
  int columns; // of joints
  Column* column;
} Reader;

static tbStatus wrong(const Reader* r, const char* where, const char* what, const char* of)
{
  return tb_fail(r->ctx, TB_ERROR_INPUT, "%.300s:%ld:%ld: %s%.100s", r->path, r->line,
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
  char all[160] = "";
  for (int i = 0; i < tb_world_joint_count(r->world); i++) {
    const char* other = tb_joint_def(r->world, tb_world_joint_at(r->world, i)).name;
    if (!other) continue;
    tb_nearest_offer(&near, other);
    tb_list_append(all, sizeof all, other);
  }
  char what[2 * NAME + 80];
  const char* before = near.name ? "; did you mean \"" : *all ? "; joints: " : "; none has a name";
  snprintf(what, sizeof what, "no joint is called \"%.200s\"%s%.200s%s", name, before,
           near.name ? near.name : all, near.name ? "\"?" : "");
  return wrong(r, where, what, "");
}

// By its name or, of digits, its number; index −1: none.
static tbJointId find_joint(const Reader* r, const char* name)
{
  tbJointId id = tb_world_find_joint(r->world, name);
  int number = 0;
  bool digits = *name != 0;
  for (const char* c = name; *c; c++) {
    digits = digits && isdigit((unsigned char)*c) && number < 100000000;
    number = digits ? 10 * number + (*c - '0') : 0;
  }
  return id.index < 0 && digits ? tb_world_joint_at(r->world, number) : id;
}

// NAME, NAME.target, NAME.speed or NAME.effort.
static tbStatus find_column(Reader* r, const char* where, char* name, Column* out)
{
  static const char* const parts[] = {"target", "speed", "effort"};
  char* dot = NULL;
  int part = -1;
  *out = (Column){.joint = find_joint(r, name), .keys = TB_ARRAY(tbJointKey)};
  if (out->joint.index < 0 && (dot = strrchr(name, '.'))) {
    for (int i = 0; i < 3; i++)
      if (strcmp(dot + 1, parts[i]) == 0) part = i;
    if (part >= 0) *dot = 0, out->joint = find_joint(r, name);
  }
  if (out->joint.index < 0) return unknown(r, where, name);
  tbJointDef d = tb_joint_def(r->world, out->joint);
  out->what = part == 2 ? OF_EFFORT : OF_DRIVE;
  if (part == 2 && d.type != TB_JOINT_HINGE && d.type != TB_JOINT_SLIDER)
    return wrong(r, where, "neither a hinge nor a slider is the joint ", name);
  if ((part < 0 && !d.servoed && !d.motor) || (part == 0 && !d.servoed) || (part == 1 && !d.motor))
    return wrong(r, where,
                 part == 0   ? "no servo moves the joint "
                 : part == 1 ? "no motor moves the joint "
                             : "neither a servo nor a motor moves the joint ",
                 name);
  if (part < 2 && d.servoed && !(d.servo.stiffness > 0))
    return wrong(r, where, "a damper, which follows no targets, is at the joint ", name);
  for (int i = 0; i < r->columns; i++)
    if (r->column[i].joint.index == out->joint.index && r->column[i].what == out->what)
      return wrong(r, where, "two columns are of the joint ", name);
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
    if (r->columns == COLUMNS) return wrong(r, where, "more than 1000 columns", "");
    TB_TRY(find_column(r, where, name, &r->column[r->columns]));
    r->columns++;
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
    tbJointKey key = {.t = t};
    if (at_line_end(r)) return wrong(r, r->at, "fewer columns than the first line has", "");
    r->at++;
    TB_TRY(read_number(r, &key.value, &there));
    if (there) TB_TRY(tb_array_push(r->ctx, &r->column[i].keys, &key, 1));
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
  return TB_OK;
}

static tbStatus apply(Reader* r)
{
  for (int i = 0; i < r->columns; i++) {
    const Column* c = &r->column[i];
    if (c->keys.count == 0) continue;
    TB_TRY((c->what == OF_EFFORT ? tb_joint_set_effort_keys : tb_joint_set_keys)(
        r->ctx, r->world, c->joint, c->keys.data, (int)c->keys.count));
  }
  return TB_OK;
}

tbStatus tb_control_load(tbContext* ctx, const char* path, tbWorld* world)
{
  char* bytes;
  size_t length;
  TB_TRY(tb_read_input(ctx, path, max_bytes, &bytes, &length));
  Reader r = {ctx, world, path, bytes, bytes + length, bytes, 1, 0, TB_NEW(ctx, Column, COLUMNS)};
  tbStatus status = r.column ? read_all(&r) : TB_ERROR_MEMORY;
  if (status == TB_OK) status = apply(&r);
  for (int i = 0; i < r.columns; i++) tb_array_free(ctx, &r.column[i].keys);
  tb_free(ctx, r.column);
  tb_free(ctx, bytes);
  return status;
}
