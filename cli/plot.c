// SPDX-License-Identifier: Apache-2.0
// Drawing a plot.
//
// The start (x = 0) has no place on a logarithmic axis; it stands left of a small gap, over the tick "0".
// Each curve is named at the right edge, at the height where it ends; names that would overlap are spread and
// a thin line leads from the curve's end to its name. Colours and dashes come from the page's style, or, in a
// file by itself, from a style of its own.
#include "cli/plot.h"
#include "tribo/tools/sort.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 500, LEFT = 60, TOP = 12, HEIGHT = 290, FOOT = 42, GAP = 20, LINE = 15, KEY = 34 };

typedef struct {
  const Plot* plot;
  double x0, x1, y0, y1;   // the ranges shown, as powers of ten; shares as they are
  int left, right, bottom; // curves span left … right, TOP … bottom; names stand to the right of them
} Frame;

static double clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

static double x_of(const Frame* f, double value)
{
  if (value <= 0) return LEFT;
  return f->left + (f->right - f->left) * clamp((log10(value) - f->x0) / (f->x1 - f->x0), 0, 1);
}

static double y_of(const Frame* f, double value)
{
  double at = f->plot->share ? value : value > 0 ? log10(value) : f->y0;
  return f->bottom - (f->bottom - TOP) * clamp((at - f->y0) / (f->y1 - f->y0), 0, 1);
}

static int count_grey(const Plot* plot)
{
  int grey = 0;
  for (int i = 0; i < plot->curves; i++) grey += plot->curve[i].grey && plot->curve[i].points > 0;
  return grey;
}

// Room for the longest name.
static int name_width(const Plot* plot)
{
  size_t longest = 4;
  for (int i = 0; i < plot->curves; i++) {
    size_t length = plot->curve[i].grey ? 0 : strlen(plot->curve[i].name);
    if (length > longest) longest = length;
  }
  return 15 * (int)(longest < 16 ? longest : 16) / 2;
}

// The ranges: everything that was measured, but no more than three powers of ten above the start when a
// method diverges, nor below rounding.
static Frame fit(const Plot* plot)
{
  double x0 = INFINITY, x1 = -INFINITY, low = INFINITY, high = 0, start = 0;
  Frame f = {.plot = plot, .right = WIDTH - KEY - name_width(plot), .bottom = TOP + HEIGHT};
  f.left = plot->axis == PLOT_FACTOR ? LEFT : LEFT + GAP;
  int named = plot->curves - count_grey(plot);
  if (named * LINE > HEIGHT) f.bottom = TOP + named * LINE;
  for (int i = 0; i < plot->curves; i++)
    for (int k = 0; k < plot->curve[i].points; k++) {
      PlotPoint p = plot->curve[i].point[k];
      if (p.x == 0) start = fmax(start, p.y);
      else {
        x0 = fmin(x0, p.x);
        x1 = fmax(x1, p.x);
      }
      if (p.y > 0) low = fmin(low, p.y);
      if (isfinite(p.y)) high = fmax(high, p.y);
    }
  if (start > 0) high = fmin(high, 1e3 * start);
  if (plot->tolerance > 0) low = fmin(low, plot->tolerance);
  f.y1 = ceil(log10(high > 0 ? fmax(high, 1e-16) : 1) - 1e-9);
  f.y0 = fmin(floor(fmax(log10(isfinite(low) ? low : 1e-8), -18) - 0.2), f.y1 - 2);
  if (plot->share) f.y0 = 0, f.y1 = 1;
  double least = plot->axis == PLOT_SECONDS ? 1e-9 : 1;
  if (x0 > x1) x0 = x1 = plot->axis == PLOT_SECONDS ? 1e-6 : 1; // no step was taken
  f.x0 = log10(fmax(x0, least));
  f.x1 = fmax(log10(fmax(x1, least)) + 0.02, f.x0 + (plot->share ? 0.3 : 1));
  return f;
}

static void superscript(char* text, size_t size, int power)
{
  static const char* const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char plain[16];
  snprintf(plain, sizeof plain, "%d", power);
  snprintf(text, size, "10");
  for (const char* c = plain; *c; c++) {
    const char* up = *c == '-' ? "⁻" : digit[*c - '0'];
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", up);
  }
}

// m·10^power as 5, 2 000, 10⁵, or 200 µs.
static void tick_label(const Frame* f, int m, int power, char text[64])
{
  if (f->plot->axis == PLOT_SECONDS) {
    static const char* const unit[] = {"ns", "µs", "ms", "s"};
    int u = power < -6 ? 0 : power < -3 ? 1 : power < 0 ? 2 : 3;
    snprintf(text, 64, "%g %s", m * pow(10, power + 9 - 3 * u), unit[u]);
  } else if (power >= 5) superscript(text, 64, power);
  else if (power >= 3) snprintf(text, 64, "%d 000", m * (power == 4 ? 10 : 1));
  else snprintf(text, 64, "%g", m * pow(10, power));
}

static void draw_x_axis(tbOut* out, const Frame* f)
{
  bool few = f->x1 - f->x0 < 1.7, all = f->x1 - f->x0 < 0.7; // then 2 and 5 are named too, or every line
  double last = f->left > LEFT ? LEFT : -INFINITY;
  if (f->left > LEFT)
    out_format(out, "<text class=\"t m\" x=\"%d\" y=\"%d\">0</text>\n", LEFT, f->bottom + 17);
  for (int power = (int)floor(f->x0); power <= (int)ceil(f->x1); power++)
    for (int m = 1; m <= 9; m++) {
      double at = log10(m) + power;
      if (at < f->x0 - 1e-9 || at > f->x1 + 1e-9) continue;
      double x = x_of(f, m * pow(10, power));
      out_format(out, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>\n", m == 1 ? "g" : "g f", x, TOP, f->bottom);
      bool named = m == 1 || all || (few && (m == 2 || m == 5));
      if (!named || x < last + (f->plot->axis == PLOT_SECONDS && last > LEFT ? 40 : 16)) continue;
      char label[64];
      tick_label(f, m, power, label);
      out_format(out, "<text class=\"t m\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, f->bottom + 17, label);
      last = x;
    }
  out_format(out, "<text class=\"t m a\" x=\"%d\" y=\"%d\">%s</text>\n", (LEFT + f->right) / 2,
             f->bottom + 36, f->plot->x_name);
}

static void draw_level(tbOut* out, const Frame* f, double value, const char* label)
{
  double y = y_of(f, value);
  out_format(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n", *label ? "g" : "g f", LEFT, y, f->right);
  if (*label)
    out_format(out, "<text class=\"t e\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 7, y + 4.5, label);
}

static void draw_y_axis(tbOut* out, const Frame* f)
{
  char label[64];
  if (f->plot->share) {
    for (int i = 0; i <= 4; i++) {
      snprintf(label, sizeof label, "%d %%", 25 * i);
      draw_level(out, f, 0.25 * i, label);
    }
    return;
  }
  int step = (int)ceil((f->y1 - f->y0) / 8);
  for (int power = (int)f->y1; power >= (int)f->y0; power--) {
    superscript(label, sizeof label, power);
    draw_level(out, f, pow(10, power), ((int)f->y1 - power) % step == 0 ? label : "");
  }
}

static void draw_tolerance(tbOut* out, const Frame* f)
{
  double tolerance = f->plot->tolerance;
  if (tolerance <= 0 || log10(tolerance) < f->y0 || log10(tolerance) > f->y1) return;
  double y = y_of(f, tolerance);
  out_format(out, "<path class=\"tol\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, f->right);
  out_format(out, "<text class=\"t n\" x=\"%d\" y=\"%.1f\">tolerance</text>\n", LEFT + 5, y - 5);
}

static void draw_y_name(tbOut* out, const Frame* f)
{
  out_format(out, "<text class=\"t m\" transform=\"translate(12 %d) rotate(-90)\">%s</text>\n",
             (TOP + f->bottom) / 2, f->plot->y_name);
}

// Names at the right edge.

typedef struct {
  const PlotCurve* curve;
  double x, y;  // where the curve ends
  double label; // height of its name
} End;

// From the top; of those that end at one height, such as the tolerance, the slowest first.
static int compare_ends(const void* a, const void* b)
{
  const End *p = a, *q = b;
  int height = (int)(p->y / LINE) - (int)(q->y / LINE);
  if (height) return height;
  return p->x != q->x ? (p->x > q->x ? -1 : 1) : p->curve->lane - q->curve->lane;
}

// Moves names as little as it takes (in the sense of least squares) for each to stand LINE below the one
// before: isotonic regression of y_i − i·LINE by pooling neighbours that are out of order.
static void spread(End* end, int count, double bottom)
{
  double mean[PLOT_CURVES];
  int size[PLOT_CURVES], pools = 0;
  for (int i = 0; i < count; i++) {
    mean[pools] = end[i].y - i * LINE;
    size[pools++] = 1;
    for (; pools > 1 && mean[pools - 2] > mean[pools - 1]; pools--) {
      int a = size[pools - 2], b = size[pools - 1];
      mean[pools - 2] = (a * mean[pools - 2] + b * mean[pools - 1]) / (a + b);
      size[pools - 2] = a + b;
    }
  }
  for (int pool = 0, i = 0; pool < pools; pool++)
    for (int k = 0; k < size[pool]; k++, i++)
      end[i].label = i * LINE + clamp(mean[pool], TOP, fmax(TOP, bottom - (count - 1) * LINE));
}

// Stairs go on to the right edge: a share holds for every larger x.
static void draw_line(tbOut* out, const Frame* f, const PlotCurve* c)
{
  for (int i = 0; i < c->points; i++) {
    double x = x_of(f, c->point[i].x), y = y_of(f, c->point[i].y);
    if (f->plot->share) out_format(out, i ? "H%.1fV%.1f" : "%.1f %.1f", x, y);
    else out_format(out, "%s%.1f %.1f", i ? " " : "", x, y);
  }
  if (f->plot->share) out_format(out, "H%d", f->right);
}

static void draw_curve(tbOut* out, const Frame* f, const End* end)
{
  const PlotCurve* c = end->curve;
  out_format(out, "<g class=\"c k%d\"><title>%s</title>\n<path class=\"l\" d=\"M", c->lane, c->name);
  draw_line(out, f, c);
  out_format(out, "\"/>\n<path class=\"w\" d=\"M%.1f %.1fH%dL%d %.1f\"/>\n", end->x, end->y, f->right,
             f->right + KEY - 26, end->label);
  if (!f->plot->share)
    out_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"/>\n", c->arrived ? "p" : "o",
               end->x, end->y);
  out_format(out, "<path class=\"l\" d=\"M%d %.1fh18\"/>\n<text x=\"%d\" y=\"%.1f\">%s</text>\n</g>\n",
             f->right + KEY - 24, end->label, f->right + KEY, end->label + 4.5, c->name);
}

// The curves that stand back, and how many they are.
static void draw_grey(tbOut* out, const Frame* f)
{
  int grey = count_grey(f->plot);
  for (int i = 0; i < f->plot->curves; i++) {
    const PlotCurve* c = &f->plot->curve[i];
    if (!c->grey || c->points == 0) continue;
    out_format(out, "<g class=\"c b k%d\"><title>%s</title><path class=\"l\" d=\"M", c->lane, c->name);
    draw_line(out, f, c);
    tb_out_text(out, "\"/></g>\n");
  }
  if (grey)
    out_format(out, "<text class=\"t e\" x=\"%d\" y=\"%d\">%d more in grey</text>\n", WIDTH, f->bottom + 36,
               grey);
}

static void draw_contents(tbOut* out, const Frame* f)
{
  End end[PLOT_CURVES];
  int count = 0;
  for (int i = 0; i < f->plot->curves && count < PLOT_CURVES; i++) {
    const PlotCurve* c = &f->plot->curve[i];
    if (c->points == 0 || c->grey) continue;
    PlotPoint last = c->point[c->points - 1];
    end[count++] = (End){.curve = c, .x = f->plot->share ? f->right : x_of(f, last.x), .y = y_of(f, last.y)};
  }
  tb_sort(end, (size_t)count, sizeof *end, compare_ends);
  spread(end, count, f->bottom);
  draw_x_axis(out, f);
  draw_y_axis(out, f);
  draw_y_name(out, f);
  draw_grey(out, f);
  for (int i = count - 1; i >= 0; i--) draw_curve(out, f, &end[i]);
  draw_tolerance(out, f);
}

void plot_draw(tbOut* out, const Plot* plot)
{
  Frame f = fit(plot);
  out_format(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s against %s\">\n", WIDTH,
             f.bottom + FOOT, plot->y_name, plot->x_name);
  draw_contents(out, &f);
  tb_out_text(out, "</svg>\n");
}

// Told apart by eyes of every kind: between any two, 17 or more of the CIELAB units of which 2 are just seen,
// as they are and as they look without red or without green receptors (Machado 2009), and a contrast of 3 or
// more to the ground.
const char* plot_colour(int lane, bool dark)
{
  static const char* const on_light[LANE_COLOURS] = {"#0f5694", "#fe4818", "#139068", "#968abc",
                                                     "#7ca02c", "#6a77ec", "#37212b", "#2d2bc7"};
  static const char* const on_dark[LANE_COLOURS] = {"#418cc5", "#e1610f", "#1de372", "#d58897",
                                                    "#dfe51c", "#89e2ff", "#ffffe1", "#8c6bff"};
  return (dark ? on_dark : on_light)[lane % LANE_COLOURS];
}

const char* plot_dashes(int lane)
{
  static const char* const dashes[] = {"none", "7 4", "2 4", "9 4 2 4"};
  return dashes[lane / LANE_COLOURS % 4];
}

// No variables here: programs other than browsers read these files.
void plot_file(tbOut* out, const Plot* plot)
{
  Frame f = fit(plot);
  out_format(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"13\">\n<title>%s against %s</title>\n",
             WIDTH * 3 / 2, (f.bottom + FOOT) * 3 / 2, WIDTH, f.bottom + FOOT, plot->y_name, plot->x_name);
  tb_out_text(out,
              "<style>.t{fill:#5c6675}.m{text-anchor:middle}.e{text-anchor:end}.g{stroke:#e3e7ed;fill:none}"
              ".f{stroke:#f1f3f6}.tol{stroke:#5c6675;stroke-dasharray:5 4;fill:none}\n"
              ".l{stroke-width:1.9;fill:none;stroke-linejoin:round;stroke-linecap:round}"
              ".w{stroke-width:1;stroke-dasharray:1 3;opacity:.55;fill:none}.o{fill:#fff;stroke-width:1.6}"
              ".n{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:3px}\n");
  for (int i = 0; i < plot->curves; i++) {
    int lane = plot->curve[i].lane;
    const char* colour = plot_colour(lane, false);
    out_format(out, ".k%d .l,.k%d .w,.k%d .o{stroke:%s}.k%d text,.k%d .p{fill:%s}", lane, lane, lane, colour,
               lane, lane, colour);
    if (lane >= LANE_COLOURS) out_format(out, ".k%d .l{stroke-dasharray:%s}", lane, plot_dashes(lane));
  }
  out_format(out,
             ".b .l{stroke:#c3cad4;stroke-width:1;stroke-dasharray:none}</style>\n<rect width=\"%d\" "
             "height=\"%d\" fill=\"#fff\"/>\n",
             WIDTH, f.bottom + FOOT);
  draw_contents(out, &f);
  tb_out_text(out, "</svg>\n");
}
