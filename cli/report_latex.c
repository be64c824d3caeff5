// SPDX-License-Identifier: Apache-2.0
// results.tex: the tables for a paper, in LaTeX with the booktabs package. \input takes the whole file; what
// it was made with, and the command that makes it again, stand in its comments.
#include "cli/args.h"
#include "cli/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 12 }; // of problems side by side, at most

// Text

static void escape(tbOut* out, const char* text)
{
  for (const char* c = text; *c; c++) {
    if (*c == '\\') tb_out_text(out, "\\textbackslash{}");
    else if (*c == '~') tb_out_text(out, "\\textasciitilde{}");
    else if (*c == '^') tb_out_text(out, "\\textasciicircum{}");
    else if ((unsigned char)*c < ' ' || *c == 0x7f) tb_out_text(out, "?");
    else {
      if (strchr("{}$&#_%", *c)) tb_out_text(out, "\\");
      tb_out_bytes(out, c, 1);
    }
  }
}

// A comment ends with its line.
static void comment(tbOut* out, const char* name, const char* value)
{
  out_format(out, "%% %-10s ", name);
  out_terminal(out, value);
  tb_out_text(out, "\n");
}

// 2.8·10⁻¹⁵
static void power(tbOut* out, double value)
{
  char text[32];
  if (value == 0 || !isfinite(value)) {
    out_format(out, "$%s$", value == 0 ? "0" : value > 0 ? "\\infty" : "-");
    return;
  }
  snprintf(text, sizeof text, "%.1e", value);
  char* e = strchr(text, 'e');
  int exponent = 0;
  sscanf(e + 1, "%d", &exponent);
  out_format(out, "$%.*s\\cdot10^{%d}$", (int)(e - text), text, exponent);
}

// A tolerance, which is mostly a power of ten.
static void write_tolerance(tbOut* out, double value)
{
  char text[32];
  snprintf(text, sizeof text, "%.1e", value);
  if (strncmp(text, "1.0e", 4) == 0) out_format(out, "$10^{%d}$", atoi(text + 4));
  else power(out, value);
}

static void begin_table(tbOut* out, const char* columns)
{
  out_format(out,
             "\n\\begin{table}\n  \\centering\\small\\setlength{\\tabcolsep}{3pt}\n"
             "  \\begin{tabular}{@{}%s@{}}\n    \\toprule\n",
             columns);
}

static void rule(tbOut* out) { tb_out_text(out, "    \\midrule\n"); }

static void end_table(tbOut* out) { tb_out_text(out, "    \\bottomrule\n  \\end{tabular}\n"); }

// One problem

static const char* status_word(tbOutcome outcome)
{
  static const char* const word[] = {[TB_CONVERGED] = "converged",
                                     [TB_MAX_ITERATIONS] = "out of iterations",
                                     [TB_TIME] = "out of time",
                                     [TB_CANCELLED] = "cancelled",
                                     [TB_FAILED] = "failed"};
  return word[outcome];
}

static void write_row(tbOut* out, const Report* report, const Entry* e)
{
  char time[OUT_NUMBER], spread[SPREAD_TEXT];
  out_format(out, "    \\texttt{%s} & ", e->solver->name);
  if (e->why_not[0]) {
    out_format(out, "%s & & & & & & \\\\\n", e->refused ? "does not apply" : "did not run");
    return;
  }
  out_format(out, "%s & %d & %s & %s & ", status_word(e->result.outcome), e->result.iterations,
             out_scaled(time, 1e3 * e->result.time_s), report_spread(spread, e, "--"));
  power(out, e->residual);
  tb_out_text(out, " & ");
  power(out, judged_velocity(&report->rules->options, &e->result.residual));
  tb_out_text(out, " & ");
  power(out, e->result.residual.penetration);
  tb_out_text(out, " \\\\\n");
}

static void write_note(tbOut* out, const char* line)
{
  tb_out_text(out, " ");
  escape(out, line);
}

static void write_problem(tbOut* out, const Report* report, int index)
{
  const Race* race = &report->race[index];
  char start[256];
  begin_table(out, "llrrrrrr");
  tb_out_text(
      out, "    solver & status & iterations & time (ms) & min--max & residual & (m/s) & penetration (m/s) "
           "\\\\\n");
  rule(out);
  for (int i = 0; i < race->entries; i++) write_row(out, report, &race->entry[i]);
  end_table(out);
  tb_out_text(out, "  \\caption{");
  escape(out, race->problem->name);
  out_format(out, ": %d contacts, %d rows, to a tolerance of ", race->problem->ncontact, race->problem->nrow);
  write_tolerance(out, report->rules->options.tolerance);
  if (report->rules->options.velocity_tolerance > 0) {
    tb_out_text(out, " and ");
    write_tolerance(out, report->rules->options.velocity_tolerance);
    tb_out_text(out, "~m/s");
  }
  tb_out_text(out, ". Times are medians. ");
  report_start(report, race, start);
  escape(out, start);
  report_borrowed(out, race, write_note);
  out_format(out, "}\n  \\label{tab:tribo-%d}\n\\end{table}\n", index + 1);
}

// All of them

static void write_cell(tbOut* out, const Race* race, int lane)
{
  const Entry* e = race_entry(race, lane);
  char time[OUT_NUMBER];
  tb_out_text(out, " & ");
  if (!e) tb_out_text(out, "--");
  else if (e->result.outcome != TB_CONVERGED) {
    tb_out_text(out, "(");
    power(out, e->residual);
    tb_out_text(out, ")");
  } else out_format(out, e == race->entry ? "\\textbf{%s}" : "%s", out_scaled(time, 1e3 * e->result.time_s));
}

// "arch" of scenes/arch.json: columns are narrow.
static void write_stem(tbOut* out, const char* path)
{
  char stem[32];
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
  escape(out, stem);
}

static void write_overview(tbOut* out, const Report* report)
{
  char columns[COLUMNS + 2] = "l";
  for (int i = 0; i < report->races; i++) strcat(columns, "r");
  begin_table(out, columns);
  tb_out_text(out, "    solver");
  for (int i = 0; i < report->races; i++) {
    tb_out_text(out, " & ");
    write_stem(out, report->race[i].path);
  }
  tb_out_text(out, " \\\\\n");
  rule(out);
  for (int lane = 0; lane < report->rules->solvers; lane++) {
    out_format(out, "    \\texttt{%s}", report->rules->solver[lane]->name);
    for (int i = 0; i < report->races; i++) write_cell(out, &report->race[i], lane);
    tb_out_text(out, " \\\\\n");
  }
  end_table(out);
  tb_out_text(out, "  \\caption{Milliseconds to a residual of ");
  write_tolerance(out, report->rules->options.tolerance);
  tb_out_text(out, "; in brackets the residual left where it was missed.}\n  \\label{tab:tribo}\n"
                   "\\end{table}\n");
}

static void write_summary(tbOut* out, const Report* report)
{
  begin_table(out, "lrrrrrrr");
  tb_out_text(out, "    solver & taken & solved & iterations & time & failed & median (ms) & 95\\,\\% (ms) "
                   "\\\\\n");
  rule(out);
  report_summary_latex(out, report);
  end_table(out);
  out_format(out, "  \\caption{%d problems with known answers, to a residual of ", report->races);
  write_tolerance(out, report->rules->options.tolerance);
  tb_out_text(out,
              ": how many each method takes and solves, whose budget of iterations or time ran out, and the "
              "time of those solved.}\n  \\label{tab:tribo}\n\\end{table}\n");
}

void report_latex(tbOut* out, const Report* report)
{
  tb_out_text(out,
              "% \\usepackage{booktabs} in the preamble; \\input this file. Of the figures beside it,\n"
              "% `rsvg-convert -f pdf FIGURE.svg -o FIGURE.pdf` makes what \\includegraphics takes.\n%\n");
  report_facts(out, report, comment);
  comment(out, "Again", report->command);
  if (report->set) {
    write_summary(out, report);
    return;
  }
  if (report->races > 1 && report->races <= COLUMNS) write_overview(out, report);
  for (int i = 0; i < report->races; i++) write_problem(out, report, i);
}
