// SPDX-License-Identifier: Apache-2.0
// The grid of a sweep, and its rows in a file.
#include "cli/sweep.h"
#include "cli/out.h"
#include "tribo/tools/decimal.h"
#include "tribo/tools/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const SweepMetric sweep_metrics[SWEEP_METRICS] = {
    {"residual", "worst certificate, m/s", true},
    {"unconverged", "steps that missed their tolerance", false},
    {"iterations", "iterations a step, mean", false},
    {"contacts", "contacts a step, mean", false},
    {"penetration", "deepest overlap, m", true},
    {"energy", "energy at the end, J", false},
    {"ms_per_step", "ms of a step, mean", true},
};

static bool read_range(const char* text, SweepAxis* axis)
{
  const char* end = text + strlen(text);
  double low, high, count;
  const char* at = tb_read_double(text, end, &low);
  if (at == text || *at != ':') return false;
  const char* next = tb_read_double(at + 1, end, &high);
  if (next == at + 1 || *next != ':') return false;
  at = tb_read_double(next + 1, end, &count);
  if (at != end || count != floor(count) || count < 2 || count > SWEEP_VALUES) return false;
  axis->count = (int)count;
  for (int i = 0; i < axis->count; i++) {
    double exact = i + 1 == axis->count ? high : low + (high - low) * i / (count - 1);
    char text12[TB_DOUBLE_TEXT];
    snprintf(text12, sizeof text12, "%.12g", exact); // 0.3, not 0.30000000000000004
    double value = exact;
    tb_read_double(text12, text12 + strlen(text12), &value);
    tb_format_double(value, text12);
    snprintf(axis->value[i], SWEEP_TEXT, "%s", text12);
  }
  return true;
}

static bool read_list(const char* text, SweepAxis* axis)
{
  while (true) {
    size_t length = strcspn(text, ",");
    if (length == 0 || length >= SWEEP_TEXT || axis->count == SWEEP_VALUES) return false;
    snprintf(axis->value[axis->count++], SWEEP_TEXT, "%.*s", (int)length, text);
    if (!text[length]) return true;
    text += length + 1;
  }
}

bool sweep_axis_read(const char* text, SweepAxis* out)
{
  const char* equals = strchr(text, '=');
  size_t length = equals ? (size_t)(equals - text) : 0;
  *out = (SweepAxis){0};
  if (length == 0 || length >= SWEEP_TEXT) {
    fprintf(stderr, "tribo sweep: --vary takes KEY=FROM:TO:COUNT or KEY=A,B,…, not \"%.100s\"\n", text);
    return false;
  }
  snprintf(out->key, sizeof out->key, "%.*s", (int)length, text);
  out->value = calloc(SWEEP_VALUES, SWEEP_TEXT);
  if (!out->value) {
    fprintf(stderr, "tribo sweep: no memory\n");
    return false;
  }
  bool range = strchr(equals, ':') != NULL;
  if (range ? read_range(equals + 1, out) : read_list(equals + 1, out)) return true;
  fprintf(stderr, "tribo sweep: \"%.100s\": %s\n", text,
          range ? "a range is FROM:TO:COUNT, with a count of 2 to 1000"
                : "a list of up to 1000 values is needed");
  return false;
}

// Rows.

static void put_header(tbOut* out, const Sweep* s)
{
  tb_out_text(out, "point,scene");
  for (int i = 0; i < s->axes; i++) tb_out_text(out, ","), out_csv(out, s->axis[i].key);
  tb_out_text(out, ",status");
  for (int i = 0; i < SWEEP_METRICS; i++) tb_out_text(out, ","), tb_out_text(out, sweep_metrics[i].name);
  tb_out_text(out, ",state_hash\n");
}

// What a row begins with: the point, and what it is.
static void put_key(tbOut* out, const Sweep* s, int point)
{
  tb_out_int(out, point);
  tb_out_text(out, ",");
  out_csv(out, s->scene);
  for (int i = 0; i < s->axes; i++) tb_out_text(out, ","), out_csv(out, sweep_value(s, point, i));
  tb_out_text(out, ",");
}

void sweep_row(tbOut* out, const Sweep* s, int point)
{
  const SweepPoint* p = &s->point[point];
  put_key(out, s, point);
  tb_out_text(out, p->failed ? "failed" : "ok");
  for (int i = 0; i < SWEEP_METRICS; i++) tb_out_text(out, ","), tb_out_double(out, p->metric[i]);
  tb_out_text(out, ",");
  tb_out_text(out, p->hash);
  tb_out_text(out, "\n");
}

void sweep_csv(tbOut* out, const Sweep* s)
{
  put_header(out, s);
  for (int i = 0; i < s->points; i++)
    if (s->point[i].done) sweep_row(out, s, i);
}

static bool take_row(const char* line, const char* end, SweepPoint* p)
{
  SweepPoint read = {.done = true};
  if (end - line < 3 || strncmp(line, "ok,", 3) != 0) return false; // failed ones are tried again
  const char* at = line + 3;
  for (int i = 0; i < SWEEP_METRICS; i++) {
    const char* after = tb_read_double(at, end, &read.metric[i]);
    if (after == at || after == end || *after != ',') return false;
    at = after + 1;
  }
  if (end - at != 16) return false;
  snprintf(read.hash, sizeof read.hash, "%.16s", at);
  *p = read;
  return true;
}

tbStatus sweep_resume(tbContext* ctx, const char* path, Sweep* s, int* taken)
{
  char* bytes;
  size_t length;
  *taken = 0;
  if (access(path, F_OK) != 0) return TB_OK;
  TB_TRY(tb_read_file(ctx, path, (size_t)1 << 30, &bytes, &length));
  tbOut want = tb_out_memory(ctx);
  put_header(&want, s);
  tbStatus status = tb_out_finish(&want);
  bool same = status == TB_OK && length >= want.length && memcmp(bytes, want.bytes, want.length) == 0;
  if (status == TB_OK && !same)
    status = tb_fail(ctx, TB_ERROR_INPUT, "%s: is of another sweep; name another folder, or remove it", path);
  const char *at = same ? bytes + want.length : bytes + length, *last = bytes + length;
  while (status == TB_OK && at < last) {
    const char* end = memchr(at, '\n', (size_t)(last - at));
    long point = strtol(at, NULL, 10);
    if (!end) break; // a row that was being written when the sweep was stopped
    tbOut key = tb_out_memory(ctx);
    if (point >= 0 && point < s->points) {
      put_key(&key, s, (int)point);
      status = tb_out_finish(&key);
      bool fits =
          status == TB_OK && (size_t)(end - at) > key.length && memcmp(at, key.bytes, key.length) == 0;
      if (fits && !s->point[point].done && take_row(at + key.length, end, &s->point[point])) ++*taken;
    }
    tb_out_free(&key);
    at = end + 1;
  }
  tb_out_free(&want);
  tb_free(ctx, bytes);
  return status;
}
