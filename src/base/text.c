// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include "base/decimal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { FLUSH = 64 * 1024, LONGEST_NAME = 64 };

static int write_stream(void* user, const char* bytes, size_t count)
{
  errno = 0;
  if (fwrite(bytes, 1, count, user) == count && fflush(user) == 0) return 0;
  return errno ? errno : EIO;
}

tbSink tb_sink_stream(FILE* stream) { return (tbSink){write_stream, stream}; }

tbOut tb_out_memory(tbContext* ctx) { return (tbOut){.ctx = ctx}; }

tbOut tb_out_sink(tbContext* ctx, tbSink sink, const char* name)
{
  return (tbOut){.ctx = ctx, .sink = sink, .name = name};
}

static void flush(tbOut* out)
{
  if (out->status != TB_OK || out->length == 0) return;
  out->sink_error = out->sink.write(out->sink.user, out->bytes, out->length);
  if (out->sink_error) out->status = TB_ERROR_IO;
  out->length = 0;
}

// Makes room for count more bytes and the terminator.
static bool reserve(tbOut* out, size_t count)
{
  if (out->status != TB_OK) return false;
  if (count < out->capacity - out->length) return true;
  size_t needed;
  if (__builtin_add_overflow(out->length, count, &needed) || needed >= SIZE_MAX / 4) needed = SIZE_MAX / 4;
  size_t capacity = out->capacity ? out->capacity : 256;
  while (capacity <= needed) capacity *= 2;
  char* bytes = tb_alloc(out->ctx, capacity, 1);
  if (!bytes) {
    out->status = TB_ERROR_MEMORY;
    return false;
  }
  if (out->length) memcpy(bytes, out->bytes, out->length);
  tb_free(out->ctx, out->bytes);
  out->bytes = bytes;
  out->capacity = capacity;
  return true;
}

void tb_out_bytes(tbOut* out, const char* bytes, size_t count)
{
  while (count) {
    size_t piece = count;
    if (out->sink.write) {
      if (out->length >= FLUSH) flush(out);
      if (piece > FLUSH) piece = FLUSH;
    }
    if (!reserve(out, piece)) return;
    memcpy(out->bytes + out->length, bytes, piece);
    out->length += piece;
    out->bytes[out->length] = 0;
    bytes += piece;
    count -= piece;
  }
}

void tb_out_text(tbOut* out, const char* text) { tb_out_bytes(out, text, strlen(text)); }

void tb_out_int(tbOut* out, int64_t value)
{
  char text[24];
  tb_out_bytes(out, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void tb_out_double(tbOut* out, double value)
{
  char text[TB_DOUBLE_TEXT];
  tb_out_bytes(out, text, (size_t)tb_format_double(value, text));
}

tbStatus tb_out_finish(tbOut* out)
{
  if (out->sink.write) flush(out);
  if (out->status == TB_ERROR_IO)
    return tb_fail(out->ctx, TB_ERROR_IO, "cannot write %s: %s", out->name, strerror(out->sink_error));
  if (out->status == TB_ERROR_MEMORY)
    return tb_fail(out->ctx, TB_ERROR_MEMORY, "out of memory for %s", out->name ? out->name : "a text");
  return out->status;
}

void tb_out_free(tbOut* out)
{
  tb_free(out->ctx, out->bytes);
  out->bytes = NULL;
  out->length = out->capacity = 0;
}

static int least(int a, int b) { return a < b ? a : b; }

int tb_name_distance(const char* a, const char* b)
{
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST_NAME || m > LONGEST_NAME) return LONGEST_NAME + 1;
  int rows[3][LONGEST_NAME + 1];
  for (size_t j = 0; j <= m; j++) rows[0][j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    now[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

tbNearest tb_nearest(const char* wanted)
{
  int allowed = (int)(strlen(wanted) / 3);
  return (tbNearest){.wanted = wanted, .distance = (allowed > 1 ? allowed : 1) + 1};
}

void tb_nearest_offer(tbNearest* nearest, const char* candidate)
{
  int distance = tb_name_distance(nearest->wanted, candidate);
  if (distance >= nearest->distance) return;
  nearest->name = candidate;
  nearest->distance = distance;
}

void tb_list_append(char* list, size_t size, const char* name)
{
  static const char rest[] = ", …";
  size_t used = strlen(list), mark = sizeof rest - 1;
  if (used >= mark && strcmp(list + used - mark, rest) == 0) return; // full already
  if (used + 2 + strlen(name) + mark < size)
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
  else if (used + mark < size) memcpy(list + used, rest, sizeof rest);
}
