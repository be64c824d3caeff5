// SPDX-License-Identifier: Apache-2.0
// Ly et al. 2020: the closed form of section 5.2, figures 2 and 6, what a constant matrix saves, and how cost
// grows.
#include "cli/paper_ly.h"

#include "tribo/io.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- section 5.2: the closed form ----

// What it gains in a second, after it has touched down; and the worst error of a step.
static tbStatus slide(Paper* p, double slope, double mu, double* gained, double* error)
{
  tbScene s;
  TB_TRY(paper_scene(p, "slope", &s,
                     "materials.plain.friction=%.17g bodies.slope.orientation_euler=[0,%.17g,0] "
                     "cloth.sheet.orientation_euler=[0,%.17g,0] cloth.sheet.position=[%.17g,0,%.17g]",
                     mu, slope, slope, 0.01 * sin(slope), 0.01 * cos(slope)));
  tbBodyId sheet = tb_world_find_body(s.world, "sheet");
  tbStatus status = paper_run(p, s.world, &s.step, 0.3);
  double before = tb_norm3(tb_body_state(s.world, sheet).velocity);
  *error = 0;
  for (int i = 0; status == TB_OK && i < 40; i++) {
    tbStepReport report;
    status = tb_world_step(p->ctx, s.world, &s.step, &report);
    *error = fmax(*error, report.residual.velocity);
  }
  *gained = (tb_norm3(tb_body_state(s.world, sheet).velocity) - before) / (40 * s.step.dt);
  tb_scene_free(p->ctx, &s);
  return status;
}

tbStatus ly_closed_form(Paper* p)
{
  paper_section(p, "Figure 5: a sheet falling parallel to a slope",
                "All nodes move alike, elasticity has no part in it, and one iteration per step is enough.");
  static const double slope[] = {0.3, 0.6, 1.0}, mu[] = {0, 0.2, 0.3};
  for (int i = 0; i < 3; i++) {
    double gained, error, expected = 9.81 * (sin(slope[i]) - mu[i] * cos(slope[i]));
    TB_TRY(slide(p, slope[i], mu[i], &gained, &error));
    paper_claim(p, fabs(gained / expected - 1) < 1e-5 && error < 1e-10,
                "matches the analytical curves; the error vanishes after one iteration",
                "slope %.2g, μ %g: acceleration %.10g m/s² for %.10g, error %.0e m/s", slope[i], mu[i],
                gained, expected, error);
  }
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 6, and acceleration beside it ----

enum { CURVE = 12, MOMENTS = 8 };

static void copy_velocities(const tbWorld* w, tbVec3* out)
{
  for (int i = 0; i < tb_world_body_count(w); i++) {
    tbBodyId id = tb_world_body_at(w, i);
    int count = tb_body_node_count(w, id);
    if (count > 0) memcpy(out, tb_body_node_velocities(w, id), (size_t)count * sizeof *out);
    out += count;
  }
}

tbStatus ly_error_after(tbContext* ctx, tbWorld* w, const tbStepOptions* options, bool accelerated,
                        int iterations, double* out, tbVec3* v)
{
  tbStepOptions o = *options;
  tbStepReport report = {0};
  tbSnapshot* start;
  o.iterations = iterations, o.accelerated = accelerated;
  TB_TRY(tb_world_snapshot(ctx, w, &start));
  tbStatus status = tb_world_step(ctx, w, &o, &report);
  *out = report.residual.velocity;
  if (status == TB_OK && v) copy_velocities(w, v);
  if (status == TB_OK) status = tb_world_restore(ctx, w, start);
  tb_snapshot_free(ctx, start);
  return status;
}

// Both curves, geometric means over steps from some moments: from a single one the two come to where they
// like.
static tbStatus find_curves(Paper* p, const int count[CURVE], PlotPoint point[2][CURVE])
{
  const LySetup* s = &ly_setups[1];
  tbScene scene;
  TB_TRY(ly_scene(p, s, p->quick ? 12 : 30, 0.3, &scene));
  double sum[2][CURVE] = {0};
  tbStatus status = paper_run(p, scene.world, &scene.step, 0.35);
  for (int k = 0; status == TB_OK && k < MOMENTS; k++) {
    if (k > 0) status = paper_run(p, scene.world, &scene.step, 0.03);
    for (int i = 0; status == TB_OK && i < 2 * CURVE; i++) {
      double error;
      status = ly_error_after(p->ctx, scene.world, &scene.step, i >= CURVE, count[i % CURVE], &error, NULL);
      if (status == TB_OK) sum[i / CURVE][i % CURVE] += log(fmax(error, 1e-16));
    }
  }
  for (int i = 0; i < 2 * CURVE; i++)
    point[i / CURVE][i % CURVE] =
        (PlotPoint){.x = count[i % CURVE], .y = exp(sum[i / CURVE][i % CURVE] / MOMENTS)};
  tb_scene_free(p->ctx, &scene);
  return status;
}

tbStatus ly_errors(Paper* p)
{
  static const int count[CURVE] = {1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 100, 200};
  PlotPoint point[2][CURVE];
  paper_section(p, "Figure 6: error against iterations",
                "A step of a sheet on the turning ball: the judge's number in m/s, with masses for the "
                "contacts' responses, "
                "as published and with momentum, from the same states; means over eight moments.");
  TB_TRY(find_curves(p, count, point));
  double first = point[0][0].y, most = 0;
  for (int i = 0; i < CURVE; i++) most = fmax(most, fmax(point[0][i].y, point[1][i].y));
  paper_claim(p, point[0][7].y < first && most <= 2 * first, "errors quickly decrease, then at a lower slope",
              "%.2g m/s after one iteration, %.2g after 20, %.2g after 200; never above %.2g", first,
              point[0][7].y, point[0][CURVE - 1].y, most);
  paper_claim(p, point[1][7].y < 0.6 * point[0][7].y && point[1][CURVE - 1].y < 0.1 * point[0][CURVE - 1].y,
              "beyond the paper: with momentum 20 iterations come further, and 200 to the solution",
              "%.2g m/s after 20, %.2g after 200; without it %.2g and %.2g", point[1][7].y,
              point[1][CURVE - 1].y, point[0][7].y, point[0][CURVE - 1].y);
  PlotCurve curve[2] = {{"as published", 0, point[0], CURVE, true, false},
                        {"with momentum", 1, point[1], CURVE, true, false}};
  Plot plot = {.axis = PLOT_COUNT, .x_name = "iterations", .y_name = "m/s", .curve = curve, .curves = 2};
  paper_plot(p, "figure-6.svg", &plot, "Error of one step against iterations");
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 2 ----

enum { COUNTS = 5 };

// Nodes of the sheet after a time.
static tbStatus drape(Paper* p, const LySetup* s, double mu, int iterations, tbVec3** x, int* count)
{
  tbScene scene;
  TB_TRY(ly_scene(p, s, p->quick ? 10 : 24, mu, &scene));
  scene.step.iterations = iterations, scene.step.accelerated = false;
  tbStatus status = paper_run(p, scene.world, &scene.step, p->quick ? 0.3 : 1);
  tbBodyId sheet = tb_world_find_body(scene.world, "sheet");
  *count = tb_body_node_count(scene.world, sheet);
  *x = malloc((size_t)*count * sizeof **x);
  if (*x) memcpy(*x, tb_body_nodes(scene.world, sheet), (size_t)*count * sizeof **x);
  else status = TB_ERROR_MEMORY;
  tb_scene_free(p->ctx, &scene);
  return status;
}

static double mean_distance(const tbVec3* a, const tbVec3* b, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++) sum += tb_norm3(tb_sub3(a[i], b[i]));
  return sum / count;
}

tbStatus ly_iterations(Paper* p)
{
  static const int iterations[COUNTS] = {5, 10, 20, 30, 100};
  const LySetup* s = &ly_setups[1];
  tbVec3* x[COUNTS] = {NULL};
  int count = 0;
  tbStatus status = TB_OK;
  paper_section(p, "Figure 2: how many iterations",
                "A sheet on the turning ball, μ .1, by the paper's method: how far vertices are, on average, "
                "from where 100 iterations a step bring them.");
  for (int i = 0; status == TB_OK && i < COUNTS; i++) status = drape(p, s, 0.1, iterations[i], &x[i], &count);
  if (status == TB_OK) {
    tbOut* csv = paper_table(p, "figure-2.csv", "iterations,mean_distance_m");
    double apart[COUNTS];
    for (int i = 0; i < COUNTS; i++) {
      apart[i] = mean_distance(x[i], x[COUNTS - 1], count);
      printf("    %3d iterations: %6.2f mm\n", iterations[i], 1e3 * apart[i]);
      out_format(csv, "%d,%.5f\n", iterations[i], apart[i]);
    }
    // Of a sheet of a metre, by eye: four hundredths.
    paper_claim(p, apart[2] < 0.04 && apart[3] < 0.04, "no significant difference above 20 iterations",
                "%.1f mm with 10, %.1f with 20, %.1f with 30", 1e3 * apart[1], 1e3 * apart[2],
                1e3 * apart[3]);
  }
  for (int i = 0; i < COUNTS; i++) free(x[i]);
  paper_section_end(p);
  return status;
}

// ---- section 5.3: contacts in the matrix ----

// A penalty for contacts changes the matrix with them: its factor is made again in every step. That is what a
// step with a dt of its own costs here.
tbStatus ly_penalty(Paper* p)
{
  const LySetup* s = &ly_setups[1];
  tbScene scene;
  double cpu[2] = {0};
  paper_section(
      p, "Section 5.3: a matrix that changes with its contacts",
      "Penalties of contacts, as in Bouaziz et al. (2014), are part of P, which is then factored in "
      "every step. The same steps with P kept, and with a dt that differs by 1e-12 from step to step.");
  TB_TRY(ly_scene(p, s, p->quick ? 14 : s->cells, 0.1, &scene));
  tbStepOptions o = scene.step;
  tbStatus status = paper_run(p, scene.world, &o, p->quick ? 0.05 : 0.3);
  for (int i = 0; status == TB_OK && i < 20; i++) {
    LyMeasured m = {0};
    o.dt = scene.step.dt * (1 + 1e-12 * (1 + i % 2)); // another than that of the step before
    status = ly_measure(p->ctx, scene.world, &o, 1, &m);
    cpu[1] += m.step - m.judge;
    m = (LyMeasured){0};
    if (status == TB_OK) status = ly_measure(p->ctx, scene.world, &o, 1, &m);
    cpu[0] += m.step - m.judge;
  }
  tb_scene_free(p->ctx, &scene);
  if (status != TB_OK) return status;
  paper_claim_timed(p, cpu[1] > cpu[0], "a constant matrix is 1.1 times as fast as one with penalties",
                    "%.1f ms a step with P kept, %.1f with its factor made anew: %.2f times", cpu[0] / 20,
                    cpu[1] / 20, cpu[1] / cpu[0]);
  paper_section_end(p);
  return TB_OK;
}

// ---- growth ----

static size_t used_bytes(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

tbStatus ly_growth(Paper* p)
{
  static const int cells[] = {31, 70, 99, 223, 315};
  int count = p->quick ? 2 : 5;
  paper_section(p, "Growth",
                "A sheet over the ball, from a thousand to a hundred thousand vertices, 20 iterations.");
  tbOut* csv = paper_table(p, "growth.csv", "vertices,step_ms,solve_ms,bytes");
  double first = 0, last = 0;
  for (int i = 0; i < count; i++) {
    tbScene s;
    LyMeasured m = {0};
    size_t before = used_bytes();
    TB_TRY(ly_scene(p, &ly_setups[1], cells[i], 0.3, &s));
    tbStatus status = paper_run(p, s.world, &s.step, 0.05);
    if (status == TB_OK) status = ly_measure(p->ctx, s.world, &s.step, 3, &m);
    size_t bytes = used_bytes() - before;
    tb_scene_free(p->ctx, &s);
    if (status != TB_OK) return status;
    printf("    %7d vertices: %8.1f ms a step, %7.2f ms a global solve, %6.0f MB\n", m.vertices,
           m.step - m.judge, m.solve, 1e-6 * (double)bytes);
    out_format(csv, "%d,%.2f,%.3f,%zu\n", m.vertices, m.step - m.judge, m.solve, bytes);
    last = (m.step - m.judge) / m.vertices;
    if (i == 0) first = last;
  }
  // A solve reads n log n numbers of the factor, the smallest from the cache: less than n^1.5, the work of
  // factoring by nested dissection.
  double growth = (double)cells[count - 1] / cells[0]; // the root of that of vertices
  paper_claim_timed(p, last < growth * first, "beyond the paper: 100,000 vertices in less than n^1.5",
                    "%.2f µs a step and vertex, %.2f of the smallest", 1e3 * last, 1e3 * first);
  paper_section_end(p);
  return TB_OK;
}
