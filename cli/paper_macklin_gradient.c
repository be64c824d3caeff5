// SPDX-License-Identifier: Apache-2.0
// Fig. 13 of Macklin et al. 2020: the throw that hits a target through two bounces; and, beyond the paper,
// what a gradient costs as its parameters grow.
#include "cli/paper_macklin.h"

#include "tribo/gradient.h"
#include "tribo/tools/clock.h"

#include <math.h>
#include <string.h>

enum { TEXT = 400, COUNTS = 3, MOST_BALLS = 16 };

// Balls beside each other that are thrown at the floor before a wall: both are met within half a second.
static tbStatus open_throw(Paper* p, int balls, tbObjective** out)
{
  char path[PATH_MAX], scene[20], wrt[TEXT] = "";
  snprintf(scene, sizeof scene, "throw-%d", balls);
  for (int i = 0; i < balls; i++)
    snprintf(wrt + strlen(wrt), TEXT - strlen(wrt), "%sball%d.velocity", i ? "," : "", i);
  TB_TRY(paper_scene_path(p, scene, path));
  return tb_objective_load(p->ctx, path, "ball0:0.9,0.05,0.6", wrt, out);
}

static tbStatus figure_13(Paper* p)
{
  tbObjective* o = NULL;
  tbMinimize how = tb_default_minimize();
  tbMinimum found = {0};
  double x[3];
  paper_section(
      p, "Fig. 13: a throw that hits",
      "A ball meets the floor and a wall; its velocity at the start is searched for so that it is at a point "
      "after 0.5 s: adjoints through steps of primal, with potentials of class C¹, and L-BFGS.");
  TB_TRY(open_throw(p, 1, &o));
  how.method = TB_GRADIENT_ADJOINT, how.loss = 1e-8;
  tb_objective_values(o, x);
  tbStatus status = tb_objective_minimize(p->ctx, o, &how, x, &found);
  tb_objective_free(p->ctx, o);
  TB_TRY(status);
  paper_claim(p, sqrt(found.loss) < 1e-3, "the target is hit through two contacts",
              "%.3g mm, from %.3g m, in %d iterations and %d gradients", 1e3 * sqrt(found.loss),
              sqrt(found.first_loss), found.iterations, found.gradients);
  paper_section_end(p);
  return TB_OK;
}

// Steps that a gradient takes for one of the run, and its seconds.
static tbStatus cost_of(tbContext* ctx, const tbObjective* o, tbGradientMethod method, double* steps,
                        double* seconds)
{
  double x[3 * MOST_BALLS], g[3 * MOST_BALLS], begin = tb_seconds();
  tbGradientReport report;
  tb_objective_values(o, x);
  TB_TRY(tb_objective_gradient(ctx, o, method, x, NULL, g, &report));
  *seconds = tb_seconds() - begin, *steps = (double)report.runs / (double)report.steps;
  return TB_OK;
}

static tbStatus costs(Paper* p)
{
  static const tbGradientMethod methods[] = {TB_GRADIENT_TANGENT, TB_GRADIENT_ADJOINT};
  double steps[COUNTS][2];
  paper_section(
      p, "What a gradient costs (not in the paper)",
      "As many balls as three numbers each make parameters; steps that are taken for one of the run. A "
      "tangent is carried for every number. An adjoint asks for the numbers of a body's state, of all "
      "islands "
      "at once.");
  tbOut* csv =
      paper_table(p, "gradient-cost.csv", "parameters,tangent_steps,adjoint_steps,tangent_s,adjoint_s");
  for (int i = 0, balls = 1; i < COUNTS; i++, balls *= 4) {
    tbObjective* o = NULL;
    double seconds[2] = {0};
    TB_TRY(open_throw(p, balls, &o));
    tbStatus status = TB_OK;
    for (int k = 0; k < 2 && status == TB_OK; k++)
      status = cost_of(p->ctx, o, methods[k], &steps[i][k], &seconds[k]);
    tb_objective_free(p->ctx, o);
    TB_TRY(status);
    out_format(csv, "%d,%.4g,%.4g,%.3e,%.3e\n", 3 * balls, steps[i][0], steps[i][1], seconds[0], seconds[1]);
  }
  paper_claim(p, steps[2][1] < 1.2 * steps[0][1] && steps[2][0] > steps[2][1],
              "(here) an adjoint takes as many steps for any number of parameters",
              "3, 12 and 48 parameters: adjoints %.3g, %.3g, %.3g steps; tangents %.3g, %.3g, %.3g",
              steps[0][1], steps[1][1], steps[2][1], steps[0][0], steps[1][0], steps[2][0]);
  paper_section_end(p);
  return TB_OK;
}

tbStatus macklin_gradient(Paper* p)
{
  TB_TRY(figure_13(p));
  return costs(p);
}
