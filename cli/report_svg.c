// SPDX-License-Identifier: Apache-2.0
// The plots of a report: convergence curves, and the profile of all problems together.
#include "cli/report.h"

#include <math.h>

void report_plot(tbOut* out, const Report* report, const Race* race, PlotAxis axis, PlotWriter* write)
{
  bool time = axis == PLOT_SECONDS;
  PlotCurve curve[PLOT_CURVES];
  PlotPoint* point = TB_NEW(out->ctx, PlotPoint, (size_t)race->ran * CURVE_POINTS);
  if (!point) {
    out->status = TB_ERROR_MEMORY;
    return;
  }
  Plot plot = {.axis = axis,
               .x_name = time ? "time of the method" : "iterations",
               .y_name = "residual",
               .tolerance = report->rules->options.tolerance,
               .curve = curve};
  PlotPoint* next = point;
  for (int i = 0; i < race->ran && plot.curves < PLOT_CURVES; i++) {
    const Entry* e = &race->entry[i];
    bool arrived = e->points && e->curve[e->points - 1].residual <= plot.tolerance;
    curve[plot.curves++] =
        (PlotCurve){e->solver->name, report->place[e->lane], next, e->points, arrived, i >= LANE_COLOURS};
    for (const CurvePoint* p = e->curve; p < e->curve + e->points; p++)
      *next++ = (PlotPoint){p->iteration == 0 ? 0 : time ? fmax(p->time_s, 1e-9) : p->iteration, p->residual};
  }
  write(out, &plot);
  tb_free(out->ctx, point);
}
