// SPDX-License-Identifier: Apache-2.0
// Verschoor and Jalba, Efficient and Accurate Collision Response for Elastically Deformable Models (2019):
// the six scenes of table 1, with the paper's figures beside those measured.
#include "cli/paper_verschoor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char* const method_name[METHODS] = {"CR (Schur)", "CR (Full)", "CR (Diag)", "ICA", "SP"};

// Table 1, means: seconds per step, of them in the solver, iterations, rows. SP: with active sets.
const Setup verschoor_setups[] = {
    {.name = "rings",
     .plot = "steps-rings.svg",
     .stands_for = "rings",
     .size = {120, 12960, 17280},
     .memory = 380e6,
     .published = {{1.46, 0.52, 97, 2280},
                   {1.46, 0.52, 97, 2280},
                   {3.9, 2.8, 451, 2435},
                   {1.6, 0.8, 180, 2846},
                   {6.2, 5.6, 1546, 2385}},
     .scene = "rings",
     .settings = "",
     .settle_dt = 0.001,
     .settle = 116,
     .quick_settle = 30,
     .steps = 10},
    {.name = "pyramid",
     .plot = "steps-pyramid.svg",
     .stands_for = "doughnuts of as many tetrahedra",
     .size = {140, 60480, 73920},
     .memory = 1.8e9,
     .published = {{6.0, 2.3, 69, 8565},
                   {6.0, 2.3, 69, 8565},
                   {12.0, 7.6, 229, 8871},
                   {17.95, 14.2, 558, 8734},
                   {23.7, 20.8, 1088, 8647}},
     .scene = "pyramid",
     .settings = "",
     .settle_dt = 0.002,
     .settle = 24,
     .quick_settle = 20,
     .steps = 8},
    {.name = "rings*",
     .plot = "steps-rings-stiff.svg",
     .stands_for = "rings",
     .size = {120, 12960, 17280},
     .published =
         {{1.6, 0.8, 154, 1898}, {1.6, 0.8, 154, 1898}, {0}, {2.7, 2.1, 655, 2439}, {21.7, 20.2, 3373, 2290}},
     .scene = "rings",
     .settings = "soft.*.young=5e6",
     .settle_dt = 0.001,
     .settle = 116,
     .quick_settle = 30,
     .steps = 10},
    {.name = "bunnies",
     .plot = "steps-bunnies.svg",
     .stands_for = "doughnuts of as many tetrahedra",
     .size = {120, 152400, 88560},
     .memory = 2.2e9,
     .published = {{36.2, 31.3, 900, 700}, {36.2, 31.3, 900, 700}, {0}, {179, 174, 7206, 876}, {0}},
     .scene = "bunnies",
     .settings = "",
     .settle_dt = 0.001,
     .settle = 115,
     .quick_settle = 80,
     .steps = 3},
    {.name = "armadillo",
     .plot = "steps-armadillo.svg",
     .stands_for = "a ball of as many tetrahedra",
     .size = {1, 385739, 20978},
     .published = {{10.71, 6.55, 81, 4350},
                   {10.71, 6.55, 81, 4350},
                   {0},
                   {259, 255, 344, 4170},
                   {404, 395, 6839, 4335}},
     .scene = "armadillo",
     .settings = "",
     .settle_dt = 0.001,
     .settle = 10,
     .quick_settle = 20,
     .steps = 3},
    {.name = "bearing",
     .plot = "steps-bearing.svg",
     .stands_for = "balls in a channel under a turning disc",
     .size = {9, 115659, 46080},
     .published = {{22.9, 19.38, 480, 4044}, {22.9, 19.38, 480, 4044}, {0}, {0}, {0}},
     .scene = "bearing",
     .settings = "",
     .settle_dt = 0.002,
     .settle = 20,
     .quick_settle = 20,
     .steps = 3},
};

const int verschoor_setup_count = sizeof verschoor_setups / sizeof *verschoor_setups;

const char* verschoor_scene(const Paper* p, const Setup* s)
{
  static const char meshes[] = "../../../shared/meshes";
  char path[PATH_MAX], mesh[PATH_MAX + 60];
  if (strcmp(s->scene, "armadillo") != 0) return s->scene;
  if (p->quick || paper_scene_path(p, s->scene, path) != TB_OK) return "ball";
  *(strrchr(path, '/') + 1) = 0;
  snprintf(mesh, sizeof mesh, "%s%s/Armadillo13K.msh", path, meshes);
  if (access(mesh, R_OK) != 0) return "ball";
  snprintf(mesh, sizeof mesh, "%s%s/verschoor/roller1.obj", path, meshes);
  return access(mesh, R_OK) == 0 ? "armadillo" : "ball";
}

// A figure, or a dash where there is none.
static const char* figure(char text[32], const char* format, double value)
{
  if (value > 0) snprintf(text, 32, format, value);
  else snprintf(text, 32, "–");
  return text;
}

static void print_method(tbOut* csv, const Setup* s, const Outcome* o, Method m)
{
  const Measured* t = &o->method[m];
  const Published* was = &s->published[m];
  char a[4][32];
  printf("    %-10s %6.0f %s  %7.0f %s  %8.3f %s  %6.3f %6.3f  %6.3f  %.1e%s%s\n", method_name[m], t->rows,
         figure(a[0], "(%5.0f)", was->rows), t->iterations, figure(a[1], "(%5.0f)", was->iterations),
         t->seconds, figure(a[2], "(%6.2f)", was->seconds), t->collide, t->solve, t->judge, t->residual,
         t->unfinished ? "  not within tolerance" : "", t->stopped ? "  stopped: time is up" : "");
  fflush(stdout);
  out_format(csv, "%s,%s,%d,%d,%d,%d,%d,%d,%.1f,%g,%.1f,%g,%.2f,%.6f,%g,%.6f,%.6f,%.6f,%.3e,%.3e,%lld,%.3e\n",
             s->name, method_name[m], o->size.objects, o->size.tets, o->size.faces, t->steps, t->unfinished,
             t->stopped, t->rows, was->rows, t->iterations, was->iterations, t->rounds, t->seconds,
             was->seconds, t->collide, t->solve, t->judge, t->residual, t->penetration,
             (long long)t->intersections, o->peak);
}

// Whether a method that the paper has was outdone by its ratio, or did not come to an end.
static void claim_ratio(Paper* p, const Setup* s, const Outcome* o, Method m)
{
  const Measured *cr = &o->method[METHOD_CR_SCHUR], *other = &o->method[m];
  const Published* was = s->published;
  char says[200];
  if (!(was[m].iterations > 0) || other->steps == 0) return;
  snprintf(says, sizeof says, "%s: %s takes %.1f times the iterations of CR, and %.1f times its time",
           s->name, method_name[m], was[m].iterations / was->iterations, was[m].seconds / was->seconds);
  bool ended = other->unfinished == 0, fewer = other->iterations > cr->iterations;
  paper_claim(p, cr->unfinished == 0 && (!ended || fewer), says,
              "%s%.2f times the iterations, %.2f times the time", ended ? "" : "did not finish; until then ",
              other->iterations / fmax(cr->iterations, 1), other->seconds / cr->seconds);
}

static void claims(Paper* p, const Setup* s, const Outcome* o)
{
  const Measured *cr = &o->method[METHOD_CR_SCHUR], *full = &o->method[METHOD_CR_FULL];
  char says[200];
  int64_t crossed = 0;
  for (Method m = 0; m < METHODS;
       m++) // what did not solve the problem may have had to leave bodies where they met
    if (m <= METHOD_CR_FULL || o->method[m].unfinished == 0) crossed += o->method[m].intersections;
  paper_claim(p, crossed == 0, "collision free at the end of every step", "%s: %lld pairs of triangles cross",
              s->name, (long long)crossed);
  paper_claim(p, cr->unfinished == 0 && cr->residual <= VERSCHOOR_TOLERANCE, "CR converges at every step",
              "%s: %d of %d steps; worst residual %.1e", s->name, cr->steps - cr->unfinished, cr->steps,
              cr->residual);
  paper_claim(p, o->complementarity < VERSCHOOR_ERROR, "complementarity error below 5e-5",
              "%s: %.1e m by Fischer and Burmeister's function", s->name, o->complementarity);
  paper_claim(p, o->same, "the same bits with one thread and with two", "%s", s->name);
  if (!p->quick) {
    snprintf(says, sizeof says, "%s: %.2f s per step on a 4 GHz AMD FX-8350; ten times faster here", s->name,
             s->published->seconds);
    paper_claim_timed(
        p, 10 * cr->seconds <= s->published->seconds, says,
        "%.3f s of one core: %.1f times faster, with %.2f times the rows; with Full as published %.3f s%s",
        cr->seconds, s->published->seconds / cr->seconds, cr->rows / s->published->rows, full->seconds,
        full->unfinished ? ", not within tolerance" : "");
  }
  for (Method m = METHOD_ICA; !p->quick && m < METHODS; m++) claim_ratio(p, s, o, m);
}

// Figures 10 and 11: what each step of each method took.
static void put_steps(Paper* p, const Setup* s, const Outcome* o, tbOut* csv)
{
  PlotPoint point[METHODS][STEPS_MEASURED];
  PlotCurve curve[METHODS];
  Plot plot = {.axis = PLOT_COUNT, .x_name = "steps", .y_name = "iterations", .curve = curve};
  for (Method m = 0; m < METHODS; m++) {
    const Measured* t = &o->method[m];
    int steps = t->steps < STEPS_MEASURED ? t->steps : STEPS_MEASURED;
    for (int i = 0; i < steps; i++) {
      point[m][i] = (PlotPoint){i + 1, fmax(t->by_step[0][i], 1)};
      out_format(csv, "%s,%s,%d,%.0f,%.6f\n", s->name, method_name[m], i + 1, t->by_step[0][i],
                 t->by_step[1][i]);
    }
    if (steps > 0)
      curve[plot.curves++] = (PlotCurve){method_name[m], (int)m, point[m], steps, !t->unfinished, false};
  }
  paper_plot(p, s->plot, &plot, "Iterations of each step, as in figures 10 and 11");
}

static tbStatus run_setup(Paper* p, const Setup* s, tbOut* csv, tbOut* steps)
{
  Outcome o;
  char memory[32];
  bool itself = strcmp(verschoor_scene(p, s), "armadillo") == 0;
  TB_TRY(verschoor_measure(p, s, p->quick ? 2 : 15, &o));
  printf("  %s, %s: %d bodies (%d), %d tetrahedra (%d), %d faces (%d), %d nodes, %.0f MB (%s)\n", s->name,
         itself ? "the armadillo itself" : s->stands_for, o.size.objects, s->size.objects, o.size.tets,
         s->size.tets, o.size.faces, s->size.faces, o.nodes, o.peak / 1e6,
         figure(memory, "%.0f MB", s->memory / 1e6));
  printf("    %-10s %6s %-7s  %7s %-7s  %8s %-8s  %6s %6s  %6s  %s\n", "", "rows", "(paper)", "iter.",
         "(paper)", "s/step", "(paper)", "coll.", "solve", "judge", "residual");
  for (Method m = 0; m < METHODS; m++) print_method(csv, s, &o, m);
  if (o.shared > 0)
    printf("    CR (Schur) by the clock, judge and all: %.3f s with one thread, %.3f s with two: %.2f times "
           "faster\n",
           o.alone, o.shared, o.alone / o.shared);
  claims(p, s, &o);
  put_steps(p, s, &o, steps);
  return TB_OK;
}

static bool is_named(const Paper* p, const char* name) { return !p->only || strcmp(p->only, name) == 0; }
static bool is_wanted(const Paper* p, const Setup* s) { return is_named(p, s->name); }

tbStatus paper_verschoor(Paper* p)
{
  const char* names[20] = {NULL};
  for (int i = 0; i < verschoor_setup_count; i++) names[i] = verschoor_setups[i].name;
  names[verschoor_setup_count] = "figures";
  TB_TRY(paper_check_only(p, names));
  if (is_named(p, "figures")) TB_TRY(verschoor_figures(p));
  if (p->only && is_named(p, "figures")) return TB_OK;
  paper_section(
      p, "Table 1",
      "Time is of one core, collision detection, assembly and all solves of a step included, the judge's "
      "certificate not. Rows: three per contact. Residuals are the judge's, at most 1e-3, which leaves "
      "complementarity errors below ε₁ = 5e-5 m; surfaces "
      "keep ε₂ = 5e-6 m. In the paper: one core of a 4 GHz AMD FX-8350.");
  tbOut* csv =
      paper_table(p, "table-1.csv",
                  "scene,method,objects,tets,faces,steps,unfinished,stopped,rows,paper_rows,iterations,"
                  "paper_iterations,rounds,seconds,paper_seconds,collide_s,solve_s,judge_s,residual,"
                  "penetration,intersections,peak_bytes");
  tbOut* steps = paper_table(p, "steps.csv", "scene,method,step,iterations,seconds");
  for (int i = 0; i < verschoor_setup_count; i++)
    if (is_wanted(p, &verschoor_setups[i])) TB_TRY(run_setup(p, &verschoor_setups[i], csv, steps));
  paper_section_end(p);
  return TB_OK;
}
