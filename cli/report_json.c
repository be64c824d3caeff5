// SPDX-License-Identifier: Apache-2.0
// `compare --json`: every result, with the keys of `solve --json`.
#include "cli/args.h"
#include "cli/machine.h"
#include "cli/report.h"
#include "cli/verdict.h"

static void put_race(tbJsonWriter* w, const Report* report, const Race* race)
{
  const tbProblem* p = race->problem;
  tb_put_object(w, NULL);
  tb_put_string(w, "problem", race->path);
  tb_put_string(w, "name", p->name);
  tb_put_int(w, "contacts", p->ncontact);
  tb_put_int(w, "dofs", p->ndof);
  tb_put_int(w, "rows", p->nrow);
  tb_put_object(w, "start");
  tb_put_string(w, "kind", race->warm ? "guess" : "zero");
  put_finite(w, "residual", judged(&report->rules->options, &race->start_residual));
  tb_put_bool(w, "suffices", race->start_suffices);
  tb_put_end(w);
  tb_put_array(w, "results");
  for (int i = 0; i < race->ran; i++) {
    tb_put_object(w, NULL);
    put_verdict(w, &report->rules->options, race->entry[i].solver->name, &race->entry[i].result);
    tb_put_int(w, "runs", race->entry[i].runs);
    tb_put_number(w, "time_min_s", race->entry[i].fastest_s);
    tb_put_number(w, "time_max_s", race->entry[i].slowest_s);
    if (race->entry[i].borrowed) {
      tb_put_string(w, "borrows_from", race->entry[i].solver->borrows_from);
      tb_put_int(w, "borrowed_contacts", race->entry[i].borrowed);
    }
    tb_put_end(w);
  }
  tb_put_end(w);
  tb_put_array(w, "refused");
  for (int i = race->ran; i < race->entries; i++) {
    tb_put_object(w, NULL);
    tb_put_string(w, "solver", race->entry[i].solver->name);
    tb_put_string(w, "reason", race->entry[i].why_not);
    tb_put_end(w);
  }
  tb_put_end(w);
  tb_put_end(w);
}

tbStatus report_json(tbOut* out, const Report* report)
{
  const tbSolveOptions* o = &report->rules->options;
  char processor[MACHINE_TEXT];
  tbJsonWriter w = tb_json_writer(out, 0);
  tb_put_object(&w, NULL);
  tb_put_int(&w, "tribo", 1);
  tb_put_string(&w, "version", TB_VERSION);
  tb_put_string(&w, "commit", machine_commit());
  machine_processor(processor);
  tb_put_string(&w, "processor", processor);
  tb_put_string(&w, "model", tb_model_name(o->model));
  tb_put_number(&w, "tolerance", o->tolerance);
  tb_put_number(&w, "velocity_tolerance", o->velocity_tolerance);
  tb_put_int(&w, "threads", report->threads);
  tb_put_array(&w, "problems");
  for (int i = 0; i < report->races; i++) put_race(&w, report, &report->race[i]);
  tb_put_end(&w);
  tb_put_end(&w);
  return finish_json_line(&w);
}
