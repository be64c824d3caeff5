// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: small multiples. A row for each quantity; in it a plot over the first axis for each
// combination of values of the others, all of a row to the same scale.
#include "cli/sweep.h"
#include "cli/out.h"
#include "tribo/tools/decimal.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 220, HEIGHT = 130, LEFT = 56, BOTTOM = 24, TOP = 8, RIGHT = 8, MOST_PLOTS = 200 };

typedef struct {
  double low, high;
} Span;

static double shown(double value, bool logarithmic)
{
  return logarithmic ? log10(fmax(value, 1e-16)) : value;
}

static Span span_of(const Sweep* s, int metric)
{
  Span span = {INFINITY, -INFINITY};
  for (int i = 0; i < s->points; i++) {
    double v = shown(s->point[i].metric[metric], sweep_metrics[metric].logarithmic);
    if (!s->point[i].done || s->point[i].failed || !isfinite(v)) continue;
    span.low = fmin(span.low, v), span.high = fmax(span.high, v);
  }
  if (!(span.low <= span.high)) span = (Span){0, 1};
  if (span.high - span.low < 1e-12 * fmax(1, fabs(span.high))) span.low -= 0.5, span.high += 0.5;
  return span;
}

// Where a value of the first axis stands: by its number where all are numbers, else by its place.
static double place(const Sweep* s, int index)
{
  const SweepAxis* a = &s->axis[0];
  double first = 0, last = 0, value = 0;
  bool numbers = a->count > 1;
  for (int i = 0; i < a->count; i++) {
    const char* end = a->value[i] + strlen(a->value[i]);
    double v;
    numbers &= tb_read_double(a->value[i], end, &v) == end;
    if (!numbers) break;
    if (i == 0) first = last = v;
    first = fmin(first, v), last = fmax(last, v);
    if (i == index) value = v;
  }
  if (numbers && last > first) return (value - first) / (last - first);
  return a->count > 1 ? (double)index / (a->count - 1) : 0.5;
}

static void put_label(tbOut* out, double x, double y, const char* anchor, const char* text)
{
  out_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  out_html(out, text);
  tb_out_text(out, "</text>");
}

static void put_plot(tbOut* out, const Sweep* s, int metric, int first, Span span)
{
  const SweepAxis* a = &s->axis[0];
  bool logarithmic = sweep_metrics[metric].logarithmic;
  char text[32];
  double wide = WIDTH - LEFT - RIGHT, high = HEIGHT - TOP - BOTTOM;
  out_format(out, "<svg width=\"%d\" height=\"%d\"><rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\"/>",
             WIDTH, HEIGHT, LEFT, TOP, wide, high);
  for (int end = 0; end < 2; end++) {
    double v = end ? span.high : span.low;
    snprintf(text, sizeof text, "%.2g", logarithmic ? pow(10, v) : v);
    put_label(out, LEFT - 4, end ? TOP + 8 : TOP + high, "end", text);
    put_label(out, end ? WIDTH - RIGHT : LEFT, HEIGHT - 8, end ? "end" : "start",
              a->value[end ? a->count - 1 : 0]);
  }
  tb_out_text(out, "<polyline points=\"");
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < a->count; i++) {
      const SweepPoint* p = &s->point[first + i];
      double v = shown(p->metric[metric], logarithmic);
      if (!p->done || p->failed || !isfinite(v)) continue;
      double x = LEFT + wide * place(s, i), y = TOP + high * (1 - (v - span.low) / (span.high - span.low));
      if (pass == 0) out_format(out, "%.1f,%.1f ", x, y);
      else out_format(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>", x, y);
    }
    if (pass == 0) tb_out_text(out, "\"/>");
  }
  tb_out_text(out, "</svg>");
}

static void put_multiples(tbOut* out, const Sweep* s, int metric)
{
  Span span = span_of(s, metric);
  tb_out_text(out, "<h2>");
  out_html(out, sweep_metrics[metric].title);
  tb_out_text(out, "</h2><div>");
  int plots = s->points / s->axis[0].count;
  for (int i = 0; i < plots && i < MOST_PLOTS; i++) {
    tb_out_text(out, "<figure><figcaption>");
    for (int k = 1; k < s->axes; k++) {
      out_html(out, s->axis[k].key);
      tb_out_text(out, " = ");
      out_html(out, sweep_value(s, i * s->axis[0].count, k));
      tb_out_text(out, k + 1 < s->axes ? ", " : "");
    }
    tb_out_text(out, "</figcaption>");
    put_plot(out, s, metric, i * s->axis[0].count, span);
    tb_out_text(out, "</figure>");
  }
  if (plots > MOST_PLOTS) out_format(out, "<p>and %d more in sweep.csv</p>", plots - MOST_PLOTS);
  tb_out_text(out, "</div>\n");
}

void sweep_page(tbOut* out, const Sweep* s)
{
  tb_out_text(out,
              "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sweep</title><style>"
              "body{font:14px sans-serif;margin:2em}h2{font-size:15px;margin:1.5em 0 .3em}"
              "div{display:flex;flex-wrap:wrap}figure{margin:0 1em 1em 0}figcaption{font-size:12px}"
              "svg text{font-size:10px}rect{fill:none;stroke:#bbb}polyline{fill:none;stroke:#2266aa}"
              "circle{fill:#2266aa}</style></head><body><h1>");
  out_html(out, s->scene);
  tb_out_text(out, "</h1><p>over ");
  for (int i = 0; i < s->axes; i++) {
    out_html(out, s->axis[i].key);
    out_format(out, " (%d value%s)%s", s->axis[i].count, s->axis[i].count == 1 ? "" : "s",
               i + 1 < s->axes ? ", " : "");
  }
  tb_out_text(out, "; each plot is over ");
  out_html(out, s->axis[0].key);
  tb_out_text(out, ". Numbers: sweep.csv</p>\n");
  for (int i = 0; i < SWEEP_METRICS; i++) put_multiples(out, s, i);
  tb_out_text(out, "</body></html>\n");
}
