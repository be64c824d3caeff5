// SPDX-License-Identifier: Apache-2.0
// Ly, Jouve, Boissieux and Bertails-Descoubes, Projective Dynamics with Dry Frictional Contact (2020): table
// 2 at the paper's sizes, the closed form of section 5.2, figures 2 and 6, and how cost grows.
#include "cli/paper_ly.h"

#include "tribo/tools/clock.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Means of a step, ms of the processor; a step's parts are shares of it by the clock.
typedef struct {
  int vertices, steps;
  double contacts, iterations, step, judge, detect, rhs, sweep, solve, sorting;
  double residual, speed; // mean; and the fastest body
} LyMeasured;

static int count_vertices(const tbWorld* w)
{
  int n = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) n += tb_body_node_count(w, tb_world_body_at(w, i));
  return n;
}

static double fastest_node(const tbWorld* w)
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
  m->step += 1e3 * cpu;
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
  double* mean[] = {&m->contacts, &m->iterations, &m->step, &m->judge, &m->detect, &m->sorting, &m->residual};
  for (size_t i = 0; i < sizeof mean / sizeof *mean; i++) *mean[i] /= steps;
}

static tbStatus run(tbContext* ctx, tbWorld* w, const tbStepOptions* o, double seconds)
{
  for (int i = 0, n = (int)ceil(seconds / o->dt); i < n; i++) TB_TRY(tb_world_step(ctx, w, o, NULL));
  return TB_OK;
}

static tbStatus measure(tbContext* ctx, tbWorld* w, const tbStepOptions* o, int steps, LyMeasured* m)
{
  m->vertices = count_vertices(w);
  for (int i = 0; i < steps; i++) {
    tbStepReport report;
    double begin = cpu_seconds();
    TB_TRY(tb_world_step(ctx, w, o, &report));
    add_step(&report, cpu_seconds() - begin, m);
    m->speed = fmax(m->speed, fastest_node(w));
  }
  take_means(m);
  return TB_OK;
}

// ---- table 2 ----

static void print_row(tbOut* csv, const LySetup* s, const LyPublished* was, const LyMeasured* m)
{
  printf("    %-10s %4.1f  %6d (%5d)  %5.0f (%5.0f)  %6.2f (%4.1f)  %6.3f (%5.2f)  %6.2f (%5.2f)  %6.1f "
         "(%5.0f)  %5.2f "
         "(%4.2f)  %6.1f (%4.0f)  %5.1f  %.0e\n",
         s->name, was->mu, m->vertices, s->vertices, m->contacts, was->ext + was->self, m->rhs, was->rhs,
         m->sweep, was->contacts, m->solve, was->solve, m->detect, was->detect + was->detect_self, m->sorting,
         was->sorting, m->step - m->judge, was->step, m->judge, m->residual);
  fflush(stdout);
  out_format(csv,
             "%s,%g,%d,%d,%.0f,%.0f,%.3f,%.3f,%.4f,%.4f,%.3f,%.3f,%.2f,%.2f,%.3f,%.3f,%.2f,%.1f,%.2f,%.3e\n",
             s->name, was->mu, m->vertices, s->vertices, m->contacts, was->ext + was->self, m->rhs, was->rhs,
             m->sweep, was->contacts, m->solve, was->solve, m->detect, was->detect + was->detect_self,
             m->sorting, was->sorting, m->step - m->judge, was->step, m->judge, m->residual);
}

static tbStatus run_setup(Paper* p, const LySetup* s, int way, tbOut* csv)
{
  const LyPublished* was = &s->published[way];
  tbStepOptions o = ly_options(s);
  tbWorld* w;
  LyMeasured m = {0};
  char says[200];
  int cells = p->quick ? (int)(s->quality / 6) + 2 : (int)s->quality;
  TB_TRY(ly_world(p->ctx, s, cells, was->mu, &w));
  tbStatus status = run(p->ctx, w, &o, s->settle * (p->quick ? 0.2 : 1));
  if (status == TB_OK) status = measure(p->ctx, w, &o, p->quick ? 3 : 20, &m);
  tb_world_free(p->ctx, w);
  if (status != TB_OK) return status;
  print_row(csv, s, was, &m);
  paper_claim(p, m.speed < 30, "vertices do not explode", "%s, μ %g: %.2f m/s at most", s->name, was->mu,
              m.speed);
  if (p->quick) return TB_OK;
  snprintf(says, sizeof says, "%s, μ %g: %.0f ms per step; ten times faster here", s->name, was->mu,
           was->step);
  paper_claim_timed(p, 10 * (m.step - m.judge) <= was->step, says,
                    "%.1f ms of one core, and %.1f ms for the judge: %.1f times faster", m.step - m.judge,
                    m.judge, was->step / (m.step - m.judge));
  return TB_OK;
}

static tbStatus table_2(Paper* p)
{
  paper_section(
      p, "Table 2",
      "Milliseconds of one core; in brackets the paper's, on an i7-5600U with OpenMP. Per iteration: "
      "right-hand side, contacts, global solve. Per step: detection, sorting, and all but the judge, whose "
      "time stands beside it with the mean of its residual, m/s.");
  tbOut* csv =
      paper_table(p, "table-2.csv",
                  "scene,mu,vertices,paper_vertices,contacts,paper_contacts,rhs_ms,paper_rhs_ms,contacts_ms,"
                  "paper_contacts_ms,solve_ms,paper_solve_ms,detect_ms,paper_detect_ms,sorting_ms,"
                  "paper_sorting_ms,step_ms,paper_step_ms,judge_ms,residual_velocity");
  printf("    %-10s %4s  %6s %-7s  %5s %-7s  %6s %-6s  %6s %-7s  %6s %-7s  %6s %-7s  %5s %-6s  %6s %-6s  %5s "
         " %s\n",
         "", "μ", "vert.", "(paper)", "cont.", "(paper)", "rhs", "", "cont.", "", "solve", "", "detect", "",
         "sort", "", "step", "", "judge", "residual");
  for (int i = 0; i < ly_setup_count; i++)
    for (int k = 0; k < ly_setups[i].ways; k++)
      if (!p->only || strcmp(p->only, ly_setups[i].name) == 0) TB_TRY(run_setup(p, &ly_setups[i], k, csv));
  paper_section_end(p);
  return TB_OK;
}

// ---- section 5.2: the closed form ----

static tbStatus slide(tbContext* ctx, double slope, double mu, double* gained, double* error)
{
  tbWorldDef def = tb_default_world_def();
  tbWorld* w;
  tbMesh* mesh;
  tbStepOptions o = tb_default_step_options();
  tbStepReport report;
  o.scheme = "pd", o.iterations = 1, o.dt = 5e-3;
  TB_TRY(tb_world_create(ctx, &def, &w));
  tbShape plane = tb_shape_plane(tb_vec3(sin(slope), 0, cos(slope)), 0);
  tbBodyDef ground = tb_default_body_def();
  tbDeformableDef sheet = tb_default_deformable_def();
  tbMaterialId plain = {0, 0};
  tbBodyId id;
  ground.kind = TB_BODY_FIXED, ground.shapes = &plane, ground.shape_count = 1;
  sheet.orientation = tb_quat(cos(slope / 2), 0, sin(slope / 2), 0);
  sheet.position = tb_scale3(0.01, plane.plane.normal);
  tbStatus status = tb_world_set_pair(ctx, w, plain, plain, tb_friction(mu), 0);
  if (status == TB_OK) status = tb_world_add_body(ctx, w, &ground, NULL);
  if (status == TB_OK) status = tb_cloth_grid(ctx, 0.5, 0.5, 10, 10, &mesh);
  if (status == TB_OK) {
    sheet.sheet = mesh;
    status = tb_world_add_deformable(ctx, w, &sheet, &id);
    tb_mesh_free(ctx, mesh);
  }
  if (status == TB_OK) status = run(ctx, w, &o, 0.3);
  double before = status == TB_OK ? tb_norm3(tb_body_state(w, id).velocity) : 0;
  *error = 0;
  for (int i = 0; status == TB_OK && i < 40; i++) {
    status = tb_world_step(ctx, w, &o, &report);
    *error = fmax(*error, report.residual.velocity);
  }
  if (status == TB_OK) *gained = (tb_norm3(tb_body_state(w, id).velocity) - before) / (40 * o.dt);
  tb_world_free(ctx, w);
  return status;
}

static tbStatus closed_form(Paper* p)
{
  paper_section(p, "Figure 5: a sheet falling parallel to a slope",
                "All nodes move alike, elasticity has no part in it, and one iteration per step is enough.");
  static const double slope[] = {0.3, 0.6, 1.0}, mu[] = {0, 0.2, 0.3};
  for (int i = 0; i < 3; i++) {
    double gained, error, expected = 9.81 * (sin(slope[i]) - mu[i] * cos(slope[i]));
    TB_TRY(slide(p->ctx, slope[i], mu[i], &gained, &error));
    paper_claim(p, fabs(gained / expected - 1) < 1e-5 && error < 1e-10,
                "matches the analytical curves; the error vanishes after one iteration",
                "slope %.2g, μ %g: acceleration %.10g m/s² for %.10g, error %.0e m/s", slope[i], mu[i],
                gained, expected, error);
  }
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 6, and acceleration beside it ----

enum { CURVE = 12 };

static tbStatus error_after(tbContext* ctx, const LySetup* s, int cells, bool accelerated, int iterations,
                            double* out)
{
  tbStepOptions o = ly_options(s);
  tbWorld* w;
  TB_TRY(ly_world(ctx, s, cells, 0.3, &w));
  tbStatus status = run(ctx, w, &o, 0.35);
  tbStepReport report = {0};
  o.iterations = iterations, o.accelerated = accelerated;
  if (status == TB_OK) status = tb_world_step(ctx, w, &o, &report);
  *out = report.residual.velocity;
  tb_world_free(ctx, w);
  return status;
}

static tbStatus figure_6(Paper* p)
{
  static const int count[CURVE] = {1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 100, 200};
  PlotPoint point[2][CURVE];
  paper_section(
      p, "Figure 6: error against iterations",
      "One step of a sheet on the turning ball, from the same state: the judge's number in m/s, with masses "
      "for the contacts' responses, as published and with momentum.");
  for (int fast = 0; fast < 2; fast++)
    for (int i = 0; i < CURVE; i++) {
      point[fast][i].x = count[i];
      TB_TRY(error_after(p->ctx, &ly_setups[1], p->quick ? 12 : 30, fast, count[i], &point[fast][i].y));
    }
  double first = point[0][0].y, most = 0;
  for (int i = 0; i < CURVE; i++) most = fmax(most, fmax(point[0][i].y, point[1][i].y));
  paper_claim(p, point[0][7].y < first && most <= 2 * first, "errors quickly decrease, then at a lower slope",
              "%.2g m/s after one iteration, %.2g after 20, %.2g after 200; never above %.2g", first,
              point[0][7].y, point[0][CURVE - 1].y, most);
  paper_claim(p, point[1][7].y < point[0][9].y,
              "beyond the paper: momentum reaches in 20 iterations more than 50 do",
              "%.2g m/s after 20, %.2g after 200; without it %.2g after 50", point[1][7].y,
              point[1][CURVE - 1].y, point[0][9].y);
  PlotCurve curve[2] = {{"as published", 0, point[0], CURVE, true, false},
                        {"with momentum", 1, point[1], CURVE, true, false}};
  Plot plot = {.axis = PLOT_COUNT, .x_name = "iterations", .y_name = "m/s", .curve = curve, .curves = 2};
  paper_plot(p, "figure-6.svg", &plot, "Error of one step against iterations");
  paper_section_end(p);
  return TB_OK;
}

// ---- growth ----

static size_t used_bytes(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

static tbStatus growth(Paper* p)
{
  static const int cells[] = {31, 70, 99, 223, 315};
  int count = p->quick ? 2 : 5;
  LySetup s = ly_setups[1];
  paper_section(p, "Growth",
                "A sheet over the ball, from a thousand to a hundred thousand vertices, 20 iterations.");
  tbOut* csv = paper_table(p, "growth.csv", "vertices,step_ms,solve_ms,bytes");
  double first = 0, last = 0;
  for (int i = 0; i < count; i++) {
    tbStepOptions o = ly_options(&s);
    tbWorld* w;
    LyMeasured m = {0};
    size_t before = used_bytes();
    TB_TRY(ly_world(p->ctx, &s, cells[i], 0.3, &w));
    tbStatus status = run(p->ctx, w, &o, 0.05);
    if (status == TB_OK) status = measure(p->ctx, w, &o, 3, &m);
    size_t bytes = used_bytes() - before;
    tb_world_free(p->ctx, w);
    if (status != TB_OK) return status;
    printf("    %7d vertices: %8.1f ms a step, %7.2f ms a global solve, %6.0f MB\n", m.vertices,
           m.step - m.judge, m.solve, 1e-6 * (double)bytes);
    out_format(csv, "%d,%.2f,%.3f,%zu\n", m.vertices, m.step - m.judge, m.solve, bytes);
    last = (m.step - m.judge) / m.vertices;
    if (i == 0) first = last;
  }
  paper_claim_timed(p, last < 6 * first, "beyond the paper: 100,000 vertices",
                    "%.2f µs a step and vertex, %.2f of the smallest", 1e3 * last, 1e3 * first);
  paper_section_end(p);
  return TB_OK;
}

static tbStatus check_only(const Paper* p)
{
  for (int i = 0; i < ly_setup_count; i++)
    if (!p->only || strcmp(p->only, ly_setups[i].name) == 0) return TB_OK;
  return tb_fail(p->ctx, TB_ERROR_ARGUMENT,
                 "no experiment \"%.40s\"; there are ribbon, square1, square3, arabesque and crinoline",
                 p->only);
}

tbStatus paper_ly(Paper* p)
{
  TB_TRY(check_only(p));
  TB_TRY(table_2(p));
  if (p->only) return TB_OK;
  TB_TRY(closed_form(p));
  TB_TRY(figure_6(p));
  return growth(p);
}
