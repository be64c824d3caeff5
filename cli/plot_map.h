// SPDX-License-Identifier: Apache-2.0
// Maps: a cell for each name and column, coloured by its number on a logarithmic scale, as an SVG file.
#ifndef TB_CLI_PLOT_MAP_H
#define TB_CLI_PLOT_MAP_H

#include "cli/out.h"

typedef struct {
  const char *title, *x_name;
  const char* const* row;    // names                                                    (rows)
  const char* const* column; // names                                                    (columns)
  int rows, columns;
  const double* value; // by rows; NaN: none                                             (rows × columns)
  double threshold;    // less is good: green, and more is red
} PlotMap;

void plot_map_file(tbOut* out, const PlotMap* map);

#endif
