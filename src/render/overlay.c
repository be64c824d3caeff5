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

static void paint_curve(const Sheet* s, const tbSubject* m, const tbHistory* h, double now, double residual)
{
  double u = s->scale, left = 28 * u, width = 210 * u, bottom = s->canvas->height - 24 * u, height = 44 * u;
  double t0 = h->time[0], t1 = h->time[h->count - 1], span = t1 > t0 ? t1 - t0 : 1;
  double top = h->high > h->low ? h->high : h->low + 1;
  double tolerance = log10_of(m->tolerance);
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
  int count[3] = {0};
  for (int i = 0; i < f->contact_count; i++) count[f->contact[i].state]++;
  double u = s->scale, x = s->canvas->width - 28 * u, y = s->canvas->height - 24 * u;
  for (int k = 0; k < 3; k++) {
    int state = (k + 2) % 3 == 0 ? TB_CONTACT_OPEN : k == 0 ? TB_CONTACT_SLIP : TB_CONTACT_STICK;
    char text[32];
    snprintf(text, sizeof text, "%s %d", names[state], count[state]);
    double width = tb_text_width(9 * u, text);
    x -= width;
    write_at(s, x, y, 9, text, s->theme->ink);
    dot(s, (tbPoint){x - 10 * u, y - 4.5 * u}, 4.5, s->theme->state[state]);
    x -= 34 * u;
  }
}

void tb_paint_overlay(const tbCanvas* canvas, const tbSubject* m, const tbTheme* theme, const tbHistory* h,
                      const tbReplayFrame* f, bool contacts)
{
  int side = canvas->width < canvas->height ? canvas->width : canvas->height;
  Sheet s = {canvas, theme, side / 720.0};
  double u = s.scale, x = 28 * u, y = 42 * u;
  char text[96];
  write_at(&s, x, y, 15, m->name, theme->ink);
  y += 25 * u;
  x = write_at(&s, x, y, 9.5, number(text, sizeof text, "t = %.3f s", f->time), theme->ink) + 18 * u;
  if (h->scalar_contacts >= 0) {
    snprintf(text, sizeof text, "%.0f contacts", f->scalar[h->scalar_contacts]);
    x = write_at(&s, x, y, 9.5, text, theme->faint) + 18 * u;
  }
  if (h->scalar_iterations >= 0) {
    snprintf(text, sizeof text, "%.0f iterations", f->scalar[h->scalar_iterations]);
    write_at(&s, x, y, 9.5, text, theme->faint);
  }
  if (h->count > 0) paint_curve(&s, m, h, f->time, f->scalar[h->scalar_residual]);
  if (contacts) paint_legend(&s, f);
}
