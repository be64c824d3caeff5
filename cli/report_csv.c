// SPDX-License-Identifier: Apache-2.0
// results.csv and curves.csv.
#include "cli/args.h"
#include "cli/report.h"
#include "cli/verdict.h"

static void number(tbOut* out, double value, const char* after)
{
  tb_out_double(out, value);
  tb_out_text(out, after);
}

static void begin_row(tbOut* out, const Race* race, const Entry* entry)
{
  out_csv(out, race->path);
  tb_out_text(out, ",");
  tb_out_text(out, entry->solver->name);
  tb_out_text(out, ",");
}

void report_results_csv(tbOut* out, const Report* report)
{
  tb_out_text(out, "problem,solver,status,iterations,time_s,fclib,natural_map,penetration,cone,"
                   "complementarity,dissipation,start_residual,runs,time_min_s,time_max_s,velocity\n");
  for (const Race* race = report->race; race < report->race + report->races; race++)
    for (const Entry* e = race->entry; e < race->entry + race->entries; e++) {
      begin_row(out, race, e);
      if (e->why_not[0]) {
        tb_out_text(out, "refused,,,,,,,,,,,,,\n");
        continue;
      }
      const tbResidual* r = &e->result.residual;
      out_format(out, "%s,%d,", verdict_name(e->result.outcome), e->result.iterations);
      number(out, e->result.time_s, ",");
      number(out, r->fclib, ",");
      number(out, r->natural_map, ",");
      number(out, r->penetration, ",");
      number(out, r->cone, ",");
      number(out, r->complementarity, ",");
      number(out, r->dissipation, ",");
      number(out, judged(&report->rules->options, &race->start_residual), ",");
      out_format(out, "%d,", e->runs);
      number(out, e->fastest_s, ",");
      number(out, e->slowest_s, ",");
      number(out, judged_velocity(&report->rules->options, r), "\n");
    }
}

void report_curves_csv(tbOut* out, const Report* report)
{
  tb_out_text(out, "problem,solver,iteration,time_s,residual\n");
  for (const Race* race = report->race; race < report->race + report->races; race++)
    for (const Entry* e = race->entry; e < race->entry + race->entries; e++)
      for (const CurvePoint* p = e->curve; p < e->curve + e->points; p++) {
        begin_row(out, race, e);
        out_format(out, "%d,", p->iteration);
        number(out, p->time_s, ",");
        number(out, p->residual, "\n");
      }
}
