// SPDX-License-Identifier: Apache-2.0
// Chapter 5: barriers beside the exact law. A block slides down a slope until friction stops it, with d̂ and
// ε_v made finer and finer; and ten scenes under `ipc`, `ipc` with exact friction at the end of its steps,
// and `implicit`.
#include "cli/paper_course.h"

#include "tribo/step.h"

#include <math.h>
#include <string.h>

enum { FINER = 5, SCENES = 10, QUICK_SCENES = 4, WAYS = 4 };

// What a run came to.
typedef struct {
  double x;                    // of the last body, m
  double residual;             // the judge's, the largest of a step, m/s
  double milliseconds;         // a step
  double iterations;           // a step
  int steps, missed, unsolved; // steps; in which Newton's method did not end; that the judge does not confirm
  int64_t crossed;
} Came;

// Options as words "key=value", in the place of the scene's.
static tbStatus set_options(const Paper* p, const char* words, tbStepOptions* o)
{
  char copy[200], *rest = copy;
  snprintf(copy, sizeof copy, "%s", words);
  for (char* word; (word = strsep(&rest, " "));) {
    char* value = strchr(word, '=');
    *value++ = 0;
    TB_TRY(tb_option_set(p->ctx, o, word, value));
  }
  return TB_OK;
}

static tbStatus run(const Paper* p, const char* scene, const char* settings, int most, Came* out)
{
  tbScene s;
  *out = (Came){0};
  TB_TRY(paper_scene(p, scene, &s, "%s", ""));
  tbStatus status = set_options(p, settings, &s.step);
  int steps = (int)(s.time / s.step.dt + 0.5), bodies = tb_world_body_count(s.world);
  for (; out->steps < steps && (most == 0 || out->steps < most) && status == TB_OK; out->steps++) {
    tbStepReport r;
    status = tb_world_step(p->ctx, s.world, &s.step, &r);
    if (status != TB_OK) break;
    out->residual = fmax(out->residual, r.residual.velocity);
    out->iterations += r.iterations, out->missed += r.newton_missed, out->crossed += r.intersections;
    out->unsolved += r.outcome != TB_CONVERGED;
    for (int k = 0; k < TB_PHASE_COUNT; k++) out->milliseconds += 1e3 * r.phase_s[k];
  }
  if (out->steps) out->milliseconds /= out->steps, out->iterations /= out->steps;
  if (status == TB_OK) out->x = tb_body_state(s.world, tb_world_body_at(s.world, bodies - 1)).position.x;
  tb_scene_free(p->ctx, &s);
  return status;
}

// How far the law takes the block: it starts with 1 m/s, gravity pulls with 3 and friction holds with half of
// 9 m/s².
static double exact_way(void)
{
  double way = 0, h = 0.01;
  for (int k = 1; k <= 100; k++) way += h * fmax(0, 1 - 1.5 * h * k);
  return way;
}

static tbStatus sweep(Paper* p, const char* name, const char* format, double from, bool residual,
                      tbOut* table, PlotPoint* out)
{
  for (int i = 0; i < FINER; i++) {
    char settings[160], number[40];
    Came c;
    snprintf(number, sizeof number, "%.6g", from * pow(10, -i));
    snprintf(settings, sizeof settings, "scheme.name=ipc %s%s", format, number);
    TB_TRY(run(p, "barrier-slide", settings, 0, &c));
    double miss = fabs(c.x - exact_way());
    out[i] = (PlotPoint){pow(10, i), residual ? c.residual : miss};
    out_format(table, "%s,%s,%.9f,%.3e,%.3e,%.4f,%.2f\n", name, number, c.x, miss, c.residual, c.milliseconds,
               c.iterations);
  }
  return TB_OK;
}

// Slopes of log error against log parameter between neighbours: the least of the first three.
static double order_of(const PlotPoint* y)
{
  double least = INFINITY;
  for (int i = 1; i < FINER - 1; i++) least = fmin(least, log10(y[i - 1].y / y[i].y));
  return least;
}

static tbStatus finer(Paper* p)
{
  PlotPoint smooth[FINER], ended[FINER], reach[FINER], level[FINER];
  Came exact;
  paper_section(
      p, "Chapter 5: barriers and smoothed friction converge to the exact answer",
      "A block slides down a slope until friction stops it. Its way after a second against the law's, "
      "as the threshold of friction ε_v goes to 0; the judge's residual as the barrier's reach d̂ "
      "does; beside `ipc` with exact friction at the end of its steps, and `implicit`.");
  tbOut* table =
      paper_table(p, "barrier-limits.csv", "sweep,value,way,error,residual,ms_per_step,iterations");
  TB_TRY(sweep(p, "velocity_threshold", "scheme.velocity_threshold=", 0.1, false, table, smooth));
  TB_TRY(sweep(p, "velocity_threshold with exact_friction",
               "scheme.exact_friction=true scheme.velocity_threshold=", 0.1, false, table, ended));
  TB_TRY(sweep(p, "dhat", "scheme.velocity_threshold=1e-5 scheme.dhat=", 0.01, true, table, reach));
  TB_TRY(run(p, "barrier-slide", "scheme.name=implicit", 0, &exact));
  double miss = fabs(exact.x - exact_way()), worst = 0;
  out_format(table, "implicit,,%.9f,%.3e,%.3e,%.4f,%.2f\n", exact.x, miss, exact.residual, exact.milliseconds,
             exact.iterations);
  for (int i = 0; i < FINER; i++) {
    worst = fmax(worst, ended[i].y);
    level[i] = (PlotPoint){pow(10, i), fmax(miss, 1e-12)};
  }
  paper_claim(p, order_of(smooth) > 0.9 && smooth[3].y < 1e-4, "friction becomes exact as ε_v goes to 0",
              "way off by %.1e m at 0.1 m/s, by %.1e at 1e-4: order %.2f at least", smooth[0].y, smooth[3].y,
              order_of(smooth));
  paper_claim(p, reach[FINER - 1].y < 2e-4 && reach[FINER - 1].y < 1e-2 * reach[0].y,
              "contact becomes exact as d̂ goes to 0", "residual %.1e m/s at 1 cm, %.1e at 1 µm", reach[0].y,
              reach[FINER - 1].y);
  paper_claim(p, worst < 1e-6 && miss < 1e-6, "(Tribo's) with exact friction at the end, at any ε_v",
              "way off by %.1e m at most; `implicit` by %.1e", worst, miss);
  PlotCurve curve[] = {
      {.name = "way, by ε_v", .lane = 0, .point = smooth, .points = FINER, .arrived = true},
      {.name = "way, exact friction", .lane = 1, .point = ended, .points = FINER, .arrived = true},
      {.name = "residual, by d̂", .lane = 2, .point = reach, .points = FINER, .arrived = true},
      {.name = "way, implicit", .lane = 3, .point = level, .points = FINER, .arrived = true}};
  paper_plot(p, "barrier-limits.svg",
             &(Plot){.axis = PLOT_FACTOR,
                     .x_name = "times finer than ε_v = 0.1 m/s, d̂ = 1 cm",
                     .y_name = "error of the way (m), residual (m/s)",
                     .curve = curve,
                     .curves = 4},
             "a block that slides to rest, under ipc");
  paper_section_end(p);
  return TB_OK;
}

static const char* const scenes[SCENES] = {
    "barrier-slide",  "barrier-press",   "barrier-twist", "barrier-pile",  "barrier-soft-slide",
    "barrier-impact", "barrier-rollers", "barrier-cloth", "barrier-stack", "barrier-mixed"};

static const struct {
  const char *name, *settings;
} ways[WAYS] = {{"ipc", "scheme.name=ipc"},
                {"ipc with exact friction", "scheme.name=ipc scheme.exact_friction=true"},
                {"implicit", "scheme.name=implicit"},
                {"implicit with Newton's method", "scheme.name=implicit scheme.newton_steps=30"}};

static tbStatus side_by_side(Paper* p)
{
  int count = p->quick ? QUICK_SCENES : SCENES, most = p->quick ? 12 : 0, steps = 0, ahead = 0;
  int64_t crossed = 0;
  int missed = 0, unsolved = 0, creeps = 0;
  double least = INFINITY, largest = 0, newton_least = INFINITY, newton_largest = 0;
  paper_section(p, "Chapter 5: barriers and the exact law on the same scenes",
                "Time of a step, iterations, the judge's residual, and steps that miss what they aim at. "
                "`implicit` is linear in a step, but with Newton's method (30 steps at most) minimises "
                "nonlinear elasticity as `ipc` does.");
  tbOut* table = paper_table(p, "barrier-scenes.csv",
                             "scene,scheme,steps,ms_per_step,iterations,residual,unsolved,missed,crossings");
  for (int i = 0; i < count; i++) {
    Came c[WAYS];
    for (int k = 0; k < WAYS; k++) {
      TB_TRY(run(p, scenes[i], ways[k].settings, most, &c[k]));
      out_format(table, "%s,%s,%d,%.4f,%.2f,%.3e,%d,%d,%d\n", scenes[i] + strlen("barrier-"), ways[k].name,
                 c[k].steps, c[k].milliseconds, c[k].iterations, c[k].residual, c[k].unsolved, c[k].missed,
                 (int)c[k].crossed);
      crossed += c[k].crossed;
    }
    steps += c[1].steps, missed += c[0].missed + c[1].missed, unsolved += c[1].unsolved,
        creeps += c[0].unsolved;
    double ratio = c[0].milliseconds / c[2].milliseconds;
    least = fmin(least, ratio), largest = fmax(largest, ratio), ahead += ratio < 1;
    double newton = c[0].milliseconds / c[3].milliseconds;
    newton_least = fmin(newton_least, newton), newton_largest = fmax(newton_largest, newton);
  }
  paper_claim(p, crossed == 0, "every step is free of intersections",
              "%d crossings under the three in %d scenes", (int)crossed, count);
  paper_claim(p, missed == 0, "Newton's method converges", "%d steps of ipc missed its tolerance", missed);
  paper_claim(p, unsolved == 0 && creeps > 0, "(Tribo's) exact friction at the end: certified by the judge",
              "%d of %d steps miss it, %d without", unsolved, steps, creeps);
  out_format(
      &p->text,
      "ipc takes %.1f to %.0f times the time of implicit, which is slower in %d of %d, and %.1f to %.0f "
      "times that of implicit with Newton's method.\n\n",
      least, largest, ahead, count, newton_least, newton_largest);
  paper_section_end(p);
  return TB_OK;
}

tbStatus course_chapter_5(Paper* p)
{
  TB_TRY(finer(p));
  return side_by_side(p);
}
