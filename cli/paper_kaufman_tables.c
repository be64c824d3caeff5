// SPDX-License-Identifier: Apache-2.0
// Tables 1 and 2 of Kaufman et al. 2008, at the paper's degrees of freedom.
#include "cli/paper_kaufman.h"

#include <math.h>
#include <string.h>

static int count_dofs(const tbWorld* w)
{
  int n = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) n += tb_body_dofs(w, tb_world_body_at(w, i));
  return n;
}

typedef struct {
  const char* name;                   // of its scene, papers/kaufman/NAME.json
  double solve, contacts, warm, cold; // s, –, iterations with and without warm start (0: not said)
  int dofs;
  double settle; // seconds until contacts are there
  int steps;     // that are measured
} KaufmanSetup;

// Tables 1 and 2.
static const KaufmanSetup setups[KAUFMAN_ROWS] = {
    {"composites", 0.56, 921, 6.4, 25.8, 192, 0.3, 20}, {"chairs", 0.72, 9025, 2.9, 30.9, 1766, 0.1, 20},
    {"arch", 1.2, 2042, 5.6, 133.7, 162, 0.5, 20},      {"cards", 4.7, 528, 3.2, 57.1, 348, 1, 20},
    {"dinosaurs", 0.61, 4690, 2.7, 18.3, 315, 0.6, 20}, {"haptic", 0.0032, 117, 2.4, 0, 72, 1.2, 20},
    {"log-house", 0.061, 0, 0, 0, 414, 0.3, 10},        {"bunnies", 37.5, 0, 0, 0, 12276, 3, 20},
};
typedef struct {
  int dofs;
  double contacts, solve, staggered, warm, cold, residual; // means; s of the processor; iterations
} Measured;

// Iterations of staggered projections until the paper's own rule (28) ends them, on the problems of these
// steps, after `before` steps: the first start from impulses of another solver. Without a margin: contacts
// that stay open would change no iteration but make each one long.
static tbStatus count_iterations(tbContext* ctx, tbWorld* w, const tbStepOptions* base, bool warm, int before,
                                 int steps, double* iterations, double* seconds)
{
  tbStepOptions o = *base;
  double spent = 0, clock = 0;
  o.solver.solver = "staggered", o.solver.stagger_tolerance = 1e-4, o.solver.velocity_tolerance = 1e-13;
  o.solver.max_iterations = 300, o.warm_start = warm, o.margin = 0;
  for (int i = -before; i < steps; i++) {
    tbStepReport r;
    TB_TRY(tb_world_step(ctx, w, &o, &r));
    if (i >= 0) spent += r.iterations, clock += r.phase_s[TB_PHASE_SOLVE];
  }
  *iterations = spent / steps;
  if (seconds) *seconds = clock / steps;
  return TB_OK;
}

// As published, without decomposition: staggered projections with eight samples of tangents, until the
// paper's rule ends them or a hundred iterations, over all of a step's contacts at once.
static tbStatus solve_whole(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, double* seconds)
{
  tbProblem* problem;
  double* lambda;
  tbSolveResult r = {0};
  TB_TRY(tb_world_problem(ctx, w, o, &problem, &lambda));
  tbSolveOptions so = o->solver;
  so.solver = "staggered", so.model = TB_MODEL_POLYHEDRAL, so.stagger_tolerance = 1e-4,
  so.max_iterations = 100;
  so.velocity_tolerance = 1e-13;
  double begin = paper_cpu_seconds();
  tbStatus status = tb_solve(ctx, problem, &so, lambda, &r);
  *seconds = paper_cpu_seconds() - begin;
  tb_guess_free(ctx, lambda);
  tb_problem_free(problem);
  return status;
}

static tbStatus measure(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int steps, Measured* m)
{
  m->dofs = count_dofs(w);
  for (int i = 0; i < steps; i++) {
    tbStepReport r;
    double begin = paper_cpu_seconds(), wall = 0;
    TB_TRY(tb_world_step(ctx, w, o, &r));
    double spent = paper_cpu_seconds() - begin;
    for (int k = 0; k < TB_PHASE_COUNT; k++) wall += r.phase_s[k];
    m->contacts += (double)r.contacts / steps, m->residual = fmax(m->residual, r.residual.velocity);
    m->solve += (wall > 0 ? spent / wall * r.phase_s[TB_PHASE_SOLVE] : 0) / steps;
  }
  return TB_OK;
}

// Until contacts are there; rigid structures in steps of 10 ms, in which what little overlaps at the start is
// pushed out gently, and then enough of their own for them to stand: impulses to start from are of such
// steps. Thousands of bodies fall in the real-time lane, and then find their impulses over some steps of few
// iterations.
static tbStatus settle(Paper* p, const KaufmanSetup* s, tbWorld* w, const tbStepOptions* options)
{
  enum { OWN = 200, MANY = 10000, FEW = 150, ROUGH = 80 };
  tbStepOptions o = *options;
  if (strcmp(o.scheme, "implicit") != 0) o.dt = fmax(o.dt, 1e-2);
  if (s->dofs > MANY) o.scheme = "soft-step";
  TB_TRY(paper_run(p, w, &o, p->quick ? 0.1 * s->settle : s->settle));
  if (s->dofs > MANY) {
    o = *options, o.solver.max_iterations = FEW;
    return paper_run(p, w, &o, (p->quick ? 1 : ROUGH) * o.dt);
  }
  return o.dt > options->dt ? paper_run(p, w, options, OWN * options->dt) : TB_OK;
}

// Whether a row is of the decomposition.
static bool is_sparse_row(const KaufmanSetup* s) { return s->warm == 0 && s->dofs > 400; }

static tbStatus measure_setup(Paper* p, const KaufmanSetup* s, tbScene* scene, Measured* m)
{
  tbWorld* w = scene->world;
  const tbStepOptions* o = &scene->step;
  int steps = p->quick ? 3 : s->steps;
  TB_TRY(measure(p->ctx, w, o, steps, m));
  if (!is_sparse_row(s)) {
    TB_TRY(count_iterations(p->ctx, w, o, true, steps, steps, &m->warm, &m->staggered));
    return count_iterations(p->ctx, w, o, false, 0, p->quick ? 1 : 3, &m->cold, NULL);
  }
  return !p->quick && s->dofs < 1000 ? solve_whole(p->ctx, w, o, &m->staggered) : TB_OK;
}

static tbStatus run_setup(Paper* p, const KaufmanSetup* s, tbOut* csv)
{
  tbScene scene;
  Measured m = {0};
  TB_TRY(paper_scene(p, s->name, &scene, "%s", ""));
  double dt = scene.step.dt;
  tbStatus status = settle(p, s, scene.world, &scene.step);
  if (status == TB_OK) status = measure_setup(p, s, &scene, &m);
  tb_scene_free(p->ctx, &scene);
  if (status != TB_OK) return status;
  printf("    %-11s %5d (%5d)  %5.0f (%5.0f)  %8.2f (%6.0f)  %8.2f  %5.1f (%4.1f)  %6.1f (%5.1f)  %.0e\n",
         s->name, m.dofs, s->dofs, m.contacts, s->contacts, 1e3 * m.solve, 1e3 * s->solve, 1e3 * m.staggered,
         m.warm, s->warm, m.cold, s->cold, m.residual);
  out_format(csv, "%s,%d,%d,%.0f,%.0f,%.4f,%.4f,%.4f,%.2f,%.2f,%.2f,%.2f,%.3e\n", s->name, m.dofs, s->dofs,
             m.contacts, s->contacts, m.solve, s->solve, m.staggered, m.warm, s->warm, m.cold, s->cold,
             m.residual);
  if (p->quick) return TB_OK;
  char says[200];
  snprintf(says, sizeof says,
           "%s: %.4g s for a solve of %.0f contacts, %d degrees of freedom; here within Δt", s->name,
           s->solve, s->contacts, s->dofs);
  if (is_sparse_row(s)) { // its step is not said
    snprintf(says, sizeof says, "%s: %.4g s for a solve of %d degrees of freedom, decomposed", s->name,
             s->solve, s->dofs);
    paper_claim_timed(p, m.solve <= s->solve, says, "%.2f ms of one core for %.0f contacts, Δt %g ms",
                      1e3 * m.solve, m.contacts, 1e3 * dt);
  } else
    paper_claim_timed(p, m.solve <= dt, says,
                      "%.2f ms of one core for %.0f contacts, %d degrees of freedom; Δt %g ms", 1e3 * m.solve,
                      m.contacts, m.dofs, 1e3 * dt);
  if (is_sparse_row(s) && m.staggered > 0)
    paper_claim_timed(
        p, m.staggered >= 20 * m.solve, "log house: decomposed 80 times faster than whole (4.9 s, 0.061 s)",
        "%.3f s as published, %.4f s by `auto`, which factors over the graph of bodies: %.0f times",
        m.staggered, m.solve, m.staggered / m.solve);
  snprintf(says, sizeof says, "%s: a warm start takes %.1f iterations in place of %.1f", s->name, s->warm,
           s->cold);
  if (s->cold > 0)
    paper_claim(p, m.warm <= m.cold, says, "%.1f in place of %.1f, by the same rule", m.warm, m.cold);
  return TB_OK;
}

tbStatus kaufman_tables(Paper* p)
{
  paper_section(p, "Tables 1 and 2",
                "A solve by `auto` (of the bunnies by `nncg`, to 1 mm/s), ms of one core, beside the paper's "
                "on a 3 GHz Pentium D; and by `staggered` until the paper's rule (28) ends it at 1e-4, with "
                "its iterations from warm and from cold starts. The last column: the judge's residual, m/s.");
  tbOut* csv = paper_table(
      p, "tables.csv",
      "scene,dofs,paper_dofs,contacts,paper_contacts,solve_s,paper_solve_s,staggered_s,warm,paper_warm,"
      "cold,paper_cold,residual_velocity");
  printf("    %-11s %5s %-7s  %5s %-7s  %8s %-8s  %8s  %5s %-6s  %6s %-7s  %s\n", "", "DoF", "(paper)",
         "cont.", "(paper)", "solve ms", "(paper)", "stagg.", "warm", "", "cold", "", "residual");
  for (int i = 0; i < KAUFMAN_ROWS; i++)
    if (!p->only || strcmp(p->only, setups[i].name) == 0) TB_TRY(run_setup(p, &setups[i], csv));
  paper_section_end(p);
  return TB_OK;
}

const char* kaufman_row(int i) { return setups[i].name; }
