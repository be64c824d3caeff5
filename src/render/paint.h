// SPDX-License-Identifier: Apache-2.0
// Flat shapes and letters over a picture, with smooth edges.
#ifndef TB_RENDER_PAINT_H
#define TB_RENDER_PAINT_H

#include "tribo/math.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tbCanvas {
  int width, height;
  float* rgb;         // as shown (sRGB), 0 … 1                                           (3 width height)
  const float* depth; // 1/distance of what is in front                                   (width height)
  int top, bottom;    // rows that are painted: from top to before bottom
} tbCanvas;

typedef struct tbInk {
  float rgb[3];
  double alpha;
  double hidden; // alpha where something is in front of `depth`
  double depth;  // infinite: nothing is
} tbInk;

typedef struct tbPoint {
  double x, y; // pixels, y down
} tbPoint;

// A convex polygon, either way around.
void tb_paint_polygon(const tbCanvas* canvas, const tbPoint* corner, int count, const tbInk* ink);
// A line with round ends.
void tb_paint_line(const tbCanvas* canvas, tbPoint a, tbPoint b, double width, const tbInk* ink);

// Text on a line of its own; `at` is the left end of its baseline, `height` that of its capitals in pixels.
void tb_paint_text(const tbCanvas* canvas, tbPoint at, double height, double weight, const char* text,
                   const tbInk* ink);
double tb_text_width(double height, const char* text);

#endif
