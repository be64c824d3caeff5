// SPDX-License-Identifier: Apache-2.0
// Which way a gradient is computed.
#include "gradient/objective.h"

#include <string.h>

static const char* const names[TB_GRADIENT_METHODS] = {"auto", "tangent", "adjoint", "differences"};

const char* tb_gradient_method_name(tbGradientMethod method)
{
  return (unsigned)method < TB_GRADIENT_METHODS ? names[method] : "unknown";
}

bool tb_gradient_method_from_name(const char* name, tbGradientMethod* out)
{
  for (int i = 0; i < TB_GRADIENT_METHODS; i++)
    if (strcmp(name, names[i]) == 0) return *out = (tbGradientMethod)i, true;
  return false;
}

tbStatus tb_objective_gradient(tbContext* ctx, const tbObjective* o, tbGradientMethod method,
                               const double* values, double* loss, double* gradient, tbGradientReport* report)
{
  tbGradientReport own = {0};
  double at = 0;
  if (method == TB_GRADIENT_AUTO) method = TB_GRADIENT_TANGENT;
  own.method = method;
  TB_TRY(tb_objective_takes_scheme(ctx, o));
  switch (method) {
  case TB_GRADIENT_TANGENT: TB_TRY(tb_gradient_tangent(ctx, o, values, &at, gradient, &own)); break;
  case TB_GRADIENT_ADJOINT: TB_TRY(tb_gradient_adjoint(ctx, o, values, &at, gradient, &own)); break;
  case TB_GRADIENT_DIFFERENCES: TB_TRY(tb_gradient_differences(ctx, o, values, &at, gradient, &own)); break;
  default: return tb_fail(ctx, TB_ERROR_ARGUMENT, "no such way to compute a gradient");
  }
  if (loss) *loss = at;
  if (report) *report = own;
  return TB_OK;
}
