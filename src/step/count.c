// SPDX-License-Identifier: Apache-2.0
#include "step/count.h"

static double worse(double a, double b) { return a <= b || isnan(b) ? b : a; }

tbResidual tb_worse_residual(const tbResidual* a, const tbResidual* b)
{
  return (tbResidual){.fclib = worse(a->fclib, b->fclib),
                      .natural_map = worse(a->natural_map, b->natural_map),
                      .model = worse(a->model, b->model),
                      .velocity = worse(a->velocity, b->velocity),
                      .model_velocity = worse(a->model_velocity, b->model_velocity),
                      .absolute = worse(a->absolute, b->absolute),
                      .penetration = worse(a->penetration, b->penetration),
                      .cone = worse(a->cone, b->cone),
                      .complementarity = worse(a->complementarity, b->complementarity),
                      .dissipation = worse(a->dissipation, b->dissipation),
                      .norm_q = worse(a->norm_q, b->norm_q),
                      .norm_lambda = worse(a->norm_lambda, b->norm_lambda),
                      .norm_u = worse(a->norm_u, b->norm_u)};
}

void tb_count_solve(const tbStepOptions* o, const tbSolveResult* result, const tbAssembly* a,
                    tbStepReport* report)
{
  if (result->outcome != TB_CONVERGED) report->outcome = result->outcome;
  tb_step_confirm(o, &(tbStepWork){.assembly = *a}, report);
  report->residual = tb_worse_residual(&report->residual, &a->residual);
}
