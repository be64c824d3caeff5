// A convergence plot: residual against iterations or time, both logarithmic, as an inline SVG.
//
// The start (iteration 0) has no place on a logarithmic axis; it stands left of a small gap, over the tick
// "0". Each curve is named at the right edge, at the height where it ends; names that would overlap are
// spread and a thin line leads from the curve's end to its name. Colours and dashes come from the page's
// style.
#include "cli/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 500, LEFT = 46, TOP = 12, HEIGHT = 290, FOOT = 42, GAP = 20, LINE = 15, KEY = 34, MOST = 64 };

typedef struct {
  PlotAxis axis;
  double x0, x1, y0, y1; // the ranges shown, as powers of ten
  int right, bottom;     // the plot spans LEFT … right, TOP … bottom; names stand to the right of it
} Frame;

static double clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

static double abscissa(const Frame* f, const CurvePoint* p)
{
  return f->axis == PLOT_TIME ? p->time_s : p->iteration;
}

static double x_of(const Frame* f, double value)
{
  return LEFT + GAP + (f->right - LEFT - GAP) * clamp((log10(value) - f->x0) / (f->x1 - f->x0), 0, 1);
}

static double y_of(const Frame* f, double residual)
{
  double power = residual > 0 ? log10(residual) : f->y0;
  return f->bottom - (f->bottom - TOP) * clamp((power - f->y0) / (f->y1 - f->y0), 0, 1);
}

static double point_x(const Frame* f, const CurvePoint* p)
{
  return p->iteration > 0 ? x_of(f, abscissa(f, p)) : LEFT;
}

// Room for the longest name.
static int name_width(const Race* race)
{
  size_t longest = 4;
  for (int i = 0; i < race->ran; i++) {
    size_t length = strlen(race->entry[i].solver->name);
    if (length > longest) longest = length;
  }
  return 15 * (int)(longest < 16 ? longest : 16) / 2;
}

// The ranges: everything that was measured, but no more than three powers of ten above the start when a
// method diverges, nor below rounding.
static Frame fit(const Race* race, double tolerance, PlotAxis axis)
{
  double x0 = INFINITY, x1 = -INFINITY, low = INFINITY, high = 0, start = 0;
  Frame f = {.axis = axis, .right = WIDTH - KEY - name_width(race), .bottom = TOP + HEIGHT};
  if (race->ran * LINE > HEIGHT) f.bottom = TOP + race->ran * LINE;
  for (int i = 0; i < race->ran; i++)
    for (int k = 0; k < race->entry[i].points; k++) {
      const CurvePoint* p = &race->entry[i].curve[k];
      if (p->iteration == 0) start = fmax(start, p->residual);
      else {
        x0 = fmin(x0, abscissa(&f, p));
        x1 = fmax(x1, abscissa(&f, p));
      }
      if (p->residual > 0) low = fmin(low, p->residual);
      if (isfinite(p->residual)) high = fmax(high, p->residual);
    }
  if (start > 0) high = fmin(high, 1e3 * start);
  if (tolerance > 0) low = fmin(low, tolerance);
  f.y1 = ceil(log10(high > 0 ? fmax(high, 1e-16) : 1) - 1e-9);
  f.y0 = fmin(floor(fmax(log10(isfinite(low) ? low : 1e-8), -18) - 0.2), f.y1 - 2);
  double least = axis == PLOT_TIME ? 1e-9 : 1;
  if (x0 > x1) x0 = x1 = axis == PLOT_TIME ? 1e-6 : 1; // nobody took a step
  f.x0 = log10(fmax(x0, least));
  f.x1 = fmax(log10(fmax(x1, least)) + 0.02, f.x0 + 1);
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
  if (f->axis == PLOT_TIME) {
    static const char* const unit[] = {"ns", "µs", "ms", "s"};
    int u = power < -6 ? 0 : power < -3 ? 1 : power < 0 ? 2 : 3;
    snprintf(text, 64, "%g %s", m * pow(10, power + 9 - 3 * u), unit[u]);
  } else if (power >= 5) superscript(text, 64, power);
  else if (power >= 3) snprintf(text, 64, "%d 000", m * (power == 4 ? 10 : 1));
  else snprintf(text, 64, "%g", m * pow(10, power));
}

static void draw_x_axis(tbOut* out, const Frame* f)
{
  bool few = f->x1 - f->x0 < 1.7; // then 2 and 5 are named too
  double last = LEFT;
  out_format(out, "<text class=\"t m\" x=\"%d\" y=\"%d\">0</text>\n", LEFT, f->bottom + 17);
  for (int power = (int)floor(f->x0); power <= (int)ceil(f->x1); power++)
    for (int m = 1; m <= 9; m++) {
      double at = log10(m) + power;
      if (at < f->x0 - 1e-9 || at > f->x1 + 1e-9) continue;
      double x = x_of(f, m * pow(10, power));
      out_format(out, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>\n", m == 1 ? "g" : "g f", x, TOP, f->bottom);
      bool named = m == 1 || (few && (m == 2 || m == 5));
      if (!named || x < last + (f->axis == PLOT_TIME && last > LEFT ? 40 : 16)) continue;
      char label[64];
      tick_label(f, m, power, label);
      out_format(out, "<text class=\"t m\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, f->bottom + 17, label);
      last = x;
    }
  out_format(out, "<text class=\"t m a\" x=\"%d\" y=\"%d\">%s</text>\n", (LEFT + f->right) / 2,
             f->bottom + 36, f->axis == PLOT_TIME ? "time of the method" : "iterations");
}

static void draw_y_axis(tbOut* out, const Frame* f)
{
  int step = (int)ceil((f->y1 - f->y0) / 8);
  for (int power = (int)f->y1; power >= (int)f->y0; power--) {
    double y = y_of(f, pow(10, power));
    bool named = ((int)f->y1 - power) % step == 0;
    out_format(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n", named ? "g" : "g f", LEFT, y, f->right);
    if (!named) continue;
    char label[64];
    superscript(label, sizeof label, power);
    out_format(out, "<text class=\"t e\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 7, y + 4.5, label);
  }
}

static void draw_tolerance(tbOut* out, const Frame* f, double tolerance)
{
  if (tolerance <= 0 || log10(tolerance) < f->y0 || log10(tolerance) > f->y1) return;
  double y = y_of(f, tolerance);
  out_format(out, "<path class=\"tol\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, f->right);
  out_format(out, "<text class=\"t n\" x=\"%d\" y=\"%.1f\">tolerance</text>\n", LEFT + 5, y - 5);
}

// Names at the right edge.

typedef struct {
  const Entry* entry;
  double x, y;  // where the curve ends
  double label; // height of its name
} End;

// From the top; of those that end at one height, such as the tolerance, the slowest first.
static int compare_ends(const void* a, const void* b)
{
  const End *p = a, *q = b;
  int height = (int)(p->y / LINE) - (int)(q->y / LINE);
  if (height) return height;
  return p->x != q->x ? (p->x > q->x ? -1 : 1) : p->entry->lane - q->entry->lane;
}

// Moves names as little as it takes (in the sense of least squares) for each to stand LINE below the one
// before: isotonic regression of y_i − i·LINE by pooling neighbours that are out of order.
static void spread(End* end, int count, double bottom)
{
  double mean[MOST];
  int size[MOST], pools = 0;
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

static void draw_curve(tbOut* out, const Frame* f, double tolerance, const End* end)
{
  const Entry* e = end->entry;
  bool converged = e->curve[e->points - 1].residual <= tolerance;
  out_format(out, "<g class=\"c k%d\"><title>%s</title>\n<path class=\"l\" d=\"M", e->lane, e->solver->name);
  for (int i = 0; i < e->points; i++)
    out_format(out, "%s%.1f %.1f", i ? " " : "", point_x(f, &e->curve[i]), y_of(f, e->curve[i].residual));
  out_format(out, "\"/>\n<path class=\"w\" d=\"M%.1f %.1fH%dL%d %.1f\"/>\n", end->x, end->y, f->right,
             f->right + KEY - 26, end->label);
  out_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"/>\n", converged ? "p" : "o", end->x,
             end->y);
  out_format(out, "<path class=\"l\" d=\"M%d %.1fh18\"/>\n<text x=\"%d\" y=\"%.1f\">%s</text>\n</g>\n",
             f->right + KEY - 24, end->label, f->right + KEY, end->label + 4.5, e->solver->name);
}

void report_plot(tbOut* out, const Report* report, const Race* race, PlotAxis axis)
{
  double tolerance = report->rules->options.tolerance;
  Frame f = fit(race, tolerance, axis);
  End end[MOST];
  int count = 0;
  for (int i = 0; i < race->ran && count < MOST; i++) {
    const Entry* e = &race->entry[i];
    if (e->points == 0) continue;
    const CurvePoint* p = &e->curve[e->points - 1];
    end[count++] = (End){.entry = e, .x = point_x(&f, p), .y = y_of(&f, p->residual)};
  }
  qsort(end, (size_t)count, sizeof *end, compare_ends);
  spread(end, count, f.bottom);

  out_format(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Residual against %s\">\n", WIDTH,
             f.bottom + FOOT, axis == PLOT_TIME ? "time" : "iterations");
  draw_x_axis(out, &f);
  draw_y_axis(out, &f);
  for (int i = count - 1; i >= 0; i--) draw_curve(out, &f, tolerance, &end[i]);
  draw_tolerance(out, &f, tolerance);
  tb_out_text(out, "</svg>\n");
}
