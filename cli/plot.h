// SPDX-License-Identifier: Apache-2.0
// Plots: named curves over a logarithmic axis, as SVG.
#ifndef TB_CLI_PLOT_H
#define TB_CLI_PLOT_H

#include "cli/out.h"

typedef struct {
  double x, y; // x = 0 is the start of a run; it has a place of its own, left of the axis
} PlotPoint;

typedef struct {
  const char* name;
  int lane; // its colour
  const PlotPoint* point;
  int points;
  bool arrived; // ends in a dot; else in a ring
  bool grey;    // one of many: thin, behind the others, without a name
} PlotCurve;

typedef enum { PLOT_COUNT, PLOT_SECONDS, PLOT_FACTOR } PlotAxis; // a factor begins at 1 and has no start

typedef struct {
  PlotAxis axis;
  bool share;                  // y is a share, 0 to 1, drawn as stairs; else a residual on a logarithmic axis
  const char *x_name, *y_name; // stand along the axes
  double tolerance;            // a line across; 0: none
  const PlotCurve* curve;
  int curves;
} Plot;

enum { PLOT_CURVES = 64, LANE_COLOURS = 8 }; // with more lanes than colours, dashes tell them apart

typedef void PlotWriter(tbOut* out, const Plot* plot);
PlotWriter plot_draw; // an <svg> for a page that has the style of report_style
PlotWriter plot_file; // a whole SVG file

const char* plot_colour(int lane, bool dark);
const char* plot_dashes(int lane); // as stroke-dasharray takes them

#endif
