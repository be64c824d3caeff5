// SPDX-License-Identifier: Apache-2.0
// The paper's figures beside table 1: the wedge, the strings and the rigid stack of figure 2, the pile of
// cubes of figure 8, convergence (figure 6 and §7), time steps (figure 9) and what W takes (figure 12).
#include "cli/paper_verschoor.h"

#include "tribo/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- scenes ----

// What a run came to.
typedef struct {
  int steps, loose, missed;   // of them those with a gap not within the clearance of its row, and those that
                              // missed their tolerance
  int64_t crossings;          // sum
  int contacts;               // most
  double iterations, seconds; // mean of a step
  double linear_error, trimmed;         // worst
  double elastic, elastic_end, kinetic; // J: the most, and those at the end
} Run;

static void add(const tbStepReport* r, const tbWorld* w, double clearance, Run* out)
{
  tbEnergy energy = tb_world_energy(w);
  out->steps++;
  out->missed += r->outcome != TB_CONVERGED;
  out->loose += r->linear_error >= clearance;
  out->crossings += r->intersections;
  out->contacts = r->contacts > out->contacts ? r->contacts : out->contacts;
  out->iterations += r->iterations;
  out->linear_error = fmax(out->linear_error, r->linear_error);
  out->trimmed = fmax(out->trimmed, r->trimmed);
  out->elastic = fmax(out->elastic, energy.elastic);
  out->elastic_end = energy.elastic, out->kinetic = energy.kinetic;
}

// Until its time is over, or so many seconds of the processor's are.
static tbStatus run(Paper* p, const char* name, double cap, tbScene* scene, Run* out, tbOut* csv)
{
  *out = (Run){0};
  TB_TRY(paper_scene(p, name, scene, "%s", ""));
  double begin = paper_cpu_seconds();
  int count = (int)ceil(scene->time / scene->step.dt - 1e-9);
  for (int i = 0; i < count && paper_cpu_seconds() - begin < cap; i++) {
    tbStepReport report;
    TB_TRY(tb_world_step(p->ctx, scene->world, &scene->step, &report));
    add(&report, scene->world, scene->step.clearance, out);
    out_format(csv, "%s,%d,%d,%d,%d,%.3e,%lld,%.3e\n", name, i, report.contacts, report.iterations,
               report.rounds, report.linear_error, (long long)report.intersections, report.residual.fclib);
  }
  out->iterations /= fmax(out->steps, 1), out->seconds = (paper_cpu_seconds() - begin) / fmax(out->steps, 1);
  return TB_OK;
}

static void say(const char* name, const Run* r)
{
  printf("  %-8s %4d steps, %5d contacts at most, %6.1f iterations and %.4f s a step; gaps within %.1e m of "
         "their rows\n",
         name, r->steps, r->contacts, r->iterations, r->seconds, r->linear_error);
  fflush(stdout);
}

static void claim_clean(Paper* p, const char* name, const Run* r)
{
  paper_claim(
      p, r->crossings == 0 && r->missed == 0 && r->trimmed == 0,
      "collision free and converged at the end of every step",
      "%s: %lld pairs of triangles cross, %d of %d steps missed their tolerance, %g of one was not gone",
      name, (long long)r->crossings, r->missed, r->steps, r->trimmed);
}

// The same, with what it came to said, and that it was clean claimed.
static tbStatus show(Paper* p, const char* name, double cap, tbScene* scene, Run* out, tbOut* csv)
{
  TB_TRY(run(p, name, cap, scene, out, csv));
  say(name, out);
  claim_clean(p, name, out);
  return TB_OK;
}

static tbStatus wedge(Paper* p, tbOut* csv)
{
  tbScene scene;
  Run r;
  tbStatus status = show(p, "wedge", 60, &scene, &r, csv);
  if (status == TB_OK) {
    // Contacts that slide from one feature to the next are between rows of both for a round: a few steps may
    // end with one of them.
    paper_claim(
        p, r.loose <= 0.02 * r.steps,
        "re-linearised until 0 ≤ C < ε₂ for every active constraint; rows and gaps apart by less than ε₂",
        "in all but %d of %d steps; %.1e m at most", r.loose, r.steps, r.linear_error);
  }
  tb_scene_free(p->ctx, &scene);
  return status;
}

static tbStatus strings(Paper* p, tbOut* csv)
{
  tbScene scene;
  Run r;
  tbStatus status = show(p, "strings", 60, &scene, &r, csv);
  if (status == TB_OK) {
    paper_claim(p, r.elastic > 0 && r.elastic_end < 0.02 * r.elastic,
                "strings that are let go come apart again",
                "%.3g J of elastic energy at most, %.2g J at the end", r.elastic, r.elastic_end);
  }
  tb_scene_free(p->ctx, &scene);
  return status;
}

static double moved(const tbWorld* w, const tbVec3* from)
{
  double most = 0;
  for (int i = 0; i < tb_world_body_count(w); i++)
    most = fmax(most, tb_norm3(tb_sub3(tb_body_state(w, tb_world_body_at(w, i)).position, from[i])));
  return most;
}

static tbStatus stack(Paper* p, tbOut* csv)
{
  tbScene scene, start;
  Run r;
  TB_TRY(paper_scene(p, "stack", &start, "%s", ""));
  int count = tb_world_body_count(start.world);
  tbVec3* from = TB_NEW(p->ctx, tbVec3, (size_t)count);
  tbStatus status = from ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; from && i < count; i++)
    from[i] = tb_body_state(start.world, tb_world_body_at(start.world, i)).position;
  tb_scene_free(p->ctx, &start);
  if (status == TB_OK) {
    status = show(p, "stack", 60, &scene, &r, csv);
    if (status == TB_OK) {
      double way = moved(scene.world, from);
      paper_claim(p, way < 1e-4, "rigid objects stack and stand", "sixteen layers moved %.1e m in %g s", way,
                  r.steps * scene.step.dt);
    }
    tb_scene_free(p->ctx, &scene);
  }
  tb_free(p->ctx, from);
  return status;
}

static tbStatus cubes(Paper* p, tbOut* csv)
{
  tbScene scene;
  Run r;
  tbStatus status = show(p, "cubes", p->quick ? 30 : 90, &scene, &r, csv);
  if (status == TB_OK) {
    paper_claim(p, r.contacts > 0, "2,000 cubes, 88,000 tetrahedra, up to 10,000 constraints",
                "%d rows at most in %d steps, %.2f s a step", 3 * r.contacts, r.steps, r.seconds);
  }
  tb_scene_free(p->ctx, &scene);
  return status;
}

// ---- figure 6: convergence ----

enum { POINTS = 400 };

typedef struct {
  const char* name;
  const char* solver;
  tbPreconditioner preconditioner;
  tbKrylov krylov;
  tbStateChanges changes;
} Variant;

static const Variant variants[] = {
    {"CR (Full)", "cr", TB_PRECONDITIONER_FULL, TB_KRYLOV_CR, TB_STATES_EARLY},
    {"CR (Diag)", "cr", TB_PRECONDITIONER_DIAG, TB_KRYLOV_CR, TB_STATES_EARLY},
    {"CR (Schur)", "cr", TB_PRECONDITIONER_SCHUR, TB_KRYLOV_CR, TB_STATES_EARLY},
    {"MINRES (Diag)", "cr", TB_PRECONDITIONER_DIAG, TB_KRYLOV_MINRES, TB_STATES_EARLY},
    {"SP (2xCR)", "staggered-cr", TB_PRECONDITIONER_DIAG, TB_KRYLOV_CR, TB_STATES_EARLY},
    {"SP (Active Set)", "staggered-cr", TB_PRECONDITIONER_DIAG, TB_KRYLOV_CR, TB_STATES_CONVERGED},
};
enum { FULL, DIAG, SCHUR, MINRES, SP, SP_ACTIVE, VARIANTS };

typedef struct {
  PlotPoint point[POINTS];
  int points, iterations;
  bool solved;
} Curve;

// Every iteration at first, then about every twentieth part of those so far.
static void trace(void* user, const tbTraceEvent* event)
{
  Curve* c = user;
  int last = c->points > 0 ? (int)c->point[c->points - 1].x : -1;
  if (c->points == POINTS || event->iteration <= last + last / 20) return;
  c->point[c->points++] = (PlotPoint){event->iteration, event->residual->fclib};
}

static tbStatus solve(Paper* p, const tbProblem* problem, const Variant* v, double* lambda, Curve* out)
{
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result;
  *out = (Curve){0};
  o.solver = v->solver, o.preconditioner = v->preconditioner, o.krylov = v->krylov,
  o.state_changes = v->changes;
  o.tolerance = 1e-5, o.velocity_tolerance = 0, o.max_iterations = 20000, o.trace = trace, o.trace_user = out;
  memset(lambda, 0, (size_t)problem->nrow * sizeof *lambda);
  TB_TRY(tb_solve(p->ctx, problem, &o, lambda, &result));
  out->iterations = result.iterations, out->solved = result.outcome == TB_CONVERGED;
  return TB_OK;
}

static void claim_curves(Paper* p, const Curve* c)
{
  paper_claim(p, c[FULL].solved && c[FULL].iterations < c[DIAG].iterations,
              "figure 6: with Full the method converges much faster than with Diag",
              "%d and %d iterations to 1e-5", c[FULL].iterations, c[DIAG].iterations);
  paper_claim(p, !c[MINRES].solved || c[MINRES].iterations > 0.5 * c[DIAG].iterations,
              "§7: MINRES performs very similarly, and sometimes fails", "%d iterations%s, CR (Diag) %d",
              c[MINRES].iterations, c[MINRES].solved ? "" : ", not solved", c[DIAG].iterations);
  paper_claim(p, c[SP].iterations > c[DIAG].iterations && c[SP_ACTIVE].iterations > c[DIAG].iterations,
              "§6.2.3: SP takes more iterations than CR, with active sets 10 to 60 times those of CR (Full)",
              "CR (Full) %d, CR (Diag) %d, SP (2xCR) %d%s, SP (Active Set) %d%s", c[FULL].iterations,
              c[DIAG].iterations, c[SP].iterations, c[SP].solved ? "" : " unsolved", c[SP_ACTIVE].iterations,
              c[SP_ACTIVE].solved ? "" : " unsolved");
}

static tbStatus converge(Paper* p)
{
  tbScene scene;
  tbProblem* problem = NULL;
  double* lambda = NULL;
  paper_section(
      p, "Figure 6: convergence",
      "The contact problem of one step of the pile of cubes, from zero, to 1e-5 of the judge's number.");
  TB_TRY(paper_scene(p, "cubes", &scene,
                     "soft.cube.repeat.count=[3,3,3] soft.cube.position=[-0.11,-0.11,0.05]"));
  tbStatus status = paper_run(p, scene.world, &scene.step, 0.05);
  if (status == TB_OK) status = tb_world_problem(p->ctx, scene.world, &scene.step, &problem, &lambda);
  Curve* c = status == TB_OK ? TB_NEW(p->ctx, Curve, VARIANTS) : NULL;
  PlotCurve curve[VARIANTS];
  if (status == TB_OK && !c) status = TB_ERROR_MEMORY;
  for (int i = 0; i < VARIANTS && status == TB_OK; i++) {
    status = solve(p, problem, &variants[i], lambda, &c[i]);
    curve[i] = (PlotCurve){variants[i].name, i, c[i].point, c[i].points, c[i].solved, false};
  }
  if (status == TB_OK) {
    Plot plot = {.axis = PLOT_COUNT,
                 .x_name = "iterations",
                 .y_name = "residual",
                 .tolerance = 1e-5,
                 .curve = curve,
                 .curves = VARIANTS};
    claim_curves(p, c);
    paper_plot(p, "figure-6.svg", &plot, "The judge's residual by iterations");
  }
  tb_free(p->ctx, c);
  tb_guess_free(p->ctx, lambda);
  tb_problem_free(problem);
  tb_scene_free(p->ctx, &scene);
  paper_section_end(p);
  return status;
}

// ---- figure 9: time steps ----

static tbStatus time_steps(Paper* p)
{
  static const double dt[] = {5e-4, 1e-3, 2e-3, 4e-3};
  double total[4] = {0}, least = INFINITY, most = 0;
  tbOut* csv = paper_table(p, "figure-9.csv", "dt,steps,iterations_per_step,iterations");
  paper_section(
      p, "Figure 9: time steps",
      "The pile of cubes for 0.08 s with four time steps: iterations of a step, and of all of them.");
  for (int i = 0; i < 4; i++) {
    tbScene scene;
    TB_TRY(paper_scene(p, "cubes", &scene,
                       "dt=%g soft.cube.repeat.count=[2,2,3] soft.cube.position=[-0.06,-0.06,0.05]", dt[i]));
    tbStatus status = TB_OK;
    int steps = (int)(0.08 / dt[i] + 0.5);
    for (int k = 0; k < steps && status == TB_OK; k++) {
      tbStepReport report;
      status = tb_world_step(p->ctx, scene.world, &scene.step, &report);
      total[i] += report.iterations;
    }
    tb_scene_free(p->ctx, &scene);
    TB_TRY(status);
    out_format(csv, "%g,%d,%.2f,%.0f\n", dt[i], steps, total[i] / steps, total[i]);
    least = fmin(least, total[i]), most = fmax(most, total[i]);
  }
  paper_claim(p, total[3] / 20 > total[0] / 160, "a larger time step takes more iterations a step",
              "%.1f, %.1f, %.1f and %.1f for 0.5, 1, 2 and 4 ms", total[0] / 160, total[1] / 80,
              total[2] / 40, total[3] / 20);
  paper_claim(p, most < 5 * least, "all in all they are about as many", "%.0f, %.0f, %.0f and %.0f", total[0],
              total[1], total[2], total[3]);
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 12: the Delassus operator ----

enum { MOMENTS = 8, BETWEEN = 6 }; // problems that are looked at, and steps between them

// Of the contact problem of one step: its rows, and seconds of the processor.
typedef struct {
  int rows, iterations;
  double factor, delassus; // A = LLᵀ, and W = L A⁻¹ Lᵀ with it
  double method;           // CR (Full), which needs neither
} Cost;

// The problem once more, with A factored.
static tbStatus build_again(Paper* p, const tbProblem* from, tbProblem** out)
{
  tbBuilder* b;
  TB_TRY(tb_builder_create(p->ctx, from->name, &b));
  for (int i = 0; i < from->nblock; i++) {
    const tbMetricBlock* k = &from->block[i];
    if (k->kind == TB_METRIC_SPARSE)
      tb_builder_sparse(b, k->size, k->ptr, k->col, k->value, from->v_free + k->dof, NULL);
    else if (k->kind == TB_METRIC_DENSE) tb_builder_dense(b, k->size, k->value, from->v_free + k->dof, NULL);
    else tb_builder_particle(b, k->size, *k->value, from->v_free + k->dof, NULL);
  }
  for (int k = 0; k < from->ncontact; k++) {
    int row = from->row_adr[k];
    tb_builder_contact(b, (tbLaw)from->law[k], from->row_adr[k + 1] - row, from->param + from->param_adr[k],
                       from->bias + row, from->compliance + row);
    for (int c = from->jac_adr[k]; c < from->jac_adr[k + 1]; c++)
      tb_builder_jacobian(b, from->jac_dof[c], from->jac_width[c], from->jac + from->jac_val_adr[c]);
  }
  return tb_builder_finish(b, out);
}

static tbStatus measure_cost(Paper* p, const tbProblem* problem, double* lambda, Cost* out)
{
  tbProblem* again = NULL;
  tbDelassus* W = NULL;
  tbSolveOptions o = tb_default_solve_options();
  tbSolveResult result;
  o.solver = "cr", o.preconditioner = TB_PRECONDITIONER_FULL;
  o.tolerance = 1e-3, o.velocity_tolerance = 0, o.max_iterations = 5000;
  memset(lambda, 0, (size_t)problem->nrow * sizeof *lambda);
  double begin = paper_cpu_seconds();
  TB_TRY(tb_solve(p->ctx, problem, &o, lambda, &result));
  double solved = paper_cpu_seconds();
  TB_TRY(build_again(p, problem, &again));
  double factored = paper_cpu_seconds();
  tbStatus status = tb_delassus_create(p->ctx, again, TB_FORM_BLOCKS, &W);
  double formed = paper_cpu_seconds();
  if (status == TB_OK) tb_delassus_free(p->ctx, W);
  tb_problem_free(again);
  *out = (Cost){.rows = problem->nrow,
                .iterations = result.iterations,
                .factor = factored - solved,
                .delassus = formed - factored,
                .method = solved - begin};
  return status;
}

static tbStatus look(Paper* p, const tbScene* scene, Cost* out)
{
  tbProblem* problem = NULL;
  double* lambda = NULL;
  TB_TRY(tb_world_problem(p->ctx, scene->world, &scene->step, &problem, &lambda));
  tbStatus status = measure_cost(p, problem, lambda, out);
  tb_guess_free(p->ctx, lambda);
  tb_problem_free(problem);
  return status;
}

static void claim_costs(Paper* p, const Cost* cost, int count)
{
  const Cost *few = &cost[0], *many = &cost[0];
  for (int i = 0; i < count; i++) {
    few = cost[i].rows < few->rows ? &cost[i] : few;
    many = cost[i].rows > many->rows ? &cost[i] : many;
  }
  paper_claim(p, many->delassus > 1.5 * few->delassus && many->rows > 2 * few->rows,
              "the time of W grows with the number of constraints",
              "%.4f s of %d rows, %.4f s of %d, with A factored", few->delassus, few->rows, many->delassus,
              many->rows);
  paper_claim(p, many->factor + many->delassus > many->method,
              "W alone takes longer than the whole method, which never forms it",
              "factor %.3f s, W %.3f s; CR (Full) %.3f s, of %d rows", many->factor, many->delassus,
              many->method, many->rows);
}

// A ball that falls between the cylinders: one body, more contacts from step to step.
static tbStatus delassus(Paper* p)
{
  tbScene scene;
  Cost cost[MOMENTS];
  int count = 0;
  tbOut* csv = paper_table(p, "figure-12.csv", "rows,factor_s,delassus_s,method_s,iterations");
  paper_section(
      p, "Figure 12: the Delassus operator",
      "A ball thrown between two cylinders: factoring A and forming W against CR (Full) on the same "
      "problems.");
  TB_TRY(paper_scene(p, "ball", &scene,
                     "soft.ball.mesh.sphere.cells=%d soft.ball.pins=[] soft.ball.velocity=[0,0,-2]",
                     p->quick ? 12 : 20));
  tbStatus status = TB_OK;
  for (int i = 0; i < MOMENTS && status == TB_OK; i++) {
    status = paper_run(p, scene.world, &scene.step, BETWEEN * scene.step.dt);
    if (status == TB_OK) status = look(p, &scene, &cost[count]);
    if (status != TB_OK || cost[count].rows == 0) continue;
    const Cost* c = &cost[count++];
    printf("  %5d rows: factor %.3f s, W %.4f s; CR (Full) %.4f s, %d iterations\n", c->rows, c->factor,
           c->delassus, c->method, c->iterations);
    out_format(csv, "%d,%.6f,%.6f,%.6f,%d\n", c->rows, c->factor, c->delassus, c->method, c->iterations);
  }
  if (status == TB_OK) claim_costs(p, cost, count);
  tb_scene_free(p->ctx, &scene);
  paper_section_end(p);
  return status;
}

tbStatus verschoor_figures(Paper* p)
{
  tbOut* csv = paper_table(p, "figures.csv",
                           "scene,step,contacts,iterations,rounds,linear_error,intersections,residual");
  paper_section(
      p, "Figures 2 and 8: wedge, strings, stack and cubes",
      "Scenes after the paper's pictures, to their ends; the cubes as far as a minute and a half goes.");
  TB_TRY(wedge(p, csv));
  TB_TRY(strings(p, csv));
  TB_TRY(stack(p, csv));
  TB_TRY(cubes(p, csv));
  paper_section_end(p);
  TB_TRY(converge(p));
  TB_TRY(time_steps(p));
  return delassus(p);
}
