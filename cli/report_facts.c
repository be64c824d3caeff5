// SPDX-License-Identifier: Apache-2.0
// What a report was made with and under which rules: told once, written by every format in its own way.
#include "cli/machine.h"
#include "cli/report.h"

#include <time.h>

static void write_rules(tbOut* out, const Report* report, FactWriter* write)
{
  const tbSolveOptions* o = &report->rules->options;
  char line[256], limit[64] = "", runs[64] = "", velocity[64] = "";
  if (o->time_budget_s > 0) snprintf(limit, sizeof limit, ", %g s", o->time_budget_s);
  if (report->rules->repeat) snprintf(runs, sizeof runs, "; the median of %d runs", report->rules->repeat);
  if (o->velocity_tolerance > 0) snprintf(velocity, sizeof velocity, " and %g m/s", o->velocity_tolerance);
  snprintf(line, sizeof line, "tolerance %g%s, model %s, sweeps in %s order; at most %d iterations%s each%s",
           o->tolerance, velocity, tb_model_name(o->model), tb_order_name(o->order), o->max_iterations, limit,
           runs);
  write(out, "Rules", line);
}

void report_facts(tbOut* out, const Report* report, FactWriter* write)
{
  char text[MACHINE_TEXT], line[2 * MACHINE_TEXT];
  machine_processor(text);
  snprintf(line, sizeof line, "%s, %d thread%s", text, report->threads, report->threads == 1 ? "" : "s");
  write(out, "Processor", line);
  machine_system(text);
  write(out, "System", text);
  snprintf(line, sizeof line, "tribo %s, commit %s, %s, %s vector code", TB_VERSION, machine_commit(),
           machine_compiler(), tb_simd_name());
  write(out, "Build", line);
  write_rules(out, report, write);
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc) && strftime(line, sizeof line, "%Y-%m-%d %H:%M UTC", &utc))
    write(out, "Made", line);
}
