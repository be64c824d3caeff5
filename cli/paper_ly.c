// SPDX-License-Identifier: Apache-2.0
// Ly, Jouve, Boissieux and Bertails-Descoubes, Projective Dynamics with Dry Frictional Contact (2020): table
// 2 at the paper's sizes (the rest is in paper_ly_figures.c and paper_ly_long.c).
#include "cli/paper_ly.h"

#include "tribo/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int count_vertices(const tbWorld* w)
{
  int n = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) n += tb_body_node_count(w, tb_world_body_at(w, i));
  return n;
}

double ly_fastest_node(const tbWorld* w)
{
  double most = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) {
    tbBodyId id = tb_world_body_at(w, i);
    for (int k = 0; k < tb_body_node_count(w, id); k++)
      most = fmax(most, tb_norm3(tb_body_node_velocities(w, id)[k]));
  }
  return most;
}

static void add_step(const tbStepReport* r, double cpu, LyMeasured* m)
{
  double wall = 0;
  for (int i = 0; i < TB_PHASE_COUNT; i++) wall += r->phase_s[i];
  double share = wall > 0 ? 1e3 * cpu / wall : 0;
  m->steps++;
  m->contacts += r->contacts, m->iterations += r->iterations;
  m->step += 1e3 * cpu, m->wall += 1e3 * (wall - r->phase_s[TB_PHASE_JUDGE]);
  m->judge += share * r->phase_s[TB_PHASE_JUDGE];
  m->detect += share * r->phase_s[TB_PHASE_COLLIDE];
  m->rhs += share * r->pd_s[TB_PD_PROJECT], m->sweep += share * r->pd_s[TB_PD_CONTACTS];
  m->solve += share * r->pd_s[TB_PD_GLOBAL], m->sorting += share * r->pd_s[TB_PD_LAYERS];
  m->residual += r->residual.velocity;
}

static void take_means(LyMeasured* m)
{
  double steps = fmax(m->steps, 1), its = fmax(m->iterations, 1);
  m->rhs /= its, m->sweep /= its, m->solve /= its;
  double* mean[] = {&m->contacts, &m->iterations, &m->step,    &m->wall,
                    &m->judge,    &m->detect,     &m->sorting, &m->residual};
  for (size_t i = 0; i < sizeof mean / sizeof *mean; i++) *mean[i] /= steps;
}

tbStatus ly_measure(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int steps, LyMeasured* m)
{
  m->vertices = count_vertices(w);
  for (int i = 0; i < steps; i++) {
    tbStepReport report;
    double begin = paper_cpu_seconds();
    TB_TRY(tb_world_step(ctx, w, o, &report));
    add_step(&report, paper_cpu_seconds() - begin, m);
    m->speed = fmax(m->speed, ly_fastest_node(w));
  }
  take_means(m);
  return TB_OK;
}

// ---- table 2 ----

typedef struct {
  LyMeasured alone, both; // as published on one thread; at the same error on two
  int iterations;         // of the latter
} LyRow;

static void print_row(tbOut* csv, const LySetup* s, const LyPublished* was, const LyRow* row)
{
  const LyMeasured* m = &row->alone;
  printf("    %-10s %4.1f  %6d (%5d)  %5.0f (%5.0f)  %6.2f (%4.1f)  %6.3f (%5.2f)  %6.2f (%5.2f)  %6.1f "
         "(%5.0f)  %5.2f (%4.2f)  %6.1f (%4.0f)  %5.1f  %6.1f  %3d of %2d  %.0e\n",
         s->name, was->mu, m->vertices, s->vertices, m->contacts, was->ext + was->self, m->rhs, was->rhs,
         m->sweep, was->contacts, m->solve, was->solve, m->detect, was->detect + was->detect_self, m->sorting,
         was->sorting, m->step - m->judge, was->step, m->judge, row->both.wall, row->iterations,
         s->iterations, m->residual);
  fflush(stdout);
  out_format(csv,
             "%s,%g,%d,%d,%.0f,%.0f,%.3f,%.3f,%.4f,%.4f,%.3f,%.3f,%.2f,%.2f,%.3f,%.3f,%.2f,%.1f,%.2f,%.2f,%d,"
             "%.3e\n",
             s->name, was->mu, m->vertices, s->vertices, m->contacts, was->ext + was->self, m->rhs, was->rhs,
             m->sweep, was->contacts, m->solve, was->solve, m->detect, was->detect + was->detect_self,
             m->sorting, was->sorting, m->step - m->judge, was->step, m->judge, row->both.wall,
             row->iterations, m->residual);
}

static double mean_difference(const tbVec3* a, const tbVec3* b, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++) sum += tb_norm3(tb_sub3(a[i], b[i]));
  return sum / count;
}

// Iterations with momentum that bring a step as far as the paper's number of iterations by its method does:
// by the judge's number, and by how far velocities are from those of 300 iterations.
static tbStatus find_iterations(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int* out)
{
  int count = count_vertices(w);
  tbVec3* v = malloc(3 * (size_t)count * sizeof *v);
  if (!v) return TB_ERROR_MEMORY;
  tbVec3 *last = v + count, *now = v + 2 * (size_t)count;
  double published = 0, error = 0;
  tbStatus status = ly_error_after(ctx, w, o, true, 300, &error, last);
  if (status == TB_OK) status = ly_error_after(ctx, w, o, false, o->iterations, &published, v);
  double apart = mean_difference(v, last, count);
  for (*out = 2; status == TB_OK && *out < o->iterations; ++*out) {
    status = ly_error_after(ctx, w, o, true, *out, &error, now);
    if (error <= published && mean_difference(now, last, count) <= apart) break;
  }
  free(v);
  return status;
}

// Steps from where the world stands with two threads and so many iterations.
static tbStatus run_threads(tbContext* ctx, tbWorld* w, tbStepOptions o, int iterations, int steps,
                            LyMeasured* out)
{
  tbThreads* own = ctx->threads;
  TB_TRY(tb_threads_create(ctx, 2, &ctx->threads));
  o.iterations = iterations;
  tbStatus status = ly_measure(ctx, w, &o, steps, out);
  tb_threads_destroy(ctx, ctx->threads);
  ctx->threads = own;
  return status;
}

static tbStatus measure_setup(Paper* p, const LySetup* s, tbScene* scene, LyRow* row)
{
  tbStepOptions o = scene->step;
  tbWorld* w = scene->world;
  tbSnapshot* start;
  int steps = p->quick ? 3 : 20;
  TB_TRY(paper_run(p, w, &o, s->settle * (p->quick ? 0.2 : 1)));
  TB_TRY(find_iterations(p->ctx, w, &o, &row->iterations));
  TB_TRY(tb_world_snapshot(p->ctx, w, &start));
  tbStatus status = ly_measure(p->ctx, w, &o, steps, &row->alone);
  if (status == TB_OK) status = tb_world_restore(p->ctx, w, start);
  tb_snapshot_free(p->ctx, start);
  return status == TB_OK ? run_threads(p->ctx, w, o, row->iterations, steps, &row->both) : status;
}

static tbStatus run_setup(Paper* p, const LySetup* s, int way, tbOut* csv)
{
  const LyPublished* was = &s->published[way];
  tbScene scene;
  LyRow row = {0};
  char says[200];
  TB_TRY(ly_scene(p, s, p->quick ? s->cells / 6 + 2 : s->cells, was->mu, &scene));
  tbStatus status = measure_setup(p, s, &scene, &row);
  tb_scene_free(p->ctx, &scene);
  if (status != TB_OK) return status;
  print_row(csv, s, was, &row);
  double speed = fmax(row.alone.speed, row.both.speed);
  paper_claim(p, speed < 30, "vertices do not explode", "%s, μ %g: %.2f m/s at most", s->name, was->mu,
              speed);
  if (p->quick) return TB_OK;
  snprintf(says, sizeof says,
           "%s, μ %g: %.0f ms per step; ten times faster at the same error, on two threads", s->name, was->mu,
           was->step);
  paper_claim_timed(p, 10 * row.both.wall <= was->step, says,
                    "%.1f ms with %d iterations: %.1f times faster; %.1f ms of one core with the paper's %d: "
                    "%.1f times",
                    row.both.wall, row.iterations, was->step / row.both.wall,
                    row.alone.step - row.alone.judge, s->iterations,
                    was->step / (row.alone.step - row.alone.judge));
  return TB_OK;
}

static tbStatus table_2(Paper* p)
{
  paper_section(
      p, "Table 2",
      "Milliseconds of one core; in brackets the paper's, on an i7-5600U with OpenMP. Per iteration: "
      "right-hand side, contacts, global solve. Per step: detection, sorting, and all but the judge, whose "
      "time stands by itself; then, by the clock, a step of two threads with as many iterations, of the "
      "accelerated kind, as come to the error of the paper's; and the mean residual, m/s.");
  tbOut* csv =
      paper_table(p, "table-2.csv",
                  "scene,mu,vertices,paper_vertices,contacts,paper_contacts,rhs_ms,paper_rhs_ms,contacts_ms,"
                  "paper_contacts_ms,solve_ms,paper_solve_ms,detect_ms,paper_detect_ms,sorting_ms,"
                  "paper_sorting_ms,step_ms,paper_step_ms,judge_ms,two_threads_ms,two_threads_iterations,"
                  "residual_velocity");
  printf("    %-10s %4s  %6s %-7s  %5s %-7s  %6s %-6s  %6s %-7s  %6s %-7s  %6s %-7s  %5s %-6s  %6s %-6s  %5s "
         " %6s  %9s  %s\n",
         "", "μ", "vert.", "(paper)", "cont.", "(paper)", "rhs", "", "cont.", "", "solve", "", "detect", "",
         "sort", "", "step", "", "judge", "2 thr.", "iter.", "residual");
  for (int i = 0; i < ly_setup_count; i++)
    for (int k = 0; k < ly_setups[i].ways; k++)
      if (!p->only || strcmp(p->only, ly_setups[i].name) == 0) TB_TRY(run_setup(p, &ly_setups[i], k, csv));
  paper_section_end(p);
  return TB_OK;
}

tbStatus paper_ly(Paper* p)
{
  static const char* const parts[] = {"ribbon", "square1", "square3", "arabesque", "crinoline", NULL};
  TB_TRY(paper_check_only(p, parts));
  TB_TRY(table_2(p));
  if (p->only) return TB_OK;
  TB_TRY(ly_closed_form(p));
  TB_TRY(ly_iterations(p));
  TB_TRY(ly_errors(p));
  TB_TRY(ly_penalty(p));
  TB_TRY(ly_twenty_seconds(p));
  return ly_growth(p);
}
