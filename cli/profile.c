// SPDX-License-Identifier: Apache-2.0
// Performance profiles (Dolan and Moré 2002), as Acary, Brémond and Huber compare contact solvers with.
//
// With c_ps the cost of solver s on problem p, infinite where it missed the tolerance or did not run,
//
//   ρ_s(τ) = share of all problems with  c_ps ≤ τ · min_s c_ps.
//
// Left out: problems whose start is good enough, where costs are noise, and solvers that apply to none of the
// others. A solver that applies to some is shown with the share of all, and with how many it takes.
//
// ρ_s(1) says how often s is the best, and the height at the right how many problems it solves at all. An
// iteration is not the same work for every method: the profile by iterations says how often a method must
// look at the problem, the one by time what it costs.
#include "tribo/tools/sort.h"
#include "cli/report.h"

#include <math.h>
#include <string.h>

typedef enum { BY_TIME, BY_ITERATIONS, MEASURES } Measure;
static const char* const measure_name[MEASURES] = {"time", "iterations"};

typedef struct {
  int problems, lanes; // problems: those that were raced for
  double* factor;      // c_ps / min c, increasing, of the problems a lane solved    (lanes × problems)
  int* solved;         // how many those are                                         (lanes)
  int* taken;          // problems a lane applies to; 0: it is left out              (lanes)
} Profile;

static double cost(const Entry* e, Measure measure)
{
  if (e->why_not[0] || e->result.outcome != TB_CONVERGED) return INFINITY;
  return measure == BY_TIME ? fmax(e->result.time_s, 1e-9) : fmax(e->result.iterations, 1);
}

static int compare_numbers(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void profile_free(tbContext* ctx, Profile* p)
{
  tb_free(ctx, p->factor);
  tb_free(ctx, p->solved);
  tb_free(ctx, p->taken);
}

static tbStatus profile_make(tbContext* ctx, const Report* report, Measure measure, Profile* p)
{
  *p = (Profile){.problems = report->races - report_trivial(report), .lanes = report->rules->solvers};
  p->factor = TB_NEW(ctx, double, (size_t)p->problems*(size_t)p->lanes);
  p->solved = TB_NEW(ctx, int, (size_t)p->lanes);
  p->taken = TB_NEW(ctx, int, (size_t)p->lanes);
  if (!p->factor || !p->solved || !p->taken) {
    profile_free(ctx, p);
    return TB_ERROR_MEMORY;
  }
  for (const Race* race = report->race; race < report->race + report->races; race++) {
    double best = INFINITY;
    if (race->start_suffices) continue;
    for (int i = 0; i < race->entries; i++) best = fmin(best, cost(&race->entry[i], measure));
    for (int i = 0; i < race->entries; i++) {
      double c = cost(&race->entry[i], measure);
      int lane = race->entry[i].lane;
      p->taken[lane] += !race->entry[i].refused;
      if (isfinite(c)) p->factor[lane * p->problems + p->solved[lane]++] = c / best;
    }
  }
  for (int lane = 0; lane < p->lanes; lane++)
    tb_sort(p->factor + lane * p->problems, (size_t)p->solved[lane], sizeof *p->factor, compare_numbers);
  return TB_OK;
}

static double share(const Profile* p, int lane, double tau)
{
  int within = 0;
  while (within < p->solved[lane] && p->factor[lane * p->problems + within] <= tau) within++;
  return (double)within / p->problems;
}

// The corners of ρ_s, from τ = 1; at most one more than the problems.
static int corners(const Profile* p, int lane, PlotPoint* point)
{
  int count = 0;
  point[count++] = (PlotPoint){1, share(p, lane, 1)};
  for (int i = 0; i < p->solved[lane]; i++) {
    double tau = p->factor[lane * p->problems + i];
    if (tau > point[count - 1].x) point[count++] = (PlotPoint){tau, share(p, lane, tau)};
  }
  return count;
}

typedef void Draw(tbOut* out, const Report* report, Measure measure, const Profile* p, PlotPoint* room);

static void for_each_measure(tbOut* out, const Report* report, Draw* draw)
{
  size_t room = (size_t)(report->races + 1) * (size_t)report->rules->solvers;
  PlotPoint* point = TB_NEW(out->ctx, PlotPoint, room);
  for (int measure = 0; measure < MEASURES && report_trivial(report) < report->races; measure++) {
    Profile p;
    if (!point || profile_make(out->ctx, report, (Measure)measure, &p) != TB_OK) {
      out->status = TB_ERROR_MEMORY;
      break;
    }
    draw(out, report, (Measure)measure, &p, point);
    profile_free(out->ctx, &p);
  }
  tb_free(out->ctx, point);
}

static void draw_csv(tbOut* out, const Report* report, Measure measure, const Profile* p, PlotPoint* point)
{
  for (int lane = 0; lane < p->lanes; lane++)
    for (int i = 0, count = !p->taken[lane] ? 0 : corners(p, lane, point); i < count; i++) {
      out_format(out, "%s,%s,", measure_name[measure], report->rules->solver[lane]->name);
      tb_out_double(out, point[i].x);
      tb_out_text(out, ",");
      tb_out_double(out, point[i].y);
      tb_out_text(out, "\n");
    }
}

void report_profile_csv(tbOut* out, const Report* report)
{
  tb_out_text(out, "measure,solver,factor,share\n");
  for_each_measure(out, report, draw_csv);
}

static void plot_profile(tbOut* out, const Report* report, Measure measure, const Profile* p,
                         PlotPoint* point, PlotWriter* write)
{
  PlotCurve curve[PLOT_CURVES];
  Plot plot = {.axis = PLOT_FACTOR,
               .share = true,
               .x_name = measure == BY_TIME ? "times the fastest" : "times the fewest iterations",
               .y_name = "share of the problems solved",
               .curve = curve};
  for (int lane = 0; lane < p->lanes && plot.curves < PLOT_CURVES; lane++) {
    if (!p->taken[lane]) continue;
    PlotPoint* own = point + lane * (p->problems + 1);
    int place = report->place[lane];
    curve[plot.curves++] = (PlotCurve){
        report->rules->solver[lane]->name, place, own, corners(p, lane, own), true, place >= LANE_COLOURS};
  }
  write(out, &plot);
}

static void draw_plot(tbOut* out, const Report* report, Measure measure, const Profile* p, PlotPoint* point)
{
  out_format(out, "<figure>\n<h3>By %s</h3>\n", measure_name[measure]);
  plot_profile(out, report, measure, p, point, plot_draw);
  tb_out_text(out, "</figure>\n");
}

static void draw_time_file(tbOut* out, const Report* report, Measure measure, const Profile* p,
                           PlotPoint* point)
{
  if (measure == BY_TIME) plot_profile(out, report, measure, p, point, plot_file);
}

static void draw_iterations_file(tbOut* out, const Report* report, Measure measure, const Profile* p,
                                 PlotPoint* point)
{
  if (measure == BY_ITERATIONS) plot_profile(out, report, measure, p, point, plot_file);
}

void report_profile_file(tbOut* out, const Report* report, bool by_time)
{
  for_each_measure(out, report, by_time ? draw_time_file : draw_iterations_file);
}

// Null, or what to say of the problems that are left out.
static const char* left_out(const Report* report, char line[128])
{
  int trivial = report_trivial(report);
  if (!trivial) return NULL;
  snprintf(line, 128, "%d problem%s whose start is already good enough %s left out.", trivial,
           trivial == 1 ? "" : "s", trivial == 1 ? "is" : "are");
  return line;
}

void report_profile(tbOut* out, const Report* report)
{
  char line[128];
  const char* note = left_out(report, line);
  int problems = report->races - report_trivial(report);
  out_format(
      out,
      "<section>\n<h2>Performance profile</h2>\n<p class=\"size\">The share of the %d problem%s solved "
      "within a "
      "factor of the best solver on each: on the left how often a method is the best, on the right how many "
      "it solves at all. Methods that apply to none are left out. %s</p>\n<div class=\"plots\">\n",
      problems, problems == 1 ? "" : "s", note ? note : "");
  for_each_measure(out, report, draw_plot);
  tb_out_text(out, "</div>\n</section>\n");
}

static void draw_table(tbOut* out, const Report* report, Measure measure, const Profile* p, PlotPoint* point)
{
  (void)point;
  out_format(out, "profile by %-14s  best  within 2×  within 10×  solved   taken, of %d\n",
             measure_name[measure], p->problems);
  for (int lane = 0; lane < p->lanes; lane++)
    if (p->taken[lane])
      out_format(out, "  %-22s %4.0f %%  %7.0f %%  %8.0f %%  %6d  %6d\n", report->rules->solver[lane]->name,
                 100 * share(p, lane, 1), 100 * share(p, lane, 2), 100 * share(p, lane, 10), p->solved[lane],
                 p->taken[lane]);
  tb_out_text(out, "\n");
}

void report_profile_table(tbOut* out, const Report* report)
{
  char line[128];
  const char* note = left_out(report, line);
  for_each_measure(out, report, draw_table);
  if (note) out_format(out, "%s\n\n", note);
}
