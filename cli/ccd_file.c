// SPDX-License-Identifier: Apache-2.0
#include "cli/ccd_file.h"
#include "tribo/tools/decimal.h"
#include "tribo/tools/file.h"
#include "cli/args.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 7 };
static const size_t max_bytes = (size_t)1 << 30;

typedef struct {
  tbContext* ctx;
  const char *path, *at, *end, *line_begin;
  long line;
} Reader;

static tbStatus wrong(const Reader* r, const char* where, const char* what)
{
  return tb_fail(r->ctx, TB_ERROR_INPUT, "%s:%ld:%ld: %s", r->path, r->line,
                 (long)(where - r->line_begin) + 1, what);
}

static void skip_blanks(Reader* r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

// An integer, and the comma after it unless it is the row's last.
static tbStatus read_integer(Reader* r, bool last, double* value)
{
  skip_blanks(r);
  tbDecimal number;
  const char *begin = r->at, *after = tb_decimal_scan(r->at, r->end, &number);
  if (after == begin) return wrong(r, begin, "expected an integer");
  if (number.point || number.has_exponent)
    return wrong(r, begin, "expected an integer, not a decimal number");
  *value = tb_decimal_value(&number);
  if (!isfinite(*value)) return wrong(r, begin, "the integer is too large");
  r->at = after;
  skip_blanks(r);
  if (last) return TB_OK;
  if (r->at == r->end || *r->at != ',') return wrong(r, r->at, "expected a comma: a row has seven columns");
  r->at++;
  return TB_OK;
}

static tbStatus end_line(Reader* r)
{
  if (r->at < r->end && *r->at == '\r') r->at++;
  if (r->at < r->end && *r->at != '\n') return wrong(r, r->at, "expected the end of the row");
  if (r->at < r->end) r->at++;
  r->line++;
  r->line_begin = r->at;
  return TB_OK;
}

static tbStatus read_row(Reader* r, tbVec3* point, bool* collides)
{
  double x[3];
  for (int k = 0; k < 3; k++) {
    double top, bottom;
    TB_TRY(read_integer(r, false, &top));
    const char* at = r->at;
    TB_TRY(read_integer(r, false, &bottom));
    if (!(bottom > 0)) return wrong(r, at, "the denominator must be positive");
    x[k] = top / bottom;
  }
  *point = tb_load3(x);
  const char* at = r->at;
  double truth;
  TB_TRY(read_integer(r, true, &truth));
  if (truth != 0 && truth != 1) return wrong(r, at, "the last column must be 0 or 1");
  *collides = truth == 1;
  return end_line(r);
}

static bool at_end(const Reader* r) // nothing but white space follows
{
  for (const char* p = r->at; p < r->end; p++)
    if (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n') return false;
  return true;
}

static tbStatus read_case(Reader* r, tbCcdKind kind, CcdCase* out)
{
  *out = (CcdCase){.query.kind = kind};
  for (int i = 0; i < ROWS; i++) {
    if (at_end(r)) return wrong(r, r->at, "the file ends within a query: rows come in eights");
    bool collides = false;
    const char* begin = r->at;
    Reader here = *r;
    TB_TRY(read_row(r, i < 4 ? &out->query.start[i] : &out->query.end[i - 4], &collides));
    if (i == 0) out->collides = collides;
    else if (collides != out->collides)
      return wrong(&here, begin, "the last column differs from that of the query's first row");
  }
  return TB_OK;
}

tbStatus ccd_file_load(tbContext* ctx, const char* path, tbCcdKind kind, tbArray* cases)
{
  char* bytes;
  size_t length;
  TB_TRY(check_readable(ctx, path));
  TB_TRY(tb_read_file(ctx, path, max_bytes, &bytes, &length));
  Reader r = {ctx, path, bytes, bytes + length, bytes, 1};
  tbStatus status = TB_OK;
  while (status == TB_OK && !at_end(&r)) {
    CcdCase c;
    status = read_case(&r, kind, &c);
    if (status == TB_OK) status = tb_array_push(ctx, cases, &c, 1);
  }
  tb_free(ctx, bytes);
  return status;
}

bool ccd_file_kind(const char* path, tbCcdKind* out)
{
  bool found = false;
  for (const char* p = path; *p; p++) {
    if (strncmp(p, "vertex-face", 11) == 0) *out = TB_CCD_VERTEX_FACE, found = true;
    if (strncmp(p, "edge-edge", 9) == 0) *out = TB_CCD_EDGE_EDGE, found = true;
  }
  return found;
}
