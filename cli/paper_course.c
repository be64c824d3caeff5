// SPDX-License-Identifier: Apache-2.0
// The course (Andrews, Erleben and Ferguson 2022): its figures 16, 17, 20, 21, 22, tables 2 and 4,
// and chapters 5 and 6.
#include "cli/paper_course.h"

#include <math.h>
#include <string.h>

tbStatus paper_course(Paper* p)
{
  TB_TRY(course_figure_16(p));
  TB_TRY(course_figure_17(p));
  TB_TRY(course_figures_20_to_22(p));
  TB_TRY(course_table_2(p));
  TB_TRY(course_table_4(p));
  TB_TRY(course_chapter_5(p));
  TB_TRY(course_published_barriers(p));
  return course_chapter_6(p);
}

tbStatus structure_make(Paper* p, Structure s, tbProblem** out)
{
  tbGenerate spec = tb_default_generate(s.kind);
  spec.size = p->quick ? s.quick_size : s.size;
  spec.mass_ratio = s.mass_ratio;
  return tb_problem_generate(p->ctx, &spec, out);
}

static tbSolveOptions options_of(Trial t)
{
  tbSolveOptions o = tb_default_solve_options();
  o.solver = t.solver;
  o.model = t.model;
  o.order = t.order;
  o.tolerance = t.tolerance;
  o.max_iterations = t.max_iterations;
  o.r_factor = t.r_factor;
  return o;
}

tbStatus trace_run(Paper* p, const tbProblem* problem, Trial t, Trace* out)
{
  *out = (Trace){.points = TB_ARRAY(CurvePoint)};
  tbSolveOptions o = options_of(t);
  double* lambda = TB_NEW(p->ctx, double, (size_t)problem->nrow);
  tbStatus status =
      lambda ? curve_run(p->ctx, problem, &o, lambda, &out->result, &out->points) : TB_ERROR_MEMORY;
  tb_free(p->ctx, lambda);
  if (status != TB_OK) trace_free(p, out);
  return status;
}

tbStatus trial_run(Paper* p, const tbProblem* problem, Trial t, int runs, tbSolveResult* out)
{
  size_t rows = (size_t)problem->nrow;
  double* lambda = TB_NEW(p->ctx, double, rows);
  tbSolveOptions o = options_of(t);
  tbStatus status = lambda ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; i < runs && status == TB_OK; i++) {
    tbSolveResult again;
    memset(lambda, 0, rows * sizeof *lambda);
    status = tb_solve(p->ctx, problem, &o, lambda, &again);
    if (status == TB_OK && (i == 0 || again.time_s < out->time_s)) *out = again;
  }
  tb_free(p->ctx, lambda);
  return status;
}

void trace_free(Paper* p, Trace* trace) { tb_array_free(p->ctx, &trace->points); }

int trace_reach(const Trace* trace, double tolerance)
{
  const CurvePoint* point = trace->points.data;
  for (size_t i = 0; i < trace->points.count; i++)
    if (point[i].residual <= tolerance) return point[i].iteration;
  return -1;
}

double trace_at(const Trace* trace, int iteration)
{
  const CurvePoint* point = trace->points.data;
  double best = INFINITY;
  for (size_t i = 0; i < trace->points.count && point[i].iteration <= iteration; i++)
    best = fmin(best, point[i].residual);
  return best;
}

double trace_work(const Trace* trace) { return trace->result.operations / fmax(trace->result.iterations, 1); }

void trace_rate(const Trace* trace, double* slope, double* explained)
{
  const CurvePoint* point = trace->points.data;
  size_t last = 0;
  while (last + 1 < trace->points.count && point[last + 1].residual > 1e-13) last++;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = last / 2; i <= last; i++) {
    double s = point[i].iteration, r = log10(point[i].residual);
    n++, x += s, y += r, xx += s * s, xy += s * r, yy += r * r;
  }
  double vx = n * xx - x * x, vy = n * yy - y * y, cov = n * xy - x * y;
  *slope = vx > 0 ? cov / vx : 0;
  *explained = vx > 0 && vy > 0 ? cov * cov / (vx * vy) : 0;
}

tbStatus trace_plot(Paper* p, const char* file, const char* caption, int count, const Trace* trace,
                    const char* const* name, const double* work)
{
  PlotCurve curve[PLOT_CURVES];
  CurvePoint* kept = NULL;
  PlotPoint *point = TB_NEW(p->ctx, PlotPoint, (size_t)count * CURVE_POINTS), *next = point;
  tbStatus status = point ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; i < count && status == TB_OK; i++) {
    size_t points = trace[i].points.count;
    kept = TB_NEW(p->ctx, CurvePoint, points);
    if (!kept) {
      status = TB_ERROR_MEMORY;
      break;
    }
    memcpy(kept, trace[i].points.data, points * sizeof *kept);
    int thin = curve_thin(kept, (int)points);
    curve[i] = (PlotCurve){.name = name[i],
                           .lane = i,
                           .point = next,
                           .points = thin,
                           .arrived = trace[i].result.outcome == TB_CONVERGED};
    for (int k = 0; k < thin; k++)
      *next++ = (PlotPoint){kept[k].iteration * (work ? work[i] : 1), kept[k].residual};
    tb_free(p->ctx, kept);
  }
  if (status == TB_OK)
    paper_plot(p, file,
               &(Plot){.axis = PLOT_COUNT,
                       .x_name = work ? "work, in sweeps of PGS" : "iterations",
                       .y_name = "Residual of the boxed model",
                       .curve = curve,
                       .curves = count},
               caption);
  tb_free(p->ctx, point);
  return status;
}

void trace_table(tbOut* out, const char* structure, const char* name, const Trace* trace)
{
  const CurvePoint* point = trace->points.data;
  int next = 0; // every iteration at first, then every hundredth part
  for (size_t i = 0; i < trace->points.count; i++) {
    if (point[i].iteration < next && i + 1 < trace->points.count) continue;
    next = point[i].iteration + 1 + point[i].iteration / 100;
    out_format(out, "%s,%s,%d,%.6e\n", structure, name, point[i].iteration, point[i].residual);
  }
}
