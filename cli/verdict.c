// SPDX-License-Identifier: Apache-2.0
#include "cli/verdict.h"
#include "cli/args.h"

void put_finite(tbJsonWriter* w, const char* key, double value)
{
  if (isfinite(value)) tb_put_number(w, key, value);
  else tb_put_null(w, key);
}

void put_finites(tbJsonWriter* w, const char* key, const double* values, int count)
{
  bool finite = true;
  for (int i = 0; i < count; i++) finite &= isfinite(values[i]) != 0;
  if (finite) {
    tb_put_numbers(w, key, values, (size_t)count);
    return;
  }
  tb_put_array(w, key);
  for (int i = 0; i < count; i++) put_finite(w, NULL, values[i]);
  tb_put_end(w);
}

const char* verdict_name(tbOutcome outcome)
{
  return tb_outcome_name(outcome == TB_CANCELLED ? TB_FAILED : outcome);
}

void put_verdict(tbJsonWriter* w, const tbSolveOptions* o, const char* solver, const tbSolveResult* r)
{
  const tbResidual* e = &r->residual;
  tb_put_string(w, "solver", solver);
  tb_put_string(w, "used", r->used);
  tb_put_string(w, "status", verdict_name(r->outcome));
  tb_put_int(w, "iterations", r->iterations);
  tb_put_number(w, "time_s", r->time_s);
  tb_put_number(w, "setup_s", r->setup_s);
  put_finite(w, "residual", judged(o, e));
  tb_put_object(w, "residuals");
  put_finite(w, "natural_map", e->natural_map);
  put_finite(w, "fclib", e->fclib);
  put_finite(w, "model", e->model);
  put_finite(w, "velocity", e->velocity);
  put_finite(w, "penetration", e->penetration);
  put_finite(w, "cone", e->cone);
  put_finite(w, "complementarity", e->complementarity);
  put_finite(w, "dissipation", e->dissipation);
  tb_put_end(w);
}

tbStatus finish_json_line(tbJsonWriter* w)
{
  tb_out_text(w->out, "\n");
  return tb_json_writer_finish(w);
}
