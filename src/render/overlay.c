// Scene, time and numbers in the corners, and the judge's residual as a curve with a mark at the present.
#include "render/marks.h"

#include <stdio.h>
#include <string.h>

enum { HISTORY = 4096 };

static double log10_of(double x) { return x > 0 ? tb_ln(x) / 2.302585092994046 : -INFINITY; }

tbStatus tb_history_create(tbContext* ctx, tbArena* arena, tbReplay* replay, double tolerance, tbHistory* out)
{
  int64_t frames = tb_replay_frame_count(replay);
  *out = (tbHistory){.count = (int)(frames < HISTORY ? frames : HISTORY),
                     .scalar_residual = tb_replay_scalar(replay, "residual"),
                     .scalar_iterations = tb_replay_scalar(replay, "iterations"),
                     .scalar_contacts = tb_replay_scalar(replay, "contacts")};
  if (out->scalar_residual < 0) out->count = 0;
  out->time = TB_TAKE(arena, double, (size_t)out->count);
  out->residual = TB_TAKE(arena, double, (size_t)out->count);
  if (!out->time || !out->residual) return TB_ERROR_MEMORY;
  double low = log10_of(tolerance), high = low + 1;
  if (!isfinite(low)) low = -8, high = -7;
  for (int i = 0; i < out->count; i++) {
    tbReplayFrame f;
    TB_TRY(tb_replay_read(ctx, replay, out->count > 1 ? i * (frames - 1) / (out->count - 1) : 0, &f));
    double r = log10_of(f.scalar[out->scalar_residual]);
    out->time[i] = f.time, out->residual[i] = r;
    if (r > -17 && r < 30) low = fmin(low, r), high = fmax(high, r);
  }
  out->low = floor(low), out->high = ceil(high);
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
    p[i] = (tbPoint){(to_left ? left + r : right - r) + r * cosine, (to_top ? top + r : bottom - r) + r * sine};
  }
  tb_paint_polygon(s->canvas, p, 4 * ROUND, &ink);
}

static void paint_curve(const Sheet* s, const tbSubject* m, const tbHistory* h, double now, double residual)
{
  double u = s->scale, left = 28 * u, width = 210 * u, bottom = s->canvas->height - 24 * u, height = 44 * u;
  double t0 = h->time[0], t1 = h->time[h->count - 1], span = t1 > t0 ? t1 - t0 : 1;
  double top = h->high > h->low ? h->high : h->low + 1;
  double tolerance = log10_of(m->tolerance);
  backdrop(s, left - 14 * u, left + width + 14 * u, bottom - height - 32 * u, bottom + 12 * u);
  line(s, (tbPoint){left, bottom}, (tbPoint){left + width, bottom}, 1, s->theme->faint, 0.5);
  if (tolerance >= h->low && tolerance <= top)
    for (double x = 0; x < width; x += 8 * u) {
      double y = bottom - height * (tolerance - h->low) / (top - h->low);
      line(s, (tbPoint){left + x, y}, (tbPoint){left + fmin(x + 3 * u, width), y}, 1, s->theme->faint, 0.8);
    }
  tbPoint last = {left, bottom};
  for (int i = 0; i < h->count; i++) {
    double level = fmin(fmax((h->residual[i] - h->low) / (top - h->low), 0), 1);
    tbPoint p = {left + width * (h->time[i] - t0) / span, bottom - height * level};
    bool past = h->time[i] <= now;
    if (i > 0) line(s, last, p, 1.3, past ? s->theme->accent : s->theme->faint, past ? 0.95 : 0.35);
    last = p;
  }
  double level = fmin(fmax((log10_of(residual) - h->low) / (top - h->low), 0), 1);
  dot(s, (tbPoint){left + width * fmin(fmax((now - t0) / span, 0), 1), bottom - height * level}, 3.2, s->theme->accent);
  char text[64];
  double x = write_at(s, left, bottom - height - 12 * u, 9, "residual", s->theme->faint);
  write_at(s, x + 7 * u, bottom - height - 12 * u, 9, number(text, sizeof text, "%.1e", residual), s->theme->ink);
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
  if (h->count > 0) paint_curve(&s, m, h, f->time, f->scalar[h->scalar_residual]);
  if (contacts) paint_legend(&s, f);
}
