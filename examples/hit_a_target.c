// SPDX-License-Identifier: Apache-2.0
// A ball is thrown at the floor and bounces: which velocity brings it to a point? The gradient of where it
// ends, verified by runs beside it, and a search within bounds that prints the scene it found.
#include "tribo/gradient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char scene[] = "{\"tribo\": 1, \"dt\": 0.01, \"time\": 0.4,\n"
                            " \"materials\": {\"rubber\": {\"friction\": 0.3, \"restitution\": 0.8}},\n"
                            " \"bodies\": [{\"name\": \"floor\", \"fixed\": true, \"material\": \"rubber\", "
                            "\"shape\": {\"type\": \"plane\"}},\n"
                            "  {\"name\": \"ball\", \"material\": \"rubber\", \"mass\": 0.5, \"shape\": "
                            "{\"type\": \"sphere\", \"radius\": 0.1},\n"
                            "   \"position\": [0, 0, 0.4], \"velocity\": [2, 0, -2]}]}";

static tbStatus show_gradient(tbContext* ctx, const tbObjective* o, const double* x)
{
  double g[3], loss, apart;
  tbGradientReport report;
  tbStatus status = tb_objective_gradient(ctx, o, TB_GRADIENT_AUTO, x, &loss, g, &report);
  if (status == TB_OK) status = tb_objective_verify(ctx, o, x, g, &apart);
  if (status != TB_OK) return status;
  printf("%.4f m from the target; by the velocity: %.6f %.6f %.6f; runs differ by %.1e\n", sqrt(loss), g[0],
         g[1], g[2], apart);
  return TB_OK;
}

static tbStatus search(tbContext* ctx, const tbObjective* o, double* x)
{
  static const double lower[3] = {0, -1, -4}, upper[3] = {4, 1, 0};
  tbMinimize how = tb_default_minimize();
  tbMinimum found;
  how.lower = lower, how.upper = upper;
  tbStatus status = tb_objective_minimize(ctx, o, &how, x, &found);
  if (status != TB_OK) return status;
  printf("%.2e m after %d iterations\n", sqrt(found.loss), found.iterations);
  tbOut text = tb_out_memory(ctx);
  status = tb_objective_print(ctx, o, x, &text);
  if (status == TB_OK) printf("%.*s\n", (int)text.length, text.bytes);
  tb_out_free(&text);
  return status;
}

int main(void)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = NULL;
  double x[3];
  tbStatus status =
      tb_objective_parse(&ctx, "throw", scene, strlen(scene), NULL, "ball:0.7,0.1,0.5", "ball.velocity", &o);
  if (status == TB_OK) tb_objective_values(o, x);
  if (status == TB_OK) status = show_gradient(&ctx, o, x);
  if (status == TB_OK) status = search(&ctx, o, x);
  if (status != TB_OK) fprintf(stderr, "hit_a_target: %s\n", ctx.error.message);
  tb_objective_free(&ctx, o);
  return status == TB_OK ? 0 : 1;
}
