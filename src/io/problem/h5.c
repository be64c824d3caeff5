// SPDX-License-Identifier: Apache-2.0
#include "io/problem/h5.h"

#include <limits.h>
#include <math.h>

#define FAIL(h, ...) tb_fail((h)->ctx, TB_ERROR_INPUT, __VA_ARGS__)

tbStatus tb_h5_open(tbContext* ctx, const char* bytes, size_t length, tbH5* h)
{
  *h = (tbH5){.ctx = ctx};
  tbH5Found found = tb_h5_plain_open((const uint8_t*)bytes, length, &h->plain);
  h->is_plain = found == TB_H5_FOUND;
  return found == TB_H5_DAMAGED ? FAIL(h, "an HDF5 file that is damaged or cut short") : TB_OK;
}

void tb_h5_close(tbH5* h)
{
  tb_h5_library_close(h->ctx, h->library);
  h->library = NULL;
}

static tbStatus need_library(tbH5* h)
{
  if (h->library) return TB_OK;
  tbStatus status = tb_h5_library_open(h->ctx, h->plain.bytes, h->plain.length, &h->library);
  if (status != TB_OK) tb_h5_close(h);
  return status;
}

tbStatus tb_h5_has(tbH5* h, const char* path, bool* has)
{
  uint64_t header;
  tbH5Found found = h->is_plain ? tb_h5_plain_find(&h->plain, path, &header) : TB_H5_UNKNOWN;
  *has = found != TB_H5_ABSENT; // what is odd or damaged says so when it is read
  if (found != TB_H5_UNKNOWN) return TB_OK;
  TB_TRY(need_library(h));
  *has = tb_h5_library_has(h->library, path);
  return TB_OK;
}

// What is known of a dataset. *values is null where the library must read it.
static tbStatus look_up(tbH5* h, const char* path, tbH5Set* set)
{
  uint64_t header;
  tbH5Found found = h->is_plain ? tb_h5_plain_find(&h->plain, path, &header) : TB_H5_UNKNOWN;
  if (found == TB_H5_FOUND) {
    found = tb_h5_plain_set(&h->plain, header, set);
    if (found == TB_H5_ABSENT) return FAIL(h, "%s is not a dataset", path);
  }
  switch (found) {
  case TB_H5_FOUND: break;
  case TB_H5_ABSENT: return FAIL(h, "%s is missing", path);
  case TB_H5_LINK:
    return FAIL(h, "%s is a soft or external link; only values in the file itself are read", path);
  case TB_H5_OUTSIDE: return FAIL(h, "%s keeps its values outside the file", path);
  case TB_H5_DAMAGED: return FAIL(h, "%s cannot be read: the file is damaged or cut short", path);
  case TB_H5_UNKNOWN: TB_TRY(need_library(h)); TB_TRY(tb_h5_library_set(h->ctx, h->library, path, set));
  }
  if (set->rank > 1) return FAIL(h, "%s has rank %d; expected a plain list of numbers", path, set->rank);
  return TB_OK;
}

tbStatus tb_h5_extent(tbH5* h, const char* path, size_t* count)
{
  tbH5Set set;
  TB_TRY(look_up(h, path, &set));
  *count = set.count;
  return TB_OK;
}

static tbStatus look_up_at_least(tbH5* h, const char* path, size_t count, tbH5Set* set)
{
  TB_TRY(look_up(h, path, set));
  if (set->count >= count) return TB_OK;
  return FAIL(h, "%s has %zu values, expected %zu", path, set->count, count);
}

static tbStatus narrow(tbH5* h, const char* path, size_t i, int64_t value, int* out)
{
  if (value < INT_MIN || value > INT_MAX)
    return FAIL(h, "%s[%zu] = %lld is out of range", path, i, (long long)value);
  *out = (int)value;
  return TB_OK;
}

tbStatus tb_h5_ints(tbH5* h, const char* path, size_t count, int* out)
{
  tbH5Set set;
  TB_TRY(look_up_at_least(h, path, count, &set));
  if (set.class != TB_H5_INTEGER) return FAIL(h, "%s does not hold integers", path);
  if (set.values) {
    for (size_t i = 0; i < count; i++) TB_TRY(narrow(h, path, i, tb_h5_plain_int(&set, i), &out[i]));
    return TB_OK;
  }
  if (count == 0) return TB_OK;
  int64_t* wide = TB_NEW(h->ctx, int64_t, count);
  if (!wide) return TB_ERROR_MEMORY;
  tbStatus status = tb_h5_library_read(h->ctx, h->library, path, count, wide, NULL);
  for (size_t i = 0; status == TB_OK && i < count; i++) status = narrow(h, path, i, wide[i], &out[i]);
  tb_free(h->ctx, wide);
  return status;
}

tbStatus tb_h5_doubles(tbH5* h, const char* path, size_t count, double* out)
{
  tbH5Set set;
  TB_TRY(look_up_at_least(h, path, count, &set));
  if (set.class == TB_H5_OTHER) return FAIL(h, "%s does not hold numbers", path);
  if (set.values)
    for (size_t i = 0; i < count; i++) out[i] = tb_h5_plain_double(&set, i);
  else if (count) TB_TRY(tb_h5_library_read(h->ctx, h->library, path, count, NULL, out));
  for (size_t i = 0; i < count; i++)
    if (!isfinite(out[i])) return FAIL(h, "%s[%zu] is %g; it must be finite", path, i, out[i]);
  return TB_OK;
}
