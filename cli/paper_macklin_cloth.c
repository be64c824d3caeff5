// SPDX-License-Identifier: Apache-2.0
// Fig. 12: a ball dropped onto inextensible cloth.
#include "cli/paper_macklin.h"

#include <math.h>

enum { STIFFNESSES = 4 };

// How far the ball has come down, below where it would lie on a plate.
static tbStatus sag(Paper* p, double stiffness, const char* settings, double* out)
{
  tbScene s;
  TB_TRY(paper_scene(p, "cloth", &s, "cloth.cloth.stretch=%g cloth.cloth.shear=%g %s", stiffness, stiffness,
                     settings));
  tbStatus status = paper_run(p, s.world, &s.step, s.time);
  *out = 1.152 - tb_body_state(s.world, tb_world_find_body(s.world, "ball")).position.z;
  tb_scene_free(p->ctx, &s);
  return status;
}

tbStatus macklin_cloth(Paper* p)
{
  static const double stiffness[STIFFNESSES] = {1e4, 1e6, 1e8, 1e10}; // N/m
  double primal[STIFFNESSES], dual[STIFFNESSES];
  PlotPoint point[2][STIFFNESSES];
  paper_section(
      p, "Fig. 12: a ball on inextensible cloth",
      "A ball of 1 kg on a cloth of 800 triangles (quick: 200) of 0.3 kg that is held at its corners: how "
      "far "
      "it has come down, with 40 iterations in each of 2 substeps of 1/60 s, over the cloth's stiffness. "
      "Dual: xpbd, one constraint after the other. Primal descends on the velocities of all nodes at once, "
      "from those that the cloth would have without contact, by a line search.");
  tbOut* csv = paper_table(p, "figure-12.csv", "stiffness,primal_m,dual_m");
  for (int i = 0; i < STIFFNESSES; i++) {
    TB_TRY(sag(p, stiffness[i], "", &primal[i]));
    TB_TRY(sag(p, stiffness[i], "scheme.name=xpbd scheme.contact_stiffness=0", &dual[i]));
    out_format(csv, "%g,%.4e,%.4e\n", stiffness[i], primal[i], dual[i]);
    point[0][i] = (PlotPoint){stiffness[i], fmax(primal[i], 1e-6)};
    point[1][i] = (PlotPoint){stiffness[i], fmax(dual[i], 1e-6)};
  }
  const PlotCurve curve[] = {{"primal", 0, point[0], STIFFNESSES, true, false},
                             {"dual", 1, point[1], STIFFNESSES, true, false}};
  const Plot plot = {PLOT_FACTOR, false, "stiffness, N/m", "sag, m", 0, curve, 2};
  paper_plot(p, "figure-12.svg", &plot, "How far the ball comes down over the cloth's stiffness.");
  paper_claim(p, primal[3] < 0.2 * dual[3], "at 10¹⁰ primal is stiffer than dual in as many iterations",
              "primal %.3g mm, dual %.3g mm", 1e3 * primal[3], 1e3 * dual[3]);
  paper_claim(p, dual[3] > 0.7 * dual[2] && primal[3] < primal[0],
              "beyond 10⁸ the dual becomes no stiffer, the primal does",
              "dual %.3g and %.3g mm at 10⁸ and 10¹⁰", 1e3 * dual[2], 1e3 * dual[3]);
  paper_section_end(p);
  return TB_OK;
}
