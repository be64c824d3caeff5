// SPDX-License-Identifier: Apache-2.0
// Scene, time and numbers in the corners, and the judge's residual as a curve with a mark at the present.
#include "render/marks.h"

#include <stdio.h>
#include <string.h>

enum { HISTORY = 4096 };

static double log10_of(double x) { return x > 0 ? tb_ln(x) / 2.302585092994046 : -INFINITY; }

tbStatus tb_history_create(tbContext* ctx, tbArena* arena, tbReplay* replay, const tbSubject* subject,
                           tbHistory* out)
{
  int64_t frames = tb_replay_frame_count(replay);
  bool velocity = subject->velocity_tolerance > 0 && tb_replay_scalar(replay, "residual_velocity") >= 0;
  *out = (tbHistory){.count = (int)(frames < HISTORY ? frames : HISTORY),
                     .tolerance = velocity ? subject->velocity_tolerance : subject->tolerance,
                     .unit = velocity ? " m/s" : "",
                     .scalar_residual = tb_replay_scalar(replay, velocity ? "residual_velocity" : "residual"),
                     .scalar_iterations = tb_replay_scalar(replay, "iterations"),
                     .scalar_contacts = tb_replay_scalar(replay, "contacts")};
  if (out->scalar_residual < 0) out->count = 0;
  out->time = TB_TAKE(arena, double, (size_t)out->count);
  out->residual = TB_TAKE(arena, double, (size_t)out->count);
  if (!out->time || !out->residual) return TB_ERROR_MEMORY;
  double low = log10_of(out->tolerance), high = low + 1;
  if (!isfinite(low)) low = -8, high = -7;
  for (int i = 0; i < out->count; i++) {
    tbReplayFrame f;
    TB_TRY(tb_replay_read(ctx, replay, out->count > 1 ? i * (frames - 1) / (out->count - 1) : 0, &f));
    double r = log10_of(f.scalar[out->scalar_residual]);
    out->time[i] = f.time, out->residual[i] = r;
    if (r > -17 && r < 30) low = fmin(low, r), high = fmax(high, r);
  }
  out->low = floor(low + 1e-9), out->high = ceil(high - 1e-9);
  return TB_OK;
}

// A number as text, whatever the locale.
static const char* number(char* text, size_t size, const char* format, double value)
{
  snprintf(text, size, format, value);
  char* comma = strchr(text, ',');
  if (comma) *comma = '.';
  return text;
}

typedef struct {
  const tbCanvas* canvas;
  const tbTheme* theme;
  double scale; // pixels of 1/720 of the picture's shorter side
} Sheet;

static double write_at(const Sheet* s, double x, double y, double height, const char* text, tbColor color)
{
  tbInk ink = tb_ink(color, 1);
  tb_paint_text(s->canvas, (tbPoint){x, y}, height * s->scale, 0.125, text, &ink);
  return x + tb_text_width(height * s->scale, text);
}

static void line(const Sheet* s, tbPoint a, tbPoint b, double width, tbColor color, double alpha)
{
  tbInk ink = tb_ink(color, alpha);
  tb_paint_line(s->canvas, a, b, width * s->scale, &ink);
}

static void dot(const Sheet* s, tbPoint at, double radius, tbColor color)
{
  line(s, at, at, 2 * radius, color, 1);
}

// Something of the background behind text, so that it can be read over anything: a box with round corners.
static void backdrop(const Sheet* s, double left, double right, double top, double bottom)
{
  enum { ROUND = 6 };
  tbPoint p[4 * ROUND];
  double r = fmin(9 * s->scale, 0.5 * (bottom - top));
  tbInk ink = tb_ink(s->theme->background, 0.66);
  for (int i = 0; i < 4 * ROUND; i++) {
    double sine, cosine;
    tb_sin_cos(1.5707963267948966 * (i / ROUND + (double)(i % ROUND) / (ROUND - 1)), &sine, &cosine);
    bool to_left = i / ROUND == 1 || i / ROUND == 2, to_top = i / ROUND >= 2;
    p[i] =
        (tbPoint){(to_left ? left + r : right - r) + r * cosine, (to_top ? top + r : bottom - r) + r * sine};
  }
  tb_paint_polygon(s->canvas, p, 4 * ROUND, &ink);
}

// Where a residual's logarithm stands in the plot.
typedef struct {
  double left, width, bottom, height, low, high;
} Plot;

static double level(const Plot* p, double value)
{
  return p->bottom - p->height * fmin(fmax((value - p->low) / (p->high - p->low), 0), 1);
}

// The ends of the scale, and the tolerance; an end that would stand in the tolerance's way is left out.
static void paint_scale(const Sheet* s, const Plot* p, double tolerance)
{
  const double values[3] = {tolerance, p->low, p->high};
  double u = s->scale, right = p->left + p->width;
  for (int i = 0; i < 3; i++) {
    char text[32];
    double y = level(p, values[i]), power = floor(values[i] + 1e-9);
    if (!(values[i] >= p->low && values[i] <= p->high)) continue;
    if (i > 0 && fabs(y - level(p, tolerance)) < 12 * u) continue;
    for (double x = 0; x < p->width; x += 8 * u)
      line(s, (tbPoint){p->left + x, y}, (tbPoint){p->left + fmin(x + (i ? 8 : 3) * u, p->width), y}, 1,
           s->theme->faint, i ? 0.3 : 0.9);
    if (i > 0) snprintf(text, sizeof text, "1e%.0f", values[i]);
    else snprintf(text, sizeof text, "%.0fe%.0f", tb_exp(2.302585092994046 * (values[i] - power)), power);
    write_at(s, right + 7 * u, y + 3.5 * u, 7.5, text, i ? s->theme->faint : s->theme->ink);
  }
}

// "2.0e-06 <= 1e-05 m/s": what the residual is held against.
static const char* held(char text[96], const tbHistory* h, double residual)
{
  char value[32], limit[32] = "";
  number(value, sizeof value, "%.1e", residual);
  if (h->tolerance > 0) number(limit, sizeof limit, "%.0e", h->tolerance);
  snprintf(text, 96, "%s%s%s%s", value,
           !*limit                    ? ""
           : residual <= h->tolerance ? " <= "
                                      : " > ",
           limit, h->unit);
  return text;
}

static void paint_curve(const Sheet* s, const tbHistory* h, double now, double residual)
{
  double u = s->scale, t0 = h->time[0], t1 = h->time[h->count - 1], span = t1 > t0 ? t1 - t0 : 1;
  Plot p = {28 * u, 200 * u, s->canvas->height - 28 * u,
            58 * u, h->low,  h->high > h->low ? h->high : h->low + 1};
  double tolerance = log10_of(h->tolerance), title = p.bottom - p.height - 14 * u;
  bool missed = !(residual <= h->tolerance) && h->tolerance > 0;
  backdrop(s, p.left - 14 * u, p.left + p.width + 46 * u, title - 20 * u, p.bottom + 16 * u);
  paint_scale(s, &p, tolerance);
  tbPoint last = {p.left, p.bottom};
  for (int i = 0; i < h->count; i++) {
    tbPoint next = {p.left + p.width * (h->time[i] - t0) / span, level(&p, h->residual[i])};
    bool past = h->time[i] <= now;
    if (i > 0) line(s, last, next, 1.4, past ? s->theme->accent : s->theme->faint, past ? 0.95 : 0.35);
    last = next;
  }
  tbColor color = missed ? s->theme->state[TB_CONTACT_SLIP] : s->theme->accent;
  dot(s, (tbPoint){p.left + p.width * fmin(fmax((now - t0) / span, 0), 1), level(&p, log10_of(residual))},
      3.4, color);
  char text[96];
  double x = write_at(s, p.left, title, 9, "residual", s->theme->faint);
  write_at(s, x + 7 * u, title, 9, held(text, h, residual), missed ? color : s->theme->ink);
}

static void paint_legend(const Sheet* s, const tbReplayFrame* f)
{
  static const char* const names[] = {"open", "stick", "slip"};
  static const int order[3] = {TB_CONTACT_OPEN, TB_CONTACT_SLIP, TB_CONTACT_STICK}; // from the right
  int count[3] = {0};
  char text[3][32];
  for (int i = 0; i < f->contact_count; i++) count[f->contact[i].state]++;
  double u = s->scale, right = s->canvas->width - 28 * u, x = right, y = s->canvas->height - 24 * u;
  for (int k = 0; k < 3; k++) {
    snprintf(text[k], sizeof text[k], "%s %d", names[order[k]], count[order[k]]);
    x -= tb_text_width(9 * u, text[k]) + (k < 2 ? 34 * u : 0);
  }
  backdrop(s, x - 26 * u, right + 10 * u, y - 20 * u, y + 11 * u);
  for (int k = 2; k >= 0; k--) {
    dot(s, (tbPoint){x - 10 * u, y - 4.5 * u}, 4.5, s->theme->state[order[k]]);
    x = write_at(s, x, y, 9, text[k], s->theme->ink) + 34 * u;
  }
}

static void paint_title(const Sheet* s, const tbSubject* m, const tbHistory* h, const tbReplayFrame* f)
{
  char time[64], contacts[64] = "", iterations[64] = "";
  double u = s->scale, left = 28 * u, x = left, y = 42 * u;
  number(time, sizeof time, "t = %.3f s", f->time);
  if (h->scalar_contacts >= 0) {
    double count = f->scalar[h->scalar_contacts];
    snprintf(contacts, sizeof contacts, count == 1 ? "%.0f contact" : "%.0f contacts", count);
  }
  if (h->scalar_iterations >= 0) {
    double count = floor(f->scalar[h->scalar_iterations] + 0.5);
    snprintf(iterations, sizeof iterations, count == 1 ? "%.0f iteration" : "%.0f iterations", count);
  }
  const char* const words[3] = {time, contacts, iterations};
  for (int k = 0; k < 3; k++) x += tb_text_width(9.5 * u, words[k]) + (k < 2 ? 18 * u : 0);
  x = fmax(x, left + tb_text_width(15 * u, m->name));
  backdrop(s, left - 14 * u, x + 10 * u, y - 28 * u, y + 39 * u);
  write_at(s, left, y, 15, m->name, s->theme->ink);
  x = left;
  for (int k = 0; k < 3; k++)
    x = write_at(s, x, y + 25 * u, 9.5, words[k], k ? s->theme->faint : s->theme->ink) + 18 * u;
}

void tb_paint_overlay(const tbCanvas* canvas, const tbSubject* m, const tbTheme* theme, const tbHistory* h,
                      const tbReplayFrame* f, bool contacts)
{
  int side = canvas->width < canvas->height ? canvas->width : canvas->height;
  Sheet s = {canvas, theme, side / 720.0};
  paint_title(&s, m, h, f);
  if (h->count > 0) paint_curve(&s, h, f->time, f->scalar[h->scalar_residual]);
  if (contacts) paint_legend(&s, f);
}
