// SPDX-License-Identifier: Apache-2.0
// Macklin, Erleben, Müller, Chentanez, Jeschke and Kim, Primal/Dual Descent Methods for Dynamics (2020):
// conditioning (figs. 4 to 6), contact under ratios of mass and stiffness (8, 9), slip of a grasp (10), how
// forces spread (11), cloth (12), a throw that is searched for (13), and table 1 on the processor.
#include "cli/paper_macklin.h"

#include "tribo/tools/clock.h"
#include "tribo/tools/sort.h"

#include <math.h>
#include <string.h>

enum { CHAIN = 8, MOST_STEPS = 160 };

// ---- fig. 6 ----

// Largest over smallest eigenvalue of a symmetric matrix, by Jacobi's rotations.
static double condition(double A[CHAIN][CHAIN])
{
  for (int sweep = 0; sweep < 60; sweep++)
    for (int p = 0; p < CHAIN; p++)
      for (int q = p + 1; q < CHAIN; q++) {
        if (A[p][q] == 0) continue;
        double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
               s = t * c;
        for (int k = 0; k < CHAIN; k++) {
          double x = A[k][p], y = A[k][q];
          A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
        }
        for (int k = 0; k < CHAIN; k++) {
          double x = A[p][k], y = A[q][k];
          A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
        }
      }
  double low = INFINITY, high = 0;
  for (int i = 0; i < CHAIN; i++) low = fmin(low, A[i][i]), high = fmax(high, A[i][i]);
  return high / low;
}

// A chain of particles that hangs from the ceiling: spring i holds particle i to the one before.
// M + h²JᵀKJ, and h²JM⁻¹Jᵀ + K⁻¹.
static double primal_condition(const double* m, const double* hhk)
{
  double A[CHAIN][CHAIN] = {{0}};
  for (int i = 0; i < CHAIN; i++) {
    A[i][i] += m[i] + hhk[i];
    if (i > 0) A[i - 1][i - 1] += hhk[i], A[i - 1][i] -= hhk[i], A[i][i - 1] -= hhk[i];
  }
  return condition(A);
}

static double dual_condition(const double* m, const double* hhk)
{
  double A[CHAIN][CHAIN] = {{0}};
  for (int i = 0; i < CHAIN; i++) {
    A[i][i] += 1 / m[i] + 1 / hhk[i];
    if (i > 0) A[i][i] += 1 / m[i - 1], A[i - 1][i] -= 1 / m[i - 1], A[i][i - 1] -= 1 / m[i - 1];
  }
  return condition(A);
}

enum { RATIOS = 5 };

static void figure_6(Paper* p)
{
  paper_section(
      p, "Fig. 6: condition numbers",
      "A chain of eight particles. Masses: the last is heavier; stiffnesses: the first spring is softer "
      "than all others, h²k = 10⁶ m. The matrices are those of equations 23 and 24.");
  tbOut* csv = paper_table(p, "figure-6.csv", "ratio,primal_mass,dual_mass,primal_stiffness,dual_stiffness");
  double value[RATIOS][4], ratio = 1;
  PlotPoint point[4][RATIOS];
  for (int i = 0; i < RATIOS; i++, ratio *= 10) {
    double m[CHAIN], k[CHAIN], even[CHAIN], soft[CHAIN];
    for (int j = 0; j < CHAIN; j++) m[j] = even[j] = 1, k[j] = soft[j] = 1e6;
    m[CHAIN - 1] = ratio, soft[0] = 1e6 / ratio;
    value[i][0] = primal_condition(m, k), value[i][1] = dual_condition(m, k);
    value[i][2] = primal_condition(even, soft), value[i][3] = dual_condition(even, soft);
    out_format(csv, "%g,%.6g,%.6g,%.6g,%.6g\n", ratio, value[i][0], value[i][1], value[i][2], value[i][3]);
    for (int c = 0; c < 4; c++) point[c][i] = (PlotPoint){ratio, value[i][c]};
  }
  const PlotCurve curve[] = {{"primal, masses", 0, point[0], RATIOS, true, false},
                             {"dual, masses", 1, point[1], RATIOS, true, false},
                             {"primal, stiffnesses", 2, point[2], RATIOS, true, false},
                             {"dual, stiffnesses", 3, point[3], RATIOS, true, false}};
  const Plot plot = {PLOT_FACTOR, false, "ratio", "condition number", 0, curve, 4};
  paper_plot(p, "figure-6.svg", &plot, "Condition numbers over ratios of mass and of stiffness.");
  const double *first = value[0], *last = value[RATIOS - 1];
  paper_claim(p, last[1] > 100 * first[1] && last[0] < 2 * first[0],
              "mass ratios: the dual's condition number grows, the primal's does not",
              "at 10⁴: dual %.2g times, primal %.2g times", last[1] / first[1], last[0] / first[0]);
  paper_claim(p, last[2] > 100 * first[2] && last[3] < 2 * first[3],
              "stiffness ratios: the primal's grows, the dual's does not",
              "at 10⁴: primal %.2g times, dual %.2g times", last[2] / first[2], last[3] / first[3]);
  double off = 0;
  for (int i = 0; i < RATIOS; i++) off = fmax(off, fabs(log10((last[2] / first[2]) / (last[1] / first[1]))));
  paper_claim(p, off < 0.5, "they mirror each other", "growths agree within a factor of %.2g", pow(10, off));
  paper_section_end(p);
}

// ---- figs. 4 and 5 ----

// How far the lower weight sinks at most. `settings`: of stiffnesses, masses and method.
static tbStatus stretch(Paper* p, const char* settings, double* out)
{
  tbScene s;
  TB_TRY(paper_scene(p, "pendulum", &s, "%s", settings));
  tbBodyId lower = tb_world_find_body(s.world, "lower");
  tbStatus status = TB_OK;
  *out = 0;
  for (int i = 0; i < 240 && status == TB_OK; i++) {
    status = tb_world_step(p->ctx, s.world, &s.step, NULL);
    *out = fmax(*out, -2 - tb_body_state(s.world, lower).position.z);
  }
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus figures_4_5(Paper* p)
{
  static const char heavy[] = "joints.*.compliance=1e-9 bodies.lower.mass=1e4",
                    heavy_dual[] = "joints.*.compliance=1e-9 bodies.lower.mass=1e4 " MACKLIN_DUAL;
  double primal, dual;
  paper_section(
      p, "Figs. 4 and 5: pendulums of two springs",
      "Two weights hang below each other; 20 iterations in each of 2 substeps of 1/60 s, for 2 s. What is "
      "measured is how far the lower one sinks at most; the springs themselves give 0.2 mm (fig. 4) and 0.2 "
      "mm (fig. 5).");
  TB_TRY(stretch(p, "", &primal));
  TB_TRY(stretch(p, MACKLIN_DUAL, &dual));
  paper_claim(p, primal > 10 * dual && dual < 2e-3,
              "lower spring 10⁴ times stiffer: the primal stretches, the dual does not",
              "primal %.3g mm, dual %.3g mm", 1e3 * primal, 1e3 * dual);
  TB_TRY(stretch(p, heavy, &primal));
  TB_TRY(stretch(p, heavy_dual, &dual));
  paper_claim(p, dual > 10 * primal && primal < 2e-3,
              "lower mass 10⁴ times heavier: the dual stretches, the primal does not",
              "primal %.3g mm, dual %.3g mm", 1e3 * primal, 1e3 * dual);
  paper_section_end(p);
  return TB_OK;
}

// ---- fig. 8 ----

// How far the top has come down, and how far it is off to the side, m.
static tbStatus sink(Paper* p, const char* settings, double seconds, double* out)
{
  tbScene s;
  TB_TRY(paper_scene(p, "stack", &s, "%s", settings));
  tbStatus status = paper_run(p, s.world, &s.step, seconds);
  tbVec3 x = tb_body_state(s.world, tb_world_find_body(s.world, "top")).position;
  *out = fmax(fabs(1.3 - x.z), sqrt(x.x * x.x + x.y * x.y));
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus figure_8(Paper* p)
{
  double seconds = p->quick ? 0.5 : 4, half, primal, blocks, conjugate, dual;
  paper_section(
      p, "Fig. 8: a stack with a mass ratio of 4096:1",
      "Seven cylinders, each four times as heavy as the one below; k_n = k_f = 10⁸; 2 substeps, α = ½, the "
      "preconditioner of equation 13. What is measured is how far the top one is from where it stood, of a "
      "stack 1.4 m high. With blocks of bodies in place of the diagonal the iterates lean, and the stack "
      "falls.");
  TB_TRY(sink(p, "", seconds / 2, &half));
  TB_TRY(sink(p, "", seconds, &primal));
  TB_TRY(sink(p, "scheme.preconditioner=block", seconds, &blocks));
  TB_TRY(sink(p, "scheme.preconditioner=block scheme.acceleration=cg", seconds, &conjugate));
  TB_TRY(sink(p, "scheme.iterations=500 " MACKLIN_DUAL, seconds, &dual));
  paper_claim(p, primal < 5e-3 && fabs(primal - half) < 1e-4, "the primal stands in 20 iterations",
              "%.4g mm after %g s, %.4g mm after %g s; with blocks %.3g mm, with blocks and conjugate "
              "gradients %.3g mm",
              1e3 * half, seconds / 2, 1e3 * primal, seconds, 1e3 * blocks, 1e3 * conjugate);
  paper_claim(p, dual > 0.02, "the dual fails with 500 iterations", "%.3g mm after %g s", 1e3 * dual,
              seconds);
  paper_section_end(p);
  return TB_OK;
}

// ---- fig. 9 ----

// Its speed after a second, of which friction that sticks leaves a little; `converged`: by Newton's method.
static tbStatus slide(Paper* p, double ratio, bool converged, double* out)
{
  tbScene s;
  TB_TRY(
      paper_scene(p, "lean", &s, "%s",
                  converged ? "scheme.iterations=200 scheme.preconditioner=newton scheme.relaxation=0" : ""));
  s.step.descent.friction_stiffness = s.step.dt * s.step.descent.contact_stiffness / ratio;
  tbStatus status = paper_run(p, s.world, &s.step, 1);
  *out = tb_norm3(tb_body_state(s.world, tb_world_find_body(s.world, "capsule")).velocity);
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus figure_9(Paper* p)
{
  double v[2][2];
  paper_section(
      p, "Fig. 9: a capsule that leans",
      "Against a wall, μ = 0.7, which holds it; k_n = 10⁸; 20 iterations in each of 2 substeps, for 1 s. The "
      "Hessian has h²k_n along normals and h k_f across: the ratio is that of h k_n to k_f. What is measured "
      "is the speed it slips at, as a multiple of what the same potentials give when they are solved to the "
      "end.");
  for (int i = 0; i < 4; i++) TB_TRY(slide(p, i / 2 ? 100 : 1, i % 2, &v[i / 2][i % 2]));
  double even = v[0][0] / v[0][1], uneven = v[1][0] / v[1][1];
  paper_claim(p, uneven > 1.5 * even, "a stiffness ratio of 100:1 lets friction slip",
              "%.3g times the converged speed at 100:1, %.3g times at 1:1", uneven, even);
  paper_section_end(p);
  return TB_OK;
}

// ---- fig. 10 ----

static tbStatus figure_10(Paper* p)
{
  enum { STIFFNESSES = 4 };
  double k_f = 1e3, slip[STIFFNESSES], seconds = p->quick ? 3 : 15, m = 0.2, g = 9.81;
  paper_section(
      p, "Fig. 10: a grasp",
      "Two fingers lift a cube of 0.2 kg by 8 cm and hold it, k_n = 10⁵ N/m, pressed by 0.2 mm at eight "
      "points. "
      "Friction that sticks slips at force/k_f: m g t/(8 k_f) in all. 80 iterations in each of 4 substeps.");
  tbOut* csv = paper_table(p, "figure-10.csv", "friction_stiffness,slip_m,predicted_m");
  for (int i = 0; i < STIFFNESSES; i++, k_f *= 10) {
    tbScene s;
    TB_TRY(paper_scene(p, "grasp", &s, "scheme.friction_stiffness=%.17g", k_f));
    tbStatus status = paper_run(p, s.world, &s.step, seconds);
    slip[i] = 0.08 - tb_body_state(s.world, tb_world_find_body(s.world, "cube")).position.z;
    tb_scene_free(p->ctx, &s);
    if (status != TB_OK) return status;
    out_format(csv, "%g,%.6g,%.6g\n", k_f, slip[i], m * g * seconds / (8 * k_f));
  }
  paper_claim(p, slip[0] > 5 * slip[1] && slip[1] > 5 * slip[2], "slip falls with k_f",
              "%.3g, %.3g, %.3g, %.3g mm at k_f = 10³ … 10⁶ N·s/m", 1e3 * slip[0], 1e3 * slip[1],
              1e3 * slip[2], 1e3 * slip[3]);
  double expected = m * g * seconds / (8 * 1e4);
  paper_claim(p, fabs(slip[1] / expected - 1) < 0.1, "(here) the slip is m g t/(8 k_f)",
              "%.4g mm for %.4g mm at 10⁴", 1e3 * slip[1], 1e3 * expected);
  paper_claim(p, fabs(slip[3]) < 1e-3, "with high stiffness the grasp is held for 15 s", "%.3g mm in %g s",
              1e3 * slip[3], seconds);
  paper_section_end(p);
  return TB_OK;
}

// ---- fig. 11 ----

// Standard deviation of the normal impulses over their mean.
static tbStatus spread(Paper* p, const char* settings, double* out)
{
  tbScene s;
  TB_TRY(paper_scene(p, "plate", &s, "%s", settings));
  tbStatus status = paper_run(p, s.world, &s.step, s.time);
  int n = tb_world_contact_count(s.world);
  double sum = 0, square = 0;
  for (int i = 0; i < n; i++) {
    double x = tb_world_contact(s.world, i).impulse[0];
    sum += x, square += x * x;
  }
  *out = sum > 0 ? sqrt(fmax(0, n * square - sum * sum)) / sum : INFINITY;
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus figure_11(Paper* p)
{
  double primal, dual;
  paper_section(
      p, "Fig. 11: how forces spread",
      "A plate on 5 × 5 balls: 25 contacts for six equations. The coefficient of variation of the normal "
      "forces; 0: all alike.");
  TB_TRY(spread(p, "", &primal));
  TB_TRY(spread(p, MACKLIN_DUAL " scheme.mass_splitting=false", &dual)); // one contact after the other
  paper_claim(p, primal < 0.05, "a relaxed primal model spreads forces evenly", "%.3g", primal);
  paper_claim(p, dual > 5 * primal, "hard contact depends on the order of contacts", "%.3g", dual);
  paper_section_end(p);
  return TB_OK;
}

// ---- table 1 ----

typedef struct {
  const char *name, *scene;
  int substeps, iterations, published_contacts;
  double primal_ms, dual_ms;
} Row;

static int by_size(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// A frame's solves, by the median of its substeps.
static tbStatus measure(Paper* p, const Row* row, bool dual, double* ms, double* contacts)
{
  tbScene s;
  double spent[MOST_STEPS];
  int steps = row->substeps * (p->quick ? 2 : 20);
  TB_TRY(paper_scene(p, row->scene, &s, "%s",
                     dual ? MACKLIN_DUAL : "scheme.contact_stiffness=1e6 scheme.friction_stiffness=0"));
  s.step.warm_start = false;
  tbStatus status = TB_OK;
  *contacts = 0;
  for (int i = 0; i < steps && status == TB_OK; i++) {
    tbStepReport report;
    status = tb_world_step(p->ctx, s.world, &s.step, &report);
    spent[i] = report.phase_s[TB_PHASE_SOLVE], *contacts += report.contacts;
  }
  tb_sort(spent, (size_t)steps, sizeof *spent, by_size);
  *ms = 1e3 * spent[steps / 2] * row->substeps, *contacts /= steps;
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus table_1(Paper* p)
{
  static const Row rows[] = {{"cylinder stack", "stack", 2, 20, 189, 0.9, 0.9},
                             {"capsule lean", "lean", 2, 20, 11, 0.5, 0.4},
                             {"grasp", "grasp", 4, 80, 60, 6.4, 6.8},
                             {"house of cards", "cards", 4, 100, 1200, 9.3, 8.6},
                             {"bowl pile, scaled", "bowls", 8, 15, 393000, 16.6, 18.1},
                             {"granular, scaled", "grains", 8, 30, 1510000, 1396.8, 1136.7}};
  paper_section(
      p, "Table 1",
      "Milliseconds of a frame's solves on one core; published: of a frame on an RTX 2080 Ti. The "
      "granular scene "
      "has 2000 grains for the paper's 256,000, with the same mass ratio of 80000:1; the pile has 27 "
      "bowls of nine boxes for 512 meshes of 1160 faces; the house has twelve storeys.");
  tbOut* csv =
      paper_table(p, "table-1.csv",
                  "scene,substeps,iterations,contacts,published_contacts,primal_ms,dual_ms,published_"
                  "primal_ms,published_dual_ms");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double primal, dual, contacts;
    char says[120];
    TB_TRY(measure(p, &rows[i], true, &dual, &contacts));
    TB_TRY(measure(p, &rows[i], false, &primal, &contacts));
    out_format(csv, "%s,%d,%d,%.0f,%d,%.3f,%.3f,%g,%g\n", rows[i].name, rows[i].substeps, rows[i].iterations,
               contacts, rows[i].published_contacts, primal, dual, rows[i].primal_ms, rows[i].dual_ms);
    snprintf(says, sizeof says, "%s: primal %g ms, dual %g ms: the work is similar", rows[i].name,
             rows[i].primal_ms, rows[i].dual_ms);
    paper_claim_timed(p, primal < 20 * dual && dual < 20 * primal, says,
                      "primal %.2f ms, dual %.2f ms, %.0f contacts", primal, dual, contacts);
  }
  paper_section_end(p);
  return TB_OK;
}

tbStatus paper_macklin(Paper* p)
{
  figure_6(p);
  TB_TRY(figures_4_5(p));
  TB_TRY(figure_8(p));
  TB_TRY(figure_9(p));
  TB_TRY(figure_10(p));
  TB_TRY(figure_11(p));
  TB_TRY(macklin_cloth(p));
  TB_TRY(macklin_gradient(p));
  TB_TRY(table_1(p));
  return macklin_ratios(p);
}
