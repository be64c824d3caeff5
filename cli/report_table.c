// SPDX-License-Identifier: Apache-2.0
// The table on the terminal.
#include "cli/args.h"
#include "cli/report.h"
#include "cli/verdict.h"

#include <string.h>

static void print_size(tbOut* out, const Race* race)
{
  const tbProblem* p = race->problem;
  out_terminal(out, race->path);
  if (!strstr(race->path, p->name)) {
    tb_out_text(out, " (");
    out_terminal(out, p->name);
    tb_out_text(out, ")");
  }
  out_format(out, ": %d contact%s, %d rows", p->ncontact, p->ncontact == 1 ? "" : "s", p->nrow);
  if (p->W_ptr) tb_out_text(out, ", W given\n");
  else out_format(out, ", %d degrees of freedom\n", p->ndof);
}

static void print_start(tbOut* out, const Report* report, const Race* race)
{
  char line[256];
  report_start(report, race, line);
  out_format(out, "  %s\n", line);
}

// "auto" says what it used.
static void solver_label(const Entry* e, char label[64])
{
  bool other = e->result.used && strcmp(e->result.used, e->solver->name) != 0;
  snprintf(label, 64, other ? "%.20s (%.20s)" : "%.20s", e->solver->name, e->result.used);
}

static void print_note(tbOut* out, const char* line) { out_format(out, "  %s\n", line); }

void report_table(tbOut* out, const Report* report, const Race* race)
{
  bool cone = report->rules->options.model == TB_MODEL_CONE;
  int width = 6;
  for (int i = 0; i < race->entries; i++) {
    char label[64];
    solver_label(&race->entry[i], label);
    if ((int)strlen(label) > width) width = (int)strlen(label);
  }
  print_size(out, race);
  print_start(out, report, race);
  if (race->ran) {
    out_format(out, "  %3s  %-*s  %-14s %10s %10s %17s %11s  %9s  %9s  %9s  %9s", "", width, "solver",
               "status", "iterations", "time (ms)", "min–max", "ms/iter", "residual", "m/s", "nat. map",
               "penetr.");
    tb_out_text(out, cone ? "\n" : "   of model\n");
  }
  for (int i = 0; i < race->ran; i++) {
    const Entry* e = &race->entry[i];
    const tbSolveResult* r = &e->result;
    char label[64], time[OUT_NUMBER], each[OUT_NUMBER] = "–", spread[SPREAD_TEXT];
    solver_label(e, label);
    if (r->iterations) out_scaled(each, 1e3 * r->time_s / r->iterations);
    int pad = r->iterations ? 11 : 13; // the dash has three bytes
    out_format(out, "  %3d  %-*s  %-14s %10d %10s %17s %*s  %9.2e  %9.2e  %9.2e  %9.2e", i + 1, width, label,
               verdict_name(r->outcome), r->iterations, out_scaled(time, 1e3 * r->time_s),
               report_spread(spread, e, "–"), pad, each, r->residual.fclib,
               judged_velocity(&report->rules->options, &r->residual), r->residual.natural_map,
               r->residual.penetration);
    if (cone) tb_out_text(out, "\n");
    else out_format(out, "  %9.2e\n", r->residual.model);
  }
  for (int i = race->ran; i < race->entries; i++) {
    const Entry* e = &race->entry[i];
    out_format(out, "    –  %-*s  %s\n", width, e->solver->name, e->why_not);
  }
  report_borrowed(out, race, print_note);
  tb_out_text(out, "\n");
}
