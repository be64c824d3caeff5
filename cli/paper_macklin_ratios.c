// SPDX-License-Identifier: Apache-2.0
// Beyond the paper: which scheme stands at which ratio of masses and of stiffnesses, and what an iteration
// budget buys.
#include "cli/paper_macklin.h"

#include "tribo/gallery.h"

#include <math.h>
#include <string.h>

static const char* const schemes[] = {"primal", "xpbd", "vbd", "avbd", "soft-step", "semi-implicit", "pd"};
enum { SCHEMES = 7, RATIOS = 7, BUDGETS = 6, MOST_SCHEMES = 32 };
static const double STANDS = 5e-3; // m

static tbStatus stand(Paper* p, const char* scheme, double ratio, double* out)
{
  tbScene s;
  tbStepOptions o = tb_default_step_options();
  double growth = sqrt(ratio);
  o.scheme = scheme, o.certify = 0;
  TB_TRY(
      paper_scene(p, "three", &s, "bodies.middle.mass=%.17g bodies.top.mass=%.17g", growth, growth * growth));
  tbStatus status = paper_run(p, s.world, &o, p->quick ? 0.3 : 1);
  tbVec3 x = tb_body_state(s.world, tb_world_find_body(s.world, "top")).position;
  *out = fmax(fabs(0.5 - x.z), sqrt(x.x * x.x + x.y * x.y));
  tb_scene_free(p->ctx, &s);
  return status;
}

// Two weights of 1 kg on springs of 10⁵ N/m and `ratio` times that: how far the lower one comes down at most.
static tbStatus hang(Paper* p, const char* scheme, double ratio, double* out)
{
  tbScene s;
  tbStepOptions o = tb_default_step_options();
  o.scheme = scheme, o.certify = 0;
  TB_TRY(paper_scene(p, "pendulum", &s, "joints.lower-spring.compliance=%.17g", 1 / (1e5 * ratio)));
  tbBodyId lower = tb_world_find_body(s.world, "lower");
  tbStatus status = TB_OK;
  *out = 0;
  for (int i = 0, n = p->quick ? 30 : 100; i < n && status == TB_OK; i++) {
    status = tb_world_step(p->ctx, s.world, &o, NULL);
    double z = tb_body_state(s.world, lower).position.z;
    *out = fmax(*out, fabs(z + 2)); // fmax: a NaN is no standing
    if (!isfinite(z)) *out = INFINITY;
  }
  tb_scene_free(p->ctx, &s);
  return status;
}

static bool is_word(const char* words, const char* word)
{
  size_t length = strlen(word);
  for (const char* at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return false;
}

typedef tbStatus Measure(Paper* p, const char* scheme, double ratio, double* out);

// One row of a map: ratios of 10⁰ … 10⁶, and a claim.
static tbStatus map_row(Paper* p, Measure* measure, const char* scheme, bool all, tbOut* csv, double* off)
{
  int stands = 0;
  double ratio = 1, worst = 0;
  for (int k = 0; k < RATIOS; k++, ratio *= 10) {
    TB_TRY(measure(p, scheme, ratio, &off[k]));
    out_format(csv, "%s,%g,%.3e,%d\n", scheme, ratio, off[k], off[k] < STANDS);
    stands += off[k] < STANDS, worst = fmax(worst, off[k]);
  }
  if (strcmp(scheme, "penalty") == 0) return TB_OK; // explicit springs: what they carry is in the map
  if (all)
    paper_claim(p, stands == RATIOS, "(here) stands at all ratios up to 10⁶", "%s: %.2g m at most", scheme,
                worst);
  else
    paper_claim(p, stands > 0, "(here) stands at equal ones", "%s: stands at %d of %d ratios, 10⁰ … 10⁶",
                scheme, stands, RATIOS);
  return TB_OK;
}

// One map: every scheme over ratios, as a table and a picture. all: of whom it is claimed at every ratio.
static tbStatus heat_map(Paper* p, Measure* measure, const char* table, const char* picture,
                         const char* caption, const char* all)
{
  static const char* const columns[RATIOS] = {"1", "10", "10²", "10³", "10⁴", "10⁵", "10⁶"};
  tbOut* csv = paper_table(p, table, "scheme,ratio,displacement_m,stands");
  const char* name[MOST_SCHEMES];
  double value[MOST_SCHEMES * RATIOS];
  int rows = 0;
  for (int i = 0; i < tb_scheme_count() && rows < MOST_SCHEMES; i++) {
    const char* scheme = tb_scheme_at(i)->name;
    if (strcmp(scheme, "ipc") == 0) continue; // barriers see every facet of a cylinder: minutes for each
    TB_TRY(map_row(p, measure, scheme, is_word(all, scheme), csv, value + rows * RATIOS));
    name[rows++] = scheme;
  }
  paper_map(p, picture,
            &(PlotMap){.title = caption,
                       .x_name = "ratio",
                       .row = name,
                       .column = columns,
                       .rows = rows,
                       .columns = RATIOS,
                       .value = value,
                       .threshold = STANDS},
            caption);
  return TB_OK;
}

static tbStatus heat_maps(Paper* p)
{
  paper_section(
      p, "Who stands (not in the paper)",
      "Every scheme but ipc, with its defaults. Three cylinders, the "
      "top one heavier than the lowest by a ratio: how "
      "far the top is from where it stood. Two weights that hang below each other, the lower spring stiffer "
      "than the upper one of 10⁵ N/m by a ratio: how far the lower one comes down. Less than 5 mm counts as "
      "standing; the springs themselves give 0.4 to 0.6 mm at most.");
  TB_TRY(heat_map(p, stand, "mass-ratios.csv", "mass-ratios.svg", "Displacement over the ratio of masses, m",
                  "primal vbd avbd semi-implicit moreau implicit"));
  TB_TRY(heat_map(p, hang, "stiffness-ratios.csv", "stiffness-ratios.svg",
                  "Displacement over the ratio of stiffnesses, m",
                  "primal vbd avbd xpbd semi-implicit moreau implicit"));
  paper_section_end(p);
  return TB_OK;
}

// Mean of the judge's number over the last steps, and of a step's milliseconds.
static tbStatus budget(Paper* p, const char* scene, const char* scheme, int iterations, double* ms,
                       double* error)
{
  tbScene loaded;
  const tbGalleryScene* gallery = tb_gallery_find(scene);
  TB_TRY(tb_gallery_load(p->ctx, gallery, NULL, NULL, &loaded));
  tbStepOptions o = loaded.step;
  o.scheme = scheme, o.iterations = iterations, o.certify = 1;
  if (strcmp(scheme, "soft-step") == 0) o.substeps = iterations;
  o.solver.max_iterations = iterations;
  tbStatus status = TB_OK;
  int steps = p->quick ? 4 : 40, counted = 0;
  *ms = *error = 0;
  for (int i = 0; i < steps && status == TB_OK; i++) {
    tbStepReport r;
    status = tb_world_step(p->ctx, loaded.world, &o, &r);
    if (2 * i < steps) continue;
    for (int k = 0; k < TB_PHASE_JUDGE; k++) *ms += 1e3 * r.phase_s[k];
    *error += r.residual.velocity, counted++;
  }
  *ms /= counted, *error /= counted;
  tb_world_free(p->ctx, loaded.world);
  return status;
}

static tbStatus cost_of(Paper* p, const char* scene, const char* csv_name, const char* svg_name)
{
  tbOut* csv = paper_table(p, csv_name, "scheme,iterations,ms_per_step,residual_velocity");
  PlotPoint point[SCHEMES][BUDGETS];
  PlotCurve curve[SCHEMES];
  double best = INFINITY;
  for (int i = 0; i < SCHEMES; i++) {
    for (int k = 0; k < BUDGETS; k++) {
      double ms, error;
      TB_TRY(budget(p, scene, schemes[i], 2 << k, &ms, &error));
      out_format(csv, "%s,%d,%.4f,%.3e\n", schemes[i], 2 << k, ms, error);
      point[i][k] = (PlotPoint){1e-3 * ms, fmax(error, 1e-12)};
      best = fmin(best, error);
    }
    curve[i] = (PlotCurve){schemes[i], i, point[i], BUDGETS, true, false};
  }
  const Plot plot = {PLOT_SECONDS, false, "seconds per step", "judge, m/s", 1e-5, curve, SCHEMES};
  paper_plot(p, svg_name, &plot, scene);
  paper_claim(p, best < 1e-4, "(here) some scheme is within 10⁻⁴ m/s in 64 iterations", "%s: %.2g m/s", scene,
              best);
  return TB_OK;
}

tbStatus macklin_ratios(Paper* p)
{
  TB_TRY(heat_maps(p));
  paper_section(p, "Cost against error (not in the paper)",
                "Each scheme with 2 to 64 iterations (soft-step: substeps; semi-implicit: iterations of "
                "auto) on scenes of the "
                "gallery: the judge's error against the time of a step without it.");
  TB_TRY(cost_of(p, "stack", "cost-stack.csv", "cost-stack.svg"));
  TB_TRY(cost_of(p, "arch", "cost-arch.csv", "cost-arch.svg"));
  TB_TRY(cost_of(p, "cards", "cost-cards.csv", "cost-cards.svg"));
  TB_TRY(cost_of(p, "chain", "cost-chain.csv", "cost-chain.svg"));
  paper_section_end(p);
  return TB_OK;
}
