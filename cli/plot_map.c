// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_map.h"

#include <math.h>

enum { NAMES = 110, HEAD = 34, CELL_WIDTH = 64, CELL_HEIGHT = 26, FOOT = 40 };
static const double DECADES = 3; // to either side of the threshold until colours are full

typedef struct {
  int r, g, b;
} Colour;

// White at the threshold; blue-green where the number is less, red where it is more.
static Colour colour_of(double value, double threshold)
{
  static const Colour good = {20, 140, 105}, bad = {205, 60, 40};
  double decades = value > 0 ? log10(value / threshold) : -DECADES;
  double share = isfinite(value) ? fmin(fabs(decades) / DECADES, 1) : 1;
  Colour to = isfinite(value) && decades < 0 ? good : bad;
  share = 0.25 + 0.75 * share;
  return (Colour){(int)(255 + share * (to.r - 255)), (int)(255 + share * (to.g - 255)),
                  (int)(255 + share * (to.b - 255))};
}

static void put_number(tbOut* out, double value)
{
  if (!isfinite(value) || value > 1e3) tb_out_text(out, "gone");
  else if (value < 1e-9) tb_out_text(out, "0");
  else out_format(out, "%.0e", value);
}

static void put_cell(tbOut* out, const PlotMap* m, int i, int k)
{
  double value = m->value[i * m->columns + k];
  int x = NAMES + k * CELL_WIDTH, y = HEAD + i * CELL_HEIGHT;
  if (isnan(value)) return;
  Colour c = colour_of(value, m->threshold);
  out_format(out,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%02x%02x%02x\" stroke=\"#fff\"/>"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#1c2430\">",
             x, y, CELL_WIDTH, CELL_HEIGHT, (unsigned)c.r, (unsigned)c.g, (unsigned)c.b, x + CELL_WIDTH / 2,
             y + 17);
  put_number(out, value);
  tb_out_text(out, "</text>\n");
}

void plot_map_file(tbOut* out, const PlotMap* m)
{
  int width = NAMES + m->columns * CELL_WIDTH + 10, bottom = HEAD + m->rows * CELL_HEIGHT;
  out_format(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>%s</title>\n<rect width=\"%d\" "
      "height=\"%d\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"20\" font-size=\"13\" fill=\"#1c2430\">%s</text>\n",
      width * 3 / 2, (bottom + FOOT) * 3 / 2, width, bottom + FOOT, m->title, width, bottom + FOOT, NAMES,
      m->title);
  for (int i = 0; i < m->rows; i++) {
    out_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#1c2430\">%s</text>\n", NAMES - 8,
               HEAD + i * CELL_HEIGHT + 17, m->row[i]);
    for (int k = 0; k < m->columns; k++) put_cell(out, m, i, k);
  }
  for (int k = 0; k < m->columns; k++)
    out_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#5c6675\">%s</text>\n",
               NAMES + k * CELL_WIDTH + CELL_WIDTH / 2, bottom + 16, m->column[k]);
  out_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#5c6675\">%s</text>\n</svg>\n",
             NAMES + m->columns * CELL_WIDTH / 2, bottom + 33, m->x_name);
}
