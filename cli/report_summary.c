// SPDX-License-Identifier: Apache-2.0
// Many problems told together: for each solver how many it took, how it ended on them, and what a solve cost.
#include "tribo/tools/sort.h"
#include "cli/report.h"

typedef struct {
  int lane, taken, outcome[TB_FAILED + 1];
  int untrue;             // results that the judge does not confirm
  double median_s, p95_s; // of the solves that reached the tolerance
} Tally;

static int compare_numbers(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Those that solved most first, the faster of two that solved as many.
static int compare_tallies(const void* a, const void* b)
{
  const Tally *x = a, *y = b;
  int order = y->outcome[TB_CONVERGED] - x->outcome[TB_CONVERGED];
  if (!order) order = (x->median_s > y->median_s) - (x->median_s < y->median_s);
  return order ? order : x->lane - y->lane;
}

// Of sorted values: the least that at least this share of them does not exceed.
static double quantile(const double* value, int count, int percent)
{
  return count ? value[(count * percent + 99) / 100 - 1] : 0;
}

static void count_lane(const Report* report, int lane, double* time, Tally* t)
{
  *t = (Tally){.lane = lane};
  for (const Race* race = report->race; race < report->race + report->races; race++)
    for (const Entry* e = race->entry; e < race->entry + race->entries; e++) {
      if (e->lane != lane || e->why_not[0]) continue;
      if (e->result.outcome == TB_CONVERGED) time[t->outcome[TB_CONVERGED]] = e->result.time_s;
      t->taken++;
      t->outcome[e->result.outcome]++;
      t->untrue += e->untrue;
    }
  int solved = t->outcome[TB_CONVERGED];
  tb_sort(time, (size_t)solved, sizeof *time, compare_numbers);
  t->median_s = quantile(time, solved, 50);
  t->p95_s = quantile(time, solved, 95);
}

typedef void Row(tbOut* out, const Report* report, const Tally* t);

static void for_each_solver(tbOut* out, const Report* report, Row* row)
{
  int lanes = report->rules->solvers;
  Tally* tally = TB_NEW(out->ctx, Tally, (size_t)lanes);
  double* time = TB_NEW(out->ctx, double, (size_t)report->races);
  if (!tally || !time) out->status = TB_ERROR_MEMORY;
  else {
    for (int lane = 0; lane < lanes; lane++) count_lane(report, lane, time, &tally[lane]);
    tb_sort(tally, (size_t)lanes, sizeof *tally, compare_tallies);
    for (int i = 0; i < lanes; i++) row(out, report, &tally[i]);
  }
  tb_free(out->ctx, tally);
  tb_free(out->ctx, time);
}

static const char* name_of(const Report* report, const Tally* t)
{
  return report->rules->solver[t->lane]->name;
}

// Milliseconds, or a dash where nothing was solved.
static const char* milliseconds(char text[OUT_NUMBER], const Tally* t, double seconds)
{
  return t->outcome[TB_CONVERGED] ? out_scaled(text, 1e3 * seconds) : "-";
}

static int failures(const Tally* t) { return t->outcome[TB_FAILED] + t->outcome[TB_CANCELLED]; }

static void table_row(tbOut* out, const Report* report, const Tally* t)
{
  char median[OUT_NUMBER], p95[OUT_NUMBER];
  out_format(out, "  %-12s %6d %7d %11d %6d %7d %7d %11s %11s\n", name_of(report, t), t->taken,
             t->outcome[TB_CONVERGED], t->outcome[TB_MAX_ITERATIONS], t->outcome[TB_TIME], failures(t),
             t->untrue, milliseconds(median, t, t->median_s), milliseconds(p95, t, t->p95_s));
}

void report_summary_table(tbOut* out, const Report* report)
{
  out_format(out, "%d manufactured problems, model %s, to %g\n", report->races,
             tb_model_name(report->rules->options.model), report->rules->options.tolerance);
  out_format(out, "  %-12s %6s %7s %11s %6s %7s %7s %11s %11s\n", "solver", "taken", "solved", "iterations",
             "time", "failed", "untrue", "median ms", "95 % ms");
  for_each_solver(out, report, table_row);
  tb_out_text(out, "  taken: not refused; iterations, time: the budget that ran out; untrue: the judge says "
                   "otherwise; ms: where solved\n\n");
}

static void csv_row(tbOut* out, const Report* report, const Tally* t)
{
  out_format(out, "%s,%d,%d,%d,%d,%d,%d,", name_of(report, t), t->taken, t->outcome[TB_CONVERGED],
             t->outcome[TB_MAX_ITERATIONS], t->outcome[TB_TIME], failures(t), t->untrue);
  if (t->outcome[TB_CONVERGED]) tb_out_double(out, t->median_s);
  tb_out_text(out, ",");
  if (t->outcome[TB_CONVERGED]) tb_out_double(out, t->p95_s);
  tb_out_text(out, "\n");
}

void report_summary_csv(tbOut* out, const Report* report)
{
  tb_out_text(out, "solver,taken,solved,max_iterations,time,failed,untrue,median_s,p95_s\n");
  for_each_solver(out, report, csv_row);
}

static void latex_row(tbOut* out, const Report* report, const Tally* t)
{
  char median[OUT_NUMBER], p95[OUT_NUMBER];
  out_format(out, "    \\texttt{%s} & %d & %d & %d & %d & %d & %s & %s \\\\\n", name_of(report, t), t->taken,
             t->outcome[TB_CONVERGED], t->outcome[TB_MAX_ITERATIONS], t->outcome[TB_TIME], failures(t),
             milliseconds(median, t, t->median_s), milliseconds(p95, t, t->p95_s));
}

void report_summary_latex(tbOut* out, const Report* report) { for_each_solver(out, report, latex_row); }

// Solved, out of budget, failed; what is left of the bar was refused.
static void write_bar(tbOut* out, const Report* report, const Tally* t)
{
  static const char* const class[] = {"good", "warn", "bad"};
  int part[] = {t->outcome[TB_CONVERGED], t->outcome[TB_MAX_ITERATIONS] + t->outcome[TB_TIME], failures(t)};
  out_format(
      out,
      "<td class=\"u\"><svg class=\"bar\" viewBox=\"0 0 %d 12\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"%d solved of %d\">",
      report->races, part[0], report->races);
  for (int i = 0, at = 0; i < 3; at += part[i++])
    if (part[i])
      out_format(out, "<rect class=\"%s\" x=\"%d\" width=\"%d\" height=\"12\"/>", class[i], at, part[i]);
  tb_out_text(out, "</svg></td>");
}

static void html_row(tbOut* out, const Report* report, const Tally* t)
{
  char median[OUT_NUMBER], p95[OUT_NUMBER];
  out_format(out, "<tr class=\"k%d\"><td class=\"s\">", report->place[t->lane]);
  report_key(out);
  out_format(out, "%s</td>", name_of(report, t));
  write_bar(out, report, t);
  out_format(out, "<td>%d</td><td>%d</td><td>%d</td><td>%d</td><td>%d</td><td>%d</td>",
             t->outcome[TB_CONVERGED], t->outcome[TB_MAX_ITERATIONS], t->outcome[TB_TIME], failures(t),
             report->races - t->taken, t->untrue);
  out_format(out, "<td>%s</td><td>%s</td></tr>\n", milliseconds(median, t, t->median_s),
             milliseconds(p95, t, t->p95_s));
}

void report_summary(tbOut* out, const Report* report)
{
  out_format(
      out,
      "<section>\n<h2>%d problems with a known answer</h2>\n<p class=\"size\">How each method ended: solved "
      "to %g <span class=\"good\">■</span>, out of iterations or time <span class=\"warn\">■</span>, gave up "
      "<span class=\"bad\">■</span>; the rest it refuses, for a law or a size. Times are of the problems it "
      "solved.</p>\n",
      report->races, report->rules->options.tolerance);
  tb_out_text(out, "<div class=\"scroll\"><table>\n<tr><th class=\"s\">solver</th><th class=\"u\"></th>"
                   "<th>solved</th><th>out of<br/>iterations</th><th>out of<br/>time</th><th>gave<br/>up</th>"
                   "<th>refused</th><th>untrue</th><th>median<br/>ms</th><th>95 %<br/>ms</th></tr>\n");
  for_each_solver(out, report, html_row);
  tb_out_text(out,
              "</table></div>\n<p class=\"size\">Untrue: a residual or a status that the judge, asked once "
              "more about the answer, does not confirm.</p>\n</section>\n");
}
