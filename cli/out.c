// SPDX-License-Identifier: Apache-2.0
#include "cli/out.h"
#include "tribo/tools/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int write_standard(void* user, const char* bytes, size_t count)
{
  tbSink stream = tb_sink_stream(user);
  int error = stream.write(stream.user, bytes, count);
  if (error != EPIPE) return error;
  clearerr(user);
  return 0;
}

tbOut out_standard(tbContext* ctx)
{
  return tb_out_sink(ctx, (tbSink){write_standard, stdout}, "standard output");
}

tbOut out_error(tbContext* ctx) { return tb_out_sink(ctx, tb_sink_stream(stderr), "standard error"); }

tbOut out_summary(tbContext* ctx, bool output_taken)
{
  return output_taken ? out_error(ctx) : out_standard(ctx);
}

void out_format(tbOut* out, const char* format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tb_out_text(out, text);
}

// C0 and C1 control characters, which can move a cursor or recolour a terminal.
static bool is_control(const char* at, int length)
{
  const unsigned char* c = (const unsigned char*)at;
  return (length == 1 && (*c < 0x20 || *c == 0x7f)) || (length == 2 && c[0] == 0xc2 && c[1] < 0xa0);
}

void out_terminal(tbOut* out, const char* text)
{
  for (const char* end = text + strlen(text); text < end;) {
    int length = tb_utf8_length(text, end);
    if (length && !is_control(text, length)) tb_out_bytes(out, text, (size_t)length);
    else tb_out_text(out, "?");
    text += length ? length : 1;
  }
}

static const char* html_for(const char* at, int length)
{
  switch (*at) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  }
  bool space = *at == '\t' || *at == '\n';
  bool no_character = length == 3 && memcmp(at, "\xef\xbf", 2) == 0 && (unsigned char)at[2] >= 0xbe;
  return !length || (is_control(at, length) && !space) || no_character ? "\xef\xbf\xbd" : NULL;
}

void out_html(tbOut* out, const char* text)
{
  for (const char* end = text + strlen(text); text < end;) {
    int length = tb_utf8_length(text, end);
    const char* instead = html_for(text, length);
    if (instead) tb_out_text(out, instead);
    else tb_out_bytes(out, text, (size_t)length);
    text += length ? length : 1;
  }
}

void out_csv(tbOut* out, const char* text)
{
  if (!strpbrk(text, ",\"\r\n")) {
    tb_out_text(out, text);
    return;
  }
  tb_out_text(out, "\"");
  for (; *text; text++) tb_out_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  tb_out_text(out, "\"");
}

const char* out_scaled(char text[OUT_NUMBER], double value)
{
  double size = fabs(value);
  if (size > 0 && !(size >= 1e-6 && size < 1e9)) {
    snprintf(text, OUT_NUMBER, "%.2e", value);
    return text;
  }
  int decimals = size > 0 ? 2 - (int)floor(log10(size)) : 0;
  snprintf(text, OUT_NUMBER, "%.*f", decimals > 0 ? decimals : 0, value);
  return text;
}

static void write_power(tbOut* out, double value, int decimals)
{
  static const char* const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (!(fabs(value) > 0) || !isfinite(value)) {
    out_format(out, isnan(value) ? "nan" : isinf(value) ? "∞" : "0");
    return;
  }
  char text[32], *e;
  snprintf(text, sizeof text, "%.*e", decimals, value); // d.d…e±xx
  e = strchr(text, 'e');
  int power = atoi(e + 1);
  *e = 0;
  while (e[-1] == '0') *--e = 0; // there is a point before them
  if (e[-1] == '.') *--e = 0;
  if (strcmp(text, "1") != 0) out_format(out, power == 0 ? "%s" : "%s·", text);
  else if (power == 0) out_format(out, "1");
  if (power == 0) return;
  out_format(out, power < 0 ? "10⁻" : "10");
  snprintf(text, sizeof text, "%d", abs(power));
  for (const char* at = text; *at; at++) out_format(out, "%s", digit[*at - '0']);
}

void out_power(tbOut* out, double value) { write_power(out, value, 1); }

// Decimals that tell the two apart: nothing reads "10⁻⁵ > 10⁻⁵".
static int decimals_between(double value, double tolerance)
{
  char a[40], b[40];
  for (int decimals = 1; decimals < 16; decimals++) {
    snprintf(a, sizeof a, "%.*e", decimals, value);
    snprintf(b, sizeof b, "%.*e", decimals, tolerance);
    if (strcmp(a, b) != 0) return decimals;
  }
  return 1;
}

void out_held(tbOut* out, double value, double tolerance, const char* unit)
{
  int decimals = tolerance > 0 ? decimals_between(value, tolerance) : 1;
  write_power(out, value, decimals);
  if (tolerance > 0) {
    out_format(out, value <= tolerance ? " ≤ " : " > ");
    write_power(out, tolerance, decimals);
  }
  out_format(out, "%s", unit);
}

void out_wrote(bool output_taken, const char* path)
{
  if (!path || strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) return;
  tbContext ctx = tb_default_context();
  tbOut out = out_summary(&ctx, output_taken);
  tb_out_text(&out, "wrote ");
  out_terminal(&out, path);
  tb_out_text(&out, "\n");
  tb_out_finish(&out);
  tb_out_free(&out);
}
