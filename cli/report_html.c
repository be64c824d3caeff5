// SPDX-License-Identifier: Apache-2.0
// The page: everything a comparison found, in one file without scripts that opens from disk.
#include "tribo/tools/utf8.h"
#include "cli/args.h"
#include "cli/report.h"

#include <string.h>

static void begin_page(tbOut* out, const Report* report)
{
  tb_out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                   "<meta name=\"generator\" content=\"tribo " TB_VERSION "\"/>\n"
                   "<title>Contact solvers compared</title>\n<style>\n");
  report_style(out, report->rules->solvers);
  tb_out_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

static void fact(tbOut* out, const char* name, const char* value)
{
  out_format(out, "<dt>%s</dt><dd>", name);
  out_html(out, value);
  tb_out_text(out, "</dd>\n");
}

// Each word in a span of its own, so that lines break between words and not within options.
static void write_command(tbOut* out, const char* command)
{
  tb_out_text(out, "<pre><code><span>");
  for (const char* end = command + strlen(command); command < end;) {
    char character[8] = "";
    int length = tb_utf8_length(command, end);
    memcpy(character, command, length ? (size_t)length : 1);
    if (*command == ' ') tb_out_text(out, "</span> <span>");
    else out_html(out, character);
    command += length ? length : 1;
  }
  tb_out_text(out, "</span></code></pre>\n");
}

static void write_facts(tbOut* out, const Report* report)
{
  tb_out_text(out, "<dl>\n");
  report_facts(out, report, fact);
  tb_out_text(out, "</dl>\n<p class=\"again\">One command makes this report again:</p>\n");
  write_command(out, report->command);
}

static void write_head(tbOut* out, const Report* report)
{
  tb_out_text(out, "<h1>Contact solvers compared</h1>\n<p class=\"lead\">");
  int solvers = report->rules->solvers;
  out_format(out, "%d problem%s, %d method%s: the same start, the same judge.</p>\n", report->races,
             report->races == 1 ? "" : "s", solvers, solvers == 1 ? "" : "s");
  write_facts(out, report);
}

void report_key(tbOut* out)
{
  tb_out_text(
      out,
      "<svg class=\"key\" viewBox=\"0 0 26 8\" aria-hidden=\"true\"><path class=\"l\" d=\"M2 4H24\"/></svg>");
}

// The overview: a row for each solver, a column for each problem.

static void write_overview_cell(tbOut* out, const Race* race, int lane)
{
  const Entry* e = race_entry(race, lane);
  char time[OUT_NUMBER];
  if (!e) tb_out_text(out, "<td class=\"miss\">–</td>");
  else if (e->result.outcome != TB_CONVERGED) out_format(out, "<td class=\"miss\">%.0e</td>", e->residual);
  else
    out_format(out, "<td%s>%s ms</td>", e == race->entry ? " class=\"best good\"" : "",
               out_scaled(time, 1e3 * e->result.time_s));
}

static void write_overview(tbOut* out, const Report* report)
{
  const RaceRules* rules = report->rules;
  tb_out_text(
      out, "<section>\n<h2>Overview</h2>\n<p class=\"size\">Time to the tolerance; where it was missed, the "
           "residual that was left. The fastest stands out.</p>\n<div class=\"scroll\"><table>\n<tr><th "
           "class=\"s\">solver</th>"
           "<th>solved</th>");
  for (int i = 0; i < report->races; i++) {
    out_format(out, "<th><a href=\"#p%d\">", i + 1);
    out_html(out, report->race[i].problem->name);
    tb_out_text(out, "</a></th>");
  }
  tb_out_text(out, "</tr>\n");
  for (int lane = 0; lane < rules->solvers; lane++) {
    int solved = 0;
    for (int i = 0; i < report->races; i++) {
      const Entry* e = race_entry(&report->race[i], lane);
      solved += e && e->result.outcome == TB_CONVERGED;
    }
    out_format(out, "<tr class=\"k%d\"><td class=\"s\">", report->place[lane]);
    report_key(out);
    out_format(out, "%s</td><td>%d/%d</td>", rules->solver[lane]->name, solved, report->races);
    for (int i = 0; i < report->races; i++) write_overview_cell(out, &report->race[i], lane);
    tb_out_text(out, "</tr>\n");
  }
  tb_out_text(out, "</table></div>\n</section>\n");
}

// One problem.

static void write_status(tbOut* out, tbOutcome outcome)
{
  static const struct {
    const char* class, *text;
  } word[] = {[TB_CONVERGED] = {"good", "converged"},
              [TB_MAX_ITERATIONS] = {"warn", "out of iterations"},
              [TB_TIME] = {"warn", "out of time"},
              [TB_CANCELLED] = {"bad", "cancelled"},
              [TB_FAILED] = {"bad", "failed"}};
  out_format(out, "<td class=\"u %s\">%s</td>", word[outcome].class, word[outcome].text);
}

static void write_row(tbOut* out, const Report* report, const Entry* e, bool first, bool cone)
{
  const tbSolveResult* r = &e->result;
  char time[OUT_NUMBER], each[OUT_NUMBER] = "–", setup[OUT_NUMBER], spread[SPREAD_TEXT];
  if (r->iterations) out_scaled(each, 1e6 * r->time_s / r->iterations);
  out_format(out, "<tr class=\"k%d%s\"><td class=\"s\">", report->place[e->lane],
             first && r->outcome == TB_CONVERGED ? " first" : "");
  report_key(out);
  tb_out_text(out, e->solver->name);
  if (strcmp(r->used, e->solver->name) != 0) out_format(out, " <small>%s</small>", r->used);
  tb_out_text(out, "</td>");
  write_status(out, r->outcome);
  out_format(out, "<td>%d</td><td>%s</td><td class=\"v\">%s</td><td>%s</td><td>%s</td><td>%.2e</td>",
             r->iterations, out_scaled(time, 1e3 * r->time_s), report_spread(spread, e, "–"), each,
             out_scaled(setup, 1e3 * r->setup_s), r->residual.fclib);
  if (!cone) out_format(out, "<td>%.2e</td>", r->residual.model);
  const tbSolveOptions* o = &report->rules->options;
  tb_out_text(out, "<td>");
  out_held(out, judged_velocity(o, &r->residual), o->velocity_tolerance, "");
  tb_out_text(out, "</td>");
  out_format(out, "<td>%.2e</td><td>%.2e</td></tr>\n", r->residual.natural_map, r->residual.penetration);
}

static void write_note(tbOut* out, const char* line) { out_format(out, "<p class=\"size\">%s</p>\n", line); }

static void write_table(tbOut* out, const Report* report, const Race* race)
{
  bool cone = report->rules->options.model == TB_MODEL_CONE;
  out_format(out,
             "<div class=\"scroll\"><table>\n<tr><th class=\"s\">solver</th><th "
             "class=\"u\">status</th><th>iterations</th>"
             "<th>time<br/>ms</th><th>min–max<br/>ms</th><th>per "
             "iteration<br/>µs</th><th>setup<br/>ms</th><th>residual</th>%s<th>residual<br/>m/s</"
             "th><th>natural map</th>"
             "<th>penetration<br/>m/s</th></tr>\n",
             cone ? "" : "<th>of the model</th>");
  for (int i = 0; i < race->ran; i++) write_row(out, report, &race->entry[i], i == 0, cone);
  for (int i = race->ran; i < race->entries; i++) {
    const Entry* e = &race->entry[i];
    out_format(out, "<tr class=\"x\"><td class=\"s\">%s</td><td class=\"r\" colspan=\"%d\">did not run: ",
               e->solver->name, cone ? 10 : 11);
    out_html(out, e->why_not);
    tb_out_text(out, "</td></tr>\n");
  }
  tb_out_text(out, "</table></div>\n");
  report_borrowed(out, race, write_note);
}

static void write_problem(tbOut* out, const Report* report, int index)
{
  const Race* race = &report->race[index];
  const tbProblem* p = race->problem;
  out_format(out, "<section id=\"p%d\">\n<h2>", index + 1);
  out_html(out, p->name);
  out_format(out, "</h2>\n<p class=\"size\">%d contact%s, %d rows, ", p->ncontact,
             p->ncontact == 1 ? "" : "s", p->nrow);
  if (p->W_ptr) tb_out_text(out, "W given");
  else out_format(out, "%d degrees of freedom", p->ndof);
  tb_out_text(out, " · ");
  out_html(out, race->path);
  char start[256];
  report_start(report, race, start);
  out_format(out, "<br/>%s%s%s</p>\n", race->start_suffices ? "<strong class=\"warn\">" : "", start,
             race->start_suffices ? "</strong>" : "");
  write_table(out, report, race);
  if (race->ran) {
    tb_out_text(out, "<div class=\"plots\">\n<figure>\n<h3>Residual against iterations</h3>\n");
    report_plot(out, report, race, PLOT_COUNT, plot_draw);
    tb_out_text(out, "</figure>\n<figure>\n<h3>Residual against time</h3>\n");
    report_plot(out, report, race, PLOT_SECONDS, plot_draw);
    tb_out_text(out, "</figure>\n</div>\n");
  }
  tb_out_text(out, "</section>\n");
}

static void write_curve_notes(tbOut* out)
{
  tb_out_text(out,
              " The curves come from a second run, judged at every iteration; judging is not charged to the "
              "method. ");
  out_format(
      out,
      "Of a curve at most %d points are drawn, the lowest and the highest of each stretch. A dot ends a "
      "curve that converged, a ring one that did not. The %d curves that rank highest are named; the others "
      "are grey, come forward when pointed at, and are all in curves.csv.",
      CURVE_POINTS, LANE_COLOURS);
}

static void write_notes(tbOut* out, const Report* report)
{
  tb_out_text(
      out,
      "<footer>\n<p>The residual is measured by one judge that no solver shares: the natural map of the law, "
      "E = ‖λ − P(λ − û)‖, over max(‖q‖, ‖λ‖, ‖u‖).");
  if (!report->set)
    tb_out_text(out, " In m/s it is the most by which one contact misses its law, whatever the masses. The "
                     "natural map of the table is E / ‖q‖; penetration is the worst approaching velocity "
                     "left.");
  if (report->rules->options.model != TB_MODEL_CONE)
    tb_out_text(out, " The tolerance and the plots are of the model's own residual.");
  tb_out_text(
      out,
      "</p>\n<p>Times are of the method and its tests for stopping, without setup (assembling what it works "
      "on); the median of the runs, and from the fastest to the slowest of them. ");
  if (report->rules->repeat) out_format(out, "Every method ran %d times.", report->rules->repeat);
  else out_format(out, "Runs under %g ms were repeated, %d in all.", 1e3 * race_short_s, RACE_SHORT_RUNS);
  if (report->set)
    tb_out_text(out, " The problems were made from their answers: under the model <code>cone</code> each has "
                     "a solution; other models change the law, and some problems may then have none.");
  else write_curve_notes(out);
  tb_out_text(out, "</p>\n</footer>\n");
}

void report_html(tbOut* out, const Report* report)
{
  begin_page(out, report);
  write_head(out, report);
  if (report->set) report_summary(out, report);
  else if (report->races > 1) write_overview(out, report);
  if (report->profile) report_profile(out, report);
  for (int i = 0; i < report->races && !report->set; i++) write_problem(out, report, i);
  write_notes(out, report);
  tb_out_text(out, "</main>\n</body>\n</html>\n");
}
